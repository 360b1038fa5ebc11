"""Strengths of poker hands: the 7,462 classes of five cards, for many hands on many boards at once.

On one board the strength of a hand depends on the ranks of its two cards and, where a flush is possible, on which of
the two are of that suit.  Both are tabulated once a board, for 91 pairs of ranks, so that a hand costs two look-ups.
Kickers are numbered in the combinatorial number system: sets of ranks are ordered by their highest rank, then by the
next one, and so on.  Cards are numbered ``4 * rank + suit``.
"""

from __future__ import annotations

from math import comb

import numpy as np
import numpy.typing as npt

from infoset.base import IntArray, LongArray
from infoset.errors import ParameterError
from infoset.jit import inner_kernel, kernel

DECK, HIGHEST_RANK = 52, 12
KINDS = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)
"""The kinds of hands, the weakest one first."""
CLASSES = (1277, 2860, 858, 858, 10, 1277, 156, 156, 10)
"""The number of strengths of each kind, 7,462 in all."""
FIRST = tuple([sum(CLASSES[:kind]) for kind in range(len(CLASSES))])
"""The lowest strength of each kind."""
BLOCKED = -1
"""The strength of a hand that shares a card with the board."""

_PAIR, _TWO_PAIR, _THREE, _STRAIGHT, _FLUSH, _FULL_HOUSE, _FOUR, _STRAIGHT_FLUSH = FIRST[1:]
_CHOOSE = np.array([[comb(n, k) for k in range(6)] for n in range(HIGHEST_RANK + 1)])
"""(13, 6) binomial coefficients."""
_STRAIGHTS = np.array([comb(top + 1, 5) - 1 for top in range(4, 12)] + [comb(12, 5), comb(13, 5) - 1])
"""(10,) the numbers of the straights among the sets of five ranks: 6 to K high, 5 high (with an ace), A high."""
_OTHER_SUIT = 13
"""The rank that stands for a card that is not of the flush's suit."""


def hand_strengths(board: npt.ArrayLike, hands: npt.ArrayLike) -> IntArray:
    """Return (H,) the strengths of hands (H, 2) on a board of three to five cards.

    A strength is 0 to 7,461, of the best five of a hand's and the board's cards: the greater one wins, equal ones tie.
    Hands that share a card with the board get ``BLOCKED``.  Raises ``ParameterError`` for boards of other sizes and for
    cards that do not exist or occur twice.

    >>> from infoset.games.hand_strengths import hand_strengths
    >>> from infoset.games.poker_hands import cards_of
    >>> hands = [cards_of(hand, "hand") for hand in ("AsQs", "AdAh", "7d2c", "KsQd")]
    >>> hand_strengths(cards_of("KsJsTsAc7h", "board"), hands).tolist()        # a straight flush, three aces, a pair
    [7461, 5851, 2595, -1]
    """
    (strengths,) = strengths_on_boards(np.asarray(board)[None], hands)
    return np.asarray(strengths)


def strengths_on_boards(boards: npt.ArrayLike, hands: npt.ArrayLike) -> IntArray:
    """Return (B, H) the strengths of hands (H, 2) on each board (B, 3 to 5), as ``hand_strengths`` does."""
    boards, hands = _cards(boards, "boards", (3, 5)), _cards(hands, "hands", (2, 2))
    strengths = np.empty((len(boards), len(hands)), np.int32)
    _fill_strengths(boards, hands, strengths)
    return strengths


def kinds_of(strengths: IntArray) -> LongArray:
    """Return the kind of each strength as its place in ``KINDS``, −1 for ``BLOCKED``."""
    return np.asarray(np.searchsorted(FIRST, strengths, side="right") - 1, dtype=np.int64)


def _cards(cards: npt.ArrayLike, what: str, sizes: tuple[int, int]) -> LongArray:
    """Return rows of distinct cards, each row of a size within ``sizes``, as a contiguous array."""
    array = np.asarray(cards)
    if array.shape == (0,):  # an empty list
        array = np.zeros((0, sizes[0]))
    if array.ndim != 2 or not sizes[0] <= array.shape[1] <= sizes[1]:
        allowed = " to ".join(map(str, sorted({*sizes})))
        raise ParameterError(f"{what} of shape {array.shape}; allowed: rows of {allowed} cards")
    row = np.sort(array, axis=1)
    if array.size and (row.min() < 0 or row.max() >= DECK or (row[:, 1:] == row[:, :-1]).any()):
        raise ParameterError(f"{what}: a card occurs twice or does not exist; allowed: distinct numbers from 0 to 51")
    return np.ascontiguousarray(array, dtype=np.int64)


@kernel
def _fill_strengths(boards: LongArray, hands: LongArray, strengths: IntArray) -> None:
    """Compute the strengths (B, H) of all hands on all boards."""
    plain = np.empty((13, 13), np.int32)  # by the ranks of the two cards
    suited = np.empty((14, 14), np.int32)  # the same for flushes
    for b in range(len(boards)):
        suit = _tabulate_ranks(boards[b], plain)
        if suit >= 0:
            _tabulate_flushes(boards[b], suit, suited)
        on_board = np.zeros(52, np.bool_)
        for card in boards[b]:
            on_board[card] = True
        for h in range(len(hands)):
            one, two = int(hands[h, 0]), int(hands[h, 1])
            strength = int(plain[one >> 2, two >> 2])
            if suit >= 0:
                rank_one = one >> 2 if one & 3 == suit else _OTHER_SUIT
                rank_two = two >> 2 if two & 3 == suit else _OTHER_SUIT
                strength = max(strength, int(suited[rank_one, rank_two]))
            strengths[b, h] = BLOCKED if on_board[one] or on_board[two] else strength


