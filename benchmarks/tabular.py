"""How fast infoset solves, evaluates and builds games, beside OpenSpiel's C++ solvers and LiteEFG.

Everything runs in one process on one thread.  Absolute times depend on the machine and on what else it does, so
ours and theirs take turns and the figures to read are the ratios: medians over the rounds of theirs / ours.
"""

from __future__ import annotations

import argparse
import io
import math
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, fields
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import LiteEFG
import numpy as np
import pyspiel
from LiteEFG.baselines import CFR, CFRplus
from numpy.typing import NDArray

import infoset
from infoset import GameTree, SequenceForm

FloatArray = NDArray[np.float64]
Job = Callable[[int], object]
"""Does something so many times."""

TARGETS = (1e-3, 1e-6)
GROWTH = 1.1
BEHIND = 3.0
SMALL = 1000
BUDGET = 8.0
OPENSPIEL_SOLVERS = {"CFR": pyspiel.CFRSolver, "CFR+": pyspiel.CFRPlusSolver}
LITEEFG_GRAPHS = {"CFR": CFR.graph, "CFR+": CFRplus.graph}
OUR_METHODS = {"CFR": infoset.cfr, "CFR+": infoset.cfr_plus}
OUR_CONTESTANTS = (infoset.cfr_plus, infoset.dcfr, infoset.pcfr_plus, infoset.pdcfr_plus)


@dataclass(frozen=True)
class Args:
    """Compare infoset with OpenSpiel's C++ solvers and LiteEFG; prints tables in Markdown."""

    rounds: int = 5
    """Rounds of each comparison; fewer, but two, where the rounds take more than 8 seconds."""
    window: float = 0.2
    """The least seconds of one timing."""
    peer_seconds: float = 60.0
    """Seconds that each solver of OpenSpiel may take for a game and all targets."""
    our_seconds: float = 5.0
    """The same for each of our methods."""
    quick: bool = False
    """One short round of everything: a test of the script, not of the speed."""


def parse(argv: Sequence[str] | None = None) -> Args:
    """The command line: one option for each field of ``Args``."""
    parser = argparse.ArgumentParser(description=Args.__doc__)
    for option in fields(Args):
        name = f"--{option.name.replace('_', '-')}"
        if isinstance(option.default, bool):
            parser.add_argument(name, action="store_true")
        else:
            parser.add_argument(name, type=type(option.default), default=option.default)
    args = Args(**vars(parser.parse_args(argv)))
    return Args(rounds=1, window=0.02, peer_seconds=1.0, our_seconds=0.5, quick=True) if args.quick else args


# ---------------------------------------------------------------------------------------------------------------------
# The games
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bench:
    """A game here and at the peers; what is expensive is made once, when it is first used."""

    title: str
    name: str
    spiel_name: str

    @cached_property
    def form(self) -> SequenceForm:
        return SequenceForm.of(infoset.load(self.name))

    @cached_property
    def spiel(self) -> Any:
        return pyspiel.load_game(self.spiel_name)

    @cached_property
    def spiel_form(self) -> SequenceForm:
        """OpenSpiel's game with its own information states: evaluates its policies in milliseconds."""
        return SequenceForm.of(infoset.load(f"openspiel:{self.spiel_name}"))

    @cached_property
    def liteefg_file(self) -> str:
        """The text of the game in LiteEFG's format, which it derives from OpenSpiel."""
        with tempfile.TemporaryDirectory() as home, patch.dict(os.environ, HOME=home), quiet():
            LiteEFG.OpenSpielEnv(self.spiel, regenerate=True)
            (file,) = Path(home).rglob("*.openspiel")
            return file.read_text(encoding="utf-8")

    def liteefg(self, kind: str) -> Job | str:
        """LiteEFG's baseline as a piece of work, with the average of the profiles; or why there is none."""
        players = self.form.num_players
        if kind == "CFR+" and players > 2:
            return "its CFR+ updates players 1 and 2 only"
        with tempfile.TemporaryDirectory() as folder, quiet():
            file = Path(folder) / "game.openspiel"
            file.write_text(self.liteefg_file, encoding="utf-8")
            env = LiteEFG.FileEnv(str(file))
            graph = LITEEFG_GRAPHS[kind]()
            env.set_graph(graph)

        def iterate(count: int) -> None:
            for _ in range(count):
                graph.update_graph(env)
                env.update_strategy(graph.current_strategy())

        return iterate

    def openspiel(self, kind: str) -> tuple[Any, Job]:
        """OpenSpiel's C++ solver, and its iterations as a piece of work."""
        solver = OPENSPIEL_SOLVERS[kind](self.spiel)
        return solver, repeated(solver.evaluate_and_update_policy)


