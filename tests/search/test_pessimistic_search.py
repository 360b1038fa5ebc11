"""Search with pessimistic scenarios: what others may do to a tree of one's own moves."""

from collections import Counter

import numpy as np
import pytest

from infoset import load, load_agent, play_match
from infoset.search.pessimistic import _best, _Doings, _Step

TRAP = """
(role walker) (role keeper)
(init start)
(<= (legal walker left) (true start)) (<= (legal walker right) (true start))
(<= (legal keeper wait) (true start))
(<= (legal walker wait) (true (went ?d)))
(<= (legal keeper ?k) (true (went ?d)) (key ?k))
(key 1) (key 2) (key 3)
(<= (next (went ?d)) (does walker ?d) (true start))
(<= (next (shut ?d ?k)) (true (went ?d)) (does keeper ?k))
(sees walker nothing) (sees keeper nothing)
(<= terminal (true (shut ?d ?k)))
(<= (goal walker 50) (true (shut right ?k)))
(<= (goal walker 0) (true (shut left 1)))
(<= (goal walker 90) (true (shut left 2)))
(<= (goal walker 90) (true (shut left 3)))
(<= (goal walker 50) (true start)) (<= (goal walker 50) (true (went ?d)))
(goal keeper 50)
"""
"""Left pays 60 in the mean, and nothing where the keeper finds the key."""

GAMES = ["gdl:krieg_tic_tac_toe", "gdl:pursuit", "gdl:meier", "goofspiel(num_cards=4)", "gdl:monty_hall"]


@pytest.fixture
def trap(tmp_path):
    path = tmp_path / "trap.gdl"
    path.write_text(TRAP)
    return load(str(path))


def first_action(game, name: str, seed: int) -> str:
    return str(play_match(game, [name, "random"], seed=seed).steps[0].actions[0])


def test_it_keeps_out_of_a_trap_that_is_seldom_sprung(trap) -> None:
    for seed in range(5):
        assert first_action(trap, "flat-mc(nodes=500)", seed) == "left"
        assert first_action(trap, "pessimistic(nodes=500,pessimism=12)", seed) == "right"


def test_without_pessimism_it_goes_by_the_mean(trap) -> None:
    for seed in range(5):
        assert first_action(trap, "pessimistic(nodes=3000,pessimism=1)", seed) == "left"


def test_what_others_do_is_the_same_wherever_it_can_be_done() -> None:
    """And every move as likely, every answer of chance as likely as it is."""
    rng = np.random.default_rng(1)
    actions: Counter[int] = Counter()
    answers: Counter[int] = Counter()
    for _ in range(4000):
        doings = _Doings(rng)
        place = doings.action(1, ("a", "b", "c"))
        actions[place] += 1
        answers[doings.answer(np.array([0.5, 0.3, 0.2]))] += 1
        fewer = [k for k in range(3) if k != (place + 1) % 3]  # another move is not there: it changes nothing
        assert doings.action(1, tuple("abc"[k] for k in fewer)) == fewer.index(place)
    assert [actions[k] / 4000 for k in range(3)] == pytest.approx([1 / 3] * 3, abs=0.03)
    assert [answers[k] / 4000 for k in range(3)] == pytest.approx([0.5, 0.3, 0.2], abs=0.03)


def test_a_place_is_worth_its_best_move_and_a_little_of_all() -> None:
    """From two places to three: one has two ways out, of which one is good; the other has the good one alone."""
    step = _Step(np.arange(3), np.zeros(3), np.array([0, 0, 1]), np.array([0, 1, 1]))
    assert _best(step, np.array([0.0, 10.0, 99.0]), 2).tolist() == pytest.approx([9.5, 10.0])


@pytest.mark.parametrize("game", GAMES)
def test_the_same_seed_gives_the_same_game(game) -> None:
    """Also where chance answers, and where moves are made at once."""
    agents = ["pessimistic(nodes=100)", "random"]
    first, second = (play_match(game, agents[: len(load(game).players)], seed=4) for _ in range(2))
    assert not first.faults
    assert [step.actions for step in first.steps] == [step.actions for step in second.steps]


@pytest.mark.slow
def test_a_runner_stays_free_longer_than_at_random() -> None:
    """The hounds move at random."""
    runners = ["pessimistic(nodes=600)", "random"]
    kept = [np.mean([play_match("gdl:pursuit", [r, "random"], seed=k).returns[0] for k in range(6)]) for r in runners]
    assert kept[0] > kept[1] + 30.0


def test_search_takes_it_where_it_is_asked_to(trap) -> None:
    agent = load_agent("search(method=pessimistic,nodes=200,steps=3)")
    match = play_match(trap, [agent, "random"], seed=1)
    assert agent.plan == "pessimistic: scenarios move by move, as asked"
    assert agent.inner.steps == 3
    assert not match.faults
