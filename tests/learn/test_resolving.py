"""Public states, and continual re-solving from one to the next: by hand, against whole games, and what gadgets are for."""

from typing import NamedTuple

import numpy as np
import pytest

from infoset import load
from infoset.base import Observed
from infoset.errors import BudgetError
from infoset.games.rules import Rules
from infoset.learn.public_states import Horizon, PublicStates
from infoset.learn.resolving import (
    ContinualResolving,
    PositionValues,
    Resolving,
    Root,
    gadget,
    leaf_ranges,
    start,
)
from infoset.search.belief import BeliefTracker
from infoset.search.state_values import informed_values, random_values
from infoset.search.subgame_solver import induced_policy
from infoset.solvers.metrics import evaluate_plan as evaluate
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import explore
from infoset.tree.sequence_form import SequenceForm

BETTING_ROUND = Horizon(stop_at_chance=True)


def exploitability(states: PublicStates, values, iterations: int = 300) -> float:
    tree = GameTree.unroll(states.graph)
    form = SequenceForm.of(tree)
    solver = ContinualResolving(BeliefTracker(states.graph), states, values, iterations)
    return evaluate(form, induced_policy(solver, tree, form)).exploitability


class ExactValues:
    """Leaves are solved to the end with the ranges they are asked with: what a perfect network would say."""

    def __init__(self, states: PublicStates, iterations: int = 100) -> None:
        self.states, self.iterations = states, iterations
        self.whole = PublicStates(states.graph)

    def __call__(self, leaves, ranges):
        worth = np.zeros((len(leaves.position), ranges.shape[1]))
        for j, number in enumerate(leaves.state.tolist()):
            state = self.states.states[number]
            come = tuple(ranges[j, p, :places] for p, places in enumerate(state.places))
            ahead = self.whole.ahead(self.whole.number(state))
            work = Resolving(ahead, Root(come, (np.zeros(1),) * 2), PositionValues(None))
            work.step(self.iterations)
            rows = np.flatnonzero(leaves.child == j)
            for p, values in enumerate(work.root_values()):
                other = come[1 - p][state.place[:, 1 - p]]
                likely = np.bincount(state.place[:, p], state.chance * other, minlength=len(values))
                worth[rows, p] = (values / np.maximum(likely, 1e-12))[leaves.place[rows, p]]
        return worth


def test_leduc_s_public_states_are_the_ways_to_the_second_round() -> None:
    """Two checks, a raise and a call, or two raises and a call, the latter two begun by either: pots of 2, 6 and 10."""
    states = PublicStates(explore(load("leduc_poker")), BETTING_ROUND)
    states.explore()
    assert [state.places for state in states.states] == [[1, 1], [6, 6], [6, 6], [6, 6]]
    leaves = states.ahead(0).leaves
    assert leaves.state.tolist() == [1, 2, 2, 3, 3]
    assert len(leaves.position) == 5 * 30
    np.testing.assert_allclose(leaves.scale, 1.0)
    assert all(len(states.ahead(k).leaves.position) == 0 for k in (1, 2, 3))


def test_liar_s_dice_has_a_public_state_for_each_last_bid_of_each_player() -> None:
    """After an even number of bids the first player moves: nothing, or a bid from the second of eight on."""
    states = PublicStates(explore(load("liars_dice(dice_sides=4)")), Horizon(2))
    states.explore()
    assert len(states.states) == 1 + 7
    states = PublicStates(explore(load("liars_dice(dice_sides=4)")), Horizon(1))
    states.explore()
    assert len(states.states) == 1 + 8 + 7


