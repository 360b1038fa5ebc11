"""Pure equilibria of any number of players, and all isolated ones of three and more, beside the definition and Gambit."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from extent import examples
from infoset import all_equilibria, evaluate, isolated_equilibria, load, pure_equilibria, table_game
from infoset.cli.app import app
from infoset.errors import BudgetError, ImperfectRecallError, UnsupportedGameError
from infoset.formats.gambit_text import GambitWarning
from infoset.formats.interop import to_gambit
from infoset.formats.nfg import NfgGame, game_to_nfg, parse_nfg, write_nfg
from infoset.solvers.tabular import pure_equilibria as pure_module
from infoset.solvers.tabular import support_enumeration as support_module
from infoset.solvers.tabular.equilibrium_list import EquilibriumList
from random_games import RandomGame

NINE = NfgGame(
    parse_nfg('NFG 1 R "" { "A" "B" "C" } { 2 2 2 } 9 8 12  0 0 0  0 0 0  9 8 2  0 0 0  3 4 6  3 4 6  0 0 0'), "nine"
)
"""McKelvey & McLennan (1997), of nine equilibria, two of them totally mixed."""


def drawn(shape: tuple[int, ...], seed: int, largest: int = 50) -> NfgGame:
    return table_game(*np.random.default_rng(seed).integers(-largest, largest, size=(len(shape), *shape)))


def mixtures(found: EquilibriumList) -> list[list[float]]:
    return sorted([float(chance) for own in one.mixtures for chance in own] for one in found.equilibria)


@examples(40)
@given(st.integers(0, 10**6), st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_pure_equilibria_of_tables_by_the_definition(seed: int, shape: list[int]) -> None:
    game = drawn(tuple(shape), seed, largest=3)  # of many ties
    n, cells = len(shape), list(product(*map(range, shape)))
    payoffs = {cell: game.nfg.payoffs[sum(k * int(np.prod(shape[:p])) for p, k in enumerate(cell))] for cell in cells}
    stable = [
        cell for cell in cells
        if all(payoffs[cell][p] >= payoffs[(*cell[:p], k, *cell[p + 1 :])][p] for p in range(n) for k in range(shape[p]))
    ]  # fmt: skip
    found = pure_equilibria(game)
    assert [tuple(own.index(1) for own in one.mixtures) for one in found.equilibria] == stable
    assert [one.values for one in found.equilibria] == [payoffs[cell] for cell in stable]


@examples(20)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_pure_equilibria_of_trees_are_equilibria_and_pay_what_they_say(seed: int, players: int) -> None:
    try:
        found = pure_equilibria(RandomGame(seed, players, 2))
    except BudgetError:
        return
    for number in range(min(3, len(found))):
        figures = evaluate(RandomGame(seed, players, 2), found.policy(number))
        assert figures.epsilon < 1e-9
        assert figures.values == pytest.approx([float(value) for value in found[number].values])


def test_gambit_finds_as_many_pure_equilibria_of_real_trees(shared: Path) -> None:
    pygambit = pytest.importorskip("pygambit")
    compared = 0
    for file in sorted((shared / "games" / "efg").glob("*.efg")):
        game = load(str(file))
        if len(game.efg.nodes) > 60:  # type: ignore[attr-defined]
            continue
        try:
            found = pure_equilibria(game)
        except (BudgetError, ImperfectRecallError):
            continue
        if found.table.numbers.size > 3000:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GambitWarning)
            theirs = to_gambit(NfgGame(game_to_nfg(game), game.name))
        assert len(found) == len(pygambit.nash.enumpure_solve(theirs).equilibria), file.name
        compared += 1
    assert compared > 20


def test_nine_equilibria_of_three_players() -> None:
    found = isolated_equilibria(NINE)
    assert len(found) == 9
    assert found.notes == ()
    whole = [one for one in found.equilibria if all(0 < chance < 1 for own in one.mixtures for chance in own)]
    first = sorted([own[0] for own in one.mixtures] for one in whole)
    assert first == [pytest.approx([0.4, 0.5, 1 / 3]), pytest.approx([0.5, 0.4, 0.25])]
    assert found[0].values == (9, 8, 12)
    for number, one in enumerate(found.equilibria):
        figures = evaluate(NINE, found.policy(number))
        assert figures.epsilon < 1e-12
        assert figures.values == pytest.approx([float(value) for value in one.values])


@pytest.mark.parametrize(("shape", "seed"), [((2, 2, 2), 10), ((3, 2, 2), 10), ((3, 3, 2), 11), ((2, 2, 2, 2), 10)])
def test_games_without_ties_have_an_odd_number_and_all_that_gambit_finds(shape: tuple[int, ...], seed: int) -> None:
    """Gambit's own list may lack some (its enumpoly finds four of five in the third game); none is its alone."""
    game = drawn(shape, seed)
    found = isolated_equilibria(game)
    assert len(found) % 2 == 1 and found.notes == ()
    assert all(one.gain < 1e-12 for one in found.equilibria)
    assert all(evaluate(game, found.policy(number)).epsilon < 1e-10 for number in range(len(found)))
    pygambit = pytest.importorskip("pygambit")
    theirs = to_gambit(game)
    ours = np.array(mixtures(found))
    for one in pygambit.nash.enumpoly_solve(theirs).equilibria:
        flat = [float(one[strategy]) for player in theirs.players for strategy in player.strategies]
        assert np.abs(ours - flat).max(axis=1).min() < 1e-5
    assert len(pure_equilibria(game)) == len(pygambit.nash.enumpure_solve(theirs).equilibria)


