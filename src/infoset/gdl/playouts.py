"""Random plays of a described game, by the fastest means there is for it."""

from __future__ import annotations

import numpy as np

from infoset.base import Action
from infoset.gdl import parallel
from infoset.gdl.game import GdlGame, GdlRules
from infoset.gdl.tally import MAX_STEPS, UNFINISHED, Playouts, Tally, add_length
from infoset.names import check_range

MAX_PLAYS = 10**12


def random_playouts(game: GdlGame, plays: int, seed: int = 0, max_steps: int = MAX_STEPS) -> Playouts:
    """Play ``plays`` games at random, each role uniformly among its distinct legal moves.

    A game that grounds is played 64 games to a machine word; another one by one.  Plays longer than ``max_steps``
    are given up and counted.  The same arguments give the same figures.  Raises ``GameRuleError`` where a role has
    no legal move in a state that is not terminal.

    >>> from infoset.gdl.playouts import random_playouts
    >>> played = random_playouts(infoset.load("gdl:monty_hall"), 6400, seed=1)
    >>> played.finished
    6400
    """
    check_range("plays", plays, 1, MAX_PLAYS)
    check_range("max_steps", max_steps, 1, MAX_PLAYS)
    if game.rules.propnet is not None:
        return parallel.playouts(game.rules.propnet, plays, seed, max_steps)
    return _one_by_one(game.rules, plays, seed, max_steps)


def _one_by_one(rules: GdlRules, plays: int, seed: int, max_steps: int) -> Playouts:
    evaluator, rng = rules.evaluator, np.random.default_rng(seed)
    tally = Tally.empty(len(evaluator.roles), 0)
    goals: list[dict[int, int]] = [{} for _ in evaluator.roles]
    for _ in range(plays):
        state, length = evaluator.start(), 0
        while not evaluator.terminal(state) and length < max_steps:
            state, _ = evaluator.step(state, _joint_move(rules, state, rng))
            length += 1
        if not evaluator.terminal(state):
            tally.lengths[UNFINISHED] += 1
            continue
        add_length(tally, length)
        for role, counts in enumerate(goals):
            found = evaluator.goals(state, role)
            tally.none[role] += not found
            tally.several[role] += len(found) > 1
            if found:
                counts[found[0]] = counts.get(found[0], 0) + 1
    return Playouts.of(evaluator.roles, goals, tally, seed)


def _joint_move(rules: GdlRules, state: object, rng: np.random.Generator) -> list[Action]:
    menus = [rules.legal(state, role) for role in range(len(rules.evaluator.roles))]
    return [menu[int(rng.integers(len(menu)))] for menu in menus]


def findings(game: GdlGame, played: Playouts) -> list[str]:
    """What random play shows to be doubtful: plays without end, goals that are missing or several, leaks."""
    found = []
    if played.unfinished:
        found.append(f"{played.unfinished:,} of {played.finished + played.unfinished:,} plays did not end")
    for role in game.players:
        if played.without_goal[role]:
            found.append(f"{role} has no goal value at the end of {played.without_goal[role]:,} plays; 0 is taken")
        if played.several_goals[role]:
            found.append(
                f"{role} has several goal values at the end of {played.several_goals[role]:,} plays; "
                "the first in the order of the rules is taken"
            )
    for role, offered in zip(game.players, game.rules.offers, strict=True):
        if offered:
            found.append(f"the legal moves of {role} tell it more than its moves and percepts; it observes them too")
    return found
