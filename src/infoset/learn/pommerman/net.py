"""The network of Pommerman's agents: what its agent sees in; chances of its moves and a value out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from infoset.base import FloatArray
from infoset.learn.net import filled, load_weights
from infoset.pommerman.sight import MOVES, SIZE_OF_ALL, Features, Safe, Sight

GREEDY = 1e4  # so sharp that the best move alone is drawn
FORBIDDEN = -1e9  # the logit of a move that the filter forbids


class MoveNet(nn.Module):
    """Two layers; then a logit for each move, and what the agent has still to expect.

    ``filtered``: it was trained to play without moves that it does not survive, as far as there are others.
    ``sharpness`` times the logits are those of its chances.
    """

    filtered: Tensor
    sharpness: Tensor

    def __init__(self, hidden: int = 128, filtered: bool = False) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(SIZE_OF_ALL, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.head = nn.Linear(hidden, MOVES + 1)
        self.register_buffer("filtered", torch.tensor(filtered))
        self.register_buffer("sharpness", torch.tensor(1.0))
        with torch.no_grad():
            self.head.weight *= 0.1  # all moves are about as likely at first

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Features (K, F) to logits (K, 6) and values (K,)."""
        found = self.head(self.trunk(features))
        return found[..., :MOVES], found[..., MOVES]

    def chosen(self, features: Tensor, safe: Tensor) -> Tensor:
        """Logits (K, 6) of the moves it makes, where ``safe`` (K, 6) are survived."""
        logits = self.sharpness * self(features)[0]
        return allowed(logits, safe) if self.filtered else logits


def allowed(logits: Tensor, safe: Tensor) -> Tensor:
    """Logits (K, 6) without the moves that are not ``safe`` (K, 6), where there are safe ones."""
    return logits.masked_fill(~safe & safe.any(-1, keepdim=True), FORBIDDEN)


def load_move_net(path: Path, sight: Sight) -> MoveNet:
    """Raises ``PolicyError`` for a broken file, or a network of other rules."""
    return filled(MoveNet, load_weights(path, sight), path)


class Decider:
    """A network's chances for one agent at a time, without what PyTorch costs a call."""

    def __init__(self, net: MoveNet) -> None:
        self.weights = [tensor.detach().cpu().numpy() for tensor in net.parameters()]
        self.filtered, self.sharpness = bool(net.filtered), float(net.sharpness)

    def chances(self, features: Features, safe: Safe) -> FloatArray:
        """Of the six moves."""
        first, a, second, b, head, c = self.weights
        inner = np.maximum(second @ np.maximum(first @ features + a, 0) + b, 0)
        logits = self.sharpness * (head @ inner + c)[:MOVES].astype(np.float64)
        if self.filtered and safe.any():
            logits[~safe] = FORBIDDEN
        weights = np.exp(logits - logits.max())
        return np.asarray(weights / weights.sum())
