"""The agents that search by random plays."""

import threading

import numpy as np
import pytest

import infoset
from infoset import load, load_agent, play_match
from infoset.errors import ClockError, ParameterError, UnsupportedGameError
from infoset.search.belief import whole
from infoset.search.leaf_values import RandomPlays
from infoset.search.tree_search import OWN, SEARCHERS, STATE, TreeSearch
from infoset.tree.graph import NO_RECORD
from infoset.tree.rules_source import build_lazy_graph

NAMES = [
    "flat-mc(nodes=60)",
    "kluss(nodes=400)",
    "is-mcts(nodes=60)",
    "is-mcts(nodes=60,observers=single)",
    "pimc(nodes=200)",
]


def search_of(name: str, by: int, seed: int = 0) -> TreeSearch:
    graph = build_lazy_graph(load(name))
    return TreeSearch(graph, RandomPlays(graph, 4, seed), by, 0, seed=seed)


def shares(search: TreeSearch) -> list[float]:
    visits, _ = search.seen(search.key(whole(search.graph)), len(search.graph.action_set(0, 0)))
    return (visits / visits.sum()).round(9).tolist()


def test_the_tree_finds_the_middle_of_tic_tac_toe() -> None:
    """Every first move draws against best play; the middle wins most against mistakes."""
    search = search_of("gdl:tic_tac_toe", STATE)
    search.run(whole(search.graph), 5_000)
    assert int(np.argmax(shares(search))) == 4


def test_what_was_asked_for_before_changes_nothing() -> None:
    """Two searches on graphs of their own, and a third on one that another has grown."""
    one, two = search_of("gdl:krieg_tic_tac_toe", OWN, 3), search_of("gdl:krieg_tic_tac_toe", OWN, 3)
    other = TreeSearch(two.graph, RandomPlays(two.graph, 4, 9), OWN, 0, seed=5)
    other.run(whole(two.graph), 700)
    for search in (one, two):
        search.run(whole(search.graph), 700)
    assert shares(one) == shares(two)
    assert shares(one) != shares(other)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_game(name) -> None:
    game = load("gdl:krieg_tic_tac_toe")
    matches = [play_match(game, [load_agent(name), "random"], seed=4) for _ in range(2)]
    first, second = ([step.actions for step in match.steps] for match in matches)
    assert first == second


@pytest.mark.parametrize("name", NAMES)
def test_they_beat_random_play(name) -> None:
    match = [play_match("gdl:phantom_connect", [name, "random"], seed=k).returns[0] for k in range(20)]
    assert np.mean(match) >= 75.0


def test_the_tree_never_loses_where_it_need_not() -> None:
    for seat in range(2):
        seats = ["random", "random"]
        seats[seat] = "uct(nodes=2000)"
        assert min(play_match("gdl:tic_tac_toe", seats, seed=k).returns[seat] for k in range(6)) >= 50.0


def test_doors_are_switched() -> None:
    """Worlds weigh chance; whoever solves each by itself, knowing the car, could not tell."""
    for seed in range(10):
        match = play_match("gdl:monty_hall", ["is-mcts(nodes=400)"], seed=seed)
        assert "switch" in [step.actions[0] for step in match.steps]


def test_native_games_are_searched_by_their_states() -> None:
    match = play_match("goofspiel(num_cards=4)", ["is-mcts(nodes=40)", "flat-mc(nodes=40)"], seed=2)
    assert not match.faults


def test_uct_says_what_plays_where_something_is_hidden() -> None:
    with pytest.raises(UnsupportedGameError, match="is-mcts plays it"):
        play_match("gdl:meier", ["uct", "random"])


@pytest.mark.parametrize(
    "name",
    ["uct(nodes=-1)", "flat-mc(playouts=0)", "is-mcts(observers=both)", "pimc(worlds=0)", "uct(seconds_per_move=0.0)",
     "pessimistic(steps=0)", "pessimistic(pessimism=0)"],
)  # fmt: skip
def test_wrong_parameters_are_named(name) -> None:
    with pytest.raises(ParameterError, match=name.partition("(")[2].partition("=")[0]):
        load_agent(name)


@pytest.mark.parametrize("name", ["is-mcts", "flat-mc"])
def test_a_game_that_was_never_looked_at_is_played_at_random(name, monkeypatch) -> None:
    """The start clock ends while the graph is made: one fault, then moves that say why they are random."""

    def ends(*_, **__):
        raise ClockError("the time limit was reached")

    monkeypatch.setattr("infoset.search.monte_carlo.shared_graph", ends)
    match = play_match("gdl:phantom_connect", [name, "random"], seed=1, seconds_to_begin=60.0)
    assert {fault.kind for fault in match.faults} == {"error"}
    assert [fault.step for fault in match.faults] == [0]
    assert match.over


