"""The optimum of a two-player common-payoff game with public moves, by a dynamic program over sets of types.

Nature deals each player a *type*; from then on everybody sees every move.  What is common knowledge at a public
state is which types may still be there, a set M of the mover's and a set N of the other's.  V(M, N) is the most
that the pairs of M x N can still earn together, weighted by their prior.  The mover's types choose their moves
independently, so V is the best way to distribute M over the moves: a max-plus subset convolution of the tables of
the states that follow.  Pure strategies suffice, and every one of them is one choice of such distributions.

Public states from which everything goes on alike, up to exchanging the players, share one table.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from infoset.base import FloatArray, IntArray, LongArray
from infoset.errors import BudgetError, UnsupportedGameError
from infoset.jit import inline_kernel, kernel
from infoset.names import move_words
from infoset.tree.game_tree import ROOT, GameTree
from infoset.tree.graph import CHANCE, TERMINAL, free_memory

Table: TypeAlias = npt.NDArray[Any]  # int32, int64 or float64, as ``exact`` decides
Prefix: TypeAlias = "tuple[Follower, ...]"

MIN_TYPES = 2  # ``max_plus`` takes four rows at a time
LANES = 64
SPLITS_PER_SECOND = 2e9  # measured: 5e9 a core for int32, 2.5e9 for float64
MAX_DENOMINATOR = 10_000
MAX_COMMON_DENOMINATOR = 10**6
MAX_EXACT = 2**36
EXACT_TOLERANCE = 2.0**-44  # of the largest: what rounding may have done to products and sums of fractions
MAX_PUBLIC_STATES = 200_000


@dataclass(frozen=True, eq=False)
class PublicTree:
    """A game's public states, parents first: what everybody knows of the play, state 0 before the first move.

    ``D`` deals of nature lead to each of them; a player's information sets at a public state are its types.
    """

    tree: GameTree
    types: tuple[int, int]
    type_of: LongArray  # (2, D)
    mover: list[int]  # of each public state, TERMINAL at its end
    nodes: list[IntArray]  # the node (D,) of every deal
    children: list[range]  # the public states behind each move
    weights: list[FloatArray]  # (types of P1, types of P2) payoff times probability at an end, else empty

    @classmethod
    def of(cls, tree: GameTree, payoffs: FloatArray) -> PublicTree:
        """``payoffs`` (rows of the graph's payoffs,) is what both players get.

        Raises ``UnsupportedGameError`` where moves are not public or nature answers after the first move,
        ``BudgetError`` for too many public states.
        """
        if len(tree.players) != 2:
            raise _refusal(tree, f"has {len(tree.players)} players; the dynamic program is for two")
        deals, chance = _deals(tree)
        mover, nodes, children = _public_states(tree, deals)
        if mover[0] == TERMINAL:
            raise _refusal(tree, "does not fit: nobody ever moves")
        type_of = _types(tree, mover, nodes)
        types = (max(MIN_TYPES, int(type_of[0].max()) + 1), max(MIN_TYPES, int(type_of[1].max()) + 1))
        weights = []
        for player, group in zip(mover, nodes, strict=True):
            table = np.zeros(types if player == TERMINAL else (0, 0))
            if player == TERMINAL:
                np.add.at(table, (type_of[0], type_of[1]), chance * payoffs[tree.graph.content[tree.position[group]]])
            weights.append(table)
        return cls(tree, types, type_of, mover, nodes, children, weights)

    @property
    def ends(self) -> list[int]:
        return [v for v, player in enumerate(self.mover) if player == TERMINAL]

    @property
    def num_decisions(self) -> int:
        return len(self.mover) - len(self.ends)

    @cached_property
    def first_deal(self) -> tuple[LongArray, LongArray]:
        """For each player, the first deal of each of its types."""
        one, other = (np.unique(row, return_index=True)[1] for row in self.type_of)
        return one, other

    def infosets(self, state: int) -> list[int]:
        """The information set of each of the mover's types."""
        nodes = self.nodes[state][self.first_deal[self.mover[state]]]
        return [int(k) for k in self.tree.infoset[nodes]]


def _refusal(tree: GameTree, why: str) -> UnsupportedGameError:
    return UnsupportedGameError(f"{tree.name} {why}")


def _players(tree: GameTree, nodes: IntArray) -> npt.NDArray[np.int8]:
    return tree.graph.player[tree.position[nodes]]


def _deals(tree: GameTree) -> tuple[IntArray, FloatArray]:
    """The nodes (D,) behind nature's first answers, and their probabilities."""
    nodes, chance = np.array([ROOT], dtype=np.int32), np.ones(1)
    while (drawn := _players(tree, nodes) == CHANCE).any():
        above = nodes[drawn]
        below = np.concatenate([np.arange(tree.first_child[v], tree.first_child[v + 1]) for v in above])
        reach = np.repeat(chance[drawn], tree.first_child[above + 1] - tree.first_child[above])
        reach = reach * tree.graph.probability[tree.edges(below.astype(np.int32))]
        nodes = np.concatenate([nodes[~drawn], below]).astype(np.int32)
        chance = np.concatenate([chance[~drawn], reach])
    order = np.argsort(nodes)
    return nodes[order], chance[order]


def _public_states(tree: GameTree, deals: IntArray) -> tuple[list[int], list[IntArray], list[range]]:
    """Every deal's tree walked at once: movers, nodes and children of the public states, parents first."""
    nodes, movers, children = [deals], [], []
    for group in nodes:  # grows
        players, first = _players(tree, group), int(group[0])
        if (drawn := group[players == CHANCE]).size:
            raise _refusal(
                tree, f"does not fit: nature moves after {tree.history(int(drawn[0]))}, not only before the first move"
            )
        position = tree.position[group]
        menus = np.where(players == TERMINAL, -1, tree.graph.content[position])
        if (odd := group[(players != players[0]) | (menus != menus[0])]).size:
            raise _refusal(
                tree,
                f"does not fit: who may do what is not public, it differs after {tree.history(first)} and "
                f"{tree.history(int(odd[0]))}",
            )
        movers.append(int(players[0]))
        moves = int(tree.graph.num_edges[position[0]])
        children.append(range(len(nodes), len(nodes) + moves))
        nodes.extend(tree.first_child[group] + k for k in range(moves))
        if len(nodes) > MAX_PUBLIC_STATES:
            raise BudgetError(f"{tree.name} has more than {MAX_PUBLIC_STATES:,} public states, which is the limit")
    return movers, nodes, children


def _types(tree: GameTree, movers: list[int], groups: list[IntArray]) -> LongArray:
    """(2, D) each deal's type, by player; in the order of the types' keys, so that symmetry can show.

    A type is an information set at the player's first public state, and must be one at all others.
    """
    found: dict[int, LongArray] = {}
    home = np.full(len(tree.infoset_player), -1)
    for state, (player, nodes) in enumerate(zip(movers, groups, strict=True)):
        if player == TERMINAL:
            continue
        sets = tree.infoset[nodes]
        if player not in found:
            distinct, kinds = np.unique(sets, return_inverse=True)
            rank = np.argsort(np.argsort([tree.key(k) for k in distinct.tolist()]))
            found[player] = rank[kinds]
        pairs = np.unique(np.stack([found[player], sets]), axis=1).shape[1]
        known = home[sets]
        if (other := nodes[(known >= 0) & (known != state)]).size:
            first = int(tree.infoset_node[tree.infoset[other[0]]])
            raise _refusal(
                tree,
                f"does not fit: moves are hidden, {tree.players[player]} cannot tell {tree.history(first)} from "
                f"{tree.history(int(other[0]))}. Try method='milp'",
            )
        if not pairs == len(np.unique(sets)) == int(found[player].max()) + 1:
            raise _refusal(
                tree,
                f"does not fit: after {tree.history(int(nodes[0]))} {tree.players[player]} knows more or less about "
                "the deal than at its first move. Try method='milp'",
            )
        home[sets] = state
    nothing = np.zeros(len(groups[0]), dtype=np.int64)
    return np.stack([found.get(player, nothing) for player in range(2)])


def exact(weights: FloatArray) -> tuple[Table, int]:
    """``weights`` as integers over a common denominator, int32 or int64; as they are, and 0, if there is none.

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


class Follower(NamedTuple):
    """A kind of public state that one move leads to, and whether the other player moves there."""

    kind: int
    turns: bool


class Kind(NamedTuple):
    """What is to come at a public state, seen by its mover; equal kinds have equal tables."""

    types: tuple[int, int]  # the mover's, the other's
    ends: tuple[int, ...]  # tables of the moves that end the game, numbers in ``Kinds.ends``
    follow: Prefix  # what the other moves lead to, sorted so that kinds share as much of a convolution as they can


class Kinds:
    """The kinds of a public tree's decision states; those that follow come before those from which they follow."""

    def __init__(self, public: PublicTree, weights: dict[int, Table]) -> None:
        self.ends: list[Table] = []  # (the mover's types, the other's), each once
        self.of = [-1] * len(public.mover)  # kind of each state
        self.moves: list[list[int]] = [[] for _ in public.mover]  # of each state, in the order of ``follow``
        self.stops: list[list[int]] = [[] for _ in public.mover]  # of each state, in the order of ``ends``
        self._known: dict[tuple[tuple[int, ...], bytes], int] = {}
        number: dict[Kind, int] = {}
        for v in reversed(range(len(public.mover))):
            if public.mover[v] != TERMINAL:
                self.of[v] = number.setdefault(self._kind(public, weights, v), len(number))
        self.all = list(number)

    def _kind(self, public: PublicTree, weights: dict[int, Table], v: int) -> Kind:
        """The kind of one state, all states behind it known; its moves are put in order on the way."""
        ends: dict[int, int] = {}
        follow: list[tuple[Follower, int]] = []
        for move, child in enumerate(public.children[v]):
            if child in weights:
                ends.setdefault(self._end(weights[child].T if public.mover[v] else weights[child]), move)
            else:
                follow.append((Follower(self.of[child], public.mover[child] != public.mover[v]), move))
        follow.sort()
        self.moves[v] = [move for _, move in follow]
        self.stops[v] = [ends[end] for end in sorted(ends)]
        one, other = public.types
        return Kind((other, one) if public.mover[v] else (one, other), tuple(sorted(ends)), tuple(f for f, _ in follow))

    def _end(self, table: Table) -> int:
        end = self._known.setdefault((table.shape, table.tobytes()), len(self.ends))
        if end == len(self.ends):
            self.ends.append(table)
        return end


@inline_kernel
def _larger(a: Any, b: Any) -> Any:
    return a if a > b else b  # unlike max, this need not care about NaN


@kernel
def max_plus(f: Table, g: Table, out: Table) -> None:
    """``out[M] = max over S in M of f[S] + g[M - S]``, the max-plus subset convolution, lane by lane.

    All are (2**k, lanes) with k >= 2; rows are sets as bits.  The four subsets of the two lowest elements are
    taken together: nine splits then cost eight loads.
    """
    rows, lanes = f.shape
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)  # unsigned indices need no check for negative ones
    for m in range(rows):
        for j in range(lanes):
            out[m, j] = f[m, j] + g[0, j]
    for high in range(rows >> 2):
        r0, r1, r2, r3 = out[4 * high], out[4 * high + 1], out[4 * high + 2], out[4 * high + 3]
        part = high
        while True:
            s, t = np.uint64(part << 2), np.uint64((high ^ part) << 2)
            for j in range(np.uint64(lanes)):
                f0, f1, f2, f3 = f[s, j], f[s + one, j], f[s + two, j], f[s + three, j]
                g0, g1, g2, g3 = g[t, j], g[t + one, j], g[t + two, j], g[t + three, j]
                r0[j] = _larger(r0[j], f0 + g0)
                r1[j] = _larger(r1[j], _larger(f0 + g1, f1 + g0))
                r2[j] = _larger(r2[j], _larger(f0 + g2, f2 + g0))
                r3[j] = _larger(r3[j], _larger(_larger(f0 + g3, f3 + g0), _larger(f1 + g2, f2 + g1)))
            if part == 0:
                break
            part = (part - 1) & high


