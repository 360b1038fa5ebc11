"""Statistics of an agent's beliefs over its games: how many histories they held, and how often they held none."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from infoset.search.histories import Belief


@dataclass
class BeliefStatistics:
    """Counts over all moves at which an agent asked for its belief.

    >>> import numpy as np
    >>> from infoset.search.belief_statistics import BeliefStatistics
    >>> from infoset.search.histories import Belief
    >>> beliefs = BeliefStatistics()
    >>> beliefs.note(Belief(np.arange(4), np.zeros((4, 2), np.int64), np.full(4, 0.25)), whole=True)
    >>> beliefs.lose()
    >>> str(beliefs)
    'beliefs at 1 move: 4 histories in the mean, effective 4, at least 4; all there are at 1; lost at 1'
    >>> beliefs.note(Belief(np.arange(4), np.zeros((4, 2), np.int64), np.full(4, 0.25)), whole=False, near=True)
    >>> str(beliefs).partition("all ")[2]
    'there are at 1; none but for the last thing seen at 1; lost at 1'
    """

    actions: int = 0
    whole: int = 0
    """Moves at which the belief held all histories."""
    near: int = 0
    """Moves at which the histories explained all but the last observation."""
    lost: int = 0
    """Moves at which no history explained its observations."""
    histories: int = 0
    """Sum of the numbers of histories over all moves."""
    effective: float = 0.0
    """Sum of the effective sample sizes (Kish 1965) over all moves."""
    fewest: float = inf
    """The smallest effective sample size at a move."""

    def note(self, found: Belief, whole: bool, near: bool = False) -> None:
        """Count a move and its belief."""
        effective = found.effective
        self.actions += 1
        self.whole += whole
        self.near += near
        self.histories += found.size
        self.effective += effective
        self.fewest = min(self.fewest, effective)

    def lose(self) -> None:
        """Count a move at which no history explains its observations."""
        self.lost += 1

    def __str__(self) -> str:
        if not self.actions:
            return f"beliefs lost at {self.lost:,}" if self.lost else ""
        plural = "" if self.actions == 1 else "s"
        none = f"none but for the last thing seen at {self.near:,}; " if self.near else ""
        return (
            f"beliefs at {self.actions:,} move{plural}: {self.histories / self.actions:,.0f} histories in the mean, "
            f"effective {self.effective / self.actions:,.3g}, at least {self.fewest:,.3g}; "
            f"all there are at {self.whole:,}; {none}lost at {self.lost:,}"
        )


def account(beliefs: BeliefStatistics, at_random: int, faults: list[str]) -> str:
    """Return a line on an agent's moves: its beliefs, and how often it moved at random and why it first did so."""
    because = f", the first time as {faults[0]}" if faults else ""
    plural = "" if at_random == 1 else "s"
    return "; ".join(
        filter(None, (str(beliefs), f"{at_random:,} move{plural} at random{because}" if at_random else ""))
    )
