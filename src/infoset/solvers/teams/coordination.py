"""What the members of a team can do together: pure plans of all of them, and the best of these against the others.

A plan of the team is a pure one for each member.  The best one is found exactly by a mixed-integer program on how
likely sequences of all members come together (the polytope of von Stengel & Forges 2008), where all members but one
play pure plans: then whatever fits its constraints is a plan (Farina, Celli, Gatti & Sandholm 2021).  Much sooner a
plan is found that no member can improve alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from infoset.base import BoolArray, FloatArray, IntArray, LongArray
from infoset.errors import BudgetError
from infoset.tree.kernels import best_up, choose_best, plan_down
from infoset.tree.sequence_form import SequenceForm

MOST_TUPLES = 60_000
"""Of sequences of all members, up to which the program is tried."""
SCALE = 1e3  # of the largest coefficient: HiGHS stops 1e-6 from the optimum, whatever the units
BETTER = 1e-12  # of the largest payoff


class Answer(NamedTuple):
    """A plan of the team, what it earns, and what no plan earns more than."""

    value: float
    bound: float
    plan: FloatArray


@dataclass(frozen=True, eq=False)
class Team:
    """The ``members`` of a game who agree beforehand; a plan is realisation weights (S,) of theirs, 0 elsewhere.

    ``ends`` (T, n) and ``paid`` (T,): the terminal rows as sequences, and what the team gets at each, times the
    probability of chance.
    """

    form: SequenceForm
    members: tuple[int, ...]
    ends: IntArray = field(repr=False)
    paid: FloatArray = field(repr=False)

    @classmethod
    def of(cls, form: SequenceForm, members: Sequence[int]) -> Team:
        """Its payoff is that of all members together."""
        ends, payoffs = form.terminals()
        return cls(form, tuple(members), ends, payoffs[:, list(members)].sum(axis=1))

    @property
    def name(self) -> str:
        """Of its members."""
        return "+".join(self.form.players[player] for player in self.members)

    def played(self, plan: FloatArray) -> FloatArray:
        """(T,) how likely the plan comes to each end, as far as it is the team's doing."""
        weight = np.ones(len(self.ends))
        for player in self.members:
            weight *= plan[self.ends[:, player]]
        return weight

    def improved(self, others: FloatArray, plan: FloatArray) -> Answer:
        """A plan that no member improves alone, from ``plan`` on; the others come to ends like ``others`` (T,)."""
        worth = self.paid * others
        plan, value, idle = plan.copy(), -np.inf, 0
        least = BETTER * float(np.abs(worth).sum())
        while idle < len(self.members):
            for player in self.members:
                found = self._answer(player, worth, plan)
                idle = idle + 1 if found <= value + least else 0
                value = max(value, found)
        return Answer(value, np.inf, plan)

    def _answer(self, player: int, worth: FloatArray, plan: FloatArray) -> float:
        """Puts a member's best response into the plan; what the team earns then."""
        form, own = self.form, self.form.player_sequences(player)
        weight = worth.copy()
        for other in self.members:
            if other != player:
                weight *= plan[self.ends[:, other]]
        values = np.zeros(form.num_sequences)
        values[own] = np.bincount(self.ends[:, player] - own.start, weight, own.stop - own.start)
        best_up(form.arrays, player, values)
        strategy = np.ones(form.num_sequences)
        choose_best(form.arrays, player, values, strategy)
        plan_down(form.arrays, player, strategy, plan)
        return float(values[own.start])

    def best(self, others: FloatArray, seconds: float = np.inf) -> Answer:
        """The best plan where the others come to ends like ``others`` (T,), and a bound that proves it.

        Raises ``BudgetError`` where the members' sequences combine to too many tuples.
        """
        if len(self.members) == 1:
            found = self.improved(others, np.zeros(self.form.num_sequences))
            return found._replace(bound=found.value)
        return self.program.solve(self.paid * others, seconds)

    def any_plan(self, rng: np.random.Generator) -> FloatArray:
        """A pure plan, each member's moves drawn alike."""
        strategy, plan = np.zeros(self.form.num_sequences), np.zeros(self.form.num_sequences)
        a = self.form.arrays
        for player in self.members:
            for k in self.form.player_infosets(player):
                strategy[int(a.first[k]) + rng.integers(int(a.size[k]))] = 1.0
            plan_down(a, player, strategy, plan)
        return plan

    @cached_property
    def program(self) -> _Program:
        """The mixed-integer program.  Raises ``BudgetError``."""
        return _Program(self)


