"""Goals of an agent where no other one matters: items, wood, cells not seen for long, and enemies.

Every goal has a value at its cell; a cell's value is that of the best goal, discounted by the distance to it.
"""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from infoset.base import FloatArray
from infoset.errors import ParameterError
from infoset.jit import inline_kernel, inner_kernel, linked_kernel
from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS
from infoset_pommerman.rules import WAYS
from infoset_pommerman.search.belief import LOOKED, NEVER, SEEN_CELL, SEEN_STEP

DISCOUNT = 0.9
SWEEPS = 6
HIGHEST = 1e9
POSITIVE = ("threshold", "floor", "look_age")  # fields that are divisors or of which the logarithm is taken


@dataclass(frozen=True)
class GoalParameters:
    """The values of goals for an agent, and how it tires of repeating moves.

    Subclasses add further parameters.
    """

    item: float = 1.0
    """Value of an item; one that is of no use has less."""
    wood: float = 0.6
    """Upper limit of the value of a cell from which wood can be burnt."""
    chase: float = 3.0
    """Value of the cell at which an enemy was just seen."""
    look: float = 0.4
    """Upper limit of the value of a cell that was not seen for long."""
    look_age: float = 50.0
    """After how many steps that limit is reached."""
    chase_age: float = 25.0
    """For how many steps a cell has a value because an enemy was seen there."""
    tired: float = 0.3
    """Penalty of a move for each time that it was made in the very same situation."""
    most_tired: float = 1.0
    """Upper limit of that penalty."""

    def __post_init__(self) -> None:
        check_weights(self)

    def settings(self) -> FloatArray:
        """Return the parameters as the kernels read them."""
        return settings_of(self)


class GoalWeights(NamedTuple):
    """The values of goals as the kernels read them."""

    item: float
    wood: float
    chase: float
    look: float
    look_age: float
    chase_age: float


def places_of(parameters: type[Any]) -> Any:
    """Return the index of each parameter in the array of ``settings``, by name."""
    names = [field.name for field in fields(parameters)]
    return namedtuple(f"{parameters.__name__}Places", names)(*range(len(names)))


def settings_of(parameters: Any) -> FloatArray:
    """Return an agent's parameters as one array."""
    return np.array(list(vars(parameters).values()), dtype=np.float64)


AT = places_of(GoalParameters)


def check_weights(parameters: Any) -> None:
    """Raise ``ParameterError`` for a field without a sensible value: below its lowest one, infinite, not a number."""
    for field in fields(parameters):
        value = getattr(parameters, field.name)
        lowest = 1e-9 if field.name in POSITIVE else 0.0
        if value is not None and not lowest <= value <= HIGHEST:
            raise ParameterError(f"{field.name}={value} is out of range; allowed: {lowest:g} to {HIGHEST:g}")


@inline_kernel
def blocked(value):
    """Return whether a cell that shows this value cannot be entered."""
    return (value == st.RIGID) | (value == st.WOOD) | (value == st.BOMB)


@inner_kernel
def wood_in_reach(board, first, near, cell, strength):
    """Return how many walls of wood a bomb at a cell burns; ``board`` begins at index ``first``."""
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
def wood_value(count, weight):
    """Return the value of burning ``count`` walls at once."""
    return weight * (1.0 - 0.5**count)


@inline_kernel
def goals_of(w):
    """Return the values of goals of an agent whose parameters begin with its ``GoalParameters``."""
    return GoalWeights(w[AT.item], w[AT.wood], w[AT.chase], w[AT.look], w[AT.look_age], w[AT.chase_age])


@inner_kernel
def appraise(goal_value, b, later, me, enemies, goals, near, size):
    """Write the value of each cell into ``goal_value`` (cells,).

    ``later`` is the position after all bombs have exploded; bit k of ``enemies`` says that agent k is one.
    """
    cells, guess, now = size * size, b.guess, b.guess[st.STEP]
    own = st.AGENTS + me * st.AGENT_FIELDS
    for cell in range(cells):
        goal_value[cell] = 0.0
        value = guess[st.BOARD + cell]
        if blocked(value):
            continue
        if (value >= st.EXTRA_BOMB) & (value <= st.KICK):
            useless = (value == st.KICK) & (guess[own + st.CAN_KICK] != 0)
            goal_value[cell] = goals.item * (0.3 if useless else 1.0)
        if guess[own + st.AMMO] > 0:
            found = wood_in_reach(later, st.BOARD, near, cell, guess[own + st.BLAST])
            goal_value[cell] = max(goal_value[cell], wood_value(found, goals.wood))
        age = now - b.notes[LOOKED + cell] if b.notes[LOOKED + cell] != NEVER else now + 20
        goal_value[cell] = max(goal_value[cell], goals.look * min(1.0, age / goals.look_age))
    for k in range(MAX_AGENTS):
        if enemies >> k & 1 and b.notes[SEEN_STEP + k] != NEVER and some_possible(b, k, size):
            age = now - b.notes[SEEN_STEP + k]
            if age <= goals.chase_age:
                cell = b.notes[SEEN_CELL + k]
                goal_value[cell] = max(goal_value[cell], goals.chase * (1.0 - age / (goals.chase_age + 1.0)))
    relax(goal_value, guess, near, cells)


@inline_kernel
def some_possible(b, k, size):
    """Return whether an agent is alive, that is, has possible cells."""
    found = False
    for r in range(size):
        found |= b.possible[k, r] != 0
    return found


@inner_kernel
def relax(goal_value, guess, near, cells):
    """Propagate the values of goals along paths, sweeping forward and backward over the board until nothing changes."""
    for sweep in range(SWEEPS):
        changed = False
        for i in range(cells):
            cell = i if sweep % 2 == 0 else cells - 1 - i
            if blocked(guess[st.BOARD + cell]):
                continue
            best = goal_value[cell]
            for direction in range(st.UP, st.RIGHT + 1):
                target = near[cell * WAYS + direction]
                if not blocked(guess[st.BOARD + target]):
                    best = max(best, DISCOUNT * goal_value[target])
            if best > goal_value[cell] + 1e-12:
                goal_value[cell] = best
                changed = True
        if not changed:
            break
