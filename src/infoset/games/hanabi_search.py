"""Search for Hanabi on top of hat guessing: SPARTA's single-agent search (Lerer et al. 2020, section 4.1).

All other players play by the convention of ``hat-guessing`` alone, which is known, so that what they did tells which
own hands the agent may have.  At each of its turns the agent draws such hands, with all other cards in a random order,
and plays each legal move to the end of the game, the convention being followed by everybody afterwards.  It makes the
move with the best mean score where that is better than the convention's by a standard error.  Since it takes the same
cards for all moves, their differences are known better than their values; moves that are clearly worse are dropped
early.  Of more than two players, the others take what they see off a hint, so that a hint that means something else
would mislead them all: there the only hint that it considers is the convention's.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from infoset.base import Action, Game, LongArray, ObservationRecord
from infoset.errors import ParameterError
from infoset.games.hanabi import NOBODY
from infoset.games.hanabi_tables import DRAWN, MOVER, TURNS, Tables, is_over, make_tables, score
from infoset.games.hat_guessing import (
    PAIR,
    Follower,
    Shared,
    choose,
    choose_action,
    make_move,
    take_turn,
)
from infoset.jit import borrowing, kernel, linked_kernel, lowest_one
from infoset.names import check_range
from infoset.randomness import Words, below, streams

ROUND = 25  # worlds of the first round; each later round has as many as were drawn before
MOST_IN_ROUND = 100  # between two looks at the clock
FIRST_TURNS = 32  # of other players, before room is made for more
SECONDS_TO_SPARE = 0.05
TRIES = 20_000  # hands drawn for a round before the search gives up
MARGIN = 2.0  # standard errors of a difference in means, beyond which a move is dropped
CONVINCED = 1.0  # standard errors by which a move has to be better than the convention's
SCALE_OF_CHANCE = 1 << 31


class Past(NamedTuple):
    """The ``m`` turns of the other players at which the agent held cards that it still holds."""

    tables: Tables  # m games, with any own hand
    known: LongArray  # (m, n, h) what all players knew
    places: LongArray  # (m, h) the slot in which the agent now has the card of each slot, or below 0: -1 - its type
    actions: LongArray  # (m,) what the other player did


class World(NamedTuple):
    """Arrays to work in: one game, what is known in it, and the cards that the agent does not see."""

    tables: Tables
    shared: Shared
    hand: LongArray  # (h,) types of the own cards
    left: LongArray  # (T,) copies that the agent does not see
    deck: LongArray  # (cards,) what is left of them without the own hand, in the order in which they are drawn


@linked_kernel
@borrowing
def copy_game(source: Tables, g: int, target: Tables) -> None:
    """Copy a game, but not its deck, to the first table of ``target``."""
    for p in range(source.hand.shape[1]):
        target.size[0, p] = source.size[g, p]
        for s in range(source.hand.shape[2]):
            target.hand[0, p, s] = source.hand[g, p, s]
    for color in range(source.fireworks.shape[1]):
        target.fireworks[0, color] = source.fireworks[g, color]
    for card in range(len(source.copies)):
        target.removed[0, card] = source.removed[g, card]
    for k in range(source.counts.shape[1]):
        target.counts[0, k] = source.counts[g, k]


@linked_kernel
@borrowing
def copy_known(source: LongArray, target: LongArray) -> None:
    """Copy what is known of all cards."""
    for p in range(source.shape[0]):
        for s in range(source.shape[1]):
            target[p, s] = source[p, s]


@linked_kernel
@borrowing
def count_copies(world: World, types: int) -> int:
    """Return how many cards of some types are in a place that the agent does not see."""
    count = 0
    while types:
        count += world.left[lowest_one(types)]
        types &= types - 1
    return count


@linked_kernel
@borrowing
def draw_hand(t: Tables, shared: Shared, player: int, world: World, stream: Words) -> bool:
    """Draw a hand of cards that the player does not see, of the types known of each; return whether to accept it.

    Each slot is filled from the copies left for it.  A hand is accepted in proportion to how many copies there were,
    so that accepted ones have the probabilities of a shuffled deck.
    """
    ratio = 1.0
    for k in range(len(t.copies)):
        world.left[k] = t.copies[k] - t.removed[0, k]
    for p in range(t.hand.shape[1]):
        for s in range(t.size[0, p] if p != player else 0):
            world.left[t.hand[0, p, s]] -= 1
    for s in range(t.size[0, player]):
        world.hand[s] = count_copies(world, shared.known[player, s])
    for s in range(t.size[0, player]):
        types = shared.known[player, s]
        count = count_copies(world, types)
        if count <= 0:
            return False
        ratio *= count / world.hand[s]
        k, place = lowest_one(types), below(stream, count)
        while place >= world.left[k]:
            place -= world.left[k]
            types &= types - 1
            k = lowest_one(types)
        world.hand[s] = k
        world.left[k] -= 1
    return bool(below(stream, SCALE_OF_CHANCE) < ratio * SCALE_OF_CHANCE)


@linked_kernel
@borrowing
def explains(past: Past, turns: int, player: int, world: World, doubt: float, stream: Words) -> bool:
    """Return whether to accept the hand drawn, by what others would have done at each turn, the last turns first.

    Where another player would have done something else, it is accepted with probability ``doubt``.
    """
    for m in range(turns - 1, -1, -1):
        for s in range(past.tables.size[m, player]):
            place = past.places[m, s]
            past.tables.hand[m, player, s] = world.hand[place] if place >= 0 else -1 - place
        copy_known(past.known[m], world.shared.known)
        if choose(past.tables, m, world.shared) != past.actions[m] and (
            doubt <= 0.0 or below(stream, SCALE_OF_CHANCE) >= doubt * SCALE_OF_CHANCE
        ):
            return False
    return True


@linked_kernel
@borrowing
def shuffle_rest(t: Tables, world: World, stream: Words) -> None:
    """Shuffle the cards that are in no hand into the rest of the world's deck."""
    end = t.deck.shape[1]
    k = first = t.counts[0, DRAWN]
    for card in range(len(t.copies)):
        for _ in range(world.left[card]):
            world.deck[k] = card
            k += 1
    for k in range(end - 1, first, -1):
        j = first + below(stream, k + 1 - first)
        world.deck[k], world.deck[j] = world.deck[j], world.deck[k]


