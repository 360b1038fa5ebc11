"""A position as one row of 16-bit integers, so that copying it is one small copy.

The row holds, one after the other: the step, the numbers of bombs and flames, the result and every agent's reward;
for each of four agents whether it is alive, its cell, ammo, blast strength and whether it can kick; two words each;
the bombs as a list; the board; the items hidden under wood or flames; and, to the end of the row, the flames as a list.
Lists are in the order that the rules need, and zeros after their end.  A cell is ``row * size + column``.

Walls that are due at a step close in before the next one: nobody sees them earlier.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from infoset.jit import short_kernel
from infoset.pommerman.config import MAX_AGENTS, MAX_BOMBS, Config

Row: TypeAlias = npt.NDArray[np.int16]

PASSAGE, RIGID, WOOD, BOMB, FLAMES, FOG, EXTRA_BOMB, INCR_RANGE, KICK, DUMMY, AGENT = range(11)  # Agent0 is 10
STOP, UP, DOWN, LEFT, RIGHT, LAY = range(6)
MOVES = LAY + 1

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
BOARD = BOMBS + MAX_BOMBS * BOMB_FIELDS
FLAME_CELL, FLAME_LIFE = range(2)
FLAME_FIELDS = 2


@short_kernel
def flames_at(size: int) -> int:
    """Where the list of flames begins in a row."""
    return BOARD + 2 * size * size


def row_size(config: Config) -> int:
    """How many integers a position takes: flames of one explosion a step can burn together on every cell."""
    return BOARD + (2 + FLAME_FIELDS * (config.flame_life + 1)) * config.size**2


def empty_rows(count: int, config: Config) -> Row:
    """(count, row_size) room for positions."""
    return np.zeros((count, row_size(config)), dtype=np.int16)
