"""Run trainings as the verb ``train`` asks for them: from a game's name and options to a folder."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

from infoset.catalog import load, training_method
from infoset.errors import BudgetError, CheckpointError, ParameterError
from infoset.executors import LOCAL, MAX_WORKERS, Where
from infoset.learn.learner import GamesLearner, Learner
from infoset.learn.presets import published
from infoset.learn.public_states import Horizon
from infoset.learn.train import CONFIGS, AnyConfig, TrainingFolder, config_type, train
from infoset.learn.workers import shared
from infoset.names import check_choice, check_range
from infoset.registry import check_trusted
from infoset.solvers.job import Watcher

SELF_PLAY, RESOLVING, TREE_SEARCH = "self-play", "resolving", "tree-search"
LISTING = 0.5  # largest share of a training's time for finding all positions
TRYING = 0.1  # the same where there is a method that needs no enumeration
SHORTEST = 2.0  # seconds that finding positions, and training, may take in any case


def config_of(game: str, method: str, given: dict[str, Any]) -> AnyConfig:
    """Return the configuration of a training from the options of the command line."""
    given = dict(given)
    check_choice("--method", method, tuple(CONFIGS))
    if method == RESOLVING:
        given["horizon"] = Horizon(**{f.name: given.pop(f.name) for f in fields(Horizon) if f.name in given})
    if (preset := given.pop("preset", None)) is not None:
        given = published(preset, method, load(game).name) | given
    kind = config_type(method, game)
    training = get_type_hints(kind)["training"]
    if unknown := given.keys() - {f.name for f in fields(training)}:
        raise ParameterError(f"--{min(unknown)} is not an option of --method {method}")
    config: AnyConfig = kind(game, training(**given))
    return config


def begin(
    game: str,
    given: dict[str, Any],
    out: Path | None,
    seconds: float,
    epochs: int | None,
    workers: int,
    watcher: Watcher,
    where: Where = LOCAL,
) -> tuple[TrainingFolder, AnyConfig]:
    """Run a training from its beginning with the options ``given``; its clock starts with this call.

    The folder is created only once the game is known to fit.
    """
    began = time.monotonic()
    TrainingFolder.check_free(out)
    config, job = _chosen(game, dict(given), seconds, watcher)
    job.prepare()
    folder = TrainingFolder.create(out, config)
    with _sharing(job, config, workers, where):
        left = max(seconds - (time.monotonic() - began), min(seconds, SHORTEST))
        train(folder, job, None, left, epochs, watcher.point)
    return folder, config


def _chosen(game: str, given: dict[str, Any], seconds: float, watcher: Watcher) -> tuple[AnyConfig, Learner]:
    """Return the configuration and the training by the method asked for, or by a method that suits the game.

    Without a method a game is learnt by that of its own, if it has one (see ``training_method``), and other games by
    ``self-play`` where all positions are enumerated in a small part of the time, else by ``tree-search``.
    """
    method = given.pop("method", None) or training_method(game)
    config = config_of(game, method or SELF_PLAY, given)
    try:
        listing = _Listing(LISTING if method else TRYING, seconds, watcher.building)
        job = config.learner(listing)
        listing.over = True
        return config, job
    except BudgetError:
        if method:
            raise
        large = config_of(game, TREE_SEARCH, given)
        return large, large.learner()


def _sharing(job: Learner, config: Any, workers: int, where: Where) -> AbstractContextManager[None]:
    """Return the context in which the games of ``job`` are shared out among processes.

    Raises ``ParameterError`` where they cannot be.
    """
    check_range("workers", workers, 1, MAX_WORKERS)
    if isinstance(job, GamesLearner):
        return shared(job, config, workers, where)
    if workers > 1 or where != LOCAL:
        raise ParameterError(f"--workers, --executor: {config.method} plays on the cores of this machine by itself")
    return nullcontext()


class _Listing:
    """A progress callback that passes the number of positions on to ``building``.

    It raises ``BudgetError`` when that share of a training's seconds has passed since its first call, until the
    positions are listed: ``over`` is then set, since a training's evaluations report by the same callback.
    """

    def __init__(self, share: float, seconds: float, building: Callable[[int], object] | None) -> None:
        self.share, self.seconds, self.building = share, seconds, building
        self.began: float | None = None
        self.over = False

    def __call__(self, positions: int) -> None:
        if self.began is None:
            self.began = time.monotonic()
        if not self.over and time.monotonic() > self.began + max(self.share * self.seconds, SHORTEST):
            raise BudgetError(
                f"{positions:,} positions were found in {self.share:.0%} of the training's time, and there are more: a "
                "network is trained where they can be listed. Give it more --seconds, or play by search without one"
            )
        if self.building:
            self.building(positions)


def resume(
    out: Path,
    game: str | None,
    seconds: float,
    epochs: int | None,
    workers: int,
    watcher: Watcher,
    where: Where = LOCAL,
) -> tuple[TrainingFolder, AnyConfig]:
    """Resume a training."""
    folder, config, saved = TrainingFolder.open(out)
    if game not in (None, config.game):
        raise CheckpointError(f"{out} contains a training of {config.game}, not of {game}")
    if game is None:
        check_trusted(config.game, f"the training in {out}")
    job = config.learner(watcher.building)
    with _sharing(job, config, workers, where):
        train(folder, job, saved, seconds, epochs, watcher.point)
    return folder, config
