"""Reports of solutions and evaluations as lines."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from infoset.cli.output import print_json, write
from infoset.registry import Entry, listed
from infoset.view.bodies import NEAR, entry_body, runs_body

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infoset.solvers.metrics import Evaluation, Intervals
    from infoset.solving import Solution

MIN_REPORTED = 1.0  # least seconds of building or evaluating that are reported


def _path_lines(solution: Solution) -> list[str]:
    """Return lines about the end of a logit path, and the remaining gain where a point of it was reached."""
    notes = solution.notes
    lines = []
    if "lambda" in notes:
        ended = f"; {notes['ended']}" if "ended" in notes else ""
        each = notes.get("lambdas", {})  # given where the players' payoffs differ much in scale
        of_each = ", ".join(f"{name} {value:.6g}" for name, value in each.items())
        lines.append(f"lambda           {of_each or format(notes['lambda'], '.6g')}{ended}")
    if "set_gain" in notes:
        lines.append(f"at every set     another move gains {notes['set_gain']:.3g} at most")
    return lines


def solution_text(solution: Solution) -> str:
    """Return a solution's results as lines."""
    lines = [f"{solution.game} by {solution.method}"]
    if solution.reason:
        lines.append(f"chosen because   {solution.reason}")
    if solution.lock:
        locked = ", ".join(f"{player} at {len(table):,} information sets" for player, table in solution.lock.items())
        lines.append(f"locked           {locked}; metrics cover the rest")
    if solution.values is not None:
        named = zip(solution.players, solution.values, strict=True)
        lines.append(f"values           {', '.join(f'{name} {value:+.9g}' for name, value in named)}")
    if exact := solution.notes.get("exact_values"):
        lines.append(f"in fractions     {', '.join(map(' '.join, zip(solution.players, exact, strict=True)))}")
    if solution.exploitability is not None:
        lines += [f"exploitability   {solution.exploitability:.3e}", f"nash_conv        {solution.nash_conv:.3e}"]
    else:
        lines.append(f"not evaluated    {solution.why_not}")
    if solution.bound is not None:
        lines += [
            f"bound            {solution.bound:.9g}, {solution.gap:.3g} above",
            f"proof            {solution.proof}",
        ]
    lines += _runs_text(solution)
    if paid := solution.notes.get("team_values"):
        lines.append(f"teams            {', '.join(f'{name} {value:+.9g}' for name, value in paid.items())}")
    if plans := solution.notes.get("plans"):
        drawn = ", ".join(f"{team} draw one of {count:,}" for team, count in plans.items())
        lines.append(f"plans            {drawn}")
    lines += _path_lines(solution)
    after = f"{solution.iterations:,} iteration{'s' * (solution.iterations != 1)}, {solution.seconds:.3g} s"
    lines.append(f"stopped          {solution.stopped} after {after}")
    if max(solution.building_seconds, solution.evaluating_seconds) >= MIN_REPORTED:
        building, evaluating = solution.building_seconds, solution.evaluating_seconds
        lines.append(f"besides          building {building:.3g} s, evaluating {evaluating:.3g} s")
    if solution.folder is not None:
        lines.append(f"run folder       {solution.folder}")
    return "\n".join(lines)


def _runs_text(solution: Solution) -> list[str]:
    found, lines = runs_body(solution), []
    for setting, mean in solution.notes.get("settings", {}).items():
        lines.append(f"tried            {mean:.5g} on average by {setting}")
    if found is not None and found["count"] > 1:
        share = found["share_optimal"]
        near = (
            ""
            if share is None
            else f"; {100 * share:.3g} % of them within {NEAR * (solution.payoff_range or 0):g} of the bound"
        )
        lines += [
            f"runs             {found['count']:,}, mean {found['mean']:.6g} ± {found['interval']:.2g}{near}",
            f"10 % quantile    {found['quantile_10']:.6g}",
            f"best             {found['best']:.9g}",
        ]
    return lines


def evaluation_text(game: str, what: str, players: Sequence[str], found: Evaluation) -> str:
    """Return an evaluation's results as lines."""
    lines = [f"{game}: {what}"]
    if found.intervals is not None:
        return "\n".join([*lines, *_estimates(players, found, found.intervals), found.reason])
    known, bound = isfinite(found.nash_conv), "" if found.exact else "at least "
    for name, value, best in zip(players, found.values, found.best_response_values, strict=True):
        line = f"{name:<16} value {value:+.9g}"
        lines.append(f"{line}   best response {best:+.9g}   gain {best - value:.3e}" if isfinite(best) else line)
    if known:
        lines += [
            f"exploitability   {bound}{found.exploitability:.3e}",
            f"nash_conv        {bound}{found.nash_conv:.3e}{f' ± {found.margin:.2g}' if found.margin else ''}",
            f"epsilon          {bound}{found.epsilon:.3e}",
        ]
    return "\n".join(lines + [found.reason] * bool(found.reason))


def _estimates(players: Sequence[str], found: Evaluation, ends: Intervals) -> list[str]:
    """Return the lines of estimated figures with their intervals."""
    lines = [
        f"{name:<16} value {value:+.4g}   95 % interval {low:+.4g} to {high:+.4g}"
        for name, value, (low, high) in zip(players, found.values, ends.values, strict=True)
    ]
    for name in ("exploitability", "nash_conv"):
        low, high = getattr(ends, name)
        lines.append(f"{name:<16} {getattr(found, name):.4g}   95 % interval {low:.4g} to {high:.4g}")
    return lines


def print_entries(what: str, entries: list[Entry], more: str, json_: bool) -> None:
    """Print names with their parameters and a line about each, and then ``more``; or all as one JSON object."""
    if not json_:
        lines = [f"{listed(entry)}\n    {entry.about}" for entry in entries]
        write("\n".join(lines) + (f"\n\n{more}" if more else ""))
        return
    print_json({what: [entry_body(entry) for entry in entries]})
