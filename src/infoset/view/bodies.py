"""Results as plain data that fits JSON, the same for the command line and for servers."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING, Any

from infoset.names import Name
from infoset.registry import Entry

if TYPE_CHECKING:
    from infoset.solvers.metrics import Evaluation
    from infoset.solving import Solution

NEAR = 0.001  # as a share of the range of payoffs: runs that end this close to the bound count as optimal


def solution_body(solution: Solution) -> dict[str, Any]:
    """Return a solution's results, with the same fields for every method."""
    keys = (
        "game", "method", "reason", "iterations", "seconds", "building_seconds", "evaluating_seconds", "stopped",
        "values", "nash_conv", "exploitability", "epsilon", "bound", "gap", "proof", "seed", "start",
    )  # fmt: skip
    folder = solution.folder
    where = {"policy": folder and str(folder / "policy.npz"), "folder": folder and str(folder)}
    body = {key: getattr(solution, key) for key in keys}
    return body | where | {"why_not": solution.why_not, "runs": runs_body(solution), **solution.notes}


def runs_body(solution: Solution) -> dict[str, Any] | None:
    """Summarise several runs: the mean with its 95 % interval, a quantile, the share that came near to the bound."""
    import numpy as np  # lists of names need no numbers

    values = np.array(solution.runs)
    if not len(values):
        return None
    count, bound, near = len(values), solution.bound, NEAR * (solution.payoff_range or 0.0)
    return {
        "count": count,
        "mean": float(values.mean()),
        "interval": 1.96 * float(values.std(ddof=1)) / count**0.5 if count > 1 else None,
        "quantile_10": float(np.quantile(values, 0.1)),
        "best": float(values.max()),
        "share_optimal": None if bound is None or not near else float((values >= bound - near).mean()),
    }


def evaluation_body(game: str, what: str, found: Evaluation) -> dict[str, Any]:
    """Return an evaluation's results; unknown values are ``null``."""
    names = ("nash_conv", "exploitability", "epsilon", "margin")
    figures = {name: value if isfinite(value := getattr(found, name)) else None for name in names}
    best = [value if isfinite(value) else None for value in found.best_response_values]
    lists = {"values": found.values, "best_response_values": best}
    ends = {"intervals": None if found.intervals is None else asdict(found.intervals)}
    return {"game": game, "of": what, **figures, **lists, **ends, "exact": found.exact, "reason": found.reason}


def entry_body(entry: Entry) -> dict[str, Any]:
    """Return a registered name with its parameters and the line about it."""
    parameters = {key: _plain(value) for key, value in entry.parameters.items()}
    return {"name": entry.name, "parameters": parameters, "about": entry.about}


def _plain(value: Any) -> Any:
    if isinstance(value, (Name, type)):
        return str(value) if isinstance(value, Name) else None
    return list(value) if isinstance(value, tuple) else value
