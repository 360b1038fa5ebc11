"""Subgames from beliefs, and the pitfalls of search: each shown for the method that has the fault."""

import numpy as np
import pytest

from infoset import load
from infoset.search.belief import BeliefTracker
from infoset.search.roots import order_two
from infoset.search.subgame import Subgame
from infoset.search.subgame_solver import OWN, PER_WORLD, Effort, SubgameSolver
from infoset.tree.graph import TERMINAL, explore

WHOLE = Effort(sets=1000, others=1000, iterations=1000)


def nothing_behind(ranges):
    """Values of a horizon that the deepest subgame does not have."""
    return lambda positions: np.zeros((len(positions), len(ranges.graph.players)))


def ranges_of(name):
    return BeliefTracker(explore(load(name)))


def successor_state(ranges, player, *records):
    state = player
    for record in records:
        state = ranges.successor(state, ranges.graph.records.index(record))
    return state


def probabilities(ranges, player, state, root):
    """By the name of each move."""
    row = SubgameSolver(ranges, nothing_behind(ranges), root, WHOLE).strategy_at(player, state)
    at = int(ranges.asked(player, state).position[0])
    return dict(zip(ranges.graph.actions(at), row, strict=True))


DOOR = ((("choose", 1), ()), ("noop", (("opened", 3),)))


@pytest.mark.parametrize(("root", "least", "most"), [("own", 0.99, 1), ("order-2", 0.99, 1), ("per-world", 0.65, 0.69)])
def test_monty_hall_switches_as_its_root_says(root, least, most) -> None:
    """Each world by itself fuses strategies, the paper's method: it plays as if it saw the car."""
    ranges = ranges_of("gdl:monty_hall")
    state = successor_state(ranges, 0, *DOOR)
    assert least <= probabilities(ranges, 0, state, root)["switch"] <= most


def test_worlds_without_weights_switch_half_the_time_when_averaged() -> None:
    ranges = ranges_of("gdl:monty_hall")
    worlds = ranges.asked(0, successor_state(ranges, 0, *DOOR))
    ranges.cache[successor_state(ranges, 0, *DOOR)] = worlds._replace(weight=np.full(2, 0.5))
    switch = probabilities(ranges, 0, successor_state(ranges, 0, *DOOR), PER_WORLD)["switch"]
    assert switch == pytest.approx(1 / 2, abs=0.01)


def test_rock_paper_scissors_with_double_scissors() -> None:
    """ReBeL's version; the equilibrium is 2:2:1 (Brown et al. 2020)."""
    row = probabilities(ranges_of("gdl:scissors_double"), 0, 0, OWN)
    assert sorted(row.values()) == pytest.approx([0.2, 0.4, 0.4], abs=0.01)
    assert row["scissors"] == pytest.approx(0.2, abs=0.01)


def test_a_root_of_one_set_tells_the_others_ones_secret() -> None:
    """With the lowest card known nobody is bluffed; with a root of order two the bluff comes back."""
    ranges = ranges_of("kuhn_poker")
    jack = successor_state(ranges, 0, (None, "J"))
    alone, hidden = (probabilities(ranges, 0, jack, root) for root in ("own", "order-2"))
    assert max(abs(alone[action] - hidden[action]) for action in alone) > 0.05


def test_order_two_keeps_the_weights_of_ones_own_worlds() -> None:
    ranges = ranges_of("kuhn_poker")
    jack = successor_state(ranges, 0, (None, "J"))
    rooted = order_two(ranges, 0, jack, 10, 10, np.random.default_rng(1))
    assert rooted.size == 4  # two worlds of one's own, and in each one more that the other holds possible
    assert rooted.weight[rooted.infostate[:, 0] == jack] == pytest.approx([0.25, 0.25])


def test_a_horizon_ends_the_game_with_what_its_values_say() -> None:
    ranges, cut = ranges_of("gdl:monty_hall"), []

    def sevens(positions):
        cut.append(len(positions))
        return np.full((len(positions), 1), 7.0)

    worlds = ranges.asked(0, successor_state(ranges, 0, *DOOR))
    found = Subgame(ranges.graph, worlds).game(sevens)
    assert cut == [worlds.size]
    assert set(found.payoffs[found.content[found.player == TERMINAL]].ravel().tolist()) <= {7.0}
