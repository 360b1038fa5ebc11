"""Solve a game: print its value and the exact exploitability, and save the strategy in a run folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from infoset.cli.options import AsJson, Executor, MaxHistories, MaybeGameName, absolute, with_options
from infoset.cli.output import print_json, write
from infoset.cli.progress import SolveProgress
from infoset.cli.report import solution_text
from infoset.solvers.config import SolveConfig
from infoset.solvers.job import Watcher
from infoset.view.bodies import solution_body

if TYPE_CHECKING:
    from infoset.solving import Solution


@with_options(SolveConfig, game=MaybeGameName, method=str | None, target=str | None, lock=list[str] | None)
def run(
    out: Annotated[Path | None, typer.Option(help="The run's folder (default: a new one below runs/).")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in --out.")] = False,
    max_histories: MaxHistories = None,
    executor: Executor = "local",
    json_: AsJson = False,
    **given: Any,
) -> None:
    from infoset.node_locking import read_locks  # these bring Numba, which --help does not need
    from infoset.solving import solve

    folder = Path("runs/*") if out is None and not resume else out
    if given["game"] is not None and folder is not None:  # no name is read before the folder is known to be free
        given["game"] = absolute(given["game"])
    if given["lock"] is not None:
        given["lock"] = read_locks(given["lock"])

    def report(solution: "Solution") -> None:
        print_json(solution_body(solution)) if json_ else write(solution_text(solution))

    with SolveProgress() as progress:
        watcher = Watcher(
            building=progress.building, begin=progress.begin, point=progress.point, advance=progress.advance,
            solved=lambda solution: progress.after(lambda: report(solution)),
        )  # fmt: skip
        solve(
            **given, max_histories=max_histories, out=folder, resume=resume, executor=executor, watcher=watcher
        )  # fmt: skip
