"""Matrix games: solved by hand, degenerate ones, and random ones against linear programs and fractions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from infoset.errors import ParameterError
from infoset.tree.matrix_games import solve_in_fractions, solve_matrix_game


def value_by_program(matrix: np.ndarray) -> float:
    """The value by HiGHS: maximise v where the row player's mixture pays at least v in every column."""
    rows, columns = matrix.shape
    found = linprog(
        np.r_[np.zeros(rows), -1.0],
        A_ub=np.c_[-matrix.T, np.ones(columns)], b_ub=np.zeros(columns),
        A_eq=np.r_[np.ones(rows), 0.0][None], b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
    )  # fmt: skip
    return -found.fun


def gap(matrix: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    return float((matrix @ y).max() - (x @ matrix).min())


@pytest.mark.parametrize(
    ("matrix", "value", "rows", "columns"),
    [
        ([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], 0, [1 / 3] * 3, [1 / 3] * 3),  # rock, paper, scissors
        ([[1, -1], [-1, 1]], 0, [0.5, 0.5], [0.5, 0.5]),  # matching pennies
        ([[3, 0], [-1, 2]], 1, [1 / 2, 1 / 2], [1 / 3, 2 / 3]),  # 2x2 without a saddle: (3·2 - 0·(-1)) / 6
        ([[2, 1, 4], [0, -1, 9], [1, 0, 5]], 1, [1, 0, 0], [0, 1, 0]),  # a saddle point
        ([[1, 5], [2, 4], [0, 7]], 2, [0, 1, 0], [1, 0]),
        ([[7]], 7, [1], [1]),
        ([[1, 0, 1], [0, 1, 0]], 0.5, [0.5, 0.5], [0.5, 0.5, 0]),  # equal columns, of which the first is played
    ],
)
def test_games_solved_by_hand(matrix, value, rows, columns) -> None:
    found = solve_matrix_game(np.array(matrix, dtype=float))
    assert found.value == pytest.approx(value, abs=1e-14)
    np.testing.assert_allclose(found.rows, rows, atol=1e-14)
    if columns != [0.5, 0.5, 0]:
        np.testing.assert_allclose(found.columns, columns, atol=1e-14)
    assert found.gap <= 1e-14


@pytest.mark.parametrize("shift", [0.0, 1e9, -1e9])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_degenerate_games_of_any_scale(shift: float, scale: float) -> None:
    """All payoffs equal, many equilibria, of rank 1, with rows that are copies: the gap is that of rounding alone."""
    rng = np.random.default_rng(1)
    for matrix in (
        np.zeros((4, 7)),
        np.eye(9),
        -np.eye(6),
        np.outer(rng.normal(size=8), rng.normal(size=5)),
        np.repeat(np.repeat(np.eye(3), 3, axis=0), 2, axis=1),
        np.sign(np.subtract.outer(np.arange(20), np.arange(20))) * 1.0,
    ):
        paid = matrix * scale + shift
        found = solve_matrix_game(paid)
        assert found.gap <= 1e-13 * np.ptp(paid) + 1e-15 * abs(shift) * 4
        assert found.rows.sum() == pytest.approx(1) and found.columns.sum() == pytest.approx(1)
        assert found.rows.min() >= 0 and found.columns.min() >= 0


@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from(["normal", "few", "products"]), st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_random_games_have_the_value_of_their_linear_program(rows, columns, kind, seed) -> None:
    rng = np.random.default_rng(seed)
    matrix = {
        "normal": lambda: rng.normal(size=(rows, columns)),
        "few": lambda: rng.integers(-1, 2, size=(rows, columns)).astype(float),
        "products": lambda: rng.normal(size=(rows, 2)) @ rng.normal(size=(2, columns)),
    }[kind]()
    found = solve_matrix_game(matrix)
    assert found.gap <= 1e-13 * max(np.ptp(matrix), 1e-3)
    assert found.value == pytest.approx(value_by_program(matrix), abs=1e-7)


@pytest.mark.parametrize("size", [13, 26, 51])
def test_games_as_large_as_those_of_oshi_zumo(size: int) -> None:
    rng = np.random.default_rng(size)
    for matrix in (rng.normal(size=(size, size)), rng.integers(-1, 2, size=(size, size)).astype(float)):
        found = solve_matrix_game(matrix)
        assert found.gap == pytest.approx(gap(matrix, found.rows, found.columns), abs=1e-15)
        assert found.gap <= 1e-13 * np.ptp(matrix)


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_fractions_solve_what_rounding_errors_leave(rows, columns, seed) -> None:
    """With a tolerance of 0 the game is solved in fractions, unless nothing was rounded."""
    matrix = np.random.default_rng(seed).integers(-2, 3, size=(rows, columns)) / 7
    x, y = solve_in_fractions(matrix)
    assert gap(matrix, x, y) <= 1e-15
    found = solve_matrix_game(matrix, 0.0)
    assert found.value == pytest.approx(float(x @ matrix @ y), abs=1e-15)


@pytest.mark.parametrize("matrix", [np.zeros((0, 3)), np.zeros(3), np.array([[1.0, np.nan]]), np.array([[np.inf]])])
def test_what_is_no_matrix_game_is_refused(matrix) -> None:
    with pytest.raises(ParameterError, match="a matrix game of shape"):
        solve_matrix_game(matrix)
