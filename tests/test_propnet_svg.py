"""Pictures of propositional networks, tested as text, and the layout below them."""

import random
from itertools import combinations, pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from infoset import load
from infoset.cli.app import app
from infoset.errors import ParameterError, UnsupportedGameError
from infoset.gdl.game import GdlGame
from infoset.gdl.grounding import Budget
from infoset.gdl.library import description
from infoset.gdl.propnet import FALSE, SOURCE, TRUE
from infoset.gdl.rules import EvaluatorWarning
from infoset.gdl.syntax import parse_gdl
from infoset.view import propnet_svg as drawing
from infoset.view.layers import BETWEEN, Cell, Link, arrange, crossings, place
from infoset.view.propnet_plan import Plan, levels
from infoset.view.propnet_svg import propnet_summary, propnet_svg

SVG = "{http://www.w3.org/2000/svg}"
ROADS = """
(role walker) (role <"keeper"&co>)
(init (at 1)) (init (road 1 2)) (init (road 2 3)) (init (road 3 1)) (init (at_a_place_with_a_name_that_is_far_too_long x))
(<= (reach ?x) (true (at ?x)))
(<= (reach ?y) (reach ?x) (true (road ?x ?y)))
(<= (trapped ?x) (true (at ?x)) (not (reach 3)))
(<= someone_is_trapped (trapped ?x))
(<= (legal walker (go ?x)) (reach ?x))
(<= (legal <"keeper"&co> (close ?x ?y)) (true (road ?x ?y)))
(<= (legal <"keeper"&co> noop) (true (at 1)))
(<= (legal <"keeper"&co> noop) (not (true (at 1))))
(<= (next (at ?x)) (does walker (go ?x)))
(<= (next (road ?x ?y)) (true (road ?x ?y)) (not (does <"keeper"&co> (close ?x ?y))))
(<= terminal someone_is_trapped)
(<= terminal (true (at 3)))
(<= (goal walker 100) (true (at 3)))
(<= (goal walker 0) (not (true (at 3))))
(<= (goal <"keeper"&co> 100) (not (true (at 3))))
(<= (goal <"keeper"&co> 0) (true (at 3)))
"""
GAMES = ("gdl:monty_hall", "gdl:scissors_double", "gdl:tic_tac_toe", "gdl:kuhn_poker", "roads")


def net_of(name):
    game = GdlGame(parse_gdl(ROADS), name) if name == "roads" else load(name)
    return game.rules.propnet


def drawn(net, title=""):
    return ElementTree.fromstring(propnet_svg(net, title))


def signals(svg, kind):
    return [group for group in svg.iter(f"{SVG}g") if group.get("class") == f"signal {kind}"]


def texts(element):
    return ["".join(text.itertext()) for text in element.iter(f"{SVG}text")]


def tips(svg):
    return {title.text for title in svg.iter(f"{SVG}title")}


@pytest.mark.parametrize("name", GAMES)
def test_everything_is_there_once(name) -> None:
    net = net_of(name)
    svg = drawn(net, name)
    assert texts(svg)[:2] == [name, propnet_summary(net)]
    assert len(signals(svg, "gate")) == int((net.kind != SOURCE).sum())
    assert len(signals(svg, "true")) == len(signals(svg, "next")) == len(net.base)
    assert len(signals(svg, "does")) == len(signals(svg, "legal")) == len(net.moves)
    assert len(signals(svg, "goal")) == len(net.goals)
    assert len(signals(svg, "sees")) == len(net.percepts)
    assert len(signals(svg, "terminal")) == 1
    assert len([rect for rect in svg.iter(f"{SVG}rect") if rect.get("class") == "loop"]) == len(net.loops)
    literals = [*net.inputs, *net.legal, net.terminal, *net.goals, *net.following, *net.sees]
    negations = [circle for circle in svg.iter(f"{SVG}circle") if circle.get("class") == "not"]
    assert len(negations) == sum(int(x) & 1 for x in literals if x not in (TRUE, FALSE))


