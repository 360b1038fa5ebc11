"""Web sockets: messages from workers reach all viewers, and a viewer that does not read delays nobody else."""

from __future__ import annotations

import asyncio
import socket as sockets
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic
from typing import Any, Protocol, TypeAlias

import msgspec
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from infoset.errors import one_line
from infoset.remote.connections import place_of
from infoset.remote.serving import Refusal
from infoset.web.guard import Guard
from infoset.web.workers import Worker

PATIENCE = 5.0  # seconds allowed for an answer, or for the other side to read
MAX_SOCKETS = 400
SHARE = 150
"""Web sockets that one address may hold: thirty visitors with five each."""
MAX_WAITING = 60  # frames queued for a viewer who reads slowly
RATE, BURST = 40.0, 120.0  # messages from one socket: per second, and at once
BUFFER = 128 << 10
POLICY_VIOLATION, TRY_LATER, OVER = 1008, 1013, 1000

Topic: TypeAlias = tuple[Any, ...]


class Wire(WebSocketsSansIOProtocol):
    """uvicorn's web socket, which is aborted where the other side does not read for a while."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=BUFFER)
        transport.get_extra_info("socket").setsockopt(sockets.SOL_SOCKET, sockets.SO_SNDBUF, BUFFER)

    async def send(self, message: ASGISendEvent) -> None:
        try:
            await asyncio.wait_for(self.writable.wait(), PATIENCE)
        except TimeoutError:
            self.transport.abort()
            raise ClientDisconnected from None
        await super().send(message)
        if message["type"] == "websocket.close":
            self.loop.call_later(PATIENCE, self.transport.abort)


class Viewer:
    """One browser that follows one topic."""

    def __init__(self) -> None:
        self.waiting: list[Any] = []
        self.missed = False
        self.is_closed = False
        self.wake = asyncio.Event()

    def put(self, value: Any) -> None:
        """Queue a message, to be sent when the other side has read the earlier ones."""
        self.waiting.append(value)
        self.wake.set()

    async def next(self) -> list[Any]:
        """Wait for messages, and return all that are queued."""
        await self.wake.wait()
        self.wake.clear()
        found, self.waiting = self.waiting, []
        return found


class Newest(Viewer):
    """A viewer of messages that are complete in themselves, so that only the last one is kept."""

    def put(self, value: Any) -> None:
        self.waiting.clear()
        super().put(value)


class Frames(Viewer):
    """A viewer of frames that build on one another: one who falls behind starts over."""

    def put(self, value: Any) -> None:
        if len(self.waiting) >= MAX_WAITING:
            self.waiting.clear()
            self.missed = True
        super().put(value)


class Hub:
    """The viewers of each topic."""

    def __init__(self) -> None:
        self.viewers: dict[Topic, set[Viewer]] = defaultdict(set)
        self.sockets: Counter[str] = Counter()
        """The number of open sockets by the place they come from."""

    def hear(self, topic: Any, value: Any) -> None:
        """Pass a message from a worker on to the viewers of its topic."""
        for viewer in self.viewers.get(topic, ()):
            viewer.put(value)

    def lost(self) -> None:
        """Note that the worker is gone, so that all viewers must connect again."""
        for viewers in self.viewers.values():
            for viewer in viewers:
                viewer.is_closed = True
                viewer.wake.set()

    def join(self, topic: Topic, viewer: Viewer) -> None:
        self.viewers[topic].add(viewer)

    def leave(self, topic: Topic, viewer: Viewer) -> None:
        self.viewers[topic].discard(viewer)
        if not self.viewers[topic]:
            del self.viewers[topic]


class Connected(Protocol):
    """The part of a running server that its web sockets use."""

    guard: Guard
    hub: Hub
    tables: Worker


class Closed(Exception):
    """Raised to close the socket, with a code and a reason."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code, self.why = code, why


def routes(site: Connected) -> list[WebSocketRoute]:
    """Return the routes of the web sockets."""
    return [
        WebSocketRoute("/api/tables/{table}", _line(site, _seat)),
        WebSocketRoute("/api/live/{table}", _line(site, _live)),
    ]


def _line(site: Connected, talk: Callable[[Connected, WebSocket, dict[str, Any]], Awaitable[None]]) -> Any:
    """Return a handler of a socket from its handshake to its end.

    Once the first message has identified the browser, ``talk`` takes over.
    """

    async def handle(socket: WebSocket) -> None:
        try:
            site.guard.check(socket)
        except Refusal:
            await socket.close()  # before it is accepted, so the browser sees 403
            return
        place, open_here = place_of(socket.client.host if socket.client else ""), site.hub.sockets
        if open_here[place] >= SHARE or open_here.total() >= MAX_SOCKETS:
            await socket.close()
            return
        open_here[place] += 1
        try:
            await socket.accept()
            await talk(site, socket, await _first(socket))
        except Closed as error:
            await _close(socket, error.code, error.why)
        except Refusal as error:
            with suppress(WebSocketDisconnect, RuntimeError, ClientDisconnected):
                await _send(socket, {"kind": "closed", "why": error.why, "status": error.status})
            await _close(socket, POLICY_VIOLATION, error.why)
        except (WebSocketDisconnect, ClientDisconnected):
            pass
        finally:
            open_here[place] -= 1
            if not open_here[place]:
                del open_here[place]

    return handle


