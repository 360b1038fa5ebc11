"""Agents with the playground's interface: the base class for one's own agents, and two stock agents.

Agents in files are loaded as modules of this package, see ``loading``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infoset_pommerman.playground.absent import absent
from infoset_pommerman.playground.characters import Bomber
from infoset_pommerman.simple import SimpleAgent as StockAgent

__path__: list[str] = []
MAX_SEED = 2**63
CONTAINERS = "containers are not started here; give the agent's file to infoset match: playground(path=FILE)"
KEYS = "there is no window and no keyboard here"


class BaseAgent:
    """Base class of all agents of the playground.

    Missing attributes are looked up on its character: ``agent_id``, ``is_alive``, ``position``, ``ammo``,
    ``blast_strength``, ``can_kick``, ``teammate``, ``enemies``.
    """

    def __init__(self, character: type[Bomber] | Bomber = Bomber) -> None:
        """Set the character: a class, of which ``init_agent`` makes an object, or such an object."""
        self._character = character

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # including a character that is not set yet
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self._character, name)

    def init_agent(self, id: int, game_type: int) -> None:
        """Take the agent's number and the kind of game, before the first game."""
        character = getattr(self, "_character", Bomber)  # a subclass may not call super().__init__
        kind = character if isinstance(character, type) else type(character)
        self._character = kind(id, game_type)

    def act(self, obs: dict[str, Any], action_space: Any) -> Any:
        """Return a move, on the radio a list of a move and two words."""
        raise NotImplementedError(f"{type(self).__name__} needs a method act(obs, action_space)")

    def episode_end(self, reward: float) -> None:
        """Take the reward at the end of a game."""

    def shutdown(self) -> None:
        """Release resources; the agent is not used any more."""

    @staticmethod
    def has_user_input() -> bool:
        return False


class RandomAgent(BaseAgent):
    """Agent that plays uniformly sampled moves of the action space."""

    def act(self, obs: dict[str, Any], action_space: Any) -> Any:
        return action_space.sample()


class SimpleAgent(BaseAgent):
    """The reference's stock agent; its choices follow from the generator of the action space.

    It resets its memory with every game, while the reference's carries it over.
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
    """Update an agent's character, where it has one, from the agent's observation."""
    character = getattr(agent, "_character", None)
    if isinstance(character, Bomber):
        character.follow(observation)


DockerAgent = absent("agents.DockerAgent", CONTAINERS)
HttpAgent = absent("agents.HttpAgent", CONTAINERS)
PlayerAgent = absent("agents.PlayerAgent", KEYS)
PlayerAgentBlocking = absent("agents.PlayerAgentBlocking", KEYS)
TensorForceAgent = absent("agents.TensorForceAgent", "derive an agent from BaseAgent that asks your network")
