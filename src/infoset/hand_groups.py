"""The hands of a table in groups, by class, made hand or draw, with their means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from infoset.base import FloatArray
from infoset.games.hand_classes import DRAWS, MADE_HANDS, NO_DRAW, cell_name, class_cell, draws, made_hand
from infoset.games.poker_hands import RANKS, cards_of
from infoset.hand_table import HandTable


class HandGroup(NamedTuple):
    """Some hands of a table; means are over the hands as they are held at the node.

    Where none of them is held there, means are over all of them alike.  Unknown values do not count; a mean of
    unknown values alone is not a number.
    """

    name: str
    places: tuple[int, ...]
    """The places of the hands in the table."""
    combinations: float
    """The sum of the weights."""
    share: float
    """The probability of the group among all hands of the table."""
    ev: float
    equity: float
    realised: float
    """The mean part of the pot that is won, by the mean equity."""
    frequencies: FloatArray
    """(A,) the probability of each action."""
    ev_actions: FloatArray
    """(A,) the expected payoff if all hands of the group took this action."""


def group_of(table: HandTable, places: Sequence[int] | None = None, name: str = "range") -> HandGroup:
    """Return the group of the hands at these places; without ``places`` that of all hands."""
    chosen = list(range(len(table.hands)) if places is None else places)
    shares = table.shares[chosen]
    share = float(shares.sum())
    parts = shares / share if share > 0 else np.full(len(chosen), 1 / max(len(chosen), 1))
    equity = _mean(parts, table.equity[chosen])
    pot_share = _mean(parts, table.pot_shares[chosen])
    return HandGroup(
        name,
        tuple(chosen),
        float(table.weights[chosen].sum()),
        share,
        float(_mean(parts, table.ev[chosen])),
        float(equity),
        float(pot_share / equity) if equity > 0 else float("nan"),
        _mean(parts, table.strategy[chosen]),
        _mean(parts, table.ev_actions[chosen]),
    )


def _mean(parts: FloatArray, values: FloatArray) -> FloatArray:
    """Return the mean over hands, without those whose values are unknown."""
    known = (parts > 0) & ~np.isnan(values).any(axis=tuple(range(1, values.ndim)))
    total = parts[known].sum()
    return parts[known] @ values[known] / total if total > 0 else np.full(values.shape[1:], np.nan)


def by_class(table: HandTable) -> dict[tuple[int, int], HandGroup]:
    """Return the classes of hands by row and column of the matrix of 13 by 13; those without hands are left out."""
    cells: dict[tuple[int, int], list[int]] = {}
    for place, hand in enumerate(table.hands):
        cells.setdefault(class_cell(cards_of(hand, "hand")), []).append(place)
    size = range(len(RANKS))
    every = ((row, column) for row in size for column in size)
    return {cell: group_of(table, cells[cell], cell_name(*cell)) for cell in every if cell in cells}


def by_made_hand(table: HandTable) -> list[HandGroup]:
    """Return the made hands of a table, the strongest first; those without hands are left out."""
    return _grouped(table, MADE_HANDS, made_hand)


def by_draw(table: HandTable) -> list[HandGroup]:
    """Return the draws of a table by each hand's strongest draw, then the hands without one; none on the river."""
    if len(table.board) == 5:
        return []
    return _grouped(table, (*DRAWS, NO_DRAW), lambda hand, board: (*draws(hand, board), NO_DRAW)[0])


def _grouped(
    table: HandTable, names: Sequence[str], find: Callable[[tuple[int, ...], tuple[int, ...]], str]
) -> list[HandGroup]:
    board = cards_of("".join(table.board), "board")
    groups: dict[str, list[int]] = {name: [] for name in names}
    for place, hand in enumerate(table.hands):
        groups[find(cards_of(hand, "hand"), board)].append(place)
    return [group_of(table, places, name) for name, places in groups.items() if places]
