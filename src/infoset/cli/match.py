"""Play matches between agents: print wins, mean payoffs with 95 % intervals, faults and speed.

A run's folder in place of GAME is the first AGENT too, in the game of that run.
"""

import sys
from contextlib import ExitStack, redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from infoset.base import Agent
from infoset.cli.options import AGENT_HELP, AsJson, GameOrRun, Isolate, SecondsPerMove, StartClock, absolute, with_run
from infoset.cli.progress import MatchProgress
from infoset.cli.series import ReplayWriter, report_series
from infoset.cli.terminal import give_back
from infoset.match.agents import alone
from infoset.match.series import play_series


def run(
    game: GameOrRun,
    agents: Annotated[list[str] | None, typer.Argument(metavar="AGENT", help=AGENT_HELP)] = None,
    games: Annotated[int, typer.Option(help="Number of games.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random choice.")] = 0,
    rotate: Annotated[bool, typer.Option("--rotate", help="Shift the agents by one seat after every game.")] = False,
    seconds_per_move: SecondsPerMove = None,
    start_clock: StartClock = None,
    isolate: Isolate = False,
    replay: Annotated[Path | None, typer.Option(help="Write a replay of each game to this folder.")] = None,
    json_: AsJson = False,
) -> None:
    game, agents = with_run(game, *(agents or ()))
    seated: list[Agent] = []
    keep = None if replay is None else ReplayWriter(replay)
    with redirect_stdout(sys.stderr), ExitStack() as screen:  # agents' output is not a result
        if "human" in agents:  # the person has the terminal, so no progress is shown
            progress = None
            screen.callback(lambda: give_back(seated))
        else:
            progress = screen.enter_context(MatchProgress(games)).advance
        series = play_series(
            absolute(game), list(map(alone, agents)) if isolate else agents, games=games, seed=seed, rotate=rotate,
            seconds_per_move=seconds_per_move, seconds_to_begin=start_clock, progress=progress, keep=keep,
            seated=seated.extend,
        )  # fmt: skip
    report_series(series, keep, json_)
