"""Hanabi, as in the Hanabi Learning Environment (Bard et al. 2020) and OpenSpiel (``hanabi``).

The players are a team that plays cards to a firework of each colour, from rank 1 up.  Everybody sees the cards of the
others but not its own; hints about cards cost tokens, which discards bring back.  A card is named by its colour and its
rank, as in ``R1``, and a place in a hand by its number, from 1, the oldest card, up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from infoset.base import Action, InformationState, JointAction, ObservationRecord, Observed, Picture, Writes
from infoset.errors import ParameterError
from infoset.games.rules import Ended, NativeState, Rules, seats
from infoset.games.table import Infostates, Look, ShownRules, area, does, longest, table
from infoset.games.tensors import OBSERVATION, has_recall, layout
from infoset.names import check_range, full_name

COLORS, RANKS = "RYGWB", "12345"
PLAY, DISCARD, HINT = "play", "discard", "hint"
UNSEEN = "?"
"""A card that a player does not see: one that it draws, until it plays or discards it."""
NOBODY = -1
MISFIT = ", which does not fit"
"""What is said of a card that was played in vain."""
MOST_CARDS = 8
MOST_TOKENS = 50


class Setting(NamedTuple):
    """The parameters of a game: ``hand`` cards a player, at most ``info`` information tokens and ``lives``."""

    players: int
    colors: int
    ranks: int
    hand: int
    info: int
    lives: int


@cache
def cards(colors: int, ranks: int) -> tuple[str, ...]:
    """Return the distinct cards by colour and rank."""
    return tuple(color + rank for color in COLORS[:colors] for rank in RANKS[:ranks])


@cache
def copies(colors: int, ranks: int) -> tuple[int, ...]:
    """Return how often each card occurs: rank 1 three times, the highest rank once, the others twice."""
    return (3, *[1 + (rank < ranks) for rank in range(2, ranks + 1)]) * colors


class Moves(NamedTuple):
    """The moves of a player, each kind in the order of OpenSpiel's numbers."""

    discards: tuple[str, ...]
    plays: tuple[str, ...]
    hints: tuple[tuple[str, int, str], ...]  # the name, how many seats further the other player sits, what is hinted


@cache
def moves_of(setting: Setting) -> Moves:
    """Return all moves: ``discard 1``, ``play 1``, and ``hint R`` or ``hint 1`` of the colour and rank of cards.

    With more than two players, a hint also says how many seats further the other player sits: ``hint +1 R``.
    """
    places, others = range(1, setting.hand + 1), range(1, setting.players)
    words = (COLORS[: setting.colors], RANKS[: setting.ranks])
    hints = [(_hint_name(setting, seat, word), seat, word) for kind in words for seat in others for word in kind]
    return Moves(tuple(f"{DISCARD} {k}" for k in places), tuple(f"{PLAY} {k}" for k in places), tuple(hints))


def _hint_name(setting: Setting, seat: int, word: str) -> str:
    return f"{HINT} {word}" if setting.players == 2 else f"{HINT} +{seat} {word}"


def hint_of(action: str) -> tuple[int, str]:
    """Return how many seats further the player of a hint sits, and the colour or rank."""
    *seat, word = action.split()[1:]
    return int(seat[0]) if seat else 1, word


class Board(NamedTuple):
    """What lies on the table: the highest rank of each firework, and the tokens left."""

    fireworks: tuple[int, ...]
    tokens: int
    lives: int

    @property
    def score(self) -> float:
        """The sum of the fireworks, or 0 where no life is left."""
        return float(sum(self.fireworks)) if self.lives else 0.0

    def play(self, setting: Setting, card: str) -> Board:
        """Return the board after a card is played: one that does not fit costs a life, a last one brings a token."""
        color, rank = COLORS.index(card[0]), int(card[1])
        if self.fireworks[color] != rank - 1:
            return self._replace(lives=self.lives - 1)
        fireworks = (*self.fireworks[:color], rank, *self.fireworks[color + 1 :])
        return Board(fireworks, min(self.tokens + (rank == setting.ranks), setting.info), self.lives)


class _Fields(NamedTuple):
    setting: Setting
    deck: tuple[int, ...]
    hands: tuple[tuple[str, ...], ...]
    board: Board
    mover: int
    turns: int


