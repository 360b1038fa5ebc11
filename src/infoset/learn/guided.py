"""Tree search guided by a network: the agent, and the matches that measure it against flat Monte Carlo."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infoset.base import Agent, FloatArray
from infoset.clock import ENDLESS
from infoset.learn.learner import one_thread
from infoset.learn.net import StateNet
from infoset.learn.net_leaves import NetLeaves
from infoset.learn.propositions import Propositions
from infoset.match.match import play_match
from infoset.search.belief import Belief
from infoset.search.monte_carlo import Budget, FlatMc, GraphAgent, most_visited, seed_of
from infoset.search.tree_search import OWN, STATE, TreeSearch

EXPLORATION = 1.0  # for payoffs scaled to [0, 1]


class GuidedAgent(GraphAgent):
    """A tree search guided by a network, for a game that is not enumerated.

    The statistics of the search are kept for later moves.
    """

    name = "trained"

    def __init__(self, budget: Budget, net: StateNet, encoding: Propositions) -> None:
        super().__init__(budget)
        self.net, self.encoding, self.awake = net, encoding, False

    @one_thread()
    def prepare(self) -> None:
        self.encoding.follow(self.graph)
        by, seed = STATE if self.graph.open else OWN, seed_of(self.seed, self.moved)
        leaves = NetLeaves(self.net, self.encoding, seed)
        self.tree_search = TreeSearch(self.graph, leaves, by, self.player, EXPLORATION, seed, guided=True)
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
    """A search guided by a network against flat Monte Carlo, both with ``nodes`` leaves for each move."""

    net: StateNet
    encoding: Propositions
    nodes: int

    def play(self, seat: int, seed: int) -> float:
        """Play a match with the guided search in ``seat``; return its payoff scaled to [0, 1]."""
        encoding = self.encoding
        agents: list[Agent | str] = [FlatMc(nodes=self.nodes).agent() for _ in encoding.game.players]
        agents[seat] = GuidedAgent(Budget(nodes=self.nodes), self.net, encoding)
        return encoding.normalised(play_match(encoding.game, agents, seed=seed).returns[seat])
