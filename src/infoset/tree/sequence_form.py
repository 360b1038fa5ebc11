"""The sequence form (von Stengel 1996) of an n-player game with perfect recall, on which every solver runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from infoset import status
from infoset.arguments import checks_arguments
from infoset.base import FloatArray, Game, IndexArray, IntArray, LongArray
from infoset.errors import BudgetError, GameRuleError, ImperfectRecallError, UnsupportedGameError
from infoset.memory import free_memory
from infoset.names import action_names
from infoset.tree.exact_numbers import exact_probabilities, simplest
from infoset.tree.game_tree import HISTORIES_A_REPORT, NARROW, GameTree
from infoset.tree.graph import CHANCE, TERMINAL
from infoset.tree.payoff_scale import constant_sum_of, exploitability_of_rounding, payoff_offsets

DEEP = 1000  # levels; the length of a key grows with the depth of the game


class FormArrays(NamedTuple):
    """The arrays that kernels read, with every player's part one after the other.

    Player ``i`` owns the sequences ``sequences[i]`` to ``sequences[i + 1]`` (its empty one first) and the information
    sets ``infosets[i]`` to ``infosets[i + 1]`` (parents first).  The terminal rows are stored once for each player,
    sorted by that player's sequence: sequence ``q`` of player ``i`` ends the rows ``rows[q]`` to ``rows[q + 1]`` of
    ``others[i]`` and ``payoffs[i]``.  Chance is folded into the payoffs, rows with equal sequences are merged, rows
    that pay nothing are dropped.  These payoffs do not include the constants ``SequenceForm.offsets``.

    The factored form (``tree.factored_form``) has no such rows.  A block represents many of them: it has some lists of
    weighted sequences for each player, and each term of the block's pattern pays the same amount, times the product of
    the weights, for every combination of entries from one list of each player.  Lists are ordered by block, and within
    a block by player.
    """

    sequences: IndexArray  # (n + 1,)
    infosets: IndexArray  # (n + 1,)
    first: IndexArray  # (I,) first sequence of each information set
    size: IndexArray  # (I,) number of actions
    parent: IndexArray  # (I,) the sequence that leads to the set
    rows: IndexArray  # (n, S_max + 1) by the player's own number of the sequence; (n, 0) where payoffs stand in blocks
    others: IndexArray  # (n, n - 1, T) the other players' sequences; with one player its own empty sequence, (1, 1, T)
    payoffs: FloatArray  # (n, T) payoff times the probability of chance
    list_rows: IndexArray  # (L + 1,) where the entries of each list begin
    entries: IndexArray  # (E,) the player's own numbers of sequences
    codes: npt.NDArray[np.uint16]  # (E,) index into ``weights`` of each entry, or (0,) where all weights are 1
    weights: FloatArray  # the distinct weights
    shares: FloatArray  # (S,) a further factor of the weight of each sequence, or (0,) where all are 1
    blocks: IndexArray  # (B,) the pattern of each block
    pattern_lists: IndexArray  # (P, n) number of lists of each player
    terms: IndexArray  # (P + 1,) where the terms of each pattern begin
    term_lists: IndexArray  # (n, number of terms) counted from the block's first list of that player
    term_paid: FloatArray  # (n, number of terms) payoff times the probability of chance

    @property
    def factored(self) -> bool:
        """Whether all payoffs are stored in blocks."""
        return bool(self.rows.shape[1] == 0)


def no_blocks(n: int) -> dict[str, Any]:
    """Return the block fields of a form of ``n`` players whose payoffs are all stored in rows."""
    none, begin = np.zeros((n, 0), dtype=np.uint32), np.zeros(1, dtype=np.uint32)
    lists = {"list_rows": begin, "entries": none[0], "codes": none[0].astype(np.uint16), "blocks": none[0]}
    lists |= {"weights": np.ones(1), "shares": np.zeros(0)}
    return {**lists, "pattern_lists": none.T, "terms": begin, "term_lists": none, "term_paid": np.zeros((n, 0))}


class SplitGradient(Protocol):
    """An evaluator of gradients that divides the payoffs of a form among threads; see ``tree.parallel``."""

    def gradient(self, player: int, plan: FloatArray, values: FloatArray) -> None:
        """Write the gradient of ``player`` (S,), given the realisation plan (S,) of all, into ``values`` (S,)."""


@dataclass(frozen=True, eq=False)
class SequenceForm:
    """A game as sequences, information sets with at least two actions, and terminal rows.

    ``arrays`` are what kernels read (``FormArrays``).  ``constant_sum`` is the sum of the players' payoffs where it is
    the same at every terminal history, else ``None``.  Payoffs that are very far from 0 relative to their range are
    shifted: add ``offsets`` to a player's payoffs in the arrays and ``terminals`` to get the true ones.  von Stengel
    (1996).

    >>> form = infoset.SequenceForm.of(infoset.load("kuhn_poker"))
    >>> form.num_sequences, form.num_infosets, form.zero_sum
    (26, 12, True)
    >>> form.keys[0], form.actions[0]
    ('J', ('pass', 'bet'))
    """

    name: str
    players: tuple[str, ...]
    arrays: FormArrays = field(repr=False)
    constant_sum: float | None  # the sum of the payoffs of every terminal history, if they all agree
    lowest: FloatArray = field(repr=False)  # (n,) each player's lowest payoff
    highest: FloatArray = field(repr=False)  # (n,) each player's highest payoff
    offsets: FloatArray = field(repr=False)  # (n,) the constant subtracted from each player's payoffs; usually 0
    num_histories: int
    num_terminals: int
    map_name: str
    tree_infoset: IntArray = field(repr=False)  # (I,) the information sets by their numbers in the tree
    _names: Callable[[], tuple[list[str], list[tuple[str, ...]]]] = field(repr=False)
    parallel: SplitGradient | None = field(default=None, repr=False)
    """The evaluator of gradients in two threads where lists have many entries, else ``None``."""

    @classmethod
    @checks_arguments
    def of(
        cls, game: Game | GameTree, max_histories: int | None = None, progress: Callable[[int], object] | None = None
    ) -> SequenceForm:
        """Compile a game or its tree.  Raises ``ImperfectRecallError`` where a player forgets."""
        tree = game if isinstance(game, GameTree) else GameTree.of(game, max_histories, progress)
        with status.during("building the sequence form"):
            return _compile(tree, progress)

    @property
    def num_players(self) -> int:
        """``n``."""
        return len(self.players)

    @property
    def num_sequences(self) -> int:
        """``S``, each player's empty sequence included."""
        return int(self.arrays.sequences[-1])

    @property
    def num_infosets(self) -> int:
        """``I``: the number of information sets with a choice, of all players."""
        return int(self.arrays.infosets[-1])

    @property
    def zero_sum(self) -> bool:
        """Whether there are two players whose payoffs have a constant sum."""
        return self.num_players == 2 and self.constant_sum is not None

    @property
    def largest_payoff(self) -> float:
        """The highest payoff of any player."""
        return float(self.highest.max())

    @property
    def smallest_payoff(self) -> float:
        """The lowest payoff of any player."""
        return float(self.lowest.min())

    @property
    def ranges(self) -> FloatArray:
        """(n,) the difference of each player's highest and lowest payoff; 0 where its payoff is constant."""
        return np.asarray(self.highest - self.lowest)

    @property
    def widest_range(self) -> float:
        """The largest of ``ranges``; 1 where every player's payoff is constant."""
        return float(self.ranges.max()) or 1.0

    @property
    def exploitability_of_rounding(self) -> float:
        """The exploitability, in units of payoffs, that rounding errors alone can amount to."""
        return exploitability_of_rounding(self.lowest - self.offsets, self.highest - self.offsets)

    @property
    def nbytes(self) -> int:
        """The size of the arrays in bytes."""
        return sum(array.nbytes for array in self.arrays)

    @cached_property
    def _named(self) -> tuple[list[str], list[tuple[str, ...]]]:
        return self._names()

    @cached_property
    def keys(self) -> list[str]:
        """(I,) the readable key of each information set."""
        return self._named[0]

    @cached_property
    def actions(self) -> list[tuple[str, ...]]:
        """(I,) the actions of each information set as words."""
        return self._named[1]

    @cached_property
    def infoset_player(self) -> IntArray:
        """(I,) the player of each information set."""
        return np.repeat(np.arange(self.num_players, dtype=np.int32), np.diff(self.arrays.infosets))

    @cached_property
    def infoset_of(self) -> IntArray:
        """(S,) the information set of each sequence; -1 for the empty ones."""
        owner = np.full(self.num_sequences, -1, dtype=np.int32)
        sizes = self.arrays.size.astype(np.int64)
        offset = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        owner[np.repeat(self.arrays.first.astype(np.int64), sizes) + offset] = np.repeat(np.arange(len(sizes)), sizes)
        return owner

    @cached_property
    def lengths(self) -> LongArray:
        """(S,) the number of actions of each sequence."""
        found, a = np.zeros(self.num_sequences, dtype=np.int64), self.arrays
        for first, size, parent in zip(a.first.tolist(), a.size.tolist(), a.parent.tolist(), strict=True):
            found[first : first + size] = found[parent] + 1
        return found

    def player_sequences(self, player: int) -> slice:
        """Return the slice of a player's sequences; its empty one comes first."""
        return slice(int(self.arrays.sequences[player]), int(self.arrays.sequences[player + 1]))

    def player_infosets(self, player: int) -> range:
        """Return the numbers of a player's information sets."""
        return range(int(self.arrays.infosets[player]), int(self.arrays.infosets[player + 1]))

    def terminals(self) -> tuple[IntArray, FloatArray]:
        """Return the terminal rows as sequences (T, n) and payoffs (T, n), the latter without ``offsets``.

        Raises ``UnsupportedGameError`` for a factored form, which has none.
        """
        if self.arrays.factored:
            raise UnsupportedGameError(f"{self.name}: this needs every history, and the factored form lists none")
        a, n = self.arrays, self.num_players
        sequences, payoffs = [], []
        for p in range(n):
            own = self.player_sequences(p)
            count = own.stop - own.start
            ends = np.repeat(np.arange(own.start, own.stop), np.diff(a.rows[p, : count + 1])).astype(np.int32)
            rows = np.insert(a.others[p, : n - 1].T, p, ends, axis=1)
            order = np.lexsort(rows.T[::-1])
            sequences.append(rows[order])
            payoffs.append(a.payoffs[p][order])
        return sequences[0].astype(np.int32), np.stack(payoffs, axis=1)


