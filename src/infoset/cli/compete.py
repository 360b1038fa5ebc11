"""Play a whole competition from one file, or go on with it: a round robin, a bracket, rounds, a free-for-all."""

from pathlib import Path
from typing import Annotated

import typer

from infoset.arena.competition import read
from infoset.cli.options import AsJson, Executor
from infoset.cli.tournament import play_tournament


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The competition, as TOML.")],
    workers: Annotated[int | None, typer.Option(help="Processes that play (default: one for each core).")] = None,
    db: Annotated[Path | None, typer.Option(help="Keep every game here (default: beside FILE, as FILE.db).")] = None,
    svg: Annotated[Path | None, typer.Option(help="Draw the bracket, or the cross table, as SVG.")] = None,
    executor: Executor = "local",
    json_: AsJson = False,
) -> None:
    found = read(file)
    play_tournament(
        found.game, found.teams, found.kept(file, db), svg, json_, workers=workers, executor=executor, **found.settings
    )
