"""Agents at an address: ``http(url=http://host:port)``, in the protocol of this project or that of the playground.

The project's own protocol has four requests, ``GET /ping`` and three POSTs of JSON, all answered by JSON
(``docs/remote-agents.md``).  An agent's observations are sent with the next request, so that a move takes one.
"""

from __future__ import annotations

from time import monotonic
from typing import Annotated, Any, TypeVar
from uuid import uuid4

import msgspec
import numpy as np

from infoset.base import Action, Agent, Game, Observation
from infoset.errors import ParameterError, RemoteError, UnsupportedGameError, one_line, shorten
from infoset.match.agent_proxy import PATIENCE, AsyncAgentProxy, ThreadChannel
from infoset.match.agents import Delegating, common_stream
from infoset.names import full_name
from infoset.registry import own_name
from infoset.remote.calls import parse_action
from infoset.remote.wire import StatusError, Wire

PROTOCOL = 1
SEED_BITS = 2**53  # every JSON reader represents such integers exactly
PROTOCOLS = ("auto", "infoset", "playground")

T = TypeVar("T")
Seed = Annotated[int, msgspec.Meta(ge=0, lt=SEED_BITS)]


class Ping(msgspec.Struct):
    """The answer to ``GET /ping``: the protocol and the agent."""

    protocol: int = 0
    agent: str = ""


class Begin(msgspec.Struct):
    """``POST /begin``: a game begins."""

    match: str
    """A unique name that identifies later requests: a server may play several games, for several clients."""
    game: str
    """A name that ``infoset.load`` understands."""
    player: int
    seed: Seed
    """Below 2**53, for the agent's own randomness."""
    seconds: float | None
    """Time left to answer; ``None`` where no clock runs."""
    protocol: int = PROTOCOL
    common: Seed | None = None
    """Below 2**53, the same for all agents of the game: for random draws that several of them share."""

    @property
    def rng(self) -> np.random.Generator:
        """The agent's random generator."""
        if self.common is None:
            return np.random.default_rng(self.seed)
        seeds = np.random.SeedSequence(self.common, spawn_key=(self.seed,))
        return np.random.Generator(np.random.PCG64(seeds))


class Act(msgspec.Struct):
    """``POST /act``: a move is due."""

    match: str
    number: int
    """Number of the request, from 1; the answer repeats it."""
    sent: int
    """How many steps were sent before; those of requests without an answer are not counted."""
    seen: list[tuple[Any, Any]]
    """[own move or null, observation] for each step since."""
    legal_actions: Annotated[list[Any], msgspec.Meta(min_length=1)]
    seconds: float | None


class Move(msgspec.Struct):
    """The answer to ``/act``."""

    number: int
    action: Any


class End(msgspec.Struct):
    """``POST /end``: the game is over, or aborted."""

    match: str
    sent: int
    seen: list[tuple[Any, Any]]
    returns: tuple[float, ...]


class Done(msgspec.Struct):
    """The answer to ``/begin`` and ``/end``.  ``refused`` tells why the agent does not play this game."""

    refused: str = ""


def http(url: str = "", protocol: str = "auto") -> Agent:
    """An agent behind an address; protocol: infoset, playground (Pommerman's), or auto: what it speaks."""
    if not url:
        raise ParameterError("http: url is missing; give the address: http(url=http://localhost:8000)")
    if protocol not in PROTOCOLS:
        raise ParameterError(f"http: protocol={shorten(protocol)} is unknown; allowed: {', '.join(PROTOCOLS)}")
    name = full_name("http", http, url=url, protocol=protocol)
    return AsyncAgentProxy(ThreadChannel(HttpAgent(url, protocol)), name)


class HttpAgent(Delegating):
    """An agent at an address, in the protocol in which the game is played there."""

    def __init__(self, url: str, protocol: str) -> None:
        self.protocol, self.wire = protocol, Wire(url)
        self.reached = False

    def reach(self) -> None:
        """Raise ``RemoteError`` where nobody answers at the address; any answer is accepted, even an error."""
        if self.reached:
            return
        try:
            self.wire.get("/ping", monotonic() + PATIENCE)
        except StatusError:
            pass
        except TimeoutError:
            raise RemoteError(f"{self.wire.url}: no answer within {PATIENCE:g} s") from None
        self.reached = True

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        plays = hasattr(game, "config") and game.name.startswith("pommerman:")
        if self.protocol == "playground" and not plays:
            raise UnsupportedGameError(f"the playground's protocol is for pommerman:NAME, not for {game.name}")
        ours = self.protocol == "infoset" or not plays or (self.protocol == "auto" and self._speaks_ours(deadline))
        self.inner = AskedAgent(self.wire) if ours else self._player()
        try:
            self.inner.begin(game, player, rng, deadline)
        except StatusError as error:
            if ours or self.protocol != "auto" or not error.unknown:
                raise
            self.inner = AskedAgent(self.wire)  # a server of the project's protocol that does not report it
            self.inner.begin(game, player, rng, deadline)

    def _speaks_ours(self, deadline: float | None) -> bool:
        """Return whether the server reports the project's protocol within half of the time."""
        now = monotonic()
        left = PATIENCE if deadline is None else deadline - now
        try:
            return msgspec.json.decode(self.wire.get("/ping", now + left / 2), type=Ping).protocol == PROTOCOL
        except (RemoteError, TimeoutError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return False

    def _player(self) -> Agent:
        from infoset.remote.playground import AskedPlayer  # only where it is needed: it imports compiled kernels

        return AskedPlayer(self.wire)


class AskedAgent:
    """A client of the project's own protocol."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        self.match = str(uuid4())  # not derived from the seed: other clients may use the same one
        self.number, self.sent, self.seen = 0, 0, list[tuple[Any, Any]]()
        common = int(common_stream(rng).integers(SEED_BITS))
        seed = int(rng.integers(SEED_BITS))
        name = own_name(game) or game.name
        question = Begin(self.match, name, player, seed, _left(deadline), common=common)
        done = self._ask("/begin", question, Done, deadline)
        if done.refused:
            raise UnsupportedGameError(f"{self.wire.url}: {one_line(done.refused, 200)}")

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        self.seen.append((own_action, observation))

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        self.number += 1
        question = Act(self.match, self.number, self.sent, self.seen, list(legal_actions), _left(deadline))
        action = self._ask("/act", question, Move, deadline)
        self.sent, self.seen = self.sent + len(self.seen), []
        if action.number != self.number:
            raise RemoteError(f"{self.wire.url}: the answer to question {action.number} came for {self.number}")
        return parse_action(action.action)

    def end(self, returns: tuple[float, ...]) -> None:
        self._ask("/end", End(self.match, self.sent, self.seen, returns), Done, None)

    def _ask(self, path: str, question: Any, kind: type[T], deadline: float | None) -> T:
        deadline = monotonic() + PATIENCE if deadline is None else deadline
        body = self.wire.post(path, msgspec.json.encode(question), deadline)
        try:
            return msgspec.json.decode(body, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise RemoteError(f"{self.wire.url}: {path} was answered by no {kind.__name__}: {error}") from None


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(deadline - monotonic(), 0.0)
