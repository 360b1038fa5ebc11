"""Sequence-form replicator dynamics (Gatti, Panozzo & Restelli 2013; Lanctot 2014): discrete and continuous."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import ClassVar, NamedTuple

import numpy as np

from infoset.arguments import checks_arguments
from infoset.base import FloatArray
from infoset.errors import ParameterError
from infoset.jit import kernel, linked_kernel
from infoset.names import full_name
from infoset.solvers.tabular import updates
from infoset.solvers.tabular.cfr import HORIZON, discount
from infoset.solvers.tabular.loop import Method
from infoset.solvers.tabular.solver import Solver, TabularMethod
from infoset.solvers.tabular.updates import softmax
from infoset.tree.kernels import expect_up, gradient, plan_down
from infoset.tree.plans import uniform
from infoset.tree.sequence_form import FormArrays, SequenceForm

LARGEST_STEP = 1e18


@checks_arguments
def sfrd(shift: float | None = None, averaging: float = 0.0, alternating: bool = True) -> Replicator:
    """Discrete replicator dynamics in the sequence form (Lanctot 2014, equation 3).

    ``shift`` c, in units of payoffs, makes every shifted payoff positive; 1 - smallest payoff by default.  Raises
    ``ParameterError`` for a shift that is not finite, and, once the game is known, for one that is too small.

    >>> infoset.solve(infoset.load("kuhn_poker"), infoset.sfrd(shift=3.0), iterations=400).nash_conv < 0.1
    True
    """
    if shift is not None and (isinstance(shift, bool) or not (isinstance(shift, (int, float)) and isfinite(shift))):
        raise ParameterError(f"sfrd: shift={shift} is not a finite number")
    return Replicator(shift, averaging, alternating)


@dataclass(frozen=True)
class Replicator(TabularMethod):
    """The method ``sfrd``: its shift depends on the game, so that a ``Method`` is made once the game is known."""

    takes: ClassVar[frozenset[str]] = Method.takes

    shift: float | None
    averaging: float
    alternating: bool

    @property
    def name(self) -> str:
        """The full name, as ``solve`` takes it."""
        return full_name("sfrd", sfrd, shift=self.shift, averaging=self.averaging, alternating=self.alternating)

    def solver(self, form: SequenceForm, start: FloatArray | None = None) -> Solver:
        """Return a solver that starts from behaviour ``start`` (S,), uniform by default.  Raises ``ParameterError``."""
        lowest = float((form.lowest - form.offsets).min())
        shift = 1 - lowest if self.shift is None else self._given_shift(form, float(self.shift))
        average = discount(self.averaging, HORIZON)

        def schedule(t: FloatArray) -> FloatArray:
            return np.stack([average(t), np.full_like(t, shift)], axis=1)

        method = Method(self.name, updates.replicator, schedule, 2, self.alternating, from_logits=True)
        return method.solver(form, start)

    def _given_shift(self, form: SequenceForm, shift: float) -> float:
        """Return the shift of the form's payoffs, which are less its offsets.  Raises ``ParameterError``."""
        if shift + (lowest := form.smallest_payoff) <= 0:
            raise ParameterError(
                f"sfrd: shift={shift:g} leaves the payoff {lowest:g} at {shift + lowest:g}; it must exceed {-lowest:g}"
            )
        if np.ptp(form.offsets) > 0:
            raise ParameterError(
                f"sfrd: shift={shift:g} is the same for all players, whose payoffs here begin at "
                f"{', '.join(f'{low:g}' for low in form.lowest)}; without it each player has its own"
            )
        return shift + float(form.offsets[0])


class FlowState(NamedTuple):
    """The state of the continuous dynamics; (S,) each."""

    logits: FloatArray  # (1, S) sigma = softmax(logits)
    plan: FloatArray  # realisation weights now
    average: FloatArray  # integral of the realisation weights over time


