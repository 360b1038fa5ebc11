"""Opponent models, declared by name: uniformly random, or an agent that reports its move probabilities.

The answer to a model is a best response to it, not an equilibrium: it gains most against that opponent and may lose to
any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from infoset.base import Action, FloatArray, Game, InformationState, LongArray, Policy
from infoset.match.agents import load_agent
from infoset.policies.asking import plan_on_tree
from infoset.policies.simple import AskedPolicy
from infoset.search.belief import Moves
from infoset.solvers.metrics import best_response
from infoset.solvers.sampling.sampled_response import NumberedModel
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import NO_RECORD, GameGraph
from infoset.tree.lazy_graph import LazyGraph
from infoset.tree.sequence_form import SequenceForm

Graph: TypeAlias = "GameGraph | LazyGraph"
Model: TypeAlias = Callable[[int, InformationState, tuple[Action, ...]], Sequence[float]]
"""An opponent model: from player, information state and moves to probabilities that sum to one."""


def uniform(player: int, infostate: InformationState, legal_actions: tuple[Action, ...]) -> Sequence[float]:
    """Return equal probabilities for all moves."""
    return [1 / len(legal_actions)] * len(legal_actions)


def model_of(game: Game, name: str) -> Model:
    """Return the model of an agent's name; ``random`` plays uniformly.  Raises ``UnsupportedGameError``."""
    return uniform if name == "random" else AskedPolicy(game, load_agent(name)).action_probabilities


def by_policy(policy: Policy) -> Model:
    """Return a policy as a model, which moves uniformly where the policy has no row."""

    def probabilities(player: int, infostate: InformationState, legal_actions: tuple[Action, ...]) -> Sequence[float]:
        return policy.action_probabilities(player, infostate, legal_actions) or uniform(
            player, infostate, legal_actions
        )

    return probabilities


def by_number(model: Model, graph: Graph) -> NumberedModel:
    """Return a model of information states as a model of the record numbers that sampling uses."""

    def probabilities(player: int, records: list[int], action_set: int) -> Sequence[float]:
        start = graph.start_records[player]
        infostate = tuple([graph.records[record] for record in ([] if start == NO_RECORD else [start]) + records])
        return model(player, infostate, graph.action_sets[action_set])

    return probabilities


def by_edge(model: Model, graph: Graph, states: Any) -> Moves:
    """Return a model as beliefs use it: a function of edges and of the movers' information states before them."""
    numbered = by_number(model, graph)
    rows: dict[tuple[int, int], Sequence[float]] = {}

    def probabilities(edges: LongArray, infostate: LongArray) -> FloatArray:
        source = graph.arrays.source if isinstance(graph, LazyGraph) else graph.source
        found = np.ones(len(edges))
        for k, (edge, state) in enumerate(zip(edges.tolist(), infostate.tolist(), strict=True)):
            position = int(source[edge])
            action_set = int(graph.content[position])
            if (state, action_set) not in rows:
                player, path = states.path(state)
                rows[state, action_set] = numbered(player, path, action_set)
            found[k] = rows[state, action_set][edge - int(graph.first[position])]
        return found

    return probabilities


def response_to(model: Model, player: int) -> Callable[[GameTree, SequenceForm], FloatArray]:
    """Return an oracle: ``player`` plays a best response to everybody else playing ``model``."""

    def respond(tree: GameTree, form: SequenceForm) -> FloatArray:
        return best_response(form, plan_on_tree(model, tree, form), player)

    return respond
