"""Methods of ``solve``: their protocol, and the registry that finds them by name."""

from __future__ import annotations

from inspect import isfunction
from typing import ClassVar, Protocol, runtime_checkable

from infoset.compiled import Compiled
from infoset.errors import InfosetError, ParameterError, one_line, shorten
from infoset.names import check_range, parse_name
from infoset.registry import PYTHON, Entry, Registry, find_python
from infoset.solvers.config import OPTIONS, SolveConfig
from infoset.solvers.job import Job, Limits


@runtime_checkable
class AnyMethod(Protocol):
    """The protocol of a method: a value that is given a game and a configuration and returns work on it."""

    takes: ClassVar[frozenset[str]]
    """The options that it accepts, besides the seed."""
    default: ClassVar[Limits]
    """The limits used where none is given."""

    @property
    def name(self) -> str:
        """The full name, as ``solve`` takes it."""
        ...

    def check(self, config: SolveConfig) -> None:
        """Raise ``ParameterError`` for values of the options that the method does not allow, before any slow work."""
        ...

    def job(self, compiled: Compiled, config: SolveConfig) -> Job:
        """Return work on a game, not yet begun.  Raises ``UnsupportedGameError`` and ``BudgetError``."""
        ...


class Checked:
    """A base of methods that limit no option but the numbers of runs and of their iterations, which are at least 1."""

    most_runs: ClassVar[int] = 10**7

    def check(self, config: SolveConfig) -> None:
        """Raise ``ParameterError`` for a number that is out of range."""
        takes: frozenset[str] = getattr(self, "takes", frozenset())
        if "runs" in takes and config.runs is not None:
            check_range("runs", config.runs, 1, self.most_runs)
        if "runs" in takes and "target" not in takes and config.iterations is not None:
            check_range("iterations", config.iterations, 1, 10**9)


METHODS: Registry[AnyMethod] = Registry(
    "method",
    {
        "annealing": "infoset.solvers.teams.methods:AnnealingMethod",
        "auto": "infoset.solvers.choose:Auto",
        "backward-induction": "infoset.solvers.tabular.backward_induction:BackwardInduction",
        "belief-dag": "infoset.solvers.teams.belief_regrets:BeliefDagMethod",
        "cfr": "infoset.solvers.tabular.cfr:cfr",
        "cfr+": "infoset.solvers.tabular.cfr:cfr_plus",
        "correlated": "infoset.solvers.tabular.correlated:CorrelatedMethod",
        "dcfr": "infoset.solvers.tabular.cfr:dcfr",
        "hedge": "infoset.solvers.tabular.cfr:hedge",
        "hs-dcfr": "infoset.solvers.tabular.cfr:hs_dcfr",
        "hs-pcfr+": "infoset.solvers.tabular.cfr:hs_pcfr_plus",
        "information-relaxation": "infoset.solvers.teams.methods:InformationRelaxation",
        "lcp": "infoset.solvers.tabular.linear_complementarity:lcp",
        "linear-cfr": "infoset.solvers.tabular.cfr:linear_cfr",
        "logit": "infoset.solvers.tabular.logit:logit",
        "lp": "infoset.solvers.tabular.lp:lp",
        "mccfr": "infoset.solvers.sampling.method:SamplingMethod",
        "mmd": "infoset.solvers.tabular.mirror_descent:mmd",
        "pcfr+": "infoset.solvers.tabular.cfr:pcfr_plus",
        "pdcfr+": "infoset.solvers.tabular.cfr:pdcfr_plus",
        "progressive-hiding": "infoset.solvers.teams.methods:ProgressiveHiding",
        "public": "infoset.solvers.tabular.public_subgames:PublicMethod",
        "sfrd": "infoset.solvers.tabular.replicator:sfrd",
        "sfrd-continuous": "infoset.solvers.tabular.replicator:sfrd_continuous",
        "team-exact": "infoset.solvers.teams.methods:TeamExact",
        "team-maxmin": "infoset.solvers.teams.team_maxmin:TeamMaxmin",
        "vad-cfr": "infoset.solvers.tabular.cfr:vad_cfr",
    },
    group="infoset.methods",
)
"""Every method by name."""


def parse_method(text: str) -> AnyMethod:
    """Return the method of a name and parameters.

    ``python:FILE.py:name`` is a method, or a class or a function that makes one.

    Raises ``UnknownNameError`` or ``ParameterError``.
    """
    word = parse_name(text).word
    if word.startswith(PYTHON):
        _refuse_update(find_python(word))
    return check_is_method(METHODS.build(text), text)


UPDATE = ("root", "parent", "first", "last")
"""The first arguments of a local update."""


def _refuse_update(found: object) -> None:
    """Raise ``ParameterError`` for a local update, which is only a part of a method."""
    if isfunction(found) and found.__code__.co_varnames[: len(UPDATE)] == UPDATE:
        own = found.__name__
        raise ParameterError(
            f"the function {own} is a local update, no method; a method is made of it by "
            f"infoset.Method(name={own!r}, update={own}, schedule=…)"
        )


def check_is_method(method: object, name: str = "method") -> AnyMethod:
    """Return ``method`` itself.  Raises ``ParameterError`` where it is not a method."""
    _refuse_update(method)
    if isinstance(method, type) or not isinstance(method, AnyMethod):
        raise ParameterError(
            f"{shorten(name, 200)} is {one_line(repr(method))}, no method; it has to have name, takes, default, check "
            "and work, as an infoset.Method has"
        )
    return method


def check_options(method: AnyMethod, config: SolveConfig) -> None:
    """Raise ``ParameterError``, which lists the allowed options, for an option that the method does not accept."""
    for name in config.given:
        if name not in method.takes:
            allowed = ", ".join(option for option in (*OPTIONS, "seed") if option in {*method.takes, "seed"})
            raise ParameterError(f"{name} is not an option of {method.name}; it takes: {allowed}")
    method.check(config)


def list_methods() -> list[Entry]:
    """List the methods of ``solve``, with their parameters and a line about each, then the options that it takes.

    >>> next(entry.parameters for entry in infoset.list_methods() if entry.name == "team-exact")
    {'by': 'auto'}
    """
    entries = []
    for entry in METHODS.entries():
        try:
            method = parse_method(entry.name)
        except InfosetError:
            entries.append(entry)  # of a plug-in that is broken, or has to be given parameters
            continue
        takes = ", ".join(option for option in OPTIONS if option in method.takes)
        entries.append(entry._replace(about=f"{entry.about}\n    options: {takes or 'none'}"))
    return entries
