"""Remote agents: both protocols, from both sides; and whatever can go wrong there costs a move and no match."""

from __future__ import annotations

import json
import os
import random
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from command_line import run_infoset
from infoset import load, play_match, play_series
from infoset.arena.tournament import tournament
from infoset.errors import (
    FormatError,
    ParameterError,
    RemoteError,
    UnknownNameError,
    UnsupportedGameError,
    UnsupportedSystemError,
)
from infoset.match.agents import load_agent
from infoset_pommerman.observation import read_observation
from infoset_pommerman.playground.runner import read_wire
from infoset_pommerman.protocol import plain, read_seen, request

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "pommerman" / "http_samples.json"
TEAM = "pommerman:PommeTeamCompetition-v0"
CLOCK = 0.25


@pytest.fixture
def serve() -> Iterator[Callable[..., str]]:
    """Servers of our agents, which end with the test."""
    pytest.importorskip("starlette")
    from infoset.remote.server import server
    from infoset.remote.serving import listening

    running = []

    def start(agent: str, game: str | None = None, allowed: Iterable[str] = ()) -> str:
        where, serving = listening("127.0.0.1", 0), server(agent, game, allowed)
        thread = threading.Thread(target=serving.run, kwargs={"sockets": [where]})
        thread.start()
        running.append((serving, thread, where))
        return f"http://127.0.0.1:{where.getsockname()[1]}"

    yield start
    for serving, thread, where in running:
        serving.should_exit = True
        thread.join()
        where.close()


# ---------------------------------------------------------------------------------------------------------------------
# Our agents behind our server
# ---------------------------------------------------------------------------------------------------------------------


def test_a_served_agent_plays_any_game(serve) -> None:
    url = serve("random")
    for game in ("kuhn_poker(players=3)", "goofspiel(num_cards=3)", "gdl:monty_hall"):
        n = len(load(game).players)
        series = play_series(game, [url, *["random"] * (n - 1)], games=5, seed=1, rotate=True)
        assert (series.games, sum(series.agents[0].faults.values())) == (5, 0)
        assert series.agents[0].agent == f"http(url={url})"


def test_it_plays_as_it_does_here(serve) -> None:
    """A policy that is no mixture makes the same moves on both sides of the wire."""
    there, here = (
        play_match("goofspiel(num_cards=4)", [agent, "random"], seed=7)
        for agent in (serve("scripted(actions=[4,3,2])"), "scripted(actions=[4,3,2])")
    )
    assert [step.actions for step in there.steps] == [step.actions for step in here.steps]


def test_one_of_pommermans_agents_plays_in_either_protocol(serve) -> None:
    game = TEAM + "(max_steps=60)"
    url = serve("simple", game)
    for protocol in ("infoset", "playground"):
        match = play_match(game, [f"http(url='{url}',protocol={protocol})", "stop", "stop", "stop"], seed=3)
        assert not match.faults
        assert len({step.actions[0] for step in match.steps[1:]}) > 1


def test_a_game_that_it_does_not_play_is_refused_in_a_line(serve) -> None:
    with pytest.raises(UnsupportedGameError, match=r"agent meier is not made for"):
        play_match("kuhn_poker", [serve("meier"), "random"])
    with pytest.raises(UnsupportedGameError, match=r"leduc_poker is served here, not kuhn_poker"):
        play_match("kuhn_poker", [serve("random", "leduc_poker"), "random"])


def test_no_code_of_the_wire_is_run(serve, tmp_path: Path) -> None:
    url, mark = serve("random"), tmp_path / "ran"
    (tmp_path / "own.py").write_text(f"open({str(mark)!r}, 'w')\n")
    connection = HTTPConnection(url.removeprefix("http://"))
    body = {"match": "m", "game": f"python:{tmp_path / 'own.py'}:Own", "player": 0, "seed": 1, "seconds": None}
    connection.request("POST", "/begin", json.dumps(body))
    assert "code" in json.loads(connection.getresponse().read())["refused"]
    connection.close()
    assert not mark.exists()


COIN = 'EFG 2 R "coin" { "A" "B" }\np "" 1 1 "" { "heads" "tails" } 0\nt "" 1 "" { 1 -1 }\nt "" 2 "" { -1 1 }\n'
"""A game of one move."""


def begun(url: str, game: str) -> str:
    """Why a server does not play a game by that name; "" where it does."""
    connection = HTTPConnection(url.removeprefix("http://"), timeout=20)
    body = {"match": game[:50], "game": game, "player": 0, "seed": 1, "seconds": None}
    connection.request("POST", "/begin", json.dumps(body))
    refused = json.loads(connection.getresponse().read())["refused"]
    connection.close()
    return refused


