"""One step of the game, in the reference's order: flames, intended moves, collisions, kicks, explosions.

Agents and bombs *want* a cell; one that cannot have it wants its own cell again.  Wants are counted per cell and the
counters only grow, so a contested cell stays contested.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.jit import inline_kernel, inner_kernel, kernel, lowest_one, short_kernel
from infoset_pommerman import state as st
from infoset_pommerman.config import FULL_BLAST, MAX_AGENTS, MAX_BOMBS

NOBODY = -1
WAYS = st.LAY + 1  # entries of ``near`` per cell: where each move leads
WORD_BITS = 4  # reached cells are marked by one bit each, in words of 2 ** WORD_BITS bits
BIT = 2**WORD_BITS - 1
NEW_BOMB = 1  # added to the fuse of a new bomb, which ticks in the step in which it is laid
EDGE_FIELDS = 3  # from, to, index of the bomb
LATER_FIELDS = 2  # index of the agent or bomb, and the cell

# The scratch row of a step: wanted cells, who kicks whom, edges, delayed moves, counters per cell
AGENT_WANT = 0
BOMB_WANT = AGENT_WANT + MAX_AGENTS
KICKED = BOMB_WANT + MAX_BOMBS
KICKER = KICKED + MAX_AGENTS
EDGES = KICKER + MAX_BOMBS
BOMB_LATER = EDGES + EDGE_FIELDS * MAX_BOMBS
AGENT_LATER = BOMB_LATER + LATER_FIELDS * MAX_BOMBS
HERE = AGENT_LATER + LATER_FIELDS * MAX_BOMBS  # then, for each cell, the numbers of agents and of bombs that want it,
KINDS = 2  # and last the words that mark the cells that blasts reach


class Limits(NamedTuple):
    """The parameters of a configuration that a step depends on."""

    fuse: int
    flame_life: int
    blast_cap: int


def scratch(size: int) -> npt.NDArray[np.int16]:
    """Return scratch space for one step; its previous contents do not matter."""
    return np.zeros(HERE + KINDS * size * size + mark_words(size), dtype=np.int16)


@short_kernel
def mark_words(size):
    """Return the number of words that hold one bit per cell."""
    return (size * size + BIT) >> WORD_BITS


@cache
def neighbours(size: int) -> npt.NDArray[np.int16]:
    """Return a flat table (cells * WAYS,) of where each move leads from a cell; at the edge, to the cell itself."""
    cells = np.arange(size * size, dtype=np.int16).reshape(size, size)
    table = np.repeat(cells[:, :, None], WAYS, axis=2)
    table[1:, :, st.UP], table[:-1, :, st.DOWN] = cells[:-1], cells[1:]
    table[:, 1:, st.LEFT], table[:, :-1, st.RIGHT] = cells[:, :-1], cells[:, 1:]
    table.setflags(write=False)
    return table.ravel()


@kernel
def step(row, work, near, size, moves, words, limits):
    """Play one step in place.

    ``moves`` (agents,) and ``words`` (agents, 2) are those of all agents; dead agents do not move, and their words
    become 0, 0.  Loops always run over four agents, which compilers optimise well; unused seats count as dead.
    ``work`` is scratch space from ``scratch``, ``near`` the table of ``neighbours``.
    """
    cells = size * size
    hidden, marked = st.BOARD + cells, HERE + KINDS * cells
    for k in range(MAX_AGENTS):
        for w in range(st.WORDS):
            row[st.MESSAGES + k * st.WORDS + w] = words[k, w] if row[st.AGENTS + k * st.AGENT_FIELDS + st.ALIVE] else 0
    burn_down(row, size, hidden)
    intend(row, work, near, moves, limits.fuse)
    rolling = bombs_intend(row, work, near)
    if rolling:
        bombs_cross(row, work)
    agents_cross(row, work)
    count_wants(row, work)
    collide(row, work, rolling)
    if rolling or onto_bombs(row, work):
        if kick(row, work, near, moves):
            collide_again(row, work)
        move_bombs(row, work)
    move_agents(row, work, limits.blast_cap)
    marks = mark_words(size)
    if explode(row, work, near, marked, marks):
        add_flames(row, work, marked, marks, size, limits.flame_life)
    redraw(row, size)
    for k in range(MAX_AGENTS):
        agent = st.AGENTS + k * st.AGENT_FIELDS
        if row[agent + st.ALIVE]:
            cell = st.BOARD + row[agent + st.CELL]
            if row[cell] == st.FLAMES:
                row[agent + st.ALIVE] = 0
            else:
                row[cell] = st.AGENT + k
    row[st.STEP] += 1


@inline_kernel
def burn_down(row, size, hidden):
    """Remove flames without life, revealing the hidden items, and age and redraw the others."""
    start = left = st.flames_at(size)
    end = start + row[st.NUM_FLAMES] * st.FLAME_FIELDS
    for flame in range(start, end, st.FLAME_FIELDS):
        cell = row[flame + st.FLAME_CELL]
        if row[flame + st.FLAME_LIFE] == 0:
            row[st.BOARD + cell] = row[hidden + cell]
            row[hidden + cell] = st.PASSAGE
        else:
            row[left + st.FLAME_CELL] = cell
            row[left + st.FLAME_LIFE] = row[flame + st.FLAME_LIFE] - 1
            left += st.FLAME_FIELDS
    for flame in range(start, left, st.FLAME_FIELDS):
        row[st.BOARD + row[flame + st.FLAME_CELL]] = st.FLAMES
    row[st.NUM_FLAMES] = (left - start) // st.FLAME_FIELDS
    clear_tail(row, left, end)


@inline_kernel
def clear_tail(row, left, end):
    """Write zeros after the end of a list, so that equal positions are equal rows."""
    for k in range(left, end):
        row[k] = 0


@inline_kernel
def intend(row, work, near, moves, fuse):
    """Enter the cell that each agent wants; bombs are laid at once."""
    for k in range(MAX_AGENTS):
        agent = st.AGENTS + k * st.AGENT_FIELDS
        cell = work[AGENT_WANT + k] = row[agent + st.CELL]
        if not row[agent + st.ALIVE]:
            continue
        row[st.BOARD + cell] = st.PASSAGE
        target = near[cell * WAYS + moves[k]]
        value = row[st.BOARD + target]
        clear(work, cell)
        clear(work, target)
        clear(work, near[target * WAYS + moves[k]])
        work[AGENT_WANT + k] = cell if (value == st.RIGID) | (value == st.WOOD) else target
        if moves[k] == st.LAY and row[agent + st.AMMO] > 0 and row[st.NUM_BOMBS] < MAX_BOMBS and not bomb_on(row, cell):
            bomb = st.BOMBS + row[st.NUM_BOMBS] * st.BOMB_FIELDS
            row[bomb + st.BOMB_CELL], row[bomb + st.OWNER] = cell, k
            row[bomb + st.LIFE], row[bomb + st.STRENGTH] = fuse + NEW_BOMB, row[agent + st.BLAST]
            row[bomb + st.DIRECTION] = st.STOP
            row[agent + st.AMMO] -= 1
            row[st.NUM_BOMBS] += 1


@inline_kernel
def clear(work, cell):
    """Reset the counters of a cell: done only for cells that may be wanted, and those that a bomb may be kicked to."""
    work[HERE + KINDS * cell] = work[HERE + KINDS * cell + 1] = 0


@inline_kernel
def bomb_on(row, cell):
    """Return whether a bomb lies on ``cell``."""
    found = False
    for k in range(row[st.NUM_BOMBS]):
        found |= row[st.BOMBS + k * st.BOMB_FIELDS + st.BOMB_CELL] == cell
    return found


@inline_kernel
def bombs_intend(row, work, near):
    """Enter the cell that each bomb wants; return whether any bomb rolls.

    A rolling bomb wants the next cell unless a wall or an item is there.
    """
    rolling = False
    for k in range(row[st.NUM_BOMBS]):
        bomb = st.BOMBS + k * st.BOMB_FIELDS
        cell = row[bomb + st.BOMB_CELL]
        row[st.BOARD + cell] = st.PASSAGE
        target = near[cell * WAYS + row[bomb + st.DIRECTION]]
        clear(work, cell)
        clear(work, target)
        work[BOMB_WANT + k] = cell if blocks_bomb(row[st.BOARD + target]) else target
        rolling |= row[bomb + st.DIRECTION] != st.STOP
    return rolling


@inline_kernel
def blocks_bomb(value):
    """Return whether a cell's value is a wall or an item."""
    return (value == st.RIGID) | (value == st.WOOD) | ((value >= st.EXTRA_BOMB) & (value <= st.KICK))


