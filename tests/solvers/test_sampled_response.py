"""Answers learnt from plays: as good as exact best responses, the same from the same seed, within clock and memory."""

import time

import numpy as np
import pytest

from infoset import load
from infoset.errors import BudgetError
from infoset.search.models import by_number, uniform
from infoset.solvers.sampling.belief_response import evaluate_policy
from infoset.solvers.sampling.infoset_table import ENTRIES, InfosetTable
from infoset.solvers.sampling.sampled_response import SampledResponse
from infoset.tree.graph import explore
from infoset.tree.quotient_graph import QuotientGraph
from infoset.tree.symmetry import find_symmetry

GAMES = ["kuhn_poker", "leduc_poker", "kuhn_poker(players=3)", "gdl:scissors_double", "gdl:monty_hall"]


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("symmetric", [False, True])
def test_against_random_play_it_finds_the_best_response(name, symmetric) -> None:
    graph = explore(load(name))
    walk = QuotientGraph.of(graph, find_symmetry(graph) if symmetric else None)
    nobody = InfosetTable.empty(len(graph.players), walk.group)
    expected = evaluate_policy(walk, nobody.policy(np.zeros(0))).best_response_values
    for player in range(len(graph.players)):
        solver = SampledResponse(walk, player)
        solver.step(200_000)
        found = evaluate_policy(walk, solver.policy()).values[player]
        assert found == pytest.approx(expected[player], rel=0.04, abs=0.02)


def test_a_model_is_asked_and_answered() -> None:
    """Against one who always bets, or always passes, in Kuhn poker: by hand, from the six deals."""
    graph = explore(load("kuhn_poker"))
    walk = QuotientGraph.of(graph)
    for action, worth in (("bet", 1 / 3), ("pass", 1.0)):

        def model(player, records, action_set, action=action):
            return [float(word == action) for word in graph.action_sets[action_set]]

        solver = SampledResponse(walk, 0, model)
        solver.step(30_000)
        assert evaluate_policy(walk, solver.policy()).values[0] == pytest.approx(worth, abs=1e-9)


def test_random_play_as_a_model_is_what_no_model_is() -> None:
    graph = explore(load("gdl:scissors_double"))
    walk = QuotientGraph.of(graph)
    told, plain = SampledResponse(walk, 0, by_number(uniform, graph), seed=3), SampledResponse(walk, 0, seed=3)
    for solver in (told, plain):
        solver.step(5_000)
    assert evaluate_policy(walk, told.policy()).values == evaluate_policy(walk, plain.policy()).values


def test_the_same_seed_gives_the_same_run_however_it_is_cut() -> None:
    walk = QuotientGraph.of(explore(load("leduc_poker")))
    one, other, third = (SampledResponse(walk, 0, seed=seed) for seed in (3, 3, 4))
    one.step(5_000)
    for part in (1, 999, 2_500, 1_500):
        other.step(part)
    third.step(5_000)
    np.testing.assert_array_equal(one.policy().behaviour, other.policy().behaviour)
    assert one.iteration == other.iteration == 5_000
    assert not np.array_equal(one.table.regret[:100], third.table.regret[:100])


def test_a_slow_model_is_asked_no_longer_than_the_clock_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left is asked before the next play, so that the run stays the same.  Time passes with each question."""
    graph = explore(load("leduc_poker"))
    walk, asked, now = QuotientGraph.of(graph), [], [0.0]
    monkeypatch.setattr("infoset.solvers.sampling.sampled_response.time.monotonic", lambda: now[0])

    def slow(player, records, action_set):
        asked.append(records)
        now[0] += 0.002
        return uniform(player, (), graph.action_sets[action_set])

    cut, whole = SampledResponse(walk, 0, slow), SampledResponse(walk, 0, slow)
    cut.step(1)  # compiled
    cut.step(5_000, now[0] + 0.051)
    met = int((cut.table.regret[: cut.table.filled[ENTRIES]] > 0).sum())
    assert cut.iteration == 1_000
    assert len(asked) < met
    cut.step(4_000)
    whole.step(5_000)
    np.testing.assert_array_equal(cut.policy().behaviour, whole.policy().behaviour)


def test_clock_and_memory_are_kept() -> None:
    walk = QuotientGraph.of(explore(load("leduc_poker")))
    solver = SampledResponse(walk, 0)
    solver.step(10**9, time.monotonic() + 0.2)
    assert 0 < solver.iteration < 10**9
    with pytest.raises(BudgetError, match=r"information sets after .* iterations take .* more than max_bytes=20,000"):
        SampledResponse(walk, 0, max_bytes=20_000).step(1_000)
