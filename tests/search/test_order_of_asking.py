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
from infoset.match.match import play_match
from infoset.match.series import play_series
from infoset.search.agent import Search, SearchAgent
from infoset.search.belief import BeliefTracker
from infoset.search.monte_carlo import Budget
from infoset.search.public_states import Horizon, PublicStates
from infoset.search.resolving import ContinualResolving, PositionValues
from infoset.search.state_values import informed_values
from infoset.search.subgame_agent import SubgameAgent
from infoset.search.subgame_solver import Effort, SubgameSolver
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import explore

GAMES = ("kuhn_poker", "leduc_poker", "goofspiel(num_cards=3)", "gdl:scissors_double")
SEARCHES = (("order-2", False), ("own", False), ("per-world", False), ("common", False), ("order-2", True))
LITTLE = Effort(histories=300, sets=3, others=2, iterations=5, steps=2)
ASKED = 20  # information sets of each game


worth = cache(lambda graph: informed_values(graph).__getitem__)


def solver_of(graph, root="order-2", consistent=False, effort=LITTLE, seed=0) -> SubgameSolver:
    return SubgameSolver(BeliefTracker(graph, seed=seed), worth(graph), root, effort, consistent)


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
    for root, consistent in SEARCHES:
        forward = rows(solver_of(graph, root, consistent), sets)
        assert any(row and max(row) < 1 for row in forward.values())
        for order in (sets[::-1], shuffled):
            assert rows(solver_of(graph, root, consistent), order) == forward
    forward = rows(resolving_of(graph), sets)
    assert rows(resolving_of(graph), shuffled) == forward


@pytest.mark.parametrize("root", ["order-2", "common"])
def test_what_is_thrown_away_is_found_again(root, monkeypatch) -> None:
    """Also where ranges are drawn, since they are too large."""
    graph = explore(load("leduc_poker"))
    sets = asked(GameTree.unroll(graph))
    monkeypatch.setattr(infoset.search.belief, "MAX_RANGE", 3)
    forward = rows(solver_of(graph, root), sets)
    monkeypatch.setattr(infoset.search.belief, "MAX_ENTRIES", 10)
    assert rows(solver_of(graph, root), sets[::-1]) == forward


def test_the_seed_decides_what_is_drawn() -> None:
    graph = explore(load("leduc_poker"))
    sets = asked(GameTree.unroll(graph))
    assert rows(solver_of(graph, seed=1), sets) != rows(solver_of(graph), sets)


def digest() -> str:
    """Of what is found in all games, and by an agent that knows no positions."""
    found = hashlib.sha256()
    for name in GAMES:
        graph = explore(load(name))
        found.update(repr(list(rows(solver_of(graph), asked(GameTree.unroll(graph))).values())).encode())
    found.update(repr(row_after(searching(1, sets=2, steps=1))).encode())
    return found.hexdigest()


def test_another_process_finds_the_same() -> None:
    folder = Path(__file__).parent
    told = subprocess.run(
        [sys.executable, "-c", "from test_order_of_asking import digest; print(digest())"],
        env=os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert told.stdout.strip() == digest()


@pytest.mark.parametrize("game", [pytest.param("leduc_poker", marks=pytest.mark.slow), "goofspiel(num_cards=3)"])
@pytest.mark.parametrize("method", ["order-2", "per-world", "resolving"])
def test_a_game_of_a_series_is_the_game_by_itself(game, method) -> None:
    """And what is played there is what an evaluation that asks everywhere finds."""

    few = {} if method == "resolving" else {"worlds": 2}

    def agents() -> list:
        return [SearchAgent(Search(method=method, steps=1, seconds=60, seconds_per_move=60, **few)), "random"]

    rules, together, games = load(game), agents(), []
    play_series(rules, together, games=6, seed=3, keep=games.append)
    for match in games:
        alone = play_match(rules, agents(), seed=match.seed)
        assert [step.actions for step in alone.steps] == [step.actions for step in match.steps]
    agent = agents()[0]
    agent.begin(rules, 0, np.random.default_rng(0), None)
    played, fresh = together[0].inner.solver, agent.inner.solver
    for state in getattr(played, "found", ()) if method != "resolving" else ():
        player, path = played.ranges.states.path(state)
        assert row_of(fresh, player, path) == played.strategy_at(player, state)


def test_what_a_clock_made_small_is_searched_again(monkeypatch) -> None:
    """Nor does it stay in the ranges of others who are held to it."""
    monkeypatch.setattr(infoset.search.subgame_solver, "HISTORIES_A_SECOND", 1)
    graph = explore(load("leduc_poker"))
    effort = Effort(sets=3, others=2, iterations=5, steps=2)
    for consistent in (False, True):
        sets, solver = asked(GameTree.unroll(graph)), solver_of(graph, consistent=consistent, effort=effort)
        expected = rows(solver_of(graph, consistent=consistent, effort=effort), sets)
        solver.allow(20)
        assert rows(solver, sets) != expected
        solver.allow(10**9)
        assert rows(solver, sets) == expected


def test_chances_are_told_although_the_clock_of_the_last_move_ran_out() -> None:
    rules = load("leduc_poker")
    agent = SearchAgent(Search(method="order-2", worlds=2, seconds=60, seconds_per_move=60))
    agent.begin(rules, 0, np.random.default_rng(1), None)
    agent.observe(None, "Kh")
    agent.inner.solver.allow(-1.0)
    told = agent.report_probabilities(("call", "raise"))
    assert list(agent.inner.solver.found.values())[-1].row == told


# ---------------------------------------------------------------------------------------------------------------------
# Where positions are not known
# ---------------------------------------------------------------------------------------------------------------------

RAISED = ((None, "Qh"), ("call", None), (None, "raise"))


def searching(draws: int, seed: int = 0, **effort) -> SubgameAgent:
    """An agent for Leduc poker's first player, with a generator of its own for what it draws in the game."""
    agent = SubgameAgent(Budget(nodes=20_000, seed=seed), "order-2", Effort(**effort))
    agent.begin(load("leduc_poker"), 0, np.random.default_rng(draws), None)
    return agent


def row_after(agent: SubgameAgent, asked: bool = False) -> list[float] | None:
    """Its probabilities after a call that was raised; with ``asked``, it searched before its call as well."""
    for own_action, observation in RAISED:
        if asked and own_action is not None:
            agent.act(("call", "raise"), None)
        agent.observe(own_action, observation)
    return agent.compute_probabilities(("fold", "call", "raise"), np.inf)


def test_an_agent_that_knows_no_positions_finds_the_same_in_every_game() -> None:
    row = row_after(searching(1, sets=2, steps=2))
    assert row_after(searching(2, sets=2, steps=2), asked=True) == row


def test_worlds_are_drawn_from_the_seed_and_what_was_seen() -> None:
    found = [row_after(searching(draws, seed, sets=1, steps=1)) for draws, seed in ((1, 0), (2, 0), (1, 1))]
    assert found[0] == found[1] != found[2]
