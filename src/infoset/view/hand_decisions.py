"""The decisions of a strategy in a hold'em game: how often each is reached, and the move probabilities there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from infoset.base import Action, FloatArray, InformationState, Policy, own_record
from infoset.games.betting import ACT
from infoset.games.holdem import HoldemRules, HoldemState
from infoset.games.poker_hands import RANKS, hand_name


class Decision(NamedTuple):
    """A decision: the moves before it, and for each hand its reach probability and its strategy."""

    player: int
    said: tuple[str, ...]
    actions: tuple[str, ...]
    chance: float
    """The probability that the game reaches this decision."""
    reach: FloatArray
    """(hands,) by the player's own moves, 1 at the start for its whole range."""
    rows: FloatArray
    """(hands, moves) the probability of each move with each hand."""
    often: FloatArray
    """(moves,) the probability of each move over all hands."""

    @property
    def where(self) -> str:
        """The moves before the decision, such as ``after check, bet 50``."""
        return f"after {', '.join(self.said)}" if self.said else "to begin"


def decisions(rules: HoldemRules, policy: Policy) -> list[Decision]:
    """Return all decisions of the street on which the game begins, in their order."""
    return _Walk(rules, policy).found()


@dataclass
class _Walk:
    rules: HoldemRules
    policy: Policy

    def found(self) -> list[Decision]:
        spot = self.rules.spot
        self.fits = spot.fits.astype(float)
        self.weights = spot.weights
        self.total = float(self.weights[0] @ self.fits @ self.weights[1])
        self.all: list[Decision] = []
        first = self.rules.join(self.rules.deal()[0], (spot.hands[0][0], spot.hands[1][0]))  # type: ignore[arg-type]
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
        chance = float(meets.sum())
        often = meets @ rows / chance if chance > 0 else np.zeros(len(action_set))
        actions = tuple(map(str, action_set))
        self.all.append(Decision(player, said, actions, chance, reach[player], rows, often))
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


def class_name(row: int, column: int) -> str:
    """Return the hands of a cell of the matrix, aces first: ``AKs`` above the diagonal, ``AKo`` below."""
    a, b = len(RANKS) - 1 - row, len(RANKS) - 1 - column
    return f"{RANKS[max(a, b)]}{RANKS[min(a, b)]}{'' if a == b else 's' if row < column else 'o'}"


def class_cells(hands: Sequence[tuple[int, ...]]) -> dict[tuple[int, int], list[int]]:
    """Return the places of hands, pairs of cards, by row and column of the matrix of 13 by 13 classes."""
    top = len(RANKS) - 1
    cells: dict[tuple[int, int], list[int]] = {(r, c): [] for r in range(top + 1) for c in range(top + 1)}
    for k, (one, two) in enumerate(hands):
        high, low = sorted((top - one // 4, top - two // 4))
        cells[(high, low) if one % 4 == two % 4 else (low, high)].append(k)
    return cells


def decisions_text(players: Sequence[str], found: list[Decision]) -> str:
    """Return a line for each decision, in the order of the game."""
    lines = []
    for one in found:
        did = "   ".join(f"{action} {share:.1%}" for action, share in zip(one.actions, one.often.tolist(), strict=True))
        lines.append((f"{one.chance:7.2%}  {players[one.player]} {one.where}", did))
    width = max(len(where) for where, _ in lines)
    return "\n".join(f"{where:{width}}  {did}" for where, did in lines)
