"""``solve``: from a game and a method to an evaluated policy, optionally kept in a folder that can be resumed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import inf, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from infoset import displays, status
from infoset.arguments import checks_arguments
from infoset.base import Game
from infoset.catalog import load, load_named, name_of
from infoset.clock import Clock
from infoset.compiled import AnyGame, Compiled, check_is_game
from infoset.errors import (
    BudgetError,
    CheckpointError,
    ClockError,
    ImperfectRecallError,
    InfosetError,
    ParameterError,
    shorten,
)
from infoset.evaluation import evaluate
from infoset.executors import LOCAL, Where, check_executor, width
from infoset.executors import executor as open_executor
from infoset.files import POLICY, check_path
from infoset.names import MAX_COUNT
from infoset.node_locking import AnyLock, read_lock
from infoset.policies.loading import SavedPolicy, load_policy
from infoset.runs import NO_FIGURES, RunConfig, RunFolder, RunResult
from infoset.solvers.choose import Auto, Choice, choose
from infoset.solvers.job import DistributedRuns, Job, Limits, MultiStart, Point, Watcher, advance, interrupts
from infoset.solvers.method import AnyMethod, Lock, Options, check_is_method, check_options, parse_method
from infoset.solvers.metrics import Evaluation
from infoset.tree.payoff_scale import payoff_ranges

if TYPE_CHECKING:
    from infoset.solvers.sampling.belief_response import PolicyEvaluation

STOPPED = "stopped before it was evaluated; --resume continues with that"
LEAST_SECONDS = 10.0
"""The seconds that building a game may always take, even where the limit on solving is shorter."""
LEAST_EVALUATING = 60.0
"""The seconds that the exact figures of the policy may always take."""


@dataclass(frozen=True)
class Solution:
    """A policy with its exact figures and a record of how it was found; the same for every method.

    ``values`` (n,), ``nash_conv``, ``exploitability`` and ``epsilon`` are exact figures of ``policy``, in units of
    payoffs, as in ``Evaluation``; ``None`` where they were not computed, which ``why_not`` explains.  For players who
    share a payoff, ``bound`` is an upper bound on the value of every policy, ``gap`` its distance from the value found,
    and ``proof`` the argument that proves it.

    ``stopped``: ``exact`` (nothing is left to do or to gain), ``rounding errors`` (an answer found in one piece from
    which somebody would gain more than a millionth of the range of its payoffs), ``target``, ``iterations``,
    ``seconds``, ``memory`` or ``interrupted``.  ``seconds``: the method's own time, including that before a resumption;
    in addition this call took ``building_seconds`` to read, enumerate and compile the game, and ``evaluating_seconds``
    for the exact figures of the curve and of the policy.  ``curve`` holds one ``Point`` for each measurement of the
    work, ``runs`` the result of each of several runs.  ``reason`` says why ``auto`` chose the method.

    >>> solution = infoset.solve("kuhn_poker", "lp")
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
    nash_conv: float | None
    exploitability: float | None
    epsilon: float | None
    players: tuple[str, ...]
    values: tuple[float, ...] | None
    policy: Any = field(repr=False)
    curve: tuple[Point, ...] = field(repr=False)
    bound: float | None = None
    proof: str = ""
    runs: tuple[float, ...] = field(default=(), repr=False)
    reason: str = ""
    why_not: str = ""
    lock: Lock | None = field(default=None, repr=False)
    """The locked part of the strategies; the figures are then those of the rest."""
    notes: dict[str, Any] = field(default_factory=dict)
    folder: Path | None = None
    payoff_range: float | None = None
    """The largest range of a player's payoffs, where several runs are compared with a bound."""
    building_seconds: float = 0.0
    evaluating_seconds: float = 0.0

    @property
    def gap(self) -> float | None:
        """The distance from the optimum: from ``bound`` where there is one, else the exploitability."""
        if self.bound is not None and self.values is not None:
            return max(self.bound - self.values[0], 0.0)
        return self.exploitability

    @classmethod
    @checks_arguments
    def load(cls, folder: str | Path) -> Solution:
        """Load the solution of the run in ``folder``; for an interrupted run, the solution at its last checkpoint.

        Nothing is recomputed, and the game is not built.  Raises ``CheckpointError`` where the folder holds no
        run, ``PolicyError`` for a broken policy.

        >>> solution = infoset.solve("kuhn_poker", "cfr", iterations=20, out="kept")
        >>> infoset.Solution.load("kept").nash_conv == solution.nash_conv
        True
        """
        return _loaded(check_path("folder", folder))

    def plot(self, axes: Any = None) -> Any:
        """Plot the convergence curve on axes of matplotlib, which are returned (extra ``plot``).

        Raises ``ParameterError`` where there is no curve, as for a linear program, and ``MissingExtraError``.
        """
        return displays.draw("convergence", self.curve, f"{self.game} by {self.method}", axes)

    def _repr_html_(self) -> str:
        return displays.render("solution", self)


