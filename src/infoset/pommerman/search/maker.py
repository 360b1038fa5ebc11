"""How the parameters of a searching agent become the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from infoset.base import Agent

if TYPE_CHECKING:
    from infoset.pommerman.search.players import Parameters


class Maker:
    """What the parameters of all searching agents share."""

    def agent(self) -> Agent:
        """The agent."""
        from infoset.pommerman.search.players import SearchPlayer  # which brings compiled kernels

        return SearchPlayer(cast("Parameters", self))
