"""Pommerman's steps a second: in batches, one game at a time, with what agents see, with stock agents.

Everything runs in one process on one thread unless a row says otherwise, and takes turns, round after round; the figure
to read is the median over the rounds, beside it stands the best one.  The slow twin is the plain-Python second
implementation that the tests compare with.  Figures of the reference environment and of pomcpp2 (C++17) were measured
elsewhere, on a shared machine of two cores: `pommerman.md`, section 11.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from importlib.metadata import version
from itertools import cycle
from pathlib import Path
from statistics import median
from types import ModuleType

import numpy as np

import infoset
from infoset.jit import kernel
from infoset_pommerman.config import config
from infoset_pommerman.engine import advance, engine
from infoset_pommerman.game import Pommerman
from infoset_pommerman.observation import read_observation
from infoset_pommerman.rules import scratch
from infoset_pommerman.simple_vec import SimpleVec
from infoset_pommerman.vec import PommermanVec

Job = Callable[[int], object]
"""Plays so many steps."""

BOARDS = 512
MANY_BOARDS = 8192  # where threads are compared: each needs work enough for a call
JOINT_MOVES = 64  # random joint moves that are drawn beforehand and repeated
COPIED = 20  # steps from a copied position, as pomcpp2 was measured
FFA, TEAM, RADIO, DUEL = "PommeFFACompetition-v0", "PommeTeamCompetition-v0", "PommeRadio-v2", "OneVsOne-v0"
TWIN = Path(__file__).parents[1] / "tests" / "pommerman_twin.py"


@dataclass(frozen=True)
class Args:
    """Measure Pommerman's steps a second; prints tables in Markdown."""

    rounds: int = 9
    window: float = 0.4
    """The least seconds of one timing."""
    quick: bool = False
    """Two short rounds of everything: a test of the script, not of the speed."""


def parse(argv: Sequence[str] | None = None) -> Args:
    """The command line: one option for each field of ``Args``."""
    parser = argparse.ArgumentParser(description=Args.__doc__)
    for option in fields(Args):
        if isinstance(option.default, bool):
            parser.add_argument(f"--{option.name}", action="store_true")
        else:
            parser.add_argument(f"--{option.name}", type=type(option.default), default=option.default)
    args = Args(**vars(parser.parse_args(argv)))
    return Args(rounds=2, window=0.05, quick=True) if args.quick else args


# ---------------------------------------------------------------------------------------------------------------------
# What is measured
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One way to step, and what is known of it elsewhere."""

    title: str
    work: Job
    target: float | None = None
    reference: float | None = None
    pomcpp2: float | None = None


def random_moves(batch: PommermanVec) -> cycle[np.ndarray]:
    """(B, A) random moves, over and over."""
    shape = JOINT_MOVES, batch.num_envs, batch.config.num_agents
    return cycle(np.random.default_rng(0).integers(0, 6, shape, dtype=np.int16))


def batched(name: str, planes: bool = False, boards: int = BOARDS, threads: int = 1) -> Job:
    """Random moves on many boards; a game that is over is followed by a new one on a new board."""
    batch = PommermanVec(boards, config(name), seed=1, threads=threads)
    actions = random_moves(batch)

    def work(steps: int) -> None:
        for _ in range(-(-steps // boards)):
            batch.step(next(actions))
            if planes:
                batch.observe()

    return work


def stock(name: str) -> Job:
    """Games between stock agents."""
    batch = PommermanVec(BOARDS, config(name), seed=1)
    agents = SimpleVec(batch, seed=2)
    for _ in range(300):  # all ages of games
        batch.step(agents.act())

    def work(steps: int) -> None:
        for _ in range(steps // BOARDS):
            batch.step(agents.act())

    return work


@kernel
def step_copies(first, row, work, settings, collapses, near, actions, words, steps):
    """Copy a position, play ``COPIED`` steps, and again."""
    done = 0
    while done < steps:
        for k in range(len(row)):
            row[k] = first[k]
        for _ in range(COPIED):
            advance(row, work, settings, collapses, near, actions[done % len(actions)], words)
            done += 1


@kernel
def copy_rows(first, row, times):
    """Copy a position so often, each time changed a little so that nobody leaves the copies out."""
    for t in range(times):
        first[0] = t & 1
        for k in range(len(row)):
            row[k] = first[k]
    return row[0]


def copied(name: str) -> Job:
    rules = config(name)
    arrays, row = engine(rules), PommermanVec(1, rules, seed=1).rows[0]
    actions = np.random.default_rng(0).integers(0, 6, (4096, 4), dtype=np.int16)
    room, words, other = scratch(rules.size), np.zeros((4, 2), dtype=np.int16), row.copy()
    return lambda steps: step_copies(
        row, other, room, arrays.settings, arrays.collapses, arrays.near, actions, words, steps
    )


def single(name: str, dictionaries: bool = False) -> Job:
    """One game after the other through the game's own methods."""
    game = Pommerman(name, config(name))
    agents = range(len(game.players))
    actions = cycle(np.random.default_rng(0).integers(0, 6, (4096, len(game.players))).tolist())
    seeds = iter(range(10**9))

    def work(steps: int) -> None:
        state = game.deal(next(seeds)).state
        for _ in range(steps):
            if state.terminal:
                state = game.deal(next(seeds)).state
            joint = [action if state.legal_actions(k) else None for k, action in zip(agents, next(actions), strict=True)]
            step = state.play(joint)
            state = step.state
            if dictionaries:
                for k in agents:
                    read_observation(step.observation(k), game.config, k)

    return work


