"""What games share in which nobody sees the other's stones: that a cell is taken is learnt by trying it.

Both players put stones on one board in turn.  Who tries a taken cell is told so, and tries another; in the *abrupt*
variant the turn is over instead.  Nothing else is ever seen (OpenSpiel's ``reveal-nothing``, as its tensors have it:
its words for an information state tell how many moves were made, too).
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, cast

from infoset.base import Action, InformationState, JointMove, Observed, Picture, State, Token
from infoset.games.rules import Ended, NativeState, Rules, seats
from infoset.games.table import Known, Look, ShownRules

PLAYERS = 2
TAKEN = "taken"
MARKS = ("x", "o")
HIDDEN = "?"

Masks = tuple[int, int]


class _Fields(NamedTuple):
    rows: int
    columns: int
    abrupt: bool
    stones: Masks  # of each player, a bit a cell
    met: Masks  # stones of the other that each player knows of
    mover: int


class PhantomState(NativeState, _Fields):
    """The stones, and which of the other's each player has run into."""

    __slots__ = ()
    board: ClassVar[dict[str, Any]] = {}
    """What a picture says of the board beside its cells."""

    def decided(self, stones: Masks) -> tuple[float, ...] | None:
        """The payoffs where the player to move has just put a stone; ``None`` where the game goes on."""
        raise NotImplementedError

    def legal(self, player: int) -> tuple[Action, ...]:
        if player != self.mover:
            return ()
        return unseen(self.rows, self.columns, self.stones[player] | self.met[player])

    def play_unchecked(self, moves: JointMove, nature: Action | None = None) -> Observed:
        rows, columns, abrupt, stones, met, mover = self
        row, column = cast("tuple[int, int]", moves[mover])
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
    """The cells that are not among those ``seen``, a bit each."""
    return tuple([cell for k, cell in enumerate(cells(rows, columns)) if not seen >> k & 1])


def cells(rows: int, columns: int) -> tuple[tuple[int, int], ...]:
    """All cells, row by row, counted from 1."""
    return tuple([(r, c) for r in range(1, rows + 1) for c in range(1, columns + 1)])


def replaced(pair: tuple[Any, Any], player: int, value: Any) -> tuple[Any, Any]:
    """A pair with another value for one player."""
    return (value, pair[1]) if player == 0 else (pair[0], value)


class PhantomRules(ShownRules):
    """A game of such states, in its factored form: what a player has met is its own, all else is the core."""

    def split(self, state: State) -> tuple[Hashable, tuple[Hashable, ...]]:
        """The stones, the turn and, where they cost turns, how many tries failed; which those were."""
        if not isinstance(state, PhantomState):
            return ("end", state.returns()), ((), ())
        rows, columns, abrupt, stones, met, mover = state
        failed = (met[0].bit_count(), met[1].bit_count()) if abrupt else (0, 0)
        return (rows, columns, abrupt, stones, mover, failed), met

    def join(self, core: tuple[int, int, bool, Masks, int, Masks], own: Masks) -> PhantomState:
        """The state in which the players have met this."""
        return type(cast(PhantomState, self.first.state))(*core[:4], own, core[4])


def picture(rules: Rules, known: Known) -> Picture:
    """The board as these players together know it, each cell with its mark."""
    start: PhantomState = rules.first.state  # type: ignore[assignment]
    marks: dict[Action, str] = {}
    for player, own in enumerate(known):
        for move, seen in own or ():
            marks[move] = MARKS[1 - player if seen == TAKEN else player]  # type: ignore[index]
    rows, columns = range(1, start.rows + 1), range(1, start.columns + 1)
    unknown = "" if all(own is not None for own in known) else HIDDEN
    grid = [[marks.get((r, c), unknown) for c in columns] for r in rows]
    moves = {f"{r - 1},{c - 1}": k for k, (r, c) in enumerate(free)} if (free := _free(start, known)) else {}
    return {
        "kind": "grid", "rows": list(map(str, rows)), "columns": list(map(str, columns)), "cells": grid, "moves": moves,
        **start.board,
    }  # fmt: skip


def _free(start: PhantomState, known: Known) -> list[tuple[int, int]]:
    """The cells that the one player may try whose knowledge is shown."""
    shown = [own for own in known if own is not None]
    if len(shown) != 1:
        return []
    tried = {move for move, _ in shown[0]}
    return [cell for cell in cells(start.rows, start.columns) if cell not in tried]


def told(rules: Rules, player: int, token: Token, before: InformationState) -> str:
    """An own stone, or a cell that was taken."""
    row, column = cast("tuple[int, int]", token[0])
    return f"you try {row},{column}: {'it is taken' if token[1] == TAKEN else 'your stone'}"


def phantom_rules(name: str, first: PhantomState) -> PhantomRules:
    """The game that starts like this."""
    return PhantomRules(name, seats(PLAYERS), Observed(first, (None, None)), Look(picture, told))
