"""Progress on stderr: what is being compiled, how far a solver, games or a tournament are, how good by now."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from infoset.errors import shorten

if TYPE_CHECKING:
    from infoset.arena.tournament import Standings
    from infoset.learn.learner import Epoch
    from infoset.match.series import Series
    from infoset.solvers.solve import Point
    from infoset.solvers.solver import Solver


def announce_compiling() -> None:
    """Say that kernels are about to be compiled, when they never were on this machine."""
    from infoset.jit import cache_folder, is_compiled

    if not is_compiled():
        print(f"infoset: compiling kernels, once on this machine (kept in {cache_folder()}) …", file=sys.stderr)


DEFAULT_ITERATIONS = 1000


class _Bar:
    """A bar on stderr, where that is a terminal; gone when the work is done."""

    def __init__(self, unit: str, description: str, total: int | None) -> None:
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn(f"{{task.completed:,.0f}} {unit}  {{task.fields[rate]}}"),
            TextColumn("{task.fields[quality]}", markup=False),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self.task = self.bar.add_task(description, total=total, rate="", quality="")

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()


class SolveProgress(_Bar):
    """A bar for one solve: iterations a second, exploitability, time left where the end is known."""

    def __init__(self, iterations: int | None, target: float | None, seconds: float | None) -> None:
        self.target = target
        total = DEFAULT_ITERATIONS if (iterations, target, seconds) == (None,) * 3 else iterations
        super().__init__("iterations", "building", total)

    def building(self, positions: int) -> None:
        """So many positions of the game were expanded."""
        self.bar.update(self.task, quality=f"{positions:,} positions")

    def advance(self, solver: Solver, seconds: float) -> None:
        """The solver stands here after so many seconds of its own time."""
        rate = f"{solver.iteration / seconds:,.0f}/s" if seconds > 0 else ""
        self.bar.update(self.task, description="solving", completed=solver.iteration, rate=rate)

    def point(self, point: Point) -> None:
        """The average profile was evaluated."""
        goal = "" if self.target is None else f" (target {self.target:.1e})"
        self.bar.update(self.task, quality=f"exploitability {point.exploitability:.2e}{goal}")


class TrainingProgress(_Bar):
    """A bar for many trainings: how many are over, the best payoff so far."""

    def __init__(self, runs: int) -> None:
        super().__init__("runs", "training", runs)

    def advance(self, runs: int, best: float) -> None:
        """So many runs are over."""
        self.bar.update(self.task, completed=runs, quality=f"best {best:.6g}")


class SamplingProgress(_Bar):
    """A bar for sampling and its exact evaluation: iterations a second, information sets, how far the figures are."""

    def __init__(self, seconds: float) -> None:
        super().__init__("s", "exploring", int(seconds))

    def exploring(self, positions: int) -> None:
        """So many positions of the game were expanded."""
        self.bar.update(self.task, quality=f"{positions:,} positions")

    def advance(self, iterations: int, infosets: int, seconds: float) -> None:
        """Sampling stands here."""
        rate = f"{iterations / max(seconds, 1e-9):,.0f} iterations/s"
        self.bar.update(self.task, description="sampling", completed=seconds, rate=rate, quality=f"{infosets:,} sets")

    def evaluating(self, share: float) -> None:
        """So much of the evaluation is done."""
        self.bar.update(self.task, description="evaluating", quality=f"{share:.0%}")


class LearningProgress(_Bar):
    """A bar for a training: games a second, what is lost on values, what the start is held to be worth."""

    def __init__(self, seconds: float) -> None:
        super().__init__("s", "exploring", int(seconds))

    def exploring(self, positions: int) -> None:
        """So many positions of the game were expanded."""
        self.bar.update(self.task, quality=f"{positions:,} positions")

    def advance(self, epoch: Epoch) -> None:
        """The training stands here."""
        rate = f"{epoch.games / epoch.seconds:,.1f} games/s"
        worth = ", ".join(f"{value:.4g}" for value in epoch.start_values)
        quality = f"{epoch.games:,} games, value loss {epoch.value_loss:.2e}, start {worth}"
        self.bar.update(self.task, description="learning", completed=epoch.seconds, rate=rate, quality=quality)


class AskingProgress(_Bar):
    """A bar for an agent that is asked at every information set."""

    def __init__(self, infosets: int) -> None:
        super().__init__("sets", "asking", infosets)

    def advance(self, asked: int, seconds: float) -> None:
        """So many were asked."""
        self.bar.update(self.task, completed=asked, rate=f"{asked / max(seconds, 1e-9):,.0f}/s")


class MatchProgress(_Bar):
    """A bar for a series of games: games a second, mean scores so far, time left."""

    def __init__(self, games: int) -> None:
        super().__init__("games", "playing", games)

    def advance(self, series: Series) -> None:
        """The series stands here."""
        rate = f"{series.games / series.seconds:,.0f}/s" if series.seconds > 0 else ""
        means = "  ".join(f"{score.agent} {score.mean or 0.0:+.3g}" for score in series.agents)
        self.bar.update(self.task, completed=series.games, rate=rate, quality=means)


class TournamentProgress(_Bar):
    """A bar for a tournament: games a second, who leads, time left."""

    def __init__(self) -> None:
        super().__init__("games", "starting", None)

    def advance(self, standings: Standings) -> None:
        """The tournament stands here; games of earlier calls do not count for the time left."""
        if not standings.fresh:
            self.bar.reset(self.task, total=standings.planned, completed=standings.games, description="starting")
            return
        scores = {team: standings.score(team) or 0.0 for team in standings.teams}
        leader = max(scores, key=scores.__getitem__)
        rate = f"{standings.fresh / standings.seconds:,.1f}/s"
        quality = f"{shorten(leader, 20)} leads with {100 * scores[leader]:.1f} %"
        self.bar.update(self.task, description="playing", completed=standings.games, rate=rate, quality=quality)
