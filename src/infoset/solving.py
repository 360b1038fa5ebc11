"""``solve``: from a game and a method to an evaluated policy, optionally kept in a folder that can be resumed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import lru_cache
from math import inf, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infoset import displays, status
from infoset.arguments import checks_arguments, takes_fields
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
from infoset.node_locking import read_lock
from infoset.policies.loading import SavedPolicy, load_policy
from infoset.runs import NO_FIGURES, RunConfig, RunFolder, RunResult
from infoset.solvers.choose import Auto, choose
from infoset.solvers.config import LIMITS, OPTIONS, UNIFORM, Lock, SolveConfig
from infoset.solvers.job import DistributedRuns, Job, Limits, MultiStart, Point, Watcher, advance, interrupts
from infoset.solvers.method import AnyMethod, check_is_method, check_options, parse_method
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
        path = check_path("folder", folder)
        figures, config = RunFolder(path), RunFolder.read_config(path)
        if not (path / POLICY).is_file():
            raise CheckpointError(f"{path} contains a run without a policy: it ended before its first checkpoint")
        policy, curve, found = load_policy(path), tuple(figures.points()), figures.result()
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
            method=config.method, start=config.start or UNIFORM, seed=config.seed or 0, reason=config.reason,
            lock=config.lock, policy=policy, curve=curve, folder=path,
            **found.figures() | {
                "players": tuple(found.players), "runs": tuple(found.runs),
                "values": None if found.values is None else tuple(found.values),
            },
        )  # fmt: skip

    def plot(self, axes: Any = None) -> Any:
        """Plot the convergence curve on axes of matplotlib, which are returned (extra ``plot``).

        Raises ``ParameterError`` where there is no curve, as for a linear program, and ``MissingExtraError``.
        """
        return displays.draw("convergence", self.curve, f"{self.game} by {self.method}", axes)

    def _repr_html_(self) -> str:
        return displays.render("solution", self)


@dataclass(frozen=True)
class SolveArguments(SolveConfig):
    """The arguments of ``solve``: what is solved and how, where it runs, and where it is kept."""

    game: AnyGame | None = None
    method: str | AnyMethod | None = None
    _: KW_ONLY
    max_histories: int | None = None
    out: str | Path | None = None
    resume: bool | Mapping[str, Any] = False
    executor: Where = LOCAL
    watcher: Watcher | None = None


@checks_arguments
@takes_fields(SolveArguments)
def solve(asked: SolveArguments) -> Solution:
    """Solve ``game`` and report how good the answer is.

    ``game``: a name, a game, its tree or its sequence form.  ``method``: a name such as ``"dcfr(alpha=1.5,beta=0)"`` or
    a method object; by default ``"auto"``, which chooses the one that suits the game and says why (``reason``).

    Solving stops at the first of ``iterations``, ``target`` (exploitability; in hold'em also ``"0.5%"`` of the pot) and
    ``seconds``; where none is given, at the default limits of the method.  ``seconds`` limits solving alone: building
    the game may take as long again (at least 10 seconds), and so may the exact figures of the curve and of the policy
    (at least a minute): see ``Solution``.  Where ``target`` or ``seconds`` is given, solving also stops once nobody can
    gain more than rounding errors, 1e-12 of the range of payoffs.

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
    watcher, began = asked.watcher or Watcher(), time.monotonic()
    check_executor(asked.executor)
    folder: RunFolder | None = None
    saved: dict[str, Any] | None = dict(asked.resume) if isinstance(asked.resume, Mapping) and asked.resume else None
    if asked.resume is True:
        if asked.out is None:
            raise CheckpointError("--resume needs --out DIR, the folder of the run to continue")
        folder, figures, saved = RunFolder.open(asked.out)
    try:
        game, method, config = _begin(asked) if folder is None else _continue(asked, figures, folder.path)
        compiled = Compiled.of(game, asked.max_histories, within(config.seconds, watcher.building))
        limits = config.limits(compiled.pot)
        if config.lock:
            config = replace(config, lock=read_lock(compiled, config.lock))
        if isinstance(method, Auto):
            method, why = choose(compiled, config)
            config = replace(config, method=method.name, reason=why)
        check_options(method, config)
        job = method.job(compiled, config)
        if asked.executor != LOCAL:
            _check_shared(job, config)
        if saved is not None:
            job.restore(saved)
        if folder is not None:
            folder.go_on(saved)
        elif asked.out is not None:
            folder = RunFolder.create(asked.out, replace(config, start=config.start or UNIFORM))
        with _shared(job, config, asked.max_histories, asked.executor):
            run = _Run(config, limits, compiled, method, job, folder, watcher, is_built_here=compiled is not game)
            return run.finish(float((saved or {}).get("seconds", 0.0)), time.monotonic() - began)
    finally:
        if folder is not None:
            folder.close()


def _begin(asked: SolveArguments) -> tuple[AnyGame, AnyMethod, RunConfig]:
    """Return the game, the method and the configuration of a new run; names that are wrong are found at once."""
    if asked.game is None:
        raise ParameterError("no GAME given; 'infoset games' lists the names")
    if asked.out is not None:
        RunFolder.check_free(Path(asked.out))
    method = _method(asked.method or "auto")
    given = asked.given | {"lock": asked.lock or None, "seed": asked.seed or 0}
    check_options(method, SolveConfig(**given))
    return asked.game, method, RunConfig(_name(asked.game), method.name, **given)


def _method(method: str | AnyMethod) -> AnyMethod:
    return parse_method(method) if isinstance(method, str) else check_is_method(method)


def _name(game: AnyGame) -> str:
    """Return the name by which a run finds its game again."""
    if not isinstance(game, str) and not hasattr(game, "name"):
        check_is_game(game)
    return name_of(game)


def _continue(asked: SolveArguments, figures: RunConfig, out: Path) -> tuple[AnyGame, AnyMethod, RunConfig]:
    """Return what ``_begin`` returned for the run in ``out``; only limits may be others than those that it keeps."""
    named = None if asked.method is None else _method(asked.method)
    if asked.lock:
        raise CheckpointError(f"{out} already contains a run; lock can be given only when a run begins")
    method = asked.method if asked.method == figures.method else named and named.name
    given = {"game": None if asked.game is None else _name(asked.game), "method": method}
    given |= {name: getattr(asked, name) for name in (*OPTIONS, "seed") if name not in (*LIMITS, "lock")}
    for what, mine in given.items():
        if mine not in (None, stored := getattr(figures, what)):
            raise CheckpointError(
                f"{out} contains a run of {figures.game} by {figures.method}: {what} {stored}, not {mine}"
            )
    figures = replace(figures, start=None if figures.start == UNIFORM else figures.start)
    limits = {name: getattr(asked, name) for name in LIMITS}
    if any(limit is not None for limit in limits.values()):
        figures = replace(figures, **limits)
    game = load_named(figures.game, f"the run in {out}") if asked.game is None else asked.game
    return game, named or parse_method(figures.method), figures


@contextmanager
def _shared(job: Job, config: RunConfig, max_histories: int | None, where: Where) -> Iterator[None]:
    """Execute the runs of a work elsewhere, while this context is open."""
    if where == LOCAL:
        yield
        return
    assert isinstance(job, MultiStart)
    with open_executor(where) as opened:

        def deal(number: int, past: list[dict[str, Any]]) -> Future[dict[str, Any]]:
            return opened.submit(_one_run, config, max_histories, number, past)

        job.dealt = DistributedRuns(deal, width(opened))
        yield


def _check_shared(job: Job, config: RunConfig) -> None:
    """Raise ``ParameterError`` unless the work consists of runs that can be executed in other processes."""
    if not isinstance(job, MultiStart):
        raise ParameterError(f"executor: {config.method} does not make one run after the other, to be shared out")
    try:
        load(config.game)
    except InfosetError:
        name = shorten(config.game)
        raise ParameterError(f"executor: {name} cannot be loaded by its name in another process") from None


def _one_run(config: RunConfig, max_histories: int | None, number: int, past: list[dict[str, Any]]) -> dict[str, Any]:
    """Execute one run in any process and return its result; ``past`` are the results that it depends on."""
    job = _runs(config, max_histories)
    job.results = past
    run = job.make(number)
    run.step(run.total)
    return run.result()


@lru_cache(maxsize=1)
def _runs(config: RunConfig, max_histories: int | None) -> MultiStart:
    job = parse_method(config.method).job(Compiled.of(load(config.game), max_histories), config)
    assert isinstance(job, MultiStart)
    return job


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


@dataclass(frozen=True)
class _Run:
    """A run that is ready to begin, or to go on."""

    config: RunConfig
    limits: Limits
    compiled: Compiled
    method: AnyMethod
    job: Job
    folder: RunFolder | None
    watcher: Watcher
    is_built_here: bool
    """Whether the progress of ``compiled`` is this run's to report."""

    def finish(self, before: float, building: float) -> Solution:
        """Work until a limit is reached, save the result and evaluate it.

        ``before`` is the seconds of work before a resumption, ``building`` those spent before this call.
        """
        job, folder, watcher, limits = self.job, self.folder, self.watcher, self.limits
        if self.is_built_here:  # its clock was the one for building
            self.compiled.progress = watcher.building
        curve = [] if folder is None else folder.points()
        if limits == Limits():
            limits = self.method.default
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

        began = time.monotonic()
        stopped, spent = advance(job, limits, Watcher(point=point, advance=advanced, done=done), before)
        policy = self._policy()
        if policy is None:
            raise KeyboardInterrupt if stopped == "interrupted" else BudgetError(f"no result after {spent:.3g} s")
        if folder is not None:
            with folder.attempt():
                folder.save_policy(policy)
        found, why_not = self._evaluate(policy, stopped == "interrupted")
        solution = self._solution(stopped, spent, tuple(curve), policy, found, why_not)
        evaluating = max(time.monotonic() - began - (spent - before), 0.0)
        solution = replace(solution, building_seconds=building, evaluating_seconds=evaluating)
        watcher.solved(solution)
        if folder is not None:
            if folder.failed is None:  # never keep a result beside an older policy
                with folder.attempt():
                    figures = {
                        name: getattr(solution, name) for name in RunResult.__struct_fields__ if name not in NO_FIGURES
                    }
                    figures |= {name: list(value) for name, value in figures.items() if isinstance(value, tuple)}
                    folder.save_result(RunResult(**figures))
                    folder.finish(f"{solution.game}: {solution.method}")
            if folder.failed is not None:
                raise folder.failed
        return solution

    def _policy(self) -> Any:
        """Return the current policy of the work, labelled with the method, options and iterations that made it."""
        policy: Any = self.job.policy()
        config = self.config
        made_by: dict[str, Any] = {
            "method": self.method.name, "iterations": self.job.iteration, "start": config.start or UNIFORM,
            "seed": config.seed,
        }  # fmt: skip
        if config.lock:
            made_by["lock"] = {player: sorted(table) for player, table in config.lock.items()}
        return None if policy is None else replace(policy, made_by=made_by)

    def _evaluate(self, policy: SavedPolicy, interrupted: bool) -> tuple[Evaluation | None, str]:
        """Evaluate the policy, or return the reason why that was not done."""
        compiled, folder, seconds = self.compiled, self.folder, self.config.seconds
        most = inf if seconds is None else max(seconds, LEAST_EVALUATING)
        clock = Clock(time.monotonic() + most)

        def built(count: int) -> None:
            clock()
            self.watcher.building(count)

        if self.is_built_here:
            compiled.progress = built
        found = self.job.evaluation()
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
                why = f"its exact figures are not worked out after {most:g} s; 'infoset evaluate' has no such limit"
                return None, why
            except ImperfectRecallError as error:
                return None, str(error)
        if folder is not None:
            folder.forget_evaluation()
        return found, found.reason

    def _solution(
        self, stopped: str, spent: float, curve: tuple[Point, ...], policy: Any, found: Evaluation | None, why_not: str
    ) -> Solution:
        compiled, job, config = self.compiled, self.job, self.config
        with interrupts(), status.during("looking for the optimum") if isinstance(job, MultiStart) else nullcontext():
            bound, proof = (None, "") if stopped == "interrupted" else job.bound() or (None, "")
        runs = tuple(float(result["value"]) for result in job.measured) if isinstance(job, MultiStart) else ()
        nash_conv, exploitability, epsilon = (
            None if found is None or isnan(figure := getattr(found, name)) else float(figure)
            for name in ("nash_conv", "exploitability", "epsilon")
        )
        return Solution(
            game=compiled.name, method=self.method.name, iterations=job.iteration, seconds=spent, stopped=stopped,
            start=config.start or UNIFORM, seed=config.seed or 0, nash_conv=nash_conv, exploitability=exploitability,
            epsilon=epsilon, players=compiled.players, values=None if found is None else found.values,
            policy=policy, curve=curve, bound=bound, proof=proof, runs=runs, reason=config.reason, why_not=why_not,
            payoff_range=float(payoff_ranges(compiled.payoffs).max()) if runs and bound is not None else None,
            notes=job.notes(), lock=config.lock, folder=self.folder.path if self.folder else None,
        )  # fmt: skip


def _players(policy: SavedPolicy, values: list[float] | None) -> tuple[str, ...]:
    """Return the players' names from the policy, or ``P1``, ``P2``, … where it has none."""
    names = getattr(policy, "players", None)
    return names if isinstance(names, tuple) else tuple(f"P{k + 1}" for k in range(len(values or ())))


class _StoppedError(Exception):
    """The error raised where an evaluation is interrupted."""
