"""How much the tests try: a sample by default, everything where HYPOTHESIS_PROFILE is ``nightly`` (``make nightly``)."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable
from typing import Any

import pytest
from hypothesis import settings

NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"


def sample(count: int, everything: int) -> int:
    """Return how many cases a test tries: ``count``, or ``everything`` in a nightly run."""
    return everything if NIGHTLY else count


def examples(everything: int) -> settings:
    """Settings of a property that is tried with so many examples in a nightly run, and with a fifth of them otherwise."""
    return settings(max_examples=sample(max(everything // 5, 5), everything), deadline=None)


def mark_slow(cases: Iterable[Any], chosen: Container[Any]) -> list[Any]:
    """Return the cases of a test, a tuple where it has several arguments, with ``chosen`` marked slow.

    Those are the cases that take long and show little that the others do not.
    """
    slow = pytest.mark.slow
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=slow) if case in chosen else case
        for case in cases
    ]
