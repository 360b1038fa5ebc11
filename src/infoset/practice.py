"""Support for human players: a default opponent, the cost of each of their moves, and grades at tables of hands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from infoset import sizes, status
from infoset.base import Game, InformationState, Rehearsed, Step, own_record
from infoset.clock import Clock
from infoset.compiled import Compiled
from infoset.errors import BudgetError, ImperfectRecallError, UnknownNameError, UnsupportedGameError
from infoset.hand_table import HandTable
from infoset.match.replay import Match
from infoset.names import action_names
from infoset.solvers.choose import choose
from infoset.solvers.config import SolveConfig
from infoset.solvers.job import Watcher
from infoset.solvers.study import ActionValue
from infoset.solvers.tabular.logit import Logit
from infoset.solving import Solution, solve
from infoset.spots import SpotTree
from infoset.tree.graph import explore
from infoset.tree.payoff_scale import smallest_range

EQUILIBRIUM = "equilibrium"
"""The name of the policy of a game that is solved here."""
CUSTOMARY = {"gdl:blind_tic_tac_toe": "blind_tic_tac_toe", "gdl:meier": "meier", "hanabi": "hat-guessing"}
SECONDS = 3.0  # to enumerate a game at the terminal, and again to solve it where that is not exact
EXACTLY = 60.0  # seconds for a method that has no answer before its end
NEAR = 1e-6  # share of the smallest range of a player's payoffs that counts as solved


def solve_soon(compiled: Compiled, seconds: float, watcher: Watcher | None = None) -> Solution:
    """Solve by the method that ``auto`` chooses, until the answer is near exact or ``seconds`` have passed.

    All solving for people who wait goes through here.  A method without an answer before its end has up to
    ``EXACTLY`` seconds.  Raises ``UnsupportedGameError``, ``BudgetError``, and what the hooks of ``watcher`` raise.

    >>> from infoset.compiled import Compiled
    >>> from infoset.practice import solve_soon
    >>> solve_soon(Compiled.of("kuhn_poker"), 20.0).method, solve_soon(Compiled.of("gdl:meier"), 20.0).method
    ('lp', 'public')
    """
    in_vector_form = compiled.has_vector_form and not compiled.fits(sizes.LINEAR_PROGRAM)
    limits: dict[str, Any] = {"form": "vector"} if in_vector_form else {}
    method, why = choose(compiled, SolveConfig(**limits))
    if "seconds" in method.takes:
        limits["seconds"] = seconds if "iterations" in method.takes else max(seconds, EXACTLY)
    if "target" in method.takes and not isinstance(method, Logit):  # its path converges everywhere only at its end
        payoff_range = compiled.vector.payoff_range if in_vector_form else smallest_range(compiled.payoffs)
        limits["target"] = NEAR * payoff_range
    return replace(solve(compiled, method, watcher=watcher, **limits), reason=why)


def solve_at_once(compiled: Compiled) -> Solution:
    """Solve the game within seconds.  Raises ``UnsupportedGameError`` or ``BudgetError`` where that is impossible.

    >>> from infoset.compiled import Compiled
    >>> from infoset.practice import solve_at_once
    >>> solve_at_once(Compiled.of("kuhn_poker")).method
    'lp'
    >>> solve_at_once(Compiled.of("pommerman:OneVsOne-v0"))
    Traceback (most recent call last):
    infoset.errors.UnsupportedGameError: pommerman:OneVsOne-v0: boards are too many to list; give one: ...
    """
    with status.during(f"looking whether {compiled.name} is small enough to be solved at once"):
        _look(compiled)
    with status.during(f"solving {compiled.name}"):
        return solve_soon(compiled, SECONDS)


def _look(compiled: Compiled) -> None:
    """Enumerate the positions.  Raises ``BudgetError`` where they are too many."""
    if compiled.has_vector_form:
        if compiled.vector.num_rows > sizes.ROWS_SOLVED_AT_ONCE:
            raise BudgetError(
                f"{compiled.name} has {compiled.vector.num_rows:,} probabilities; {sizes.ROWS_SOLVED_AT_ONCE:,} are "
                "solved at once"
            )
        return
    most, until = sizes.SOLVED_AT_ONCE, monotonic() + SECONDS
    if "graph" not in compiled.__dict__:
        clock = Clock(until, lambda k: f"{compiled.name}: {k:,} positions after {SECONDS:g} s, and more to come")
        compiled.__dict__["graph"] = explore(compiled.game, sizes.MOVES_SOLVED_AT_ONCE, clock)
    if compiled.histories > most:
        raise BudgetError(f"{compiled.name} has {compiled.histories:,.3g} histories; {most:,} are solved at once")


def try_to_solve(compiled: Compiled) -> Solution | None:
    """Do what ``solve_at_once`` does; return ``None`` where that is impossible."""
    try:
        return solve_at_once(compiled)
    except (BudgetError, ImperfectRecallError, UnsupportedGameError):
        return None


def customary(game: Game) -> str:
    """Return the opponent for a game not solved at once: its stock agent, a rule of thumb, or random."""
    return game.rehearsal if isinstance(game, Rehearsed) else CUSTOMARY.get(game.name.partition("(")[0], "random")


class Cost(NamedTuple):
    """One choice among several moves, named as policies name them; ``value`` and ``best_value`` are payoffs."""

    step: int
    """The step of the match, counted from 1."""
    infostate: InformationState
    """The player's information state."""
    action: str
    best: str
    value: float | None
    """The value of the move; ``None`` where this point is never reached against players who play like that."""
    best_value: float | None

    @property
    def lost(self) -> float | None:
        """The expected loss of the move; ``None`` where it is unknown."""
        return None if self.value is None or self.best_value is None else self.best_value - self.value


