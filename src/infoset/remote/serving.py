"""The common part of our servers: listening sockets, and request bodies of bounded size (extra ``web``)."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from functools import partial
from http import HTTPStatus
from math import inf
from time import monotonic
from traceback import TracebackException
from typing import TYPE_CHECKING, Any

from infoset.errors import MissingExtraError, ParameterError, one_line, shorten

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request

SECONDS_FOR_BODY = 10.0
KEEP_ALIVE_SECONDS = 600  # seconds between two requests on one connection
LINES, SECONDS_FOR_LINES = 10, 10.0
LONGEST_LINE = 1000


class Refusal(Exception):
    """A request that is rejected: the status, and the reason in one line."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


class Complaints:
    """Lines on stderr, at most ``LINES`` in every ``SECONDS_FOR_LINES``.

    An agent that fails at every move must not flood it.
    """

    def __init__(self) -> None:
        self.started_at, self.said, self.suppressed = -inf, 0, 0

    def say(self, line: str) -> None:
        if monotonic() - self.started_at >= SECONDS_FOR_LINES:
            self.started_at, self.said = monotonic(), 0
        if self.said == LINES:
            self.suppressed += 1
            return
        more = f" (and {self.suppressed:,} lines before it)" if self.suppressed else ""
        self.said, self.suppressed = self.said + 1, 0
        sys.stderr.write(f"infoset: {one_line(line, LONGEST_LINE)}{more}\n")
        sys.stderr.flush()


def what_happened(error: BaseException) -> tuple[str, str]:
    """Return an exception in one line, and where it was raised: ``file:line in function``."""
    found = TracebackException.from_exception(error, limit=-1, lookup_lines=False)
    place = found.stack[-1]
    return one_line(f"{type(error).__name__}: {found}", 200), f"{place.filename}:{place.lineno} in {place.name}"


async def read_body(request: Request, most: int) -> bytes:
    """Return the body of a request of at most ``most`` bytes.

    Raises ``Refusal`` where it is longer, takes too long, or ends with its connection, which is no fault of ours.
    """
    from starlette.requests import ClientDisconnect

    pieces, size = [], 0
    try:
        async with asyncio.timeout(SECONDS_FOR_BODY):
            async for piece in request.stream():
                pieces.append(piece)
                size += len(piece)
                if size > most:
                    raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body of more than {most:,} bytes")
    except TimeoutError:
        why = f"the body did not come within {SECONDS_FOR_BODY:g} s"
        raise Refusal(HTTPStatus.REQUEST_TIMEOUT, why) from None
    except ClientDisconnect:
        raise Refusal(HTTPStatus.BAD_REQUEST, "the connection ended before the body did") from None
    return b"".join(pieces)


def listening(host: str, port: int) -> socket.socket:
    """Return a listening socket for a server; port 0 is any that is free.

    Raises ``ParameterError`` where there is none to be had.
    """
    # the protocol is named, since asyncio sends small pieces at once only then
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


def web_server(app: Starlette, keep_alive: int = KEEP_ALIVE_SECONDS, **options: Any) -> uvicorn.Server:
    """Return a server: ``run(sockets=[listening(…)])``, until ``should_exit`` is set.

    ``keep_alive``: seconds between two requests on one connection; ``options`` are further ones of ``uvicorn.Config``.
    The limits on connections are set in ``connections``.  Raises ``MissingExtraError``.
    """
    try:
        import uvicorn

        from infoset.remote.connections import ConnectionLimiter, LimitedConnection, SizeLimiter
    except ImportError:
        raise MissingExtraError("serving an agent", "web") from None
    http: Any = partial(LimitedConnection, ConnectionLimiter())
    application: Any = SizeLimiter(app)  # type: ignore[arg-type]
    # only errors are logged: malformed requests of clients must not flood the screen
    settings: dict[str, Any] = {"lifespan": "off", "ws": "none", **options}
    config = uvicorn.Config(
        application, http=http, log_level="error", access_log=False, timeout_keep_alive=keep_alive,
        timeout_graceful_shutdown=1, server_header=False, **settings,
    )  # fmt: skip
    return uvicorn.Server(config)
