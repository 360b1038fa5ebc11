"""Declared opponents and exact answers to them, on Meier: every figure without a single sampled game."""

import numpy as np
import pytest

from infoset import GameTree, SequenceForm, expected_values, load
from infoset.errors import UnsupportedGameError
from infoset.match.agents import load_agent
from infoset.match.series import play_series
from infoset.policies.asking import plan_on_tree
from infoset.search.models import model_of, response_to
from infoset.solvers.tabular.public_subgames import solve_public
from infoset.tree.graph import explore


@pytest.fixture(scope="module")
def meier():
    game = load("gdl:meier")
    return game, explore(game)


def against(graph, player, solution, model):
    """The payoff of ``player``'s part of a solution when everybody else plays ``model``."""
    policies = iter(solution.pieces)

    def mixed(tree, form):
        plan, own = plan_on_tree(model, tree, form), form.player_sequences(player)
        plan[own] = next(policies).plan(form)[own]
        return plan

    return solve_public(graph, mixed).values[player]


@pytest.mark.parametrize(("model", "first", "second"), [("random", 80.5, 77.5), ("meier", 69.9, 49.2)])
def test_the_equilibrium_of_meier(meier, model, first, second) -> None:
    game, graph = meier
    solution = solve_public(graph)
    assert against(graph, 0, solution, model_of(game, model)) == pytest.approx(first, abs=0.6)
    assert against(graph, 1, solution, model_of(game, model)) == pytest.approx(second, abs=2.6)  # one of many


@pytest.mark.parametrize(
    ("player", "exploited", "model", "score"),
    [
        (0, "random", "random", 98.045),
        (0, "random", "meier", 80.025),
        (1, "random", "random", 95.279),
        (1, "random", "meier", 52.985),
        (0, "meier", "meier", 81.974),
        (1, "meier", "meier", 62.977),
    ],
)
def test_best_responses_in_meier(meier, player, exploited, model, score) -> None:
    game, graph = meier
    response = solve_public(graph, response_to(model_of(game, exploited), player))
    assert against(graph, player, response, model_of(game, model)) == pytest.approx(score, abs=1e-3)


def test_played_games_agree_with_the_exact_figure() -> None:
    series = play_series("gdl:meier", ["search(exploit=meier)", "meier"], games=1500, seed=1)
    score = series.agents[0]
    assert abs(score.mean - 81.974) < 1.7 * score.interval
    assert not any(score.faults.values())


def test_the_models_chances_are_what_the_agent_plays() -> None:
    game = load("gdl:meier")
    agent = load_agent("meier")
    agent.begin(game, 0, np.random.default_rng(1), None)
    agent.observe("noop", (("my_dice", 6, 1),))
    legal_actions = tuple(("claim", *pair) for pair in [(6, 1), (6, 2), (2, 1), (1, 1)])
    probabilities = dict(zip(legal_actions, agent.report_probabilities(legal_actions), strict=True))
    counts = dict.fromkeys(legal_actions, 0)
    for _ in range(4000):
        try:
            counts[agent.act(legal_actions, None)] += 1
        except KeyError:
            pytest.fail("a move that is not legal")
    total = sum(probabilities.values())
    for action in legal_actions:
        assert counts[action] / 4000 == pytest.approx(probabilities[action] / total, abs=0.04)


def test_an_agent_that_hides_its_chances_is_no_model() -> None:
    with pytest.raises(UnsupportedGameError, match="does not report its action probabilities"):
        model_of(load("gdl:meier"), "simple")


def test_a_plan_of_the_uniform_model() -> None:
    tree = GameTree.of(load("kuhn_poker"))
    form = SequenceForm.of(tree)
    plan = plan_on_tree(model_of(load("kuhn_poker"), "random"), tree, form)
    assert expected_values(form, plan) == pytest.approx((0.125, -0.125))  # OpenSpiel
