"""The factored rules of any game whose positions are listed, with its public states as cores.

At a *public state*, given by common knowledge, each player has some possible private states, its cells.  A table holds
the position that joint cells make, and its relative probability by chance.  Moves lead from table to table; parts that
are not connected by any chain of positions that a player confuses are different cores (vector-form CFR on the public
tree: Johanson, Waugh, Bowling & Zinkevich, IJCAI 2011).  Incompatible hands stay in the lists, with payoff 0: the
payoffs of an end are a table as well (``constant_blocks``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from hashlib import blake2b
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import Action, FloatArray, IntArray, LongArray
from infoset.errors import BudgetError, UnsupportedGameError
from infoset.jit import kernel
from infoset.tree.constant_blocks import constant_blocks
from infoset.tree.factored_rules import FactoredRules
from infoset.tree.graph import CHANCE, EVERYBODY, TERMINAL, GameGraph, Interner
from infoset.tree.rule_arrays import NOTHING, AnyCore, Decided, Ended, Side, Terms, rule_arrays
from infoset.tree.steps import steps

MOST_CELLS = 5_000_000
MOST_TOGETHER = 10_000_000  # joint private states of one public state, with all that may follow
MOST_SLOTS = 50_000_000  # cells times events
DENSE, SMALL = 8, 1 << 16  # keys are counted rather than sorted up to this bound, per row and added
SAME = 1e-13  # tolerance of probabilities that are products of the same numbers
NOWHERE = -1  # the position of cells that are incompatible


class _Table(NamedTuple):
    """A public state: its mover, and the position and probability of all joint cells."""

    mover: int
    position: LongArray  # (cells of the first player, …) rows of ``steps``, or NOWHERE
    chance: FloatArray  # same shape, scaled such that the largest is 1

    @property
    def key(self) -> bytes:
        return _digest((self.mover, *self.position.shape), self.position, self.chance)


def _digest(numbers: tuple[int, ...], *arrays: npt.NDArray[Any]) -> bytes:
    """Return a short digest of a core's data, which is long where tables are large."""
    found = blake2b(repr(numbers).encode(), digest_size=20)
    for array in arrays:
        found.update(array.tobytes())
    return found.digest()


class _Successors(NamedTuple):
    """All that may follow a core, one event after another."""

    event: LongArray  # (R,)
    chance: FloatArray  # (R,)
    reached: LongArray  # (R,)
    private: list[LongArray]  # (R,) of each player the number of its private state there


class _Event(NamedTuple):
    """The core that an event leads to, and each player's edges: private states, and their places there."""

    reached: int
    chance: float
    edges: list[tuple[LongArray, LongArray]]


