"""Compare a factored form with the rules that it was made from, on sampled plays.

A factored form states the payoff of a *tuple of sequences*, one per player: the sum over all blocks of the products
that contain them.  The rules state the same number as a sum over histories, the payoff of each times the probability of
chance.  For sampled tuples both numbers are computed, the second by playing the rules alone, and compared.  The cost is
a few thousand moves of the rules and one pass over the form's arrays, which is small beside building the form.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, product, zip_longest
from typing import NamedTuple, TypeAlias

import numpy as np

from infoset import status
from infoset.base import Action, FloatArray, Game, InformationState, LongArray, Step, own_record
from infoset.errors import GameRuleError, shorten
from infoset.names import policy_key
from infoset.tree.factored_form import FactoredForm
from infoset.tree.factored_walk import NO_ROW, known_first
from infoset.tree.graph import NO_RECORD
from infoset.tree.sequence_form import FormArrays

PLAYS = 200
MAX_STEPS = 20_000
"""The number of moves of the rules after which no further tuple is compared."""
RELATIVE_TOLERANCE = 1e-9
CHUNK = 1 << 24  # entries that are searched at once
EMPTY_SEQUENCE = 0


class LastChoice(NamedTuple):
    """A sequence by its last choice: an information state with several moves, and the move made there.

    The earlier moves are part of the information state.
    """

    infostate: InformationState
    action_set: tuple[Action, ...]
    action: Action


Tuple: TypeAlias = "tuple[LastChoice | None, ...]"
"""One sequence per player, ``None`` for the empty one."""


def check_factored_form(game: Game, factored: FactoredForm, plays: int = PLAYS, seed: int = 0) -> int:
    """Return how many tuples of sequences were compared, all of which agreed.

    The tuples are those of ``plays`` random plays, and those that combine the first player's sequence of each play with
    the other players' of the play before.  Comparing ends early after ``MAX_STEPS`` moves of the rules.

    Raises ``GameRuleError`` where the form and the rules pay differently.

    >>> from infoset.tree.factoring import factor_game
    >>> from infoset.tree.form_check import check_factored_form
    >>> game = infoset.load("dark_hex(rows=2,columns=2)")
    >>> check_factored_form(game, FactoredForm.of(factor_game(game), symmetric=True), plays=20) > 20
    True
    """
    with status.during("comparing the factored form with the rules"):
        rng = np.random.default_rng(seed)
        sampled = [_sample_tuple(game, rng) for _ in range(plays)]
        crossed = [(one[0], *other[1:]) for one, other in zip(sampled[1:], sampled, strict=False)]
        player = _RulePlayer(game)
        expected: list[tuple[Tuple, FloatArray]] = []
        for tuple_ in dict.fromkeys(chain.from_iterable(zip_longest(sampled, crossed, fillvalue=sampled[0]))):
            if player.steps > MAX_STEPS and expected:
                break
            expected.append((tuple_, _pay_orbit(player, factored, tuple_)))
        paid, size = _pay_by_form(factored, [tuple_ for tuple_, _ in expected])
    for (tuple_, by_rules), by_form, parts in zip(expected, paid, size, strict=True):
        tolerance = RELATIVE_TOLERANCE * max(parts, float(np.abs(by_rules).max()))
        if np.abs(by_rules - by_form).max() > tolerance:
            where = ", ".join(
                "nothing" if one is None else f"{policy_key(one.infostate, '')} {one.action}" for one in tuple_
            )
            raise GameRuleError(
                f"{factored.rules.name}: the factored form pays {_round(by_form)} where the rules pay "
                f"{_round(by_rules)}, after {shorten(where, 200)}; the cores declared by the game, or the form, are "
                "wrong; form=tree lists all histories instead"
            )
    return len(expected)


def _round(payoffs: FloatArray) -> str:
    return "(" + ", ".join(f"{paid:.6g}" for paid in payoffs) + ")"


def _observe(infostate: InformationState, action: Action | None, step: Step, player: int) -> InformationState:
    """Return a player's information state after one more step."""
    record = own_record(action, step.observation(player))
    return infostate if record is None else (*infostate, record)


def _sample_tuple(game: Game, rng: np.random.Generator) -> Tuple:
    """Play at random, and return every player's sequence at the end."""
    step, n = game.start(), len(game.players)
    infostate = [_observe((), None, step, p) for p in range(n)]
    last: list[LastChoice | None] = [None] * n
    while not step.state.terminal:
        action_sets = [step.state.legal_actions(p) for p in range(n)]
        actions = [action_set[int(rng.integers(len(action_set)))] if action_set else None for action_set in action_sets]
        for p, action_set in enumerate(action_sets):
            if len(action_set) > 1:
                last[p] = LastChoice(infostate[p], action_set, actions[p])  # type: ignore[arg-type]
        step = step.state.play(actions, step.state.draw(actions, rng))
        infostate = [_observe(infostate[p], actions[p], step, p) for p in range(n)]
    return tuple(last)


