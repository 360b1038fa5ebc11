"""Goofspiel: simultaneous secret bids for point cards (Ross 1971), as in OpenSpiel."""

from __future__ import annotations

from functools import cached_property
from itertools import combinations
from math import comb, factorial
from typing import Any, NamedTuple, cast

import numpy as np

from infoset.base import (
    Action,
    BoolArray,
    InformationState,
    IntArray,
    JointAction,
    LongArray,
    ObservationRecord,
    Observed,
    Picture,
    Stages,
    State,
    Writes,
)
from infoset.games.rules import Ended, NativeState, Rules, seats
from infoset.games.table import Infostates, Look, ShownRules, area, table
from infoset.games.tensors import has_recall, layout
from infoset.memory import check_room
from infoset.names import Value, check_choice, check_range, full_name

POINTS_ORDERS = ("random", "descending", "ascending")
RETURNS_TYPES = ("win_loss", "point_difference", "total_points")
NO_PRIZE = 0
NOBODY = -1
PLAYERS = 2  # of games that have stages
MOST_CARDS = 13


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


BYTES_PER_STATE = 24  # three numbers in a pass over all stages
TIES = 1  # the kind of joint bids, between those that lose and those that win for the first player


class _Patterns(NamedTuple):
    """All pairs of hands of so many cards that differ in how the cards of one compare with those of the other.

    Each is represented by hands whose cards together are the lowest ones, as two sets of bits.  What else the cards
    are cannot matter: only the higher bid wins, whatever it is.
    """

    key: LongArray  # (K,) both hands as one number, in order
    cards: tuple[LongArray, LongArray]  # (K, cards) each player's cards, as single bits in order

    @classmethod
    def of(cls, count: int, most: int) -> _Patterns:
        """Return the patterns of hands of ``count`` cards out of ``most``."""
        ones, twos = [], []
        for ranks in range(count, min(2 * count, most) + 1):
            hands = [[1 << card for card in hand] for hand in combinations(range(ranks), count)]
            own = np.array(hands, dtype=np.int64).reshape(len(hands), count)
            equal = np.zeros((comb(count, 2 * count - ranks), count), dtype=np.int64)
            for row, chosen in zip(equal, combinations(range(count), 2 * count - ranks), strict=True):
                row[list(chosen)] = 1
            one = own.sum(axis=1, dtype=np.int64)
            two = ((1 << ranks) - 1 - one)[:, None] + own @ equal.T
            ones.append(np.repeat(one, len(equal)))
            twos.append(two.ravel())
        one, two = np.concatenate(ones), np.concatenate(twos)
        order = np.argsort(_key(one, two))
        return cls(_key(one, two)[order], (_single_bits(one[order], count), _single_bits(two[order], count)))

    @property
    def mirror(self) -> LongArray:
        """(K,) the pattern with the hands exchanged."""
        one, two = (cards.sum(axis=1, dtype=np.int64) for cards in self.cards)
        return np.searchsorted(self.key, _key(two, one))

    def cells(self, after: _Patterns) -> tuple[IntArray, np.typing.NDArray[np.uint8]]:
        """Return for every pair of bids the pattern that follows, and who wins, as (K, cards, cards)."""
        one, two = (cards.sum(axis=1, dtype=np.int64) for cards in self.cards)
        count = self.cards[0].shape[1]
        child = np.empty((len(one), count, count), dtype=np.int32)
        kind = np.empty(child.shape, dtype=np.uint8)
        for i in range(count):
            for j in range(count):
                bids = self.cards[0][:, i], self.cards[1][:, j]
                left = one - bids[0], two - bids[1]
                removed = (one | two) & ~(left[0] | left[1])
                lowest = removed & -removed
                closed = [_close_gap(_close_gap(hand, removed ^ lowest), lowest) for hand in left]
                child[:, i, j] = np.searchsorted(after.key, _key(closed[0], closed[1]))
                kind[:, i, j] = TIES + np.sign(bids[0] - bids[1])
        return child, kind


def _key(one: LongArray, two: LongArray) -> LongArray:
    return one << MOST_CARDS | two


