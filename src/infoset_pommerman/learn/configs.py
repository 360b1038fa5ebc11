"""The configurations of trainings of Pommerman's agents, one for each method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from infoset.base import Agent, Game
from infoset.catalog import load
from infoset.errors import UnsupportedGameError
from infoset.processes import usable_cores
from infoset.runs import SCHEMA
from infoset.warm_up import ready
from infoset_pommerman.features import FeatureExtractor
from infoset_pommerman.game import Pommerman
from infoset_pommerman.learn.a2c import A2c, A2cTraining
from infoset_pommerman.learn.dagger import Dagger, DaggerTraining
from infoset_pommerman.learn.dqn import Dqn, DqnTraining
from infoset_pommerman.learn.net import load_move_net
from infoset_pommerman.learn.player import NetPlayer
from infoset_pommerman.learn.ppo import Ppo, PpoTraining
from infoset_pommerman.learn.training import PommermanLearner

MOST_THREADS = 4  # for the boards of one training; their number changes no result


class PommermanConfig(msgspec.Struct, frozen=True):
    """The game and parameters of a training, as far as resuming depends on them."""

    game: str
    training: Any
    schema: int = SCHEMA

    made: ClassVar[type[PommermanLearner]]

    @property
    def method(self) -> str:
        return str(self.__struct_config__.tag)

    def learner(self, progress: Callable[[int], object] | None = None) -> PommermanLearner:
        """Return the training at its beginning, with everything compiled.

        No positions are enumerated, so that ``progress`` is not called.  Raises ``UnsupportedGameError`` for other
        games than Pommerman.
        """
        game = load(self.game)
        if not isinstance(game, Pommerman):
            raise UnsupportedGameError(f"{self.method} learns pommerman:NAME, not {game.name}")
        ready("pommerman-training", package="infoset_pommerman")
        sight = FeatureExtractor(game.name, game.config)
        self.made(sight, replace(self.training, boards=2)).step()
        return self.made(sight, self.training, threads=min(usable_cores(), MOST_THREADS))

    @staticmethod
    def player(path: Path, game: Game, name: str) -> Agent:
        """Return the agent that plays with the network in a training's folder or file."""
        assert isinstance(game, Pommerman)
        sight = FeatureExtractor(game.name, game.config)
        return NetPlayer(load_move_net(path, sight), sight, name)


class PpoConfig(PommermanConfig, frozen=True, tag_field="method", tag="ppo"):
    """Configuration of a run of proximal policy optimisation."""

    training: PpoTraining
    made = Ppo


class A2cConfig(PommermanConfig, frozen=True, tag_field="method", tag="a2c"):
    """Configuration of a run of advantage actor-critic."""

    training: A2cTraining
    made = A2c


class DqnConfig(PommermanConfig, frozen=True, tag_field="method", tag="dqn"):
    """Configuration of a run of deep Q-learning."""

    training: DqnTraining
    made = Dqn


class DaggerConfig(PommermanConfig, frozen=True, tag_field="method", tag="dagger"):
    """Configuration of a run of imitation learning by DAgger."""

    training: DaggerTraining
    made = Dagger
