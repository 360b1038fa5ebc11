"""Lower bounds on exploitability: local best responses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from infoset import evaluate, load
from infoset.compiled import Compiled
from infoset.errors import BudgetError
from infoset.policies.simple import UniformPolicy
from infoset.search.belief import BeliefTracker
from infoset.search.learnt_response import LocalResponse, lower_bound
from infoset.search.models import by_edge, by_policy
from infoset.solving import solve
from infoset.tree.rules_source import build_lazy_graph

KING, JACK = (None, "K"), (None, "J")


class Telling:
    """A policy for Kuhn poker that bets with the king alone."""

    def action_probabilities(self, player: int, infostate: Any, legal_actions: Any) -> list[float]:
        king = infostate[0] == KING
        return [float((action == "bet") == king) for action in legal_actions]


def test_the_range_is_that_of_the_policy() -> None:
    """After a bet of a player who bets with the king alone, the jack faces a king."""
    game = load("kuhn_poker")
    graph = build_lazy_graph(game)
    with graph.growing():
        ranges = BeliefTracker(graph, by_edge(by_policy(Telling()), graph, graph.states))
        state = 1
        for record in (JACK, (None, "bet")):
            state = ranges.successor(state, graph.source.record_number(1, record))
        found = ranges.asked(1, state)
        kings = [graph.key(int(k)) for k, w in zip(found.infostate[:, 0], found.weight, strict=True) if w > 0]
    assert kings
    assert all("K" in key for key in kings)


def test_a_local_response_gains_less_than_a_best_response(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leduc poker, as if its positions did not fit: random play loses most of what it could lose."""
    compiled = Compiled.of("leduc_poker")
    exact = evaluate("leduc_poker", "random")

    def refuse(self: Compiled) -> Any:
        raise BudgetError("the positions do not fit")

    monkeypatch.setattr(Compiled, "graph", property(refuse))
    found = lower_bound(compiled, UniformPolicy(), 20.0, 1, "a test")
    assert not found.exact
    assert found.nash_conv - found.margin <= exact.nash_conv
    assert found.nash_conv > 0.4 * exact.nash_conv


def test_against_an_equilibrium_it_gains_nothing() -> None:
    game = load("kuhn_poker")
    policy = solve(game, "lp").policy
    response = LocalResponse(policy.on(Compiled.of(game)) if hasattr(policy, "on") else policy, nodes=200)
    response.begin(game, 0, np.random.default_rng(1), None)
    response.observe(*JACK)
    assert response.act(("pass", "bet"), None) in {"pass", "bet"}
    assert not response.faults
