"""Learn by self-play: Algorithm 1 of Partridge & Thielscher (2022), many games side by side.

At every state of a game each world is solved by itself to the depth that the effort allows, with the network's values
behind the horizon.  The network learns the solutions of the true states, as in the paper, and of all other worlds that
were solved.  A player moves by the mean of the solutions of the worlds that are consistent with its observations; these
are sampled with a bias towards the moves that the network would play.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from infoset.base import FloatArray, LongArray
from infoset.learn.encoding import Encoding
from infoset.learn.learner import Epoch, Games, GamesLearner, LearningParameters, Played, Samples, device, one_thread
from infoset.learn.net import StateNet, evaluate_states
from infoset.learn.replay_buffer import NUMBER, ROW, ReplayBuffer, floats
from infoset.learn.worlds import SolvedWorlds
from infoset.names import check_range
from infoset.search.belief import BeliefTracker
from infoset.search.histories import drawn
from infoset.tree.graph import CHANCE, NO_RECORD, TERMINAL

MINIBATCHES = 20  # after every move, as in the paper


@dataclass(frozen=True)
class Training(LearningParameters):
    """The parameters of a self-play training; the games of an epoch are played side by side.

    >>> from infoset.learn.self_play import Training
    >>> Training(games=8, hidden=32).worlds
    30
    """

    games: int = 128
    worlds: int = 30
    """Worlds drawn for each player at each move."""
    histories: int = 150_000
    """Total number of histories in the subgames of all worlds of a move."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("worlds", "histories"):
            check_range(name, getattr(self, name), 1, 2**31)


class _Game(NamedTuple):
    """A game in progress: the position at the beginning of a step, and everybody's information state."""

    position: int
    infostate: tuple[int, ...]


class WorldGames(Games):
    """Games in which every world is solved by itself."""

    net: StateNet
    training: Training

    def __init__(self, encoding: Encoding, net: StateNet, training: Training) -> None:
        super().__init__(net, training)
        self.encoding = encoding

    def prepare(self) -> None:
        self.values, policies = evaluate_states(self.net, self.encoding)
        self.probabilities = self.encoding.edge_probabilities(policies)

    def play_shard(self, games: int, rng: np.random.Generator) -> Played:
        self.ranges = BeliefTracker(
            self.encoding.graph, self._lean, seed=self.training.seed
        )  # new for each part, since it caches earlier queries
        self.rng = rng
        found: list[Samples] = []
        running = self._past_chance([_Game(0, tuple(range(len(self.encoding.actions))))] * games)
        while running:
            running = self._action(running, found)
        return Played(found, tuple(self.values[self.encoding.row[0]].tolist()))

    def _lean(self, edges: LongArray, infostate: LongArray) -> FloatArray:
        """Return the edges' probabilities in the paper's training sampler: proportional to f(s, a) + 1 / moves."""
        graph = self.encoding.graph
        return (self.probabilities[edges] + 1.0 / graph.num_edges[graph.source[edges]]) / 2

    def _action(self, running: list[_Game], samples: list[Samples]) -> list[_Game]:
        """Advance all games by one step, and add the values and policies of the solved states to ``samples``."""
        encoding, ranges, n = self.encoding, self.ranges, len(self.encoding.actions)
        graph = encoding.graph
        beliefs = {}
        for g, game in enumerate(running):
            for p in range(n):
                if graph.deciders[game.position, p]:
                    found = ranges.asked(p, game.infostate[p])
                    beliefs[g, p] = drawn(found, self.training.worlds, self.rng)
        true = np.array([game.position for game in running], dtype=np.int64)
        positions = np.unique(np.concatenate([true, *[found.position for found in beliefs.values()]]))
        solved = SolvedWorlds(
            encoding, positions, self._leaf_values, self.training.histories, self.training.iterations
        )  # fmt: skip
        policies = {policy(p): found for p, found in enumerate(solved.policies)}
        fields = {"value": encoding.normalised(solved.values), **policies}
        found_now = {name: array.astype(np.float32) for name, array in fields.items()}
        samples.append({ROW: encoding.row[positions], **found_now})
        probabilities = {
            (g, p): found.weight @ solved.policies[p][np.searchsorted(positions, found.position)]
            for (g, p), found in beliefs.items()
        }
        return self._past_chance([self._played(game, g, probabilities) for g, game in enumerate(running)])

    def _leaf_values(self, positions: LongArray) -> FloatArray:
        values: FloatArray = self.values[self.encoding.row[positions]]
        return values

    def _played(self, game: _Game, g: int, probabilities: dict[tuple[int, int], FloatArray]) -> _Game:
        """Play one step of a game; each player moves by its probabilities in ``action_probabilities``."""
        graph, position = self.encoding.graph, game.position
        while graph.player[position] != TERMINAL:
            first, last = int(graph.first_edge[position]), int(graph.first_edge[position + 1])
            mover = int(graph.player[position])
            if mover == CHANCE:
                weight = graph.probability[first:last]
            elif (g, mover) in probabilities:
                weight = probabilities[g, mover][self.encoding.column[first:last]]
            else:
                break
            edge = first + _chosen(weight, self.rng)
            position = int(graph.child[edge])
            if (graph.record[edge] != NO_RECORD).any():
                return _Game(position, self._next_infostates(game.infostate, edge))
        return _Game(position, game.infostate)

    def _past_chance(self, running: list[_Game]) -> list[_Game]:
        """Advance games to the next step in which somebody has a choice; drop those that are over."""
        graph, found = self.encoding.graph, []
        for running_game in running:
            game = running_game
            while graph.player[game.position] != TERMINAL and not graph.deciders[game.position].any():
                first, last = graph.first_edge[game.position], graph.first_edge[game.position + 1]
                edge = int(first) + _chosen(graph.probability[first:last], self.rng)
                game = _Game(int(graph.child[edge]), self._next_infostates(game.infostate, edge))
            if graph.player[game.position] != TERMINAL:
                found.append(game)
        return found

    def _next_infostates(self, infostate: tuple[int, ...], edge: int) -> tuple[int, ...]:
        """Return everybody's information state after an edge."""
        records = self.encoding.graph.record[edge].tolist()
        return tuple(
            [
                k if record == NO_RECORD else self.ranges.successor(k, record)
                for k, record in zip(infostate, records, strict=True)
            ]
        )


