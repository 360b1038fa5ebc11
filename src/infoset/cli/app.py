"""The verbs of the command line.  Each imports what it needs when it runs, so that ``--help`` stays quick."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer
from typer.core import TyperGroup

from infoset.cli.output import complain, note, write
from infoset.errors import bound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from infoset.arena.standings import Standings
    from infoset.base import Agent
    from infoset.gdl.syntax import Description
    from infoset.gdl.tally import Playouts
    from infoset.match.replay import Match
    from infoset.match.series import Series
    from infoset.registry import Entry
    from infoset.verbs import TrainingRun


class _Verbs(TyperGroup):
    """The group of verbs, whose usage errors are bounded in length however long the argument is."""

    def make_context(self, *given: Any, **extra: Any) -> Any:
        with _bounded_usage():
            return super().make_context(*given, **extra)

    def invoke(self, ctx: Any) -> Any:
        with _bounded_usage():
            return super().invoke(ctx)


@contextmanager
def _bounded_usage() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        message = getattr(error, "message", None)
        if hasattr(error, "exit_code") and isinstance(message, str):  # a click error; typer bundles its own click
            error.message = bound(message)  # type: ignore[attr-defined]
        raise


app = typer.Typer(
    name="infoset",
    cls=_Verbs,
    help="Solve hidden-information games exactly and say how good the answer is.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

METHOD_HELP = "How to solve it: auto (default) chooses; 'infoset methods' lists them. With parameters: dcfr(alpha=2)."
MAX_STEPS = 10_000
SIMULATION = 60.0  # seconds
CHECKED_PLAYS = 100
GAME_HELP = (
    "A name ('infoset games' lists them), an .efg, .nfg, .gbt, .csv or .gdl file, openspiel:NAME(…), "
    "or python:FILE.py:Class(…)."
)
AGENT_HELP = (
    "One for each player, in order: a name ('infoset agents' lists them), a policy's file, a run's folder, "
    "or python:FILE.py:Class(…)."
)
WHAT_HELP = (
    "A policy's file (.npz, .json), a run's folder, or an agent: random, 'search(method=tree)', python:FILE.py:Class."
)
TEAM_HELP = "One agent for all seats of a team, or a+b, its members in the order of the seats."
GameName = Annotated[str, typer.Argument(metavar="GAME", help=GAME_HELP)]
GameOrRun = Annotated[str, typer.Argument(metavar="GAME", help=f"{GAME_HELP} A run's folder: its game and its policy.")]
MaybeGameName = Annotated[str | None, typer.Argument(metavar="GAME", help=GAME_HELP)]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else on stdout.")]
MaxHistories = Annotated[int | None, typer.Option(min=1, help="The largest tree built (default: by the free memory).")]

SecondsPerMove = Annotated[
    float | None, typer.Option(help="An agent that needs more loses the move (default: no limit).")
]
StartClock = Annotated[float | None, typer.Option(help="Seconds for agents to begin a game (default: no limit).")]
Executor = Annotated[
    str, typer.Option("--executor", help="Where: local, ray (extra 'cluster'), or a cluster of it, ray:ADDRESS.")
]
Isolate = Annotated[bool, typer.Option("--isolate", help="Run each agent in a process of its own, with limits.")]


def _say_version(asked: bool) -> None:
    if asked:
        from infoset import __version__

        write(f"infoset {__version__}")
        raise typer.Exit


@app.callback()
def _any_verb(
    _: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Say which version this is.")
    ] = False,
) -> None:
    pass


@app.command()
def games(
    name: Annotated[str | None, typer.Argument(help="A game, as the other verbs take it: print its rules.")] = None,
    json_: AsJson = False,
) -> None:
    """List the games that are known by name, with their parameters; with a NAME print the rules of one."""
    from infoset.catalog import OPENSPIEL, game_entries
    from infoset.registry import PYTHON

    if name is not None:
        from infoset.view.guide import guide, guide_text

        found = guide(_with_run(name)[0])
        _print_json({**found._asdict(), "parts": dict(found.parts)}) if json_ else write(guide_text(found))
        return
    more = (
        f"Also: a path to an .efg, .nfg, .gbt, .csv or .gdl file, {OPENSPIEL}NAME(…) for any game of OpenSpiel (extra "
        f"'interop'), or your own, {PYTHON}FILE.py:Class(…). The rules of one: infoset games NAME."
    )
    _list("games", game_entries(), more, json_)


@app.command()
def methods(json_: AsJson = False) -> None:
    """List the methods of 'solve', with their parameters and the options that each takes."""
    from infoset.verbs import list_methods

    _list("methods", list_methods(), "", json_)


@app.command()
def agents(json_: AsJson = False) -> None:
    """List the agents that are known by name, with their parameters."""
    from infoset.registry import PYTHON
    from infoset.verbs import list_agents

    more = f"Also: a policy's file (.npz, .json), a run's folder, 'trained:DIR', or your own, {PYTHON}FILE.py:Class(…)."
    _list("agents", list_agents(), more, json_)


def _list(what: str, entries: list[Entry], more: str, json_: bool) -> None:
    from infoset.cli.report import entries_body, entries_text

    if json_:
        _print_json({what: entries_body(entries)})
    else:
        write(entries_text(entries) + (f"\n\n{more}" if more else ""))


@app.command()
def solve(
    game: MaybeGameName = None,
    method: Annotated[str | None, typer.Option(help=METHOD_HELP)] = None,
    iterations: Annotated[
        int | None, typer.Option(help="Stop after so many iterations, of each run where there are several.")
    ] = None,
    target: Annotated[float | None, typer.Option(help="Stop at this exploitability.")] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Stop after so many seconds of solving; also of building, but not before 10.")
    ] = None,
    start: Annotated[
        str | None, typer.Option(help="The first profile: uniform (default) or random, drawn with --seed.")
    ] = None,
    runs: Annotated[int | None, typer.Option(min=1, help="Independent runs, where a method has several.")] = None,
    lock: Annotated[
        list[str] | None,
        typer.Option(
            help="Fix a strategy, solve for the rest: P1=random, P1=POLICY, or a .json of players, sets, probabilities."
        ),
    ] = None,
    form: Annotated[
        str | None, typer.Option(help="Represent the game as tree, factored or sampled (default: what fits).")
    ] = None,
    teams: Annotated[
        str | None, typer.Option(help="Who plays together: seats from 1 or names, as 1+3,2 (default: the game's own).")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of every random choice (0).")] = None,
    out: Annotated[Path | None, typer.Option(help="The run's folder (default: a fresh one below runs/).")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    max_histories: MaxHistories = None,
    executor: Executor = "local",
    json_: AsJson = False,
) -> None:
    """Solve a game: strategy, value, exact exploitability, and a run folder with a picture."""
    from infoset.cli.progress import SolveProgress
    from infoset.cli.report import solution_body, solution_text
    from infoset.node_locking import read_locks
    from infoset.solvers.job import Watcher
    from infoset.solving import Solution
    from infoset.solving import solve as solve_game

    folder = Path("runs/*") if out is None and not resume else out
    if game is not None and folder is not None:  # no name is read before the folder is known to be free
        game = _absolute(game)

    locked = None if lock is None else read_locks(lock)

    def report(solution: Solution) -> None:
        _print_json(solution_body(solution)) if json_ else write(solution_text(solution))

    with SolveProgress() as progress:
        watcher = Watcher(
            building=progress.building, begin=progress.begin, point=progress.point, advance=progress.advance,
            solved=lambda solution: progress.after(lambda: report(solution)),
        )  # fmt: skip
        solve_game(
            game, method, iterations=iterations, target=target, seconds=seconds, start=start, runs=runs, lock=locked,
            form=form, teams=teams, seed=seed, max_histories=max_histories, out=folder, resume=resume,
            executor=executor, watcher=watcher,
        )  # fmt: skip


@app.command()
def train(
    game: MaybeGameName = None,
    seconds: Annotated[float, typer.Option(min=0, max=1e9, help="Stop after so many seconds in all.")] = 600.0,
    epochs: Annotated[int | None, typer.Option(min=1, help="Stop after so many epochs in all.")] = None,
    out: Annotated[Path | None, typer.Option(help="The run's folder (default: a fresh one below runs/).")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the training in --out.")] = False,
    method: Annotated[
        str | None,
        typer.Option(
            help="self-play (of listed states), tree-search (of others), resolving; Pommerman: ppo, a2c, dqn, dagger."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of every random choice (0).")] = None,
    games: Annotated[int | None, typer.Option(min=1, help="Games of an epoch (128, 16, 64).")] = None,
    parts: Annotated[int | None, typer.Option(min=1, help="In which they are played, for so many workers (2).")] = None,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Processes that play games; changes no result.")] = 1,
    worlds: Annotated[int | None, typer.Option(min=1, help="Drawn at each move (30, 200); not resolving.")] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, help="resolving: look so many ahead (1000). Pommerman: of an epoch (64).")
    ] = None,
    stop_at_chance: Annotated[
        bool | None, typer.Option("--stop-at-chance", help="resolving: look ahead until chance moves, a betting round.")
    ] = None,
    hidden: Annotated[int | None, typer.Option(min=1, help="Units of a layer (128, 256).")] = None,
    rate: Annotated[float | None, typer.Option(help="Of learning (0.001).")] = None,
    boards: Annotated[int | None, typer.Option(min=1, help="Pommerman: games at a time (256).")] = None,
    rivals: Annotated[
        str | None, typer.Option(help="Pommerman: agents' names; 'self': its own past (simple). As simple,self.")
    ] = None,
    shaped: Annotated[float | None, typer.Option(help="Pommerman: deaths and items rewarded so much too (0).")] = None,
    filtered: Annotated[
        bool | None, typer.Option("--filtered", help="Pommerman: no moves that it does not survive.")
    ] = None,
    starts: Annotated[
        str | None, typer.Option(help="Pommerman: where games begin: dealt, uniform, backplay (dealt).")
    ] = None,
    lessons: Annotated[
        int | None, typer.Option(min=1, help="Pommerman: epochs until games begin as dealt (300).")
    ] = None,
    expert: Annotated[str | None, typer.Option(help="dagger: the agent that is imitated (simple).")] = None,
    initial: Annotated[
        str | None, typer.Option(help="Pommerman: whose network it begins with: skynet, trained:DIR …")
    ] = None,
    executor: Executor = "local",
    json_: AsJson = False,
) -> None:
    """Train a network, by self-play or against rivals; 'trained:DIR' plays with it."""
    from infoset.cli.progress import LearningProgress
    from infoset.solvers.job import Watcher
    from infoset.verbs import train as learn

    asked = {
        "method": method, "seed": seed, "games": games, "parts": parts, "worlds": worlds, "steps": steps,
        "stop_at_chance": stop_at_chance, "hidden": hidden, "rate": rate, "boards": boards, "rivals": rivals,
        "shaped": shaped, "filtered": filtered, "starts": starts, "lessons": lessons, "expert": expert,
        "initial": initial,
    }  # fmt: skip
    given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    name = None if game is None else _absolute(game)
    with LearningProgress(seconds) as progress:
        watcher = Watcher(
            building=progress.exploring, point=progress.advance,
            solved=lambda training: progress.after(lambda: _report_training(training, json_)),
        )  # fmt: skip
        learn(
            name, seconds=seconds, epochs=epochs, out=out, resume=resume, workers=workers, executor=executor,
            watcher=watcher, **given,
        )  # fmt: skip


def _report_training(training: TrainingRun, json_: bool) -> None:
    last = training.last
    if json_:
        _print_json({"folder": str(training.folder), "last": asdict(last) if last else None})
        return
    if last:
        start_text = ", ".join(f"{value:.4g}" for value in last.start_values)
        words = ("values", last.value_loss), ("policies", last.policy_loss)
        lost = ", ".join(f"{loss:.3e} on {word}" for word, loss in words if loss is not None)
        write(
            f"{training.game} by {training.method}\n"
            f"learnt from      {last.states:,} states in {last.games:,} games, {last.seconds:,.0f} s\n"
            f"lost             {lost}"
        )
        if start_text:
            write(f"start            {start_text}")
        for epoch in [epoch for epoch in training.points() if epoch.duels][-1:]:
            write(f"score            {epoch.share} in {epoch.duels} games v {epoch.rival}, epoch {epoch.iteration}")
    write(f"run folder       {training.folder}")


@app.command()
def plot(
    runs: Annotated[list[str], typer.Argument(metavar="RUN", help="Runs' folders; their curves share one picture.")],
    out: Annotated[Path, typer.Option(help="The picture: .png, .svg or .pdf.")] = Path("curves.png"),
) -> None:
    """Draw the convergence curves of runs over each other, each with its name (extra 'plot')."""
    from infoset.verbs import plot as plot_runs

    plot_runs(runs, out)
    write(out)


@app.command()
def evaluate(
    game: GameOrRun,
    what: Annotated[str | None, typer.Argument(metavar="[WHAT]", help=WHAT_HELP)] = None,
    best_response: Annotated[
        Path | None, typer.Option(help="Save each player's best response to the others as a policy.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(min=0.1, help="To learn responses in, where nothing exact fits (10).")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of learnt responses (0).")] = None,
    max_histories: MaxHistories = None,
    executor: Executor = "local",
    json_: AsJson = False,
) -> None:
    """Say how good a policy or an agent is: exactly where it fits, else a lower bound with its interval."""
    from infoset.cli.report import evaluation_body, evaluation_text
    from infoset.compiled import Compiled
    from infoset.errors import ParameterError, PolicyError, UnsupportedGameError, shorten
    from infoset.evaluation import check_what
    from infoset.evaluation import evaluate as how_good
    from infoset.files import check_file

    if best_response is not None:
        check_file(best_response)
    game, named = _with_run(game, what)
    if not named:
        raise ParameterError(f"name WHAT to evaluate after {shorten(game)}: a policy's file, a run's folder, an agent")
    what = named[-1]  # the run itself, unless WHAT was given, too
    played = check_what(what)
    compiled = Compiled.of(game, max_histories)
    with redirect_stdout(sys.stderr):  # agents' output is not a result
        found = how_good(
            compiled, played, respond=best_response is not None, seconds=seconds, seed=seed or 0, executor=executor
        )
    if found.exact and (seconds, seed) != (None, None):
        complain("the figures are exact; --seconds and --seed were not used")
    if json_:
        _print_json(evaluation_body(compiled.name, what, found))
    else:
        write(evaluation_text(compiled.name, what, compiled.players, found))
    if best_response is not None:
        if found.best_response is None:
            raise UnsupportedGameError(f"no best response was worked out: {found.reason or 'the tree does not fit'}")
        try:
            found.best_response.save(best_response)
        except PolicyError as error:  # this kind of policy is saved as .npz only, which is known only now
            saved = found.best_response.save(best_response.with_suffix(".npz"))
            complain(f"{error}; saved as {saved}")


@app.command("warm-up")
def warm_up(
    only: Annotated[list[str] | None, typer.Argument(metavar="[WHAT]…", help="Default: everything.")] = None,
    processes: Annotated[int | None, typer.Option(min=1, help="Default: one for each core, eight at most.")] = None,
    json_: AsJson = False,
) -> None:
    """Compile everything now, once on a machine, so that nothing waits for it later."""
    from time import monotonic

    from infoset.cli.progress import CompilingProgress
    from infoset.errors import UnknownNameError, UnsupportedSystemError
    from infoset.kernel_cache import cache_folder
    from infoset.warm_up import compile_sets, recorded

    known = tuple(recorded().sets)
    for name in only or ():
        if name not in known:
            raise UnknownNameError("set of kernels", name, known)
    began = monotonic()
    with CompilingProgress() as progress:
        compiled = compile_sets(only or known, progress.advance, processes)
    seconds, folder = monotonic() - began, cache_folder()
    if json_:
        _print_json({**compiled._asdict(), "seconds": seconds, "folder": str(folder)})
    elif compiled.kernels:
        write(f"{compiled.kernels} kernels compiled in {seconds:.1f} s, cached in {folder}")
    elif not compiled.failed:
        write(f"nothing to compile: {folder} has all kernels")
    if compiled.failed:
        raise UnsupportedSystemError(f"{compiled.failed} kernels could not be compiled and cached in {folder}")


@app.command()
def match(
    game: GameOrRun,
    agents: Annotated[list[str] | None, typer.Argument(metavar="AGENT", help=AGENT_HELP)] = None,
    games: Annotated[int, typer.Option(help="How many games.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random choice.")] = 0,
    rotate: Annotated[bool, typer.Option("--rotate", help="Move the agents on by one seat after every game.")] = False,
    seconds_per_move: SecondsPerMove = None,
    start_clock: StartClock = None,
    isolate: Isolate = False,
    replay: Annotated[Path | None, typer.Option(help="Write each game to a file in this folder.")] = None,
    json_: AsJson = False,
) -> None:
    """Let agents play each other: wins, mean scores with 95 % intervals, faults, moves a second.

    A run's folder in place of GAME is the first AGENT too, in the game of that run.
    """
    from infoset.cli.progress import MatchProgress
    from infoset.cli.terminal import give_back
    from infoset.match.agents import alone
    from infoset.match.series import play_series

    game, agents = _with_run(game, *(agents or ()))
    seated: list[Agent] = []
    keep = None if replay is None else _ReplayWriter(replay)
    with redirect_stdout(sys.stderr), ExitStack() as screen:  # agents' output is not a result
        if "human" in agents:  # the person has the terminal, so no progress is shown
            progress = None
            screen.callback(lambda: give_back(seated))
        else:
            progress = screen.enter_context(MatchProgress(games)).advance
        series = play_series(
            _absolute(game), list(map(alone, agents)) if isolate else agents, games=games, seed=seed, rotate=rotate,
            seconds_per_move=seconds_per_move, seconds_to_begin=start_clock, progress=progress, keep=keep,
            seated=seated.extend,
        )  # fmt: skip
    failed = keep.failed if keep else None
    if not series.games:
        raise failed or KeyboardInterrupt
    _report_series(series, json_)
    if failed:
        raise failed


@app.command()
def play(
    game: MaybeGameName = None,
    agents: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[AGENT]…",
            help="One for each other seat, in order (default: the equilibrium of a small game, else a customary one).",
        ),
    ] = None,
    seat: Annotated[str | None, typer.Option(help="Yours: a player's name, or its number (1).")] = None,
    games: Annotated[int, typer.Option(help="How many games.")] = 1,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of every random choice (default: drawn).")] = None,
    seconds_per_move: Annotated[
        float | None, typer.Option(help="Whoever needs more loses the move (default: no limit; Pommerman: 0.3).")
    ] = None,
    replay: Annotated[
        Path | None, typer.Option(help="The folder to save each game in (default: below runs/play/).")
    ] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with a game that was left: its replay.")] = None,
    practice: Annotated[bool, typer.Option("--practice", help="u takes a move back, h gives a hint.")] = False,
    hints: Annotated[
        str | None, typer.Option(help="A policy's file or a run's folder by which moves are judged.")
    ] = None,
) -> None:
    """Play a game yourself, in the terminal; what you could not see is shown when it is over."""
    from infoset.catalog import load
    from infoset.cli.play import Asked
    from infoset.cli.play import play as sit_down

    if game is not None:
        game, named = _with_run(game)
        agents = agents or named * (len(load(game).players) - 1 if named else 0)
    name = None if game is None else _absolute(game)
    sit_down(Asked(name, tuple(agents or ()), seat, games, seed, seconds_per_move, replay, resume, practice, hints))


class _ReplayWriter:
    """A writer of games as numbered files in ``folder``, which must not hold replays yet.

    A file that cannot be written (``failed``) ends the series as Ctrl-C does: with the games that are over.
    """

    def __init__(self, folder: Path) -> None:
        from infoset.errors import ParameterError
        from infoset.files import check_folder, make_folder

        check_folder(folder)
        make_folder(folder)
        if any(folder.glob("match-*.json")):
            raise ParameterError(f"{folder} already contains replays; choose another folder for --replay")
        self.folder, self.numbers = folder, count(1)
        self.failed: OSError | None = None

    def __call__(self, match: Match) -> None:
        try:
            match.save(self.folder / f"match-{next(self.numbers):05d}.json")
        except OSError as error:
            self.failed = error
            raise KeyboardInterrupt from None


def _report_series(series: Series, json_: bool) -> None:
    if json_:
        _print_json({**asdict(series), "moves_per_second": series.moves_per_second})
        return
    from infoset.view.match_text import series_text

    write(series_text(series))


@app.command()
def tournament(
    context: typer.Context,
    game: MaybeGameName = None,
    teams: Annotated[list[str] | None, typer.Argument(metavar="TEAM", help=TEAM_HELP)] = None,
    games: Annotated[int | None, typer.Option(help="Games of every pair of teams (100).")] = None,
    format_: Annotated[
        str, typer.Option("--format", help="round-robin, double-elimination, swiss(rounds=5), free-for-all.")
    ] = "round-robin",
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random choice.")] = 0,
    workers: Annotated[int | None, typer.Option(help="Processes that play (default: one for each core).")] = None,
    db: Annotated[
        Path | None, typer.Option(help="Save every game here, or resume from it (default: a new file below runs/).")
    ] = None,
    self_: Annotated[bool, typer.Option("--self", help="Every team also plays against itself.")] = False,
    rank: Annotated[
        str | None, typer.Option(help="payoff, wins or elo (default: payoff; wins where payoffs are only won or lost).")
    ] = None,
    slow: Annotated[float, typer.Option(help="Count decisions that take more seconds.")] = 0.1,
    move_limit: Annotated[
        float, typer.Option(help="A game is forfeited by an agent that is silent for more seconds.")
    ] = 10.0,
    seconds_per_move: SecondsPerMove = None,
    start_clock: StartClock = None,
    isolate: Annotated[
        bool | None,
        typer.Option(help="Run each agent in a process of its own, with limits (default: with --seconds-per-move)."),
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="Draw the cross table and the ratings as SVG.")] = None,
    replay: Annotated[int | None, typer.Option(help="Instead: write this game of --db as a replay.")] = None,
    executor: Executor = "local",
    out: Annotated[Path | None, typer.Option(help="The file for --replay (default: beside the database).")] = None,
    json_: AsJson = False,
) -> None:
    """Let teams meet in every pair and every seat, in many processes: a cross table, ratings, faults."""
    from infoset.cli import tournament as verb
    from infoset.errors import ParameterError

    if replay is not None:
        _refuse_others(context, {"replay", "db", "out"}, "--replay writes a game of --db; it goes with --out alone")
        write(verb.save_replay(db, replay, out))
        return
    if out is not None:
        raise ParameterError("--out is the file for --replay")
    if game is not None:
        game, teams = _with_run(game, *(teams or ()))
    if game is None or not teams:
        raise ParameterError("name a GAME and at least two TEAMs, or a game to --replay from --db")
    verb.play(
        _absolute(game), teams, db, svg, _standings_reporter(json_), games=games, format=format_, seed=seed,
        workers=workers, self_matches=self_, rank=rank, slow=slow, move_limit=move_limit,
        seconds_per_move=seconds_per_move, start_clock=start_clock, isolate=isolate, executor=executor,
    )  # fmt: skip


@app.command("ggp-player")
def ggp_player(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen; 0: any port that is free.")],
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    agent: Annotated[str, typer.Option(help="Who plays: a name ('infoset agents' lists them).")] = "search",
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random choice.")] = 0,
) -> None:
    """Be a player of the GGP protocol, of any game in GDL or GDL-II, until Ctrl-C (extra 'web')."""
    from infoset.cli import ggp as verb

    verb.play(agent, host, port, seed)


@app.command("ggp-match")
def ggp_match(
    game: Annotated[str, typer.Argument(metavar="FILE", help="A game in GDL or GDL-II, or gdl:NAME.")],
    urls: Annotated[
        list[str], typer.Argument(metavar="URL", help="The players, one for each role but random, in their order.")
    ],
    start_clock: Annotated[float, typer.Option(help="Seconds to get ready.")] = 10.0,
    play_clock: Annotated[float, typer.Option(help="Seconds for each move.")] = 5.0,
    games: Annotated[int, typer.Option(help="How many games.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random choice.")] = 0,
    scramble: Annotated[
        bool, typer.Option("--scramble", help="Replace the words of the rules by random ones.")
    ] = False,
    replay: Annotated[Path | None, typer.Option(help="Write each game to a file in this folder.")] = None,
    json_: AsJson = False,
) -> None:
    """Let players of the GGP protocol play each other: scores with 95 % intervals, faults, replays."""
    from infoset.cli import ggp as verb

    keep = None if replay is None else _ReplayWriter(replay)
    series = verb.manage(
        _absolute(game), urls, games=games, seed=seed, start_clock=start_clock, play_clock=play_clock,
        scramble=scramble, keep=keep,
    )  # fmt: skip
    failed = keep.failed if keep else None
    if not series.games:
        raise failed or KeyboardInterrupt
    _report_series(series, json_)
    if failed:
        raise failed


def _standings_reporter(as_json: bool) -> Callable[[Standings, Path], None]:
    """Return a function that prints the standings of a tournament."""
    from infoset.cli import tournament as verb

    def report(standings: Standings, path: Path) -> None:
        if as_json:
            _print_json(verb.body(standings, path))
        else:
            write(verb.text(standings, path))

    return report


@app.command()
def compete(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The competition, as TOML.")],
    workers: Annotated[int | None, typer.Option(help="Processes that play (default: one for each core).")] = None,
    db: Annotated[Path | None, typer.Option(help="Keep every game here (default: beside FILE, as FILE.db).")] = None,
    svg: Annotated[Path | None, typer.Option(help="Draw the bracket, or the cross table, as SVG.")] = None,
    executor: Executor = "local",
    json_: AsJson = False,
) -> None:
    """Play a whole competition from one file, or go on with it: a round robin, a bracket, rounds, a free-for-all."""
    from infoset.cli import tournament as verb

    verb.compete(file, db, svg, _standings_reporter(json_), workers=workers, executor=executor)


@app.command("serve-agent")
def serve_agent(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help=AGENT_HELP)],
    game: Annotated[
        str | None, typer.Option(help="The only game that it plays (default: any); Pommerman's by both protocols.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8000,
    host: Annotated[str, typer.Option(help="0.0.0.0: for other machines, too.")] = "127.0.0.1",
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="GAME", help="A game beside the shipped ones that callers may name: a file, openspiel:…"),
    ] = None,
) -> None:
    """Let others play against an agent over HTTP: in their matches it is http(url=http://HOST:PORT)."""
    from infoset.errors import ParameterError, shorten
    from infoset.remote.server import server
    from infoset.remote.serving import listening

    if game is not None and allow:
        raise ParameterError(f"--game {shorten(game)} is the only game; --allow {shorten(allow[0])} adds none to it")
    with listening(host, port) as where:
        serving = server(agent, game, allow or ())
        note(f"{agent} answers on http://{host}:{where.getsockname()[1]}; Ctrl-C ends it")
        serving.run(sockets=[where])


@app.command()
def serve(
    folders: Annotated[
        list[Path] | None, typer.Argument(metavar="[DIR]…", help="Folders of runs, replays, tournaments (runs).")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8421,
    host: Annotated[str, typer.Option(help="0.0.0.0: for other machines, too.")] = "127.0.0.1",
    name: Annotated[list[str] | None, typer.Option(help="A further name that the server is called by.")] = None,
) -> None:
    """Serve the page: play, watch, explore strategies, follow tournaments and runs in a browser."""
    from infoset.cli.serve import serve as run

    run(folders, host, port, name or [])


@app.command("new-agent")
def new_agent(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder for it, which is made.")],
) -> None:
    """Write an agent to change, with all that makes it a submission: a container, a competition."""
    from infoset.remote.submission import new_agent as make

    for path in make(folder):
        write(path)
    agent = folder / "agent.py"
    note(f"try it: infoset match kuhn_poker python:{agent}:MyAgent random --seconds-per-move 1")


@app.command()
def watch(
    context: typer.Context,
    replay: Annotated[
        Path,
        typer.Argument(metavar="REPLAY", help="A replay, from 'match --replay', or a game_state.json of Pommerman."),
    ],
    out: Annotated[Path | None, typer.Option(help="The page to write (default: REPLAY with .html).")] = None,
    step: Annotated[int | None, typer.Option(help="Where the page begins, or which position to show.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Pommerman: write one position (default: the last) as SVG.")] = None,
    gif: Annotated[
        Path | None, typer.Option(help="Pommerman: write the game as a moving picture (extra 'plot').")
    ] = None,
    png: Annotated[
        Path | None,
        typer.Option(help="Pommerman: write one picture a step, or of one --step, to this folder (extra 'plot')."),
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Show the game, or the one position, as text.")] = False,
    speed: Annotated[float | None, typer.Option(help="Steps a second (default: 6 in Pommerman, else 1).")] = None,
) -> None:
    """Watch a recorded game: a page that plays it, with each player's eyes; or as text; Pommerman also as pictures."""
    from infoset.catalog import POMMERMAN
    from infoset.files import check_file, replace_file
    from infoset.verbs import read_match
    from infoset.view.speed import SPEED, check_speed

    check_speed(speed)
    for file in (out, svg, gif):
        if file is not None:
            check_file(file)
    page = out is not None or not (text or svg or gif or png)
    moving = page or gif is not None or (text and step is None)
    if not moving:
        _refuse(context, {"speed"}, "--speed applies to a page, --gif or --text only")
    if gif is not None and not (page or text or svg or png):
        _refuse(context, {"step"}, "--gif shows the whole game; it goes with a page, --svg, --png or --text")
    played = read_match(str(replay))
    if not played.game.startswith(POMMERMAN):
        _refuse(context, {"svg", "gif", "png"}, "only Pommerman is drawn; other games are a page, or --text")
    if text:
        from rich.console import Console

        from infoset.view.recording_text import show_text

        show_text(played, Console(highlight=False), step, speed)
    if svg is not None:
        from infoset.view.pommerman.svg import still_svg

        picture = still_svg(played, step)
        write(replace_file(svg, lambda file: file.write(picture.encode())))
    if gif is not None:
        from infoset.view.pommerman.gif import save_gif

        write(save_gif(played, gif, speed=speed or SPEED))
    if png is not None:
        from infoset.view.pommerman.png import save_pngs

        write(f"{png}: {len(save_pngs(played, png, step=step)):,} pictures")
    if page:
        from infoset.view.watch_page import watch_page

        html = watch_page(played, step=step, speed=speed)
        write(replace_file(out or replay.with_suffix(".html"), lambda file: file.write(html.encode())))


@app.command()
def show(
    context: typer.Context,
    game: GameOrRun,
    what: Annotated[str | None, typer.Argument(metavar="[WHAT]", help=f"A strategy to show. {WHAT_HELP}")] = None,
    svg: Annotated[
        Path | None, typer.Option(help="Write a small game's tree, or a hold'em strategy's hands, as SVG to this file.")
    ] = None,
    pdf: Annotated[Path | None, typer.Option(help="The same as PDF (extra 'plot').")] = None,
    propnet: Annotated[
        Path | None,
        typer.Option(
            help="Write a GDL game's propositional network to this file: .dot, or .svg, .png or .pdf by Graphviz."
        ),
    ] = None,
    equilibria: Annotated[
        bool,
        typer.Option(
            "--equilibria",
            help="List all equilibria of a small game instead: extreme ones of two players, else isolated.",
        ),
    ] = False,
    pure: Annotated[
        bool, typer.Option("--pure", help="List all pure equilibria of a small game of any number of players instead.")
    ] = False,
    stability: Annotated[
        bool,
        typer.Option(
            "--stability", help="Say instead whether replicator dynamics come back to a strategy of all players."
        ),
    ] = False,
    dominated: Annotated[
        bool, typer.Option("--dominated", help="Leave out strictly dominated strategies of a small game instead.")
    ] = False,
    correlated: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="Instead: show the correlated equilibrium of highest total payoff; ce, efce, efcce or cce.",
        ),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(min=0, help="Stop such a computation after so many seconds (no limit).")
    ] = None,
    max_histories: MaxHistories = None,
    json_: AsJson = False,
) -> None:
    """Show a game's tree, or a strategy, as text; a small game also as SVG or PDF."""
    from infoset.files import check_file
    from infoset.verbs import show_first, show_propnet

    if what is None:
        game, named = _with_run(game)
        what = next(iter(named), None)
    for name, why in INSTEAD.items():
        if context.params[name]:
            beside = {"stability": {"what"}, "pure": {"equilibria"}}.get(name, set())
            _refuse_others(context, {"game", "max_histories", "seconds", "json_", name, *beside}, why)
            found = _in_time(f"--{name}", lambda: _instead(name, game, what, correlated, max_histories), seconds)  # noqa: B023
            _print_json({"game": game, **found.body()}) if json_ else write(found)
            return
    _refuse(context, {"json_", "seconds"}, f"it goes with one of {', '.join(f'--{name}' for name in INSTEAD)}")
    if propnet is None:
        shown = show_first(game, what, svg=svg, pdf=pdf, max_histories=max_histories)
        write(shown.text)
        shown.draw()
        return
    check_file(propnet)
    _refuse_others(context, {"game", "propnet"}, "--propnet draws the rules of a game; it goes alone")
    write(show_propnet(game, propnet))


@app.command()
def check(
    context: typer.Context,
    game: Annotated[
        str,
        typer.Argument(
            metavar="GAME", help="A game description in GDL or GDL-II, KIF or infix, or gdl:NAME; with WHAT, any game."
        ),
    ],
    what: Annotated[str | None, typer.Argument(metavar="[WHAT]", help=f"A strategy to check. {WHAT_HELP}")] = None,
    simulate: Annotated[
        int, typer.Option(min=0, max=10**12, help="Also play so many random games and report statistics.")
    ] = 0,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the random games (0).")] = None,
    max_steps: Annotated[
        int | None, typer.Option(min=1, max=10**12, help="Give up random games that are longer (10,000).")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0, help="Stop the random games after so many seconds and report those played (60)."),
    ] = None,
    max_histories: MaxHistories = None,
    json_: AsJson = False,
) -> None:
    """Check a game description: every defect with its place; exit status 1 if one is an error.

    A game of your own, python:FILE.py:Class, is checked against the game model by random games (--simulate, 100).

    With WHAT, which solution concepts a strategy of all players satisfies: Nash, subgame-perfect, undominated,
    sequential, quasi-perfect, and where it fails.
    """
    from infoset.catalog import GAMES, OPENSPIEL
    from infoset.errors import ParameterError, shorten
    from infoset.registry import PYTHON, python_hint

    if what is None:
        game, named = _with_run(game)
        what = next(iter(named), None)
    if what is not None:
        others = "a strategy is checked exactly, not by random games"
        _refuse_others(context, {"game", "what", "max_histories", "json_"}, others)
        from infoset.verbs import check_profile

        found = check_profile(game, what, max_histories)
        if json_:
            _print_json({"game": found.game, "what": what, "findings": [asdict(one) for one in found.findings]})
        else:
            write(found)
        return
    known = not Path(game).exists() and game.partition("(")[0] in GAMES
    if hint := python_hint(Path(game), "names"):
        raise ParameterError(f"{shorten(game)!r} is {hint}")
    if game.startswith((PYTHON, OPENSPIEL)):
        others = "a game's contract is checked by random games"
        _refuse_others(context, {"game", "simulate", "seed", "max_steps", "json_"}, others)
        _check_game(_absolute(game), simulate, seed, max_steps, json_)
        return
    if known or Path(game).suffix.lower() in {".efg", ".nfg", ".gbt", ".csv"}:
        raise ParameterError(f"{game} is no description of rules in GDL; to check a strategy, name it too: {game} WHAT")
    _refuse(context, {"max_histories"}, "rules are checked without listing histories")
    _check_rules(game, simulate, seed, max_steps, seconds, json_)


