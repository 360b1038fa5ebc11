"""A strategy of a hold'em game as SVG: a matrix of hands by rank for each decision, suited hands above the diagonal.

The filled part of a cell is the reach of its hands by their player's own moves; its stripes are the move probabilities.
"""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from infoset.errors import shorten
from infoset.games.bet_sizes import STREETS
from infoset.games.holdem import HoldemRules
from infoset.games.poker_hands import RANKS, hand_name
from infoset.view.action_colors import BETS, action_colors, printed
from infoset.view.hand_decisions import Decision, class_cells, class_name
from infoset.view.tournament_svg import EMPTY, GREY, INK, MARGIN, sheet, text

MAX_PANELS, LEAST, DARK = 24, 0.001, 0.6
CELL, GAP, HEAD, COLUMNS, TOP, LETTER, TITLE = 19, 34, 76, 4, 72, 6.0, 40
SIDE = CELL * len(RANKS)
ABOUT = "cells are filled by how often their hands get there; suited hands above the diagonal"


def hand_matrix_svg(rules: HoldemRules, found: list[Decision]) -> str:
    """Return the picture of a strategy: its most frequent decisions, up to ``MAX_PANELS``, in the game's order."""
    by_chance = sorted(range(len(found)), key=lambda k: -found[k].chance)
    shown = sorted([k for k in by_chance if found[k].chance >= LEAST][:MAX_PANELS])
    across = min(len(shown), COLUMNS if len(shown) > 2 * (COLUMNS - 1) else COLUMNS - 1)
    width = 2 * MARGIN + across * SIDE + (across - 1) * GAP
    lines = -(-len(shown) // across)
    spot = rules.spot
    street = STREETS[spot.street].capitalize()
    about = f"board {hand_name(spot.board)}, pot {spot.betting.pot}, stacks {spot.betting.stack}"
    if len(shown) < len(found):
        about += f"; {len(shown)} of {len(found)} decisions, those reached most often"
    svg = sheet(f"{rules.name}: hands", f"{street}: {about}", ABOUT, width, TOP + lines * (SIDE + HEAD))
    _legend(svg, width)
    for place, number in enumerate(shown):
        x, y = MARGIN + place % across * (SIDE + GAP), TOP + place // across * (SIDE + HEAD)
        _panel(svg, rules, found[number], x, y)
    return Xml.tostring(svg, encoding="unicode")


def _order(actions: tuple[str, ...]) -> list[tuple[int, str]]:
    """Return the moves' indices and colours: folds and calls, then bets in increasing order."""
    return [(k, printed(name)) for k, name in enumerate(action_colors(actions))]


def _legend(svg: Xml.Element, width: float) -> None:
    x = width - MARGIN
    named = (
        ("fold", printed("fold")),
        ("check, call", printed("call")),
        ("smallest bet", printed("bet0")),
        ("largest bet", printed(f"bet{BETS - 1}")),
    )
    for name, color in named[::-1]:
        x -= LETTER * len(name)
        text(svg, x, 52, name, fill=GREY)
        x -= 16
        Xml.SubElement(svg, "rect", {"x": f"{x:g}", "y": "42", "width": "11", "height": "11", "rx": "2", "fill": color})
        x -= 14


def _panel(svg: Xml.Element, rules: HoldemRules, decision: Decision, x: float, y: float) -> None:
    title = f"{decision.chance:.1%}  {rules.players[decision.player]} {decision.where}"
    text(svg, x, y + 14, shorten(title, TITLE), font_weight="bold")
    left, line = x, y + 29
    for k, color in _order(decision.actions):
        words = f"{decision.actions[k]} {decision.often[k]:.0%}"
        if left + LETTER * len(words) > x + SIDE:
            left, line = x, line + 13
        text(svg, left, line, words, fill=color, font_weight="bold", font_size="10")
        left += LETTER * len(words) + 9
    for cell, hands in class_cells(rules.spot.hands[decision.player]).items():
        _cell(svg, decision, hands, x + CELL * cell[1], y + 50 + CELL * cell[0], class_name(*cell))


def _cell(svg: Xml.Element, decision: Decision, hands: list[int], x: float, y: float, name: str) -> None:
    size = CELL - 1
    box = {"x": f"{x:g}", "y": f"{y:g}", "width": f"{size}", "height": f"{size}", "fill": EMPTY}
    group = Xml.SubElement(svg, "g")
    Xml.SubElement(group, "rect", box)
    reach, dark = decision.reach[hands], False
    if len(hands) and reach.max() > 0:
        filled = float(reach.mean())
        dark = filled > DARK
        shares = reach @ decision.rows[hands] / reach.sum()
        left, height = x, size * filled
        for k, color in _order(decision.actions):
            width = size * float(shares[k])
            if width > 0.05:
                stripe = {"x": f"{left:.2f}", "y": f"{y + size - height:.2f}", "width": f"{width:.2f}"}
                Xml.SubElement(group, "rect", {**stripe, "height": f"{height:.2f}", "fill": color})
            left += width
        shares_text = ", ".join(f"{action} {share:.0%}" for action, share in zip(decision.actions, shares, strict=True))
        Xml.SubElement(group, "title").text = f"{name}: here {filled:.0%}; {shares_text}"
    ink = "white" if dark else INK if len(hands) else "#bbbbbb"
    text(group, x + size / 2, y + size / 2 + 3, name, text_anchor="middle", font_size="7", fill=ink)
