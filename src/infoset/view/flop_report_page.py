"""Reports over flops as one self-contained page whose table is sorted by clicking a heading, and for notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping

from infoset.errors import printable
from infoset.flop_report import AFTER_CHECK, CHECK, FlopFigures, FlopReport
from infoset.view.action_colors import action_colors
from infoset.view.bundle import source
from infoset.view.flop_report_text import NOTE, cell_text, column_title
from infoset.view.markup import Html, figures, head, shown, table, tag, together

SIGNS = dict(zip("shdc", "♠♥♦♣", strict=True))
BARS = {f"P1 {CHECK}": "P1", f"P2 {CHECK}{AFTER_CHECK}": "P2 after a check"}
"""The columns before which a bar shows all actions of a player, and its heading."""
SHOWN_ROWS = 30
"""The most flops that a notebook shows."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def flop_report_page(report: FlopReport) -> str:
    """Return one HTML file with the table of a report, its means and bars of frequencies, without network."""
    parts = [
        tag("h1", _title(report)),
        tag("p", report.game, class_="game"),
        figures(_means(report)),
        _table(report),
        tag("p", f"{NOTE}.", class_="muted"),
    ]
    return "\n".join([
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">',
        f"<title>{html.escape(printable(_title(report)))}</title>",
        f"<style>\n{source('base.css')}\n{source('flop_report.css')}</style>\n</head>\n<body>",
        f"<main>{together(parts)}</main>",
        f"<script>\n{source('flop_report.js')}</script>\n</body>\n</html>\n",
    ])  # fmt: skip


def flop_report_html(report: FlopReport) -> str:
    """Return the means of a report and its first flops, for a notebook."""
    rows = report.table()
    names = [name for name in (rows[0] if rows else ()) if name not in ("iterations", "seconds")]
    body = [[cell_text(report, name, row[name]) for name in names] for row in rows[:SHOWN_ROWS]]
    more = [tag("p", f"and {len(rows) - SHOWN_ROWS:,} more: report.table()")] if len(rows) > SHOWN_ROWS else []
    found = [table(map(column_title, names), body)] if rows else []
    return shown(head(_title(report), report.game), figures(_means(report)), *found, *more)


def _title(report: FlopReport) -> str:
    done = len(report.rows)
    return f"{done:,} flops" if done == report.planned else f"{done:,} of {report.planned:,} flops"


def _means(report: FlopReport) -> list[tuple[str, str]]:
    """Return the means and what they are made of, with their names."""
    mean = report.mean
    found = [("pot", f"{report.pot:g}"), ("method", report.method)]
    if mean is None:
        return found
    figures = [
        ("EV P1", f"{mean.ev[0]:+.2f}"), ("EV P2", f"{mean.ev[1]:+.2f}"), ("equity P1", f"{100 * mean.equity:.1f} %"),
        ("exploitability", f"{100 * mean.exploitability / report.pot:.2f} % of the pot"),
    ]  # fmt: skip
    return [*figures, *found, ("solved in", f"{mean.seconds:,.4g} s")]


def _table(report: FlopReport) -> Html:
    """Return the table, with a bar of frequencies before the columns of each player's actions."""
    if report.mean is None:
        return tag("p", "No flop is solved yet.")
    heads: list[str] = []
    for name in report.columns(report.mean, 1.0):
        if name in BARS:
            heads.append(tag("th", BARS[name], class_="bars"))
        more = {} if name == "flop" else {"class_": "number"}
        heads.append(tag("th", tag("button", column_title(name), type="button"), **more))
    body = [tag("tr", *_cells(report, row, weight)) for row, weight in zip(report.rows, report.weights, strict=True)]
    foot = tag("tr", *_cells(report, report.mean, 1.0))
    grid = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *body), tag("tfoot", foot), class_="flops")
    return tag("div", grid, class_="wide")


def _cells(report: FlopReport, row: FlopFigures, weight: float) -> Iterator[Html]:
    for name, value in report.columns(row, weight).items():
        if name in BARS:
            yield _bar(row.first if name.startswith("P1") else row.after_check)
        if name == "flop":
            yield tag("th", *_cards(row.flop), **{"data-value": row.flop})
        else:
            yield tag("td", cell_text(report, name, value), class_="number", **{"data-value": f"{value:.9g}"})


def _cards(flop: str) -> Iterator[str]:
    cards = [flop[k : k + 2] for k in range(0, len(flop), 2)]
    if flop == "mean":
        return iter([flop])
    return (tag("b", card[0] + SIGNS[card[1]], class_=f"suit-{card[1]}") for card in cards)


def _bar(frequencies: Mapping[str, float]) -> Html:
    words = ", ".join(f"{action} {share:.0%}" for action, share in frequencies.items())
    parts = [
        tag("i", style=f"width: {100 * share:.1f}%; background: var(--{color})")
        for share, color in zip(frequencies.values(), action_colors(tuple(frequencies)), strict=True)
    ]
    return tag("td", tag("span", *parts, class_="bar"), class_="bars", title=words)
