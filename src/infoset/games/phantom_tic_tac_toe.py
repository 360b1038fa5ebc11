"""Phantom tic-tac-toe, as in OpenSpiel (``phantom_ttt``): players do not see each other's marks."""

from __future__ import annotations

from functools import cache

from infoset.games.phantom_board import CellLayout, Masks, PhantomRules, PhantomState, phantom_rules
from infoset.names import full_name

SIDE = 3
FULL = (1 << SIDE * SIDE) - 1
LINES = (0b111, 0b111000, 0b111000000, 0b1001001, 0b10010010, 0b100100100, 0b100010001, 0b1010100)


WON = tuple([any(own & line == line for line in LINES) for own in range(FULL + 1)])
"""Whether a player has won, by the bit mask of its marks."""


class TicTacToeState(PhantomState):
    """A state of tic-tac-toe: three marks in a line win; a full board is a draw."""

    __slots__ = ()
    layout = CellLayout(entries=3, step=1, empty=0, stones=(2 * SIDE**2, SIDE**2), boxed=True)

    def decided(self, stones: Masks) -> tuple[float, ...] | None:
        if WON[stones[self.mover]]:
            return (1.0, -1.0) if self.mover == 0 else (-1.0, 1.0)
        return (0.0, 0.0) if stones[0] | stones[1] == FULL else None


@cache
def phantom_tic_tac_toe(abrupt: bool = False) -> PhantomRules:
    """Phantom tic-tac-toe: a player learns that a cell is taken by trying it; with ``abrupt`` that ends the turn.

    >>> infoset.load("phantom_tic_tac_toe").start().state.legal_actions(0)[:2]
    ((1, 1), (1, 2))
    """
    name = full_name("phantom_tic_tac_toe", phantom_tic_tac_toe, abrupt=abrupt)
    return phantom_rules(name, TicTacToeState(SIDE, SIDE, abrupt, (0, 0), (0, 0), 0))
