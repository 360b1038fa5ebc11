"""Submissions: agents that answer requests over HTTP, as the playground's containers do."""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import numpy as np

from infoset.errors import FormatError, shorten
from infoset_pommerman.observation import MAPS
from infoset_pommerman.playground.constants import GameType, Item
from infoset_pommerman.playground.spaces import Discrete, Tuple

__path__: list[str] = []
MAX_REQUEST = 1 << 20  # bytes; an observation of the largest board takes a tenth of this


class DockerAgentRunner:
    """Base class of submissions, which play in matches like other agents; ``run`` serves them over HTTP."""

    def act(self, observation: dict[str, Any], action_space: Any) -> Any:
        """Return a move, on the radio a list of a move and two words."""
        raise NotImplementedError(f"{type(self).__name__} needs a method act(observation, action_space)")

    def init_agent(self, id: int, game_type: int) -> None:
        """Take the agent's number and the kind of game, before the game."""

    def episode_end(self, reward: float) -> None:
        """Take the reward at the end of a game."""

    def shutdown(self) -> None:
        """Release resources; the agent is not used any more."""

    def run(self, host: str = "0.0.0.0", port: int = 10080) -> None:
        """Answer requests until Ctrl-C, as the reference's containers do.

        The requests are ``GET /ping``, ``POST /init_agent``, ``/action``, ``/episode_end``, ``/shutdown``.  With
        ``port`` 0 a free port is chosen.
        """
        with serve(self, host, port) as server:
            sys.stderr.write(f"{type(self).__name__} answers on port {server.server_port}; Ctrl-C ends it\n")
            sys.stderr.flush()
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                self.shutdown()


def serve(agent: Any, host: str, port: int) -> HTTPServer:
    """Return a server for an agent that is not running yet."""

    class Handler(_Handler):
        player = Served(agent)

    return HTTPServer((host, port), Handler)


class Served:
    """An agent and the requests that it answers."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent
        self.rng = np.random.default_rng()

    def action(self, body: dict[str, Any]) -> dict[str, Any]:
        observation = read_wire(_inner(body, "obs"))
        sizes = _inner(body, "action_space")
        space = Discrete(sizes, self.rng) if isinstance(sizes, int) else Tuple(tuple(sizes), self.rng)
        answer = self.agent.act(observation, space)
        return {"action": np.asarray(answer).tolist()}

    def init_agent(self, body: dict[str, Any]) -> dict[str, Any]:
        self.agent.init_agent(_inner(body, "id"), GameType(_inner(body, "game_type")))
        return {"success": True}

    def episode_end(self, body: dict[str, Any]) -> dict[str, Any]:
        self.agent.episode_end(_inner(body, "reward"))
        return {"success": True}

    def shutdown(self, body: dict[str, Any]) -> dict[str, Any]:
        del body
        self.agent.shutdown()
        return {"success": True}

    def ping(self, body: dict[str, Any]) -> dict[str, Any]:
        del body
        return {"success": True}


class _Handler(BaseHTTPRequestHandler):
    player: Served

    def do_GET(self) -> None:
        self._answer({"/ping": self.player.ping}, b"{}")

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_REQUEST:
            if length.isdecimal():
                self._skip(int(length))
            self._send(413, {"error": f"a body of {length or 'no known'} bytes; at most {MAX_REQUEST:,} are read"})
            return
        names = ("action", "init_agent", "episode_end", "shutdown")
        self._answer({f"/{name}": getattr(self.player, name) for name in names}, self.rfile.read(int(length)))

    def _skip(self, length: int) -> None:
        """Read and discard a body, within limits: a client that is still sending would not receive the answer."""
        left = min(length, 16 * MAX_REQUEST)
        while left > 0 and (chunk := self.rfile.read(min(left, 1 << 16))):
            left -= len(chunk)

    def _answer(self, routes: dict[str, Any], body: bytes) -> None:
        route = routes.get(self.path)
        if route is None:
            self._send(404, {"error": f"{shorten(self.path)}: allowed: {', '.join(routes)}"})
            return
        try:
            found = json.loads(body)
            answer = route(found if isinstance(found, dict) else {})
        except Exception as error:  # including the agent's own errors, so that the server survives them
            self._send(500, {"error": f"{type(error).__name__}: {shorten(str(error), 200)}"})
            return
        self._send(200, answer)

    def _send(self, status: int, answer: dict[str, Any]) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing, as a game takes thousands of requests."""


def _inner(body: dict[str, Any], key: str) -> Any:
    """Return a value of a request, which is a JSON text itself; raise ``FormatError`` if it is missing."""
    if key not in body:
        raise FormatError(f"the request has no {key!r}")
    return json.loads(body[key])


def read_wire(observation: dict[str, Any]) -> dict[str, Any]:
    """Return an observation parsed from JSON with the types that agents expect: arrays, enumerations and tuples."""
    found = dict(observation)
    found["board"] = np.array(found["board"], dtype=np.uint8)
    found |= {name: np.array(found[name], dtype=np.float64) for name in MAPS if name in found}
    found["teammate"], found["enemies"] = Item(found["teammate"]), [Item(enemy) for enemy in found["enemies"]]
    found["position"] = tuple(found["position"])
    if "message" in found:
        found["message"] = tuple(found["message"])
    return found
