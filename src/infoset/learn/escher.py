"""ESCHER (McAleer et al. 2023): Deep CFR whose regrets come from values of histories, without importance sampling.

A network that sees what all players see learns the payoff of each action, from games by the present strategies.  In
other games a player acts at random, and its regrets are what that network says of its actions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from infoset.learn.baseline import BaselineConfig, Part
from infoset.learn.policy_net import PolicyNet
from infoset.learn.regret_learner import RegretLearner, RegretTraining, match_regrets
from infoset.learn.rollouts import Batch, Inputs, Simulator


@dataclass(frozen=True)
class EscherTraining(RegretTraining):
    """The parameters of ESCHER."""

    exploration: float = 0.1
    """The probability of a random action in the games from which values are learnt."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_share("exploration")


class Escher(RegretLearner):
    """A training by ESCHER."""

    training: EscherTraining

    def __init__(self, simulator: Simulator, training: EscherTraining) -> None:
        super().__init__(simulator, training)
        size = simulator.num_players * (simulator.size + 1)
        self.value_net = PolicyNet(size, len(simulator.actions), training.hidden, training.layers)
        self.value_optimizer = torch.optim.Adam(self.value_net.parameters(), lr=training.rate)

    def learn(self) -> tuple[float, float]:
        self._learn_values()
        return super().learn()

    def _learn_values(self) -> None:
        """Learn the mover's payoff after each action from games by the present strategies."""
        training, views = self.training, []

        def act(batch: Batch) -> Inputs:
            views.append(joint(batch))
            even = batch.legal / batch.legal.sum(axis=1, keepdims=True)
            strategy = match_regrets(self.regret_net, batch)
            mixed: Inputs = ((1 - training.exploration) * strategy + training.exploration * even).astype(np.float32)
            return mixed

        played = self.play(act, 2 * training.games)
        paid = played.payoffs[played.game, played.player].astype(np.float32)
        fields = [torch.from_numpy(array) for array in (np.concatenate(views), played.action, paid)]
        for _ in range(training.updates):
            k = torch.from_numpy(self.rng.integers(len(paid), size=training.batch))
            seen, action, payoff = (field.index_select(0, k) for field in fields)
            value = self.value_net(seen)[0].gather(1, action[:, None]).squeeze(1)
            loss = torch.nn.functional.mse_loss(value, payoff)
            self.value_optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self.value_optimizer.step()

    def collect(self, player: int) -> None:
        def act(batch: Batch) -> Inputs:
            legal, mine = batch.legal, batch.player == player
            strategy, seen = match_regrets(self.regret_net, batch), batch.seen
            with torch.no_grad():
                values = self.value_net(torch.from_numpy(joint(batch)))[0].numpy()
            gain = np.where(legal, values - (strategy * values).sum(axis=1, keepdims=True), 0.0).astype(np.float32)
            self.add(self.regrets, seen[mine], legal[mine], gain[mine])
            self.add(self.strategies, seen[~mine], legal[~mine], strategy[~mine])
            even: Inputs = (legal / legal.sum(axis=1, keepdims=True)).astype(np.float32)
            return np.where(mine[:, None], even, strategy)

        self.play(act, self.training.games)

    def parts(self) -> dict[str, Part]:
        return super().parts() | {"value_net": self.value_net, "value_optimizer": self.value_optimizer}


def joint(batch: Batch) -> Inputs:
    """Return what all players see (K, n F) in live games, followed by ones in the columns of the movers."""
    rows = batch.inputs[batch.live].reshape(len(batch.live), -1)
    return np.concatenate([rows, np.eye(batch.inputs.shape[1], dtype=np.float32)[batch.player]], axis=1)


class EscherConfig(BaselineConfig, frozen=True, tag_field="method", tag="escher"):
    """Configuration of a run of ESCHER."""

    training: EscherTraining
    made = Escher