def subset_sums(values: Table) -> Table:
    """(2**k, ...) sums over every set of the rows of ``values`` (k, ...)."""
    sums = np.zeros((1 << len(values), *values.shape[1:]), dtype=values.dtype)
    for k, row in enumerate(values):
        sums[1 << k : 2 << k] = sums[: 1 << k] + row
    return sums


def subsets(mask: int) -> LongArray:
    """All subsets of a set of bits."""
    found = np.zeros(1, dtype=np.int64)
    while mask:
        found = np.concatenate([found, found | (mask & -mask)])
        mask &= mask - 1
    return found


class SubsetProgram:
    """The dynamic program at work: one table V (2**mover's types, 2**other's types) for every kind but the root's."""

    def __init__(self, public: PublicTree, seconds: float) -> None:
        """Raises ``BudgetError`` where the estimate of time exceeds ``seconds`` or of memory half of what is free."""
        self.public = public
        ends = public.ends
        stacked, self.denominator = exact(np.stack([public.weights[v] for v in ends]))
        self.dtype = stacked.dtype
        self.weights = dict(zip(ends, stacked, strict=True))
        self.error = 0.0 if self.denominator else _rounding(public, stacked)
        self.kinds = Kinds(public, self.weights)
        self.root = self.kinds.all[self.kinds.of[0]]
        self.inner = self.kinds.all[: self.kinds.of[0]]
        # convolutions that the tables need, each once, with the numbers of types
        folds = {kind.follow[:n]: kind.types for kind in self.inner for n in range(2, len(kind.follow) + 1)}
        self._check_budget(seconds, folds)
        self._uses = Counter([*(prefix[:-1] for prefix in folds), *(kind.follow for kind in self.inner)])
        self._folded: dict[Prefix, Table] = {}
        self.tables: list[Table] = []

    def _check_budget(self, seconds: float, folds: dict[Prefix, tuple[int, int]]) -> None:
        mine, other = self.public.types
        splits = sum(3.0 ** types[0] * 2.0 ** types[1] for types in folds.values())
        splits += 3.0 ** max(mine, other) * len(self.public.mover)  # the way back takes one column a public state
        needed = (len(self.inner) + min(len(folds), 3)) * 2.0 ** (mine + other) * self.dtype.itemsize
        time, free = splits / SPLITS_PER_SECOND, free_memory() // 2
        if needed > free or time > seconds:
            raise BudgetError(
                f"{self.public.tree.name} has {mine} x {other} types: the dynamic program would take about "
                f"{needed / 2**30:.3g} GiB and {time:.3g} s, more than {free / 2**30:.3g} GiB or {seconds:g} s"
            )

    def run(self) -> tuple[float, float, dict[int, list[int]]]:
        """What the policy found earns, the optimum, and for each decision state the move of each type."""
        with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
            for kind in self.inner:
                self.tables.append(self._table(kind, pool))
        unit = self.denominator or 1
        everybody = (1 << self.root.types[1]) - 1
        optimum = self._columns(self.root, everybody)[1][-1][-1]
        choices, earned = self._backtrack()
        return float(earned) / unit, float(optimum) / unit + self.error, choices

    def _table(self, kind: Kind, pool: ThreadPoolExecutor) -> Table:
        f = self._fold(kind.follow, pool) if kind.follow else None
        ends = self._ends(kind) if kind.ends else None
        out = np.empty((1 << kind.types[0], 1 << kind.types[1]), dtype=self.dtype)
        _in_blocks(pool, out, lambda block: _with_ends(f, ends, block))
        return out

    def _fold(self, prefix: Prefix, pool: ThreadPoolExecutor) -> Table:
        """The convolution of some followers' tables; kept while another kind or convolution needs it."""
        if len(prefix) == 1:
            return self._view(prefix[0])
        if prefix not in self._folded:
            f, g = self._fold(prefix[:-1], pool), self._view(prefix[-1])
            out = self._folded[prefix] = np.empty(f.shape, dtype=self.dtype)
            _in_blocks(pool, out, lambda block: _convolved(f[:, block], g[:, block]))
        self._uses[prefix] -= 1
        return self._folded[prefix] if self._uses[prefix] else self._folded.pop(prefix)

    def _view(self, follower: Follower) -> Table:
        """A table as the player before it sees it."""
        table = self.tables[follower.kind]
        return table.T if follower.turns else table

    def _ends(self, kind: Kind) -> Table:
        """(the mover's types, 2**other's types) what each type gets at the best of the moves that end the game."""
        best: Table = np.maximum.reduce([subset_sums(self.kinds.ends[end].T) for end in kind.ends])
        return np.ascontiguousarray(best.T)

    def _columns(self, kind: Kind, others: int) -> tuple[list[Table], list[Table], LongArray]:
        """The column ``others`` of a table and how it comes about: its parts, one a move, and the convolutions of
        the first, the first two and so on.  All moves that end the game are one part, the last; which of them is
        best for each type comes third.
        """
        parts = [np.ascontiguousarray(self._view(follower)[:, others]) for follower in kind.follow]
        best: LongArray = np.zeros(kind.types[0], dtype=np.int64)
        if kind.ends:
            there = _elements(others, kind.types[1])
            values = np.stack([self.kinds.ends[end][:, there].sum(axis=1, dtype=self.dtype) for end in kind.ends])
            best = values.argmax(axis=0)
            parts.append(subset_sums(values.max(axis=0)))
        folds = parts[:1]
        for part in parts[1:]:
            folds.append(_convolved(folds[-1][:, None], part[:, None])[:, 0])
        return parts, folds, best

    def _backtrack(self) -> tuple[dict[int, list[int]], Any]:
        """A move for each type at each decision state (the first where it is never reached), and what they earn."""
        public, earned = self.public, 0
        choices: dict[int, list[int]] = {}
        one, other = ((1 << count) - 1 for count in public.types)
        sets = {0: (one, other)}
        for v, player in enumerate(public.mover):
            one, other = sets.pop(v)
            if player == TERMINAL:
                rows, columns = _elements(one, public.types[0]), _elements(other, public.types[1])
                earned += self.weights[v][np.ix_(rows, columns)].sum()
                continue
            mine, others = (other, one) if player else (one, other)
            choices[v] = self._choose(v, mine, others)
            for move, child in enumerate(public.children[v]):
                left = sum(1 << m for m, choice in enumerate(choices[v]) if choice == move and mine >> m & 1)
                sets[child] = (one, left) if player else (left, other)
        return choices, earned

    def _choose(self, v: int, mine: int, others: int) -> list[int]:
        """The move of each of the mover's types where the sets ``mine`` and ``others`` are possible."""
        kind = self.kinds.all[self.kinds.of[v]]
        chosen = [0] * kind.types[0]
        if not mine or not others:
            return chosen
        parts, folds, best = self._columns(kind, others)
        for k in reversed(range(len(parts))):
            part = mine
            if k:
                options = subsets(mine)
                part = int(options[np.argmax(folds[k - 1][mine ^ options] + parts[k][options])])
            for m in _elements(part, kind.types[0]):
                chosen[m] = self.kinds.moves[v][k] if k < len(kind.follow) else self.kinds.stops[v][int(best[m])]
            mine ^= part
        return chosen

    def policy_tables(self, choices: dict[int, list[int]]) -> tuple[dict[str, dict[str, float]], ...]:
        """The moves chosen, by readable keys, at the information sets with a choice."""
        tree = self.public.tree
        tables: tuple[dict[str, dict[str, float]], ...] = ({}, {})
        for v, chosen in choices.items():
            for infoset, move in zip(self.public.infosets(v), chosen, strict=False):  # types beyond are padding
                words = move_words(tree.menu(infoset))
                if len(words) > 1:
                    row = {word: float(k == move) for k, word in enumerate(words)}
                    tables[self.public.mover[v]][tree.key(infoset)] = row
        return tables


