"""Everything that one game needs to go on, and one step of it: rules, judgement, walls."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.jit import inline_kernel, kernel, short_kernel
from infoset.pommerman.board import Kit, new_game, plan
from infoset.pommerman.config import Config
from infoset.pommerman.outcome import judge
from infoset.pommerman.rules import Limits, collapse, neighbours, step
from infoset.pommerman.state import STEP

(
    SIZE, NUM_AGENTS, GAME_TYPE, MAX_STEPS, FUSE, FLAME_LIFE_AT_START, BLAST_CAP, RIGID_PAIRS, WOOD_PAIRS, ITEMS,
    START_AMMO, START_BLAST, START_KICK, SETTINGS,
) = range(14)  # fmt: skip


class Engine(NamedTuple):
    """A configuration as arrays: what the kernels read."""

    settings: npt.NDArray[np.int64]  # (SETTINGS,) see the names above
    collapses: npt.NDArray[np.int64]  # steps after which the rings become walls
    near: npt.NDArray[np.int16]
    template: npt.NDArray[np.int16]
    pairs: npt.NDArray[np.int16]
    starts: npt.NDArray[np.int16]


@cache
def engine(config: Config) -> Engine:
    """The arrays of a configuration.  Raises ``ParameterError`` where no board fits it."""
    layout = plan(config)
    settings = [
        config.size, config.num_agents, int(config.game_type), config.max_steps, config.fuse, config.flame_life,
        config.blast_cap, layout.rigid_pairs, layout.wood_pairs, layout.items, config.start_ammo, config.start_blast,
        int(config.start_kick),
    ]  # fmt: skip
    return Engine(
        np.array(settings), np.array(config.collapses, dtype=np.int64), neighbours(config.size), layout.board,
        layout.pairs, layout.starts,
    )  # fmt: skip


@kernel
def advance(row, work, settings, collapses, near, moves, words):
    """One step in place, judged; what agents observe of it is what the row shows now."""
    advance_piece(row, work, settings, collapses, near, moves, words)


@inline_kernel
def advance_piece(row, work, settings, collapses, near, moves, words):
    """``advance`` for use in kernels: a call would cost as much as the step."""
    if len(collapses):
        close_in(row, settings, collapses)
    step(row, work, near, settings[SIZE], moves, words, limits_of(settings))
    judge(row, settings[GAME_TYPE], settings[NUM_AGENTS], settings[MAX_STEPS])


@inline_kernel
def limits_of(settings):
    """What a step depends on."""
    return Limits(settings[FUSE], settings[FLAME_LIFE_AT_START], settings[BLAST_CAP])


@short_kernel
def close_in(row, settings, collapses):
    """A ring becomes walls if it is time; doing it twice changes nothing."""
    for ring in range(len(collapses)):
        if row[STEP] == collapses[ring]:
            collapse(row, settings[SIZE], ring)


@kernel
def begin(row, settings, template, pairs, starts, stream):
    """A new game in place; whether there is a board for it."""
    return new_game(
        row, settings[SIZE], template, pairs, starts, settings[RIGID_PAIRS : ITEMS + 1],
        Kit(settings[START_AMMO], settings[START_BLAST], settings[START_KICK]), stream,
    )  # fmt: skip
