"""What a table shows around its game: the score of a sitting, Pommerman's board before its first step."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import infoset

pytest.importorskip("starlette", reason="the extra 'web' is not installed")

from infoset.remote.serving import Refusal
from infoset.web.tables import Table, Tables, TableState, _read

PATIENCE = 60.0


class Room:
    """Tables, and what a browser in the first chair was told last."""

    def __init__(self, folder: Path) -> None:
        self.last: dict[str, Any] = {}
        self.tables = Tables(self._hear, (folder,))

    def _hear(self, topic: tuple[Any, ...], message: bytes) -> None:
        if topic[0] == "seat":
            told = json.loads(message)
            if told["kind"] == "seat":
                self.last = told

    def sit(self, game: str, *agents: str) -> Table:
        table = self.tables.tables[self.tables.open({"game": game, "agents": agents, "seed": 4})["table"]]
        self.tables.join(table.saved.id, 0)
        return table


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    found = Room(tmp_path)
    yield found
    found.tables.close()


def until(true: Callable[[], Any]) -> None:
    last = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < last
        time.sleep(0.01)


def test_the_score_of_a_sitting_follows_the_chairs(room: Room, tmp_path: Path) -> None:
    table = room.sit("rock_paper_scissors", "human", "random")
    total = [0.0, 0.0]
    for number, swapped in enumerate((False, True, False), start=1):
        until(lambda: room.last.get("legal_actions") and not room.last["end"])
        seat = room.last["seat"]
        assert room.last["public"]["played"] == number - 1
        assert table.heard(0, {"action": 0, "turn": room.last["turn"]}) == {}
        until(lambda: room.last["end"])
        paid = room.last["end"]["returns"]
        total = [total[0] + paid[seat], total[1] + paid[1 - seat]]
        public = room.last["public"]
        assert (public["played"], public["score"]) == (number, [total[seat], total[1 - seat]])
        table.heard(0, {"again": "swapped" if swapped else "same"})
    until(lambda: room.last.get("legal_actions") and not room.last["end"])
    saved = _read(tmp_path / "played" / ".tables" / f"{table.saved.id}.table")
    assert isinstance(saved, TableState) and (saved.played, saved.score) == (
        3,
        total,
    )  # a server that is begun anew goes on


def test_quick_games_at_one_table_are_kept_apart(room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infoset.web.tables.time.strftime", lambda form: "20300101-000000")  # all in one second
    table = room.sit("rock_paper_scissors", "human", "random")
    items = []
    for _ in range(3):
        until(lambda: room.last.get("legal_actions") and not room.last["end"])
        table.heard(0, {"action": 0, "turn": room.last["turn"]})
        until(lambda: room.last["end"])
        items.append(room.last["end"]["item"])
        table.heard(0, {"again": "same"})
    until(lambda: room.last.get("legal_actions") and not room.last["end"])
    files = sorted(path.name for path in (tmp_path / "played").glob("*.json"))
    assert files == sorted(item.rpartition("/")[2] for item in items) and len(files) == 3
    seeds = {infoset.Match.load(tmp_path / "played" / name).seed for name in files}
    assert len(seeds) == 3


def test_finished_tables_take_nobodys_place(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infoset.web.tables.MAX_TABLES", 2)
    monkeypatch.setattr("infoset.web.tables.MAX_ENDED", 3)
    tables = room.tables
    for number in range(8):
        table = tables.tables[tables.open({"game": "kuhn_poker", "agents": ["random"] * 2, "pace": 60})["table"]]
        if number < 3:
            table.live.watch(1)  # somebody still looks at how it ended
        until(lambda: table.over)  # noqa: B023
    assert len(tables.tables) <= 3 + 3 + 1
    for _ in range(2):
        tables.open({"game": "kuhn_poker", "agents": ["human", "random"]})
    with pytest.raises(Refusal, match="2 tables are already in use"):
        tables.open({"game": "kuhn_poker", "agents": ["human", "random"]})


def test_a_game_that_was_left_does_not_count(room: Room) -> None:
    table = room.sit("kuhn_poker", "human", "random")
    until(lambda: room.last.get("legal_actions"))
    table.heard(0, {"leave": True})
    until(lambda: room.last["end"])
    assert not room.last["end"]["over"] and room.last["public"]["played"] == 0 and room.last["public"]["score"] == []


def test_pommermans_board_is_there_before_the_first_step_and_waits(room: Room) -> None:
    table = room.sit("pommerman:OneVsOne-v0", "human", "stop")
    until(lambda: room.last.get("picture", {}).get("kind") == "pommerman")
    assert room.last["picture"]["step"] == 0 and len(room.last["picture"]["g"]) > 0
    time.sleep(0.5)  # more than two ticks
    assert room.last["picture"]["step"] == 0 and table.round is not None
    table.heard(0, {"go": True})
    until(lambda: room.last["picture"]["step"] > 1)
    table.heard(0, {"leave": True})
