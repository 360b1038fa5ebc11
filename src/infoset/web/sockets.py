"""Web sockets: what workers tell reaches whoever looks, and nobody who does not read costs more than one message."""

from __future__ import annotations

import asyncio
import socket as sockets
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from infoset.errors import one_line
from infoset.remote.connections import place_of
from infoset.remote.serving import Refusal

if TYPE_CHECKING:
    from infoset.web.app import Site

PATIENCE = 5.0  # seconds that one may take who is asked, or sent to
MAX_SOCKETS = 400
SHARE = 150
"""Web sockets of one address: thirty visitors with five each."""
MAX_WAITING = 60  # frames that wait for one who reads slowly
RATE, BURST = 40.0, 120.0  # messages from one socket: a second, and at once
BUFFER = 128 << 10
POLICY_VIOLATION, TRY_LATER, OVER = 1008, 1013, 1000

Topic: TypeAlias = tuple[Any, ...]


class Wire(WebSocketsSansIOProtocol):
    """uvicorn's web socket, which ends at once where the other side does not read for a while."""

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
    """One browser on one topic."""

    def __init__(self) -> None:
        self.waiting: list[Any] = []
        self.missed = False
        self.gone = False
        self.wake = asyncio.Event()

    def put(self, value: Any) -> None:
        """What is told, to be sent when the other side has read what was before."""
        self.waiting.append(value)
        self.wake.set()

    async def next(self) -> list[Any]:
        """What waits."""
        await self.wake.wait()
        self.wake.clear()
        found, self.waiting = self.waiting, []
        return found


class Newest(Viewer):
    """Of whole messages only the last one counts."""

    def put(self, value: Any) -> None:
        self.waiting.clear()
        super().put(value)


class Frames(Viewer):
    """Frames that build on one another: who falls behind begins anew."""

    def put(self, value: Any) -> None:
        if len(self.waiting) >= MAX_WAITING:
            self.waiting.clear()
            self.missed = True
        super().put(value)


class Hub:
    """Who looks at what."""

    def __init__(self) -> None:
        self.viewers: dict[Topic, set[Viewer]] = defaultdict(set)
        self.sockets: Counter[str] = Counter()
        """How many are open, by where they come from."""

    def hear(self, topic: Any, value: Any) -> None:
        """From a worker."""
        for viewer in self.viewers.get(topic, ()):
            viewer.put(value)

    def lost(self) -> None:
        """The worker is gone: everybody must come anew."""
        for viewers in self.viewers.values():
            for viewer in viewers:
                viewer.gone = True
                viewer.wake.set()

    def join(self, topic: Topic, viewer: Viewer) -> None:
        self.viewers[topic].add(viewer)

    def leave(self, topic: Topic, viewer: Viewer) -> None:
        self.viewers[topic].discard(viewer)
        if not self.viewers[topic]:
            del self.viewers[topic]


class Closed(Exception):
    """The socket is to be closed, and why."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code, self.why = code, why


def routes(site: Site) -> list[WebSocketRoute]:
    """The lines to the page."""
    return [
        WebSocketRoute("/api/tables/{table}", _line(site, _seat)),
        WebSocketRoute("/api/live/{table}", _line(site, _live)),
    ]


def _line(site: Site, talk: Callable[[Site, WebSocket, dict[str, Any]], Awaitable[None]]) -> Any:
    """A socket from its handshake to its end, talked over by ``talk`` once it said who it is."""

    async def handle(socket: WebSocket) -> None:
        try:
            site.guard.check(socket)
        except Refusal:
            await socket.close()  # before it is accepted: 403
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


async def _seat(site: Site, socket: WebSocket, first: dict[str, Any]) -> None:
    """A seat at a table: its messages, and the person's."""
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
            if not viewer.gone:  # another process never heard of its coming
                _later(site.tables.tell("leave", table, chair))
    finally:
        site.hub.leave(topic, viewer)


async def _listen(site: Site, socket: WebSocket, table: str, chair: int) -> None:
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
        if viewer.gone:
            raise Closed(TRY_LATER, "the game goes on in a moment")


async def _live(site: Site, socket: WebSocket, _: dict[str, Any]) -> None:
    """A game of agents: all of it, then a frame a step; all of it again for who missed one."""
    table = socket.path_params["table"]
    topic, viewer = ("live", table), Frames()
    site.hub.join(topic, viewer)
    try:
        last, whole = await site.tables.ask("watch", table)
        try:
            await socket.send_text(whole.decode())
            await _both(_deaf(socket), _stream(site, socket, viewer, table, last))
        finally:
            if not viewer.gone:
                _later(site.tables.tell("unwatch", table))
    finally:
        site.hub.leave(topic, viewer)


async def _stream(site: Site, socket: WebSocket, viewer: Viewer, table: str, last: int) -> None:
    while True:
        for number, told in await viewer.next():
            frame, here = told, number
            if number > last + 1 or viewer.missed:
                viewer.missed = False
                here, frame = await site.tables.ask("jump", table)
            if number < 0 or here > last:
                last = max(last, here)
                await socket.send_text(frame.decode())
        if viewer.gone:
            raise Closed(TRY_LATER, "the game goes on in a moment")


async def _deaf(socket: WebSocket) -> None:
    """Until the other side goes; it has nothing to say."""
    heard = 0
    while True:
        await _text(socket)
        heard += 1
        if heard > BURST:
            raise Closed(POLICY_VIOLATION, "too many messages")


async def _both(*talks: Awaitable[None]) -> None:
    """Until one of them ends; the others end with it."""
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
    """Done even where the task that asks for it is cancelled."""
    task = asyncio.ensure_future(work)
    _ENDING.add(task)
    task.add_done_callback(_ENDING.discard)
