"""The registry of agents, and the agents for every game: random, policy and scripted."""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Protocol

import numpy as np

from infoset.arguments import checks_arguments
from infoset.base import Accountable, Action, Agent, Drawing, Game, InformationState, Observation, Passing, Policy
from infoset.clock import making_within
from infoset.errors import (
    FormatError,
    GameRuleError,
    InfosetError,
    ParameterError,
    PolicyError,
    RemoteError,
    UnknownNameError,
    UnsupportedGameError,
    shorten,
)
from infoset.files import POLICY, SUFFIXES, read_text
from infoset.match.replay import Exchange, read_action
from infoset.names import Name, Value, full_name, parse_name
from infoset.processes import ABANDONED
from infoset.registry import PYTHON, Entry, Registry, check_python, own_name, path_problem
from infoset.statistics import draw

if TYPE_CHECKING:
    from infoset.policies.loading import SavedPolicy


COMMON = 1 << 31
"""The spawn key of the random stream that all agents of a game share."""


class RandomAgent:
    """An agent that plays every legal move with equal probability."""

    name = "random"

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        self.rng = rng

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        pass

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        return legal_actions[int(self.rng.random() * len(legal_actions))]

    def end(self, returns: tuple[float, ...]) -> None:
        pass


class Delegating:
    """An agent that chooses an ``inner`` agent when a game begins and lets it play."""

    inner: Agent
    plan = ""
    """The reason for the choice."""

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        self.inner.observe(own_action, observation)

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        return self.inner.act(legal_actions, deadline)

    def end(self, returns: tuple[float, ...]) -> None:
        self.inner.end(returns)

    @property
    def unknown(self) -> int:
        """The number of moves that the inner agent made at random."""
        return int(getattr(self.inner, "unknown", 0))

    def reach(self) -> None:
        """Raise ``RemoteError`` unless the inner agent's address answers; see ``check_reached``."""
        check_reached([self.inner] if hasattr(self, "inner") else [])

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """What the inner agent asked a language model; see ``exchanges_of``."""
        return exchanges_of(self.inner)

    def account(self) -> str:
        """Return the plan and the inner agent's account of how it played."""
        inner_account = self.inner.account() if isinstance(self.inner, Accountable) else ""
        return "; ".join(filter(None, (self.plan, inner_account)))


class PolicyAgent:
    """An agent that plays a policy: it tracks its information state and draws moves from the policy's probabilities.

    ``policy`` is any object with rows of probabilities, or a saved policy.  Where it has no row, the agent moves
    uniformly at random; ``unknown`` counts these moves.  ``begin`` raises ``UnsupportedGameError`` for a policy that
    was made for another game.

    >>> policy = infoset.solve("kuhn_poker", "lp").policy
    >>> infoset.play_match("kuhn_poker", [infoset.PolicyAgent(policy), "random"], seed=1).agents
    ('policy', 'random')
    """

    def __init__(self, policy: Policy | SavedPolicy, name: str = "policy") -> None:
        if isinstance(policy, type) or not (hasattr(policy, "action_probabilities") or hasattr(policy, "on")):
            raise ParameterError(f"policy={shorten(repr(policy))} is not a policy; it has no rows of probabilities")
        if not isinstance(name, str):
            raise ParameterError(f"name={shorten(repr(name))} is no text")
        self.policy, self.name = policy, name
        self.unknown = 0
        self._game: Game | None = None

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        if self._game is not game:
            self._agreed, self._game = self.policy_for(game), game
        self._plays = self._agreed.draw(common_stream(rng)) if isinstance(self._agreed, Drawing) else self._agreed
        self.player, self.rng = player, rng
        self.infostate: InformationState = ()

    def policy_for(self, game: Game) -> Policy:
        """Return the policy in terms of ``game``.  Raises ``UnsupportedGameError`` where it is of another game."""
        from infoset.compiled import Compiled
        from infoset.policies.loading import SavedPolicy

        if not isinstance(self.policy, SavedPolicy):
            return self.policy
        try:
            return self.policy.on(Compiled(game))
        except PolicyError as error:
            raise UnsupportedGameError(f"{self.name}: {error}") from None

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        if own_action is not None or observation is not None:
            self.infostate = (*self.infostate, (own_action, () if observation is None else observation))

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        if len(legal_actions) == 1:  # no choice: policies leave such information sets out
            return legal_actions[0]
        row = self._plays.action_probabilities(self.player, self.infostate, legal_actions)
        if row is None:
            self.unknown += 1
            return legal_actions[int(self.rng.random() * len(legal_actions))]
        return draw(legal_actions, list(row), self.rng)

    def report_probabilities(self, legal_actions: tuple[Action, ...]) -> Sequence[float]:
        """Return the probabilities of the legal moves in the current information state."""
        row = (
            self._plays.action_probabilities(self.player, self.infostate, legal_actions)
            if len(legal_actions) > 1
            else None
        )
        return [1 / len(legal_actions)] * len(legal_actions) if row is None else row

    def end(self, returns: tuple[float, ...]) -> None:
        pass

    def account(self) -> str:
        """Say how often the agent had to move at random."""
        return f"moved at random at {self.unknown:,} information sets that its policy lacks" if self.unknown else ""


