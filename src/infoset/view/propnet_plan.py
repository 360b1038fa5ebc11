"""The plan of a picture of a propositional network: items in columns, and the wires between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from infoset.gdl.propnet import AND, FALSE, NO_NODE, TRUE, PropNet
from infoset.gdl.rules import RANDOM
from infoset.gdl.syntax import Term
from infoset.view.layers import Cell
from infoset.view.picture import COLORS, GREY, INK

STAGES = {
    "play": "what legal and terminal need",
    "goals": "what goals need on top",
    "next": "what next needs, once the moves are known",
    "sees": "what only sees needs",
}
OUTPUTS = ("legal", "terminal", "goal", "next", "sees")
GATE_COLOR = "#44566c"
ROW, BOX, PORT, TRACK, BEND = 13.0, 18.0, 8.0, 7.0, 2.0  # heights; TRACK is for a wire that returns in a loop


class Thing(NamedTuple):
    """The content of a cell: a source, a gate, an output, or a bend of a wire."""

    kind: str  # "true", "does", "constant", "gate", "bend", or one of OUTPUTS
    text: str = ""
    full: str = ""  # the full description, as a tooltip
    color: str = INK
    head: str = ""  # the heading of its group
    node: int = NO_NODE  # of a source or a gate
    literal: int = NO_NODE  # of an output
    number: int = 0  # of a proposition
    holds: bool = False  # whether it holds at the start


class Wire(NamedTuple):
    """One piece of a signal: to the next column, or inside a loop."""

    source: int
    target: int
    owner: int  # the cell at which the signal starts
    negated: bool


def levels(net: PropNet) -> list[int]:
    """Return the longest path from a source to each node; the members of a loop share a level."""
    level = [0] * len(net)
    ends = {int(first): int(end) for first, end in net.loops}
    node = int(net.stage_begin[0])
    while node < len(net):
        end = ends.get(node, node + 1)
        inputs = (net.inputs[net.first_input[node] : net.first_input[end]] >> 1).tolist()
        height = 1 + max((level[k] for k in inputs if not node <= k < end), default=0)
        level[node:end] = [height] * (end - node)
        node = end
    return level


def _role_color(net: PropNet, role: int) -> str:
    players = [name for name in net.roles if name != RANDOM]
    name = net.roles[role]
    return GREY if name == RANDOM else COLORS[players.index(name) % len(COLORS)]


def _by_role(
    net: PropNet, first: Iterable[int], relation: str, values: Iterable[object]
) -> Iterator[tuple[int, Thing]]:
    """Yield ``(role, thing)`` for every value; ``first`` gives the index of each role's first value."""
    begins = [int(k) for k in first]
    role = 0
    for k, value in enumerate(values):
        while begins[role + 1] <= k:
            role += 1
        name = net.roles[role]
        head = f"{relation} {name}"
        yield role, Thing(relation, str(value), f"{head} {value}", _role_color(net, role), head)


def _sources(net: PropNet) -> Iterator[tuple[int, Thing]]:
    """Yield ``(group, thing)`` for every source."""
    if TRUE in net.inputs >> 1:
        yield 0, Thing("constant", "always true", "always true", node=TRUE)
    for k, (term, holds) in enumerate(zip(net.base, net.initial.tolist(), strict=True), start=1):
        full = f"true {term}: proposition {k}{', holds at the start' * holds}{_opposite(net, 2 * k)}"
        yield 1, Thing("true", str(term), full, head="true", node=k, number=k, holds=holds)
    for k, (role, thing) in enumerate(_by_role(net, net.first_move, "does", net.moves)):
        node = int(net.does[k])
        unread = ", which nothing reads" * (node == NO_NODE)
        yield 2 + role, thing._replace(node=node, full=thing.full + unread)


def _outputs(net: PropNet) -> Iterator[tuple[int, int, Thing]]:
    """Yield ``(stage, group, thing)`` for every output."""
    for k, (role, thing) in enumerate(_by_role(net, net.first_move, "legal", net.moves)):
        yield 0, role, thing._replace(literal=int(net.legal[k]))
    yield 0, len(net.roles), Thing("terminal", "terminal", "terminal", literal=net.terminal)
    for k, (role, thing) in enumerate(_by_role(net, net.first_goal, "goal", net.goal_values)):
        yield 1, role, thing._replace(literal=int(net.goals[k]))
    for k, term in enumerate(net.base, start=1):
        full = f"next {term}: proposition {k} in the next state"
        yield 2, 0, Thing("next", str(term), full, head="next", literal=int(net.following[k - 1]), number=k)
    for k, (role, thing) in enumerate(_by_role(net, net.first_percept, "sees", net.percepts)):
        yield 3, role, thing._replace(literal=int(net.sees[k]))


