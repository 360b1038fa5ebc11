"""The HTTP application of the page, made of all its routes, and the server that runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from infoset.errors import MissingExtraError

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.routing import BaseRoute, Route
except ImportError:
    raise MissingExtraError("serving the page", "web") from None

from infoset.remote.serving import web_server
from infoset.web import sockets
from infoset.web.browsing import BROWSING
from infoset.web.explore_routes import EXPLORE
from infoset.web.play_routes import PLAY
from infoset.web.site import Site

if TYPE_CHECKING:
    import uvicorn

ROUTES = (*BROWSING, *PLAY, *EXPLORE)
START = "index.html"
KEEP_ALIVE_SECONDS = 30  # seconds between two requests on one connection


def build_app(site: Site) -> Starlette:
    """Build the ASGI application of a site with all its routes."""
    routes: list[BaseRoute] = [
        Route("/", site.file(START)),
        Route("/page/{path:path}", site.file(None)),
        *(route.on(site) for route in ROUTES),
        *sockets.routes(site),
    ]
    unknown: Any = site.unknown
    return Starlette(routes=routes, exception_handlers={HTTPException: unknown}, lifespan=site.alive)


def server(site: Site) -> uvicorn.Server:
    """Return a server that is not yet running, see ``remote.serving``."""
    return web_server(
        build_app(site),
        KEEP_ALIVE_SECONDS,
        lifespan="on",
        ws=sockets.Wire,
        ws_max_size=16 << 10,
        ws_per_message_deflate=False,
    )
