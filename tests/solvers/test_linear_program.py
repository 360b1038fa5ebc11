"""The sequence-form linear program: the exact oracle."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import DICE, GOOFSPIEL, KUHN, LEDUC, form_of
from extent import examples
from infoset import SequenceForm, cfr_plus, evaluate, linear_program, load, pcfr_plus, solve
from infoset.errors import ImperfectRecallError, UnsupportedGameError
from random_games import RandomGame, RandomState

ZERO_SUM = [
    KUHN,
    LEDUC,
    GOOFSPIEL,
    DICE,
    "liars_dice(numdice=2,dice_sides=2)",
    "goofspiel(num_cards=4,imp_info=true)",
    "goofspiel(num_cards=3,returns_type=total_points)",
    "rock_paper_scissors",
    "rock_paper_scissors(payoffs=[[0,-1,2],[1,0,-2],[-2,2,0]])",
]

# exact values: Kuhn 1950; liar's dice as OpenSpiel's own LP finds them; scissors for double stakes by algebra
VALUES = {KUHN: -1 / 18, LEDUC: -0.08560642407800048, DICE: 1 / 16, "liars_dice(numdice=2,dice_sides=2)": 7 / 8}


@pytest.mark.parametrize("name", ZERO_SUM)
def test_no_gain_is_left(name: str) -> None:
    form = form_of(name)
    if not form.zero_sum:
        with pytest.raises(UnsupportedGameError, match="not constant-sum"):
            linear_program(form)
        return
    result = evaluate(form, linear_program(form))
    assert result.nash_conv < 1e-9
    assert result.values[0] == pytest.approx(VALUES.get(name, result.values[0]), abs=1e-9)


@pytest.mark.parametrize("name", [KUHN, GOOFSPIEL, DICE, "rock_paper_scissors"])
def test_agrees_with_cfr(name: str) -> None:
    form = form_of(name)
    solver = pcfr_plus().solver(form)
    solver.step(3000)
    exact = evaluate(form, linear_program(form)).values[0]
    assert evaluate(form, solver.average()).values[0] == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_payoffs_of_any_size(scale: float) -> None:
    """HiGHS drops coefficients below 1e-9; the program must not."""
    table = f"[[0,{-scale},{2 * scale}],[{scale},0,{-2 * scale}],[{-2 * scale},{2 * scale},0]]"
    form = form_of(f"rock_paper_scissors(payoffs={table})")
    assert linear_program(form)[1:4] == pytest.approx([0.4, 0.4, 0.2], abs=1e-9)


def test_scissors_for_double_stakes() -> None:
    """Whoever plays scissors doubles the stakes: rock .4, paper .4, scissors .2."""
    form = form_of("rock_paper_scissors(payoffs=[[0,-1,2],[1,0,-2],[-2,2,0]])")
    assert linear_program(form)[1:4] == pytest.approx([0.4, 0.4, 0.2], abs=1e-9)


class ZeroSumState(RandomState):
    def returns(self) -> tuple[float, ...]:
        paid = float(self.noise("pays") % 7 - 3)
        return (paid, -paid)


@examples(25)
@given(st.integers(0, 10**6))
def test_random_zero_sum_games(seed: int) -> None:
    """On random zero-sum games the program leaves nothing to gain and CFR+ approaches its value."""
    form = SequenceForm.of(RandomGame(seed, 2, 3, ZeroSumState))
    assert form.zero_sum
    exact = evaluate(form, linear_program(form))
    assert exact.nash_conv < 1e-9
    solver = cfr_plus().solver(form)
    solver.step(500)
    learned = evaluate(form, solver.average())
    assert learned.values[0] == pytest.approx(exact.values[0], abs=learned.nash_conv + 1e-9)


def test_refusals_name_why() -> None:
    with pytest.raises(UnsupportedGameError, match="has 3 players"):
        solve(load("kuhn_poker(players=3)"), "lp")
    with pytest.raises(UnsupportedGameError, match="not constant-sum"):
        solve(load("goofspiel(num_cards=3,returns_type=total_points)"), "lp")


def test_every_real_file(shared) -> None:
    """Two-player constant-sum files: LP and CFR find one value; the rest is refused with the reason."""
    solved = refused = forgetful = 0
    for path in sorted((shared / "games" / "efg").glob("*.efg")):
        try:
            form = SequenceForm.of(load(str(path)))
        except ImperfectRecallError as error:
            assert "information set" in str(error)
            forgetful += 1
            continue
        if not form.zero_sum:
            with pytest.raises(UnsupportedGameError):
                linear_program(form)
            refused += 1
            continue
        exact = evaluate(form, linear_program(form))
        assert exact.nash_conv < 1e-9
        solver = pcfr_plus().solver(form)
        solver.step(2000)
        learned = evaluate(form, solver.average())
        assert learned.nash_conv < 1e-6
        assert learned.values == pytest.approx(exact.values, abs=1e-6)
        solved += 1
    assert (solved, refused, forgetful) == (8, 48, 3)
