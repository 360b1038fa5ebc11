"""An agent's belief: the conclusions from all its observations so far.

``guess`` is a position as the rules have it: cells in view as they are, the rest as last seen and advanced by the
rules, without agents that are out of view, and with wood where nothing is known.  ``possible`` holds, for each agent,
all cells on which it can be, ``rigid`` the certain walls and ``at_least`` an agent's certain equipment: these are never
wrong.

Boards are symmetric about the main diagonal when a game begins.  This, and where the agents start with which equipment,
is assumed only if the first observation shows an initial position; nothing is assumed of a position loaded in mid-game.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.jit import inline_kernel, inner_kernel, kernel, linked_kernel
from infoset_pommerman import state as st
from infoset_pommerman.config import FULL_BLAST, MAX_AGENTS, MAX_BOMBS, Config
from infoset_pommerman.engine import (
    BLAST_CAP,
    FLAME_LIFE_AT_START,
    FUSE,
    NUM_AGENTS,
    SIZE,
    START_AMMO,
    START_BLAST,
    START_KICK,
    close_in,
    limits_of,
)
from infoset_pommerman.rules import NOBODY, WAYS, scratch, step
from infoset_pommerman.search.cellsets import add, clear

NEVER = -1

# The notes: the step of the last look, whether the game was seen from its start, the step from which on there may be
# explosions out of view, the step and cell at which each agent was last seen, then for each cell when it was last seen
LAST_LOOK, DEALT, FIRST_FIRE = range(3)
SEEN_STEP = FIRST_FIRE + 1
SEEN_CELL = SEEN_STEP + MAX_AGENTS
LOOKED = SEEN_CELL + MAX_AGENTS

OWN_AMMO, OWN_BLAST, OWN_KICK, OWN_CELL, NOW, LIVING, SELF_FIELDS = range(7)

FOUND = -1  # replaces the cell of an expected bomb that was found in view

SURE_BLAST, SURE_KICK = range(2)


class Belief(NamedTuple):
    """A belief and the working memory to revise it."""

    guess: st.Row  # (row,) a position
    possible: npt.NDArray[np.uint32]  # (agents, size) a set of cells for each agent
    at_least: npt.NDArray[np.int16]  # (agents, 2) blast strength, and whether it can kick
    notes: npt.NDArray[np.int16]
    rigid: npt.NDArray[np.uint32]  # (size,) cells that are walls for certain
    shut: npt.NDArray[np.int16]  # (cells,) last step at which wood or fire keeps the cell from holding a living agent
    rolled: npt.NDArray[np.int16]  # (cells,) direction of the bomb when the cell was last seen, NEVER without a bomb
    closed: npt.NDArray[np.uint32]  # (size,) scratch: cells that nobody can enter now
    before: npt.NDArray[np.int16]  # (MAX_BOMBS * BOMB_FIELDS,) scratch: bombs as they were expected
    work: npt.NDArray[np.int16]  # scratch of the rules
    idle: npt.NDArray[np.int16]  # (agents,) Stop for everyone
    coming: npt.NDArray[np.int16]  # (agents,) the others' next moves, as far as they are known; STOP by default
    silence: npt.NDArray[np.int16]  # (agents, WORDS)


class Seat(NamedTuple):
    """The agent's own index and the others; ``enemies`` and ``mate`` have bit k for agent k."""

    me: int
    enemies: int
    mate: int


def empty_belief(config: Config) -> Belief:
    """Return the belief of an agent that has seen nothing yet."""
    size = config.size
    cells = size * size
    return Belief(
        st.empty_rows(1, config)[0], np.zeros((MAX_AGENTS, size), dtype=np.uint32),
        np.zeros((MAX_AGENTS, 2), dtype=np.int16), np.full(LOOKED + cells, NEVER, dtype=np.int16),
        np.zeros(size, dtype=np.uint32), np.full(cells, NEVER, dtype=np.int16), np.full(cells, NEVER, dtype=np.int16),
        np.zeros(size, dtype=np.uint32), np.zeros(MAX_BOMBS * st.BOMB_FIELDS, dtype=np.int16), scratch(size),
        np.full(MAX_AGENTS, st.STOP, dtype=np.int16), np.full(MAX_AGENTS, st.STOP, dtype=np.int16),
        np.zeros((MAX_AGENTS, st.WORDS), dtype=np.int16),
    )  # fmt: skip


