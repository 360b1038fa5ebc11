"""The agent ``mixed``, which draws one of several agents for every game: a mixed strategy over agents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from infoset.base import Agent, Game
from infoset.errors import ParameterError, shorten
from infoset.match.agents import Delegating, agent_name, check_reached, common_stream, load_agent
from infoset.names import Value, format_value


def mixed(agents: tuple[Value, ...] = (), weights: tuple[Value, ...] = ()) -> MixedAgent:
    """Play as one of several agents, drawn anew by weights for every game.

    As a name: ``mixed(agents=[dypm,simple],weights=[3,1])``.
    """
    if not agents:
        raise ParameterError("mixed: agents are missing; name them: mixed(agents=[random,simple])")
    return MixedAgent([load_agent(str(name)) for name in agents], _numbers(weights, len(agents)))


def _numbers(weights: tuple[Value, ...], count: int) -> list[float]:
    """Check the weights and return them as numbers, all equal where none are given."""
    if not weights:
        return [1.0] * count
    found = []
    for weight in weights:
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < np.inf:
            raise ParameterError(f"mixed: weight {shorten(format_value(weight))} is not a number from 0 on")
        found.append(float(weight))
    if len(found) != count or not any(found):
        raise ParameterError(f"mixed: {len(found)} weights for {count} agents, not all of them 0, are allowed")
    return found


class MixedAgent(Delegating):
    """An agent that plays every game as one of ``agents``, drawn with probabilities proportional to ``weights``.

    All seats of a team that have this agent draw the same one; different teams draw independently.

    >>> from infoset.match.mixed import MixedAgent
    >>> agent = MixedAgent([infoset.load_agent("random"), infoset.load_agent("stop")], [1.0, 3.0])
    >>> agent.name
    'mixed(random,stop)'
    """

    def __init__(self, agents: Sequence[Agent], weights: Sequence[float]) -> None:
        self.agents, self.bounds = list(agents), np.cumsum(weights) / np.sum(weights)
        self.inner, self.name = self.agents[0], f"mixed({','.join(map(agent_name, agents))})"

    def reach(self) -> None:
        """Raise ``RemoteError`` unless the addresses of all agents answer; see ``check_reached``."""
        check_reached(self.agents)

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        first = next((min(team) for team in getattr(game, "teams", ()) if player in team), player)
        drawn = common_stream(rng).spawn(1)[0].random(len(game.players))[first]
        self.inner = self.agents[int(np.searchsorted(self.bounds, drawn, side="right"))]
        self.plan = f"played as {agent_name(self.inner)}"
        self.inner.begin(game, player, rng, deadline)
