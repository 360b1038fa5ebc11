"""Equilibria of two-player zero-sum matrix games by the simplex method: many small games in a kernel, one in fractions.

With all payoffs shifted to be positive, the column player's problem, to maximise the sum of ``q`` where ``matrix @ q``
is at most 1, has a feasible first basis, and the reduced costs of the last one are the row player's strategy (Dantzig
1951).  Every solution is checked by its *gap*: the row player's best payoff against the column player's strategy, less
the column player's best one against the row player's.  The gap is 0 exactly at an equilibrium.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from infoset.arguments import checks_arguments
from infoset.base import FloatArray, LongArray
from infoset.errors import ParameterError
from infoset.jit import kernel, linked_kernel

TOLERANCE = 1e-13
"""The largest gap of a solution, as a fraction of the range of payoffs, that is taken for rounding errors."""
REDUCED = 1e-13  # a reduced cost above the negative of this counts as 0, of payoffs from 1 to 2
LEAST_PIVOT = 1e-11
EQUAL_RATIO = 1e-15
PATIENCE = 8  # pivots by the steepest reduced cost, for each row and column, before Bland's rule, which cannot cycle


class Workspace(NamedTuple):
    """Arrays for the solution of one matrix game."""

    matrix: FloatArray  # (rows, columns)
    table: FloatArray  # (rows + 1, columns + 1) the condensed simplex tableau
    system: FloatArray  # (least of both + 1, the same + 1) a system of linear equations
    row: LongArray  # (rows,) the rows of the tableau, which leaves out those that equal the one before
    column: LongArray  # (columns,) its columns
    basic: LongArray  # (rows,) the variable of each row of the tableau: columns come first, then rows
    free: LongArray  # (columns,) the variable of each column
    x: FloatArray  # (rows,) the row player's strategy
    y: FloatArray  # (columns,) the column player's
    sums: FloatArray  # (columns,)

    @classmethod
    def of(cls, rows: int, columns: int) -> Workspace:
        """Return arrays for games of up to that many rows and columns."""
        size = min(rows, columns) + 1
        row, column, basic, free = (np.zeros(count, dtype=np.int64) for count in (rows, columns, rows, columns))
        return cls(
            np.zeros((rows, columns)), np.zeros((rows + 1, columns + 1)), np.zeros((size, size + 1)),
            row, column, basic, free, np.zeros(rows), np.zeros(columns), np.zeros(columns),
        )  # fmt: skip


@linked_kernel
def measure(r: Workspace, rows: int, columns: int) -> tuple[float, float]:
    """Return the expected payoff of the strategies in ``r``, and their gap."""
    value, best = 0.0, -np.inf
    r.sums[:columns] = 0.0
    for i in range(rows):
        total = 0.0
        for j in range(columns):
            total += r.matrix[i, j] * r.y[j]
        best = max(best, total)
        share = r.x[i]
        if share > 0.0:
            value += share * total
            for j in range(columns):
                r.sums[j] += share * r.matrix[i, j]
    worst = np.inf
    for j in range(columns):
        worst = min(worst, r.sums[j])
    return value, best - worst


@linked_kernel
def solve_room(r: Workspace, rows: int, columns: int, tolerance: float) -> tuple[float, float]:
    """Solve the game in ``r.matrix``; write both strategies, and return the value and the gap.

    A gap above ``tolerance`` times the range of payoffs means that the solution is not exact.
    """
    low, high, best, worst, row, column = np.inf, -np.inf, -np.inf, np.inf, 0, 0
    r.sums[:columns] = -np.inf
    for i in range(rows):
        least = np.inf
        for j in range(columns):
            paid = r.matrix[i, j]
            least = min(least, paid)
            r.sums[j] = max(r.sums[j], paid)
        low = min(low, least)
        if least > best:
            best, row = least, i
    for j in range(columns):
        high = max(high, r.sums[j])
        if r.sums[j] < worst:
            worst, column = r.sums[j], j
    r.x[:rows] = 0.0
    r.y[:columns] = 0.0
    if best >= worst:  # a saddle point
        r.x[row], r.y[column] = 1.0, 1.0
        return best, 0.0
    few_rows, few_columns = _find_distinct(r, rows, columns)
    if not _pivot(r, few_rows, few_columns, low, high - low):
        return 0.0, np.inf
    _read(r, few_rows, few_columns)
    value, gap = measure(r, rows, columns)
    if gap > tolerance * (high - low):
        _refine(r, few_rows, few_columns)
        value, gap = measure(r, rows, columns)
    return value, gap


@linked_kernel
def _find_distinct(r: Workspace, rows: int, columns: int) -> tuple[int, int]:
    """Number the rows and the columns that differ from the one before; return how many they are."""
    few_rows, few_columns = 1, 1
    r.row[0], r.column[0] = 0, 0
    for i in range(1, rows):
        j = 0
        while j < columns and r.matrix[i, j] == r.matrix[i - 1, j]:
            j += 1
        if j < columns:
            r.row[few_rows] = i
            few_rows += 1
    for j in range(1, columns):
        i = 0
        while i < rows and r.matrix[i, j] == r.matrix[i, j - 1]:
            i += 1
        if i < rows:
            r.column[few_columns] = j
            few_columns += 1
    return few_rows, few_columns


@linked_kernel
def _pivot(r: Workspace, rows: int, columns: int, low: float, span: float) -> bool:
    """Run the simplex method on payoffs scaled to lie from 1 to 2; return whether it ended at an optimum."""
    table, scale = r.table, 1.0 / span
    for i in range(rows):
        for j in range(columns):
            table[i, j] = (r.matrix[r.row[i], r.column[j]] - low) * scale + 1.0
        table[i, columns] = 1.0
        r.basic[i] = columns + i
    for j in range(columns):
        table[rows, j] = -1.0
        r.free[j] = j
    table[rows, columns] = 0.0
    limit = PATIENCE * (rows + columns)
    for step in range(10 * limit):
        entering = _find_entering(r, rows, columns, step < limit)
        if entering < 0:
            return True
        leaving = _find_leaving(r, rows, columns, entering)
        if leaving < 0:
            return False
        inverse = 1.0 / table[leaving, entering]
        for j in range(columns + 1):
            table[leaving, j] *= inverse
        table[leaving, entering] = inverse
        for i in range(rows + 1):
            factor = table[i, entering]
            if i != leaving and factor != 0.0:
                table[i, entering] = 0.0
                for j in range(columns + 1):
                    table[i, j] -= factor * table[leaving, j]
        left = r.basic[leaving]
        r.basic[leaving] = r.free[entering]
        r.free[entering] = left
    return False


@linked_kernel
def _find_entering(r: Workspace, rows: int, columns: int, steepest: bool) -> int:
    """Return the column with the lowest reduced cost, or by Bland's rule the first variable's; -1 at an optimum."""
    entering, most = -1, -REDUCED
    for j in range(columns):
        cost = r.table[rows, j]
        if steepest:
            if cost < most:
                entering, most = j, cost
        elif cost < -REDUCED and (entering < 0 or r.free[j] < r.free[entering]):
            entering = j
    return entering


@linked_kernel
def _find_leaving(r: Workspace, rows: int, columns: int, entering: int) -> int:
    """Return the row that bounds the entering variable, of several that of the first variable; -1 where none does."""
    leaving, least = -1, np.inf
    for i in range(rows):
        if r.table[i, entering] > LEAST_PIVOT:
            ratio = r.table[i, columns] / r.table[i, entering]
            first = leaving < 0 or r.basic[i] < r.basic[leaving]
            if ratio < least - EQUAL_RATIO or (ratio <= least + EQUAL_RATIO and first):
                leaving, least = i, ratio
    return leaving


@linked_kernel
def _read(r: Workspace, rows: int, columns: int) -> None:
    """Write the strategies of the last tableau, whose sums are the same but for rounding errors."""
    sum_x, sum_y = 0.0, 0.0
    for i in range(rows):
        if r.basic[i] < columns:
            sum_y += max(r.table[i, columns], 0.0)
    for j in range(columns):
        if r.free[j] >= columns:
            sum_x += max(r.table[rows, j], 0.0)
    for i in range(rows):
        if r.basic[i] < columns:
            r.y[r.column[r.basic[i]]] = max(r.table[i, columns], 0.0) / sum_y
    for j in range(columns):
        if r.free[j] >= columns:
            r.x[r.row[r.free[j] - columns]] = max(r.table[rows, j], 0.0) / sum_x


@linked_kernel
def _refine(r: Workspace, rows: int, columns: int) -> None:
    """Compute the strategies of the last basis anew from the payoffs: each makes the other's actions in it equal."""
    chosen_rows, chosen_columns, size = np.empty(rows, np.int64), np.empty(columns, np.int64), 0
    for i in range(rows):
        if r.basic[i] < columns:
            chosen_columns[size] = r.column[r.basic[i]]
            size += 1
    size = 0
    for j in range(columns):
        if r.free[j] >= columns:
            chosen_rows[size] = r.row[r.free[j] - columns]
            size += 1
    for i in range(size):
        for j in range(size):
            r.system[i, j] = r.matrix[chosen_rows[j], chosen_columns[i]]
    _solve_weights(r.system, size, chosen_rows, r.x)
    for i in range(size):
        for j in range(size):
            r.system[i, j] = r.matrix[chosen_rows[i], chosen_columns[j]]
    _solve_weights(r.system, size, chosen_columns, r.y)