class _RulePlayer:
    """A player of the rules along given sequences, which counts the moves that were played."""

    def __init__(self, game: Game) -> None:
        self.game, self.n, self.steps = game, len(game.players), 0

    def pay(self, tuple_: Tuple) -> FloatArray:
        """Return (n,) the sum, over the histories that end with these sequences, of payoff times chance probability."""
        total, first = np.zeros(self.n), self.game.start()
        todo = [(first, [_observe((), None, first, p) for p in range(self.n)], 1.0)]
        while todo:
            step, infostate, chance = todo.pop()
            state = step.state
            if state.terminal:
                if all(_is_complete(*one) for one in zip(tuple_, infostate, strict=True)):
                    total += chance * np.array(state.returns())
                continue
            action_sets = [_moves_along(tuple_[p], infostate[p], state.legal_actions(p)) for p in range(self.n)]
            for actions in product(*action_sets):
                for answer, probability in state.chance_outcomes(actions) or ((None, 1.0),):
                    after = getattr(state, "play_unchecked", state.play)(actions, answer)
                    self.steps += 1
                    knows = [_observe(infostate[p], actions[p], after, p) for p in range(self.n)]
                    if all(_fits(*one) for one in zip(tuple_, knows, strict=True)):
                        todo.append((after, knows, chance * probability))
        return total


def _moves_along(
    sequence: LastChoice | None, infostate: InformationState, action_set: tuple[Action, ...]
) -> tuple[Action | None, ...]:
    """Return the moves of an action set that keep to a sequence: all where there is no choice, else one or none."""
    if len(action_set) <= 1:
        return action_set or (None,)
    if sequence is None or len(infostate) > len(sequence.infostate):
        return ()
    action = sequence.action if len(infostate) == len(sequence.infostate) else sequence.infostate[len(infostate)][0]
    return (action,) if action in action_set else ()


def _fits(sequence: LastChoice | None, infostate: InformationState) -> bool:
    """Return whether an information state leads to the sequence, or follows it."""
    if sequence is None:
        return True
    shared = min(len(infostate), len(sequence.infostate))
    return infostate[:shared] == sequence.infostate[:shared]


def _is_complete(sequence: LastChoice | None, infostate: InformationState) -> bool:
    """Return whether all moves of a sequence were made."""
    return sequence is None or len(infostate) > len(sequence.infostate)


def _images(factored: FactoredForm, sequence: LastChoice | None) -> list[LastChoice | None]:
    """Return the distinct images of a sequence under the form's symmetries."""
    if sequence is None or factored.group.order == 1:
        return [sequence]
    group, rules = factored.group, factored.rules
    start, records = _split_start(factored, sequence.infostate)
    action_set = rules.action_sets.index(sequence.action_set)
    places = group.entry[:, group.first_entry[action_set] + sequence.action_set.index(sequence.action)].tolist()
    images = []
    for element, place in enumerate(places):
        infostate = [rules.records[record] for record in group.record[element, records].tolist()]
        image = rules.action_sets[group.action_set[element, action_set]]
        images.append(LastChoice((*start, *infostate), image, image[place]))
    return list(dict.fromkeys(images))


def _split_start(factored: FactoredForm, infostate: InformationState) -> tuple[InformationState, LongArray]:
    """Return the records before the first step, and the numbers of the later ones; -1 for one that the form lacks."""
    number = factored.cache.setdefault("record numbers", {record: k for k, record in enumerate(factored.rules.records)})
    begin = 1 if infostate and infostate[:1] in known_first(factored.rules) else 0
    return infostate[:begin], np.array([number.get(record, NO_RECORD) for record in infostate[begin:]], np.int64)


def _pay_orbit(player: _RulePlayer, factored: FactoredForm, tuple_: Tuple) -> FloatArray:
    """Return (n,) the sum of the payoffs by the rules over all tuples of images of these sequences.

    An entry of a form over symmetries stands for all images of its sequence.  As a symmetry maps histories to
    histories of the same payoffs, the first player's sequence may be held fixed.
    """
    first, *others = [_images(factored, sequence) for sequence in tuple_]
    paid = [player.pay((first[0], *images)) for images in product(*others)]
    return np.asarray(len(first) * np.sum(paid, axis=0))


