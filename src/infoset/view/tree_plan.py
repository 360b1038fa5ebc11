"""The layout of the picture of a game tree.

The root is at the top.  All histories of an information set are on one level wherever the rules allow it, every
terminal history has its own column, and a node is centred over its children, so no two edges cross.  Histories of one
set that are neighbours on their level are joined by a straight line; for others the set's curve runs through the
channel above the level, on a track of its own: nested curves do not cross, and others cross once, at a right angle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, product
from typing import TypeAlias

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from infoset.base import LongArray
from infoset.tree.game_tree import NO_INFOSET, ROOT, GameTree

Port: TypeAlias = tuple[int, int]
"""A node and its left (-1) or right (1) side."""

PORT = 4.0  # distance from a node's side to the point where a curve turns towards its channel
MIN_DISTANCE = 3.0  # least distance between the parallel parts of two curves


@dataclass(frozen=True)
class Bridge:
    """A part of an information set's curve in the channel above ``level``, from ``left`` to ``right``."""

    infoset: int
    level: int
    left: float
    right: float


@dataclass(frozen=True)
class Join:
    """The connection of two histories of an information set.

    It is straight, over one bridge, or, between different levels, over two bridges and the vertical at ``across``.  The
    curve ends at their left (-1) or right (1) ``sides``.
    """

    infoset: int
    one: int
    other: int
    sides: tuple[int, int]
    bridges: tuple[Bridge, ...] = ()
    across: float = 0.0


class TreePlan:
    """The levels, columns and joins of a tree whose drawn parts have the given half widths.

    ``node`` (N,) is the half width of a node, 0 for a terminal one; ``label`` (N,) that of the label on the edge to the
    node; ``column`` (N,) the least half width of its column, all in pixels.
    """

    def __init__(self, tree: GameTree, node: Sequence[float], label: Sequence[float], column: Sequence[float]) -> None:
        self.tree, self.node, self.label = tree, node, label
        self.level = levels(tree)
        self.x = _columns(tree, column)
        self.rows: dict[int, list[int]] = defaultdict(list)  # the nodes of each level from left to right, without ends
        self.texts: dict[int, list[int]] = defaultdict(list)  # the nodes whose edges begin at each level
        for k in sorted(range(len(tree.parent)), key=self.x.__getitem__):
            if self.children(k):
                self.rows[self.level[k]].append(k)
            if k != ROOT:
                self.texts[self.level[int(tree.parent[k])]].append(k)
        self.verticals: list[tuple[float, int, int]] = []  # x, and the levels between which
        self.joins = list(self._joins())
        self.track = _tracks([bridge for join in self.joins for bridge in join.bridges])

    def children(self, node: int) -> range:
        return range(int(self.tree.first_child[node]), int(self.tree.first_child[node + 1]))

    def port(self, node: int, side: int) -> float:
        """Return where a curve leaves a node's left (-1) or right (1) side for the channel."""
        return self.x[node] + side * (self.node[node] + PORT)

    def tracks(self, level: int) -> int:
        """Return the number of tracks in the channel above a level."""
        return max((track + 1 for bridge, track in self.track.items() if bridge.level == level), default=0)

    def _joins(self) -> Iterator[Join]:
        members: dict[int, list[int]] = defaultdict(list)
        for node, infoset in enumerate(self.tree.infoset.tolist()):
            if infoset != NO_INFOSET:
                members[infoset].append(node)
        for infoset, nodes in members.items():
            nodes.sort(key=lambda node: (self.level[node], self.x[node]))
            free: list[Port] = []
            for _, group in groupby(nodes, key=self.level.__getitem__):
                row = list(group)
                for one, other in pairwise(row):
                    yield self._beside(infoset, one, other)
                ends = [(row[0], -1), (row[-1], 1)]
                if free:
                    join = self._across(infoset, free, ends)
                    ends.remove((join.other, join.sides[1]))
                    yield join
                free = ends

    def _beside(self, infoset: int, one: int, other: int) -> Join:
        """Return the join of two histories on one level, ``one`` on the left."""
        level = self.level[one]
        row = self.rows[level]
        if row.index(other) == row.index(one) + 1:
            return Join(infoset, one, other, (1, -1))
        return Join(infoset, one, other, (1, -1), (Bridge(infoset, level, self.port(one, 1), self.port(other, -1)),))

    def _across(self, infoset: int, above: list[Port], below: list[Port]) -> Join:
        """Return the join between two levels, by the shortest connection of two free sides."""
        top, bottom = self.level[above[0][0]], self.level[below[0][0]]
        ways = []
        for (one, side), (other, side_below) in product(above, below):
            ends = self.port(one, side), self.port(other, side_below)
            across = self._free_column(top, bottom, sum(ends) / 2)
            ways.append((sum(abs(end - across) for end in ends), across, (one, other), (side, side_below), ends))
        _, across, (one, other), sides, ends = min(ways)
        self.verticals.append((across, top, bottom))
        bridges = [
            Bridge(infoset, level, *sorted((end, across))) for level, end in zip((top, bottom), ends, strict=True)
        ]
        return Join(infoset, one, other, sides, tuple(bridges), across)

    def _free_column(self, top: int, bottom: int, near: float) -> float:
        """Return the x nearest to ``near`` where a vertical between two channels meets no node, label or vertical."""
        taken = [(x, MIN_DISTANCE) for x, high, low in self.verticals if high <= bottom and top <= low]
        for level in range(top, bottom + 1):
            taken += [(self.x[k], self.node[k] + 2 * PORT) for k in self.rows[level]]
            if level < bottom:
                taken += [(self.x[k], self.label[k] + MIN_DISTANCE) for k in self.texts[level]]
        edges = [x + side * (half + 0.5) for x, half in taken for side in (-1, 1)]
        free = [x for x in [near, *edges] if all(abs(x - middle) >= half for middle, half in taken)]
        return min(free, key=lambda x: abs(x - near))


