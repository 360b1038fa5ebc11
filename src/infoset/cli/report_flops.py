"""Solve a hold'em spot on many flops: print EV and frequencies by flop and on average, and keep them in a folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from infoset.cli.options import AsJson, Executor, MaybeGameName, with_options
from infoset.cli.output import complain, print_json, write
from infoset.cli.progress import FlopProgress
from infoset.solvers.config import FlopReportConfig
from infoset.solvers.job import Watcher

if TYPE_CHECKING:
    from infoset.flop_report import FlopReport

FOLDER = Path("runs") / "*"


@with_options(FlopReportConfig, game=MaybeGameName, method=str | None, target=str | None, flops=str | None)
def run(
    out: Annotated[
        Path | None, typer.Option(help="The report's folder; an existing report goes on (default: new, below runs/).")
    ] = None,
    executor: Executor = "local",
    json_: AsJson = False,
    **given: Any,
) -> None:
    from infoset.flop_report import report_flops  # these bring Numba, which --help does not need

    with FlopProgress() as progress:
        watcher = Watcher(point=progress.point)
        report = report_flops(
            **given, out=FOLDER if out is None else out, executor=executor, progress=progress.advance, watcher=watcher
        )
    if report.stopped == "interrupted":
        left = f"{len(report.rows):,} of {report.planned:,} flops"
        complain(f"stopped after {left}; infoset report-flops --out {report.folder} goes on")
        if not report.rows:
            raise KeyboardInterrupt
    _print(report, json_)


def _print(report: "FlopReport", json_: bool) -> None:
    from infoset.flop_report import CSV, PAGE
    from infoset.view.flop_report_text import flop_report_text

    folder, mean = report.folder, report.mean
    assert folder is not None
    if not json_:
        write(f"{flop_report_text(report)}\nreport: {folder / PAGE}, {folder / CSV}")
        return
    about = {name: getattr(report, name) for name in ("game", "method", "pot", "planned", "stopped")}
    figures = {"mean": mean and report.columns(mean, 1.0), "flops": report.table()}
    print_json({**about, "folder": str(folder), **figures})
