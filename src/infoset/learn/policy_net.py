"""A network of information states: the probabilities of actions and the payoff that its player expects."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from infoset.base import Action, BoolArray, Encoding, InformationState
from infoset.policies.asking import ask_one

NEVER = -1e9  # the logit of an illegal action
AT_ONCE = 1 << 16  # states


class PolicyNet(nn.Module):
    """Hidden layers with rectifiers, then a linear layer to the logits of actions, and one to the value.

    The input (K, F + n) is the array of an information state, followed by ones in the column of its player.
    """

    def __init__(self, inputs: int, actions: int, hidden: int, layers: int) -> None:
        super().__init__()
        sizes = [inputs, *[hidden] * layers]
        blocks = [(nn.Linear(a, b), nn.ReLU()) for a, b in pairwise(sizes)]
        self.trunk = nn.Sequential(*[part for block in blocks for part in block])
        self.policy, self.value = nn.Linear(hidden, actions), nn.Linear(hidden, 1)
        nn.init.zeros_(self.policy.weight)  # uniform play at the beginning
        nn.init.zeros_(self.policy.bias)

    def forward(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (K, A) and values (K,)."""
        inner = self.trunk(seen)
        return self.policy(inner).float(), self.value(inner).float().squeeze(1)


def log_policy(logits: Tensor, legal: Tensor) -> Tensor:
    """Return the logarithms (K, A) of the probabilities of legal actions; illegal ones are far below zero."""
    return logits.masked_fill(~legal, NEVER).log_softmax(dim=1)


class NetPolicy:
    """The policy of a network: softmax over the logits of legal actions."""

    def __init__(self, net: PolicyNet, encoding: Encoding, players: int) -> None:
        self.net, self.encoding, self.players = net, encoding, players

    @torch.no_grad()
    def batch_probabilities(
        self, player: int, inputs: npt.NDArray[np.float32], legal: BoolArray
    ) -> npt.NDArray[np.float32]:  # fmt: skip
        """Return the probabilities (K, A) of the actions at inputs ``(K, *shape)``; those of illegal actions are 0."""
        found = np.empty(legal.shape, dtype=np.float32)
        for begin in range(0, len(inputs), AT_ONCE):
            part = slice(begin, begin + AT_ONCE)
            rows = torch.from_numpy(np.asarray(inputs[part], dtype=np.float32)).flatten(1)
            mover = torch.zeros(len(rows), self.players)
            mover[:, player] = 1.0
            logits, _ = self.net(torch.cat([rows, mover], dim=1))
            found[part] = log_policy(logits, torch.from_numpy(legal[part])).exp().numpy()
        return found

    def action_probabilities(
        self, player: int, infostate: InformationState, legal_actions: tuple[Action, ...]
    ) -> Sequence[float]:
        """Return the probabilities of the legal actions."""
        return ask_one(self, player, infostate, legal_actions)
