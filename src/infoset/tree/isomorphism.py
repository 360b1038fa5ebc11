"""Whether two games have the same tree: a verified one-to-one correspondence, or the first history that differs.

A correspondence of the histories respects who moves, the information sets with their moves, the probabilities of chance
and the payoffs; it may rename and reorder moves and observations.  Moves without a choice and successive chance moves
count as one, since they change neither what players can do nor what they know when they do it.

Histories get colours that are equal wherever a correspondence could exist, and are refined until they no longer change:
from the ends to the start, over information sets, and back.  Colours are hashes of what a correspondence preserves, so
that different colours prove a difference; equal ones prove nothing, and the correspondence that they suggest is
verified.  Where that fails, a history is singled out in both trees, and the search goes on (McKay 1981).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from infoset.base import FloatArray
from infoset.errors import BudgetError
from infoset.names import action_names
from infoset.tree.game_tree import ROOT, GameTree
from infoset.tree.graph import CHANCE, TERMINAL

TOLERANCE = 1e-9  # relative to the larger of 1 and the number
MOST_ROUNDS = 10_000  # of the search, after which it gives up
MOST_PAIRED = 60  # children of a history that are compared by name
NONE = -1

Hashes = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TreeComparison:
    """The result of a comparison of two trees."""

    same: bool
    difference: str = ""
    """How they differ, in one line; empty where they are the same."""
    history: tuple[str, ...] = ()
    """The first history of the first tree that differs, as a list of moves."""
    other_history: tuple[str, ...] = ()
    """The history of the other tree that corresponds to it."""
    payoffs: str = ""
    """Where the trees are the same but for the units of payoffs, how each player's are converted; else empty."""


def compare_trees(
    one: GameTree, other: GameTree, progress: Callable[[int], object] = lambda count: None
) -> TreeComparison:
    """Compare two trees up to names; ``progress`` is called with the number of histories in every round.

    Raises ``BudgetError`` in the rare case that neither a correspondence nor a difference is found.

    >>> from infoset.tree.isomorphism import compare_trees
    >>> kuhn, leduc = (infoset.GameTree.of(infoset.load(name)) for name in ("kuhn_poker", "leduc_poker"))
    >>> compare_trees(kuhn, kuhn).same, compare_trees(kuhn, leduc).same
    (True, False)
    """
    if len(one.players) != len(other.players):
        return TreeComparison(False, f"{len(one.players)} players, there {len(other.players)}")
    trees = _Reduced(one), _Reduced(other)
    paid = trees[0].payoffs, trees[1].payoffs
    found = _Pair(trees, paid, progress).compare()
    if found.same or (units := _units(*paid)) is None:
        return found
    factors, constants = units
    converted = paid[0], paid[1] * factors + constants
    in_units = _Pair(trees, converted, progress).compare()
    if in_units.same:
        said = zip(one.players, factors.tolist(), constants.tolist(), strict=True)
        words = "; ".join(f"{player} {factor:.6g} times those there {shift:+.6g}" for player, factor, shift in said)
        return TreeComparison(True, payoffs=words)
    return found if _shared(*paid) >= _shared(*converted) else in_units


