"""A training from its first game to the network in its folder; stopped at any moment, it goes on as if it had not been.

``config.json``, ``metrics.jsonl`` and ``checkpoint.npz`` as every run has them, ``net.safetensors``, ``curve.png``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from infoset.base import Game
from infoset.catalog import load
from infoset.errors import CheckpointError
from infoset.files import replace_file
from infoset.learn.encoding import Encoding
from infoset.learn.net import save_net
from infoset.learn.self_play import DivergedError, Epoch, SelfPlay, Training
from infoset.runs import SCHEMA, Folder
from infoset.tree.graph import explore

NET = "net.safetensors"


class TrainingConfig(msgspec.Struct, frozen=True):
    """What a training was asked to do, as far as resuming must know."""

    game: str
    training: Training
    method: str = "self-play"
    schema: int = SCHEMA


class TrainingFolder(Folder[TrainingConfig, Epoch]):
    """One training's folder."""

    config_type, point_type = TrainingConfig, Epoch

    def finish(self, work: SelfPlay) -> Path:
        """Write the network and, where matplotlib is installed, the picture.  Returns the network's path."""
        path = save_net(work.net, work.encoding, self.path / NET)
        from infoset.view.curves import draw_learning

        draw_learning(self.points(), f"{work.encoding.graph.name}: self-play", self.path / "curve.png")
        return path


def encoding_of(game: Game, progress: Callable[[int], None] | None = None) -> Encoding:
    """Its states as networks see them.  Raises ``BudgetError`` for a game whose positions do not fit."""
    return Encoding(explore(game, progress=progress, facts=True))


@cache
def warm_up() -> None:
    """Load the compiled code, or compile it, before a clock runs."""
    SelfPlay(encoding_of(load("gdl:scissors_double")), Training(games=2)).step()


def train(
    folder: TrainingFolder, encoding: Encoding, training: Training, saved: dict[str, Any] | None = None,
    seconds: float = 600.0, epochs: int | None = None, progress: Callable[[Epoch], None] | None = None,
) -> SelfPlay:  # fmt: skip
    """Play and learn for so many seconds in all, those before a resumption too, or epochs.

    The clock is looked at between epochs; an interruption (``KeyboardInterrupt``) ends it as the clock does.  Raises
    ``CheckpointError`` where learning diverges: the mini-batch is kept in ``diverged.npz``.
    """
    warm_up()
    began = time.monotonic() - (float(saved["seconds"]) if saved else 0.0)
    work = SelfPlay(encoding, training)
    if saved:
        work.restore(saved)
    folder.go_on(saved)
    last = work.save()

    def spent() -> float:
        return time.monotonic() - began

    try:
        while spent() < seconds and (epochs is None or work.iteration < epochs):
            point = work.step()
            last = work.save()
            point = Epoch(**{**asdict(point), "seconds": spent()})
            folder.add_point(point)
            folder.checkpoint(work, spent())
            if progress:
                progress(point)
    except KeyboardInterrupt:  # in the midst of an epoch, which is played again when the training goes on
        work.restore(last)
    except DivergedError as error:
        batch = {"rows": error.rows, "places": error.places, **work.buffer.save()}
        replace_file(folder.path / "diverged.npz", lambda file: np.savez(file, **batch))
        raise CheckpointError(f"{error}; the mini-batch is in {folder.path / 'diverged.npz'}") from None
    folder.save_checkpoint(work, spent())
    folder.finish(work)
    return work
