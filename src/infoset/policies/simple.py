"""Policies that need no table: every move alike, a function of yours, an agent that is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from infoset.base import Action, Agent, Game, InformationState, Telling
from infoset.errors import UnsupportedGameError
from infoset.names import information_key, move_words

KEPT = 1 << 16  # information states whose chances are kept


class UniformPolicy:
    """Every move as likely as any other."""

    def row(self, player: int, known: InformationState, legal: tuple[Action, ...]) -> Sequence[float]:
        """The same chance for each."""
        return [1 / len(legal)] * len(legal)


class FunctionPolicy:
    """A function of an information set's key and moves, which answers with chances of moves; 0 where left out."""

    def __init__(self, choose: Callable[[str, tuple[str, ...]], Mapping[str, float]]) -> None:
        self.choose = choose

    def row(self, player: int, known: InformationState, legal: tuple[Action, ...]) -> Sequence[float]:
        """What the function says."""
        words = move_words(legal)
        found = self.choose(information_key(known), words)
        return [found.get(word, 0.0) for word in words]


class AskedPolicy:
    """An agent that tells its chances: begun anew for every information state, and told of it token by token.

    Raises ``UnsupportedGameError`` for one that does not tell them.
    """

    def __init__(self, game: Game, agent: Agent) -> None:
        if not isinstance(agent, Telling):
            name = getattr(agent, "name", type(agent).__name__)
            raise UnsupportedGameError(f"agent {name} does not tell its chances (a method chances(legal))")
        self.game, self.agent = game, agent
        self.rows: dict[tuple[int, InformationState, tuple[Action, ...]], Sequence[float]] = {}

    def row(self, player: int, known: InformationState, legal: tuple[Action, ...]) -> Sequence[float]:
        """With what chances it would move."""
        key = player, known, legal
        if key not in self.rows:
            if len(self.rows) >= KEPT:
                self.rows.clear()
            self.agent.begin(self.game, player, np.random.default_rng(0), None)
            for own_move, observation in known:
                self.agent.observe(own_move, observation)
            self.rows[key] = self.agent.chances(legal)
        return self.rows[key]
