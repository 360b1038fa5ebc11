"""A training from its first game to the network in its folder; stopped at any moment, it goes on as if it had not been.

``config.json``, ``metrics.jsonl`` and ``checkpoint.npz`` as every run has them, ``net.safetensors``, ``curve.png``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import msgspec
import numpy as np

from infoset.base import Game
from infoset.catalog import load
from infoset.errors import CheckpointError, UnsupportedGameError
from infoset.files import replace_file
from infoset.learn.belief_net import PublicEncoding
from infoset.learn.encoding import Encoding
from infoset.learn.learner import DivergedError, Epoch, GamesLearner, Learner
from infoset.learn.net import save_net
from infoset.learn.pommerman.a2c import A2c, A2cTraining
from infoset.learn.pommerman.dagger import Dagger, DaggerTraining
from infoset.learn.pommerman.dqn import Dqn, DqnTraining
from infoset.learn.pommerman.ppo import Ppo, PpoTraining
from infoset.learn.pommerman.training import PommermanLearner
from infoset.learn.propositions import Propositions
from infoset.learn.public_play import PublicPlay, PublicTraining
from infoset.learn.self_play import SelfPlay, Training
from infoset.learn.tree_play import TreePlay, TreeTraining
from infoset.match.agents import NET
from infoset.names import MAX_COUNT
from infoset.pommerman.game import Pommerman
from infoset.pommerman.sight import Sight
from infoset.processes import usable_cores
from infoset.runs import SCHEMA, Folder
from infoset.search.public_states import Horizon, PublicStates
from infoset.solvers.work import Limits, Watcher, Work, advance
from infoset.tree.graph import explore
from infoset.warm_up import ready

MOST_THREADS = 4  # of the boards of one training; they change no result

L = TypeVar("L", bound=Learner)


class TrainingConfig(msgspec.Struct, frozen=True, tag_field="method", tag="self-play"):
    """What a training was asked to do, as far as resuming must know."""

    game: str
    training: Training
    schema: int = SCHEMA

    @property
    def method(self) -> str:
        return "self-play"

    def encoding(self, game: Game, progress: Callable[[int], object] | None = None) -> Encoding:
        """Raises ``BudgetError`` for a game that does not fit."""
        return encoding_of(game, progress)

    def learner(self, progress: Callable[[int], object] | None = None) -> SelfPlay:
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

    def encoding(self, game: Game, progress: Callable[[int], object] | None = None) -> PublicEncoding:
        """Raises ``BudgetError`` for a game that does not fit."""
        states = encoding_of(game, progress)
        return PublicEncoding(states, PublicStates(states.graph, self.training.horizon), progress)

    def learner(self, progress: Callable[[int], object] | None = None) -> PublicPlay:
        """The training at its beginning, everything compiled.  Raises ``BudgetError`` for a game that does not fit."""
        game = load(self.game)  # first: its name may be wrong
        small = PublicTraining(horizon=Horizon(1), games=1, iterations=2)
        PublicPlay(PublicTrainingConfig("kuhn_poker", small).encoding(load("kuhn_poker")), small).step()
        return PublicPlay(self.encoding(game, progress), self.training)


class TreeTrainingConfig(msgspec.Struct, frozen=True, tag_field="method", tag="tree-search"):
    """The same for a network of the states of a game that is not listed."""

    game: str
    training: TreeTraining
    schema: int = SCHEMA

    @property
    def method(self) -> str:
        return "tree-search"

    def encoding(self, game: Game) -> Propositions:
        """Raises ``UnsupportedGameError`` for a game without propositions."""
        return Propositions(game)

    def learner(self, progress: Callable[[int], object] | None = None) -> TreePlay:
        """The training at its beginning, everything compiled; nothing is listed, so that there is no ``progress``."""
        game = load(self.game)  # first: its name may be wrong
        ready("growing")
        TreePlay(self.encoding(load("gdl:tic_tac_toe")), TreeTraining(games=2, nodes=2, first=8)).step()
        return TreePlay(self.encoding(game), self.training)


class PommermanConfig(msgspec.Struct, frozen=True):
    """The same for agents of Pommerman, by one of several methods."""

    game: str
    training: Any
    schema: int = SCHEMA

    made: ClassVar[type[PommermanLearner]]

    @property
    def method(self) -> str:
        return str(self.__struct_config__.tag)

    def learner(self, progress: Callable[[int], object] | None = None) -> PommermanLearner:
        """The training at its beginning, everything compiled; nothing is listed, so that there is no ``progress``.

        Raises ``UnsupportedGameError`` for other games than Pommerman.
        """
        game = load(self.game)
        if not isinstance(game, Pommerman):
            raise UnsupportedGameError(f"{self.method} learns pommerman:NAME, not {game.name}")
        ready("pommerman-training")
        sight = Sight(game.name, game.config)
        self.made(sight, replace(self.training, boards=2)).step()
        return self.made(sight, self.training, threads=min(usable_cores(), MOST_THREADS))


class PpoConfig(PommermanConfig, frozen=True, tag_field="method", tag="ppo"):
    training: PpoTraining
    made = Ppo


class A2cConfig(PommermanConfig, frozen=True, tag_field="method", tag="a2c"):
    training: A2cTraining
    made = A2c


class DqnConfig(PommermanConfig, frozen=True, tag_field="method", tag="dqn"):
    training: DqnTraining
    made = Dqn


class DaggerConfig(PommermanConfig, frozen=True, tag_field="method", tag="dagger"):
    training: DaggerTraining
    made = Dagger


AnyConfig = (
    TrainingConfig | PublicTrainingConfig | TreeTrainingConfig | PpoConfig | A2cConfig | DqnConfig | DaggerConfig
)


class TrainingFolder(Folder[AnyConfig, Epoch, Learner]):
    """One training's folder."""

    config_type: Any = AnyConfig
    point_type = Epoch

    def points(self) -> list[Epoch]:
        """The whole curve.  Raises ``CheckpointError`` for a line that is no epoch, or not one like the others."""
        found = super().points()
        for number, epoch in enumerate(found, start=1):
            played = epoch.score is None or (0 <= epoch.score <= 1 and 0 < epoch.duels <= MAX_COUNT)
            if not played or len(epoch.start_values) != len(found[0].start_values):
                raise CheckpointError(
                    f"{self.path / 'metrics.jsonl'}:{number}: its score or its start values cannot be"
                )
        return found

    def save_playable(self, work: Learner) -> None:
        """The network as it stands."""
        save_net(work.finished, work.encoding, self.path / NET)

    def finish(self, work: Learner) -> Path:
        """Write the network and, where matplotlib is installed, the picture.  Returns the network's path."""
        path = save_net(work.finished, work.encoding, self.path / NET)
        from infoset.view.curves import draw_learning

        title = f"{work.encoding.name}: {self.read_config(self.path).method}"
        draw_learning(self.points(), title, self.path / "curve.png")
        return path


