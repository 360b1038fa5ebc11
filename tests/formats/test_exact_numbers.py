"""Floats as the fractions that were meant: the shortest that round to them, and probabilities that sum to one."""

from __future__ import annotations

from fractions import Fraction
from math import nextafter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from infoset import (
    Action,
    GameTree,
    JointAction,
    NativeState,
    Observed,
    SequenceForm,
    backward_induction,
    exact_equilibrium,
    load,
)
from infoset.formats.efg import game_to_efg, write_efg
from infoset.tree.exact_numbers import exact_chance_probabilities, simplest, simplest_between


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.7, "7/10"), (1 / 3, "1/3"), (-2.5, "-5/2"), (1e100, str(int(1e100))), (123456.789, "123456789/1000"),
        (0.3333333333, "3333333333/10000000000"), (3.14159265358979, "314159265358979/100000000000000"), (0.0, "0"),
        (1e-20, f"1/{10**20}"), (1 / 999983, "1/999983"), (22 / 7 * 13, "286/7"),
    ],
)  # fmt: skip
def test_what_was_written_is_found(value: float, text: str) -> None:
    assert str(simplest(value)) == text
    assert str(simplest(-value)) == str(-Fraction(text))


@given(st.floats(-1e100, 1e100, allow_subnormal=False))
@example(0.1 + 0.2)
@example(nextafter(1.0, 0.0))
@example(1 - 0.7)
def test_it_rounds_to_the_number_again(value: float) -> None:
    assert float(simplest(value)) == value


@given(st.fractions(-100, 100, max_denominator=10**6), st.fractions(0, 1, max_denominator=10**6))
def test_no_fraction_between_has_a_smaller_denominator(low: Fraction, width: Fraction) -> None:
    found = simplest_between(low, low + width)
    assert low <= found <= low + width
    for denominator in range(1, min(found.denominator, 200)):
        assert (low * denominator).__ceil__() > (low + width) * denominator


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [
        ([0.7, 1 - 0.7], "7/10 3/10"),
        ([1 - 0.7, 0.7], "3/10 7/10"),
        ([0.1, 0.2, 1 - 0.1 - 0.2], "1/10 1/5 7/10"),
        ([1 / 3, 1 / 3, 1 - 2 / 3], "1/3 1/3 1/3"),
        ([1 - 0.123456789, 0.123456789], "876543211/1000000000 123456789/1000000000"),
        ([0.3333333333] * 3, "1/3 1/3 1/3"),
        ([Fraction("0.333333333")] * 3, "1/3 1/3 1/3"),
        ([0.0, 1.0], "0 1"),
        ([1e-18, 1.0], f"1/{10**18} {10**18 - 1}/{10**18}"),
        ([1 / 1326] * 1326, " ".join(["1/1326"] * 1326)),
    ],
)
def test_chances_are_what_was_meant_and_sum_to_one(probabilities: list[float], expected: str) -> None:
    assert " ".join(map(str, exact_chance_probabilities(probabilities))) == expected


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9).filter(lambda weights: sum(weights) > 1e-3))
def test_any_chances_sum_to_one_and_stay_close(weights: list[float]) -> None:
    total = sum(weights)
    probabilities = [weight / total for weight in weights]
    exact = exact_chance_probabilities(probabilities)
    assert sum(exact) == 1
    assert all((one > 0) == (new > 0) for one, new in zip(probabilities, exact, strict=True))
    assert [float(one) for one in exact] == pytest.approx(probabilities, abs=1e-14)


class WeatherState(NativeState):
    """Chance is kind with 0.7, as the user wrote it, and unkind with what is left."""

    def __init__(self, seen: str = "") -> None:
        self.seen = seen

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WeatherState) and self.seen == other.seen

    def __hash__(self) -> int:
        return hash(self.seen)

    @property
    def terminal(self) -> bool:
        return len(self.seen) == 2

    def legal_actions(self, player: int) -> tuple[str, ...]:
        return ("i", "o") if len(self.seen) == 1 and player == 0 else ()

    def chance_outcomes(self, actions: JointAction) -> tuple[tuple[str, float], ...]:
        return () if self.seen else (("k", 0.7), ("u", 1 - 0.7))

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        action = str(chance_outcome or actions[0])
        return Observed(WeatherState(self.seen + action), (action, action))

    def returns(self) -> tuple[float, ...]:
        paid = {"ki": 0.1, "ko": 0.3, "ui": 0.7, "uo": 1.1}[self.seen]
        return (paid, -paid)


class WeatherGame:
    name, players = "weather", ("P1", "P2")

    def start(self) -> Observed:
        return Observed(WeatherState(), (None, None))


def test_a_game_of_decimals_is_written_and_solved_in_them() -> None:
    text = write_efg(game_to_efg(WeatherGame()))
    assert '{ "k" 7/10 "u" 3/10 }' in text
    for payoffs in ("1/10, -1/10", "3/10, -3/10", "7/10, -7/10", "11/10, -11/10"):
        assert payoffs in text
    tree = GameTree.of(WeatherGame())
    form = SequenceForm.of(tree)
    assert exact_equilibrium(tree, form).values == (Fraction("0.54"), Fraction("-0.54"))
    assert backward_induction(tree, form)[1] == (Fraction("0.54"), Fraction("-0.54"))


def test_native_chances_stay_as_they_are() -> None:
    probabilities = {p for s in game_to_efg(load("kuhn_poker")).infosets for p in s.probabilities}
    assert probabilities == {Fraction(1, 3), Fraction(1, 2)} or probabilities == {Fraction(1, 6)}
