"""Connections of our servers: what says nothing, or too much, or too slowly, takes nobody else's place."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest

pytest.importorskip("starlette")

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from infoset.remote import connections
from infoset.remote.connections import place_of
from infoset.remote.serving import Refusal, listening, read_body, web_server

PATIENCE = 30.0
HERE, ELSEWHERE = "127.0.0.1", "127.0.0.2"
ASKED = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Answers:
    """An application whose answers at ``/busy`` wait until ``done`` is set."""

    serving: uvicorn.Server

    def __init__(self) -> None:
        self.busy, self.done = 0, asyncio.Event()

    async def plain(self, _: Request) -> Response:
        return Response("there")

    async def wait(self, _: Request) -> Response:
        self.busy += 1
        await self.done.wait()
        return Response("at last")

    async def much(self, _: Request) -> Response:
        return Response(b"x" * (64 << 20))


@pytest.fixture
def serve() -> Iterator[Callable[[], tuple[int, Answers]]]:
    """Servers that end with the test: the port, and the application."""
    running = []

    def start() -> tuple[int, Answers]:
        answers = Answers()
        routes = [Route("/", answers.plain), Route("/busy", answers.wait), Route("/much", answers.much)]
        where, serving = listening("127.0.0.1", 0), web_server(Starlette(routes=routes))
        answers.serving = serving
        thread = threading.Thread(target=serving.run, kwargs={"sockets": [where]})
        thread.start()
        running.append((serving, thread, where))
        return where.getsockname()[1], answers

    yield start
    for serving, thread, where in running:
        serving.should_exit = True
        thread.join()
        where.close()


def connect(port: int, sent: bytes = b"", source: str = HERE) -> socket.socket:
    try:
        line = socket.create_connection(("127.0.0.1", port), PATIENCE, (source, 0))
    except OSError:  # macOS has no second address by itself
        pytest.skip(f"no connection from {source}")
    line.sendall(sent)
    return line


def heard(line: socket.socket) -> bytes:
    """All that is answered until the server closes the connection."""
    found = b""
    try:
        while piece := line.recv(1 << 16):
            found += piece
    except ConnectionResetError:
        pass
    line.close()
    return found


def told(line: socket.socket) -> bytes:
    """One answer on a connection that is kept: its head, and ``there``."""
    found = b""
    while not found.endswith(b"there") and (piece := line.recv(1 << 16)):
        found += piece
    return found


def answer(port: int, sent: bytes = ASKED, source: str = HERE) -> bytes:
    """One answer on a connection of its own."""
    with connect(port, sent, source) as line:
        try:
            return told(line)
        except ConnectionResetError:
            return b""


def until(true: Callable[[], Any]) -> None:
    for _ in range(int(PATIENCE / 0.01)):
        if true():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it did not happen")


def test_slow_and_idle_connections_leave_room(serve) -> None:
    """Sixty heads that never end and two hundred connections that say nothing, from the address of who comes then."""
    port, _ = serve()
    with ExitStack() as stack:
        for _ in range(60):
            stack.enter_context(connect(port, b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "))
        for _ in range(2 * connections.SHARE):
            stack.enter_context(connect(port))
        kept = stack.enter_context(connect(port))
        for _ in range(3):  # on one connection, which is not closed for another
            kept.sendall(ASKED)
            assert told(kept).startswith(b"HTTP/1.1 200")
            assert answer(port).startswith(b"HTTP/1.1 200")


def test_an_address_has_a_share_and_the_others_have_room(serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "SHARE", 3)
    port, answers = serve()
    with ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(connect(port, ASKED.replace(b"/ ", b"/busy ", 1)))
        until(lambda: answers.busy == 3)
        assert heard(connect(port)).startswith(b"HTTP/1.1 503")
        assert answer(port, source=ELSEWHERE).startswith(b"HTTP/1.1 200")
    until(lambda: answer(port).startswith(b"HTTP/1.1 200"))  # once those are gone


def test_whoever_holds_the_most_makes_room_for_others(serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 8)
    port, _ = serve()
    with ExitStack() as stack:
        first = stack.enter_context(connect(port, ASKED, ELSEWHERE))
        assert told(first)
        for _ in range(20):
            stack.enter_context(connect(port))
        first.sendall(ASKED)  # it waited longest, and was not closed
        assert told(first).startswith(b"HTTP/1.1 200")
        assert answer(port, source="127.0.0.3").startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * 200_000,  # and no end
        b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * 20_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X-Many: x\r\n" * 5_000 + b"\r\n",
        b"GET /?" + b"x" * 40_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
    ids=["a header without an end", "a long header", "many headers", "a long address"],
)
def test_heads_have_a_size(serve, sent: bytes) -> None:
    port, _ = serve()
    line = connect(port)
    with suppress(ConnectionError):  # closed before all of it was sent
        line.sendall(sent)
    found = heard(line)
    assert not found or found.startswith(b"HTTP/1.1 431 "), found
    assert answer(port).startswith(b"HTTP/1.1 200")
    assert answer(port, b"GET /?" + b"x" * 30_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n").startswith(b"HTTP/1.1 200")


def test_heads_have_a_deadline(serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "SECONDS_FOR_HEAD", 0.2)
    port, _ = serve()
    assert heard(connect(port)) == b""  # nothing was asked
    slow = connect(port)
    stop = threading.Event()

    def drip() -> None:
        for byte in b"GET / HTTP/1.1\r\nX-Slow: " + b"x" * 10_000:
            try:
                slow.sendall(bytes([byte]))
            except OSError:
                return
            if stop.wait(0.02):
                return

    thread = threading.Thread(target=drip)
    thread.start()
    assert heard(slow).startswith(b"HTTP/1.1 408 ")
    stop.set()
    thread.join()
    again = connect(port, ASKED + b"GET / HTTP/1.1\r\nX-Slow: ")  # the second one on a connection
    assert heard(again).endswith(b'{"error":"the headers did not come within 0.2 s"}')
    unwanted = connect(port, b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
    assert told(unwanted).startswith(b"HTTP/1.1 200")
    unwanted.sendall(b"x")  # a body that nobody reads, and that does not end
    assert heard(unwanted) == b""


def test_who_does_not_read_is_cut_off(serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "SECONDS_TO_READ", 0.2)
    port, answers = serve()
    with connect(port, ASKED.replace(b"/ ", b"/much ", 1)) as deaf:
        until(lambda: answers.serving.server_state.connections)
        until(lambda: not answers.serving.server_state.connections)
        size = 0
        with suppress(ConnectionResetError):
            while piece := deaf.recv(1 << 20):  # what lies in the buffers of the system
                size += len(piece)
        assert size < 64 << 20


def test_an_answer_that_is_read_slowly_comes_whole(serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "SECONDS_TO_READ", 1.0)
    port, _ = serve()
    with connect(port, ASKED.replace(b"/ ", b"/much ", 1)) as line:
        size = len(line.recv(1 << 16))
        while size < 64 << 20:
            if size % 7 == 0:
                threading.Event().wait(0.01)
            size += len(line.recv(1 << 20))


def test_networks_of_one_household_are_one_address() -> None:
    assert place_of("2001:db8:1:2:aaaa::1") == place_of("2001:db8:1:2:bbbb::2") != place_of("2001:db8:1:3::1")
    assert place_of("::ffff:192.0.2.1") == place_of("192.0.2.1") != place_of("192.0.2.2")
    assert place_of("fe80::1%eth0") == "fe80::/64"
    assert place_of("") == ""


def test_a_body_that_ends_with_its_connection_is_refused() -> None:
    """It is nobody's fault but the caller's, so that the owner of the server is not told of it."""

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    request = Request({"type": "http", "method": "POST", "headers": []}, receive)  # type: ignore[arg-type]
    with pytest.raises(Refusal, match="the connection ended before the body did"):
        asyncio.run(read_body(request, 100))