@kernel
def revise(b, me, planes, own, engine, view):
    """Revise the belief with what agent ``me`` sees at a step.

    ``planes`` (5, cells) are as ``see`` draws them; ``own`` (SELF_FIELDS,) holds its ammo, blast strength, kick and
    cell, the step, and bit k for each agent k that is alive.

    Step 0, or a step that is not later than the last, begins a new game.
    """
    size, now = engine.settings[SIZE], own[NOW]
    if now == 0 or b.notes[LAST_LOOK] == NEVER or now <= b.notes[LAST_LOOK]:
        start(b, engine.settings, now)
        if dealt(me, planes, own, engine, size):
            trust(b, engine.settings, engine.starts)
    while b.guess[st.STEP] < now:
        expect(b, engine, size)
    look(b, me, planes, own, size, view, engine)
    b.notes[LAST_LOOK] = now


@inner_kernel
def start(b, settings, now):
    """Reset the belief to knowing nothing."""
    size = settings[SIZE]
    cells = size * size
    for k in range(len(b.guess)):
        b.guess[k] = 0
    for k in range(len(b.notes)):
        b.notes[k] = NEVER
    clear(b.rigid, size)
    for cell in range(cells):
        b.guess[st.BOARD + cell] = st.WOOD
        b.shut[cell] = b.rolled[cell] = NEVER
    for k in range(MAX_AGENTS):
        clear(b.possible[k], size)
        for r in range(size if k < settings[NUM_AGENTS] else 0):
            b.possible[k, r] = np.uint32((1 << size) - 1)
        agent = st.AGENTS + k * st.AGENT_FIELDS
        b.guess[agent + st.AMMO], b.guess[agent + st.BLAST] = settings[START_AMMO], settings[START_BLAST]
        b.guess[agent + st.CAN_KICK] = settings[START_KICK]
        b.at_least[k, SURE_BLAST], b.at_least[k, SURE_KICK] = 0, 0
    b.notes[DEALT], b.notes[FIRST_FIRE] = 0, now
    b.guess[st.STEP] = now


@inner_kernel
def dealt(me, planes, own, engine, size):
    """Return whether the view is consistent with the start of a game.

    Every agent in view must be in its corner, the agent itself with its initial equipment, walls mirrored, and nothing
    else on the board.
    """
    settings = engine.settings
    same = own[NOW] == 0 and own[OWN_CELL] == engine.starts[me] and own[LIVING] == (1 << settings[NUM_AGENTS]) - 1
    same &= own[OWN_AMMO] == settings[START_AMMO] and own[OWN_BLAST] == settings[START_BLAST]
    same &= own[OWN_KICK] == settings[START_KICK]
    for cell in range(size * size):
        value, other = planes[0, cell], planes[0, mirrored(cell, size)]
        if value >= st.AGENT:
            same &= engine.starts[value - st.AGENT] == cell
        elif value != st.FOG:
            same &= value <= st.WOOD and (other == value or other >= st.FOG)
        same &= planes[1, cell] == 0 and planes[2, cell] == 0 and planes[4, cell] == 0
    return same


@inline_kernel
def mirrored(cell, size):
    """Return the image of a cell in the main diagonal."""
    return cell % size * size + cell // size


@linked_kernel
def trust(b, settings, starts):
    """Take over what is known about a game at its start."""
    size = settings[SIZE]
    for k in range(settings[NUM_AGENTS]):
        clear(b.possible[k], size)
        add(b.possible[k], starts[k], size)
        b.notes[SEEN_STEP + k], b.notes[SEEN_CELL + k] = 0, starts[k]
        b.at_least[k, SURE_BLAST] = min(settings[START_BLAST], settings[BLAST_CAP])  # an item lowers more to this
        b.at_least[k, SURE_KICK] = settings[START_KICK]
    b.notes[DEALT], b.notes[FIRST_FIRE] = 1, settings[FUSE] + 1


@inner_kernel
def expect(b, engine, size):
    """Advance the belief by one step of the rules in which agents in ``guess`` stand still and hidden ones may move."""
    settings = engine.settings
    if len(engine.collapses):
        close_in(b.guess, settings, engine.collapses)
        for ring in range(len(engine.collapses)):
            if b.guess[st.STEP] == engine.collapses[ring]:
                for cell in range(size * size):
                    if b.guess[st.BOARD + cell] == st.RIGID:
                        add(b.rigid, cell, size)
    spread(b, size)
    step(b.guess, b.work, engine.near, size, b.idle, b.silence, limits_of(settings))


