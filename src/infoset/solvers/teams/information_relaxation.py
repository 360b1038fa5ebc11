"""The best response of a team by information relaxation (Heymann & Lanctot, Algorithm 1).

Let w be the probabilities of the nodes under a *reference* policy, which has full support and does not change.  The
criterion of a relaxed policy μ is ``L(μ) = E_μ[r] - penalty · ‖μ - Proj(μ)‖²`` (eq. 5), with norm and projection
weighted by w.  The algorithm alternates between ``y = Proj(μ)`` and a proximal step that raises
``E_μ[r] - penalty · ‖μ - y‖²`` with y fixed.  The latter is at most L everywhere and equals it at the old μ, so L
never falls (Theorem 1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from infoset.arguments import checks_arguments
from infoset.base import FloatArray, IntArray
from infoset.errors import ImperfectRecallError, ParameterError
from infoset.jit import inline_kernel, kernel
from infoset.names import check_range
from infoset.policies.tabular import TabularPolicy
from infoset.solvers.job import Limits, MultiStart, RunInSeries, Watcher, advance
from infoset.solvers.teams.hidden_game import (
    MOST_TRAININGS,
    NOBODY,
    HiddenGame,
    HidingArrays,
    expected,
    project,
    spread,
)
from infoset.tree.information import UNLABELLED


class Stages(NamedTuple):
    """The nodes by *stage*, the number of the team's decisions before them, counted from 0."""

    nodes: IntArray  # (N,) the last stage first; within a stage children before parents
    first: IntArray  # (stages + 1,) where each stage begins in ``nodes``
    of_set: IntArray  # (relaxed sets,) the stage of each


@kernel
def ascend(
    a: HidingArrays,
    stages: IntArray,
    nodes: IntArray,
    first: IntArray,
    policy: FloatArray,
    projected: FloatArray,
    weights: FloatArray,
    penalty: float,
    reach: FloatArray,
    value: FloatArray,
    rewards: FloatArray,
    mass: FloatArray,
) -> None:
    """Run the proximal step stage by stage, the last one first.

    With all other stages fixed, a set's best policy is the projection of ``anchor + gain / (2 penalty)`` onto the
    simplex; without a penalty it is its best move.  ``reach`` (N,): the probability of each node by earlier stages.
    """
    last = len(first) - 2
    for block in range(last + 1):
        stage = last - block
        for k in range(len(mass)):
            mass[k] = 0.0
        for q in range(len(rewards)):
            rewards[q] = 0.0
        for i in range(first[block], first[block + 1]):
            v = nodes[i]
            if a.team[v] != NOBODY:
                g, k, below = a.relaxed[v], a.true_first[a.true[v]], a.first_child[v]
                mass[g] += weights[v]
                for action in range(a.first_child[v + 1] - below):
                    q = a.relaxed_first[g] + action
                    rewards[q] += reach[v] * value[below + action] + 2.0 * penalty * weights[v] * projected[k + action]
        for g in range(len(stages)):
            if stages[g] == stage and mass[g] > 0.0:
                improve(policy, rewards, a.relaxed_first[g], a.relaxed_first[g + 1], 2.0 * penalty * mass[g])
        for i in range(first[block], first[block + 1]):
            v = nodes[i]
            total = a.payoff[0, v]
            for child in range(a.first_child[v], a.first_child[v + 1]):
                if a.team[v] == NOBODY:
                    total += a.weight[child] * value[child]
                else:
                    total += policy[a.relaxed_first[a.relaxed[v]] + child - a.first_child[v]] * value[child]
            value[v] = total


@inline_kernel
def improve(policy: FloatArray, rewards: FloatArray, first: int, last: int, curvature: float) -> None:
    """Maximise ``rewards · x - curvature / 2 · ‖x‖²`` over the simplex (Michelot 1986); on a tie keep the policy."""
    if curvature == 0.0:
        best, mean_reward = first, 0.0
        for q in range(first, last):
            mean_reward += policy[q] * rewards[q]
            if rewards[q] > rewards[best]:
                best = q
        if rewards[best] > mean_reward:
            for q in range(first, last):
                policy[q] = 0.0
            policy[best] = 1.0
        return
    threshold = -np.inf
    while True:
        total, count = -1.0, 0
        for q in range(first, last):
            if rewards[q] / curvature > threshold:
                total += rewards[q] / curvature
                count += 1
        if total / count <= threshold:
            break
        threshold = total / count
    for q in range(first, last):
        policy[q] = max(rewards[q] / curvature - threshold, 0.0)


