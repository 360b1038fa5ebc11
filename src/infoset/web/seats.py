"""The games and agents that a table may have: names from the network must never run code or read arbitrary files."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from infoset import sizes
from infoset.base import Action, Agent, CardGame, Game, InformationState, RealTime
from infoset.catalog import READERS, known_games, list_games, load, load_shipped
from infoset.compiled import Compiled
from infoset.errors import (
    BudgetError,
    InfosetError,
    MissingExtraError,
    ParameterError,
    PluginError,
    UnknownNameError,
    UnsupportedGameError,
    one_line,
    shorten,
)
from infoset.files import POLICY
from infoset.formats.efg import EfgGame
from infoset.formats.nfg import NfgGame
from infoset.match.agents import AGENTS, PolicyAgent, game_made_for, is_marked, load_agent
from infoset.match.person import HUMAN
from infoset.match.replay import Match, replay_steps
from infoset.names import Name, Value, parse_name
from infoset.policies.loading import load_policy
from infoset.policies.tabular import TabularPolicy
from infoset.practice import EQUILIBRIUM, costs, customary, grades, solve_soon
from infoset.remote.serving import Refusal
from infoset.solvers.job import Watcher
from infoset.solvers.study import ActionValue, Study
from infoset.spots import SpotTree
from infoset.view.pictures import record_words
from infoset.web.artifacts import Artifact, find, items
from infoset.web.metadata import MetadataCache, kind_of
from infoset.web.queue import Queue, RunningRequest

K = TypeVar("K")
T = TypeVar("T")

REMOTE = frozenset({
    "chat", "docker", "ggp", "http", "isolated", "kaggle", "mixed", "onnx", "policy", "sb3", "scripted", "torch",
    "trained",
})  # fmt: skip
"""Agents that open files, addresses or processes, or name others that may: tables use served items instead."""
MAX_NAME = 200
BUILDING, SOLVING = 15.0, 5.0  # seconds
MAX_SOLUTIONS = 8
MAX_TREES = 3  # solutions of hold'em spots that are kept to grade decisions
HINTS = 1.0  # seconds that a question for a hint may wait
MAX_KNOWN = 100  # games for which it is remembered whether they are small
STEP = 0.2  # seconds between two checks of a job that is waited for


def find_game(folders: tuple[Path, ...], name: str, where: str = "the page") -> Game:
    """Return a shipped game, or one from a file in the folders.

    ``where`` says in errors who gave the name.  Raises ``Refusal`` and what ``load`` raises.
    """
    if len(name) > MAX_NAME:
        raise ParameterError(f"a name of more than {MAX_NAME} letters")
    if Path(name).suffix.lower() in READERS:
        return load(str(find(folders, name, "game").path))
    return load_shipped(name, where)


def replay_name(folders: tuple[Path, ...], name: str) -> str:
    """Return the name by which ``load`` finds a game again, or a file's path.  Raises ``Refusal`` where it is gone."""
    return str(find(folders, name, "game").path) if Path(name).suffix.lower() in READERS else name


def is_remote(word: str) -> bool:
    """Return whether tables do not have the agent of this name."""
    return word in REMOTE or is_marked(word, "wraps") or is_marked(word, "runs_code")


def check_plain(parsed: Name) -> None:
    """Raise unless the parameters are numbers and words: nothing that could be a path, an address or code."""
    for key, value in parsed.parameters:
        _check_value(key, value)


def _check_value(key: str, value: Value) -> None:
    if isinstance(value, Name):
        if is_remote(value.word) or ":" in value.word:
            raise ParameterError(f"{key}={one_line(str(value))}: not from here")
        check_plain(value)
    elif isinstance(value, tuple):
        for part in value:
            _check_value(key, part)
    elif isinstance(value, str) and any(sign in value for sign in "/\\:."):
        raise ParameterError(f"{key}={one_line(value)}: not from here; allowed: numbers and words")


@dataclass(frozen=True)
class Wait:
    """How to wait for a game's solution: for which visitor, where progress is reported, until when."""

    visitor: str = ""
    step: Callable[[str], object] = lambda line: None
    left: Callable[[], bool] = lambda: False
    """Whether the result is no longer wanted."""
    seconds: float = inf


