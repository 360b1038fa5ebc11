"""Oshi-Zumo, the pushing sumo, as in OpenSpiel (Buro, *Solving the Oshi-Zumo game*, 2003)."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from infoset.base import Action, InformationState, JointAction, ObservationRecord, Observed, Picture, Writes
from infoset.games.rules import Ended, NativeState, Rules, seats
from infoset.games.table import Infostates, Look, ShownRules, area, longest, table
from infoset.games.tensors import OBSERVATION, has_recall, layout
from infoset.names import check_range, full_name

PLAYERS = 2
MOST_COINS = 50
MOST_SIZE = 10
MOST_TURNS = 10_000
WRESTLER, FREE, EDGE = "●", "·", "×"


class Ring(NamedTuple):
    """The constants of a game."""

    size: int  # steps from the middle that stay in the ring
    least: int  # the minimum bid; a player with fewer coins bids them all
    alesia: bool


class _Fields(NamedTuple):
    ring: Ring
    coins: tuple[int, int]
    position: int  # of the wrestler: 0 in the middle, positive where the first player pushed it
    left: int  # the most turns left


class OshiZumoState(NativeState, _Fields):
    """The coins, the wrestler's position, and the number of turns left."""

    __slots__ = ()

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        have = self.coins[player]
        return tuple(range(min(have, self.ring.least), have + 1))

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        one, two = cast("tuple[int, int]", actions)
        coins = (self.coins[0] - one, self.coins[1] - two)
        position = self.position + (one > two) - (one < two)
        left = self.left - 1
        if self.ring.least:  # each turn costs a coin at least, which bounds the turns left
            left = min(left, sum(coins))
        pushed_off = abs(position) > self.ring.size
        if pushed_off or left == 0 or coins == (0, 0):
            won = 0.0 if self.ring.alesia and not pushed_off else float((position > 0) - (position < 0))
            return Observed(Ended((won, 0.0 - won)), (two, one))
        return Observed(OshiZumoState(self.ring, coins, position, left), (two, one))

    def returns(self) -> tuple[float, ...]:
        return (0.0, 0.0)


class OshiZumoRules(ShownRules):
    """Oshi-zumo with OpenSpiel's tensor of observations."""

    def tensor_encoder(self, kind: str) -> OshiZumoEncoder:
        """Return the encoder of OpenSpiel's tensor: each player's coins and the wrestler's position."""
        has_recall(self.name, kind, allowed=(OBSERVATION,))
        return OshiZumoEncoder(self.first.state)  # type: ignore[arg-type]


class OshiZumoEncoder:
    """Each player's coins and the wrestler's position, which are also the memo."""

    def __init__(self, first: OshiZumoState) -> None:
        self.coins, self.size = first.coins, first.ring.size
        self.actions: tuple[Action, ...] = tuple(range(first.coins[0] + 1))
        self.at, length = layout(first=len(self.actions), second=len(self.actions), position=2 * self.size + 3)
        self.shape: tuple[int, ...] = (length,)

    def start(self, player: int) -> tuple[tuple[int, int, int], Writes]:
        """Show all coins, and the wrestler in the middle."""
        memo = (*self.coins, 0)
        return memo, tuple([(index, 1.0) for index in self._indices(memo)])

    def _indices(self, memo: tuple[int, int, int]) -> tuple[int, int, int]:
        one, two, position = memo
        return self.at["first"] + one, self.at["second"] + two, self.at["position"] + position + self.size + 1

    def after(
        self, player: int, memo: tuple[int, int, int], record: ObservationRecord
    ) -> tuple[tuple[int, int, int], Writes]:
        """Show what both bids change."""
        own, other = cast("tuple[int, int]", record)
        one, two = (own, other) if player == 0 else (other, own)
        now = (memo[0] - one, memo[1] - two, memo[2] + (one > two) - (one < two))
        moved = [(a, b) for a, b in zip(self._indices(memo), self._indices(now), strict=True) if a != b]
        return now, tuple([write for a, b in moved for write in ((a, 0.0), (b, 1.0))])


def _bids(infostate: Infostates) -> list[tuple[int, int]]:
    """Return all bids, as pairs of the first player's and the second's; they are public."""
    records, second = longest(infostate), infostate[0] is None
    pairs = cast("tuple[tuple[int, int], ...]", records)
    return [(seen, action) if second else (action, seen) for action, seen in pairs]


def picture(rules: Rules, infostate: Infostates) -> Picture:
    """Draw the ring with the wrestler, and each player's coins and bids."""
    state: OshiZumoState = rules.first.state  # type: ignore[assignment]
    size, bids = state.ring.size, _bids(infostate)
    position = sum([(one > two) - (one < two) for one, two in bids])
    cells = [EDGE, *[FREE] * (2 * size + 1), EDGE]
    cells[position + size + 1] = WRESTLER
    areas: list[dict[str, Any]] = []
    for p, name in enumerate(rules.players):
        own = [pair[p] for pair in bids]
        note = f"{state.coins[p] - sum(own)} coins" + (f"; bid {' '.join(map(str, own))}" if own else "")
        areas.append(area(name, (), 0, note, player=p))
    towards = f"{rules.players[1]} pushes to the left, {rules.players[0]} to the right"
    return table(area("ring", cells, 0, towards), *areas)


def describe_record(rules: Rules, player: int, record: ObservationRecord, before: InformationState) -> str:
    """Describe both bids and the movement of the wrestler."""
    own, other = cast("tuple[int, int]", record)
    names = rules.players
    pushed = "the wrestler stays" if own == other else "you push" if own > other else f"{names[1 - player]} pushes"
    return f"you bid {own}; {names[1 - player]} bids {other}; {pushed}"


def oshi_zumo(coins: int = 50, size: int = 3, horizon: int = 1000, alesia: bool = False, min_bid: int = 0) -> Rules:
    """Both bid coins at once and lose them; the higher bid pushes the wrestler a step.

    A player wins by pushing the wrestler over the edge, or by having it on the opponent's side when the coins or the
    ``horizon`` run out; with ``alesia`` only the edge counts.  The edge is ``size + 1`` steps from the middle.  A
    player with fewer coins than ``min_bid`` bids them all.
    """
    check_range("oshi_zumo: coins", coins, 1, MOST_COINS)
    check_range("oshi_zumo: size", size, 1, MOST_SIZE)
    check_range("oshi_zumo: horizon", horizon, 1, MOST_TURNS)
    check_range("oshi_zumo: min_bid", min_bid, 0, coins)
    left = min(horizon, PLAYERS * coins) if min_bid else horizon
    state = OshiZumoState(Ring(size, min_bid, alesia), (coins, coins), 0, left)
    name = full_name(
        "oshi_zumo", oshi_zumo, coins=coins, size=size, horizon=horizon, alesia=alesia, min_bid=min_bid
    )  # fmt: skip
    return OshiZumoRules(name, seats(PLAYERS), Observed(state, (None, None)), Look(picture, describe_record))
