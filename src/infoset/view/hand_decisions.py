"""The decisions of a strategy in a hold'em game as tables of hands: how often each is reached, and what is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from infoset.base import Action, FloatArray, InformationState, Policy, own_record
from infoset.games.betting import ACT
from infoset.games.holdem import HoldemRules, HoldemState
from infoset.games.poker_hands import card_name, hand_name
from infoset.hand_groups import group_of
from infoset.hand_table import HandTable
from infoset.view.hand_cells import about_node


def decisions(rules: HoldemRules, policy: Policy) -> list[HandTable]:
    """Return all decisions of the street on which the game begins, in their order; values and equity are unknown."""
    return _Walk(rules, policy).found()


@dataclass
class _Walk:
    rules: HoldemRules
    policy: Policy

    def found(self) -> list[HandTable]:
        spot = self.rules.spot
        self.fits = spot.fits.astype(float)
        self.weights = spot.weights
        self.total = float(self.weights[0] @ self.fits @ self.weights[1])
        self.all: list[HandTable] = []
        dealt = spot.hands[0][0], spot.hands[1][0]
        first = HoldemState(spot, dealt, spot.betting.start(spot.street), ())
        self._visit(first, (), ((), ()), [np.ones(len(own)) for own in self.weights])
        return self.all

    def _visit(
        self, state: HoldemState, said: tuple[str, ...], infostate: tuple[InformationState, InformationState],
        reach: list[FloatArray],
    ) -> None:  # fmt: skip
        player = state.betting.mover
        action_set = state.legal_actions(player)
        rows = np.array(
            [self._row(player, hand, infostate[player], action_set) for hand in self.rules.spot.hands[player]]
        )
        own, other = (self.weights[p] * reach[p] for p in (player, 1 - player))
        meets = own * ((self.fits if player == 0 else self.fits.T) @ other) / self.total
        actions = tuple(map(str, action_set))
        spot, hands = self.rules.spot, self.rules.spot.hands[player]
        unknown = np.full((len(hands), len(actions)), np.nan)
        self.all.append(
            HandTable(
                player, tuple(map(hand_name, hands)), own, actions, rows, unknown[:, 0], unknown, unknown[:, 0],
                tuple(map(card_name, spot.board)), spot.betting.pot + sum(state.betting.stakes), spot.betting.invested(state.betting, player),
                meets, f"after {', '.join(said)}" if said else "",
            )
        )  # fmt: skip
        for k, action in enumerate(actions):
            after = state.after(action)
            if isinstance(after, HoldemState) and after.betting.status == ACT:
                next_records = tuple(
                    [own_record(action if p == player else None, None if p == player else action) for p in (0, 1)]
                )
                further = [reach[p] * rows[:, k] if p == player else reach[p] for p in (0, 1)]
                self._visit(after, (*said, action), tuple([(*infostate[p], next_records[p]) for p in (0, 1)]), further)  # type: ignore[arg-type]

    def _row(
        self, player: int, hand: tuple[int, ...], infostate: InformationState, action_set: tuple[Action, ...]
    ) -> list[float]:
        record = own_record(None, hand_name(hand))
        row = self.policy.action_probabilities(player, (record, *infostate), action_set)  # type: ignore[arg-type]
        return [1 / len(action_set)] * len(action_set) if row is None else list(row)


def decisions_text(players: Sequence[str], tables: Sequence[HandTable]) -> str:
    """Return a line for each decision, in the order of the game."""
    lines = []
    for table in tables:
        frequencies = group_of(table).frequencies.tolist()
        did = "   ".join(f"{action} {share:.1%}" for action, share in zip(table.actions, frequencies, strict=True))
        lines.append((f"{table.probability:7.2%}  {about_node(table, players)}", did))
    width = max(len(where) for where, _ in lines)
    return "\n".join(f"{where:{width}}  {did}" for where, did in lines)
