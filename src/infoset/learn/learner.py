"""Base classes of all trainings: a network, its optimiser and its games, which are stepped, saved and restored."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from infoset.base import LongArray
from infoset.errors import CheckpointError, ParameterError, shorten
from infoset.learn.replay_buffer import ReplayBuffer
from infoset.names import check_range
from infoset.statistics import Share

MOST_HIDDEN = 8192  # units of a layer
MOST_SHARDS = 256

ADAM = {"step", "exp_avg", "exp_avg_sq"}  # what the optimiser keeps for each parameter


@dataclass(frozen=True)
class LearningParameters:
    """The parameters that all trainings share."""

    games: int = 32
    """Games of an epoch; the clock is checked between epochs."""
    shards: int = 2
    """Number of parts into which the games of an epoch are divided: at most that many processes can share them."""
    iterations: int = 100
    """Iterations of PCFR+ in each subgame."""
    hidden: int = 128
    """Units of a layer."""
    batch: int = 256
    """States in a mini-batch."""
    rate: float = 1e-3
    """Learning rate (Adam)."""
    buffer: int = 200_000
    """States kept in the replay buffer."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("games", "iterations", "batch", "buffer"):
            check_range(name, getattr(self, name), 1, 2**31)
        check_range("parts", self.shards, 1, MOST_SHARDS)
        check_range("hidden", self.hidden, 1, MOST_HIDDEN)
        if not 0.0 < self.rate <= 1.0:
            raise ParameterError(f"rate={self.rate}; allowed: from more than 0 to 1")
        check_range("seed", self.seed, 0, 2**31)


@dataclass(frozen=True)
class Epoch:
    """A point of the learning curve: the losses on the mini-batches of an epoch.

    ``games`` and ``states`` count all games played and states solved so far.
    """

    iteration: int
    seconds: float
    games: int
    states: int
    value_loss: float | None
    """``None`` where the network learns no values, as with DAgger."""
    start_values: tuple[float, ...]
    """The network's values of the start, in payoffs."""
    policy_loss: float | None = None
    """``None`` where the network has no policies."""
    score: float | None = None
    """The share of the payoffs' range, from 0 to 1, that the network with which the games were played got in ``duels``
    against the ``opponent``, all seats in turn; in Pommerman the share of games that it won.
    """
    duels: int = 0
    opponent: str = "flat-mc"
    """The name of an agent; flat Monte Carlo has the same number of leaves for each move."""
    exploitability: float | None = None
    """The exact exploitability of the network's policy, in units of payoffs, at the epochs at which it is computed."""

    @property
    def share(self) -> Share | None:
        """The score with its confidence interval; ``None`` where there were no duels."""
        return None if self.score is None else Share(self.score, self.duels)


