"""A position as one row of 16-bit integers, so that copying it is one small copy.

The row holds, one after the other: the step, the numbers of bombs and flames, the result and every agent's reward as
they were before the walls of this step collapsed; for each of four agents whether it is
alive, its cell, ammo, blast strength and whether it can kick; two words each; bombs and flames as lists in the order
that the rules need; the board; the items hidden under wood or flames.  A cell is ``row * size + column``.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from infoset.jit import kernel
from infoset.pommerman.config import MAX_AGENTS

Row: TypeAlias = npt.NDArray[np.int16]

PASSAGE, RIGID, WOOD, BOMB, FLAMES, FOG, EXTRA_BOMB, INCR_RANGE, KICK, DUMMY, AGENT = range(11)  # Agent0 is 10
STOP, UP, DOWN, LEFT, RIGHT, LAY = range(6)

STEP, NUM_BOMBS, NUM_FLAMES, RESULT, REWARDS = range(5)
RUNNING, WIN, TIE = range(3)  # results
AGENTS = REWARDS + MAX_AGENTS
ALIVE, CELL, AMMO, BLAST, CAN_KICK = range(5)
AGENT_FIELDS = 5
MESSAGES = AGENTS + MAX_AGENTS * AGENT_FIELDS
WORDS = 2
BOMBS = MESSAGES + MAX_AGENTS * WORDS
BOMB_CELL, OWNER, LIFE, STRENGTH, DIRECTION = range(5)
BOMB_FIELDS = 5
MAX_BOMBS = 64
FLAMES_AT = BOMBS + MAX_BOMBS * BOMB_FIELDS
FLAME_CELL, FLAME_LIFE = range(2)
FLAME_FIELDS = 2
LAYERS = 3  # flames of so many explosions can burn on one cell


@kernel
def max_flames(size: int) -> int:
    """How many flames a position has room for."""
    return LAYERS * size * size


@kernel
def board_at(size: int) -> int:
    """Where the board begins in a row."""
    return FLAMES_AT + FLAME_FIELDS * max_flames(size)


def row_size(size: int) -> int:
    """How many integers a position of a board of this size takes."""
    return board_at(size) + 2 * size * size


def empty_rows(count: int, size: int) -> Row:
    """(count, row_size) room for positions."""
    return np.zeros((count, row_size(size)), dtype=np.int16)
