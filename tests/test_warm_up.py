"""Kernels that are compiled ahead: the list fits its sources, and nothing is left for an agent's clock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from infoset import kernel_cache, warm_up
from infoset.cli.app import app
from infoset.jit import Kernel, find_kernel
from infoset.kernel_types import read_type, spell_type
from infoset.warm_up import Entry, compile_entry, compile_sets, listing_packages, recorded

TEAM = "pommerman:PommeTeamCompetition-v0"

PLAY = """
import gc, sys
from infoset import load, load_agent, play_match
from infoset.jit import Kernel, find_kernel

def known():
    kernels = (thing for thing in gc.get_objects() if isinstance(thing, Kernel) and not thing.linked)
    return {(k.py_func.__module__, k.py_func.__name__, kinds) for k in kernels for kinds in k.overloads}

game = load(sys.argv[1])
agents = [load_agent(name) for name in sys.argv[2:]]
game.start()
before = known()
assert before
play_match(game, agents, seed=1)
print(*sorted(f"{name}{kinds}" for _, name, kinds in known() - before), sep="\\n")
"""


@pytest.mark.parametrize(
    ("game", "agents"),
    [
        ("kuhn_poker", ("search", "random")),
        pytest.param("kuhn_poker", ("search(exploit=random)", "random"), marks=pytest.mark.slow),
        ("gdl:scissors_double", ("search", "random")),
        pytest.param("kuhn_poker", ("adaptive", "random"), marks=pytest.mark.slow),
        (TEAM, ("simple",) * 4),
        (TEAM, ("dypm", "simple") * 2),
        pytest.param(TEAM, ("champion", "simple") * 2, marks=pytest.mark.slow),
        pytest.param(TEAM, ("hakozaki", "simple") * 2, marks=pytest.mark.slow),
        pytest.param(TEAM, ("eisenach(budget=20)", "simple") * 2, marks=pytest.mark.slow),
        pytest.param(TEAM, ("fsm-search", "simple") * 2, marks=pytest.mark.slow),
        pytest.param(TEAM, ("edited-simple", "simple") * 2, marks=pytest.mark.slow),
    ],
)
def test_no_agent_compiles_or_loads_code_on_its_clock(game: str, agents: tuple[str, ...]) -> None:
    """Every kernel that the match calls was there when the agents were made."""
    done = subprocess.run([sys.executable, "-c", PLAY, game, *agents], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == ""


def test_the_list_names_kernels_that_exist_each_behind_those_that_it_needs() -> None:
    known = recorded(listing_packages())
    entries = known.entries
    for number, entry in enumerate(entries):
        kernel = find_kernel(entry.module, entry.name)
        assert isinstance(kernel, Kernel)
        assert not kernel.linked
        assert all(spell_type(read_type(spelled)) == spelled for spelled in map(as_list, entry.types))
        assert all(need < number for need in entry.needs)
    for numbers in known.sets.values():
        assert {need for number in numbers for need in entries[number].needs} <= set(numbers)


def as_list(spelled: object) -> object:
    return [as_list(part) for part in spelled] if isinstance(spelled, tuple | list) else spelled


def test_every_entry_still_fits_its_source() -> None:
    for entry in recorded(listing_packages()).entries:
        compile_entry(entry)


def infoset(cache: Path, *arguments: str) -> dict[str, object]:
    command = [sys.executable, "-m", "infoset", *arguments, "--json"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    found: dict[str, object] = json.loads(
        subprocess.run(command, check=True, capture_output=True, env=environment).stdout
    )
    return found


@pytest.mark.slow
def test_a_set_is_compiled_once(tmp_path: Path) -> None:
    first = infoset(tmp_path, "warm-up", "solve")
    assert first["kernels"] == len(recorded().sets["solve"])
    assert str(first["folder"]).startswith(str(tmp_path))
    assert infoset(tmp_path, "warm-up", "solve")["kernels"] == 0


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in (kernel_cache, warm_up):
        monkeypatch.setattr(module, "cache_folder", lambda: tmp_path)
    return tmp_path


def test_a_process_that_dies_leaves_its_kernels_for_later(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        warm_up, "_start", lambda packages: subprocess.Popen([sys.executable, "-c", ""], stdin=-1, stdout=-1, text=True)
    )
    assert compile_sets(["solve"]) == (0, len(recorded().sets["solve"]))
    assert not list(empty_cache.glob("*.kernel"))


def test_where_no_process_can_be_started_kernels_are_compiled_when_they_are_called(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "")
    monkeypatch.setattr(warm_up, "_DONE", set())
    with pytest.raises(OSError, match="no interpreter"):
        compile_sets(["solve"])
    loaded: list[Entry] = []
    monkeypatch.setattr(warm_up, "compile_entry", loaded.append)
    warm_up.ready("solve")
    assert loaded == [recorded().entries[number] for number in recorded().sets["solve"]]


def test_an_interruption_ends_the_processes(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[str]] = []
    start = warm_up._start

    def remember(packages: tuple[str, ...]) -> subprocess.Popen[str]:
        started.append(start(packages))
        return started[-1]

    def interrupt(done: int, total: int, last: str) -> None:
        if last:
            raise KeyboardInterrupt

    monkeypatch.setattr(warm_up, "_start", remember)
    with pytest.raises(KeyboardInterrupt):
        compile_sets(["solve"], interrupt)
    assert started
    assert all(process.returncode is not None for process in started)


def test_what_workers_print_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DEBUG_CACHE", "1")
    process = warm_up._start(warm_up.OWN)
    out, _ = process.communicate("0\n1\n", timeout=120)
    assert out == "0\n1\n"


def test_an_unknown_set_is_refused_with_the_known_ones() -> None:
    done = CliRunner().invoke(app, ["warm-up", "champoin"])
    assert "did you mean 'champion'" in str(done.exception)
