"""A decision of a hold'em solution as one player sees it: its hands with reach, strategy, value and equity."""

from __future__ import annotations

from dataclasses import dataclass, field

from infoset.base import FloatArray


@dataclass(frozen=True, eq=False)
class HandTable:
    """The hands of one player at a node of the public tree, in the order of the player's range.

    All values are in chips, measured like the game's payoffs.  ``actions`` is empty for the player who does not move.
    """

    player: int
    hands: tuple[str, ...]
    """(H,) names such as ``AhKd``, the higher card first."""
    weights: FloatArray = field(repr=False)
    """(H,) the range weight of each hand times the probabilities of the player's own actions so far."""
    actions: tuple[str, ...]
    strategy: FloatArray = field(repr=False)
    """(H, A) the probability of each action."""
    ev: FloatArray = field(repr=False)
    """(H,) the expected payoff with each hand from here on; not a number where the opponent cannot hold any hand."""
    ev_actions: FloatArray = field(repr=False)
    """(H, A) the same after each action."""
    equity: FloatArray = field(repr=False)
    """(H,) the share of the pot won at the showdown if nobody bet any more."""
    board: tuple[str, ...]
    pot: float
    """The chips in the middle, bets of this street included."""
