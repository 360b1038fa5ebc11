"""Random plays a second of described games: the two compiled evaluators, the lazy one, and a slow interpreter.

Everything runs in one process on one thread.  The evaluators take turns, round after round, each with as many plays
as take the window; the figure to read is the median over the rounds, beside it stands the best round.  The slow
interpreter is the one that the tests compare with, so its ratio is measured on the same rules in the same run.
Figures of other engines were measured elsewhere, on a shared machine of two cores with the rules in circulation.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import platform
import resource
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

import numpy as np

import infoset
from infoset.clock import uninterrupted
from infoset.gdl import parallel, scalar
from infoset.gdl.game import sound
from infoset.gdl.grounding import ground
from infoset.gdl.lazy import LazyEvaluator
from infoset.gdl.library import PREFIX, library
from infoset.gdl.propnet import PropNet, compile_propnet
from infoset.gdl.scalar import ScalarEvaluator
from infoset.gdl.syntax import Description, parse_gdl, read_gdl
from infoset.gdl.tally import Playouts
from infoset.statistics import NORMAL_95, Mean

Job = Callable[[int, int], object]
"""Plays so many plays with a seed."""

READY = 2.0
"""Target: seconds from the text to the first play."""
SCALAR_GAIN = 5
"""Target: scalar plays a second, in those of ggp-base's propnet."""
FAR = 4.0
"""Standard errors beyond which two means are not the same."""
BUSY = 1.0
"""Load average from which on the figures suffer."""
REFERENCE = Path(__file__).parents[1] / "tests" / "gdl_interpreter.py"
BIT_PARALLEL, SCALAR, LAZY, FRUGAL, SLOW = (
    "bit-parallel", "scalar", "lazy", "lazy, memo=0", "slow interpreter",
)  # fmt: skip
PROVER, GGP, CYTHON, CLINGO, PROTOTYPE = (
    "ggp-base, prover (Java 17)",
    "ggp-base, optimised propnet, full passes",
    "deep-hi-ggp, propnet in Cython",
    "pyggp 0.2.0a4, Clingo",
    "NumPy prototype, bit-parallel",
)


@dataclass(frozen=True)
class Args:
    """Measure random plays a second of games described in GDL; prints tables in Markdown."""

    rounds: int = 7
    """Rounds of each comparison."""
    window: float = 0.5
    """The least seconds of one timing, unless a single play takes longer."""
    plays: int = 20_000
    """Plays of each compiled evaluator for the comparison of their means."""
    quick: bool = False
    """Two short rounds of everything: a test of the script, not of the speed."""
    files: tuple[str, ...] = ()
    """Descriptions to be played lazily instead: those that do not ground."""


def parse(argv: Sequence[str] | None = None) -> Args:
    """The command line: one option for each field of ``Args``."""
    parser = argparse.ArgumentParser(description=Args.__doc__)
    for option in fields(Args):
        name = f"--{option.name.replace('_', '-')}"
        if option.name == "files":
            parser.add_argument("files", nargs="*", help="descriptions to be played lazily instead of the tables")
        elif isinstance(option.default, bool):
            parser.add_argument(name, action="store_true")
        else:
            parser.add_argument(name, type=type(option.default), default=option.default)
    args = Args(**vars(parser.parse_args(argv)))
    return Args(rounds=2, window=0.05, plays=2000, quick=True, files=args.files) if args.quick else args


# ---------------------------------------------------------------------------------------------------------------------
# The games
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bench:
    """A shipped game, perhaps with changes to its text, and what is known of it elsewhere."""

    title: str
    name: str
    target: int | None = None
    """Plays a second that the bit-parallel evaluator should reach."""
    peers: dict[str, float] = field(default_factory=dict, hash=False)
    """Plays a second of other engines."""
    length: float | None = None
    """Mean steps of a random play in the other engines."""
    changes: tuple[tuple[str, str], ...] = ()

    def read(self) -> Description:
        """The description, parsed and checked."""
        text = library()[self.name].read_text(encoding="utf-8")
        for old, new in self.changes:
            assert text.count(old) == 1, f"{self.name}: {old!r} stands there {text.count(old)} times"
            text = text.replace(old, new)
        return sound(parse_gdl(text, PREFIX + self.name))

    @cached_property
    def description(self) -> Description:
        return self.read()

    @cached_property
    def net(self) -> PropNet:
        return compile_propnet(self.description, ground(self.description))

    @property
    def targets(self) -> dict[str, float]:
        """Plays a second to be reached, by evaluator."""
        if self.target is None:
            return {}
        return {BIT_PARALLEL: self.target, SCALAR: SCALAR_GAIN * self.peers[GGP]}