class AskedPublic:
    """The rules of a game, collected from its positions by following public states."""

    def __init__(self, graph: GameGraph, progress: Callable[[int], object] | None, most_joint: int) -> None:
        """Prepare the steps of ``graph``.

        Raises ``UnsupportedGameError`` for information maps, and where some players move at once, but not all.
        """
        self.graph, self.progress, self.n, self.most_joint = graph, progress, len(graph.players), most_joint
        if graph.map_name:
            raise UnsupportedGameError(
                f"{graph.name} has its information sets by a map ({graph.map_name}); public states need information "
                "states"
            )
        self.steps = steps(graph, graph.completes)
        self.movers = self._movers()
        self.learnt = [_kinds(self.steps.action[:, p] + 1, self.steps.record[:, p] + 1) for p in range(self.n)]
        self.layer = self._layers()
        self.paid = graph.payoffs[np.where(self.movers == TERMINAL, graph.content[self.steps.position], 0)]
        self.action_sets: Interner[tuple[Action, ...]] = Interner()
        self.number: dict[bytes, int] = {}
        self.ends: dict[bytes, tuple[int, list[tuple[LongArray, LongArray]]]] = {}  # by their payoffs
        self.cores: list[AnyCore | None] = []
        self.todo: deque[tuple[int, _Table]] = deque()
        self.cells = self.joint = self.slots = 0

    def _movers(self) -> LongArray:
        """Return (M,) the mover of the step that begins at each position."""
        position = self.steps.position
        decides = self.graph.deciders[position]
        count = decides.sum(axis=1)
        if ((count > 1) & (count < self.n)).any():
            raise UnsupportedGameError(
                f"{self.graph.name}: simultaneous moves of some players only are not supported by public states"
            )
        found = np.where(count == 0, CHANCE, np.where(count == 1, decides.argmax(axis=1), EVERYBODY))
        return np.where(self.graph.player[position] == TERMINAL, TERMINAL, found)

    def rules(self) -> FactoredRules:
        """Follow every public state.

        Raises ``BudgetError`` where too little is common knowledge, ``UnsupportedGameError`` for a game that is over
        at its start.
        """
        graph, n = self.graph, self.n
        if self.movers[0] == TERMINAL:
            raise UnsupportedGameError(f"{graph.name} is over at its start")
        one = (1,) * n
        self._numbered(_Table(int(self.movers[0]), np.zeros(one, np.int64), np.ones(one)))
        while self.todo:
            number, table = self.todo.popleft()
            self.cores[number] = self._look(table)
        arrays = rule_arrays([core for core in self.cores if core is not None])
        ends = graph.player == TERMINAL
        return FactoredRules(
            graph.name, graph.players, arrays, self.action_sets.values(), graph.records, graph.start_records,
            tuple(range(n)),
            np.unique(graph.payoffs[graph.content[ends]], axis=0),
            counted=(graph.count_histories(), float(graph.times[ends].sum())),
        )  # fmt: skip

    def _numbered(self, table: _Table) -> int:
        """Return the number of a public state, and schedule new ones to be followed."""
        number = self.number.setdefault(table.key, len(self.cores))
        if number == len(self.cores):
            self.cores.append(None)
            self.todo.append((number, table))
            self.cells += sum(table.position.shape)
            self._spend(table.position.shape)
        return number

    def _spend(self, shape: tuple[int, ...], joint: int = 0, slots: int = 0) -> None:
        """Count work.  Raises ``BudgetError`` where it is too much."""
        self.joint += joint
        self.slots += slots
        if self.progress is not None:
            self.progress(self.cells)
        many = self.joint > self.most_joint or self.cells > MOST_CELLS or self.slots > MOST_SLOTS
        if many or joint > MOST_TOGETHER:
            raise BudgetError(
                f"{self.graph.name}: too little is common knowledge for the factored form: the last of "
                f"{len(self.number):,} public states has {' times '.join(f'{size:,}' for size in shape)} private ones"
            )

    def _look(self, table: _Table) -> Decided:
        """Examine all that may follow a public state."""
        s, shape = self.steps, table.position.shape
        joint = np.flatnonzero(table.position != NOWHERE)
        at = table.position.ravel()[joint]
        count = s.first[at + 1] - s.first[at]
        self._spend(shape, joint=int(count.sum()))
        row = np.repeat(np.arange(len(joint)), count)
        step = np.arange(len(row)) + np.repeat(s.first[at] - np.cumsum(count) + count, count)
        cells = [own[row] for own in np.unravel_index(joint, shape)]
        states = [
            _distinct(cells[p] * most + kind[step], shape[p] * most) for p, (kind, most) in enumerate(self.learnt)
        ]
        successors = self._split_events(step, table.chance.ravel()[joint][row], [number for _, _, number in states])
        events = [event for event in self._events(successors) if event is not None]
        self._spend(shape, slots=sum(shape) * (len(events) + 1))
        reached = np.array([*[event.reached for event in events], NOTHING])
        sides = []
        for p, (_, first, _) in enumerate(states):
            action_set = np.full(shape[p], NOTHING)
            if table.mover in (p, EVERYBODY):
                action_set[cells[p]] = self._action_sets(s.action_set[step, p])
            edges = [event.edges[p] for event in events]
            where = np.repeat(np.arange(len(events)), [len(some) for some, _ in edges])
            own, place = (_joined([some[k] for some in edges]) for k in range(2))
            cell, by = cells[p][first[own]], step[first[own]]
            sides.append(
                Side.of(action_set, reached, cell, where, place, s.action[by, p], s.record[by, p], np.ones(len(own)))
            )
        return Decided(table.mover, reached[:-1], np.array([event.chance for event in events]), sides)

    def _action_sets(self, content: IntArray) -> LongArray:
        """Return (R,) the numbers of action sets that players choose from."""
        kinds, kind = np.unique(content, return_inverse=True)
        return np.array([self.action_sets(self.graph.action_sets[k]) for k in kinds.tolist()])[kind]

    def _layers(self) -> IntArray:
        """Return (F,) each step's number among those from its position that nobody can tell apart.

        Such steps lead to several positions where nobody observes the chance outcome; equal targets have equal numbers.
        """
        s, mover = self.steps, self.movers[self.steps.target] - EVERYBODY
        source = np.repeat(np.arange(len(s.position)), np.diff(s.first))
        alike, _ = _kinds(source, *[kind for kind, _ in self.learnt], mover)
        layer = np.zeros(len(alike), np.int32)
        if int(alike.max(initial=-1)) + 1 < len(alike):
            order = np.lexsort((s.target, alike))
            fresh = np.append(True, np.diff(alike[order]) != 0)
            number = np.cumsum(np.append(0, np.diff(s.target[order]) != 0))
            layer[order] = number - np.maximum.accumulate(np.where(fresh, number, 0))
            layer[self.movers[s.target] == TERMINAL] = 0
        return layer

    def _split_events(self, step: LongArray, chance: FloatArray, private: list[LongArray]) -> _Successors:
        """Group what may follow into events: what nobody confuses, has different movers or is in different layers."""
        reached = self.steps.target[step]
        begin = np.cumsum([0, *[int(own.max()) + 1 for own in private]])
        numbers = [first + own for first, own in zip(begin, private, strict=False)]
        event, _ = _kinds(connected(numbers), self.movers[reached] - EVERYBODY, self.layer[step])
        order = np.argsort(event.astype(np.uint16) if len(event) and event.max() < 1 << 16 else event, kind="stable")
        chance = (chance * self.steps.chance[step])[order]
        return _Successors(event[order], chance, reached[order], [own[order] for own in private])

    def _events(self, successors: _Successors) -> Iterator[_Event | None]:
        """Yield the events, or ``None`` for ends without payoffs."""
        event, count = successors.event, int(successors.event[-1]) + 1
        begin = np.searchsorted(event, np.arange(count + 1))
        own, at = [], []
        for private in successors.private:
            most = int(private.max()) + 1
            values, _, number = _distinct(event * most + private, count * most)
            first = np.searchsorted(values, np.arange(count + 1) * most)
            own.append(np.split(values % most, first[1:-1]))
            at.append(number - first[event])
        for k in range(count):
            rows = slice(begin[k], begin[k + 1])
            states, index = tuple([some[k] for some in own]), tuple([some[rows] for some in at])
            yield self._event(successors.reached[rows], successors.chance[rows], states, index)

    def _event(
        self, reached: LongArray, probabilities: FloatArray, own: tuple[LongArray, ...], index: tuple[LongArray, ...]
    ) -> _Event | None:
        """Return the event of some rows; ``None`` where it is an end without payoffs."""
        shape = tuple(map(len, own))
        self._spend(shape, joint=prod(shape))
        if self.movers[reached[0]] == TERMINAL:
            paid = np.zeros((*shape, self.n))
            np.add.at(paid, index, self.paid[reached] * probabilities[:, None])
            return self._end(own, paid) if paid.any() else None
        position, chance = np.full(shape, NOWHERE, np.int64), np.zeros(shape)
        position[index] = reached
        np.add.at(chance, index, probabilities)
        scale = float(chance.max()) or 1.0  # outcomes of probability 0 are in the tree, too
        chance = np.where(abs(chance / scale - 1) < SAME, 1.0, chance / scale)
        places = []
        for p in range(self.n):
            first, place = _alike(p, position, chance.view(np.int64))
            position = np.ascontiguousarray(np.take(position, first, axis=p))
            chance = np.ascontiguousarray(np.take(chance, first, axis=p))
            places.append(place)
        number = self._numbered(_Table(int(self.movers[reached[0]]), position, chance))
        return _Event(number, scale, list(zip(own, places, strict=True)))

    def _end(self, own: tuple[LongArray, ...], paid: FloatArray) -> _Event:
        """Return the event of an end, with the lists that contain each player's private states."""
        key = _digest(paid.shape, paid)
        if key not in self.ends:  # other public states often have the same payoffs
            self.ends[key] = self._new_end(paid)
        number, listed = self.ends[key]
        edges = [(states[row], place) for states, (row, place) in zip(own, listed, strict=True)]
        return _Event(number, 1.0, edges)

    def _new_end(self, paid: FloatArray) -> tuple[int, list[tuple[LongArray, LongArray]]]:
        """Return the number of an end, and each player's private states in each of its lists, with the list's place."""
        kinds = []
        for p in range(self.n):
            first, kind = _alike(p, paid.view(np.int64))
            paid = np.ascontiguousarray(np.take(paid, first, axis=p))
            kinds.append(kind)
        blocks = constant_blocks(paid)
        cells = tuple(map(len, blocks.lists))
        number = self.number.setdefault(_digest(cells, blocks.place, blocks.paid), len(self.cores))
        if number == len(self.cores):
            self.cores.append(Ended(cells, Terms(blocks.place, blocks.paid)))
        return number, [_listed(kind, lists) for kind, lists in zip(kinds, blocks.lists, strict=True)]