@checks_arguments
def solve(
    game: AnyGame | None = None,
    method: str | AnyMethod | None = None,
    *,
    iterations: int | None = None,
    target: float | None = None,
    seconds: float | None = None,
    start: str | None = None,
    runs: int | None = None,
    lock: AnyLock | None = None,
    form: str | None = None,
    teams: str | None = None,
    seed: int | None = None,
    max_histories: int | None = None,
    out: str | Path | None = None,
    resume: bool | Mapping[str, Any] = False,
    executor: Where = LOCAL,
    watcher: Watcher | None = None,
) -> Solution:
    """Solve ``game`` and report how good the answer is.

    ``game``: a name, a game, its tree or its sequence form.  ``method``: a name such as ``"dcfr(alpha=1.5,beta=0)"`` or
    a method object; by default ``"auto"``, which chooses the one that suits the game and says why (``reason``).

    Solving stops at the first of ``iterations``, ``target`` (exploitability) and ``seconds``; where none is given, at
    the default limits of the method.  ``seconds`` limits solving alone: building the game may take as long again (at
    least 10 seconds), and so may the exact figures of the curve and of the policy (at least a minute): see
    ``Solution``.  Where ``target`` or ``seconds`` is given, solving also stops once nobody can gain more than rounding
    errors, 1e-12 of the range of payoffs.

    ``start="random"`` draws the first profile with ``seed``; ``runs`` is a number of independent runs.
    An option that the method does not understand is rejected.  ``max_histories`` bounds the tree.

    ``lock`` solves around strategies that some players keep to, with the methods of the shared loop: ``{"P1":
    "random"}`` (a player, and anything that plays), ``{"K bet": {"bet": 1.0}}`` or ``{("P2", "K bet"): …}`` (an
    information set, and its probabilities).  The figures are then those of the rest: nobody gains by deviating where it
    is locked, and a player who is locked everywhere does not count in the exploitability; ``evaluate`` of the policy
    alone counts everybody.

    ``form`` is the representation that the method works on: ``"tree"``, a list of all histories; ``"factored"``, which
    lists none, of a game that declares its cores (``Factored``), or by the public states of any other whose positions
    can be listed; ``"sampled"``.  By default the tree, where it fits.

    ``teams`` says who plays together, by seats from 1 or by names: ``"1+3,2"``, ``"P1+P3"`` (a player in no team plays
    alone); by default the teams that the game names.

    ``out`` keeps the run in a folder, with a policy that can be read at every checkpoint; ``"runs/*"`` is a fresh one.
    ``resume`` continues the run in ``out``, bit for bit, whose game and method need not be named again; limits that
    are given replace the run's own.  Without a folder, ``resume`` is the state that the work saved (``Job.save``, with
    the ``seconds`` spent if they shall count).

    ``executor`` says where the ``runs`` of a method are executed, if not one after the other in this process: ``ray``
    starts Ray on this machine, ``ray:ADDRESS`` joins a cluster, and any executor of ``concurrent.futures`` can be
    given.  The results are the same.  An interrupted run is then started again from its beginning.

    Ctrl-C stops solving with the best answer so far.  Raises ``UnsupportedGameError``, ``BudgetError``,
    ``GameRuleError``, ``ParameterError``, ``UnknownNameError`` or ``CheckpointError``.

    >>> solution = infoset.solve("kuhn_poker", "pcfr+", target=1e-6)
    >>> solution.exploitability <= 1e-6
    True
    >>> round(solution.values[0], 4)                        # -1/18, Kuhn 1950
    -0.0556
    """
    watcher = watcher or Watcher()
    check_executor(executor)
    asked = Options(iterations, target, seconds, start, runs, lock or None, form, teams, 0 if seed is None else seed)
    if resume is True:
        if out is None:
            raise CheckpointError("--resume needs --out DIR, the folder of the run to continue")
        plan = _resumed(game, method, asked, seed, out)
    else:
        plan = _plan_run(game, method, asked, out)._replace(saved=dict(resume) if resume else None)
    began = time.monotonic()
    try:
        task = _prepared(plan, max_histories, out, watcher, executor != LOCAL)
        if task.folder is not None:
            plan = plan._replace(folder=task.folder)
        with _shared(task, max_histories, executor):
            return _run(task, watcher, time.monotonic() - began)
    finally:
        if plan.folder is not None:
            plan.folder.close()


