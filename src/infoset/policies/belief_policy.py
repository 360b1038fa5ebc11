"""Policies of teams that agree on a behaviour in their belief DAGs, from which a joint plan is drawn for every game.

The joint plans of a large team are too many to list.  The DAG holds a distribution over them: from belief to belief an
action is drawn, and the beliefs that follow it are decided independently of each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from infoset.base import Action, BoolArray, FloatArray, IndexArray, InformationState, IntArray, LongArray
from infoset.compiled import Compiled
from infoset.errors import PolicyError
from infoset.jit import kernel
from infoset.names import action_names, policy_key
from infoset.policies.joint_policy import JointPolicy
from infoset.policies.tabular import SUM_TOLERANCE, TabularPolicy
from infoset.tree.belief_dag import BeliefArrays, BeliefDag

UNDECIDED = -1

_ARRAYS = {
    "infoset": np.int32, "first": np.int64, "action": np.int32, "probability": np.float64, "children": np.int64,
    "child": np.int32, "roots": np.int32,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class BeliefLottery:
    """A distribution over the joint plans of the ``members``, as behaviour at the B beliefs that plans lead to.

    ``infoset`` (B,): the information set that is decided at each belief, by its number among those of the members, one
    member after the other, in the order of the policy's keys.  ``first`` (B + 1,): where the edges of each belief
    begin.  ``action``, ``probability`` (E,): the number of the action of each edge, and its probability at the belief.
    ``children`` (E + 1,): where the beliefs that follow each edge begin in ``child``; parents come first.  ``roots``:
    the beliefs with which plans begin.
    """

    members: tuple[int, ...]
    infoset: IntArray = field(repr=False)
    first: LongArray = field(repr=False)
    action: IntArray = field(repr=False)
    probability: FloatArray = field(repr=False)
    children: LongArray = field(repr=False)
    child: IntArray = field(repr=False)
    roots: IntArray = field(repr=False)

    @property
    def about(self) -> str:
        """What is drawn, in words."""
        return f"a plan at {len(self.infoset):,} beliefs"

    @property
    def arrays(self) -> dict[str, Any]:
        """The arrays of a file, by name."""
        return {name: getattr(self, name) for name in _ARRAYS}

    @classmethod
    def from_arrays(cls, members: tuple[int, ...], arrays: Mapping[str, Any]) -> BeliefLottery:
        """Create a lottery from the arrays of a file."""
        return cls(members, *(arrays[name].astype(kind).ravel() for name, kind in _ARRAYS.items()))

    @classmethod
    def of(cls, dag: BeliefDag, strategy: FloatArray) -> BeliefLottery:
        """Create the lottery of behaviour (E,) in a DAG, of which only the beliefs remain to which it leads."""
        a, form = dag.arrays, dag.form
        number = np.full(form.num_infosets, UNDECIDED)
        own = np.concatenate([np.asarray(form.player_infosets(player), dtype=np.int64) for player in dag.members])
        number[own] = np.arange(len(own))
        led_to = np.zeros(dag.num_beliefs, dtype=np.bool_)
        _mark_led_to(a, strategy, led_to)  # not where the flow is positive, since tiny probabilities multiply to 0
        reached = np.flatnonzero(led_to)
        place = np.full(dag.num_beliefs, UNDECIDED, dtype=np.int32)
        place[reached] = np.arange(len(reached))
        owner = np.repeat(np.arange(dag.num_beliefs), np.diff(a.first))
        edges = np.flatnonzero((strategy > 0) & led_to[owner])
        begins = a.children.astype(np.int64)
        sizes = np.diff(begins)[edges]
        children = np.concatenate([[0], np.cumsum(sizes)])
        entries = np.repeat(begins[edges] - children[:-1], sizes) + np.arange(int(children[-1]))
        counts = np.bincount(place[owner[edges]], minlength=len(reached))
        return cls(
            dag.members, number[a.infoset[reached]].astype(np.int32), np.concatenate([[0], np.cumsum(counts)]),
            (edges - a.first[owner[edges]]).astype(np.int32), strategy[edges], children, place[a.child[entries]],
            place[a.roots],
        )  # fmt: skip

    def behaviour(self, dag: BeliefDag) -> FloatArray:
        """Return behaviour (E,) in the DAG of the same team; uniform at beliefs to which no plan leads.

        Raises ``PolicyError`` where the beliefs are other ones.
        """
        a, form = dag.arrays, dag.form
        sizes = np.diff(a.first)
        strategy = np.repeat(1.0 / sizes, sizes)
        own = np.concatenate([np.asarray(form.player_infosets(player), dtype=np.int64) for player in dag.members])
        place = np.full(len(self.infoset), UNDECIDED, dtype=np.int64)
        if len(self.roots) == len(a.roots):
            place[self.roots] = a.roots
            mine = self.infoset, self.first, self.action, self.probability, self.children, self.child
            if _match(*mine, a.infoset, a.first, a.children, a.child, own, place, strategy):
                return strategy
        raise PolicyError(f"{dag.name} have other beliefs in {form.name} than in the game of the policy")

    @cached_property
    def flow(self) -> FloatArray:
        """(B,) the probability that a plan leads to each belief."""
        found = np.zeros(len(self.infoset))
        _flow_down(self.first, self.probability, self.children, self.child, self.roots, found)
        return found

    def check(self, sizes: LongArray) -> None:
        """Raise ``PolicyError`` unless the arrays fit together; ``sizes``: the members' numbers of actions by set."""
        beliefs, edges, counts = len(self.infoset), len(self.action), np.diff(self.first)
        fits = (
            len(self.first) == beliefs + 1 and len(self.probability) == edges and len(self.children) == edges + 1
            and _begins(self.first, edges) and _begins(self.children, len(self.child)) and (counts > 0).all()
            and _within(self.infoset, len(sizes)) and _within(self.child, beliefs) and _within(self.roots, beliefs)
        )  # fmt: skip
        if fits:
            owner = np.repeat(np.arange(beliefs), counts)
            fits = _within(self.action, sizes[self.infoset[owner]]) and bool(
                (self.child > np.repeat(owner, np.diff(self.children))).all()
                and (np.diff(self.action)[owner[1:] == owner[:-1]] > 0).all()
            )
        if not fits:
            seats = ", ".join(str(seat + 1) for seat in self.members)
            raise PolicyError(f"the beliefs of the players {seats} (from 1) do not fit together")
        totals = np.add.reduceat(self.probability, self.first[:-1]) if beliefs else np.ones(1)
        if not (np.abs(totals - 1) <= SUM_TOLERANCE).all() or (self.probability < 0).any():
            raise PolicyError("probabilities at beliefs that are negative or do not sum to 1")


