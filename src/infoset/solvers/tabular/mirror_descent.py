"""Magnetic mirror descent (Sokota et al. 2023): last iterates that converge, without an average.

Each step responds to the others' last profile, close to the player's own last one, and is pulled towards a *magnet*, a
reference profile; the temperature is the strength of that pull.  With a fixed magnet the profile converges to a quantal
response equilibrium of the game in which leaving the magnet costs entropy, at a linear rate for two players with a
constant sum.  There are two ways to an equilibrium of the game itself: a falling temperature, or a magnet that is moved
to the current profile from time to time, as in R-NaD (Perolat et al. 2021).

Distances are dilated entropies of the sequence form, so that a step has a closed form, computed from the last
information sets up (Hoda, Gilpin, Peña & Sandholm 2010).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, isfinite, log
from typing import ClassVar

import numpy as np

from infoset.arguments import checks_arguments
from infoset.base import FloatArray
from infoset.errors import ParameterError
from infoset.jit import inner_kernel, kernel
from infoset.names import check_range, full_name
from infoset.solvers.job import Limits
from infoset.solvers.tabular.solver import Solver, TabularMethod
from infoset.tree.kernels import gradient, plan_down
from infoset.tree.plans import realisation, uniform
from infoset.tree.sequence_form import FormArrays, SequenceForm

SMALLEST = 1e-6  # the least weight of a set, relative to the player's largest


@checks_arguments
def mmd(
    temperature: float = 0.1, rate: float | None = None, refresh: int = 100, falling: bool = False
) -> MirrorDescent:
    """Magnetic mirror descent; what ``solve`` returns is the last profile.

    ``temperature``: the pull of the magnet, in units of what is at stake at an information set; with ``falling`` that
    of iteration t is ``temperature / sqrt(t)``.  ``rate``: the length of a step, in units of one over that; equal to
    the temperature by default, and larger values may cycle.  ``refresh``: the number of iterations after which the
    magnet is moved to the profile, 0 for never: then it stays uniform, and without ``falling`` the profile converges to
    a quantal response equilibrium.  Raises ``ParameterError`` for values out of range.

    >>> infoset.solve("kuhn_poker", infoset.mmd(), iterations=8000).exploitability < 1e-6
    True
    """
    for name, value in (("temperature", temperature), ("rate", rate)):
        if value is not None and not (isinstance(value, (int, float)) and isfinite(value) and value > 0):
            raise ParameterError(f"mmd: {name}={value} is not a number above 0")
    check_range("mmd: refresh", refresh, 0, 10**9)
    return MirrorDescent(float(temperature), None if rate is None else float(rate), refresh, bool(falling))


@dataclass(frozen=True)
class MirrorDescent(TabularMethod):
    """The method ``mmd``."""

    takes: ClassVar[frozenset[str]] = TabularMethod.takes - {"form"}
    default: ClassVar[Limits] = Limits(10_000, 1e-6)

    temperature: float
    rate: float | None
    refresh: int
    falling: bool

    @property
    def name(self) -> str:
        """The full name, as ``solve`` takes it."""
        given = {"temperature": self.temperature, "rate": self.rate, "refresh": self.refresh, "falling": self.falling}
        return full_name("mmd", mmd, **given)

    def solver(self, form: SequenceForm, start: FloatArray | None = None) -> MirrorDescentSolver:
        """Return a solver of a game that starts from interior behaviour ``start`` (S,), uniform by default."""
        return MirrorDescentSolver(form, self, start)


class MirrorDescentSolver(Solver):
    """Magnetic mirror descent at work on a game."""

    def __init__(self, form: SequenceForm, method: MirrorDescent, start: FloatArray | None) -> None:
        strategy = uniform(form) if start is None else np.array(start, dtype=np.float64)
        if not (strategy > 0).all():
            raise ParameterError(f"{method.name} must start inside: every move needs a positive probability")
        plan = realisation(form, strategy)
        arrays = {"plan": plan, "average": plan.copy(), "logs": np.log(strategy), "magnet": np.log(uniform(form))}
        super().__init__(form, method.name, arrays)
        self.method = method
        low, high = form.lowest - form.offsets, form.highest - form.offsets
        self.range = float(high.max() - low.min()) or 1.0
        self.weight = _weights(form) / self.range
        self.step(0)

    def step(self, iterations: int = 1, until: float = inf) -> None:
        t = np.arange(self.iteration + 1.0, self.iteration + iterations + 1.0)
        method = self.method
        heat = method.temperature / (np.sqrt(t) if method.falling else np.ones_like(t))
        _descend(
            self.form.arrays, self.arrays["plan"], self.weight, self.arrays["logs"], self.arrays["magnet"],
            heat * self.range, self.range / (method.rate or method.temperature), self.iteration, method.refresh,
        )  # fmt: skip
        self.arrays["average"][:] = self.arrays["plan"]
        self.iteration += iterations


def _weights(form: SequenceForm) -> FloatArray:
    """Return the weights (I,) of the entropy at each set.

    The weight of a set is the largest, over its moves, of the absolute payoffs that follow where the others play
    uniformly, plus the largest total weight of the sets that a move leads to, so that no set outweighs those before it.
    """
    ends, paid = form.terminals()
    plan, a = realisation(form, uniform(form)), form.arrays
    stake, later = np.zeros(form.num_sequences), np.zeros(form.num_sequences)
    weight = np.empty(form.num_infosets)
    for player in range(form.num_players):
        others = np.delete(np.arange(form.num_players), player)
        np.add.at(stake, ends[:, player], np.abs(paid[:, player]) * plan[ends[:, others]].prod(axis=1))
        for k in reversed(form.player_infosets(player)):
            actions = slice(int(a.first[k]), int(a.first[k]) + int(a.size[k]))
            weight[k] = stake[actions].max() + later[actions].max()
            stake[int(a.parent[k])] += stake[actions].max()
            later[int(a.parent[k])] += weight[k]
        own = weight[slice(*a.infosets[player : player + 2].tolist())]
        own[:] = np.maximum(own, SMALLEST * (float(own.max(initial=0.0)) or form.widest_range))
    return weight


@inner_kernel
def _settle(
    a: FormArrays, player: int, values: FloatArray, weight: FloatArray, logs: FloatArray, magnet: FloatArray,
    heat: float, inertia: float, strategy: FloatArray,
) -> None:  # fmt: skip
    """Apply the closed form of a step, from the last sets up, to ``logs`` of behaviour and to behaviour itself."""
    for k in range(a.infosets[player + 1] - a.infosets[player]):
        at = a.infosets[player + 1] - 1 - k
        first, last = a.first[at], a.first[at] + a.size[at]
        largest = -inf
        for q in range(first, last):
            logs[q] = (heat * magnet[q] + inertia * logs[q] + values[q] / weight[at]) / (heat + inertia)
            largest = max(largest, logs[q])
        total = 0.0
        for q in range(first, last):
            total += exp(logs[q] - largest)
        total = largest + log(total)
        for q in range(first, last):
            logs[q] -= total
            strategy[q] = exp(logs[q])
        values[a.parent[at]] += weight[at] * (heat + inertia) * total


@kernel
def _descend(
    a: FormArrays, plan: FloatArray, weight: FloatArray, logs: FloatArray, magnet: FloatArray, heats: FloatArray,
    inertia: float, before: int, refresh: int,
) -> None:  # fmt: skip
    """Run one iteration for each entry of ``heats``, for all players at once, after ``before`` earlier ones."""
    n = len(a.sequences) - 1
    values, strategy = np.empty_like(plan), np.ones_like(plan)
    for t in range(len(heats)):
        for player in range(n):
            gradient(a, player, plan, values)
        for player in range(n):
            _settle(a, player, values, weight, logs, magnet, heats[t], inertia, strategy)
            plan_down(a, player, strategy, plan)
        if refresh and (before + t + 1) % refresh == 0:
            magnet[:] = logs
