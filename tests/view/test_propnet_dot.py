"""The DOT text of propositional networks, and the pictures that Graphviz draws from it."""

import re
import subprocess

import pytest

from infoset import load
from infoset.cli.app import app
from infoset.errors import ParameterError, UnsupportedGameError, UnsupportedSystemError
from infoset.gdl.game import GdlGame
from infoset.gdl.grounding import Budget
from infoset.gdl.library import description
from infoset.gdl.propnet import FALSE, NO_NODE, SOURCE, TRUE
from infoset.gdl.rules import EvaluatorWarning
from infoset.gdl.syntax import parse_gdl
from infoset.view import propnet_dot as drawing
from infoset.view.propnet_dot import propnet_dot, propnet_summary, write_propnet

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


def nodes(text, name):
    """The attributes of the nodes whose names match a pattern, by name."""
    found = {}
    for node, attributes in re.findall(rf"^({name}) \[(.*)\]$", text, re.MULTILINE):
        assert node not in found
        pairs = re.findall(r'(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^,]+))', attributes)
        found[node] = {key: quoted or plain for key, quoted, plain in pairs}
    return found


@pytest.mark.parametrize("name", GAMES)
def test_everything_is_there_once(name) -> None:
    net = net_of(name)
    text = propnet_dot(net, name)
    assert f'label="{name}: {propnet_summary(net)}"' in text
    assert text.count("{") == text.count("}")
    read = {f"n{node}" for node in net.does if node != NO_NODE}
    assert {f"n{k}" for k in range(1, len(net))} | read <= set(nodes(text, r"n\d+"))
    assert len(nodes(text, r"unread_\d+")) == sum(net.does == NO_NODE)
    outputs = {"legal": net.legal, "goal": net.goals, "next": net.following, "sees": net.sees, "terminal": [0]}
    for relation, literals in outputs.items():
        assert len(nodes(text, rf"{relation}_\d+")) == len(literals)
    assert text.count("subgraph cluster_loop_") == len(net.loops)
    gates = range(net.stage_begin[0], len(net))
    inputs = {(x, node) for node in gates for x in net.inputs[net.first_input[node] : net.first_input[node + 1]]}
    literals = [*net.legal, net.terminal, *net.goals, *net.following, *net.sees, *(x for x, _ in inputs)]
    literals = [x for x in literals if x not in (TRUE, FALSE)]
    assert text.count(" -> ") == len(literals)
    assert text.count("arrowhead=odot") == sum(int(x) & 1 for x in literals)
    assert int((net.kind != SOURCE).sum()) == len(gates)


def test_labels_and_tooltips() -> None:
    text = propnet_dot(net_of("roads"), "roads")
    tips = {node["tooltip"] for node in nodes(text, r"\w+\d+").values() if "tooltip" in node}
    labels = {node["label"] for node in nodes(text, r"\w+\d+").values() if "label" in node}
    assert "next (at_a_place_with_a_name_that_is_far_too_long x): proposition 4 in the next state" in tips
    assert "true (at 1): proposition 1, holds at the start" in tips
    assert 'does <\\"keeper\\"&amp;co> noop, which nothing reads' in tips
    assert {"all", "any (reach 1)", 'legal <\\"keeper\\"&amp;co> noop always', "1 (at 1)"} <= labels
    (shortened,) = {label for label in labels if label.startswith("4 (at_a_place") and not label.endswith("never")}
    assert shortened.endswith("…")


def test_the_number_of_a_proposition_is_the_same_now_and_next() -> None:
    net = net_of("gdl:monty_hall")
    text = propnet_dot(net, "x")
    now = [node["label"] for name, node in nodes(text, r"n\d+").items() if int(name[1:]) <= len(net.base)]
    then = [node["label"].removesuffix(" never") for node in nodes(text, r"next_\d+").values()]
    assert now == then
    assert 'tooltip="true (opened 1): proposition 7; its negation is (closed 1)"' in text


