"""The base of all tabular solvers: work with an average and a current profile that is stepped, saved and restored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from math import inf
from typing import Any, ClassVar

import numpy as np

from infoset.base import FloatArray
from infoset.compiled import Compiled
from infoset.errors import UnsupportedGameError
from infoset.policies.factored_policy import FactoredPolicy
from infoset.policies.tabular import TabularPolicy
from infoset.solvers.config import SolveConfig
from infoset.solvers.job import Background, Job, Limits, Point, restore_arrays
from infoset.solvers.method import Checked
from infoset.solvers.metrics import Evaluation, evaluate_plan, player_gains
from infoset.solvers.tabular.lock import locked_rows
from infoset.tree.factored_form import FactoredForm
from infoset.tree.payoff_scale import LAST_BITS
from infoset.tree.plans import behaviour, check_plan, normalised, random_interior, realisation, uniform
from infoset.tree.sequence_form import SequenceForm

LARGEST_GAIN = 1e-6
"""Share of its payoff range: where a player gains more, a result found in one step is not an equilibrium."""
INEXACT = "rounding errors"


class Solver(Job):
    """A method at work on a game.  ``arrays`` holds all that changes, at least ``plan`` and ``average``."""

    def __init__(self, form: SequenceForm, name: str, arrays: dict[str, FloatArray]) -> None:
        """Take ``arrays``: in ``plan`` (S,) current realisation weights, in ``average`` (S,) their weighted sum."""
        self.form, self.name, self.arrays = form, name, arrays
        self.iteration = 0
        self.nothing_to_gain = form.exploitability_of_rounding
        self.fixed = np.zeros(0)
        """(S,) fixed behaviour, negative where it is free; (0,) where all behaviour is free."""
        self.factored: FactoredForm | None = None
        """The factored form that it works on, if any; the policy is then the better of average and current profile."""
        self._better: tuple[int, str, FloatArray, Evaluation] | None = None

    def keep_to(self, fixed: FloatArray) -> None:
        """Fix behaviour (S,), negative where it is free; for methods that take a ``lock``."""
        raise NotImplementedError

    @abstractmethod
    def step(self, iterations: int = 1, until: float = inf) -> None:
        """Run ``iterations`` iterations."""

    def current(self) -> FloatArray:
        """Return the realisation weights (S,) of the profile that the next iteration starts from."""
        return self.arrays["plan"].copy()

    def average(self) -> FloatArray:
        """Return the realisation weights (S,) of the weighted average of all profiles so far."""
        return normalised(self.form, self.arrays["average"]) if self.iteration else self.current()

    def policy(self) -> TabularPolicy | FactoredPolicy | None:
        """Return the average as a table; ``None`` where a fixed number of iterations is not yet over."""
        if self.iteration < (self.total or 0):
            return None
        made_by: dict[str, Any] = {"method": self.name, "iterations": self.iteration}
        if self.factored is not None:
            _, profile, plan, _ = self._of_both()
            return FactoredPolicy.of(self.factored, behaviour(self.form, plan), made_by | {"profile": profile})
        strategy = behaviour(self.form, self.average())
        if len(self.fixed):
            strategy[self.fixed >= 0] = self.fixed[self.fixed >= 0]  # also at sets that are never reached
        return TabularPolicy.from_behaviour(self.form, strategy, made_by)

    def evaluation(self) -> Evaluation:
        """Return exact figures of the policy."""
        if self.factored is not None:
            return self._of_both()[-1]
        return evaluate_plan(self.form, self.average(), self.fixed)

    def _of_both(self) -> tuple[int, str, FloatArray, Evaluation]:
        """Return the iteration, name, realisation weights and figures of the better of average and current profile."""
        if self._better is None or self._better[0] != self.iteration:
            found = [
                (self.iteration, name, plan, evaluate_plan(self.form, plan))
                for name, plan in (("average", self.average()), ("current", self.current()))
            ]
            self._better = min(found, key=lambda one: one[-1].exploitability)
        return self._better

    def notes(self) -> dict[str, Any]:
        """Return, for a factored form, which profile the policy is, and the size of the form."""
        if self.factored is None:
            return {}
        symmetries = self.factored.group.order
        return {"form": "factored", "profile": self._of_both()[1], "symmetries": symmetries, "bytes": self.form.nbytes}

    def point(self, seconds: float) -> Point:
        """Return exact figures of the average profile, and the exploitability of the current one."""
        current = self.current()
        check_plan(self.form, current, self.name)
        found = self.evaluation()
        return Point(
            self.iteration, seconds, found.nash_conv, found.exploitability, found.epsilon,
            evaluate_plan(self.form, current, self.fixed).exploitability, found.values,
        )  # fmt: skip

    def save(self) -> dict[str, Any]:
        """Return copies of the arrays from which ``restore`` continues bit for bit."""
        return {"iteration": np.array(self.iteration), **{k: v.copy() for k, v in self.arrays.items()}}

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from ``save``.  Raises ``CheckpointError`` where the arrays do not fit; then nothing changes."""
        self.iteration = restore_arrays(self.name, self.arrays, saved)


