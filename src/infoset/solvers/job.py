"""Long-running work that is stepped, stopped, saved and resumed, and the one loop that checks limits and Ctrl-C.

A solver, a sampler, a series of trainings, an evaluation, a network's training: each is a ``Job``.  ``advance`` steps
it from one measured iteration to the next, and ends at a limit, at Ctrl-C, or when nothing is left to do.
"""

from __future__ import annotations

import signal
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from math import ceil, inf
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import numpy as np

from infoset.errors import CheckpointError, ParameterError, shorten
from infoset.files import DamageError, describe_damage
from infoset.names import MAX_COUNT, check_range, is_number
from infoset.processes import ABANDONED

if TYPE_CHECKING:
    from infoset.policies.loading import SavedPolicy
    from infoset.solvers.metrics import Evaluation

T = TypeVar("T")

CHUNK_SECONDS = 0.1
CHECK_GROWTH = 1.1


@dataclass(frozen=True)
class Point:
    """One point of the convergence curve, in units of payoffs; figures that the method does not know are ``None``.

    ``seconds`` is the method's own time so far; ``values`` (n,) are the payoffs of the policy at hand.

    >>> point = infoset.solve("kuhn_poker", "cfr", iterations=10).curve[0]
    >>> point.iteration, round(point.nash_conv, 6)
    (0, 0.916667)
    """

    iteration: int
    seconds: float
    nash_conv: float | None = None
    exploitability: float | None = None
    epsilon: float | None = None
    current_exploitability: float | None = None
    values: tuple[float, ...] | None = None