@inline_kernel
def bombs_cross(row, work):
    """Keep bombs in place that would swap cells with each other or with an agent.

    The first bomb on an edge keeps the edge registered even where it was turned back.
    """
    end = EDGES
    for k in range(row[st.NUM_BOMBS]):
        cell, want = row[st.BOMBS + k * st.BOMB_FIELDS + st.BOMB_CELL], work[BOMB_WANT + k]
        if want == cell:
            continue
        edge = EDGES
        while edge < end and not same_edge(work[edge], work[edge + 1], cell, want):
            edge += EDGE_FIELDS
        if agent_crosses(row, work, cell, want):
            work[BOMB_WANT + k] = cell
        elif edge < end:
            first = work[edge + 2]
            work[BOMB_WANT + k] = cell
            work[BOMB_WANT + first] = row[st.BOMBS + first * st.BOMB_FIELDS + st.BOMB_CELL]
        else:
            work[end], work[end + 1], work[end + 2] = cell, want, k
            end += EDGE_FIELDS


@inline_kernel
def agent_crosses(row, work, cell, want):
    """Return whether an agent would move between two cells."""
    found = False
    for k in range(MAX_AGENTS):
        agent = st.AGENTS + k * st.AGENT_FIELDS
        found |= (row[agent + st.ALIVE] != 0) & same_edge(row[agent + st.CELL], work[AGENT_WANT + k], cell, want)
    return found


