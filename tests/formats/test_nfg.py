"""Gambit's .nfg files: both kinds, broken ones, and the reduced normal form of any small game."""

from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import KUHN, form_of
from extent import examples
from infoset import GameTree, SequenceForm, convert, evaluate, expected_values, load, solve, table_game
from infoset.errors import BudgetError, FormatError, ParameterError
from infoset.formats.nfg import Nfg, NfgGame, game_to_nfg, parse_nfg, write_nfg
from infoset.testing import check_game
from infoset.tree.normal_form import count_strategies, normal_form
from random_games import RandomGame

DILEMMA = """NFG 1 R "Prisoner's dilemma" { "Row" "Column" } { { "C" "D" } { "C" "D" } } "a comment"
3 3 5 0 0 5 1 1
"""
OUTCOMES = """NFG 1 R "Prisoner's dilemma" { "Row" "Column" }
{ { "C" "D" }
{ "C" "D" } } "a comment"
{ { "both" 3, 3 } { "" 5 0 } { "" 0, 5 } { "none" 1, 1 } }
1 2 3 4
"""
THREE = 'NFG 1 D "three" { "A" "B" "C" } { 2 1 2 } ' + " ".join(f"{k} {k / 2} 1/{k + 1}" for k in range(4))


def test_payoffs_and_outcomes_say_the_same() -> None:
    found = parse_nfg(DILEMMA)
    assert found == parse_nfg(OUTCOMES)
    assert found.payoffs == ((3, 3), (5, 0), (0, 5), (1, 1))  # the first player's strategy runs fastest
    game = NfgGame(found, "dilemma")
    check_game(game)
    step = game.start().state.play(("D", "C"))
    assert step.state.returns() == (5.0, 0.0)
    assert solve(game).values == (1.0, 1.0)
    assert parse_nfg(write_nfg(found)) == found


def test_more_players_unnamed_strategies_and_no_outcome() -> None:
    found = parse_nfg(THREE)
    assert found.strategies == (("1", "2"), ("1",), ("1", "2"))
    assert found.payoffs[2] == (2, 1, Fraction(1, 3))
    assert NfgGame(found, "three").start().state.play(("1", "1", "2")).state.returns() == (2.0, 1.0, 1 / 3)
    nothing = parse_nfg('NFG 1 R "" { "A" } { 2 } { { "" 7 } } 0 1')
    assert nothing.payoffs == ((0,), (7,))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "NFG 1 R"),
        ('NFG 2 R "" { "A" } { 1 } 0', "format version 1"),
        ('NFG 1 R "" { } { 1 } 0', "at least one player"),
        ('NFG 1 R "" { "A" "B" } { 2 } 0 0', "strategies of 2 players, not of 1"),
        ('NFG 1 R "" { "A" } { 2 2 } 0 0', "strategies of 1 players, not of more"),
        ('NFG 1 R "" { "A" } { { } } 0', "at least one strategy"),
        ('NFG 1 R "" { "A" } { 0 } 0', "from 1 to"),
        ('NFG 1 R "" { "A" } { 2 } 0', "a payoff, a finite number"),
        ('NFG 1 R "" { "A" } { 2 } 0 x', "a payoff, a finite number"),
        ('NFG 1 R "" { "A" } { 2 } 0 1/0', "a denominator that is not zero"),
        ('NFG 1 R "" { "A" } { 2 } 0 1 2', "nothing after the 2 cells"),
        ('NFG 1 R "" { "A" } { 2 } { { "" 1 } } 0 2', "an outcome's number from 0 to 1"),
        ('NFG 1 R "" { "A" "B" } { 99999 99999 } 0', "a table of at most 2,000,000 cells"),
        ('NFG 1 R "unclosed { "A" } { 1 } 0', "found"),
    ],
)
def test_broken_files_are_said_with_line_and_column(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        parse_nfg(text, "bad.nfg")
    assert "bad.nfg:1:" in str(caught.value)


def test_by_file(tmp_path: Path) -> None:
    path = tmp_path / "dilemma.nfg"
    path.write_text(DILEMMA)
    assert load(str(path)).name == "dilemma"
    assert solve(str(path)).policy.probabilities(1, "start") == {"C": 0.0, "D": 1.0}
    convert(str(path), tmp_path / "again.nfg")
    assert parse_nfg((tmp_path / "again.nfg").read_text()) == parse_nfg(DILEMMA)
    convert(str(path), tmp_path / "tree.efg")
    assert evaluate(str(tmp_path / "tree.efg"), "random").values == pytest.approx((2.25, 2.25))


def test_the_reduced_normal_form_of_kuhn_poker(tmp_path: Path) -> None:
    """27 x 64 plans: with each card pass-pass, pass-bet or bet; and with each a move after a pass and after a bet."""
    convert(KUHN, tmp_path / "kuhn.nfg")
    table = load(str(tmp_path / "kuhn.nfg"))
    assert [len(table.start().state.legal_actions(p)) for p in range(2)] == [27, 64]
    assert solve(table, "lp").values == pytest.approx((-1 / 18, 1 / 18), abs=1e-9)


@examples(30)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_cells_are_what_plans_are_worth(seed: int, players: int) -> None:
    """On random games every cell of the table is the expected payoff of its plans in the sequence form."""
    form = SequenceForm.of(RandomGame(seed, players, 2))
    counts = [count_strategies(form, p) for p in range(players)]
    if np.prod(counts) > 500:
        return
    table = normal_form(form)
    assert table.payoffs.shape == (*counts, players)
    assert [len(set(names)) for names in table.strategies] == counts
    for cell in product(*map(range, counts)):
        plan = np.concatenate([table.plans[p][k] for p, k in enumerate(cell)]).astype(float)
        assert table.payoffs[cell] == pytest.approx(expected_values(form, plan), abs=1e-9)


def test_a_table_too_large_is_refused_with_its_counts() -> None:
    with pytest.raises(BudgetError, match=r"reduced normal form has [\d,]+ x [\d,]+ cells, more than 2,000,000"):
        normal_form(form_of("leduc_poker"))


@examples(30)
@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=3),
    st.lists(st.fractions(-5, 5, max_denominator=9), min_size=81, max_size=81),
    st.text(min_size=1, max_size=8).filter(lambda text: text.isprintable()),
)
def test_what_is_written_is_read_again(sizes: list[int], numbers: list[Fraction], name: str) -> None:
    cells, n = int(np.prod(sizes)), len(sizes)
    payoffs = tuple(tuple(numbers[n * k : n * k + n]) for k in range(cells))
    nfg = Nfg(name, (name,) * n, tuple(tuple(f"{name}{k}" for k in range(size)) for size in sizes), payoffs, name)
    assert parse_nfg(write_nfg(nfg)) == nfg
    tree = GameTree.of(NfgGame(nfg, "written"))
    assert len(tree.parent) >= cells
    assert game_to_nfg(NfgGame(nfg, "written")) is nfg


