"""Exact evaluation of any profile on a form over symmetries: all images of its paths, lists and sequences at once.

A profile that is not symmetric needs one number for each *image* of a sequence, a row (S, G) over the elements of the
group.  An entry of a list represents one image of its sequence on the path that was kept, and another one on each image
of that path.  A row is about the size of a cache line, so processing all images costs little more than processing one,
and no form without symmetries has to be built.

Where a symmetry leaves a sequence unchanged, several images coincide.  A plan has the same number for each of them;
sums are spread over them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import FloatArray, IndexArray, IntArray, LongArray
from infoset.jit import borrowing, inner_kernel, kernel, linked_kernel
from infoset.randomness import Words
from infoset.tree.factored_form import FactoredForm
from infoset.tree.factored_walk import least_of
from infoset.tree.sequence_form import FormArrays
from infoset.tree.symmetry import Group

ONE = np.uint64(1)


class Images(NamedTuple):
    """The data on images that kernels read in addition to a form."""

    lane: IntArray  # (G, G) [e, g]: the image of its sequence that an entry with element e is, on image g of its path
    elements: npt.NDArray[np.uint8]  # (E,)
    turn: IntArray  # (I,) for each information set the element that maps its board to that of its parent sequence
    fixing: LongArray  # (I,) the symmetries that leave each set unchanged, as bits
    same: LongArray  # (S,) the symmetries that leave each sequence unchanged, as bits
    product: IntArray  # (G, G) the products of the group

    @classmethod
    def of(cls, factored: FactoredForm) -> Images:
        """Collect the data of a form whose elements were kept."""
        group, s, form = factored.group, factored.states, factored.form
        chosen, action_sets = factored.chosen, s.action_set[factored.chosen]
        same = np.ones(form.num_sequences, np.int64)
        same[form.arrays.sequences[:-1]] = (np.int64(1) << group.order) - 1
        _find_same(group, s.fixing[chosen], action_sets, form.arrays.first, same)
        return cls(
            group.product[:, group.inverse].T.copy(),
            factored.elements,
            s.turn[chosen],
            s.fixing[chosen],
            same,
            group.product,
        )


@kernel
@borrowing
def _find_same(group: Group, fixing: LongArray, action_set: IntArray, first: IndexArray, same: LongArray) -> None:
    """Write for each sequence the symmetries that leave it unchanged."""
    for k in range(len(first)):
        if fixing[k] == 1:
            continue
        q, begin = first[k], group.first_entry[action_set[k]]
        for action in range(group.first_entry[action_set[k] + 1] - begin):
            if least_of(group, fixing[k], action_set[k], action) == action:
                same[q] = 0
                for h in range(len(group.inverse)):
                    if fixing[k] >> h & 1 and group.entry[h, begin + action] == action:
                        same[q] |= np.int64(1) << h
                q += ONE


@kernel
@borrowing
def plan_images(a: FormArrays, images: Images, probabilities: FloatArray, plan: FloatArray) -> None:
    """Write realisation weights (S, G) of behaviour: each image's probability times its parent's weight."""
    for p in range(len(a.sequences) - 1):
        plan[a.sequences[p]] = 1.0
    for k in range(len(a.first)):
        lane, parent = images.lane[images.turn[k]], a.parent[k]
        for q in range(a.first[k], a.first[k] + a.size[k]):
            for g in range(len(lane)):
                plan[q, g] = probabilities[q, g] * plan[parent, lane[g]]


@linked_kernel
@borrowing
def _sum_list(
    a: FormArrays, images: Images, lane: Words, number: np.uint64, base: np.uint64, plan: FloatArray, sums: FloatArray
) -> None:
    """Sum the weights of a list's sequences on each image of its path; ``lane`` and ``plan`` are flat."""
    order = np.uint64(len(sums))
    sums[:] = 0.0
    for e in range(a.list_rows[number], a.list_rows[number + ONE]):
        weight = a.weights[a.codes[e]] if len(a.codes) else 1.0
        first, turn = (base + a.entries[e]) * order, np.uint64(images.elements[e]) * order
        for g in range(order):
            sums[g] += weight * plan[first + lane[turn + g]]