@linked_kernel
@borrowing
def play_on(t: Tables, shared: Shared, player: int, action: int, world: World) -> int:
    """Return the score where the player makes a move and everybody then follows the convention."""
    game = world.tables
    copy_game(t, 0, game)
    for s in range(t.size[0, player]):
        game.hand[0, player, s] = world.hand[s]
    for k in range(t.counts[0, DRAWN], t.deck.shape[1]):
        game.deck[0, k] = world.deck[k]
    copy_known(shared.known, world.shared.known)
    make_move(game, world.shared, action)
    while not is_over(game, 0):
        take_turn(game, world.shared)
    return score(game, 0)


@kernel
@borrowing
def compare_moves(
    t: Tables, shared: Shared, past: Past, turns: int, world: World, actions: LongArray, scores: LongArray,
    tries: int, doubt: float, stream: Words,
) -> int:  # fmt: skip
    """Write the scores (actions, worlds) of the mover's moves; return how many worlds were found within the tries."""
    player, found = t.counts[0, MOVER], 0
    for _ in range(tries):
        if found == scores.shape[1]:
            break
        if draw_hand(t, shared, player, world, stream) and explains(past, turns, player, world, doubt, stream):
            shuffle_rest(t, world, stream)
            for k in range(len(actions)):
                scores[k, found] = play_on(t, shared, player, actions[k], world)
            found += 1
    return found


@cache
def compile_search() -> None:
    """Compile, or read from the cache, what a search calls, so that no move's clock runs meanwhile."""
    t = make_tables(1, 2, 1, 2, 1, 1, 1)
    shared = Shared.of(t)
    scores, none = np.zeros((1, 1), np.int64), np.zeros(1, np.int64)
    compare_moves(t, shared, make_past(t, 1), 0, make_world(t), none, scores, 0, 0.0, streams(0, 1))


def make_past(t: Tables, turns: int) -> Past:
    """Return room for turns of a game like that of ``t``."""
    _, players, hand = t.hand.shape
    ranks, _, info, lives = t.limits.tolist()
    tables = make_tables(turns, players, t.fireworks.shape[1], ranks, hand, info, lives)
    known, places = np.zeros((turns, players, hand), np.int64), np.zeros((turns, hand), np.int64)
    return Past(tables, known, places, np.zeros(turns, np.int64))


def make_world(t: Tables) -> World:
    """Return arrays to work in for a game like that of ``t``."""
    left, deck = np.zeros(len(t.copies), np.int64), np.zeros(t.deck.shape[1], np.int64)
    return World(make_past(t, 1).tables, Shared.of(t), np.zeros(t.hand.shape[2], np.int64), left, deck)


@dataclass(frozen=True)
class Sparta:
    """Hanabi with agents of the kind ``hat-guessing`` in all other seats: search over their convention (SPARTA)."""

    worlds: int = 200
    """The number of worlds (own hand and deck) in which each move is tried, unless the clock ends the search."""
    doubt: float = 0.0
    """The weight of an own hand for each turn that it does not explain, as where the others search as well."""
    seed: int = 0

    made_for: ClassVar[str] = "hanabi"

    def __post_init__(self) -> None:
        check_range("worlds", self.worlds, 2, 100_000)
        if not 0.0 <= self.doubt < 1.0:
            raise ParameterError(f"doubt={self.doubt}; allowed: from 0 to less than 1")
        check_range("seed", self.seed, 0, 2**31)

    def agent(self) -> SpartaAgent:
        """Return the agent."""
        return SpartaAgent(self)


