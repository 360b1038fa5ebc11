"""Agents that play Pommerman in matches."""

from __future__ import annotations

import numpy as np

from infoset.base import Action, Game, Observation
from infoset.errors import UnsupportedGameError
from infoset.pommerman.game import Pommerman
from infoset.pommerman.observation import Seen, read_observation
from infoset.pommerman.simple import SimpleAgent

MAX_SEED = 2**63


class SimplePlayer:
    """The reference's stock agent: it flees bombs, bombs enemies and wood that are near, and takes items."""

    name = "simple"

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        if not isinstance(game, Pommerman):
            raise UnsupportedGameError(f"agent {self.name} is made for pommerman:NAME, not for {game.name}")
        self.config, self.player = game.config, player
        self.agent = SimpleAgent(int(rng.integers(MAX_SEED)))
        self.seen: Observation = None

    def observe(self, own_move: Action | None, observation: Observation) -> None:
        if observation is not None:
            self.seen = observation

    def act(self, legal: tuple[Action, ...], deadline: float | None) -> Action:
        assert isinstance(self.seen, Seen)
        move = self.agent.act(read_observation(self.seen, self.config, self.player))
        return (move, 0, 0) if isinstance(legal[0], tuple) else move  # on the radio it says nothing

    def end(self, returns: tuple[float, ...]) -> None:
        pass
