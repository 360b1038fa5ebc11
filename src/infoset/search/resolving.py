"""Continual re-solving (Moravčík et al. 2017): from every public state on, with what was found before to hold to.

The game from a public state to the horizon is solved by PCFR+.  Who resolves comes there with its own range, by what it
found before; the others choose at a gate whether to come at all, or to take what the solution before promised them
(the *resolve* gadget): so they can gain nothing by how they came.  What lies behind the horizon is asked in every
iteration, since it depends on what everybody would come there with.
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
from infoset.names import check_range
from infoset.search.below import Values
from infoset.search.public_states import FOLLOW, STOP, Leaves, Lookahead, PublicStates
from infoset.search.range_search import MARGIN
from infoset.search.ranges import Ranges
from infoset.solvers.tabular.cfr import pcfr_plus
from infoset.solvers.tabular.loop import LoopSolver
from infoset.tree.kernels import expect_up, gradient
from infoset.tree.plans import behaviour

CHUNK = 25
ITERATIONS = 200
RESOLVING = "resolving"
METHOD = replace(pcfr_plus(averaging=2.0), name=RESOLVING)
MAX_KEPT = 10_000  # solved public states, the least lately used go first
NEVER = 1e-9  # how likely a place is where nobody comes, so that its strategy is averaged all the same


class LeafValues(Protocol):
    """What the worlds at a horizon are worth to everybody when players come there with such ranges."""

    def __call__(self, leaves: Leaves, ranges: FloatArray) -> FloatArray:
        """From ranges (J, n, W), each of which sums to one over its places, to payoffs (L, n)."""


class PositionValues:
    """By the position alone, whatever anybody knows."""

    def __init__(self, values: Values) -> None:
        self.values = values

    def __call__(self, leaves: Leaves, ranges: FloatArray) -> FloatArray:
        return self.values(leaves.position)


class Solved(NamedTuple):
    """A public state solved."""

    ahead: Lookahead
    strategy: FloatArray  # (S,) behaviour, the gates' too
    plan: FloatArray  # (S,) its realisation weights
    promised: FloatArray  # (L, n) counterfactual values of the leaves' worlds, on average


class Root(NamedTuple):
    """With what players come to a public state, by place; a range that is ``None`` is its owner's choice."""

    ranges: tuple[FloatArray | None, ...]  # each sums to one
    promised: tuple[FloatArray, ...]
    """What who chooses gets for not coming: counterfactual values, which the others' ranges weigh."""


class Resolving:
    """The iterations on one public state; ``current`` and ``solved`` may be asked at any time."""

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
            worth = self._ask(solver.state.plan)
            self.weight = self.weight * discount + 1.0
            self.promised += (worth - self.promised) / self.weight
            solver.step()

    def _ask(self, plan: FloatArray) -> FloatArray:
        """Counterfactual values (L, n) of the leaves under a plan, which the solver is then promised."""
        leaves = self.ahead.leaves
        worth = self.values(leaves, leaf_ranges(leaves, plan))
        weigh(leaves.sequence, leaves.chance, plan, worth)
        self.solver.promised[:] = self.promise
        np.add.at(self.solver.promised, leaves.sequence, worth)
        return worth

    @property
    def iteration(self) -> int:
        return self.solver.iteration

    def current(self) -> FloatArray:
        """Realisation weights (S,) of the next iteration."""
        return self.solver.current()

    def solved(self) -> Solved:
        plan = self.solver.average()
        return Solved(self.ahead, behaviour(self.ahead.form, plan), plan, self.promised)

    def root_values(self) -> list[FloatArray]:
        """For each player (places,) counterfactual values of coming, when everybody plays the average from there."""
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
def weigh(sequence: LongArray, chance: FloatArray, plan: FloatArray, worth: FloatArray) -> None:
    """Make payoffs at leaves counterfactual values: times nature's and the others' reach."""
    n = sequence.shape[1]
    for k in range(len(sequence)):
        for p in range(n):
            worth[k, p] *= chance[k]
            for q in range(n):
                if q != p:
                    worth[k, p] *= plan[sequence[k, q]]


