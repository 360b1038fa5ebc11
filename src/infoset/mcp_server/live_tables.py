"""Tables at which clients play: each is a table of the page's service, with the client in one chair."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec

from infoset.errors import one_line
from infoset.match.person import HUMAN
from infoset.mcp_server.limits import ServerLimits
from infoset.processes import limit_memory
from infoset.remote.serving import Refusal
from infoset.view.pictures import picture_text
from infoset.web.tables import Tables
from infoset.web.workers import News, Worker

IDLE = 300.0  # seconds after which a table that nobody uses makes room for another
LOOK = 0.5  # seconds between two reports while others think
MAX_EVENTS = 200  # lines in an answer

Progress = Callable[[str], Awaitable[None]]


class LimitedTables(Tables):
    """The page's tables in a process of limited memory."""

    def __init__(self, news: News, folders: tuple[Path, ...], memory: int) -> None:
        if memory:
            limit_memory(memory << 20)
        super().__init__(news, folders)


@dataclass
class LiveTable:
    """A table as its client sees it."""

    name: str
    game: str
    chair: int
    used: float = field(default_factory=monotonic)
    joined: bool = False
    message: dict[str, Any] = field(default_factory=dict)
    """The last message about the hand."""
    prepared: str = ""
    """What the agents are waiting for."""
    failed: str = ""
    answered: str = ""
    """The turn that the client's last move answered."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def over(self) -> bool:
        return bool(self.failed) or self.message.get("end") is not None

    @property
    def settled(self) -> bool:
        """Whether nobody needs to be waited for."""
        mine = bool(self.message.get("legal_actions")) and self.message["turn"] != self.answered
        return self.over or mine

    def view(self) -> dict[str, Any]:
        """Return what the client may know, in words."""
        if self.failed:
            raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, self.failed)
        message, end = self.message, self.message.get("end")
        public = message.get("public", {})
        players = list(public.get("players", ()))
        events = message.get("descriptions", [])
        mine = self.settled and not self.over
        return {
            "table": self.name, "game": self.game, "players": players,
            "you": players[message["seat"]] if players else "", "agents": list(public.get("agents", ())),
            "your_turn": mine, "legal_actions": list(message["legal_actions"]) if mine else [],
            "events": events[-MAX_EVENTS:],
            "picture": picture_text(message["picture"]) if message.get("picture") else "",
            "over": self.over, "returns": list(end["returns"]) if end else None,
            "replay": end["item"] if end else None,
            "waiting_for": "" if self.settled else self.prepared or "the others",
        }  # fmt: skip


class LiveTables:
    """The open tables of a server; the process that plays them starts with the first one."""

    def __init__(self, folders: tuple[Path, ...], limits: ServerLimits) -> None:
        self.limits = limits
        self.tables: OrderedDict[str, LiveTable] = OrderedDict()
        self.worker = Worker("infoset.mcp_server.live_tables:LimitedTables", folders, limits.memory)
        self.worker.heard.append(self._heard)
        self.worker.fallen.append(self._lost)
        self._opening = asyncio.Lock()

    def close(self) -> None:
        """End the process; unfinished games stay in its folder."""
        self.worker.kill()

    async def open(
        self, game: str, opponents: Sequence[str], seat: int, seed: int | None, progress: Progress
    ) -> LiveTable:
        """Open a table; the oldest one that nobody uses makes room for it.  Raises ``Refusal``."""
        async with self._opening:
            await self._make_room()
            agents = [*opponents[:seat], HUMAN, *opponents[seat:]]
            found = await self._ask("open", {"game": game, "agents": agents, "seed": seed})
            table = self.tables[found["table"]] = LiveTable(found["table"], game, found["chair"])
        await self._wait(table, progress)
        return table

    async def look(self, name: str, progress: Progress) -> LiveTable:
        """Return a table once it is the client's turn, or the limit of seconds has passed."""
        table = self._find(name)
        await self._wait(table, progress)
        return table

    async def play(self, name: str, action: str, progress: Progress) -> LiveTable:
        """Make a move, given by its words or by its number from 1, and wait for the next turn."""
        table = self._find(name)
        await self._wait(table, progress)
        if not table.settled:
            raise Refusal(HTTPStatus.CONFLICT, "it is not your turn yet; look at the table again")
        if table.over:
            table.view()  # raises where the game failed
            raise Refusal(HTTPStatus.CONFLICT, "the game is over")
        legal = table.message["legal_actions"]
        number = _number(action, legal)
        turn = table.message["turn"]
        answer = await self._ask("say", name, table.chair, {"action": number, "turn": turn})
        if answer:
            raise Refusal(HTTPStatus.CONFLICT, str(answer.get("why", "refused")))
        table.answered = turn
        await self._wait(table, progress)
        return table

    async def leave(self, name: str) -> None:
        """Leave a table, whose game ends with that."""
        self._find(name)
        await self._leave(name)

    async def _leave(self, name: str) -> None:
        table = self.tables.pop(name)
        if table.over:
            with suppress(Refusal):
                await self._ask("leave", name, table.chair)
            return
        with suppress(Refusal):  # the game may have ended in the meantime
            await self._ask("say", name, table.chair, {"leave": True})
            await self._ask("leave", name, table.chair)

    async def _make_room(self) -> None:
        if len(self.tables) < self.limits.tables:
            return
        ended = [name for name, table in self.tables.items() if table.over]
        oldest = ended[0] if ended else next(iter(self.tables))
        if not ended and monotonic() - self.tables[oldest].used < IDLE:
            why = (
                f"{self.limits.tables:,} tables are open, the limit here (--tables), and all were used in the last "
                f"{IDLE:g} s; leave one, or try again later"
            )
            raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, why)
        await self._leave(oldest)

    def _find(self, name: str) -> LiveTable:
        table = self.tables.get(name)
        if table is None:
            raise Refusal(HTTPStatus.NOT_FOUND, f"no table {one_line(name)!r}; it was left, or closed to make room")
        table.used = monotonic()
        self.tables.move_to_end(name)
        return table

    async def _wait(self, table: LiveTable, progress: Progress) -> None:
        """Wait until it is the client's turn or the game is over, at most for the limit of seconds."""
        until = monotonic() + self.limits.seconds
        if not table.joined:
            table.joined = True
            await self._ask("join", table.name, table.chair)
        while not table.settled and monotonic() < until:
            table.changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK):
                    await table.changed.wait()
                continue
            await progress(table.prepared or "waiting for the others")

    async def _ask(self, method: str, *arguments: Any) -> Any:
        """Ask the process of the tables; end it where it does not answer, since the games are in files."""
        try:
            async with asyncio.timeout(self.limits.seconds):
                return await self.worker.ask(method, *arguments)
        except TimeoutError:
            self.worker.kill()
            why = f"the tables did not answer within {self.limits.seconds:g} s (--seconds); they are set up again"
            raise Refusal(HTTPStatus.REQUEST_TIMEOUT, why) from None

    def _heard(self, topic: Any, value: Any) -> None:
        kind, name, *_ = topic
        table = self.tables.get(name)
        if kind != "seat" or table is None:
            return
        message = msgspec.json.decode(value)
        if message["kind"] == "seat":
            table.message = message
        elif message["kind"] == "preparing":
            table.prepared = message["what"]
        elif message["kind"] == "failed":
            table.failed = message["why"]
        table.changed.set()

    def _lost(self) -> None:
        """Note that the process ended: its tables are joined anew when they are used again."""
        for table in self.tables.values():
            table.joined = False


def _number(action: str, legal: Sequence[str]) -> int:
    """Return the place of a move among the legal ones.  Raises ``Refusal`` that lists them."""
    if action in legal:
        return legal.index(action)
    words = [one.casefold() for one in legal]
    if words.count(action.strip().casefold()) == 1:
        return words.index(action.strip().casefold())
    if action.isascii() and action.isdecimal() and action not in legal and 1 <= int(action) <= len(legal):
        return int(action) - 1
    shown = one_line(", ".join(legal), 1_000)
    raise Refusal(HTTPStatus.BAD_REQUEST, f"{one_line(action)!r} is not a legal move; legal: {shown}")
