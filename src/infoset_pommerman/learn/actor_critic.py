"""The common part of actor-critic trainings: play some steps, then learn from the advantage of each move.

Generalised advantages: Schulman et al. 2016.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.distributions import Categorical

from infoset.errors import ParameterError
from infoset.names import check_share
from infoset_pommerman.features import SIZE_OF_ALL, FeatureExtractor
from infoset_pommerman.learn.boards import drawn_actions
from infoset_pommerman.learn.net import allowed
from infoset_pommerman.learn.training import PommermanLearner, PommermanTraining
from infoset_pommerman.state import MOVES


@dataclass(frozen=True)
class ActorCriticTraining(PommermanTraining):
    """The parameters that all actor-critic trainings share."""

    trace: float = 0.95
    """λ of the generalised advantages, from 0 to 1."""
    entropy: float = 0.01
    """Weight of the entropy bonus."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("trace", self.trace)
        if not 0.0 <= self.entropy <= 10.0:
            raise ParameterError(f"entropy={self.entropy}; allowed: 0 to 10")


class Rollout(NamedTuple):
    """Record of ``T`` steps of ``B`` boards with ``S`` learning agents: arrays (T, B, S), some with one more axis."""

    features: npt.NDArray[np.float32]
    safe: npt.NDArray[np.bool_]
    move: npt.NDArray[np.int64]
    chance: npt.NDArray[np.float32]
    """The logarithm of the move's probability."""
    value: npt.NDArray[np.float32]
    reward: npt.NDArray[np.float32]
    over: npt.NDArray[np.bool_]
    """Whether the next step no longer belongs to the agent's game."""
    alive: npt.NDArray[np.bool_]

    @classmethod
    def empty(cls, *shape: int) -> Rollout:
        one, flags = np.zeros((4, *shape), dtype=np.float32), np.zeros((2, *shape), dtype=np.bool_)
        features, safe = np.zeros((*shape, SIZE_OF_ALL), np.float32), np.zeros((*shape, MOVES), np.bool_)
        return cls(features, safe, np.zeros(shape, dtype=np.int64), one[0], one[1], one[2], flags[0], flags[1])

    def advantages(self, after: npt.NDArray[np.float32], discount: float, trace: float) -> npt.NDArray[np.float32]:
        """Return (T, B, S) generalised advantages; ``after`` (B, S) are the values of the last view."""
        found, later = np.empty_like(self.value), np.zeros_like(after)
        for t in reversed(range(len(found))):
            goes_on = discount * ~self.over[t]  # 0 at an end: the next view belongs to another game
            later = self.reward[t] + goes_on * after - self.value[t] + trace * goes_on * later
            found[t], after = later, self.value[t]
        return found


class Views(NamedTuple):
    """A rollout as one list of views, (K,) with at most one more axis, and the learning targets."""

    features: Tensor
    safe: Tensor
    move: Tensor
    chance: Tensor
    alive: Tensor
    gain: Tensor
    target: Tensor

    @classmethod
    def of(cls, r: Rollout, *learnt: npt.NDArray[np.float32]) -> Views:
        """Flatten a rollout; ``learnt`` are the flags of the living, the advantages, and the target values."""
        fields = [field.reshape(-1, *field.shape[3:]) for field in (r.features, r.safe, r.move, r.chance)]
        features, *others = [torch.from_numpy(field) for field in (*fields, *learnt)]
        return cls(rounded(features), *others)


def rounded(features: Tensor) -> Tensor:
    """Convert features (K, F) to bfloat16 where layers multiply that: once, not in every pass."""
    return features.to(torch.get_autocast_dtype("cpu")) if torch.is_autocast_enabled("cpu") else features


class ActorCritic(PommermanLearner):
    """An actor-critic training; subclasses define ``descend_on``."""

    training: Any

    def __init__(self, sight: FeatureExtractor, training: Any, threads: int = 1) -> None:
        super().__init__(sight, training, threads)
        self.rollout = Rollout.empty(training.steps, *self.boards.seats.shape)

    def learn(self) -> tuple[float, None]:
        after = self._play()
        training, rollout = self.training, self.rollout
        gain = rollout.advantages(after, training.discount, training.trace).ravel()
        target = gain + rollout.value.ravel()
        alive = rollout.alive.ravel().astype(np.float32)  # the dead choose no moves: only their value is learnt
        gain = (gain - (gain * alive).sum() / max(alive.sum(), 1)) * alive
        gain /= np.sqrt(np.square(gain).mean()) + 1e-8
        return self.descend_on(Views.of(rollout, alive, gain, target)), None

    @abstractmethod
    def descend_on(self, views: Views) -> float:
        """Learn from an epoch's views; return the loss of the values."""

    @torch.no_grad()
    def _play(self) -> npt.NDArray[np.float32]:
        """Fill the rollout; return the values of the last view (B, S)."""
        r, filtered = self.rollout, self.training.filtered
        for t in range(self.training.steps):
            r.features[t], r.safe[t], r.alive[t] = self.boards.seen
            logits, value = self.net(torch.from_numpy(r.features[t]))
            if filtered:
                logits = allowed(logits, torch.from_numpy(r.safe[t]))
            r.move[t] = drawn_actions(logits, self.rng.random(r.move[t].shape))
            probabilities = torch.log_softmax(logits, -1).numpy()
            r.chance[t] = np.take_along_axis(probabilities, r.move[t][..., None], -1)[..., 0]
            r.value[t] = value.numpy()
            stepped = self.move(r.move[t])
            r.reward[t], r.over[t] = stepped.reward, stepped.over
        last: npt.NDArray[np.float32] = self.net(torch.from_numpy(self.boards.seen.features))[1].numpy()
        return last

    def policy(self, views: Views) -> tuple[Categorical, Tensor]:
        """Return the network's present distributions of moves and values (K,) for views."""
        logits, value = self.net(views.features)
        if self.training.filtered:
            logits = allowed(logits, views.safe)
        return Categorical(logits=logits, validate_args=False), value
