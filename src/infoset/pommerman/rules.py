"""One step of the game, in the order that the reference implements: flames, intents, collisions, kicks, explosions.

Agents and bombs *want* a cell; whoever cannot have it wants its own again.  Wants are counted for each cell and the
counters only grow, so a contested cell stays contested.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from infoset.jit import inline_kernel, kernel
from infoset.pommerman.config import FULL_BLAST, MAX_AGENTS
from infoset.pommerman.state import (
    AGENT,
    AGENT_FIELDS,
    AGENTS,
    ALIVE,
    AMMO,
    BLAST,
    BOMB,
    BOMB_CELL,
    BOMB_FIELDS,
    BOMBS,
    CAN_KICK,
    CELL,
    DIRECTION,
    DOWN,
    EXTRA_BOMB,
    FLAME_CELL,
    FLAME_FIELDS,
    FLAME_LIFE,
    FLAMES,
    FLAMES_AT,
    INCR_RANGE,
    KICK,
    LAY,
    LAYERS,
    LEFT,
    LIFE,
    MAX_BOMBS,
    MESSAGES,
    NUM_BOMBS,
    NUM_FLAMES,
    OWNER,
    PASSAGE,
    RIGHT,
    RIGID,
    STEP,
    STOP,
    STRENGTH,
    UP,
    WOOD,
    WORDS,
    board_at,
)

NOBODY = -1
OFF_BOARD = -1
NEW_BOMB = 1  # a bomb is laid with its fuse plus one, and ticks in the same step
EDGE_FIELDS = 3  # the lower cell, the higher cell, the mover
LATER_FIELDS = 2  # who, and the cell

# The scratch row that a step works in: what everyone wants, who kicks whom, edges, delayed moves, counters of cells
AGENT_WANT = 0
BOMB_WANT = AGENT_WANT + MAX_AGENTS
KICKED = BOMB_WANT + MAX_BOMBS
KICKER = KICKED + MAX_AGENTS
EDGES = KICKER + MAX_BOMBS
BOMB_LATER = EDGES + EDGE_FIELDS * (MAX_AGENTS + MAX_BOMBS)
AGENT_LATER = BOMB_LATER + LATER_FIELDS * MAX_BOMBS
AGENTS_HERE = AGENT_LATER + LATER_FIELDS * MAX_BOMBS  # then, for each cell, how many agents want it,
COUNTERS = 3  # how many bombs want it, and whether a blast reaches it


def scratch(size: int) -> npt.NDArray[np.int16]:
    """Room for one step to work in; what it holds before does not matter."""
    return np.zeros(AGENTS_HERE + COUNTERS * size * size, dtype=np.int16)


@cache
def neighbours(size: int) -> npt.NDArray[np.int16]:
    """(5, cells) flat: the cell itself, and the next one up, down, left and right, or OFF_BOARD."""
    cells = np.arange(size * size, dtype=np.int16).reshape(size, size)
    table = np.full((RIGHT + 1, size, size), OFF_BOARD, dtype=np.int16)
    table[STOP] = cells
    table[UP, 1:], table[DOWN, :-1] = cells[:-1], cells[1:]
    table[LEFT, :, 1:], table[RIGHT, :, :-1] = cells[:, :-1], cells[:, 1:]
    table.setflags(write=False)
    return table.ravel()


@kernel
def step(row, work, near, size, moves, words, fuse, flame_life, blast_cap):
    """Play one step in place.

    ``moves`` (agents,) and ``words`` (agents, 2) are those of all agents; the dead do not move and say 0, 0.  Loops
    run over four agents, which compilers like; seats that nobody takes hold nobody alive.  ``work``
    is scratch, ``near`` what ``neighbours`` gives.
    """
    cells = size * size
    board = board_at(size)
    hidden, bombs_here = board + cells, AGENTS_HERE + cells
    marked = bombs_here + cells
    for k in range(AGENTS_HERE, marked):
        work[k] = 0
    for k in range(MAX_AGENTS):
        for w in range(WORDS):
            row[MESSAGES + k * WORDS + w] = words[k, w] if row[AGENTS + k * AGENT_FIELDS + ALIVE] else 0
    burn_down(row, board, hidden)
    intend(row, work, near, board, cells, moves, fuse)
    bombs_intend(row, work, near, board, cells)
    cross_edges(row, work)
    collide(row, work, bombs_here)
    if kick(row, work, near, board, moves, bombs_here, cells):
        collide_again(row, work, bombs_here)
    commit(row, work, board, blast_cap)
    if explode(row, work, near, board, marked, cells):
        add_flames(row, work, marked, cells, flame_life)
    redraw(row, board)
    for k in range(MAX_AGENTS):
        agent = AGENTS + k * AGENT_FIELDS
        if row[agent + ALIVE]:
            cell = board + row[agent + CELL]
            if row[cell] == FLAMES:
                row[agent + ALIVE] = 0
            else:
                row[cell] = AGENT + k
    row[STEP] += 1


@inline_kernel
def burn_down(row, board, hidden):
    """Flames without life leave, showing what was hidden; the others stay drawn."""
    left = FLAMES_AT
    for flame in range(FLAMES_AT, FLAMES_AT + row[NUM_FLAMES] * FLAME_FIELDS, FLAME_FIELDS):
        cell = row[flame + FLAME_CELL]
        if row[flame + FLAME_LIFE] == 0:
            row[board + cell] = row[hidden + cell]
            row[hidden + cell] = PASSAGE
        else:
            row[left + FLAME_CELL] = cell
            row[left + FLAME_LIFE] = row[flame + FLAME_LIFE] - 1
            left += FLAME_FIELDS
    for flame in range(FLAMES_AT, left, FLAME_FIELDS):
        row[board + row[flame + FLAME_CELL]] = FLAMES
    row[NUM_FLAMES] = (left - FLAMES_AT) // FLAME_FIELDS


@inline_kernel
def intend(row, work, near, board, cells, moves, fuse):
    """What each agent wants; bombs are laid at once."""
    for k in range(MAX_AGENTS):
        agent = AGENTS + k * AGENT_FIELDS
        if not row[agent + ALIVE]:
            continue
        cell = row[agent + CELL]
        row[board + cell] = PASSAGE
        work[AGENT_WANT + k] = cell
        if moves[k] == LAY:
            if row[agent + AMMO] > 0 and row[NUM_BOMBS] < MAX_BOMBS and not bomb_on(row, cell):
                bomb = BOMBS + row[NUM_BOMBS] * BOMB_FIELDS
                row[bomb + BOMB_CELL], row[bomb + OWNER] = cell, k
                row[bomb + LIFE], row[bomb + STRENGTH] = fuse + NEW_BOMB, row[agent + BLAST]
                row[bomb + DIRECTION] = STOP
                row[agent + AMMO] -= 1
                row[NUM_BOMBS] += 1
        elif moves[k] != STOP:
            target = near[moves[k] * cells + cell]
            if target != OFF_BOARD and row[board + target] != RIGID and row[board + target] != WOOD:
                work[AGENT_WANT + k] = target


@inline_kernel
def bomb_on(row, cell):
    found = False
    for k in range(row[NUM_BOMBS]):
        found |= row[BOMBS + k * BOMB_FIELDS + BOMB_CELL] == cell
    return found


@inline_kernel
def bombs_intend(row, work, near, board, cells):
    """A rolling bomb wants the next cell, unless a wall or an item is there."""
    for k in range(row[NUM_BOMBS]):
        bomb = BOMBS + k * BOMB_FIELDS
        cell = row[bomb + BOMB_CELL]
        row[board + cell] = PASSAGE
        work[BOMB_WANT + k] = cell
        if row[bomb + DIRECTION] != STOP:
            target = near[row[bomb + DIRECTION] * cells + cell]
            if target != OFF_BOARD and not blocks_bomb(row[board + target]):
                work[BOMB_WANT + k] = target


@inline_kernel
def blocks_bomb(value):
    return value in (RIGID, WOOD, EXTRA_BOMB, INCR_RANGE, KICK)


@inline_kernel
def cross_edges(row, work):
    """Two that would change places stay; a bomb gives way to an agent.  The first on an edge keeps it registered."""
    end = EDGES
    for k in range(MAX_AGENTS):
        cell = row[AGENTS + k * AGENT_FIELDS + CELL]
        if row[AGENTS + k * AGENT_FIELDS + ALIVE] and work[AGENT_WANT + k] != cell:
            edge, end = edge_of(work, end, cell, work[AGENT_WANT + k], k)
            if work[edge + 2] != k:
                work[AGENT_WANT + k] = cell
                work[AGENT_WANT + work[edge + 2]] = row[AGENTS + work[edge + 2] * AGENT_FIELDS + CELL]
    for k in range(row[NUM_BOMBS]):
        cell = row[BOMBS + k * BOMB_FIELDS + BOMB_CELL]
        if work[BOMB_WANT + k] != cell:
            edge, end = edge_of(work, end, cell, work[BOMB_WANT + k], MAX_AGENTS + k)
            first = work[edge + 2] - MAX_AGENTS
            if first != k:
                work[BOMB_WANT + k] = cell
                if first >= 0:
                    work[BOMB_WANT + first] = row[BOMBS + first * BOMB_FIELDS + BOMB_CELL]


@inline_kernel
def edge_of(work, end, one, other, mover):
    """Where the edge between two cells is registered, for ``mover`` if it is new; and where the edges end now."""
    low, high = min(one, other), max(one, other)
    edge = EDGES
    while edge < end and (work[edge] != low or work[edge + 1] != high):
        edge += EDGE_FIELDS
    if edge == end:
        work[edge], work[edge + 1], work[edge + 2] = low, high, mover
        end += EDGE_FIELDS
    return edge, end


@inline_kernel
def collide(row, work, bombs_here):
    """Whoever wants a cell that another of its kind, or too many of the other kind, wants stays where it is."""
    for k in range(MAX_AGENTS):
        if row[AGENTS + k * AGENT_FIELDS + ALIVE]:
            work[AGENTS_HERE + work[AGENT_WANT + k]] += 1
    for k in range(row[NUM_BOMBS]):
        work[bombs_here + work[BOMB_WANT + k]] += 1
    changed = True
    while changed:
        changed = False
        for k in range(MAX_AGENTS):
            want, cell = work[AGENT_WANT + k], row[AGENTS + k * AGENT_FIELDS + CELL]
            contested = work[AGENTS_HERE + want] > 1 or work[bombs_here + want] > 1
            if row[AGENTS + k * AGENT_FIELDS + ALIVE] and want != cell and contested:
                work[AGENT_WANT + k] = cell
                work[AGENTS_HERE + cell] += 1
                changed = True
        for k in range(row[NUM_BOMBS]):
            want, cell = work[BOMB_WANT + k], row[BOMBS + k * BOMB_FIELDS + BOMB_CELL]
            if want != cell and (work[bombs_here + want] > 1 or work[AGENTS_HERE + want] > 1):
                work[BOMB_WANT + k] = cell
                work[bombs_here + cell] += 1
                changed = True


@inline_kernel
def kick(row, work, near, board, moves, bombs_here, cells):
    """Agents that move onto a bomb kick it or turn back.  Returns whether anything was delayed."""
    for k in range(MAX_AGENTS):
        work[KICKED + k] = NOBODY
    bomb_end, agent_end = BOMB_LATER, AGENT_LATER
    for k in range(row[NUM_BOMBS]):
        work[KICKER + k] = NOBODY
        want, own = work[BOMB_WANT + k], row[BOMBS + k * BOMB_FIELDS + BOMB_CELL]
        if work[AGENTS_HERE + want] == 0:
            continue
        agent = wanted_by(row, work, want)
        if agent == NOBODY:
            continue
        target, stands = own, row[AGENTS + agent * AGENT_FIELDS + CELL]
        if work[AGENT_WANT + agent] == stands:
            if want == own:
                continue
        else:
            aim = OFF_BOARD
            if row[AGENTS + agent * AGENT_FIELDS + CAN_KICK]:
                aim = near[moves[agent] * cells + want]
            if aim != OFF_BOARD and can_roll(row, work, board, bombs_here, aim):
                work[bombs_here + want] = 0
                work[KICKED + agent], work[KICKER + k] = k, agent
                row[BOMBS + k * BOMB_FIELDS + DIRECTION] = moves[agent]
                target = aim
            else:
                work[agent_end], work[agent_end + 1] = agent, stands
                agent_end += LATER_FIELDS
        work[bomb_end], work[bomb_end + 1] = k, target
        bomb_end += LATER_FIELDS
    for later in range(BOMB_LATER, bomb_end, LATER_FIELDS):
        work[BOMB_WANT + work[later]] = work[later + 1]
        work[bombs_here + work[later + 1]] += 1
    for later in range(AGENT_LATER, agent_end, LATER_FIELDS):
        work[AGENT_WANT + work[later]] = work[later + 1]
        work[AGENTS_HERE + work[later + 1]] += 1
    return bomb_end > BOMB_LATER


@inline_kernel
def wanted_by(row, work, cell):
    """The alive agent that wants a cell, or NOBODY."""
    found = NOBODY
    for k in range(MAX_AGENTS):
        if row[AGENTS + k * AGENT_FIELDS + ALIVE] and work[AGENT_WANT + k] == cell:
            found = k
    return found


@inline_kernel
def can_roll(row, work, board, bombs_here, cell):
    """Whether a kicked bomb may roll to a cell."""
    return work[AGENTS_HERE + cell] == 0 and work[bombs_here + cell] == 0 and not blocks_bomb(row[board + cell])


@inline_kernel
def collide_again(row, work, bombs_here):
    """After kicks: whoever cannot have its cell stays, and a kicker stays with the bomb that it kicked."""
    changed = True
    while changed:
        changed = False
        for k in range(MAX_AGENTS):
            want, cell = work[AGENT_WANT + k], row[AGENTS + k * AGENT_FIELDS + CELL]
            if not row[AGENTS + k * AGENT_FIELDS + ALIVE] or want == cell:
                continue
            if work[AGENTS_HERE + want] > 1 or work[bombs_here + want] != 0:
                bomb = work[KICKED + k]
                if bomb != NOBODY:
                    stands = row[BOMBS + bomb * BOMB_FIELDS + BOMB_CELL]
                    work[BOMB_WANT + bomb] = stands
                    work[bombs_here + stands] += 1
                    work[KICKED + k], work[KICKER + bomb] = NOBODY, NOBODY
                work[AGENT_WANT + k] = cell
                work[AGENTS_HERE + cell] += 1
                changed = True
        for k in range(row[NUM_BOMBS]):
            want, cell = work[BOMB_WANT + k], row[BOMBS + k * BOMB_FIELDS + BOMB_CELL]
            agent = work[KICKER + k]
            if want == cell and agent == NOBODY:
                continue
            if work[bombs_here + want] > 1 or work[AGENTS_HERE + want] != 0:
                work[BOMB_WANT + k] = cell
                work[bombs_here + cell] += 1
                if agent != NOBODY:
                    stands = row[AGENTS + agent * AGENT_FIELDS + CELL]
                    work[AGENT_WANT + agent] = stands
                    work[AGENTS_HERE + stands] += 1
                    work[KICKED + agent], work[KICKER + k] = NOBODY, NOBODY
                changed = True


@inline_kernel
def commit(row, work, board, blast_cap):
    """Everyone goes where it wants; a bomb that stays stops for good; items are picked up."""
    for k in range(row[NUM_BOMBS]):
        bomb = BOMBS + k * BOMB_FIELDS
        if work[BOMB_WANT + k] == row[bomb + BOMB_CELL] and work[KICKER + k] == NOBODY:
            row[bomb + DIRECTION] = STOP
        else:
            row[bomb + BOMB_CELL] = work[BOMB_WANT + k]
    for k in range(MAX_AGENTS):
        agent = AGENTS + k * AGENT_FIELDS
        if row[agent + ALIVE] and work[AGENT_WANT + k] != row[agent + CELL]:
            row[agent + CELL] = work[AGENT_WANT + k]
            item = row[board + work[AGENT_WANT + k]]
            if item == EXTRA_BOMB:
                row[agent + AMMO] = min(row[agent + AMMO] + 1, FULL_BLAST)
            elif item == INCR_RANGE:
                row[agent + BLAST] = min(row[agent + BLAST] + 1, blast_cap)
            elif item == KICK:
                row[agent + CAN_KICK] = 1


@inline_kernel
def explode(row, work, near, board, marked, cells):
    """Tick all bombs; those that must go off, and those that their blasts reach; blasts are marked.

    Returns whether any went off.  ``KICKER`` serves for who goes off.
    """
    some = False
    for k in range(row[NUM_BOMBS]):
        bomb = BOMBS + k * BOMB_FIELDS
        row[bomb + LIFE] -= 1
        going = row[bomb + LIFE] == 0 or row[board + row[bomb + BOMB_CELL]] == FLAMES
        if going:
            row[bomb + LIFE] = 0
        work[KICKER + k] = going
        some |= going
    if not some:
        return False
    for cell in range(marked, marked + cells):
        work[cell] = 0
    while some:
        left = 0
        for k in range(row[NUM_BOMBS]):
            bomb = BOMBS + k * BOMB_FIELDS
            if work[KICKER + k]:
                give_back(row, row[bomb + OWNER])
                blast(row, work, near, board, marked, row[bomb + BOMB_CELL], row[bomb + STRENGTH], cells)
            else:
                move_bomb(row, bomb, BOMBS + left * BOMB_FIELDS)
                left += 1
        row[NUM_BOMBS] = left
        some = False
        for k in range(left):
            work[KICKER + k] = work[marked + row[BOMBS + k * BOMB_FIELDS + BOMB_CELL]]
            some |= work[KICKER + k] != 0
    return True


@inline_kernel
def give_back(row, owner):
    """A bomb's owner, dead or alive, has it back."""
    if 0 <= owner < MAX_AGENTS:
        ammo = AGENTS + owner * AGENT_FIELDS + AMMO
        row[ammo] = min(row[ammo] + 1, FULL_BLAST)


