"""The rules that people are told: every game has them, their examples are legal, and page and terminal say the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import infoset
from infoset.catalog import known_games, load
from infoset.cli.app import app
from infoset.errors import IllegalActionError, UnknownNameError, UnsupportedGameError
from infoset.view import guide as guides
from infoset.view.guide import guide, guide_text, title_of

NFG = 'NFG 1 R "Battle of the sexes" { "Ann" "Bob" }\n{ { "a" "b" } { "c" "d" } }\n"Two go out."\n\n3 2 0 0 0 0 2 3\n'


@pytest.mark.parametrize("name", known_games())
def test_every_game_has_rules_and_an_example_that_its_rules_allow(name: str) -> None:
    told = guide(name)
    titles = [title for title, _ in told.parts]
    assert told.about and told.note and len(told.example) > 1
    assert {"Stakes", "Source"} <= {*titles} or name == "gdl:scissors_double"  # whose rules say what is paid
    assert {"Goal", "Setup", "Turn order"} <= {*titles} or (name.startswith("gdl:") and "Rules" in titles)
    assert all(text and "{" not in text for _, text in told.parts)


def test_guides_are_of_games_that_there_are() -> None:
    assert set(guides._data()) == {name for name in known_games() if not name.startswith("pommerman:")}


def test_an_example_says_what_chance_and_players_do_and_what_that_pays() -> None:
    assert guide("kuhn_poker").example == ("chance: J", "chance: Q", "P1: bet", "P2: pass", "the end: P1 +1, P2 −1")
    assert guide("gdl:monty_hall").example[-1] == "the end: candidate +100"
    assert guide("leduc_poker").example[-1] == "the end: P1 +7, P2 −7"


@pytest.mark.parametrize(
    ("actions", "why"), [("J; J", "chance cannot choose 'J'"), ("J; Q; bet; pass; bet", "is over")]
)
def test_an_example_that_the_rules_do_not_allow_is_an_error(actions: str, why: str) -> None:
    with pytest.raises(IllegalActionError, match=why):
        list(guides._example(load("kuhn_poker"), actions))


def test_terminal_and_page_show_the_same_text(tmp_path: Path) -> None:
    pytest.importorskip("msgspec")
    from infoset.web.exploring import Exploring
    from infoset.web.schemas import StrategyRequest

    room = Exploring((tmp_path,))
    for name in ("leduc_poker", "gdl:meier", "pommerman:OneVsOne-v0"):
        printed = CliRunner().invoke(app, ["games", name])
        assert printed.exit_code == 0 and printed.output == guide_text(guide(name)) + "\n"
        asked = room.rules(StrategyRequest(f"game:{name}"))
        assert asked == guide(name)._asdict()
        as_json = json.loads(CliRunner().invoke(app, ["games", name, "--json"]).output)
        assert as_json["parts"] == dict(asked["parts"]) and as_json["example"] == [*asked["example"]]
        flat = " ".join(printed.output.split())
        assert all(text in flat for text in (*dict(asked["parts"]).values(), *asked["example"], asked["note"]))


def test_wrong_parameters_are_an_error_and_right_ones_are_not() -> None:
    assert guide("kuhn_poker(players=3)").parts == guide("kuhn_poker").parts
    with pytest.raises(UnknownNameError, match="unknown parameter of kuhn_poker: 'playrs'; did you mean 'players'"):
        guide("kuhn_poker(playrs=3)")


def test_a_run_has_the_rules_of_its_game(tmp_path: Path) -> None:
    infoset.solve("kuhn_poker", "cfr", iterations=2, out=tmp_path / "run")
    printed = CliRunner().invoke(app, ["games", str(tmp_path / "run")])
    assert printed.output == guide_text(guide("kuhn_poker")) + "\n"
    (tmp_path / "run" / "config.json").write_text('{"game": "python:own.py:Game", "method": "cfr"}')
    refused = CliRunner().invoke(app, ["games", str(tmp_path / "run")])
    assert isinstance(refused.exception, UnsupportedGameError)


def test_what_is_said_to_programmers_is_no_rule(tmp_path: Path) -> None:
    pytest.importorskip("pyspiel")
    assert guide("openspiel:kuhn_poker").about == "Kuhn Poker, a game of OpenSpiel."
    own = tmp_path / "own.py"
    own.write_text(
        "import infoset\n\nLEDUC = infoset.load('leduc_poker')\n\n"
        "class Mine:\n    \"A game of mine.\"\n    name, players, start = 'mine', LEDUC.players, LEDUC.start\n"
    )
    assert guide(f"python:{own}:LEDUC").about == ""
    assert guide(f"python:{own}:Mine").about == "A game of mine."


def test_files_are_called_by_their_titles_and_tell_their_comments(tmp_path: Path) -> None:
    file = tmp_path / "bos.nfg"
    file.write_text(NFG)
    told = guide(str(file))
    assert told.about == title_of(load(str(file))) == "Battle of the sexes"
    assert dict(told.parts)["Rules"] == "Two go out." and dict(told.parts)["Source"] == "the file bos.nfg"
    own = tmp_path / "coin.gdl"
    own.write_text("; Coin: guess it.\n;\n; One guess.  Goals: 100 or 0.  Source: traditional.\n\n" + COIN)
    told = guide(str(own))
    assert told.about == "Coin: guess it." and title_of(load(str(own))) == "Coin"
    assert dict(told.parts)["Rules"] == "One guess." and dict(told.parts)["Source"] == "traditional."
    assert title_of(load("kuhn_poker")) == title_of(load("gdl:meier")) == ""


COIN = """
(role p) (init begun)
(<= (legal p heads) (true begun)) (<= (legal p tails) (true begun))
(<= (next won) (does p heads)) (<= (next over) (does p tails))
(<= terminal (not (true begun)))
(<= (goal p 100) (true won)) (<= (goal p 0) (not (true won)))
"""


def test_a_file_with_the_name_of_a_game_keeps_its_own_rules(tmp_path: Path) -> None:
    file = tmp_path / "kuhn_poker.nfg"
    file.write_text(NFG)
    assert guide("kuhn_poker", infoset.load(str(file))).about == "Battle of the sexes"
