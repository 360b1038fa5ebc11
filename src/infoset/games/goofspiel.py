"""Goofspiel: simultaneous secret bids for point cards (Ross 1971), as in OpenSpiel."""

from __future__ import annotations

from typing import Any, NamedTuple

from infoset.base import Action, InformationState, JointAction, ObservationRecord, Observed, Picture, Writes
from infoset.games.rules import Ended, NativeState, Rules, seats
from infoset.games.table import Infostates, Look, ShownRules, area, table
from infoset.games.tensors import has_recall, layout
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

    With ``imp_info`` players see who won a bid, but not the cards bid.
    """

    __slots__ = ()

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        return () if self.prize == NO_PRIZE else self.hands[player]

    def chance_outcomes(self, actions: JointAction) -> tuple[tuple[Action, float], ...]:
        """Return the possible next prizes; none where the order is fixed or only the last card is left."""
        if self.points_order != "random" or len(self.prizes) < 2:
            return ()
        return tuple((prize, 1 / len(self.prizes)) for prize in self.prizes)

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        count = len(self.hands)
        if self.prize == NO_PRIZE:
            return Observed(self._uncover(self.hands, self.points, chance_outcome), (chance_outcome,) * count)
        bids: list[int] = list(actions)  # type: ignore[arg-type]
        winner, points = award(bids, self.prize, self.points)
        seen: tuple[Action, ...] = ("tie" if winner == NOBODY else f"P{winner + 1}",)
        if not self.imp_info:
            seen = (*seen, *bids)
        hands = tuple([tuple([c for c in hand if c != bid]) for hand, bid in zip(self.hands, bids, strict=True)])
        if len(hands[0]) == 1:
            _, points = award([hand[0] for hand in hands], self.prizes[0], points)
            return Observed(Ended(final(points, self.returns_type)), (seen,) * count)
        state = self._uncover(hands, points, chance_outcome)
        if self.points_order == "random":
            seen = (*seen, state.prize)
        return Observed(state, (seen,) * count)

    def _uncover(
        self, hands: tuple[tuple[int, ...], ...], points: tuple[int, ...], chance_outcome: Action | None
    ) -> GoofspielState:
        """Return the state with the next prize; where only differences count, points are shifted to a minimum of 0."""
        imp_info, order, returns_type = self[:3]
        prize = (
            chance_outcome if isinstance(chance_outcome, int) else (max if order == "descending" else min)(self.prizes)
        )
        if returns_type != "total_points":
            least = min(points)
            points = tuple([have - least for have in points])
        left = tuple([p for p in self.prizes if p != prize])
        return GoofspielState(imp_info, order, returns_type, hands, left, prize, points)

    def returns(self) -> tuple[float, ...]:
        return (0.0,) * len(self.hands)


def award(bids: list[int], prize: int, points: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """Award the prize to the single highest bid, or to no player on a tie; return the winner and the points."""
    best = max(bids)
    if bids.count(best) > 1:
        return NOBODY, points
    winner = bids.index(best)
    return winner, (*points[:winner], points[winner] + prize, *points[winner + 1 :])


def final(points: tuple[int, ...], returns_type: str) -> tuple[float, ...]:
    """Return the payoffs for the players' final points."""
    if returns_type == "total_points":
        return tuple(map(float, points))
    if returns_type == "point_difference":
        mean = sum(points) / len(points)
        return tuple(have - mean for have in points)
    best = [have == max(points) for have in points]
    if all(best):
        return (0.0,) * len(best)
    return tuple(1 / sum(best) if won else -1 / (len(best) - sum(best)) for won in best)


class GoofspielRules(ShownRules):
    """Goofspiel with OpenSpiel's tensors."""

    def tensor_encoder(self, kind: str) -> GoofspielEncoder:
        """Return the encoder of OpenSpiel's tensors: points, cards and prizes, in information states by round."""
        return GoofspielEncoder(self, has_recall(self.name, kind))


class Round(NamedTuple):
    """The number of rounds played, the prize on the table (``NO_PRIZE`` before it is drawn), and the points."""

    number: int
    prize: int
    points: tuple[int, ...]


