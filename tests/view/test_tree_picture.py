"""Pictures of trees: what they say, and that nothing in them runs over anything else."""

import importlib
import re
import sys
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import KUHN, form_of
from extent import examples
from infoset import GameTree, TabularPolicy, load
from infoset.cli.app import app
from infoset.errors import BudgetError, MissingExtraError
from infoset.formats.efg import EfgGame, parse_efg, read_efg
from infoset.view.picture import BOLD, COLORS, Box, Line, Picture, Words, text_width
from infoset.view.text import number_text
from infoset.view.tree_picture import tree_picture

SVG = "{http://www.w3.org/2000/svg}"
ROOT = Path(__file__).resolve().parents[2]
HALF_STREET = str(ROOT / "examples" / "half_street_poker.efg")
DRIVER = """EFG 2 R "Absent-minded driver" { "Driver" }
p "" 1 1 "at an exit" { "EXIT" "on" } 0
t "" 1 "" { 0 }
p "" 1 1 "at an exit" { "EXIT" "on" } 0
t "" 2 "" { 4 }
p "" 1 1 "at an exit" { "EXIT" "on" } 0
t "" 3 "" { 1 }
t "" 4 "" { -2 }
"""
CROSSED = """EFG 2 R "Each first once" { "P1" "P2" }
c "" 1 "" { "heads" 1/3 "tails" 2/3 } 0
p "" 1 1 "" { "a" "b" } 0
p "" 2 1 "" { "c" "d" } 0
t "" 1 "" { 1, -1 }
t "" 2 "" { 2, -2 }
t "" 3 "" { 3, -3 }
p "" 2 1 "" { "c" "d" } 0
p "" 1 1 "" { "a" "b" } 0
t "" 4 "" { 4, -4 }
t "" 5 "" { 5, -5 }
t "" 6 "" { 6, -6 }
"""
GAMES = [KUHN, "matching_pennies_3p", "rock_paper_scissors", "gdl:monty_hall", "gdl:kuhn_poker", HALF_STREET]


def picture_of(text: str) -> Picture:
    return tree_picture(GameTree.of(EfgGame(parse_efg(text), "drawn")))


def words(picture: Picture, kind: str) -> list[Words]:
    return [shape for shape in picture.shapes if isinstance(shape, Words) and shape.kind == kind]


def curves(picture: Picture) -> list[Line]:
    return [shape for shape in picture.shapes if isinstance(shape, Line) and shape.kind.startswith("infoset")]


def nodes(picture: Picture) -> list[Box]:
    return [s for s in picture.shapes if isinstance(s, Box) and (s.kind == "chance" or s.kind.startswith("node"))]


def text_box(text: Words) -> tuple[float, float, float, float]:
    wide = text_width(text.text, text.size, text.bold)
    left = text.x - wide * {"end": 1.0, "middle": 0.5, "start": 0.0}[text.anchor]
    return left, text.y - 0.74 * text.size, left + wide, text.y + 0.2 * text.size


def box_of(box: Box) -> tuple[float, float, float, float]:
    return box.x - box.width / 2, box.y - box.height / 2, box.x + box.width / 2, box.y + box.height / 2


def overlap(one, other, least=0.0) -> bool:
    return (
        one[0] < other[2] - least
        and other[0] < one[2] - least
        and one[1] < other[3] - least
        and other[1] < one[3] - least
    )


def crosses(line: Line, box) -> bool:
    """Whether a polyline meets the inside of a box (Liang and Barsky's clipping, piece by piece)."""
    return any(_piece_crosses(one, other, box) for one, other in pairwise(line.points))


def _piece_crosses(one, other, box) -> bool:
    low, high = 0.0, 1.0
    for axis in (0, 1):
        step = other[axis] - one[axis]
        first, last = box[axis] - one[axis], box[axis + 2] - one[axis]
        if abs(step) < 1e-9:
            if first >= 0 or last <= 0:
                return False
            continue
        first, last = sorted((first / step, last / step))
        low, high = max(low, first), min(high, last)
    return low < high - 1e-6


