"""Memory of what an agent did in each situation, to break cycles of play that repeat it exactly.

Two sides that answer each other in the same way return to the same situation again and again, each laying a bomb and
avoiding its fire, until the game is over.  An agent that counts its earlier moves there can choose another one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.jit import inline_kernel, inner_kernel
from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS
from infoset_pommerman.state import MOVES

ENTRIES = 1024  # number of situations remembered: more than the steps of a game
FACTOR = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)


class Repeats(NamedTuple):
    """The moves made so far, by situation."""

    situation: npt.NDArray[np.uint64]  # (ENTRIES,) hash of the situation, 0 where there is none yet
    tried: npt.NDArray[np.int64]  # (ENTRIES, moves) how often each move was made
    now: npt.NDArray[np.int64]  # (1,) the entry of the current situation


def empty_repeats() -> Repeats:
    """Return an empty memory."""
    return Repeats(np.zeros(ENTRIES, np.uint64), np.zeros((ENTRIES, MOVES), np.int64), np.zeros(1, np.int64))


@inline_kernel
def mixed(key, value):
    """Return a hash with one more number mixed in."""
    word = (key ^ np.uint64(value)) * FACTOR
    return word ^ (word >> SHIFT)


@inner_kernel
def situation_of(guess, me):
    """Return a hash of the agents and bombs as they are believed to be, which does not depend on the step count."""
    key = np.uint64(1 + me)
    for k in range(MAX_AGENTS):
        agent = st.AGENTS + k * st.AGENT_FIELDS
        key = mixed(key, guess[agent + st.CELL] + 1 if guess[agent + st.ALIVE] else 0)
    key = mixed(key, guess[st.AGENTS + me * st.AGENT_FIELDS + st.AMMO])
    for n in range(guess[st.NUM_BOMBS]):
        bomb = st.BOMBS + n * st.BOMB_FIELDS
        key = mixed(key, guess[bomb + st.BOMB_CELL] * 16 + guess[bomb + st.LIFE])
    return key


@inner_kernel
def recall(x, guess, me):
    """Find or make the entry of the current situation."""
    key = situation_of(guess, me)
    entry = np.int64(key % np.uint64(ENTRIES))
    if x.situation[entry] != key:
        x.situation[entry] = key
        for move in range(MOVES):
            x.tried[entry, move] = 0
    x.now[0] = entry


@inner_kernel
def weariness(x, move, each, most):
    """Return the penalty of a move for having been made in the current situation before."""
    return min(each * times_tried(x, move), most)


@inner_kernel
def remember(x, move):
    """Count the move that is made now."""
    x.tried[x.now[0], move] += 1


@inner_kernel
def times_tried(x, move):
    """Return how often a move was made in the current situation.

    Laying a bomb counts like the most frequent move, as it is no way out of a cycle.
    """
    tried = x.tried[x.now[0]]
    if move != st.LAY:
        return tried[move]
    most = np.int64(0)
    for other in range(MOVES):
        most = max(most, tried[other])
    return most
