"""A node of a hold'em solution as plain data: the figures of the range, by classes and made hands, and next cards."""

from __future__ import annotations

from typing import Any

import numpy as np

from infoset.base import FloatArray
from infoset.hand_groups import by_draw, by_made_hand, group_of
from infoset.hand_table import HandTable
from infoset.next_cards import NextCards
from infoset.view.action_colors import action_colors
from infoset.view.hand_cells import matrix_cells
from infoset.web import nodes


def hand_cells(table: HandTable) -> list[dict[str, Any]]:
    """Return the classes of hands, with means over the hands as they get here.

    Each class has its ``row`` and ``column``, ``name``, ``hands``, ``filled`` (the part of all hands of the class that
    gets here), ``p`` (a probability per action), and, where they are known, ``ev`` (one per action), ``value``,
    ``equity`` and ``realised``.
    """
    return [
        {
            "row": row, "column": column, "name": group.name, "filled": filled,
            "hands": [table.hands[k] for k in group.places],
            "p": _known(group.frequencies), "ev": _known(group.ev_actions), "value": _known(np.array(group.ev)),
            "equity": _known(np.array(group.equity)), "realised": _known(np.array(group.realised)),
        }
        for (row, column), (group, filled) in matrix_cells(table).items()
    ]  # fmt: skip


def hand_kinds(table: HandTable) -> list[dict[str, Any]]:
    """Return the tables of made hands and of draws: their ``title`` and ``rows``.

    Each row has its ``name``, ``share`` (its probability among the hands), ``p`` (a probability per action), ``value``.
    """
    return [
        {
            "title": title,
            "rows": [
                {
                    "name": group.name, "share": _known(np.array(group.share)),
                    "p": _known(group.frequencies), "value": _known(np.array(group.ev)),
                    "equity": _known(np.array(group.equity)), "realised": _known(np.array(group.realised)),
                }
                for group in groups
            ],
        }
        for title, groups in (("Made hand", by_made_hand(table)), ("Draw", by_draw(table))) if groups
    ]  # fmt: skip


def range_figures(table: HandTable) -> dict[str, Any]:
    """Return the figures of a whole range: ``combinations``, ``value``, ``equity``, ``realised``, and ``p``, ``ev``."""
    every = group_of(table)
    names = {"value": every.ev, "equity": every.equity, "realised": every.realised}
    return {
        "combinations": every.combinations, "pot": table.pot, "board": table.board, "p": _known(every.frequencies),
        "ev": _known(every.ev_actions), **{name: _known(np.array(value)) for name, value in names.items()},
    }  # fmt: skip


def card_figures(cards: tuple[NextCards, NextCards]) -> dict[str, Any]:
    """Return what each card changes that may be dealt next: for each player, and the first decision after it."""
    first = next((one for one in cards if one.actions), cards[0])
    return {
        "cards": first.cards, "player": first.player, "moves": first.actions, "colors": action_colors(first.actions),
        "p": first.frequencies.tolist() if first.actions else None,
        "before": [_known(np.array(one.before)) for one in cards],
        "after": [[nodes.finite(value) for value in one.ev] for one in cards],
    }  # fmt: skip


def _known(values: FloatArray) -> Any:
    return None if np.isnan(values).any() else values.tolist()
