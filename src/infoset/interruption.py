"""The origin of a ``KeyboardInterrupt``: the user's Ctrl-C, or foreign code that raised one itself."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_heard: list[bool] = []
"""An entry for each ``listening`` that is open: whether a Ctrl-C came since."""


@contextmanager
def listening() -> Iterator[None]:
    """Record a Ctrl-C, whose effect stays the same; of use in the main thread, where it arrives."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    handler = before

    def note(number: int, frame: object) -> None:
        _heard[:] = [True] * len(_heard)
        handler(number, frame)  # type: ignore[arg-type]

    _heard.append(False)
    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        _heard.pop()
        signal.signal(signal.SIGINT, before)


def is_users(error: BaseException) -> bool:
    """Return whether an exception is the user's Ctrl-C, as far as that can be determined.

    It arrives in the main thread alone; there it may be the user's unless a ``listening`` is open and recorded none.
    """
    if type(error) is not KeyboardInterrupt:
        return isinstance(error, KeyboardInterrupt)  # a subclass is ours, such as a person's leaving
    if threading.current_thread() is not threading.main_thread():
        return False
    return not _heard or _heard[-1]
