"""The game: two players choose a number each; the higher one wins, unless it is undercut by exactly one."""

from dataclasses import dataclass

from infoset import Ended, NativeState, Observed


@dataclass(frozen=True)
class Choosing(NativeState):
    highest: int

    def legal_actions(self, player):
        return tuple(range(1, self.highest + 1))

    def returns(self):
        return (0.0, 0.0)

    def play_unchecked(self, actions, chance_outcome=None):
        lead = actions[0] - actions[1]
        won = float(lead if abs(lead) != 1 else -2 * lead)
        return Observed(Ended((won, -won)), (actions[1], actions[0]))


@dataclass(frozen=True)
class Undercut:
    """Two numbers at once: the higher one wins the difference, unless it is undercut by one, which wins two."""

    highest: int = 4
    players = ("P1", "P2")

    @property
    def name(self):
        return f"undercut(highest={self.highest})"

    def start(self):
        return Observed(Choosing(self.highest), (None, None))
