"""A moment from which on work is to stop: looked at after every step of a game's rules, since one may take long."""

from __future__ import annotations

import time
from math import inf

from infoset.errors import BudgetError


class Clock:
    """Called, it raises ``BudgetError`` from the moment ``until`` (of ``time.monotonic``) on."""

    def __init__(self, until: float = inf) -> None:
        self.until = until

    def __call__(self, _: int = 0) -> None:
        if time.monotonic() > self.until:
            raise BudgetError("the clock ran out")


ENDLESS = Clock()
