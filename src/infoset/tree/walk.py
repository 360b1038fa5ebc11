"""A game as kernels walk it: positions that differ by a symmetry are one, and so is what players know.

Whoever walks carries for each player a *view*: an information state, the least of those that the symmetries make equal,
and the element of the group that leads from the board as the walk sees it to the board as that state sees it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infoset.base import FloatArray, IntArray
from infoset.jit import borrowing, inline_kernel, inner_kernel, kernel, linked_kernel
from infoset.tree.graph import GameGraph
from infoset.tree.symmetry import Group, Symmetry, no_symmetry

PLAYER, CONTENT, FIRST, MOVES = range(4)
CHILD, TURN, TOKENS = range(3)
ELEMENT_BITS = 6
ELEMENT = (1 << ELEMENT_BITS) - 1


class Walk(NamedTuple):
    """The positions kept, one of each orbit.  What a walk reads at one place stands together in memory.

    >>> from infoset.tree.graph import explore
    >>> from infoset.tree.walk import Walk
    >>> Walk.of(explore(infoset.load("kuhn_poker"))).num_players
    2
    """

    position: IntArray  # (P, 4) PLAYER, CONTENT, FIRST edge, number of MOVES
    edge: IntArray  # (E, 2 + n) CHILD, the element that leads back from what it stands for (TURN), TOKENS
    probability: FloatArray  # (E,)
    payoffs: FloatArray  # (number of distinct payoff vectors, n)
    group: Group
    depth: int  # the most edges from the start to an end

    @classmethod
    def of(cls, graph: GameGraph, symmetry: Symmetry | None = None) -> Walk:
        """Of all positions, or of those that differ by more than ``symmetry``.

        Raises ``GameRuleError`` where a state can come back.
        """
        symmetry = symmetry or no_symmetry(graph)
        carry = symmetry.image.argmin(axis=0)
        smallest = symmetry.image.min(axis=0)
        kept = np.flatnonzero(carry == 0)
        number = np.cumsum(carry == 0) - 1
        sizes = graph.num_edges[kept]
        first = np.cumsum(sizes) - sizes
        edges = np.repeat(graph.first_edge[kept] - first, sizes) + np.arange(sizes.sum())
        child = graph.child[edges]
        columns = graph.player[kept], graph.content[kept], first, sizes
        turn = symmetry.group.inverse[carry[child]]
        edge = np.column_stack([number[smallest[child]], turn, graph.token[edges]]).astype(np.int32)
        position = np.column_stack(columns).astype(np.int32)
        return cls(position, edge, graph.probability[edges], graph.payoffs, symmetry.group, graph.depth)

    @property
    def num_players(self) -> int:
        """``n``."""
        return int(self.edge.shape[1]) - TOKENS

    @property
    def most_moves(self) -> int:
        """The most moves that are on offer at once."""
        return int(self.position[:, MOVES].max(initial=1))


@inline_kernel
def view_of(state, element):
    return np.int64(state) << ELEMENT_BITS | np.int64(element)


@inline_kernel
def state_of(view):
    return view >> ELEMENT_BITS


@inline_kernel
def element_of(view):
    return view & ELEMENT


@inline_kernel
def turned(group, view, turn):
    """The view after the board was turned."""
    if turn != 0:
        view = view & ~ELEMENT | np.int64(group.product[view & ELEMENT, turn])
    return view


@inner_kernel
@borrowing
def canonical(group, fixing, element, token):
    """The least token that ``element``, and what leaves the state as it is, make of this one; and which did."""
    best = group.token[element, token]
    if fixing == 1:  # only what changes nothing
        return best, element
    by = element
    for h in range(1, len(group.inverse)):
        if fixing >> h & 1:
            other = group.product[h, element]
            if group.token[other, token] < best:
                best, by = group.token[other, token], other
    return best, by


@linked_kernel
@borrowing
def still_fixing(group, fixing, token):
    """Those of the elements that leave a token as it is."""
    if fixing == 1:
        return fixing
    left = np.int64(1)
    for h in range(1, len(group.inverse)):
        if fixing >> h & 1 and group.token[h, token] == token:
            left |= np.int64(1) << h
    return left


@linked_kernel
@borrowing
def same_orbit(group, fixing, menu, move, other):
    """Whether one of the elements makes ``move`` of ``other``, both by their places in the menu."""
    for h in range(len(group.inverse)):
        if fixing >> h & 1 and group.entry[h, group.first_entry[menu] + other] == move:
            return True
    return False


def everything(group: Group) -> int:
    """The elements that leave the start as it is: all of them, as a word."""
    word = (1 << group.order) - 1
    return word - (1 << 64) if group.order == 64 else word


@kernel
@borrowing
def measure_depths(parent, depth):
    """How many tokens a state is away from the start; parents come before their children."""
    for k in range(len(parent)):
        if parent[k] >= 0:
            depth[k] = depth[parent[k]] + 1


@kernel
@borrowing
def find_owners(parent, owner):
    """Whose states they are, -1 being the parent of those where players start; parents come before their children."""
    for k in range(len(parent)):
        owner[k] = k if parent[k] < 0 else owner[parent[k]]