def find_sequences_and_reach(tree: GameTree, form: SequenceForm) -> tuple[IntArray, FloatArray]:
    """Return every player's sequence (N, n) at each node of the tree, and chance's reach probability of it (N,)."""
    return _carry(tree, first_sequences(tree, form), form.arrays.sequences.astype(np.int32), None)


def sets_of(tree: GameTree, form: SequenceForm) -> LongArray:
    """Return (N,) the form's information set of each node of the tree; -1 where nobody has a choice."""
    number = np.full(len(tree.infoset_player) + 1, -1)
    number[form.tree_infoset] = np.arange(form.num_infosets)
    return number[tree.infoset]  # NO_INFOSET is -1, which indexes the last entry


def ends(tree: GameTree, form: SequenceForm) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return every terminal history, unmerged: sequences (T, n), chance's reach probability (T,), payoffs (T, n)."""
    sequence_at, reach = find_sequences_and_reach(tree, form)
    at = _ends(tree)
    return sequence_at[at], reach[at], tree.graph.payoffs[tree.graph.content[tree.position[at]]]


def exact_ends(tree: GameTree, form: SequenceForm) -> tuple[IntArray, npt.NDArray[np.object_]]:
    """Return every terminal history in fractions: sequences (T, n), payoffs times chance's probability (T, n)."""
    graph, sequences = tree.graph, ends(tree, form)[0]
    probabilities = exact_probabilities(graph)
    reach, parent = [Fraction(1)], tree.parent.tolist()
    mover = graph.player[tree.position].tolist()
    for node in range(1, len(parent)):
        above, times = parent[node], Fraction(1)
        if mover[above] == CHANCE:
            edge = int(graph.first_edge[tree.position[above]]) + node - int(tree.first_child[above])
            times = probabilities[edge]
        reach.append(reach[above] * times)
    paid = [[simplest(value) for value in row] for row in graph.payoffs.tolist()]
    at = _ends(tree).tolist()
    rows = [[reach[node] * value for value in paid[graph.content[tree.position[node]]]] for node in at]
    return sequences, np.array(rows, dtype=object)


