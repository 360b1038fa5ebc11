"""The configuration of a solve: each option is declared here once, with its type, default, range and one line of help.

The keyword arguments of ``infoset.solve``, the flags of ``infoset solve``, ``config.json`` in the folder of a run and
the fields of the page's form are made from these declarations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from math import inf, nan
from typing import Any, TypeAlias

import msgspec

from infoset.errors import ParameterError, shorten
from infoset.names import NOTHING_YET, check_choice, check_range
from infoset.solvers.job import Limits

Lock: TypeAlias = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Fixed behaviour: by player and information set the probabilities of all its moves."""

AnyLock: TypeAlias = Mapping[Any, Any] | Sequence[Mapping[Any, Any]]
"""The locked strategy at each player or information set: probabilities; for a player, anything that plays.

Several are a sequence, which may also hold hands at nodes of hold'em (``HandLock``).
"""


class HandLock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Hands of a player at a node of a hold'em spot, fixed to probabilities of actions."""

    player: str
    actions: dict[str, float]
    """The probabilities; 0 for actions that are not named."""
    after: str = NOTHING_YET
    """The actions and cards before, such as ``check, bet 75, call, Qc``; ``*`` is any card."""
    hands: str = ""
    """A filter of ``hand_filters``; by default all hands."""


PER_CENT = "%"
UNIFORM = "uniform"
"""The first profile where none is named."""


def option(help: str, *, label: str = "", least: int | None = None, choices: tuple[str, ...] = ()) -> Any:
    """Declare an option: a line of help, its label in the page's form, the least number allowed, the words allowed."""
    return field(default=None, metadata={"help": help, "label": label, "least": least, "choices": choices})


@dataclass(frozen=True)
class SolveConfig:
    """Configure a solve, in the same way for every method; ``None`` leaves the choice to the method.

    ``game`` and ``method`` are names, or the objects themselves.
    """

    game: Any = None
    method: Any = option(  # noqa: RUF009
        "How to solve it: auto (default) chooses; 'infoset methods' lists them. With parameters: dcfr(alpha=2).",
        label="Method",
    )
    _: KW_ONLY
    iterations: int | None = option("Stop after this many iterations (of each run, with --runs).")
    target: float | str | None = option(
        "Stop at this exploitability, in units of the payoffs; for hold'em also in per cent of the pot: 0.5%.",
        label="Until exploitability",
    )
    seconds: float | None = option(
        "Stop solving after this many seconds; building the game has 10 at least.", label="At most seconds"
    )
    start: str | None = option(
        "The first profile: uniform (default), or random (drawn with --seed).", choices=(UNIFORM, "random")
    )
    runs: int | None = option("Independent runs of a method that repeats them.", least=1)
    lock: AnyLock | None = option(  # noqa: RUF009
        "Fix a strategy and solve for the rest: P1=random, P1=POLICY, or a .json file of probabilities by information "
        "set, or by hands and node of hold'em."
    )
    form: str | None = option(
        "Representation of the game: tree, factored, vector, sampled (default: what fits).",
        choices=("tree", "factored", "vector", "sampled"),
    )
    precision: str | None = option(
        "Numbers of the vector form: half (16 bits, half of the memory), single (default), double.",
        choices=("half", "single", "double"),
    )
    teams: str | None = option("Teams, by seats from 1 or by names, as in 1+3,2 (default: the game's own).")
    seed: int | None = option("Seed of every random choice (default: 0).", least=0)

    def __post_init__(self) -> None:
        """Raise ``ParameterError`` for a value that no method allows; a method may allow less (``check_options``)."""
        object.__setattr__(self, "target", read_target(self.target))
        self.limits(pot=1.0)
        if self.seed is not None:
            check_range("seed", self.seed, 0, 2**63)
        for declared in fields(self):
            value = getattr(self, declared.name)
            if declared.metadata.get("choices") and value is not None:
                check_choice(declared.name, value, declared.metadata["choices"])

    def limits(self, pot: float | None) -> Limits:
        """Return when to stop in a game whose pot is ``pot``; ``Limits()`` where no limit is given.

        Raises ``ParameterError`` for a target in per cent in a game without a pot.
        """
        target = self.target
        if isinstance(target, str):
            if pot is None:
                raise ParameterError(f"target={target}: this game has no pot; allowed: a number, in units of payoffs")
            target = float(target.removesuffix(PER_CENT)) / 100 * pot
        return Limits(self.iterations, target, self.seconds)

    @property
    def locked(self) -> Lock:
        """The lock by player and information set, as a solve reads it; empty for none."""
        return self.lock if isinstance(self.lock, Mapping) else {}

    @property
    def given(self) -> dict[str, Any]:
        """The options that were given, which a method may refuse; without the seed, which every method takes."""
        return {name: value for name in OPTIONS if (value := getattr(self, name)) is not None}


def read_target(target: Any) -> Any:
    """Return a target of which a text is left only where it is in per cent; other texts become numbers.

    Raises ``ParameterError`` for a text that is neither.
    """
    if not isinstance(target, str):
        return target
    text = target.replace(" ", "")
    try:
        number = float(text.removesuffix(PER_CENT))
    except ValueError:
        number = nan
    if not 0 <= number < inf:
        raise ParameterError(f"target={shorten(target)}; allowed: numbers from 0 up, and in hold'em such as 0.5%")
    return text if text.endswith(PER_CENT) else number


OPTIONS = tuple(one.name for one in fields(SolveConfig) if one.name not in ("game", "method", "seed"))
"""The options that a method accepts or refuses."""
LIMITS = tuple(one.name for one in fields(Limits))
"""The options that say when to stop."""


def _as_in_solve(name: str) -> Any:
    """Declare an option of ``solve`` for another function, which takes it in the same way."""
    return field(default=None, metadata=SolveConfig.__dataclass_fields__[name].metadata)


@dataclass(frozen=True)
class FlopReportConfig:
    """Configure a report over flops: the spot, the flops, and how each of them is solved."""

    game: Any = None
    method: Any = _as_in_solve("method")  # noqa: RUF009
    _: KW_ONLY
    flops: Any = option(  # noqa: RUF009
        "How many flops, which represent all 1,755: 25 (default), 49, 85, 184; or a list: 'Td9d6h Ks7h2c'."
    )
    iterations: int | None = _as_in_solve("iterations")
    target: float | str | None = option(
        "Stop at this exploitability, in chips or per cent of the pot (default without another limit: 0.5%)."
    )
    seconds: float | None = _as_in_solve("seconds")
    precision: str | None = _as_in_solve("precision")