def run_along(one: Line, other: Line, apart: float = 2.0) -> bool:
    """Whether two curves have parallel pieces, upright or level, that run beside each other too near."""
    for (a, b), (c, d) in ((p, q) for p in pairwise(one.points) for q in pairwise(other.points)):
        for axis in (0, 1):
            level = a[axis] == b[axis] and c[axis] == d[axis] and abs(a[axis] - c[axis]) < apart
            along = 1 - axis
            if (
                level
                and min(max(a[along], b[along]), max(c[along], d[along]))
                - max(min(a[along], b[along]), min(c[along], d[along]))
                > 0.5
            ):
                return True
    return False


def check_picture(picture: Picture) -> None:
    """Everything that makes a picture readable."""
    check_texts(picture)
    check_curves(picture)
    check_edges(picture)
    check_rows(picture)


def check_texts(picture: Picture) -> None:
    """No text runs over another or out of the picture, no node over another."""
    texts = [shape for shape in picture.shapes if isinstance(shape, Words)]
    for one, other in combinations(texts, 2):
        assert not overlap(text_box(one), text_box(other), 0.3), (one, other)
    for text in texts:
        left, top, right, bottom = text_box(text)
        assert left >= 0 and top >= 0 and right <= picture.width and bottom <= picture.height
    for one, other in combinations(nodes(picture), 2):
        assert not overlap(box_of(one), box_of(other))


def check_curves(picture: Picture) -> None:
    """No curve runs through a node, over a text, or along another curve."""
    texts = [s for s in picture.shapes if isinstance(s, Words) and s.kind != "number"]
    for curve in curves(picture):
        for box in nodes(picture):
            assert not crosses(curve, shrunk(box_of(box), 0.5)), (curve, box)
        for text in texts:
            assert not crosses(curve, text_box(text)), (curve, text)
    for one, other in combinations(curves(picture), 2):
        assert not run_along(one, other), (one, other)


def check_edges(picture: Picture) -> None:
    """No edge runs through a node or a text."""
    lines = [s for s in picture.shapes if isinstance(s, Line) and s.kind in ("edge", "drop")]
    for line in lines:
        for box in nodes(picture):
            assert not crosses(line, shrunk(box_of(box), 0.6)), (line, box)
        for text in words(picture, "move") + words(picture, "payoff"):
            left, top, right, bottom = text_box(text)
            assert not crosses(line, (left, top + 1.5, right, bottom)), (line, text)


def shrunk(box, by: float):
    return box[0] + by, box[1] + by, box[2] - by, box[3] - by


def check_rows(picture: Picture) -> None:
    """Payoffs stand on a row a player, under their ends."""
    heads = words(picture, "heading")
    payoffs = words(picture, "payoff")
    assert {text.y for text in payoffs} == {head.y for head in heads}
    for head in heads:
        row = [text for text in payoffs if text.y == head.y]
        assert len(row) * len(heads) == len(payoffs)
        assert {text.color for text in row} == {head.color}
    ends = {round(s.points[-1][0], 6) for s in picture.shapes if isinstance(s, Line) and s.kind in ("edge", "drop")}
    assert {round(text.x, 6) for text in payoffs} <= ends


@pytest.mark.parametrize("name", GAMES)
def test_a_picture_can_be_read(name: str) -> None:
    check_picture(tree_picture(GameTree.of(load(name))))


@pytest.mark.parametrize("text", [DRIVER, CROSSED])
def test_sets_over_several_levels(text: str) -> None:
    picture = picture_of(text)
    check_picture(picture)
    assert any(len({y for _, y in curve.points}) > 3 for curve in curves(picture))


def test_real_files(shared) -> None:
    drawn = 0
    for path in sorted((shared / "games" / "efg").glob("*.efg")):
        tree = GameTree.of(read_efg(path))
        if len(tree.parent) <= 130:
            check_picture(tree_picture(tree))
            drawn += 1
    assert drawn >= 40