def common_stream(rng: np.random.Generator) -> np.random.Generator:
    """Return the random stream that all agents of a game share, derived from the seed of their own streams."""
    seeds = rng.bit_generator.seed_seq
    common = np.random.SeedSequence(getattr(seeds, "entropy", None), spawn_key=(COMMON,))
    return np.random.Generator(np.random.PCG64(common))


class ScriptedAgent:
    """An agent that plays a list of moves, one each time it is asked.

    After the last one it plays the game's ``pass_move``; in a game without one it raises an
    error, which counts as a fault.
    """

    def __init__(self, actions: Sequence[Action], name: str = "scripted") -> None:
        self.actions, self.name = tuple(actions), name

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        self.game, self.asked = game, 0

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        pass

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        self.asked += 1
        return self.actions[self.asked - 1] if self.asked <= len(self.actions) else self._rest()

    def end(self, returns: tuple[float, ...]) -> None:
        pass

    def _rest(self) -> Action:
        if not isinstance(self.game, Passing):
            raise GameRuleError(f"the script has {len(self.actions)} moves, and one more is asked for")
        return self.game.pass_move


def random() -> Agent:
    """Every legal move with equal probability."""
    return RandomAgent()


def policy(path: str = "") -> Agent:
    """A saved policy: its file (.npz, .json), or the folder of a run."""
    from infoset.policies.loading import load_policy  # imported late: it loads the compiled kernels

    if not path:
        raise ParameterError("policy: path is missing; name the file: policy(path=policy.npz)")
    return PolicyAgent(load_policy(path), str(Name("policy", (("path", path),))))


def scripted(path: str = "", actions: tuple[Value, ...] = ()) -> Agent:
    """A list of moves: moves=[…], or a file (.json)."""
    if bool(path) == bool(actions):
        raise ParameterError("scripted: give a file or moves: scripted(path=moves.json) or scripted(actions=[1,1,5])")
    name = full_name("scripted", scripted, path=path, actions=actions)
    if not path:
        return ScriptedAgent(_script(_listed(actions), name), name)
    try:
        return ScriptedAgent(_script(json.loads(read_text(Path(path))), path), name)
    except json.JSONDecodeError as error:
        raise FormatError(f"not JSON: {error.msg}", path, error.lineno, error.colno) from None
    except RecursionError:
        raise FormatError("lists nested too deeply", path) from None
    except FormatError:
        raise
    except ValueError:  # raised for an integer with thousands of digits
        raise FormatError("a number with too many digits", path) from None


def _listed(value: Value) -> object:
    """Return a parameter's value as decoded JSON has it, with tuples as lists."""
    return list(map(_listed, value)) if isinstance(value, tuple) and not isinstance(value, Name) else value


