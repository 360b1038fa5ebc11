"""Scripts and agents written for the reference environment, the playground, run over our rules."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import infoset_pommerman.playground as pommerman
from infoset import load_agent, play_match, play_series
from infoset.errors import (
    FormatError,
    GameRuleError,
    IllegalActionError,
    ParameterError,
    UnknownNameError,
    UnsupportedGameError,
)
from infoset_pommerman.agents import PlaygroundAgent
from infoset_pommerman.config import CONFIGS
from infoset_pommerman.observation import Item
from infoset_pommerman.playground import agents, characters, constants, utility
from infoset_pommerman.playground.spaces import Discrete, Tuple
from pommerman_golden import games, to_compact
from test_pommerman_golden import compact

FFA, TEAM, RADIO = "PommeFFACompetition-v0", "PommeTeamCompetition-v0", "PommeRadio-v2"


def four(*kinds: type[agents.BaseAgent]) -> list[agents.BaseAgent]:
    return [kinds[k % len(kinds)]() for k in range(4)]


@pytest.mark.parametrize("variant", pommerman.REGISTRY)
def test_a_script_like_those_of_the_playground(variant: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing but the import is ours."""
    agent_list = [agents.SimpleAgent(), agents.RandomAgent(), agents.SimpleAgent(), agents.RandomAgent()]
    if variant == "OneVsOne-v0":
        agent_list = agent_list[:2]

    env = pommerman.make(variant, agent_list)
    env.seed(0)

    for i_episode in range(1):
        state = env.reset()
        done = False
        while not done:
            env.render()
            actions = env.act(state)
            state, reward, done, info = env.step(actions)
        print(f"Episode {i_episode} finished")
    env.close()

    shown = capsys.readouterr().out
    assert "Episode 0 finished" in shown
    assert shown.startswith("step 0\n")
    assert len(reward) == len(agent_list)
    assert info["result"] in (constants.Result.Win, constants.Result.Tie)
    winners = [k for k, paid in enumerate(reward) if paid == 1]
    assert info.get("winners", []) == winners


def play(env: pommerman.Pomme) -> tuple[list[Any], list[int]]:
    """All joint moves and the rewards of a game."""
    seen, done, moves = env.reset(), False, []
    while not done:
        moves.append(env.act(seen))
        seen, rewards, done, _ = env.step(moves[-1])
    return moves, rewards


@pytest.mark.parametrize("variant", [FFA, RADIO])
def test_seeds_have_an_effect(variant: str) -> None:
    env = pommerman.make(variant, four(agents.SimpleAgent, agents.RandomAgent))
    assert env.seed(1) == [1]
    first = [play(env) for _ in range(3)]
    env.seed(1)
    assert [play(env) for _ in range(3)] == first
    env.seed(2)
    assert play(env) != first[0]
    assert first[0] != first[1]


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        pytest.param("ffa", 4, marks=pytest.mark.slow),
        ("onevsone", 8),
        ("team", 5),
        ("team_full", 4),
        ("radio", 5),
        ("collapse", 70),
    ],
)
def test_recorded_games_of_the_reference(kind: str, count: int, shared: Path, tmp_path: Path) -> None:
    """Loaded from the reference's own state and stepped: observations, rewards, done, info, states."""
    replayed = 0
    for game in list(games(shared, kind))[:count]:
        if tuple(game.get("collapses", ())) != CONFIGS[game["env"]].collapses or game["max_steps"] != 800:
            continue
        path = tmp_path / "init.json"
        path.write_text(json.dumps(game["init"]))
        env = pommerman.make(game["env"], [agents.RandomAgent() for _ in range(game["num_agents"])], str(path))
        seen = env.reset()
        for number, played in enumerate(game["steps"]):
            where = (kind, game["seed"], number)
            before = [env._agents[k].is_alive for k in range(game["num_agents"])]
            seen, rewards, done, info = env.step(played["act"])
            assert (rewards, done) == (played["r"], played["d"]), where
            if done:
                assert {key: info[key] for key in info} == played["info"], where
            if "obs" in played:
                assert compact(seen, env.game.config) == played["obs"], where
            row = env._state.row
            found = to_compact(row, env.game.config.size, game["num_agents"])
            assert found == {key: played["s"][key] for key in found}, where
            assert [agent.is_alive for agent in env._agents] <= before
        replayed += 1
        assert env.reset()[0]["step_count"] == json.loads(game["init"]["step_count"])
    assert replayed >= 4


