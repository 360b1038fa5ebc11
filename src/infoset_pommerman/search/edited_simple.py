"""``edited-simple``: the stock agent, improved through a number of edits.

It came second in the free-for-all of June 3rd 2018 (Resnick et al. 2018); which edits it had is not known.  The edits
here address how the stock agent loses: it forgets what went out of view, and ignores fuses and walls that stop blasts.

- It decides on its belief, not only on what is in view.
- Its move is played only if the agent can still escape afterwards, by the rules and whoever else comes near.
- Otherwise the move that leaves most ways to escape is played.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import FloatArray
from infoset.jit import inner_kernel, kernel
from infoset.names import check_range
from infoset.randomness import Words, next_word
from infoset_pommerman import state as st
from infoset_pommerman.config import Config
from infoset_pommerman.engine import SIZE, Engine
from infoset_pommerman.search.belief import Belief, Seat
from infoset_pommerman.search.dypm import NONE, Buffers, empty_buffers, judge_self, last_resort, leads_on
from infoset_pommerman.search.goals import check_weights, places_of, settings_of
from infoset_pommerman.search.maker import Maker
from infoset_pommerman.search.scenario import MAX_LENGTH, Scenario, empty_scenario, unroll
from infoset_pommerman.simple import memory, simple_move, simple_scratch
from infoset_pommerman.state import MOVES


@dataclass(frozen=True)
class EditedSimple(Maker):
    """Pommerman: the stock agent with a look at what comes of its moves."""

    name: ClassVar = "edited-simple"
    length: int = 11
    """How many steps an escape must last."""
    level: int = 3
    """Steps in which the others may get in the way."""
    memory: int = 4
    """For how many steps an agent that went out of view is taken into account."""

    def __post_init__(self) -> None:
        check_range("length", self.length, 2, MAX_LENGTH)
        check_range("level", self.level, 0, MAX_LENGTH)
        check_weights(self)

    def settings(self) -> FloatArray:
        """Return the parameters as the kernels read them."""
        return settings_of(self)

    def empty_room(self, config: Config) -> Workspace:
        cells = config.size**2
        sight = np.zeros((2, cells), dtype=np.int16)
        return Workspace(empty_scenario(config), empty_buffers(config), sight, memory(), simple_scratch(config.size))

    def move(
        self,
        b: Belief,
        room: Workspace,
        seat: Seat,
        w: FloatArray,
        engine: Engine,
        stream: Words,
        deadline: float | None,
    ) -> int:
        del deadline  # a decision takes too little time to watch the clock
        return int(edited_move(b, *room, *seat, w, engine, stream))


AT = places_of(EditedSimple)


class Workspace(NamedTuple):
    """All working memory of the agent."""

    scenario: Scenario
    buffers: Buffers
    sight: npt.NDArray[np.int16]  # (2, cells) board and strengths of bombs, as the stock agent reads them
    recent: npt.NDArray[np.int16]  # (MEMORY,) the stock agent's memory
    work: npt.NDArray[np.int16]  # its scratch


@kernel
def edited_move(b, s, d, sight, recent, work, me, enemies, mate, w, engine, stream):
    """Decide on one move.  ``enemies`` and ``mate`` have bit k for agent k."""
    wish = ask_stock(b, sight, recent, work, me, enemies, engine, stream)
    best, found = 0.0, wish
    for move in range(MOVES):
        d.own[move] = NONE
        if leads_on(b, d, me, move, engine):
            look_ahead(b, s, d, me, enemies, move, w, engine)
        score = d.own[move] + (next_word(stream) >> np.uint64(11)) * 2.0**-53
        if d.own[move] > 0.0 and move != st.LAY and score > best:
            best, found = score, move
    if d.own[wish] > 0.0:
        return wish
    if best > 0.0:
        return found
    return last_resort(b, s, d, me, np.int64(w[AT.length]), engine, stream)


@inner_kernel
def ask_stock(b, sight, recent, work, me, enemies, engine, stream):
    """Return the stock agent's move if it saw the believed position."""
    size, guess, agent = engine.settings[SIZE], b.guess, st.AGENTS + me * st.AGENT_FIELDS
    for cell in range(size * size):
        sight[0, cell], sight[1, cell] = guess[st.BOARD + cell], 0
    for bomb in range(st.BOMBS, st.BOMBS + guess[st.NUM_BOMBS] * st.BOMB_FIELDS, st.BOMB_FIELDS):
        sight[1, guess[bomb + st.BOMB_CELL]] = guess[bomb + st.STRENGTH]
    return simple_move(
        sight[0], sight[1], np.int64(guess[agent + st.CELL]), enemies << st.AGENT, np.int64(guess[agent + st.AMMO]),
        np.int64(guess[agent + st.BLAST]), size, engine.near, recent, work, stream,
    )  # fmt: skip


@inner_kernel
def look_ahead(b, s, d, me, enemies, move, w, engine):
    """Compute the agent's survivability after a move; the position after it is in ``d.leaf``."""
    length = np.int64(w[AT.length])
    unroll(s, d.leaf, length, b, engine)
    judge_self(b, s, d, me, enemies, move, length, np.int64(w[AT.level]), False, w[AT.memory], False, engine)
