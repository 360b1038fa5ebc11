"""Dataset aggregation (Ross, Gordon & Bagnell 2011): imitate an expert in the states that the learner itself reaches.

The learner plays a growing share of the moves on the boards; the expert labels every view with its move, and the
network learns from all views so far.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from infoset.learn.replay_buffer import ReplayBuffer
from infoset.names import check_range
from infoset_pommerman.features import SIZE_OF_ALL, FeatureExtractor
from infoset_pommerman.learn.boards import drawn_actions, opponent_of
from infoset_pommerman.learn.net import allowed
from infoset_pommerman.learn.training import PommermanLearner, PommermanTraining
from infoset_pommerman.state import MOVES


@dataclass(frozen=True)
class DaggerTraining(PommermanTraining):
    """The parameters of DAgger."""

    steps: int = 16
    expert: str = "simple"
    """The agent that is imitated, by name."""
    alone: int = 20
    """Epochs over which the expert's share of the moves falls linearly to 0."""
    batch: int = 1024
    """Views in a mini-batch."""
    passes: int = 2
    """How often a view is learnt from, on average."""
    buffer: int = 200_000
    """Views kept to learn from."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("alone", self.alone, 0, 2**31)
        check_range("batch", self.batch, 1, 2**24)
        check_range("passes", self.passes, 1, 1000)
        check_range("buffer", self.buffer, 1, 2**31)


class Dagger(PommermanLearner):
    """A training by DAgger; its value is not learnt.

    >>> from infoset_pommerman.learn.dagger import Dagger, DaggerTraining
    >>> from infoset_pommerman.config import config
    >>> from infoset_pommerman.features import FeatureExtractor
    >>> work = Dagger(FeatureExtractor("duel", config("OneVsOne-v0")), DaggerTraining(boards=4, hidden=8))
    >>> work.step().states
    64
    """

    training: DaggerTraining

    def __init__(self, sight: FeatureExtractor, training: DaggerTraining | None = None, threads: int = 1) -> None:
        training = training or DaggerTraining()
        super().__init__(sight, training, threads)
        self.expert = opponent_of(self.boards, training.expert, training.seed + 1000)
        view, safe = np.dtype((np.float16, (SIZE_OF_ALL,))), np.dtype((np.bool_, (MOVES,)))
        self.buffer = ReplayBuffer(training.buffer, view=view, safe=safe, move=np.dtype(np.int64))

    def learn(self) -> tuple[None, float]:
        training, before = self.training, self.buffer.added
        help_ = max(0.0, 1 - self.iteration / training.alone) if training.alone else 0.0
        for _ in range(training.steps):
            self._play(help_)
        losses = []
        for _ in range(-(-(self.buffer.added - before) * training.passes // training.batch)):
            places = self.buffer.draw(training.batch, self.rng)
            logits, _ = self.net(torch.from_numpy(self.buffer["view"][places].astype(np.float32)))
            if training.filtered:
                logits = allowed(logits, torch.from_numpy(self.buffer["safe"][places]))
            lost = functional.cross_entropy(logits, torch.from_numpy(self.buffer["move"][places]))
            self.descend(lost, places)
            losses.append(lost.item())
        return None, float(np.mean(losses))

    @torch.no_grad()
    def _play(self, share: float) -> None:
        """Play one step, a ``share`` of the moves by the expert; label all views with the expert's moves."""
        seen, rows = self.boards.seen, np.arange(len(self.boards.seats))[:, None]
        said = np.zeros(self.boards.own.shape, dtype=np.int16)
        self.expert.act(self.boards.own, said, self.rng)
        advice = said[rows, self.boards.seats].astype(np.int64)
        logits, _ = self.net(torch.from_numpy(seen.features))
        if self.training.filtered:
            logits = allowed(logits, torch.from_numpy(seen.safe))
        own = drawn_actions(logits, self.rng.random(advice.shape))
        follows = seen.alive & (seen.safe[rows, np.arange(advice.shape[1]), advice] | (not self.training.filtered))
        self.buffer.add(view=seen.features[follows].astype(np.float16), safe=seen.safe[follows], move=advice[follows])
        stepped = self.move(np.where(self.rng.random(advice.shape) < share, advice, own))
        self.expert.begin(stepped.done, self.rng)

    def state_arrays(self) -> dict[str, Any]:
        found = {f"buffer.{name}": array for name, array in self.buffer.save().items()}
        return super().state_arrays() | found | {f"expert.{name}": array for name, array in self.expert.arrays.items()}

    def keep(self, saved: dict[str, Any]) -> None:
        super().keep(saved)
        self.buffer.restore({name[7:]: v for name, v in saved.items() if name.startswith("buffer.")}, 0)
        for name, array in self.expert.arrays.items():
            array[:] = saved[f"expert.{name}"]