def _check_game(game: str, simulate: int, seed: int | None, max_steps: int | None, json_: bool) -> None:
    """Check by random games that a game written in Python fulfils the game model."""
    from infoset.catalog import load
    from infoset.testing import check_game

    rules = load(game)
    most = {} if max_steps is None else {"max_steps": max_steps}
    found = check_game(rules, plays=simulate or CHECKED_PLAYS, seed=seed or 0, **most)
    if json_:
        _print_json(asdict(found) | {"game": game})
    else:
        write(
            f"{game}: conforms to the game model in {found.plays:,} random games of {found.mean_length:.4g} steps on"
            f" average, with {found.information_states:,} information states"
        )


def _check_rules(
    file: str, simulate: int, seed: int | None, max_steps: int | None, seconds: float | None, json_: bool
) -> None:
    from infoset.catalog import GDL
    from infoset.errors import ParameterError
    from infoset.gdl.checks import ERROR
    from infoset.gdl.checks import check as find_defects
    from infoset.gdl.library import description as shipped
    from infoset.gdl.syntax import read_gdl

    if not simulate and (seed, max_steps, seconds) != (None, None, None):
        raise ParameterError("--seed, --max-steps and --seconds are of random games; they go with --simulate")
    description = shipped(file.removeprefix(GDL)) if file.startswith(GDL) else read_gdl(file)
    defects = find_defects(description)
    errors = sum(defect.severity == ERROR for defect in defects)
    body = {"file": file, "errors": errors, "defects": [asdict(defect) for defect in defects]}
    lines = [*map(str, defects), f"{file}: {errors} errors, {len(defects) - errors} warnings"]
    if simulate and not errors:
        limit = SIMULATION if seconds is None else seconds
        played, found, not_ground = _simulate(description, simulate, seed or 0, max_steps or MAX_STEPS, limit)
        body |= {"playouts": asdict(played), "findings": found, "not_ground": not_ground}
        lines += [_playouts_text(played), *(f"{file}: {finding}" for finding in found)]
    try:
        _print_json(body) if json_ else write("\n".join(lines))
    finally:  # also where the reader of the output left early
        if errors:
            raise typer.Exit(1)


