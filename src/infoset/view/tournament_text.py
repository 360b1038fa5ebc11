"""Tournaments as plain text."""

from __future__ import annotations

from infoset.arena.results import TeamFault
from infoset.arena.standings import Standings
from infoset.view.match_text import columns

SHOWN_GAMES = 5


def tournament_text(standings: Standings) -> str:
    """Return the cross table, the best team first, with the ranking criterion; then every team's faults."""
    head = f"{standings.game}: {len(standings.teams)} teams, {standings.games:,} games, seed {standings.seed}"
    note = f"ranked by {RANKED_BY[standings.rank]}; {cell_note(standings)}"
    rate = f", {standings.fresh / standings.seconds:,.0f} a second" if standings.fresh else ""
    tail = f"{standings.fresh:,} games in {standings.seconds:.3g} s{rate}"
    stopped = [f"stopped: interrupted, {standings.planned - standings.games:,} games are left"]
    more = [*meeting_lines(standings), *won_line(standings), *skill_lines(standings)]
    more += [*fault_lines(standings), *example_lines(standings)]
    return "\n".join(
        [head, *columns(standing_rows(standings)), note, *more, tail]
        + (stopped if standings.stopped == "interrupted" else [])
    )


RANKED_BY = {
    "payoff": "mean payoff",
    "wins": "games won (a tie is half of one)",
    "elo": "rating (Elo points)",
    "meetings": "meetings",
}


def cell_note(standings: Standings) -> str:
    """Return the description of the cells of the cross table."""
    if standings.rank != "payoff":
        return "wins/losses/ties of the row against the column"
    note = "mean payoff of the row against the column, 95 % intervals over the seeds"
    if any(one.mean != one.played for one in standings.payoffs):
        note += ", luck taken out (AIVAT)"
    return note


def signed(value: float, margin: float | None = None) -> str:
    """Return a mean payoff, with its margin where that is known: ``+0.25 ± 0.01``."""
    return f"{round(value, 12) + 0.0:+.4g}" + ("" if margin is None else f" ± {margin:.2g}")


def standing_rows(standings: Standings) -> list[list[str]]:
    """Return the cells of the table, headings first: team, ranking figure with its interval, then the cross table."""
    return _payoff_rows(standings) if standings.rank == "payoff" else _score_rows(standings)


def _payoff_rows(standings: Standings) -> list[list[str]]:
    """Return team, mean payoff with its interval, score and rating; then mean payoffs by pair."""
    order = ranking(standings)
    ratings = {rating.team: rating for rating in standings.ratings}
    rows = [["team", "payoff", "score", "rating", *(str(place) for place in range(1, len(order) + 1))]]
    for place, team in enumerate(order, start=1):
        met = [None if other == team else standings.payoff(team, other) for other in order]
        own, score = standings.payoff(team), standings.score(team)
        mean = "-" if own is None else signed(own.mean, own.margin)
        share = "-" if score is None else f"{100 * score:.1f} %"
        cells = ["-" if one is None else signed(one.mean, one.margin) for one in met]
        rows.append([f"{place} {team}", mean, share, f"{round(ratings[team].rating):+d}", *cells])
    return rows


def _score_rows(standings: Standings) -> list[list[str]]:
    """Return team, score, rating and its interval; then wins, losses and ties by pair."""
    order = ranking(standings)
    ratings = {rating.team: rating for rating in standings.ratings}
    cells = cross_table(standings)
    rows = [["team", "score", "rating", "95 %", *(str(place) for place in range(1, len(order) + 1))]]
    for place, team in enumerate(order, start=1):
        rating, score = ratings[team], standings.score(team)
        interval = f"{round(rating.low):+d} to {round(rating.high):+d}"
        counts = ["-" if (cell := cells.get((team, other))) is None else "/".join(map(str, cell)) for other in order]
        share = "-" if score is None else f"{100 * score:.1f} %"
        rows.append([f"{place} {team}", share, f"{round(rating.rating):+d}", interval, *counts])
    return rows


def meeting_lines(standings: Standings) -> list[str]:
    """Return one line for each meeting: ``winners 1: a 2, b 1 (1 tie)``; the team that advances comes first."""
    lines = []
    for met in standings.meetings:
        if min(met.teams) < 0:
            if met.stage.startswith("round"):
                lines.append(f"{met.stage}: {standings.teams[max(met.teams)]} meets nobody")
            continue
        sides = sorted(zip(met.teams, met.wins, strict=True), key=lambda side: side[0] != met.winner)
        ties = f" ({met.ties} {'tie' if met.ties == 1 else 'ties'})" if met.ties else ""
        text = ", ".join(f"{standings.teams[team]} {wins}" for team, wins in sides)
        lines.append(f"{met.stage}: {text}{ties}{'' if met.winner >= 0 else ', not over'}")
    return lines


def won_line(standings: Standings) -> list[str]:
    """Return the games won at tables of more than two, which pairs do not show: ``games won: a 6, b 4``."""
    won = ", ".join(f"{team} {standings.won[team]:,}" for team in ranking(standings) if team in standings.won)
    return [f"games won: {won}"] if won else []


def skill_lines(standings: Standings) -> list[str]:
    """Return the skills of agents, where there are any: ``skill of a: 27.1 (22.5 to 31.6), 35 games``."""
    return [
        f"skill of {skill.agent}: {skill.skill:.1f} ({skill.low:.1f} to {skill.high:.1f}), {skill.games:,} games"
        for skill in standings.skills
    ]


def ranking(standings: Standings) -> list[str]:
    """Return the teams from first to last; by rating, the highest first, while there is no ranking."""
    if standings.ranking:
        return list(standings.ranking)
    return [rating.team for rating in sorted(standings.ratings, key=lambda rating: -rating.rating)]


def cross_table(standings: Standings) -> dict[tuple[str, str], tuple[int, int, int]]:
    """Return (wins, losses, ties) of the first team against the second, for each pair that met.

    Each pair is listed from both sides.
    """
    cells = {}
    for met in standings.table:
        if met.wins + met.losses + met.ties:
            cells[met.b, met.a] = met.losses, met.wins, met.ties
            cells[met.a, met.b] = met.wins, met.losses, met.ties
    return cells


def fault_lines(standings: Standings) -> list[str]:
    """Return one line for each team with faults: ``a: 3 illegal, 1 hung (game 7)``."""
    found: dict[str, dict[str, list[TeamFault]]] = {}
    for fault in standings.faults:
        found.setdefault(fault.team, {}).setdefault(fault.kind, []).append(fault)
    return [f"faults of {team}: {', '.join(map(_kind, kinds.values()))}" for team, kinds in found.items()]


def example_lines(standings: Standings) -> list[str]:
    """Return one line for each team and kind of fault: ``first error of a, in game 7: act: NameError: …``."""
    first: dict[tuple[str, str], TeamFault] = {}
    for fault in standings.faults:
        first.setdefault((fault.team, fault.kind), fault)
    return [f"first {kind} of {team}, in game {fault.game}: {fault.detail}" for (team, kind), fault in first.items()]


def _kind(faults: list[TeamFault]) -> str:
    games = ", ".join(str(fault.game) for fault in faults[:SHOWN_GAMES]) + (", …" if len(faults) > SHOWN_GAMES else "")
    count = sum(fault.count for fault in faults)
    return f"{count:,} {faults[0].kind} (game{'s' if len(faults) > 1 else ''} {games})"