@st.composite
def games(draw) -> str:
    """Any small game: information sets join whatever has the same player and number of moves."""
    lines = ['EFG 2 R "any" { "One" "The other player" "C" }']
    ends, left = 0, draw(st.integers(2, 16))
    word = st.sampled_from(["a", "raise by ten", "W", "fold", "(x,y)"])
    fanned = [0]

    def node(depth: int) -> None:
        nonlocal ends, left
        kind = draw(st.sampled_from("ccppppt")) if depth and left > 0 else "p" if left > 0 else "t"
        if kind == "t" or depth > 6:
            ends += 1
            lines.append(f't "" {ends} "" {{ {draw(st.integers(-9, 99999))}, {draw(st.integers(-99, 99))}/7, 0.25 }}')
            return
        left -= 1
        actions = draw(st.integers(1, 4))
        if kind == "c":
            fanned[0] += 1
            probabilities = " ".join(f'"{draw(word)}" 1/{actions}' for _ in range(actions))
            lines.append(f'c "" {fanned[0]} "" {{ {probabilities} }} 0')
        else:
            player, number = draw(st.integers(1, 3)), 10 * actions + draw(st.integers(0, 2))
            action_set = " ".join(f'"{"raise by ten" if k == 2 else "m"}"' for k in range(actions))
            lines.append(f'p "" {player} {number} "" {{ {action_set} }} 0')
        for _ in range(actions):
            node(depth + 1)

    node(0)
    return "\n".join(lines)


@examples(150)
@given(games())
def test_any_game_can_be_read(text: str) -> None:
    tree = GameTree.of(EfgGame(parse_efg(text), "any"))
    if len(tree.parent) <= 120:
        check_picture(tree_picture(tree))


def test_chances_are_the_fractions_that_they_are() -> None:
    picture = tree_picture(GameTree.of(load(HALF_STREET)))
    assert sum(text.text == "1/6" for text in words(picture, "move")) == 6
    assert not any("0.16" in text.text for text in words(picture, "move"))
    probabilities = [text.text for text in words(tree_picture(GameTree.of(load(KUHN))), "move") if "/" in text.text]
    assert sum(map(Fraction, probabilities[:3])) == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [(1 / 6, "1/6"), (0.25, "1/4"), (1 / 132600, "1/132600"), (1.0, "1"), (0.1 + 0.2, "3/10"), (2**-0.5, "0.707107")],
)
def test_fractions(value: float, text: str) -> None:
    assert number_text(value, fraction=True) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.25, "0.25"), (1 / 3, "1/3"), (-2.0, "-2"), (1234567.0, "1234567"), (1e300, "1e+300"), (0.0, "0")],
)
def test_payoffs_as_they_are_written(value: float, text: str) -> None:
    assert number_text(value) == text


def test_sets_are_numbered_and_named() -> None:
    picture = tree_picture(GameTree.of(load(HALF_STREET)))
    assert [text.text for text in words(picture, "number")].count("2:3") == 2
    key = [text.text for text in words(picture, "key")]
    assert key[key.index("2:1") + 1] == "Q against a bet"
    unnamed = picture_of(CROSSED.replace('p "" 1 1', 'p "" 1 7'))
    assert {text.text for text in words(unnamed, "number")} == {"1:7", "2:1"}
    assert not words(unnamed, "key")


def test_the_svg() -> None:
    picture = tree_picture(GameTree.of(load(KUHN)), TabularPolicy.uniform(form_of(KUHN)))
    svg = ElementTree.fromstring(picture.svg())
    texts = ["".join(text.itertext()) for text in svg.iter(f"{SVG}text")]
    assert texts.count("0.500") == 48
    titles = {title.text for title in svg.iter(f"{SVG}title")}
    assert {"kuhn_poker", "K [pass] bet"} <= titles
    with pytest.raises(BudgetError, match=r"9,457 histories; a picture holds 400"):
        tree_picture(GameTree.of(load("leduc_poker")))


def test_nothing_in_a_file_breaks_the_svg() -> None:
    hostile = CROSSED.replace('"heads"', '"<b>&\x01"').replace('"P1"', '"\x02]]>"')
    texts = {"".join(text.itertext()) for text in ElementTree.fromstring(picture_of(hostile).svg()).iter(f"{SVG}text")}
    assert {"<b>&?", "?]]>"} <= texts


def test_a_probability_is_the_width_of_its_edge() -> None:
    form = form_of(KUHN)
    policy = TabularPolicy.uniform(form)
    tree = GameTree.of(load(KUHN))
    plain, drawn = (
        {s.width for s in tree_picture(tree, p).shapes if isinstance(s, Line) and s.kind == "edge"}
        for p in (None, policy)
    )
    assert len(plain) == 1
    assert len(drawn) == 2


