"""Foreign code, and the origin of a ``KeyboardInterrupt``: the user's Ctrl-C, or such code that raised one itself."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from infoset.errors import one_line
from infoset.processes import end_copy

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


@contextmanager
def running_foreign_code(convert: Callable[[BaseException, str], BaseException]) -> Iterator[None]:
    """Run code that is not infoset's, which may raise anything, and end a copy of this process that it forked.

    ``convert(error, why)`` returns what is raised in place of an error that is not the user's Ctrl-C, or the error
    itself to let it pass; ``why`` is its type and text in one line.
    """
    process = os.getpid()
    try:
        yield
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        why = ": ".join(filter(None, (type(error).__name__, one_line(str(error), 200))))
        if is_users(error) or (raised := convert(error, why)) is error:
            raise
        raise raised from error
    finally:
        end_copy(process)
