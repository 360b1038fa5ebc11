"""A player of the GGP protocol on the network: POST requests to a ``Desk`` (extra ``web``)."""

from __future__ import annotations

import asyncio
import os
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
SECONDS_FOR_BODY = 10.0
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
        arrived, headers = monotonic(), None
        try:
            body = await _body(request)
            status, text = await run_in_threadpool(_reply, desk, body, arrived)
        except _Refused as refused:
            status, text = refused.args
            headers = {"Connection": "close"}
        return Response(text, status, headers, CONTENT_TYPE)

    return Starlette(routes=[Route("/{path:path}", post, methods=["POST"])])


class _Refused(Exception):
    """A body that is not read to its end: the status, and why in a line."""


async def _body(request: Request) -> bytes:
    """What was sent, if it is not too much and does not take for ever."""
    pieces, size = [], 0
    try:
        async with asyncio.timeout(SECONDS_FOR_BODY):
            async for piece in request.stream():
                pieces.append(piece)
                size += len(piece)
                if size > MAX_BODY:
                    raise _Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a message of more than {MAX_BODY:,} bytes")
    except TimeoutError:
        why = f"the message did not come within {SECONDS_FOR_BODY:g} s"
        raise _Refused(HTTPStatus.REQUEST_TIMEOUT, why) from None
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
    """The web server: ``run(sockets=[listening(…)])``, until ``should_exit`` is set.  Raises ``MissingExtraError``."""
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


def listening(host: str, port: int) -> socket.socket:
    """A socket for the server; port 0 is any that is free.  Raises ``ParameterError`` where it cannot be had."""
    # with its protocol named, since asyncio sends small pieces at once only then
    found = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # elsewhere this would let two servers share an address
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen()
    except (OSError, OverflowError) as error:
        found.close()
        why = getattr(error, "strerror", None) or error
        raise ParameterError(f"cannot listen on {shorten(host)}:{port}: {why}") from None
    return found


def serve(agent: str, host: str, port: int, seed: int, say: Callable[[str], object]) -> None:
    """Be a player until Ctrl-C.  Raises ``MissingExtraError``, ``ParameterError``, or what ``load_agent`` does."""
    with listening(host, port) as where:
        desk = Desk(agent, seed, say)
        try:
            running = server(desk)
            say(f"{agent} plays on http://{host}:{where.getsockname()[1]}")
            running.run(sockets=[where])
        finally:
            desk.close()
