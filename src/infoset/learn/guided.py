"""Searches guided by a network: the agents, and the matches that measure them against flat Monte Carlo."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infoset.base import Agent, FloatArray
from infoset.clock import ENDLESS
from infoset.learn.lazy_states import LazyStates
from infoset.learn.learner import one_thread
from infoset.learn.net import StateNet
from infoset.learn.net_leaves import NetLeaves, NetValueLeaves
from infoset.match.match import play_match
from infoset.search.histories import Belief
from infoset.search.kluss import Kluss, KlussAgent
from infoset.search.leaf_values import Leaves
from infoset.search.monte_carlo import Budget, FlatMc, GraphAgent, most_visited, seed_of
from infoset.search.tree_search import STATE, TreeSearch

EXPLORATION = 1.0  # for payoffs scaled to [0, 1]


def make_guided_agent(budget: Kluss, net: StateNet, encoding: LazyStates) -> GraphAgent:
    """Return the agent that plays by a network: a tree search where everybody sees everything, else ``kluss``."""
    if encoding.graph.open:
        plain = Budget(budget.seconds_per_move, budget.nodes, seed=budget.seed)
        return GuidedAgent(plain, net, encoding)
    return GuidedKluss(budget, net, encoding)


class GuidedKluss(KlussAgent):
    """Knowledge-limited subgame solving with a network's values at the leaves, for a game that is not enumerated."""

    name = "trained"

    def __init__(self, budget: Kluss, net: StateNet, encoding: LazyStates) -> None:
        super().__init__(budget)
        self.net, self.encoding, self.awake = net, encoding, False

    @one_thread()
    def prepare(self) -> None:
        self.encoding.follow(self.graph)
        super().prepare()
        if not self.awake:
            self.awake = True
            with self.graph.growing(ENDLESS):
                NetValueLeaves(self.net, self.encoding).wake()

    def evaluation_by(self, playouts: int, seed: int) -> Leaves:
        """Return the evaluation of leaves by the network."""
        return NetValueLeaves(self.net, self.encoding)

    @one_thread()
    def search(self, roots: Belief, size: int, until: float) -> FloatArray:
        return super().search(roots, size, until)


class GuidedAgent(GraphAgent):
    """A tree search guided by a network, for a game that is not enumerated and in which everybody sees everything.

    The statistics of the search are kept for later moves.
    """

    name = "trained"

    def __init__(self, budget: Budget, net: StateNet, encoding: LazyStates) -> None:
        super().__init__(budget)
        self.net, self.encoding, self.awake = net, encoding, False

    @one_thread()
    def prepare(self) -> None:
        self.encoding.follow(self.graph)
        seed = seed_of(self.seed, self.moved)
        leaves = NetLeaves(self.net, self.encoding, seed)
        self.tree_search = TreeSearch(self.graph, leaves, STATE, self.player, EXPLORATION, seed, guided=True)
        if not self.awake:
            self.awake = True
            with self.graph.growing(ENDLESS):
                leaves.wake()

    @one_thread()
    def search(self, roots: Belief, size: int, until: float) -> FloatArray:
        self.tree_search.guide(roots, np.full(roots.size, self.player), until)
        self.walk(self.tree_search, roots, self.leaves(), until)
        return most_visited(self.tree_search, roots, self.offered)


@dataclass(frozen=True)
class Duel:
    """A search with a network against flat Monte Carlo, both with ``nodes`` leaves for each move."""

    net: StateNet
    encoding: LazyStates
    nodes: int

    def play(self, seat: int, seed: int) -> float:
        """Play a match with the guided search in ``seat``; return its payoff scaled to [0, 1]."""
        encoding = self.encoding
        agents: list[Agent | str] = [FlatMc(nodes=self.nodes).agent() for _ in encoding.game.players]
        agents[seat] = make_guided_agent(Kluss(nodes=self.nodes), self.net, encoding)
        return encoding.normalised(play_match(encoding.game, agents, seed=seed).returns[seat])