@inline_kernel
def move_bomb(row, source, target):
    if source != target:
        for f in range(BOMB_FIELDS):
            row[target + f] = row[source + f]


@inline_kernel
def blast(row, work, near, board, marked, cell, strength, cells):
    """Mark what one bomb burns: up to ``strength - 1`` cells each way, wood being the last."""
    if strength == 0:
        return
    work[marked + cell] = 1
    for direction in range(UP, RIGHT + 1):
        at = cell
        for _ in range(strength - 1):
            at = near[direction * cells + at]
            if at == OFF_BOARD or row[board + at] == RIGID:
                break
            work[marked + at] = 1
            if row[board + at] == WOOD:
                break


@inline_kernel
def add_flames(row, work, marked, cells, flame_life):
    """One new flame a marked cell, in row-major order."""
    end = FLAMES_AT + row[NUM_FLAMES] * FLAME_FIELDS
    room = FLAMES_AT + LAYERS * cells * FLAME_FIELDS
    for cell in range(cells):
        if work[marked + cell] and end < room:
            row[end + FLAME_CELL], row[end + FLAME_LIFE] = cell, flame_life
            end += FLAME_FIELDS
    row[NUM_FLAMES] = (end - FLAMES_AT) // FLAME_FIELDS


@inline_kernel
def redraw(row, board):
    """Bombs, then flames over them."""
    for k in range(row[NUM_BOMBS]):
        row[board + row[BOMBS + k * BOMB_FIELDS + BOMB_CELL]] = BOMB
    for k in range(row[NUM_FLAMES]):
        row[board + row[FLAMES_AT + k * FLAME_FIELDS + FLAME_CELL]] = FLAMES


