"""Policies of players who coordinate: before a game one joint plan is drawn, and every player learns its own part.

Teams that agree beforehand play such policies (a team-maxmin equilibrium with a correlation device), and so do players
who obey a mediator (a correlated equilibrium).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from infoset.base import Action, FloatArray, InformationState, LongArray
from infoset.compiled import Compiled
from infoset.errors import PolicyError
from infoset.names import action_names, policy_key
from infoset.policies.joint_policy import JointPolicy
from infoset.policies.tabular import SUM_TOLERANCE, TabularPolicy
from infoset.tree.plans import behaviour
from infoset.tree.sequence_form import SequenceForm


@dataclass(frozen=True, eq=False)
class Lottery:
    """A distribution over K plans, one of which is drawn for all members at once; lotteries are independent.

    ``plans`` (K, R): probabilities of the moves at all information sets of the members, one member after the other, its
    sets in the order of the policy's keys.
    """

    members: tuple[int, ...]
    probabilities: FloatArray
    plans: FloatArray = field(repr=False)

    @property
    def about(self) -> str:
        """What is drawn, in words."""
        return f"one of {len(self.probabilities):,} plans"

    @property
    def arrays(self) -> dict[str, Any]:
        """The arrays of a file, by name."""
        return {"chances": self.probabilities, "plans": self.plans}

    @classmethod
    def from_arrays(cls, members: tuple[int, ...], arrays: Mapping[str, Any]) -> Lottery:
        """Create a lottery from the arrays of a file."""
        probabilities, plans = (np.asarray(arrays[name], dtype=np.float64) for name in ("chances", "plans"))
        return cls(members, probabilities.ravel(), np.atleast_2d(plans))

    def check(self, sizes: LongArray) -> None:
        """Raise ``PolicyError`` unless plans, and actions in rows of these sizes, have valid probabilities."""
        shape = len(self.probabilities), int(sizes.sum())
        if self.plans.shape != shape or not shape[0]:
            raise PolicyError(f"plans of the shape {self.plans.shape}, where {shape} is needed")
        begins = np.cumsum(sizes) - sizes
        totals = np.add.reduceat(self.plans, begins, axis=1) if len(sizes) else np.ones((1, 1))
        for found in (totals, self.probabilities.sum(keepdims=True)):
            if not (np.abs(found - 1) <= SUM_TOLERANCE).all():
                raise PolicyError("probabilities of moves or of plans that do not sum to 1")
        if min(self.plans.min(initial=0), self.probabilities.min()) < 0:
            raise PolicyError("negative probabilities of moves or of plans")


@dataclass(frozen=True, eq=False)
class CorrelatedPolicy(JointPolicy):
    """A policy of players who draw plans together: every player is a member of one lottery.

    Raises ``PolicyError`` as ``JointPolicy`` does, and for probabilities that do not sum to 1.

    >>> solution = infoset.solve("kuhn_poker(players=3)", teams="P1+P2,P3")
    >>> [lottery.members for lottery in solution.policy.lotteries]
    [(0, 1), (2,)]
    """

    lotteries: tuple[Lottery, ...]

    mark: ClassVar[str] = "members"
    kind: ClassVar[str] = "a correlated policy"
    lottery_type: ClassVar[type[Lottery]] = Lottery

    @classmethod
    def of(
        cls, form: SequenceForm, lotteries: Sequence[tuple[tuple[int, ...], FloatArray, Sequence[FloatArray]]],
        made_by: Mapping[str, Any] | None = None,
    ) -> CorrelatedPolicy:  # fmt: skip
        """Create a policy from the members, the probabilities (K,) and the K plans (S,) of each lottery.

        A plan is given by its realisation weights.
        """
        drawn = []
        for members, probabilities, plans in lotteries:
            own = np.concatenate([_moves_of(form, player) for player in members])
            drawn.append(
                Lottery(members, np.asarray(probabilities), np.array([behaviour(form, plan)[own] for plan in plans]))
            )
        return cls.from_lotteries(form, drawn, made_by)

    @cached_property
    def begins(self) -> tuple[dict[str, tuple[Lottery, int, tuple[str, ...]]], ...]:
        """By player and key: its lottery, the index in a plan at which its row begins, and the moves there."""
        found: tuple[dict[str, tuple[Lottery, int, tuple[str, ...]]], ...] = tuple({} for _ in self.players)
        for lottery in self.lotteries:
            begin = 0
            for player in lottery.members:
                for key, actions in zip(self.keys[player], self.actions[player], strict=True):
                    found[player][key] = lottery, begin, actions
                    begin += len(actions)
        return found

    def table(self, drawn: Sequence[int]) -> TabularPolicy:
        """Return the policy of all players once these plans are drawn, one index per lottery."""
        number = {id(lottery): k for lottery, k in zip(self.lotteries, drawn, strict=True)}
        tables = tuple(
            {
                key: dict(
                    zip(actions, lottery.plans[number[id(lottery)], begin : begin + len(actions)].tolist(), strict=True)
                )
                for key, (lottery, begin, actions) in found.items()
            }
            for found in self.begins
        )
        return TabularPolicy(self.game, self.players, tables, self.map_name, self.made_by)

    def on(self, compiled: Compiled) -> CorrelatedPlay:
        """Return its policy on a game.  Raises ``PolicyError`` where it was made for another game."""
        self.table([0] * len(self.lotteries)).on(compiled)
        return CorrelatedPlay(self)


class CorrelatedPlay:
    """A correlated policy in play: a table, once the plans are drawn; before, each player's own probabilities."""

    def __init__(self, policy: CorrelatedPolicy) -> None:
        self.policy = policy
        self.tables: dict[tuple[int, ...], TabularPolicy] = {}

    def draw(self, rng: np.random.Generator) -> TabularPolicy:
        """Draw a plan of each lottery.

        A lottery uses the random number of its first member, so that teams that play plans of two files, drawn from
        equal streams, do not draw in step.
        """
        points = rng.random(len(self.policy.players))
        drawn = tuple([_place(lottery.probabilities, points[lottery.members[0]]) for lottery in self.policy.lotteries])
        if drawn not in self.tables:
            self.tables[drawn] = self.policy.table(drawn)
        return self.tables[drawn]

    def action_probabilities(
        self, player: int, infostate: InformationState, legal_actions: tuple[Action, ...]
    ) -> Sequence[float] | None:
        """Return the player's probabilities for an observer who does not know the plan but the player's past moves."""
        found = self._probabilities(player, infostate, legal_actions)
        if found is None:
            return None
        weight = np.ones(len(found))
        for k, (action, _) in enumerate(infostate):
            if action is not None:
                before = self._probabilities(player, infostate[:k], (action,))
                weight = weight if before is None else weight * before[:, 0]
        lottery = next(one for one in self.policy.lotteries if player in one.members)
        weight = weight * lottery.probabilities
        total = weight.sum()
        row = weight @ found / total if total > 0 else lottery.probabilities @ found
        return [float(chance) for chance in row]

    def _probabilities(
        self, player: int, infostate: InformationState, actions: tuple[Action, ...]
    ) -> FloatArray | None:
        """Return each plan's probabilities (K, moves) at the player's information set; ``None`` where it is unknown."""
        place = self.policy.begins[player].get(policy_key(infostate, self.policy.map_name))
        if place is None:
            return None
        lottery, begin, words = place
        wanted = action_names(actions)
        if not set(wanted) <= set(words):
            return None
        return np.asarray(lottery.plans[:, [begin + words.index(word) for word in wanted]])


def _place(probabilities: FloatArray, point: float) -> int:
    """Return the index that a number from 0 to 1 draws."""
    return min(int(np.searchsorted(np.cumsum(probabilities), point, side="right")), len(probabilities) - 1)


def _moves_of(form: SequenceForm, player: int) -> LongArray:
    """Return the sequences of a player's moves, without the empty one."""
    own = form.player_sequences(player)
    return np.arange(own.start + 1, own.stop)
