"""Teams on their belief DAGs: sizes, values beside brute force and the double oracle, files, matches, resumed runs."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import infoset
from extent import examples, mark_slow, sample
from infoset import GameTree, SequenceForm, TabularPolicy, evaluate, load, play_match, play_series, show, solve
from infoset.clock import Clock
from infoset.compiled import Compiled
from infoset.errors import (
    BudgetError,
    CheckpointError,
    ClockError,
    ImperfectRecallError,
    ParameterError,
    PolicyError,
    UnknownNameError,
    UnsupportedGameError,
)
from infoset.match.agents import PolicyAgent
from infoset.policies.belief_policy import BeliefLottery, BeliefPlay, BeliefPolicy
from infoset.policies.loading import load_policy
from infoset.solvers.choose import choose
from infoset.solvers.config import SolveConfig
from infoset.solvers.method import parse_method
from infoset.solvers.teams import belief_passes, belief_programs, coordination
from infoset.solvers.teams.belief_passes import Duel
from infoset.solvers.teams.belief_regrets import BeliefRegrets
from infoset.solvers.teams.coordination import Team
from infoset.solvers.teams.team_maxmin import DoubleOracle, read_teams
from infoset.tree import belief_dag
from infoset.tree.belief_dag import BeliefDag
from random_games import RandomGame
from solvers.test_imperfect_recall import forgetful_game
from solvers.test_team_maxmin import SMALL, brute_force, pure_plans, table

FEW_PLANS = {
    2: [
        0, 1, 4, 7, 8, 10, 11, 13, 15, 16, 18, 19, 21, 22, 24, 29, 30, 31, 32, 36, 38, 39, 42, 44, 45, 46, 47, 48,
        50, 55, 58, 59, 62, 63, 64, 65, 69, 70, 71, 72, 73, 76, 79, 80, 81, 83, 85, 86, 93, 95,
    ],
    3: [
        2, 3, 6, 12, 20, 23, 24, 26, 33, 37, 40, 44, 52, 56, 60, 61, 68, 73, 75, 77, 82, 84, 89, 96, 98, 100, 103,
        108, 111, 115, 119, 126, 127, 132, 135, 142, 147, 155, 168, 169, 171, 173, 175, 177, 187, 189, 191, 196, 203,
        206,
    ],
}  # fmt: skip
"""Random games by depth in which everybody has a choice and brute force takes milliseconds."""
KUHN = "kuhn_poker(players=3)"
REFUSED = (
    r"the belief DAG of P1\+P2 takes more than [\d.]+ MiB, at [\d,]+ edges and more to come; half of the free memory"
)


def worked(form: SequenceForm, teams: tuple[tuple[int, ...], ...], iterations: int = 3000) -> BeliefRegrets:
    """Regret minimisation until nothing is left to gain, or for so many iterations."""
    work = BeliefRegrets(Duel.of(form, teams), parse_method("pdcfr+"), "belief-dag")
    while work.iteration < iterations and not work.over:
        work.step(99)
        work.point(0.0)
    return work


@pytest.fixture
def regrets_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No exact solution is looked for."""
    monkeypatch.setattr(belief_programs, "MOST_EDGES", 0)


@pytest.mark.parametrize(
    ("teams", "value"), [("1+2", -1 / 24), ("1+3", 0.026515152), ("2+3", 0.037878788)], ids=["1+2", "1+3", "2+3"]
)
def test_kuhn_for_three(teams: str, value: float, regrets_alone: None) -> None:
    found = solve(KUHN, "belief-dag", teams=teams, target=1e-6)
    assert found.stopped in ("target", "exact")
    assert found.notes["profile"] in ("average", "current")
    assert next(iter(found.notes["team_values"].values())) == pytest.approx(value, abs=2e-6)
    again = evaluate(KUHN, found.policy)
    assert again.values == pytest.approx(found.values, abs=1e-12)
    assert again.nash_conv == pytest.approx(found.nash_conv, abs=1e-12)