@linked_kernel
def _solve_weights(system: FloatArray, size: int, chosen: LongArray, weights: FloatArray) -> None:
    """Write the weights of the chosen actions that give all rows of ``system`` the same sum, if there are such."""
    system[:size, size] = -1.0
    system[:size, size + 1] = 0.0
    system[size, :size] = 1.0
    system[size, size], system[size, size + 1] = 0.0, 1.0
    if not _eliminate(system, size + 1):
        return
    total = 0.0
    for i in range(size):
        total += max(system[i, size + 1], 0.0)
    for i in range(size):
        weights[chosen[i]] = max(system[i, size + 1], 0.0) / total


@linked_kernel
def _eliminate(system: FloatArray, size: int) -> bool:
    """Solve linear equations in place, the right-hand side in the last column; return whether they are regular."""
    for k in range(size):
        pivot = k
        for i in range(k + 1, size):
            if abs(system[i, k]) > abs(system[pivot, k]):
                pivot = i
        if abs(system[pivot, k]) < LEAST_PIVOT:
            return False
        for j in range(k, size + 1):
            swapped = system[k, j]
            system[k, j] = system[pivot, j]
            system[pivot, j] = swapped
        for i in range(k + 1, size):
            factor = system[i, k] / system[k, k]
            if factor != 0.0:
                for j in range(k, size + 1):
                    system[i, j] -= factor * system[k, j]
    for k in range(size - 1, -1, -1):
        for j in range(k + 1, size):
            system[k, size] -= system[k, j] * system[j, size]
        system[k, size] /= system[k, k]
    return True