class Job(ABC):
    """Work that is done in steps.

    ``total`` is the number of iterations after which nothing is left to do; ``None`` where there is no end.
    """

    iteration = 0
    total: int | None = None
    finished_as = "exact"
    """The value of ``stopped`` once all is done."""
    nothing_to_gain: float | None = None
    """The exploitability, in units of payoffs, at or below which more work improves nothing; ``None`` where the method
    looks for more than a profile from which nobody gains."""
    breaks = False
    """Whether Ctrl-C aborts the current iteration, because iterations are long."""

    @property
    def over(self) -> bool:
        """Whether nothing is left to do."""
        return self.total is not None and self.iteration >= self.total

    @abstractmethod
    def step(self, iterations: int, until: float = inf) -> None:
        """Run ``iterations`` more iterations, fewer where the moment ``until`` (of ``time.monotonic``) comes first."""

    @abstractmethod
    def save(self) -> dict[str, Any]:
        """Return copies of the arrays, ``iteration`` among them, from which ``restore`` continues bit for bit."""

    @abstractmethod
    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from what ``save`` returned.  Raises ``CheckpointError`` where the arrays do not fit."""

    def policy(self) -> SavedPolicy | None:
        """Return the best policy so far; ``None`` where there is none yet."""
        return None

    def point(self, seconds: float) -> Point | None:
        """Return those figures of the policy that are quickly computed; ``None`` where there are none yet."""
        return Point(self.iteration, seconds)

    def undo(self) -> None:
        """Go back to the end of the last iteration after Ctrl-C during one; only for work that ``breaks``."""
        raise NotImplementedError

    def evaluation(self) -> Evaluation | None:
        """Return exact figures of the policy, where they are available."""
        return None

    def bound(self) -> tuple[float, str] | None:
        """Return a payoff that no policy exceeds, and what proves it, for players who share a payoff."""
        return None

    def notes(self) -> dict[str, Any]:
        """Return anything else to report, by name."""
        return {}

    def next_check(self) -> int:
        """Return the next iteration that is measured; the same for a run that was interrupted and resumed."""
        return next_check(self.iteration)

    @property
    def about(self) -> str:
        """A few words that a progress line may add."""
        return ""


class RunInSeries(Job):
    """One of several runs, which ends after ``total`` iterations."""

    total: int

    @abstractmethod
    def result(self) -> dict[str, Any]:
        """Return the result so far, as arrays by name; ``value`` is the value of that result."""

    @abstractmethod
    def state_arrays(self) -> dict[str, Any]:
        """Return all arrays that change, by name."""

    def save(self) -> dict[str, Any]:
        return {
            **{name: array.copy() for name, array in self.state_arrays().items()},
            "iteration": np.array(self.iteration),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        fit(self.state_arrays(), saved)
        self.iteration = int(saved["iteration"])


class MultiStart(Job):
    """A series of runs, each made from its number, one after the other.

    ``results`` holds the results of the finished runs; the current run counts for the best result, too.
    """

    finished_as = "iterations"
    dealt: DistributedRuns | None = None
    """The executor of the runs, where they are not run in this process."""
    waits: tuple[int, ...] = ()
    """The numbers of runs that, with those after them, depend on the results of all runs before them."""

    def __init__(self, make: Callable[[int], RunInSeries], runs: int) -> None:
        self.make, self.runs = make, runs
        self.results: list[dict[str, Any]] = []
        self.number, self.current = 0, make(0)
        self.each = self.current.total
        self.total: int = runs * self.each

    @property
    def iteration(self) -> int:  # type: ignore[override]
        """The number of iterations of all runs together."""
        return self.number * self.each + (self.current.iteration if self.number < self.runs else 0)

    def step(self, iterations: int, until: float = inf) -> None:
        if self.dealt is not None:
            if (result := self.dealt.result(self, until)) is not None:
                self._next(result)
            return
        goal = min(self.iteration + iterations, self.total)
        while self.iteration < goal:
            self.current.step(min(goal - self.iteration, self.each - self.current.iteration), until)
            if self.current.iteration == self.each:
                self._next(self.current.result())
            elif time.monotonic() >= until:
                return

    def _next(self, result: dict[str, Any]) -> None:
        self.results.append(result)
        self.number += 1
        if self.number < self.runs:
            self.current = self.make(self.number)

    @property
    def known(self) -> list[dict[str, Any]]:
        """The results of all runs, the current one included where it has begun."""
        under_way = self.number < self.runs and self.current.iteration > 0
        return [*self.results, self.current.result()] if under_way else self.results

    @property
    def measured(self) -> list[dict[str, Any]]:
        """The results of the finished runs that count for statistics."""
        return self.results

    @property
    def best(self) -> dict[str, Any] | None:
        """The known result of the highest value; the first of equals."""
        return max(self.known, key=lambda result: float(result["value"]), default=None)

    def point(self, seconds: float) -> Point:
        """Return a point whose ``values`` is the payoff of the best policy so far."""
        best = self.best
        return Point(self.iteration, seconds, values=None if best is None else (float(best["value"]),))

    def teller(self, progress: Callable[[int, float], object] | None) -> Callable[[Job, float], object]:
        """Return a hook that passes to ``progress`` the number of finished runs and their best value after each run."""
        reported = [0]

        def tell(job: Job, seconds: float) -> None:
            if progress is not None and self.number > reported[0]:
                reported[0] = self.number
                progress(self.number, max(float(result["value"]) for result in self.results))

        return tell

    def next_check(self) -> int:
        """Return the next multiple of a hundredth of all iterations."""
        pace = max(self.total // 100, 1)
        return (self.iteration // pace + 1) * pace

    @property
    def about(self) -> str:
        best = max((float(result["value"]) for result in self.results), default=None)
        return f"{self.number:,} of {self.runs:,} runs" + ("" if best is None else f", best {best:.6g}")

    def save(self) -> dict[str, Any]:
        arrays: dict[str, Any] = {"iteration": np.array(self.iteration), "number": np.array(self.number)}
        for k, result in enumerate(self.results):
            arrays |= {f"result{k}.{name}": array for name, array in result.items()}
        if self.number < self.runs:
            arrays |= {f"current.{name}": array for name, array in self.current.save().items()}
        return arrays

    def restore(self, saved: dict[str, Any]) -> None:
        try:
            number = int(saved["number"])
            results = [part_of(saved, f"result{k}.") for k in range(number)]
            if not 0 <= number <= self.runs or not all("value" in result for result in results):
                raise DamageError(f"it contains {number} runs")
            self.number, self.results = number, results
            self.current = self.make(min(number, self.runs - 1))
            if number < self.runs:
                self.current.restore(part_of(saved, "current."))
        except (KeyError, ValueError, TypeError, IndexError) as error:
            raise CheckpointError(f"the checkpoint does not fit: {describe_damage(error)}") from None


class DistributedRuns:
    """An executor that keeps up to ``width`` runs in progress and returns their results in order."""

    def __init__(self, deal: Callable[[int, list[dict[str, Any]]], Future[dict[str, Any]]], width: int) -> None:
        """Take ``deal``, which starts a run, given its number and the results that it depends on."""
        self.deal, self.width = deal, width
        self.under_way: dict[int, Future[dict[str, Any]]] = {}

    def result(self, runs: MultiStart, until: float) -> dict[str, Any] | None:
        """Return the result of the next run; ``None`` where it is not over by ``until``."""
        past = runs.results[: max((wait for wait in runs.waits if wait <= runs.number), default=0)]
        known = min((wait for wait in runs.waits if wait > runs.number), default=runs.runs)
        for number in range(runs.number, min(runs.number + self.width, known)):
            if number not in self.under_way:
                self.under_way[number] = self.deal(number, past)
        left = None if until == inf else max(until - time.monotonic(), 0.0)
        if not wait([self.under_way[runs.number]], left).done:
            return None
        return self.under_way.pop(runs.number).result()


def part_of(saved: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Return the arrays whose names begin with ``prefix``, by the rest of their names."""
    return {name[len(prefix) :]: array for name, array in saved.items() if name.startswith(prefix)}


