"""The logit path: its equations, its derivatives, where it begins and where it ends."""

from math import exp
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import KUHN, SHARED
from extent import examples, sample
from infoset import GameTree, SequenceForm, check_profile, evaluate, load, solve
from infoset.base import FloatArray
from infoset.compiled import Compiled
from infoset.errors import BudgetError, ParameterError, UnsupportedGameError
from infoset.formats.efg import EfgGame, parse_efg
from infoset.formats.nfg import NfgGame, parse_nfg
from infoset.practice import solve_soon
from infoset.solvers.tabular import logit as module
from infoset.solvers.tabular.logit import LogitSolver, LogitSystem
from infoset.tree.graph import CHANCE, TERMINAL
from infoset.tree.plans import behaviour, check_plan, random_interior
from infoset.tree.sequence_form import ends, first_sequences
from random_games import RandomGame
from random_trees import random_tree

THREE = "kuhn_poker(players=3)"


def compiled(game: object) -> tuple[GameTree, SequenceForm]:
    tree = GameTree.of(load(game) if isinstance(game, str) else game)  # type: ignore[arg-type]
    return tree, SequenceForm.of(tree)


def payoffs_by_hand(tree: GameTree, form: SequenceForm, strategy: FloatArray) -> FloatArray:
    """What each move pays on average at its information set, by walking the tree: the system's slow twin."""
    first = first_sequences(tree, form)
    n = form.num_players

    def chance(node: int, child: int) -> float:
        position = int(tree.position[node])
        offset = child - int(tree.first_child[node])
        if tree.graph.player[position] == CHANCE:
            return float(tree.graph.probability[int(tree.graph.first_edge[position]) + offset])
        begin = int(first[tree.infoset[node]])
        return 1.0 if begin < 0 else float(strategy[begin + offset])

    def worth(node: int) -> FloatArray:
        if tree.player(node) == TERMINAL:
            return np.array(tree.graph.payoffs[tree.graph.content[tree.position[node]]])
        children = range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
        return sum((chance(node, c) * worth(c) for c in children), start=np.zeros(n))

    reach = [1.0]
    for node in range(1, len(tree.parent)):
        reach.append(reach[tree.parent[node]] * chance(int(tree.parent[node]), node))
    paid, weight = np.zeros(form.num_sequences), np.zeros(form.num_sequences)
    for node in range(len(tree.parent)):
        player = tree.player(node)
        begin = int(first[tree.infoset[node]]) if player >= 0 else -1
        if begin >= 0:
            for child in range(int(tree.first_child[node]), int(tree.first_child[node + 1])):
                q = begin + child - int(tree.first_child[node])
                paid[q] += reach[node] * worth(child)[player]
                weight[q] += reach[node]
    return np.divide(paid, weight, out=np.zeros_like(paid), where=weight > 0)


