"""Exact figures by beliefs: those of the sequence form, on games small enough for both."""

import signal

import numpy as np
import pytest

from extent import mark_slow, sample
from infoset import GameTree, SequenceForm, evaluate, load, solve
from infoset.errors import CheckpointError
from infoset.policies.infoset_policy import InfosetPolicy
from infoset.solvers.sampling.belief_response import BeliefResponse, PolicyEvaluation, evaluate_policy
from infoset.solvers.sampling.infoset_table import InfosetTable, add_row, add_state
from infoset.solvers.sampling.mccfr import Mccfr
from infoset.tree.graph import NO_RECORD
from infoset.tree.plans import random_interior, realisation
from infoset.tree.quotient_graph import QuotientGraph
from infoset.tree.symmetry import find_symmetry, no_symmetry
from random_games import RandomGame


def as_policy(tree: GameTree, form: SequenceForm, strategy) -> InfosetPolicy:
    """The behaviour of a sequence form, state by state."""
    group = no_symmetry(tree.graph).group
    table = InfosetTable.empty(len(tree.players), group).with_room(len(tree.states.parent), form.num_sequences)
    state = list(range(len(tree.players)))
    for parent, record in list(zip(tree.states.parent, tree.states.record, strict=True))[len(tree.players) :]:
        assert record != NO_RECORD
        state.append(add_state(table, group, state[parent], record))
    behaviour = np.zeros(form.num_sequences)
    place = {(p, key): k for k, (p, key) in enumerate(zip(form.infoset_player.tolist(), form.keys, strict=True))}
    for k, known in enumerate(tree.infoset_state.tolist()):
        found = place.get((int(tree.infoset_player[k]), tree.key(k)))
        if found is not None:
            size, first = int(form.arrays.size[found]), int(form.arrays.first[found])
            action_set = tree.graph.action_sets.index(tree.action_set(k))
            row = add_row(table, state[known], action_set, size)
            behaviour[row : row + size] = strategy[first : first + size]
    return table.policy(behaviour)


GAMES = [
    "kuhn_poker",
    "kuhn_poker(players=3)",
    "leduc_poker",
    "liars_dice(dice_sides=3)",
    "goofspiel(num_cards=3)",
    "gdl:monty_hall",
]


@pytest.mark.parametrize(
    "game", [load(n) for n in GAMES] + [RandomGame(k, 2 + k % 2, 4) for k in range(sample(12, 25))]
)
def test_figures_equal_those_of_the_sequence_form(game) -> None:
    tree = GameTree.of(game)
    form = SequenceForm.of(tree)
    strategy = random_interior(form, np.random.default_rng(5))
    expected = evaluate(form, realisation(form, strategy))
    found = evaluate_policy(QuotientGraph.of(tree.graph), as_policy(tree, form, strategy))
    assert found.values == pytest.approx(expected.values, abs=1e-9)
    assert found.best_response_values == pytest.approx(expected.best_response_values, abs=1e-9)
    assert found.nash_conv == pytest.approx(expected.nash_conv, abs=1e-9)


def test_what_a_table_does_not_know_is_played_uniformly() -> None:
    tree = GameTree.of(load("leduc_poker"))
    walk = QuotientGraph.of(tree.graph)
    table = InfosetTable.empty(2, walk.group)
    found = evaluate_policy(walk, table.policy(table.average_behaviour(walk.group)))
    assert found.nash_conv == pytest.approx(4.747222, abs=1e-6)  # OpenSpiel: uniform Leduc


def test_it_can_be_cut_into_steps_and_needs_little_room_at_first(monkeypatch) -> None:
    monkeypatch.setattr("infoset.solvers.sampling.belief_response.FIRST_ROOM", 2)
    walk = QuotientGraph.of(GameTree.of(load("leduc_poker")).graph)
    solver = Mccfr(walk, 1)
    solver.step(200)
    policy = solver.policy()
    expected = evaluate_policy(walk, policy)
    response = BeliefResponse(walk, policy, 0)
    shares = []
    while not response.step(7):
        shares.append(response.share)
    assert response.values[0] == pytest.approx(expected.best_response_values[0])
    assert shares[-1] > 0.5 > shares[0]


