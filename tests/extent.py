"""How much the tests try: a sample by default, everything where HYPOTHESIS_PROFILE is ``nightly`` (``make nightly``)."""

from __future__ import annotations

import os

from hypothesis import settings

NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"


def sample(count: int, everything: int) -> int:
    """Return how many cases a test tries: ``count``, or ``everything`` in a nightly run."""
    return everything if NIGHTLY else count


def examples(everything: int) -> settings:
    """Settings of a property that is tried with so many examples in a nightly run, and with a third of them otherwise."""
    return settings(max_examples=sample(max(everything // 3, 5), everything), deadline=None)
