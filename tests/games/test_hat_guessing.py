"""Hanabi in arrays beside OpenSpiel's game, and hat guessing: what everybody knows is true and the same to all."""

import random

import numpy as np
import pytest

import infoset
from infoset import load
from infoset.errors import UnsupportedGameError
from infoset.games.hanabi_tables import (
    EMPTY,
    Tables,
    begin,
    deal,
    is_over,
    list_legal,
    make_tables,
    play_randomly,
    score,
    step,
)
from infoset.games.hat_guessing import HatGuessing, Shared, score_series, take_turn
from infoset.jit import kernel
from infoset.randomness import streams

SETTINGS = [(2, 5, 5, 5, 8, 3), (5, 5, 5, 4, 8, 3), (3, 3, 4, 3, 3, 2), (2, 2, 2, 2, 2, 1), (2, 1, 5, 3, 3, 1)]


@kernel
def deal_first(t: Tables) -> None:
    deal(t, 0)


@kernel
def step_first(t: Tables, action: int) -> None:
    step(t, 0, action)


@kernel
def list_first(t: Tables, legal: np.ndarray) -> int:
    return list_legal(t, 0, legal)


@kernel
def first_is_over(t: Tables) -> bool:
    return is_over(t, 0)


@kernel
def score_first(t: Tables) -> int:
    return score(t, 0)


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_tables_follow_openspiel(setting: tuple[int, ...]) -> None:
    """The same deck, and nearly always no card played, so that games last: the same legal actions, ends and scores."""
    pyspiel = pytest.importorskip("pyspiel")
    names = ("players", "colors", "ranks", "hand_size", "max_information_tokens", "max_life_tokens")
    game = pyspiel.load_game(f"hanabi({','.join(f'{name}={k}' for name, k in zip(names, setting, strict=True))})")
    rng, t, legal, hand = random.Random(1), make_tables(1, *setting), np.zeros(100, np.int64), setting[3]
    for _ in range(20):
        state, told, drawn = game.new_initial_state(), [], []
        while not state.is_terminal():
            if state.is_chance_node():
                cards, chances = zip(*state.chance_outcomes(), strict=True)
                drawn.append(rng.choices(cards, chances)[0])
                state.apply_action(drawn[-1])
            else:
                actions = state.legal_actions()
                careful = [a for a in actions if not hand <= a < 2 * hand]
                told.append((actions, rng.choice(careful if careful and rng.random() < 0.9 else actions)))
                state.apply_action(told[-1][1])
        rest = np.repeat(np.arange(len(t.copies)), t.copies - np.bincount(drawn, minlength=len(t.copies)))
        t.deck[0] = [*drawn, *rest]
        deal_first(t)
        for actions, action in told:
            assert not first_is_over(t)
            assert sorted(legal[: list_first(t, legal)].tolist()) == actions
            step_first(t, action)
        assert first_is_over(t)
        assert score_first(t) == state.returns()[0]


def test_random_games_end_and_begin_again() -> None:
    t = make_tables(8, 2, 5, 5, 5, 8, 3)
    ended = play_randomly(t, 20_000, streams(1, 1), np.zeros(100, np.int64))
    assert 1_000 < ended < 3_000  # three lives last some thirteen turns


