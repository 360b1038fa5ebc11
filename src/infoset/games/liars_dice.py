"""Liar's dice with the highest face wild, as in OpenSpiel (bidding rule ``reset-face``)."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from infoset.base import Action, InformationState, JointAction, ObservationRecord, Observed, Picture, State, Writes
from infoset.games.rules import Ended, NativeState, Rules, seats
from infoset.games.table import Infostates, Look, ShownRules, area, does, longest, made, table, turn_words
from infoset.games.tensors import has_recall, layout
from infoset.names import check_range, full_name

NO_BID = -1
LIAR = "liar"


class _Fields(NamedTuple):
    players: int
    numdice: int
    sides: int
    dice: tuple[int, ...]
    bid: int
    mover: int


class DiceState(NativeState, _Fields):
    """The dice, each hand sorted, and the last bid; bid ``b`` is ``b // sides + 1`` dice of face ``b % sides + 1``."""

    __slots__ = ()

    @property
    def rolling(self) -> bool:
        return len(self.dice) < self.players * self.numdice

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        if player != self.mover or self.rolling:
            return ()
        bids = self.players * self.numdice * self.sides
        higher = tuple(bid_name(bid, self.sides) for bid in range(self.bid + 1, bids))
        return higher if self.bid == NO_BID else (*higher, LIAR)

    def chance_outcomes(self, actions: JointAction) -> tuple[tuple[Action, float], ...]:
        if not self.rolling:
            return ()
        return tuple((face, 1 / self.sides) for face in range(1, self.sides + 1))

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        if isinstance(chance_outcome, int):
            return self._roll(chance_outcome)
        mover = self.mover
        action = str(actions[mover])
        seen = tuple([None if p == mover else action for p in range(self.players)])
        if action == LIAR:
            return Observed(Ended(self._judge()), seen)
        return Observed(self._replace(bid=bid_number(action, self.sides), mover=(mover + 1) % self.players), seen)

    def _roll(self, face: int) -> Observed:
        """Roll a die; a player sees its hand, sorted, after its last die."""
        owner, place = divmod(len(self.dice), self.numdice)
        begin = owner * self.numdice
        hand = tuple(sorted((*self.dice[begin:], face)))
        seen = hand if place == self.numdice - 1 else None
        state = self._replace(dice=(*self.dice[:begin], *hand))
        return Observed(state, tuple(seen if p == owner else None for p in range(self.players)))

    def returns(self) -> tuple[float, ...]:
        return (0.0,) * self.players

    def _judge(self) -> tuple[float, ...]:
        """Return the payoffs: the bidder wins a point from the caller if the last bid is true, else the caller wins."""
        quantity, face = self.bid // self.sides + 1, self.bid % self.sides + 1
        count = sum(die in (face, self.sides) for die in self.dice)
        caller, bidder = self.mover, (self.mover - 1) % self.players
        won = -1.0 if count >= quantity else 1.0
        return tuple([won if p == caller else -won if p == bidder else 0.0 for p in range(self.players)])


class DiceRules(ShownRules):
    """Liar's dice in factored form: the private parts are sorted dice, the core is the number rolled and the bid."""

    def split(self, state: State) -> tuple[Hashable, tuple[Hashable, ...]] | None:
        """Split a state into the number of dice rolled, the last bid and the turn, and the players' dice."""
        if not isinstance(state, DiceState):
            return None
        n = state.numdice
        own = tuple([state.dice[p * n : (p + 1) * n] for p in range(state.players)])
        return (len(state.dice), state.bid, state.mover), own

    def join(self, core: tuple[int, int, int], own: tuple[tuple[int, ...], ...]) -> DiceState:
        """Return the state with this core and these dice."""
        players, numdice, sides = self.first.state[:3]  # type: ignore[index]
        return DiceState(players, numdice, sides, sum(own, ()), *core[1:])

    def tensor_encoder(self, kind: str) -> DiceEncoder:
        """Return the encoder of OpenSpiel's tensors: the player, its dice, and all bids or those of the last round."""
        state: DiceState = self.first.state  # type: ignore[assignment]
        return DiceEncoder(state.players, state.numdice, state.sides, has_recall(self.name, kind))