@pytest.mark.parametrize("name", GAMES)
def test_nothing_overlaps(name) -> None:
    """Texts (as wide as they are said to be) and gates keep apart, and all of it is inside the picture."""
    svg = drawn(net_of(name), name)
    width = float(svg.get("width"))
    legend, body = (group for group in svg if group.tag == f"{SVG}g")
    for part in (legend, body):
        boxes = [text_box(text) for text in part.iter(f"{SVG}text")]
        assert all(x >= 0 and right <= width for x, _, right, _ in boxes)
        assert not [pair for pair in combinations(boxes, 2) if overlap(*pair)]
    gates = [gate_box(group) for group in signals(svg, "gate")]
    assert not [pair for pair in combinations(gates, 2) if overlap(*pair)]
    outside = [
        text_box(text)
        for kind in ("true", "does", "legal", "next")
        for g in signals(svg, kind)
        for text in g.iter(f"{SVG}text")
    ]
    assert not [(a, b) for a in gates for b in outside if overlap(a, b)]


def text_box(text):
    size = float(text.get("font-size", 11))
    wide = drawing.text_width("".join(text.itertext()), size)
    x, y = float(text.get("x")), float(text.get("y"))
    left = x - wide * {"end": 1.0, "middle": 0.5}.get(text.get("text-anchor"), 0.0)
    return left, y - 0.7 * size, left + wide, y + 0.1 * size


def gate_box(group):
    box = group.find(f"{SVG}rect")
    x, y = float(box.get("x")), float(box.get("y"))
    return x, y, x + float(box.get("width")), y + float(box.get("height"))


def overlap(one, two) -> bool:
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]


def test_labels_and_tooltips() -> None:
    svg = drawn(net_of("roads"))
    assert {"true", "does walker", 'legal <"keeper"&co>', "goal walker", "next"} <= set(texts(svg))
    shortened = dict(texts(group) for group in signals(svg, "true"))["4"]
    assert shortened.startswith("(at_a_place")
    assert shortened.endswith("…")
    assert "next (at_a_place_with_a_name_that_is_far_too_long x): proposition 4 in the next state" in tips(svg)
    assert "true (at 1): proposition 1, holds at the start" in tips(svg)
    assert 'does <"keeper"&co> noop, which nothing reads' in tips(svg)
    gates = [texts(gate) for gate in signals(svg, "gate")]
    assert ["≥1", "(reach 1)"] in gates
    assert ["&"] in gates
    assert any("noop  always" in texts(group) for group in signals(svg, "legal"))
    never = [texts(group) for group in signals(svg, "next") if "never" in "".join(texts(group))]
    assert [number for number, _ in never] == ["4"]


def test_the_number_of_a_proposition_is_the_same_now_and_next() -> None:
    svg = drawn(net_of("gdl:monty_hall"))
    now, then = ({tuple(texts(group)) for group in signals(svg, kind)} for kind in ("true", "next"))
    assert {(number, name.removesuffix("  never")) for number, name in then} == now
    assert "true (opened 1): proposition 7; its negation is (closed 1)" in tips(svg)


def test_the_gates_of_a_loop_stand_in_its_box() -> None:
    net = net_of("roads")
    svg = drawn(net)
    (loop,) = [rect for rect in svg.iter(f"{SVG}rect") if rect.get("class") == "loop"]
    x, y = float(loop.get("x")), float(loop.get("y"))
    right, bottom = x + float(loop.get("width")), y + float(loop.get("height"))
    boxes = [gate_box(group) for group in signals(svg, "gate")]
    inside = [x < a < c < right and y < b < d < bottom for a, b, c, d in boxes]
    first, end = net.loops[0]
    assert sum(inside) == end - first
    level = levels(net)
    assert len(set(level[first:end])) == 1


def test_stages_are_bands_one_below_the_other() -> None:
    svg = drawn(net_of("gdl:monty_hall"))
    bands = [group for group in svg.iter(f"{SVG}g") if group.get("class") == "stage"]
    assert [texts(band) for band in bands] == [["play"], ["goals"], ["next"], ["sees"]]
    tops = [gate_box(band)[1] for band in bands]
    assert tops == sorted(tops)


@pytest.mark.parametrize("name", GAMES)
def test_levels_rise_along_wires(name) -> None:
    net = net_of(name)
    level = levels(net)
    plan = Plan(net)
    inside = {node for first, end in net.loops for node in range(first, end)}
    for node in range(net.stage_begin[0], len(net)):
        below = [level[x >> 1] for x in net.inputs[net.first_input[node] : net.first_input[node + 1]]]
        assert level[node] > max(below) or node in inside
    assert all(plan.cells[w.target].column == plan.cells[w.source].column + 1 for w in plan.wires)


