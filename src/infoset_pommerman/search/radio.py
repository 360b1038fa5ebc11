"""Messages by radio, two words a step: an agent's planned move, and the places where it sees enemies.

The first word is the agent's next move but one, coded 1 to 6 for the moves 0 to 5: the move that its plan has after the
one that it makes now.  The second spells the cells of the two enemies, one coordinate a step, over four steps; on a
board of 11 rows a word stands for one or two of them.  0 is silence: the enemy is out of view.

The receiver puts the move into its own plans (``Belief.coming``), and treats the enemies as seen.  A teammate is
believed while its announcements come true; one that uses other words, or none, changes nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS, Config
from infoset_pommerman.engine import Engine
from infoset_pommerman.rules import WAYS
from infoset_pommerman.search.belief import SEEN_CELL, SEEN_STEP, Belief, Seat

SILENCE = 0
ENEMIES, AXES = 2, 2
CYCLE = ENEMIES * AXES  # steps in which both enemies are reported
BELIEVED = 0.5  # least credit at which the teammate is believed
LATE = 2  # steps from the moment when the enemy was there to the moment when its cell is known
PATIENCE = 0.9  # share of its credit that a teammate keeps at every step


class Claim(NamedTuple):
    """The announcement that the teammate, who is at ``cell`` at ``step``, makes a move."""

    step: int
    cell: int
    move: int


class Radio:
    """Record what one agent sends and receives by radio in a team game."""

    def __init__(self, seat: Seat, rules: Config, engine: Engine) -> None:
        self.size, self.vocabulary, self.engine = rules.size, rules.vocabulary, engine
        self.mate = next(k for k in range(MAX_AGENTS) if seat.mate >> k & 1)
        self.enemies = [k for k in range(MAX_AGENTS) if seat.enemies >> k & 1]
        self.credit = BELIEVED
        self.sent: int | None = None  # the cell that is being sent
        self.heard = SILENCE  # the word for its row
        self.claim: Claim | None = None

    def words(self, belief: Belief, move: int) -> tuple[int, int]:
        """Return the words to send with a move after which ``move`` is planned."""
        enemy, axis = self._turn(int(belief.guess[st.STEP]))
        if axis == 0:
            self.sent = int(belief.guess[_agent(enemy) + st.CELL]) if belief.guess[_agent(enemy) + st.ALIVE] else None
        second = SILENCE if self.sent is None else 1 + divmod(self.sent, self.size)[axis] * self.vocabulary // self.size
        return 1 + move, second

    def hear(self, belief: Belief, message: tuple[int, ...]) -> None:
        """Take in what the teammate said one step ago; its next move goes to ``belief.coming``."""
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
        """Return which enemy is reported at a step, and the axis: 0 for its row, 1 for its column."""
        return self.enemies[step % CYCLE // AXES], step % AXES

    def _settle(self, now: int, there: int | None) -> None:
        """Update the teammate's credit by whether its announcement came true, where that was seen."""
        claim, self.claim = self.claim, None
        if claim is None or there is None or claim.step != now - 1:
            return
        meant = claim.cell if claim.move in (st.STOP, st.LAY) else int(self.engine.near[claim.cell * WAYS + claim.move])
        self.credit = PATIENCE * self.credit + (1 - PATIENCE) * (there == meant)

    def _place(self, belief: Belief, enemy: int, second: int, now: int) -> None:
        """Restrict the belief about an enemy to the row and column heard, where it was two steps ago."""
        cells = np.arange(self.size)
        rows, columns = ((1 + cells * self.vocabulary // self.size) == word for word in (self.heard, second))
        seen = now - LATE
        if belief.guess[_agent(enemy) + st.ALIVE] or belief.notes[SEEN_STEP + enemy] >= seen:
            return  # the agent's own observation is as recent
        there = np.where(rows, _bits(columns), np.uint32(0)).astype(np.uint32)
        around = there.copy()
        for _ in range(LATE):
            around = _spread(around, self.size)
        if (belief.possible[enemy] & around).any():
            belief.possible[enemy] &= around
            belief.notes[SEEN_STEP + enemy] = seen
            belief.notes[SEEN_CELL + enemy] = int(np.median(cells[rows])) * self.size + int(np.median(cells[columns]))
        else:  # the report contradicts the belief
            self.credit *= PATIENCE


def _bits(flags: npt.NDArray[np.bool_]) -> np.uint32:
    """Return a row of cells as one word of a set, see ``cellsets``."""
    return np.uint32(sum(1 << int(k) for k in np.flatnonzero(flags)))


def _spread(cells: npt.NDArray[np.uint32], size: int) -> npt.NDArray[np.uint32]:
    """Return the cells together with their neighbours."""
    found = cells | (cells << np.uint32(1)) | (cells >> np.uint32(1))
    found[1:] |= cells[:-1]
    found[:-1] |= cells[1:]
    return np.asarray(found & np.uint32((1 << size) - 1))


def _agent(k: int) -> int:
    """Return the index of an agent in a position."""
    return st.AGENTS + k * st.AGENT_FIELDS
