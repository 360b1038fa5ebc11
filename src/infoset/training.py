"""``train``: a network that learns to play a game, in a folder that can be resumed (extra ``learn``)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infoset import displays
from infoset.arguments import checks_arguments
from infoset.base import Game
from infoset.catalog import name_of
from infoset.errors import CheckpointError, ParameterError
from infoset.executors import LOCAL, Where, check_executor
from infoset.solvers.job import Watcher


@dataclass(frozen=True)
class TrainingRun:
    """The result of ``train``: the run's folder, which plays as ``trained:DIR``, and the last ``Epoch`` of its curve.

    >>> training = infoset.train("gdl:scissors_double", epochs=1, games=2, out="learnt")
    >>> training.folder.name, training.last.iteration
    ('learnt', 1)
    """

    folder: Path
    game: str
    method: str
    last: Any

    def points(self) -> list[Any]:
        """Return the curve: an ``Epoch`` for each that was trained, as the folder holds it."""
        from infoset.learn.train import TrainingFolder

        return TrainingFolder(self.folder).points()

    def plot(self, axes: Any = None) -> Any:
        """Plot the losses and the estimated value of the start, on two axes of matplotlib (extra ``plot``).

        Raises ``ParameterError`` for a training of fewer than two epochs, and ``MissingExtraError``.
        """
        return displays.draw("learning", self.points(), f"{self.game}: {self.method}", axes)

    def _repr_html_(self) -> str:
        return displays.render("training", self.game, self.method, self.folder, self.last, self.points())


@checks_arguments
def train(
    game: str | Game | None = None,
    *,
    seconds: float = 600.0,
    epochs: int | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    workers: int = 1,
    executor: Where = LOCAL,
    watcher: Watcher | None = None,
    **parameters: Any,
) -> TrainingRun:
    """Train a network (extra ``learn``) for a number of seconds or epochs in all; ``trained:DIR`` plays it.

    ``parameters``: ``method`` (``self-play``, ``resolving``, ``tree-search``; the baselines ``ppo``, ``mmd``,
    ``hiding``, ``deep-cfr``, ``escher``, ``nfsp``, ``psro``, ``r-nad``; of Pommerman ``ppo``, ``a2c``, ``dqn`` or
    ``dagger``) and its fields, as the command line has them: those of ``Training``, ``PublicTraining``,
    ``TreeTraining``, ``PolicyGradientTraining`` …, or a ``preset``; the default method is ``ppo`` in Pommerman, else
    ``self-play`` where all positions are soon listed, else ``tree-search``.  ``out`` is the folder, a fresh one under
    ``runs/`` by default;
    ``resume`` continues the training there.  Ctrl-C ends it without loss.  ``workers`` processes of this machine, or of
    the cluster that ``executor`` names (``ray``, ``ray:ADDRESS``), play the games, at most one for each of the
    ``parts``; their number changes no result.

    Raises ``ParameterError``, ``CheckpointError``, ``BudgetError`` and ``MissingExtraError``.

    >>> infoset.train("gdl:scissors_double", epochs=1, games=2, out="learning").method
    'self-play'
    """
    if resume and out is None:
        raise CheckpointError("--resume needs --out DIR, the folder of the training to continue")
    if not resume and game is None:
        raise ParameterError("no GAME given; 'infoset games' lists the names")
    if resume and parameters:
        raise CheckpointError(f"--{next(iter(parameters))} can be given only when a training begins, not with --resume")
    check_executor(executor)
    from infoset.learn import running  # brings torch

    watcher = watcher or Watcher()
    name = None if game is None else name_of(game)
    if resume:
        folder, config = running.resume(Path(str(out)), name, seconds, epochs, workers, watcher, executor)
    else:
        where = None if out is None else Path(out)
        folder, config = running.begin(str(name), parameters, where, seconds, epochs, workers, watcher, executor)
    points = folder.points()
    folder.close()
    training = TrainingRun(folder.path, config.game, config.method, points[-1] if points else None)
    watcher.solved(training)
    if folder.failed is not None:
        raise folder.failed
    return training
