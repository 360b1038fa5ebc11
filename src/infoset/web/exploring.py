"""The service of *Explore*: answers the page's questions about strategies.

A source is called ``item:NAME`` where it lies in a served folder, ``game:NAME`` where a game was solved here with the
defaults, ``solved:HASH`` where it was solved with other settings, and ``lock:HASH`` where it was solved against locked
strategies: the hash is that of the wish, so that equal wishes share one answer.
"""

from __future__ import annotations

import csv
import threading
from collections import OrderedDict
from dataclasses import replace
from hashlib import sha256
from http import HTTPStatus
from io import StringIO
from math import isnan
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from infoset import sizes
from infoset.catalog import known_games
from infoset.errors import InfosetError, ParameterError, shorten
from infoset.files import POLICY
from infoset.formats.hand_tables import hand_tables_csv
from infoset.hand_filters import select_hands
from infoset.hand_table import HandTable
from infoset.practice import solve_soon
from infoset.remote.serving import Refusal
from infoset.solvers.job import Watcher
from infoset.solving import solve
from infoset.view.action_colors import action_colors
from infoset.view.guide import guide, title_of
from infoset.view.payoff_table import equilibrium_lines, payoff_picture, payoff_table
from infoset.web import nodes
from infoset.web.artifacts import find
from infoset.web.hands import card_figures, hand_cells, hand_kinds, range_figures
from infoset.web.metadata import kind_of
from infoset.web.nodes import DisplayedNode, Group, Row
from infoset.web.queue import Queue, Request, RunningRequest
from infoset.web.schemas import (
    MAX_SECONDS,
    PlaceRequest,
    RowsRequest,
    SolveRequest,
    StrategyRequest,
    TablePieceRequest,
    TaskRequest,
    form_fields,
)
from infoset.web.seats import key_of
from infoset.web.shared_game import SharedGame
from infoset.web.sources import Source, find_game, rules_stamp, stamp

if TYPE_CHECKING:
    from infoset.solvers.metrics import Evaluation

MAX_SOURCES = 200  # strategies that are held in memory
MAX_BYTES = 96 << 20  # approximate limit for these and their games,
MIN_SOURCES = 6  # except that this many are held, however large they are
SOLVING = 20.0  # seconds for a game that is solved with the defaults
CACHE_SECONDS = 900.0  # how long a strategy that was solved here is kept after the last question about it
MAX_ITERATIONS = 10_000_000
CSV_ROWS = 20_000  # rows in a piece
MAX_DIFFERENCES = 1000  # rows sent at most
GROUPS = 50


