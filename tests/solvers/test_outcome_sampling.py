"""Outcome sampling: unbiased whatever its baselines say, known values, the same run from the same seed."""

import numpy as np
import pytest

from infoset import load
from infoset.errors import BudgetError, CheckpointError, ParameterError
from infoset.solvers.sampling.belief_response import evaluate_policy
from infoset.solvers.sampling.infoset_table import ENTRIES, STATES
from infoset.solvers.sampling.outcome_sampling import OutcomeMccfr
from infoset.tree.graph import explore
from infoset.tree.quotient_graph import QuotientGraph
from infoset.tree.symmetry import find_symmetry

GAMES = [("kuhn_poker", 200_000, 0.005), ("leduc_poker", 200_000, 0.5), ("gdl:scissors_double", 50_000, 2.0)]


@pytest.mark.parametrize(("name", "iterations", "bound"), GAMES)
@pytest.mark.parametrize("step", [0.0, 0.1])
def test_it_comes_near_the_equilibrium(name, iterations, bound, step) -> None:
    walk = QuotientGraph.of(explore(load(name)))
    solver = OutcomeMccfr(walk, 1, step=step)
    solver.step(iterations)
    assert evaluate_policy(walk, solver.policy()).exploitability < bound


def test_three_players() -> None:
    walk = QuotientGraph.of(explore(load("kuhn_poker(players=3)")))
    solver = OutcomeMccfr(walk, 1)
    solver.step(200_000)
    assert evaluate_policy(walk, solver.policy()).epsilon < 0.03


def test_on_positions_that_symmetries_make_equal() -> None:
    graph = explore(load("gdl:scissors_double"))
    walk = QuotientGraph.of(graph, find_symmetry(graph))
    solver = OutcomeMccfr(walk, 3)
    solver.step(50_000)
    assert evaluate_policy(walk, solver.policy()).exploitability < 0.7


def first_regrets(step: float, spoil: float, runs: int) -> np.ndarray:
    """(runs, entries) the regrets of one iteration in Kuhn poker, from baselines that are all ``spoil``."""
    walk = QuotientGraph.of(explore(load("kuhn_poker")))
    whole = OutcomeMccfr(walk, 0)
    whole.step(2_000)  # so that all states have their numbers
    found = []
    for seed in range(runs):
        solver = OutcomeMccfr(walk, seed + 1, step=step)
        saved = whole.save() | {"stream": solver.stream}
        solver.restore({name: array.copy() for name, array in saved.items()})
        solver.table.regret[:] = 0.0
        solver.baseline[:] = spoil
        solver.iteration = 0
        solver.step(1)
        found.append(solver.table.regret[: solver.table.filled[ENTRIES]].copy())
    return np.array(found)


def test_baselines_do_not_bend_what_is_expected() -> None:
    """Against the uniform start: the same mean regrets from baselines of 0 and of 5, within the noise."""
    plain, spoilt = (first_regrets(0.0, spoil, 4000) for spoil in (0.0, 5.0))
    noise = np.sqrt(plain.var(axis=0) / len(plain) + spoilt.var(axis=0) / len(spoilt))
    away = np.abs(plain.mean(axis=0) - spoilt.mean(axis=0))
    assert (away <= 4.5 * noise + 1e-12).all()
    assert spoilt.var() > plain.var()  # bad baselines cost variance


def test_good_baselines_take_variance_away() -> None:
    """Of the same profile: regrets found with learnt baselines scatter less than those without."""
    walk = QuotientGraph.of(explore(load("leduc_poker")))
    spread = []
    for step in (0.0, 0.1):
        solver = OutcomeMccfr(walk, 1, step=step)
        solver.step(200_000)
        before, gains = solver.table.regret.copy(), []
        for _ in range(400):
            weight = solver.iteration + 1
            solver.step(1)
            gains.append((solver.table.regret[: len(before)] - before) / weight)
            before = solver.table.regret.copy()
        spread.append(float(np.square(gains).sum(axis=1).mean()))
    assert spread[1] < 0.8 * spread[0]


def test_the_same_seed_gives_the_same_run_however_it_is_cut() -> None:
    walk = QuotientGraph.of(explore(load("leduc_poker")))
    one, other, third = (OutcomeMccfr(walk, seed) for seed in (3, 3, 4))
    one.step(3000)
    for part in (1, 999, 2000):
        other.step(part)
    third.step(3000)
    states, entries = one.table.filled[STATES], one.table.filled[ENTRIES]
    assert other.table.filled[STATES] == states
    np.testing.assert_array_equal(one.table.regret[:entries], other.table.regret[:entries])
    assert not np.array_equal(one.table.regret[:100], third.table.regret[:100])


def test_it_is_saved_and_restored() -> None:
    walk = QuotientGraph.of(explore(load("leduc_poker")))
    one, other = OutcomeMccfr(walk, 3), OutcomeMccfr(walk, 9)
    one.step(500)
    saved = {name: np.array(array) for name, array in one.save().items()}
    other.restore(saved)
    for solver in (one, other):
        solver.step(500)
    np.testing.assert_array_equal(one.table.regret, other.table.regret)
    with pytest.raises(CheckpointError, match="baseline"):
        OutcomeMccfr(walk, 1).restore(saved | {"table.baseline": np.zeros((2, 1))})


def test_what_it_refuses() -> None:
    walk = QuotientGraph.of(explore(load("leduc_poker")))
    for wrong in ({"exploration": 0.0}, {"step": 2.0}):
        with pytest.raises(ParameterError, match="allowed"):
            OutcomeMccfr(walk, **wrong)
    with pytest.raises(ParameterError, match="two at least"):
        OutcomeMccfr(QuotientGraph.of(explore(load("gdl:monty_hall"))))
    with pytest.raises(BudgetError, match="max_bytes"):
        OutcomeMccfr(walk, max_bytes=1000).step(100)
