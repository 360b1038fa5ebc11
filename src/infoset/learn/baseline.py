"""The common part of the learning baselines: networks that learn from games played side by side, measured exactly.

An epoch plays games by kernels and learns from them.  At epochs that are evenly spaced in the logarithm of the number
of decisions the policy's exploitability is computed exactly.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import msgspec
import numpy as np
import torch
from torch import nn

from infoset.base import Policy
from infoset.catalog import load
from infoset.compiled import Compiled
from infoset.errors import ParameterError, PolicyError, shorten
from infoset.evaluation import evaluate
from infoset.files import replace_file
from infoset.learn.learner import MOST_HIDDEN, Epoch, Learner, one_thread, shard_of, short_numbers, weights_of
from infoset.learn.net import load_weights
from infoset.learn.policy_net import NetPolicy, PolicyNet, log_policy
from infoset.learn.replay_buffer import ReplayBuffer
from infoset.learn.rollouts import Batch, Inputs, Sight, Simulator, Trajectories, play_out
from infoset.match.agents import NET
from infoset.names import check_range
from infoset.policies.encodings import HISTORY
from infoset.runs import SCHEMA
from infoset.solvers.job import part_of
from infoset.warm_up import ready

MOST_LAYERS = 16
MOST_GAMES = 1 << 20
SPACING = 10**0.25  # from one measurement to the next, as a factor of the decisions


@dataclass(frozen=True)
class BaselineTraining:
    """The parameters that all baselines share."""

    games: int = 512
    """Games of an epoch, played side by side."""
    encoding: str = ""
    """The network's input: ``information-state``, ``observation`` (OpenSpiel's tensors), ``history`` or
    ``python:FILE:NAME``; by default the first that the game has.
    """
    hidden: int = 256
    """Units of a layer."""
    layers: int = 2
    """Hidden layers."""
    rate: float = 1e-3
    """Learning rate (Adam)."""
    batch: int = 1024
    """Decisions in a mini-batch."""
    steps: int = 10_000_000
    """Decisions after which the training is over; learning rates fall linearly to zero until then."""
    seed: int = 0

    shards: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_range("games", self.games, 1, MOST_GAMES)
        check_range("hidden", self.hidden, 1, MOST_HIDDEN)
        check_range("layers", self.layers, 1, MOST_LAYERS)
        check_range("batch", self.batch, 1, 2**24)
        check_range("steps", self.steps, 1, 2**53)
        check_range("seed", self.seed, 0, 2**31)
        self.check_positive("rate", 1.0)

    def check_positive(self, name: str, most: float) -> None:
        """Raise ``ParameterError`` for a field that is not in (0, most]."""
        if not 0.0 < getattr(self, name) <= most:
            raise ParameterError(f"{name}={getattr(self, name)}; allowed: from more than 0 to {most:g}")

    def check_share(self, name: str, most: float = 1.0) -> None:
        """Raise ``ParameterError`` for a field that is not in [0, most]."""
        if not 0.0 <= getattr(self, name) <= most:
            raise ParameterError(f"{name}={getattr(self, name)}; allowed: 0 to {most:g}")


class Baseline(Learner):
    """A training of a policy network on a simulator's games."""

    encoding: Simulator
    training: Any
    net: PolicyNet

    def __init__(self, simulator: Simulator, training: Any) -> None:
        torch.manual_seed(training.seed)
        self.simulator, self.training = simulator, training
        super().__init__(simulator, self.net_of(simulator, training), training)
        self.states = self.measured = 0
        self.exact = True
        """Whether exploitability can be computed exactly."""

    @staticmethod
    def net_of(states: Sight, training: Any) -> PolicyNet:
        """Return the network that plays, before it has learnt."""
        return states.net(training.hidden, training.layers)

    @staticmethod
    def policy_of(net: PolicyNet, states: Sight) -> Policy:
        """Return the policy of a network."""
        return NetPolicy(net, states.encoding, states.num_players)

    def new_net(self) -> PolicyNet:
        """Return a network with the training's layers."""
        return self.simulator.net(self.training.hidden, self.training.layers)

    @property
    def left(self) -> float:
        """The share of the training that is still to come."""
        return max(0.0, 1.0 - self.states / float(self.training.steps))

    @property
    def over(self) -> bool:
        """Whether nothing is left to learn."""
        return bool(self.states >= self.training.steps)

    @property
    def policy(self) -> Policy:
        """The present policy."""
        return self.policy_of(self.net, self.simulator)

    def play(self, act: Any, games: int, drawn: Any = None) -> Trajectories:
        """Play games to their ends by ``act``, and count their decisions; see ``play_out``."""
        played = play_out(self.simulator.deal(games, self.rng), act, drawn)
        self.games += games
        self.states += len(played.game)
        return played

    def mini_batches(self, fields: Sequence[np.ndarray[Any, Any]], passes: int = 1) -> Iterator[list[torch.Tensor]]:
        """Yield mini-batches of arrays (N, …), all of them in every pass, each time in another order."""
        tensors = [torch.from_numpy(field) for field in fields]
        for _ in range(passes):
            order = torch.from_numpy(self.rng.permutation(len(fields[0])))
            for k in torch.split(order, self.training.batch):
                yield [tensor.index_select(0, k) for tensor in tensors]

    @one_thread()
    @short_numbers()
    def step(self) -> Epoch:
        began = time.monotonic()
        self.rng = np.random.default_rng([self.training.seed, self.iteration])
        torch.manual_seed(int(self.rng.integers(2**62)))
        for group in self.optimizer.param_groups:
            group["lr"] = self.training.rate * max(self.left, 1e-3)
        value_loss, policy_loss = self.learn()
        self.iteration += 1
        exploitability = self._measure()
        return Epoch(
            self.iteration, time.monotonic() - began, self.games, self.states, value_loss, (), policy_loss,
            exploitability=exploitability,
        )  # fmt: skip

    @abstractmethod
    def learn(self) -> tuple[float | None, float | None]:
        """Play and learn; return the losses of values and of policies, ``None`` for those that are not computed."""

    def _measure(self) -> float | None:
        """Return the exploitability where it is due and exact."""
        if not self.exact or (self.states < SPACING * self.measured and not self.over):
            return None
        self.measured = self.states
        with torch.autocast("cpu", enabled=False):
            found = evaluate(self.simulator.compiled, self.policy, seconds=0.0)
        self.exact = found.exact
        return found.exploitability if found.exact else None

    def parts(self) -> dict[str, Part]:
        """Return what is saved besides the network that plays and its optimiser."""
        return {}

    def state_arrays(self) -> dict[str, Any]:
        found: dict[str, Any] = {"states": np.array(self.states), "measured": np.array(self.measured)}
        for name, part in self.parts().items():
            found |= {f"{name}.{k}": array for k, array in _arrays_of(part).items()}
        return found

    def keep(self, saved: dict[str, Any]) -> None:
        self.states, self.measured = int(saved["states"]), int(saved["measured"])
        for name, part in self.parts().items():
            _restore(part, part_of(saved, f"{name}."))


