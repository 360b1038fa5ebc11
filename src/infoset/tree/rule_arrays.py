"""The rules of a factored game as arrays for kernels, assembled from cores with a side for each player."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from infoset.base import Action, FloatArray, IntArray, LongArray, ObservationRecord
from infoset.errors import GameRuleError
from infoset.tree.graph import TERMINAL, topological

NOTHING = -1  # no action set, or no place in one
AnyIntArray: TypeAlias = "IntArray | LongArray"


class RuleArrays(NamedTuple):
    """The arrays that kernels walk, over cores ``C``, their events ``V``, cells ``Q`` and edges ``E``.

    A core's events have the places 1, 2, … in order; place 0 is its mover's excursions.  At place ``k`` cell ``q`` has
    the edges ``edge_first[slot[q] + k]`` to ``edge_first[slot[q] + k + 1]``.  At an end payoffs are sums of products:
    one cell may lead to several cells there, and is paid for all of them.
    """

    mover: IntArray  # (C,) player, CHANCE or TERMINAL
    event_first: IntArray  # (C + 1,)
    event_core: IntArray  # (V,) the core that the event leads to
    event_chance: FloatArray  # (V,) the probability of a chance event whose outcomes no player's cell tells apart
    action_set: IntArray  # (Q,) the action set of a cell whose player moves, else NOTHING
    slot: LongArray  # (Q,)
    edge_first: LongArray
    edge_cell: IntArray  # (E,) the cell that the edge leads to
    edge_action: IntArray  # (E,) place in the action set, or NOTHING
    edge_record: IntArray  # (E,) the record of the cell's player, or NO_RECORD
    edge_chance: FloatArray  # (E,) the probability of a chance outcome that only this player's cell tells apart, else 1
    below: LongArray  # (Q,) number of cells that its excursions reach, counted once per path
    place: IntArray  # (Q,) number of the cell among its player's cells of the core
    cells: IntArray  # (C, n) number of cells of each player
    term_first: LongArray  # (C + 1,) where an end's terms begin
    term_place: IntArray  # (T, n) a cell of each player, by its place
    term_paid: FloatArray  # (T, n) the payoffs of players who reach these cells


class NumberedRules(Protocol):
    """Factored rules as arrays, from which sizes and symmetries are computed, and the objects that they number."""

    @property
    def arrays(self) -> RuleArrays: ...
    @property
    def action_sets(self) -> list[tuple[Action, ...]]: ...
    @property
    def records(self) -> list[ObservationRecord]: ...
    @property
    def start_records(self) -> tuple[int, ...]: ...
    @property
    def start_cells(self) -> tuple[int, ...]: ...
    @property
    def first_cell(self) -> LongArray: ...
    @property
    def within(self) -> dict[int, LongArray]: ...
    @property
    def counted(self) -> tuple[float, float] | None: ...


class Terms(NamedTuple):
    """The payoffs of an end: places of the players' cells (T, n), and the payoffs (T, n)."""

    place: IntArray
    paid: FloatArray

    @classmethod
    def of(cls, table: FloatArray) -> Terms:
        """Build the terms from the payoffs of every joint cell, (cells of the first player, …, n)."""
        place = np.argwhere((table != 0).any(axis=-1))
        return cls(place.astype(np.int32), table[tuple(place.T)])


class Side(NamedTuple):
    """One player's cells at one core, and their edges by cell and event."""

    action_set: LongArray  # (cells,) or NOTHING
    counts: LongArray  # (cells * (1 + events),) number of edges; for each cell excursions come first
    reached: IntArray  # (E,) the number of a core
    place: AnyIntArray  # (E,) place of that cell among the player's cells there
    action: IntArray
    record: IntArray
    chance: FloatArray

    @classmethod
    def of(
        cls, action_set: LongArray, reached: LongArray, cell: LongArray, event: LongArray, place: AnyIntArray,
        action: LongArray, record: LongArray, chance: FloatArray,
    ) -> Side:  # fmt: skip
        """Build a side from edges in any order.

        Each has the cell that it leaves and its event, one of those that lead to ``reached`` (V + 1,); -1 for
        excursions, which stay at the core that is last in ``reached``.
        """
        key = cell * len(reached) + event + 1
        order = np.argsort(key, kind="stable")
        counts = np.bincount(key, minlength=len(action_set) * len(reached))
        to, own, own_records = (column[order].astype(np.int32) for column in (reached[event], action, record))
        return cls(action_set, counts, to, place[order], own, own_records, chance[order])


