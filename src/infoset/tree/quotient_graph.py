"""A game as kernels walk it, in which positions and information states that differ by a symmetry are merged.

A walk carries for each player a *view*: an information state, the least of those that are equal by symmetry, and the
group element that maps the board of the walk to the board of that state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray
from infoset.jit import borrowing, inline_kernel, inner_kernel, kernel, linked_kernel
from infoset.tree.graph import GameGraph
from infoset.tree.symmetry import Group, Symmetry, no_symmetry

PLAYER, CONTENT, FIRST, MOVES = range(4)
CHILD, TURN, TOKENS = range(3)
ELEMENT_BITS = 6
ELEMENT = (1 << ELEMENT_BITS) - 1


class QuotientGraph(NamedTuple):
    """The representative positions, one of each orbit.  Data that a walk reads together is adjacent in memory.

    >>> from infoset.tree.graph import explore
    >>> from infoset.tree.quotient_graph import QuotientGraph
    >>> QuotientGraph.of(explore(infoset.load("kuhn_poker"))).num_players
    2
    """

    position: IntArray  # (P, 4) PLAYER, CONTENT, FIRST edge, number of MOVES
    edge: IntArray  # (E, 2 + n) CHILD, the element that maps the representative back to the true child (TURN), TOKENS
    probability: FloatArray  # (E,)
    payoffs: FloatArray  # (number of distinct payoff vectors, n)
    group: Group
    depth: int  # the largest number of edges from the start to an end

    @classmethod
    def of(cls, graph: GameGraph, symmetry: Symmetry | None = None) -> QuotientGraph:
        """Build the walk of all positions, or of one position of each orbit of ``symmetry``.

        Raises ``GameRuleError`` where a state can recur.
        """
        symmetry = symmetry or no_symmetry(graph)
        carry = symmetry.image.argmin(axis=0)
        smallest = symmetry.image.min(axis=0)
        copied = np.flatnonzero(carry == 0)
        number = np.cumsum(carry == 0) - 1
        sizes = graph.num_edges[copied]
        first = np.cumsum(sizes) - sizes
        edges = np.repeat(graph.first_edge[copied] - first, sizes) + np.arange(sizes.sum())
        child = graph.child[edges]
        columns = graph.player[copied], graph.content[copied], first, sizes
        turn = symmetry.group.inverse[carry[child]]
        edge = np.column_stack([number[smallest[child]], turn, graph.record[edges]]).astype(np.int32)
        position = np.column_stack(columns).astype(np.int32)
        return cls(position, edge, graph.probability[edges], graph.payoffs, symmetry.group, graph.depth)

    @property
    def num_players(self) -> int:
        """``n``."""
        return int(self.edge.shape[1]) - TOKENS

    @property
    def most_actions(self) -> int:
        """The largest number of moves at one position."""
        return int(self.position[:, MOVES].max(initial=1))


@inline_kernel
def view_of(state: int | np.int32, element: int) -> np.int64:
    """Pack a state and a group element into one number."""
    return np.int64(state) << ELEMENT_BITS | np.int64(element)


@inline_kernel
def state_of(view: int) -> int:
    """Return the state of a view."""
    return view >> ELEMENT_BITS


@inline_kernel
def element_of(view: int) -> int:
    """Return the group element of a view."""
    return view & ELEMENT


@inline_kernel
def turned(group: Group, view: np.int64, turn: int) -> np.int64:
    """Return the view after the board was transformed by the element ``turn``."""
    if turn != 0:
        view = view & ~ELEMENT | np.int64(group.product[view & ELEMENT, turn])
    return view


@inner_kernel
@borrowing
def canonical(group: Group, fixing: int, element: int, record: int | np.int64) -> tuple[int, int]:
    """Return the least image of a record under ``element`` followed by what fixes the state, and that element."""
    best = group.record[element, record]
    if fixing == 1:  # only the identity
        return best, element
    by = element
    for h in range(1, len(group.inverse)):
        if fixing >> h & 1:
            other = group.product[h, element]
            if group.record[other, record] < best:
                best, by = group.record[other, record], other
    return best, by


@linked_kernel
@borrowing
def still_fixing(group: Group, fixing: np.int64, record: int) -> np.int64:
    """Return those of the elements that leave a record unchanged."""
    if fixing == 1:
        return fixing
    left = np.int64(1)
    for h in range(1, len(group.inverse)):
        if fixing >> h & 1 and group.record[h, record] == record:
            left |= np.int64(1) << h
    return left


@linked_kernel
@borrowing
def same_orbit(group: Group, fixing: int, action_set: int, action: int, other: int | np.int64) -> bool:
    """Return whether one of the elements maps ``other`` to ``action``, both by their places in the action set."""
    for h in range(len(group.inverse)):
        if fixing >> h & 1 and group.entry[h, group.first_entry[action_set] + other] == action:
            return True
    return False


def everything(group: Group) -> int:
    """Return the elements that leave the start unchanged, which are all of them, as a bit mask."""
    word = (1 << group.order) - 1
    return word - (1 << 64) if group.order == 64 else word


@kernel
@borrowing
def measure_depths(parent: IntArray | LongArray, depth: IntArray) -> None:
    """Write the depth of each state, its number of records from the start; parents come before their children."""
    for k in range(len(parent)):
        if parent[k] >= 0:
            depth[k] = depth[parent[k]] + 1


@kernel
@borrowing
def find_owners(parent: IntArray | LongArray, owner: IntArray) -> None:
    """Write the player of each state; initial states have parent -1, and parents come before their children."""
    for k in range(len(parent)):
        owner[k] = k if parent[k] < 0 else owner[parent[k]]