@inline_kernel
def spread(b, size):
    """Let agents out of view take a step, but not into certain walls or fire."""
    cell, later = 0, b.guess[st.STEP] + 1
    for r in range(size):
        word = np.uint32(0)
        for c in range(size):
            word |= np.uint32(b.shut[cell] >= later) << np.uint32(c)
            cell += 1
        b.closed[r] = b.rigid[r] | word
    for k in range(MAX_AGENTS):
        for r in range(size):
            b.possible[k, r] &= ~b.rigid[r]  # an agent that stood there when walls closed in is dead
        above = np.uint32(0)
        for r in range(size):
            here = b.possible[k, r]
            word = here | (here << np.uint32(1)) | (here >> np.uint32(1)) | above
            if r + 1 < size:
                word |= b.possible[k, r + 1]
            above = here
            b.possible[k, r] = word & ~b.closed[r] & np.uint32((1 << size) - 1)


@inner_kernel
def look(b, me, planes, own, size, view, engine):
    """Replace what was expected in view by what is seen."""
    now, settings = own[NOW], engine.settings
    hide_agents(b, own, size, view)
    watch_agents(b, planes, now, size, settings)
    watch_bombs(b, me, planes, now, size, settings)
    watch_kicks(b, planes, now, size, engine.near)
    watch_flames(b, planes, size)
    agent = st.AGENTS + me * st.AGENT_FIELDS
    b.guess[agent + st.AMMO], b.guess[agent + st.BLAST] = own[OWN_AMMO], own[OWN_BLAST]
    b.guess[agent + st.CAN_KICK] = own[OWN_KICK]
    draw(b, planes, now, size, settings[FLAME_LIFE_AT_START])
    redraw_bombs(b.guess, planes)


@inner_kernel
def draw(b, planes, now, size, flame_life):
    """Take over the board in view, and draw conclusions about the rest."""
    guess, shut, rolled, first_fire = b.guess, b.shut, b.rolled, b.notes[FIRST_FIRE]
    cells = size * size
    for cell in range(cells):
        value, burns = planes[0, cell], planes[4, cell]
        if value == st.FOG:
            if guess[st.BOARD + cell] >= st.AGENT:
                guess[st.BOARD + cell] = st.PASSAGE
            continue
        guess[st.BOARD + cell], guess[st.BOARD + cells + cell] = value, st.PASSAGE
        shut[cell] = max(now + 1, first_fire) + flame_life if value == st.WOOD else now + burns - 1 if burns else NEVER
        rolled[cell] = planes[3, cell] if is_bomb(value, planes[1, cell], planes[2, cell]) else NEVER
        if value == st.RIGID:
            add(b.rigid, cell, size)
        b.notes[LOOKED + cell] = now
    if b.notes[DEALT]:
        mirror(b, planes, now, size, flame_life)


@inner_kernel
def mirror(b, planes, now, size, flame_life):
    """Draw conclusions about never seen cells from their mirror images in view: certain walls, and likely passages."""
    for r in range(size):
        for c in range(size):
            value, image = planes[0, r * size + c], c * size + r
            if value == st.FOG or b.notes[LOOKED + image] != NEVER:
                continue
            if value == st.WOOD:
                b.shut[image] = b.notes[FIRST_FIRE] + flame_life
            elif value == st.RIGID:
                b.guess[st.BOARD + image] = st.RIGID
                b.rigid[c] |= np.uint32(1) << np.uint32(r)
            elif (now == 0 or value == st.PASSAGE) and b.guess[st.BOARD + image] == st.WOOD:
                b.guess[st.BOARD + image] = st.PASSAGE


@inline_kernel
def is_bomb(value, strength, life):
    """Return whether a bomb is in view, also one under an agent, or a loaded one without strength or life."""
    return (value == st.BOMB) | (strength != 0) | (life != 0)


@inline_kernel
def redraw_bombs(guess, planes):
    """Draw the bombs of ``guess`` on those of its cells that the fog hides."""
    for k in range(guess[st.NUM_BOMBS]):
        cell = guess[st.BOMBS + k * st.BOMB_FIELDS + st.BOMB_CELL]
        if planes[0, cell] == st.FOG and guess[st.BOARD + cell] != st.FLAMES:
            guess[st.BOARD + cell] = st.BOMB


