"""Serve an agent as a player of the General Game Playing protocol, until Ctrl-C (extra 'web')."""

from contextlib import suppress
from typing import Annotated

import typer

from infoset.cli.output import complain


def run(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes any free port.")],
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    agent: Annotated[str, typer.Option(help="The agent that plays ('infoset agents' lists them).")] = "search",
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random choice.")] = 0,
) -> None:
    from infoset.remote.ggp_server import serve

    with suppress(KeyboardInterrupt):
        serve(agent, host, port, seed, complain)
