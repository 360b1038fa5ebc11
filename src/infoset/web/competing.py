"""Standings of tournaments for the page, read from their files, which may still be written."""

from __future__ import annotations

from collections import OrderedDict
from math import inf
from pathlib import Path
from threading import Lock
from time import time
from typing import Any

import msgspec

from infoset.arena.formats import MEETING
from infoset.arena.reading import beside, reading, version
from infoset.arena.results import TeamFault
from infoset.arena.standings import Standings
from infoset.arena.store import Store
from infoset.arena.tournament import Record, read_record
from infoset.errors import one_line
from infoset.view.tournament_text import RANKED_BY, cross_table, ranking
from infoset.web.artifacts import find

MAX_CACHED = 4  # records
MAX_PAGE = 200
PLAYED = 60.0  # seconds since the last write after which a tournament no longer counts as running
EXAMPLES = 5  # games that are listed for each kind of fault
FAULTS = 500  # kinds of faults that are sent


class Competing:
    """Answers about the tournaments in the served folders."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self.folders = folders
        self._records: OrderedDict[tuple[str, str], Record] = OrderedDict()
        self._lock = Lock()

    def standings(self, name: str) -> dict[str, Any]:
        """Return the teams from first to last, their cross table, meetings, skills and faults."""
        item = find(self.folders, name, "tournament")
        before = version(item.path)
        record = self._record(item.path, before)
        with Store.read(item.path) as store:
            config = store.config()
        summary = _standings(record.standings)
        more = {"title": item.title, "changed": item.changed, "format": config.format}
        return {**summary, **more, "version": before, "running": _is_played(item.path)}

    def games(self, name: str, a: int, b: int, meeting: int, offset: int, limit: int) -> dict[str, Any]:
        """Return the games in which the teams ``a`` and ``b`` met (by number, −1: any) or of one meeting (0: any)."""
        item = find(self.folders, name, "tournament")
        record = self._record(item.path, version(item.path))
        numbers = [number for number in sorted(record.met) if _is_asked(record.met[number], number, a, b, meeting)]
        shown = numbers[offset : offset + min(limit, MAX_PAGE)]
        rows = _rows(item.path, shown)
        games = [{**rows[n], **_result(record, n, a)} for n in shown if n in rows]
        return {"total": len(numbers), "games": games, "teams": record.standings.teams, "title": item.title}

    def _record(self, path: Path, seen: str) -> Record:
        """Return the record of a file, which is read once as long as its version ``seen`` stays the same."""
        key = str(path), seen
        with self._lock:  # so that two simultaneous requests do not both read the file
            if key not in self._records:
                self._records[key] = read_record(path)
                if len(self._records) > MAX_CACHED:
                    self._records.popitem(last=False)
            self._records.move_to_end(key)
            return self._records[key]


def _is_played(path: Path) -> bool:
    """Return whether a tournament seems to be running: its ``-wal`` file was written lately.

    A process that was killed leaves its ``-wal`` file, but no longer writes to it.
    """
    try:
        return time() - beside(path).stat().st_mtime < PLAYED
    except OSError:
        return False


def _standings(found: Standings) -> dict[str, Any]:
    order, cells = ranking(found), cross_table(found)
    ratings = {rating.team: rating for rating in found.ratings}
    number = {team: place for place, team in enumerate(found.teams)}
    rows = [
        {
            "team": team,
            "number": number[team],
            "score": found.score(team),
            "rating": ratings[team].rating,
            "low": ratings[team].low,
            "high": ratings[team].high,
            "won": found.won.get(team),
            "payoff": _payoff(found, team),
        }
        for team in order
    ]
    return {
        "rank": found.rank,
        "note": f"ranked by {RANKED_BY[found.rank]}",
        "game": found.game,
        "seed": found.seed,
        "games": found.games,
        "planned": found.planned,
        "left": found.stopped == "running",
        "rows": rows,
        "cells": [[cells.get((team, other)) for other in order] for team in order],
        "paid": [[None if other == team else _payoff(found, team, other) for other in order] for team in order],
        "meetings": [msgspec.to_builtins(meeting) for meeting in found.meetings],
        "teams": found.teams,
        "skills": [msgspec.to_builtins(skill) for skill in found.skills],
        "faults": _faults(found.faults),
    }


def _payoff(found: Standings, team: str, against: str = "") -> dict[str, float | None] | None:
    """Return a mean payoff with its margin, or ``None`` unless the teams are ranked by payoffs."""
    paid = found.payoff(team, against) if found.rank == "payoff" else None
    return None if paid is None else {"mean": paid.mean, "margin": paid.margin}


def _faults(faults: tuple[TeamFault, ...]) -> list[dict[str, Any]]:
    """Return the faults grouped by team and kind, each with an example."""
    found: dict[tuple[str, str], list[TeamFault]] = {}
    for fault in faults:
        found.setdefault((fault.team, fault.kind), []).append(fault)
    return [
        {
            "team": team,
            "kind": kind,
            "count": sum(fault.count for fault in those),
            "games": [fault.game for fault in those[:EXAMPLES]],
            "more": max(0, len(those) - EXAMPLES),
            "detail": one_line(those[0].detail, 400),
        }
        for (team, kind), those in list(found.items())[:FAULTS]
    ]


def _is_asked(met: tuple[int, ...], number: int, a: int, b: int, meeting: int) -> bool:
    if meeting and (number - 1) // MEETING != meeting:
        return False
    if a == b >= 0:
        return met.count(a) > 1
    return all(team < 0 or team in met for team in (a, b))


def _rows(path: Path, numbers: list[int]) -> dict[int, dict[str, Any]]:
    """Return the agents, returns and faults of games by the number of the game."""
    marks = ",".join("?" * len(numbers))
    query = f"SELECT number, agents, returns, replay IS NOT NULL FROM games WHERE number IN ({marks})"
    with reading(path) as connection:
        faults = f"SELECT number, team, kind, count FROM faults WHERE number IN ({marks})"
        found = {
            number: {
                "number": number,
                "agents": msgspec.json.decode(agents),
                "returns": None if returns is None else msgspec.json.decode(returns),
                "replay": bool(replay),
                "faults": [],
            }
            for number, agents, returns, replay in connection.execute(query, numbers)
        }
        for number, team, kind, count in connection.execute(faults, numbers):
            found[number]["faults"].append({"team": team, "kind": kind, "count": count})
    return found


def _result(record: Record, number: int, a: int) -> dict[str, Any]:
    """Return a game's result for the team ``a``, or for the winner where ``a`` is −1: ``won``, ``lost``, ``tied``."""
    met, scores = record.met[number], record.scores[number]
    best = max(scores)
    winners = [team for team, score in zip(met, scores, strict=True) if score == best]
    forfeited = [team for team, score in zip(met, scores, strict=True) if score == -inf]
    result = "tied" if len(winners) > 1 else "won"
    if a >= 0 and a in met and a not in winners:
        result = "lost"
    return {"met": met, "winners": winners, "forfeited": forfeited, "result": result}
