"""The arguments of ``infoset play``, declared apart from the game, which brings Numba."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from infoset.cli.options import MaybeGameName


@dataclass(frozen=True)
class PlayOptions:
    """Hold the arguments of ``infoset play``."""

    game: MaybeGameName = None
    agents: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[AGENT]…",
            help="An agent for each other seat, in order (default: the equilibrium if the game is small).",
        ),
    ] = None
    seat: Annotated[str | None, typer.Option(help="Your seat: a player's name or number (default: 1).")] = None
    games: Annotated[int, typer.Option(help="Number of games.")] = 1
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of every random choice (default: drawn).")] = None
    seconds_per_move: Annotated[
        float | None, typer.Option(help="Seconds for each move (default: no limit; in Pommerman 0.3).")
    ] = None
    replay: Annotated[
        Path | None, typer.Option(help="The folder in which to save replays (default: below runs/play/).")
    ] = None
    resume: Annotated[Path | None, typer.Option(help="Continue the unfinished game in this replay file.")] = None
    practice: Annotated[bool, typer.Option("--practice", help="Allow hints (h) and taking moves back (u).")] = False
    hints: Annotated[
        str | None, typer.Option(help="A policy file or run folder that gives hints and judges moves.")
    ] = None
