"""Tournaments as ``tournament`` and ``compete`` play and report them."""

import re
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any

from infoset.arena.standings import Standings
from infoset.arena.store import UnkeptGameError
from infoset.arena.tournament import tournament
from infoset.catalog import load
from infoset.cli.output import complain, print_json, write
from infoset.cli.progress import TournamentProgress
from infoset.files import check_file, replace_file
from infoset.view.bracket_svg import bracket_svg
from infoset.view.tournament_svg import tournament_svg
from infoset.view.tournament_text import tournament_text


def play_tournament(
    game: str, teams: list[str], db: Path | None, svg: Path | None, json_: bool, **settings: Any
) -> None:
    """Play a tournament or resume the one in ``db``, report the standings and draw the picture.

    Where a game cannot be stored, as on a full disk, the games before it are reported.  Raises ``KeyboardInterrupt``
    where no game was played before Ctrl-C.
    """
    path = _fresh(game) if db is None else db
    for file in (path, svg):
        if file is not None:
            check_file(file)
    load(game)
    try:
        with TournamentProgress() as progress:
            standings = tournament(game, teams, db=path, progress=progress.advance, **settings)
    except UnkeptGameError as error:
        if error.standings is not None and error.standings.games:
            _report(error.standings, path, json_)
        raise
    if standings.stopped == "interrupted":
        how = "the same command resumes" if db is not None else f"the same command with --db {path} resumes"
        complain(f"stopped after {standings.games:,} of {standings.planned:,} games; {how}")
        if not standings.games:
            raise KeyboardInterrupt
    _report(standings, path, json_)
    if svg is not None:
        picture = bracket_svg(standings) if standings.meetings else tournament_svg(standings)
        replace_file(svg, lambda file: file.write(picture.encode()))


def _report(standings: Standings, path: Path, json_: bool) -> None:
    if json_:
        ratings = [asdict(rating) for rating in standings.ratings]
        print_json(asdict(standings) | {"ratings": ratings, "db": str(path)})
    else:
        write(f"{tournament_text(standings)}\ndatabase: {path}")


def _fresh(game: str) -> Path:
    """Return an unused path below ``runs``."""
    stem = re.sub(r"[^\w.+=]+", "-", f"{Path(game).name}-tournament").strip("-")[:100]
    paths = (Path("runs") / f"{stem}{'' if number == 1 else f'-{number}'}.db" for number in count(1))
    return next(path for path in paths if not path.exists())
