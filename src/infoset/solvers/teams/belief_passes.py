"""Passes over the belief DAGs of two teams: flows from the roots down, values from the leaves up, best plans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from infoset.base import FloatArray, IndexArray, LongArray
from infoset.jit import inline_kernel, kernel
from infoset.policies.belief_policy import BeliefPolicy
from infoset.solvers.metrics import Evaluation
from infoset.solvers.teams.team_maxmin import check_teams, figures_of
from infoset.tree.belief_dag import BeliefArrays, BeliefDag
from infoset.tree.sequence_form import SequenceForm


class Payments(NamedTuple):
    """The payoffs of a team at each pair of its leaves and the other team's, by its own leaves."""

    rows: IndexArray  # (Z + 1,) where the pairs of each leaf begin
    other: IndexArray  # (T,) the other team's leaf
    paid: FloatArray  # (T,) the team's payoff, times the probability of chance


@inline_kernel
def value_edge(a: BeliefArrays, e: int, leaf_values: FloatArray, belief_values: FloatArray) -> float:
    """Return the value of an edge: the sum of those of its leaves and beliefs."""
    found = 0.0
    for k in range(a.leaves[e], a.leaves[e + 1]):
        found += leaf_values[a.leaf[k]]
    for k in range(a.children[e], a.children[e + 1]):
        found += belief_values[a.child[k]]
    return found


@kernel
def value_leaves(payments: Payments, reach: FloatArray, leaf_values: FloatArray) -> None:
    """Write the value of each leaf to ``leaf_values`` (Z,), where the other team reaches its leaves with ``reach``."""
    for z in range(len(leaf_values)):
        total = 0.0
        for k in range(payments.rows[z], payments.rows[z + 1]):
            total += payments.paid[k] * reach[payments.other[k]]
        leaf_values[z] = total


@kernel
def descend(
    a: BeliefArrays, strategy: FloatArray, flow: FloatArray, reach: FloatArray, total: FloatArray, weight: float
) -> None:  # fmt: skip
    """Write the flow (B,) through all beliefs, and into all leaves (Z,), that behaviour (E,) leads to.

    The flow through edges, times ``weight``, is added to ``total`` (E,).  Most of it is 0, and then nothing is done.
    """
    flow[:], reach[:] = 0.0, 0.0
    for b in a.roots:
        flow[b] = 1.0
    for z in a.at_once:
        reach[z] = 1.0
    for b in range(len(a.infoset)):
        if flow[b] == 0.0:
            continue
        for e in range(a.first[b], a.first[b + 1]):
            through = flow[b] * strategy[e]
            if through == 0.0:
                continue
            total[e] += weight * through
            for k in range(a.leaves[e], a.leaves[e + 1]):
                reach[a.leaf[k]] += through
            for k in range(a.children[e], a.children[e + 1]):
                flow[a.child[k]] += through


@kernel
def best_value(a: BeliefArrays, leaf_values: FloatArray, belief_values: FloatArray) -> float:
    """Return the value of the team's best plan, where leaves have these values; ``belief_values`` (B,) is scratch."""
    for b in range(len(a.infoset) - 1, -1, -1):
        best = -inf
        for e in range(a.first[b], a.first[b + 1]):
            best = max(best, value_edge(a, e, leaf_values, belief_values))
        belief_values[b] = best
    total = 0.0
    for b in a.roots:
        total += belief_values[b]
    for z in a.at_once:
        total += leaf_values[z]
    return total


@kernel
def choose_best(a: BeliefArrays, leaf_values: FloatArray, belief_values: FloatArray, chosen: LongArray) -> None:
    """Write the number of the best action at beliefs that the best plan leads to, at its information set (I,)."""
    led_to = np.zeros(len(a.infoset), dtype=np.bool_)
    for b in a.roots:
        led_to[b] = True
    for b in range(len(a.infoset)):
        if not led_to[b]:
            continue
        for e in range(a.first[b], a.first[b + 1]):
            if value_edge(a, e, leaf_values, belief_values) == belief_values[b]:
                chosen[a.infoset[b]] = e - a.first[b]
                for k in range(a.children[e], a.children[e + 1]):
                    led_to[a.child[k]] = True
                break


