"""What the page asks to play."""

from __future__ import annotations

from typing import Any

import msgspec

from infoset.web.app import Question, Site
from infoset.web.wishes import wanted


class OfGame(msgspec.Struct):
    """A question about a game."""

    name: str


class AtTable(msgspec.Struct):
    """A question about a table; ``chair`` is a wish."""

    table: str
    chair: int | None = None


async def games(site: Site, _: dict[str, Any]) -> Any:
    """What can be played."""
    return await site.tables.ask("games")


async def game(site: Site, asked: dict[str, Any]) -> Any:
    """Who can play it, and how."""
    return await site.tables.ask("game", wanted(OfGame, asked).name)


async def tables(site: Site, _: dict[str, Any]) -> Any:
    """The games that go on."""
    return await site.tables.ask("list")


async def open_table(site: Site, asked: dict[str, Any]) -> Any:
    """A new table, with a seat for who asks."""
    return await site.tables.ask("open", asked)


async def take(site: Site, asked: dict[str, Any]) -> Any:
    """A free seat."""
    wish = wanted(AtTable, asked)
    return await site.tables.ask("take", wish.table, wish.chair)


async def table(site: Site, asked: dict[str, Any]) -> Any:
    """Who sits there."""
    return await site.tables.ask("about", wanted(AtTable, asked).table)


async def board(site: Site, asked: dict[str, Any]) -> Any:
    """What its board is drawn with."""
    return await site.tables.ask("board", wanted(AtTable, asked).table)


PLAY = (
    Question("/api/games", games),
    Question("/api/game", game),
    Question("/api/tables", tables),
    Question("/api/tables", open_table, writes=True),
    Question("/api/tables/{table}", table),
    Question("/api/tables/{table}/board", board),
    Question("/api/tables/{table}/seat", take, writes=True),
)
