"""The linear programs of correlated equilibria: the best plans to draw such that nobody gains by a deviation.

Their variables are *combinations of strategies* of the reduced normal form, for any number of players and any notion;
or *tuples of sequences* that may be played together (von Stengel & Forges 2008), whose number grows with the game's
size.  A solution over tuples is decomposed into pure plans, which always works for two players without chance moves and
often with them.  Otherwise plans are found by column generation, each a best response to the dual prices so far.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from infoset import status
from infoset.base import BoolArray, FloatArray, LongArray
from infoset.compiled import Compiled
from infoset.errors import BudgetError, UnsupportedGameError
from infoset.solvers.job import Background
from infoset.solvers.tabular.deviations import Deviation, Leaver
from infoset.solvers.tabular.joint_plans import JointPlans
from infoset.solvers.tabular.linear_program import HIGHS
from infoset.tree.normal_form import normal_form
from infoset.tree.sequence_form import SequenceForm, ends, find_sequences_and_reach, sets_of

MOST_ENTRIES = 40_000_000
"""Bound on the entries of the linear program."""
MOST_TUPLES = 1_000_000
MOST_ROUNDS, TRIES = 400, 20
GAP, SLACK = 1e-8, 1e-9
PLAYED, NOUGHT = 1e-9, 1e-12
NOISE, UNDRAWN, UNSEEN = 1e-12, 1e-10, 1e-6
"""Probabilities: below the first, rounding errors of HiGHS; below the second, what remains need not be drawn; below the
third, what remains may be left out where it cannot be drawn."""
FEW = 2000  # variables up to which simplex is as quick as interior points


class Variables(Protocol):
    """The variables of a program: the events whose probabilities it determines."""

    count: int
    total: tuple[Any, FloatArray]
    """Equality rows (M, count) and their right-hand sides."""

    def paid(
        self, leaver: Leaver, recommended: int | LongArray, rows: Any, obeying: bool
    ) -> tuple[LongArray, FloatArray]:
        """Return the variables in a player's payoff at ``rows``, and their coefficients.

        The player got the recommendation ``recommended`` and reaches the rows by its own deviation, or by ``obeying``.
        """

    def drawn(self, found: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return probabilities (K,) of pure plans (K, S) that realise a solution."""


class Draw(NamedTuple):
    """A distribution of plans, and an upper bound on what any plan of the kind pays the favoured players.

    The bound is ``None`` where this distribution attains it.
    """

    probabilities: FloatArray
    """(K,)"""
    plans: BoolArray
    """(K, S)"""
    bound: float | None


def variables_of(compiled: Compiled, kind: str) -> Variables:
    """Return the smallest suitable set of variables.  Raises ``BudgetError`` where they are too many."""
    form = compiled.form
    if kind == "ce" or compiled.only_form:
        return Cells(form)
    if form.num_players == 2:
        return Tuples(compiled)
    try:
        return Cells(form)  # their solutions can always be drawn
    except BudgetError:
        return Tuples(compiled)


def solve_program(form: SequenceForm, variables: Variables, kind: str, favoured: Iterable[int]) -> Draw:
    """Return the pure plans and probabilities that pay the favoured players the most.

    Raises ``BudgetError``, and ``UnsupportedGameError`` where HiGHS does not solve the program.
    """
    program = _Program(form.name, variables)
    paid, largest, favoured = np.zeros(variables.count), 0.0, set(favoured)
    for player in range(form.num_players):
        leaver = Leaver(form, player)
        scale = float(np.abs(leaver.paid).max(initial=0.0)) or 1.0
        own = variables.table.plans[player] if isinstance(variables, Cells) else None
        for number, deviation in enumerate(leaver.deviations(kind, own)):
            if number % 100 == 0:
                status.detail(
                    f"writing the linear program of {kind}: {form.players[player]}'s deviation {number + 1:,}, "
                    f"{len(program.parts):,} rows, {program.entries:,} entries"
                )
            program.forbid(leaver, deviation, scale)
        if player in favoured:
            largest = max(largest, scale)
            np.add.at(paid, *variables.paid(leaver, leaver.start, range(len(leaver.ends)), obeying=True))
    paid[np.abs(paid) <= NOUGHT * largest] = 0.0  # payoffs that cancel over the favoured players
    scale = float(np.abs(paid).max(initial=0.0)) or 1.0
    rows = program.rows()
    if form.num_players == 2 or isinstance(variables, Cells):
        total, weight = variables.total
        found = _solved(
            form.name, cost=np.concatenate([-paid / scale, np.zeros(program.values)]), rows=rows,
            equal=_beside(total, program.values), weight=weight, most=np.full(variables.count, np.inf),
        )  # fmt: skip
        with suppress(BudgetError):  # with chance moves, tuples may have solutions that cannot be drawn
            return Draw(*variables.drawn(np.maximum(found.x[: variables.count], 0.0)), None)
    if isinstance(variables, Tuples) and (cells := _cells(form)):
        return solve_program(form, cells, kind, favoured)
    assert isinstance(variables, Tuples)
    best = _Generation(variables, rows, paid / scale).run()
    offset = float(form.offsets[list(favoured)].sum())
    return best._replace(bound=None if best.bound is None else best.bound * scale + offset)


