"""Agents by name, and those that play every game: at random, by a saved policy, by a script."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from infoset.base import Action, Agent, Game, Observation, Token
from infoset.errors import FormatError, GameRuleError, ParameterError, UnsupportedGameError, shorten
from infoset.files import read_text
from infoset.gdl.agents import BlindTicTacToeAgent, MeierAgent
from infoset.match.replay import read_action
from infoset.names import (
    Name,
    Value,
    build,
    check_parameters,
    format_action,
    full_name,
    information_key,
    move_words,
    parse_name,
)
from infoset.statistics import draw

if TYPE_CHECKING:
    from infoset.policy import TabularPolicy


class RandomAgent:
    """Plays every legal move with equal probability."""

    name = "random"

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        self.rng = rng

    def observe(self, own_move: Action | None, observation: Observation) -> None:
        pass

    def act(self, legal: tuple[Action, ...], deadline: float | None) -> Action:
        return legal[int(self.rng.random() * len(legal))]

    def end(self, returns: tuple[float, ...]) -> None:
        pass


class Delegating:
    """An agent that chooses another one when a game begins, its ``inner`` agent, and lets it play."""

    inner: Agent

    def observe(self, own_move: Action | None, observation: Observation) -> None:
        self.inner.observe(own_move, observation)

    def act(self, legal: tuple[Action, ...], deadline: float | None) -> Action:
        return self.inner.act(legal, deadline)

    def end(self, returns: tuple[float, ...]) -> None:
        self.inner.end(returns)


class PolicyAgent:
    """Plays a policy: follows its own information state and draws from the distribution given there.

    Where the policy has nothing to say, because it knows no such information set or other moves in it, the
    agent plays every legal move with equal probability; ``unknown`` counts how often.  The keys of a policy
    for an information map (``.efg`` files, OpenSpiel) are the labels that players observe when they are asked.

    >>> policy = infoset.solve(infoset.load("kuhn_poker"), "lp").policy
    >>> infoset.play_match("kuhn_poker", [infoset.PolicyAgent(policy), "random"], seed=1).agents
    ('policy', 'random')
    """

    def __init__(self, policy: TabularPolicy, name: str = "policy") -> None:
        self.policy, self.name = policy, name
        self.unknown = 0

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        if len(game.players) != len(self.policy.players):
            raise UnsupportedGameError(
                f"{self.name} is for {len(self.policy.players)} players, {game.name} has {len(game.players)}"
            )
        information_map = getattr(game, "information_map", None)
        map_name = "" if information_map is None else information_map.name
        if map_name != self.policy.map_name:
            raise UnsupportedGameError(
                f"{self.name} has the information sets {self.policy.map_name or 'of information states'!r}, "
                f"{game.name} has {map_name or 'information states'!r}"
            )
        self.table, self.rng = self.policy.tables[player], rng
        self.tokens: list[Token] = []

    def observe(self, own_move: Action | None, observation: Observation) -> None:
        if own_move is not None or observation is not None:
            self.tokens.append((own_move, () if observation is None else observation))

    def act(self, legal: tuple[Action, ...], deadline: float | None) -> Action:
        if len(legal) == 1:  # no choice, and policies leave such sets out
            return legal[0]
        row = self._row(legal)
        if row is None:
            self.unknown += 1
            return legal[int(self.rng.random() * len(legal))]
        return draw(legal, row, self.rng)

    def chances(self, legal: tuple[Action, ...]) -> list[float]:
        """With what chances it would move now."""
        return (self._row(legal) if len(legal) > 1 else None) or [1 / len(legal)] * len(legal)

    def _row(self, legal: tuple[Action, ...]) -> list[float] | None:
        row, words = self.table.get(self._key(), {}), move_words(legal)
        return [row.get(word, 0.0) for word in words] if row and row.keys() <= set(words) else None

    def end(self, returns: tuple[float, ...]) -> None:
        pass

    def _key(self) -> str:
        if not self.policy.map_name:
            return information_key(tuple(self.tokens))
        label = self.tokens[-1][1] if self.tokens else ""
        return label if isinstance(label, str) else format_action(label)


class ScriptedAgent:
    """Plays a list of moves, one each time it is asked.

    After the last one it plays the game's ``pass_move`` (Stop in Pommerman); where there is none that is an error,
    and so a fault.
    """

    def __init__(self, moves: Sequence[Action], name: str = "scripted") -> None:
        self.moves, self.name = tuple(moves), name

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        self.game, self.asked = game, 0

    def observe(self, own_move: Action | None, observation: Observation) -> None:
        pass

    def act(self, legal: tuple[Action, ...], deadline: float | None) -> Action:
        self.asked += 1
        return self.moves[self.asked - 1] if self.asked <= len(self.moves) else self._rest()

    def end(self, returns: tuple[float, ...]) -> None:
        pass

    def _rest(self) -> Action:
        passing: Action | None = getattr(self.game, "pass_move", None)
        if passing is None:
            raise GameRuleError(f"the script has {len(self.moves)} moves, and one more is asked for")
        return passing


def random() -> Agent:
    """Every legal move with equal probability."""
    return RandomAgent()


def policy(path: str = "") -> Agent:
    """A saved policy (.npz, .json)."""
    from infoset.policy import TabularPolicy  # not before it is needed: it brings the compiled kernels
    from infoset.solvers.sampled_policy import SampledPolicy, is_sampled

    if not path:
        raise ParameterError("policy: path is missing; name the file: policy(path=policy.npz)")
    name = str(Name("policy", (("path", path),)))
    if is_sampled(path):
        followers = import_module("infoset.search.followers")
        sampled: Agent = followers.SampledAgent(SampledPolicy.load(path), name)
        return sampled
    return PolicyAgent(TabularPolicy.load(path), name)


def simple() -> Agent:
    """Pommerman's stock agent."""
    from infoset.pommerman.agents import SimplePlayer  # not before it is needed: it brings compiled kernels

    return SimplePlayer()


