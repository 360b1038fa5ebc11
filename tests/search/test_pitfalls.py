"""The pitfalls of search at decision time, each with a small game that shows it, and what kluss does there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from infoset import evaluate, load, play_match
from infoset.evaluation import tabulated
from infoset.search.belief import whole
from infoset.search.growing_solver import AVERAGE, GrowingSolver
from infoset.search.growing_subgame import NONE
from infoset.search.histories import Belief
from infoset.search.leaf_values import CachedLeaves, RandomPlays
from infoset.tree.rules_source import build_lazy_graph

EXAMPLES = Path(__file__).parents[2] / "examples"
COIN, WAY_OUT = str(EXAMPLES / "coin_toss.efg"), str(EXAMPLES / "way_out.efg")
KLUSS = "kluss(nodes=200)"


def test_strategy_fusion() -> None:
    """Monty Hall: who solves each world as if it knew it keeps its door in one world of three, and wins 5 times in 9."""
    assert evaluate("gdl:monty_hall", "search(method=per-world)").values == pytest.approx((500 / 9,), abs=0.1)
    assert evaluate("gdl:monty_hall", KLUSS).values == pytest.approx((200 / 3,), abs=0.1)


def test_non_locality() -> None:
    """What is best at a set depends on a part of the game that does not lead there.

    P1 does not see whether P2 had a way out.  If P2 had moved evenly, it would have had one twice as often as not, and
    left would pay 4/3; but P2 leaves where that is better, so that P1 loses by left what it gains by right.
    """
    moves = [play_match(WAY_OUT, ["pimc(nodes=200)", "random"], seed=seed).steps[-1].actions[0] for seed in range(20)]
    assert set(moves) <= {"left", None}
    assert evaluate(WAY_OUT, lambda key, actions: {actions[0]: 1.0}).best_response_values[1] == pytest.approx(
        2 / 3, abs=1e-6
    )
    found = evaluate(WAY_OUT, KLUSS)
    assert found.values == pytest.approx((-1 / 3, 1 / 3), abs=1e-3)
    assert found.exploitability < 1e-3


def guesses_of_heads(gadget: bool) -> float:
    """Return how often P2 guesses heads where the subgame begins at its guess, after heads and tails equally often."""
    graph = build_lazy_graph(load(COIN))
    with graph.growing():
        start = whole(graph)
        leaves = CachedLeaves(RandomPlays(graph, 1, 0), 2)
        before = GrowingSolver(graph, leaves, 1, 0.5, 1)
        before.begin(start, np.full(1, NONE), 0, np.zeros(0), None)
        before.run(100, np.inf)
        t = before.tree
        nodes = np.flatnonzero(t.infoset[: before.nodes] == before.known[t.infostate[: before.nodes, 1]])
        nodes = nodes[(t.owner[t.infoset[nodes]] == 1) & (t.size[nodes] == 2)]
        roots = Belief(t.position[nodes], t.infostate[nodes], np.full(2, 0.5))
        sells = np.array([0.5, -0.5])  # what P1 has for a coin that shows heads, and tails
        solver = GrowingSolver(graph, leaves, 1, 0.5, 1)
        if gadget:
            solver.begin(roots, np.arange(2), 0, sells, None)
        else:
            solver.begin(roots, np.full(2, NONE), 0, np.zeros(0), None)
        solver.run(100, np.inf)
        row = solver.row(int(t.infostate[nodes[0], 1]), AVERAGE)
    assert row is not None
    return float(row[0])


def test_unsafe_resolving() -> None:
    """The coin toss of Brown and Sandholm (2017), resolved at the guess.

    By the probabilities alone with which P1 plays on, every guess is equally good; but a guess at random invites P1 to
    play with heads.  Where P1 may take what selling pays instead, P2 has to guess heads in one time of four.
    """
    assert guesses_of_heads(gadget=False) == pytest.approx(0.5, abs=0.01)
    assert guesses_of_heads(gadget=True) == pytest.approx(0.25, abs=0.02)


def test_the_coin_is_guessed_as_in_equilibrium() -> None:
    assert evaluate(COIN, KLUSS).exploitability < 1e-3
    table = next(iter(tabulated(COIN, KLUSS).tables[1].values()))
    assert table == pytest.approx({"heads": 0.25, "tails": 0.75}, abs=0.02)
