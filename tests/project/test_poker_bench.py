"""The benchmark of spots: every row can be loaded, and a row that is quick is measured."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import infoset

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("poker_bench", ROOT / "benchmarks" / "poker.py")
assert SPEC is not None
assert SPEC.loader is not None
bench = importlib.util.module_from_spec(SPEC)
sys.modules["poker_bench"] = bench
SPEC.loader.exec_module(bench)


@pytest.mark.parametrize("name", bench.ROWS)
def test_every_row_is_a_game_with_its_pot(name: str) -> None:
    row = bench.ROWS[name]
    for game in filter(None, (row.game, row.before)):
        loaded = infoset.load(game)
        assert not hasattr(loaded, "spot") or loaded.spot.betting.pot == row.pot


def test_a_row_has_all_figures() -> None:
    row = bench.ROWS["river"]
    found = bench.measure(row)
    assert found["exploitability"] <= 0.1
    assert found["to 0.1"][1] >= found["to 0.5"][1] and found["arrays"] > 0 < found["peak"]
    assert len(bench.cells(row, found)) == len(bench.cells(row, None)) == 6
    assert bench.measure(row._replace(game="no_such_game", before="")) is None


def test_a_game_without_a_pot_is_measured_in_a_process() -> None:
    command = [sys.executable, ROOT / "benchmarks" / "poker.py", "leduc", "--json"]
    assert b'"to 0.1": [' in subprocess.run(command, check=True, capture_output=True).stdout
