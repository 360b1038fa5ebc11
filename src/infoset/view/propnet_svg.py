"""A small propositional network as one self-contained SVG."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from infoset.errors import UnsupportedGameError, printable, shorten
from infoset.gdl.propnet import AND, FALSE, NO_NODE, OR, TRUE, PropNet
from infoset.view.layers import EVERYWHERE, Link, arrange, place
from infoset.view.picture import COLORS, GREY, INK, text_width
from infoset.view.propnet_plan import GATE_COLOR, PORT, STAGES, TRACK, Plan, Thing, Wire

MAX_THINGS = 450  # nodes, outputs, and moves that are never read
TINTS = ("#eef3f9", "#faf5e8", "#eef6f0", "#f7f0fa")
LOOP, LOOP_EDGE = "#fde7b8", "#b8860b"
GATES = {AND: ("&", "white", "2"), OR: ("≥1", "#dbe2ea", "8")}  # symbol, fill, rounding
TITLE_FONT, FONT, NAME_FONT, NUMBER_FONT = 14.0, 11.0, 10.0, 8.5
SHAPE = {"true": 26.0, "next": 26.0}  # width reserved for the shape of a source or an output
SMALL_SHAPE = 17.0
LONGEST_NAME, LONGEST_TEXT, LONGEST_TITLE = 26, 34, 80  # characters
MARGIN, LINE = 24.0, 22.0
GATE, BUBBLE, FRAME = 26.0, 3.0, 7.0
CSS = ".wire{fill:none;stroke-width:1.1;opacity:.7} .signal:hover .wire{stroke-width:2.6;opacity:1}"


def propnet_svg(net: PropNet, title: str = "") -> str:
    """Return the network drawn from left to right: propositions and moves, gates by level, outputs.

    Each stage has a band of its own.

    Raises ``UnsupportedGameError`` where the network is too large for a picture.
    """
    things = len(net) + int((net.does == NO_NODE).sum()) + len([*net.legal, *net.goals, *net.following, *net.sees])
    if things > MAX_THINGS:
        name = title or "the game"
        raise UnsupportedGameError(
            f"the network of {name} has {things:,} nodes and outputs; a picture holds {MAX_THINGS:,}"
        )
    return _Picture(Plan(net)).draw(title or "propositional network", propnet_summary(net))


def propnet_summary(net: PropNet) -> str:
    """Return the size of a network in one line."""
    gates = [int(size) for size in net.stage_begin[1:] - net.stage_begin[:-1]]
    stages = ", ".join(f"{stage} {size:,}" for stage, size in zip(STAGES, gates, strict=True))
    sizes = {"proposition": len(net.base), "move": len(net.moves), "gate": sum(gates), "loop": len(net.loops)}
    parts = {name: f"{size:,} {name}{'s' * (size != 1)}" for name, size in sizes.items()}
    return f"{parts['proposition']}, {parts['move']}, {parts['gate']} ({stages}), {parts['loop']}"


class _Picture:
    """The positions of everything in a plan, and the drawing."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.net = plan, plan.net
        self.columns = arrange(plan.cells, [Link(wire.source, wire.target) for wire in plan.wires])
        self.ports = self.find_ports({cell: k for column in self.columns for k, cell in enumerate(column)})
        links = [Link(w.source, w.target, plan.room.get(w.source, 0.0) / 2, self.ports[w]) for w in plan.wires]
        self.y, bands = place(plan.cells, links, self.columns)
        self.bottom = bands.pop(EVERYWHERE)[1]
        self.lanes = bands
        self.tracks = self.find_tracks()
        self.left, self.right = self.column_edges()
        self.width = self.right[-1] + self.text_column(-1) + MARGIN + 40  # leaves room for the name of the stage

    def find_ports(self, rank: dict[int, int]) -> dict[Wire, float]:
        """Return how far below its cell's centre each wire ends; wires that return in a loop end above the others."""
        into: dict[int, list[Wire]] = {}
        for wire in [*self.plan.feedback, *sorted(self.plan.wires, key=lambda wire: rank[wire.source])]:
            into.setdefault(wire.target, []).append(wire)
        return {
            wire: self.plan.room.get(target, 0.0) / 2 + (k - (len(wires) - 1) / 2) * PORT
            for target, wires in into.items()
            for k, wire in enumerate(wires)
        }

    def find_tracks(self) -> dict[Wire, tuple[float, float]]:
        """Return for each wire that returns in a loop its height above the target, and how far it bulges."""
        plan, found = self.plan, {}
        height: dict[Wire, float] = {}
        for wire in plan.feedback:
            over = sum(other.target == wire.target for other in height)
            box = self.y[wire.target] - plan.cells[wire.target].height / 2 + plan.room[wire.target]
            height[wire] = box - (over + 0.5) * TRACK
        for loop in range(1, len(self.net.loops) + 1):
            wires = [wire for wire in height if plan.cells[wire.target].block == loop]
            wires.sort(key=lambda wire: abs(self.y[wire.source] - height[wire]))
            step = min(5.0, 90.0 / (len(wires) or 1))
            found.update({wire: (height[wire], 14 + step * k) for k, wire in enumerate(wires)})
        return found

    def box_width(self, cell: int) -> float:
        thing = self.plan.things[cell]
        name = shorten(thing.text, LONGEST_NAME)
        return GATE * (thing.kind == "gate") + (text_width(name, NAME_FONT) + 4) * bool(thing.kind == "gate" and name)

    def column_edges(self) -> tuple[list[float], list[float]]:
        """Return the left and right edges of each column's boxes; gaps grow with the number of wires in them."""
        cells, x = self.plan.cells, MARGIN + self.text_column(0)
        left, right = [x], [x]
        for column in range(1, len(self.columns)):
            wires = sum(cells[wire.target].column == column for wire in self.plan.wires)
            loop = any(cells[cell].block for cell in self.columns[column])
            x = right[-1] + 50 + min(130.0, 1.8 * wires) + self.bulge(column - 1) + 24 * loop
            left.append(x)
            right.append(x + max(self.box_width(cell) for cell in self.columns[column]))
        return left, right

    def bulge(self, column: int) -> float:
        """Return how far the loops of a column extend beyond its right edge."""
        cells = self.plan.cells
        return max((wide for wire, (_, wide) in self.tracks.items() if cells[wire.target].column == column), default=0)

    def text_column(self, column: int) -> float:
        things = [self.plan.things[cell] for cell in self.columns[column]]
        texts = [
            _space(thing) + max(text_width(_label(thing) + _constant(thing), FONT), 1.1 * text_width(thing.head, FONT))
            for thing in things
        ]
        return max(*texts, 110.0)

    def draw(self, title: str, summary: str) -> str:
        title = shorten(title, LONGEST_TITLE)
        self.width = max(self.width, 2 * MARGIN + text_width(title, TITLE_FONT), 2 * MARGIN + text_width(summary, FONT))
        legend = Xml.Element("g", {"class": "legend"})
        top = _Legend(legend, self.width).draw(self.net, title, summary) + 8
        size = {"width": f"{self.width:.0f}", "height": f"{top + self.bottom + MARGIN:.0f}"}
        style = "font-family: Helvetica, Arial, sans-serif; font-size: 11px; background: white"
        view = f"0 0 {size['width']} {size['height']}"
        svg = Xml.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "viewBox": view, "style": style, **size})
        _tip(svg, title)
        Xml.SubElement(svg, "style").text = CSS
        Xml.SubElement(svg, "rect", {**size, "fill": "white"})
        svg.append(legend)
        body = Xml.SubElement(svg, "g", transform=f"translate(0 {top:g})")
        self.draw_lanes(body)
        self.draw_loops(body)
        self.draw_heads(body)
        for cell, thing in enumerate(self.plan.things):
            if thing.kind != "bend":
                self.draw_thing(body, cell, thing)
        return Xml.tostring(svg, encoding="unicode")

    def draw_lanes(self, svg: Xml.Element) -> None:
        x = self.left[1] - 30
        for lane, (top, bottom) in self.lanes.items():
            stage, note = list(STAGES.items())[lane]
            group = Xml.SubElement(svg, "g", {"class": "stage"})
            _tip(group, f"{stage}: {note}")
            _rect(group, x, top + 2, self.width - x - 10, bottom - top - 4, TINTS[lane], rx="6")
            _text(group, self.width - 20, top + 19, stage, GATE_COLOR, text_anchor="end", font_weight="bold")

    def draw_loops(self, svg: Xml.Element) -> None:
        for loop in range(1, len(self.net.loops) + 1):
            members = [k for k, cell in enumerate(self.plan.cells) if cell.block == loop]
            column = self.plan.cells[members[0]].column
            x, right = self.left[column] - 20, self.right[column] + 0.75 * self.bulge(column) + 8
            top = min(self.y[k] - self.plan.cells[k].height / 2 for k in members) - FRAME
            bottom = max(self.y[k] + self.plan.cells[k].height / 2 for k in members) + FRAME
            box = _rect(svg, x, top, right - x, bottom - top, LOOP, rx="8", stroke=LOOP_EDGE, stroke_dasharray="4 3")
            box.set("class", "loop")
            _tip(box, f"a loop of {len(members)} gates: all false at first, then raised until nothing changes")

    def draw_heads(self, svg: Xml.Element) -> None:
        """Draw the heading of each group above its first member."""
        for column in (self.columns[0], self.columns[-1]):
            seen = set()
            for cell in column:
                head = self.plan.things[cell].head
                if not head or head in seen:
                    continue
                seen.add(head)
                source = column is self.columns[0]
                thing = self.plan.things[cell]
                x = self.right[0] - _space(thing) if source else self.left[-1] + _space(thing)
                anchor = "end" if source else "start"
                _text(svg, x, self.y[cell] - 11, head, thing.color, font_weight="bold", text_anchor=anchor)

    def draw_thing(self, svg: Xml.Element, cell: int, thing: Thing) -> None:
        group = Xml.SubElement(svg, "g", {"class": f"signal {thing.kind}"})
        _tip(group, thing.full)
        if thing.node != NO_NODE:
            self.draw_wires(group, cell, thing.color)
        if thing.kind == "gate":
            self.draw_gate(group, cell, thing)
        else:
            self.draw_end(group, cell, thing)

    def draw_wires(self, group: Xml.Element, owner: int, color: str) -> None:
        """Draw a signal's wires as one path, and a small circle where it is read negated."""
        wires = [wire for wire in self.plan.wires if wire.owner == owner]
        back = [wire for wire in self.plan.feedback if wire.owner == owner]
        path = " ".join([*map(self.wire_path, wires), *map(self.feedback_path, back)])
        if path:
            Xml.SubElement(group, "path", {"class": "wire", "d": path, "stroke": color})
        for wire in [*wires, *back]:
            if wire.negated:
                x, y = self.left[self.plan.cells[wire.target].column] - BUBBLE, self.y[wire.target] + self.ports[wire]
                circle = {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": f"{BUBBLE:g}", "fill": "white", "stroke": color}
                Xml.SubElement(group, "circle", {"class": "not", **circle})

    def wire_path(self, wire: Wire) -> str:
        one, two = self.plan.cells[wire.source].column, self.plan.cells[wire.target].column
        bend = self.plan.things[wire.source].kind == "bend"
        start = self.left[one] if bend else self.left[one] + self.box_width(wire.source)
        y1 = self.y[wire.source] + self.plan.room.get(wire.source, 0.0) / 2
        y2 = self.y[wire.target] + self.ports[wire]
        x1 = self.right[one] + self.bulge(one)
        x2 = self.left[two] - 2 * BUBBLE * wire.negated
        middle = (x1 + x2) / 2
        return f"M{start:.1f},{y1:.1f} H{x1:.1f} C{middle:.1f},{y1:.1f} {middle:.1f},{y2:.1f} {x2:.1f},{y2:.1f}"

    def feedback_path(self, wire: Wire) -> str:
        """Return the path out to the right, back over the top of the target, and into it from the left."""
        column = self.plan.cells[wire.target].column
        left, right = self.left[column], self.right[column]
        over, wide = self.tracks[wire]
        y1 = self.y[wire.source] + self.plan.room[wire.source] / 2
        y2 = self.y[wire.target] + self.ports[wire]
        start, end = left + self.box_width(wire.source), left - 2 * BUBBLE * wire.negated
        x1, x2 = right + wide, left - min(24.0, 10 + (y2 - over) * 0.25)
        return (
            f"M{start:.1f},{y1:.1f} H{right:.1f} C{x1:.1f},{y1:.1f} {x1:.1f},{over:.1f} {right:.1f},{over:.1f} "
            f"H{left:.1f} C{x2:.1f},{over:.1f} {x2:.1f},{y2:.1f} {end:.1f},{y2:.1f}"
        )

    def draw_gate(self, group: Xml.Element, cell: int, thing: Thing) -> None:
        symbol, fill, rounding = GATES[int(self.net.kind[thing.node])]
        room = self.plan.room[cell]
        height = self.plan.cells[cell].height - room
        x, y = self.left[self.plan.cells[cell].column], self.y[cell] + room / 2
        _rect(group, x, y - height / 2, self.box_width(cell), height, fill, rx=rounding, stroke=INK)
        _text(group, x + GATE / 2, y + 4, symbol, INK, text_anchor="middle", font_weight="bold")
        if thing.text:
            _text(group, x + GATE, y + 4, shorten(thing.text, LONGEST_NAME), INK, font_size=f"{NAME_FONT:g}")

    def draw_end(self, group: Xml.Element, cell: int, thing: Thing) -> None:
        """Draw a source or an output."""
        source, y = self.plan.cells[cell].column == 0, self.y[cell]
        x, side, anchor = (self.right[0], -1, "end") if source else (self.left[-1], 1, "start")
        _shape(group, x, y, side, thing)
        ink = GREY if _unread(thing) else INK
        text = _text(group, x + side * _space(thing), y + 4, _label(thing), ink, text_anchor=anchor)
        if _constant(thing):
            Xml.SubElement(text, "tspan", {"fill": GATE_COLOR, "font-style": "italic"}).text = _constant(thing)


class _Legend:
    """The title, the size, and the meanings of the symbols, in as many lines as the width requires."""

    def __init__(self, svg: Xml.Element, width: float) -> None:
        self.svg, self.width = svg, width
        self.x, self.y = MARGIN, 24.0

    def draw(self, net: PropNet, title: str, summary: str) -> float:
        """Draw the legend, and return its height."""
        _text(self.svg, self.x, self.y, title, INK, font_weight="bold", font_size=f"{TITLE_FONT:g}")
        _text(self.svg, self.x, self.y + 18, summary, GATE_COLOR)
        self.y += 44
        if net.base:
            self.end(Thing("true", number=1), "proposition 1, now or next")
            self.end(Thing("true", number=1, holds=True), "holds at the start")
        self.end(Thing("does", color=COLORS[0], node=1), "move")
        self.gate(AND, "all inputs")
        self.gate(OR, "any input")
        self.negation()
        outputs = {"legal": ("legal", net.legal), "goal": ("goal", net.goals), "sees": ("percept", net.sees)}
        for kind, (what, literals) in outputs.items():
            if len(literals):
                self.end(Thing(kind, color=COLORS[0]), what)
        if len(net.loops):
            x = self.space("loop: least fixpoint", 20)
            _rect(self.svg, x, self.y - 11, 18, 14, LOOP, rx="4", stroke=LOOP_EDGE, stroke_dasharray="4 3")
        return self.y + 8

    def space(self, text: str, shape: float) -> float:
        """Write the text of an entry, and return the position of its shape."""
        need = shape + 5 + text_width(text, FONT)
        if self.x > MARGIN and self.x + need > self.width - MARGIN:
            self.x, self.y = MARGIN, self.y + LINE
        _text(self.svg, self.x + shape + 5, self.y, text, INK)
        self.x += need + 18
        return self.x - need - 18

    def end(self, thing: Thing, text: str) -> None:
        numbered = thing.kind in ("true", "next")
        _shape(self.svg, self.space(text, 20 if numbered else 11), self.y - 4, 1, thing)

    def gate(self, kind: int, text: str) -> None:
        symbol, fill, rounding = GATES[kind]
        x = self.space(text, GATE)
        _rect(self.svg, x, self.y - 12, GATE, 16, fill, rx=rounding, stroke=INK)
        _text(self.svg, x + GATE / 2, self.y, symbol, INK, text_anchor="middle", font_weight="bold")

    def negation(self) -> None:
        x, y = self.space("negated", 22), self.y - 4
        line = {"x1": f"{x:g}", "x2": f"{x + 16:g}", "y1": f"{y:g}", "y2": f"{y:g}"}
        Xml.SubElement(self.svg, "line", {**line, "stroke": GATE_COLOR})
        circle = {"cx": f"{x + 19:g}", "cy": f"{y:g}", "r": f"{BUBBLE:g}", "fill": "white", "stroke": GATE_COLOR}
        Xml.SubElement(self.svg, "circle", circle)


def _shape(svg: Xml.Element, x: float, y: float, side: int, thing: Thing) -> None:
    """Draw the shape of a source (``side`` -1, ends at ``x``) or an output (1, begins at ``x``)."""
    color = {"fill": "white", "stroke": thing.color, "stroke-width": "1.5"}
    if thing.kind in ("true", "next"):
        fill, ink = (INK, "white") if thing.holds else ("white", INK)
        _rect(svg, x + 10 * side - 10, y - 6.5, 20, 13, fill, rx="2", stroke=INK)
        number = {"text_anchor": "middle", "font_size": f"{NUMBER_FONT:g}"}
        _text(svg, x + 10 * side, y + 3, str(thing.number), ink, **number)
    elif thing.kind == "goal":
        middle = x + 6 * side
        points = f"{middle - 5.5:g},{y:g} {middle:g},{y - 5.5:g} {middle + 5.5:g},{y:g} {middle:g},{y + 5.5:g}"
        Xml.SubElement(svg, "polygon", {"points": points, **color})
    elif thing.kind == "sees":
        left = x + 5 * side - 5
        points = f"{left:g},{y - 5:g} {left + 10:g},{y:g} {left:g},{y + 5:g}"
        Xml.SubElement(svg, "polygon", {"points": points, **color})
    elif thing.kind == "terminal":
        _rect(svg, x + 5 * side - 5, y - 5, 10, 10, INK)
    else:
        if thing.kind == "does":
            color.update({"stroke-dasharray": "2 1.6"} if _unread(thing) else {"fill": thing.color})
        Xml.SubElement(svg, "circle", {"cx": f"{x + 5 * side:g}", "cy": f"{y:g}", "r": "5", **color})


def _space(thing: Thing) -> float:
    return SHAPE.get(thing.kind, SMALL_SHAPE)


def _label(thing: Thing) -> str:
    return shorten(thing.text, LONGEST_TEXT)


def _unread(thing: Thing) -> bool:
    """Return whether a thing is a move that is never read."""
    return thing.kind == "does" and thing.node == NO_NODE


def _constant(thing: Thing) -> str:
    """Return the note on an output that does not depend on anything."""
    return {TRUE: "  always", FALSE: "  never"}.get(thing.literal, "")


def _tip(parent: Xml.Element, text: str) -> None:
    if text:
        Xml.SubElement(parent, "title").text = printable(text)


def _rect(svg: Xml.Element, x: float, y: float, width: float, height: float, fill: str, **style: str) -> Xml.Element:
    size = {"x": f"{x:.1f}", "y": f"{y:.1f}", "width": f"{width:.1f}", "height": f"{height:.1f}", "fill": fill}
    return Xml.SubElement(svg, "rect", {**size, **_named(style)})


def _text(svg: Xml.Element, x: float, y: float, text: str, color: str, **style: str) -> Xml.Element:
    element = Xml.SubElement(svg, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}", "fill": color, **_named(style)})
    element.text = printable(text)
    return element


def _named(style: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in style.items()}
