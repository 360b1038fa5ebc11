"""Sampling CFR: unbiased updates, known values, the same run from the same seed."""

import numpy as np
import pytest

from infoset import load
from infoset.errors import BudgetError
from infoset.solvers.sampling import mccfr
from infoset.solvers.sampling.belief_response import evaluate_policy
from infoset.solvers.sampling.infoset_table import ENTRIES
from infoset.solvers.sampling.mccfr import Mccfr
from infoset.tree.graph import explore as explore_game
from infoset.tree.quotient_graph import QuotientGraph


def solved(name, iterations, seed=1):
    walk = QuotientGraph.of(explore_game(load(name)))
    solver = Mccfr(walk, seed)
    solver.step(iterations)
    return evaluate_policy(walk, solver.policy()), solver


@pytest.mark.parametrize(
    ("name", "iterations", "value", "bound"),
    [
        ("kuhn_poker", 200_000, -1 / 18, 0.004),
        ("leduc_poker", 100_000, -0.0856, 0.09),  # Southey et al. 2005
        ("gdl:monty_hall", 2_000, 200 / 3, 0.5),
        ("gdl:scissors_double", 50_000, 50, 0.5),
    ],
)
def test_it_comes_near_the_equilibrium(name, iterations, value, bound) -> None:
    found, _ = solved(name, iterations)
    assert found.exploitability < bound
    assert found.values[0] == pytest.approx(value, abs=2 * bound)


def test_three_players() -> None:
    found, _ = solved("kuhn_poker(players=3)", 50_000)
    assert found.epsilon < 0.02


def test_it_finds_the_equilibrium_too_where_bad_moves_are_seldom_tried() -> None:
    walk = QuotientGraph.of(explore_game(load("kuhn_poker")))
    solver = Mccfr(walk, 2, explore=0.3)
    solver.step(100_000)
    assert evaluate_policy(walk, solver.policy()).exploitability < 0.006


def test_chances_that_are_left_of_the_first_iterations_can_be_dropped() -> None:
    walk = QuotientGraph.of(explore_game(load("kuhn_poker")))
    solver = Mccfr(walk, 2)
    solver.step(20_000)
    whole, without = solver.policy().behaviour, solver.policy(least=0.02).behaviour
    assert ((whole > 0) & (whole < 0.02)).any()
    assert not ((without > 0) & (without < 0.02)).any()
    np.testing.assert_allclose(without[whole >= 0.02], whole[whole >= 0.02], atol=0.05)


def test_the_same_seed_gives_the_same_run_however_it_is_cut() -> None:
    walk = QuotientGraph.of(explore_game(load("leduc_poker")))
    one, other, third = (Mccfr(walk, seed) for seed in (3, 3, 4))
    one.step(500)
    for part in (1, 99, 400):
        other.step(part)
    third.step(500)
    size = int(one.table.filled[ENTRIES])
    np.testing.assert_array_equal(one.table.regret[:size], other.table.regret[:size])
    assert not np.array_equal(one.table.average[:size], third.table.average[:size])


def test_a_game_that_turns_out_wide_later_is_still_the_same_run(monkeypatch) -> None:
    """Whether to prune is settled by the first iteration, not by where a step happened to end."""
    walk = QuotientGraph.of(explore_game(load("leduc_poker")))
    first = Mccfr(walk, 3)
    first.step(5)
    monkeypatch.setattr(mccfr, "WIDE", int(first.at[mccfr.WIDEST]))
    one, other = Mccfr(walk, 3), Mccfr(walk, 3)
    one.step(300)
    for _ in range(300):
        other.step(1)
    assert one.at[mccfr.WIDEST] > mccfr.WIDE
    size = int(one.table.filled[ENTRIES])
    np.testing.assert_array_equal(one.table.regret[:size], other.table.regret[:size])


def test_memory_is_bounded() -> None:
    solver = Mccfr(QuotientGraph.of(explore_game(load("leduc_poker"))), max_bytes=20_000)
    with pytest.raises(BudgetError, match=r"information sets after .* iterations take .* more than max_bytes=20,000"):
        solver.step(1000)
