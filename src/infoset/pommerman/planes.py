"""What an agent sees as planes of small numbers, for networks."""

from __future__ import annotations

from infoset.jit import kernel
from infoset.pommerman.state import (
    AGENT,
    AGENT_FIELDS,
    AGENTS,
    ALIVE,
    AMMO,
    BLAST,
    BOMB_CELL,
    BOMB_FIELDS,
    BOMBS,
    CAN_KICK,
    CELL,
    DIRECTION,
    EXTRA_BOMB,
    FLAME_CELL,
    FLAME_FIELDS,
    FLAME_LIFE,
    FLAMES_AT,
    KICK,
    LIFE,
    MESSAGES,
    NUM_BOMBS,
    NUM_FLAMES,
    PASSAGE,
    STEP,
    STRENGTH,
    WOOD,
    WORDS,
    board_at,
)  # fmt: skip

CHANNELS = (
    "fog", "passage", "rigid", "wood", "extra_bomb", "incr_range", "kick", "self", "teammate", "enemies",
    "bomb_blast_strength", "bomb_life", "bomb_moving_direction", "flame_life",
)  # fmt: skip
"""The planes in order; the first ten hold 0 or 1."""
SCALARS = ("alive", "ammo", "blast_strength", "can_kick", "step_count", "message_1", "message_2")
"""The numbers beside the planes."""
(
    FOG_PLANE, PASSAGE_PLANE, RIGID_PLANE, WOOD_PLANE, EXTRA_PLANE, RANGE_PLANE, KICK_PLANE, SELF_PLANE, MATE_PLANE,
    ENEMY_PLANE, BLAST_PLANE, LIFE_PLANE, DIRECTION_PLANE, FLAME_PLANE,
) = range(14)  # fmt: skip
FULL = 255


@kernel
def draw_planes(row, size, view, k, num_agents, teams, planes, scalars):
    """Fill ``planes`` (channels, n, n) and ``scalars`` with what agent ``k`` sees."""
    board = board_at(size)
    agent = AGENTS + k * AGENT_FIELDS
    r0, c0 = row[agent + CELL] // size, row[agent + CELL] % size
    top, bottom = max(0, r0 - view), min(size, r0 + view + 1)
    left, right = max(0, c0 - view), min(size, c0 + view + 1)
    for p in range(len(planes)):
        for r in range(size):
            for c in range(size):
                planes[p, r, c] = 1 if p == FOG_PLANE else 0
    for r in range(top, bottom):
        for c in range(left, right):
            planes[FOG_PLANE, r, c] = 0
            value = row[board + r * size + c]
            plane = side(value - AGENT, k, teams) if value >= AGENT else ground(value)
            if plane >= 0:
                planes[plane, r, c] = 1
    for b in range(row[NUM_BOMBS]):
        bomb = BOMBS + b * BOMB_FIELDS
        r, c = row[bomb + BOMB_CELL] // size, row[bomb + BOMB_CELL] % size
        if top <= r < bottom and left <= c < right:
            planes[BLAST_PLANE, r, c] = min(row[bomb + STRENGTH], FULL)
            planes[LIFE_PLANE, r, c] = min(max(row[bomb + LIFE], 0), FULL)
            planes[DIRECTION_PLANE, r, c] = row[bomb + DIRECTION]
    for f in range(row[NUM_FLAMES]):
        flame = FLAMES_AT + f * FLAME_FIELDS
        r, c = row[flame + FLAME_CELL] // size, row[flame + FLAME_CELL] % size
        if top <= r < bottom and left <= c < right:
            planes[FLAME_PLANE, r, c] = min(row[flame + FLAME_LIFE] + 1, FULL)
    mate = MESSAGES + ((k + 2) % num_agents) * WORDS
    scalars[0], scalars[1], scalars[2] = row[agent + ALIVE], row[agent + AMMO], row[agent + BLAST]
    scalars[3], scalars[4] = row[agent + CAN_KICK], row[STEP]
    scalars[5], scalars[6] = row[mate], row[mate + 1]


@kernel
def ground(value):
    """The plane of what is no agent; -1 for bombs and flames, which have planes of numbers."""
    if EXTRA_BOMB <= value <= KICK:
        return EXTRA_PLANE + value - EXTRA_BOMB
    return PASSAGE_PLANE + value if PASSAGE <= value <= WOOD else -1


@kernel
def side(other, own, teams):
    """The plane on which an agent appears to another."""
    if other == own:
        return SELF_PLANE
    return MATE_PLANE if teams and (other - own) % 2 == 0 else ENEMY_PLANE
