"""Metrics: published figures and games solvable by hand."""

import numpy as np
import pytest

from conftest import KUHN, LEDUC, form_of
from infoset import (
    SequenceForm,
    TabularPolicy,
    best_response,
    evaluate,
    expected_values,
    exploitability,
    load,
    nash_conv,
    performance,
)
from infoset.errors import UnsupportedGameError
from infoset.solvers.metrics import polish
from infoset.tree.plans import random_interior, realisation, uniform


@pytest.mark.parametrize(
    ("name", "values", "total", "largest"),
    [
        (KUHN, (0.125, -0.125), 11 / 12, 0.541667),  # OpenSpiel's exploitability tests
        ("kuhn_poker(players=3)", (0.234375, -0.046875, -0.1875), None, 0.822917),
        ("kuhn_poker(players=4)", None, None, 1.016146),
        (LEDUC, None, 4.747222, None),  # OpenSpiel: uniform Leduc
        ("matching_pennies_3p", (0, 0, 0), 0, 0),
        ("rock_paper_scissors", (0, 0), 0, 0),
    ],
)
def test_the_uniform_profile(name, values, total, largest) -> None:
    form = form_of(name)
    result = evaluate(form, realisation(form, uniform(form)))
    if values is not None:
        assert result.values == pytest.approx(values, abs=1e-9)
    if total is not None:
        assert result.nash_conv == pytest.approx(total, abs=1e-6)
        assert result.exploitability == pytest.approx(total / form.num_players, abs=1e-6)
    if largest is not None:
        assert result.epsilon == pytest.approx(largest, abs=1e-6)


def test_always_rock_loses_one_to_paper() -> None:
    form = form_of("rock_paper_scissors")
    rock = TabularPolicy.from_function(form, lambda key, actions: {"Rock": 1.0})
    result = evaluate(form, rock.plan(form))
    assert result.best_response_values == (1.0, 1.0)
    assert result.nash_conv == 2.0
    answer = best_response(form, rock.plan(form), 1)
    assert dict(TabularPolicy.from_plan(form, answer).probabilities(1, "start"))["Paper"] == 1.0


def test_gains_are_never_negative() -> None:
    for seed in range(20):
        form = form_of("kuhn_poker(players=3)")
        result = evaluate(form, realisation(form, random_interior(form, seed)))
        assert min(np.subtract(result.best_response_values, result.values)) >= -1e-12
        assert result.epsilon <= result.nash_conv


def test_performance_of_the_baseline_is_zero() -> None:
    form = form_of("kuhn_poker(players=3)")
    assert performance(form, realisation(form, uniform(form))) == pytest.approx(0, abs=1e-12)


def test_short_forms_agree() -> None:
    form = form_of(KUHN)
    plan = realisation(form, uniform(form))
    assert nash_conv(form, plan) == 2 * exploitability(form, plan) == evaluate(form, plan).nash_conv


def test_polishing_climbs_to_a_pure_equilibrium() -> None:
    form = SequenceForm.of(load("tiny_hanabi(game=D)"))
    for seed in range(20):
        plan = realisation(form, random_interior(form, seed))
        polished = polish(form, plan)
        assert expected_values(form, polished)[0] >= expected_values(form, plan)[0]
        assert evaluate(form, polished).epsilon < 1e-9
        assert set(np.unique(polished)) <= {0.0, 1.0}
    with pytest.raises(UnsupportedGameError, match="no common-payoff game"):
        polish(SequenceForm.of(load("kuhn_poker")), np.ones(1))
