"""Train a network by self-play or against other agents; the agent 'trained:DIR' plays with it."""

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
    seconds: Annotated[float, typer.Option(min=0, max=1e9, help="Total seconds, earlier runs included.")] = 600.0,
    epochs: Annotated[int | None, typer.Option(min=1, help="Total epochs, earlier runs included.")] = None,
    out: Annotated[Path | None, typer.Option(help="The run's folder (default: a new one below runs/).")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the training in --out.")] = False,
    method: Annotated[
        str | None,
        typer.Option(
            help="self-play, resolving, tree-search; baselines: ppo, mmd, hiding, deep-cfr, escher, nfsp, psro, r-nad; "
            "in Pommerman ppo, a2c, dqn or dagger."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of every random choice (default: 0).")] = None,
    games: Annotated[int | None, typer.Option(min=1, help="Games in an epoch (128, 64, 16, by method).")] = None,
    shards: Annotated[int | None, typer.Option(min=1, help="Parts of an epoch, shared by workers (2).")] = None,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Processes that play games, same results.")] = 1,
    worlds: Annotated[int | None, typer.Option(min=1, help="Histories sampled at each move (30 or 8).")] = None,
    steps: Annotated[
        int | None,
        typer.Option(min=1, help="resolving: look-ahead (1000). Pommerman: of an epoch (64). Baselines: in all."),
    ] = None,
    stop_at_chance: Annotated[
        bool | None, typer.Option("--stop-at-chance", help="resolving: also stop the look-ahead where chance acts.")
    ] = None,
    hidden: Annotated[int | None, typer.Option(min=1, help="Units in a hidden layer (128, resolving 256).")] = None,
    rate: Annotated[float | None, typer.Option(help="Learning rate (default: 0.001).")] = None,
    layers: Annotated[int | None, typer.Option(min=1, help="Baselines: hidden layers (2).")] = None,
    batch: Annotated[int | None, typer.Option(min=1, help="Samples in a mini-batch (256, 1024, 2048).")] = None,
    encoding: Annotated[
        str | None,
        typer.Option(help="Baselines: information-state, observation, history or python:FILE:NAME."),
    ] = None,
    entropy: Annotated[float | None, typer.Option(help="ppo, mmd, psro: weight of the policies' entropy.")] = None,
    preset: Annotated[str | None, typer.Option(help="Baselines: parameters that were published: iig-rl.")] = None,
    boards: Annotated[int | None, typer.Option(min=1, help="Pommerman: simultaneous games (default: 256).")] = None,
    opponents: Annotated[
        str | None, typer.Option(help="Pommerman: opponents, as in simple,self (self: earlier networks).")
    ] = None,
    reward_shaping: Annotated[
        float | None, typer.Option(help="Pommerman: weight of reward shaping (default: 0).")
    ] = None,
    filtered: Annotated[
        bool | None, typer.Option("--filtered", help="Pommerman: exclude moves that are certain death.")
    ] = None,
    curriculum: Annotated[
        str | None, typer.Option(help="Pommerman: start of games: dealt (default), uniform or backplay.")
    ] = None,
    lessons: Annotated[
        int | None, typer.Option(min=1, help="Pommerman: epochs until all games begin on new boards (300).")
    ] = None,
    expert: Annotated[str | None, typer.Option(help="dagger: the agent to imitate (default: simple).")] = None,
    initial: Annotated[
        str | None, typer.Option(help="Pommerman: network to begin with, as skynet or trained:DIR.")
    ] = None,
    executor: Executor = "local",
    json_: AsJson = False,
) -> None:
    asked = {
        "method": method, "seed": seed, "games": games, "shards": shards, "worlds": worlds, "steps": steps,
        "stop_at_chance": stop_at_chance, "hidden": hidden, "rate": rate, "boards": boards, "opponents": opponents,
        "reward_shaping": reward_shaping, "filtered": filtered, "curriculum": curriculum, "lessons": lessons,
        "expert": expert, "initial": initial, "layers": layers, "batch": batch, "encoding": encoding,
        "entropy": entropy, "preset": preset,
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
        for epoch in [epoch for epoch in training.points() if epoch.exploitability is not None][-1:]:
            write(f"exploitability   {epoch.exploitability:.3e}, exact, after {epoch.states:,} decisions")
        for epoch in [epoch for epoch in training.points() if epoch.duels][-1:]:
            write(f"score            {epoch.share} in {epoch.duels} games v {epoch.opponent}, epoch {epoch.iteration}")
    write(f"run folder       {training.folder}")