class Searching:
    """A maker of an agent whose parameters are a dataclass; its compiled kernels are not loaded before it is asked."""

    def __init__(self, module: str, parameters: str, player: str, about: str) -> None:
        self._module, self._parameters, self._player, self.__doc__ = module, parameters, player, about

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(getattr(self._load(), self._parameters))

    def __call__(self, **given: Any) -> Agent:
        found: Agent = getattr(self._load(), self._player)(self.check(**given))
        return found

    def check(self, **given: Any) -> Any:
        """The parameters.  Raises ``ParameterError``; nothing is compiled, which making the player may do."""
        return getattr(self._load(), self._parameters)(**given)

    def _load(self) -> ModuleType:
        return import_module(self._module)


def _pommerman(parameters: str, about: str) -> Searching:
    return Searching("infoset.pommerman.search.players", parameters, "SearchPlayer", about)


def stop() -> Agent:
    """Pommerman: stays where it is."""
    from infoset.pommerman.agents import StopPlayer

    return StopPlayer()


def playground(path: str = "", cls: str = "") -> Agent:
    """Pommerman: an agent written for the playground, from a Python file (.py), which is run."""
    from infoset.pommerman.agents import PlaygroundAgent
    from infoset.pommerman.playground.loading import load_agent_class

    if not path:
        raise ParameterError("playground: path is missing; name the file: playground(path=my_agent.py)")
    return PlaygroundAgent(load_agent_class(path, cls), full_name("playground", playground, path=path, cls=cls))


def scripted(path: str = "", moves: tuple[Value, ...] = ()) -> Agent:
    """A list of moves: moves=[…], or a file (.json)."""
    if bool(path) == bool(moves):
        raise ParameterError("scripted: give a file or moves: scripted(path=moves.json) or scripted(moves=[1,1,5])")
    name = full_name("scripted", scripted, path=path, moves=moves)
    if not path:
        return ScriptedAgent(_script(_listed(moves), name), name)
    try:
        return ScriptedAgent(_script(json.loads(read_text(Path(path))), path), name)
    except json.JSONDecodeError as error:
        raise FormatError(f"not JSON: {error.msg}", path, error.lineno, error.colno) from None
    except RecursionError:
        raise FormatError("lists nested too deeply", path) from None


