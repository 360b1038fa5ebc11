"""Subgames from beliefs, and the pitfalls of search: each shown for the method that has the fault.

All of it twice: on graphs that are known, and on graphs that grow.
"""

import numpy as np
import pytest

from infoset import load
from infoset.search.belief import BeliefTracker
from infoset.search.monte_carlo import Budget
from infoset.search.roots import order_two
from infoset.search.subgame import Subgame
from infoset.search.subgame_agent import SubgameAgent
from infoset.search.subgame_solver import OWN, PER_WORLD, Effort, SubgameSolver
from infoset.tree.graph import TERMINAL, explore
from infoset.tree.lazy_graph import LazyGraph
from infoset.tree.rules_source import build_lazy_graph
from slow_beliefs import states_asked

WHOLE = Effort(sets=1000, others=1000, iterations=1000)


def nothing_behind(ranges):
    """Values of a horizon that the deepest subgame does not have."""
    return lambda positions: np.zeros((len(positions), len(ranges.graph.players)))


@pytest.fixture(params=["known", "grows"])
def ranges_of(request):
    """From a game's name to its ranges."""

    def made(name):
        game = load(name)
        return BeliefTracker(explore(game) if request.param == "known" else build_lazy_graph(game))

    return made


def successor_state(ranges, player, *records):
    state, graph = player, ranges.graph
    for record in records:
        grows = isinstance(graph, LazyGraph)
        state = ranges.successor(
            state, graph.source.record_number(player, record) if grows else graph.records.index(record)
        )
    return state


def probabilities(ranges, player, state, root):
    """By the name of each move."""
    row = SubgameSolver(ranges, nothing_behind(ranges), root, WHOLE).strategy_at(player, state)
    at = int(ranges.asked(player, state).position[0])
    return dict(zip(ranges.graph.actions(at), row, strict=True))


DOOR = ((("choose", 1), ()), ("noop", (("opened", 3),)))


@pytest.mark.parametrize(("root", "least", "most"), [("own", 0.99, 1), ("order-2", 0.99, 1), ("per-world", 0.65, 0.69)])
def test_monty_hall_switches_as_its_root_says(ranges_of, root, least, most) -> None:
    """Each world by itself fuses strategies, the paper's method: it plays as if it saw the car."""
    ranges = ranges_of("gdl:monty_hall")
    state = successor_state(ranges, 0, *DOOR)
    assert least <= probabilities(ranges, 0, state, root)["switch"] <= most
    agent = SubgameAgent(Budget(nodes=1000), root, WHOLE)
    agent.begin(load("gdl:monty_hall"), 0, np.random.default_rng(1), None)
    for record in DOOR:
        agent.observe(*record)
    assert least <= agent.compute_probabilities(("noop", "switch"), np.inf)[1] <= most


def test_worlds_without_weights_switch_half_the_time_when_averaged(ranges_of) -> None:
    ranges = ranges_of("gdl:monty_hall")
    worlds = ranges.asked(0, successor_state(ranges, 0, *DOOR))
    ranges.cache[successor_state(ranges, 0, *DOOR)] = worlds._replace(weight=np.full(2, 0.5))
    switch = probabilities(ranges, 0, successor_state(ranges, 0, *DOOR), PER_WORLD)["switch"]
    assert switch == pytest.approx(1 / 2, abs=0.01)


def test_rock_paper_scissors_with_double_scissors(ranges_of) -> None:
    """ReBeL's version; the equilibrium is 2:2:1 (Brown et al. 2020)."""
    row = probabilities(ranges_of("gdl:scissors_double"), 0, 0, OWN)
    assert sorted(row.values()) == pytest.approx([0.2, 0.4, 0.4], abs=0.01)
    assert row["scissors"] == pytest.approx(0.2, abs=0.01)


def test_a_root_of_one_set_tells_the_others_ones_secret(ranges_of) -> None:
    """With the lowest card known nobody is bluffed; with a root of order two the bluff comes back."""
    ranges = ranges_of("kuhn_poker")
    jack = successor_state(ranges, 0, (None, "J"))
    alone, hidden = (probabilities(ranges, 0, jack, root) for root in ("own", "order-2"))
    assert max(abs(alone[action] - hidden[action]) for action in alone) > 0.05


def test_order_two_keeps_the_weights_of_ones_own_worlds(ranges_of) -> None:
    ranges = ranges_of("kuhn_poker")
    jack = successor_state(ranges, 0, (None, "J"))
    rooted = order_two(ranges, 0, jack, 10, 10, np.random.default_rng(1))
    assert rooted.size == 4  # two worlds of one's own, and in each one more that the other holds possible
    assert rooted.weight[rooted.infostate[:, 0] == jack] == pytest.approx([0.25, 0.25])


def test_a_horizon_ends_the_game_with_what_its_values_say(ranges_of) -> None:
    ranges, cut = ranges_of("gdl:monty_hall"), []

    def sevens(positions):
        cut.append(len(positions))
        return np.full((len(positions), 1), 7.0)

    worlds = ranges.asked(0, successor_state(ranges, 0, *DOOR))
    found = Subgame(ranges.graph, worlds).game(sevens)
    assert cut == [worlds.size]
    assert set(found.payoffs[found.content[found.player == TERMINAL]].ravel().tolist()) <= {7.0}


@pytest.mark.parametrize("name", ["leduc_poker", "goofspiel(num_cards=3)", "gdl:meier", "gdl:kuhn_poker"])
@pytest.mark.parametrize("root", ["own", "order-2"])
def test_subgames_are_the_same_on_a_graph_that_grows(name, root) -> None:
    game, states = states_asked(name, 1, plays=4)
    both = BeliefTracker(explore(game)), BeliefTracker(build_lazy_graph(game))
    effort = Effort(sets=1000, others=1000, iterations=50)
    solvers = [SubgameSolver(ranges, nothing_behind(ranges), root, effort) for ranges in both]
    for known in states[-6:]:
        begins = int(both[0].graph.start_records[1] >= 0)
        rows = [s.strategy_at(1, successor_state(s.ranges, 1, *known[begins:])) for s in solvers]
        np.testing.assert_allclose(rows[1], rows[0], atol=1e-12)