def test_a_notebook_shows_the_tree() -> None:
    assert GameTree.of(load(KUHN))._repr_svg_().startswith("<svg")
    assert GameTree.of(load("leduc_poker"))._repr_svg_() is None


def test_the_pdf_says_what_the_svg_says(tmp_path) -> None:
    pytest.importorskip("matplotlib")
    import zlib

    picture = tree_picture(GameTree.of(load(HALF_STREET)))
    body = picture.save_pdf(tmp_path / "tree.pdf").read_bytes()
    assert body.startswith(b"%PDF")
    assert b"/Type3" not in body and b"/Subtype /Type3" not in body
    page = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", body)
    assert page and [float(x) for x in page.groups()] == pytest.approx(
        [0.75 * picture.width, 0.75 * picture.height], abs=0.01
    )
    streams = [
        zlib.decompress(s) for s in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", body, re.DOTALL) if s[:1] == b"x"
    ]
    assert sum(s.count(b"BT") for s in streams) == len([s for s in picture.shapes if isinstance(s, Words)])
    again = picture.save_pdf(tmp_path / "again.pdf").read_bytes()
    assert again == body


def test_the_command_line_writes_both(tmp_path, capsys) -> None:
    pytest.importorskip("matplotlib")
    svg, pdf = tmp_path / "tree.svg", tmp_path / "tree.pdf"
    app(["show", HALF_STREET, "--svg", str(svg), "--pdf", str(pdf)], standalone_mode=False)
    assert "JQ 1/6 → P1 at 'J'" in capsys.readouterr().out
    assert svg.read_text() == tree_picture(GameTree.of(load(HALF_STREET))).svg()
    assert pdf.read_bytes().startswith(b"%PDF")


def test_the_picture_in_the_docs_is_this_one() -> None:
    """``infoset show examples/half_street_poker.efg --svg docs/pictures/half_street_poker.svg`` writes it anew."""
    drawn = tree_picture(GameTree.of(load(HALF_STREET))).svg()
    assert (ROOT / "docs" / "pictures" / "half_street_poker.svg").read_text(encoding="utf-8") == drawn


def test_a_page_is_no_longer_than_pdf_allows(tmp_path) -> None:
    pytest.importorskip("matplotlib")
    body = Picture("long", 100.0, 40_000.0, [Line(((0, 0), (100, 40_000)), "#000000")]).save_pdf(tmp_path / "l.pdf")
    assert b"/MediaBox [ 0 0 36 14400 ]" in body.read_bytes()


def test_pdf_needs_matplotlib(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"a picture as PDF needs the extra 'plot'"):
        tree_picture(GameTree.of(load(KUHN))).save_pdf(tmp_path / "k.pdf")


def test_text_is_no_wider_than_it_is_held_to_be() -> None:
    """By the metrics of the font that PDF has and browsers fall back to; Helvetica is narrower."""
    pytest.importorskip("matplotlib")
    path = importlib.import_module("matplotlib.textpath").TextPath
    font = importlib.import_module("matplotlib.font_manager").FontProperties
    for text in ("raise by ten", "DOOR A", "1:12", "19/20", "−12.8", "(hide_car,2)", "SWITCH", "Q [pass] bet", "pass"):
        for bold in (False, True):
            wide = path(
                (0, 0), text, size=100, prop=font(family="DejaVu Sans", weight="bold" if bold else "normal")
            ).get_extents()
            assert wide.width / 100 <= 1.03 * text_width(text, 1.0, bold), (text, bold, BOLD)


SIGHT = {  # Machado, Oliveira and Fernandes (2009), full deficiency
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear(color: str) -> np.ndarray:
    share = np.array([int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def lab(light: np.ndarray) -> np.ndarray:
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    xyz = np.array(to_xyz) @ np.clip(light, 0, 1) / [0.95047, 1.0, 1.08883]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("sight", SIGHT)
def test_the_colours_can_be_told_apart(sight: str) -> None:
    seen = [lab(np.array(SIGHT[sight]) @ linear(color)) for color in COLORS]
    assert min(np.linalg.norm(one - other) for one, other in combinations(seen, 2)) > 15
    for color in COLORS:
        assert 1.05 / (0.05 + linear(color) @ [0.2126, 0.7152, 0.0722]) > 4.5  # WCAG's contrast of text on white