@contextmanager
def _shared(task: _Task, max_histories: int | None, where: Where) -> Iterator[None]:
    """Execute the runs of a task elsewhere, while this context is open."""
    if where == LOCAL:
        yield
        return
    name, options, method = task.plan.name, task.plan.options, task.choice.method.name
    assert isinstance(task.job, MultiStart)
    with open_executor(where) as opened:

        def deal(number: int, trials: list[dict[str, Any]]) -> Future[dict[str, Any]]:
            return opened.submit(_one_run, name, max_histories, method, options, number, trials)

        task.job.dealt = DistributedRuns(deal, width(opened))
        yield


def _check_shared(job: Job, method: str, game: str) -> None:
    """Raise ``ParameterError`` unless the work consists of runs that can be executed in other processes."""
    if not isinstance(job, MultiStart):
        raise ParameterError(f"executor: {method} does not make one run after the other, to be shared out")
    try:
        load(game)
    except InfosetError:
        raise ParameterError(f"executor: {shorten(game)} cannot be loaded by its name in another process") from None


def _one_run(
    game: str, max_histories: int | None, method: str, options: Options, number: int, trials: list[dict[str, Any]]
) -> dict[str, Any]:
    """Execute one run in any process and return its result."""
    job = _runs(game, max_histories, method, options)
    job.results = trials
    run = job.make(number)
    run.step(run.total)
    return run.result()


@lru_cache(maxsize=1)
def _runs(game: str, max_histories: int | None, method: str, options: Options) -> MultiStart:
    job = parse_method(method).job(Compiled.of(load(game), max_histories), options)
    assert isinstance(job, MultiStart)
    return job


class _Plan(NamedTuple):
    """A request to solve, before the game is built."""

    game: AnyGame
    name: str
    choice: Choice | None
    """``None``: to be chosen."""
    options: Options
    limits: Limits
    folder: RunFolder | None = None
    saved: dict[str, Any] | None = None

    def config(self, method: str, reason: str) -> RunConfig:
        """Return the configuration that the folder keeps."""
        o = self.options
        return RunConfig(
            self.name, method, o.start or "uniform", o.seed, o.iterations, o.target, o.seconds, o.runs, o.lock, reason,
            o.form, o.teams,
        )  # fmt: skip


class _Task(NamedTuple):
    compiled: Compiled
    choice: Choice
    job: Job
    plan: _Plan
    folder: RunFolder | None


