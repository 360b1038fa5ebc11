"""The factored rules of games in which all players and chance move at once, such as game descriptions.

The effect of a joint move is a table: how likely each next core is, combined with each player's action and observation.
Where it is a product, it is one event, with the probability of chance in the edges (an example is the event *the first
player gets this cell*, whoever fails there); else it is split into a small number of products, by merging rows that are
multiples of each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import gcd, prod
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from infoset.base import Action, BoolArray, FloatArray, IntArray, LongArray, ObservationRecord
from infoset.errors import BudgetError, UnsupportedGameError
from infoset.interning import sums
from infoset.tree.factored_rules import CORES_A_REPORT, MOST_CELLS, FactoredRules
from infoset.tree.graph import EVERYBODY, NO_RECORD, Interner
from infoset.tree.rule_arrays import NOTHING, AnyCore, Decided, Ended, Side, Terms, rule_arrays
from infoset.tree.symmetry import MAX_ORDER

MOST_LISTED = MAX_ORDER * 2.0**32  # entries, before symmetries
OWN_BITS = 32  # a cell by its core, its player and that player's private state, in one word
Table: TypeAlias = dict[tuple[int, ...], int]


class Arrived(NamedTuple):
    """A player's possible private states at a core, and how often lists have them there, over all paths."""

    own: LongArray
    times: FloatArray


def _put_together(some: list[Arrived]) -> Arrived:
    own, place = np.unique(np.concatenate([one.own for one in some]), return_inverse=True)
    return Arrived(own, sums(place, np.concatenate([one.times for one in some]), len(own)))


class Outcomes(NamedTuple):
    """The results of joint moves, each with every chance outcome."""

    played: IntArray  # (J, roles)
    actions: LongArray  # (J, n) each player's, numbered within its own
    reached: LongArray  # (J,) the next core
    records: LongArray  # (J, n)


class CoreSource(Protocol):
    """The cores, moves, records and private states of a game, by number; see ``gdl.cores``."""

    players: tuple[str, ...]
    first: int
    start: tuple[int, ...]

    def paid(self, core: int) -> tuple[float, ...] | None: ...
    def offered(self, core: int, player: int, own: LongArray) -> BoolArray: ...
    def outcomes(self, core: int, actions: Sequence[LongArray]) -> Outcomes: ...
    def after(self, core: int, player: int, own: LongArray, played: IntArray) -> LongArray: ...
    def depends(self, player: int) -> bool: ...
    @property
    def actions(self) -> list[tuple[Action, ...]]: ...
    @property
    def records(self) -> list[ObservationRecord]: ...  # by number; records of two players may be equal


class Piece(NamedTuple):
    """A product: the count of each of some effects for every player, times ``times``."""

    times: int
    parts: tuple[dict[int, int], ...]


