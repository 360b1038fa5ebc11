"""Correlated equilibria: a mediator draws a plan for everybody, tells each player its own, and all obey.

Four notions, from the strongest to the weakest; whoever would gain by a deviation keeps a plan from being one of them:

- ``ce``: a player is told its whole plan and may then play any other (Aumann 1974);
- ``efce``: it is told each move when it gets there and may leave the plan from there on, hearing no more (von Stengel &
  Forges 2008);
- ``efcce``: it decides at an information set, before it is told the move there, whether to leave (Farina, Bianchi &
  Sandholm 2020);
- ``cce``: it decides before it is told anything (Moulin & Vial 1978).

The best one of a kind, for all together or for one player, is a linear program (``correlated_programs``); what a given
one leaves to be gained is worked out from the end of the game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from infoset import signs
from infoset.arguments import checks_arguments
from infoset.base import BoolArray, FloatArray
from infoset.compiled import AnyGame, Compiled
from infoset.errors import PolicyError, UnknownNameError, UnsupportedGameError
from infoset.names import check_choice, full_name
from infoset.policies.correlated_policy import CorrelatedPolicy
from infoset.solvers.method import Checked, Options
from infoset.solvers.metrics import Evaluation
from infoset.solvers.tabular.correlated_programs import Variables, solve_program, variables_of
from infoset.solvers.tabular.deviations import KINDS, Deviation, Leaver
from infoset.solvers.work import Limits, OneCall, Point
from infoset.tree.normal_form import plans_table
from infoset.tree.plans import realisation
from infoset.tree.sequence_form import SequenceForm

WELFARE = "welfare"
LEFT, NOUGHT = 1e-7, 1e-14
PURE = 1e-6


@dataclass(frozen=True)
class CorrelatedPlan:
    """What the mediator draws, and how likely."""

    form: SequenceForm = field(repr=False)
    chances: FloatArray
    """(K,) they sum to 1."""
    plans: BoolArray = field(repr=False)
    """(K, S) which sequences each one plays, of all players."""
    bound: float | None = None
    """What no plan of the kind pays more than to those whom it was to be best for; ``None`` where this one is best."""

    @property
    def values(self) -> tuple[float, ...]:
        """(n,) what each player is paid where all obey."""
        ends, paid = self.form.terminals()
        weight = self.chances @ _together(self.plans, ends.T)
        found, largest = weight @ paid, np.abs(paid).max(axis=0, initial=0.0)
        return tuple((np.where(np.abs(found) > NOUGHT * largest, found, 0.0) + self.form.offsets).tolist())

    def gains(self, kind: str) -> tuple[float, ...]:
        """(n,) the most that each player gains by one deviation that ``kind`` allows; all 0 at an equilibrium.

        One deviation is from one advice (``ce``, ``efce``), at one information set (``efcce``), or from the start, and
        counts as often as it comes to that.
        """
        check_choice("kind", kind, KINDS)
        return tuple([self._gain(Leaver(self.form, player), kind) for player in range(self.form.num_players)])

    def _gain(self, leaver: Leaver, kind: str) -> float:
        own = np.unique(self.plans[:, self.form.player_sequences(leaver.player)], axis=0) if kind == "ce" else None
        return max((self._gain_by(leaver, one) for one in leaver.deviations(kind, own)), default=0.0)

    def _gain_by(self, leaver: Leaver, deviation: Deviation) -> float:
        told = self.plans[:, deviation.told]
        concerned = np.flatnonzero(told if told.ndim == 1 else told.all(axis=1))
        if not len(concerned) or not deviation.sets:
            return 0.0
        chances, plans = self.chances[concerned], self.plans[concerned]
        others = [p for p in range(self.form.num_players) if p != leaver.player]
        paid = np.zeros(len(leaver.paid))
        for k in deviation.sets:
            rows = leaver.rows_behind(leaver.moves(k))
            paid[rows] = chances @ _together(plans, leaver.ends[rows][:, others].T) * leaver.paid[rows]
        ends = leaver.ends[deviation.obeying].T
        obeying = float(chances @ _together(plans, ends) @ leaver.paid[deviation.obeying])
        return max(_best_leaving(leaver, deviation.sets, paid) - obeying, 0.0)

    @property
    def policy(self) -> CorrelatedPolicy:
        """What everybody plays once the mediator has drawn."""
        everybody = tuple(range(self.form.num_players))
        return CorrelatedPolicy.of(self.form, [(everybody, self.chances, list(self.plans.astype(float)))])

    @classmethod
    def drawn(cls, form: SequenceForm, policy: CorrelatedPolicy) -> CorrelatedPlan:
        """What a policy of one lottery for all players draws.  Raises ``PolicyError`` for plans that are not pure."""
        (lottery,), plans = policy.lotteries, []
        for k in range(len(lottery.chances)):
            plan = realisation(form, policy.table([k]).behaviour(form))
            if (np.abs(plan - np.rint(plan)) > PURE).any():
                raise PolicyError(f"plan {k + 1} draws moves itself; correlated plans are pure")
            plans.append(plan > 0.5)
        return cls(form, lottery.chances, np.array(plans))

    def evaluation(self) -> Evaluation:
        """What everybody is paid, and gains by leaving before it is told anything; ``reason`` has the other notions."""
        gains = {kind: self.gains(kind) for kind in KINDS}
        told = ", ".join(f"{kind} {max(found):.3g}" for kind, found in gains.items())
        paid = np.array(self.values) - self.form.offsets
        found = Evaluation.of(paid, paid + gains["cce"], self.form.offsets)
        return replace(found, reason=f"a mediator draws; the most that somebody gains by a deviation: {told}")

    def body(self) -> dict[str, Any]:
        """The figures as JSON: of each plan its chance, and by player the move at each set to which it comes."""
        plans = []
        for chance, plan in zip(self.chances.tolist(), self.plans, strict=True):
            told: dict[str, dict[str, str]] = {name: {} for name in self.form.players}
            for k, key in enumerate(self.form.keys):
                first = int(self.form.arrays.first[k])
                own = plan[first : first + int(self.form.arrays.size[k])]
                if own.any():
                    told[self.form.players[int(self.form.infoset_player[k])]][key] = self.form.actions[k][
                        int(own.argmax())
                    ]
            plans.append({"chance": chance, "moves": told})
        values = dict(zip(self.form.players, self.values, strict=True))
        return {"game": self.form.name, "values": values, "bound": self.bound, "plans": plans}

    def __str__(self) -> str:
        lines = [", ".join(f"{name} {value:+.9g}" for name, value in zip(self.form.players, self.values, strict=True))]
        lines += plans_table(self.form, range(self.form.num_players), self.chances.tolist(), list(self.plans))
        if self.bound is not None:
            lines.append(
                f"no plan of the kind pays more than {self.bound:.9g}; whether one pays more than this is open"
            )
        return "\n".join(lines)


def _together(plans: BoolArray, sequences: Any) -> BoolArray:
    """(K, T) which plans play all the sequences (players, T)."""
    found = np.ones((len(plans), sequences.shape[1]), dtype=bool)
    for own in sequences:
        found &= plans[:, own]
    return found


def _best_leaving(leaver: Leaver, first: tuple[int, ...], paid: FloatArray) -> float:
    """The most that a player gets from its first sets on, where the rows pay ``paid`` (T,)."""
    worth: dict[int, float] = {}
    for k in reversed(leaver.sets_behind(first)):
        after = [sum(worth.get(one, 0.0) for one in leaver.below.get(move, [])) for move in leaver.moves(k)]
        at_once = [paid[rows.start : rows.stop].sum() for rows in map(leaver.rows, leaver.moves(k))]
        worth[k] = max(float(one + other) for one, other in zip(after, at_once, strict=True))
    return sum(worth[k] for k in first)


@checks_arguments
def correlated_equilibrium(game: AnyGame, kind: str = "efce", objective: str = WELFARE) -> CorrelatedPlan:
    """The plan of a ``kind`` that is best for all together, or for the player named by ``objective``.

    Raises ``ParameterError`` and ``UnknownNameError`` for what there is not, ``BudgetError`` where the program is too
    large, ``UnsupportedGameError`` where no plan is found that all obey.  By HiGHS.

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
    with signs.during(f"solving the linear program of correlated plans, {variables.count:,} variables"):
        plan = CorrelatedPlan(form, *solve_program(form, variables, kind, favoured))
    if (np.array(plan.gains(kind)) > LEFT * form.ranges).any():
        raise UnsupportedGameError(f"{form.name}: rounding errors of HiGHS leave a plan from which somebody would gain")
    return plan


