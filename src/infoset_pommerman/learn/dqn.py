"""Deep Q-learning (Mnih et al. 2015): double (van Hasselt et al. 2016), duelling (Wang et al. 2016), over n steps.

The steps of the boards are kept in a ring.  From steps drawn there the network learns the values of moves: the
discounted rewards of the next n steps, and the value that a slower copy then gives to the network's best move.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from infoset.errors import ParameterError
from infoset.learn.learner import shard_of, weights_of
from infoset.names import check_range
from infoset_pommerman.features import SIZE_OF_ALL, FeatureExtractor
from infoset_pommerman.learn.net import GREEDY, MoveNet, allowed
from infoset_pommerman.learn.training import PommermanLearner, PommermanTraining
from infoset_pommerman.state import MOVES


@dataclass(frozen=True)
class DqnTraining(PommermanTraining):
    """The parameters of DQN."""

    steps: int = 16
    rate: float = 3e-4
    ahead: int = 5
    """n, the number of steps whose rewards are added up."""
    batch: int = 512
    """Views in a mini-batch, one mini-batch for each step of the boards."""
    buffer: int = 200_000
    """Views kept to learn from."""
    first: int = 10_000
    """Views before learning begins."""
    slow: int = 500
    """Mini-batches after which the slower copy is renewed."""
    explore: float = 0.05
    """The share of random moves in the end."""
    explore_for: int = 300_000
    """Views over which that share falls from 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, most in (("ahead", 1000), ("batch", 2**24), ("buffer", 2**31), ("first", 2**31), ("slow", 2**31)):
            check_range(name, getattr(self, name), 1, most)
        check_range("explore_for", self.explore_for, 1, 2**31)
        if not 0.0 <= self.explore <= 1.0:
            raise ParameterError(f"explore={self.explore}; allowed: 0 to 1")


class Dqn(PommermanLearner):
    """A training by DQN.

    >>> from infoset_pommerman.learn.dqn import Dqn, DqnTraining
    >>> from infoset_pommerman.config import config
    >>> from infoset_pommerman.features import FeatureExtractor
    >>> work = Dqn(FeatureExtractor("duel", config("OneVsOne-v0")), DqnTraining(boards=4, first=20, hidden=8))
    >>> work.step().states
    64
    """

    training: DqnTraining
    steepest = 10.0

    def __init__(self, sight: FeatureExtractor, training: DqnTraining | None = None, threads: int = 1) -> None:
        training = training or DqnTraining()
        super().__init__(sight, training, threads)
        self.net.sharpness.fill_(GREEDY)
        self.slow, self.batches = deepcopy(self.net), 0
        shape = max(training.buffer // self.boards.seats.size, training.ahead + 2), *self.boards.seats.shape
        self.ring: dict[str, npt.NDArray[Any]] = {
            "view": np.zeros((*shape, SIZE_OF_ALL), np.float16), "safe": np.zeros((*shape, MOVES), np.bool_),
            "move": np.zeros(shape, np.int64), "reward": np.zeros(shape, np.float32), "over": np.zeros(shape, np.bool_),
            "alive": np.zeros(shape, np.bool_),
        }  # fmt: skip
        self.length = shape[0]

    def prepare(self) -> None:
        super().prepare()
        self.slow.load_state_dict(self.net.state_dict())

    @property
    def taken(self) -> int:
        """Steps of the boards so far."""
        return self.boards.steps

    def learn(self) -> tuple[float, None]:
        training, losses = self.training, []
        for _ in range(training.steps):
            self._play()
            if self.stepped >= training.first and self.taken > training.ahead + 1:
                losses.append(self._descend())
        return float(np.mean(losses or [0.0])), None

    @torch.no_grad()
    def _play(self) -> None:
        seen, place, training = self.boards.seen, self.taken % self.length, self.training
        ring = self.ring
        ring["view"][place], ring["safe"][place], ring["alive"][place] = seen
        share = max(training.explore, 1 - self.stepped / training.explore_for)
        value = self.value(self.net, torch.from_numpy(seen.features), torch.from_numpy(seen.safe)).numpy()
        luck = self.rng.random(value.shape) - (10 * ~seen.safe if training.filtered else 0)
        random = self.rng.random(value.shape[:-1]) < share
        ring["move"][place] = np.where(random, luck.argmax(-1), value.argmax(-1))
        stepped = self.move(ring["move"][place])
        ring["reward"][place], ring["over"][place] = stepped.reward, stepped.over

    def value(self, net: MoveNet, features: Tensor, safe: Tensor) -> Tensor:
        """Return (…, 6) the value of each move: the state's value plus the move's advantage over the mean."""
        better, value = net(features)
        found = value[..., None] + better - better.mean(-1, keepdim=True)
        return allowed(found, safe) if self.training.filtered else found

    def _descend(self) -> float:
        training, ring = self.training, self.ring
        known = min(self.taken, self.length) - training.ahead
        age = self.rng.integers(training.ahead, training.ahead + known, size=training.batch)
        at = (self.taken - 1 - age) % self.length
        b, s = [self.rng.integers(size, size=training.batch) for size in self.boards.seats.shape]
        paid, left = np.zeros(training.batch, np.float32), np.ones(training.batch, np.float32)
        for k in range(training.ahead):
            then = (at + k) % self.length
            paid += left * ring["reward"][then, b, s]
            left *= training.discount * ~ring["over"][then, b, s]
        later = (at + training.ahead) % self.length
        with torch.no_grad():
            view, safe = torch.from_numpy(ring["view"][later, b, s].astype(np.float32)), ring["safe"][later, b, s]
            best = self.value(self.net, view, torch.from_numpy(safe)).argmax(-1, keepdim=True)
            next_value = self.value(self.slow, view, torch.from_numpy(safe)).gather(-1, best)[:, 0]
            target = torch.from_numpy(paid) + torch.from_numpy(left) * next_value
        view, safe = torch.from_numpy(ring["view"][at, b, s].astype(np.float32)), ring["safe"][at, b, s]
        found = self.value(self.net, view, torch.from_numpy(safe))
        said = found.gather(-1, torch.from_numpy(ring["move"][at, b, s])[:, None])[:, 0]
        alive = torch.from_numpy(ring["alive"][at, b, s])
        lost = (functional.smooth_l1_loss(said, target, reduction="none") * alive).mean()
        self.descend(lost)
        self.batches += 1
        if self.batches % training.slow == 0:
            self.slow.load_state_dict(self.net.state_dict())
        return float(lost.item())

    def state_arrays(self) -> dict[str, Any]:
        filled = min(self.taken, self.length)
        found = {f"ring.{name}": array[:filled] for name, array in self.ring.items()}
        found |= {f"slow.{name}": array for name, array in weights_of(self.slow).items()}
        return super().state_arrays() | found | {"batches": np.array(self.batches)}

    def keep(self, saved: dict[str, Any]) -> None:
        super().keep(saved)
        for name, array in self.ring.items():
            array[: len(saved[f"ring.{name}"])] = saved[f"ring.{name}"]
        self.slow.load_state_dict(shard_of(saved, "slow."))
        self.batches = int(saved["batches"])
