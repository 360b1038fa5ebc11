"""A player of the GGP protocol on the network: POST requests to a ``Desk`` (extra ``web``)."""

from __future__ import annotations

import socket
from collections.abc import Callable
from http import HTTPStatus
from time import monotonic
from typing import TYPE_CHECKING

from infoset.errors import InfosetError, MissingExtraError, ParameterError, shorten
from infoset.remote.ggp_player import Desk
from infoset.remote.kif import CONTENT_TYPE

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request

MAX_BODY = 4 << 20  # bytes
MAX_CONNECTIONS = 100
KEPT_OPEN = 600  # seconds between two messages on one connection


def application(desk: Desk) -> Starlette:
    """The web application: every POST is a message, whatever its path.  Raises ``MissingExtraError``."""
    try:
        from starlette.applications import Starlette
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import Response
        from starlette.routing import Route
    except ImportError:
        raise MissingExtraError("the server of a player", "web") from None

    async def post(request: Request) -> Response:
        arrived = monotonic()
        body = await _body(request)
        if body is None:
            status, text = HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a message of more than {MAX_BODY:,} bytes"
        else:
            status, text = await run_in_threadpool(_reply, desk, body, arrived)
        closing = {"Connection": "close"} if body is None else None
        return Response(text, status, closing, f"{CONTENT_TYPE}; charset=utf-8")

    return Starlette(routes=[Route("/{path:path}", post, methods=["POST"])])


async def _body(request: Request) -> bytes | None:
    """What was sent; ``None`` where that is too much, which is not read to its end."""
    pieces, size = [], 0
    async for piece in request.stream():
        pieces.append(piece)
        size += len(piece)
        if size > MAX_BODY:
            return None
    return b"".join(pieces)


def _reply(desk: Desk, body: bytes, arrived: float) -> tuple[HTTPStatus, str]:
    """The status and the text of an answer; an error is one line."""
    try:
        return HTTPStatus.OK, desk.answer(body.decode(errors="replace"), arrived)
    except InfosetError as error:
        status, text = HTTPStatus.BAD_REQUEST, str(error)
    except Exception as error:  # whatever a stranger's message does
        status, text = HTTPStatus.INTERNAL_SERVER_ERROR, f"{type(error).__name__}: {error}"
    line = shorten(" ".join(text.split()), 400)
    desk.say(line)
    return status, line


def server(desk: Desk) -> uvicorn.Server:
    """The web server: ``run(sockets=[listen(…)])``, until ``should_exit`` is set.  Raises ``MissingExtraError``."""
    app = application(desk)
    try:
        import uvicorn
    except ImportError:
        raise MissingExtraError("the server of a player", "web") from None
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, lifespan="off", limit_concurrency=MAX_CONNECTIONS,
        timeout_keep_alive=KEPT_OPEN, timeout_graceful_shutdown=1, server_header=False,
    )  # fmt: skip
    return uvicorn.Server(config)


def listen(host: str, port: int) -> socket.socket:
    """An open socket; port 0 is any that is free.  Raises ``ParameterError`` where it cannot be had."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise ParameterError(f"cannot listen on {shorten(host)}:{port}: {why}") from None


def serve(agent: str, host: str, port: int, seed: int, say: Callable[[str], object]) -> None:
    """Be a player until Ctrl-C.  Raises ``MissingExtraError``, ``ParameterError``, or what ``load_agent`` does."""
    with listen(host, port) as listening:
        desk = Desk(agent, seed, say)
        try:
            running = server(desk)
            say(f"{agent} plays on http://{host}:{listening.getsockname()[1]}")
            running.run(sockets=[listening])
        finally:
            desk.close()
