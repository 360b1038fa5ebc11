"""Neural fictitious self-play (Heinrich and Silver 2016) on games played side by side.

In each game a player follows its best response with some probability, else its average policy.  The best response is
learnt by Q-learning (Mnih et al. 2015) from what happened lately, the average policy, which plays, from a uniform
sample of all that best responses ever did.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

from infoset.learn.baseline import Baseline, BaselineConfig, BaselineTraining, Part, probabilities
from infoset.learn.policy_net import NEVER, log_policy
from infoset.learn.replay_buffer import ReplayBuffer, Reservoir, floats
from infoset.learn.returns import follow
from infoset.learn.rollouts import Batch, Inputs, Simulator
from infoset.names import check_range


@dataclass(frozen=True)
class NfspTraining(BaselineTraining):
    """The parameters of NFSP."""

    games: int = 128
    """Games of an epoch, played side by side."""
    anticipation: float = 0.2
    """The probability with which a player follows its best response in a game."""
    exploration: float = 0.1
    """The probability of a random action of a best response at the beginning; it falls to zero."""
    buffer: int = 100_000
    """Latest decisions from which best responses are learnt, and decisions sampled for the average policy."""
    updates: int = 32
    """Mini-batches from which each network is learnt in an epoch."""
    renewal: int = 10
    """Epochs after which the network that values the future is renewed."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("buffer", "updates", "renewal"):
            check_range(name, getattr(self, name), 1, 2**28)
        self.check_share("anticipation")
        self.check_share("exploration")


class Nfsp(Baseline):
    """A training by NFSP."""

    training: NfspTraining

    def __init__(self, simulator: Simulator, training: NfspTraining) -> None:
        super().__init__(simulator, training)
        self.q_net, self.later = self.new_net(), self.new_net()
        self.later.load_state_dict(self.q_net.state_dict())
        self.q_optimizer = torch.optim.Adam(self.q_net.parameters(), lr=training.rate)
        seen, number = floats(simulator.size + simulator.num_players), np.dtype(np.int64)
        legal, real = np.dtype((np.bool_, (len(simulator.actions),))), np.dtype(np.float32)
        self.lately = ReplayBuffer(
            training.buffer, seen=seen, action=number, paid=real, then=seen, legal_then=legal, over=real
        )
        self.ever = Reservoir(training.buffer, seen=seen, legal=legal, action=number)

    def act(self, batch: Batch) -> Inputs:
        """Return the probabilities of best responses, or of the average policy, in live games."""
        legal = batch.legal
        with torch.no_grad():
            q = self.q_net(torch.from_numpy(batch.seen))[0].numpy()
        best = np.where(legal, q, -np.inf).argmax(axis=1)
        explored = self.training.exploration * self.left
        respond = explored * legal / legal.sum(axis=1, keepdims=True)
        respond[np.arange(len(best)), best] += 1 - explored
        follows = self.responds[batch.live, batch.player]
        found: Inputs = np.where(follows[:, None], respond, probabilities(self.net, batch)).astype(np.float32)
        return found

    def learn(self) -> tuple[float, float]:
        training = self.training
        players = self.simulator.num_players
        self.responds = self.rng.random((training.games, players)) < training.anticipation
        played = self.play(self.act, training.games)
        then = np.empty(len(played.game), dtype=np.int64)
        follow(played.game, played.player, then, np.full((training.games, players), -1))
        paid = np.where(then < 0, played.payoffs[played.game, played.player], 0.0).astype(np.float32)
        self.lately.add(
            seen=played.seen, action=played.action, paid=paid, then=played.seen[then], legal_then=played.legal[then],
            over=(then < 0).astype(np.float32),
        )  # fmt: skip
        responded = self.responds[played.game, played.player]
        self.ever.add_sampled(
            self.rng, seen=played.seen[responded], legal=played.legal[responded], action=played.action[responded]
        )
        if self.iteration % training.renewal == 0:
            self.later.load_state_dict(self.q_net.state_dict())
        value_loss = sum(self._value() for _ in range(training.updates)) / training.updates
        if not len(self.ever):
            return value_loss, 0.0
        return value_loss, sum(self._average() for _ in range(training.updates)) / training.updates

    def _value(self) -> float:
        """Learn the values of actions from a mini-batch."""
        k = self.lately.draw(self.training.batch, self.rng)
        seen, action, paid, then, legal, over = (torch.from_numpy(self.lately[name][k]) for name in self.lately.fields)
        with torch.no_grad():
            best = self.later(then)[0].masked_fill(~legal, NEVER).amax(dim=1)
            target = paid + (1 - over) * best
        value = self.q_net(seen)[0].gather(1, action[:, None]).squeeze(1)
        loss = functional.mse_loss(value, target)
        self.q_optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.q_optimizer.step()
        return float(loss.detach())

    def _average(self) -> float:
        """Learn the average policy from a mini-batch."""
        k = self.ever.draw(self.training.batch, self.rng)
        seen, legal, action = (torch.from_numpy(self.ever[name][k]) for name in self.ever.fields)
        loss = functional.nll_loss(log_policy(self.net(seen)[0], legal), action)
        self.descend(loss)
        return float(loss.detach())

    def parts(self) -> dict[str, Part]:
        return {
            "q_net": self.q_net, "later": self.later, "q_optimizer": self.q_optimizer, "lately": self.lately,
            "ever": self.ever,
        }  # fmt: skip


class NfspConfig(BaselineConfig, frozen=True, tag_field="method", tag="nfsp"):
    """Configuration of a run of NFSP."""

    training: NfspTraining
    made = Nfsp