class States(Protocol):
    """The states of a game as the input of a network."""

    name: str
    """Name of the game."""

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the game as far as a network depends on it."""

    def __len__(self) -> int:
        """Return the number of states."""


Samples = dict[str, npt.NDArray[Any]]
"""Samples added to the buffer at once: K of every field."""


class Played(NamedTuple):
    """The outcome of a part's games.

    Samples in order, the values of the start in payoffs, and the network's scores in duels.
    """

    samples: list[Samples]
    start: tuple[float, ...]
    scores: tuple[float, ...] = ()


class Games(ABC):
    """The games of an epoch.

    A part of them depends only on the network, the seed and its number, so that any process can play it.
    """

    def __init__(self, net: nn.Module, training: LearningParameters) -> None:
        self.net, self.training = net, training

    def play(self, iteration: int, shards: list[int], seconds: float = inf) -> list[Played]:
        """Play the given parts of epoch ``iteration`` with the present network.

        Long games are cut ``seconds`` from now.
        """
        training, found = self.training, []
        self.iteration, self.until = iteration, time.monotonic() + seconds
        self.prepare()
        for shard in shards:
            rng = np.random.default_rng([training.seed, iteration, 1 + shard])
            found.append(
                self.play_shard(training.games // training.shards + (shard < training.games % training.shards), rng)
            )
        return found

    def prepare(self) -> None:  # noqa: B027
        """Compute what all parts need of the network, if anything."""

    @abstractmethod
    def play_shard(self, games: int, rng: np.random.Generator) -> Played:
        """Play the given number of games."""


Play = Callable[[Games, int, list[int], float], list[Played]]
"""Plays parts of an epoch: ``Games.play``, or the method of ``Workers``."""


class Learner(ABC):
    """A training in progress; ``step`` plays and learns one epoch.

    The same seed gives the same run, resumed or not.
    """

    steepest = inf
    """The norm to which longer gradients are clipped."""

    def __init__(self, encoding: States, net: nn.Module, training: Any) -> None:
        self.encoding: Any = encoding
        self.net, self.training = net, training
        self.until = inf  # the time at which long games are cut
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=training.rate)
        self.iteration = self.games = 0

    @property
    def over(self) -> bool:
        """Whether nothing is left to learn."""
        return False

    def prepare(self) -> None:  # noqa: B027
        """Prepare a training that is not resumed, before its first epoch."""

    @abstractmethod
    def step(self) -> Epoch:
        """Play and learn one epoch.

        Raises ``DivergedError`` where the network's losses are not finite.
        """

    @property
    def finished(self) -> nn.Module:
        """The network to keep, by which games are played."""
        return self.net

    def descend(self, loss: torch.Tensor, places: LongArray | None = None) -> None:
        """Take one optimiser step on ``loss``, which was computed from the samples at ``places`` of a buffer."""
        if not torch.isfinite(loss):
            raise DivergedError(places)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if self.steepest < inf:
            nn.utils.clip_grad_norm_(self.net.parameters(), self.steepest)
        self.optimizer.step()

    def save(self) -> dict[str, Any]:
        """Return everything on which later epochs depend, as arrays by name."""
        arrays: dict[str, Any] = {f"net.{name}": array for name, array in weights_of(self.net).items()}
        for k, state in self.optimizer.state_dict()["state"].items():
            arrays |= {f"optimizer.{k}.{name}": tensor.cpu().numpy().copy() for name, tensor in state.items()}
        arrays |= {name: array.copy() for name, array in self.state_arrays().items()}
        arrays["fingerprint"] = np.frombuffer(self.encoding.fingerprint.encode(), dtype=np.uint8)
        return arrays | {"iteration": np.array(self.iteration), "games": np.array(self.games)}

    def state_arrays(self) -> dict[str, Any]:
        """Return what is saved besides the network and its optimiser, as arrays by name."""
        return {}

    def keep(self, saved: dict[str, Any]) -> None:  # noqa: B027
        """Restore the arrays of ``state_arrays``.  Raises ``KeyError`` or ``ValueError`` for arrays that do not fit."""

    def restore(self, saved: dict[str, Any]) -> None:
        """Restore the state that ``save`` returned.

        Raises ``CheckpointError`` for arrays that do not fit.
        """
        try:
            if saved["fingerprint"].tobytes() != self.encoding.fingerprint.encode():
                raise ValueError("it was made on another game")
            self._restore(saved)
        except (KeyError, ValueError, IndexError, RuntimeError, TypeError, OverflowError) as error:
            raise CheckpointError(
                f"the checkpoint does not fit: {shorten(' '.join(str(error).split()), 200)}"
            ) from None

    def _restore(self, saved: dict[str, Any]) -> None:
        self.net.load_state_dict(shard_of(saved, "net."))
        state: dict[int, dict[str, torch.Tensor]] = {}
        for name, array in saved.items():
            if name.startswith("optimizer."):
                _, k, shard = name.split(".")
                if shard != "step" and array.shape != self._parameter(int(k)).shape:
                    raise ValueError(f"{name} has the shape {array.shape}")
                state.setdefault(int(k), {})[shard] = torch.from_numpy(array.copy())
        if any(shards.keys() != ADAM for shards in state.values()):
            raise ValueError(f"the optimiser's arrays are not {', '.join(sorted(ADAM))}")
        self.optimizer.load_state_dict(self.optimizer.state_dict() | {"state": state})
        self.keep(saved)
        self.iteration, self.games = int(saved["iteration"]), int(saved["games"])

    def _parameter(self, k: int) -> torch.Tensor:
        parameter: torch.Tensor = self.optimizer.param_groups[0]["params"][k]
        return parameter


class GamesLearner(Learner):
    """A training on games that any process can play, with a replay buffer of their samples."""

    def __init__(self, encoding: States, player: Games, net: nn.Module, buffer: ReplayBuffer) -> None:
        super().__init__(encoding, net, player.training)
        self.player, self.buffer = player, buffer
        self.play: Play = Games.play

    @property
    def finished(self) -> nn.Module:
        return self.player.net

    def played(self) -> list[Played]:
        """Play the games of the next epoch; later draws use the epoch's own generator."""
        self.rng = np.random.default_rng([self.training.seed, self.iteration])
        return self.play(self.player, self.iteration, list(range(self.training.shards)), self.until - time.monotonic())

    def state_arrays(self) -> dict[str, Any]:
        return {f"buffer.{name}": array for name, array in self.buffer.save().items()}

    def keep(self, saved: dict[str, Any]) -> None:
        self.buffer.restore({k[7:]: v for k, v in saved.items() if k.startswith("buffer.")}, len(self.encoding))


class DivergedError(CheckpointError):
    """The losses are not finite; carries the places of the mini-batch in the buffer."""

    def __init__(self, places: LongArray | None = None) -> None:
        self.places = places
        super().__init__("the losses are no numbers any more; a smaller rate may help")


def device() -> torch.device:
    """Return the GPU where there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


@contextmanager
def one_thread() -> Iterator[None]:
    """Run PyTorch in one thread.

    For small batches: beside other busy processes, PyTorch's threads wait for each other longer than they work.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextmanager
def short_numbers() -> Iterator[None]:
    """Compute layers in bfloat16 where the processor multiplies it; weights stay in float32.

    That is twice as fast as float32.
    """
    able = bool(torch.cpu.get_capabilities().get("avx512_bf16"))
    with torch.autocast("cpu", torch.bfloat16, enabled=able, cache_enabled=False):  # weights change
        yield


def weights_of(net: nn.Module) -> dict[str, npt.NDArray[Any]]:
    """Return copies of a network's tensors by name."""
    return {name: tensor.cpu().numpy().copy() for name, tensor in net.state_dict().items()}


def shard_of(saved: dict[str, Any], prefix: str) -> dict[str, torch.Tensor]:
    """Return the arrays whose names begin with ``prefix`` as tensors, by the rest of their names."""
    return {name[len(prefix) :]: torch.from_numpy(v.copy()) for name, v in saved.items() if name.startswith(prefix)}
