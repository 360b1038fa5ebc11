"""Stock agents on many boards without Python code per board: opponents in training, or all players of a game."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from infoset.errors import ParameterError
from infoset.jit import inline_kernel, kernel
from infoset.randomness import streams
from infoset_pommerman import state as st
from infoset_pommerman.engine import NUM_AGENTS, SIZE
from infoset_pommerman.observation import enemies, sees
from infoset_pommerman.simple import enemy_mask, forget, memory, simple_move, simple_scratch
from infoset_pommerman.vec import PommermanVec


@kernel
def simple_all(rows, settings, near, view, seats, masks, memories, sights, work, randoms, moves, first, last):
    """Choose the moves of the agents in ``seats`` on the boards from ``first`` to before ``last``.

    The moves of the other seats are left unchanged.
    """
    size = settings[SIZE]
    for b in range(first, last):
        row = rows[b]
        for k in range(settings[NUM_AGENTS]):
            if not seats[k]:
                continue
            agent = st.AGENTS + k * st.AGENT_FIELDS
            if row[st.STEP] == 0:
                forget(memories[b, k])
            moves[b, k] = st.STOP
            if row[agent + st.ALIVE]:
                look(row, size, view, row[agent + st.CELL], sights[0], sights[1])
                moves[b, k] = simple_move(
                    sights[0], sights[1], row[agent + st.CELL], masks[k], row[agent + st.AMMO], row[agent + st.BLAST],
                    size, near, memories[b, k], work, randoms[b : b + 1],
                )  # fmt: skip


@inline_kernel
def look(row, size, view, own, board, blasts):
    """Write the board and the strengths of bombs as seen by an agent at ``own``."""
    top, left = own // size - view, own % size - view
    for cell in range(size * size):
        board[cell] = st.FOG
    for cell in range(size * size):
        blasts[cell] = 0
    for r in range(max(top, 0), min(top + 2 * view + 1, size)):
        for cell in range(r * size + max(left, 0), r * size + min(left + 2 * view + 1, size)):
            board[cell] = row[st.BOARD + cell]
    for k in range(row[st.NUM_BOMBS]):
        bomb = st.BOMBS + k * st.BOMB_FIELDS
        if sees(row[bomb + st.BOMB_CELL], own, size, view):
            blasts[row[bomb + st.BOMB_CELL]] = row[bomb + st.STRENGTH]


class SimpleVec:
    """``SimpleAgent`` in some seats of every board of a batch.

    Each agent has its own memory, which is reset when a new game begins.  The moves follow from ``seed`` and the
    positions, whatever the number of threads of the batch.

    >>> from infoset_pommerman.config import config
    >>> from infoset_pommerman.simple_vec import SimpleVec
    >>> from infoset_pommerman.vec import PommermanVec
    >>> batch = PommermanVec(10, config("OneVsOne-v0"), seed=1)
    >>> SimpleVec(batch, seats=(1,), seed=2).act().shape
    (10, 2)
    """

    def __init__(self, batch: PommermanVec, seats: Collection[int] | None = None, seed: int = 0) -> None:
        """Place agents in ``seats``, given by player index (``None``: all).

        Raises ``ParameterError`` for other indices.
        """
        agents = batch.config.num_agents
        chosen = range(agents) if seats is None else seats
        if not set(chosen) <= set(range(agents)):
            raise ParameterError(f"seats={sorted(chosen)}: agents are numbered from 0 to {agents - 1}")
        self.batch = batch
        self._seats = np.isin(np.arange(agents), list(chosen))
        self._masks = np.array([enemy_mask(enemies(batch.config, k)) for k in range(agents)])
        self._memories = np.tile(memory(), (batch.num_envs, agents, 1))
        self._randoms = streams(seed, batch.num_envs)
        cells = batch.config.size**2
        self._rooms = [(np.empty((2, cells), dtype=np.int16), simple_scratch(batch.config.size)) for _ in batch.parts]
        self._moves = np.full((batch.num_envs, agents), st.STOP, dtype=np.int16)

    @property
    def arrays(self) -> dict[str, npt.NDArray[np.integer]]:
        """The arrays by name on which future moves depend besides the boards, as in ``PommermanVec.arrays``."""
        return {"memories": self._memories, "randoms": self._randoms}

    def forget(self, boards: npt.NDArray[np.bool_]) -> None:
        """Reset the memories on these boards (B,), where other games continue."""
        self._memories[boards] = memory()

    def act(self) -> npt.NDArray[np.int16]:
        """Return (B, A) moves for ``PommermanVec.step``; those of the other seats, and of dead agents, are Stop.

        The caller may write to the array until the next call, which overwrites the stock agents' columns.
        """
        batch = self.batch
        view = batch.config.size if batch.config.view is None else batch.config.view
        settings, near = batch.engine.settings, batch.engine.near
        batch.spread(
            lambda part, first, last: simple_all(
                batch.rows, settings, near, view, self._seats, self._masks, self._memories, *self._rooms[part],
                self._randoms, self._moves, first, last,
            )
        )  # fmt: skip
        return self._moves
