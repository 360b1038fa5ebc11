"""How long Pommerman's agents think: each of them decides in every position of the same recorded games.

Stock agents play the games; the agent that is looked at sits behind one of them after the other, takes in what that
seat observes and says what it would do, which nobody carries out.  So all agents see the same positions.  A decision is
both, taking in the observation and choosing the move, in one process on one thread, without a deadline.  One that takes
longer than the limit is made once more, and then counts as that does: what is slow but once is the machine.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from time import perf_counter

import numpy as np

import infoset
from infoset.base import Action, Observation, Step
from infoset.match.agents import load_agent
from infoset.match.match import play_match
from infoset.pommerman.config import config
from infoset.pommerman.game import Pommerman

VARIANT = "PommeTeamCompetition-v0"
AGENTS = ("simple", "dypm", "hakozaki", "eisenach", "champion")
LIMIT = 0.1
"""The reference's limit for a decision, in seconds."""


@dataclass(frozen=True)
class Args:
    """Measure how long Pommerman's agents think; prints a table in Markdown."""

    games: int = 3
    quick: bool = False
    """The first steps of one game: a test of the script, not of the speed."""


def parse(argv: Sequence[str] | None = None) -> tuple[Args, list[str]]:
    """The command line: one option for each field of ``Args``, and agents by name."""
    parser = argparse.ArgumentParser(description=Args.__doc__)
    for option in fields(Args):
        if isinstance(option.default, bool):
            parser.add_argument(f"--{option.name}", action="store_true")
        else:
            parser.add_argument(f"--{option.name}", type=type(option.default), default=option.default)
    parser.add_argument("agents", nargs="*", default=list(AGENTS))
    given = vars(parser.parse_args(argv))
    return Args(given["games"], given["quick"]), given["agents"]


@dataclass(frozen=True)
class Seat:
    """What one player of a game did and observed, step by step."""

    game: Pommerman
    player: int
    looks: list[tuple[Action | None, Observation, tuple[Action, ...]]]
    """Its move, what it saw then, and what it may do next; nothing where it is dead or the game over."""


def record(args: Args) -> Iterator[Seat]:
    """Every seat of games between stock agents; the same ones each time."""
    rules = config(VARIANT)
    rules = replace(rules, max_steps=20) if args.quick else rules
    for seed in range(1 if args.quick else args.games):
        yield from seats(Pommerman(VARIANT, rules, seed=seed))


def seats(game: Pommerman) -> list[Seat]:
    match = play_match(game, ["simple"] * len(game.players), seed=1)
    step: Step = game.start()
    found = [Seat(game, k, []) for k in range(len(game.players))]
    actions: Sequence[Action | None] = [None] * len(game.players)
    for played in [*match.steps, None]:
        for seat, action in zip(found, actions, strict=True):
            seat.looks.append((action, step.observation(seat.player), step.state.legal_actions(seat.player)))
        if played is not None:
            actions, step = played.actions, step.state.play(played.actions, played.chance_outcome)
    return found


def decisions(name: str, seat: Seat) -> Iterator[float]:
    """How many seconds each takes."""
    agent = load_agent(name)
    agent.begin(seat.game, seat.player, np.random.default_rng(seat.player), None)
    for action, observation, legal_actions in seat.looks:
        begin = perf_counter()
        agent.observe(action, observation)
        if legal_actions:
            agent.act(legal_actions, None)
            yield perf_counter() - begin


def measured(name: str, seat: Seat) -> np.ndarray:
    """(decisions,) their seconds; where one is over the limit all are made once more, as it may be the machine's."""
    spent = np.array(list(decisions(name, seat)))
    if (spent > LIMIT).any():
        again = np.array(list(decisions(name, seat)))
        for k in np.flatnonzero(spent > LIMIT).tolist():
            print(f"{name}: {1000 * spent[k]:.3g} ms, once more {1000 * again[k]:.3g} ms", file=sys.stderr, flush=True)
        spent = np.where(spent > LIMIT, again, spent)
    return spent


def main() -> None:
    args, names = parse()
    print(f"infoset {infoset.__version__}, Python {platform.python_version()}, NumPy {np.__version__},", end=" ")
    print(f"Numba {version('numba')}; {os.cpu_count()} CPUs ({platform.machine()}).", end=" ")
    print(f"Load average at the start: {os.getloadavg()[0]:.2f}.\n")
    print(f"| agent | decisions | a second | median, ms | 99 %, ms | longest, ms | over {1000 * LIMIT:g} ms |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name in names:
        for _ in decisions(name, next(record(args))):  # compiles
            pass
        spent = np.concatenate([measured(name, seat) for seat in record(args)])
        middle, high, longest = 1000 * np.quantile(spent, [0.5, 0.99, 1.0])
        print(
            f"| {name} | {len(spent):,} | {1 / spent.mean():,.0f} | {middle:.3g} | {high:.3g} | {longest:.3g} | "
            f"{(spent > LIMIT).sum():,} |", flush=True
        )  # fmt: skip


if __name__ == "__main__":
    main()
