"""Games of perfect information with simultaneous actions, by stages: against the tree, against rules, in files."""

import signal

import numpy as np
import pytest

import infoset
from infoset import evaluate, load, solve
from infoset.compiled import Compiled
from infoset.errors import BudgetError, CheckpointError, ParameterError, PolicyError, UnsupportedGameError
from infoset.evaluation import tabulated
from infoset.games.rules import Ended, NativeState, Rules, seats
from infoset.match.series import play_series
from infoset.policies.loading import load_policy
from infoset.policies.stage_policy import StagePolicy
from infoset.solvers.job import Watcher
from infoset.solvers.tabular.stages import StageJob
from infoset.tree.graph import explore
from infoset.tree.stage_form import StageForm
from infoset.tree.stage_pass import StagePass

DESCRIBED = (
    "oshi_zumo(coins=3,horizon=4)",
    "oshi_zumo(coins=4,min_bid=1,size=1)",
    "oshi_zumo(coins=3,min_bid=2,size=1)",
    "oshi_zumo(coins=3,size=1,horizon=4,alesia=true)",
    "goofspiel(num_cards=2)",
    "goofspiel(num_cards=3)",
    "goofspiel(num_cards=3,returns_type=point_difference)",
    "goofspiel(num_cards=4,points_order=descending)",
    "goofspiel(num_cards=4,points_order=ascending,returns_type=point_difference)",
    "goofspiel(num_cards=5,points_order=descending)",
)


def passed(form: StageForm, tolerance: float = 1e-13) -> StagePass:
    work = StagePass(form, tolerance=tolerance)
    work.least = min(work.least, tolerance)
    while not work.over:
        work.step()
    return work


@pytest.mark.parametrize("name", DESCRIBED)
def test_the_profile_is_an_equilibrium_of_the_tree(name: str) -> None:
    """The tree, which knows nothing of stages, finds the value of the linear program and nothing to gain."""
    solution = solve(name, "backward-induction")
    assert isinstance(solution.policy, StagePolicy) and solution.stopped == "exact"
    assert solution.exploitability <= 1e-12
    on_tree = evaluate(name, tabulated(name, solution.policy))
    assert on_tree.exploitability <= 1e-12
    np.testing.assert_allclose(on_tree.values, solution.values, atol=1e-12)
    np.testing.assert_allclose(solution.values, solve(name, "lp").values, atol=1e-9)


@pytest.mark.parametrize("name", DESCRIBED)
def test_described_stages_are_those_of_the_rules(name: str) -> None:
    """Along random plays the value of each state is that found on the positions, and actions are those of the rules."""
    game = load(name)
    described, found = StageForm.of(game), StageForm.on_positions(explore(game))
    results = [passed(form).found for form in (described, found)]
    rng = np.random.default_rng(0)
    for _ in range(30):
        step = game.start()
        known = [[], []]
        if step.observation(0) is not None:
            known = [[(None, step.observation(p))] for p in range(2)]
        state = step.state
        while not state.terminal:
            legal = [state.legal_actions(p) for p in range(2)]
            if any(legal):
                places = [form.find(p, tuple(known[p])) for form in (described, found) for p in range(2)]
                assert places[0] == places[1] and places[2] == places[3] and None not in places
                one, two = (form.arrays for form in (described, found))
                at, there = places[0], places[2]
                assert (one.rows[at.stage], one.columns[at.stage]) == tuple(map(len, legal))
                if int(np.diff(one.outcome[at.context : at.context + 2])[0]) == 1 and not one.gain.any():
                    paid = results[0].expected[results[0].begin[at.context] + one.place[at.stage]]
                    assert paid == pytest.approx(results[1].expected[two.place[there.stage]], abs=1e-12)
            actions = [some[rng.integers(len(some))] if some else None for some in legal]
            outcomes = [outcome for outcome, _ in state.chance_outcomes(actions)] or [None]
            step = state.play(actions, outcomes[rng.integers(len(outcomes))])
            for p in range(2):
                known[p].append((actions[p], step.observation(p)))
            state = step.state


@pytest.mark.parametrize("name", ["rock_paper_scissors", "gdl:scissors_double", "goofspiel(num_cards=3)"])
def test_stages_are_found_on_positions(name: str) -> None:
    form = StageForm.on_positions(explore(load(name)))
    expected, best, worst = passed(form).at_start()
    assert best - worst <= 1e-12
    assert expected + form.sum / 2 == pytest.approx(solve(name, "lp").values[0], abs=1e-9)