def test_the_same_network_gives_the_same_picture() -> None:
    assert propnet_svg(net_of("roads"), "x") == propnet_svg(net_of("roads"), "x")


def test_text_is_escaped() -> None:
    text = propnet_svg(net_of("roads"), "<&> \x00 \x1b")
    assert texts(ElementTree.fromstring(text))[0] == "<&> ? ?"


def test_large_networks_are_refused() -> None:
    net = net_of("gdl:breakthrough")
    with pytest.raises(
        UnsupportedGameError, match=r"^the network of x has 1,566 nodes and outputs; a picture holds 450$"
    ):
        propnet_svg(net, "x")


def test_a_summary() -> None:
    assert propnet_summary(net_of("gdl:monty_hall")) == (
        "13 propositions, 12 moves, 23 gates (play 4, goals 4, next 12, sees 3), 0 loops"
    )
    assert propnet_summary(net_of("roads")).endswith(", 1 loop")


def show(*words: object) -> None:
    app(["show", *map(str, words)], standalone_mode=False)


def test_show_writes_the_picture(tmp_path, capsys) -> None:
    show("gdl:monty_hall", "--propnet", tmp_path / "net.svg")
    assert capsys.readouterr().out.startswith("gdl:monty_hall: 13 propositions, 12 moves, 23 gates")
    assert len(signals(ElementTree.parse(tmp_path / "net.svg").getroot(), "gate")) == 23


def test_show_says_why_there_is_no_picture(tmp_path, monkeypatch) -> None:
    file = tmp_path / "net.svg"
    with pytest.raises(UnsupportedGameError, match="kuhn_poker is not described in GDL"):
        show("kuhn_poker", "--propnet", file)
    with pytest.raises(UnsupportedGameError, match="a picture holds"):
        show("gdl:breakthrough", "--propnet", file)
    with pytest.raises(ParameterError, match="--svg would not be used"):
        show("gdl:monty_hall", "--propnet", file, "--svg", file)
    with pytest.warns(EvaluatorWarning, match="too many rules"):
        large = GdlGame(description("monty_hall"), "large", Budget(rules=1))
    monkeypatch.setattr("infoset.verbs.load", lambda _: large)
    with pytest.raises(UnsupportedGameError, match="the rules of large are too large to ground"):
        show("large", "--propnet", file)
    assert not file.exists()


def test_an_order_without_crossings_is_found() -> None:
    """Two trees side by side, shuffled."""
    rng = random.Random(0)
    for _ in range(20):
        names = list(range(8))
        rng.shuffle(names)
        cells = [Cell(0, 10.0)] * 4 + [Cell(1, 10.0)] * 8
        links = [Link(k // 2, 4 + name) for k, name in enumerate(names)]
        columns = arrange(cells, links)
        assert sorted(map(sorted, columns)) == [[0, 1, 2, 3], list(range(4, 12))]
        assert crossings(columns, links) == 0


def test_crossings_are_counted() -> None:
    rng = np.random.default_rng(1)
    links = [Link(int(a), int(b)) for a, b in zip(rng.integers(5, size=30), 5 + rng.integers(6, size=30), strict=True)]
    pairs = sum((a.source - b.source) * (a.target - b.target) < 0 for a, b in combinations(links, 2))
    assert crossings([list(range(5)), list(range(5, 11))], links) == pairs


def test_places_keep_the_order_and_the_distance() -> None:
    rng = random.Random(2)
    for _ in range(20):
        cells = [
            Cell(rng.randrange(4), rng.uniform(5, 40), rng.randrange(2), block=rng.choice([0, 0, 1])) for _ in range(40)
        ]
        links = [
            Link(a, b)
            for a in range(40)
            for b in range(40)
            if cells[b].column == cells[a].column + 1 and rng.random() < 0.1
        ]
        columns = arrange(cells, links)
        y, bands = place(cells, links, columns)
        for column in columns:
            for one, two in pairwise(column):
                assert y[two] - y[one] >= (cells[one].height + cells[two].height) / 2 + BETWEEN - 1e-6
        for k, cell in enumerate(cells):
            top, bottom = bands[cell.lane]
            assert top < y[k] - cell.height / 2
            assert y[k] + cell.height / 2 < bottom