def _prepared(
    plan: _Plan, max_histories: int | None, out: str | Path | None, watcher: Watcher, elsewhere: bool
) -> _Task:
    """Build the game, choose the method, create or restore its work, and then create or reopen the folder."""
    compiled = Compiled.of(plan.game, max_histories, within(plan.limits.seconds, watcher.building))
    if plan.options.lock:
        plan = plan._replace(options=replace(plan.options, lock=read_lock(compiled, plan.options.lock)))
    choice = plan.choice or choose(compiled, plan.options)
    check_options(choice.method, plan.options)
    job = choice.method.job(compiled, plan.options)
    if elsewhere:
        _check_shared(job, choice.method.name, plan.name)
    if plan.saved is not None:
        job.restore(plan.saved)
    folder = plan.folder
    if folder is None and out is not None:
        folder = RunFolder.create(out, plan.config(choice.method.name, choice.why))
    elif folder is not None:
        folder.go_on(plan.saved)
    return _Task(compiled, choice, job, plan, folder)


def _plan_run(
    game: AnyGame | None, method: str | AnyMethod | None, options: Options, out: str | Path | None
) -> _Plan:  # fmt: skip
    if game is None:
        raise ParameterError("no GAME given; 'infoset games' lists the names")
    if out is not None:
        RunFolder.check_free(Path(out))
    chosen = _method(method or "auto")
    check_options(chosen, options)
    choice = None if isinstance(chosen, Auto) else Choice(chosen, "")
    return _Plan(game, _name(game), choice, options, Limits(options.iterations, options.target, options.seconds))


def _method(method: str | AnyMethod) -> AnyMethod:
    return parse_method(method) if isinstance(method, str) else check_is_method(method)


def _name(game: AnyGame) -> str:
    """Return the name by which a run finds its game again."""
    if not isinstance(game, str) and not hasattr(game, "name"):
        check_is_game(game)
    return name_of(game)


def _resumed(
    game: AnyGame | None, method: str | AnyMethod | None, asked: Options, seed: int | None, out: str | Path
) -> _Plan:  # fmt: skip
    """Continue the run in a folder; game and method may be named again, but not changed."""
    folder, config, saved = RunFolder.open(out)
    try:
        return _resume_run(folder, config, saved, game, method, asked, seed)
    except BaseException:
        folder.close()
        raise


def _resume_run(
    folder: RunFolder, config: RunConfig, saved: dict[str, Any] | None, game: AnyGame | None,
    method: str | AnyMethod | None, asked: Options, seed: int | None,
) -> _Plan:  # fmt: skip
    out = folder.path
    named = None if method is None else _method(method)
    name = method if isinstance(method, str) and method == config.method else named and named.name
    if asked.lock is not None:
        raise CheckpointError(f"{out} already contains a run; lock can be given only when a run begins")
    given = (
        ("game", None if game is None else _name(game), config.game), ("method", name, config.method),
        ("start", asked.start, config.start), ("seed", seed, config.seed), ("runs", asked.runs, config.runs),
        ("form", asked.form, config.form),
        ("teams", asked.teams, config.teams),
    )  # fmt: skip
    for what, mine, stored in given:
        if mine not in (None, stored):
            raise CheckpointError(
                f"{out} contains a run of {config.game} by {config.method}: {what} {stored}, not {mine}"
            )
    start = None if config.start == "uniform" else config.start
    own = Options(
        config.iterations,
        config.target,
        config.seconds,
        start,
        config.runs,
        config.lock,
        config.form,
        config.teams,
        config.seed,
    )
    limits = Limits(asked.iterations, asked.target, asked.seconds)
    if limits != Limits():
        own = replace(own, iterations=asked.iterations, target=asked.target, seconds=asked.seconds)
    loaded: AnyGame = game if game is not None else _load(config.game, out)
    chosen = named or parse_method(config.method)
    limits = Limits(own.iterations, own.target, own.seconds)
    return _Plan(loaded, config.game, Choice(chosen, config.reason), own, limits, folder, saved)


def _load(name: str, out: str | Path) -> Game:
    return load_named(name, f"the run in {out}")


def within(seconds: float | None, building: Callable[[int], object]) -> Callable[[int], object]:
    """Wrap ``building`` to raise ``ClockError`` once it took longer than ``seconds`` and ``LEAST_SECONDS``."""
    if seconds is None:
        return building
    began, most = time.monotonic(), max(seconds, LEAST_SECONDS)

    def watched(count: int) -> None:
        building(count)
        if time.monotonic() - began > most:
            raise ClockError(
                f"the game could not be built in {most:g} s, --seconds {seconds:g}; {count:,} positions or "
                "histories. Allow more --seconds, or choose a smaller game"
            )

    return watched