class Duel(NativeState, tuple):
    """Two rounds of matching pennies, won by who is ahead; chance decides what the second one pays, which all see."""

    def legal_actions(self, player):
        return ("heads", "tails")

    def chance_outcomes(self, actions):
        return () if self else ((1, 0.75), (3, 0.25))

    def returns(self):
        return (0.0, 0.0)

    def play_unchecked(self, actions, chance_outcome=None):
        won = 1.0 if actions[0] == actions[1] else -1.0
        if not self:
            return infoset.Observed(Duel((won, chance_outcome)), ((*actions, chance_outcome),) * 2)
        total = self[0] + won * self[1] + (won > 0)  # the first player gets one more for the second match
        return infoset.Observed(Ended((total, 5.0 - total)), (tuple(actions),) * 2)


def test_chance_after_the_actions_and_a_constant_sum_other_than_0() -> None:
    """By hand: the second round, of ±p with 1 more for a match, is a 2x2 game worth (p+1-p)/2 = 1/2; the first one 0."""
    game = Rules("duel", seats(2), infoset.Observed(Duel(), (None, None)))
    solution = solve(game, "backward-induction")
    np.testing.assert_allclose(solution.values, (0.5, 4.5), atol=1e-13)
    assert solution.exploitability <= 1e-13
    assert evaluate(game, tabulated(game, solution.policy)).exploitability <= 1e-12


def test_a_pass_in_fractions_finds_the_same_values() -> None:
    """With a negative tolerance no solution of floating-point numbers is good enough: all stages take the slow way."""
    form = StageForm.of(load("goofspiel(num_cards=4,points_order=descending,returns_type=point_difference)"))
    exactly, fast = passed(form, tolerance=-1.0), passed(form)
    assert exactly.solved_again > 0 and fast.solved_again == 0
    np.testing.assert_allclose(exactly.found.expected, fast.found.expected, atol=1e-13)


def test_goofspiel_with_hands_that_compare_alike_has_one_stage() -> None:
    """Hands 2, 5 against 3, 4 compare like 1, 4 against 2, 3; the pairs of hands of 13 cards are 10 million."""
    form = StageForm.of(load("goofspiel(num_cards=6,returns_type=point_difference)"))
    by_cards = np.bincount(form.arrays.rows)
    assert by_cards.tolist()[:4] == [1, 3, 13, 63]  # the central Delannoy numbers, for hands of up to 3 of 6 cards
    assert by_cards[6] == 1


def test_first_bids_of_goofspiel_with_two_cards() -> None:
    """By hand: who loses the prize on the table wins the other one, so the card of the prize is dominant."""
    compiled = Compiled.of("goofspiel(num_cards=2,returns_type=point_difference)")
    solution = solve(compiled, "backward-induction")
    play = solution.policy.on(compiled)
    for prize, expected in ((1, [1.0, 0.0]), (2, [0.0, 1.0])):
        for player in range(2):
            assert play.action_probabilities(player, ((None, prize),), (1, 2)) == expected
    assert play.action_probabilities(0, ((None, 3),), (1, 2)) is None


def test_oshi_zumo_stops_when_more_turns_change_nothing() -> None:
    form = StageForm.of(load("oshi_zumo(coins=6)"))
    work = passed(form)
    assert len(work.found.begin) == 1001 and work.done == len(work.batches)
    assert (work.found.begin[100:] == work.found.begin[100]).all()
    long, short = work.at_start(), passed(StageForm.of(load("oshi_zumo(coins=6,horizon=200)"))).at_start()
    np.testing.assert_array_equal(long, short)


def test_auto_takes_it_where_a_linear_program_would_be_slow() -> None:
    solution = solve("oshi_zumo(coins=12)")
    assert solution.method == "backward-induction" and "both players observe everything" in solution.reason
    assert solution.exploitability <= 1e-9
    assert solve("oshi_zumo(coins=3,horizon=3)").method == "lp"
    assert solve("goofspiel(num_cards=4,points_order=descending)").method == "lp"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("kuhn_poker", "P1 cannot tell histories apart at 'J'"),
        ("goofspiel(num_cards=3,imp_info=true)", "cannot tell histories apart"),
        ("goofspiel(num_cards=3,returns_type=total_points)", "needs two players, a constant sum"),
        ("goofspiel(num_cards=3,players=3)", "needs two players, a constant sum"),
    ],
)
def test_other_games_are_refused_in_a_sentence(name: str, words: str) -> None:
    with pytest.raises(UnsupportedGameError, match=words) as error:
        solve(name, "backward-induction")
    assert "\n" not in str(error.value)


