"""What agents of kaggle-environments are given and what becomes of their answers, recorded with the package itself.

``python tests/kaggle_recording.py`` writes ``tests/data/kaggle.json`` (kaggle-environments 1.33.2).
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "data" / "kaggle.json"
GAMES = {
    "kuhn_poker": "kuhn_poker",
    "leduc_poker": "leduc_poker",
    "dark_hex(rows=2,columns=2)": "dark_hex(num_rows=2,num_cols=2)",
    "phantom_tic_tac_toe": "phantom_ttt",
    "liars_dice": "liars_dice",
    "goofspiel(num_cards=4,points_order=descending,returns_type=total_points)": "open_spiel_goofspiel",
    "goofspiel(num_cards=4,imp_info=true)": "goofspiel(num_cards=4,imp_info=True)",
    "oshi_zumo(coins=6)": "oshi_zumo(coins=6)",
    "dark_hex": "open_spiel_dark_hex",
}
"""By infoset's names the environments of these names, or those that the package makes of these games of OpenSpiel."""

ANSWERS = {
    "a legal action": '{"submission": 1}',
    "a legal action and thoughts": '{"submission": 1, "thoughts": "a bluff"}',
    "true": '{"submission": True}',
    "an action that is not legal": '{"submission": 7}',
    "text": '{"submission": "1"}',
    "no submission": '{"action": 1}',
    "nothing": "None",
    "an integer": "1",
    "its own failure": '{"submission": -2}',
    "an exception": "1 // 0",
}
"""Expressions of what the first player of Kuhn poker answers."""


def make(game: str, configuration: dict[str, Any]) -> Any:
    """An environment of the package."""
    import kaggle_environments
    from kaggle_environments.envs.open_spiel_env import open_spiel_env

    named = game in kaggle_environments.environments
    return kaggle_environments.make(game if named else open_spiel_env._build_env(game), configuration)


def record_game(game: str, seed: int) -> dict[str, Any]:
    """All observations of one game between agents that draw their actions by ``seed``."""
    rng, calls = random.Random(seed), []

    def agent(observation: Any, configuration: Any) -> Any:
        calls.append(json.loads(json.dumps(observation)))
        legal = observation.get("legalActions")
        return {"submission": rng.choice(legal)} if legal else None

    env = make(game, {"seed": seed, "includeLegalActions": True})
    env.run([agent, agent])
    configuration = {key: value for key, value in env.configuration.items() if key != "seed"}
    return {
        "configuration": json.loads(json.dumps(configuration)),
        "actions": list(map(json.loads, env.info["actionHistory"])),
        "calls": calls,
        "returns": [state.reward for state in env.steps[-1]],
    }


def record_answer(answer: str) -> list[str]:
    """What becomes of the players after the first one's answer in Kuhn poker."""

    def agent(observation: Any, configuration: Any) -> Any:
        return eval(answer) if "observationString" in observation and observation.playerId == 0 else None

    env = make("kuhn_poker", {"seed": 1})
    env.run([agent, lambda observation, configuration: {"submission": 0} if observation.step else None])
    return [f"{state.status} {state.reward}" for state in env.steps[2]]


def record() -> dict[str, Any]:
    """Everything."""
    return {
        "games": {ours: record_game(theirs, seed=3) for ours, theirs in GAMES.items()},
        "answers": {name: record_answer(answer) for name, answer in ANSWERS.items()},
    }


if __name__ == "__main__":
    RECORDED.write_text(json.dumps(record(), indent=1) + "\n")