@pytest.mark.parametrize(
    ("cards", "teams", "value"),
    mark_slow([(6, "1+2", -0.023649958), (6, "2+3", 0.052541544), (8, "2+3", 0.062091583)], {(8, "2+3", 0.062091583)}),
)
def test_more_cards(cards: int, teams: str, value: float) -> None:
    """The programs find the solution to the last digit, soon after regrets have found what matters."""
    game = f"kuhn_poker(players=3,cards={cards})"
    found = solve(game, "belief-dag", teams=teams)
    assert (found.stopped, found.notes["profile"]) == ("exact", "exact")
    assert found.nash_conv <= 1e-9
    assert next(iter(found.notes["team_values"].values())) == pytest.approx(value, abs=1e-9)
    assert evaluate(game, found.policy).nash_conv <= 1e-9


@examples(100)
@given(seed=st.integers(0, 10_000), shape=st.sampled_from([(3, 2), (3, 3), (4, 2)]))
def test_tables_beside_brute_force(seed: int, shape: tuple[int, int]) -> None:
    players, actions = shape
    form = SequenceForm.of(table(seed, players, actions))
    for text in ("1+2", "1+3") if players == 3 else ("1+2,3+4", "1+4,2+3", "1,2+3+4"):
        teams = read_teams(text, form.players)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(belief_programs, "MOST_EDGES", 0 if seed % 2 else 8000)
            found = worked(form, teams).evaluation()
        value = sum(found.values[player] for player in teams[0])
        assert abs(value - brute_force(form, teams)) <= found.nash_conv + 1e-9
        assert found.nash_conv <= 1e-4


@pytest.mark.parametrize("seed", SMALL)
def test_best_plans_beside_all_of_them(seed: int) -> None:
    """Random trees with chance, hidden and simultaneous moves, against ends that are worth anything."""
    form = SequenceForm.of(RandomGame(seed, num_players=3, depth=3))
    for members in ((0, 1), (0, 2), (1, 2), (0, 1, 2), (0,)):
        team = Team.of(form, members)
        others = np.random.default_rng(seed).random(len(team.ends))
        plans = [pure_plans(form, player) for player in members]
        values = [float(team.paid @ (others * team.played(sum(one)))) for one in product(*plans)]
        dag = BeliefDag.of(form, members)
        worth = np.bincount(dag.leaf_of_row, team.paid * others, dag.num_leaves)
        best = belief_passes.best_value(dag.arrays, worth, np.zeros(dag.num_beliefs))
        assert best == pytest.approx(max(values), abs=1e-9)


@pytest.mark.parametrize("seed", range(100))
def test_best_plans_beside_the_integer_program(seed: int) -> None:
    """Both are the maximum over the same joint plans."""
    form = SequenceForm.of(RandomGame(seed, num_players=3, depth=3))
    if form.num_terminals > sample(100, 1000):  # where the integer program takes seconds
        return
    for members in ((0, 1), (0, 2), (1, 2)):
        team = Team.of(form, members)
        others = np.random.default_rng(seed).random(len(team.ends))
        dag = BeliefDag.of(form, members)
        worth = np.bincount(dag.leaf_of_row, team.paid * others, dag.num_leaves)
        best = belief_passes.best_value(dag.arrays, worth, np.zeros(dag.num_beliefs))
        assert best == pytest.approx(team.best(others).bound, abs=1e-7)


def opposed(seed: int, depth: int = 3) -> GameTree:
    """A random tree whose third player is paid what the others lose."""
    tree = GameTree.of(RandomGame(seed, num_players=3, depth=depth))
    payoffs = tree.graph.payoffs.copy()
    payoffs[:, 2] = -payoffs[:, 0] - payoffs[:, 1]
    return replace(tree, graph=replace(tree.graph, payoffs=payoffs))


@pytest.mark.parametrize(("depth", "place"), [(depth, place) for depth in FEW_PLANS for place in range(0, 50, 10)])
def test_a_hundred_trees_beside_column_generation_and_brute_force(depth: int, place: int) -> None:
    """Each with a pair of players as a team: three ways to one value."""
    for number, seed in enumerate(FEW_PLANS[depth][place : place + 10], start=place):
        form = SequenceForm.of(opposed(seed, depth))
        teams = read_teams(("1+2", "1+3", "2+3")[number % 3], form.players)
        expected = brute_force(form, teams)
        columns = DoubleOracle(form, teams, seed=number)
        columns.step(1000)
        assert columns.done
        assert columns.bounds == pytest.approx((expected, expected), abs=1e-8)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(belief_programs, "MOST_EDGES", 0 if number % 2 else 8000)
            found = worked(form, teams).evaluation()
        assert found.nash_conv <= 1e-4
        assert abs(sum(found.values[player] for player in teams[0]) - expected) <= found.nash_conv + 1e-9


