"""The team belief DAG (Zhang, Farina & Sandholm 2022): a team that agrees beforehand as a player of perfect recall.

A team takes its decisions in one order, information set after information set, parents first.  A *point* is what the
decisions so far leave of the game at an information set that is next on the way to some ends.  A *belief* is a set of
points between which the team cannot distinguish: they are linked, directly or through others, by information sets that
may follow several of them.  At a belief the team chooses an action of the earliest of its information sets; the points
that are left fall apart into beliefs again, which are decided independently of each other.  Equal beliefs are one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from infoset import status
from infoset.base import IndexArray, IntArray, LongArray
from infoset.errors import BudgetError, ClockError
from infoset.interning import Rows, intern, longer, longer_bytes
from infoset.jit import inline_kernel, kernel
from infoset.memory import free_memory, size_in_words
from infoset.tree.sequence_form import SequenceForm

MOST_EDGES = 60_000_000
"""The number of edges up to which a DAG is built."""
BYTES_AN_EDGE = 300  # of a DAG and of what a solver keeps for it, with the beliefs that are compared while it is built
BATCH = 2048  # beliefs that are expanded in one call
NO_LEAF = -1
OTHERWISE = "take progressive-hiding, or a smaller game"


class BeliefArrays(NamedTuple):
    """The arrays that kernels read: B beliefs, parents before children; E edges, the actions at beliefs; Z leaves.

    An edge leads to some beliefs and to at most one leaf, a tuple of the members' sequences at the end of a game.  The
    roots are beliefs and at most one leaf, too.
    """

    first: IndexArray  # (B + 1,) where the edges of each belief begin
    infoset: IntArray  # (B,) the information set of the form that is decided
    children: IndexArray  # (E + 1,) where the beliefs that each edge leads to begin
    child: IndexArray  # the beliefs
    leaves: IndexArray  # (E + 1,) where the leaves that each edge leads to begin
    leaf: IndexArray  # the leaves
    roots: IndexArray  # the first beliefs
    at_once: IndexArray  # the leaves that are reached without a decision of the team


@dataclass(frozen=True, eq=False)
class BeliefDag:
    """The DAG of a team: ``members`` as seats, ``arrays``, and the leaf (T,) of each terminal row of the form."""

    form: SequenceForm
    members: tuple[int, ...]
    arrays: BeliefArrays = field(repr=False)
    leaf_of_row: LongArray = field(repr=False)
    num_leaves: int

    @classmethod
    def of(
        cls, form: SequenceForm, members: Sequence[int], limit: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> BeliefDag:  # fmt: skip
        """Build the DAG of some players, as long as ``progress``, called with the histories, raises no ``ClockError``.

        Raises ``BudgetError`` for more than ``limit`` edges, and before more than half of the free memory is taken.

        >>> from infoset.tree.belief_dag import BeliefDag
        >>> form = infoset.SequenceForm.of(infoset.load("kuhn_poker(players=3)"))
        >>> BeliefDag.of(form, [0, 1])
        BeliefDag of P1+P2: 830 beliefs, 1,660 edges
        """
        limit = min(MOST_EDGES, free_memory() // BYTES_AN_EDGE) if limit is None else limit
        name = "+".join(form.players[player] for player in members)
        with status.during(f"building the belief DAG of {name}"):
            ends = form.terminals()[0][:, list(members)]
            tuples, leaf_of_row = np.unique(ends, axis=0, return_inverse=True)
            points = _points_of(form, tuples)
            arrays = _Expansion(form, points, name, limit, progress or (lambda _: None)).run()
        return cls(form, tuple(members), arrays, leaf_of_row.ravel(), len(tuples))

    @property
    def name(self) -> str:
        """The members' names, joined."""
        return "+".join(self.form.players[player] for player in self.members)

    @property
    def num_beliefs(self) -> int:
        """``B``."""
        return len(self.arrays.infoset)

    @property
    def num_edges(self) -> int:
        """``E``."""
        return len(self.arrays.children) - 1

    def __repr__(self) -> str:
        return f"BeliefDag of {self.name}: {self.num_beliefs:,} beliefs, {self.num_edges:,} edges"


