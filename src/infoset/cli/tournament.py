"""The verbs ``tournament`` and ``compete``: play, store and report tournaments, and save their games as replays."""

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
    from infoset.arena.standings import Standings


Report = Callable[["Standings", Path], object]
"""A function that prints the standings of a tournament and the path of its database."""


def play(game: str, teams: list[str], db: Path | None, svg: Path | None, report: Report, **settings: Any) -> None:
    """Play a tournament or resume the one in ``db``, report the standings and draw the picture.

    Where a game cannot be stored, as on a full disk, the games before it are reported.  Raises ``KeyboardInterrupt``
    where no game was played before Ctrl-C.
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
        how = "the same command resumes" if db is not None else f"the same command with --db {path} resumes"
        complain(f"stopped after {standings.games:,} of {standings.planned:,} games; {how}")
        if not standings.games:
            raise KeyboardInterrupt
    report(standings, path)
    if svg is not None:
        picture = bracket_svg(standings) if standings.meetings else tournament_svg(standings)
        replace_file(svg, lambda file: file.write(picture.encode()))


def compete(file: Path, db: Path | None, svg: Path | None, report: Report, **how: Any) -> None:
    """Play or resume the competition of a file; its games are stored beside the file by default."""
    from infoset.arena.competition import read

    found = read(file)
    play(found.game, found.teams, found.database_of(file, db), svg, report, **how, **found.settings)


def body(standings: Standings, path: Path) -> dict[str, Any]:
    """Return the standings as a JSON object."""
    plain = asdict(standings)
    plain["ratings"] = [asdict(rating) for rating in standings.ratings]
    return plain | {"db": str(path)}


def text(standings: Standings, path: Path) -> str:
    """Return the standings as lines."""
    from infoset.view.tournament_text import tournament_text

    return f"{tournament_text(standings)}\ndatabase: {path}"


def save_replay(db: Path | None, number: int, out: Path | None) -> Path:
    """Write a game of a tournament as a replay, by default beside the database."""
    from infoset.arena.store import load_replay

    if db is None:
        raise ParameterError("--replay needs --db FILE, the tournament's database")
    return load_replay(db, number).save(out or db.with_name(f"{db.stem}-{number:05d}.json"))


def _fresh(game: str) -> Path:
    """Return an unused path below ``runs``."""
    stem = re.sub(r"[^\w.+=]+", "-", f"{Path(game).name}-tournament").strip("-")[:100]
    paths = (Path("runs") / f"{stem}{'' if number == 1 else f'-{number}'}.db" for number in count(1))
    return next(path for path in paths if not path.exists())
