"""Serve one of our agents: in the project's own protocol for any game, or in a plug-in's for its game.

Each game has an agent of its own, made by its name.  Requests run no code and open no file: a game is one of those that
come with infoset, or that the command line lists; an agent is chosen by the command line alone.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import PureWindowsPath
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec
import numpy as np

from infoset.base import Agent, Bridged, Game
from infoset.catalog import READERS, load_shipped
from infoset.catalog import load as load_game
from infoset.errors import InfosetError, MissingExtraError, ParameterError, UnsupportedGameError, one_line, shorten
from infoset.match.agents import check_named, load_agent
from infoset.registry import own_name
from infoset.remote.calls import read_tuple
from infoset.remote.http import PROTOCOL, PROTOCOLS, Act, Begin, ChosenAction, Done, End, Ping
from infoset.remote.serving import Complaints, Refusal, read_body, web_server, what_happened

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route
except ImportError:
    raise MissingExtraError("serving an agent", "web") from None

if TYPE_CHECKING:
    import uvicorn

MAX_BODY = 4 << 20  # bytes; twice 800 steps of a board that are sent at once to an agent that died in the first
MAX_MATCHES = 64
IDLE = 600.0  # seconds without a request after which a game is dropped

T = TypeVar("T")
Answering: TypeAlias = Callable[[bytes, float], Any]
"""Maps a body, and the time at which its request arrived, to the answer."""


@dataclass
class Played:
    """A game that is being played on this server."""

    agent: Agent
    game: Game
    sent: int = 0
    """How many steps the agent has received."""
    asked: float = field(default_factory=monotonic)
    """Time of the last request."""


def check_plays(agent: Agent, game: Game) -> None:
    """Raise ``UnsupportedGameError`` for an agent that plays the game in no seat.

    Other errors are left to the games.
    """
    refused = []
    for player in range(len(game.players)):
        try:
            agent.begin(game, player, np.random.default_rng(0), None)
        except UnsupportedGameError as error:
            refused.append(error)
        except Exception:  # reported when a game begins
            return
        else:
            return
    raise refused[0]


class Matches:
    """The games that are played on this server at once, each with an agent of its own; agents are reused."""

    def __init__(self, agent: str, game: str | None, allowed: Iterable[str] = ()) -> None:
        """Load the agent and the listed games.

        ``game``: the only one, if any; ``allowed``: further names, of files for example, that clients may ask
        for.  Raises the errors of ``load`` and ``load_agent``, and ``UnsupportedGameError`` where the agent does not
        play one of the games.
        """
        self.name, self.only = agent, game
        self.free: list[Agent] = [load_agent(agent)]
        self.listed: dict[str, Game] = {}  # named by the user
        self.games: dict[str, Game] = {}
        self.played: dict[str, Played] = {}
        for name in allowed if game is None else (game,):
            found = load_game(name)
            check_plays(self.free[0], found)
            for word in filter(None, (name, _plain_name(name), found.name, own_name(found))):
                self.listed.setdefault(word, found)

    def begin(self, question: Begin, arrived: float) -> None:
        """Begin a game.

        Raises ``UnsupportedGameError`` for a game not served here, ``Refusal`` for one that is already being played.
        """
        if question.protocol != PROTOCOL:
            raise Refusal(HTTPStatus.BAD_REQUEST, f"protocol {question.protocol}; this server speaks {PROTOCOL}")
        # drop the games without a request for a while
        late = monotonic() - IDLE
        self.played = {match: played for match, played in self.played.items() if played.asked > late}
        if question.match in self.played:
            why = f"game {shorten(question.match)!r} is being played here; name this one otherwise"
            raise Refusal(HTTPStatus.CONFLICT, why)
        if len(self.played) >= MAX_MATCHES:
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, f"{MAX_MATCHES} games are being played here; try again later")
        game = self._game(question.game)
        if not 0 <= question.player < len(game.players):
            raise ParameterError(f"{game.name} has no player {question.player}; allowed: 0 to {len(game.players) - 1}")
        agent = self.free.pop() if self.free else load_agent(self.name)
        self.played[question.match] = Played(agent, game)
        deadline = None if question.seconds is None else arrived + question.seconds
        try:
            agent.begin(game, question.player, question.rng, deadline)
        except BaseException:
            del self.played[question.match]
            raise

    def act(self, question: Act, arrived: float) -> ChosenAction:
        played = self._find(question.match)
        self._tell(played, question)
        deadline = None if question.seconds is None else arrived + question.seconds
        if deadline is not None and monotonic() >= deadline:
            raise Refusal(HTTPStatus.REQUEST_TIMEOUT, "the deadline passed while an earlier request was being answered")
        legal_actions: Any = tuple(map(read_tuple, question.legal_actions))
        return ChosenAction(question.number, played.agent.act(legal_actions, deadline))

    def end(self, question: End, arrived: float) -> Done:
        del arrived
        played = self._find(question.match)
        self._tell(played, question)
        del self.played[question.match]
        played.agent.end(question.returns)
        self.free.append(played.agent)
        return Done()

    def _game(self, name: str) -> Game:
        for word in (name, _plain_name(name)):
            if word in self.listed:
                return self.listed[word]
        if self.only is not None:
            raise UnsupportedGameError(f"{self.only} is served here, not {one_line(name)}")
        if name not in self.games:
            if len(self.games) >= MAX_MATCHES:
                self.games.clear()
            self.games[name] = load_shipped(name, "the request")
        return self.games[name]

    def _find(self, match: str) -> Played:
        played = self.played.get(match)
        if played is None:
            raise Refusal(HTTPStatus.NOT_FOUND, f"no game {shorten(match)!r} is being played here")
        played.asked = monotonic()
        return played

    def _tell(self, played: Played, question: Act | End) -> None:
        """Pass on the steps that the agent has not received; it may have received those of a request answered late."""
        for own_action, observation in question.seen[max(played.sent - question.sent, 0) :]:
            played.sent += 1
            own: Any = read_tuple(own_action)
            played.agent.observe(own, read_tuple(observation))


def _plain_name(name: str) -> str:
    """Return the name of a game's file without its folders, which differ between machines.

    Other names are returned unchanged.
    """
    path = PureWindowsPath(name)
    return path.name if path.suffix.lower() in READERS else name


class Service:
    """The answers to requests.  All agents run in one thread: two at once would slow each other down."""

    def __init__(self, agent: str, game: str | None, allowed: Iterable[str] = ()) -> None:
        self.matches = Matches(agent, game, allowed)
        self.thread = ThreadPoolExecutor(1, "agent")
        self.complaints = Complaints()
        self.others = self._others(agent, game)

    def _others(self, agent: str, game: str | None) -> dict[str, Callable[[dict[str, Any]], Any]]:
        """Return the answers in the other protocol of the only game, which names neither game nor board, by path."""
        only = None if game is None else self.matches.listed[game]
        return PROTOCOLS[only.protocol].server(load_agent(agent), only) if isinstance(only, Bridged) else {}

    def app(self) -> Starlette:
        routes = [
            self.route("/ping", self.ping, "GET"),
            self.route("/begin", self.asked(Begin, self.begin)),
            self.route("/act", self.asked(Act, self.matches.act)),
            self.route("/end", self.asked(End, self.matches.end)),
        ]
        routes += [self.route(path, self.plain(method)) for path, method in self.others.items()]
        return Starlette(routes=routes, exception_handlers={HTTPException: self.unknown})  # type: ignore[dict-item]

    def ping(self, body: bytes, arrived: float) -> Any:
        del body, arrived
        return Ping(PROTOCOL, self.matches.name)

    def begin(self, question: Begin, arrived: float) -> Done:
        try:
            self.matches.begin(question, arrived)
        except InfosetError as error:
            return Done(refused=str(error))
        return Done()

    @staticmethod
    def asked(kind: type[T], method: Callable[[T, float], Any]) -> Answering:
        def answer(body: bytes, arrived: float) -> Any:
            try:
                question = msgspec.json.decode(body, type=kind)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                raise Refusal(HTTPStatus.BAD_REQUEST, f"no {kind.__name__}: {error}") from None
            return method(question, arrived)

        return answer

    @staticmethod
    def plain(method: Callable[[dict[str, Any]], Any]) -> Answering:
        def answer(body: bytes, arrived: float) -> Any:
            del arrived
            found = json.loads(body)
            return method(found if isinstance(found, dict) else {})

        return answer

    def route(self, path: str, answering: Answering, method: str = "POST") -> Route:
        async def handle(request: Request) -> Response:
            arrived = monotonic()
            try:
                body = await read_body(request, MAX_BODY)
                found = await asyncio.get_running_loop().run_in_executor(self.thread, answering, body, arrived)
                return _json(found)
            except Refusal as error:
                return _json({"error": error.why}, error.status)
            except Exception as error:  # the agent's own errors, too: the server must survive them
                return self.failed(path[1:], error)

        return Route(path, handle, methods=[method])

    def failed(self, method: str, error: Exception) -> Response:
        """Report an agent's error on stderr for its author, and in the answer for the referee."""
        what, where = what_happened(error)
        self.complaints.say(f"{self.matches.name}: {method}: {what} ({where})")
        return _json({"error": f"{method}: {what}"}, 500)

    async def unknown(self, request: Request, error: HTTPException) -> Response:
        path = request.url.path
        why = f"{request.method} {path} is unknown here"
        for name, other in PROTOCOLS.items():
            if path in other.PATHS and not self.others:
                why = f"the {name}'s protocol is spoken here with --game {other.GAMES}NAME alone"
        return _json({"error": one_line(why, 200)}, error.status_code)


def _json(value: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def server(agent: str, game: str | None, allowed: Iterable[str] = ()) -> uvicorn.Server:
    """Return a server, not yet running, see ``serving``; ``game`` is the only one that it plays.

    ``allowed`` are names that clients may use besides those of shipped games.  Raises the errors of ``load_agent`` and
    ``load``, and ``UnsupportedGameError`` for an agent that does not play one of these.
    """
    check_named(agent, "where many games are played at once")
    return web_server(Service(agent, game, allowed).app())
