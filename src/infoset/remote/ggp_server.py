"""A player of the GGP protocol on the network: passes POST requests to a ``GgpSession`` (extra ``web``)."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from time import monotonic
from typing import TYPE_CHECKING

from infoset.errors import InfosetError, MissingExtraError, one_line
from infoset.remote.ggp_player import GgpSession
from infoset.remote.kif import CONTENT_TYPE
from infoset.remote.serving import Refusal, listening, read_body, web_server

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request

MAX_BODY = 4 << 20  # bytes


def application(desk: GgpSession) -> Starlette:
    """Return the web application: every POST is a message, whatever its path.

    Raises ``MissingExtraError``.
    """
    try:
        from starlette.applications import Starlette
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import Response
        from starlette.routing import Route
    except ImportError:
        raise MissingExtraError("the server of a player", "web") from None

    async def post(request: Request) -> Response:
        arrived, headers = monotonic(), None
        try:
            body = await read_body(request, MAX_BODY)
            status, text = await run_in_threadpool(_reply, desk, body, arrived)
        except Refusal as refused:
            status, text = refused.status, refused.why
            headers = {"Connection": "close"}
        return Response(text, status, headers, CONTENT_TYPE)

    return Starlette(routes=[Route("/{path:path}", post, methods=["POST"])])


def _reply(desk: GgpSession, body: bytes, arrived: float) -> tuple[HTTPStatus, str]:
    """Return the status and the text of an answer; an error is one line."""
    try:
        return HTTPStatus.OK, desk.answer(body.decode(errors="replace"), arrived)
    except InfosetError as error:
        status, text = HTTPStatus.BAD_REQUEST, str(error)
    except Exception as error:  # whatever a client's message causes
        status, text = HTTPStatus.INTERNAL_SERVER_ERROR, f"{type(error).__name__}: {error}"
    line = one_line(text, 400)
    desk.say(line)
    return status, line


def server(desk: GgpSession) -> uvicorn.Server:
    """Return the web server, see ``serving``.  Raises ``MissingExtraError``."""
    return web_server(application(desk))


def serve(agent: str, host: str, port: int, seed: int, say: Callable[[str], object]) -> None:
    """Run a player until Ctrl-C.

    Raises ``MissingExtraError``, ``ParameterError``, or the errors of ``load_agent``.
    """
    with listening(host, port) as where:
        desk = GgpSession(agent, seed, say)
        try:
            running = server(desk)
            say(f"{agent} plays on http://{host}:{where.getsockname()[1]}")
            running.run(sockets=[where])
        finally:
            desk.close()
