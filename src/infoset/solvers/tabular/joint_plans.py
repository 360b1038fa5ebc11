"""Joint plans of several players: the joint probabilities of their sequences where plans are drawn for all of them.

Variables are tuples of sequences, one of each member, that a history may reach together, or that are one move away from
such a tuple (the polytope of von Stengel & Forges 2008).  For two players without private chance moves every point of
the polytope can be drawn; if all members but one play pure plans this always holds (Farina, Celli, Gatti & Sandholm
2021).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from infoset.base import BoolArray, FloatArray, IntArray, LongArray
from infoset.errors import BudgetError
from infoset.tree.kernels import best_up, choose_best, plan_down
from infoset.tree.sequence_form import SequenceForm

NO_BETTER = 1e-12  # of the sum of the absolute values
SCALE = 1e3  # the largest coefficient: HiGHS stops 1e-6 from the optimum, whatever the units


class JointPlans:
    """The joint plans of ``members`` of a game; ``ends`` (T, members): their sequences at its terminal histories."""

    def __init__(self, form: SequenceForm, members: Sequence[int], ends: IntArray, most: int) -> None:
        """Build the polytope.  Raises ``BudgetError`` for more than ``most`` tuples."""
        self.form, self.members, self.most = form, tuple(members), most
        a = form.arrays
        self.owner = form.infoset_of.tolist()
        self.parent, self.first, self.size = (array.astype(np.int64).tolist() for array in (a.parent, a.first, a.size))
        self.start = tuple([int(a.sequences[player]) for player in members])
        self.number: dict[tuple[int, ...], int] = {}
        for tuple_ in map(tuple, np.unique(ends, axis=0).tolist()):
            self._add(tuple_)
        for k, player in enumerate(members):
            own = form.player_sequences(player)
            for sequence in range(own.start, own.stop):
                self._add((*self.start[:k], sequence, *self.start[k + 1 :]))
        self.rows = [
            (self.number[above], [self.number[action] for action in actions]) for above, actions in self._constraints()
        ]

    @cached_property
    def tuples(self) -> LongArray:
        """(variables, members) the sequences of each tuple."""
        return np.array(list(self.number), dtype=np.int64).reshape(-1, len(self.members))

    @cached_property
    def _sorted(self) -> tuple[LongArray, LongArray]:
        keys = self._keys(self.tuples)
        order = np.argsort(keys)
        return keys[order], order

    def _keys(self, tuples: Any) -> LongArray:
        keys = np.zeros(len(tuples), dtype=np.int64)
        for column in np.asarray(tuples).T:
            keys = keys * self.form.num_sequences + column
        return keys

    def places(self, tuples: Any) -> LongArray:
        """Return the variables (T,) of tuples (T, members)."""
        keys, order = self._sorted
        return order[np.searchsorted(keys, self._keys(tuples))]

    def played(self, plan: FloatArray) -> BoolArray:
        """Return (variables,) the tuples played under pure plans ``plan`` (S,)."""
        return np.asarray((plan[self.tuples] > 0).all(axis=1))

    def _add(self, tuple_: tuple[int, ...]) -> None:
        """Add a tuple and all those that its constraints contain."""
        todo = [tuple_]
        while todo:
            one = todo.pop()
            if one in self.number:
                continue
            self.number[one] = len(self.number)
            if len(self.number) > self.most:
                names = "+".join(self.form.players[player] for player in self.members)
                raise BudgetError(
                    f"{self.form.name}: the sequences of {names} combine to more than {self.most:,} tuples, too many "
                    "for a program over their joint plans"
                )
            for above, actions in self._around(one):
                todo += [above, *actions]

    def _around(self, tuple_: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], list[tuple[int, ...]]]]:
        """Yield, for each member that has moved, the tuple before its last choice and those after its moves there."""
        for k, sequence in enumerate(tuple_):
            if (infoset := self.owner[sequence]) >= 0:
                actions = range(self.first[infoset], self.first[infoset] + self.size[infoset])
                before, after = tuple_[:k], tuple_[k + 1 :]
                yield (*before, self.parent[infoset], *after), [(*before, action, *after) for action in actions]

    def _constraints(self) -> Iterator[tuple[tuple[int, ...], list[tuple[int, ...]]]]:
        """Yield each constraint once: the weights of the moves sum to that of the tuple before them."""
        for tuple_ in self.number:
            for above, actions in self._around(tuple_):
                if actions[0] == tuple_:
                    yield above, actions

    @cached_property
    def matrix(self) -> Any:
        """Sparse (1 + rows, variables): the start has weight 1; a tuple's moves have its weight in total."""
        from scipy.sparse import csr_array

        entries, columns, begins = [1.0], [self.number[self.start]], [0, 1]
        for above, actions in self.rows:
            entries += [-1.0] + [1.0] * len(actions)
            columns += [above, *actions]
            begins.append(len(columns))
        return csr_array((entries, columns, begins), shape=(len(self.rows) + 1, len(self.number)))

    @cached_property
    def total(self) -> FloatArray:
        """(1 + rows,) the right-hand sides of the matrix."""
        return np.asarray(np.eye(1, len(self.rows) + 1)[0])

    @cached_property
    def alone(self) -> list[LongArray]:
        """The variables of each member's own sequences, in the order of their numbers."""
        places = []
        for k, player in enumerate(self.members):
            own = self.form.player_sequences(player)
            before, after = self.start[:k], self.start[k + 1 :]
            places.append(np.array([self.number[(*before, q, *after)] for q in range(own.start, own.stop)]))
        return places

    @cached_property
    def whole(self) -> BoolArray:
        """(variables,) which have to be 0 or 1: the own sequences of all members but the one who has the most."""
        free = max(range(len(self.alone)), key=lambda k: (len(self.alone[k]), k))
        found = np.zeros(len(self.number), dtype=bool)
        for k, places in enumerate(self.alone):
            found[places] = k != free
        return found

    def better(self, objective: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, float]:
        """Return pure plans (S,) that no member can improve alone, and their value.

        From random plans on, the members take best responses in turn.
        """
        plan = np.zeros(self.form.num_sequences)
        for player in self.members:
            best_answer(self.form, player, rng.random(len(plan)), plan)
        best, idle, least = -np.inf, 0, NO_BETTER * float(np.abs(objective).sum())
        while idle < len(self.members):
            for k, player in enumerate(self.members):
                others = np.delete(self.tuples, k, axis=1)
                with_these = np.flatnonzero((plan[others] > 0).all(axis=1))
                values = np.bincount(self.tuples[with_these, k], objective[with_these], len(plan)).astype(float)
                found = best_answer(self.form, player, values, plan)
                idle = idle + 1 if found <= best + least else 0
                best = max(best, found)
        return plan, best

    def pure(
        self, objective: FloatArray, seconds: float = np.inf, inside: BoolArray | None = None
    ) -> tuple[FloatArray, float]:
        """Return the pure plans (S,) of the largest total ``objective`` (variables,), and a bound that no plans exceed.

        ``inside``: the variables that may be above 0.  Raises ``BudgetError`` where optimality is not proved in time,
        or no plan is feasible.
        """
        from scipy.optimize import LinearConstraint, milp

        scale = SCALE / (float(np.abs(objective).max()) or 1.0)
        columns = np.arange(len(objective)) if inside is None else np.flatnonzero(inside)
        matrix = self.matrix if inside is None else self.matrix[:, columns]
        rows = np.flatnonzero(np.diff(matrix.indptr))
        result = milp(
            -objective[columns] * scale, integrality=self.whole[columns].astype(int), bounds=(0, 1),
            constraints=[LinearConstraint(matrix[rows], self.total[rows], self.total[rows])],
            options={"mip_rel_gap": 0.0, **({} if seconds == np.inf else {"time_limit": max(seconds, 0.0)})},
        )  # fmt: skip
        if result.status:
            names = "+".join(self.form.players[player] for player in self.members)
            raise BudgetError(f"{self.form.name}: HiGHS did not find the best plan of {names}: {result.message}")
        found, plan = np.zeros(len(objective)), np.zeros(self.form.num_sequences)
        found[columns] = np.rint(result.x)
        for player, places in zip(self.members, self.alone, strict=True):
            plan[self.form.player_sequences(player)] = found[places]
        bound = result.fun if result.mip_dual_bound is None else result.mip_dual_bound  # ``None`` without integers
        return plan, -float(bound) / scale


def best_answer(form: SequenceForm, player: int, values: FloatArray, plan: FloatArray) -> float:
    """Put a player's best pure plan into ``plan`` (S,) and return its value.

    Sequences pay ``values`` (S,), which are overwritten.
    """
    best_up(form.arrays, player, values)
    strategy = np.ones(form.num_sequences)
    choose_best(form.arrays, player, values, strategy)
    plan_down(form.arrays, player, strategy, plan)
    return float(values[int(form.arrays.sequences[player])])