def fit(state: dict[str, Any], saved: dict[str, Any]) -> None:
    """Copy the saved arrays into those of ``state``, by name.

    Raises ``CheckpointError`` where one is missing or of another shape; then nothing changes.
    """
    for name, array in state.items():
        given = saved.get(name)
        if given is None or given.shape != array.shape or given.dtype != array.dtype:
            raise CheckpointError(f"the checkpoint does not fit: {name} is missing or of another shape")
    for name, array in state.items():
        array[...] = saved[name]


def restore_arrays(name: str, state: dict[str, Any], saved: dict[str, Any]) -> int:
    """Copy the saved arrays into those of ``state``, by name; return the saved iteration.

    Raises ``CheckpointError``, which names the method ``name``, for arrays of another shape or type or that are not
    finite, and where the iteration is not a count; then nothing changes.
    """
    for label, array in state.items():
        given = saved.get(label)
        if given is None or given.shape != array.shape or given.dtype != array.dtype:
            raise CheckpointError(f"the checkpoint's array {label!r} does not fit {name} on this game")
        if not np.isfinite(given).all():
            raise CheckpointError(f"the checkpoint's array {label!r} contains values that are not finite")
    iteration = saved.get("iteration")
    if iteration is None or iteration.shape != () or iteration.dtype.kind != "i" or iteration < 0:
        raise CheckpointError(f"the checkpoint's iteration {iteration!r} is not a count")
    for label, array in state.items():
        array[...] = saved[label]
    return int(iteration)


class Background(Generic[T]):
    """One long call in a thread: it cannot be interrupted, but its thread can be abandoned."""

    def __init__(self, call: Callable[[], T]) -> None:
        self.outcome: T | BaseException | None = None

        def run() -> None:
            try:
                self.outcome = call()
            except BaseException as error:  # raised again in ``wait``
                self.outcome = error

        self.thread = threading.Thread(target=run, name=ABANDONED, daemon=True)
        self.thread.start()

    def wait(self, until: float = inf) -> bool:
        """Wait until that moment at most; return whether the call is over.  Raises what the call raised."""
        self.thread.join(None if until == inf else max(until - time.monotonic(), 0.0))
        if self.thread.is_alive():
            return False
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return True

    @property
    def result(self) -> T:
        """The return value of the call, once it is over."""
        return cast("T", self.outcome)


