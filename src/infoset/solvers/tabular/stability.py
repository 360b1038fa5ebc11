"""Stability of a profile under the replicator dynamics: whether it is a rest point, and whether it is stable.

The dynamics of behaviour at every information set, ``dσ(I, a)/dτ = σ(I, a) (v(I, a) - v(I))`` with counterfactual
values ``v`` (Lanctot 2014, equation 4), are linearised at the profile: the result is the eigenvalues of the Jacobian
restricted to directions that keep the sum of probabilities at 1. If all real parts are below 0, disturbances die out;
if one is above 0, some grow; at 0 the linear part does not decide (in zero-sum games interior rest points are centres,
which the dynamics orbit).

Information sets that a player's own behaviour never reaches have no weight in the sequence form and do not count; a
move that leads there has the value of the best continuation, since the sequence that pays most grows fastest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from infoset.base import FloatArray
from infoset.errors import BudgetError
from infoset.solvers.metrics import best_behaviour
from infoset.tree.kernels import expect_up, gradient
from infoset.tree.plans import realisation
from infoset.tree.sequence_form import SequenceForm

MOST_MOVES = 3000
STEP, REACHED = 1e-5, 1e-9
ZERO = 1e-7
"""Share of the payoff range up to which a speed, or the real part of an eigenvalue, counts as 0."""


@dataclass(frozen=True)
class Stability:
    """The behaviour of replicator dynamics at and near a profile."""

    speed: float
    """The largest change of a probability per unit of time; 0 at a rest point."""
    eigenvalues: npt.NDArray[np.complex128] = field(repr=False)
    """(N - I,) complex, of N moves at the I information sets that count, the largest real part first."""
    scale: float
    """The range of the payoffs, the unit in which a speed is small."""

    @property
    def rests(self) -> bool:
        """Whether it is a rest point."""
        return self.speed <= ZERO * self.scale

    @property
    def verdict(self) -> str:
        """``stable``, ``unstable`` or ``neutral``; ``no rest point``."""
        if not self.rests:
            return "no rest point"
        largest = float(self.eigenvalues.real.max(initial=-np.inf))
        if largest > ZERO * self.scale:
            return "unstable"
        return "stable" if largest < -ZERO * self.scale else "neutral"

    def body(self) -> dict[str, Any]:
        """Return the figures as JSON; an eigenvalue is a list of its real and its imaginary part."""
        pairs = [[float(one.real), float(one.imag)] for one in self.eigenvalues]
        return {"verdict": self.verdict, "speed": self.speed, "eigenvalues": pairs}

    def __str__(self) -> str:
        real, small = self.eigenvalues.real, ZERO * self.scale
        counts = f"{(real > small).sum()} above, {(np.abs(real) <= small).sum()} at, {(real < -small).sum()} below 0"
        largest = f"{float(real.max()):.6g}" if len(real) else "-"
        return (
            f"replicator dynamics: {self.verdict}\nspeed             {self.speed:.3e}\n"
            f"eigenvalues       {len(real)}: real parts {counts}; the largest {largest}"
        )


def stability(form: SequenceForm, strategy: FloatArray) -> Stability:
    """Return the stability of behaviour (S,).  Raises ``BudgetError`` for more than 3,000 moves.

    >>> from infoset.solvers.tabular.stability import stability
    >>> form = infoset.SequenceForm.of(infoset.load("rock_paper_scissors"))
    >>> stability(form, infoset.behaviour(form, infoset.linear_program(form))).verdict
    'neutral'
    """
    count = form.num_sequences - form.num_players
    if count > MOST_MOVES:
        raise BudgetError(f"{form.name} has {count:,} moves; the stability of up to {MOST_MOVES:,} is worked out")
    plan, owner = realisation(form, strategy), form.infoset_of
    counts = np.append(plan[form.arrays.parent] > REACHED, False)[owner]  # empty sequences do not count
    strategy = np.where(counts | (owner < 0), strategy, best_behaviour(form, plan))
    actions = np.flatnonzero(counts)
    last = (form.arrays.first + form.arrays.size - 1)[owner[actions]]
    free = np.flatnonzero(actions != last)
    slopes = np.empty((len(free), len(free)))
    for column, k in enumerate(free):
        moved = [strategy.copy() for _ in range(2)]
        for sign, one in zip((1.0, -1.0), moved, strict=True):  # values are polynomials, also defined off the simplex
            one[actions[k]] += sign * STEP
            one[last[k]] -= sign * STEP
        slopes[:, column] = ((_velocity(form, moved[0]) - _velocity(form, moved[1])) / (2 * STEP))[actions[free]]
    found = np.asarray(np.linalg.eigvals(slopes) if len(free) else [], dtype=np.complex128)
    found = found[np.argsort(-found.real, kind="stable")]
    speed = float(np.abs(_velocity(form, strategy)[actions]).max(initial=0.0))
    return Stability(speed, found, form.widest_range)


def _velocity(form: SequenceForm, strategy: FloatArray) -> FloatArray:
    """Return the time derivative (S,) of each probability."""
    plan, values, infoset_values = (
        realisation(form, strategy),
        np.zeros(form.num_sequences),
        np.zeros(form.num_infosets),
    )
    for player in range(form.num_players):
        gradient(form.arrays, player, plan, values)
        expect_up(form.arrays, player, strategy, values, infoset_values)
    owner = form.infoset_of
    inside = owner >= 0
    speed = np.zeros(form.num_sequences)
    speed[inside] = strategy[inside] * (values[inside] - infoset_values[owner[inside]])
    return speed