Part: TypeAlias = "nn.Module | torch.optim.Optimizer | ReplayBuffer"


def _arrays_of(part: Part) -> dict[str, Any]:
    if isinstance(part, ReplayBuffer):
        return part.save()
    if isinstance(part, nn.Module):
        return weights_of(part)
    state = part.state_dict()["state"]
    return {f"{k}.{name}": tensor.numpy() for k, each in state.items() for name, tensor in each.items()}


def _restore(part: Part, saved: dict[str, Any]) -> None:
    """Restore what ``_arrays_of`` returned.  Raises as ``Learner.keep`` does."""
    if isinstance(part, ReplayBuffer):
        part.restore(saved, 0)
    elif isinstance(part, nn.Module):
        part.load_state_dict(shard_of(saved, ""))
    else:
        state: dict[int, dict[str, torch.Tensor]] = {}
        for label, tensor in shard_of(saved, "").items():
            k, _, name = label.partition(".")
            state.setdefault(int(k), {})[name] = tensor
        part.load_state_dict(part.state_dict() | {"state": state})


@torch.no_grad()
def probabilities(net: PolicyNet, batch: Batch) -> Inputs:
    """Return the network's probabilities (K, A) in live games."""
    logits, _ = net(torch.from_numpy(batch.seen))
    found: Inputs = log_policy(logits, torch.from_numpy(batch.legal)).exp().numpy()
    return found


class BaselineConfig(msgspec.Struct, frozen=True):
    """The game and parameters of a baseline, as far as resuming depends on them."""

    game: str
    training: Any
    schema: int = SCHEMA

    made: ClassVar[type[Baseline]]
    smallest: ClassVar[str] = "kuhn_poker"
    """A game on which the kernels are compiled."""

    @property
    def method(self) -> str:
        return str(self.__struct_config__.tag)

    def learner(self, progress: Callable[[int], object] | None = None) -> Baseline:
        """Return the training at its beginning, with everything compiled.

        Raises ``BudgetError`` for a game whose positions do not fit, ``UnsupportedGameError`` for one without the
        encoding.
        """
        compiled = Compiled.of(load(self.game), progress=progress)
        ready("baselines")
        simulator = Simulator(compiled, self.training.encoding)
        small = Simulator(Compiled.of(self.smallest), HISTORY)
        self.made(small, replace(self.training, games=2, batch=64)).step()  # compiles the kernels
        return self.made(simulator, self.training)

    def policy(self, path: Path, compiled: Compiled) -> Policy:
        """Return the policy of the network in a training's folder.  Raises ``PolicyError`` for a broken file."""
        states: Any = Sight(compiled, self.training.encoding)
        net, file = self.made.net_of(states, self.training), path / NET
        try:
            net.load_state_dict(load_weights(file, states))
        except RuntimeError as error:
            raise PolicyError(f"{file}: {shorten(' '.join(str(error).split()), 120)}") from None
        return self.made.policy_of(net, states)


class SavedNet:
    """The policy in a training's folder."""

    def __init__(self, path: Path, config: BaselineConfig) -> None:
        self.path, self.config, self.game = path, config, config.game
        self.made_by = {"method": config.method, "path": str(path)}

    def on(self, compiled: Compiled) -> Policy:
        """Return its policy on a game.  Raises ``PolicyError`` where it was made for another game."""
        if compiled.name != self.game:
            raise PolicyError(f"the policy was made for {shorten(self.game)}, not for {compiled.name}")
        return self.config.policy(self.path, compiled)

    def save(self, path: str | Path) -> Path:
        """Copy the network's file."""
        data = (self.path / NET).read_bytes()
        return replace_file(Path(path), lambda file: file.write(data))
