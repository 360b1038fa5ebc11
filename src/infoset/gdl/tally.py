"""What random plays of a game add up to: lengths, goal values, and what went wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from infoset.base import LongArray
from infoset.errors import GameRuleError, shorten
from infoset.gdl.propnet import PropNet
from infoset.gdl.syntax import Term
from infoset.jit import kernel
from infoset.statistics import Mean

FINISHED, UNFINISHED, STEPS, SQUARES, SHORTEST, LONGEST = range(6)
MAX_STEPS = 10_000
NO_PLAY = np.iinfo(np.int64).max


class Tally(NamedTuple):
    """Sums over plays, for kernels to write to."""

    lengths: LongArray  # (6,) see the names above
    goals: LongArray  # (G,) plays that ended with each goal value; the first in rule order counts
    none: LongArray  # (roles,) plays that ended without a goal value
    several: LongArray  # (roles,) plays that ended with more than one

    @classmethod
    def empty(cls, roles: int, goals: int) -> Tally:
        tally = cls(*(np.zeros(size, dtype=np.int64) for size in (6, goals, roles, roles)))
        tally.lengths[SHORTEST] = NO_PLAY
        return tally


@kernel
def add_length(tally, length):
    """One more finished play."""
    tally.lengths[FINISHED] += 1
    tally.lengths[STEPS] += length
    tally.lengths[SQUARES] += length * length
    tally.lengths[SHORTEST] = min(tally.lengths[SHORTEST], length)
    tally.lengths[LONGEST] = max(tally.lengths[LONGEST], length)


@dataclass(frozen=True)
class Playouts:
    """Random plays: every role chooses uniformly among its distinct legal moves."""

    finished: int
    unfinished: int  # plays given up after ``max_steps`` steps; they count nowhere else
    steps: int  # of the finished plays
    length: Mean
    shortest: int
    longest: int
    returns: dict[str, Mean]  # by role; 0 where a play ends without a goal value
    goals: dict[str, dict[int, int]]  # by role: how many plays ended with each goal value
    without_goal: dict[str, int]  # by role
    several_goals: dict[str, int]  # by role; the first in the order of the rules counts
    seed: int

    @classmethod
    def of(cls, roles: tuple[str, ...], goals: list[dict[int, int]], tally: Tally, seed: int) -> Playouts:
        """From the counts of each role's goal values and the other sums."""
        finished, unfinished, steps, squares, shortest, longest = map(int, tally.lengths)
        sums = [(sum(v * n for v, n in c.items()), sum(v * v * n for v, n in c.items())) for c in goals]
        return cls(
            finished=finished,
            unfinished=unfinished,
            steps=steps,
            length=Mean.of(finished, steps, squares),
            shortest=shortest if finished else 0,
            longest=longest,
            returns={role: Mean.of(finished, *pair) for role, pair in zip(roles, sums, strict=True)},
            goals=dict(zip(roles, goals, strict=True)),
            without_goal=dict(zip(roles, map(int, tally.none), strict=True)),
            several_goals=dict(zip(roles, map(int, tally.several), strict=True)),
            seed=seed,
        )

    @classmethod
    def of_net(cls, net: PropNet, tally: Tally, seed: int) -> Playouts:
        goals: list[dict[int, int]] = [{} for _ in net.roles]
        for role, counts in enumerate(goals):
            for k in range(net.first_goal[role], net.first_goal[role + 1]):
                if tally.goals[k]:
                    counts[int(net.goal_values[k])] = counts.get(int(net.goal_values[k]), 0) + int(tally.goals[k])
        return cls.of(net.roles, goals, tally, seed)


def no_move(file: str, role: str, facts: Iterable[Term]) -> GameRuleError:
    """The error of a state that is not terminal and in which a role has no legal move."""
    where = f"{file}: " if file else ""
    text = shorten(" ".join(sorted(map(str, facts))), 400)
    place = f"at {text}" if text else "in the state in which no fact holds"
    return GameRuleError(f"{where}{role} has no legal move, and the game is not over, {place}")
