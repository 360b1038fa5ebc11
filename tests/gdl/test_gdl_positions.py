"""Compiled exploration of ground games against the plain one: the same tree, history by history."""

import numpy as np
import pytest

from infoset import GameTree, load
from infoset.errors import BudgetError, GameRuleError
from infoset.gdl.game import GdlGame
from infoset.gdl.syntax import parse_gdl
from infoset.tree import graph
from infoset.tree.graph import explore

SMALL = [
    "kuhn_poker",
    "leduc_poker",
    "monty_hall",
    pytest.param("number_guessing", marks=pytest.mark.slow),
    "scissors_double",
]


def plainly(game: GdlGame) -> GdlGame:
    """The same game without its compiled exploration."""
    plain = GdlGame(game.rules.description, game.name)
    plain.positions = lambda check: None
    return plain


@pytest.fixture(autouse=True)
def compiled_from_the_first_state(monkeypatch) -> None:
    monkeypatch.setattr(graph, "SMALL", 0)


@pytest.mark.parametrize("name", SMALL)
def test_the_tree_is_the_same_by_both_explorations(name) -> None:
    game = load(f"gdl:{name}")
    found, expected = GameTree.of(game), GameTree.of(plainly(game))
    for field in ("parent", "first_child", "infoset", "levels", "infoset_player", "infoset_node"):
        np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))
    assert [found.key(k) for k in range(len(found.infoset_node))] == [
        expected.key(k) for k in range(len(expected.infoset_node))
    ]
    ends = np.flatnonzero(found.graph.player[found.position] < -1)
    paid, due = (tree.graph.payoffs[tree.graph.content[tree.position[ends]]] for tree in (found, expected))
    np.testing.assert_array_equal(paid, due)
    nodes = np.arange(1, len(found.parent), dtype=np.int32)
    probabilities = [tree.graph.probability[tree.edges(nodes)] for tree in (found, expected)]
    np.testing.assert_array_equal(*probabilities)
    assert [found.history(v) for v in ends[:200]] == [expected.history(v) for v in ends[:200]]


@pytest.mark.parametrize("name", ["meier", "tic_tac_toe"])
def test_large_games_have_the_same_positions_and_histories(name) -> None:
    game = load(f"gdl:{name}")
    found, expected = explore(game), explore(plainly(game))
    assert len(found.player) == len(expected.player)
    assert len(found.child) == len(expected.child)
    assert sorted(map(repr, found.records)) == sorted(map(repr, expected.records))
    assert found.count_histories() == pytest.approx(expected.count_histories())
    assert len(found.order) == len(found.player)
    assert found.depth == expected.depth


def test_the_limit_on_edges_holds() -> None:
    with pytest.raises(BudgetError, match=r"gdl:meier is too large to enumerate: stopped at .* distinct positions"):
        explore(load("gdl:meier"), max_edges=100)


STUCK = """(role a) (role b) (init (step 0))
(<= (legal a go) (true (step ?n)))
(<= (legal b go) (true (step 0)))
(<= (next (step 1)) (true (step 0)))
(<= (sees a x) (does a go))
(<= terminal (true (step 2)))
(goal a 0) (goal b 0)"""


def test_a_role_without_a_move_is_named() -> None:
    game = GdlGame(parse_gdl(STUCK, "stuck.gdl"))
    with pytest.raises(GameRuleError, match="b has no legal move"):
        explore(game)


LEAKY = """(role a) (role random) (init (step 0))
(<= (legal random left) (true (step 0))) (<= (legal random right) (true (step 0)))
(<= (legal random noop) (true (step 1)))
(<= (legal a wait) (true (step 0)))
(<= (legal a x) (true (step 1)) (true hidden)) (<= (legal a y) (true (step 1)) (not (true hidden)))
(<= (next hidden) (does random left))
(<= (next (step 1)) (true (step 0))) (<= (next (step 2)) (true (step 1)))
(<= terminal (true (step 2)))
(goal a 50)"""


def test_games_that_show_what_is_on_offer_are_explored_plainly() -> None:
    leaky = GdlGame(parse_gdl(LEAKY, "leaky.gdl"))
    assert leaky.rules.offers == (True,)
    assert leaky.positions(lambda positions, edges: None) is None
    assert len(GameTree.of(leaky).infoset_node) == 3
