"""Symmetries of a game's factored rules: relabellings of moves, followed through cores, events and cells."""

from __future__ import annotations

from itertools import chain

import numpy as np

from infoset.base import IntArray
from infoset.jit import borrowing, inner_kernel, kernel, linked_kernel
from infoset.tree.factored_rules import FactoredRules
from infoset.tree.graph import CHANCE, EVERYBODY, NO_TOKEN, TERMINAL
from infoset.tree.symmetry import UNSEEN, Element, Group, Moves, closure, group_of, relabellings

SAME = 1e-12
BROKEN, SETTLED, CHANGED = range(3)


def no_symmetry(rules: FactoredRules) -> tuple[Group, IntArray]:
    """The group of one element, and what it makes of the events, (1, V)."""
    return _group(rules, Moves(rules.menus), [])


def find_symmetry(rules: FactoredRules) -> tuple[Group, IntArray]:
    """The group that those relabellings generate which are symmetries, and what it makes of the events, (G, V).

    >>> from infoset.tree.factored_rules import FactoredRules
    >>> from infoset.tree.factored_symmetry import find_symmetry
    >>> find_symmetry(FactoredRules.of(infoset.load("dark_hex(rows=2,columns=2)")))[0].order        # turned by half
    2
    """
    moves = Moves(rules.menus)
    if not moves.ordered:
        return no_symmetry(rules)
    found = [
        _follow(rules, moves, renamed)
        for names in relabellings(moves.distinct)
        if (renamed := moves.renamed(names)) is not None
    ]
    return _group(rules, moves, [element for element in found if element is not None])


def _group(rules: FactoredRules, moves: Moves, generators: list[Element]) -> tuple[Group, IntArray]:
    r = rules.arrays
    cores, events = len(r.mover), len(r.event_core)
    elements = closure((len(moves.distinct), cores + events + len(r.menu), len(rules.tokens)), generators)
    image = np.stack([element.position[cores : cores + events] - cores for element in elements])
    return group_of(moves, elements), image.astype(np.int32)


def _follow(rules: FactoredRules, moves: Moves, move: IntArray) -> Element | None:
    """The symmetry that a relabelling is, or ``None``."""
    r = rules.arrays
    images = [np.full(len(size), UNSEEN, np.int32) for size in (r.mover, r.event_core, r.menu, rules.tokens)]
    core, event, cell, token = images
    core[0] = 0
    for start in rules.start_cells:
        cell[start] = start
    for start in rules.start_tokens:
        if start != NO_TOKEN:
            token[start] = start
    first_cell = np.concatenate([[0], np.cumsum(r.cells.ravel())]).astype(np.int64)
    while (found := _follow_once(r, first_cell, moves.first, moves.flat, move, core, event, cell, token)) == CHANGED:
        pass
    if found == BROKEN or any(len(np.unique(image)) < len(image) or image.min(initial=0) < 0 for image in images[:3]):
        return None
    token = np.where(token == UNSEEN, np.arange(len(token)), token).astype(np.int32)
    if len(np.unique(token)) < len(token):
        return None
    offsets = (0, len(core), len(core) + len(event))
    position = list(chain.from_iterable((image + by).tolist() for image, by in zip(images[:3], offsets, strict=True)))
    return Element(move, np.array(position, np.int32), token)


