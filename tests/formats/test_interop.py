"""Games of nashpy and pygambit as ours, and ours as theirs: there and back, and the same equilibria."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import KUHN, SHARED
from infoset import extreme_equilibria, load, solve, table_game
from infoset.errors import InfosetError, MissingExtraError, ParameterError, UnsupportedGameError
from infoset.formats import interop
from infoset.formats.nfg import write_nfg

SEXES = table_game([[2, 0, 1], [0, 1, 1]], [[1, 0, 0], [0, 2, 1]])


def test_nashpy_there_and_back() -> None:
    pytest.importorskip("nashpy")
    theirs = interop.to_nashpy(SEXES)
    assert theirs.payoff_matrices[0].tolist() == [[2, 0, 1], [0, 1, 1]]
    assert theirs.payoff_matrices[1].tolist() == [[1, 0, 0], [0, 2, 1]]
    assert interop.from_nashpy(theirs).nfg.payoffs == SEXES.nfg.payoffs


def test_nashpy_finds_the_same_equilibria() -> None:
    pytest.importorskip("nashpy")
    found = {tuple(np.round(np.concatenate(pair), 9)) for pair in interop.to_nashpy(SEXES).support_enumeration()}
    ours = {
        tuple(float(round(c, 9)) for own in one.mixtures for c in own) for one in extreme_equilibria(SEXES).equilibria
    }
    assert found == ours


def test_an_object_that_is_no_game_is_named() -> None:
    nashpy: Any = pytest.importorskip("nashpy")
    with pytest.raises(UnsupportedGameError, match="is not a game: it has no name, players, start; games of nashpy"):
        solve(nashpy.Game([[1, 0], [0, 1]]))


@pytest.mark.parametrize("package", ["nashpy", "pygambit"])
@pytest.mark.parametrize("wrong", [5, None, "kuhn_poker"])
def test_what_is_no_game_is_refused_in_one_line(package: str, wrong: Any) -> None:
    pytest.importorskip(package)
    word = package.removeprefix("py")
    with pytest.raises(ParameterError, match=f"is not allowed; allowed: a game of {package}$"):
        getattr(interop, f"from_{word}")(wrong)
    with pytest.raises(InfosetError, match=f"^a {type(wrong).__name__} is not a game") as raised:
        getattr(interop, f"to_{word}")(wrong)
    assert "\n" not in str(raised.value)


def test_a_tree_goes_to_nashpy_as_its_normal_form() -> None:
    pytest.importorskip("nashpy")
    theirs = interop.to_nashpy(load(KUHN))
    assert theirs.payoff_matrices[0].shape == (27, 64)
    assert solve(interop.from_nashpy(theirs)).values[0] == pytest.approx(-1 / 18)  # type: ignore[index]
    with pytest.raises(UnsupportedGameError, match="has 3 players; a game of nashpy has two"):
        interop.to_nashpy(load("matching_pennies_3p"))


@pytest.mark.parametrize("name", [KUHN, "matching_pennies_3p", "leduc_poker(ranks=2)"])
def test_gambit_there_and_back(name: str) -> None:
    pytest.importorskip("pygambit")
    game = load(name)
    theirs = interop.to_gambit(game)
    assert [player.label for player in theirs.players] == list(game.players)
    assert solve(interop.from_gambit(theirs), "cfr", iterations=20).values == pytest.approx(
        solve(game, "cfr", iterations=20).values
    )


def test_gambit_finds_our_equilibrium() -> None:
    pygambit = pytest.importorskip("pygambit")
    theirs = interop.to_gambit(SEXES)
    assert theirs.to_nfg() == interop.to_gambit(interop.from_gambit(theirs)).to_nfg()
    assert interop.from_gambit(theirs).nfg.payoffs == SEXES.nfg.payoffs
    count = len(pygambit.nash.enummixed_solve(theirs, rational=True).equilibria)
    assert count == len(extreme_equilibria(SEXES).equilibria)


@pytest.mark.parametrize("file", ["cent4.efg", "myerson.efg", "sh3.efg"])
def test_gambits_files_come_back(file: str) -> None:
    pytest.importorskip("pygambit")
    path = SHARED / "games" / "efg" / file
    if not path.exists():
        pytest.skip(f"{path} is not there")
    game: Any = load(str(path))
    again: Any = interop.from_gambit(interop.to_gambit(game))
    assert len(again.efg.nodes) == len(game.efg.nodes)
    assert again.players == game.players


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(interop, "import_module", missing)
    with pytest.raises(MissingExtraError, match="pygambit needs the extra 'gambit'"):
        interop.to_gambit(SEXES)
    with pytest.raises(MissingExtraError, match="nashpy needs the extra 'interop'"):
        interop.to_nashpy(SEXES)
    (tmp_path / "game.nfg").write_text(write_nfg(SEXES.nfg))
    assert load(str(tmp_path / "game.nfg")).nfg == SEXES.nfg  # type: ignore[attr-defined]
