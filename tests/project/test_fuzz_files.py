"""Damaged files of every kind are refused in one line, or accepted and kept; ``make fuzz`` reads thousands of each."""

from __future__ import annotations

import pytest

from extent import sample
from fuzz_files import FAMILIES, fuzz

MANY = 10_000


@pytest.mark.parametrize("name", FAMILIES)
def test_damaged_files_are_answered_well(name: str) -> None:
    _, faults = fuzz(name, sample(10, 30), seed=0)
    assert not faults


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_thousands_of_damaged_files_are_answered_well(name: str) -> None:
    _, faults = fuzz(name, MANY, seed=1)
    assert not faults


def test_damage_makes_files_that_are_refused_and_files_that_are_accepted() -> None:
    """Else the comparison of what was accepted would never be made."""
    accepted, _ = fuzz("csv", 60, seed=2)
    assert 0 < accepted < 60
