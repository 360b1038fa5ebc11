"""A training from its first game to the network in its folder; stopped at any moment, it goes on as if it had not been.

``config.json``, ``metrics.jsonl`` and ``checkpoint.npz`` as every run has them, ``net.safetensors``, ``curve.png``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from infoset.base import Game
from infoset.catalog import load
from infoset.errors import CheckpointError
from infoset.files import replace_file
from infoset.learn.belief_net import PublicEncoding
from infoset.learn.encoding import Encoding
from infoset.learn.learner import DivergedError, Epoch, Learner
from infoset.learn.net import save_net
from infoset.learn.public_play import PublicPlay, PublicTraining
from infoset.learn.self_play import SelfPlay, Training
from infoset.runs import SCHEMA, Folder
from infoset.search.public_states import Horizon, PublicStates
from infoset.tree.graph import explore

NET = "net.safetensors"

L = TypeVar("L", bound=Learner)


class TrainingConfig(msgspec.Struct, frozen=True, tag_field="method", tag="self-play"):
    """What a training was asked to do, as far as resuming must know."""

    game: str
    training: Training
    schema: int = SCHEMA

    @property
    def method(self) -> str:
        return "self-play"

    def encoding(self, game: Game, progress: Callable[[int], None] | None = None) -> Encoding:
        """Raises ``BudgetError`` for a game that does not fit."""
        return encoding_of(game, progress)

    def learner(self, progress: Callable[[int], None] | None = None) -> SelfPlay:
        """The training at its beginning, everything compiled.  Raises ``BudgetError`` for a game that does not fit."""
        game = load(self.game)  # first: its name may be wrong
        SelfPlay(encoding_of(load("gdl:scissors_double")), Training(games=2)).step()
        return SelfPlay(self.encoding(game, progress), self.training)


class PublicTrainingConfig(msgspec.Struct, frozen=True, tag_field="method", tag="resolving"):
    """The same for a network of public states."""

    game: str
    training: PublicTraining
    schema: int = SCHEMA

    @property
    def method(self) -> str:
        return "resolving"

    def encoding(self, game: Game, progress: Callable[[int], None] | None = None) -> PublicEncoding:
        """Raises ``BudgetError`` for a game that does not fit."""
        states = encoding_of(game, progress)
        return PublicEncoding(states, PublicStates(states.graph, self.training.horizon), progress)

    def learner(self, progress: Callable[[int], None] | None = None) -> PublicPlay:
        """The training at its beginning, everything compiled.  Raises ``BudgetError`` for a game that does not fit."""
        game = load(self.game)  # first: its name may be wrong
        small = PublicTraining(horizon=Horizon(1), games=1, iterations=2)
        PublicPlay(PublicTrainingConfig("kuhn_poker", small).encoding(load("kuhn_poker")), small).step()
        return PublicPlay(self.encoding(game, progress), self.training)


AnyConfig = TrainingConfig | PublicTrainingConfig


class TrainingFolder(Folder[AnyConfig, Epoch, Learner]):
    """One training's folder."""

    config_type: Any = AnyConfig
    point_type = Epoch

    def save_playable(self, work: Learner) -> None:
        """The network as it stands."""
        save_net(work.finished, work.encoding, self.path / NET)

    def finish(self, work: Learner) -> Path:
        """Write the network and, where matplotlib is installed, the picture.  Returns the network's path."""
        path = save_net(work.finished, work.encoding, self.path / NET)
        from infoset.view.curves import draw_learning

        draw_learning(self.points(), f"{work.encoding.graph.name}: self-play", self.path / "curve.png")
        return path


def encoding_of(game: Game, progress: Callable[[int], None] | None = None) -> Encoding:
    """Its states as networks see them.  Raises ``BudgetError`` for a game whose positions do not fit.

    >>> from infoset.learn.train import encoding_of
    >>> encoding_of(infoset.load("gdl:scissors_double")).moves[0]
    ['paper', 'rock', 'scissors']
    """
    return Encoding(explore(game, progress=progress, facts=True))


def train(
    folder: TrainingFolder, work: L, saved: dict[str, Any] | None = None, seconds: float = 600.0,
    epochs: int | None = None, progress: Callable[[Epoch], None] | None = None,
) -> L:  # fmt: skip
    """Play and learn for so many seconds in all, those before a resumption too, or epochs.

    The clock is looked at between epochs; an interruption (``KeyboardInterrupt``) ends it as the clock does.  Raises
    ``CheckpointError`` where learning diverges: the mini-batch is kept in ``diverged.npz``.
    """
    began = time.monotonic() - (float(saved["seconds"]) if saved else 0.0)
    if saved:
        work.restore(saved)
    folder.go_on(saved)
    last = work.save()

    def spent() -> float:
        return time.monotonic() - began

    try:
        while spent() < seconds and (epochs is None or work.iteration < epochs):
            point = work.step()
            last = work.save()
            point = Epoch(**{**asdict(point), "seconds": spent()})
            folder.add_point(point)
            folder.checkpoint(work, spent())
            if progress:
                progress(point)
    except KeyboardInterrupt:  # in the midst of an epoch, which is played again when the training goes on
        work.restore(last)
    except DivergedError as error:
        batch = {"rows": error.rows, "places": error.places, **work.buffer.save()}
        replace_file(folder.path / "diverged.npz", lambda file: np.savez(file, **batch))
        raise CheckpointError(f"{error}; the mini-batch is in {folder.path / 'diverged.npz'}") from None
    folder.save_checkpoint(work, spent())
    folder.finish(work)
    return work