def _single_bits(hands: LongArray, count: int) -> LongArray:
    found = np.empty((len(hands), count), dtype=np.int64)
    for k in range(count):
        found[:, k] = hands & -hands
        hands = hands ^ found[:, k]
    return found


def _close_gap(hands: LongArray, bit: LongArray) -> LongArray:
    """Move the cards above ``bit``, which no hand has, down by one; where it is 0, return the hands."""
    lower = hands & (bit - 1)
    return lower | (hands ^ lower) >> 1


def _count_patterns(count: int, most: int) -> int:
    """Return the number of patterns of hands of ``count`` cards out of ``most``."""
    return sum(
        factorial(ranks) // (factorial(2 * count - ranks) * factorial(ranks - count) ** 2)
        for ranks in range(count, min(2 * count, most) + 1)
    )


class _Contexts(NamedTuple):
    """The prizes to come, in sets of bits, and where only who wins counts, the first player's lead in points."""

    sets: list[list[int]]  # by the number of prizes: the sets
    reached: dict[int, BoolArray]  # for each set, by the lead plus the largest one, whether it can come about
    number: dict[int, LongArray]  # the same, by number

    @classmethod
    def of(cls, cards: int, order: str, by_lead: bool) -> _Contexts:
        """Return the contexts of a game with that order of prizes."""
        sets: list[list[int]] = []
        for count in range(cards + 1):
            if order == "random":
                sets.append(
                    sorted(sum(1 << (prize - 1) for prize in some) for some in combinations(range(1, cards + 1), count))
                )
            else:
                sets.append([(1 << count) - 1 << (0 if order == "descending" else cards - count)])
        most = cards * (cards + 1) // 2 + 1 if by_lead else 0
        reached = {prizes: np.zeros(2 * most + 1, dtype=np.bool_) for some in sets for prizes in some}
        reached[sets[-1][0]][most] = True
        for some in reversed(sets):
            for prizes in some:
                leads = np.flatnonzero(reached[prizes]) - most
                for prize in _next_prizes(prizes, order):
                    after = prizes ^ 1 << (prize - 1)
                    for change in (-prize, 0, prize):
                        reached[after][_lead(leads, change, after, most) + most] = True
        number, count = {}, 0
        for some in sets:
            for prizes in some:
                number[prizes] = count + np.cumsum(reached[prizes]) - 1
                count += int(reached[prizes].sum())
        return cls(sets, reached, number)

    @property
    def most(self) -> int:
        """The largest lead."""
        return len(next(iter(self.reached.values()))) // 2

    def find(self, prizes: int, lead: LongArray) -> LongArray:
        """Return the numbers of contexts; a decided lead counts as the smallest one that is decided."""
        return np.asarray(self.number[prizes][_lead(lead, 0, prizes, self.most) + self.most])


def _lead(lead: LongArray, change: int, prizes: int, most: int) -> LongArray:
    """Return leads after a change, cut off where the remaining prizes cannot make up for them; 0 where none count."""
    decided = min(sum(_prizes(prizes)) + 1, most)
    return np.clip(lead + change, -decided, decided)


def _prizes(prizes: int) -> list[int]:
    return [k + 1 for k in range(prizes.bit_length()) if prizes >> k & 1]


def _next_prizes(prizes: int, order: str) -> list[int]:
    """Return the prizes of which chance may uncover one."""
    found = _prizes(prizes)
    return found if order == "random" or not found else [max(found) if order == "descending" else min(found)]


