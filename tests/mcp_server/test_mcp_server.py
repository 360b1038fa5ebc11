"""The MCP server, asked by the package's own client: in this process, over stdio, and over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import infoset
from infoset.match.person import HUMAN
from infoset.remote.serving import listening
from infoset.web.guard import Guard

mcp = pytest.importorskip("mcp", reason="the extra 'mcp' is not installed")

import anyio  # noqa: E402
import httpx2  # noqa: E402
from mcp.client.stdio import StdioServerParameters  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402
from mcp.shared.exceptions import MCPError  # noqa: E402

from infoset.formats.efg import game_to_efg, write_efg  # noqa: E402
from infoset.mcp_server import live_tables  # noqa: E402
from infoset.mcp_server.limits import ServerLimits  # noqa: E402
from infoset.mcp_server.server import TOOLS, Server, http_server  # noqa: E402

KUHN = "kuhn_poker"
ENDLESS = "goofspiel(num_cards=13)"  # enumerating its positions takes minutes
PATIENCE = 240.0


class Room:
    """A server and a client of it, on a loop in a thread of their own."""

    def __init__(self, folders: tuple[Path, ...], limits: ServerLimits) -> None:
        self.server = Server(folders, limits)
        self.loop = asyncio.new_event_loop()
        self.ready, self.left = threading.Event(), asyncio.Event()
        self.thread = threading.Thread(target=self._run)
        self.thread.start()
        assert self.ready.wait(PATIENCE)

    def _run(self) -> None:
        async def stay() -> None:
            async with mcp.Client(self.server) as self.client:
                self.ready.set()
                await self.left.wait()

        self.loop.run_until_complete(stay())
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()

    def do(self, work: Awaitable[Any]) -> Any:
        async def done() -> Any:
            return await work

        return asyncio.run_coroutine_threadsafe(done(), self.loop).result(PATIENCE)

    def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a tool."""
        found = self.do(self.client.call_tool(tool, arguments))
        assert not found.is_error, found.content[0].text
        return found.structured_content

    def refused(self, tool: str, **arguments: Any) -> str:
        """The one line with which a question is refused."""
        found = self.do(self.client.call_tool(tool, arguments))
        assert found.is_error and found.structured_content is None
        line: str = found.content[0].text
        assert len(line.splitlines()) == 1
        return line

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.left.set)
        self.thread.join(PATIENCE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("served")
    (made / "matrix.nfg").write_text('NFG 1 R "chicken" { "A" "B" } { 2 2 }\n0 0 7 2 2 7 6 6\n')
    return made


@pytest.fixture(scope="module")
def room(folder: Path) -> Iterator[Room]:
    opened = Room((folder,), ServerLimits(seconds=120.0, histories=100_000, tables=3, text=20_000))
    yield opened
    opened.close()


def kuhn_text() -> str:
    return write_efg(game_to_efg(infoset.load(KUHN)))


def test_every_tool_has_a_schema_and_structured_output(room: Room) -> None:
    tools = room.do(room.client.list_tools()).tools
    assert {tool.name for tool in tools} == set(TOOLS)
    for tool in tools:
        assert tool.description and tool.output_schema and tool.input_schema["additionalProperties"] is False
        assert tool.annotations.open_world_hint is False
    solve = next(tool for tool in tools if tool.name == "solve")
    assert "kuhn_poker(players=3)" in solve.input_schema["properties"]["game"]["description"]


def test_games_are_listed_and_described(room: Room) -> None:
    found = room.ask("list_games", word="kuhn")
    assert [game["name"] for game in found["games"]] == [KUHN, "gdl:kuhn_poker"]
    assert room.ask("list_games", word="served folders")["games"][0]["name"] == "0/matrix.nfg"
    kuhn = room.ask("describe_game", game=KUHN)
    assert (kuhn["players"], kuhn["histories"], kuhn["real_time"]) == (["P1", "P2"], 58, False)
    assert "Goal" in kuhn["rules"] and "equilibrium" in kuhn["opponents"] and HUMAN not in kuhn["opponents"]


def test_solve_kuhn_poker(room: Room) -> None:
    """-1/18 (Kuhn 1950), with a strategy that nobody can exploit."""
    found = room.ask("solve", game=KUHN)
    assert found["values"][0] == pytest.approx(-1 / 18)
    assert found["exploitability"] < 1e-12
    assert found["strategy"]["P2"]["K bet"] == {"pass": 0, "bet": 1}
    assert len(room.ask("solve", game=KUHN, rows=2)["strategy"]["P1"]) == 2
    learnt = room.ask("solve", game=KUHN, method="pcfr+", iterations=50)
    assert (learnt["iterations"], learnt["stopped"]) == (50, "iterations")


def test_strategies_of_ones_own_are_evaluated_exactly(room: Room) -> None:
    """A strategy that always bets, in the words that a solution uses; sets that are left out are uniform."""
    uniform = room.ask("evaluate", game=KUHN)
    assert uniform["exploitability"] == pytest.approx(11 / 24)
    solution = room.ask("solve", game=KUHN)
    again = room.ask("evaluate", game=KUHN, strategy=solution["strategy"])
    assert again["exploitability"] < 1e-9 and again["exact"]
    assert room.ask("evaluate", game=KUHN, strategy={})["exploitability"] == pytest.approx(11 / 24)
    refused = {
        "no player 'P3'; allowed: P1, P2": {"P3": {}},
        "no information set 'Kx' of P1; one of its 6 sets is 'K'": {"P1": {"Kx": {"bet": 1}}},
        "P1 at 'K' has no fold; allowed: pass, bet": {"P1": {"K": {"fold": 1}}},
        "sum to 0.5": {"P1": {"K": {"bet": 0.5}}},
    }
    for words, strategy in refused.items():
        assert words in room.refused("evaluate", game=KUHN, strategy=strategy)


def test_a_game_from_a_text(room: Room) -> None:
    found = room.ask("check_game", text=kuhn_text(), same_as=KUHN)
    assert found["valid"] and found["comparison"]["same"] and found["counts"]["information_sets"] == 12
    name = found["game"]
    assert room.ask("solve", game=name)["values"][0] == pytest.approx(-1 / 18)
    other = room.ask("check_game", game=KUHN, same_as="rock_paper_scissors")["comparison"]
    assert (other["same"], other["difference"]) == (False, "chance moves here, P1 moves there")
    bad = room.ask("check_game", text="(role a) (legal a ?x)\n(goal a 200)")
    assert not bad["valid"] and len([one for one in bad["problems"] if one["severity"] == "error"]) == 3
    assert all(one["place"].startswith("1/") for one in bad["problems"])  # no path of this machine
    assert "expected a payoff" in room.refused("solve", text='EFG 2 R "" { "A" } ""\nt "" 1 "" { x }')


def test_show_and_convert(room: Room) -> None:
    assert "K bet         pass 0.000" in room.ask("show", game=KUHN, what="equilibrium")["text"]
    text = room.ask("convert", game="0/matrix.nfg", to="efg")["text"]
    assert text.startswith('EFG 2 R "matrix"')
    policy = json.loads(room.ask("convert", game=KUHN, what="random", to="json")["text"])
    assert policy["tables"][0]["J"] == {"pass": 0.5, "bet": 0.5}
    assert "a game goes to efg or nfg" in room.refused("convert", game=KUHN, to="json")


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("solve", {"game": "python:own.py:Game"}, "games in Python are not run"),
        ("solve", {"game": "kuhn_poker(players='python:own.py:f')"}, "games in Python are not run"),
        ("solve", {"game": "openspiel:kuhn_poker"}, "not a shipped game"),
        ("solve", {"game": "/etc/passwd.efg"}, "no game"),
        ("solve", {"game": "0/../../etc/x.efg"}, "no game"),
        ("solve", {"game": "kuhn_poke"}, "unknown game 'kuhn_poke'; did you mean 'kuhn_poker'?"),
        ("solve", {"game": KUHN, "method": "python:own.py:Method"}, "only shipped methods"),
        ("solve", {"game": KUHN, "seconds": 10**6}, "seconds=1e+06; allowed: more than 0 to 120"),
        ("solve", {"game": KUHN, "rows": -1}, "rows: Input should be greater than or equal to 0"),
        ("solve", {"gmae": KUHN}, "solve has no argument 'gmae'; allowed: game, text, method"),
        ("solve", {"game": KUHN, "text": "x"}, "give either game, a name, or text"),
        ("solve", {}, "give either game, a name, or text"),
        ("solve", {"text": "(" * 30_000}, "a text of more than 20,000 characters, the limit here (--text)"),
        ("solve", {"text": "(" * 10_000}, "expected a name"),
        ("convert", {"game": "liars_dice", "to": "efg"}, "more than the limit of 100,000"),
        ("solve", {"game": "kuhn_poker", "save": True, "method": "nothing"}, "unknown method 'nothing'"),
        ("evaluate", {"game": KUHN, "what": HUMAN}, "nobody sits at this server"),
        ("evaluate", {"game": KUHN, "what": "isolated(agent=random)"}, "unknown agent 'isolated'"),
        ("evaluate", {"game": KUHN, "what": "http(url=http://localhost)"}, "unknown agent 'http'"),
        ("evaluate", {"game": KUHN, "what": "/etc/passwd"}, "unknown agent"),
        ("start_table", {"game": "pommerman:OneVsOne-v0"}, "played in real time"),
        ("start_table", {"game": KUHN, "opponents": ["random", "random"]}, "seat 1 and 2 opponents; kuhn_poker has"),
        ("start_table", {"game": KUHN, "opponents": ["docker(image=x)"]}, "unknown agent 'docker'"),
        ("play_table", {"table": "none", "action": "bet"}, "no table 'none'"),
        ("nothing", {}, "unknown tool 'nothing'; known: list_games"),
    ],
)  # fmt: skip
def test_what_is_refused_in_one_line(room: Room, tool: str, arguments: dict[str, Any], words: str) -> None:
    assert words in room.refused(tool, **arguments)


