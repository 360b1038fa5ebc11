"""The games of an epoch in several processes; how many there are, and where, changes nothing in a training."""

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
from infoset.learn.learner import Games, GamesLearner, Played, part_of, weights_of


class LearnerConfig(Hashable, Protocol):
    """What makes a training anew in another process."""

    def learner(self) -> GamesLearner: ...


class Workers:
    """A training's games, shared out."""

    def __init__(self, config: LearnerConfig, opened: Executor, count: int) -> None:
        self.config, self.opened, self.count = config, opened, count
        try:
            for ready in [opened.submit(_ready, config) for _ in range(count)]:  # before a clock runs
                ready.result()
        except BrokenProcessPool:
            raise CheckpointError("a process that was to play games ended before it could; try fewer workers") from None

    def play(self, games: Games, iteration: int, parts: list[int], seconds: float) -> list[Played]:
        """As ``games.play``.  Raises ``CheckpointError`` where a process ended."""
        shares = [share for k in range(self.count) if (share := parts[k :: self.count])]
        weights = send(self.opened, weights_of(games.net))
        try:
            dealt = [self.opened.submit(_play, self.config, weights, iteration, share, seconds) for share in shares]
            found = {part: played for share, each in zip(shares, dealt, strict=True)
                     for part, played in zip(share, each.result(), strict=True)}  # fmt: skip
        except BrokenProcessPool:
            raise CheckpointError("a process that played games ended; the training can be resumed") from None
        return [found[part] for part in parts]


@contextmanager
def shared(work: GamesLearner, config: LearnerConfig, workers: int, where: Where) -> Iterator[None]:
    """Where there are several ``workers``, or others than this machine's, they play the games of ``work``: no more of
    them than it has parts.
    """
    workers = min(workers, work.training.parts)
    if workers == 1 and where == LOCAL:
        yield
        return
    with executor(where, workers) as opened:
        work.play = Workers(config, opened, min(workers, width(opened))).play
        yield


@lru_cache(maxsize=1)
def _player(config: LearnerConfig) -> Games:
    """In a process that plays; it explores the game, as the training did."""
    torch.set_num_threads(1)
    return config.learner().player


def _ready(config: LearnerConfig) -> None:
    _player(config)


def _play(
    config: LearnerConfig, weights: dict[str, npt.NDArray[np.generic]], iteration: int, parts: list[int], seconds: float
) -> list[Played]:
    games = _player(config)
    games.net.load_state_dict(part_of(weights, ""))
    return games.play(iteration, parts, seconds)
