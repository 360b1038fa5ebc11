"""Colours of moves: one definition (``page/base.css``), from which page, notebooks, SVG and plots take theirs.

Folds, calls and bets have the same colour in every game of betting, bets from the smallest to the largest; the moves of
other games have the colours of their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from infoset.view.markup import HUES, palette

FOLDS, CALLS = ("fold",), ("call", "check", "pass")
RAISES = ("bet", "raise", "allin", "all-in")
BETS = 5
"""Colours of bets, ``bet0`` the smallest."""


def move_colors(menu: Sequence[str], order: Mapping[str, int] | None = None) -> tuple[str, ...]:
    """Return the names of the colours of a menu's moves, as ``palette`` and the page have them.

    ``order`` gives the places of moves among all of a game, by which moves that are no betting are told apart.

    >>> from infoset.view.move_colors import move_colors
    >>> move_colors(["fold", "call", "raise 6", "raise 12"]), move_colors(["Rock", "Paper"])
    (('fold', 'call', 'bet0', 'bet4'), ('hue0', 'hue1'))
    """
    kinds = [_kind(move) for move in menu]
    if not all(kinds) or {*kinds} == {"call"}:
        return tuple([f"hue{(k if order is None else order.get(move, k)) % HUES}" for k, move in enumerate(menu)])
    bets = [k for k, kind in enumerate(kinds) if kind == "bet"]
    shades = {k: f"bet{round(place * (BETS - 1) / max(len(bets) - 1, 1))}" for place, k in enumerate(bets)}
    return tuple([shades.get(k, kind) for k, kind in enumerate(kinds)])


def _kind(move: str) -> str:
    """Return what a move is in betting; "" for none of it."""
    word = move.lower().strip('"').partition(" ")[0]
    return "fold" if word in FOLDS else "call" if word in CALLS else "bet" if word in RAISES else ""


def printed(color: str) -> str:
    """Return a colour by its name as it is on white paper."""
    return palette()[color][0]
