"""Progress on stderr: what is being compiled, how far a solver, games or a tournament are, how good by now."""

from __future__ import annotations

import sys
from math import inf
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from infoset.cli.life_signs import PAUSE, LifeSigns, patience, say
from infoset.errors import shorten

if TYPE_CHECKING:
    from infoset.arena.tournament import Standings
    from infoset.learn.learner import Epoch
    from infoset.match.series import Series
    from infoset.solvers.solve import Point
    from infoset.solvers.tabular.solver import Solver


DEFAULT_ITERATIONS = 1000


class Bar:
    """A bar on stderr, gone when the work is done; where that is no terminal, a line now and then."""

    def __init__(self, unit: str, description: str, total: int | None) -> None:
        self.unit = unit
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn(f"{{task.completed:,.0f}} {unit}  {{task.fields[rate]}}"),
            TextColumn("{task.fields[quality]}", markup=False),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
            disable=not sys.stderr.isatty(),
        )
        self.task = self.bar.add_task(description, total=total, rate="", quality="")

    def __enter__(self) -> Self:
        self.began, self.said = monotonic(), -inf
        self.bar.start()
        LifeSigns.say_in_bar = lambda work: self.show(quality=work)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        LifeSigns.say_in_bar = None
        self.bar.stop()

    def show(self, **fields: Any) -> None:
        """Change what the bar says."""
        self.bar.update(self.task, **fields)
        now = monotonic()
        if self.bar.disable and now - self.began > patience() and now - self.said > PAUSE:
            self.said = now
            say(self._text(), now - self.began)

    def _text(self) -> str:
        task = self.bar.tasks[self.task]
        done = f"{task.completed:,.0f}" + (f" of {task.total:,.0f}" if task.total else "") + f" {self.unit}"
        return ", ".join(filter(None, (task.description, done, task.fields["rate"], task.fields["quality"])))


class SolveProgress(Bar):
    """A bar for one solve: iterations a second, exploitability, time left where the end is known."""

    def __init__(self, iterations: int | None, target: float | None, seconds: float | None) -> None:
        self.target = target
        total = DEFAULT_ITERATIONS if (iterations, target, seconds) == (None,) * 3 else iterations
        super().__init__("iterations", "building", total)

    def building(self, positions: int) -> None:
        """So many positions of the game were expanded."""
        self.show(quality=f"{positions:,} positions")

    def advance(self, solver: Solver, seconds: float) -> None:
        """The solver stands here after so many seconds of its own time."""
        rate = f"{solver.iteration / seconds:,.0f}/s" if seconds > 0 else ""
        self.show(description="solving", completed=solver.iteration, rate=rate)

    def point(self, point: Point) -> None:
        """The average profile was evaluated."""
        goal = "" if self.target is None else f" (target {self.target:.1e})"
        self.show(quality=f"exploitability {point.exploitability:.2e}{goal}")


class TrainingProgress(Bar):
    """A bar for many trainings: how many are over, the best payoff so far."""

    def __init__(self, runs: int) -> None:
        super().__init__("runs", "training", runs)

    def advance(self, runs: int, best: float) -> None:
        """So many runs are over."""
        self.show(completed=runs, quality=f"best {best:.6g}")


class SamplingProgress(Bar):
    """A bar for sampling and its exact evaluation: iterations a second, information sets, how far the figures are."""

    def __init__(self, seconds: float) -> None:
        super().__init__("s", "exploring", int(seconds))

    def exploring(self, positions: int) -> None:
        """So many positions of the game were expanded."""
        self.show(quality=f"{positions:,} positions")

    def advance(self, iterations: int, infosets: int, seconds: float) -> None:
        """Sampling stands here."""
        rate = f"{iterations / max(seconds, 1e-9):,.0f} iterations/s"
        self.show(description="sampling", completed=seconds, rate=rate, quality=f"{infosets:,} sets")

    def evaluating(self, share: float) -> None:
        """So much of the evaluation is done."""
        self.show(description="evaluating", rate="", quality=f"{share:.0%}")


class LearningProgress(Bar):
    """A bar for a training: games a second, what is lost on values, what the start is held to be worth."""

    def __init__(self, seconds: float) -> None:
        super().__init__("s", "exploring", int(seconds))

    def exploring(self, positions: int) -> None:
        """So many positions of the game were expanded."""
        self.show(quality=f"{positions:,} positions")

    def advance(self, epoch: Epoch) -> None:
        """The training stands here."""
        rate = f"{epoch.games / epoch.seconds:,.1f} games/s"
        worth = ", ".join(f"{value:.4g}" for value in epoch.start_values)
        quality = f"{epoch.games:,} games, value loss {epoch.value_loss:.2e}, start {worth}"
        self.show(description="learning", completed=epoch.seconds, rate=rate, quality=quality)


class CompilingProgress(Bar):
    """A bar for kernels that are compiled ahead."""

    def __init__(self) -> None:
        super().__init__("kernels", "compiling", None)

    def advance(self, done: int, total: int, last: str) -> None:
        """So many are done, of so many."""
        self.show(completed=done, total=total, quality=last)


class AskingProgress(Bar):
    """A bar for an agent that is asked at every information set."""

    def __init__(self, infosets: int) -> None:
        super().__init__("sets", "asking", infosets)

    def advance(self, asked: int, seconds: float) -> None:
        """So many were asked."""
        self.show(completed=asked, rate=f"{asked / max(seconds, 1e-9):,.0f}/s")


class MatchProgress(Bar):
    """A bar for a series of games: games a second, mean scores so far, time left."""

    def __init__(self, games: int) -> None:
        super().__init__("games", "playing", games)

    def advance(self, series: Series) -> None:
        """The series stands here."""
        rate = f"{series.games / series.seconds:,.0f}/s" if series.seconds > 0 else ""
        means = "  ".join(f"{score.agent} {score.mean or 0.0:+.3g}" for score in series.agents)
        self.show(completed=series.games, rate=rate, quality=means)


class TournamentProgress(Bar):
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
        self.show(description="playing", completed=standings.games, rate=rate, quality=quality)
