"""Show signs of life on stderr: work that lasts longer than a second is shown by a bar, a spinner or regular lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from math import inf, isfinite
from threading import Condition, Thread
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from infoset.cli.output import complain
from infoset.errors import one_line

if TYPE_CHECKING:
    from rich.live import Live
    from rich.spinner import Spinner


PAUSE = 10.0
"""The seconds between two lines where stderr is not a terminal."""


def patience() -> float:
    """Return the seconds that work may last silently: INFOSET_PATIENCE, 1 by default and for invalid values."""
    try:
        given = float(os.environ.get("INFOSET_PATIENCE", "1"))
    except ValueError:
        return 1.0
    return max(given, 0.0) if isfinite(given) else 1.0


class StatusLine:
    """A listener of ``infoset.status``.  Its thread starts with the first work."""

    say_in_bar: ClassVar[Callable[[str], None] | None] = None  # set while a bar is on the screen

    def __init__(self) -> None:
        self.work: str | None = None
        self.since, self.said = monotonic(), -inf
        self.changed = Condition()
        self.spinner: Live | None = None
        self.shape: Spinner
        self.thread: Thread | None = None
        self.idle = False  # whether the thread waits to be notified of work; otherwise it checks periodically

    def __call__(self, work: str | None) -> None:
        with self.changed:
            if self.thread is None:
                self.thread = Thread(target=self._watch, name="signs of life", daemon=True)
                self.thread.start()
            if self.work is None:
                self.since, self.said = monotonic(), -inf
            self.work = work
            if work is None and self.spinner is not None:
                self.spinner.stop()
                self.spinner = None
            if self.idle:
                self.changed.notify()

    def _watch(self) -> None:
        pause = min(max(patience() / 4, 0.02), 1.0)
        with self.changed:
            while True:
                self.idle = self.work is None
                self.changed.wait(None if self.idle else pause)
                self.look()

    def look(self) -> None:
        """Show the current work if it has lasted long enough and was not shown just now."""
        if self.work is not None and monotonic() - self.since > patience():
            self._say(self.work)

    def _say(self, work: str) -> None:
        work = one_line(work, 400)  # it may contain untrusted names of games and agents
        if StatusLine.say_in_bar is not None:
            StatusLine.say_in_bar(work)
        elif sys.stderr.isatty():
            self._spin(work)
        elif monotonic() - self.said > PAUSE:
            self.said = monotonic()
            say(work, monotonic() - self.since)

    def _spin(self, work: str) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner
        from rich.text import Text

        if self.spinner is None:  # standard output is not redirected: the spinner uses stderr only
            self.spinner = Live(console=Console(stderr=True), transient=True, redirect_stdout=False)
            self.shape = Spinner("dots")
            self.spinner.start()
        self.shape.update(text=Text(work))
        self.spinner.update(self.shape)


def say(work: str, seconds: float) -> None:
    """Write one line with the current work and its duration so far."""
    complain(f"{work} ({seconds:.0f} s)")
