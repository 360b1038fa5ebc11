"""The common part of phantom games, in which players do not see each other's stones.

Both players put stones on one board in turn.  A player who tries a taken cell is told so and tries another; in the
*abrupt* variant the turn is over instead.  Nothing else is observed (OpenSpiel's ``reveal-nothing`` by its tensors; its
strings of information states in dark hex also reveal the number of moves).
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, cast

from infoset.base import (
    Action,
    InformationState,
    JointAction,
    ObservationRecord,
    Observed,
    Picture,
    State,
    TensorEncoder,
    Writes,
)
from infoset.games.rules import Ended, NativeState, Rules, seats
from infoset.games.table import Infostates, Look, ShownRules
from infoset.games.tensors import has_recall

PLAYERS = 2
TAKEN = "taken"
MARKS = ("x", "o")
HIDDEN = "?"

Masks = tuple[int, int]


class _Fields(NamedTuple):
    rows: int
    columns: int
    abrupt: bool
    stones: Masks  # each player's stones, one bit for each cell
    met: Masks  # the opponent's stones that each player knows of
    mover: int


class CellLayout(NamedTuple):
    """Where OpenSpiel's tensors show what a player knows of a cell: at ``step * cell + …``, one of three entries."""

    entries: int  # for each cell
    step: int
    empty: int
    stones: tuple[int, int]  # the first player's, and the second's
    boxed: bool = False  # whether a tensor with all moves has a first axis of length 1


class PhantomState(NativeState, _Fields):
    """The stones, and the opponent's stones that each player has discovered."""

    __slots__ = ()
    board: ClassVar[dict[str, Any]] = {}
    """The fields of a picture of the board other than its cells."""
    layout: ClassVar[CellLayout]

    def decided(self, stones: Masks) -> tuple[float, ...] | None:
        """Return the payoffs after the player to move has put a stone; ``None`` where the game continues."""
        raise NotImplementedError

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        if player != self.mover:
            return ()
        return unseen(self.rows, self.columns, self.stones[player] | self.met[player])

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        rows, columns, abrupt, stones, met, mover = self
        row, column = cast("tuple[int, int]", actions[mover])
        bit, other = 1 << ((row - 1) * columns + column - 1), 1 - mover
        if stones[other] & bit:
            met = replaced(met, mover, met[mover] | bit)
            state = type(self)(rows, columns, abrupt, stones, met, other if abrupt else mover)
            return Observed(state, replaced((None, None), mover, TAKEN))
        stones = replaced(stones, mover, stones[mover] | bit)
        paid = self.decided(stones)
        if paid is not None:
            return Observed(Ended(paid), (None, None))
        return Observed(type(self)(rows, columns, abrupt, stones, met, other), (None, None))

    def returns(self) -> tuple[float, ...]:
        return (0.0, 0.0)


@lru_cache(maxsize=1 << 16)
def unseen(rows: int, columns: int, seen: int) -> tuple[tuple[int, int], ...]:
    """Return the cells that are not in the bit mask ``seen``."""
    return tuple([cell for k, cell in enumerate(cells(rows, columns)) if not seen >> k & 1])


def cells(rows: int, columns: int) -> tuple[tuple[int, int], ...]:
    """Return all cells, row by row, counted from 1."""
    return tuple([(r, c) for r in range(1, rows + 1) for c in range(1, columns + 1)])


def replaced(pair: tuple[Any, Any], player: int, value: Any) -> tuple[Any, Any]:
    """Return a pair with the value of one player replaced."""
    return (value, pair[1]) if player == 0 else (pair[0], value)


