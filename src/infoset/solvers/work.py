"""Work that lasts: stepped, stopped, saved and gone on with; and the only loop that looks at limits, clocks and Ctrl-C.

A solver, a sampler, a series of trainings, an evaluation, a network's training: each is a ``Work``.  ``advance`` steps
it between the iterations at which it is looked at, and ends at a limit, at Ctrl-C, or where nothing is left to do.
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
from infoset.processes import LEFT_BEHIND

if TYPE_CHECKING:
    from infoset.policies.saved import SavedPolicy
    from infoset.solvers.metrics import Evaluation

T = TypeVar("T")

CHUNK_SECONDS = 0.1
CHECK_GROWTH = 1.1


@dataclass(frozen=True)
class Point:
    """One point of the convergence curve, in units of payoffs; what a method does not know there is ``None``.

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


class Work(ABC):
    """Something to step.  ``total`` is after how many iterations nothing is left to do; ``None``: there is no end."""

    iteration = 0
    total: int | None = None
    finished_as = "exact"
    """What ``stopped`` says once all is done."""
    nothing_to_gain: float | None = None
    """The exploitability, in units of payoffs, at or below which more work improves nothing; ``None`` where the method
    has more to find than a profile from which nobody gains."""
    breaks = False
    """Whether Ctrl-C breaks off an iteration, because they are long."""

    @property
    def over(self) -> bool:
        """Whether nothing is left to do."""
        return self.total is not None and self.iteration >= self.total

    @abstractmethod
    def step(self, iterations: int, until: float = inf) -> None:
        """So many iterations more, fewer where the moment ``until`` (of ``time.monotonic``) ends them."""

    @abstractmethod
    def save(self) -> dict[str, Any]:
        """Copies of the arrays from which ``restore`` goes on bit for bit, with ``iteration`` among them."""

    @abstractmethod
    def restore(self, saved: dict[str, Any]) -> None:
        """Go on from ``save``.  Raises ``CheckpointError`` where the arrays do not fit."""

    def policy(self) -> SavedPolicy | None:
        """The best answer so far; ``None`` where there is none yet."""
        return None

    def point(self, seconds: float) -> Point | None:
        """How good that is, as far as it is soon found out; ``None`` where there is nothing to say yet."""
        return Point(self.iteration, seconds)

    def undo(self) -> None:
        """Where it ``breaks``: back to the end of the last iteration, after Ctrl-C in the midst of one."""
        raise NotImplementedError

    def evaluation(self) -> Evaluation | None:
        """Exact figures of the policy, where they are at hand."""
        return None

    def bound(self) -> tuple[float, str] | None:
        """What no policy earns more than, and what proves it, for players who share a payoff."""
        return None

    def notes(self) -> dict[str, Any]:
        """What else there is to report, by name."""
        return {}

    def next_check(self) -> int:
        """The next iteration at which it is looked at; the same for a run that was cut and resumed."""
        return next_check(self.iteration)

    @property
    def about(self) -> str:
        """In a few words, what progress may add."""
        return ""


class Run(Work):
    """One of several runs; it has an end, ``total``."""

    total: int

    @abstractmethod
    def result(self) -> dict[str, Any]:
        """What it came to so far, as arrays by name; ``value`` says what that is worth."""

    @abstractmethod
    def kept(self) -> dict[str, Any]:
        """All that changes, by name."""

    def save(self) -> dict[str, Any]:
        return {**{name: array.copy() for name, array in self.kept().items()}, "iteration": np.array(self.iteration)}

    def restore(self, saved: dict[str, Any]) -> None:
        fit(self.kept(), saved)
        self.iteration = int(saved["iteration"])


class Runs(Work):
    """Runs made by their numbers, one after the other.

    ``results`` holds what those came to that are over; the one at hand counts, too, for the best.
    """

    finished_as = "iterations"
    dealt: RunsElsewhere | None = None
    """Who makes them, where that is not done here."""

    def __init__(self, make: Callable[[int], Run], runs: int) -> None:
        self.make, self.runs = make, runs
        self.number, self.current = 0, make(0)
        self.each = self.current.total
        self.total: int = runs * self.each
        self.results: list[dict[str, Any]] = []

    @property
    def iteration(self) -> int:  # type: ignore[override]
        """Of all runs together."""
        return self.number * self.each + (self.current.iteration if self.number < self.runs else 0)

    @property
    def trials(self) -> int:
        """So many runs come first, since those behind them depend on what they came to."""
        return 0

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
        """What all runs came to, the one at hand included where it has begun."""
        begun = self.number < self.runs and self.current.iteration > 0
        return [*self.results, self.current.result()] if begun else self.results

    @property
    def measured(self) -> list[dict[str, Any]]:
        """What those runs came to that are over and count for statistics."""
        return self.results

    @property
    def best(self) -> dict[str, Any] | None:
        """Of these the most valuable, the first of several."""
        return max(self.known, key=lambda result: float(result["value"]), default=None)

    def point(self, seconds: float) -> Point:
        """``values`` is what the best policy so far earns."""
        best = self.best
        return Point(self.iteration, seconds, values=None if best is None else (float(best["value"]),))

    def teller(self, progress: Callable[[int, float], object] | None) -> Callable[[Work, float], object]:
        """Tells ``progress`` how many runs are over, and the best value so far, whenever one more is."""
        told = [0]

        def tell(work: Work, seconds: float) -> None:
            if progress is not None and self.number > told[0]:
                told[0] = self.number
                progress(self.number, max(float(result["value"]) for result in self.results))

        return tell

    def next_check(self) -> int:
        """A hundred times in all."""
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
                raise DamageError(f"it holds {number} runs")
            self.number, self.results = number, results
            self.current = self.make(min(number, self.runs - 1))
            if number < self.runs:
                self.current.restore(part_of(saved, "current."))
        except (KeyError, ValueError, TypeError, IndexError) as error:
            raise CheckpointError(f"the checkpoint does not fit: {describe_damage(error)}") from None


