"""The scale of a game's payoffs: what counts as a difference, and where payoffs lie so far from 0 that it drowns."""

from __future__ import annotations

import numpy as np

from infoset.base import FloatArray

EQUAL = 1e-9
"""Of a player's range of payoffs: two payoffs that differ by no more are the same."""
LAST_BITS = 8 * float(np.finfo(float).eps)
"""Of the largest payoff: what its rounding alone comes to, however narrow the range is."""
ROUNDING = 1e-12
"""Of a player's range of payoffs: an exploitability of no more is made of rounding errors."""
FAR_FROM_ZERO = 10.0
"""Ranges of payoffs between their middle and 0 beyond which solvers work on payoffs less the middle."""


def payoff_ranges(payoffs: FloatArray) -> FloatArray:
    """Return (n,) the range of each player's payoffs (K, n); 0 where a player is always paid the same."""
    return np.asarray(np.ptp(payoffs, axis=0) if len(payoffs) else np.zeros(payoffs.shape[1]), dtype=np.float64)


def payoff_offsets(payoffs: FloatArray) -> FloatArray:
    """Return (n,) what to take off each player's payoffs (K, n) so that differences do not drown; 0 where none would.

    It is the player's lowest payoff, since floats so close to each other are subtracted without an error.
    """
    offsets = np.zeros(payoffs.shape[1])
    for player, (low, high) in enumerate(zip(payoffs.min(axis=0), payoffs.max(axis=0), strict=True)):
        span = float(high) - float(low)
        if abs(float(low) / 2 + float(high) / 2) > FAR_FROM_ZERO * span:
            offsets[player] = low
    return offsets


def exploitability_of_rounding(lowest: FloatArray, highest: FloatArray) -> float:
    """Return the exploitability that rounding errors alone come to, of payoffs (n,) from ``lowest`` to ``highest``.

    It is that of the player with the smallest range of those whose payoffs vary: no other gain may hide its own.
    """
    ranges = highest - lowest
    varied = ranges > 0
    sizes = np.maximum(np.abs(lowest), np.abs(highest))
    if not varied.any():
        return float(LAST_BITS * sizes.max(initial=0.0))
    return float(np.maximum(ROUNDING * ranges, LAST_BITS * sizes)[varied].min())


def smallest_range(payoffs: FloatArray) -> float:
    """Return the smallest range of a player's payoffs (K, n) among those that vary; 0 where none do."""
    ranges = payoff_ranges(payoffs)
    return float(ranges[ranges > 0].min(initial=ranges.max(initial=0.0)))


def difference_that_counts(payoffs: FloatArray) -> float:
    """Return the largest difference, between payoffs (K, n) of two players or sums of them, that counts as none.

    It follows the player with the smallest range of those whose payoffs vary at all, and is no less than rounding.
    """
    return max(EQUAL * smallest_range(payoffs), LAST_BITS * float(np.abs(payoffs).max(initial=0.0)))


def constant_sum_of(payoffs: FloatArray) -> float | None:
    """Return what the payoffs (K, n) of every end sum to; ``None`` where they do not all sum to the same."""
    if not len(payoffs):
        return None
    sums = payoffs.sum(axis=1)
    return float(sums[0]) if float(np.ptp(sums)) <= difference_that_counts(payoffs) else None


def are_common(payoffs: FloatArray) -> bool:
    """Return whether all players are paid the same at each end, payoffs (K, n)."""
    return bool(np.ptp(payoffs, axis=1).max(initial=0.0) <= difference_that_counts(payoffs))
