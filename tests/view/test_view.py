"""Pictures and text, tested as text."""

import pytest

from conftest import KUHN, form_of
from infoset import GameTree, TabularPolicy, load, solve
from infoset.view.curves import draw_convergence
from infoset.view.text import policy_text, summary_text, tree_text


def test_the_tree_as_text() -> None:
    lines = tree_text(GameTree.of(load("matching_pennies_3p"))).splitlines()
    assert lines[0] == "P1 at 'start'"
    assert lines[3] == "│  │  ├─ Heads → (1, 1, -1)"
    assert "too many to draw" in tree_text(GameTree.of(load("leduc_poker")))


def test_the_tree_with_a_policy() -> None:
    form = form_of(KUHN)
    text = tree_text(GameTree.of(load(KUHN)), TabularPolicy.uniform(form))
    assert "bet 0.500 → P2 at 'Q bet'" in text
    assert "J 1/3 → chance" in text


def test_the_summary() -> None:
    assert "58 (30 ends, depth 5)" in summary_text(GameTree.of(load(KUHN)))


def test_a_policy_as_a_table() -> None:
    form = form_of(KUHN)
    lines = policy_text(form, TabularPolicy.uniform(form)).splitlines()
    assert lines[0] == "P1"
    assert lines[1].split() == ["J", "pass", "0.500", "█████", "bet", "0.500", "█████"]
    assert len(lines) == 2 + form.num_infosets


def test_the_curve_is_a_picture(tmp_path) -> None:
    pytest.importorskip("matplotlib")
    curve = solve(form_of(KUHN), iterations=100).curve
    path = draw_convergence(curve, "Kuhn", tmp_path / "c.png")
    assert path is not None
    assert path.read_bytes().startswith(b"\x89PNG")
    assert draw_convergence(curve[:1], "one point", tmp_path / "d.png") is None
