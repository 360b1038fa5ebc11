"""A network that evaluates the leaves of a search: values of positions, and prior probabilities of moves."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from infoset.base import FloatArray, IntArray, LongArray
from infoset.interning import Rows
from infoset.jit import kernel
from infoset.learn.lazy_states import LazyStates
from infoset.learn.net import StateNet
from infoset.tree.lazy_graph import NO_ACTION_SET

PLAYS = 4
AWAKE = 1, 8, 256  # batch sizes of the first evaluations


@kernel
def _probabilities(
    action_sets_of: IntArray,
    state: IntArray,
    action_sets: Rows,
    column: IntArray,
    others: IntArray,
    logits: npt.NDArray[np.float32],
    prior: FloatArray,
) -> None:
    """Write everybody's probabilities of legal moves in states (K,) to ``prior`` (K, n, m).

    ``logits`` (K, M) are those of all moves, ``column`` (n, A) the indices of players' moves among them.
    Moves that share one of the outputs ``others`` (n,) share its probability.
    """
    for j in range(len(state)):
        for i in range(prior.shape[1]):
            action_set = action_sets_of[state[j], i]
            if action_set == NO_ACTION_SET:
                continue
            begin, size = (
                action_sets.begin[action_set],
                action_sets.begin[action_set + 1] - action_sets.begin[action_set],
            )
            best, total = -np.inf, 0.0
            for k in range(size):
                best = max(best, logits[j, column[i, action_sets.data[begin + k]]])
            for k in range(size):
                place, sharing = column[i, action_sets.data[begin + k]], 0
                if others[i] == place:
                    for other in range(size):
                        sharing += column[i, action_sets.data[begin + other]] == place
                prior[j, i, k] = np.exp(logits[j, place] - best) / max(sharing, 1)
                total += prior[j, i, k]
            for k in range(size):
                prior[j, i, k] /= total


class NetReader(ABC):
    """An evaluation of leaves by a network of states."""

    def __init__(self, net: StateNet, encoding: LazyStates) -> None:
        self.net, self.encoding = net, encoding
        self.at = next(net.parameters()).device

    @abstractmethod
    def __call__(self, positions: LongArray) -> tuple[FloatArray, FloatArray | None]:
        """Return the values (K, n) of positions (K,), and their priors."""

    def wake(self) -> None:
        """Evaluate batches of several sizes once: PyTorch is slow at the first of each."""
        for count in AWAKE:
            self(np.zeros(count, dtype=np.int64))

    def read(self, positions: LongArray) -> Tensor:
        """Return the network's input (K, F)."""
        encoding = self.encoding
        return torch.from_numpy(encoding.bits(encoding.facts(positions))).to(self.at, torch.float32)


class NetValueLeaves(NetReader):
    """The evaluation of leaves by a network's values alone, without priors."""

    def __call__(self, positions: LongArray) -> tuple[FloatArray, None]:
        with torch.inference_mode():
            values = self.net.estimate_values(self.read(positions)).cpu().numpy()
        return self.encoding.payoffs(values.astype(np.float64)), None

    def priors(self, positions: LongArray) -> None:
        """Return no priors."""


class NetLeaves(NetReader):
    """Values of positions from a network and random playouts (``tree_search.Leaves``).

    Values are the mean of the network's and those of ``PLAYS`` random playouts, as in AlphaGo (Silver et al. 2016): a
    network that has learnt little is then not much worse than none.  Priors are the network's.
    """

    def __init__(self, net: StateNet, encoding: LazyStates, seed: int) -> None:
        super().__init__(net, encoding)
        self.seed = seed

    def __call__(self, positions: LongArray) -> tuple[FloatArray, FloatArray]:
        values, prior = self.says(positions)
        self.seed += len(positions)
        graph = self.encoding.graph
        return 0.5 * (values + graph.source.playouts(graph, positions, PLAYS, self.seed)), prior

    def priors(self, positions: LongArray) -> FloatArray:
        """Return the network's action probabilities of all players."""
        return self.says(positions)[1]

    def says(self, positions: LongArray) -> tuple[FloatArray, FloatArray]:
        """Return the values and priors of the network alone."""
        encoding = self.encoding
        g, action_sets = encoding.graph.arrays, encoding.graph.source.offered
        with torch.inference_mode():
            value, logits = self.net(self.read(positions))
            values = torch.sigmoid(value).cpu().numpy().astype(np.float64)
            said = torch.cat(logits, dim=1).cpu().numpy()
        prior = np.zeros((len(positions), encoding.players, encoding.graph.widest()))
        _probabilities(g.action_sets, g.state[positions], action_sets, encoding.column, encoding.others, said, prior)
        return encoding.payoffs(values), prior