class _Points(NamedTuple):
    """The points of a team, numbered depth first, and its information sets by their place in the order of decisions."""

    infoset: IntArray  # (J,) the information set of the form at each place
    size: IntArray  # (J,) its number of actions
    place: IntArray  # (P,) the place of each point's information set
    edge: IntArray  # (P,) where the point's actions begin, among those of all points; action 0 comes before all points
    children: LongArray  # (A + 1,) where the points that follow each action begin
    child: IntArray  # those points
    leaf: IntArray  # (A,) the leaf that an action leads to, or NO_LEAF
    nexts: LongArray  # (P + 1,) where the next information set of each member at or after each point begin
    next: IntArray  # their places


def _points_of(form: SequenceForm, tuples: IntArray) -> _Points:
    """Return the points of a team whose ends are the ``tuples`` (Z, k) of its members' sequences.

    The order of decisions is that of the first appearance of the information sets in the tree, which has the levels
    one after the other; any order with parents first is valid, but in this one there are few beliefs.
    """
    owners = form.infoset_player
    mine = np.flatnonzero(np.isin(owners, [int(owners[k]) for k in _sets_on(form, tuples)]))
    infoset = mine[np.argsort(form.tree_infoset[mine], kind="stable")].astype(np.int32)
    size = form.arrays.size[infoset].astype(np.int32)
    begin = np.concatenate([[0], np.cumsum(size)]).astype(np.int32)
    number = np.full(form.num_sequences, -1, dtype=np.int32)
    for first, count, start in zip(form.arrays.first[infoset].tolist(), size.tolist(), begin.tolist(), strict=False):
        number[first : first + count] = np.arange(start, start + count)
    depth = int(form.lengths[tuples].sum(axis=1).max(initial=0))
    paths = np.full((len(tuples), depth), -1, dtype=np.int32)
    _write_paths(tuples, form.infoset_of, form.arrays.parent.astype(np.int32), number, paths)
    order = np.lexsort(paths.T[::-1]) if depth else np.arange(len(tuples))
    place_of = np.repeat(np.arange(len(size), dtype=np.int32), size)
    most = int((paths >= 0).sum())
    place, above, edge = (np.zeros(most, dtype=np.int32) for _ in range(3))
    leaf_edge = np.zeros(len(tuples), dtype=np.int32)
    points, edges = _grow(paths[order], place_of, begin, size, place, above, edge, leaf_edge)
    place, above, edge = place[:points], above[:points], edge[:points]
    children = np.concatenate([[0], np.cumsum(np.bincount(above, minlength=edges))])
    child = np.argsort(above, kind="stable").astype(np.int32)
    leaf = np.full(edges, NO_LEAF, dtype=np.int32)
    leaf[leaf_edge] = order
    nexts, following = _find_nexts(place, edge, size, children, child, owners[infoset])
    return _Points(infoset, size, place, edge, children, child, leaf, nexts, following)


def _sets_on(form: SequenceForm, tuples: IntArray) -> LongArray:
    """Return the information sets of the last actions of some sequences."""
    found = np.unique(form.infoset_of[np.unique(tuples)])
    return found[found >= 0].astype(np.int64)


@kernel
def _write_paths(tuples: IntArray, infoset_of: IntArray, parent: IntArray, number: IntArray, paths: IntArray) -> None:
    """Write the numbers of all actions of each tuple of sequences in ascending order to ``paths`` (Z, depth)."""
    found = np.zeros(paths.shape[1], dtype=np.int32)
    for z in range(tuples.shape[0]):
        count = 0
        for m in range(tuples.shape[1]):
            q = tuples[z, m]
            while infoset_of[q] >= 0:
                found[count] = number[q]
                count += 1
                q = parent[infoset_of[q]]
        found[:count].sort()
        paths[z, :count] = found[:count]