CONNECT_FOUR_PEERS = {PROVER: 31, GGP: 4463, CYTHON: 85, CLINGO: 26, PROTOTYPE: 18_800}
EIGHT_COLUMNS = (("(column 7)", "(column 7) (column 8)"), ("(four 4 5 6 7)", "(four 4 5 6 7) (four 5 6 7 8)"))
GAMES = (
    Bench(
        "tic_tac_toe", "tic_tac_toe", 1_500_000, {PROVER: 813, GGP: 32_065, CLINGO: 413, PROTOTYPE: 111_600}, 7.62
    ),
    Bench("connect_four", "connect_four", 200_000, CONNECT_FOUR_PEERS),
    Bench("connect_four, 8 columns", "connect_four", 200_000, CONNECT_FOUR_PEERS, 22.3, EIGHT_COLUMNS),
    Bench("breakthrough", "breakthrough", 2500, {PROVER: 7.3, GGP: 35, PROTOTYPE: 206}),
    Bench(
        "blind_tic_tac_toe", "blind_tic_tac_toe", 1_000_000,
        {PROVER: 824, GGP: 46_700, CYTHON: 773, PROTOTYPE: 39_500}, 5.44,
    ),
    Bench("meier", "meier", 250_000, {PROVER: 964, GGP: 13_700, CYTHON: 162, PROTOTYPE: 9260}, 5.25),
    Bench("monty_hall", "monty_hall", None, {CYTHON: 5928, PROTOTYPE: 1_330_000}),
)  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------------
# Measuring and printing
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rates:
    """Plays a second of each evaluator, one figure a round, and the plays of one timing."""

    plays: dict[str, int]
    rates: dict[str, list[float]]
    of_cpu: dict[str, list[float]]
    """Plays a second of the processor's time, which others do not get."""

    def median(self, name: str) -> float:
        return median(self.rates[name])

    def best(self, name: str) -> float:
        return max(self.rates[name])

    def ratio(self, name: str, over: str) -> float:
        """Median over the rounds of how many times as many plays ``name`` makes."""
        return median(a / b for a, b in zip(self.rates[name], self.rates[over], strict=True))


def clock(work: Job, count: int, seed: int = 0) -> tuple[float, float]:
    """Seconds that ``count`` plays take, and those of the processor."""
    begin, cpu = time.perf_counter(), time.process_time()
    work(count, seed)
    return time.perf_counter() - begin, time.process_time() - cpu


def enough(work: Job, window: float) -> int:
    """How many plays take ``window`` seconds; the first one, which may compile, is not looked at."""
    clock(work, 1)
    count = 1
    spent, _ = clock(work, count)
    while spent < window:
        count = min(count * 10, max(count + 1, math.ceil(1.1 * window / spent * count)))
        spent, _ = clock(work, count)
    return count


