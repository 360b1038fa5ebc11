"""A game as kernels walk it: positions that differ by a symmetry are one, and so is what players know.

Whoever walks carries for each player a *view*: an information state, the least of those that the symmetries make equal,
and the element of the group that leads from the board as the walk sees it to the board as that state sees it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infoset.base import FloatArray, IntArray
from infoset.jit import inline_kernel, kernel
from infoset.tree.graph import GameGraph, longest, topological
from infoset.tree.symmetry import Group, Symmetry, no_symmetry

PLAYER, CONTENT, FIRST, MOVES = range(4)
CHILD, TURN, TOKENS = range(3)
ELEMENT_BITS = 6
ELEMENT = (1 << ELEMENT_BITS) - 1


class Walk(NamedTuple):
    """The positions kept, one of each orbit.  What a walk reads at one place stands together in memory."""

    position: IntArray  # (P, 4) PLAYER, CONTENT, FIRST edge, number of MOVES
    edge: IntArray  # (E, 2 + n) CHILD, the element that leads back from what it stands for (TURN), TOKENS
    probability: FloatArray  # (E,)
    payoffs: FloatArray
    group: Group

    @classmethod
    def of(cls, graph: GameGraph, symmetry: Symmetry | None = None) -> Walk:
        """Of all positions, or of those that differ by more than ``symmetry``."""
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
        return cls(position, edge, graph.probability[edges], graph.payoffs, symmetry.group)

    @property
    def num_players(self) -> int:
        return int(self.edge.shape[1]) - TOKENS

    @property
    def most_moves(self) -> int:
        return int(self.position[:, MOVES].max(initial=1))

    def depth(self) -> int:
        """The most edges from the start to an end."""
        first = np.append(self.position[:, FIRST], len(self.edge)).astype(np.int32)
        child = np.ascontiguousarray(self.edge[:, CHILD])
        return int(longest(topological(first, child), first, child))


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


@kernel
def least(group, fixing, element, token):
    """A token as the least of those that ``element``, and what leaves the state as it is, make of it; and which did."""
    best = group.token[element, token]
    by = element
    for h in range(1, len(group.inverse)):
        if fixing >> h & 1:
            other = group.product[h, element]
            if group.token[other, token] < best:
                best, by = group.token[other, token], other
    return best, by


@kernel
def still_fixing(group, fixing, token):
    """Those of the elements that leave a token as it is."""
    if fixing == 1:
        return fixing
    left = np.int64(1)
    for h in range(1, len(group.inverse)):
        if fixing >> h & 1 and group.token[h, token] == token:
            left |= np.int64(1) << h
    return left


def everything(group: Group) -> int:
    """The elements that leave the start as it is: all of them, as a word."""
    word = (1 << group.order) - 1
    return word - (1 << 64) if group.order == 64 else word
