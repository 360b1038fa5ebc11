"""Exact equity: the share of the pot that hands win on average at a showdown, if nobody bets any more.

On each board that may come, one pass over both players' hands in order of strength sums the weights that a hand beats,
in total and by card; those of hands that share a card with it are subtracted.  A board costs time proportional to the
number of hands.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import FloatArray, IntArray, LongArray
from infoset.errors import ParameterError
from infoset.games.hand_strengths import DECK, hand_strengths, strengths_on_boards
from infoset.jit import kernel, linked_kernel

CARDS_ON_RIVER = 5
BOARDS_AT_ONCE = 256
"""The number of boards whose strengths are in memory at the same time."""


class Showdowns(NamedTuple):
    """The weights, for each hand, of the opponent's hands summed over all boards: won (ties count half), and met."""

    won: FloatArray  # (H,)
    met: FloatArray  # (H,)


def range_equity(
    board: npt.ArrayLike, hands: npt.ArrayLike, opponent_hands: npt.ArrayLike, opponent_weights: npt.ArrayLike
) -> FloatArray:
    """Return (H,) the equity, 0 to 1, of hands (H, 2) against the opponent's hands (O, 2) with their weights (O,).

    The board has three to five cards, and all cards that may come are tried.  Hands of the opponent that share a card
    with a hand or with the board do not count, and ties count half.  The equity is not a number (nan) for hands that
    share a card with the board and where the opponent cannot hold any hand.

    >>> from infoset.games.equity import range_equity
    >>> from infoset.games.poker_hands import cards_of
    >>> board, *hands = (cards_of(cards, "cards") for cards in ("QsJh2h", "AhKh", "QdQc"))
    >>> range_equity(board, hands[:1], hands[1:], [1.0]).round(4).tolist()
    [0.3293]
    """
    won, met = add_up_showdowns(board, hands, opponent_hands, opponent_weights)
    equity = np.full(len(won), np.nan)
    np.divide(won, met, out=equity, where=met > 0)
    return equity


def range_against_range(
    board: npt.ArrayLike,
    hands: npt.ArrayLike,
    weights: npt.ArrayLike,
    opponent_hands: npt.ArrayLike,
    opponent_weights: npt.ArrayLike,
) -> float:
    """Return the equity of a whole range with weights (H,) against another; nan where no two hands fit together."""
    won, met = add_up_showdowns(board, hands, opponent_hands, opponent_weights)
    own = np.asarray(weights, np.float64)
    total = float(own @ met)
    return float(own @ won) / total if total > 0 else float("nan")


def add_up_showdowns(
    board: npt.ArrayLike, hands: npt.ArrayLike, opponent_hands: npt.ArrayLike, opponent_weights: npt.ArrayLike
) -> Showdowns:
    """Return the weights that each hand wins against and meets, summed over all boards that may come."""
    own, other = _hand_array(hands), _hand_array(opponent_hands)
    weights = np.asarray(opponent_weights, np.float64)
    if weights.shape != (len(other),):
        raise ParameterError(f"{len(other)} hands of the opponent with weights of shape {weights.shape}")
    if not (weights >= 0).all():
        raise ParameterError(f"a weight of {weights[~(weights >= 0)][0]}; allowed: 0 and positive numbers")
    hand_strengths(board, own)  # checks the cards
    result = Showdowns(np.zeros(len(own)), np.zeros(len(own)))
    boards = _complete_boards(np.asarray(board, np.int64))
    for first in range(0, len(boards), BOARDS_AT_ONCE):
        some = boards[first : first + BOARDS_AT_ONCE]
        strengths, others = strengths_on_boards(some, own), strengths_on_boards(some, other)
        _add_showdowns(
            own, strengths, _in_order(strengths), other, others, _in_order(others), weights, result.won, result.met
        )
    meets = _count_opponents(np.asarray(board, np.int64), own, other[weights > 0]) > 0
    return Showdowns(np.clip(result.won * meets, 0.0, result.met), result.met * meets)


def _count_opponents(board: LongArray, hands: LongArray, others: LongArray) -> LongArray:
    """Return (H,) the number of the other hands that share no card with a hand or the board, 0 if the hand does.

    Unlike sums of weights, from which rounding may leave a trace, the number is exact.
    """
    others = others[~np.isin(others, board).any(axis=1)]
    by_card = np.bincount(others.ravel(), minlength=DECK)
    same = np.zeros((DECK, DECK), np.int64)
    np.add.at(same, (others, others[:, ::-1]), 1)
    one, two = hands.T
    found: LongArray = len(others) - by_card[one] - by_card[two] + same[one, two]
    return np.where(np.isin(hands, board).any(axis=1), 0, found)


def _hand_array(hands: npt.ArrayLike) -> LongArray:
    return np.ascontiguousarray(np.asarray(hands, np.int64).reshape(-1, 2))


def _complete_boards(board: LongArray) -> LongArray:
    """Return (B, 5) the boards of five cards that begin with these cards."""
    left = np.setdiff1d(np.arange(DECK), board)
    rest = np.array(list(combinations(left.tolist(), CARDS_ON_RIVER - len(board))), np.int64)
    return np.column_stack([np.tile(board, (len(rest), 1)), rest])


def _in_order(strengths: IntArray) -> LongArray:
    """Return (B, H) the places of hands by strength; strengths fit into 16 bits, which are sorted in linear time."""
    return np.argsort(strengths.astype(np.int16), axis=1, kind="stable")


@kernel
def _add_showdowns(
    hands: LongArray,
    strengths: IntArray,
    order: LongArray,
    others: LongArray,
    other_strengths: IntArray,
    other_order: LongArray,
    weights: FloatArray,
    won: FloatArray,
    met: FloatArray,
) -> None:
    """Add the weights that each hand wins against and meets on each of the boards (B, hands)."""
    same = np.zeros((52, 52))  # the opponent's weight of the very same hand, which is subtracted twice
    for k in range(len(others)):
        one, two = others[k]
        same[one, two] += weights[k]
        same[two, one] += weights[k]
    for b in range(len(order)):
        lower, equal, every = np.zeros(53), np.zeros(53), np.zeros(53)  # by card, and in total
        for k in range(len(others)):
            if other_strengths[b, k] >= 0:
                _add_weight(every, others[k], weights[k])
        place = 0
        previous = -1
        for h in order[b]:
            strength = strengths[b, h]
            if strength < 0:
                continue
            if strength > previous:  # those that tied with the hand before are lower now
                lower += equal
                equal[:] = 0.0
                previous = strength
            while place < len(others) and other_strengths[b, other_order[b, place]] <= strength:
                k = other_order[b, place]
                if other_strengths[b, k] == strength:
                    _add_weight(equal, others[k], weights[k])
                elif other_strengths[b, k] >= 0:
                    _add_weight(lower, others[k], weights[k])
                place += 1
            one, two = hands[h]
            won[h] += lower[52] - lower[one] - lower[two]
            won[h] += (equal[52] - equal[one] - equal[two] + same[one, two]) / 2
            met[h] += every[52] - every[one] - every[two] + same[one, two]


@linked_kernel
def _add_weight(sums: FloatArray, hand: LongArray, weight: float) -> None:
    """Add a hand's weight to the sums by card and in total."""
    sums[hand[0]] += weight
    sums[hand[1]] += weight
    sums[52] += weight
