"""The MCP server: its tools and resources, and the transports stdio and streamable HTTP (extra ``mcp``)."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Literal

from infoset import __version__
from infoset.errors import MissingExtraError, one_line
from infoset.mcp_server.limits import ServerLimits
from infoset.mcp_server.live_tables import LiveTable, LiveTables
from infoset.mcp_server.pool import Pool
from infoset.remote.serving import Refusal, web_server
from infoset.web.guard import TOKEN_HEADER, Guard

try:
    from mcp.server import MCPServer
    from mcp.server.mcpserver import Context
    from mcp.server.mcpserver.exceptions import ResourceError, ToolError, UnexpectedToolError
    from mcp.server.transport_security import TransportSecuritySettings
    from mcp_types import CallToolResult, Resource, TextContent, ToolAnnotations
    from pydantic import Field, ValidationError
    from starlette.requests import HTTPConnection
    from starlette.responses import JSONResponse
except ImportError:
    raise MissingExtraError("the MCP server", "mcp") from None

from infoset.mcp_server import outputs

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp, Receive, Scope, Send

INSTRUCTIONS = (
    "infoset solves games of hidden information exactly and says how exploitable a strategy is. A game is named "
    "(list_games), or given as a text in GDL, Gambit's .efg or .nfg; the answer to a text names the game for later "
    "questions. Payoffs and figures are exact unless an answer says otherwise. Play against an agent with start_table."
)
PATH = "/mcp"
MAX_TEXTS = 200  # games from texts that are remembered
MAX_LISTED = 500  # resources
REPORTS = 0.25  # seconds between two looks for a line about the work
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)

Name = Annotated[
    str, Field(max_length=200, description="A name from list_games, with parameters as in kuhn_poker(players=3).")
]
Text = Annotated[
    str,
    Field(description="Instead of a name, the game as a text: GDL (KIF), Gambit .efg or .nfg. Python is not accepted."),
]
What = Annotated[
    str,
    Field(
        max_length=200,
        description="A strategy: equilibrium (solved here), random, a shipped agent, or the name of a saved run.",
    ),
]
Given = Annotated[
    Mapping[str, Mapping[str, Mapping[str, float]]] | None,
    Field(
        description="A strategy of your own: probabilities by player, key of the information set (as in the answer of "
        "solve), and move; uniform at sets that are left out."
    ),
]


class Server(MCPServer[None]):
    """The tools and resources of one served folder, or several."""

    def __init__(self, folders: tuple[Path, ...], limits: ServerLimits) -> None:
        super().__init__(
            "infoset", instructions=INSTRUCTIONS, version=__version__, lifespan=self._alive, log_level="ERROR"
        )
        logging.getLogger("mcp").setLevel(logging.CRITICAL)  # refusals are answers, not news for the screen
        self.served, self.limits = folders, limits
        self.scratch: Path | None = None
        self.pool: Pool | None = None
        self.live: LiveTables | None = None
        self.texts: OrderedDict[str, None] = OrderedDict()
        for name, about in TOOLS.items():
            self.add_tool(getattr(self, name), annotations=about)
        for tool in self._tool_manager.list_tools():
            tool.parameters["additionalProperties"] = False
        for kind in ("run", "replay"):
            self.resource(f"infoset://{kind}/{{+name}}", mime_type="application/json", description=RESOURCES[kind])(
                getattr(self, f"read_{kind}")
            )

    @asynccontextmanager
    async def _alive(self, _: Any) -> AsyncIterator[None]:
        """Run the processes, which all sessions share, and hold the texts of games, while the server runs."""
        with TemporaryDirectory(prefix="infoset-mcp-", ignore_cleanup_errors=True) as scratch:
            self.scratch = Path(scratch).resolve()
            folders = (*self.served, self.scratch)
            self.pool, self.live = Pool(folders, self.limits), LiveTables(folders, self.limits)
            self.pool.start()
            try:
                yield
            finally:
                self.pool.close()
                self.live.close()
                self.texts.clear()

    # --- the protocol

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None) -> Any:
        """Call a tool; every error is an answer of one line."""
        tool = self._tool_manager.get_tool(name)
        if tool is None:
            return _failure(f"unknown tool {one_line(name)!r}; known: {', '.join(TOOLS)}")
        known = tool.parameters.get("properties", {})
        if odd := sorted(arguments.keys() - known.keys()):
            return _failure(f"{name} has no argument {one_line(odd[0])!r}; allowed: {', '.join(known)}")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, Refusal):
                return _failure(error.__cause__.why)
            if isinstance(error.__cause__, ValidationError):
                return _failure("; ".join(map(_invalid, error.__cause__.errors(include_url=False))))
            if isinstance(error, UnexpectedToolError):
                return _failure(f"internal error ({type(error.__cause__).__name__})")
            raise

    async def list_resources(self) -> list[Resource]:
        """Return the runs and replays in the served folders, the newest first."""
        found = await self._ask("listing", MAX_LISTED)
        return [
            Resource(
                uri=f"infoset://{item['kind']}/{item['name']}", name=item["name"], mime_type="application/json",
                description=f"a {item['kind']} of {one_line(item['game'])}",
            )
            for item in found
        ]  # fmt: skip

    async def read_run(self, name: str) -> str:
        """Return a run as JSON."""
        return await self._read("run", name)

    async def read_replay(self, name: str) -> str:
        """Return a replay as JSON."""
        return await self._read("replay", name)

    async def _read(self, kind: str, name: str) -> str:
        try:
            return json.dumps(await self._ask(kind, name))
        except Refusal as error:
            raise ResourceError(error.why) from None

    # --- tools

    async def list_games(
        self,
        ctx: Context[None, Any],
        word: Annotated[str, Field(max_length=100, description="Only games whose names or lines contain this.")] = "",
        most: Annotated[int, Field(ge=1, le=500)] = 100,
    ) -> outputs.GameList:
        """List the games that are known by name, and the files of games in the served folders."""
        return outputs.GameList.model_validate(await self._reported(ctx, "games", word, most))

    async def describe_game(self, ctx: Context[None, Any], game: Name = "", text: Text = "") -> outputs.GameDescription:
        """Return a game's rules in words, its players, parameters, size, and the agents that can play it."""
        name = self._named(game, text)
        return outputs.GameDescription.model_validate(await self._reported(ctx, "describe", name))

    async def check_game(
        self,
        ctx: Context[None, Any],
        game: Name = "",
        text: Text = "",
        same_as: Annotated[str, Field(max_length=200, description="A game that it shall be the same as.")] = "",
        plays: Annotated[int, Field(ge=0, le=10_000, description="Random games that are played as a test.")] = 100,
        seed: Annotated[int, Field(ge=0, le=2**53)] = 0,
    ) -> outputs.CheckReport:
        """Check a game: report everything that is wrong with it at once, and count its histories.

        With same_as, also compare its tree with that of another game: names of moves and observations and the order of
        moves may differ, payoffs (but for their units) and the players' information may not.
        """
        name = self._named(game, text)
        return outputs.CheckReport.model_validate(await self._reported(ctx, "check", name, same_as, plays, seed))

    async def solve(
        self,
        ctx: Context[None, Any],
        game: Name = "",
        text: Text = "",
        method: Annotated[
            str, Field(max_length=200, description="auto chooses; lp, pcfr+, dcfr, mmd, lcp, ...")
        ] = "auto",
        iterations: Annotated[int | None, Field(ge=1, le=10**9)] = None,
        target: Annotated[float | None, Field(gt=0, description="Stop at this exploitability.")] = None,
        seconds: Annotated[float | None, Field(gt=0, description="Stop after this time, with the best answer.")] = None,
        seed: Annotated[int | None, Field(ge=0, le=2**53)] = None,
        rows: Annotated[int, Field(ge=0, le=200, description="Information sets of the strategy in the answer.")] = 50,
        save: Annotated[bool, Field(description="Keep the run in the served folder.")] = False,
    ) -> outputs.Solved:
        """Solve a game: return its values, the exact exploitability of the answer, and the strategy."""
        limits = {"iterations": iterations, "target": target, "seconds": seconds}
        found = await self._reported(ctx, "solve", self._named(game, text), method, limits, seed, rows, save)
        return outputs.Solved.model_validate(found)

    async def evaluate(
        self,
        ctx: Context[None, Any],
        game: Name = "",
        text: Text = "",
        what: What = "random",
        strategy: Given = None,
        seconds: Annotated[float, Field(gt=0, le=3600, description="To learn responses in large games.")] = 10.0,
        seed: Annotated[int, Field(ge=0, le=2**53)] = 0,
    ) -> outputs.Evaluated:
        """Evaluate a strategy of all players: values, best responses, and exploitability."""
        given = None if strategy is None else {player: dict(rows) for player, rows in strategy.items()}
        if given is not None and len(json.dumps(given)) > self.limits.text:
            raise self._too_long()
        found = await self._reported(ctx, "evaluate", self._named(game, text), what, given, seconds, seed)
        return outputs.Evaluated.model_validate(found)

    async def show(
        self,
        ctx: Context[None, Any],
        game: Name = "",
        text: Text = "",
        what: What = "",
        at: Annotated[str | None, Field(description="A node of a hold'em strategy: start, 'check, bet 75'.")] = None,
        hands: Annotated[str | None, Field(description="A filter of a node's hands: 'top pair | set'.")] = None,
        player: Annotated[str | None, Field(description="Whose hands.")] = None,
        measure: Annotated[
            Literal["strategy", "ev", "equity", "realised"] | None, Field(description="What the hands show.")
        ] = None,
    ) -> outputs.Shown:
        """Show a game's tree, or with what a strategy, as text."""
        options = {"at": at, "hands": hands, "player": player, "measure": measure}
        return outputs.Shown.model_validate(await self._reported(ctx, "show", self._named(game, text), what, options))

    async def convert(
        self,
        ctx: Context[None, Any],
        to: Annotated[
            Literal["efg", "nfg", "json"], Field(description="efg or nfg for a game, json for a strategy (what).")
        ],
        game: Name = "",
        text: Text = "",
        what: What = "",
    ) -> outputs.Converted:
        """Convert a game to Gambit's .efg or .nfg, or with what a strategy to .json."""
        return outputs.Converted.model_validate(await self._reported(ctx, "convert", self._named(game, text), what, to))

    async def start_table(
        self,
        ctx: Context[None, Any],
        game: Name = "",
        text: Text = "",
        opponents: Annotated[
            list[Annotated[str, Field(max_length=200)]],
            Field(max_length=20, description="The agents in the other seats, in order; one stands for all."),
        ] = ["random"],  # noqa: B006 - the SDK copies it from the schema
        seat: Annotated[int, Field(ge=1, le=20, description="Your seat, from 1.")] = 1,
        seed: Annotated[int | None, Field(ge=0, le=2**53)] = None,
    ) -> outputs.TableView:
        """Start a game against agents; the answer says what you see and which moves are legal."""
        name = self._named(game, text)
        agents = opponents or ["random"]
        players = (await self._reported(ctx, "admit", name, agents))["players"]
        others = len(players) - 1
        if len(agents) == 1:
            agents = agents * others
        if len(agents) != others or seat > len(players):
            why = f"seat {seat} and {len(agents)} opponents; {one_line(name)} has the players {', '.join(players)}"
            raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, why)
        return await self._view(ctx, lambda live, tell: live.open(name, agents, seat - 1, seed, tell))

    async def play_table(
        self,
        ctx: Context[None, Any],
        table: Annotated[str, Field(max_length=100)],
        action: Annotated[str, Field(max_length=500, description="A legal action in its words, or its number from 1.")],
    ) -> outputs.TableView:
        """Make a move at a table, and wait until it is your turn again or the game is over."""
        return await self._view(ctx, lambda live, tell: live.play(table, action, tell))

    async def look_table(
        self, ctx: Context[None, Any], table: Annotated[str, Field(max_length=100)]
    ) -> outputs.TableView:
        """Look at a table again, and wait until it is your turn or the game is over."""
        return await self._view(ctx, lambda live, tell: live.look(table, tell))

    async def leave_table(self, table: Annotated[str, Field(max_length=100)]) -> outputs.Left:
        """Leave a table; its game ends, and what was played of it is kept as a replay."""
        assert self.live is not None
        await self.live.leave(table)
        return outputs.Left(table=table, open_tables=len(self.live.tables))

    # --- the parts

    async def _view(
        self,
        ctx: Context[None, Any],
        work: Callable[[LiveTables, Callable[[str], Awaitable[None]]], Awaitable[LiveTable]],
    ) -> outputs.TableView:
        began = monotonic()

        async def tell(line: str) -> None:
            await ctx.report_progress(monotonic() - began, self.limits.seconds, line)

        assert self.live is not None
        return outputs.TableView.model_validate((await work(self.live, tell)).view())

    def _named(self, game: str, text: str) -> str:
        """Return the name of a game that is named, or given as a text, which becomes a file of the server's own."""
        if bool(game) == bool(text.strip()):
            raise Refusal(
                HTTPStatus.BAD_REQUEST, "give either game, a name, or text, a description in GDL, .efg or .nfg"
            )
        if game:
            return game
        if len(text) > self.limits.text:
            raise self._too_long()
        assert self.scratch is not None
        body = text.encode("utf-8", "replace")
        name = f"{sha256(body).hexdigest()[:16]}.{_kind(text)}"
        if name in self.texts:
            self.texts.move_to_end(name)
        else:
            (self.scratch / name).write_bytes(body)
            self.texts[name] = None
            while len(self.texts) > MAX_TEXTS:
                (self.scratch / self.texts.popitem(last=False)[0]).unlink(missing_ok=True)
        return f"{len(self.served)}/{name}"

    def _too_long(self) -> Refusal:
        why = f"a text of more than {self.limits.text:,} characters, the limit here (--text)"
        return Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, why)

    async def _ask(self, method: str, *arguments: Any, progress: Callable[[str], None] = lambda line: None) -> Any:
        assert self.pool is not None
        return await self.pool.ask(method, *arguments, progress=progress)

    async def _reported(self, ctx: Context[None, Any], method: str, *arguments: Any) -> Any:
        """Return an answer, and notify the client of how far the work is."""
        began, lines = monotonic(), [""]

        async def report() -> None:
            said = ""
            while True:
                await asyncio.sleep(REPORTS)
                if lines[-1] != said:
                    said = lines[-1]
                    await ctx.report_progress(monotonic() - began, self.limits.seconds, said)

        def progress(line: str) -> None:
            lines[:] = [line]

        reporting = asyncio.ensure_future(report())
        try:
            return await self._ask(method, *arguments, progress=progress)
        finally:
            reporting.cancel()


