"""Pictures as plain text, for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unicodedata import east_asian_width

from infoset.base import Picture
from infoset.errors import one_line

WIDTH = 100
MOST_SIGNS = 10
"""More tokens are a number only."""


def picture_text(picture: Picture) -> str:
    """Return a picture as lines of text: cards as ``[K]`` and ``[?]``, dice as faces, boards in boxes.

    >>> from infoset.view.pictures import picture_text, seen
    >>> print(picture_text(seen(infoset.load("kuhn_poker"), 0, ((None, "K"),))))
    P1   [K]   1 chip
    P2   [?]   1 chip
    pot        2 chips
    """
    return "\n".join(WRITERS.get(picture["kind"], _of_other_player)(picture))


def _table(picture: Picture) -> Iterator[str]:
    areas = picture["areas"]
    titles = [_line(area["title"]) for area in areas]
    rows = [_hand(area) for area in areas]
    left, middle = max(map(len, titles), default=0), max([len(line) for lines in rows for line in lines], default=0)
    for title, (shown, *below), area in zip(titles, rows, areas, strict=True):
        said = [_line(area["note"]), *([_chips(area["chips"])] if "chips" in area else [])]
        yield f"{title:{left}}   {shown:{middle}}   {', '.join(filter(None, said))}".rstrip()
        yield from [f"{'':{left}}   {line}".rstrip() for line in below if line]


def _hand(area: dict[str, Any]) -> list[str]:
    """Return the cards of an area, an asterisk after each that is marked, and the lines below them."""
    marked, below = area.get("marked", ()), area.get("below") or [()] * len(area["cards"])
    cards = [_card(card) + "*" * (k in marked) for k, card in enumerate(area["cards"])]
    columns = [[card, *map(_line, lines)] for card, lines in zip(cards, below, strict=True)]
    width = max([_width(text) for lines in columns for text in lines], default=0) if "below" in area else 0
    lines = [" ".join([f"{text:{width}}" for text in line]).rstrip() for line in zip(*columns, strict=True)] or [""]
    more = [*["[?]"] * area["hidden"], *map(_tokens, area.get("tokens", ()))]
    return [" ".join(filter(None, [lines[0], *more])), *lines[1:]]


def _card(card: str) -> str:
    return f"[{_line(card)}]"


def _tokens(tokens: dict[str, Any]) -> str:
    """Return tokens as signs that can be counted, where they are few, and as a number."""
    name, left, most, sign = tokens["name"], tokens["left"], tokens["most"], tokens["sign"]
    signs = f"{sign * left}{'·' * (most - left)} " if most <= MOST_SIGNS else ""
    return f"{signs}{name} {left} "


def _chips(count: int) -> str:
    return f"{count} chip{'s' * (count != 1)}"


def _grid(picture: Picture) -> Iterator[str]:
    """Yield a box per cell with labels around them; long contents become initials where these are unambiguous."""
    short, legend = _abbreviations(picture)
    cells = [[short.get(cell, "") for cell in row] for row in picture["cells"]]
    rows, columns = list(map(_line, picture["rows"])), list(map(_line, picture["columns"]))
    width = max([_width(text) for line in [*cells, columns] for text in line] + [1])
    left = max(map(len, rows), default=0)
    rule = "─" * (width + 2)
    if picture.get("title"):
        yield _line(picture["title"])
    if picture.get("hexagons"):
        yield from _hexagons(rows, columns, cells, left, width, legend, picture["hexagons"] > 0)
        return
    yield " " * (left + 2) + " ".join(f" {_centre(label, width)} " for label in columns).rstrip()
    yield " " * (left + 1) + f"┌{'┬'.join([rule] * len(columns))}┐"
    for number, (label, line) in enumerate(zip(rows, cells, strict=True)):
        if number:
            yield " " * (left + 1) + f"├{'┼'.join([rule] * len(columns))}┤"
        yield f"{label:>{left}} │" + "│".join(f" {_centre(text, width)} " for text in line) + "│"
    yield " " * (left + 1) + f"└{'┴'.join([rule] * len(columns))}┘"
    if legend:
        yield " " * (left + 2) + legend


def _hexagons(
    rows: list[str], columns: list[str], cells: list[list[str]], left: int, width: int, legend: str, right: bool
) -> Iterator[str]:  # fmt: skip
    """Yield the rows, each half a cell to the right or left of the row above; ``·`` marks an empty cell."""
    step = width + 3
    first = 0 if right else (len(rows) - 1) * step // 2
    yield " " * (first + left + 2) + "".join(_centre(label, step) for label in columns).rstrip()
    for number, (label, line) in enumerate(zip(rows, cells, strict=True)):
        shift = " " * ((number if right else len(rows) - 1 - number) * step // 2)
        yield f"{shift}{label:>{left}}  " + "".join(_centre(text or "·", step) for text in line).rstrip()
    if legend:
        yield " " * (left + 2) + legend


def _abbreviations(picture: Picture) -> tuple[dict[str, str], str]:
    """Return the abbreviation of each content, and a legend."""
    contents = sorted({cell for row in picture["cells"] for cell in row})
    plain = {content: _line(content) for content in contents}
    long = [content for content in contents if len(plain[content]) > 2 and plain[content].isalpha()]
    initials = {content: plain[content][0].upper() for content in long}
    others = {plain[content].upper() for content in contents if content not in initials}
    if len(set(initials.values())) < len(long) or others & set(initials.values()):
        return plain, ""
    return plain | initials, ", ".join(f"{initials[content]} {plain[content]}" for content in long)


def _facts(picture: Picture) -> Iterator[str]:
    width = max([len(_line(relation["name"])) for relation in picture["relations"]], default=0)
    for relation in picture["relations"]:
        rows = [" ".join(map(_line, row)) for row in relation["rows"]]
        lead = _line(relation["name"]).ljust(width)
        for line in _wrapped([row for row in rows if row], WIDTH - width - 3, " · "):
            yield f"{lead}   {line}".rstrip()
            lead = " " * width


def _path(picture: Picture) -> Iterator[str]:
    said = [": ".join(filter(None, (_line(step["who"]), _line(step["move"])))) for step in picture["steps"]]
    yield from _wrapped(said, WIDTH, " → ")
    yield from map(one_line, picture.get("note", "").splitlines())


def _wrapped(words: Sequence[str], width: int, between: str) -> Iterator[str]:
    """Yield words joined into lines; one empty line where there are none."""
    line = ""
    for word in words:
        longer = f"{line}{between}{word}" if line else word
        if line and len(longer) > width:
            yield line + between.rstrip()
            longer = word
        line = longer
    yield line


def _group(picture: Picture) -> Iterator[str]:
    """Yield boards side by side where they fit, and everything else one below another."""
    blocks: list[tuple[bool, list[str]]] = []
    for part in picture["parts"]:
        lines, board = list(WRITERS.get(part["kind"], _of_other_player)(part)), part["kind"] == "grid"
        beside = _beside(blocks[-1][1], lines) if board and blocks and blocks[-1][0] else []
        if beside and max(map(len, beside)) <= WIDTH:
            blocks[-1] = (True, beside)
        else:
            blocks.append((board, lines))
    for number, (_, lines) in enumerate(blocks):
        yield from ["", *lines] if number else lines


def _beside(left: list[str], right: list[str]) -> list[str]:
    """Join two blocks of lines side by side, aligned at their last lines."""
    height, width = max(len(left), len(right)), max(map(len, left))
    left, right = [""] * (height - len(left)) + left, [""] * (height - len(right)) + right
    return [f"{one:{width}}    {other}".rstrip() for one, other in zip(left, right, strict=True)]


def _payoffs(picture: Picture) -> Iterator[str]:
    """Yield a table for each choice of the third player, with ``*`` at best responses, and the choices made."""
    players, strategies = picture["players"], picture["strategies"]
    rows, columns = [[_line(word) for word in own] for own in strategies[:2]]
    for table in picture["tables"]:
        cells = [[_cell(cell) for cell in line] for line in table["cells"]]
        left = max(map(_width, (players[0], *rows)))
        widths = [max(map(_width, (name, *[line[c] for line in cells]))) for c, name in enumerate(columns)]
        if table["title"]:
            yield _line(table["title"])
        yield f"{'':{left}}   {_line(players[1])}"
        for name, line in ((players[0], columns), *zip(rows, cells, strict=True)):
            yield "   ".join([f"{name:{left}}", *map(str.ljust, line, widths)]).rstrip()
        yield ""
    made = zip(players, strategies, picture["chosen"], strict=True)
    chosen = ", ".join([f"{_line(who)} chose {_line(own[k])}" for who, own, k in made if k is not None])
    marked = any(any(cell["best"]) for table in picture["tables"] for line in table["cells"] for cell in line)
    yield from [chosen] if chosen else [BEST_ANSWERS] * marked
    yield from picture["equilibria"]


BEST_ANSWERS = "* a best response to the others' choices; a cell with all marked is an equilibrium"


def _cell(cell: dict[str, Any]) -> str:
    return ", ".join(f"{paid}{'*' * best}" for paid, best in zip(cell["paid"], cell["best"], strict=True))


def _of_other_player(picture: Picture) -> Iterator[str]:
    """Yield the kind of a picture that has its own writer elsewhere."""
    yield f"({picture['kind']})"


def _line(text: str) -> str:
    return one_line(text)


def _width(text: str) -> int:
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def _centre(text: str, width: int) -> str:
    room = width - _width(text)
    return " " * (room // 2) + text + " " * (room - room // 2)


WRITERS: dict[str, Callable[[Picture], Iterator[str]]] = {
    "table": _table, "grid": _grid, "payoffs": _payoffs, "facts": _facts, "path": _path, "group": _group,
}  # fmt: skip
