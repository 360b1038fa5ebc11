"""What learners of moves and values share: they play some steps, then learn how much better each went than expected.

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
from infoset.learn.pommerman.boards import drawn_moves
from infoset.learn.pommerman.net import allowed
from infoset.learn.pommerman.training import PommermanLearner, PommermanTraining
from infoset.names import check_share
from infoset.pommerman.sight import SIZE_OF_ALL, Sight
from infoset.pommerman.state import MOVES


@dataclass(frozen=True)
class ActorCriticTraining(PommermanTraining):
    """What such learners are told."""

    trace: float = 0.95
    """λ of the advantages, from 0 to 1."""
    entropy: float = 0.01
    """What keeping moves open is worth."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("trace", self.trace)
        if not 0.0 <= self.entropy <= 10.0:
            raise ParameterError(f"entropy={self.entropy}; allowed: 0 to 10")


class Rollout(NamedTuple):
    """What happened in ``T`` steps of ``B`` boards with ``S`` learning agents: (T, B, S), and an axis more."""

    features: npt.NDArray[np.float32]
    safe: npt.NDArray[np.bool_]
    move: npt.NDArray[np.int64]
    chance: npt.NDArray[np.float32]
    """The logarithm of the move's probability."""
    value: npt.NDArray[np.float32]
    reward: npt.NDArray[np.float32]
    over: npt.NDArray[np.bool_]
    """What comes after this step is not the agent's any more."""
    alive: npt.NDArray[np.bool_]

    @classmethod
    def empty(cls, *shape: int) -> Rollout:
        one, flags = np.zeros((4, *shape), dtype=np.float32), np.zeros((2, *shape), dtype=np.bool_)
        features, safe = np.zeros((*shape, SIZE_OF_ALL), np.float32), np.zeros((*shape, MOVES), np.bool_)
        return cls(features, safe, np.zeros(shape, dtype=np.int64), one[0], one[1], one[2], flags[0], flags[1])

    def advantages(self, after: npt.NDArray[np.float32], discount: float, trace: float) -> npt.NDArray[np.float32]:
        """(T, B, S) how much better it went than expected; ``after`` (B, S) values the last view."""
        found, later = np.empty_like(self.value), np.zeros_like(after)
        for t in reversed(range(len(found))):
            goes_on = discount * ~self.over[t]  # 0 at an end: what is seen then is the next game
            later = self.reward[t] + goes_on * after - self.value[t] + trace * goes_on * later
            found[t], after = later, self.value[t]
        return found


class Views(NamedTuple):
    """A rollout as one list of views, (K,) and an axis more, with what is learnt from it."""

    features: Tensor
    safe: Tensor
    move: Tensor
    chance: Tensor
    alive: Tensor
    gain: Tensor
    target: Tensor

    @classmethod
    def of(cls, r: Rollout, *learnt: npt.NDArray[np.float32]) -> Views:
        """``learnt``: who is alive, the advantages, and the values to learn."""
        fields = [field.reshape(-1, *field.shape[3:]) for field in (r.features, r.safe, r.move, r.chance)]
        features, *others = [torch.from_numpy(field) for field in (*fields, *learnt)]
        return cls(rounded(features), *others)


def rounded(features: Tensor) -> Tensor:
    """Features (K, F) as layers take them, in bfloat16 where they multiply that: once, not in every pass."""
    return features.to(torch.get_autocast_dtype("cpu")) if torch.is_autocast_enabled("cpu") else features


class ActorCritic(PommermanLearner):
    """A training at work; ``descend_on`` is what its methods differ in."""

    training: Any

    def __init__(self, sight: Sight, training: Any, threads: int = 1) -> None:
        super().__init__(sight, training, threads)
        self.rollout = Rollout.empty(training.steps, *self.boards.seats.shape)

    def learn(self) -> tuple[float, None]:
        after = self._play()
        training, rollout = self.training, self.rollout
        gain = rollout.advantages(after, training.discount, training.trace).ravel()
        target = gain + rollout.value.ravel()
        alive = rollout.alive.ravel().astype(np.float32)  # the dead choose nothing: only their value is learnt
        gain = (gain - (gain * alive).sum() / max(alive.sum(), 1)) * alive
        gain /= np.sqrt(np.square(gain).mean()) + 1e-8
        return self.descend_on(Views.of(rollout, alive, gain, target)), None

    @abstractmethod
    def descend_on(self, views: Views) -> float:
        """Learn from an epoch's views; what was lost on values."""

    @torch.no_grad()
    def _play(self) -> npt.NDArray[np.float32]:
        """Fill the rollout; values of the last view (B, S)."""
        r, filtered = self.rollout, self.training.filtered
        for t in range(self.training.steps):
            r.features[t], r.safe[t], r.alive[t] = self.boards.seen
            logits, value = self.net(torch.from_numpy(r.features[t]))
            if filtered:
                logits = allowed(logits, torch.from_numpy(r.safe[t]))
            r.move[t] = drawn_moves(logits, self.rng.random(r.move[t].shape))
            chances = torch.log_softmax(logits, -1).numpy()
            r.chance[t] = np.take_along_axis(chances, r.move[t][..., None], -1)[..., 0]
            r.value[t] = value.numpy()
            stepped = self.move(r.move[t])
            r.reward[t], r.over[t] = stepped.reward, stepped.over
        last: npt.NDArray[np.float32] = self.net(torch.from_numpy(self.boards.seen.features))[1].numpy()
        return last

    def policy(self, views: Views) -> tuple[Categorical, Tensor]:
        """What the network says of views now: the chances of moves, and values (K,)."""
        logits, value = self.net(views.features)
        if self.training.filtered:
            logits = allowed(logits, views.safe)
        return Categorical(logits=logits, validate_args=False), value
