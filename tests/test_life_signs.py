"""Whatever lasts says so on stderr, also where that is no terminal."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from infoset import signs
from infoset.cli import life_signs
from infoset.cli.life_signs import LifeSigns
from infoset.cli.progress import Bar


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> LifeSigns:
    monkeypatch.setenv("INFOSET_PATIENCE", "0.1")
    monkeypatch.setattr(life_signs, "PAUSE", 0.2)
    listener = LifeSigns()
    monkeypatch.setattr(signs, "listeners", [listener])
    return listener


def test_what_is_quick_says_nothing(heard: LifeSigns, capfd: pytest.CaptureFixture[str]) -> None:
    for _ in range(5):
        with signs.during("counting"):
            time.sleep(0.02)
        time.sleep(0.02)
    assert capfd.readouterr().err == ""


def test_what_lasts_says_so_now_and_then(heard: LifeSigns, capfd: pytest.CaptureFixture[str]) -> None:
    with signs.during("counting"):
        time.sleep(0.2)
        signs.detail("counting: 7 so far")
        time.sleep(0.5)
    said = capfd.readouterr().err.splitlines()
    assert said[0] == "infoset: counting (0 s)"
    assert said[1].startswith("infoset: counting: 7 so far (")
    assert len(said) <= 4


def test_work_within_work_is_told_and_then_what_it_was_a_part_of(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str | None] = []
    monkeypatch.setattr(signs, "listeners", [told.append])
    signs.detail("nothing")
    with signs.during("building"), pytest.raises(ValueError), signs.during("compiling"):
        raise ValueError
    assert told == ["building", "compiling", "building", None]


def test_a_bar_says_it_where_there_is_one(heard: LifeSigns, capfd: pytest.CaptureFixture[str]) -> None:
    with Bar("games", "playing", 10) as bar:
        bar.show(completed=3)
        with signs.during("compiling: step"):
            time.sleep(0.3)
    assert "infoset: playing, 3 of 10 games, compiling: step (0 s)" in capfd.readouterr().err


@pytest.mark.parametrize("given", ["", "soon"])
def test_patience_that_is_no_number_is_a_second(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFOSET_PATIENCE", given)
    assert life_signs.patience() == 1.0


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("solve", "goofspiel(num_cards=4)", "--iterations", "10"), "building"),
        (("solve", "goofspiel(num_cards=4)", "--method", "mccfr", "--iterations", "10"), "exploring"),
        (("show", "goofspiel(num_cards=4)"), "infoset: enumerating positions"),
    ],
)
def test_commands_say_what_they_do_before_they_have_a_result(command: tuple[str, ...], words: str) -> None:
    environment = {**os.environ, "INFOSET_PATIENCE": "0.05"}
    done = subprocess.run(
        [sys.executable, "-m", "infoset", *command], check=True, capture_output=True, text=True, env=environment
    )
    assert words in done.stderr
