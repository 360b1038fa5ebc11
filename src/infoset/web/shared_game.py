"""A compiled game that several threads use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from infoset.base import Game
from infoset.compiled import Compiled
from infoset.errors import BudgetError, UnsupportedGameError

BYTES_A_POSITION, BYTES_A_HISTORY = 1000, 200


class SharedGame(Compiled):
    """A compiled game whose forms are built by one thread at a time, which holds ``making``."""

    def __init__(self, game: Game, max_histories: int) -> None:
        super().__init__(game, max_histories)
        self.making = threading.RLock()

    @contextmanager
    def at_hand(self, report: Callable[[int], object]) -> Iterator[None]:
        """Prepare the game for work on it.

        The tree is built first where the work needs it, and ``report`` is called with the progress.  For a game without
        a tree, no other thread builds a form while this context is open.
        """
        with self.making:
            self.progress = report
            try:
                with suppress(BudgetError, UnsupportedGameError):
                    if not self.better_in_vector_form and not self.better_factored and self.fits():
                        assert self.form
                if not (whole := self.made_whole):
                    yield
            finally:
                self.progress = None
        if whole:
            yield

    @property
    def bytes(self) -> int:
        """The approximate memory use in bytes."""
        positions = len(self.graph.player) if "graph" in self.__dict__ else 0
        return BYTES_A_POSITION * positions + (BYTES_A_HISTORY * len(self.tree.parent) if self.made_whole else 0)
