"""Play the games of an epoch in several processes; their number and place change no result of a training."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch

from infoset.errors import CheckpointError
from infoset.executors import LOCAL, Where, executor, send, width
from infoset.learn.learner import Games, GamesLearner, Played, shard_of, weights_of


class LearnerConfig(Hashable, Protocol):
    """A configuration from which another process makes the same training."""

    def learner(self) -> GamesLearner: ...


class Workers:
    """Processes that share a training's games."""

    def __init__(self, config: LearnerConfig, opened: Executor, count: int) -> None:
        self.config, self.opened, self.count = config, opened, count
        try:
            for ready in [opened.submit(_ready, config) for _ in range(count)]:  # so that no clock runs during start-up
                ready.result()
        except BrokenProcessPool:
            raise CheckpointError("a worker process ended while it started; try fewer workers") from None

    def play(self, games: Games, iteration: int, shards: list[int], seconds: float) -> list[Played]:
        """Play parts of an epoch as ``games.play`` does.  Raises ``CheckpointError`` where a process ended."""
        shares = [share for k in range(self.count) if (share := shards[k :: self.count])]
        weights = send(self.opened, weights_of(games.net))
        try:
            dealt = [self.opened.submit(_play, self.config, weights, iteration, share, seconds) for share in shares]
            found = {shard: played for share, each in zip(shares, dealt, strict=True)
                     for shard, played in zip(share, each.result(), strict=True)}  # fmt: skip
        except BrokenProcessPool:
            raise CheckpointError("a process that played games ended; the training can be resumed") from None
        return [found[shard] for shard in shards]


@contextmanager
def shared(work: GamesLearner, config: LearnerConfig, workers: int, where: Where) -> Iterator[None]:
    """Have ``workers`` processes play the games of ``work`` where there are several, or where they run elsewhere.

    At most one process for each of its parts.
    """
    workers = min(workers, work.training.shards)
    if workers == 1 and where == LOCAL:
        yield
        return
    with executor(where, workers) as opened:
        work.play = Workers(config, opened, min(workers, width(opened))).play
        yield


@lru_cache(maxsize=1)
def _player(config: LearnerConfig) -> Games:
    """Make the player in a worker's process; it explores the game as the training did."""
    torch.set_num_threads(1)
    return config.learner().player


def _ready(config: LearnerConfig) -> None:
    _player(config)


def _play(
    config: LearnerConfig,
    weights: dict[str, npt.NDArray[np.generic]],
    iteration: int,
    shards: list[int],
    seconds: float,
) -> list[Played]:
    games = _player(config)
    games.net.load_state_dict(shard_of(weights, ""))
    return games.play(iteration, shards, seconds)
