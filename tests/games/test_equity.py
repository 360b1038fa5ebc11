"""Equity: against brute force over hands and boards, and figures known from other calculators."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infoset.errors import ParameterError
from infoset.games.equity import add_up_showdowns, range_against_range, range_equity
from infoset.games.hand_strengths import hand_strengths
from infoset.games.poker_hands import cards_of, parse_range
from slow_strengths import slow_strength

HANDS = [hand[::-1] for hand in combinations(range(52), 2)]


def slow_equity(board: list[int], hand: tuple[int, ...], others: list[tuple[int, ...]], weights: list[float]) -> float:
    if {*hand} & {*board}:
        return np.nan
    won = met = 0.0
    for rest in combinations(sorted({*range(52)} - {*board, *hand}), 5 - len(board)):
        own = slow_strength((*board, *rest, *hand))
        for other, weight in zip(others, weights, strict=True):
            if not {*other} & {*board, *hand, *rest}:
                theirs = slow_strength((*board, *rest, *other))
                won += weight * (1.0 if own > theirs else 0.5 if own == theirs else 0.0)
                met += weight
    return won / met if met else np.nan


@settings(max_examples=30)
@given(st.data())
def test_equity_equals_brute_force(data: st.DataObject) -> None:
    size = data.draw(st.sampled_from([4, 5]))
    board = data.draw(st.lists(st.integers(0, 51), min_size=size, max_size=size, unique=True))
    near = [hand for hand in HANDS if {*hand} <= {*range(40, 52), *board}]  # with many shared cards
    hands = data.draw(st.lists(st.sampled_from(near), min_size=1, max_size=3))
    others = data.draw(st.lists(st.sampled_from(near), max_size=5 if size == 5 else 3))
    weights = [data.draw(st.sampled_from([0.0, 0.1, 0.3, 1.0])) for _ in others]
    found = range_equity(board, hands, others, weights)
    expected = [slow_equity(board, hand, others, weights) for hand in hands]
    assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_a_flop_equals_brute_force() -> None:
    board, own, other = (cards_of(cards, "cards") for cards in ("QsJh2h", "AhKh", "QdQc"))
    won = met = 0.0
    for rest in combinations(sorted({*range(52)} - {*board, *own, *other}), 2):
        one, two = hand_strengths((*board, *rest), [own, other])
        won, met = won + (one > two) + (one == two) / 2, met + 1
    assert met == 990  # 45 cards are left
    assert range_equity(board, [own], [other], [1.0]) == pytest.approx(won / met, abs=1e-15)


def test_both_sides_share_the_pot() -> None:
    board = cards_of("Td9d6h", "board")
    one, two = (parse_range(text, board, "range") for text in ("QQ+ AK JTs:0.5", "66-JJ T9s KQ:0.25"))
    sides = [(list(hands), list(hands.values())) for hands in (one, two)]
    shares = [range_against_range(board, *sides[p], *sides[1 - p]) for p in (0, 1)]
    assert sum(shares) == pytest.approx(1.0, abs=1e-14)
    assert range_against_range(board, *sides[0], *sides[0]) == pytest.approx(0.5, abs=1e-14)


def test_every_hand_meets_the_number_of_hands_beside_it() -> None:
    board = cards_of("AsKsQsJs", "board")
    met = add_up_showdowns(board, HANDS, HANDS, np.ones(len(HANDS))).met
    for hand, total in zip(HANDS, met, strict=True):
        assert total == (0 if {*hand} & {*board} else 46 * 45 * 44 / 2)  # 46 rivers, 990 hands on each


def test_everybody_ties_on_a_straight_flush() -> None:
    board = cards_of("AsKsQsJsTs", "board")
    assert range_equity(board, [cards_of("2c2d", "hand")], HANDS, np.ones(len(HANDS))) == pytest.approx(0.5)


@pytest.mark.parametrize("others, weights", [([], []), (["AhKd"], [1.0]), (["KdQs"], [0.3]), (["QdQh"], [0.0])])
def test_without_an_opponent_the_equity_is_no_number(others: list[str], weights: list[float]) -> None:
    board, hand = cards_of("QsJh2h", "board"), cards_of("AhKh", "hand")
    hands = [cards_of(other, "hand") for other in others]
    assert np.isnan(range_equity(board, [hand], hands, weights)).all()
    assert np.isnan(range_against_range(board, [hand], [1.0], hands, weights))


def test_without_hands_there_is_no_equity() -> None:
    board = cards_of("QsJh2h", "board")
    assert range_equity(board, [], [cards_of("AhKd", "hand")], [1.0]).shape == (0,)
    assert np.isnan(range_against_range(board, [], [], [cards_of("AhKd", "hand")], [1.0]))


def test_rounding_leaves_no_opponents() -> None:
    board, hand = cards_of("QsJh2h7c", "board"), cards_of("AhKh", "hand")
    others = [cards_of(other, "hand") for other in ("AhAd", "KhKd", "AcAh", "KcKh")]
    assert np.isnan(range_equity(board, [hand], others, [0.1, 0.7, 0.2, 0.3])).all()


def test_wrong_arguments_are_an_error() -> None:
    board, hand = cards_of("QsJh2h", "board"), cards_of("AhKh", "hand")
    with pytest.raises(ParameterError, match=r"1 hands of the opponent with weights of shape \(2,\)"):
        range_equity(board, [hand], [hand], [1.0, 2.0])
    with pytest.raises(ParameterError, match=r"a weight of -1\.0; allowed: 0 and positive numbers"):
        range_equity(board, [hand], [hand, hand], [1.0, -1.0])
    with pytest.raises(ParameterError, match="a weight of nan"):
        range_equity(board, [hand], [hand], [np.nan])
    with pytest.raises(ParameterError, match="rows of 3 to 5 cards"):
        range_equity(board[:2], [hand], [hand], [1.0])
    with pytest.raises(ParameterError, match="a card occurs twice"):
        range_equity(board, [(3, 3)], [hand], [1.0])
