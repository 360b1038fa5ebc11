"""Games that are played or watched live, in a process of their own."""

from __future__ import annotations

from pathlib import Path

from infoset.web.workers import News


class Tables:
    """The games that go on here."""

    def __init__(self, news: News, folders: tuple[Path, ...]) -> None:
        self.news, self.folders = news, folders

    def busy(self) -> bool:
        return False

    def close(self) -> None:
        pass
