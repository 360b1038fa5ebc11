"""Subgames of common knowledge: found where they are, solved once, worth what the whole game is."""

import numpy as np
import pytest

from infoset import GameTree, SequenceForm, evaluate, load
from infoset.solvers.tabular.cfr import pcfr_plus
from infoset.solvers.tabular.linear_program import linear_program
from infoset.solvers.tabular.public_subgames import evaluate_public, solve_public
from infoset.tree.game_tree import ROOT
from infoset.tree.graph import explore
from infoset.tree.subgames import public_positions
from random_games import RandomGame

MEIER = 64.7939009157


def by_iteration(tree, form):
    solver = pcfr_plus().solver(form)
    solver.step(3000)
    return solver.average()


def test_meiers_value_by_two_routes() -> None:
    """8e28 histories; 40 subgames, by linear programming and by CFR."""
    graph = explore(load("gdl:meier"))
    exact, iterated = solve_public(graph), solve_public(graph, by_iteration)
    assert exact.values[0] == pytest.approx(MEIER, abs=1e-9)
    assert iterated.values[0] == pytest.approx(exact.values[0], abs=1e-6)
    assert sum(exact.values) == pytest.approx(100)
    assert evaluate_public(exact.policy(), graph).nash_conv < 1e-9
    assert evaluate_public(iterated.policy(), graph).nash_conv < 1e-6


def test_games_of_open_moves_are_public_everywhere() -> None:
    """Goofspiel shows every bid: a subgame after every round, each of one simultaneous move."""
    graph = explore(load("goofspiel(num_cards=3)"))
    solution = solve_public(graph)
    whole = SequenceForm.of(load("goofspiel(num_cards=3)"))
    assert len(solution.roots) > 10
    assert solution.values == pytest.approx(evaluate(whole, linear_program(whole)).values, abs=1e-6)


def test_poker_is_public_only_at_the_start() -> None:
    graph = explore(load("leduc_poker"))
    assert len(solve_public(graph).roots) == 1


def never_confused(tree: GameTree) -> set[int]:
    """Where steps begin that nobody takes for another position, by comparing all histories: a literal twin."""
    known = {ROOT: tuple(range(len(tree.players)))}
    alike: dict[tuple[int, object], set[int]] = {}
    begins = {ROOT: True}
    for node in range(1, len(tree.parent)):
        above = int(tree.parent[node])
        edge = int(tree.edges(np.array([node], dtype=np.int32))[0])
        records = tree.graph.record[edge].tolist()
        known[node] = tuple(k if t < 0 else (k, t) for k, t in zip(known[above], records, strict=True))
        begins[node] = any(t >= 0 for t in records)
    for node, states in known.items():
        if begins[node]:
            for player, state in enumerate(states):
                alike.setdefault((player, state), set()).add(int(tree.position[node]))
    confused = {p for together in alike.values() if len(together) > 1 for p in together}
    return {int(tree.position[node]) for node, begin in begins.items() if begin} - confused | {ROOT}


@pytest.mark.parametrize("seed", range(30))
def test_public_positions_are_those_that_nobody_confuses(seed) -> None:
    tree = GameTree.of(RandomGame(seed, 2 + seed % 2, 4))
    assert set(public_positions(tree.graph).tolist()) == never_confused(tree)


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "gdl:monty_hall"])
def test_the_pieces_are_worth_the_whole(name) -> None:
    form = SequenceForm.of(load(name))
    whole = evaluate(form, linear_program(form)) if form.zero_sum else None
    graph = explore(load(name))
    solution = solve_public(graph)
    if whole is not None:
        assert solution.values[0] == pytest.approx(whole.values[0], abs=1e-6)
    assert evaluate_public(solution.policy(), graph).nash_conv < 1e-6
