"""HTTP with deadlines: a request ends at its deadline and its answer is bounded, whatever the server does."""

from __future__ import annotations

import http.client
import socket
import ssl
from contextlib import suppress
from math import inf
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import msgspec

from infoset.errors import ParameterError, RemoteError, one_line, shorten

MAX_ANSWER = 1 << 20  # bytes
MAX_EXCUSE = 1 << 12
SECONDS_FOR_EXCUSE = 1.0
UNKNOWN = (http.client.NOT_FOUND, http.client.METHOD_NOT_ALLOWED, http.client.NOT_IMPLEMENTED)
QUICK: int = getattr(socket, "TCP_QUICKACK", 0)
NO_TLS = "WRONG_VERSION_NUMBER"  # OpenSSL's reason for an answer in plain text
LEAST = 1e-4  # seconds; a timeout of 0 would mean: never wait


class StatusError(RemoteError):
    """A request that was answered by another status than 200."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.unknown = status in UNKNOWN
        """Whether the server does not know such requests at all."""


class Excuse(msgspec.Struct):
    """The body of an error's answer."""

    error: str = ""


class _Clock:
    """The deadline of the connection's present operation."""

    def __init__(self) -> None:
        self.deadline = inf

    def left(self) -> float | None:
        """Return the seconds left, ``None`` without a deadline.  Raises ``TimeoutError`` where there are none."""
        if self.deadline == inf:
            return None
        left = self.deadline - monotonic()
        if left <= 0:
            raise TimeoutError
        return max(left, LEAST)


class _Socket(socket.socket):
    """A socket whose reads all end at one deadline: one byte a second does not extend it."""

    clock: _Clock

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        self.settimeout(self.clock.left())
        if QUICK:  # a server that sends head and body apart waits for the head to be acknowledged: 40 ms
            self.setsockopt(socket.IPPROTO_TCP, QUICK, 1)
        return super().recv_into(*args, **kwargs)

    def sendall(self, *args: Any, **kwargs: Any) -> None:
        self.settimeout(self.clock.left())
        super().sendall(*args, **kwargs)


class _SecureSocket(ssl.SSLSocket):
    clock: _Clock

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        self.settimeout(self.clock.left())
        return super().recv_into(*args, **kwargs)

    def sendall(self, *args: Any, **kwargs: Any) -> None:
        self.settimeout(self.clock.left())
        super().sendall(*args, **kwargs)