class OneCall(Job, Generic[T]):
    """The work of one long call, which counts as one iteration and can be abandoned."""

    total = 1

    def __init__(self, call: Callable[[], T]) -> None:
        self.call = call
        self.found: T | None = None
        self._working: Background[T] | None = None

    def step(self, iterations: int, until: float = inf) -> None:
        if not iterations or self.iteration:
            return
        self._working = self._working or Background(self.call)
        if self._working.wait(until):
            self.found, self.iteration = self._working.result, 1

    def save(self) -> dict[str, Any]:
        """Return iteration 0 alone: a call has no intermediate state."""
        return {"iteration": np.array(0)}

    def restore(self, saved: dict[str, Any]) -> None:
        """Do nothing, so that the call begins again."""


@dataclass(frozen=True)
class Limits:
    """When to stop: a number of iterations, an exploitability to reach, a number of seconds of work."""

    iterations: int | None = None
    target: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.iterations is not None:
            check_range("iterations", self.iterations, 0, MAX_COUNT)
        for name, value in asdict(self).items():
            if value is not None and not (is_number(value) and 0 <= value < inf):
                raise ParameterError(f"{name}={shorten(str(value))} is out of range; allowed: numbers from 0 up")

    def reached(self, job: Job, seconds: float, last: Point | None) -> str:
        """Return the name of the limit that is reached, or "".

        Where time or a target is a limit, and not the number of iterations alone, the work also ends, as "exact", once
        nobody can gain more than rounding errors.
        """
        found = None if self.target is None or last is None else last.exploitability
        if self.target is not None and found is not None and found <= self.target:
            return "target"
        if (self.seconds, self.target) != (None, None) and _is_settled(job, last):
            return "exact"
        if job.over:
            return job.finished_as
        if self.iterations is not None and job.iteration >= self.iterations:
            return "iterations"
        return "seconds" if self.seconds is not None and seconds >= self.seconds else ""


def _is_settled(job: Job, last: Point | None) -> bool:
    """Return whether the last measured exploitability leaves nothing to gain."""
    if job.nothing_to_gain is None or last is None or last.exploitability is None:
        return False
    return last.exploitability <= job.nothing_to_gain


@dataclass
class Watcher:
    """Hooks by which a caller follows work in progress; each does nothing unless it is given.

    ``building`` is passed the number of positions or histories while the game is built, ``begin`` the work and its
    limits, ``point`` each measured point, ``advance`` and ``done`` the work and the seconds that it has taken,
    ``solved`` the solution, before it is written; in ``train`` the outcome, also where it could not be written.

    >>> seen = []
    >>> watcher = infoset.Watcher(point=lambda point: seen.append(point.iteration))
    >>> solution = infoset.solve("kuhn_poker", "cfr", iterations=3, watcher=watcher)
    >>> seen
    [0, 1, 2, 3]
    """

    building: Callable[[int], object] = lambda count: None
    begin: Callable[[Job, Limits], object] = lambda job, limits: None
    point: Callable[[Any], object] = lambda point: None
    advance: Callable[[Job, float], object] = lambda job, seconds: None
    done: Callable[[Job, float], object] = lambda job, seconds: None
    solved: Callable[[Any], object] = lambda solution: None

    def __post_init__(self) -> None:
        """Raise ``ParameterError`` for a hook that is not a function."""
        for name, hook in vars(self).items():
            if not callable(hook):
                raise ParameterError(f"{name}={shorten(repr(hook))} is not callable; allowed: a function")


