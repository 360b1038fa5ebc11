"""A curve as a small SVG in the colours of the page around it; ``curves`` draws those for files and papers."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import NamedTuple

from infoset.view.markup import Html, tag

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 560.0, 200.0, 58.0, 104.0, 26.0, 34.0
MOST_POINTS = 400
MOST_TICKS = 6


class Curve(NamedTuple):
    """The points of a curve from left to right, with its label; on a logarithmic axis all values are positive."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    color: str


class _Axis:
    """A map from values to positions, with ticks at round numbers."""

    def __init__(self, values: Sequence[float], start: float, end: float, logarithmic: bool) -> None:
        self.logarithmic = logarithmic
        low, high = (self._raw(edge(values)) for edge in (min, max))
        if high - low < 1e-12:
            low, high = low - 0.5, high + 0.5
        self.low, self.start, self.scale = low, start, (end - start) / (high - low)
        self.high = high

    def _raw(self, value: float) -> float:
        return log10(value) if self.logarithmic else value

    def at(self, value: float) -> float:
        return self.start + (self._raw(value) - self.low) * self.scale

    def ticks(self) -> list[float]:
        span = self.high - self.low
        step = max(1.0, ceil(span / MOST_TICKS)) if self.logarithmic else _round(span / (MOST_TICKS - 1))
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        places = [step * k for k in range(first, last + 1)]
        return [10.0**place for place in places] if self.logarithmic else places


def _round(value: float) -> float:
    power = 10.0 ** floor(log10(value))
    return next(power * k for k in (1, 2, 5, 10) if power * k >= value * (1 - 1e-9))


def curve_svg(curves: Sequence[Curve], x_label: str, y_label: str, logarithmic: bool) -> Html:
    """Return the curves on common axes, each labelled at its end; there must be at least two points."""
    x = _Axis([v for curve in curves for v in curve.x], LEFT, WIDTH - RIGHT, logarithmic)
    y = _Axis([v for curve in curves for v in curve.y], HEIGHT - BOTTOM, TOP, logarithmic)
    parts = [_grid(y.at(v), _number(v)) for v in y.ticks()]
    parts += [_text(x.at(v), HEIGHT - BOTTOM + 15, _number(v), "middle") for v in x.ticks()]
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 3, x_label, "middle"))
    parts.append(_text(4, 11, y_label, "start"))
    ends = _spread_labels([y.at(curve.y[-1]) for curve in curves])
    for curve, end in zip(curves, ends, strict=True):
        sampled = range(0, len(curve.x), ceil(len(curve.x) / MOST_POINTS))
        points = " ".join(f"{x.at(curve.x[k]):.1f},{y.at(curve.y[k]):.1f}" for k in [*sampled, len(curve.x) - 1])
        line = {"fill": "none", "stroke-width": "2", "stroke-linejoin": "round", "style": f"stroke: {curve.color}"}
        parts.append(tag("polyline", points=points, **line))
        parts.append(_text(WIDTH - RIGHT + 8, end + 4, f"{curve.label} {curve.y[-1]:.2g}", "start", curve.color))
    size = {"viewBox": f"0 0 {WIDTH:g} {HEIGHT:g}", "width": f"{WIDTH:g}", "height": f"{HEIGHT:g}"}
    about = f"{y_label} against {x_label}"
    return tag("svg", tag("title", about), *parts, role="img", class_="curve", **size)


def _grid(y: float, text: str) -> Html:
    ends = {"x1": f"{LEFT:g}", "x2": f"{WIDTH - RIGHT:g}", "y1": f"{y:.1f}", "y2": f"{y:.1f}"}
    line = tag("line", **ends, style="stroke: currentcolor; stroke-opacity: 0.16")
    return Html(line + _text(LEFT - 8, y + 4, text, "end"))


def _text(x: float, y: float, words: str, anchor: str, color: str = "") -> Html:
    named = {"style": f"fill: {color}; font-weight: 600"} if color else {}
    return tag("text", words, x=f"{x:.1f}", y=f"{y:.1f}", **{"text-anchor": anchor}, **named)


def _number(value: float) -> str:
    return (
        f"{value:g}"
        if value == 0 or 1e-3 <= abs(value) < 1e5
        else f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")
    )


def _spread_labels(places: list[float]) -> list[float]:
    """Return the positions of labels at the curves' ends, moved apart where they are close together."""
    found = dict[int, float]()
    for k in sorted(range(len(places)), key=places.__getitem__):
        found[k] = max([places[k], *(place + 14 for place in found.values())])
    return [found[k] for k in range(len(places))]
