"""Backward induction over stages, for two-player zero-sum games of perfect information with simultaneous actions.

Every state is a matrix game over the values of the states that follow (``tree.stage_pass``), all of which are solved
exactly, those of a level at once.  The profile is an equilibrium of every subgame.
"""

from __future__ import annotations

import time
from math import inf
from typing import Any

import numpy as np

from infoset.errors import CheckpointError
from infoset.policies.stage_policy import StagePlay, StagePolicy
from infoset.solvers.job import Job, Point, fit
from infoset.solvers.metrics import Evaluation
from infoset.tree.stage_form import StageForm
from infoset.tree.stage_pass import StagePass
from infoset.warm_up import ready

LARGEST_GAIN = 1e-9
"""As a share of the largest payoff: where a player gains more, the result is not exact."""


class StageJob(Job):
    """Backward induction over the stages of a game; an iteration is a batch of stages of one level."""

    def __init__(self, form: StageForm, name: str) -> None:
        self.form, self.name = form, name
        ready("stages")
        self.work = StagePass(form)
        self.total: int = len(self.work.batches)
        self.nothing_to_gain = LARGEST_GAIN * form.largest

    @property
    def finished_as(self) -> str:  # type: ignore[override]
        """``exact`` where the gains of best responses are rounding errors."""
        return "exact" if self.evaluation().epsilon <= LARGEST_GAIN * self.form.largest else "rounding errors"

    def step(self, iterations: int, until: float = inf) -> None:
        for _ in range(min(iterations, self.total - self.iteration)):
            self.work.step()
            self.iteration += 1
            if self.work.over:
                self.total = self.iteration
            if self.over or time.monotonic() >= until:
                return

    def policy(self) -> StagePolicy | None:
        """Return the policy once all stages are solved; ``None`` before that."""
        if not self.over:
            return None
        form, found, used = self.form, self.work.found, self.work.used
        made_by = {"method": self.name, "iterations": self.iteration}
        return StagePolicy(form.name, form.players, found.begin, found.expected[:used], made_by)

    def point(self, seconds: float) -> Point:
        """Return the exact figures, once all stages are solved."""
        if not self.over:
            return Point(self.iteration, seconds)
        found = self.evaluation()
        return Point(self.iteration, seconds, found.nash_conv, found.exploitability, found.epsilon, None, found.values)

    def evaluation(self) -> Evaluation:
        """Return exact figures by best responses over all states.  For a job that is over."""
        return _figures(self.work)

    def notes(self) -> dict[str, Any]:
        """Return the number of matrix games, the largest gap of one, and the bound of NashConv that all gaps prove."""
        gaps = self.work.gaps
        return {
            "stages": self.form.num_stages, "largest_gap": float(gaps.max()), "proven_nash_conv": float(gaps.sum()),
            "solved_in_fractions": self.work.solved_again,
        }  # fmt: skip

    def next_check(self) -> int:
        """Return the last iteration, since nothing is measured before that."""
        return self.total

    @property
    def about(self) -> str:
        return f"level {self.work.level + 1:,} of {len(self.form.arrays.levels):,}"

    def save(self) -> dict[str, Any]:
        return {
            "iteration": np.array(self.iteration), "done": np.array(self.work.done),
            **{name: array.copy() for name, array in self.work.state_arrays().items()},
        }  # fmt: skip

    def restore(self, saved: dict[str, Any]) -> None:
        iteration, done = (saved.get(name, np.array(-1)) for name in ("iteration", "done"))
        count = len(self.work.batches)
        if not all(np.ndim(some) == 0 and 0 <= int(some) <= count for some in (iteration, done)):
            raise CheckpointError("the checkpoint does not fit: it counts no batches of this game")
        self.work.done, self.iteration = int(done), int(iteration)
        fit(self.work.state_arrays(), saved)
        self.total = self.iteration if self.work.over else count


def evaluate_stages(play: StagePlay) -> Evaluation:
    """Return exact figures of a policy by stages: what it pays, and what best responses attain in all states.

    >>> from infoset.compiled import Compiled
    >>> from infoset.solvers.tabular.stages import evaluate_stages
    >>> solution = infoset.solve("goofspiel(num_cards=3)", "backward-induction")
    >>> evaluate_stages(solution.policy.on(Compiled.of("goofspiel(num_cards=3)"))).nash_conv < 1e-12
    True
    """
    ready("stages")
    work = StagePass(play.form, (play.policy.begin, play.policy.values))
    while not work.over:
        work.step()
    return _figures(work)


def _figures(work: StagePass) -> Evaluation:
    expected, best, worst = work.at_start()
    half = work.form.sum / 2
    return Evaluation.of((expected + half, half - expected), (best + half, half - worst))
