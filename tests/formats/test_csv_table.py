"""Tables of payoffs as spreadsheets keep them: three ways to write a game, and what is none."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import infoset
from infoset.errors import FormatError
from infoset.formats.csv_table import parse_csv

DILEMMA = ((3, 3), (5, 0), (0, 5), (1, 1))


@pytest.mark.parametrize(
    "text",
    [
        ",C,D\nC,3 3,0 5\nD,5 0,1 1\n",
        "C;D\nC;3 3;0 5\nD;5 0;1 1",
        ",C,D\nC,3,0\nD,5,1\n\n,C,D\nC,3,5\nD,0,1\n",
        '"",C,"D"\n"C", 3 ,0,,\nD,5,1,,\n,,,\n,,,\n3,5\n0,1',
    ],
)
def test_the_same_game_in_four_ways(text: str, tmp_path: Path) -> None:
    nfg = parse_csv(text)
    assert nfg.strategies == (("C", "D"), ("C", "D"))
    assert nfg.payoffs == DILEMMA
    file = tmp_path / "dilemma.csv"
    file.write_text(text)
    found = infoset.solve(str(file))
    assert found.method == "lcp"
    assert found.policy.probabilities(0, "start") == {"C": 0.0, "D": 1.0}


def test_numbers_alone_are_what_the_second_player_loses() -> None:
    nfg = parse_csv("2\t-1\n-1\t1/3")
    assert nfg.strategies == (("1", "2"), ("1", "2"))
    assert nfg.payoffs == ((2, -2), (-1, 1), (-1, 1), (Fraction(1, 3), Fraction(-1, 3)))
    assert parse_csv("0.1").payoffs == ((Fraction(1, 10), Fraction(-1, 10)),)


def test_names_may_be_numbers_under_an_empty_corner() -> None:
    assert parse_csv(",1,5\n1,5,6\n7,7,8\n").strategies == (("1", "7"), ("1", "5"))


@given(
    st.integers(1, 5).flatmap(
        lambda width: st.lists(
            st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 6)), min_size=width, max_size=width),
            min_size=1,
            max_size=5,
        )
    )
)
def test_what_numpy_writes_is_read(rows: list[list[float]]) -> None:
    table = np.array(rows)
    text = "\n".join(",".join(map(repr, row)) for row in table.tolist())
    nfg = parse_csv(text)
    assert [float(cell[0]) for cell in nfg.payoffs] == table.T.ravel().tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty; needed: a table of payoffs"),
        ("a,b\n", "game.csv:1: names of strategies, and no payoffs below them"),
        (",l,r\nu,1,2\nd,3\n", "game.csv:3: 1 payoffs where the first line of the table has 2"),
        ("1,2\n3,x\n", "game.csv:2: 'x' in column 2; needed: payoffs, a finite number"),
        ("1,2\n3,nan\n", "game.csv:2: 'nan' in column 2"),
        ("1,2\n3,1/0\n", "denominator that is not zero"),
        ("1,2\n3,1e999\n", "game.csv:2: '1e999' in column 2"),
        ("1,2 2\n", "game.csv:1: some cells hold both players' payoffs, others one"),
        (
            "1 2 3,1 2 3\n",
            "game.csv:1: '1 2 3' in column 1; needed: one payoff, or two; columns are separated by commas",
        ),
        ("1\n\n2\n\n3\n", "game.csv:5: a table more than the payoffs of two players need"),
        ("1 1\n\n2\n", "game.csv:3: a table more than the payoffs of two players need"),
        ("1,2\n\n3\n", "game.csv:3: a table of 1 x 1 cells; needed: the other player's payoffs, 1 x 2 numbers"),
        (",l,l\nu,1,2\n", "game.csv:1: two strategies of one name, or of none, among l, l"),
        ("l,r\n1,2,3\n", "game.csv:1: "),
        ('"1,2\n', "game.csv"),
        ("1O,2\n3,4\n", "game.csv:1: '1O' among payoffs; give names of strategies for all rows"),
        ("1,2O\n3,4\n", "game.csv:1: '2O' among payoffs"),
        ("1,2,3O\n3,4,5\n", "game.csv:1: '3O' among payoffs"),
        (
            '"3,3","0,5"\n"5,0","1,1"\n',
            "game.csv:1: '0,5'; needed: two payoffs with a blank between them, '0 5', or a number with a point, '0.5'",
        ),
        (',l,r\nu,"3,3","0,5"\n', "game.csv:2: '3,3'; needed: two payoffs with a blank between them, '3 3'"),
        (";l;r\nu;0,5;1\n", "or a number with a point, '0.5'"),
        ('u,"(3, 3)","(0, 5)"\n', "game.csv:1: '(3, 3)'; needed: two payoffs with a blank between them, '3 3'"),
        ("50%,1\n1,2\n", "game.csv:1: '50%' among payoffs"),
        (",l,r\nu,1,2\nd,3,4\n\n,r,l\nd,1,2\nu,3,4\n", "game.csv:5: other names of strategies than in the first"),
    ],
)
def test_what_is_no_table(text: str, message: str) -> None:
    with pytest.raises(FormatError) as refusal:
        parse_csv(text, "game.csv")
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_names_may_be_pairs_of_numbers_under_an_empty_corner() -> None:
    assert parse_csv(',"1,1","1,2"\n"2,1",3 3,4 4\n').strategies == (("2,1",), ("1,1", "1,2"))
