"""A trained network as a player of matches."""

from __future__ import annotations

import numpy as np

from infoset.base import Action, FloatArray, Game
from infoset.warm_up import ready
from infoset_pommerman.agents import PommermanPlayer
from infoset_pommerman.features import FeatureExtractor
from infoset_pommerman.learn.net import Decider, MoveNet
from infoset_pommerman.playground.spaces import parse_action
from infoset_pommerman.state import MOVES


class NetPlayer(PommermanPlayer):
    """Plays moves drawn by the network's probabilities; on the radio it sends nothing."""

    def __init__(self, net: MoveNet, sight: FeatureExtractor, name: str) -> None:
        ready("sight", package="infoset_pommerman")
        self.decider, self.sight, self.name = Decider(net), sight, name

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        super().begin(game, player, rng, deadline)
        self.rng = rng

    def compute_probabilities(self) -> FloatArray:
        """Return (6,) the probabilities of its moves in the present state."""
        assert self.seen is not None
        return self.decider.probabilities(*self.sight.of(self.seen, self.player))

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        return parse_action(int(self.rng.choice(MOVES, p=self.compute_probabilities())), self.config)
