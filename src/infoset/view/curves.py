"""Convergence curves as pictures (extra ``plot``)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from infoset.files import replace_file
from infoset.solvers.solve import Point

AVERAGE, CURRENT = "#1f5fa8", "#d98c21"
FLOOR = 1e-17


def draw_convergence(points: Sequence[Point], title: str, path: Path) -> Path | None:
    """Exploitability against iterations, log-log, average and current profile.

    Returns ``None`` and draws nothing where matplotlib is missing or there is no curve.
    """
    shown = [p for p in points if p.iteration > 0]
    if len(shown) < 2:
        return None
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure = Figure(figsize=(7.2, 4.2), dpi=120, layout="constrained")
    axes = figure.subplots()
    iterations = [p.iteration for p in shown]
    axes.loglog(iterations, [max(p.current_exploitability, FLOOR) for p in shown], color=CURRENT, lw=1.2, alpha=0.85)
    axes.loglog(iterations, [max(p.exploitability, FLOOR) for p in shown], color=AVERAGE, lw=2.2)
    _label_end(axes, shown[-1].iteration, shown[-1].exploitability, "average", AVERAGE)
    _label_end(axes, shown[-1].iteration, shown[-1].current_exploitability, "current", CURRENT)
    axes.set_xlabel("iterations")
    axes.set_ylabel("exploitability")
    axes.set_title(title, loc="left", fontsize=11)
    axes.grid(True, which="major", color="#dddddd", lw=0.8)
    axes.margins(x=0.02)
    axes.spines[["top", "right"]].set_visible(False)
    return replace_file(path, lambda file: figure.savefig(file, format="png"))


def _label_end(axes, x: float, y: float, text: str, color: str) -> None:  # type: ignore[no-untyped-def]
    axes.annotate(
        f"{text}\n{y:.1e}", (x, max(y, FLOOR)), xytext=(6, 0), textcoords="offset points",
        color=color, va="center", fontsize=9, annotation_clip=False,
    )  # fmt: skip
