"""The optimum of a two-player common-payoff game with public moves, by a dynamic program over sets of types.

Chance deals each player a *type*; from then on every move is public.  The common knowledge at a public state is the
set of types that are still possible, a set M of the mover's and a set N of the other's.  V(M, N) is the most that the
pairs of M x N can still earn together, weighted by their prior.  The mover's types choose their moves independently, so
V is the value of the best partition of M over the moves: a max-plus subset convolution of the tables of the successor
states.  Pure strategies suffice, and every one of them is one choice of such partitions.

Where both move at once, all partitions of one player's types are tried, each with the other's best reply.  Public
states with the same continuation, up to exchanging the players, share one table.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from infoset.base import FloatArray, LongArray
from infoset.errors import BudgetError
from infoset.memory import free_memory
from infoset.names import action_names
from infoset.solvers.teams.joint import JointActions
from infoset.solvers.teams.public_tree import PublicTree
from infoset.solvers.teams.sets import Table, convolutions, convolved, divide, elements, subset_sums

Prefix: TypeAlias = "tuple[Successor, ...]"

LANES = 64
SPLITS_PER_SECOND = 2e9  # measured: 5e9 a core for int32, 2.5e9 for float64
MAX_DENOMINATOR = 10_000
MAX_COMMON_DENOMINATOR = 10**6
MAX_EXACT = 2**36
EXACT_TOLERANCE = 2.0**-44  # of the largest: the rounding errors that products and sums of fractions may have


def exact(weights: FloatArray) -> tuple[Table, int]:
    """Return ``weights`` as int32 or int64 over a common denominator; unchanged, with 0, if there is none.

    The integers agree with ``weights`` to within 2**-44 of the largest.
    """
    denominator = 1
    for value in np.unique(weights).tolist():
        denominator = lcm(denominator, Fraction(value).limit_denominator(MAX_DENOMINATOR).denominator)
        if denominator > MAX_COMMON_DENOMINATOR:
            return weights, 0
    scaled = weights * denominator
    whole = np.rint(scaled)
    total = float(np.abs(scaled).max(axis=0).sum())  # no sum of the program is larger
    if total >= MAX_EXACT or np.abs(scaled - whole).max() > EXACT_TOLERANCE * np.abs(scaled).max():
        return weights, 0
    return whole.astype(np.int32 if total < 2**31 else np.int64), denominator


class Successor(NamedTuple):
    """The kind of public state to which a move leads, and whether it is seen by the other player."""

    kind: int
    turns: bool


class Kind(NamedTuple):
    """The continuation of a public state, seen by its mover; equal kinds have equal tables."""

    types: tuple[int, int]  # the mover's, the other's
    ends: tuple[int, ...]  # tables of the moves that end the game, numbers in ``Kinds.ends``
    follow: Prefix  # successors of the other moves, sorted so that kinds share as much of a convolution as possible


class JointKind(NamedTuple):
    """The continuation of a public state where both move at once, seen by the leader of ``JointActions``."""

    types: tuple[int, int]  # the leader's, the replier's
    successors: tuple[tuple[int | Successor, ...], ...]  # each pair of moves; tables are numbers in ``Kinds.ends``


class Kinds:
    """The kinds of a public tree's decision states, successors first."""

    def __init__(self, public: PublicTree, weights: dict[int, Table]) -> None:
        self.ends: list[Table] = []  # (types of who sees it, of the other), each once
        self.of = [-1] * len(public.movers)  # kind of each state
        self.seer = [_seer(public, v) for v in range(len(public.movers))]  # the player who sees each state
        self.actions: list[list[int]] = [[] for _ in public.movers]  # of each state, in the order of ``follow``
        self.stops: list[list[int]] = [[] for _ in public.movers]  # of each state, in the order of ``ends``
        self._public, self._weights = public, weights
        self._known: dict[tuple[tuple[int, ...], bytes], int] = {}
        number: dict[Kind | JointKind, int] = {}
        for v in reversed(range(len(public.movers))):
            if public.movers[v]:
                kind = self._kind(v) if len(public.movers[v]) == 1 else self._joint_kind(v)
                self.of[v] = number.setdefault(kind, len(number))
        self.all = list(number)

    def _kind(self, v: int) -> Kind:
        """Return the kind of a state with one mover, whose successors are known, and put its moves in order."""
        ends: dict[int, int] = {}
        follow: list[tuple[Successor, int]] = []
        for action, child in enumerate(self._public.children[v].tolist()):
            successors = self._successor(v, child)
            if isinstance(successors, int):
                ends.setdefault(successors, action)
            else:
                follow.append((successors, action))
        follow.sort()
        self.actions[v] = [action for _, action in follow]
        self.stops[v] = [ends[end] for end in sorted(ends)]
        return Kind(self._types(v), tuple(sorted(ends)), tuple(f for f, _ in follow))

    def _joint_kind(self, v: int) -> JointKind:
        pairs = self._public.children[v]
        if self.seer[v] != self._public.movers[v][0]:
            pairs = pairs.T
        return JointKind(self._types(v), tuple(tuple(self._successor(v, w) for w in row) for row in pairs.tolist()))

    def _types(self, v: int) -> tuple[int, int]:
        one, other = self._public.types
        return (other, one) if self.seer[v] else (one, other)

    def _successor(self, v: int, child: int) -> int | Successor:
        """Return a successor of a state, as seen by the player who sees the state."""
        if child in self._weights:
            table = self._weights[child].T if self.seer[v] else self._weights[child]
            end = self._known.setdefault((table.shape, table.tobytes()), len(self.ends))
            if end == len(self.ends):
                self.ends.append(table)
            return end
        return Successor(self.of[child], self.seer[child] != self.seer[v])