@examples(30)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_payoffs_and_derivatives_on_random_games(seed: int, players: int) -> None:
    tree, form = compiled(RandomGame(seed, players, 3))
    system = LogitSystem(tree, form)
    if not len(system.actions):
        return
    strategy = random_interior(form, seed)
    logs = np.log(strategy)
    paid = ends(tree, form)[2]
    middle = ((paid.max(axis=0) + paid.min(axis=0)) / 2)[form.infoset_player[form.infoset_of[system.actions]]]
    by_hand = payoffs_by_hand(tree, form, strategy)[system.actions]
    assert system.range * system.payoffs(logs)[system.actions] + middle == pytest.approx(by_hand, abs=1e-9)
    rationality, h = 0.7, 1e-6
    failing, slopes = system.at(logs, rationality)
    assert (system.at(logs, rationality + h)[0] - failing) / h == pytest.approx(slopes[:, -1], abs=1e-4)
    for column, action in enumerate(system.actions):
        moved = logs.copy()
        moved[action] += h
        measured = (system.at(moved, rationality)[0] - failing) / h
        assert measured == pytest.approx(slopes[:, column], rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("name", [KUHN, THREE])
@pytest.mark.parametrize("at", [0.0, 0.5, 3.0, 40.0])
def test_points_satisfy_the_logit_equations(name: str, at: float) -> None:
    """Chances proportional to exponentials of payoffs, to 1e-9; at λ = 0 that is uniform play, the centroid."""
    tree, form = compiled(name)
    solution = solve(name, f"logit(at={at})")
    assert solution.notes["lambda"] == pytest.approx(at, abs=1e-12)
    strategy = behaviour(form, solution.policy.plan(form))
    paid = payoffs_by_hand(tree, form, strategy)
    for k in range(form.num_infosets):
        actions = slice(int(form.arrays.first[k]), int(form.arrays.first[k]) + int(form.arrays.size[k]))
        wanted = np.exp(at * (paid[actions] - paid[actions].max()))
        assert strategy[actions] == pytest.approx(wanted / wanted.sum(), abs=1e-9)


def test_one_decision_in_closed_form() -> None:
    game = NfgGame(parse_nfg('NFG 1 R "" { "A" } { 2 } 1 0'), "choice")
    probabilities = solve(game, "logit(at=3)").policy.probabilities(0, "start")
    assert probabilities["1"] == pytest.approx(1 / (1 + exp(-3)), abs=1e-12)


def test_the_risk_dominant_equilibrium_of_a_coordination_game() -> None:
    """2 x 2 games with two pure equilibria: the path from uniform play selects the risk-dominant one (Turocy 2005)."""
    stag = NfgGame(
        parse_nfg('NFG 1 R "" { "A" "B" } { { "stag" "hare" } { "stag" "hare" } } 9 9  8 0  0 8  7 7'), "hunt"
    )
    solution = solve(stag, "logit")
    assert solution.policy.probabilities(0, "start")["hare"] > 1 - 1e-6
    assert solution.epsilon < 1e-7
    assert solution.stopped == "end of the path"


def test_asymmetric_matching_pennies_keeps_its_own_payoff_effect() -> None:
    """McKelvey & Palfrey 1995: between uniform play and the equilibrium the player paid more plays that move more."""
    game = NfgGame(parse_nfg('NFG 1 R "" { "A" "B" } { 2 2 } 9 0  0 1  0 1  1 0'), "pennies")
    row = [solve(game, f"logit(at={at})").policy.probabilities(0, "start")["1"] for at in (0.1, 1.0, 100.0)]
    assert row[0] > 0.5 and row[1] > 0.5
    assert row[2] == pytest.approx(0.5, abs=0.03)  # the equilibrium's chance
    column = solve(game, "logit").policy.probabilities(1, "start")["1"]
    assert column == pytest.approx(0.1, abs=1e-6)


@pytest.mark.parametrize("players", [2, 3])
def test_kuhn_poker_ends_at_an_equilibrium(players: int) -> None:
    """In the published family for three players (Szafron, Gibson & Sturtevant 2013): the second is paid -1/48."""
    solution = solve(f"kuhn_poker(players={players})", "logit")
    assert solution.epsilon < 1e-6
    assert solution.values[players - 2] == pytest.approx(-1 / 18 if players == 2 else -1 / 48, abs=1e-6)


def test_it_stops_and_goes_on_bit_for_bit() -> None:
    tree, form = compiled(THREE)
    whole, first, second = (LogitSolver(tree, form) for _ in range(3))
    whole.step(30)
    first.step(11)
    second.restore(first.save())
    second.step(19)
    for name, array in whole.arrays.items():
        assert (second.arrays[name] == array).all(), name
    assert first.total is None


def test_a_path_lost_in_rounding_errors_ends_with_what_it_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "NEWTON_STEPS", 0)
    solution = solve(KUHN, "logit")
    assert "rounding errors" in solution.notes["ended"]
    assert solution.policy is not None


def test_nobody_chooses() -> None:
    assert solve(NfgGame(parse_nfg('NFG 1 R "" { "A" "B" } { 1 1 } 1 2'), "alone"), "logit").values == (1.0, 2.0)


