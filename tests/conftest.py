"""Shared fixtures: compiled forms of small games, and the folder of recorded and real data where it is there."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from extent import NIGHTLY, sample
from infoset import SequenceForm, load

# New examples belong to nightly runs; how long an example takes depends on what else the machine does.
settings.register_profile("repeatable", derandomize=not NIGHTLY, deadline=None, max_examples=sample(30, 100))
settings.load_profile("repeatable")

SHARED = Path(__file__).resolve().parents[2] / "shared"

os.environ["INFOSET_PATIENCE"] = "600"  # what a command prints must not depend on how fast it is
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell begins in the background ignores it

KUHN = "kuhn_poker"
LEDUC = "leduc_poker"
GOOFSPIEL = "goofspiel(num_cards=4,imp_info=True,points_order=descending)"
DICE = "liars_dice(dice_sides=4)"
PENNIES = "matching_pennies_3p"

SMALL_GAMES = [
    KUHN,
    "kuhn_poker(players=3)",
    LEDUC,
    "liars_dice(numdice=2,dice_sides=2)",
    GOOFSPIEL,
    "goofspiel(num_cards=3)",
    "goofspiel(num_cards=3,players=3,returns_type=total_points)",
    PENNIES,
    "oshi_zumo(coins=4,min_bid=1)",
    "rock_paper_scissors",
]


def fork_instead_of_spawning() -> None:
    """Fork the processes of pools from one that has imported the package, which takes a second less for each.

    They get what is pickled for them and share nothing else, as spawned ones do; commands that tests start as processes
    of their own spawn theirs.
    """
    context = multiprocessing.get_context
    forking = context("forkserver")
    forking.set_forkserver_preload(["infoset.arena.tournament", "infoset.learn.workers", "infoset_pommerman.config"])
    multiprocessing.get_context = lambda method=None: forking if method == "spawn" else context(method)


if "forkserver" in multiprocessing.get_all_start_methods():
    fork_instead_of_spawning()


@cache
def form_of(name: str) -> SequenceForm:
    """The sequence form of a named game, compiled once for all tests."""
    return SequenceForm.of(load(name))


@pytest.fixture
def shared() -> Path:
    """The folder with real game files; tests that need it skip where it is missing."""
    if not SHARED.is_dir():
        pytest.skip("the folder with real game files is not beside this checkout")
    return SHARED


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser without its window: Debian's Chromium, driven by playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (group 'test')")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("there is no chromium on the path")
    with playwright.sync_playwright() as tool:
        opened = tool.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()
