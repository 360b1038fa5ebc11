"""The reference interpreter against semantics known by hand and figures measured with independent engines."""

import numpy as np
import pytest

from gdl_interpreter import Interpreter
from infoset.gdl.syntax import Term, parse_gdl, read_gdl

TINY = """
(role x) (role random) (init (at 1)) (init only_once) (next_to 1 2) (next_to 2 3) (next_to 3 4)
(<= (legal x (go ?m)) (true (at ?n)) (next_to ?n ?m)) (legal x stay) (legal random (coin heads)) (legal random (coin tails))
(<= (next (at ?m)) (does x (go ?m))) (<= (next (at ?n)) (true (at ?n)) (does x stay))
(<= (far ?a ?b) (next_to ?a ?b)) (<= (far ?a ?c) (far ?a ?b) (next_to ?b ?c))
(<= (sees x (from ?n ?side)) (true (at ?n)) (does random (coin ?side)))
(<= terminal (true (at ?n)) (far 2 ?n)) (<= (goal x 100) (true (at 4))) (<= (goal x 0) (not (true (at 4))))
"""


def test_by_hand() -> None:
    """Percepts come from the state before the move; what is not derived is gone; recursion reaches its fixpoint."""
    game = Interpreter(parse_gdl(TINY))
    x, random = game.roles
    start = game.start()
    assert start == {Term("at", (Term("1"),)), Term("only_once")}
    assert [str(m) for m in game.legal_actions(start)[x]] == ["(go 2)", "stay"]
    assert len(game.legal_actions(start)[random]) == 2
    state, percepts = game.step(start, {x: Term("go", (Term("2"),)), random: Term("coin", (Term("heads"),))})
    assert state == {Term("at", (Term("2"),))}
    assert {str(p) for p in percepts[x]} == {"(from 1 heads)"}
    assert percepts[random] == frozenset()
    assert not game.terminal(state)
    last, _ = game.step(state, {x: Term("go", (Term("3"),)), random: Term("coin", (Term("tails"),))})
    assert game.terminal(last)
    assert game.goals(last) == {x: [0], random: []}


@pytest.mark.parametrize(
    ("name", "plays", "length", "first"),
    [
        ("montyhall", 300, (3, 0), (50, 2.9)),  # three steps; a random candidate wins one time in two
        ("tictactoe", 60, (7.62, 0.2), None),  # mean length of random play, as two other engines measure it
        ("meier", 60, None, (34.9, 6.2)),  # random against random, first player
    ],
)
def test_random_play_agrees_with_other_engines(name, plays, length, first, shared) -> None:
    """(mean, standard error of our sample): within three standard errors."""
    game = Interpreter(read_gdl(shared / "games" / "gdl" / f"{name}.gdl"))
    rng = np.random.default_rng(0)
    results = [game.playout(rng) for _ in range(plays)]
    player = next(role for role in game.roles if str(role) != "random")
    if length is not None:
        assert np.mean([n for n, _ in results]) == pytest.approx(length[0], abs=3 * length[1] + 1e-9)
    if first is not None:
        assert np.mean([goals[player][0] for _, goals in results]) == pytest.approx(first[0], abs=3 * first[1])
