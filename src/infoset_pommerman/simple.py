"""The reference's SimpleAgent: flee from bombs, attack, collect items, bomb wood, wander, in this order.

The kernel decides as the reference does, quirks included, with equal probabilities.  Where the reference raises an
exception (an enemy drawn on the own cell, no passage in reach of its search) the kernel plays Stop.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from infoset.jit import inline_kernel, inner_kernel, kernel, linked_kernel
from infoset.randomness import below, next_word, streams
from infoset_pommerman import state as st
from infoset_pommerman.rules import WAYS, neighbours

DEPTH = 10  # range of the search: rows, columns and their sum
ENEMY_REACH, ITEM_REACH, WOOD_REACH = 3, 2, 2
REACH = 3  # the greatest of these: no way is needed beyond this distance
FAR = 32767
NOWHERE = -1

# Sets of board values are bit masks
ITEMS = 1 << st.EXTRA_BOMB | 1 << st.INCR_RANGE | 1 << st.KICK
WALKABLE = 1 << st.PASSAGE | ITEMS | 1 << st.AGENT | 1 << st.AGENT + 1 | 1 << st.AGENT + 2 | 1 << st.AGENT + 3
HIDDEN = 1 << st.FOG | 1 << st.RIGID | 1 << st.FLAMES  # values that the search does not visit
WOODEN = 1 << st.WOOD

# The memory of an agent: its last direction towards an enemy (STOP: none), and the cells that it wandered through
PREVIOUS, NEXT_SLOT, RECENT = range(3)
RECENT_CELLS = 6
MEMORY = RECENT + RECENT_CELLS

# The scratch row: dangers first, then for each cell distance, parent, queue, and bombs with row, column and strength
DANGER = 0  # (RIGHT + 1,) the strength of bombs in each direction, 0 for none
ORDER = DANGER + st.RIGHT + 1  # (RIGHT,) the dangerous directions in the order in which they were found
DISTANCE = ORDER + st.RIGHT
PER_CELL = 6
ALL_SIDES = 4


@kernel
def forget(memory):
    """Reset ``memory`` (MEMORY,) to its state before the agent's first move."""
    for k in range(MEMORY):
        memory[k] = NOWHERE
    memory[PREVIOUS], memory[NEXT_SLOT] = st.STOP, 0


def memory() -> npt.NDArray[np.int16]:
    """Return the memory (MEMORY,) of an agent before its first move."""
    fresh = np.empty(MEMORY, dtype=np.int16)
    forget(fresh)
    return fresh


def simple_scratch(size: int) -> npt.NDArray[np.int16]:
    """Return scratch space for one decision; its previous contents do not matter."""
    return np.zeros(DISTANCE + PER_CELL * size * size, dtype=np.int16)


@kernel
def simple_move(board, blast_map, own, enemies, ammo, strength, size, near, memory, work, stream):
    """Decide on one move from what the agent sees.

    ``board`` and ``blast_map`` are flat, ``own`` is the agent's cell, bit v of ``enemies`` says that board value v is
    an enemy, ``strength`` is that of the agent's bombs, ``near`` is what ``neighbours`` gives.  ``memory`` (MEMORY,)
    is changed, ``work`` comes from ``simple_scratch``, ``stream`` is one random word.
    """
    cells, row = size * size, own // size
    column = own - row * size
    passable = WALKABLE & ~enemies
    bombs = list_bombs(blast_map, work, size)
    head, tail = start(board, work, cells, own)
    reach = danger_reach(work, cells, bombs, row, column)
    if reach:
        head, tail = explore(board, work, near, size, own, passable, head, tail, reach, stream)
        found = find_hazards(work, cells, size, bombs, row, column)
        if found:
            return flee(board, work, near, cells, size, own, passable, found, stream)
    head, tail = explore(board, work, near, size, own, passable, head, tail, REACH, stream)
    move = hunt(
        board, work, near, size, own, passable, enemies, head, tail, ammo, strength, row, column, memory, stream
    )  # fmt: skip
    if move == NOWHERE:
        move = gather(board, work, near, size, own, passable, head, tail, ammo, strength, bombs, row, column, stream)
    if move == NOWHERE:
        move = wander(board, work, near, cells, bombs, own, row, column, passable, memory, stream)
    return move