@kernel
def distance(a: HidingArrays, policy: FloatArray, projected: FloatArray, weights: FloatArray) -> float:
    """Return ``‖μ - y‖²``, weighted by ``weights`` (N,)."""
    total = 0.0
    for v in range(len(a.parent)):
        if a.team[v] != NOBODY:
            own, k = a.relaxed_first[a.relaxed[v]], a.true_first[a.true[v]]
            for action in range(a.first_child[v + 1] - a.first_child[v]):
                total += weights[v] * (policy[own + action] - projected[k + action]) ** 2
    return total


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The result of ``information_relaxation``, of ``R`` runs of ``I`` iterations."""

    game: HiddenGame
    criteria: FloatArray
    """(R, I + 1) L of the relaxed policy before each iteration and after the last: it never falls."""
    payoffs: FloatArray
    """(R, I + 1) the team's payoff under the projection at the same points."""
    last: FloatArray
    """(R,) the last of these payoffs."""
    best: FloatArray
    """(R,) the best of these payoffs."""
    projections: FloatArray
    """(R, C) the policies of ``best``."""
    bound: float | None
    """An upper bound on the payoff of all policies on the true map, from ``relaxed_optimum``; ``None`` where the
    relaxed map has no perfect recall."""
    seconds: float

    @property
    def iterations(self) -> int:
        """The number of iterations."""
        return len(self.payoffs[0]) - 1

    def policy(self) -> TabularPolicy:
        """Return the best policy of all runs."""
        return self.game.policy(self.projections[int(self.best.argmax())], {"method": "information-relaxation"})


def check_penalty(penalty: float) -> None:
    """Raise ``ParameterError`` unless ``penalty`` is a number from 0."""
    if not (np.isfinite(penalty) and penalty >= 0):
        raise ParameterError(f"penalty={penalty}; allowed: a number from 0")


@checks_arguments
def information_relaxation(
    game: HiddenGame,
    penalty: float = 1.0,
    *,
    iterations: int = 100,
    runs: int = 1,
    seed: int = 0,
    progress: Callable[[int, float], object] | None = None,
) -> Relaxation:
    """Run Algorithm 1 for the only team of ``game`` ``runs`` times, each from an initial policy of its own.

    The reference policy is uniform; initial policies are Dirichlet(1) draws at every relaxed set.  The proximal step
    takes one stage at a time, so that an iteration need not reach its maximum, which Theorem 1 does not require either;
    the iterations converge to a local optimum of L.

    Proposition 3 bounds every policy on the true map by the *global* maximum of L.  That is known only without a
    penalty, by backward induction over a relaxed map with perfect recall: ``bound``, which holds for every penalty.

    Raises ``ParameterError`` for a game with several teams, ``ImperfectRecallError`` for a relaxed map that does not
    count the team's decisions.  ``progress`` is passed the number of finished runs and the best payoff so far; Ctrl-C
    ends with those runs.

    Heymann & Lanctot (2025); ``penalty`` is in units of payoffs.

    >>> from infoset.tree.information import recall
    >>> tree = infoset.GameTree.of(infoset.load("trade_comm(items=2,messages=2)"))
    >>> found = infoset.information_relaxation(infoset.HiddenGame.of(tree, recall), penalty=5, runs=30, seed=1)
    >>> print(f"{found.best.max():.3f} {found.bound:.3f}")
    1.000 1.000
    """
    job = Relaxations(game, penalty, iterations, runs, seed)
    _, seconds = advance(job, Limits(), Watcher(advance=job.teller(progress)))
    done = job.results or job.known
    if not done:
        raise KeyboardInterrupt
    criteria, payoffs, projections = (
        np.stack([result[name] for result in done]) for name in ("criteria", "payoffs", "best")
    )
    proved = job.bound()
    return Relaxation(
        game, criteria, payoffs, payoffs[:, -1], payoffs.max(axis=1), projections, proved and proved[0], seconds
    )  # fmt: skip


class Relaxations(MultiStart):
    """Runs of Algorithm 1, each from an initial policy of its own.  Raises as ``information_relaxation`` does."""

    def __init__(self, game: HiddenGame, penalty: float, iterations: int, runs: int, seed: int) -> None:
        check_range("iterations", iterations, 1, MOST_TRAININGS)
        check_range("runs", runs, 1, MOST_TRAININGS)
        check_range("seed", seed, 0, 2**63)
        check_penalty(penalty)
        self.game, a = game, game.arrays
        stages, weights = _stages(game), np.zeros(len(a.parent))
        spread(a, _uniform(a), a.relaxed, a.relaxed_first, weights)

        def make(run: int) -> RelaxationRun:
            return RelaxationRun(a, stages, weights, penalty, iterations, np.random.default_rng((seed, run)))

        super().__init__(make, runs)

    def bound(self) -> tuple[float, str] | None:
        """Return a bound on all policies on the true map; ``None`` where the relaxed map has no perfect recall."""
        if self.game.relaxed[0].recall_violation():
            return None
        return relaxed_optimum(self.game), "Proposition 3 of Heymann & Lanctot without a penalty"

    def policy(self) -> TabularPolicy | None:
        """Return the best policy so far."""
        best = self.best
        return None if best is None else self.game.policy(best["best"], {"method": "information-relaxation"})