class StagedGoofspielRules(GoofspielRules):
    """Goofspiel of two players with open bids and a constant sum: its stages are patterns of the hands.

    Contexts are the prizes to come, with the lead where only who wins counts.
    """

    def stages(self) -> Stages:
        """Return the stages.  Raises ``BudgetError`` where their values do not fit."""
        start, contexts = self._full, self._contexts
        cards, order = len(start.hands[0]), start.points_order
        counts = [_count_patterns(k, cards) for k in range(cards + 1)]
        widths = [sum(int(contexts.reached[prizes].sum()) for prizes in some) for some in contexts.sets]
        size = sum(a * b for a, b in zip(counts, widths, strict=True))
        check_room(f"{self.name} has {size:,} states; their values take", size * BYTES_PER_STATE)
        patterns = self._patterns
        cells = [patterns[k].cells(patterns[k - 1]) for k in range(1, cards + 1)]
        before, passed = (np.concatenate([[0], np.cumsum(some)]) for some in (counts, widths))
        outcome, after, chance, gain = [0], [], [], []
        for prizes in (prizes for some in contexts.sets for prizes in some):
            options = _next_prizes(prizes, order)
            for lead in (np.flatnonzero(contexts.reached[prizes]) - contexts.most).tolist():
                for prize in options:
                    rest, changes = prizes ^ 1 << (prize - 1), prize * np.arange(-1, 2)
                    after.append(contexts.find(rest, lead + changes))
                    gain.append(np.zeros(3) if contexts.most else changes / 2)
                    chance.append(1 / len(options))
                outcome.append(len(after))
        leads = np.flatnonzero(contexts.reached[0]) - contexts.most
        opposite = [
            contexts.find(prizes, contexts.most - np.flatnonzero(contexts.reached[prizes]))
            for some in contexts.sets
            for prizes in some
        ]
        rows = np.repeat(np.arange(cards + 1, dtype=np.int32), counts)
        return Stages(
            rows=rows,
            columns=rows,
            first=np.concatenate([[0], np.cumsum(rows.astype(np.int64) ** 2)]),
            child=np.concatenate([child.ravel() for child, _ in cells]),
            kind=np.concatenate([kind.ravel() for _, kind in cells]),
            probability=np.zeros(0),
            final=np.zeros(len(rows)),
            place=np.concatenate([np.arange(count, dtype=np.int32) for count in counts]),
            mirror=np.concatenate([begin + some.mirror for begin, some in zip(before, patterns, strict=False)]).astype(
                np.int32
            ),
            begin=np.concatenate([[0], np.cumsum(np.repeat(counts, widths))[:-1]]),
            outcome=np.array(outcome),
            next=np.array(after, dtype=np.int32),
            chance=np.array(chance),
            gain=np.array(gain),
            end=np.concatenate([np.sign(leads).astype(np.float64), np.zeros(int(passed[-1]) - len(leads))]),
            opposite=np.concatenate(opposite).astype(np.int32),
            levels=np.column_stack([before[:-1], before[1:], passed[:-1], passed[1:]]),
            start=np.array([len(rows) - 1, int(passed[-1]) - 1]),
        )

    def locate(self, state: State) -> tuple[int, int, int]:
        """Return the pattern of the hands, the prizes to come, that on the table included, and which one that is."""
        at = cast("GoofspielState", state)
        cards, count = len(self._full.hands[0]), len(at.hands[0])
        ranks = {card: 1 << k for k, card in enumerate(sorted({*at.hands[0], *at.hands[1]}))}
        one, two = (np.array(sum(ranks[card] for card in hand)) for hand in at.hands)
        stage = int(np.searchsorted(self._patterns[count].key, _key(one, two)))
        come = at.prizes if at.prize == NO_PRIZE else (at.prize, *at.prizes)
        prizes = sum(1 << (prize - 1) for prize in come)
        context = int(self._contexts.find(prizes, np.array(at.points[0] - at.points[1])))
        options = _next_prizes(prizes, at.points_order)
        return (
            sum(_count_patterns(k, cards) for k in range(count)) + stage,
            context,
            options.index(at.prize or options[0]),
        )

    @property
    def _full(self) -> GoofspielState:
        return cast("GoofspielState", self.first.state)

    @cached_property
    def _patterns(self) -> list[_Patterns]:
        cards = len(self._full.hands[0])
        return [_Patterns.of(k, cards) for k in range(cards + 1)]

    @cached_property
    def _contexts(self) -> _Contexts:
        full = self._full
        return _Contexts.of(len(full.hands[0]), full.points_order, full.returns_type == "win_loss")


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
    check_range("goofspiel: num_cards", num_cards, 2, MOST_CARDS)
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
    staged = players == PLAYERS and not imp_info and returns_type != "total_points"
    made = StagedGoofspielRules if staged else GoofspielRules
    return made(name, seats(players), Observed(first, (None,) * players), Look(picture, describe_record))
