"""The server of the page: who may ask, what breaks nothing, and that games outlive it."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import infoset
from infoset.match.replay import Match
from infoset.remote.serving import Refusal

pytest.importorskip("starlette", reason="the extra 'web' is not installed")
client = pytest.importorskip("websockets.sync.client", reason="the extra 'web' is not installed")
exceptions = pytest.importorskip("websockets.exceptions")
psutil = pytest.importorskip("psutil")

from starlette.datastructures import Headers  # noqa: E402

from infoset.web.guard import Guard  # noqa: E402
from infoset.web.queue import RunningRequest  # noqa: E402
from infoset.web.seats import Solved, key_of, solve_for_play  # noqa: E402
from infoset.web.site import page_files  # noqa: E402
from infoset.web.tables import Suspended, Tables  # noqa: E402
from infoset.web.watching import Watching  # noqa: E402

PATIENCE = 20.0
HOSTILE = "</script><img src=x onerror=alert(1)>\x00\x1b[31m"


class Server:
    """``infoset serve`` in a process of its own."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "infoset", "serve", str(folder), "--port", "0"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        found = re.search(r"http://(127.0.0.1:(\d+))/#/\?token=(\S+)", self.process.stderr.readline())
        assert found
        self.seats: list[Seat] = []
        self.host, self.port, self.token = found[1], int(found[2]), found[3]

    def ask(self, method: str, path: str, body: Any = None, token: str | None = "", **headers: str) -> tuple[int, Any]:
        """The status and the JSON; ``token`` is the server's where none is given."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as line:
            sent = body if isinstance(body, bytes | None) else json.dumps(body).encode()
            if token is not None:
                headers["x-infoset-token"] = token or self.token
            line.putrequest(method, path, skip_host="Host" in headers)
            if sent is not None:
                line.putheader("content-length", str(len(sent)))
            for name, value in headers.items():
                line.putheader(name, value)
            line.endheaders(sent)
            answer = line.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if "json" in answer.headers["content-type"] else text

    def open(self, game: str, *agents: str, **more: Any) -> dict[str, Any]:
        status, told = self.ask("POST", "/api/tables", {"game": game, "agents": agents, **more})
        assert status == 200, told
        return dict(told)

    def seat(self, table: dict[str, Any], **options: Any) -> Seat:
        self.seats.append(Seat(self, table, **options))
        return self.seats[-1]

    def stop(self, how: int = signal.SIGTERM) -> None:
        for seat in self.seats:
            seat.close()
        children = psutil.Process(self.process.pid).children(recursive=True)
        self.process.send_signal(how)
        self.process.wait(10)
        if self.process.stderr is not None:
            self.process.stderr.close()
        for child in children:  # which end by themselves
            child.wait(10)


class Seat:
    """A browser in a seat."""

    def __init__(self, server: Server, table: dict[str, Any], key: str | None = None) -> None:
        self.stack = ExitStack()
        self.line = self.stack.enter_context(
            client.connect(f"ws://{server.host}/api/tables/{table['table']}", max_size=None)
        )
        self.line.send(json.dumps({"token": server.token, "key": table["key"] if key is None else key}))

    def hear(self, wanted: Any = lambda message: True) -> dict[str, Any]:
        """The next message that is wanted."""
        until = time.monotonic() + PATIENCE
        while True:
            message = json.loads(self.line.recv(timeout=max(0.01, until - time.monotonic())))
            if wanted(message):
                return dict(message)

    def turn(self) -> dict[str, Any]:
        """What is seen when a move is due, or the game is over."""
        return self.hear(lambda message: message.get("legal_actions") or message.get("end"))

    def say(self, **message: Any) -> None:
        self.line.send(json.dumps(message))

    def play_on(self, view: dict[str, Any]) -> dict[str, Any]:
        """The first move every time, until the end."""
        while not view["end"]:
            self.say(action=0, turn=view["turn"])
            view = self.hear(
                lambda m, past=view: m.get("end") or (m.get("legal_actions") and m["turn"] != past["turn"])
            )
        return view

    def close(self) -> None:
        self.stack.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = tmp_path_factory.mktemp("serving") / "runs"
    (runs / "secret.py").parent.mkdir()
    (runs / "secret.py").write_text("raise SystemExit('it was run')\n\nclass A: ...\n")
    return runs


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    found = Server(folder)
    yield found
    found.stop()


def resting(server: Server) -> bool:
    return server.ask("GET", "/page/app.js")[0] == 200


@pytest.mark.parametrize(
    "path", ["/page/../guard.py", "/page/%2e%2e/%2e%2e/web/guard.py", "/page//etc/passwd", "/page/..%2fapp.js", "/x"]
)
def test_no_path_leads_out_of_the_page(server: Server, path: str) -> None:
    status, told = server.ask("GET", path)
    assert status == 404 and "error" in told


def test_only_its_own_page_may_ask_it_by_its_own_name(server: Server) -> None:
    assert server.ask("GET", "/api/games", Origin=f"http://{server.host}")[0] == 200
    assert server.ask("GET", "/api/games", Origin="http://evil.example")[0] == 403
    assert server.ask("GET", "/api/games", Origin="null")[0] == 403
    assert server.ask("GET", "/api/games", Host="evil.example")[0] == 421
    assert server.ask("GET", "/", Host=f"evil.example:{server.port}")[0] == 421
    assert server.ask("GET", "/", Host="[")[0] == 421
    assert server.ask("GET", "/api/games", Origin="http://[")[0] == 403


@pytest.mark.parametrize("place", ["tables/0123456789abcdef", "live/0123456789abcdef"])
def test_other_sites_open_no_line(server: Server, place: str) -> None:
    for headers in ({"Origin": "http://evil.example"}, {"Host": f"evil.example:{server.port}"}):
        with pytest.raises(exceptions.InvalidStatus, match="403"):
            client.connect(f"ws://{server.host}/api/{place}", additional_headers=headers).__enter__()


def test_nothing_is_begun_without_the_token(server: Server) -> None:
    asked = {"game": "kuhn_poker", "agents": ["human", "random"]}
    for token in (None, "wrong"):
        assert server.ask("POST", "/api/tables", asked, token)[0] == 401
    table = server.open("kuhn_poker", "human", "human")
    assert server.ask("POST", f"/api/tables/{table['table']}/seat", {}, None)[0] == 401
    with client.connect(f"ws://{server.host}/api/tables/{table['table']}") as line:
        line.send(json.dumps({"token": "wrong", "key": table["key"]}))
        assert "token" in json.loads(line.recv(timeout=PATIENCE))["why"]
        with pytest.raises(exceptions.ConnectionClosed):
            line.recv(timeout=PATIENCE)


def test_what_is_too_large_or_too_slow_is_refused(server: Server) -> None:
    assert server.ask("POST", "/api/tables", b"x" * 100_000)[0] == 413
    assert server.ask("POST", "/api/tables", b"[" * 50_000)[0] == 400
    assert server.ask("POST", "/api/tables", b"\xff{}")[0] == 400
    with socket.create_connection(("127.0.0.1", server.port)) as line:  # a body that never comes
        line.sendall(
            f"POST /api/tables HTTP/1.1\r\nHost: {server.host}\r\nX-Infoset-Token: {server.token}\r\n"
            "Content-Length: 100\r\n\r\n{".encode()
        )
        assert resting(server)
    table = server.open("kuhn_poker", "human", "random")
    seat = server.seat(table)
    seat.turn()
    seat.line.send("x" * 20_000)
    with pytest.raises(exceptions.ConnectionClosed):
        seat.hear(lambda message: False)


@pytest.mark.parametrize(
    "asked",
    [
        {"game": "python:secret.py:A", "agents": ["human"]},
        {"game": "0/secret.py", "agents": ["human"]},
        {"game": "0/../../secret.efg", "agents": ["human"]},
        {"game": "/etc/passwd.efg", "agents": ["human"]},
        {"game": "openspiel:kuhn_poker", "agents": ["human"]},
        {"game": "pommerman:OneVsOne-v0(state=/etc/passwd)", "agents": ["human", "simple"]},
        {"game": "kuhn_poker", "agents": ["human", "python:secret.py:A"]},
        {"game": "kuhn_poker", "agents": ["human", "isolated(agent=random)"]},
        {"game": "kuhn_poker", "agents": ["human", "kaggle(path=secret)"]},
        {"game": "kuhn_poker", "agents": ["human", "kaggle:secret.py"]},
        {"game": "kuhn_poker", "agents": ["human", "policy(path=/etc/passwd)"]},
        {"game": "kuhn_poker", "agents": ["human", "http://127.0.0.1:1"]},
        {"game": "kuhn_poker", "agents": ["human", "playground(path=secret.py)"]},
        {"game": "kuhn_poker", "agents": ["human", "adaptive(agent=python:secret.py:A)"]},
        {"game": "kuhn_poker", "agents": ["human", "0/secret.py"]},
        {"game": "kuhn_poker", "agents": ["human"]},
        {"game": "kuhn_poker", "agents": ["human", "random"], "seed": -1},
        {"game": "kuhn_poker", "agents": ["human", "human"], "seed": 5},
        {"game": "kuhn_poker", "agents": ["human", "random"], "pace": 1e9},
        {"game": "kuhn_poker", "agents": ["human", "human"], "practice": True},
        {"game": "kuhn_poker", "agents": ["human", "random"], "more": 1},
        {"game": HOSTILE, "agents": [HOSTILE]},
        {"game": "k" * 10_000, "agents": ["human", "random"]},
    ],
)
def test_names_that_come_over_the_network_run_and_read_nothing(server: Server, asked: dict[str, Any]) -> None:
    status, told = server.ask("POST", "/api/tables", asked)
    assert status in (400, 404, 422), told
    assert "it was run" not in told["error"] and "\x1b" not in told["error"] and len(told["error"]) < 1000


def test_a_whole_game(server: Server, folder: Path) -> None:
    table = server.open("kuhn_poker", "human", "random", seed=5)
    seat = server.seat(table)
    view = seat.turn()
    assert view["legal_actions"] == ["pass", "bet"] and view["public"]["agents"] == ["human", "random"]
    end = seat.play_on(view)["end"]
    match = Match.load(folder / end["item"].removeprefix("0/"))
    assert match.over and list(match.returns) == end["returns"] and match.agents == ("human", "random")
    assert infoset.replay_states(match)
    assert not list((folder / "played" / ".tables").glob(f"{table['table']}*"))
    seat.say(again="swapped")
    assert seat.turn()["seat"] == 1
    seat.close()


def test_two_browsers_in_one_seat_see_the_same_and_a_stale_move_is_refused(server: Server) -> None:
    table = server.open("leduc_poker", "human", "random", seed=1)
    one, two = server.seat(table), server.seat(table)
    view = one.turn()
    assert two.turn() == view
    one.say(action=0, turn=view["turn"])
    after = one.hear(lambda message: message.get("legal_actions") and message["turn"] != view["turn"])
    assert two.hear(lambda message: message.get("legal_actions") and message["turn"] != view["turn"]) == after
    two.say(action=0, turn=view["turn"])
    assert "that turn is over" in two.hear(lambda message: message["kind"] == "refused")["why"]
    two.say(action=99, turn=after["turn"])
    assert "no move 99" in two.hear(lambda message: message["kind"] == "refused")["why"]
    for seat in (one, two):
        seat.close()


def test_a_seat_is_its_owners(server: Server) -> None:
    table = server.open("kuhn_poker", "human", "human")
    status, other = server.ask("POST", f"/api/tables/{table['table']}/seat", {})
    assert status == 200 and other["chair"] == 1 and other["key"] != table["key"]
    assert server.ask("POST", f"/api/tables/{table['table']}/seat", {})[0] == 409
    stranger = server.seat(table, key="guessed")
    assert "not a seat of yours" in stranger.hear()["why"]
    with client.connect(f"ws://{server.host}/api/live/{table['table']}") as line:  # nor can it be watched
        line.send("{}")
        assert "people play there" in json.loads(line.recv(timeout=PATIENCE))["why"]
    listed = server.ask("GET", "/api/tables")[1]
    assert table["key"] not in json.dumps(listed) and other["key"] not in json.dumps(listed)


def test_what_seats_are_sent_tells_nothing_of_other_cards(server: Server) -> None:
    """Kuhn poker in all its deals: those who hold the same card and see the same moves are sent the same."""
    sent: dict[tuple[str, ...], set[str]] = {}
    deals = set()
    for _ in range(100):  # each deal comes once in six times
        if len(deals) == 6:
            break
        table = server.open("kuhn_poker", "human", "human")
        _, other = server.ask("POST", f"/api/tables/{table['table']}/seat", {})
        seats = [server.seat(table), server.seat({**table, **other})]
        heard: list[list[str]] = [[], []]
        for p in (0, 1):
            view = seats[p].turn()
            heard[p].append(json.dumps(view))
            if p == 0:
                seats[0].say(action=0, turn=view["turn"])
        cards = tuple(json.loads(heard[p][0])["picture"]["areas"][p]["cards"][0] for p in (0, 1))
        deals.add(cards)
        for p in (0, 1):
            sent.setdefault((str(p), cards[p]), set()).add("".join(heard[p]))
        seats[0].say(leave=True)
        for seat in seats:
            seat.close()
    assert len(deals) == 6 and len(sent) == 6
    assert all(len(different) == 1 for different in sent.values())


def test_practice_takes_moves_back_and_gives_hints(server: Server) -> None:
    table = server.open("kuhn_poker", "human", "equilibrium", practice=True, seed=2)
    seat = server.seat(table)
    view = seat.turn()
    seat.say(hint="auto")
    hint = seat.hear(lambda message: message["kind"] != "seat")
    assert hint["turn"] == view["turn"] and sum(hint["probabilities"]) == pytest.approx(1)
    seat.say(action=0, turn=view["turn"])
    seat.hear(lambda message: len(message.get("descriptions", ())) > len(view["descriptions"]))
    time.sleep(0.3)
    seat.say(undo=True)
    back = seat.hear(
        lambda message: message["kind"] == "refused" or (message["public"]["undone"] == 1 and message["legal_actions"])
    )
    if back["kind"] == "seat":  # it was not over yet
        assert back["descriptions"] == view["descriptions"] and back["turn"] != view["turn"]
    seat.close()


def test_a_game_goes_on_after_the_server_was_killed(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    first = Server(runs)
    table = first.open("goofspiel(num_cards=5)", "human", "random", seed=4)
    seat = first.seat(table)
    view = seat.turn()
    seat.say(action=1, turn=view["turn"])
    view = seat.hear(lambda message: message.get("legal_actions") and message["turn"] != view["turn"])
    first.stop(signal.SIGKILL)
    assert not list((runs / "played").glob("*.json"))
    second = Server(runs)
    try:
        listed = second.ask("GET", "/api/tables")[1]
        assert [one["table"] for one in listed] == [table["table"]]
        seat = second.seat(table)
        again = seat.turn()
        assert again == view
        end = seat.play_on(again)["end"]
        match = Match.load(runs / end["item"].removeprefix("0/"))
        assert match.over and len(match.steps) > 3 and infoset.replay_states(match)
        seat.close()
    finally:
        second.stop()


def test_a_worker_that_is_killed_loses_no_game(server: Server) -> None:
    table = server.open("leduc_poker", "human", "random", seed=1)
    seat = server.seat(table)
    view = seat.turn()
    for child in psutil.Process(server.process.pid).children():
        if "resource_tracker" not in " ".join(child.cmdline()):
            child.kill()
    with pytest.raises(exceptions.ConnectionClosed):
        seat.hear(lambda message: False)
    again = server.seat(table)
    assert again.turn() == view
    again.close()


def test_many_connections_leave_room(server: Server) -> None:
    with ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
        assert resting(server)
    assert resting(server)


def test_slow_and_idle_connections_leave_room_for_games(server: Server) -> None:
    """Sixty heads that do not end and two hundred idle connections from the address of the player."""
    with ExitStack() as stack:
        for k in range(260):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            line.sendall(b"GET / HTTP/1.1\r\nX-Slow: " if k < 60 else b"")
        for _ in range(30):  # as many as a class
            assert resting(server)
        seat = server.seat(server.open("kuhn_poker", "human", "random"))
        assert seat.turn()
        seat.close()


def test_an_address_has_a_share_of_the_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    from infoset.web import sockets

    monkeypatch.setattr(sockets, "SHARE", 2)
    site: Any = SimpleNamespace(hub=sockets.Hub(), guard=SimpleNamespace(check=lambda socket: None))
    opened: list[str] = []
    done = asyncio.Event()

    class LimitedConnection:
        def __init__(self, address: str) -> None:
            self.client = SimpleNamespace(host=address)

        async def accept(self) -> None:
            opened.append(self.client.host)

        async def receive_text(self) -> str:
            return "{}"

        async def close(self, *_: Any) -> None: ...

    async def talk(*_: Any) -> None:
        await done.wait()

    async def everybody() -> None:
        handle = sockets._line(site, talk)
        addresses = ["10.0.0.1"] * 3 + ["10.0.0.2"]
        tasks = [asyncio.ensure_future(handle(LimitedConnection(address))) for address in addresses]
        while len(opened) < 3:
            await asyncio.sleep(0)
        done.set()
        await asyncio.gather(*tasks)

    asyncio.run(everybody())
    assert opened == ["10.0.0.1", "10.0.0.1", "10.0.0.2"]
    assert not site.hub.sockets


def test_a_class_behind_one_address_is_let_in_and_who_asks_too_often_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("infoset.web.guard.monotonic", lambda: now[0])
    found = Guard("token", (), 80)
    question: Any = SimpleNamespace(headers=Headers({"host": "localhost"}), client=SimpleNamespace(host="10.0.0.1"))
    for _ in range(30 * 40):  # thirty open the page at once, and ask what it asks
        found.check(question)
    with pytest.raises(Refusal, match="too many requests"):
        for _ in range(3000):
            found.check(question)
    question.client.host = "10.0.0.2"
    found.check(question)
    question.client.host, now[0] = "10.0.0.1", 1.0
    found.check(question)


def test_the_pages_own_files_are_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty visitors behind one address load all of it while that address may ask for nothing else."""
    from infoset.web.app import build_app
    from infoset.web.site import Site

    monkeypatch.setattr("infoset.web.guard.BURST", 1.0)
    monkeypatch.setattr("infoset.web.guard.monotonic", lambda: 0.0)
    guard = Guard("token", (), 80)
    app = build_app(Site((tmp_path,), guard))
    question: Any = SimpleNamespace(headers=Headers({"host": "localhost"}), client=SimpleNamespace(host="10.0.0.1"))
    guard.check(question)  # the only one

    async def asked(path: str) -> tuple[int, dict[str, str]]:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        scope = {
            "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b"",
            "headers": [(b"host", b"localhost")], "client": ("10.0.0.1", 5), "root_path": "", "scheme": "http",
            "server": ("localhost", 80), "http_version": "1.1",
        }  # fmt: skip
        await app(scope, receive, send)
        return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}

    async def everybody() -> None:
        for _ in range(30):
            for path in page_files():
                assert (await asked(f"/page/{path}"))[0] == 200
        status, headers = await asked("/api/games")
        assert status == 429 and headers["retry-after"] == "1"

    asyncio.run(everybody())


