"""What the verb ``train`` does, and how an agent that searches is evaluated."""

from __future__ import annotations

import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from infoset.base import FloatArray, Game
from infoset.cli.progress import AskingProgress, LearningProgress
from infoset.errors import CheckpointError, ParameterError, UnsupportedGameError
from infoset.learn.public_play import PublicTraining
from infoset.learn.self_play import Training
from infoset.learn.train import AnyConfig, PublicTrainingConfig, TrainingConfig, TrainingFolder, train
from infoset.match.agents import Delegating, load_agent
from infoset.names import check_choice
from infoset.search.public_states import Horizon
from infoset.search.range_search import RangeSearch, induced_policy
from infoset.tree.game_tree import GameTree
from infoset.tree.sequence_form import SequenceForm

METHODS = ("self-play", "resolving")


def config_of(game: str, given: dict[str, Any]) -> AnyConfig:
    """A training as the command line asks for it."""
    given = dict(given)
    method = given.pop("method", METHODS[0])
    check_choice("--method", method, METHODS)
    known = Training if method == METHODS[0] else PublicTraining
    ahead = {} if method == METHODS[0] else {f.name: given.pop(f.name) for f in fields(Horizon) if f.name in given}
    if unknown := given.keys() - {f.name for f in fields(known)}:
        raise ParameterError(f"--{min(unknown)} is no option of --method {method}")
    if method == METHODS[0]:
        return TrainingConfig(game, Training(**given))
    return PublicTrainingConfig(game, PublicTraining(Horizon(**ahead), **given))


def begin(
    config: AnyConfig, out: Path | None, seconds: float, epochs: int | None, progress: LearningProgress
) -> tuple[TrainingFolder, AnyConfig]:
    """A training from its beginning; the folder is made when the game is known to fit."""
    work = config.learner(progress.exploring)
    folder = TrainingFolder.create(out, config)
    train(folder, work, None, seconds, epochs, progress.advance)
    return folder, config


def resume(
    out: Path, game: str | None, seconds: float, epochs: int | None, progress: LearningProgress
) -> tuple[TrainingFolder, AnyConfig]:
    """A training that goes on."""
    folder, config, saved = TrainingFolder.open(out)
    if game not in (None, config.game):
        raise CheckpointError(f"{out} holds a training of {config.game}, not of {game}")
    train(folder, config.learner(progress.exploring), saved, seconds, epochs, progress.advance)
    return folder, config


def ask_everywhere(name: str, game: Game, max_histories: int | None) -> tuple[SequenceForm, FloatArray]:
    """What an agent that searches would play at every information set of a game, as realisation weights (S,)."""
    agent = load_agent(name)
    agent.begin(game, 0, np.random.default_rng(0), None)
    inner = agent.inner if isinstance(agent, Delegating) else agent
    if not isinstance(inner, RangeSearch):
        raise UnsupportedGameError(
            f"{name} cannot be asked at every information set of {game.name}; agents that can: "
            "'trained:DIR' and 'search(method=…)' with a method that searches at every move"
        )
    graph = inner.solver.ranges.graph
    tree = GameTree.unroll(graph, max_histories)
    form = SequenceForm.of(tree)
    with AskingProgress(form.num_infosets) as progress:
        began = time.monotonic()
        plan = induced_policy(inner.solver, tree, form, lambda asked: progress.advance(asked, time.monotonic() - began))
    return form, plan
