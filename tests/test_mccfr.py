"""Sampling CFR: unbiased updates, known values, the same run from the same seed."""

import numpy as np
import pytest

from infoset import load
from infoset.errors import BudgetError
from infoset.solvers.belief_response import evaluate_policy
from infoset.solvers.infoset_policy import InfosetPolicy
from infoset.solvers.mccfr import Mccfr
from infoset.tree.graph import explore


def solved(name, iterations, seed=1):
    graph = explore(load(name))
    solver = Mccfr(graph, seed)
    solver.step(iterations)
    return evaluate_policy(graph, InfosetPolicy.of(solver.table)), solver


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


def test_the_same_seed_gives_the_same_run_however_it_is_cut() -> None:
    graph = explore(load("leduc_poker"))
    one, other, third = (Mccfr(graph, seed) for seed in (3, 3, 4))
    one.step(500)
    for part in (1, 99, 400):
        other.step(part)
    third.step(500)
    size = len(one.table.average_behaviour())
    np.testing.assert_array_equal(one.table.regret[:size], other.table.regret[:size])
    assert not np.array_equal(one.table.average[:size], third.table.average[:size])


def test_memory_is_bounded() -> None:
    solver = Mccfr(explore(load("leduc_poker")), max_bytes=20_000)
    with pytest.raises(BudgetError, match=r"information sets after .* iterations take .* more than max_bytes=20,000"):
        solver.step(1000)