def test_all_agents_know_the_same_and_it_is_true() -> None:
    """Each agent reads only what its player sees: after every turn all have the same table of what cards may be."""
    game = load("hanabi(players=4,hand=4)")
    agents = [HatGuessing() for _ in range(4)]
    rng = np.random.default_rng(3)
    for seat, agent in enumerate(agents):
        agent.begin(game, seat, rng, None)
    place = game.start()
    for seat, agent in enumerate(agents):
        if place.observation(seat) is not None:
            agent.observe(None, place.observation(seat))
    state, hints = place.state, 0
    while not state.terminal:
        actions: list[str | None] = [None] * 4
        for seat, agent in enumerate(agents):
            if legal := state.legal_actions(seat):
                actions[seat] = agent.act(legal, None)
                assert actions[seat] in legal
                hints += actions[seat].startswith("hint")
        place = state.play(actions, state.draw(actions, rng))
        for seat, agent in enumerate(agents):
            agent.observe(actions[seat], place.observation(seat))
        state = place.state
        if state.terminal or any(state.legal_actions(seat) for seat in range(4)):
            for agent in agents[1:]:
                np.testing.assert_array_equal(agent.shared.known, agents[0].shared.known)
        if not state.terminal:
            types = agents[0].type_of
            for seat, hand in enumerate(state.hands):
                for k, card in enumerate(hand):
                    assert agents[0].shared.known[seat, k] >> types[card] & 1
    assert hints > 10
    assert state.returns()[0] > 20


def test_five_players_score_as_published() -> None:
    """Cox et al. (2015) report 24.68 for their information strategy, whose hints have eight meanings; here twelve."""
    scores = score_series(load("hanabi(players=5)"), 1000, seed=1)
    assert 24.8 < scores.mean() < 25
    assert (scores == 25).mean() > 0.85
    assert scores.min() > 15  # no life was lost
    np.testing.assert_array_equal(scores[:10], score_series(load("hanabi(players=5)"), 10, seed=1))


@kernel
def count_falsehoods(t: Tables, shared: Shared, games: int, stream: np.ndarray) -> int:
    """Return how many cards, at all turns of some games, are of a type that they are known not to be."""
    found = 0
    for _ in range(games):
        begin(t, 0, stream)
        shared.known[:] = (1 << len(t.copies)) - 1
        while not is_over(t, 0):
            take_turn(t, shared)
            for p in range(t.hand.shape[1]):
                for s in range(t.size[0, p]):
                    found += shared.known[p, s] >> t.hand[0, p, s] & 1 == 0
    return found


@pytest.mark.parametrize("setting", [*SETTINGS, (5, 5, 5, 4, 1, 3), (4, 2, 3, 2, 2, 3), (3, 5, 1, 3, 4, 3)])
def test_what_is_known_is_true(setting: tuple[int, ...]) -> None:
    t = make_tables(1, *setting)
    assert count_falsehoods(t, Shared.of(t), 200, streams(1, 1)) == 0


def test_agents_and_kernels_score_alike() -> None:
    """In matches, where every agent has a table of its own, scores are as those of the games in arrays."""
    series = infoset.play_series("hanabi(players=5)", ["hat-guessing"] * 5, games=6, seed=1)
    assert series.agents[0].mean > 23.5
    assert not any(agent.faults["error"] for agent in series.agents)


def test_partners_who_mean_something_else_spoil_no_game() -> None:
    """Random hints contradict what is known; every game still ends, with legal actions alone."""
    for seed in range(10):
        match = infoset.play_match("hanabi(players=3)", ["hat-guessing", "random", "hat-guessing"], seed=seed)
        assert not match.faults


def test_its_probabilities_make_it_a_policy() -> None:
    """Two players with one card each: evaluate asks it at every information set, also at such as it never reaches."""
    found = infoset.evaluate("hanabi(colors=1,ranks=2,hand=1,info=1,lives=1)", "hat-guessing")
    assert found.exact
    assert 0.0 < found.values[0] <= 2.0


def test_other_games_are_refused() -> None:
    with pytest.raises(UnsupportedGameError, match="hat-guessing plays hanabi, not kuhn_poker"):
        HatGuessing().begin(load("kuhn_poker"), 0, np.random.default_rng(0), None)


def test_slots_beyond_a_hand_are_empty() -> None:
    t = make_tables(1, 2, 2, 2, 2, 2, 1)
    t.deck[0] = np.repeat(np.arange(4), t.copies)
    deal_first(t)
    assert (t.hand != EMPTY).sum() == 4