@inner_kernel
def _tabulate_ranks(board: LongArray, plain: IntArray) -> int:
    """Fill the table of strengths without flushes; return the suit of which a flush is possible, −1 for none."""
    ones = twos = threes = fours = 0  # sets of ranks, as bits: those that occur at least so often
    suits = np.zeros(4, np.int64)
    for card in board:
        suits[card & 3] += 1
        bit = 1 << (int(card) >> 2)
        ones, twos, threes, fours = ones | bit, twos | ones & bit, threes | twos & bit, fours | threes & bit
    for first in range(13):
        bit = 1 << first
        with_first = ones | bit, twos | ones & bit, threes | twos & bit, fours | threes & bit
        for second in range(first + 1):
            bit = 1 << second
            plain[first, second] = plain[second, first] = _rank_strength(
                with_first[0] | bit,
                with_first[1] | with_first[0] & bit,
                with_first[2] | with_first[1] & bit,
                with_first[3] | with_first[2] & bit,
            )
    for suit in range(4):
        if suits[suit] >= 3:
            return suit
    return -1


@inner_kernel
def _tabulate_flushes(board: LongArray, suit: int, suited: IntArray) -> None:
    """Fill the table of flushes by the ranks of a hand's cards of the suit, ``BLOCKED`` where there is none."""
    ranks = 0
    for card in board:
        if card & 3 == suit:
            ranks |= 1 << (int(card) >> 2)
    for first in range(14):
        for second in range(first + 1):
            own = (ranks | 1 << first | 1 << second) & 0x1FFF
            suited[first, second] = suited[second, first] = _flush_strength(own)


@inner_kernel
def _flush_strength(ranks: int) -> int:
    """Return the strength of a set of ranks of one suit, ``BLOCKED`` for fewer than five."""
    size = 0
    for rank in range(13):
        size += ranks >> rank & 1
    if size < 5:
        return BLOCKED
    straight = _best_straight(ranks)
    if straight >= 0:
        return _STRAIGHT_FLUSH + straight
    return _FLUSH + _number_without_straights(ranks)


@inner_kernel
def _rank_strength(ones: int, twos: int, threes: int, fours: int) -> int:
    """Return the strength by ranks alone, from the sets of ranks that occur at least once, twice and so on."""
    if fours:
        four = _highest(fours)
        return _FOUR + 12 * four + _number_of_best(ones, 1 << four, 1)
    three, straight = _highest(threes), _best_straight(ones)
    if three >= 0 and twos != 1 << three:
        return _FULL_HOUSE + 12 * three + _number_of_best(twos, 1 << three, 1)
    if straight >= 0:
        return _STRAIGHT + straight
    if three >= 0:
        return _THREE + 66 * three + _number_of_best(ones, 1 << three, 2)
    return _strength_of_pairs(ones, twos)


@inner_kernel
def _strength_of_pairs(ones: int, twos: int) -> int:
    """Return the strength of two pairs, one, or none."""
    pair = _highest(twos)
    if pair < 0:
        return _number_without_straights(ones)
    lower_pair = _highest(twos ^ 1 << pair)
    if lower_pair < 0:
        return _PAIR + 220 * pair + _number_of_best(ones, 1 << pair, 3)
    return _TWO_PAIR + 11 * _number_of_best(twos, 0, 2) + _number_of_best(ones, 1 << pair | 1 << lower_pair, 1)


@inner_kernel
def _number_without_straights(ranks: int) -> int:
    """Number the five best ranks among all sets of five that are no straights, 0 to 1,276."""
    number = _number_of_best(ranks, 0, 5)
    lower = 0
    for straight in _STRAIGHTS:
        lower += int(straight < number)
    return number - lower


@inner_kernel
def _number_of_best(ranks: int, named: int, size: int) -> int:
    """Number the best ranks beside the named ones among all sets of that size, in order of strength from 0."""
    place = 13
    for rank in range(13):
        place -= named >> rank & 1
    number = 0
    for rank in range(12, -1, -1):
        if named >> rank & 1:
            continue
        place -= 1
        if ranks >> rank & 1 and size > 0:
            number += int(_CHOOSE[place, size])
            size -= 1
    return number


@inner_kernel
def _best_straight(ranks: int) -> int:
    """Return the number of the best straight, 0 (five high) to 9, −1 without one."""
    low = ranks << 1 | ranks >> 12  # an ace may be the lowest card as well
    return _highest(low & low >> 1 & low >> 2 & low >> 3 & low >> 4)


@inner_kernel
def _highest(ranks: int) -> int:
    """Return the highest rank of a set, −1 for the empty one."""
    highest = -1
    while ranks:
        ranks >>= 1
        highest += 1
    return highest
