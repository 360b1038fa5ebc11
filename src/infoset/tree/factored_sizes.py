"""How many histories a factored game has, counted core by core and never listed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray
from infoset.tree.graph import TERMINAL, topological

if TYPE_CHECKING:
    from infoset.tree.factored_rules import FactoredRules


class Sizes(NamedTuple):
    """How many histories a game has, how many of them are ends, and how long its form's lists are together at most.

    They are shorter where paths end because some player could not have been on them, and where nature's answers come to
    the same.
    """

    histories: float
    ends: float
    entries: float


def count_sizes(rules: FactoredRules) -> Sizes:
    """Histories, ends, and entries of lists at most."""
    return _Count(rules).run()


class _Count:
    """``ways``: histories that lead to each joint cell of a core; ``lists``: how often a player's list has a cell."""

    def __init__(self, rules: FactoredRules) -> None:
        self.rules, self.n = rules, len(rules.players)
        self.ways: dict[int, FloatArray] = {}
        self.lists: dict[tuple[int, int], FloatArray] = {}
        self.total = self.ends = self.entries = 0.0

    def run(self) -> Sizes:
        r, sizes = self.rules.arrays, self.rules.arrays.cells
        begin = [cell - first for cell, first in zip(self.rules.start_cells, self.rules.first_cell[0], strict=True)]
        self.ways[0] = np.zeros(sizes[0])
        self.ways[0][tuple(begin)] = 1
        for p in range(self.n):
            self.lists[0, p] = np.eye(1, sizes[0, p], begin[p])[0]
        for core in topological(r.event_first, r.event_core)[0].tolist():
            if core in self.ways:
                self._count(core)
        most = self.n * self.ends if self.rules.fits is None else np.inf
        return Sizes(float(self.total), float(self.ends), float(min(self.entries, most)))

    def _count(self, core: int) -> None:
        """The histories of a core, and those behind it that are no core's."""
        r, here, mine = self.rules.arrays, self.ways.pop(core), [self.lists.pop((core, p)) for p in range(self.n)]
        if (mover := int(r.mover[core])) >= 0:
            self._add_excursions(core, np.moveaxis(here, mover, 0))
            self._add_excursions(core, mine[mover])
        self.total += here.sum()
        whole = np.zeros(self.n)
        for place, event in enumerate(range(r.event_first[core], r.event_first[core + 1]), 1):
            to = int(r.event_core[event])
            if r.mover[to] == TERMINAL:
                self._end(core, place, to, here, mine, whole)
            else:
                self._lead(core, place, to, here, mine)
        self.entries += whole.sum()

    def _lead(self, core: int, place: int, to: int, here: FloatArray, mine: list[FloatArray]) -> None:
        """What an event leads to."""
        for p in range(self.n):
            cell, reached, _ = self._edges(core, p, place)
            size = int(self.rules.arrays.cells[to, p])
            here = _times(here, cell, reached, size)
            known = self.lists.setdefault((to, p), np.zeros(size))
            np.add.at(known, reached, mine[p][cell])
        if core == 0 and self.rules.fits is not None:  # hands are dealt one after the other
            self.total += self.rules.fits.any(axis=1).sum()
            here = here * self.rules.fits
        self.ways[to] = self.ways.get(to, 0.0) + here

    def _end(self, core: int, place: int, to: int, here: FloatArray, mine: list[FloatArray], whole: FloatArray) -> None:
        """An end's histories and entries; ``whole``: of lists of all of a player's cells, which ends have in common."""
        r = self.rules.arrays
        for p in range(self.n):
            cell, _, moves = self._edges(core, p, place)
            by_moves = np.unique([cell, moves], axis=1)[0]  # a cell that leads to several is there once
            here = _times(here, by_moves, np.zeros(len(by_moves), np.int64), 1)
            counts = np.bincount(cell, minlength=len(mine[p]))
            found = float(mine[p] @ counts) * (r.term_first[to + 1] > r.term_first[to])
            if p == r.mover[core] or r.cells[to, p] > 1 or len(cell) < len(counts):
                self.entries += found
            else:
                whole[p] = max(whole[p], found)
        self.total += here.sum()
        self.ends += here.sum()

    def _add_excursions(self, core: int, ways: FloatArray) -> None:
        """Add to the histories of each of the mover's cells, along the first axis, those that come by excursions."""
        r = self.rules.arrays
        first = int(self.rules.first_cell[core, r.mover[core]])
        for q in first + np.argsort(-r.below[first : first + len(ways)], kind="stable"):
            for to in r.edge_cell[r.edge_first[r.slot[q]] : r.edge_first[r.slot[q] + 1]].tolist():
                ways[to - first] += ways[q - first]

    def _edges(self, core: int, player: int, place: int) -> tuple[LongArray, LongArray, IntArray]:
        """Of one event: each edge's cell by its place, that which it leads to, and its move."""
        r, first = self.rules.arrays, int(self.rules.first_cell[core, player])
        size = int(r.cells[core, player])
        slots = r.slot[first : first + size] + place
        begin, count = r.edge_first[slots], r.edge_first[slots + 1] - r.edge_first[slots]
        cell = np.repeat(np.arange(size), count)
        edges = np.arange(len(cell)) + np.repeat(begin - np.cumsum(count) + count, count)
        return cell, r.place[r.edge_cell[edges]].astype(np.int64), r.edge_move[edges]


def _times(ways: FloatArray, cell: LongArray, reached: LongArray, size: int) -> FloatArray:
    """Along the first axis each cell's ways go to those reached from it; that axis is the last one afterwards."""
    each = np.arange(size)
    if len(ways) == size and np.array_equal(cell, each) and np.array_equal(reached, each):  # to itself, once
        return np.moveaxis(ways, 0, -1)
    found = np.zeros((size, *ways.shape[1:]))
    for start, end in zip(cell.tolist(), reached.tolist(), strict=True):
        found[end] += ways[start]
    return np.moveaxis(found, 0, -1)