@pytest.mark.parametrize("edges", [1, 7, 1000])
def test_an_evaluation_that_was_cut_goes_on_elsewhere(edges, monkeypatch) -> None:
    monkeypatch.setattr("infoset.solvers.sampling.belief_response.FIRST_ROOM", 4)  # it has to grow now and then
    walk = QuotientGraph.of(GameTree.of(load("leduc_poker")).graph)
    solver = Mccfr(walk, 1)
    solver.step(200)
    policy = solver.policy()
    expected, work = evaluate_policy(walk, policy), PolicyEvaluation(walk, policy)
    for _ in range(60):
        work.step(edges)
        other = PolicyEvaluation(walk, policy)
        other.restore(work.save())
        assert other.share == work.share
        work = other
    while not work.step():
        pass
    assert work.result == expected


def test_an_evaluation_of_another_policy_is_refused() -> None:
    walk = QuotientGraph.of(GameTree.of(load("kuhn_poker")).graph)
    solver = Mccfr(walk, 1)
    solver.step(10)
    work = PolicyEvaluation(walk, solver.policy())
    work.step(1)
    saved = work.save()
    with pytest.raises(CheckpointError, match="does not fit"):
        PolicyEvaluation(walk, solver.policy()).restore({**saved, "0.line.value": np.zeros(3)})
    solver.step(10)
    with pytest.raises(CheckpointError, match="of another policy"):
        PolicyEvaluation(walk, solver.policy()).restore(saved)


def test_an_interrupted_evaluation_is_kept_in_the_folder(tmp_path, monkeypatch) -> None:
    """Ctrl-C in the midst of it; the run that goes on ends with the figures of one that was not cut."""
    shares = []

    def slowly(work, edges=20):
        done = step(work, edges)
        shares.append(work.share)
        if len(shares) == 30:
            signal.raise_signal(signal.SIGINT)
        return done

    step = PolicyEvaluation.step
    monkeypatch.setattr(PolicyEvaluation, "step", slowly)
    monkeypatch.setattr("infoset.sizes.SAMPLES_EVALUATED", 0)
    cut = solve("leduc_poker", "mccfr", iterations=100, out=tmp_path / "run")
    assert cut.exploitability is None
    assert "stopped before it was evaluated" in cut.why_not
    assert (tmp_path / "run" / "evaluation.npz").exists()
    found = solve(out=tmp_path / "run", resume=True)
    steps = len(shares)
    assert not (tmp_path / "run" / "evaluation.npz").exists()
    whole = solve("leduc_poker", "mccfr", iterations=100)
    assert found.nash_conv == whole.nash_conv
    assert len(shares) - steps == steps  # it did not begin anew


def sampled(game, players_symmetric: bool, iterations: int = 300):
    """A walk, over the game's symmetries or not, and what sampling made on it."""
    graph = GameTree.of(load(game)).graph if isinstance(game, str) else GameTree.of(game).graph
    walk = QuotientGraph.of(graph, find_symmetry(graph) if players_symmetric else None)
    solver = Mccfr(walk, 1)
    solver.step(iterations)
    return walk, solver.policy()


RESPONDED = ["kuhn_poker(players=3)", "leduc_poker", "gdl:monty_hall", "gdl:scissors_double", "goofspiel(num_cards=4)"]


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize(
    "game", [*mark_slow(RESPONDED, {"goofspiel(num_cards=4)"}), *[RandomGame(k, 2 + k % 2, 4) for k in range(8)]]
)
def test_the_best_response_as_a_policy_is_worth_what_it_says(game, symmetric, monkeypatch) -> None:
    monkeypatch.setattr("infoset.solvers.sampling.belief_response.FIRST_ROOM", 4)
    walk, policy = sampled(game, symmetric)
    for player in range(walk.num_players):
        response = BeliefResponse(walk, policy, player, record=True)
        while not response.step(100):
            other = BeliefResponse(walk, policy, player, record=True)
            other.restore(response.save())
            response = other
        found = evaluate_policy(walk, response.best())
        assert found.values[player] == pytest.approx(response.values[0], rel=1e-12, abs=1e-12)
        assert found.best_response_values[player] == pytest.approx(response.values[0], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("game", ["kuhn_poker(players=3)", "gdl:scissors_double", "gdl:monty_hall", "leduc_poker"])
def test_symmetries_change_no_figures_of_the_same_policy(game) -> None:
    walk, policy = sampled(game, players_symmetric=True, iterations=0)  # uniform on either walk
    other, same = sampled(game, players_symmetric=False, iterations=0)
    assert evaluate_policy(walk, policy).best_response_values == pytest.approx(
        evaluate_policy(other, same).best_response_values, rel=1e-12
    )