def _simulate(
    description: Description, plays: int, seed: int, max_steps: int, seconds: float
) -> tuple[Playouts, list[str], str]:
    """Return the playouts, their findings, and the reason why the rules were not ground, "" where they were."""
    import warnings
    from time import monotonic

    from infoset.clock import Clock
    from infoset.gdl.game import GdlGame
    from infoset.gdl.playouts import findings, random_playouts
    from infoset.gdl.rules import EvaluatorWarning, GdlWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GdlWarning)  # reported among the defects already
        warnings.simplefilter("always", EvaluatorWarning)  # not among the defects
        game = GdlGame(description)
    until = monotonic() + seconds
    played = random_playouts(game, plays, seed, max_steps, Clock(until))
    found = findings(game, played)
    if played.stopped and monotonic() >= until:
        found[0] = f"{played.plays:,} of {plays:,} random plays in {seconds:g} s (--seconds): {played.stopped}"
    return played, found, game.not_ground


def _playouts_text(played: Playouts) -> str:
    """Format the statistics of random playouts, one line for each role."""
    lines = [
        f"{played.finished:,} random plays: {played.length} steps, from {played.shortest} to {played.longest}",
        *(f"{role:<16} mean goal {mean}" for role, mean in played.returns.items()),
    ]
    return "\n".join(lines)


