"""Measure a network against rivals, on many boards at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from infoset.statistics import Share
from infoset_pommerman import state as st
from infoset_pommerman.features import FeatureExtractor
from infoset_pommerman.learn.boards import LOST, TIED, WON, Boards, drawn_actions
from infoset_pommerman.learn.net import MoveNet

SETTLING = 10_000  # steps after which unfinished games count as ties, in any variant


@dataclass(frozen=True)
class Measured:
    """Results of the first game of every board.

    Shares with their confidence intervals, and the mean numbers of bombs that an agent laid and of steps.
    """

    won: Share
    tied: Share
    lost: Share
    bombs: float
    steps: float


@torch.no_grad()
def measure(
    net: MoveNet, sight: FeatureExtractor, opponent: str = "simple", games: int = 1000, seed: int = 0
) -> Measured:
    """Play ``games`` games against the ``opponent``, in all seats in turn.

    Only each board's first game counts, so that long games count the same as short ones.

    >>> from infoset_pommerman.learn.measuring import measure
    >>> from infoset_pommerman.learn.net import MoveNet
    >>> from infoset_pommerman.config import config
    >>> from infoset_pommerman.features import FeatureExtractor
    >>> measure(MoveNet(8), FeatureExtractor("duel", config("OneVsOne-v0")), "random", games=10).won.count
    10
    """
    boards, rng = Boards(sight, games, [opponent], seed), np.random.default_rng([seed, 2])
    outcome, bombs, steps = np.full(games, -1), np.zeros(games), np.zeros(games)
    rows = np.arange(games)[:, None]
    while (outcome < 0).any() and boards.steps < SETTLING:
        seen, running = boards.seen, outcome < 0
        logits = net.chosen(torch.from_numpy(seen.features), torch.from_numpy(seen.safe))
        moves = drawn_actions(logits, rng.random(seen.alive.shape))
        agents = boards.batch.rows[:, st.AGENTS : st.MESSAGES].reshape(games, -1, st.AGENT_FIELDS)
        laid = (moves == st.LAY) & (agents[rows, boards.seats, st.AMMO] > 0) & seen.alive
        bombs += running * laid.mean(1)
        steps += running
        stepped = boards.step(moves)
        ended = stepped.done & running
        outcome[stepped.done] = np.where(ended, _spread(stepped.outcome, stepped.done), outcome)[stepped.done]
    won, tied, lost = [Share.of((outcome == kind).astype(float).tolist()) for kind in (WON, TIED, LOST)]
    return Measured(won, tied, lost, float(bombs.mean()), float(steps.mean()))


def _spread(outcome: npt.NDArray[np.int64], done: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Return (B,) the outcomes at the boards of their games."""
    found = np.zeros(len(done), dtype=np.int64)
    found[done] = outcome
    return found
