"""Routes for what lies in the folders: lists, standings, curves, recordings."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import msgspec

from infoset.arena.reading import version
from infoset.web.artifacts import find
from infoset.web.listing import MAX_PAGE, Count, Filter, Name
from infoset.web.schemas import wanted
from infoset.web.site import Question, Site


class ItemRequest(msgspec.Struct, frozen=True):
    """Parameters of a request about one item: which item, and which part of it."""

    item: Name
    match: Count = 0
    a: Annotated[int, msgspec.Meta(ge=-1, le=10**6)] = -1
    b: Annotated[int, msgspec.Meta(ge=-1, le=10**6)] = -1
    meeting: Count = 0
    offset: Count = 0
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_PAGE)] = 50
    most: Annotated[int, msgspec.Meta(ge=2, le=1000)] = 1000
    version: Name = ""


async def artifacts(site: Site, asked: dict[str, Any]) -> Any:
    """Return a list of the items in the served folders, at most a page of it."""
    return (await asyncio.to_thread(site.listing.page, wanted(Filter, {"limit": MAX_PAGE, **asked})))["items"]


async def listed(site: Site, asked: dict[str, Any]) -> Any:
    """Return the page of items that a filter asks for."""
    return await asyncio.to_thread(site.listing.page, wanted(Filter, asked))


async def first(site: Site, _: dict[str, Any]) -> Any:
    """Return the items that the page opens with."""
    return await asyncio.to_thread(site.listing.first)


async def standings(site: Site, asked: dict[str, Any]) -> Any:
    """Return the standings of a tournament."""
    return await site.studies.ask("standings", wanted(ItemRequest, asked).item)


async def standings_version(site: Site, asked: dict[str, Any]) -> Any:
    """Return the version of a tournament's file; cheap, since the file is not opened."""
    item = await asyncio.to_thread(find, site.folders, wanted(ItemRequest, asked).item, "tournament")
    return {"version": version(item.path)}


async def games(site: Site, asked: dict[str, Any]) -> Any:
    """Return stored games of a tournament."""
    a = wanted(ItemRequest, asked)
    return await site.studies.ask("games", a.item, a.a, a.b, a.meeting, a.offset, a.limit)


async def curve(site: Site, asked: dict[str, Any]) -> Any:
    """Return the curve of a run."""
    a = wanted(ItemRequest, asked)
    return await site.studies.ask("curve", a.item, a.most, a.version)


async def recording(site: Site, asked: dict[str, Any]) -> Any:
    """Return a recorded game."""
    a = wanted(ItemRequest, asked)
    return await site.studies.ask("recording", a.item, a.match)


BROWSING = (
    Question("/api/artifacts", artifacts),
    Question("/api/first", first),
    Question("/api/items", listed),
    Question("/api/standings", standings),
    Question("/api/standings/version", standings_version),
    Question("/api/played", games),
    Question("/api/curve", curve),
    Question("/api/recording", recording),
)
