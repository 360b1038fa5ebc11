"""The loop that all iterative solvers share, and their methods: a local update with its schedules.

One iteration computes the gradient over the terminal histories and the counterfactual values up the sequence tree, then
applies a local update at every information set on the way down, where it also updates the realisation weights and
their average.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from math import inf
from typing import Any, ClassVar, NamedTuple

import numba
import numpy as np

from infoset.base import FloatArray
from infoset.compiled import Compiled
from infoset.errors import InfosetError, ParameterError, UnsupportedGameError, one_line
from infoset.jit import checked_kernel, inline_kernel, kernel, with_piece
from infoset.names import check_range
from infoset.solvers.config import SolveConfig
from infoset.solvers.job import Job
from infoset.solvers.tabular import updates
from infoset.solvers.tabular.lock import locked_hands
from infoset.solvers.tabular.solver import Solver, TabularMethod
from infoset.solvers.tabular.updates import Update
from infoset.solvers.tabular.vector import VectorSolver
from infoset.tree.kernels import expect_up, gradient
from infoset.tree.plans import behaviour, realisation, uniform
from infoset.tree.sequence_form import FormArrays, SequenceForm
from infoset.tree.vector_form import VectorForm

Schedule = Callable[[FloatArray], FloatArray]
"""A function from iteration numbers (k,), counted from 1, to parameter rows (k, m); column 0 discounts the average."""
Weigh = Callable[[int, int, float, FloatArray, FloatArray, FloatArray], float]
"""A set's weight in the average, 0 or more, as a function of ``(first, last, value, values, memory, parameters)``."""
UPDATE_ARGUMENTS = ("root", "parent", "first", "last", "value", "values", "strategy", "memory", "parameters")
SCALE_FREE = (updates.regret_matching, updates.predictive)
"""Updates that yield the same behaviour for payoffs in any units."""
LOW_RANGE, HIGH_RANGE = 1e-3, 1e6
"""Payoff ranges between which payoffs are used unscaled."""
WEIGH_ARGUMENTS = ("first", "last", "value", "values", "memory", "parameters")


class LoopState(NamedTuple):
    """The mutable state of a solver, indexed by sequence (S) or information set (I)."""

    strategy: FloatArray  # (S,) current behaviour
    plan: FloatArray  # (S,) current realisation weights
    average: FloatArray  # (S,) discounted sum of the realisation weights so far
    values: FloatArray  # (S,) scratch: counterfactual values of moves
    infoset_values: FloatArray  # (I,) scratch: counterfactual values of information sets
    memory: FloatArray  # (m, S) what the local updates keep


def _learn(
    a: FormArrays, player: int, infoset_values: FloatArray, strategy: FloatArray, plan: FloatArray,
    average: FloatArray, values: FloatArray, memory: FloatArray, parameters: FloatArray, fixed: FloatArray,
) -> None:  # fmt: skip
    """Update a player's strategy, add its old realisation weights, weighted by set, to the average and replace them."""
    firsts, sizes, parents = a.first, a.size, a.parent
    discount, root = parameters[0], a.sequences[player]
    average[root] = average[root] * discount + 1.0
    for k in range(a.infosets[player], a.infosets[player + 1]):
        first, parent = firsts[k], parents[k]
        last = first + sizes[k]
        update(root, parent, first, last, infoset_values[k], values, strategy, memory, parameters)
        if len(fixed) and fixed[first] >= 0.0:
            strategy[first:last] = fixed[first:last]
        reach, weight = plan[parent], weigh(first, last, infoset_values[k], values, memory, parameters)
        for q in range(first, last):
            average[q] = average[q] * discount + weight * plan[q]
            plan[q] = reach * strategy[q]


