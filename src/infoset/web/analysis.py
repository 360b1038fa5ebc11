"""Read and compute for the page, in a process of its own: policies, recordings, standings, curves."""

from __future__ import annotations

import threading
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from infoset.web.workers import News

if TYPE_CHECKING:
    from infoset.web.competing import Competing
    from infoset.web.curves import Curves
    from infoset.web.exploring import Exploring
    from infoset.web.watching import Watching


class Analysis:
    """Answers for the views of stored data."""

    def __init__(self, news: News, folders: tuple[Path, ...]) -> None:
        self.news, self.folders = news, folders
        self._making = threading.Lock()  # questions come in several threads

    @cached_property
    def exploring(self) -> Exploring:
        from infoset.web.exploring import Exploring

        return Exploring(self.folders)

    def explore(self, method: str, *arguments: Any) -> bytes:
        """Return the answer of *Explore*, as JSON."""
        with self._making:
            service = self.exploring
        return msgspec.json.encode(getattr(service, method)(*arguments))

    @cached_property
    def competing(self) -> Competing:
        """Tournaments; imported with the first question about one, as are the others."""
        from infoset.web.competing import Competing

        return Competing(self.folders)

    @cached_property
    def curves(self) -> Curves:
        from infoset.web.curves import Curves

        return Curves(self.folders)

    @cached_property
    def watching(self) -> Watching:
        from infoset.web.watching import Watching

        return Watching(self.folders)

    def standings(self, *asked: Any) -> dict[str, Any]:
        """Return what ``Competing.standings`` returns."""
        return self.competing.standings(*asked)

    def games(self, *asked: Any) -> dict[str, Any]:
        """Return what ``Competing.games`` returns."""
        return self.competing.games(*asked)

    def curve(self, *asked: Any) -> dict[str, Any]:
        """Return what ``Curves.curve`` returns."""
        return self.curves.curve(*asked)

    def recording(self, *asked: Any) -> bytes:
        """Return what ``Watching.recording`` returns."""
        return self.watching.recording(*asked)

    def busy(self) -> bool:
        return "exploring" in self.__dict__ and self.exploring.busy()

    def close(self) -> None:
        if "exploring" in self.__dict__:
            self.exploring.close()