def encoding_of(game: Game, progress: Callable[[int], object] | None = None) -> Encoding:
    """Its states as networks see them.  Raises ``BudgetError`` for a game whose positions do not fit.

    >>> from infoset.learn.train import encoding_of
    >>> encoding_of(infoset.load("gdl:scissors_double")).moves[0]
    ['paper', 'rock', 'scissors']
    """
    return Encoding(explore(game, progress=progress, facts=True))


def train(
    folder: TrainingFolder, work: L, saved: dict[str, Any] | None = None, seconds: float = 600.0,
    epochs: int | None = None, progress: Callable[[Epoch], object] | None = None,
) -> L:  # fmt: skip
    """Play and learn for so many seconds in all, those before a resumption too, or epochs.

    The clock is looked at between epochs, and cuts games of ``tree-search`` in the midst of one; an interruption
    (``KeyboardInterrupt``) ends it as the clock does.  Raises ``CheckpointError`` where learning diverges: the
    mini-batch is kept in ``diverged.npz``.  Where something cannot be written, as on a full disk, it goes on, and
    ``folder.failed`` says why the end could not be kept.
    """
    if saved:
        work.restore(saved)
    folder.go_on(saved)

    def point(epoch: Any) -> None:
        with folder.attempt(on_the_way=True):
            folder.add_point(epoch)
        if progress:
            progress(epoch)

    def advanced(_: Work, spent: float) -> None:
        with folder.attempt(on_the_way=True):
            folder.checkpoint(work, spent)

    watcher = Watcher(point=point, advance=advanced)
    try:
        before, steps = float(saved["seconds"]) if saved else 0.0, Epochs(work)
        work.until = time.monotonic() + seconds - before  # just before the loop's own clock begins
        _, spent = advance(steps, Limits(epochs, None, seconds), watcher, before)
    except DivergedError as error:
        if not isinstance(work, GamesLearner):
            raise CheckpointError(f"{error}; {folder.path} holds what was before") from None
        batch = {"places": error.places, **work.buffer.save()}
        replace_file(folder.path / "diverged.npz", lambda file: np.savez(file, **batch))
        raise CheckpointError(f"{error}; the mini-batch is in {folder.path / 'diverged.npz'}") from None
    folder.failed = None  # what failed on the way is in here
    with folder.attempt():
        folder.save_checkpoint(work, spent)
        folder.finish(work)
    return work


class Epochs(Work):
    """A training as work; an iteration is an epoch, which lasts, so Ctrl-C breaks it off and it is played again."""

    breaks = True

    def __init__(self, learner: Learner) -> None:
        self.learner, self.last = learner, learner.save()
        self.epoch: Epoch | None = None

    @property
    def iteration(self) -> int:  # type: ignore[override]
        """Epochs so far."""
        return self.learner.iteration

    def step(self, iterations: int, until: float = inf) -> None:
        for _ in range(iterations):
            self.epoch = self.learner.step()
            self.last = self.learner.save()
            if time.monotonic() >= until:
                return

    def undo(self) -> None:
        self.learner.restore(self.last)

    def next_check(self) -> int:
        return self.iteration + 1

    def point(self, seconds: float) -> Any:
        return None if self.epoch is None else replace(self.epoch, seconds=seconds)

    def save(self) -> dict[str, Any]:
        return self.learner.save()

    def restore(self, saved: dict[str, Any]) -> None:
        self.learner.restore(saved)
