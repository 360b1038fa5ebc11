"""The games of an epoch in several processes; how many there are changes nothing in a training."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from types import TracebackType
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt
import torch

from infoset.errors import CheckpointError
from infoset.learn.learner import Games, Learner, Played, part_of, weights_of


class LearnerConfig(Protocol):
    """What makes a training anew in another process."""

    def learner(self) -> Learner: ...


class Workers:
    """Up to ``count`` processes for a training; each begins with exploring the game, as the training did.

    They end with the process that started them, however that ends.
    """

    def __init__(self, config: LearnerConfig, count: int) -> None:
        self.count = count
        self.pool = ProcessPoolExecutor(count, get_context("spawn"), _begin, (config,))
        try:
            for ready in [self.pool.submit(os.getpid) for _ in range(count)]:  # before a clock runs
                ready.result()
        except BrokenProcessPool:
            self.pool.shutdown()
            raise CheckpointError("a process that was to play games ended before it could; try fewer workers") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.pool.shutdown(cancel_futures=True)

    def play(self, games: Games, iteration: int, parts: list[int]) -> list[Played]:
        """As ``games.play``.  Raises ``CheckpointError`` where a process ended."""
        shares = [share for k in range(self.count) if (share := parts[k :: self.count])]
        weights = weights_of(games.net)
        try:
            dealt = [self.pool.submit(_play, weights, iteration, share) for share in shares]
            found = {part: played for share, each in zip(shares, dealt, strict=True)
                     for part, played in zip(share, each.result(), strict=True)}  # fmt: skip
        except BrokenProcessPool:
            raise CheckpointError("a process that played games ended; the training can be resumed") from None
        return [found[part] for part in parts]


@contextmanager
def shared(work: Learner, config: LearnerConfig, workers: int) -> Iterator[None]:
    """Where there are several ``workers`` they play the games of ``work``, no more of them than its parts."""
    workers = min(workers, work.training.parts)
    if workers == 1:
        yield
        return
    with Workers(config, workers) as processes:
        work.play = processes.play
        yield


_playing: list[Games] = []
"""In a process that plays: its one player."""


def _begin(config: LearnerConfig) -> None:
    """Make ready to play.  An interruption is for the training, which then ends this process too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(1)
    _playing.append(config.learner().player)


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent
    parent.join()
    os._exit(1)


def _play(weights: dict[str, npt.NDArray[np.generic]], iteration: int, parts: list[int]) -> list[Played]:
    (games,) = _playing
    games.net.load_state_dict(part_of(weights, ""))
    return games.play(iteration, parts)
