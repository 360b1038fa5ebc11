"""Game descriptions as games: observations, chance, and the numbers that prove the semantics."""

from __future__ import annotations

import pickle
from math import isclose

import numpy as np
import pytest

from conftest import form_of
from extent import mark_slow
from infoset import SequenceForm, TabularPolicy, load, solve, testing
from infoset.errors import BudgetError, FormatError, GameRuleError, IllegalActionError, UnknownNameError
from infoset.gdl.game import GdlGame
from infoset.gdl.grounding import Budget
from infoset.gdl.lazy import LazyEvaluator
from infoset.gdl.library import description, library
from infoset.gdl.playouts import findings, random_playouts
from infoset.gdl.rules import EvaluatorWarning, GdlWarning
from infoset.gdl.syntax import parse_gdl

LARGE = ("breakthrough", "connect_four")
NO_GROUNDING = Budget(rules=0)


def game(text: str) -> GdlGame:
    return GdlGame(parse_gdl(text))


def choices(form: SequenceForm) -> int:
    """How many information sets have at least two moves."""
    return int((form.arrays.size > 1).sum())


@pytest.mark.parametrize(
    ("described", "native", "centre", "unit", "sets"),
    [("gdl:kuhn_poker", "kuhn_poker", 50, 25, 12), ("gdl:leduc_poker", "leduc_poker", 50, 3, 936)],
)
def test_described_poker_is_native_poker(described, native, centre, unit, sets) -> None:
    """Goals are 50 plus so many points a chip: the same values and the same information sets with a choice."""
    one, other = form_of(described), form_of(native)
    assert choices(one) == choices(other) == sets
    values, chips = solve(one, "lp").values, solve(other, "lp").values
    assert values == pytest.approx([centre + unit * chip for chip in chips], abs=1e-9 * unit)


def test_monty_hall() -> None:
    """The candidate always switches and wins two times in three (Schofield and Thielscher 2019)."""
    solution = solve(form_of("gdl:monty_hall"), "cfr+", target=1e-9)
    assert solution.values[0] == pytest.approx(200 / 3, abs=1e-6)
    last = [row for row in solution.policy.tables[0].values() if "switch" in row]
    assert len(last) == 6  # one of three doors chosen, one of the two others opened
    assert all(row["switch"] == pytest.approx(1, abs=1e-6) for row in last)


def test_scissors_count_double() -> None:
    """Equilibrium (.4, .4, .2) and value 50: weights go by the other two's stakes, 2 : 2 : 1."""
    solution = solve(form_of("gdl:scissors_double"), "lp")
    assert solution.values == pytest.approx((50, 50), abs=1e-9)
    for player in range(2):
        (row,) = solution.policy.tables[player].values()
        assert row == pytest.approx({"rock": 0.4, "paper": 0.4, "scissors": 0.2}, abs=1e-9)


def test_moves_of_nature_with_one_effect_are_one() -> None:
    """A tie is broken only where there is one; 36 rolls of two dice are 21 values, doubles half as likely."""
    start = load("gdl:blind_tic_tac_toe").start().state
    assert start.chance_outcomes((("mark", 1, 1), ("mark", 2, 2))) == ()
    assert [p for _, p in start.chance_outcomes((("mark", 1, 1), ("mark", 1, 1)))] == [0.5, 0.5]
    biased = load("gdl:blind_tic_tac_toe_x_bias").start().state
    assert sorted(p for _, p in biased.chance_outcomes((("mark", 1, 1), ("mark", 1, 1)))) == pytest.approx(
        [1 / 3, 2 / 3]
    )
    rolls = load("gdl:meier").start().state.chance_outcomes(("noop", "noop"))
    assert sorted(p * 36 for _, p in rolls) == pytest.approx([1] * 6 + [2] * 15)


def test_percepts_and_moves_are_what_a_player_knows() -> None:
    """Before the first move there is nothing to see; a step without percepts is still a step."""
    rules = load("gdl:blind_tic_tac_toe")
    start = rules.start()
    assert [start.observation(p) for p in range(2)] == [None, None]
    corner, centre = ("mark", 1, 1), ("mark", 2, 2)
    step = start.state.play((corner, centre))
    assert step.observations == (("ok",), ("ok",))
    again = step.state.play((centre, ("mark", 3, 3)))
    assert again.observations == ((), ("ok",))
    assert again.state.legal_actions(0) == tuple(
        ("mark", m, n) for m in (1, 2, 3) for n in (1, 2, 3) if ("mark", m, n) not in (corner, centre)
    )


