"""The method ``lp``: an equilibrium of a zero-sum game by linear programs, plain or refined by trembles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from infoset.arguments import checks_arguments
from infoset.base import FloatArray
from infoset.names import check_choice, full_name
from infoset.solvers.job import Limits
from infoset.solvers.tabular.linear_program import check_zero_sum, linear_program
from infoset.solvers.tabular.solver import OneShotProfile, OneShotSolver, TabularMethod
from infoset.solvers.tabular.trembles import TREMBLES, trembling_equilibrium
from infoset.tree.sequence_form import SequenceForm

PLAIN = "any"


@dataclass(frozen=True)
class LinearProgram(TabularMethod):
    """The method ``lp``: exact, in one iteration."""

    takes: ClassVar[frozenset[str]] = frozenset({"target", "seconds"})
    default: ClassVar[Limits] = Limits()

    refinement: str = PLAIN

    @property
    def name(self) -> str:
        """The full name, as ``solve`` takes it."""
        return full_name("lp", lp, refinement=self.refinement)

    def solver(self, form: SequenceForm, start: FloatArray | None = None) -> OneShotSolver:
        check_zero_sum(form)
        if self.refinement != PLAIN:
            return OneShotProfile(form, self.name, lambda: trembling_equilibrium(form, self.refinement))
        return OneShotSolver(form, self.name, lambda: linear_program(form))


@checks_arguments
def lp(refinement: str = PLAIN) -> LinearProgram:
    """The linear program as a method of ``solve``: exact, for two players and a constant sum.

    ``refinement``: ``any`` equilibrium; ``normal-form-perfect`` or ``quasi-perfect``, one that is a limit under
    mistakes whose probability vanishes.  Raises ``ParameterError`` for another one.

    >>> infoset.solve(infoset.load("kuhn_poker"), infoset.lp()).stopped
    'exact'
    """
    check_choice("refinement", refinement, (PLAIN, *TREMBLES))
    return LinearProgram(refinement)
