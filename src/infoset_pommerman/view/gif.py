"""A complete game as an animated GIF (extra ``plot``)."""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import IO, TYPE_CHECKING

from infoset.files import replace_file
from infoset.match.replay import Match
from infoset.view.speed import check_speed
from infoset_pommerman.config import SPEED
from infoset_pommerman.game import Pommerman
from infoset_pommerman.view import art
from infoset_pommerman.view.film import Film
from infoset_pommerman.view.frames import film as film_of
from infoset_pommerman.view.painter import CELL, Moment, Painter

if TYPE_CHECKING:
    from PIL import Image

MAX_PICTURES, MAX_PIXELS = 640, 120_000_000  # of one file
MOST_A_STEP, SHORTEST = 3, 40  # pictures of a step, and the least duration of each in milliseconds
TICK = 10  # resolution of the times of a GIF, in milliseconds
END = 3000  # duration of the last picture, in milliseconds
COLORS, SAMPLES = 255, 16


def save_gif(
    match: Match, path: str | Path, *, speed: float | None = None, cell: int = CELL, game: Pommerman | None = None
) -> Path:
    """Write the game as an animation of ``speed`` steps a second (None: 6), with cells ``cell`` pixels wide.

    The shorter a game, the more pictures a step has; where a game is too long, steps are left out.  Raises
    ``MissingExtraError`` without Pillow, ``ParameterError``, and the errors of ``film``.
    """
    check_speed(speed)
    speed = speed or SPEED
    film = film_of(match, game)
    painter = Painter(film, cell, "a GIF")
    from PIL import Image

    moments, times = schedule(film, speed, cell)
    palette = _palette([painter.paint(moments[k * (len(moments) - 1) // (SAMPLES - 1)]) for k in range(SAMPLES)])
    pictures = (painter.paint(moment).quantize(palette=palette, dither=Image.Dither.NONE) for moment in moments)
    first = next(pictures)

    def write(file: IO[bytes]) -> None:
        first.save(file, "gif", save_all=True, append_images=pictures, duration=times, loop=0, optimize=True)

    return replace_file(Path(path), write)


def schedule(film: Film, speed: float, cell: int) -> tuple[list[Moment], list[int]]:
    """Return the moments to paint, and for how many milliseconds each is shown."""
    steps = len(film.frames) - 1
    side = cell * (film.config.size + 2 * art.MARGIN)
    room = min(MAX_PICTURES, int(MAX_PIXELS / side**2)) - 1
    each = max(1, min(MOST_A_STEP, int(1000 / speed / SHORTEST), room // max(steps, 1)))
    stride = ceil(steps / room)
    moments = [Moment(number, k / each) for number in range(0, steps, stride or 1) for k in range(each)]
    ends = [round(1000 / speed / each * k / TICK) * TICK for k in range(len(moments) + 1)]
    times = [max(2 * TICK, end - start) for start, end in pairwise(ends)]
    return [*moments, Moment(steps, 0.0)], [*times, END]


def _palette(samples: list[Image.Image]) -> Image.Image:
    """Return a palette for the whole film, computed from samples of it."""
    from PIL import Image

    side = samples[0].width
    sheet = Image.new("RGB", (side, side * len(samples)))
    for k, sample in enumerate(samples):
        sheet.paste(sample, (0, side * k))
    return sheet.quantize(COLORS, method=Image.Quantize.MEDIANCUT)
