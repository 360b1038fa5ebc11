"""Information maps as values: compared, joined, tested for perfect recall, refined; relaxations of the paper."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from extent import examples
from infoset import load
from infoset.errors import ParameterError
from infoset.tree.game_tree import GameTree
from infoset.tree.information import (
    RELAXATIONS,
    ImperfectRecallError,
    TreeMap,
    axes,
    custom,
    perfect,
    recall,
    reveal,
    true_map,
)

TEAM = (0, 1)
TRADE = "trade_comm(items=2,messages=2)"


@pytest.fixture(scope="module")
def trade() -> GameTree:
    return GameTree.of(load(TRADE))


def test_relaxations_of_trade_comm_are_those_of_the_paper(trade: GameTree) -> None:
    """Places in a history: 0 chance's (s1:s2), 1 m1, 2 m2, 3 d1, 4 d2."""
    true = true_map(trade, TEAM)
    split = {node: (*trade.history(node)[0].split(":"), *trade.history(node)[1:]) for node in nodes_of(true)}

    def seen(*stages: tuple[int, ...]) -> TreeMap:
        return custom(
            trade, "seen", TEAM, lambda v: (stage := len(split[v]) - 2, *[split[v][k] for k in stages[stage]])
        )

    assert true == seen((0,), (1,), (0, 2, 3), (1, 2, 3))
    assert recall(trade, TEAM) == seen((0,), (0, 1, 2), (0, 1, 2, 3), (0, 1, 2, 3, 4))
    cheated = seen((0, 1), (0, 1), (0, 1, 3), (0, 1, 2))
    assert cheated.compare(true) == "neither"  # it forgets the own message
    assert RELAXATIONS["cheat"](trade, TEAM) == cheated.join(true)


def nodes_of(found: TreeMap) -> list[int]:
    return np.flatnonzero(found.labels >= 0).tolist()


@pytest.mark.parametrize("name", sorted(RELAXATIONS))
def test_relaxations_refine_the_truth(trade: GameTree, name: str) -> None:
    found, true = RELAXATIONS[name](trade, TEAM), true_map(trade, TEAM)
    assert found.refines(true)
    assert found.compare(true) == ("equal" if name == "true" else "finer")
    assert perfect(trade, TEAM).refines(found)
    assert found.join(true) == found


def test_a_player_alone_remembers_and_the_team_does_not(trade: GameTree) -> None:
    for player in TEAM:
        assert true_map(trade, [player]).recall_violation() is None
        assert recall(trade, [player]) == true_map(trade, [player])
    with pytest.raises(ImperfectRecallError, match=r"'true' of trade_comm.* has no perfect recall: \[A:A 1\] and"):
        true_map(trade, TEAM).check_recall()
    recall(trade, TEAM).check_recall()


def test_axes_see_what_has_happened_and_nothing_else(trade: GameTree) -> None:
    assert axes(trade, "all", TEAM, [(0,), (0, 1), (0, 1, 2), (0, 1, 2, 3)]) == perfect(trade, TEAM)
    with pytest.raises(ParameterError, match="decision 0 cannot see place 1; allowed: 0 to 0"):
        axes(trade, "future", TEAM, [(1,), (), (), ()])
    with pytest.raises(ParameterError, match="decision 1 cannot see place -1"):
        axes(trade, "none", TEAM, [(0,), (-1,), (), ()])
    with pytest.raises(ParameterError, match="has 2 entries"):
        axes(trade, "short", TEAM, [(0,), (0,)])
    with pytest.raises(ParameterError, match=r"cannot tell .* where other moves are on offer"):
        custom(trade, "blind", TEAM, lambda node: 0)
    with pytest.raises(ParameterError, match="players 0 to 1"):
        true_map(trade, [2])
    with pytest.raises(ParameterError, match="different trees or players"):
        true_map(trade, [0]).join(true_map(trade, TEAM))


@examples(60)
@given(seed=some.integers(0, 10**6))
def test_the_smallest_refinement_with_recall(seed: int) -> None:
    """It has perfect recall, refines, is reached by one pass, and merging any two of its sets breaks one of these."""
    tree = GameTree.of(load("kuhn_poker"))
    rng = np.random.default_rng(seed)
    keys = {}

    def forget(node: int) -> tuple[int, int]:
        return tree.player(node), keys.setdefault(int(tree.infoset[node]), int(rng.integers(2)))

    coarse = custom(tree, "coarse", TEAM, forget)
    fine = coarse.with_recall()
    assert fine.refines(coarse)
    assert fine.recall_violation() is None
    assert fine.with_recall() == fine
    for a, b in product(range(fine.size), repeat=2):
        one, other = (int(np.flatnonzero(fine.labels == k)[0]) for k in (a, b))
        if a < b and coarse.labels[one] == coarse.labels[other]:
            merged = custom(tree, "merged", TEAM, lambda v, a=a, b=b: a if fine.labels[v] == b else int(fine.labels[v]))
            assert merged.recall_violation() is not None


def test_reveal_shows_the_team_and_nobody_else() -> None:
    """A team of one learns nothing; a team of two in three-player Kuhn poker learns each other's card alone."""
    tree = GameTree.of(load("kuhn_poker(players=3)"))
    alone, true = reveal(tree, (0,)), true_map(tree, (0,))
    assert alone.refines(true) and true.refines(alone)
    assert true_map(tree, (0, 1)).size < reveal(tree, (0, 1)).size < perfect(tree, (0, 1)).size
    first = [node for node in range(len(tree.position)) if tree.graph.player[tree.position[node]] == 0][: 4 * 3 * 2]
    labels = reveal(tree, (0, 1)).labels
    assert len({int(labels[node]) for node in first}) == 4 * 3  # cards of two, not of three
