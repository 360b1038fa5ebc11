"""The figures of hand tables in short: letters of actions, cells of the 13 by 13 matrix, and words for values."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from string import ascii_uppercase
from typing import NamedTuple

import numpy as np

from infoset.base import FloatArray
from infoset.errors import ParameterError
from infoset.games.hand_classes import class_cell
from infoset.games.poker_hands import DECK, cards_of
from infoset.hand_groups import HandGroup, by_class, group_of
from infoset.hand_table import HandTable
from infoset.view.action_colors import action_colors

MEASURES = ("strategy", "ev", "equity", "realised")
"""The figures that a matrix of hands can show."""


class Cell(NamedTuple):
    """One class of hands in the matrix."""

    group: HandGroup
    filled: float
    """The part of all hands of the class that gets here, from 0 to 1; each counts with its weight, up to 1."""


def matrix_cells(table: HandTable) -> dict[tuple[int, int], Cell]:
    """Return the classes of a table by row and column; those without hands are left out."""
    board = cards_of("".join(table.board), "board")
    left = [card for card in range(DECK) if card not in board]
    possible = np.zeros((13, 13))
    for k, low in enumerate(left):
        for high in left[k + 1 :]:
            possible[class_cell((high, low))] += 1
    most = max(1.0, float(table.weights.max(initial=0.0)))
    return {
        cell: Cell(group, group.combinations / most / float(possible[cell])) for cell, group in by_class(table).items()
    }


def check_measure(measure: str) -> None:
    """Raise ``ParameterError`` for anything but one of ``MEASURES``."""
    if measure not in MEASURES:
        raise ParameterError(f"a matrix of {measure!r}; allowed: {', '.join(MEASURES)}")


def action_letters(actions: Sequence[str]) -> str:
    """Return a letter for each action: f for fold, c for check or call, and bets by numbers from 1.

    >>> from infoset.view.hand_cells import action_letters
    >>> action_letters(["fold", "call", "raise 150", "raise 400"])
    'fc12'
    """
    signs, bets = {"fold": "f", "call": "c"}, iter("123456789" + ascii_uppercase)
    return "".join([signs.get(color) or next(bets, "*") for color in action_colors(actions)])


def share_letters(frequencies: FloatArray, width: int) -> list[int]:
    """Return ``width`` numbers of actions in their order, each action as often as its probability says.

    >>> import numpy as np
    >>> from infoset.view.hand_cells import share_letters
    >>> share_letters(np.array([0.1, 0.6, 0.3]), 5)
    [1, 1, 1, 2, 2]
    """
    if not np.isfinite(frequencies).all() or not frequencies.sum() > 0:
        return []
    exact = frequencies / frequencies.sum() * width
    counts = np.floor(exact + 1e-9).astype(int)
    for k in np.argsort(-(exact - counts), kind="stable")[: width - int(counts.sum())]:
        counts[k] += 1
    return [k for k, count in enumerate(counts.tolist()) for _ in range(count)]


def percent(value: float, digits: int = 1) -> str:
    """Return a probability as ``12.3 %``, ``-`` for no number."""
    return f"{100 * value:.{digits}f} %" if isfinite(value) else "-"


def chips(value: float) -> str:
    """Return a value with its sign, to about three digits: ``+1.25``, ``-12.5``, ``0``; ``-`` for no number."""
    if not isfinite(value):
        return "-"
    digits = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    return f"{value:+.{digits}f}" if round(value, digits) else "0"


def measured(group: HandGroup, measure: str) -> tuple[float, str]:
    """Return one of ``MEASURES`` but the strategy as a number and in words."""
    value = {"ev": group.ev, "equity": group.equity, "realised": group.realised}[measure]
    return value, chips(value) if measure == "ev" else percent(value, 0)


def tint_share(table: HandTable, measure: str, value: float) -> float:
    """Return where a figure lies from 0 (bad for the player) over .5 (even) to 1; .5 for no number.

    Values are compared with half of the pot, equity with one half, its realisation with all of it.
    """
    if not isfinite(value):
        return 0.5
    scale = {"ev": value / table.pot, "equity": value - 0.5, "realised": (value - 1.0) / 2}[measure]
    return float(np.clip(0.5 + scale, 0.0, 1.0))


def about_node(table: HandTable, players: Sequence[str]) -> str:
    """Return who acts (or looks on) where: ``P1 after check, bet 50``."""
    return f"{players[table.player]} {table.where or 'to begin'}"


def about_range(table: HandTable) -> list[tuple[str, str]]:
    """Return the figures of the whole table with their names; unknown ones are left out."""
    every = group_of(table)
    named = [
        ("combinations", f"{every.combinations:,.6g}"), ("reached", percent(table.probability)),
        ("EV", chips(every.ev)), ("equity", percent(every.equity)), ("realised", percent(every.realised, 0)),
    ]  # fmt: skip
    return [(name, words) for name, words in named if words != "-"]