def _distinct(key: LongArray, bound: int) -> tuple[LongArray, LongArray, LongArray]:
    """Return the distinct keys in order, the first row of each, and (R,) the number of every row's key.

    All keys are less than ``bound``; where it is small, they are counted, which is faster than sorting.
    """
    if bound > DENSE * len(key) + SMALL:
        return np.unique(key, return_index=True, return_inverse=True)
    first = np.full(bound, len(key))
    first[key[::-1]] = np.arange(len(key))[::-1]
    values = np.flatnonzero(first < len(key))
    number = np.empty(bound, np.int64)
    number[values] = np.arange(len(values))
    return values, first[values], number[key]


def _kinds(*columns: IntArray | LongArray) -> tuple[LongArray, int]:
    """Return (R,) the rows numbered in order of their non-negative values, and the number of distinct rows."""
    key = _packed(*columns)
    values, _, number = _distinct(key, int(key.max(initial=-1)) + 1)
    return number, len(values)


def connected(private: list[LongArray]) -> LongArray:
    """Return (R,) the least private state of the rows to which each row is connected by chains of shared ones.

    ``private`` holds for each player (R,) its private states; the numbers of different players are distinct.
    """
    parent = np.arange(max(int(own.max(initial=-1)) for own in private) + 1)
    for own in private[1:]:
        join_all(private[0], own, parent)
    return find_all(parent)[private[0]]


