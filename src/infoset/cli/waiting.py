"""Waiting for input at a terminal."""

from __future__ import annotations

import select

PATIENCE = 0.05  # seconds between two checks whether the game was left


def input_waits(file: int, seconds: float) -> bool:
    """Return whether there is input to read within ``seconds``."""
    return bool(select.select([file], [], [], max(seconds, 0.0))[0])
