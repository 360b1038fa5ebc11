"""Exact best responses to tabular policies, for games with too many histories to list.

They are computed depth first over the responding player's information states, each with its belief: the positions
consistent with it, the others' information states there, and the probability of these by chance and the others' moves.
Memory is a few beliefs, however large the game is.  States that are equal by a symmetry of the game are followed once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import FloatArray, IntArray, LongArray
from infoset.errors import CheckpointError
from infoset.files import describe_damage
from infoset.interning import longer
from infoset.jit import borrowing, inner_kernel, kernel, linked_kernel
from infoset.policies.infoset_policy import NO_ROW, UNKNOWN, InfosetPolicy
from infoset.solvers.metrics import Evaluation
from infoset.solvers.sampling.beliefs import (
    BEFORE,
    CHOICE,
    EDGES,
    HERE,
    NO_ROOM,
    ROW,
    Continuations,
    Entries,
    PolicyArrays,
    Scratch,
    spread_all,
    successor_state,
)
from infoset.tree.quotient_graph import (
    CONTENT,
    ELEMENT_BITS,
    MOVES,
    QuotientGraph,
    element_of,
    everything,
    same_orbit,
    still_fixing,
)  # fmt: skip

FIRST_ROOM = 1 << 12
EDGES_A_STEP = 1 << 21  # a tenth of a second or two
LOOK = 4
BEST, MEAN = range(2)
NOW, FIXED, CHOSEN = range(3)  # values of the move being tried, of what needs no move, of the moves tried before


class Line(NamedTuple):
    """One row for each information state of the responding player on the current line; ``depth[0]`` are open."""

    begin: LongArray  # (D,) where its entries with a choice begin
    free: LongArray  # (D,) where its entries with a choice end
    rest: LongArray  # (D,) where its entries without a choice begin
    end: LongArray  # (D,) where its entries without a choice end, and those of the current move begin
    last: LongArray  # (D,) where the entries of the current move end
    next: LongArray  # (D,) the first entry that has not been followed
    action: LongArray  # (D,) the move being tried, or BEFORE
    state: LongArray  # (D,) the player's information state
    fixing: LongArray  # (D,) the symmetries that leave that state unchanged
    record: LongArray  # (D,) its number in the record
    best_from: LongArray  # (D,) where the records of the successors by its best move begin
    tried: LongArray  # (D,) where those of the current move begin
    value: FloatArray  # (D, 3, 2) NOW, FIXED, CHOSEN by BEST, MEAN
    depth: LongArray  # (1,)

    @classmethod
    def empty(cls, depth: int) -> Line:
        columns = np.zeros((12, depth), dtype=np.int64)
        return cls(*columns, np.zeros((depth, 3, 2)), np.zeros(1, dtype=np.int64))  # type: ignore[call-arg]


class Record(NamedTuple):
    """The best response as far as it has been found: a tree of the information states that it leads to."""

    parent: LongArray  # (R,) -1 at the start
    fixing: LongArray  # (R,)
    record: IntArray  # (R,)
    action: IntArray  # (R,) the best move, numbered on the board as the player sees it
    actions: IntArray  # (R,) number of moves, 0 where there is no choice
    size: LongArray  # (1,)

    @classmethod
    def empty(cls, size: int) -> Record:
        long, flat = np.zeros((2, size), dtype=np.int64), np.zeros((3, size), dtype=np.int32)
        return cls(*long, *flat, np.zeros(1, dtype=np.int64))  # type: ignore[call-arg]


@linked_kernel
@borrowing
def _note_state(note, line, d, record):
    """Record the state of row ``d``, if notes are kept."""
    if len(note.parent) == 0:
        return
    k = note.size[0]
    note.parent[k] = line.record[d - 1] if d > 0 else -1
    note.record[k], note.fixing[k], note.actions[k] = record, line.fixing[d], 0
    line.record[d] = k
    note.size[0] = k + 1


@linked_kernel
@borrowing
def _note_move(note, line, d, actions):
    """Record the move just tried as the best so far, and drop the records of the successors by the best one before."""
    if len(note.parent) == 0:
        return
    own, best_from, tried = line.record[d], line.best_from[d], line.tried[d]
    for k in range(tried, note.size[0]):
        j = k - tried + best_from
        parent = note.parent[k]
        note.parent[j] = parent if parent == own else parent - tried + best_from
        note.record[j], note.fixing[j] = note.record[k], note.fixing[k]
        note.action[j], note.actions[j] = note.action[k], note.actions[k]
    note.size[0] += best_from - tried
    note.action[own], note.actions[own] = line.action[d], actions


@linked_kernel
@borrowing
def _all_choose(ahead, entries, begin, end):
    choices = 0
    for k in range(begin, end):
        choices += ahead.who[entries.position[k]] == HERE
    return choices == end - begin


@inner_kernel
@borrowing
def _open(walk, policy, ahead, player, entries, line, note, begin, end, scratch):
    """Open the information state with the belief ``begin`` to ``end``; return whether there was room."""
    d = line.depth[0]
    top, fixing, record = end, line.fixing[0], entries.record[begin]
    if 0 < len(note.parent) == note.size[0]:
        return False
    if d > 0:
        top, fixing = line.last[d - 1], still_fixing(walk.group, line.fixing[d - 1], record)
    line.value[d] = 0.0
    if _all_choose(ahead, entries, begin, end):
        line.begin[d], line.free[d], line.rest[d], line.end[d] = begin, end, top, top
    else:
        out, value = spread_all(walk, policy, ahead, player, fixing, entries, begin, end, BEFORE, top, scratch)
        if out == NO_ROOM:
            return False
        free = top
        while free < out and entries.record[free] == CHOICE:
            free += 1
        line.begin[d], line.free[d], line.rest[d], line.end[d] = top, free, free, out
        line.value[d, NOW, BEST] = line.value[d, NOW, MEAN] = value
    line.last[d], line.next[d], line.action[d], line.fixing[d] = line.end[d], line.rest[d], BEFORE, fixing
    line.state[d] = player
    if d > 0:
        above = line.state[d - 1]
        line.state[d] = successor_state(policy, above, record) if above != UNKNOWN else UNKNOWN
    _note_state(note, line, d, record)
    line.depth[0] = d + 1
    return True


@linked_kernel
@borrowing
def _own_chance(group, policy, line, d, action_set, actions):
    """Return the probability of the move being tried, or of one equal to it by symmetry, in the player's own policy."""
    row = policy.state[line.state[d], ROW] if line.state[d] != UNKNOWN else NO_ROW
    chance = 0.0
    for k in range(actions):
        if k == line.action[d] or (
            line.fixing[d] != 1 and same_orbit(group, line.fixing[d], action_set, line.action[d], k)
        ):
            chance += policy.behaviour[row + k] if row != NO_ROW else 1.0 / actions
    return chance


