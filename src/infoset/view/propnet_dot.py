"""The propositional network of a game as Graphviz DOT text, and as a picture where Graphviz is installed.

References: E. R. Gansner and S. C. North (2000), "An open graph visualization system and its applications to software
engineering", Software: Practice and Experience 30; https://graphviz.org/doc/info/lang.html.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from shutil import which

from infoset.catalog import load
from infoset.errors import ParameterError, UnsupportedGameError, UnsupportedSystemError, printable, shorten
from infoset.files import replace_file
from infoset.gdl.game import GdlGame
from infoset.gdl.propnet import AND, FALSE, NO_NODE, TRUE, PropNet
from infoset.gdl.rules import RANDOM
from infoset.gdl.syntax import Term
from infoset.view.picture import COLORS, GREY, INK

TEXTS, PICTURES = (".dot", ".gv"), (".svg", ".png", ".pdf")
MAX_NODES = 450  # of a picture: nodes, outputs, and moves that are never read
STAGES = {
    "play": ("what legal and terminal need", "#eef3f9"),
    "goals": ("what goals need on top", "#faf5e8"),
    "next": ("what next needs, once the moves are known", "#eef6f0"),
    "sees": ("what only sees needs", "#f7f0fa"),
}
OUTPUTS = ("legal", "terminal", "goal", "next", "sees")
GATE_COLOR, LOOP, LOOP_EDGE = "#44566c", "#fde7b8", "#b8860b"
SHAPES = {"legal": "ellipse", "goal": "diamond", "sees": "cds"}
LONGEST_LABEL, LONGEST_TITLE = 40, 80  # characters


def write_propnet(net: PropNet, title: str, path: Path) -> Path:
    """Write a network to ``path``: as DOT text (``.dot``, ``.gv``) or, by Graphviz, as ``.svg``, ``.png`` or ``.pdf``.

    Raises ``ParameterError`` for another suffix, ``UnsupportedGameError`` for a picture of a network that is too large,
    ``UnsupportedSystemError`` for one without Graphviz.
    """
    kind = path.suffix.lower()
    if kind not in TEXTS + PICTURES:
        raise ParameterError(f"{path}: no kind of picture of a network; allowed: {', '.join(TEXTS + PICTURES)}")
    if kind in PICTURES:
        size = len(net) + int((net.does == NO_NODE).sum()) + len([*net.legal, *net.goals, *net.following, *net.sees])
        if size > MAX_NODES:
            raise UnsupportedGameError(
                f"the network of {title} has {size:,} nodes and outputs; a picture holds {MAX_NODES:,}, a .dot file all"
            )
    text = propnet_dot(net, title).encode()
    content = draw_dot(text, path) if kind in PICTURES else text
    return replace_file(path, lambda out: out.write(content))


def draw_dot(text: bytes, path: Path) -> bytes:
    """Return the picture that Graphviz draws of DOT text, in the format that the suffix of ``path`` names.

    Raises ``UnsupportedSystemError`` where Graphviz is not installed or fails.
    """
    program = which("dot")
    if program is None:
        raise UnsupportedSystemError(
            f"{path}: a picture of a network is drawn by Graphviz, whose program 'dot' is not installed; "
            "write a .dot file instead, or install it from https://graphviz.org/download"
        )
    drawn = subprocess.run([program, f"-T{path.suffix.lower()[1:]}"], input=text, capture_output=True, check=False)
    if drawn.returncode:
        why = shorten(drawn.stderr.decode(errors="replace").strip())
        raise UnsupportedSystemError(f"{path}: Graphviz failed with status {drawn.returncode}: {why}")
    return drawn.stdout


def propnet_summary(net: PropNet) -> str:
    """Return the size of a network in one line."""
    gates = [int(size) for size in net.stage_begin[1:] - net.stage_begin[:-1]]
    stages = ", ".join(f"{stage} {size:,}" for stage, size in zip(STAGES, gates, strict=True))
    sizes = {"proposition": len(net.base), "move": len(net.moves), "gate": sum(gates), "loop": len(net.loops)}
    parts = {name: f"{size:,} {name}{'s' * (size != 1)}" for name, size in sizes.items()}
    return f"{parts['proposition']}, {parts['move']}, {parts['gate']} ({stages}), {parts['loop']}"


def propnet_dot(net: PropNet, title: str) -> str:
    """Return the network from left to right as DOT text: propositions and moves, gates, outputs.

    A stage is a cluster, and in it a loop.  An edge has the colour of its source; where it is read negated it ends in
    a small circle.
    """
    caption = f"{shorten(title, LONGEST_TITLE)}: {propnet_summary(net)}"
    colors: dict[int, str] = {}  # of the edges that leave a node
    lines = ["digraph propnet {", f"graph [rankdir=LR, labelloc=t, fontname=Helvetica{_set(label=caption)}]"]
    lines += ['node [fontname=Helvetica, fontsize=11, height=.2, margin=".08,.03"]', "edge [arrowhead=none]"]
    lines += ["subgraph sources {", "rank=source", *_sources(net, colors), "}"]
    for stage, (name, (note, tint)) in enumerate(STAGES.items()):
        first, end = net.stage_begin[stage : stage + 2].tolist()
        style = _set(label=name, tooltip=f"{name}: {note}", bgcolor=tint, color=tint, fontcolor=GATE_COLOR)
        lines += [f"subgraph cluster_{name} {{", f"graph [labeljust=r{style}]"]
        loops = {int(begin): int(stop) for begin, stop in net.loops if first <= begin < end}
        for node in range(first, end):
            if node in loops:
                tip = f"a loop of {loops[node] - node} gates: all false at first, then raised until nothing changes"
                style = _set(label="", tooltip=tip, bgcolor=LOOP, color=LOOP_EDGE)
                lines += [f"subgraph cluster_loop_{node} {{", f"graph [style=dashed{style}]"]
            lines.append(_gate(net, node, name))
            lines += ["}"] * (node + 1 in loops.values())
        lines += [*_outputs(net, stage), "}"]
    for node in range(int(net.stage_begin[0]), len(net)):
        inputs = net.inputs[net.first_input[node] : net.first_input[node + 1]].tolist()
        lines += [_edge(literal, f"n{node}", colors) for literal in dict.fromkeys(inputs)]
    literals: list[Iterable[int]] = [net.legal, [net.terminal], net.goals, net.following, net.sees]
    for relation, outputs in zip(OUTPUTS, literals, strict=True):
        lines += [_edge(x, f"{relation}_{k}", colors) for k, x in enumerate(outputs) if x not in (TRUE, FALSE)]
    return "\n".join([*lines, "}", ""])


def _set(**attributes: str) -> str:
    """Return attributes to append to a list of them, their values quoted."""
    quoted = {name: printable(value).replace("\\", "\\\\").replace('"', '\\"') for name, value in attributes.items()}
    return "".join(f', {name}="{value.replace("&", "&amp;")}"' for name, value in quoted.items())


def _node(name: str, label: str, tip: str, color: str, shape: str = "box", fill: str = "white", dash: str = "") -> str:
    style = _set(label=shorten(label, LONGEST_LABEL), tooltip=tip, color=color, fillcolor=fill, style=f"filled{dash}")
    return f"{name} [shape={shape}{style}{_set(fontcolor='white') * (fill == color)}]"


def _edge(literal: int, target: str, colors: dict[int, str]) -> str:
    source, end = literal >> 1, "arrowhead=odot, " * (literal & 1)
    return f'n{source} -> {target} [{end}color="{colors.get(source, GATE_COLOR)}"]'


def _opposite(net: PropNet, literal: int) -> str:
    """Return a note on the atom that is the literal's negation, if there is one."""
    return f"; its negation is {net.names[literal ^ 1]}" if literal ^ 1 in net.names else ""