def test_idle_it_costs_next_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    server = Server(tmp_path / "runs")
    try:
        assert resting(server)
        process = psutil.Process(server.process.pid)
        assert not process.children()
        assert process.memory_info().rss < 100e6

        def seconds_used() -> float:
            """Processor time of two seconds."""
            before = sum(process.cpu_times()[:2])
            time.sleep(2)
            return sum(process.cpu_times()[:2]) - before

        assert any(seconds_used() < 0.02 + 0.01 for _ in range(5))  # other processes may still be ending in the first
    finally:
        server.stop()


@contextmanager
def watching(server: Server, table: str) -> Iterator[Any]:
    with client.connect(f"ws://{server.host}/api/live/{table}", max_size=None) as line:
        line.send("{}")
        yield line


def first_of(line: Any) -> dict[str, Any]:
    until = time.monotonic() + 3 * PATIENCE
    while True:
        message = json.loads(line.recv(timeout=max(0.01, until - time.monotonic())))
        if message["kind"] == "first" and message["recording"]:
            return dict(message["recording"])


def test_a_game_of_agents_is_watched_from_its_start_to_its_end(server: Server) -> None:
    table = server.open("leduc_poker", "random", "random", seed=3, pace=10)["table"]
    with watching(server, table) as line:
        recording = first_of(line)
        frames = list(recording["frames"])
        while (message := json.loads(line.recv(timeout=PATIENCE)))["kind"] != "end":
            if message["kind"] == "frame":
                frames.append(message["frame"])
    played = infoset.play_match("leduc_poker", ["random", "random"], seed=3)
    assert len(frames) == len(played.steps) + 1 and message["result"]["returns"] == list(played.returns)