class Exploring:
    """The strategies that are being explored, and the queue that solves on request."""

    def __init__(self, folders: tuple[Path, ...], own: tuple[Source, ...] = ()) -> None:
        """Hold the strategies ``own`` from the start, for as long as this object exists."""
        self.folders = folders
        self.own = {source.name: source for source in own}
        self.sources: OrderedDict[str, Source] = OrderedDict()
        self.queue = Queue()
        self._holding = threading.Lock()
        self._reading: dict[str, threading.Lock] = {}

    def busy(self) -> bool:
        """Return whether something is being solved, or a strategy that was solved here was asked about lately."""
        now = monotonic()
        recent = any(s.temporary and now - s.asked < CACHE_SECONDS for s in list(self.sources.values()))
        return recent or self.queue.busy

    def close(self) -> None:
        """Cancel what is being solved."""
        self.queue.close()

    def source(self, name: str) -> Source:
        """Return a source that is held, or read it; a file that has changed is read again.  Raises ``Refusal``."""
        if name in self.own:
            return self.own[name]
        with self._holding:
            reading = self._reading.setdefault(name, threading.Lock())
            if len(self._reading) > 1000:
                self._reading.clear()
        with reading:
            found = self.sources.get(name)
            if found is None or (found.place is not None and stamp(found.place) != found.stamp):
                found = self._read(name)
                self._add_source(found)
            found.asked = monotonic()
            return found

    def _read(self, name: str) -> Source:
        kind, _, rest = name.partition(":")
        if kind != "item":
            what = (
                f"{shorten(rest)} is not solved here yet" if kind == "game" else "the solution is no longer available"
            )
            raise Refusal(HTTPStatus.NOT_FOUND, f"{what}; solve it again")
        item = find(self.folders, rest)
        if (found := kind_of(item)) not in ("run", "policy"):
            what = f"a {found}" if found else "unknown here"
            raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, f"{shorten(rest)} is {what}, not a strategy")
        place = item.path / POLICY if item.kind == "run" else item.path
        if item.kind == "run" and not place.is_file():
            raise Refusal(HTTPStatus.NOT_FOUND, f"the run {shorten(rest)} has no policy yet")
        return Source.of_file(name, self.folders, place)

    def _add_source(self, source: Source) -> None:
        with self._holding:
            self.sources[source.name] = source
            by_age = sorted((s for s in self.sources.values() if s is not source), key=lambda s: s.asked)
            while len(self.sources) > MAX_SOURCES or (len(self.sources) > MIN_SOURCES and self._bytes > MAX_BYTES):
                del self.sources[by_age.pop(0).name]

    @property
    def _bytes(self) -> int:
        games = {id(s.compiled): s.compiled for s in self.sources.values() if "compiled" in s.__dict__}
        return sum(game.bytes for game in games.values()) + sum(s.bytes for s in self.sources.values())

    def ready(self) -> dict[str, Any]:
        """Answer with nothing, so that the process starts before anything else is asked of it."""
        return {}

    def open(self, wish: StrategyRequest) -> dict[str, Any]:
        """Return a description of a source: its game, players and origin.

        For a game that is not solved here yet, say only that.
        """
        if wish.source.startswith("game:") and not self._is_solved(wish.source):
            return {"source": wish.source, "solved": False}
        source = self.source(wish.source)
        solution = source.solution
        table = source.table
        return {
            "source": source.name,
            "solved": True,
            "game": source.game_name,
            "title": self._title(source),
            "payoffs": self._payoffs(source),
            "players": source.players,
            "made_by": {k: v for k, v in source.made_by.items() if isinstance(v, (str, int, float))},
            "rows": None if table is None else [len(keys) for keys in table.keys],
            "read": monotonic() if source.stamp is None else source.stamp[0] / 1e9,
            "lock": source.lock,
            "why": "" if solution is None else solution.reason,
            "seconds": None if solution is None else solution.seconds,
            "form": form_fields(),
        }

    def _title(self, source: Source) -> str:
        """Return the title of the source's game; "" where the game is not available."""
        try:
            return title_of(source.game)
        except InfosetError:
            return ""

    def _payoffs(self, source: Source) -> dict[str, Any] | None:
        """Return the payoff table of a small one-shot game, with its equilibria; ``None`` for other games."""
        try:
            table = payoff_table(source.game)
            return table and payoff_picture(table, lines=equilibrium_lines(source.game, table))
        except InfosetError:
            return None

    def rules(self, wish: StrategyRequest) -> dict[str, Any]:
        """Return the rules, written for people, of a source's game, or of the game ``game:NAME`` alone."""
        kind, _, name = wish.source.partition(":")
        if kind != "game" or wish.source in self.sources:
            source = self.source(wish.source)
            return guide(source.game_name, source.game)._asdict()
        if name in known_games():
            return guide(name)._asdict()
        return guide(name, find_game(name, self.folders))._asdict()

    def node(self, view: RowsRequest) -> dict[str, Any]:
        """Return the view of a place in a strategy, or a line about the work that it waits for."""
        source, other = self.source(view.source), self.source(view.other) if view.other else None
        for one in filter(None, (source, other)):
            if waits := one.waits():
                return {"waits": waits}
        place = self._place(source, view)
        first, shown_groups, refused = view.first, [], ""
        for k, whole in enumerate(place.groups[:GROUPS]):
            if view.group not in (None, k):
                continue
            found, hands, why = self._matching(whole, view)
            refused = refused or why
            chosen = [found.row(i) for i in range(min(first, found.total), min(first + view.rows, found.total))]
            shown_groups.append({
                "group": k, "player": found.player, "moves": found.actions, "total": found.total, "first": first,
                "colors": action_colors(found.actions, source.order),
                "rows": nodes.shown(source, other, chosen),
                "hands": None if first or hands is None else hand_cells(hands),
                "kinds": None if first or hands is None else hand_kinds(hands),
                "range": None if first or whole.table is None else range_figures(whole.table),
            })  # fmt: skip
        source.warm()
        return {
            "at": place.at, "steps": place.steps, "reach": place.reach, "ends": place.ends, "groups": shown_groups,
            "more": max(len(place.groups) - GROUPS, 0), "valued": source.study is not None or source.spot is not None,
            "stamp": source.stamp and str(source.stamp[0]), "refused": refused,
        }  # fmt: skip

    def _matching(self, group: Group, view: RowsRequest) -> tuple[Group, HandTable | None, str]:
        """Return the rows that are searched for, as a table where they are hands, and why a search is refused.

        Hands are searched by filters, other rows by their keys.
        """
        table = group.table
        if table is None or not view.find:
            return nodes.matching(group, view.find), table, ""
        try:
            places = np.flatnonzero(select_hands(table, view.find)).tolist()
        except InfosetError as error:
            return nodes.take(group, []), None, str(error)
        return nodes.take(group, places), table.take(places), ""

    def _place(self, source: Source, view: PlaceRequest) -> DisplayedNode:
        if view.way == "public" and source.spot is not None:
            return nodes.spot_place(source, view.at)
        if view.way == "public":
            return nodes.public_place(source, view.at)
        return nodes.own_place(source, int(view.way), view.at)

    def values(self, wish: StrategyRequest) -> dict[str, Any]:
        """Return the progress of computing exact values or, once they are known, the evaluation of the strategy."""
        source = self.source(wish.source)
        values = source.values()
        found, free = values.evaluation, values.free
        if found is None or free is None:
            return {"line": values.line, "failed": values.failed, "evaluation": None}
        solved: Any = source.solution if source.solution and source.solution.exploitability is not None else found
        return {
            "line": "", "failed": "",
            "evaluation": {
                "values": solved.values, "gains": _gains(found), "free_gains": _gains(free),
                "exploitability": solved.exploitability, "nash_conv": solved.nash_conv, "epsilon": solved.epsilon,
                "histories": values.histories, "infosets": values.infosets,
            },
        }  # fmt: skip

    def cards(self, view: PlaceRequest) -> dict[str, Any]:
        """Return what each card changes that is dealt next in a hold'em solution.  Raises ``ParameterError``."""
        source = self.source(view.source)
        if source.spot is None:
            raise ParameterError("cards are compared in hold'em solutions alone")
        path = nodes.spot_path(source, view.at)
        with source.working:
            return card_figures(source.spot.next_cards(path))

    def solve(self, wish: SolveRequest) -> dict[str, Any]:
        """Begin to solve, or wait for it in the queue; an answer that is held already is returned at once.

        Raises ``ParameterError`` for bad limits, and ``Refusal`` where the visitor has too many requests in the queue.
        """
        if wish.iterations is not None and not 1 <= wish.iterations <= MAX_ITERATIONS:
            raise ParameterError(f"iterations={wish.iterations}; allowed: 1 to {MAX_ITERATIONS:,}")
        if wish.seconds is not None and not 0 < wish.seconds <= MAX_SECONDS:
            raise ParameterError(f"seconds={wish.seconds:g}; allowed: more than 0 to {MAX_SECONDS:g}")
        if "python:" in wish.method:
            raise ParameterError("method: only shipped methods are run for the page")
        alone = wish.source.startswith("game:") and not self._is_solved(wish.source)
        base = None if alone else self.source(wish.source)
        asked, rules = replace(wish, visitor=""), self._rules(wish.source)
        key = msgspec.json.encode((asked, rules, None if base is None else base.stamp), order="sorted")
        name = _answer_name(wish, key)
        source_found = self.sources.get(name)
        if source_found is not None and source_found.wish == key:
            source_found.asked = monotonic()
            return self._describe(self.queue.answered(wish.visitor, key, name))

        def work(job: RunningRequest) -> str:
            source = self._solved(asked, base, name, job)
            source.wish, source.rules = key, rules
            self._add_source(source)
            return name

        return self._describe(self.queue.ask(wish.visitor, key, work))

    def task(self, wish: TaskRequest) -> dict[str, Any]:
        """Return the progress of a request.  Raises ``Refusal``."""
        return self._describe(self.queue.find(wish.task))

    def cancel(self, wish: TaskRequest) -> dict[str, Any]:
        """Cancel a request; the job goes on if others wait for the same result."""
        request = self.queue.find(wish.task)
        self.queue.give_up(request)
        return self._describe(request)

    def _describe(self, request: Request) -> dict[str, Any]:
        over, failed, job = request.over, request.failed, request.job
        return {
            "task": request.id, "line": self.queue.line(request), "place": self.queue.place(request), "failed": failed,
            "source": job.result if over and not failed else "", "over": over, "points": job.points[-200:],
        }  # fmt: skip

    def _rules(self, source: str) -> tuple[int, int] | None:
        kind, _, name = source.partition(":")
        return rules_stamp(name, self.folders) if kind == "game" else None

    def _is_solved(self, source: str) -> bool:
        """Return whether a game is solved here, and its file has not changed since."""
        source_found = self.sources.get(source)
        return source_found is not None and source_found.rules == self._rules(source)

    def _solved(self, wish: SolveRequest, base: Source | None, name: str, job: RunningRequest) -> Source:
        """Return the solution of a wish; ``base`` is ``None`` where only a game is named."""
        job.line = "building the game"
        compiled = self._game(wish.source.partition(":")[2]) if base is None else base.compiled
        lock = {player: _lock_of(base, player, what) for player, what in (wish.lock or {}).items()}

        def building(number: int) -> None:
            job.check()
            job.line = f"building the game: {number:,}"

        def point(at: Any) -> None:
            job.check()
            found = at.exploitability
            job.points.append((at.iteration, at.seconds, found))
            job.line = f"iteration {at.iteration:,}" + ("" if found is None else f", exploitability {found:.3g}")

        def begin(work: Any, limits: Any) -> None:
            job.line = "solving"

        watcher = Watcher(point=point, advance=job.check, building=building, begin=begin)
        with compiled.at_hand(building):
            if wish.plain:
                solution = solve_soon(compiled, SOLVING, watcher)
            else:
                locks = [*([lock] if lock else []), *map(msgspec.to_builtins, wish.hands or ())]
                options = wish.given | {"lock": locks or None, "seed": wish.seed}
                solution = solve(compiled, wish.method, **options, watcher=watcher)
        job.line = f"{solution.method}, {solution.iterations:,} iteration{'' if solution.iterations == 1 else 's'}"
        return Source.of_solution(name, self.folders, solution, compiled)

    def _game(self, name: str) -> SharedGame:
        """Return the compiled form of a game that was named alone.

        A game that was compiled already for a strategy that is held is shared, not compiled again.
        """
        game = find_game(name, self.folders)
        for source in list(self.sources.values()):
            if source.temporary and key_of(source.game) == key_of(game):
                return source.compiled
        return SharedGame(game, sizes.VALUES_SHOWN)

    def differences(self, view: PlaceRequest) -> dict[str, Any]:
        """Return where two strategies differ most: total variation times the reach probability, where that is known."""
        source, other = self.source(view.source), self.source(view.other)
        if source.is_vector or other.is_vector:
            raise ParameterError("hold'em solutions are compared node by node")
        if len(source.players) != len(other.players):
            raise ParameterError(
                f"strategies for {len(source.players)} and {len(other.players)} players; no comparison"
            )
        study, missing, found = source.study, 0, []
        number = source.values().number if study is not None else {}
        for row in nodes.all_rows(source):
            other_row = nodes.probabilities_in(other, row)
            if other_row is None or row.probabilities is None:
                missing += 1
                continue
            distance = sum(abs(p - q) for p, q in zip(row.probabilities, other_row, strict=True)) / 2
            k = number.get((row.player, row.key))
            reach = float(study.reach[k]) if study is not None and k is not None else None
            found.append((distance * (1.0 if reach is None else reach), distance, row._replace(reach=reach)))
        found.sort(key=lambda entry: -entry[0])
        rows = [
            {
                **nodes.shown(source, other, [row])[0],
                "player": row.player,
                "moves": row.actions,
                "apart": distance,
                "colors": action_colors(row.actions, source.order),
            }
            for _, distance, row in found[:MAX_DIFFERENCES]
        ]
        mean = sum(distance for _, distance, _ in found) / max(len(found), 1)
        return {
            "rows": rows, "total": len(found), "missing": missing, "mean": mean, "weighed": study is not None,
            "largest": max((distance for _, distance, _ in found), default=0.0),
        }  # fmt: skip

    def csv(self, wish: TablePieceRequest) -> tuple[str, int | None]:
        """Return a piece of the table of all rows as CSV text, and the row at which the next piece begins.

        Of a hold'em solution in vector form, or at ``at``, the hands of both players at a node are returned.
        """
        source, first = self.source(wish.source), wish.first
        if source.spot is not None and (wish.at or source.is_vector):
            node = source.spot_node(nodes.spot_path(source, wish.at), equity=True)
            return hand_tables_csv(node.tables), None
        text = StringIO()
        write = csv.writer(text, lineterminator="\n")
        if first == 0:
            write.writerow(["player", "key", "move", "probability", "value", "regret", "reach"])
        rows = list(nodes.all_rows(source, first, first + CSV_ROWS))
        for row, about in zip(rows, [nodes.shown(source, None, [row])[0] for row in rows], strict=True):
            for k, action in enumerate(row.actions):
                write.writerow([source.players[row.player], row.key, action, *_cells(about, row, k)])
        return text.getvalue(), first + CSV_ROWS if len(rows) == CSV_ROWS else None


