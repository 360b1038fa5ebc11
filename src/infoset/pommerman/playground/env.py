"""The playground's environment, implemented with the rules of this package."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from infoset.errors import GameRuleError, IllegalActionError, ParameterError, shorten
from infoset.files import read_text, replace_file
from infoset.names import check_choice, check_range
from infoset.pommerman import state as st
from infoset.pommerman.config import CONFIGS, PREFIX, Config, GameType, collapse_steps, config
from infoset.pommerman.drawing import draw_board
from infoset.pommerman.game import MAX_SEED, Pommerman, PommermanState
from infoset.pommerman.observation import observations
from infoset.pommerman.playground import constants
from infoset.pommerman.playground.agents import BaseAgent, follow
from infoset.pommerman.playground.forward_model import ForwardModel, is_over
from infoset.pommerman.playground.spaces import ActionSpace, Box, Move, action_space, parse_action
from infoset.pommerman.state_json import read_state, write_state

REGISTRY = list(CONFIGS)
RENDER_MODES = ("human", "ansi")
SCALARS = 6  # of ``featurize``, besides the planes and the enemies: position, ammo, blast strength, kick, teammate


def make(
    config_id: str,
    agent_list: Sequence[BaseAgent],
    game_state_file: str | Path | None = None,
    render_mode: str = "human",
) -> Pomme:
    """Make an environment by the reference's name, one of ``REGISTRY``, with an agent for each player.

    Raises ``UnknownNameError``, ``ParameterError``, or ``FormatError`` for the file of an initial state.
    """
    env = Pomme.named(config_id)
    env.set_agents(agent_list)
    for number, agent in enumerate(agent_list):
        agent.init_agent(number, env.game_type)
    env.set_init_game_state(game_state_file)
    env.set_render_mode(render_mode)
    return env


class Pomme:
    """A game of Pommerman with the playground's methods.

    ``step`` returns observations (a list of dictionaries), rewards, whether the game is over, and a dictionary with the
    result.  Unlike in the reference, ``seed`` has an effect.
    """

    metadata = {"render.modes": list(RENDER_MODES)}  # noqa: RUF012, gym's own form

    def __init__(
        self,
        render_fps: int | None = None,
        game_type: int = constants.GameType.FFA,
        board_size: int = constants.BOARD_SIZE,
        agent_view_size: int | None = None,
        num_rigid: int = constants.NUM_RIGID,
        num_wood: int = constants.NUM_WOOD,
        num_items: int = constants.NUM_ITEMS,
        max_steps: int = 1000,
        is_partially_observable: bool = False,
        env: str | None = None,
        first_collapse: int | None = None,
        radio_vocab_size: int = constants.RADIO_VOCAB_SIZE,
        radio_num_words: int = constants.RADIO_NUM_WORDS,
    ) -> None:
        """Make an environment from the arguments that ``configs`` calls ``env_kwargs``.

        Nothing is rendered, so ``render_fps`` has no effect.  Raises ``ParameterError``.
        """
        del render_fps
        check_range("radio_num_words", radio_num_words, st.WORDS, st.WORDS)
        rules = Config(
            GameType(int(game_type)), board_size, num_rigid, num_wood, num_items,
            agent_view_size if is_partially_observable else None, max_steps,
            () if first_collapse is None else collapse_steps(first_collapse, max_steps),
            vocabulary=radio_vocab_size, entry=env or Config.entry,
        )  # fmt: skip
        self._open(Pommerman(rules.entry, rules))

    @classmethod
    def named(cls, config_id: str) -> Pomme:
        """Return the environment of one of the reference's names; raise ``UnknownNameError`` for others."""
        env = cls.__new__(cls)
        env._open(Pommerman(PREFIX + config_id, config(config_id)))
        return env

    def _open(self, game: Pommerman) -> None:
        self.game, rules = game, game.config
        self.model = ForwardModel()
        self.game_type = constants.GameType(int(rules.game_type))
        self.training_agent: int | None = None
        self.action_space: ActionSpace = action_space(rules, np.random.default_rng())
        features = 3 * rules.size**2 + SCALARS + (3 if rules.num_agents > 2 else 1)
        words = st.WORDS if rules.game_type == GameType.TEAM_RADIO else 0
        self.observation_space = Box(0, np.inf, (features + words,))
        self._first: st.Row | None = None
        self._position: PommermanState | None = None
        self._intended_actions: list[Any] = []
        self._render_mode = RENDER_MODES[0]
        self._agents: list[BaseAgent] = []
        self.seed()

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Seed the boards and the samples of ``action_space``, on which the choices of stock agents depend."""
        boards, moves = np.random.SeedSequence(seed).spawn(2)
        self._rng = np.random.default_rng(boards)
        self.action_space.seed(moves)
        return [seed]

    def set_agents(self, agents: Sequence[BaseAgent]) -> None:
        """Set an agent derived from ``BaseAgent`` for each player, or none; raise ``ParameterError`` otherwise."""
        if agents:
            self._check_count(agents)
        for number, agent in enumerate(agents):
            if not isinstance(agent, BaseAgent):
                raise ParameterError(f"agent {number} is {shorten(repr(agent))}, which is not derived from BaseAgent")
        self._agents = list(agents)

    def set_training_agent(self, agent_id: int | None) -> None:
        """Set the agent that ``act`` leaves out; its death ends the game where there are no teams.

        Raises ``ParameterError`` for a number that no agent has.
        """
        if agent_id is not None:
            check_range("agent_id", agent_id, 0, len(self.game.players) - 1)
        self.training_agent = agent_id

    def set_init_game_state(self, game_state_file: str | Path | None) -> None:
        """Let ``reset`` return to the state in this file, or to new boards with ``None``.  Raises ``FormatError``."""
        self._first = None
        if game_state_file:
            path = Path(game_state_file)
            self._first = read_state(read_text(path), self.game.config, str(path))

    def set_render_mode(self, mode: str) -> None:
        """Set the mode of ``render``; raise ``ParameterError`` unless it is ``human`` or ``ansi``."""
        check_choice("render_mode", mode, RENDER_MODES)
        self._render_mode = mode

    def reset(self) -> list[dict[str, Any]]:
        """Begin a new game and return the observations; raise ``ParameterError`` where there are no agents yet."""
        self._check_count(self._agents)
        self._intended_actions = []
        first = self._first
        step = self.game.deal(int(self._rng.integers(MAX_SEED))) if first is None else self.game.resume(first)
        assert isinstance(step.state, PommermanState)
        self._position = step.state
        return self._show(step.state.row)

    def act(self, obs: Sequence[dict[str, Any]]) -> list[Any]:
        """Return the moves of all agents but the training agent; 0 for dead agents."""
        answers = []
        for number, agent in enumerate(self._agents):
            if number == self.training_agent:
                continue
            alive = self._state.row[st.AGENTS + number * st.AGENT_FIELDS + st.ALIVE]
            answers.append(agent.act(obs[number], action_space=self.action_space) if alive else 0)
        return answers

    def step(self, actions: Sequence[Any]) -> tuple[list[dict[str, Any]], list[int], bool, dict[str, Any]]:
        """Play one step and return observations, rewards, done, info; it may be called after the end of the game.

        Raises ``IllegalActionError`` for invalid moves; those of dead agents are ignored.
        """
        moves = self._moves(actions)
        state = self._state.play_unchecked(moves).state
        assert isinstance(state, PommermanState)
        self._position, self._intended_actions = PommermanState(self.game, state.walled()), moves
        rewards = state.row[st.REWARDS :][: len(self._agents)].tolist()
        done = is_over(state.row, self.game.config, self.training_agent)
        seen = self._show(state.row)
        if done:
            for agent, reward in zip(self._agents, rewards, strict=True):
                agent.episode_end(reward)
        return seen, rewards, done, self.model.get_info(done, rewards, self.game_type, self._agents)

    def get_observations(self) -> list[dict[str, Any]]:
        """Return the agents' current observations."""
        return observations(self._state.row, self.game.config)

    @staticmethod
    def featurize(obs: dict[str, Any]) -> npt.NDArray[np.float32]:
        """Return an observation as one vector: board, bombs' strengths and lives, then the agent's own numbers."""
        numbers = [
            *obs["position"], obs["ammo"], obs["blast_strength"], obs["can_kick"], obs["teammate"], *obs["enemies"],
            *obs.get("message", ()),
        ]  # fmt: skip
        maps = [obs[name].ravel() for name in ("board", "bomb_blast_strength", "bomb_life")]
        return np.concatenate([*maps, numbers]).astype(np.float32)

    def get_json_info(self) -> dict[str, str]:
        """Return the state in the reference's form, in which every value is a JSON text."""
        return write_state(self._state.row, self.game.config, self._intended_actions)

    def save_json(self, record_json_dir: str | Path) -> None:
        """Write the state to ``NNN.json``, named after the step, in this folder."""
        text = json.dumps(self.get_json_info(), sort_keys=True, indent=4)
        name = f"{self._state.row[st.STEP]:03d}.json"
        replace_file(Path(record_json_dir) / name, lambda file: file.write(text.encode()))

    def render(
        self,
        mode: str | None = None,
        close: bool = False,
        record_pngs_dir: str | Path | None = None,
        record_json_dir: str | Path | None = None,
        do_sleep: bool = True,
    ) -> str | None:
        """Write the board to the terminal in mode ``human``, return it in mode ``ansi``.

        With a folder the state is saved there.  It does not sleep.  Raises ``ParameterError`` for other modes and for a
        folder for pictures.
        """
        del do_sleep
        if close:
            self.close()
            return None
        if record_pngs_dir:
            raise ParameterError(
                "record_pngs_dir: no pictures are written here; infoset watch --png draws recorded games"
            )
        mode = mode or self._render_mode
        check_choice("mode", mode, RENDER_MODES)
        if record_json_dir:
            self.save_json(record_json_dir)
        text = draw_board(self._state.row, self.game.config)
        if mode == "ansi":
            return text
        sys.stdout.write(text + "\n\n")
        return None

    def close(self) -> None:
        """Shut down the agents, which are not used any more."""
        for agent in self._agents:
            agent.shutdown()

    def _check_count(self, agents: Sequence[BaseAgent]) -> None:
        count = len(self.game.players)
        if len(agents) != count:
            raise ParameterError(f"{self.game.name} has {count} agents, not {len(agents)}")

    @property
    def _state(self) -> PommermanState:
        if self._position is None:
            raise GameRuleError(f"{self.game.name}: there is no game yet; call reset")
        return self._position

    def _moves(self, actions: Sequence[Any]) -> list[Move]:
        count = len(self._agents)
        if len(actions) != count:
            raise IllegalActionError(f"a joint move has {count} entries, not {len(actions)}: {shorten(repr(actions))}")
        return [self._move(number, action) for number, action in enumerate(actions)]

    def _move(self, number: int, action: Any) -> Move:
        if not self._state.row[st.AGENTS + number * st.AGENT_FIELDS + st.ALIVE]:
            action = 0
        rules = self.game.config
        move = parse_action(action, rules)
        what, *words = move if isinstance(move, tuple) else (move,)
        if not (0 <= what <= st.LAY and all(0 <= word <= rules.vocabulary for word in words)):
            allowed = f"0 to {st.LAY}" + (f", words 0 to {rules.vocabulary}" if words else "")
            raise IllegalActionError(f"agent {number} cannot play {shorten(repr(action))}; allowed: {allowed}")
        return move

    def _show(self, row: st.Row) -> list[dict[str, Any]]:
        """Return the observations, and update the agents' characters from them."""
        seen = observations(row, self.game.config)
        for agent, own in zip(self._agents, seen, strict=True):
            follow(agent, own)
        return seen
