"""The states of a game description that agree with all that a player did and perceived, where they are few.

Exact, and a function of what the player knows: bounded by counts, never by a clock.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from itertools import product
from typing import TypeAlias

from infoset.base import Action, InformationState, Token
from infoset.errors import InfosetError
from infoset.gdl.game import GdlRules, GdlState
from infoset.gdl.lazy import LazyEvaluator

MAX_STATES = 1_000
MAX_TRIES = 10_000  # joint moves that are tried for one step
LAZY_TRIES = 300  # the same where the rules are not compiled
MAX_KEPT = 256

States: TypeAlias = "frozenset[Hashable] | None"
"""As the evaluator has them; ``None`` where there are more than can be listed, or none."""

_kept: OrderedDict[tuple[GdlRules, int, InformationState], States] = OrderedDict()  # what was worked out last


def possible_states(rules: GdlRules, player: int, known: InformationState) -> States:
    """Where the game may be, from the longest beginning of ``known`` for which that is remembered."""
    length = len(known)
    while length and (rules, player, known[:length]) not in _kept:
        length -= 1
    states = _kept.get((rules, player, known[:length]), frozenset([rules.evaluator.start()]))
    for place in range(length, len(known)):
        states = None if states is None else _after(rules, player, states, known[place])
        _kept[rules, player, known[: place + 1]] = states
        if len(_kept) > MAX_KEPT:
            _kept.popitem(last=False)
    return states


def _after(rules: GdlRules, player: int, states: frozenset[Hashable], token: Token) -> States:
    """The states one step further that agree with what was done and perceived in it."""
    limit = LAZY_TRIES if isinstance(rules.evaluator, LazyEvaluator) else MAX_TRIES
    found: set[Hashable] = set()
    try:
        for tried, (state, joint, answer) in enumerate(_tries(rules, player, states, token)):
            step = rules.step(state, joint, answer)
            if step.observations[player] == token[1]:
                assert isinstance(step.state, GdlState)
                found.add(step.state.key)
            if tried >= limit or len(found) > MAX_STATES:
                return None
    except InfosetError:  # a state in which the rules leave a role without a move
        return None
    return frozenset(found) or None


def _tries(
    rules: GdlRules, player: int, states: frozenset[Hashable], token: Token
) -> Iterator[tuple[Hashable, tuple[Action, ...], Action | None]]:
    """What may have been played: the own move is known, in a game of complete information everybody's."""
    evaluator, (move, observation) = rules.evaluator, token
    for state in states:
        if evaluator.terminal(state):
            continue
        menus = [evaluator.legal(state, seat) for seat in rules.seats]
        if move not in menus[player]:
            continue
        if rules.open and isinstance(observation, tuple):
            joints: Iterator[tuple[Action, ...]] = iter([observation])  # type: ignore[list-item]
        else:
            joints = product(*[(move,) if p == player else menu for p, menu in enumerate(menus)])
        for joint in joints:
            for answer in rules.nature(state) or (None,):
                yield state, joint, answer