@app.command()
def convert(
    source: Annotated[
        str, typer.Argument(metavar="A", help="A game, a saved policy (.npz, .json), a replay or a game_state.json.")
    ],
    target: Annotated[Path, typer.Argument(metavar="B", help="The file to write: .efg, .nfg, .npz or .json.")],
    max_histories: MaxHistories = None,
    normalise: Annotated[
        bool,
        typer.Option(
            "--normalise",
            help="Write probabilities of an .efg file that sum only to about 1 as the fractions meant.",
        ),
    ] = False,
) -> None:
    """Convert a game to .efg or .nfg, a policy between .npz and .json, a Pommerman replay to game_state.json and back.

    The keys of a .json file say what it holds: "state" or "blob" a game_state.json of the reference, "steps" a replay,
    anything else a policy.
    """
    from infoset.verbs import convert as convert_to

    convert_to(source, target, max_histories=max_histories, normalise=normalise)
    note(f"{source} -> {target}")


INSTEAD = {
    "pure": "--pure lists the pure equilibria of a game; use it alone or with --equilibria",
    "equilibria": "--equilibria lists the equilibria of a game; use it alone",
    "stability": "--stability is of a strategy alone",
    "dominated": "--dominated lists dominated strategies; use it alone",
    "correlated": "--correlated shows a correlated equilibrium; use it alone",
}
"""The parameters of ``show`` that replace its output, with the reason why other options are refused."""


