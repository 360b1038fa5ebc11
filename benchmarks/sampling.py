"""What it costs that games come from their rules: MCCFR on Blind Tic-Tac-Toe as described in GDL-II, and the same on the
game written by hand; how long CFR takes on a subgame of ten thousand edges; and the samplers of beliefs.

Both walks keep what they learn in the same table, try every move of the player who learns, and take turns in one
process on one thread; the one from the description looks its positions up, the one by hand computes them.  Read the
ratio.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from infoset import GameTree, SequenceForm, load, play_match
from infoset.base import Action, Game, Observation, ObservationRecord, own_record
from infoset.jit import kernel
from infoset.match.agents import RandomAgent
from infoset.randomness import streams
from infoset.search.belief import BeliefSampler, BeliefTracker
from infoset.search.histories import Belief
from infoset.solvers.sampling.belief_response import evaluate_policy
from infoset.solvers.sampling.infoset_table import InfosetTable, add_row, add_state
from infoset.solvers.sampling.mccfr import Mccfr
from infoset.solvers.sampling.pooled_mccfr import PooledMccfr
from infoset.solvers.sampling.sampler import choose, uniform_number
from infoset.solvers.tabular.cfr import pcfr_plus
from infoset.tree.graph import explore
from infoset.tree.quotient_graph import QuotientGraph
from infoset.tree.rules_source import build_lazy_graph
from infoset.tree.symmetry import no_symmetry

SLOWER = 6.0
"""Target: at most so many times the time of the game written by hand."""
ITERATIONS = 1_000
"""Target: so many iterations of CFR on a subgame of some 10,000 edges within a second."""
ROOM = 3_000_000
CELLS = 9
LINES = np.array([7, 56, 448, 73, 146, 292, 273, 84])


@dataclass(frozen=True)
class Args:
    """Measure MCCFR on a described game beside the same game by hand, and CFR; prints a table in Markdown."""

    rounds: int = 5
    iterations: int = 20
    """Of MCCFR in each round."""
    samples: int = 2000
    """Of each sampler."""
    quick: bool = False
    """One round of one iteration: a test of the script, not of the speed."""


def parse(argv: Sequence[str] | None = None) -> Args:
    """The command line: one option for each field of ``Args``."""
    parser = argparse.ArgumentParser(description=Args.__doc__)
    for option in fields(Args):
        if isinstance(option.default, bool):
            parser.add_argument(f"--{option.name}", action="store_true")
        else:
            parser.add_argument(f"--{option.name}", type=type(option.default), default=option.default)
    args = Args(**vars(parser.parse_args(argv)))
    return Args(1, 1, 20, True) if args.quick else args


# ---------------------------------------------------------------------------------------------------------------------
# The game by hand
# ---------------------------------------------------------------------------------------------------------------------


@kernel
def _line(marks):
    found = False
    for line in LINES:
        found |= marks & line == line
    return found


@kernel
def _untried(tried, cells):
    """Put the cells that were not tried in ``cells``; returns how many."""
    size = 0
    for c in range(CELLS):
        if not tried >> c & 1:
            cells[size] = c
            size += 1
    return size


@kernel
def _strategy(table, row, size, strategy):
    total = 0.0
    for k in range(size):
        strategy[k] = max(table.regret[row + k], 0.0)
        total += strategy[k]
    for k in range(size):
        strategy[k] = strategy[k] / total if total > 0.0 else 1.0 / size


@kernel
def _value(marks, learner):
    """Of the player who learns where the game is over, else -1."""
    x, o = _line(marks[0]), _line(marks[1])
    if not x and not o and marks[0] | marks[1] != (1 << CELLS) - 1:
        return -1.0
    if x == o:
        return 50.0
    return 100.0 if x == (learner == 0) else 0.0


@kernel
def _mark(marks, own, its, learner, stream):
    """Both mark at once; whether the player who learns, and whether the other, gets its cell."""
    taken = marks[0] | marks[1]
    gets_own, gets_its = not taken >> own & 1, not taken >> its & 1
    if own == its and gets_own:
        gets_own = uniform_number(stream) < 0.5
        gets_its = not gets_own
    if gets_own:
        marks[learner] |= 1 << own
    if gets_its:
        marks[1 - learner] |= 1 << its
    return gets_own, gets_its


@kernel
def traverse(table, group, learner, weight, stream, stack, values, strategies, cells):
    """One traversal by external sampling.

    ``stack`` has a row a step: marks, tried cells, states of both, the move being tried, the row of the table, the
    number of moves, the other's cell.
    """
    other, d = 1 - learner, 0
    theirs, mix, marks = np.empty(CELLS, dtype=np.int64), np.empty(CELLS), np.empty(2, dtype=np.int64)
    stack[0] = 0
    stack[0, 5] = 1
    stack[0, 6] = -1
    while True:
        frame = stack[d]
        if frame[6] < 0:  # newly reached
            frame[8] = _untried(frame[2 + learner], cells[d])
            frame[7] = add_row(table, frame[4 + learner], 0, frame[8])
            _strategy(table, frame[7], frame[8], strategies[d])
            frame[6] = 0
        # the other's move, sampled anew behind every move
        size = _untried(frame[2 + other], theirs)
        row = add_row(table, frame[4 + other], 0, size)
        _strategy(table, row, size, mix)
        for k in range(size):
            table.average[row + k] += weight * mix[k]
        its, own = theirs[choose(mix, size, stream)], cells[d, frame[6]]
        marks[0], marks[1] = frame[0], frame[1]
        gets_own, gets_its = _mark(marks, own, its, learner, stream)
        value = _value(marks, learner)
        if value < 0.0:
            below = stack[d + 1]
            below[0], below[1] = marks[0], marks[1]
            below[2 + learner] = frame[2 + learner] | 1 << own
            below[2 + other] = frame[2 + other] | 1 << its
            below[4 + learner] = add_state(table, group, frame[4 + learner], 2 * own + gets_own)
            below[4 + other] = add_state(table, group, frame[4 + other], 2 * its + gets_its)
            below[6] = -1
            d += 1
            continue
        while True:
            frame = stack[d]
            values[d, frame[6]] = value
            frame[6] += 1
            if frame[6] < frame[8]:
                break
            value = 0.0
            for k in range(frame[8]):
                value += strategies[d, k] * values[d, k]
            for k in range(frame[8]):
                table.regret[frame[7] + k] += weight * (values[d, k] - value)
            if d == 0:
                return value
            d -= 1


class ByHand:
    """External sampling on the game written by hand."""

    def __init__(self, seed: int) -> None:
        self.group = no_symmetry(explore(load("kuhn_poker"))).group  # of one element: boards are told apart
        self.table = InfosetTable.empty(2, self.group).with_room(ROOM, 6 * ROOM)
        self.stream, self.iteration = streams(seed, 1), 0
        self.scratch = (
            np.zeros((CELLS + 1, 9), dtype=np.int64), np.zeros((CELLS + 1, CELLS)), np.zeros((CELLS + 1, CELLS)),
            np.zeros((CELLS + 1, CELLS), dtype=np.int64),
        )  # fmt: skip

    def step(self, iterations: int) -> None:
        for _ in range(iterations):
            self.iteration += 1
            for learner in range(2):
                traverse(self.table, self.group, learner, float(self.iteration), self.stream, *self.scratch)


# ---------------------------------------------------------------------------------------------------------------------
# What is measured
# ---------------------------------------------------------------------------------------------------------------------


def timed(solver: ByHand | Mccfr, iterations: int) -> float:
    began = perf_counter()
    solver.step(iterations)
    return perf_counter() - began


def mccfr(args: Args) -> str:
    began = perf_counter()
    graph = explore(load("gdl:blind_tic_tac_toe"))
    ready = perf_counter() - began
    by_hand, described = ByHand(1), Mccfr(QuotientGraph.of(graph), 1, explore=1.0)
    for solver in (by_hand, described):
        solver.step(1)
    ratios = []
    for number in range(args.rounds):
        pair = [by_hand, described][:: 1 if number % 2 else -1]
        seconds = {id(solver): timed(solver, args.iterations) for solver in pair}
        ratios.append(seconds[id(described)] / seconds[id(by_hand)])
    return (
        f"| MCCFR on Blind Tic-Tac-Toe from GDL-II, time in those of the game by hand | {median(ratios):.2f} "
        f"({min(ratios):.2f} to {max(ratios):.2f}) | ≤ {SLOWER:g} | positions found in {ready:.0f} s; "
        f"{described.table.num_infosets:,} and {by_hand.table.num_infosets:,} sets met |"
    )


def cfr(args: Args) -> str:
    tree = GameTree.of(load("leduc_poker"))
    solver, edges = pcfr_plus().solver(SequenceForm.of(tree)), len(tree.parent) - 1
    solver.step(10)
    times = []
    for _ in range(args.rounds):
        began = perf_counter()
        solver.step(ITERATIONS)
        times.append(perf_counter() - began)
    return (
        f"| {ITERATIONS:,} iterations of PCFR+ on {edges:,} edges | {median(times):.2f} s "
        f"({min(times):.2f} to {max(times):.2f}) | < 1 s | Leduc poker |"
    )


POOLED = 20_000  # iterations of a run
SEEDS = 4


def pooled() -> list[str]:
    """Exploitability on Leduc poker of independent runs whose averages are added, and of one that is longer."""
    walk = QuotientGraph.of(explore(load("leduc_poker")))
    lines = []
    for runs, each in ((1, POOLED), (2, POOLED), (1, 2 * POOLED), (4, POOLED), (1, 4 * POOLED)):
        found = []
        for seed in range(SEEDS):
            work = PooledMccfr(partial(Mccfr, walk), seed, runs)
            work.step(runs * each)
            found.append(evaluate_policy(walk, work.policy()).exploitability)
        lines.append(f"| {runs} | {each:,} | {np.mean(found):.3f} ({min(found):.3f} to {max(found):.3f}) |")
    return lines


ASKED = (("gdl:monty_hall", 0), ("leduc_poker", 1), ("liars_dice", 1), ("gdl:blind_tic_tac_toe", 0))
"""Whose beliefs are drawn from."""
SAMPLERS = {"cached, for training": False, "cached, true": True}


class Recorder(RandomAgent):
    """Plays at random and keeps what it saw until it was last asked."""

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        super().begin(game, player, rng, deadline)
        self.seen: list[ObservationRecord] = []
        self.asked: list[ObservationRecord] = []

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        record = own_record(own_action, observation)
        if record is not None:
            self.seen.append(record)

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        if len(legal_actions) > 1:
            self.asked = list(self.seen)
        return super().act(legal_actions, deadline)


def samplers(args: Args) -> list[str]:
    """Samples a second and the distance from the exact range, where a player was last asked in a random game."""
    lines = []
    for name, player in ASKED:
        game, recorders = load(name), [Recorder(), Recorder()]
        play_match(game, recorders[: len(game.players)], seed=3)
        ranges = BeliefTracker(build_lazy_graph(game))
        state, begins = player, int(ranges.graph.start_records[player] >= 0)
        for record in recorders[player].asked[begins:]:
            state = ranges.behind(state, ranges.graph.source.record_number(player, record))
        expected = weights(ranges.of(player, state))
        for title, true in SAMPLERS.items():
            draws = BeliefSampler(ranges, state, np.random.default_rng(1), true)
            began, found = perf_counter(), draws.draw(args.samples)
            rate = draws.walks / (perf_counter() - began)
            lines.append(
                f"| {game.name} | {len(expected):,} | {title} | {draws.walks:,} | {rate:,.0f} | "
                f"{distance(expected, weights(found)):.3f} | {chance_distance(list(expected.values()), draws.walks):.3f} |"
            )
    return lines


def weights(found: Belief) -> dict[tuple[int, ...], float]:
    """By where histories stand, and what everybody knows there."""
    rows = np.column_stack([found.position, found.infostate]).tolist()
    return dict(zip(map(tuple, rows), found.weight.tolist(), strict=True))


def distance(expected: dict[Any, float], found: dict[Any, float]) -> float:
    """Total variation between the exact range and weighted samples."""
    return sum(abs(found.get(key, 0.0) - expected.get(key, 0.0)) for key in expected.keys() | found.keys()) / 2


def chance_distance(expected: list[float], count: int) -> float:
    """The mean distance of so many draws from the exact belief itself."""
    drawn = np.random.default_rng(1).multinomial(max(count, 1), expected, size=100) / max(count, 1)
    return float(np.abs(drawn - expected).sum(axis=1).mean() / 2)


def main(argv: Sequence[str] | None = None) -> None:
    args = parse(argv)
    print("| what | median (range) | target | |\n|---|---|---|---|")
    print(cfr(args))
    print(mccfr(args))
    print("\n| runs | iterations each | exploitability on Leduc poker, mean (range) of 4 seeds |\n|---|---|---|")
    print("\n".join(pooled()))
    print(
        "\n| game | worlds | sampler | samples | a second | total variation from the exact belief | by chance alone |"
    )
    print("|---|---|---|---|---|---|---|")
    print("\n".join(samplers(args)))


if __name__ == "__main__":
    main()
