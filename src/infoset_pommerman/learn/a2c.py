"""Advantage actor-critic (Mnih et al. 2016), all boards in step: one gradient step for each epoch of a few steps."""

from __future__ import annotations

from dataclasses import dataclass

from torch.nn import functional

from infoset_pommerman.learn.actor_critic import ActorCritic, ActorCriticTraining, Views


@dataclass(frozen=True)
class A2cTraining(ActorCriticTraining):
    """The parameters of A2C."""

    steps: int = 8
    trace: float = 1.0


class A2c(ActorCritic):
    """A training by A2C.

    >>> from infoset_pommerman.learn.a2c import A2c, A2cTraining
    >>> from infoset_pommerman.config import config
    >>> from infoset_pommerman.features import FeatureExtractor
    >>> work = A2c(FeatureExtractor("duel", config("OneVsOne-v0")), A2cTraining(boards=4, hidden=8))
    >>> work.step().states
    32
    """

    training: A2cTraining

    def descend_on(self, views: Views) -> float:
        policy, value = self.policy(views)
        chosen = policy.log_prob(views.move) * views.gain  # type: ignore[no-untyped-call]
        bonus = self.training.entropy * views.alive * policy.entropy()  # type: ignore[no-untyped-call]
        lost = functional.mse_loss(value, views.target)
        self.descend(0.5 * lost - (chosen + bonus).mean())
        return float(lost.item())
