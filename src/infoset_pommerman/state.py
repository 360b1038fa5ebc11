"""Layout of a position: one row of 16-bit integers, which is cheap to copy.

The row holds, in this order: the step, the numbers of bombs and flames, the result and every agent's reward; for each
of four agents whether it is alive, its cell, ammo, blast strength and whether it can kick; two words of each agent; the
list of bombs; the board; the items hidden under wood or flames; and the list of flames up to the end of the row.
Lists are in the order that the rules need, followed by zeros.  A cell is ``row * size + column``.

Walls that are due after a step close in when the next step begins, so they are not observed earlier.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from infoset.jit import short_kernel
from infoset_pommerman.config import MAX_AGENTS, MAX_BOMBS, Config

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
    """Return the index in a row where the list of flames begins."""
    return BOARD + 2 * size * size


def row_size(config: Config) -> int:
    """Return the length of a row, with room for the flames of one explosion per step to burn together on every cell."""
    return BOARD + (2 + FLAME_FIELDS * (config.flame_life + 1)) * config.size**2


def empty_rows(count: int, config: Config) -> Row:
    """Return room (count, row_size) for positions."""
    return np.zeros((count, row_size(config)), dtype=np.int16)