GOOFSPIEL = "goofspiel(num_cards=4,imp_info=True,points_order=descending,returns_type=win_loss)"
KUHN_2 = Bench("Kuhn, 2 players", "kuhn_poker", "kuhn_poker")
KUHN_3 = Bench("Kuhn, 3 players", "kuhn_poker(players=3)", "kuhn_poker(players=3)")
KUHN_4 = Bench("Kuhn, 4 players", "kuhn_poker(players=4)", "kuhn_poker(players=4)")
LEDUC = Bench("Leduc", "leduc_poker", "leduc_poker")
DICE = Bench("liar's dice", "liars_dice", "liars_dice")
GOOF = Bench("Goofspiel, 4 cards", GOOFSPIEL, f"turn_based_simultaneous_game(game={GOOFSPIEL})")
GAMES = (KUHN_2, KUHN_3, KUHN_4, LEDUC, DICE, GOOF)


@contextmanager
def quiet() -> Iterator[None]:
    """Drop what is printed."""
    with redirect_stdout(io.StringIO()):
        yield


# ---------------------------------------------------------------------------------------------------------------------
# Measuring and printing
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Timing:
    """Seconds of one unit of each piece of work, one a round."""

    seconds: dict[str, list[float]]

    def ms(self, name: str) -> float:
        return median(self.seconds[name]) * 1e3

    def ratio(self, name: str, over: str) -> float:
        """Median over the rounds of how many times as long ``name`` takes."""
        return median(a / b for a, b in zip(self.seconds[name], self.seconds[over], strict=True))


def repeated(call: Callable[[], object]) -> Job:
    """A call as a piece of work."""

    def work(count: int) -> None:
        for _ in range(count):
            call()

    return work


def clock(work: Job, count: int = 1) -> float:
    """Seconds that ``count`` units take."""
    begin = time.perf_counter()
    work(count)
    return time.perf_counter() - begin


def enough(work: Job, window: float) -> int:
    """How many units take ``window`` seconds; the first one, which may compile, is not looked at."""
    count, spent = 1, clock(work)
    while spent < window:
        spent = clock(work, count)
        if spent < window:
            count = min(count * 10, max(count + 1, math.ceil(1.2 * window / spent * count)))
    return count