@inline_kernel
def same_edge(one, other, cell, want):
    """Return whether two objects on ``cell`` and ``want`` would swap their cells."""
    return ((one == cell) & (other == want)) | ((one == want) & (other == cell))


@inline_kernel
def agents_cross(row, work):
    """Keep agents in place that would swap cells."""
    for k in range(MAX_AGENTS):
        one = st.AGENTS + k * st.AGENT_FIELDS
        for m in range(k):
            other = st.AGENTS + m * st.AGENT_FIELDS
            swap = (work[AGENT_WANT + k] == row[other + st.CELL]) & (work[AGENT_WANT + m] == row[one + st.CELL])
            if swap & (row[one + st.ALIVE] != 0) & (row[other + st.ALIVE] != 0):
                work[AGENT_WANT + k], work[AGENT_WANT + m] = row[one + st.CELL], row[other + st.CELL]


@inline_kernel
def count_wants(row, work):
    """Count the agents and the bombs that want each cell."""
    for k in range(MAX_AGENTS):
        work[HERE + KINDS * work[AGENT_WANT + k]] += row[st.AGENTS + k * st.AGENT_FIELDS + st.ALIVE]
    for k in range(row[st.NUM_BOMBS]):
        work[HERE + KINDS * work[BOMB_WANT + k] + 1] += 1


@inline_kernel
def collide(row, work, rolling):
    """Keep in place whatever wants a cell that another of its kind, or more than one of the other kind, wants."""
    changed = True
    while changed:
        changed = False
        for k in range(MAX_AGENTS):
            agent, want = st.AGENTS + k * st.AGENT_FIELDS, work[AGENT_WANT + k]
            contested = (work[HERE + KINDS * want] > 1) | (work[HERE + KINDS * want + 1] > 1)
            if contested & (row[agent + st.ALIVE] != 0) & (want != row[agent + st.CELL]):
                work[AGENT_WANT + k] = row[agent + st.CELL]
                work[HERE + KINDS * row[agent + st.CELL]] += 1
                changed = True
        for k in range(row[st.NUM_BOMBS] if rolling else 0):
            want, cell = work[BOMB_WANT + k], row[st.BOMBS + k * st.BOMB_FIELDS + st.BOMB_CELL]
            if (want != cell) & ((work[HERE + KINDS * want + 1] > 1) | (work[HERE + KINDS * want] > 1)):
                work[BOMB_WANT + k] = cell
                work[HERE + KINDS * cell + 1] += 1
                changed = True