def test_a_game_against_an_agent(room: Room, folder: Path) -> None:
    view = room.ask("start_table", game=KUHN, opponents=["equilibrium"], seat=2, seed=4)
    assert (view["you"], view["agents"]) == ("P2", ["equilibrium", HUMAN])
    assert view["your_turn"] and view["legal_actions"] == ["pass", "bet"]
    assert view["events"][0].startswith("you get a ") and "[?]" in view["picture"]
    assert "'fold' is not a legal move; legal: pass, bet" in room.refused(
        "play_table", table=view["table"], action="fold"
    )
    assert room.ask("look_table", table=view["table"]) == view
    while not view["over"]:
        view = room.ask("play_table", table=view["table"], action="2")
    assert sum(view["returns"]) == 0 and view["legal_actions"] == []
    assert "the game is over" in room.refused("play_table", table=view["table"], action="bet")
    listed = [str(one.uri) for one in room.do(room.client.list_resources()).resources]
    uri = f"infoset://replay/{view['replay']}"
    assert uri in listed
    replay = json.loads(room.do(room.client.read_resource(uri)).contents[0].text)
    assert replay["returns"] == view["returns"] and replay["steps"][0].startswith("chance: ")
    assert list((folder / "played").glob("*.json"))
    room.ask("leave_table", table=view["table"])


