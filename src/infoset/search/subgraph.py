"""Positions from some worlds on as a graph of its own: a subgame without asking the rules again."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from infoset.base import BoolArray, FloatArray, LongArray, Token
from infoset.errors import BudgetError
from infoset.search.ranges import Range
from infoset.tree.graph import CHANCE, NO_TOKEN, TERMINAL, GameGraph, spread

Values: TypeAlias = Callable[[LongArray], FloatArray]
"""What positions (K,) are worth to everybody (K, n)."""

NO_HORIZON = 1 << 30  # steps


class _Layer(NamedTuple):
    """Positions without a step between them that somebody notices, and the edges out of them."""

    position: LongArray  # (K,) sorted
    edge: LongArray  # (E,)
    size: LongArray  # (K,) edges of each position
    over: BoolArray  # (E,) whether the edge ends the step
    below: int  # the layer in which the steps end


def subgraph(
    graph: GameGraph, worlds: Range, depth: int | None, values: Values, told: bool = False, most: int = 10_000_000,
    rests: BoolArray | None = None,
) -> GameGraph:  # fmt: skip
    """Nature chooses one of ``worlds`` and everybody learns what it knew there; ``depth`` steps later values end it,
    or where a position (P,) ``rests``.

    The token of information state s in world k is ``(None, s)``, or ``(None, (s, k))`` where everybody is ``told`` the
    world.  Raises ``BudgetError`` where there are more than ``most`` edges.
    """
    layers = _layers(graph, np.unique(worlds.position), NO_HORIZON if depth is None else depth, most, rests)
    offsets = np.cumsum([1] + [len(layer.position) for layer in layers])
    position = np.concatenate([layer.position for layer in layers])
    sizes = np.concatenate([layer.size for layer in layers])
    player, content = graph.player[position], graph.content[position].copy()
    cut = np.flatnonzero((sizes == 0) & (player != TERMINAL))
    player[cut], content[cut] = TERMINAL, len(graph.payoffs) + np.arange(len(cut))
    edge = np.concatenate([layer.edge for layer in layers])
    child = np.concatenate([_children(graph, layers, k, offsets) for k in range(len(layers))])
    labels, label = _labels(worlds, len(graph.tokens), told)
    root = 1 + np.searchsorted(layers[0].position, worlds.position)
    return GameGraph(
        name=f"subgame of {graph.name}",
        players=graph.players,
        player=np.concatenate([[CHANCE], player]).astype(np.int8),
        content=np.concatenate([[len(graph.menus)], content]).astype(np.int32),
        label=np.full(len(player) + 1, -1, dtype=np.int32),
        first_edge=np.concatenate([[0], np.cumsum([worlds.size, *sizes])]).astype(np.int32),
        child=np.concatenate([root, child]).astype(np.int32),
        probability=np.concatenate([worlds.weight, graph.probability[edge]]),
        token=np.concatenate([label, graph.token[edge]]).astype(np.int32),
        menus=[*graph.menus, tuple(range(worlds.size))],
        payoffs=np.concatenate([graph.payoffs, values(position[cut]).reshape(-1, len(graph.players))]),
        tokens=[*graph.tokens, *labels],
        labels=[],
        start_tokens=(NO_TOKEN,) * len(graph.players),
        map_name="",
    )


def _layers(graph: GameGraph, start: LongArray, depth: int, most: int, rests: BoolArray | None) -> list[_Layer]:
    """Step by step; within a step one mover after the other."""
    layers: list[_Layer] = []
    count, none = 0, np.zeros(0, dtype=np.int64)
    while len(start):
        level, ended, begin = start, [none], len(layers)
        while len(level):
            goes_on = np.flatnonzero(~rests[level]) if rests is not None and layers else np.arange(len(level))
            edge, source = spread(graph, level[goes_on]) if depth > 0 else (none, none)
            over = graph.completes[edge]
            size = np.bincount(goes_on[source], minlength=len(level))
            layers.append(_Layer(level, edge, size, over, 0))
            child = graph.child[edge].astype(np.int64)
            ended.append(child[over])
            level = np.unique(child[~over])
            count += len(edge)
            if count > most:
                raise BudgetError(f"the subgame has more than {most:,} edges")
        layers[begin:] = [layer._replace(below=len(layers)) for layer in layers[begin:]]
        start, depth = np.unique(np.concatenate(ended)), depth - 1
    return layers


def _children(graph: GameGraph, layers: list[_Layer], k: int, offsets: LongArray) -> LongArray:
    """Where the edges of a layer lead, in the subgraph's numbers."""
    layer = layers[k]
    child = graph.child[layer.edge].astype(np.int64)
    found = np.zeros(len(child), dtype=np.int64)
    for part, to in ((layer.over, layer.below), (~layer.over, k + 1)):
        if part.any():
            found[part] = offsets[to] + np.searchsorted(layers[to].position, child[part])
    return found


def _labels(worlds: Range, base: int, told: bool) -> tuple[list[Token], LongArray]:
    """What the choice of a world tells everybody: tokens, and their numbers (K, n) from ``base`` on."""
    known = worlds.known
    if told:
        states = known.tolist()
        tokens: list[Token] = [(None, (state, k)) for k, row in enumerate(states) for state in row]
        return tokens, base + np.arange(known.size).reshape(known.shape)
    unique, inverse = np.unique(known, return_inverse=True)
    return [(None, state) for state in unique.tolist()], base + inverse.reshape(known.shape)