def test_names_of_the_wire_open_no_file(serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "kuhn_poker"  # a run's folder under the name of a game
    run.mkdir()
    (run / "config.json").write_text('{"game": "leduc_poker"}')
    (tmp_path / "coin.efg").write_text(COIN)
    (tmp_path / "secret").write_text("a secret")
    (tmp_path / "device.efg").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.gdl")
    url = serve("random")
    for name in (
        "coin.efg", str(tmp_path / "coin.efg"), "device.efg", "pipe.gdl", str(tmp_path), ".", "/dev/zero", "secret",
        "openspiel:efg_game(filename=coin.efg)", "openspiel:kuhn_poker", "secret.py:Own", "coin.efg\x1b[31m",
        "pommerman:PommeFFACompetition-v0(state=secret)", "pommerman:OneVsOne-v0(state='/dev/zero')",
    ):  # fmt: skip
        refused = begun(url, name)
        assert re.search(r"not a shipped game|names a file of this machine|unknown game", refused), (name, refused)
        assert "a secret" not in refused and "\x1b" not in refused and "did you mean 'secret" not in refused
    assert begun(url, "kuhn_poker") == ""
    assert begun(url, "holdem_river(board=Ks7h2d9c5s,range1='AA:0.5,KK',range2=QQ)") == ""


def test_the_owner_lists_further_games(serve, tmp_path: Path) -> None:
    path = tmp_path / "coin.efg"
    path.write_text(COIN)
    url = serve("random", allowed=[str(path)])
    assert begun(url, str(path)) == begun(url, "elsewhere/coin.efg") == begun(url, "kuhn_poker") == ""
    assert "not a shipped game" in begun(url, "other.efg")
    match = play_match(str(path), [url, "random"], seed=1)
    assert match.steps[0].actions[0] in ("heads", "tails") and not match.faults
    only = serve("random", str(path))
    assert begun(only, "coin.efg") == ""
    assert "is served here, not kuhn_poker" in begun(only, "kuhn_poker")


def test_files_of_games_are_no_devices_and_no_pipes(tmp_path: Path) -> None:
    (tmp_path / "device.efg").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.gdl")
    for name in "device.efg", "pipe.gdl":
        with pytest.raises(FormatError, match="a device, a pipe or a socket"):
            load(str(tmp_path / name))


def test_what_an_agent_raises_is_said_on_both_sides(serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broken.py"
    path.write_text(
        "from infoset.match.agents import RandomAgent\n"
        "class Broken(RandomAgent):\n"
        "    def act(self, legal, deadline):\n"
        "        return lega[0]\n"
    )
    name, said = f"python:{path}:Broken", "act: NameError: name 'lega' is not defined"
    url = serve(name)
    match = play_match("goofspiel(num_cards=4)", [url, "random"], seed=1)
    assert {fault.detail for fault in match.faults} == {
        f"act: {url}: /act was answered by 500 Internal Server Error: {said}"
    }
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"infoset: {name}: {said} ({path}:4 in act)"] * len(match.faults)


def test_an_agent_that_always_fails_does_not_flood_the_screen(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("starlette")
    from infoset.remote.serving import LINES, Complaints

    complaints = Complaints()
    for _ in range(100):
        complaints.say("broken")
    complaints.started_at -= 60
    complaints.say("broken")
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["infoset: broken"] * LINES + [f"infoset: broken (and {100 - LINES} lines before it)"]


def test_callers_with_the_same_seed_do_not_meet(serve) -> None:
    url, faults = serve("random"), []

    def play() -> None:
        faults.append(sum(play_series("kuhn_poker", [url, "random"], games=50).agents[0].faults.values()))

    callers = [threading.Thread(target=play) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert faults == [0, 0, 0]


def test_a_game_that_is_being_played_is_not_replaced(serve) -> None:
    connection = HTTPConnection(serve("scripted(actions=[bet])").removeprefix("http://"))

    def ask(path: str, **values: object) -> tuple[int, dict]:
        connection.request("POST", path, json.dumps({"match": "m"} | values))
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    begin = {"game": "kuhn_poker", "player": 0, "seed": 1, "seconds": None}
    assert ask("/begin", **begin) == (200, {"refused": ""})
    assert ask("/begin", **begin | {"game": "leduc_poker"})[0] == 409
    act = {"number": 1, "sent": 0, "seen": [[None, "K"]], "legal_actions": ["pass", "bet"], "seconds": None}
    assert ask("/act", **act) == (200, {"number": 1, "action": "bet"})
    assert ask("/end", sent=1, seen=[], returns=[1, -1])[0] == 200
    assert ask("/begin", **begin)[0] == 200
    connection.close()


REQUESTS = {
    "no such game": (
        "/act",
        {"match": "x", "number": 1, "sent": 0, "seen": [], "legal_actions": [1], "seconds": 1},
        404,
    ),
    "no question": ("/act", {"match": "x"}, 400),
    "no object": ("/begin", 7, 400),
    "another protocol": (
        "/begin",
        {"match": "x", "game": "kuhn_poker", "player": 0, "seed": 1, "seconds": 1, "protocol": 9},
        400,
    ),
    "a negative seed": (
        "/begin",
        {"match": "x", "game": "kuhn_poker", "player": 0, "seed": -1, "seconds": 1},
        400,
    ),
    "a negative common seed": (
        "/begin",
        {"match": "x", "game": "kuhn_poker", "player": 0, "seed": 1, "seconds": 1, "common": -1},
        400,
    ),
    "a huge seed": (
        "/begin",
        {"match": "x", "game": "kuhn_poker", "player": 0, "seed": 10**4000, "seconds": 1},
        400,
    ),
    "no moves": ("/act", {"match": "x", "number": 1, "sent": 0, "seen": [], "legal_actions": [], "seconds": 1}, 400),
    "no page": ("/nothing", {}, 404),
    "too much": ("/begin", {"match": "x" * (1 << 22)}, 413),
    "deep": ("/act", None, 400),
}


@pytest.mark.parametrize("what", REQUESTS)
def test_requests_that_are_none_are_answered_in_a_line(serve, what) -> None:
    path, body, status = REQUESTS[what]
    connection = HTTPConnection(serve("random").removeprefix("http://"), timeout=10)
    connection.request("POST", path, "[" * 10_000 if body is None else json.dumps(body))
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    assert answer.status == status, text
    assert "Traceback" not in text and text.count("\n") == 0 and len(text) < 1000


def test_two_hundred_connections_and_slow_ones(serve) -> None:
    url = serve("random")
    address = ("127.0.0.1", int(url.rpartition(":")[2]))
    slow = [socket.create_connection(address) for _ in range(200)]
    for connection in slow:
        connection.sendall(b"POST /act HTTP/1.1\r\nContent-Length: 1000\r\n\r\n{")  # and no more
    match = play_match("leduc_poker", [url, "random"], seed=1, seconds_per_move=5.0)
    assert not match.faults
    for connection in slow:
        connection.close()


# ---------------------------------------------------------------------------------------------------------------------
# Faults: a server that does one thing wrong when it is asked for a move
# ---------------------------------------------------------------------------------------------------------------------


@contextmanager
def answering(act: Callable[[Faulty, dict], None], base: type[Faulty] | None = None) -> Iterator[str]:
    """A server that answers all well, but ``/act`` as it is told."""
    kind = type("Handler", (base or Faulty,), {"act": act})
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        server.daemon_threads = True
        server.block_on_close = False
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class Faulty(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            self.act(body) if self.path == "/act" else self.say({})
        except OSError:  # the referee has gone on
            self.close_connection = True

    def say(self, value: object, **more: object) -> None:
        self.text(json.dumps(value | more if isinstance(value, dict) else value).encode())

    def text(self, body: bytes, status: int = 200, length: int | None = None, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        for key, value in headers.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...


class Old(Faulty):
    """Answers as HTTP/1.0 allows: the body ends where the connection does, and comes in pieces."""

    protocol_version = "HTTP/1.0"

    def text(self, body: bytes, status: int = 200, length: int | None = None, **headers: str) -> None:
        self.send_response(status)
        self.end_headers()
        for k in range(0, len(body), 5):
            self.wfile.write(body[k : k + 5])


def test_answers_without_a_length_end_with_the_connection() -> None:
    def act(self: Faulty, body: dict) -> None:
        self.say({"number": body["number"], "action": body["legal_actions"][0]})

    with answering(act, Old) as url:
        match = play_match("leduc_poker", [url, "random"], seed=1)
    assert not match.faults


def goes_on(self: Faulty, body: dict) -> None:
    """A body without a length that does not end in time."""
    self.send_response(200)
    self.end_headers()
    for _ in range(100):
        self.wfile.write(b" ")
        time.sleep(CLOCK / 4)


def floods_on(self: Faulty, body: dict) -> None:
    self.send_response(200)
    self.end_headers()
    for _ in range(1 << 10):
        self.wfile.write(b" " * (1 << 20))


@pytest.mark.parametrize(
    ("act", "kind", "says"),
    [
        (goes_on, "late", "took"),
        (floods_on, "error", "more than 1,048,576 bytes"),
        (lambda self, body: self.text(b'{"number": 1,'), "error", "answered by no ChosenAction"),
        (lambda self, body: self.text(b'{"error": "why"}', 404), "error", "404 Not Found: why"),
    ],
    ids=["no end", "a gigabyte", "half an answer", "a refusal"],
)
def test_answers_without_a_length_have_a_deadline_and_a_size(act, kind: str, says: str) -> None:
    seconds = CLOCK if kind == "late" else 60.0  # what is no answer is one on a busy machine too
    with answering(act, Old) as url:
        match = play_match("kuhn_poker", [url, "random"], seed=1, seconds_per_move=seconds)
    assert match.faults[0].kind == kind and says in match.faults[0].detail


def late(self: Faulty, body: dict) -> None:
    time.sleep(4 * CLOCK)
    self.say({"number": body["number"], "action": body["legal_actions"][0]})


def drips(self: Faulty, body: dict) -> None:
    for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n":
        self.wfile.write(bytes([byte]))
        time.sleep(CLOCK / 4)


def floods(self: Faulty, body: dict) -> None:
    self.send_response(200)
    self.send_header("Content-Length", str(1 << 30))
    self.end_headers()
    for _ in range(1 << 10):
        self.wfile.write(b" " * (1 << 20))


def never_ends(self: Faulty, body: dict) -> None:
    self.text(b"{", length=100)
    time.sleep(4 * CLOCK)


def closes(self: Faulty, body: dict) -> None:
    self.close_connection = True


FAULTS: dict[str, tuple[Callable[[Faulty, dict], None], str, str]] = {
    "after the deadline": (late, "late", "took"),
    "one byte after the other": (drips, "late", "took"),
    "a gigabyte": (floods, "error", "more than 1,048,576 bytes"),
    "never ends": (never_ends, "late", "took"),
    "closes at once": (closes, "error", "closed without an answer"),
    "no JSON": (lambda self, body: self.text(b"<html>"), "error", "answered by no ChosenAction"),
    "NaN": (lambda self, body: self.text(b'{"number": 1, "action": NaN}'), "error", "answered by no ChosenAction"),
    "the previous question": (lambda self, body: self.say({"number": 0, "action": "bet"}), "error", "question 0 came"),
    "another's message": (lambda self, body: self.say({"success": True}), "error", "answered by no ChosenAction"),
    "an illegal move": (lambda self, body: self.say({"number": body["number"], "action": "raise"}), "illegal", "'raise'"),
    "a number for a move": (lambda self, body: self.say({"number": body["number"], "action": 0.5}), "illegal", "0.5"),
    "a redirection": (lambda self, body: self.text(b"", 302, Location="http://127.0.0.1:1"), "error", "302"),
    "not found": (lambda self, body: self.text(b"", 404), "error", "404"),
    "why": (lambda self, body: self.text(b'{"error": "no\\n\\u001bsuch game"}', 404), "error", "404 Not Found: no ?such game"),
    "a page": (lambda self, body: self.text(b"<html>", 500), "error", "answered by 500 Internal Server Error"),
    "a list": (lambda self, body: self.text(b"[" * 9999, 500), "error", "answered by 500 Internal Server Error"),
    "a long reason": (lambda self, body: self.text(json.dumps({"error": "x" * 9999}).encode(), 500), "error", "500 Int"),
    "a status alone": (lambda self, body: self.text(b"", 500, length=9), "error", "answered by 500"),
}  # fmt: skip


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_costs_the_move_and_never_the_match(what) -> None:
    act, kind, text = FAULTS[what]
    with answering(act) as url:
        match = play_match("kuhn_poker", [url, "random"], seed=1, seconds_per_move=CLOCK if kind == "late" else 60.0)
    asked = sum(step.seconds[0] is not None for step in match.steps)
    assert [fault.kind for fault in match.faults] == [kind] * asked
    assert all(text in fault.detail for fault in match.faults), match.faults
    assert sum(match.returns) == 0


def test_nobody_there(tmp_path: Path) -> None:
    """It is said before the first game, by the address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    words = f"^{re.escape(url)}: nobody listens there$"
    agents: list[list] = [[url, "random"], [load_agent(url), "random"], [f"mixed(agents=[random,'{url}'])", "random"]]
    for pair in agents:
        with pytest.raises(RemoteError, match=words):
            play_match("kuhn_poker", pair, seed=1)
        with pytest.raises(RemoteError, match=words):
            play_series("kuhn_poker", pair, games=2)
    for name in (url, f"ggp(url='{url}')"):
        with pytest.raises(RemoteError, match=words):
            tournament("gdl:tic_tac_toe", [name, "random"], games=2, workers=1, db=tmp_path / "t.db")
    assert not (tmp_path / "t.db").exists()
    (tmp_path / "cup.toml").write_text(f'game = "kuhn_poker"\nteams = ["{url}", "random"]\n')
    for line in (["match", "kuhn_poker", url, "random"], ["compete", "cup.toml"]):
        done = run_infoset(*line, cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (1, "", f"infoset: {url}: nobody listens there\n")


def test_one_that_takes_calls_and_never_answers_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infoset.remote.http.PATIENCE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(RemoteError, match=f"^{re.escape(url)}: no answer within 0.2 s$"):
            play_match("kuhn_poker", [url, "random"], seed=1)


def test_one_that_is_gone_later_costs_its_moves_alone() -> None:
    """It answered once: what follows are faults."""
    with answering(lambda self, body: self.say({"number": body["number"], "action": body["legal_actions"][0]})) as url:
        agent = load_agent(url)
        assert not play_match("kuhn_poker", [agent, "random"], seed=1).faults
        agent.channel.agent.wire.close()
    match = play_match("kuhn_poker", [agent, "random"], seed=1)
    assert {fault.kind for fault in match.faults} == {"error"}
    assert match.faults[0].detail == f"begin: {url}: nobody listens there"


def test_https_where_http_is_spoken() -> None:
    with answering(late) as url, pytest.raises(RemoteError, match="https is not spoken there"):
        play_match("kuhn_poker", [url.replace("http:", "https:"), "random"], seed=1)


def test_the_agent_of_the_guide_plays_by_its_card() -> None:
    guide = (Path(__file__).resolve().parents[2] / "docs" / "remote-agents.md").read_text()
    code = guide.partition("```python\n")[2].partition("ThreadingHTTPServer((")[0]
    there: dict = {}
    exec(code, there)
    with ThreadingHTTPServer(("127.0.0.1", 0), there["Agent"]) as server:
        server.daemon_threads = True
        server.block_on_close = False
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        matches = [play_match("kuhn_poker", [url, "random"], seed=seed) for seed in range(20)]
        with pytest.raises(UnsupportedGameError, match="kuhn_poker is played here"):
            play_match("leduc_poker", [url, "random"])
        server.shutdown()
    assert not any(match.faults for match in matches)
    assert {step.actions[0] for match in matches for step in match.steps} == {None, "bet", "pass"}
    assert not any(len(sent) for sent in there["games"].values())


def test_one_that_dies_in_the_game(serve) -> None:
    """The first move comes, then nothing: the rest of the match is played without it."""
    asked = []

    def dies(self: Faulty, body: dict) -> None:
        asked.append(body)
        if len(asked) > 1:
            self.close_connection = True
            return
        self.say({"number": body["number"], "action": body["legal_actions"][0]})

    with answering(dies) as url:
        match = play_match("goofspiel(num_cards=4)", [url, "random"], seed=1, seconds_per_move=60.0)
    assert [fault.step for fault in match.faults] == [3, 4] or len(match.faults) == len(match.steps) - 2


def test_a_late_answer_is_never_taken_for_a_later_question() -> None:
    """It answers the first question while the second waits; what it then says of the second counts."""
    asked = []

    def first_is_late(self: Faulty, body: dict) -> None:
        asked.append(body)
        if len(asked) == 1:
            time.sleep(6 * CLOCK)
        self.say({"number": body["number"], "action": body["legal_actions"][-1]})

    with answering(first_is_late) as url:
        match = play_match("goofspiel(num_cards=4)", [url, "random"], seed=1, seconds_per_move=4 * CLOCK)
    assert [fault.kind for fault in match.faults] == ["late"]
    first, second = asked[0], asked[1]
    assert (second["number"], second["sent"]) == (2, 0)
    assert second["seen"][: len(first["seen"])] == first["seen"]  # which may not have been heard


def test_the_sleeper_costs_its_moves_alone_wherever_it_is(serve, tmp_path: Path) -> None:
    """Half a second of sleep at a tenth of a second: here, in a process of its own, behind an address."""
    (tmp_path / "sleeper.py").write_text(
        "import time\n"
        "class Sleeper:\n"
        "    def begin(self, *a): ...\n"
        "    def observe(self, *a): ...\n"
        "    def act(self, legal, deadline):\n"
        "        time.sleep(0.5)\n"
        "        return legal[0]\n"
        "    def end(self, returns): ...\n"
    )
    name = f"python:{tmp_path / 'sleeper.py'}:Sleeper"
    for agent in (name, f'isolated(agent="{name}")', serve(name)):
        match = play_match("kuhn_poker", [agent, "random"], seed=1, seconds_per_move=0.1)
        spent = [step.seconds[0] for step in match.steps if step.seconds[0] is not None]
        assert {fault.kind for fault in match.faults if fault.step} == {"late"}
        assert all(seconds >= 0.1 for seconds in spent), spent


def test_those_elsewhere_think_at_the_same_time() -> None:
    """All are asked before the first answers."""
    meeting = threading.Barrier(2, timeout=30)

    def meets(self: Faulty, body: dict) -> None:
        meeting.wait()
        self.say({"number": body["number"], "action": body["legal_actions"][0]})

    with answering(meets) as url:
        match = play_match("rock_paper_scissors", [url, url + "/"], seed=1)
    assert not match.faults


@pytest.mark.parametrize("url", ["http:/localhost", "ftp://localhost", "http://", "http://a:x", "http://h?q=1"])
def test_what_is_no_address(url) -> None:
    with pytest.raises(ParameterError, match="is not an address"):
        load_agent(f"http(url='{url}')")


# ---------------------------------------------------------------------------------------------------------------------
# The playground's protocol
# ---------------------------------------------------------------------------------------------------------------------


def canonical(body: str) -> str:
    """A request with its keys in order, its inner texts too."""
    found = {key: json.loads(value) for key, value in json.loads(body).items()}
    return json.dumps({k: json.dumps(v, sort_keys=True) for k, v in sorted(found.items())})


def test_the_recorded_requests_are_reproduced() -> None:
    if not GOLDEN.exists():
        pytest.skip("no recorded requests")
    made = 0
    for sample in json.loads(GOLDEN.read_text()):
        if sample["path"] not in {"/init_agent", "/action", "/episode_end"}:
            continue
        values = {key: json.loads(value) for key, value in json.loads(sample["body"]).items()}
        if "obs" in values:
            observation = read_wire(values["obs"])
            radio = "message" in observation
            config = load("pommerman:PommeRadio-v2" if radio else "pommerman:PommeTeam-v0").config
            player = int(observation["board"][observation["position"]]) - 10
            again = read_observation(read_seen(observation), config, player)
            again["game_env"] = observation["game_env"]
            values["obs"] = plain(again)
            values["action_space"] = [6, 8, 8] if radio else 6
        assert canonical(request(values).decode()) == canonical(sample["body"])
        made += 1
    assert made == 8


class Original(BaseHTTPRequestHandler):
    """An agent of the original competition, by the description of its protocol alone: walks right, then left."""

    protocol_version = "HTTP/1.1"
    heard: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).heard.append(self.path)
        answer: dict[str, object] = {"success": True}
        if self.path == "/action":
            observation = json.loads(body["obs"])
            assert len(observation["board"]) == 11 and len(observation["flame_life"][10]) == 11
            action = 4 if observation["step_count"] % 2 else 3
            answer = {"action": [action, 1, 2] if isinstance(json.loads(body["action_space"]), list) else action}
        elif self.path == "/init_agent":
            assert set(body) == {"id", "game_type"}
        elif self.path == "/episode_end":
            assert set(body) == {"reward"}
        text = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.mark.parametrize("game", [TEAM, "pommerman:PommeRadioCompetition-v2"])
def test_an_agent_of_the_original_competition_plays(game) -> None:
    Original.heard = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Original) as server:
        server.daemon_threads = True
        server.block_on_close = False
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        match = play_match(game, [url, "simple", "stop", "simple"], seed=3)
        server.shutdown()
    assert not match.faults
    assert (Original.heard[0], Original.heard[-1]) == ("/init_agent", "/episode_end")
    actions = [step.actions[0] for step in match.steps if step.actions[0] is not None]
    assert {action if isinstance(action, int) else action[0] for action in actions} == {3, 4}
    assert match.steps[1].actions[0] in (3, (3, 1, 2))


def test_a_server_for_any_game_is_asked_for_pommerman_in_its_own_protocol(serve) -> None:
    url = serve("simple")
    match = play_match(TEAM + "(max_steps=20)", [url, "stop", "stop", "stop"], seed=3, seconds_to_begin=20.0)
    assert not match.faults
    assert len({step.actions[0] for step in match.steps[1:]}) > 1


class Minimal(Faulty):
    """Our protocol's questions alone; no ``/ping``."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path not in {"/begin", "/act", "/end"}:
            self.text(b"", 404)
            return
        self.say({"number": body["number"], "action": body["legal_actions"][1]} if self.path == "/act" else {})


def test_a_server_without_ping_plays_pommerman() -> None:
    with answering(late, Minimal) as url:
        match = play_match(TEAM + "(max_steps=5)", [url, "stop", "stop", "stop"], seed=3)
    assert not match.faults
    assert {step.actions[0] for step in match.steps[1:]} == {1}


def test_the_wrong_protocol_is_said(serve) -> None:
    name = f"http(url='{serve('simple')}',protocol=playground)"
    match = play_match(TEAM + "(max_steps=2)", [name, "stop", "stop", "stop"], seed=3)
    assert "the playground's protocol is spoken here with --game" in match.faults[0].detail


def test_a_client_of_the_original_plays_with_ours(serve) -> None:
    """A whole game, by the description of the protocol alone; what is answered is what the agent plays here."""
    game = load(TEAM)
    here = play_match(TEAM, ["simple", "stop", "stop", "stop"], seed=5)
    connection = HTTPConnection(serve("simple", TEAM).removeprefix("http://"))

    def ask(path: str, **values: object) -> dict:
        body = json.dumps({key: json.dumps(value) for key, value in values.items()})
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        found = json.loads(answer.read())
        assert answer.status == 200, found
        return found

    def as_json(value: object) -> object:
        return value.tolist() if isinstance(value, np.ndarray) else value

    assert ask("/init_agent", id=0, game_type=game.config.game_type) == {"success": True}
    state = game.start().state.play((None,) * 4, here.steps[0].chance_outcome).state
    steps = 0
    while not state.terminal:
        actions: list[int | None] = [0 if state.legal_actions(player) else None for player in range(4)]
        if state.legal_actions(0):
            seen = read_observation(game.resume(state.row).observation(0), game.config, 0)
            actions[0] = ask("/action", obs={k: as_json(v) for k, v in seen.items()}, action_space=6)["action"]
            assert actions[0] in state.legal_actions(0)
        state, steps = state.play(actions).state, steps + 1
    assert ask("/episode_end", reward=int(state.returns()[0])) == {"success": True}
    assert ask("/shutdown") == {"success": True}
    connection.close()
    assert steps > 10


def test_four_served_agents_play_what_they_play_here(serve) -> None:
    urls = [serve("simple", TEAM) for _ in range(4)]
    match = play_match(TEAM, urls, seed=1, seconds_per_move=5.0)
    assert not match.faults
    assert match.steps[-1].actions.count(None) < 4


WAITS = """
import time
from pathlib import Path

class Waits:
    \"\"\"Is slow while the other is away, so that its server comes back before the games are over.\"\"\"
    def begin(self, *a): ...
    def observe(self, *a): ...
    def act(self, legal_actions, deadline):
        if Path({away!r}).exists():
            time.sleep(0.1)
        return legal_actions[0]
    def end(self, returns): ...
"""


@contextmanager
def served(port: int) -> Iterator[subprocess.Popen[str]]:
    """A server in a process of its own, killed in the end."""
    command = [sys.executable, "-m", "infoset", "serve-agent", "random", "--port", str(port)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert "answers on" in process.stderr.readline()
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("moments", [2, 10])
def test_a_server_that_is_killed_loses_its_moves_until_it_is_there_again(tmp_path: Path, moments: int) -> None:
    """At random moments; every game is played and kept, and those after it came back without a fault."""
    pytest.importorskip("starlette")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    away, rng, over, kills = tmp_path / "away", random.Random(1), threading.Event(), []
    (tmp_path / "waits.py").write_text(WAITS.format(away=str(away)))
    teams = [f"http://127.0.0.1:{port}", f"python:{tmp_path / 'waits.py'}:Waits"]
    how = {"games": 600 * moments, "workers": 1, "db": tmp_path / "t.db", "slow": 60.0}

    up, begun = threading.Event(), threading.Event()

    def kill() -> None:
        for _ in range(moments):
            with served(port):
                up.set()
                begun.wait()
                away.unlink(missing_ok=True)
                if over.wait(rng.uniform(0.1, 0.5)):
                    return
                away.touch()
            kills.append(time.monotonic())
            over.wait(0.5)
        with served(port):
            away.unlink()
            over.wait()

    away.touch()
    killer = threading.Thread(target=kill)
    killer.start()
    up.wait()
    try:
        played = tournament("goofspiel(num_cards=3)", teams, **how, progress=lambda _: begun.set())
    finally:
        begun.set()
        over.set()
        killer.join()
    assert len(kills) == moments
    lost = {fault.game for fault in played.faults}
    assert {(fault.team, fault.kind) for fault in played.faults} == {(teams[0], "error")}
    assert len(lost) > moments
    assert played.games == played.planned == how["games"] > max(lost)
    again = tournament("goofspiel(num_cards=3)", teams, **how)  # without a server: what is over is over
    assert (again.fresh, again.table, again.faults) == (0, played.table, played.faults)


# ---------------------------------------------------------------------------------------------------------------------
# Containers
# ---------------------------------------------------------------------------------------------------------------------

DOCKER = """#!{python}
# The docker command as far as it is asked for: an image is one of our agents, a container a process that serves it.
import os, signal, subprocess, sys
command, *arguments = sys.argv[1:]
print(*sys.argv[1:], os.environ.get("DOCKER_AGENT_KEY"), file=open("{log}", "a"))
if command == "run":
    if arguments[-1] == "missing":
        sys.exit("docker: no such image: missing")
    serving = subprocess.Popen([sys.executable, "-m", "infoset", "serve-agent", arguments[-1], "--port", "0"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open("{log}.port", "w"), start_new_session=True)
    print(serving.pid)
elif command == "port":
    while not (text := open("{log}.port").read()).count("http://127.0.0.1:"):
        pass
    print(text.split("http://")[1].split(";")[0])
elif command == "rm":
    os.kill(int(arguments[-1]), signal.SIGKILL)
"""


def test_an_agent_in_a_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("starlette")
    log, program = tmp_path / "log", tmp_path / "bin" / "docker"
    program.parent.mkdir()
    program.write_text(DOCKER.format(python=sys.executable, log=log))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("DOCKER_AGENT_KEY", "42")
    agent = load_agent("docker(image=random,port=8000,memory=512)")
    series = play_series("kuhn_poker", [agent, "random"], games=3, seed=1)
    assert series.games == 3
    assert not any(series.agents[0].faults.values())
    agent.remove()
    run, port, remove = log.read_text().splitlines()
    assert run == "run --detach --rm --publish=127.0.0.1::8000 --memory=512m --cpus=1.0 --env=KEY=42 random 42"
    assert port.startswith("port ")
    assert remove.startswith("rm --force ")
    with pytest.raises(RemoteError, match="docker run: docker: no such image: missing"):
        load_agent("docker(image=missing)")


NO_DAEMON = "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"


@pytest.mark.parametrize(
    ("printed", "why"),
    [
        (f"{NO_DAEMON}\n\nRun 'docker run --help' for more information\n", NO_DAEMON),
        (f"{NO_DAEMON}\nSee 'docker run --help'.\n", NO_DAEMON),
        ("Unable to find image 'mine:latest' locally\ndocker: pull access denied\n", "docker: pull access denied"),
        ("", "status 125"),
    ],
)
def test_why_docker_fails(printed: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "docker"
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.stderr.write({printed!r})\nsys.exit(125)\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RemoteError) as raised:
        load_agent("docker(image=mine)")
    assert str(raised.value) == f"docker run: {why}"


def test_without_docker_it_says_so_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UnsupportedSystemError, match="needs the docker command"):
        load_agent("docker(image=random)")


def test_a_game_that_is_served_must_be_one() -> None:
    pytest.importorskip("starlette")
    from infoset.remote.server import server

    with pytest.raises(UnknownNameError, match="did you mean 'kuhn_poker'"):
        server("random", "kuhn_pokr")


def test_an_agent_that_does_not_play_the_game_is_not_served() -> None:
    pytest.importorskip("starlette")
    from infoset.remote.server import server

    with pytest.raises(UnsupportedGameError, match="agent meier is not made for kuhn_poker"):
        server("meier", "kuhn_poker")
    server("meier", "gdl:meier")
