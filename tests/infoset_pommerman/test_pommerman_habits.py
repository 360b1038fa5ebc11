"""What the script that counts habits sees in games: every flame has an owner, every death a fire."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import infoset
from infoset_pommerman import state as st
from infoset_pommerman.game import PommermanState

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "pommerman_habits.py"
GAME = "pommerman:PommeTeamCompetition-v0"
spec = importlib.util.spec_from_file_location("pommerman_habits", SCRIPT)
assert spec is not None and spec.loader is not None
habits = sys.modules["pommerman_habits"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(habits)


@pytest.mark.parametrize("seed", range(4))
def test_flames_are_followed_back(seed: int) -> None:
    """Step by step the cells that burn are those that somebody's bombs lit; who dies, dies in one of them."""
    match = infoset.play_match(GAME, ["simple"] * 4, seed=seed)
    states = [state for state in infoset.replay_states(match) if isinstance(state, PommermanState)]
    watch = habits.Watch(states)
    for before, after in zip(watch.rows, watch.rows[1:], strict=False):
        watch._spread_fire(before, after)
        board = after[st.BOARD : st.BOARD + watch.size**2]
        assert set(np.flatnonzero(board == st.FLAMES).tolist()) == set(watch.burning)
    counted = habits.Watch(states).run()
    alive = [len(watch._living(states[-1].row, side)) for side in range(2)]
    assert [found["deaths"] for found in counted] == [2 - left for left in alive]
    for found in counted:
        assert found["deaths"] == sum(found[f"in {whose} fire"] for whose in ("own", "mate's", "enemy's"))
        assert found["bombs"] > found["bombs for nothing"]


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="there is no such file"):
        habits.main([str(tmp_path / "none.db")])
    assert not (tmp_path / "none.db").exists()
