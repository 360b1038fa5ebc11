"""Equilibria of two-player games with any payoffs, by complementary pivoting on the sequence form.

Both players start from a given profile that they are forced to play with weight ``1 - t``; with the rest they play best
responses. At ``t = 0`` these are best responses to the profile, at ``t = 1`` they are an equilibrium; in between lies a
path of almost complementary vertices, followed by pivots in floats or in fractions (von Stengel, van den Elzen & Talman
2002, "Computing normal form perfect equilibria for extensive two-person games"). Payoffs need no shift, unlike in
Lemke's algorithm in Koller, Megiddo & von Stengel (1996). Ties are broken lexicographically, so that no path cycles;
from an interior profile the path ends at an equilibrium that is perfect in the normal form.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np

from infoset import status
from infoset.arguments import checks_arguments
from infoset.base import FloatArray, LongArray
from infoset.compiled import Compiled
from infoset.errors import UnsupportedGameError
from infoset.memory import check_room
from infoset.names import full_name
from infoset.solvers.config import SolveConfig
from infoset.solvers.job import Limits
from infoset.solvers.metrics import player_gains
from infoset.solvers.tabular.linear_program import on_the_polytope
from infoset.solvers.tabular.solver import OneShotSolver, TabularMethod
from infoset.tree.game_tree import GameTree
from infoset.tree.plans import random_interior, realisation, uniform
from infoset.tree.sequence_form import SequenceForm, exact_ends

ZERO = 1e-9  # of entries of a table whose payoffs are at most 1
GOOD = 1e-9  # share of its payoff range that a player may gain at an equilibrium in floats; beyond it fractions decide
SMALL = 1e-5  # a pivot that may be a rounding error
NOISE = 1e-13
REFRESH, RECENT = 500, 2  # pivots after which a table is recomputed, and up to which it is trusted
BYTES_A_FLOAT, BYTES_A_FRACTION = 32, 200  # per entry of the table, with the copies that are made on the way
SIMPLE = 10**6  # the largest denominator of the start's probabilities in fractions
FEW = 300  # sequences up to which fractions take over where rounding errors lose the path
LOST = "rounding errors lose the path of lcp; lcp(exact=true) works in fractions"
DENSE = 8  # a pivot that touches less than 1 / DENSE of the table updates these rows and columns alone

Table = Any
"""(rows, columns) of floats, or of fractions as objects."""


@checks_arguments
def linear_complementarity(form: SequenceForm, start: FloatArray | None = None) -> FloatArray:
    """Return realisation weights (S,) of an equilibrium of a two-player game, of constant sum or not.

    ``start``: interior behaviour (S,) from which the path begins, uniform by default; another start may lead to another
    equilibrium.  Raises ``UnsupportedGameError`` for another number of players and where rounding errors lose the path,
    ``BudgetError`` where the table does not fit.

    >>> form = infoset.SequenceForm.of(infoset.load("kuhn_poker"))
    >>> infoset.nash_conv(form, infoset.linear_complementarity(form)) < 1e-9
    True
    """
    check_two_players(form)
    room = check_table(form, exact=False)
    sequences, payoffs = form.terminals()
    scale = np.abs(payoffs).max(axis=0, initial=0.0)  # by player, as one's payoffs may be small beside the other's
    scale[scale == 0] = 1.0
    plan = realisation(form, uniform(form) if start is None else start)
    with status.during(f"following the path of lcp, with tables of {room}"):
        found = _float_plan(form, _Path(form, plan, sequences, payoffs / scale, exact=False).follow())
    if (player_gains(form, found) > GOOD * np.where(form.ranges > 0, form.ranges, scale)).any():
        raise UnsupportedGameError(f"{form.name}: {LOST}")
    return found


class ExactEquilibrium(NamedTuple):
    """An equilibrium in fractions, of the game with its numbers rounded to simple fractions."""

    plan: list[Fraction]
    """(S,) realisation weights."""
    values: tuple[Fraction, ...]
    """(2,) payoffs."""


@checks_arguments
def exact_equilibrium(tree: GameTree, form: SequenceForm, start: FloatArray | None = None) -> ExactEquilibrium:
    """Return the equilibrium that ``linear_complementarity`` finds from behaviour ``start`` (S,), in exact arithmetic.

    >>> tree = infoset.GameTree.of(infoset.load("kuhn_poker"))
    >>> found = infoset.exact_equilibrium(tree, infoset.SequenceForm.of(tree))
    >>> print(*found.values, *sorted(set(found.plan)))
    -1/18 1/18 0 1/3 2/3 1
    """
    check_two_players(form)
    room = check_table(form, exact=True)
    sizes = [1 if k < 0 else int(form.arrays.size[k]) for k in form.infoset_of]
    probabilities = [Fraction(1, size) for size in sizes]
    if start is not None:
        probabilities = [Fraction(float(p)).limit_denominator(SIMPLE) for p in start]
    simple = np.array(probabilities, dtype=object)
    sequences, payoffs = exact_ends(tree, form)
    with status.during(f"following the path of lcp in fractions, with tables of {room}"):
        found = _Path(form, _exact_plan(form, simple), sequences, payoffs, exact=True).follow()
    weights = found[sequences[:, 0]] * found[sequences[:, 1]]
    return ExactEquilibrium(found.tolist(), tuple((weights @ payoffs).tolist()))


def check_two_players(form: SequenceForm) -> None:
    """Raise ``UnsupportedGameError`` unless there are two players."""
    if (n := form.num_players) != 2:
        raise UnsupportedGameError(f"{form.name} has {n} player{'s'[: n != 1]}; lcp is for two. Try --method logit")


def _exact_plan(form: SequenceForm, behaviour: Table) -> Table:
    """Return realisation weights of behaviour; each set's last move takes the probability that the others leave."""
    a, plan = form.arrays, np.array([Fraction(1)] * form.num_sequences, dtype=object)
    for k in range(form.num_infosets):
        first, last = int(a.first[k]), int(a.first[k]) + int(a.size[k])
        behaviour[last - 1] = 1 - sum(behaviour[first : last - 1], Fraction(0))
        plan[first:last] = plan[int(a.parent[k])] * behaviour[first:last]
    return plan


