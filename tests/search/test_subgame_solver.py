"""Subgames cut from the graph, what lies behind their horizon, and the agent that solves them."""

import numpy as np
import pytest

from infoset import load
from infoset.search.belief import BeliefTracker, whole
from infoset.search.state_values import informed_values, random_values
from infoset.search.subgame import Subgame
from infoset.search.subgame_solver import Effort, SubgameSolver, induced_policy
from infoset.solvers.metrics import evaluate_plan as evaluate
from infoset.solvers.tabular.cfr import pcfr_plus
from infoset.solving import solve
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import explore
from infoset.tree.plans import behaviour, realisation, uniform
from infoset.tree.sequence_form import SequenceForm
from slow_beliefs import state_of


def below(graph, worlds, depth, values) -> GameTree:
    """The game that ends so many steps after the choice of a world."""
    found = Subgame(graph, worlds)
    while found.goes_on and len(found.steps) < depth:
        found.grow()
    return GameTree.unroll(found.game(values))


def value_of_random_play(form: SequenceForm) -> tuple[float, ...]:
    return evaluate(form, realisation(form, uniform(form))).values


GAMES = ["kuhn_poker", "gdl:scissors_double", "goofspiel(num_cards=3)", "leduc_poker", "gdl:monty_hall"]


@pytest.mark.parametrize("name", GAMES)
def test_random_values_are_those_of_the_uniform_profile(name) -> None:
    graph = explore(load(name))
    form = SequenceForm.of(GameTree.unroll(graph))
    np.testing.assert_allclose(random_values(graph)[0], value_of_random_play(form), atol=1e-9)


@pytest.mark.parametrize("name", GAMES)
def test_the_subgame_at_the_start_is_the_game(name) -> None:
    ranges = BeliefTracker(explore(load(name)))
    worth = random_values(ranges.graph)
    tree = below(ranges.graph, whole(ranges.graph), 1000, worth.__getitem__)
    assert len(tree.parent) == 1 + len(GameTree.unroll(ranges.graph).parent)
    found = solve(SequenceForm.of(tree), method="lp") if len(ranges.graph.players) == 2 else None
    if found:
        expected = solve(SequenceForm.of(GameTree.unroll(ranges.graph)), method="lp")
        assert found.values == pytest.approx(expected.values)


def test_behind_the_horizon_stand_the_values() -> None:
    """One step of goofspiel with three cards, then random play: a matrix that can be worked out by hand."""
    graph = explore(load("goofspiel(num_cards=3)"))
    worth = random_values(graph)
    tree = below(graph, whole(graph), 2, worth.__getitem__)
    ends = np.flatnonzero(tree.graph.player[tree.position] == -2)
    steps = {len(tree.history(int(end))) for end in ends}
    assert steps == {5}  # the world, a prize, two bids, the next prize
    form = SequenceForm.of(tree)
    assert value_of_random_play(form) == pytest.approx(tuple(worth[0]))


@pytest.mark.parametrize(
    ("root", "switches"), [("own", 1.0), ("order-2", 1.0), ("per-world", 2 / 3)]
)  # fmt: skip
def test_monty_halls_player(root, switches) -> None:
    """Strategy fusion: a policy for each world, averaged, stays with the first door in one world of three."""
    from slow_beliefs import states_asked

    _, states = states_asked("gdl:monty_hall", 0)
    known = next(known for known in states if len(known) == 2)
    ranges = BeliefTracker(explore(load("gdl:monty_hall")))
    worth = random_values(ranges.graph)
    row = SubgameSolver(ranges, worth.__getitem__, root).strategy_at(0, state_of(ranges, 0, known))
    probabilities = dict(zip(("noop", "switch"), row, strict=True))
    assert probabilities["switch"] == pytest.approx(switches, abs=0.01)


