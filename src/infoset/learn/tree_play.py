"""Learn by self-play with tree search on a lazy graph, for games that are too large to enumerate.

As in AlphaZero (Silver et al. 2018), with a tree for each player over its information states: at every move a tree
search starts from the worlds in the mover's belief, guided by the network's policies and with the network's values at
the leaves.  The policies learn the visit frequencies of the moves, the values the outcomes of the games.  Before the
first epoch the values learn the mean payoffs of random playouts.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from infoset.base import FloatArray, LongArray
from infoset.clock import Clock
from infoset.errors import BudgetError, ClockError
from infoset.interning import distinct
from infoset.learn.guided import EXPLORATION, Duel
from infoset.learn.learner import Epoch, Games, GamesLearner, LearningParameters, Played, Samples, device, one_thread
from infoset.learn.net import StateNet
from infoset.learn.net_leaves import NetLeaves
from infoset.learn.propositions import Facts, Propositions
from infoset.learn.replay_buffer import ReplayBuffer, bits, floats
from infoset.names import check_range
from infoset.search.belief import Belief, BeliefTracker
from infoset.search.tree_search import OWN, STATE, TreeSearch
from infoset.statistics import Share
from infoset.tree.graph import CHANCE, TERMINAL
from infoset.tree.lazy_graph import NO_ACTION_SET, OUTSIDE

NOISE, EVEN = 0.25, 0.5  # share of Dirichlet noise in the priors of a root, and its concentration
MOST_BYTES = 1 << 30  # of the buffer
RANDOM_PLAYS = 16  # playouts from each state that the values learn before the first epoch
CUT_PLAYS = 16  # playouts from the position at which the clock cut a game
PLAYED = 0.9  # share of the remaining time for games; the rest is for these playouts


@dataclass(frozen=True)
class TreeTraining(LearningParameters):
    """The parameters of a tree-search training; the games of a part are played side by side.

    >>> from infoset.learn.tree_play import TreeTraining
    >>> TreeTraining(games=8, hidden=32).nodes
    100
    """

    games: int = 64
    nodes: int = 100
    """Leaves of a search for each player who moves."""
    worlds: int = 200
    """Largest number of worlds in a player's belief; of more, that many are drawn."""
    passes: int = 4
    """How often a state is learnt from, on average, in the epoch in which it was met."""
    first: int = 4096
    """States of random games from which the values learn before the first epoch."""
    duels: int = 8
    """Least number of duels against flat Monte Carlo in each epoch; they show the network's strength on the curve."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("nodes", "worlds", "passes"):
            check_range(name, getattr(self, name), 1, 2**31)
        for name in ("first", "duels"):
            check_range(name, getattr(self, name), 0, 2**31)


class _Sample(NamedTuple):
    """A state of a game, and the policies of the searches of those who had a choice there."""

    game: int
    facts: Facts
    policy: npt.NDArray[np.float32]  # (M,)
    legal_actions: Facts  # (M / 8,) the moves of those who had a choice


class TreeGames(Games):
    """Games in which every move is searched."""

    net: StateNet
    training: TreeTraining

    def __init__(self, encoding: Propositions, net: StateNet, training: TreeTraining) -> None:
        super().__init__(net, training)
        self.encoding = encoding
        self.duel = Duel(net, Propositions(encoding.game, encoding.memory), training.nodes)

    def play_shard(self, games: int, rng: np.random.Generator) -> Played:
        graph = self.encoding.renew()
        side = _SideBySide(self.encoding, games, rng)
        samples = [self._random_states(rng)] if self.iteration == 0 and self.training.first else []
        seed = int(rng.integers(2**31))
        by = STATE if graph.open else OWN
        leaves = NetLeaves(self.net, self.encoding, seed)
        search = TreeSearch(graph, leaves, by, 0, EXPLORATION, seed, guided=True)
        ranges = BeliefTracker(graph, seed=seed, most=self.training.worlds)
        now = time.monotonic()
        self.late = now + PLAYED * (self.until - now)
        try:
            with graph.growing(Clock(self.late)):
                while side.running.any() and time.monotonic() < self.late:
                    self._action(side, search, ranges, rng)
        except ClockError:
            side.cut(rng, Clock(self.until))
        except BudgetError:  # games for which the graph has no more room are dropped
            pass
        else:
            side.cut(rng, Clock(self.until))
        samples.append(side.samples())
        start, _ = leaves.says(np.zeros(1, dtype=np.int64))
        scores = tuple(self._scores(rng))
        return Played([each for each in samples if len(each["facts"])], tuple(start[0].tolist()), scores)

    def _scores(self, rng: np.random.Generator) -> Iterator[float]:
        """Yield the network's scores in duels until the clock runs out."""
        for k in range(-(-self.training.duels // self.training.shards)):
            if time.monotonic() < self.late:
                yield self.duel.play(k % self.encoding.players, int(rng.integers(2**31)))

    def _random_states(self, rng: np.random.Generator) -> Samples:
        """Return states of random games with the mean payoffs of random playouts from them."""
        training, encoding = self.training, self.encoding
        count = -(-training.first // training.shards)
        side, met = _SideBySide(encoding, max(1, count // 16), rng), 0
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

    def _action(self, side: _SideBySide, search: TreeSearch, ranges: BeliefTracker, rng: np.random.Generator) -> None:
        """Search the moves of all games and advance each game by one step."""
        chosen: dict[tuple[int, int], FloatArray] = {}
        asked = side.choices()
        beliefs = [self._belief(side, g, p, ranges) for g, p in asked]
        if asked:
            movers = np.repeat([p for _, p in asked], [found.size for found in beliefs])
            union = Belief(*[np.concatenate(shards) for shards in zip(*beliefs, strict=True)])
            search.guide(union, movers, self.late)
            first = np.cumsum([0, *[found.size for found in beliefs[:-1]]])
            keys = search.keys(union, movers)[first].tolist()
            sizes = [len(self.encoding.columns(int(side.position[g]), p)) for g, p in asked]
            for key, size in dict(zip(keys, sizes, strict=True)).items():
                search.mix(key, rng.dirichlet(np.full(size, EVEN)), NOISE)
            search.run(union, self.training.nodes * len(asked), self.late)
            for each, key, size in zip(asked, keys, sizes, strict=True):
                visits, _ = search.seen(key, size)
                total = float(visits.sum())
                chosen[each] = visits / total if total else np.full(size, 1 / size)
        side.note(chosen)
        side.advance(chosen, rng)

    def _belief(self, side: _SideBySide, game: int, player: int, ranges: BeliefTracker) -> Belief:
        """Return a player's belief: the worlds consistent with its observations."""
        if side.graph.open:
            return side.place(game)
        found = ranges.asked(player, int(side.infostate[game, player]))
        return found if found.size else side.place(game)  # the belief is lost: fall back on the true position


class _SideBySide:
    """Games in progress, all at the beginning of a step, and the samples from them."""

    def __init__(self, encoding: Propositions, games: int, rng: np.random.Generator) -> None:
        self.encoding, self.graph = encoding, encoding.graph
        self.position = np.zeros(games, dtype=np.int64)
        self.infostate = np.tile(np.arange(encoding.players, dtype=np.int64), (games, 1))
        self.payoff = np.full((games, encoding.players), np.nan)
        self.noted: list[_Sample] = []

    def place(self, game: int) -> Belief:
        """Return a game's present position as a belief."""
        return Belief(self.position[[game]], self.infostate[[game]], np.ones(1))

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
                    policy[columns], legal_actions[columns] = chosen[game, p], True
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
            self.infostate[going] = self.graph.states.successors(self.infostate[going], g.record[edges])
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
    encoding: Propositions, facts: Facts, payoff: FloatArray, policy: npt.NDArray[np.float32],
    legal_actions: npt.NDArray[np.bool_],
) -> Samples:  # fmt: skip
    """Convert states, payoffs, policies and legal moves to samples for the buffer."""
    value = encoding.normalised(payoff).astype(np.float32)
    return {"facts": facts, "value": value, "policy": policy, "legal_actions": np.packbits(legal_actions, axis=1)}


class TreePlay(GamesLearner):
    """A tree-search training.  Needs the extra ``learn``.

    >>> from infoset.learn.propositions import Propositions
    >>> from infoset.learn.tree_play import TreePlay, TreeTraining
    >>> small = TreeTraining(games=2, nodes=4, hidden=8, first=8)
    >>> work = TreePlay(Propositions(infoset.load("gdl:tic_tac_toe")), small)
    >>> work.step().games
    2
    """

    net: StateNet
    training: TreeTraining

    def __init__(self, encoding: Propositions, training: TreeTraining | None = None) -> None:
        training = training or TreeTraining()
        torch.manual_seed(training.seed)
        actions = [len(actions) for actions in encoding.actions]
        net = StateNet(encoding.num_facts, actions, training.hidden, encoding.board).to(device())
        fields = {
            "facts": bits(encoding.num_facts), "value": floats(encoding.players),
            "policy": floats(encoding.num_actions), "legal_actions": bits(encoding.num_actions),
        }  # fmt: skip
        most = MOST_BYTES // sum(field.itemsize for field in fields.values())
        buffer = ReplayBuffer(min(training.buffer, most), **fields)
        super().__init__(encoding, TreeGames(encoding, net, training), net, buffer)

    @one_thread()
    def step(self) -> Epoch:
        began, training = time.monotonic(), self.training
        played, before = self.played(), self.buffer.added
        for samples in chain.from_iterable(part.samples for part in played):
            self.buffer.add(**samples)
        batches = -(-(self.buffer.added - before) * training.passes // training.batch)
        losses: list[tuple[float, float]] = []
        while self.buffer.added and len(losses) < max(batches, 1) and (not losses or time.monotonic() < self.until):
            losses.append(self._learn())
        self.iteration += 1
        self.games += training.games
        value_loss, policy_loss = np.mean(losses or [(0.0, 0.0)], axis=0).tolist()
        scores = [score for part in played for score in part.scores]
        return Epoch(
            self.iteration, time.monotonic() - began, self.games, self.buffer.added, value_loss, played[0].start,
            policy_loss, Share.of(scores).value if scores else None, len(scores),
        )  # fmt: skip

    def _learn(self) -> tuple[float, float]:
        """Learn from one mini-batch: return the squared error of the values and the cross-entropy of the policies."""
        at, buffer, encoding = device(), self.buffer, self.encoding
        places = buffer.draw(self.training.batch, self.rng)
        values, logits = self.net(torch.from_numpy(encoding.bits(buffer["facts"][places])).to(at, torch.float32))
        value_loss = nn.functional.mse_loss(torch.sigmoid(values), torch.from_numpy(buffer["value"][places]).to(at))
        legal_actions = np.unpackbits(buffer["legal_actions"][places], axis=1, count=encoding.num_actions)
        policy_loss = _policy_loss(
            logits, torch.from_numpy(buffer["policy"][places]).to(at), torch.from_numpy(legal_actions).to(at) > 0
        )
        self.descend(value_loss + policy_loss, places)
        return value_loss.item(), policy_loss.item()


def _policy_loss(logits: list[Tensor], policy: Tensor, legal_actions: Tensor) -> Tensor:
    """Return the mean cross-entropy of the policies of those players who had a choice."""
    sizes = [each.shape[1] for each in logits]
    lost = torch.zeros((), device=policy.device)
    for each, mine, may in zip(
        logits, torch.split(policy, sizes, 1), torch.split(legal_actions, sizes, 1), strict=True
    ):
        lost = lost - (mine * torch.log_softmax(each.masked_fill(~may, -1e9), dim=1)).sum()
    return lost / legal_actions.any(1).sum().clamp(min=1)