class SelfPlay(GamesLearner):
    """A training by the method of Partridge & Thielscher (2022).

    Needs the extra ``learn``.

    >>> from infoset.learn.self_play import SelfPlay, Training
    >>> from infoset.learn.train import encoding_of
    >>> work = SelfPlay(encoding_of(infoset.load("gdl:scissors_double")), Training(games=4, hidden=8, iterations=50))
    >>> work.step().games
    4
    """

    net: StateNet
    training: Training

    def __init__(self, encoding: Encoding, training: Training | None = None) -> None:
        training = training or Training()
        torch.manual_seed(training.seed)
        actions = [len(actions) for actions in encoding.actions]
        fields = {policy(player): floats(count) for player, count in enumerate(actions)}
        buffer = ReplayBuffer(training.buffer, row=NUMBER, value=floats(len(actions)), **fields)
        net = StateNet(encoding.num_facts, actions, training.hidden).to(device())
        super().__init__(encoding, WorldGames(encoding, net, training), net, buffer)

    @one_thread()
    def step(self) -> Epoch:
        began, losses = time.monotonic(), []
        played = self.played()
        for side_by_side in zip_longest(*[part.samples for part in played]):
            for samples in filter(None, side_by_side):
                self.buffer.add(**samples)
            losses += [self._learn() for _ in range(MINIBATCHES)]
        self.iteration += 1
        self.games += self.training.games
        value_loss, policy_loss = np.mean(losses or [(0.0, 0.0)], axis=0).tolist()
        return Epoch(
            self.iteration, time.monotonic() - began, self.games, self.buffer.added, value_loss,
            played[0].start, policy_loss,
        )  # fmt: skip

    def _learn(self) -> tuple[float, float]:
        """Learn from one mini-batch: return the squared error of the values and the cross-entropy of the policies."""
        at, buffer = device(), self.buffer
        places = buffer.draw(self.training.batch, self.rng)
        rows = buffer[ROW][places]
        values, logits = self.net(torch.from_numpy(self.encoding.facts[rows]).to(at, torch.float32))
        value_loss = nn.functional.mse_loss(torch.sigmoid(values), torch.from_numpy(buffer["value"][places]).to(at))
        policy_loss = torch.zeros((), device=at)
        for player, each in enumerate(logits):
            legal_actions = torch.from_numpy(self.encoding.legal_actions[player][rows]).to(at)
            log = torch.log_softmax(each.masked_fill(~legal_actions, -1e9), dim=1)
            policy_loss = policy_loss - (torch.from_numpy(buffer[policy(player)][places]).to(at) * log).sum(1).mean()
        self.descend(value_loss + policy_loss / len(logits), places)
        return value_loss.item(), policy_loss.item()


def policy(player: int) -> str:
    """Return the name of the buffer's field with a player's policies."""
    return f"policy{player}"


def _chosen(weight: FloatArray, rng: np.random.Generator) -> int:
    """Draw an index in proportion to ``weight``."""
    total = np.cumsum(weight)
    return int(min(np.searchsorted(total, rng.random() * total[-1], side="right"), len(weight) - 1))
