"""Hold'em hands by name: classes, what is made on a board, and draws."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

import pytest

from infoset.errors import ParameterError
from infoset.games.hand_classes import DRAWS, MADE_HANDS, cell_name, class_cell, class_name, draws, made_hand
from infoset.games.hand_strengths import hand_strengths
from infoset.games.poker_hands import cards_of, parse_range


def cards(text: str) -> tuple[int, ...]:
    return cards_of(text, "cards")


@pytest.mark.parametrize(
    ("made", "hand", "board"),
    [
        ("straight flush", "9h8h", "7h6h5hAcAd"),
        ("straight flush", "5d4d", "Ad2d3d"),
        ("straight flush", "2c2d", "AhKhQhJhTh"),  # on the board alone
        ("flush", "9c8h", "7h6h5hAh2d"),  # a straight, and a flush of other cards
        ("quads", "7c7d", "7h7s2c"),
        ("quads", "AcKd", "7h7s7c7d2c"),
        ("full house", "7c7d", "7h2s2c"),
        ("full house", "7c2d", "7h7s2c"),
        ("full house", "7c7d", "2h2s2cAdKd"),
        ("full house", "7c6d", "7h7s6c6hKd"),
        ("flush", "AhKh", "7h2h3h"),
        ("flush", "Ah2c", "7h9h3hJhKd"),
        ("straight", "9c8d", "7h6s5c"),
        ("straight", "Ac2d", "3h4s5c"),
        ("straight", "AcKd", "QhJsTc"),
        ("set", "7c7d", "7hKs2c"),
        ("trips", "7cAd", "7h7s2c"),
        ("trips", "AcKd", "7h7s7c2d"),  # on the board
        ("two pair", "Kc7d", "Kh7s2c"),
        ("two pair", "7c2d", "Kh7s2c"),
        ("second pair", "9c8d", "Kh9s8c2dKc"),  # the eights are counterfeited by the kings
        ("overpair", "AcAd", "Kh7s2c"),
        ("overpair", "AcAd", "KhKs2c"),
        ("top pair", "AcKd", "Kh7s2c"),
        ("top pair", "KcQd", "Kh7s7c"),
        ("second pair", "Ac7d", "Kh7s2c"),
        ("second pair", "Ac7d", "KhKs7c"),
        ("second pair", "TcTd", "Kh7s2c"),
        ("second pair", "TcTd", "KhKs7c"),
        ("low pair", "Ac2d", "Kh7s2c"),
        ("low pair", "Ac2d", "Kh7s4c2h"),
        ("low pair", "5c5d", "Kh7s2c"),
        ("underpair", "2c2d", "Kh7s3c"),
        ("underpair", "2c2d", "KhKs3c"),
        ("nothing", "2c2d", "KhKs3c3dAd"),  # counterfeited
        ("ace high", "Ac2d", "KhKs3c3d2h"),
        ("ace high", "AcQd", "Kh7s2c"),
        ("ace high", "AcQd", "KhKs2c"),
        ("nothing", "QcJd", "Kh7s2c"),
        ("nothing", "QcJd", "AhAs2c"),
        ("nothing", "KcQd", "5h4s3cJd9d"),
        ("ace high", "AcQd", "KhJs2c3d5s"),  # four to each of two straights are none
    ],
)  # fmt: skip
def test_made_hands(made: str, hand: str, board: str) -> None:
    assert made_hand(cards(hand), cards(board)) == made


@pytest.mark.parametrize(
    ("found", "hand", "board"),
    [
        (("nut flush draw", "flush draw"), "Ah3h", "Kh9h5c"),
        (("nut flush draw", "flush draw"), "Kh4c", "AhJh2h8d"),  # with one card; the ace is on the board
        (("flush draw",), "Kh2h", "Qh8h5c"),
        (("flush draw",), "Qh2c", "Kh8h5h"),
        ((), "3c2d", "Kh9h6hJh"),  # four hearts on the board, none in the hand
        ((), "AhKh", "Qh8h5h"),  # a flush
        (("open-ended straight draw",), "9c8d", "7h6s2c"),
        (("open-ended straight draw",), "9c8d", "7h6s2cKd"),
        (("open-ended straight draw",), "Tc8d", "9h7sAc"),
        (("open-ended straight draw",), "9c7d", "Jh8s5c"),  # T and 6: a double gutshot
        (("gutshot",), "9c8d", "7h5s2c"),
        (("gutshot",), "AcKd", "QhJs2c"),  # one end alone
        (("gutshot",), "Ac2d", "3h4sKc"),
        ((), "9c8d", "7h2s3c"),
        ((), "AcKd", "9h8s7c6d"),  # the straight would lie on the board
        (("gutshot",), "Jc2d", "9h8s7c"),  # T
        (("combo draw", "flush draw", "gutshot"), "9h8h", "7h5h2c"),
        (("combo draw", "nut flush draw", "flush draw", "open-ended straight draw"), "AhJh", "ThQh8c"),
        (("backdoor flush draw",), "Ah3h", "Kh9c5c"),
        (("gutshot", "backdoor flush draw"), "AhJh", "KhTc5c"),
        ((), "Ah3h", "Kh9c6cJd"),  # too late
        ((), "AhKc", "Qh8h5c"),  # two of the board and one of the hand
        ((), "9c8d", "7h6s5c"),  # a straight
        (("flush draw",), "9h8h", "7h6h5c"),  # a straight with a flush draw
        ((), "7c7d", "7h7s2c"),
        (("flush draw",), "7h6h", "7c6s2h9h"),
        ((), "AhTh", "Kh9h5c2s3d"),  # the river
    ],
)  # fmt: skip
def test_draws(found: tuple[str, ...], hand: str, board: str) -> None:
    assert draws(cards(hand), cards(board)) == found


def test_classes_and_their_cells() -> None:
    every = list(combinations(range(52), 2))
    counts = Counter(map(class_name, every))
    assert len(counts) == 169
    assert {counts["AA"], counts["AKs"], counts["AKo"]} == {6, 4, 12}
    assert all(cell_name(*class_cell(hand)) == class_name(hand) == class_name(hand[::-1]) for hand in every)
    assert class_cell(cards("AhKh")) == (0, 1) and class_cell(cards("2c3d")) == (12, 11)


def test_made_hands_are_ordered_as_the_showdown_orders_them_from_flush_to_pairs() -> None:
    """On a board without pairs a better category always wins, apart from sets and two pair that are compared too."""
    board = cards("Kh9s4c2d7h")
    hands = parse_range("any", board, "range")
    kinds = {hand: MADE_HANDS.index(made_hand(hand, board)) for hand in hands}
    strengths: dict[int, list[int]] = {}
    for hand, kind in kinds.items():
        strengths.setdefault(kind, []).append(int(hand_strengths(board, [hand])[0]))
    ordered = [strengths[kind] for kind in sorted(strengths)]
    for better, worse in pairwise(ordered):
        assert min(better) > max(worse)


@pytest.mark.parametrize("board", ["KhQh7c", "KhKs7c", "9h8h7h", "Td9d6hQc", "KhQh7c7d"])
def test_every_hand_has_a_made_hand_and_draws_by_symmetry_of_suits(board: str) -> None:
    turned = tuple([4 * (card // 4) + (card + 1) % 4 for card in cards(board)])
    for hand in parse_range("any", cards(board), "range"):
        other = tuple(sorted([4 * (card // 4) + (card + 1) % 4 for card in hand], reverse=True))
        assert made_hand(hand, cards(board)) == made_hand(other, turned) in MADE_HANDS
        assert draws(hand, cards(board)) == draws(other, turned)
        assert {*draws(hand, cards(board))} <= {*DRAWS}


@pytest.mark.parametrize(("hand", "board"), [("AhKd", "Qs"), ("Ah", "QsJs2d"), ("AhKd", "AhJs2d")])
def test_impossible_cards_are_refused(hand: str, board: str) -> None:
    with pytest.raises(ParameterError, match=r"^[^\n]+$"):
        made_hand(cards(hand), cards(board))