class DiceEncoder:
    """The player, its dice, and all bids with ``recall``, else the last ones, as many as there are players.

    The memo is these last bids, as indices of ``actions``.
    """

    def __init__(self, players: int, numdice: int, sides: int, recall: bool) -> None:
        self.players, self.sides, self.recall = players, sides, recall
        bids = players * numdice * sides
        self.actions: tuple[Action, ...] = (*[bid_name(bid, sides) for bid in range(bids)], LIAR)
        self.at, size = layout(player=players, dice=numdice * sides, bids=len(self.actions))
        self.shape: tuple[int, ...] = (size,)

    def start(self, player: int) -> tuple[tuple[int, ...], Writes]:
        """Show the player."""
        return (), ((player, 1.0),)

    def after(
        self, player: int, memo: tuple[int, ...], record: ObservationRecord
    ) -> tuple[tuple[int, ...], Writes]:  # fmt: skip
        """Show the dice, sorted, or a bid."""
        shown = made((record,))[0]
        if isinstance(shown, tuple):
            at, sides = self.at["dice"], self.sides
            return memo, tuple([(at + sides * k + int(face) - 1, 1.0) for k, face in enumerate(shown)])  # type: ignore[arg-type]
        bid = self.actions.index(shown)
        writes: Writes = ((self.at["bids"] + bid, 1.0),)
        if self.recall:
            return memo, writes
        forgotten = memo[: len(memo) + 1 - self.players]
        return (*memo[len(forgotten) :], bid), (*writes, *[(self.at["bids"] + old, 0.0) for old in forgotten])


def bid_name(bid: int, sides: int) -> str:
    """Return the name of a bid: ``2x5`` is at least two fives."""
    return f"{bid // sides + 1}x{bid % sides + 1}"


def bid_number(name: str, sides: int) -> int:
    """Return the number of a bid, the inverse of ``bid_name``."""
    quantity, face = name.split("x")
    return (int(quantity) - 1) * sides + int(face) - 1


def picture(rules: Rules, infostate: Infostates) -> Picture:
    """Draw the dice and the bids, with the last bid as a die."""
    players, numdice, sides = rules.first.state[:3]  # type: ignore[index]
    bids = [str(bid).replace("x", " × ") for bid in made(longest(infostate))[1:]]
    areas = []
    for player, own in enumerate(infostate):
        dice, hidden = (own[0][1], 0) if own else ((), numdice if own is None else 0)
        note = turn_words(bids, 0, player, players)
        areas.append(area(rules.players[player], dice, hidden, note, **{"as": "die"}, player=player))  # type: ignore[arg-type]
    last = next((bid for bid in reversed(bids) if bid != LIAR), None)
    quantity, face = last.split(" × ") if last else ("", "")
    said = f"at least {quantity} × {face}" if last else "no bid yet"
    return table(*areas, area("bid", [face] if last else [], 0, f"{said}; {sides} is wild", **{"as": "die"}))


def describe_record(rules: Rules, player: int, record: ObservationRecord, before: InformationState) -> str:
    """Describe the player's dice, its own bid, or another player's bid."""
    action, seen = record
    if not before:
        return f"you roll {' '.join(map(str, seen))}"  # type: ignore[arg-type]
    bid = seen if action is None else action
    verb, what = ("call", "a liar") if bid == LIAR else ("bid", str(bid).replace("x", " × "))
    mover = (len(before) - 1) % len(rules.players)
    return f"{f'you {verb}' if action is not None else does(rules.players[mover], verb)} {what}"


def liars_dice(numdice: int = 1, dice_sides: int = 6, players: int = 2) -> Rules:
    """Liar's dice: ``numdice`` dice a player with ``dice_sides`` faces; caller and bidder play for a point."""
    check_range("liars_dice: numdice", numdice, 1, 9)
    check_range("liars_dice: dice_sides", dice_sides, 2, 9)
    check_range("liars_dice: players", players, 2, 6)
    name = full_name("liars_dice", liars_dice, numdice=numdice, dice_sides=dice_sides, players=players)
    first = Observed(DiceState(players, numdice, dice_sides, (), NO_BID, 0), (None,) * players)
    return DiceRules(name, seats(players), first, Look(picture, describe_record))
