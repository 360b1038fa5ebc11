"""A game of agents while it goes on, for everybody who looks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import msgspec

from infoset.base import State
from infoset.match.match import Round

Told = tuple[int, bytes]
"""A frame and its number, counted from 0 in each game; -1: it stands by itself."""


class Live:
    """What those who look are sent: the game so far, then a frame a step, numbered so that none is missed unnoticed."""

    def __init__(self, say: Callable[[Told], None]) -> None:
        self.say = say
        self.watchers = 0
        self.lock = threading.RLock()
        self.so_far: list[Any] = []
        self.head: dict[str, Any] = {}

    def watch(self, more: int) -> Told:
        """One more who looks, or less; the whole so far, with the number of its last frame."""
        with self.lock:
            self.watchers += more
            return len(self.so_far) - 1, msgspec.json.encode({"kind": "first", **self.head, "frames": self.so_far})

    def tell(self, message: bytes) -> None:
        self.say((-1, message))

    def begin(self, round_: Round, state: State) -> None:
        """A game begins."""

    def step(self, round_: Round, state: State) -> None:
        """A step was played."""

    def finish(self, end: Any) -> None:
        """It is over."""
        self.tell(msgspec.json.encode({"kind": "end", "end": end}))
