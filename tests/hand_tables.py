"""Tables of hands for tests: a board, a range, and figures that are easy to check."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from infoset.base import FloatArray
from infoset.games.hand_strengths import hand_strengths
from infoset.games.poker_hands import card_name, cards_of, hand_name, parse_range
from infoset.hand_table import HandTable


def hand_table(
    board: str = "Td9d6h", hands: str = "22+ A2s+ KTs+ QTs+ J9s+ T8s+ 98s 87s 76s 65s ATo+ KJo+ QJo", **more: object
) -> HandTable:
    """Return a table of a range where stronger hands have more equity, bet more often and win more."""
    cards = cards_of(board, "board")
    own = parse_range(hands, cards, "hands")
    strengths = hand_strengths(cards, list(own))
    order = np.searchsorted(np.sort(strengths), strengths, side="left") + np.searchsorted(
        np.sort(strengths), strengths, side="right"
    )
    equity: FloatArray = 0.1 + 0.85 * order / (2 * len(own))
    pot, invested = 150.0, 50.0
    largest = np.clip(3 * equity - 2, 0, 1)
    smaller = np.clip(1.5 * equity - 0.4, 0, 1) * (1 - largest)
    fold = np.clip(1 - 3 * equity, 0, 1)
    rest = 1 - fold
    strategy = np.stack([fold, rest * (1 - largest - smaller), rest * smaller, rest * largest], axis=1)
    call = pot * (1.1 * equity - 0.1) - invested
    ev_actions = np.stack(
        [np.full(len(own), -invested), call, call + 20 * (equity - 0.5), call + 40 * (equity - 0.6)], axis=1
    )
    values: dict[str, object] = {
        "player": 0, "hands": tuple(map(hand_name, own)), "weights": np.array(list(own.values())),
        "actions": ("fold", "call", "raise 150", "raise 400"), "strategy": strategy,
        "ev": (strategy * ev_actions).sum(axis=1), "ev_actions": ev_actions, "equity": equity,
        "board": tuple(board[k : k + 2] for k in range(0, len(board), 2)), "pot": pot, "invested": invested,
        "where": "after check, bet 50",
    }  # fmt: skip
    return HandTable(**{**values, **more})  # type: ignore[arg-type]


def tables_after(before: HandTable) -> dict[str, HandTable]:
    """Return the table of the same range after each card that may come next on a board."""
    board, found = "".join(before.board), {}
    cards = cards_of(board, "board")
    for number in range(52):
        if number not in cards:
            card = card_name(number)
            after = hand_table(board + card, actions=("check", "bet 50", "bet 100", "bet 250"))
            change = 12 - 1.5 * (number // 4) - 9 * (card[1] == "d")
            betting = np.clip(after.equity + change / 20, 0, 1)
            strategy = np.stack(
                [1 - betting, betting**2 / 2, betting / 2 - betting**2 / 3, betting / 2 - betting**2 / 6], axis=1
            )
            found[card] = replace(after, ev=after.ev + change, strategy=strategy / strategy.sum(axis=1, keepdims=True))
    return found
