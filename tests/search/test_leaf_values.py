"""Heuristics of the user's: what they are given, what they change, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from infoset import load, load_agent, play_match
from infoset.base import State
from infoset.errors import ParameterError, UnknownNameError
from infoset.search.kluss import Kluss
from infoset.search.leaf_values import load_heuristic
from infoset.search.monte_carlo import FlatMc, IsMcts, Uct
from infoset.tree.rules_source import build_lazy_graph

FILE = """
def second_wins(state):
    return -1.0, 1.0


class Constant:
    def __init__(self, value: float = 0.0) -> None:
        self.value = value

    def __call__(self, state):
        return self.value, -self.value


def broken(state):
    raise ValueError("no board")
"""


@pytest.mark.parametrize("name", ["leduc_poker", "gdl:latent_tic_tac_toe", "goofspiel(num_cards=3)"])
def test_the_states_of_a_graph_are_those_on_the_way_there(name: str) -> None:
    game = load(name)
    graph = build_lazy_graph(game)
    state, position = game.start().state, 0
    with graph.growing():
        while not state.terminal:
            assert graph.source.state(int(graph.arrays.state[position])) == state
            actions = [moves[-1] if (moves := state.legal_actions(p)) else None for p in range(len(game.players))]
            outcomes = state.chance_outcomes(actions)
            state = state.play(actions, outcomes[-1][0] if outcomes else None).state
            ends = False
            while not ends:  # the last edge of each position within the step
                edges = graph.spread(np.array([position]))[0][-1:]
                graph.ask(edges)
                position, ends = int(graph.arrays.child[edges[0]]), bool(graph.ends(edges)[0])
    assert graph.source.state(int(graph.arrays.state[position])) == state


def corners(state: Any) -> Sequence[float]:
    """Say that the goal is to have marked a corner."""
    xs = sum(("cell", m, n, "x") in state.facts for m in (1, 3) for n in (1, 3))
    return 100.0 * min(xs, 1), 100.0 - 100.0 * min(xs, 1)


@pytest.mark.parametrize("agent", [FlatMc, Uct, IsMcts, Kluss])
def test_a_search_believes_the_heuristic(agent: Any) -> None:
    """Every search opens in a corner if it is told that corners win."""
    games = [
        play_match("gdl:tic_tac_toe", [agent(nodes=40, heuristic=corners).agent(), "random"], seed=s) for s in range(3)
    ]
    first = [game.steps[0].actions[0] for game in games]
    assert all(move[1] != 2 and move[2] != 2 for move in first), first


def test_by_name_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(FILE)
    assert load_agent(f"kluss(nodes=20,heuristic=python:{file}:second_wins)")
    game = load("kuhn_poker")
    state: State = game.start().state
    assert load_heuristic(f"python:{file}:second_wins", game)(state) == (-1.0, 1.0)
    assert load_heuristic(f"python:{file}:Constant(value=0.5)", game)(state) == (0.5, -0.5)
    match = play_match(
        "kuhn_poker", [f'kluss(nodes=20,heuristic="python:{file}:Constant(value=2.0)")', "random"], seed=1
    )
    assert sum(match.returns) == 0
    with pytest.raises(UnknownNameError, match="second_wins"):
        load_heuristic(f"python:{file}:second_win", game)
    with pytest.raises(ParameterError, match="heuristic: ValueError: no board"):
        load_heuristic(f"python:{file}:broken", game)


@pytest.mark.parametrize(
    ("heuristic", "problem"),
    [
        ("material", "allowed: python:FILE.py:function"),
        (lambda state: 1.0, "returned 1.0; allowed: 2 finite numbers, one for each player"),
        (lambda state: (1.0, 2.0, 3.0), "allowed: 2 finite numbers"),
        (lambda state: (float("nan"), 0.0), "allowed: 2 finite numbers"),
        (lambda state: ("high", "low"), "allowed: 2 finite numbers"),
        (lambda state: state.board, "heuristic: AttributeError"),
        (5, "no function of a state"),
    ],
)  # fmt: skip
def test_refusals(heuristic: Any, problem: str) -> None:
    with pytest.raises(ParameterError, match=problem):
        play_match("kuhn_poker", [Kluss(nodes=20, heuristic=heuristic).agent(), "random"], seed=1)


def test_playouts_are_refused_beside_a_heuristic() -> None:
    with pytest.raises(ParameterError, match="playouts=7 is not used with a heuristic"):
        Kluss(playouts=7, heuristic=corners)