def test_bad_parameters_and_too_large_games(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ("-1", "nan", "1e13", "true", "high"):
        with pytest.raises(ParameterError, match="at="):
            solve(KUHN, f"logit(at={wrong})")
    tree, form = compiled(KUHN)
    with pytest.raises(UnsupportedGameError, match="sequence form alone"):
        solve(form, "logit")
    monkeypatch.setattr("infoset.memory.free_memory", lambda: 1000)
    with pytest.raises(BudgetError, match=r"24 moves, and 180 pairs of moves .*; the derivatives"):
        LogitSystem(tree, form)


FILES = sorted((SHARED / "games" / "efg").glob("*.efg")) if SHARED.exists() else []


@pytest.mark.skipif(not FILES, reason="no ../shared/games/efg here")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files(path: Path) -> None:
    """Every file with perfect recall ends at an equilibrium to 1e-6 of its payoffs' range."""
    try:
        tree, form = compiled(str(path))
    except UnsupportedGameError:
        pytest.skip("a player forgets")
    solver = LogitSolver(tree, form)
    while not solver.done[0]:
        solver.step(1)
    assert evaluate(form, solver.current()).epsilon <= 1e-6 * solver.system.range
    check_plan(form, solver.current(), "logit")


def test_what_a_player_is_paid_anyhow_changes_nothing() -> None:
    plain = NfgGame(parse_nfg('NFG 1 R "" { "A" "B" } { 2 2 } 2 1  0 0  0 0  1 3'), "plain")
    raised = NfgGame(
        parse_nfg('NFG 1 R "" { "A" "B" } { 2 2 } 1000002 1001  1000000 1000  1000000 1000  1000001 1003'), "raised"
    )
    found = [solve(game, "logit(at=3)").policy.probabilities(0, "start")["1"] for game in (plain, raised)]
    assert found[0] == pytest.approx(found[1], abs=1e-9)
    assert solve(raised, "logit").epsilon < 1e-6


def test_players_whose_payoffs_differ_in_size() -> None:
    """Each is measured by its own payoffs; where they lie far apart in scale, each has a ``λ`` of its own."""
    sure = NfgGame(parse_nfg('NFG 1 R "" { "A" "B" } { 1 2 } 0 1 1e10 0'), "sure")
    assert solve(sure, "logit").policy.probabilities(1, "start")["1"] > 1 - 1e-6
    far = solve(NfgGame(parse_nfg('NFG 1 R "" { "A" "B" } { 2 2 } 1e9 0  0 1  0 1  3e9 0'), "far"), "logit")
    assert set(far.notes["lambdas"]) == {"A", "B"}
    assert far.epsilon < 1e-6 * 3e9


@pytest.mark.slow
def test_a_run_to_a_point_goes_on_to_that_point(tmp_path: Path) -> None:
    solve(KUHN, "logit(at=5)", iterations=4, out=tmp_path / "run")
    found = solve(resume=True, out=tmp_path / "run", iterations=1000)
    assert found.method == "logit(at=5)"
    assert found.notes["lambda"] == 5.0


def test_play_off_the_path_has_settled_where_a_path_ends() -> None:
    """Nobody enters, but the threat to fight whoever does would not be carried out: the limit is sequential."""
    text = """EFG 2 R "entry" { "A" "B" }
        p "" 1 1 "" { "out" "in" } 0
        t "" 1 "" { 30 9 }
        p "" 2 1 "entered" { "fight" "share" } 0
        t "" 2 "" { 0 0 }
        t "" 3 "" { 3 3 }"""
    game = EfgGame(parse_efg(text), "entry")
    solution = solve(game, "logit")
    assert solution.policy.probabilities(1, "entered")["share"] == pytest.approx(1.0, abs=1e-8)
    assert solution.notes["set_gain"] <= 1e-9 * 30
    found = check_profile(game, solution.policy)
    assert all(found[concept].holds for concept in ("Nash", "subgame-perfect", "sequential"))


def test_whoever_waits_for_a_solution_gets_the_end_of_the_path() -> None:
    """Nobody gains long before the threat to fight is gone; a third player chooses unseen, so that the path is taken."""
    entry = """p "" 1 1 "a" { "out" "in" } 0
        t "" 1 "" { 30, 9, 0 }
        p "" 2 1 "b" { "fight" "share" } 0
        t "" 2 "" { 0, 0, 0 }
        t "" 3 "" { 3, 3, 0 }"""
    second = entry.replace('t "" 1', 't "" 4').replace('t "" 2', 't "" 5').replace('t "" 3', 't "" 6')
    game = EfgGame(parse_efg(f'EFG 2 R "" {{ "A" "B" "C" }}\np "" 3 1 "c" {{ "l" "r" }} 0\n{entry}\n{second}'), "entry")
    solution = solve_soon(Compiled.of(game), 60.0)
    assert (solution.method, solution.stopped) == ("logit", "end of the path")
    assert solution.policy.probabilities("B", "b")["fight"] < 1e-6


def path_of(players: int, seed: int, integers: bool = False) -> LogitSolver:
    """Follow the path of a random tree to its end."""
    solver = LogitSolver(*compiled(random_tree(seed, players, integers=integers)))
    while not solver.done[0]:
        solver.step()
    return solver


def faults(players: int, seeds: range, integers: bool) -> list[str]:
    """Name the random trees whose paths do not end in what is promised: positive ``λ``, a sequential equilibrium."""
    found = []
    for seed in seeds:
        solver = path_of(players, seed, integers)
        wrong = ["λ"] if solver.rationality <= 0.0 else []
        if solver.notes()["set_gain"] > 1e-6 * solver.system.range:
            wrong.append("somebody gains")
        what = check_profile(random_tree(seed, players, integers=integers), solver.policy())
        wrong += [one.concept for one in what.findings[:2] if not one.holds]
        if what["sequential"].holds is False:
            wrong.append("sequential")
        if wrong:
            found.append(f"{seed}: {', '.join(wrong)}")
    return found


@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("players", [2, 3])
def test_paths_of_random_trees_end_at_sequential_equilibria(players: int, integers: bool) -> None:
    assert faults(players, range(sample(6, 60)), integers) == []


@pytest.mark.slow
@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("players", [2, 3])
def test_paths_of_a_thousand_random_trees(players: int, integers: bool) -> None:
    assert faults(players, range(1000), integers) == []


BACKWARDS = [(2, 384, False), (3, 94, False), (3, 191, True)]
"""Trees whose paths bend back sharply, where long steps lead to an earlier part of the path, and on to negative ``λ``."""


@pytest.mark.parametrize(("players", "seed", "integers"), BACKWARDS)
def test_paths_that_bend_back_are_followed_round_the_bend(players: int, seed: int, integers: bool) -> None:
    assert faults(players, range(seed, seed + 1), integers) == []


def careless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every point that Newton steps come to, whichever curve it is on."""
    for name, value in {"DISTANT": 1e9, "SHRINKING": 1e9, "CROSSING": 1e9, "PARALLEL": -1.0}.items():
        monkeypatch.setattr(module, name, value)


def test_a_path_that_leads_back_begins_again_with_smaller_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    careless(monkeypatch)
    solver = path_of(*BACKWARDS[0])
    assert solver.arrays["care"][0] > 1.0
    assert solver.rationality > 0.0
    assert solver.notes()["set_gain"] < 1e-6 * solver.system.range


def test_what_is_no_equilibrium_is_said_to_be_none(monkeypatch: pytest.MonkeyPatch) -> None:
    careless(monkeypatch)
    monkeypatch.setattr(module, "MOST_CARE", 1.0)
    solver = path_of(*BACKWARDS[0])
    assert 0.0 <= solver.rationality < 1.0
    assert "led back to uniform play: this is not an equilibrium, P" in solver.notes()["ended"]


def test_a_symmetric_path_goes_straight_through_where_others_branch_off() -> None:
    """Chicken: two asymmetric branches leave the symmetric one, which goes on to the mixed equilibrium."""
    chicken = NfgGame(parse_nfg('NFG 1 R "" { "A" "B" } { { "dare" "out" } { "dare" "out" } } 0 0  2 7  7 2  6 6'), "c")
    solution = solve(chicken, "logit")
    for player in range(2):
        assert solution.policy.probabilities(player, "start")["dare"] == pytest.approx(1 / 3, abs=1e-5)
    assert solution.epsilon < 1e-6
