"""Payoffs of any scale and far from 0: the same claims, and the same figures beside each player's range of payoffs."""

import json
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from typer.testing import CliRunner

from infoset import (
    GameTree,
    SequenceForm,
    Solution,
    all_equilibria,
    eliminate_dominated,
    evaluate,
    load,
    play_match,
    realisation,
    replay_states,
    solve,
    table_game,
)
from infoset.cli.app import app
from infoset.compiled import Compiled
from infoset.errors import FormatError, InfosetError
from infoset.formats.efg import EfgGame, parse_efg
from infoset.policies.loading import load_policy
from infoset.solvers.method import METHODS, parse_method
from infoset.solvers.tabular.solver import INEXACT, OneShotSolver
from infoset.tree.payoff_scale import are_common, constant_sum_of, payoff_offsets
from infoset.view.bodies import solution_body
from repriced import Repriced

ENTRY = """EFG 2 R "entry" { "P1" "P2" } ""
p "" 1 1 "" { "in" "out" } 0
p "" 2 1 "" { "fight" "yield" } 0
t "" 1 "" { -1, -1 }
t "" 2 "" { 2, 1 }
t "" 3 "" { 0, 3 }
"""
MAKERS: dict[str, Callable[[], Any]] = {
    "zero-sum": lambda: table_game([[2, -1], [-1, 1]], [[-2, 1], [1, -1]], name="zero-sum"),
    "kuhn": lambda: load("kuhn_poker"),
    "dilemma": lambda: table_game([[3, 0], [5, 1]], [[3, 5], [0, 1]], name="dilemma"),
    "sexes": lambda: table_game([[3, 0], [0, 2]], [[2, 0], [0, 3]], name="sexes"),
    "common": lambda: load("tiny_hanabi(game=F)"),
    "three": lambda: load("matching_pennies_3p"),
    "open": lambda: EfgGame(parse_efg(ENTRY), "entry"),
    "public": lambda: load("goofspiel(num_cards=3)"),
    "teams": lambda: load("kuhn_poker(players=3)"),
}
GAMES = {
    "annealing": ("common",),
    "auto": ("zero-sum", "kuhn", "dilemma", "common", "open"),
    "backward-induction": ("open",),
    "belief-dag": ("teams",),
    "correlated": ("kuhn", "dilemma", "sexes"),
    "information-relaxation": ("common",),
    "lcp": ("zero-sum", "kuhn", "sexes"),
    "logit": ("zero-sum", "dilemma", "three"),
    "lp": ("zero-sum", "kuhn"),
    "progressive-hiding": ("common", "zero-sum"),
    "public": ("public",),
    "team-exact": ("common",),
    "team-maxmin": ("teams",),
}
"""Those that a method is tried on; any other on a few that iterate."""
OTHERS = ("zero-sum", "kuhn")
ITERATIONS = {"annealing": 5, "information-relaxation": 10, "progressive-hiding": 10, "mccfr": 200}
IN_UNITS: dict[str, Callable[[float], str]] = {
    "hedge": lambda unit: f"hedge(eta={1 / unit!r})",
    "information-relaxation": lambda unit: f"information-relaxation(penalty={2 * unit!r})",
    "progressive-hiding": lambda unit: f"progressive-hiding(penalty={2 * unit!r},learner=ftrl(eta={1 / unit!r}))",
    "sfrd-continuous": lambda unit: f"sfrd-continuous(step={0.25 / unit!r})",
    "vad-cfr": lambda unit: f"vad-cfr(expected={2 * unit!r})",
}
"""Methods with parameters in units of payoffs, or of one over that, which go with the payoffs."""
FOR_ONE_SCALE = {"hedge", "sfrd", "sfrd-continuous", "vad-cfr", "progressive-hiding", "information-relaxation"}
"""Methods with a parameter in units of payoffs that is the same for all players."""
TEAMS = ("belief-dag", "team-maxmin")
AT_ONCE = ("auto", "backward-induction", "correlated", "lcp", "lp", "public", "team-exact", "team-maxmin", "annealing")
SMALL, LARGE = 2.0**-40, 2.0**40  # about 1e-12 and 1e12, by which floats are multiplied without an error


@cache
def made(name: str) -> Any:
    return MAKERS[name]()


def games_of(method: str) -> tuple[str, ...]:
    return GAMES.get(method, OTHERS)


CASES = [(method, game) for method in METHODS for game in games_of(method)]


def span_of(game: Any) -> float:
    return float(np.ptp(Compiled.of(game).payoffs))


def repriced(name: str, factor: float = 1.0, ranges: float = 0.0) -> Repriced:
    """The game times a factor, plus so many of its ranges after that."""
    game = made(name)
    n = len(game.players)
    return Repriced(game, (factor,) * n, (ranges * factor * span_of(game),) * n)