@inner_kernel
def hunt(board, work, near, size, own, passable, enemies, head, tail, ammo, strength, row, column, memory, stream):
    """Apply rules 2 and 3: bomb an adjacent enemy, or approach a near one; return NOWHERE if neither applies."""
    cells = size * size
    enemy = nearest(board, work, cells, tail, enemies, ENEMY_REACH)
    if enemy == NOWHERE:
        return NOWHERE
    if enemy == own:
        return st.STOP
    if work[DISTANCE + enemy] == 1 and ammo >= 1:
        if may_bomb(board, work, near, size, own, passable, head, tail, strength, stream):
            return st.LAY
        if not lists_passage(board, size, row, column):
            return st.STOP
    direction = way(work, near, cells, own, enemy)
    if memory[PREVIOUS] == direction and not coin(stream):
        return NOWHERE
    memory[PREVIOUS] = direction
    return direction


@inner_kernel
def gather(board, work, near, size, own, passable, head, tail, ammo, strength, bombs, row, column, stream):
    """Apply rules 4 to 6: fetch an item, bomb adjacent wood, or approach wood if no bomb is in line; else NOWHERE."""
    cells = size * size
    item = nearest(board, work, cells, tail, ITEMS, ITEM_REACH)
    if item != NOWHERE:
        return way(work, near, cells, own, item)
    wood = nearest(board, work, cells, tail, WOODEN, WOOD_REACH)
    if wood == NOWHERE:
        return NOWHERE
    if work[DISTANCE + wood] <= 1:
        able = wood != own and ammo >= 1
        lay = able and may_bomb(board, work, near, size, own, passable, head, tail, strength, stream)
        return st.LAY if lay else st.STOP
    direction = way(work, near, cells, own, wood)
    if in_line(work, cells, bombs, row + down(direction), column + right(direction)):
        return NOWHERE
    return direction


@inline_kernel
def holds(values, value):
    """Return whether a set of board values contains ``value``."""
    return (values >> np.int64(value)) & 1


@inline_kernel
def coin(stream):
    """Draw a fair boolean."""
    return next_word(stream) >> np.uint64(63) != 0


@inline_kernel
def down(direction):
    """Return the number of rows that a direction leads down."""
    return np.int64(direction == st.DOWN) - np.int64(direction == st.UP)


@inline_kernel
def right(direction):
    """Return the number of columns that a direction leads to the right."""
    return np.int64(direction == st.RIGHT) - np.int64(direction == st.LEFT)


@inner_kernel
def list_bombs(blast_map, work, size):
    """List row, column and strength of every bomb in row-major order; return their number."""
    cells, bombs = size * size, 0
    rows = DISTANCE + 3 * cells
    cell = 0
    for r in range(size):
        for c in range(size):
            if blast_map[cell] > 0:
                work[rows + bombs] = r
                work[rows + cells + bombs] = c
                work[rows + 2 * cells + bombs] = np.int64(blast_map[cell])
                bombs += 1
            cell += 1
    return bombs


@linked_kernel
def start(board, work, cells, own):
    """Begin the search with the own cell at distance 0; return head and tail of the queue."""
    for cell in range(DISTANCE, DISTANCE + cells):
        work[cell] = FAR
    if holds(HIDDEN, board[own]):
        return 0, 0
    work[DISTANCE + own] = 0
    work[DISTANCE + cells + own] = NOWHERE
    work[DISTANCE + 2 * cells] = own
    return 0, 1


@inner_kernel
def explore(board, work, near, size, own, passable, head, tail, limit, stream):
    """Continue the breadth-first search until all cells within ``limit`` are found; return the new head and tail.

    Among paths of equal length, each later one replaces the former with probability 1/2.
    """
    cells = size * size
    parents, queue = DISTANCE + cells, DISTANCE + 2 * cells
    while head < tail:
        cell = work[queue + head]
        distance = work[DISTANCE + cell] + 1
        if distance > limit:
            break
        head += 1
        if not holds(passable, board[cell]):
            continue
        for direction in range(st.UP, st.RIGHT + 1):
            target = near[cell * WAYS + direction]
            if distance > work[DISTANCE + target] or holds(HIDDEN, board[target]):
                continue
            if distance < work[DISTANCE + target]:
                if distance >= DEPTH and not in_window(target, own, size):
                    continue
                work[DISTANCE + target] = distance
                work[parents + target] = cell
                work[queue + tail] = target
                tail += 1
            elif distance <= REACH and coin(stream):
                work[parents + target] = cell
    return head, tail


@linked_kernel
def in_window(cell, own, size):
    """Return whether the search covers a cell; it covers one row less below and one column less to the right."""
    rows, columns = cell // size - own // size, cell % size - own % size
    return abs(rows) + abs(columns) <= DEPTH and rows < DEPTH and columns < DEPTH


@linked_kernel
def danger_reach(work, cells, bombs, row, column):
    """Return the distance up to which bombs matter: the greatest strength of those in line and near, or 0."""
    rows = DISTANCE + 3 * cells
    columns, strengths, reach = rows + cells, rows + 2 * cells, np.int64(0)
    for k in range(bombs):
        r, c, strength = work[rows + k], work[columns + k], np.int64(work[strengths + k])
        aligned = r == row or c == column
        if aligned and strength > reach and abs(r - row) + abs(c - column) <= strength:
            reach = strength
    return reach


