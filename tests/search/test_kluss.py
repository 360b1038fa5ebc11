"""Knowledge-limited unfrozen subgame solving: the growing tree, its solution, and what the agent plays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import infoset
from infoset import load, load_agent, play_match
from infoset.errors import ParameterError
from infoset.search.belief import whole
from infoset.search.growing_solver import GrowingSolver
from infoset.search.growing_subgame import CHANCE_NODE, LEAF, LEAVES, NONE, evaluate_average
from infoset.search.histories import Belief
from infoset.search.kluss import KlussAgent
from infoset.search.leaf_values import CachedLeaves, RandomPlays
from infoset.tree.rules_source import build_lazy_graph


def planted(name: str, player: int = 0) -> GrowingSolver:
    """Return a solver whose tree has only the start of a game."""
    graph = build_lazy_graph(load(name))
    solver = GrowingSolver(graph, CachedLeaves(RandomPlays(graph, 1, 0), len(graph.players)), player, 0.5, 1)
    solver.begin(whole(graph), np.full(1, NONE), 0, np.zeros(0), None)
    return solver


def pcfr_plus(solver: GrowingSolver, iterations: int) -> dict[int, np.ndarray]:
    """Return the average strategies of PCFR+ by information state: a slow twin of the kernels, node by node."""
    t, n = solver.tree, solver.n
    sets = range(int(t.filled[1]))
    sizes = np.diff(t.begin[: len(sets) + 1])
    regret, last = ([np.zeros(k) for k in sizes] for _ in range(2))
    strategy, average = [np.full(k, 1 / k) for k in sizes], [np.zeros(k) for k in sizes]

    def walk(
        k: int, player: int, weight: float, reach: float, gain: list[np.ndarray], reached: dict[int, float]
    ) -> float:
        s, below = int(t.infoset[k]), range(int(t.first[k]), int(t.first[k]) + int(t.size[k]))
        if not below:
            return float(t.value[k, player])
        if s == CHANCE_NODE:
            return sum(float(t.chance[c]) * walk(c, player, weight * t.chance[c], reach, gain, reached) for c in below)
        row, mine = strategy[s], t.owner[s] == player
        if mine:
            reached[s] = reach
        values = [
            walk(c, player, weight if mine else weight * p, reach * p if mine else reach, gain, reached)
            for c, p in zip(below, row, strict=True)
        ]
        if mine:
            gain[s] += weight * np.array(values)
        return float(row @ values)

    for step in range(1, iterations + 1):
        for player in range(n):
            gain, reached = [np.zeros(k) for k in sizes], dict[int, float]()
            walk(0, player, 1.0, 1.0, gain, reached)
            for s in sets:
                if t.owner[s] == player:
                    average[s] += step**2 * reached[s] * strategy[s]
                    last[s] = gain[s] - strategy[s] @ gain[s]
                    regret[s] = np.maximum(regret[s] + last[s], 0)
                    positive = np.maximum(regret[s] + last[s], 0)
                    strategy[s] = positive / positive.sum() if positive.sum() > 0 else np.full(sizes[s], 1 / sizes[s])
    return {int(t.state[s]): average[s] / average[s].sum() for s in sets}


def test_iterations_are_those_of_a_slow_twin() -> None:
    solver = planted("kuhn_poker")
    while not solver.complete:
        solver.grow(8, 0)
    expected = pcfr_plus(solver, 12)
    solver.iterate(5)
    solver.iterate(7)
    assert len(expected) == 12
    for state, row in expected.items():
        assert solver.row(state, "average") == pytest.approx(row, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "histories"), [("kuhn_poker", 58), ("rock_paper_scissors", 13), ("gdl:monty_hall", None)]
)
def test_a_small_game_is_expanded_to_its_ends(name: str, histories: int | None) -> None:
    """One node more than the game has histories: the root chooses the start, and simultaneous moves are successive."""
    solver = planted(name)
    turn = 0
    while not solver.complete and turn < 1000:
        solver.grow(64, (0, 1, -1)[turn % 3])
        turn += 1
    tree, count = solver.tree, solver.nodes
    assert solver.complete and tree.filled[LEAVES] == 0 and not (tree.infoset[:count] == LEAF).any()
    if histories is not None:
        assert count == 1 + histories
    parents = np.repeat(np.arange(count), tree.size[:count])
    assert len(parents) == count - 1
    first = np.sort(tree.first[:count][tree.size[:count] > 0])
    assert first[0] == 1 and (parents[np.argsort(parents, kind="stable")] < np.arange(1, count)).all()


def test_a_part_that_is_carried_over_is_the_same_tree() -> None:
    before = planted("leduc_poker")
    while not before.complete:
        before.grow(256, -1)
    before.iterate(200)
    evaluate_average(before.tree, 0)
    t, count = before.tree, before.nodes
    node = next(k for k in range(1, count) if t.infoset[k] >= 0)
    root = Belief(t.position[[node]], t.infostate[[node]], np.ones(1))
    after = GrowingSolver(before.graph, before.leaves, 0, 0.5, 2)
    after.begin(root, np.full(1, NONE), 1, np.zeros(0), before)
    below = np.zeros(count, dtype=bool)
    below[node] = True
    for k in range(count):
        if below[k]:
            below[t.first[k] : t.first[k] + t.size[k]] = True
    assert after.complete and after.nodes == 1 + below.sum()
    evaluate_average(after.tree, 0)
    assert after.tree.found[0] == pytest.approx(after.tree.found[1])


def test_the_opponent_takes_the_exit_that_pays_more() -> None:
    """An exit worth more than any payoff is always taken, one worth less never."""
    solver = planted("kuhn_poker")
    start = whole(solver.graph)
    for worth, enters in ((3.0, 0.0), (-3.0, 1.0)):
        here = GrowingSolver(solver.graph, solver.leaves, 0, 0.5, 3)
        here.begin(start, np.zeros(1, np.int64), 1, np.array([worth]), None)
        while not here.complete:
            here.grow(64, -1)
        here.iterate(50)
        assert here.tree.strategy[0] == pytest.approx(enters, abs=1e-3)


@pytest.mark.parametrize("name", ["kuhn_poker", "goofspiel(num_cards=3,imp_info=true)"])
def test_small_games_are_played_exactly(name: str) -> None:
    """Asked at every information set, it plays one equilibrium: its searches find the same one at all of them."""
    assert infoset.evaluate(name, load_agent("kluss(nodes=5000)")).exploitability < 0.02


@pytest.mark.slow
def test_leduc_poker_is_played_well() -> None:
    policy = load_agent("kluss(nodes=20000)")
    assert infoset.evaluate("leduc_poker", policy).exploitability < 0.2


def test_the_door_is_changed() -> None:
    """No strategy fusion: at Monty Hall the same action in both worlds, the one that wins twice as often."""
    game, agent = load("gdl:monty_hall"), KlussAgent(load_agent("kluss(nodes=300)").kluss)
    changed = [play_match(game, [agent, "random"][: len(game.players)], seed=k).returns[0] for k in range(60)]
    assert np.mean(changed) == pytest.approx(200 / 3, abs=3 * 100 * np.sqrt(2 / 9 / 60))


@pytest.mark.parametrize(
    "name", ["kuhn_poker(players=3)", "openspiel:blackjack", "gdl:krieg_tic_tac_toe", "openspiel:phantom_ttt"]
)
def test_it_plays_whatever_the_number_of_players(name: str) -> None:
    if name.startswith("openspiel:"):
        pytest.importorskip("pyspiel", reason="the extra 'openspiel' is not installed")
    game = load(name)
    match = play_match(game, [load_agent("kluss(nodes=60)"), *["random"] * (len(game.players) - 1)], seed=3)
    assert not match.faults


def test_a_move_without_time_is_legal_and_says_why() -> None:
    agent = load_agent("kluss(seconds_per_move=1e-6)")
    match = play_match("leduc_poker", [agent, "random"], seed=2)
    assert not match.faults and agent.unknown == len(agent.faults) > 0
    assert "time limit" in agent.faults[0]


def test_a_single_leaf_is_a_limit_too() -> None:
    agent = load_agent("kluss(nodes=1)")
    play_match("leduc_poker", [agent, "random"], seed=2)
    assert agent.last.solver.nodes < 500


def test_what_was_asked_before_changes_nothing() -> None:
    """An information set's probabilities do not depend on those that were asked first, nor on what is cached of them."""
    game, agent = load("leduc_poker"), load_agent("kluss(nodes=20000)")
    kings, raised = (((None, "Kh"), (action, ()), (None, "raise")) for action in ("call", "raise"))

    def ask(asked: KlussAgent, path: tuple[tuple[Any, Any], ...], legal_actions: tuple[str, ...]) -> list[float]:
        asked.begin(game, 0, np.random.default_rng(0), None)
        for own_action, seen in path:
            asked.observe(own_action, seen)
        return list(asked.report_probabilities(legal_actions))

    alone = ask(load_agent("kluss(nodes=20000)"), kings, ("fold", "call", "raise"))
    ask(agent, raised, ("fold", "call"))
    assert ask(agent, kings, ("fold", "call", "raise")) == alone


def test_wrong_parameters_are_refused() -> None:
    for text, why in (
        ("worlds=0", "worlds=0"),
        ("played=best", "did you mean|average, last"),
        ("playouts=-1", "playouts=-1"),
    ):
        with pytest.raises(ParameterError, match=why):
            load_agent(f"kluss({text})")
