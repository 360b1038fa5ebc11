"""``solve``: when it stops, what it returns, and that a run goes on bit for bit."""

import dataclasses
import itertools

import numpy as np
import pytest

from conftest import KUHN, LEDUC, form_of
from infoset import Method, load, solve, table_game
from infoset.cli.report import solution_text
from infoset.compiled import Compiled
from infoset.errors import BudgetError, CheckpointError, GameRuleError, ParameterError, UnknownNameError
from infoset.solvers.config import SolveConfig
from infoset.solvers.job import Watcher, next_check
from infoset.solvers.method import METHODS, parse_method
from infoset.solvers.tabular.solver import TabularMethod
from infoset.tree.payoff_scale import exploitability_of_rounding

TABULAR = [name for name in METHODS if isinstance(parse_method(name), TabularMethod)]


def test_kuhn_to_a_target() -> None:
    solution = solve(load(KUHN), target=1e-9)
    assert solution.stopped == "target"
    assert solution.exploitability <= 1e-9
    assert solution.values == pytest.approx((-1 / 18, 1 / 18), abs=1e-8)


@pytest.mark.parametrize("method", TABULAR)
def test_every_method_improves_on_uniform(method: str) -> None:
    iterative = "iterations" in parse_method(method).takes
    solution = solve(load(KUHN), method, **({"iterations": 400} if iterative else {}))
    assert solution.exploitability < 0.11 < 11 / 24
    assert solution.stopped == ("end of the path" if method == "logit" else "iterations" if iterative else "exact")


def test_limits() -> None:
    form = form_of(LEDUC)
    assert solve(form, "pcfr+").iterations == 1000
    assert solve(form, iterations=7).iterations == 7
    assert solve(form, iterations=0).stopped == "iterations"
    timed = solve(form, seconds=0.05)
    assert timed.stopped == "seconds"
    assert timed.iterations > 0


def test_the_linear_program_needs_no_limits() -> None:
    solution = solve(form_of(KUHN), "lp")
    assert (solution.stopped, solution.iterations) == ("exact", 1)
    assert solution.nash_conv < 1e-12
    for limits in ({"iterations": 0}, {"start": "random"}):
        with pytest.raises(ParameterError, match="is not an option of lp; it takes: target, seconds, seed"):
            solve(form_of(KUHN), "lp", **limits)


@pytest.mark.parametrize("limits", [{}, {"seconds": 60.0}, {"target": 1e-4}, {"seconds": 60.0, "target": 1e-4}])
def test_limits_that_an_exact_method_keeps_do_not_rule_it_out(limits: dict[str, float]) -> None:
    for game, method in ((KUHN, "lp"), ("rock_paper_scissors", "lp"), (LEDUC, "lp")):
        found = solve(form_of(game), **limits)
        assert (found.method, found.iterations) == (method, 1)
        assert found.exploitability < 1e-12
    dilemma = table_game([[3, 0], [5, 1]], [[3, 5], [0, 1]])
    found = solve(dilemma, **limits)
    assert (found.method, found.iterations, found.values) == ("lcp", 1, (1.0, 1.0))


def test_an_exact_method_out_of_time_has_no_answer_and_no_figures() -> None:
    """Those of the uniform profile, from which it begins, would pass for its own."""
    with pytest.raises(BudgetError, match="no result after 0 s"):
        solve(form_of("rock_paper_scissors"), "lp", seconds=0.0)
    assert solve(form_of("rock_paper_scissors"), "lp", target=0.5).curve[0].exploitability is None


@pytest.mark.parametrize("limits", [{"iterations": -1}, {"target": float("nan")}, {"seconds": float("inf")}])
def test_impossible_limits(limits: dict) -> None:
    with pytest.raises(ParameterError, match="out of range"):
        solve(form_of(KUHN), **limits)


def test_unknown_names() -> None:
    with pytest.raises(UnknownNameError, match=r"did you mean 'cfr\+'"):
        solve(form_of(KUHN), "cfr++")
    with pytest.raises(UnknownNameError, match="parameter of dcfr"):
        solve(form_of(KUHN), "dcfr(alfa=1)")
    with pytest.raises(ParameterError, match="not one of uniform, random"):
        solve(form_of(KUHN), start="best")


def test_a_seed_gives_one_run_and_another_seed_another() -> None:
    form = form_of(KUHN)
    runs = [solve(form, "sfrd", iterations=20, start="random", seed=seed) for seed in (1, 1, 2)]
    assert runs[0].policy == runs[1].policy
    assert runs[0].policy.tables != runs[2].policy.tables


@pytest.mark.parametrize("method", [m for m in TABULAR if "iterations" in parse_method(m).takes])
def test_a_resumed_run_equals_a_whole_one(method: str) -> None:
    form, saved = load(KUHN), {}

    def keep(solver, seconds) -> None:
        if solver.iteration <= 50:
            saved.update({name: np.copy(array) for name, array in solver.save().items()}, seconds=seconds)

    whole = solve(form, method, iterations=120, watcher=Watcher(advance=keep))
    assert 0 < saved["iteration"] <= 50
    rest = solve(form, method, iterations=120, resume=saved)
    assert rest.policy.tables == whole.policy.tables
    assert rest.curve[-1].nash_conv == whole.curve[-1].nash_conv


