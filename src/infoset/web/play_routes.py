"""Routes for playing games."""

from __future__ import annotations

from typing import Any

import msgspec

from infoset.web.schemas import wanted
from infoset.web.site import Question, Site


class OfGame(msgspec.Struct):
    """Parameters of a request about a game."""

    name: str


class AtTable(msgspec.Struct):
    """Parameters of a request about a table; ``chair`` is the preferred seat."""

    table: str
    chair: int | None = None


async def games(site: Site, _: dict[str, Any]) -> Any:
    """Return the games that can be played."""
    return await site.tables.ask("games")


async def game(site: Site, asked: dict[str, Any]) -> Any:
    """Return the agents that can play a game, and its settings."""
    return await site.tables.ask("game", wanted(OfGame, asked).name)


async def tables(site: Site, _: dict[str, Any]) -> Any:
    """Return the tables whose games go on."""
    return await site.tables.ask("list")


async def open_table(site: Site, asked: dict[str, Any]) -> Any:
    """Open a new table, with a seat for the visitor."""
    return await site.tables.ask("open", asked)


async def take(site: Site, asked: dict[str, Any]) -> Any:
    """Take a free seat at a table."""
    wish = wanted(AtTable, asked)
    return await site.tables.ask("take", wish.table, wish.chair)


async def table(site: Site, asked: dict[str, Any]) -> Any:
    """Return who sits at a table."""
    return await site.tables.ask("about", wanted(AtTable, asked).table)


async def board(site: Site, asked: dict[str, Any]) -> Any:
    """Return the data with which a table's board is drawn."""
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