def _float_plan(form: SequenceForm, weights: Table) -> FloatArray:
    plan = np.array(weights, dtype=np.float64)
    for player in range(2):
        own = form.player_sequences(player)
        plan[own] = on_the_polytope(form, player, plan[own])
    return plan


class _Side:
    """One player's part of the table: its sequences in terms of deviations from one pure plan.

    ``chosen``: a move of each information set and the empty sequence, which form the pure plan; ``free``: the others.
    With weights ``w`` of the free sequences and total weight ``t``, the plan is ``t * base + deviate @ w``.
    """

    def __init__(self, form: SequenceForm, player: int, own_payoffs: Table, one: Any) -> None:
        """Take payoffs against the start, (own sequences,); ``chosen`` becomes a best response to it."""
        a, own = form.arrays, form.player_sequences(player)
        self.size = own.stop - own.start
        zero = one - one
        own_payoffs = own_payoffs.copy()
        sets = [
            (int(a.first[k]) - own.start, int(a.size[k]), int(a.parent[k]) - own.start)
            for k in form.player_infosets(player)
        ]
        best = []
        for first, size, parent in reversed(sets):
            best.append(first + int(np.argmax(own_payoffs[first : first + size])))
            own_payoffs[parent] += own_payoffs[best[-1]]
        best.reverse()
        self.chosen = np.array([0, *best])
        self.free = np.setdiff1d(np.arange(self.size), self.chosen)
        self.deviate = np.full((self.size, len(self.free)), zero, dtype=np.asarray([one]).dtype)
        self.deviate[self.free, np.arange(len(self.free))] = one
        self.base = np.full(self.size, zero, dtype=self.deviate.dtype)
        self.base[0] = one
        for (first, size, parent), action in zip(sets, best, strict=True):
            self.base[action] = self.base[parent]
            others = [first + k for k in range(size) if first + k != action]
            self.deviate[action] = self.deviate[parent] - self.deviate[others].sum(axis=0)