class Told(NamedTuple):
    """A game in which player 1 moves unseen, then player 2: 3 for both choosing x, 1 for both choosing y."""

    first: str | None = None
    both: str = ""

    @property
    def terminal(self) -> bool:
        return bool(self.both)

    def legal_actions(self, player):
        return () if self.terminal or player != (self.first is not None) else ("x", "y")

    def chance_outcomes(self, actions):
        return ()

    def play(self, actions, chance_outcome=None):
        if self.first is None:
            return Observed(Told(actions[0]), (None, None))
        return Observed(Told(self.first, self.first + actions[1]), (None, None))

    def returns(self):
        paid = {"xx": 3.0, "yy": 1.0}.get(self.both, 0.0)
        return (paid, -paid)


def rows(states: PublicStates) -> list[int]:
    """How many moves the solver has at each information set."""
    tree = GameTree.unroll(states.graph)
    form = SequenceForm.of(tree)
    solver = ContinualResolving(
        BeliefTracker(states.graph), states, PositionValues(random_values(states.graph).__getitem__), 20
    )
    found = []
    ask = solver.strategy_at
    solver.strategy_at = lambda player, state: found.append(len(ask(player, state))) or ask(player, state)
    induced_policy(solver, tree, form)
    assert found == form.arrays.size.tolist()
    return found


@pytest.mark.parametrize("chance_outcome", [False, True])
@pytest.mark.parametrize("name", ["gdl:monty_hall", "goofspiel(num_cards=3)", "kuhn_poker(players=3)", "leduc_poker"])
def test_every_information_set_is_answered(name, chance_outcome) -> None:
    """Horizons that somebody cannot see are moved: nobody is asked before or behind one by mistake."""
    states = PublicStates(explore(load(name)), Horizon(1 if not chance_outcome else 1000, chance_outcome))
    states.explore()
    assert rows(states)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_every_information_set_of_dark_hex_is_answered(steps) -> None:
    pytest.importorskip("pyspiel")
    assert rows(PublicStates(explore(load("openspiel:dark_hex(num_rows=2,num_cols=2)")), Horizon(steps)))


def test_where_nobody_can_tell_that_nature_is_to_answer_the_horizon_is_the_end() -> None:
    """Meier's dice fall in the step of a move; its end is too far away."""
    states = PublicStates(explore(load("gdl:meier")), Horizon(stop_at_chance=True))
    with pytest.raises(BudgetError, match="histories"):
        states.ahead(0)


def test_who_sees_nothing_comes_to_the_horizon_all_the_same() -> None:
    graph = explore(Rules("told", ("one", "two"), Observed(Told(), (None, None))))
    states = PublicStates(graph, Horizon(1))
    assert rows(states)
    assert exploitability(states, ExactValues(states, 200), 300) < 0.05  # who is not answered plays uniformly: .5


GAMES = ["kuhn_poker", "goofspiel(num_cards=3)", "gdl:scissors_double", "leduc_poker", "gdl:monty_hall"]


@pytest.mark.parametrize("name", GAMES)
def test_without_a_horizon_it_solves_the_game(name) -> None:
    states = PublicStates(explore(load(name)))
    spread = np.ptp(states.graph.payoffs)
    assert exploitability(states, None, 1000) < 2e-3 * spread
    assert len(states.states) == 1


@pytest.mark.parametrize("name", ["leduc_poker", pytest.param("liars_dice(dice_sides=3)", marks=pytest.mark.slow)])
def test_what_one_wins_the_other_loses(name) -> None:
    """Root values weighted by how likely places are: those of both players, at the same strategies."""
    horizon = BETTING_ROUND if name == "leduc_poker" else Horizon(1)
    states = PublicStates(explore(load(name)), horizon)
    states.explore()
    rng = np.random.default_rng(2)
    for number in (1, 2, 3):
        come = tuple(rng.dirichlet(np.ones(places)) for places in states.states[number].places)
        work = Resolving(states.ahead(number), Root(come, (np.zeros(1),) * 2), ExactValues(states, 500))
        work.step(500)
        one, other = (float(mine @ values) for mine, values in zip(come, work.root_values(), strict=True))
        assert one == pytest.approx(-other, abs=2e-3)