@kernel
def _grow(
    paths: IntArray, place_of: IntArray, begin: IntArray, size: IntArray, place: IntArray, above: IntArray,
    edge: IntArray, leaf_edge: IntArray,
) -> tuple[int, int]:  # fmt: skip
    """Write the points on ``paths`` (Z, depth), sorted; return the numbers of points and of their actions."""
    points, edges, depth = 0, 1, paths.shape[1]
    point_at, edge_at = np.zeros(depth, dtype=np.int32), np.zeros(depth + 1, dtype=np.int32)
    for z in range(paths.shape[0]):
        k = 0
        while z > 0 and k < depth and paths[z, k] >= 0 and paths[z, k] == paths[z - 1, k]:
            k += 1
        known = z > 0 and k < depth and paths[z, k] >= 0 and paths[z - 1, k] >= 0
        known = known and place_of[paths[z, k]] == place_of[paths[z - 1, k]]
        while k < depth and paths[z, k] >= 0:
            here = place_of[paths[z, k]]
            if not known:
                place[points], above[points], edge[points] = here, edge_at[k], edges
                point_at[k] = points
                points, edges = points + 1, edges + size[here]
            known = False
            edge_at[k + 1] = edge[point_at[k]] + paths[z, k] - begin[here]
            k += 1
        leaf_edge[z] = edge_at[k]
    return points, edges


@kernel
def _find_nexts(
    place: IntArray, edge: IntArray, size: IntArray, children: LongArray, child: IntArray, owner: IntArray
) -> tuple[LongArray, IntArray]:
    """Return the next information sets of each member at or after each point, as lists (``_Points.nexts``)."""
    points = len(place)
    begin, end = np.zeros(points, dtype=np.int64), np.zeros(points, dtype=np.int64)
    met = np.full(len(size), -1, dtype=np.int64)
    data, used = np.zeros(4 * points + 16, dtype=np.int32), 0
    for p in range(points - 1, -1, -1):
        here = place[p]
        begin[p] = used
        for k in range(children[edge[p]], children[edge[p] + size[here]]):
            c = child[k]
            if used + end[c] - begin[c] + 1 > len(data):
                more = np.zeros(2 * (used + end[c] - begin[c] + 1), dtype=np.int32)
                more[:used] = data[:used]
                data = more
            for j in range(begin[c], end[c]):
                after = data[j]
                if owner[after] != owner[here] and met[after] != p:
                    met[after] = p
                    data[used] = after
                    used += 1
        if used == len(data):
            more = np.zeros(2 * used + 16, dtype=np.int32)
            more[:used] = data[:used]
            data = more
        data[used] = here
        used += 1
        end[p] = used
    starts = np.zeros(points + 1, dtype=np.int64)
    for p in range(points):
        starts[p + 1] = starts[p] + end[p] - begin[p]
    sorted_data = np.zeros(used, dtype=np.int32)
    for p in range(points):
        sorted_data[starts[p] : starts[p + 1]] = data[begin[p] : end[p]]
    return starts, sorted_data


class _Found(NamedTuple):
    """What the expansion has found so far; ``counts``: beliefs expanded, edges, entries of ``child``, of ``leaf``."""

    counts: LongArray  # (4,)
    head: IntArray  # (J,) the latest belief that is decided at each place, or -1
    link: IntArray  # the belief before it at the same place, or -1
    number: IntArray  # the final number of each belief
    first: IntArray
    infoset: IntArray
    children: LongArray
    child: IntArray
    leaves: LongArray
    leaf: IntArray


class _Scratch(NamedTuple):
    """Room for the points that an action leaves, and a forest over information sets that unites them."""

    points: LongArray
    part: LongArray  # the component of each of these points
    row: LongArray
    above: LongArray  # (J,) the forest
    stamp: LongArray  # (J,) when ``above`` was last written
    clock: LongArray  # (1,)