def run(method: str, game: Any, unit: float = 1.0) -> Solution:
    name = IN_UNITS.get(method, lambda unit: method)(unit)
    if method == "sfrd" and unit != 1.0:
        name = f"sfrd(shift={unit - float(Compiled.of(game).payoffs.min())!r})"
    options: dict[str, Any] = {}
    if "iterations" in parse_method(method).takes and method not in ("auto", "logit", "team-maxmin"):
        options["iterations"] = ITERATIONS.get(method, 40)
    if method in TEAMS:
        options["teams"] = "1+2,3"
    return solve(game, name, **options)


@cache
def unscaled(method: str, game: str) -> Solution:
    return run(method, made(game))


def relative(solution: Solution, game: Any) -> tuple[Any, float | None]:
    """The values and the largest gain beside each player's range of payoffs, from its least payoff."""
    paid = Compiled.of(game).payoffs
    ranges = np.ptp(paid, axis=0)
    ranges[ranges == 0] = 1.0
    assert solution.values is not None
    values = (np.array(solution.values) - paid.min(axis=0)) / ranges
    return values, None if solution.epsilon is None else solution.epsilon / float(ranges.max())


def check_alike(method: str, name: str, game: Any, found: Solution, close: float) -> None:
    """The same claims as of the game as it was, and figures that are as good."""
    base = unscaled(method, name)
    assert (found.stopped, found.reason, found.why_not) == (base.stopped, base.reason, base.why_not)
    assert found.method.partition("(")[0] == base.method.partition("(")[0]
    assert (found.bound is None) == (base.bound is None)
    values, gain = relative(found, game)
    before, least = relative(base, made(name))
    if method in TEAMS:  # whose members may share what they get otherwise
        values, before = (np.array([sum(one[:2]), one[2]]) for one in (values, before))
    paid = Compiled.of(game).payoffs
    bits = 64 * float(np.finfo(float).eps) * float(np.abs(paid).max()) / span_of(game)  # of the payoffs themselves
    assert values == pytest.approx(before, abs=close + bits)
    assert (gain is None) == (least is None)
    if gain is not None and least is not None:
        assert gain == pytest.approx(least, abs=close)
    if found.bound is not None and base.bound is not None:
        found_gap, base_gap = (
            (one.bound - one.values[0]) / span_of(of) for one, of in ((found, game), (base, made(name)))
        )
        assert found_gap == pytest.approx(base_gap, abs=close + bits)


def test_every_method_is_tried() -> None:
    assert set(GAMES) | set(IN_UNITS) | FOR_ONE_SCALE <= set(METHODS)


@pytest.mark.parametrize("factor", [SMALL, LARGE])
@pytest.mark.parametrize(("method", "name"), CASES)
def test_the_scale_of_payoffs_changes_nothing(method: str, name: str, factor: float) -> None:
    game = repriced(name, factor)
    check_alike(method, name, game, run(method, game, factor), 1e-9)


@pytest.mark.parametrize(("method", "name"), CASES)
def test_a_constant_that_is_large_beside_the_range_changes_nothing_to_speak_of(method: str, name: str) -> None:
    """Iterative methods take other ways where ties fall otherwise, as near to an equilibrium."""
    game = repriced(name, 1.0, -1000.0)
    found = run(method, game)
    if method in AT_ONCE:
        check_alike(method, name, game, found, 1e-9)
        return
    base = unscaled(method, name)
    assert (found.stopped, found.reason, found.why_not) == (base.stopped, base.reason, base.why_not)
    gain, before = relative(found, game)[1], relative(base, made(name))[1]
    assert gain is not None and before is not None
    assert gain <= max(4 * before, 1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "name"), [case for case in CASES if case[0] in AT_ONCE])
def test_scales_and_constants_of_methods_that_are_exact(method: str, name: str) -> None:
    """With payoffs that are rounded once they are multiplied and raised, by no more than 1e-7 of their range."""
    for factor, ranges in product([1e-12, 1e-6, 1e6, 1e12], [0.0, 3.0, 1e3, 1e6, -1e9]):
        game = repriced(name, factor, ranges)
        check_alike(method, name, game, run(method, game, factor), 1e-6)


