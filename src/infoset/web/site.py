"""The state of the page's HTTP server, and what a route is: a question, and the worker that answers it.

Requests that only read need no token; those that start, move or solve something do (``Guard``).  The heavy work is
done by two workers: ``tables`` (games that are played or watched live) and ``studies`` (reading files and solving).
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from infoset.errors import one_line
from infoset.remote.serving import Refusal, read_body
from infoset.web.guard import SECURITY, TOKEN_HEADER, VISITOR_HEADER, Guard
from infoset.web.listing import Listing
from infoset.web.schemas import MAX_VISITOR
from infoset.web.sockets import Hub
from infoset.web.workers import Worker

MAX_BODY = 64 << 10
RESTS = 15.0  # seconds between two checks for idle workers
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}

Answer: TypeAlias = Callable[["Site", dict[str, Any]], Awaitable[Any]]
"""Maps the parameters of a request, checked by ``msgspec.convert`` where they are used, to an answer that fits JSON."""


@dataclass
class Site:
    """The state of a running server: the folders, the guard, the workers and the listing."""

    folders: tuple[Path, ...]
    guard: Guard
    tables: Worker = field(init=False)
    studies: Worker = field(init=False)
    hub: Hub = field(default_factory=Hub)
    listing: Listing = field(init=False)

    def __post_init__(self) -> None:
        self.tables = Worker("infoset.web.tables:Tables", self.folders)
        self.studies = Worker("infoset.web.analysis:Analysis", self.folders)
        for worker in (self.tables, self.studies):
            worker.heard.append(self.hub.hear)
        self.tables.fallen.append(self.hub.lost)
        self.listing = Listing(self.folders)

    @asynccontextmanager
    async def alive(self, _: Starlette) -> AsyncIterator[None]:
        """Run the application's lifespan: end idle workers while the server runs, and all workers when it stops."""

        async def rest() -> None:
            while True:
                await asyncio.sleep(RESTS)
                for worker in (self.tables, self.studies):
                    with suppress(Refusal):
                        await worker.rest()

        task = asyncio.create_task(rest())
        try:
            yield
        finally:
            task.cancel()
            for worker in (self.tables, self.studies):
                worker.close()

    def file(self, name: str | None) -> Callable[[Request], Awaitable[Response]]:
        """Return the handler of the page's own files; they are listed beforehand, so no path leads anywhere else.

        ``name`` is the file to send; with ``None`` it is the ``path`` of the request.
        """
        pages = page_files()

        async def send(request: Request) -> Response:
            try:
                self.guard.check_origin(request)
            except Refusal as error:
                return respond({"error": error.why}, error.status)
            path = name or request.path_params["path"]
            found = pages.get(path)
            if found is None:
                return respond({"error": f"no page {one_line(path, 100)!r}"}, HTTPStatus.NOT_FOUND)
            tag = f'"{hashlib.sha256(found).hexdigest()[:16]}"'
            headers = {**SECURITY, "etag": tag}
            if request.headers.get("if-none-match") == tag:
                return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
            return Response(found, media_type=TYPES[Path(path).suffix], headers=headers)

        return send

    async def unknown(self, request: Request, error: HTTPException) -> Response:
        why = f"{request.method} {request.url.path} is unknown here"
        return respond({"error": one_line(why, 200)}, error.status_code)


@dataclass(frozen=True)
class Question:
    """A route of the interface: a GET reads, with its parameters in the address; a POST writes, with a JSON body."""

    path: str
    answer: Answer
    writes: bool = False

    def on(self, site: Site) -> Route:
        async def handle(request: Request) -> Response:
            try:
                site.guard.check(request)
                asked: dict[str, Any] = {**request.query_params, **request.path_params}
                if self.writes:
                    site.guard.check_token(request.headers.get(TOKEN_HEADER, ""))
                    body = _object(await read_body(request, MAX_BODY))
                    asked = {**body, **request.path_params, "visitor": visitor(request)}
                found = await self.answer(site, asked)
                return found if isinstance(found, Response) else respond(found)
            except Refusal as error:
                return respond({"error": error.why}, error.status)

        return Route(self.path, handle, methods=["POST" if self.writes else "GET"])


def visitor(request: Request) -> str:
    """Return who asks, for fair turns in the queue: the id that the browser sends, else its address."""
    address = request.client.host if request.client else ""
    return request.headers.get(VISITOR_HEADER, "")[:MAX_VISITOR] or address


def _object(body: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(body or b"{}", type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal(HTTPStatus.BAD_REQUEST, f"no JSON object: {one_line(str(error), 200)}") from None


def respond(value: Any, status: int = 200) -> Response:
    """Return a JSON response; ``bytes`` are taken as encoded already."""
    body = value if isinstance(value, bytes) else msgspec.json.encode(value)
    headers = {**SECURITY, "retry-after": "1"} if status == HTTPStatus.TOO_MANY_REQUESTS else SECURITY
    return Response(body, status, media_type="application/json", headers=headers)


def page_files() -> dict[str, bytes]:
    """Return the contents of the page's files by their path."""
    found: dict[str, bytes] = {}

    def walk(folder: Traversable, before: str) -> None:
        for entry in folder.iterdir():
            if entry.is_dir():
                walk(entry, f"{before}{entry.name}/")
            elif Path(entry.name).suffix in TYPES:
                found[before + entry.name] = entry.read_bytes()

    walk(files("infoset.view").joinpath("page"), "")
    return found