def take_turns(works: dict[str, Job], args: Args) -> Timing:
    """Time the pieces of work one after the other, round after round."""
    counts = {name: enough(work, args.window) for name, work in works.items()}
    seconds: dict[str, list[float]] = {name: [] for name in works}
    begin = time.perf_counter()
    for done in range(args.rounds):
        if done >= 2 and (done + 1) / done * (time.perf_counter() - begin) > BUDGET:
            break
        for name, work in works.items():
            seconds[name].append(clock(work, counts[name]) / counts[name])
    return Timing(seconds)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a Markdown table; numbers with three digits."""
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(map(show, row)) + " |")
    print(flush=True)


def show(cell: object) -> str:
    """A number with three digits, anything else as it is."""
    if isinstance(cell, int):
        return f"{cell:,}"
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:,.0f}" if cell >= 1000 else f"{cell:.3g}"


def times(ratio: float, bound: str = "") -> str:
    """``150x``, or ``> 150x`` for a lower bound."""
    return f"{bound}{show(float(ratio))}x"


def title(text: str) -> None:
    print(f"## {text}\n", flush=True)


# ---------------------------------------------------------------------------------------------------------------------
# 1. Iterations, 2. evaluation
# ---------------------------------------------------------------------------------------------------------------------


@dataclass
class Measured:
    """The figures that the targets are about."""

    openspiel: dict[Bench, float] = field(default_factory=dict)  # CFR iteration, theirs / ours
    liteefg: dict[Bench, float] = field(default_factory=dict)
    evaluation: dict[Bench, float] = field(default_factory=dict)  # in our CFR iterations
    until: dict[tuple[Bench, float], tuple[float, str]] = field(default_factory=dict)  # ratio and "> " for a bound
    building: dict[Bench, float] = field(default_factory=dict)  # histories a second
    size: dict[Bench, float] = field(default_factory=dict)  # bytes a terminal


def iterations(args: Args, measured: Measured) -> None:
    """Milliseconds an iteration."""
    title("1. Milliseconds an iteration")
    rows, notes = [], dict[str, None]()
    for game in GAMES:
        for kind, method in OUR_METHODS.items():
            works = {"ours": method().solver(game.form).step, "OpenSpiel": game.openspiel(kind)[1]}
            peer = game.liteefg(kind)
            if isinstance(peer, str):
                notes[f"LiteEFG, {kind}, more than two players: left out, {peer}."] = None
            else:
                works["LiteEFG"] = peer
            found = take_turns(works, args)
            against = {name: found.ratio(name, "ours") for name in works}
            rows.append((
                game.title, kind, found.ms("ours"), found.ms("OpenSpiel"), times(against["OpenSpiel"]),
                *((found.ms("LiteEFG"), times(against["LiteEFG"])) if "LiteEFG" in works else ("-", "-")),
            ))  # fmt: skip
            if kind == "CFR":
                measured.openspiel[game] = against["OpenSpiel"]
                measured.liteefg[game] = against.get("LiteEFG", math.nan)
    table(("game", "method", "infoset", "OpenSpiel C++", "ratio", "LiteEFG", "ratio"), rows)
    for note in notes:
        print(note)
    print("In infoset and OpenSpiel players update in turn within an iteration; LiteEFG's CFR updates them simultaneously.\n")


def evaluation(args: Args, measured: Measured) -> None:
    """Milliseconds of the exact exploitability of the average profile."""
    title("2. Milliseconds of an exact exploitability of the average profile")
    rows = []
    for game in GAMES:
        solver = infoset.cfr().solver(game.form)
        solver.step(10)
        plan = solver.average()
        peer, iterate = game.openspiel("CFR")
        iterate(10)
        policy = peer.tabular_average_policy()
        works = {
            "ours": repeated(lambda form=game.form, plan=plan: infoset.exploitability(form, plan)),
            "iteration": solver.step,
            "OpenSpiel": repeated(lambda game=game, policy=policy: pyspiel.nash_conv(game.spiel, policy)),
        }
        found = take_turns(works, args)
        measured.evaluation[game] = found.ratio("ours", "iteration")
        rows.append((
            game.title, found.ms("ours"), measured.evaluation[game], found.ms("OpenSpiel"),
            times(found.ratio("OpenSpiel", "ours")),
        ))  # fmt: skip
    table(("game", "infoset", "in our CFR iterations", "OpenSpiel C++ nash_conv", "ratio"), rows)


# ---------------------------------------------------------------------------------------------------------------------
# 3. Time to a target
# ---------------------------------------------------------------------------------------------------------------------


@dataclass
class Contestant:
    """A solver on its way: iterations and its own seconds so far, and the nash_conv of its average profile."""

    name: str
    advance: Job
    gap: Callable[[], float]
    iteration: int = 0
    seconds: float = 0.0
    last: float = math.inf
    reached: dict[float, float] = field(default_factory=dict)

    def step(self, cap: float) -> None:
        """On to the next check point, one iteration in ``GROWTH - 1`` further, or until the cap."""
        count = max(1, math.ceil(self.iteration * (GROWTH - 1)))
        chunk = 1 if self.iteration and self.seconds * count / self.iteration > 1.0 else count
        while count > 0 and self.seconds < cap:
            self.seconds += clock(self.advance, chunk)
            self.iteration, count = self.iteration + chunk, count - chunk
        self.last = self.gap()
        for target in TARGETS:
            if self.last <= target:
                self.reached.setdefault(target, self.seconds)


@dataclass(frozen=True)
class Arrival:
    """Who reached a target first and in how many of its own seconds; ``best`` is "" where nobody did."""

    best: str
    seconds: float

    def __str__(self) -> str:
        return f"{show(self.seconds)} ({self.best})" if self.best else f"> {show(self.seconds)}"


def race(contestants: Sequence[Contestant], cap: float) -> dict[float, Arrival]:
    """Who reaches each target in the least time; whoever has spent least goes on.

    Contestants that have spent a tenth of the cap and are three times as far from equilibrium as another one are
    taken out.
    """
    running = list(contestants)
    found = {}
    for target in sorted(TARGETS, reverse=True):
        while True:
            best = min((c.reached[target] for c in contestants if target in c.reached), default=cap)
            going = [c for c in running if target not in c.reached and c.seconds < best]
            if not going:
                break
            min(going, key=lambda c: c.seconds).step(cap)
            leader = min(c.last for c in contestants)
            running = [c for c in running if c.seconds < cap / 10 or c.last <= BEHIND * leader]
        there = [c for c in contestants if target in c.reached]
        first = min(there, key=lambda c: c.reached[target], default=None)
        found[target] = Arrival(first.name, first.reached[target]) if first else Arrival("", cap)
    return found


def our_contestants(form: SequenceForm) -> list[Contestant]:
    """Our methods, compiled."""
    solvers = [method().solver(form) for method in OUR_CONTESTANTS]
    return [
        Contestant(s.method.name, s.step, lambda s=s: infoset.nash_conv(form, s.average()))
        for s in solvers
    ]  # fmt: skip


def peer_contestants(game: Bench) -> list[Contestant]:
    """OpenSpiel's solvers; their average policies are evaluated on the sequence form of OpenSpiel's own game."""
    found = []
    for kind in OPENSPIEL_SOLVERS:
        solver, iterate = game.openspiel(kind)
        found.append(Contestant(kind, iterate, lambda s=solver: spiel_gap(game, s)))
    return found


def spiel_gap(game: Bench, solver: Any) -> float:
    """The nash_conv of the average policy of a solver of OpenSpiel."""
    return infoset.nash_conv(game.spiel_form, spiel_plan(game, solver))


def spiel_plan(game: Bench, solver: Any) -> FloatArray:
    """Realisation weights (S,) on ``spiel_form`` of the average policy of a solver of OpenSpiel."""
    form, policy = game.spiel_form, solver.tabular_average_policy().policy_table()
    plan = np.ones(form.num_sequences)
    for key, first, parent in zip(form.keys, form.arrays.first.tolist(), form.arrays.parent.tolist(), strict=True):
        chosen = [probability for _, probability in policy[key]]
        plan[first : first + len(chosen)] = plan[parent] * np.array(chosen)
    return plan


def difference(game: Bench) -> float:
    """By how much OpenSpiel's figure for its own profile and ours differ."""
    solver, iterate = game.openspiel("CFR")
    iterate(3)
    theirs = pyspiel.nash_conv(game.spiel, solver.tabular_average_policy())
    return abs(float(theirs) - spiel_gap(game, solver))