@pytest.mark.parametrize("method", [name for name in METHODS if name not in FOR_ONE_SCALE | {"correlated"}])
def test_players_whose_scales_lie_far_apart(method: str) -> None:
    """The same profile, and gains that are as small beside each player's own range; or one line that refuses it."""
    name = next((one for one in games_of(method) if one in ("sexes", "dilemma", "open")), games_of(method)[0])
    plain = made(name)
    factors = (1.0, SMALL, 2.0**20)[: len(plain.players)]
    game = Repriced(plain, factors, (0.0,) * len(factors))
    try:
        found = run(method, game)
    except InfosetError as error:
        assert name in ("zero-sum", "kuhn", "common", "public", "teams")
        assert "\n" not in str(error)
        return
    base = unscaled(method, name)
    if method == "auto" and name == "zero-sum":
        return
    values, _ = relative(found, game)
    assert values == pytest.approx(relative(base, plain)[0], abs=1e-6)
    assert found.stopped == base.stopped or method == "public"


@pytest.mark.parametrize("factors", [(1.0, 1e-9), (1e6, 1.0), (1e-3, 1e12)])
def test_a_logit_path_ends_at_an_equilibrium_of_players_far_apart_in_scale(factors: tuple[float, float]) -> None:
    game = Repriced(made("kuhn"), factors, (0.0, 0.0))
    solution = solve(game, "logit")
    form, tree = SequenceForm.of(game), GameTree.of(game)
    found = evaluate(form, solution.policy.plan(form))
    gains = np.subtract(found.best_response_values, found.values) / Compiled.of(tree).form.ranges
    assert gains.max() < 1e-6
    assert set(solution.notes["lambdas"]) == {"P1", "P2"}


TINY = {
    "pennies": ([[1, -1], [-1, 1]], [[-1, 1], [1, -1]], 1e-10, (0.0, 0.0)),
    "dilemma": ([[3, 0], [5, 1]], [[3, 5], [0, 1]], 1e-12, (1.0, 1.0)),
}


@pytest.mark.parametrize("name", TINY)
def test_tiny_payoffs_are_no_common_payoff(name: str) -> None:
    one, other, factor, values = TINY[name]
    game = table_game(np.array(one) * factor, np.array(other) * factor, name=name)
    solution = solve(game)
    assert solution.method in ("lp", "lcp")
    assert np.array(solution.values) / factor == pytest.approx(values, abs=1e-9)
    with pytest.raises(InfosetError, match="no common-payoff game"):
        solve(game, "team-exact")
    with pytest.raises(InfosetError, match="no common-payoff game"):
        solve(game, "annealing", iterations=2)


def test_kuhn_poker_for_a_ten_billionth() -> None:
    solution = solve(Repriced(made("kuhn"), (1e-10, 1e-10), (0.0, 0.0)))
    assert solution.method == "lp"
    assert solution.values[0] * 1e10 == pytest.approx(-1 / 18, abs=1e-9)


@pytest.mark.parametrize("method", ["lp", "lcp", "lp(refinement=quasi-perfect)", "correlated", "logit", "cfr+"])
def test_payoffs_of_two_around_a_trillion(method: str) -> None:
    """The floats themselves are exact here; the gain is far below what is said of the payoffs."""
    game = Repriced(made("zero-sum"), (1.0, 1.0), (1e12, 1e12))
    solution = solve(game, method)
    assert solution.epsilon is not None
    assert solution.epsilon < {"cfr+": 0.01, "logit": 1e-6}.get(method, 1e-9)
    assert np.array(solution.values) - 1e12 == pytest.approx([0.2, -0.2], abs=0.01)


def test_what_is_no_equilibrium_is_not_called_exact() -> None:
    form = SequenceForm.of(made("zero-sum"))
    plan = realisation(form, np.where(form.infoset_of < 0, 1.0, 0.5))
    work = OneShotSolver(form, "found", lambda: plan)
    work.step()
    assert work.finished_as == INEXACT
    best = solve(made("zero-sum"), "lp").policy.plan(form)
    work = OneShotSolver(form, "found", lambda: best)
    work.step()
    assert work.finished_as == "exact"


def test_what_counts_as_equal_follows_the_smallest_range() -> None:
    pennies = np.array([[1.0, -1.0], [-1.0, 1.0]])
    for factor in (1e-90, 1e-12, 1.0, 1e12, 1e90):
        assert constant_sum_of(pennies * factor) == 0.0
        assert not are_common(pennies * factor)
        assert are_common(pennies[:, [0, 0]] * factor)
        assert constant_sum_of(pennies * factor * (1.0, 1e-6)) is None
        assert constant_sum_of(pennies * factor * (1.0, 0.999_999)) is None
    assert constant_sum_of(pennies + 1e12) == 2e12
    assert not are_common(pennies + 1e12)
    assert constant_sum_of(np.array([[0.1 + 0.2, -0.3], [0.5, -0.5]])) == pytest.approx(0.0, abs=1e-15)


