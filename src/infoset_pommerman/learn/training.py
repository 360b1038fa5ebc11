"""The common part of Pommerman trainings: parameters, and games against rivals that continue from epoch to epoch."""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch

from infoset.errors import ParameterError
from infoset.learn.learner import MOST_HIDDEN, Epoch, Learner, one_thread, short_numbers
from infoset.names import check_choice, check_range, check_share
from infoset_pommerman.features import FeatureExtractor
from infoset_pommerman.learn.boards import WON, Boards, Past, Stepped
from infoset_pommerman.learn.curriculum import CURRICULA, DEALT
from infoset_pommerman.learn.net import MoveNet, learnt_net

MOST_BOARDS = 65_536


@dataclass(frozen=True)
class PommermanTraining:
    """The parameters that all Pommerman trainings share."""

    boards: int = 256
    """Number of simultaneous games."""
    steps: int = 64
    """Steps of every board in an epoch."""
    opponents: str = "simple"
    """Agents in the other seats, by names with commas between them: for each game one is drawn.  ``self``: past
    versions of the learner.
    """
    reward_shaping: float = 0.0
    """Factor of the shaped rewards: 0.5 times this for each death on the other side (less for each on its own), 0.1
    times this for each item, where a won game gives 1.
    """
    filtered: bool = False
    """Whether moves are forbidden that the agent does not survive if nobody else moves."""
    hidden: int = 128
    """Units of a layer."""
    rate: float = 1e-3
    """Learning rate (Adam)."""
    discount: float = 0.99
    """Discount factor of a step."""
    curriculum: str = DEALT
    """Where games begin: ``dealt``; at positions of games that the stock agent won, ``uniform``; or first at their end
    and then earlier and earlier, ``backplay``.
    """
    lessons: int = 300
    """Epochs after which all games are dealt."""
    initial: str = ""
    """The agent whose network it begins with: ``trained:DIR``, or one that comes with the package."""
    seed: int = 0

    shards: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_range("boards", self.boards, 1, MOST_BOARDS)
        check_range("steps", self.steps, 1, 100_000)
        check_range("hidden", self.hidden, 1, MOST_HIDDEN)
        check_range("seed", self.seed, 0, 2**31)
        check_share("discount", self.discount)
        check_choice("starts", self.curriculum, CURRICULA)
        check_range("lessons", self.lessons, 1, 2**31)
        if not 0.0 < self.rate <= 1.0:
            raise ParameterError(f"rate={self.rate}; allowed: from more than 0 to 1")
        if not 0.0 <= self.reward_shaping <= 100.0:
            raise ParameterError(f"shaped={self.reward_shaping}; allowed: 0 to 100")

    @property
    def names(self) -> list[str]:
        """Names of the rivals."""
        return [name.strip() for name in self.opponents.split(",") if name.strip()]


class PommermanLearner(Learner):
    """A training on boards whose games continue from epoch to epoch."""

    steepest = 0.5
    passed_on = 20  # epochs between two snapshots of the learner, where it plays against itself

    def __init__(self, sight: FeatureExtractor, training: Any, threads: int = 1) -> None:
        torch.manual_seed(training.seed)
        self.net: MoveNet
        super().__init__(sight, MoveNet(training.hidden, training.filtered), training)
        self.names = training.names
        self.boards = Boards(sight, training.boards, self.names, training.seed, threads)
        if training.curriculum != DEALT:
            self.boards.teach(training.curriculum)
        self.past = [opponent for opponent in self.boards.opponents if isinstance(opponent, Past)]
        self.stepped = 0  # steps of learning agents so far
        self.outcomes: list[npt.NDArray[np.int64]] = []

    def prepare(self) -> None:
        """Copy the network of ``initial``.

        Raises ``ParameterError`` where the agent has none, or one of another size.
        """
        name, hidden = self.training.initial, self.training.hidden
        if not name:
            return
        net = learnt_net(name, self.boards.sight)
        if net is None:
            raise ParameterError(f"initial: {name} has no network; name trained:DIR, or skynet")
        if net.head.in_features != hidden:
            raise ParameterError(f"hidden={hidden}; {name} has {net.head.in_features} units")
        self.net.trunk.load_state_dict(net.trunk.state_dict())
        self.net.head.load_state_dict(net.head.state_dict())

    def move(self, moves: npt.NDArray[np.integer]) -> Stepped:
        """Play one step of every board and note the outcomes of games."""
        stepped = self.boards.step(moves, self.training.reward_shaping)
        self.stepped += moves.size
        self.games += int(stepped.done.sum())
        self.outcomes.append(stepped.outcome)
        return stepped

    @one_thread()
    @short_numbers()
    def step(self) -> Epoch:
        began = time.monotonic()
        for past in self.past:
            if self.iteration % self.passed_on == 0:
                past.remember(self.net)
        self.rng = np.random.default_rng([self.training.seed, 1, self.iteration])
        self.outcomes, self.boards.share = [], self.iteration / self.training.lessons
        value_loss, policy_loss = self.learn()
        self.iteration += 1
        outcome = np.concatenate(self.outcomes)
        won = float((outcome == WON).mean()) if len(outcome) else None
        return Epoch(
            self.iteration, time.monotonic() - began, self.games, self.stepped, value_loss, (), policy_loss, won,
            len(outcome), self.names[0],
        )  # fmt: skip

    @abstractmethod
    def learn(self) -> tuple[float | None, float | None]:
        """Play and learn; return the losses of values and of policies, ``None`` for those that are not computed."""

    def state_arrays(self) -> dict[str, Any]:
        return {f"boards.{name}": array for name, array in self.boards.arrays.items()} | {
            "stepped": np.array(self.stepped)
        }

    def keep(self, saved: dict[str, Any]) -> None:
        for past, k in [(past, self.boards.opponents.index(past)) for past in self.past]:
            if saved[f"boards.rival{k}.count"][0]:
                past.remember(self.net)  # allocates the arrays
        for name, array in self.boards.arrays.items():
            if saved[f"boards.{name}"].shape != array.shape or saved[f"boards.{name}"].dtype != array.dtype:
                raise ValueError(f"boards.{name} has the shape {saved[f'boards.{name}'].shape}")
            array[:] = saved[f"boards.{name}"]
        for past in self.past:
            past.rebuild(self.net)
        self.stepped = int(saved["stepped"])
        self.boards.steps = self.stepped // self.boards.seats.size
        self.boards.look()
