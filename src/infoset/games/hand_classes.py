"""Names of hold'em hands: the 169 classes before the flop, and on a board the made hand and the draws.

Cards are numbered ``4 * rank + suit`` as in ``poker_hands``, and a board has three to five of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from infoset.errors import ParameterError
from infoset.games.poker_hands import RANKS, hand_name

Cards = Sequence[int]

STRAIGHT_FLUSH, QUADS, FULL_HOUSE, FLUSH, STRAIGHT = "straight flush", "quads", "full house", "flush", "straight"
SET, TRIPS, TWO_PAIR, OVERPAIR, TOP_PAIR = "set", "trips", "two pair", "overpair", "top pair"
SECOND_PAIR, LOW_PAIR, UNDERPAIR, ACE_HIGH, NOTHING = "second pair", "low pair", "underpair", "ace high", "nothing"
MADE_HANDS = (
    STRAIGHT_FLUSH, QUADS, FULL_HOUSE, FLUSH, STRAIGHT, SET, TRIPS, TWO_PAIR, OVERPAIR, TOP_PAIR, SECOND_PAIR,
    LOW_PAIR, UNDERPAIR, ACE_HIGH, NOTHING,
)  # fmt: skip
"""The made hands from the strongest to the weakest; ``made_hand`` defines them."""

COMBO_DRAW, NUT_FLUSH_DRAW, FLUSH_DRAW = "combo draw", "nut flush draw", "flush draw"
OPEN_ENDED, GUTSHOT, BACKDOOR = "open-ended straight draw", "gutshot", "backdoor flush draw"
DRAWS = (COMBO_DRAW, NUT_FLUSH_DRAW, FLUSH_DRAW, OPEN_ENDED, GUTSHOT, BACKDOOR)
"""The draws from the strongest to the weakest; ``draws`` defines them."""
NO_DRAW = "no draw"

_STRAIGHTS = [0b11111 << low for low in range(len(RANKS) - 3)]
"""Bits of the ranks of each straight, from the one that an ace begins; bit 0 and bit 13 are the ace."""


def class_name(hand: Cards) -> str:
    """Return the name of a hand's class, one of 169: ``AKs`` suited, ``AKo`` offsuit, ``TT`` a pair.

    >>> from infoset.games.hand_classes import class_name
    >>> class_name((51, 47)), class_name((47, 48)), class_name((33, 32))
    ('AKs', 'AKo', 'TT')
    """
    low, high = sorted(hand)
    suffix = "" if low // 4 == high // 4 else "s" if low % 4 == high % 4 else "o"
    return f"{RANKS[high // 4]}{RANKS[low // 4]}{suffix}"


def class_cell(hand: Cards) -> tuple[int, int]:
    """Return the row and column of a hand in the matrix of 13 by 13 classes, aces first, suited above the diagonal."""
    high, low = sorted(len(RANKS) - 1 - card // 4 for card in hand)
    return (high, low) if hand[0] % 4 == hand[1] % 4 else (low, high)


def cell_name(row: int, column: int) -> str:
    """Return the class in a cell of the matrix, aces first: ``AKs`` above the diagonal, ``AKo`` below it."""
    ranks = RANKS[::-1]
    high, low = ranks[min(row, column)], ranks[max(row, column)]
    return f"{high}{low}{'' if row == column else 's' if row < column else 'o'}"


def made_hand(hand: tuple[int, ...], board: tuple[int, ...]) -> str:
    """Return what a hand has made on a board of three to five cards, one of ``MADE_HANDS``.

    Straight flush, quads, full house, flush, straight: the best five of all cards, even if all of them are on the
    board.  Set: three of a kind with a pocket pair; trips: any other three of a kind.

    Of pairs, only those that a card of the hand belongs to and that are among the two best pairs of all cards count,
    so that neither a pair on the board nor a counterfeited one does:

    - two pair: both cards of the hand pair different ranks of the board;
    - overpair: a pocket pair above all cards of the board;
    - top pair: a pair with the highest rank of the board;
    - second pair: a pair with its second rank, or a pocket pair between its first and second rank;
    - low pair: a pair with a lower rank of the board, or a pocket pair between its second and its lowest rank;
    - underpair: a pocket pair below all cards of the board.

    Ace high: an ace in the hand and no pair that counts; nothing: the rest.  Raises ``ParameterError`` for other
    numbers of cards and for a card that occurs twice.

    >>> from infoset.games.hand_classes import made_hand
    >>> from infoset.games.poker_hands import cards_of
    >>> board = cards_of("QsQh7h", "board")
    >>> [made_hand(cards_of(hand, "hand"), board) for hand in ("KcKd", "Ah7c", "QcJd", "AhKh")]
    ['overpair', 'second pair', 'trips', 'ace high']
    """
    _check(hand, board)
    cards = (*hand, *board)
    counts = [0] * len(RANKS)
    for card in cards:
        counts[card // 4] += 1
    most, flush = max(counts), _flush_suit(cards)
    is_pair = hand[0] // 4 == hand[1] // 4
    found = (
        (STRAIGHT_FLUSH, flush is not None and _has_straight([card for card in cards if card % 4 == flush])),
        (QUADS, most == 4),
        (FULL_HOUSE, most == 3 and sum(count > 1 for count in counts) > 1),
        (FLUSH, flush is not None),
        (STRAIGHT, _has_straight(cards)),
        (SET, most == 3 and is_pair and counts[hand[0] // 4] == 3),
        (TRIPS, most == 3),
    )
    return next((name for name, made in found if made), None) or _pair(hand, board, counts)


def _pair(hand: tuple[int, ...], board: tuple[int, ...], counts: list[int]) -> str:
    """Return the made hand of a hand with pairs at most."""
    best_pairs = [rank for rank in reversed(range(len(RANKS))) if counts[rank] == 2][:2]
    own = sorted({card // 4 for card in hand}.intersection(best_pairs))
    if len(own) == 2:
        return TWO_PAIR
    if not own:
        return ACE_HIGH if any(card // 4 == len(RANKS) - 1 for card in hand) else NOTHING
    ranks = sorted({card // 4 for card in board}, reverse=True)
    above = sum(rank > own[0] for rank in ranks)
    if own[0] not in ranks:
        return OVERPAIR if above == 0 else UNDERPAIR if above == len(ranks) else SECOND_PAIR if above == 1 else LOW_PAIR
    return TOP_PAIR if above == 0 else SECOND_PAIR if above == 1 else LOW_PAIR


def draws(hand: tuple[int, ...], board: tuple[int, ...]) -> tuple[str, ...]:
    """Return all draws of a hand on a flop or turn, the strongest first, from ``DRAWS``; none on the river.

    Only draws to more than what is made count: flush draws below a flush, straight draws below a straight.

    - flush draw: four cards of a suit, at least one of them in the hand; nut flush draw: a flush draw with the highest
      card of the suit that is not on the board (it is a flush draw as well);
    - backdoor flush draw: both cards of the hand and one of the flop of one suit;
    - open-ended straight draw: at least two ranks complete a straight that needs a card of the hand, so also a double
      gutshot; gutshot: exactly one rank does;
    - combo draw: a flush draw with an open-ended straight draw or a gutshot.

    Raises what ``made_hand`` raises.

    >>> from infoset.games.hand_classes import draws
    >>> from infoset.games.poker_hands import cards_of
    >>> board = cards_of("QsJh7h", "board")
    >>> [draws(cards_of(hand, "hand"), board) for hand in ("9h8h", "Tc9c", "As2s", "AcQd")]
    [('combo draw', 'flush draw', 'gutshot'), ('open-ended straight draw',), ('backdoor flush draw',), ()]
    """
    made = MADE_HANDS.index(made_hand(hand, board))
    if len(board) == 5:
        return ()
    found = []
    if made > MADE_HANDS.index(FLUSH):
        found += _flush_draws(hand, board)
    if made > MADE_HANDS.index(STRAIGHT):
        completing = _completing_ranks(hand, board)
        found += [OPEN_ENDED] if completing > 1 else [GUTSHOT] if completing else []
    if FLUSH_DRAW in found and (OPEN_ENDED in found or GUTSHOT in found):
        found.append(COMBO_DRAW)
    return tuple(sorted(found, key=DRAWS.index))


def _flush_draws(hand: tuple[int, ...], board: tuple[int, ...]) -> list[str]:
    for suit in {card % 4 for card in hand}:
        own = [card for card in hand if card % 4 == suit]
        open_cards = [card for card in board if card % 4 == suit]
        if len(own) + len(open_cards) == 4:
            closed = [card for card in range(suit, 4 * len(RANKS), 4) if card not in open_cards]
            return [FLUSH_DRAW, NUT_FLUSH_DRAW] if max(own) == closed[-1] else [FLUSH_DRAW]
        if len(board) == 3 and len(own) == 2 and len(open_cards) == 1:
            return [BACKDOOR]
    return []


def _completing_ranks(hand: tuple[int, ...], board: tuple[int, ...]) -> int:
    """Return how many ranks complete a straight that is not on the board alone."""
    every, open_ranks = _rank_bits((*hand, *board)), _rank_bits(board)
    found = 0
    for rank in range(len(RANKS)):
        one = _rank_bits((4 * rank,))
        found += any(
            (every | one) & straight == straight and (open_ranks | one) & straight != straight
            for straight in _STRAIGHTS
        )
    return found


def _check(hand: tuple[int, ...], board: tuple[int, ...]) -> None:
    if len(hand) != 2 or not 3 <= len(board) <= 5:
        raise ParameterError(f"a hand of {len(hand)} cards on a board of {len(board)}; allowed: 2, on 3 to 5")
    if len({*hand, *board}) < len(hand) + len(board):
        raise ParameterError(f"{hand_name(hand)} on {hand_name(board)}: a card occurs twice")


def _flush_suit(cards: Cards) -> int | None:
    suits = [card % 4 for card in cards]
    return next((suit for suit in range(4) if suits.count(suit) >= 5), None)


def _rank_bits(cards: Cards) -> int:
    """Return the ranks as bits 1 to 13; an ace is bit 0 as well."""
    bits = 0
    for card in cards:
        bits |= 2 << card // 4
    return bits | bits >> len(RANKS)


def _has_straight(cards: Cards) -> bool:
    bits = _rank_bits(cards)
    return any(bits & straight == straight for straight in _STRAIGHTS)
