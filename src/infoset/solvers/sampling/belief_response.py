"""Best responses to policies that are tables, exactly, where the histories are too many to write down.

Depth first over what one player does and sees, carrying everything that may be behind it: positions, what the others
know there, and how likely that is by chance and their moves.  Memory is a few beliefs, however large the game is.  What
a symmetry of the game makes equal is followed once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import FloatArray, IntArray, LongArray
from infoset.errors import CheckpointError, shorten
from infoset.interning import longer
from infoset.jit import inline_kernel, inner_kernel, kernel, linked_kernel
from infoset.policies.infoset_policy import NO_ROW, UNKNOWN, InfosetPolicy, behind, follow
from infoset.solvers.metrics import Evaluation
from infoset.tree.graph import CHANCE, TERMINAL
from infoset.tree.walk import (
    CHILD,
    CONTENT,
    ELEMENT_BITS,
    FIRST,
    MOVES,
    PLAYER,
    TOKENS,
    TURN,
    Walk,
    canonical,
    element_of,
    everything,
    same_orbit,
    state_of,
    still_fixing,
    turned,
    view_of,
)  # fmt: skip

CHOICE = -1  # in place of a token: the responding player has to move
BEFORE = -1  # in place of a move: what happens before the player has to move
NO_ROOM = -1
FIRST_ROOM = 1 << 16
LINES_A_CALL = 1 << 16
FEW = 6
LOOK = 4
NO_TOKEN = 2**31 - 1  # greater than all
BEST, MEAN = range(2)
NOW, FIXED, CHOSEN = range(3)  # values of the move being tried, of what needs no move, of the moves tried before


class Entries(NamedTuple):
    """What may be: the beliefs of the current line, one behind the other."""

    position: IntArray  # (C,)
    views: LongArray  # (C, n) what the others know, and how the responding player sees the board
    weight: FloatArray  # (C,) by chance and by the others' moves
    token: IntArray  # (C,) what the responding player has just learnt, or CHOICE

    @classmethod
    def empty(cls, size: int, players: int) -> Entries:
        flat = np.zeros(size, dtype=np.int32)
        return cls(flat, np.zeros((size, players), dtype=np.int64), np.zeros(size), flat.copy())

    def twice(self) -> Entries:
        more = len(self.position) + 1
        return Entries(*[longer(array, more) for array in self])  # type: ignore[arg-type]


class Line(NamedTuple):
    """One row for each information state of the responding player on the current line; ``depth[0]`` are open."""

    begin: LongArray  # (D,) where its entries begin, those with a choice first
    free: LongArray  # (D,) where those without begin
    end: LongArray  # (D,) where they end, and those of the current move begin
    last: LongArray  # (D,) where these end
    next: LongArray  # (D,) the first entry that has not been followed
    move: LongArray  # (D,) the one being tried, or BEFORE
    state: LongArray  # (D,) what the player knows
    fixing: LongArray  # (D,) the symmetries that leave that as it is
    value: FloatArray  # (D, 3, 2) NOW, FIXED, CHOSEN by BEST, MEAN
    depth: LongArray  # (1,)

    @classmethod
    def empty(cls, depth: int) -> Line:
        columns = np.zeros((8, depth), dtype=np.int64)
        return cls(*columns, np.zeros((depth, 3, 2)), np.zeros(1, dtype=np.int64))  # type: ignore[call-arg]


@inline_kernel
def _moves(walk, position):
    return walk.position[position, MOVES]


@linked_kernel
def _copy(source, k, target, j):
    target.position[j], target.weight[j], target.token[j] = source.position[k], source.weight[k], source.token[k]
    for p in range(source.views.shape[1]):
        target.views[j, p] = source.views[k, p]


@inner_kernel
def _behind(walk, policy, player, fixing, known, e, weight, target, k):
    """Write what edge ``e`` leads to as entry ``k``; of ``player`` only what it learns is noted, not what it knows."""
    group = walk.group
    target.position[k], target.weight[k] = walk.edge[e, CHILD], weight
    target.token[k] = walk.edge[e, TOKENS + player]
    for p in range(len(known)):
        view, token = known[p], walk.edge[e, TOKENS + p]
        if token >= 0:
            if p == player:
                target.token[k], element = canonical(group, fixing, element_of(view), token)
                view = view_of(0, element)
            else:
                view = follow(policy, group, view, token)
        target.views[k, p] = turned(group, view, walk.edge[e, TURN])


@linked_kernel
def _chance_of(walk, policy, position, mover, known, e):
    """How likely nature or ``mover`` takes an edge of the position."""
    if mover == CHANCE:
        return walk.probability[e]
    view, first = known[mover], walk.position[position, FIRST]
    row = policy.row[state_of(view)] if state_of(view) != UNKNOWN else NO_ROW
    if row == NO_ROW:
        return 1.0 / walk.position[position, MOVES]
    place = walk.group.first_entry[walk.position[position, CONTENT]] - first
    return policy.behaviour[row + walk.group.entry[element_of(view), place + e]]


@inline_kernel
def _place(walk, position, view, move):
    """The edge of a move that is numbered as the player sees the board."""
    group = walk.group
    menu = group.menu[element_of(view), walk.position[position, CONTENT]]
    back = group.inverse[element_of(view)]
    return walk.position[position, FIRST] + group.entry[back, group.first_entry[menu] + move]


@inner_kernel
def _spread(walk, policy, player, fixing, entries, source, move, out, work, known):
    """Follow entry ``source``, by ``move`` where one is given, until ``player`` has to move or learns something.

    Returns the end of what it came to, written from ``out`` on, or NO_ROOM, and what the ends are worth.
    """
    value, size, n = 0.0, 1, len(known)
    position = entries.position[source]
    if move == BEFORE and walk.position[position, PLAYER] == player and _moves(walk, position) > 1:
        if out == len(entries.position):
            return NO_ROOM, 0.0
        _copy(entries, source, entries, out)
        entries.token[out] = CHOICE
        return out + 1, 0.0
    _copy(entries, source, work, 0)
    while size > 0:
        size -= 1
        position, weight = work.position[size], work.weight[size]
        for p in range(n):
            known[p] = work.views[size, p]
        mover, first = walk.position[position, PLAYER], walk.position[position, FIRST]
        last = first + walk.position[position, MOVES]
        if mover == player and move != BEFORE:
            first = _place(walk, position, known[player], move)
            last, move = first + 1, BEFORE
        if out + last - first > len(entries.position) or size + last - first > len(work.position):
            return NO_ROOM, 0.0
        for e in range(first, last):
            below = walk.edge[e, CHILD]
            share = _chance_of(walk, policy, position, mover, known, e) if mover != player else 1.0
            heir = walk.position[below, PLAYER]
            if share == 0.0:
                continue
            if heir == TERMINAL:
                value += weight * share * walk.payoffs[walk.position[below, CONTENT], player]
            elif walk.edge[e, TOKENS + player] >= 0 or (heir == player and _moves(walk, below) > 1):
                _behind(walk, policy, player, fixing, known, e, weight * share, entries, out)
                out += 1
            else:
                _behind(walk, policy, player, fixing, known, e, weight * share, work, size)
                size += 1
    return out, value


@inner_kernel
def _sort(entries, begin, end, spare):
    """Sort entries by token; ``spare`` is scratch of the same room."""
    token = entries.token[begin]
    sorted_already = True
    for k in range(begin, end):
        sorted_already = sorted_already and entries.token[k] >= token
        token = entries.token[k]
    if sorted_already:
        return
    for k in range(begin, end):
        _copy(entries, k, spare, k - begin)
    size, placed, smallest = end - begin, begin, CHOICE
    for _ in range(FEW):  # a pass for each token costs less than sorting while they are few
        following = NO_TOKEN
        for k in range(size):
            token = spare.token[k]
            if token == smallest:
                _copy(spare, k, entries, placed)
                placed += 1
            elif token > smallest and token < following:
                following = token
        smallest = following
        if placed == end:
            return
    order = np.argsort(spare.token[:size], kind="mergesort")
    for k in range(size):
        _copy(spare, order[k], entries, begin + k)


@inner_kernel
def _spread_all(walk, policy, player, fixing, entries, begin, end, move, out, work, spare, known):
    """``_spread`` for entries ``begin`` to ``end``, sorted."""
    value, first = 0.0, out
    for k in range(begin, end):
        out, ends = _spread(walk, policy, player, fixing, entries, k, move, out, work, known)
        if out == NO_ROOM:
            return NO_ROOM, 0.0
        value += ends
    if out - first > len(spare.position):
        return NO_ROOM, 0.0
    if out > first:
        _sort(entries, first, out, spare)
    return out, value


@kernel
def _open(walk, policy, player, entries, line, begin, end, work, spare, known):
    """A new information state behind the entries ``begin`` to ``end``; whether there was room."""
    d = line.depth[0]
    top, fixing = end, line.fixing[0]
    if d > 0:
        top, fixing = line.last[d - 1], still_fixing(walk.group, line.fixing[d - 1], entries.token[begin])
    out, value = _spread_all(walk, policy, player, fixing, entries, begin, end, BEFORE, top, work, spare, known)
    if out == NO_ROOM:
        return False
    free = top
    while free < out and entries.token[free] == CHOICE:
        free += 1
    line.begin[d], line.free[d], line.end[d], line.last[d], line.next[d] = top, free, out, out, free
    line.move[d], line.fixing[d] = BEFORE, fixing
    line.value[d] = 0.0
    line.value[d, NOW] = value
    line.state[d] = player
    if d > 0:
        line.state[d] = behind(policy.first_child, policy.token, line.state[d - 1], entries.token[begin])
    line.depth[0] = d + 1
    return True


@linked_kernel
def _own_chance(group, policy, line, d, menu, moves):
    """How likely the policy's player makes the move being tried, or one that is equal to it."""
    row = policy.row[line.state[d]] if line.state[d] != UNKNOWN else NO_ROW
    chance = 0.0
    for k in range(moves):
        if same_orbit(group, line.fixing[d], menu, line.move[d], k):
            chance += policy.behaviour[row + k] if row != NO_ROW else 1.0 / moves
    return chance


