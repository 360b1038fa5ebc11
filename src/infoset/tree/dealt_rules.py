"""The factored rules of games that begin with a deal, such as poker, where hands interact only through their cards.

The deal is asked for rather than played, and each core once: moves are public, and so are cards that are dealt to the
board later.  That no two hands share a card is left to the payoffs of the ends, as products (``tree.showdowns``);
the probability of the deal compensates for it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from infoset.base import Action, LongArray, ObservationRecord, State, own_record
from infoset.errors import BudgetError, GameRuleError, UnsupportedGameError, shorten
from infoset.games.poker_hands import disjoint
from infoset.tree.factored_rules import FactoredRules
from infoset.tree.graph import CHANCE, NO_RECORD, TERMINAL, Interner
from infoset.tree.rule_arrays import NOTHING, AnyCore, Decided, Ended, RuleArrays, Side, Terms, rule_arrays, ways_to
from infoset.tree.showdowns import PLAYERS, Pieces, Showdown, pieces

LEAST_TOGETHER = 1e-6
MOST_EDGES = 200_000_000
Hands: TypeAlias = tuple[LongArray, LongArray]  # of each player, by number


class _Edges(NamedTuple):
    """The edges of one event for one player; a cell is a hand's place among the hands at its core."""

    cell: LongArray
    place: LongArray
    action: int
    record: int


class _Event(NamedTuple):
    reached: int
    chance: float
    edges: tuple[_Edges, ...]


