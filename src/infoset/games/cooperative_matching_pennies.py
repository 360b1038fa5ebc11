"""Cooperative matching pennies: one player knows the goal, the other has to infer it from a single move."""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

from infoset.base import Action, InformationState, JointAction, ObservationRecord, Observed, Picture
from infoset.errors import ParameterError, shorten
from infoset.games.rules import Ended, NativeState, Rules
from infoset.games.table import Infostates, Look, ShownRules, area, does, made, table
from infoset.names import full_name

SAME, DIFFERENT = "same", "different"
PASS = "Pass"
SIDES = ("Heads", "Tails")


class Points(NamedTuple):
    """The payoffs that both players get."""

    win: float
    loss: float
    passing: float


class _Fields(NamedTuple):
    points: Points
    goal: str
    side: str


class PenniesState(NativeState, _Fields):
    """The goal drawn by chance and Alice's side; each is empty until it is chosen."""

    __slots__ = ()

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        if not self.goal or player != bool(self.side):
            return ()
        return (*SIDES, PASS) if self.side else SIDES

    def chance_outcomes(self, actions: JointAction) -> tuple[tuple[Action, float], ...]:
        return () if self.goal else ((SAME, 0.5), (DIFFERENT, 0.5))

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        if chance_outcome is not None:
            return Observed(self._replace(goal=str(chance_outcome)), (chance_outcome, None))
        if not self.side:
            return Observed(self._replace(side=str(actions[0])), (None, actions[0]))
        return Observed(Ended((self._judge(str(actions[1])),) * 2), (actions[1], None))

    def _judge(self, answer: str) -> float:
        if answer == PASS:
            return self.points.passing
        return self.points.win if (answer == self.side) == (self.goal == SAME) else self.points.loss

    def returns(self) -> tuple[float, ...]:
        return (0.0, 0.0)


def picture(rules: Rules, infostate: Infostates) -> Picture:
    """Draw the goal, which Alice sees, and both pennies."""
    alice, bob = infostate
    seen: list[Action | None] = [*made(alice)] if alice is not None else [None, *made(bob or ())]
    goal, *shown = seen or [None]
    pennies = [[str(side)] for side in shown] + [[]] * (2 - len(shown))
    return table(
        area("goal", [goal] if goal else [], int(goal is None and bool(bob)), "how the pennies should be"),
        *(area(name, pennies[p], player=p) for p, name in enumerate(rules.players)),
    )


def describe_record(rules: Rules, player: int, record: ObservationRecord, before: InformationState) -> str:
    """Describe the goal, the player's own penny, or the other player's penny."""
    action, seen = record
    if action is not None:
        return "you pass" if action == PASS else f"you show {action}"
    if player == 0 and not before:
        return f"the pennies should be {seen}"
    other = rules.players[1 - player]
    return does(other, "pass") if seen == PASS else f"{other} shows {seen}"


def cooperative_matching_pennies(win: float = 1.0, loss: float = -200.0, passing: float = 0.0) -> Rules:
    """Cooperative matching pennies: Alice knows whether the pennies should match, Bob sees only hers.

    Chance draws the goal, ``same`` or ``different``, with probability 1/2 each.  Alice sees it and shows heads or
    tails; Bob sees her penny and shows one of his own, or passes.  Both get ``win`` if the pennies meet the goal,
    ``loss`` if they do not, ``passing`` if Bob passed; all three are finite numbers.  Alice's move can give Bob all the
    information he needs, so the team optimum is the largest of the three, usually ``win``.  The paper's payoffs are not
    known; these fit its description (``docs/papers/progressive-hiding.md``).
    """
    points = Points(float(win), float(loss), float(passing))
    for key, value in points._asdict().items():
        if not isfinite(value):
            raise ParameterError(f"cooperative_matching_pennies: {key}={shorten(str(value))} is not a finite number")
    name = full_name("cooperative_matching_pennies", cooperative_matching_pennies, **points._asdict())
    first = Observed(PenniesState(points, "", ""), (None, None))
    return ShownRules(name, ("Alice", "Bob"), first, Look(picture, describe_record))
