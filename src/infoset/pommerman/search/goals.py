"""What to do where no other agent matters: collect items, open wood, look where nobody looked for long, find enemies.

Every goal is worth something at its cell; a cell is worth the best of all goals, discounted by the way to it.
"""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from infoset.base import FloatArray
from infoset.errors import ParameterError
from infoset.jit import inline_kernel, inner_kernel, linked_kernel
from infoset.pommerman import state as st
from infoset.pommerman.config import MAX_AGENTS
from infoset.pommerman.rules import WAYS
from infoset.pommerman.search.belief import LOOKED, NEVER, SEEN_CELL, SEEN_STEP

DISCOUNT = 0.9
SWEEPS = 6
HIGHEST = 1e9
POSITIVE = ("threshold", "floor", "look_age")  # what is divided by, or of which a logarithm is taken


@dataclass(frozen=True)
class Wishes:
    """What goals are worth to an agent, and how it tires.  Other parameters follow in a class that extends this."""

    item: float = 1.0
    """An item; one that is no use is worth less."""
    wood: float = 0.6
    """The most that a cell is worth from which wood can be burnt."""
    chase: float = 3.0
    """The cell at which an enemy was just seen."""
    look: float = 0.4
    """The most that a cell is worth that was not looked at for long."""
    look_age: float = 50.0
    """After how many steps that is reached."""
    chase_age: float = 25.0
    """For how many steps a cell is worth something because an enemy was seen there."""
    tired: float = 0.3
    """What an action is worth less for each time that it was taken in the very same situation."""
    most_tired: float = 1.0
    """The most of that."""

    def __post_init__(self) -> None:
        check_weights(self)

    def settings(self) -> FloatArray:
        """As the kernels read them."""
        return settings_of(self)


class GoalWeights(NamedTuple):
    """What goals are worth, as kernels read it."""

    item: float
    wood: float
    chase: float
    look: float
    look_age: float
    chase_age: float


def places_of(parameters: type[Any]) -> Any:
    """Where in the array of ``settings`` each parameter stands, by its name."""
    names = [field.name for field in fields(parameters)]
    return namedtuple(f"{parameters.__name__}Places", names)(*range(len(names)))


def settings_of(parameters: Any) -> FloatArray:
    """An agent's parameters as one array."""
    return np.array(list(vars(parameters).values()), dtype=np.float64)


AT = places_of(Wishes)


def check_weights(parameters: Any) -> None:
    """Raise ``ParameterError`` for a field of which nothing sensible comes: below 0, infinite, no number."""
    for field in fields(parameters):
        value = getattr(parameters, field.name)
        lowest = 1e-9 if field.name in POSITIVE else 0.0
        if value is not None and not lowest <= value <= HIGHEST:
            raise ParameterError(f"{field.name}={value} is out of range; allowed: {lowest:g} to {HIGHEST:g}")


@inline_kernel
def blocked(value):
    """Whether nobody walks onto a cell that shows this."""
    return (value == st.RIGID) | (value == st.WOOD) | (value == st.BOMB)


@inner_kernel
def wood_in_reach(board, first, near, cell, strength):
    """How many walls of wood a bomb at a cell burns; ``board`` from ``first`` on."""
    total = 0
    for direction in range(st.UP, st.RIGHT + 1):
        at = cell
        for _ in range(strength - 1):
            target = near[at * WAYS + direction]
            if target == at or board[first + target] == st.RIGID:
                break
            at = target
            if board[first + at] == st.WOOD:
                total += 1
                break
    return total


@linked_kernel
def wood_worth(count, weight):
    """What it is worth to burn so many walls at once."""
    return weight * (1.0 - 0.5**count)


@inline_kernel
def goals_of(w):
    """What goals are worth to an agent whose parameters begin with its wishes."""
    return GoalWeights(w[AT.item], w[AT.wood], w[AT.chase], w[AT.look], w[AT.look_age], w[AT.chase_age])


@inner_kernel
def appraise(worth, b, later, me, enemies, goals, near, size):
    """Into ``worth`` (cells,): what each cell is worth.  ``later`` is the position when all bombs have gone off,
    bit k of ``enemies`` says that agent k is one.
    """
    cells, guess, now = size * size, b.guess, b.guess[st.STEP]
    own = st.AGENTS + me * st.AGENT_FIELDS
    for cell in range(cells):
        worth[cell] = 0.0
        value = guess[st.BOARD + cell]
        if blocked(value):
            continue
        if (value >= st.EXTRA_BOMB) & (value <= st.KICK):
            useless = (value == st.KICK) & (guess[own + st.CAN_KICK] != 0)
            worth[cell] = goals.item * (0.3 if useless else 1.0)
        if guess[own + st.AMMO] > 0:
            found = wood_in_reach(later, st.BOARD, near, cell, guess[own + st.BLAST])
            worth[cell] = max(worth[cell], wood_worth(found, goals.wood))
        age = now - b.notes[LOOKED + cell] if b.notes[LOOKED + cell] != NEVER else now + 20
        worth[cell] = max(worth[cell], goals.look * min(1.0, age / goals.look_age))
    for k in range(MAX_AGENTS):
        if enemies >> k & 1 and b.notes[SEEN_STEP + k] != NEVER and some_possible(b, k, size):
            age = now - b.notes[SEEN_STEP + k]
            if age <= goals.chase_age:
                cell = b.notes[SEEN_CELL + k]
                worth[cell] = max(worth[cell], goals.chase * (1.0 - age / (goals.chase_age + 1.0)))
    relax(worth, guess, near, cells)


@inline_kernel
def some_possible(b, k, size):
    """Whether an agent is alive."""
    found = False
    for r in range(size):
        found |= b.possible[k, r] != 0
    return found


@inner_kernel
def relax(worth, guess, near, cells):
    """Let goals shine along the ways, forward and backward over the board until it settles."""
    for sweep in range(SWEEPS):
        changed = False
        for i in range(cells):
            cell = i if sweep % 2 == 0 else cells - 1 - i
            if blocked(guess[st.BOARD + cell]):
                continue
            best = worth[cell]
            for direction in range(st.UP, st.RIGHT + 1):
                target = near[cell * WAYS + direction]
                if not blocked(guess[st.BOARD + target]):
                    best = max(best, DISCOUNT * worth[target])
            if best > worth[cell] + 1e-12:
                worth[cell] = best
                changed = True
        if not changed:
            break
