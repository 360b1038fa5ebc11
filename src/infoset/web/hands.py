"""The information sets of a hold'em decision by classes of hands: the familiar matrix of 13 by 13."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from infoset.errors import InfosetError
from infoset.games.holdem import HoldemRules
from infoset.games.poker_hands import RANKS, SUITS
from infoset.view.hand_decisions import class_cells, class_name
from infoset.web import nodes
from infoset.web.nodes import Group, Row
from infoset.web.sources import Source

HAND = re.compile(f"([{RANKS}])([{SUITS}])([{RANKS}])([{SUITS}])")


def hand_cells(source: Source, group: Group) -> list[dict[str, Any]] | None:
    """Return the classes of hands of a group, weighted by each hand's reach probability; ``None`` for other games.

    Each class has its ``row`` and ``column``, ``name``, ``hands``, ``filled`` (the mean reach of its hands divided by
    the largest reach of any hand), ``p`` (a probability per move), and, where values are known, ``ev`` (one per move)
    and ``value``.
    """
    try:
        if not isinstance(source.game, HoldemRules):
            return None
    except InfosetError:
        return None
    rows = [group.row(k) for k in range(group.total)]
    hands = [_hand(row.key) for row in rows]
    if not rows or None in hands:
        return None
    known = [hand for hand in hands if hand is not None]
    figures = nodes.shown(source, None, rows)
    reach = np.array([found["reach"] or 0.0 for found in figures])
    most = float(reach.max()) or 1.0
    cells = []
    for (line, column), places in class_cells(known).items():
        if places:
            cell = _cell(rows, figures, reach, places)
            about = {"row": line, "column": column, "name": class_name(line, column)}
            cells.append({**about, "filled": float(reach[places].mean()) / most, **cell})
    return cells


def _hand(key: str) -> tuple[int, ...] | None:
    """Return the two cards with which a key begins, numbered as in ``poker_hands``."""
    found = HAND.match(nodes.words_of(key)[0]) if key else None
    if found is None:
        return None
    one, two = (4 * RANKS.index(found[k]) + SUITS.index(found[k + 1]) for k in (1, 3))
    return one, two


def _cell(rows: Sequence[Row], figures: list[dict[str, Any]], reach: Any, places: list[int]) -> dict[str, Any]:
    """Return the hands of a class, and their means weighted by reach; unweighted where none is reached."""
    weights = reach[places] if reach[places].sum() > 0 else np.ones(len(places))
    weights = weights / weights.sum()

    def mean(name: str) -> Any:
        found = [figures[k].get(name) for k in places]
        return None if any(one is None for one in found) else (weights @ np.array(found)).tolist()

    return {
        "hands": [nodes.words_of(rows[k].key)[0] for k in places],
        "p": mean("p"), "ev": mean("ev"), "value": mean("value"),
    }  # fmt: skip
