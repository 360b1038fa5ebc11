"""Access control of the server: host and origin, request rate, and the token for requests that change something."""

from __future__ import annotations

import hmac
import socket
from collections import OrderedDict
from http import HTTPStatus
from ipaddress import ip_address
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from infoset.remote.connections import place_of
from infoset.remote.serving import Refusal

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

TOKEN_HEADER = "x-infoset-token"
VISITOR_HEADER = "x-infoset-visitor"
LOCAL = ("localhost", "127.0.0.1", "::1")
RATE, BURST = 300.0, 3000.0  # requests per second, and at once, for one address, which a whole class may share
MAX_ADDRESSES = 1000
SECURITY = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}


class Guard:
    """Checks of requests: ``check`` for all requests and web sockets, ``check_token`` for those that write."""

    def __init__(self, token: str, hosts: tuple[str, ...], port: int) -> None:
        """Accept ``hosts`` as names of the server besides those of this machine."""
        self.token, self.hosts, self.port = token, frozenset((*LOCAL, *hosts)), port
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # by address: requests left, time

    def check(self, connection: HTTPConnection) -> None:
        """Raise ``Refusal`` for a foreign Host or Origin, and for an address that sends requests too often."""
        self.check_origin(connection)
        address = place_of(connection.client.host if connection.client else "")
        now = monotonic()
        left, then = self._left.pop(address, (BURST, now))
        left = min(BURST, left + (now - then) * RATE)
        self._left[address] = (max(left - 1, 0.0), now)
        if len(self._left) > MAX_ADDRESSES:
            self._left.popitem(last=False)
        if left < 1:
            raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, "too many requests; try again in a second")

    def check_origin(self, connection: HTTPConnection) -> None:
        """Raise ``Refusal`` for a foreign Host or Origin alone: requests for the page's own files are not counted."""
        hosts = connection.headers.getlist("host")
        host = hosts[0] if len(hosts) == 1 else ""
        try:
            parts = urlsplit(f"//{host}")
            name, port = parts.hostname or "", parts.port
        except ValueError:
            name, port = "", None
        if name not in self.hosts or (port or 80) != self.port:
            raise Refusal(
                HTTPStatus.MISDIRECTED_REQUEST,
                "the request names a host that this server does not know (--name adds it)",
            )
        if any(_place(origin) != hosts[0] for origin in connection.headers.getlist("origin")):
            raise Refusal(HTTPStatus.FORBIDDEN, "asked from another site's page")

    def check_token(self, given: str) -> None:
        """Raise ``Refusal`` for a token other than the one in the printed link."""
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            raise Refusal(HTTPStatus.UNAUTHORIZED, "no token, or a wrong one: open the link that the server printed")


def _place(origin: str) -> str:
    """Return the host and port of an origin; "" for an invalid one."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def names_of(host: str) -> tuple[str, ...]:
    """Return the names of a server that listens at ``host``: all addresses of this machine for 0.0.0.0 and ::."""
    try:
        everywhere = ip_address(host).is_unspecified
    except ValueError:
        everywhere = False
    if not everywhere:
        return (host.lower(),)
    own = socket.gethostname()
    try:
        addresses = {str(found[4][0]) for found in socket.getaddrinfo(own, None)}
    except OSError:
        addresses = set()
    addresses |= {_outward()}
    return tuple(sorted({own.lower(), f"{own.lower()}.local", *addresses} - {""}))


def _outward() -> str:
    """Return the address of this machine in its network; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        try:
            line.connect(("192.0.2.1", 9))
            return str(line.getsockname()[0])
        except OSError:
            return ""