@linked_kernel
@borrowing
def _first_of_its_kind(group, fixing, action_set, action, actions):
    """Return the next move, from ``action`` on, that is not equal to an earlier one by symmetry."""
    while action < actions:
        earlier = 0
        while earlier < action and not same_orbit(group, fixing, action_set, action, earlier):
            earlier += 1
        if earlier == action:
            break
        action += 1
    return action


@linked_kernel
@borrowing
def _count_move(walk, policy, line, record, d, action_set, actions):
    """Add the value of the current move, whose successors were all followed, to the value of its state."""
    best, mean = line.value[d, NOW, BEST], line.value[d, NOW, MEAN]
    if line.action[d] == BEFORE:
        line.value[d, FIXED, BEST], line.value[d, FIXED, MEAN] = best, mean
        line.best_from[d] = record.size[0]
        return
    if line.action[d] == 0 or best > line.value[d, CHOSEN, BEST]:
        line.value[d, CHOSEN, BEST] = best
        _note_move(record, line, d, actions)
    else:
        record.size[0] = line.tried[d]
    line.value[d, CHOSEN, MEAN] += _own_chance(walk.group, policy, line, d, action_set, actions) * mean


@inner_kernel
@borrowing
def _next_move(walk, policy, ahead, player, entries, line, record, scratch):
    """Try the next move of the last state, whose current move was followed to its end.

    Returns 0: no room, 1: tried, 2: none left.
    """
    d, group = line.depth[0] - 1, walk.group
    begin, free, action, fixing = line.begin[d], line.free[d], line.action[d] + 1, line.fixing[d]
    actions, action_set = 0, 0
    if free > begin:
        position = entries.position[begin]
        actions = walk.position[position, MOVES]
        action_set = group.action_set[element_of(entries.views[begin, player]), walk.position[position, CONTENT]]
        if fixing != 1:
            action = _first_of_its_kind(group, fixing, action_set, action, actions)
    out, value = line.end[d], 0.0
    if action < actions:
        out, value = spread_all(walk, policy, ahead, player, fixing, entries, begin, free, action, out, scratch)
        if out == NO_ROOM:
            return 0
    _count_move(walk, policy, line, record, d, action_set, actions)
    if action >= actions:
        return 2
    line.action[d], line.next[d], line.last[d], line.tried[d] = action, line.end[d], out, record.size[0]
    line.value[d, NOW, BEST] = line.value[d, NOW, MEAN] = value
    return 1


