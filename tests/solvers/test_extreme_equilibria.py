"""All extreme equilibria of small games of two players, in fractions."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extent import examples
from infoset import GameTree, SequenceForm, evaluate, extreme_equilibria, linear_complementarity, realisation, solve
from infoset.errors import BudgetError, UnsupportedGameError
from infoset.formats.nfg import NfgGame, parse_nfg
from infoset.solvers.tabular import extreme_equilibria as module
from random_games import RandomGame

HALF = Fraction(1, 2)


def table(rows: int, columns: int, cells: str) -> NfgGame:
    """The row's strategy runs fastest."""
    return NfgGame(parse_nfg(f'NFG 1 R "" {{ "Row" "Column" }} {{ {rows} {columns} }} {cells}'), "table")


def coordination(size: int) -> NfgGame:
    return table(size, size, " ".join("1 1" if i == j else "0 0" for j in range(size) for i in range(size)))


def by_supports(first: np.ndarray, second: np.ndarray) -> set[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Equilibria of a game without ties: one at most for each pair of supports of a size; the slow twin."""
    m, n = first.shape
    found = set()
    for size in range(1, min(m, n) + 1):
        for rows in map(list, combinations(range(m), size)):
            for columns in map(list, combinations(range(n), size)):
                x, y = indifferent(second[np.ix_(rows, columns)].T), indifferent(first[np.ix_(rows, columns)])
                if x is None or y is None:
                    continue
                whole = np.zeros(m), np.zeros(n)
                whole[0][rows], whole[1][columns] = x, y
                paid, gained = first @ whole[1], whole[0] @ second
                if paid.max() <= paid[rows].min() + 1e-9 and gained.max() <= gained[columns].min() + 1e-9:
                    found.add((tuple(whole[0].round(9)), tuple(whole[1].round(9))))
    return found


def indifferent(payoffs: np.ndarray) -> np.ndarray | None:
    """Chances above 0 of the columns against which all rows are paid the same."""
    size = len(payoffs)
    system = np.block([[payoffs, -np.ones((size, 1))], [np.ones((1, size)), np.zeros((1, 1))]])
    try:
        solved = np.linalg.solve(system, np.append(np.zeros(size), 1.0))[:size]
    except np.linalg.LinAlgError:
        return None
    return solved if (solved > 1e-9).all() else None


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_coordination_games_have_one_for_every_set_of_strategies(size: int) -> None:
    found = extreme_equilibria(coordination(size))
    assert len(found) == 2**size - 1
    assert {one.component for one in found.equilibria} == set(range(1, 2**size))
    assert {one.values[0] for one in found.equilibria} == {Fraction(1, k) for k in range(1, size + 1)}


def test_the_battle_of_the_sexes() -> None:
    found = extreme_equilibria(table(2, 2, "2 1  0 0  0 0  1 2"))
    assert [one.values for one in found.equilibria] == [(2, 1), (Fraction(2, 3), Fraction(2, 3)), (1, 2)]
    assert found[1].mixtures == ((Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3)))
    assert str(found).splitlines()[0] == "table: 3 extreme equilibria, 3 components"


def test_a_component_with_several_vertices() -> None:
    """The row is always paid 1, so that it may mix as it likes as long as the column's answer stays best."""
    found = extreme_equilibria(table(2, 2, "1 1  1 0  1 0  1 1"))
    rows = {one.mixtures for one in found.equilibria}
    assert rows == {((1, 0), (1, 0)), ((0, 1), (0, 1)), ((HALF, HALF), (1, 0)), ((HALF, HALF), (0, 1))}
    assert {one.component for one in found.equilibria} == {1}


@examples(40)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4))
def test_games_without_ties_by_supports(seed: int, m: int, n: int) -> None:
    """Numbers drawn from many leave no ties: then the equilibria are those of pairs of supports, an odd number."""
    drawn = np.random.default_rng(seed).integers(-(10**6), 10**6, size=(2, m, n))
    cells = " ".join(f"{drawn[0, i, j]} {drawn[1, i, j]}" for j in range(n) for i in range(m))
    found = extreme_equilibria(table(m, n, cells))
    ours = {tuple(tuple(round(float(c), 9) for c in own) for own in one.mixtures) for one in found.equilibria}
    assert ours == by_supports(*drawn.astype(float))
    assert len(found) % 2 == 1


@examples(25)
@given(st.integers(0, 10**6))
def test_random_trees(seed: int) -> None:
    """Each is an equilibrium of the tree it came from and pays what it says; what lcp finds is paid between them."""
    tree = GameTree.of(RandomGame(seed, 2, 2))
    form = SequenceForm.of(tree)
    try:
        found = extreme_equilibria(tree)
    except BudgetError:
        return
    assert len(found) > 0
    for number, one in enumerate(found.equilibria):
        figures = evaluate(form, realisation(form, found.behaviour(number)))
        assert figures.epsilon < 1e-9
        assert figures.values == pytest.approx([float(value) for value in one.values], abs=1e-9)
    reached = evaluate(form, linear_complementarity(form)).values
    for p in range(2):
        paid = [float(one.values[p]) for one in found.equilibria]
        assert min(paid) - 1e-9 <= reached[p] <= max(paid) + 1e-9


def test_kuhn_poker_is_too_large_and_its_policies_are_policies(monkeypatch: pytest.MonkeyPatch) -> None:
    found = extreme_equilibria("rock_paper_scissors")
    assert evaluate("rock_paper_scissors", found.policy(0)).exploitability < 1e-12
    assert solve("rock_paper_scissors", "lcp").values == pytest.approx([float(v) for v in found[0].values])
    monkeypatch.setattr(module, "MOST_ENTRIES", 20_000)
    with pytest.raises(BudgetError, match=r"too large to list all its equilibria, .* lcp finds one"):
        extreme_equilibria("kuhn_poker")


def test_other_numbers_of_players_are_refused() -> None:
    with pytest.raises(UnsupportedGameError, match="has 3 players; extreme equilibria are those of two"):
        extreme_equilibria("matching_pennies_3p")