def test_without_percepts_and_nature_everyone_sees_every_move() -> None:
    step = load("gdl:tic_tac_toe").start().state.play((("mark", 2, 2), "noop"))
    assert step.observations == ((("mark", 2, 2), "noop"),) * 2


LEAK = """
(role a) (role b) (init (phase 1)) (legal a left) (legal a right) (<= (legal b wait) (true (phase 1)))
(<= (legal b stop) (true (phase 2))) (<= (legal b (more ?m)) (true (phase 2)) (true (told ?m)))
(<= (next (phase 2)) (true (phase 1))) (<= (next (told ?m)) (does a ?m)) (<= terminal (true done))
(<= (next done) (true (phase 2))) (<= (next paid) (does b (more ?m))) (goal a 0) (<= (goal b 100) (true paid))
(<= (goal b 0) (not (true paid))) (<= (sees a ?m) (does a ?m))
"""


def test_legal_moves_that_tell_something_are_observed() -> None:
    """b never sees what a did, but its own action set shows it; a's action set tells a nothing."""
    leaky = game(LEAK)
    assert leaky.rules.offers == (False, True)
    step = leaky.start().state.play(("left", "wait"))
    assert step.observations == (("left",), (("offered", ("more", "left"), "stop"),))
    testing.check_game(leaky)
    assert "b tell it more" in findings(leaky, random_playouts(leaky, 10))[0]


@pytest.mark.parametrize("name", [name for name in library() if name not in LARGE])
def test_shipped_games_pass_the_conformance_test(name) -> None:
    testing.check_game(load(f"gdl:{name}"), plays=8)


@pytest.mark.parametrize("name", ["kuhn_poker", "monty_hall", "scissors_double"])
def test_what_does_not_ground_is_evaluated_lazily(name) -> None:
    """The same game, whichever evaluator runs it."""
    with pytest.warns(EvaluatorWarning, match="too many rules"):
        lazy = GdlGame(description(name), budget=NO_GROUNDING)
    assert isinstance(lazy.rules.evaluator, LazyEvaluator)
    testing.check_game(lazy, plays=8)
    one, other = SequenceForm.of(lazy), form_of(f"gdl:{name}")
    assert solve(one, "cfr+", iterations=50).values == solve(other, "cfr+", iterations=50).values
    played = random_playouts(lazy, 300, seed=1)
    fast = random_playouts(load(f"gdl:{name}"), 100_000, seed=1)
    for role in lazy.players:
        assert abs(played.returns[role].value - fast.returns[role].value) <= 2.5 * played.returns[role].margin + 1e-9
    assert isclose(played.length.value, fast.length.value, rel_tol=0.1)


def test_states_are_values() -> None:
    """Equal after pickling and along different ways to the same position."""
    start = load("gdl:tic_tac_toe").start().state
    assert pickle.loads(pickle.dumps(start)) == start
    orders = ([(1, 1), (1, 2), (2, 2), (3, 3)], [(2, 2), (3, 3), (1, 1), (1, 2)])
    ends = []
    for order in orders:
        state = start
        for k, cell in enumerate(order):
            mark: list[object] = ["noop", "noop"]
            mark[k % 2] = ("mark", *cell)
            state = state.play(tuple(mark)).state
        ends.append(state)
    assert ends[0] == ends[1]
    assert hash(ends[0]) == hash(ends[1])
    assert "(cell 1 1 x)" in repr(ends[0])


def test_the_cache_of_transitions_is_visible() -> None:
    rules = GdlGame(description("kuhn_poker"))
    rules.rules.transitions.cache_clear()
    state = rules.start().state
    for _ in range(3):
        state.play(("noop", "noop"), state.chance_outcomes(("noop", "noop"))[0][0])
    assert (rules.cache_info().hits, rules.cache_info().misses) == (5, 1)


LOTTERY = (
    "(role x) (role random) (init s) (legal x wait) (<= (legal random (draw ?a ?b)) (d ?a) (d ?b)) (<= terminal (true (won ?a))) "
    + ("(<= (next (won ?a)) (does random (draw ?a ?b))) (goal x 0) " + " ".join(f"(d {k})" for k in range(20)))
)


