"""A decision of a hold'em solution as one player sees it: its hands with reach, strategy, value and equity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from infoset.base import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class HandTable:
    """The hands of one player at a node of the public tree, in the order of the player's range.

    All values are in chips, measured like the game's payoffs.  ``actions`` is empty for the player who does not move.
    Values that are unknown are not numbers.
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
    invested: float | None = None
    """The player's own chips among them, by which a payoff is less than what is won of the pot; ``None``: half."""
    probabilities: FloatArray | None = field(default=None, repr=False)
    """(H,) the probability that the game reaches this node with each hand; ``None`` where unknown."""
    where: str = ""
    """The actions before, such as ``after check, bet 50``."""

    @property
    def probability(self) -> float:
        """The probability that the game reaches this node; not a number where unknown."""
        return float("nan") if self.probabilities is None else float(self.probabilities.sum())

    @property
    def shares(self) -> FloatArray:
        """(H,) the probability of each hand at this node, which sums to 1; zeros where the node is never reached.

        By weights alone, without regard to the opponent's cards, where ``probabilities`` are unknown.
        """
        known = self.weights if self.probabilities is None else self.probabilities
        total = known.sum()
        return known / total if total > 0 else np.zeros(len(self.hands))

    @property
    def pot_shares(self) -> FloatArray:
        """(H,) the expected part of the pot that each hand wins, 1 for all of it; more where later bets are won."""
        invested = self.pot / 2 if self.invested is None else self.invested
        return (self.ev + invested) / self.pot

    @property
    def realised(self) -> FloatArray:
        """(H,) the part of its equity that each hand realises: its expected part of the pot by its equity."""
        return self.pot_shares / np.where(self.equity > 0, self.equity, np.nan)

    def take(self, places: BoolArray | IntArray | Sequence[int]) -> HandTable:
        """Return the table of some of the hands, given by their places or by a mask."""
        chosen = np.arange(len(self.hands))[np.asarray(places, dtype=None if len(places) else np.int32)]
        return replace(
            self,
            hands=tuple([self.hands[k] for k in chosen]),
            weights=self.weights[chosen],
            strategy=self.strategy[chosen],
            ev=self.ev[chosen],
            ev_actions=self.ev_actions[chosen],
            equity=self.equity[chosen],
            probabilities=None if self.probabilities is None else self.probabilities[chosen],
        )