class Decided(NamedTuple):
    """A core that is not an end."""

    mover: int
    reached: LongArray  # (V,) the cores that events lead to
    chance: FloatArray  # (V,)
    sides: list[Side]

    @property
    def cells(self) -> list[int]:
        """(n,) the number of cells of each player."""
        return [len(side.action_set) for side in self.sides]


class Ended(NamedTuple):
    """An end, with the number of cells of each player."""

    cells: Sequence[int]
    terms: Terms


AnyCore: TypeAlias = "Decided | Ended"


def ways_to(name: str, arrays: RuleArrays) -> FloatArray:
    """Return (C,) the number of paths to each core.  Raises ``GameRuleError`` where one leads back to itself."""
    order, ways = topological(arrays.event_first, arrays.event_core)
    if len(order) < len(ways):
        raise GameRuleError(
            f"{name}: a public component occurs twice on one path; it must include the progress of the game"
        )
    return ways


def rule_arrays(cores: Sequence[AnyCore]) -> RuleArrays:
    """Return the arrays of numbered cores, each core's cells ordered by player; ends share a slot without edges."""
    n = len(cores[0].cells)
    sizes = np.array([core.cells for core in cores], np.int32)
    flat = sizes.ravel()
    first_cell = (np.cumsum(flat) - flat).reshape(-1, n)
    decided = [core for core in cores if isinstance(core, Decided)]
    sides = [side for core in decided for side in core.sides]
    counts = np.concatenate([side.counts for side in sides])
    edge_cell = np.concatenate(
        [(first_cell[side.reached, k % n] + side.place).astype(np.int32) for k, side in enumerate(sides)]
    )
    action_set, slot = np.full(flat.sum(), NOTHING, np.int32), np.zeros(flat.sum(), np.int64)
    at = 1
    for first, core in zip(first_cell, cores, strict=True):
        for begin, side in zip(first.tolist(), core.sides if isinstance(core, Decided) else (), strict=False):
            count, each = len(side.action_set), len(core.reached) + 1  # type: ignore[union-attr]
            action_set[begin : begin + count] = side.action_set
            slot[begin : begin + count] = at + each * np.arange(count)
            at += each * count
    terms = [core.terms for core in cores if isinstance(core, Ended)]
    paid = [len(core.terms.paid) if isinstance(core, Ended) else 0 for core in cores]
    events = [len(core.reached) if isinstance(core, Decided) else 0 for core in cores]
    return RuleArrays(
        mover=np.array([core.mover if isinstance(core, Decided) else TERMINAL for core in cores], np.int32),
        event_first=np.cumsum([0, *events]).astype(np.int32),
        event_core=np.concatenate([core.reached for core in decided]).astype(np.int32),
        event_chance=np.concatenate([core.chance for core in decided]),
        action_set=action_set, slot=slot,
        edge_first=np.concatenate([[0, 0], np.cumsum(counts)]),
        edge_cell=edge_cell, edge_action=np.concatenate([side.action for side in sides]),
        edge_record=np.concatenate([side.record for side in sides]),
        edge_chance=np.concatenate([side.chance for side in sides]),
        below=np.zeros(len(action_set), np.int64),
        place=(np.arange(len(action_set)) - np.repeat(first_cell.ravel(), flat)).astype(np.int32),
        cells=sizes,
        term_first=np.cumsum([0, *paid]),
        term_place=np.concatenate([np.zeros((0, n), np.int32), *[some.place for some in terms]]).astype(np.int32),
        term_paid=np.concatenate([np.zeros((0, n)), *[some.paid for some in terms]]),
    )  # fmt: skip
