"""Goofspiel: simultaneous secret bids for point cards (Ross 1971), as OpenSpiel plays it."""

from __future__ import annotations

from typing import NamedTuple

from infoset.base import Action, JointMove, Observed
from infoset.games.rules import Ended, NativeState, Rules, seats
from infoset.names import Value, check_choice, check_range, full_name

POINTS_ORDERS = ("random", "descending", "ascending")
RETURNS_TYPES = ("win_loss", "point_difference", "total_points")
NO_PRIZE = 0


class _Fields(NamedTuple):
    imp_info: bool
    points_order: str
    returns_type: str
    hands: tuple[tuple[int, ...], ...]
    prizes: tuple[int, ...]
    prize: int
    points: tuple[int, ...]


class GoofspielState(NativeState, _Fields):
    """Hands, the prizes still to come, the prize on the table and the points so far.

    ``imp_info``: players see who won a bid, not the cards bid.
    """

    __slots__ = ()

    def legal(self, player: int) -> tuple[Action, ...]:
        return () if self.prize == NO_PRIZE else self.hands[player]

    def chance(self, moves: JointMove) -> tuple[tuple[Action, float], ...]:
        """The next prize; none where the order is fixed or the last card is played by itself."""
        if self.points_order != "random" or len(self.prizes) < 2:
            return ()
        return tuple((prize, 1 / len(self.prizes)) for prize in self.prizes)

    def play_unchecked(self, moves: JointMove, nature: Action | None = None) -> Observed:
        if self.prize == NO_PRIZE:
            return Observed(self._uncover(nature), (nature,) * len(self.hands))
        bids = tuple(int(str(move)) for move in moves)
        state, result = self._award(bids)
        if not self.imp_info:
            result = (*result, *bids)
        if len(state.hands[0]) == 1:
            last, _ = state._uncover(None)._award(tuple(hand[0] for hand in state.hands))
            return Observed(Ended(final(last.points, self.returns_type)), (result,) * len(self.hands))
        if state.prizes:
            state = state._uncover(nature)
            result = (*result, state.prize) if self.points_order == "random" else result
        return Observed(state, (result,) * len(self.hands))

    def _uncover(self, nature: Action | None) -> GoofspielState:
        ahead = max(self.prizes) if self.points_order == "descending" else min(self.prizes)
        prize = nature if isinstance(nature, int) else ahead
        return self._replace(prize=prize, prizes=tuple(p for p in self.prizes if p != prize))

    def _award(self, bids: tuple[int, ...]) -> tuple[GoofspielState, tuple[Action, ...]]:
        """Pay the prize to the one highest bid; nobody on a tie.  Returns the state and who won."""
        winners = [p for p, bid in enumerate(bids) if bid == max(bids)]
        winner = winners[0] if len(winners) == 1 else -1
        points = tuple(have + self.prize * (p == winner) for p, have in enumerate(self.points))
        hands = tuple(tuple(c for c in hand if c != bid) for hand, bid in zip(self.hands, bids, strict=True))
        outcome = "tie" if winner < 0 else f"P{winner + 1}"
        return self._replace(hands=hands, points=points, prize=NO_PRIZE), (outcome,)

    def returns(self) -> tuple[float, ...]:
        return (0.0,) * len(self.hands)


def final(points: tuple[int, ...], returns_type: str) -> tuple[float, ...]:
    """What the players' points are worth."""
    if returns_type == "total_points":
        return tuple(map(float, points))
    if returns_type == "point_difference":
        mean = sum(points) / len(points)
        return tuple(have - mean for have in points)
    best = [have == max(points) for have in points]
    if all(best):
        return (0.0,) * len(best)
    return tuple(1 / sum(best) if won else -1 / (len(best) - sum(best)) for won in best)


def goofspiel(
    players: int = 2,
    num_cards: int = 13,
    imp_info: bool = False,
    points_order: str = "random",
    returns_type: str = "win_loss",
) -> Rules:
    """Goofspiel with ``num_cards`` cards a hand; the last card is played by itself."""
    check_range("goofspiel: players", players, 2, 5)
    check_range("goofspiel: num_cards", num_cards, 2, 13)
    check_choice("goofspiel: points_order", points_order, POINTS_ORDERS)
    check_choice("goofspiel: returns_type", returns_type, RETURNS_TYPES)
    cards = tuple(range(1, num_cards + 1))
    state = GoofspielState(imp_info, points_order, returns_type, (cards,) * players, cards, NO_PRIZE, (0,) * players)
    first = state if points_order == "random" else state._uncover(None)
    parameters: dict[str, Value] = {
        "players": players, "num_cards": num_cards, "imp_info": imp_info,
        "points_order": points_order, "returns_type": returns_type,
    }  # fmt: skip
    name = full_name("goofspiel", goofspiel, **parameters)
    return Rules(name, seats(players), Observed(first, (None,) * players))