def _script(actions: object, source: str) -> list[Action]:
    if not isinstance(actions, list):
        raise FormatError(f"{shorten(repr(actions))} is not a list of moves", source)
    try:
        return list(map(read_action, actions))
    except ValueError as error:
        raise FormatError(str(error), source) from None


class Maker(Protocol):
    """The checked parameters of an agent; nothing is compiled before ``agent`` is called."""

    def agent(self) -> Agent:
        """Return a new agent."""
        ...


AGENTS: Registry[Agent | Maker] = Registry(
    "agent",
    {
        "adaptive": "infoset.search.adaptive:Adaptive",
        "blind_tic_tac_toe": "infoset.gdl.agents:BlindTicTacToeAgent",
        "chat": "infoset.remote.chat:chat",
        "docker": "infoset.remote.docker:docker",
        "flat-mc": "infoset.search.monte_carlo:FlatMc",
        "ggp": "infoset.remote.ggp_agent:ggp",
        "hat-guessing": "infoset.games.hat_guessing:HatGuessing",
        "http": "infoset.remote.http:http",
        "human": "infoset.cli.terminal:human",
        "is-mcts": "infoset.search.monte_carlo:IsMcts",
        "kluss": "infoset.search.kluss:Kluss",
        "isolated": "infoset.remote.isolated:isolated",
        "kaggle": "infoset.formats.kaggle_agent:kaggle",
        "meier": "infoset.gdl.agents:MeierAgent",
        "mixed": "infoset.match.mixed:mixed",
        "onnx": "infoset.match.networks:onnx",
        "pessimistic": "infoset.search.pessimistic:Pessimistic",
        "pimc": "infoset.search.monte_carlo:Pimc",
        "policy": "infoset.match.agents:policy",
        "random": "infoset.match.agents:random",
        "sb3": "infoset.match.networks:sb3",
        "scripted": "infoset.match.agents:scripted",
        "search": "infoset.search.agent:Search",
        "sparta": "infoset.games.hanabi_search:Sparta",
        "torch": "infoset.match.networks:torch",
        "trained": "infoset.learn.agent:Trained",
        "uct": "infoset.search.monte_carlo:Uct",
    },
    group="infoset.agents",
)
"""The makers of agents by name; an agent's parameters are those of its maker."""


def list_agents() -> list[Entry]:
    """List the agents that are known by name, with their parameters and a line about each.

    >>> [entry.name for entry in infoset.list_agents() if entry.about.startswith("Any game")]
    ['adaptive', 'search']
    """
    return AGENTS.entries()


GIVEN: dict[str, Agent] = {}
"""Agent objects that exist in this process only, by their temporary names (see ``given``)."""

METHODS = ("begin", "observe", "act", "end")
ADDRESSES = ("http://", "https://")
BARE_ADDRESS = re.compile(r"[\w.-]+:\d{1,5}(/\S*)?")
ADDRESSED = {"chat", "ggp", "http"}  # agents at a network address
IN_THREAD = {"docker", "isolated", *ADDRESSED}  # agents that run in another process anyway
HERE = {"human"}  # agents at the terminal of this process
SHORT = {"chat": "url", "kaggle": "path", "onnx": "path", "sb3": "path", "torch": "path", "trained": "path"}
"""Agents that are also named ``WORD:PLACE``, each with the parameter that the place is."""
RUNS_FILES = {"kaggle"}  # agents that run the code of a file that the user names
NET = "net.safetensors"


SECONDS_TO_MAKE = 60.0
"""The most seconds for constructing a foreign agent, including its import, in a process that others wait for; a limit
of the time to begin takes precedence."""


class UnavailableAgent:
    """A stand-in for an agent that was not constructed in time: ``begin`` and ``act`` raise ``RemoteError``."""

    def __init__(self, name: str, why: str) -> None:
        self.name, self.why = name, why

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        raise RemoteError(self.why)

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        pass

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        raise RemoteError(self.why)

    def end(self, returns: tuple[float, ...]) -> None:
        pass


