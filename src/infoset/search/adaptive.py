"""``adaptive``: finds out, game by game, which of several declared opponents it meets, and then exploits that one.

It begins with an equilibrium.  Its observations are more or less likely against each declared opponent, and against one
that plays the equilibrium itself.  As soon as one declared opponent is nearly certain by Bayes' rule, it plays a best
response to it, for as long as that holds.  ``plan`` says what it plays and why.
"""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass, replace
from math import inf, log

import numpy as np

from infoset.base import Action, Agent, Game, Observation, own_record
from infoset.clock import Clock
from infoset.errors import BudgetError, ParameterError, UnsupportedGameError
from infoset.match.agents import Delegating, RandomAgent
from infoset.names import check_range
from infoset.policies.simple import AskedPolicy
from infoset.search.agent import Search, SearchAgent
from infoset.search.belief import BeliefTracker
from infoset.search.models import Model, by_edge, model_of
from infoset.tree.graph import NO_RECORD, explore
from infoset.warm_up import ready

SOUND = ""  # the name of the opponent that plays the equilibrium
IMPOSSIBLE = log(1e-9)  # a floor, so that an agent that errs now and then is not ruled out for good


@dataclass(frozen=True)
class Adaptive:
    """Any game: finds out which declared opponent it meets, and answers that one."""

    models: tuple[str, ...] = ("random",)
    """The opponents that may be met: ``random``, or agents that report their move probabilities."""
    confidence: float = 0.95
    """The probability from which an opponent is exploited."""
    seconds: float = 10.0
    """Time to prepare each best response, used where the match has no start clock."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.models or not all(isinstance(name, str) and name for name in self.models):
            raise ParameterError("adaptive: models is a list of agents: adaptive(models=[random,meier])")
        if not 0.5 < self.confidence < 1.0:
            raise ParameterError(f"adaptive: confidence={self.confidence}; allowed: more than 0.5, less than 1")
        check_range("seed", self.seed, 0, 2**31)

    def agent(self) -> AdaptiveAgent:
        """Return the agent."""
        return AdaptiveAgent(self)


class _Hypothesis:
    """An opponent that may be met: its evidence, the beliefs against it, and the agent that answers it."""

    def __init__(self, name: str, answer: Agent, ranges: BeliefTracker) -> None:
        self.name, self.answer, self.ranges = name, answer, ranges
        self.state, self.evidence = 0, 0.0


class AdaptiveAgent(Delegating):
    """An agent for games whose positions are known; its evidence carries over to all later games, in every seat."""

    def __init__(self, parameters: Adaptive | None = None) -> None:
        ready("search")
        self.parameters = parameters or Adaptive()
        self.name, self.plan = "adaptive", ""
        self.found: dict[str, list[_Hypothesis]] = {}
        self.inner: Agent = RandomAgent()

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        """Begin a game.

        Raises ``UnsupportedGameError`` where a model does not report its probabilities, or positions do not fit the
        clock.
        """
        if game.name not in self.found:
            try:
                self.found[game.name] = self._prepared(game, deadline)
            except BudgetError as error:
                raise UnsupportedGameError(f"{self.name}: {error}") from None
        self.player, self.hypotheses = player, self.found[game.name]
        graph = self.hypotheses[0].ranges.graph
        self.number = {record: k for k, record in enumerate(graph.records)}
        self.explained = True
        self.waits = graph.start_records[player] != NO_RECORD
        for k, hypothesis in enumerate(self.hypotheses):
            hypothesis.state = player
            until = _share(deadline, len(self.hypotheses) - k)
            hypothesis.answer.begin(game, player, np.random.default_rng(rng.integers(2**63)), until)
        self.inner = self._chosen().answer

    def posterior(self) -> dict[str, float]:
        """Return the probability of each declared opponent given all observations; the empty name is a sound player."""
        evidence = np.array([hypothesis.evidence for hypothesis in self.hypotheses])
        weight = np.exp(evidence - evidence.max())
        return dict(zip((h.name for h in self.hypotheses), (weight / weight.sum()).tolist(), strict=True))

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        record = own_record(own_action, observation)
        if self.waits:  # the initial observation is always the same
            self.waits = False
        elif record is not None:
            self._weigh(self.number.get(record, NO_RECORD))
        super().observe(own_action, observation)

    def _weigh(self, record: int) -> None:
        """Update everybody's evidence by a record; from the first record on that some hypothesis excludes, no more."""
        if not self.explained or record == NO_RECORD:
            self.explained = False
            return
        for hypothesis in self.hypotheses:
            chance = hypothesis.ranges.chance(self.player, hypothesis.state, record)
            hypothesis.evidence += max(log(chance) if chance > 0 else -inf, IMPOSSIBLE)
            hypothesis.state = hypothesis.ranges.successor(hypothesis.state, record)
            self.explained &= chance > 0

    def _chosen(self) -> _Hypothesis:
        posterior = self.posterior()
        sound, *declared = self.hypotheses
        likely = max(declared, key=lambda hypothesis: posterior[hypothesis.name])
        share = posterior[likely.name]
        if share < self.parameters.confidence:
            self.plan = f"sound: {likely.name} is {share:.0%} likely; asked are {self.parameters.confidence:.0%}"
            return sound
        self.plan = f"answering {likely.name}, which is {share:.1%} likely"
        return likely

    def _prepared(self, game: Game, deadline: float | None) -> list[_Hypothesis]:
        """Return the hypotheses, sound play first, with beliefs on a graph explored apart from the agents' own."""
        p = self.parameters
        limit = time.monotonic() + p.seconds if deadline is None else deadline
        clock = Clock(limit, lambda k: f"{game.name} has more than the {k:,} positions found before it begins")
        graph = explore(game, progress=clock)
        search = Search(seconds=p.seconds, seed=p.seed)
        sound, found = SearchAgent(search), []
        sound.begin(game, 0, np.random.default_rng(0), _share(deadline, 1 + len(p.models)))
        for name in (SOUND, *dict.fromkeys(p.models)):
            ranges = BeliefTracker(graph, seed=p.seed)
            model = model_of(game, name) if name else _playing(game, sound)
            ranges.actions = by_edge(model, graph, ranges.states)
            answer = SearchAgent(replace(search, exploit=name)) if name else sound
            found.append(_Hypothesis(name, answer, ranges))
        return found


def _playing(game: Game, sound: SearchAgent) -> Model:
    """Return sound play as a model: of a copy, since the agent itself is in the middle of a game.

    Raises ``UnsupportedGameError`` where it searches move by move.
    """
    probe = copy.copy(sound)
    probe.planned = {key: (copy.copy(agent), plan) for key, (agent, plan) in sound.planned.items()}
    probe.begin(game, 0, np.random.default_rng(0), None)
    if not hasattr(probe.inner, "report_probabilities"):
        raise UnsupportedGameError(f"{game.name} is searched move by move: {sound.plan}")
    return AskedPolicy(game, probe).action_probabilities


def _share(deadline: float | None, parts: int) -> float | None:
    """Return when the first of ``parts`` equal parts of the remaining time ends."""
    if deadline is None:
        return None
    now = time.monotonic()
    return now + max(deadline - now, 0.0) / parts
