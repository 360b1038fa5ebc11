"""The agent ``trained``: search at every move, with a trained network valuing the states beyond the horizon."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import cast

import numpy as np

from infoset.base import Agent, FloatArray, Game, LongArray
from infoset.catalog import training_method
from infoset.errors import CheckpointError, ParameterError, PolicyError, UnsupportedGameError
from infoset.learn.baseline import BaselineConfig, SavedNet
from infoset.learn.belief_net import NetValues, load_belief_net
from infoset.learn.guided import make_guided_agent
from infoset.learn.lazy_states import LazyStates, read_lazy_states
from infoset.learn.net import evaluate_states, fits, load_net
from infoset.learn.resolving import ContinualResolving
from infoset.learn.train import PublicTrainingConfig, TrainingFolder, TreeTrainingConfig, config_type, encoding_of
from infoset.match.agents import NET, Delegating, PolicyAgent, RandomAgent
from infoset.names import check_choice, check_range
from infoset.search.belief import BeliefTracker
from infoset.search.kluss import Kluss
from infoset.search.subgame_solver import (
    AVERAGE,
    MOST_STEPS,
    PER_WORLD,
    ROOTS,
    STOPPING,
    Effort,
    SubgameSearch,
    SubgameSolver,
)
from infoset.warm_up import ready


@dataclass(frozen=True)
class Trained:
    """A game that a network was trained on: trained(path=DIR)."""

    path: str = ""
    """The folder of a training, or the file (.safetensors) of a network of states; one of public states needs its
    folder, which records how far to look ahead.
    """
    method: str = ""
    """``per-world`` (the default, as in the paper), ``own`` or ``order-2``; a network of public states always searches
    by resolving.
    """
    worlds: int = 60
    """Number of worlds drawn at each move."""
    steps: int = 0
    """The most steps that a subgame looks ahead; 0: as deep as the effort allows.  A network of public states looks
    ahead exactly the steps that it was trained for.
    """
    stopping: str = AVERAGE
    """``average``, or ``random``: each subgame's profile after a random number of iterations."""
    seconds_per_move: float = 1.0
    """Search time where the match has no clock for moves."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.path:
            raise ParameterError("trained: path is missing; name the folder: trained(path=runs/my-training)")
        if not Path(self.path).exists():
            raise ParameterError(f"trained: {self.path} is neither a folder nor a file")
        check_choice("method", self.method or PER_WORLD, ROOTS)
        check_range("worlds", self.worlds, 1, 100_000)
        check_range("steps", self.steps, 0, MOST_STEPS)
        check_choice("stopping", self.stopping, STOPPING)
        check_range("seed", self.seed, 0, 2**31)

    def agent(self) -> TrainedAgent | PolicyAgent:
        """Return the agent: one that searches, or the policy itself where the training learnt one."""
        path = Path(self.path)
        config = TrainingFolder.read_config(path) if (path / "config.json").is_file() else None
        if not isinstance(config, BaselineConfig):
            return TrainedAgent(self)
        for one in fields(self):
            if one.name != "path" and getattr(self, one.name) != one.default:
                raise ParameterError(f"trained: {one.name} is of agents that search; {path} has a policy")
        return PolicyAgent(SavedNet(path, config), f"trained({path.name})")


class TrainedAgent(Delegating):
    """An agent for the game that its network was trained on.

    A network of states evaluates all of them once, before the first game.
    """

    def __init__(self, parameters: Trained) -> None:
        ready("search")
        self.parameters, self.name = parameters, f"trained({Path(parameters.path).name})"
        self.game_name: str | None = None
        self.inner: Agent = RandomAgent()

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        """Load the network when the game is new, and begin.

        Raises ``UnsupportedGameError`` where the network is broken, missing, or was trained on another game.
        """
        if self.game_name != game.name:
            try:
                self.inner = self._made(game)
            except (PolicyError, CheckpointError) as error:
                raise UnsupportedGameError(f"{self.name}: {error}") from None
            self.game_name = game.name
        self.inner.begin(game, player, rng, deadline)

    def _made(self, game: Game) -> Agent:
        p, path = self.parameters, Path(self.parameters.path)
        if method := training_method(game.name):
            plain = {"method": "", "worlds": Trained.worlds, "steps": 0, "stopping": AVERAGE}
            self._refuse(f"a training by {method}", {**plain, "seconds_per_move": Trained.seconds_per_move, "seed": 0})
            return cast("Agent", config_type(method, game.name).player(path, game, self.name))
        config = TrainingFolder.read_config(path) if path.is_dir() else None
        states = config.encoding(game) if isinstance(config, TreeTrainingConfig) else None
        net = path / NET if config else path
        if states or (not config and (states := _lazy_states(game, net))):
            self._refuse("tree-search", {"method": "", "worlds": Trained.worlds, "steps": 0, "stopping": AVERAGE})
            return make_guided_agent(Kluss(p.seconds_per_move, seed=p.seed), load_net(net, states), states)
        if isinstance(config, PublicTrainingConfig):
            self._refuse("public states", {"method": "", "steps": 0, "stopping": AVERAGE})
            return SubgameSearch(self._resolving(game, config), p.seconds_per_move)
        return SubgameSearch(self._searching(game, net), p.seconds_per_move)

    def _refuse(self, kind: str, plain: dict[str, object]) -> None:
        """Raise ``UnsupportedGameError`` where a parameter differs from its default in ``plain``."""
        for name, default in plain.items():
            if (value := getattr(self.parameters, name)) != default:
                raise UnsupportedGameError(f"{self.name}: a network of {kind} has no {name} {value}")

    def _searching(self, game: Game, path: Path) -> SubgameSolver:
        p, encoding = self.parameters, encoding_of(game)
        values, _ = evaluate_states(load_net(path, encoding), encoding)

        def leaf_values(positions: LongArray) -> FloatArray:
            return values[encoding.row[positions]]

        effort = Effort(sets=p.worlds, steps=p.steps or MOST_STEPS, stopping=p.stopping)
        return SubgameSolver(BeliefTracker(encoding.graph, seed=p.seed), leaf_values, p.method or PER_WORLD, effort)

    def _resolving(self, game: Game, config: PublicTrainingConfig) -> ContinualResolving:
        encoding = config.encoding(game)
        net = load_belief_net(Path(self.parameters.path) / NET, encoding)
        return ContinualResolving(BeliefTracker(encoding.graph), encoding.states, NetValues(net, encoding))


def _lazy_states(game: Game, net: Path) -> LazyStates | None:
    """Return the states of the game's lazy graph if the network in the file reads them, else ``None``."""
    found = read_lazy_states(game)
    return found if fits(net, found) else None