class _Shown(Protocol):
    """A result that can be shown as text and as JSON."""

    def body(self) -> dict[str, Any]: ...


def _in_time(what: str, find: Callable[[], _Shown], seconds: float | None) -> _Shown:
    """Run ``find`` for at most ``seconds``; Ctrl-C abandons it.  Raises ``ClockError`` with the last stage of work."""
    from math import inf
    from time import monotonic

    from infoset import status
    from infoset.errors import ClockError
    from infoset.solvers.job import Background

    stages: list[str] = []
    listener = lambda work: None if work is None else stages.append(work)  # noqa: E731
    status.listeners.append(listener)
    try:
        finding = Background(find)
        if finding.wait(inf if seconds is None else monotonic() + seconds):
            return finding.result
    finally:
        status.listeners.remove(listener)
    where = f"; the last of it: {stages[-1]}" if stages else ""
    raise ClockError(f"{what} is not finished after --seconds {seconds:g}{where}")


def _instead(name: str, game: str, what: str | None, correlated: str | None, max_histories: int | None) -> _Shown:
    """Return the result to print for the option ``name`` of ``INSTEAD``."""
    from infoset.compiled import Compiled

    compiled = Compiled.of(game, max_histories)
    if name == "stability":
        from infoset.verbs import show_stability

        return show_stability(compiled, what)
    if correlated is not None:
        from infoset.solvers.tabular.correlated import correlated_equilibrium

        return correlated_equilibrium(compiled, correlated)
    if name == "dominated":
        from infoset.solvers.tabular.dominance import eliminate_dominated

        return eliminate_dominated(compiled)
    from infoset.solvers.tabular.all_equilibria import all_equilibria
    from infoset.solvers.tabular.pure_equilibria import pure_equilibria

    return pure_equilibria(compiled) if name == "pure" else all_equilibria(compiled)


