"""The cards that may come next at a node of a hold'em solution, and what each changes for one player."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from infoset.base import FloatArray
from infoset.errors import ParameterError
from infoset.games.poker_hands import cards_of
from infoset.hand_groups import group_of
from infoset.hand_table import HandTable


@dataclass(frozen=True, eq=False)
class NextCards:
    """For each card that may come next: the mean value of a player's range, and the actions at its next decision."""

    player: int
    board: tuple[str, ...]
    before: float
    """The mean expected payoff before the card, in chips."""
    cards: tuple[str, ...]
    """(C,) names such as ``Ah``."""
    ev: FloatArray = field(repr=False)
    """(C,) the mean expected payoff after each card; not a number where unknown."""
    actions: tuple[str, ...]
    """The actions at the player's next decision; empty where it has none."""
    frequencies: FloatArray = field(repr=False)
    """(C, A) the probability of each action after each card."""

    @property
    def changes(self) -> FloatArray:
        """(C,) what each card adds to the mean expected payoff, in chips."""
        return self.ev - self.before


def summarise_next_cards(before: HandTable, after: Mapping[str, HandTable]) -> NextCards:
    """Return what each card changes, from the table before it and the player's table after each card.

    Raises ``ParameterError`` for invalid cards, and where tables are of different players or actions.
    """
    for card in after:
        if len(cards_of(card, "next card")) != 1 or card in before.board:
            raise ParameterError(f"next card {card!r}: it is no single card, or on the board {''.join(before.board)}")
    if len({(table.player, table.actions) for table in after.values()}) > 1 or not after:
        raise ParameterError("next cards: a table for at least one card is needed, all of one player and its actions")
    groups = [group_of(table) for table in after.values()]
    first = next(iter(after.values()))
    if first.player != before.player:
        raise ParameterError(f"next cards: tables of player {first.player}, and of {before.player} before the card")
    return NextCards(
        before.player, before.board, group_of(before).ev, tuple(after), np.array([group.ev for group in groups]),
        first.actions, np.array([group.frequencies for group in groups]),
    )  # fmt: skip