class Agents:
    """A maker of the agents at tables; the solution of a game is shared by all tables."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self.folders, self.heads = folders, MetadataCache()
        self.solved: dict[Game | str, Solved] = {}  # by ``key_of``
        self.trees: dict[tuple[str, str], SpotTree] = {}  # by the agent and the game
        self.refused: dict[Game | str, str] = {}
        self.solvable: dict[Game | str, bool] = {}
        self.queue = Queue()
        self.lock = threading.Lock()

    def check(self, name: str, game: Game) -> None:
        """Raise for a name that no agent may have here, and for an agent that cannot play ``game``."""
        if len(name) > MAX_NAME:
            raise ParameterError(f"a name of more than {MAX_NAME} letters")
        if name in (HUMAN, EQUILIBRIUM):
            return
        self.resolve(name)
        if name[:1].isdecimal():
            why = self.why_unusable(find(self.folders, name), game)
        else:
            why = why_not(parse_name(name).word, game)
        if why:
            raise ParameterError(f"{one_line(name)} cannot play {one_line(game.name)}: it is {why}")

    def list_policies(self, game: Game) -> tuple[list[str], dict[str, list[str]]]:
        """Return the served policies and runs that can play ``game``, and the others by why they cannot."""
        fit: list[str] = []
        others: dict[str, list[str]] = {}
        for item in items(self.folders):
            if self.heads.of(item).kind in ("policy", "run"):
                why = self.why_unusable(item, game)
                (others.setdefault(why, []) if why else fit).append(item.name)
        return fit, others

    def why_unusable(self, item: Artifact, game: Game) -> str:
        """Return in a few words why an item in the served folders cannot play ``game``; "" where it can."""
        head = self.heads.of(item)
        if head.problem:
            return head.problem
        if not is_for(head.game, game):
            return f"for {named_short(head.game)}"
        if head.kind == "run" and not head.about.get("learns") and not (item.path / POLICY).is_file():
            return "a run without a policy yet"
        return ""

    def make(self, name: str, game: Game, wait: Wait | None = None) -> Agent:
        """Return an agent for ``game``.

        ``wait`` says how long a solution that takes a while is waited for, and is called with the progress.
        """
        if name == EQUILIBRIUM:
            return PolicyAgent(self.equilibrium(game, wait).policy, EQUILIBRIUM)
        agent = load_agent(self.resolve(name))
        if name[:1].isdecimal() and isinstance(agent, PolicyAgent):
            agent.name = name.partition("/")[2]
        return agent

    def resolve(self, name: str) -> str:
        """Return what ``load_agent`` takes: the path of an item in the served folders, or the name of a safe agent."""
        if name[:1].isdecimal():
            item = find(self.folders, name)
            if (kind := kind_of(item)) not in ("policy", "run"):
                what = f"a {kind}" if kind else "unknown here"
                raise ParameterError(f"{one_line(name)} is {what}; a policy or a run can play")
            return str(item.path)
        parsed = parse_name(name)
        if parsed.word not in AGENTS or is_remote(parsed.word):
            names = sorted(word for word in AGENTS if not is_remote(word))
            raise UnknownNameError("agent", parsed.word, [HUMAN, EQUILIBRIUM, *names])
        check_plain(parsed)
        AGENTS.check(parsed)
        return name

    def equilibrium(self, game: Game, wait: Wait | None = None) -> Solved:
        """Return the solution of ``game``, solved within seconds after the jobs before it in the queue.

        Raises ``BudgetError`` where the game is too large for that, and ``Refusal`` where ``wait`` ends first.
        """
        key, wait = key_of(game), wait or Wait()
        with self.lock:
            if key in self.refused:
                raise BudgetError(self.refused[key])
            if key in self.solved:
                return self.solved[key]
        request = self.queue.ask(wait.visitor, key, lambda job: self._solved(key, game, job))
        until = monotonic() + wait.seconds
        try:
            while not request.job.over.wait(STEP):
                wait.step(self.queue.line(self.queue.find(request.id)))
                if wait.left():
                    self.queue.give_up(request)
                    raise Refusal(HTTPStatus.GONE, "left before the game began")
                if monotonic() > until:
                    line = self.queue.line(request)
                    raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, f"not solved yet ({line}); ask again in a moment")
        finally:
            self.queue.forget(request)
        if request.job.error is not None:
            raise request.job.error
        if request.failed:
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, request.failed)
        found: Solved = request.job.result
        return found

    def _solved(self, key: Game | str, game: Game, job: RunningRequest) -> Solved:
        try:
            found = solve_for_play(game, job)
        except (BudgetError, UnsupportedGameError) as error:
            self._keep(self.refused, key, str(error), MAX_SOLUTIONS)
            raise
        self._keep(self.solved, key, found, MAX_SOLUTIONS)
        return found

    def _keep(self, cached: dict[K, T], key: K, found: T, most: int) -> None:
        with self.lock:
            while len(cached) >= most:
                cached.pop(next(iter(cached)))
            cached[key] = found

    def is_solvable(self, game: Game) -> bool:
        """Return whether all positions of a game can be enumerated in about a quarter of a second."""
        key = key_of(game)
        if key in self.solved:
            return True
        if key not in self.solvable:
            try:
                compiled = Compiled(game, progress=small(seconds=0.4))
                if compiled.has_vector_form:
                    found = compiled.vector.num_rows <= sizes.ROWS_SOLVED_AT_ONCE
                else:
                    found = compiled.graph is not None
            except InfosetError:
                found = False
            self._keep(self.solvable, key, found, MAX_KNOWN)
        return self.solvable.get(key, False)

    def hint(
        self, source: str, game: Game, player: int, infostate: InformationState, legal_actions: tuple[Action, ...],
        visitor: str = "",
    ) -> list[float]:  # fmt: skip
        """Return the probabilities of the moves by a policy: ``auto``, or one in the served folders.

        Raises ``Refusal`` where the game is not solved yet: no question may delay the others for long.
        """
        if source in ("auto", EQUILIBRIUM):
            policy = self.equilibrium(game, Wait(visitor, seconds=HINTS)).policy
        else:
            agent = self.make(source, game)
            if not isinstance(agent, PolicyAgent):
                raise ParameterError(f"{one_line(source)} is not a policy that could be asked")
            policy = agent.policy_for(game)
        row = policy.action_probabilities(player, infostate, legal_actions) if len(legal_actions) > 1 else None
        return [1 / len(legal_actions)] * len(legal_actions) if row is None else [float(chance) for chance in row]

    def at_hand(self, game: Game, wait: Wait) -> bool:
        """Return whether a game is solved already, or is solved within ``wait``."""
        try:
            return self.equilibrium(game, wait) is not None
        except (InfosetError, Refusal):
            return False

    def tree(self, game: Game, names: Sequence[str]) -> SpotTree | None:
        """Return the solution that grades decisions in a hold'em spot: the first served one among these agents."""
        name = next((name for name in names if name[:1].isdecimal()), None)
        if name is None or not isinstance(game, CardGame):
            return None
        with self.lock:
            if (name, game.name) in self.trees:
                return self.trees[name, game.name]
        found = SpotTree.of(Compiled(game), load_policy(self.resolve(name)))
        self._keep(self.trees, (name, game.name), found, MAX_TREES)
        return found

    def costs(self, game: Game, match: Match, player: int, names: Sequence[str] = ()) -> list[dict[str, Any]]:
        """Return each choice's average cost to ``player`` against the solved policy, in units of payoffs.

        In hold'em against a served solution, one of the agents ``names``, with the verdict and the share of the pot.
        """
        steps, tree = replay_steps(match, game), self.tree(game, names)
        if tree is not None or isinstance(game, CardGame):
            solved = None if tree is not None else self.equilibrium(game)
            tree = tree or SpotTree.of(solved.compiled, solved.policy)  # type: ignore[union-attr]
            return [
                {
                    "words": _last_words(game, player, infostate), "move": grade.action, "best": grade.best,
                    "cost": grade.lost, "share": grade.lost_share, "verdict": grade.verdict, "played": grade.frequency,
                }
                for _, infostate, grade in grades(tree, match, steps, player)
            ]  # fmt: skip
        solved = self.equilibrium(game)
        study, policy = solved.study, solved.policy
        if study is None:
            return []

        def actions(player: int, infostate: InformationState) -> list[ActionValue]:
            return study.actions(player, policy.key(infostate))

        return [
            {
                "words": _last_words(game, player, found.infostate), "move": found.action, "best": found.best,
                "cost": found.lost,
            }
            for found in costs(actions, match, steps, player)
            if found.lost is not None
        ]  # fmt: skip