class _Program:
    """Variables are tuples of the members' sequences, one of each, that some history may come to together."""

    def __init__(self, team: Team) -> None:
        self.team, form = team, team.form
        a = form.arrays
        self.owner = form.infoset_of
        self.parent, self.first, self.size = (array.astype(np.int64).tolist() for array in (a.parent, a.first, a.size))
        self.start = tuple(int(a.sequences[player]) for player in team.members)
        self.number: dict[tuple[int, ...], int] = {}
        rows: list[tuple[int, list[int]]] = []
        for tuple_ in map(tuple, np.unique(team.ends[:, list(team.members)], axis=0).tolist()):
            self._add(tuple_)
        for k, player in enumerate(team.members):
            own = form.player_sequences(player)
            for sequence in range(own.start, own.stop):
                self._add((*self.start[:k], sequence, *self.start[k + 1 :]))
        for above, moves in self._constraints():
            rows.append((self.number[above], [self.number[move] for move in moves]))
        self.rows = rows
        self.at = np.array([self.number[tuple(row)] for row in team.ends[:, list(team.members)].tolist()])

    def _add(self, tuple_: tuple[int, ...]) -> None:
        """With all that its constraints speak of."""
        todo = [tuple_]
        while todo:
            one = todo.pop()
            if one in self.number:
                continue
            self.number[one] = len(self.number)
            if len(self.number) > MOST_TUPLES:
                raise BudgetError(
                    f"{self.team.form.name}: the sequences of {self.team.name} combine to more than {MOST_TUPLES:,} "
                    "tuples, too many for the mixed-integer program of their best answer"
                )
            for above, moves in self._around(one):
                todo += [above, *moves]

    def _around(self, tuple_: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], list[tuple[int, ...]]]]:
        """For each member that has moved: the tuple before its last choice, and those behind its moves there."""
        for k, sequence in enumerate(tuple_):
            if (infoset := int(self.owner[sequence])) >= 0:
                moves = range(self.first[infoset], self.first[infoset] + self.size[infoset])
                before, after = tuple_[:k], tuple_[k + 1 :]
                yield (*before, self.parent[infoset], *after), [(*before, move, *after) for move in moves]

    def _constraints(self) -> Iterator[tuple[tuple[int, ...], list[tuple[int, ...]]]]:
        """Each once: moves weigh together what the tuple before them does."""
        for tuple_ in self.number:
            for above, moves in self._around(tuple_):
                if moves[0] == tuple_:
                    yield above, moves

    @cached_property
    def constraint(self) -> Any:
        from scipy.optimize import LinearConstraint
        from scipy.sparse import csr_array

        entries, columns, begins = [1.0], [self.number[self.start]], [0, 1]
        for above, moves in self.rows:
            entries += [-1.0] + [1.0] * len(moves)
            columns += [above, *moves]
            begins.append(len(columns))
        total = np.eye(1, len(begins) - 1)[0]
        matrix = csr_array((entries, columns, begins), shape=(len(total), len(self.number)))
        return LinearConstraint(matrix, total, total)

    @cached_property
    def alone(self) -> list[LongArray]:
        """The variables of each member's own sequences, by their numbers."""
        places = []
        for k, player in enumerate(self.team.members):
            own = self.team.form.player_sequences(player)
            before, after = self.start[:k], self.start[k + 1 :]
            places.append(np.array([self.number[(*before, q, *after)] for q in range(own.start, own.stop)]))
        return places

    @cached_property
    def whole(self) -> BoolArray:
        """(variables,) which are 0 or 1: own sequences of all members but the one who has most."""
        free = max(range(len(self.alone)), key=lambda k: (len(self.alone[k]), k))
        found = np.zeros(len(self.number), dtype=bool)
        for k, places in enumerate(self.alone):
            found[places] = k != free
        return found

    def solve(self, worth: FloatArray, seconds: float) -> Answer:
        """The best plan where each end is ``worth`` (T,).  Raises ``BudgetError`` where it is not proved in time."""
        from scipy.optimize import milp

        cost = np.bincount(self.at, worth, len(self.number))
        scale = SCALE / (float(np.abs(cost).max()) or 1.0)
        result = milp(
            -cost * scale, integrality=self.whole.astype(int), bounds=(0, 1), constraints=[self.constraint],
            options={"mip_rel_gap": 0.0, **({} if seconds == np.inf else {"time_limit": max(seconds, 0.0)})},
        )  # fmt: skip
        if result.status:
            raise BudgetError(
                f"{self.team.form.name}: HiGHS did not find the best answer of {self.team.name}: {result.message}"
            )
        plan = np.zeros(self.team.form.num_sequences)
        for player, places in zip(self.team.members, self.alone, strict=True):
            plan[self.team.form.player_sequences(player)] = np.rint(result.x[places])
        value = float(worth @ self.team.played(plan))
        bound = result.fun if result.mip_dual_bound is None else result.mip_dual_bound  # none where nothing is 0 or 1
        return Answer(value, max(value, -float(bound) / scale), plan)