class _Reduced:
    """A tree without moves that leave no choice, as arrays; histories in breadth-first order, so by depth."""

    def __init__(self, tree: GameTree) -> None:
        graph, count = tree.graph, len(tree.parent)
        player = graph.player[tree.position].astype(np.int64)
        sizes = np.diff(tree.first_child)
        edge = np.ones(count)
        edge[1:] = graph.probability[tree.edges(np.arange(1, count, dtype=np.int32))]
        above = np.full(count, NONE, dtype=np.int64)  # the nearest history before that remains
        action = np.zeros(count, dtype=np.int64)  # which of its children leads here
        depth = np.zeros(count, dtype=np.int64)
        chance = np.ones(count)
        remains = np.zeros(count, dtype=np.bool_)
        for begin, end in zip(tree.levels[:-1].tolist(), tree.levels[1:].tolist(), strict=True):
            nodes = np.arange(begin, end)
            if begin > ROOT:
                before = tree.parent[nodes].astype(np.int64)
                stays = remains[before]
                above[nodes] = np.where(stays, before, above[before])
                action[nodes] = np.where(stays, nodes - tree.first_child[before], action[before])
                depth[nodes] = depth[before] + stays
                chance[nodes] = np.where(stays, edge[nodes], chance[before] * edge[nodes])
            after_chance = (above[nodes] != NONE) & (player[above[nodes]] == CHANCE)
            choice = (sizes[nodes] > 1) & ((player[nodes] >= 0) | ~after_chance)
            remains[nodes] = (player[nodes] == TERMINAL) | choice
        nodes = np.flatnonzero(remains)
        self.tree = tree
        self.node: Places = nodes[np.argsort(depth[nodes], kind="stable")]
        number = np.full(count, NONE, dtype=np.int64)
        number[self.node] = np.arange(len(self.node))
        self.parent: Places = np.where(above[self.node] == NONE, NONE, number[above[self.node]])
        self.mover = player[self.node]
        self.bounds = np.searchsorted(depth[self.node], np.arange(int(depth[self.node[-1]]) + 2))
        sets = np.where(self.mover >= 0, tree.infoset[self.node], NONE)
        _, self.infoset = np.unique(sets, return_inverse=True)
        self.infoset = np.where(sets == NONE, NONE, self.infoset)
        self.by_chance = (self.parent != NONE) & (self.mover[self.parent] == CHANCE)
        decided = (self.parent != NONE) & ~self.by_chance
        most = int(sizes.max(initial=1))
        choices = np.where(decided, self.infoset[self.parent] * most + action[self.node], NONE)
        _, self.action = np.unique(choices, return_inverse=True)
        self.action = np.where(choices == NONE, NONE, self.action)
        self.chance = np.where(self.by_chance, chance[self.node], 1.0)
        self.ends = self.mover == TERMINAL

    @property
    def payoffs(self) -> FloatArray:
        """(ends, n) the payoffs at the terminal histories."""
        graph = self.tree.graph
        return np.asarray(graph.payoffs[graph.content[self.tree.position[self.node[self.ends]]]])

    @cached_property
    def children(self) -> list[list[int]]:
        """The children of each history."""
        found: list[list[int]] = [[] for _ in self.node]
        for child, parent in enumerate(self.parent.tolist()):
            if parent != NONE:
                found[parent].append(child)
        return found

    def words(self, number: int) -> tuple[str, ...]:
        """Return the moves that lead to a history."""
        return action_names(tuple(self.tree.history(int(self.node[number]))))

    def last_words(self, number: int) -> tuple[str, ...]:
        """Return the moves that lead to a history from the one before it that remains."""
        before = self.parent[number]
        return self.words(number)[len(self.words(int(before))) if before != NONE else 0 :]


@dataclass(frozen=True)
class _Round:
    """One round of refinement of one tree."""

    given: Hashes
    """(R,) the colours at its beginning."""
    below: Hashes
    """(R,) these, with everything that follows."""
    sets: Hashes
    """(information sets,)"""
    moves: Hashes
    """(moves of information sets,)"""
    colours: Hashes
    """(R,) the colours at its end."""