@linked_kernel
@borrowing
def _close(line):
    """Close the last state; return whether it was the first one too."""
    d = line.depth[0] - 1
    line.depth[0] = d
    for what in range(2):
        total = line.value[d, FIXED, what] + line.value[d, CHOSEN, what]
        if d == 0:
            line.value[0, NOW, what] = total
        else:
            line.value[d - 1, NOW, what] += total
    return d == 0


@kernel
@borrowing
def _respond(walk, policy, ahead, player, entries, line, record, scratch, edges):
    """Follow at least ``edges`` more edges.

    Returns 0: no room, 1: more to do, 2: done, with the result in ``line.value[0]``.
    """
    stop = scratch.at[EDGES] + edges
    if line.depth[0] == 0 and not _open(walk, policy, ahead, player, entries, line, record, 0, 1, scratch):
        return 0
    while scratch.at[EDGES] < stop:
        scratch.at[EDGES] += 1
        d = line.depth[0] - 1
        begin = line.next[d]
        if begin < line.last[d]:
            end = begin + 1
            while end < line.last[d] and entries.record[end] == entries.record[begin]:
                end += 1
            if not _open(walk, policy, ahead, player, entries, line, record, begin, end, scratch):
                return 0
            line.next[d] = end
            continue
        found = _next_move(walk, policy, ahead, player, entries, line, record, scratch)
        if found == 0 or (found == 2 and _close(line)):
            return found
    return 1