def _elements(mask: int, size: int) -> list[int]:
    """What a set of bits holds."""
    return [k for k in range(size) if mask >> k & 1]


def _rounding(public: PublicTree, weights: FloatArray) -> float:
    """How far rounding can have moved the optimum: the height of the sums times the unit of the largest."""
    height = sum(public.types) + len(public.type_of[0]) + len(public.mover)
    return float(np.abs(weights).max(axis=0).sum()) * height * 2.0**-52


def _in_blocks(pool: ThreadPoolExecutor, out: Table, columns: Callable[[slice], Table]) -> None:
    """Fill a table by portions of columns that stay in the cache."""

    def fill(begin: int) -> None:
        block = slice(begin, begin + LANES)
        out[:, block] = columns(block)

    list(pool.map(fill, range(0, out.shape[1], LANES)))


def _convolved(f: Table, g: Table) -> Table:
    out = np.empty(f.shape, dtype=f.dtype)
    max_plus(np.ascontiguousarray(f), np.ascontiguousarray(g), out)
    return out


def _with_ends(f: Table | None, ends: Table | None, block: slice) -> Table:
    """Columns of a table: each type ends the game where that is better than ``f``, the best of all other moves."""
    if f is None:
        assert ends is not None
        return subset_sums(ends[:, block])
    found = np.array(f[:, block], order="C")
    for m, value in enumerate(() if ends is None else ends[:, block]):
        pairs = found.reshape(-1, 2, 1 << m, found.shape[1])
        np.maximum(pairs[:, 1], pairs[:, 0] + value, out=pairs[:, 1])
    return found