def take_turns(works: dict[str, Job], args: Args) -> Rates:
    """Time the evaluators one after the other, round after round; each round has a seed of its own."""
    plays = {name: enough(work, args.window) for name, work in works.items()}
    found = Rates(plays, {name: [] for name in works}, {name: [] for name in works})
    for seed in range(1, args.rounds + 1):
        for name, work in works.items():
            seconds, cpu = clock(work, plays[name], seed)
            found.rates[name].append(plays[name] / seconds)
            found.of_cpu[name].append(plays[name] / cpu)
    return found


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a Markdown table in columns; those with numbers are flush right."""
    rows = [tuple(row) for row in rows]
    numeric = [any(isinstance(row[k], int | float) for row in rows) for k in range(len(head))]
    cells = [tuple(head), *(tuple(map(show, row)) for row in rows)]
    widths = [max(len(line[k]) for line in cells) for k in range(len(head))]
    columns = list(zip(widths, numeric, strict=True))
    marks = tuple("-" * (width - 1) + ":" if right else "-" * width for width, right in columns)
    for line in (cells[0], marks, *cells[1:]):
        aligned = zip(line, columns, strict=True)
        print("| " + " | ".join(c.rjust(width) if right else c.ljust(width) for c, (width, right) in aligned) + " |")
    print(flush=True)


def show(cell: object) -> str:
    """A number with three digits, anything else as it is; nothing as a dash."""
    if cell is None:
        return "-"
    if isinstance(cell, int):
        return f"{cell:,}"
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:,.0f}" if cell >= 1000 else f"{cell:.3g}"


def title(text: str) -> None:
    print(f"## {text}\n", flush=True)


def met(reached: bool) -> str:
    return "met" if reached else "MISSED"


# ---------------------------------------------------------------------------------------------------------------------
# 1. From the text to the first play
# ---------------------------------------------------------------------------------------------------------------------


def getting_ready(args: Args) -> None:
    """Seconds to read, ground and compile."""
    title("1. Seconds from the text to the first play")
    empty = parse_gdl("(role nobody)")
    start = median(grounding(empty)[0] for _ in range(args.rounds))
    ready(GAMES[0])  # compiles what is not compiled yet
    rows = []
    for game in GAMES:
        rounds = zip(*(ready(game) for _ in range(args.rounds)), strict=True)
        read, grounded, process, compiled = map(median, rounds)
        total = read + grounded + compiled
        rows.append((
            game.title, read, grounded, process, compiled, total, READY, met(total < READY),
            len(game.net), len(game.net.base), len(game.net.actions),
        ))  # fmt: skip
    head = (
        "game", "read and check", "ground", "grounder's CPU", "compile", "sum", "target, less than", "met",
        "nodes", "propositions", "moves",
    )  # fmt: skip
    table(head, rows)
    print(f"Medians of {args.rounds} rounds with kernels already compiled. The grounder is a process of its own, which")
    print(f"takes most of `ground`; starting it takes {show(start)} s, measured on a description with nothing to ground.")
    print("Compiling makes the network and the arrays of the scalar evaluator.\n")


def ready(game: Bench) -> tuple[float, float, float, float]:
    """Seconds to read and check, to ground, of the grounder's process, to compile."""
    begin = time.perf_counter()
    description = game.read()
    read = time.perf_counter() - begin
    grounded, process, program = grounding(description)
    begin = time.perf_counter()
    ScalarEvaluator(compile_propnet(description, program))
    return read, grounded, process, time.perf_counter() - begin