@kernel
def join_all(one: LongArray, other: LongArray, parent: LongArray) -> None:
    """Join the two numbers of each row; the least of a joined set represents it."""
    for k in range(len(one)):
        a, b = one[k], other[k]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a < b:
            parent[b] = a
        else:
            parent[a] = b


def find_all(parent: LongArray) -> LongArray:
    """Return for each number the least one that it is joined with."""
    while True:
        above = parent[parent]
        if (above == parent).all():
            return parent
        parent = above


def _joined(arrays: list[LongArray]) -> LongArray:
    """Return the concatenation of the arrays, of which there may be none."""
    return np.concatenate([np.zeros(0, np.int64), *arrays])


def _packed(*columns: IntArray | LongArray) -> LongArray:
    """Return (R,) one number for the non-negative values of each row, in the order of rows."""
    found = columns[0].astype(np.int64)
    for column in columns[1:]:
        if len(found) and (int(found.max()) + 1) * (int(column.max()) + 1) > np.iinfo(np.int64).max:
            found = np.unique(found, return_inverse=True)[1]
        found = found * (int(column.max(initial=0)) + 1) + column
    return found


def _listed(kind: LongArray, lists: list[LongArray]) -> tuple[LongArray, LongArray]:
    """Return the rows (K,) of every list of kinds, list by list, and the list of each row."""
    order, count = np.argsort(kind, kind="stable"), np.bincount(kind)
    begin, kinds = np.cumsum(count) - count, _joined(lists)
    sizes = count[kinds]
    row = order[np.arange(sizes.sum()) + np.repeat(begin[kinds] - np.cumsum(sizes) + sizes, sizes)]
    return row, np.repeat(np.repeat(np.arange(len(lists)), list(map(len, lists))), sizes)


def _alike(axis: int, *tables: LongArray) -> tuple[LongArray, LongArray]:
    """Return the first of each kind of the tables' slices along an axis, and the kind of each slice."""
    flat = []
    for table in tables:
        moved = np.moveaxis(table, axis, 0)
        flat.append(moved.reshape(len(moved), -1))
    rows = np.ascontiguousarray(np.concatenate(flat, axis=1))
    width, content, kinds = rows.itemsize * rows.shape[1], rows.tobytes(), dict[bytes, int]()
    kind = [kinds.setdefault(content[at : at + width], len(kinds)) for at in range(0, len(content), width)]
    return _distinct(np.array(kind), len(kinds))[1], np.array(kind)