@inline_kernel
def hide_agents(b, own, size, view):
    """Remove agents from the cells in view until they are seen there, and dead agents from everywhere."""
    row, column = own[OWN_CELL] // size, own[OWN_CELL] % size
    left, right = max(column - view, 0), min(column + view + 1, size)
    hidden = ~np.uint32((1 << right) - (1 << left))
    for k in range(MAX_AGENTS):
        b.guess[st.AGENTS + k * st.AGENT_FIELDS + st.ALIVE] = 0
        if not own[LIVING] >> k & 1:
            clear(b.possible[k], size)
        for r in range(max(row - view, 0), min(row + view + 1, size)):
            b.possible[k, r] &= hidden


@inner_kernel
def watch_agents(b, planes, now, size, settings):
    """Enter the agents in view, and the items that they have taken."""
    guess = b.guess
    for cell in range(size * size):
        if planes[0, cell] >= st.AGENT:
            k = planes[0, cell] - st.AGENT
            agent = st.AGENTS + k * st.AGENT_FIELDS
            if now > 0:
                take_item(guess, b.at_least, k, guess[st.BOARD + cell], looked_before(b, cell, now), settings)
            guess[agent + st.ALIVE], guess[agent + st.CELL] = 1, cell
            clear(b.possible[k], size)
            add(b.possible[k], cell, size)
            b.notes[SEEN_STEP + k], b.notes[SEEN_CELL + k] = now, cell


@inline_kernel
def looked_before(b, cell, now):
    """Return whether a cell was in view one step ago."""
    return now > 0 and b.notes[LOOKED + cell] == now - 1


@inline_kernel
def take_item(guess, at_least, k, item, sure, settings):
    """Give an agent the item of the cell where it stands; for ``sure`` if that cell was in view one step ago."""
    agent = st.AGENTS + k * st.AGENT_FIELDS
    if item == st.EXTRA_BOMB:
        guess[agent + st.AMMO] = min(guess[agent + st.AMMO] + 1, FULL_BLAST)
    elif item == st.INCR_RANGE:
        guess[agent + st.BLAST] = min(guess[agent + st.BLAST] + 1, settings[BLAST_CAP])
        if sure:
            at_least[k, SURE_BLAST] = min(at_least[k, SURE_BLAST] + 1, settings[BLAST_CAP])
    elif item == st.KICK:
        guess[agent + st.CAN_KICK] = 1
        at_least[k, SURE_KICK] |= sure


@inner_kernel
def watch_bombs(b, me, planes, now, size, settings):
    """Enter the bombs in view, with their expected owners; then keep those that are expected out of view."""
    guess = b.guess
    expected = guess[st.NUM_BOMBS]
    for k in range(expected * st.BOMB_FIELDS):
        b.before[k] = guess[st.BOMBS + k]
    left = 0
    for cell in range(size * size):
        if is_bomb(planes[0, cell], planes[1, cell], planes[2, cell]):
            bomb = st.BOMBS + left * st.BOMB_FIELDS
            guess[bomb + st.BOMB_CELL], guess[bomb + st.STRENGTH] = cell, planes[1, cell]
            guess[bomb + st.LIFE], guess[bomb + st.DIRECTION] = planes[2, cell], planes[3, cell]
            guess[bomb + st.OWNER] = owner_of(b, me, expected, planes, cell, now, size, settings)
            left += 1
    for k in range(expected):
        at = k * st.BOMB_FIELDS
        if b.before[at] != FOUND and planes[0, b.before[at]] == st.FOG and left < MAX_BOMBS:
            for f in range(st.BOMB_FIELDS):
                guess[st.BOMBS + left * st.BOMB_FIELDS + f] = b.before[at + f]
            left += 1
    for k in range(st.BOMBS + left * st.BOMB_FIELDS, st.BOMBS + expected * st.BOMB_FIELDS):
        guess[k] = 0
    guess[st.NUM_BOMBS] = left


