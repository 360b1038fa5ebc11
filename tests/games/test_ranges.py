"""Ranges in the notations of other programs: brackets with per cents, and lists of 1,326 weights."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import infoset
from extent import examples
from infoset.errors import ParameterError
from infoset.games.holdem import HoldemRules, holdem
from infoset.games.poker_hands import hand_name, parse_range
from infoset.games.ranges import HANDS, class_of, format_range, translate_range


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("AA:0.5,AKs", "AA:0.5,AKs"),  # PioSOLVER and TexasSolver
        ("QQ:0.5,JJ:0.75,\nTT", "QQ:0.5,JJ:0.75, TT"),
        ("[50]AA,KK[/50]", "AA:0.5 KK:0.5"),
        ("[33.3]AA[/33.3], KQs, [100]22+[/100]", "AA:0.333 KQs 22+:1"),
        ("[ 25% ]A5s-A2s, AhKd[/25]", "A5s-A2s:0.25 AhKd:0.25"),
        ("AA,[0]KK[/0]", "AA KK:0"),
        ("22 33", "22 33"),
    ],
)
def test_notations_are_found_by_their_form(text: str, own: str) -> None:
    assert translate_range(text, "range1") == own
    parse_range(own, (), "range1")


def test_the_order_of_1326_weights_is_that_of_piosolver() -> None:
    """As its documentation has it: 2d2c 2h2c 2h2d and so on."""
    assert list(map(hand_name, HANDS[:8])) == ["2d2c", "2h2c", "2h2d", "2s2c", "2s2d", "2s2h", "3c2c", "3c2d"]
    assert (hand_name(HANDS[-1]), len(HANDS), len({*HANDS})) == ("AsAh", 1326, 1326)
    weights = ["0"] * 1326
    weights[:6], weights[6], weights[-1] = ["1"] * 6, "0.5", "1.0"
    assert translate_range(" ".join(weights), "range1") == "AsAh 3c2c:0.5 22"
    assert translate_range(",\n".join(weights), "range1") == "AsAh 3c2c:0.5 22"


WEIGHT = st.sampled_from([0.0, 1.0, 0.5]) | st.floats(1e-6, 1e6)


@examples(50)
@given(st.lists(WEIGHT, min_size=3, max_size=30), st.integers(0, 2**32), st.sampled_from(["eval7", "pio"]))
def test_ranges_as_text_are_read_back(weights: list[float], seed: int, dialect: str) -> None:
    """Also as a list of weights, in both conventions of what overlaps."""
    random = Random(seed)
    by_class = {class_of(hand): random.choice(weights) for hand in HANDS}
    own = {hand: random.choice(weights) if random.random() < 0.1 else by_class[class_of(hand)] for hand in HANDS}
    own[HANDS[0]] = 1.0  # no range is empty
    expected = {hand: weight for hand, weight in own.items() if weight > 0}
    for text in (format_range(own), translate_range(" ".join(map(repr, own.values())), "range1")):
        assert parse_range(text, (), "range1", dialect) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[50]AA", "[50] is not closed; such as [50]AA,KK[/50]"),
        ("AA[/50]", "'[/50]' does not match; such as"),
        ("[50]AA[/40]", "'[/40]' does not match"),
        ("[50]AA[25]KK[/25][/50]", "'[25]' does not match"),
        ("[50]AA:0.5[/50]", "'AA:0.5' has a weight inside and around it; allowed: one"),
        ("[150]AA[/150]", "the weight '[150]' is not allowed; allowed: from 0 to 100 per cent"),
        ("[x]AA[/x]", "the weight '[x]' is not allowed"),
        ("[nan]AA[/nan]", "the weight '[nan]' is not allowed"),
        ("[50AA", "'[50AA' has a bracket too many"),
        ("AA]", "']' has a bracket too many"),
        ("1 " * 1325, "a list of 1,325 weights; allowed: 1,326, one a hand"),
        ("1 " * 1327, "a list of 1,327 weights"),
        ("1e9 " + "1 " * 1325, "2d2c weighs 1e9; allowed: 0, and numbers from 1e-06 to 1e+06"),
    ],
)
def test_wrong_ranges_are_one_line(text: str, said: str) -> None:
    with pytest.raises(ParameterError) as refusal:
        translate_range(text, "range1")
    assert str(refusal.value).startswith("range1: ")
    assert said in str(refusal.value)


def test_games_take_them() -> None:
    game = holdem(range1="[50]AA,KK[/50] QQ", range2=tuple(int(hand_name(hand) == "AsKs") for hand in HANDS))
    assert game.name == 'holdem(range1="AA:0.5 KK:0.5 QQ",range2=AsKs)'
    assert infoset.load(game.name) == game
    assert isinstance(game, HoldemRules)
    assert sorted({*game.spot.weights[0]}) == [0.5, 1.0]
    with pytest.raises(ParameterError, match=r"^holdem: range2: \[50\] is not closed"):
        holdem(range2="[50]AA")


def test_a_game_with_the_longest_ranges_is_loaded_by_its_name() -> None:
    weights = " ".join(f"{(k + 1) / 7919:.6f}" for k in range(1326))
    game = holdem(range1=weights, range2=weights)
    assert infoset.load(game.name) == game
