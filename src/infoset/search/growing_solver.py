"""The growth and solution of a subgame on a game's graph, within a clock or a number of leaves."""

from __future__ import annotations

import copy
import time
from contextlib import suppress
from math import inf

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray
from infoset.clock import Clock
from infoset.errors import BudgetError, ClockError
from infoset.interning import distinct, longer
from infoset.search.growing_subgame import (
    EVERYBODY,
    INFOSETS,
    LEAF,
    LEAVES,
    NODES,
    NONE,
    SLOTS,
    Subgame,
    choose_leaves,
    copy_subtrees,
    evaluate_average,
    expand,
    iterate,
    make_roots,
    release_leaves,
    restart,
)
from infoset.search.histories import Belief
from infoset.search.leaf_values import Leaves
from infoset.tree.graph import TERMINAL
from infoset.tree.lazy_graph import LazyGraph

ITERATIONS = 8  # between two expansions
GROWTH = 16  # nodes for each leaf that is expanded at once
FIRST_BATCH, SMALLEST_BATCH, LARGEST_BATCH = 4, 32, 1024
ROUNDS = 40  # of growth, about, where each takes long; only a clock makes batches larger
IDLE = 8  # rounds without a new leaf after which the tree grows no more
TRIED = 0.15  # share of a clock for the attempt to expand everything
LAST_SHARE = 0.25  # of a clock, for iterations after the last expansion
LAST_ITERATIONS = 200  # of these where there is no clock
MOST_ITERATIONS = 4_000  # of these where there is one
PORTION = 200_000  # visits of nodes between two checks of the clock
AVERAGE, LAST = PLAYED = ("average", "last")


