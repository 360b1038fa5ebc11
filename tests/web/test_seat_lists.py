"""Seats are offered to who can play the game; of the others it is said why not, and a table with them is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra 'web' is not installed")

import infoset
from infoset.catalog import load
from infoset.errors import InfosetError
from infoset.match.agents import AGENTS
from infoset.practice import customary
from infoset.web.seats import fitting, is_for, is_remote, unfitting, why_not
from infoset.web.tables import Tables

NFG = 'NFG 1 R "Pennies" { "Ann" "Bob" }\n{ { "a" "b" } { "c" "d" } }\n\n1 -1 -1 1 -1 1 1 -1\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("seats")
    infoset.solve("kuhn_poker", "lp").policy.save(path / "kuhn.npz")
    infoset.solve("kuhn_poker(players=3)", "cfr", iterations=2).policy.save(path / "three.npz")
    infoset.solve("leduc_poker", "cfr", iterations=2, out=path / "leduc")
    (path / "pennies.nfg").write_text(NFG)
    infoset.solve(str(path / "pennies.nfg"), "lcp", out=path / "pennies")
    (path / "broken.npz").write_bytes(b"PK\x03\x04")
    return path


@pytest.fixture
def room(folder: Path) -> Iterator[Tables]:
    found = Tables(lambda *_: None, (folder,))
    yield found
    found.close()


@pytest.mark.parametrize(
    ("game", "fit", "unfit"),
    [
        (
            "kuhn_poker",
            {"random", "search", "is-mcts"},
            {"human", "navocado", "skynet", "veteran", "simple", "uct", "meier", "hat-guessing", "sparta"},
        ),
        ("gdl:tic_tac_toe", {"random", "uct"}, {"simple", "blind_tic_tac_toe"}),
        ("gdl:meier", {"random", "meier"}, {"blind_tic_tac_toe", "uct"}),
        ("hanabi(players=3)", {"random", "hat-guessing", "sparta"}, {"simple", "uct"}),
        ("pommerman:OneVsOne-v0", {"random", "simple", "dypm"}, {"navocado", "search", "human", "ad-hoc"}),
    ],
)
def test_lists_hold_who_can_play(game: str, fit: set[str], unfit: set[str]) -> None:
    offered = fitting(load(game))
    assert offered[0] == customary(load(game)) and fit <= {*offered} and not unfit & {*offered}
    others = {word for words in unfitting(load(game)).values() for word in words}
    assert {*offered} | others == {word for word in AGENTS if not is_remote(word)} - {"human"} and not others & {
        *offered
    }


def test_learnt_teams_play_the_variant_that_they_were_trained_on() -> None:
    pytest.importorskip("torch", reason="the extra 'learn' is not installed")
    assert why_not("skynet", load("pommerman:PommeTeamCompetition-v0(seed=1)")) == ""
    assert why_not("skynet", load("pommerman:PommeRadio-v2")) == "trained on pommerman:PommeTeamCompetition-v0"


@pytest.mark.parametrize(
    ("named", "game", "expected"),
    [
        ("kuhn_poker", "kuhn_poker", True), ("kuhn_poker(players=2)", "kuhn_poker", True),
        ("kuhn_poker(players=3)", "kuhn_poker", False), ("python:a.py:B", "kuhn_poker", False),
        ("/elsewhere/kuhn_poker.efg", "leduc_poker", False), ("no_game(", "kuhn_poker", False),
    ],
)  # fmt: skip
def test_what_a_policy_names_is_compared_as_a_game(named: str, game: str, expected: bool) -> None:
    assert is_for(named, load(game)) is expected


def test_of_the_folders_only_what_fits_is_offered_and_the_rest_says_why(room: Tables, folder: Path) -> None:
    kuhn = room.game("kuhn_poker")
    assert kuhn["kept"] == ["0/kuhn.npz"]
    why = {name: line["why"] for line in kuhn["unfit"] for name in line["names"]}
    assert why["0/leduc"] == "for leduc_poker" and why["0/three.npz"] == "for kuhn_poker(players=3)"
    assert why["0/pennies"] == "for pennies.nfg" and why["0/broken.npz"].startswith("broken")
    assert str(folder) not in str(kuhn)
    assert room.game("0/pennies.nfg")["kept"] == ["0/pennies"]


@pytest.mark.parametrize(
    ("agent", "why"),
    [
        ("0/leduc", "0/leduc cannot play kuhn_poker: it is for leduc_poker"),
        ("simple", "simple cannot play kuhn_poker: it is made for Pommerman"),
        ("skynet", "made for Pommerman"), ("uct", "everybody sees everything"), ("0/broken.npz", "broken"),
    ],
)  # fmt: skip
def test_a_table_with_who_cannot_play_is_refused_before_it_is_set(
    room: Tables, folder: Path, agent: str, why: str
) -> None:
    with pytest.raises(InfosetError, match=why) as refused:
        room.open({"game": "kuhn_poker", "agents": ["human", agent]})
    assert str(folder) not in str(refused.value) and "\n" not in str(refused.value)
    assert not room.list()
