"""Goofspiel: simultaneous secret bids for point cards (Ross 1971), as OpenSpiel plays it."""

from __future__ import annotations

from typing import NamedTuple

from infoset.base import Action, JointMove, Observed
from infoset.games.rules import Ended, NativeState, Rules, seats
from infoset.names import Value, check_choice, check_range, full_name

POINTS_ORDERS = ("random", "descending", "ascending")
RETURNS_TYPES = ("win_loss", "point_difference", "total_points")
NO_PRIZE = 0
NOBODY = -1


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
        count = len(self.hands)
        if self.prize == NO_PRIZE:
            return Observed(self._uncover(self.hands, self.points, nature), (nature,) * count)
        bids: list[int] = list(moves)  # type: ignore[arg-type]
        winner, points = award(bids, self.prize, self.points)
        seen: tuple[Action, ...] = ("tie" if winner == NOBODY else f"P{winner + 1}",)
        if not self.imp_info:
            seen = (*seen, *bids)
        hands = tuple([tuple([c for c in hand if c != bid]) for hand, bid in zip(self.hands, bids, strict=True)])
        if len(hands[0]) == 1:
            _, points = award([hand[0] for hand in hands], self.prizes[0], points)
            return Observed(Ended(final(points, self.returns_type)), (seen,) * count)
        state = self._uncover(hands, points, nature)
        if self.points_order == "random":
            seen = (*seen, state.prize)
        return Observed(state, (seen,) * count)

    def _uncover(
        self, hands: tuple[tuple[int, ...], ...], points: tuple[int, ...], nature: Action | None
    ) -> GoofspielState:
        """The state with the next prize on the table; where only differences count, the least points are 0."""
        imp_info, order, returns_type = self[:3]
        prize = nature if isinstance(nature, int) else (max if order == "descending" else min)(self.prizes)
        if returns_type != "total_points":
            least = min(points)
            points = tuple([have - least for have in points])
        left = tuple([p for p in self.prizes if p != prize])
        return GoofspielState(imp_info, order, returns_type, hands, left, prize, points)

    def returns(self) -> tuple[float, ...]:
        return (0.0,) * len(self.hands)


def award(bids: list[int], prize: int, points: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """Pay the prize to the one highest bid, to nobody on a tie.  Returns who won and the points."""
    best = max(bids)
    if bids.count(best) > 1:
        return NOBODY, points
    winner = bids.index(best)
    return winner, (*points[:winner], points[winner] + prize, *points[winner + 1 :])


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
    """Goofspiel with ``num_cards`` cards a hand; the last card is played by itself.

    Players remember their own bids; OpenSpiel's text of the game with open bids forgets them.
    """
    check_range("goofspiel: players", players, 2, 5)
    check_range("goofspiel: num_cards", num_cards, 2, 13)
    check_choice("goofspiel: points_order", points_order, POINTS_ORDERS)
    check_choice("goofspiel: returns_type", returns_type, RETURNS_TYPES)
    cards = tuple(range(1, num_cards + 1))
    state = GoofspielState(imp_info, points_order, returns_type, (cards,) * players, cards, NO_PRIZE, (0,) * players)
    first = state if points_order == "random" else state._uncover(state.hands, state.points, None)
    parameters: dict[str, Value] = {
        "players": players, "num_cards": num_cards, "imp_info": imp_info,
        "points_order": points_order, "returns_type": returns_type,
    }  # fmt: skip
    name = full_name("goofspiel", goofspiel, **parameters)
    return Rules(name, seats(players), Observed(first, (None,) * players))
