"""Observations as planes and numbers, for networks that were trained on planes and play in matches."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS, Config
from infoset_pommerman.observation import MAPS, Seen, read_observation
from infoset_pommerman.planes import CHANNELS, SCALARS, draw_planes


def encode_seen(seen: Seen, rules: Config, player: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int16]]:
    """Return planes (channels, n, n) and scalars (numbers,) as ``PommermanVec.observe`` does, see ``planes``."""
    planes = np.empty((len(CHANNELS), rules.size, rules.size), dtype=np.uint8)
    scalars = np.empty(len(SCALARS), dtype=np.int16)
    view = rules.size if rules.view is None else rules.view
    row = seen_row(seen, rules, player)
    draw_planes(row, rules.size, view, player, rules.num_agents, rules.teams, planes.reshape(-1), scalars)
    return planes, scalars


def seen_row(seen: Seen, rules: Config, player: int) -> st.Row:
    """Return a position that holds what an agent observed, and nothing else."""
    found, size = read_observation(seen, rules, player), rules.size
    row: st.Row = st.empty_rows(1, rules)[0]
    row[st.BOARD :][: size * size] = found["board"].ravel()
    row[st.STEP] = seen.step_count
    alive, (r, c) = st.AGENT + player in seen.alive, seen.position
    own = (alive, r * size + c, seen.ammo, seen.blast_strength, seen.can_kick)
    row[st.AGENTS + player * st.AGENT_FIELDS :][: st.AGENT_FIELDS] = own
    row[st.MESSAGES + (player + 2) % MAX_AGENTS * st.WORDS :][: len(seen.message)] = seen.message
    strength, life, direction, flame = (found[name].ravel() for name in MAPS)
    bombs = np.flatnonzero((strength != 0) | (life != 0))
    nobody = np.zeros_like(bombs)  # the owner of a bomb is not observed
    listed = np.stack([bombs, nobody, life[bombs], strength[bombs], direction[bombs]], axis=1)
    row[st.NUM_BOMBS] = len(bombs)
    row[st.BOMBS :][: len(bombs) * st.BOMB_FIELDS] = listed.ravel()
    flames = np.flatnonzero(flame)
    row[st.NUM_FLAMES] = len(flames)
    row[st.flames_at(size) :][: len(flames) * st.FLAME_FIELDS] = np.stack([flames, flame[flames] - 1], axis=1).ravel()
    return row