def _cells(form: SequenceForm) -> Cells | None:
    """Return combinations of strategies, where they are not too many."""
    try:
        return Cells(form)
    except BudgetError:
        return None


def _solved(name: str, cost: FloatArray, rows: Any, equal: Any, weight: FloatArray, most: FloatArray) -> Any:
    """Minimise ``cost`` by HiGHS and return its answer; the first variables are between 0 and ``most``.

    Raises ``UnsupportedGameError``.
    """
    from scipy.optimize import linprog

    bounds = np.full((len(cost), 2), [-np.inf, np.inf])
    bounds[: len(most)] = np.column_stack([np.zeros(len(most)), most])
    by = "highs" if len(most) <= FEW else "highs-ipm"
    way = "simplex" if by == "highs" else "interior points"
    status.detail(
        f"HiGHS solves a linear program by {way}: "
        f"{rows.shape[0]:,} rows, {rows.shape[1]:,} columns, {rows.nnz:,} entries"
    )
    solving = Background(lambda: linprog(
        cost, A_ub=rows, b_ub=np.zeros(rows.shape[0]), A_eq=equal, b_eq=weight, bounds=bounds,
        method=by, options=HIGHS,
    ))  # fmt: skip
    solving.wait()  # where Ctrl-C is heard
    if not solving.result.success:
        raise UnsupportedGameError(f"{name}: HiGHS did not solve the linear program: {solving.result.message}")
    return solving.result


class _Best(NamedTuple):
    """The optimum of the restricted program over the plans so far."""

    probabilities: FloatArray
    """(K,)"""
    value: float
    """The payoff of the favoured players."""
    slack: float
    """The most that a player may still gain."""
    amounts: FloatArray
    """(variables,) the payoffs less the dual prices of the rows."""
    least: float
    """The value, at these prices, of a plan that is drawn."""


class _Generation:
    """Column generation: a linear program over the plans so far, to which improving plans are added a few at a time.

    Improving plans are those in which each player's part is a best response to the others'; where all of these are
    already known, the best plan of all is found by a mixed-integer program, whose value bounds that of every plan.

    The first phase minimises the largest gain by a deviation until it is 0; the second maximises the payoff of the
    favoured players.
    """

    def __init__(self, variables: Tuples, rows: Any, paid: FloatArray) -> None:
        """Take ``rows`` over the variables and the values of leaving at sets, and ``paid`` (variables,), at most 1."""
        self.together, self.name = variables.together, variables.form.name
        self.over, self.beside = rows[:, : variables.count].tocsr(), rows[:, variables.count :].tocsr()
        self.paid, self.rng, self.slack = paid, np.random.default_rng(0), np.inf
        self.plans: dict[bytes, FloatArray] = {}
        self.columns: list[FloatArray] = []
        self.pay: list[float] = []

    def run(self) -> Draw:
        """Run the rounds.  Raises ``UnsupportedGameError`` where no plans that all obey were found."""
        self._add(self.together.better(self.paid, self.rng)[0])
        obeyed, bound = False, np.inf
        for turn in range(MOST_ROUNDS):
            draw = self._best(obeyed)
            aim = "raising the objective" if obeyed else f"until no player gains by deviating, {draw.slack:.3g} now"
            status.detail(f"finding plans, round {turn + 1:,}: {len(self.plans):,} so far, {aim}")
            if not obeyed and draw.slack <= SLACK:
                obeyed, self.slack = True, max(draw.slack, 0.0)
                draw = self._best(True)
            if self._improve(draw):
                continue
            plan, most = self.together.pure(draw.amounts)
            bound = min(bound, draw.value + most - draw.least) if obeyed else np.inf
            if most - draw.least <= GAP or not self._add(plan):
                break
        if not obeyed:
            raise UnsupportedGameError(
                f"{self.name}: {len(self.plans):,} plans have no distribution that is an equilibrium"
            )
        if bound == np.inf:
            bound = draw.value + self.together.pure(draw.amounts)[1] - draw.least
        retained = np.flatnonzero(draw.probabilities > PLAYED)
        plans = np.array(list(self.plans.values()))[retained] > 0
        return Draw(
            draw.probabilities[retained] / draw.probabilities[retained].sum(),
            plans,
            None if bound - draw.value <= GAP else bound,
        )

    def _improve(self, draw: _Best) -> bool:
        """Add plans that no player can improve and that exceed the drawn ones in value; return whether any is new."""
        some = [self.together.better(draw.amounts, self.rng) for _ in range(TRIES)]
        added = [self._add(plan) for plan, amounts in some if amounts > draw.least + GAP]
        return any(added)

    def _add(self, plan: FloatArray) -> bool:
        """Add a plan; return whether it is new."""
        key = plan.tobytes()
        if key in self.plans:
            return False
        played = self.together.played(plan)
        self.plans[key] = plan
        self.columns.append(self.over @ played.astype(float))
        self.pay.append(float(self.paid[played].sum()))
        return True

    def _best(self, obeyed: bool) -> _Best:
        """Return the draw of known plans with the least gain by leaving or, if ``obeyed``, with the best payoff."""
        from scipy.sparse import csr_array, hstack

        count = len(self.columns)
        over = csr_array(np.array(self.columns).T)
        rows = hstack([over, np.full((over.shape[0], 1), -1.0), self.beside], format="csr")
        equal = csr_array(np.concatenate([np.ones(count), np.zeros(1 + self.beside.shape[1])])[None])
        pay = np.array(self.pay) * obeyed
        cost = np.concatenate([-pay, [0.0 if obeyed else 1.0], np.zeros(self.beside.shape[1])])
        most = np.concatenate([np.full(count, np.inf), [self.slack]])
        found = _solved(self.name, cost, rows, equal, np.ones(1), most)
        amounts = self.over.T @ found.ineqlin.marginals + self.paid * obeyed
        probabilities = np.maximum(found.x[:count], 0.0)
        return _Best(
            probabilities,
            float(pay @ found.x[:count]),
            float(found.x[count]),
            amounts,
            -float(found.eqlin.marginals[0]),
        )