@pytest.mark.parametrize("seed", range(sample(15, 60)))
def test_trees_beside_the_double_oracle(seed: int) -> None:
    tree = opposed(seed)
    for teams, members in (("1+2", [0, 1]), ("1+3", [0, 2]), ("2+3", [1, 2])):
        proved = solve(tree, "team-maxmin", teams=teams)
        found = solve(tree, "belief-dag", teams=teams, iterations=1000)
        assert found.nash_conv <= 1e-6
        gap = abs(sum(found.values[k] for k in members) - sum(proved.values[k] for k in members))
        assert gap <= found.nash_conv + proved.nash_conv + 1e-9


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "liars_dice(dice_sides=3)"])
def test_a_player_alone_has_the_sequence_form(name: str) -> None:
    """As many beliefs as information sets, as many edges as actions, and a tree."""
    form = SequenceForm.of(load(name))
    for player in range(2):
        dag = BeliefDag.of(form, (player,))
        own = form.player_sequences(player)
        assert sorted(dag.arrays.infoset.tolist()) == list(form.player_infosets(player))
        assert dag.num_edges == own.stop - own.start - 1
        reached = np.concatenate([dag.arrays.child, dag.arrays.roots])
        assert sorted(reached.tolist()) == list(range(dag.num_beliefs))
        assert sorted(np.concatenate([dag.arrays.leaf, dag.arrays.at_once]).tolist()) == list(range(dag.num_leaves))


def test_two_players_alone() -> None:
    found = solve("kuhn_poker", "belief-dag", teams="1,2", target=1e-7)
    assert found.values[0] == pytest.approx(-1 / 18, abs=1e-6)


def test_two_against_two(regrets_alone: None) -> None:
    game = "kuhn_poker(players=4)"
    found = solve(game, "belief-dag", teams="1+3,2+4", iterations=700)
    proved = solve(game, "team-maxmin", teams="1+3,2+4")
    assert abs(found.notes["team_values"]["P1+P3"] - proved.notes["team_values"]["P1+P3"]) <= found.nash_conv + 1e-9
    assert evaluate(game, found.policy).nash_conv == pytest.approx(found.nash_conv, abs=1e-12)


@pytest.mark.parametrize("update", ["cfr", "cfr+", "dcfr", "pcfr+", "pdcfr+(alpha=2)"])
def test_methods_of_the_family(update: str) -> None:
    found = solve(KUHN, f"belief-dag(update={update})", teams="1+2", iterations=300)
    assert found.nash_conv < 0.06
    assert abs(found.values[2] - 1 / 24) <= found.nash_conv + 1e-9


def test_payoffs_with_another_constant_sum() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.integers(-4, 5, size=(2, 2, 2, 2)).astype(float)
    plain, shifted = (infoset.table_game(first, second, total - first - second) for total in (0.0, 3.0))
    found = [solve(game, "belief-dag", teams="1+2", iterations=300) for game in (plain, shifted)]
    assert [one.nash_conv <= 1e-2 for one in found] == [True, True]
    assert sum(found[0].values[:2]) == pytest.approx(sum(found[1].values[:2]), abs=2e-2)
    assert found[1].values[2] == pytest.approx(3.0 - sum(found[1].values[:2]), abs=1e-9)
    assert evaluate(shifted, found[1].policy).nash_conv == pytest.approx(found[1].nash_conv, abs=1e-12)
    proved = solve(shifted, "team-maxmin", teams="1+2")
    assert sum(proved.values[:2]) == pytest.approx(sum(found[1].values[:2]), abs=2e-2)


def test_members_without_a_choice() -> None:
    table = np.array([[[1.0, 2.0], [-1.0, 0.0]]])
    game = infoset.table_game(table, -table, 0 * table)
    found = solve(game, "belief-dag", teams="1+3")
    assert found.stopped == "exact"
    assert evaluate(game, found.policy).nash_conv < 1e-9
    lonely = infoset.table_game(table[:, :, :1], -table[:, :, :1], 0 * table[:, :, :1])
    found = solve(lonely, "belief-dag", teams="1+3")
    assert (found.stopped, found.values[0]) == ("exact", -1.0)
    assert evaluate(lonely, found.policy).nash_conv < 1e-9
    agents = [PolicyAgent(found.policy, f"agent {k}") for k in range(3)]
    assert not play_match(lonely, agents, seed=1).faults


