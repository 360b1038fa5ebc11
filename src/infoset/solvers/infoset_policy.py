"""A policy for games whose information states are many: a tree of what each player did and saw, in flat arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray
from infoset.jit import inline_kernel, kernel
from infoset.solvers.infoset_table import NO_ROW, STATES, UNKNOWN, InfosetTable


class InfosetPolicy(NamedTuple):
    """States in breadth-first order, so that those behind one stand together; player p starts in state p.

    A state's moves have the chances ``behaviour[row]`` on, in the order of the menu; those of states that are not
    here, or have no row, are played uniformly.
    """

    first_child: IntArray  # (S + 1,)
    token: IntArray  # (S,) of the game's graph, ascending behind each state
    row: IntArray  # (S,) or NO_ROW
    behaviour: FloatArray

    @classmethod
    def of(cls, table: InfosetTable, behaviour: FloatArray | None = None) -> InfosetPolicy:
        """The average strategies of a table, or other ``behaviour`` by its entries."""
        size = int(table.filled[STATES])
        parent, token = table.parent[:size], table.token[:size]
        order, number = _breadth_first(parent, token)
        above = np.where(parent[order] < 0, -1, number[parent[order]])
        first_child = np.searchsorted(above, np.arange(size + 1)).astype(np.int32)
        found = table.average_behaviour() if behaviour is None else behaviour
        return cls(first_child, token[order], table.row[:size][order], found)


def _breadth_first(parent: IntArray, token: IntArray) -> tuple[LongArray, LongArray]:
    """The states by depth, parent and token; and the place of each in that order."""
    depth = np.zeros(len(parent), dtype=np.int32)
    measure_depths(parent, depth)
    order = np.argsort(depth, kind="stable")
    ends = np.cumsum(np.bincount(depth))
    number = np.zeros(len(parent), dtype=np.int64)
    for begin, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        level = order[begin:end]
        if begin:
            level = level[np.lexsort((token[level], number[parent[level]]))]
        order[begin:end] = level
        number[level] = np.arange(begin, end)
    return order, number


@kernel
def measure_depths(parent, depth):
    """How many tokens a state is away from the start; parents come before their children."""
    for k in range(len(parent)):
        if parent[k] >= 0:
            depth[k] = depth[parent[k]] + 1


@inline_kernel
def behind(first_child, tokens, state, token):
    """The state after one more token, or UNKNOWN."""
    found = UNKNOWN
    if state != UNKNOWN:
        for k in range(first_child[state], first_child[state + 1]):
            if tokens[k] == token:
                found = k
                break
    return found


__all__ = ["NO_ROW", "UNKNOWN", "InfosetPolicy", "behind"]
