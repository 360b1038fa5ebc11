"""The number of histories of a factored game, counted core by core without listing them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray
from infoset.jit import kernel
from infoset.tree.graph import EVERYBODY, TERMINAL, topological
from infoset.tree.rule_arrays import NumberedRules, RuleArrays


class Sizes(NamedTuple):
    """The numbers of a game's histories and ends, and an upper bound on the total length of its form's lists.

    Lists are shorter where paths end because no private state of some player continues, and where chance outcomes
    coincide.
    """

    histories: float
    ends: float
    entries: float


def count_sizes(rules: NumberedRules) -> Sizes:
    """Return the numbers of histories and ends, and an upper bound on the number of list entries."""
    return _Count(rules).run()


class _Count:
    """The count in progress.

    ``ways``: number of histories that lead to each joint cell of a core; ``lists``: how often a player's list has a
    cell.
    """

    def __init__(self, rules: NumberedRules) -> None:
        self.rules, self.n = rules, rules.arrays.cells.shape[1]
        self.ways: dict[int, FloatArray] = {}
        self.lists = np.zeros(len(rules.arrays.action_set))
        self.total = self.ends = self.entries = 0.0

    def run(self) -> Sizes:
        r, sizes, start = self.rules.arrays, self.rules.arrays.cells, list(self.rules.start_cells)
        self.ways[0] = np.zeros(sizes[0])
        self.ways[0][tuple(start - self.rules.first_cell[0])] = 1
        self.lists[start] = 1
        counted = self.rules.counted
        for core in topological(r.event_first, r.event_core)[0].tolist():
            if counted is None and core in self.ways:
                self._count(core)
            self._list(core)
        if counted is not None:
            return Sizes(*counted, float(self.entries))
        return Sizes(float(self.total), float(self.ends), float(min(self.entries, self.n * self.ends)))

    def _list(self, core: int) -> None:
        """Count the list entries that follow a core."""
        r, first = self.rules.arrays, self.rules.first_cell
        if (mover := int(r.mover[core])) >= 0:
            begin = int(first[core, mover])
            self._add_excursions(begin, self.lists[begin : begin + r.cells[core, mover]])
        self.entries += _lead_lists(r, first, core, self.lists)

    def _count(self, core: int) -> None:
        """Count the histories of a core, and those after it that belong to no core."""
        r, here, first = self.rules.arrays, self.ways.pop(core), self.rules.first_cell
        if (mover := int(r.mover[core])) >= 0:
            self._add_excursions(int(first[core, mover]), np.moveaxis(here, mover, 0))
        self.total += here.sum()
        if mover == EVERYBODY:
            between, ends = (here[..., None] * self.rules.within[core]).reshape(-1, 2).sum(axis=0)
            self._add_ends(ends)
            self.total += between
        for event in range(r.event_first[core], r.event_first[core + 1]):
            if r.mover[r.event_core[event]] != TERMINAL:
                self._lead(core, event, here)
            elif mover != EVERYBODY:
                self._add_ends(self._ends(core, event, here))

    def _lead(self, core: int, event: int, here: FloatArray) -> None:
        """Add the numbers of histories that an event leads to."""
        r, to = self.rules.arrays, int(self.rules.arrays.event_core[event])
        if to not in self.ways:
            self.ways[to] = np.zeros(r.cells[to])
        place, first = event - int(r.event_first[core]) + 1, self.rules.first_cell[core]
        slots, edges = (r.slot, r.edge_first), (r.edge_cell, r.place)
        _lead_ways(*slots, *edges, first, r.cells[core], place, here.ravel(), r.cells[to], self.ways[to].reshape(-1))

    def _add_ends(self, count: float) -> None:
        self.total += count
        self.ends += count

    def _ends(self, core: int, event: int, here: FloatArray) -> float:
        """Return the number of histories of an end."""
        r, place = self.rules.arrays, event - int(self.rules.arrays.event_first[core]) + 1
        for p in range(self.n):
            first = int(self.rules.first_cell[core, p])
            actions = np.zeros(int(r.cells[core, p]))
            for k in range(len(actions)):
                slot = r.slot[first + k] + place  # several edges of a cell by the same move count once
                actions[k] = len(set(r.edge_action[r.edge_first[slot] : r.edge_first[slot + 1]].tolist()))
            here = np.tensordot(actions, here, (0, 0))
        return float(here)

    def _add_excursions(self, first: int, ways: FloatArray) -> None:
        """Add to the number of histories of each of the mover's cells, along the first axis, those by excursions."""
        r = self.rules.arrays
        for q in first + np.argsort(-r.below[first : first + len(ways)], kind="stable"):
            for to in r.edge_cell[r.edge_first[r.slot[q]] : r.edge_first[r.slot[q] + 1]].tolist():
                ways[to - first] += ways[q - first]


@kernel
def _lead_lists(r: RuleArrays, first_cell: LongArray, core: int, lists: FloatArray) -> float:
    """Add how often lists have the cells after a core; return the number of entries of the ends after it.

    Ends share lists of all of a player's cells, unless they are reached by its own moves.
    """
    n, entries = r.cells.shape[1], 0.0
    whole = np.zeros(n)
    for event in range(r.event_first[core], r.event_first[core + 1]):
        to, place = r.event_core[event], event - r.event_first[core] + 1
        ends, paid = r.mover[to] == TERMINAL, r.term_first[to + 1] > r.term_first[to]
        for p in range(n):
            found, edges = 0.0, 0
            for q in range(first_cell[core, p], first_cell[core, p] + r.cells[core, p]):
                begin, end = r.edge_first[r.slot[q] + place], r.edge_first[r.slot[q] + place + 1]
                edges += end - begin
                found += lists[q] * (end - begin)
                for edge in range(begin, begin if ends else end):
                    lists[r.edge_cell[edge]] += lists[q]
            if not ends or not paid:
                continue
            actions = r.mover[core] == p or r.mover[core] == EVERYBODY
            if actions or r.cells[to, p] > 1 or edges < r.cells[core, p]:
                entries += found
            else:
                whole[p] = max(whole[p], found)
    return entries + whole.sum()  # type: ignore[no-any-return]


@kernel
def _lead_ways(
    slot: LongArray,
    edge_first: LongArray,
    edge_cell: IntArray,
    cell_place: IntArray,
    first: LongArray,
    sizes: IntArray,
    place: int,
    here: FloatArray,
    to_sizes: IntArray,
    there: FloatArray,
) -> None:
    """Add the ways to each joint cell of a core, times the edges of an event, to the joint cells that they lead to."""
    n = len(sizes)
    at, edge, begin, end = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    for joint in range(len(here)):
        rest, nothing = joint, here[joint] == 0.0
        for p in range(n - 1, -1, -1):
            at[p] = rest % sizes[p]
            rest //= sizes[p]
            begin[p] = edge_first[slot[first[p] + at[p]] + place]
            end[p] = edge_first[slot[first[p] + at[p]] + place + 1]
            edge[p] = begin[p]
            nothing |= begin[p] == end[p]
        while not nothing:
            to = 0
            for p in range(n):
                to = to * to_sizes[p] + cell_place[edge_cell[edge[p]]]
            there[to] += here[joint]
            p = n - 1
            while p >= 0 and edge[p] + 1 == end[p]:
                edge[p] = begin[p]
                p -= 1
            nothing = p < 0
            if not nothing:
                edge[p] += 1