@inline_kernel
def onto_bombs(row, work):
    """Return whether an agent moves to a cell that a bomb wants."""
    found = False
    for k in range(MAX_AGENTS):
        agent, want = st.AGENTS + k * st.AGENT_FIELDS, work[AGENT_WANT + k]
        found |= (row[agent + st.ALIVE] != 0) & (want != row[agent + st.CELL]) & (work[HERE + KINDS * want + 1] != 0)
    return found


@inline_kernel
def kick(row, work, near, moves):
    """Let agents that move onto a bomb kick it or turn back; return whether any move was delayed."""
    for k in range(MAX_AGENTS):
        work[KICKED + k] = NOBODY
    bomb_end, agent_end = BOMB_LATER, AGENT_LATER
    for k in range(row[st.NUM_BOMBS]):
        work[KICKER + k] = NOBODY
        want, own = work[BOMB_WANT + k], row[st.BOMBS + k * st.BOMB_FIELDS + st.BOMB_CELL]
        agent = wanted_by(row, work, want)
        target, stands = own, row[st.AGENTS + max(agent, 0) * st.AGENT_FIELDS + st.CELL]
        if (agent == NOBODY) | ((want == stands) & (want == own)):
            continue
        if want != stands:
            aim = near[want * WAYS + moves[agent]]
            able = row[st.AGENTS + agent * st.AGENT_FIELDS + st.CAN_KICK] and aim != want
            if able and can_roll(row, work, aim):
                work[HERE + KINDS * want + 1] = 0
                work[KICKED + agent], work[KICKER + k] = k, agent
                row[st.BOMBS + k * st.BOMB_FIELDS + st.DIRECTION] = moves[agent]
                target = aim
            else:
                work[agent_end], work[agent_end + 1] = agent, stands
                agent_end += LATER_FIELDS
        work[bomb_end], work[bomb_end + 1] = k, target
        bomb_end += LATER_FIELDS
    for later in range(BOMB_LATER, bomb_end, LATER_FIELDS):
        work[BOMB_WANT + work[later]] = work[later + 1]
        work[HERE + KINDS * work[later + 1] + 1] += 1
    for later in range(AGENT_LATER, agent_end, LATER_FIELDS):
        work[AGENT_WANT + work[later]] = work[later + 1]
        work[HERE + KINDS * work[later + 1]] += 1
    return bomb_end > BOMB_LATER


@inline_kernel
def wanted_by(row, work, cell):
    """Return the living agent that wants a cell, or NOBODY."""
    found = NOBODY
    for k in range(MAX_AGENTS):
        if (row[st.AGENTS + k * st.AGENT_FIELDS + st.ALIVE] != 0) & (work[AGENT_WANT + k] == cell):
            found = k
    return found


@inline_kernel
def can_roll(row, work, cell):
    """Return whether a kicked bomb may roll to a cell."""
    return (
        work[HERE + KINDS * cell] == 0 and work[HERE + KINDS * cell + 1] == 0 and not blocks_bomb(row[st.BOARD + cell])
    )


@inline_kernel
def collide_again(row, work):
    """Resolve collisions after kicks: what cannot have its cell stays, and a kicker stays along with its bomb."""
    changed = True
    while changed:
        changed = False
        for k in range(MAX_AGENTS):
            want, cell = work[AGENT_WANT + k], row[st.AGENTS + k * st.AGENT_FIELDS + st.CELL]
            if not row[st.AGENTS + k * st.AGENT_FIELDS + st.ALIVE] or want == cell:
                continue
            if work[HERE + KINDS * want] > 1 or work[HERE + KINDS * want + 1] != 0:
                bomb = work[KICKED + k]
                if bomb != NOBODY:
                    stands = row[st.BOMBS + bomb * st.BOMB_FIELDS + st.BOMB_CELL]
                    work[BOMB_WANT + bomb] = stands
                    work[HERE + KINDS * stands + 1] += 1
                    work[KICKED + k], work[KICKER + bomb] = NOBODY, NOBODY
                work[AGENT_WANT + k] = cell
                work[HERE + KINDS * cell] += 1
                changed = True
        for k in range(row[st.NUM_BOMBS]):
            want, cell = work[BOMB_WANT + k], row[st.BOMBS + k * st.BOMB_FIELDS + st.BOMB_CELL]
            agent = work[KICKER + k]
            if want == cell and agent == NOBODY:
                continue
            if work[HERE + KINDS * want + 1] > 1 or work[HERE + KINDS * want] != 0:
                work[BOMB_WANT + k] = cell
                work[HERE + KINDS * cell + 1] += 1
                if agent != NOBODY:
                    stands = row[st.AGENTS + agent * st.AGENT_FIELDS + st.CELL]
                    work[AGENT_WANT + agent] = stands
                    work[HERE + KINDS * stands] += 1
                    work[KICKED + agent], work[KICKER + k] = NOBODY, NOBODY
                changed = True