def relaxed_optimum(game: HiddenGame) -> float:
    """Return the team's optimum on its relaxed map, by backward induction; it is at least that on the true map.

    Raises ``ImperfectRecallError`` where the relaxed map has no perfect recall.
    """
    stages, a = _stages(game), game.arrays
    game.relaxed[0].check_recall()
    policy, value, rewards, mass = _scratch(a)
    zeros = np.zeros(int(a.true_first[-1]))
    ascend(a, stages.of_set, stages.nodes, stages.first, policy, zeros, a.prior, 0.0, a.prior, value, rewards, mass)
    return float(value[0])


class RelaxationRun(RunInSeries):
    """One run at work; an iteration is a projection and a proximal step."""

    def __init__(
        self, a: HidingArrays, stages: Stages, weights: FloatArray, penalty: float, iterations: int,
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        self.arrays, self.stages, self.weights, self.penalty, self.total = a, stages, weights, penalty, iterations
        self.policy_now, *self.scratch = _scratch(a)
        self.policy_now[:] = rng.exponential(size=len(self.policy_now))
        self.policy_now /= np.repeat(np.add.reduceat(self.policy_now, a.relaxed_first[:-1]), np.diff(a.relaxed_first))
        self.projected, self.reach = np.zeros(int(a.true_first[-1])), np.zeros(len(a.parent))
        self.best = self.projected.copy()
        self.criteria, self.payoffs = np.zeros((2, iterations + 1))
        self._measure()

    def step(self, iterations: int, until: float = np.inf) -> None:
        end, (a, stages) = min(self.iteration + iterations, self.total), (self.arrays, self.stages)
        value, rewards, mass = self.scratch
        while self.iteration < end and (monotonic() < until or not self.iteration):
            ascend(
                a, stages.of_set, stages.nodes, stages.first, self.policy_now, self.projected, self.weights,
                self.penalty, self.reach, value, rewards, mass,
            )  # fmt: skip
            self.iteration += 1
            self._measure()

    def _measure(self) -> None:
        """Record the criterion L of the current policy and the payoff of its projection."""
        a, t, mass = self.arrays, self.iteration, self.scratch[-1]
        project(a, self.policy_now, self.weights, self.projected, mass)
        spread(a, self.projected, a.true, a.true_first, self.reach)
        self.payoffs[t] = expected(a, 0, self.reach)
        spread(a, self.policy_now, a.relaxed, a.relaxed_first, self.reach)
        lost = self.penalty * distance(a, self.policy_now, self.projected, self.weights)
        self.criteria[t] = expected(a, 0, self.reach) - lost
        if self.payoffs[t] >= self.payoffs[: t + 1].max():
            self.best[:] = self.projected

    def result(self) -> dict[str, Any]:
        """Return criteria (I + 1,), payoffs (I + 1,) and the best projection (C,)."""
        done = slice(self.iteration + 1)
        payoffs = self.payoffs[done].copy()
        found = {"criteria": self.criteria[done].copy(), "payoffs": payoffs, "best": self.best.copy()}
        return {"value": np.array(payoffs.max()), **found}

    def state_arrays(self) -> dict[str, Any]:
        return {
            "policy": self.policy_now, "projected": self.projected, "reach": self.reach, "best": self.best,
            "criteria": self.criteria, "payoffs": self.payoffs,
        }  # fmt: skip


def _scratch(a: HidingArrays) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return a uniform policy (F,), values (N,), rewards (F,) and masses (relaxed sets + true sets,)."""
    sets = len(a.relaxed_first) + len(a.true_first)
    return _uniform(a), np.zeros(len(a.parent)), np.zeros(int(a.relaxed_first[-1])), np.zeros(sets)


def _uniform(a: HidingArrays) -> FloatArray:
    sizes = np.diff(a.relaxed_first)
    return np.asarray(np.repeat(1.0 / sizes, sizes))


def _stages(game: HiddenGame) -> Stages:
    """Return the stages of a game.  Raises as ``information_relaxation`` does."""
    if len(game.teams) != 1:
        raise ParameterError(f"teams={list(game.teams)}: information relaxation is the best response of one team")
    tree, a = game.tree, game.arrays
    stage = np.zeros(len(a.parent), dtype=np.int32)
    for begin, end in zip(tree.levels[1:-1].tolist(), tree.levels[2:].tolist(), strict=True):
        above = a.parent[begin:end]
        stage[begin:end] = stage[above] + (a.team[above] != NOBODY)
    of_set = np.full(len(a.relaxed_team), -1, dtype=np.int32)
    decides = np.flatnonzero(a.relaxed != UNLABELLED)
    of_set[a.relaxed[decides]] = stage[decides]
    if (odd := decides[of_set[a.relaxed[decides]] != stage[decides]]).size:
        raise ImperfectRecallError(
            f"map {game.relaxed[0].name!r} of {tree.name} does not count the team's decisions: "
            f"{list(tree.history(int(odd[0])))} looks like a history with {of_set[a.relaxed[odd[0]]]} before it"
        )
    order = np.lexsort((-np.arange(len(stage)), -stage)).astype(np.int32)
    first = np.searchsorted(-stage[order], -np.arange(stage.max(), -2, -1)).astype(np.int32)
    return Stages(order, first, of_set)
