"""The agent ``filtered``: an agent of Pommerman without moves that it would not survive if nobody else moved.

This is the action filter of the learnt teams of the 2018 competition, by the one-step scenario of the pessimistic
search.
"""

from __future__ import annotations

import numpy as np

from infoset.base import Action, Agent, Game, Observation
from infoset.errors import ParameterError, UnsupportedGameError
from infoset.match.agents import Delegating, agent_name, load_agent
from infoset.names import Name, Value
from infoset.registry import made_for
from infoset.warm_up import ready
from infoset_pommerman import state as st
from infoset_pommerman.features import FeatureExtractor, Safe
from infoset_pommerman.game import Pommerman
from infoset_pommerman.observation import Seen


@made_for("", wraps=True)
def filtered(agent: Value = "") -> FilteredAgent:
    """Another agent of Pommerman, kept from moves that it does not survive if nobody else moves."""
    if not agent or not isinstance(agent, str | Name):
        raise ParameterError("filtered: agent is missing; name it: filtered(agent=simple)")
    return FilteredAgent(load_agent(str(agent)))


class FilteredAgent(Delegating):
    """An agent that plays as ``inner`` does, but replaces moves that it would not survive where others exist.

    >>> from infoset_pommerman.filtered import FilteredAgent
    >>> FilteredAgent(infoset.load_agent("random")).name
    'filtered(random)'
    """

    def __init__(self, inner: Agent) -> None:
        ready("sight", package="infoset_pommerman")
        self.inner, self.name = inner, f"filtered({agent_name(inner)})"

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        """Begin the game.  Raises ``UnsupportedGameError`` for games other than Pommerman."""
        if not isinstance(game, Pommerman):
            raise UnsupportedGameError(f"agent {self.name} is made for pommerman:NAME, not for {game.name}")
        self.sight, self.player, self.rng = FeatureExtractor(game.name, game.config), player, rng
        self.seen: Seen | None = None
        self.inner.begin(game, player, rng, deadline)

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        if isinstance(observation, tuple):
            self.seen = Seen(*observation)  # type: ignore[arg-type]  # a plain tuple when it comes over a line
        super().observe(own_action, observation)

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        move = self.inner.act(legal_actions, deadline)
        if self.seen is None or move not in legal_actions:  # the referee reports an illegal move
            return move
        _, safe = self.sight.of(self.seen, self.player)
        number = move[0] if isinstance(move, tuple) else move
        return move if safe[number] or not safe.any() else self._instead(move, safe)  # type: ignore[index]

    def _instead(self, move: Action, safe: Safe) -> Action:
        """Draw a surviving step or stop; lay a bomb only where nothing else survives.  Radio words stay the same."""
        ways = np.flatnonzero(safe[: st.LAY])
        number = int(self.rng.choice(ways)) if len(ways) else st.LAY
        return (number, *move[1:]) if isinstance(move, tuple) else number
