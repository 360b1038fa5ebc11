"""Progress reports: what the library is working on, sent to listeners; nothing is printed here.

Work that may take longer than a second runs inside ``during``.  The command line listens and prints what takes long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[str | None], None]
"""Called with a short description of the present work; None: nothing that takes long."""

listeners: list[Listener] = []
_works: list[str] = []


@contextmanager
def during(work: str) -> Iterator[None]:
    """Report to the listeners that this work has begun, and at its end the work that it was a part of."""
    _works.append(work)
    _tell()
    try:
        yield
    finally:
        _works.remove(work)
        _tell()


def detail(work: str) -> None:
    """Report a more exact description of the innermost work.  Does nothing outside ``during``."""
    for listener in listeners if _works else ():
        listener(work)


def _tell() -> None:
    latest = _works[-1:]  # read only once: other threads may be at work, too
    for listener in listeners:
        listener(latest[0] if latest else None)