class _Expansion:
    """The expansion of all beliefs, in the order of decisions."""

    def __init__(
        self, form: SequenceForm, points: _Points, name: str, limit: int, progress: Callable[[int], object]
    ) -> None:
        self.form, self.points, self.name, self.limit, self.progress = form, points, name, limit, progress
        places, most = len(points.size), len(points.place) + 1
        self.rows, self.memory = Rows.empty(), free_memory() // 2
        self.scratch = _Scratch(*[np.zeros(size, dtype=np.int64) for size in (most, most, most, places, places, 1)])
        ints, longs = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int64)
        self.found = _Found(
            counts=np.zeros(4, dtype=np.int64), head=np.full(places, -1, dtype=np.int32), link=ints, number=ints,
            first=ints, infoset=ints, children=longs, child=ints, leaves=longs, leaf=ints,
        )  # fmt: skip

    def run(self) -> BeliefArrays:
        """Return the arrays.  Raises ``BudgetError`` before there are too many edges, or there is too little memory."""
        a, roots = self.points, self._begin()
        for place in range(len(a.size)):
            belief = int(self.found.head[place])
            while belief >= 0:
                self._make_room(belief, int(a.size[place]))
                belief = int(_expand(a, self.rows, self.found, self.scratch, place, belief, BATCH))
                self._check()
        f = self.found
        beliefs, edges, child, leaf = f.counts.tolist()
        return BeliefArrays(
            _index(f.first[: beliefs + 1]), f.infoset[:beliefs].copy(), _index(f.children[: edges + 1]),
            _index(f.number[f.child[:child]]), _index(f.leaves[: edges + 1]), _index(f.leaf[:leaf]),
            _index(f.number[roots]), _index(a.leaf[:1][a.leaf[:1] >= 0]),
        )  # fmt: skip

    def _check(self) -> None:
        """Raise ``BudgetError`` where the beliefs found so far have too many edges, ``ClockError`` after the limit."""
        expanded, edges = self.found.counts[:2].tolist()
        waiting = int(self.rows.size[0]) - expanded
        if (at_least := edges + waiting * int(self.points.size.min())) > self.limit:
            raise BudgetError(
                f"{self.form.name}: the belief DAG of {self.name} has more than {at_least:,} edges; the limit is "
                f"{self.limit:,}; {OTHERWISE}"
            )
        try:
            self.progress(self.form.num_histories)
        except ClockError:
            raise ClockError(
                f"{self.form.name}: the belief DAG of {self.name} is not built in time: {at_least:,} edges and more to "
                f"come; allow more --seconds, or {OTHERWISE}"
            ) from None

    def _begin(self) -> LongArray:
        """Add the first beliefs and return their numbers."""
        start = self.points.child[self.points.children[0] : self.points.children[1]].astype(np.int64)
        self.rows = self.rows.with_room(len(start), len(start))
        self.found = self._with_room(len(start), 0, len(start), 0)
        self.scratch.points[: len(start)] = start
        _add_parts(self.points, self.rows, self.found, self.scratch, len(start))
        count = int(self.found.counts[2])
        self.found.counts[2] = 0
        return self.found.child[:count].astype(np.int64)

    def _make_room(self, belief: int, actions: int) -> None:
        words, beliefs = _count_room(self.points, self.rows, self.found, belief, BATCH)
        _, edges, child, leaf = self.found.counts.tolist()
        now = sum(array.nbytes for arrays in (self.rows, self.found) for array in arrays)
        taken = now + self.rows.growth(words, words)
        taken += longer_bytes(self.found.child, child + words) + longer_bytes(self.found.leaf, leaf + words)
        if taken > self.memory:
            raise BudgetError(
                f"{self.form.name}: the belief DAG of {self.name} takes more than {size_in_words(taken)}, at {edges:,} "
                f"edges and more to come; half of the free memory is {size_in_words(self.memory)}; {OTHERWISE}"
            )
        self.rows = self.rows.with_room(words, words)
        self.found = self._with_room(words, beliefs * actions, words, words)

    def _with_room(self, beliefs: int, edges: int, child: int, leaf: int) -> _Found:
        f, known = self.found, int(self.rows.size[0])
        done, edge, children, leaves = f.counts.tolist()
        return _Found(
            f.counts, f.head, longer(f.link, known + beliefs + 1), longer(f.number, known + beliefs + 1),
            longer(f.first, done + BATCH + 1), longer(f.infoset, done + BATCH + 1),
            longer(f.children, edge + edges + 1), longer(f.child, children + child + 1),
            longer(f.leaves, edge + edges + 1), longer(f.leaf, leaves + leaf + 1),
        )  # fmt: skip


