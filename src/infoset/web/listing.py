"""Lists for the page: the items in the served folders with their heads, filtered, one page at a time.

Only heads are read, so the server's own process can do this in a thread.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from time import time
from typing import Annotated, Any

import msgspec

from infoset.files import POLICY
from infoset.web.artifacts import Artifact, items
from infoset.web.metadata import Metadata, MetadataCache

KINDS = ("game", "run", "tournament", "replay", "policy")
FIRST = 8  # of each kind, on the first view
MAX_PAGE = 200
MAX_CHOICES = 200  # games and agents that a filter offers

Count = Annotated[int, msgspec.Meta(ge=0, le=10**9)]
Name = Annotated[str, msgspec.Meta(max_length=2000)]


class Filter(msgspec.Struct, frozen=True):
    """A filter of items, and which page of the result; an empty text matches any."""

    kind: Name = ""
    game: Name = ""
    agent: Name = ""
    text: Name = ""
    offset: Count = 0
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_PAGE)] = 50

    def fits(self, item: Artifact, head: Metadata) -> bool:
        """Return whether an item matches the filter."""
        agents = head.about.get("agents", ())
        return (
            self.kind in ("", head.kind)
            and self.game in ("", head.game)
            and (not self.agent or self.agent in agents)
            and self.text.casefold()
            in f"{item.title} {head.game} {head.about.get('title', '')} {' '.join(agents)}".casefold()
        )


class Listing:
    """The items in the served folders with their heads."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self.folders, self.heads = folders, MetadataCache()

    def all(self) -> list[tuple[Artifact, Metadata]]:
        """Return every item of a known kind, the newest first."""
        found = ((item, self.heads.of(item)) for item in items(self.folders))
        return [(item, head) for item, head in found if head.kind]

    def first(self) -> dict[str, Any]:
        """Return the number of items of each kind, and the newest of each."""
        found = self.all()
        shown: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
        for item, head in found:
            if len(shown[head.kind]) < FIRST:
                shown[head.kind].append(describe_item(item, head))
        counts = Counter(head.kind for _, head in found)
        folders = [folder.name or str(folder) for folder in self.folders]
        return {"counts": {kind: counts[kind] for kind in KINDS}, "items": shown, "folders": folders, "now": time()}

    def page(self, asked: Filter) -> dict[str, Any]:
        """Return one page of the matching items, and the values that the filters offer."""
        found = self.all()
        of_kind = [(item, head) for item, head in found if asked.kind in ("", head.kind)]
        fitting = [(item, head) for item, head in of_kind if asked.fits(item, head)]
        games = Counter(head.game for _, head in of_kind if head.game)
        agents = Counter(agent for _, head in of_kind for agent in set(head.about.get("agents", ())))
        return {
            "total": len(fitting),
            "items": [describe_item(*pair) for pair in fitting[asked.offset : asked.offset + asked.limit]],
            "games": games.most_common(MAX_CHOICES),
            "agents": agents.most_common(MAX_CHOICES),
            "now": time(),
        }


def describe_item(item: Artifact, head: Metadata) -> dict[str, Any]:
    """Return an item in the form in which the page receives it."""
    about = {"name": item.name, "kind": head.kind, "title": item.title, "changed": item.changed, "size": item.size}
    if head.kind == "run":
        about["policy"] = (item.path / POLICY).is_file()
    return {**about, "game": head.game, "about": head.about, "problem": head.problem}
