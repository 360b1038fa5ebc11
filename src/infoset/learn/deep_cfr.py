"""Deep counterfactual regret minimisation (Brown et al. 2019), with linear weights, on games played side by side.

An iteration of CFR samples, for every player in turn, subtrees in which that player tries its actions and the others
play by regret matching on the network of regrets.  What the player would have gained is added to a sample of all
iterations' regrets, from which the network is learnt anew; the others' strategies to a sample from which the network of
the average strategy is learnt, which plays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infoset.learn.baseline import BaselineConfig
from infoset.learn.regret_learner import RegretLearner, RegretTraining, match_regrets
from infoset.names import check_range


@dataclass(frozen=True)
class DeepCfrTraining(RegretTraining):
    """The parameters of Deep CFR."""

    branches: int = 3
    """The most actions that a player tries at each of its decisions, drawn where it has more (Li et al. 2020)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("branches", self.branches, 1, 2**16)


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
