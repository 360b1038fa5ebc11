"""Deep progressive hiding: a team learns with networks, from more information than it has, and pays to use it.

Progressive hiding (Heymann & Lanctot 2025) with networks in place of tables.  One learns by PPO from the relaxation
``recall``: what the mover sees, and what each other player saw and did at its last decision.  The other, which plays
in the end, reads what the mover sees and learns the projection: the mean of the first one's policy over what the mover
cannot tell apart.  The team pays for the divergence of the two, more and more.  So it unlearns what only the relaxed
information allows, and learns to act early on such that less of it is needed later, which is to communicate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from infoset.base import LongArray
from infoset.errors import ParameterError, UnsupportedGameError
from infoset.learn.baseline import Baseline, BaselineConfig, Part
from infoset.learn.policy_gradient import PolicyGradientTraining, clipped_loss, clipped_value_loss
from infoset.learn.policy_net import PolicyNet, log_policy
from infoset.learn.returns import transform
from infoset.learn.rollouts import Batch, Inputs, Simulator
from infoset.tree.payoff_scale import are_common

LEAST_SPREAD = 0.05  # of advantages, in units of the greatest payoff, which are divided by their spread


@dataclass(frozen=True)
class HidingTraining(PolicyGradientTraining):
    """The parameters of deep progressive hiding."""

    entropy: float = 0.2
    last_entropy: float = 0.0
    penalty: float = 0.1
    """Weight of the divergence of the policy from its projection, in units of the greatest payoff."""
    last_penalty: float = 0.5
    """The same at the end; its logarithm changes linearly."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("penalty", "last_penalty"):
            self.check_positive(name, 1e6)
        if self.discount != 1.0:
            raise ParameterError(
                f"discount={self.discount}; allowed: 1, since a team pays for what it hides at any time"
            )


class DeepHiding(Baseline):
    """A training by deep progressive hiding; ``net`` is the projection, which plays."""

    training: HidingTraining

    def __init__(self, simulator: Simulator, training: HidingTraining) -> None:
        super().__init__(simulator, training)
        self.steepest = training.steepest
        if not are_common(simulator.payoffs):
            raise UnsupportedGameError(f"{simulator.name}: its players are not a team, since their payoffs differ")
        size = simulator.num_players * (simulator.size + len(simulator.actions) + 1)
        self.relaxed_net = PolicyNet(size, len(simulator.actions), training.hidden, training.layers)
        self.relaxed_optimizer = torch.optim.Adam(self.relaxed_net.parameters(), lr=training.rate)

    @property
    def penalty(self) -> float:
        """The present weight of the divergence."""
        first, last = np.log(self.training.penalty), np.log(self.training.last_penalty)
        return float(np.exp(last + (first - last) * self.left))

    @torch.no_grad()
    def act(self, batch: Batch) -> Inputs:
        """Return the relaxed network's probabilities in live games; note what it reads, its values, what is paid."""
        live, mover = batch.live, batch.player
        self.last[live, mover, : self.simulator.size] = batch.inputs[live, mover]
        who = np.eye(self.last.shape[1], dtype=np.float32)[mover]
        views = np.concatenate([self.last[live].reshape(len(live), -1), who], axis=1)
        legal = torch.from_numpy(batch.legal)
        logits, values = self.relaxed_net(torch.from_numpy(views))
        logs, hidden_logs = log_policy(logits, legal), log_policy(self.net(torch.from_numpy(batch.seen))[0], legal)
        self.views.append(views)
        self.values.append(values.numpy())
        self.paid.append((logs.exp() * (logs - hidden_logs)).sum(dim=1).numpy() * np.float32(self.weight))
        probabilities: Inputs = logs.exp().numpy()
        return probabilities

    def _note(self, batch: Batch, columns: LongArray) -> None:
        """Write the movers' actions beside what they saw."""
        self.last[batch.live, batch.player, self.simulator.size :] = 0.0
        self.last[batch.live, batch.player, self.simulator.size + columns] = 1.0

    def learn(self) -> tuple[float, float]:
        training, simulator = self.training, self.simulator
        self.views: list[Inputs] = []
        self.values: list[Inputs] = []
        self.paid: list[Inputs] = []
        self.weight = self.penalty
        width = simulator.size + len(simulator.actions)
        self.last = np.zeros((training.games, simulator.num_players, width), dtype=np.float32)
        for group in self.relaxed_optimizer.param_groups:
            group["lr"] = training.rate * max(self.left, 1e-3)
        played = self.play(self.act, training.games, self._note)
        value, paid = np.concatenate(self.values), np.concatenate(self.paid)
        target, later = np.empty_like(value), np.empty_like(value)
        team = np.zeros_like(played.player)  # the next decision is the team's, whoever takes it
        transform(played.game, team, value, paid, played.payoffs[:, :1], training.trace, target, later)
        gain = later - paid - value  # generalised advantages of a team that pays at every decision
        drawn = np.log(played.probabilities[np.arange(len(value)), played.action])
        fields = np.concatenate(self.views), played.seen, played.legal, played.action, drawn, gain, value
        losses = [self._descend_on_both(*each) for each in self.mini_batches(fields, training.passes)]
        values, divergence = np.mean(losses, axis=0).tolist()
        return values, divergence

    def _descend_on_both(
        self, view: Tensor, seen: Tensor, legal: Tensor, action: Tensor, drawn: Tensor, gain: Tensor, before: Tensor
    ) -> tuple[float, float]:
        """Learn from a mini-batch; return the loss of values and the mean divergence from the projection."""
        training = self.training
        logits, value = self.relaxed_net(view)
        logs = log_policy(logits, legal)
        policy = logs.exp()
        hidden_logits, _ = self.net(seen)
        hidden_logs = log_policy(hidden_logits, legal)
        weight = training.last_entropy + (training.entropy - training.last_entropy) * self.left
        divergence = (policy * (logs - hidden_logs.detach())).sum(dim=1).mean()
        entropy = -(policy * logs).sum(dim=1).mean()
        value_loss = clipped_value_loss(value, before, gain, training.clip)
        loss = (
            clipped_loss(logs, action, drawn, gain, training.clip)
            - weight * entropy
            + self.weight / max(float(gain.std(unbiased=False)), LEAST_SPREAD) * divergence
            + training.value_weight * value_loss
        )
        self.relaxed_optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.relaxed_net.parameters(), training.steepest)
        self.relaxed_optimizer.step()
        self.descend(-(policy.detach() * hidden_logs).sum(dim=1).mean())
        return float(value_loss.detach()), float(divergence.detach())

    def parts(self) -> dict[str, Part]:
        return {"relaxed_net": self.relaxed_net, "relaxed_optimizer": self.relaxed_optimizer}


class HidingConfig(BaselineConfig, frozen=True, tag_field="method", tag="hiding"):
    """Configuration of a run of deep progressive hiding."""

    training: HidingTraining
    made = DeepHiding
    smallest = "tiny_hanabi"