@linked_kernel
def _velocity(a: FormArrays, logits: FloatArray, strategy: FloatArray, plan: FloatArray, values: FloatArray) -> None:
    """Compute the profile at ``logits`` and the logits' derivative, the counterfactual values (eq. 4 in behaviour)."""
    infoset_values = np.empty(len(a.first))
    for k in range(len(a.first)):
        softmax(a.first[k], a.first[k] + a.size[k], logits, strategy)
    for player in range(a.rows.shape[0]):
        plan_down(a, player, strategy, plan)
    for player in range(a.rows.shape[0]):
        gradient(a, player, plan, values)
        expect_up(a, player, strategy, values, infoset_values)


@kernel
def _flow(a: FormArrays, s: FlowState, step: float, steps: int) -> None:
    """Run classical Runge-Kutta steps on logits and on the integral of the plan, for all players at once."""
    size = s.logits.shape[1]
    strategy, plan = np.ones(size), np.ones(size)
    slope, total, area = np.empty(size), np.empty(size), np.empty(size)
    trial = np.empty((1, size))
    for _ in range(steps):
        total[:] = 0.0
        area[:] = 0.0
        trial[0] = s.logits[0]
        for stage in range(4):
            _velocity(a, trial, strategy, plan, slope)
            weight = 1.0 / 3.0 if stage in (1, 2) else 1.0 / 6.0
            total += weight * slope
            area += weight * plan
            trial[0] = s.logits[0] + (step if stage == 2 else step / 2) * slope
        s.logits[0] += step * total
        s.average[:] += step * area
    trial[0] = s.logits[0]  # a copy: the number of calls must not change the trajectory
    _velocity(a, trial, strategy, s.plan, slope)


@dataclass(frozen=True)
class ContinuousReplicator(TabularMethod):
    """The method ``sfrd-continuous``: eq. 4 integrated with Runge-Kutta; one iteration is one ``step`` of time."""

    step: float

    @property
    def name(self) -> str:
        """The full name, as ``solve`` takes it."""
        return full_name("sfrd-continuous", sfrd_continuous, step=self.step)

    def solver(self, form: SequenceForm, start: FloatArray | None = None) -> Solver:
        """Return a solver of a game that starts from behaviour ``start`` (S,), uniform by default."""
        return FlowSolver(form, self, start)


@checks_arguments
def sfrd_continuous(step: float = 0.25) -> ContinuousReplicator:
    """Continuous replicator dynamics in the sequence form (Lanctot 2014, equation 4).

    An iteration is ``step`` units of time.  The payoff shift cancels; a step of 0.25 is stable for payoffs of a few
    units.  Raises ``ParameterError`` for a step out of range.

    >>> infoset.solve(infoset.load("kuhn_poker"), infoset.sfrd_continuous(), iterations=400).nash_conv < 0.1
    True
    """
    if not 0 < step <= LARGEST_STEP:
        raise ParameterError(f"sfrd-continuous: step={step} is out of range; allowed: above 0, up to {LARGEST_STEP:g}")
    return ContinuousReplicator(float(step))


class FlowSolver(Solver):
    """Continuous dynamics at work; ``average`` is the time average of the realisation plan."""

    def __init__(self, form: SequenceForm, method: ContinuousReplicator, start: FloatArray | None = None) -> None:
        strategy = uniform(form) if start is None else np.asarray(start, dtype=np.float64)
        if not (strategy > 0).all():
            raise ParameterError("sfrd-continuous must start inside: every move needs a positive probability")
        self.state = FlowState(np.log(strategy)[None], np.ones(len(strategy)), np.zeros(len(strategy)))
        super().__init__(form, method.name, self.state._asdict())
        self.method = method
        _flow(form.arrays, self.state, method.step, 0)

    def step(self, iterations: int = 1, until: float = inf) -> None:
        _flow(self.form.arrays, self.state, self.method.step, iterations)
        self.iteration += iterations
