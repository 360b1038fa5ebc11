"""A policy for games with many information states: a tree of what each player did and saw, in flat arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray
from infoset.jit import inline_kernel, kernel
from infoset.tree.quotient_graph import (
    QuotientGraph,
    canonical,
    element_of,
    everything,
    measure_depths,
    state_of,
    view_of,
)
from infoset.tree.symmetry import Group

UNKNOWN = -1  # a state that was never visited, and all its descendants
NO_ROW = -1  # of a state without a choice or without probabilities
FEW = 8  # the number of children up to which the search is linear


class InfosetPolicy(NamedTuple):
    """A policy on states in breadth-first order, so that siblings are contiguous; player p starts in state p.

    The probabilities of a state's moves begin at ``behaviour[row]``, in the order of the action set; moves of states
    that are not listed, or have no row, are uniform.  Of states that are equal by the game's symmetries only one is
    listed.
    """

    first_child: IntArray  # (S + 1,)
    record: IntArray  # (S,) of the game's graph, ascending among siblings
    fixing: LongArray  # (S,) the symmetries that fix a state, one bit each
    row: IntArray  # (S,) or NO_ROW
    behaviour: FloatArray

    @classmethod
    def unknown(cls, walk: QuotientGraph) -> InfosetPolicy:
        """Create a policy of no states but the players' initial ones: all play is uniform."""
        n = walk.num_players
        start = np.arange(n, dtype=np.int32)
        fixing = np.full(n, everything(walk.group), dtype=np.int64)
        return cls(np.full(n + 1, n, np.int32), start, fixing, np.full(n, NO_ROW, np.int32), np.zeros(0))

    @classmethod
    def of(
        cls, parent: IntArray | LongArray, record: IntArray, fixing: LongArray, row: IntArray, behaviour: FloatArray
    ) -> InfosetPolicy:
        """Create a policy from the states of a tree, each after its parent; initial states have the parent -1."""
        order, number = _breadth_first(parent, record)
        above = np.where(parent[order] < 0, -1, number[parent[order]])
        first_child = np.searchsorted(above, np.arange(len(parent) + 1)).astype(np.int32)
        return cls(first_child, record[order], fixing[order], row[order], behaviour)

    def with_player(
        self, player: int, parent: LongArray, record: IntArray, fixing: LongArray, row: IntArray, behaviour: FloatArray
    ) -> InfosetPolicy:
        """Return the policy with another tree for ``player``: the start first, each state after its parent."""
        others = np.ones(len(self.row), dtype=np.bool_)
        begin, end = player, player + 1
        while begin < end:  # its states of one depth are contiguous
            others[begin:end] = False
            begin, end = self.first_child[begin], self.first_child[end]
        others[player] = True
        others_rows, number = np.flatnonzero(others), np.cumsum(others) - 1
        above = np.repeat(np.arange(len(self.row)), np.diff(self.first_child))
        above = np.concatenate([np.full(self.first_child[0], -1), number[above]])[others_rows]
        below = np.where(parent[1:] == 0, player, parent[1:] + len(others_rows) - 1)
        rows = np.where(row == NO_ROW, NO_ROW, row + len(self.behaviour)).astype(np.int32)
        merged = np.concatenate([self.row[others_rows], rows[1:]])
        merged[player] = rows[0]
        return self.of(
            np.concatenate([above, below]),
            np.concatenate([self.record[others_rows], record[1:]]),
            np.concatenate([self.fixing[others_rows], fixing[1:]]),
            merged,
            np.concatenate([self.behaviour, behaviour]),
        )


def _breadth_first(parent: IntArray | LongArray, record: IntArray) -> tuple[LongArray, LongArray]:
    """Return the states sorted by depth, parent and record, and the index of each in that order."""
    depth = np.zeros(len(parent), dtype=np.int32)
    measure_depths(parent, depth)
    order = np.argsort(depth, kind="stable")
    ends = np.cumsum(np.bincount(depth))
    number = np.zeros(len(parent), dtype=np.int64)
    for begin, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        level = order[begin:end]
        if begin:
            level = level[np.lexsort((record[level], number[parent[level]]))]
        order[begin:end] = level
        number[level] = np.arange(begin, end)
    return order, number


@inline_kernel
def successor(first_child: IntArray, records: IntArray, state: int, record: int) -> int:
    """Return the state after one more record, or UNKNOWN."""
    found = UNKNOWN
    if state != UNKNOWN:
        begin, end = first_child[state], first_child[state + 1]
        while end - begin > FEW:
            middle = (begin + end) // 2
            if records[middle] <= record:
                begin = middle
            else:
                end = middle
        for k in range(begin, end):
            if records[k] == record:
                found = k
                break
    return found


@kernel
def follow(policy: InfosetPolicy, group: Group, view: int, record: int) -> np.int64:
    """Return the view after one more record; it stays UNKNOWN once it is."""
    state, element = state_of(view), element_of(view)
    if state != UNKNOWN:
        record, element = canonical(group, policy.fixing[state], element, record)
        state = successor(policy.first_child, policy.record, state, record)
    return view_of(state, element)