def levels(tree: GameTree) -> list[int]:
    """Return (N,) the level of every node, as high up as possible.

    All histories of an information set are on one level, unless one of them can precede another, possibly through other
    sets.
    """
    size, sets = len(tree.parent), len(tree.infoset_player)
    group = np.where(tree.infoset == NO_INFOSET, sets + np.arange(size), tree.infoset).astype(np.int64)
    below, above = group[1:], group[tree.parent[1:]]
    twisted = _on_cycles(above, below, sets + size)
    group = np.where(twisted[group], sets + np.arange(size), group)
    level = np.zeros(sets + size, dtype=np.int64)
    while True:
        found = level.copy()
        np.maximum.at(found, group[1:], level[group[tree.parent[1:]]] + 1)
        if (found == level).all():
            return [int(k) for k in level[group]]
        level = found


def _on_cycles(above: LongArray, below: LongArray, size: int) -> LongArray:
    """Return (size,) whether a group lies on a cycle of the edges from ``above`` to ``below``."""
    edges = coo_array((np.ones(len(above)), (above, below)), shape=(size, size))
    count, component = connected_components(edges, connection="strong")
    twisted = np.bincount(component, minlength=count)[component] > 1
    twisted[above[above == below]] = True
    return np.asarray(twisted)


def _columns(tree: GameTree, half: Sequence[float]) -> list[float]:
    """Return (N,) the position of every node from 0 on: subtrees side by side, a node centred over its children."""
    size = len(tree.parent)
    left, right, shift = list(half), list(half), [0.0] * size
    for node in reversed(range(size)):
        children = range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
        if not children:
            continue
        for one, other in pairwise(children):
            shift[other] = shift[one] + right[one] + left[other]
        first, last, middle = children[0], children[-1], shift[children[-1]] / 2
        left[node] = max(left[node], middle + left[first])
        right[node] = max(right[node], shift[last] - middle + right[last])
        for child in children:
            shift[child] -= middle
    x = [left[ROOT]] * size
    for node in range(1, size):
        x[node] = x[tree.parent[node]] + shift[node]
    return x


def _tracks(bridges: Sequence[Bridge]) -> dict[Bridge, int]:
    """Return a track for each bridge, 0 next to the nodes.

    A bridge lies above all those that it spans, and on another track than those that it meets.
    """
    track: dict[Bridge, int] = {}
    for bridge in sorted(bridges, key=lambda bridge: (bridge.right - bridge.left, bridge.left)):
        near = [b for b in track if b.level == bridge.level and _meet(b, bridge)]
        spanned = [track[b] for b in near if bridge.left <= b.left and b.right <= bridge.right]
        taken, found = {track[b] for b in near}, max(spanned, default=-1) + 1
        while found in taken:
            found += 1
        track[bridge] = found
    return track


def _meet(one: Bridge, other: Bridge) -> bool:
    return one.left < other.right + MIN_DISTANCE and other.left < one.right + MIN_DISTANCE