def _by_role(net: PropNet, first: Iterable[int], values: Iterable[object]) -> Iterator[tuple[int, str, str]]:
    """Yield ``(index, "ROLE VALUE", colour of the role)`` for values of which ``first`` gives each role's first one."""
    players = [name for name in net.roles if name != RANDOM]
    begins, role = [int(k) for k in first], 0
    for k, value in enumerate(values):
        while begins[role + 1] <= k:
            role += 1
        name = net.roles[role]
        yield k, f"{name} {value}", GREY if name == RANDOM else COLORS[players.index(name) % len(COLORS)]


def _sources(net: PropNet, colors: dict[int, str]) -> Iterator[str]:
    """Yield propositions and moves, and set the colours of their edges."""
    if TRUE in net.inputs >> 1:
        yield _node(f"n{TRUE}", "always true", "always true", GATE_COLOR)
    for k, (term, holds) in enumerate(zip(net.base, net.initial.tolist(), strict=True), start=1):
        tip = f"true {term}: proposition {k}{', holds at the start' * holds}{_opposite(net, 2 * k)}"
        colors[k] = INK
        yield _node(f"n{k}", f"{k} {term}", tip, INK, fill=INK if holds else "white")
    for k, text, color in _by_role(net, net.first_move, net.moves):
        node, tip = int(net.does[k]), f"does {text}"
        if node == NO_NODE:
            yield _node(f"unread_{k}", tip, f"{tip}, which nothing reads", color, "ellipse", dash=",dashed")
        else:
            colors[node] = color
            yield _node(f"n{node}", tip, tip, color, "ellipse", fill=color)


