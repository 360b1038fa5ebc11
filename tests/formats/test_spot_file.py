"""Spots of hold'em as TOML files: the committed examples, runs made from them, and files that are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

import infoset
from command_line import run_infoset
from infoset.catalog import name_of
from infoset.errors import FormatError
from infoset.games.holdem import HoldemRules
from infoset.testing import check_game
from infoset.view.guide import guide

SPOTS = sorted((Path(__file__).parents[2] / "spots").glob("*.toml"))


@pytest.mark.parametrize("path", SPOTS, ids=lambda path: path.stem)
def test_the_examples_are_games(path: Path) -> None:
    game = infoset.load(str(path))
    assert isinstance(game, HoldemRules)
    assert infoset.load(game.name) == game
    assert check_game(game, plays=10).plays == 10
    assert name_of(str(path)) == game.name
    assert guide(str(path)).about == guide("holdem").about


def test_the_examples_begin_on_flop_turn_and_river() -> None:
    assert [len(infoset.load(str(path)).spot.board) for path in SPOTS] == [3, 3, 3, 5, 4]  # type: ignore[attr-defined]


SPOT = """
board = "QsJh8h5d2c"
range1 = "AA"
range2 = ["KK:0.5", "99"]   # a list is joined
bets = '''
    P1: 50%

    P2: none
'''
rake = 0
"""


def test_values_are_those_of_the_game_with_this_name(tmp_path: Path) -> None:
    path = tmp_path / "spot.toml"
    path.write_text(SPOT)
    game = infoset.load(str(path))
    assert game.name == 'holdem(board=QsJh8h5d2c,range1=AA,range2="KK:0.5 99",bets="P1: 50%; P2: none")'
    assert game == infoset.load("holdem(board=QsJh8h5d2c,range1=AA,range2='KK:0.5 99',bets='P1: 50%; P2: none')")


def test_runs_do_not_depend_on_the_file(tmp_path: Path) -> None:
    path = tmp_path / "spot.toml"
    path.write_text(SPOT)
    name = infoset.load(str(path)).name
    solution = infoset.solve(str(path), "dcfr", iterations=20, out=tmp_path / "run")
    printed = run_infoset(
        "solve", str(path), "--method", "dcfr", "--iterations", "20", "--out", str(tmp_path / "printed")
    )
    assert printed.stdout.startswith(f"{name} by dcfr")
    path.unlink()
    for folder in ("run", "printed"):
        assert infoset.load(str(tmp_path / folder)).name == name
    assert infoset.evaluate(name, str(tmp_path / "run")).exploitability == pytest.approx(solution.exploitability)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pot = 100", "no spot of hold'em: it has no board; such as board = 'Td9d6h'"),
        ('board = "Td9d6h"\nbet = "50%"', "unknown parameter of holdem: 'bet'; did you mean 'bets'?"),
        ('board = "Td9d6h"\npot = "100"', 'holdem: pot="100" is not an integer (default 100)'),
        ('board = "Td9d6h"\npot = 5.5', "holdem: pot=5.5 is not an integer"),
        ('board = "Td9d"', "holdem: board='Td9d' has 2 cards; it needs 3, 4 or 5"),
        ('board = ["Td", "9d"]', "holdem: board=[Td,9d] is not a word"),
        ('board = "Td9d6h"\nbets = "half"', "holdem: bets: 'half' is not a bet size; allowed"),
        ('board = "Td9d6h"\n[bets]\nflop = "50%"', "bets is a table; allowed: a number, a text, or a list"),
        ("board = Td9d6h", "not TOML: Invalid value (at line 1, column 9); put texts in quotes"),
        ("board = " + "[" * 5000, "not TOML"),
        ("board = 1" + "0" * 5000, "not TOML: a number with too many digits"),
    ],
)
def test_a_wrong_file_is_one_line(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "spot.toml"
    path.write_text(text)
    with pytest.raises(FormatError) as refusal:
        infoset.load(str(path))
    assert str(refusal.value).startswith(f"{path}: ")
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)
