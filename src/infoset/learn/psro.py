"""Policy-space response oracles (Lanctot et al. 2017): a population of networks, each a best response to a mixture.

The first network plays at random.  Each further one learns by PPO to respond to the equilibrium of the matrix game in
which both players choose a network, whose payoffs are estimated from games.  What is evaluated and plays is that
equilibrium as one strategy: the networks are mixed by the probabilities with which each of them comes to an information
set, so that it does the same as to draw a network before the game.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from infoset.errors import UnsupportedGameError
from infoset.learn.baseline import BaselineConfig
from infoset.learn.policy_gradient import PolicyGradient, PolicyGradientTraining
from infoset.learn.policy_net import NetPolicy, PolicyNet, log_policy
from infoset.learn.rollouts import Batch, Inputs, Sight, Simulator, Trajectories
from infoset.names import check_range
from infoset.policies.asking import plan_on_tree
from infoset.policies.tabular import TabularPolicy
from infoset.tree.matrix_games import solve_matrix_game

MOST_WEIGHTS = 2**28  # of all hidden layers


@dataclass(frozen=True)
class PsroTraining(PolicyGradientTraining):
    """The parameters of PSRO, and those of PPO for its best responses."""

    entropy: float = 0.02
    last_entropy: float = 0.02
    members: int = 30
    """Networks in the population, after which the training is over."""
    renewal: int = 100
    """Epochs in which a network learns; its learning rate falls to zero."""
    trials: int = 1000
    """Games from which the payoffs of each pair of networks are estimated."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("members", self.members, 2, max(2, MOST_WEIGHTS // (self.layers * self.hidden**2)))
        check_range("renewal", self.renewal, 1, 2**28)
        check_range("trials", self.trials, 1, 2**20)


class Population(nn.Module):
    """The networks, the payoffs of the first player by the networks of both, and the equilibrium of that game."""

    payoffs: torch.Tensor
    weights: torch.Tensor
    count: torch.Tensor

    def __init__(self, states: Sight, training: PsroTraining) -> None:
        super().__init__()
        size = training.members
        self.members = nn.ModuleList(states.net(training.hidden, training.layers) for _ in range(size))
        self.register_buffer("payoffs", torch.zeros(size, size, dtype=torch.float64))
        self.register_buffer("weights", torch.eye(size, dtype=torch.float64)[[0, 0]])
        self.register_buffer("count", torch.tensor(1))  # networks that have learnt


class Psro(PolicyGradient):
    """A training by PSRO, of a zero-sum game of two players whose tree fits."""

    net: Population  # type: ignore[assignment]
    training: PsroTraining

    def __init__(self, simulator: Simulator, training: PsroTraining) -> None:
        if simulator.num_players != 2 or not simulator.compiled.form.zero_sum:
            raise UnsupportedGameError(f"{simulator.name} is not a zero-sum game of two players, as psro needs")
        super().__init__(simulator, training)

    @staticmethod
    def net_of(states: Sight, training: PsroTraining) -> Population:  # type: ignore[override]
        return Population(states, training)

    @staticmethod
    def policy_of(net: Population, states: Sight) -> TabularPolicy:  # type: ignore[override]
        """Return the equilibrium as one strategy.  Raises ``BudgetError`` for a game whose tree does not fit."""
        form, weights = states.compiled.form, net.weights.numpy()
        plan = np.zeros(form.num_sequences)
        for k in np.flatnonzero(weights.any(axis=0)).tolist():
            member = NetPolicy(net.members[k], states.encoding, states.num_players)  # type: ignore[arg-type]
            own = plan_on_tree(member, states.compiled.tree, form)
            for player in range(states.num_players):
                part = form.player_sequences(player)
                plan[part] += weights[player, k] * own[part]
        return TabularPolicy.from_plan(form, plan)

    @property
    def current(self) -> PolicyNet:
        return self.net.members[int(self.net.count)]  # type: ignore[return-value]

    @property
    def left(self) -> float:
        """The share of the present network's training that is still to come."""
        return 1.0 - self.iteration % self.training.renewal / self.training.renewal

    @property
    def over(self) -> bool:
        return super().over or int(self.net.count) == self.training.members

    @torch.no_grad()
    def act(self, batch: Batch) -> Inputs:
        """Return the probabilities of the networks that play, by game and player; note their values."""
        member, seen, legal = self.plays[batch.live, batch.player], batch.seen, batch.legal
        found, values = np.zeros(legal.shape, dtype=np.float32), np.zeros(len(seen), dtype=np.float32)
        for k in np.unique(member).tolist():
            rows = member == k
            logits, value = self.net.members[k](torch.from_numpy(seen[rows]))
            found[rows] = log_policy(logits, torch.from_numpy(legal[rows])).exp().numpy()
            values[rows] = value.numpy()
        self.values.append(values)
        return found

    def learn(self) -> tuple[float, None]:
        games, new, self.values = self.training.games, int(self.net.count), []
        weights = self.net.weights.numpy()
        drawn = [self.rng.choice(len(own), size=games, p=own / own.sum()) for own in weights]
        learns = np.arange(games) % 2  # the seat of the network that learns
        self.plays = np.where(learns[:, None] == np.arange(2), new, np.stack(drawn, axis=1))
        played = self.play(self.act, games)
        mine = self.plays[played.game, played.player] == new
        own_part = Trajectories._make([*[field[mine] for field in played[:-1]], played.payoffs])
        value_loss = self.improve(own_part, np.concatenate(self.values)[mine])
        if (self.iteration + 1) % self.training.renewal == 0:
            self._enlarge()
        return value_loss, None

    def _enlarge(self) -> None:
        """Add the network that has learnt to the population."""
        new, trials = int(self.net.count), self.training.trials
        pairs = np.array([(new, k) for k in range(new + 1)] + [(k, new) for k in range(new)])
        self.plays = np.repeat(pairs, trials, axis=0)
        paid = self.play(self.act, len(self.plays)).payoffs[:, 0].reshape(-1, trials).mean(axis=1)
        self.net.payoffs[pairs[:, 0], pairs[:, 1]] = torch.from_numpy(paid)
        self.net.count += 1
        found = solve_matrix_game(self.net.payoffs[: new + 1, : new + 1].numpy())
        self.net.weights[:, : new + 1] = torch.from_numpy(np.stack([found.rows, found.columns]))


class PsroConfig(BaselineConfig, frozen=True, tag_field="method", tag="psro"):
    """Configuration of a run of PSRO."""

    training: PsroTraining
    made = Psro
