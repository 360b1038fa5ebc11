"""Observations as planes of small integers, for networks."""

from __future__ import annotations

from infoset.jit import inline_kernel, kernel
from infoset_pommerman import state as st

CHANNELS = (
    "fog", "passage", "rigid", "wood", "extra_bomb", "incr_range", "kick", "self", "teammate", "enemies",
    "bomb_blast_strength", "bomb_life", "bomb_moving_direction", "flame_life",
)  # fmt: skip
"""The planes in order; the first ten hold 0 or 1."""
SCALARS = ("alive", "ammo", "blast_strength", "can_kick", "step_count", "message_1", "message_2")
"""The scalars that accompany the planes."""
(
    FOG_PLANE, PASSAGE_PLANE, RIGID_PLANE, WOOD_PLANE, EXTRA_PLANE, RANGE_PLANE, KICK_PLANE, SELF_PLANE, MATE_PLANE,
    ENEMY_PLANE, BLAST_PLANE, LIFE_PLANE, DIRECTION_PLANE, FLAME_PLANE,
) = range(14)  # fmt: skip
FULL = 255


@kernel
def draw_planes(row, size, view, k, num_agents, teams, planes, scalars):
    """Fill ``planes`` (channels * cells,) and ``scalars`` with what agent ``k`` sees."""
    cells, flames = size * size, st.flames_at(size)
    agent = st.AGENTS + k * st.AGENT_FIELDS
    r0, c0 = row[agent + st.CELL] // size, row[agent + st.CELL] % size
    top, bottom = max(0, r0 - view), min(size, r0 + view + 1)
    left, right = max(0, c0 - view), min(size, c0 + view + 1)
    for at in range(len(planes)):  # a loop from 0 lets compilers use a single fill
        planes[at] = 0
    for at in range(cells):
        planes[at] = 1
    for r in range(top, bottom):
        for cell in range(r * size + left, r * size + right):
            planes[cell] = 0
            planes[plane_of(row[st.BOARD + cell], k, teams) * cells + cell] = 1
    for b in range(row[st.NUM_BOMBS]):
        bomb = st.BOMBS + b * st.BOMB_FIELDS
        cell = row[bomb + st.BOMB_CELL]
        if planes[cell] == 0:
            planes[BLAST_PLANE * cells + cell] = min(row[bomb + st.STRENGTH], FULL)
            planes[LIFE_PLANE * cells + cell] = min(max(row[bomb + st.LIFE], 0), FULL)
            planes[DIRECTION_PLANE * cells + cell] = row[bomb + st.DIRECTION]
    for f in range(row[st.NUM_FLAMES]):
        flame = flames + f * st.FLAME_FIELDS
        cell = row[flame + st.FLAME_CELL]
        if planes[cell] == 0:
            planes[FLAME_PLANE * cells + cell] = min(row[flame + st.FLAME_LIFE] + 1, FULL)
    mate = st.MESSAGES + ((k + 2) % num_agents) * st.WORDS
    scalars[0], scalars[1], scalars[2] = row[agent + st.ALIVE], row[agent + st.AMMO], row[agent + st.BLAST]
    scalars[3], scalars[4] = row[agent + st.CAN_KICK], row[st.STEP]
    scalars[5], scalars[6] = row[mate], row[mate + 1]


@inline_kernel
def plane_of(value, own, teams):
    """Return the plane of a cell's value; the planes of bombs and flames hold numbers, filled from their lists."""
    if value <= st.WOOD:
        plane = PASSAGE_PLANE + value
    elif value >= st.AGENT:
        other = value - st.AGENT
        mate = teams and (other ^ own) & 1 == 0
        plane = SELF_PLANE if other == own else MATE_PLANE if mate else ENEMY_PLANE
    elif value >= st.EXTRA_BOMB:
        plane = EXTRA_PLANE + value - st.EXTRA_BOMB
    else:
        plane = BLAST_PLANE if value == st.BOMB else FLAME_PLANE
    return plane