@inline_kernel
def move_bombs(row, work):
    """Move every bomb to the cell that it wants; a bomb that stays where it is stops for good."""
    for k in range(row[st.NUM_BOMBS]):
        bomb = st.BOMBS + k * st.BOMB_FIELDS
        if work[BOMB_WANT + k] == row[bomb + st.BOMB_CELL] and work[KICKER + k] == NOBODY:
            row[bomb + st.DIRECTION] = st.STOP
        else:
            row[bomb + st.BOMB_CELL] = work[BOMB_WANT + k]


@inline_kernel
def move_agents(row, work, blast_cap):
    """Move every agent to the cell that it wants and let it pick up an item there; no item lies where it stood."""
    for k in range(MAX_AGENTS):
        agent = st.AGENTS + k * st.AGENT_FIELDS
        if row[agent + st.ALIVE]:
            row[agent + st.CELL] = work[AGENT_WANT + k]
            item = row[st.BOARD + work[AGENT_WANT + k]]
            if item == st.EXTRA_BOMB:
                row[agent + st.AMMO] = min(row[agent + st.AMMO] + 1, FULL_BLAST)
            elif item == st.INCR_RANGE:
                row[agent + st.BLAST] = min(row[agent + st.BLAST] + 1, blast_cap)
            elif item == st.KICK:
                row[agent + st.CAN_KICK] = 1


@inline_kernel
def explode(row, work, near, marked, words):
    """Tick all bombs, explode those that are due or reached by fire and blasts, and mark the cells of the blasts.

    Returns whether any bomb exploded.  ``KICKER`` is reused to mark the exploding bombs.
    """
    some = False
    for k in range(row[st.NUM_BOMBS]):
        bomb = st.BOMBS + k * st.BOMB_FIELDS
        row[bomb + st.LIFE] -= 1
        going = (row[bomb + st.LIFE] == 0) | (row[st.BOARD + row[bomb + st.BOMB_CELL]] == st.FLAMES)
        if going:
            row[bomb + st.LIFE] = 0
        work[KICKER + k] = going
        some |= going
    if not some:
        return False
    for word in range(marked, marked + words):
        work[word] = 0
    while some:
        left = 0
        for k in range(row[st.NUM_BOMBS]):
            bomb = st.BOMBS + k * st.BOMB_FIELDS
            if work[KICKER + k]:
                give_back(row, row[bomb + st.OWNER])
                blast(row, work, near, marked, row[bomb + st.BOMB_CELL], row[bomb + st.STRENGTH])
            else:
                move_bomb(row, bomb, st.BOMBS + left * st.BOMB_FIELDS)
                left += 1
        keep_bombs(row, left)
        some = False
        for k in range(left):
            cell = row[st.BOMBS + k * st.BOMB_FIELDS + st.BOMB_CELL]
            work[KICKER + k] = (work[marked + (cell >> WORD_BITS)] >> (cell & BIT)) & 1
            some |= work[KICKER + k] != 0
    return True


@inline_kernel
def give_back(row, owner):
    """Return one unit of ammo to a bomb's owner, dead or alive."""
    if 0 <= owner < MAX_AGENTS:
        ammo = st.AGENTS + owner * st.AGENT_FIELDS + st.AMMO
        row[ammo] = min(row[ammo] + 1, FULL_BLAST)


@inline_kernel
def move_bomb(row, source, target):
    """Copy the fields of a bomb from offset ``source`` to offset ``target``."""
    if source != target:
        for f in range(st.BOMB_FIELDS):
            row[target + f] = row[source + f]