@linked_kernel
def _first_of_its_kind(group, fixing, menu, move, moves):
    """The next move from ``move`` on that no earlier one is equal to."""
    while move < moves:
        earlier = 0
        while earlier < move and not same_orbit(group, fixing, menu, move, earlier):
            earlier += 1
        if earlier == move:
            break
        move += 1
    return move


@inner_kernel
def _next_move(walk, policy, player, entries, line, work, spare, known):
    """All is followed behind the current move of the last state: try the next.  0: no room, 1: tried, 2: none left."""
    d, group = line.depth[0] - 1, walk.group
    begin, free, move, fixing = line.begin[d], line.free[d], line.move[d] + 1, line.fixing[d]
    moves, menu = 0, 0
    if free > begin:
        position = entries.position[begin]
        moves = _moves(walk, position)
        menu = group.menu[element_of(entries.views[begin, player]), walk.position[position, CONTENT]]
        if fixing != 1:
            move = _first_of_its_kind(group, fixing, menu, move, moves)
    out, value = line.end[d], 0.0
    if move < moves:
        out, value = _spread_all(walk, policy, player, fixing, entries, begin, free, move, out, work, spare, known)
        if out == NO_ROOM:
            return 0
    best, mean = line.value[d, NOW, BEST], line.value[d, NOW, MEAN]
    if line.move[d] == BEFORE:
        line.value[d, FIXED, BEST], line.value[d, FIXED, MEAN] = best, mean
    else:
        line.value[d, CHOSEN, BEST] = best if line.move[d] == 0 else max(line.value[d, CHOSEN, BEST], best)
        line.value[d, CHOSEN, MEAN] += _own_chance(group, policy, line, d, menu, moves) * mean
    if move >= moves:
        return 2
    line.move[d], line.next[d], line.last[d] = move, line.end[d], out
    line.value[d, NOW, BEST] = line.value[d, NOW, MEAN] = value
    return 1


