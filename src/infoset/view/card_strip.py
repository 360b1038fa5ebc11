"""The cards that may come next as a strip, from aces to deuces, coloured by what they change; as text and as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from xml.etree import ElementTree as Xml

import numpy as np
from rich.text import Text

from infoset.errors import ParameterError, printable
from infoset.games.poker_hands import RANKS, SUITS
from infoset.next_cards import NextCards
from infoset.view.action_colors import action_colors, printed
from infoset.view.hand_cells import action_letters, chips, percent
from infoset.view.svg_sheet import EMPTY, GREY, INK, MARGIN, rgb, sheet, text, tint

MEASURES = ("ev", "actions")
"""What a strip can show: the change of the mean value, or the probabilities of actions."""
SIGNS = dict(zip("shdc", "♠♥♦♣", strict=True))
BLOCKS = "▁▂▃▄▅▆▇█"
CARD, TALL, BARS, GAP, TOP, LETTER = 17, 34, 48, 8, 72, 6.2
FAINT = "#bbbbbb"
RED = "#b42f2f"


def card_strip_text(cards: NextCards, players: Sequence[str] = ("P1", "P2"), measure: str = "ev") -> Text:
    """Return the strip in four lines: what it shows, all cards, a sign under each, and a legend.

    The sign is the height of the mean value between the worst and the best card (``ev``), or the letter of the most
    frequent action (``actions``).  Cards that cannot come are dots.  Raises ``ParameterError`` for another measure.
    """
    _check(cards, measure)
    place = {card: k for k, card in enumerate(cards.cards)}
    text, below = Text(), Text()
    text.append(_head(cards, players, measure), "bold").append("\n")
    for rank in reversed(RANKS):
        text.append(rank, "bold")
        below.append(" ")
        for suit in SIGNS:
            k = place.get(rank + suit)
            text.append("·" if k is None else suit, "dim" if k is None else _style(cards, k, measure))
            below.append(" " if k is None else _sign(cards, k, measure))
        text.append(" ")
        below.append(" ")
    text.rstrip()
    below.rstrip()
    text.append("\n").append_text(below).append("\n")
    return text.append_text(_text_legend(cards, measure))


def card_strip_svg(cards: NextCards, players: Sequence[str] = ("P1", "P2"), measure: str = "ev") -> str:
    """Return the strip as a picture with a legend.

    Cards are blue where they are good for the player and orange where they are bad (``ev``), or have bars of its
    actions by their probabilities below them (``actions``).  Raises ``ParameterError`` for another measure.
    """
    _check(cards, measure)
    place = {card: k for k, card in enumerate(cards.cards)}
    width = 2 * MARGIN + len(RANKS) * len(SUITS) * CARD + (len(RANKS) - 1) * GAP
    about = f"board {' '.join(cards.board)}; {_range_words(cards)}"
    bottom = TOP + TALL + (BARS if measure == "actions" else 0)
    svg = sheet("next cards", _head(cards, players, measure), about, width, bottom + 44)
    for number, rank in enumerate(reversed(RANKS)):
        for column, suit in enumerate(SIGNS):
            x = MARGIN + number * (len(SUITS) * CARD + GAP) + column * CARD
            _card(svg, cards, place.get(rank + suit), rank, suit, x, measure)
    _legend(svg, cards, measure, bottom + 14)
    return Xml.tostring(svg, encoding="unicode")


def _check(cards: NextCards, measure: str) -> None:
    if measure not in MEASURES:
        raise ParameterError(f"a strip of {measure!r}; allowed: {', '.join(MEASURES)}")
    if measure == "actions" and not cards.actions:
        raise ParameterError("a strip of actions: the player has no decision after the card")


def _head(cards: NextCards, players: Sequence[str], measure: str) -> str:
    what = "EV by next card" if measure == "ev" else "actions by next card"
    return f"{players[cards.player]}: {what}"


def _range_words(cards: NextCards) -> str:
    """Return the value before the card, and the worst and the best card."""
    before = f"EV {chips(cards.before)} before it"
    if not np.isfinite(cards.ev).any():
        return before
    low, high = int(np.nanargmin(cards.ev)), int(np.nanargmax(cards.ev))
    ends = f"{chips(cards.ev[low])} ({cards.cards[low]}) to {chips(cards.ev[high])} ({cards.cards[high]})"
    return f"{before}, {ends} after it"


def _largest_change(cards: NextCards) -> float:
    changes = np.abs(cards.changes)
    return float(np.nanmax(changes)) if np.isfinite(changes).any() else 0.0


def _tint_share(cards: NextCards, k: int) -> float:
    """Return where the change by a card lies from 0, the largest loss, over .5, none, to 1."""
    most, change = _largest_change(cards), float(cards.changes[k])
    return 0.5 + change / most / 2 if isfinite(change) and most > 0 else 0.5


def _style(cards: NextCards, k: int, measure: str) -> str:
    if measure == "actions":
        return f"bold white on {printed(action_colors(cards.actions)[int(cards.frequencies[k].argmax())])}"
    share = _tint_share(cards, k)
    color = "".join(f"{round(255 * part):02x}" for part in tint(share))
    return f"{'white' if share > 0.75 else 'black'} on #{color}"


def _sign(cards: NextCards, k: int, measure: str) -> str:
    if measure == "actions":
        return action_letters(cards.actions)[int(cards.frequencies[k].argmax())]
    value = cards.ev[k]
    if not isfinite(value):
        return "?"
    low, high = float(np.nanmin(cards.ev)), float(np.nanmax(cards.ev))
    return BLOCKS[round((len(BLOCKS) - 1) * (value - low) / (high - low))] if high > low else BLOCKS[3]


def _text_legend(cards: NextCards, measure: str) -> Text:
    if measure == "ev":
        return Text(_range_words(cards), "dim")
    found = Text()
    letters, colors = action_letters(cards.actions), action_colors(cards.actions)
    for k, (action, share) in enumerate(zip(cards.actions, cards.frequencies.mean(axis=0).tolist(), strict=True)):
        found.append(f" {letters[k]} ", f"bold white on {printed(colors[k])}")
        found.append(f" {action} {percent(share)}   ")
    return found.append("\nmean over the cards; below each card its most frequent action", "dim")


def _card(svg: Xml.Element, cards: NextCards, k: int | None, rank: str, suit: str, x: float, measure: str) -> None:
    """Draw one card; one that cannot come is empty."""
    group = Xml.SubElement(svg, "g")
    share = 0.5 if k is None or measure == "actions" else _tint_share(cards, k)
    ink = FAINT if k is None else "white" if share > 0.75 else RED if suit in "hd" else INK
    _rectangle(group, x, TOP, TALL, EMPTY if k is None or measure == "actions" else rgb(tint(share)))
    if measure == "actions":
        bottom = float(TOP + TALL + BARS)
        shares = [0.0] * len(cards.actions) if k is None else cards.frequencies[k].tolist()
        for share, color in zip(shares, action_colors(cards.actions), strict=True):
            bottom -= BARS * share
            _rectangle(group, x, bottom, BARS * share, printed(color))
    if k is not None:
        Xml.SubElement(group, "title").text = printable(_card_words(cards, k))
    middle = {"text_anchor": "middle", "fill": ink}
    text(group, x + (CARD - 1) / 2, TOP + 14, rank, font_size="12", font_weight="bold", **middle)
    text(group, x + (CARD - 1) / 2, TOP + 28, SIGNS[suit], font_size="12", **middle)


def _card_words(cards: NextCards, k: int) -> str:
    """Return the figures of a card for its tooltip."""
    shares = zip(cards.actions, cards.frequencies[k].tolist(), strict=True)
    value = f"EV {chips(cards.ev[k])} ({chips(cards.changes[k])})" if isfinite(cards.ev[k]) else ""
    return f"{cards.cards[k]}: " + "; ".join(filter(None, (value, ", ".join(f"{a} {p:.0%}" for a, p in shares))))


def _rectangle(svg: Xml.Element, x: float, y: float, height: float, color: str) -> None:
    box = {"x": f"{x:g}", "y": f"{y:.2f}", "width": f"{CARD - 1}", "height": f"{height:.2f}"}
    Xml.SubElement(svg, "rect", {**box, "fill": color})


def _legend(svg: Xml.Element, cards: NextCards, measure: str, y: float) -> None:
    x = float(MARGIN)
    if measure == "ev":
        most = _largest_change(cards)
        named = [
            (f"{chips(change)}", rgb(tint(0.5 + change / most / 2 if most else 0.5)))
            for change in (-most, -most / 2, 0.0, most / 2, most)
        ]
    else:
        shares = cards.frequencies.mean(axis=0).tolist()
        words = [f"{action} {percent(share)}" for action, share in zip(cards.actions, shares, strict=True)]
        named = list(zip(words, map(printed, action_colors(cards.actions)), strict=True))
    for word, color in named:
        Xml.SubElement(svg, "rect", {"x": f"{x:g}", "y": f"{y:g}", "width": "16", "height": "11", "fill": color})
        text(svg, x + 22, y + 10, word, fill=GREY)
        x += 22 + LETTER * len(word) + 14
    if measure == "ev":
        text(svg, x, y + 10, "what the card adds to the EV, in chips", fill=GREY)
    else:
        text(svg, x, y + 10, "mean over the cards", fill=GREY)
