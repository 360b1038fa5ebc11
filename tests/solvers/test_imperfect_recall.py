"""Players who forget: the best probabilities of one of them or of a team, enclosed and shown; what is no proof is said."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from infoset import GameTree, load, show, solve, team_optimum
from infoset.cli.app import app
from infoset.compiled import Compiled
from infoset.errors import BudgetError, PolicyError
from infoset.formats.efg import EfgGame, parse_efg
from infoset.solvers.choose import choose
from infoset.solvers.config import SolveConfig
from infoset.solvers.teams import polynomial as module
from infoset.solvers.teams.polynomial import Polynomial, enclose_optimum

DRIVER = """EFG 2 R "absent-minded driver" { "Driver" }
p "" 1 1 "exit" { "stay" "leave" } 0
p "" 1 1 0
t "" 1 "end" { 1 }
t "" 2 "home" { 4 }
t "" 3 "first" { 0 }
"""


@pytest.fixture
def driver(tmp_path: Path) -> str:
    (tmp_path / "driver.efg").write_text(DRIVER)
    return str(tmp_path / "driver.efg")


def test_the_absent_minded_driver_stays_with_two_thirds(driver: str) -> None:
    """Piccione & Rubinstein 1997: 4 p (1 - p) + p² is largest at p = 2/3."""
    solution = solve(driver)
    assert solution.values == (pytest.approx(4 / 3, abs=1e-9),)
    assert solution.policy.probabilities(0, "exit")["stay"] == pytest.approx(2 / 3, abs=1e-6)
    assert solution.stopped == "exact"
    assert 4 / 3 <= solution.bound < 4 / 3 + 1e-6  # type: ignore[operator]
    assert "branch and bound" in solution.proof
    assert "imperfect recall" in solution.reason


def test_a_search_is_measured_by_the_bound(driver: str) -> None:
    solution = solve(driver, "progressive-hiding(penalty=2)", iterations=50)
    assert solution.bound == pytest.approx(4 / 3, abs=1e-6)
    assert solution.gap > 1e-3  # type: ignore[operator]


def test_the_policy_is_shown(driver: str, tmp_path: Path) -> None:
    solve(driver, out=tmp_path / "run")
    done = CliRunner().invoke(app, ["show", driver, str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    assert "stay 0.667" in done.output
    assert "leave 0.333" in done.output
    (tmp_path / "other.efg").write_text(DRIVER.replace('"exit"', '"fork"'))
    with pytest.raises(PolicyError, match="no information set 'exit' with a choice"):
        show(str(tmp_path / "other.efg"), str(tmp_path / "run"))


def forgetful_game(seed: int, players: int = 1) -> EfgGame:
    """Draw a tree of three moves in a row at one of two information sets, some of which plays pass more than once."""
    rng = random.Random(f"forgetful {seed}")
    lines = ['EFG 2 R "forgetful" { ' + " ".join(f'"P{k + 1}"' for k in range(players)) + " }"]

    def write(depth: int) -> None:
        if depth == 3 or (depth and rng.random() < 0.2):
            paid = str(rng.randint(-9, 9))
            lines.append(f't "" {len(lines)} "" {{ {" ".join([paid] * players)} }}')
            return
        k = rng.randint(1, 2)
        owner, number = (k, 1) if players == 2 else (1, k)
        lines.append(f'p "" {owner} {number} "s{k}" {{ "a" "b" }} 0')
        write(depth + 1)
        write(depth + 1)

    write(0)
    return EfgGame(parse_efg("\n".join(lines)), f"forgetful {seed}")


def earned_by(tree: GameTree, probabilities: dict[str, float], node: int = 0) -> float:
    """Work out by recursion what is earned where move a has these probabilities: the polynomial's slow twin."""
    if tree.player(node) < 0:
        return float(tree.graph.payoffs[tree.graph.content[tree.position[node]]][0])
    first, chance = int(tree.first_child[node]), probabilities[tree.key(int(tree.infoset[node]))]
    return chance * earned_by(tree, probabilities, first) + (1 - chance) * earned_by(tree, probabilities, first + 1)


@pytest.mark.parametrize("players", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_no_chances_on_a_grid_earn_more(seed: int, players: int) -> None:
    game = forgetful_game(seed, players)
    tree = GameTree.of(game)
    found = enclose_optimum(tree, 60.0)
    assert found.proved
    assert found.value <= found.bound <= found.value + 1e-6
    probabilities = {key: row["a"] for table in found.policy.tables for key, row in table.items()}
    assert earned_by(tree, probabilities) == pytest.approx(found.value, abs=1e-9)
    grid = np.linspace(0.0, 1.0, 21)
    keys = sorted({tree.key(k) for k in range(len(tree.infoset_player))})
    best = max(
        earned_by(tree, dict(zip(keys, map(float, point), strict=True)))
        for point in np.stack(np.meshgrid(*[grid] * len(keys)), axis=-1).reshape(-1, len(keys))
    )
    assert best <= found.bound


def test_bounds_hold_in_random_boxes() -> None:
    tree = GameTree.of(forgetful_game(3))
    game, rng = Polynomial(tree), np.random.default_rng(1)
    ends = np.sort(rng.random((50, 2, game.count // 2)), axis=1)
    low, high = np.zeros((50, game.count)), np.ones((50, game.count))
    low[:, ::2], high[:, ::2] = ends[:, 0], ends[:, 1]
    low, high = game.tighten(low, high)
    upper = game.bounds(low, high).upper
    for _ in range(50):
        point = low + rng.random((50, game.count)) * (high - low)
        point[:, 1::2] = 1.0 - point[:, ::2]
        assert (game.earned(point) <= upper + 1e-12).all()


def test_slopes_are_derivatives() -> None:
    game = Polynomial(GameTree.of(forgetful_game(2)))
    point, h = np.full(game.count, 0.4), 1e-6
    point[1::2] = 0.6
    slopes = game.slopes(point)
    for q in range(0, game.count, 2):
        moved = point.copy()
        moved[q : q + 2] += (h, -h)
        measured = float((game.earned(moved[None]) - game.earned(point[None]))[0]) / h
        assert measured == pytest.approx(slopes[q], abs=1e-5)


def test_what_was_broken_off_may_be_a_local_optimum(driver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BOXES", 1)
    solution = solve(driver)
    assert solution.stopped == "local optimum"
    assert "may be a local optimum" in solution.proof
    assert solution.bound > 4 / 3 + 1e-3  # type: ignore[operator]


def test_a_game_that_is_too_large_is_searched_and_that_is_said(driver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_FREE", 0)
    choice = choose(Compiled.of(driver), SolveConfig())
    assert choice.method.name == "progressive-hiding"
    assert "may be a local optimum" in choice.why
    with pytest.raises(BudgetError, match="1 free probabilities are too many"):
        team_optimum(load(driver))


def test_of_players_who_are_paid_differently_no_equilibrium_is_promised() -> None:
    text = DRIVER.replace('{ "Driver" }', '{ "Driver" "Other" }')
    for payoff in ("1", "4", "0"):
        text = text.replace(f"{{ {payoff} }}", f"{{ {payoff} {9 - int(payoff)} }}")
    choice = choose(Compiled.of(EfgGame(parse_efg(text), "two")), SolveConfig())
    assert choice.method.name == "progressive-hiding"
    assert "may not be an equilibrium" in choice.why


def test_a_game_in_which_nobody_forgets_may_be_too_large_as_well() -> None:
    with pytest.raises(
        BudgetError, match=r"^trade_comm: [\d,]+ pure choices with 0 free probabilities are too many to enclose"
    ):
        team_optimum(load("trade_comm"), "polynomial")