class _Pair:
    def __init__(
        self, trees: tuple[_Reduced, _Reduced], paid: tuple[FloatArray, FloatArray], progress: Callable[[int], object]
    ) -> None:
        """Compare ``trees`` with the payoffs ``paid`` at their terminal histories."""
        self.trees = trees
        self.progress, self.rounds = progress, 0
        self.paid = _numbered(list(paid))
        self.weights = _numbered([tree.chance[:, None] for tree in self.trees])
        self.facts = []
        """For each tree (R, facts): what a correspondence preserves of each history by itself."""
        for tree, amounts, weights in zip(self.trees, self.paid, self.weights, strict=True):
            facts = np.full((len(tree.node), 2 + amounts.shape[1]), NONE, dtype=np.int64)
            facts[:, 0] = tree.mover
            facts[:, 1] = np.where(tree.by_chance, weights[:, 0], NONE)
            facts[tree.ends, 2:] = amounts
            self.facts.append(facts)

    def compare(self) -> TreeComparison:
        colours = [_mix(*facts.T.astype(np.uint64)) for facts in self.facts]
        before: tuple[_Round, _Round] | None = None
        classes = 0
        while True:
            now = self._round(colours)
            if now[0].below[0] != now[1].below[0]:
                return self._explain(before, now)
            colours = [now[0].colours, now[1].colours]
            found = len(np.unique(colours[0]))
            if _alike(colours) and found == classes:
                break
            before, classes = now, found
        singled = self._search(colours, now)
        if singled is None:
            return TreeComparison(True)
        why = "no correspondence of the moves respects all information sets"
        return TreeComparison(False, why, self.trees[0].words(singled))

    def _round(self, colours: Sequence[Hashes]) -> tuple[_Round, _Round]:
        self.rounds += 1
        if self.rounds > MOST_ROUNDS:
            raise BudgetError(
                f"{self.trees[0].tree.name} and {self.trees[1].tree.name} are too symmetric to be compared; not decided"
            )
        self.progress(len(self.trees[0].node))
        one, other = (_refine(tree, colour) for tree, colour in zip(self.trees, colours, strict=True))
        return one, other

    def _refined(self, colours: Sequence[Hashes]) -> tuple[_Round, _Round] | None:
        """Return the stable colours of both trees; ``None`` where they differ."""
        classes = 0
        while True:
            now = self._round(colours)
            colours = [now[0].colours, now[1].colours]
            if not _alike(colours):
                return None
            found = len(np.unique(colours[0]))
            if found == classes:
                return now
            classes = found

    def _search(self, colours: Sequence[Hashes], now: tuple[_Round, _Round]) -> int | None:
        """Return ``None`` once a correspondence is found, else the first history for which there is none.

        The stack holds for each history singled out the colours before that and the candidates in the other tree.
        """
        if self._corresponds(now):
            return None
        first, stack = NONE, []
        stack.append((colours, *self._single_out(colours)))
        while stack:
            given, history, candidates = stack[-1]
            first = history if first == NONE else first
            if not candidates:
                stack.pop()
                continue
            mark = np.uint64(self.rounds + 1)
            coloured = [given[0].copy(), given[1].copy()]
            for colour, place in zip(coloured, (history, candidates.pop()), strict=True):
                colour[place : place + 1] = _mix(colour[place : place + 1], np.array([mark]))
            found = self._refined(coloured)
            if found is None:
                continue
            if self._corresponds(found):
                return None
            deeper = [found[0].colours, found[1].colours]
            if len(np.unique(deeper[0])) < len(deeper[0]):
                stack.append((deeper, *self._single_out(deeper)))
        return first

    def _single_out(self, colours: Sequence[Hashes]) -> tuple[int, list[int]]:
        """Return the first history whose colour others share, and the histories of the other tree that have it."""
        _, inverse, counts = np.unique(colours[0], return_inverse=True, return_counts=True)
        shared = np.flatnonzero(counts[inverse] > 1)
        history = int(shared[0]) if len(shared) else 0
        return history, np.flatnonzero(colours[1] == colours[0][history]).tolist()[::-1]

    def _corresponds(self, now: tuple[_Round, _Round]) -> bool:
        """Return whether the order of the colours gives a correspondence of the two trees, which is verified."""
        one, other = self.trees
        if len(one.node) != len(other.node):
            return False
        orders = [_ordered(tree, found) for tree, found in zip(self.trees, now, strict=True)]
        image = np.full(len(one.node), NONE, dtype=np.int64)
        image[0] = 0
        (children, firsts), (others_children, others_firsts) = orders
        for begin, end in zip(one.bounds[1:-1].tolist(), one.bounds[2:].tolist(), strict=True):
            nodes = children[begin - 1 : end - 1]  # all but the start are children, and by depth
            before = one.parent[nodes]
            place = np.arange(begin - 1, end - 1) - firsts[before] + others_firsts[image[before]]
            if place.max(initial=0) >= len(others_children):
                return False
            image[nodes] = others_children[place]
        return (
            bool((np.bincount(image, minlength=len(image)) == 1).all())
            and bool((other.parent[image[1:]] == image[one.parent[1:]]).all())
            and bool((self.facts[0] == self.facts[1][image]).all())
            and _one_to_one(one.infoset, other.infoset[image])
            and _one_to_one(one.action, other.action[image])
        )

    # --- where they differ

    def _explain(self, before: tuple[_Round, _Round] | None, now: tuple[_Round, _Round]) -> TreeComparison:
        """Follow the colours that differ from the start on, up to the first history that differs by itself."""
        one, other = self.trees
        a = b = 0
        while True:
            why = self._own_difference(a, b) if before is None else self._informed_difference(a, b, before)
            below = [one.children[a], other.children[b]]
            left, right = _unmatched(below[0], below[1], now)
            if why or not left or not right:
                why = why or f"{len(below[0])} moves that lead on, there {len(below[1])}, or others after them"
                return TreeComparison(False, why, one.words(a), other.words(b))
            a, b = self._likeliest(left, right, before)

    def _own_difference(self, a: int, b: int) -> str:
        """Return how two histories differ by themselves; "" where they do not."""
        one, other = self.trees
        movers = [self._mover(tree, place) for tree, place in zip(self.trees, (a, b), strict=True)]
        if movers[0] != movers[1]:
            return f"{movers[0]} here, {movers[1]} there"
        if one.ends[a]:
            if (self.facts[0][a] == self.facts[1][b]).all():
                return ""
            paid = [_payoffs_at(tree, place) for tree, place in zip(self.trees, (a, b), strict=True)]
            return f"the payoffs are {paid[0]}, there {paid[1]}"
        below = one.children[a], other.children[b]
        if one.mover[a] == CHANCE:
            weights = [Counter(self.facts[k][children, 1].tolist()) for k, children in enumerate(map(np.array, below))]
            if weights[0] != weights[1]:
                shown = [_outcomes_at(tree, children) for tree, children in zip(self.trees, below, strict=True)]
                return f"chance has the probabilities {shown[0]}, there {shown[1]}"
        elif len(below[0]) != len(below[1]):
            return f"{self._name(one, a)} has {len(below[0])} moves, there {len(below[1])}"
        return ""

    def _informed_difference(self, a: int, b: int, before: tuple[_Round, _Round]) -> str:
        """Return how the information of the players at two histories differs; "" where it does not."""
        one, other = self.trees
        sets = one.infoset[a], other.infoset[b]
        if sets[0] != NONE and before[0].sets[sets[0]] != before[1].sets[sets[1]]:
            members = [np.flatnonzero(tree.infoset == k) for tree, k in zip(self.trees, sets, strict=True)]
            sizes = [len(found) for found in members]
            fellow = [
                next((tree.words(int(k)) for k in found if k != place), None)
                for tree, found, place in zip(self.trees, members, (a, b), strict=True)
            ]
            example = next(
                (
                    f", such as {_shown(words)} {where}"
                    for words, where in zip(fellow, ("here", "there"), strict=True)
                    if words
                ),
                "",
            )
            if sizes[0] == sizes[1]:
                return (
                    f"{self._name(one, a)} cannot tell {sizes[0]} histories apart, here and there, but they do not "
                    f"correspond{example}"
                )
            return f"{self._name(one, a)} cannot tell {sizes[0]} histories apart, there {sizes[1]}{example}"
        moves = one.action[a], other.action[b]
        if moves[0] != NONE and before[0].moves[moves[0]] != before[1].moves[moves[1]]:
            mover = self._name(one, int(one.parent[a]))
            return f"the last move of {mover} does not correspond at all histories of its information set"
        return ""

    def _likeliest(self, left: list[int], right: list[int], before: tuple[_Round, _Round] | None) -> tuple[int, int]:
        """Return the two children that most probably mean the same: alike before this round, then by name and kind."""
        one, other = self.trees

        def likeness(a: int, b: int) -> tuple[bool, bool, bool]:
            alike = before is not None and before[0].below[a] == before[1].below[b]
            same_kind = bool(one.mover[a] == other.mover[b])
            return alike, one.last_words(a) == other.last_words(b), same_kind

        pairs = [(a, b) for a in left[:MOST_PAIRED] for b in right[:MOST_PAIRED]]
        return max(pairs, key=lambda pair: likeness(*pair))

    def _mover(self, tree: _Reduced, place: int) -> str:
        kinds = {CHANCE: "chance moves", TERMINAL: "the game is over"}
        return kinds.get(int(tree.mover[place]), f"{self._name(self.trees[0], 0, int(tree.mover[place]))} moves")

    def _name(self, tree: _Reduced, place: int, player: int | None = None) -> str:
        number = int(tree.mover[place]) if player is None else player
        return tree.tree.players[number] if number >= 0 else "chance"


