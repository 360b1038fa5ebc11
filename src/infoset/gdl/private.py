"""Find the propositions that are a player's own: they affect neither the others nor anybody's goal.

A proposition is a player's own where it is read by nothing but that player's ``legal_actions`` and the next state of
propositions that are its own, too: in a propositional network, the largest such set.  The rest of a state is its
*core*.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple

from infoset.gdl.propnet import NO_NODE, PropNet


class Own(NamedTuple):
    """A player's own propositions, and what else their next state depends on, as bits."""

    propositions: int
    core: int
    """Propositions of the core that the next state of its own propositions depends on."""
    moves: int
    """Other roles' moves that it depends on."""


def own_propositions(net: PropNet, seats: Sequence[int]) -> list[Own]:
    """Return each player's own propositions, without those that no player's moves or goals ever depend on.

    >>> from infoset.gdl.private import own_propositions
    >>> rules = infoset.load("gdl:blind_tic_tac_toe").rules
    >>> own = own_propositions(rules.propnet, rules.seats)
    >>> [str(rules.propnet.base[k]) for k in range(45) if own[0].propositions >> k & 1][:3]
    ['(tried x 1 1)', '(tried x 1 2)', '(tried x 1 3)']
    >>> own[0].core, own[0].moves                                  # what x has tried follows from x's moves alone
    (0, 0)
    """
    reads, size = _reads(net), len(net.base)
    every = (1 << size) - 1
    after = [reads[literal >> 1] for literal in net.following.tolist()]
    found = [_largest(_outside(net, reads, seat) & every, after, every) for seat in seats]
    idle = reduce(or_, [a & b for k, a in enumerate(found) for b in found[:k]], 0)
    own = []
    for seat, mine in zip(seats, [mine & ~idle for mine in found], strict=True):
        read = _union(after[k] for k in range(size) if mine >> k & 1)
        others_bits = ~((1 << size + int(net.first_move[seat + 1])) - (1 << size + int(net.first_move[seat])))
        own.append(Own(mine, read & every & ~mine & ~idle, (read & others_bits) >> size))
    return own


def _union(bits: Iterable[int]) -> int:
    return reduce(or_, bits, 0)


def _reads(net: PropNet) -> list[int]:
    """Return for each node the sources that it depends on, a bit each: propositions first, then moves."""
    reads, size = [0] * len(net), len(net.base)
    for k in range(size):
        reads[1 + k] = 1 << k
    for move, node in enumerate(net.does.tolist()):
        if node != NO_NODE:
            reads[node] = 1 << size + move
    first, inputs = net.first_input.tolist(), net.inputs.tolist()
    loop_end = dict(net.loops.tolist())
    node = int(net.stage_begin[0])
    while node < len(net):
        end = loop_end.get(node, node + 1)
        reads[node:end] = [_union(reads[literal >> 1] for literal in inputs[first[node] : first[end]])] * (end - node)
        node = end
    return reads


def _outside(net: PropNet, reads: list[int], seat: int) -> int:
    """Return the sources of everything but the next state and the legal moves of one role."""
    legal = net.legal.tolist()
    mine = slice(int(net.first_move[seat]), int(net.first_move[seat + 1]))
    literals = [*legal[: mine.start], *legal[mine.stop :], *net.sees.tolist(), *net.goals.tolist(), net.terminal]
    return _union(reads[literal >> 1] for literal in literals)


def _largest(outside: int, after: list[int], every: int) -> int:
    """Return the largest set of propositions without ``outside`` that nothing outside of it depends on."""
    own = every & ~outside
    while True:
        reduced = own & ~_union(read for k, read in enumerate(after) if not own >> k & 1)
        if reduced == own:
            return own
        own = reduced
