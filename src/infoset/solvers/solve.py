"""``solve``: a game and a method's name in; an evaluated strategy out."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from math import ceil, inf
from typing import Any, Protocol

from infoset.base import FloatArray, Game
from infoset.errors import ParameterError
from infoset.names import MAX_COUNT, build, check_choice, check_range, parse_name
from infoset.policies.tabular import TabularPolicy
from infoset.solvers.metrics import evaluate
from infoset.solvers.tabular import cfr, linear_program, replicator
from infoset.solvers.tabular.linear_program import LinearProgramSolver
from infoset.solvers.tabular.solver import Solver
from infoset.tree.plans import check_plan, random_interior
from infoset.tree.sequence_form import SequenceForm

CHECK_GROWTH = 1.1
CHUNK_SECONDS = 0.1
DEFAULT_ITERATIONS = 1000
STARTS = ("uniform", "random")


class AnyMethod(Protocol):
    """What solves: anything with a name that makes a ``Solver`` for a game and a start."""

    @property
    def name(self) -> str: ...

    def solver(self, form: SequenceForm, start: FloatArray | None = None) -> Solver: ...


METHODS: dict[str, Callable[..., AnyMethod]] = {**cfr.METHODS, **replicator.METHODS, **linear_program.METHODS}
"""Every method by name."""


@dataclass(frozen=True)
class Point:
    """One point of the convergence curve; ``seconds`` is the solver's own time.

    ``seconds`` is the solver's own time so far.

    >>> point = infoset.solve(infoset.load("kuhn_poker"), iterations=10).curve[0]
    >>> point.iteration, round(point.nash_conv, 6)
    (0, 0.916667)
    """

    iteration: int
    seconds: float
    nash_conv: float
    exploitability: float
    epsilon: float
    current_exploitability: float


@dataclass(frozen=True)
class Solution:
    """An evaluated average profile and how it came about.

    ``stopped``: ``target``, ``iterations``, ``seconds``, ``interrupted`` or ``exact``.
    ``seconds``: the solver's own time, without building, compiling and evaluating.

    ``nash_conv``, ``exploitability``, ``epsilon`` and ``values`` (n,) are those of ``Evaluation``; ``curve`` holds one
    ``Point`` for each iteration at which the run was evaluated.

    >>> solution = infoset.solve(infoset.load("kuhn_poker"), "lp")
    >>> solution.stopped, round(solution.values[0], 6)
    ('exact', -0.055556)
    """

    game: str
    method: str
    iterations: int
    seconds: float
    stopped: str
    start: str
    seed: int
    nash_conv: float
    exploitability: float
    epsilon: float
    values: tuple[float, ...]
    policy: TabularPolicy = field(repr=False)
    curve: tuple[Point, ...] = field(repr=False)


@dataclass(frozen=True)
class Limits:
    """When to stop: after so many iterations, at this exploitability, after so many seconds of solving."""

    iterations: int | None = None
    target: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.iterations is not None:
            check_range("iterations", self.iterations, 0, MAX_COUNT)
        for name, value in asdict(self).items():
            if value is not None and not 0 <= value < inf:
                raise ParameterError(f"{name}={value} is out of range; allowed: from 0 up")


@dataclass
class Watcher:
    """What a caller may want to hear of a running solver; each hook does nothing unless it is given.

    ``point`` is told every evaluation, ``advance`` and ``done`` the solver and the seconds that it has spent.

    >>> seen = []
    >>> watcher = infoset.Watcher(point=lambda point: seen.append(point.iteration))
    >>> solution = infoset.solve(infoset.load("kuhn_poker"), iterations=3, watcher=watcher)
    >>> seen
    [0, 1, 2, 3]
    """

    point: Callable[[Point], object] = lambda point: None
    advance: Callable[[Solver, float], object] = lambda solver, seconds: None
    done: Callable[[Solver, float], object] = lambda solver, seconds: None


def solve(
    game: Game | SequenceForm,
    method: str | AnyMethod = "pcfr+",
    *,
    iterations: int | None = None,
    target: float | None = None,
    seconds: float | None = None,
    start: str = "uniform",
    seed: int = 0,
    max_histories: int | None = None,
    watcher: Watcher | None = None,
    resume: Mapping[str, Any] | None = None,
) -> Solution:
    """Solve ``game`` and say how good the answer is.

    ``method`` is a name such as ``"dcfr(alpha=1.5,beta=0,gamma=2)"`` or a method object.  Stops at the first
    of ``iterations``, ``target`` (exploitability of the average profile) and ``seconds``; with none of them
    after 1000 iterations.  ``start="random"`` draws the first profile with ``seed``.  ``resume`` is what a
    solver saved (``Solver.save``, with the ``seconds`` spent if they shall count); the run goes on bit for bit.

    Ctrl-C stops it with the best answer so far.  Raises ``UnsupportedGameError``, ``BudgetError``,
    ``GameRuleError``, ``ParameterError``, ``UnknownNameError`` or ``CheckpointError``.

    >>> solution = infoset.solve(infoset.load("kuhn_poker"), "pcfr+", target=1e-6)
    >>> solution.exploitability <= 1e-6
    True
    >>> round(solution.values[0], 4)                        # -1/18, Kuhn 1950
    -0.0556
    """
    limits = Limits(iterations, target, seconds)
    check_start(start, seed)
    chosen = parse_method(method) if isinstance(method, str) else method
    form = game if isinstance(game, SequenceForm) else SequenceForm.of(game, max_histories)
    solver = chosen.solver(form, random_interior(form, seed) if start == "random" else None)
    solver.step(0)
    if resume is not None:
        solver.restore(dict(resume))
    watcher = watcher or Watcher()
    run = _Run(solver, limits, watcher, float(resume.get("seconds", 0.0)) if resume else 0.0)
    stopped = run.until_done()
    watcher.done(solver, run.seconds)
    final = evaluate(form, solver.average())
    made_by = {"method": chosen.name, "iterations": solver.iteration, "start": start, "seed": seed}
    return Solution(
        game=form.name,
        method=chosen.name,
        iterations=solver.iteration,
        seconds=run.seconds,
        stopped=stopped,
        start=start,
        seed=seed,
        nash_conv=final.nash_conv,
        exploitability=final.exploitability,
        epsilon=final.epsilon,
        values=final.values,
        policy=TabularPolicy.from_plan(form, solver.average(), made_by),
        curve=tuple(run.curve),
    )


def check_start(start: str, seed: int) -> None:
    """Raise ``ParameterError`` for what no run can begin with."""
    check_choice("start", start, STARTS)
    check_range("seed", seed, 0, 2**63)


def parse_method(text: str) -> AnyMethod:
    """A method by name and parameters.  Raises ``UnknownNameError`` or ``ParameterError``."""
    return build("method", parse_name(text), METHODS)


class _Run:
    """Steps a solver between the iterations at which it is evaluated."""

    def __init__(self, solver: Solver, limits: Limits, watcher: Watcher, seconds: float) -> None:
        self.solver, self.watcher, self.seconds = solver, watcher, seconds
        self.limits = limits if limits != Limits() else Limits(DEFAULT_ITERATIONS)
        self.curve: list[Point] = []
        self.chunk = 1

    def until_done(self) -> str:
        solver = self.solver
        if isinstance(self.solver, LinearProgramSolver):
            self._step(1)
            self._look()
            return "exact"
        with interrupts() as interrupted:
            self._look()
            while not (reason := self._reason(interrupted.is_set())):
                goal = next_check(solver.iteration)
                if self.limits.iterations is not None:
                    goal = min(goal, self.limits.iterations)
                while solver.iteration < goal and not interrupted.is_set() and not self._out_of_time():
                    self._step(min(goal - solver.iteration, self.chunk))
                self._look()
        return reason

    def _step(self, iterations: int) -> None:
        begin = time.perf_counter()
        self.solver.step(iterations)
        spent = time.perf_counter() - begin
        self.seconds += spent
        if spent < CHUNK_SECONDS / 2:
            self.chunk *= 2
        elif spent > CHUNK_SECONDS * 2:
            self.chunk = max(1, self.chunk // 2)
        self.watcher.advance(self.solver, self.seconds)

    def _look(self) -> None:
        solver = self.solver
        if self.curve and self.curve[-1].iteration == solver.iteration:
            return
        check_plan(solver.form, solver.current(), solver.name)
        average = evaluate(solver.form, solver.average())
        current = evaluate(solver.form, solver.current())
        point = Point(
            solver.iteration, self.seconds, average.nash_conv, average.exploitability, average.epsilon,
            current.exploitability,
        )  # fmt: skip
        self.curve.append(point)
        self.watcher.point(point)

    def _out_of_time(self) -> bool:
        return self.limits.seconds is not None and self.seconds >= self.limits.seconds

    def _reason(self, interrupted: bool) -> str:
        if self.limits.target is not None and self.curve and self.curve[-1].exploitability <= self.limits.target:
            return "target"
        if self.limits.iterations is not None and self.solver.iteration >= self.limits.iterations:
            return "iterations"
        if self._out_of_time():
            return "seconds"
        return "interrupted" if interrupted else ""


def next_check(iteration: int) -> int:
    """The first iteration after ``iteration`` at which a run is evaluated; the same for a resumed run."""
    goal = 0
    while goal <= iteration:
        goal = max(goal + 1, ceil(goal * CHECK_GROWTH))
    return goal


@contextmanager
def interrupts() -> Iterator[threading.Event]:
    """Ctrl-C sets the event instead of breaking off between an iteration and its count; a second one breaks."""
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return
    previous = signal.getsignal(signal.SIGINT)

    def note(*_: object) -> None:
        if event.is_set():
            raise KeyboardInterrupt
        event.set()

    signal.signal(signal.SIGINT, note)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, previous)
