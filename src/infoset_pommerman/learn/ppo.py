"""Proximal policy optimisation (Schulman et al. 2017).

In every epoch the boards play some steps; then the network learns from them several times, while the probability ratios
of the chosen moves stay within a clip.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

from infoset.errors import ParameterError
from infoset.names import check_range
from infoset_pommerman.learn.actor_critic import ActorCritic, ActorCriticTraining, Views


@dataclass(frozen=True)
class PpoTraining(ActorCriticTraining):
    """The parameters of PPO."""

    batch: int = 2048
    """Views in a mini-batch."""
    passes: int = 2
    """How often an epoch's views are learnt from."""
    clip: float = 0.2
    """Largest relative change of a move's probability beyond which it is not learnt from any more."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("batch", self.batch, 1, 2**24)
        check_range("passes", self.passes, 1, 1000)
        if not 0.0 < self.clip <= 1.0:
            raise ParameterError(f"clip={self.clip}; allowed: from more than 0 to 1")


class Ppo(ActorCritic):
    """A training by PPO.

    >>> from infoset_pommerman.learn.ppo import Ppo, PpoTraining
    >>> from infoset_pommerman.config import config
    >>> from infoset_pommerman.features import FeatureExtractor
    >>> work = Ppo(FeatureExtractor("duel", config("OneVsOne-v0")), PpoTraining(boards=4, steps=8, hidden=8))
    >>> work.step().states
    32
    """

    training: PpoTraining

    def descend_on(self, views: Views) -> float:
        training, losses = self.training, []
        for _ in range(training.passes):
            for k in torch.split(torch.from_numpy(self.rng.permutation(len(views.gain))), training.batch):
                v = Views(*[field.index_select(0, k) for field in views])
                policy, value = self.policy(v)
                ratio = (policy.log_prob(v.move) - v.chance).exp()  # type: ignore[no-untyped-call]
                clipped = ratio.clamp(1 - training.clip, 1 + training.clip)
                chosen = torch.minimum(ratio * v.gain, clipped * v.gain)
                bonus = training.entropy * v.alive * policy.entropy()  # type: ignore[no-untyped-call]
                lost = functional.mse_loss(value, v.target)
                self.descend(0.5 * lost - (chosen + bonus).mean())
                losses.append(lost.item())
        return float(np.mean(losses))
