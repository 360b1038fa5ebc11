"""Signs of life: what the library is busy with, told to whoever listens; nothing is printed here.

Work that may take longer than a second runs inside ``during``.  The command line listens and says what lasts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[str | None], None]
"""Is told in a few words what is being done now; None: nothing that takes long."""

listeners: list[Listener] = []
_works: list[str] = []


@contextmanager
def during(work: str) -> Iterator[None]:
    """Tell the listeners that this work has begun, and when it is over what it was a part of."""
    _works.append(work)
    _tell()
    try:
        yield
    finally:
        _works.remove(work)
        _tell()


def detail(work: str) -> None:
    """Say more exactly what the innermost work is now.  Nothing where none is told of."""
    for listener in listeners if _works else ():
        listener(work)


def _tell() -> None:
    latest = _works[-1:]  # at once: other threads may be at work, too
    for listener in listeners:
        listener(latest[0] if latest else None)
