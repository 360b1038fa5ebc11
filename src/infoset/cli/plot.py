"""Draw the convergence curves of runs over each other, each with its name (extra 'plot')."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from infoset.cli.output import write
from infoset.view.curves import plot as plot_runs


def run(
    runs: Annotated[list[str], typer.Argument(metavar="RUN", help="Runs' folders; their curves share one picture.")],
    out: Annotated[Path, typer.Option(help="The picture: .png, .svg or .pdf.")] = Path("curves.png"),
) -> None:
    plot_runs(runs, out)
    write(out)
