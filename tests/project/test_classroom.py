"""A class at the page, in short: nobody is refused without a place in the queue."""

from __future__ import annotations

import sys
from importlib import util
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("starlette", reason="the extra 'web' is not installed")
pytest.importorskip("websockets.sync.client", reason="the extra 'web' is not installed")

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "classroom.py"
THINK = (0.02, 0.2)


@pytest.fixture(scope="module")
def classroom() -> ModuleType:
    spec = util.spec_from_file_location("classroom", SCRIPT)
    assert spec is not None and spec.loader is not None
    found = util.module_from_spec(spec)
    sys.modules["classroom"] = found
    spec.loader.exec_module(found)
    return found


def test_eight_visitors_are_never_refused(classroom: ModuleType, tmp_path: Path) -> None:
    figures = classroom.hold_class(tmp_path, visitors=8, seconds=6.0, think=THINK)
    assert not figures.refused, figures
    assert figures.requests > 50 and figures.games and figures.solved, figures


@pytest.mark.slow
def test_a_class_of_thirty_is_served_within_the_memory_of_a_small_machine(
    classroom: ModuleType, tmp_path: Path
) -> None:
    figures = classroom.hold_class(tmp_path, visitors=30, seconds=120.0)
    assert not figures.refused, figures
    assert figures.memory < 600 << 20, figures