def test_parents_come_before_children() -> None:
    a = BeliefDag.of(SequenceForm.of(load(KUHN)), (0, 1)).arrays
    owner = np.repeat(np.arange(len(a.infoset)), np.diff(a.first))
    assert (a.child > np.repeat(owner, np.diff(a.children))).all()


def test_a_large_dag_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(belief_dag, "MOST_EDGES", 100)
    with pytest.raises(
        BudgetError, match=r"the belief DAG of P1\+P2 has more than [\d,]+ edges; the limit is 100; take "
    ):
        solve(KUHN, "belief-dag", teams="1+2")


def test_a_large_dag_is_refused_before_it_takes_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    form, free = SequenceForm.of(load("leduc_poker(players=3,ranks=3)")), 64 << 20
    monkeypatch.setattr(belief_dag, "free_memory", lambda: free)
    tracemalloc.start()
    try:
        with pytest.raises(BudgetError, match=REFUSED):
            BeliefDag.of(form, (0, 1), limit=10**9)
        assert tracemalloc.get_traced_memory()[1] < free
    finally:
        tracemalloc.stop()


def test_building_ends_with_the_time_limit() -> None:
    """The method says so in one line, and where the method is chosen another one is taken."""
    compiled = Compiled.of(KUHN)
    assert compiled.form
    compiled.progress = Clock(0.0)
    with pytest.raises(
        ClockError, match=r"the belief DAG of P1\+P2 is not built in time: .* allow more --seconds, or take"
    ):
        solve(compiled, "belief-dag", teams="1+2")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coordination, "MOST_TUPLES", 100)
        found = choose(compiled, SolveConfig(teams="1+2"))
    assert found.method.name == "progressive-hiding"
    assert "the belief DAG of P1+P2 is not built in time" in found.why


def test_chosen_where_the_integer_program_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordination, "MOST_TUPLES", 100)
    found = solve(KUHN, teams="1+2", iterations=50)
    assert found.method == "belief-dag"
    assert "P1+P2 and P3 play against each other" in found.reason
    assert "their belief DAGs fit" in found.reason
    monkeypatch.setattr(belief_dag, "MOST_EDGES", 100)
    assert solve(KUHN, teams="1+2", iterations=3).method == "progressive-hiding"


def test_members_draw_the_same_plan(tmp_path: Path) -> None:
    """Two who guess each other's coin: matched by a draw that both know, against one who has to guess both."""
    coins = np.array([[[1.0, -1.0], [-1.0, -1.0]], [[-1.0, -1.0], [-1.0, 1.0]]])
    game = infoset.table_game(coins, coins, -2 * coins)
    found = solve(game, "belief-dag", teams="1+2", iterations=500)
    assert found.values[:2] == pytest.approx((0.0, 0.0), abs=1e-3)
    file = str(found.policy.save(tmp_path / "coins.npz"))
    agents = [PolicyAgent(load_policy(file), f"agent {k}") for k in range(3)]
    actions = set()
    for seed in range(60):
        match = play_match(game, agents, seed=seed)
        actions.add(match.steps[0].actions[:2])
    assert {a == b for a, b in actions} == {True}
    assert len(actions) == 2


def test_what_is_played_is_what_was_found(tmp_path: Path) -> None:
    found = solve(KUHN, "belief-dag", teams="1+2", iterations=300, out=tmp_path / "run")
    series = play_series(KUHN, [str(tmp_path / "run")] * 3, games=2000, seed=3)
    for player, score in enumerate(series.agents):
        assert abs(score.mean - found.values[player]) <= 2 * score.interval
    again = evaluate(KUHN, str(tmp_path / "run"))
    assert again.values == pytest.approx(found.values, abs=1e-12)
    assert again.nash_conv == pytest.approx(found.nash_conv, abs=1e-12)


