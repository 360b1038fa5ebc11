"""Progress bars on stderr for compiling, solving, training, series of games and tournaments."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from math import inf
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from infoset import status
from infoset.cli.status_line import PAUSE, StatusLine, patience, say
from infoset.errors import one_line, shorten
from infoset.solvers.job import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from infoset.arena.standings import Standings
    from infoset.flop_report import FlopReport
    from infoset.learn.learner import Epoch
    from infoset.match.series import Series
    from infoset.solvers.job import Job, Point


LONGEST = 400  # characters


class Bar:
    """A bar on stderr that vanishes when the work is done; where stderr is not a terminal, regular lines."""

    def __init__(self, unit: str, description: str, total: int | None) -> None:
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.completed:,.0f} {task.fields[unit]}  {task.fields[rate]}"),
            TextColumn("{task.fields[quality]}", markup=False),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
            disable=not sys.stderr.isatty(),
        )
        self.task = self.bar.add_task(description, total=total, unit=unit, rate="", quality="")
        self.last: Callable[[], object] = lambda: None

    def after(self, last: Callable[[], object]) -> None:
        """Call ``last`` when the bar is gone."""
        self.last = last

    def __enter__(self) -> Self:
        self.began, self.said = monotonic(), -inf
        self.bar.start()
        StatusLine.say_in_bar = lambda work: self.show(quality=work)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        StatusLine.say_in_bar = None
        self.bar.stop()
        self.last()

    def show(self, **fields: Any) -> None:
        """Change the fields of the bar; texts are sanitised, since they may hold untrusted names."""
        fields = {key: one_line(value, LONGEST) if isinstance(value, str) else value for key, value in fields.items()}
        self.bar.update(self.task, **fields)
        now = monotonic()
        if self.bar.disable and now - self.began > patience() and now - self.said > PAUSE:
            self.said = now
            say(self._text(), now - self.began)

    def _text(self) -> str:
        task = self.bar.tasks[self.task]
        done = f"{task.completed:,.0f}" + (f" of {task.total:,.0f}" if task.total else "") + f" {task.fields['unit']}"
        return ", ".join(filter(None, (task.description, done, task.fields["rate"], task.fields["quality"])))


class SolveProgress(Bar):
    """A bar for one solve: iterations a second, the current exploitability, time left where the end is known."""

    def __init__(self) -> None:
        super().__init__("iterations", "building", None)
        self.limits, self.quality = Limits(), ""

    def building(self, positions: int) -> None:
        """Show the number of positions expanded so far."""
        self.show(quality=f"{positions:,} positions")

    def begin(self, work: Job, limits: Limits) -> None:
        """Show that the work begins, with its limits."""
        self.limits = limits
        if work.total is not None or limits.iterations is not None:
            self.show(total=work.total or limits.iterations)
        elif limits.seconds is not None:
            self.show(total=int(limits.seconds), unit="s")

    def advance(self, work: Job, seconds: float) -> None:
        """Show the progress of the work after ``seconds`` of its own time."""
        rate = f"{work.iteration / seconds:,.0f} iterations/s" if seconds > 0 else ""
        by_clock = work.total is None and self.limits.iterations is None and self.limits.seconds is not None
        quality = ", ".join(filter(None, (work.about, self.quality)))
        self.show(description="solving", completed=seconds if by_clock else work.iteration, rate=rate, quality=quality)

    def point(self, point: Point) -> None:
        """Show the exploitability of a new measurement."""
        if point.exploitability is not None:
            goal = "" if self.limits.target is None else f" (target {self.limits.target:.1e})"
            self.quality = f"exploitability {point.exploitability:.2e}{goal}"
            self.show(quality=self.quality)


class FlopProgress(Bar):
    """A bar for a report over flops: the time that a flop takes, and the exploitability on the one in progress."""

    def __init__(self) -> None:
        super().__init__("flops", "solving", None)
        self.first: int | None = None

    def advance(self, report: FlopReport) -> None:
        """Show the state of the report; flops of earlier calls do not count for the time left."""
        done = len(report.rows)
        if self.first is None:
            self.first = done
            self.bar.reset(self.task, total=report.planned, completed=done)
            return
        rate = f"{(monotonic() - self.began) / (done - self.first):,.3g} s each"
        self.show(completed=done, total=report.planned, rate=rate, quality="")

    def point(self, point: Point) -> None:
        """Show a measurement of the flop in progress."""
        if point.exploitability is not None:
            self.show(quality=f"iteration {point.iteration:,}, exploitability {point.exploitability:.2e}")


class LearningProgress(Bar):
    """A bar for a training: games a second, the loss, the estimated values of the start."""

    def __init__(self, seconds: float) -> None:
        super().__init__("s", "exploring", int(seconds))
        self.measured = ""

    def exploring(self, positions: int) -> None:
        """Show the number of positions expanded so far."""
        self.show(quality=f"{positions:,} positions")

    def advance(self, epoch: Epoch) -> None:
        """Show the state of the training after an epoch."""
        rate = f"{epoch.games / epoch.seconds:,.1f} games/s"
        start_text = (
            ", start " + ", ".join(f"{value:.4g}" for value in epoch.start_values) if epoch.start_values else ""
        )
        score = f", score {epoch.share} v {epoch.opponent}" if epoch.share else ""
        if epoch.exploitability is not None:
            self.measured = f", exploitability {epoch.exploitability:.2e}"
        words = ("value", epoch.value_loss), ("policy", epoch.policy_loss)
        lost = next(f"{word} loss {loss:.2e}" for word, loss in words if loss is not None)
        quality = f"{epoch.games:,} games, {lost}{start_text}{score}{self.measured}"
        self.show(description="learning", completed=epoch.seconds, rate=rate, quality=quality)


class CompilingProgress(Bar):
    """A bar for kernels that are compiled ahead."""

    def __init__(self) -> None:
        super().__init__("kernels", "compiling", None)

    def advance(self, done: int, total: int, last: str) -> None:
        """Show that ``done`` of ``total`` kernels are compiled."""
        self.show(completed=done, total=total, quality=last)


class MatchProgress(Bar):
    """A bar for a series of games: games a second, mean scores so far, time left."""

    def __init__(self, games: int) -> None:
        super().__init__("games", "playing", games)
        self.first = ExitStack()

    def __enter__(self) -> Self:
        super().__enter__()
        self.first.enter_context(status.during("playing the first game"))
        return self

    def __exit__(self, *ending: Any) -> None:
        self.first.close()
        super().__exit__(*ending)

    def advance(self, series: Series) -> None:
        """Show the state of the series."""
        self.first.close()
        rate = f"{series.games / series.seconds:,.0f}/s" if series.seconds > 0 else ""
        means = "  ".join(f"{score.agent} {score.mean or 0.0:+.3g}" for score in series.agents)
        self.show(completed=series.games, rate=rate, quality=means)


class TournamentProgress(Bar):
    """A bar for a tournament: games a second, the leading team, time left."""

    def __init__(self) -> None:
        super().__init__("games", "starting", None)

    def advance(self, standings: Standings) -> None:
        """Show the state of the tournament; games of earlier calls do not count for the time left."""
        if not standings.fresh:
            self.bar.reset(self.task, total=standings.planned, completed=standings.games, description="starting")
            return
        paid = standings.rank == "payoff"
        if paid:
            scores = {one.team: one.mean for one in standings.payoffs if not one.against}
        else:
            scores = {team: standings.score(team) or 0.0 for team in standings.teams}
        leader = max(scores, key=scores.__getitem__, default="")
        rate = f"{standings.fresh / standings.seconds:,.1f}/s"
        figure = "" if not leader else f"{scores[leader]:+.3g}" if paid else f"{100 * scores[leader]:.1f} %"
        quality = f"{shorten(leader, 20)} leads with {figure}" if leader else ""
        self.show(description="playing", completed=standings.games, rate=rate, quality=quality)