def test_offsets_are_taken_off_where_the_range_drowns_only() -> None:
    paid = np.array([[0.0, 1e6, -50.0, 7.0], [4.0, 1e6 + 1, -40.0, 7.0]])
    assert payoff_offsets(paid).tolist() == [0.0, 1e6, 0.0, 7.0]
    form = SequenceForm.of(repriced("kuhn", 1.0, 1e6))
    assert form.offsets.tolist() == [4e6 - 2, 4e6 - 2]
    assert (form.smallest_payoff, form.largest_payoff, form.constant_sum) == (4e6 - 2, 4e6 + 2, 8e6)
    assert np.abs(form.terminals()[1]).max() <= 4.0


def ask(*arguments: object) -> str:
    """What a command prints."""
    found = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.stdout


@pytest.mark.parametrize("suffix", ["nfg", "csv"])
@pytest.mark.parametrize(("factor", "constant"), [("1e-12", 0), ("1e12", 0), ("1", 10**12), ("1", -(10**6))])
def test_files_at_the_command_line(suffix: str, factor: str, constant: int, tmp_path: Path) -> None:
    """Solved, evaluated, checked and shown: the same equilibrium of matching pennies, whatever the units."""
    win, draw, lose = (str(Fraction(factor) * number + constant) for number in (2, 1, -1))
    win, draw, lose = (text if "/" not in text else f"{number}e-12" for text, number in zip(
        (win, draw, lose), (2, 1, -1), strict=True))  # fmt: skip
    up, down = (str(Fraction(factor) * number + constant) for number in (1, -2))
    up, down = (text if "/" not in text else f"{number}e-12" for text, number in zip((up, down), (1, -2), strict=True))
    file = tmp_path / f"pennies.{suffix}"
    if suffix == "nfg":
        cells = f"{win} {down}  {lose} {up}  {lose} {up}  {draw} {lose}"
        file.write_text(f'NFG 1 R "pennies" {{ "P1" "P2" }} {{ {{ "H" "T" }} {{ "H" "T" }} }}\n{cells}\n')
    else:
        file.write_text(f",H,T\nH,{win} {down},{lose} {up}\nT,{lose} {up},{draw} {lose}\n")
    folder = tmp_path / "run"
    solved = json.loads(ask("solve", file, "--out", folder, "--json"))
    assert (solved["method"], solved["stopped"]) == ("lp", "exact")
    assert "constant sum" in solved["reason"]
    unit = float(factor)
    assert solved["epsilon"] <= 1e-9 * unit
    bits = 1e-15 * abs(constant)
    assert solved["values"] == pytest.approx([constant + 0.2 * unit, constant - 0.2 * unit], rel=1e-12, abs=bits)
    assert load_policy(folder).probabilities(0, "start")["H"] == pytest.approx(0.4, abs=1e-9)
    evaluated = json.loads(ask("evaluate", file, folder, "--json"))
    assert evaluated["exploitability"] == solved["exploitability"]
    uniform = json.loads(ask("evaluate", file, "random", "--json"))
    assert uniform["nash_conv"] == pytest.approx(0.5 * unit, rel=1e-9)
    checked = ask("check", file, folder)
    assert "Nash" in checked
    assert "gains" not in checked.split("Nash", 1)[1].splitlines()[0].replace("no player gains", "")
    assert "H 2/5, T 3/5" in ask("show", file, "--equilibria")
    assert "no strategy is strictly dominated" in ask("show", file, "--dominated")


@pytest.mark.parametrize("factor", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("ranges", [0.0, 1e6])
def test_dominated_strategies_and_all_equilibria(factor: float, ranges: float) -> None:
    assert eliminate_dominated(repriced("dilemma", factor, ranges)).left == (("2",), ("2",))
    assert len(eliminate_dominated(repriced("zero-sum", factor, ranges)).dominated) == 0
    for name, count in (("dilemma", 1), ("sexes", 3), ("zero-sum", 1), ("three", 1)):
        assert len(all_equilibria(repriced(name, factor, ranges)).equilibria) == count


def test_a_replay_with_other_returns_is_refused_however_small_they_are() -> None:
    game = Repriced(made("zero-sum"), (1e-12, 1e-12), (0.0, 0.0))
    match = play_match(game, ["random", "random"], seed=1)
    assert replay_states(match, game)
    with pytest.raises(FormatError, match="the game ends with"):
        replay_states(msgspec.structs.replace(match, returns=match.returns[::-1]), game)


def test_runs_count_as_optimal_beside_the_range() -> None:
    """Whatever the units, runs that end far below the bound are not optimal."""
    shares = []
    for factor in (1.0, 1e-6):
        solution = solve(repriced("common", factor), "progressive-hiding(relax=recall,penalty=2)", iterations=3, runs=8)
        shares.append(solution_body(solution)["runs"]["share_optimal"])
        assert solution.payoff_range == pytest.approx(3 * factor)
    assert shares[1] < 1.0
