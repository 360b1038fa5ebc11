"""Games of self-play that are searched move by move, on a lazy graph: what both kinds of search share.

Before the first epoch the values learn the mean payoffs of random playouts.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import FloatArray, LongArray
from infoset.clock import Clock
from infoset.errors import BudgetError
from infoset.interning import distinct
from infoset.learn.guided import Duel
from infoset.learn.lazy_states import Facts, LazyStates
from infoset.learn.learner import Games, LearningParameters, Samples
from infoset.learn.net import StateNet
from infoset.names import check_range
from infoset.search.histories import Belief
from infoset.tree.graph import CHANCE, TERMINAL
from infoset.tree.lazy_graph import NO_ACTION_SET, OUTSIDE

RANDOM_PLAYS = 16  # playouts from each state that the values learn before the first epoch
CUT_PLAYS = 16  # playouts from the position at which the clock cut a game
PLAYED = 0.9  # share of the remaining time for games; the rest is for these playouts


@dataclass(frozen=True)
class TreeTraining(LearningParameters):
    """The parameters of a training by search.

    >>> from infoset.learn.search_games import TreeTraining
    >>> TreeTraining(games=8, hidden=32).nodes
    100
    """

    games: int = 64
    nodes: int = 100
    """Leaves of a search for each player who moves."""
    worlds: int = 8
    """Worlds drawn from a player's belief at each move, where not everybody sees everything."""
    passes: int = 4
    """How often a state is learnt from, on average, in the epoch in which it was met."""
    first: int = 4096
    """States of random games from which the values learn before the first epoch."""
    duels: int = 8
    """Least number of duels against flat Monte Carlo in each epoch; they show the network's strength on the curve."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("nodes", "passes"):
            check_range(name, getattr(self, name), 1, 2**31)
        check_range("worlds", self.worlds, 1, 100_000)
        for name in ("first", "duels"):
            check_range(name, getattr(self, name), 0, 2**31)


class _Sample(NamedTuple):
    """A state of a game, and the policies of the searches of those who had a choice there."""

    game: int
    facts: Facts
    policy: npt.NDArray[np.float32]  # (M,)
    legal_actions: Facts  # (M / 8,) the moves of those who had a choice


class SearchGames(Games):
    """Games in which every move is searched."""

    net: StateNet
    training: TreeTraining

    def __init__(self, encoding: LazyStates, net: StateNet, training: TreeTraining) -> None:
        super().__init__(net, training)
        self.encoding = encoding
        self.duel = Duel(net, encoding.another(), training.nodes)

    def make_start_samples(self, rng: np.random.Generator) -> list[Samples]:
        """Return what the values learn before the first epoch; nothing in later ones."""
        return [self._random_states(rng)] if self.iteration == 0 and self.training.first else []

    def set_time_limit(self) -> None:
        """Set the time by which the games have to end: ``late``."""
        now = time.monotonic()
        self.late = now + PLAYED * (self.until - now)

    def play_duels(self, rng: np.random.Generator) -> Iterator[float]:
        """Yield the network's scores in duels until the clock runs out."""
        for k in range(-(-self.training.duels // self.training.shards)):
            if time.monotonic() < self.late:
                yield self.duel.play(k % self.encoding.players, int(rng.integers(2**31)))

    def _random_states(self, rng: np.random.Generator) -> Samples:
        """Return states of random games with the mean payoffs of random playouts from them."""
        training, encoding = self.training, self.encoding
        count = -(-training.first // training.shards)
        side, met = SideBySide(encoding, max(1, count // 16), rng), 0
        places: list[LongArray] = [side.position[:1]]
        try:
            while side.running.any() and met < count and time.monotonic() < self.until:
                places.append(side.position[side.running])
                met += len(places[-1])
                side.advance({}, rng)
        except BudgetError:
            pass
        positions, _ = distinct(np.concatenate(places))
        until = (time.monotonic() + self.until) / 2
        values = encoding.playouts(positions, RANDOM_PLAYS, int(rng.integers(2**31)), Clock(until))
        positions = positions[: len(values)]
        nothing = np.zeros((len(positions), encoding.num_actions), dtype=np.float32)
        return samples_of(encoding, encoding.facts(positions), values, nothing, nothing > 0)


class SideBySide:
    """Games in progress, all at the beginning of a step, and the samples from them."""

    def __init__(self, encoding: LazyStates, games: int, rng: np.random.Generator) -> None:
        self.encoding, self.graph = encoding, encoding.graph
        self.position = np.zeros(games, dtype=np.int64)
        self.payoff = np.full((games, encoding.players), np.nan)
        self.noted: list[_Sample] = []

    def place(self, game: int) -> Belief:
        """Return a game's present position as a belief of those who see everything."""
        return Belief(self.position[[game]], np.arange(self.encoding.players)[None], np.ones(1))

    @property
    def running(self) -> npt.NDArray[np.bool_]:
        """(games,) whether each game is still in progress."""
        return np.asarray(np.isnan(self.payoff[:, 0]) & (self.graph.arrays.player[self.position] != TERMINAL))

    def choices(self) -> list[tuple[int, int]]:
        """Return the pairs of a game and a player in it who has several legal moves now."""
        g, found = self.graph.arrays, []
        for game in np.flatnonzero(self.running).tolist():
            action_sets = g.action_sets[g.state[self.position[game]]]
            found += [
                (game, p)
                for p, action_set in enumerate(action_sets.tolist())
                if action_set != NO_ACTION_SET and g.choices[action_set] > 1
            ]
        return found

    def note(self, chosen: dict[tuple[int, int], FloatArray]) -> None:
        """Note the present states, with ``chosen`` as the move probabilities of those who have a choice."""
        games = list(dict.fromkeys(game for game, _ in chosen))
        facts = self.encoding.facts(self.position[games])
        for row, game in zip(facts, games, strict=True):
            policy, legal_actions = (
                np.zeros(self.encoding.num_actions, np.float32),
                np.zeros(self.encoding.num_actions, np.bool_),
            )
            for p in range(self.encoding.players):
                if (game, p) in chosen:
                    columns = self.encoding.columns(int(self.position[game]), p)
                    np.add.at(policy, columns, chosen[game, p])  # moves may share a column
                    legal_actions[columns] = True
            self.noted.append(_Sample(game, row, policy, np.packbits(legal_actions)))

    def advance(self, chosen: dict[tuple[int, int], FloatArray], rng: np.random.Generator) -> None:
        """Advance all running games to the beginning of their next step.

        Players move by the probabilities ``chosen``, others uniformly at random.
        """
        going = np.flatnonzero(self.running)
        while len(going):
            edges = np.array([self._edge(int(game), chosen, rng) for game in going], dtype=np.int64)
            self.graph.ask(edges)
            g = self.graph.arrays
            self.position[going] = g.child[edges]
            going = going[g.via[self.position[going]] != OUTSIDE]
        over = np.flatnonzero(np.isnan(self.payoff[:, 0]) & ~self.running)
        g = self.graph.arrays
        self.payoff[over] = g.payoffs[g.content[self.position[over]]]

    def _edge(self, game: int, chosen: dict[tuple[int, int], FloatArray], rng: np.random.Generator) -> int:
        g, p = self.graph.arrays, int(self.position[game])
        first, size, mover = int(g.first[p]), int(g.size[p]), int(g.player[p])
        if mover == CHANCE:
            probabilities = g.probability[first : first + size]
        elif (game, mover) in chosen:
            probabilities = chosen[game, mover]
        else:
            return first + int(rng.integers(size))
        running = np.cumsum(probabilities)
        return first + int(min(np.searchsorted(running, rng.random() * running[-1], side="right"), size - 1))

    def cut(self, rng: np.random.Generator, clock: Clock) -> None:
        """End the running games with the mean payoffs of random playouts, while the clock allows."""
        going = np.flatnonzero(self.running)
        found = self.encoding.playouts(self.position[going], CUT_PLAYS, int(rng.integers(2**31)), clock)
        self.payoff[going[: len(found)]] = found

    def samples(self) -> Samples:
        """Return the noted states of all games that ended."""
        complete = [each for each in self.noted if not np.isnan(self.payoff[each.game, 0])]
        encoding, width = self.encoding, -(-self.encoding.num_facts // 8)
        facts = np.array([each.facts for each in complete], dtype=np.uint8).reshape(-1, width)
        policy = np.array([each.policy for each in complete], dtype=np.float32).reshape(-1, encoding.num_actions)
        legal_actions = np.array([each.legal_actions for each in complete], dtype=np.uint8).reshape(
            -1, -(-encoding.num_actions // 8)
        )
        payoff = self.payoff[[each.game for each in complete]].reshape(-1, encoding.players)
        return samples_of(
            encoding, facts, payoff, policy, np.unpackbits(legal_actions, axis=1, count=encoding.num_actions) > 0
        )


def samples_of(
    encoding: LazyStates, facts: Facts, payoff: FloatArray, policy: npt.NDArray[np.float32],
    legal_actions: npt.NDArray[np.bool_],
) -> Samples:  # fmt: skip
    """Convert states, payoffs, policies and legal moves to samples for the buffer."""
    value = encoding.normalised(payoff).astype(np.float32)
    return {"facts": facts, "value": value, "policy": policy, "legal_actions": np.packbits(legal_actions, axis=1)}