@kernel
def _solve_one(r: Workspace, rows: int, columns: int, tolerance: float) -> tuple[float, float]:
    return solve_room(r, rows, columns, tolerance)


class MatrixEquilibrium(NamedTuple):
    """The value of a matrix game for the row player, both strategies, and their gap."""

    value: float
    rows: FloatArray  # (m,)
    columns: FloatArray  # (n,)
    gap: float


@checks_arguments
def solve_matrix_game(matrix: FloatArray, tolerance: float = TOLERANCE) -> MatrixEquilibrium:
    """Return an equilibrium of the zero-sum game that pays ``matrix`` (m, n) to the player who chooses a row.

    Where floating-point numbers leave a gap above ``tolerance`` times the range of payoffs, the game is solved again in
    fractions.  Raises ``ParameterError`` for an empty matrix, or payoffs that are not finite.

    >>> import numpy as np
    >>> from infoset.tree.matrix_games import solve_matrix_game
    >>> found = solve_matrix_game(np.array([[2.0, -1.0], [-1.0, 1.0]]))
    >>> round(found.value, 12), found.rows.round(12).tolist()
    (0.2, [0.4, 0.6])
    """
    payoffs = np.asarray(matrix, dtype=np.float64)
    if payoffs.ndim != 2 or not payoffs.size or not np.isfinite(payoffs).all():
        raise ParameterError(f"a matrix game of shape {payoffs.shape}; allowed: two dimensions of finite payoffs")
    room = Workspace.of(len(payoffs), payoffs.shape[1])
    room.matrix[:] = payoffs
    value, gap = _solve_one(room, len(payoffs), payoffs.shape[1], tolerance)
    if not gap <= tolerance * float(np.ptp(payoffs)):
        room.x[:], room.y[:] = solve_in_fractions(payoffs)
        value = float(room.x @ payoffs @ room.y)
        gap = float((payoffs @ room.y).max() - (room.x @ payoffs).min())
    return MatrixEquilibrium(float(value), room.x, room.y, max(float(gap), 0.0))


def solve_in_fractions(payoffs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return both players' strategies (m,), (n,) by the simplex method with Bland's rule, without rounding errors."""
    rows, columns = payoffs.shape
    low = Fraction(float(payoffs.min())) - 1
    table = [[Fraction(paid) - low for paid in row] + [Fraction(1)] for row in payoffs.tolist()]
    table.append([Fraction(-1)] * columns + [Fraction(0)])
    basic, free = list(range(columns, columns + rows)), list(range(columns))
    while entering := [j for j in range(columns) if table[rows][j] < 0]:
        c = min(entering, key=free.__getitem__)
        able = [i for i in range(rows) if table[i][c] > 0]
        r = min(able, key=lambda i: (table[i][columns] / table[i][c], basic[i]))
        inverse = 1 / table[r][c]
        table[r] = [entry * inverse for entry in table[r]]
        table[r][c] = inverse
        for i in range(rows + 1):
            factor = table[i][c]
            if i != r and factor:
                table[i][c] = Fraction(0)
                table[i] = [entry - factor * other for entry, other in zip(table[i], table[r], strict=True)]
        basic[r], free[c] = free[c], basic[r]
    x, y = [Fraction(0)] * rows, [Fraction(0)] * columns
    for i, variable in enumerate(basic):
        if variable < columns:
            y[variable] = table[i][columns]
    for j, variable in enumerate(free):
        if variable >= columns:
            x[variable - columns] = table[rows][j]
    return np.array([float(p / sum(x)) for p in x]), np.array([float(p / sum(y)) for p in y])
