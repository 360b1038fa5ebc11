"""The reference's SimpleAgent: flee from bombs, attack, collect, open wood, wander, in this order.

The kernel decides as the reference does, quirks included, with equal probabilities.  Where the reference raises an
exception (an enemy drawn on the own cell, no passage in reach of its search) the kernel plays Stop.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from infoset.jit import inline_kernel, inner_kernel, kernel, linked_kernel
from infoset.pommerman import state as st
from infoset.pommerman.rules import WAYS, neighbours
from infoset.randomness import below, next_word, streams

DEPTH = 10  # how far the search looks: rows, columns and their sum
ENEMY_REACH, ITEM_REACH, WOOD_REACH = 3, 2, 2
REACH = 3  # the greatest of them: farther on nobody asks for the way
FAR = 32767
NOWHERE = -1

# Sets of board values are bit masks
ITEMS = 1 << st.EXTRA_BOMB | 1 << st.INCR_RANGE | 1 << st.KICK
WALKABLE = 1 << st.PASSAGE | ITEMS | 1 << st.AGENT | 1 << st.AGENT + 1 | 1 << st.AGENT + 2 | 1 << st.AGENT + 3
HIDDEN = 1 << st.FOG | 1 << st.RIGID | 1 << st.FLAMES  # what the search leaves out
WOODEN = 1 << st.WOOD

# What an agent remembers: its last direction towards an enemy (STOP: none), and the cells that it wandered through
PREVIOUS, NEXT_SLOT, RECENT = range(3)
RECENT_CELLS = 6
MEMORY = RECENT + RECENT_CELLS

# The scratch row: dangers first, then for each cell distance, parent, queue, and bombs with row, column and strength
DANGER = 0  # (RIGHT + 1,) the strength of bombs in each direction, 0 for none
ORDER = DANGER + st.RIGHT + 1  # (RIGHT,) the dangerous directions in the order found
DISTANCE = ORDER + st.RIGHT
PER_CELL = 6
ALL_SIDES = 4


@kernel
def forget(memory):
    """Leave in ``memory`` (MEMORY,) what an agent remembers before its first move."""
    for k in range(MEMORY):
        memory[k] = NOWHERE
    memory[PREVIOUS], memory[NEXT_SLOT] = st.STOP, 0


def memory() -> npt.NDArray[np.int16]:
    """(MEMORY,) what an agent remembers before its first move."""
    fresh = np.empty(MEMORY, dtype=np.int16)
    forget(fresh)
    return fresh


def simple_scratch(size: int) -> npt.NDArray[np.int16]:
    """Room for one decision to work in; what it holds before does not matter."""
    return np.zeros(DISTANCE + PER_CELL * size * size, dtype=np.int16)


@kernel
def simple_move(board, blast_map, own, enemies, ammo, strength, size, near, memory, work, stream):
    """One decision, from what the agent sees.

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
        found = find_dangers(work, cells, size, bombs, row, column)
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
    """Rules 2 and 3: bomb an enemy beside, or go to a near one; NOWHERE if neither."""
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
    """Rules 4 to 6: go to an item, bomb wood beside, or go to near wood if no bomb is in line; NOWHERE if none."""
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
    """Whether a set of board values has this one."""
    return (values >> np.int64(value)) & 1


@inline_kernel
def coin(stream):
    return next_word(stream) >> np.uint64(63) != 0


@inline_kernel
def down(direction):
    """How many rows down a direction leads."""
    return np.int64(direction == st.DOWN) - np.int64(direction == st.UP)


@inline_kernel
def right(direction):
    """How many columns to the right a direction leads."""
    return np.int64(direction == st.RIGHT) - np.int64(direction == st.LEFT)


