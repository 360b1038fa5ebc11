"""The doors of the playground: published agents' files, submissions, its modules, and the logs of its competitions."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from command_line import run_infoset as run
from extent import mark_slow
from infoset import load_agent, play_match, play_series
from infoset.catalog import load
from infoset.errors import FormatError, ParameterError, UnknownNameError, UnsupportedGameError
from infoset.match.replay import Match, replay_states
from infoset_pommerman import playground
from infoset_pommerman import state as st
from infoset_pommerman.agents import PlaygroundAgent
from infoset_pommerman.config import CONFIGS, config
from infoset_pommerman.encoding import encode_seen
from infoset_pommerman.game import Pommerman, PommermanState
from infoset_pommerman.observation import observe, read_observation
from infoset_pommerman.playground import agents, characters, configs, constants, forward_model, helpers, utility
from infoset_pommerman.playground.finder import FINDER
from infoset_pommerman.playground.runner import DockerAgentRunner, serve
from infoset_pommerman.playground.spaces import Tuple
from infoset_pommerman.playground_json import RecordWarning, read_game, write_game
from infoset_pommerman.vec import PommermanVec
from infoset_pommerman.view.frames import film
from infoset_pommerman.view.png import save_pngs
from pommerman_golden import KINDS, games, to_compact

TEAM, RADIO, DUEL = "PommeTeamCompetition-v0", "PommeRadio-v2", "OneVsOne-v0"
FAST = "PommeTeamCompetitionFast-v0"

# Agents in the styles of those that were published, each a file or a folder

RELATIVE = '''
"""As put into the playground's own folder of agents."""
import random
from collections import defaultdict

from . import BaseAgent
from .. import constants
from .. import utility


class CarefulAgent(BaseAgent):

    def __init__(self, *args, **kwargs):
        super(CarefulAgent, self).__init__(*args, **kwargs)
        self._visits = defaultdict(int)

    def act(self, obs, action_space):
        board, position = obs["board"], tuple(obs["position"])
        self._visits[position] += 1
        enemies = [constants.Item(e) for e in obs["enemies"]]
        options = []
        for action in [constants.Action.Up, constants.Action.Down, constants.Action.Left, constants.Action.Right]:
            cell = utility.get_next_position(position, action)
            if utility.position_on_board(board, cell) and utility.position_is_passable(board, cell, enemies):
                options.append((self._visits[cell], action.value))
        if not options:
            return constants.Action.Stop.value
        return min(options)[1]
'''
ABSOLUTE = """
from pommerman import agents, characters
from pommerman.agents import BaseAgent
from pommerman.agents.simple_agent import SimpleAgent
from pommerman.constants import Action, Item


class HybridAgent(BaseAgent):

    def __init__(self, character=characters.Bomber):
        super().__init__(character)
        self.simple = SimpleAgent()
        assert isinstance(self.simple, agents.BaseAgent)

    def init_agent(self, id, game_type):
        super().init_agent(id, game_type)
        self.simple.init_agent(id, game_type)

    def act(self, obs, action_space):
        assert self.agent_id == self.simple.agent_id and self.ammo == obs["ammo"]
        assert Item.Agent0.value + self.agent_id in obs["alive"]
        if obs["step_count"] % 3 == 0:
            return Action.Stop.value
        return self.simple.act(obs, action_space)
"""
DOCKER = '''
"""Implementation of a simple deterministic agent using Docker."""

from pommerman import agents
from pommerman.runner import DockerAgentRunner


class Inner(agents.BaseAgent):
    def act(self, obs, action_space):
        sizes = action_space if isinstance(action_space, list) else [action_space]
        return int(obs["step_count"]) % sizes[0]


class MyAgent(DockerAgentRunner):
    """An example Docker agent class"""

    def __init__(self):
        self._simple = agents.SimpleAgent()
        self._inner = Inner()

    def init_agent(self, id, game_type):
        self._inner.init_agent(id, game_type)
        return self._simple.init_agent(id, game_type)

    def act(self, observation, action_space):
        which = self._simple if observation["step_count"] % 2 else self._inner
        return which.act(observation, action_space)

    def episode_end(self, reward):
        return self._simple.episode_end(reward)

    def shutdown(self):
        return self._simple.shutdown()


def main():
    """Inits and runs a Docker Agent"""
    agent = MyAgent()
    agent.run()


if __name__ == "__main__":
    main()
'''
TWICE = '''
import random

from pommerman import characters, constants


class OwnBase:
    """As the reference's agents are written: init_agent makes an object of the class that it replaces."""

    def __init__(self, character=characters.Bomber):
        self._character = character

    def __getattr__(self, attr):
        return getattr(self._character, attr)

    def init_agent(self, id_, game_type):
        self._character = self._character(id_, game_type)

    def episode_end(self, reward):
        pass

    def shutdown(self):
        pass


