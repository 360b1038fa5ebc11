"""Colours of moves, defined once in ``page/base.css`` for the page, notebooks, SVG and plots.

Folds, calls and bets have the same colours in every betting game, bets from the smallest to the largest; the moves of
other games are coloured by their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from infoset.view.markup import HUES, palette

FOLDS, CALLS = ("fold",), ("call", "check", "pass")
RAISES = ("bet", "raise", "allin", "all-in")
BETS = 5
"""The number of colours for bets; ``bet0`` is the smallest bet."""


def action_colors(action_set: Sequence[str], order: Mapping[str, int] | None = None) -> tuple[str, ...]:
    """Return the names of the colours of legal actions, as used by ``palette`` and the page.

    ``order`` gives the place of each move among all moves of a game, which decides the colours in other games.

    >>> from infoset.view.action_colors import action_colors
    >>> action_colors(["fold", "call", "raise 6", "raise 12"]), action_colors(["Rock", "Paper"])
    (('fold', 'call', 'bet0', 'bet4'), ('hue0', 'hue1'))
    """
    kinds = [_kind(action) for action in action_set]
    if not all(kinds) or {*kinds} == {"call"}:
        return tuple(
            [f"hue{(k if order is None else order.get(action, k)) % HUES}" for k, action in enumerate(action_set)]
        )
    bets = [k for k, kind in enumerate(kinds) if kind == "bet"]
    shades = {k: f"bet{round(place * (BETS - 1) / max(len(bets) - 1, 1))}" for place, k in enumerate(bets)}
    return tuple([shades.get(k, kind) for k, kind in enumerate(kinds)])


def _kind(action: str) -> str:
    """Return a move's kind in betting: ``fold``, ``call``, ``bet``; "" for any other move."""
    word = action.lower().strip('"').partition(" ")[0]
    return "fold" if word in FOLDS else "call" if word in CALLS else "bet" if word in RAISES else ""


def printed(color: str) -> str:
    """Return the colour of this name for white paper."""
    return palette()[color][0]
