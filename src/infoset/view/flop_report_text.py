"""Reports over flops as plain text: a row for each flop, and the weighted means."""

from __future__ import annotations

from infoset.flop_report import AFTER_CHECK, FlopReport
from infoset.view.match_text import columns

HEADS = {"weight": "weight", "equity P1": "eq P1", "ev P1": "EV P1", "ev P2": "EV P2", "exploitability": "% pot"}
"""The headings of columns of figures; those of actions are their names."""
NOTE = (
    "EV: chips won, where each player put in half of the pot; weight, equity and frequencies in per cent, P2's after a "
    "check; % pot: exploitability in per cent of the pot; means are weighted, iterations and seconds summed up"
)


def flop_report_text(report: FlopReport) -> str:
    """Return the table of a report, the means in its last row; frequencies and weights in per cent, values in chips."""
    mean = report.mean
    head = f"{len(report.rows):,} of {report.planned:,} flops by {report.method}"
    if mean is None:
        return head
    lines = [*zip(report.rows, report.weights, strict=True), (mean, 1.0)]
    rows = [[column_title(name) for name in report.columns(mean, 1.0)]]
    for row, weight in lines:
        rows.append([cell_text(report, name, value) for name, value in report.columns(row, weight).items()])
    return "\n".join([head, *columns(rows), NOTE])


def column_title(name: str) -> str:
    """Return the heading of a column, without the words that P2 acts after a check."""
    return HEADS.get(name, name.removesuffix(AFTER_CHECK))


def cell_text(report: FlopReport, name: str, value: str | float) -> str:
    """Return a cell: frequencies in per cent, the exploitability in per cent of the pot."""
    if isinstance(value, str):
        return value
    if name.startswith("ev "):
        return f"{value:+.2f}"
    if name == "iterations":
        return f"{value:,.0f}"
    if name == "seconds":
        return f"{value:.1f}"
    if name == "exploitability":
        return f"{100 * value / report.pot:.2f}"
    return f"{100 * value:.1f}"
