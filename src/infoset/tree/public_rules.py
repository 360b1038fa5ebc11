"""The factored rules of any game whose positions are listed: its cores are its public states.

At a *public state*, what is common knowledge, each player may be in some private ones, its cells; which position two
cells make, and how likely nature has made it beside the others, is a table.  Moves lead from table to table; what no
chain of players who take one thing for another connects is two cores (vector-form CFR on the public tree: Johanson,
Waugh, Bowling & Zinkevich, IJCAI 2011).  Hands that cannot be held together stay in the lists, and are paid nothing:
what an end pays is a table as well (``constant_blocks``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from hashlib import blake2b
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from infoset.base import Action, FloatArray, IntArray, LongArray
from infoset.errors import BudgetError, UnsupportedGameError
from infoset.tree.constant_blocks import constant_blocks
from infoset.tree.factored_rules import MOST_CELLS, FactoredRules
from infoset.tree.graph import CHANCE, EVERYBODY, TERMINAL, GameGraph, Interner
from infoset.tree.rule_arrays import NOTHING, AnyCore, Decided, Ended, Side, Terms, rule_arrays
from infoset.tree.steps import steps

MOST_SLOTS = 50_000_000  # cells times events
SAME = 1e-13  # of chances that are products of the same numbers
NOWHERE = -1  # the position of cells that nobody can be in together


class _Table(NamedTuple):
    """A public state."""

    mover: int
    position: LongArray  # (cells of the first player, …) rows of ``steps``, or NOWHERE
    chance: FloatArray  # the same, the largest 1

    @property
    def key(self) -> bytes:
        return _digest((self.mover, *self.position.shape), self.position, self.chance)


def _digest(numbers: tuple[int, ...], *arrays: npt.NDArray[Any]) -> bytes:
    """Of what makes a core, which is much where tables are large."""
    found = blake2b(repr(numbers).encode(), digest_size=20)
    for array in arrays:
        found.update(array.tobytes())
    return found.digest()


class _Part(NamedTuple):
    """Some of what may come behind a core, of which each player's cells are the private states in ``rows``."""

    chance: FloatArray  # (R,)
    reached: LongArray  # (R,)
    private: list[LongArray]  # (R,) of each player


class _Event(NamedTuple):
    """Where some of it leads, and the edges of each player: private states, and their places there."""

    reached: int
    chance: float
    edges: list[tuple[LongArray, LongArray]]