def _begins(array: LongArray, end: int) -> bool:
    """Return whether an array holds ascending places from 0 to ``end``."""
    return bool(array[0] == 0 and array[-1] == end and (np.diff(array) >= 0).all())


def _within(array: IntArray, end: Any) -> bool:
    return bool(((array >= 0) & (array < end)).all())


@dataclass(frozen=True, eq=False)
class BeliefPolicy(JointPolicy):
    """A policy of teams that draw joint plans from their belief DAGs: every player is a member of one lottery.

    Raises ``PolicyError`` as ``JointPolicy`` does.

    >>> solution = infoset.solve("kuhn_poker(players=3)", "belief-dag", teams="P1+P2,P3", iterations=10)
    >>> [lottery.members for lottery in solution.policy.lotteries]
    [(0, 1), (2,)]
    """

    lotteries: tuple[BeliefLottery, ...] = field(repr=False)

    mark: ClassVar[str] = "beliefs"
    kind: ClassVar[str] = "a policy of teams"
    lottery_type: ClassVar[type[BeliefLottery]] = BeliefLottery

    @cached_property
    def places(self) -> tuple[dict[str, tuple[int, int]], ...]:
        """By player and key: the number of its lottery, and that of the information set in this lottery."""
        found: tuple[dict[str, tuple[int, int]], ...] = tuple({} for _ in self.players)
        for number, lottery in enumerate(self.lotteries):
            members = [(player, key) for player in lottery.members for key in self.keys[player]]
            for place, (player, key) in enumerate(members):
                found[player][key] = number, place
        return found

    @cached_property
    def table(self) -> TabularPolicy:
        """Each player's own probabilities at its information sets, given that the team's plan can lead there."""
        tables: tuple[dict[str, dict[str, float]], ...] = tuple({} for _ in self.players)
        for lottery in self.lotteries:
            owner = np.repeat(np.arange(len(lottery.infoset)), np.diff(lottery.first))
            rows = [(player, key) for player in lottery.members for key in range(len(self.keys[player]))]
            sizes = np.array([len(self.actions[player][key]) for player, key in rows], dtype=np.int64)
            begin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
            weights = np.bincount(
                begin[lottery.infoset[owner]] + lottery.action, lottery.probability * lottery.flow[owner], begin[-1]
            )
            for (player, key), start, size in zip(rows, begin.tolist(), sizes.tolist(), strict=False):
                row = weights[start : start + size]
                total = row.sum()
                row = row / total if total > 0 else np.full(size, 1 / size)
                words = self.actions[player][key]
                tables[player][self.keys[player][key]] = dict(zip(words, row.tolist(), strict=True))
        return TabularPolicy(self.game, self.players, tables, self.map_name, self.made_by)

    def on(self, compiled: Compiled) -> BeliefPlay:
        """Return its policy on a game.  Raises ``PolicyError`` where it was made for another game."""
        self.table.on(compiled)
        return BeliefPlay(self)


