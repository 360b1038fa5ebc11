"""What searches play follows from what a player knows, never from what was asked before or kept since."""

import hashlib
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import infoset.search.belief
import infoset.search.subgame_solver
from infoset import load
from infoset.learn.public_states import Horizon, PublicStates
from infoset.learn.resolving import ContinualResolving, PositionValues
from infoset.search.belief import BeliefTracker
from infoset.search.state_values import informed_values
from infoset.search.subgame_solver import ROOTS, Effort, SubgameSearch, SubgameSolver
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import explore

GAMES = ("kuhn_poker", "leduc_poker", "goofspiel(num_cards=3)", "gdl:scissors_double")
LITTLE = Effort(histories=300, sets=3, others=2, iterations=5, steps=2)
ASKED = 20  # information sets of each game


worth = cache(lambda graph: informed_values(graph).__getitem__)


def solver_of(graph, root="order-2", effort=LITTLE, seed=0) -> SubgameSolver:
    return SubgameSolver(BeliefTracker(graph, seed=seed), worth(graph), root, effort)


def resolving_of(graph) -> ContinualResolving:
    states = PublicStates(graph, Horizon(2))
    states.explore()
    return ContinualResolving(BeliefTracker(graph), states, PositionValues(worth(graph)), 5)


def asked(tree: GameTree) -> list[tuple[int, tuple[int, ...]]]:
    """Some information sets of a game: whose, and the records that lead there."""
    states = tree.infoset_state.tolist()
    return [(p, tuple(path)) for p, path in map(tree.states.path, states[:: max(len(states) // ASKED, 1)])]


def row_of(solver, player: int, path) -> list[float] | None:
    state = player
    for record in path:
        state = solver.ranges.successor(state, record)
    return solver.strategy_at(player, state)


def rows(solver, sets) -> dict:
    return {key: row_of(solver, *key) for key in sets}


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n == "leduc_poker")) for n in GAMES])
def test_the_order_of_asking_changes_no_bit(name) -> None:
    graph = explore(load(name))
    sets = asked(GameTree.unroll(graph))
    shuffled = [sets[k] for k in np.random.default_rng(1).permutation(len(sets))]
    for root in ROOTS:
        forward = rows(solver_of(graph, root), sets)
        assert any(row and max(row) < 1 for row in forward.values())
        for order in (sets[::-1], shuffled):
            assert rows(solver_of(graph, root), order) == forward
    forward = rows(resolving_of(graph), sets)
    assert rows(resolving_of(graph), shuffled) == forward


def test_what_is_thrown_away_is_found_again(monkeypatch) -> None:
    """Also where ranges are drawn, since they are too large."""
    graph = explore(load("leduc_poker"))
    sets = asked(GameTree.unroll(graph))
    monkeypatch.setattr(infoset.search.belief, "MAX_RANGE", 3)
    forward = rows(solver_of(graph), sets)
    monkeypatch.setattr(infoset.search.belief, "MAX_ENTRIES", 10)
    assert rows(solver_of(graph), sets[::-1]) == forward


def test_the_seed_decides_what_is_drawn() -> None:
    graph = explore(load("leduc_poker"))
    sets = asked(GameTree.unroll(graph))
    assert rows(solver_of(graph, seed=1), sets) != rows(solver_of(graph), sets)


def digest() -> str:
    """Of what is found in all games."""
    found = hashlib.sha256()
    for name in GAMES:
        graph = explore(load(name))
        found.update(repr(list(rows(solver_of(graph), asked(GameTree.unroll(graph))).values())).encode())
    return found.hexdigest()


def test_another_process_finds_the_same() -> None:
    folder = Path(__file__).parent
    told = subprocess.run(
        [sys.executable, "-c", "from test_order_of_asking import digest; print(digest())"],
        env=os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert told.stdout.strip() == digest()


def test_what_a_clock_made_small_is_searched_again(monkeypatch) -> None:
    monkeypatch.setattr(infoset.search.subgame_solver, "HISTORIES_A_SECOND", 1)
    graph = explore(load("leduc_poker"))
    effort = Effort(sets=3, others=2, iterations=5, steps=2)
    sets, solver = asked(GameTree.unroll(graph)), solver_of(graph, effort=effort)
    expected = rows(solver_of(graph, effort=effort), sets)
    solver.allow(20)
    assert rows(solver, sets) != expected
    solver.allow(10**9)
    assert rows(solver, sets) == expected


def test_chances_are_told_although_the_clock_of_the_last_move_ran_out() -> None:
    rules = load("leduc_poker")
    agent = SubgameSearch(solver_of(explore(rules), effort=Effort(sets=2, iterations=5)), 60)
    agent.begin(rules, 0, np.random.default_rng(1), None)
    agent.observe(None, "Kh")
    agent.solver.allow(-1.0)
    told = agent.report_probabilities(("call", "raise"))
    assert list(agent.solver.found.values())[-1].row == told
