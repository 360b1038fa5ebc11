"""Recorded games of the reference environment, step for step: states, rewards, ends and observations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extent import sample
from infoset_pommerman import state as st
from infoset_pommerman.config import Config
from infoset_pommerman.engine import advance, close_in, engine
from infoset_pommerman.observation import observations
from infoset_pommerman.rules import scratch
from pommerman_golden import DIGITS, KINDS, config_of, games, to_compact, to_row

RESULT = {st.WIN: 0, st.TIE: 2}  # what the reference calls a win and a tie
COUNTS = {
    "ffa": 67,
    "onevsone": 67,
    "team": 57,
    "team_full": 22,
    "radio": 54,
    "kick": 80,
    "collapse": 70,
    "stress": 1100,
    "rare": 329,
}


@pytest.mark.parametrize("kind", KINDS)
def test_recorded_games_replay_without_a_difference(kind: str, shared: Path) -> None:
    recorded = list(games(shared, kind))
    assert len(recorded) == COUNTS[kind]
    for game in recorded[:: sample(3, 1)]:
        replay(game)


def replay(game: dict[str, Any]) -> None:
    config = config_of(game)
    agents, size = config.num_agents, config.size
    row, work, arrays = to_row(game["s0"], config), scratch(size), engine(config)
    if "obs0" in game:
        assert compact(observations(row, config), config) == game["obs0"]
    for number, played in enumerate(game["steps"]):
        where = (game["label"], game["seed"], game["env"], number)
        moves, words = joint(played["act"])
        advance(row, work, arrays.settings, arrays.collapses, arrays.near, moves, words)
        result, rewards = row[st.RESULT], row[st.REWARDS :][:agents]
        assert (rewards.tolist(), result != st.RUNNING) == (played["r"], played["d"]), where
        if played["d"]:
            info = played["info"]
            assert RESULT[int(result)] == info["result"], where
            assert np.flatnonzero(rewards == 1).tolist() == info.get("winners", []), where
        if "obs" in played:
            assert compact(observations(row, config), config) == played["obs"], where
        close_in(row, arrays.settings, arrays.collapses)
        found = to_compact(row, size, agents)
        assert found == {key: played["s"][key] for key in found}, where
        if "m" in played["s"]:
            assert row[st.MESSAGES : st.BOMBS].reshape(4, 2).tolist() == played["s"]["m"], where


def joint(acts: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Moves and words of four agents."""
    moves, words = np.zeros(4, np.int16), np.zeros((4, st.WORDS), np.int16)
    for k, act in enumerate(acts):
        if isinstance(act, list):
            moves[k], words[k] = act[0], act[1:]
        else:
            moves[k] = act
    return moves, words


def compact(found: list[dict[str, Any]], config: Config) -> list[dict[str, Any]]:
    """Observations as they are recorded."""
    return [_compact(one) for one in found]


SHORT = {
    "bomb_blast_strength": "bbs",
    "bomb_life": "blife",
    "bomb_moving_direction": "bdir",
    "flame_life": "flife",
    "board": "board",
}
NAMES = {
    "blast_strength": "bs",
    "can_kick": "kick",
    "ammo": "ammo",
    "step_count": "sc",
    "game_type": "gt",
    "game_env": "ge",
    "alive": "alive",
}


def _compact(one: dict[str, Any]) -> dict[str, Any]:
    short: dict[str, Any] = {SHORT[k]: "".join(DIGITS[int(v)] for v in one[k].ravel()) for k in SHORT}
    short |= {NAMES[key]: one[key] for key in NAMES}
    short |= {"pos": list(one["position"]), "teammate": int(one["teammate"]), "enemies": list(map(int, one["enemies"]))}
    if "message" in one:
        short["msg"] = list(one["message"])
    return short
