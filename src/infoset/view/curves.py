"""Convergence curves as pictures (extra ``plot``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from infoset.arguments import checks_arguments
from infoset.catalog import game_of_run
from infoset.errors import MissingExtraError, ParameterError
from infoset.files import check_file, replace_file
from infoset.match.agents import NET
from infoset.runs import RunFolder
from infoset.solvers.job import Point
from infoset.solving import Solution
from infoset.view.plots import INK, label, new_axes, tidy
from infoset.view.plots import color as hue

if TYPE_CHECKING:
    from infoset.solvers.tabular.logit import LogitPath

CURVE = "infoset-curve"  # marks a line that is one of several solutions
EXPLOITABILITY, PAYOFF = "exploitability", "payoff of the best policy"  # labels of axes
AVERAGE, CURRENT = "#1f5fa8", "#d98c21"
STARTS = (AVERAGE, CURRENT, "#3a8a4d", "#8a3a7a")
FLOOR = 1e-17
PICTURES = (".png", ".svg", ".pdf")
LAST = 5  # epochs whose duels are pooled; for long runs a twentieth of the epochs
HEIGHTS = {1: 4.2, 2: 6.4, 3: 9.0}  # of a figure, by its number of axes
NAMES_HIGH = 14  # labels that fit one above another beside one set of axes


def draw_convergence(points: Sequence[Point], title: str, path: Path) -> Path | None:
    """Draw the picture of ``plot_convergence`` as a PNG.

    Returns ``None`` and draws nothing where matplotlib is missing or there is no curve.
    """
    return _drawn(path, 1, lambda axes: plot_convergence(points, title, axes)) if len(_shown(points)) > 1 else None


def plot_convergence(points: Sequence[Point], title: str, axes: Any = None) -> Any:
    """Plot exploitability against iterations, log-log, or else the payoff of the best policy so far.

    Exploitability is drawn for the average and the current profile.

    On axes that hold such a curve already, each curve gets its own colour, and a legend names all of them; ``title`` is
    the game, `` by `` and the method.

    Raises ``ParameterError`` where there are fewer than two points, ``MissingExtraError`` without matplotlib.
    """
    shown = _shown(points)
    if len(shown) < 2:
        raise ParameterError(f"{title} has no curve: it was evaluated once")
    axes = new_axes("a curve", (7.2, 4.2)) if axes is None else axes
    iterations = [p.iteration for p in shown]
    known = shown[-1].exploitability is not None
    if others := [str(line.get_label()) for line in _curves_on(axes)]:
        games = dict.fromkeys(name.rpartition(" by ")[0] for name in [*others, label(title, 60)])
        return plot_curves({title: points}, ", ".join(filter(None, games)), axes)
    lines = (("current_exploitability", "current", CURRENT, 1.2), ("exploitability", "average", AVERAGE, 2.2))
    for name, word, color, width in lines:
        if getattr(shown[-1], name) is not None:
            looked = [p for p in shown if getattr(p, name) is not None]
            values = [max(getattr(p, name), FLOOR) for p in looked]
            (line,) = axes.loglog([p.iteration for p in looked], values, color=color, lw=width)
            if name == "exploitability":
                _name_curve(line, title)
            _label_end(axes, iterations[-1], values[-1], word, color)
    if not known:
        best = [p.values[0] for p in shown if p.values]
        (line,) = axes.plot(iterations, best, color=AVERAGE, lw=2.2, drawstyle="steps-post")
        _name_curve(line, title)
        _label_end(axes, iterations[-1], best[-1], "best", AVERAGE)
    axes.set_xlabel("iterations")
    axes.set_ylabel(EXPLOITABILITY if known else PAYOFF)
    axes.margins(x=0.02)
    return tidy(axes, title)


def _name_curve(line: Any, title: str) -> None:
    """Mark a line, so that a further curve on the same axes finds it and a legend names it."""
    line.set_gid(CURVE)
    line.set_label(label(title, 60))


def _curves_on(axes: Any) -> list[Any]:
    """Return the lines of axes that are curves of solutions."""
    return [line for line in axes.get_lines() if line.get_gid() == CURVE]


def plot_curves(curves: Mapping[str, Sequence[Point]], title: str, axes: Any = None) -> Any:
    """Plot the curves of several runs by their names.

    They show the exploitability of the average profile, log-log, or the payoff of the best policy so far.  Curves that
    are on the axes already stay, and the legend names them too.

    Raises ``ParameterError`` where there are none, where one has fewer than two points, or where both kinds of curves
    are given; ``MissingExtraError`` without matplotlib.
    """
    if not curves:
        raise ParameterError("no runs to plot; name one folder or more")
    shown = {name: _shown(points) for name, points in curves.items()}
    for name, points in shown.items():
        if len(points) < 2:
            raise ParameterError(f"{name} has no curve: it was evaluated once, or has no exploitability")
    axes = new_axes("a curve", (7.2, 4.2)) if axes is None else axes
    before = len(_curves_on(axes))
    known = {name: points[-1].exploitability is not None for name, points in shown.items()}
    kinds = {EXPLOITABILITY if one else PAYOFF for one in known.values()}
    kinds |= {axes.get_ylabel()} & {EXPLOITABILITY, PAYOFF} if before else set()
    if len(kinds) > 1:
        one, exploitable = next((name, found) for name, found in known.items() if not found or before)
        has, have = ("exploitability", "payoffs") if exploitable else ("payoffs", "exploitability")
        raise ParameterError(f"{one} has a curve of {has}, others have one of {have}; they share no axis")
    for number, (name, points) in enumerate(shown.items(), start=before + bool(before)):  # the first uses two colours
        if known[name]:
            values = [max(p.exploitability or 0.0, FLOOR) for p in points]
            (line,) = axes.loglog([p.iteration for p in points], values, color=hue(number), lw=1.8)
        else:
            best = [(p.iteration, p.values[0]) for p in points if p.values]
            (line,) = axes.plot(*zip(*best, strict=True), color=hue(number), lw=1.8, drawstyle="steps-post")
        _name_curve(line, name)
    axes.set_xlabel("iterations")
    axes.set_ylabel(kinds.pop())
    axes.margins(x=0.02)
    axes.legend(handles=_curves_on(axes), loc="best", frameon=False, fontsize=9)
    return tidy(axes, title)


def draw_curves(curves: Mapping[str, Sequence[Point]], title: str, path: Path, axes: Any = None) -> Any:
    """Draw ``plot_curves`` and save it as ``.png``, ``.svg`` or ``.pdf``.  Raises ``ParameterError`` for others."""
    if path.suffix.lower() not in PICTURES:
        raise ParameterError(f"{path}: no kind of picture; allowed: {', '.join(PICTURES)}")
    check_file(path)
    if axes is None:
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise MissingExtraError("a curve", "plot") from None
        axes = Figure(figsize=(7.2, HEIGHTS[1]), dpi=120, layout="constrained").subplots()
    axes = plot_curves(curves, title, axes)
    kind = path.suffix.lower().removeprefix(".")
    replace_file(path, lambda file: axes.figure.savefig(file, format=kind))
    return axes


def _shown(points: Sequence[Point]) -> list[Point]:
    known = [p for p in points if p.exploitability is not None]
    return [p for p in known or points if p.iteration > 0 and (known or p.values)]


def draw_logit_path(found: LogitPath, path: Path) -> Path | None:
    """Draw the picture of ``plot_logit_path`` as a PNG; return ``None``, drawing nothing, without matplotlib."""
    rows = min(found.form.num_players, max(HEIGHTS))
    return _drawn(path, rows, lambda axes: plot_logit_path(found, axes))


def plot_logit_path(found: LogitPath, axes: Any = None) -> Any:
    """Plot move probabilities against ``λ``, a colour per information set: axes for each of the first three players.

    For each set all moves but the last are drawn, whose probability is the remainder; moves that end at the same height
    share a label.  Raises ``MissingExtraError`` without matplotlib.
    """
    form, rows = found.form, min(found.form.num_players, max(HEIGHTS))
    axes = new_axes("a path", (7.2, HEIGHTS[rows]), rows, sharex=True) if axes is None else axes
    panels = np.atleast_1d(np.asarray(axes, dtype=object))
    shown = found.rationality > 0
    rationality = found.rationality[shown]
    for player, panel in enumerate(panels):
        ends: dict[float, list[str]] = {}
        for number, k in enumerate(form.player_infosets(player)):
            for action in range(int(form.arrays.size[k]) - 1):
                probabilities = found.strategies[shown, int(form.arrays.first[k]) + action]
                panel.semilogx(rationality, probabilities, color=hue(number), lw=1.6)
                name = f"{form.keys[k]}: {form.actions[k][action]}"
                ends.setdefault(round(float(probabilities[-1]) * NAMES_HIGH) / NAMES_HIGH, []).append(label(name, 24))
        for height, names in ends.items():
            more = f" +{len(names) - 1}" if len(names) > 1 else ""
            _name_end(panel, rationality[-1], height, f"{names[0]}{more}", INK)
        panel.set_ylim(-0.03, 1.03)
        panel.set_ylabel("chance")
        tidy(panel, f"{form.name}, {form.players[player]}")
    panels[-1].set_xlabel("λ")
    return axes


def draw_learning(points: Sequence[Any], title: str, path: Path) -> Path | None:
    """Draw the picture of ``plot_learning`` as a PNG.

    Returns ``None`` and draws nothing where matplotlib is missing or there is no curve.
    """
    rows = _panels(points)
    return _drawn(path, rows, lambda axes: plot_learning(points, title, axes)) if len(points) > 1 else None


def plot_learning(points: Sequence[Any], title: str, axes: Any = None) -> Any:
    """Plot a network's losses, its value of the start, its scores in duels and its exploitability, against seconds.

    The losses are those on values and policies; scores have 95 % intervals.  There are axes for each kind of curve that
    exists, up to three.

    Raises ``ParameterError`` where there are fewer than two points, ``MissingExtraError`` without matplotlib.
    """
    if len(points) < 2:
        raise ParameterError(f"{title} has no curve: it is {len(points)} epochs long")
    scored = _scored(points)
    rows = _panels(points)
    axes = new_axes("a curve", (7.2, HEIGHTS[rows]), rows=rows) if axes is None else axes
    axes = np.atleast_1d(axes)
    losses = axes[0]
    seconds = [p.seconds for p in points]
    for name, color in (("value", AVERAGE), ("policy", CURRENT)):
        values = [getattr(p, f"{name}_loss") for p in points]
        if values[-1] is None:
            continue
        losses.semilogy(seconds, values, color=color, lw=1.8)
        _label_end(losses, seconds[-1], values[-1], name, color)
    losses.set_ylabel("loss on mini-batches")
    tidy(losses, title)
    if points[0].start_values:
        _plot_starts(points, axes[1])
    if scored:
        _plot_scores(scored, axes[rows - 1])
    if measured := _measured(points):
        times, values = [p.seconds for p in measured], [max(p.exploitability, FLOOR) for p in measured]
        axes[rows - 1].semilogy(times, values, color=AVERAGE, lw=1.8, marker="o", ms=3)
        _label_end(axes[rows - 1], times[-1], values[-1], "exact", AVERAGE)
        axes[rows - 1].set_ylabel(EXPLOITABILITY)
        tidy(axes[rows - 1], "")
    axes[-1].set_xlabel("seconds")
    return axes


def _panels(points: Sequence[Any]) -> int:
    """Return the number of axes for a curve: losses, values of the start, scores or exploitability."""
    return 1 + bool(points and points[0].start_values) + bool(_scored(points) or _measured(points))


def _measured(points: Sequence[Any]) -> list[Any]:
    """Return the epochs whose exploitability was computed."""
    return [p for p in points if p.exploitability is not None]


def _plot_starts(points: Sequence[Any], axes: Any) -> None:
    seconds = [p.seconds for p in points]
    for player in range(len(points[0].start_values)):
        values = [p.start_values[player] for p in points]
        color = STARTS[player % len(STARTS)]
        axes.plot(seconds, values, color=color, lw=1.8)
        _name_end(axes, seconds[-1], values[-1], f"player {player + 1}", color)
    axes.set_ylabel("estimated value at the start")
    tidy(axes, "")


def _scored(points: Sequence[Any]) -> list[Any]:
    """Return the epochs in which there were duels."""
    return [p for p in points if p.score is not None]


def _plot_scores(points: Sequence[Any], axes: Any) -> None:
    """Plot each epoch's score with its interval, and the mean over all duels of the last epochs."""
    seconds, shares = [p.seconds for p in points], [p.share for p in points]
    below = [share.value - share.interval[0] for share in shares]
    above = [share.interval[1] - share.value for share in shares]
    axes.errorbar(
        seconds, [share.value for share in shares], (below, above), fmt="o", ms=3, color=CURRENT, alpha=0.45, lw=1.0
    )
    means = []
    window = max(LAST, len(points) // 20)
    for k in range(len(points)):
        last = points[max(0, k + 1 - window) : k + 1]
        means.append(sum(p.score * p.duels for p in last) / sum(p.duels for p in last))
    axes.plot(seconds, means, color=AVERAGE, lw=1.8)
    _name_end(axes, seconds[-1], means[-1], f"{window} epochs\n{means[-1]:.2f}", AVERAGE)
    axes.set_ylim(-0.03, 1.03)
    axes.set_ylabel(f"score v {points[-1].opponent}")
    tidy(axes, "")


def _drawn(path: Path, rows: int, draw: Any) -> Path | None:
    """Draw a picture into a file, without a window."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure = Figure(figsize=(7.2, HEIGHTS[rows]), dpi=120, layout="constrained")
    draw(figure.subplots(rows, 1, sharex=True))
    return replace_file(path, lambda file: figure.savefig(file, format="png"))


def _label_end(axes: Any, x: float, y: float, text: str, color: str) -> None:
    _name_end(axes, x, max(y, FLOOR), f"{text}\n{y:.1e}", color)


def _name_end(axes: Any, x: float, y: float, text: str, color: str) -> None:
    axes.annotate(
        text, (x, y), xytext=(6, 0), textcoords="offset points", color=color, va="center", fontsize=9,
        annotation_clip=False,
    )  # fmt: skip


def _curve_of(run: str | Path | Solution) -> tuple[str, str, Sequence[Point]]:
    """Return the game of a run, the name of its curve, and its points; those of a training are its epochs."""
    if not isinstance(run, Solution) and (Path(run) / NET).is_file():
        return game_of_run(str(run)) or "", str(run), RunFolder(Path(run)).points()
    found = run if isinstance(run, Solution) else Solution.load(run)
    word = f"{found.game} by {found.method}" if found.folder is None else str(found.folder)
    return found.game, word, found.curve


@checks_arguments
def plot(runs: Sequence[str | Path | Solution], out: str | Path | None = None, *, axes: Any = None) -> Any:
    """Plot the convergence curves of several runs together, each with its name; return the axes of matplotlib.

    ``runs`` are folders, of trainings too, or solutions.  The curves show the exploitability of each average profile by
    iteration (of a training, by epoch), or where that is unknown the value of the best policy so far.  With ``out`` the
    picture goes to that file (``.png``, ``.svg`` or ``.pdf``).  Raises ``ParameterError`` for a run without such a
    curve, ``CheckpointError`` for a folder without a run, ``MissingExtraError`` without matplotlib.

    >>> runs = [infoset.solve("kuhn_poker", method, iterations=50) for method in ("cfr", "cfr+")]
    >>> axes = infoset.plot(runs, "curves.svg")
    """
    curves: dict[str, Sequence[Point]] = {}
    games = set()
    for run in runs:
        game, word, points = _curve_of(run)
        games.add(game)
        curves[next(name for k in count(1) if (name := word if k == 1 else f"{word} ({k})") not in curves)] = points
    title = games.pop() if len(games) == 1 else f"{len(games)} games"
    return plot_curves(curves, title, axes) if out is None else draw_curves(curves, title, Path(out), axes)
