"""Dark hex, as in OpenSpiel (``dark_hex``): players do not see each other's stones."""

from __future__ import annotations

from functools import cache, lru_cache

from infoset.games.phantom_board import CellLayout, Masks, PhantomRules, PhantomState, cells, phantom_rules
from infoset.names import check_range, full_name

MOST = 6
NEIGHBOURS = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))


class HexState(PhantomState):
    """A state of hex: the first player wins by joining the first row to the last, the second by the columns."""

    __slots__ = ()
    board = {"hexagons": 1, "title": "x joins top and bottom, o left and right"}  # noqa: RUF012  # never changed
    layout = CellLayout(entries=9, step=9, empty=4, stones=(5, 3))  # the others say which side a stone is joined to

    def decided(self, stones: Masks) -> tuple[float, ...] | None:
        if not joined(self.rows, self.columns, stones[self.mover], self.mover):
            return None
        return (1.0, -1.0) if self.mover == 0 else (-1.0, 1.0)


@lru_cache(maxsize=1 << 16)
def joined(rows: int, columns: int, stones: int, player: int) -> bool:
    """Return whether a player's stones, one bit for each cell, join both of its sides."""
    begin, end, beside = _sides(rows, columns)[player] + (_neighbours(rows, columns),)
    reached = stones & begin
    grown = 0
    while reached != grown:
        grown = reached
        for k, around in enumerate(beside):
            if grown >> k & 1:
                reached |= around & stones
    return bool(reached & end)


@cache
def _neighbours(rows: int, columns: int) -> tuple[int, ...]:
    """Return the bit mask of each cell's neighbours."""
    place = {cell: k for k, cell in enumerate(cells(rows, columns))}
    return tuple(
        [sum(1 << place[r + dr, c + dc] for dr, dc in NEIGHBOURS if (r + dr, c + dc) in place) for r, c in place]
    )


@cache
def _sides(rows: int, columns: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the bit masks of each player's first and last side."""
    top, left = (1 << columns) - 1, sum(1 << columns * r for r in range(rows))
    return (top, top << columns * (rows - 1)), (left, left << columns - 1)


@cache
def dark_hex(rows: int = 3, columns: int = 3, abrupt: bool = False) -> PhantomRules:
    """Dark hex: a player learns that a cell is taken by trying it; with ``abrupt`` that ends the turn.

    >>> infoset.load("dark_hex(rows=2,columns=2)").start().state.legal_actions(0)
    ((1, 1), (1, 2), (2, 1), (2, 2))
    """
    check_range("dark_hex: rows", rows, 1, MOST)
    check_range("dark_hex: columns", columns, 1, MOST)
    name = full_name("dark_hex", dark_hex, rows=rows, columns=columns, abrupt=abrupt)
    return phantom_rules(name, HexState(rows, columns, abrupt, (0, 0), (0, 0), 0))
