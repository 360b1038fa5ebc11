"""Trade Comm: two players exchange messages in order to agree on the only right trade (Sokota et al. 2021)."""

from __future__ import annotations

from string import ascii_uppercase
from typing import NamedTuple

from infoset.base import Action, InformationState, JointAction, ObservationRecord, Observed, Picture
from infoset.games.rules import Ended, NativeState, Rules, seats
from infoset.games.table import Infostates, Look, ShownRules, area, table
from infoset.names import check_range, full_name

P1_SENDS, P2_SENDS, TRADES = range(3)


class _Fields(NamedTuple):
    items: int
    messages: int
    sees_message: bool
    deal: str
    stage: int
    unheard: int | None


class TradeState(NativeState, _Fields):
    """The items held (``A:B``; empty before the deal), the stage, and P1's message until P2 hears it."""

    __slots__ = ()

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        if not self.deal or (self.stage < TRADES and self.stage != player):
            return ()
        return pairs(self.items) if self.stage == TRADES else tuple(range(1, self.messages + 1))

    def chance_outcomes(self, actions: JointAction) -> tuple[tuple[Action, float], ...]:
        return () if self.deal else tuple((deal, 1 / self.items**2) for deal in pairs(self.items))

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        if chance_outcome is not None:
            return Observed(self._replace(deal=str(chance_outcome)), tuple(str(chance_outcome).split(":")))
        if self.stage == TRADES:
            agreed = float(actions[0] == actions[1] == self.deal)
            return Observed(Ended((agreed, agreed)), (None, None))
        if self.stage == P1_SENDS:
            return self._hear(int(actions[0]))  # type: ignore[arg-type]
        return Observed(self._replace(stage=TRADES, unheard=None), (actions[1], self.unheard))

    def _hear(self, message: int) -> Observed:
        """Pass P1's message to P2 at once, or hold it back until P2 has sent its own."""
        if self.sees_message:
            return Observed(self._replace(stage=P2_SENDS), (None, message))
        return Observed(self._replace(stage=P2_SENDS, unheard=message), (None, None))

    def returns(self) -> tuple[float, ...]:
        return (0.0, 0.0)


def pairs(items: int) -> tuple[str, ...]:
    """Return all pairs of P1's and P2's items, as ``A:B``: the possible deals and also the possible trades."""
    names = ascii_uppercase[:items]
    return tuple(f"{own}:{other}" for own in names for other in names)


def picture(rules: Rules, infostate: Infostates) -> Picture:
    """Draw each player's item, message and trade."""
    areas = []
    for player, own in enumerate(infostate):
        item = [own[0][1]] if own else []
        other = infostate[1 - player]
        heard = [seen for _, seen in (other or ())[1:] if seen != ()]
        mine = [action for action, _ in own or () if action is not None]
        said = [f"says {message}" for message in mine[:1] or heard]
        agreed = [f"trades {trade}" for trade in mine[1:]]
        face_down = int(own is None and any(infostate))
        areas.append(area(rules.players[player], item, face_down, "; ".join([*said, *agreed]), player=player))  # type: ignore[arg-type]
    return table(*areas)


def describe_record(rules: Rules, player: int, record: ObservationRecord, before: InformationState) -> str:
    """Describe the player's item, the messages, or its own trade."""
    action, seen = record
    if not before:
        return f"you hold {seen}"
    own = [] if action is None else [f"you trade {action}" if isinstance(action, str) else f"you say {action}"]
    return "; ".join([*own, *([f"{rules.players[1 - player]} says {seen}"] if seen != () else [])])


def trade_comm(items: int = 3, messages: int = 2, sees_message: bool = False) -> Rules:
    """Trade Comm: both players win 1 if both name the trade of the two items they hold, else nothing.

    Each player is dealt one of ``items`` items at random and sees only its own.  P1 sends one of ``messages`` messages,
    then P2 does; both hear both messages and name a trade simultaneously.  With ``sees_message`` P2 hears P1's message
    before it sends its own.  There are 2 to 26 items and 1 to 26 messages.

    After a pair of messages, at most as many deals can succeed as the smaller of the two groups of items that send
    them: the team optimum is 1 with as many messages as items, and 5/9 with 3 items and 2 messages.
    """
    check_range("trade_comm: items", items, 2, len(ascii_uppercase))
    check_range("trade_comm: messages", messages, 1, len(ascii_uppercase))
    name = full_name("trade_comm", trade_comm, items=items, messages=messages, sees_message=sees_message)
    first = Observed(TradeState(items, messages, sees_message, "", P1_SENDS, None), (None, None))
    return ShownRules(name, seats(2), first, Look(picture, describe_record))
