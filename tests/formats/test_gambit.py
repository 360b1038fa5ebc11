"""Files that Gambit takes: labels, probabilities and payoffs as pygambit reads them back."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from infoset import SequenceForm, convert, load
from infoset.cli.app import app
from infoset.errors import ParameterError, UnsupportedGameError
from infoset.formats.efg import CHANCE_PLAYER, EfgGame, efg_for_gambit, parse_efg, write_efg
from infoset.formats.gambit_text import GambitWarning, Labels, plain_label
from infoset.formats.interop import to_gambit
from infoset.formats.nfg import NfgGame, nfg_for_gambit, parse_nfg, write_nfg
from infoset.tree.normal_form import count_strategies

NATIVE = [
    "battleship(rows=1,columns=2,ships=[1],shots=1)", "cooperative_matching_pennies", "dark_hex(rows=2,columns=2)",
    "goofspiel(num_cards=3)", "kuhn_poker", "kuhn_poker(players=3)", "leduc_poker(ranks=2)",
    "liars_dice(dice_sides=2)", "matching_pennies_3p", "oshi_zumo(coins=2,size=1,horizon=2)", "rock_paper_scissors",
    "tiny_hanabi", "trade_comm(items=2)", "holdem_river(range1=\"AhAd\",range2=\"KhKd,QhQd\")",
    "holdem_turn(range1=AhAd,range2=KcKs,bets=[1.0],raises=0,stack=50)",
    pytest.param("tiny_bridge", marks=pytest.mark.slow),
]  # fmt: skip
HOSTILE = """EFG 2 R "Tïtel\\\\ \\"x\\"" { "Änn " "B  b" } "two
lines"
c "root" 1 "déal" { "♠" 1/3 "s" 2/3 } 0
p "same" 1 1 "a
b" { "l " "l" } 0
t "same" 1 " x " { 1, -1 }
t "" 2 "" { 0.5, 3 }
p "" 2 2 "a b" { "" "  " } 0
t "" 1
t "" 1
"""
THIRDS = """EFG 2 R "thirds" { "A" }
c "" 1 "" { "x" 0.3333333333 "y" 0.3333333333 "z" 0.3333333333 } 0
t "" 1 "" { 1 }
t "" 2 "" { 2 }
t "" 3 "" { 3 }
"""


def read(path: Path) -> Any:
    pygambit = pytest.importorskip("pygambit")
    return (pygambit.read_efg if path.suffix == ".efg" else pygambit.read_nfg)(str(path))


def written(game: str | Path, path: Path) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GambitWarning)
        return convert(game, path)


def check_tree(path: Path) -> None:
    """Gambit finds as many nodes and information sets of each player, and the same probabilities and payoffs."""
    ours, theirs = parse_efg(path.read_text()), read(path)
    assert len(list(theirs.nodes)) == len(ours.nodes)
    used = {ours.nodes[k].infoset for k in range(len(ours.nodes))} - {-1}
    owners = Counter(ours.infosets[k].player for k in used)
    assert [len(player.infosets) for player in theirs.players] == [owners[p] for p in range(len(ours.players))]
    probabilities = sorted(Fraction(str(a.prob)) for infoset in theirs.players.chance.infosets for a in infoset.actions)
    assert probabilities == sorted(
        one for infoset in ours.infosets if infoset.player == CHANCE_PLAYER for one in infoset.probabilities
    )
    paid = Counter(tuple(Fraction(str(outcome[player])) for player in theirs.players) for outcome in theirs.outcomes)
    assert paid == Counter(outcome.payoffs for outcome in ours.outcomes)


def check_table(path: Path) -> None:
    """Gambit finds the same numbers of strategies and the same payoffs in every cell."""
    ours, theirs = parse_nfg(path.read_text()), read(path)
    sizes = [len(own) for own in ours.strategies]
    assert [len(player.strategies) for player in theirs.players] == sizes
    for player, table in enumerate(theirs.to_arrays(dtype=Fraction)):
        assert np.ravel(table, order="F").tolist() == [cell[player] for cell in ours.payoffs]


def test_every_real_file_is_read_back(shared: Path, tmp_path: Path) -> None:
    files = sorted((shared / "games" / "efg").glob("*.efg"))
    assert len(files) == 59
    for file in files:
        check_tree(written(file, tmp_path / file.name))


@pytest.mark.parametrize("name", NATIVE)
def test_every_native_game_is_read_back(name: str, tmp_path: Path) -> None:
    check_tree(written(name, tmp_path / "game.efg"))
    form = SequenceForm.of(load(name))
    if prod(count_strategies(form, player) for player in range(form.num_players)) <= 5000:
        check_table(written(name, tmp_path / "game.nfg"))


def test_hostile_labels_are_spelled_out_once(tmp_path: Path) -> None:
    source = tmp_path / "hostile.efg"
    source.write_text(HOSTILE, encoding="utf-8")
    with pytest.warns(GambitWarning) as caught:
        convert(source, tmp_path / "out.efg")
    assert [str(one.message) for one in caught] == [
        "hostile: Gambit does not take the label 'Änn ', written as 'Ann', and 11 others"
    ]
    efg = parse_efg((tmp_path / "out.efg").read_text())
    assert (efg.title, efg.players, efg.comment) == ('Titel/ "x"', ("Ann", "B b"), "two\nlines")
    assert [infoset.name for infoset in efg.infosets] == ["deal", "a b", "a b"]
    assert [infoset.actions for infoset in efg.infosets] == [("s", "s'2"), ("l", "l'2"), ("", "")]
    assert [node.name for node in efg.nodes] == ["root", "same", "same'3", "", "", "", ""]
    check_tree(tmp_path / "out.efg")
    assert efg_for_gambit(efg, "again") == efg
    with pytest.warns(GambitWarning, match="hostile: Gambit does not take"):
        theirs = to_gambit(load(str(source)))
    assert [player.label for player in theirs.players] == ["Ann", "B b"]


def test_a_table_with_such_labels(tmp_path: Path) -> None:
    nfg = parse_nfg('NFG 1 R "é" { "A " "Å" } { { "x  y" "x y" "♠\n" } { "-> " } } 1 2 3 4 5 1/3')
    with pytest.warns(GambitWarning, match="table: Gambit does not take"):
        made = nfg_for_gambit(nfg, "table")
    assert (made.players, made.strategies) == (("A", "A'2"), (("x y", "x y'2", "s"), ("->",)))
    (tmp_path / "table.nfg").write_text(write_nfg(made))
    check_table(tmp_path / "table.nfg")
    with pytest.warns(GambitWarning):
        assert len(to_gambit(NfgGame(nfg, "table")).players) == 2


@given(st.lists(st.text(max_size=6), max_size=6))
def test_labels_are_plain_and_unique_or_empty(texts: Sequence[str]) -> None:
    """What Gambit 16.7 says of a label: printable ASCII and spaces, none at the ends, no two of them together."""
    found = Labels().group(texts)
    assert all(count == 1 for label, count in Counter(found).items() if label)
    for label in found:
        assert label.isascii() and label.isprintable() and label == " ".join(label.split(" "))
        assert label == label.strip() and "  " not in label and "\\" not in label
        assert plain_label(label) == label


def test_chances_that_sum_to_about_one_are_refused_or_normalised(tmp_path: Path) -> None:
    pytest.importorskip("pygambit")
    source, target = tmp_path / "thirds.efg", tmp_path / "out.efg"
    source.write_text(THIRDS)
    refused = CliRunner().invoke(app, ["convert", str(source), str(target)])
    assert refused.exit_code != 0
    with pytest.raises(
        UnsupportedGameError, match=r"information set 1 sum to 0.9999999999, not exactly to 1.*--normal"
    ):
        convert(source, target)
    assert not target.exists()
    with pytest.raises(UnsupportedGameError, match="--normalise writes fractions that do"):
        to_gambit(load(str(source)))
    assert CliRunner().invoke(app, ["convert", str(source), str(target), "--normalise"]).exit_code == 0
    assert '{ "x" 1/3 "y" 1/3 "z" 1/3 }' in target.read_text()
    check_tree(target)
    assert len(to_gambit(load(str(source)), normalise=True).outcomes) == 3
    with pytest.raises(ParameterError, match=r"normalise=True applies to \.efg files only"):
        convert(source, tmp_path / "out.nfg", normalise=True)


def test_what_gambit_takes_is_written_as_it_is() -> None:
    text = 'EFG 2 R "t" { "A" "B" }\n""\n\np "n" 1 1 "J|pb" { "pass" "bet" } 0\nt "" 1 "o" { 1, 0 }\nt "" 2 "" { 1/3, 0 }\n'
    efg = parse_efg(text)
    assert efg_for_gambit(efg, "t") == efg
    assert write_efg(efg) == text
    assert EfgGame(efg, "t").labels == ["J|pb"]
