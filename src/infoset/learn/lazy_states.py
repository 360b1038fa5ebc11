"""The states of a game that is not enumerated as inputs of a network, and the moves of its players as outputs.

``Propositions`` reads described games that ground, ``SampledFacts`` all others; ``read_lazy_states`` chooses.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import Action, FloatArray, Game, IntArray, LongArray, State
from infoset.clock import Clock
from infoset.gdl.lazy_propnet import GroundSource
from infoset.learn.boards import board_of
from infoset.learn.encoding import PayoffRange
from infoset.names import format_action
from infoset.search.monte_carlo import shared_graph
from infoset.tree.graph import facts_of
from infoset.tree.lazy_graph import NO_ACTION_SET, STATES, LazyGraph
from infoset.tree.rules_source import RulesSource

PORTION = 32  # positions played out between two checks of the clock
PLAYS, MOST_STATES = 200, 10_000  # random plays in which facts and moves are met, and the most states of them
MOST_FACTS = 4096  # the most frequent ones are read
MOST_MOVES = 4096  # of a player; the others share one output
OTHER = "any other move"

Facts = npt.NDArray[np.uint8]


class LazyStates(PayoffRange, ABC):
    """The states of a game's lazy graph as rows: F facts, M moves of all players one after another."""

    board: LongArray | None = None
    num_facts: int
    actions: list[list[Action]]
    others: IntArray
    """(n,) the output that moves of a player share which have none of their own; -1 where all moves have one."""

    def __init__(self, game: Game, memory: int = 0) -> None:
        self.game, self.name, self.memory = game, game.name, memory
        self.players = len(game.players)
        self.renew()

    @abstractmethod
    def another(self) -> LazyStates:
        """Return another reader of the same game, which follows a graph of its own choice."""

    @abstractmethod
    def facts(self, positions: LongArray) -> Facts:
        """Return (K, bytes) the facts of the states to whose steps positions belong, eight to a byte; see ``bits``."""

    @property
    @abstractmethod
    def column(self) -> IntArray:
        """(n, A) the index of a player's move among all moves, by the number that the graph's source gives it."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Fingerprint of the game as far as a network depends on it."""

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
        self.graph = graph

    def __len__(self) -> int:
        """Return the number of states met so far."""
        return int(self.graph.arrays.filled[STATES])

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
        offered = self.graph.source.offered
        return np.asarray(self.column[player, offered.data[offered.begin[action_set] : offered.begin[action_set + 1]]])

    def playouts(self, positions: LongArray, each: int, seed: int, clock: Clock) -> FloatArray:
        """Return (K, n) everybody's mean payoff in random playouts from positions (K,).

        Fewer rows are returned where the clock runs out.
        """
        parts = [np.zeros((0, self.players))]
        for begin in range(0, len(positions), PORTION):
            if not clock.left:
                break
            portion = positions[begin : begin + PORTION]
            parts.append(self.graph.source.playouts(self.graph, portion, each, seed + begin))
        return np.concatenate(parts)