class Wire:
    """A connection to one server, kept open between requests; for one thread at a time.

    Redirects are not followed, proxies of the environment not used: an agent is at its address.
    """

    def __init__(self, url: str) -> None:
        """Parse the address.  Raises ``ParameterError`` for an invalid one."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise ParameterError(f"{shorten(url)!r} is no address: {error}") from None
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
            raise ParameterError(f"{shorten(url)!r} is no address of an agent; allowed: http://HOST:PORT")
        self.url, self.secure, self.host = url, parts.scheme == "https", parts.hostname
        self.port = port or (443 if self.secure else 80)
        self.path = parts.path.rstrip("/")
        self.clock = _Clock()
        self.connection: http.client.HTTPConnection | None = None

    def open(self, deadline: float) -> None:
        """Connect, for the next request.  Raises ``RemoteError`` where that fails by ``deadline``."""
        self.clock.deadline = deadline
        try:
            self.connection = self.connection or self._connect()
        except TimeoutError:
            raise RemoteError(f"{self.url}: no answer") from None
        except (OSError, ValueError) as error:
            raise RemoteError(f"{self.url}: {_text(error)}") from None

    def get(self, path: str, deadline: float | None) -> bytes:
        """Return the body of an answer, see ``ask``."""
        return self.ask("GET", path, None, {}, deadline)

    def post(self, path: str, body: bytes, deadline: float | None, content_type: str = "application/json") -> bytes:
        """Return the body of an answer, see ``ask``."""
        return self.ask("POST", path, body, {"Content-Type": content_type}, deadline)

    def ask(self, method: str, path: str, body: bytes | None, headers: dict[str, str], deadline: float | None) -> bytes:
        """Return the body of the server's answer, if it comes before ``deadline``, a time of ``time.monotonic``.

        Raises ``TimeoutError`` where it does not, and ``RemoteError`` for any other error.  After either the connection
        is closed, so that a late answer is lost.
        """
        self.clock.deadline = inf if deadline is None else deadline
        reused = self.connection is not None
        try:
            try:
                return self._ask(method, path, body, headers)
            except (ConnectionError, http.client.BadStatusLine):
                if not reused:
                    raise
                self.close()  # a server may close an idle connection just before it is used again
                return self._ask(method, path, body, headers)
        except (TimeoutError, StatusError):
            self.close()
            raise
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            raise RemoteError(f"{self.url}: {_text(error)}") from None
        except BaseException:
            self.close()
            raise

    def _ask(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> bytes:
        if self.connection is None:
            self.connection = self._connect()
        self.connection.request(method, self.path + path, body, headers)
        with self.connection.getresponse() as answer:
            return self._read(path, answer)

    def _read(self, path: str, answer: http.client.HTTPResponse) -> bytes:
        """Return the body of an answer, reading no more than the limit."""
        if answer.status != http.client.OK:
            why = f"{path} was answered by {answer.status} {answer.reason}{self._excuse(answer)}"
            raise StatusError(f"{self.url}: {one_line(why, 200)}", answer.status)
        to_the_end = answer.length is None and not answer.chunked  # the body ends with the connection, as in HTTP/1.0
        found = answer.read(MAX_ANSWER + 1)
        if len(found) > MAX_ANSWER:
            raise ValueError(f"{path} was answered by more than {MAX_ANSWER:,} bytes")
        if not (answer.isclosed() or to_the_end):
            raise ValueError(f"the answer to {path} was cut off")
        if answer.will_close:
            self.close()
        return found

    def _excuse(self, answer: http.client.HTTPResponse) -> str:
        """Return the error in the body of an answer, if it comes within half of the time left.

        The status already tells that there is one.
        """
        now = monotonic()
        self.clock.deadline = now + min((self.clock.deadline - now) / 2, SECONDS_FOR_EXCUSE)
        try:
            error = msgspec.json.decode(answer.read(MAX_EXCUSE), type=Excuse).error
        except (OSError, http.client.HTTPException, ValueError, msgspec.MsgspecError, RecursionError):
            return ""
        return f": {error}" if error else ""

    def _connect(self) -> http.client.HTTPConnection:
        plain = socket.create_connection((self.host, self.port), self.clock.left())
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = http.client.HTTPConnection(self.host, self.port)
        connection.sock = self._timed(plain)
        return connection

    def _timed(self, plain: socket.socket) -> socket.socket:
        if self.secure:
            context = ssl.create_default_context()
            context.sslsocket_class = _SecureSocket
            plain.settimeout(self.clock.left())
            secure = context.wrap_socket(plain, server_hostname=self.host)
            secure.clock = self.clock  # type: ignore[attr-defined]
            return secure
        timed = _Socket(plain.family, plain.type, plain.proto, plain.detach())
        timed.clock = self.clock
        return timed

    def __del__(self) -> None:
        if hasattr(self, "connection"):
            self.close()

    def close(self) -> None:
        """Close the connection; the next request opens it again."""
        connection, self.connection = self.connection, None
        if connection is not None:
            with suppress(OSError):
                connection.close()


def _text(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "nobody listens there"
    if isinstance(error, http.client.RemoteDisconnected | ConnectionResetError | BrokenPipeError):
        return "the connection was closed without an answer"
    if isinstance(error, socket.gaierror):
        return "there is no such host"
    if isinstance(error, ssl.SSLError) and error.reason == NO_TLS:
        return "https is not spoken there; http://?"
    return one_line(str(error) or type(error).__name__, 200)