def costs(
    actions: Callable[[int, InformationState], Sequence[ActionValue]], match: Match, steps: Sequence[Step], seat: int
) -> Iterator[Cost]:
    """Yield the cost of each choice of ``seat``: the value of the best action at the information set minus its own.

    ``actions`` returns the values of the actions there (``Study.actions``); ``steps`` is what ``replay_steps`` returns.
    """
    for number, infostate, word in _choices(match, steps, seat):
        value_of = {found.action: found.value for found in actions(seat, infostate) if found.value is not None}
        best = max(value_of, key=value_of.__getitem__, default=word)
        yield Cost(number, infostate, word, best, value_of.get(word), value_of.get(best))


def _choices(match: Match, steps: Sequence[Step], seat: int) -> Iterator[tuple[int, InformationState, str]]:
    """Yield each choice of ``seat`` among several moves: the step, the information state before it, the move."""
    infostate: InformationState = ()
    for number, step in enumerate(steps):
        action = match.steps[number - 1].actions[seat] if number else None
        legal_actions = steps[number - 1].state.legal_actions(seat) if number else ()
        if action is not None and len(legal_actions) > 1:
            yield number, infostate, action_names(legal_actions)[legal_actions.index(action)]
        record = own_record(action, step.observation(seat))
        if record is not None:
            infostate = (*infostate, record)


BEST, CORRECT, INACCURACY, MISTAKE, BLUNDER, UNKNOWN = (
    "best", "correct", "inaccuracy", "mistake", "blunder", "unknown",
)  # fmt: skip
EQUALLY_GOOD = 0.0005
"""The largest loss, as a share of the pot, of an action that counts as best: values of a solution are not exact."""
MIXED = 0.03
"""An action that the solution takes with a greater probability is correct, whatever the solved values are."""
MOST_LOST = {INACCURACY: 0.01, MISTAKE: 0.05}
"""The largest loss of each verdict as a share of the pot; a blunder loses more."""


class Grade(NamedTuple):
    """One action of a person with a hand, compared with a solution."""

    action: str
    best: str
    """The action with the greatest expected payoff, or the most frequent one where values are unknown."""
    lost: float | None
    """The expected loss in chips against the best action; ``None`` where it is unknown."""
    lost_share: float | None
    """The same as a share of the pot."""
    frequency: float
    """The probability with which the solution takes the action with this hand."""
    verdict: str
    """``best``, ``correct``, ``inaccuracy``, ``mistake``, ``blunder``, or ``unknown`` without values."""