def _run(task: _Task, watcher: Watcher, building: float) -> Solution:
    """Work until a limit is reached, save the result and evaluate it; ``building`` is the seconds spent before."""
    compiled, choice, job, plan, folder = task
    if compiled is not plan.game:  # its clock was the one for building
        compiled.progress = watcher.building
    limits, curve = plan.limits, [] if folder is None else folder.points()
    if limits == Limits():
        limits = choice.method.default
    if isinstance(job, MultiStart):  # the limit holds for each run, not for the number of runs
        limits = replace(limits, iterations=None)
    watcher.begin(job, limits)

    def point(at: Point) -> None:
        if not curve or at.iteration > curve[-1].iteration:  # a resumed run does not repeat one
            curve.append(at)
        if folder is not None:
            with folder.attempt(on_the_way=True):
                folder.add_point(at)
        watcher.point(at)

    def advanced(job: Job, spent: float) -> None:
        if folder is not None:
            with folder.attempt(on_the_way=True):
                folder.checkpoint(job, spent)
        watcher.advance(job, spent)

    def done(job: Job, spent: float) -> None:
        if folder is not None:
            folder.failed = None  # this write includes what failed earlier
            with folder.attempt():
                folder.save_state(job, spent)
        watcher.done(job, spent)

    before = float(plan.saved.get("seconds", 0.0)) if plan.saved is not None else 0.0
    watched = Watcher(point=point, advance=advanced, done=done)
    began = time.monotonic()
    stopped, spent = advance(job, limits, watched, before)
    policy = _labelled(task)
    if policy is None:
        raise KeyboardInterrupt if stopped == "interrupted" else BudgetError(f"no result after {spent:.3g} s")
    if folder is not None:
        with folder.attempt():
            folder.save_policy(policy)
    found, why_not = _figures(job, policy, task, watcher, stopped == "interrupted")
    solution = _solution(task, (stopped, spent, tuple(curve)), policy, found, why_not)
    evaluating = max(time.monotonic() - began - (spent - before), 0.0)
    solution = replace(solution, building_seconds=building, evaluating_seconds=evaluating)
    watcher.solved(solution)
    if folder is not None:
        if folder.failed is None:  # never keep a result beside an older policy
            with folder.attempt():
                folder.save_result(_result(solution))
                folder.finish(f"{solution.game}: {solution.method}")
        if folder.failed is not None:
            raise folder.failed
    return solution


def _labelled(task: _Task) -> Any:
    """Return the current policy of the work, labelled with the method, options and iterations that made it."""
    policy: Any = task.job.policy()
    options, method = task.plan.options, task.choice.method.name
    start = options.start or "uniform"
    made_by = {"method": method, "iterations": task.job.iteration, "start": start, "seed": options.seed}
    if options.lock:
        made_by["lock"] = {player: sorted(table) for player, table in options.lock.items()}
    return None if policy is None else replace(policy, made_by=made_by)


def _solution(
    task: _Task, end: tuple[str, float, tuple[Point, ...]], policy: Any, found: Evaluation | None, why_not: str
) -> Solution:  # fmt: skip
    compiled, choice, job, plan, folder = task
    stopped, spent, curve = end
    with interrupts(), status.during("looking for the optimum") if isinstance(job, MultiStart) else nullcontext():
        bound, proof = (None, "") if stopped == "interrupted" else job.bound() or (None, "")
    runs = tuple(float(result["value"]) for result in job.measured) if isinstance(job, MultiStart) else ()
    nash_conv, exploitability, epsilon = (
        None if found is None or isnan(figure := getattr(found, name)) else float(figure)
        for name in ("nash_conv", "exploitability", "epsilon")
    )
    start = plan.options.start or "uniform"
    return Solution(
        game=compiled.name, method=choice.method.name, iterations=job.iteration, seconds=spent, stopped=stopped,
        start=start, seed=plan.options.seed, nash_conv=nash_conv, exploitability=exploitability, epsilon=epsilon,
        players=compiled.players, values=None if found is None else found.values,
        policy=policy, curve=curve, bound=bound, proof=proof, runs=runs, reason=choice.why, why_not=why_not,
        payoff_range=float(payoff_ranges(compiled.payoffs).max()) if runs and bound is not None else None,
        notes=job.notes(), lock=plan.options.lock, folder=folder.path if folder else None,
    )  # fmt: skip


