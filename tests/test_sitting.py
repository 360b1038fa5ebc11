"""What a table shows around its game: the score of a sitting, Pommerman's board before its first step."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra 'web' is not installed")

from infoset.web.tables import Kept, Table, Tables, _read

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
        self.tables.join(table.kept.id, 0)
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
        until(lambda: room.last.get("legal") and not room.last["end"])
        seat = room.last["seat"]
        assert room.last["public"]["played"] == number - 1
        assert table.heard(0, {"move": 0, "turn": room.last["turn"]}) == {}
        until(lambda: room.last["end"])
        paid = room.last["end"]["returns"]
        total = [total[0] + paid[seat], total[1] + paid[1 - seat]]
        public = room.last["public"]
        assert (public["played"], public["score"]) == (number, [total[seat], total[1 - seat]])
        table.heard(0, {"again": "swapped" if swapped else "same"})
    until(lambda: room.last.get("legal") and not room.last["end"])
    kept = _read(tmp_path / "played" / ".tables" / f"{table.kept.id}.table")
    assert isinstance(kept, Kept) and (kept.played, kept.score) == (3, total)  # a server that is begun anew goes on


def test_a_game_that_was_left_does_not_count(room: Room) -> None:
    table = room.sit("kuhn_poker", "human", "random")
    until(lambda: room.last.get("legal"))
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
