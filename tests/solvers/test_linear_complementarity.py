"""Complementary pivoting: equilibria of two players with any payoffs."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import GOOFSPIEL, KUHN, SHARED, form_of
from extent import examples
from infoset import (
    GameTree,
    SequenceForm,
    evaluate,
    exact_equilibrium,
    linear_complementarity,
    linear_program,
    load,
    solve,
)
from infoset.errors import BudgetError, ParameterError, UnsupportedGameError
from infoset.formats.nfg import NfgGame, parse_nfg
from infoset.solvers.tabular import linear_complementarity as module
from infoset.tree.plans import random_interior
from infoset.tree.sequence_form import exact_ends
from random_games import RandomGame, RandomState


def table(rows: int, columns: int, cells: str) -> NfgGame:
    """A table of payoffs, the row's strategy running fastest."""
    return NfgGame(parse_nfg(f'NFG 1 R "" {{ "Row" "Column" }} {{ {rows} {columns} }} {cells}'), "table")


SEXES = table(2, 2, "2 1  0 0  0 0  1 2")
DILEMMA = table(2, 2, "3 3  5 0  0 5  1 1")


class GeneralState(RandomState):
    def returns(self) -> tuple[float, ...]:
        return (float(self.noise("first") % 7 - 3), float(self.noise("second") % 5))


@pytest.mark.parametrize(
    "name", [KUHN, GOOFSPIEL, "liars_dice(dice_sides=3)", "liars_dice(numdice=2,dice_sides=2)", "rock_paper_scissors"]
)
def test_zero_sum_games_have_the_value_of_the_linear_program(name: str) -> None:
    form = form_of(name)
    found = evaluate(form, linear_complementarity(form))
    assert found.epsilon < 1e-12
    assert found.values == pytest.approx(evaluate(form, linear_program(form)).values, abs=1e-10)


@examples(60)
@given(st.integers(0, 10**6), st.integers(0, 3))
def test_random_games_end_in_an_equilibrium_in_floats_and_in_fractions(seed: int, start: int) -> None:
    """From any interior profile; the same one in fractions as in floats, where each is the other's twin."""
    tree = GameTree.of(RandomGame(seed, 2, 3, GeneralState))
    form = SequenceForm.of(tree)
    begin = np.array([float(Fraction(p).limit_denominator(1000)) for p in random_interior(form, start)])
    assert evaluate(form, linear_complementarity(form, random_interior(form, start))).epsilon < 1e-10
    exact = exact_equilibrium(tree, form, begin)
    check_exact(tree, form, exact.plan)
    assert evaluate(form, np.array(exact.plan, dtype=float)).values == pytest.approx([float(v) for v in exact.values])


def check_exact(tree: GameTree, form: SequenceForm, plan: list[Fraction]) -> None:
    """Both plans are plans, and every sequence's payoff is at most the best and is the best where it is played."""
    a = form.arrays
    for k in range(form.num_infosets):
        assert sum(plan[int(a.first[k]) : int(a.first[k]) + int(a.size[k])], Fraction(0)) == plan[int(a.parent[k])]
    assert min(plan) >= 0
    assert plan[0] == plan[int(a.sequences[1])] == 1
    sequences, payoffs = exact_ends(tree, form)
    for p in range(2):
        worth = [Fraction(0)] * form.num_sequences
        for row, paid in zip(sequences.tolist(), payoffs.tolist(), strict=True):
            worth[row[p]] += paid[p] * plan[row[1 - p]]
        for k in reversed(form.player_infosets(p)):
            actions = range(int(a.first[k]), int(a.first[k]) + int(a.size[k]))
            best = max(worth[q] for q in actions)
            assert all(worth[q] == best for q in actions if plan[q])
            worth[int(a.parent[k])] += best


def test_what_is_dominated_is_never_played() -> None:
    """In the dilemma not at all; where it is only weakly so the path, perfect in the normal form, avoids it, too."""
    assert solve(DILEMMA, "lcp").policy.probabilities(0, "start") == {"1": 0.0, "2": 1.0}
    weakly = table(2, 2, "1 1  0 0  0 0  0 0")  # (2, 2) is an equilibrium that no error survives
    for seed in range(10):
        assert solve(weakly, "lcp", start="random", seed=seed).policy.probabilities(0, "start")["1"] == 1.0


