"""Correlated equilibria: a mediator draws a plan for every player and recommends it, and all players obey.

There are four notions, from the strongest to the weakest; each requires that no player gains by a deviation:

- ``ce``: a player is recommended its whole plan and may then play any other (Aumann 1974);
- ``efce``: it is recommended each move when it reaches the information set and may leave the plan from there on,
  without further recommendations (von Stengel & Forges 2008);
- ``efcce``: it decides at an information set, before the recommendation there, whether to leave (Farina, Bianchi &
  Sandholm 2020);
- ``cce``: it decides before any recommendation (Moulin & Vial 1978).

The best equilibrium of a kind, for all players together or for one, is found by a linear program
(``correlated_programs``); the gains that a given plan leaves are computed by backward induction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from infoset import status
from infoset.arguments import checks_arguments
from infoset.base import BoolArray, FloatArray
from infoset.compiled import AnyGame, Compiled
from infoset.errors import PolicyError, UnknownNameError, UnsupportedGameError
from infoset.names import check_choice, full_name
from infoset.policies.correlated_policy import CorrelatedPolicy
from infoset.solvers.job import Limits, OneCall, Point
from infoset.solvers.method import Checked, Options
from infoset.solvers.metrics import Evaluation
from infoset.solvers.tabular.correlated_programs import Variables, solve_program, variables_of
from infoset.solvers.tabular.deviations import KINDS, Deviation, Leaver
from infoset.tree.normal_form import plans_table
from infoset.tree.plans import realisation
from infoset.tree.sequence_form import SequenceForm

WELFARE = "welfare"
LEFT, NOUGHT = 1e-7, 1e-14
PURE = 1e-6


@dataclass(frozen=True)
class CorrelatedPlan:
    """A distribution of pure plans from which the mediator draws."""

    form: SequenceForm = field(repr=False)
    probabilities: FloatArray
    """(K,) probabilities of the plans; they sum to 1."""
    plans: BoolArray = field(repr=False)
    """(K, S) the sequences of all players that each plan plays."""
    bound: float | None = None
    """An upper bound on the objective over all plans of the kind; ``None`` where this plan is optimal."""

    @property
    def values(self) -> tuple[float, ...]:
        """(n,) each player's expected payoff where all obey."""
        ends, paid = self.form.terminals()
        weight = self.probabilities @ _together(self.plans, ends.T)
        found, largest = weight @ paid, np.abs(paid).max(axis=0, initial=0.0)
        return tuple((np.where(np.abs(found) > NOUGHT * largest, found, 0.0) + self.form.offsets).tolist())

    def gains(self, kind: str) -> tuple[float, ...]:
        """Return (n,) the most that each player gains by one deviation that ``kind`` allows; all 0 at an equilibrium.

        A deviation is from one recommendation (``ce``, ``efce``), at one information set (``efcce``) or from the start,
        and is weighted by the probability that it occurs.
        """
        check_choice("kind", kind, KINDS)
        return tuple([self._gain(Leaver(self.form, player), kind) for player in range(self.form.num_players)])

    def _gain(self, leaver: Leaver, kind: str) -> float:
        own = np.unique(self.plans[:, self.form.player_sequences(leaver.player)], axis=0) if kind == "ce" else None
        return max((self._gain_by(leaver, one) for one in leaver.deviations(kind, own)), default=0.0)

    def _gain_by(self, leaver: Leaver, deviation: Deviation) -> float:
        recommended = self.plans[:, deviation.recommended]
        concerned = np.flatnonzero(recommended if recommended.ndim == 1 else recommended.all(axis=1))
        if not len(concerned) or not deviation.sets:
            return 0.0
        probabilities, plans = self.probabilities[concerned], self.plans[concerned]
        others = [p for p in range(self.form.num_players) if p != leaver.player]
        paid = np.zeros(len(leaver.paid))
        for k in deviation.sets:
            rows = leaver.rows_after(leaver.actions(k))
            paid[rows] = probabilities @ _together(plans, leaver.ends[rows][:, others].T) * leaver.paid[rows]
        ends = leaver.ends[deviation.obeying].T
        obeying = float(probabilities @ _together(plans, ends) @ leaver.paid[deviation.obeying])
        return max(_best_leaving(leaver, deviation.sets, paid) - obeying, 0.0)

    @property
    def policy(self) -> CorrelatedPolicy:
        """The policy of all players, a lottery over the plans."""
        everybody = tuple(range(self.form.num_players))
        return CorrelatedPolicy.of(self.form, [(everybody, self.probabilities, list(self.plans.astype(float)))])

    @classmethod
    def drawn(cls, form: SequenceForm, policy: CorrelatedPolicy) -> CorrelatedPlan:
        """Return the plans of a policy with one lottery for all players.  Raises ``PolicyError`` for plans not pure."""
        (lottery,), plans = policy.lotteries, []
        for k in range(len(lottery.probabilities)):
            plan = realisation(form, policy.table([k]).behaviour(form))
            if (np.abs(plan - np.rint(plan)) > PURE).any():
                raise PolicyError(f"plan {k + 1} draws moves itself; correlated plans are pure")
            plans.append(plan > 0.5)
        return cls(form, lottery.probabilities, np.array(plans))

    def evaluation(self) -> Evaluation:
        """Return payoffs and the gains of ``cce``; ``reason`` reports the largest gain of each notion."""
        gains = {kind: self.gains(kind) for kind in KINDS}
        recommended = ", ".join(f"{kind} {max(found):.3g}" for kind, found in gains.items())
        paid = np.array(self.values) - self.form.offsets
        found = Evaluation.of(paid, paid + gains["cce"], self.form.offsets)
        return replace(found, reason=f"a mediator draws a plan; largest gain by a deviation: {recommended}")

    def body(self) -> dict[str, Any]:
        """Return the figures as JSON: each plan's chance, and by player its move at each set that the plan reaches."""
        plans = []
        for chance, plan in zip(self.probabilities.tolist(), self.plans, strict=True):
            recommended: dict[str, dict[str, str]] = {name: {} for name in self.form.players}
            for k, key in enumerate(self.form.keys):
                first = int(self.form.arrays.first[k])
                own = plan[first : first + int(self.form.arrays.size[k])]
                if own.any():
                    recommended[self.form.players[int(self.form.infoset_player[k])]][key] = self.form.actions[k][
                        int(own.argmax())
                    ]
            plans.append({"chance": chance, "moves": recommended})
        values = dict(zip(self.form.players, self.values, strict=True))
        return {"game": self.form.name, "values": values, "bound": self.bound, "plans": plans}

    def __str__(self) -> str:
        lines = [", ".join(f"{name} {value:+.9g}" for name, value in zip(self.form.players, self.values, strict=True))]
        lines += plans_table(self.form, range(self.form.num_players), self.probabilities.tolist(), list(self.plans))
        if self.bound is not None:
            lines.append(
                f"no plan of the kind pays more than {self.bound:.9g}; whether one pays more than this is open"
            )
        return "\n".join(lines)


