"""Intervals, by published figures."""

from __future__ import annotations

import pytest

from infoset.statistics import Share


@pytest.mark.parametrize(
    ("won", "played", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_shares_have_the_intervals_of_newcombe(won: int, played: int, low: float, high: float) -> None:
    """Newcombe 1998, Two-sided confidence intervals for the single proportion, table I, method 3."""
    share = Share.of([1.0] * won + [0.0] * (played - won))
    assert share.interval == pytest.approx((low, high), abs=6e-5)


def test_two_wins_of_two_promise_little() -> None:
    assert str(Share.of([1.0, 1.0])) == "100.0 % (34 to 100)"
