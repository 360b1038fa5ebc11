"""The method ``mccfr``: independent sampling runs, each in a thread, whose averages are added."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

from infoset import sizes
from infoset.compiled import Compiled
from infoset.errors import BudgetError, UnsupportedGameError
from infoset.names import check_choice, check_share, full_name
from infoset.policies.sampled_policy import QuotientPolicy, SampledPolicy
from infoset.solvers.config import SolveConfig
from infoset.solvers.job import Job, Limits, Point
from infoset.solvers.method import Checked
from infoset.solvers.metrics import evaluate_plan
from infoset.solvers.sampling.mccfr import RARE, Mccfr
from infoset.solvers.sampling.outcome_sampling import EXPLORATION, OutcomeMccfr
from infoset.solvers.sampling.pooled_mccfr import MOST_RUNS, RUNS, PooledMccfr
from infoset.tree.payoff_scale import payoff_offsets
from infoset.tree.quotient_graph import QuotientGraph
from infoset.warm_up import ready

EXTERNAL, OUTCOME = SAMPLINGS = ("external", "outcome")
FIRST_CHECK = 1024


@dataclass(frozen=True)
class SamplingMethod(Checked):
    """Monte Carlo CFR (Lanctot et al. 2009): games whose positions fit while their histories do not."""

    explore: float | None = None
    """The probability that a traversal tries all moves; for outcome sampling, the share of uniform draws."""
    sampling: str = EXTERNAL
    """Or ``outcome``: one play per iteration."""

    takes: ClassVar[frozenset[str]] = frozenset({"iterations", "target", "seconds", "runs", "form"})
    default: ClassVar[Limits] = Limits(seconds=60.0)
    most_runs: ClassVar[int] = MOST_RUNS

    def __post_init__(self) -> None:
        check_choice("sampling", self.sampling, SAMPLINGS)
        if self.explore is not None:
            check_share("explore", self.explore)

    @property
    def name(self) -> str:
        """The method's name as ``solve`` takes it."""
        return full_name("mccfr", SamplingMethod, explore=self.explore, sampling=self.sampling)

    def job(self, compiled: Compiled, config: SolveConfig) -> SamplingJob:
        """Start work on the positions of a game; the kernels it needs are compiled before its clock runs.

        Raises ``ImperfectRecallError`` where a player forgets.
        """
        if config.form not in (None, "sampled"):
            raise UnsupportedGameError(f"mccfr samples; form={config.form} is for cfr and its family")
        runs = RUNS if config.runs is None else config.runs
        if compiled.graph.map_name:  # a walk follows the players' observations, and labels must not contain less
            compiled.check_recall()
        # without large constants, with which the variance of sampled values would grow
        walk = compiled.walk._replace(payoffs=compiled.walk.payoffs - payoff_offsets(compiled.walk.payoffs))
        ready("sampling")
        self._one(walk, 0).step(1)
        return SamplingJob(compiled, PooledMccfr(lambda seed: self._one(walk, seed), config.seed or 0, runs), self.name)

    def _one(self, walk: QuotientGraph, seed: int) -> Mccfr:
        if self.sampling == EXTERNAL:
            return Mccfr(walk, seed, explore=self.explore)
        return OutcomeMccfr(walk, seed, exploration=EXPLORATION if self.explore is None else self.explore)


class SamplingJob(Job):
    """The work of a pool of runs, which ends by itself when the memory is used up."""

    finished_as = "memory"

    def __init__(self, compiled: Compiled, pool: PooledMccfr, name: str) -> None:
        self.compiled, self.pool, self.name = compiled, pool, name

    @property
    def iteration(self) -> int:  # type: ignore[override]
        """The number of iterations of all runs together."""
        return self.pool.iteration

    def step(self, iterations: int, until: float = inf) -> None:
        try:
            self.pool.step(iterations, until)
        except BudgetError:
            self.total = self.iteration

    def next_check(self) -> int:
        """Return the next power of two, at least ``FIRST_CHECK``."""
        return max(FIRST_CHECK, 1 << self.iteration.bit_length())

    def policy(self) -> SampledPolicy | None:
        """Return the average strategies, without remnants of the first iterations."""
        if not self.iteration:
            return None
        made_by = {"method": self.name, "iterations": self.iteration}
        walk = self.compiled.walk
        return SampledPolicy.of(self.compiled.name, walk, self.pool.policy(RARE), made_by)

    def point(self, seconds: float) -> Point:
        """Return exact figures where the tree is small."""
        if not self.iteration or self.compiled.histories > min(self.compiled.limit, sizes.SAMPLES_EVALUATED):
            return Point(self.iteration, seconds)
        compiled, policy = self.compiled, self.pool.policy(RARE)
        self.nothing_to_gain = compiled.form.exploitability_of_rounding
        plays = QuotientPolicy(compiled.graph, compiled.walk, policy)
        found = evaluate_plan(compiled.form, plays.plan(compiled.tree, compiled.form))
        return Point(
            self.iteration, seconds, found.nash_conv, found.exploitability, found.epsilon, None, found.values
        )  # fmt: skip

    @property
    def about(self) -> str:
        return f"{self.pool.num_infosets:,} information sets, {self.pool.nbytes / 2**20:,.0f} MiB"

    def notes(self) -> dict[str, Any]:
        """Return the number of information sets met, and the memory they take."""
        return {"infosets": self.pool.num_infosets, "bytes": self.pool.nbytes}

    def save(self) -> dict[str, Any]:
        return self.pool.save()

    def restore(self, saved: dict[str, Any]) -> None:
        self.pool.restore(saved)
