"""Random playouts of a described game, by the fastest available method."""

from __future__ import annotations

import numpy as np

from infoset.clock import ENDLESS, Clock, uninterrupted
from infoset.errors import BudgetError
from infoset.gdl import parallel
from infoset.gdl.game import Evaluator, GdlGame, GdlRules
from infoset.gdl.tally import MAX_STEPS, UNFINISHED, Playouts, Tally, add_length, state_text
from infoset.names import check_range

MAX_PLAYS = 10**12


def random_playouts(
    game: GdlGame, plays: int, seed: int = 0, max_steps: int = MAX_STEPS, clock: Clock | None = None
) -> Playouts:
    """Play ``plays`` games at random, each role uniformly among its distinct legal moves.

    A game that grounds is played 64 plays to a machine word; any other game one play at a time.  Plays
    longer than ``max_steps`` are given up and counted, and so are those that come to a nonterminal state in which a
    role has no legal move.  The same arguments give the same figures.  With a ``clock``, no budget error is raised, not
    even the clock's: the plays made by then are kept, and ``stopped`` says why there are no more.

    >>> from infoset.gdl.playouts import random_playouts
    >>> played = random_playouts(infoset.load("gdl:monty_hall"), 6400, seed=1)
    >>> played.finished
    6400
    """
    check_range("plays", plays, 1, MAX_PLAYS)
    check_range("max_steps", max_steps, 1, MAX_PLAYS)
    if game.rules.propnet is not None:
        return parallel.playouts(game.rules.propnet, plays, seed, max_steps, clock)
    with uninterrupted(), game.until(clock or ENDLESS):
        return _one_by_one(game.rules, plays, seed, max_steps, clock)


def _one_by_one(rules: GdlRules, plays: int, seed: int, max_steps: int, clock: Clock | None) -> Playouts:
    """Make plays one by one; with a clock, the plays made until a budget ends are kept."""
    roles, rng = rules.evaluator.roles, np.random.default_rng(seed)
    tally = Tally.empty(len(roles), 0, 0)
    goals: list[dict[int, int]] = [{} for _ in roles]
    stuck_at: dict[str, str] = {}
    stopped = ""
    try:
        for _ in range(plays):
            (clock or ENDLESS)()  # the rules check it only where they derive something, not where results are cached
            _play(rules.evaluator, rng, max_steps, tally, goals, stuck_at)
    except BudgetError as error:
        if clock is None:
            raise
        stopped = str(error)
    return Playouts.of(roles, goals, tally, stuck_at, seed, stopped)


def _play(
    evaluator: Evaluator,
    rng: np.random.Generator,
    max_steps: int,
    tally: Tally,
    goals: list[dict[int, int]],
    stuck_at: dict[str, str],
) -> None:
    """Make one more play."""
    roles = range(len(evaluator.roles))
    state, length = evaluator.start(), 0
    while not evaluator.terminal(state):
        if length == max_steps:
            tally.lengths[UNFINISHED] += 1
            return
        action_sets = [evaluator.legal_actions(state, role) for role in roles]
        if not all(action_sets):
            stuck = action_sets.index(())
            tally.stuck[stuck] += 1
            stuck_at.setdefault(evaluator.roles[stuck], state_text(evaluator.facts(state)))
            return
        state, _ = evaluator.step(state, [action_set[int(rng.integers(len(action_set)))] for action_set in action_sets])
        length += 1
    found = [evaluator.goals(state, role) for role in roles]
    add_length(tally, length)
    _add_goals(found, goals, tally)


def _add_goals(found: list[tuple[int, ...]], goals: list[dict[int, int]], tally: Tally) -> None:
    """Add the goal values of one more play; of several, the first."""
    for role, (values, counts) in enumerate(zip(found, goals, strict=True)):
        tally.none[role] += not values
        tally.several[role] += len(values) > 1
        if values:
            counts[values[0]] = counts.get(values[0], 0) + 1


def findings(game: GdlGame, played: Playouts) -> list[str]:
    """Return the doubtful findings of random plays: endless or stuck plays, missing or several goals, leaks."""
    found = []
    if played.stopped:
        found.append(f"random play ended after {played.plays:,} plays: {played.stopped}")
    if played.unfinished:
        found.append(f"{played.unfinished:,} of {played.plays:,} plays did not end")
    for role, count in played.stuck.items():
        if count:
            found.append(
                f"{role} has no legal move in {count:,} of {played.plays:,} plays, and the game is not over, first at "
                f"{played.stuck_at[role]}; these plays count nowhere else"
            )
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
