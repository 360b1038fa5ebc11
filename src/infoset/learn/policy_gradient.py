"""Proximal policy optimisation (Schulman et al. 2017) and magnetic mirror descent (Sokota et al. 2023) in self-play.

One network plays all seats.  In every epoch it plays games to their ends and learns from them several times: PPO while
the probability ratios of chosen actions stay within a clip, MMD also while the policy stays near that which played.
The bonus for entropy, MMD's pull towards uniform play, is what makes either converge (Rudolph et al. 2025).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from infoset.learn.baseline import Baseline, BaselineConfig, BaselineTraining
from infoset.learn.policy_net import PolicyNet, log_policy
from infoset.learn.returns import advantages
from infoset.learn.rollouts import Batch, Inputs, Simulator, Trajectories
from infoset.names import check_range


@dataclass(frozen=True)
class PolicyGradientTraining(BaselineTraining):
    """The parameters of PPO."""

    passes: int = 2
    """How often an epoch's decisions are learnt from."""
    clip: float = 0.2
    """Largest relative change of an action's probability beyond which it is not learnt from any more."""
    entropy: float = 0.5
    """Weight of the entropy of the policies."""
    last_entropy: float = 0.05
    """The same at the end; it changes linearly."""
    value_weight: float = 0.5
    """Weight of the loss of values."""
    discount: float = 1.0
    """Discount factor of a decision."""
    trace: float = 0.95
    """λ of generalised advantage estimation (Schulman et al. 2016)."""
    steepest: float = 0.5
    """The norm to which longer gradients are clipped."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("passes", self.passes, 1, 1000)
        self.check_positive("clip", 1e9)
        self.check_positive("steepest", 1e9)
        for name in ("entropy", "last_entropy", "value_weight"):
            self.check_share(name, 1e3)
        for name in ("discount", "trace"):
            self.check_share(name)


@dataclass(frozen=True)
class MmdTraining(PolicyGradientTraining):
    """The parameters of magnetic mirror descent."""

    kl: float = 0.05
    """Weight of the divergence from the policy that played."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_share("kl", 1e3)


class PolicyGradient(Baseline):
    """A training by PPO, or by MMD where ``training`` has a ``kl``."""

    training: PolicyGradientTraining

    def __init__(self, simulator: Simulator, training: PolicyGradientTraining) -> None:
        super().__init__(simulator, training)
        self.steepest = training.steepest
        self.kl = training.kl if isinstance(training, MmdTraining) else 0.0

    @property
    def current(self) -> PolicyNet:
        """The network that learns."""
        return self.net

    @torch.no_grad()
    def act(self, batch: Batch) -> Inputs:
        """Return the network's probabilities in live games, and note its values."""
        logits, values = self.net(torch.from_numpy(batch.seen))
        self.values.append(values.numpy())
        probabilities: Inputs = log_policy(logits, torch.from_numpy(batch.legal)).exp().numpy()
        return probabilities

    def learn(self) -> tuple[float, None]:
        self.values: list[Inputs] = []
        played = self.play(self.act, self.training.games)
        return self.improve(played, np.concatenate(self.values)), None

    def improve(self, played: Trajectories, value: Inputs) -> float:
        """Learn from decisions and the values at them before; return the loss of values."""
        training = self.training
        gain = np.empty(len(value), dtype=np.float32)
        advantages(played.game, played.player, value, played.payoffs, training.discount, training.trace, gain)
        drawn = np.log(played.probabilities[np.arange(len(value)), played.action])
        fields = played.seen, played.legal, played.action, played.probabilities, drawn, gain, value
        losses = [self._descend_on(*each) for each in self.mini_batches(fields, training.passes)]
        return float(torch.stack(losses).mean())

    def _descend_on(
        self, seen: Tensor, legal: Tensor, action: Tensor, old: Tensor, drawn: Tensor, gain: Tensor, before: Tensor
    ) -> Tensor:  # fmt: skip
        """Learn from a mini-batch; return the loss of values."""
        training = self.training
        logits, value = self.current(seen)
        logs = log_policy(logits, legal)
        policy = logs.exp()
        entropy = -(policy * logs).sum(dim=1)
        weight = training.last_entropy + (training.entropy - training.last_entropy) * self.left
        policy_loss = clipped_loss(logs, action, drawn, gain, training.clip) - weight * entropy.mean()
        if self.kl:
            policy_loss = policy_loss + self.kl * (policy * (logs - old.clamp_min(1e-9).log())).sum(dim=1).mean()
        value_loss = clipped_value_loss(value, before, gain, training.clip)
        self.descend(policy_loss + training.value_weight * value_loss)
        return value_loss.detach()


def clipped_loss(logs: Tensor, action: Tensor, drawn: Tensor, gain: Tensor, clip: float) -> Tensor:
    """Return PPO's loss of a policy (K, A) on actions with advantages, of which the ratios are clipped.

    ``drawn`` are the logarithms of the probabilities with which the actions were drawn; all others are (K,).
    """
    gain = (gain - gain.mean()) / (gain.std(unbiased=False) + 1e-8)
    ratio = (logs.gather(1, action[:, None]).squeeze(1) - drawn).exp()
    return -torch.minimum(ratio * gain, ratio.clamp(1 - clip, 1 + clip) * gain).mean()


def clipped_value_loss(value: Tensor, before: Tensor, gain: Tensor, clip: float) -> Tensor:
    """Return the loss of values (K,), whose changes from those ``before`` are clipped."""
    target, near = before + gain, before + (value - before).clamp(-clip, clip)
    return 0.5 * torch.maximum((value - target) ** 2, (near - target) ** 2).mean()


class PpoConfig(BaselineConfig, frozen=True, tag_field="method", tag="ppo"):
    """Configuration of a run of proximal policy optimisation."""

    training: PolicyGradientTraining
    made = PolicyGradient


class MmdConfig(BaselineConfig, frozen=True, tag_field="method", tag="mmd"):
    """Configuration of a run of magnetic mirror descent."""

    training: MmdTraining
    made = PolicyGradient