def _ends(tree: GameTree) -> IntArray:
    return np.flatnonzero(tree.graph.player[tree.position] == TERMINAL).astype(np.int32)


def first_sequences(tree: GameTree, form: SequenceForm) -> IntArray:
    """Return (I,) the first sequence of each of the tree's information sets; -1 where there is no choice."""
    first = np.full(len(tree.infoset_player), -1, dtype=np.int32)
    first[form.tree_infoset] = form.arrays.first
    return first


def _compile(tree: GameTree, progress: Callable[[int], object] | None) -> SequenceForm:
    graph = tree.graph
    n = len(tree.players)
    sizes = graph.num_edges[tree.position[tree.infoset_node]]
    decisions = np.flatnonzero(sizes > 1)
    decisions = decisions[np.argsort(tree.infoset_player[decisions], kind="stable")].astype(np.int32)
    owner, size = tree.infoset_player[decisions], sizes[decisions].astype(np.int32)
    first = (np.cumsum(size) - size + owner + 1).astype(np.int32)
    infosets = np.searchsorted(owner, np.arange(n + 1)).astype(np.int32)
    totals = np.array([size[owner == p].sum() + 1 for p in range(n)])
    sequences = np.concatenate([[0], np.cumsum(totals)]).astype(np.int32)
    first_of = np.full(len(sizes), -1, dtype=np.int32)
    first_of[decisions] = first
    reached = graph.payoffs[np.unique(graph.content[graph.player == TERMINAL])]
    offsets = payoff_offsets(reached)
    parent, rows, payoffs = _walk(tree, first_of, sequences, offsets, progress)
    rows, payoffs = _merge(rows, payoffs)

    sets = decisions.tolist()

    def names() -> tuple[list[str], list[tuple[str, ...]]]:
        _check_keys(tree)
        keys = [tree.key(k) for k in sets]
        if len(set(zip(owner.tolist(), keys, strict=True))) < len(keys):
            raise GameRuleError(f"{tree.name}: two information sets of one player have the same label")
        content = graph.content[tree.position[tree.infoset_node[decisions]]].tolist()
        words = {number: action_names(graph.action_sets[number]) for number in set(content)}
        return keys, [words[number] for number in content]

    return SequenceForm(
        name=tree.name,
        players=tree.players,
        arrays=FormArrays(
            _index(sequences),
            _index(infosets),
            _index(first),
            _index(size),
            _index(parent[decisions]),
            *_layout(rows, payoffs, sequences),
            **no_blocks(n),
        ),
        constant_sum=constant_sum_of(reached),
        lowest=reached.min(axis=0),
        highest=reached.max(axis=0),
        offsets=offsets,
        num_histories=len(tree.parent),
        num_terminals=tree.num_terminals,
        map_name=graph.map_name,
        tree_infoset=decisions.astype(np.int32),
        _names=names,
    )