@kernel
def _respond(walk, policy, player, entries, line, work, spare, known, lines):
    """Follow up to so many information states more.  0: no room, 1: more to do, 2: over, ``line.value[0]`` says it."""
    for _ in range(lines):
        d = line.depth[0] - 1
        if line.next[d] < line.last[d]:
            begin = line.next[d]
            end = begin + 1
            while end < line.last[d] and entries.token[end] == entries.token[begin]:
                end += 1
            if not _open(walk, policy, player, entries, line, begin, end, work, spare, known):
                return 0
            line.next[d] = end
            continue
        found = _next_move(walk, policy, player, entries, line, work, spare, known)
        if found == 0:
            return 0
        if found == 2:
            line.depth[0] = d
            for what in range(2):
                total = line.value[d, FIXED, what] + line.value[d, CHOSEN, what]
                if d == 0:
                    line.value[0, NOW, what] = total
                else:
                    line.value[d - 1, NOW, what] += total
            if d == 0:
                return 2
    return 1


class BeliefResponse:
    """One player's best response at work, in steps; ``values`` are its worth and that of the player's own policy."""

    def __init__(self, walk: Walk, policy: InfosetPolicy, player: int) -> None:
        n = walk.num_players
        self.fixed = walk, policy, player
        self.entries, self.line = Entries.empty(FIRST_ROOM, n), Line.empty(walk.depth + 2)
        self.line.fixing[0] = everything(walk.group)
        self.work, self.spare = Entries.empty(FIRST_ROOM, n), Entries.empty(FIRST_ROOM, n)
        self.entries.weight[0] = 1.0
        self.entries.views[0] = [p << ELEMENT_BITS for p in range(n)]
        self.known = np.zeros(n, dtype=np.int64)
        self.opened = self.done = False

    def step(self, lines: int = LINES_A_CALL) -> bool:
        """Follow so many information states; whether that was the last."""
        scratch = self.work, self.spare, self.known
        if not self.opened:
            self.opened = bool(_open(*self.fixed, self.entries, self.line, 0, 1, *scratch))
            self._grow(not self.opened)
            return False
        ended = _respond(*self.fixed, self.entries, self.line, *scratch, lines)
        self._grow(ended == 0)
        self.done = ended == 2
        return self.done

    def save(self) -> dict[str, Any]:
        """All that the steps to come depend on, as arrays by name."""
        depth = int(self.line.depth[0])
        used = int(self.line.last[:depth].max(initial=1))  # at the beginning there is one entry
        arrays = {f"entries.{name}": array[:used].copy() for name, array in self.entries._asdict().items()}
        arrays |= {f"line.{name}": array.copy() for name, array in self.line._asdict().items()}
        state = np.array([len(self.entries.position), len(self.spare.position), self.opened, self.done])
        return arrays | {"state": state}

    def restore(self, saved: dict[str, Any]) -> None:
        """As it was when ``save`` was called.  Raises ``CheckpointError`` for arrays that do not fit."""
        try:
            room, spare, opened, done = saved["state"].tolist()
            n = self.entries.views.shape[1]
            entries, line = Entries.empty(room, n), Line.empty(len(self.line.begin))
            for name, array in entries._asdict().items():
                mine = saved[f"entries.{name}"]
                array[: len(mine)] = mine
            for name, array in line._asdict().items():
                array[:] = saved[f"line.{name}"]
        except (KeyError, ValueError, TypeError) as error:
            raise CheckpointError(f"the evaluation does not fit: {shorten(str(error), 200)}") from None
        self.entries, self.line, self.opened, self.done = entries, line, bool(opened), bool(done)
        self.work, self.spare = Entries.empty(spare, n), Entries.empty(spare, n)

    def _grow(self, needed: bool) -> None:
        if needed:
            self.entries, self.work, self.spare = self.entries.twice(), self.work.twice(), self.spare.twice()

    @property
    def values(self) -> tuple[float, float]:
        """Of the best response, and of the player's own policy."""
        best, mean = self.line.value[0, NOW].tolist()
        return best, mean

    @property
    def share(self) -> float:
        """Roughly how much is done, from 0 to 1, by the moves and observations of the first states."""
        walk, line, token = self.fixed[0], self.line, self.entries.token
        done, width = 0.0, 1.0
        for d in range(min(int(line.depth[0]), LOOK)):
            begin, free, end, last, group = (int(a[d]) for a in (line.begin, line.free, line.end, line.last, line.next))
            before, moves = int(end > free), 0
            if free > begin:
                position = self.entries.position[begin]
                moves = int(walk.position[position, MOVES])
            width /= max(before + moves, 1)
            done += width * (int(line.move[d]) + before)
            start = free if line.move[d] == BEFORE else end
            if last > start:
                current = group - 1
                while current > start and token[current - 1] == token[group - 1]:
                    current -= 1
                done += width * (max(current, start) - start) / (last - start)
                width *= (group - max(current, start)) / (last - start)
        return 1.0 if self.done else done