class GoofspielEncoder:
    """Points, hands (the own one where bids are hidden), winners and prizes, by round with ``recall``.

    Players are shown from the player on, but as winners by their numbers.  The memo is a ``Round``.
    """

    def __init__(self, rules: Rules, recall: bool) -> None:
        state: GoofspielState = rules.first.state  # type: ignore[assignment]
        self.first, self.names, self.recall = state, rules.players, recall
        players, cards = len(state.hands), state.hands[0]
        self.actions: tuple[Action, ...] = cards
        self.order = sorted(cards, reverse=state.points_order == "descending")
        self.totals = sum(cards) + 1  # the possible points
        parts = {"points": players * self.totals}
        hands, rounds = {"hands": len(cards) * (1 if state.imp_info else players)}, len(cards) ** 2
        winners = {"winners": len(cards) * players} if state.imp_info else {}
        if not recall:
            parts = {"prize": len(cards), "prizes": len(cards)} | parts | hands | winners
        elif state.imp_info:
            parts |= hands | winners | {"prizes": rounds, "bids": rounds}
        else:
            parts |= {"prizes": rounds} | hands
        self.at, size = layout(**parts)
        self.shape: tuple[int, ...] = (size,)

    def start(self, player: int) -> tuple[Round, Writes]:
        """Show full hands, no points, and the first prize where the order is fixed."""
        players, hands = len(self.names), 1 if self.first.imp_info else len(self.names)
        writes = {self.at["points"] + p * self.totals: 1.0 for p in range(players)}
        writes |= {self.at["hands"] + k: 1.0 for k in range(hands * len(self.actions))}
        if not self.recall:
            writes |= {self.at["prizes"] + k: 1.0 for k in range(len(self.actions))}
        writes |= self._show(0, NO_PRIZE, self.first.prize)
        return Round(0, self.first.prize, (0,) * players), tuple(writes.items())

    def _show(self, number: int, before: int, prize: int) -> dict[int, float]:
        """Show the prize of a round, ``NO_PRIZE`` where there is none, in place of the one before."""
        if self.recall:
            return {self.at["prizes"] + number * len(self.actions) + prize - 1: 1.0} if prize else {}
        cleared = {self.at["prize"] + before - 1: 0.0} if before else {}
        return cleared | ({self.at["prize"] + prize - 1: 1.0, self.at["prizes"] + prize - 1: 0.0} if prize else {})

    def after(self, player: int, memo: Round, record: ObservationRecord) -> tuple[Round, Writes]:
        """Show the first prize, or the winner, the bids and the next prize of a round."""
        own, seen = record
        if own is None:
            first: int = seen  # type: ignore[assignment]
            return memo._replace(prize=first), tuple(self._show(0, NO_PRIZE, first).items())
        result: tuple[Any, ...] = seen  # type: ignore[assignment]
        players, cards, number = len(self.names), len(self.actions), memo.number
        writes: dict[int, float] = {}
        points = list(memo.points)
        if result[0] in self.names:
            winner = self.names.index(result[0])
            at = self.at["points"] + (winner - player) % players * self.totals
            points[winner] += memo.prize
            writes = {at + memo.points[winner]: 0.0, at + points[winner]: 1.0}
            if self.first.imp_info:
                writes[self.at["winners"] + number * players + winner] = 1.0
        bids = {player: own} if self.first.imp_info else dict(enumerate(result[1 : 1 + players]))
        for p, bid in bids.items():
            writes[self.at["hands"] + (p - player) % players * cards + int(bid) - 1] = 0.0  # type: ignore[arg-type]
        if "bids" in self.at:
            writes[self.at["bids"] + number * cards + int(own) - 1] = 1.0  # type: ignore[arg-type]
        if number + 2 == cards:  # the last card is played by itself
            prize = NO_PRIZE
        elif self.first.points_order == "random":
            prize = result[-1]
        else:
            prize = self.order[number + 1]
        writes |= self._show(number + 1, memo.prize, prize)
        return Round(number + 1, prize, tuple(points)), tuple(writes.items())