class HanabiState(NativeState, _Fields):
    """The number of each card in the deck, the hands, the board, whose turn it is, and the turns without a deck."""

    __slots__ = ()

    @property
    def drawer(self) -> int:
        """The player who draws the next card: the first with too few, while there are cards; or ``NOBODY``."""
        if not any(self.deck):
            return NOBODY
        return next((p for p, hand in enumerate(self.hands) if len(hand) < self.setting.hand), NOBODY)

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        if player != self.mover or self.drawer != NOBODY:
            return ()
        moves, count = moves_of(self.setting), len(self.hands[player])
        discards = moves.discards[:count] if self.board.tokens < self.setting.info else ()
        if not self.board.tokens:
            return (*discards, *moves.plays[:count])
        shown = [
            set("".join(self.hands[(player + seat) % self.setting.players])) for seat in range(self.setting.players)
        ]
        hints = [name for name, seat, word in moves.hints if word in shown[seat]]
        return (*discards, *moves.plays[:count], *hints)

    def chance_outcomes(self, actions: JointAction) -> tuple[tuple[Action, float], ...]:
        if self.drawer == NOBODY:
            return ()
        size, names = sum(self.deck), cards(self.setting.colors, self.setting.ranks)
        return tuple([(card, count / size) for card, count in zip(names, self.deck, strict=True) if count])

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        if chance_outcome is not None:
            return self._draw(str(chance_outcome))
        action = str(actions[self.mover])
        if action.startswith(HINT):
            return self._hint(action)
        hand, place = self.hands[self.mover], int(action.split()[1]) - 1
        card = hand[place]
        if action.startswith(DISCARD):
            board = self.board._replace(tokens=self.board.tokens + 1)
        else:
            board = self.board.play(self.setting, card)
        hands = _with(self.hands, self.mover, hand[:place] + hand[place + 1 :])
        return self._pass_turn(hands, board, action, card)

    def _draw(self, card: str) -> Observed:
        """Give the next card to its drawer, who does not see it."""
        drawer, setting = self.drawer, self.setting
        number = cards(setting.colors, setting.ranks).index(card)
        deck = (*self.deck[:number], self.deck[number] - 1, *self.deck[number + 1 :])
        hands = _with(self.hands, drawer, (*self.hands[drawer], card))
        seen = tuple([UNSEEN if p == drawer else card for p in range(setting.players)])
        return Observed(self._replace(deck=deck, hands=hands), seen)

    def _hint(self, action: str) -> Observed:
        """Tell the places of all cards of a colour or rank in another hand."""
        seat, word = hint_of(action)
        hand = self.hands[(self.mover + seat) % self.setting.players]
        places = tuple([k for k, card in enumerate(hand, 1) if word in card])
        return self._pass_turn(self.hands, self.board._replace(tokens=self.board.tokens - 1), action, places)

    def _pass_turn(
        self, hands: tuple[tuple[str, ...], ...], board: Board, action: str, shown: str | tuple[int, ...]
    ) -> Observed:
        """Return the step to the next turn or to the end; all see the action and the card or places ``shown``."""
        setting = self.setting
        seen = tuple([shown if p == self.mover else (action, shown) for p in range(setting.players)])
        turns = self.turns - (not any(self.deck))
        if not turns or not board.lives or sum(board.fireworks) == setting.colors * setting.ranks:
            return Observed(Ended((board.score,) * setting.players), seen)
        return Observed(HanabiState(setting, self.deck, hands, board, (self.mover + 1) % setting.players, turns), seen)

    def returns(self) -> tuple[float, ...]:
        return (self.board.score,) * self.setting.players


def _with(
    hands: tuple[tuple[str, ...], ...], player: int, hand: tuple[str, ...]
) -> tuple[tuple[str, ...], ...]:  # fmt: skip
    """Return the hands with that of one player replaced."""
    return (*hands[:player], hand, *hands[player + 1 :])


class Hints(NamedTuple):
    """What hints say of one card: the colours and ranks that it may have, and whether a hint named each."""

    colors: str
    ranks: str
    color_named: bool = False
    rank_named: bool = False

    def after(self, word: str, touched: bool) -> Hints:
        """Return what is known after a hint of a colour or rank, which ``touched`` the card or did not."""
        if word in COLORS:
            colors = word if touched else self.colors.replace(word, "")
            return self._replace(colors=colors, color_named=self.color_named or touched)
        ranks = word if touched else self.ranks.replace(word, "")
        return self._replace(ranks=ranks, rank_named=self.rank_named or touched)


