"""The data that a game needs and one complete step: rules, result and rewards, collapsing walls."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.jit import inline_kernel, kernel, short_kernel
from infoset_pommerman.board import Kit, new_game, plan
from infoset_pommerman.config import Config
from infoset_pommerman.outcome import judge
from infoset_pommerman.rules import Limits, collapse, neighbours, step
from infoset_pommerman.state import STEP

(
    SIZE, NUM_AGENTS, GAME_TYPE, MAX_STEPS, FUSE, FLAME_LIFE_AT_START, BLAST_CAP, RIGID_PAIRS, WOOD_PAIRS, ITEMS,
    START_AMMO, START_BLAST, START_KICK, SETTINGS,
) = range(14)  # fmt: skip


class Engine(NamedTuple):
    """A configuration as arrays for the kernels."""

    settings: npt.NDArray[np.int64]  # (SETTINGS,) indexed by the names above
    collapses: npt.NDArray[np.int64]  # steps after which the rings become walls
    near: npt.NDArray[np.int16]
    template: npt.NDArray[np.int16]
    pairs: npt.NDArray[np.int16]
    starts: npt.NDArray[np.int16]


@cache
def engine(config: Config) -> Engine:
    """Return the arrays of a configuration.

    Raises ``ParameterError`` where no board fits it.
    """
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
    """Play one step in place and judge it; observations are made from the resulting row."""
    advance_piece(row, work, settings, collapses, near, moves, words)


@inline_kernel
def advance_piece(row, work, settings, collapses, near, moves, words):
    """Do the work of ``advance`` inline in kernels, where a call would cost as much as the step."""
    if len(collapses):
        close_in(row, settings, collapses)
    step(row, work, near, settings[SIZE], moves, words, limits_of(settings))
    judge(row, settings[GAME_TYPE], settings[NUM_AGENTS], settings[MAX_STEPS])


@inline_kernel
def limits_of(settings):
    """Return the limits on which a step depends."""
    return Limits(settings[FUSE], settings[FLAME_LIFE_AT_START], settings[BLAST_CAP])


@short_kernel
def close_in(row, settings, collapses):
    """Turn a ring into walls if it is due; calling it twice changes nothing."""
    for ring in range(len(collapses)):
        if row[STEP] == collapses[ring]:
            collapse(row, settings[SIZE], ring)


@kernel
def begin(row, settings, template, pairs, starts, stream):
    """Write the first position of a new game into ``row``; return whether a board was found."""
    return new_game(
        row, settings[SIZE], template, pairs, starts, settings[RIGID_PAIRS : ITEMS + 1],
        Kit(settings[START_AMMO], settings[START_BLAST], settings[START_KICK]), stream,
    )  # fmt: skip
