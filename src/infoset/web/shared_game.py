"""A game that several threads work on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from infoset.base import Game
from infoset.compiled import Compiled
from infoset.errors import BudgetError, UnsupportedGameError

BYTES_A_POSITION, BYTES_A_HISTORY = 1000, 200


class SharedGame(Compiled):
    """A compiled game whose forms are made by one thread at a time; whoever makes one holds ``making``."""

    def __init__(self, game: Game, max_histories: int) -> None:
        super().__init__(game, max_histories)
        self.making = threading.RLock()

    @contextmanager
    def at_hand(self, told: Callable[[int], object]) -> Iterator[None]:
        """For work on it: the tree is made first, and ``told`` how far that is, where it is what the work is on.

        Of a game without a tree nobody else makes a form while this is open.
        """
        with self.making:
            self.progress = told
            try:
                with suppress(BudgetError, UnsupportedGameError):
                    if not self.better_factored and self.histories <= self.limit:
                        assert self.form
                if not (whole := self.made_whole):
                    yield
            finally:
                self.progress = None
        if whole:
            yield

    @property
    def bytes(self) -> int:
        """About how much memory it takes."""
        positions = len(self.graph.player) if "graph" in self.__dict__ else 0
        return BYTES_A_POSITION * positions + (BYTES_A_HISTORY * len(self.tree.parent) if self.made_whole else 0)
