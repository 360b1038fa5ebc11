"""Agents with the playground's interface: what one's own are derived from, and the two stock ones.

Agents in files of their own are modules of this package, see ``loading``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infoset.pommerman.playground.absent import absent
from infoset.pommerman.playground.characters import Bomber
from infoset.pommerman.simple import SimpleAgent as StockAgent

__path__: list[str] = []
MAX_SEED = 2**63
CONTAINERS = "containers are not started here; give the agent's file to infoset match: playground(path=FILE)"
KEYS = "there is no window and no keyboard here"


class BaseAgent:
    """What every agent of the playground is derived from.

    What is not an attribute of its own is one of its character's: ``agent_id``, ``is_alive``, ``position``, ``ammo``,
    ``blast_strength``, ``can_kick``, ``teammate``, ``enemies``.
    """

    def __init__(self, character: type[Bomber] | Bomber = Bomber) -> None:
        """``character`` is a class, of which ``init_agent`` makes the agent's own, or an object of it."""
        self._character = character

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # also a character that is not there yet
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self._character, name)

    def init_agent(self, id: int, game_type: int) -> None:
        """The agent's number and the kind of game, before the first one."""
        character = getattr(self, "_character", Bomber)  # one's own class may not call ours in __init__
        kind = character if isinstance(character, type) else type(character)
        self._character = kind(id, game_type)

    def act(self, obs: dict[str, Any], action_space: Any) -> Any:
        """A move, on the radio a list of a move and two words."""
        raise NotImplementedError(f"{type(self).__name__} needs a method act(obs, action_space)")

    def episode_end(self, reward: float) -> None:
        """The game is over."""

    def shutdown(self) -> None:
        """The agent is not needed any more."""

    @staticmethod
    def has_user_input() -> bool:
        return False


class RandomAgent(BaseAgent):
    """Anything that the space of moves has."""

    def act(self, obs: dict[str, Any], action_space: Any) -> Any:
        return action_space.sample()


class SimpleAgent(BaseAgent):
    """The reference's stock agent.  Its choices follow from the generator of the space of moves.

    With every game it forgets what it remembers; the reference's carries it over.
    """

    _stock: StockAgent | None = None
    _source: np.random.Generator | None = None
    _step = 0

    def act(self, obs: dict[str, Any], action_space: Any = None) -> int:
        source = getattr(action_space, "rng", None)
        if self._stock is None or source is not self._source:
            rng = np.random.default_rng() if source is None else source
            self._source, self._stock = source, StockAgent(int(rng.integers(MAX_SEED)))
        elif obs["step_count"] < self._step:
            self._stock.begin()
        self._step = obs["step_count"]
        return self._stock.act(obs)


def follow(agent: object, observation: dict[str, Any]) -> None:
    """Let an agent's character, where it has one, be as the agent's observation says."""
    character = getattr(agent, "_character", None)
    if isinstance(character, Bomber):
        character.follow(observation)


DockerAgent = absent("agents.DockerAgent", CONTAINERS)
HttpAgent = absent("agents.HttpAgent", CONTAINERS)
PlayerAgent = absent("agents.PlayerAgent", KEYS)
PlayerAgentBlocking = absent("agents.PlayerAgentBlocking", KEYS)
TensorForceAgent = absent("agents.TensorForceAgent", "derive an agent from BaseAgent that asks your network")