class Played(NamedTuple):
    """The joint knowledge of players about the rounds played: prizes, known bids by player, and winners."""

    prizes: list[int]
    bids: dict[int, list[int]]
    winners: list[str]


def played(rules: Rules, infostate: Infostates) -> Played:
    """Collect the joint knowledge: open bids from any player's knowledge, hidden ones from the bidder's."""
    first: GoofspielState = rules.first.state  # type: ignore[assignment]
    longest = max([own for own in infostate if own is not None], key=len, default=())
    drawn = first.points_order == "random"
    seen: list[tuple[Any, ...]] = [saw for action, saw in longest if action is not None]  # type: ignore[misc]
    bids = {
        p: [action for action, _ in own if action is not None] for p, own in enumerate(infostate) if own is not None
    }
    if not first.imp_info:
        bids = {p: [saw[1 + p] for saw in seen] for p in range(len(infostate))}
    if drawn:
        plain = 1 if first.imp_info else 1 + len(infostate)
        prizes = [longest[0][1]] if longest else []
        prizes += [saw[plain] for saw in seen if len(saw) > plain]
    else:
        order = sorted((first.prize, *first.prizes), reverse=first.points_order == "descending")
        prizes = order[: len(seen) + 1]  # type: ignore[assignment]
    return Played(prizes, bids, [saw[0] for saw in seen])  # type: ignore[arg-type]


def picture(rules: Rules, infostate: Infostates) -> Picture:
    """Draw the hands, points and bids, the prize on the table and those to come."""
    first: GoofspielState = rules.first.state  # type: ignore[assignment]
    prizes, bids, winners = played(rules, infostate)
    cards = first.hands[0]
    over = len(winners) == len(cards) - 1
    left = {p: [card for card in cards if card not in own] for p, own in bids.items()}
    points = [sum(z for z, who in zip(prizes, winners, strict=False) if who == name) for name in rules.players]
    if over:
        prizes = [*prizes[: len(winners)], *(card for card in cards if card not in prizes[: len(winners)])]
        if len(left) == len(infostate):
            points = list(award([left[p][0] for p in range(len(infostate))], prizes[-1], tuple(points))[1])
    areas = []
    for p, name in enumerate(rules.players):
        note = f"{points[p]} point{'s' * (points[p] != 1)}"
        if bids.get(p):
            note += f"; bid {' '.join(map(str, bids[p]))}"
        hidden = 0 if p in left else len(cards) - len(winners)
        areas.append(area(name, left.get(p, ()), hidden, note, player=p))
    open_, to_come = prizes[-1:], [card for card in cards if card not in prizes]
    note = f"to come: {' '.join(map(str, to_come))}" if to_come else "the last one is played by itself" * over
    return table(area("prize", open_, 0, note), *areas)


def describe_record(rules: Rules, player: int, record: ObservationRecord, before: InformationState) -> str:
    """Describe the first prize, or a round: the player's bid, the others' if open, the winner, the next prize."""
    action, saw = record
    if action is None or not isinstance(saw, tuple):
        return f"the prize is {saw}"
    open_bids = not rules.first.state.imp_info  # type: ignore[attr-defined]
    names = rules.players
    others = [f"{names[p]} bids {saw[1 + p]}" for p in range(len(names)) if open_bids and p != player]
    winner = "you win" if saw[0] == names[player] else f"{saw[0]} wins"
    rest = saw[1 + len(names) * open_bids :]
    ends = [*(f"the next prize is {prize}" for prize in rest)]
    return "; ".join([f"you bid {action}", *others, "it is a tie" if saw[0] == "tie" else winner, *ends])


def goofspiel(
    players: int = 2,
    num_cards: int = 13,
    imp_info: bool = False,
    points_order: str = "random",
    returns_type: str = "win_loss",
) -> Rules:
    """Goofspiel with ``num_cards`` cards a hand; the last card is played by itself.

    Players remember their own bids, unlike in OpenSpiel's string of information states with open bids.
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
    return GoofspielRules(name, seats(players), Observed(first, (None,) * players), Look(picture, describe_record))
