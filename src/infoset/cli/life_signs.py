"""Signs of life on stderr: whatever lasts longer than a second says so, in a bar, a spinner, or a line now and then."""

from __future__ import annotations

import os
import sys
from threading import Condition, Thread
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from rich.status import Status

    from infoset.cli.progress import Bar

PAUSE = 10.0
"""Seconds between two lines where stderr is no terminal."""


def patience() -> float:
    """Seconds that work may last without a word: INFOSET_PATIENCE, 1 by default."""
    try:
        return float(os.environ.get("INFOSET_PATIENCE", "1"))
    except ValueError:
        return 1.0


class LifeSigns:
    """Listens to ``infoset.signs``.  Its thread starts with the first work."""

    bar: ClassVar[Bar | None] = None  # the one on the screen, which then says it

    def __init__(self) -> None:
        self.work: str | None = None
        self.since, self.said = monotonic(), 0.0
        self.changed = Condition()
        self.spinner: Status | None = None
        self.thread: Thread | None = None
        self.idle = False  # whether the thread waits for work; else it looks now and then by itself

    def __call__(self, work: str | None) -> None:
        with self.changed:
            if self.thread is None:
                self.thread = Thread(target=self._watch, name="signs of life", daemon=True)
                self.thread.start()
            if self.work is None:
                self.since, self.said = monotonic(), 0.0
            self.work = work
            if work is None and self.spinner is not None:
                self.spinner.stop()
                self.spinner = None
            if self.idle:
                self.changed.notify()

    def _watch(self) -> None:
        most = patience()
        with self.changed:
            while True:
                self.idle = self.work is None
                self.changed.wait(None if self.idle else min(most / 4, 1.0))
                if self.work is not None and monotonic() - self.since > most:
                    self._say(self.work)

    def _say(self, work: str) -> None:
        if LifeSigns.bar is not None:
            LifeSigns.bar.show(quality=work)
        elif sys.stderr.isatty():
            self._spin(work)
        elif monotonic() - self.said > PAUSE:
            self.said = monotonic()
            say(work, monotonic() - self.since)

    def _spin(self, work: str) -> None:
        from rich.console import Console
        from rich.markup import escape

        if self.spinner is None:
            self.spinner = Console(stderr=True).status("")
            self.spinner.start()
        self.spinner.update(escape(work))


def say(work: str, seconds: float) -> None:
    """One line: what is being done, and for how long by now."""
    print(f"infoset: {work} ({seconds:.0f} s)", file=sys.stderr, flush=True)
