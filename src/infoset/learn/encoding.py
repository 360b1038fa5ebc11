"""Inputs and outputs of a network of states: facts of states in, values and move probabilities of all players out."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from infoset.base import Action, BoolArray, FloatArray, IntArray, LongArray
from infoset.errors import BudgetError, UnsupportedGameError
from infoset.names import format_action
from infoset.tree.graph import TERMINAL, GameGraph, spread

MAX_BYTES = 4 << 30
NO_STATE = -1

Amount = TypeVar("Amount", float, FloatArray)


class PayoffRange:
    """The lowest and the highest payoff of a game, between which a network's values are scaled."""

    low: float
    high: float

    def normalised(self, payoffs: Amount) -> Amount:
        """Scale payoffs to [0, 1], from the least to the greatest of the game."""
        return (payoffs - self.low) / (self.high - self.low or 1.0)

    def payoffs(self, values: FloatArray) -> FloatArray:
        """Scale values in [0, 1] back to payoffs."""
        return self.low + values * (self.high - self.low)


class Encoding(PayoffRange):
    """The states of a graph as rows: ``S`` states, ``F`` facts that are not constant, ``A`` moves of a player.

    Raises ``UnsupportedGameError`` for a graph explored without facts, ``BudgetError`` where rows take too much memory.
    """

    board: LongArray | None = None  # as in the paper: no board layers, each fact is an input by itself

    def __init__(self, graph: GameGraph) -> None:
        if graph.facts is None:
            raise UnsupportedGameError(f"{graph.name} was explored without the facts that a network sees")
        states, width = graph.facts.holds.shape
        if states * width * 8 > MAX_BYTES:
            raise BudgetError(
                f"{graph.name}: {states:,} states of {8 * width:,} facts are more than {MAX_BYTES:,} bytes"
            )
        self.graph, self.name = graph, graph.name
        self.position = graph.facts.position
        holds = np.unpackbits(graph.facts.holds, axis=1, bitorder="little")
        self.facts: npt.NDArray[np.uint8] = np.ascontiguousarray(holds[:, holds.min(axis=0) != holds.max(axis=0)])
        self.decision = np.flatnonzero(graph.player >= 0)
        self.mover = graph.player[self.decision]
        self.actions = [self._actions(player) for player in range(len(graph.players))]
        self.number = [{action: k for k, action in enumerate(actions)} for actions in self.actions]
        self.low, self.high = float(graph.payoffs.min()), float(graph.payoffs.max())

    def __len__(self) -> int:
        return len(self.facts)

    def _actions(self, player: int) -> list[Action]:
        """Return all moves that a player can ever have, sorted."""
        action_sets = np.unique(self.graph.content[self.decision[self.mover == player]])
        found = {action: None for action_set in action_sets.tolist() for action in self.graph.action_sets[action_set]}
        return sorted(found, key=format_action)

    @property
    def num_facts(self) -> int:
        return int(self.facts.shape[1])

    @cached_property
    def row(self) -> IntArray:
        """(P,) the state to whose step a position belongs."""
        graph = self.graph
        row = np.full(len(graph.player), NO_STATE, dtype=np.int32)
        row[self.position] = np.arange(len(self.position))
        level: LongArray = self.position.astype(np.int64)
        while len(level):
            edges, source = spread(graph, level)
            inner = ~graph.completes[edges] & (row[graph.child[edges]] == NO_STATE)
            below = graph.child[edges[inner]].astype(np.int64)
            row[below] = row[level[source[inner]]]
            level = below
        return row

    @cached_property
    def column(self) -> IntArray:
        """(E,) the number of an edge's move among its player's moves; -1 at chance."""
        graph = self.graph
        column = np.full(len(graph.child), -1, dtype=np.int32)
        for player, number in enumerate(self.number):
            mine = self.decision[self.mover == player]
            for action_set in np.unique(graph.content[mine]).tolist():
                places = [number[action] for action in graph.action_sets[action_set]]
                first = graph.first_edge[mine[graph.content[mine] == action_set]]
                for k, place in enumerate(places):
                    column[first + k] = place
        return column

    @cached_property
    def legal_actions(self) -> list[BoolArray]:
        """For each player (S, A) whether a move is legal in a state."""
        graph = self.graph
        source = graph.source
        found = []
        for player, actions in enumerate(self.actions):
            mine = graph.player[source] == player
            legal_actions = np.zeros((len(self.position), len(actions)), dtype=np.bool_)
            legal_actions[self.row[source[mine]], self.column[mine]] = True
            found.append(legal_actions)
        return found

    def edge_probabilities(self, policies: list[FloatArray]) -> FloatArray:
        """Return (E,) the probabilities of edges from the players' ``policies`` (S, A); 1 for chance."""
        graph = self.graph
        source = graph.source
        probabilities = np.ones(len(graph.child))
        for player, policy in enumerate(policies):
            mine = np.flatnonzero(graph.player[source] == player)
            probabilities[mine] = policy[self.row[source[mine]], self.column[mine]]
        return probabilities

    @cached_property
    def fingerprint(self) -> str:
        """Fingerprint of the game as far as a network depends on it: positions, facts and moves."""
        digest = hashlib.sha256()
        graph = self.graph
        ends = graph.payoffs[graph.content[graph.player == TERMINAL]]
        for array in (graph.player, graph.first_edge, graph.child, graph.probability, ends, self.facts):
            digest.update(np.ascontiguousarray(array).tobytes())
        for actions in self.actions:
            digest.update("\0".join(map(format_action, actions)).encode())
        return digest.hexdigest()[:32]