class PhantomRules(ShownRules):
    """A phantom game in factored form: the private parts are the discovered stones, the core is everything else."""

    def split(self, state: State) -> tuple[Hashable, tuple[Hashable, ...]]:
        """Split a state into the stones, the turn and the number of failed tries if abrupt, and the failed tries."""
        if not isinstance(state, PhantomState):
            return ("end", state.returns()), ((), ())
        rows, columns, abrupt, stones, met, mover = state
        failed = (met[0].bit_count(), met[1].bit_count()) if abrupt else (0, 0)
        return (rows, columns, abrupt, stones, mover, failed), met

    def join(self, core: tuple[int, int, bool, Masks, int, Masks], own: Masks) -> PhantomState:
        """Return the state with this core and these discovered stones."""
        return type(cast(PhantomState, self.first.state))(*core[:4], own, core[4])

    def tensor_encoder(self, kind: str) -> TensorEncoder:
        """Return the encoder of OpenSpiel's tensors: the cells, and in information states the player's moves."""
        return PhantomEncoder(cast(PhantomState, self.first.state), has_recall(self.name, kind))


class PhantomEncoder:
    """What a player knows of each cell; with ``recall`` its moves follow, each as one of all cells.

    The memo is the number of the player's moves, which matters with ``recall`` alone.
    """

    def __init__(self, start: PhantomState, recall: bool) -> None:
        self.number = {cell: k for k, cell in enumerate(cells(start.rows, start.columns))}
        self.actions: tuple[Action, ...] = tuple(self.number)
        self.layout, self.recall = start.layout, recall
        self.known = self.layout.entries * len(self.actions)
        size = self.known + recall * len(self.actions) ** 2
        self.shape: tuple[int, ...] = (1, size) if recall and self.layout.boxed else (size,)

    def start(self, player: int) -> tuple[int, Writes]:
        """Show empty cells."""
        step, empty = self.layout.step, self.layout.empty
        return 0, tuple([(step * k + empty, 1.0) for k in range(len(self.actions))])

    def after(self, player: int, memo: int, record: ObservationRecord) -> tuple[int, Writes]:
        """Put a stone, the player's own one or the other that it met."""
        cell, seen = record
        k, owner = self.number[cast("tuple[int, int]", cell)], 1 - player if seen == TAKEN else player
        begin = self.layout.step * k
        writes = ((begin + self.layout.empty, 0.0), (begin + self.layout.stones[owner], 1.0))
        if not self.recall:
            return 0, writes
        return memo + 1, (*writes, (self.known + len(self.actions) * memo + k, 1.0))


def picture(rules: Rules, infostate: Infostates) -> Picture:
    """Draw the board as these players together know it, each cell with its mark."""
    start: PhantomState = rules.first.state  # type: ignore[assignment]
    marks: dict[Action, str] = {}
    for player, own in enumerate(infostate):
        for action, seen in own or ():
            marks[action] = MARKS[1 - player if seen == TAKEN else player]  # type: ignore[index]
    rows, columns = range(1, start.rows + 1), range(1, start.columns + 1)
    unknown = "" if all(own is not None for own in infostate) else HIDDEN
    grid = [[marks.get((r, c), unknown) for c in columns] for r in rows]
    actions = {f"{r - 1},{c - 1}": k for k, (r, c) in enumerate(free)} if (free := _free(start, infostate)) else {}
    return {
        "kind": "grid", "rows": list(map(str, rows)), "columns": list(map(str, columns)), "cells": grid,
        "moves": actions,
        **start.board,
    }  # fmt: skip


def _free(start: PhantomState, infostate: Infostates) -> list[tuple[int, int]]:
    """Return the cells that a player may try, where the knowledge of a single player is shown."""
    shown = [own for own in infostate if own is not None]
    if len(shown) != 1:
        return []
    tried = {action for action, _ in shown[0]}
    return [cell for cell in cells(start.rows, start.columns) if cell not in tried]


def describe_record(rules: Rules, player: int, record: ObservationRecord, before: InformationState) -> str:
    """Describe a stone of the player, or a cell that was taken."""
    row, column = cast("tuple[int, int]", record[0])
    return f"you try {row},{column}: {'it is taken' if record[1] == TAKEN else 'your stone'}"


def phantom_rules(name: str, first: PhantomState) -> PhantomRules:
    """Make the game that starts in state ``first``."""
    return PhantomRules(name, seats(PLAYERS), Observed(first, (None, None)), Look(picture, describe_record))
