"""The nodes of a hold'em solution as text: all decisions of a street in lines, and one node with its hands."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from infoset.hand_groups import group_of
from infoset.hand_table import HandTable
from infoset.next_cards import NextCards
from infoset.view.card_strip import card_strip_text
from infoset.view.hand_cells import about_node, about_range
from infoset.view.hand_text import hand_table_text


def decisions_text(players: Sequence[str], tables: Sequence[HandTable]) -> str:
    """Return a line for each decision, in the order of the game."""
    lines = []
    for table in tables:
        frequencies = group_of(table).frequencies.tolist()
        did = "   ".join(f"{action} {share:.1%}" for action, share in zip(table.actions, frequencies, strict=True))
        lines.append((f"{table.probability:7.2%}  {about_node(table, players)}", did))
    width = max(len(where) for where, _ in lines)
    return "\n".join(f"{where:{width}}  {did}" for where, did in lines)


def node_text(
    table: HandTable, other: HandTable, players: Sequence[str], measure: str = "strategy",
    next_cards: Sequence[NextCards] = (),
) -> Text:  # fmt: skip
    """Return the hands of one player at a node, a line about the other's, and strips of the cards that may come next.

    Raises ``ParameterError`` for a measure that is unknown.
    """
    text = hand_table_text(table, players, measure)
    figures = "   ".join(f"{name} {words}" for name, words in about_range(other))
    text.append(f"\n{players[other.player]}", "bold").append(f"   {figures}\n")
    for cards in next_cards:
        text.append("\n").append_text(card_strip_text(cards, players)).append("\n")
    text.rstrip()
    return text.append("\n")
