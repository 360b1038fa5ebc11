"""Regret minimisation of two teams on their belief DAGs (Zhang, Farina & Sandholm 2022).

A DAG turns a team that agrees beforehand into one player with perfect recall, so that the local updates of CFR's family
apply at every belief.  The methods of that family are passed in as values; the loop exists once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from math import inf, log2
from typing import Any, ClassVar, NamedTuple

import numpy as np

from infoset.base import FloatArray
from infoset.compiled import Compiled
from infoset.errors import ParameterError
from infoset.jit import inline_kernel, kernel, with_piece
from infoset.names import Value, full_name
from infoset.policies.belief_policy import BeliefLottery, BeliefPolicy
from infoset.solvers.config import SolveConfig
from infoset.solvers.job import Background, Job, Limits, Point, restore_arrays
from infoset.solvers.method import Checked, parse_method
from infoset.solvers.metrics import Evaluation
from infoset.solvers.tabular.loop import SCALE_FREE, Method, evenly, schedule_rows
from infoset.solvers.tabular.updates import Update
from infoset.solvers.teams.belief_passes import Duel, Payments, behave, descend, value_edge, value_leaves
from infoset.solvers.teams.belief_programs import find_exactly
from infoset.solvers.teams.team_maxmin import CLOSE, named_teams
from infoset.tree.belief_dag import BeliefArrays, BeliefDag

LARGEST_WEIGHT = 1e100
"""The weight of the latest flow at which the sums of flows are scaled down."""
SAVED = ("strategy", "average", "weight", "memory")
"""What a checkpoint holds of each team; the rest follows from it."""
FIRST_PROGRAM, MORE = 100, 4
"""The iteration after which an exact solution is sought for the first time, and the factor to the next one."""
OFTEN = 1e-7
"""The share of the average flow from which an action belongs to the program."""


class SideState(NamedTuple):
    """What changes on the DAG of one team: B beliefs, E edges, Z leaves."""

    strategy: FloatArray  # (E,) current behaviour
    average: FloatArray  # (E,) weighted sum of the flow through each edge so far
    weight: FloatArray  # (1,) the weight of the latest flow in it
    memory: FloatArray  # (m, E) what the local update keeps
    values: FloatArray  # (E,) scratch: the value of each edge
    flow: FloatArray  # (B,) the probability that the team's plan leads to each belief
    belief_values: FloatArray  # (B,) scratch: the value of each belief
    reach: FloatArray  # (Z,) the probability that the team's plan leads to each leaf
    leaf_values: FloatArray  # (Z,) scratch: the value of each leaf


def update(*_: Any) -> None:
    """Stand in for the local update in ``_sweep``."""


def _sweep(
    first: BeliefArrays, second: BeliefArrays, one: Payments, two: Payments, s: SideState, other: SideState,
    schedule: FloatArray,
) -> None:  # fmt: skip
    """Run one iteration for each row of ``schedule``; the second team sees the update of the first."""
    for t in range(schedule.shape[0]):
        for turn in range(2):
            if turn == 0:
                value_leaves(one, other.reach, s.leaf_values)
                learn(first, s, schedule[t])
            else:
                value_leaves(two, s.reach, other.leaf_values)
                learn(second, other, schedule[t])


def _learn(a: BeliefArrays, s: SideState, parameters: FloatArray) -> None:
    """Update the behaviour at all beliefs by the values of the leaves, and then the flow and its average."""
    for b in range(len(a.infoset) - 1, -1, -1):
        begin, end = a.first[b], a.first[b + 1]
        value = 0.0
        for e in range(begin, end):
            s.values[e] = value_edge(a, e, s.leaf_values, s.belief_values)
            value += s.strategy[e] * s.values[e]
        s.belief_values[b] = value
        update(0, 0, begin, end, value, s.values, s.strategy, s.memory, parameters)
    if parameters[0] > 0.0:
        s.weight[0] /= parameters[0]  # in place of a discount of the sums, most of which do not change
    else:
        s.average[:], s.weight[0] = 0.0, 1.0
    if s.weight[0] > LARGEST_WEIGHT:
        s.average[:] /= s.weight[0]
        s.weight[0] = 1.0
    descend(a, s.strategy, s.flow, s.reach, s.average, s.weight[0])


learn = _learn
"""A placeholder for the compiled ``_learn`` in ``_sweep``."""


@cache
def compiled_sweep(local_update: Update) -> Callable[..., None]:
    """Return the loop compiled around a local update."""
    found: Callable[..., None] = kernel(
        with_piece(_sweep, "learn", inline_kernel(with_piece(_learn, "update", inline_kernel(local_update))))
    )
    return found


class BeliefRegrets(Job):
    """Regret minimisation at work; the policy is the better of the average and the current behaviour."""

    def __init__(self, duel: Duel, method: Method, name: str) -> None:
        self.duel, self.method, self.name = duel, method, name
        self.form, self.iteration, self.done = duel.form, 0, False
        self.nothing_to_gain = self.form.exploitability_of_rounding
        self.sides = tuple([_start(dag, method.memory) for dag in duel.dags])
        self._sweep = compiled_sweep(method.update)
        unit = 2.0 ** -np.floor(log2(self.form.widest_range))  # the updates suit payoffs of a few units
        self._payments = [one._replace(paid=one.paid * unit) for one in duel.payments]
        self._best: tuple[int, str, list[FloatArray], Evaluation] | None = None
        self._exact: tuple[list[FloatArray], Evaluation] | None = None
        self._sought = np.zeros(1, dtype=np.int64)  # the last iteration after which an exact solution was sought
        self._seeking: Background[tuple[list[FloatArray], Evaluation] | None] | None = None
        self._spread()

    @property
    def total(self) -> int | None:  # type: ignore[override]
        """The number of iterations, once nothing is left to gain; ``None`` before."""
        return self.iteration if self.done else None

    def step(self, iterations: int, until: float = inf) -> None:
        goal = self.iteration + iterations
        while self.iteration < goal and self._seek(until) and not self.done:
            count = min(goal, _next_program(self.iteration)) - self.iteration
            self._run(count)
            self.iteration += count

    def _seek(self, until: float) -> bool:
        """Look for an exact solution before the iterations that follow certain ones; return whether that is over."""
        if self.iteration == self._sought[0] or self.iteration != _next_program(self.iteration - 1):
            return True
        if self._seeking is None:
            average, current = self._profiles()
            flows = []
            for dag, one, other in zip(self.duel.dags, average, current, strict=True):
                usual, latest = self._flows(dag, one), self._flows(dag, other)
                flows.append(np.where(usual > OFTEN, usual, 0.0) + latest)
            close = CLOSE * self.form.widest_range
            self._seeking = Background(lambda: find_exactly(self.duel, flows, current, close))
        if not self._seeking.wait(until):
            return False
        self._exact, self._seeking = self._seeking.result, None
        self._sought[0], self._best = self.iteration, None
        self.done = self._exact is not None
        return True

    def _flows(self, dag: BeliefDag, strategy: FloatArray) -> FloatArray:
        """Return the flow (E,) of behaviour (E,) through a DAG."""
        flows = np.zeros(dag.num_edges)
        descend(dag.arrays, strategy, np.zeros(dag.num_beliefs), np.zeros(dag.num_leaves), flows, 1.0)
        return flows

    def _run(self, iterations: int) -> None:
        schedule = schedule_rows(self.method, self.iteration + 1.0, iterations)
        self._sweep(*[dag.arrays for dag in self.duel.dags], *self._payments, *self.sides, schedule)

    def _spread(self) -> None:
        """Compute what follows from the current behaviour."""
        for dag, s in zip(self.duel.dags, self.sides, strict=True):
            descend(dag.arrays, s.strategy, s.flow, s.reach, s.values, 1.0)

    def _better(self) -> tuple[int, str, list[FloatArray], Evaluation]:
        """Return the iteration, name, behaviour and figures of the better of average and current behaviour."""
        if self._best is None or self._best[0] != self.iteration:
            if self._exact is not None:
                self._best = (self.iteration, "exact", *self._exact)
                return self._best
            found = [
                (self.iteration, name, strategies, self.duel.evaluation(strategies))
                for name, strategies in zip(("average", "current"), self._profiles(), strict=True)
            ]
            self._best = min(found, key=lambda one: one[-1].nash_conv)
        return self._best

    def _profiles(self) -> tuple[list[FloatArray], list[FloatArray]]:
        """Return the average and the current behaviour (E,) of both teams."""
        average = [np.zeros(dag.num_edges) for dag in self.duel.dags]
        for dag, s, strategy in zip(self.duel.dags, self.sides, average, strict=True):
            behave(dag.arrays, s.average, strategy)
        return average, [s.strategy.copy() for s in self.sides]

    def policy(self) -> BeliefPolicy:
        """Return the lotteries of both teams."""
        _, profile, strategies, _ = self._better()
        lotteries = [BeliefLottery.of(dag, one) for dag, one in zip(self.duel.dags, strategies, strict=True)]
        made_by = {"method": self.name, "iterations": self.iteration, "profile": profile}
        return BeliefPolicy.from_lotteries(self.form, lotteries, made_by)

    def evaluation(self) -> Evaluation:
        """Return exact figures of the policy."""
        return self._better()[-1]

    def point(self, seconds: float) -> Point:
        """Return exact figures of the policy; nothing is left to do where nobody gains anything."""
        found = self.evaluation()
        self.done |= found.nash_conv <= CLOSE * self.form.widest_range
        return Point(
            self.iteration, seconds, found.nash_conv, found.exploitability, found.epsilon, values=found.values
        )  # fmt: skip

    def notes(self) -> dict[str, Any]:
        """Return teams, their payoffs, the sizes of their DAGs, and which behaviour the policy is."""
        dags, values = self.duel.dags, self.evaluation().values
        paid = {dag.name: sum(values[player] for player in dag.members) for dag in dags}
        return {
            "teams": list(paid), "team_values": paid, "beliefs": {dag.name: dag.num_beliefs for dag in dags},
            "edges": {dag.name: dag.num_edges for dag in dags}, "profile": self._better()[1],
        }  # fmt: skip

    @property
    def about(self) -> str:
        seeking = ", looking for an exact solution" if self._seeking is not None else ""
        return f"{sum(dag.num_edges for dag in self.duel.dags):,} edges{seeking}"

    def save(self) -> dict[str, Any]:
        return {"iteration": np.array(self.iteration), **{k: array.copy() for k, array in self._saved_arrays().items()}}

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from ``save``; an exact solution, which takes no space there, is looked for again."""
        self.iteration = restore_arrays(self.name, self._saved_arrays(), saved)
        self._best, self._exact, self._seeking, self.done = None, None, None, False
        self._spread()
        if self._sought[0] == self.iteration:
            self._sought[0] = 0
            self._seek(inf)

    def _saved_arrays(self) -> dict[str, Any]:
        arrays = {f"{name}{number}": getattr(s, name) for number, s in enumerate(self.sides) for name in SAVED}
        return {**arrays, "sought": self._sought}