def _index(array: LongArray | IntArray) -> IndexArray:
    return array.astype(np.uint32)  # unsigned: kernels then need no check for negative indices


@kernel
def _count_room(a: _Points, rows: Rows, f: _Found, belief: int, most: int) -> tuple[int, int]:
    """Return bounds on the points that ``most`` beliefs from ``belief`` on leave, and on their number."""
    words, beliefs = 0, 0
    while belief >= 0 and beliefs < most:
        place = a.place[rows.data[rows.begin[belief]]]
        for k in range(rows.begin[belief], rows.begin[belief + 1]):
            place = min(place, a.place[rows.data[k]])
        for k in range(rows.begin[belief], rows.begin[belief + 1]):
            p = rows.data[k]
            words += a.size[place]
            if a.place[p] == place:
                words += a.children[a.edge[p] + a.size[place]] - a.children[a.edge[p]]
        beliefs += 1
        belief = f.link[belief]
    return words, beliefs


@kernel
def _expand(a: _Points, rows: Rows, f: _Found, s: _Scratch, place: int, belief: int, most: int) -> int:
    """Expand up to ``most`` beliefs at a place, from ``belief`` on; return the next one, or -1."""
    for _ in range(most):
        if belief < 0:
            break
        done = f.counts[0]
        f.number[belief], f.first[done], f.infoset[done] = done, f.counts[1], a.infoset[place]
        for action in range(a.size[place]):
            count = 0
            for k in range(rows.begin[belief], rows.begin[belief + 1]):
                p = rows.data[k]
                if a.place[p] != place:
                    s.points[count] = p
                    count += 1
                    continue
                edge = a.edge[p] + action
                if a.leaf[edge] >= 0:
                    f.leaf[f.counts[3]] = a.leaf[edge]
                    f.counts[3] += 1
                for j in range(a.children[edge], a.children[edge + 1]):
                    s.points[count] = a.child[j]
                    count += 1
            s.points[:count].sort()
            _add_parts(a, rows, f, s, count)
            f.counts[1] += 1
            f.children[f.counts[1]], f.leaves[f.counts[1]] = f.counts[2], f.counts[3]
        f.counts[0] = done + 1
        f.first[done + 1] = f.counts[1]
        belief = f.link[belief]
    return belief


@inline_kernel
def _top(above: LongArray, node: int) -> int:
    """Return the root of a node of the forest, and shorten the way there."""
    while above[node] != node:
        above[node] = above[above[node]]
        node = above[node]
    return node


@kernel
def _add_parts(a: _Points, rows: Rows, f: _Found, s: _Scratch, count: int) -> None:
    """Divide the points that an action leaves into beliefs, and write these beliefs to ``f.child``.

    Points are in one belief where the same information set is the next one of a member at or after both.
    """
    s.clock[0] += 1
    clock = s.clock[0]
    for k in range(count):
        p = s.points[k]
        one = a.next[a.nexts[p]]
        if s.stamp[one] != clock:
            s.stamp[one], s.above[one] = clock, one
        one = _top(s.above, one)
        for j in range(a.nexts[p] + 1, a.nexts[p + 1]):
            other = a.next[j]
            if s.stamp[other] != clock:
                s.stamp[other] = clock
                s.above[other] = one
            else:
                other = _top(s.above, other)
                s.above[other] = one
    for k in range(count):
        s.part[k] = _top(s.above, a.next[a.nexts[s.points[k]]])
    for k in range(count):
        part = s.part[k]
        if part < 0:
            continue
        length = 0
        place = a.place[s.points[k]]
        for j in range(k, count):
            if s.part[j] == part:
                s.row[length] = s.points[j]
                place = min(place, a.place[s.points[j]])
                s.part[j] = -1
                length += 1
        known = rows.size[0]
        belief = intern(rows, s.row[:length])
        if belief == known:
            f.link[belief] = f.head[place]
            f.head[place] = belief
        f.child[f.counts[2]] = belief
        f.counts[2] += 1
