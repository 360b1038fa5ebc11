"""Starting positions of a training's games: dealt boards, or positions of games that the stock agent won.

Backplay (Resnick et al. 2018, "Backplay: 'Man muss immer umkehren'"): games start first shortly before the end of a won
game, where the reward is a few steps away, then earlier and earlier.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset_pommerman import state as st
from infoset_pommerman.config import Config
from infoset_pommerman.simple_vec import SimpleVec
from infoset_pommerman.vec import PommermanVec

DEALT, UNIFORM, BACKPLAY = CURRICULA = ("dealt", "uniform", "backplay")
GAMES = 100  # number of games to record
WINDOW = 0.25  # share of a game within which a starting position is drawn


class Recorded(NamedTuple):
    """A game that was won, and the seats that won it."""

    rows: st.Row  # (steps, row)
    winners: frozenset[int]


class Lessons:
    """Positions of games among stock agents as starting positions."""

    def __init__(self, rules: Config, kind: str, seed: int) -> None:
        self.kind, self.games = kind, recorded(rules, seed)

    def begin(
        self, rows: st.Row, seats: npt.NDArray[np.int64], done: npt.NDArray[np.bool_], share: float,
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        """Start the boards that are ``done`` at positions of games that the agents in the ``seats`` (B, S) won.

        ``share`` is the share (0 to 1) of the lessons that has passed.
        """
        for b in np.flatnonzero(done).tolist():
            fitting = [game for game in self.games if int(seats[b, 0]) in game.winners]
            if fitting:
                game = fitting[int(rng.integers(len(fitting)))]
                rows[b] = game.rows[self._step(len(game.rows), share, rng)]

    def _step(self, steps: int, share: float, rng: np.random.Generator) -> int:
        """Draw the index of a step of a game, counted back from its end."""
        early = 1.0 if self.kind == UNIFORM else min(share + WINDOW, 1.0)
        late = 0.0 if self.kind == UNIFORM else share
        before = int(steps * (late + (early - late) * rng.random()))
        return max(steps - 1 - before, 0)


def recorded(rules: Config, seed: int) -> list[Recorded]:
    """Play games among stock agents; return those that were won."""
    batch = PommermanVec(GAMES, rules, seed=seed)
    stock, running = SimpleVec(batch, seed=seed + 1), np.ones(GAMES, dtype=np.bool_)
    positions: list[list[st.Row]] = [[] for _ in range(GAMES)]
    found = []
    while running.any():
        for b in np.flatnonzero(running).tolist():
            positions[b].append(batch.rows[b].copy())
        stepped = batch.step(stock.act())
        for b in np.flatnonzero(running & stepped.done).tolist():
            if stepped.result[b] == st.WIN:
                winners = frozenset(np.flatnonzero(stepped.rewards[b] > 0).tolist())
                found.append(Recorded(np.stack(positions[b]), winners))
        running &= ~stepped.done
    return found