def time_to_target(args: Args, measured: Measured) -> None:
    """Seconds to a given nash_conv of the average profile."""
    title("3. Seconds to a nash_conv of the average profile")
    infoset.linear_program(KUHN_2.form)
    rows, largest = [], 0.0
    for game in (KUHN_2, LEDUC, DICE, GOOF):
        if not (args.quick and game is DICE):  # seconds
            largest = max(largest, difference(game))
        solved: list[FloatArray] = []
        program = clock(repeated(lambda game=game, solved=solved: solved.append(infoset.linear_program(game.form))))
        exact = infoset.nash_conv(game.form, solved[0])
        ours, theirs = several_races(game, args)
        for target in TARGETS:
            mine, peer = median_arrival(ours, target), median_arrival(theirs, target)
            bound = "" if peer.best else "> "
            ratio = median(t[target].seconds / o[target].seconds for o, t in zip(ours, theirs, strict=True))
            if mine.best:
                measured.until[game, target] = ratio, bound
            rows.append((
                game.title, f"{target:.0e}", mine, peer, times(ratio, bound) if mine.best else "-",
                f"{show(program)} (to {exact:.0e})", times(peer.seconds / program, bound),
            ))  # fmt: skip
    head = ("game", "nash_conv", "infoset, best method", "OpenSpiel C++, best of two", "ratio", "our LP", "ratio, LP")
    table(head, rows)
    print(f"`> seconds`: not reached; each solver of OpenSpiel had {show(args.peer_seconds)} s, ", end="")
    print(f"each of our methods {show(args.our_seconds)} s.")
    print(f"OpenSpiel's nash_conv and ours of the same profiles differ by {largest:.0e} at most.\n")


