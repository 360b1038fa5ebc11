"""Statistics of a game's random playouts: lengths, goal values, and what went wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import LongArray
from infoset.errors import GameRuleError, shorten
from infoset.gdl.propnet import PropNet
from infoset.gdl.syntax import Term
from infoset.jit import linked_kernel, short_kernel
from infoset.randomness import Words
from infoset.statistics import Mean

FINISHED, UNFINISHED, STEPS, SQUARES, SHORTEST, LONGEST = range(6)
MAX_STEPS = 10_000
WORD = 64
NO_PLAY = np.iinfo(np.int64).max


class Tally(NamedTuple):
    """Sums over plays, written by kernels."""

    lengths: LongArray  # (6,) see the names above
    goals: LongArray  # (G,) plays that ended with each goal value; the first in rule order counts
    none: LongArray  # (roles,) plays that ended without a goal value
    several: LongArray  # (roles,) plays that ended with more than one
    stuck: LongArray  # (roles,) plays that came to a state in which the role, the first such, has no legal move
    stuck_at: Words  # (roles, B / 64) the first of these states

    @classmethod
    def empty(cls, roles: int, goals: int, propositions: int) -> Tally:
        lengths, values, none, several, stuck = (
            np.zeros(size, dtype=np.int64) for size in (6, goals, roles, roles, roles)
        )
        stuck_at = np.zeros((roles, num_words(propositions)), dtype=np.uint64)
        tally = cls(lengths, values, none, several, stuck, stuck_at)
        tally.lengths[SHORTEST] = NO_PLAY
        return tally


@short_kernel
def add_length(tally: Tally, length: int) -> None:
    """Add one finished play."""
    tally.lengths[FINISHED] += 1
    tally.lengths[STEPS] += length
    tally.lengths[SQUARES] += length * length
    tally.lengths[SHORTEST] = min(tally.lengths[SHORTEST], length)
    tally.lengths[LONGEST] = max(tally.lengths[LONGEST], length)


@linked_kernel
def add_stuck(tally: Tally, role: int, state: Words) -> None:
    """Add one play that cannot go on at ``state``."""
    if tally.stuck[role] == 0:
        for w in range(len(state)):
            tally.stuck_at[role, w] = state[w]
    tally.stuck[role] += 1


@dataclass(frozen=True)
class Playouts:
    """Results of random playouts, in which every role chooses uniformly among its distinct legal moves."""

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
    stuck: dict[
        str, int
    ]  # by role: plays given up where it, the first such, had no legal move; they count nowhere else
    stuck_at: dict[str, str]  # by role that was: the first of these states
    seed: int
    stopped: str = ""  # why fewer plays were begun than asked for; the play that was interrupted is not counted

    @property
    def plays(self) -> int:
        """The number of plays begun."""
        return self.finished + self.unfinished + sum(self.stuck.values())

    @classmethod
    def of(
        cls,
        roles: tuple[str, ...],
        goals: list[dict[int, int]],
        tally: Tally,
        stuck_at: dict[str, str],
        seed: int,
        stopped: str = "",
    ) -> Playouts:
        """Return the results from the counts of each role's goal values and the other sums."""
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
            stuck=dict(zip(roles, map(int, tally.stuck), strict=True)),
            stuck_at=stuck_at,
            seed=seed,
            stopped=stopped,
        )

    @classmethod
    def of_net(cls, net: PropNet, tally: Tally, seed: int, stopped: str = "") -> Playouts:
        goals: list[dict[int, int]] = [{} for _ in net.roles]
        for role, counts in enumerate(goals):
            for k in range(net.first_goal[role], net.first_goal[role + 1]):
                if tally.goals[k]:
                    counts[int(net.goal_values[k])] = counts.get(int(net.goal_values[k]), 0) + int(tally.goals[k])
        states = {
            role: state_text(net.base[k] for k in np.flatnonzero(unpack(words, len(net.base))))
            for role, count, words in zip(net.roles, tally.stuck, tally.stuck_at, strict=True)
            if count
        }
        return cls.of(net.roles, goals, tally, states, seed, stopped)


def num_words(bits: int) -> int:
    """Return how many words hold ``bits`` bits; at least one."""
    return max(1, -(-bits // WORD))


def pack(bits: npt.NDArray[np.bool_]) -> Words:
    """Return bits as words, the lowest first."""
    padded = np.zeros(num_words(len(bits)) * WORD, dtype=np.uint8)
    padded[: len(bits)] = bits
    return np.packbits(padded, bitorder="little").view(np.uint64)


def unpack(words: Words, size: int) -> npt.NDArray[np.bool_]:
    """Return the first ``size`` bits of words: the inverse of ``pack``."""
    return np.unpackbits(words.view(np.uint8), count=size, bitorder="little").astype(np.bool_)


def state_text(facts: Iterable[Term]) -> str:
    """Return the facts of a state as text for a message."""
    return shorten(" ".join(sorted(map(str, facts))), 400) or "the empty state"


def no_action(file: str, role: str, facts: Iterable[Term]) -> GameRuleError:
    """Return the error for a state that is not terminal and in which a role has no legal move."""
    where = f"{file}: " if file else ""
    return GameRuleError(f"{where}{shorten(role)} has no legal move, and the game is not over, at {state_text(facts)}")