def _locate(factored: FactoredForm, sequences: Iterable[tuple[int, LastChoice]]) -> dict[tuple[int, LastChoice], int]:
    """Return the number of each player's sequence within that player's; those that the form lacks are left out."""
    group, s, count = factored.group, factored.states, factored.num_states
    n = len(factored.rules.players)
    parent, path = s.parent[n:count], {}
    at = {(p, sequence): (p, 0) for p, sequence in sequences}  # state, and the symmetry that leads to its board
    for key in at:
        path[key] = _split_start(factored, key[1].infostate)[1]
    for depth in range(max(map(len, path.values()), default=0)):
        going = [key for key in at if depth < len(path[key])]
        wanted, child = np.zeros(count, np.bool_), {}
        wanted[[at[key][0] for key in going]] = True
        for state in (np.flatnonzero(wanted[parent]) + n).tolist():
            child[int(s.parent[state]), int(s.record[state])] = state
        for key in going:
            state, element = at.pop(key)
            found = _canonical(factored, state, element, int(path[key][depth]))
            if found is not None and (state, found[0]) in child:
                at[key] = child[state, found[0]], found[1]
    numbers = {}
    for (player, sequence), (state, element) in at.items():
        if s.first[state] == NO_ROW:
            continue
        action_set, action = (
            factored.rules.action_sets.index(sequence.action_set),
            sequence.action_set.index(sequence.action),
        )
        place = int(group.entry[element, group.first_entry[action_set] + action])
        begin, end = group.first_entry[s.action_set[state] : s.action_set[state] + 2].tolist()
        least = group.entry[_fixing(factored, state), begin:end].min(axis=0)
        numbers[player, sequence] = int(s.first[state]) + int(np.searchsorted(np.unique(least), least[place]))
    return numbers


def _fixing(factored: FactoredForm, state: int) -> list[int]:
    """Return the symmetries that leave a state unchanged."""
    fixing = int(factored.states.fixing[state])
    return [h for h in range(factored.group.order) if fixing >> h & 1]


def _canonical(factored: FactoredForm, state: int, element: int, record: int) -> tuple[int, int] | None:
    """Return the record by which the form continues from a state, and its symmetry; ``None`` for no record."""
    if record == NO_RECORD:
        return None
    group = factored.group
    elements = group.product[_fixing(factored, state), element]
    best = int(np.argmin(group.record[elements, record]))
    return int(group.record[elements[best], record]), int(elements[best])


def _pay_by_form(factored: FactoredForm, tuples: Sequence[Tuple]) -> tuple[FloatArray, FloatArray]:
    """Return the form's payoffs at each tuple (k, n), and the sum of the absolute values of their terms (k,)."""
    n, a = len(factored.rules.players), factored.form.arrays
    numbers = _locate(factored, {(p, one) for tuple_ in tuples for p, one in enumerate(tuple_) if one is not None})
    wanted = [[EMPTY_SEQUENCE if one is None else numbers.get((p, one)) for p, one in enumerate(t)] for t in tuples]
    lists = _find_lists(a, [{row[p] for row in wanted if row[p] is not None} for p in range(n)])  # type: ignore[misc]
    paid, size = np.zeros((len(tuples), n)), np.zeros(len(tuples))
    for k, row in enumerate(wanted):
        if None in row:
            continue
        found = [lists[p, number] for p, number in enumerate(row) if number is not None]
        for block in set.intersection(*map(set, found)):
            pattern = a.blocks[block]
            for term in range(a.terms[pattern], a.terms[pattern + 1]):
                weight = 1.0
                for p in range(n):
                    weight *= found[p][block].get(int(a.term_lists[p, term]), 0.0)
                paid[k] += weight * a.term_paid[:, term]
                size[k] += weight * np.abs(a.term_paid[:, term]).max()
    return paid, size


def _find_lists(a: FormArrays, wanted: Sequence[set[int]]) -> dict[tuple[int, int], dict[int, dict[int, float]]]:
    """Return the weight of each player's wanted sequences in the blocks' lists, by block and place of the list."""
    block_end = np.cumsum(a.pattern_lists.sum(axis=1, dtype=np.int64)[a.blocks])
    list_end = np.cumsum(a.pattern_lists, axis=1, dtype=np.int64)  # (P, n) within a block, by player
    marked = np.zeros(max(max(some, default=0) for some in wanted) + 1, np.bool_)
    marked[[number for some in wanted for number in some]] = True
    found: dict[tuple[int, int], dict[int, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for begin in range(0, len(a.entries), CHUNK):
        entries = a.entries[begin : begin + CHUNK]
        hits = np.flatnonzero((entries < len(marked)) & marked[np.minimum(entries, len(marked) - 1)])
        number = np.searchsorted(a.list_rows, hits + begin, side="right") - 1
        block = np.searchsorted(block_end, number, side="right")
        ends = list_end[a.blocks[block]]
        place = number - block_end[block] + ends[:, -1]
        player = (place[:, None] >= ends).sum(axis=1)
        place -= np.where(player > 0, ends[np.arange(len(hits)), player - 1], 0)
        weights = a.weights[a.codes[begin + hits]] if len(a.codes) else np.ones(len(hits))
        columns = (player, entries[hits], block, place, weights)
        for p, sequence, b, at, weight in zip(*[column.tolist() for column in columns], strict=True):
            if sequence in wanted[p]:
                lists = found[p, sequence][b]
                lists[at] = lists.get(at, 0.0) + weight
    return found