def _opposite(net: PropNet, literal: int) -> str:
    """Return a note on the atom that is the literal's negation, if there is one."""
    return f"; its negation is {net.names[literal ^ 1]}" if literal ^ 1 in net.names else ""


def _gate(net: PropNet, node: int, stage: str, size: int) -> Thing:
    name: Term | None = net.names.get(2 * node)
    what = "all" if net.kind[node] == AND else "any"
    full = f"{name or 'a gate'}: {what} of {size} inputs, for {stage}{_opposite(net, 2 * node)}"
    own = name is not None and name.functor not in OUTPUTS  # the name of an output is shown only once
    return Thing("gate", str(name) if own else "", full, GATE_COLOR, node=node)


class Plan:
    """The content of the picture: things in cells, and wires with a bend in every column that they cross."""

    def __init__(self, net: PropNet) -> None:
        self.net = net
        self.things: list[Thing] = []
        self.cells: list[Cell] = []
        self.wires: list[Wire] = []
        self.feedback: list[Wire] = []
        self.room: dict[int, float] = {}  # space above the box of a gate for the wires that return
        self.cell_of: dict[int, int] = {}  # node -> cell
        self.bends: dict[tuple[int, int, int], int] = {}
        self.ropes: dict[tuple[int, int], int] = {}  # (owner, lane) -> number
        self.loop_of = {node: k for k, (first, end) in enumerate(net.loops.tolist(), 1) for node in range(first, end)}
        for group, thing in _sources(net):
            self.add(thing, Cell(0, ROW, group=group))
        self.add_gates()
        self.add_outputs()

    def add(self, thing: Thing, cell: Cell) -> int:
        self.things.append(thing)
        self.cells.append(cell)
        if thing.node != NO_NODE:
            self.cell_of[thing.node] = len(self.cells) - 1
        return len(self.cells) - 1

    def inputs(self, node: int) -> list[int]:
        found: list[int] = self.net.inputs[self.net.first_input[node] : self.net.first_input[node + 1]].tolist()
        return list(dict.fromkeys(found))

    def add_gates(self) -> None:
        net, level, stages = self.net, levels(self.net), list(STAGES)
        first = int(net.stage_begin[0])
        stage_of = {node: int((net.stage_begin <= node).sum()) - 1 for node in range(first, len(net))}
        for node, stage in stage_of.items():
            inputs, loop = self.inputs(node), self.loop_of.get(node, 0)
            inside = sum(loop > 0 and self.loop_of.get(x >> 1) == loop for x in inputs)
            height = TRACK * inside + max(BOX, PORT * len(inputs) + 2)
            cell = self.add(_gate(net, node, stages[stage], len(inputs)), Cell(level[node], height, stage, block=loop))
            self.room[cell] = TRACK * inside
        for node in stage_of:
            for literal in self.inputs(node):
                self.connect(literal, self.cell_of[node])

    def add_outputs(self) -> None:
        column = 1 + max(cell.column for cell in self.cells)
        for stage, group, thing in _outputs(self.net):
            cell = self.add(thing, Cell(column, ROW, stage, group))
            if thing.literal not in (TRUE, FALSE):
                self.connect(thing.literal, cell)

    def connect(self, literal: int, target: int) -> None:
        """Wire a literal to a cell, through the lane of that cell; wires of one signal share their bends."""
        owner = at = self.cell_of[literal >> 1]
        aim = self.cells[target]
        if aim.block and aim.block == self.cells[owner].block:
            self.feedback.append(Wire(owner, target, owner, bool(literal & 1)))
            return
        rope = self.ropes.setdefault((owner, aim.lane), len(self.ropes) + 1)
        for column in range(self.cells[owner].column + 1, aim.column):
            key = (owner, column, aim.lane)
            if key not in self.bends:
                self.bends[key] = self.add(Thing("bend"), Cell(column, BEND, aim.lane, rope=rope))
                self.wires.append(Wire(at, self.bends[key], owner, False))
            at = self.bends[key]
        self.wires.append(Wire(at, target, owner, bool(literal & 1)))