@inner_kernel
def list_bombs(blast_map, work, size):
    """Row, column and strength of every bomb, row-major; how many there are."""
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
    """Only the own cell is found, at distance 0: head and tail of the queue."""
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
    """Go on with the breadth-first search until all cells within ``limit`` are found: the new head and tail.

    Of several ways of equal length each later one replaces the former with probability 1/2.
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
    """Whether the search covers a cell; below and to the right one row and column less."""
    rows, columns = cell // size - own // size, cell % size - own % size
    return abs(rows) + abs(columns) <= DEPTH and rows < DEPTH and columns < DEPTH


@linked_kernel
def danger_reach(work, cells, bombs, row, column):
    """How long a way to bombs matters: the greatest strength of those in line with the agent; 0 where none is near."""
    rows = DISTANCE + 3 * cells
    columns, strengths, reach = rows + cells, rows + 2 * cells, np.int64(0)
    for k in range(bombs):
        r, c, strength = work[rows + k], work[columns + k], np.int64(work[strengths + k])
        aligned = r == row or c == column
        if aligned and strength > reach and abs(r - row) + abs(c - column) <= strength:
            reach = strength
    return reach


@inner_kernel
def find_dangers(work, cells, size, bombs, row, column):
    """The directions that lead towards a bomb whose way is not longer than its strength; how many there are."""
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
    if work[DANGER + direction] == 0:
        work[ORDER + found] = direction
        found += 1
    work[DANGER + direction] = max(work[DANGER + direction], strength)
    return found


@inner_kernel
def flee(board, work, near, cells, size, own, passable, found, stream):
    """Rule 1: away from bombs; if they are on all sides, the first direction that leads out of their reach."""
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
    """Whether from the next cell one can get out of its row and column, or farther than the bomb's strength."""
    first, strength = near[own * WAYS + direction], work[DANGER + direction]
    if first == own or not holds(passable, board[first]):
        return False
    seen, queue = DISTANCE + cells, DISTANCE + 2 * cells
    for cell in range(seen, seen + cells):
        work[cell] = 0
    work[seen + own] = work[seen + first] = 1  # one does not come back over the own cell
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
    """One of a set of moves, each as likely; Stop of none."""
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
    """The nearest found cell with one of these values, of equals the greatest value, then the last cell."""
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
    """The first step of the way found to a cell; Stop where there is none, the cell being the own one."""
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
    """Whether a passage can be reached that the agent's bomb would not, by distance or not being in line."""
    if has_refuge(board, work, size, own, 0, tail, strength):
        return True
    known = tail
    head, tail = explore(board, work, near, size, own, passable, head, tail, FAR, stream)
    return has_refuge(board, work, size, own, known, tail, strength)


@inner_kernel
def has_refuge(board, work, size, own, begin, end, strength):
    """Whether one of the found cells from ``begin`` on is such a passage."""
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
    """Whether the window of the search has a passage, to be reached or not."""
    for r in range(max(0, row - DEPTH), min(size, row + DEPTH)):
        for c in range(max(0, column - DEPTH), min(size, column + DEPTH)):
            if board[r * size + c] == st.PASSAGE and abs(r - row) + abs(c - column) <= DEPTH:
                return True
    return False


@linked_kernel
def in_line(work, cells, bombs, row, column):
    """Whether a bomb is in this row or column and not farther than its strength; walls do not count."""
    rows = DISTANCE + 3 * cells
    columns, strengths = rows + cells, rows + 2 * cells
    for k in range(bombs):
        r, c, strength = work[rows + k], work[columns + k], work[strengths + k]
        if (r == row and abs(c - column) <= strength) or (c == column and abs(r - row) <= strength):
            return True
    return False


@inner_kernel
def wander(board, work, near, cells, bombs, own, row, column, passable, memory, stream):
    """Rules 7 and 8: anywhere safe, rather not where one was, and rather not staying."""
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
    found = False
    for k in range(RECENT, RECENT + RECENT_CELLS):
        found |= memory[k] == cell
    return found


class SimpleAgent:
    """The reference's SimpleAgent on the reference's observations.

    ``seed`` fixes its choices.  Call ``begin`` before every game: the reference carries its memory from one game to the
    next.
    """

    def __init__(self, seed: int = 0) -> None:
        self.stream = streams(seed, 1)
        self.memory = memory()

    def begin(self) -> None:
        """Forget the last game."""
        self.memory = memory()

    def act(self, observation: dict[str, Any], action_space: object = None) -> int:
        """A move, 0 to 5; ``action_space`` is there because the reference's environments pass it."""
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
    """Enemies, given by their board values, as bits."""
    mask = 0
    for enemy in enemies:
        mask |= 1 << int(enemy)
    return mask
