"""Solve a game: strategy, value, exact exploitability, and a run folder with a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from infoset.cli.options import (
    AsJson,
    Executor,
    MaxHistories,
    MaybeGameName,
    absolute,
)
from infoset.cli.output import print_json, write
from infoset.cli.progress import SolveProgress
from infoset.cli.report import solution_body, solution_text
from infoset.locking import read_locks
from infoset.solvers.work import Watcher
from infoset.solving import Solution
from infoset.solving import solve as solve_game

METHOD_HELP = "How to solve it: auto (default) chooses; 'infoset methods' lists them. With parameters: dcfr(alpha=2)."


def run(
    game: MaybeGameName = None,
    method: Annotated[str | None, typer.Option(help=METHOD_HELP)] = None,
    iterations: Annotated[
        int | None, typer.Option(help="Stop after so many iterations, of each run where there are several.")
    ] = None,
    target: Annotated[float | None, typer.Option(help="Stop at this exploitability.")] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Stop after so many seconds of solving; also of building, but not before 10.")
    ] = None,
    start: Annotated[
        str | None, typer.Option(help="The first profile: uniform (default) or random, drawn with --seed.")
    ] = None,
    runs: Annotated[int | None, typer.Option(min=1, help="Independent runs, where a method has several.")] = None,
    lock: Annotated[
        list[str] | None,
        typer.Option(
            help="Fix a strategy, solve for the rest: P1=random, P1=POLICY, or a .json of players, sets, probabilities."
        ),
    ] = None,
    form: Annotated[
        str | None, typer.Option(help="Represent the game as tree, factored or sampled (default: what fits).")
    ] = None,
    teams: Annotated[
        str | None, typer.Option(help="Who plays together: seats from 1 or names, as 1+3,2 (default: the game's own).")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of every random choice (0).")] = None,
    out: Annotated[Path | None, typer.Option(help="The run's folder (default: a fresh one below runs/).")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    max_histories: MaxHistories = None,
    executor: Executor = "local",
    json_: AsJson = False,
) -> None:
    folder = Path("runs/*") if out is None and not resume else out
    if game is not None and folder is not None:  # no name is read before the folder is known to be free
        game = absolute(game)

    locked = None if lock is None else read_locks(lock)

    def report(solution: Solution) -> None:
        print_json(solution_body(solution)) if json_ else write(solution_text(solution))

    with SolveProgress() as progress:
        watcher = Watcher(
            building=progress.building, begin=progress.begin, point=progress.point, advance=progress.advance,
            solved=lambda solution: progress.after(lambda: report(solution)),
        )  # fmt: skip
        solve_game(
            game, method, iterations=iterations, target=target, seconds=seconds, start=start, runs=runs, lock=locked,
            form=form, teams=teams, seed=seed, max_histories=max_histories, out=folder, resume=resume,
            executor=executor, watcher=watcher,
        )  # fmt: skip