def _next_program(iteration: int) -> int:
    """Return the first iteration after ``iteration`` after which an exact solution is looked for."""
    goal = FIRST_PROGRAM
    while goal <= iteration:
        goal *= MORE
    return goal


def _start(dag: BeliefDag, memory: int) -> SideState:
    """Return the state of a team that chooses all actions of a belief with equal probability."""
    beliefs, edges, leaves = dag.num_beliefs, dag.num_edges, dag.num_leaves
    sizes = np.diff(dag.arrays.first)
    return SideState(
        np.repeat(1.0 / sizes, sizes), np.zeros(edges), np.ones(1), np.zeros((memory, edges)), np.zeros(edges),
        np.zeros(beliefs), np.zeros(beliefs), np.zeros(leaves), np.zeros(leaves),
    )  # fmt: skip


@dataclass(frozen=True)
class BeliefDagMethod(Checked):
    """Regret minimisation of two teams on their belief DAGs (Zhang, Farina & Sandholm 2022)."""

    update: Value = "pdcfr+"
    """The method of CFR's family that is applied at every belief, with parameters: ``dcfr(alpha=2)``."""

    takes: ClassVar[frozenset[str]] = frozenset({"iterations", "seconds", "target", "teams"})
    default: ClassVar[Limits] = Limits(5000)

    _prepared: Duel | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._method()

    @property
    def name(self) -> str:
        """The full name, as ``solve`` takes it."""
        return full_name("belief-dag", BeliefDagMethod, update=self.update)

    def _method(self) -> Method:
        """Return the method applied at every belief.  Raises ``ParameterError`` for one of another family."""
        found = parse_method(str(self.update))
        if not isinstance(found, Method) or found.update not in SCALE_FREE or found.weigh is not evenly:
            raise ParameterError(
                f"update={self.update}; allowed: cfr, cfr+, linear-cfr, dcfr, hs-dcfr, pcfr+, pdcfr+, hs-pcfr+"
            )
        return found

    def prepare(self, compiled: Compiled, config: SolveConfig) -> Duel:
        """Build the DAGs of the two teams, unless that has been done.

        Raises ``ParameterError`` without teams, ``UnsupportedGameError`` and ``BudgetError``, which is ``ClockError``
        where building takes longer than the limit.
        """
        teams = named_teams(compiled, config.teams)
        duel = self._prepared
        if duel is None or duel.form is not compiled.form or tuple(dag.members for dag in duel.dags) != teams:
            duel = Duel.of(compiled.form, teams, compiled.progress)  # so that --seconds ends it
            object.__setattr__(self, "_prepared", duel)
        return duel

    def job(self, compiled: Compiled, config: SolveConfig) -> BeliefRegrets:
        """Return the work on both DAGs, with its kernels compiled.  Raises as ``prepare`` does."""
        work = BeliefRegrets(self.prepare(compiled, config), self._method(), self.name)
        work.step(0)
        return work