@linked_kernel
@borrowing
def _add_list(
    a: FormArrays,
    images: Images,
    lane: Words,
    number: np.uint64,
    base: np.uint64,
    amount: FloatArray,
    values: FloatArray,
) -> None:
    """Add ``amount`` (G,) to each sequence of a list; ``lane`` and ``values`` are flat."""
    order = np.uint64(len(amount))
    for e in range(a.list_rows[number], a.list_rows[number + ONE]):
        weight = a.weights[a.codes[e]] if len(a.codes) else 1.0
        first, turn = (base + a.entries[e]) * order, np.uint64(images.elements[e]) * order
        for g in range(order):
            values[first + lane[turn + g]] += weight * amount[g]


@kernel
def gradient_images(a: FormArrays, images: Images, plan: FloatArray, values: FloatArray) -> None:
    """Write the gradients of all players (S, G), over all images of all paths."""
    n, order = a.pattern_lists.shape[1], plan.shape[1]
    lane, flat, found = images.lane.ravel().astype(np.uint64), plan.ravel(), values.ravel()
    values[:] = 0.0
    if len(a.blocks) == 0:
        return
    most = np.int64(a.pattern_lists.max())
    sums, amount = np.empty((n, most, order)), np.empty((n, most, order))
    number = np.int64(0)
    for b in range(len(a.blocks)):
        pattern, first = a.blocks[b], number
        for p in range(n):
            for k in range(a.pattern_lists[pattern, p]):
                _sum_list(a, images, lane, np.uint64(number), np.uint64(a.sequences[p]), flat, sums[p, k])
                amount[p, k] = 0.0
                number += 1
        for t in range(a.terms[pattern], a.terms[pattern + ONE]):
            _pay_term(a, t, sums, amount)
        for p in range(n):
            for k in range(a.pattern_lists[pattern, p]):
                _add_list(a, images, lane, np.uint64(first), np.uint64(a.sequences[p]), amount[p, k], found)
                first += 1
    values /= order


@inner_kernel
@borrowing
def _pay_term(a: FormArrays, t: int, sums: FloatArray, amount: FloatArray) -> None:
    """Add the contribution of a term to the value of each player's list, on each image."""
    n, order = sums.shape[0], sums.shape[2]
    for p in range(n):
        for g in range(order):
            paid = a.term_paid[p, t]
            for other in range(n):
                if other != p:
                    paid *= sums[other, a.term_lists[other, t], g]
            amount[p, a.term_lists[p, t], g] += paid


@inner_kernel
@borrowing
def _is_least(images: Images, mask: int, g: int) -> bool:
    """Return whether ``g`` is the least of the images that coincide where the elements of ``mask`` change nothing."""
    least = True
    for h in range(len(images.lane)):
        least &= not (mask >> h & 1 and images.product[g, h] < g)
    return least


@inner_kernel
@borrowing
def _gather_same(images: Images, mask: int, row: FloatArray) -> None:
    """Replace the parts of a sum that are spread over coinciding images by their total at each of them."""
    for g in range(len(row)):
        if _is_least(images, mask, g):
            total = 0.0
            for h in range(len(row)):
                if mask >> h & 1:
                    total += row[images.product[g, h]]
            for h in range(len(row)):
                if mask >> h & 1:
                    row[images.product[g, h]] = total


@kernel
@borrowing
def best_up_images(a: FormArrays, images: Images, player: int, values: FloatArray) -> None:
    """Add to every sequence the value of the best moves after it, at every image of every set, like ``best_up``."""
    top = a.infosets[player + 1] - ONE
    for back in range(a.infosets[player + 1] - a.infosets[player]):
        k = top - back
        fixing, lane, parent = images.fixing[k], images.lane[images.turn[k]], a.parent[k]
        if fixing != 1:
            for q in range(a.first[k], a.first[k] + a.size[k]):
                _gather_same(images, images.same[q], values[q])
        for g in range(len(lane)):
            if fixing != 1 and not _is_least(images, fixing, g):
                continue
            best = -np.inf
            for h in range(len(lane) if fixing != 1 else 1):
                if fixing >> h & 1:
                    for q in range(a.first[k], a.first[k] + a.size[k]):
                        best = max(best, values[q, images.product[g, h]])
            values[parent, lane[g]] += best
