"""Variance reduction of payoffs: control variates from exact values, where a game's tree is enumerated.

The estimator is AIVAT (Burch, Schmid, Moravcik, Morrill & Bowling 2018, *AIVAT: A New Variance Reduction Technique for
Agent Evaluation in Imperfect Information Games*, AAAI).  Every history has a value: the expected payoffs where players
whose policy is known follow it, and all others move uniformly.  Wherever chance or a known policy moves, the value
before the move minus the value after the drawn move is added to the payoffs.  Each such term has mean 0 whatever the
others do, so that the sum is an unbiased estimate of the expected payoffs, also of agents that make faults.  Where all
policies are known, no variance due to luck remains.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from infoset.base import Agent, BoolArray, Drawing, FloatArray, Game
from infoset.errors import InfosetError
from infoset.match.agents import PolicyAgent, RandomAgent
from infoset.match.replay import MatchStep
from infoset.policies.asking import Row, row_at
from infoset.policies.simple import UniformPolicy
from infoset.tree.game_tree import ROOT, GameTree
from infoset.tree.graph import CHANCE, TERMINAL

LINEUPS = 64  # line-ups whose values are cached


class Controls:
    """The control variates of one game's payoffs."""

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        graph = tree.graph
        mover = graph.player[tree.position]
        self.chance = mover == CHANCE
        self.mover = mover
        nodes = np.arange(1, len(tree.parent), dtype=np.int32)
        branches = np.diff(tree.first_child)
        above = tree.parent[nodes]
        self.uniform = np.ones(len(tree.parent))
        self.uniform[1:] = np.where(self.chance[above], graph.probability[tree.edges(nodes)], 1 / branches[above])
        self.ends = np.flatnonzero(branches == 0)
        self.paid = graph.payoffs[graph.content[tree.position[self.ends]]]
        self.rows: dict[tuple[str, int], FloatArray] = {}
        self.values = lru_cache(maxsize=LINEUPS)(self._values)

    @classmethod
    def of(cls, game: Game, max_histories: int) -> Controls:
        """Build the controls of a game.  Raises ``BudgetError`` for one with more histories."""
        return cls(GameTree.of(game, max_histories))

    def know(self, name: str, player: int, row: Row) -> None:
        """Register the policy of the agent ``name`` in the seat of ``player``, given by its rows."""
        tree, probabilities = self.tree, np.full(len(self.tree.parent), np.nan)
        sets = {k: row_at(row, tree, k) for k in np.flatnonzero(tree.infoset_player == player).tolist()}
        for node in np.flatnonzero(self.mover == player).tolist():
            first = int(tree.first_child[node])
            found = sets[int(tree.infoset[node])]
            probabilities[first : first + len(found)] = found
        self.rows[name, player] = probabilities

    def adjust(
        self, steps: Sequence[MatchStep], returns: Sequence[float], agents: Sequence[str]
    ) -> tuple[float, ...] | None:
        """Return the payoffs (n,) of a game adjusted for luck, ``agents[p]`` in the seat of player ``p``.

        ``None`` for a game whose moves are not in the tree.
        """
        values, known = self.values(tuple(name if (name, p) in self.rows else "" for p, name in enumerate(agents)))
        path = self._path(steps)
        if path is None:
            return None
        drawn = [k for k in range(len(path) - 1) if known[path[k]]]
        luck = sum((values[path[k]] - values[path[k + 1]] for k in drawn), np.zeros(values.shape[1]))
        return tuple([float(value) for value in np.asarray(returns) + luck])

    def _path(self, steps: Sequence[MatchStep]) -> list[int] | None:
        """Return the nodes of a game from the root, ``None`` where a move is not in the tree."""
        tree, node = self.tree, ROOT
        path = [node]
        for step in steps:
            actions = [action for action in step.actions if action is not None]
            if step.chance_outcome is not None:
                actions.append(step.chance_outcome)
            for action in actions:  # the tree orders simultaneous moves by player, with chance last
                action_set = tree.graph.actions(int(tree.position[node])) if tree.player(node) != TERMINAL else ()
                if action not in action_set:
                    return None
                node = int(tree.first_child[node]) + action_set.index(action)
                path.append(node)
        return path

    def _values(self, lineup: tuple[str, ...]) -> tuple[FloatArray, BoolArray]:
        """Return (N, n) the value of every history, and (N,) whether its move is drawn with known probabilities."""
        tree = self.tree
        weight, known = self.uniform.copy(), self.chance.copy()
        for player, name in enumerate(lineup):
            if name:
                row = self.rows[name, player]
                weight = np.where(np.isnan(row), weight, row)
                known |= self.mover == player
        values = np.zeros((len(tree.parent), self.paid.shape[1]))
        values[self.ends] = self.paid
        for begin, end in zip(tree.levels[-2:0:-1].tolist(), tree.levels[:1:-1].tolist(), strict=True):
            np.add.at(values, tree.parent[begin:end], weight[begin:end, None] * values[begin:end])
        return values, known & (tree.first_child[:-1] < tree.first_child[1:])


def known_row(agent: Agent, game: Game) -> Row | None:
    """Return the rows from which an agent draws its moves; ``None`` where they are not known for certain."""
    if type(agent) is RandomAgent:
        return UniformPolicy().action_probabilities
    if type(agent) is PolicyAgent:  # not a subclass, which may move otherwise
        try:
            policy = agent.policy_for(game)
        except InfosetError:
            return None
        return None if isinstance(policy, Drawing) else policy.action_probabilities
    return None