def _together(plans: BoolArray, sequences: Any) -> BoolArray:
    """Return (K, T) whether each plan plays all of the sequences (players, T)."""
    found = np.ones((len(plans), sequences.shape[1]), dtype=bool)
    for own in sequences:
        found &= plans[:, own]
    return found


def _best_leaving(leaver: Leaver, first: tuple[int, ...], paid: FloatArray) -> float:
    """Return the most that a player can get from its sets ``first`` on, where the rows pay ``paid`` (T,)."""
    best_values: dict[int, float] = {}
    for k in reversed(leaver.sets_after(first)):
        after = [sum(best_values.get(one, 0.0) for one in leaver.below.get(action, [])) for action in leaver.actions(k)]
        at_once = [paid[rows.start : rows.stop].sum() for rows in map(leaver.rows, leaver.actions(k))]
        best_values[k] = max(float(one + other) for one, other in zip(after, at_once, strict=True))
    return sum(best_values[k] for k in first)


@checks_arguments
def correlated_equilibrium(game: AnyGame, kind: str = "efce", objective: str = WELFARE) -> CorrelatedPlan:
    """Return the equilibrium of a ``kind`` that is best for all together, or for the player named by ``objective``.

    Raises ``ParameterError`` for an unknown kind, ``UnknownNameError`` for an unknown objective, ``BudgetError`` where
    the program is too large, ``UnsupportedGameError`` where no plan is found that all obey.  By HiGHS.

    >>> file = infoset.convert("rock_paper_scissors", "rps.nfg")
    >>> plan = infoset.correlated_equilibrium(str(file), "cce")
    >>> plan.values, max(plan.gains("cce")) < 1e-9
    ((0.0, 0.0), True)
    """
    check_choice("kind", kind, KINDS)
    compiled = Compiled.of(game)
    _check_objective(objective, compiled.players)
    return _best(compiled, variables_of(compiled, kind), kind, objective)


def _best(compiled: Compiled, variables: Variables, kind: str, objective: str) -> CorrelatedPlan:
    form = compiled.form
    favoured = range(form.num_players) if objective == WELFARE else [form.players.index(objective)]
    with status.during(f"solving the linear program of correlated plans, {variables.count:,} variables"):
        plan = CorrelatedPlan(form, *solve_program(form, variables, kind, favoured))
    if (np.array(plan.gains(kind)) > LEFT * form.ranges).any():
        raise UnsupportedGameError(f"{form.name}: the plan found by HiGHS is not an equilibrium, by rounding errors")
    return plan


def _check_objective(objective: str, players: Sequence[str]) -> None:
    """Raise ``UnknownNameError`` for an objective that is neither welfare nor a player."""
    if objective != WELFARE and objective not in players:
        raise UnknownNameError("objective", objective, [WELFARE, *players])


@dataclass(frozen=True)
class CorrelatedMethod(Checked):
    """The best plan for a mediator to draw, so that all obey: a correlated equilibrium."""

    kind: str = "efce"
    """``ce``, ``efce``, ``efcce`` or ``cce``: when a player may deviate."""
    objective: str = WELFARE
    """The objective: ``welfare``, the sum over all players, or a player's name."""

    takes: ClassVar[frozenset[str]] = frozenset()
    default: ClassVar[Limits] = Limits()

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)

    @property
    def name(self) -> str:
        """The full name, as ``solve`` takes it."""
        return full_name("correlated", CorrelatedMethod, kind=self.kind, objective=self.objective)

    def job(self, compiled: Compiled, options: Options) -> CorrelatedJob:
        """Return the work of the linear program.  Raises ``UnknownNameError`` for an objective that is no player."""
        _check_objective(self.objective, compiled.players)
        variables = variables_of(compiled, self.kind)  # raises here where there are too many
        return CorrelatedJob(lambda: _best(compiled, variables, self.kind, self.objective))


class CorrelatedJob(OneCall[CorrelatedPlan]):
    """The linear program at work."""

    def policy(self) -> CorrelatedPolicy | None:
        """Return the lottery from which the mediator draws."""
        return None if self.found is None else self.found.policy

    def evaluation(self) -> Evaluation | None:
        return None if self.found is None else self.found.evaluation()

    def notes(self) -> dict[str, Any]:
        """Return the upper bound, where the plan is not known to be optimal."""
        return {} if self.found is None or self.found.bound is None else {"bound": self.found.bound}

    def point(self, seconds: float) -> Point:
        return Point(self.iteration, seconds, values=None if self.found is None else self.found.values)
