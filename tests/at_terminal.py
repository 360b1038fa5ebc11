"""A pseudo-terminal at which tests sit: what is shown there, and keys typed once it is."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Thread

import pytest

SECONDS = 20.0
Key = bytes | Callable[[], object]
"""What is typed, or done."""


class Typist:
    """The person's end of a pseudo-terminal: types each key once the text before it was shown."""

    def __init__(self, file: int, keys: Sequence[tuple[str, Key]]) -> None:
        self.file, self.keys = file, list(keys)
        self.shown, self.mark = "", 0
        self.thread = Thread(target=self._work, daemon=True)
        self.thread.start()

    def _work(self) -> None:
        latest = time.monotonic() + SECONDS
        while time.monotonic() < latest:
            while self.keys and (at := self.shown.find(self.keys[0][0], self.mark)) >= 0:
                before, key = self.keys.pop(0)
                self.mark = at + len(before)
                os.write(self.file, key) if isinstance(key, bytes) else key()
            if select.select([self.file], [], [], 0.05)[0]:
                try:
                    piece = os.read(self.file, 1 << 16)
                except OSError:  # so a terminal ends on Linux that nobody writes to any more
                    break
                if not piece:
                    break
                self.shown += piece.decode(errors="replace").replace("\r", "")
        os.close(self.file)  # whoever still waits for a key finds the line dead

    def text(self) -> str:
        """All that was shown; what was never shown fails."""
        self.thread.join(SECONDS)
        assert not self.keys, f"never shown: {self.keys[0][0]!r} in:\n{self.shown}"
        return self.shown


@contextmanager
def terminal(keys: Sequence[tuple[str, Key]], monkeypatch: pytest.MonkeyPatch) -> Iterator[Typist]:
    """This process's standard streams are a terminal."""
    ours, theirs = os.openpty()
    monkeypatch.setenv("NO_COLOR", "1")
    with open(theirs) as stdin, open(os.dup(theirs), "w") as stdout, monkeypatch.context() as patched:
        patched.setattr(sys, "stdin", stdin)
        patched.setattr(sys, "stdout", stdout)
        patched.setattr(sys, "stderr", stdout)
        typist = Typist(ours, keys)
        yield typist
