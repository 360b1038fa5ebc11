"""Draw the convergence curves of several runs in one picture (extra 'plot')."""

from pathlib import Path
from typing import Annotated

import typer

from infoset.cli.output import write


def run(
    runs: Annotated[list[str], typer.Argument(metavar="RUN", help="Run folders, drawn in one picture.")],
    out: Annotated[Path, typer.Option(help="The picture to write: .png, .svg or .pdf.")] = Path("curves.png"),
) -> None:
    from infoset.view.curves import plot  # brings Numba, which --help does not need

    plot(runs, out)
    write(out)