class RunsElsewhere:
    """Deals runs out, so many at a time, and gives back what they came to, in their order."""

    def __init__(self, deal: Callable[[int, list[dict[str, Any]]], Future[dict[str, Any]]], width: int) -> None:
        """``deal``: begins a run by its number, given what the trials came to."""
        self.deal, self.width = deal, width
        self.begun: dict[int, Future[dict[str, Any]]] = {}

    def result(self, runs: Runs, until: float) -> dict[str, Any] | None:
        """Of the next run; ``None`` where that is not over by then."""
        trials = runs.results[: runs.trials]
        known = runs.runs if runs.number >= runs.trials else runs.trials
        for number in range(runs.number, min(runs.number + self.width, known)):
            if number not in self.begun:
                self.begun[number] = self.deal(number, trials)
        left = None if until == inf else max(until - time.monotonic(), 0.0)
        if not wait([self.begun[runs.number]], left).done:
            return None
        return self.begun.pop(runs.number).result()


def part_of(saved: dict[str, Any], prefix: str) -> dict[str, Any]:
    """The arrays whose names begin so, by the rest of their names."""
    return {name[len(prefix) :]: array for name, array in saved.items() if name.startswith(prefix)}


def fit(state: dict[str, Any], saved: dict[str, Any]) -> None:
    """Write the arrays saved by name into those of ``state``.

    Raises ``CheckpointError`` where one is missing or of another shape; then nothing changes.
    """
    for name, array in state.items():
        given = saved.get(name)
        if given is None or given.shape != array.shape or given.dtype != array.dtype:
            raise CheckpointError(f"the checkpoint does not fit: {name} is missing or of another shape")
    for name, array in state.items():
        array[...] = saved[name]


class Background(Generic[T]):
    """One call that lasts, in a thread: it cannot be broken off, but it can be left behind."""

    def __init__(self, call: Callable[[], T]) -> None:
        self.outcome: T | BaseException | None = None

        def run() -> None:
            try:
                self.outcome = call()
            except BaseException as error:  # is raised where it is waited for
                self.outcome = error

        self.thread = threading.Thread(target=run, name=LEFT_BEHIND, daemon=True)
        self.thread.start()

    def wait(self, until: float = inf) -> bool:
        """Until that moment at most; whether it is over.  Raises what the call raised."""
        self.thread.join(None if until == inf else max(until - time.monotonic(), 0.0))
        if self.thread.is_alive():
            return False
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return True

    @property
    def result(self) -> T:
        """What the call gave, once it is over."""
        return cast("T", self.outcome)


class OneCall(Work, Generic[T]):
    """What one call finds, which lasts and can be left behind; there is nothing between its beginning and its end."""

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
        """Nothing but that it has begun."""
        return {"iteration": np.array(0)}

    def restore(self, saved: dict[str, Any]) -> None:
        """It begins again."""


@dataclass(frozen=True)
class Limits:
    """When to stop: after so many iterations, at this exploitability, after so many seconds of work."""

    iterations: int | None = None
    target: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.iterations is not None:
            check_range("iterations", self.iterations, 0, MAX_COUNT)
        for name, value in asdict(self).items():
            if value is not None and not (is_number(value) and 0 <= value < inf):
                raise ParameterError(f"{name}={shorten(str(value))} is out of range; allowed: numbers from 0 up")

    def reached(self, work: Work, seconds: float, last: Point | None) -> str:
        """Which of them, or "".

        Where time or a target is the limit, and not the number of iterations alone, the work also ends once nobody
        can gain more than rounding errors: "exact".
        """
        found = None if self.target is None or last is None else last.exploitability
        if self.target is not None and found is not None and found <= self.target:
            return "target"
        if (self.seconds, self.target) != (None, None) and _is_settled(work, last):
            return "exact"
        if work.over:
            return work.finished_as
        if self.iterations is not None and work.iteration >= self.iterations:
            return "iterations"
        return "seconds" if self.seconds is not None and seconds >= self.seconds else ""


def _is_settled(work: Work, last: Point | None) -> bool:
    """Whether the last look at the work found nothing left to gain."""
    if work.nothing_to_gain is None or last is None or last.exploitability is None:
        return False
    return last.exploitability <= work.nothing_to_gain