class GrowingSolver:
    """A subgame of a game's graph with its growth and solution."""

    def __init__(self, graph: LazyGraph, leaves: Leaves, player: int, exploration: float, seed: int) -> None:
        self.graph, self.leaves, self.player, self.exploration = graph, leaves, player, exploration
        self.n = len(graph.players)
        self.tree = Subgame.empty(self.n)
        self.known: IntArray = np.full(0, NONE, dtype=np.int32)
        self.stream = np.array([seed], dtype=np.uint64)
        self.done = self.evaluated = self.expanded = 0

    @property
    def nodes(self) -> int:
        return int(self.tree.filled[NODES])

    @property
    def complete(self) -> bool:
        """Whether every history ends."""
        return self.nodes > 1 and not self.tree.filled[LEAVES]

    def begin(
        self, roots: Belief, gadget: LongArray, opponent: int, alternatives: FloatArray, before: GrowingSolver | None
    ) -> None:
        """Begin at worlds, with the choices of ``make_roots``, and with what an earlier tree holds below them."""
        count = len(alternatives)
        values = self.evaluate(roots.position)
        self.tree = self.tree.with_room(3 * roots.size + 1, count, 2 * count)
        arrays = roots.position, roots.infostate, roots.weight
        make_roots(self.tree, *arrays, gadget, count, opponent, alternatives, values)
        if before is not None:
            self._copy_from(before)

    def copy(self) -> GrowingSolver:
        """Return a solver that goes on from here, and leaves this one as it is."""
        found = copy.copy(self)
        found.tree = Subgame._make([array.copy() for array in self.tree])
        found.known, found.stream = self.known.copy(), self.stream.copy()
        return found

    def _copy_from(self, before: GrowingSolver) -> None:
        """Copy what an earlier tree has below this one's leaves."""
        old, size, new = before.tree, before.nodes, self.tree
        leaves = np.flatnonzero(new.infoset[: self.nodes] == LEAF)
        rows = [np.column_stack([t.position[k], t.infostate[k]]) for t, k in ((new, leaves), (old, np.arange(size)))]
        _, number = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
        leaf_of = np.full(size + len(leaves), NONE, dtype=np.int64)
        leaf_of[number.ravel()[: len(leaves)]] = leaves
        place = leaf_of[number.ravel()[len(leaves) :]]
        place[old.size[:size] == 0] = NONE
        met = np.flatnonzero(place != NONE)
        if not len(met):
            return
        again = np.setdiff1d(met, met[np.unique(place[met], return_index=True)[1]])  # equal histories are copied once
        place[again] = NONE
        self.tree = new.with_room(size, int(old.filled[INFOSETS]), int(old.filled[SLOTS]))
        self._make_room()
        weight = float(old.weight[met].sum())
        scale = float(np.clip(1.0 / weight if weight > 0 else 1.0, 1.0, 1e6))
        copy_subtrees(old, self.tree, self.known, place, scale)

    def _make_room(self, more: int = 0) -> None:
        """Make room for the information states met so far, and for ``more``."""
        size, had = len(self.graph.states) + more, len(self.known)
        if size > had:
            self.known = longer(self.known, size)
            self.known[had:] = NONE

    def evaluate(self, positions: LongArray) -> FloatArray:
        """Return the values (K, n) of positions at which a step begins."""
        points, place = distinct(positions)
        g = self.graph.arrays
        ends = g.player[points] == TERMINAL
        values = np.zeros((len(points), self.n))
        values[ends] = g.payoffs[g.content[points[ends]]]
        if not ends.all():
            values[~ends] = self.leaves(points[~ends])[0]
        self.evaluated += len(points)
        return values[place]

    def grow(self, count: int, explorer: int) -> int:
        """Expand the leaves that ``count`` walks meet; return their number.  Raises as ``LazyGraph.ask`` does."""
        if self.tree.filled[LEAVES] <= count:
            chosen = np.flatnonzero(self.tree.infoset[: self.nodes] == LEAF)
        else:
            chosen = np.zeros(count, dtype=np.int64)
            span = max(float(np.ptp(self.tree.value[: self.nodes])), 1e-9)  # not of all that the shared graph has met
            met = choose_leaves(self.tree, explorer, count, self.exploration, span, self.stream, chosen)
            chosen = chosen[:met]
        self.expand(chosen)
        self.expanded += len(chosen)
        return len(chosen)

    def expand(self, chosen: LongArray, evaluates: bool = True) -> None:
        """Expand leaves, and what they lead to within a step; evaluate the new leaves, if it ``evaluates`` any."""
        graph, all_fresh = self.graph, []
        try:
            inside = chosen
            while len(inside):
                edges, _ = graph.spread(self.tree.position[inside])
                graph.ask(edges)
                more = len(edges)
                states = graph.states.room(more * self.n)
                self._make_room(more * self.n)
                self.tree = self.tree.with_room(more, len(inside), more)
                fresh, entered = np.zeros(more, dtype=np.int64), np.zeros(more, dtype=np.int64)
                counts = np.zeros(2, dtype=np.int64)
                expand(self.tree, graph.arrays, states, self.known, inside, fresh, entered, counts)
                all_fresh.append(fresh[: counts[0]])
                inside = entered[: counts[1]]
        finally:
            release_leaves(self.tree, np.arange(self.nodes) if len(inside) else chosen)
        fresh = np.concatenate(all_fresh) if all_fresh else np.zeros(0, np.int64)
        if evaluates and len(fresh):
            self.tree.value[fresh] = self.evaluate(self.tree.position[fresh])

    def complete_quickly(self, nodes: int, until: float) -> None:
        """Expand everything without evaluating leaves, or nothing where that takes more nodes (0: no limit) or time."""
        found = self.copy()
        with suppress(BudgetError, ClockError), self.graph.growing(Clock(until)):
            while not found.complete:
                leaves = np.flatnonzero(found.tree.infoset[: found.nodes] == LEAF)[:LARGEST_BATCH]
                found.expand(leaves, evaluates=False)
                if (nodes and found.nodes > nodes) or time.monotonic() > until or found.is_too_large:
                    return
            vars(self).update(vars(found))
            self._start_again()

    @property
    def is_too_large(self) -> bool:
        """Whether the tree takes more memory than it may."""
        return self.tree.nbytes > self.graph.memory // 4

    def _start_again(self) -> None:
        """Forget all iterations of a complete tree, so that its solution does not depend on the order of growth."""
        restart(self.tree)
        self.done = 0

    def iterate(self, count: int, until: float = inf) -> None:
        """Make ``count`` iterations of PCFR+, fewer where the time ``until`` comes."""
        end, portion = self.done + count, max(1, PORTION // self.nodes)
        while self.done < end and time.monotonic() < until:
            portion = min(portion, end - self.done)
            iterate(self.tree, self.n, self.done, portion)
            self.done += portion

    def probability(self, state: int) -> float:
        """Return the probability of an information state of the player by the average strategies of all others."""
        s = int(self.known[state]) if state < len(self.known) else NONE
        if s == NONE:
            return 0.0
        evaluate_average(self.tree, self.player)
        return float(self.tree.set_weight[s])

    def row(self, state: int, played: str) -> FloatArray | None:
        """Return the strategy at an information state; ``None`` where it was not met."""
        s = int(self.known[state]) if state < len(self.known) else NONE
        if s == NONE:
            return None
        here = slice(int(self.tree.begin[s]), int(self.tree.begin[s + 1]))
        total = float(self.tree.average[here].sum())
        if played == LAST or total <= 0.0:
            return self.tree.strategy[here].copy()
        return np.asarray(self.tree.average[here] / total)

    def run(self, leaves: int, until: float) -> None:
        """Grow and solve in turns, until ``leaves`` were evaluated (0: no limit) or the time ``until`` comes.

        Where the clock or the graph's memory ends an expansion, the leaves stay as they were.
        """
        if not self.complete:
            now = time.monotonic()
            self.complete_quickly(leaves, now + TRIED * (until - now))
        began, turn, idle, growing, had = time.monotonic(), 0, 0, 0.0, self.expanded
        stop, smallest = began + (1 - LAST_SHARE) * (until - began), SMALLEST_BATCH
        while (self.evaluated < leaves or not leaves) and not self.complete and idle < IDLE:
            start = time.monotonic()
            if start >= stop or self.is_too_large:
                break
            batch = min(LARGEST_BATCH, max(smallest, self.nodes // GROWTH))
            if until < inf:  # the first leaves measure the time of one
                rate = (self.expanded - had) / growing if growing else 0.0
                batch = min(batch, max(1, int((stop - start) / 2 * rate)) if rate else FIRST_BATCH << idle)
            try:
                idle = 0 if self.grow(batch, EVERYBODY if idle > 1 else turn % self.n) else idle + 1
            except (BudgetError, ClockError):
                break
            turn += 1
            if self.complete:
                self._start_again()
            took = time.monotonic() - start
            growing += took
            if took > (stop - began) / ROUNDS:  # random plays of many leaves hardly take longer than those of a few
                smallest *= 2
            self.iterate(ITERATIONS, until)
        self.iterate(LAST_ITERATIONS if until == inf else MOST_ITERATIONS, until)