@checks_arguments
def load_agent(name: str) -> Agent:
    """Return a new agent by name: ``"random"``, ``"search(method=tree)"``.  Each seat needs its own agent.

    The file of a policy, the folder of a run, ``"trained:DIR"``, a network, ``"torch:FILE"``, the address of a server,
    ``"chat:URL"`` (a language model), an agent of kaggle-environments, ``"kaggle:FILE.py"``, and one of your own,
    ``"python:FILE.py:Class(…)"``, are names, too.

    Raises ``UnknownNameError``, ``ParameterError``, ``FormatError`` or ``PolicyError``.

    >>> infoset.load_agent("random").name
    'random'
    >>> infoset.load_agent("randon")
    Traceback (most recent call last):
    infoset.errors.UnknownNameError: unknown agent 'randon'; did you mean 'random'?
    """
    return _made(name, None if name in GIVEN else read_name(name))


def _made(name: str, parsed: Name | None) -> Agent:
    """Return a new agent; ``parsed`` is its resolved name, ``None`` for an agent of ``GIVEN``."""
    if parsed is None:
        return copy.deepcopy(GIVEN[name])
    try:
        made = AGENTS.build(parsed)
    except FormatError:
        if parsed.word.startswith(PYTHON) and (plays := _other_use(parsed.word)):
            raise ParameterError(
                f"{shorten(parsed.word)!r} is an agent of the {_kind(plays)}: {plays} plays it"
            ) from None
        raise
    if not isinstance(made, type) and isinstance(made, Agent):
        return made
    if not isinstance(made, type) and isinstance(made, Policy):
        return PolicyAgent(made, str(parsed))
    agent = made.agent() if hasattr(made, "agent") else made
    if isinstance(agent, type) or not isinstance(agent, Agent):
        raise ParameterError(_no_agent(parsed.word, agent))
    return agent


def _no_agent(word: str, made: object) -> str:
    """Explain why the object that a user's class or function returned is not an agent."""
    place, _, attribute = word.removeprefix(PYTHON).rpartition(":")
    kind = made if isinstance(made, type) else type(made)
    what = f"class {attribute} of {shorten(place)} is not an agent"
    if kind.__name__ != attribute or isinstance(made, type):
        a = "the class " if isinstance(made, type) else "an object of class "
        what = f"{attribute} of {shorten(place)} makes {a}{kind.__name__}, not an agent"
    if plays := _other_use(word):
        return f"{what}, but one of the {_kind(plays)}: {plays} plays it"
    lacks = [method for method in METHODS if not callable(getattr(made, method, None))]
    return f"{what}: it lacks {', '.join(lacks)}" if lacks else f"{what}; it needs an object"


def load_agents(names: Sequence[Agent | str], seconds: float | None = None) -> tuple[Agent, ...]:
    """Load each name as ``load_agent`` does; errors in any name are raised before an agent compiles.

    Agent objects are returned unchanged.  A foreign agent that is not constructed within ``seconds`` is replaced by
    an ``UnavailableAgent``.
    """
    parsed = [check_agent(name) if isinstance(name, str) else None for name in names]
    compiling_last = sorted(range(len(names)), key=lambda k: (found := parsed[k]) is not None and _compiles(found))
    with making_within(seconds):
        made = {
            k: _made_in_time(name, parsed[k], seconds) if isinstance(name := names[k], str) else name
            for k in compiling_last
        }
    return tuple([made[k] for k in range(len(names))])


def _made_in_time(name: str, parsed: Name | None, seconds: float | None) -> Agent:
    """Construct an agent; foreign code that exceeds ``seconds`` goes on in a thread of its own and is ignored."""
    if seconds is None or parsed is None or not is_foreign_code(parsed):
        return _made(name, parsed)
    made: Future[Agent] = Future()

    def make() -> None:
        try:
            made.set_result(_made(name, parsed))
        except BaseException as error:  # raised again where the result is waited for
            made.set_exception(error)

    Thread(target=make, name=ABANDONED, daemon=True).start()
    try:
        return made.result(seconds)
    except TimeoutError:
        if made.done():
            raise
        return UnavailableAgent(name, f"it was not made in {seconds:g} s")


