"""Games of Hex lie in hexagons, on the page and in the terminal."""

from __future__ import annotations

import pytest

from infoset.catalog import load
from infoset.view.pictures import picture_text, seen, whole


def test_dark_hex_is_drawn_row_by_row_to_the_right() -> None:
    game = load("dark_hex")
    known = (((2, 2), None),)
    picture = seen(game, 0, known)
    assert picture["hexagons"] == 1 and picture["title"] == "x joins top and bottom, o left and right"
    assert picture_text(picture).splitlines() == [
        "x joins top and bottom, o left and right",
        "    1   2   3",
        "1   ?   ?   ?",
        "  2   ?   x   ?",
        "    3   ?   ?   ?",
    ]


@pytest.mark.parametrize(("name", "hexagons"), [("gdl:hex", True), ("gdl:dark_hex", True), ("gdl:tic_tac_toe", False)])
def test_boards_of_descriptions(name: str, hexagons: bool) -> None:
    picture = whole(load(name), [load(name).start()], [])
    board = picture if picture["kind"] == "grid" else picture["parts"][0]
    assert ("hexagons" in board) is hexagons
    if hexagons:  # a cell touches two cells in the row above it: by the order of rows, to its right or left
        assert board["hexagons"] == (1 if board["rows"][0] == "1" else -1)


def test_other_phantom_boards_stay_squares() -> None:
    assert "hexagons" not in seen(load("phantom_tic_tac_toe"), 0, ())
