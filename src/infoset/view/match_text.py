"""Series of matches as plain text."""

from __future__ import annotations

from infoset.match.series import AgentScore, Series


def series_text(series: Series) -> str:
    """Return a table with a line per agent, and the speed of the series."""
    plural = "" if series.games == 1 else "s"
    head = f"{series.game}: {series.games:,} game{plural}, seed {series.seed}"
    tail = f"{series.actions:,} moves, {series.moves_per_second:,.0f} a second, {series.seconds:.3g} s"
    stopped = ["stopped: interrupted"] if series.stopped == "interrupted" else []
    return "\n".join([head, *columns(series_rows(series)), *_examples(series), *_accounts(series), tail, *stopped])


def _examples(series: Series) -> list[str]:
    """Return the first fault of each kind, with its detail."""
    return [
        f"first {kind} of {score.agent}: {text}" for score in series.agents for kind, text in score.examples.items()
    ]


def _accounts(series: Series) -> list[str]:
    """Return the agents' own accounts of their play."""
    return [f"{score.agent}: {score.account}" for score in series.agents if score.account]


def series_rows(series: Series) -> list[list[str]]:
    """Return the cells of the table, headings first; agents that keep their seat are listed with it."""
    titles = ["games", "wins", "draws", "losses", "mean score", "faults"]
    lines = [_cells(score) for score in series.agents]
    names = [score.agent for score in series.agents]
    if series.rotate:
        seats = [[_signed(mean) for mean in score.seat_means] for score in series.agents]
        rows = [[name, *line, *means] for name, line, means in zip(names, lines, seats, strict=True)]
        return [["agent", *titles, *(f"as {player}" for player in series.players)], *rows]
    rows = [[f"{player} {name}", *line] for player, name, line in zip(series.players, names, lines, strict=True)]
    return [["agent", *titles], *rows]


def _cells(score: AgentScore) -> list[str]:
    counts = [f"{count:,}" for count in (score.games, score.wins, score.draws, score.losses)]
    mean = _signed(score.mean) + ("" if score.interval is None else f" ± {score.interval:.2g}")
    return [*counts, mean, _faults(score)]


def _faults(score: AgentScore) -> str:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in score.faults.items() if count)
    return kinds or "0"


def _signed(mean: float | None) -> str:
    return "-" if mean is None else f"{round(mean, 12) + 0.0:+.4g}"  # rounding residue counts as zero


def columns(rows: list[list[str]]) -> list[str]:
    """Return the lines of a table with minimal column widths: the first column aligned left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]
