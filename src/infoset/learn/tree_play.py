"""Learn by self-play with search on a lazy graph, for games that are too large to enumerate.

Where everybody sees everything, games are searched as in AlphaZero (Silver et al. 2018): at every move by a tree search
that is guided by the network's policies and has the network's values at the leaves.  The policies learn the visit
frequencies of the moves, the values the outcomes of the games.  All other games are played by ``subgame_play``.
"""

from __future__ import annotations

import time
from itertools import chain

import numpy as np
import torch
from torch import Tensor, nn

from infoset.base import FloatArray
from infoset.clock import Clock
from infoset.errors import BudgetError, ClockError, ParameterError
from infoset.learn.guided import EXPLORATION
from infoset.learn.lazy_states import LazyStates
from infoset.learn.learner import Epoch, GamesLearner, Played, device, one_thread
from infoset.learn.net import StateNet
from infoset.learn.net_leaves import NetLeaves
from infoset.learn.replay_buffer import ReplayBuffer, bits, floats
from infoset.learn.search_games import SearchGames, SideBySide, TreeTraining
from infoset.learn.subgame_play import SubgameGames
from infoset.search.histories import joined
from infoset.search.tree_search import STATE, TreeSearch
from infoset.statistics import Share

NOISE, EVEN = 0.25, 0.5  # share of Dirichlet noise in the priors of a root, and its concentration
MOST_BYTES = 1 << 30  # of the buffer


class TreeGames(SearchGames):
    """Games in which everybody sees everything, played side by side by one tree search."""

    def play_shard(self, games: int, rng: np.random.Generator) -> Played:
        graph = self.encoding.renew()
        side = SideBySide(self.encoding, games, rng)
        samples = self.make_start_samples(rng)
        seed = int(rng.integers(2**31))
        leaves = NetLeaves(self.net, self.encoding, seed)
        search = TreeSearch(graph, leaves, STATE, 0, EXPLORATION, seed, guided=True)
        self.set_time_limit()
        try:
            with graph.growing(Clock(self.late)):
                while side.running.any() and time.monotonic() < self.late:
                    self._action(side, search, rng)
        except ClockError:
            side.cut(rng, Clock(self.until))
        except BudgetError:  # games for which the graph has no more room are dropped
            pass
        else:
            side.cut(rng, Clock(self.until))
        samples.append(side.samples())
        start, _ = leaves.says(np.zeros(1, dtype=np.int64))
        scores = tuple(self.play_duels(rng))
        return Played([each for each in samples if len(each["facts"])], tuple(start[0].tolist()), scores)

    def _action(self, side: SideBySide, search: TreeSearch, rng: np.random.Generator) -> None:
        """Search the moves of all games and advance each game by one step."""
        chosen: dict[tuple[int, int], FloatArray] = {}
        asked = side.choices()
        beliefs = [side.place(g) for g, _ in asked]
        if asked:
            movers = np.array([p for _, p in asked])
            union = joined(beliefs)
            search.guide(union, movers, self.late)
            keys = search.keys(union, movers).tolist()
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


class TreePlay(GamesLearner):
    """A training by search.  Needs the extra ``learn``.

    >>> from infoset.learn.lazy_states import read_lazy_states
    >>> from infoset.learn.search_games import TreeTraining
    >>> from infoset.learn.tree_play import TreePlay
    >>> small = TreeTraining(games=2, nodes=4, hidden=8, first=8)
    >>> work = TreePlay(read_lazy_states(infoset.load("gdl:tic_tac_toe")), small)
    >>> work.step().games
    2
    """

    net: StateNet
    training: TreeTraining

    def __init__(self, encoding: LazyStates, training: TreeTraining | None = None) -> None:
        training = training or TreeTraining()
        if encoding.graph.open and training.worlds != TreeTraining.worlds:
            raise ParameterError(f"worlds={training.worlds} is not used: everybody sees everything in {encoding.name}")
        torch.manual_seed(training.seed)
        actions = [len(actions) for actions in encoding.actions]
        net = StateNet(encoding.num_facts, actions, training.hidden, encoding.board).to(device())
        fields = {
            "facts": bits(encoding.num_facts), "value": floats(encoding.players),
            "policy": floats(encoding.num_actions), "legal_actions": bits(encoding.num_actions),
        }  # fmt: skip
        most = MOST_BYTES // sum(field.itemsize for field in fields.values())
        buffer = ReplayBuffer(min(training.buffer, most), **fields)
        games = TreeGames if encoding.graph.open else SubgameGames
        super().__init__(encoding, games(encoding, net, training), net, buffer)

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