def is_foreign_code(parsed: Name) -> bool:
    """Return whether an agent, one that it wraps, or its heuristic is the user's own code, which may do anything."""
    if parsed.word.startswith(PYTHON) or parsed.word in RUNS_FILES or is_marked(parsed.word, "runs_code"):
        return True
    return any(_holds_foreign_code(value) for _, value in parsed.parameters)


def is_marked(word: str, mark: str) -> bool:
    """Return whether the maker of an agent of an installed package has an attribute ``mark`` that is true."""
    with suppress(InfosetError):  # where it cannot be imported, it says so when it is made
        return word not in AGENTS.homes and word in AGENTS and bool(getattr(AGENTS[word], mark, False))
    return False


def _wraps_others(word: str) -> bool:
    return word == "mixed" or is_marked(word, "wraps")


def _holds_foreign_code(value: Value) -> bool:
    if isinstance(value, Name):
        return is_foreign_code(value)
    if isinstance(value, tuple):
        return any(map(_holds_foreign_code, value))
    return isinstance(value, str) and value.startswith((PYTHON, *[f"{word}:" for word in RUNS_FILES]))


def check_agent(name: str) -> Name | None:
    """Resolve and check a name, ``None`` for an agent of ``GIVEN``; no file is read and nothing is compiled.

    Raises what ``load_agent`` would for a wrong name or parameter.
    """
    if name in GIVEN:
        return None
    parsed = read_name(name)
    if parsed.word.startswith(PYTHON):  # its code is run only where it plays
        check_python(parsed.word)
        return parsed
    AGENTS.check(parsed)
    if _compiles(parsed):
        AGENTS.build(parsed)  # checks its parameters
    return parsed


def game_made_for(word: str) -> str:
    """Return how the names of the games begin that the agent of this name is made for; "" where it plays any.

    The maker of an agent says so in an attribute ``made_for`` (see ``registry.made_for``).
    """
    return str(getattr(AGENTS[word], "made_for", "")) if word in AGENTS else ""


def check_made_for(game: Game | str, agents: Sequence[Agent | str]) -> None:
    """Raise ``UnsupportedGameError`` for agents in games that they are not made for, before they compile."""
    words = [read_name(name) for name in agents if isinstance(name, str) and name not in GIVEN]
    own = [(name, beginning) for name in words if (beginning := game_made_for(name.word))]
    if not own or (isinstance(game, str) and all(game.startswith(beginning) for _, beginning in own)):
        return
    from infoset.catalog import load

    rules = load(game) if isinstance(game, str) else game
    for name, beginning in own:
        if not rules.name.startswith(beginning):
            games = f"{beginning}NAME" if beginning.endswith(":") else beginning
            raise UnsupportedGameError(f"agent {name} is made for {games}, not for {rules.name}")


def _compiles(parsed: Name) -> bool:
    """Return whether the agent has a ``Maker``."""
    return not parsed.word.startswith(PYTHON) and hasattr(AGENTS[parsed.word], "agent")


def read_name(name: str) -> Name:
    """Resolve a name; an address, a file or a folder becomes the name of the agent that plays it."""
    if name.startswith(ADDRESSES):
        return Name("http", (("url", name),))
    word, colon, place = name.partition(":")
    if colon and word in SHORT:
        file = parse_name(place) if word in RUNS_FILES else Name(place, ())
        return Name(word, ((SHORT[word], file.word), *file.parameters))
    if os.path.isfile(f"{name}/{NET}"):  # noqa: PTH113  # ten times faster than a Path
        return Name("trained", (("path", name),))
    if name.endswith(SUFFIXES) or os.path.isfile(f"{name}/{POLICY}"):  # noqa: PTH113
        return Name("policy", (("path", name),))
    parsed = parse_name(name)
    if parsed.word not in AGENTS and not parsed.word.startswith(PYTHON):
        raise _unknown(parsed.word)
    return parsed