def test_other_starts_lead_to_other_equilibria() -> None:
    found = {round(solve(SEXES, "lcp", start="random", seed=seed).values[0], 6) for seed in range(20)}
    assert found >= {1.0, 2.0}
    assert found <= {1.0, 2.0, round(2 / 3, 6)}


def test_where_every_answer_is_best() -> None:
    assert solve(table(3, 2, "0 " * 12), "lcp").epsilon == 0
    for seed in range(5):
        assert (
            solve(table(3, 3, "1 0  0 1  0 0  0 1  1 0  0 0  0 0  0 0  1 1"), "lcp", start="random", seed=seed).epsilon
            < 1e-12
        )


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_payoffs_of_any_size(scale: float) -> None:
    found = solve(table(2, 2, f"{2 * scale} {scale}  0 0  0 0  {scale} {2 * scale}"), "lcp")
    assert found.epsilon <= 1e-9 * scale


def test_kuhn_poker_in_fractions() -> None:
    """Kuhn 1950: the value is -1/18, and probabilities are multiples of a third."""
    solution = solve(KUHN, "lcp(exact=true)")
    assert solution.notes["exact_values"] == ["-1/18", "1/18"]
    assert solution.epsilon < 1e-15


def test_rounding_errors_are_said_and_few_sequences_solved_in_fractions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GOOD", -1.0)
    with pytest.raises(UnsupportedGameError, match=r"rounding errors lose the path of lcp; lcp\(exact=true\) works"):
        linear_complementarity(form_of(KUHN))
    assert solve(KUHN, "lcp").notes["exact_values"] == ["-1/18", "1/18"]


def test_a_table_is_made_anew_without_changing(monkeypatch: pytest.MonkeyPatch) -> None:
    form = form_of(GOOFSPIEL)
    once = linear_complementarity(form)
    monkeypatch.setattr(module, "REFRESH", 3)
    assert linear_complementarity(form) == pytest.approx(once, abs=1e-9)


def test_other_numbers_of_players_and_too_large_games_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnsupportedGameError, match=r"has 3 players; lcp is for two. Try --method logit"):
        solve("kuhn_poker(players=3)", "lcp")
    monkeypatch.setattr("infoset.memory.free_memory", lambda: 1000)
    with pytest.raises(BudgetError, match="26 sequences; the table of lcp takes"):
        linear_complementarity(form_of(KUHN))
    with pytest.raises(ParameterError, match="exact"):
        solve(KUHN, "lcp(exact=maybe)")


FILES = sorted((SHARED / "games" / "efg").glob("*.efg")) if SHARED.exists() else []


@pytest.mark.skipif(not FILES, reason="no ../shared/games/efg here")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files_of_two_players(path: Path) -> None:
    """Every file of two players with perfect recall ends in an equilibrium, in fractions without any gain."""
    try:
        tree = GameTree.of(load(str(path)))
        form = SequenceForm.of(tree)
    except UnsupportedGameError:
        pytest.skip("a player forgets")
    if form.num_players != 2:
        pytest.skip("more players")
    plan = linear_complementarity(form)
    assert evaluate(form, plan).epsilon <= 1e-8
    exact = exact_equilibrium(tree, form)
    check_exact(tree, form, exact.plan)


def test_players_whose_payoffs_differ_in_size() -> None:
    """What one may gain is measured by its own payoffs: B mixes by A's, A by B's, a thousand million times smaller."""
    found = solve(table(2, 2, "1e9 0  0 1  0 1  3e9 0"), "lcp")
    assert found.values == pytest.approx((7.5e8, 0.5))


@pytest.mark.slow
def test_more_moves_than_a_simple_fraction_can_tell_apart() -> None:
    tree = GameTree.of(table(1500, 1, " ".join(f"{k % 7} 0" for k in range(1500))))
    assert exact_equilibrium(tree, SequenceForm.of(tree)).values == (6, 0)