def find_best_plan(dag: BeliefDag, leaf_values: FloatArray) -> tuple[float, LongArray]:
    """Return the value of the team's best plan and its actions (I,) by information set; 0 where it leads to none."""
    belief_values = np.zeros(dag.num_beliefs)
    value = float(best_value(dag.arrays, leaf_values, belief_values))
    chosen = np.zeros(dag.form.num_infosets, dtype=np.int64)
    choose_best(dag.arrays, leaf_values, belief_values, chosen)
    return value, chosen


@kernel
def behave(a: BeliefArrays, flows: FloatArray, strategy: FloatArray) -> None:
    """Write the behaviour (E,) of flows (E,); uniform where there is no flow."""
    for b in range(len(a.infoset)):
        begin, end = a.first[b], a.first[b + 1]
        total = 0.0
        for e in range(begin, end):
            total += flows[e]
        for e in range(begin, end):
            strategy[e] = flows[e] / total if total > 0.0 else 1.0 / (end - begin)


class Duel:
    """Two teams on their DAGs, with the payoffs ``paid`` (T,) of the first at the terminal rows."""

    def __init__(self, form: SequenceForm, dags: Sequence[BeliefDag]) -> None:
        self.form, self.dags = form, tuple(dags)
        self.payoffs = form.terminals()[1]
        paid = self.payoffs[:, list(dags[0].members)].sum(axis=1)
        rows = np.flatnonzero(paid)
        ends = [dag.leaf_of_row[rows] for dag in dags]
        self.payments = (
            _payments(ends[0], ends[1], paid[rows], dags[0].num_leaves),
            _payments(ends[1], ends[0], -paid[rows], dags[1].num_leaves),
        )

    @classmethod
    def of(
        cls, form: SequenceForm, teams: Sequence[Sequence[int]], progress: Callable[[int], object] | None = None
    ) -> Duel:
        """Build the DAGs of two teams, with ``progress`` called meanwhile (see ``BeliefDag.of``).

        Raises ``UnsupportedGameError`` and ``BudgetError``.
        """
        check_teams(form, teams, "belief-dag")
        return cls(form, [BeliefDag.of(form, members, progress=progress) for members in teams])

    def evaluation(self, strategies: Sequence[FloatArray]) -> Evaluation:
        """Return payoffs, and each team's gain by its best plan, where the teams' behaviour is (E,) each."""
        reach = [self.reach(dag, strategy) for dag, strategy in zip(self.dags, strategies, strict=True)]
        played = [found[dag.leaf_of_row] for dag, found in zip(self.dags, reach, strict=True)]
        values = self.payoffs.T @ (played[0] * played[1])
        value, gains = float(values[list(self.dags[0].members)].sum()), []
        for number, dag in enumerate(self.dags):
            leaf_values = np.zeros(dag.num_leaves)
            value_leaves(self.payments[number], reach[1 - number], leaf_values)
            best = float(best_value(dag.arrays, leaf_values, np.zeros(dag.num_beliefs)))
            gains.append(best - value if number == 0 else best + value)
        return figures_of(self.dags, values + self.form.offsets, gains)

    def reach(self, dag: BeliefDag, strategy: FloatArray) -> FloatArray:
        """Return (Z,) the probability that behaviour (E,) leads to each leaf."""
        reach = np.zeros(dag.num_leaves)
        descend(dag.arrays, strategy, np.zeros(dag.num_beliefs), reach, np.zeros(dag.num_edges), 1.0)
        return reach


def _payments(own: LongArray, other: LongArray, paid: FloatArray, leaves: int) -> Payments:
    order = np.argsort(own, kind="stable")
    rows = np.concatenate([[0], np.cumsum(np.bincount(own, minlength=leaves))])
    return Payments(rows.astype(np.uint32), other[order].astype(np.uint32), paid[order])


def evaluate_beliefs(form: SequenceForm, policy: BeliefPolicy) -> Evaluation:
    """Return the payoffs of teams that draw plans at their beliefs, and each team's gain by its best joint plan.

    Raises ``UnsupportedGameError`` for other than two lotteries, or payoffs that are not opposed, and ``PolicyError``
    for a game with other beliefs.
    """
    duel = Duel.of(form, [lottery.members for lottery in policy.lotteries])
    return duel.evaluation([one.behaviour(dag) for one, dag in zip(policy.lotteries, duel.dags, strict=True)])
