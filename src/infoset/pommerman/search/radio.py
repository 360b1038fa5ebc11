"""Two words a step on the radio: what an agent means to do next, and where it sees enemies.

The first word is the agent's next action but one, 1 to 6 as the rules number them from 0: what its plan says after the
action that it takes now.  The second spells out where the two enemies are, a coordinate a step, over four steps; on a
board of 11 rows a word stands for one or two of them.  0 is silence: nobody in view.

Whoever hears it puts the action into its own plans (``Belief.coming``), and the enemies among those that it has seen.
A teammate is believed as long as what it says comes true; one that speaks otherwise, or not at all, changes nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.pommerman import state as st
from infoset.pommerman.config import MAX_AGENTS, Config
from infoset.pommerman.engine import Engine
from infoset.pommerman.rules import WAYS
from infoset.pommerman.search.belief import SEEN_CELL, SEEN_STEP, Belief, Seat

SILENCE = 0
ENEMIES, AXES = 2, 2
CYCLE = ENEMIES * AXES  # steps in which both enemies are told of
BELIEVED = 0.5  # from this credit on
LATE = 2  # steps from where an enemy was to when that was spelt
PATIENCE = 0.9  # how much of its credit a teammate keeps with every step


class Claim(NamedTuple):
    """That the teammate, who is at a cell at a step, takes an action."""

    step: int
    cell: int
    move: int


class Radio:
    """What one agent says and hears in a game of teams."""

    def __init__(self, seat: Seat, rules: Config, engine: Engine) -> None:
        self.size, self.vocabulary, self.engine = rules.size, rules.vocabulary, engine
        self.mate = next(k for k in range(MAX_AGENTS) if seat.mate >> k & 1)
        self.enemies = [k for k in range(MAX_AGENTS) if seat.enemies >> k & 1]
        self.credit = BELIEVED
        self.told: int | None = None  # the cell that is being spelt
        self.heard = SILENCE  # its row
        self.claim: Claim | None = None

    def words(self, belief: Belief, move: int) -> tuple[int, int]:
        """What to say with an action after which ``move`` is meant to come."""
        enemy, axis = self._turn(int(belief.guess[st.STEP]))
        if axis == 0:
            self.told = int(belief.guess[_agent(enemy) + st.CELL]) if belief.guess[_agent(enemy) + st.ALIVE] else None
        second = SILENCE if self.told is None else 1 + divmod(self.told, self.size)[axis] * self.vocabulary // self.size
        return 1 + move, second

    def hear(self, belief: Belief, message: tuple[int, ...]) -> None:
        """Take in what the teammate said a step ago; what it does next goes to ``belief.coming``."""
        now, guess = int(belief.guess[st.STEP]), belief.guess
        there = int(guess[_agent(self.mate) + st.CELL]) if guess[_agent(self.mate) + st.ALIVE] else None
        self._settle(now, there)
        belief.coming[self.mate] = st.STOP
        first, second = message if len(message) == st.WORDS else (SILENCE, SILENCE)
        if there is not None and 1 <= first <= 1 + st.LAY:
            self.claim = Claim(now, there, first - 1)
            if self.credit >= BELIEVED:
                belief.coming[self.mate] = first - 1
        enemy, axis = self._turn(now - 1)
        if axis == 0:
            self.heard = second
        elif SILENCE not in (self.heard, second) and self.credit >= BELIEVED:
            self._place(belief, enemy, second, now)

    def _turn(self, step: int) -> tuple[int, int]:
        """Who is told of at a step, and whether its row or its column is."""
        return self.enemies[step % CYCLE // AXES], step % AXES

    def _settle(self, now: int, there: int | None) -> None:
        """Whether what the teammate meant to do came true, where that was seen."""
        claim, self.claim = self.claim, None
        if claim is None or there is None or claim.step != now - 1:
            return
        meant = claim.cell if claim.move in (st.STOP, st.LAY) else int(self.engine.near[claim.cell * WAYS + claim.move])
        self.credit = PATIENCE * self.credit + (1 - PATIENCE) * (there == meant)

    def _place(self, belief: Belief, enemy: int, second: int, now: int) -> None:
        """An enemy was in the heard row and column when its row was said: two steps ago."""
        cells = np.arange(self.size)
        rows, columns = ((1 + cells * self.vocabulary // self.size) == word for word in (self.heard, second))
        seen = now - LATE
        if belief.guess[_agent(enemy) + st.ALIVE] or belief.notes[SEEN_STEP + enemy] >= seen:
            return  # it knows better itself
        there = np.where(rows, _bits(columns), np.uint32(0)).astype(np.uint32)
        around = there.copy()
        for _ in range(LATE):
            around = _spread(around, self.size)
        if (belief.possible[enemy] & around).any():
            belief.possible[enemy] &= around
            belief.notes[SEEN_STEP + enemy] = seen
            belief.notes[SEEN_CELL + enemy] = int(np.median(cells[rows])) * self.size + int(np.median(cells[columns]))
        else:  # that cannot be
            self.credit *= PATIENCE


def _bits(flags: npt.NDArray[np.bool_]) -> np.uint32:
    """A row of cells as the sets of ``cellsets`` have it."""
    return np.uint32(sum(1 << int(k) for k in np.flatnonzero(flags)))


def _spread(cells: npt.NDArray[np.uint32], size: int) -> npt.NDArray[np.uint32]:
    """Those cells and their neighbours."""
    found = cells | (cells << np.uint32(1)) | (cells >> np.uint32(1))
    found[1:] |= cells[:-1]
    found[:-1] |= cells[1:]
    return np.asarray(found & np.uint32((1 << size) - 1))


def _agent(k: int) -> int:
    """Where an agent stands in a position."""
    return st.AGENTS + k * st.AGENT_FIELDS
