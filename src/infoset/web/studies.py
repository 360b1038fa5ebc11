"""Whatever is read and worked out for the page: policies, recordings, standings, curves; in a process of its own."""

from __future__ import annotations

from pathlib import Path

from infoset.web.workers import News


class Studies:
    """Answers of the views that look at what was kept."""

    def __init__(self, news: News, folders: tuple[Path, ...]) -> None:
        self.news, self.folders = news, folders

    def busy(self) -> bool:
        return False

    def close(self) -> None:
        pass
