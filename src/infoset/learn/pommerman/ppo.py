"""Proximal policy optimisation (Schulman et al. 2017), with generalised advantages (Schulman et al. 2016).

Every epoch the boards take some steps; then the network learns from them a few times over, as long as the chances of
what was done stay within a clip of what they were.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.distributions import Categorical
from torch.nn import functional

from infoset.errors import ParameterError
from infoset.learn.pommerman.boards import drawn_moves
from infoset.learn.pommerman.net import allowed
from infoset.learn.pommerman.training import PommermanLearner, PommermanTraining
from infoset.names import check_range, check_share
from infoset.pommerman.sight import MOVES, SIZE_OF_ALL, Sight


@dataclass(frozen=True)
class PpoTraining(PommermanTraining):
    """What PPO is told."""

    batch: int = 2048
    """Views in a mini-batch."""
    passes: int = 2
    """Times that an epoch's views are learnt from."""
    trace: float = 0.95
    """λ of the advantages, from 0 to 1."""
    clip: float = 0.2
    """How far the chances of a move may go, as a part of what they were, before it is learnt from no more."""
    entropy: float = 0.01
    """What keeping moves open is worth."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("batch", self.batch, 1, 2**24)
        check_range("passes", self.passes, 1, 1000)
        check_share("trace", self.trace)
        if not 0.0 < self.clip <= 1.0 or not 0.0 <= self.entropy <= 10.0:
            raise ParameterError(f"clip={self.clip}, entropy={self.entropy}; allowed: clip to 1, entropy 0 to 10")


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
        return cls(*[torch.from_numpy(field) for field in (*fields, *learnt)])


class Ppo(PommermanLearner):
    """The training at work.

    >>> from infoset.learn.pommerman.ppo import Ppo, PpoTraining
    >>> from infoset.pommerman.sight import Sight
    >>> from infoset.pommerman.config import config
    >>> work = Ppo(Sight("duel", config("OneVsOne-v0")), PpoTraining(boards=4, steps=8, hidden=8))
    >>> work.step().states
    32
    """

    training: PpoTraining

    def __init__(self, sight: Sight, training: PpoTraining | None = None, threads: int = 1) -> None:
        training = training or PpoTraining()
        super().__init__(sight, training, threads)
        self.rollout = Rollout.empty(training.steps, *self.boards.seats.shape)

    def learn(self) -> tuple[float, float | None]:
        after = self._play()
        training, rollout = self.training, self.rollout
        gain = rollout.advantages(after, training.discount, training.trace).ravel()
        target = gain + rollout.value.ravel()
        alive = rollout.alive.ravel().astype(np.float32)  # the dead choose nothing: only their value is learnt
        gain = (gain - (gain * alive).sum() / max(alive.sum(), 1)) * alive
        gain /= np.sqrt(np.square(gain).mean()) + 1e-8
        return self._descend(Views.of(rollout, alive, gain, target))

    @torch.no_grad()
    def _play(self) -> npt.NDArray[np.float32]:
        """Fill the rollout; values of the last view (B, S)."""
        r, filtered = self.rollout, self.training.filtered
        for t in range(self.training.steps):
            seen = self.boards.seen
            r.features[t], r.safe[t], r.alive[t] = seen
            logits, value = self.net(torch.from_numpy(r.features[t]))
            r.move[t] = drawn_moves(logits, r.safe[t], filtered, self.rng.random(r.move[t].shape))
            if filtered:
                logits = allowed(logits, torch.from_numpy(r.safe[t]))
            chances = torch.log_softmax(logits, -1).numpy()
            r.chance[t] = np.take_along_axis(chances, r.move[t][..., None], -1)[..., 0]
            r.value[t] = value.numpy()
            stepped = self.move(r.move[t])
            r.reward[t], r.over[t] = stepped.reward, stepped.over
        last: npt.NDArray[np.float32] = self.net(torch.from_numpy(self.boards.seen.features))[1].numpy()
        return last

    def _descend(self, views: Views) -> tuple[float, None]:
        training, losses = self.training, []
        for _ in range(training.passes):
            for k in torch.split(torch.from_numpy(self.rng.permutation(len(views.gain))), training.batch):
                v = Views(*[field[k] for field in views])
                logits, value = self.net(v.features)
                if training.filtered:
                    logits = allowed(logits, v.safe)
                policy = Categorical(logits=logits, validate_args=False)
                ratio = (policy.log_prob(v.move) - v.chance).exp()  # type: ignore[no-untyped-call]
                clipped = ratio.clamp(1 - training.clip, 1 + training.clip)
                chosen = torch.minimum(ratio * v.gain, clipped * v.gain)
                bonus = training.entropy * v.alive * policy.entropy()  # type: ignore[no-untyped-call]
                lost = functional.mse_loss(value, v.target)
                self.descend(0.5 * lost - (chosen + bonus).mean())
                losses.append(lost.item())
        return float(np.mean(losses)), None
