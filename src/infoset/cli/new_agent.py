"""Create a folder with an example agent to change, a Dockerfile and a competition in containers."""

from pathlib import Path
from typing import Annotated

import typer

from infoset.cli.output import note, write
from infoset.remote.submission import new_agent as make


def run(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to create.")],
) -> None:
    for path in make(folder):
        write(path)
    agent = folder / "agent.py"
    note(f"try it: infoset match kuhn_poker python:{agent}:MyAgent random --seconds-per-move 1")
