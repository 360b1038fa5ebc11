"""A whole game as an animated GIF (extra ``plot``)."""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from infoset.errors import MissingExtraError
from infoset.files import replace_file
from infoset.match.replay import Match
from infoset.names import check_range
from infoset.pommerman.game import Pommerman
from infoset.view.pommerman import art
from infoset.view.pommerman.film import Film
from infoset.view.pommerman.frames import film as film_of
from infoset.view.pommerman.palette import DAY
from infoset.view.pommerman.scene import Placed, floor, scene
from infoset.view.pommerman.speed import SPEED, check_speed

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

CELL, SMALLEST = 28, 8
MAX_SIDE = 1280  # pixels
MAX_PICTURES, MAX_PIXELS = 640, 120_000_000  # of one file
MOST_A_STEP, SHORTEST = 3, 40  # pictures of a step, and how many milliseconds each is shown at least
TICK = 10  # milliseconds, the clock of a GIF
END = 3000  # milliseconds, the last picture
LARGER = 4  # sprites are drawn so much larger and shrunk, so that their edges are smooth
REACH = 0.5  # cells that a sprite may reach over its own
COLORS, SAMPLES = 255, 16


def save_gif(
    match: Match, path: str | Path, *, speed: float = SPEED, cell: int = CELL, game: Pommerman | None = None
) -> Path:
    """Write the game as a moving picture, ``speed`` steps a second, a cell being ``cell`` pixels wide.

    The shorter a game, the more pictures a step has; where a game is too long, steps are left out.  Raises
    ``MissingExtraError`` without Pillow, ``ParameterError``, and what ``film`` raises.
    """
    check_speed(speed)
    try:
        from PIL import Image
    except ImportError:
        raise MissingExtraError("a GIF", "plot") from None
    film = film_of(match, game)
    check_range("cell", cell, SMALLEST, int(MAX_SIDE / (film.config.size + 2 * art.MARGIN)))
    moments, times = schedule(film, speed, cell)
    painter = _Painter(film, cell)
    palette = painter.palette(moments)
    pictures = (painter.paint(moment).quantize(palette=palette, dither=Image.Dither.NONE) for moment in moments)
    first = next(pictures)

    def write(file: IO[bytes]) -> None:
        first.save(file, "gif", save_all=True, append_images=pictures, duration=times, loop=0, optimize=True)

    return replace_file(Path(path), write)


class Moment(NamedTuple):
    """``phase`` of the way from one frame to the next."""

    number: int
    phase: float


def schedule(film: Film, speed: float, cell: int) -> tuple[list[Moment], list[int]]:
    """The moments to paint, and for how many milliseconds each is shown."""
    steps = len(film.frames) - 1
    side = cell * (film.config.size + 2 * art.MARGIN)
    room = min(MAX_PICTURES, int(MAX_PIXELS / side**2)) - 1
    each = max(1, min(MOST_A_STEP, int(1000 / speed / SHORTEST), room // max(steps, 1)))
    stride = ceil(steps / room)
    moments = [Moment(number, k / each) for number in range(0, steps, stride or 1) for k in range(each)]
    ends = [round(1000 / speed / each * k / TICK) * TICK for k in range(len(moments) + 1)]
    times = [max(2 * TICK, end - start) for start, end in pairwise(ends)]
    return [*moments, Moment(steps, 0.0)], [*times, END]


class _Painter:
    """Paints moments of a film; every sprite is drawn once."""

    def __init__(self, film: Film, cell: int) -> None:
        from PIL import Image

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
        frame = self.film.frames[moment.number]
        if frame.ground != self.floor_of:  # seldom
            self.floor_of, self.floor = frame.ground, self.board.copy()
            for placed in floor(frame, self.film.config.size):
                self.put(self.floor, placed)
        picture = self.floor.copy()
        for placed in scene(self.film, moment.number, moment.phase):
            self.put(picture, placed)
        if moment.number == len(self.film.frames) - 1:
            ribbon = self.sheet(art.ribbon(self.film.outcome(), self.film.config.size))
            picture.paste(ribbon, (0, 0), ribbon)
        return picture

    def sheet(self, sprite: art.Sprite) -> Image.Image:
        """A sprite of the size of the picture."""
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

    def palette(self, moments: list[Moment]) -> Image.Image:
        """The colours of the whole film, from samples of it."""
        from PIL import Image

        samples = [self.paint(moments[k * (len(moments) - 1) // (SAMPLES - 1)]) for k in range(SAMPLES)]
        side = samples[0].width
        sheet = Image.new("RGB", (side, side * SAMPLES))
        for k, sample in enumerate(samples):
            sheet.paste(sample, (0, side * k))
        return sheet.quantize(COLORS, method=Image.Quantize.MEDIANCUT)


def _drawn(sprite: art.Sprite, cell: int, origin: tuple[int, int], extent: tuple[int, int]) -> Image.Image:
    """A sprite on a transparent sheet of ``extent`` pixels, its cell's corner at ``origin``."""
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
    """Draws shapes: so many pixels a cell, whose corner is at ``(x, y)``."""

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