def _numbered(tables: list[FloatArray]) -> list[Places]:
    """Return, for tables of numbers, tables of whole numbers that are equal where the numbers are, up to rounding."""
    values = np.unique(np.concatenate([table.ravel() for table in tables]))
    gaps = np.diff(values) > TOLERANCE * np.maximum(1.0, np.abs(values[1:]))
    number = np.concatenate([[0], np.cumsum(gaps)]).astype(np.int64)
    return [number[np.searchsorted(values, table)] for table in tables]


def _units(one: FloatArray, other: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return positive factors (n,) and constants (n,) that convert the other payoffs to the range of these.

    ``None`` where the ranges are the same already, or where one of them is a single number.
    """
    low, low_there = one.min(axis=0), other.min(axis=0)
    ranges, ranges_there = one.max(axis=0) - low, other.max(axis=0) - low_there
    if ((ranges > 0) != (ranges_there > 0)).any():
        return None
    factors = np.where(ranges > 0, ranges, 1.0) / np.where(ranges_there > 0, ranges_there, 1.0)
    constants = low - factors * low_there
    return None if np.allclose(factors, 1.0) and np.allclose(constants, 0.0) else (factors, constants)


def _shared(one: FloatArray, other: FloatArray) -> int:
    """Return how many terminal histories have the same payoffs, whichever they are."""
    counts = [Counter(map(tuple, rows.tolist())) for rows in _numbered([one, other])]
    return (counts[0] & counts[1]).total()


def _mix(*parts: Hashes) -> Hashes:
    """Return hashes of rows of numbers (the finaliser of splitmix64 after each)."""
    mixed = np.zeros(len(parts[0]), dtype=np.uint64)
    for part in parts:
        mixed = (mixed + part + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(27)
        mixed *= np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return mixed


def _refine(tree: _Reduced, given: Hashes) -> _Round:
    """Refine colours once: from the ends to the start, over information sets and their moves, and back."""
    below, sums = np.empty_like(given), np.zeros_like(given)
    bounds = list(zip(tree.bounds[:-1].tolist(), tree.bounds[1:].tolist(), strict=True))
    for begin, end in reversed(bounds):
        below[begin:end] = _mix(given[begin:end], sums[begin:end])
        if begin:
            np.add.at(sums, tree.parent[begin:end], _mix(below[begin:end]))
    decides, moved = tree.infoset != NONE, tree.action != NONE
    moves = np.zeros(int(tree.action.max(initial=NONE)) + 1, dtype=np.uint64)
    np.add.at(moves, tree.action[moved], _mix(below[moved]))
    sets = np.zeros(int(tree.infoset.max(initial=NONE)) + 1, dtype=np.uint64)
    np.add.at(sets, tree.infoset[decides], _mix(below[decides], given[decides]))
    informed = np.zeros_like(given)
    informed[decides] = sets[tree.infoset[decides]]
    informed[moved] = _mix(informed[moved], moves[tree.action[moved]])
    colours = _mix(below, informed)
    for begin, end in bounds[1:]:
        colours[begin:end] = _mix(colours[begin:end], colours[tree.parent[begin:end]])
    return _Round(given, below, sets, moves, colours)


def _alike(colours: Sequence[Hashes]) -> bool:
    one, other = map(np.sort, colours)
    return len(one) == len(other) and bool((one == other).all())


def _ordered(tree: _Reduced, found: _Round) -> tuple[Places, Places]:
    """Return all children by parent, those of one parent by colour, and where those of each parent begin.

    A player's moves are ordered by the colour of the move, so alike at all histories of an information set.
    """
    nodes = np.arange(1, len(tree.node))
    moved = tree.action[nodes] != NONE
    key = found.colours[nodes].copy()
    key[moved] = found.moves[tree.action[nodes[moved]]]
    tie = np.where(moved, tree.action[nodes], nodes)
    children = nodes[np.lexsort((tie, key, tree.parent[nodes]))]
    sizes = np.bincount(tree.parent[nodes], minlength=len(tree.node))
    return children, np.concatenate([[0], np.cumsum(sizes)[:-1]])


def _one_to_one(one: Places, other: Places) -> bool:
    """Return whether equal numbers on one side correspond to equal numbers on the other, and none to ``NONE`` alone."""
    if ((one == NONE) != (other == NONE)).any():
        return False
    for this, that in ((one, other), (other, one)):
        image = np.full(int(this.max(initial=0)) + 1, NONE, dtype=np.int64)
        there = this != NONE
        image[this[there]] = that[there]
        if (image[this[there]] != that[there]).any():
            return False
    return True


def _unmatched(one: list[int], other: list[int], now: tuple[_Round, _Round]) -> tuple[list[int], list[int]]:
    """Return the children on either side of which there are more of the same colour than on the other."""
    counts = [Counter(found.below[children].tolist()) for found, children in zip(now, (one, other), strict=True)]
    left, right = (
        [child for child in children if counts[k][colour := int(now[k].below[child])] > counts[1 - k][colour]]
        for k, children in enumerate((one, other))
    )
    return left, right


def _payoffs_at(tree: _Reduced, place: int) -> str:
    graph = tree.tree.graph
    row = graph.payoffs[graph.content[tree.tree.position[tree.node[place]]]]
    return ", ".join(f"{value:g}" for value in row.tolist())


def _outcomes_at(tree: _Reduced, children: list[int]) -> str:
    shown = [f"{' '.join(tree.last_words(child))} {tree.chance[child]:.6g}" for child in children[:10]]
    return ", ".join(shown) + (" …" if len(children) > len(shown) else "")


def _shown(words: tuple[str, ...]) -> str:
    return f"[{', '.join(words[-12:])}]" if words else "the start"


__all__ = ["TreeComparison", "compare_trees"]
