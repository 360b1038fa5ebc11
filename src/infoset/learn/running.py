"""A training from its name to its folder, as the verb ``train`` asks for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

from infoset.errors import BudgetError, CheckpointError, ParameterError
from infoset.executors import LOCAL, Where
from infoset.learn.public_play import PublicTraining
from infoset.learn.self_play import Training
from infoset.learn.train import AnyConfig, PublicTrainingConfig, TrainingConfig, TrainingFolder, train
from infoset.learn.workers import shared
from infoset.names import check_choice
from infoset.registry import check_trusted
from infoset.search.public_states import Horizon
from infoset.solvers.work import Watcher

METHODS = ("self-play", "resolving")
LISTING = 0.5  # of the time of a training, at most, for finding all positions
SHORTEST = 2.0  # seconds that it may take in any case


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
    return PublicTrainingConfig(game, PublicTraining(horizon=Horizon(**ahead), **given))


def begin(
    config: AnyConfig,
    out: Path | None,
    seconds: float,
    epochs: int | None,
    workers: int,
    watcher: Watcher,
    where: Where = LOCAL,
) -> tuple[TrainingFolder, AnyConfig]:
    """A training from its beginning; the folder is made when the game is known to fit."""
    TrainingFolder.check_free(out)
    work = config.learner(_within(max(LISTING * seconds, SHORTEST), watcher.building))
    folder = TrainingFolder.create(out, config)
    with shared(work, config, workers, where):
        train(folder, work, None, seconds, epochs, watcher.point)
    return folder, config


def _within(seconds: float, building: Callable[[int], object] | None) -> Callable[[int], None]:
    """Passes on how many positions were found.  Raises ``BudgetError`` so many seconds after the first ones."""
    began: list[float] = []

    def check(positions: int) -> None:
        if not began:
            began.append(time.monotonic())
        if time.monotonic() > began[0] + seconds:
            raise BudgetError(
                f"{positions:,} positions were found in {LISTING:.0%} of the training's time, and there are more: a "
                "network is trained where they can be listed. Give it more --seconds, or play by search without one"
            )
        if building:
            building(positions)

    return check


def resume(
    out: Path,
    game: str | None,
    seconds: float,
    epochs: int | None,
    workers: int,
    watcher: Watcher,
    where: Where = LOCAL,
) -> tuple[TrainingFolder, AnyConfig]:
    """A training that goes on."""
    folder, config, saved = TrainingFolder.open(out)
    if game not in (None, config.game):
        raise CheckpointError(f"{out} holds a training of {config.game}, not of {game}")
    if game is None:
        check_trusted(config.game, f"the training in {out}")
    work = config.learner(watcher.building)
    with shared(work, config, workers, where):
        train(folder, work, saved, seconds, epochs, watcher.point)
    return folder, config