def test_three_equilibria_in_a_third_of_the_seats_of_a_larger_game() -> None:
    """Found again when the players and their strategies are turned round."""
    tables = np.random.default_rng(5).integers(-50, 50, size=(3, 3, 2, 2))
    found = isolated_equilibria(table_game(*tables))
    turned = isolated_equilibria(table_game(*[np.flip(tables[p].transpose(2, 0, 1)) for p in (2, 0, 1)]))
    again = sorted([float(c) for p in (1, 2, 0) for c in reversed(one.mixtures[p])] for one in turned.equilibria)
    assert np.allclose(mixtures(found), again)


def test_a_component_is_suspected_where_strategies_tie() -> None:
    """The third player is paid alike for everything: each of its mixtures is as good."""
    tables = np.array([[[[1, 1], [0, 0]], [[0, 0], [1, 1]]], [[[1, 1], [0, 0]], [[0, 0], [1, 1]]], np.zeros((2, 2, 2))])
    found = isolated_equilibria(table_game(*tables))
    assert len(found) == 6
    assert "table: a component of equilibria is suspected, for 6 of 6" in str(found).splitlines()[-1]


def test_a_list_that_may_lack_some_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    solve = support_module._solve_shape
    lost_paths: list[int] = []

    def lacking(payoffs: np.ndarray, shape: tuple[int, ...], supports: list) -> tuple[list, int, int]:
        found, singular, lost = solve(payoffs, shape, supports)
        mixed = shape == (2, 2, 2)
        return found[mixed:], singular, lost + mixed * sum(lost_paths)

    monkeypatch.setattr(support_module, "_solve_shape", lacking)
    assert isolated_equilibria(NINE).notes == (
        "nine: the list is incomplete: it has 8, but without ties their number is odd",
    )
    for words in ("1 path was not completed", "2 paths were not completed"):
        lost_paths.append(1)
        assert isolated_equilibria(NINE).notes == (f"nine: the list may lack equilibria: {words}",)


def test_any_number_of_players_has_its_way(monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(all_equilibria(table_game([1, 3, 3]))) == 'table: 2 pure equilibria\n1  P1 "2" -> 3\n2  P1 "3" -> 3'
    assert all_equilibria("rock_paper_scissors")[0].values == (Fraction(0), Fraction(0))
    assert len(all_equilibria(NINE)) == 9
    with pytest.raises(UnsupportedGameError, match="has 2 players; supports are enumerated for three and more"):
        isolated_equilibria("rock_paper_scissors")
    with pytest.raises(
        BudgetError, match=r"kuhn_poker\(players=3\): 6,561 x 10,000 x 65,536 strategies have more than"
    ):
        isolated_equilibria("kuhn_poker(players=3)")
    with pytest.raises(BudgetError, match="reduced normal form has"):
        pure_equilibria("kuhn_poker(players=3)")
    monkeypatch.setattr(support_module, "MOST_PATHS", 3)
    with pytest.raises(BudgetError, match=r"up to \d+ solutions, more than 3; logit finds one"):
        isolated_equilibria(NINE)
    monkeypatch.setattr(pure_module, "MOST_LISTED", 3)
    with pytest.raises(BudgetError, match="has 8 pure equilibria; at most 3 are listed"):
        pure_equilibria(table_game(*np.zeros((3, 2, 2, 2))))


def test_eighteen_pure_equilibria_of_three_players_on_the_command_line(tmp_path: Path) -> None:
    """Payoffs that all share, 1 in eighteen cells of 27 of which no two others are neighbours of a better one."""
    common = np.array([[[(i + j + k) % 3 != 0 for k in range(3)] for j in range(3)] for i in range(3)], dtype=float)
    file = tmp_path / "common.nfg"
    file.write_text(write_nfg(table_game(common, common, common).nfg))
    shown = CliRunner().invoke(app, ["show", str(file), "--equilibria", "--pure"])
    assert shown.exit_code == 0
    assert shown.output.splitlines()[0] == "common: 18 pure equilibria"
    assert shown.output.splitlines()[1] == '1  P1 "1" -> 1   P2 "1" -> 1   P3 "2" -> 1'
    assert (
        CliRunner()
        .invoke(app, ["show", "matching_pennies_3p", "--equilibria"])
        .output.startswith("matching_pennies_3p: 1 isolated equilibrium\n")
    )
    assert CliRunner().invoke(app, ["show", str(file), "--pure", "--dominated"]).exit_code != 0