def several_races(game: Bench, args: Args) -> tuple[list[dict[float, Arrival]], list[dict[float, Arrival]]]:
    """Our races and theirs in turn, as many as fit into the budget."""
    ours, theirs = [], []
    begin = time.perf_counter()
    while not ours or (len(ours) < args.rounds and time.perf_counter() - begin < BUDGET / 2):
        ours.append(race(our_contestants(game.form), args.our_seconds))
        theirs.append(race(peer_contestants(game), args.peer_seconds))
    return ours, theirs


def median_arrival(races: Sequence[dict[float, Arrival]], target: float) -> Arrival:
    """The middle one of several races."""
    return sorted((r[target] for r in races), key=lambda a: a.seconds)[len(races) // 2]


# ---------------------------------------------------------------------------------------------------------------------
# 4. Building
# ---------------------------------------------------------------------------------------------------------------------


def building(args: Args, measured: Measured) -> None:
    """Histories a second, and what is kept."""
    title("4. Building")
    rows = []
    for game in GAMES:
        tree = GameTree.of(infoset.load(game.name))
        works = {
            "tree": repeated(lambda game=game: GameTree.of(infoset.load(game.name))),
            "form": repeated(lambda tree=tree: SequenceForm.of(tree)),
            "both": repeated(lambda game=game: SequenceForm.of(infoset.load(game.name))),
            "OpenSpiel": repeated(lambda game=game: pyspiel.CFRSolver(game.spiel)),
        }
        found = take_turns(works, args)
        count, form = game.form.num_histories, game.form
        measured.building[game] = count / median(found.seconds["both"])
        measured.size[game] = form.nbytes / form.num_terminals
        rates = (count / median(found.seconds[work]) for work in ("tree", "form", "both"))
        rows.append((
            game.title, count, form.num_terminals, *rates, measured.size[game],
            found.ms("both"), found.ms("OpenSpiel"), times(found.ratio("OpenSpiel", "both")),
        ))  # fmt: skip
    head = (
        "game", "histories", "terminals", "tree, histories/s", "form of the tree, histories/s", "both, histories/s",
        "bytes a terminal", "both, ms", "OpenSpiel C++ CFRSolver, ms", "ratio",
    )  # fmt: skip
    table(head, rows)
    print("OpenSpiel's solver stores information sets only, and applies the rules again in every iteration.\n")


# ---------------------------------------------------------------------------------------------------------------------
# 5. A user's own local update
# ---------------------------------------------------------------------------------------------------------------------


def my_update(
    root: int, parent: int, first: int, last: int, worth: float,
    values: FloatArray, strategy: FloatArray, memory: FloatArray, parameters: FloatArray,
) -> None:  # fmt: skip
    """Regret matching as anybody would write it."""
    total = 0.0
    for q in range(first, last):
        memory[0, q] += values[q] - worth
        strategy[q] = max(memory[0, q], 0.0)
        total += strategy[q]
    for q in range(first, last):
        if total > 1e-15:
            strategy[q] /= total
        else:
            strategy[q] = 1.0 / (last - first)


def my_schedule(t: FloatArray) -> FloatArray:
    """The uniform average: nothing is discounted."""
    return np.ones((len(t), 1))


def own_update(args: Args) -> None:
    """A local update written outside the library against the built-in one."""
    title("5. A local update of your own: milliseconds an iteration on Leduc")
    mine = infoset.Method("my-cfr", update=my_update, schedule=my_schedule)
    solvers = {"my-cfr": mine.solver(LEDUC.form), "cfr": infoset.cfr().solver(LEDUC.form)}
    for solver in solvers.values():
        solver.step(100)
    apart = float(np.abs(solvers["cfr"].average() - solvers["my-cfr"].average()).max())
    found = take_turns({name: solver.step for name, solver in solvers.items()}, args)
    ratio = found.ratio("my-cfr", "cfr")
    table(("my own", "built in", "ratio", "largest difference after 100 iterations"),
          [(found.ms("my-cfr"), found.ms("cfr"), times(ratio), f"{apart:.0e}")])  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------------
# The targets
# ---------------------------------------------------------------------------------------------------------------------


def targets(measured: Measured) -> None:
    """What was asked for, what came out."""
    title("Targets")
    rows = [
        (f"CFR iteration against OpenSpiel C++, {game.title}", *at_least(measured.openspiel[game], least))
        for game, least in ((LEDUC, 150), (DICE, 70), (KUHN_2, 60), (KUHN_4, 60))
    ] + [
        (f"CFR iteration against LiteEFG, {game.title}", *at_least(measured.liteefg[game], least))
        for game, least in ((LEDUC, 100), (DICE, 200))
    ]
    steps = measured.evaluation[LEDUC]
    rows.append(("exact exploitability on Leduc, in CFR iterations", "at most 3", show(steps), yes(steps <= 3)))
    ratio, bound = measured.until.get((LEDUC, 1e-3), (0.0, ""))
    rows.append(("time to nash_conv 1e-3 on Leduc against OpenSpiel C++", *at_least(ratio, 200, bound)))
    large = [game for game in GAMES if game.form.num_histories >= SMALL]
    slowest = min(large, key=lambda game: measured.building[game])
    rate = measured.building[slowest]
    rows.append((
        f"tree and form, histories a second, games of {SMALL:,} histories and more", "200,000",
        f"{show(rate)} ({slowest.title})", yes(rate >= 200_000),
    ))  # fmt: skip
    largest = max((game for game in GAMES if game.form.num_players == 2), key=lambda game: measured.size[game])
    size = measured.size[largest]
    rows.append(("bytes a terminal, 2 players", "at most 48", f"{show(size)} ({largest.title})", yes(size <= 48)))
    table(("what", "at least", "measured", "met"), rows)


def at_least(ratio: float, least: int, bound: str = "") -> tuple[str, str, str]:
    return times(least), times(ratio, bound), yes(ratio >= least)


def yes(met: bool) -> str:
    return "yes" if met else "**no**"


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    args = parse(argv)
    begin, cpu = time.perf_counter(), time.process_time()
    print(
        f"# infoset {infoset.__version__} beside OpenSpiel {version('open_spiel')} and LiteEFG {version('LiteEFG')}\n"
    )
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, Numba {version('numba')}; one process, ", end=""
    )
    print(f"one thread, {os.cpu_count()} CPUs ({platform.machine()}). {args.rounds} round(s). ", end="")
    print("Ratios are theirs / ours, medians over the rounds.\n")
    measured = Measured()
    iterations(args, measured)
    evaluation(args, measured)
    time_to_target(args, measured)
    building(args, measured)
    own_update(args)
    targets(measured)
    wall = time.perf_counter() - begin
    print(f"{wall:.0f} s; {(time.process_time() - cpu) / wall:.2f} CPU seconds a second.")


if __name__ == "__main__":
    main()
