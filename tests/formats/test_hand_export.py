"""Tables of hands as CSV and JSON."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from hand_tables import hand_table
from infoset.errors import FormatError
from infoset.formats.hand_tables import hand_table_csv, hand_table_json, save_hand_table


def test_a_row_has_what_the_hand_is_and_its_figures(tmp_path: Path) -> None:
    table = hand_table()
    saved = json.loads(save_hand_table(table, tmp_path / "node.json").read_text())
    assert saved == hand_table_json(table)
    assert saved["where"] == "after check, bet 50" and saved["board"] == ["Td", "9d", "6h"]
    place = table.hands.index("QdJd")
    row = saved["hands"][place]
    assert (row["class"], row["made hand"], row["draw"]) == ("QJs", "nothing", "combo draw")
    assert row["ev"] == table.ev[place] and row["weight"] == 1 and row["equity"] == table.equity[place]
    assert [one["frequency"] for one in row["actions"].values()] == table.strategy[place].tolist()
    assert sum(row["share"] for row in saved["hands"]) == pytest.approx(1)
    assert saved["range"]["ev"] == pytest.approx(table.shares @ table.ev)
    assert saved["range"]["actions"]["call"]["frequency"] == pytest.approx(table.shares @ table.strategy[:, 1])


def test_csv_has_the_same_figures(tmp_path: Path) -> None:
    table = hand_table()
    rows = list(csv.DictReader(StringIO(save_hand_table(table, tmp_path / "node.csv").read_text())))
    assert [row["hand"] for row in rows] == [*table.hands]
    assert [float(row["raise 400 ev"]) for row in rows] == pytest.approx(table.ev_actions[:, 3].tolist())
    assert [float(row["fold frequency"]) for row in rows] == pytest.approx(table.strategy[:, 0].tolist())
    assert {row["made hand"] for row in rows} > {"set", "top pair"}


def test_unknown_values_are_empty() -> None:
    table = hand_table(hands="AhKh", ev=np.array([np.nan]), ev_actions=np.full((1, 4), np.nan))
    assert hand_table_json(table)["hands"][0]["ev"] is None and hand_table_json(table)["probability"] is None
    (row,) = csv.DictReader(StringIO(hand_table_csv(table)))
    assert row["ev"] == row["call ev"] == ""


def test_who_does_not_move_has_no_columns_of_actions() -> None:
    none = np.zeros((1, 0))
    table = hand_table(hands="AhKh", actions=(), strategy=none, ev_actions=none)
    assert hand_table_csv(table).splitlines()[0] == "hand,class,weight,share,made hand,draw,equity,ev,realised"


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"hands are written as \.csv or \.json"):
        save_hand_table(hand_table(), tmp_path / "node.xls")
