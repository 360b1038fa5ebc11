"""A clock that ends work at a given moment: checked after every step of a game's rules, since one may take long."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf

from infoset.errors import ClockError


class Clock:
    """A callable that raises ``ClockError`` after the moment ``until`` (of ``time.monotonic``).

    As a progress callback it is called with a number of positions; ``refusal`` makes the error's message of it.
    """

    def __init__(
        self, until: float = inf, refusal: Callable[[int], str] = lambda _: "the time limit was reached"
    ) -> None:
        self.until, self.refusal = until, refusal

    def __call__(self, positions: int = 0) -> None:
        if time.monotonic() > self.until:
            raise ClockError(self.refusal(positions))

    @property
    def left(self) -> float:
        """The seconds left until then; 0 afterwards."""
        return max(self.until - time.monotonic(), 0.0)


ENDLESS = Clock()

_making: ContextVar[float | None] = ContextVar("making", default=None)


@contextmanager
def making_within(seconds: float | None) -> Iterator[None]:
    """Limit the seconds that foreign agents may take to be made in this context; ``None`` for their default limit."""
    record = _making.set(seconds)
    try:
        yield
    finally:
        _making.reset(record)


def seconds_to_make() -> float | None:
    """Return the limit that ``making_within`` set, ``None`` without one."""
    return _making.get()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Disable garbage collection, which takes most of a second where a game's rules are millions of objects."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