@inline_kernel
def keep_bombs(row, left):
    """End the list of bombs after ``left`` entries."""
    clear_tail(row, st.BOMBS + left * st.BOMB_FIELDS, st.BOMBS + row[st.NUM_BOMBS] * st.BOMB_FIELDS)
    row[st.NUM_BOMBS] = left


@inline_kernel
def blast(row, work, near, marked, cell, strength):
    """Mark the cells that one bomb burns: up to ``strength - 1`` each way, up to and including the first wood."""
    if strength <= 0:
        return
    mark(work, marked, cell)
    for direction in range(st.UP, st.RIGHT + 1):
        at = cell
        for _ in range(strength - 1):
            target = near[at * WAYS + direction]
            if target == at or row[st.BOARD + target] == st.RIGID:
                break
            at = target
            mark(work, marked, at)
            if row[st.BOARD + at] == st.WOOD:
                break


@inline_kernel
def mark(work, marked, cell):
    """Mark ``cell`` in the bit set that begins at ``marked``."""
    work[marked + (cell >> WORD_BITS)] |= 1 << (cell & BIT)


@inline_kernel
def add_flames(row, work, marked, words, size, flame_life):
    """Add one new flame per marked cell, in row-major order."""
    start = st.flames_at(size)
    end, room = start + row[st.NUM_FLAMES] * st.FLAME_FIELDS, len(row)
    for word in range(words):
        left = np.uint16(work[marked + word])
        while left and end < room:
            row[end + st.FLAME_CELL], row[end + st.FLAME_LIFE] = (word << WORD_BITS) + lowest_one(left), flame_life
            left &= left - np.uint16(1)
            end += st.FLAME_FIELDS
    row[st.NUM_FLAMES] = (end - start) // st.FLAME_FIELDS


@inline_kernel
def redraw(row, size):
    """Draw bombs, then flames over them."""
    for k in range(row[st.NUM_BOMBS]):
        row[st.BOARD + row[st.BOMBS + k * st.BOMB_FIELDS + st.BOMB_CELL]] = st.BOMB
    start = st.flames_at(size)
    for k in range(row[st.NUM_FLAMES]):
        row[st.BOARD + row[start + k * st.FLAME_FIELDS + st.FLAME_CELL]] = st.FLAMES


@inner_kernel
def collapse(row, size, ring):
    """Turn a ring into walls: agents drawn there die, bombs return to their owners, flames and items vanish."""
    left = 0
    for k in range(row[st.NUM_BOMBS]):
        bomb = st.BOMBS + k * st.BOMB_FIELDS
        if on_ring(row[bomb + st.BOMB_CELL], size, ring):
            give_back(row, row[bomb + st.OWNER])
        else:
            move_bomb(row, bomb, st.BOMBS + left * st.BOMB_FIELDS)
            left += 1
    keep_bombs(row, left)
    start, left = st.flames_at(size), 0
    for k in range(row[st.NUM_FLAMES]):
        flame, target = start + k * st.FLAME_FIELDS, start + left * st.FLAME_FIELDS
        cell = row[flame + st.FLAME_CELL]
        if not (on_ring(cell, size, ring) and row[st.BOARD + cell] == st.FLAMES):
            row[target + st.FLAME_CELL], row[target + st.FLAME_LIFE] = cell, row[flame + st.FLAME_LIFE]
            left += 1
    clear_tail(row, start + left * st.FLAME_FIELDS, start + row[st.NUM_FLAMES] * st.FLAME_FIELDS)
    row[st.NUM_FLAMES] = left
    for cell in range(size * size):
        if on_ring(cell, size, ring):
            if row[st.BOARD + cell] >= st.AGENT:
                row[st.AGENTS + (row[st.BOARD + cell] - st.AGENT) * st.AGENT_FIELDS + st.ALIVE] = 0
            row[st.BOARD + size * size + cell] = st.PASSAGE
            row[st.BOARD + cell] = st.RIGID


@inline_kernel
def on_ring(cell, size, ring):
    """Return whether ``cell`` lies on the ``ring``-th ring of cells, counted from the edge."""
    row, column = cell // size, cell % size
    return min(row, column, size - 1 - row, size - 1 - column) == ring
