"""One palette: the page, notebooks, SVG and plots give a move the same colour; hands of hold'em by classes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import infoset
from infoset.spots import SpotTree
from infoset.view.action_colors import BETS, action_colors, printed
from infoset.view.hand_matrix_svg import hand_matrices_svg
from infoset.view.html import policy_html
from infoset.view.markup import palette

RIVER = "holdem_river"


@pytest.fixture(scope="module")
def river(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("river")
    infoset.solve(RIVER, "pcfr+", iterations=50).policy.save(folder / "river.npz")
    return folder


@pytest.mark.parametrize(
    ("action_set", "colors"),
    [
        (["fold", "call", "raise 150", "raise 200"], ("fold", "call", "bet0", "bet4")),
        (["check", "bet 50", "bet 100", "allin"], ("call", "bet0", "bet2", "bet4")),
        (["call", "fold"], ("call", "fold")),
        (["pass", "bet"], ("call", "bet0")),
        (["Rock", "Paper", "Scissors"], ("hue0", "hue1", "hue2")),
        (["Pass", "1H"], ("hue0", "hue1")),
        (["check"], ("hue0",)),
    ],
)
def test_moves_of_betting_have_colours_of_their_own(action_set: list[str], colors: tuple[str, ...]) -> None:
    assert action_colors(action_set) == colors


def test_all_colours_are_defined_once_by_day_and_by_night() -> None:
    names = {"fold", "call", *(f"bet{k}" for k in range(BETS)), *(f"hue{k}" for k in range(8))}
    assert names <= palette().keys()
    assert len({palette()[name] for name in names}) == len(names)
    view = Path(infoset.__file__).parent / "view"
    shades = {shade for name in names for shade in palette()[name]}
    others = [*view.glob("page/*.css"), *view.glob("page/*.js"), *view.glob("*.py")]
    found = {file.name for file in others if shades & {*re.findall(r"#[0-9a-f]{6}", file.read_text())}}
    assert found == {"base.css"}


def luminance(color: str) -> float:
    channels = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("name", ["fold", "call", *(f"bet{k}" for k in range(BETS))])
def test_words_on_colours_can_be_read(name: str) -> None:
    day, night = palette()[name]
    assert 1.05 / (luminance(day) + 0.05) > 3.4  # white, in bold, by day
    assert (luminance(night) + 0.05) / (luminance("#11151d") + 0.05) > 4.5


def test_picture_notebook_and_page_give_a_move_one_colour(river: Path) -> None:
    pytest.importorskip("starlette", reason="the extra 'web' is not installed")
    from infoset.web.exploring import Exploring
    from infoset.web.schemas import RowsRequest

    policy = infoset.TabularPolicy.load(river / "river.npz")
    room = Exploring((river,))
    assert room.source("item:0/river.npz").spot is not None
    group = room.node(RowsRequest("item:0/river.npz"))["groups"][0]
    assert group["moves"] == ("check", "bet 50", "bet 100") and group["colors"] == ("call", "bet0", "bet4")
    tables = [node.tables[node.mover] for node in SpotTree.of(RIVER, policy).decisions()]
    svg = hand_matrices_svg(RIVER, tables, policy.players)
    for action, color in zip(group["moves"], group["colors"], strict=True):
        assert re.search(rf'fill="{printed(color)}"[^>]*>{action} \d', svg)
    html = policy_html(infoset.solve("leduc_poker", "cfr", iterations=2).policy)
    assert {*re.findall(r"background:var\(--(\w+)\)", html)} == {"fold", "call", "bet0"}


def test_hands_are_shown_by_classes_with_chances_and_values(river: Path) -> None:
    pytest.importorskip("starlette", reason="the extra 'web' is not installed")
    from infoset.web.exploring import Exploring
    from infoset.web.schemas import RowsRequest

    room = Exploring((river,))
    assert room.source("item:0/river.npz").spot is not None
    node = room.node(RowsRequest("item:0/river.npz", rows=300))
    group = node["groups"][0]
    cells: dict[str, Any] = {cell["name"]: cell for cell in group["hands"]}
    assert {*cells} == {"AA", "KQs", "JTs", "T9s", "A5s"}
    assert (cells["AA"]["row"], cells["AA"]["column"]) == (0, 0) and (cells["A5s"]["row"], cells["A5s"]["column"]) == (
        0,
        9,
    )
    aces = [row for row in group["rows"] if row["key"] in cells["AA"]["hands"]]
    assert len(aces) == 6
    weights = np.array([row["reach"] for row in aces])
    for name in ("p", "ev"):
        mean = weights @ np.array([row[name] for row in aces]) / weights.sum()
        assert cells["AA"][name] == pytest.approx(mean.tolist())
    assert cells["JTs"]["filled"] == pytest.approx(0.5)  # their weight
    filtered = room.node(RowsRequest("item:0/river.npz", find="AA, suit:c | T9s"))["groups"][0]
    assert {cell["name"]: len(cell["hands"]) for cell in filtered["hands"]} == {"AA": 3, "T9s": 4}
    assert cells["T9s"]["equity"] == 1.0 > cells["AA"]["equity"] and cells["AA"]["realised"] is not None
    assert filtered["total"] == 7 and all(
        row["key"][:2] in ("As", "Ah", "Ad", "Ts", "Th", "Td", "Tc", "Ac") for row in filtered["rows"]
    )
    (made,) = group["kinds"]
    assert made["title"] == "Made hand"
    assert sum(row["share"] for row in made["rows"]) == pytest.approx(1)
    refused = room.node(RowsRequest("item:0/river.npz", find="flsh"))
    assert refused["groups"][0]["total"] == 0 and "did you mean 'flush'?" in refused["refused"]
    after = room.node(RowsRequest("item:0/river.npz", at="1"))["groups"][0]
    assert {cell["name"] for cell in after["hands"]} == {"QJs", "AQo", "ATs", "99", "J9s"}


def test_other_games_have_no_matrix_of_hands(tmp_path: Path) -> None:
    pytest.importorskip("starlette", reason="the extra 'web' is not installed")
    from infoset.web.exploring import Exploring
    from infoset.web.schemas import RowsRequest

    infoset.solve("kuhn_poker", "lp").policy.save(tmp_path / "kuhn.npz")
    assert Exploring((tmp_path,)).node(RowsRequest("item:0/kuhn.npz", at="0"))["groups"][0]["hands"] is None