class Turn(NamedTuple):
    """A turn that was taken: the card played or discarded or the places hinted at, and the board before."""

    mover: int
    action: str
    shown: str | tuple[int, ...]
    before: Board


class View(NamedTuple):
    """What a player knows: the hands, its own cards ``UNSEEN``; the hints about all cards; discards; the last turn."""

    hands: tuple[tuple[str, ...], ...]
    hints: tuple[tuple[Hints, ...], ...]
    board: Board
    deck: int
    discards: tuple[int, ...]
    mover: int
    last: Turn | None

    @classmethod
    def first(cls, setting: Setting) -> View:
        """Return the view before the deal."""
        count, none = copies(setting.colors, setting.ranks), ((),) * setting.players
        return cls(none, none, _first_board(setting), sum(count), (0,) * len(count), 0, None)

    @property
    def fitted(self) -> bool:
        """Whether the last turn put a card on a firework."""
        return self.last is not None and self.last.before.fireworks != self.board.fireworks

    def drawer(self, setting: Setting) -> int:
        """Return the player who draws the next card, or ``NOBODY``."""
        if not self.deck:
            return NOBODY
        return next((p for p, hand in enumerate(self.hands) if len(hand) < setting.hand), NOBODY)

    def after(self, setting: Setting, record: ObservationRecord) -> View:
        """Return the view after one more record."""
        if (drawer := self.drawer(setting)) != NOBODY:
            unknown = Hints(COLORS[: setting.colors], RANKS[: setting.ranks])
            hands = _with(self.hands, drawer, (*self.hands[drawer], str(record[1])))
            hints = self._hints_with(drawer, (*self.hints[drawer], unknown))
            return self._replace(hands=hands, hints=hints, deck=self.deck - 1)
        action, shown = _turn_of(record)
        turn = Turn(self.mover, action, shown, self.board)
        moved = self._replace(mover=(self.mover + 1) % setting.players, last=turn)
        return moved._hint(setting, turn) if isinstance(shown, tuple) else moved._lose(setting, turn, shown)

    def _hint(self, setting: Setting, turn: Turn) -> View:
        """Return the view after a hint."""
        seat, word = hint_of(turn.action)
        player = (turn.mover + seat) % setting.players
        hints = tuple([known.after(word, k in turn.shown) for k, known in enumerate(self.hints[player], 1)])
        board = self.board._replace(tokens=self.board.tokens - 1)
        return self._replace(board=board, hints=self._hints_with(player, hints))

    def _lose(self, setting: Setting, turn: Turn, card: str) -> View:
        """Return the view after a card left a hand, to a firework or to the discards."""
        mover, place = turn.mover, int(turn.action.split()[1]) - 1
        hand, hints = self.hands[mover], self.hints[mover]
        if turn.action.startswith(PLAY):
            board = self.board.play(setting, card)
        else:
            board = self.board._replace(tokens=self.board.tokens + 1)
        number, lost = cards(setting.colors, setting.ranks).index(card), board.fireworks == self.board.fireworks
        return self._replace(
            board=board,
            hands=_with(self.hands, mover, hand[:place] + hand[place + 1 :]),
            hints=self._hints_with(mover, hints[:place] + hints[place + 1 :]),
            discards=(*self.discards[:number], self.discards[number] + lost, *self.discards[number + 1 :]),
        )

    def _hints_with(self, player: int, hints: tuple[Hints, ...]) -> tuple[tuple[Hints, ...], ...]:
        return (*self.hints[:player], hints, *self.hints[player + 1 :])


def _first_board(setting: Setting) -> Board:
    return Board((0,) * setting.colors, setting.info, setting.lives)


def _turn_of(record: ObservationRecord) -> tuple[str, str | tuple[int, ...]]:
    """Return the action of a turn and what was shown: the player's own record, or that of another's action."""
    action, seen = record
    return seen if action is None else (action, seen)  # type: ignore[return-value]