def _unknown(word: str) -> InfosetError:
    """Return the error for an unknown name, which may have been meant as a file, a folder or an address."""
    if plays := _other_use(word):
        return ParameterError(f"{shorten(word)!r} contains an agent of the {_kind(plays)}: {plays} plays it")
    if not BARE_ADDRESS.fullmatch(word) and (problem := path_problem(word, "plays")):
        return problem
    names = [f"{ADDRESSES[0]}{word}"] if BARE_ADDRESS.fullmatch(word) else AGENTS
    return UnknownNameError("agent", word, names)


def check_reached(agents: Iterable[Agent]) -> None:
    """Raise ``RemoteError`` unless every agent's address answers; an agent that answered before is not asked again."""
    for agent in agents:
        if hasattr(agent, "reach"):
            agent.reach()


def exchanges_of(agent: Agent) -> tuple[Exchange, ...]:
    """Return what an agent asked a language model in its last game; a step is the number of the move, from 1."""
    return tuple(getattr(agent, "exchanges", ()))


def is_addressed(name: str) -> bool:
    """Return whether an agent, or an agent that it wraps, is at a network address."""
    parsed = None if name in GIVEN else read_name(name)
    if parsed is None or parsed.word in ADDRESSED:
        return parsed is not None
    return _wraps_others(parsed.word) and any(word in str(parsed) for word in ADDRESSES)


def _other_use(word: str) -> str:
    """Return the name by which an agent of an installed package plays what a Python file holds; empty for none."""
    word = word.removeprefix(PYTHON)
    path, cls = (word, "") if word.endswith(".py") else (word.rpartition(":")[0], word.rpartition(":")[2])
    if not path.endswith(".py") or not os.path.isfile(path):  # noqa: PTH113
        return ""
    for name in AGENTS.plugins:
        with suppress(InfosetError):
            if (name_for := getattr(AGENTS[name], "name_for", None)) and (found := name_for(path, cls)):
                return str(found)
    return ""


def _kind(plays: str) -> str:
    return plays.partition("(")[0]


def check_named(name: str, where: str) -> None:
    """Raise ``ParameterError`` for an agent that needs this terminal; ``where`` names a place without a terminal."""
    if name not in GIVEN and read_name(name).word in HERE:
        raise ParameterError(f"{name} plays at a terminal; there is none {where}; see 'infoset play'")


def alone(name: str, memory: int | None = None) -> str:
    """Return the agent's name in a process of its own with ``memory`` MiB; unchanged if it has a process already."""
    parsed = read_name(name)
    check_named(name, "in a process of its own")
    limits = () if memory is None else (("memory", memory),)
    return name if parsed.word in IN_THREAD else str(Name("isolated", (("agent", parsed), *limits)))


@contextmanager
def given(agents: Sequence[str | Agent]) -> Iterator[tuple[list[str], bool]]:
    """Yield names for agents, some of them objects, and whether other processes can construct all of them, too.

    An object whose class has a name (``registry.own_name``) is constructed anew by that name; other objects are
    registered in ``GIVEN`` and copied in this process.
    """
    names: list[str] = []
    mine: dict[str, Agent] = {}
    for agent in agents:
        name = agent if isinstance(agent, str) else own_name(agent)
        if not name and not isinstance(agent, str):
            plain = agent_name(agent)
            name = next(n for k in count(1) if (n := plain if k == 1 else f"{plain}-{k}") not in names)
            mine[name] = agent
        names.append(name)
    GIVEN.update(mine)
    try:
        yield names, not mine
    finally:
        for name in mine:
            del GIVEN[name]


def agent_name(agent: Agent) -> str:
    """Return an agent's name in results: its ``name`` if it has one, else the name of its class."""
    return str(getattr(agent, "name", type(agent).__name__))