def test_with_exact_values_behind_the_horizon_play_is_nearly_an_equilibrium() -> None:
    graph = explore(load("leduc_poker"))
    states = PublicStates(graph, BETTING_ROUND)
    exact = exploitability(states, ExactValues(states, 60), 100)
    open_cards = exploitability(states, PositionValues(informed_values(graph).__getitem__), 100)
    assert exact < 0.05
    assert open_cards > 0.2


def test_the_gadget_keeps_what_was_promised() -> None:
    """From every leaf of the first round: who may choose whether to come gets no more than was promised."""
    states = PublicStates(explore(load("leduc_poker")), BETTING_ROUND)
    work = Resolving(states.ahead(0), start(2), ExactValues(states, 100))
    work.step(150)
    above = work.solved()
    for leaf, number in enumerate(above.ahead.leaves.state.tolist()):
        for player in range(2):
            root = gadget(above, leaf, player)
            resolved = Resolving(states.ahead(number), root, None)
            resolved.step(500)
            gains = resolved.root_values()[1 - player] - root.promised[1 - player]
            assert gains.max() < 2e-3


def test_solving_again_with_ranges_alone_is_not_safe() -> None:
    """Without the gadget either player may come with what the other does not expect (specs/search.md, pitfalls)."""
    states = PublicStates(explore(load("kuhn_poker")), Horizon(1))
    values = ExactValues(states, 100)
    safe = exploitability(states, values, 150)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("infoset.learn.resolving.gadget", ranges_alone)
        unsafe = exploitability(states, values, 150)
    assert safe < 0.02
    assert unsafe > 0.1


def ranges_alone(above, leaf, player) -> Root:
    ranges = leaf_ranges(above.ahead.leaves, above.plan)[leaf]
    places = (above.ahead.leaves.lead[leaf] >= 0).sum(axis=1)
    return Root(tuple(ranges[p, : places[p]] for p in range(2)), (np.zeros(1),) * 2)


def test_any_number_of_players() -> None:
    """Uniform play gives away .69."""
    graph = explore(load("kuhn_poker(players=3)"))
    states = PublicStates(graph, Horizon(1))
    assert exploitability(states, PositionValues(informed_values(graph).__getitem__), 100) < 0.45
    assert exploitability(PublicStates(graph), None, 500) < 0.01


def test_what_the_clock_cut_short_goes_on() -> None:
    states = PublicStates(explore(load("kuhn_poker")), Horizon(1))
    solver = ContinualResolving(BeliefTracker(states.graph), states, ExactValues(states, 50), 130)
    solver.allow(0.0)
    solver.strategy_at(0, 0)
    assert [work.iteration for work in solver.found.values()] == [25]
    solver.allow(60.0)
    solver.strategy_at(0, 0)
    assert [work.iteration for work in solver.found.values()] == [130]


def test_dark_hex_through_openspiel() -> None:
    pytest.importorskip("pyspiel")
    graph = explore(load("openspiel:dark_hex(num_rows=2,num_cols=2)"))
    values = PositionValues(informed_values(graph).__getitem__)
    assert exploitability(PublicStates(graph, Horizon(3)), values) < 0.005


def test_a_state_that_nothing_leads_to_has_no_row() -> None:
    graph = explore(load("kuhn_poker"))
    states = PublicStates(graph, Horizon(1))
    solver = ContinualResolving(BeliefTracker(graph), states, PositionValues(random_values(graph).__getitem__), 50)
    nowhere = solver.ranges.successor(0, 0)
    for record in range(len(graph.records)):
        nowhere = solver.ranges.successor(nowhere, record)
    assert solver.strategy_at(0, nowhere) is None


def test_a_look_ahead_that_does_not_fit_is_refused() -> None:
    states = PublicStates(explore(load("leduc_poker")), max_histories=1000)
    with pytest.raises(BudgetError, match="1,000"):
        states.ahead(0)
