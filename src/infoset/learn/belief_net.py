"""The network of public states: it reads the players' beliefs and returns the value of every information state.

The counterfactual value network of DeepStack (Moravčík et al. 2017) and ReBeL (Brown et al. 2020), for any game whose
public states fit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from infoset.base import FloatArray, IntArray, LongArray
from infoset.errors import UnsupportedGameError
from infoset.learn.encoding import Encoding
from infoset.learn.learner import one_thread
from infoset.learn.net import filled, load_weights
from infoset.learn.public_states import Leaves, PublicStates
from infoset.tree.payoff_scale import constant_sum_of

LAYERS = 3
SAME = 1e-9  # a fact that varies by no more than this counts as constant
MOST_BYTES = 1 << 28  # of ``joint``


class PublicEncoding:
    """The public states of a game as rows.

    N public states, F facts that are not constant, n players, at most W information states (``places``) of a player in
    a public state.  Raises ``UnsupportedGameError`` where the first look-ahead already reaches the end of the game.
    """

    def __init__(
        self, encoding: Encoding, states: PublicStates, progress: Callable[[int], object] | None = None
    ) -> None:  # fmt: skip
        states.explore(progress)
        if len(states.states) < 2:
            raise UnsupportedGameError(
                f"{encoding.graph.name}: the first lookahead reaches the end of the game, so that there is nothing to "
                "learn; 'infoset solve' solves it, or choose a nearer horizon"
            )
        self.states, self.graph, self.encoding, self.name = states, encoding.graph, encoding, encoding.name
        facts = np.array([s.chance @ encoding.facts[encoding.row[s.position]] for s in states.states])
        self.facts = facts[:, np.ptp(facts, axis=0) > SAME].astype(np.float32)
        self.players = len(self.graph.players)
        self.places = max(max(s.places) for s in states.states)
        self.middle = (encoding.high + encoding.low) / 2
        self.half = (encoding.high - encoding.low) / 2 or 1.0

    def __len__(self) -> int:
        return len(self.states.states)

    @cached_property
    def fingerprint(self) -> str:
        """Fingerprint of the game and its public states."""
        digest = hashlib.sha256(self.encoding.fingerprint.encode())
        for state in self.states.states:
            digest.update(state.key)
        return digest.hexdigest()[:32]

    @cached_property
    def joint(self) -> npt.NDArray[np.float32] | None:
        """(N, W, W) the probability by chance alone of each pair of the two players' information states.

        ``None`` where there are more than two players, payoffs do not sum to a constant, or it takes too much memory.
        """
        constant = constant_sum_of(self.graph.payoffs) is not None
        if self.players != 2 or not constant or 4 * len(self) * self.places**2 > MOST_BYTES:
            return None
        joint = np.zeros((len(self), self.places, self.places), dtype=np.float32)
        for k, state in enumerate(self.states.states):
            np.add.at(joint[k], tuple(state.place.T), state.chance)
        return joint

    def likely(self, rows: LongArray | IntArray, ranges: npt.NDArray[np.float32]) -> npt.NDArray[np.float32] | None:
        """Return (K, 2, W) the probabilities of information states, given chance and both players' ranges.

        ``None`` without ``joint``.
        """
        if self.joint is None:
            return None
        joint = self.joint[rows] * ranges[:, 0, :, None] * ranges[:, 1, None, :]
        weight = np.stack([joint.sum(axis=2), joint.sum(axis=1)], axis=1)
        return np.asarray(weight / np.maximum(weight.sum(axis=2, keepdims=True), 1e-30))

    def inputs(
        self, rows: LongArray | IntArray, ranges: npt.NDArray[np.float32], at: torch.device
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return the network's inputs for public states ``rows`` with ``ranges`` (K, n, W)."""
        likely = self.likely(rows, ranges)
        facts, asked = torch.from_numpy(self.facts[rows]).to(at), torch.from_numpy(ranges).to(at)
        return facts, asked, None if likely is None else torch.from_numpy(likely).to(at)

    def padded(self, ranges: FloatArray) -> npt.NDArray[np.float32]:
        """Pad ranges (J, n, W') to W places."""
        found = np.zeros((len(ranges), self.players, self.places), dtype=np.float32)
        found[:, :, : ranges.shape[2]] = ranges
        return found


class BeliefNet(nn.Module):
    """A trunk of three layers from facts and ranges to a value for every information state of every player."""

    def __init__(self, facts: int, players: int, places: int, hidden: int = 256) -> None:
        super().__init__()
        self.shape, layers, width = (players, places), [], facts + players * places
        for _ in range(LAYERS):
            layers += [nn.Linear(width, hidden), nn.GELU()]
            width = hidden
        self.trunk = nn.Sequential(*layers)
        self.value = nn.Linear(hidden, players * places)

    def forward(self, facts: Tensor, ranges: Tensor, likely: Tensor | None) -> Tensor:
        """Return (K, n, W) expected payoffs at the information states; -1 and 1 are the least and the greatest payoff.

        With the probabilities ``likely`` (K, n, W) of the information states, the values are shifted so that the
        players' expected payoffs sum to zero.
        """
        inner = self.trunk(torch.cat([facts, ranges.flatten(1)], dim=1))
        values: Tensor = self.value(inner).unflatten(1, self.shape)
        if likely is not None:
            values = values - (values * likely).sum(dim=(1, 2), keepdim=True) / self.shape[0]
        return values


def belief_net(encoding: PublicEncoding, hidden: int) -> BeliefNet:
    """Make an untrained network for the public states of ``encoding``."""
    return BeliefNet(encoding.facts.shape[1], encoding.players, encoding.places, hidden)


def load_belief_net(path: Path, encoding: PublicEncoding) -> BeliefNet:
    """Load a network of public states.

    Raises ``PolicyError`` for a broken file, or a network of another game.
    """
    return filled(partial(belief_net, encoding), load_weights(path, encoding), path)


class NetValues:
    """The network's values of leaves (``resolving.LeafValues``)."""

    def __init__(self, net: nn.Module, encoding: PublicEncoding) -> None:
        self.net, self.encoding = net, encoding
        self.at = next(net.parameters()).device

    @one_thread()
    @torch.no_grad()
    def __call__(self, leaves: Leaves, ranges: FloatArray) -> FloatArray:
        values = self.net(*self.encoding.inputs(leaves.state, self.encoding.padded(ranges), self.at)).cpu().numpy()
        players: LongArray = np.arange(self.encoding.players)
        picked = values[leaves.child[:, None], players, leaves.place]
        return np.asarray(self.encoding.middle + self.encoding.half * picked, dtype=np.float64)