@pytest.mark.slow
def test_ten_viewers_see_thirty_frames_a_second(server: Server) -> None:
    """At most, and all of them the same; a busy machine shows fewer."""
    agents = ["simple"] * 4
    table = server.open("pommerman:PommeTeamCompetition-v0(seed=7)", *agents, seed=1, pace=30)["table"]
    with ExitStack() as stack:
        lines = [stack.enter_context(watching(server, table)) for _ in range(10)]
        for line in lines:
            first_of(line)
        begun, counts = time.monotonic(), [0] * len(lines)
        while min(counts) < 100:
            for k, line in enumerate(lines):
                counts[k] += json.loads(line.recv(timeout=PATIENCE))["kind"] == "frame"
        assert time.monotonic() - begun > 2  # some of the first frames have waited
        assert max(counts) - min(counts) <= 2


def test_who_falls_behind_costs_a_bounded_number_of_messages() -> None:
    from infoset.web.sockets import MAX_WAITING, Frames, Newest

    newest, frames = Newest(), Frames()
    for number in range(1000):
        newest.put(number)
        frames.put(number)
    assert newest.waiting == [999]
    assert len(frames.waiting) <= MAX_WAITING and frames.waiting[-1] == 999 and frames.missed


def test_who_never_reads_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.routing import WebSocketRoute

    from infoset.web import sockets

    monkeypatch.setattr(sockets, "PATIENCE", 0.3)
    sent: list[int] = []
    ended = threading.Event()

    async def flood(line: Any) -> None:
        await line.accept()
        try:
            for number in range(1000):
                await line.send_text("x" * 100_000)
                sent.append(number)
        finally:
            ended.set()

    app = Starlette(routes=[WebSocketRoute("/", flood)])
    server = uvicorn.Server(uvicorn.Config(app, ws=sockets.Wire, log_level="critical", lifespan="off"))
    with socket.create_server(("127.0.0.1", 0)) as where:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [where]})
        thread.start()
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect(where.getsockname())
            deaf.sendall(
                b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
            )
            assert ended.wait(PATIENCE)
        server.should_exit = True
        thread.join(PATIENCE)
    assert len(sent) < 12  # of 100 kB each


