"""Batches of thousands of boards that are stepped, judged and restarted in one call, without Python code per board.

Each board has its own stream of random words, so the games do not depend on the number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.errors import GameRuleError, ParameterError
from infoset.jit import inline_kernel, kernel
from infoset.names import check_range
from infoset.randomness import Words, streams
from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS, Config, GameType
from infoset_pommerman.engine import NUM_AGENTS, SIZE, advance_piece, begin, engine
from infoset_pommerman.planes import CHANNELS, SCALARS, draw_planes
from infoset_pommerman.rules import scratch

MAX_BOARDS = 1 << 24


class Stepped(NamedTuple):
    """The results of one step, for ``B`` boards and ``A`` agents."""

    rewards: npt.NDArray[np.int8]  # (B, A)
    done: npt.NDArray[np.bool_]  # (B,) whether the game ended; its board is already a new one
    result: npt.NDArray[np.int8]  # (B,) RUNNING, WIN or TIE


class Boards(NamedTuple):
    """The arrays of ``B`` boards; ``rewards`` and ``result`` are as in ``Stepped``."""

    rows: st.Row
    randoms: Words
    rewards: npt.NDArray[np.int8]
    result: npt.NDArray[np.int8]


@inline_kernel
def begin_one(boards, engine, b):
    """Begin a new game on one board; return whether a board was found."""
    random = boards.randoms[b : b + 1]
    return begin(boards.rows[b], engine.settings, engine.template, engine.pairs, engine.starts, random)


@kernel
def begin_all(boards, engine, first, last):
    """Begin a new game on the boards from ``first`` to before ``last``; return whether a board was found for each."""
    found = True
    for b in range(first, last):
        found &= begin_one(boards, engine, b)
    return found


@kernel
def step_all(boards, engine, work, moves, words, first, last):
    """Play one step on the boards from ``first`` to before ``last`` and begin a new game where one ended.

    Returns whether a board was found for each new game.
    """
    rows, rewards, result, settings = boards.rows, boards.rewards, boards.result, engine.settings
    collapses, near, agents = engine.collapses, engine.near, settings[NUM_AGENTS]
    found = True
    for b in range(first, last):
        row = rows[b]
        advance_piece(row, work, settings, collapses, near, moves[b], words[b])
        result[b] = row[st.RESULT]
        for k in range(agents):
            rewards[b, k] = row[st.REWARDS + k]
        if row[st.RESULT] != st.RUNNING:
            found &= begin_one(boards, engine, b)
    return found


@kernel
def planes_all(rows, settings, view, teams, planes, scalars, first, last):
    """Draw the views of all agents of the boards from ``first`` to before ``last``."""
    for b in range(first, last):
        for k in range(settings[NUM_AGENTS]):
            draw_planes(rows[b], settings[SIZE], view, k, settings[NUM_AGENTS], teams, planes[b, k], scalars[b, k])


class PommermanVec:
    """``num_envs`` boards of one configuration that are stepped together.

    ``rows`` (B, row) are the positions, see ``infoset_pommerman.state``; ``restore`` resets the batch to a copy of
    them.  ``planes`` (B, A, channels, n, n) and ``scalars`` (B, A, numbers) hold the agents' observations as of the
    last call of ``observe``; ``CHANNELS`` and ``SCALARS`` name them.

    Raises ``ParameterError`` for invalid moves.

    >>> import numpy as np
    >>> from infoset_pommerman.config import config
    >>> from infoset_pommerman.vec import PommermanVec
    >>> batch = PommermanVec(100, config("PommeFFACompetition-v0"), seed=1)
    >>> stepped = batch.step(np.zeros((100, 4), dtype=np.int16))
    >>> stepped.rewards.shape, int(stepped.done.sum())
    ((100, 4), 0)
    """

    def __init__(self, num_envs: int, config: Config, seed: int = 0, threads: int = 1) -> None:
        """Make the batch and begin all games.

        Raises ``ParameterError`` for numbers out of range or a configuration that no board fits.
        """
        check_range("num_envs", num_envs, 1, MAX_BOARDS)
        check_range("threads", threads, 1, 256)
        self.config, self.num_envs = config, num_envs
        self.engine = engine(config)
        self.rows = st.empty_rows(num_envs, config)
        edges = np.linspace(0, num_envs, min(threads, num_envs) + 1).astype(int).tolist()
        self.parts = list(pairwise(edges))
        self._work = [scratch(config.size) for _ in self.parts]
        self._pool = ThreadPoolExecutor(len(self.parts)) if len(self.parts) > 1 else None
        agents, cells = config.num_agents, config.size
        self._boards = Boards(
            self.rows, streams(seed, num_envs), np.zeros((num_envs, agents), dtype=np.int8),
            np.zeros(num_envs, dtype=np.int8),
        )  # fmt: skip
        self._silence = np.zeros((num_envs, MAX_AGENTS, st.WORDS), dtype=np.int16)
        self.planes = np.zeros((num_envs, agents, len(CHANNELS), cells, cells), dtype=np.uint8)
        self.scalars = np.zeros((num_envs, agents, len(SCALARS)), dtype=np.int16)
        self.reset()

    def reset(self) -> None:
        """Begin new games on all boards."""
        self._check(self.spread(lambda part, first, last: begin_all(self._boards, self.engine, first, last)))

    def restore(self, rows: st.Row) -> None:
        """Continue from the positions (B, row), an earlier copy of ``rows``."""
        if rows.shape != self.rows.shape or rows.dtype != self.rows.dtype:
            raise ParameterError(
                f"rows of shape {rows.shape} and type {rows.dtype}; needed: {self.rows.shape} of int16"
            )
        self.rows[:] = rows

    @property
    def arrays(self) -> dict[str, npt.NDArray[np.integer]]:
        """The arrays by name on which future steps depend; writing copies of them back restores the batch."""
        return {"rows": self.rows, "randoms": self._boards.randoms}

    def step(self, moves: npt.NDArray[np.integer], words: npt.NDArray[np.integer] | None = None) -> Stepped:
        """Play one step on every board with ``moves`` (B, A), 0 to 5, and, on the radio, ``words`` (B, A, 2).

        The arrays of the result are reused by the next call.  Raises ``ParameterError`` for other shapes and numbers,
        and for words where there is no radio.
        """
        shape = self.num_envs, self.config.num_agents
        if words is not None and self.config.game_type != GameType.TEAM_RADIO:
            raise ParameterError("words need a radio; allowed in this variant: None")
        acts = _checked("moves", moves, shape, st.LAY)
        said = self._silence if words is None else _checked("words", words, (*shape, st.WORDS), self.config.vocabulary)
        boards = self._boards
        found = self.spread(
            lambda part, first, last: step_all(boards, self.engine, self._work[part], acts, said, first, last)
        )
        self._check(found)
        return Stepped(boards.rewards, boards.result != st.RUNNING, boards.result)

    def observe(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int16]]:
        """Return the observations of all agents, ``planes`` and ``scalars``, which the next call reuses."""
        view = self.config.size if self.config.view is None else self.config.view
        flat = self.planes.reshape(*self.planes.shape[:2], -1)
        self.spread(
            lambda part, first, last: planes_all(
                self.rows, self.engine.settings, view, self.config.teams, flat, self.scalars, first, last
            )
        )
        return self.planes, self.scalars

    def spread(self, task: object) -> bool:
        """Run ``task(part, first, last)`` for every part of the boards, each on its own thread.

        Returns whether no part returned ``False``.
        """
        assert callable(task)
        if self._pool is None:
            (first, last), *_ = self.parts
            return task(0, first, last) is not False
        futures = [self._pool.submit(task, part, first, last) for part, (first, last) in enumerate(self.parts)]
        results = [future.result() for future in futures]  # waits for all parts, whatever they return
        return False not in results

    def _check(self, found: bool) -> None:
        if not found:
            raise GameRuleError(f"no board with {self.config.rigid} rigid walls leaves the way open")


def _checked(name: str, given: npt.NDArray[np.integer], shape: tuple[int, ...], highest: int) -> npt.NDArray[np.int16]:
    """Check numbers from 0 to ``highest`` and return them as the kernels need them.

    Raises ``ParameterError`` for other shapes, types and numbers.
    """
    if given.shape != shape or given.dtype.kind not in "iu":
        raise ParameterError(f"{name} of shape {given.shape} and type {given.dtype}; needed: integers of shape {shape}")
    if given.min() < 0 or given.max() > highest:
        raise ParameterError(f"{name} from {given.min()} to {given.max()}; allowed: 0 to {highest}")
    return np.ascontiguousarray(given, dtype=np.int16)
