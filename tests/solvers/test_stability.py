"""Stability of rest points under replicator dynamics, by eigenvalues known from books and by running the dynamics."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extent import examples
from infoset import GameTree, SequenceForm, behaviour, extreme_equilibria, load, sfrd_continuous
from infoset.errors import BudgetError
from infoset.formats.nfg import NfgGame, parse_nfg
from infoset.solvers.tabular import stability as module
from infoset.solvers.tabular.stability import stability
from infoset.tree.plans import random_interior, uniform
from random_games import RandomGame


def form_of_table(sizes: str, cells: str) -> SequenceForm:
    return SequenceForm.of(GameTree.of(NfgGame(parse_nfg(f'NFG 1 R "" {{ "A" "B" }} {{ {sizes} }} {cells}'), "table")))


def test_coordination() -> None:
    """Both pure equilibria attract; the mixed one is a saddle: eigenvalues 1/2 and -1/2 (Weibull 1995)."""
    form = form_of_table("2 2", "1 1  0 0  0 0  1 1")
    mixed = stability(form, uniform(form))
    assert sorted(mixed.eigenvalues.real) == pytest.approx([-0.5, 0.5], abs=1e-8)
    assert mixed.verdict == "unstable"
    pure = np.array([1, 1, 0, 1, 1, 0], dtype=float)
    assert stability(form, pure).verdict == "stable"
    assert (
        stability(form, np.array([1, 1, 0, 1, 0, 1], dtype=float)).verdict == "unstable"
    )  # rests, but is not an equilibrium


def test_matching_pennies_is_a_centre() -> None:
    form = form_of_table("2 2", "1 -1  -1 1  -1 1  1 -1")
    found = stability(form, uniform(form))
    assert found.verdict == "neutral"
    assert np.abs(found.eigenvalues.imag) == pytest.approx([1, 1], abs=1e-8)
    moved = np.array([1, 0.6, 0.4, 1, 0.5, 0.5])
    assert stability(form, moved).verdict == "no rest point"
    assert "no rest point" in str(stability(form, moved))


def test_the_dynamics_do_what_the_eigenvalues_say() -> None:
    """From near the stable equilibrium of a dilemma the gap shrinks at the rate of the largest eigenvalue."""
    form = form_of_table("2 2", "3 3  5 0  0 5  1 1")
    found = stability(form, np.array([1, 0, 1, 1, 0, 1], dtype=float))
    assert found.verdict == "stable"
    assert found.eigenvalues.real.max() == pytest.approx(-1)  # what the other move pays less: 0 against 1
    gap = []
    for time in (40, 80):
        solver = sfrd_continuous(0.05).solver(form)
        solver.step(time)
        gap.append(behaviour(form, solver.current())[1])
    assert np.log(gap[1] / gap[0]) / 2.0 == pytest.approx(-1, abs=0.35)


@examples(25)
@given(st.integers(0, 10**6))
def test_every_equilibrium_rests_and_strict_ones_attract(seed: int) -> None:
    tree = GameTree.of(RandomGame(seed, 2, 2))
    try:
        found = extreme_equilibria(tree)
    except BudgetError:
        return
    for number in range(len(found)):
        assert stability(found.form, found.behaviour(number)).rests


def test_one_with_nothing_to_choose_and_one_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    assert stability(form_of_table("1 1", "1 2"), np.ones(2)).verdict == "stable"
    monkeypatch.setattr(module, "MOST_MOVES", 10)
    form = SequenceForm.of(load("kuhn_poker"))
    with pytest.raises(BudgetError, match="24 moves; stability is computed for up to 10"):
        stability(form, random_interior(form, 0))