def _result(solution: Solution) -> RunResult:
    """Return the figures that the folder keeps beside its configuration, curve and policy."""
    figures = {name: getattr(solution, name) for name in RunResult.__struct_fields__ if name not in NO_FIGURES}
    lists = {name: list(figures[name]) for name in ("players", "runs")}
    return RunResult(**figures | lists | {"values": None if solution.values is None else list(solution.values)})


def _loaded(path: Path) -> Solution:
    """Read the solution from a run's folder."""
    folder, config = RunFolder(path), RunFolder.read_config(path)
    if not (path / POLICY).is_file():
        raise CheckpointError(f"{path} contains a run without a policy: it ended before its first checkpoint")
    policy, curve, found = load_policy(path), tuple(folder.points()), folder.result()
    if found is None:
        made = policy.made_by.get("iterations", 0)  # the file may hold anything
        iteration = made if isinstance(made, int) and 0 <= made <= MAX_COUNT else 0
        at = next((point for point in curve[::-1] if point.iteration == iteration), Point(iteration, 0.0))
        values = None if at.values is None else list(at.values)
        seconds = max((point.seconds for point in curve if point.iteration <= iteration), default=0.0)
        found = RunResult(
            policy.game, iteration, seconds, "interrupted", list(_players(policy, values)), at.nash_conv,
            at.exploitability, at.epsilon, values, why_not="" if at.exploitability is not None else STOPPED,
        )  # fmt: skip
    return Solution(
        method=config.method, start=config.start, seed=config.seed, reason=config.reason,
        lock=config.lock, policy=policy, curve=curve, folder=path,
        **found.figures() | {
            "players": tuple(found.players), "runs": tuple(found.runs),
            "values": None if found.values is None else tuple(found.values),
        },
    )  # fmt: skip


def _players(policy: SavedPolicy, values: list[float] | None) -> tuple[str, ...]:
    """Return the players' names from the policy, or ``P1``, ``P2``, … where it has none."""
    names = getattr(policy, "players", None)
    return names if isinstance(names, tuple) else tuple(f"P{k + 1}" for k in range(len(values or ())))


def _figures(
    job: Job, policy: SavedPolicy, task: _Task, watcher: Watcher, interrupted: bool
) -> tuple[Evaluation | None, str]:  # fmt: skip
    """Evaluate the policy, or return the reason why that was not done."""
    compiled, folder, seconds = task.compiled, task.folder, task.plan.limits.seconds
    most = inf if seconds is None else max(seconds, LEAST_EVALUATING)
    clock = Clock(time.monotonic() + most)

    def built(count: int) -> None:
        clock()
        watcher.building(count)

    if compiled is not task.plan.game:
        compiled.progress = built
    found = job.evaluation()
    if found is not None:
        return found, found.reason if isnan(found.nash_conv) else ""
    if interrupted and not compiled.made_whole:  # start nothing that takes long after Ctrl-C
        return None, STOPPED
    with interrupts() as stop:

        def keep(evaluation: PolicyEvaluation) -> None:
            if folder is not None:
                with folder.attempt():
                    folder.keep_evaluation(evaluation, now=stop.is_set())
            if stop.is_set():
                raise _StoppedError
            clock()

        try:
            found = evaluate(compiled, policy, keep=keep)
        except _StoppedError:
            return None, STOPPED
        except ClockError:
            return None, f"its exact figures are not worked out after {most:g} s; 'infoset evaluate' has no such limit"
        except ImperfectRecallError as error:
            return None, str(error)
    if folder is not None:
        folder.forget_evaluation()
    return found, found.reason


class _StoppedError(Exception):
    """The error raised where an evaluation is interrupted."""
