"""Convergence curves as pictures (extra ``plot``)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from infoset.files import replace_file
from infoset.solvers.work import Point

AVERAGE, CURRENT = "#1f5fa8", "#d98c21"
FLOOR = 1e-17


def draw_convergence(points: Sequence[Point], title: str, path: Path) -> Path | None:
    """Exploitability against iterations, log-log, average and current profile; else what the best policy so far earns.

    Returns ``None`` and draws nothing where matplotlib is missing or there is no curve.
    """
    known = [p for p in points if p.exploitability is not None]
    shown = [p for p in known or points if p.iteration > 0 and (known or p.values)]
    if len(shown) < 2:
        return None
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure = Figure(figsize=(7.2, 4.2), dpi=120, layout="constrained")
    axes = figure.subplots()
    iterations = [p.iteration for p in shown]
    lines = (("current_exploitability", "current", CURRENT, 1.2), ("exploitability", "average", AVERAGE, 2.2))
    for name, word, color, width in lines:
        if getattr(shown[-1], name) is not None:
            values = [max(getattr(p, name), FLOOR) for p in shown]
            axes.loglog(iterations, values, color=color, lw=width)
            _label_end(axes, iterations[-1], values[-1], word, color)
    if not known:
        best = [p.values[0] for p in shown if p.values]
        axes.plot(iterations, best, color=AVERAGE, lw=2.2, drawstyle="steps-post")
        _label_end(axes, iterations[-1], best[-1], "best", AVERAGE)
    axes.set_xlabel("iterations")
    axes.set_ylabel("exploitability" if known else "payoff of the best policy")
    axes.set_title(title, loc="left", fontsize=11)
    axes.grid(True, which="major", color="#dddddd", lw=0.8)
    axes.margins(x=0.02)
    axes.spines[["top", "right"]].set_visible(False)
    return replace_file(path, lambda file: figure.savefig(file, format="png"))


def draw_learning(points: Sequence[Any], title: str, path: Path) -> Path | None:
    """What a network lost on values and policies, and what it held the start to be worth, against seconds.

    Returns ``None`` and draws nothing where matplotlib is missing or there is no curve.
    """
    if len(points) < 2:
        return None
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure = Figure(figsize=(7.2, 6.4), dpi=120, layout="constrained")
    losses, start = figure.subplots(2, 1, sharex=True)
    seconds = [p.seconds for p in points]
    for name, color in (("value", AVERAGE), ("policy", CURRENT)):
        values = [getattr(p, f"{name}_loss") for p in points]
        if values[-1] is None:
            continue
        losses.semilogy(seconds, values, color=color, lw=1.8)
        _label_end(losses, seconds[-1], values[-1], name, color)
    losses.set_ylabel("loss on mini-batches")
    losses.set_title(title, loc="left", fontsize=11)
    for player in range(len(points[0].start_values)):
        values = [p.start_values[player] for p in points]
        color = (AVERAGE, CURRENT, "#3a8a4d", "#8a3a7a")[player % 4]
        start.plot(seconds, values, color=color, lw=1.8)
        start.annotate(f"player {player + 1}", (seconds[-1], values[-1]), xytext=(6, 0), textcoords="offset points",
                       color=color, va="center", fontsize=9, annotation_clip=False)  # fmt: skip
    start.set_ylabel("the start is held to be worth")
    start.set_xlabel("seconds")
    for axes in (losses, start):
        axes.grid(True, which="major", color="#dddddd", lw=0.8)
        axes.spines[["top", "right"]].set_visible(False)
    return replace_file(path, lambda file: figure.savefig(file, format="png"))


def _label_end(axes, x: float, y: float, text: str, color: str) -> None:  # type: ignore[no-untyped-def]
    axes.annotate(
        f"{text}\n{y:.1e}", (x, max(y, FLOOR)), xytext=(6, 0), textcoords="offset points",
        color=color, va="center", fontsize=9, annotation_clip=False,
    )  # fmt: skip