class _Path:
    """The path of almost complementary vertices, as a table of the basic variables in terms of the others.

    Variable ``k`` of the first ``N`` is the weight of sequence ``k``, variable ``N + k`` the amount by which it falls
    short of the best; one of each pair is basic.  The last variable is the remaining weight of the start.
    """

    def __init__(self, form: SequenceForm, start: Table, sequences: Any, payoffs: Table, exact: bool) -> None:
        self.form, self.exact = form, exact
        one: Any = Fraction(1) if exact else 1.0
        count = form.num_sequences
        own = [form.player_sequences(p) for p in range(2)]
        matrices = []
        for player in range(2):
            matrix = np.full((own[0].stop, count - own[0].stop), one - one, dtype=object if exact else np.float64)
            np.add.at(matrix, (sequences[:, 0], sequences[:, 1] - own[0].stop), payoffs[:, player])
            matrices.append(matrix if player == 0 else matrix.T)
        forced = [matrices[p] @ start[own[1 - p]] for p in range(2)]
        sides = [_Side(form, p, forced[p], one) for p in range(2)]
        plans = [(own[p].start + side.chosen, own[p].start + side.free) for p, side in enumerate(sides)]
        self.basic = np.concatenate([part for chosen, free in plans for part in (chosen, count + free)])
        self.other = np.concatenate([*[part for chosen, free in plans for part in (free, count + chosen)], [2 * count]])
        self.table = np.full((count, count + 2), one - one, dtype=matrices[0].dtype, order="F")
        rows = np.cumsum([0, *[len(part) for side in sides for part in (side.chosen, side.free)]])
        columns = np.cumsum([0, *[len(part) for side in sides for part in (side.free, side.chosen)]])
        for p, side in enumerate(sides):
            plan, short = slice(rows[2 * p], rows[2 * p + 1]), slice(rows[2 * p + 1], rows[2 * p + 2])
            mine, slack = slice(columns[2 * p], columns[2 * p + 1]), slice(columns[2 * p + 1], columns[2 * p + 2])
            its = slice(columns[2 - 2 * p], columns[3 - 2 * p])
            regrets = -side.deviate.T @ matrices[p]
            self.table[plan, mine] = side.deviate[side.chosen]
            self.table[short, slack] = -side.deviate[side.chosen].T
            self.table[short, its] = regrets @ sides[1 - p].deviate
            self.table[plan, -2] = side.base[side.chosen]
            self.table[short, -2] = regrets @ sides[1 - p].base - regrets @ start[own[1 - p]]
            self.table[short, -1] = regrets @ start[own[1 - p]]
        self.first = self.basic.copy()
        self.one, self.count, self.pivots, self.made = one, count, 0, 0
        self.origin: tuple[Table, LongArray, LongArray] | None = None

    def follow(self) -> Table:
        """Follow the path to its end and return realisation weights (S,)."""
        start, column = 2 * self.count, self.count
        row = self._leaves(column)
        if row is None or self.table[row, -1] / -self.table[row, column] >= (self.one if self.exact else 1 - ZERO):
            self.table[:, -1] += self.table[:, -2]  # the best response to the start is one to itself, too
            return self._weights()
        self._pivot(row, column)
        at = int(np.flatnonzero(self.basic == start)[0])
        self.table[at] = -self.table[at]  # from here on in terms of the remaining weight of the start
        self.table[at, -1] += self.one
        if not self.exact:
            self.origin = (self.table.copy(order="F"), self.basic.copy(), self.other.copy())
        while True:
            entering = (int(self.other[column]) + self.count) % start
            column, row = self._entered(entering, prefer=start)
            leaving = self.basic[row]
            self._pivot(row, column)
            if leaving == start:
                return self._weights()

    def _entered(self, variable: int, prefer: int) -> tuple[int, int]:
        """Return the column of the entering variable and the row of the leaving one.

        The table is recomputed first where a pivot may be a rounding error, or after many pivots.
        """
        fresh = self.exact or self.pivots - self.made < RECENT
        while True:
            column = int(np.flatnonzero(self.other == variable)[0])
            row = self._leaves(column, prefer)
            clear = row is not None and -self.table[row, column] > SMALL and self.pivots - self.made < REFRESH
            if row is not None and (fresh or clear):
                return column, row
            if fresh:
                raise UnsupportedGameError(f"{self.form.name}: {LOST}")
            self._refresh()
            fresh = True

    def _refresh(self) -> None:
        """Recompute the table of the present basis from the first table, without the errors of the pivots since."""
        assert self.origin is not None  # set for tables of floats once the path has begun
        table, basic, other = self.origin
        left, entered = np.flatnonzero(~np.isin(basic, self.basic)), np.flatnonzero(~np.isin(other, self.other))
        retained, outside = np.flatnonzero(np.isin(basic, self.basic)), np.flatnonzero(np.isin(other, self.other))
        still = np.append(outside, self.count + 1)  # and the column of constants
        inverse = np.linalg.inv(table[np.ix_(left, entered)])
        below = -inverse @ table[np.ix_(left, still)]
        new = np.zeros_like(table, order="F")
        rows, columns = np.argsort(self.basic), np.argsort(self.other)
        place = rows[np.searchsorted(self.basic, np.concatenate([other[entered], basic[retained]]), sorter=rows)]
        at = columns[np.searchsorted(self.other, np.concatenate([basic[left], other[outside]]), sorter=columns)]
        at = np.append(at, self.count + 1)
        new[np.ix_(place[: len(entered)], at)] = np.hstack([inverse, below])
        beside = table[np.ix_(retained, entered)]
        new[np.ix_(place[len(entered) :], at)] = np.hstack(
            [beside @ inverse, beside @ below + table[np.ix_(retained, still)]]
        )
        new[np.abs(new) < NOISE] = 0.0
        self.table, self.made = new, self.pivots

    def _weights(self) -> Table:
        weights = np.full(self.count, self.one - self.one, dtype=self.table.dtype)
        in_basis = self.basic < self.count
        weights[self.basic[in_basis]] = self.table[in_basis, -1]
        return weights

    def _leaves(self, column: int, prefer: int = -1) -> int | None:
        """Return the row whose variable reaches zero first as that of ``column`` grows; ``None`` where none does."""
        falls = self.table[:, column]
        rows = np.flatnonzero(falls < (0 if self.exact else -ZERO))
        by = -falls[rows]
        for place in range(-1, self.count):
            if len(rows) < 2:
                break
            found = (self.table[rows, -1] if place < 0 else self._perturbed(rows, place)) / by
            least = found.min()
            retained = found <= least if self.exact else found <= least + ZERO
            if place < 0 and (found := rows[retained])[self.basic[found] == prefer].size:
                return int(found[self.basic[found] == prefer][0])
            rows, by = rows[retained], by[retained]
        return int(rows[0]) if len(rows) else None

    def _perturbed(self, rows: Any, place: int) -> Table:
        """Return how the basic variables of ``rows`` change with the variable that was first in row ``place``."""
        variable = self.first[place]
        found = np.flatnonzero(self.other == variable)
        if len(found):
            return -self.table[rows, found[0]]
        return (self.basic[rows] == variable) * self.one

    def _pivot(self, row: int, column: int) -> None:
        from scipy.linalg.blas import dger

        table = self.table
        falls, by = table[:, column].copy(), table[row, column]
        new = table[row] / -by
        new[column] = self.one / by
        table[:, column] = self.one - self.one
        touched = np.flatnonzero(falls != 0)
        places = np.flatnonzero(new != 0)
        if self.exact or len(touched) * len(places) < table.size // DENSE:
            table[np.ix_(touched, places)] += np.outer(falls[touched], new[places])
        else:
            dger(1.0, falls, new, a=table, overwrite_a=True)  # in place, since the table is in column-major order
        table[row] = new
        self.basic[row], self.other[column] = self.other[column], self.basic[row]
        self.pivots += 1