class OwnAgent(OwnBase):
    def act(self, obs, action_space):
        assert self.agent_id is not None and self.blast_strength == obs["blast_strength"]
        return random.choice([a.value for a in constants.Action if a is not constants.Action.Bomb])
'''
PACKAGE = {
    "__init__.py": "",
    "agent.py": """
from pommerman import agents
from . import tricks
from .search.node import Node
import settings_of_mine


class PackedAgent(agents.BaseAgent):
    def act(self, obs, action_space):
        from .search import node  # also later
        assert node.Node is Node
        return Node(obs).best(settings_of_mine.CHOICES, tricks.shuffled)
""",
    "tricks.py": "import random\n\n\ndef shuffled(things):\n    return random.sample(things, len(things))\n",
    "settings_of_mine.py": "CHOICES = [0, 1, 2, 3, 4]\n",
    "search/__init__.py": "",
    "search/node.py": """
from .. import tricks


class Node:
    def __init__(self, obs):
        self.obs = obs

    def best(self, choices, shuffled):
        assert shuffled is tricks.shuffled
        return shuffled(choices)[0]
""",
}
FORWARD = '''
from copy import deepcopy

import numpy as np
from pommerman import characters, constants
from pommerman.agents import BaseAgent
from pommerman.forward_model import ForwardModel


class LookingAhead(BaseAgent):
    """Takes what it survives for five steps while all others stand still."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.model = ForwardModel()

    def state(self, obs):
        me = characters.Bomber(self.agent_id, constants.GameType(obs["game_type"]))
        me.set_start_position(obs["position"])
        me.reset(obs["ammo"], True, obs["blast_strength"], obs["can_kick"])
        bombs = []
        for position in zip(*np.where(obs["bomb_blast_strength"] > 0)):
            bombs.append(characters.Bomb(characters.Bomber(), position, int(obs["bomb_life"][position]),
                                         int(obs["bomb_blast_strength"][position]), None))
        flames = [characters.Flame(p, int(obs["flame_life"][p]) - 1) for p in zip(*np.where(obs["flame_life"] > 0))]
        return obs["board"].copy(), [me], bombs, {}, flames

    def act(self, obs, action_space):
        scores = {}
        for action in range(6):
            board, agents, bombs, items, flames = deepcopy(self.state(obs))
            for ahead in range(5):
                actions = [0] * 4
                actions[self.agent_id] = action if ahead == 0 else 0
                board, agents, bombs, items, flames = self.model.step(actions, board, agents, bombs, items, flames)
                scores[action] = ahead + agents[0].is_alive + np.random.rand() / 2
                if not agents[0].is_alive:
                    break
        return max(scores, key=scores.get)
'''
FILES: dict[str, dict[str, str]] = {
    "relative": {"agent.py": RELATIVE},
    "absolute": {"agent.py": ABSOLUTE},
    "docker": {"agent.py": DOCKER},
    "twice": {"agent.py": TWICE},
    "package": PACKAGE,
    "forward": {"agent.py": FORWARD},
}


def put(folder: Path, files: dict[str, str]) -> Path:
    """Writes an agent's files; the agent's own."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder / "agent.py"


STYLES = [(style, variant) for style in FILES for variant in (TEAM, RADIO)]


@pytest.mark.parametrize(
    ("style", "variant"), mark_slow(STYLES, [(style, RADIO) for style in FILES if style != "relative"])
)
def test_published_agents_play_as_they_are(style: str, variant: str, tmp_path: Path) -> None:
    """Four games each, in every seat, beside itself and the stock agent."""
    name = f"playground(path='{put(tmp_path / style, FILES[style])}')"
    kept: list[Match] = []
    series = play_series(
        f"pommerman:{variant}(max_steps=120)", [name, "simple", name, "stop"], games=4, seed=3, rotate=True,
        keep=kept.append,
    )  # fmt: skip
    assert [match.faults for match in kept] == [()] * 4
    assert series.games == 4
    own = [(match, seat) for match in kept for seat, who in enumerate(match.agents) if who.startswith("playground")]
    assert len(own) == 8
    moves = [step.actions[seat] for match, seat in own for step in match.steps]
    assert len({move for move in moves if move is not None}) > 2


def test_agents_files_may_have_siblings_of_the_same_name(tmp_path: Path) -> None:
    """Each gets its own, in both ways of importing; the same file may be loaded again."""
    text = "from pommerman.agents import BaseAgent\nimport twin_of_mine\nfrom . import kin\n\n\n"
    text += "class A(BaseAgent):\n    told = twin_of_mine.WHO, kin.WHO\n    def act(self, obs, action_space):\n        return 0\n"
    told = []
    for who in ("one", "two", "one"):
        files = {"agent.py": text, "twin_of_mine.py": f"WHO = {who!r}\n", "kin.py": f"WHO = {who!r}\n"}
        told.append(load_agent(f"playground(path='{put(tmp_path / who, files)}')").agent.told)  # type: ignore[attr-defined]
    assert told == [("one", "one"), ("two", "two"), ("one", "one")]
    names = [name for name in sys.modules if name.startswith("pommerman.agents.agent")]
    assert len(names) == len(set(names)) >= 3


