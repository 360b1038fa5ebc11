"""Magnetic mirror descent: the last profile, its step against a slow twin, where it settles and where it goes on to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from conftest import KUHN, form_of
from extent import examples
from infoset import SequenceForm, mmd, realisation, solve
from infoset.base import FloatArray
from infoset.errors import ParameterError
from random_games import RandomGame


@pytest.mark.parametrize("name", [KUHN, "liars_dice(dice_sides=3)", "rock_paper_scissors", "matching_pennies_3p"])
def test_the_last_profile_is_an_equilibrium(name: str) -> None:
    assert solve(name, mmd(), iterations=10_000, target=1e-8).exploitability < 1e-8


def test_a_magnet_that_stays_holds_the_profile() -> None:
    """Settled at a quantal response equilibrium: further steps change nothing; colder is nearer to an equilibrium."""
    found = [solve(KUHN, f"mmd(refresh=0,temperature={heat})", iterations=20_000).exploitability for heat in (0.4, 0.1)]
    again = solve(KUHN, "mmd(refresh=0,temperature=0.4)", iterations=21_000).exploitability
    assert found[0] == pytest.approx(again, abs=1e-12)
    assert found[0] > found[1] > 1e-4


def test_matching_pennies_by_hand() -> None:
    """One set each, uniform magnet and start: log odds after a step are the difference of payoffs over heat + inertia."""
    game = "rock_paper_scissors(payoffs=[[2,0,0],[0,0,0],[0,0,0]])"
    form = form_of(game)
    solver = mmd(temperature=0.5, rate=0.25, refresh=0).solver(form)
    weight, span = solver.weight[0], form.largest_payoff - form.smallest_payoff
    solver.step(1)
    strategy = np.exp(solver.arrays["logs"])
    assert np.log(strategy[1] / strategy[2]) == pytest.approx((2 / 3) / (weight * span * (0.5 + 1 / 0.25)))


@examples(15)
@given(seed=st.integers(0, 10**6))
def test_a_step_is_the_maximum_that_defines_it(seed: int) -> None:
    """By a general optimiser over behaviour, for the first player of a random game."""
    form = SequenceForm.of(RandomGame(seed, 2, 3))
    own = form.player_sequences(0)
    if not form.player_infosets(0) or own.stop - own.start > 15:
        return
    rng = np.random.default_rng(seed)
    start = np.ones(form.num_sequences)
    for first, size in zip(form.arrays.first.tolist(), form.arrays.size.tolist(), strict=True):
        start[first : first + size] = rng.dirichlet(np.ones(size) * 5)
    solver = mmd(temperature=0.3, rate=0.3, refresh=0).solver(form, start)
    solver.step(1)
    found = start.copy()
    found[own] = np.exp(solver.arrays["logs"])[own]
    best = objective(form, start, found, solver.weight)

    def loss(logits: FloatArray) -> float:
        return -objective(form, start, spread(form, start, logits), solver.weight)

    count = own.stop - own.start
    other = minimize(
        loss, np.log(found[own]) + rng.normal(0, 0.3, count), method="Nelder-Mead", options={"maxiter": 2000}
    )
    assert -other.fun <= best + 1e-9
    assert all(-loss(np.log(found[own]) + rng.normal(0, 0.05, count)) <= best + 1e-12 for _ in range(20))


def spread(form: SequenceForm, start: FloatArray, logits: FloatArray) -> FloatArray:
    """Behaviour in which the first player's is by logits."""
    strategy = start.copy()
    for k in form.player_infosets(0):
        first, last = int(form.arrays.first[k]), int(form.arrays.first[k] + form.arrays.size[k])
        weights = np.exp(logits[first:last])
        strategy[first:last] = weights / weights.sum()
    return strategy


def objective(form: SequenceForm, start: FloatArray, strategy: FloatArray, weight: FloatArray) -> float:
    """What a step of the first player maximises: payoff, less the divergence from the magnet and from the start."""
    span = form.largest_payoff - form.smallest_payoff
    plan, others = realisation(form, strategy), realisation(form, start)
    ends, paid = form.terminals()
    value = float((paid[:, 0] * plan[ends[:, 0]] * others[ends[:, 1]]).sum())
    for k in form.player_infosets(0):
        first, last = int(form.arrays.first[k]), int(form.arrays.first[k] + form.arrays.size[k])
        mine = strategy[first:last]
        apart = (
            0.3 * (mine * np.log(mine * (last - first))).sum() + (mine * np.log(mine / start[first:last])).sum() / 0.3
        )
        value -= span * weight[k] * plan[int(form.arrays.parent[k])] * apart
    return value


def test_it_goes_on_bit_for_bit() -> None:
    whole, part = (mmd(refresh=7).solver(form_of(KUHN)) for _ in range(2))
    whole.step(50)
    part.step(23)
    other = mmd(refresh=7).solver(form_of(KUHN))
    other.restore(part.save())
    other.step(27)
    assert np.array_equal(whole.current(), other.current())


@pytest.mark.parametrize("text", ["temperature=0", "rate=-1", "refresh=-1"])
def test_what_is_out_of_range(text: str) -> None:
    with pytest.raises(ParameterError, match="mmd"):
        solve(KUHN, f"mmd({text})")
