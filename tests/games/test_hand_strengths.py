"""Strengths of hands: the published numbers of classes and hands, slow comparisons, and another package's table."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoset.errors import ParameterError
from infoset.games.hand_strengths import BLOCKED, CLASSES, FIRST, KINDS, hand_strengths, kinds_of, strengths_on_boards
from infoset.games.poker_hands import cards_of
from slow_strengths import slow_strength

HANDS = np.array(list(combinations(range(52), 2)), np.uint8)
FIVE_CARDS = (1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 40)
"""The numbers of five-card hands of each kind, the weakest first: 2,598,960 in all."""
SEVEN_CARDS = (23294460, 58627800, 31433400, 6461620, 6180020, 4047644, 3473184, 224848, 41584)
"""The same for hands of seven cards: 133,784,560 in all."""


def count_strengths(boards: np.ndarray) -> np.ndarray:
    """Count how often each strength occurs among all hands on these boards."""
    found = np.zeros(sum(CLASSES), np.int64)
    for some in np.array_split(boards, max(1, len(boards) // 1000)):
        strengths = strengths_on_boards(some, HANDS)
        found += np.bincount(strengths[strengths != BLOCKED], minlength=len(found))
    return found


def test_all_five_cards_have_the_published_kinds_and_all_7462_classes() -> None:
    found = (
        count_strengths(np.array(list(combinations(range(52), 3)))) // 10
    )  # ten ways to part five into three and two
    assert len(found) == 7462 and found.min() > 0
    assert tuple(np.add.reduceat(found, FIRST)) == FIVE_CARDS


@pytest.mark.slow
def test_all_seven_cards_have_the_published_kinds() -> None:
    found = np.zeros(len(KINDS), np.int64)
    for first in range(48):
        boards = np.array([(first, *others) for others in combinations(range(first + 1, 52), 4)])
        found += np.add.reduceat(count_strengths(boards), FIRST)
    assert tuple(found // 21) == SEVEN_CARDS  # 21 ways to part seven cards


@given(st.lists(st.permutations(range(52)).map(lambda deck: deck[:7]), min_size=2, max_size=6), st.integers(5, 7))
def test_the_order_is_that_of_the_slow_comparison(deals: list[list[int]], size: int) -> None:
    fast = [int(hand_strengths(cards[2:size], [cards[:2]])[0]) for cards in deals]
    slow = [slow_strength(cards[:size]) for cards in deals]
    for one, two in combinations(range(len(deals)), 2):
        assert np.sign(fast[one] - fast[two]) == (slow[one] > slow[two]) - (slow[one] < slow[two])
    assert [*kinds_of(np.array(fast))] == [strength[0] for strength in slow]


@pytest.mark.parametrize("better, worse", [
    ("AsKsQsJsTs 2d3d", "KhQhJhTh9h AdAc"), ("5d4d3d2dAd KcKh", "AsAhAdAc KdQd2c"), ("2s2h2d2c 3d4d5c", "AsAhAdKcKh QdQc"),
    ("2s2h2d3c3h AdKd", "AsKsQsJs9s AdAc"), ("7s5s4s3s2s AdAc", "AhKdQcJsTs 2d2c"), ("5s4h3d2cAs KdQd", "AsAhAdKcQh 2d3d"),
    ("6s5h4d3c2s KdQd", "5s4h3d2cAs KdQd"), ("AsAhKdKcQs 2d3d", "AsAhKdKcJs 2d3d"), ("AsKhQdJc9s 2d3d", "KsQhJdTc8s 2d3d"),
])  # fmt: skip
def test_hands_made_by_hand(better: str, worse: str) -> None:
    one, two = (cards_of(cards, "hand") for cards in (better, worse))
    assert hand_strengths(one[:5], [one[5:]])[0] > hand_strengths(two[:5], [two[5:]])[0]


def test_hands_that_share_a_card_with_the_board_are_blocked() -> None:
    board = cards_of("AsKsQsJsTs", "board")
    hands = [cards_of(hand, "hand") for hand in ("As2c", "2cTs", "2c2d", "9s8s")]
    assert hand_strengths(board, hands).tolist() == [BLOCKED, BLOCKED, 7461, 7461]
    assert hand_strengths(board, []).tolist() == []
    assert [*kinds_of(np.array([BLOCKED, 0, 1276, 1277, 7461]))] == [-1, 0, 0, 1, 8]


def test_strengths_equal_another_packages_table() -> None:
    phevaluator = pytest.importorskip("phevaluator", reason="phevaluator is not installed")
    randoms = np.random.default_rng(47)
    for _ in range(1000):
        cards = randoms.permutation(52)
        hands = np.array([randoms.choice(cards[5:], 2, replace=False) for _ in range(100)])
        published = [7462 - phevaluator.evaluate_cards(*cards[:5].tolist(), *hand.tolist()) for hand in hands]
        assert hand_strengths(cards[:5], hands).tolist() == published


@pytest.mark.parametrize("board, hands, message", [
    ([0, 1], [[2, 3]], "boards of shape (1, 2); allowed: rows of 3 to 5 cards"),
    ([], [[2, 3]], "boards of shape (1, 0); allowed: rows of 3 to 5 cards"),
    ([[0, 1, 2]], [[4, 3]], "boards of shape (1, 1, 3); allowed: rows of 3 to 5 cards"),
    ([0, 1, 2, 3, 4, 5], [[8, 9]], "boards of shape (1, 6); allowed: rows of 3 to 5 cards"),
    ([0, 1, 2], [[4, 3, 5]], "hands of shape (1, 3); allowed: rows of 2 cards"),
    ([0, 1, 1], [[4, 3]], "boards: a card occurs twice or does not exist; allowed: distinct numbers from 0 to 51"),
    ([0, 1, 2], [[52, 3]], "hands: a card occurs twice or does not exist; allowed: distinct numbers from 0 to 51"),
    ([0, 1, 2], [[-1, 3]], "hands: a card occurs twice or does not exist; allowed: distinct numbers from 0 to 51"),
])  # fmt: skip
def test_wrong_cards_are_an_error(board: list[int], hands: list[list[int]], message: str) -> None:
    with pytest.raises(ParameterError) as raised:
        hand_strengths(board, hands)
    assert str(raised.value) == message
