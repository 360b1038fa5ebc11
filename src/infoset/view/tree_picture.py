"""A picture of a small game tree in the usual notation of game theory.

The tree grows from the top down: a node shows the numbers of its player and its information set, ``2:3``; the
histories of one set are joined by a dashed curve; payoffs stand under the terminal nodes, one row per player.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from infoset.errors import BudgetError, shorten
from infoset.policies.tabular import TabularPolicy
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import CHANCE, TERMINAL
from infoset.view.picture import COLORS, DASHES, GREY, Box, Line, Picture, Point, Words, text_width
from infoset.view.text import MAX_TREE_NODES, branch_words, branches, end_payoffs, number_text
from infoset.view.tree_plan import Bridge, Join, TreePlan

MARGIN, HEADER = 24.0, 62.0
TITLE, NUMBER, MOVE, NAME = 14.0, 9.0, 10.0, 10.0  # font sizes
NODE, CHANCE_NODE, SLOT = 15.0, 9.0, 8.0  # heights of nodes; the free space on either side of a node
LINE, ROW, KEY_LINE = 12.0, 17.0, 15.0
FAN, STEEPEST, HIGHEST_FAN, STUB, TRACK = 22.0, 0.11, 90.0, 7.0, 6.0
GAP, LEAST = 3.0, 11.0
LONGEST_MOVE, LONGEST_NAME, LONGEST_TITLE, LONGEST_PLAYER = 24, 44, 90, 24  # characters
FAINT = "#bbbbbb"


def tree_picture(tree: GameTree, policy: TabularPolicy | None = None) -> Picture:
    """Return the tree drawn from the top down; with a policy, the width of an edge is the probability of its move.

    Raises ``BudgetError`` beyond ``MAX_TREE_NODES`` histories.
    """
    if len(tree.parent) > MAX_TREE_NODES:
        raise BudgetError(f"{tree.name} has {len(tree.parent):,} histories; a picture holds {MAX_TREE_NODES}")
    return _Drawing(tree, policy).draw()


def tree_svg(tree: GameTree) -> str:
    """Return ``tree_picture`` as SVG.  Raises ``BudgetError``."""
    return tree_picture(tree).svg()


class _Drawing:
    """The texts of a tree, their positions, and the shapes."""

    def __init__(self, tree: GameTree, policy: TabularPolicy | None) -> None:
        self.tree = tree
        size = len(tree.parent)
        self.names = _set_names(tree)
        self.words: list[tuple[str, ...]] = [()] * size
        self.weight: list[float | None] = [None] * size
        for node in range(size):
            for child, (action, chance) in enumerate(branches(tree, node, policy), start=int(tree.first_child[node])):
                exact = tree.player(node) == CHANCE
                self.words[child] = branch_words(shorten(action, LONGEST_MOVE), chance, exact)
                self.weight[child] = None if exact else chance
        ends = [node for node in range(size) if tree.player(node) == TERMINAL]
        self.payoffs = {node: [number_text(v).replace("-", "−") for v in end_payoffs(tree, node)] for node in ends}
        half = [self.node_width(node) / 2 for node in range(size)]
        label = [max((text_width(text, MOVE) for text in words), default=0.0) / 2 for words in self.words]
        column = [max(half[k] + SLOT, label[k] + GAP, self.payoff_width(k) / 2 + GAP + 1, LEAST) for k in range(size)]
        self.plan = TreePlan(tree, half, label, column)
        self.key = self.key_columns()
        self.place([max(half[k], label[k], self.payoff_width(k) / 2) for k in range(size)])

    def node_width(self, node: int) -> float:
        player = self.tree.player(node)
        if player == TERMINAL:
            return 0.0
        return (
            CHANCE_NODE if player == CHANCE else text_width(self.names[int(self.tree.infoset[node])], NUMBER, True) + 8
        )

    def payoff_width(self, node: int) -> float:
        return max((text_width(text, NAME) for text in self.payoffs.get(node, ())), default=0.0)

    def place(self, reach: Sequence[float]) -> None:
        """Compute the heights of the levels and the size of the picture; ``reach`` is the half width of a column."""
        plan, tree = self.plan, self.tree
        depth = max(plan.level)
        self.players = [shorten(name, LONGEST_PLAYER) for name in tree.players]
        heads = MARGIN + max(text_width(name, NAME, True) for name in self.players) + 14
        total = max(x + half for x, half in zip(plan.x, reach, strict=True))
        total = max(total, *(x for x, _, _ in plan.verticals), 0.0)
        need = max(text_width(shorten(tree.name, LONGEST_TITLE), TITLE, True), self.legend_width())
        self.width = max(heads + total + MARGIN, need + 2 * MARGIN, self.key_width() + 2 * MARGIN)
        self.left = heads + (self.width - heads - total - MARGIN) / 2
        self.lines = [max((len(self.words[k]) for k in plan.texts[level]), default=0) for level in range(depth + 1)]
        self.y = [HEADER + TRACK * plan.tracks(0) + NODE]
        self.fan = []
        for level in range(depth):
            spread = max((abs(plan.x[k] - plan.x[int(tree.parent[k])]) for k in plan.texts[level]), default=0.0)
            self.fan.append(min(max(FAN, STEEPEST * spread), HIGHEST_FAN))
            channel = TRACK * plan.tracks(level + 1) + (TRACK if plan.tracks(level + 1) else 0.0)
            self.y.append(self.y[-1] + NODE + self.fan[-1] + LINE * self.lines[level] + STUB + channel)
        self.foot = self.y[-1] + 6
        self.height = self.foot + ROW * len(self.players) + self.key_height() + MARGIN

    def x(self, node: int) -> float:
        return self.left + self.plan.x[node]

    def draw(self) -> Picture:
        picture = Picture(self.tree.name, self.width, self.height)
        for part in (self.header, self.edges, self.curves, self.nodes, self.labels, self.table, self.key_shapes):
            picture.shapes += part()
        return picture

    def header(self) -> list[Line | Box | Words]:
        shapes: list[Line | Box | Words] = []
        name = self.tree.name
        shapes.append(Words(MARGIN, 28, shorten(name, LONGEST_TITLE), size=TITLE, bold=True, kind="title", tip=name))
        x = MARGIN
        for player, name in enumerate(self.players):
            color = _color(player)
            shapes.append(Box(x + 9, 46, 18, NODE, "white", color, NODE / 2, "legend"))
            number = str(player + 1)
            shapes.append(Words(x + 9, 49.3, number, color, NUMBER, True, "middle", "legend"))
            shapes.append(Line(((x + 22, 46), (x + 44, 46)), color, 1.3, _dash(player), kind="legend"))
            shapes.append(Words(x + 49, 49.6, name, color, NAME, kind="legend"))
            x += self.entry_width(name)
        if (self.tree.graph.player[self.tree.position] == CHANCE).any():
            shapes.append(Box(x + 5, 46, CHANCE_NODE, CHANCE_NODE, GREY, GREY, 0.0, "legend"))
            shapes.append(Words(x + 15, 49.6, "chance", GREY, NAME, kind="legend"))
        return shapes

    def entry_width(self, name: str) -> float:
        return 49 + text_width(name, NAME) + 22

    def legend_width(self) -> float:
        return sum(self.entry_width(name) for name in self.players) + 15 + text_width("chance", NAME)

    def edges(self) -> list[Line]:
        """Return the edges from node to label to node, and a faint line from the last label to the payoffs."""
        plan, lines = self.plan, []
        for node in range(1, len(self.tree.parent)):
            above = int(self.tree.parent[node])
            level, end, x = plan.level[above], node in self.payoffs, self.x(node)
            top, bottom = self.label_box(node)
            color, width = _color(self.tree.player(above)), _width(self.weight[node])
            start = (self.x(above), self.y[level] + self.node_height(above) / 2)
            lines.append(Line((start, (x, top)), color, width, kind="edge"))
            stop = bottom + STUB if end else self.y[plan.level[node]] - self.node_height(node) / 2
            lines.append(Line(((x, bottom), (x, stop)), color, width, kind="edge"))
            if end and stop < self.foot:
                lines.append(Line(((x, stop), (x, self.foot)), FAINT, 0.8, kind="drop"))
        return lines

    def node_height(self, node: int) -> float:
        return CHANCE_NODE if self.tree.player(node) == CHANCE else NODE

    def label_box(self, node: int) -> tuple[float, float]:
        """Return the top and bottom of the label on the edge to a node."""
        level = self.plan.level[int(self.tree.parent[node])]
        top = self.y[level] + NODE / 2 + self.fan[level]
        return top, top + LINE * len(self.words[node]) + 1

    def labels(self) -> list[Words]:
        return [
            Words(
                self.x(node),
                self.label_box(node)[0] + LINE * (k + 1) - 2,
                text,
                size=MOVE,
                anchor="middle",
                kind="move",
            )
            for node in range(1, len(self.tree.parent))
            for k, text in enumerate(self.words[node])
        ]

    def curves(self) -> list[Line]:
        lines = []
        for join in self.plan.joins:
            player = int(self.tree.infoset_player[join.infoset])
            tip = f"{self.names[join.infoset]}  {self.tree.key(join.infoset)}"
            lines.append(
                Line(self.way(join), _color(player), 1.3, _dash(player), 5.0, f"infoset set-{join.infoset}", tip)
            )
        return lines

    def way(self, join: Join) -> tuple[Point, ...]:
        """Return the corners of a curve from one node's side to another's."""
        plan = self.plan
        (x1, y1), (x2, y2) = ((self.x(node), self.y[plan.level[node]]) for node in (join.one, join.other))
        side, back_side = join.sides
        x1, x2 = x1 + side * plan.node[join.one], x2 + back_side * plan.node[join.other]
        if not join.bridges:
            return (x1, y1), (x2, y2)
        out, back = self.left + plan.port(join.one, side), self.left + plan.port(join.other, back_side)
        first, last = self.track_height(join.bridges[0]), self.track_height(join.bridges[-1])
        across = self.left + join.across
        middle = ((across, first), (across, last)) if len(join.bridges) == 2 else ()
        return (x1, y1), (out, y1), (out, first), *middle, (back, last), (back, y2), (x2, y2)

    def track_height(self, bridge: Bridge) -> float:
        return self.y[bridge.level] - NODE / 2 - TRACK * (self.plan.track[bridge] + 1)

    def nodes(self) -> list[Box | Words]:
        shapes: list[Box | Words] = []
        for node in range(len(self.tree.parent)):
            player, x, y = self.tree.player(node), self.x(node), self.y[self.plan.level[node]]
            if player == CHANCE:
                shapes.append(Box(x, y, CHANCE_NODE, CHANCE_NODE, GREY, GREY, 0.0, "chance"))
            elif player != TERMINAL:
                infoset, color = int(self.tree.infoset[node]), _color(player)
                width, key = 2 * self.plan.node[node], self.tree.key(infoset)
                shapes.append(Box(x, y, width, NODE, "white", color, NODE / 2, f"node set-{infoset}", key))
                name = self.names[infoset]
                shapes.append(Words(x, y + 3.3, name, color, NUMBER, True, "middle", "number", key))
        return shapes

    def table(self) -> list[Words]:
        """Return the payoffs, one row per player."""
        first = self.left + min((self.plan.x[k] - self.payoff_width(k) / 2 for k in self.payoffs), default=0.0)
        words = []
        for player, name in enumerate(self.players):
            y, color = self.foot + ROW * player + 13, _color(player)
            words.append(Words(first - 14, y, name, color, NAME, True, "end", "heading"))
            words += [
                Words(self.x(end), y, paid[player], color, NAME, anchor="middle", kind="payoff")
                for end, paid in self.payoffs.items()
            ]
        return words

    def key_columns(self) -> list[tuple[int, str]]:
        """Return the information sets whose names are more than a number, by player."""
        tree = self.tree
        keyed = [(k, tree.key(k)) for k in range(len(tree.infoset_player)) if not tree.key(k).startswith("#")]
        return sorted(keyed, key=lambda entry: (int(tree.infoset_player[entry[0]]), entry[0]))

    def key_width(self) -> float:
        names = [text_width(shorten(key, LONGEST_NAME), NAME) for _, key in self.key]
        numbers = [text_width(self.names[k], NAME, True) for k, _ in self.key]
        return max(names, default=0.0) + max(numbers, default=0.0) + 30

    def key_height(self) -> float:
        return 22 + KEY_LINE * self.key_lines() if self.key else 0.0

    def key_lines(self) -> int:
        across = max(1, int((self.width - 2 * MARGIN) // self.key_width()))
        return -(-len(self.key) // across)

    def key_shapes(self) -> list[Words]:
        """Return the key to the numbers of the information sets."""
        words, lines = [], self.key_lines()
        numbers = max((text_width(self.names[k], NAME, True) for k, _ in self.key), default=0.0)
        for place, (infoset, key) in enumerate(self.key):
            column, line = divmod(place, lines)
            x = MARGIN + column * self.key_width()
            y = self.foot + ROW * len(self.players) + 32 + KEY_LINE * line
            color = _color(int(self.tree.infoset_player[infoset]))
            words.append(Words(x, y, self.names[infoset], color, NAME, True, kind="key"))
            words.append(Words(x + numbers + 8, y, shorten(key, LONGEST_NAME), size=NAME, kind="key", tip=key))
        return words


def _set_names(tree: GameTree) -> list[str]:
    """Return ``2:3`` for each information set: its player's number and its own number.

    Where a file numbers its sets and does not name them, its numbers are used.
    """
    keys = [tree.key(k) for k in range(len(tree.infoset_player))]
    numbered = bool(keys) and all(key[:1] == "#" and key[1:].isdigit() for key in keys)
    names, counts = [], Counter[int]()
    for key, player in zip(keys, tree.infoset_player.tolist(), strict=True):
        counts[player] += 1
        names.append(f"{player + 1}:{key[1:] if numbered else counts[player]}")
    return names


def _color(player: int) -> str:
    return GREY if player == CHANCE else COLORS[player % len(COLORS)]


def _dash(player: int) -> tuple[float, ...]:
    return DASHES[player % len(DASHES)]


def _width(probability: float | None) -> float:
    return 1.1 if probability is None else 0.5 + 3.2 * probability