def test_tables_of_numbers() -> None:
    """One for each player, of any number of players; a matrix alone is a zero-sum game."""
    rng = np.random.default_rng(0)
    tables = rng.integers(-5, 6, size=(3, 2, 3, 2))
    game = table_game(*tables, players=("A", "B", "C"))
    check_game(game)
    for cell in product(range(2), range(3), range(2)):
        action = tuple(str(k + 1) for k in cell)
        assert game.start().state.play(action).state.returns() == tuple(tables[(slice(None), *cell)])
    assert table_game([[1, -2]]).start().state.play(("1", "2")).state.returns() == (-2.0, 2.0)


@pytest.mark.parametrize(
    ("tables", "options"),
    [
        ((), {}), (([1, 2],) * 2, {}), (([[1, 2]], [[1], [2]]), {}), (([["a"]],), {}), (([[float("nan")]],), {}),
        (([[1e200]],), {}), (([[]],), {}), (([[1, 2]],), {"strategies": [("a",), ("b",)]}), (([[1]],), {"players": ("A",)}),
        (([[1, 2]],), {"strategies": [("a",), ("b", "b")]}),
    ],
)  # fmt: skip
def test_tables_that_are_none(tables: tuple, options: dict) -> None:
    with pytest.raises(ParameterError, match="table_game"):
        table_game(*tables, **options)


@pytest.mark.slow
def test_a_long_chain_of_moves_has_as_many_strategies(tmp_path: Path) -> None:
    """Centipede alone: stop at one of 600 places, or never."""
    count = 600
    lines = ['EFG 2 R "chain" { "A" "B" }']
    for k in range(1, count + 1):
        lines += [f'p "" 1 {k} "" {{ "s" "g" }} 0', f't "" {k} "" {{ {k % 7} 1 }}']
    (tmp_path / "chain.efg").write_text("\n".join([*lines, f't "" {count + 1} "" {{ 3 1 }}']))
    table = normal_form(SequenceForm.of(load(str(tmp_path / "chain.efg"))))
    assert table.payoffs.shape == (count + 1, 1, 2)
    assert table.strategies[0][1].startswith("g/s/*/")
