"""Deep counterfactual regret minimisation (Brown et al. 2019), with linear weights, on games played side by side.

An iteration of CFR samples, for every player in turn, subtrees in which that player tries its actions and the others
play by regret matching on the network of regrets.  What the player would have gained is added to a sample of all
iterations' regrets, from which the network is learnt anew; the others' strategies to a sample from which the network of
the average strategy is learnt, which plays.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from infoset.base import BoolArray
from infoset.learn.baseline import Baseline, BaselineConfig, BaselineTraining, Part
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


@dataclass(frozen=True)
class DeepCfrTraining(RegretTraining):
    """The parameters of Deep CFR."""

    branches: int = 3
    """The most actions that a player tries at each of its decisions, drawn where it has more (Li et al. 2020)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("branches", self.branches, 1, 2**16)


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


class DeepCfr(RegretLearner):
    """A training by Deep CFR."""

    training: DeepCfrTraining

    def collect(self, player: int) -> None:
        batch = self.simulator.deal(self.training.games, self.rng)
        self.games += self.training.games
        slot = np.full(self.training.games, -1)  # where a game's value goes: a node of the player, and an action
        nodes, levels, ends, paid = 0, [], [], []
        width = len(self.simulator.actions)
        while True:
            done = np.setdiff1d(np.arange(len(slot)), batch.live)
            ends.append(slot[done])
            paid.append(batch.payoffs[done, player])
            if not len(batch.live):
                break
            self.states += len(batch.live)
            strategy, seen, legal = match_regrets(self.regret_net, batch), batch.seen, batch.legal
            mine = np.flatnonzero(batch.player == player)
            others = np.flatnonzero(batch.player != player)
            self.add(self.strategies, seen[others], legal[others], strategy[others])
            order = np.where(legal[mine], self.rng.random(legal[mine].shape), 2.0).argsort(axis=1).argsort(axis=1)
            tried = legal[mine] & (order < self.training.branches)
            node, column = np.nonzero(tried)
            levels.append((nodes, slot[batch.live[mine]], seen[mine], legal[mine], strategy[mine], tried))
            moved = np.concatenate([others, mine[node]])
            columns = np.concatenate([batch.draw(strategy)[others], column])
            slot = np.concatenate([slot[batch.live[others]], (nodes + node) * width + column])
            nodes += len(mine)
            batch = batch.copies(batch.live[moved], self.rng)
            batch.play(columns)
        value = np.zeros(nodes * width + 1)  # the last entry takes what lies above the first decision
        value[np.concatenate(ends)] = np.concatenate(paid)
        for first, above, seen, legal, strategy, tried in reversed(levels):
            estimates = value[first * width : (first + len(seen)) * width].reshape(-1, width)
            estimates = estimates * (legal.sum(axis=1) / np.maximum(tried.sum(axis=1), 1))[:, None]
            mean = (strategy * estimates).sum(axis=1)
            value[above] = mean
            regret = np.where(legal, estimates - mean[:, None], 0.0).astype(np.float32)
            self.add(self.regrets, seen, legal, regret)


class DeepCfrConfig(BaselineConfig, frozen=True, tag_field="method", tag="deep-cfr"):
    """Configuration of a run of Deep CFR."""

    training: DeepCfrTraining
    made = DeepCfr
