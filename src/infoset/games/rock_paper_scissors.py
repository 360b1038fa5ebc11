"""Rock, paper, scissors with an arbitrary payoff table."""

from __future__ import annotations

from itertools import product
from math import isfinite

from infoset.errors import ParameterError, shorten
from infoset.games.matrix import matrix_game
from infoset.games.rules import Rules
from infoset.names import Value, format_value, full_name

ACTIONS = ("Rock", "Paper", "Scissors")
USUAL = ((0, -1, 1), (1, 0, -1), (-1, 1, 0))


def rock_paper_scissors(payoffs: tuple[Value, ...] = USUAL) -> Rules:
    """Rock, paper, scissors: ``payoffs[row][column]`` is what the row player wins from the column player."""
    if not _is_table(payoffs):
        raise ParameterError(
            f"rock_paper_scissors: payoffs={shorten(format_value(payoffs))} is not 3 rows of 3 finite numbers"
        )
    name = full_name("rock_paper_scissors", rock_paper_scissors, payoffs=payoffs)
    table: tuple[tuple[float, ...], ...] = payoffs  # type: ignore[assignment]
    return matrix_game(
        name,
        (ACTIONS, ACTIONS),
        {(a, b): (float(table[a][b]), 0.0 - float(table[a][b])) for a, b in product(range(3), repeat=2)},
    )


def _is_table(payoffs: object) -> bool:
    def is_row(row: object) -> bool:
        return (
            isinstance(row, tuple)
            and len(row) == len(ACTIONS)
            and all(isinstance(v, (int, float)) and isfinite(v) for v in row)
        )

    return isinstance(payoffs, tuple) and len(payoffs) == len(ACTIONS) and all(map(is_row, payoffs))