def _seer(public: PublicTree, v: int) -> int:
    """Return the player who sees a state: its mover; of two the one with less work as leader; P1 at an end."""
    movers, shape = public.movers[v], public.children[v].shape
    if len(movers) < 2:
        return movers[0] if movers else 0

    def job(place: int) -> tuple[float, float]:
        prescriptions = (shape[place] + 1.0) ** public.types[movers[place]]
        return prescriptions * shape[1 - place] * 3.0 ** public.types[movers[1 - place]], prescriptions

    return movers[min((0, 1), key=job)]


class SubsetProgram:
    """The dynamic program, with one table V (2**mover's types, 2**other's types) for every kind.

    Only the kind of the root has none, unless both players move there.
    """

    def __init__(self, public: PublicTree, seconds: float) -> None:
        """Prepare the program.

        Raises ``BudgetError`` where the estimated time exceeds ``seconds``, or the memory half of what is free.
        """
        self.public = public
        ends = public.ends
        stacked, self.denominator = exact(np.stack([public.weights[v] for v in ends]))
        self.dtype = stacked.dtype
        self.weights = dict(zip(ends, stacked, strict=True))
        self.error = 0.0 if self.denominator else _rounding(public, stacked)
        self.kinds = Kinds(public, self.weights)
        *inner, self.root = self.kinds.all
        self.tabulated = self.kinds.all if isinstance(self.root, JointKind) else inner
        self.joint = {
            k: JointActions(kind.types, kind.successors, self.kinds.ends, self.dtype)
            for k, kind in enumerate(self.tabulated)
            if isinstance(kind, JointKind)
        }
        single = [kind for kind in inner if isinstance(kind, Kind)]
        # convolutions that the tables need, each once, with the numbers of types
        folds = {kind.follow[:n]: kind.types for kind in single for n in range(2, len(kind.follow) + 1)}
        self._check_budget(seconds, folds)
        self._uses = Counter([*(prefix[:-1] for prefix in folds), *(kind.follow for kind in single)])
        self._folded: dict[Prefix, Table] = {}
        self.tables: list[Table] = []
        self.prescriptions: dict[int, LongArray] = {}  # the best at each joint kind

    def _check_budget(self, seconds: float, folds: dict[Prefix, tuple[int, int]]) -> None:
        mine, other = self.public.types
        splits = sum(3.0 ** types[0] * 2.0 ** types[1] for types in folds.values())
        splits += sum(actions.splits for actions in self.joint.values())
        splits += 3.0 ** max(mine, other) * len(self.public.movers)  # backtracking takes one column per public state
        copies = max((len(actions.followers) for actions in self.joint.values()), default=0)
        tables = len(self.tabulated) + min(len(folds), 3) + copies
        needed = (tables * self.dtype.itemsize + len(self.joint) * 8) * 2.0 ** (mine + other)
        time, free = splits / SPLITS_PER_SECOND, free_memory() // 2
        if needed > free or time > seconds:
            raise BudgetError(
                f"{self.public.tree.name} has {mine} x {other} types: the dynamic program would take about "
                f"{needed / 2**30:.3g} GiB and {time:.3g} s, more than {free / 2**30:.3g} GiB or {seconds:g} s"
            )

    def run(self) -> tuple[float, float, dict[int, list[list[int]]]]:
        """Return the value of the policy found, the optimum, and the moves of each mover's types by decision state."""
        with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
            for number, kind in enumerate(self.tabulated):
                self.tables.append(
                    self._table(kind, pool) if isinstance(kind, Kind) else self._joint_table(number, pool)
                )
        unit = self.denominator or 1
        choices, earned = self._backtrack()
        return float(earned) / unit, float(self._optimum()) / unit + self.error, choices

    def _optimum(self) -> Any:
        if isinstance(self.root, JointKind):
            return self.tables[-1][-1, -1]
        everybody = (1 << self.root.types[1]) - 1
        return convolutions(self._parts(self.root, everybody)[0])[-1][-1, 0]

    def _joint_table(self, number: int, pool: ThreadPoolExecutor) -> Table:
        actions = self.joint[number]
        seen = {follower: np.ascontiguousarray(self._view(follower).T) for follower in actions.followers}
        table, self.prescriptions[number] = actions.table(seen, pool)
        return table

    def _table(self, kind: Kind, pool: ThreadPoolExecutor) -> Table:
        f = self._fold(kind.follow, pool) if kind.follow else None
        ends = self._ends(kind) if kind.ends else None
        out = np.empty((1 << kind.types[0], 1 << kind.types[1]), dtype=self.dtype)
        _in_blocks(pool, out, lambda block: _with_ends(f, ends, block))
        return out

    def _fold(self, prefix: Prefix, pool: ThreadPoolExecutor) -> Table:
        """Return the convolution of successors' tables, which is kept while another kind or convolution needs it."""
        if len(prefix) == 1:
            return self._view(prefix[0])
        if prefix not in self._folded:
            f, g = self._fold(prefix[:-1], pool), self._view(prefix[-1])
            out = self._folded[prefix] = np.empty(f.shape, dtype=self.dtype)
            _in_blocks(pool, out, lambda block: convolved(f[:, block], g[:, block]))
        self._uses[prefix] -= 1
        return self._folded[prefix] if self._uses[prefix] else self._folded.pop(prefix)

    def _view(self, follower: Successor) -> Table:
        """Return a successor's table as seen by the player of the state before it."""
        table = self.tables[follower.kind]
        return table.T if follower.turns else table

    def _ends(self, kind: Kind) -> Table:
        """Return (mover's types, 2**other's types) each type's value of the best of the moves that end the game."""
        best: Table = np.maximum.reduce([subset_sums(self.kinds.ends[end].T) for end in kind.ends])
        return np.ascontiguousarray(best.T)

    def _parts(self, kind: Kind, others: int) -> tuple[list[Table], LongArray]:
        """Return the value of each move for every set of the mover's types, (2**types, 1), in the column ``others``.

        All moves that end the game are one part, the last; the second result is the best of them for each type.
        """
        parts = [self._view(follower)[:, others : others + 1] for follower in kind.follow]
        if not kind.ends:
            return parts, np.zeros(kind.types[0], dtype=np.int64)
        there = elements(others)
        values = np.stack([self.kinds.ends[end][:, there].sum(axis=1, dtype=self.dtype) for end in kind.ends])
        return [*parts, subset_sums(values.max(axis=0)[:, None])], values.argmax(axis=0)

    def _backtrack(self) -> tuple[dict[int, list[list[int]]], Any]:
        """Return the moves of each mover's types at each decision state, and their value.

        At states that are never reached types make their first move.
        """
        public, earned = self.public, 0
        choices: dict[int, list[list[int]]] = {}
        there = {0: tuple((1 << count) - 1 for count in public.types)}
        for v, movers in enumerate(public.movers):
            sets = there.pop(v)
            if not movers:
                earned += self.weights[v][np.ix_(elements(sets[0]), elements(sets[1]))].sum()
                continue
            choices[v] = self._choose(v, sets)
            for actions, child in np.ndenumerate(public.children[v]):
                left = list(sets)
                for player, chosen, action in zip(movers, choices[v], actions, strict=True):
                    left[player] = sum(1 << m for m in elements(sets[player]) if chosen[m] == action)
                there[int(child)] = tuple(left)
        return choices, earned

    def _choose(self, v: int, sets: tuple[int, ...]) -> list[list[int]]:
        """Return the moves of each mover's types where the given sets of P1's and P2's types are possible."""
        number, seer = self.kinds.of[v], self.kinds.seer[v]
        mine, others = sets[seer], sets[1 - seer]
        if not mine or not others:
            return [[0] * self.public.types[player] for player in self.public.movers[v]]
        kind = self.kinds.all[number]
        if isinstance(kind, Kind):
            return [self._divided(v, kind, mine, others)]
        actions = self.joint[number]
        seen = {follower: self._view(follower).T for follower in actions.followers}
        chosen = actions.choose(seen, int(self.prescriptions[number][mine, others]), mine, others)
        return [chosen[player != seer] for player in self.public.movers[v]]

    def _divided(self, v: int, kind: Kind, mine: int, others: int) -> list[int]:
        """Return the moves of the types of a state's only mover."""
        chosen = [0] * kind.types[0]
        parts, best = self._parts(kind, others)
        for k, share in enumerate(divide(mine, parts)):
            for m in elements(share):
                chosen[m] = self.kinds.actions[v][k] if k < len(kind.follow) else self.kinds.stops[v][int(best[m])]
        return chosen

    def policy_tables(self, choices: dict[int, list[list[int]]]) -> tuple[dict[str, dict[str, float]], ...]:
        """Return the moves chosen, by readable keys, at the information sets with a choice."""
        tree = self.public.tree
        tables: tuple[dict[str, dict[str, float]], ...] = ({}, {})
        for v, chosen in choices.items():
            for player, sets, actions in zip(self.public.movers[v], self.public.infosets(v), chosen, strict=True):
                for infoset, action in zip(sets, actions, strict=False):  # further types are padding
                    words = action_names(tree.action_set(infoset))
                    if len(words) > 1:
                        tables[player][tree.key(infoset)] = {w: float(k == action) for k, w in enumerate(words)}
        return tables


def _rounding(public: PublicTree, weights: FloatArray) -> float:
    """Return a bound on the rounding error of the optimum: the height of the sums times the unit of the largest."""
    height = sum(public.types) + len(public.type_of[0]) + len(public.movers)
    return float(np.abs(weights).max(axis=0).sum()) * height * 2.0**-52


def _in_blocks(pool: ThreadPoolExecutor, out: Table, columns: Callable[[slice], Table]) -> None:
    """Fill a table in blocks of columns that fit the cache."""

    def fill(begin: int) -> None:
        block = slice(begin, begin + LANES)
        out[:, block] = columns(block)

    list(pool.map(fill, range(0, out.shape[1], LANES)))


def _with_ends(f: Table | None, ends: Table | None, block: slice) -> Table:
    """Return columns of a table: each type ends the game where that beats ``f``, the best of all other moves."""
    if f is None:
        assert ends is not None
        return subset_sums(ends[:, block])
    found = np.array(f[:, block], order="C")
    for m, value in enumerate(() if ends is None else ends[:, block]):
        pairs = found.reshape(-1, 2, 1 << m, found.shape[1])
        np.maximum(pairs[:, 1], pairs[:, 0] + value, out=pairs[:, 1])
    return found
