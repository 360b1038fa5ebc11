"""Positions of a game as PNG images (extra ``plot``)."""

from __future__ import annotations

from pathlib import Path

from infoset.errors import ParameterError
from infoset.files import replace_file
from infoset.match.replay import Match
from infoset_pommerman.game import Pommerman
from infoset_pommerman.view.frames import film as film_of
from infoset_pommerman.view.painter import Moment, Painter

CELL = 48


def save_pngs(
    match: Match, folder: str | Path, *, step: int | None = None, cell: int = CELL, game: Pommerman | None = None
) -> list[Path]:
    """Write one picture per step, ``000.png`` and so on by the game's steps, or only that of ``step``.

    A cell is ``cell`` pixels wide.

    Raises ``ParameterError`` where the folder holds PNG pictures already or the game has no such step,
    ``MissingExtraError`` without Pillow, and the errors of ``film``.
    """
    film = film_of(match, game)
    painter = Painter(film, cell, "a PNG picture")
    numbers = range(len(film.frames)) if step is None else [film.number(step)]
    if any(Path(folder).glob("*.png")):
        raise ParameterError(f"{folder} already contains PNG pictures; choose another folder")
    files = []
    for number in numbers:
        picture = painter.still(Moment(number, 0.0))
        file = Path(folder) / f"{film.frames[number].step:03d}.png"
        files.append(replace_file(file, lambda out, picture=picture: picture.save(out, "png")))  # type: ignore[misc]
    return files