# The room of tables by itself


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Tables]:
    found = Tables(lambda topic, value: None, (tmp_path,))
    yield found
    found.close()


def until(true: Any) -> None:
    last = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < last
        time.sleep(0.01)


def test_a_table_that_cannot_begin_is_told_and_leaves_nothing(room: Tables) -> None:
    table = room.tables[room.open({"game": "pommerman:OneVsOne-v0", "agents": ["equilibrium", "simple"]})["table"]]
    until(lambda: table.failed)
    until(lambda: not list(room.unfinished.iterdir()))
    assert not room.busy() and not room.list()
    with pytest.raises(Refusal):
        room.watch(table.saved.id)


def test_who_leaves_while_the_agents_are_made_has_left(room: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    made, go = room.agents.make, threading.Event()
    monkeypatch.setattr(room.agents, "make", lambda *asked: (go.wait(PATIENCE), made(*asked))[1])
    table = room.tables[room.open({"game": "kuhn_poker", "agents": ["human", "random"]})["table"]]
    assert room.say(table.saved.id, 0, {"leave": True}) == {}
    go.set()
    until(lambda: table.end)
    assert table.end is not None and not table.end.over


class Solving:
    """Solves for tables once the test says so; what was solved, and what tables were told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, room: Tables) -> None:
        self.begun, self.go, self.told = list[str](), threading.Event(), list[tuple[Any, dict[str, Any]]]()
        monkeypatch.setattr("infoset.web.seats.solve_for_play", self.solve)
        room.news = lambda topic, value: self.told.append((topic, json.loads(value)))

    def solve(self, game: Any, job: RunningRequest) -> Solved:
        self.begun.append(game.name)
        while not self.go.wait(0.005):
            job.check()
        return solve_for_play(game, job)

    def lines(self, table: str) -> list[str]:
        return [told.get("what") or told.get("why") for topic, told in self.told if topic[1] == table]


def test_a_class_at_tables_waits_for_one_solution_of_a_game(room: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    solving = Solving(monkeypatch, room)
    asked = {"game": "kuhn_poker", "agents": ["human", "equilibrium"]}
    tables = [room.tables[room.open({**asked, "visitor": f"v{k}"})["table"]] for k in range(30)]
    until(lambda: len(room.agents.queue.requests) == 30)
    solving.go.set()
    until(lambda: all(table.state is not None for table in tables))
    assert solving.begun == ["kuhn_poker"]
    assert not any(table.failed for table in tables)
    assert room.agents.queue.requests == {}  # nothing is left of what was waited for
    found = room.agents.equilibrium(tables[0].game)
    assert room.agents.equilibrium(infoset.load("kuhn_poker")) is found and solving.begun == ["kuhn_poker"]


def test_tables_are_told_their_place_until_they_are_left(room: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    solving = Solving(monkeypatch, room)
    games = ["kuhn_poker", "rock_paper_scissors", "leduc_poker", "liars_dice(dice_sides=3)"]
    keys = [
        room.open({"game": game, "agents": ["human", "equilibrium"], "visitor": game})["table"] for game in games[:2]
    ]
    until(lambda: len(solving.begun) == 2)
    for game in games[2:]:
        keys.append(room.open({"game": game, "agents": ["human", "equilibrium"], "visitor": game})["table"])
        until(lambda: solving.lines(keys[-1]))
    assert solving.lines(keys[2])[-1] == "in the queue: place 1, the next"
    assert solving.lines(keys[3])[-1] == "in the queue: place 2"
    room.join(keys[3], 0)  # who comes now is told, too
    assert len(solving.lines(keys[3])) == 2
    assert room.say(keys[2], 0, {"leave": True}) == {}
    until(lambda: room.tables[keys[2]].failed)
    assert room.tables[keys[2]].failed == "left before the game began"
    until(lambda: solving.lines(keys[3])[-1] == "in the queue: place 1, the next")
    with pytest.raises(Refusal, match="not solved yet"):  # a hint holds nobody up
        monkeypatch.setattr("infoset.web.seats.HINTS", 0.0)
        room.agents.hint("auto", infoset.load("goofspiel(num_cards=3)"), 0, (), (0, 1))
    table = room.tables[keys[3]]
    table.suspend()
    assert table.thread is not None
    table.thread.join(PATIENCE)
    assert not table.failed and table.stopped is Suspended
    assert (room.unfinished / f"{keys[3]}.table").is_file()  # it is set again for who comes next
    solving.go.set()


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "tiny_hanabi", "examples/half_street_poker.efg"])
def test_the_equilibrium_at_a_table_is_found_as_the_command_line_does(name: str) -> None:
    game = infoset.load(str(Path(__file__).parents[2] / name) if name.endswith(".efg") else name)
    job = RunningRequest(name, lambda job: None)
    found, expected = solve_for_play(game, job), infoset.solve(game)
    assert found.policy.made_by["method"] == expected.method and expected.method in ("lp", "team-exact")
    assert found.policy.tables == expected.policy.tables


def test_a_refused_table_leaves_no_file(room: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infoset.web.tables.MAX_TABLES", 0)
    with pytest.raises(Refusal):
        room.open({"game": "kuhn_poker", "agents": ["human", "random"]})
    assert not room.unfinished.exists()


def test_a_game_of_a_file_can_be_watched_afterwards_and_is_solved_anew_once_it_changed(
    room: Tables, tmp_path: Path
) -> None:
    text = (Path(__file__).parents[2] / "examples" / "half_street_poker.efg").read_text()
    (tmp_path / "kuhn_poker.efg").write_text(text)
    table = room.tables[room.open({"game": "0/kuhn_poker.efg", "agents": ["random"] * 2, "pace": 60})["table"]]
    until(lambda: table.end)
    assert table.end is not None
    assert json.loads(Watching((tmp_path,)).recording(table.end.item, 0))["frames"]
    assert key_of(table.game) != key_of(infoset.load("kuhn_poker")) == "kuhn_poker"
    named_alike = infoset.table_game([[1]], name="kuhn_poker")
    assert key_of(named_alike) is named_alike


def test_without_its_extra_the_page_is_refused_in_one_line_and_lists_still_come(tmp_path: Path) -> None:
    """Modules that are not installed: the page needs them, lists of agents only name the extra."""
    blocked = "import sys; sys.modules.update(dict.fromkeys(('starlette', 'uvicorn', 'torch')))\n"
    blocked += "from infoset.cli import main; sys.argv = ['infoset', *sys.argv[1:]]; main()"

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", blocked, *words]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=120)

    served, listed = run("serve", "--port", "0"), run("agents")
    assert served.returncode == 1
    assert served.stderr == "infoset: serving the page needs the extra 'web': pip install 'infoset[web]'\n"
    assert listed.returncode == 0
    assert re.search(r"trained\n +learning needs the extra 'learn'", listed.stdout)