@inner_kernel
def find_hazards(work, cells, size, bombs, row, column):
    """Find the directions that lead towards a bomb at a distance of at most its strength; return their number."""
    rows = DISTANCE + 3 * cells
    columns, strengths = rows + cells, rows + 2 * cells
    found = 0
    for direction in range(st.UP, st.RIGHT + 1):
        work[DANGER + direction] = 0
    for k in range(bombs):
        r, c, strength = work[rows + k], work[columns + k], work[strengths + k]
        if work[DISTANCE + r * size + c] > strength:
            continue
        if r == row and c == column:
            found = add_danger(work, found, st.RIGHT, strength)
            found = add_danger(work, found, st.LEFT, strength)
            found = add_danger(work, found, st.UP, strength)
            found = add_danger(work, found, st.DOWN, strength)
        elif r == row:
            found = add_danger(work, found, st.RIGHT if column < c else st.LEFT, strength)
        elif c == column:
            found = add_danger(work, found, st.DOWN if row < r else st.UP, strength)
    return found


@linked_kernel
def add_danger(work, found, direction, strength):
    """Raise the danger in ``direction`` to at least ``strength`` and return the number of dangerous directions."""
    if work[DANGER + direction] == 0:
        work[ORDER + found] = direction
        found += 1
    work[DANGER + direction] = max(work[DANGER + direction], strength)
    return found


@inner_kernel
def flee(board, work, near, cells, size, own, passable, found, stream):
    """Apply rule 1: move away from bombs; if they are on all sides, take the first direction out of their reach."""
    if found == ALL_SIDES:
        for k in range(found):
            direction = work[ORDER + k]
            if leads_out(board, work, near, cells, size, own, passable, direction):
                return np.int64(direction)
        return st.STOP
    safe = allowed = 0
    for direction in range(st.UP, st.RIGHT + 1):
        target = near[own * WAYS + direction]
        if target == own:
            continue
        if work[DANGER + direction]:
            allowed |= 1 << direction
        elif holds(passable | 1 << st.FOG, board[target]):
            safe |= 1 << direction
    return pick(safe if safe else allowed, stream)


