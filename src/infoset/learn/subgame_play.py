"""Learn by self-play with ``kluss`` as the teacher, for games with hidden information that are too large to enumerate.

At every move the network values the leaves of a subgame, which is then solved.  What the solution says of positions in
the subgame is what the network learns: the values of the average strategies there, and these strategies.  A search thus
teaches many positions, also such as its game does not reach, and a game that the clock cuts loses nothing.
"""

from __future__ import annotations

import time

import numpy as np

from infoset.base import FloatArray, LongArray
from infoset.errors import CheckpointError
from infoset.learn.guided import GuidedKluss
from infoset.learn.lazy_states import LazyStates
from infoset.learn.learner import Played, Samples
from infoset.learn.net import StateNet
from infoset.learn.net_leaves import NetValueLeaves
from infoset.learn.search_games import SearchGames
from infoset.match.match import MAX_STEPS, Table
from infoset.search.growing_solver import GrowingSolver
from infoset.search.growing_subgame import NONE, evaluate_average
from infoset.search.histories import Belief
from infoset.search.kluss import Kluss
from infoset.tree.lazy_graph import OUTSIDE

MOST_TAUGHT = 200  # histories of a belief
TAUGHT = 64  # positions of each subgame from which the network learns
EXPLORING = 0.25  # share of uniform play in the teacher's moves
TINY = 1e-12  # smaller sums of weights are rounding errors and count as zero


class SubgameGames(SearchGames):
    """Games with hidden information, in which every player is a ``Teacher``."""

    def play_shard(self, games: int, rng: np.random.Generator) -> Played:
        training, encoding = self.training, self.encoding
        encoding.renew()
        samples = self.make_start_samples(rng)
        start = NetValueLeaves(self.net, encoding)(np.zeros(1, dtype=np.int64))[0]
        kluss = Kluss(nodes=training.nodes, worlds=training.worlds, seed=int(rng.integers(2**31)))
        teachers = [Teacher(kluss, self.net, encoding.another()) for _ in range(encoding.players)]
        table = Table.of(encoding.game, teachers, None, None, MAX_STEPS)
        self.set_time_limit()
        for _ in range(games):
            play = table.open(int(rng.integers(2**31)))
            state = play.begin()
            while not state.terminal and time.monotonic() < self.late:
                state = play.step(state)
            if play.faults:
                raise CheckpointError(f"a game of self-play failed: {play.faults[0].detail}")
        samples += [each for teacher in teachers for each in teacher.samples]
        return Played(samples, tuple(start[0].tolist()), tuple(self.play_duels(rng)))


class Teacher(GuidedKluss):
    """The agent of self-play: ``GuidedKluss``, which explores and notes what its searches find."""

    def __init__(self, budget: Kluss, net: StateNet, encoding: LazyStates) -> None:
        super().__init__(budget, net, encoding)
        self.samples: list[Samples] = []

    def prepare(self) -> None:
        super().prepare()
        self.ranges.most = MOST_TAUGHT

    def search(self, roots: Belief, size: int, until: float) -> FloatArray:
        row = super().search(roots, size, until)
        assert self.last is not None
        if len(nodes := self._draw_nodes(self.last.solver)):  # none where the clock left no time to expand any
            self.samples.append(self._read_solution(self.last.solver, nodes))
        uniform = self.offered / self.offered.sum()
        return np.asarray((1 - EXPLORING) * row + EXPLORING * uniform) if row.any() else row

    def _draw_nodes(self, solver: GrowingSolver) -> LongArray:
        """Draw expanded nodes at which a step begins, half by their probability and half uniformly."""
        t = solver.tree
        nodes = np.flatnonzero((t.position[: solver.nodes] != NONE) & (t.size[: solver.nodes] > 0))
        nodes = np.asarray(nodes[self.graph.arrays.via[t.position[nodes]] == OUTSIDE])
        if len(nodes) <= TAUGHT:
            return nodes
        evaluate_average(t, self.player)
        probability = t.weight[nodes] * t.reach[nodes]
        share = 0.5 * probability / max(float(probability.sum()), TINY) + 0.5 / len(nodes)
        rng = np.random.default_rng([self.seed, self.moved])
        drawn: LongArray = np.sort(rng.choice(nodes, TAUGHT, replace=False, p=share / share.sum()))
        return drawn

    def _read_solution(self, solver: GrowingSolver, nodes: LongArray) -> Samples:
        """Return what the average strategies of a subgame say of nodes."""
        t, encoding = solver.tree, self.encoding
        positions = t.position[nodes]
        value = np.zeros((len(nodes), encoding.players))
        for player in range(encoding.players):
            evaluate_average(t, player)
            value[:, player] = t.found[nodes]
        policy = np.zeros((len(nodes), encoding.num_actions), dtype=np.float32)
        legal_actions = np.zeros(policy.shape, dtype=np.bool_)
        via = self.graph.arrays.via
        for k, (begins, position) in enumerate(zip(nodes.tolist(), positions.tolist(), strict=True)):
            node, inside = begins, False
            while t.size[node] > 0 and t.infoset[node] >= 0 and not (inside and via[t.position[node]] == OUTSIDE):
                s, inside = int(t.infoset[node]), True
                average = t.average[t.begin[s] : t.begin[s + 1]]
                if len(average) > 1 and (total := float(average.sum())) > TINY:
                    columns = encoding.columns(position, int(t.owner[s]))
                    np.add.at(policy[k], columns, average / total)  # moves may share a column
                    legal_actions[k, columns] = True
                node = int(t.first[node])
        return {
            "facts": encoding.facts(positions), "value": encoding.normalised(value).astype(np.float32),
            "policy": policy, "legal_actions": np.packbits(legal_actions, axis=1),
        }  # fmt: skip