def _last_words(game: Game, player: int, infostate: InformationState) -> str:
    return record_words(game, player, infostate[-1], infostate[:-1]) if infostate else "at the start"


class Solved:
    """A policy for a whole game, and its gap to an equilibrium."""

    def __init__(self, policy: Any, compiled: Any, gap: float | None) -> None:
        self.policy, self.compiled, self.gap = policy, compiled, gap

    @cached_property
    def study(self) -> Study | None:
        """The values of all moves; ``None`` where the policy is not a table."""
        try:
            return Study.of(self.compiled, self.policy) if isinstance(self.policy, TabularPolicy) else None
        except InfosetError:
            return None


def solve_for_play(game: Game, job: RunningRequest) -> Solved:
    """Solve a game within some seconds.

    Raises ``BudgetError``, and ``CancelledError`` once the job is given up.
    """

    def step(line: str) -> None:
        job.check()
        job.line = line

    def begin(work: Any, limits: Any) -> None:
        step("solving it")

    step("building the game")
    compiled = Compiled(game, progress=small(step, BUILDING))
    if compiled.has_vector_form and compiled.vector.num_rows > sizes.ROWS_SOLVED_AT_ONCE:
        raise BudgetError(f"{compiled.vector.num_rows:,} probabilities: too large to be solved while you wait")
    solution = solve_soon(compiled, SOLVING, Watcher(begin=begin, advance=job.check))
    return Solved(solution.policy, compiled, solution.gap)


