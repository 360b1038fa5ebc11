"""Regularised Nash dynamics (Perolat et al. 2022) on games played side by side.

Payoffs are transformed: at each of its decisions a player pays the divergence of its policy from a reference policy,
and the others receive it.  Neural replicator dynamics (Hennes et al. 2020), which moves logits by advantages and not
probabilities, converges in the transformed game; the reference is then replaced by the policy reached, averaged over
updates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from infoset.learn.baseline import Baseline, BaselineConfig, BaselineTraining, Part
from infoset.learn.policy_net import log_policy
from infoset.learn.returns import transform
from infoset.learn.rollouts import Batch, Inputs, Simulator
from infoset.names import check_range


@dataclass(frozen=True)
class RNadTraining(BaselineTraining):
    """The parameters of R-NaD."""

    regularisation: float = 0.2
    """η, the weight of the divergence from the reference policy."""
    renewal: int = 500
    """Epochs after which the reference policy is replaced; in the first half of them the new one takes over."""
    averaging: float = 0.01
    """The share of the present network in the average, after each mini-batch, that becomes the reference."""
    trace: float = 1.0
    """The weight of what happened against the network's value, in the estimates that values are learnt from."""
    bound: float = 2.0
    """Logits, less their mean, are not moved beyond this number."""
    clip: float = 1e4
    """The largest advantage; an action's advantage is estimated by a division by its probability."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("renewal", self.renewal, 1, 2**28)
        self.check_share("regularisation", 1e3)
        self.check_share("trace")
        for name, most in (("averaging", 1.0), ("bound", 1e9), ("clip", 1e9)):
            self.check_positive(name, most)


class RNad(Baseline):
    """A training by R-NaD."""

    training: RNadTraining

    def __init__(self, simulator: Simulator, training: RNadTraining) -> None:
        super().__init__(simulator, training)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=training.rate, betas=(0.0, 0.999), eps=1e-7)
        self.average, self.reference, self.former = (self.new_net() for _ in range(3))
        for net in (self.average, self.reference, self.former):
            net.load_state_dict(self.net.state_dict())

    @torch.no_grad()
    def act(self, batch: Batch) -> Inputs:
        """Return the network's probabilities in live games; note its values and the logarithms' excess."""
        seen, legal = torch.from_numpy(batch.seen), torch.from_numpy(batch.legal)
        logits, value = self.net(seen)
        logs, before, now = (
            log_policy(logits, legal),
            *(log_policy(net(seen)[0], legal) for net in (self.former, self.reference)),
        )
        share = min(1.0, 2 * (self.iteration % self.training.renewal) / self.training.renewal)
        excess = torch.where(legal, logs - (1 - share) * before - share * now, 0.0)
        self.noted.append((value.numpy(), excess.numpy()))
        probabilities: Inputs = logs.exp().numpy()
        return probabilities

    def learn(self) -> tuple[float, None]:
        training = self.training
        if self.iteration % training.renewal == 0:
            self.former.load_state_dict(self.reference.state_dict())
            self.reference.load_state_dict(self.average.state_dict())
        self.noted: list[tuple[Inputs, Inputs]] = []
        played = self.play(self.act, training.games)
        value, excess = map(np.concatenate, zip(*self.noted, strict=True))
        policy, cost = played.probabilities, training.regularisation * excess
        paid = (policy * cost).sum(axis=1)
        target, later = np.empty_like(value), np.empty_like(value)
        transform(played.game, played.player, value, paid, played.payoffs, training.trace, target, later)
        chosen = np.arange(len(value)), played.action
        estimate = -cost
        estimate[chosen] += (later - value - paid) / policy[chosen]
        gain = np.clip(estimate - (policy * estimate).sum(axis=1, keepdims=True), -training.clip, training.clip)
        fields = played.seen, played.legal, gain, target
        losses = [self._descend_on(*each) for each in self.mini_batches(fields)]
        return sum(losses) / len(losses), None

    def _descend_on(self, seen: Tensor, legal: Tensor, gain: Tensor, target: Tensor) -> float:
        """Learn from a mini-batch; return the loss of values."""
        logits, value = self.net(seen)
        mean = (logits * legal).sum(dim=1, keepdim=True) / legal.sum(dim=1, keepdim=True)
        free = torch.where(gain > 0, logits - mean < self.training.bound, logits - mean > -self.training.bound)
        policy_loss = -(logits * gain * (legal & free)).sum(dim=1).mean()
        value_loss = ((value - target) ** 2).mean()
        self.descend(policy_loss + value_loss)
        with torch.no_grad():
            for slow, fast in zip(self.average.parameters(), self.net.parameters(), strict=True):
                slow.lerp_(fast, self.training.averaging)
        return float(value_loss.detach())

    def parts(self) -> dict[str, Part]:
        return {"average": self.average, "reference": self.reference, "former": self.former}


class RNadConfig(BaselineConfig, frozen=True, tag_field="method", tag="r-nad"):
    """Configuration of a run of R-NaD."""

    training: RNadTraining
    made = RNad