class BeliefResponse:
    """The computation of one player's best response in steps.

    ``values`` are the values of the best response and of the player's own policy.  With ``record`` the moves of the
    best response are kept as well, for the information states that it reaches.
    """

    def __init__(self, walk: QuotientGraph, policy: InfosetPolicy, player: int, record: bool = False) -> None:
        n = walk.num_players
        self.policy, self.player = policy, player
        ahead = Continuations.of(walk, player)
        self.fixed = walk, PolicyArrays.of(policy, walk, ahead), ahead, player
        self.entries, self.line = Entries.empty(FIRST_ROOM, n), Line.empty(walk.depth + 2)
        self.record = Record.empty(FIRST_ROOM if record else 0)
        self.line.fixing[0] = everything(walk.group)
        self._make_room()
        self.entries.weight[0] = 1.0
        self.entries.views[0] = [p << ELEMENT_BITS for p in range(n)]
        self.done = False

    def _make_room(self) -> None:
        """Allocate scratch space and mixtures for the capacity of the entries."""
        walk, infostate, ahead, player = self.fixed
        room = len(self.entries.position)
        self.scratch = Scratch.empty(room, walk.num_players, walk.group.record.shape[1])
        self.fixed = walk, infostate.with_room(room, walk.most_actions), ahead, player

    def step(self, edges: int = EDGES_A_STEP) -> bool:
        """Follow at least ``edges`` more edges; return whether the computation is done."""
        ended = _respond(*self.fixed, self.entries, self.line, self.record, self.scratch, edges)
        if ended == 0:
            self._grow()
        self.done = ended == 2
        return self.done

    def save(self) -> dict[str, Any]:
        """Return all data that later steps depend on, as arrays by name."""
        depth = int(self.line.depth[0])
        used = int(self.line.last[:depth].max(initial=1))  # at the beginning there is one entry
        arrays = {f"entries.{name}": array[:used].copy() for name, array in self.entries._asdict().items()}
        arrays |= {f"line.{name}": array.copy() for name, array in self.line._asdict().items()}
        arrays |= {f"record.{name}": array.copy() for name, array in self.record._asdict().items()}
        arrays |= {f"mixed.{name}": array.copy() for name, array in self.fixed[1].mixed(used)._asdict().items()}
        return arrays | {"state": np.array([len(self.entries.position), self.done])}

    def restore(self, saved: dict[str, Any]) -> None:
        """Restore the state of ``save``.  Raises ``CheckpointError`` for arrays that do not fit."""
        try:
            room, done = saved["state"].tolist()
            entries, line = Entries.empty(room, self.entries.views.shape[1]), Line.empty(len(self.line.begin))
            record = Record.empty(len(saved["record.parent"]))
            for kind, arrays in (("entries", entries), ("line", line), ("record", record)):
                for name, array in arrays._asdict().items():
                    mine = saved[f"{kind}.{name}"]
                    array[: len(mine) if kind == "entries" else None] = mine
        except (KeyError, ValueError, TypeError) as error:
            raise CheckpointError(f"the evaluation does not fit: {describe_damage(error)}") from None
        self.entries, self.line, self.record, self.done = entries, line, record, bool(done)
        self._make_room()
        for name, array in self.fixed[1].mixed(len(saved["entries.position"]))._asdict().items():
            array[:] = saved[f"mixed.{name}"]

    def _grow(self) -> None:
        """Double the capacity of the array that was full."""
        if 0 < len(self.record.parent) == self.record.size[0]:
            grown = {name: longer(array, len(array) + 1) for name, array in self.record._asdict().items()}
            self.record = Record(**grown | {"size": self.record.size})
            return
        room = 2 * len(self.entries.position)
        self.entries = Entries(*[longer(array, room // 2 + 1) for array in self.entries])  # type: ignore[arg-type]
        self._make_room()

    def best(self, profile: InfosetPolicy | None = None) -> InfosetPolicy:
        """Return the profile, or by default the policy itself, with the player's part replaced by the best response.

        Valid when the computation is done and was recorded.
        """
        record = Record(**{name: array[: self.record.size[0]] for name, array in self.record._asdict().items()})
        chosen = record.actions > 0
        ends = np.cumsum(record.actions)
        row = np.where(chosen, ends - record.actions, NO_ROW).astype(np.int32)
        behaviour = np.zeros(int(ends[-1]))
        behaviour[(row + record.action)[chosen]] = 1.0
        profile = profile or self.policy
        return profile.with_player(self.player, record.parent, record.record, record.fixing, row, behaviour)

    @property
    def values(self) -> tuple[float, float]:
        """The values of the best response and of the player's own policy."""
        best, mean = self.line.value[0, NOW].tolist()
        return best, mean

    @property
    def share(self) -> float:
        """The approximate progress, from 0 to 1, by the moves and observations of the first states."""
        walk, line, record = self.fixed[0], self.line, self.entries.record
        done, width = 0.0, 1.0
        for d in range(min(int(line.depth[0]), LOOK)):
            begin, free, rest, end, last, group = (int(column[d]) for column in line[:6])
            before, actions = int(end > rest), 0
            if free > begin:
                position = self.entries.position[begin]
                actions = int(walk.position[position, MOVES])
            width /= max(before + actions, 1)
            done += width * (int(line.action[d]) + before)
            start = rest if line.action[d] == BEFORE else end
            if last > start:
                current = group - 1
                while current > start and record[current - 1] == record[group - 1]:
                    current -= 1
                done += width * (max(current, start) - start) / (last - start)
                width *= (group - max(current, start)) / (last - start)
        return 1.0 if self.done else done


class PolicyEvaluation:
    """The best responses of all players to one profile, computed in steps, with a thread per player."""

    def __init__(self, walk: QuotientGraph, policy: InfosetPolicy, record: bool = False) -> None:
        self.walk, self.policy = walk, policy
        self.responses = [BeliefResponse(walk, policy, player, record) for player in range(walk.num_players)]

    def step(self, edges: int = EDGES_A_STEP) -> bool:
        """Follow at least ``edges`` more edges for every player; return whether the computation is done."""
        left = [response for response in self.responses if not response.done]
        with ThreadPoolExecutor(max(len(left), 1)) as pool:
            return all([*pool.map(lambda response: response.step(edges), left)])

    @property
    def share(self) -> float:
        """The approximate progress, from 0 to 1."""
        return sum(response.share for response in self.responses) / len(self.responses)

    @property
    def result(self) -> Evaluation:
        """The evaluation, valid when the computation is done."""
        best, values = zip(*[response.values for response in self.responses], strict=True)
        return Evaluation.of(values, best)

    @property
    def best(self) -> InfosetPolicy:
        """Every player's best response to the others in one profile, valid when done and recorded."""
        return reduce(lambda profile, response: response.best(profile), self.responses, self.policy)

    def save(self) -> dict[str, Any]:
        """Return all data that later steps depend on, as arrays by name."""
        arrays = {f"{k}.{name}": array for k, r in enumerate(self.responses) for name, array in r.save().items()}
        return arrays | {"policy": self._mark()}

    def restore(self, saved: dict[str, Any]) -> None:
        """Restore the state of ``save``.

        Raises ``CheckpointError`` for arrays that do not fit, or of another profile.
        """
        if not np.array_equal(saved.get("policy", ()), self._mark()):
            raise CheckpointError("the evaluation does not fit: it was of another policy")
        for k, response in enumerate(self.responses):
            prefix = f"{k}."
            response.restore({name[len(prefix) :]: v for name, v in saved.items() if name.startswith(prefix)})

    def _mark(self) -> npt.NDArray[np.uint8]:
        """Return a digest of the profile."""
        digest = hashlib.sha256()
        for array in self.policy:
            digest.update(np.ascontiguousarray(array).tobytes())
        return np.frombuffer(digest.digest(), dtype=np.uint8)


def evaluate_policy(
    walk: QuotientGraph, policy: InfosetPolicy, progress: Callable[[float], None] | None = None
) -> Evaluation:
    """Evaluate a profile that was made on ``walk`` exactly, without its histories, with a thread per player.

    Time grows with the number of histories that differ for some player.  ``progress`` is called with the share done.

    >>> from infoset.solvers.sampling.belief_response import evaluate_policy
    >>> from infoset.solvers.sampling.mccfr import Mccfr
    >>> from infoset.tree.graph import explore
    >>> from infoset.tree.quotient_graph import QuotientGraph
    >>> walk = QuotientGraph.of(explore(infoset.load("kuhn_poker")))
    >>> round(evaluate_policy(walk, Mccfr(walk).policy()).nash_conv, 6)         # nothing was learnt: 11/12
    0.916667
    """
    job = PolicyEvaluation(walk, policy)
    while not job.step():
        if progress:
            progress(job.share)
    return job.result