def _check_keys(tree: GameTree) -> None:
    """Raise ``BudgetError`` where the readable keys of a deep game would fill the memory."""
    if len(tree.levels) < DEEP or tree.graph.map_name:
        return
    if (size := tree.states.characters()) > free_memory() // 4:
        raise BudgetError(
            f"{tree.name}: it is {len(tree.levels) - 2:,} moves deep, and the keys that name its information sets "
            f"would take {size:,} bytes, more than a quarter of the free memory; a map of its information would give "
            "them short names"
        )


def _walk(
    tree: GameTree,
    first_of: IntArray,
    sequences: IntArray,
    offsets: FloatArray,
    progress: Callable[[int], object] | None,
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the parent sequence of each of the tree's information sets, and the terminal rows.

    The rows are the terminal histories' sequences (T, n) and their payoffs less ``offsets`` (n,), times the probability
    of chance (T, n).
    """
    graph = tree.graph
    sequence_at, reach = _carry(tree, first_of, sequences, progress)
    player, at = graph.player[tree.position], _ends(tree)
    payoffs = (graph.payoffs[graph.content[tree.position[at]]] - offsets) * reach[at, None]
    parent = np.full(len(first_of), -1, dtype=np.int32)
    choosing = np.flatnonzero(player >= 0)
    infoset, sequence = tree.infoset[choosing], sequence_at[choosing, player[choosing]]
    parent[infoset[::-1]] = sequence[::-1]  # of the first node of each set
    wrong = np.flatnonzero((parent[infoset] != sequence) & (first_of[infoset] >= 0))
    if len(wrong):
        raise _forgets(tree, int(infoset[wrong[0]]), int(choosing[wrong[0]]))
    return parent, sequence_at[at], payoffs


def _carry(
    tree: GameTree, first_of: IntArray, sequences: IntArray, progress: Callable[[int], object] | None
) -> tuple[IntArray, FloatArray]:
    """Return every player's sequence (N, n) and chance's reach probability (N,), computed level by level."""
    n, report = len(tree.players), 0
    sequence_at, reach = np.empty((len(tree.parent), n), dtype=np.int32), np.ones(len(tree.parent))
    sequence_at[0] = sequences[:n]
    levels = tree.levels.tolist()
    for above, begin, end in zip(levels, levels[1:], levels[2:], strict=False):
        if end - begin < NARROW:
            for node in range(begin, end):
                _descend_one(tree, node, sequence_at, reach, first_of)
        else:
            nodes = np.arange(begin, end, dtype=np.int32)
            sequence_at[begin:end], reach[begin:end] = descend(
                tree, nodes, sequence_at[above:begin], reach[above:begin], first_of
            )
        if progress and end >= report:
            report = end + HISTORIES_A_REPORT
            progress(end)
    return sequence_at, reach


def _descend_one(tree: GameTree, node: int, sequence_at: IntArray, reach: FloatArray, first_of: IntArray) -> None:
    """Do the work of ``descend`` for one node, which is faster in trees with many narrow levels."""
    above = tree.parent.item(node)
    offset, position = node - tree.first_child.item(above), tree.position.item(above)
    player = tree.graph.player.item(position)
    sequence_at[node] = sequence_at[above]
    reach[node] = reach[above]
    if player == CHANCE:
        reach[node] *= tree.graph.probability[tree.graph.first_edge[position] + offset]
    elif (first := first_of.item(tree.infoset.item(above))) >= 0:
        sequence_at[node, player] = first + offset


def descend(
    tree: GameTree, nodes: IntArray, sequence_at: IntArray, reach: FloatArray, first_of: IntArray
) -> tuple[IntArray, FloatArray]:
    """Return sequences (K, n) and chance's reach (K,) of the ``nodes`` of one level from those of the level above.

    ``first_of``: the first sequence of each of the tree's information sets, -1 where there is no choice.
    """
    above = tree.parent[nodes]
    source = above - above[0]  # the first node of a level is a child of the first parent with children
    source += int(above[0]) - _level_begin(tree, int(above[0]))
    sequence_at, reach = sequence_at[source].copy(), reach[source]
    player = tree.graph.player[tree.position[above]]
    by_chance = np.flatnonzero(player == CHANCE)
    reach[by_chance] *= tree.graph.probability[tree.edges(nodes[by_chance])]
    infoset = tree.infoset[above]
    chosen = np.flatnonzero(player >= 0)
    chosen = chosen[first_of[infoset[chosen]] >= 0]
    sequence_at[chosen, player[chosen]] = first_of[infoset[chosen]] + (nodes - tree.first_child[above])[chosen]
    return sequence_at, reach


def _level_begin(tree: GameTree, node: int) -> int:
    return int(tree.levels[np.searchsorted(tree.levels, node, side="right") - 1])


def _forgets(tree: GameTree, infoset: int, node: int) -> ImperfectRecallError:
    player = tree.players[tree.infoset_player[infoset]]
    other = tree.history(int(tree.infoset_node[infoset]))
    return ImperfectRecallError(
        f"{tree.name}: {player} has imperfect recall at information set {tree.key(infoset)!r}: it has the histories "
        f"{other} and {tree.history(node)}, before which {player} did or saw different things"
    )


def _merge(rows: IntArray, payoffs: FloatArray) -> tuple[IntArray, FloatArray]:
    """Sum the payoffs of rows with equal sequences and drop rows that pay nobody anything."""
    order = np.lexsort(rows.T[::-1])
    rows, payoffs = rows[order], payoffs[order]
    fresh = np.concatenate([[True], (rows[1:] != rows[:-1]).any(axis=1)])
    starts = np.flatnonzero(fresh)
    payoffs = np.add.reduceat(payoffs, starts, axis=0)
    pays = (payoffs != 0).any(axis=1)
    return rows[starts][pays], payoffs[pays]


def _index(array: IntArray) -> IndexArray:
    return array.astype(np.uint32)


def _layout(rows: IntArray, payoffs: FloatArray, sequences: IntArray) -> tuple[IndexArray, IndexArray, FloatArray]:
    """Return the rows once for each player, sorted by its sequence, in the layout of ``FormArrays``."""
    count, n = rows.shape
    widest = int(np.diff(sequences).max())
    begins = np.zeros((n, widest + 1), dtype=np.uint32)
    others = np.zeros((n, max(n - 1, 1), count), dtype=np.uint32)
    paid = np.zeros((n, count))
    for p in range(n):
        order = np.argsort(rows[:, p], kind="stable")
        own = rows[order, p]
        begins[p] = np.searchsorted(own, sequences[p] + np.arange(widest + 1))
        others[p, : n - 1] = np.delete(rows[order], p, axis=1).T
        paid[p] = payoffs[order, p]
    return begins, others, paid