def test_scissors_that_count_double() -> None:
    ranges = BeliefTracker(explore(load("gdl:scissors_double")))
    solver = SubgameSolver(ranges, random_values(ranges.graph).__getitem__, "own", Effort(iterations=1000))
    legal_actions = load("gdl:scissors_double").start().state.legal_actions(0)
    probabilities = dict(zip(legal_actions, solver.strategy_at(0, 0), strict=True))
    assert probabilities == pytest.approx({"paper": 0.4, "rock": 0.4, "scissors": 0.2}, abs=0.01)


@pytest.mark.parametrize(("steps", "positions"), [(1, 2), (2, 1), (100, 0)])
def test_it_looks_as_far_ahead_as_it_is_told(steps, positions) -> None:
    """Kuhn poker with a king, beside which jack and queen are one position: after a step it was a pass or a bet, after two
    the game goes on where a bet answered a pass; then it is over."""
    ranges, met = BeliefTracker(explore(load("kuhn_poker"))), set()

    def values(asked):
        met.update(asked.tolist())
        return np.zeros((len(asked), 2))

    assert SubgameSolver(ranges, values, "own", Effort(steps=steps)).strategy_at(0, state_of(ranges, 0, ((None, "K"),)))
    assert len(met) == positions


def test_stopping_at_random_is_the_plain_mean_of_what_is_played() -> None:
    """By hand: the current profiles of the same solver on the same subgame, one by one."""
    ranges = BeliefTracker(explore(load("gdl:scissors_double")))
    values = random_values(ranges.graph).__getitem__
    tree = below(ranges.graph, ranges.asked(0, 0), 1, values)
    form = SequenceForm.of(tree)
    work, profiles = pcfr_plus().solver(form), []
    for _ in range(40):
        work.step(1)
        profiles.append(behaviour(form, work.current()))
    mine = form.player_infosets(0)[0]
    first = int(form.arrays.first[mine])
    expected = np.mean(profiles, axis=0)[first : first + 3]
    found = SubgameSolver(ranges, values, "own", Effort(iterations=40, stopping="random")).strategy_at(0, 0)
    assert found == pytest.approx(expected.tolist())
    assert found != pytest.approx(
        SubgameSolver(ranges, values, "own", Effort(iterations=40)).strategy_at(0, 0), abs=1e-3
    )
    assert found == pytest.approx([0.4, 0.4, 0.2], abs=0.1)


def exploitability(name: str, root: str) -> float:
    """Of what the search would play, asked at every information set."""
    graph = explore(load(name))
    tree = GameTree.unroll(graph)
    form = SequenceForm.of(tree)
    effort = Effort(sets=1000, others=1000)
    solver = SubgameSolver(BeliefTracker(graph), informed_values(graph).__getitem__, root, effort)
    return evaluate(form, induced_policy(solver, tree, form)).exploitability


def test_what_no_subgame_is_found_for_has_no_row() -> None:
    """Where no history leads, where nothing fits, and where there is no choice; whoever asks then plays evenly."""
    ranges = BeliefTracker(explore(load("kuhn_poker")))
    values = random_values(ranges.graph).__getitem__
    nowhere = ranges.successor(0, 0)
    for record in range(len(ranges.graph.records)):
        nowhere = ranges.successor(nowhere, record)
    king = state_of(ranges, 0, ((None, "K"),))
    for effort, state in ((Effort(), nowhere), (Effort(histories=1), king)):
        solver = SubgameSolver(ranges, values, "own", effort)
        assert solver.strategy_at(0, state) is None
        tree = GameTree.unroll(ranges.graph)
        form = SequenceForm.of(tree)
    np.testing.assert_array_equal(induced_policy(solver, tree, form), realisation(form, uniform(form)))


def test_whom_the_root_leaves_out_it_cannot_bluff() -> None:
    """Kuhn poker: a root of one's own set alone tells the other one's card; order-2 tells it less."""
    assert exploitability("kuhn_poker", "own") == pytest.approx(1 / 6, abs=1e-3)
    assert exploitability("kuhn_poker", "order-2") == pytest.approx(1 / 12, abs=1e-3)
