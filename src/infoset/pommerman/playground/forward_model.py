"""The playground's forward model: lists of agents, bombs and flames, stepped by the rules of this package."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from infoset.errors import ParameterError
from infoset.pommerman import state as st
from infoset.pommerman.config import FULL_BLAST, MAX_AGENTS, MAX_BOMBS, Config, GameType
from infoset.pommerman.observation import observations
from infoset.pommerman.playground.characters import Bomb, Flame
from infoset.pommerman.playground.constants import Action, Result
from infoset.pommerman.playground.spaces import parse_action
from infoset.pommerman.rules import Limits, neighbours, scratch
from infoset.pommerman.rules import step as play
from infoset.pommerman.state_json import judge_position

BARE = Config(rigid=0, wood=0, items=0)
SILENT = np.zeros((MAX_AGENTS, st.WORDS), dtype=np.int16)

Moved: TypeAlias = tuple[Any, Any, list[Any], Any, list[Any]]
"""The board, agents, bombs, items and flames after a step."""


class ForwardModel:
    """Simulation of steps, for agents that look ahead."""

    def run(
        self, num_times: int, board: Any, agents: Sequence[Any], bombs: Sequence[Any], items: Any,
        flames: Sequence[Any], is_partially_observable: bool, agent_view_size: int, action_space: Any,
        training_agent: int | None = None, is_communicative: bool = False,
    ) -> tuple[list[dict[str, Any]], Any, Any, Any, Any, Any, bool, dict[str, Any]]:  # fmt: skip
        """Play at most ``num_times`` steps with the agents' moves, until the game ends; there is no limit of its steps.

        The kind of game is the one that the first agent was given.  Returns the steps (dictionaries with ``obs``,
        ``next_obs``, ``reward``, ``actions``), then the position, whether the game is over, and its result.
        """
        kind = GameType(int(getattr(agents[0], "game_type", None) or GameType.FFA))
        look = (is_partially_observable, agent_view_size, kind, "")
        steps: list[dict[str, Any]] = []
        done, info = False, {"result": Result.Incomplete}
        obs = self.get_observations(board, agents, bombs, flames, *look)
        while len(steps) < num_times and not done:
            actions = self.act(agents, obs, action_space, is_communicative)
            board, agents, bombs, items, flames = self.step(actions, board, agents, bombs, items, flames)
            seen = self.get_observations(board, agents, bombs, flames, *look)
            reward = self.get_rewards(agents, kind, 0, 1)
            done = self.get_done(agents, 0, 1, kind, training_agent)
            info = self.get_info(done, reward, kind, agents)
            steps.append({"obs": obs, "next_obs": seen, "reward": reward, "actions": actions})
            obs = seen
        for agent in agents if done else ():
            agent.episode_end(steps[-1]["reward"][agent.agent_id])
        return steps, board, agents, bombs, items, flames, done, info

    @staticmethod
    def act(agents: Sequence[Any], obs: Any, action_space: Any, is_communicative: bool = False) -> list[Any]:
        """Return the agents' moves, Stop for dead agents; on the radio a bare move comes with silence."""
        rules = replace(BARE, game_type=GameType.TEAM_RADIO if is_communicative else GameType.FFA)
        answers = [
            agent.act(obs[agent.agent_id], action_space=action_space) if agent.is_alive else st.STOP for agent in agents
        ]
        return [list(parse_action(one, rules)) for one in answers] if is_communicative else answers  # type: ignore[arg-type]

    @staticmethod
    def step(
        actions: Any, curr_board: Any, curr_agents: Sequence[Any], curr_bombs: Sequence[Any], curr_items: Any,
        curr_flames: Sequence[Any], max_blast_strength: int = FULL_BLAST,
    ) -> Moved:  # fmt: skip
        """Play one step in place and return the position.

        The board (n, n), agents, bombs, items (a dictionary of cells) and flames are changed, as in the reference, and
        returned; the lists of bombs and flames are new.

        ``actions`` are indexed by the agents' numbers.  Agents may be missing, and bombs may belong to others.  Raises
        ``ParameterError`` for invalid positions and moves.
        """
        size = len(curr_board)
        rules = replace(BARE, size=size)
        row = position_row(rules, curr_board, curr_agents, curr_bombs, curr_flames)
        hidden = row[st.BOARD + size * size :]
        for position, item in curr_items.items():
            hidden[_cell(position, size)] = int(item)
        moves = np.zeros(MAX_AGENTS, dtype=np.int16)
        for agent in curr_agents:
            if agent.is_alive:
                moves[agent.agent_id] = _move(actions[agent.agent_id])
        limits = Limits(rules.fuse, rules.flame_life, max_blast_strength)
        play(row, scratch(size), neighbours(size), size, moves, SILENT, limits)
        curr_board[:] = row[st.BOARD : st.BOARD + size * size].reshape(size, size)
        _update_agents(row, curr_agents, size)
        bombs = _update_bombs(row, curr_bombs, curr_agents, size)
        for position in [position for position in curr_items if not hidden[_cell(position, size)]]:
            del curr_items[position]
        return curr_board, curr_agents, bombs, curr_items, _update_flames(row, curr_flames, size)

    @staticmethod
    def get_observations(
        curr_board: Any, agents: Sequence[Any], bombs: Sequence[Any], flames: Sequence[Any],
        is_partially_observable: bool, agent_view_size: int, game_type: int, game_env: str,
    ) -> list[dict[str, Any]]:  # fmt: skip
        """Return one observation per agent, as the environment does; the step is 0."""
        view = agent_view_size if is_partially_observable else None
        kind = GameType(int(game_type))
        rules = replace(BARE, size=len(curr_board), game_type=kind, view=view, entry=game_env)
        row = position_row(rules, curr_board, agents, bombs, flames)
        seen = observations(row, rules)
        return [seen[agent.agent_id] for agent in agents]

    @staticmethod
    def get_done(
        agents: Sequence[Any], step_count: int, max_steps: int, game_type: int, training_agent: int | None
    ) -> bool:
        """Return whether the game is over; without teams, the death of ``training_agent`` also ends it."""
        row, rules = _judged(agents, step_count, max_steps, game_type)
        return is_over(row, rules, training_agent)

    @staticmethod
    def get_info(done: bool, rewards: Sequence[int], game_type: int, agents: Sequence[Any]) -> dict[str, Any]:
        """Return the result of the game, and the winners."""
        del game_type, agents  # the rewards determine the result
        if not done:
            return {"result": Result.Incomplete}
        winners = [number for number, reward in enumerate(rewards) if reward == 1]
        return {"result": Result.Win, "winners": winners} if winners else {"result": Result.Tie}

    @staticmethod
    def get_rewards(agents: Sequence[Any], game_type: int, step_count: int, max_steps: int) -> list[int]:
        """Return the reward of every agent: -1, 0 or 1."""
        row, rules = _judged(agents, step_count, max_steps, game_type)
        rewards: list[int] = row[st.REWARDS : st.REWARDS + rules.num_agents].tolist()
        return rewards


