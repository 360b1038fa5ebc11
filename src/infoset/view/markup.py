"""HTML from parts: everything that is not markup already is escaped, so no text can be left unescaped by mistake.

Colours are those of every page of the project (``page/base.css``), for light and dark themes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from html import escape
from importlib.resources import files

from infoset.errors import printable, shorten

LONGEST = 120  # letters of a text that a table shows; a longer text is in the tooltip
LONGEST_TIP = 400
COLOR = re.compile(r"--([\w-]+): light-dark\((#\w+), (#\w+)\);")
HUES = 8
MOVES = re.compile(r"hue\d|fold$|call$|bet\d")  # the colours of players and moves

NIGHTS = (
    '[data-jp-theme-light="false"], .vscode-dark, [data-theme="dark"], html[theme="dark"],'
    " .vscode-high-contrast:not(.vscode-high-contrast-light)"
)
"""Selectors of elements that mark a dark theme in notebooks: JupyterLab, VS Code, Furo's pages, Colab."""

RULES = """
  color: inherit; font: 13px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; overflow-x: auto; padding: 2px;
  --faint: color-mix(in srgb, currentcolor 16%, transparent); --soft: color-mix(in srgb, currentcolor 72%, transparent);
  & header { font-size: 15px; margin: 0 0 6px; }
  & header b { font-weight: 700; }
  & header span { color: var(--soft); margin-left: 10px; }
  & dl { display: flex; flex-wrap: wrap; gap: 6px 26px; margin: 0 0 8px; padding: 0; }
  & dt { color: var(--soft); font-size: 12px; font-weight: 400; }
  & dd { margin: 0; font-size: 15px; font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
  & p { margin: 0 0 8px; color: var(--soft); max-width: 78ch; overflow-wrap: anywhere; }
  & table { border-collapse: collapse; table-layout: auto; margin: 0 0 8px; font-size: 13px; border: 0; }
  & tr, & tr:hover, & tbody tr:nth-child(odd), & tbody tr:nth-child(even) { background: none; }
  & th, & td { text-align: left; padding: 3px 16px 3px 0; border: 0; border-bottom: 1px solid var(--faint);
    white-space: nowrap; font-variant-numeric: tabular-nums; unicode-bidi: isolate; vertical-align: middle; }
  & thead th { color: var(--soft); font-size: 12px; font-weight: 600; background: none; }
  & tbody th { font-weight: 600; background: none; }
  & .sides { display: flex; flex-wrap: wrap; gap: 4px 44px; align-items: flex-start; }
  & td.number, & th.number { text-align: right; }
  & td.equilibrium { background: var(--faint); border-radius: 6px; padding-left: 8px; }
  & td.chance { min-width: 84px; padding: 3px 10px 3px 0; }
  & .bar { display: block; height: 5px; border-radius: 3px; background: var(--faint); overflow: hidden; }
  & .bar i { display: block; float: left; height: 100%; }
  & .none { color: var(--soft); }
  & .paper { background: white; border-radius: 8px; padding: 6px; width: fit-content; margin: 0 0 8px; }
  & .paper svg { display: block; max-width: 100%; height: auto; }
  & iframe { display: block; width: 100%; border: 0; border-radius: 10px; }
  & svg.curve { display: block; margin: 0 0 8px; max-width: 100%; height: auto; }
  & svg.curve text { fill: currentcolor; font-size: 11px; }
"""


class Html(str):
    """Text that is markup already, and is not escaped."""

    __slots__ = ()


def tag(name: str, *content: str, **attributes: str) -> Html:
    """Return an element; ``class_`` is its class."""
    named = "".join(f' {key.rstrip("_")}="{escape(printable(value))}"' for key, value in attributes.items())
    return Html(f"<{name}{named}>{together(content)}</{name}>")


def together(parts: Iterable[str]) -> Html:
    """Join parts: markup as it is, everything else escaped."""
    return Html("".join(part if isinstance(part, Html) else escape(printable(part)) for part in parts))


def name_cell(kind: str, text: str, **attributes: str) -> Html:
    """Return a cell for a text of any length, which is cut; a longer text is in the tooltip."""
    tip = {"title": shorten(text, LONGEST_TIP)} if len(text) > LONGEST else {}
    return tag(kind, shorten(text, LONGEST), **tip, **attributes)


@cache
def palette() -> dict[str, tuple[str, str]]:
    """Return the project's colours by name, for light and dark themes."""
    css = (files("infoset.view") / "page" / "base.css").read_text(encoding="utf-8")
    return {name: (day, night) for name, day, night in COLOR.findall(css)}


def hue(number: int) -> str:
    """Return the CSS colour of a player, or of a move by its place among the legal actions."""
    return f"var(--hue{number % HUES})"


@cache
def _style() -> Html:
    hues = " ".join(
        f"--{name}: light-dark({day}, {night});" for name, (day, night) in palette().items() if MOVES.match(name)
    )
    dark = ", ".join(f"{night} .infoset" for night in NIGHTS.split(", "))
    rules = re.sub(r"\n\s+", "\n", f".infoset.infoset {{ {hues} {RULES}}}\n{dark} {{ color-scheme: dark; }}")
    return Html(f"<style>{rules}</style>")


def shown(*parts: str) -> str:
    """Return the complete output of a notebook cell, with its styles."""
    return together([_style(), tag("div", *parts, class_="infoset")])


def head(name: str, about: str = "") -> Html:
    """Return a heading with a name and a description."""
    return tag("header", tag("b", shorten(name, LONGEST)), tag("span", shorten(about, LONGEST)) if about else "")


def figures(pairs: Iterable[tuple[str, str]]) -> Html:
    """Return names with their values, side by side."""
    found = [tag("div", tag("dt", key), tag("dd", shorten(value, LONGEST))) for key, value in pairs if value]
    return tag("dl", *found) if found else Html()


def table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> Html:
    """Return a table: the first column names its row, the others hold numbers; ``Html`` cells are complete cells."""
    heads = [
        title if isinstance(title, Html) else name_cell("th", title, **({"class_": "number"} if place else {}))
        for place, title in enumerate(titles)
    ]
    body = [tag("tr", *(_cell(place, cell) for place, cell in enumerate(row))) for row in rows]
    return tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *body))


def _cell(place: int, cell: str) -> Html:
    if isinstance(cell, Html):
        return cell
    return name_cell("td", cell, class_="number") if place else name_cell("th", cell)
