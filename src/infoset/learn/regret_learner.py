"""The common part of Deep CFR and ESCHER: networks of regrets and of the average strategy, learnt from samples.

Weights are those of linear CFR.  The network of regrets is learnt anew in every iteration; that of the average
strategy plays.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from infoset.base import BoolArray
from infoset.learn.baseline import Baseline, BaselineTraining, Part
from infoset.learn.policy_net import PolicyNet, log_policy
from infoset.learn.replay_buffer import Reservoir, floats
from infoset.learn.rollouts import Batch, Inputs, Simulator
from infoset.names import check_range


@dataclass(frozen=True)
class RegretTraining(BaselineTraining):
    """The parameters of Deep CFR and of methods like it."""

    games: int = 128
    """Games, or samples of the tree, for each player in an iteration."""
    buffer: int = 200_000
    """Samples kept of the regrets, and of the strategies."""
    updates: int = 200
    """Mini-batches from which each network is learnt in an iteration."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("buffer", self.buffer, 1, 2**28)
        check_range("updates", self.updates, 1, 2**20)


class RegretLearner(Baseline):
    """A training by regrets, whose average strategy plays."""

    training: Any

    def __init__(self, simulator: Simulator, training: RegretTraining) -> None:
        super().__init__(simulator, training)
        self.regret_net = self.new_net()
        seen, row = floats(simulator.size + simulator.num_players), floats(len(simulator.actions))
        legal = np.dtype((np.bool_, (len(simulator.actions),)))
        fields = {"seen": seen, "legal": legal, "target": row, "weight": np.dtype(np.float32)}
        self.regrets, self.strategies = Reservoir(training.buffer, **fields), Reservoir(training.buffer, **fields)

    @abstractmethod
    def collect(self, player: int) -> None:
        """Sample games for a player, and add its regrets and the others' strategies."""

    def learn(self) -> tuple[float, float]:
        for player in range(self.simulator.num_players):
            self.collect(player)
        self.regret_net = self.new_net()
        optimizer = torch.optim.Adam(self.regret_net.parameters(), lr=self.training.rate)
        value_loss = 0.0
        for seen, legal, target, weight in self._batches(self.regrets):
            error = (self.regret_net(seen)[0] - target).masked_fill(~legal, 0.0)
            loss = (weight * (error**2).sum(dim=1)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            value_loss += loss.item() / self.training.updates
        policy_loss = 0.0
        for seen, legal, target, weight in self._batches(self.strategies):
            logs = log_policy(self.net(seen)[0], legal).masked_fill(~legal, 0.0)
            loss = -(weight * (target * logs).sum(dim=1)).mean()
            self.descend(loss)
            policy_loss += loss.item() / self.training.updates
        return value_loss, policy_loss

    def _batches(self, reservoir: Reservoir) -> Any:
        """Yield mini-batches, whose weights are those of linear CFR divided by that of this iteration."""
        for _ in range(self.training.updates):
            k = reservoir.draw(self.training.batch, self.rng)
            seen, legal, target, weight = (torch.from_numpy(reservoir[name][k]) for name in reservoir.fields)
            yield seen, legal, target, weight / (self.iteration + 1)

    def add(self, reservoir: Reservoir, seen: Inputs, legal: BoolArray, target: Inputs) -> None:
        """Add samples of this iteration."""
        weight = np.full(len(seen), self.iteration + 1, dtype=np.float32)
        reservoir.add_sampled(self.rng, seen=seen, legal=legal, target=target, weight=weight)

    def parts(self) -> dict[str, Part]:
        return {"regret_net": self.regret_net, "regrets": self.regrets, "strategies": self.strategies}


@torch.no_grad()
def match_regrets(net: PolicyNet, batch: Batch) -> Inputs:
    """Return the strategy (K, A) in proportion to the positive regrets, or the action of the largest regret."""
    legal = torch.from_numpy(batch.legal)
    regret: Tensor = net(torch.from_numpy(batch.seen))[0]
    positive = regret.clamp_min(0.0) * legal
    total = positive.sum(dim=1, keepdim=True)
    best = torch.nn.functional.one_hot(regret.masked_fill(~legal, -torch.inf).argmax(dim=1), legal.shape[1])
    found: Inputs = torch.where(total > 0, positive / total.clamp_min(1e-30), best.float()).numpy()
    return found
