"""Proven optimal behaviour strategies of players with a common payoff, or of one player, under imperfect recall.

The value of such strategies is a polynomial in the probabilities of the moves.  It is linear in those of an information
set that no play passes twice, so that some pure choice is optimal there; at a set that is passed more than once, as by
the absent-minded driver (Piccione & Rubinstein 1997, "On the interpretation of decision problems with imperfect
recall"), the optimal probabilities may be mixed.  They are enclosed by branch and bound: a box of probabilities is
discarded once no point of it can exceed the best value found.  The bounds are the value where every history may have
probabilities of its own in the box, and bounds on the derivatives (the mean value form).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from infoset.base import FloatArray, LongArray
from infoset.errors import BudgetError
from infoset.names import action_names
from infoset.policies.tabular import TabularPolicy
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import CHANCE, TERMINAL

MOST_PURE, MOST_FREE, MOST_NODES = 4096, 8, 20_000
"""Limits on pure choices at sets that no play passes twice, on free probabilities at the others, and on histories."""
MOST_BOXES, BATCH, CELLS = 200_000, 256, 4_000_000
"""Limits on boxes in all, on boxes at a time, and on numbers in memory for the latter."""
CLOSE = 1e-9
"""Share of the payoff range: where the bound is that close, the optimum is proved."""
STARTS = 8


class Bounds(NamedTuple):
    """Bounds for B boxes: a point in each (B, F), its value, an upper bound, and the effect of each probability."""

    point: FloatArray
    value: FloatArray
    upper: FloatArray
    spread: FloatArray


@dataclass(frozen=True, eq=False)
class Enclosure:
    """The best policy found, its value, and an upper bound."""

    policy: TabularPolicy
    value: float
    bound: float
    boxes: int
    proved: bool
    """Whether the two differ by rounding alone."""

    @property
    def proof(self) -> str:
        """The proof of the bound in words, or a note that the policy may be a local optimum."""
        how = f"branch and bound over {self.boxes:,} boxes of probabilities"
        return how if self.proved else f"{how}, broken off: the policy may be a local optimum"


class Polynomial:
    """The value of behaviour strategies as a function of the F probabilities of moves at sets with a choice.

    >>> from infoset.solvers.teams.polynomial import Polynomial
    >>> Polynomial(infoset.GameTree.of(infoset.load("tiny_hanabi(game=F)"))).passed_twice
    ()
    """

    def __init__(self, tree: GameTree) -> None:
        """Take the first player's payoffs of a tree.  Raises ``BudgetError`` for too many histories."""
        if len(tree.parent) > MOST_NODES:
            raise BudgetError(
                f"{tree.name}: {len(tree.parent):,} histories are more than a polynomial is made of ({MOST_NODES:,})"
            )
        self.tree, graph = tree, tree.graph
        parent = tree.parent.astype(np.int64)
        node = tree.infoset_node
        sizes: LongArray = (tree.first_child[node + 1] - tree.first_child[node]).astype(np.int64)
        self.sets = np.flatnonzero(sizes > 1)
        self.sizes = sizes[self.sets]
        first = np.full(len(sizes), -1)
        first[self.sets] = np.cumsum(self.sizes) - self.sizes
        self.first = first[self.sets]
        self.count = int(self.sizes.sum())
        nodes = np.arange(len(parent))
        above, inside = parent.copy(), tree.infoset[parent] >= 0
        above[0], inside[0] = 0, False
        chosen = np.where(inside, first[tree.infoset[above]], -1)
        self.action = np.where(chosen >= 0, chosen + nodes - tree.first_child[above], -1)
        self.weight = np.ones(len(parent))
        chance_nodes = nodes[1:][graph.player[tree.position[above[1:]]] == CHANCE]
        self.weight[chance_nodes] = graph.probability[tree.edges(chance_nodes.astype(np.int32))]
        over = graph.player[tree.position] == TERMINAL
        paid = graph.payoffs[graph.content[tree.position[over]], 0]
        self.middle = float(paid.max() + paid.min()) / 2
        self.range = float(np.ptp(paid)) or 1.0
        self.payoff = np.zeros(len(parent))
        self.payoff[over] = (paid - self.middle) / self.range
        self.above = above
        self.moved = np.flatnonzero(self.action >= 0)
        self.last_move = (self.first + self.sizes - 1)[np.repeat(np.arange(len(self.sets)), self.sizes)]
        sibling = tree.first_child[above[self.moved]].astype(np.int64) + sizes[tree.infoset[above[self.moved]]] - 1
        self.sibling = sibling
        self.levels = list(zip(tree.levels[1:-1].tolist(), tree.levels[2:].tolist(), strict=True))
        self.passed_twice = self._passed_twice()

    def _passed_twice(self) -> tuple[int, ...]:
        """Return the sets, by their place in ``sets``, that some play passes more than once."""
        infoset = self.tree.infoset
        found = set()
        place = {int(k): number for number, k in enumerate(self.sets)}
        for node in range(1, len(infoset)):
            k, at = int(infoset[node]), node
            if k in place and place[k] not in found:
                while at:
                    at = int(self.above[at])
                    if infoset[at] == k:
                        found.add(place[k])
                        break
        return tuple(sorted(found))

    def _weights(self, probabilities: FloatArray) -> FloatArray:
        """Return (B, N) the probability of each node given its parent."""
        weights = np.repeat(self.weight[None], len(probabilities), axis=0)
        weights[:, self.moved] = probabilities[:, self.action[self.moved]]
        return weights

    def _reach(self, weights: FloatArray) -> FloatArray:
        reach = np.ones_like(weights)
        for begin, end in self.levels:
            reach[:, begin:end] = reach[:, self.above[begin:end]] * weights[:, begin:end]
        return reach

    def _up(self, weights: FloatArray, sign: float) -> FloatArray:
        """Return (B, N) the values of all nodes.

        The probability that ``weights`` leave over goes to the best (``sign`` 1) or worst move (-1) of each history.
        """
        value = np.repeat(self.payoff[None], len(weights), axis=0)
        for begin, end in reversed(self.levels):
            above, starts = np.unique(self.above[begin:end], return_index=True)
            below, share = value[:, begin:end], weights[:, begin:end]
            sure = np.add.reduceat(share * below, starts, axis=1)
            rest = np.maximum(1.0 - np.add.reduceat(share, starts, axis=1), 0.0)
            value[:, above] = sure + rest * sign * np.maximum.reduceat(sign * below, starts, axis=1)
        return value

    def earned(self, probabilities: FloatArray) -> FloatArray:
        """Return the values (B,) at probabilities (B, F), in units of ``range`` from the middle."""
        return self._up(self._weights(probabilities), 1.0)[:, 0]

    def slopes(self, probabilities: FloatArray) -> FloatArray:
        """Return the derivatives (F,) by each probability, compensated by that of the set's last move."""
        weights = self._weights(probabilities[None])
        reach, value = self._reach(weights)[0], self._up(weights, 1.0)[0]
        gain = reach[self.above[self.moved]] * (value[self.moved] - value[self.sibling])
        return np.asarray(np.bincount(self.action[self.moved], gain, self.count), dtype=np.float64)

    def bounds(self, low: FloatArray, high: FloatArray) -> Bounds:
        """Return bounds for boxes (B, F) from ``low`` to ``high`` in which each set's probabilities can sum to 1."""
        below, over = self._weights(low), self._weights(high)
        least, most = self._reach(below), self._reach(over)
        best, worst = self._up(below, 1.0), self._up(below, -1.0)
        above = self.above[self.moved]
        up, down = best[:, self.moved] - worst[:, self.sibling], worst[:, self.moved] - best[:, self.sibling]
        steepest = self._by_move(np.maximum(most[:, above] * up, least[:, above] * up))
        flattest = self._by_move(np.minimum(most[:, above] * down, least[:, above] * down))
        point = self._middle(low, high)
        value = self.earned(point)
        free = np.arange(self.count) != self.last_move
        rise = np.maximum(steepest * (high - point), flattest * (low - point)) * free
        upper = np.minimum(best[:, 0], value + rise.sum(axis=1))
        spread = np.maximum(np.abs(steepest), np.abs(flattest)) * (high - low) * free
        return Bounds(point, value, upper, spread)

    def _by_move(self, gains: FloatArray) -> FloatArray:
        found = np.zeros((len(gains), self.count))
        np.add.at(found.T, self.action[self.moved], gains.T)
        return found

    def _middle(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return a point of each box whose probabilities sum to 1 at each set."""
        point = low.copy()
        for first, size in zip(self.first.tolist(), self.sizes.tolist(), strict=True):
            part = slice(first, first + size)
            room = high[:, part] - low[:, part]
            total = room.sum(axis=1, keepdims=True)
            rest = 1.0 - low[:, part].sum(axis=1, keepdims=True)
            point[:, part] += room * np.divide(rest, total, out=np.zeros_like(rest), where=total > 0)
        return point

    def tighten(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return boxes in which last moves have the probabilities that the others leave, without infeasible boxes."""
        low, high = low.copy(), high.copy()
        fits = np.ones(len(low), dtype=bool)
        for first, size in zip(self.first.tolist(), self.sizes.tolist(), strict=True):
            others, last = slice(first, first + size - 1), first + size - 1
            low[:, last] = np.maximum(0.0, 1.0 - high[:, others].sum(axis=1))
            high[:, last] = np.minimum(1.0, 1.0 - low[:, others].sum(axis=1))
            fits &= high[:, last] >= low[:, last]
        return low[fits], high[fits]

    def boxes(self) -> tuple[FloatArray, FloatArray]:
        """Return the initial boxes: one for each pure choice at sets that no play passes twice, open at the others.

        Raises ``BudgetError`` where there are too many.
        """
        inner = set(self.passed_twice)
        pure = [k for k in range(len(self.sets)) if k not in inner]
        choices, free = prod(int(self.sizes[k]) for k in pure), sum(int(self.sizes[k]) - 1 for k in inner)
        if choices > MOST_PURE or free > MOST_FREE:
            raise BudgetError(
                f"{self.tree.name}: {choices:,} pure choices with {free} free probabilities are too many to enclose "
                f"the optimum; at most {MOST_PURE:,} and {MOST_FREE}"
            )
        low = np.zeros((choices, self.count))
        for row, chosen in enumerate(product(*[range(int(self.sizes[k])) for k in pure])):
            for k, action in zip(pure, chosen, strict=True):
                low[row, self.first[k] + action] = 1.0
        high = low.copy()
        for k in inner:
            high[:, self.first[k] : self.first[k] + self.sizes[k]] = 1.0
        return low, high

    def climb(self, start: FloatArray) -> FloatArray:
        """Return a local optimum (F,) near ``start``, by sequential quadratic programming at sets passed twice."""
        from scipy.optimize import minimize

        actions: LongArray = np.array(
            [q for k in self.passed_twice for q in range(self.first[k], self.first[k] + self.sizes[k])], dtype=np.int64
        )
        if not len(actions):
            return start
        owner = np.repeat(np.arange(len(self.passed_twice)), self.sizes[list(self.passed_twice)])
        sums = (owner[None] == np.arange(len(self.passed_twice))[:, None]).astype(float)

        def whole(part: FloatArray) -> FloatArray:
            part = np.clip(part, 0.0, 1.0)
            probabilities = start.copy()
            probabilities[actions] = part / (sums @ part)[owner]
            return probabilities

        found = minimize(
            lambda part: -float(self.earned(whole(part)[None])[0]), start[actions],
            jac=lambda part: -self.slopes(whole(part))[actions], method="SLSQP", bounds=[(0.0, 1.0)] * len(actions),
            constraints=[{"type": "eq", "fun": lambda part: sums @ part - 1.0, "jac": lambda _: sums}],
            options={"ftol": 1e-16, "maxiter": 200},
        )  # fmt: skip
        return whole(found.x) if np.isfinite(found.x).all() else start

    def policy(self, probabilities: FloatArray) -> TabularPolicy:
        """Return probabilities (F,) as a policy."""
        tree = self.tree
        tables: tuple[dict[str, dict[str, float]], ...] = tuple({} for _ in tree.players)
        for k, first, size in zip(self.sets.tolist(), self.first.tolist(), self.sizes.tolist(), strict=True):
            row = probabilities[first : first + size].tolist()
            tables[int(tree.infoset_player[k])][tree.key(k)] = dict(
                zip(action_names(tree.action_set(k)), row, strict=True)
            )
        return TabularPolicy(tree.name, tree.players, tables, tree.graph.map_name, {"method": "team:polynomial"})


def enclose_optimum(tree: GameTree, seconds: float) -> Enclosure:
    """Return the best behaviour strategies and an upper bound on the value of all.

    Where ``seconds`` or the boxes run out, the best local optimum found is returned with the bound so far.  Raises
    ``BudgetError`` for a game that is too large from the start.
    """
    until = time.monotonic() + seconds
    game = Polynomial(tree)
    low, high = game.tighten(*game.boxes())
    at_a_time = max(min(BATCH, CELLS // len(tree.parent)), 1)
    upper = np.full(len(low), np.inf)
    probabilities, best, boxes = game._middle(np.zeros((1, game.count)), np.ones((1, game.count)))[0], -np.inf, 0
    while len(low) and upper.max() > best + CLOSE and boxes < MOST_BOXES and (not boxes or time.monotonic() < until):
        order = np.argsort(-upper, kind="stable")
        now, later = order[:at_a_time], order[at_a_time:]
        fresh = np.isinf(upper[now])
        if not fresh.any():
            low_now, high_now = _split_halfway(game, low[now], high[now])
        else:
            low_now, high_now = low[now], high[now]
        found = game.bounds(low_now, high_now)
        boxes += len(low_now)
        for k in np.argsort(-found.value, kind="stable")[:STARTS].tolist():
            if boxes > len(low_now) and found.value[k] <= best:
                break
            climbed = game.climb(found.point[k])
            for point in (found.point[k], climbed):
                if (value := float(game.earned(point[None])[0])) > best:
                    probabilities, best = point, value
        low, high = np.concatenate([low[later], low_now]), np.concatenate([high[later], high_now])
        upper = np.concatenate([upper[later], found.upper])
        keep = upper > best + CLOSE
        low, high, upper = low[keep], high[keep], upper[keep]
    proved = not len(low)
    bound = best + CLOSE if proved else float(upper.max())
    value = game.middle + game.range * best
    return Enclosure(game.policy(probabilities), value, max(game.middle + game.range * bound, value), boxes, proved)


def _split_halfway(game: Polynomial, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return every box cut in two, across the probability of the largest effect."""
    across = game.bounds(low, high).spread.argmax(axis=1)
    rows = np.arange(len(low))
    middle = (low[rows, across] + high[rows, across]) / 2
    left, right = high.copy(), low.copy()
    left[rows, across] = right[rows, across] = middle
    return game.tighten(np.concatenate([low, right]), np.concatenate([left, high]))