def key_of(game: Game) -> Game | str:
    """Return the key of a game's solution: a shipped game's name, or a game from a file itself, as it may change."""
    shipped = not isinstance(game, (EfgGame, NfgGame)) and game.name.partition("(")[0] in known_games()
    return game.name if shipped else game


def small(step: Any = lambda word: None, seconds: float = inf) -> Any:
    """Return a progress callback for ``Compiled`` that limits the size of a game.

    It raises ``BudgetError`` for a game of too many positions, or one that takes longer than ``seconds`` to build.
    """
    until = monotonic() + seconds

    def count(found: int) -> None:
        step(f"building the game: {found:,} positions")
        if found > sizes.SOLVED_ON_PAGE:
            raise BudgetError(f"more than {sizes.SOLVED_ON_PAGE:,} positions: too large to be solved while you wait")
        if monotonic() > until:
            raise BudgetError(f"not built after {seconds:g} s: too large to be solved while you wait")

    return count


def is_paced(game: Game) -> bool:
    """Return whether a game is played in real time."""
    return isinstance(game, RealTime)


def listed() -> list[dict[str, str]]:
    """Return the shipped games to choose from."""
    found = []
    for entry in list_games():
        family = entry.name.partition(":")[0] if ":" in entry.name else ""
        found.append({"name": entry.name, "family": family, "about": entry.about})
    return found


OWN_GAMES = {"meier": "gdl:meier", "blind_tic_tac_toe": "gdl:blind_tic_tac_toe"}


def why_not(word: str, game: Game) -> str:
    """Return why the agent of this name cannot play ``game`` at a table, in a few words; "" where it can."""
    try:
        own = game_made_for(word) or OWN_GAMES.get(word, "")
    except (MissingExtraError, PluginError) as error:
        return str(error)
    if not game.name.startswith(own):
        return f"made for {own.removesuffix(':').capitalize() if own.endswith(':') else own}"
    if own and word not in AGENTS.homes:
        return str(getattr(AGENTS[word], "why_not", lambda _: "")(game))
    if word != "random" and is_paced(game):
        return "not made for games in real time"
    if word == "uct" and not getattr(game, "everybody_sees", False):
        return "for games in which everybody sees everything"
    return ""


def fitting(game: Game) -> list[str]:
    """Return the names of the agents that can play ``game``, its customary opponent first, then ``random``."""
    first = (customary(game), "random")
    return sorted(
        (word for word in _seated() if not why_not(word, game)),
        key=lambda word: first.index(word) if word in first else len(first),
    )


def unfitting(game: Game) -> dict[str, list[str]]:
    """Return the names of the other agents, by why they cannot play ``game``."""
    found: dict[str, list[str]] = {}
    for word in _seated():
        if why := why_not(word, game):
            found.setdefault(why, []).append(word)
    return found


def _seated() -> list[str]:
    """Return the names of the agents that a table may have."""
    return sorted(word for word in AGENTS if not is_remote(word) and word != HUMAN)


def is_for(named: str, game: Game) -> bool:
    """Return whether a policy or run that gives ``named`` as its game is for ``game``.

    A game is named by its full name, or by the stem of its file.
    """
    if named == game.name:
        return True
    path = Path(named)
    if path.suffix.lower() in READERS:
        return path.stem == game.name
    try:
        word = parse_name(named).word
        return word == game.name.partition("(")[0] and word in known_games() and load(named).name == game.name
    except InfosetError:
        return False


def named_short(name: str) -> str:
    """Return a game's name without the folders of its file, which only the server should know."""
    return one_line(Path(name).name if Path(name).suffix.lower() in READERS else name, 80)


def title(name: str) -> str:
    """Return a game's name in the form for a heading."""
    word = shorten(name, 60).rpartition(":")[2]
    return word.replace("_", " ")
