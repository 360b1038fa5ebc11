"""The vector form of games whose ends pay tables: the same figures as on the tree, known values, refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import infoset
from infoset.compiled import Compiled
from infoset.errors import BudgetError, UnsupportedGameError
from infoset.evaluation import plan_of
from infoset.policies.simple import UniformPolicy
from infoset.policies.vector_policy import VectorPlay, rows_of
from infoset.solvers.config import SolveConfig
from infoset.solvers.method import parse_method
from infoset.solvers.metrics import evaluate_plan
from infoset.tree.vector_values import Walker, exact_figures

GAMES = [
    "kuhn_poker",
    "kuhn_poker(cards=6)",
    "leduc_poker",
    "leduc_poker(ranks=6,suits=4)",
    "liars_dice(dice_sides=4)",
    "liars_dice(numdice=2,dice_sides=2)",
    "tiny_hanabi",
    "cooperative_matching_pennies",
    "tiny_bridge",
]


@pytest.mark.parametrize("name", GAMES)
def test_any_profile_has_the_figures_that_it_has_on_the_tree(name: str) -> None:
    compiled = Compiled.of(name)
    form = compiled.vector
    rows = form.normalised(np.random.default_rng(1).random(form.num_rows))
    found = exact_figures(Walker(form, np.float64), rows)
    right = evaluate_plan(compiled.form, plan_of(VectorPlay(form, rows), compiled, compiled.form))
    assert found.values == pytest.approx(right.values, abs=1e-9)
    assert found.responses == pytest.approx(right.best_response_values, abs=1e-9)
    assert form.num_infosets == compiled.form.num_infosets
    assert form.num_histories == compiled.tree.graph.count_histories()


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "liars_dice(numdice=2,dice_sides=2)"])
def test_every_information_state_is_found_where_it_is(name: str) -> None:
    form = Compiled.of(name).vector
    for player, infostate, _, place in form.infostates():
        assert form.find(player, infostate) == place
        assert form.find(1 - player, infostate) is None
        assert form.find(player, (*infostate, ("nothing", None))) is None


def test_any_policy_has_the_rows_of_its_answers() -> None:
    """Asking a solution of the tree at all information states gives its own figures."""
    compiled = Compiled.of("leduc_poker")
    solution = infoset.solve(compiled, "dcfr", form="tree", iterations=50)
    form, rows = rows_of(solution.policy.on(compiled), compiled)
    assert exact_figures(Walker(form, np.float64), rows).values == pytest.approx(solution.values, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "value", "iterations"),
    [
        ("kuhn_poker", -1 / 18, 300),
        ("leduc_poker", -0.0856064, 500),
        ("liars_dice(dice_sides=3)", None, 500),
        ("liars_dice(numdice=2,dice_sides=2)", None, 300),
    ],
)
def test_solutions_converge_to_the_known_values(name: str, value: float | None, iterations: int) -> None:
    """Those of poker are known; those of dice are the linear program's."""
    solution = infoset.solve(name, "dcfr", form="vector", precision="double", iterations=iterations)
    if value is None:
        exact = infoset.solve(name, "lp").values
        assert exact is not None
        value = exact[0]
    assert solution.values is not None
    assert solution.exploitability is not None
    assert solution.values[0] == pytest.approx(value, abs=2e-3)
    assert solution.exploitability < 3e-3


@pytest.mark.parametrize("precision", ["half", "single", "double"])
def test_precisions_agree(precision: str) -> None:
    solution = infoset.solve("leduc_poker", "dcfr", form="vector", precision=precision, iterations=100)
    assert solution.exploitability is not None
    assert solution.exploitability < 0.03


def test_single_and_double_take_the_same_steps() -> None:
    first, second = (
        infoset.solve("leduc_poker(ranks=6,suits=4)", "dcfr", form="vector", precision=word, iterations=5)
        for word in ("single", "double")
    )
    assert first.nash_conv == pytest.approx(second.nash_conv, rel=1e-4)


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "liars_dice(dice_sides=3)"])
def test_iterations_are_those_on_the_tree(name: str) -> None:
    compiled, figures = Compiled.of(name), []
    for config in (SolveConfig(form="tree"), SolveConfig(form="vector", precision="double")):
        job = parse_method("dcfr").job(compiled, config)
        job.step(20)
        figures.append(job.point(0.0).nash_conv)
    assert figures[1] == pytest.approx(figures[0], rel=1e-6)


def test_a_solution_is_kept_evaluated_played_and_resumed(tmp_path: Path) -> None:
    solution = infoset.solve("leduc_poker", "dcfr", form="vector", iterations=20, out=tmp_path / "run")
    file = solution.policy.save(tmp_path / "leduc.npz")
    assert infoset.evaluate("leduc_poker", file.as_posix()).nash_conv == pytest.approx(solution.nash_conv, abs=1e-6)
    assert infoset.play_series("leduc_poker", [file.as_posix(), "random"], games=20, seed=1).games == 20
    resumed = infoset.solve(out=tmp_path / "run", resume=True, iterations=40)
    whole = infoset.solve("leduc_poker", "dcfr", form="vector", iterations=40)
    assert np.array_equal(resumed.policy.rows, whole.policy.rows)


def test_a_random_start_is_taken() -> None:
    solution = infoset.solve("kuhn_poker", "dcfr", form="vector", start="random", seed=1, iterations=200)
    assert solution.exploitability is not None
    assert solution.exploitability < 0.01


def test_the_uniform_policy_is_evaluated_in_vector_form() -> None:
    compiled = Compiled.of("kuhn_poker")
    form, rows = rows_of(UniformPolicy(), compiled)
    assert exact_figures(Walker(form, np.float64), rows).values == pytest.approx((0.125, -0.125))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("kuhn_poker(players=3)", "has 3 players; the vector form is for two"),
        ("goofspiel(num_cards=3)", "both players move at once"),
        ("dark_hex(rows=2,columns=2)", "cannot tell public states apart"),
        ("battleship(rows=2,columns=2,ships=1,shots=2)", "some actions are seen by their player alone"),
        ("trade_comm", "some actions are seen by their player alone"),
    ],
)
def test_games_that_do_not_fit_are_refused_in_one_line(name: str, said: str) -> None:
    with pytest.raises(UnsupportedGameError, match=said) as refusal:
        infoset.solve(name, "dcfr", form="vector")
    assert "\n" not in str(refusal.value)


def test_a_form_that_does_not_fit_is_refused_before_it_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = Compiled.of("leduc_poker(ranks=6,suits=4)")
    assert compiled.factored_rules
    monkeypatch.setattr("infoset.memory.free_memory", lambda: 1_000_000)
    with pytest.raises(BudgetError, match=r"public states and .* its vector form takes about"):
        _ = compiled.vector


def test_a_spot_of_another_game_is_refused() -> None:
    from infoset.spots import SpotTree

    with pytest.raises(UnsupportedGameError, match="kuhn_poker is no spot"):
        SpotTree.of("kuhn_poker", "random")
