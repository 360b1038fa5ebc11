"""Subgames from beliefs, and the pitfalls of search: each shown for the method that has the fault."""

import numpy as np
import pytest

from infoset import GameTree, SequenceForm, load
from infoset.names import information_key
from infoset.search.beliefs import ExactBelief, start_world
from infoset.search.subgame import PlayoutLeaf, Subgame, order_two_root, play_out
from infoset.search.subgame_agent import SubgameAgent
from infoset.solvers.tabular.cfr import pcfr_plus
from infoset.tree.plans import behaviour
from test_beliefs import states_asked, told


def solved(subgame, player, known):
    """The chances of the moves at one's own root set."""
    form = SequenceForm.of(GameTree.of(subgame))
    solver = pcfr_plus().solver(form)
    solver.step(1000)
    world = next(k for k, world in enumerate(subgame.worlds) if world.known[player] == known)
    key = information_key(((None, subgame.seen(player, world)),))
    place = next(k for k in form.player_infosets(player) if form.keys[k] == key)
    first, size = int(form.arrays.first[place]), int(form.arrays.size[place])
    row = behaviour(form, solver.average())[first : first + size]
    return dict(zip(form.actions[place], row.tolist(), strict=True))


def monty_hall():
    game, states = states_asked("gdl:monty_hall", 0)
    known = next(known for known in states if len(known) == 2)
    return game, known, told(ExactBelief(game, 0), known, 0).worlds(10)


def test_monty_hall_switches_always() -> None:
    game, known, worlds = monty_hall()
    assert solved(Subgame(game, tuple(worlds)), 0, known)["switch"] > 0.99


def test_a_policy_for_each_world_then_averaged_switches_two_times_of_three() -> None:
    """Strategy fusion, the paper's method: it plays as if it saw the car."""
    game, known, worlds = monty_hall()
    switch = sum(w.weight * solved(Subgame(game, (w,)), 0, known)["switch"] for w in worlds)
    assert switch == pytest.approx(2 / 3, abs=0.01)


@pytest.mark.parametrize(("root", "least", "most"), [("own", 0.99, 1), ("order-2", 0.99, 1), ("per-world", 0.65, 0.69)])
def test_the_agent_switches_as_its_root_says(root, least, most) -> None:
    game, known, _ = monty_hall()
    agent = SubgameAgent(root=root, seconds_per_move=5.0)
    agent.begin(game, 0, np.random.default_rng(1), None)
    for token in known:
        agent.observe(*token)
    assert least <= agent.row(("noop", "switch"), None)[1] <= most


def test_worlds_without_weights_switch_half_the_time_when_averaged() -> None:
    game, known, worlds = monty_hall()
    switch = np.mean([solved(Subgame(game, (w,)), 0, known)["switch"] for w in worlds])
    assert switch == pytest.approx(1 / 2, abs=0.01)


def test_rock_paper_scissors_with_double_scissors() -> None:
    """ReBeL's version; the equilibrium is 2:2:1 (Brown et al. 2020)."""
    game = load("gdl:scissors_double")
    worlds = ExactBelief(game, 0).worlds(1)
    row = solved(Subgame(game, tuple(worlds)), 0, ())
    assert sorted(row.values()) == pytest.approx([0.2, 0.4, 0.4], abs=0.01)
    assert row["scissors"] == pytest.approx(0.2, abs=0.01)


def kuhn_with_a_jack():
    """The first player holds the lowest card; nothing was bet."""
    game, states = states_asked("kuhn_poker", 0, plays=40)
    skip = len(start_world(game).known[0])
    for known in states:
        worlds = told(ExactBelief(game, 0), known, skip).worlds(10)
        if len(known) == skip + 1:
            yield game, known, worlds


def test_a_root_of_one_set_tells_the_others_ones_secret() -> None:
    """With the lowest card known nobody is bluffed; with a root of order two the bluff comes back."""
    bluffs = {}
    for game, known, worlds in kuhn_with_a_jack():
        alone = solved(Subgame(game, tuple(worlds)), 0, known)
        hidden = solved(Subgame(game, tuple(order_two_root(game, 0, worlds))), 0, known)
        bluffs[known] = alone, hidden
    weights = {k: len(order_two_root(g, 0, w)) for g, k, w in kuhn_with_a_jack()}
    assert set(weights.values()) == {4}  # two worlds of one's own, and in each one more that the other holds possible
    differences = [max(abs(a[m] - h[m]) for m in a) for a, h in bluffs.values()]
    assert max(differences) > 0.05


def test_order_two_keeps_the_weights_of_ones_own_worlds() -> None:
    for game, known, worlds in kuhn_with_a_jack():
        rooted = order_two_root(game, 0, worlds)
        own = [w for w in rooted if w.known[0] == known]
        assert [w.weight for w in own] == pytest.approx([w.weight for w in worlds])


def test_a_horizon_ends_the_game_with_what_the_leaf_says() -> None:
    game, _, worlds = monty_hall()
    asked = []

    def leaf(state):
        asked.append(state)
        return (7.0,)

    tree = GameTree.of(Subgame(game, tuple(worlds), depth=0, leaf=leaf))
    assert len(asked) == len(worlds)
    assert tree.graph.payoffs.ravel().tolist() == [7.0]


def test_playouts_are_repeatable() -> None:
    state = start_world(load("leduc_poker")).state
    assert PlayoutLeaf(3)(state) == PlayoutLeaf(3)(state)
    assert sum(play_out(state, np.random.default_rng(1))) == pytest.approx(0)