def _iterate(
    a: FormArrays, s: LoopState, schedule: FloatArray, alternating: bool, promised: FloatArray, fixed: FloatArray,
    first: int, last: int, given: bool,
) -> None:  # fmt: skip
    """Run one iteration for each row of ``schedule``, and of each iteration the steps from ``first`` to ``last``.

    A player has two steps: the first computes counterfactual values, the second updates from them.  ``given``: the
    gradient is already in the scratch array of those values.

    Alternating: later players see a player's update in the same iteration.  The average takes the realisation weights
    with which the iteration began.  ``promised`` (S,), or (0,): counterfactual values of moves besides those from
    terminal histories.  ``fixed`` (S,), or (0,): fixed behaviour where it is not negative.
    """
    n = a.rows.shape[0]
    for t in range(schedule.shape[0]):
        parameters = schedule[t]
        for step in range(first, last):
            player, learns = (step // 2, step % 2) if alternating else (step % n, step // n)
            if learns:
                learn(a, player, s.infoset_values, s.strategy, s.plan, s.average, s.values, s.memory, parameters, fixed)
            else:
                if not given:
                    gradient(a, player, s.plan, s.values)
                if len(promised):
                    for q in range(a.sequences[player], a.sequences[player + 1]):
                        s.values[q] += promised[q]
                expect_up(a, player, s.strategy, s.values, s.infoset_values)


def update(*_: Any) -> None:
    """Stand in for the local update in ``_learn``."""


def evenly(
    first: int, last: int, value: float, values: FloatArray, memory: FloatArray, parameters: FloatArray
) -> float:  # fmt: skip
    """Return 1: every information set has the same weight in the average."""
    return 1.0


weigh = inline_kernel(evenly)
"""The weight of a set in ``_learn``, for methods that define no other."""
learn = _learn
"""A placeholder for the compiled ``_learn`` in ``_iterate``."""


def _is_own(piece: Callable[..., Any]) -> bool:
    """Return whether a piece was written by a user."""
    return piece.__module__ not in (__name__, updates.__name__)


def compiled_loop(local_update: Update, weighing: Weigh = evenly) -> Any:
    """Return the loop compiled around a local update; built-in ones are cached on disk, a user's once per process."""
    return _compiled(local_update, weighing)  # one cache entry, whether ``weighing`` was passed or not


@cache
def _compiled(local_update: Update, weighing: Weigh) -> Any:
    own = _is_own(local_update) or _is_own(weighing)
    compiled = checked_kernel if own else kernel
    learn = with_piece(_learn, "update", inline_kernel(local_update))
    if weighing is not evenly:
        learn = with_piece(learn, "weigh", inline_kernel(weighing))
    return compiled(with_piece(_iterate, "learn", inline_kernel(learn)))


@dataclass(frozen=True)
class Method(TabularMethod):
    """An iterative solver as a value: a local update, its schedule and how players take turns.

    ``update``: a plain function as described in ``updates.py``, built in or the user's own.
    ``memory``: rows kept for each sequence.  ``from_logits``: memory row 0 holds log weights, which start at
    the logarithm of the start profile.  ``weigh``: how much an iteration's behaviour at a set counts in the average
    there, asked after the update; a plain function ``weigh(first, last, value, values, memory, parameters)``.

    >>> def follow(root, parent, first, last, value, values, strategy, memory, parameters):
    ...     for q in range(first, last):
    ...         strategy[q] = 1 / (last - first)
    >>> method = infoset.Method("uniform", follow, lambda t: t[:, None] ** 0)
    >>> round(infoset.solve(infoset.load("kuhn_poker"), method, iterations=3).nash_conv, 6)
    0.916667
    """

    takes: ClassVar[frozenset[str]] = TabularMethod.takes | {"lock", "precision"}

    def __post_init__(self) -> None:
        """Raise ``ParameterError`` for what is not a name, no function or no count."""
        if not isinstance(self.name, str) or not self.name:
            raise ParameterError(f"name={one_line(repr(self.name))} is not a name of a method; allowed: a text")
        for word in ("update", "schedule", "weigh"):
            piece = getattr(self, word)
            if not callable(piece) or (word != "schedule" and not hasattr(piece, "__code__")):
                raise ParameterError(f"{word}={one_line(repr(piece))} is no plain function, as {self.name} needs one")
        for word, wanted in (("update", UPDATE_ARGUMENTS), ("weigh", WEIGH_ARGUMENTS)):
            taken = getattr(self, word).__code__.co_argcount
            if taken != len(wanted):
                raise ParameterError(
                    f"{self.name}: {word} takes {taken} arguments; needed: {len(wanted)}, {', '.join(wanted)}"
                )
        check_range("memory", self.memory, 1, 1000)

    name: str
    update: Update
    schedule: Schedule
    memory: int = 1
    alternating: bool = True
    from_logits: bool = False
    weigh: Weigh = evenly

    def job(self, compiled: Compiled, config: SolveConfig) -> Job:  # type: ignore[override]
        """Return a solver of a game, on its vector form where that is asked for or is the better one."""
        in_vector_form = config.form == "vector" or (
            config.form is None and self.update in SCALE_FREE and compiled.better_in_vector_form
        )
        if not in_vector_form:
            if config.precision is not None:
                raise UnsupportedGameError("precision is an option of the vector form alone; others use double")
            return super().job(compiled, config)
        if self.update not in SCALE_FREE or not self.alternating:
            raise UnsupportedGameError(
                f"{self.name} does not work on the vector form; those that do: cfr, cfr+, linear-cfr, dcfr, hs-dcfr, "
                "pcfr+, pdcfr+, hs-pcfr+"
            )
        solver = VectorSolver(
            compiled.vector, self.name, partial(schedule_rows, self), self.update is updates.predictive,
            config.precision or "single",
        )  # fmt: skip
        if config.start == "random":
            if compiled.vector.folded:
                raise UnsupportedGameError("start=random: isomorphic cards would need equal strategies; use uniform")
            solver.start_at(np.random.default_rng(config.seed or 0).random(compiled.vector.num_rows))
        if config.lock:
            if not isinstance(compiled.vector, VectorForm):
                raise UnsupportedGameError("lock: on the vector form only hold'em can be locked; use form=tree")
            solver.keep_to(*locked_hands(compiled.vector, config.locked))
        return solver

    def solver(self, form: SequenceForm, start: FloatArray | None = None) -> LoopSolver:
        """Return a solver of a game that starts from behaviour ``start`` (S,), uniform by default."""
        return LoopSolver(form, self, start)


@contextmanager
def running_own(name: str, *pieces: Callable[..., Any]) -> Iterator[None]:
    """Turn whatever a user's update raises in this context into a ``ParameterError`` of one line that names it.

    ``name`` is the method's name; ``pieces`` are the functions of which its kernel is made.
    """
    own = [piece for piece in pieces if _is_own(piece)]
    if not own:
        yield
        return
    called = " or ".join(getattr(piece, "__name__", repr(piece)) for piece in own)
    try:
        yield
    except InfosetError:
        raise
    except numba.core.errors.NumbaError as error:
        lines = str(error).splitlines()
        what = next((line for line in lines if "rror" in line and "pipeline" not in line), "".join(lines[:1]))
        raise ParameterError(f"{name}: {called}: the update does not compile: {one_line(what, 200)}") from error
    except Exception as error:
        what = ": ".join(filter(None, (type(error).__name__, one_line(str(error), 200))))
        raise ParameterError(f"{name}: {called}: the update fails: {what}") from error


def schedule_rows(method: Method, first: float, count: int) -> FloatArray:
    """Return the schedule's rows (count, m) from iteration ``first`` on.  Raises ``ParameterError`` otherwise."""
    try:
        rows = np.ascontiguousarray(method.schedule(np.arange(first, first + count)), dtype=np.float64)
    except Exception as error:
        what = ": ".join(filter(None, (type(error).__name__, one_line(str(error), 200))))
        raise ParameterError(f"{method.name}: the schedule fails: {what}") from error
    if rows.ndim != 2 or len(rows) != count or not rows.shape[1]:
        raise ParameterError(
            f"{method.name}: the schedule gives shape {rows.shape} for {count} iteration{'s' * (count != 1)}; needed: "
            f"({count}, m)"
        )
    return rows


def _even_payoffs(form: SequenceForm) -> FormArrays:
    """Return the form's arrays, with payoffs scaled to a range near 1 for players whose range is very small or large.

    The factors are powers of two, so that nothing is rounded.  The updates yield the same, except for their threshold
    of rounding noise, which suits payoffs of a few units.
    """
    a, ranges = form.arrays, form.ranges
    odd = (ranges > 0) & ((ranges < LOW_RANGE) | (ranges > HIGH_RANGE))
    if a.factored or not odd.any():
        return a
    units = np.where(odd, np.exp2(np.floor(np.log2(np.where(odd, ranges, 1.0)))), 1.0)
    return a._replace(payoffs=a.payoffs / units[:, None])


class LoopSolver(Solver):
    """The loop at work on a game."""

    def __init__(self, form: SequenceForm, method: Method, start: FloatArray | None = None) -> None:
        """Take ``start``, the initial behaviour (S,), uniform by default; interior for methods on log weights.

        ``promised`` may be set to counterfactual values (S,) that moves have besides the payoffs of the game, and
        ``fixed`` as ``keep_to`` does.
        """
        size = form.num_sequences
        strategy = uniform(form) if start is None else np.array(start, dtype=np.float64)
        memory = np.zeros((method.memory, size))
        if method.from_logits:
            if not (strategy > 0).all():
                raise ParameterError(
                    f"{method.name} must start from a profile in which every action has a positive probability"
                )
            memory[0] = np.log(strategy)
        self.state = LoopState(
            strategy, realisation(form, strategy), np.zeros(size), np.zeros(size), np.zeros(form.num_infosets), memory
        )
        super().__init__(form, method.name, self.state._asdict())
        self.method = method
        self.promised = np.zeros(0)
        with running_own(method.name, method.update, method.weigh):
            self._iterate = compiled_loop(method.update, method.weigh)
        schedule_rows(method, 1.0, 1)
        self._even = _even_payoffs(form) if method.update in SCALE_FREE else form.arrays
        self._run(0)

    def keep_to(self, fixed: FloatArray) -> None:
        """Fix behaviour (S,), negative at sets that are free; to be called before the first iteration."""
        self.fixed = fixed
        strategy = self.state.strategy
        strategy[fixed >= 0] = fixed[fixed >= 0]
        self.state.plan[:] = realisation(self.form, strategy)

    def average(self) -> FloatArray:
        if self.method.weigh is evenly or not self.iteration:
            return super().average()
        weights = self.state.average
        if np.count_nonzero(weights) <= self.form.num_players:  # only empty sequences have a weight yet
            return self.current()
        return realisation(self.form, behaviour(self.form, weights))  # weighted by set, the sums are no plan

    def step(self, iterations: int = 1, until: float = inf) -> None:
        self._run(iterations)
        self.iteration += iterations

    def _run(self, iterations: int) -> None:
        schedule, steps = schedule_rows(self.method, self.iteration + 1.0, iterations), 2 * self.form.num_players
        if self.form.parallel is None:
            self._steps(schedule, 0, steps, given=False)
            return
        for t in range(iterations):
            for step in range(steps):
                player = step // 2 if self.method.alternating else step
                if step % 2 == 0 if self.method.alternating else step < self.form.num_players:
                    self.form.parallel.gradient(player, self.state.plan, self.state.values)
                self._steps(schedule[t : t + 1], step, step + 1, given=True)

    def _steps(self, schedule: FloatArray, first: int, last: int, given: bool) -> None:
        turns, method = self.method.alternating, self.method
        arrays = self.form.arrays if len(self.promised) else self._even  # ``promised`` is in units of payoffs
        with running_own(method.name, method.update, method.weigh):
            self._iterate(
                arrays, self.state, schedule, turns, self.promised, self.fixed, first, last, given
            )  # fmt: skip