def check_table(form: SequenceForm, exact: bool) -> str:
    """Return the memory that the tables take, in words.  Raises ``BudgetError`` where it is not available."""
    needed = form.num_sequences**2 * (BYTES_A_FRACTION if exact else BYTES_A_FLOAT)
    return check_room(f"{form.name} has {form.num_sequences:,} sequences; the table of lcp takes", needed)


@dataclass(frozen=True)
class LinearComplementarity(TabularMethod):
    """The method ``lcp``: an equilibrium of two players, in one iteration."""

    takes: ClassVar[frozenset[str]] = frozenset({"target", "seconds", "start"})
    default: ClassVar[Limits] = Limits()

    exact: bool = False

    @property
    def name(self) -> str:
        """The full name, as ``solve`` takes it."""
        return full_name("lcp", lcp, exact=self.exact)

    def job(self, compiled: Compiled, config: SolveConfig) -> OneShotSolver:
        """Return a solver of a game.  ``start="random"`` begins the path at a profile drawn with the seed."""
        form = compiled.form
        check_two_players(form)
        start = random_interior(form, config.seed or 0) if config.start == "random" else None
        return LinearComplementaritySolver(compiled, self.name, start, self.exact)

    def solver(self, form: SequenceForm, start: FloatArray | None = None) -> OneShotSolver:
        check_two_players(form)
        return OneShotSolver(form, self.name, lambda: linear_complementarity(form, start))


@checks_arguments
def lcp(exact: bool = False) -> LinearComplementarity:
    """Complementary pivoting as a method of ``solve``: an equilibrium of two players with any payoffs.

    ``exact``: in fractions, of the game with its numbers rounded to simple fractions.

    >>> solution = infoset.solve("goofspiel(num_cards=3,returns_type=total_points)", infoset.lcp())
    >>> solution.epsilon < 1e-9
    True
    """
    return LinearComplementarity(bool(exact))


class LinearComplementaritySolver(OneShotSolver):
    """A solver that follows the path in floats; in fractions where asked for, or where floats fail on a small game."""

    def __init__(self, compiled: Compiled, name: str, start: FloatArray | None, exact: bool) -> None:
        super().__init__(compiled.form, name, self._find)
        self.compiled, self.start, self.exact = compiled, start, exact
        self.values: tuple[Fraction, ...] = ()

    def _find(self) -> FloatArray:
        if not self.exact:
            try:
                return linear_complementarity(self.form, self.start)
            except UnsupportedGameError:
                if self.form.num_sequences > FEW:
                    raise
        found = exact_equilibrium(self.compiled.tree, self.form, self.start)
        self.values = found.values
        return np.array(found.plan, dtype=np.float64)

    def restore(self, saved: dict[str, Any]) -> None:
        super().restore(saved)
        if self.exact and self.iteration:  # a checkpoint holds floats alone
            self.values = exact_equilibrium(self.compiled.tree, self.form, self.start).values

    def notes(self) -> dict[str, Any]:
        """Return the payoffs as fractions, where they were computed in fractions."""
        return {"exact_values": [str(value) for value in self.values]} if self.values else {}
