"""The signals of a strategy as one self-contained SVG: a grid for each, what the sender knows by what it does."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as Xml

from infoset.conventions import POSSIBLE, Conventions, Signal
from infoset.errors import shorten
from infoset.files import replace_file
from infoset.view.svg_sheet import EMPTY, GREY, MARGIN, rgb, sheet, text, tint

MOST_SIGNALS, MOST_ROWS, MOST_COLUMNS = 6, 12, 8
TOP, CELL, ROW, NAMES, GAP = 76, 74, 26, 150, 66
NAME = 22  # letters of a name that are shown


def conventions_svg(found: Conventions) -> str:
    """Draw the most informative signals below each other; blue cells are actions that are always played."""
    signals = [signal for signal in found.signals if signal.bits > POSSIBLE][:MOST_SIGNALS]
    columns = max((min(len(signal.actions), MOST_COLUMNS) for signal in signals), default=1)
    heights = [GAP + ROW * (min(len(signal.sender_knows), MOST_ROWS) + 1) for signal in signals]
    width = max(2 * MARGIN + NAMES + CELL * columns, 620)
    about = "rows: what the sender knows; columns: its action; numbers: how often, in percent"
    svg = sheet(f"conventions: {found.game}", f"What the actions say: {found.game}", about, width, TOP + sum(heights))
    top = float(TOP)
    for signal, height in zip(signals, heights, strict=True):
        _draw(svg, signal, top)
        top += height
    if not signals:
        text(svg, MARGIN, TOP, "no action tells another player anything")
    return Xml.tostring(svg, encoding="unicode")


def save_conventions(found: Conventions, path: Path) -> Path:
    """Write the picture to an SVG file."""
    drawn = conventions_svg(found).encode()
    return replace_file(path, lambda file: file.write(drawn))


def _draw(svg: Xml.Element, signal: Signal, top: float) -> None:
    known = shorten(" or ".join(signal.receiver_knows), 60)
    text(svg, MARGIN, top + 14, f"{signal.sender} to {signal.receiver}, who knows {known}", font_weight="bold")
    learnt = f"{signal.bits:.2f} of {signal.unknown_bits:.2f} bits, in {100 * signal.probability:.3g} % of games"
    text(svg, MARGIN, top + 30, learnt, fill=GREY)
    top += 40
    for k, action in enumerate(signal.actions[:MOST_COLUMNS]):
        text(svg, MARGIN + NAMES + CELL * (k + 0.5), top + 16, shorten(action, 11), text_anchor="middle")
    for j, (name, row) in enumerate(zip(signal.sender_knows[:MOST_ROWS], signal.strategy, strict=False)):
        y = top + ROW * (j + 1)
        left = len(signal.sender_knows) - MOST_ROWS + 1
        cut = j == MOST_ROWS - 1 and left > 1
        text(svg, MARGIN, y + 17, f"and {left} more" if cut else shorten(name, NAME))
        for k, share in enumerate([] if cut else row[:MOST_COLUMNS]):
            x = MARGIN + NAMES + CELL * k
            place = {"x": f"{x + 1:g}", "y": f"{y + 1:g}", "width": f"{CELL - 2}", "height": f"{ROW - 2}"}
            Xml.SubElement(svg, "rect", {**place, "fill": rgb(tint(0.5 + 0.5 * share)) if share else EMPTY})
            ink = {"fill": "#ffffff"} if share > 0.6 else {}
            if share > 0.0:
                text(svg, x + CELL / 2, y + 17, f"{100 * share:.0f}", text_anchor="middle", **ink)
