"""The public betting of a heads-up hold'em spot: who may do what, and what the end pays, whatever the cards.

A spot begins with a pot, equal stacks and the flop, turn or river just dealt; P1 acts first on every street.  All chips
are whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from infoset.base import FloatArray
from infoset.errors import ParameterError
from infoset.games.bet_sizes import CHIPS, STREETS, Sizes, SizesByStreet, on_all_streets
from infoset.names import check_number, check_range

FLOP, TURN, RIVER = range(3)
NOBODY = -1
ACT, CARD, FOLDED, SHOWDOWN = "act", "card", "folded", "showdown"
"""The status: a player acts, a card is dealt next, a player has folded, hands are compared."""
CHECK, CALL, FOLD, BET, RAISE = "check", "call", "fold", "bet", "raise"
MAX_CHIPS = 1_000_000
MAX_CAP = 100
MAX_THRESHOLD = 1e6
NO_LISTS = on_all_streets(None)


class Betting(NamedTuple):
    """The betting so far, as far as it matters for what may still happen."""

    street: int
    """0 on the flop, 1 on the turn, 2 on the river."""
    mover: int
    """0 for P1, 1 for P2, ``NOBODY`` where a card is dealt next and at an end."""
    stakes: tuple[int, int]
    """The chips that each player has put in since the spot began."""
    raises: int
    """The number of bets and raises on this street."""
    aggressor: int
    """Who made the last bet or raise on the street before; ``NOBODY`` without one."""
    status: str
    """``ACT``, ``CARD``, ``FOLDED`` or ``SHOWDOWN``."""
    before: int
    """The chips that each player had put in when this street began."""


@dataclass(frozen=True)
class BettingRules:
    """The rules of betting in one spot.

    A player who faces no bet may check, or bet one of its sizes; one who faces a bet may fold, call, or raise by one of
    its sizes.  A size becomes a total of chips as follows:

    1. What it is beyond a call is rounded to whole chips, halves to even numbers, and raised to the least bet, 1 chip,
       or the least raise, which is as much as the bet or raise faced.
    2. It is all-in if it exceeds the stack, and if the stack that it would leave after a call is at most the share
       ``force_allin`` of the pot after that call.
    3. Where a player has any size, all-in is added if it is at most the share ``add_allin`` of the pot after a call.
    4. From the largest size down, each size removes those below it that are close: with sizes of X and Y pots, where
       (1 + X) / (1 + Y) < 1 + ``merge``.

    A threshold of 0 does nothing.  Bets and raises are named by the total that the player has then put in since the
    spot began.

    Raises ``ParameterError`` for values out of range and for sizes in chips that exceed the stack.
    """

    pot: int
    """The chips in the middle when the spot begins."""
    stack: int
    """The chips that each player has left when the spot begins."""
    bets: SizesByStreet = field(repr=False)
    """The sizes of bets of a player who faces none."""
    raises: SizesByStreet = field(repr=False)
    donks: SizesByStreet = NO_LISTS
    """The sizes of P1's first bet on a street where P2 made the last bet or raise on the street before.

    Where no list is given, these are ``bets``.
    """
    cap: int = 0
    """The largest number of bets and raises on a street; 0 for no limit."""
    add_allin: float = 0.0
    force_allin: float = 0.0
    merge: float = 0.0
    rake: float = 0.0
    """The share of the pot that the house takes at every end, of the chips that were called."""
    rake_cap: float = 0.0
    """The largest rake in chips; 0 for no limit."""
    dead: int = 0
    """The chips of the pot that neither player put in; each player put in half of the others."""

    def __post_init__(self) -> None:
        check_range("pot", self.pot, 1, MAX_CHIPS)
        check_range("stack", self.stack, 1, MAX_CHIPS)
        check_range("dead", self.dead, 0, self.pot)
        check_range("cap", self.cap, 0, MAX_CAP)
        for name in ("add_allin", "force_allin", "merge"):
            check_number(name, getattr(self, name), 0.0, MAX_THRESHOLD)
        check_number("rake", self.rake, 0.0, 1.0)
        check_number("rake_cap", self.rake_cap, 0.0, MAX_CHIPS)
        for name in ("bets", "raises", "donks"):
            for size in {size for street in getattr(self, name) for own in street for size in own or ()}:
                if size.unit == CHIPS and size.amount > self.stack:
                    raise ParameterError(
                        f"{name}: {size} is more than the stack of {self.stack}; allowed: 1c to {self.stack}c, or a"
                    )

    def start(self, street: int) -> Betting:
        """Return the betting at the start of a spot on ``street``."""
        return Betting(street, 0, (0, 0), 0, NOBODY, ACT, 0)

    def actions(self, betting: Betting) -> tuple[str, ...]:
        """Return the legal actions: check or fold and call first, then bets or raises in increasing order.

        They are named ``check``, ``call``, ``fold``, ``bet 100``, ``raise 300``; empty where nobody acts.
        """
        if betting not in self._actions:
            self._actions[betting] = self._find_actions(betting)
        return self._actions[betting]

    @cached_property
    def _actions(self) -> dict[Betting, tuple[str, ...]]:
        return {}

    def _find_actions(self, betting: Betting) -> tuple[str, ...]:
        if betting.status != ACT:
            return ()
        faces_bet = betting.stakes[1 - betting.mover] > betting.stakes[betting.mover]
        first, verb = ((FOLD, CALL), RAISE) if faces_bet else ((CHECK,), BET)
        return (*first, *[f"{verb} {to}" for to in self._totals(betting, faces_bet)])

    def _totals(self, betting: Betting, faces_bet: bool) -> list[int]:
        """Return the totals of chips to which the mover may bet or raise, in increasing order."""
        highest, own = betting.stakes[1 - betting.mover], betting.stakes[betting.mover]
        sizes = self._sizes(betting, faces_bet)
        if highest >= self.stack or not sizes or (self.cap and betting.raises >= self.cap):
            return []
        pot, left = self.pot + 2 * highest, self.stack - highest
        least = max(highest - own, 1)
        totals = set()
        for size in sizes:
            chips = min(size.chips(pot, left, highest - betting.before, len(STREETS) - betting.street), left)
            extra = min(max(round(chips), least), left)
            forced = self.force_allin and left - extra <= self.force_allin * (pot + 2 * extra)
            totals.add(self.stack if forced else highest + extra)
        if self.add_allin and left <= self.add_allin * pot:
            totals.add(self.stack)
        return self._merge(sorted(totals), highest, pot) if self.merge else sorted(totals)

    def _sizes(self, betting: Betting, faces_bet: bool) -> Sizes:
        street, player = betting.street, betting.mover
        if faces_bet:
            return self.raises[street][player] or ()
        donks = self.donks[street][player]
        if donks is not None and player == 0 and betting.aggressor == 1:
            return donks
        return self.bets[street][player] or ()

    def _merge(self, totals: list[int], highest: int, pot: int) -> list[int]:
        """Drop totals that are close to a larger one that stays."""
        separate: list[int] = []
        for total in reversed(totals):
            if not separate or (pot + separate[-1] - highest) / (pot + total - highest) >= 1 + self.merge:
                separate.append(total)
        return separate[::-1]

    def after(self, betting: Betting, action: str) -> Betting:
        """Return the betting after a legal action; the result for others is undefined."""
        mover, other = betting.mover, 1 - betting.mover
        if action == FOLD:
            return betting._replace(mover=NOBODY, status=FOLDED)
        if action == CALL or (action == CHECK and mover == 1):
            stake = betting.stakes[other]
            aggressor = other if action == CALL else NOBODY
            status = SHOWDOWN if betting.street == RIVER else CARD
            return betting._replace(mover=NOBODY, stakes=(stake, stake), aggressor=aggressor, status=status)
        if action == CHECK:
            return betting._replace(mover=other)
        to = int(action.partition(" ")[2])
        stakes = (to, betting.stakes[1]) if mover == 0 else (betting.stakes[0], to)
        return betting._replace(mover=other, stakes=stakes, raises=betting.raises + 1)

    def deal(self, betting: Betting) -> Betting:
        """Return the betting after a card is dealt: the next street, on which nobody acts if both are all-in."""
        street, stake = betting.street + 1, betting.stakes[0]
        dealt = betting._replace(street=street, raises=0, before=stake)
        if stake < self.stack:
            return dealt._replace(mover=0, status=ACT)
        return dealt._replace(status=SHOWDOWN if street == RIVER else CARD)

    def invested(self, betting: Betting, player: int) -> float:
        """Return the chips of the pot that a player put in, its half of the initial pot included."""
        return (self.pot - self.dead) / 2 + betting.stakes[player]

    def payoffs(self, betting: Betting) -> FloatArray:
        """Return the payoffs at an end, the chips won by each player; its share of the initial pot counts as put in.

        Returns:
            FOLDED: (1, 2); SHOWDOWN: (3, 2), if P1 wins, if they tie and if P2 wins.
        """
        called = min(betting.stakes)
        pot = self.pot + 2 * called
        rake = min(self.rake * pot, self.rake_cap or np.inf)
        put_in = (self.pot - self.dead) / 2 + called
        win, tie = pot - rake - put_in, (pot - rake) / 2 - put_in
        one, two = (win, -put_in), (-put_in, win)
        if betting.status == FOLDED:
            return np.array([one if betting.stakes[0] > betting.stakes[1] else two])
        return np.array([one, (tie, tie), two])
