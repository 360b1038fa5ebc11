"""Every question that the page may ask, and which worker answers it."""

from __future__ import annotations

from typing import Any

from infoset.web.app import Question, Site
from infoset.web.shelf import items


async def shelf(site: Site, _: dict[str, Any]) -> Any:
    """What there is to look at."""
    return [{"name": i.name, "kind": i.kind, "changed": i.changed, "size": i.size} for i in items(site.folders)]


ROUTES = (Question("/api/shelf", shelf),)
