"""The protocol between Pommerman's competitions and their agents: JSON within JSON, one server for each agent.

As recorded from the original client: an agent that answers that client also answers this one.
"""

from __future__ import annotations

import json
from time import monotonic
from typing import Any

import numpy as np

from infoset.base import Action, Agent, Game
from infoset.errors import FormatError, RemoteError, one_line, shorten
from infoset.match.agent_proxy import PATIENCE
from infoset.pommerman.agents import PommermanPlayer
from infoset.pommerman.game import Pommerman
from infoset.pommerman.observation import LOW_BITS, MAPS, Seen
from infoset.pommerman.playground.spaces import action_space, parse_action
from infoset.remote.wire import Wire


class AskedPlayer(PommermanPlayer):
    """A client of a server that was written for the competition."""

    name = "http"

    def __init__(self, wire: Wire) -> None:
        self.wire = wire

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        super().begin(game, player, rng, deadline)
        self.space = repr_of(action_space(self.config, rng))
        self._ask("/init_agent", {"id": player, "game_type": int(self.config.game_type)}, deadline)

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        body = {"obs": plain(self.observation()), "action_space": self.space}
        answer = self._ask("/action", body, deadline)
        if "action" not in answer:
            what = f"an answer without an action: {one_line(str(answer))}; another protocol? protocol=infoset"
            raise RemoteError(f"{self.wire.url}: {what}")
        return parse_action(answer["action"], self.config)

    def end(self, returns: tuple[float, ...]) -> None:
        self._ask("/episode_end", {"reward": int(returns[self.player])}, None)

    def _ask(self, path: str, values: dict[str, Any], deadline: float | None) -> dict[str, Any]:
        deadline = monotonic() + PATIENCE if deadline is None else deadline
        found = self.wire.post(path, request(values), deadline)
        try:
            answer = json.loads(found)
        except (ValueError, RecursionError) as error:
            raise RemoteError(f"{self.wire.url}: {path} was answered by no JSON: {one_line(str(error))}") from None
        if not isinstance(answer, dict):
            raise RemoteError(f"{self.wire.url}: {path} was answered by {one_line(str(answer))}, no object")
        return answer


def request(values: dict[str, Any]) -> bytes:
    """Return the body of a request: each value is itself a JSON text."""
    return json.dumps({key: json.dumps(value) for key, value in values.items()}).encode()


def plain(observation: dict[str, Any]) -> dict[str, Any]:
    """Convert an observation for JSON: arrays to lists; enumerations become numbers."""
    return {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in observation.items()}


def repr_of(space: Any) -> int | list[int]:
    """Convert a space of moves: 6, or on the radio [6, 8, 8]."""
    return int(space) if isinstance(space, int) else list(map(int, space))


class ServedPlayer:
    """One of our agents as an agent of the playground: converts the protocol's calls to those of ``Agent``."""

    def __init__(self, agent: Agent, game: Pommerman) -> None:
        self.agent, self.game = agent, game
        self.games = 0
        self.last: Action | None = None

    def init_agent(self, id: int, game_type: int) -> None:
        """Begin a game.  Raises ``FormatError`` for another kind of game than the one that is served."""
        if int(game_type) != int(self.game.config.game_type) or not 0 <= id < len(self.game.players):
            kind = int(self.game.config.game_type)
            raise FormatError(f"agent {id} of game_type {int(game_type)}: {self.game.name} is served, of {kind}")
        self.player, self.last, self.games = id, None, self.games + 1
        self.agent.begin(self.game, id, np.random.default_rng(self.games), None)

    def act(self, observation: dict[str, Any], action_space: Any) -> Any:
        self.agent.observe(self.last, read_seen(observation))
        self.last = self.agent.act(self.game.moves, None)
        return self.last

    def episode_end(self, reward: float) -> None:
        """End a game; the other players' payoffs are unknown and passed as NaN."""
        returns = [float("nan")] * len(self.game.players)
        returns[self.player] = float(reward)
        self.agent.end(tuple(returns))

    def shutdown(self) -> None:
        """Do nothing: another game may follow."""


def read_seen(observation: dict[str, Any]) -> Seen:
    """Read an agent's observation from the dictionary that ``read_observation`` makes of it.

    Raises ``FormatError`` for an invalid one.
    """
    try:
        lists = {name: tuple(map(int, observation.get(name, ()))) for name in ("alive", "position", "message")}
        texts = {name: _text(observation[name]) for name in ("board", *MAPS)}
        numbers = {name: int(observation[name]) for name in ("blast_strength", "can_kick", "ammo", "step_count")}
        return Seen(**lists | texts | numbers)  # type: ignore[arg-type]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise FormatError(f"no observation of the playground: {shorten(str(error))}") from None


def _text(values: Any) -> str:
    """Encode values as one character for each cell; negative ones count down from the end of 16 bits."""
    numbers = np.asarray(values, dtype=np.int64).ravel() & LOW_BITS
    return numbers.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
