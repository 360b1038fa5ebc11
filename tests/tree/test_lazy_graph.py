"""Graphs that grow while they are asked for come to the same positions as those that are listed."""

import numpy as np
import pytest

from infoset import Ended, NativeState, Observed, load
from infoset.search.belief import BeliefTracker
from infoset.search.state_values import random_values
from infoset.tree.graph import CHANCE, TERMINAL, explore
from infoset.tree.lazy_graph import LazyGraph
from infoset.tree.rules_source import RulesSource, build_lazy_graph
from lazy_graphs import ask_all, count_histories

DESCRIBED = [
    "gdl:monty_hall", "gdl:meier", "gdl:scissors_double", "gdl:tic_tac_toe", "gdl:kuhn_poker", "gdl:leduc_poker",
    "gdl:number_guessing",
]  # fmt: skip
NATIVE = ["kuhn_poker", "kuhn_poker(players=3)", "leduc_poker", "goofspiel(num_cards=3)", "rock_paper_scissors"]


def value_of(graph: LazyGraph, position: int, kept: dict) -> np.ndarray:
    """What random play is worth from a position on, by recursion."""
    if position not in kept:
        if graph.player[position] == TERMINAL:
            kept[position] = graph.arrays.payoffs[graph.content[position]]
        else:
            edges = range(graph.first[position], graph.first[position] + graph.num_edges[position])
            even = 1 / len(edges)
            chance = [graph.probability[e] if graph.player[position] == CHANCE else even for e in edges]
            below = [value_of(graph, int(graph.child[e]), kept) for e in edges]
            kept[position] = np.array(chance) @ np.array(below)
    return kept[position]


@pytest.mark.parametrize("at_once", [3, 500])
@pytest.mark.parametrize("name", ["gdl:monty_hall", "gdl:kuhn_poker", "gdl:leduc_poker"])
def test_how_many_are_asked_at_once_changes_nothing(name, at_once) -> None:
    grown = ask_all(build_lazy_graph(load(name)), at_once)
    assert count_histories(grown) == explore(load(name)).count_histories()


@pytest.mark.parametrize("name", DESCRIBED + NATIVE)
def test_a_graph_asked_for_everything_is_the_listed_one(name) -> None:
    game = load(name)
    listed, grown = explore(game), ask_all(build_lazy_graph(game))
    assert count_histories(grown) == listed.count_histories()
    assert value_of(grown, 0, {}) == pytest.approx(random_values(listed)[0])


def test_a_description_asked_of_its_states_is_the_compiled_one() -> None:
    game = load("gdl:leduc_poker")
    compiled, plain = ask_all(build_lazy_graph(game)), ask_all(LazyGraph(game, RulesSource(game), 1 << 26))
    assert count_histories(compiled) == count_histories(plain)
    assert value_of(compiled, 0, {}) == pytest.approx(value_of(plain, 0, {}))


@pytest.mark.parametrize("name", ["kuhn_poker", "gdl:monty_hall", "gdl:meier", "goofspiel(num_cards=3)"])
def test_ranges_that_grow_are_those_of_the_listed_graph(name) -> None:
    """Along random plays: what everybody may know, and how likely."""
    game, rng = load(name), np.random.default_rng(1)
    listed, grown = BeliefTracker(explore(game)), BeliefTracker(build_lazy_graph(game))
    number = {record: k for k, record in enumerate(listed.graph.records)}
    for _ in range(5):
        step, states = game.start(), {p: (p, p) for p in range(len(game.players))}
        while not step.state.terminal:
            state = step.state
            actions = [
                action_set[rng.integers(len(action_set))] if (action_set := state.legal_actions(p)) else None
                for p in states
            ]
            step = state.play(actions, state.draw(actions, rng))
            for p, (before, grown_before) in states.items():
                seen = step.observation(p)
                if actions[p] is None and seen is None:
                    continue
                record = (actions[p], () if seen is None else seen)
                one = listed.successor(before, number[record])
                other = grown.successor(grown_before, grown.graph.source.record_number(p, record))
                states[p] = one, other
                assert by_key(listed, p, one) == pytest.approx(by_key(grown, p, other))


def by_key(ranges: BeliefTracker, player: int, state: int) -> dict:
    found: dict = {}
    belief = ranges.of(player, state)
    for row, weight in zip(belief.infostate.tolist(), belief.weight.tolist(), strict=True):
        key = tuple(map(ranges.key, row))
        found[key] = found.get(key, 0.0) + weight
    return found


@pytest.mark.parametrize("name", ["gdl:tic_tac_toe", "gdl:monty_hall"])
def test_random_plays_from_positions_come_to_their_exact_worth(name) -> None:
    graph = ask_all(build_lazy_graph(load(name)))
    states = np.arange(min(60, int(graph.arrays.filled[2])))
    positions = graph.arrays.at[states].astype(np.int64)
    positions = positions[graph.player[positions] != TERMINAL]
    found = graph.source.playouts(graph, positions, 4096, 7)
    expected = np.array([value_of(graph, int(p), {}) for p in positions[:20]])
    assert found[:20] == pytest.approx(expected, abs=5 * 50 / 64)
    assert (found == graph.source.playouts(graph, positions, 4096, 7)).all()


class Deal(NativeState, tuple):  # a choice, and then one of 2,000 cards
    def legal_actions(self, player):
        return () if self else ("left", "right")

    def chance_outcomes(self, actions):
        return tuple([(card, 1 / 2000) for card in range(2000)]) if self else ()

    def returns(self):
        return (0.0,)

    def play_unchecked(self, actions, chance_outcome=None):
        state = Ended((float(chance_outcome),)) if self else Deal(actions)
        return Observed(state, (chance_outcome,))


class Dealing:
    name, players, pass_move, everybody_sees = "dealing", ("P1",), None, False

    def start(self):
        return Observed(Deal(), (None,))


def test_of_too_many_outcomes_others_are_drawn_in_every_state() -> None:
    """Also where the states are met in one request."""
    graph = build_lazy_graph(Dealing())
    with graph.growing():
        edges, _ = graph.spread(np.zeros(1, dtype=np.int64))
        graph.ask(edges)
        left, right = (set(graph.actions(int(p))) for p in graph.arrays.child[edges])
    assert len(left) > 200
    assert len(left & right) < 100
