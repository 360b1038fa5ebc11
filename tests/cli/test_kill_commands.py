"""Killed commands go on and end as if nobody had disturbed them; ``make kills`` kills a thousand times."""

from __future__ import annotations

import pytest

from extent import sample
from kill_commands import JOBS, kill


@pytest.mark.parametrize("name", ["solve cfr", "convert"])
def test_killed_commands_lose_nothing(name: str) -> None:
    assert kill(name, sample(2, 4), seed=0) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", JOBS)
def test_commands_that_are_killed_often_lose_nothing(name: str) -> None:
    assert kill(name, 100, seed=1) == []
