"""Play or continue a competition that a file defines: round robin, elimination, Swiss rounds or free-for-all."""

from pathlib import Path
from typing import Annotated

import typer

from infoset.cli.options import AsJson, Executor


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The competition, a TOML file.")],
    workers: Annotated[int | None, typer.Option(help="Processes that play (default: one for each core).")] = None,
    db: Annotated[Path | None, typer.Option(help="Database of the games (default: FILE with .db).")] = None,
    svg: Annotated[Path | None, typer.Option(help="Draw the bracket or cross table to this SVG file.")] = None,
    executor: Executor = "local",
    json_: AsJson = False,
) -> None:
    from infoset.arena.competition import read
    from infoset.cli.tournaments import play_tournament  # these bring Numba, which --help does not need

    found = read(file)
    play_tournament(
        found.game,
        found.teams,
        found.database_of(file, db),
        svg,
        json_,
        workers=workers,
        executor=executor,
        **found.settings,
    )
