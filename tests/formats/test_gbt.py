"""What Gambit's window saves: the game is found in it, and mistakes have their place in the file."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from extent import examples
from infoset import convert, load, solve
from infoset.cli.app import app
from infoset.errors import FormatError
from infoset.formats.efg import EfgGame, parse_efg
from infoset.formats.nfg import NfgGame

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<gambit:document xmlns:gambit="http://gambit.sourceforge.net/" version="0.1">
<colors>
<player id="-1" red="0" green="0" blue="0" />
<player id="0" red="154" green="205" blue="50" />
<player id="1" red="255" green="0" blue="0" />
</colors>
<font size="10" family="74" face="Arial" style="90" weight="92" />
"""
LAYOUT = """<autolayout>
<nodes size="10" spacing="40" chance="dot" player="dot" terminal="dot"/>
<branches size="60" tine="20" branch="forktine" labels="horizontal"/>
<infosets style="circles"/>
</autolayout>
<labels abovenode="label" belownode="isetid" abovebranch="label" belowbranch="probs" />
"""
EFG = """EFG 2 R "Fight & <share>" { "Ann" "Bob" }
"said &amp; done"

p "" 1 1 "A<B" { "out" "in" } 0
t "" 1 "" { 30, 9 }
p "" 2 1 "B & A" { "fight" "share" } 0
t "" 2 "" { 0, 0 }
t "" 3 "" { 31, 3 }
"""
NFG = 'NFG 1 R "" { "A" "B" }\n\n{ { "C" "D" }\n{ "C" "D" }\n}\n""\n\n3 3 5 0 0 5 1 1\n'
TAIL = """<analysis type="list">
<description>
Some equilibria by solving polynomial systems in the extensive game
</description>
<profile type="behav">
0,1,0,1
</profile>
</analysis>
</game>
</gambit:document>
"""


def saved(kind: str, game: str, layout: str = "") -> str:
    return f'{HEAD}{layout}<numbers decimals="4"/>\n<game>\n<{kind}file>\n{game}</{kind}file>\n{TAIL}'


def test_a_tree_is_read_as_the_same_efg(tmp_path: Path) -> None:
    """Gambit escapes nothing inside the game: signs of XML in a label are the label's own."""
    (tmp_path / "entry.gbt").write_text(saved("efg", EFG, LAYOUT))
    game = load(str(tmp_path / "entry.gbt"))
    assert isinstance(game, EfgGame)
    assert (game.name, game.efg) == ("entry", parse_efg(EFG))
    assert (game.efg.title, game.efg.comment) == ("Fight & <share>", "said &amp; done")
    assert solve(game).values == pytest.approx((31.0, 3.0))
    assert parse_efg(convert(tmp_path / "entry.gbt", tmp_path / "entry.efg").read_text()) == game.efg


def test_a_table_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "Dilemma.GBT").write_text(saved("nfg", NFG).replace("\n", "\r\n"))
    game = load(str(tmp_path / "Dilemma.GBT"))
    assert isinstance(game, NfgGame)
    assert [tuple(map(int, cell)) for cell in game.nfg.payoffs] == [(3, 3), (5, 0), (0, 5), (1, 1)]
    shown = CliRunner().invoke(app, ["show", str(tmp_path / "Dilemma.GBT"), "--equilibria"])
    assert "1 extreme equilibrium" in shown.output


def test_pygambit_reads_the_same(tmp_path: Path) -> None:
    pygambit = pytest.importorskip("pygambit")
    (tmp_path / "entry.gbt").write_text(
        saved("efg", EFG.replace(" & <share>", "").replace("A<B", "AB").replace("B & A", "BA"), LAYOUT)
    )
    theirs = pygambit.read_gbt(str(tmp_path / "entry.gbt"))
    assert theirs.title == "Fight"
    assert len(list(theirs.nodes)) == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (saved("efg", EFG.replace("{ 30, 9 }", "{ 30 }")), r":16:6: found 1 payoffs, expected 2"),
        (saved("nfg", NFG.replace("1 1\n", "1 x\n")), r":19:15: found 'x', expected a payoff"),
        (saved("efg", EFG).replace("</efgfile>", ""), r":11:1: found <efgfile> without an end, expected </efgfile>"),
        (HEAD + "<game>\n</game>\n", r": found no game, expected one in <efgfile> or <nfgfile>"),
        ("", r": found no game, expected one in <efgfile>"),
        (saved("efg", ""), r"expected the header 'EFG 2 R'"),
        ('<!DOCTYPE a [<!ENTITY b "EFG">]>' + saved("efg", "&b; 2"), "found '&b;', expected the header"),
    ],
)
def test_mistakes_have_their_place_in_the_file(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "bad.gbt").write_text(text)
    with pytest.raises(FormatError, match=message) as caught:
        load(str(tmp_path / "bad.gbt"))
    assert "\n" not in str(caught.value)


@examples(100)
@given(
    at=st.integers(0, 1500),
    cut=st.integers(0, 40),
    put=st.sampled_from(["", "<efgfile>", "</efgfile>", "<", '"', "]]>"]),
)
def test_damaged_files_are_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, at: int, cut: int, put: str
) -> None:
    text, file = saved("efg", EFG, LAYOUT), tmp_path_factory.getbasetemp() / "damaged.gbt"
    file.write_text(text[:at] + put + text[at + cut :])
    try:
        game = load(str(file))
    except FormatError as error:
        assert "\n" not in str(error)
    else:
        assert isinstance(game, EfgGame)