@kernel
@borrowing
def _follow_once(r, first_cell, first_move, moves, move, core, event, cell, token):
    """One pass over the cores whose images are known: what follows from them, and whether it fits."""
    n, before = r.cells.shape[1], _known(core) + _known(event) + _known(cell) + _known(token)
    for c in range(len(core)):
        d = core[c]
        if d == UNSEEN:
            continue
        if (
            r.mover[c] != r.mover[d]
            or r.event_first[c + 1] - r.event_first[c] != r.event_first[d + 1] - r.event_first[d]
        ):
            return BROKEN
        if r.mover[c] == TERMINAL and not _pays_alike(r, first_cell, cell, c, d):
            return BROKEN
        if r.mover[c] == EVERYBODY:
            if not _follow_together(r, first_cell, first_move, moves, move, core, event, cell, token, c, d):
                return BROKEN
            continue
        if r.mover[c] == CHANCE:
            for k in range(r.event_first[c + 1] - r.event_first[c]):
                if not _lead_alike(r, core, event, r.event_first[c] + k, r.event_first[d] + k):
                    return BROKEN
        for turn in range(n):  # the mover first: its moves tell the events apart
            p = (max(r.mover[c], 0) + turn) % n
            for q in range(first_cell[c * n + p], first_cell[c * n + p + 1]):
                if cell[q] != UNSEEN and not _cell_alike(
                    r, first_move, moves, move, core, event, cell, token, c, d, q, p == r.mover[c]
                ):
                    return BROKEN
    return CHANGED if _known(core) + _known(event) + _known(cell) + _known(token) > before else SETTLED


@inner_kernel
@borrowing
def _follow_together(r, first_cell, first_move, moves, move, core, event, cell, token, c, d):
    """The same of one core in which everybody moves; whether it fits.

    An event becomes the only one that fits; where several do, tokens have to be known first.
    """
    for e in range(r.event_first[c], r.event_first[c + 1]):
        found, begin, end = event[e], r.event_first[d], r.event_first[d + 1]
        if found != UNSEEN:
            begin, end = found, found + 1
        count = 0
        for f in range(begin, end):
            if _event_fits(r, first_cell, first_move, moves, move, core, cell, token, c, d, e, f, False):
                found = f
                count += 1
        if count == 0:
            return False
        if count == 1:
            event[e], core[r.event_core[e]] = found, r.event_core[found]
            _event_fits(r, first_cell, first_move, moves, move, core, cell, token, c, d, e, found, True)
    return True


@inner_kernel
@borrowing
def _event_fits(r, first_cell, first_move, moves, move, core, cell, token, c, d, e, f, settle):
    """Whether event ``f`` of core ``d`` may be the image of ``e`` of ``c``; with ``settle`` it is, and what follows is
    noted.
    """
    to, reached, n = r.event_core[e], r.event_core[f], r.cells.shape[1]
    if abs(r.event_chance[e] - r.event_chance[f]) > SAME or r.mover[to] != r.mover[reached]:
        return False
    if (core[to] != UNSEEN and core[to] != reached) or (r.mover[to] == TERMINAL and to != reached):
        return False
    place, at = e - r.event_first[c] + 1, f - r.event_first[d] + 1
    for q in range(first_cell[c * n], first_cell[(c + 1) * n]):
        image = cell[q]
        if image == UNSEEN:
            continue
        first, last = r.edge_first[r.slot[q] + place], r.edge_first[r.slot[q] + place + 1]
        if last - first != r.edge_first[r.slot[image] + at + 1] - r.edge_first[r.slot[image] + at]:
            return False
        for edge in range(first, last):
            wanted, found, count = move[moves[first_move[r.menu[q]] + r.edge_move[edge]]], -1, 0
            for other in range(r.edge_first[r.slot[image] + at], r.edge_first[r.slot[image] + at + 1]):
                if moves[first_move[r.menu[image]] + r.edge_move[other]] == wanted and _edges_fit(
                    r, cell, token, edge, other
                ):
                    found = other
                    count += 1
            if count == 0:
                return False
            if settle and count == 1:
                cell[r.edge_cell[edge]] = r.edge_cell[found]
                if r.edge_token[edge] != NO_TOKEN:
                    token[r.edge_token[edge]] = r.edge_token[found]
    return True


@linked_kernel
@borrowing
def _edges_fit(r, cell, token, edge, other):
    """Whether nothing that is known of an edge's image speaks against ``other``."""
    told, seen = r.edge_token[edge], r.edge_token[other]
    if (told == NO_TOKEN) != (seen == NO_TOKEN) or abs(r.edge_chance[edge] - r.edge_chance[other]) > SAME:
        return False
    if told != NO_TOKEN and token[told] != UNSEEN and token[told] != seen:
        return False
    known = cell[r.edge_cell[edge]]
    return known == UNSEEN or known == r.edge_cell[other]


