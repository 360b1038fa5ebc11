"""A heuristic for OpenSpiel's dark chess: what the pieces on the board say of the result."""

from __future__ import annotations

from typing import Any

VALUES = {"p": 1, "n": 3, "b": 3, "r": 5, "q": 9, "k": 100}


def material(state: Any) -> tuple[float, float]:
    """Return the lead in material, scaled to between -1 and 1; White is OpenSpiel's second player."""
    board = str(state.spiel).split()[0]
    lead: float = sum(value * (board.count(piece.upper()) - board.count(piece)) for piece, value in VALUES.items())
    lead /= 5 + abs(lead)
    return -lead, lead