def _refuse_others(context: typer.Context, used: set[str], why: str) -> None:
    """Raise ``ParameterError`` for parameters other than ``used`` that were given."""
    _refuse(context, {str(parameter.name) for parameter in context.command.params} - used, why)


def _refuse(context: typer.Context, unused: set[str], why: str) -> None:
    """Raise ``ParameterError`` for parameters of ``unused`` that were given."""
    from infoset.errors import ParameterError

    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if parameter.name in unused and source is not None and source.name == "COMMANDLINE":
            name = parameter.opts[0] if parameter.param_type_name == "option" else str(parameter.name).upper()
            raise ParameterError(f"{name} would not be used: {why}")


def _with_run(game: str, *named: str | None) -> tuple[str, list[str]]:
    """Return the game and the names after it; a run's folder becomes its game and the first of the names."""
    from infoset.catalog import game_of_run
    from infoset.registry import check_trusted

    given = [name for name in named if name is not None]
    played = game_of_run(game)
    if played is None:
        return game, given
    check_trusted(played, f"the run in {game}")
    return played, [game, *given]


def _absolute(game: str) -> str:
    """Return a game's file as an absolute path, so that a run can be resumed from anywhere; other names unchanged."""
    from infoset.catalog import READERS
    from infoset.registry import absolute

    return str(Path(game).resolve()) if Path(game).suffix.lower() in READERS else absolute(game)


def _print_json(body: dict[str, Any]) -> None:
    print(json.dumps(body, allow_nan=False).replace("\x7f", "\\u007f"))  # plain ASCII without control characters