@dataclass
class Watcher:
    """What a caller may want to hear of work at hand; each hook does nothing unless it is given.

    ``building`` is told positions or histories while the game is built, ``begin`` the work and what is known of its
    end, ``point`` every look at it, ``advance`` and ``done`` the work and the seconds that it has taken,
    ``solved`` the solution, before it is written; of ``train`` what came of it, also where it could not be written.

    >>> seen = []
    >>> watcher = infoset.Watcher(point=lambda point: seen.append(point.iteration))
    >>> solution = infoset.solve("kuhn_poker", "cfr", iterations=3, watcher=watcher)
    >>> seen
    [0, 1, 2, 3]
    """

    building: Callable[[int], object] = lambda count: None
    begin: Callable[[Work, Limits], object] = lambda work, limits: None
    point: Callable[[Any], object] = lambda point: None
    advance: Callable[[Work, float], object] = lambda work, seconds: None
    done: Callable[[Work, float], object] = lambda work, seconds: None
    solved: Callable[[Any], object] = lambda solution: None

    def __post_init__(self) -> None:
        """Raises ``ParameterError`` for a hook that is no function."""
        for name, hook in vars(self).items():
            if not callable(hook):
                raise ParameterError(f"{name}={shorten(repr(hook))} is no function; allowed: a hook to be called")


def advance(work: Work, limits: Limits, watcher: Watcher, spent: float = 0.0) -> tuple[str, float]:
    """Step ``work`` until a limit, its end or Ctrl-C; returns which, and the seconds that it took, ``spent`` included.

    Looking at it does not count; where there is a limit of time it is not looked at while looks took longer than work.
    """
    run = _Run(work, limits, watcher, spent)
    with interrupts(lambda: run.breaking) as run.stop:
        stopped = run.until_done()
    watcher.done(work, run.seconds)
    return stopped, run.seconds


class _Run:
    stop: threading.Event
    told: Point | None = None
    looking = 0.0
    """Seconds that all looks took."""

    def __init__(self, work: Work, limits: Limits, watcher: Watcher, seconds: float) -> None:
        self.work, self.limits, self.watcher, self.seconds = work, limits, watcher, seconds
        self.last: Point | None = None
        self.chunk, self.breaking = 1, False

    def until_done(self) -> str:
        self._look()
        while not (reason := self.limits.reached(self.work, self.seconds, self.last)):
            if self.stop.is_set():
                return "interrupted"
            goal = self._goal()
            while self.work.iteration < goal and not (self.work.over or self.stop.is_set() or self._late()):
                self._step(min(goal - self.work.iteration, self.chunk))
            self._look()
        return reason

    def _goal(self) -> int:
        ends = (self.work.next_check(), self.limits.iterations, self.work.total)
        return min(end for end in ends if end is not None)

    def _late(self) -> bool:
        return self.limits.seconds is not None and self.seconds >= self.limits.seconds

    def _step(self, iterations: int) -> None:
        begin = time.monotonic()
        left = inf if self.limits.seconds is None else self.limits.seconds - self.seconds
        try:
            self.breaking = self.work.breaks
            self.work.step(iterations, begin + min(left, 5 * CHUNK_SECONDS))
        except KeyboardInterrupt:
            if not self.work.breaks:
                raise
            self.work.undo()
            self.stop.set()
        finally:
            self.breaking = False
        spent = time.monotonic() - begin
        self.seconds += spent
        if spent < CHUNK_SECONDS / 2:
            self.chunk *= 2
        elif spent > CHUNK_SECONDS * 2:
            self.chunk = max(1, self.chunk // 2)
        if not self.stop.is_set():  # what is kept on the way is kept at the end as well
            self._tell(self.watcher.advance, self.work, self.seconds)

    def _look(self) -> None:
        if self.last is not None and self._dear():
            return
        if self.last is None or self.last.iteration != self.work.iteration:
            began = time.monotonic()
            self.last = self.work.point(self.seconds)
            self.looking += time.monotonic() - began
        if self.last is not None and self.last is not self.told:
            self.told = self.last
            self._tell(self.watcher.point, self.last)

    def _dear(self) -> bool:
        """Whether looks have taken longer than the work, where that has a limit of time: then it goes on without."""
        return self.limits.seconds is not None and self.looking > max(self.seconds, CHUNK_SECONDS)

    def _tell(self, hook: Callable[..., object], *what: object) -> None:
        """A hook that raises ``KeyboardInterrupt`` stops the work as Ctrl-C does."""
        try:
            hook(*what)
        except KeyboardInterrupt:
            self.stop.set()


def next_check(iteration: int) -> int:
    """The first iteration after ``iteration`` at which a run is looked at; the same for a resumed run."""
    goal = 0
    while goal <= iteration:
        goal = max(goal + 1, ceil(goal * CHECK_GROWTH))
    return goal


@contextmanager
def interrupts(breaking: Callable[[], bool] = lambda: False) -> Iterator[threading.Event]:
    """Ctrl-C sets the event instead of breaking off between an iteration and its count; a second one breaks.

    So does the first one while it is ``breaking``.
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
