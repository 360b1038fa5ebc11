"""Connections of our servers: limits on their number, on those of one address, and on their idle time (extra ``web``).

When the limit is reached, a connection without a request in progress is closed for a new one, the longest idle first:
hundreds of connections that send nothing, or one byte after the other, block nobody.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from http import HTTPStatus
from ipaddress import ip_address, ip_network
from typing import Any

import msgspec
from uvicorn._types import ASGI3Application, ASGIReceiveCallable, ASGISendCallable, Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_CONNECTIONS = 1000
SHARE = 250
"""Connections of one address, which may be that of a whole class: thirty browsers with eight each."""
ROOM = 0.5  # share of the files that the process may open
MAX_ADDRESS = 32 << 10  # bytes of a request's path and query, which may hold a position of a game
MAX_HEADERS = 16 << 10  # bytes
SECONDS_FOR_HEAD = 10.0  # from the first byte of a request, or the start of a connection, to the end of the headers
SECONDS_TO_READ = 30.0  # within which a client must have read a part of the answer

_DEPTH = 64  # bits of an IPv6 address that identify the network of one household


def place_of(address: str) -> str:
    """Return the key under which the clients of one address are counted; an IPv6 network counts as one address.

    >>> from infoset.remote.connections import place_of
    >>> place_of("192.0.2.7"), place_of("2001:db8::1:2:3:4")
    ('192.0.2.7', '2001:db8::/64')
    """
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if found.version == 4:
        return str(found)
    return str(found.ipv4_mapped or ip_network((found, _DEPTH), strict=False))


class ConnectionLimiter:
    """All connections of one server."""

    def __init__(self, most: int | None = None, share: int | None = None) -> None:
        """Limit the number of connections at once to ``most``, and of one address to ``share``."""
        self.most = min(most or MAX_CONNECTIONS, int(_files() * ROOM))
        self.share = min(share or SHARE, self.most * 3 // 4)
        self.lines: list[LimitedConnection] = []

    def admit(self, line: LimitedConnection) -> str:
        """Admit a connection and return an empty string, or return why it is refused.

        An idle connection may be closed for it.
        """
        self.lines = [other for other in self.lines if not other.is_closed]
        counts = Counter(other.place for other in self.lines)
        here = counts[line.place] >= self.share
        if here or len(self.lines) >= self.most:
            idle = [other for other in self.lines if other.idle and (other.place == line.place or not here)]
            if not idle:
                return f"{self.share if here else self.most} connections are busy; try again in a moment"
            # the longest idle connection of the address that has the most
            oldest = min(idle, key=lambda other: (-counts[other.place], other.idle_since))
            self.lines.remove(oldest)
            oldest.transport.abort()
        self.lines.append(line)
        return ""


def _files() -> float:
    """Return how many files this process may open."""
    try:
        import resource
    except ImportError:
        return MAX_CONNECTIONS / ROOM
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MAX_CONNECTIONS / ROOM if soft == resource.RLIM_INFINITY else soft


class LimitedConnection(HttpToolsProtocol):
    """A connection of uvicorn with limits on the head of a request and on the time of each phase."""

    def __init__(self, doorway: ConnectionLimiter, **options: Any) -> None:
        super().__init__(**options)
        self.doorway = doorway
        self.place = ""
        self.idle_since = 0.0
        self.in_head = False
        self.head = 0  # bytes of an incomplete head
        self.upgraded = False
        self.due: asyncio.TimerHandle | None = None  # when the head must be complete
        self.reading: asyncio.TimerHandle | None = None  # when the client must have read more

    @property
    def is_closed(self) -> bool:
        """Whether the connection is over, and its socket closed."""
        found = self.transport.get_extra_info("socket")
        return found is None or found.fileno() < 0

    @property
    def idle(self) -> bool:
        """Whether no request or answer is in progress."""
        answered = self.cycle is None or self.cycle.response_complete
        return answered and not self.upgraded and not self.transport.get_write_buffer_size()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.place = place_of(self.client[0] if self.client else "")
        self.idle_since = self.loop.time()
        if why := self.doorway.admit(self):
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, why)
        else:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before or self.upgraded:
            self.head = 0
            self._stop_head()
            return
        if self.in_head:
            self.head += len(data)
            if self.head > MAX_ADDRESS + MAX_HEADERS:
                self._refuse(*_TOO_LARGE)
                return
        if self.cycle is None or self.cycle.response_complete:  # also while the rest of an unread body arrives
            self._await_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.in_head = True

    def on_headers_complete(self) -> None:
        self.in_head = False
        super().on_headers_complete()

    def handle_websocket_upgrade(self) -> None:
        self.upgraded = True
        self._stop()
        super().handle_websocket_upgrade()

    def on_response_complete(self) -> None:
        self.idle_since = self.loop.time()
        super().on_response_complete()
        self._await_reading()
        if self.in_head:
            self._await_head()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._await_reading()

    def _await_head(self) -> None:
        """Start the time limit for the head of a request, unless it is running."""
        if self.due is None:
            self.due = self.loop.call_later(SECONDS_FOR_HEAD, self._late)

    def _late(self) -> None:
        self.due = None
        if self.in_head:
            why = f"the headers did not come within {SECONDS_FOR_HEAD:g} s"
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, why)
        else:
            self.transport.abort()

    def _await_reading(self) -> None:
        """Close the connection unless the client reads on within the time limit, as long as output is waiting."""
        if self.reading is None and (waiting := self.transport.get_write_buffer_size()):
            self.reading = self.loop.call_later(SECONDS_TO_READ, self._look_again, waiting)

    def _look_again(self, before: int) -> None:
        self.reading = None
        if self.transport.get_write_buffer_size() >= before:
            self.transport.abort()
        else:
            self._await_reading()

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        body = msgspec.json.encode({"error": why})
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: application/json\r\nconnection: close\r\n"
            f"retry-after: 1\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()
        self._await_reading()

    def _stop_head(self) -> None:
        if self.due is not None:
            self.due.cancel()
            self.due = None

    def _stop(self) -> None:
        self._stop_head()
        if self.reading is not None:
            self.reading.cancel()
            self.reading = None


_TOO_LARGE = (
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    f"headers of more than {MAX_HEADERS:,} bytes, or an address of more than {MAX_ADDRESS:,}",
)


class SizeLimiter:
    """An application that rejects requests whose address or headers are too large, over any connection."""

    def __init__(self, app: ASGI3Application) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        if scope["type"] != "lifespan" and _too_large(scope):
            await _refuse(scope["type"], send)
        else:
            await self.app(scope, receive, send)


def _too_large(scope: Any) -> bool:
    """Return whether the head of a request exceeds the limits."""
    address = len(scope.get("raw_path") or b"") + len(scope["query_string"])
    return address > MAX_ADDRESS or sum(len(name) + len(value) + 4 for name, value in scope["headers"]) > MAX_HEADERS


async def _refuse(kind: str, send: Any) -> None:
    if kind == "websocket":
        await send({"type": "websocket.close"})
        return
    status, why = _TOO_LARGE
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status.value, "headers": headers})
    await send({"type": "http.response.body", "body": msgspec.json.encode({"error": why}), "more_body": False})
