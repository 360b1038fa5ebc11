"""Run a training from its first game to the network in its folder; one that was stopped at any moment can be resumed.

A resumed training continues as if it had not been stopped.  The folder holds ``config.json``, ``metrics.jsonl`` and
``checkpoint.npz`` as that of every run, ``net.safetensors``, and ``curve.png``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import msgspec
import numpy as np

from infoset import displays
from infoset.base import Game
from infoset.catalog import load, training_method
from infoset.errors import CheckpointError
from infoset.files import decode_json, replace_file
from infoset.learn.belief_net import PublicEncoding
from infoset.learn.encoding import Encoding
from infoset.learn.lazy_states import LazyStates, read_lazy_states
from infoset.learn.learner import DivergedError, Epoch, GamesLearner, Learner
from infoset.learn.net import save_net
from infoset.learn.public_play import PublicPlay, PublicTraining
from infoset.learn.public_states import Horizon, PublicStates
from infoset.learn.search_games import TreeTraining
from infoset.learn.self_play import SelfPlay, Training
from infoset.learn.tree_play import TreePlay
from infoset.match.agents import NET
from infoset.names import MAX_COUNT
from infoset.plugins import plugins_of
from infoset.registry import Registry
from infoset.runs import SCHEMA, Folder
from infoset.solvers.job import Job, Limits, Watcher, advance
from infoset.tree.graph import explore
from infoset.warm_up import ready

L = TypeVar("L", bound=Learner)


class TrainingConfig(msgspec.Struct, frozen=True, tag_field="method", tag="self-play"):
    """The game and parameters of a training, as far as resuming depends on them."""

    game: str
    training: Training
    schema: int = SCHEMA

    @property
    def method(self) -> str:
        return "self-play"

    def encoding(self, game: Game, progress: Callable[[int], object] | None = None) -> Encoding:
        """Return the states that the network reads.  Raises ``BudgetError`` for a game that does not fit."""
        return encoding_of(game, progress)

    def learner(self, progress: Callable[[int], object] | None = None) -> SelfPlay:
        """Return the training at its beginning, with everything compiled.

        Raises ``BudgetError`` for a game that does not fit.
        """
        game = load(self.game)  # first, since the name may be wrong
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
        """Return the public states.  Raises ``BudgetError`` for a game that does not fit."""
        states = encoding_of(game, progress)
        return PublicEncoding(states, PublicStates(states.graph, self.training.horizon), progress)

    def learner(self, progress: Callable[[int], object] | None = None) -> PublicPlay:
        """Return the training at its beginning, with everything compiled.

        Raises ``BudgetError`` for a game that does not fit.
        """
        game = load(self.game)  # first, since the name may be wrong
        small = PublicTraining(horizon=Horizon(1), games=1, iterations=2)
        PublicPlay(PublicTrainingConfig("kuhn_poker", small).encoding(load("kuhn_poker")), small).step()
        return PublicPlay(self.encoding(game, progress), self.training)


class TreeTrainingConfig(msgspec.Struct, frozen=True, tag_field="method", tag="tree-search"):
    """The same for a network of the states of a game that is not enumerated."""

    game: str
    training: TreeTraining
    schema: int = SCHEMA

    @property
    def method(self) -> str:
        return "tree-search"

    def encoding(self, game: Game) -> LazyStates:
        """Return the states that the network reads."""
        return read_lazy_states(game)

    def learner(self, progress: Callable[[int], object] | None = None) -> TreePlay:
        """Return the training at its beginning, with everything compiled.

        No positions are enumerated, so that ``progress`` is not called.
        """
        game = load(self.game)  # first, since the name may be wrong
        ready("growing")
        TreePlay(self.encoding(load("gdl:tic_tac_toe")), TreeTraining(games=2, nodes=2, first=8)).step()
        return TreePlay(self.encoding(game), self.training)


AnyConfig: TypeAlias = Any
"""One of ``CONFIGS``."""

CONFIGS: Registry[AnyConfig] = Registry(
    "--method",
    {
        "deep-cfr": "infoset.learn.deep_cfr:DeepCfrConfig",
        "escher": "infoset.learn.escher:EscherConfig",
        "hiding": "infoset.learn.deep_hiding:HidingConfig",
        "mmd": "infoset.learn.policy_gradient:MmdConfig",
        "nfsp": "infoset.learn.nfsp:NfspConfig",
        "ppo": "infoset.learn.policy_gradient:PpoConfig",
        "psro": "infoset.learn.psro:PsroConfig",
        "r-nad": "infoset.learn.r_nad:RNadConfig",
        "self-play": "infoset.learn.train:TrainingConfig",
        "resolving": "infoset.learn.train:PublicTrainingConfig",
        "tree-search": "infoset.learn.train:TreeTrainingConfig",
    },
    group="infoset.trainers",
)
"""The configurations of trainings by method: msgspec structs whose tag is the method."""


def config_type(method: str, game: str) -> AnyConfig:
    """Return the configuration of a method: for a game of a package with trainings of its own, that of the package."""
    own = plugins_of(CONFIGS.group).get(method) if training_method(game) else None
    return own.load() if own else CONFIGS[method]


class _Tagged(msgspec.Struct):
    method: str
    game: str


class TrainingFolder(Folder[AnyConfig, Epoch, Learner]):
    """The folder of one training."""

    config_type: Any = TrainingConfig | PublicTrainingConfig | TreeTrainingConfig
    point_type = Epoch

    @classmethod
    def type_of(cls, config: bytes) -> Any:
        """Return the type of a configuration by any method of ``CONFIGS``."""
        run = decode_json(config, _Tagged)
        return config_type(run.method, run.game) if run.method in CONFIGS else cls.config_type

    def points(self) -> list[Epoch]:
        """Return the whole curve.

        Raises ``CheckpointError`` for a line that is no epoch, or that is not consistent with the others.
        """
        found = super().points()
        for number, epoch in enumerate(found, start=1):
            played = epoch.score is None or (0 <= epoch.score <= 1 and 0 < epoch.duels <= MAX_COUNT)
            if not played or len(epoch.start_values) != len(found[0].start_values):
                raise CheckpointError(
                    f"{self.path / 'metrics.jsonl'}:{number}: its score or its start values cannot be"
                )
        return found

    def save_playable(self, job: Learner) -> None:
        """Write the present network."""
        save_net(job.finished, job.encoding, self.path / NET)

    def finish(self, job: Learner) -> Path:
        """Write the network and, where matplotlib is installed, the curve.  Returns the network's path."""
        path = save_net(job.finished, job.encoding, self.path / NET)
        title = f"{job.encoding.name}: {self.read_config(self.path).method}"
        displays.draw("learning_picture", self.points(), title, self.path / "curve.png")
        return path


