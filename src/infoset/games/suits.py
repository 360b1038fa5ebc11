"""Suit isomorphism: cards that a permutation of the suits makes equal lead to equal games, and are solved once.

A permutation counts only if it leaves the public cards and both players' ranges as they are.  Cards are dealt in public
order: the permutations of a flop are found first, then of these the ones that fix the turn card apply to the river.
Cards are numbered ``4 * rank + suit``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from typing import NamedTuple, TypeAlias

import numpy as np

from infoset.base import FloatArray, LongArray
from infoset.errors import ParameterError

SuitPermutation: TypeAlias = tuple[int, ...]
"""The image of each of the four suits."""

DECK = 52
IDENTITY: SuitPermutation = (0, 1, 2, 3)
ALL_PERMUTATIONS: tuple[SuitPermutation, ...] = tuple(permutations(IDENTITY))
"""The 24 permutations of the suits, the identity first."""


class Member(NamedTuple):
    """A card of a class, and a permutation of the group that maps the representative to it."""

    card: int
    permutation: SuitPermutation


class CardClass(NamedTuple):
    """Cards that lead to equal games: the representative, and all members, itself first with the identity."""

    representative: int
    members: tuple[Member, ...]


def permute_card(card: int, permutation: SuitPermutation) -> int:
    """Return the image of a card."""
    return card - card % 4 + permutation[card % 4]


def permute_hand(hand: Iterable[int], permutation: SuitPermutation) -> tuple[int, ...]:
    """Return the image of a hand, the high card first."""
    return tuple(sorted([permute_card(card, permutation) for card in hand], reverse=True))


def canonical_cards(cards: Iterable[int]) -> tuple[int, ...]:
    """Return the greatest of all images of some cards, high first: equal for cards that suits alone tell apart.

    The suits are then named s, h, d, c in the order in which the cards need them.

    >>> from infoset.games.poker_hands import cards_of, hand_name
    >>> from infoset.games.suits import canonical_cards
    >>> [hand_name(canonical_cards(cards_of(flop, "flop"))) for flop in ("2d9hKc", "Ks2s9h", "7c7d2d")]
    ['Ks9h2d', 'Ks9h2s', '7s7h2s']
    """
    hand = tuple(cards)
    return max(permute_hand(hand, permutation) for permutation in ALL_PERMUTATIONS)


def suit_permutations(
    board: Iterable[int], ranges: Iterable[Mapping[tuple[int, ...], float]]
) -> tuple[SuitPermutation, ...]:
    """Return the group of permutations that keep the set of board cards and the weights of each range, identity first.

    Weights are compared exactly, and those of hands that share a card with the board do not matter.

    >>> from infoset.games.poker_hands import cards_of, parse_range
    >>> from infoset.games.suits import suit_permutations
    >>> board = cards_of("Td9d6h", "board")                     # clubs are 0, diamonds 1, hearts 2, spades 3
    >>> suit_permutations(board, [parse_range("QQ+ AK", board, "one"), parse_range("JTs", board, "two")])
    ((0, 1, 2, 3), (3, 1, 2, 0))
    >>> suit_permutations(board, [parse_range("AsKs", board, "one"), parse_range("JTs", board, "two")])
    ((0, 1, 2, 3),)
    """
    cards = {*board}
    weights = [_weight_matrix(hands, cards) for hands in ranges]
    return tuple(
        [
            permutation
            for permutation in ALL_PERMUTATIONS
            if {permute_card(card, permutation) for card in cards} == cards
            and all(np.array_equal(own[_images(permutation)][:, _images(permutation)], own) for own in weights)
        ]
    )


def fix_card(permutations: Iterable[SuitPermutation], card: int) -> tuple[SuitPermutation, ...]:
    """Return the subgroup that maps a card to itself: the symmetries that are left after it was dealt."""
    return tuple([permutation for permutation in permutations if permute_card(card, permutation) == card])


def card_classes(dealt: Iterable[int], permutations: Sequence[SuitPermutation]) -> tuple[CardClass, ...]:
    """Return the classes of the next card: the orbits, under a group, of the cards that were not dealt yet.

    ``permutations`` is a group that keeps the dealt cards as they are in public order: of ``suit_permutations`` for the
    first ones, restricted by ``fix_card`` to each later one.  Classes and members are in the order of their cards.

    >>> from infoset.games.poker_hands import cards_of
    >>> from infoset.games.suits import ALL_PERMUTATIONS, card_classes, suit_permutations
    >>> board = cards_of("Td9d6d", "board")
    >>> len(card_classes(board, suit_permutations(board, [])))                # 10 diamonds, and 13 ranks of other suits
    23
    """
    left = set(range(DECK)).difference(dealt)
    classes = []
    for card in range(DECK):
        if card in left:
            found: dict[int, SuitPermutation] = {}
            for permutation in permutations:
                found.setdefault(permute_card(card, permutation), permutation)
            if not left.issuperset(found):
                raise ParameterError(f"permutations {permutations} of suits do not keep the dealt cards as they are")
            left.difference_update(found)
            classes.append(CardClass(card, tuple([Member(image, found[image]) for image in sorted(found)])))
    return tuple(classes)


def hand_images(hands: Sequence[Sequence[int]], permutation: SuitPermutation) -> LongArray:
    """Return (H,) the place of each hand's image among the hands.

    With values by hand after a representative was dealt, those after a member of its class are
    ``member[hand_images(hands, permutation)] = representative``.  Raises ``ParameterError`` where an image is missing.
    """
    places = np.full((DECK, DECK), -1, np.int64)
    one, two = np.asarray(hands, np.int64).reshape(-1, 2).T
    places[one, two] = places[two, one] = np.arange(len(one))
    image = _images(permutation)
    found: LongArray = places[image[one], image[two]]
    if (found < 0).any():
        raise ParameterError(f"the permutation {permutation} of suits does not keep the hands as they are")
    return found


def _images(permutation: SuitPermutation) -> LongArray:
    """Return (52,) the images of all cards."""
    return np.array([permute_card(card, permutation) for card in range(DECK)])


def _weight_matrix(hands: Mapping[tuple[int, ...], float], board: set[int]) -> FloatArray:
    """Return (52, 52) the weights of hands by both of their cards, 0 for those that share a card with the board."""
    weights = np.zeros((DECK, DECK))
    for (one, two), weight in hands.items():
        if one not in board and two not in board:
            weights[one, two] = weights[two, one] = weight
    return weights
