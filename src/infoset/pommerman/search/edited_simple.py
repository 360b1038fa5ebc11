"""``edited-simple``: the stock agent, improved through a number of edits.

The second of the free-for-all of June 3rd 2018 (Resnick et al. 2018); which edits those were is not known.  These are
on what the stock agent loses by: it forgets what went out of view, and knows neither fuses nor what walls stop.

- It decides on what is remembered, not only on what is in view.
- Its move is played only if there is a way out afterwards, by the rules and whoever else comes near.
- Otherwise the move is played that leaves most ways out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import FloatArray
from infoset.jit import inner_kernel, kernel
from infoset.names import check_range
from infoset.pommerman import state as st
from infoset.pommerman.config import Config
from infoset.pommerman.engine import SIZE, Engine
from infoset.pommerman.search.belief import Belief, Seat
from infoset.pommerman.search.dypm import NONE, Desk, empty_desk, judge_self, last_resort, leads_on
from infoset.pommerman.search.goals import check_weights, places_of, settings_of
from infoset.pommerman.search.maker import Maker
from infoset.pommerman.search.scenario import MAX_LENGTH, Scenario, empty_scenario, unroll
from infoset.pommerman.simple import memory, simple_move, simple_scratch
from infoset.pommerman.state import MOVES
from infoset.randomness import Words, next_word


@dataclass(frozen=True)
class EditedSimple(Maker):
    """Pommerman: the stock agent with a look at what comes of its moves."""

    name: ClassVar = "edited-simple"
    length: int = 11
    """How many steps a way out must last."""
    level: int = 3
    """Steps in which the others may come in the way."""
    memory: int = 4
    """How long an agent that went out of view is still reckoned with."""

    def __post_init__(self) -> None:
        check_range("length", self.length, 2, MAX_LENGTH)
        check_range("level", self.level, 0, MAX_LENGTH)
        check_weights(self)

    def settings(self) -> FloatArray:
        """As the kernels read them."""
        return settings_of(self)

    def empty_room(self, config: Config) -> Room:
        cells = config.size**2
        sight = np.zeros((2, cells), dtype=np.int16)
        return Room(empty_scenario(config), empty_desk(config), sight, memory(), simple_scratch(config.size))

    def move(
        self, b: Belief, room: Room, seat: Seat, w: FloatArray, engine: Engine, stream: Words, deadline: float | None
    ) -> int:
        del deadline  # it takes too little time to look at it
        return int(edited_move(b, *room, *seat, w, engine, stream))


AT = places_of(EditedSimple)


class Room(NamedTuple):
    """All room that it has."""

    scenario: Scenario
    desk: Desk
    sight: npt.NDArray[np.int16]  # (2, cells) board and strengths of bombs, as the stock agent reads them
    recent: npt.NDArray[np.int16]  # (MEMORY,) what the stock agent remembers
    work: npt.NDArray[np.int16]  # its scratch


@kernel
def edited_move(b, s, d, sight, recent, work, me, enemies, mate, w, engine, stream):
    """One decision.  ``enemies`` and ``mate`` have bit k for agent k."""
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
    """What the stock agent would do if it saw what is believed."""
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
    """What the agent survives after a move; the position after it is on the desk."""
    length = np.int64(w[AT.length])
    unroll(s, d.leaf, length, b, engine)
    judge_self(b, s, d, me, enemies, move, length, np.int64(w[AT.level]), False, w[AT.memory], False, engine)