def test_plans_are_drawn_with_the_right_probabilities() -> None:
    """The probability of each leaf beside its frequency among plans that were drawn."""
    policy = solve(KUHN, "belief-dag", teams="1+2", iterations=50).policy
    form = SequenceForm.of(load(KUHN))
    play = policy.on(Compiled.of(KUHN))
    rng = np.random.default_rng(1)
    lottery = policy.lotteries[0]
    counts = np.zeros(2 * len(play.draw(rng).chosen[0]))
    flow = np.zeros(len(counts))
    owner = np.repeat(np.arange(len(lottery.infoset)), np.diff(lottery.first))
    np.add.at(flow, 2 * lottery.infoset[owner] + lottery.action, lottery.probability * lottery.flow[owner])
    for _ in range(2000):
        chosen = play.draw(rng).chosen[0]
        led = np.flatnonzero(chosen >= 0)
        counts[2 * led + chosen[led]] += 1
    assert len(counts) == 2 * 32 == 2 * (len(form.player_infosets(0)) + len(form.player_infosets(1)))
    assert np.abs(counts / 2000 - flow).max() < 0.05


def test_an_exact_solution_is_found_again(tmp_path: Path) -> None:
    """A checkpoint does not hold it."""
    found = solve(KUHN, "belief-dag", teams="1+3", out=tmp_path / "run")
    more = solve(out=tmp_path / "run", resume=True, iterations=found.iterations + 50)
    assert (more.stopped, more.iterations, more.values) == ("exact", found.iterations, found.values)
    work = BeliefRegrets(Duel.of(SequenceForm.of(load(KUHN)), ((0, 2), (1,))), parse_method("pdcfr+"), "belief-dag")
    work.step(1000)
    again = BeliefRegrets(work.duel, parse_method("pdcfr+"), "belief-dag")
    again.restore(work.save())
    assert work.over
    assert again.over
    assert again.evaluation() == work.evaluation()


def test_runs_resume_bit_for_bit(tmp_path: Path, regrets_alone: None) -> None:
    whole = solve(KUHN, "belief-dag", teams="1+3", iterations=300, out=tmp_path / "whole")
    solve(KUHN, "belief-dag", teams="1+3", iterations=77, out=tmp_path / "cut")
    more = solve(out=tmp_path / "cut", resume=True, iterations=300)
    assert (more.values, more.nash_conv, more.iterations) == (whole.values, whole.nash_conv, whole.iterations)
    for mine, theirs in zip(more.policy.lotteries, whole.policy.lotteries, strict=True):
        assert np.array_equal(mine.probability, theirs.probability)


def test_checkpoints_that_do_not_fit() -> None:
    form = SequenceForm.of(load(KUHN))
    work = BeliefRegrets(Duel.of(form, ((0, 1), (2,))), parse_method("pdcfr+"), "belief-dag")
    work.step(10)
    saved = work.save()
    other = BeliefRegrets(Duel.of(form, ((0, 2), (1,))), parse_method("pdcfr+"), "belief-dag")
    with pytest.raises(CheckpointError, match="does not fit belief-dag"):
        other.restore(saved)
    again = BeliefRegrets(Duel.of(form, ((0, 1), (2,))), parse_method("pdcfr+"), "belief-dag")
    again.restore(saved)
    for one in (work, again):
        one.step(10)
    assert all(np.array_equal(work.save()[name], again.save()[name]) for name in saved)


def test_a_policy_keeps_what_it_says(tmp_path: Path) -> None:
    policy = solve(KUHN, "belief-dag", teams="1+2", iterations=30).policy
    again = load_policy(policy.save(tmp_path / "plans.npz"))
    assert isinstance(again, BeliefPolicy)
    for mine, theirs in zip(policy.lotteries, again.lotteries, strict=True):
        assert mine.members == theirs.members
        for name in ("infoset", "first", "action", "probability", "children", "child", "roots"):
            assert np.array_equal(getattr(mine, name), getattr(theirs, name))
    with pytest.raises(PolicyError, match=r"allowed: \.npz"):
        policy.save(tmp_path / "plans.json")
    with pytest.raises(PolicyError, match="kuhn_poker has"):
        policy.on(Compiled.of("kuhn_poker"))
    assert isinstance(infoset.evaluation.tabulated(KUHN, policy), TabularPolicy)


