"""Agents that play Pommerman in matches."""

from __future__ import annotations

from typing import Any
from weakref import finalize

import numpy as np

from infoset.base import Action, Game, Observation
from infoset.errors import IllegalActionError, ParameterError, UnsupportedGameError, one_line
from infoset.pommerman.game import Pommerman
from infoset.pommerman.observation import Seen, read_observation
from infoset.pommerman.playground.agents import follow
from infoset.pommerman.playground.constants import GameType
from infoset.pommerman.playground.runner import DockerAgentRunner
from infoset.pommerman.playground.spaces import action_space, parse_action
from infoset.pommerman.simple import SimpleAgent
from infoset.warm_up import ready

MAX_SEED = 2**63


class PommermanPlayer:
    """Base class of agents for Pommerman: it rejects other games and provides the reference's observations."""

    name: str

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        if not isinstance(game, Pommerman):
            raise UnsupportedGameError(f"agent {self.name} is made for pommerman:NAME, not for {game.name}")
        self.config, self.player = game.config, player
        self.seen: Seen | None = None

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        if isinstance(observation, tuple):
            self.seen = Seen(*observation)  # type: ignore[arg-type]  # a plain tuple if it came over a connection

    def end(self, returns: tuple[float, ...]) -> None:
        pass

    def observation(self) -> dict[str, Any]:
        """Return the agent's current observation as the reference's dictionary."""
        assert self.seen is not None
        return read_observation(self.seen, self.config, self.player)


class StopPlayer(PommermanPlayer):
    """Agent that stays where it is."""

    name = "stop"

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        return legal_actions[0]


class SimplePlayer(PommermanPlayer):
    """The reference's stock agent: it flees bombs, bombs enemies and wood that are near, and takes items."""

    name = "simple"

    def __init__(self) -> None:
        ready("simple")

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        super().begin(game, player, rng, deadline)
        self.agent = SimpleAgent(int(rng.integers(MAX_SEED)))

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        return parse_action(self.agent.act(self.observation()), self.config)  # on the radio variants it sends no words


class PlaygroundAgent(PommermanPlayer):
    """An agent that was written for the reference environment, the playground.

    ``init_agent`` tells it its player index before every game and ``episode_end`` its payoff afterwards.  Agents of the
    reference replace their character class by an instance in ``init_agent``; before each game such attributes are reset
    to the classes that they were at first.  ``shutdown`` is called when the object is garbage collected, at the latest
    when the program ends.

    >>> from infoset.pommerman.agents import PlaygroundAgent
    >>> from infoset.pommerman.playground import agents
    >>> class Bombs(agents.BaseAgent):
    ...     def act(self, observation, action_space):
    ...         return 5
    >>> duel = [PlaygroundAgent(Bombs()), "stop"]
    >>> infoset.play_match("pommerman:OneVsOne-v0(seed=1)", duel, seed=1).returns
    (-1.0, 1.0)
    """

    METHODS = ("init_agent", "act", "episode_end", "shutdown")

    def __init__(self, agent: Any, name: str = "") -> None:
        """Wrap ``agent``: an object, or a class that needs no arguments.

        Raises ``ParameterError`` for anything else.
        """
        self.agent = _made(agent) if isinstance(agent, type) else agent
        self.name = name or type(self.agent).__name__
        missing = [method for method in self.METHODS if not callable(getattr(self.agent, method, None))]
        if missing:
            raise ParameterError(f"{self.name} is no agent of the playground; it lacks {', '.join(missing)}")
        self._blank = _classes(self.agent)
        finalize(self, self.agent.shutdown)

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        super().begin(game, player, rng, deadline)
        self.space = action_space(self.config, rng)
        for owner, name, kind in self._blank:
            setattr(owner, name, kind)
        self.agent.init_agent(player, GameType(int(self.config.game_type)))

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        observation = self.observation()
        follow(self.agent, observation)
        if isinstance(self.agent, DockerAgentRunner):
            answer = self.agent.act(observation, self.space)
        else:
            answer = self.agent.act(observation, action_space=self.space)
        try:
            return parse_action(answer, self.config)
        except IllegalActionError:
            return answer  # type: ignore[no-any-return]  # left to the referee, which reports the error

    def end(self, returns: tuple[float, ...]) -> None:
        self.agent.episode_end(returns[self.player])


def _classes(agent: Any) -> list[tuple[Any, str, type[Any]]]:
    """Return ``(owner, name, class)`` of every attribute of the agent, and of agents inside it, that is a class.

    The reference's agents replace their character's class by an object of it in ``init_agent``, which works only once
    unless the class is put back.
    """
    inner = [value for value in vars(agent).values() if callable(getattr(value, "init_agent", None))]
    owners = [agent, *(value for value in inner if not isinstance(value, type))]
    return [(owner, name, kind) for owner in owners for name, kind in vars(owner).items() if isinstance(kind, type)]


def _made(kind: type[Any]) -> Any:
    try:
        return kind()
    except Exception as error:
        raise ParameterError(
            f"{kind.__name__}() failed: {type(error).__name__}: {one_line(str(error), 200)}; "
            "an agent's class must need no arguments"
        ) from error