def is_over(row: st.Row, rules: Config, training_agent: int | None) -> bool:
    """Return whether a judged position ends the game; without teams, the death of ``training_agent`` also does."""
    if row[st.RESULT] != st.RUNNING or training_agent is None or rules.teams:
        return bool(row[st.RESULT] != st.RUNNING)
    return not row[st.AGENTS + training_agent * st.AGENT_FIELDS + st.ALIVE]


def position_row(
    rules: Config, board: Any, agents: Iterable[Any], bombs: Sequence[Any], flames: Sequence[Any]
) -> st.Row:
    """Return a position in the form of the rules; raise ``ParameterError`` if it is invalid.

    A bomb's owner is set to its index in the list plus ``MAX_AGENTS``, so that no agent gets it back.
    """
    size = rules.size
    row: st.Row = st.empty_rows(1, rules)[0]
    if np.shape(board) != (size, size):
        raise ParameterError(f"a board of shape {np.shape(board)}; allowed: as many rows as columns")
    row[st.BOARD : st.BOARD + size * size] = np.asarray(board).ravel()
    for number, agent in _numbered(agents).items():
        cell = 0 if agent.position is None else _cell(agent.position, size)
        can = (agent.ammo, agent.blast_strength, bool(agent.can_kick))
        row[st.AGENTS + number * st.AGENT_FIELDS :][: st.AGENT_FIELDS] = bool(agent.is_alive), cell, *can
    _check_room("bombs", bombs, MAX_BOMBS)
    for k, bomb in enumerate(bombs):
        fields = (int(bomb.life), int(bomb.blast_strength), int(bomb.moving_direction or st.STOP))
        row[st.BOMBS + k * st.BOMB_FIELDS :][: st.BOMB_FIELDS] = _cell(bomb.position, size), MAX_AGENTS + k, *fields
    start = int(st.flames_at(size))
    _check_room("flames", flames, (len(row) - start) // st.FLAME_FIELDS)
    for k, flame in enumerate(flames):
        row[start + k * st.FLAME_FIELDS :][: st.FLAME_FIELDS] = _cell(flame.position, size), flame.life
    row[st.NUM_BOMBS], row[st.NUM_FLAMES] = len(bombs), len(flames)
    return row


def _numbered(agents: Iterable[Any]) -> dict[int, Any]:
    """Return the agents by number; raise ``ParameterError`` for duplicate or invalid numbers."""
    listed = list(agents)
    found = {agent.agent_id: agent for agent in listed}
    if len(found) < len(listed) or not found.keys() <= set(range(MAX_AGENTS)):
        raise ParameterError(
            f"agents with the ids {[agent.agent_id for agent in listed]}; allowed: 0 to {MAX_AGENTS - 1}, each once"
        )
    return found


def _cell(position: Any, size: int) -> int:
    row, column = map(int, position)
    if not (0 <= row < size and 0 <= column < size):
        raise ParameterError(f"the position {(row, column)} is off the board; allowed: 0 to {size - 1}")
    return row * size + column


def _check_room(what: str, found: Sequence[Any], room: int) -> None:
    if len(found) > room:
        raise ParameterError(f"{len(found)} {what}; at most {room} are allowed")


def _move(action: Any) -> int:
    move = parse_action(action, BARE)
    assert isinstance(move, int)
    if not st.STOP <= move <= st.LAY:
        raise ParameterError(f"illegal move {move}; allowed: {st.STOP} to {st.LAY}")
    return move


def _update_agents(row: st.Row, agents: Iterable[Any], size: int) -> None:
    for agent in agents:
        own = getattr(agent, "_character", agent)  # an agent of the playground holds its state in its character
        if not own.is_alive:
            continue
        alive, cell, ammo, blast, kick = row[st.AGENTS + agent.agent_id * st.AGENT_FIELDS :][: st.AGENT_FIELDS].tolist()
        own.is_alive, own.position, own.ammo = bool(alive), divmod(cell, size), ammo
        own.blast_strength, own.can_kick = blast, bool(kick)


def _update_bombs(row: st.Row, before: Sequence[Any], agents: Sequence[Any], size: int) -> list[Any]:
    """Return the remaining bombs and new ones; exploded bombs return to their owners."""
    owners = {agent.agent_id: agent for agent in agents}
    bombs = []
    for cell, owner, life, strength, direction in _listed(row, st.BOMBS, int(row[st.NUM_BOMBS]), st.BOMB_FIELDS):
        new = owner < MAX_AGENTS
        bomb = Bomb(owners[owner], (0, 0), life, strength) if new else before[owner - MAX_AGENTS]
        bomb.position, bomb.life = divmod(cell, size), life
        bomb.moving_direction = None if direction == st.STOP else Action(direction)
        bombs.append(bomb)
    for bomb in before:
        if not any(bomb is left for left in bombs):
            bomb.life = 0
            bomb.bomber.incr_ammo()
    return bombs


def _update_flames(row: st.Row, before: Sequence[Any], size: int) -> list[Any]:
    """Return the remaining flames and new ones."""
    flames = [flame for flame in before if flame.life != 0]
    listed = _listed(row, int(st.flames_at(size)), int(row[st.NUM_FLAMES]), st.FLAME_FIELDS)
    flames += [Flame(divmod(cell, size), life) for cell, life in listed[len(flames) :]]
    for flame, (_, life) in zip(flames, listed, strict=True):
        flame.life = life
    return flames


def _listed(row: st.Row, start: int, count: int, fields: int) -> list[list[int]]:
    found: list[list[int]] = row[start : start + count * fields].reshape(count, fields).tolist()
    return found


def _judged(agents: Iterable[Any], step_count: int, max_steps: int, game_type: int) -> tuple[st.Row, Config]:
    """Return a judged position of which only the living agents and the step are known."""
    rules = replace(BARE, game_type=GameType(int(game_type)), max_steps=max_steps)
    row = st.empty_rows(1, rules)[0]
    row[st.STEP] = step_count
    for number, agent in _numbered(agents).items():
        row[st.AGENTS + number * st.AGENT_FIELDS + st.ALIVE] = bool(agent.is_alive)
    judge_position(row, rules)
    return row, rules