def test_a_late_agent_may_go_on_beside_another() -> None:
    """In a thread of its own, on the same graph: neither breaks what the other reads."""
    graph = build_lazy_graph(load("gdl:connect_four"))
    found: list = []

    def run(seed: int) -> None:
        search = TreeSearch(graph, RandomPlays(graph, 4, seed), STATE, 0, seed=seed)
        search.run(whole(graph), 3_000)
        found.append(shares(search))

    threads = [threading.Thread(target=run, args=(k,)) for k in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = infoset.load("gdl:connect_four")
    graph = build_lazy_graph(alone)
    run(1)
    assert found[2] in found[:2]


def test_search_takes_the_tree_where_positions_are_too_many() -> None:
    agent = load_agent("search(seconds=0.2,nodes=300)")
    match = play_match("gdl:breakthrough", [agent, "random"], seed=1)
    assert match.returns[0] == 100.0
    assert agent.plan.startswith("uct: everybody sees everything")


def test_a_graph_that_outgrows_its_memory_is_begun_anew() -> None:
    agent = load_agent("uct(nodes=3000,memory=1)")
    begun = set()
    prepare = agent.prepare
    agent.prepare = lambda: (begun.add(id(agent.graph)), prepare())
    match = play_match("gdl:connect_four", [agent, "random"], seed=3)
    assert not match.faults and not agent.faults
    assert len(begun) > 1
    assert agent.graph.nbytes <= 1 << 20


@pytest.mark.parametrize("seat", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_flat_monte_carlo_weighs_its_own_moves_where_others_move_with_it(seat) -> None:
    """Whoever takes the last cell of a line wins: also as the second of two who move at once."""
    seats = ["random", "random"]
    seats[seat] = "flat-mc(nodes=2000)"
    matches = [play_match("gdl:krieg_tic_tac_toe", seats, seed=k) for k in range(20)]
    assert not any(match.faults for match in matches)
    assert np.mean([match.returns[seat] for match in matches]) > 60.0


def test_what_a_search_did_tells_how_others_moved() -> None:
    """Kuhn poker: who holds the king calls, so a search that saw it holds a fold for unlikely."""
    game = load("kuhn_poker")
    agent = load_agent("is-mcts(nodes=3000)")
    agent.begin(game, 0, np.random.default_rng(1), None)
    agent.observe(None, "Q")
    agent.act(("pass", "bet"), None)
    graph, worlds = agent.graph, agent.ranges.asked(0, agent.state)
    bet = graph.first[worlds.position] + 1
    graph.ask(bet)
    known = graph.states.successors(worlds.infostate, graph.record[bet])[:, 1]
    answers = graph.first[graph.child[bet]][:, None] + np.arange(2)
    told = agent.tree_search.probabilities(answers.ravel(), np.repeat(known, 2)).reshape(-1, 2)
    np.testing.assert_allclose(told.sum(axis=1), 1.0)
    king = [agent.graph.key(state) for state in known.tolist()].index("K bet")
    assert told[king, 1] > 0.8


HIDE_AND_SEEK = """
(role seeker) (role hider) (role random)
(init start)
(<= (legal random (deal ?w)) (true start) (door ?w)) (<= (legal random wait) (true (world ?w)))
(<= (legal hider wait) (true start))
(<= (legal hider ?h) (true (world ?w)) (door ?h) (distinct ?h ?w))
(<= (legal seeker wait) (true start)) (<= (legal seeker ?s) (true (world ?w)) (door ?s))
(door 1) (door 2) (door 3)
(<= (next (world ?w)) (does random (deal ?w)))
(<= (next (found ?h ?s)) (does hider ?h) (does seeker ?s) (true (world ?w)))
(<= (sees hider ?w) (does random (deal ?w)))
(sees seeker nothing)
(<= terminal (true (found ?h ?s)))
(<= (goal hider 100) (true (found 1 ?s))) (<= (goal hider 50) (true (found 2 ?s))) (<= (goal hider 0) (true (found 3 ?s)))
(<= (goal seeker 100) (true (found ?h ?h))) (<= (goal seeker 0) (true (found ?h ?s)) (distinct ?h ?s))
(<= (goal ?r 0) (role ?r) (not terminal))
"""


def test_a_single_observer_knows_what_others_may_do_in_each_world(tmp_path) -> None:
    """The hider, who never may take the door that was dealt, likes the first best: a seeker who knows that finds it there
    in two worlds of three, although the moves of the hider's action sets differ between them."""
    path = tmp_path / "hide.gdl"
    path.write_text(HIDE_AND_SEEK)
    graph = build_lazy_graph(load(str(path)))
    search = TreeSearch(graph, RandomPlays(graph, 4, 1), SEARCHERS, 0, seed=1)
    search.run(whole(graph), 3_000)
    states, tree = graph.states, search.tree
    actions = np.flatnonzero((states.parent > 0) & (states.record[states.parent] < NO_RECORD))
    assert (tree.times[actions] / search.walks).round(1).tolist() == [0.7, 0.7, 0.7]  # each in two worlds of three
    visits = tree.visits[tree.node[actions]] / search.walks
    assert visits.round(1).tolist() == [0.7, 0.3, 0.0]
    for seed in range(5):
        match = play_match(load(str(path)), ["is-mcts(nodes=500,observers=single)", "random"], seed=seed)
        assert match.steps[1].actions[0] == 1