class OneShotSolver(Solver):
    """A direct method behind the interface of iterative solvers: its only iteration finds the answer."""

    total = 1

    @property
    def finished_as(self) -> str:  # type: ignore[override]
        """``exact`` where every player's gain is negligible for the range of its payoffs, else ``INEXACT``."""
        form = self.form
        sizes = np.maximum(np.abs(form.lowest - form.offsets), np.abs(form.highest - form.offsets))
        most = LARGEST_GAIN * form.ranges + LAST_BITS * sizes
        return "exact" if (player_gains(form, self.average()) <= most).all() else INEXACT

    def __init__(self, form: SequenceForm, name: str, find: Callable[[], FloatArray]) -> None:
        """Take ``find``, which returns the realisation weights (S,) of an answer."""
        plan = realisation(form, uniform(form))
        super().__init__(form, name, {"plan": plan, "average": plan.copy()})
        self.find = find
        self._finding: Background[FloatArray] | None = None

    def step(self, iterations: int = 1, until: float = inf) -> None:
        if not iterations or self.iteration:
            return
        self._finding = self._finding or Background(self.find)
        if self._finding.wait(until):
            self.arrays["plan"][:] = self.arrays["average"][:] = self._finding.result
            self.iteration = 1

    def point(self, seconds: float) -> Point:
        """Return exact figures, none before the answer is found: those of the uniform profile might reach a target."""
        return super().point(seconds) if self.iteration else Point(0, seconds)


class OneShotProfile(OneShotSolver):
    """A direct method that finds behaviour at every information set, also at those that play does not reach."""

    def __init__(self, form: SequenceForm, name: str, find: Callable[[], FloatArray]) -> None:
        """Take ``find``, which returns behaviour (S,)."""
        super().__init__(form, name, self._plan)
        self.arrays["strategy"] = uniform(form)
        self.find_strategy = find

    def _plan(self) -> FloatArray:
        self.arrays["strategy"][:] = strategy = self.find_strategy()
        return realisation(self.form, strategy)

    def policy(self) -> TabularPolicy | None:
        """Return the behaviour found."""
        if not self.iteration:
            return None
        made_by = {"method": self.name, "iterations": self.iteration}
        return TabularPolicy.from_behaviour(self.form, self.arrays["strategy"].copy(), made_by)


class TabularMethod(Checked, ABC):
    """A method that works on the sequence form."""

    takes: ClassVar[frozenset[str]] = frozenset({"iterations", "target", "seconds", "start", "form"})
    default: ClassVar[Limits] = Limits(1000)

    @abstractmethod
    def solver(self, form: SequenceForm, start: FloatArray | None = None) -> Solver:
        """Return a solver of a game that starts from behaviour ``start`` (S,), uniform by default."""

    def job(self, compiled: Compiled, config: SolveConfig) -> Solver:
        """Return a solver of a game, with its kernels compiled."""
        factored = self._factored(compiled, config)
        form = compiled.form if factored is None else factored.form
        solver = self.solver(form, random_interior(form, config.seed or 0) if config.start == "random" else None)
        solver.factored = factored
        if config.lock:
            solver.keep_to(locked_rows(form, config.locked))
        solver.step(0)
        return solver

    def _factored(self, compiled: Compiled, config: SolveConfig) -> FactoredForm | None:
        """Return the factored form where it is asked for, or where no form is and the histories do not fit."""
        form = config.form
        if form is None and "form" in self.takes and not config.lock and compiled.works_factored:
            form = "factored"
        if form == "vector":
            raise UnsupportedGameError("form=vector is for cfr and its variants; this method works on other forms")
        if form == "sampled":
            raise UnsupportedGameError("form=sampled is for mccfr; this method works on the tree or the factored form")
        if form == "factored" and config.lock:
            raise UnsupportedGameError("lock names information sets of the tree; with it there is no factored form")
        return compiled.factored if form == "factored" else None
