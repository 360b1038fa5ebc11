"""Lower bounds on exploitability where nothing exact fits: a best response is learnt from plays, and then measured.

With the others fixed, the game is a decision tree over one player's information states.  Where all positions are known
and the others report their probabilities, ``sampled_response`` searches it in compiled code.  Where the positions do
not fit, the response to a policy is local: the best move by random playouts from the range that follows from the
policy.  Against an agent, another agent learns game by game.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from infoset import status
from infoset.base import Action, Agent, FloatArray, Game, InformationState, Observation, Policy
from infoset.compiled import Compiled
from infoset.errors import BudgetError
from infoset.match.agents import PolicyAgent, agent_name
from infoset.match.match import MAX_STEPS, Table
from infoset.match.series import game_seed
from infoset.policies.sampled_policy import QuotientPolicy
from infoset.policies.simple import AskedPolicy
from infoset.search.models import by_edge, by_number, by_policy
from infoset.search.monte_carlo import FlatMc, FlatMcAgent
from infoset.solvers.metrics import Evaluation
from infoset.solvers.sampling.sampled_response import SampledResponse

EXPLORATION = 1.0
LEAST_GAMES, MOST_GAMES = 20, 20_000  # games that are played to measure a response
LOCAL_NODES = 2_000  # leaves that a local best response evaluates at a move
LEARNING = 0.6  # share of the time for learning


class LearningAgent:
    """An agent that learns a best response while it plays, by tree search (UCB1) on its own information states.

    Once ``greedy``, it makes the most visited move.
    """

    name = "learnt"

    def __init__(self, low: float = math.inf, high: float = -math.inf) -> None:
        self.low, self.high, self.greedy = low, high, False
        self.tried: dict[InformationState, list[list[float]]] = {}

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        self.player, self.rng = player, rng
        self.infostate: InformationState = ()
        self.path: list[tuple[list[list[float]], int]] = []

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        if own_action is not None or observation is not None:
            self.infostate = (*self.infostate, (own_action, () if observation is None else observation))

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        if len(legal_actions) == 1:
            return legal_actions[0]
        counts, sums = self.tried.setdefault(self.infostate, [[0.0] * len(legal_actions), [0.0] * len(legal_actions)])
        if self.greedy:
            return legal_actions[max(range(len(legal_actions)), key=lambda k: (counts[k], sums[k]))]
        action = self._promising(counts, sums)
        self.path.append(([counts, sums], action))
        return legal_actions[action]

    def _promising(self, counts: Sequence[float], sums: Sequence[float]) -> int:
        """Return the move by UCB1; a move without visits comes first."""
        fresh = [k for k, count in enumerate(counts) if not count]
        if fresh:
            return fresh[int(self.rng.random() * len(fresh))]
        wide, log = EXPLORATION * (self.high - self.low if self.high > self.low else 1.0), math.log(sum(counts))
        return max(range(len(counts)), key=lambda k: sums[k] / counts[k] + wide * math.sqrt(log / counts[k]))

    def end(self, returns: tuple[float, ...]) -> None:
        payoff = returns[self.player]
        self.low, self.high = min(self.low, payoff), max(self.high, payoff)
        for (counts, sums), action in self.path:
            counts[action] += 1.0
            sums[action] += payoff


class LocalResponse(FlatMcAgent):
    """A local best response (Lisý & Bowling 2017): the move that is best by random playouts against a policy's range.

    Its belief is exact as far as the policy is concerned: histories weigh as the policy plays them.  Whatever it gains
    is a lower bound on what a best response gains.
    """

    name = "local response"

    def __init__(self, policy: Policy, nodes: int = LOCAL_NODES) -> None:
        super().__init__(FlatMc(nodes=nodes))
        self.policy = policy

    def prepare(self) -> None:
        self.ranges.actions = by_edge(by_policy(self.policy), self.graph, self.graph.states)


def lower_bound(
    compiled: Compiled, plays: Policy | Agent, seconds: float, seed: int, reason: str
) -> Evaluation:  # fmt: skip
    """Estimate each player's gain by a response learnt in its share of ``seconds``.

    The policy and the response are measured on the same seeds; the margin is that of the differences.
    """
    n = len(compiled.players)
    each, gains = seconds / n, list[tuple[float, float]]()
    values, best = np.zeros(n), np.zeros(n)
    for player in range(n):
        began = time.monotonic()
        with status.during(f"learning a best response of {compiled.players[player]}"):
            response = _learnt(compiled, plays, player, began + LEARNING * each, seed)
        with status.during(f"playing the response of {compiled.players[player]}"):
            own, against = _measured(compiled, plays, response, player, began + each, seed)
        difference = against - own[:, player]
        values += own.mean(axis=0) / n
        gains.append((float(difference.mean()), float(difference.var(ddof=1) / len(difference))))
        best[player] = gains[-1][0]
    best += values
    margin = 1.96 * math.sqrt(sum(variance for _, variance in gains))
    return replace(Evaluation.of(values, best), exact=False, margin=margin, reason=f"a lower bound: {reason}")


def seated(plays: Policy | Agent) -> Agent:
    """Return an agent that plays it; each seat needs one of its own."""
    return PolicyAgent(plays) if isinstance(plays, Policy) else copy.deepcopy(plays)


def _learnt(compiled: Compiled, plays: Policy | Agent, player: int, until: float, seed: int) -> Agent:
    """Return a learnt response of one player."""
    if isinstance(plays, Policy):
        try:
            return _sampled(compiled, plays, player, until, seed)
        except BudgetError:  # the positions do not fit
            if not isinstance(plays, AskedPolicy):  # an agent would search at every information state of its range
                return LocalResponse(plays)
    learner = LearningAgent()
    agents = [learner if seat == player else seated(plays) for seat in range(len(compiled.players))]
    number = 0
    while number < 2 or time.monotonic() < until:
        _play(compiled, agents, game_seed(seed, 2 * number))
        number += 1
    learner.greedy = True
    return learner


def _sampled(compiled: Compiled, policy: Policy, player: int, until: float, seed: int) -> Agent:
    graph, walk = compiled.graph, compiled.plain_walk

    job = SampledResponse(walk, player, by_number(by_policy(policy), graph), seed)
    while not job.iteration or time.monotonic() < until:
        job.step(1000, until if job.iteration else math.inf)
    return PolicyAgent(QuotientPolicy(graph, walk, job.policy()), "learnt")


def _measured(
    compiled: Compiled, plays: Policy | Agent, response: Agent, player: int, until: float, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Return (G, n) payoffs of the policy against itself and (G,) of the response in its place, on the same seeds."""
    n = len(compiled.players)
    own, agents = [seated(plays) for _ in range(n)], [seated(plays) for _ in range(n)]
    agents[player] = response
    as_it_is, against = list[tuple[float, ...]](), list[float]()
    while len(against) < LEAST_GAMES or (len(against) < MOST_GAMES and time.monotonic() < until):
        number = game_seed(seed, 2 * len(against) + 1)  # different from the seeds that it learnt from
        as_it_is.append(_play(compiled, own, number))
        against.append(_play(compiled, agents, number)[player])
    return np.array(as_it_is), np.array(against)


def _play(compiled: Compiled, agents: Sequence[Agent], seed: int) -> tuple[float, ...]:
    labels = tuple(map(agent_name, agents))
    return Table(compiled.game, compiled.name, tuple(agents), labels, None, None, MAX_STEPS).play(seed).returns