def _gate(net: PropNet, node: int, stage: str) -> str:
    name: Term | None = net.names.get(2 * node)
    kind = "all" if net.kind[node] == AND else "any"
    size = len(set(net.inputs[net.first_input[node] : net.first_input[node + 1]].tolist()))
    tip = f"{name or 'a gate'}: {kind} of {size} inputs, for {stage}{_opposite(net, 2 * node)}"
    own = f" {name}" if name is not None and name.functor not in OUTPUTS else ""  # an output has a node of its own
    return _node(f"n{node}", kind + own, tip, GATE_COLOR, dash="" if kind == "all" else ",rounded")


def _outputs(net: PropNet, stage: int) -> Iterator[str]:
    """Yield the outputs of a stage."""
    if stage == 0:
        yield from _of_roles("legal", _by_role(net, net.first_move, net.moves), net.legal)
        yield _node("terminal_0", f"terminal{_constant(net.terminal)}", "terminal", INK, fill=INK)
    elif stage == 1:
        yield from _of_roles("goal", _by_role(net, net.first_goal, net.goal_values), net.goals)
    elif stage == 2:
        for k, (term, literal) in enumerate(zip(net.base, net.following, strict=True), start=1):
            tip = f"next {term}: proposition {k} in the next state"
            yield _node(f"next_{k - 1}", f"{k} {term}{_constant(literal)}", tip, INK)
    else:
        yield from _of_roles("sees", _by_role(net, net.first_percept, net.percepts), net.sees)


def _of_roles(relation: str, values: Iterable[tuple[int, str, str]], literals: Iterable[int]) -> Iterator[str]:
    for (k, text, color), literal in zip(values, literals, strict=True):
        label = f"{relation} {text}"
        yield _node(f"{relation}_{k}", label + _constant(literal), label, color, SHAPES[relation])


def _constant(literal: int) -> str:
    """Return a note on an output that does not depend on anything."""
    return {TRUE: " always", FALSE: " never"}.get(literal, "")


def show_propnet(name: str, file: str | Path) -> str:
    """Write the rules of a game in GDL as a propositional network; return its size in a line.

    The file is Graphviz DOT text (``.dot``, ``.gv``) or, where Graphviz is installed, a picture (``.svg``, ``.png``,
    ``.pdf``).  Raises ``ParameterError`` for another suffix, ``UnsupportedGameError`` for other games, for rules that
    are too large to ground and for pictures of large networks, ``UnsupportedSystemError`` for a picture without
    Graphviz.

    >>> from infoset.view.propnet_dot import show_propnet
    >>> show_propnet("gdl:monty_hall", "monty_hall.dot")
    'gdl:monty_hall: 13 propositions, 12 moves, 23 gates (play 4, goals 4, next 12, sees 3), 0 loops'
    """
    game = load(name)
    if not isinstance(game, GdlGame):
        raise UnsupportedGameError(f"{game.name} is not described in GDL; --propnet needs a .gdl file or gdl:NAME")
    net = game.rules.propnet
    if net is None:
        raise UnsupportedGameError(f"the rules of {game.name} are too large to ground, so it has no network to draw")
    write_propnet(net, game.name, Path(file))
    return f"{game.name}: {propnet_summary(net)}"
