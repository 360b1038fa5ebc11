"""The network of Pommerman's agents: from observations to the probabilities of moves and a value."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from infoset.base import FloatArray
from infoset.learn.net import filled, load_weights
from infoset.match.agents import NET, read_name
from infoset_pommerman.features import SIZE_OF_ALL, FeatureExtractor, Features, Safe
from infoset_pommerman.state import MOVES

GREEDY = 1e4  # sharpness at which only the best move is drawn
WEIGHTS = Path(__file__).parent / "weights"  # shipped networks: a training's folder for each agent
FORBIDDEN = -1e9  # the logit of a move that the filter forbids


class MoveNet(nn.Module):
    """Two hidden layers, then a logit for each move and the value: the agent's expected return.

    ``filtered``: it was trained without the moves that it does not survive, as far as there are others.  The
    probabilities of its moves are the softmax of ``sharpness`` times the logits.
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
            self.head.weight *= 0.1  # all moves are about equally likely at first

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Map features (K, F) to logits (K, 6) and values (K,)."""
        inner = self.trunk(features).float()
        with torch.autocast("cpu", enabled=False):  # full precision: logits matter by their differences
            found = self.head(inner)
        return found[..., :MOVES], found[..., MOVES]

    def chosen(self, features: Tensor, safe: Tensor) -> Tensor:
        """Return the logits (K, 6) of the moves that it plays, where it survives the moves ``safe`` (K, 6)."""
        logits = self.sharpness * self(features)[0]
        return allowed(logits, safe) if self.filtered else logits


def allowed(logits: Tensor, safe: Tensor) -> Tensor:
    """Mask logits (K, 6) of the moves that are not ``safe`` (K, 6), where there are safe ones."""
    return logits.masked_fill(~safe & safe.any(-1, keepdim=True), FORBIDDEN)


def load_move_net(path: Path, sight: FeatureExtractor) -> MoveNet:
    """Load the network in a file or a training's folder.

    Raises ``PolicyError`` for a broken file, or a network of other rules.
    """
    path = path / NET if path.is_dir() else path
    return filled(MoveNet, load_weights(path, sight), path)


def learnt_net(name: str, sight: FeatureExtractor) -> MoveNet | None:
    """Return the network of an agent by name, ``None`` for one without a network.

    Raises ``UnknownNameError`` for no agent, and the errors of ``load_move_net``.
    """
    parsed = read_name(name)
    path = dict(parsed.parameters).get("path") if parsed.word == "trained" else WEIGHTS / parsed.word
    return load_move_net(Path(str(path)), sight) if parsed.word == "trained" or Path(str(path)).is_dir() else None


class Decider:
    """The move probabilities of a network for one agent at a time, without PyTorch's overhead per call."""

    def __init__(self, net: MoveNet) -> None:
        self.weights = [tensor.detach().cpu().numpy() for tensor in net.parameters()]
        self.filtered, self.sharpness = bool(net.filtered), float(net.sharpness)

    def probabilities(self, features: Features, safe: Safe) -> FloatArray:
        """Return (6,) the probabilities of the moves."""
        first, a, second, b, head, c = self.weights
        inner = np.maximum(second @ np.maximum(first @ features + a, 0) + b, 0)
        logits = self.sharpness * (head @ inner + c)[:MOVES].astype(np.float64)
        if self.filtered and safe.any():
            logits[~safe] = FORBIDDEN
        weights = np.exp(logits - logits.max())
        return np.asarray(weights / weights.sum())