def test_damaged_lotteries() -> None:
    policy = solve(KUHN, "belief-dag", teams="1+2", iterations=5).policy
    good = policy.lotteries[0]
    changes = (
        {"probability": good.probability * 0.5}, {"child": good.child * 0}, {"infoset": good.infoset + 1000},
        {"first": good.first[:-1]}, {"children": good.children + 1}, {"action": good.action + 5},
        {"roots": good.roots - 1}, {"members": (0,)},
    )  # fmt: skip
    for change in changes:
        with pytest.raises(PolicyError):
            replace(policy, lotteries=(replace(good, **change), policy.lotteries[1]))
    assert isinstance(good, BeliefLottery)


def _overlapping(beliefs: int) -> BeliefLottery:
    """A chain in which every action leads to the next belief twice: 2 ** beliefs ways to the end."""
    edges = np.arange(beliefs)
    children = np.minimum(2 * np.arange(beliefs + 1), 2 * (beliefs - 1))
    return BeliefLottery(
        (0,), np.zeros(beliefs, np.int32), np.arange(beliefs + 1), np.zeros(beliefs, np.int32), np.ones(beliefs),
        children, np.repeat(edges[1:], 2).astype(np.int32), np.zeros(1, np.int32),
    )  # fmt: skip


def test_a_file_in_which_beliefs_overlap_does_not_hang_a_match() -> None:
    policy = BeliefPolicy("odd", ("P1",), (("a",),), ((("x", "y"),),), (_overlapping(60),))
    plan = BeliefPlay(policy).draw(np.random.default_rng(0))
    assert plan.chosen[0].tolist() == [0]


def test_an_action_twice_at_a_belief_is_damage() -> None:
    twice = BeliefLottery(
        (0,), np.zeros(1, np.int32), np.array([0, 2]), np.zeros(2, np.int32), np.array([0.5, 0.5]), np.zeros(3, np.int64),
        np.zeros(0, np.int32), np.zeros(1, np.int32),
    )  # fmt: skip
    with pytest.raises(PolicyError, match=r"the players 1 \(from 1\) do not fit"):
        BeliefPolicy("odd", ("P1",), (("a",),), ((("x", "y"),),), (twice,))


def test_probabilities_whose_product_is_nothing() -> None:
    """They lead to beliefs of which the flow is 0; the policy keeps these."""
    form = SequenceForm.of(load("leduc_poker"))
    dag = BeliefDag.of(form, [0])
    strategy = _uniform(dag)
    rare = np.setdiff1d(np.arange(dag.num_edges), dag.arrays.first)
    strategy[dag.arrays.first[:-1]], strategy[rare] = 1.0, 1e-170
    other = BeliefLottery.of(BeliefDag.of(form, [1]), _uniform(BeliefDag.of(form, [1])))
    policy = BeliefPolicy.from_lotteries(form, [BeliefLottery.of(dag, strategy), other])
    assert len(policy.lotteries[0].infoset) == dag.num_beliefs and policy.lotteries[0].flow.min() == 0.0


def _uniform(dag: BeliefDag) -> np.ndarray:
    sizes = np.diff(dag.arrays.first)
    return np.repeat(1.0 / sizes, sizes)


def test_shown() -> None:
    policy = solve(KUHN, "belief-dag", teams="1+2", iterations=5).policy
    text = str(show(KUHN, policy))
    assert "P1+P2 draw a plan at" in text
    assert "each player's own probabilities" in text


def test_bad_input() -> None:
    with pytest.raises(UnsupportedGameError, match="3 teams; belief-dag is for two"):
        solve(KUHN, "belief-dag", teams="1,2,3")
    with pytest.raises(UnsupportedGameError, match="the sum of payoffs is not constant"):
        solve("matching_pennies_3p", "belief-dag", teams="1+2")
    with pytest.raises(ParameterError, match="declares no teams"):
        solve(KUHN, "belief-dag")
    with pytest.raises(ParameterError, match=r"teams=1\+2,2\+3: P2 occurs in it twice"):
        solve(KUHN, "belief-dag", teams="1+2,2+3")
    with pytest.raises(UnknownNameError, match="unknown player of teams '4'; known: 1, 2, 3, P1, P2, P3"):
        solve(KUHN, "belief-dag", teams="1+4,2+3")
    with pytest.raises(ImperfectRecallError, match=r"P[12] has imperfect recall at information set"):
        solve(forgetful_game(1, players=2), "belief-dag", teams="1,2")
    with pytest.raises(ParameterError, match=r"update=lp; allowed: cfr, cfr\+"):
        solve(KUHN, "belief-dag(update=lp)", teams="1+2")