def _gains(found: Evaluation) -> list[float]:
    """Return each player's gain by a best response."""
    return [max(best - value, 0.0) for best, value in zip(found.best_response_values, found.values, strict=True)]


def _cells(about: dict[str, Any], row: Row, k: int) -> list[str]:
    """Return probability, value, regret and reach as texts that parse back to the same numbers."""
    chance = None if row.probabilities is None else row.probabilities[k]
    found = [chance, *(about[what][k] if what in about else None for what in ("ev", "regret")), about["reach"]]
    return ["" if value is None or isnan(value) else repr(float(value)) for value in found]


def _answer_name(wish: SolveRequest, key: bytes) -> str:
    """Return the name of the source for an answer: the game's own name where it is solved with the defaults."""
    if wish.plain and wish.source.startswith("game:"):
        return wish.source
    return f"{'lock' if wish.lock or wish.hands else 'solved'}:{sha256(key).hexdigest()[:16]}"


def _lock_of(source: Source | None, player: str, what: Any) -> Any:
    """Return the strategy to which a player is locked, in the form that ``solve`` takes."""
    if what == "uniform":
        return "random"
    if what == "source":
        if source is None:
            raise ParameterError(f"lock: there is no strategy yet for {shorten(player)}")
        return source.saved if source.is_vector else source.policy
    if isinstance(what, str):
        raise ParameterError(f"lock: {shorten(what)!r} is not probabilities, uniform or source")
    return what
