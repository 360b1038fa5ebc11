"""Rendering of moments of a film as raster images (extra ``plot``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from infoset.errors import MissingExtraError
from infoset.names import check_range
from infoset_pommerman.view import art
from infoset_pommerman.view.film import Film
from infoset_pommerman.view.palette import DAY
from infoset_pommerman.view.scene import Placed, floor, scene

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

CELL, SMALLEST = 28, 8
MAX_SIDE = 1280  # of a picture, in pixels
LARGER = 4  # sprites are drawn larger by this factor and shrunk, so that their edges are smooth
REACH = 0.5  # cells by which a sprite may extend beyond its own


class Moment(NamedTuple):
    """A moment between two frames: ``phase`` is the fraction of the way from ``number`` to the next."""

    number: int
    phase: float


class Painter:
    """Paints moments of a film, drawing every sprite only once."""

    def __init__(self, film: Film, cell: int, what: str) -> None:
        """Prepare to paint with cells ``cell`` pixels wide; ``what`` names the feature in errors.

        Raises ``ParameterError``, and ``MissingExtraError`` without Pillow.
        """
        try:
            from PIL import Image
        except ImportError:
            raise MissingExtraError(what, "plot") from None
        check_range("cell", cell, SMALLEST, int(MAX_SIDE / (film.config.size + 2 * art.MARGIN)))
        self.film, self.cell = film, cell
        self.sprites: dict[art.Sprite, Image.Image] = {}
        self.edge = round(art.MARGIN * cell)
        self.over = round(REACH * cell)
        frame = self.sheet(art.frame(film.config.size))
        self.board = Image.new("RGB", frame.size, DAY["frame_dark"])
        self.board.paste(frame, (0, 0), frame)
        self.floor_of: tuple[int, ...] = ()
        self.floor = self.board

    def paint(self, moment: Moment) -> Image.Image:
        """Return the moment as a picture; at the end of the film with the outcome across the board."""
        picture = self.still(moment)
        if moment.number == len(self.film.frames) - 1:
            ribbon = self.sheet(art.ribbon(self.film.outcome(), self.film.config.size))
            picture.paste(ribbon, (0, 0), ribbon)
        return picture

    def still(self, moment: Moment) -> Image.Image:
        """Return the moment as a picture, without the outcome."""
        frame = self.film.frames[moment.number]
        if frame.ground != self.floor_of:  # it seldom changes
            self.floor_of, self.floor = frame.ground, self.board.copy()
            for placed in floor(frame, self.film.config.size):
                self.put(self.floor, placed)
        picture = self.floor.copy()
        for placed in scene(self.film, moment.number, moment.phase):
            self.put(picture, placed)
        return picture

    def sheet(self, sprite: art.Sprite) -> Image.Image:
        """Return a sprite on a sheet of the size of the picture."""
        side = self.film.config.size * self.cell + 2 * self.edge
        return _drawn(sprite, self.cell, (self.edge, self.edge), (side, side))

    def put(self, picture: Image.Image, placed: Placed) -> None:
        stamp = self.stamp(placed.sprite)
        mask = stamp if placed.alpha == 1 else stamp.getchannel("A").point(lambda a: int(a * placed.alpha))
        x, y = (self.edge + round(at * self.cell) - self.over for at in (placed.x, placed.y))
        picture.paste(stamp, (x, y), mask)

    def stamp(self, sprite: art.Sprite) -> Image.Image:
        if sprite not in self.sprites:
            side = self.cell + 2 * self.over
            self.sprites[sprite] = _drawn(sprite, self.cell, (self.over, self.over), (side, side))
        return self.sprites[sprite]


def _drawn(sprite: art.Sprite, cell: int, origin: tuple[int, int], extent: tuple[int, int]) -> Image.Image:
    """Return a sprite on a transparent sheet of ``extent`` pixels, its cell's corner at ``origin``."""
    from PIL import Image, ImageDraw

    sheet = Image.new("RGBA", (extent[0] * LARGER, extent[1] * LARGER))
    pen = _Pen(cell * LARGER, origin[0] * LARGER, origin[1] * LARGER)
    for shape in sprite:
        if shape.alpha < 1:
            layer = Image.new("RGBA", sheet.size)
            pen.draw(ImageDraw.Draw(layer), shape)
            layer.putalpha(layer.getchannel("A").point(lambda a, by=shape.alpha: int(a * by)))
            sheet.alpha_composite(layer)
        else:
            pen.draw(ImageDraw.Draw(sheet), shape)
    return sheet.resize(extent, Image.Resampling.BOX)


class _Pen(NamedTuple):
    """Draws shapes with ``scale`` pixels a cell, whose corner is at ``(x, y)``."""

    scale: float
    x: float
    y: float

    def draw(self, on: ImageDraw.ImageDraw, shape: art.Shape) -> None:
        color, s = DAY[shape.color], self.scale
        match shape:
            case art.Box(x, y, width, height, radius):
                on.rounded_rectangle([*self.at(x, y), *self.at(x + width, y + height, -1)], radius * s, color)
            case art.Oval(x, y, rx, ry):
                on.ellipse([*self.at(x - rx, y - ry), *self.at(x + rx, y + ry, -1)], color)
            case art.Area(points):
                on.polygon([self.at(x, y) for x, y in points], color)
            case art.Stroke(points, width):
                on.line([self.at(x, y) for x, y in points], color, round(width * s))
                for x, y in points:
                    r = width / 2
                    on.ellipse([*self.at(x - r, y - r), *self.at(x + r, y + r)], color)
            case art.Label(x, y, size, text):
                from PIL import ImageFont

                font = ImageFont.load_default(size * s)
                on.text(self.at(x, y), text, color, font, "mm", stroke_width=size * s / 32)

    def at(self, x: float, y: float, less: float = 0.0) -> tuple[float, float]:
        return self.x + x * self.scale + less, self.y + y * self.scale + less