def advance(job: Job, limits: Limits, watcher: Watcher, spent: float = 0.0) -> tuple[str, float]:
    """Step ``job`` until a limit, its end or Ctrl-C; return which, and the seconds that it took, ``spent`` included.

    Time spent on measuring does not count.  Where there is a time limit, nothing is measured while measuring has taken
    longer than the work itself.
    """
    run = _Run(job, limits, watcher, spent)
    with interrupts(lambda: run.breaking) as run.stop:
        stopped = run.until_done()
    watcher.done(job, run.seconds)
    return stopped, run.seconds


class _Run:
    stop: threading.Event
    reported: Point | None = None
    looking = 0.0
    """Seconds spent on measuring so far."""

    def __init__(self, job: Job, limits: Limits, watcher: Watcher, seconds: float) -> None:
        self.job, self.limits, self.watcher, self.seconds = job, limits, watcher, seconds
        self.last: Point | None = None
        self.chunk, self.breaking = 1, False

    def until_done(self) -> str:
        self._look()
        while not (reason := self.limits.reached(self.job, self.seconds, self.last)):
            if self.stop.is_set():
                return "interrupted"
            ends = (self.job.next_check(), self.limits.iterations, self.job.total)
            goal = min(end for end in ends if end is not None)
            while self.job.iteration < goal and not (self.job.over or self.stop.is_set() or self._late()):
                self._step(min(goal - self.job.iteration, self.chunk))
            self._look()
        return reason

    def _late(self) -> bool:
        return self.limits.seconds is not None and self.seconds >= self.limits.seconds

    def _step(self, iterations: int) -> None:
        begin = time.monotonic()
        left = inf if self.limits.seconds is None else self.limits.seconds - self.seconds
        try:
            self.breaking = self.job.breaks
            self.job.step(iterations, begin + min(left, 5 * CHUNK_SECONDS))
        except KeyboardInterrupt:
            if not self.job.breaks:
                raise
            self.job.undo()
            self.stop.set()
        finally:
            self.breaking = False
        spent = time.monotonic() - begin
        self.seconds += spent
        if spent < CHUNK_SECONDS / 2:
            self.chunk *= 2
        elif spent > CHUNK_SECONDS * 2:
            self.chunk = max(1, self.chunk // 2)
        if not self.stop.is_set():  # what this hook would keep, the final hook keeps
            self._tell(self.watcher.advance, self.job, self.seconds)

    def _look(self) -> None:
        if self.last is not None and self._dear():
            return
        if self.last is None or self.last.iteration != self.job.iteration:
            began = time.monotonic()
            self.last = self.job.point(self.seconds)
            self.looking += time.monotonic() - began
        if self.last is not None and self.last is not self.reported:
            self.reported = self.last
            self._tell(self.watcher.point, self.last)

    def _dear(self) -> bool:
        """Return whether measuring took longer than the work under a time limit; then the work goes on unmeasured."""
        return self.limits.seconds is not None and self.looking > max(self.seconds, CHUNK_SECONDS)

    def _tell(self, hook: Callable[..., object], *what: object) -> None:
        """Call a hook; one that raises ``KeyboardInterrupt`` stops the work as Ctrl-C does."""
        try:
            hook(*what)
        except KeyboardInterrupt:
            self.stop.set()


def next_check(iteration: int) -> int:
    """Return the first iteration after ``iteration`` that is measured; the same for a resumed run."""
    goal = 0
    while goal <= iteration:
        goal = max(goal + 1, ceil(goal * CHECK_GROWTH))
    return goal


@contextmanager
def interrupts(breaking: Callable[[], bool] = lambda: False) -> Iterator[threading.Event]:
    """Let Ctrl-C set an event, so that it cannot fall between an iteration and its count; a second one raises.

    The first one, too, raises ``KeyboardInterrupt`` while ``breaking()`` is true.
    """
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return
    previous = signal.getsignal(signal.SIGINT)

    def note(*_: object) -> None:
        again = event.is_set()
        event.set()
        if again or breaking():
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, note)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, previous)
