"""Nodes of public trees; those of a hold'em spot: the betting of each street, the same on all boards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from infoset.base import FloatArray
from infoset.errors import BudgetError
from infoset.games.betting import ACT, CARD, SHOWDOWN, Betting, BettingRules
from infoset.tree.vector_walk import CHANCE_NODE, DECK, END_NODE

PLAYERS = 2
HAND_CARDS = 4  # of both players together
ALL_CARDS = 5  # on the board at the showdown
MOST_STATES = 200_000
"""The largest number of states of the betting: they take 200 MB."""


class Node(NamedTuple):
    """A node of a street: the public state there, and the nodes that follow."""

    number: int
    public_state: Any
    """The betting; the number of the core in other games than hold'em."""
    mover: int
    """The player to act, ``CHANCE_NODE`` or ``END_NODE``."""
    children: tuple[int, ...] = ()
    row: int = 0
    """The number of the mover's actions at the nodes before."""
    slots: tuple[int, int] = (0, 0)
    """For each player the number of its reach vector, which changes only where it acts."""
    next_slot: int = 0
    """The mover's reach vector after its first action; those after the others follow."""
    above: int = -1
    """The node before on the same street; −1 for none."""
    action: Any = ""
    """The action that led here, a word in hold'em; "" where the street begins."""


@dataclass
class Street:
    """The nodes of a kind of board in preorder, from all public states on which it may begin; a street of hold'em."""

    roots: list[int] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    leaves: list[int] = field(default_factory=list)
    """The nodes that the next street follows, in the order of its roots."""
    ends: list[tuple[int, FloatArray]] = field(default_factory=list)
    """Nodes where nobody acts any more, with (2, 3) each player's payoffs of a win, tie and loss, times chance."""
    all_ins: list[tuple[int, FloatArray]] = field(default_factory=list)
    """Those where only cards follow, with (2,) what a win pays each player more than a tie, times chance."""
    paid: list[tuple[int, int, float]] = field(default_factory=list)
    """Nodes where the game ends and a table pays, with the number of the table and the factor of its payoffs."""
    rows: list[int] = field(default_factory=lambda: [0, 0])
    """For each player the number of actions at its nodes."""
    slots: list[int] = field(default_factory=lambda: [0, 0])
    """For each player the number of its reach vectors."""

    @property
    def showdowns(self) -> int:
        """The number of ends where hands are compared, which come first."""
        return sum(_is_showdown(pays) for _, pays in self.ends)


def _is_showdown(pays: FloatArray) -> bool:
    """Return whether wins, ties and losses are paid differently."""
    return bool((pays[:, 1:] != pays[:, :1]).any())


@dataclass
class BettingCount:
    """How much there is on each street of a public tree, counted without building it."""

    rows: FloatArray
    """(streets, 2) the number of actions at each player's nodes."""
    nodes: FloatArray
    """(streets,)"""
    all_ins: FloatArray
    """(streets,) the number of nodes where only cards follow."""


def count_betting(rules: BettingRules, cards: int) -> BettingCount:
    """Count what ``build_streets`` would build; equal states of the betting are visited once.

    Raises ``BudgetError`` where there are too many of them.
    """
    first, counted = cards - 3, dict[Betting, FloatArray]()

    def count(betting: Betting) -> FloatArray:
        """Return (streets, 4) the rows of both players, nodes and all-ins from this state on."""
        if betting in counted:
            return counted[betting]
        found, here = np.zeros((ALL_CARDS - cards + 1, 4)), betting.street - first
        found[here, 2] = 1
        if betting.status == ACT:
            actions = rules.actions(betting)
            found[here, betting.mover] = len(actions)
            for action in actions:
                found += count(rules.after(betting, action))
        elif betting.status == CARD and _run_out(rules, betting) is not None:
            found[here, 3] = 1
        elif betting.status == CARD:
            found += count(rules.deal(betting))
        counted[betting] = found
        if len(counted) > MOST_STATES:
            raise BudgetError(
                f"the betting has over {MOST_STATES:,} states; leave out bet sizes or limit bets and raises (cap)"
            )
        return found

    try:
        found = count(rules.start(first))
    except RecursionError:
        raise BudgetError("the betting has more raises in a row than can be followed; limit them (cap)") from None
    return BettingCount(found[:, :2], found[:, 2], found[:, 3])


def _run_out(rules: BettingRules, betting: Betting) -> Betting | None:
    """Return the showdown that only cards lead to, where a tie pays half of what a win and a loss pay together.

    A rake is paid at wins and losses: then what they differ by does not suffice, and the cards are dealt.
    """
    while betting.status == CARD:
        betting = rules.deal(betting)
    return betting if betting.status == SHOWDOWN and not rules.rake else None


def build_streets(rules: BettingRules, cards: int) -> list[Street]:
    """Return the nodes of each street of a spot that begins with ``cards`` cards on the board, 3 to 5."""
    streets, entries, chance = list[Street](), [rules.start(cards - 3)], 1.0
    while entries:
        street = Street()
        street.slots = [len(entries), len(entries)]
        for number, entry in enumerate(entries):
            street.roots.append(len(street.nodes))
            _add_nodes(street, rules, entry, (number, number), chance, cards)
        street.ends.sort(key=lambda end: not _is_showdown(end[1]))
        streets.append(street)
        entries = [rules.deal(street.nodes[leaf].public_state) for leaf in street.leaves]
        chance /= DECK - cards - HAND_CARDS
        cards += 1
    return streets


def _add_nodes(
    street: Street, rules: BettingRules, betting: Betting, slots: tuple[int, int], chance: float, cards: int,
    above: int = -1, action: str = "",
) -> int:  # fmt: skip
    """Add the node of a betting and all that follow on this street; return its number.

    ``chance`` is the probability of the cards dealt since the spot began, the same for all hands without them.
    """
    number = len(street.nodes)
    node = Node(number, betting, END_NODE, slots=slots, above=above, action=action)
    street.nodes.append(node)
    if betting.status == ACT:
        mover, actions = betting.mover, rules.actions(betting)
        row, next_slot = street.rows[mover], street.slots[mover]
        street.rows[mover] += len(actions)
        street.slots[mover] += len(actions)
        children = []
        for k, next_action in enumerate(actions):
            after = (next_slot + k, slots[1]) if mover == 0 else (slots[0], next_slot + k)
            betting_after = rules.after(betting, next_action)
            children.append(_add_nodes(street, rules, betting_after, after, chance, cards, number, next_action))
        street.nodes[number] = node._replace(mover=mover, children=tuple(children), row=row, next_slot=next_slot)
    elif betting.status == CARD and (end := _run_out(rules, betting)) is not None:
        probability = chance
        for dealt in range(cards, ALL_CARDS):
            probability /= DECK - dealt - HAND_CARDS
        pays = _pays(rules.payoffs(end))
        street.ends.append((number, np.repeat(pays[:, 1:2], 3, axis=1) * chance))
        street.all_ins.append((number, (pays[:, 0] - pays[:, 1]) * probability))
    elif betting.status == CARD:
        street.leaves.append(number)
        street.nodes[number] = node._replace(mover=CHANCE_NODE)
    else:
        street.ends.append((number, _pays(rules.payoffs(betting)) * chance))
    return number


def _pays(payoffs: FloatArray) -> FloatArray:
    """Return (2, 3) what each player gets where it wins, ties and loses, from the payoffs by result."""
    if len(payoffs) == 1:
        return np.repeat(payoffs.T, 3, axis=1)
    return np.stack([payoffs[:, 0], payoffs[::-1, 1]])
