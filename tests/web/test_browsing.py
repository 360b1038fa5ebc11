"""The page's questions about what lies in the folders, asked of a real server."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

import infoset
from conftest import KUHN
from infoset.arena.tournament import tournament

pytest.importorskip("uvicorn", reason="the extra 'web' is not installed")

from infoset.remote.serving import listening
from infoset.web.app import server
from infoset.web.guard import Guard
from infoset.web.site import Site

BETS = "scripted(actions=[bet,bet])"
HARM = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("served") / "folder"
    infoset.solve(KUHN, "cfr", iterations=20, out=made / "run")
    match = infoset.play_match(KUHN, ["random", BETS], seed=1)
    match.save(made / "match.json")
    body = json.loads((made / "match.json").read_bytes())
    (made / "script.json").write_text(json.dumps(body | {"agents": [HARM, HARM]}))
    (made / "code.json").write_text(json.dumps(body | {"game": "python:code.py:Game"}))
    match.save(made.parent / "secret.json")
    tournament(KUHN, ["random", BETS], games=6, workers=1, db=made / "games.db")
    return made


@pytest.fixture(scope="module")
def port(folder: Path) -> Iterator[int]:
    with listening("127.0.0.1", 0) as where:
        number: int = where.getsockname()[1]
        serving = server(Site((folder,), Guard("token", (), number)))
        thread = threading.Thread(target=serving.run, kwargs={"sockets": [where]})
        thread.start()
        try:
            yield number
        finally:
            serving.should_exit = True
            thread.join(20)
    assert not thread.is_alive()


def ask(port: int, path: str, method: str = "GET", **asked: Any) -> tuple[int, Any]:
    line = HTTPConnection("127.0.0.1", port, timeout=60)
    line.request(method, f"/api/{path}" + (f"?{urlencode(asked)}" if asked else ""))
    answer = line.getresponse()
    assert answer.getheader("content-type") == "application/json"
    assert answer.getheader("x-content-type-options") == "nosniff"
    body = json.loads(answer.read())
    line.close()
    return answer.status, body


def test_lists_standings_games_curves_and_recordings(port: int) -> None:
    status, first = ask(port, "first")
    assert (status, first["counts"]) == (200, {"game": 0, "run": 1, "tournament": 1, "replay": 3, "policy": 0})
    assert {item["name"] for item in ask(port, "artifacts")[1]} == {
        "0/run", "0/match.json", "0/script.json", "0/code.json", "0/games.db"
    }  # fmt: skip
    assert ask(port, "items", kind="replay", agent=BETS, limit=1)[1]["total"] == 2
    standings = ask(port, "standings", item="0/games.db")[1]
    assert standings["version"] == ask(port, "standings/version", item="0/games.db")[1]["version"]
    games = ask(port, "played", item="0/games.db", a=0, b=1)[1]
    assert games["total"] == standings["games"] == 6
    number = games["games"][0]["number"]
    recording = ask(port, "recording", item="0/games.db", match=number)[1]
    assert recording["agents"] == games["games"][0]["agents"]
    assert ask(port, "curve", item="0/run", most=3)[1]["columns"]["iteration"][-1] == 20


@pytest.mark.parametrize(
    "path", ["0/../secret.json", "0/%2e%2e/secret.json", "/etc/passwd", "0//etc/passwd", "0/match.json\0.json", "0/x" * 600]
)  # fmt: skip
@pytest.mark.parametrize("question", ["recording", "curve", "standings", "played", "standings/version"])
def test_no_path_leads_out_of_the_folders(port: int, folder: Path, question: str, path: str) -> None:
    assert (folder.parent / "secret.json").exists()
    for item in (path, quote(path)):
        status, body = ask(port, question, item=item)
        assert status == 404 and len(body["error"]) < 200


def test_what_cannot_be_asked_is_refused_in_a_line(port: int) -> None:
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("recording", {}), ("recording", {"item": "0/match.json", "match": -1}), ("items", {"limit": 10**6}),
        ("items", {"offset": "x"}), ("played", {"item": "0/games.db", "a": 1e9}), ("curve", {"item": "x" * 3000}),
    ]  # fmt: skip
    for path, asked in wrong:
        status, body = ask(port, path, **asked)
        assert status == 400 and "\n" not in body["error"]
    for path, asked in (("recording", {"item": "0/code.json"}), ("recording", {"item": "0/games.db", "match": 999})):
        status, body = ask(port, path, **asked)
        assert status == 422 and body["error"]
    assert ask(port, "curve", "POST", item="0/run")[0] == 405
    assert ask(port, "recording", item="0/script.json")[1]["agents"] == [HARM, HARM]  # as text, which JSON is


def test_a_run_that_is_deleted_while_it_is_shown(port: int, folder: Path) -> None:
    run = folder / "gone"
    run.mkdir()
    (run / "config.json").write_text('{"game": "kuhn_poker", "method": "cfr"}')
    (run / "metrics.jsonl").write_text('{"iteration": 1, "seconds": 1, "exploitability": 0.5}\n')
    assert ask(port, "curve", item="0/gone")[1]["points"] == 1
    for file in run.iterdir():
        file.unlink()
    run.rmdir()
    status, body = ask(port, "curve", item="0/gone")
    assert status == 404 and "deleted" in body["error"]


def test_a_thousand_replays_are_listed(port: int, folder: Path) -> None:
    many = folder / "many"
    many.mkdir()
    body = (folder / "match.json").read_bytes()
    for number in range(1000):
        (many / f"{number}.json").write_bytes(body)
    for _ in range(2):
        assert ask(port, "items", kind="replay", text="many")[1]["total"] == 1000