class AskedDealt:
    """The rules of a two-player game, collected from its deal on."""

    def __init__(self, game: Any, progress: Callable[[int], object] | None) -> None:
        """Ask for the deal.  Raises ``GameRuleError`` unless there are two players."""
        self.game, self.progress = game, progress
        if len(game.players) != PLAYERS:
            raise GameRuleError(
                f"{game.name} deals hands to {len(game.players)} players; the factored form knows deals for two"
            )
        self.start, dealt = game.deal()
        self.hands: list[list[Hashable]] = [[own for own, *_ in some] for some in dealt]
        self.seen = [[seen for _, seen, _ in some] for some in dealt]
        self.cards = [[frozenset(game.cards(own)) for own in some] for some in self.hands]
        self.fits = disjoint(*[[game.cards(own) for own in some] for some in self.hands])
        shares = [np.array([weight for *_, weight in some]) for some in dealt]
        self.shares = [own / own.sum() for own in shares]
        self.action_sets: Interner[tuple[Action, ...]] = Interner()
        self.records: Interner[ObservationRecord] = Interner()
        self.number: dict[Hashable, int] = {}
        self.cores: list[AnyCore | None] = [None]
        self.todo: deque[tuple[int, Hashable, Hands]] = deque()
        self.pieces: dict[Hashable, Pieces] = {}
        self.listed: dict[Hashable, tuple[LongArray, LongArray]] = {}
        self.payoffs: set[tuple[float, ...]] = set()
        self.hands_at: dict[int, tuple[bytes, ...]] = {}  # the hands at each core
        self.together: dict[tuple[bytes, ...], int] = {}  # number of compatible pairs, by the hands of both players
        self.ends_by_chance: Counter[int] = Counter()  # number of pairs and cards that end the game, by core
        self.cells = self.edges = 0

    def rules(self) -> FactoredRules:
        """Ask about every core.

        Raises ``UnsupportedGameError`` where compatible hands have almost no weight, and ``BudgetError`` for too many
        edges.
        """
        game = self.game
        self.cores[0] = self._deal()
        while self.todo:
            number, core, hands = self.todo.popleft()
            self.cores[number] = self._look(core, hands)
            if self.progress is not None:
                self.progress(self.cells)
        first = game.start()
        seen = [self._record(None, first.observation(p)) for p in range(PLAYERS)]
        arrays = rule_arrays([core for core in self.cores if core is not None])
        return FactoredRules(
            game.name, game.players, arrays, self.action_sets.values(), self.records.values(), tuple(seen), (0, 1),
            np.array(sorted(self.payoffs)), counted=self._counted(arrays),
        )  # fmt: skip

    def _counted(self, arrays: RuleArrays) -> tuple[float, float]:
        """Return the numbers of histories and ends; a core has one per path to it and pair of compatible hands."""
        first, reached = arrays.event_first, arrays.event_core
        ways = ways_to(self.game.name, arrays)
        here = ways * np.array([self.together.get(self.hands_at.get(number, ()), 0) for number in range(len(ways))])
        by_chance = np.repeat(arrays.mover[: len(first) - 1] == CHANCE, np.diff(first))
        over = (arrays.mover[reached] == TERMINAL) & ~by_chance
        ended = float(np.repeat(here, np.diff(first))[over].sum())
        ended += sum(float(ways[number]) * count for number, count in self.ends_by_chance.items())
        return 1.0 + float(self.fits.any(axis=1).sum()) + float(here.sum()) + ended, ended

    def _deal(self) -> Decided:
        """Return the core of the deal: hands are dealt independently, and chance makes up for incompatible pairs."""
        if (together := float(self.shares[0] @ self.fits @ self.shares[1])) < LEAST_TOGETHER:
            raise UnsupportedGameError(
                f"{self.game.name}: pairs of hands without common cards have {together:.1g} of the weight, too little: "
                "inclusion and exclusion would lose precision"
            )
        one, two = (np.arange(len(own)) for own in self.hands)
        reached = np.array([self._core(self.start, (one, two)), NOTHING])
        sides = []
        for own, seen, share in zip((one, two), self.seen, self.shares, strict=True):
            nothing, records = (
                np.zeros(len(own), np.int64),
                np.array([self._record(None, seen_record) for seen_record in seen]),
            )
            action_set = np.full(1, NOTHING)
            sides.append(
                Side.of(action_set, reached, nothing, nothing, own, np.full(len(own), NOTHING), records, share)
            )
        return Decided(CHANCE, reached[:1], np.array([1 / together]), sides)

    def _record(self, action: Action | None, observation: Any) -> int:
        record = own_record(action, observation)
        return NO_RECORD if record is None else self.records(record)

    def _core(self, core: Hashable, hands: Hands) -> int:
        """Return the number of a core, and schedule new ones to be examined.

        Raises ``GameRuleError`` where a known core is reached with other hands.
        """
        dealt = (hands[0].tobytes(), hands[1].tobytes())
        if core not in self.number:
            self.number[core] = len(self.cores)
            self.cores.append(None)
            self.todo.append((self.number[core], core, hands))
            self.cells += sum(map(len, hands))
            self.hands_at[self.number[core]] = dealt
            if dealt not in self.together:
                self.together[dealt] = int(self.fits[np.ix_(*hands)].sum())
        if self.hands_at[self.number[core]] != dealt:
            raise GameRuleError(
                f"{self.game.name}: other hands are left at the core {shorten(repr(core))} on another way there; it "
                "must tell which cards lie open"
            )
        return self.number[core]

    def _state(self, core: Hashable, one: int, two: int) -> State:
        found: State = self.game.join(core, (self.hands[0][one], self.hands[1][two]))
        return found

    def _pair(self, hands: Hands, without: frozenset[Hashable] = frozenset()) -> tuple[int, int] | None:
        """Return two compatible hands that contain none of the cards ``without``."""
        one, two = (
            [k for k in own.tolist() if not self.cards[p][k] & without] if without else own
            for p, own in enumerate(hands)
        )
        for k in one:
            beside = np.flatnonzero(self.fits[k, two])
            if len(beside):
                return int(k), int(two[beside[0]])
        return None

    def _look(self, core: Hashable, hands: Hands) -> Decided:
        """Examine all that may follow a core."""
        pair = self._pair(hands)
        assert pair is not None  # since the core was reached
        state = self._state(core, *pair)
        movers = [p for p in range(PLAYERS) if state.legal_actions(p)]
        if len(movers) > 1:
            raise GameRuleError(
                f"{self.game.name}: after the deal exactly one player must move, but not at {shorten(repr(state))}"
            )
        mover = movers[0] if movers else CHANCE
        events = list(self._actions(core, hands, state, mover) if movers else self._chance(core, hands, pair))
        reached = np.array([*[event.reached for event in events], NOTHING])
        sides = []
        for p, own in enumerate(hands):
            edges = [event.edges[p] for event in events]
            sizes = [len(some.cell) for some in edges]
            self.edges += sum(sizes)
            action_set = np.full(len(own), self.action_sets(state.legal_actions(p)) if p == mover else NOTHING)
            cell = np.concatenate([some.cell for some in edges])
            place = np.concatenate([some.place for some in edges]).astype(np.int32)  # there are many
            event, action, record = (
                np.repeat(some, sizes)
                for some in (np.arange(len(edges)), [some.action for some in edges], [some.record for some in edges])
            )
            sides.append(Side.of(action_set, reached, cell, event, place, action, record, np.ones(len(cell))))
        if self.edges > MOST_EDGES:
            raise BudgetError(
                f"{self.game.name}: more than {MOST_EDGES:,} edges; it is too large for the factored form"
            )
        return Decided(mover, reached[:-1], np.array([event.chance for event in events]), sides)

    def _actions(self, core: Hashable, hands: Hands, state: State, mover: int) -> Iterator[_Event]:
        """Yield the events of public moves, which continue or end the game whatever the hands."""
        for k, action in enumerate(state.legal_actions(mover)):
            actions: list[Action | None] = [None, None]
            actions[mover] = action
            places = [k if p == mover else NOTHING for p in range(PLAYERS)]
            step = self._play(state, actions, None)
            if step.state.terminal:
                yield self._end(core, hands, actions, places)
                continue
            reached = self._core(self.game.split(step.state)[0], hands)
            yield _Event(reached, 1.0, tuple([
                _Edges(np.arange(len(own)), np.arange(len(own)), place, self._record(actions[p], step.observation(p)))
                for p, (own, place) in enumerate(zip(hands, places, strict=True))
            ]))  # fmt: skip

    def _play(self, state: Any, actions: list[Action | None], answer: Action | None) -> Any:
        return getattr(state, "play_unchecked", state.play)(actions, answer)

    def _chance(self, core: Hashable, hands: Hands, pair: tuple[int, int]) -> Iterator[_Event]:
        """Yield the events of opened cards, which are equally likely for all pairs of hands without them."""
        answers = dict(self._state(core, *pair).chance_outcomes((None, None)))
        for card in self.cards[0][pair[0]] | self.cards[1][pair[1]]:  # which cannot be opened with these hands
            if (other := self._pair(hands, frozenset([card]))) is not None:
                answers |= dict(self._state(core, *other).chance_outcomes((None, None)))
        for answer, chance in answers.items():
            opened = frozenset(self.game.cards(answer))
            remaining_hands = [
                np.flatnonzero([not self.cards[p][k] & opened for k in own.tolist()]) for p, own in enumerate(hands)
            ]
            found = self._pair(hands, opened)
            if found is None:
                continue
            state = self._state(core, *found)
            if abs(dict(state.chance_outcomes((None, None))).get(answer, 0.0) - chance) > 1e-12:
                raise GameRuleError(
                    f"{self.game.name}: chance's answers must be equally likely with all hands, but not {answer!r} at "
                    f"{shorten(repr(state))}"
                )
            step = self._play(state, [None, None], answer)
            left = (hands[0][remaining_hands[0]], hands[1][remaining_hands[1]])
            if step.state.terminal:
                self.ends_by_chance[self.number[core]] += int(self.fits[np.ix_(*left)].sum())
                ended = self._end(core, left, [None, None], [NOTHING, NOTHING], answer, chance)
                edges = [e._replace(cell=own[e.cell]) for e, own in zip(ended.edges, remaining_hands, strict=True)]
                yield _Event(ended.reached, chance, tuple(edges))
                continue
            reached = self._core(self.game.split(step.state)[0], left)
            yield _Event(reached, chance, tuple([
                _Edges(own, np.arange(len(own)), NOTHING, self._record(None, step.observation(p)))
                for p, own in enumerate(remaining_hands)
            ]))  # fmt: skip

    def _end(
        self, core: Hashable, hands: Hands, actions: list[Action | None], places: list[int],
        answer: Action | None = None, chance: float = 1.0,
    ) -> _Event:  # fmt: skip
        """Return the event of a move or card that ends the game: hands lead to the lists that contain them.

        The probability of a card is a factor of the payoffs: walks over paths have no chance events before ends.
        """
        rows = [[self.hands[p][k] for k in own.tolist()] for p, own in enumerate(hands)]
        strength = [np.array([self.game.strength(core, own, answer) for own in some], dtype=np.int64) for some in rows]
        showdown = self._showdown(core, actions, answer, rows, strength)
        key = (*[own.tobytes() for own in hands], *[own.tobytes() for own in strength], showdown.kind)
        if key not in self.pieces:
            cards = [[self.game.cards(own) for own in some] for some in rows]
            self.pieces[key] = pieces(strength, cards, showdown.kind)
        found = self.pieces[key]
        count = len(found.sign)
        end = (key, showdown, chance)
        if end not in self.number:
            self.number[end] = len(self.cores)
            place = np.repeat(np.arange(count, dtype=np.int32)[:, None], PLAYERS, axis=1)
            self.cores.append(Ended((count + 1,) * PLAYERS, Terms(place, chance * showdown.paid(found))))
        return _Event(self.number[end], 1.0, tuple([
            _Edges(*self._lists(key, p), place, NO_RECORD) for p, place in enumerate(places)
        ]))  # fmt: skip

    def _lists(self, key: Hashable, player: int) -> tuple[LongArray, LongArray]:
        """Return a player's hands, each once per list that contains it, and the lists.

        Hands that are in no list lead to a cell without payoffs.
        """
        if (key, player) not in self.listed:
            found = self.pieces[key]
            lists = [some or [len(found.sign)] for some in found.lists[player]]
            cells = np.repeat(np.arange(len(lists)), list(map(len, lists)))
            self.listed[key, player] = cells, np.concatenate([np.array(some) for some in lists])
        return self.listed[key, player]

    def _showdown(
        self, core: Hashable, actions: list[Action | None], answer: Action | None, rows: list[list[Hashable]],
        strength: list[LongArray],
    ) -> Showdown:  # fmt: skip
        """Return the payoffs of one pair of each kind: the first hand stronger, both equal, the first one weaker."""
        one, two = (np.argsort(own, kind="stable") for own in strength)
        _, *equal = np.intersect1d(strength[0], strength[1], return_indices=True)
        pairs = [
            (one[-1], two[0]) if strength[0].max() > strength[1].min() else None,
            (equal[0][0], equal[1][0]) if len(equal[0]) else None,
            (one[0], two[-1]) if strength[0].min() < strength[1].max() else None,
        ]
        paid = [
            None if pair is None else
            tuple(map(float, self._play(self.game.join(core, (rows[0][pair[0]], rows[1][pair[1]])), actions, answer)
                      .state.returns()))
            for pair in pairs
        ]  # fmt: skip
        self.payoffs |= {some for some in paid if some is not None}
        return Showdown(*paid)
