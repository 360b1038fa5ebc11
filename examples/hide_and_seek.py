"""A game and an agent of your own, in one file.

infoset solve "python:examples/hide_and_seek.py:HideAndSeek(boxes=3)"
infoset match python:examples/hide_and_seek.py:HideAndSeek "python:examples/hide_and_seek.py:Stubborn(box=1)" random
"""

from __future__ import annotations

from dataclasses import dataclass

from infoset import Ended, NativeState, Observed


@dataclass(frozen=True)
class Search(NativeState):
    """Nobody has hidden yet, or somebody has and the other one looks."""

    boxes: int
    hidden: int | None = None

    def legal_actions(self, player):
        return tuple(range(self.boxes)) if player == (0 if self.hidden is None else 1) else ()

    def returns(self):
        return (0.0, 0.0)

    def play_unchecked(self, actions, chance_outcome=None):
        if self.hidden is None:
            return Observed(Search(self.boxes, actions[0]), ("hid", "your turn"))  # not where
        found = float(actions[1] == self.hidden)
        return Observed(Ended((-found, found)), ("over", "over"))


@dataclass(frozen=True)
class HideAndSeek:
    """One player hides in one of some boxes, the other looks into one."""

    boxes: int = 2
    players = ("hider", "seeker")

    @property
    def name(self):
        return f"hide_and_seek(boxes={self.boxes})"

    def start(self):
        return Observed(Search(self.boxes), (None, None))


@dataclass
class Stubborn:
    """Always chooses the same box; it tells its probabilities, so that it can be evaluated exactly."""

    box: int = 0

    def begin(self, game, player, rng, deadline): ...

    def observe(self, own_action, observation): ...

    def act(self, legal_actions, deadline):
        return legal_actions[self.box]

    def report_probabilities(self, legal_actions):
        return [float(k == self.box) for k in range(len(legal_actions))]

    def end(self, returns): ...
