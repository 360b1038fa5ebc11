"""Serve an agent over HTTP; others name it http(url=http://HOST:PORT) in their matches."""

from typing import Annotated

import typer

from infoset.cli.options import AGENT_HELP
from infoset.cli.output import note
from infoset.errors import ParameterError, shorten


def run(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help=AGENT_HELP)],
    game: Annotated[
        str | None, typer.Option(help="The only game to play (default: any); Pommerman uses both protocols.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes any free port.")] = 8000,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 admits other machines.")] = "127.0.0.1",
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="GAME", help="A further game that clients may name: a file or openspiel:NAME."),
    ] = None,
) -> None:
    from infoset.remote.server import server
    from infoset.remote.serving import listening

    if game is not None and allow:
        raise ParameterError(f"--game {shorten(game)} is the only game; --allow {shorten(allow[0])} adds none to it")
    with listening(host, port) as where:
        serving = server(agent, game, allow or ())
        note(f"{agent} answers on http://{host}:{where.getsockname()[1]}; Ctrl-C ends it")
        serving.run(sockets=[where])