class PolicyEvaluation:
    """Everybody's best responses to one profile at work, in steps, a thread a player; saved, they go on elsewhere."""

    def __init__(self, walk: Walk, policy: InfosetPolicy) -> None:
        self.policy = policy
        self.responses = [BeliefResponse(walk, policy, player) for player in range(walk.num_players)]

    def step(self, lines: int = LINES_A_CALL) -> bool:
        """So many information states more of everybody; whether those were the last."""
        left = [response for response in self.responses if not response.done]
        with ThreadPoolExecutor(max(len(left), 1)) as pool:
            return all([*pool.map(lambda response: response.step(lines), left)])

    @property
    def share(self) -> float:
        """Roughly how much is done, from 0 to 1."""
        return sum(response.share for response in self.responses) / len(self.responses)

    @property
    def result(self) -> Evaluation:
        """When all is done."""
        best, values = zip(*[response.values for response in self.responses], strict=True)
        return Evaluation.of(values, best)

    def save(self) -> dict[str, Any]:
        """All that the steps to come depend on, as arrays by name."""
        arrays = {f"{k}.{name}": array for k, r in enumerate(self.responses) for name, array in r.save().items()}
        return arrays | {"policy": self._mark()}

    def restore(self, saved: dict[str, Any]) -> None:
        """As it was when ``save`` was called.

        Raises ``CheckpointError`` for arrays that do not fit, or of another profile.
        """
        if not np.array_equal(saved.get("policy", ()), self._mark()):
            raise CheckpointError("the evaluation does not fit: it was of another policy")
        for k, response in enumerate(self.responses):
            prefix = f"{k}."
            response.restore({name[len(prefix) :]: v for name, v in saved.items() if name.startswith(prefix)})

    def _mark(self) -> npt.NDArray[np.uint8]:
        """Of the profile."""
        digest = hashlib.sha256()
        for array in self.policy:
            digest.update(np.ascontiguousarray(array).tobytes())
        return np.frombuffer(digest.digest(), dtype=np.uint8)


def evaluate_policy(walk: Walk, policy: InfosetPolicy, progress: Callable[[float], None] | None = None) -> Evaluation:
    """Exact figures of a profile that was made on ``walk``, player by player in threads, without its histories.

    Time grows with the histories that differ for some player.  ``progress`` is told the share that is done.

    >>> from infoset.solvers.sampling.belief_response import evaluate_policy
    >>> from infoset.solvers.sampling.mccfr import Mccfr
    >>> from infoset.tree.graph import explore
    >>> from infoset.tree.walk import Walk
    >>> walk = Walk.of(explore(infoset.load("kuhn_poker")))
    >>> round(evaluate_policy(walk, Mccfr(walk).policy()).nash_conv, 6)         # nothing was learnt: 11/12
    0.916667
    """
    work = PolicyEvaluation(walk, policy)
    while not work.step():
        if progress:
            progress(work.share)
    return work.result
