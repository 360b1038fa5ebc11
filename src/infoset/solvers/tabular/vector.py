"""Counterfactual regret minimisation on the vector form: the same schedules as on the sequence form, all hands at once.

Players take turns (alternating updates).  The average is weighted by each player's own reach, as on other forms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil, inf
from typing import Any

import numpy as np

from infoset.base import BoolArray, FloatArray
from infoset.errors import ParameterError
from infoset.policies.vector_policy import VectorPolicy
from infoset.solvers.job import Job, Point, restore_arrays
from infoset.solvers.metrics import Evaluation
from infoset.tree.public_form import PublicForm
from infoset.tree.public_tree import PLAYERS
from infoset.tree.vector_form import check_rows
from infoset.tree.vector_values import NO_LOCK, Figures, Walker, exact_figures
from infoset.tree.vector_walk import LARGEST, TRAIN, Learnt
from infoset.warm_up import ready

FIRST_CHECK, CHECK_GROWTH = 5, 1.25
"""Exact figures cost about three iterations, so that they are computed less often than elsewhere."""
HALF, SINGLE, DOUBLE = "half", "single", "double"
STORED = {HALF: np.int16, SINGLE: np.float32, DOUBLE: np.float64}
"""How regrets and averages are kept; ``half`` has a unit for each node besides."""

KERNELS = {HALF: "vector-half", SINGLE: "vector", DOUBLE: "vector-double"}
"""The sets of kernels to compile ahead."""


class VectorSolver(Job):
    """A method at work on a vector form."""

    breaks = False

    def __init__(
        self, form: PublicForm, name: str, rows: Callable[[float, int], FloatArray], predictive: bool,
        precision: str = SINGLE,
    ) -> None:  # fmt: skip
        """Take ``rows``, which returns the schedule's parameters (k, m) of k iterations from one on.

        Raises ``ParameterError`` for a predictive update in half precision, ``BudgetError`` where it does not fit.
        """
        self.form, self.name, self.rows, self.predictive = form, name, rows, predictive
        if predictive and precision == HALF:
            raise ParameterError(f"precision=half: {name} needs single or double; cfr, cfr+ and dcfr take half, too")
        check_rows(form.name, form.num_rows, precision, 2 + predictive)
        ready(KERNELS[precision])
        self.walker = Walker(form, np.float64 if precision == DOUBLE else np.float32)
        self.exact = self.walker if precision == DOUBLE else Walker(form, np.float64)
        dtype, count = STORED[precision], form.num_rows
        scales = np.ones((form.num_nodes * (precision == HALF), 2), self.walker.dtype)
        self.state = Learnt(
            np.zeros(count, dtype), np.zeros(count, dtype), np.zeros(count * predictive, dtype), scales, NO_LOCK
        )
        self.iteration = 0
        self.nothing_to_gain = 1e-12 * form.payoff_range
        self._figures: tuple[int, Figures] | None = None

    def keep_to(self, fixed: FloatArray, locked: BoolArray) -> None:
        """Fix the strategy in ``locked`` rows to the probabilities ``fixed`` (rows,), before the first iteration.

        Figures are then those of the rest, as in ``evaluate_plan``.
        """
        self.state = self.state._replace(locked=locked)
        self.state.regrets[locked] = fixed[locked] * self._one

    def start_at(self, strategy: FloatArray) -> None:
        """Begin with a strategy (rows,), before the first iteration."""
        self.state.regrets[:] = strategy * self._one

    @property
    def _one(self) -> float:
        """The number that stands for a probability of 1 among regrets."""
        return LARGEST if len(self.state.scales) else 1.0

    def step(self, iterations: int = 1, until: float = inf) -> None:
        for row in self.rows(self.iteration + 1.0, iterations).astype(self.walker.dtype):
            parameters = np.append(row, row[-1:])  # predictive updates have no factor for negative regrets
            for player in range(PLAYERS):
                self.walker.walk(player, TRAIN, self.state, self.state.regrets, self.state.ahead, parameters)
            self.iteration += 1

    def next_check(self) -> int:
        goal = FIRST_CHECK
        while goal <= self.iteration:
            goal = ceil(goal * CHECK_GROWTH)
        return goal

    def average(self) -> FloatArray:
        """Return what the average profile is proportional to, row by row; before the first iteration the current one.

        The last profile is not considered: it was further from an equilibrium throughout (docs/benchmarks.md).
        """
        state = self.state
        if not self.iteration or not len(state.locked):
            return state.average if self.iteration else state.regrets
        average = state.average.copy()
        average[state.locked] = state.regrets[state.locked]
        return average

    def evaluation(self) -> Evaluation:
        """Return exact figures of the policy."""
        if self._figures is None or self._figures[0] != self.iteration:
            self._figures = self.iteration, exact_figures(self.exact, self.average(), self.state.locked)
        figures, locked = self._figures[1], self.state.locked
        found = Evaluation.of(figures.values, figures.responses)
        if not len(locked):
            return found
        free = sum(not locked[self.form.rows_of_player(player)].all() for player in range(PLAYERS))
        return replace(found, exploitability=found.nash_conv / max(free, 1))

    def point(self, seconds: float) -> Point:
        """Return exact figures of the average profile."""
        found = self.evaluation()
        return Point(self.iteration, seconds, found.nash_conv, found.exploitability, found.epsilon, values=found.values)

    def policy(self) -> VectorPolicy:
        """Return the average profile."""
        return VectorPolicy.of(self.form, self.average(), {"method": self.name, "iterations": self.iteration})

    def notes(self) -> dict[str, Any]:
        """Return the form, its number of boards, and the bytes of regrets and averages."""
        size = sum(array.nbytes for array in self.state)
        return {"form": "vector", "boards": self.form.num_boards, "bytes": size}

    def save(self) -> dict[str, Any]:
        """Return copies of the arrays from which ``restore`` continues bit for bit."""
        state = self.state
        return {
            "iteration": np.array(self.iteration), "regrets": state.regrets.copy(), "average": state.average.copy(),
            "ahead": state.ahead.copy(), "scales": state.scales.copy(),
        }  # fmt: skip

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from ``save``.  Raises ``CheckpointError`` where the arrays do not fit; then nothing changes."""
        arrays = {name: getattr(self.state, name) for name in ("regrets", "average", "ahead", "scales")}
        self.iteration = restore_arrays(self.name, arrays, saved)
        self._figures = None
