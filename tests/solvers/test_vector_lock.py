"""Locked hands of nodes: written by class and filter, on the tree and on the vector form alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import infoset
from infoset.cli.app import app
from infoset.compiled import Compiled
from infoset.errors import ParameterError, UnknownNameError
from infoset.node_locking import read_lock
from infoset.spots import SpotTree

RIVER = "holdem_river"
TURN = "holdem(board=QsJh8h5h,pot=100,stack=100,bets='a',raises=none,range1='AA KQs',range2='QJs 99')"
CALLS: dict[str, Any] = {"player": "P2", "after": "bet 50", "hands": "QJs | AdQh", "actions": {"call": 1.0}}


def test_hands_are_locked_alike_on_the_tree_and_on_the_vector_form() -> None:
    tree = infoset.solve(RIVER, "cfr+", form="tree", iterations=3000, lock=[CALLS])
    vector = infoset.solve(RIVER, "cfr+", form="vector", iterations=3000, precision="double", lock=[CALLS])
    assert vector.lock == tree.lock and {*tree.lock} == {"P2"}
    assert vector.values == pytest.approx(tree.values, abs=2e-3)
    assert vector.exploitability < 0.02
    free = infoset.solve(RIVER, "cfr+", form="vector", iterations=3000)
    assert vector.values[1] < free.values[1] + 1e-3
    table = SpotTree.of(RIVER, vector.policy).node(["bet 50"]).tables[1]
    locked = [name in ("QdJd", "QcJc", "AdQh") for name in table.hands]
    assert sum(locked) == 3 and table.actions[1] == "call"
    assert table.strategy[locked, 1] == pytest.approx(np.ones(3)) and table.strategy[:, 1].min() < 0.9


@pytest.mark.parametrize("method", ["cfr+", "dcfr", "pcfr+", "pdcfr+"])
def test_the_same_update_takes_the_same_steps_around_a_lock(method: str) -> None:
    tree, vector = (
        infoset.solve(RIVER, method, form=form, precision=precision, iterations=20, lock=[CALLS])
        for form, precision in (("tree", None), ("vector", "double"))
    )
    assert vector.nash_conv == pytest.approx(tree.nash_conv, abs=1e-6)
    assert vector.values == pytest.approx(tree.values, abs=1e-6)


def test_a_whole_player_is_locked_and_only_the_other_counts() -> None:
    against = infoset.solve(RIVER, "cfr+", form="vector", iterations=500, lock={"P2": "random"})
    tree = infoset.solve(RIVER, "cfr+", form="tree", iterations=500, lock={"P2": "random"})
    assert against.values == pytest.approx(tree.values, abs=1e-3)
    assert against.exploitability == pytest.approx(against.nash_conv) and against.exploitability < 1e-3


def test_any_card_locks_a_decision_on_all_of_them() -> None:
    lock = {"player": "P1", "after": "check, check, *", "actions": {"check": 1}}
    solution = infoset.solve(TURN, "dcfr", form="vector", iterations=50, lock=[lock])
    tree = SpotTree.of(TURN, solution.policy)
    for card in ("2c", "2d", "Ks"):
        assert tree.node(["check", "check", card]).tables[0].strategy[:, 0] == pytest.approx(1)


def test_what_suits_alone_tell_apart_must_be_locked_alike() -> None:
    """Clubs and diamonds are alike on this board."""
    one = {"player": "P1", "after": "check, check, 2c", "actions": {"check": 1}}
    with pytest.raises(
        ParameterError, match=r"2c' and not so at .* 2d', which suits alone tell apart; lock both alike"
    ):
        infoset.solve(TURN, "dcfr", form="vector", iterations=5, lock=[one])
    infoset.solve(TURN, "dcfr", form="vector", iterations=5, lock=[one, {**one, "after": "check, check, 2d"}])
    hand = {"player": "P1", "hands": "AcKc | KcQc", "actions": {"check": 1}}
    with pytest.raises(ParameterError, match="'KcQc' and not so at 'KdQd'"):
        infoset.solve(TURN, "dcfr", form="vector", iterations=5, lock=[hand])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"player": "P3"}, "unknown player 'P3'"),
        ({"after": "bet 51"}, "unknown action after the start: 'bet 51'; did you mean 'bet 50'"),
        ({"after": "check"}, "unknown action after check: 'call'"),
        ({"after": "start"}, "P2 does not act after the start"),
        ({"hands": "top 20%"}, "the equity of hands is unknown here"),
        ({"hands": "KK"}, "no hand of P2 meets this after bet 50"),
        ({"actions": {"call": 0.5}}, "no probabilities from 0 to 1 that sum to 1"),
        ({"hand": "AA"}, "unknown field `hand`"),
    ],
)  # fmt: skip
def test_bad_locks_are_refused_in_one_line(changed: dict[str, Any], said: str) -> None:
    with pytest.raises((ParameterError, UnknownNameError), match=said) as raised:
        infoset.solve(RIVER, "dcfr", form="vector", iterations=5, lock=[{**CALLS, **changed}])
    assert "\n" not in str(raised.value)


def test_hands_are_hold_em_s_alone_and_locks_are_mappings() -> None:
    with pytest.raises(ParameterError, match="kuhn_poker has no hands"):
        read_lock(Compiled.of("kuhn_poker"), [{"player": "P1", "actions": {"bet": 1.0}}])
    with pytest.raises(ParameterError, match="is not a mapping"):
        read_lock(Compiled.of("kuhn_poker"), ["P1"])  # type: ignore[list-item]


def test_the_shell_reads_a_file_of_locks_and_the_run_keeps_them(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "spot.json"
    file.write_text(json.dumps([CALLS]))
    words = [
        "solve",
        RIVER,
        "--method",
        "dcfr",
        "--form",
        "vector",
        "--iterations",
        "20",
        "--out",
        str(tmp_path / "run"),
    ]
    app([*words, "--lock", str(file)], standalone_mode=False)
    assert "locked           P2 at" in capsys.readouterr().out
    first = infoset.Solution.load(tmp_path / "run")
    again = infoset.solve(out=tmp_path / "run", resume=True, iterations=40)
    assert again.lock == first.lock
    table = SpotTree.of(RIVER, again.policy).node(["bet 50"]).tables[1]
    assert table.strategy[table.hands.index("QdJd"), 1] == pytest.approx(1)