class Propositions(LazyStates):
    """The propositions of a described game that grounds, one bit for each."""

    def __init__(self, game: Game, memory: int = 0) -> None:
        super().__init__(game, memory)
        net = self.source.propnet
        self.num_facts = len(net.base)
        self.board = board_of(net.base)
        self.actions = []
        column: IntArray = np.full(len(net.moves), -1, dtype=np.int32)
        for role in self.source.shape.seats.tolist():
            first, last = net.first_move[role : role + 2].tolist()
            column[first:last] = np.arange(last - first) + self.num_actions
            self.actions.append([self.source.evaluator.actions[k] for k in range(first, last)])
        self._column = np.broadcast_to(column, (self.players, len(column)))
        self.others = np.full(self.players, -1, dtype=np.int32)
        self.low, self.high = self.source.bounds

    @property
    def source(self) -> GroundSource:
        """The source of the graph, in which moves are numbered through all players."""
        assert isinstance(self.graph.source, GroundSource)
        return self.graph.source

    def another(self) -> Propositions:
        return Propositions(self.game, self.memory)

    def facts(self, positions: LongArray) -> Facts:
        states = self.graph.arrays.state[positions].astype(np.int64)
        words = self.source.interned.states.table(self.source.width)[states].view(np.uint8)
        return np.ascontiguousarray(words[:, : -(-self.num_facts // 8)])

    @property
    def column(self) -> IntArray:
        return self._column

    @cached_property
    def fingerprint(self) -> str:
        digest, net = hashlib.sha256(), self.source.propnet
        for array in (net.kind, net.first_input, net.inputs, net.following, net.legal, net.goals, net.goal_values):
            digest.update(np.ascontiguousarray(array).tobytes())
        for each in (*map(str, net.base), *[format_action(action) for actions in self.actions for action in actions]):
            digest.update(each.encode() + b"\0")
        return digest.hexdigest()[:32]


class Vocabulary(NamedTuple):
    """What random plays of a game met: the facts that are not always the same, each player's moves, and payoffs."""

    facts: tuple[Hashable, ...]
    actions: tuple[tuple[Action, ...], ...]
    low: float
    high: float

    @classmethod
    def of(cls, game: Game) -> Vocabulary:
        """Play at random, always by the same seed.

        A game that knows its ``payoff_range`` is taken at its word; of others, the payoffs met count.

        >>> from infoset.learn.lazy_states import Vocabulary
        >>> found = Vocabulary.of(infoset.load("kuhn_poker"))
        >>> found.actions[0], found.low, found.high
        (('b', 'p'), -2.0, 2.0)
        """
        rng, start = np.random.default_rng(0), game.start().state
        count: Counter[Hashable] = Counter()
        moves: list[Counter[Action]] = [Counter() for _ in game.players]
        payoffs: list[float] = []
        met = 0
        for _ in range(PLAYS):
            state: State = start
            while not state.terminal and met < MOST_STATES:
                count.update(facts_of(state))
                met += 1
                actions: list[Action | None] = []
                for player, each in enumerate(moves):
                    offered = state.legal_actions(player)
                    each.update(offered)
                    actions.append(offered[int(rng.integers(len(offered)))] if offered else None)
                state = state.play(actions, state.draw(actions, rng)).state
            if met == MOST_STATES:
                break
            payoffs += state.returns()
        varying = [(-times, repr(fact), fact) for fact, times in count.items() if 1 < times < met]
        common = [sorted([action for action, _ in each.most_common(MOST_MOVES)], key=format_action) for each in moves]
        low, high = getattr(game, "payoff_range", None) or (min(payoffs, default=0.0), max(payoffs, default=0.0))
        if low == high:  # as where random plays always tie
            low, high = low - 1.0, high + 1.0
        facts = tuple([fact for _, _, fact in sorted(varying, key=lambda each: each[:2])[:MOST_FACTS]])
        return cls(facts, tuple(map(tuple, common)), float(low), float(high))


class SampledFacts(LazyStates):
    """The facts of a game's states (``facts_of``), as far as random plays met them: for rules in Python or OpenSpiel.

    Facts that they did not meet are not read; moves that they did not meet share an output.
    """

    def __init__(self, game: Game, memory: int = 0, vocabulary: Vocabulary | None = None) -> None:
        self._column: IntArray = np.zeros((len(game.players), 0), dtype=np.int32)
        super().__init__(game, memory)
        self.vocabulary = vocabulary or Vocabulary.of(game)
        self.low, self.high = self.vocabulary.low, self.vocabulary.high
        self.place = {fact: k for k, fact in enumerate(self.vocabulary.facts)}
        self.num_facts = max(len(self.place), 1)
        self.actions = [[*actions, OTHER] for actions in self.vocabulary.actions]
        first = np.cumsum([0, *map(len, self.actions)]).tolist()
        self.number = [{a: first[p] + k for k, a in enumerate(each[:-1])} for p, each in enumerate(self.actions)]
        self.others = np.array([last - 1 for last in first[1:]], dtype=np.int32)

    def another(self) -> SampledFacts:
        return SampledFacts(self.game, self.memory, self.vocabulary)

    def follow(self, graph: LazyGraph) -> None:
        super().follow(graph)
        self._column = self._column[:, :0]  # another graph numbers moves anew

    @property
    def source(self) -> RulesSource:
        """The source of the graph."""
        assert isinstance(self.graph.source, RulesSource)
        return self.graph.source

    def normalised(self, payoffs: FloatArray) -> FloatArray:  # type: ignore[override]
        return np.clip(super().normalised(payoffs), 0.0, 1.0)  # rare payoffs may lie outside of those met

    def facts(self, positions: LongArray) -> Facts:
        found = np.zeros((len(positions), self.num_facts), dtype=np.uint8)
        for row, number in zip(found, self.graph.arrays.state[positions].tolist(), strict=True):
            places = [self.place.get(fact, -1) for fact in facts_of(self.source.state(number))]
            row[[place for place in places if place >= 0]] = 1
        return np.packbits(found, axis=1, bitorder="little")

    @property
    def column(self) -> IntArray:
        known = self._column.shape[1]
        if len(self.source.actions.number) > known:
            fresh = self.source.actions.values()[known:]
            rows = [
                [number.get(action, other) for action in fresh]
                for number, other in zip(self.number, self.others.tolist(), strict=True)
            ]
            self._column = np.concatenate([self._column, np.array(rows, dtype=np.int32)], axis=1)
        return self._column

    @cached_property
    def fingerprint(self) -> str:
        digest = hashlib.sha256(self.name.encode())
        moves = [format_action(action) for actions in self.actions for action in actions]
        for each in (*map(repr, self.vocabulary.facts), *moves):
            digest.update(each.encode() + b"\0")
        return digest.hexdigest()[:32]


def read_lazy_states(game: Game, memory: int = 0) -> LazyStates:
    """Return the states of a game's lazy graph as a network reads them; ``memory`` is the graph's limit in bytes.

    >>> from infoset.learn.lazy_states import read_lazy_states
    >>> read_lazy_states(infoset.load("gdl:tic_tac_toe")).num_facts
    29
    >>> read_lazy_states(infoset.load("phantom_tic_tac_toe")).players
    2
    """
    grounds = isinstance(shared_graph(game, memory).source, GroundSource)
    return Propositions(game, memory) if grounds else SampledFacts(game, memory)