def encoding_of(game: Game, progress: Callable[[int], object] | None = None) -> Encoding:
    """Return the states of a game as input of a network.

    Raises ``BudgetError`` for a game whose positions do not fit.

    >>> from infoset.learn.train import encoding_of
    >>> encoding_of(infoset.load("gdl:scissors_double")).actions[0]
    ['paper', 'rock', 'scissors']
    """
    return Encoding(explore(game, progress=progress, facts=True))


def train(
    folder: TrainingFolder, job: L, saved: dict[str, Any] | None = None, seconds: float = 600.0,
    epochs: int | None = None, progress: Callable[[Epoch], object] | None = None,
) -> L:  # fmt: skip
    """Play and learn for a total of ``seconds``, those before a resumption included, or for ``epochs``.

    The clock is checked between epochs; it also cuts games of ``tree-search`` within an epoch.  An interruption
    (``KeyboardInterrupt``) ends the training as the clock does.  Raises ``CheckpointError`` where learning diverges:
    the mini-batch is kept in ``diverged.npz``.  Where something cannot be written, as on a full disk, the training
    continues, and ``folder.failed`` tells why its end could not be saved.
    """
    if saved:
        job.restore(saved)
    folder.go_on(saved)

    def point(epoch: Any) -> None:
        with folder.attempt(on_the_way=True):
            folder.add_point(epoch)
        if progress:
            progress(epoch)

    def advanced(_: Job, spent: float) -> None:
        with folder.attempt(on_the_way=True):
            folder.checkpoint(job, spent)

    watcher = Watcher(point=point, advance=advanced)
    try:
        before, steps = float(saved["seconds"]) if saved else 0.0, Epochs(job)
        job.until = time.monotonic() + seconds - before  # set just before the loop's own clock starts
        _, spent = advance(steps, Limits(epochs, None, seconds), watcher, before)
    except DivergedError as error:
        if not isinstance(job, GamesLearner):
            raise CheckpointError(f"{error}; {folder.path} still contains the previous state") from None
        batch = {"places": error.places, **job.buffer.save()}
        replace_file(folder.path / "diverged.npz", lambda file: np.savez(file, **batch))
        raise CheckpointError(f"{error}; the mini-batch is in {folder.path / 'diverged.npz'}") from None
    folder.failed = None  # the final save includes what could not be saved before
    with folder.attempt():
        folder.save_checkpoint(job, spent)
        folder.finish(job)
    return job


class Epochs(Job):
    """A training as work; an iteration is an epoch.

    Since epochs take long, Ctrl-C interrupts one, and it is played again.
    """

    breaks = True

    def __init__(self, learner: Learner) -> None:
        self.learner, self.last = learner, learner.save()
        self.epoch: Epoch | None = None

    @property
    def iteration(self) -> int:  # type: ignore[override]
        """Epochs so far."""
        return self.learner.iteration

    @property
    def over(self) -> bool:
        """Whether the training has come to its own end."""
        return self.learner.over

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
