"""``infoset tournament``: play it, show it, keep it, and give back its games as replays."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infoset.catalog import load
from infoset.cli.output import complain
from infoset.cli.progress import TournamentProgress
from infoset.errors import ParameterError
from infoset.files import check_file, replace_file

if TYPE_CHECKING:
    from infoset.arena.tournament import Standings


Report = Callable[["Standings", Path], object]
"""Prints how a tournament stands, and where its database is."""


def play(game: str, teams: list[str], db: Path | None, svg: Path | None, report: Report, **settings: Any) -> None:
    """Play, or go on with what ``db`` holds, report it and draw the picture.

    Where a game cannot be kept, as on a full disk, those before it are reported.  Raises ``KeyboardInterrupt`` where
    nothing was played before Ctrl-C.
    """
    path = _fresh(game) if db is None else db
    for file in (path, svg):
        if file is not None:
            check_file(file)
    load(game)
    from infoset.arena.store import UnkeptGameError
    from infoset.arena.tournament import tournament
    from infoset.view.bracket_svg import bracket_svg
    from infoset.view.tournament_svg import tournament_svg

    try:
        with TournamentProgress() as progress:
            standings = tournament(game, teams, db=path, progress=progress.advance, **settings)
    except UnkeptGameError as error:
        if error.standings is not None and error.standings.games:
            report(error.standings, path)
        raise
    if standings.stopped == "interrupted":
        how = "the same command goes on" if db is not None else f"the same command with --db {path} goes on"
        complain(f"stopped after {standings.games:,} of {standings.planned:,} games; {how}")
        if not standings.games:
            raise KeyboardInterrupt
    report(standings, path)
    if svg is not None:
        picture = bracket_svg(standings) if standings.meetings else tournament_svg(standings)
        replace_file(svg, lambda file: file.write(picture.encode()))


def compete(file: Path, db: Path | None, svg: Path | None, report: Report, **how: Any) -> None:
    """Play the competition of a file, or go on with it; kept beside the file by default."""
    from infoset.arena.competition import read

    found = read(file)
    play(found.game, found.teams, found.kept(file, db), svg, report, **how, **found.settings)


def body(standings: Standings, path: Path) -> dict[str, Any]:
    """The figures as JSON has them."""
    plain = asdict(standings)
    plain["ratings"] = [asdict(rating) for rating in standings.ratings]
    return plain | {"db": str(path)}


def text(standings: Standings, path: Path) -> str:
    """The figures as lines."""
    from infoset.view.tournament_text import tournament_text

    return f"{tournament_text(standings)}\ndatabase: {path}"


def save_replay(db: Path | None, number: int, out: Path | None) -> Path:
    """Write a game of a tournament as a replay, by default beside the database."""
    from infoset.arena.store import load_replay

    if db is None:
        raise ParameterError("--replay needs --db FILE, the tournament's database")
    return load_replay(db, number).save(out or db.with_name(f"{db.stem}-{number:05d}.json"))


def _fresh(game: str) -> Path:
    """A name below runs/ that is not taken."""
    stem = re.sub(r"[^\w.+=]+", "-", f"{Path(game).name}-tournament").strip("-")[:100]
    paths = (Path("runs") / f"{stem}{'' if number == 1 else f'-{number}'}.db" for number in count(1))
    return next(path for path in paths if not path.exists())