def _check_objective(objective: str, players: Sequence[str]) -> None:
    """Raise ``UnknownNameError`` for what is neither welfare nor a player."""
    if objective != WELFARE and objective not in players:
        raise UnknownNameError("objective", objective, [WELFARE, *players])


@dataclass(frozen=True)
class CorrelatedMethod(Checked):
    """The best plan for a mediator to draw, so that all obey: a correlated equilibrium."""

    kind: str = "efce"
    """``ce``, ``efce``, ``efcce`` or ``cce``: when a player may leave."""
    objective: str = WELFARE
    """What is best: ``welfare``, of all together, or a player's name."""

    takes: ClassVar[frozenset[str]] = frozenset()
    default: ClassVar[Limits] = Limits()

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)

    @property
    def name(self) -> str:
        """As ``solve`` takes it."""
        return full_name("correlated", CorrelatedMethod, kind=self.kind, objective=self.objective)

    def work(self, compiled: Compiled, options: Options) -> CorrelatedWork:
        """The linear program.  Raises ``UnknownNameError`` for an objective that is no player."""
        _check_objective(self.objective, compiled.players)
        variables = variables_of(compiled, self.kind)  # which may be too many
        return CorrelatedWork(lambda: _best(compiled, variables, self.kind, self.objective))


class CorrelatedWork(OneCall[CorrelatedPlan]):
    """The linear program at work."""

    def policy(self) -> CorrelatedPolicy | None:
        """What the mediator draws."""
        return None if self.found is None else self.found.policy

    def evaluation(self) -> Evaluation | None:
        return None if self.found is None else self.found.evaluation()

    def notes(self) -> dict[str, Any]:
        """What no plan pays more than, where it is not known that this one is the best."""
        return {} if self.found is None or self.found.bound is None else {"bound": self.found.bound}

    def point(self, seconds: float) -> Point:
        return Point(self.iteration, seconds, values=None if self.found is None else self.found.values)