async def _first(socket: WebSocket) -> dict[str, Any]:
    try:
        return _read(await asyncio.wait_for(_text(socket), PATIENCE))
    except TimeoutError:
        raise Closed(POLICY_VIOLATION, "nothing was said") from None


async def _text(socket: WebSocket) -> str:
    try:
        return await socket.receive_text()
    except KeyError:
        raise Closed(POLICY_VIOLATION, "bytes, and no text") from None


def _read(text: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise Closed(POLICY_VIOLATION, "no JSON object") from None


async def _close(socket: WebSocket, code: int, why: str) -> None:
    with suppress(WebSocketDisconnect, RuntimeError, ClientDisconnected):
        await socket.close(code, one_line(why, 100))


async def _send(socket: WebSocket, message: Any) -> None:
    await socket.send_text(msgspec.json.encode(message).decode())


async def _seat(site: Connected, socket: WebSocket, first: dict[str, Any]) -> None:
    """Serve a seat at a table: send its messages, and take the person's."""
    site.guard.check_token(str(first.get("token", "")))
    table = socket.path_params["table"]
    chair = await site.tables.ask("sit", table, str(first.get("key", "")))
    topic, viewer = ("seat", table, chair), Newest()
    site.hub.join(topic, viewer)
    try:
        await site.tables.ask("join", table, chair)
        try:
            await _both(_listen(site, socket, table, chair), _write(socket, viewer))
        finally:
            if not viewer.is_closed:  # a new process would not know this viewer
                _later(site.tables.tell("leave", table, chair))
    finally:
        site.hub.leave(topic, viewer)


async def _listen(site: Connected, socket: WebSocket, table: str, chair: int) -> None:
    left, then = BURST, monotonic()
    while True:
        message = _read(await _text(socket))
        now = monotonic()
        left, then = min(BURST, left + (now - then) * RATE) - 1, now
        if left < 0:
            raise Closed(POLICY_VIOLATION, "too many messages")
        try:
            answer = await site.tables.ask("say", table, chair, message)
        except Refusal as error:
            answer = {"kind": "refused", "why": error.why}
        if answer:
            await _send(socket, answer)


async def _write(socket: WebSocket, viewer: Viewer) -> None:
    while True:
        for value in await viewer.next():
            await socket.send_text(value.decode())
        if viewer.is_closed:
            raise Closed(TRY_LATER, "the game continues in a moment")


async def _live(site: Connected, socket: WebSocket, _: dict[str, Any]) -> None:
    """Serve the spectator of a game between agents.

    It gets the whole game so far, then one frame per step; after a missed frame, the present state of the game.
    """
    table = socket.path_params["table"]
    topic, viewer = ("live", table), Frames()
    site.hub.join(topic, viewer)
    try:
        last, whole = await site.tables.ask("watch", table)
        try:
            await socket.send_text(whole.decode())
            await _both(_deaf(socket), _stream(site, socket, viewer, table, last))
        finally:
            if not viewer.is_closed:
                _later(site.tables.tell("unwatch", table))
    finally:
        site.hub.leave(topic, viewer)


async def _stream(site: Connected, socket: WebSocket, viewer: Viewer, table: str, last: int) -> None:
    while True:
        for number, message in await viewer.next():
            frame, here = message, number
            if number > last + 1 or viewer.missed:
                viewer.missed = False
                here, frame = await site.tables.ask("jump", table)
            if number < 0 or here > last:
                last = max(last, here)
                await socket.send_text(frame.decode())
        if viewer.is_closed:
            raise Closed(TRY_LATER, "the game continues in a moment")


async def _deaf(socket: WebSocket) -> None:
    """Read until the other side closes; its messages are ignored."""
    heard = 0
    while True:
        await _text(socket)
        heard += 1
        if heard > BURST:
            raise Closed(POLICY_VIOLATION, "too many messages")


async def _both(*talks: Awaitable[None]) -> None:
    """Run tasks until one of them ends, and cancel the others."""
    tasks = [asyncio.ensure_future(talk) for talk in talks]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


_ENDING: set[asyncio.Future[None]] = set()


def _later(work: Awaitable[None]) -> None:
    """Do the work even where the calling task is cancelled."""
    task = asyncio.ensure_future(work)
    _ENDING.add(task)
    task.add_done_callback(_ENDING.discard)
