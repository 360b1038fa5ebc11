"""Tables of hands as CSV and JSON: one row for each hand, with what it is, its figures and those of each action."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from io import StringIO
from math import isfinite
from pathlib import Path
from typing import Any

from infoset.errors import FormatError, shorten
from infoset.files import replace_file
from infoset.games.hand_classes import class_name, draws, made_hand
from infoset.games.poker_hands import cards_of
from infoset.hand_groups import HandGroup, group_of
from infoset.hand_table import HandTable

FORMATS = (".csv", ".json")
ABOUT_HANDS = ("hand", "class", "weight", "share", "made hand", "draw", "equity", "ev", "realised")
"""The columns of a hand, besides those of its actions."""


def hand_table_json(table: HandTable) -> dict[str, Any]:
    """Return a table as an object for JSON: the node, the figures of the whole range, and a row for each hand.

    Unknown values are ``None``.  Frequencies and equity are between 0 and 1, values in chips; ``share`` is the
    probability of the hand at the node, ``draw`` its strongest draw (empty for none).
    """
    every, board = group_of(table), cards_of("".join(table.board), "board")
    rows, shares, realised = [], table.shares, table.realised
    for place, name in enumerate(table.hands):
        hand = cards_of(name, "hand")
        about = {
            "hand": name, "class": class_name(hand), "weight": _number(table.weights[place]),
            "share": _number(shares[place]), "made hand": made_hand(hand, board),
            "draw": next(iter(draws(hand, board)), ""), "equity": _number(table.equity[place]),
            "ev": _number(table.ev[place]), "realised": _number(realised[place]),
        }  # fmt: skip
        rows.append({**about, "actions": _actions(table, table.strategy[place], table.ev_actions[place])})
    return {
        "player": table.player, "where": table.where, "board": list(table.board), "pot": table.pot,
        "invested": _number(table.pot / 2 if table.invested is None else table.invested),
        "probability": _number(table.probability), "actions": list(table.actions),
        "range": _group(table, every), "hands": rows,
    }  # fmt: skip


def hand_table_csv(table: HandTable) -> str:
    """Return a table as CSV: a line of column names, then a line for each hand; unknown values are empty."""
    text = StringIO()
    write = csv.writer(text, lineterminator="\n")
    rows = hand_table_json(table)["hands"]
    write.writerow(
        [*ABOUT_HANDS, *(f"{action} {figure}" for action in table.actions for figure in ("frequency", "ev"))]
    )
    for row in rows:
        figures = [value for action in table.actions for value in row["actions"][action].values()]
        write.writerow([_cell(value) for value in (*(row[name] for name in ABOUT_HANDS), *figures)])
    return text.getvalue()


def save_hand_table(table: HandTable, path: str | Path) -> Path:
    """Write a table to a ``.csv`` or ``.json`` file.  Raises ``FormatError`` for another ending, and ``OSError``."""
    check_export(path)
    path = Path(path)
    as_json = path.suffix.lower() == ".json"
    text = json.dumps(hand_table_json(table), indent=1, allow_nan=False) if as_json else hand_table_csv(table)
    return replace_file(path, lambda file: file.write(text.encode()))


def save_hand_tables(tables: Sequence[HandTable], path: str | Path) -> Path:
    """Write several tables to a ``.json`` file, a list of them, or to a ``.csv`` file with a row a hand and action.

    Raises ``FormatError`` for another ending, and ``OSError``.
    """
    check_export(path)
    path = Path(path)
    as_json = path.suffix.lower() == ".json"
    found = [hand_table_json(table) for table in tables] if as_json else []
    text = json.dumps(found, indent=1, allow_nan=False) if as_json else hand_tables_csv(tables)
    return replace_file(path, lambda file: file.write(text.encode()))


def hand_tables_csv(tables: Sequence[HandTable]) -> str:
    """Return several tables as CSV: a row for each hand and action, one without an action for a player who looks on."""
    text = StringIO()
    write = csv.writer(text, lineterminator="\n")
    write.writerow(["node", "board", "player", "reached", *ABOUT_HANDS, "action", "frequency", "action ev"])
    for node in map(hand_table_json, tables):
        about = (node["where"], "".join(node["board"]), node["player"] + 1, _cell(node["probability"]))
        for row in node["hands"]:
            own = (*about, *(_cell(row[name]) for name in ABOUT_HANDS))
            for action, figures in (row["actions"] or {"": {"frequency": None, "ev": None}}).items():
                write.writerow([*own, action, *map(_cell, figures.values())])
    return text.getvalue()


def check_export(path: str | Path) -> None:
    """Raise ``FormatError`` for a file that is neither ``.csv`` nor ``.json``."""
    if Path(path).suffix.lower() not in FORMATS:
        raise FormatError(f"hands are written as {' or '.join(FORMATS)}", shorten(str(path)))


def _group(table: HandTable, group: HandGroup) -> dict[str, Any]:
    figures = {name: _number(getattr(group, name)) for name in ("combinations", "ev", "equity", "realised")}
    return {**figures, "actions": _actions(table, group.frequencies, group.ev_actions)}


def _actions(table: HandTable, frequencies: Any, values: Any) -> dict[str, Any]:
    return {
        action: {"frequency": _number(frequency), "ev": _number(ev)}
        for action, frequency, ev in zip(table.actions, frequencies, values, strict=True)
    }


def _number(value: float) -> float | None:
    return float(value) if isfinite(value) else None


def _cell(value: object) -> object:
    return "" if value is None else f"{value:.9g}" if isinstance(value, float) else value