def _view(setting: Setting, infostate: InformationState) -> View:
    """Return what a player knows in an information state."""
    view = View.first(setting)
    for record in infostate:
        view = view.after(setting, record)
    return view


class HanabiRules(ShownRules):
    """Hanabi with OpenSpiel's tensor."""

    @property
    def setting(self) -> Setting:
        """The parameters of the game."""
        state: HanabiState = self.first.state  # type: ignore[assignment]
        return state.setting

    @property
    def payoff_range(self) -> tuple[float, float]:
        """The lowest and the highest payoff."""
        return 0.0, float(self.setting.colors * self.setting.ranks)

    def tensor_encoder(self, kind: str) -> HanabiEncoder:
        """Return the encoder of OpenSpiel's observation: the hands, the board, the last turn and all hints."""
        has_recall(self.name, kind, (OBSERVATION,))
        return HanabiEncoder(self.setting)


class HanabiEncoder:
    """What a player sees, the seats counted from its own; the memo is the player and its view."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        players, colors, ranks, hand, info, lives = setting
        self.cards, self.copies = cards(colors, ranks), copies(colors, ranks)
        self.per_hint = len(self.cards) + colors + ranks
        moves = moves_of(setting)
        self.actions: tuple[Action, ...] = (*moves.discards, *moves.plays, *[name for name, _, _ in moves.hints])
        self.drawn = sum(self.copies) - players * hand  # the size of the deck after the deal
        self.at, size = layout(
            hands=(players - 1) * hand * len(self.cards), short=players, deck=self.drawn, fireworks=len(self.cards),
            tokens=info, lives=lives, discards=sum(self.copies), mover=players, kind=4, target=players, color=colors,
            rank=ranks, touched=hand, place=hand, card=len(self.cards), success=2,
            hints=players * hand * self.per_hint,
        )  # fmt: skip
        self.shape: tuple[int, ...] = (size,)

    def start(self, player: int) -> tuple[tuple[int, View], Writes]:
        """Show the board before the deal."""
        view = View.first(self.setting)
        return (player, view), tuple([(index, 1.0) for index in self._shown(player, view)])

    def after(
        self, player: int, memo: tuple[int, View], record: ObservationRecord
    ) -> tuple[tuple[int, View], Writes]:  # fmt: skip
        """Show what a card or a turn changes."""
        before, view = memo[1], memo[1].after(self.setting, record)
        old, new = set(self._shown(player, before)), set(self._shown(player, view))
        return (player, view), (*[(k, 0.0) for k in sorted(old - new)], *[(k, 1.0) for k in sorted(new - old)])

    def _shown(self, player: int, view: View) -> Iterator[int]:
        """Yield the indices of ones."""
        at, (players, _, ranks, size, _, _) = self.at, self.setting
        for seat in range(players):
            hand = view.hands[(player + seat) % players]
            if len(hand) < size:
                yield at["short"] + seat
            if seat:
                begin = at["hands"] + (seat - 1) * size * len(self.cards)
                yield from [begin + k * len(self.cards) + self.cards.index(card) for k, card in enumerate(hand)]
        yield from range(at["deck"], at["deck"] + min(view.deck, self.drawn))
        yield from [at["fireworks"] + c * ranks + top - 1 for c, top in enumerate(view.board.fireworks) if top]
        yield from range(at["tokens"], at["tokens"] + view.board.tokens)
        yield from range(at["lives"], at["lives"] + view.board.lives)
        begin = at["discards"]
        for count, most in zip(view.discards, self.copies, strict=True):
            yield from range(begin, begin + count)
            begin += most
        if view.last is not None:
            yield from self._turn(player, view.last, view.board)
        for seat in range(players):
            for k, known in enumerate(view.hints[(player + seat) % players]):
                yield from self._hints(at["hints"] + (seat * size + k) * self.per_hint, known)

    def _turn(self, player: int, turn: Turn, board: Board) -> Iterator[int]:
        """Yield the indices that show the last turn, after which the board is ``board``."""
        at, players = self.at, self.setting.players
        yield at["mover"] + (turn.mover - player) % players
        if isinstance(turn.shown, tuple):
            seat, word = hint_of(turn.action)
            yield at["kind"] + (2 if word in COLORS else 3)
            yield at["target"] + (turn.mover + seat - player) % players
            yield at["color"] + COLORS.index(word) if word in COLORS else at["rank"] + RANKS.index(word)
            yield from [at["touched"] + place - 1 for place in turn.shown]
            return
        played = turn.action.startswith(PLAY)
        yield at["kind"] + (0 if played else 1)
        yield at["place"] + int(turn.action.split()[1]) - 1
        yield at["card"] + self.cards.index(turn.shown)
        if played and board.fireworks != turn.before.fireworks:
            yield at["success"]
        if played and board.tokens != turn.before.tokens:
            yield at["success"] + 1

    def _hints(self, begin: int, known: Hints) -> Iterator[int]:
        """Yield the indices that show what hints say of one card."""
        colors, ranks = self.setting.colors, self.setting.ranks
        yield from [begin + COLORS.index(c) * ranks + RANKS.index(r) for c in known.colors for r in known.ranks]
        if known.color_named:
            yield begin + len(self.cards) + COLORS.index(known.colors)
        if known.rank_named:
            yield begin + len(self.cards) + colors + RANKS.index(known.ranks)


def picture(rules: Rules, infostate: Infostates) -> Picture:
    """Draw the hands, with what hints say of each card, the fireworks, the discards and the tokens.

    A hand lies face down unless another player is among those who look.  The cards of the last turn are marked.
    """
    setting: Setting = rules.setting  # type: ignore[attr-defined]
    views = [None if own is None else _view(setting, own) for own in infostate]
    view = _view(setting, longest(infostate))
    hands = [_hand(rules, setting, views, view, player) for player in range(setting.players)]
    return table(*hands, _fireworks(setting, view), _discards(setting, view), _tokens(setting, view))


def _hand(rules: Rules, setting: Setting, views: Sequence[View | None], view: View, player: int) -> dict[str, Any]:
    """Return the area of one hand; under each card stand the colours and ranks that hints leave."""
    others = [known for p, known in enumerate(views) if known is not None and p != player]
    shown = others[0].hands[player] if others else (UNSEEN,) * len(view.hands[player])
    every = (COLORS[: setting.colors], RANKS[: setting.ranks])
    below = [
        ["" if left == each else left for left, each in zip(known[:2], every, strict=True)]
        for known in view.hints[player]
    ]
    note, marked, turn = "", list[int](), view.last
    if turn is not None and turn.mover == player:
        note = _turn_words(rules, setting, view, turn)
    if turn is not None and isinstance(turn.shown, tuple) and _target(setting, turn) == player:
        marked = [place - 1 for place in turn.shown]
    viewers = [p for p, known in enumerate(views) if known is not None]
    title = rules.players[player]
    if len(viewers) == 1 and viewers != [player] and setting.players > 2:
        title += f" (+{(player - viewers[0]) % setting.players})"  # as its hints are named
    more: dict[str, Any] = {"as": "colored", "player": player, "below": below, "marked": marked}
    return area(title, shown, 0, note, **more)


def _target(setting: Setting, turn: Turn) -> int:
    """Return the player to whom a hint is given."""
    return (turn.mover + hint_of(turn.action)[0]) % setting.players


def _turn_words(rules: Rules, setting: Setting, view: View, turn: Turn) -> str:
    """Describe the last turn in words, such as ``hints R to P2``."""
    if isinstance(turn.shown, tuple):
        return f"hints {hint_of(turn.action)[1]} to {rules.players[_target(setting, turn)]}"
    if turn.action.startswith(DISCARD):
        return f"discards {turn.shown}"
    return f"plays {turn.shown}{MISFIT * (not view.fitted)}"


def _fireworks(setting: Setting, view: View) -> dict[str, Any]:
    """Return the area of the fireworks: each one's colour and highest rank, 0 where it has no card."""
    tops = [COLORS[color] + str(top) for color, top in enumerate(view.board.fireworks)]
    marked = [COLORS.index(view.last.shown[0])] if view.fitted and view.last else []  # type: ignore[arg-type]
    score = f"{sum(view.board.fireworks)} of {setting.colors * setting.ranks}"
    return area("fireworks", tops, 0, score, marked=marked, **{"as": "stack"})