def leaf_ranges(leaves: Leaves, plan: FloatArray) -> FloatArray:
    """(J, n, W) how likely everybody's places are; evenly where nobody comes."""
    there = leaves.lead >= 0
    weight = np.where(there, plan[leaves.lead], 0.0)
    total = weight.sum(axis=2, keepdims=True)
    even = there / np.maximum(there.sum(axis=2, keepdims=True), 1)
    return np.asarray(np.where(total > 1e-12, weight / np.maximum(total, 1e-300), even))


class ContinualResolving:
    """Every player's strategy where it is asked for, each by its own chain of solutions; kept from then on."""

    root = RESOLVING

    def __init__(self, ranges: Ranges, states: PublicStates, values: LeafValues, iterations: int = ITERATIONS) -> None:
        check_range("iterations", iterations, 1, 2**31)
        self.ranges, self.states, self.values, self.iterations = ranges, states, values, iterations
        self.found: OrderedDict[tuple[int, tuple[int, ...]], Resolving] = OrderedDict()
        self.until = inf

    def allow(self, seconds: float) -> None:
        """So long for the next row."""
        self.until = time.monotonic() + MARGIN * seconds

    def row(self, player: int, state: int) -> list[float] | None:
        """The player's chances at an information state of ``ranges``; ``None`` where it leads nowhere."""
        way: tuple[int, ...] = ()
        work = self._resolved(player, way)
        at = int(work.ahead.starts[player][0])
        for token in [
            None,
            *self.ranges.states.path(state)[1],
        ]:  # who sees nothing may be at the horizon before the first
            at = at if token is None else work.ahead.tree.states.find(at, token)
            while at in work.ahead.exits:
                way = (*way, work.ahead.exits[at].child)
                place, work = work.ahead.exits[at].place, self._resolved(player, way)
                at = int(work.ahead.starts[player][place])
        return _row(work.solved(), at)

    def _resolved(self, player: int, way: tuple[int, ...]) -> Resolving:
        """By the leaves that were passed; what the clock cut short goes on."""
        key = player, way
        if key not in self.found:
            self.found[key] = self._begun(player, way)
        self.found.move_to_end(key)
        while len(self.found) > MAX_KEPT:
            self.found.popitem(last=False)
        work = self.found[key]
        if work.iteration < self.iterations:
            self._step(work)
            for below in [k for k in self.found if k[0] == player and len(k[1]) > len(way) and k[1][: len(way)] == way]:
                del self.found[below]  # they held to what is no longer promised
        return work

    def _begun(self, player: int, way: tuple[int, ...]) -> Resolving:
        if not way:
            return Resolving(self.states.ahead(0), start(len(self.ranges.graph.players)), self.values)
        above = self._resolved(player, way[:-1]).solved()
        number = int(above.ahead.leaves.state[way[-1]])
        return Resolving(self.states.ahead(number), gadget(above, way[-1], player), self.values)

    def _step(self, work: Resolving) -> None:
        """One chunk of iterations at least."""
        while work.iteration < self.iterations:
            work.step(min(CHUNK, self.iterations - work.iteration))
            if time.monotonic() > self.until:
                break


def start(players: int) -> Root:
    """Of the whole game."""
    return Root((np.ones(1),) * players, (np.zeros(1),) * players)


def gadget(above: Solved, child: int, player: int) -> Root:
    """With what ``player`` comes to a leaf, and what the others were promised there.

    With more than two players, all come with their ranges: nothing that is promised could be held to.  Where payoffs do
    not sum to a constant, the gadget is a rule of thumb.
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
    """The chances at an information state of a solved tree; ``None`` where there is no choice."""
    k = solved.ahead.infosets.get(at)
    if k is None:
        return None
    arrays = solved.ahead.form.arrays
    first = int(arrays.first[k])
    row: list[float] = solved.strategy[first : first + int(arrays.size[k])].tolist()
    return row