def _beside(total: Any, values: int) -> Any:
    from scipy.sparse import csr_array, hstack

    return hstack([csr_array(total), csr_array((total.shape[0], values))], format="csr")


class _Program:
    """The rows of ``A x <= 0`` over the variables and the values of leaving at sets."""

    def __init__(self, name: str, variables: Variables) -> None:
        self.name, self.variables, self.values, self.entries = name, variables, 0, 0
        self.parts: list[tuple[LongArray, FloatArray]] = []

    def forbid(self, leaver: Leaver, deviation: Deviation, scale: float) -> None:
        """Add the rows by which leaving pays no more than obeying, in units of ``scale``."""
        sets = leaver.sets_after(deviation.sets)
        place = {k: self.variables.count + self.values + number for number, k in enumerate(sets)}
        self.values += len(sets)
        for k in sets:
            for action in leaver.actions(k):  # the value of a set is at least that of each move
                after = [place[one] for one in leaver.below.get(action, [])]
                paid = self.variables.paid(leaver, deviation.recommended, leaver.rows(action), obeying=False)
                self._add(paid, scale, [place[k], *after], [-1.0, *[1.0] * len(after)])
        where, amounts = self.variables.paid(leaver, deviation.recommended, deviation.obeying, obeying=True)
        first = [place[k] for k in deviation.sets]
        self._add((where, -amounts), scale, first, [1.0] * len(first))

    def _add(self, paid: tuple[LongArray, FloatArray], scale: float, values: list[int], signs: list[float]) -> None:
        where, amounts = paid
        self.parts.append((np.append(where, values).astype(np.int64), np.append(amounts / scale, signs)))
        self.entries += len(where)
        if self.entries > MOST_ENTRIES:
            raise BudgetError(
                f"{self.name}: the linear program of its {self.variables.count:,} combinations has more than "
                f"{MOST_ENTRIES:,} entries"
            )

    def rows(self) -> Any:
        from scipy.sparse import csr_array

        begins = np.cumsum([0, *[len(where) for where, _ in self.parts]])
        columns = np.concatenate([where for where, _ in self.parts] or [np.zeros(0, dtype=np.int64)])
        entries = np.concatenate([amounts for _, amounts in self.parts] or [np.zeros(0)])
        return csr_array((entries, columns, begins), shape=(len(self.parts), self.variables.count + self.values))