def _discards(setting: Setting, view: View) -> dict[str, Any]:
    """Return the area of the discards: a pile for each colour, with the rank of every card in it."""
    names = cards(setting.colors, setting.ranks)
    lost = [card for card, count in zip(names, view.discards, strict=True) for _ in range(count)]
    piles = ["".join([color, *[card[1] for card in lost if card[0] == color]]) for color in COLORS[: setting.colors]]
    piles = [pile for pile in piles if len(pile) > 1]
    last = view.last.shown if view.last and not view.fitted else ()
    marked = [k for k, pile in enumerate(piles) if isinstance(last, str) and pile[0] == last[0]]
    return area("discards", piles, 0, "", marked=marked, **{"as": "pile"})


def _tokens(setting: Setting, view: View) -> dict[str, Any]:
    """Return the area of the tokens and of the deck."""
    tokens = [
        {"name": "hints", "left": view.board.tokens, "most": setting.info, "sign": "●"},
        {"name": "lives", "left": view.board.lives, "most": setting.lives, "sign": "♥"},
    ]
    return area("tokens", note=f"{_count(view.deck, 'card')} in the deck", tokens=tokens)


def _count(number: int, one: str) -> str:
    return f"{number} {one}{'s' * (number != 1)}"


def describe_record(rules: Rules, player: int, record: ObservationRecord, before: InformationState) -> str:
    """Describe a card that is drawn, or a turn of the player or of another one."""
    setting: Setting = rules.setting  # type: ignore[attr-defined]
    view = _view(setting, before)
    if (drawer := view.drawer(setting)) != NOBODY:
        return "you draw a card" if drawer == player else f"{rules.players[drawer]} draws {record[1]}"
    action, shown = _turn_of(record)
    verb = action.split()[0]
    who = f"you {verb}" if view.mover == player else does(rules.players[view.mover], verb)
    if not isinstance(shown, tuple):
        played = action.startswith(PLAY)
        misfit = MISFIT * (played and not view.after(setting, record).fitted)
        return f"{who} card {action.split()[1]}, {shown}{misfit}"
    seat, word = hint_of(action)
    target = (view.mover + seat) % setting.players
    of = "your" if target == player else f"{rules.players[target]}'s"
    return f"{who} {word}: {of} {'card' if len(shown) == 1 else 'cards'} {', '.join(map(str, shown))}"


