"""Generation of boards and hidden items as in the reference, from a stream of random words."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.errors import ParameterError
from infoset.jit import inline_kernel, inner_kernel
from infoset.randomness import below
from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS, Config

MAX_TRIES = 100_000
MAX_UNREACHED = 4  # most passages that may be unreachable; a board with more is discarded
BREATHING = (2, 3)  # cells at these indices along the edge next to a start corner stay free
ITEM_KINDS = st.KICK - st.EXTRA_BOMB + 1
COLUMN_BITS = 5  # width of the column when a pair of mirrored cells is packed as row and column
COLUMN = 2**COLUMN_BITS - 1


class Kit(NamedTuple):
    """The equipment with which every agent begins."""

    ammo: int
    blast: int
    can_kick: int


class Plan(NamedTuple):
    """The parts that all boards of a configuration have in common."""

    board: npt.NDArray[np.int16]  # (cells,) agents and the corridors' wood on empty ground
    pairs: npt.NDArray[np.int16]  # (pairs,) packed row and column of cells that may become walls with their images
    starts: npt.NDArray[np.int16]  # (agents,)
    rigid_pairs: int
    wood_pairs: int
    items: int


@cache
def plan(config: Config) -> Plan:
    """Return the cells where walls may stand.

    Raises ``ParameterError`` if the configuration asks for more walls than fit.
    """
    size, last = config.size, config.size - 2
    four = config.num_agents == MAX_AGENTS
    starts = [(1, 1), (last, 1), (last, last), (1, last)] if four else [(1, 1), (last, last)]
    board, taken = np.zeros((size, size), dtype=np.int16), np.eye(size, dtype=bool)
    for i in BREATHING:
        for r, c in [(1, i), (last, last + 1 - i), *([(1, last + 1 - i), (i, last)] if four else [])]:
            taken[r, c] = taken[c, r] = True
    wood = config.wood
    for i in range(4, size - 4) if four else ():
        for r, c in [(1, i), (last + 1 - i, 1), (last, last + 1 - i), (last + 1 - i, last)]:
            board[r, c], taken[r, c] = st.WOOD, True
            wood -= 1
    for k, (r, c) in enumerate(starts):
        board[r, c], taken[r, c] = st.AGENT + k, True
    rows, columns = np.nonzero(np.triu(~taken, 1))
    pairs = rows << COLUMN_BITS | columns
    if wood < 0 or config.rigid + wood > 2 * len(pairs):
        raise ParameterError(
            f"rigid={config.rigid} and wood={config.wood} do not fit on a board of size {size}: "
            f"allowed: wood from {config.wood - wood}, both together up to {2 * len(pairs) + config.wood - wood}"
        )
    return Plan(
        board.ravel(), pairs.astype(np.int16), np.array([r * size + c for r, c in starts], dtype=np.int16),
        config.rigid // 2, wood // 2, config.items,
    )  # fmt: skip


@inner_kernel
def new_game(row, size, template, pairs, starts, counts, kit, stream):
    """Write a fresh position into ``row``: nothing burns and every agent stands in its corner.

    ``counts`` holds the numbers of pairs of rigid walls, pairs of wooden walls, and items.  Returns whether a board was
    found on which all but ``MAX_UNREACHED`` passages can be reached.
    """
    for k in range(st.BOMBS):
        row[k] = 0
    cells = size * size
    free = np.empty(cells, np.int16)
    unwalled, reached = np.empty(size, np.int64), np.empty(size, np.int64)
    tries = 0
    draw_walls(row, size, template, pairs, counts, free, unwalled, stream)
    while unreached(row, size, unwalled, reached) > MAX_UNREACHED:
        tries += 1
        if tries == MAX_TRIES:
            return False
        draw_walls(row, size, template, pairs, counts, free, unwalled, stream)
    hide_items(row, st.BOARD + cells, counts[2], free, cells, stream)
    for k in range(len(starts)):
        agent = st.AGENTS + k * st.AGENT_FIELDS
        row[agent + st.ALIVE], row[agent + st.CELL], row[agent + st.AMMO] = 1, starts[k], kit.ammo
        row[agent + st.BLAST], row[agent + st.CAN_KICK] = kit.blast, kit.can_kick
    return True


@inner_kernel
def draw_walls(row, size, template, pairs, counts, free, unwalled, stream):
    """Draw walls in pairs mirrored in the main diagonal, which stays free.

    Bit c of ``unwalled[r]`` says that there is no rigid wall in column c of row r.
    """
    for cell in range(len(template)):
        row[st.BOARD + cell] = template[cell]
    for r in range(size):
        unwalled[r] = (1 << size) - 1
    left = len(pairs)
    for k in range(left):
        free[k] = pairs[k]
    for kind in range(2):
        for _ in range(counts[kind]):
            k = below(stream, left)  # type: ignore[assignment]
            r, c = free[k] >> COLUMN_BITS, free[k] & COLUMN
            row[st.BOARD + r * size + c] = st.RIGID + kind
            row[st.BOARD + c * size + r] = st.RIGID + kind
            if kind == 0:
                unwalled[r] ^= 1 << c
                unwalled[c] ^= 1 << r
            left -= 1
            free[k] = free[left]


@inner_kernel
def unreached(row, size, unwalled, reached):
    """Count the passages that cannot be reached from the last agent's corner without crossing rigid walls."""
    for r in range(size):
        reached[r] = 0
    reached[size - 2] = 1 << (size - 2)
    changed = True
    while changed:
        changed = False
        for r in range(size - 1, -1, -1):
            changed |= spread(unwalled, reached, r, size)
        for r in range(size):
            changed |= spread(unwalled, reached, r, size)
    missing = 0
    for r in range(size):
        for c in range(size):
            missing += (row[st.BOARD + r * size + c] == st.PASSAGE) & ~(reached[r] >> c) & 1
    return missing


@inline_kernel
def spread(unwalled, reached, r, size):
    """Extend the reached cells of row ``r`` to those adjacent to reached ones; return whether any was added."""
    before = reached[r]
    now = before | (reached[max(r - 1, 0)] | reached[min(r + 1, size - 1)]) & unwalled[r]
    grown = (now | now << 1 | now >> 1) & unwalled[r]
    while grown != now:
        now = grown
        grown = (now | now << 1 | now >> 1) & unwalled[r]
    reached[r] = now
    return now != before


@inner_kernel
def hide_items(row, hidden, items, free, cells, stream):
    """Hide items of the three kinds under distinct wooden walls."""
    count = 0
    for cell in range(cells):
        row[hidden + cell] = st.PASSAGE
        free[count] = cell
        count += row[st.BOARD + cell] == st.WOOD
    for _ in range(items):
        k = below(stream, count)
        row[hidden + free[k]] = st.EXTRA_BOMB + below(stream, ITEM_KINDS)
        count -= 1
        free[k] = free[count]
