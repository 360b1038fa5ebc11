"""Bet sizes as text: every notation, clauses for streets and players, and texts that are wrong."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoset.errors import ParameterError
from infoset.games.bet_sizes import BetSize, parse_sizes, parse_sizes_by_street


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("75%", BetSize("%", 0.75)),
        (".5%", BetSize("%", 0.005)),
        ("2.5x", BetSize("x", 2.5)),
        ("100c", BetSize("c", 100)),
        ("e", BetSize("e")),
        ("2e", BetSize("e", 2)),
        ("3e200%", BetSize("e", 3, 2.0)),
        ("e50%", BetSize("e", 0, 0.5)),
        ("a", BetSize("a")),
        ("AllIn", BetSize("a")),
        (" A ", BetSize("a")),
    ],
)
def test_each_notation_is_read(text: str, size: BetSize) -> None:
    assert parse_sizes(text, "raises", raising=True) == (size,)
    assert parse_sizes(str(size), "raises", raising=True) == (size,)


@pytest.mark.parametrize(
    ("size", "pot", "stack", "faced", "streets", "chips"),
    [
        ("75%", 100, 400, 0, 3, 75),
        ("75%", 300, 300, 100, 3, 225),  # a raise: three quarters of the pot after a call
        ("2.5x", 300, 300, 100, 3, 150),  # to 250
        ("30c", 300, 300, 100, 3, 30),
        ("a", 100, 400, 0, 3, inf),
        ("e", 100, 1300, 0, 3, 100),  # the pot three times: 100, 300 and 900 chips
        ("e", 100, 400, 0, 2, 100),
        ("e", 100, 400, 0, 1, 400),
        ("2e", 100, 400, 0, 3, 100),
        ("3e", 100, 1300, 0, 1, 100),
        ("3e60%", 100, 1300, 0, 3, 60),
        ("3e200%", 100, 1300, 0, 3, 100),
    ],
)
def test_chips_of_each_size(
    size: str, pot: float, stack: float, faced: float, streets: int, chips: float
) -> None:  # fmt: skip
    (found,) = parse_sizes(size, "raises", raising=True)
    assert found.chips(pot, stack, faced, streets) == pytest.approx(chips)


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 10))
def test_geometric_bets_end_all_in(pot: int, stack: int, bets: int) -> None:
    """Betting the same share each time, and being called, puts the whole stack in with the last bet."""
    share = BetSize("e", bets).chips(pot, stack, 0, 3) / pot
    middle, left = float(pot), float(stack)
    for _ in range(bets):
        left -= share * middle
        middle *= 1 + 2 * share
    assert left == pytest.approx(0, abs=1e-6 * (pot + stack))


def test_the_most_specific_clause_counts() -> None:
    found = parse_sizes_by_street("33%; turn: 66%; P2: 50%; river ip: 75%,a; oop River: none", "bets")
    assert [[",".join(map(str, own or ())) for own in street] for street in found] == [
        ["33%", "50%"],
        ["66%", "66%"],  # a street counts more than a player
        ["", "75%,a"],
    ]


def test_streets_without_a_list_are_told_from_empty_lists() -> None:
    assert parse_sizes_by_street("turn: 50%; river: none", "donks")[0] == (None, None)
    assert parse_sizes_by_street("turn: 50%; river: none", "donks")[2] == ((), ())
    assert parse_sizes_by_street("", "donks") == ((None, None),) * 3
    assert parse_sizes_by_street("\nflop: 50%\n\nturn: a;", "bets")[1] == ((BetSize("a"),), (BetSize("a"),))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("75", "bets: '75' is not a bet size; allowed: such as 75% (of the pot)"),
        ("33%,", "bets: '' is not a bet size"),
        ("-5%", "is not a bet size"),
        ("nan%", "is not a bet size"),
        ("1e9%x", "is not a bet size"),
        ("0%", "bets: '0%' cannot be bet; allowed: more than 0% of the pot, at most 100000000%"),
        ("99999999999%", "cannot be bet"),
        ("0c", "bets: '0c' cannot be bet; allowed: whole chips from 1c"),
        ("1.5c", "whole chips"),
        ("0e", "bets: '0e' cannot be bet; allowed: 1e to 100e"),
        ("2e0%", "cannot be bet"),
        ("2.5x", "bets: '2.5x' is a multiple of a bet faced; allowed in raises only"),
        ("preflop: 50%", "bets: sizes for 'preflop'; allowed: flop, turn, river, P1 (OOP), P2 (IP), or a street and a"),
        ("flop turn: 50%", "bets: sizes for 'flop turn'; allowed"),
        (": 50%", "bets: a colon without a street or a player in front"),
        ("50%; 60%", "bets: two lists for all streets and players; allowed: one"),
        ("turn P1: 50%; oop turn: 60%", "bets: two lists for oop turn"),
    ],
)
def test_wrong_texts_are_one_line(text: str, said: str) -> None:
    with pytest.raises(ParameterError) as refusal:
        parse_sizes_by_street(text, "bets")
    assert str(refusal.value).startswith("bets: ")
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_raise_exceeds_the_bet() -> None:
    with pytest.raises(ParameterError, match=r"raises: '1x' is no raise; allowed: multiples above 1x"):
        parse_sizes("1x", "raises", raising=True)