def test_a_game_whose_values_do_not_fit_is_refused_before_they_are_made() -> None:
    with pytest.raises(BudgetError, match="states; their values take"):
        StageForm.of(load("goofspiel(num_cards=12)"))


def test_the_policy_is_saved_loaded_evaluated_and_played(tmp_path) -> None:
    name = "oshi_zumo(coins=8)"
    solution = solve(name, out=tmp_path / "run")
    loaded = load_policy(tmp_path / "run")
    assert isinstance(loaded, StagePolicy)
    found = evaluate(name, str(tmp_path / "run"))
    assert found.exact and found.exploitability <= 1e-12
    np.testing.assert_allclose(found.values, solution.values, atol=1e-12)
    series = play_series(name, [f"policy(path={tmp_path / 'run'})", "random"], games=10, seed=3)
    assert not any(series.agents[0].faults.values())
    with pytest.raises(ParameterError, match="best responses are not kept for stages"):
        evaluate(name, loaded, respond=True)
    with pytest.raises(PolicyError, match="was made for"):
        evaluate("oshi_zumo(coins=9)", loaded)


def test_a_worse_policy_is_found_out() -> None:
    """Evaluation believes no value: those of a file that are wrong make strategies that best responses exploit."""
    name = "goofspiel(num_cards=4,points_order=descending)"
    policy = solve(name, "backward-induction").policy
    rng = np.random.default_rng(5)
    wrong = StagePolicy(policy.game, policy.players, policy.begin, policy.values + rng.normal(size=policy.values.shape))
    found, on_tree = evaluate(name, wrong), evaluate(name, tabulated(name, wrong))
    assert found.exploitability > 0.01
    assert found.exploitability == pytest.approx(on_tree.exploitability, abs=1e-12)
    np.testing.assert_allclose(found.values, on_tree.values, atol=1e-12)


def test_damaged_files_are_refused(tmp_path) -> None:
    name = "goofspiel(num_cards=3)"
    path = solve(name, "backward-induction").policy.save(tmp_path / "policy.npz")
    arrays = dict(np.load(path))
    for array, wrong in (
        ("stage_values", arrays["stage_values"] * np.nan),
        ("stage_values", arrays["stage_values"][:, None]),
        ("begin", arrays["begin"] - 1),
        ("begin", arrays["begin"] + 10**6),
        ("header", arrays["header"][:10]),
    ):
        np.savez(tmp_path / "wrong.npz", **{**arrays, array: wrong})
        with pytest.raises(PolicyError, match="not a policy file"):
            StagePolicy.load(tmp_path / "wrong.npz")
    np.savez(tmp_path / "cut.npz", **{**arrays, "stage_values": arrays["stage_values"][:-1]})
    with pytest.raises(PolicyError, match="damaged"):
        evaluate(name, StagePolicy.load(tmp_path / "cut.npz"))


@pytest.mark.parametrize("name", ["oshi_zumo(coins=6)", "goofspiel(num_cards=5)"])
def test_it_goes_on_from_what_it_saved(name: str) -> None:
    form = StageForm.of(load(name))
    whole, cut, later = (StageJob(form, "backward-induction") for _ in range(3))
    whole.step(10**6)
    cut.step(4)
    assert cut.policy() is None and not cut.over and "level" in cut.about
    later.restore({key: array.copy() for key, array in cut.save().items()})
    later.step(10**6)
    assert whole.over and later.over and later.iteration == whole.iteration
    np.testing.assert_array_equal(whole.policy().values, later.policy().values)
    assert whole.evaluation() == later.evaluation()
    with pytest.raises(CheckpointError, match="does not fit"):
        later.restore({"iteration": np.array(3)})


def test_ctrl_c_leaves_a_run_that_is_resumed(tmp_path) -> None:
    """Each batch is an iteration, after which Ctrl-C stops; the run is then continued from its checkpoint."""

    def press(work, seconds) -> None:
        if work.iteration >= 2:
            signal.raise_signal(signal.SIGINT)

    name, out = "oshi_zumo(coins=6)", tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        solve(name, "backward-induction", out=out, watcher=Watcher(advance=press))
    solution = solve(out=out, resume=True)
    assert solution.stopped == "exact" and solution.exploitability <= 1e-12


def test_large_games_and_their_policies_are_shown_by_stages() -> None:
    name = "goofspiel(num_cards=6,returns_type=point_difference)"
    assert "too many to draw as a tree" in infoset.show(name)
    text = infoset.show(name, solve(name).policy)
    assert "stages             11,784, of 165,624 joint actions" in text
    assert text.count("\n") > 12 and "P2" in text
