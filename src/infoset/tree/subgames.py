"""Subgames by common knowledge: everybody knows the position, and knows that everybody does.

Whatever led to such a *public* position, the rest of the game is the same for everyone: one subgame, solved once and
shared by all histories that lead there, which may be far too many to enumerate.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from infoset.base import FloatArray, IntArray, LongArray
from infoset.interning import Rows, intern
from infoset.jit import kernel
from infoset.tree.graph import NO_RECORD, TERMINAL, GameGraph
from infoset.tree.steps import Steps, steps

MAX_PAIRS = 3_000_000
ROOM = 1 << 18


@kernel
def _confuse(first: LongArray, target: LongArray, record: IntArray, pairs: Rows, todo: int, limit: int) -> int:
    """Follow pairs that one player cannot tell apart while there is room; return how many were followed."""
    pair = np.empty(2, dtype=np.int64)
    while todo < pairs.size[0]:
        p, q = pairs.data[2 * todo], pairs.data[2 * todo + 1]
        edges = (first[p + 1] - first[p]) * (first[q + 1] - first[q] + 1) + first[q + 1] - first[q]
        if pairs.size[0] + edges > limit:
            return todo
        todo += 1
        for e in range(first[p], first[p + 1]):
            if record[e] < 0:
                pair[0], pair[1] = target[e], q
                intern(pairs, pair)
                continue
            for f in range(first[q], first[q + 1]):
                if record[f] == record[e]:
                    pair[0], pair[1] = target[e], target[f]
                    intern(pairs, pair)
        for f in range(first[q], first[q + 1]):
            if record[f] < 0:
                pair[0], pair[1] = p, target[f]
                intern(pairs, pair)
    return todo


def public_positions(graph: GameGraph, max_pairs: int = MAX_PAIRS) -> IntArray:
    """Return the positions that nobody ever confuses with another, with the start and ends, in topological order.

    Where more than ``max_pairs`` pairs of positions look alike to some player, only the start is returned.
    """
    actions = steps(graph)
    lonely = np.ones(len(actions.position), dtype=np.bool_)
    for player in range(len(graph.players)):
        confused = _pairs(actions, np.ascontiguousarray(actions.record[:, player]), max_pairs)
        if confused is None:
            return np.zeros(1, dtype=np.int32)
        lonely[confused[confused[:, 0] != confused[:, 1]].ravel()] = False
    lonely[0] = True  # the whole game begins there, even where it is confused with other positions later
    rank = np.empty(len(graph.player), dtype=np.int64)
    rank[graph.order] = np.arange(len(graph.player))
    public = actions.position[lonely]
    return public[np.argsort(rank[public])]


def _pairs(actions: Steps, record: IntArray, max_pairs: int) -> LongArray | None:
    """Return (K, 2) the pairs that look alike to the player that sees ``record``; ``None`` if there are too many."""
    pairs = Rows.empty().with_room(ROOM, 2 * ROOM)
    intern(pairs, np.zeros(2, dtype=np.int64))
    todo = 0
    while todo < int(pairs.size[0]):
        room = (len(pairs.begin) - 1, len(pairs.data) // 2, len(pairs.slots) // 2)
        reached = int(_confuse(actions.first, actions.target, record, pairs, todo, min(room)))
        if int(pairs.size[0]) > max_pairs:
            return None
        if reached == todo or reached < int(pairs.size[0]):
            more = max(ROOM, int(np.diff(actions.first).max(initial=1)) ** 2 * 4)
            pairs = pairs.with_room(more, 2 * more)
        todo = reached
    return pairs.table(2)


def cut(graph: GameGraph, root: int, public: npt.NDArray[np.bool_], position_values: FloatArray) -> GameGraph:
    """Return the game from ``root`` to the next public positions, whose ``position_values`` (P, n) are its payoffs."""
    number, copied = {root: 0}, [root]
    for at in copied:
        if at != root and public[at]:
            continue
        for below in graph.child[graph.first_edge[at] : graph.first_edge[at + 1]].tolist():
            if below not in number:
                number[below] = len(copied)
                copied.append(below)
    positions = np.array(copied, dtype=np.int32)
    stops = public[positions] & (positions != root)
    player, content = graph.player[positions].copy(), graph.content[positions].copy()
    sizes = np.where(stops, 0, graph.num_edges[positions])
    payoffs = np.concatenate([graph.payoffs, position_values[positions[stops]]])
    player[stops], content[stops] = TERMINAL, len(graph.payoffs) + np.arange(int(stops.sum()))
    edges = np.repeat(graph.first_edge[positions] - np.cumsum(sizes) + sizes, sizes) + np.arange(int(sizes.sum()))
    return replace(
        graph,
        player=player,
        content=content,
        label=graph.label[positions],
        first_edge=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
        child=np.array([number[c] for c in graph.child[edges].tolist()], dtype=np.int32),
        probability=graph.probability[edges],
        record=graph.record[edges],
        payoffs=payoffs,
        start_records=graph.start_records if root == 0 else (NO_RECORD,) * len(graph.players),
    )
