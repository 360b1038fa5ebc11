"""Learn the values of public states by self-play: the training of ReBeL (Brown et al. 2020).

A game moves from public state to public state.  Each is solved up to the horizon, with the network's values at the
leaves; the network learns the resulting values of all information states.  The next public state is one of the leaves,
with the players' ranges there at an iteration drawn at random; some ranges are changed at random.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from infoset.base import FloatArray
from infoset.learn.belief_net import NetValues, PublicEncoding, belief_net
from infoset.learn.learner import (
    Epoch,
    Games,
    GamesLearner,
    LearningParameters,
    Played,
    Samples,
    device,
    one_thread,
    shard_of,
)  # fmt: skip
from infoset.learn.public_states import Horizon, PublicState
from infoset.learn.replay_buffer import NUMBER, ROW, ReplayBuffer, floats
from infoset.learn.resolving import Resolving, Root, leaf_ranges, start

MINIBATCHES = 80  # per epoch
SLOWER = 50  # epochs after which the learning rate decays
DECAY = 0.995  # of the moving average of the network's weights, per mini-batch
AS_PLAYED = 0.4  # share of the ranges that stay unchanged
POWERS = (1.0, 2.0, 4.0)  # exponents of exponential random numbers: even and peaked ranges
NOBODY = 1e-9
FIELDS = ("range", "value", "weight")  # fields of a sample
MOST_BYTES = 1 << 30  # of the buffer


@dataclass(frozen=True)
class PublicTraining(LearningParameters):
    """The parameters of a training on public states.

    The buffer keeps fewer public states where they would take more than a gigabyte.
    """

    horizon: Horizon = field(default_factory=Horizon)
    """Where the look-ahead from a public state ends."""
    games: int = 16
    hidden: int = 256
    batch: int = 512


class PublicGames(Games):
    """Play games from public state to public state, solving each with the network's values at the horizon."""

    training: PublicTraining

    def __init__(self, encoding: PublicEncoding, net: nn.Module, training: PublicTraining) -> None:
        super().__init__(net, training)
        self.encoding = encoding

    def prepare(self) -> None:
        self.values = NetValues(self.net, self.encoding)

    def play_shard(self, games: int, rng: np.random.Generator) -> Played:
        samples: list[Samples] = []
        self.rng, self.samples = rng, samples
        starts = [self._play() for _ in range(games)]
        return Played(self.samples, tuple(np.mean(starts, axis=0).tolist()) if starts else ())

    def _play(self) -> list[float]:
        """Play one game; return the values of the start for all players."""
        states, training = self.encoding.states, self.training
        number, root, root_values = 0, start(self.encoding.players), [0.0]
        while True:
            ahead, stop = states.ahead(number), int(self.rng.integers(training.iterations))
            job = Resolving(ahead, root, self.values)
            job.step(stop)
            plan = job.current()
            job.step(training.iterations - stop)
            if number:
                self._keep(number, root, job.root_values())
            else:
                root_values = [float(values[0]) for values in job.root_values()]
            if not len(ahead.leaves.state):
                return root_values
            leaf = int(self.rng.integers(len(ahead.leaves.state)))
            number = int(ahead.leaves.state[leaf])
            places = states.states[number].places
            ranges = leaf_ranges(ahead.leaves, plan)[leaf]
            root = Root(tuple(self._changed(ranges[p, :k]) for p, k in enumerate(places)), root.promised)

    def _keep(self, number: int, root: Root, values: list[FloatArray]) -> None:
        """Store a public state as a sample: the values of its information states for their players."""
        encoding, state = self.encoding, self.encoding.states.states[number]
        sample = np.zeros((3, 1, encoding.players, encoding.places))
        for p, mine in enumerate(root.ranges):
            assert mine is not None
            likely = others_reach(state, root, p)
            there = likely > NOBODY
            payoff = values[p][there] / likely[there]
            sample[0, 0, p, : len(mine)] = mine
            sample[1, 0, p, : len(mine)][there] = (payoff - encoding.middle) / encoding.half
            sample[2, 0, p, : len(mine)][there] = likely[there] / likely.max()
        fields = {name: part.astype(np.float32) for name, part in zip(FIELDS, sample, strict=True)}
        self.samples.append({ROW: np.array([number]), **fields})

    def _changed(self, ranges: FloatArray) -> FloatArray:
        """Return ``ranges`` unchanged, mixed with a random range, or replaced by one."""
        kind, share = self.rng.random(2)
        if kind < AS_PLAYED:
            return ranges
        drawn = self.rng.exponential(size=len(ranges)) ** self.rng.choice(POWERS)
        drawn /= drawn.sum()
        share = share if kind < (1 + AS_PLAYED) / 2 else 1.0
        return np.asarray((1 - share) * ranges + share * drawn)


class PublicPlay(GamesLearner):
    """A training on public states; searches use a slow average of the network's weights."""

    encoding: PublicEncoding
    training: PublicTraining

    def __init__(self, encoding: PublicEncoding, training: PublicTraining | None = None) -> None:
        training = training or PublicTraining()
        torch.manual_seed(training.seed)
        each = floats(encoding.players, encoding.places)
        capacity = min(training.buffer, MOST_BYTES // (3 * each.itemsize))
        buffer = ReplayBuffer(capacity, row=NUMBER, **dict.fromkeys(FIELDS, each))
        net = belief_net(encoding, training.hidden).to(device())
        self.slow = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(DECAY))  # type: ignore[no-untyped-call]
        super().__init__(encoding, PublicGames(encoding, self.slow.module, training), net, buffer)

    @one_thread()
    def step(self) -> Epoch:
        began, training = time.monotonic(), self.training
        played = self.played()
        for samples in chain.from_iterable(part.samples for part in played):
            self.buffer.add(**samples)
        for group in self.optimizer.param_groups:
            group["lr"] = training.rate / (1 + self.iteration / SLOWER) ** 0.5
        losses = [self._learn() for _ in range(MINIBATCHES)]
        self.iteration += 1
        self.games += training.games
        return Epoch(
            self.iteration, time.monotonic() - began, self.games, self.buffer.added, float(np.mean(losses)),
            tuple(np.mean([part.start for part in played if part.start], axis=0).tolist()),
        )  # fmt: skip

    def _learn(self) -> float:
        """Learn from one mini-batch and return its loss.

        The squared error of the values is weighted by the probability that chance and the other players reach them.
        """
        at, buffer = device(), self.buffer
        places = buffer.draw(self.training.batch, self.rng)
        inputs = self.encoding.inputs(buffer[ROW][places], buffer["range"][places], at)
        values, weight = (torch.from_numpy(buffer[name][places]).to(at) for name in ("value", "weight"))
        lost = ((self.net(*inputs) - values) ** 2 * weight).sum() / weight.sum()
        self.descend(lost, places)
        self.slow.update_parameters(self.net)
        return float(lost.item())

    def save(self) -> dict[str, object]:
        return super().save() | {f"slow.{k}": v.cpu().numpy().copy() for k, v in self.slow.state_dict().items()}

    def _restore(self, saved: dict[str, object]) -> None:
        self.slow.load_state_dict(shard_of(saved, "slow."))
        super()._restore(saved)


def others_reach(state: PublicState, root: Root, player: int) -> FloatArray:
    """Return (places,) the reach probabilities of the player's information states by chance and the others' ranges."""
    weight = state.chance.copy()
    for other, mine in enumerate(root.ranges):
        if other != player and mine is not None:
            weight *= mine[state.place[:, other]]
    found = np.bincount(state.place[:, player], weight, minlength=state.places[player])
    return np.asarray(found, dtype=np.float64)
