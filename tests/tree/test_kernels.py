"""Each kernel against a slow twin in plain NumPy, on the definitions of the sequence form."""

import numpy as np
import pytest

from conftest import form_of
from infoset.tree import kernels
from infoset.tree.plans import behaviour, random_interior, realisation

GAMES = ["kuhn_poker", "leduc_poker", "kuhn_poker(players=3)", "matching_pennies_3p"]


def children(form, sequence):
    return [k for k in range(form.num_infosets) if form.arrays.parent[k] == sequence]


def actions(form, k):
    return range(int(form.arrays.first[k]), int(form.arrays.first[k] + form.arrays.size[k]))


def slow_gradient(form, player, plan):
    rows, payoffs = form.terminals()
    values = np.zeros(form.num_sequences)
    for row, paid in zip(rows, payoffs, strict=True):
        values[row[player]] += paid[player] * np.prod([plan[q] for p, q in enumerate(row) if p != player])
    return values


def slow_value(form, sequence, values, combine):
    """The value of what follows a sequence, by recursion."""
    total = values[sequence]
    for k in children(form, sequence):
        total += combine(k, [slow_value(form, q, values, combine) for q in actions(form, k)])
    return total


@pytest.mark.parametrize("name", GAMES)
def test_gradient_expect_best(name: str) -> None:
    form = form_of(name)
    strategy = random_interior(form, seed=3)
    plan = realisation(form, strategy)
    for player in range(form.num_players):
        own, root = form.player_sequences(player), form.player_sequences(player).start
        values = np.zeros(form.num_sequences)
        kernels.gradient(form.arrays, player, plan, values)
        slow = slow_gradient(form, player, plan)
        assert values[own] == pytest.approx(slow[own], abs=1e-12)

        kernels.expect_up(form.arrays, player, strategy, values, np.zeros(form.num_infosets))
        mean = slow_value(form, root, slow, lambda k, below: strategy[list(actions(form, k))] @ below)
        assert values[root] == pytest.approx(mean, abs=1e-12)

        values[own] = slow[own]
        kernels.best_up(form.arrays, player, values)
        assert values[root] == pytest.approx(slow_value(form, root, slow, lambda k, below: max(below)), abs=1e-12)


@pytest.mark.parametrize("name", GAMES)
def test_plans_and_behaviour_are_inverse(name: str) -> None:
    form = form_of(name)
    strategy = random_interior(form, seed=4)
    plan = realisation(form, strategy)
    for k in range(form.num_infosets):
        assert plan[list(actions(form, k))].sum() == pytest.approx(plan[form.arrays.parent[k]])
    assert behaviour(form, plan) == pytest.approx(strategy)


def test_behaviour_is_uniform_where_nothing_is_reached() -> None:
    form = form_of("kuhn_poker")
    plan = np.zeros(form.num_sequences)
    assert behaviour(form, plan)[1:3] == pytest.approx([0.5, 0.5])
