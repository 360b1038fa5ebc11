"""Whatever lasts says so on stderr, also where that is no terminal."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from command_line import run_infoset
from infoset import status
from infoset.cli import status_line
from infoset.cli.progress import Bar
from infoset.cli.status_line import StatusLine


class Watched:
    """A listener without a thread, whose clock goes on when a test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setenv("INFOSET_PATIENCE", "1")
        monkeypatch.setattr(status_line, "monotonic", lambda: self.now)
        self.listener = StatusLine()
        self.listener.thread = threading.current_thread()
        monkeypatch.setattr(status, "listeners", [self.listener])

    def pass_seconds(self, seconds: float) -> None:
        """Looked at four times a second, as the thread does."""
        for _ in range(round(4 * seconds)):
            self.now += 0.25
            self.listener.look()


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(monkeypatch)


def test_what_is_quick_says_nothing(watched: Watched, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(5):
        with status.during("counting"):
            watched.pass_seconds(0.5)
        watched.pass_seconds(0.5)
    assert capsys.readouterr().err == ""


def test_what_lasts_says_so_now_and_then(watched: Watched, capsys: pytest.CaptureFixture[str]) -> None:
    with status.during("counting"):
        watched.pass_seconds(3)
        status.detail("counting: 7 so far")
        watched.pass_seconds(20)
    watched.pass_seconds(20)
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "infoset: counting (1 s)",
        "infoset: counting: 7 so far (12 s)",
        "infoset: counting: 7 so far (22 s)",
    ]


def test_a_thread_looks_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    said = threading.Event()
    listener = StatusLine()
    monkeypatch.setenv("INFOSET_PATIENCE", "0")
    monkeypatch.setattr(status_line, "say", lambda work, seconds: said.set())
    monkeypatch.setattr(status, "listeners", [listener])
    with status.during("counting"):
        assert said.wait(60)


def test_work_within_work_is_told_and_then_what_it_was_a_part_of(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str | None] = []
    monkeypatch.setattr(status, "listeners", [told.append])
    status.detail("nothing")
    with status.during("building"), pytest.raises(ValueError), status.during("compiling"):
        raise ValueError
    assert told == ["building", "compiling", "building", None]


def test_a_bar_says_it_where_there_is_one(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[dict[str, object]] = []
    monkeypatch.setattr(Bar, "show", lambda self, **fields: shown.append(fields))
    with Bar("games", "playing", 10), status.during("compiling: step"):
        watched.pass_seconds(1.25)
    assert shown == [{"quality": "compiling: step"}]


@pytest.mark.parametrize("given", ["", "soon", "nan", "inf"])
def test_patience_that_is_no_number_is_a_second(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFOSET_PATIENCE", given)
    assert status_line.patience() == 1.0


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("solve", "goofspiel(num_cards=4)", "--iterations", "10"), "building"),
        (("solve", "goofspiel(num_cards=4)", "--method", "mccfr", "--iterations", "10"), "building"),
        (("show", "goofspiel(num_cards=4)"), "infoset: enumerating positions"),
    ],
)
def test_commands_say_what_they_do_before_they_have_a_result(
    command: tuple[str, ...], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StatusLine, "__call__", lambda _, work: work and status_line.say(work, 0.0))  # at once
    done = run_infoset(*command, cwd=tmp_path)
    assert done.returncode == 0
    assert words in done.stderr