def test_a_checkpoint_of_another_game_is_refused() -> None:
    saved = {}
    solve(form_of(LEDUC), iterations=3, watcher=Watcher(advance=lambda s, t: saved.update(s.save(), seconds=t)))
    with pytest.raises(CheckpointError, match="does not fit"):
        solve(form_of(KUHN), iterations=5, resume=saved)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("plan", np.full(26, np.nan), "not finite"),
        ("iteration", np.array(-5), "not a count"),
        ("iteration", np.array(1.5), "not a count"),
        ("strategy", np.zeros(3), "does not fit"),
    ],
)
def test_a_damaged_checkpoint_is_refused(name: str, value: np.ndarray, words: str) -> None:
    saved = {}
    solve(form_of(KUHN), iterations=3, watcher=Watcher(done=lambda s, t: saved.update(s.save(), seconds=t)))
    with pytest.raises(CheckpointError, match=words):
        solve(form_of(KUHN), iterations=5, resume=saved | {name: value})


def test_evaluation_points_are_the_same_for_every_run() -> None:
    points = [0]
    while points[-1] < 1000:
        points.append(next_check(points[-1]))
    assert points[:5] == [0, 1, 2, 3, 4]
    assert next_check(points[20] - 1) == points[20]
    assert len(points) < 70


def forgets_to_normalise(root, parent, first, last, value, values, strategy, memory, parameters):
    for q in range(first, last):
        strategy[q] = max(values[q] - value, 0.0)


def does_not_compile(root, parent, first, last, value, values, strategy, memory, parameters):
    strategy[first] = no_such_name  # noqa: F821


def test_a_broken_update_is_not_an_equilibrium() -> None:
    """Off the polytope nobody would have anything to gain; that must not pass for a solution."""
    ones = lambda t: np.ones((len(t), 1))  # noqa: E731
    with pytest.raises(GameRuleError, match="does the update normalise"):
        solve(form_of(KUHN), Method("broken", forgets_to_normalise, ones), iterations=10)
    with pytest.raises(ParameterError, match=r"the update does not compile: .*no_such_name"):
        solve(form_of(KUHN), Method("broken", does_not_compile, ones), iterations=10)
    with pytest.raises(ParameterError, match=r"the schedule gives shape \(1,\)"):
        solve(form_of(KUHN), Method("broken", forgets_to_normalise, np.ones_like), iterations=10)


ORDINARY = "rock_paper_scissors"


@pytest.mark.parametrize("method", ["cfr", "pcfr+", "dcfr", "hedge", "mmd", "sfrd", "vad-cfr"])
@pytest.mark.parametrize("limits", [{"seconds": 600.0}, {"target": 0.0}, {"seconds": 600.0, "iterations": 10**12}])
def test_it_stops_where_nothing_is_left_to_gain(method: str, limits: dict) -> None:
    """The first profile of rock, paper, scissors is its equilibrium: neither a clock nor a target is waited for."""
    solution = solve(ORDINARY, method, **limits)
    assert solution.stopped in ("exact", "target")
    assert solution.exploitability <= 2e-12
    assert solution.iterations < 1000


def test_a_number_of_iterations_alone_is_done_as_asked() -> None:
    assert (solve(ORDINARY, "cfr", iterations=30).iterations, solve(ORDINARY, "cfr").iterations) == (30, 1000)


def test_rounding_is_of_the_smallest_range_of_a_player_and_of_last_bits() -> None:
    def rounding(*bounds: tuple[float, float]) -> float:
        lowest, highest = np.array(bounds, dtype=float).T
        return exploitability_of_rounding(lowest, highest)

    assert rounding((-3.0, 1.0), (-1.0, 3.0)) == 4e-12
    assert rounding((-3.0, 1.0), (-1e-9, 1e-9), (5.0, 5.0)) == pytest.approx(2e-21)
    assert 1e-9 < rounding((1e6, 1e6 + 1), (1e6, 1e6 + 1)) < 1e-8
    assert rounding((0.0, 0.0)) == 0.0


def test_the_logit_path_goes_on_where_play_off_the_path_has_not_settled() -> None:
    """Gains by deviating from the start say nothing of sets that nobody reaches."""
    assert parse_method("logit").job(Compiled.of(KUHN), SolveConfig()).nothing_to_gain is None


def test_building_and_evaluating_are_timed_beside_solving(monkeypatch) -> None:
    """By a clock on which each look at it takes a second."""
    ticks = itertools.count()
    monkeypatch.setattr("infoset.solving.time.monotonic", lambda: float(next(ticks)))
    solution = solve(KUHN, "cfr", iterations=4)
    assert solution.building_seconds > 0
    assert solution.evaluating_seconds > 0
    lines = solution_text(dataclasses.replace(solution, building_seconds=180.04, evaluating_seconds=2.5)).splitlines()
    assert "besides          building 180 s, evaluating 2.5 s" in lines
    assert "besides" not in solution_text(dataclasses.replace(solution, building_seconds=0.5, evaluating_seconds=0.2))
