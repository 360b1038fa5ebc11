"""Subgames: the positions from some worlds on as a game of its own, grown step by step on a known or lazy graph."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np

from infoset.base import Action, BoolArray, FloatArray, LongArray, ObservationRecord
from infoset.errors import BudgetError
from infoset.interning import distinct, sums
from infoset.search.belief import Graph, Movers
from infoset.search.histories import Belief
from infoset.tree.graph import CHANCE, NO_RECORD, TERMINAL, GameGraph, spread
from infoset.tree.lazy_graph import OPEN

Values: TypeAlias = Callable[[LongArray], FloatArray]
"""A function from positions (K,) to everybody's values (K, n)."""


class _Layer(NamedTuple):
    """Positions with no completed step between them, and the edges out of them."""

    position: LongArray  # (K,) in the order in which they are met
    edge: LongArray  # (E,)
    size: LongArray  # (K,) edges of each position
    child: LongArray  # (E,) their ends, as places among the positions of all layers


class Subgame:
    """A subgame: chance chooses one of some worlds, everybody learns its information state there, and the game goes on.

    ``histories[d]`` is the number of histories if the subgame ends ``d`` steps later; ``rests`` (P,) marks positions
    after the first step at which it ends, too.  A player's observation of world k is the record ``(None, s)`` of its
    information state s, or ``(None, (s, k))`` where everybody is ``reveals_world`` the world.

    >>> import numpy as np
    >>> from infoset.search.subgame import Subgame
    >>> from infoset.search.belief import whole
    >>> from infoset.tree.graph import explore
    >>> graph = explore(infoset.load("kuhn_poker"))
    >>> below = Subgame(graph, whole(graph))
    >>> while below.goes_on:
    ...     below.grow()
    >>> below.histories                                       # the last is the whole game, and the choice of a world
    [2, 8, 20, 44, 56, 59]
    >>> nothing = lambda positions: np.zeros((len(positions), 2))
    >>> infoset.GameTree.unroll(below.game(nothing)).num_terminals
    30
    """

    def __init__(
        self, graph: Graph, worlds: Belief, reveals_world: bool = False, rests: BoolArray | None = None
    ) -> None:
        self.graph, self.worlds, self.reveals_world, self.rests = graph, worlds, reveals_world, rests
        self.front, self.root = distinct(worlds.position)
        self.times = sums(self.root, np.ones(worlds.size), len(self.front))  # (K,) histories that lead to each
        self.steps: list[list[_Layer]] = []
        self.starts = [self.front]  # of each step
        self.placed = self.edges = 0
        self.inside = 1.0  # histories before the front
        self.histories = [self.inside + float(self.times.sum())]

    @property
    def goes_on(self) -> bool:
        """Whether there is something left to grow."""
        return len(self._going(self.front)) > 0

    def grow(self, most: int = 10_000_000) -> None:
        """Grow the subgame by one step, within it one mover after the other.

        Raises ``BudgetError`` where there would be more than ``most`` edges, and as ``graph.ask`` does; the subgame
        then stays as it was.
        """
        graph, level, times, placed, edges = self.graph, self.front, self.times, self.placed, self.edges
        layers, inside, ended, counts = [], self.inside, [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
        while len(level):
            inside += float(times.sum())
            placed += len(level)
            going = self._going(level)
            edge, source = spread(graph, level[going])
            if (edges := edges + len(edge)) > most:
                raise BudgetError(f"the subgame has more than {most:,} edges")
            graph.ask(edge)
            over, child = graph.ends(edge), graph.child[edge].astype(np.int64)
            ended.append(child[over])
            counts.append(times[going[source[over]]])
            following, place = distinct(child[~over])
            child[~over], child[over] = placed + place, OPEN
            layers.append(_Layer(level, edge, np.bincount(going[source], minlength=len(level)), child))
            level, times = following, sums(place, times[going[source[~over]]], len(following))
        self.front, place = distinct(np.concatenate(ended))
        self.times = sums(place, np.concatenate(counts), len(self.front))
        self.steps.append(layers)
        self.starts.append(self.front)
        self.placed, self.edges, self.inside = placed, edges, inside
        self.histories.append(inside + float(self.times.sum()))
        place += placed
        for layer in layers:
            over = layer.child == OPEN
            here = int(over.sum())
            layer.child[over], place = place[:here], place[here:]

    def _going(self, level: LongArray) -> LongArray:
        """Return the places of the positions at which the game does not end."""
        alive = self.graph.player[level] != TERMINAL
        return np.flatnonzero(alive & ~self.rests[level] if self.rests is not None and self.steps else alive)

    def game(self, values: Values, depth: int | None = None) -> GameGraph:
        """Return the game that ends ``depth`` steps after the choice of a world; by default, as deep as it was grown.

        ``values`` gives the payoffs of the positions at which it is cut off.
        """
        graph, worlds = self.graph, self.worlds
        depth = len(self.steps) if depth is None else depth
        layers = list(chain.from_iterable(self.steps[:depth]))
        position = np.concatenate([*[layer.position for layer in layers], self.starts[depth]])
        sizes = np.concatenate([*[layer.size for layer in layers], np.zeros(len(self.starts[depth]), dtype=np.int64)])
        nothing = np.zeros(0, dtype=np.int64)
        edge = np.concatenate([nothing, *[layer.edge for layer in layers]])
        player = graph.player[position]
        cut = np.flatnonzero((sizes == 0) & (player != TERMINAL))
        content, action_sets, payoffs = _contents(graph, position, player)
        player[cut], content[cut] = TERMINAL, len(payoffs) + np.arange(len(cut))
        record, records = _records(graph, edge)
        labels, label = _labels(worlds, len(records), self.reveals_world)
        return GameGraph(
            name=f"subgame of {graph.name}",
            players=graph.players,
            player=np.concatenate([[CHANCE], player]).astype(np.int8),
            content=np.concatenate([[len(action_sets)], content]).astype(np.int32),
            label=np.full(len(player) + 1, -1, dtype=np.int32),
            first_edge=np.concatenate([[0], np.cumsum([worlds.size, *sizes])]).astype(np.int32),
            child=1 + np.concatenate([self.root, *[layer.child for layer in layers]]).astype(np.int32),
            probability=np.concatenate([worlds.weight, graph.probability[edge]]),
            record=np.concatenate([label, record]).astype(np.int32),
            action_sets=[*action_sets, tuple(range(worlds.size))],
            payoffs=np.concatenate([payoffs, values(position[cut]).reshape(-1, len(graph.players))]),
            records=[*records, *labels],
            labels=[],
            start_records=(NO_RECORD,) * len(graph.players),
            map_name="",
        )


def _contents(
    graph: Graph, position: LongArray, player: Movers
) -> tuple[LongArray, list[tuple[Action, ...]], FloatArray]:
    """Return the contents of positions (K,): numbers of action sets and payoff rows, and these themselves.

    On a lazy graph they are numbered anew as they are met, since their own numbers depend on earlier queries.
    """
    content = graph.content[position].astype(np.int64)
    if isinstance(graph, GameGraph):
        return content, graph.action_sets, graph.payoffs
    ends = player == TERMINAL
    action_sets, content[~ends] = distinct(content[~ends])
    paid, content[ends] = distinct(content[ends])
    return content, [graph.action_sets[k] for k in action_sets.tolist()], graph.payoffs[paid]


def _records(graph: Graph, edge: LongArray) -> tuple[LongArray, list[ObservationRecord]]:
    """Return the records (E, n) on edges and their values, numbered in the same way."""
    record = graph.record[edge].astype(np.int64)
    if isinstance(graph, GameGraph):
        return record, graph.records
    seen = record != NO_RECORD
    met, record[seen] = distinct(record[seen])
    return record, [graph.records[k] for k in met.tolist()]


def _labels(worlds: Belief, base: int, reveals_world: bool) -> tuple[list[ObservationRecord], LongArray]:
    """Return the records that tell everybody the choice of a world, and their numbers (K, n) from ``base`` on."""
    infostate = worlds.infostate
    if reveals_world:
        states = infostate.tolist()
        records: list[ObservationRecord] = [(None, (state, k)) for k, row in enumerate(states) for state in row]
        return records, base + np.arange(infostate.size).reshape(infostate.shape)
    unique, inverse = distinct(infostate.ravel())
    return [(None, state) for state in unique.tolist()], base + inverse.reshape(infostate.shape)