@kernel
def collapse(row, size, ring):
    """The ring becomes walls: agents drawn there die, bombs go back to their owners, flames and items vanish."""
    board = board_at(size)
    left = 0
    for k in range(row[NUM_BOMBS]):
        bomb = BOMBS + k * BOMB_FIELDS
        if on_ring(row[bomb + BOMB_CELL], size, ring):
            give_back(row, row[bomb + OWNER])
        else:
            move_bomb(row, bomb, BOMBS + left * BOMB_FIELDS)
            left += 1
    row[NUM_BOMBS] = left
    left = 0
    for k in range(row[NUM_FLAMES]):
        flame, target = FLAMES_AT + k * FLAME_FIELDS, FLAMES_AT + left * FLAME_FIELDS
        cell = row[flame + FLAME_CELL]
        if not (on_ring(cell, size, ring) and row[board + cell] == FLAMES):
            row[target + FLAME_CELL], row[target + FLAME_LIFE] = cell, row[flame + FLAME_LIFE]
            left += 1
    row[NUM_FLAMES] = left
    for cell in range(size * size):
        if on_ring(cell, size, ring):
            if row[board + cell] >= AGENT:
                row[AGENTS + (row[board + cell] - AGENT) * AGENT_FIELDS + ALIVE] = 0
            row[board + size * size + cell] = PASSAGE
            row[board + cell] = RIGID


@inline_kernel
def on_ring(cell, size, ring):
    row, column = cell // size, cell % size
    return min(row, column, size - 1 - row, size - 1 - column) == ring
