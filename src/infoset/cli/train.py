"""Train a network, by self-play or against rivals; 'trained:DIR' plays with it."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from infoset.cli.options import AsJson, Executor, MaybeGameName, absolute
from infoset.cli.output import print_json, write
from infoset.cli.progress import LearningProgress
from infoset.solvers.job import Watcher
from infoset.training import TrainingRun
from infoset.training import train as learn


def run(
    game: MaybeGameName = None,
    seconds: Annotated[float, typer.Option(min=0, max=1e9, help="Stop after so many seconds in all.")] = 600.0,
    epochs: Annotated[int | None, typer.Option(min=1, help="Stop after so many epochs in all.")] = None,
    out: Annotated[Path | None, typer.Option(help="The run's folder (default: a fresh one below runs/).")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the training in --out.")] = False,
    method: Annotated[
        str | None,
        typer.Option(
            help="self-play (of listed states), tree-search (of others), resolving; Pommerman: ppo, a2c, dqn, dagger."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of every random choice (0).")] = None,
    games: Annotated[int | None, typer.Option(min=1, help="Games of an epoch (128, 16, 64).")] = None,
    parts: Annotated[int | None, typer.Option(min=1, help="In which they are played, for so many workers (2).")] = None,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Processes that play games; changes no result.")] = 1,
    worlds: Annotated[int | None, typer.Option(min=1, help="Drawn at each move (30, 200); not resolving.")] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, help="resolving: look so many ahead (1000). Pommerman: of an epoch (64).")
    ] = None,
    stop_at_chance: Annotated[
        bool | None, typer.Option("--stop-at-chance", help="resolving: look ahead until chance moves, a betting round.")
    ] = None,
    hidden: Annotated[int | None, typer.Option(min=1, help="Units of a layer (128, 256).")] = None,
    rate: Annotated[float | None, typer.Option(help="Of learning (0.001).")] = None,
    boards: Annotated[int | None, typer.Option(min=1, help="Pommerman: games at a time (256).")] = None,
    rivals: Annotated[
        str | None, typer.Option(help="Pommerman: agents' names; 'self': its own past (simple). As simple,self.")
    ] = None,
    shaped: Annotated[float | None, typer.Option(help="Pommerman: deaths and items rewarded so much too (0).")] = None,
    filtered: Annotated[
        bool | None, typer.Option("--filtered", help="Pommerman: no moves that it does not survive.")
    ] = None,
    starts: Annotated[
        str | None, typer.Option(help="Pommerman: where games begin: dealt, uniform, backplay (dealt).")
    ] = None,
    lessons: Annotated[
        int | None, typer.Option(min=1, help="Pommerman: epochs until games begin as dealt (300).")
    ] = None,
    expert: Annotated[str | None, typer.Option(help="dagger: the agent that is imitated (simple).")] = None,
    initial: Annotated[
        str | None, typer.Option(help="Pommerman: whose network it begins with: skynet, trained:DIR …")
    ] = None,
    executor: Executor = "local",
    json_: AsJson = False,
) -> None:
    asked = {
        "method": method, "seed": seed, "games": games, "parts": parts, "worlds": worlds, "steps": steps,
        "stop_at_chance": stop_at_chance, "hidden": hidden, "rate": rate, "boards": boards, "rivals": rivals,
        "shaped": shaped, "filtered": filtered, "starts": starts, "lessons": lessons, "expert": expert,
        "initial": initial,
    }  # fmt: skip
    given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    name = None if game is None else absolute(game)
    with LearningProgress(seconds) as progress:
        watcher = Watcher(
            building=progress.exploring, point=progress.advance,
            solved=lambda training: progress.after(lambda: _report_training(training, json_)),
        )  # fmt: skip
        learn(
            name, seconds=seconds, epochs=epochs, out=out, resume=resume, workers=workers, executor=executor,
            watcher=watcher, **given,
        )  # fmt: skip


def _report_training(training: TrainingRun, json_: bool) -> None:
    last = training.last
    if json_:
        print_json({"folder": str(training.folder), "last": asdict(last) if last else None})
        return
    if last:
        start_text = ", ".join(f"{value:.4g}" for value in last.start_values)
        words = ("values", last.value_loss), ("policies", last.policy_loss)
        lost = ", ".join(f"{loss:.3e} on {word}" for word, loss in words if loss is not None)
        write(
            f"{training.game} by {training.method}\n"
            f"learnt from      {last.states:,} states in {last.games:,} games, {last.seconds:,.0f} s\n"
            f"lost             {lost}"
        )
        if start_text:
            write(f"start            {start_text}")
        for epoch in [epoch for epoch in training.points() if epoch.duels][-1:]:
            write(f"score            {epoch.share} in {epoch.duels} games v {epoch.rival}, epoch {epoch.iteration}")
    write(f"run folder       {training.folder}")