def grounding(description: Description) -> tuple[float, float, Any]:
    """Seconds to ground, CPU seconds of the grounder's process, and the ground rules."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    program = ground(description)
    spent, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, program


# ---------------------------------------------------------------------------------------------------------------------
# 2. Plays a second
# ---------------------------------------------------------------------------------------------------------------------


def plays_a_second(args: Args) -> dict[Bench, Rates]:
    """Plays a second of every evaluator."""
    title("2. Random plays a second")
    reference = load_reference()
    found = {game: take_turns(evaluators(game, reference), args) for game in GAMES}
    rows = []
    for game, rates in found.items():
        for name in rates.rates:
            target, rate = game.targets.get(name), rates.median(name)
            rows.append((
                game.title, name, rate, rates.best(name), target, rate / target if target else None,
                met(rate >= target) if target else "-", median(rates.of_cpu[name]), rates.ratio(name, SLOW),
                rates.plays[name],
            ))  # fmt: skip
    head = (
        "game", "evaluator", "measured", "best", "target", "ratio", "met", "a CPU second", f"over the {SLOW}",
        "plays a round",
    )  # fmt: skip
    table(head, rows)
    print(f"Measured: the median of {args.rounds} rounds of {show(args.window)} s, or of one play if that is longer;")
    print("best: the best round, which in rounds of few plays is one with short plays. Ratio: measured / target.")
    print("A CPU second: the median by processor time, which excludes other work on the machine.")
    print(f"Targets of the scalar evaluator: {SCALAR_GAIN} times the plays of ggp-base's propnet, see table 4.")
    print("`lazy` remembers answers from earlier plays, as it does by default; with memo=0, only the last states.\n")
    return found


def evaluators(game: Bench, reference: ModuleType) -> dict[str, Job]:
    """Every evaluator as a piece of work."""
    interpreter = reference.Interpreter(game.description)

    def slow(count: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(count):
            interpreter.playout(rng)

    return {
        BIT_PARALLEL: lambda count, seed: parallel.playouts(game.net, count, seed),
        SCALAR: lambda count, seed: scalar.playouts(game.net, count, seed),
        LAZY: random_plays(LazyEvaluator(game.description)),
        FRUGAL: random_plays(LazyEvaluator(game.description, memo=0)),
        SLOW: slow,
    }


def random_plays(evaluator: LazyEvaluator) -> Job:
    """Plays in which every role chooses uniformly among its legal moves, asked for state by state."""
    roles = range(len(evaluator.roles))

    def work(count: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(count):
            state = evaluator.start()
            while not evaluator.terminal(state):
                action_sets = [evaluator.legal_actions(state, role) for role in roles]
                state, _ = evaluator.step(state, [action_set[int(rng.integers(len(action_set)))] for action_set in action_sets])
            for role in roles:
                evaluator.goals(state, role)

    return work


def load_reference() -> ModuleType:
    """The slow interpreter, which is part of the tests."""
    spec = importlib.util.spec_from_file_location(REFERENCE.stem, REFERENCE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---------------------------------------------------------------------------------------------------------------------
# 3. The same plays, 4. other engines
# ---------------------------------------------------------------------------------------------------------------------


def means(args: Args) -> None:
    """Whether both compiled evaluators play the same game: their lengths and returns."""
    title(f"3. Means of {args.plays:,} plays with their 95 % intervals")
    rows = []
    for game in GAMES:
        one, other = scalar.playouts(game.net, args.plays, 1), parallel.playouts(game.net, args.plays, 2)
        figures = zip(quantities(one).items(), quantities(other).values(), strict=True)
        for k, ((name, mine), theirs) in enumerate(figures):
            apart = distance(mine, theirs)
            rows.append((
                game.title, name, str(mine), str(theirs), apart, "yes" if apart <= FAR else "NO",
                game.length if k == 0 else None,
            ))  # fmt: skip
    table(("game", "mean", SCALAR, BIT_PARALLEL, "apart", "agree", "other engines"), rows)
    print(f"Apart: the difference in its standard errors; up to {FAR:g} is compatible with chance among so many pairs (the")
    print("intervals overlap up to 2.8). Seeds and numbers of plays are fixed: the figures are the same in every run.")
    print("Exact means for meier, all plays enumerated: 5.2657 steps, returns 34.84 and 65.16. Connect Four ships with")
    print("the usual 7 columns; the mean length of the other engines' plays is the one that 8 columns give.\n")


def quantities(plays: Playouts) -> dict[str, Mean]:
    """The length and the returns of all roles but ``random``."""
    returns = {f"return of {role}": mean for role, mean in plays.returns.items() if role != "random"}
    return {"length": plays.length, **returns}


def distance(one: Mean, other: Mean) -> float:
    """How many standard errors two means are apart; infinitely many where neither varies and they differ."""
    gap, error = abs(one.value - other.value), math.hypot(one.margin, other.margin) / NORMAL_95
    return gap / error if error else 0.0 if gap == 0 else math.inf


def other_engines(found: dict[Bench, Rates]) -> None:
    """Our medians beside figures measured elsewhere."""
    title("4. Other engines, measured elsewhere")
    rows = [
        (game.title, engine, theirs, rates.median(SCALAR) / theirs, rates.median(BIT_PARALLEL) / theirs)
        for game, rates in found.items()
        for engine, theirs in game.peers.items()
    ]
    table(("game", "engine", "plays a second, elsewhere", "scalar / theirs", "bit-parallel / theirs"), rows)
    print("Theirs: one thread of a shared machine of two cores, not in this run, and with the commonly used rules;")
    print("ours are rewritten. So a ratio compares engines and rules together, and only roughly.\n")


def lazily(args: Args) -> None:
    """Plays a second of files that do not ground, in one process each after the other; nothing is remembered before."""
    title("Random plays a second, state by state")
    rows = []
    for file in args.files:
        work = random_plays(LazyEvaluator(sound(read_gdl(file))))
        with uninterrupted():
            first, _ = clock(work, 1)
            rates = take_turns({LAZY: work}, args)
        rows.append((Path(file).name, rates.median(LAZY), rates.best(LAZY), median(rates.of_cpu[LAZY]), first))
    table(("file", "measured", "best", "a CPU second", "seconds to the end of the first play"), rows)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    args = parse(argv)
    load = os.getloadavg()[0]
    begin, cpu = time.perf_counter(), time.process_time()
    print(f"# Random play of described games, infoset {infoset.__version__}\n")
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, Numba {version('numba')}, ", end="")
    print(f"clingo {version('clingo')}; one thread, {os.cpu_count()} CPUs ({platform.machine()}). ", end="")
    print(f"{args.rounds} rounds. Load average at the start: {load:.2f}.\n")
    if load > BUSY:
        print(f"**The machine was busy: a load average above {BUSY:g} at the start. The figures suffer.**\n")
    if args.files:
        lazily(args)
        return
    getting_ready(args)
    found = plays_a_second(args)
    means(args)
    other_engines(found)
    wall = time.perf_counter() - begin
    print(f"{wall:.0f} s; {(time.process_time() - cpu) / wall:.2f} CPU seconds a second.")


if __name__ == "__main__":
    main()
