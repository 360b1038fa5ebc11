"""Trembling-hand refinements of zero-sum games: equilibria that are limits as mistakes vanish, exact in the limit.

Every sequence must be played with a least weight, a polynomial in ε: either ε times a uniform plan, whose limits are
the equilibria that are perfect in the normal form (Selten 1975), or a factor ε for each own move, whose limits are
quasi-perfect (van Damme 1984; Miltersen & Sørensen 2010, "Computing a quasi-perfect equilibrium of a two-player game").
The matrix of the linear program stays the same; its right-hand side and its costs are polynomials.  HiGHS solves it for
decreasing values of ε; its basis is then kept as ε goes to 0, and a few pivots correct errors of the numerical solution
by comparing polynomials from their lowest terms (Farina, Gatti & Sandholm 2018).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from infoset import status
from infoset.arguments import checks_arguments
from infoset.base import BoolArray, FloatArray, LongArray
from infoset.errors import UnsupportedGameError
from infoset.memory import check_room
from infoset.names import check_choice
from infoset.solvers.metrics import nash_conv
from infoset.solvers.tabular.linear_program import HIGHS, check_zero_sum, constraints, payoff_matrix
from infoset.tree.plans import realisation, uniform
from infoset.tree.sequence_form import SequenceForm

EPSILONS = (0.1, 0.03, 0.01, 0.003, 0.001)
ZERO = 1e-9  # a coefficient, where the largest payoff is 1
GAINED = 1e-7  # share of the payoff range: a larger gain means that there is no equilibrium
MOST_PIVOTS = 2000
BYTES_A_COEFFICIENT = 80
"""Upper bound per variable or row and power of ε, with the copies that are made on the way."""


def quasi_perfect(form: SequenceForm, player: int) -> FloatArray:
    """Return the least weights (S_player, K) of a player's sequences by powers of ε: a factor ε for each move.

    >>> form = infoset.SequenceForm.of(infoset.load("kuhn_poker"))
    >>> infoset.solvers.tabular.trembles.quasi_perfect(form, 0)[-2:].tolist()
    [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    """
    actions = form.lengths[form.player_sequences(player)]
    least = np.eye(int(actions.max()) + 1)[actions]
    least[0] = 0.0  # the empty sequence has weight 1
    return least


def normal_form_perfect(form: SequenceForm, player: int) -> FloatArray:
    """Return the least weights (S_player, 2) of a player's sequences: ε times a uniform plan."""
    least = realisation(form, uniform(form))[form.player_sequences(player)]
    return np.stack([np.zeros(len(least)), least], axis=1)


TREMBLES: dict[str, Callable[[SequenceForm, int], FloatArray]] = {
    "normal-form-perfect": normal_form_perfect,
    "quasi-perfect": quasi_perfect,
}
"""The least weights, by the refinement that they lead to."""


@checks_arguments
def trembling_equilibrium(form: SequenceForm, refinement: str) -> FloatArray:
    """Return a refined equilibrium as behaviour (S,) at every information set, also at those that are not reached.

    Raises ``UnsupportedGameError`` for other games than those of two players with a constant sum, and where rounding
    errors leave no basis; ``ParameterError`` for another refinement.

    >>> form = infoset.SequenceForm.of(infoset.load("kuhn_poker"))
    >>> strategy = infoset.trembling_equilibrium(form, "quasi-perfect")
    >>> infoset.nash_conv(form, infoset.realisation(form, strategy)) < 1e-9
    True
    """
    check_zero_sum(form)
    check_choice("refinement", refinement, tuple(TREMBLES))
    strategy = np.ones(form.num_sequences)
    room = check_polynomials(form, refinement)
    with status.during(f"solving the linear program of hands that tremble, with polynomials of {room}"):
        for player in range(2):
            strategy[form.player_sequences(player)] = _Program(form, player, TREMBLES[refinement]).solve()
    if nash_conv(form, realisation(form, strategy)) > GAINED * form.widest_range:
        raise UnsupportedGameError(f"{form.name}: rounding errors leave no equilibrium")
    return strategy


def check_polynomials(form: SequenceForm, refinement: str) -> str:
    """Return the memory that the coefficients of all powers of ε take, in words.

    Raises ``BudgetError`` where that memory is not available.
    """
    powers = 2 if refinement == "normal-form-perfect" else int(form.lengths.max()) + 1
    needed = BYTES_A_COEFFICIENT * float(powers) * (form.num_sequences + form.num_infosets) * 2
    return check_room(
        f"{form.name} has {form.num_sequences:,} sequences of up to {powers - 1:,} moves; the polynomials of hands "
        "that tremble take",
        needed,
    )


class _Program:
    """The program that maximises ``costs @ ε`` subject to ``matrix @ z = right @ ε``, with ε for (1, ε, ε², …).

    The variables are: the weights of own sequences above their least weights; the values of the opponent's information
    sets; the amounts by which its sequences fall short of these; and one for each row, which is fixed to 0.
    """

    def __init__(self, form: SequenceForm, player: int, trembles: Callable[[SequenceForm, int], FloatArray]) -> None:
        from scipy.sparse import block_array, eye_array

        self.form, self.player = form, player
        payoff, own, other = payoff_matrix(form, player), constraints(form, player), constraints(form, 1 - player)
        payoff = payoff / (abs(payoff).max() or 1.0)
        self.least, opponent_least = _alike(trembles(form, player), trembles(form, 1 - player))
        self.own, values, their = own.shape[1], other.shape[0], other.shape[1]
        at_start = np.zeros((own.shape[0], self.least.shape[1]))
        at_start[0, 0] = 1.0
        rows = block_array([[own, None, None], [payoff.T, -other.T, -eye_array(their)]])
        self.matrix = block_array([[rows, eye_array(rows.shape[0])]], format="csc")
        self.right = np.vstack([at_start - own @ self.least, -(payoff.T @ self.least)])
        self.costs = np.zeros((self.matrix.shape[1], self.least.shape[1]))
        self.costs[self.own, 0] = 1.0
        self.costs[self.own + values : self.own + values + their] = opponent_least
        self.lower, self.upper = np.zeros(self.matrix.shape[1]), np.full(self.matrix.shape[1], np.inf)
        self.lower[self.own : self.own + values] = -np.inf
        self.upper[rows.shape[1] :] = 0.0

    def solve(self) -> FloatArray:
        """Return behaviour (S_player,).  Raises ``UnsupportedGameError``."""
        best: _Vertex | None = None
        for basis in self._bases():
            at = _Vertex(self, basis)
            if best is None or at.wrong < best.wrong:
                best = at
            if not at.wrong:
                break
        for _ in range(MOST_PIVOTS if best else 0):
            assert best is not None
            if not best.wrong:
                return self._behaviour(best)
            best = best.pivoted()
        raise UnsupportedGameError(f"{self.form.name}: rounding errors leave no basis as mistakes become rare")

    def _bases(self) -> Any:
        """Yield the numbers (rows,) of HiGHS's basic variables for decreasing values of ε."""
        import highspy

        highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        columns = self.matrix.shape[1] - self.matrix.shape[0]
        highs.setOptionValue("output_flag", False)
        for name, value in HIGHS.items():
            highs.setOptionValue(name, value)
        program, inside = highspy.HighsLp(), self.matrix[:, :columns]
        program.num_col_, program.num_row_ = columns, self.matrix.shape[0]
        program.col_lower_, program.col_upper_ = self.lower[:columns], self.upper[:columns]
        program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        program.a_matrix_.start_, program.a_matrix_.index_ = inside.indptr, inside.indices
        program.a_matrix_.value_ = inside.data
        basis = None
        for epsilon in EPSILONS:
            powers = epsilon ** np.arange(self.right.shape[1])
            program.col_cost_ = -(self.costs[:columns] @ powers)
            program.row_lower_ = program.row_upper_ = self.right @ powers
            highs.passModel(program)
            if basis is not None:
                highs.setBasis(basis)
            highs.run()
            if highs.getModelStatus() == highspy.HighsModelStatus.kOptimal:  # infeasible where ε is too large
                basis = highs.getBasis()
                status = [*basis.col_status, *basis.row_status]
                yield np.flatnonzero([one == highspy.HighsBasisStatus.kBasic for one in status])

    def _behaviour(self, at: _Vertex) -> FloatArray:
        """Return the limit of behaviour as ε goes to 0: each set's moves by their lowest power."""
        plan = self.least.copy()
        inside = at.basic < self.own
        plan[at.basic[inside]] += at.values[inside]
        a, start = self.form.arrays, self.form.player_sequences(self.player).start
        strategy = np.ones(self.own)
        for k in self.form.player_infosets(self.player):
            actions = slice(int(a.first[k]) - start, int(a.first[k] + a.size[k]) - start)
            power = int(_lowest(plan[actions]).min())
            weights = np.maximum(plan[actions, power], 0.0)
            weights[weights < ZERO * weights.max()] = 0.0
            strategy[actions] = weights / weights.sum()
        return strategy


class _Vertex:
    """A basis of the program, with its basic variables and its reduced costs as polynomials."""

    def __init__(self, program: _Program, basic: LongArray) -> None:
        from scipy.sparse.linalg import splu

        self.program, self.basic = program, basic
        self.factors = splu(program.matrix[:, basic].tocsc())
        self.values = self.factors.solve(program.right)
        self.reduced_costs = program.costs - program.matrix.T @ self.factors.solve(program.costs[basic], trans="T")
        self.outside: BoolArray = program.upper > 0  # variables fixed to 0 never enter
        self.outside[basic] = False

    def too_small(self) -> LongArray:
        """Return the places of basic variables outside their bounds: below 0, or not 0 where they are fixed to 0."""
        fixed = (self.program.upper[self.basic] == 0) & (np.abs(self.values) > ZERO).any(axis=1)
        return np.flatnonzero(fixed | (_negative(self.values) & (self.program.lower[self.basic] == 0)))

    def wanted(self) -> LongArray:
        """Return the nonbasic variables whose entry would raise the objective."""
        return np.flatnonzero(_negative(-self.reduced_costs) & self.outside)

    @property
    def wrong(self) -> int:
        """The number of violations that keep the basis from being optimal."""
        return len(self.too_small()) + len(self.wanted())

    def pivoted(self) -> _Vertex:
        """Return the vertex after a pivot that corrects the first violation.  Raises ``UnsupportedGameError``."""
        if (places := self.too_small()).size:
            place = int(places[np.argmin(self.basic[places])])
            entering = self._enters(place)
        else:
            entering = int(self.wanted()[0])
            place = self._leaves(entering)
        if min(entering, place) < 0:
            raise UnsupportedGameError(f"{self.program.form.name}: rounding errors leave no pivot")
        basic = self.basic.copy()
        basic[place] = entering
        return _Vertex(self.program, basic)

    def _enters(self, place: int) -> int:
        """Return the variable that corrects a basic one at the least cost; -1 for none."""
        row = self.program.matrix.T @ self.factors.solve(np.eye(1, len(self.basic), place)[0], trans="T")
        grows = -1.0 if _negative(self.values[place][None])[0] else 1.0
        found = np.flatnonzero((row * grows > ZERO) & self.outside)
        cost = np.where(_negative(-self.reduced_costs[found])[:, None], 0.0, -self.reduced_costs[found])
        return _first(found, cost / (row[found] * grows)[:, None])

    def _leaves(self, entering: int) -> int:
        """Return the place of the basic variable that is first to reach its bound as another grows; -1 for none."""
        falls = self.factors.solve(self.program.matrix[:, [entering]].toarray()[:, 0])
        fixed = self.program.upper[self.basic] == 0
        if (stuck := np.flatnonzero(fixed & (np.abs(falls) > ZERO))).size:
            return int(stuck[0])
        found = np.flatnonzero((falls > ZERO) & (self.program.lower[self.basic] == 0))
        return _first(found, self.values[found] / falls[found][:, None])


def _alike(one: FloatArray, other: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return both, padded to the same number of powers."""
    powers = max(one.shape[1], other.shape[1])
    first, second = (np.pad(each, ((0, 0), (0, powers - each.shape[1]))) for each in (one, other))
    return first, second


def _lowest(polynomials: FloatArray) -> LongArray:
    """Return (N,) the lowest power with a nonzero coefficient; one above the last where there is none."""
    there = np.abs(polynomials) > ZERO
    return np.asarray(np.where(there.any(axis=1), there.argmax(axis=1), polynomials.shape[1]))


def _negative(polynomials: FloatArray) -> BoolArray:
    """Return (N,) which polynomials are below 0 for all small ε."""
    power = np.minimum(_lowest(polynomials), polynomials.shape[1] - 1)
    return np.take_along_axis(polynomials, power[:, None], axis=1)[:, 0] < -ZERO


def _first(found: LongArray, ratios: FloatArray) -> int:
    """Return the variable of least ratio, comparing coefficients from the lowest power on; -1 for none."""
    for power in range(ratios.shape[1]):
        if len(found) < 2:
            break
        retained = ratios[:, power] <= ratios[:, power].min() + ZERO
        found, ratios = found[retained], ratios[retained]
    return int(found[0]) if len(found) else -1
