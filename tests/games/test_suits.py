"""Suit isomorphism: groups by hand, and orbits that partition the cards for any board and any ranges."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoset.errors import ParameterError
from infoset.games.poker_hands import Range, card_name, cards_of, parse_range
from infoset.games.suits import (
    ALL_PERMUTATIONS,
    IDENTITY,
    card_classes,
    fix_card,
    hand_images,
    permute_card,
    permute_hand,
    suit_permutations,
)

HANDS = [hand[::-1] for hand in combinations(range(52), 2)]
BOARDS = st.permutations(range(52)).flatmap(lambda deck: st.integers(0, 5).map(lambda size: tuple(deck[:size])))
WEIGHTS = st.sampled_from([0.25, 0.5, 1.0])


@st.composite
def ranges(draw: st.DrawFn) -> Range:
    """Draw a range that some permutations keep: whole orbits of hands under a few of them."""
    kept = draw(st.lists(st.sampled_from(ALL_PERMUTATIONS), max_size=2))
    found = dict(draw(st.lists(st.tuples(st.sampled_from(HANDS), WEIGHTS), max_size=6)))
    while True:
        images = {permute_hand(hand, by): weight for hand, weight in found.items() for by in kept}
        if images.items() <= found.items() or not {*images} - {*found}:
            return found
        found = images | found


@pytest.mark.parametrize("board, one, two, group", [
    ("Td9d6h", "QQ+", "AK", 2),  # clubs and spades
    ("Td9d6d", "QQ+", "AK", 6),  # the three other suits
    ("Td9h6s", "QQ+", "AK", 1),
    ("Td9h9s", "QQ+", "AK", 2),  # hearts and spades
    ("TdThTs", "QQ+", "AK", 6),
    ("9hTd6d", "QQ+", "AK", 2),
    ("Td9d6hQc", "QQ+", "AK", 1),
    ("Td9d6dQd", "QQ+", "AK", 6),
    ("Td9d6dQdQh", "QQ+", "AK", 2),  # clubs and spades
    ("Td9d6d", "QQ+ AhKh", "AK", 2),  # hearts stay
    ("Td9d6d", "QQ+ AhKh AsKs", "AK", 2),  # clubs stay
    ("Td9d6d", "QQ+ AhKh AsKs:0.5", "AK", 1),
    ("Td9d6d", "QQ+ AhKh AsKs AcKc", "AK", 6),  # AdKd is no image of them here, as diamonds stay
    ("Td9d6d", "AhKh", "AsKs", 1),
    ("Td9d6d", "AhKh AsKs", "AsKs AcKc", 1),
    ("AhKd2d", "AhQh QQ", "JJ", 2),  # the hand with a card of the board does not matter
])  # fmt: skip
def test_groups_by_hand(board: str, one: str, two: str, group: int) -> None:
    cards = cards_of(board, "board")
    found = suit_permutations(cards, [parse_range(text, (), "range") for text in (one, two)])
    assert found[0] == IDENTITY and len(found) == group


@pytest.mark.parametrize("board, turn, turns, rivers", [
    ("Td9d6d", "2d", 10 + 13, 9 + 13),  # diamonds, and the other suits together
    ("Td9d6d", "2c", 10 + 13, 10 + 12 + 13),  # diamonds, clubs, and the two left together
    ("Td9d6h", "2d", 11 + 12 + 13, 10 + 12 + 13),  # diamonds, hearts, and black cards together
    ("Td9d6h", "2c", 11 + 12 + 13, 48),
    ("TdThTs", "Tc", 13 + 12, 12 + 12),  # clubs, and the other suits together; also where all ranks are equal
    ("TdThTs", "2c", 13 + 12, 12 + 12),
])  # fmt: skip
def test_numbers_of_turns_and_rivers(board: str, turn: str, turns: int, rivers: int) -> None:
    cards, (dealt,) = cards_of(board, "board"), cards_of(turn, "turn")
    group = suit_permutations(cards, [])
    assert len(card_classes(cards, group)) == turns
    assert len(card_classes((*cards, dealt), fix_card(group, dealt))) == rivers


def test_a_hand_alone_keeps_its_suit_apart() -> None:
    board = cards_of("Td9d6d", "board")
    group = suit_permutations(board, [parse_range("AhKh", board, "range")])
    twos = [tuple(card_name(member.card) for member in some.members) for some in card_classes(board, group)][:3]
    assert twos == [("2c", "2s"), ("2d",), ("2h",)]


@given(BOARDS, st.lists(ranges(), max_size=2))
def test_permutations_are_a_group_that_keeps_everything(board: tuple[int, ...], players: list[Range]) -> None:
    group = suit_permutations(board, players)
    assert group[0] == IDENTITY
    assert {tuple(one[two[suit]] for suit in range(4)) for one in group for two in group} == {*group}
    for permutation in ALL_PERMUTATIONS:
        keeps = {*board} == {permute_card(card, permutation) for card in board}
        for hands in players:
            left = {hand: weight for hand, weight in hands.items() if not {*hand} & {*board}}
            keeps = keeps and {permute_hand(hand, permutation): weight for hand, weight in left.items()} == left
        assert keeps == (permutation in group)


@given(BOARDS, st.lists(ranges(), max_size=2))
def test_classes_partition_the_cards_street_by_street(board: tuple[int, ...], players: list[Range]) -> None:
    dealt, group = board, suit_permutations(board, players)
    for _ in range(2):
        classes = card_classes(dealt, group)
        members = [member for some in classes for member in some.members]
        assert sorted(member.card for member in members) == sorted({*range(52)} - {*dealt})
        assert sum(len(some.members) for some in classes) == 52 - len(dealt)
        for some in classes:
            assert some.representative == some.members[0].card == min(member.card for member in some.members)
            assert len(group) % len(some.members) == 0  # an orbit's size divides the order of the group
            for card, permutation in some.members:
                assert permutation in group and permute_card(some.representative, permutation) == card
        last = classes[len(classes) // 2].representative
        dealt, group = (*dealt, last), fix_card(group, last)


@given(st.lists(st.sampled_from(HANDS), max_size=20), st.sampled_from(ALL_PERMUTATIONS))
def test_images_of_hands_are_their_places(hands: list[tuple[int, ...]], permutation: tuple[int, ...]) -> None:
    order = next(k for k in range(1, 5) if all(_power(permutation, k)[suit] == suit for suit in range(4)))
    closed = sorted({permute_hand(hand, _power(permutation, k)) for hand in hands for k in range(order)})
    images = hand_images(closed, permutation)
    assert [closed[k] for k in images] == [permute_hand(hand, permutation) for hand in closed]
    assert np.array_equal(np.sort(images), np.arange(len(closed)))


def _power(permutation: tuple[int, ...], times: int) -> tuple[int, ...]:
    found = IDENTITY
    for _ in range(times):
        found = tuple(permutation[suit] for suit in found)
    return found


def test_a_wrong_group_is_an_error() -> None:
    board = cards_of("Td9d6h", "board")
    with pytest.raises(ParameterError, match="do not keep the dealt cards"):
        card_classes(board, ALL_PERMUTATIONS)
    with pytest.raises(ParameterError, match="does not keep the hands"):
        hand_images([cards_of("AhKh", "hand")], (0, 1, 3, 2))