class AskedPublic:
    """A game's positions, from public state to public state."""

    def __init__(self, graph: GameGraph, progress: Callable[[int], object] | None, most_joint: int) -> None:
        """Raises ``UnsupportedGameError`` for information maps, and where some players move at once, but not all."""
        self.graph, self.progress, self.n, self.most_joint = graph, progress, len(graph.players), most_joint
        if graph.map_name:
            raise UnsupportedGameError(
                f"{graph.name} has information sets by a map ({graph.map_name}); public states are of what players "
                "remember"
            )
        self.steps = steps(graph, graph.completes)
        self.movers = self._movers()
        self.paid = graph.payoffs[np.where(self.movers == TERMINAL, graph.content[self.steps.position], 0)]
        self.menus: Interner[tuple[Action, ...]] = Interner()
        self.number: dict[bytes, int] = {}
        self.ends: dict[bytes, tuple[int, list[tuple[LongArray, LongArray]]]] = {}  # by what they pay
        self.cores: list[AnyCore | None] = []
        self.todo: deque[tuple[int, _Table]] = deque()
        self.cells = self.joint = self.slots = 0

    def _movers(self) -> LongArray:
        """(M,) who moves in the step that begins at a position."""
        position = self.steps.position
        decides = self.graph.deciders[position]
        count = decides.sum(axis=1)
        if ((count > 1) & (count < self.n)).any():
            raise UnsupportedGameError(
                f"{self.graph.name}: some players move at once, but not all of them, which public states do not have"
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
            graph.name, graph.players, arrays, self.menus.values(), graph.tokens, graph.start_tokens, tuple(range(n)),
            np.unique(graph.payoffs[graph.content[ends]], axis=0),
            counted=(graph.count_histories(), float(graph.times[ends].sum())),
        )  # fmt: skip

    def _numbered(self, table: _Table) -> int:
        """The number of a public state; one that is new is followed."""
        number = self.number.setdefault(table.key, len(self.cores))
        if number == len(self.cores):
            self.cores.append(None)
            self.todo.append((number, table))
            self.cells += sum(table.position.shape)
            self._spend(table.position.shape)
        return number

    def _spend(self, shape: tuple[int, ...], joint: int = 0, slots: int = 0) -> None:
        """Count what is looked at.  Raises ``BudgetError`` where that is too much."""
        self.joint += joint
        self.slots += slots
        if self.progress is not None:
            self.progress(self.cells)
        if self.joint > self.most_joint or self.cells > MOST_CELLS or self.slots > MOST_SLOTS:
            raise BudgetError(
                f"{self.graph.name}: too little is common knowledge for the factored form; the last of "
                f"{len(self.number):,} public states has {' times '.join(f'{size:,}' for size in shape)} private ones"
            )

    def _look(self, table: _Table) -> Decided:
        """All that may come behind a public state."""
        s, shape = self.steps, table.position.shape
        joint = np.flatnonzero(table.position != NOWHERE)
        at = table.position.ravel()[joint]
        count = s.first[at + 1] - s.first[at]
        self._spend(shape, joint=int(count.sum()))
        row = np.repeat(np.arange(len(joint)), count)
        step = np.arange(len(row)) + np.repeat(s.first[at] - np.cumsum(count) + count, count)
        cells = [own[row] for own in np.unravel_index(joint, shape)]
        states = [_private(cells[p], s.move[step, p], s.token[step, p]) for p in range(self.n)]
        chance = table.chance.ravel()[joint][row] * s.chance[step]
        part = _Part(chance, s.target[step], [number for number, _ in states])
        events = [event for one in self._apart(part) if (event := self._event(one)) is not None]
        self._spend(shape, slots=sum(shape) * (len(events) + 1))
        reached = np.array([*[event.reached for event in events], NOTHING])
        sides = []
        for p, (_, first) in enumerate(states):
            menu = np.full(shape[p], NOTHING)
            if table.mover in (p, EVERYBODY):
                menu[cells[p]] = self._menus(s.menu[step, p])
            edges = [event.edges[p] for event in events]
            where = np.repeat(np.arange(len(events)), [len(some) for some, _ in edges])
            own, place = (_joined([some[k] for some in edges]) for k in range(2))
            cell, by = cells[p][first[own]], step[first[own]]
            sides.append(Side.of(menu, reached, cell, where, place, s.move[by, p], s.token[by, p], np.ones(len(own))))
        return Decided(table.mover, reached[:-1], np.array([event.chance for event in events]), sides)

    def _menus(self, content: IntArray) -> LongArray:
        """(R,) the numbers of menus, of those that somebody chooses from."""
        kinds, kind = np.unique(content, return_inverse=True)
        return np.array([self.menus(self.graph.menus[k]) for k in kinds.tolist()])[kind]

    def _apart(self, part: _Part) -> Iterator[_Part]:
        """What everybody can tell from the rest, and what goes on differently."""
        known = self._connected(part.private)
        group = _packed(known, self.movers[part.reached] - EVERYBODY)
        order = np.argsort(group, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
            yield from self._layers(_some(part, rows))

    def _connected(self, private: list[LongArray]) -> LongArray:
        """(R,) rows have one number where some player takes one for another, and so on."""
        if self.n == 1:
            return private[0]
        offsets = np.cumsum([0, *[int(own.max()) + 1 for own in private]])
        one = np.tile(private[0], self.n - 1)
        other = np.concatenate([offsets[p] + private[p] for p in range(1, self.n)])
        links = coo_array((np.ones(len(one), np.int8), (one, other)), shape=(offsets[-1], offsets[-1]))
        return np.asarray(connected_components(links, directed=False)[1][private[0]], np.int64)

    def _layers(self, part: _Part) -> Iterator[_Part]:
        """Where private states may be beside each other in several positions, as nobody has seen what nature did."""
        if self.movers[part.reached[0]] == TERMINAL:
            yield part
            return
        _, joint = np.unique(_packed(*part.private), return_inverse=True)
        _, first, place = np.unique(_packed(joint, part.reached), return_index=True, return_inverse=True)
        chance: FloatArray = np.bincount(place, weights=part.chance)  # type: ignore[assignment]
        whole = _some(part, first)._replace(chance=chance)
        joint = joint[first]
        begins = np.flatnonzero(np.append(True, np.diff(joint) != 0))
        layer = np.arange(len(joint)) - begins[joint]
        for k in range(int(layer.max()) + 1):
            yield _some(whole, np.flatnonzero(layer == k))

    def _event(self, part: _Part) -> _Event | None:
        """Where it leads; ``None`` where that is an end that pays nobody."""
        own, at = zip(*[np.unique(states, return_inverse=True) for states in part.private], strict=True)
        shape, index = tuple(map(len, own)), tuple([places.ravel() for places in at])
        self._spend(shape, joint=prod(shape))
        if self.movers[part.reached[0]] == TERMINAL:
            paid = np.zeros((*shape, self.n))
            np.add.at(paid, index, self.paid[part.reached] * part.chance[:, None])
            return self._end(own, paid) if paid.any() else None
        position, chance = np.full(shape, NOWHERE, np.int64), np.zeros(shape)
        position[index] = part.reached
        scale = float(part.chance.max()) or 1.0  # what never comes is in the tree, too
        chance[index] = np.where(abs(part.chance / scale - 1) < SAME, 1.0, part.chance / scale)
        places = []
        for p in range(self.n):
            first, place = _alike(p, position, chance.view(np.int64))
            position = np.ascontiguousarray(np.take(position, first, axis=p))
            chance = np.ascontiguousarray(np.take(chance, first, axis=p))
            places.append(place)
        number = self._numbered(_Table(int(self.movers[part.reached[0]]), position, chance))
        return _Event(number, scale, list(zip(own, places, strict=True)))

    def _end(self, own: tuple[LongArray, ...], paid: FloatArray) -> _Event:
        """An end: of each player's private states, the lists that they are in."""
        key = _digest(paid.shape, paid)
        if key not in self.ends:  # other public states often pay the same
            self.ends[key] = self._new_end(paid)
        number, listed = self.ends[key]
        edges = [(states[row], place) for states, (row, place) in zip(own, listed, strict=True)]
        return _Event(number, 1.0, edges)

    def _new_end(self, paid: FloatArray) -> tuple[int, list[tuple[LongArray, LongArray]]]:
        """The number of an end, and of each player the private states in each of its lists, with the list's place."""
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


def _private(cell: LongArray, move: LongArray, token: LongArray) -> tuple[LongArray, LongArray]:
    """(R,) in which private state each row leaves a player, by number, and of each number the first row."""
    _, first, number = np.unique(_packed(cell, move + 1, token + 1), return_index=True, return_inverse=True)
    return number, first


def _joined(arrays: list[LongArray]) -> LongArray:
    """One behind the other, also none at all."""
    return np.concatenate([np.zeros(0, np.int64), *arrays])


def _packed(*columns: LongArray) -> LongArray:
    """(R,) one number for what each row holds, in the order of rows; columns hold no negative ones."""
    found = columns[0].astype(np.int64)
    for column in columns[1:]:
        if len(found) and (int(found.max()) + 1) * (int(column.max()) + 1) > np.iinfo(np.int64).max:
            found = np.unique(found, return_inverse=True)[1]
        found = found * (int(column.max(initial=0)) + 1) + column
    return found


def _listed(kind: LongArray, lists: list[LongArray]) -> tuple[LongArray, LongArray]:
    """The rows (K,) of every list of kinds, list by list, and which list each is in."""
    order, count = np.argsort(kind, kind="stable"), np.bincount(kind)
    begin, kinds = np.cumsum(count) - count, _joined(lists)
    sizes = count[kinds]
    row = order[np.arange(sizes.sum()) + np.repeat(begin[kinds] - np.cumsum(sizes) + sizes, sizes)]
    return row, np.repeat(np.repeat(np.arange(len(lists)), list(map(len, lists))), sizes)


def _some(part: _Part, rows: LongArray) -> _Part:
    return _Part(part.chance[rows], part.reached[rows], [own[rows] for own in part.private])


def _alike(axis: int, *tables: LongArray) -> tuple[LongArray, LongArray]:
    """The first of each kind of what tables have along an axis, and the kind of each."""
    flat = []
    for table in tables:
        moved = np.moveaxis(table, axis, 0)
        flat.append(moved.reshape(len(moved), -1))
    rows = np.ascontiguousarray(np.concatenate(flat, axis=1))
    _, first, kind = np.unique(
        rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel(), return_index=True, return_inverse=True
    )
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return first[order], rank[kind.ravel()]