def test_which_class_is_meant(tmp_path: Path) -> None:
    other = "\n\nclass Helper(agents.BaseAgent):\n    def act(self, obs, action_space):\n        return 0\n"
    found = load_agent(f"playground(path='{put(tmp_path / 'a', {'agent.py': DOCKER + other})}')")
    assert type(found.agent).__name__ == "MyAgent"  # type: ignore[attr-defined]  # of three the submission
    files = {"agent.py": "from mine_alone import Mine\nfrom pommerman.agents import SimpleAgent\n"}
    files["mine_alone.py"] = ABSOLUTE.replace("HybridAgent", "Mine")
    found = load_agent(f"playground(path='{put(tmp_path / 'b', files)}')")
    assert type(found.agent).__name__ == "Mine"  # type: ignore[attr-defined]
    path = put(tmp_path / "c", {"agent.py": "from pommerman.agents import SimpleAgent\n"})
    with pytest.raises(ParameterError, match="must define one class with a method act, not none"):
        load_agent(f"playground(path='{path}')")


def test_a_class_that_init_agent_replaces_is_put_back() -> None:
    class Character:
        def __init__(self, id_: int, game_type: int) -> None:
            self.agent_id = id_

    class Inner:
        def __init__(self) -> None:
            self._character: Any = Character

        def init_agent(self, id_: int, game_type: int) -> None:
            self._character = self._character(id_, game_type)

    class Outer(DockerAgentRunner):
        def __init__(self) -> None:
            self.inner = Inner()

        def init_agent(self, id: int, game_type: int) -> None:
            self.inner.init_agent(id, game_type)

        def act(self, observation: dict[str, Any], action_space: Any) -> int:
            assert self.inner._character.agent_id == 1
            return 0

    game = f"pommerman:{DUEL}(max_steps=5)"
    series = play_series(game, ["stop", PlaygroundAgent(Outer)], games=3)
    assert not any(sum(score.faults.values()) for score in series.agents)


# The stand-in package