TOOLS: dict[str, ToolAnnotations] = {
    "list_games": READS, "describe_game": READS, "check_game": READS, "solve": WRITES, "evaluate": READS, "show": READS,
    "convert": READS, "start_table": WRITES, "play_table": WRITES, "look_table": READS, "leave_table": WRITES,
}  # fmt: skip
"""Every tool, a method of ``Server``, and what clients may assume about it."""

RESOURCES = {
    "run": "A run of solve: its configuration, its curve and its result.",
    "replay": "A game that was played: the moves, step by step, and the payoffs.",
}


def _kind(text: str) -> str:
    """Return the kind of a game's text by how it begins."""
    word = text.lstrip("\ufeff \t\r\n")[:4].split()[:1]
    return {"EFG": "efg", "NFG": "nfg"}.get(word[0] if word else "", "gdl")


def _invalid(error: Mapping[str, Any]) -> str:
    where = ".".join(map(str, error["loc"])) or "arguments"
    return one_line(f"{where}: {error['msg']}", 300)


def _failure(why: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=one_line(why, 2_000))], is_error=True)


class Guarded:
    """The application of a server over HTTP, to which only those with the token come, from known hosts."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self.app, self.guard = app, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "http":
            connection = HTTPConnection(scope)
            try:
                self.guard.check(connection)
                self._check_token(connection)
            except Refusal as error:
                await JSONResponse({"error": error.why}, error.status)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _check_token(self, connection: HTTPConnection) -> None:
        given = connection.headers.get("authorization", "").removeprefix("Bearer ")
        given = connection.headers.get(TOKEN_HEADER, given)
        if not hmac.compare_digest(given.encode(), self.guard.token.encode()):
            why = "no token, or a wrong one: send the header that the server printed, Authorization: Bearer …"
            raise Refusal(HTTPStatus.UNAUTHORIZED, why)


def http_server(server: Server, guard: Guard) -> uvicorn.Server:
    """Return a server over HTTP that is not yet running, see ``remote.serving``."""
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=8 * server.limits.text + (64 << 10),
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # the guard checks more
    )
    guarded: Any = Guarded(app, guard)
    return web_server(guarded, lifespan="on")
