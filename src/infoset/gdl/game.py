"""Represent games described in GDL or GDL-II as ``Game`` objects.

The role ``random`` is chance, percepts are observations, and every role moves in every step.  A player's observation of
a step is the sorted tuple of its percepts.  A description with neither ``sees`` nor ``random`` is GDL-I: everyone
observes the joint move.  Where a role's legal moves turn out to depend on more than its own moves and percepts, the
legal moves are observed too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from infoset.base import Observed, Positions
from infoset.errors import FormatError, shorten
from infoset.games.rules import NotebookGame
from infoset.gdl.checks import ERROR, Defect, check, repair
from infoset.gdl.cores import GroundCores
from infoset.gdl.grounding import DEFAULT_BUDGET, Budget
from infoset.gdl.lazy_propnet import GroundSource
from infoset.gdl.positions import Explorer
from infoset.gdl.private import own_propositions
from infoset.gdl.rules import EvaluatorWarning, GdlState, GdlWarning, rules_of
from infoset.gdl.scalar import ScalarEvaluator
from infoset.gdl.syntax import Description, read_gdl
from infoset.tree.lazy_graph import Source
from infoset.tree.simultaneous_rules import CoreSource

FEWEST_OWN = 2  # with one own proposition alone, the search for it costs more than it saves


class GdlGame(NotebookGame):
    """A game described in GDL or GDL-II: a name, the roles other than ``random``, an initial state."""

    def __init__(self, description: Description, name: str = "", budget: Budget = DEFAULT_BUDGET) -> None:
        """Compile a description.  Raises ``FormatError`` with the first defect of an invalid one."""
        self.name = name or description.file or "gdl"
        self.rules = rules_of(sound(description), budget)
        self.players = self.rules.players
        if self.not_ground:
            text = (
                f"{self.not_ground}; evaluated state by state, which is slower, and random plays come out differently"
            )
            warnings.warn(text, EvaluatorWarning, stacklevel=2)

    @property
    def not_ground(self) -> str:
        """Why the rules are evaluated state by state; "" where they were grounded and compiled."""
        return self.rules.not_ground

    def until(self, clock: Callable[[int], None]) -> AbstractContextManager[None]:
        """Return a context in which this thread's queries of the rules end with the ``ClockError`` of a clock.

        That holds also in the middle of a long derivation; see ``infoset.clock.Clock``.
        """
        return self.rules.until(clock)

    def start(self) -> Observed:
        first = GdlState(self.rules, self.rules.evaluator.start())
        return Observed(first, (None,) * len(self.players))

    def positions(self, check: Callable[[int, int], None]) -> Positions | None:
        """Return all positions by compiled code; ``None`` if the game does not ground or legal moves are observed."""
        rules = self.rules
        if not isinstance(rules.evaluator, ScalarEvaluator) or any(rules.offers) or not rules.seats:
            return None
        return Explorer(rules.evaluator, rules.seats, rules.random, rules.open, rules.description.file).run(check)

    def source(self) -> Source | None:
        """Return the compiled source of lazy graphs; ``None`` if the game does not ground or has no players."""
        grounds = isinstance(self.rules.evaluator, ScalarEvaluator) and self.rules.seats
        return GroundSource(self.rules) if grounds else None

    def cores(self) -> CoreSource | None:
        """Return the source of cores of its states; ``None`` if players own too few propositions or it is unknown."""
        rules, net = self.rules, self.rules.propnet
        if net is None or any(rules.offers) or rules.open:
            return None
        own = own_propositions(net, rules.seats)
        enough = any(some.propositions.bit_count() >= FEWEST_OWN for some in own)
        return GroundCores(rules, own) if enough else None

    @property
    def everybody_sees(self) -> bool:
        """Whether everybody observes the joint moves, as in GDL-I."""
        return self.rules.open

    def sizes(self) -> dict[str, str]:
        net = self.rules.propnet
        rules = {"rules": f"{len(self.rules.description.rules):,}"}
        return rules if net is None else {**rules, "propositions": f"{len(net.base):,}"}

    def cache_info(self) -> Any:
        """Return hits, misses and size of the cache of transitions."""
        return self.rules.transitions.cache_info()  # type: ignore[attr-defined]


def sound(description: Description) -> Description:
    """Repair a description, with a ``GdlWarning`` for each repair.  Raises ``FormatError`` where it is invalid."""
    defects = check(description)
    errors = [defect for defect in defects if defect.severity == ERROR]
    if errors:
        more = f" (and {len(errors) - 1} more; see 'infoset check')" if len(errors) > 1 else ""
        raise _format_error(errors[0], more)
    for defect in defects:
        warnings.warn(str(defect), GdlWarning, stacklevel=3)
    return repair(description)


def _format_error(defect: Defect, more: str) -> FormatError:
    line, column = defect.place
    rule = f": {shorten(defect.rule, 200)}" if defect.rule else ""
    return FormatError(f"{defect.message}{rule}{more}", defect.file, line, column)


def read_gdl_game(path: str | Path) -> GdlGame:
    """Return the game of a ``.gdl`` or ``.kif`` file.  Raises ``FormatError``."""
    return GdlGame(read_gdl(path), str(path))
