"""The input of a network for a described game that is not enumerated: one bit for each proposition of a state."""

from __future__ import annotations

import hashlib
from functools import cached_property

import numpy as np
import numpy.typing as npt

from infoset.base import Action, FloatArray, Game, IntArray, LongArray
from infoset.clock import Clock
from infoset.errors import UnsupportedGameError
from infoset.gdl.lazy_propnet import GroundSource
from infoset.learn.boards import board_of
from infoset.learn.encoding import PayoffRange
from infoset.names import format_action
from infoset.search.monte_carlo import shared_graph
from infoset.tree.lazy_graph import NO_ACTION_SET, LazyGraph

PORTION = 32  # positions played out between two checks of the clock

Facts = npt.NDArray[np.uint8]


class Propositions(PayoffRange):
    """The states of a game's lazy graph as rows: F propositions, M moves of all players one after another.

    Raises ``UnsupportedGameError`` for a game that has no propositions.
    """

    def __init__(self, game: Game, memory: int = 0) -> None:
        self.game, self.name, self.memory = game, game.name, memory
        if not isinstance(shared_graph(game, memory).source, GroundSource):
            raise UnsupportedGameError(
                f"{game.name}: a network reads the propositions of a described game that grounds, and this has none; "
                "'search' plays it without one"
            )
        self.renew()
        net = self.source.propnet
        self.num_facts: int = len(net.base)
        self.board = board_of(net.base)
        self.players = len(game.players)
        self.actions: list[list[Action]] = []
        self.column: IntArray = np.full(len(net.moves), -1, dtype=np.int32)
        for role in self.source.shape.seats.tolist():
            first, last = net.first_move[role : role + 2].tolist()
            self.column[first:last] = np.arange(last - first) + self.num_actions
            self.actions.append([self.source.evaluator.actions[k] for k in range(first, last)])
        self.low, self.high = self.source.bounds

    def __len__(self) -> int:
        """Return the number of states met so far."""
        return int(self.source.interned.states.size[0])

    @property
    def num_actions(self) -> int:
        """Number of moves of all players together."""
        return sum(map(len, self.actions))

    def renew(self) -> LazyGraph:
        """Return the graph, or an empty one where it has grown too large."""
        self.follow(shared_graph(self.game, self.memory))
        return self.graph

    def follow(self, graph: LazyGraph) -> None:
        """Read states from ``graph`` from now on."""
        assert isinstance(graph.source, GroundSource)
        self.graph, self.source = graph, graph.source

    def facts(self, positions: LongArray) -> Facts:
        """Return (K, bytes) the propositions of the states to whose steps positions belong.

        Eight to a byte; see ``bits``.
        """
        states = self.graph.arrays.state[positions].astype(np.int64)
        words = self.source.interned.states.table(self.source.width)[states].view(np.uint8)
        return np.ascontiguousarray(words[:, : -(-self.num_facts // 8)])

    def bits(self, facts: Facts) -> Facts:
        """Unpack ``facts`` to (K, F)."""
        return np.unpackbits(facts, axis=1, count=self.num_facts, bitorder="little")

    def columns(self, position: int, player: int) -> IntArray:
        """Return the indices of a player's legal moves among all moves.

        Empty where the player has no move in the step of a position.
        """
        action_set = int(self.graph.arrays.action_sets[self.graph.arrays.state[position], player])
        if action_set == NO_ACTION_SET:
            return np.zeros(0, dtype=np.int32)
        action_sets = self.source.interned.action_sets
        return np.asarray(
            self.column[action_sets.data[action_sets.begin[action_set] : action_sets.begin[action_set + 1]]]
        )

    def playouts(self, positions: LongArray, each: int, seed: int, clock: Clock) -> FloatArray:
        """Return (K, n) everybody's mean payoff in random playouts from positions (K,).

        Fewer rows are returned where the clock runs out.
        """
        parts = [np.zeros((0, self.players))]
        for begin in range(0, len(positions), PORTION):
            if not clock.left:
                break
            portion = positions[begin : begin + PORTION]
            parts.append(self.source.playouts(self.graph, portion, each, seed + begin))
        return np.concatenate(parts)

    @cached_property
    def fingerprint(self) -> str:
        """Fingerprint of the game as far as a network depends on it: propositions, moves and rules."""
        digest, net = hashlib.sha256(), self.source.propnet
        for array in (net.kind, net.first_input, net.inputs, net.following, net.legal, net.goals, net.goal_values):
            digest.update(np.ascontiguousarray(array).tobytes())
        for each in (*map(str, net.base), *[format_action(action) for actions in self.actions for action in actions]):
            digest.update(each.encode() + b"\0")
        return digest.hexdigest()[:32]