@inner_kernel
def owner_of(b, me, expected, planes, cell, now, size, settings):
    """Return the owner of the bomb seen at a cell, or NOBODY, and note what the bomb reveals about it."""
    life, strength = planes[2, cell], planes[1, cell]
    for k in range(expected):  # at its expected cell
        at = k * st.BOMB_FIELDS
        if b.before[at + st.BOMB_CELL] == cell and b.before[at + st.LIFE] == life:
            b.before[at + st.BOMB_CELL] = FOUND
            return b.before[at + st.OWNER]
    new = looked_before(b, cell, now) and b.rolled[cell] == NEVER
    if life == settings[FUSE] and planes[0, cell] >= st.AGENT:
        k = planes[0, cell] - st.AGENT
        note_bomb(b, k, strength)
        if new or b.notes[DEALT]:  # otherwise it may be a loaded bomb, which may have any life
            b.at_least[k, SURE_BLAST] = max(b.at_least[k, SURE_BLAST], min(strength, settings[BLAST_CAP]))
        return k
    for k in range(expected):  # at another cell: it was kicked, or stopped
        at = k * st.BOMB_FIELDS
        was = b.before[at + st.BOMB_CELL]
        same = b.before[at + st.LIFE] == life and b.before[at + st.STRENGTH] == strength
        if was != FOUND and same and planes[2, was] != life and distance(was, cell, size) <= 2:
            b.before[at + st.BOMB_CELL] = FOUND
            return b.before[at + st.OWNER]
    k = who_laid(b, me, cell, settings[FUSE] - life, now, size)
    if k != NOBODY:
        note_bomb(b, k, strength)
    return k


@inline_kernel
def note_bomb(b, k, strength):
    """Note that agent ``k`` has laid a bomb of that strength."""
    agent = st.AGENTS + k * st.AGENT_FIELDS
    b.guess[agent + st.BLAST] = strength
    b.guess[agent + st.AMMO] = max(b.guess[agent + st.AMMO] - 1, 0)


@inline_kernel
def distance(one, other, size):
    """Return the Manhattan distance of two cells."""
    return abs(one // size - other // size) + abs(one % size - other % size)


@linked_kernel
def who_laid(b, me, cell, age, now, size):
    """Return the agent that most likely laid a bomb ``age`` steps ago, or NOBODY.

    It is the one that was seen nearest to the cell and had the time to get there.
    """
    best, found = size * size, NOBODY
    for k in range(MAX_AGENTS):
        if k == me or b.notes[SEEN_STEP + k] == NEVER:
            continue
        away = distance(b.notes[SEEN_CELL + k], cell, size)
        if away <= abs(now - age - b.notes[SEEN_STEP + k]) and away < best:
            best, found = away, k
    return found


@inner_kernel
def watch_kicks(b, planes, now, size, near):
    """Note that an agent behind a bomb that begins to roll can kick, unless it was already rolling that way."""
    for cell in range(size * size):
        direction = planes[3, cell]
        if direction == st.STOP:
            continue
        back = near[cell * WAYS + opposite(direction)]
        if planes[0, back] >= st.AGENT and back != cell and b.rolled[back] != direction:
            k = planes[0, back] - st.AGENT
            b.guess[st.AGENTS + k * st.AGENT_FIELDS + st.CAN_KICK] = 1
            b.at_least[k, SURE_KICK] |= looked_before(b, back, now)


@inline_kernel
def opposite(direction):
    """Return the opposite direction; up and down are 1 and 2, left and right 3 and 4."""
    return ((direction - 1) ^ 1) + 1


@inner_kernel
def watch_flames(b, planes, size):
    """Replace the flames expected in view by those seen."""
    guess, first = b.guess, st.flames_at(size)
    left, end = first, first + guess[st.NUM_FLAMES] * st.FLAME_FIELDS
    for flame in range(first, end, st.FLAME_FIELDS):
        if planes[0, guess[flame + st.FLAME_CELL]] == st.FOG:
            guess[left + st.FLAME_CELL], guess[left + st.FLAME_LIFE] = (
                guess[flame + st.FLAME_CELL],
                guess[flame + st.FLAME_LIFE],
            )
            left += st.FLAME_FIELDS
    for cell in range(size * size):
        if planes[4, cell] > 0 and left + st.FLAME_FIELDS <= len(guess):
            guess[left + st.FLAME_CELL], guess[left + st.FLAME_LIFE] = cell, planes[4, cell] - 1
            left += st.FLAME_FIELDS
    for k in range(left, end):
        guess[k] = 0
    guess[st.NUM_FLAMES] = (left - first) // st.FLAME_FIELDS