def one_step(name: str) -> Job:
    """The same step again and again: what the call itself costs."""
    state = Pommerman(name, config(name), seed=1).start().state
    actions = (0, 1, 2, 5)

    def work(steps: int) -> None:
        for _ in range(steps):
            state.play(actions)

    return work


def slow(name: str) -> Job:
    """The plain-Python twin, new boards being the batch's."""
    twin, rules = load_twin(), config(name)
    batch = PommermanVec(64, rules, seed=1)
    boards = cycle(batch.rows.copy())
    actions = cycle(np.random.default_rng(0).integers(0, 6, (4096, rules.num_agents)).tolist())
    words = [(0, 0)] * rules.num_agents

    def work(steps: int) -> None:
        state = twin.from_row(next(boards), rules)
        for _ in range(steps):
            if state.result:
                state = twin.from_row(next(boards), rules)
            twin.step(state, rules, next(actions), words)

    return work


def load_twin() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pommerman_twin", TWIN)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def rows() -> list[Row]:
    return [
        Row("batched, bare, FFA, random, new boards", batched(FFA), 2_500_000, 6_800, 2_400_000),
        Row("batched, bare, Team", batched(TEAM), None, 5_900),
        Row("batched, bare, OneVsOne", batched(DUEL), None, 9_100),
        Row("bare from a copied position, FFA", copied(FFA), None, None, 3_700_000),
        Row("batched, uint8 planes for four agents, Team", batched(TEAM, planes=True), 600_000, 1_350, 1_250_000),
        Row("batched, uint8 planes for four agents, FFA", batched(FFA, planes=True), None, 6_800, 1_800_000),
        Row("one step in Python, FFA", one_step(FFA), 150_000, 6_800),
        Row("whole games in Python, FFA", single(FFA), None, 4_800),
        Row("whole games in Python with dictionaries, FFA", single(FFA, dictionaries=True), None, 4_800),
        Row("whole games in Python with dictionaries, Team", single(TEAM, dictionaries=True), None, 1_180),
        Row("SimpleAgent x4, FFA", stock(FFA), 100_000, 212, 390_000),
        Row("SimpleAgent x4, Team", stock(TEAM), None, 221),
        Row("SimpleAgent x2, OneVsOne", stock(DUEL), None, 426),
        Row("slow twin, bare, FFA", slow(FFA)),
        Row("8,192 boards, bare, FFA, 1 thread", batched(FFA, boards=MANY_BOARDS)),
        Row("8,192 boards, bare, FFA, 2 threads", batched(FFA, boards=MANY_BOARDS, threads=2)),
        Row("8,192 boards, planes, Team, 1 thread", batched(TEAM, True, MANY_BOARDS)),
        Row("8,192 boards, planes, Team, 2 threads", batched(TEAM, True, MANY_BOARDS, threads=2)),
    ]