def test_states_are_saved_and_loaded(tmp_path: Path) -> None:
    env = pommerman.make(TEAM, four(agents.SimpleAgent))
    env.seed(4)
    seen = env.reset()
    assert json.loads(env.get_json_info()["intended_actions"]) == []
    for _ in range(30):
        actions = env.act(seen)
        seen, *_ = env.step(actions)
        env.save_json(tmp_path)
    info = env.get_json_info()
    assert json.loads(info["intended_actions"]) == actions
    assert json.loads((tmp_path / "030.json").read_text()) == info
    other = pommerman.make(TEAM, four(agents.SimpleAgent), tmp_path / "030.json")
    assert repr(other.reset()) == repr(seen)
    other.step([0] * 4)
    assert repr(other.reset()) == repr(seen)  # always back to it
    other.set_init_game_state(None)
    assert other.reset()[0]["step_count"] == 0
    utility.join_json_state(tmp_path, ["a", "b", "c", "d"], "today", TEAM, {"result": constants.Result.Incomplete})
    merged = json.loads((tmp_path / "game_state.json").read_text())
    assert [int(json.loads(state["step_count"])) for state in merged["state"]] == list(range(1, 31))
    assert merged["result"] == {"id": 3, "name": "Incomplete"}
    assert [path.name for path in tmp_path.iterdir()] == ["game_state.json"]


def test_a_training_agent_is_left_out_and_its_death_ends_a_free_for_all() -> None:
    for variant, ends in ((FFA, True), ("PommeTeam-v0", False)):
        env = pommerman.make(variant, four(agents.BaseAgent))
        for agent in env._agents[1:]:
            agent.act = lambda obs, action_space: 0  # type: ignore[method-assign]
        env.set_training_agent(0)
        seen, done = env.reset(), False
        for _ in range(12):
            actions = env.act(seen)
            assert actions == [0] * 3
            actions.insert(0, constants.Action.Bomb)
            seen, rewards, done, info = env.step(actions)
            if not env._agents[0].is_alive:
                break
        assert (done, info["result"] == constants.Result.Tie) == (ends, ends)
        assert rewards == ([-1, 0, 0, 0] if ends else [0] * 4)
        seen, *_ = env.step([9, 0, 0, 0])  # what the dead want does not matter
        assert env._agents[0].agent_id == 0