def _listed(value: Value) -> object:
    """A parameter's value as JSON has it."""
    return list(map(_listed, value)) if isinstance(value, tuple) and not isinstance(value, Name) else value


def _script(moves: object, source: str) -> list[Action]:
    if not isinstance(moves, list):
        raise FormatError(f"{shorten(repr(moves))} is no list of moves", source)
    try:
        return list(map(read_action, moves))
    except ValueError as error:
        raise FormatError(str(error), source) from None


AGENTS: dict[str, Callable[..., Agent]] = {
    "adaptive": Searching(
        "infoset.search.adaptive", "Adaptive", "AdaptiveAgent", "Any game: finds out which declared opponent it meets."
    ),
    "blind_tic_tac_toe": BlindTicTacToeAgent,
    "champion": _pommerman("Champion", "Pommerman: plans of several own actions."),
    "dypm": _pommerman("Dypm", "Pommerman: its own actions on a pessimistic scenario."),
    "eisenach": _pommerman("Eisenach", "Pommerman: joint actions, depth first."),
    "hakozaki": _pommerman("Hakozaki", "Pommerman: joint actions on pessimistic scenarios."),
    "meier": MeierAgent,
    "playground": playground,
    "policy": policy,
    "random": random,
    "scripted": scripted,
    "search": Searching(
        "infoset.search.agent", "Search", "SearchAgent", "Any game: solved before it begins, or searched move by move."
    ),
    "simple": simple,
    "stop": stop,
    "trained": Searching(
        "infoset.learn.agent", "Trained", "TrainedAgent", "A game that a network was trained on: trained(path=DIR)."
    ),
}
"""What makes an agent, by name; the parameters are the maker's."""


TRAINED = "trained:"


def load_agent(name: str) -> Agent:
    """A new agent by name: ``"random"``, ``"policy(path=policy.npz)"``.  Each seat needs one of its own.

    ``"trained:DIR"`` is short for ``"trained(path=DIR)"``.

    Raises ``UnknownNameError``, ``ParameterError``, ``FormatError`` or ``PolicyError``.

    >>> infoset.load_agent("random").name
    'random'
    >>> infoset.load_agent("randon")
    Traceback (most recent call last):
    infoset.errors.UnknownNameError: unknown agent 'randon'; did you mean 'random'?
    """
    return build("agent", _parsed(name), AGENTS)


def load_agents(names: Sequence[Agent | str]) -> tuple[Agent, ...]:
    """As ``load_agent`` for each name; whatever is wrong with one is said before another compiles.

    Agents stay as they are.
    """
    for name in names:
        if isinstance(name, str):
            check_agent(name)
    compiling_last = sorted(range(len(names)), key=lambda k: _may_compile(names[k]))
    made = {k: load_agent(name) if isinstance(name := names[k], str) else name for k in compiling_last}
    return tuple([made[k] for k in range(len(names))])


def check_agent(name: str) -> None:
    """Raise what ``load_agent`` would for a wrong name or parameter; no file is read and nothing compiled."""
    parsed = _parsed(name)
    check_parameters("agent", parsed, AGENTS)
    maker = AGENTS[parsed.word]
    if isinstance(maker, Searching):
        maker.check(**dict(parsed.parameters))


def _may_compile(agent: Agent | str) -> bool:
    return isinstance(agent, str) and isinstance(AGENTS[_parsed(agent).word], Searching)


def _parsed(name: str) -> Name:
    if name.startswith(TRAINED):
        return Name("trained", (("path", name.removeprefix(TRAINED)),))
    return parse_name(name)


def agent_name(agent: Agent) -> str:
    """What an agent is called in results: its ``name`` where it has one, else its class's."""
    return str(getattr(agent, "name", type(agent).__name__))
