"""A position as text: one character a cell."""

from __future__ import annotations

from infoset.pommerman.config import Config
from infoset.pommerman.state import BOARD, STEP, Row

CHARACTERS = ".#+o*?BRK-0123"
"""By the value of a cell: passage, wall, wood, bomb, flames, fog, the three items, nobody, agents."""


def draw_board(row: Row, config: Config) -> str:
    """The step and the board, everything that is drawn on it in view."""
    size = config.size
    cells = "".join([CHARACTERS[value] for value in row[BOARD : BOARD + size * size]])
    return "\n".join([f"step {row[STEP]}", *(cells[at : at + size] for at in range(0, size * size, size))])
