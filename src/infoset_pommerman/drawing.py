"""Rendering of a position as text, one character per cell."""

from __future__ import annotations

from infoset_pommerman.config import Config
from infoset_pommerman.state import BOARD, STEP, Row

CHARACTERS = ".#+o*?BRK-0123"
"""Indexed by the value of a cell: passage, wall, wood, bomb, flames, fog, the three items, no agent, agents."""


def draw_board(row: Row, config: Config) -> str:
    """Return the step and the board as text, with everything that is drawn on the board visible."""
    size = config.size
    cells = "".join([CHARACTERS[value] for value in row[BOARD : BOARD + size * size]])
    return "\n".join([f"step {row[STEP]}", *(cells[at : at + size] for at in range(0, size * size, size))])