def test_one_of_many_moves_of_nature_is_drawn_without_listing_them() -> None:
    """400 moves that come to 20 outcomes: any of the 400 is drawn, and played."""
    lottery = game(LOTTERY)
    state = lottery.start().state
    rng = np.random.default_rng(0)
    answers = {state.draw(("wait",), rng) for _ in range(300)}
    assert len(answers) > 150
    assert lottery.cache_info().misses == 0
    assert {state.play(("wait",), answer).state for answer in answers} == {
        state.play(("wait",), answer).state for answer, _ in state.chance_outcomes(("wait",))
    }
    testing.check_game(lottery)
    with pytest.raises(IllegalActionError, match="chance cannot choose"):
        state.play(("wait",), ("draw", 1, 99))


def test_large_games_are_refused_with_their_size() -> None:
    with pytest.raises(BudgetError, match=r"gdl:meier has [\d,]+ histories \(of 7,934 distinct positions\)"):
        SequenceForm.of(load("gdl:meier"))


@pytest.mark.parametrize("move", [("conquer", 1), "noop ", ("mark", 1, 1, 1), 7, ("mark", "1", 1)])
def test_unknown_moves_are_refused(move) -> None:
    with pytest.raises(IllegalActionError, match="player 0 cannot play"):
        load("gdl:tic_tac_toe").start().state.play((move, "noop"))


STUCK = "(role x) (role y) (init a) (legal x go) (<= (legal y go) (true a)) (<= (next b) (true a)) (<= terminal (true c)) (goal x 1) (goal y 1)"


def test_a_stuck_role_is_an_error_with_the_state() -> None:
    """Nobody may be asked there; the game can still be played elsewhere."""
    state = game(STUCK).start().state.play(("go", "go")).state
    with pytest.raises(GameRuleError, match=r"y has no legal move, and the game is not over, at b"):
        state.legal_actions(1)


def test_of_several_goal_values_the_first_rule_counts() -> None:
    text = "(role x) (init a) (legal x go) (<= terminal (true b)) (<= (next b) (true a)) (<= (goal x 30) (true b)) (<= (goal x 70) (true b))"
    assert game(text).start().state.play(("go",)).state.returns() == (30.0,)
    assert game(text.replace("30", "90")).start().state.play(("go",)).state.returns() == (90.0,)
    played = random_playouts(game(text), 10)
    assert played.several_goals == {"x": 10}
    assert played.goals == {"x": {30: 10}}


def test_broken_descriptions_are_refused_with_rule_and_place() -> None:
    with pytest.raises(FormatError, match=r"<text>:2:1: unsafe: \?p is bound by no positive atom.*legal x \?p"):
        game("(role x) (init a) (goal x 0) (<= terminal (true a))\n(<= (legal x ?p) (true a))")


def test_repairs_are_warnings() -> None:
    text = "(role x) (init a) (init a) (legal x go) (<= terminal (true a)) (goal x 0)"
    with pytest.warns(GdlWarning, match="the rule is repeated"):
        game(text)


def test_names() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'gdl:meier'"):
        load("gdl:maier")
    assert load("gdl:meier").players == ("p1", "p2")


def test_policies_of_described_games_are_saved_and_loaded(tmp_path) -> None:
    """Information states with compound moves and percepts go into keys and come back."""
    solution = solve(form_of("gdl:monty_hall"), "cfr", iterations=20)
    saved = solution.policy.save(tmp_path / "policy.npz")
    assert TabularPolicy.load(saved).tables == solution.policy.tables


REAL = ("CabbageGoatWolf", "hanoi", "KriegTictactoe", "mastermind448", "minesweeper", "stratego", "vis_pacman3p")


@pytest.mark.filterwarnings("ignore::infoset.gdl.rules.GdlWarning")  # minesweeper says `not open`
@pytest.mark.parametrize("name", mark_slow(REAL, {"minesweeper", "stratego"}))
def test_real_games_play(name, shared) -> None:
    """Random plays end, whoever wrote the rules; two plays to the end through the game itself."""
    rules = load(str(shared / "games" / "gdl" / f"{name}.gdl"))
    played = random_playouts(rules, 2000, max_steps=1000)
    assert played.finished == 2000
    rng = np.random.default_rng(0)
    for _ in range(2):
        state = rules.start().state
        while not state.terminal:
            action_sets = [state.legal_actions(p) for p in range(len(rules.players))]
            moves = tuple(action_set[int(rng.integers(len(action_set)))] for action_set in action_sets)
            state = state.play(moves, state.draw(moves, rng)).state


def test_two_goal_values_in_a_real_file(shared) -> None:
    """Both players may complete a line at once in this file: about 1.6 % of random plays."""
    played = random_playouts(load(str(shared / "games" / "gdl" / "kriegTTT_5x5.gdl")), 20_000)
    assert 0.012 < played.several_goals["xplayer"] / played.finished < 0.021
