"""Serve games, solutions and tables as tools of language models by the Model Context Protocol (extra 'mcp').

Over standard input and output, as clients start it; with --port over HTTP, for the holder of the printed token.
"""

import secrets
from pathlib import Path
from typing import Annotated

import typer

from infoset.cli.options import refuse
from infoset.cli.output import note
from infoset.errors import ParameterError


def run(
    context: typer.Context,
    folders: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[DIR]…", help="Folders of games, runs and replays; without one nothing is kept."),
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Serve over HTTP at this port; 0 takes any free port.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 admits other machines.")] = "127.0.0.1",
    name: Annotated[list[str] | None, typer.Option(help="A further host name of the server.")] = None,
    seconds: Annotated[float, typer.Option(min=1, max=86400, help="Most seconds for one answer.")] = 60.0,
    max_histories: Annotated[int, typer.Option(min=1, help="Most histories or positions of a game.")] = 1_000_000,
    memory: Annotated[
        int, typer.Option(min=0, max=1 << 24, help="Most MiB of addresses of a process; 0: no limit.")
    ] = 8192,
    tables: Annotated[int, typer.Option(min=1, max=300, help="Most tables that are open at once.")] = 100,
    text: Annotated[int, typer.Option(min=1, max=10**7, help="Most characters of a game's text.")] = 200_000,
    output: Annotated[int, typer.Option(min=100, max=10**7, help="Most characters of text in an answer.")] = 50_000,
) -> None:
    from infoset.mcp_server.limits import ServerLimits
    from infoset.mcp_server.server import PATH, Server, http_server
    from infoset.remote.serving import listening
    from infoset.web.guard import Guard, names_of

    for folder in folders or ():
        if not folder.is_dir():
            raise ParameterError(f"{folder} is not a folder; the server takes those of games, runs and replays")
    limits = ServerLimits(seconds, max_histories, memory, tables, text, output)
    server = Server(tuple(folder.resolve() for folder in folders or ()), limits)
    if port is None:
        refuse(context, {"host", "name"}, "they are of HTTP, which --port chooses")
        server.run("stdio")
        return
    with listening(host, port) as where:
        called = names_of(host)
        port = where.getsockname()[1]
        guard = Guard(secrets.token_urlsafe(16), (*called, *(known.lower() for known in name or ())), port)
        for known in called:
            shown = f"[{known}]" if ":" in known else known
            note(f"serving http://{shown}:{port}{PATH} with the header Authorization: Bearer {guard.token}")
        note("Ctrl-C ends it")
        http_server(server, guard).run(sockets=[where])
