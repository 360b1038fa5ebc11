"""A small game's tree as one self-contained SVG."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree as Xml

from infoset.errors import BudgetError
from infoset.policy import TabularPolicy
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import CHANCE, TERMINAL
from infoset.view.text import MAX_TREE_NODES, branch_label, branches, end_payoffs

COLUMN, ROW, MARGIN = 150, 26, 40
STEEP = 60
COLORS = ("#1f5fa8", "#c0392b", "#2e8b57", "#8e44ad", "#b8860b", "#16807a")
GREY, INK = "#888888", "#222222"


def tree_svg(tree: GameTree, policy: TabularPolicy | None = None) -> str:
    """The tree from left to right; nodes of one information set are joined by a dashed line.

    With a policy, the width of an edge is the probability of its move.  Raises ``BudgetError`` beyond
    ``MAX_TREE_NODES`` histories.
    """
    if len(tree.parent) > MAX_TREE_NODES:
        raise BudgetError(f"{tree.name} has {len(tree.parent):,} histories; a picture holds {MAX_TREE_NODES}")
    places = _places(tree)
    width = MARGIN * 2 + COLUMN * (len(tree.levels) - 2) + 90
    height = MARGIN * 2 + ROW * max(int(tree.num_terminals) - 1, 1) + 20
    style = "font-family: Helvetica, Arial, sans-serif; font-size: 11px; background: white"
    svg = Xml.Element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height}", style=style)
    svg.set("width", str(width))
    svg.set("height", str(height))
    Xml.SubElement(svg, "title").text = tree.name
    _legend(svg, tree)
    _draw_infosets(svg, tree, places)
    for node in range(len(tree.parent)):
        _draw_edges(svg, tree, node, places, policy)
    for node in range(len(tree.parent)):
        _draw_node(svg, tree, node, places[node])
    return Xml.tostring(svg, encoding="unicode")


def _places(tree: GameTree) -> list[tuple[float, float]]:
    """Where every node stands: a column a level, ends evenly spaced, parents midway between their children."""
    size = len(tree.parent)
    level = [0] * size
    for node in range(1, size):
        level[node] = level[tree.parent[node]] + 1
    y = [0.0] * size
    rank, todo, order = 0, [0], []
    while todo:
        node = todo.pop()
        order.append(node)
        children = range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
        if not children:
            y[node] = MARGIN + 20 + ROW * rank
            rank += 1
        todo.extend(reversed(children))
    for node in reversed(order):
        children = range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
        if children:
            y[node] = (y[children[0]] + y[children[-1]]) / 2
    return [(MARGIN + COLUMN * level[node], y[node]) for node in range(size)]


def _color(tree: GameTree, player: int) -> str:
    return GREY if player in (CHANCE, TERMINAL) else COLORS[player % len(COLORS)]


def _legend(svg: Xml.Element, tree: GameTree) -> None:
    x = MARGIN
    _text(svg, x, 22, tree.name, INK, font_weight="bold")
    x += 20 + 7 * len(tree.name)
    for player, name in enumerate(tree.players):
        Xml.SubElement(svg, "circle", cx=str(x), cy="18", r="5", fill=_color(tree, player))
        _text(svg, x + 10, 22, name, INK)
        x += 30 + 7 * len(name)


def _draw_infosets(svg: Xml.Element, tree: GameTree, places: list[tuple[float, float]]) -> None:
    members: dict[int, list[int]] = {}
    for node, infoset in enumerate(tree.infoset.tolist()):
        if infoset >= 0:
            members.setdefault(infoset, []).append(node)
    for infoset, nodes in members.items():
        if len(nodes) < 2:
            continue
        color = _color(tree, int(tree.infoset_player[infoset]))
        for one, two in pairwise(nodes):
            (x1, y1), (x2, y2) = places[one], places[two]
            bend = 14 + 5 * (infoset % 5)
            path = f"M{x1:g},{y1:g} C{x1 - bend:g},{y1:g} {x2 - bend:g},{y2:g} {x2:g},{y2:g}"
            Xml.SubElement(
                svg, "path", {"d": path, "fill": "none", "stroke": color, "stroke-dasharray": "3 4", "opacity": ".55"}
            )


def _draw_edges(
    svg: Xml.Element, tree: GameTree, node: int, places: list[tuple[float, float]], policy: TabularPolicy | None
) -> None:
    player = tree.player(node)
    for child, (move, probability) in enumerate(branches(tree, node, policy), start=int(tree.first_child[node])):
        (x1, y1), (x2, y2) = places[node], places[child]
        weight = 0.3 if probability is None or player == CHANCE else probability
        Xml.SubElement(
            svg, "line", {
                "x1": f"{x1:g}", "y1": f"{y1:g}", "x2": f"{x2:g}", "y2": f"{y2:g}", "stroke": _color(tree, player),
                "stroke-width": f"{0.6 + 3 * weight:.2f}", "opacity": "0.25" if weight < 0.0005 else "0.8",
            },
        )  # fmt: skip
        part = 0.62
        label = branch_label(move, probability)
        x, y = x1 + part * (x2 - x1), y1 + part * (y2 - y1) - 4
        if abs(y2 - y1) > STEEP:  # the edge would run through its label
            size = {"width": f"{6 * len(label)}", "height": "13", "fill": "white", "opacity": ".85"}
            Xml.SubElement(svg, "rect", {"x": f"{x - 3 * len(label):g}", "y": f"{y - 10:g}", **size})
        _text(svg, x, y, label, INK, text_anchor="middle", font_size="10")


def _draw_node(svg: Xml.Element, tree: GameTree, node: int, place: tuple[float, float]) -> None:
    x, y = place
    player = tree.player(node)
    if player == TERMINAL:
        _text(svg, x + 6, y + 4, "  ".join(f"{v:g}" for v in end_payoffs(tree, node)), INK)
        return
    circle = Xml.SubElement(
        svg, "circle", cx=f"{x:g}", cy=f"{y:g}", r="5", fill="white" if player == CHANCE else _color(tree, player)
    )
    circle.set("stroke", _color(tree, player))
    if player >= 0:
        Xml.SubElement(circle, "title").text = tree.key(int(tree.infoset[node]))


def _text(svg: Xml.Element, x: float, y: float, text: str, color: str, **style: str) -> None:
    named = {name.replace("_", "-"): value for name, value in style.items()}
    Xml.SubElement(svg, "text", {"x": f"{x:g}", "y": f"{y:g}", "fill": color, **named}).text = text