def products(table: Table) -> list[Piece]:
    """Return a table of counts as a sum of products, merging rows of the first player that are multiples of each other.

    >>> from infoset.tree.simultaneous_rules import products
    >>> products({(0, 0): 1, (0, 1): 2, (1, 0): 2, (1, 1): 4})
    [Piece(times=1, parts=({0: 1, 1: 2}, {0: 1, 1: 2}))]
    >>> len(products({(0, 0): 1, (1, 1): 1}))
    2
    """
    n = len(next(iter(table)))
    if len(table) == 1:
        ((index, count),) = table.items()
        return [Piece(count, tuple([{effect: 1} for effect in index]))]
    if n == 1:
        least = gcd(*table.values())
        return [Piece(least, ({effect: count // least for (effect,), count in table.items()},))]
    found: list[Piece] = []
    for axis in range(n if n == 2 else 1):
        rows: dict[int, Table] = {}
        for index, count in table.items():
            rows.setdefault(index[axis], {})[index[:axis] + index[axis + 1 :]] = count
        groups: dict[tuple[tuple[tuple[int, ...], int], ...], dict[int, int]] = {}
        for effect, row in rows.items():
            least = gcd(*row.values())
            groups.setdefault(tuple(sorted((i, c // least) for i, c in row.items())), {})[effect] = least
        pieces = []
        for row_key, part in groups.items():
            least = gcd(*part.values())
            mine = {effect: count // least for effect, count in part.items()}
            for piece in products(dict(row_key)):
                parts = (*piece.parts[:axis], mine, *piece.parts[axis:])
                pieces.append(Piece(piece.times * least, parts))
        if not found or len(pieces) < len(found):
            found = pieces
    return found


class _Effect(NamedTuple):
    """The effect of a step on one player: the cells and moves it starts from, the new private states, the record."""

    cells: LongArray  # (K,) places among the private states at the core
    action: LongArray  # (K,) place of the move in each cell's action set
    own: LongArray  # (K,) the new private states; 0 at an end
    record: int


class _Event(NamedTuple):
    reached: int  # the number of a core or of an end
    chance: float
    parts: list[list[tuple[_Effect, float]]]  # for each player the effects, and the probability of chance in each


@dataclass
class _Core:
    own: list[LongArray]
    events: list[_Event]
    sides: list[Side]
    """Here ``place`` holds the player's private state instead of a cell's place."""
    within: LongArray


class AskedTogether:
    """The rules collected step by step: all ways to reach a core are known before it is asked about."""

    def __init__(self, name: str, source: CoreSource, progress: Callable[[int], object] | None) -> None:
        self.name, self.source, self.progress, self.n = name, source, progress, len(source.players)
        self.actions = source.actions
        self.action_sets: Interner[tuple[Action, ...]] = Interner()
        self.arrived: dict[int, list[list[Arrived]]] = {}  # private states at cores of the next step, for each player
        self.number: dict[object, int] = {}  # of a core, and of an end by its payoffs and probability
        self.cores: list[_Core | tuple[float, ...]] = []  # by these numbers; an end is given by its payoffs
        self.payoffs: set[tuple[float, ...]] = set()
        self.cells = 0

    def rules(self) -> FactoredRules:
        """Ask about every core.

        Raises ``UnsupportedGameError`` for a game that is over at its start, ``BudgetError`` for too many cells.
        """
        source = self.source
        if source.paid(source.first) is not None:
            raise UnsupportedGameError(f"{self.name} is over at its start")
        self.numbered(source.first)
        self.arrived[source.first] = [[Arrived(np.array([own]), np.ones(1))] for own in source.start]
        while self.arrived:
            level, self.arrived = self.arrived, {}
            here = {core: [_put_together(some) for some in arrived] for core, arrived in level.items()}
            if (entries := sum(float(one.times.sum()) for some in here.values() for one in some)) > MOST_LISTED:
                raise BudgetError(f"{self.name}: lists of {entries:.3g} entries; it is too large for the factored form")
            for core, arrived in here.items():
                self.cores[self.number[core]] = self._look(core, arrived)
        return _arrays(self)

    def numbered(self, key: object, end: tuple[float, ...] = ()) -> int:
        """Return the number of a core, or of an end with its payoffs, numbering new ones."""
        if key not in self.number:
            self.number[key] = len(self.cores)
            self.cores.append(end)
        return self.number[key]

    def _look(self, core: int, arrived: list[Arrived]) -> _Core:
        """Examine all joint moves of a core, for all private states of its players."""
        own = [one.own for one in arrived]
        self.cells += sum(map(len, own))
        if self.cells > MOST_CELLS:
            raise BudgetError(f"{self.name}: more than {MOST_CELLS:,} cells; it is too large for the factored form")
        if self.progress is not None and self.number[core] % CORES_A_REPORT == 0:
            self.progress(self.cells)
        asking = _Asking(self, core, arrived)
        events = asking.events()
        return _Core(own, events, [asking.side(p, events) for p in range(self.n)], asking.within())

    def arrive(self, core: int, player: int, own: LongArray, times: FloatArray) -> None:
        """Record private states of a player at a core, and how often all lists have them."""
        self.arrived.setdefault(core, [[] for _ in range(self.n)])[player].append(Arrived(own, times))


class _Asking:
    """The events, edges and counts of one core, as they are asked for."""

    def __init__(self, asked: AskedTogether, core: int, arrived: list[Arrived]) -> None:
        own = [one.own for one in arrived]
        self.asked, self.source, self.core, self.own, self.n = asked, asked.source, core, own, asked.n
        self.times = [one.times for one in arrived]
        self.offered = [self.source.offered(core, p, own[p]) for p in range(self.n)]
        self.places = [np.cumsum(some, axis=1) - 1 for some in self.offered]
        actions = [np.flatnonzero(some.any(axis=0)) for some in self.offered]
        self.outcomes = self.source.outcomes(core, actions)
        self.answers = len(self.outcomes.reached) // prod(map(len, actions))  # number of chance outcomes
        self.kinds: list[Interner[tuple[int, ...]]] = [Interner() for _ in range(self.n)]
        self.effects: list[list[_Effect]] = [[] for _ in range(self.n)]

    def events(self) -> list[_Event]:
        """Return the results of joint moves as products, and record the private states that they lead to."""
        tables: dict[tuple[object, bool], Table] = {}
        for j, reached in enumerate(self.outcomes.reached.tolist()):
            paid = self.source.paid(reached)
            index = tuple([self._effect(p, j, paid is not None) for p in range(self.n)])
            table = tables.setdefault((reached, False) if paid is None else (paid, True), {})
            table[index] = table.get(index, 0) + 1
        return [
            self._event(key, ends, piece) for (key, ends), table in tables.items() for piece in products(table)
        ]  # fmt: skip

    def _effect(self, player: int, j: int, ends: bool) -> int:
        """Return the number of the effect of joint move ``j`` on a player."""
        action, record = int(self.outcomes.actions[j, player]), int(self.outcomes.records[j, player])
        key = (action,) if ends else (action, record)
        if not ends and self.source.depends(player):
            key = (*key, *self.outcomes.played[j].tolist())
        kind = self.kinds[player](key)
        if kind == len(self.effects[player]):
            cells = np.flatnonzero(self.offered[player][:, action])
            after = np.zeros(len(cells), np.int64)
            if not ends:
                after = self.source.after(self.core, player, self.own[player][cells], self.outcomes.played[j])
            place = self.places[player][cells, action]
            self.effects[player].append(_Effect(cells, place, after, NO_RECORD if ends else record))
        return kind

    def within(self) -> LongArray:
        """Return the counts within the step for each joint cell.

        They are the histories inside the step, where some players have moved or chance moves next, and the ends.
        """
        o, sizes = self.outcomes, [some.shape[1] for some in self.offered]
        joint = np.ravel_multi_index(tuple(o.actions.T), sizes)
        if self.answers > 1:  # chance outcomes with the same results count as one
            rows = np.unique(np.column_stack([joint, o.reached, o.records]), axis=0)
            joint, reached = rows[:, 0], rows[:, 1]
        else:
            reached = o.reached
        over = np.array([self.source.paid(core) is not None for core in reached.tolist()])
        answers = np.bincount(joint, minlength=prod(sizes)).reshape(sizes)
        counts = np.stack([answers > 1, np.bincount(joint[over], minlength=prod(sizes)).reshape(sizes)], axis=-1)
        counts = counts.astype(np.int64)
        for p in range(self.n):
            counts = np.moveaxis(np.tensordot(self.offered[p].astype(np.int64), counts, (1, p)), 0, p)
        moved = np.ones(1, np.int64)
        for p in range(self.n - 1):
            moved = np.multiply.outer(moved, self.offered[p].sum(axis=1))
            counts[..., 0] += moved.reshape(moved.shape[1:] + (1,) * (self.n - 1 - p))
        return counts

    def _event(self, key: object, ends: bool, piece: Piece) -> _Event:
        most = [max(part.values()) for part in piece.parts]
        chance = piece.times * prod(most) / self.answers
        parts = [
            [(self.effects[p][kind], count / most[p]) for kind, count in part.items()]
            for p, part in enumerate(piece.parts)
        ]
        if not ends:
            assert isinstance(key, int)
            for p, part in enumerate(parts):
                for effect, _ in part:
                    self.asked.arrive(key, p, effect.own, self.times[p][effect.cells])
            return _Event(self.asked.numbered(key), chance, parts)
        assert isinstance(key, tuple)
        self.asked.payoffs.add(key)
        paid = tuple([chance * one for one in key])  # the payoffs of an end contain the probability
        return _Event(self.asked.numbered(paid, paid), 1.0, parts)

    def side(self, player: int, events: list[_Event]) -> Side:
        """Return the edges of a player's cells."""
        offered, actions = self.offered[player], self.asked.actions[player]
        every = [
            (effect, weight, place) for place, event in enumerate(events) for effect, weight in event.parts[player]
        ]
        sizes = [len(effect.cells) for effect, *_ in every]
        action_sets = [
            self.asked.action_sets(tuple([actions[k] for k in np.flatnonzero(row).tolist()])) for row in offered
        ]
        return Side.of(
            np.array(action_sets),
            np.array([*[event.reached for event in events], NOTHING]),
            np.concatenate([effect.cells for effect, *_ in every]),
            np.repeat([place for *_, place in every], sizes),
            np.concatenate([effect.own for effect, *_ in every]),
            np.concatenate([effect.action for effect, *_ in every]),
            np.repeat([effect.record for effect, *_ in every], sizes),
            np.repeat([weight for _, weight, _ in every], sizes),
        )


def _arrays(asked: AskedTogether) -> FactoredRules:
    """Return everything that was found, with the private states of each core numbered in order."""
    n, records = asked.n, Interner[ObservationRecord]()
    number = np.array([*[records(record) for record in asked.source.records], NO_RECORD])
    nothing = [np.zeros(1, np.int64)] * n
    own = [core.own if isinstance(core, _Core) else nothing for core in asked.cores]
    begin = np.concatenate([[0], np.cumsum([len(one) for some in own for one in some])])
    key = np.repeat(np.arange(len(begin) - 1) << OWN_BITS, np.diff(begin)) + np.concatenate(list(chain(*own)))

    def placed(side: Side, player: int) -> Side:
        at = side.reached.astype(np.int64) * n + player
        place = np.searchsorted(key, (at << OWN_BITS) + side.place) - begin[at]
        return side._replace(place=place, record=number[side.record])

    cores: list[AnyCore] = []
    for core in asked.cores:
        if isinstance(core, _Core):
            sides = [placed(side, p) for p, side in enumerate(core.sides)]
            reached, chance = zip(*[(event.reached, event.chance) for event in core.events], strict=True)
            cores.append(Decided(EVERYBODY, np.array(reached), np.array(chance), sides))
        else:
            cores.append(Ended((1,) * n, Terms.of(np.array(core).reshape(*[1] * n, n))))
    start = tuple([int(begin[p]) for p in range(n)])
    within = {k: core.within for k, core in enumerate(asked.cores) if isinstance(core, _Core)}
    return FactoredRules(
        asked.name, asked.source.players, rule_arrays(cores), asked.action_sets.values(), records.values(),
        (NO_RECORD,) * n, start, np.array(sorted(asked.payoffs)), within=within,
    )  # fmt: skip
