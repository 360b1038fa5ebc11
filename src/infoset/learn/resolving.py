"""Continual re-solving (Moravčík et al. 2017): solve from each public state on, consistently with earlier solutions.

The game from a public state to the horizon is solved by PCFR+.  The player who re-solves enters with its own range, by
its earlier strategy; the others choose at a gate whether to enter, or to take the value that the earlier solution
promised them (the *resolve* gadget), so that the new strategy leaves them no better off.  Positions at the horizon are
evaluated in every iteration, since their values depend on the ranges with which everybody would reach them.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import replace
from math import inf
from typing import NamedTuple, Protocol

import numpy as np

from infoset.base import FloatArray, LongArray
from infoset.jit import kernel
from infoset.learn.public_states import FOLLOW, STOP, Leaves, Lookahead, PublicStates
from infoset.names import check_range
from infoset.search.belief import BeliefTracker
from infoset.search.subgame import Values
from infoset.search.subgame_solver import MARGIN
from infoset.solvers.tabular.cfr import pcfr_plus
from infoset.solvers.tabular.loop import LoopSolver
from infoset.tree.kernels import expect_up, gradient
from infoset.tree.plans import behaviour

CHUNK = 25
ITERATIONS = 200
RESOLVING = "resolving"
METHOD = replace(pcfr_plus(averaging=2.0), name=RESOLVING)
MAX_CACHED = 10_000  # solved public states kept; the least recently used are dropped first
NEVER = 1e-9  # the probability of a place that is never reached, so that its strategy is averaged all the same


class LeafValues(Protocol):
    """The evaluation of worlds at a horizon, given the ranges with which players reach them."""

    def __call__(self, leaves: Leaves, ranges: FloatArray) -> FloatArray:
        """Return the values (L, n) for ranges (J, n, W), each of which sums to one over its places."""


class PositionValues:
    """The evaluation by the position alone, whatever anybody knows."""

    def __init__(self, values: Values) -> None:
        self.values = values

    def __call__(self, leaves: Leaves, ranges: FloatArray) -> FloatArray:
        return self.values(leaves.position)


class Solved(NamedTuple):
    """The solution of a public state."""

    ahead: Lookahead
    strategy: FloatArray  # (S,) behaviour, including the gates'
    plan: FloatArray  # (S,) its realisation weights
    promised: FloatArray  # (L, n) mean counterfactual values of the leaves' worlds


class Root(NamedTuple):
    """The ranges with which players enter a public state, by place; a range of ``None`` is its owner's choice."""

    ranges: tuple[FloatArray | None, ...]  # each sums to one
    promised: tuple[FloatArray, ...]
    """The values of not entering for players who choose: counterfactual values, weighted by the others' ranges."""


class Resolving:
    """The iterations on one public state; ``current`` and ``solved`` may be called at any time."""

    def __init__(self, ahead: Lookahead, root: Root, values: LeafValues) -> None:
        self.ahead, self.root, self.values = ahead, root, values
        form = ahead.form
        self.promise = np.zeros(form.num_sequences)
        start = behaviour(form, np.zeros(form.num_sequences))
        fixed = np.full(form.num_sequences, -1.0)
        for player, chosen in enumerate(root.ranges):
            first = ahead.follow[player]
            if chosen is None:
                self.promise[first - FOLLOW + STOP] = root.promised[player]
            else:
                fixed[first] = np.maximum(chosen, NEVER)
                fixed[first - FOLLOW + STOP] = 1.0 - fixed[first]
        self.solver = LoopSolver(form, METHOD, start)
        self.solver.keep_to(fixed)
        self.promised = np.zeros((len(ahead.leaves.position), form.num_players))
        self.weight = 0.0
        self.solver.promised = self.promise.copy()

    def step(self, iterations: int) -> None:
        solver = self.solver
        if not len(self.promised):
            solver.step(iterations)
            return
        numbers = np.arange(solver.iteration + 1.0, solver.iteration + iterations + 1.0)
        for discount in METHOD.schedule(numbers)[:, 0]:
            leaf_values = self._ask(solver.state.plan)
            self.weight = self.weight * discount + 1.0
            self.promised += (leaf_values - self.promised) / self.weight
            solver.step()

    def _ask(self, plan: FloatArray) -> FloatArray:
        """Return the leaves' counterfactual values (L, n) under a plan, and set them as the solver's leaf values."""
        leaves = self.ahead.leaves
        leaf_values = self.values(leaves, leaf_ranges(leaves, plan))
        weigh(leaves.sequence, leaves.chance, plan, leaf_values)
        self.solver.promised[:] = self.promise
        np.add.at(self.solver.promised, leaves.sequence, leaf_values)
        return leaf_values

    @property
    def iteration(self) -> int:
        return self.solver.iteration

    def current(self) -> FloatArray:
        """Return the realisation weights (S,) of the next iteration."""
        return self.solver.current()

    def solved(self) -> Solved:
        plan = self.solver.average()
        return Solved(self.ahead, behaviour(self.ahead.form, plan), plan, self.promised)

    def root_values(self) -> list[FloatArray]:
        """Return each player's counterfactual values (places,) of entering, when everybody plays the average there."""
        form, ahead = self.ahead.form, self.ahead
        plan = self.solver.average()
        strategy, values = behaviour(form, plan), np.zeros(form.num_sequences)
        if len(self.promised):
            self._ask(plan)
        scratch = np.zeros(form.num_infosets)
        for player in range(form.num_players):
            gradient(form.arrays, player, plan, values)
        values += self.solver.promised
        for player in range(form.num_players):
            expect_up(form.arrays, player, strategy, values, scratch)
        return [values[follow] for follow in ahead.follow]