class Cells:
    """Variables that are combinations of strategies of the reduced normal form."""

    def __init__(self, form: SequenceForm) -> None:
        self.form, self.table = form, normal_form(form)
        self.shape = self.table.numbers.shape[:-1]
        self.count = int(np.prod(self.shape))
        self.total = np.ones((1, self.count)), np.ones(1)

    def paid(
        self, leaver: Leaver, recommended: int | LongArray, rows: Any, obeying: bool
    ) -> tuple[LongArray, FloatArray]:
        """See ``Variables``."""
        amounts = np.zeros(self.shape)
        own = self.table.plans[leaver.player]
        playing = own[:, np.atleast_1d(recommended) - leaver.start]
        concerns = playing.all(axis=1) & (isinstance(recommended, int) | (own.sum(axis=1) == playing.shape[1]))
        for row in rows:
            factors = [
                self.table.plans[p][:, int(leaver.ends[row, p]) - self.form.player_sequences(p).start]
                for p in range(len(self.shape))
            ]
            factors[leaver.player] = concerns & factors[leaver.player] if obeying else concerns
            amounts[np.ix_(*map(np.flatnonzero, factors))] += leaver.paid[row]
        flat = amounts.ravel()
        where = np.flatnonzero(flat)
        return where, flat[where]

    def drawn(self, found: FloatArray) -> tuple[FloatArray, BoolArray]:
        """See ``Variables``."""
        cells = np.flatnonzero(found > PLAYED * found.sum())
        numbers = np.unravel_index(cells, self.shape)
        plans = np.hstack([own[number] for own, number in zip(self.table.plans, numbers, strict=True)])
        return found[cells] / found[cells].sum(), plans


class Tuples:
    """Variables that are tuples of all players' sequences that may be played together."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled, self.form = compiled, compiled.form
        self.together = JointPlans(
            self.form, range(self.form.num_players), ends(compiled.tree, self.form)[0], MOST_TUPLES
        )
        self.count = len(self.together.number)
        self.total = self.together.matrix, self.together.total

    def paid(
        self, leaver: Leaver, recommended: int | LongArray, rows: Any, obeying: bool
    ) -> tuple[LongArray, FloatArray]:
        """See ``Variables``."""
        rows = np.asarray(rows, dtype=np.int64)
        tuples = leaver.ends[rows].astype(np.int64)
        if not obeying:
            tuples[:, leaver.player] = recommended
        return self.together.places(tuples), leaver.paid[rows]

    def drawn(self, found: FloatArray) -> tuple[FloatArray, BoolArray]:
        """See ``Variables``.  Raises ``BudgetError`` where the solution cannot be drawn."""
        left, probabilities, plans = found.copy(), list[float](), list[FloatArray]()
        begin = self.together.number[self.together.start]
        while left[begin] > UNDRAWN:
            plan = self._likely(left)
            if left[self.together.played(plan)].min() <= NOISE:
                if left[begin] < UNSEEN:
                    break
                plan = self.together.pure(left, inside=left > PLAYED)[0]
            played = self.together.played(plan)
            probabilities.append(float(left[played].min()))
            plans.append(plan)
            left[played] -= probabilities[-1]
        order = np.lexsort(-np.array(plans).T[::-1])  # in lexicographic order, plans with the first moves first
        return (np.array(probabilities) / sum(probabilities))[order], np.array(plans)[order] > 0

    def _likely(self, left: FloatArray) -> FloatArray:
        """Return pure plans (S,) with the likeliest move at each set, given what both players chose on the way there.

        Without chance moves there is one path to it, so that these plans have a positive probability.
        """
        plan = np.zeros(self.form.num_sequences)
        plan[list(self.together.start)] = 1.0
        for player, parent, actions, before in self._sets:
            if plan[parent]:
                other = next(sequence for sequence in before if plan[sequence])
                pairs = np.full((len(actions), 2), other)
                pairs[:, player] = actions
                plan[actions[int(left[self.together.places(pairs)].argmax())]] = 1.0
        return plan

    @cached_property
    def _sets(self) -> list[tuple[int, int, LongArray, list[int]]]:
        """Information sets from the start on: player, parent sequence, moves, and the other player's sequences.

        The last are those with which the set is reached, and their alternatives on the way, the longest first.
        """
        form, tree, a = self.form, self.compiled.tree, self.form.arrays
        sequence_at, _ = find_sequences_and_reach(tree, form)
        order = np.argsort(tree.infoset_node[form.tree_infoset], kind="stable").tolist()
        reached = [set[int]() for _ in order]
        sets = sets_of(tree, form)
        for node in np.flatnonzero(sets >= 0).tolist():
            infoset = int(sets[node])
            reached[infoset].add(int(sequence_at[node, 1 - int(form.infoset_player[infoset])]))
        found = []
        for k in order:
            depth: dict[int, int] = {}
            for sequence in reached[k]:
                path = [sequence]
                while (above := int(form.infoset_of[path[-1]])) >= 0:
                    path.append(int(a.parent[above]))
                for place, one in enumerate(path[:-1]):
                    infoset = int(form.infoset_of[one])
                    first = int(a.first[infoset])
                    depth |= dict.fromkeys(range(first, first + int(a.size[infoset])), len(path) - place)
                depth[path[-1]] = 1
            actions = np.arange(int(a.first[k]), int(a.first[k]) + int(a.size[k]))
            before = sorted(depth, key=depth.__getitem__, reverse=True)
            found.append((int(form.infoset_player[k]), int(a.parent[k]), actions, before))
        return found
