"""Positions from some worlds on as a graph of its own: a subgame of a graph that is known, or that grows on demand."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from infoset.base import Action, BoolArray, FloatArray, LongArray, Token
from infoset.errors import BudgetError
from infoset.interning import distinct
from infoset.search.ranges import Graph, Movers, Range
from infoset.tree.graph import CHANCE, NO_TOKEN, TERMINAL, GameGraph, spread
from infoset.tree.growing import OPEN

Values: TypeAlias = Callable[[LongArray], FloatArray]
"""What positions (K,) are worth to everybody (K, n)."""

NO_HORIZON = 1 << 30  # steps


class _Layer(NamedTuple):
    """Positions without a step between them that somebody notices, and the edges out of them."""

    position: LongArray  # (K,) in the order in which they are met
    edge: LongArray  # (E,)
    size: LongArray  # (K,) edges of each position
    child: LongArray  # (E,) where they lead, as places among the positions of all layers


def subgraph(
    graph: Graph, worlds: Range, depth: int | None, values: Values, told: bool = False, most: int = 10_000_000,
    rests: BoolArray | None = None,
) -> GameGraph:  # fmt: skip
    """Nature chooses one of ``worlds`` and everybody learns what it knew there; ``depth`` steps later values end it,
    or where a position (P,) ``rests``.

    The token of information state s in world k is ``(None, s)``, or ``(None, (s, k))`` where everybody is ``told`` the
    world.  Raises ``BudgetError`` where there are more than ``most`` edges, and as ``graph.ask`` does.
    """
    start, root = distinct(worlds.position)
    layers = _layers(graph, start, NO_HORIZON if depth is None else depth, most, rests)
    position = np.concatenate([layer.position for layer in layers])
    sizes = np.concatenate([layer.size for layer in layers])
    edge = np.concatenate([layer.edge for layer in layers])
    player = graph.player[position]
    cut = np.flatnonzero((sizes == 0) & (player != TERMINAL))
    content, menus, payoffs = _contents(graph, position, player)
    player[cut], content[cut] = TERMINAL, len(payoffs) + np.arange(len(cut))
    token, tokens = _tokens(graph, edge)
    labels, label = _labels(worlds, len(tokens), told)
    return GameGraph(
        name=f"subgame of {graph.name}",
        players=graph.players,
        player=np.concatenate([[CHANCE], player]).astype(np.int8),
        content=np.concatenate([[len(menus)], content]).astype(np.int32),
        label=np.full(len(player) + 1, -1, dtype=np.int32),
        first_edge=np.concatenate([[0], np.cumsum([worlds.size, *sizes])]).astype(np.int32),
        child=1 + np.concatenate([root, *[layer.child for layer in layers]]).astype(np.int32),
        probability=np.concatenate([worlds.weight, graph.probability[edge]]),
        token=np.concatenate([label, token]).astype(np.int32),
        menus=[*menus, tuple(range(worlds.size))],
        payoffs=np.concatenate([payoffs, values(position[cut]).reshape(-1, len(graph.players))]),
        tokens=[*tokens, *labels],
        labels=[],
        start_tokens=(NO_TOKEN,) * len(graph.players),
        map_name="",
    )


def _layers(graph: Graph, start: LongArray, depth: int, most: int, rests: BoolArray | None) -> list[_Layer]:
    """Step by step; within a step one mover after the other."""
    layers: list[_Layer] = []
    count, none, placed = 0, np.zeros(0, dtype=np.int64), 0
    while len(start):
        level, ended, first = start, [none], len(layers)
        while len(level):
            placed += len(level)
            goes_on = np.flatnonzero(~rests[level]) if rests is not None and layers else np.arange(len(level))
            edge, source = spread(graph, level[goes_on]) if depth > 0 else (none, none)
            if (count := count + len(edge)) > most:
                raise BudgetError(f"the subgame has more than {most:,} edges")
            graph.ask(edge)
            over, child = graph.ends(edge), graph.child[edge].astype(np.int64)
            size = np.bincount(goes_on[source], minlength=len(level))
            ended.append(child[over])
            following, place = distinct(child[~over])
            child[~over] = placed + place
            child[over] = OPEN
            layers.append(_Layer(level, edge, size, child))
            level = following
        start, place = distinct(np.concatenate(ended))
        depth, place = depth - 1, placed + place
        for layer in layers[first:]:
            over = layer.child == OPEN
            here = int(over.sum())
            layer.child[over], place = place[:here], place[here:]
    return layers


def _contents(
    graph: Graph, position: LongArray, player: Movers
) -> tuple[LongArray, list[tuple[Action, ...]], FloatArray]:
    """What stands at positions (K,): numbers of menus, and rows of payoffs; of those that are met where a graph grows,
    since their own numbers are accidents there."""
    content = graph.content[position].astype(np.int64)
    if isinstance(graph, GameGraph):
        return content, graph.menus, graph.payoffs
    ends = player == TERMINAL
    menus, content[~ends] = distinct(content[~ends])
    paid, content[ends] = distinct(content[ends])
    return content, [graph.menus[k] for k in menus.tolist()], graph.payoffs[paid]


def _tokens(graph: Graph, edge: LongArray) -> tuple[LongArray, list[Token]]:
    """The tokens (E, n) on edges; likewise."""
    token = graph.token[edge].astype(np.int64)
    if isinstance(graph, GameGraph):
        return token, graph.tokens
    seen = token != NO_TOKEN
    met, token[seen] = distinct(token[seen])
    return token, [graph.tokens[k] for k in met.tolist()]


def _labels(worlds: Range, base: int, told: bool) -> tuple[list[Token], LongArray]:
    """What the choice of a world tells everybody: tokens, and their numbers (K, n) from ``base`` on."""
    known = worlds.known
    if told:
        states = known.tolist()
        tokens: list[Token] = [(None, (state, k)) for k, row in enumerate(states) for state in row]
        return tokens, base + np.arange(known.size).reshape(known.shape)
    unique, inverse = distinct(known.ravel())
    return [(None, state) for state in unique.tolist()], base + inverse.reshape(known.shape)
