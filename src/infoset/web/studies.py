"""Whatever is read and worked out for the page: policies, recordings, standings, curves; in a process of its own."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from infoset.web.workers import News

if TYPE_CHECKING:
    from infoset.web.exploring import Exploring


class Studies:
    """Answers of the views that look at what was kept."""

    def __init__(self, news: News, folders: tuple[Path, ...]) -> None:
        self.news, self.folders = news, folders

    @cached_property
    def exploring(self) -> Exploring:
        from infoset.web.exploring import Exploring

        return Exploring(self.folders)

    def explore(self, method: str, *arguments: Any) -> bytes:
        """What *Explore* answers, as JSON."""
        return msgspec.json.encode(getattr(self.exploring, method)(*arguments))

    def busy(self) -> bool:
        return "exploring" in self.__dict__ and self.exploring.busy()

    def close(self) -> None:
        if "exploring" in self.__dict__:
            self.exploring.close()
