"""Kernels that estimate what follows each decision of games played side by side, from the last decision back.

Decisions (N,) are in order of time, those of all games together, as in ``rollouts.Trajectories``.
"""

from __future__ import annotations

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray
from infoset.jit import kernel
from infoset.learn.rollouts import Inputs


@kernel
def advantages(
    game: LongArray, player: IntArray, value: Inputs, payoffs: FloatArray, discount: float, trace: float, gain: Inputs
) -> None:  # fmt: skip
    """Write generalised advantages of decisions, which are in order of time, by each player's next own decision."""
    following = np.zeros(payoffs.shape)
    ahead = np.zeros(payoffs.shape)
    later = np.zeros(payoffs.shape, dtype=np.bool_)
    for k in range(len(game) - 1, -1, -1):
        g, p = game[k], player[k]
        target = discount * following[g, p] if later[g, p] else payoffs[g, p]
        ahead[g, p] = target - value[k] + discount * trace * ahead[g, p]
        gain[k], following[g, p], later[g, p] = ahead[g, p], value[k], True


@kernel
def transform(
    game: LongArray, player: IntArray, value: Inputs, paid: Inputs, payoffs: FloatArray, trace: float, target: Inputs,
    later: Inputs,
) -> None:  # fmt: skip
    """Write estimates of a player's transformed payoffs from each decision on, and from after its action on.

    Decisions are in order of time; at each the player pays ``paid``, which the others share.  The estimates are those
    of V-trace (Espeholt et al. 2018) where the policy that plays is the one that learns.
    """
    ahead, others = payoffs.copy(), payoffs.shape[1] - 1
    for k in range(len(game) - 1, -1, -1):
        g, p = game[k], player[k]
        later[k] = ahead[g, p]
        target[k] = value[k] + trace * (ahead[g, p] - paid[k] - value[k])
        for q in range(others + 1):
            ahead[g, q] += paid[k] / max(others, 1)
        ahead[g, p] = target[k]


@kernel
def follow(game: LongArray, player: IntArray, then: LongArray, later: LongArray) -> None:
    """Write each decision's next one of the same player in the same game, or -1; they are in order of time."""
    for k in range(len(game) - 1, -1, -1):
        then[k] = later[game[k], player[k]]
        later[game[k], player[k]] = k
