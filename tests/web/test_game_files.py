"""Files of games in the served folders: listed, by one name in Play and in Explore, with the titles that they have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra 'web' is not installed")

from infoset.remote.serving import Refusal
from infoset.web.artifacts import find
from infoset.web.exploring import Exploring
from infoset.web.listing import Filter, Listing
from infoset.web.metadata import read_metadata
from infoset.web.schemas import StrategyRequest
from infoset.web.seats import find_game as find_to_play
from infoset.web.sources import find_game as find_to_explore
from infoset.web.tables import Tables

EFG = (
    'EFG 2 R "A simple \\"Poker\\" game" { "Ann" "Bob" }\n""\n'
    'p "" 1 1 "" { "a" "b" } 0\nt "" 1 "" { 1, -1 }\nt "" 2 "" { -1, 1 }\n'
)
NFG = 'NFG 1 R "Battle of the sexes" { "Ann" "Bob" }\n{ { "a" "b" } { "c" "d" } }\n\n3 2 0 0 0 0 2 3\n'
COIN = "; Coin: guess it.\n(role p) (init a) (legal p b) (goal p 1) (<= terminal (true a))\n"
TITLES = {
    "0/games/poker.efg": 'A simple "Poker" game', "0/bos.nfg": "Battle of the sexes", "0/coin.gdl": "Coin",
    "0/pennies.csv": "pennies", "0/saved.gbt": 'A simple "Poker" game',
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "poker.efg").write_text(EFG)
    (tmp_path / "bos.nfg").write_text(NFG)
    (tmp_path / "coin.gdl").write_text(COIN)
    (tmp_path / "pennies.csv").write_text("1,-1\n-1,1\n")
    (tmp_path / "notes.csv").write_text("name,mark\nAnn,good\n")
    (tmp_path / "broken.efg").write_text("nothing")
    (tmp_path / "saved.gbt").write_text(f"<gambit:document><game><efgfile>\n{EFG}</efgfile></game></gambit:document>\n")
    return tmp_path


@pytest.fixture
def tables(folder: Path) -> Iterator[Tables]:
    found = Tables(lambda *_: None, (folder,))
    yield found
    found.close()


def test_they_are_listed_with_their_titles_and_other_tables_are_not(folder: Path) -> None:
    listing = Listing((folder,))
    found = listing.page(Filter(kind="game"))["items"]
    assert {item["name"]: item["about"].get("title") for item in found} == {**TITLES, "0/broken.efg": None}
    assert listing.first()["counts"]["game"] == len(TITLES) + 1
    simple = listing.page(Filter(kind="game", text="simple"))["items"]
    assert {item["name"] for item in simple} == {"0/games/poker.efg", "0/saved.gbt"}
    assert "begin" in read_metadata(find((folder,), "0/broken.efg")).problem
    (folder / "none.gbt").write_text("<gambit:document></gambit:document>")
    assert read_metadata(find((folder,), "0/none.gbt")).problem == "no file of a game: it holds none"
    assert "needed: payoffs" in read_metadata(find((folder,), "0/notes.csv")).problem


def test_play_and_explore_know_them_by_one_name(folder: Path, tables: Tables) -> None:
    offered = {game["name"]: game["title"] for game in tables.games() if game["family"] == "file"}
    assert offered == TITLES
    room = Exploring((folder,))
    for name, title in TITLES.items():
        assert tables.game(name)["title"] == title
        assert find_to_play((folder,), name).players == find_to_explore(name, (folder,)).players
        assert room.rules(StrategyRequest(f"game:{name}"))["about"].startswith(title)


def test_spots_of_holdem_are_listed_and_other_files_in_toml_are_not(folder: Path, tables: Tables) -> None:
    (folder / "river.toml").write_text('board = "QsJh8h5d2c"\nrange1 = "AA"\nrange2 = "KK"\n')
    (folder / "cup.toml").write_text('name = "cup"\ngame = "kuhn_poker"\n')
    offered = {game["name"]: game["title"] for game in tables.games() if game["family"] == "file"}
    assert offered == {**TITLES, "0/river.toml": "river"}
    assert find_to_play((folder,), "0/river.toml") == find_to_explore("0/river.toml", (folder,))
    assert Exploring((folder,)).rules(StrategyRequest("game:0/river.toml"))["parts"]


@pytest.mark.parametrize("name", ["0/../secret.efg", "1/bos.nfg", "0/none.efg", "0/.hidden.efg", "9/bos.nfg"])
def test_a_name_that_is_not_listed_leads_nowhere(folder: Path, name: str) -> None:
    (folder.parent / "secret.efg").write_text(EFG)
    (folder / ".hidden.efg").write_text(EFG)
    with pytest.raises(Refusal, match="no game"):
        find_to_play((folder,), name)
    assert not [item for item in Listing((folder,)).page(Filter(kind="game"))["items"] if item["name"] == name]