class BeliefPlay:
    """A policy of teams in play: a joint plan, once it is drawn; before, each player's own probabilities."""

    def __init__(self, policy: BeliefPolicy) -> None:
        self.policy = policy

    def draw(self, rng: np.random.Generator) -> JointPlan:
        """Draw a plan of each lottery, with one random number for each information set."""
        chosen = []
        points = [rng.random(len(keys)) for keys in self.policy.keys]
        for lottery in self.policy.lotteries:
            mine = np.concatenate([points[player] for player in lottery.members])
            actions = np.full(len(mine), UNDECIDED, dtype=np.int32)
            _draw(
                lottery.infoset, lottery.first, lottery.action, lottery.probability, lottery.children, lottery.child,
                lottery.roots, mine, actions,
            )  # fmt: skip
            chosen.append(actions)
        return JointPlan(self.policy, chosen)

    def action_probabilities(
        self, player: int, infostate: InformationState, legal_actions: tuple[Action, ...]
    ) -> list[float] | None:
        """Return the player's probabilities for an observer who knows only that the team's plan can lead there."""
        return self.policy.table.action_probabilities(player, infostate, legal_actions)


class JointPlan:
    """Plans of all players that were drawn for one game; ``chosen``: the action at each set of each lottery, or -1."""

    def __init__(self, policy: BeliefPolicy, chosen: list[IntArray]) -> None:
        self.policy, self.chosen = policy, chosen

    def action_probabilities(
        self, player: int, infostate: InformationState, legal_actions: tuple[Action, ...]
    ) -> list[float] | None:
        """Return 1 for the planned action; where the plan does not lead, the player's own probabilities."""
        row = self.policy.table.action_probabilities(player, infostate, legal_actions)
        key = policy_key(infostate, self.policy.map_name)
        if row is None or (place := self.policy.places[player].get(key)) is None:
            return row
        if (action := int(self.chosen[place[0]][place[1]])) == UNDECIDED:
            return row
        number = place[1] - sum(len(self.policy.keys[other]) for other in self._before(place[0], player))
        word = self.policy.actions[player][number][action]
        return [float(name == word) for name in action_names(legal_actions)]

    def _before(self, lottery: int, player: int) -> tuple[int, ...]:
        members = self.policy.lotteries[lottery].members
        return members[: members.index(player)]


@kernel
def _mark_led_to(a: BeliefArrays, strategy: FloatArray, led_to: BoolArray) -> None:
    """Mark the beliefs (B,) to which actions of positive probability lead."""
    for b in a.roots:
        led_to[b] = True
    for b in range(len(led_to)):
        for e in range(a.first[b], a.first[b + 1]):
            if led_to[b] and strategy[e] > 0.0:
                for k in range(a.children[e], a.children[e + 1]):
                    led_to[a.child[k]] = True


@kernel
def _flow_down(
    first: LongArray, probability: FloatArray, children: LongArray, child: IntArray, roots: IntArray, flow: FloatArray
) -> None:
    """Write the probability that a plan leads to each belief to ``flow`` (B,), which is 0 before."""
    for b in roots:
        flow[b] = 1.0
    for b in range(len(flow)):
        for e in range(first[b], first[b + 1]):
            for k in range(children[e], children[e + 1]):
                flow[child[k]] += flow[b] * probability[e]


@kernel
def _draw(
    infoset: IntArray, first: LongArray, action: IntArray, probability: FloatArray, children: LongArray,
    child: IntArray, roots: IntArray, points: FloatArray, chosen: IntArray,
) -> None:  # fmt: skip
    """Write the actions of a plan to ``chosen``, drawn with the random numbers ``points``, both by information set."""
    waiting, count = np.zeros(len(points) + len(roots) + 1, dtype=np.int32), 0
    for b in roots:
        waiting[count] = b
        count += 1
    while count > 0:
        count -= 1
        b = waiting[count]
        if chosen[infoset[b]] != UNDECIDED:  # only a file in which beliefs overlap decides a set twice
            continue
        left, e = points[infoset[b]], first[b]
        while e < first[b + 1] - 1 and left >= probability[e]:
            left -= probability[e]
            e += 1
        chosen[infoset[b]] = action[e]
        for k in range(children[e], children[e + 1]):
            if count == len(waiting):  # only a file in which beliefs overlap leads here
                return
            waiting[count] = child[k]
            count += 1


@kernel
def _match(
    mine: IntArray, my_first: LongArray, action: IntArray, probability: FloatArray, my_children: LongArray,
    my_child: IntArray, infoset: IntArray, first: IndexArray, children: IndexArray, child: IndexArray, own: LongArray,
    place: LongArray, strategy: FloatArray,
) -> bool:  # fmt: skip
    """Write a lottery's probabilities to the behaviour (E,) of a DAG, belief by belief from the roots.

    ``place`` (B,): the belief of the DAG for each belief of the lottery, known at the roots.  ``own``: the information
    sets of the form by the lottery's numbers.  Return whether the beliefs are the same.
    """
    for b in range(len(mine)):
        found = place[b]
        if found < 0 or infoset[found] != own[mine[b]]:
            return False
        strategy[first[found] : first[found + 1]] = 0.0
        for e in range(my_first[b], my_first[b + 1]):
            edge = first[found] + action[e]
            if edge >= first[found + 1]:
                return False
            strategy[edge] = probability[e]
            count = my_children[e + 1] - my_children[e]
            if children[edge + 1] - children[edge] != count:
                return False
            for k in range(count):
                below, there = my_child[my_children[e] + k], child[children[edge] + k]
                if place[below] >= 0 and place[below] != there:
                    return False
                place[below] = there
    return True
