"""Serve the page on which to play, watch games, explore strategies and follow runs in a browser."""

import secrets
from pathlib import Path
from typing import Annotated

import typer

from infoset.cli.output import note
from infoset.errors import ParameterError

DEFAULT = Path("runs")


def run(
    folders: Annotated[
        list[Path] | None, typer.Argument(metavar="[DIR]…", help="Folders of runs, replays and tournaments (runs).")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes any free port.")] = 8421,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 admits other machines.")] = "127.0.0.1",
    name: Annotated[list[str] | None, typer.Option(help="A further host name of the server.")] = None,
) -> None:
    from infoset.remote.serving import listening
    from infoset.web.app import server
    from infoset.web.guard import Guard, names_of
    from infoset.web.site import Site

    if folders is None:
        DEFAULT.mkdir(exist_ok=True)
    for folder in folders or ():
        if not folder.is_dir():
            raise ParameterError(f"{folder} is not a folder; serve takes those of runs, replays and tournaments")
    with listening(host, port) as where:
        called = names_of(host)
        port = where.getsockname()[1]
        guard = Guard(secrets.token_urlsafe(16), (*called, *(name.lower() for name in name or ())), port)
        serving = server(Site(tuple(folder.resolve() for folder in folders or (DEFAULT,)), guard))
        for known in called:
            shown = f"[{known}]" if ":" in known else known
            note(f"open http://{shown}:{port}/#/?token={guard.token}")
        note("Ctrl-C ends it")
        serving.run(sockets=[where])
