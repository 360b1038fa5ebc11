"""Policies without a table: uniform play, a user's function, an agent that reports its probabilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from infoset.base import Action, Agent, Game, InformationState, ProbabilisticAgent
from infoset.errors import UnsupportedGameError
from infoset.names import action_names, policy_key
from infoset.policies.tabular import answer_of

Question: TypeAlias = tuple[int, InformationState, tuple[Action, ...]]
"""A player, its information state, and the legal actions there."""
MAX_CACHED_PLAYS = 1 << 16  # the number of information states whose probabilities are cached


class FunctionPolicy:
    """A policy by a function from an information set's key and moves to probabilities; moves left out have 0."""

    def __init__(self, choose: Callable[[str, tuple[str, ...]], Mapping[str, float]], map_name: str = "") -> None:
        """Take a function; ``map_name`` is the name of the game's information map, whose labels are then its keys."""
        self.choose, self.map_name = choose, map_name

    def action_probabilities(
        self, player: int, infostate: InformationState, legal_actions: tuple[Action, ...]
    ) -> Sequence[float]:
        """Return the probabilities that the function gives."""
        words = action_names(legal_actions)
        found = answer_of(self.choose, policy_key(infostate, self.map_name), words)
        return [found.get(word, 0.0) for word in words]


class UniformPolicy(FunctionPolicy):
    """The uniform policy: all moves are equally likely."""

    def __init__(self) -> None:
        super().__init__(lambda _, actions: dict.fromkeys(actions, 1 / len(actions)))

    def action_probabilities(
        self, player: int, infostate: InformationState, legal_actions: tuple[Action, ...]
    ) -> Sequence[float]:
        """Return the same probability for each move."""
        return [1 / len(legal_actions)] * len(legal_actions)


class AskedPolicy:
    """A policy by an agent that reports its probabilities: for each information state it is begun anew.

    It is then shown the records one by one.  Raises ``UnsupportedGameError`` for an agent that does not report them.
    """

    def __init__(self, game: Game, agent: Agent) -> None:
        if not isinstance(agent, ProbabilisticAgent):
            name = getattr(agent, "name", type(agent).__name__)
            raise UnsupportedGameError(
                f"agent {name} does not report its action probabilities (a method report_probabilities(legal_actions))"
            )
        self.game, self.agent = game, agent
        self.rows: dict[Question, Sequence[float]] = {}

    def action_probabilities(
        self, player: int, infostate: InformationState, legal_actions: tuple[Action, ...]
    ) -> Sequence[float]:
        """Return the probabilities that the agent reports."""
        key = player, infostate, legal_actions
        if key not in self.rows:
            if len(self.rows) >= MAX_CACHED_PLAYS:
                self.rows.clear()
            self.rows[key] = self.ask(*key)
        return self.rows[key]

    def ask(self, player: int, infostate: InformationState, legal_actions: tuple[Action, ...]) -> Sequence[float]:
        """Begin the agent anew, show it the records, and return the probabilities that it reports."""
        self.agent.begin(self.game, player, np.random.default_rng(0), None)
        for own_action, observation in infostate:
            self.agent.observe(own_action, observation)
        return self.agent.report_probabilities(legal_actions)

    def prepare(self, questions: Sequence[Question]) -> None:
        """Prepare for questions that will all be asked, one by one."""
