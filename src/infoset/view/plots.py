"""Plots of strategies, scores and cross tables with matplotlib (extra ``plot``).

Each function draws on the given axes, or on a new figure, and returns the axes for further changes.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from infoset.errors import MissingExtraError, printable, shorten
from infoset.view.action_colors import action_colors, printed
from infoset.view.markup import HUES, palette

if TYPE_CHECKING:
    from infoset.arena.standings import Standings
    from infoset.match.series import Series
    from infoset.policies.tabular import TabularPolicy

ROWS = 40  # rows of one picture
NAME = 40  # letters
LINE, INK = "#dddddd", "#222222"


def new_axes(what: str, size: tuple[float, float], rows: int = 1, columns: int = 1, **options: Any) -> Any:
    """Return the axes of a new figure, which a notebook shows.  Raises ``MissingExtraError`` without matplotlib."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingExtraError(what, "plot") from None
    return pyplot.subplots(rows, columns, figsize=size, layout="constrained", **options)[1]


def tidy(axes: Any, title: str) -> Any:
    """Give axes the common style of all pictures, and return them."""
    axes.set_title(label(title, 90), loc="left", fontsize=11)
    axes.grid(True, which="major", color=LINE, lw=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def label(text: str, limit: int = NAME) -> str:
    """Return a text from outside as plain words, not as a formula."""
    return shorten(printable(text), limit).replace("$", r"\$").replace("\n", " ")


def color(number: int) -> str:
    """Return the colour on white of a move by its place among the legal actions; colours repeat."""
    return palette()[f"hue{number % HUES}"][0]


def plot_policy(policy: TabularPolicy, player: int | str, axes: Any = None) -> Any:
    """Plot one player's strategy: a bar per information set, divided by the probabilities of its moves.

    Raises ``ParameterError`` for an unknown player.
    """
    seat = policy.seat(player)
    table = policy.tables[seat]
    rows = dict(islice(table.items(), ROWS))
    actions = list(dict.fromkeys(action for row in rows.values() for action in row))
    axes = new_axes("a strategy", (7.2, 1.2 + 0.27 * max(len(rows), 3))) if axes is None else axes
    left = [0.0] * len(rows)
    for action, name in zip(actions, action_colors(actions), strict=True):
        shares = [row.get(action, 0.0) for row in rows.values()]
        places = range(len(rows))
        axes.barh(places, shares, left=left, height=0.72, color=printed(name), label=label(action), edgecolor="white")
        left = [before + share for before, share in zip(left, shares, strict=True)]
    axes.set_yticks(range(len(rows)), [label(key) for key in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, 1)
    axes.set_xlabel("probability")
    handles, names = axes.get_legend_handles_labels()
    axes.legend(handles[:HUES], names[:HUES], loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    more = f" (the first {ROWS} of {len(table):,} information sets)" if len(table) > ROWS else ""
    tidy(axes, f"{policy.game}: {policy.players[seat]}{more}")
    axes.grid(False, axis="y")
    return axes


def plot_series(series: Series, axes: Any = None) -> Any:
    """Plot each agent's mean score with its 95 % interval."""
    scores = [score for score in series.agents if score.mean is not None]
    axes = new_axes("scores", (7.2, 1.4 + 0.4 * len(scores))) if axes is None else axes
    names = [score.agent if series.rotate else f"{series.players[k]} {score.agent}" for k, score in enumerate(scores)]
    intervals = [(s.mean - (s.interval or 0.0), s.mean, s.mean + (s.interval or 0.0)) for s in scores]  # type: ignore[operator]
    _intervals(axes, names, intervals)
    axes.set_xlabel(f"mean score in {series.games:,} games, 95 % intervals")
    return tidy(axes, series.game)


def _intervals(axes: Any, names: list[str], intervals: list[tuple[Any, ...]]) -> None:
    """Plot a point with its interval for each name, the first on top, and a line at zero."""
    axes.axvline(0.0, color="#888888", lw=1)
    for place, (low, middle, high) in enumerate(intervals):
        axes.errorbar(middle, place, xerr=[[middle - low], [high - middle]], fmt="o", color=color(1), capsize=4, lw=2)
    axes.set_yticks(range(len(names)), [label(name) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)


def plot_standings(standings: Standings, axes: Any = None) -> Any:
    """Plot the cross table as a heat map, and the ranking figures with their intervals, on two axes.

    The first ``ROWS`` teams are shown: payoffs or shares of games won, and mean payoffs or ratings.
    """
    from infoset.view.svg_sheet import tint
    from infoset.view.tournament_svg import cells_of, intervals_of
    from infoset.view.tournament_text import ranking

    order = ranking(standings)[:ROWS]
    size, cells = len(order), cells_of(standings)
    if axes is None:
        axes = new_axes("standings", (4.8 + 0.62 * size, 1.6 + 0.5 * size), columns=2, width_ratios=[size + 1, 6])
    table, ratings = axes
    lines = [[cells.get((team, other)) for other in order] for team in order]
    table.imshow(
        [[(1.0, 1.0, 1.0) if cell is None else tint(cell.share) for cell in line] for line in lines], aspect="auto"
    )
    for row, line in enumerate(lines):
        for column, cell in enumerate(line):
            if cell is not None:
                ink = "white" if cell.share > 0.75 else INK
                words = cell.large.removesuffix(" %")
                table.text(column, row, words, ha="center", va="center", color=ink, fontsize=9)
    table.set_yticks(range(size), [f"{label(team, 28)}  {place}" for place, team in enumerate(order, start=1)])
    table.set_xticks(range(size), [str(place) for place in range(1, size + 1)])
    table.xaxis.tick_top()
    table.tick_params(length=0)
    table.spines[:].set_visible(False)
    what = "payoff" if standings.rank == "payoff" else "score in %"
    table.set_title(label(f"{standings.game}: {what}", 60), loc="left", fontsize=11)
    found, words = intervals_of(standings)
    _intervals(ratings, [""] * size, [found[team] for team in order])
    ratings.set_xlabel(words)
    tidy(ratings, f"{standings.games:,} games")
    return axes