@inner_kernel
def leads_out(board, work, near, cells, size, own, passable, direction):
    """Return whether the next cell has a path out of its row and column, or farther than the bomb's strength."""
    first, strength = near[own * WAYS + direction], work[DANGER + direction]
    if first == own or not holds(passable, board[first]):
        return False
    seen, queue = DISTANCE + cells, DISTANCE + 2 * cells
    for cell in range(seen, seen + cells):
        work[cell] = 0
    work[seen + own] = work[seen + first] = 1  # the path may not return over the own cell
    work[queue] = first
    row, column = first // size, first % size
    head, tail = 0, 1
    while head < tail:
        cell = work[queue + head]
        head += 1
        rows, columns = abs(cell // size - row), abs(cell % size - column)
        if (rows and columns) or rows + columns > strength:
            return True
        for step in range(st.UP, st.RIGHT + 1):
            target = near[cell * WAYS + step]
            if not work[seen + target] and holds(passable, board[target]):
                work[seen + target] = 1
                work[queue + tail] = target
                tail += 1
    return False


@inner_kernel
def pick(directions, stream):
    """Return a move drawn uniformly from a set of moves; Stop if the set is empty."""
    count = 0
    for direction in range(st.STOP, st.RIGHT + 1):
        count += (directions >> direction) & 1
    left = below(stream, count) if count > 1 else 0
    for direction in range(st.STOP, st.RIGHT + 1):
        if (directions >> direction) & 1:
            if left == 0:
                return direction
            left -= 1
    return st.STOP


@inner_kernel
def nearest(board, work, cells, tail, values, reach):
    """Return the nearest cell found with one of these values; ties go to the greatest value, then to the last cell."""
    queue = DISTANCE + 2 * cells
    found, best = np.int64(NOWHERE), np.int64(reach)
    for k in range(tail):
        cell = np.int64(work[queue + k])
        distance = work[DISTANCE + cell]
        if distance > best:
            break
        if holds(values, board[cell]) and (
            found == NOWHERE or board[cell] > board[found] or (board[cell] == board[found] and cell > found)
        ):
            found, best = cell, np.int64(distance)
    return found


@inner_kernel
def way(work, near, cells, own, target):
    """Return the first step of the path found to a cell; Stop where there is none or the cell is the own one."""
    if target == own:
        return st.STOP
    cell = target
    while work[DISTANCE + cells + cell] != own:
        cell = work[DISTANCE + cells + cell]
    for direction in range(st.UP, st.RIGHT + 1):
        if near[own * WAYS + direction] == cell:
            return direction
    return st.STOP


@linked_kernel
def may_bomb(board, work, near, size, own, passable, head, tail, strength, stream):
    """Return whether the agent can reach a passage that its own bomb would not, being too far away or not in line."""
    if has_refuge(board, work, size, own, 0, tail, strength):
        return True
    known = tail
    head, tail = explore(board, work, near, size, own, passable, head, tail, FAR, stream)
    return has_refuge(board, work, size, own, known, tail, strength)


@inner_kernel
def has_refuge(board, work, size, own, begin, end, strength):
    """Return whether one of the found cells from ``begin`` to before ``end`` is such a passage."""
    queue, first = DISTANCE + 2 * size * size, own // size * size
    for k in range(begin, end):
        cell = work[queue + k]
        if board[cell] == st.PASSAGE:
            if work[DISTANCE + cell] > strength:
                return True
            in_row = first <= cell < first + size
            if not in_row and (cell - own) % size != 0:
                return True
    return False


@linked_kernel
def lists_passage(board, size, row, column):
    """Return whether the window of the search contains a passage, reachable or not."""
    for r in range(max(0, row - DEPTH), min(size, row + DEPTH)):
        for c in range(max(0, column - DEPTH), min(size, column + DEPTH)):
            if board[r * size + c] == st.PASSAGE and abs(r - row) + abs(c - column) <= DEPTH:
                return True
    return False


@linked_kernel
def in_line(work, cells, bombs, row, column):
    """Return whether a bomb is in this row or column at a distance of at most its strength; walls are ignored."""
    rows = DISTANCE + 3 * cells
    columns, strengths = rows + cells, rows + 2 * cells
    for k in range(bombs):
        r, c, strength = work[rows + k], work[columns + k], work[strengths + k]
        if (r == row and abs(c - column) <= strength) or (c == column and abs(r - row) <= strength):
            return True
    return False


@inner_kernel
def wander(board, work, near, cells, bombs, own, row, column, passable, memory, stream):
    """Apply rules 7 and 8: move to a safe cell, preferably one not visited of late, and preferably not staying."""
    safe = fresh = 0
    for direction in range(st.STOP, st.RIGHT + 1):
        target = near[own * WAYS + direction]
        if (target == own and direction != st.STOP) or not holds(passable, board[target]):
            continue
        if in_line(work, cells, bombs, row + down(direction), column + right(direction)):
            continue
        safe |= 1 << direction
        if not remembers(memory, target):
            fresh |= 1 << direction
    memory[RECENT + memory[NEXT_SLOT]] = own
    memory[NEXT_SLOT] = 0 if memory[NEXT_SLOT] == RECENT_CELLS - 1 else memory[NEXT_SLOT] + 1
    directions = fresh if fresh else safe
    moving = directions & ~(1 << st.STOP)
    return pick(moving if moving else directions, stream)


@inline_kernel
def remembers(memory, cell):
    """Return whether ``cell`` is among the agent's recent cells."""
    found = False
    for k in range(RECENT, RECENT + RECENT_CELLS):
        found |= memory[k] == cell
    return found


class SimpleAgent:
    """The reference's SimpleAgent on the reference's observations.

    ``seed`` fixes its random choices.  Call ``begin`` before every game: the reference carries its memory from one game
    to the next.
    """

    def __init__(self, seed: int = 0) -> None:
        self.stream = streams(seed, 1)
        self.memory = memory()

    def begin(self) -> None:
        """Forget the previous game."""
        self.memory = memory()

    def act(self, observation: dict[str, Any], action_space: object = None) -> int:
        """Return a move, 0 to 5; ``action_space`` is accepted because the reference's environments pass it."""
        del action_space
        board = np.asarray(observation["board"])
        size = len(board)
        row, column = observation["position"]
        return int(
            simple_move(
                np.ascontiguousarray(board, dtype=np.int16).ravel(),
                np.ascontiguousarray(observation["bomb_blast_strength"], dtype=np.int16).ravel(),
                int(row) * size + int(column),
                enemy_mask(observation["enemies"]),
                int(observation["ammo"]),
                int(observation["blast_strength"]),
                size,
                neighbours(size),
                self.memory,
                simple_scratch(size),
                self.stream,
            )
        )


def enemy_mask(enemies: Any) -> int:
    """Return enemies, given by their board values, as a bit mask."""
    mask = 0
    for enemy in enemies:
        mask |= 1 << int(enemy)
    return mask