class SpartaAgent(Follower):
    """The agent ``sparta``."""

    name = "sparta"

    def __init__(self, setting: Sparta) -> None:
        super().__init__()
        compile_search()
        self.search = setting

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        """Begin a game.  Raises ``UnsupportedGameError`` for a game that is not Hanabi."""
        super().begin(game, player, rng, deadline)
        self.stream = streams(int(rng.integers(2**62)) + self.search.seed, 1)
        self.past, self.turns = make_past(self.tables, FIRST_TURNS), 0
        self.world = make_world(self.tables)
        self.tables.counts[0, TURNS] = self.setting.players
        self.searched = self.changed = 0

    def _hear(self, record: ObservationRecord) -> None:
        """Remember what others do before it is followed, and where the own cards go."""
        if self.view.drawer(self.setting) != NOBODY:
            super()._hear(record)
            return
        mover, known = self.view.mover, self.shared.known.copy()
        if mover != self.player:
            self._remember(known)
        self.tables.counts[0, TURNS] -= not self.view.deck
        super()._hear(record)
        turn = self.view.last
        assert turn is not None
        number = self.numbers[turn.action]
        if mover != self.player:
            self.past.actions[self.turns - 1] = number
        elif not isinstance(turn.shown, tuple):
            self._lose(number % self.setting.hand, self.type_of[turn.shown])

    def _remember(self, known: LongArray) -> None:
        """Add the present turn of another player to the past."""
        if self.turns == len(self.past.actions):
            old, self.past = self.past, make_past(self.tables, 2 * self.turns)
            for target, source in zip(_arrays(self.past), _arrays(old), strict=True):
                target[: self.turns] = source
        k = self.turns
        arrays: list[tuple[Any, Any]] = list(zip(self.past.tables[:6], self.tables[:6], strict=True))
        for target, source in arrays:
            target[k] = source[0]
        self.past.known[k], self.past.places[k] = known, np.arange(self.setting.hand)
        self.turns += 1

    def _lose(self, slot: int, card: int) -> None:
        """Let the past follow the own cards after one of them left the hand; turns that tell no more are dropped."""
        places = self.past.places[: self.turns]
        places[places == slot] = -1 - card
        places[places > slot] -= 1
        sizes = self.past.tables.size[: self.turns, self.player]
        there = (places >= 0) & (np.arange(self.setting.hand) < sizes[:, None])
        left = np.flatnonzero(there.any(axis=1))
        for array in _arrays(self.past):
            array[: len(left)] = array[left]
        self.turns = len(left)

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        convention = int(choose_action(self.tables, self.shared))
        moves = [self.numbers[str(action)] for action in legal_actions]
        if self.setting.players != PAIR:
            moves = [move for move in moves if move < 2 * self.setting.hand or move == convention]
        best = self._search(np.array(moves), moves.index(convention), deadline)
        self.searched += 1
        self.changed += moves[best] != convention
        return self.names[moves[best]]

    def _search(self, moves: LongArray, convention: int, deadline: float | None) -> int:
        """Return the place in ``moves`` of the move that is best on average, if it beats that of the convention."""
        alive, scores, pace = np.arange(len(moves)), np.zeros((len(moves), 0)), 0.0
        while scores.shape[1] < self.search.worlds and len(alive) > 1:
            size = min(max(ROUND, scores.shape[1]), MOST_IN_ROUND, self.search.worlds - scores.shape[1])
            began = time.monotonic()
            if deadline is not None and began + 2.0 * pace * len(alive) * size > deadline - SECONDS_TO_SPARE:
                break
            found = np.zeros((len(alive), size), np.int64)
            count = compare_moves(
                self.tables, self.shared, self.past, self.turns, self.world, moves[alive], found, TRIES,
                float(self.search.doubt), self.stream,
            )  # fmt: skip
            pace = (time.monotonic() - began) / found.size
            scores = np.hstack([scores, found[:, :count]])
            if count < size:
                break
            differences = scores - scores[scores.mean(axis=1).argmax()]
            errors = differences.std(axis=1) / np.sqrt(scores.shape[1])
            left = (differences.mean(axis=1) >= -MARGIN * errors) | (alive == convention)
            alive, scores = alive[left], scores[left]
        if scores.shape[1] < min(ROUND, self.search.worlds):
            return convention  # too few to judge by
        best = int(scores.mean(axis=1).argmax())
        gain = scores[best] - scores[alive.tolist().index(convention)]
        convinced = gain.mean() > CONVINCED * gain.std() / np.sqrt(len(gain))
        return int(alive[best]) if convinced else convention


def _arrays(past: Past) -> list[np.ndarray[Any, Any]]:
    """Return the arrays that have a row for each turn."""
    return [*past.tables[:6], past.known, past.places, past.actions]
