"""A network behind the leaves of a tree search: what it says of positions, and how to move there."""

from __future__ import annotations

import numpy as np
import torch

from infoset.base import FloatArray, LongArray
from infoset.jit import kernel
from infoset.learn.net import StateNet
from infoset.learn.propositions import Propositions
from infoset.tree.growing import NO_MENU

PLAYS = 4
AWAKE = 1, 8, 256  # positions of first questions


@kernel
def _chances(menus_of, state, menus, column, logits, prior):
    """The chances (K, n, m) of the moves of everybody's menu in states (K,), by logits (K, M) of all moves."""
    for j in range(len(state)):
        for i in range(prior.shape[1]):
            menu = menus_of[state[j], i]
            if menu == NO_MENU:
                continue
            begin, size = menus.begin[menu], menus.begin[menu + 1] - menus.begin[menu]
            best, total = -np.inf, 0.0
            for k in range(size):
                best = max(best, logits[j, column[menus.data[begin + k]]])
            for k in range(size):
                prior[j, i, k] = np.exp(logits[j, column[menus.data[begin + k]]] - best)
                total += prior[j, i, k]
            for k in range(size):
                prior[j, i, k] /= total


class NetLeaves:
    """What a network says of positions, and random plays from them (``tree_search.Leaves``).

    Values are half the network's and half those of ``PLAYS`` random plays, as AlphaGo's were (Silver et al. 2016): a
    network that has learnt little is not much worse than none.  Priors are the network's.
    """

    def __init__(self, net: StateNet, encoding: Propositions, seed: int) -> None:
        self.net, self.encoding, self.seed = net, encoding, seed
        self.at = next(net.parameters()).device

    def wake(self) -> None:
        """Ask once, a few positions and many: PyTorch takes its time over the first of each."""
        for count in AWAKE:
            self.says(np.zeros(count, dtype=np.int64))

    def __call__(self, positions: LongArray) -> tuple[FloatArray, FloatArray]:
        worth, prior = self.says(positions)
        self.seed += len(positions)
        graph = self.encoding.graph
        return 0.5 * (worth + graph.source.playouts(graph, positions, PLAYS, self.seed)), prior

    def priors(self, positions: LongArray) -> FloatArray:
        """With what chances everybody should move."""
        return self.says(positions)[1]

    def says(self, positions: LongArray) -> tuple[FloatArray, FloatArray]:
        """Values and priors of the network alone."""
        encoding = self.encoding
        g, menus = encoding.graph.arrays, encoding.source.interned.menus
        with torch.inference_mode():
            facts = torch.from_numpy(encoding.bits(encoding.facts(positions))).to(self.at, torch.float32)
            value, logits = self.net(facts)
            worth = torch.sigmoid(value).cpu().numpy().astype(np.float64)
            said = torch.cat(logits, dim=1).cpu().numpy()
        prior = np.zeros((len(positions), encoding.players, encoding.graph.widest()))
        _chances(g.menus, g.state[positions], menus, encoding.column, said, prior)
        return encoding.low + worth * (encoding.high - encoding.low), prior
