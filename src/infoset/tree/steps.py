"""The position graph with each step, of all players' moves and chance, as one edge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infoset.base import BoolArray, FloatArray, IntArray, LongArray
from infoset.tree.graph import NO_RECORD, GameGraph, spread

NONE = -1  # no move


@dataclass(frozen=True, eq=False)
class Steps:
    """All steps, from positions at which a step begins to those where the next begins.

    Of the ``F`` steps, those from one position are contiguous.
    """

    position: IntArray  # (M,) positions at which steps begin, and ends; the first is the start
    first: LongArray  # (M + 1,)
    target: LongArray  # (F,) rows of ``position``
    record: IntArray  # (F, n)
    action_set: IntArray  # (F, n) the row of ``action_sets`` that each player chooses from, or NONE
    action: IntArray  # (F, n) place of the move in that action set, or NONE
    chance: FloatArray  # (F,) probability of the chance outcomes in the step


def steps(graph: GameGraph, ends: BoolArray | None = None) -> Steps:
    """Return the steps of a graph: each ends with an edge by which a player learns something, or by ``ends`` (E,).

    >>> from infoset.tree.graph import explore
    >>> from infoset.tree.steps import steps
    >>> steps(explore(infoset.load("rock_paper_scissors"))).action.tolist()[:4]
    [[0, 0], [0, 1], [0, 2], [1, 0]]
    """
    if ends is None:
        ends = (graph.record != NO_RECORD).any(axis=1)
    begins = np.zeros(len(graph.player), dtype=np.bool_)
    begins[0] = True
    begins[graph.child[ends]] = True
    position = np.flatnonzero(begins).astype(np.int32)
    number = np.cumsum(begins) - 1
    n = len(graph.players)
    source, at = np.arange(len(position)), position.astype(np.int64)
    action_set, action = (np.full((len(position), n), NONE, np.int32) for _ in range(2))
    chance, done = np.ones(len(position)), []
    while len(source):
        edges, row = spread(graph, at)
        source, action_set, action, chance = (
            source[row],
            action_set[row],
            action[row],
            chance[row] * graph.probability[edges],
        )
        player = graph.player[at[row]]
        mine = np.flatnonzero(player >= 0)
        action_set[mine, player[mine]] = graph.content[at[row]][mine]
        action[mine, player[mine]] = (edges - graph.first[at[row]])[mine]
        over = ends[edges]
        done.append((source[over], edges[over], action_set[over], action[over], chance[over]))
        on = ~over
        source, action_set, action, chance, at = (
            source[on],
            action_set[on],
            action[on],
            chance[on],
            graph.child[edges[on]].astype(np.int64),
        )
    source, edges, action_set, action, chance = (np.concatenate(some) for some in zip(*done, strict=True))
    order = np.lexsort((edges, source))
    edges = edges[order]
    return Steps(
        position, np.searchsorted(source[order], np.arange(len(position) + 1)), number[graph.child[edges]],
        graph.record[edges], action_set[order], action[order], chance[order],
    )  # fmt: skip
