"""How long a game may take to build."""

from __future__ import annotations

import time
from collections.abc import Callable

from infoset.errors import BudgetError

LEAST_SECONDS = 10.0
"""What building may always take: a limit on solving of one second is no reason to give up after one."""


def within(seconds: float | None, progress: Callable[[int], None]) -> Callable[[int], None]:
    """``progress``, which raises ``BudgetError`` once building took longer than ``seconds`` and ``LEAST_SECONDS``."""
    if seconds is None:
        return progress
    began, most = time.monotonic(), max(seconds, LEAST_SECONDS)

    def watched(count: int) -> None:
        progress(count)
        if time.monotonic() - began > most:
            raise BudgetError(
                f"the game is not built after {most:g} s, --seconds {seconds:g}; it came to {count:,} positions or "
                "histories. Allow more --seconds, or choose a smaller game"
            )

    return watched