def test_a_game_from_a_text_is_played(room: Room) -> None:
    view = room.ask("start_table", text=kuhn_text(), opponents=["random"])
    room.ask("play_table", table=view["table"], action=view["legal_actions"][1].upper())
    left = room.ask("leave_table", table=view["table"])
    assert "no table" in room.refused("look_table", table=left["table"])


def test_tables_are_limited(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest one that nobody uses makes room; where all are used, one line says so."""
    tables = [room.ask("start_table", game=KUHN)["table"] for _ in range(3)]
    assert "3 tables are open, the limit here (--tables)" in room.refused("start_table", game=KUHN)
    room.ask("look_table", table=tables[0])
    monkeypatch.setattr(live_tables, "IDLE", 0.0)
    tables.append(room.ask("start_table", game=KUHN)["table"])
    assert "no table" in room.refused("look_table", table=tables[1])
    for table in (tables[0], tables[2], tables[3]):
        room.ask("leave_table", table=table)


def test_tables_outlive_their_process(room: Room) -> None:
    view = room.ask("start_table", game=KUHN, seed=3)
    live = room.server.live
    assert live is not None
    room.loop.call_soon_threadsafe(live.worker.kill)
    again = room.ask("look_table", table=view["table"])
    assert again["legal_actions"] == view["legal_actions"]
    room.ask("leave_table", table=view["table"])


def test_runs_are_saved_and_read(room: Room) -> None:
    saved = room.ask("solve", game=KUHN, method="cfr+", iterations=20, save=True)["run"]
    assert saved.startswith("0/kuhn-poker-")
    run = json.loads(room.do(room.client.read_resource(f"infoset://run/{saved}")).contents[0].text)
    assert run["config"]["method"] == "cfr+" and run["curve"][-1]["iteration"] == 20
    assert run["result"]["stopped"] == "iterations"
    evaluated = room.ask("evaluate", game=KUHN, what=saved)
    assert evaluated["exploitability"] == pytest.approx(run["result"]["exploitability"])
    assert room.ask("convert", game=KUHN, what=saved, to="json")["format"] == "json"
    for uri in ("infoset://run/0/nothing", "infoset://replay/0/matrix.nfg", "infoset://run//etc"):
        with pytest.raises(MCPError) as error:
            room.do(room.client.read_resource(uri))
        assert len(str(error.value).splitlines()) == 1
    text = room.ask("check_game", text=kuhn_text())["game"]
    assert "the text of this game is not kept" in room.refused("solve", game=text, save=True)


def test_progress_and_cancellation(room: Room) -> None:
    """The process that worked for a client which gave up is ended; the next question is answered."""
    lines: list[str] = []
    pool = room.server.pool
    assert pool is not None

    async def give_up() -> None:
        came = asyncio.Event()

        async def progress(done: float, total: float | None, message: str | None) -> None:
            assert total == 120.0
            lines.append(message or "")
            came.set()

        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:

                async def cancel() -> None:
                    await came.wait()
                    assert pool.working
                    scope.cancel()

                group.start_soon(cancel)
                await room.client.call_tool(
                    "describe_game", {"game": "gdl:blind_tic_tac_toe"}, progress_callback=progress
                )
        assert scope.cancelled_caught
        while pool.working:
            await asyncio.sleep(0.01)

    room.do(asyncio.wait_for(give_up(), PATIENCE))
    assert lines[0].startswith("building the game: ")
    assert room.ask("solve", game=KUHN)["exploitability"] < 1e-12


def test_a_limit_of_time(tmp_path: Path) -> None:
    short = Room((tmp_path,), ServerLimits(seconds=1.0, histories=10**9))
    try:
        assert short.refused("describe_game", game=ENDLESS) == (
            "not finished after 1 s, the limit here (--seconds); choose a smaller game"
        )
        assert short.ask("solve", game="rock_paper_scissors")["values"] == pytest.approx([0, 0])
    finally:
        short.close()


# --- the transports


def test_stdio_carries_the_protocol_alone(tmp_path: Path) -> None:
    """Every line on stdout is a message; a client that goes away in the middle ends the server and its processes."""
    command = [sys.executable, "-m", "infoset", "mcp", str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None

        def say(**message: Any) -> None:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            process.stdin.flush()

        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        say(id=1, method="initialize", params=client)
        said = [json.loads(process.stdout.readline())]
        assert said[0]["result"]["serverInfo"]["name"] == "infoset"
        say(method="notifications/initialized")
        process.stdin.write("no message\n")
        say(id=2, method="tools/call", params={"name": "solve", "arguments": {"game": "gdl:monty_hall"}})
        while said[-1].get("id") != 2:
            said.append(json.loads(process.stdout.readline()))
        assert said[-1]["result"]["structuredContent"]["players"] == ["candidate"]
        say(id=3, method="tools/call", params={"name": "solve", "arguments": {"game": ENDLESS}})
        process.stdin.close()
        assert all(json.loads(line)["jsonrpc"] == "2.0" for line in process.stdout)
        assert process.wait(PATIENCE) == 0


def test_the_packages_client_over_stdio(tmp_path: Path) -> None:
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "infoset", "mcp", str(tmp_path)], env=dict(os.environ)
    )

    async def ask() -> Any:
        async with mcp.Client(parameters) as client:
            return await client.call_tool("solve", {"game": KUHN})

    assert asyncio.run(ask()).structured_content["values"][0] == pytest.approx(-1 / 18)


@asynccontextmanager
async def serving(server: Server) -> AsyncIterator[str]:
    with listening("127.0.0.1", 0) as where:
        port = where.getsockname()[1]
        http = http_server(server, Guard("secret", ("page.example",), port))
        task = asyncio.create_task(http.serve(sockets=[where]))
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            http.should_exit = True
            await task


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_http_needs_the_token_and_a_known_host(tmp_path: Path, mode: str) -> None:
    async def ask() -> None:
        async with serving(Server((tmp_path,), ServerLimits())) as url:
            async with httpx2.AsyncClient() as line:
                key = {"authorization": "Bearer secret"}
                for headers, status in (
                    ({}, 401),
                    ({"authorization": "Bearer other"}, 401),
                    ({**key, "host": "evil.example:80"}, 421),
                    ({**key, "origin": "http://evil.example"}, 403),
                ):
                    answer = await line.post(url, json={}, headers=headers)
                    assert answer.status_code == status and len(answer.json()["error"].splitlines()) == 1
            async with (
                httpx2.AsyncClient(headers={"Authorization": "Bearer secret"}, timeout=PATIENCE) as line,
                mcp.Client(streamable_http_client(url, http_client=line), mode=mode) as client,
            ):
                found = await client.call_tool("solve", {"game": KUHN})
                assert found.structured_content["values"][0] == pytest.approx(-1 / 18)

    asyncio.run(ask())


def test_the_missing_extra_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import sys; sys.modules['mcp'] = None; import infoset.cli; sys.exit(infoset.cli.main())"
    done = subprocess.run([sys.executable, "-c", code, "mcp"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "infoset[mcp]" in done.stderr and len(done.stderr.splitlines()) == 1