class Recorder(agents.BaseAgent):
    """Notes what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Any] = []

    def init_agent(self, id: int, game_type: int) -> None:
        super().init_agent(id, game_type)
        self.heard.append(("init", id, game_type))

    def act(self, obs: dict[str, Any], action_space: Any) -> Any:
        assert self.ammo == obs["ammo"]
        assert self.position == obs["position"]
        assert obs["teammate"] == self.teammate
        assert obs["enemies"] == self.enemies
        self.heard.append(("act", obs["step_count"], repr(action_space)))
        return action_space.sample()

    def episode_end(self, reward: float) -> None:
        self.heard.append(("end", reward))

    def shutdown(self) -> None:
        self.heard.append("shutdown")


def test_agents_are_told_what_they_are_told_in_the_playground() -> None:
    recorder = Recorder()
    env = pommerman.make(TEAM, [agents.RandomAgent(), recorder, agents.RandomAgent(), agents.RandomAgent()])
    env.seed(0)
    _, rewards = play(env)
    env.close()
    assert recorder.heard[0] == ("init", 1, constants.GameType.Team)
    assert recorder.heard[1] == ("act", 0, "Discrete(6)")
    assert recorder.heard[-2:] == [("end", rewards[1]), "shutdown"]


def test_characters_come_as_a_class_or_an_object() -> None:
    class Own(characters.Bomber):
        pass

    class Careless(agents.RandomAgent):
        def __init__(self) -> None:
            self.position = "mine"  # and nothing of the base class

    seats = [agents.RandomAgent(Own), agents.RandomAgent(Own()), agents.RandomAgent(), Careless()]
    env = pommerman.make("OneVsOne-v0", seats[2:])
    env.reset()
    assert (seats[2].position, seats[3].position) == ((1, 1), "mine")
    env = pommerman.make(TEAM, seats)
    env.reset()
    assert [type(agent._character) for agent in seats] == [Own, Own, characters.Bomber, characters.Bomber]
    assert [agent.agent_id for agent in seats] == [0, 1, 2, 3]
    assert seats[1].teammate == Item.Agent3
    with pytest.raises(AttributeError, match="'Own' object has no attribute 'speed'"):
        _ = seats[1].speed


def test_moves_come_in_every_form_that_is_one() -> None:
    env = pommerman.make(RADIO, four(agents.RandomAgent))
    env.reset()
    seen, *_ = env.step([np.int64(0), [0, 3, 4, 7], (0, 8), np.array([0, 1, 2])])
    assert [one["message"] for one in seen] == [(8, 0), (1, 2), (0, 0), (3, 4)]
    plain = pommerman.make(FFA, four(agents.RandomAgent))
    plain.reset()
    plain.step([constants.Action.Stop, np.int8(0), 0, np.array(0)])
    for env_, action, words in (
        (plain, 6, "agent 3 cannot play 6; allowed: 0 to 5"),
        (plain, [1], r"\[1\] is not a move; allowed: an integer"),
        (plain, "1", "'1' is not a move"),
        (env, (1, 9, 0), r"agent 3 cannot play \(1, 9, 0\); allowed: 0 to 5, words 0 to 8"),
        (env, [], r"\[\] is not a move; allowed: an integer or a list"),
    ):
        with pytest.raises(IllegalActionError, match=words):
            env_.step([0, 0, 0, action])
    with pytest.raises(IllegalActionError, match="has 4 entries, not 3"):
        plain.step([0, 0, 0])


def test_what_cannot_be_done_is_said(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'PommeFFA-v1'"):
        pommerman.make("PommeFFA-v0", four(agents.RandomAgent))
    with pytest.raises(ParameterError, match="has 2 agents, not 4"):
        pommerman.make("OneVsOne-v0", four(agents.RandomAgent))
    with pytest.raises(ParameterError, match=r"agent 3 is .* not derived from BaseAgent"):
        pommerman.make(FFA, [*four(agents.RandomAgent)[:3], object()])  # type: ignore[list-item]
    with pytest.raises(FormatError, match=r"none\.json: cannot be read"):
        pommerman.make(FFA, four(agents.RandomAgent), str(tmp_path / "none.json"))
    with pytest.raises(ParameterError, match="render_mode=rgb_array is not one of human, ansi"):
        pommerman.make(FFA, four(agents.RandomAgent), render_mode="rgb_array")
    env = pommerman.make(FFA, [])  # enough to ask for its spaces
    assert env.action_space.n == 6
    with pytest.raises(ParameterError, match="has 4 agents, not 0"):
        env.reset()
    env = pommerman.make(FFA, four(agents.BaseAgent))
    with pytest.raises(GameRuleError, match="call reset"):
        env.step([0] * 4)
    with pytest.raises(ParameterError, match="agent_id=4 is out of range"):
        env.set_training_agent(4)
    with pytest.raises(ParameterError, match="record_pngs_dir"):
        env.render(record_pngs_dir="pictures")
    with pytest.raises(NotImplementedError, match="BaseAgent needs a method act"):
        env.act(env.reset())


def test_render_returns_or_saves(tmp_path: Path) -> None:
    env = pommerman.make("OneVsOne-v0", four(agents.RandomAgent)[:2], render_mode="ansi")
    env.reset()
    text = env.render(record_json_dir=tmp_path)
    assert text is not None
    assert text.splitlines()[2][1] == "0"
    assert (tmp_path / "000.json").is_file()


def test_featurize_and_the_spaces() -> None:
    for variant in pommerman.REGISTRY:
        count = CONFIGS[variant].num_agents
        env = pommerman.make(variant, four(agents.RandomAgent)[:count])
        vector = env.featurize(env.reset()[1])
        assert vector.dtype == np.float32
        assert vector.shape == env.observation_space.shape
    assert isinstance(env.action_space, Tuple)
    assert [space.n for space in env.action_space.spaces] == [6, 9, 9]  # words 0 to 8
    assert all(env.action_space.sample() in env.action_space for _ in range(50))
    assert (5, 8, 8) in env.action_space
    assert (5, 7) not in env.action_space
    assert (5, 0, 9) not in env.action_space
    discrete = Discrete(6, np.random.default_rng(0))
    assert {discrete.sample() for _ in range(200)} == set(range(6))
    assert 6 not in discrete


def test_constants_are_the_specification_s() -> None:
    assert [item.value for item in constants.Item] == list(range(14))
    assert constants.Item(11) is constants.Item.Agent1
    assert [action.name for action in constants.Action] == ["Stop", "Up", "Down", "Left", "Right", "Bomb"]
    assert [kind.value for kind in constants.GameType] == [1, 2, 3, 4]
    assert constants.Result.Incomplete.value == 3
    figures = (constants.BOARD_SIZE, constants.BOARD_SIZE_ONE_VS_ONE, constants.NUM_ITEMS, constants.MAX_STEPS)
    assert figures == (11, 8, 20, 800)
    assert (constants.FIRST_COLLAPSE, constants.AGENT_VIEW_SIZE, constants.DEFAULT_BOMB_LIFE) == (500, 4, 9)


def test_helpers_of_agents() -> None:
    board = np.zeros((3, 4), dtype=np.uint8)
    values = list(constants.Item)
    for value in values[:12]:
        board[divmod(value, 4)] = value
    where = {value: divmod(int(value), 4) for value in values[:12]}
    tests = {
        utility.position_is_passage: {0},
        utility.position_is_rigid: {1},
        utility.position_is_wood: {2},
        utility.position_is_wall: {1, 2},
        utility.position_is_flames: {4},
        utility.position_is_fog: {5},
        utility.position_is_powerup: {6, 7, 8},
        utility.position_is_agent: {10, 11},
        lambda b, p: utility.position_is_enemy(b, p, [Item.Agent1]): {11},
        lambda b, p: utility.position_is_passable(b, p, [Item.Agent1]): {0, 6, 7, 8, 10},
        lambda b, p: utility.position_in_items(b, p, [Item.Fog, Item.Bomb]): {3, 5},
    }
    for test, expected in tests.items():
        assert {int(value) for value, cell in where.items() if test(board, cell)} == expected
    assert utility.position_on_board(board, (2, 3))
    assert not any(utility.position_on_board(board, cell) for cell in ((3, 0), (0, 4), (-1, 0), (0, -1)))
    bomb = characters.Bomber()
    bomb.position = (1, 2)
    assert utility.position_is_bomb([bomb], (1, 2))
    assert not utility.position_is_bomb([bomb], (2, 1))
    for action in list(constants.Action)[1:5]:
        assert utility.get_direction((1, 1), utility.get_next_position((1, 1), action.value)) is action
    assert utility.get_next_position((1, 1), constants.Action.Up) == (0, 1)
    assert not utility.is_valid_direction(board, (0, 0), constants.Action.Right)  # rigid
    assert utility.is_valid_direction(board, (0, 0), 4, invalid_values=[Item.Wood.value])
    assert not utility.is_valid_direction(board, (0, 0), constants.Action.Left)  # off the board
    assert utility.is_valid_direction(board, (0, 1), constants.Action.Stop)
    for wrong in (lambda: utility.get_next_position((0, 0), 5), lambda: utility.get_direction((0, 0), (1, 1))):
        with pytest.raises(constants.InvalidAction):
            wrong()
    assert utility.agent_value(2) == 12
    assert utility.make_np_float([1]).dtype == np.float32
    text = json.dumps({"board": board, "one": np.int64(1), "who": Item.Agent0}, cls=utility.PommermanJSONEncoder)
    assert json.loads(text) == {"board": board.tolist(), "one": 1, "who": 10}


# Agents of the playground in our matches

MATCH = f"pommerman:{TEAM}"
PROGRAM = '''
"""In the style of the playground's examples."""
from collections import defaultdict