@kernel
def weigh(sequence: LongArray, chance: FloatArray, plan: FloatArray, leaf_values: FloatArray) -> None:
    """Turn payoffs at leaves into counterfactual values: multiply by chance's and the others' reach probabilities."""
    n = sequence.shape[1]
    for k in range(len(sequence)):
        for p in range(n):
            leaf_values[k, p] *= chance[k]
            for q in range(n):
                if q != p:
                    leaf_values[k, p] *= plan[sequence[k, q]]


def leaf_ranges(leaves: Leaves, plan: FloatArray) -> FloatArray:
    """Return (J, n, W) the ranges over everybody's places; uniform where the place is not reached."""
    there = leaves.lead >= 0
    weight = np.where(there, plan[leaves.lead], 0.0)
    total = weight.sum(axis=2, keepdims=True)
    even = there / np.maximum(there.sum(axis=2, keepdims=True), 1)
    return np.asarray(np.where(total > 1e-12, weight / np.maximum(total, 1e-300), even))


class ContinualResolving:
    """Every player's strategy, solved on request by the player's own chain of solutions, which are kept."""

    root = RESOLVING

    def __init__(
        self, ranges: BeliefTracker, states: PublicStates, values: LeafValues, iterations: int = ITERATIONS
    ) -> None:
        check_range("iterations", iterations, 1, 2**31)
        self.ranges, self.states, self.values, self.iterations = ranges, states, values, iterations
        self.found: OrderedDict[tuple[int, tuple[int, ...]], Resolving] = OrderedDict()
        self.until = inf

    def allow(self, seconds: float) -> None:
        """Allow ``seconds`` for the next row."""
        self.until = time.monotonic() + MARGIN * seconds

    def strategy_at(self, player: int, state: int) -> list[float] | None:
        """Return the player's row at an information state of ``ranges``; ``None`` where there is none."""
        way: tuple[int, ...] = ()
        job = self._resolved(player, way)
        at = int(job.ahead.starts[player][0])
        for record in [
            None,
            *self.ranges.states.path(state)[1],
        ]:  # a player that observes nothing may be at the horizon before its first record
            at = at if record is None else job.ahead.tree.states.find(at, record)
            while at in job.ahead.exits:
                way = (*way, job.ahead.exits[at].child)
                place, job = job.ahead.exits[at].place, self._resolved(player, way)
                at = int(job.ahead.starts[player][place])
        return _row(job.solved(), at)

    def _resolved(self, player: int, way: tuple[int, ...]) -> Resolving:
        """Return the solution after the leaves that were passed; one that the clock cut short is continued."""
        key = player, way
        if key not in self.found:
            self.found[key] = self._start_resolving(player, way)
        self.found.move_to_end(key)
        while len(self.found) > MAX_CACHED:
            self.found.popitem(last=False)
        job = self.found[key]
        if job.iteration < self.iterations:
            while job.iteration < self.iterations:
                job.step(min(CHUNK, self.iterations - job.iteration))
                if time.monotonic() > self.until:
                    break
            for below in [k for k in self.found if k[0] == player and len(k[1]) > len(way) and k[1][: len(way)] == way]:
                del self.found[below]  # they were solved for promises that have changed
        return job

    def _start_resolving(self, player: int, way: tuple[int, ...]) -> Resolving:
        if not way:
            return Resolving(self.states.ahead(0), start(len(self.ranges.graph.players)), self.values)
        above = self._resolved(player, way[:-1]).solved()
        number = int(above.ahead.leaves.state[way[-1]])
        return Resolving(self.states.ahead(number), gadget(above, way[-1], player), self.values)


def start(players: int) -> Root:
    """Return the root of the whole game."""
    return Root((np.ones(1),) * players, (np.zeros(1),) * players)


def gadget(above: Solved, child: int, player: int) -> Root:
    """Return the root at a leaf: the range with which ``player`` reaches it, and the values promised to the others.

    With more than two players, all enter with their ranges, since promises could not be kept.  Where payoffs do not sum
    to a constant, the gadget is a heuristic.
    """
    leaves, n = above.ahead.leaves, len(above.ahead.gates)
    ranges = leaf_ranges(leaves, above.plan)[child]
    places = (leaves.lead[child] >= 0).sum(axis=1)
    if n != 2:
        return Root(tuple(ranges[p, : places[p]] for p in range(n)), tuple(np.zeros(k) for k in places))
    rows = np.flatnonzero(leaves.child == child)
    came = max(float(above.plan[leaves.lead[child, player, : places[player]]].sum()), 1e-12)
    promised = tuple(
        np.bincount(leaves.place[rows, p], above.promised[rows, p], minlength=places[p]) / (leaves.scale[child] * came)
        for p in range(n)
    )
    chosen: list[FloatArray | None] = [None] * n
    chosen[player] = ranges[player, : places[player]]
    return Root(tuple(chosen), promised)


def _row(solved: Solved, at: int) -> list[float] | None:
    """Return the row at an information state of a solved tree; ``None`` where there is no choice."""
    k = solved.ahead.infosets.get(at)
    if k is None:
        return None
    arrays = solved.ahead.form.arrays
    first = int(arrays.first[k])
    row: list[float] = solved.strategy[first : first + int(arrays.size[k])].tolist()
    return row
