"""Leduc poker: two betting rounds, one public card (Southey et al. 2005), as in OpenSpiel; with any deck."""

from __future__ import annotations

from typing import NamedTuple

from infoset.base import Action, InformationState, JointAction, ObservationRecord, Observed, Picture, Writes
from infoset.errors import ParameterError
from infoset.games.rules import Ended, NativeState, Rules, order, seats
from infoset.games.table import Infostates, Look, ShownRules, area, does, longest, made, table
from infoset.games.tensors import has_recall, layout
from infoset.names import check_range, full_name

RANKS = "23456789TJQK"
SUITS = "hsdc"
ANTE = 1
RAISES = (2, 4)
MAX_RAISES = 2
FOLD, CALL, RAISE = "fold", "call", "raise"
ACTION_SETS = {  # (facing a bet, may raise)
    (False, False): (CALL,),
    (False, True): (CALL, RAISE),
    (True, False): (FOLD, CALL),
    (True, True): (FOLD, CALL, RAISE),
}


class Deck(NamedTuple):
    """A deck of the highest ``ranks`` ranks, up to the king, in ``suits`` suits; cards are ``suits * rank + suit``."""

    ranks: int
    suits: int

    def name(self, card: int) -> str:
        """Return a card's rank and suit, such as ``Qh``."""
        return RANKS[card // self.suits - self.ranks] + SUITS[card % self.suits]

    def number(self, name: str) -> int:
        """Return the number of the card ``name``."""
        return self.suits * (RANKS.index(name[0]) - len(RANKS) + self.ranks) + SUITS.index(name[1])

    def strength(self, card: int, public: int) -> int:
        """Return the strength of a hand: a pair beats every rank, a higher rank a lower one; suits do not count."""
        rank = card // self.suits
        return rank + 100 * (rank == public // self.suits)


class _Fields(NamedTuple):
    players: int
    deck: Deck
    cards: tuple[int, ...]
    public: bool
    second: bool
    stakes: tuple[int, ...]
    folded: frozenset[int]
    calls: int
    raises: int
    mover: int


class LeducState(NativeState, _Fields):
    """The state of the game, as far as it matters for the future.

    Once the ``public`` card is dealt, ``cards`` is the order of the hands.  ``stakes`` are the chips put in, ``calls``
    and ``raises`` count those of the current round.
    """

    __slots__ = ()

    @property
    def dealing(self) -> bool:
        return len(self.cards) < self.players or self.second != self.public

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        if player != self.mover or self.dealing:
            return ()
        facing = max(self.stakes) > self.stakes[player]
        return ACTION_SETS[facing, self.raises < MAX_RAISES]

    def chance_outcomes(self, actions: JointAction) -> tuple[tuple[Action, float], ...]:
        if not self.dealing:
            return ()
        left = [card for card in range(self.deck.ranks * self.deck.suits) if card not in self.cards]
        return tuple((self.deck.name(card), 1 / len(left)) for card in left)

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        if chance_outcome is not None:
            return self._deal(str(chance_outcome))
        mover = self.mover
        action = str(actions[mover])
        seen = [action] * self.players
        seen[mover] = None  # type: ignore[call-overload]
        return Observed(self._bet(mover, action), tuple(seen))

    def _deal(self, name: str) -> Observed:
        card = self.deck.number(name)
        if self.second:
            hands = order([self.deck.strength(own, card) for own in self.cards])
            return Observed(self._replace(cards=hands, public=True), (name,) * self.players)
        seen = tuple([name if p == len(self.cards) else None for p in range(self.players)])
        return Observed(self._replace(cards=(*self.cards, card)), seen)

    def _bet(self, mover: int, action: str) -> NativeState:
        players, deck, cards, public, second, stakes, folded, calls, raises, _ = self
        stakes = self.staked(mover, action)
        if action == FOLD:
            folded = folded | {mover}
        else:
            calls, raises = (calls + 1, raises) if action == CALL else (0, raises + 1)
        left = players - len(folded)
        over = left == 1 or calls == (left - 1 if raises else left)
        if left == 1 or (over and second):
            return Ended(showdown(cards, stakes, folded))
        if over:
            second, calls, raises, mover = True, 0, 0, -1
        mover = (mover + 1) % players
        while mover in folded:
            mover = (mover + 1) % players
        return LeducState(players, deck, cards, public, second, stakes, folded, calls, raises, mover)

    def see(self, shown: str) -> NativeState:
        """Return the public state after a move or the public card."""
        return self._bet(self.mover, shown) if shown in (FOLD, CALL, RAISE) else self._replace(public=True)

    def staked(self, mover: int, action: str) -> tuple[int, ...]:
        """Return the chips put in after a move."""
        if action == FOLD:
            return self.stakes
        stake = max(self.stakes) + (RAISES[self.second] if action == RAISE else 0)
        return (*self.stakes[:mover], stake, *self.stakes[mover + 1 :])

    def returns(self) -> tuple[float, ...]:
        return (0.0,) * self.players


def showdown(hands: tuple[int, ...], stakes: tuple[int, ...], folded: frozenset[int]) -> tuple[float, ...]:
    """Return the payoffs: the best hands that did not fold share the pot."""
    players = range(len(hands))
    best = max([hands[p] for p in players if p not in folded])
    winners = [p for p in players if p not in folded and hands[p] == best]
    share = sum(stakes) / len(winners)
    return tuple([share * (p in winners) - stakes[p] for p in players])


class LeducRules(ShownRules):
    """Leduc poker with OpenSpiel's tensors."""

    def tensor_encoder(self, kind: str) -> LeducEncoder:
        """Return the encoder of OpenSpiel's tensors: player, cards, and all moves or each player's chips."""
        return LeducEncoder(without_cards(self), has_recall(self.name, kind))


class LeducEncoder:
    """The player, its card, the public card, and each call or raise with ``recall``, else each player's chips.

    The memo is ``None`` before the card is dealt, then the public state and the number of moves in this round.
    """

    def __init__(self, first: LeducState, recall: bool) -> None:
        self.first, self.recall = first, recall
        self.actions: tuple[Action, ...] = (FOLD, CALL, RAISE)
        cards = first.deck.ranks * first.deck.suits
        self.longest = MAX_RAISES * (first.players - 1) + first.players  # as many moves as a round can have
        betting = 2 * 2 * self.longest if recall else first.players
        self.at, size = layout(player=first.players, card=cards, public=cards, betting=betting)
        self.shape: tuple[int, ...] = (size,)

    def start(self, player: int) -> tuple[None, Writes]:
        """Show the player and, without ``recall``, the antes."""
        chips = [] if self.recall else [(self.at["betting"] + p, float(ANTE)) for p in range(self.first.players)]
        return None, ((player, 1.0), *chips)

    def after(
        self, player: int, memo: tuple[NativeState, int] | None, record: ObservationRecord
    ) -> tuple[tuple[NativeState, int], Writes]:
        """Show a card, or a move; folding is shown by nothing but the absence of another move."""
        shown = str(made((record,))[0])
        if memo is None:
            return (self.first, 0), ((self.at["card"] + self.first.deck.number(shown), 1.0),)
        state, moves = memo
        assert isinstance(state, LeducState)
        after = state.see(shown)
        if shown not in self.actions:
            return (after, 0), ((self.at["public"] + self.first.deck.number(shown), 1.0),)
        if shown == FOLD:
            return (after, moves + 1), ()
        if self.recall:
            place = 2 * (self.longest * state.second + moves) + (shown == RAISE)
            return (after, moves + 1), ((self.at["betting"] + place, 1.0),)
        chips = float(state.staked(state.mover, shown)[state.mover])
        return (after, moves + 1), ((self.at["betting"] + state.mover, chips),)


class Public(NamedTuple):
    """The public information: the state (``Ended`` after the last move), chips, the card, each player's moves."""

    state: NativeState
    stakes: tuple[int, ...]
    card: str
    actions: list[list[str]]


def without_cards(rules: Rules) -> LeducState:
    """Return the state after the deal, as far as it is public."""
    first: LeducState = rules.first.state  # type: ignore[assignment]
    return first._replace(cards=(0,) * first.players)


def public(rules: Rules, infostate: InformationState) -> Public:
    """Replay the betting from one player's information state."""
    state: NativeState = without_cards(rules)
    stakes, card, actions = state.stakes, "", [[] for _ in rules.players]  # type: ignore[attr-defined,var-annotated]
    for action in made(infostate)[1:]:
        assert isinstance(state, LeducState)
        if action in (FOLD, CALL, RAISE):
            actions[state.mover].append(action)
            stakes = state.staked(state.mover, str(action))
        else:
            card = str(action)
            actions = [[*own, "|"] for own in actions]
        state = state.see(str(action))
    return Public(state, stakes, card, actions)


def picture(rules: Rules, infostate: Infostates) -> Picture:
    """Draw the hands, the public card, the chips and the moves before and after that card."""
    _, stakes, card, actions = public(rules, longest(infostate))
    areas = []
    for player, own in enumerate(infostate):
        note = " ".join(actions[player]).strip("| ")
        hand = [own[0][1]] if own else []
        face_down = int(own is None and any(infostate))
        areas.append(area(rules.players[player], hand, face_down, note, chips=stakes[player], player=player))  # type: ignore[arg-type]
    return table(*areas, area("table", [card] if card else [], int(not card), chips=sum(stakes)))


def describe_record(rules: Rules, player: int, record: ObservationRecord, before: InformationState) -> str:
    """Describe a dealt card, the player's own move, or another player's move."""
    action, seen = record
    if action is not None:
        return f"you {action}"
    if not before:
        return f"you get {seen}"
    if seen not in (FOLD, CALL, RAISE):
        return f"the public card is {seen}"
    state = public(rules, before).state
    return does(rules.players[state.mover], str(seen)) if isinstance(state, LeducState) else str(seen)


def leduc_poker(players: int = 2, ranks: int = 0, suits: int = 2) -> Rules:
    """Leduc poker for 2 or 3 players: ``ranks`` (0: one more than players) in ``suits``, ante 1, raises of 2, then 4.

    The value of the two-player game to the first player is about -0.0856.  Raises ``ParameterError`` for decks of too
    few cards.
    """
    check_range("leduc_poker: players", players, 2, 3)
    check_range("leduc_poker: ranks", ranks, 0, len(RANKS))
    check_range("leduc_poker: suits", suits, 1, len(SUITS))
    deck = Deck(ranks or players + 1, suits)
    if (cards := deck.ranks * deck.suits) <= players:
        raise ParameterError(f"leduc_poker: {cards} cards, where {players} players and the table need one each")
    name = full_name("leduc_poker", leduc_poker, players=players, ranks=ranks, suits=suits)
    first = LeducState(players, deck, (), False, False, (ANTE,) * players, frozenset(), 0, 0, 0)
    return LeducRules(name, seats(players), Observed(first, (None,) * players), Look(picture, describe_record))