from pommerman import agents, constants, utility
from pommerman.agents import BaseAgent


class WallHugger(BaseAgent):
    """Walks where it can, and bombs wood."""

    def __init__(self, *args, **kwargs):
        super(WallHugger, self).__init__(*args, **kwargs)
        self.visits = defaultdict(int)

    def act(self, obs, action_space):
        import pommerman  # also later, while it plays

        board, position = obs["board"], tuple(obs["position"])
        self.visits[position] += 1
        enemies = [constants.Item(e) for e in obs["enemies"]]
        around = [utility.get_next_position(position, a) for a in list(pommerman.constants.Action)[1:5]]
        on_board = [p for p in around if utility.position_on_board(board, p)]
        if obs["ammo"] and any(utility.position_is_wood(board, p) for p in on_board):
            return constants.Action.Bomb.value
        free = [p for p in on_board if utility.position_is_passable(board, p, enemies)]
        if not free:
            return action_space.sample()
        target = min(free, key=lambda p: self.visits[p])
        return utility.get_direction(position, target).value

    def episode_end(self, reward):
        self.visits.clear()
'''


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "hugger.py"
    path.write_text(PROGRAM)
    return path


@pytest.mark.slow
def test_a_program_of_the_playground_plays_in_our_matches(program: Path) -> None:
    name = f"playground(path='{program}')"
    match = play_match(MATCH, [name, "simple", name, "random"], seed=5)
    assert match.faults == ()
    assert match.agents[0].startswith("playground(path=")
    assert len({step.actions[0] for step in match.steps[1:]}) > 2
    again = play_match(MATCH, [name, "simple", name, "random"], seed=5)
    assert [step.actions for step in again.steps] == [step.actions for step in match.steps]


def test_an_object_and_a_class_play(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    seats = [PlaygroundAgent(recorder), PlaygroundAgent(agents.SimpleAgent), "random", PlaygroundAgent(Recorder)]
    series = play_series(MATCH, seats, games=3, seed=1)
    assert not any(sum(score.faults.values()) for score in series.agents)
    assert [score.agent for score in series.agents] == ["Recorder", "SimpleAgent", "random", "Recorder"]
    assert [word[0] for word in recorder.heard if word[0] != "act"] == ["init", "end"] * 3
    assert recorder.heard[0] == ("init", 0, constants.GameType.Team)
    mean = sum(word[1] for word in recorder.heard if word[0] == "end") / 3
    assert mean == pytest.approx(series.agents[0].mean)
    del seats
    gc.collect()
    assert recorder.heard[-1] == "shutdown"


def test_the_stock_agent_of_the_playground_is_ours() -> None:
    """Both make their choices from the same kernel; against random teams they win alike."""
    theirs = play_series(
        MATCH, [PlaygroundAgent(agents.SimpleAgent), "random", PlaygroundAgent(agents.SimpleAgent), "random"], games=20
    )
    assert theirs.agents[0].mean is not None
    assert theirs.agents[0].mean > 0.6


def test_the_radio_in_our_matches() -> None:
    class Talks(agents.BaseAgent):
        def act(self, obs: dict[str, Any], action_space: Any) -> Any:
            self.last = obs["message"]
            return [0, 3, 5]

    one, other = Talks(), Talks()
    match = play_match(
        f"pommerman:{RADIO}", [PlaygroundAgent(one), "random", PlaygroundAgent(other), "random"], seed=1, max_steps=900
    )
    assert match.faults == ()
    assert one.last == (3, 5) or len(match.steps) < 4
    assert match.steps[1].actions[0] == (0, 3, 5)


def test_a_game_on_the_radio_begins_in_silence_after_a_reset_too() -> None:
    env = pommerman.make(RADIO, [agents.RandomAgent() for _ in range(4)])
    env.reset()
    said, *_ = env.step([(0, 3, 5)] * 4)
    assert {tuple(seen["message"]) for seen in said} == {(3, 5)}
    assert {tuple(seen["message"]) for seen in env.reset()} == {(0, 0)}


def test_wrong_answers_are_faults() -> None:
    class Wrong(agents.BaseAgent):
        def act(self, obs: dict[str, Any], action_space: Any) -> Any:
            return [[1], 9, None][obs["step_count"] % 3]

    match = play_match(MATCH, [PlaygroundAgent(Wrong), "stop", "stop", "stop"], seed=1)
    assert {fault.kind for fault in match.faults} == {"illegal"}
    assert match.faults[0].detail.startswith("[1]; legal:")


def test_what_is_no_agent_of_the_playground_is_refused(program: Path, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedGameError, match="agent RandomAgent is made for pommerman"):
        play_match("kuhn_poker", [PlaygroundAgent(agents.RandomAgent), "random"])
    with pytest.raises(ParameterError, match="object is not an agent of the playground; it lacks init_agent, act"):
        PlaygroundAgent(object())
    with pytest.raises(ParameterError, match=r"Picky\(\) failed: TypeError: .*; an agent's class must need no arg"):
        PlaygroundAgent(type("Picky", (agents.BaseAgent,), {"__init__": lambda self, x: None}))
    files = {
        "broken.py": ("x = (\n", FormatError, r"broken\.py:1: SyntaxError"),
        "raises.py": ("import pommerman.docker\n", FormatError, r"ModuleNotFoundError: No module named 'pommerman\.do"),
        "leaves.py": ("raise SystemExit(3)\n", FormatError, "SystemExit: 3"),
        "empty.py": ("x = 1\n", ParameterError, "must define one class with a method act, not none"),
        "two.py": (PROGRAM + "\nclass Other(WallHugger):\n    pass\n", ParameterError, "not WallHugger, Other; choose"),
        "text.txt": ("", FormatError, r"text\.txt: not a Python file"),
    }
    for name, (text, kind, words) in files.items():
        path = tmp_path / name
        path.write_text(text)
        with pytest.raises(kind, match=words):
            load_agent(f"playground(path='{path}')")
    assert load_agent(f"playground(path='{tmp_path / 'two.py'}',cls=Other)").agent.__class__.__name__ == "Other"  # type: ignore[attr-defined]
    with pytest.raises(UnknownNameError, match="did you mean 'WallHugger'"):
        load_agent(f"playground(path='{program}',cls=WallHuger)")
    with pytest.raises(FormatError, match="no such file"):
        load_agent("playground(path=none.py)")
    with pytest.raises(ParameterError, match="path is missing"):
        load_agent("playground")


def test_the_original_is_left_alone_where_it_is_installed(tmp_path: Path) -> None:
    (tmp_path / "pommerman.py").write_text("ORIGINAL = True\n")
    (tmp_path / "mine.py").write_text(
        "import pommerman\nclass Mine:\n    def act(self, obs, action_space):\n        return pommerman.ORIGINAL\n"
        "    init_agent = episode_end = shutdown = act\n"
    )
    code = f"from infoset import load_agent; load_agent(\"playground(path='{tmp_path}/mine.py')\")\n"
    code += "import pommerman; print(pommerman.ORIGINAL)"
    ours = Path(pommerman.__file__).parents[3]
    paths = os.pathsep.join([str(tmp_path), str(ours)])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env={"PYTHONPATH": paths}
    )
    assert done.stdout.strip() == "True", done.stderr
    assert "mine.py: the installed package pommerman is used, whose enumerations are not equal" in done.stderr