def hanabi(
    players: int = 2, colors: int = 5, ranks: int = 5, hand: int = 0, info: int = 8, lives: int = 3
) -> HanabiRules:
    """Hanabi: a team that sees only the cards of the others plays all cards in order; each gets the sum of fireworks.

    2 to 5 players, 1 to 5 colours and ranks, ``hand`` cards each, up to 8 (0: 5 for two or three players, otherwise 4),
    at most ``info`` information tokens, up to 50, and ``lives``, 1 to 50.  Raises ``ParameterError`` where there are
    too few cards for the hands.

    >>> state = infoset.load("hanabi(players=2,colors=1,ranks=2,hand=1)").start().state
    >>> for card in ("R2", "R1"): state = state.play((None, None), card).state
    >>> state.legal_actions(0)
    ('play 1', 'hint R', 'hint 1')
    """
    check_range("hanabi: players", players, 2, 5)
    check_range("hanabi: colors", colors, 1, len(COLORS))
    check_range("hanabi: ranks", ranks, 1, len(RANKS))
    check_range("hanabi: hand", hand, 0, MOST_CARDS)
    check_range("hanabi: info", info, 0, MOST_TOKENS)
    check_range("hanabi: lives", lives, 1, MOST_TOKENS)
    usual = 5 if players < 4 else 4
    setting, deck = Setting(players, colors, ranks, hand or usual, info, lives), copies(colors, ranks)
    if (count := sum(deck)) < players * setting.hand:
        raise ParameterError(f"hanabi: {count} cards, where {players} players need {setting.hand} each")
    given = 0 if setting.hand == usual else hand
    name = full_name(
        "hanabi", hanabi, players=players, colors=colors, ranks=ranks, hand=given, info=info, lives=lives
    )  # fmt: skip
    first = HanabiState(setting, deck, ((),) * players, _first_board(setting), 0, players)
    return HanabiRules(name, seats(players), Observed(first, (None,) * players), Look(picture, describe_record))