def test_import_pommerman_needs_no_call() -> None:
    """In a fresh process; every module that programs import is the one of this package."""
    code = (
        "import infoset_pommerman.playground as ours, pommerman, pommerman.envs.v0 as v0\n"
        "from pommerman.envs.v2 import Pomme\nfrom pommerman.agents.base_agent import BaseAgent\n"
        "from pommerman.runner.docker_agent_runner import DockerAgentRunner\n"
        "from pommerman.configs import ffa_v0_fast_env, one_vs_one_env, team_v0_fast_env\n"
        "from pommerman import agents, characters, cli, configs, constants, envs, forward_model, graphics, helpers\n"
        "from pommerman import network, runner, utility\nfrom pommerman.cli import run_battle\n"
        "from pommerman.network import client\n"
        "assert pommerman is ours and Pomme is v0.Pomme is ours.Pomme and BaseAgent is ours.agents.BaseAgent\n"
        "assert ours.env.__spec__.name == 'infoset_pommerman.playground.env'\n"
        "assert forward_model.ForwardModel is ours.forward_model.ForwardModel\n"
        "try:\n    import pommerman.docker\nexcept ModuleNotFoundError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "No module named 'pommerman.docker'", done.stderr
    assert sys.meta_path.count(FINDER) == 1


def test_a_script_runs_unmodified(tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text(
        "import sys\nimport pommerman\nfrom pommerman import agents\nimport beside_the_script\n"
        "env = pommerman.make('OneVsOne-v0', [agents.SimpleAgent(), agents.RandomAgent()])\n"
        "env.reset()\nprint(sys.argv[1:], len(env.reset()), beside_the_script.X, __name__)\n"
    )
    (tmp_path / "beside_the_script.py").write_text("X = 4\n")
    command = [sys.executable, "-m", "infoset_pommerman.playground"]
    done = subprocess.run([*command, str(script), "a", "b"], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "['a', 'b'] 2 4 __main__", done.stderr
    done = subprocess.run([*command, "none.py"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (1, "no such file: none.py")
    script.write_text("import pommerman\npommerman.agents.DockerAgent('image', port=1)\n")
    done = subprocess.run([*command, str(script)], capture_output=True, text=True, check=False)
    assert done.stderr.startswith("infoset: pommerman.agents.DockerAgent is not offered; containers")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "name", ["one_vs_one_env", "ffa_competition_env", "ffa_v1_env", "team_competition_v1_env", "radio_v2_env"]
)
def test_environments_are_made_of_configurations(name: str) -> None:
    """As trainers do; the rules are those of the name."""
    made = getattr(configs, name)()
    env = made["env"](**made["env_kwargs"])
    assert env.game.config == CONFIGS[made["env_id"]]
    seats = [agents.RandomAgent(made["agent"](k, made["game_type"])) for k in range(env.game.config.num_agents)]
    for k, agent in enumerate(seats):
        agent.init_agent(k, made["game_type"])
    env.set_agents(seats)
    env.set_init_game_state(None)
    env.seed(2)
    seen, done = env.reset(), False
    while not done:
        seen, _, done, info = env.step(env.act(seen))
    assert info["result"] in (constants.Result.Win, constants.Result.Tie)
    with pytest.raises(ParameterError, match=r"has \d agents, not 0"):
        made["env"](**made["env_kwargs"]).reset()


def test_every_configuration_has_its_function() -> None:
    made = [getattr(configs, name)() for name in vars(configs) if name.endswith("_env")]
    assert sorted(one["env_id"] for one in made) == sorted(CONFIGS)


def test_agents_by_texts_and_what_is_not_offered() -> None:
    kinds = {"simple::null": "SimpleAgent", "random::null": "RandomAgent", "test::agents.SimpleAgent": "SimpleAgent"}
    for text, kind in kinds.items():
        assert type(helpers.make_agent_from_string(text, 0)).__name__ == kind
    with pytest.raises(UnknownNameError, match="did you mean 'SimpleAgent'"):
        helpers.make_agent_from_string("test::agents.SimpelAgent", 0)
    with pytest.raises(UnknownNameError, match="unknown kind of agent 'robot'"):
        helpers.make_agent_from_string("robot::x", 0)
    for text in ("docker::image", "player::arrows", "http::host:80", "tensorforce::ppo"):
        with pytest.raises(UnsupportedGameError, match=r"pommerman\.agents\.\w+ is not offered; "):
            helpers.make_agent_from_string(text, 0)
    with pytest.raises(UnsupportedGameError, match="infoset watch shows a recorded game"):
        playground.graphics.PommeViewer(board_size=11)


def test_boards_and_items_of_helpers() -> None:
    board = utility.make_board(11, 36, 36)
    counts = np.bincount(board.ravel(), minlength=14)
    assert (counts[1], counts[2], counts[10:].tolist()) == (36, 36, [1] * 4)
    assert len(utility.inaccessible_passages(board, [(9, 9)])) <= 4
    items = utility.make_items(board, 20)
    assert len(items) == 20
    assert all(board[cell] == 2 and item in (6, 7, 8) for cell, item in items.items())
    walled = np.array([[0, 1, 0], [0, 1, 0], [0, 0, 1]], dtype=np.uint8)
    assert utility.inaccessible_passages(walled, [(0, 0)]) == [(0, 2), (1, 2)]
    with pytest.raises(ParameterError, match="num_items=40 is out of range; allowed: 0 to 36"):
        utility.make_items(board, 40)


# The forward model

Objects = tuple[Any, list[Any], list[Any], dict[tuple[int, int], int], list[Any]]


def objects(state: dict[str, Any], size: int, game_type: int) -> Objects:
    """A recorded position as the playground's objects."""
    board = np.array([int(digit, 36) for digit in state["b"]], dtype=np.uint8).reshape(size, size)
    seats = []
    for k, alive, r, c, ammo, blast, kick in state["a"]:
        seat = characters.Bomber(k, game_type)
        seat.set_start_position((r, c))
        seat.reset(ammo, bool(alive), blast, bool(kick))
        seats.append(seat)
    bombs = [
        characters.Bomb(seats[owner], (r, c), life, blast, constants.Action(way) if way else None)
        for r, c, owner, life, blast, way in state["o"]
    ]
    flames = [characters.Flame((r, c), life) for r, c, life in state["f"]]
    return board, seats, bombs, {(r, c): value for r, c, value in state["i"]}, flames


def compact(found: Objects, step: int) -> dict[str, Any]:
    board, seats, bombs, items, flames = found
    return {
        "n": step,
        "b": "".join(np.base_repr(value, 36).lower() for value in board.ravel()),
        "a": [[a.agent_id, int(a.is_alive), *a.position, a.ammo, a.blast_strength, int(a.can_kick)] for a in seats],
        "o": [
            [*b.position, b.bomber.agent_id, b.life, b.blast_strength, int(b.moving_direction or 0)] for b in bombs
        ],
        "f": [[*f.position, f.life] for f in flames],
        "i": sorted([*cell, value] for cell, value in items.items()),
    }  # fmt: skip


@pytest.mark.parametrize("kind", mark_slow((kind for kind in KINDS if kind != "collapse"), {"ffa"}))
def test_the_forward_model_steps_as_the_reference(kind: str, shared: Path) -> None:
    model, stepped = forward_model.ForwardModel(), 0
    for number, game in enumerate(games(shared, kind)):
        if number % 4 or stepped > 3000:
            continue
        size, cap = int(game["board_size"]), game["agent_view_size"] or 10
        kind_of_game = constants.GameType(game["game_type"])
        position = objects(game["s0"], size, kind_of_game)
        for played in game["steps"]:
            actions = [act[0] if isinstance(act, list) else act for act in played["act"]]
            bombs_before = list(position[2])
            position = model.step(actions, *position, max_blast_strength=cap)  # type: ignore[assignment]
            expected = {key: played["s"][key] for key in ("n", "b", "a", "o", "f", "i")}
            assert compact(position, played["s"]["n"]) == expected, (kind, game["seed"], played["s"]["n"])
            assert all(bomb in position[2] or bomb.exploded() for bomb in bombs_before)
            rewards = model.get_rewards(position[1], kind_of_game, played["s"]["n"], game["max_steps"])
            done = model.get_done(position[1], played["s"]["n"], game["max_steps"], kind_of_game, None)
            assert (rewards, done) == (played["r"], played["d"])
            if done and "info" in played:
                info = model.get_info(done, rewards, kind_of_game, position[1])
                assert {key: info[key] for key in info} == played["info"]
            stepped += 1
    assert stepped > 300


def test_the_forward_model_sees_as_the_environment() -> None:
    env = playground.make(TEAM, [agents.SimpleAgent() for _ in range(4)])
    env.seed(3)
    seen = env.reset()
    for _ in range(40):
        seen, *_ = env.step(env.act(seen))
    size = env.game.config.size
    position = objects(to_compact(env._state.row, size, 4), size, constants.GameType.Team)
    board, seats, bombs, _, flames = position
    found = env.model.get_observations(
        board, seats, bombs, flames, True, 4, constants.GameType.Team, env.game.config.entry
    )
    for one, other in zip(found, seen, strict=True):
        assert {**one, "step_count": 40}.keys() == other.keys()
        for key in one.keys() - {"step_count"}:
            assert np.array_equal(one[key], other[key]), key
    steps, *_, done, info = env.model.run(2, *_playing(position), True, 4, env.action_space)
    assert 1 <= len(steps) <= 2
    assert done == (info["result"] != constants.Result.Incomplete)


def _playing(position: Objects) -> Objects:
    """The same with agents that act in the characters' places."""
    seats = []
    for one in position[1]:
        agent = agents.SimpleAgent()
        agent._character = one
        seats.append(agent)
    return position[0], seats, position[2], position[3], position[4]


def test_the_forward_model_refuses_what_is_no_position() -> None:
    step = forward_model.ForwardModel.step
    board = np.zeros((11, 11), dtype=np.uint8)
    one = characters.Bomber(0, constants.GameType.FFA)
    one.position = (1, 1)
    twin = copy.copy(one)
    for words, arguments in {
        r"ids \[0, 0\]; allowed: 0 to 3, each once": ([0] * 4, board, [one, twin], [], {}, []),
        "as many rows as columns": ([0] * 4, board[:8], [one], [], {}, []),
        r"position \(11, 0\) is off the board": ([0] * 4, board, [], [], {}, [characters.Flame((11, 0))]),
        "65 bombs; at most 64": ([0] * 4, board, [], [characters.Bomb(one, (0, 0), 9, 2)] * 65, {}, []),
        "illegal move 7; allowed: 0 to 5": ([7] * 4, board, [one], [], {}, []),
    }.items():
        with pytest.raises(ParameterError, match=words):
            step(*arguments)
    # nobody at all, and a bomb of somebody else's: as agents look ahead
    other = characters.Bomb(characters.Bomber(), (5, 5), 1, 3)
    board, _, bombs, _, flames = step([0] * 4, board, [], [other], {}, [])
    assert (bombs, len(flames), other.bomber.ammo, int((board == 4).sum())) == ([], 9, 2, 9)


# Submissions


def ask(port: int, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_a_submission_answers_what_the_reference_asks(shared: Path) -> None:
    """The requests are recorded from the reference's own client."""
    heard: list[Any] = []

    class Submitted(DockerAgentRunner):
        def init_agent(self, id: int, game_type: int) -> None:
            heard.append((id, game_type))

        def act(self, observation: dict[str, Any], action_space: Any) -> Any:
            heard.append((observation, action_space))
            return np.int64(3) if isinstance(action_space, int) else [np.int64(3), 1, 8]

        def episode_end(self, reward: float) -> None:
            heard.append(reward)

    samples = json.loads((shared / "golden" / "pommerman" / "http_samples.json").read_text())
    with serve(Submitted(), "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            for sample in samples:
                body = sample["body"].encode() if sample["method"] == "POST" else None
                status, answer = ask(server.server_port, sample["path"], body)
                assert status == 200
                radio = "action" in sample["path"] and "[" in json.loads(sample["body"])["action_space"]
                expected = {"action": [3, 1, 8] if radio else 3} if "action" in sample["path"] else {"success": True}
                assert answer == expected
            for path, text, code, words in (
                ("/action", b"{", 500, "JSONDecodeError"),
                ("/action", b"[]", 500, "the request has no 'obs'"),
                ("/none", b"{}", 404, "allowed: /action"),
                ("/action", b" " * (1 << 23), 413, "at most 1,048,576 are read"),
            ):
                status, answer = ask(server.server_port, path, text)
                assert (status, words in answer["error"]) == (code, True), answer
        finally:
            server.shutdown()
            thread.join()
    asked = [one for one in heard if isinstance(one, tuple) and isinstance(one[0], dict)]
    observation, space = asked[0]
    assert (observation["board"].dtype, observation["bomb_life"].dtype) == (np.uint8, np.float64)
    assert isinstance(observation["position"], tuple)
    assert isinstance(observation["teammate"], constants.Item)
    assert space == 6
    assert any(isinstance(space, Tuple) for _, space in asked)
    assert (0, constants.GameType.Team) in heard


def test_a_submission_run_as_a_script_serves(tmp_path: Path) -> None:
    text = DOCKER.replace("agent.run()", "agent.run(host='127.0.0.1', port=0)")
    path = put(tmp_path, {"agent.py": text})
    with subprocess.Popen(
        [sys.executable, "-m", "infoset_pommerman.playground", str(path)], stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert line.startswith("MyAgent answers on port "), line
            port = int(line.split("port ")[1].split(";")[0])
            assert ask(port, "/ping") == (200, {"success": True})
        finally:
            process.terminate()


# Words


def test_words_0_to_8_are_legal_everywhere() -> None:
    game = load(f"pommerman:{RADIO}(seed=1)")
    state = game.start().state
    assert {move[1:] for move in state.legal_actions(0)} == {(a, b) for a in range(9) for b in range(9)}  # type: ignore[index]
    after = state.play(((0, 8, 8), (0, 0, 0), (0, 1, 8), (0, 0, 8)), None)
    assert isinstance(after.state, PommermanState)
    row = after.state.row
    seen = observe(row, game.config, 2)
    assert seen.message == (8, 8)
    assert read_observation(seen, game.config, 2)["message"] == (8, 8)
    assert 8 in encode_seen(seen, game.config, 2)[1]
    batch = PommermanVec(1, game.config, seed=1)
    moves = np.zeros((1, 4), dtype=np.int16)
    batch.step(moves, np.full((1, 4, 2), 8))
    with pytest.raises(ParameterError, match="words from 9 to 9; allowed: 0 to 8"):
        batch.step(moves, np.full((1, 4, 2), 9))

    class Talks(agents.BaseAgent):
        def act(self, obs: dict[str, Any], action_space: Any) -> Any:
            assert [0, 8, 8] in action_space
            return [0, 8, 8]

    match = play_match(f"pommerman:{RADIO}(max_steps=3)", [PlaygroundAgent(Talks), "random", "stop", "random"], seed=2)
    assert match.faults == ()
    assert [step.actions[0] for step in match.steps[1:]] == [(0, 8, 8)] * 3
    assert len(replay_states(match)) == 5
    drawn = {space.sample() for space in agents_space().spaces[1:] for _ in range(200)}
    assert drawn == set(range(9))


def agents_space() -> Tuple:
    env = playground.make(RADIO, [agents.RandomAgent() for _ in range(4)])
    assert isinstance(env.action_space, Tuple)
    assert env.action_space == [6, 9, 9]
    return env.action_space


# Names with parameters


def test_rules_by_name_and_in_replays(tmp_path: Path) -> None:
    name = f"pommerman:{TEAM}(view=2,size=9,items=4,max_steps=30,rigid=16,wood=20)"
    game = load(name)
    assert isinstance(game, Pommerman)
    assert (game.name, game.config) == (name, config(TEAM, view=2, size=9, items=4, max_steps=30, rigid=16, wood=20))
    match = play_match(name, ["simple", "random"] * 2, seed=4)
    assert match.game == name
    again = Match.load(match.save(tmp_path / "replay.json"))
    states = replay_states(again)
    first = states[1]
    assert isinstance(first, PommermanState)
    row = first.row
    assert np.count_nonzero(row[st.BOARD + 81 : st.BOARD + 162]) == 4  # items
    assert (np.frombuffer(observe(row, game.config, 0).board.encode(), dtype=np.uint8) != 5).sum() == 16
    assert film(again).config.size == 9
    log = write_game(match, tmp_path / "game_state.json")
    assert json.loads(log.read_text())["config"] == name.removeprefix("pommerman:")
    assert [step.actions for step in read_game(log).steps] == [step.actions for step in match.steps]
    assert pickle.loads(pickle.dumps(first)) == first


def test_rules_that_move_the_walls() -> None:
    assert config("PommeFFA-v1", max_steps=600).collapses == (500, 525, 550, 575)
    assert config("PommeFFA-v1", max_steps=600, collapses=(3, 4)).collapses == (3, 4)
    assert load("pommerman:PommeFFA-v1(collapses=[10,20])").config.collapses == (10, 20)
    assert load(f"pommerman:{TEAM}(view=none)").config == CONFIGS["PommeTeam-v0"]
    assert load(f"pommerman:{TEAM}(view=4)").name == f"pommerman:{TEAM}"  # the variant's own


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("veiw=2", "unknown parameter of PommeTeamCompetition-v0: 'veiw'; did you mean 'view'"),
        ("view=0", "view=0 is out of range; allowed: 1 to 32"),
        ("view=x", "view=x is not an integer or none"),
        ("view=true", "view=true is not an integer or none"),
        ("size=33", "size=33 is out of range; allowed: 6 to 32"),
        ("size=8", "rigid=36 and wood=36 do not fit on a board of size 8: allowed: wood from 0"),
        ("size=9.5", r"size=9.5 is not an integer \(default 11\)"),
        ("items=37", "items=37 is out of range; allowed: 0 to 36"),
        ("wood=35", "wood=35: walls come in mirrored pairs"),
        ("max_steps=0", "max_steps=0 is out of range; allowed: 1 to 30000"),
        ("start_kick=1", "start_kick=1 is not true or false"),
        ("collapses=[x]", r"collapses=\['x'\]: allowed: steps from 1 to 30000"),
        ("collapses=[0]", r"collapses=\[0\]: allowed: steps from 1"),
        ("seed=x", "seed=x is not an integer"),
    ],
)
def test_rules_that_are_none(given: str, words: str) -> None:
    with pytest.raises((ParameterError, UnknownNameError), match=words) as caught:
        load(f"pommerman:{TEAM}({given})")
    assert "\n" not in str(caught.value)


def test_the_command_lists_the_parameters() -> None:
    text = run("games", cwd=Path.cwd()).stdout
    line = next(line for line in text.splitlines() if line.startswith(f"pommerman:{DUEL}("))
    assert "size=8,rigid=16,wood=16,items=10,view=none,max_steps=800" in line


# Logs of the competitions of 2018


@cache
def recorded(seed: int, max_steps: int, seat: str) -> tuple[Match, str]:
    """A team game of ours, and its file as the reference writes it."""
    match = play_match(f"pommerman:{FAST}(max_steps={max_steps})", [seat] * 4, seed=seed)
    with TemporaryDirectory() as folder:
        return match, write_game(match, Path(folder) / "game_state.json").read_text()


def log_of_2018(text: str, plain: bool = False) -> dict[str, Any]:
    """What the competition's server made of a recording: wrapped, with scores twice over, winners in two places, the
    positions in no order.  ``plain``: values are not texts of JSON, but for the numbers.
    """
    body = json.loads(text)
    del body["board_seed"]
    winners = body.get("winners", [])
    scores = [0.0] * 4 if not winners else [1.0 if k in winners else -1.0 for k in range(4)]
    shots = body["state"][1::2] + body["state"][::2]
    if plain:
        shots = [{k: v if v.isdecimal() else json.loads(v) for k, v in shot.items()} for shot in shots]
    body |= {"config": FAST, "finished_at": "2018-12-01T19:24:57.893573", "scores": scores * 2, "state": shots}
    body["result"]["winners"] = winners
    return {"blob": body}


def with_keys_of_viewers(log: dict[str, Any]) -> dict[str, Any]:
    """Bombs and positions with keys that are not the game's."""
    for shot in log["blob"]["state"]:
        bombs = [{**bomb, "bombId": k} for k, bomb in enumerate(json.loads(shot["bombs"]))]
        shot["bombs"] = json.dumps(bombs)
        shot["bombsDictionary"] = {str(bomb["bombId"]): bomb for bomb in bombs}
    return log


def moves_of(match: Match) -> list[Any]:
    return [step.actions for step in match.steps[1:]]


WON, LONG = (5, 800, "random"), (1, 801, "stop")


@pytest.mark.parametrize("kind", ["texts", "plain", "too long", "more keys"])
def test_logs_of_2018_are_read(kind: str, tmp_path: Path) -> None:
    match, text = recorded(*(LONG if kind == "too long" else WON))
    log = log_of_2018(text, plain=kind == "plain")
    if kind == "more keys":
        log = with_keys_of_viewers(log)
    file = tmp_path / "log.json"
    file.write_text(json.dumps(log))
    done = run("convert", "log.json", "replay.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = "ignored keys that positions do not have: bombs.bombId, bombsDictionary" in done.stderr
    assert told == (kind == "more keys")
    again = Match.load(tmp_path / "replay.json")
    assert (moves_of(again), again.returns) == (moves_of(match), match.returns)
    if kind == "too long":
        assert (len(log["blob"]["state"]), log["blob"]["scores"]) == (802, [0.0] * 8)
        assert (again.game, again.returns) == (f"pommerman:{FAST}(max_steps=801)", (-1.0,) * 4)
    assert len(replay_states(again)) == len(again.steps) + 1
    done = run("watch", "log.json", "--step", "3", cwd=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "log.html"), done.stderr
    assert (tmp_path / "log.html").read_text().startswith("<!DOCTYPE html>")
    done = run("watch", "log.json", "--text", "--step", "3", cwd=tmp_path)
    assert "step 3 of" in done.stdout


def test_logs_without_actions_say_so(tmp_path: Path) -> None:
    """Those of early 2018 have neither actions nor a result."""
    body = log_of_2018(recorded(*WON)[1])["blob"]
    for key in ("result", "winners"):
        body.pop(key, None)
    for shot in body["state"]:
        del shot["intended_actions"]
    file = tmp_path / "log.json"
    file.write_text(json.dumps({"blob": {**body, "finished_unix": 1528041700.684}}))
    with pytest.raises(FormatError, match=r"log\.json: step 1: no intended_actions, without which no game can be"):
        read_game(file)


def test_logs_that_lie_are_refused(tmp_path: Path) -> None:
    text = recorded(*WON)[1]
    file = tmp_path / "log.json"

    def refused(log: Any, words: str) -> None:
        file.write_text(json.dumps(log))
        with pytest.raises(FormatError, match=words):
            read_game(file)

    log = log_of_2018(text)
    log["blob"]["scores"][5] *= -1
    refused(log, r"scores\[5\] = -?1.0, by the rules -?1.0")
    log = log_of_2018(text)
    log["blob"]["result"]["winners"] = [0, 1]
    refused(log, r"result.winners\[")
    refused({"blob": [1]}, "expected `object`")
    refused({"blob": {"blob": {}}}, "unknown field|missing required field")
    log = with_keys_of_viewers(log_of_2018(text))
    log["blob"]["state"][3]["bombs"] = '[{"bombId": 4}]'
    with pytest.raises(FormatError, match=r"state\[3\]\.bombs\[0\] = \{\}: object missing"):
        file.write_text(json.dumps(log))
        read_game(file)


def test_keys_that_are_not_read_are_told(tmp_path: Path) -> None:
    file = tmp_path / "log.json"
    file.write_text(json.dumps(with_keys_of_viewers(log_of_2018(recorded(*WON)[1]))))
    with pytest.warns(RecordWarning, match=r"log\.json: ignored keys .*: bombs\.bombId, bombsDictionary$"):
        read_game(file)


# Pictures


def test_a_picture_a_step(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (extra 'plot')")
    match = play_match(f"pommerman:{DUEL}(max_steps=12)", ["simple", "random"], seed=1)
    match.save(tmp_path / "match.json")
    done = run("watch", "match.json", "--png", "frames", cwd=tmp_path)
    files = sorted((tmp_path / "frames").iterdir())
    assert done.stdout.strip() == f"frames: {len(match.steps)} pictures", done.stderr
    assert [file.name for file in files] == [f"{k:03d}.png" for k in range(len(match.steps))]
    pictures = [np.asarray(image.open(file)) for file in files]
    side = round((8 + 2 * 0.4) * 48)
    assert all(abs(len(picture) - side) <= 2 for picture in pictures)
    for k, frame in enumerate(film(match).frames[:3]):  # every agent is where it stands: its cell is not as it was bare
        for agent in frame.agents:
            r, c = divmod(agent.cell, 8)
            y, x = (round(0.4 * 48) + at * 48 + 20 for at in (r, c))
            assert len(np.unique(pictures[k][y - 12 : y + 12, x - 12 : x + 12].reshape(-1, 3), axis=0)) > 20
    assert not np.array_equal(pictures[0], pictures[-1])
    with pytest.raises(ParameterError, match="frames already contains PNG pictures; choose another folder"):
        save_pngs(match, tmp_path / "frames")
    assert [file.name for file in save_pngs(match, tmp_path / "one", step=3, cell=16)] == ["003.png"]
    with pytest.raises(ParameterError, match="step=99 is out of range"):
        save_pngs(match, tmp_path / "none", step=99)
    with pytest.raises(ParameterError, match="cell=4 is out of range"):
        save_pngs(match, tmp_path / "none", cell=4)
    assert not (tmp_path / "none").exists()
