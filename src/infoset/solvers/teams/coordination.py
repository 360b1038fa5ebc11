"""Best responses of a team: pure plans of all members, and the best of these against the others.

A plan of the team is a pure plan for each member.  The best one is found exactly by a mixed-integer program over the
joint probabilities of the members' sequences (``joint_plans``).  A plan that no member can improve alone is found much
faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray
from infoset.solvers.tabular.joint_plans import JointPlans, best_answer
from infoset.tree.kernels import plan_down
from infoset.tree.sequence_form import SequenceForm

MOST_TUPLES = 60_000
"""The number of tuples of all members' sequences up to which the program is tried."""
BETTER = 1e-12  # of the largest payoff


class Answer(NamedTuple):
    """A plan of the team, its value, and an upper bound on the value of all plans."""

    value: float
    bound: float
    plan: FloatArray


@dataclass(frozen=True, eq=False)
class Team:
    """The ``members`` of a game who agree beforehand; a plan is realisation weights (S,) of the members, 0 elsewhere.

    ``ends`` (T, n) and ``paid`` (T,): the terminal rows as sequences, and the team's payoff at each, times the
    probability of chance.
    """

    form: SequenceForm
    members: tuple[int, ...]
    ends: IntArray = field(repr=False)
    paid: FloatArray = field(repr=False)

    @classmethod
    def of(cls, form: SequenceForm, members: Sequence[int]) -> Team:
        """Return the team of ``members``; its payoff is the sum of the members' payoffs."""
        ends, payoffs = form.terminals()
        return cls(form, tuple(members), ends, payoffs[:, list(members)].sum(axis=1))

    @property
    def name(self) -> str:
        """The members' names, joined."""
        return "+".join(self.form.players[player] for player in self.members)

    def played(self, plan: FloatArray) -> FloatArray:
        """Return (T,) the team's factor in the reach probability of each terminal row."""
        weight = np.ones(len(self.ends))
        for player in self.members:
            weight *= plan[self.ends[:, player]]
        return weight

    def improved(self, others: FloatArray, plan: FloatArray) -> Answer:
        """Improve ``plan`` until no member can alone, where ``others`` (T,) reach the terminal rows."""
        weighted = self.paid * others
        plan, value, idle = plan.copy(), -np.inf, 0
        least = BETTER * float(np.abs(weighted).sum())
        while idle < len(self.members):
            for player in self.members:
                found = self._answer(player, weighted, plan)
                idle = idle + 1 if found <= value + least else 0
                value = max(value, found)
        return Answer(value, np.inf, plan)

    def _answer(self, player: int, weighted: FloatArray, plan: FloatArray) -> float:
        """Put a member's best response into the plan and return the team's value."""
        form, own = self.form, self.form.player_sequences(player)
        weight = weighted.copy()
        for other in self.members:
            if other != player:
                weight *= plan[self.ends[:, other]]
        values = np.zeros(form.num_sequences)
        values[own] = np.bincount(self.ends[:, player] - own.start, weight, own.stop - own.start)
        return best_answer(form, player, values, plan)

    def best(self, others: FloatArray, seconds: float = np.inf) -> Answer:
        """Return the best plan, where ``others`` (T,) reach the terminal rows, and a bound that proves it.

        Raises ``BudgetError`` where the members' sequences combine to too many tuples.
        """
        if len(self.members) == 1:
            found = self.improved(others, np.zeros(self.form.num_sequences))
            return found._replace(bound=found.value)
        weighted = self.paid * others
        plan, bound = self.together.pure(
            np.bincount(self.at, weighted, len(self.together.number)).astype(float), seconds
        )
        value = float(weighted @ self.played(plan))
        return Answer(value, max(value, bound), plan)

    def any_plan(self, rng: np.random.Generator) -> FloatArray:
        """Return a pure plan whose moves are drawn uniformly at random."""
        strategy, plan = np.zeros(self.form.num_sequences), np.zeros(self.form.num_sequences)
        a = self.form.arrays
        for player in self.members:
            for k in self.form.player_infosets(player):
                strategy[int(a.first[k]) + rng.integers(int(a.size[k]))] = 1.0
            plan_down(a, player, strategy, plan)
        return plan

    @cached_property
    def together(self) -> JointPlans:
        """The polytope of the mixed-integer program.  Raises ``BudgetError``."""
        return JointPlans(self.form, self.members, self.ends[:, list(self.members)], MOST_TUPLES)

    @cached_property
    def at(self) -> LongArray:
        """(T,) the variable of the program for each terminal row."""
        return self.together.places(self.ends[:, list(self.members)])