def test_the_gates_of_a_loop_stand_in_its_box() -> None:
    net = net_of("roads")
    text = propnet_dot(net, "roads")
    first, end = net.loops[0]
    box = text.partition(f"subgraph cluster_loop_{first} {{")[2].partition("\n}\n")[0]
    assert set(nodes(box, r"n\d+")) == {f"n{node}" for node in range(first, end)}


def test_the_same_network_gives_the_same_text() -> None:
    assert propnet_dot(net_of("roads"), "x") == propnet_dot(net_of("roads"), "x")


def test_text_is_escaped() -> None:
    text = propnet_dot(net_of("roads"), 'a"&\\ \x00 \x1b')
    assert 'label="a\\"&amp;\\\\ ? ?: ' in text


def test_a_summary() -> None:
    assert propnet_summary(net_of("gdl:monty_hall")) == (
        "13 propositions, 12 moves, 23 gates (play 4, goals 4, next 12, sees 3), 0 loops"
    )
    assert propnet_summary(net_of("roads")).endswith(", 1 loop")


def test_large_networks_are_text_alone(tmp_path) -> None:
    net = net_of("gdl:breakthrough")
    with pytest.raises(
        UnsupportedGameError, match=r"^the network of x has 1,566 nodes and outputs; a picture holds 450, a .dot file"
    ):
        write_propnet(net, "x", tmp_path / "x.svg")
    assert write_propnet(net, "x", tmp_path / "x.gv").read_text(encoding="utf-8").startswith("digraph")


@pytest.mark.skipif(drawing.which("dot") is None, reason="needs Graphviz")
@pytest.mark.parametrize("name", GAMES)
def test_graphviz_draws_the_text(name, tmp_path) -> None:
    for suffix, start in ((".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
        assert write_propnet(net_of(name), name, tmp_path / f"x{suffix}").read_bytes().startswith(start)


def test_pictures_are_what_graphviz_gives(tmp_path, monkeypatch) -> None:
    def run(words, *, input, **_):
        assert words == ["/bin/dot", "-Tsvg"]
        assert input.startswith(b"digraph")
        return subprocess.CompletedProcess(words, status, b"drawn", b"out of ink\n")

    monkeypatch.setattr(drawing, "which", lambda _: "/bin/dot")
    monkeypatch.setattr(subprocess, "run", run)
    status = 0
    assert write_propnet(net_of("gdl:monty_hall"), "x", tmp_path / "x.svg").read_bytes() == b"drawn"
    status = 1
    with pytest.raises(UnsupportedSystemError, match="Graphviz failed with status 1: out of ink"):
        write_propnet(net_of("gdl:monty_hall"), "x", tmp_path / "y.svg")
    assert not (tmp_path / "y.svg").exists()


def test_without_graphviz_one_line_says_what_to_do(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(drawing, "which", lambda _: None)
    with pytest.raises(UnsupportedSystemError, match=r"'dot' is not installed; write a \.dot file instead, or install"):
        write_propnet(net_of("gdl:monty_hall"), "x", tmp_path / "x.svg")
    with pytest.raises(ParameterError, match=r"x\.gif: no kind of picture of a network; allowed: \.dot, \.gv"):
        write_propnet(net_of("gdl:monty_hall"), "x", tmp_path / "x.gif")


def show(*words: object) -> None:
    app(["show", *map(str, words)], standalone_mode=False)


def test_show_writes_the_network(tmp_path, capsys) -> None:
    show("gdl:monty_hall", "--propnet", tmp_path / "net.dot")
    assert capsys.readouterr().out.startswith("gdl:monty_hall: 13 propositions, 12 moves, 23 gates")
    assert (tmp_path / "net.dot").read_text(encoding="utf-8").startswith("digraph")


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
    monkeypatch.setattr("infoset.view.propnet_dot.load", lambda _: large)
    with pytest.raises(UnsupportedGameError, match="the rules of large are too large to ground"):
        show("large", "--propnet", file)
    assert not file.exists()