def grade_action(table: HandTable, hand: str, action: str) -> Grade:
    """Grade an action with a hand at a node of a solution.

    - best: it loses at most ``EQUALLY_GOOD`` (.05 %) of the pot against the best action;
    - correct: the solution takes it with a probability of more than ``MIXED`` (3 %), whatever it loses;
    - inaccuracy: it loses at most 1 % of the pot, mistake: at most 5 %, blunder: more (``MOST_LOST``).

    Where the values of the hand are unknown, as where the opponent cannot hold any hand beside it, an action that the
    solution takes is correct and others are unknown.  Raises ``UnknownNameError`` for a hand that the range lacks and
    for an action that is not legal.

    >>> import numpy as np
    >>> from infoset.hand_table import HandTable
    >>> from infoset.practice import grade_action
    >>> row, ev = np.array([[0.9, 0.1, 0.0]]), np.array([[-50.0, 10.0, 4.0]])
    >>> table = HandTable(
    ...     0, ("AhKd",), np.ones(1), ("fold", "call", "raise 150"), row, ev @ row[0], ev, np.ones(1), (), 200.0
    ... )
    >>> grade_action(table, "AhKd", "raise 150")
    Grade(action='raise 150', best='call', lost=6.0, lost_share=0.03, frequency=0.0, verdict='mistake')
    """
    for kind, name, known in (("hand in this range", hand, table.hands), ("action here", action, table.actions)):
        if name not in known:
            raise UnknownNameError(kind, name, known)
    place, number = table.hands.index(hand), table.actions.index(action)
    row, values = table.strategy[place], table.ev_actions[place]
    frequency = float(row[number])
    if not np.isfinite(values).all():
        verdict = CORRECT if frequency > MIXED else UNKNOWN
        return Grade(action, table.actions[int(row.argmax())], None, None, frequency, verdict)
    best = int(values.argmax())
    lost = float(values[best] - values[number])
    share = lost / table.pot
    by_loss = next((verdict for verdict, most in MOST_LOST.items() if share <= most), BLUNDER)
    verdict = BEST if share <= EQUALLY_GOOD else CORRECT if frequency > MIXED else by_loss
    return Grade(action, table.actions[best], lost, share, frequency, verdict)


def hand_table_at(tree: SpotTree, player: int, infostate: InformationState) -> tuple[HandTable, str] | None:
    """Return a player's hands at an information state of a hold'em spot, and its own; ``None`` before the deal."""
    words = [str(seen if action is None else action) for action, seen in infostate]
    return (tree.node(words[1:], equity=False).tables[player], words[0]) if words else None


def spot_values(tree: SpotTree, player: int, infostate: InformationState) -> list[ActionValue]:
    """Return the probabilities and values of the actions at an information state of a hold'em spot."""
    if (found := hand_table_at(tree, player, infostate)) is None:
        return []
    table, hand = found
    place = table.hands.index(hand)
    rows = zip(table.actions, table.strategy[place].tolist(), table.ev_actions[place].tolist(), strict=True)
    return [ActionValue(action, chance, value if np.isfinite(value) else None) for action, chance, value in rows]


class GradedChoice(NamedTuple):
    """A choice of a person in a match, graded."""

    step: int
    """The step of the match, counted from 1."""
    infostate: InformationState
    grade: Grade


def grades(tree: SpotTree, match: Match, steps: Sequence[Step], seat: int) -> Iterator[GradedChoice]:
    """Yield the grade of each choice of ``seat`` in a hold'em spot; ``steps`` is what ``replay_steps`` returns."""
    for number, infostate, word in _choices(match, steps, seat):
        if (found := hand_table_at(tree, seat, infostate)) is not None:
            yield GradedChoice(number, infostate, grade_action(*found, word))