@inner_kernel
@borrowing
def _known(image):
    count = 0
    for k in range(len(image)):
        count += image[k] != UNSEEN
    return count


@inner_kernel
@borrowing
def _pays_alike(r, first_cell, cell, c, d):
    """Whether two ends pay the same at every joint cell whose image is known."""
    n = r.cells.shape[1]
    if r.term_first[c + 1] - r.term_first[c] != r.term_first[d + 1] - r.term_first[d]:
        return False
    for p in range(n):
        if r.cells[c, p] != r.cells[d, p]:
            return False
    alike = True
    for t in range(r.term_first[c], r.term_first[c + 1]):
        alike = alike and _term_alike(r, first_cell, cell, c, d, t)
    return alike


@inner_kernel
@borrowing
def _term_alike(r, first_cell, cell, c, d, t):
    """Whether an end pays at the image of a joint cell what another pays at that cell; so it does if none is known."""
    n = r.cells.shape[1]
    for p in range(n):
        if cell[first_cell[c * n + p] + r.term_place[t, p]] == UNSEEN:
            return True
    for u in range(r.term_first[d], r.term_first[d + 1]):
        same = True
        for p in range(n):
            same &= r.place[cell[first_cell[c * n + p] + r.term_place[t, p]]] == r.term_place[u, p]
        if same:
            for p in range(n):
                same &= abs(r.term_paid[t, p] - r.term_paid[u, p]) <= SAME
            return same
    return False


@inner_kernel
@borrowing
def _lead_alike(r, core, event, e, f):
    """Whether event ``f`` may be the image of ``e``; if so it is."""
    if event[e] == UNSEEN:
        event[e] = f
    if core[r.event_core[e]] == UNSEEN:
        core[r.event_core[e]] = r.event_core[f]
    same = event[e] == f and core[r.event_core[e]] == r.event_core[f]
    return same and abs(r.event_chance[e] - r.event_chance[f]) <= SAME


@inner_kernel
@borrowing
def _edge_alike(r, cell, token, e, f):
    """The same of edges."""
    t, u = r.edge_token[e], r.edge_token[f]
    if (t < 0) != (u < 0) or abs(r.edge_chance[e] - r.edge_chance[f]) > SAME:
        return False
    if t >= 0:
        if token[t] == UNSEEN:
            token[t] = u
        if token[t] != u:
            return False
    if cell[r.edge_cell[e]] == UNSEEN:
        cell[r.edge_cell[e]] = r.edge_cell[f]
    return cell[r.edge_cell[e]] == r.edge_cell[f]


@inner_kernel
@borrowing
def _cell_alike(r, first_move, moves, move, core, event, cell, token, c, d, q, moving):
    """Whether what can be done and seen at a cell becomes what can be at its image."""
    image, count = cell[q], r.event_first[c + 1] - r.event_first[c]
    for place in range(count + 1):
        for e in range(r.edge_first[r.slot[q] + place], r.edge_first[r.slot[q] + place + 1]):
            f, at = -1, -1
            if moving:
                wanted = move[moves[first_move[r.menu[q]] + r.edge_move[e]]]
                f = r.edge_first[r.slot[image]]
                last = r.edge_first[r.slot[image] + count + 1]
                while f < last and moves[first_move[r.menu[image]] + r.edge_move[f]] != wanted:
                    f += 1
                if f == last:
                    return False
                at = 0
                while r.edge_first[r.slot[image] + at + 1] <= f:
                    at += 1
                if (at == 0) != (place == 0):
                    return False
                if place > 0 and not _lead_alike(
                    r, core, event, r.event_first[c] + place - 1, r.event_first[d] + at - 1
                ):
                    return False
            else:
                lead = event[r.event_first[c] + place - 1]
                if lead == UNSEEN:
                    continue
                at = lead - r.event_first[d] + 1
                f = r.edge_first[r.slot[image] + at] + e - r.edge_first[r.slot[q] + place]
                if f >= r.edge_first[r.slot[image] + at + 1]:
                    return False
            if not _edge_alike(r, cell, token, e, f):
                return False
    return True