# ---------------------------------------------------------------------------------------------------------------------
# Measuring and printing
# ---------------------------------------------------------------------------------------------------------------------


def clock(work: Job, steps: int) -> float:
    begin = time.perf_counter()
    work(steps)
    return time.perf_counter() - begin


def enough(work: Job, window: float) -> int:
    """How many steps take ``window`` seconds; the first ones, which may compile, are not looked at."""
    steps = MANY_BOARDS
    clock(work, steps)
    while (spent := clock(work, steps)) < window:
        steps = min(10 * steps, math.ceil(1.1 * window / spent * steps / MANY_BOARDS + 1) * MANY_BOARDS)
    return steps


def take_turns(benches: list[Row], args: Args) -> dict[str, list[float]]:
    """Steps a second of every row, one figure a round."""
    steps = {row.title: enough(row.work, args.window) for row in benches}
    found: dict[str, list[float]] = {row.title: [] for row in benches}
    for _ in range(args.rounds):
        for row in benches:
            found[row.title].append(steps[row.title] / clock(row.work, steps[row.title]))
    return found


def times(ours: float, theirs: float | None) -> str:
    return "-" if theirs is None else f"{ours / theirs:,.3g}x"


def main() -> None:
    args = parse()
    print(f"infoset {infoset.__version__}, Python {platform.python_version()}, NumPy {np.__version__},", end=" ")
    print(f"Numba {version('numba')}; {os.cpu_count()} CPUs ({platform.machine()}).", end=" ")
    print(f"Load average at the start: {os.getloadavg()[0]:.2f}.\n")
    benches = rows()
    rates = take_turns(benches, args)
    twin = median(rates["slow twin, bare, FFA"])
    print(
        "| steps a second | median | best | target | met | over the slow twin | reference | over it | pomcpp2 | over it |"
    )
    print("|---|---:|---:|---:|---|---:|---:|---:|---:|---:|")
    for row in benches:
        rate = median(rates[row.title])
        met = "-" if row.target is None else "met" if rate >= row.target else "MISSED"
        peers = [f"{'-' if p is None else f'{p:,}'} | {times(rate, p)}" for p in (row.reference, row.pomcpp2)]
        print(
            f"| {row.title} | {rate:,.0f} | {max(rates[row.title]):,.0f} | "
            f"{'-' if row.target is None else f'{row.target:,}'} | {met} | {times(rate, twin)} | {' | '.join(peers)} |"
        )
    for what in ("bare, FFA", "planes, Team"):
        one, two = (f"8,192 boards, {what}, {threads}" for threads in ("1 thread", "2 threads"))
        gains = [b / a for a, b in zip(rates[one], rates[two], strict=True)]
        print(f"\nTwo threads, {what}: {median(gains):.2f}x (best round {max(gains):.2f}x);", end="")
        print(f" target 1.7x: {'met' if median(gains) >= 1.7 else 'MISSED'}.")
    copying()


def copying() -> None:
    """What a copy of a position costs."""
    row = PommermanVec(1, config(FFA), seed=1).rows[0]
    other, count = row.copy(), 200_000
    copy_rows(row, other, 1)
    best = min(timed_copies(row, other, count) for _ in range(9))
    print(
        f"\nA position is {row.nbytes:,} bytes (target: less than 3,000); a copy in a kernel takes {1e6 * best:.3f} µs",
        end="",
    )
    print(f" (target: less than 0.5): {'met' if best < 0.5e-6 and row.nbytes < 3000 else 'MISSED'}.")


def timed_copies(row: np.ndarray, other: np.ndarray, count: int) -> float:
    begin = time.perf_counter()
    copy_rows(row, other, count)
    return (time.perf_counter() - begin) / count


if __name__ == "__main__":
    main()
