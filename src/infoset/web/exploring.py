"""*Explore*: what the page asks of strategies.

A source is called ``item:NAME`` where it lies on the shelf, ``game:NAME`` where it was solved here, ``lock:K`` where it
is an answer to what others keep to.
"""

from __future__ import annotations

import csv
import threading
from collections import OrderedDict
from http import HTTPStatus
from io import StringIO
from itertools import count
from math import isnan
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from infoset.catalog import known_games
from infoset.errors import InfosetError, ParameterError, one_line, shorten
from infoset.files import POLICY
from infoset.remote.serving import Refusal
from infoset.view.guide import guide, title_of
from infoset.view.move_colors import move_colors
from infoset.view.payoff_table import equilibrium_lines, payoff_picture, payoff_table
from infoset.web import nodes
from infoset.web.hands import hand_cells
from infoset.web.nodes import Place, Row
from infoset.web.shelf import find
from infoset.web.sources import MAX_HISTORIES, Source, find_game, stamp
from infoset.web.wishes import Number, Of, Piece, Rows, View, Wish

if TYPE_CHECKING:
    from infoset.solvers.metrics import Evaluation

MAX_SOURCES = 6  # strategies that are held
MAX_TASKS = 2  # at once
KEPT_SECONDS = 900.0  # what was solved here, after the last question
MAX_SECONDS = 600.0  # of solving
MAX_ITERATIONS = 10_000_000
CSV_ROWS = 20_000  # a piece
MAX_DIFFERENCES = 1000  # told
GROUPS = 50


class CancelledError(Exception):
    """A task was given up."""


class Task:
    """Solving that goes on in a thread."""

    def __init__(self, number: int, wish: Wish) -> None:
        self.number, self.wish = number, wish
        self.line, self.failed, self.source = "waiting", "", ""
        self.points: list[tuple[int, float, float | None]] = []
        self.over = threading.Event()
        self.cancelled = False

    def told(self) -> dict[str, Any]:
        """How far it is."""
        return {
            "task": self.number, "line": self.line, "failed": self.failed, "source": self.source,
            "over": self.over.is_set(), "points": self.points[-200:],
        }  # fmt: skip

    def check(self, *_: Any) -> None:
        """Raise ``CancelledError`` once it is given up."""
        if self.cancelled:
            raise CancelledError


class Exploring:
    """Strategies that are looked at, and solving on their behalf."""

    def __init__(self, folders: tuple[Path, ...], own: tuple[Source, ...] = ()) -> None:
        """``own`` are held from the start, and as long as this is."""
        self.folders = folders
        self.own = {source.name: source for source in own}
        self.sources: OrderedDict[str, Source] = OrderedDict()
        self.tasks: dict[int, Task] = {}
        self._numbers = count(1)
        self._holding = threading.Lock()
        self._reading: dict[str, threading.Lock] = {}

    def busy(self) -> bool:
        """Whether something is solved, or what was solved here was looked at lately."""
        now = monotonic()
        kept = any(s.temporary and now - s.asked < KEPT_SECONDS for s in self.sources.values())
        return kept or any(not task.over.is_set() for task in self.tasks.values())

    def close(self) -> None:
        """Give all tasks up."""
        for task in self.tasks.values():
            task.cancelled = True

    def source(self, name: str) -> Source:
        """One that is held, or that is read now; a file that has changed is read anew.  Raises ``Refusal``."""
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
                self._hold(found)
            found.asked = monotonic()
            return found

    def _read(self, name: str) -> Source:
        kind, _, rest = name.partition(":")
        if kind != "item":
            what = f"{shorten(rest)} is not solved here yet" if kind == "game" else "what was solved here is gone"
            raise Refusal(HTTPStatus.NOT_FOUND, f"{what}; solve it again")
        item = find(self.folders, rest)
        if item.kind not in ("run", "policy"):
            raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, f"{shorten(rest)} is a {item.kind}, not a strategy")
        place = item.path / POLICY if item.kind == "run" else item.path
        if item.kind == "run" and not place.is_file():
            raise Refusal(HTTPStatus.NOT_FOUND, f"the run {shorten(rest)} has no policy yet")
        return Source.of_file(name, self.folders, place)

    def _hold(self, source: Source) -> None:
        with self._holding:
            self.sources[source.name] = source
            self.sources.move_to_end(source.name)
            while len(self.sources) > MAX_SOURCES:
                oldest = min(self.sources.values(), key=lambda s: s.asked if s is not source else float("inf"))
                del self.sources[oldest.name]

    def ready(self) -> dict[str, Any]:
        """Nothing: the process has begun, before anything is asked of it."""
        return {}

    def open(self, wish: Of) -> dict[str, Any]:
        """What a source is: its game, players, how it came about; of a game that is not solved here yet just that."""
        if wish.source.startswith("game:") and wish.source not in self.sources:
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
        }

    def _title(self, source: Source) -> str:
        """What the file of the source's game calls it; "" where the game cannot be had."""
        try:
            return title_of(source.game)
        except InfosetError:
            return ""

    def _payoffs(self, source: Source) -> dict[str, Any] | None:
        """The table of payoffs of a small one-shot game, with its equilibria; ``None`` for other games."""
        try:
            table = payoff_table(source.game)
            return table and payoff_picture(table, lines=equilibrium_lines(source.game, table))
        except InfosetError:
            return None

    def rules(self, wish: Of) -> dict[str, Any]:
        """The rules of a source's game, or of the game ``game:NAME`` alone, as people are told them."""
        kind, _, name = wish.source.partition(":")
        if kind != "game" or wish.source in self.sources:
            source = self.source(wish.source)
            return guide(source.game_name, source.game)._asdict()
        shipped = name.partition("(")[0] in known_games()
        return guide(name, None if shipped else find_game(name, self.folders))._asdict()

    def node(self, view: Rows) -> dict[str, Any]:
        """What is shown at a place, or what that waits for."""
        source, other = self.source(view.source), self.source(view.other) if view.other else None
        for one in filter(None, (source, other)):
            if waits := one.waits():
                return {"waits": waits}
        place = self._place(source, view)
        groups = [nodes.matching(found, view.find) for found in place.groups[:GROUPS]]
        first, told = view.first, []
        for k, found in enumerate(groups):
            if view.group not in (None, k):
                continue
            chosen = [found.row(i) for i in range(min(first, found.total), min(first + view.rows, found.total))]
            told.append({
                "group": k, "player": found.player, "moves": found.moves, "total": found.total, "first": first,
                "colors": move_colors(found.moves, source.order),
                "rows": nodes.shown(source, other, chosen),
                "hands": None if first or view.find else hand_cells(source, found),
            })  # fmt: skip
        source.warm()
        return {
            "at": place.at, "steps": place.steps, "reach": place.reach, "ends": place.ends, "groups": told,
            "more": max(len(place.groups) - GROUPS, 0), "valued": source.study is not None,
            "stamp": source.stamp and str(source.stamp[0]),
        }  # fmt: skip

    def _place(self, source: Source, view: View) -> Place:
        if view.way == "public":
            return nodes.public_place(source, view.at)
        return nodes.own_place(source, int(view.way), view.at)

    def values(self, wish: Of) -> dict[str, Any]:
        """How far the exact figures are, or those of the whole."""
        source = self.source(wish.source)
        values = source.values()
        if values.study is None:
            return {"line": values.line, "failed": values.failed, "evaluation": None}
        found, free, form = values.study.evaluation, values.free, values.study.form
        assert free is not None
        solved: Any = source.solution if source.solution and source.solution.exploitability is not None else found
        return {
            "line": "", "failed": "",
            "evaluation": {
                "values": solved.values, "gains": _gains(found), "free_gains": _gains(free),
                "exploitability": solved.exploitability, "nash_conv": solved.nash_conv, "epsilon": solved.epsilon,
                "histories": form.num_histories, "infosets": form.num_infosets,
            },
        }  # fmt: skip

    def solve(self, wish: Wish) -> dict[str, Any]:
        """Begin to solve.  Raises ``Refusal`` where enough is being solved, ``ParameterError`` for limits."""
        running = [task for task in self.tasks.values() if not task.over.is_set()]
        for task in running:
            if task.wish == wish and not task.cancelled:  # somebody came back
                return task.told()
        if len(running) >= MAX_TASKS:
            raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, f"{len(running)} games are being solved; wait, or cancel one")
        _check_limits(wish)
        task = Task(next(self._numbers), wish)
        for number in [n for n, old in self.tasks.items() if old.over.is_set()][:-20]:
            del self.tasks[number]
        self.tasks[task.number] = task
        threading.Thread(target=self._run, args=(task,), daemon=True).start()
        return task.told()

    def task(self, wish: Number) -> dict[str, Any]:
        """How far solving is.  Raises ``Refusal``."""
        if wish.task not in self.tasks:
            raise Refusal(HTTPStatus.NOT_FOUND, f"nothing is being solved as {wish.task}")
        return self.tasks[wish.task].told()

    def cancel(self, wish: Number) -> dict[str, Any]:
        """Give it up."""
        if wish.task in self.tasks:
            self.tasks[wish.task].cancelled = True
        return self.task(wish)

    def _run(self, task: Task) -> None:
        try:
            self._solve(task)
        except CancelledError:
            task.failed = "cancelled"
        except InfosetError as error:
            task.failed = one_line(str(error), 300)
        except Refusal as error:
            task.failed = error.why
        except Exception as error:  # a fault of ours: told, and the page goes on
            task.failed = f"internal error ({type(error).__name__})"
            raise
        finally:
            task.over.set()

    def _solve(self, task: Task) -> None:
        from infoset.compiled import Compiled
        from infoset.solvers.work import Watcher
        from infoset.solving import solve

        wish = task.wish
        kind, _, name = wish.source.partition(":")
        base = None if kind == "game" and wish.source not in self.sources else self.source(wish.source)
        compiled = Compiled(find_game(name, self.folders), MAX_HISTORIES) if base is None else base.compiled
        lock = {player: _kept(base, player, what) for player, what in wish.lock.items()}

        def building(number: int) -> None:
            task.check()
            task.line = f"building the game: {number:,}"

        def point(at: Any) -> None:
            task.check()
            found = at.exploitability
            task.points.append((at.iteration, at.seconds, found))
            task.line = f"iteration {at.iteration:,}" + ("" if found is None else f", exploitability {found:.3g}")

        compiled.progress = building

        def begin(work: Any, limits: Any) -> None:
            task.line = "solving"

        watcher = Watcher(point=point, advance=task.check, building=building, begin=begin)
        try:
            solution = solve(
                compiled, wish.method, iterations=wish.iterations, target=wish.target, seconds=wish.seconds,
                lock=lock or None, watcher=watcher,
            )  # fmt: skip
        finally:
            compiled.progress = None
        found = f"lock:{task.number}" if lock else f"game:{compiled.name if base is None else base.game_name}"
        if base is None and not lock:
            found = wish.source
        self._hold(Source.of_solution(found, self.folders, solution, compiled))
        task.source, task.line = found, f"{solution.method}, {solution.iterations:,} iterations"

    def differences(self, view: View) -> dict[str, Any]:
        """Where two strategies differ most: total variation times how likely the place is, if that is known."""
        source, other = self.source(view.source), self.source(view.other)
        if len(source.players) != len(other.players):
            raise ParameterError(
                f"strategies for {len(source.players)} and {len(other.players)} players; no comparison"
            )
        study, missing, found = source.study, 0, []
        number = source.values().number if study is not None else {}
        for row in nodes.all_rows(source):
            theirs = nodes.chances_in(other, row)
            if theirs is None or row.chances is None:
                missing += 1
                continue
            apart = sum(abs(p - q) for p, q in zip(row.chances, theirs, strict=True)) / 2
            k = number.get((row.player, row.key))
            reach = float(study.reach[k]) if study is not None and k is not None else None
            found.append((apart * (1.0 if reach is None else reach), apart, row._replace(reach=reach)))
        found.sort(key=lambda entry: -entry[0])
        rows = [
            {
                **nodes.shown(source, other, [row])[0],
                "player": row.player,
                "moves": row.moves,
                "apart": apart,
                "colors": move_colors(row.moves, source.order),
            }
            for _, apart, row in found[:MAX_DIFFERENCES]
        ]
        mean = sum(apart for _, apart, _ in found) / max(len(found), 1)
        return {
            "rows": rows, "total": len(found), "missing": missing, "mean": mean, "weighed": study is not None,
            "largest": max((apart for _, apart, _ in found), default=0.0),
        }  # fmt: skip

    def csv(self, wish: Piece) -> tuple[str, int | None]:
        """A piece of all rows as text, and where the next begins."""
        source, first = self.source(wish.source), wish.first
        text = StringIO()
        write = csv.writer(text, lineterminator="\n")
        if first == 0:
            write.writerow(["player", "key", "move", "probability", "value", "regret", "reach"])
        rows = list(nodes.all_rows(source, first, first + CSV_ROWS))
        for row, about in zip(rows, [nodes.shown(source, None, [row])[0] for row in rows], strict=True):
            for k, move in enumerate(row.moves):
                write.writerow([source.players[row.player], row.key, move, *_cells(about, row, k)])
        return text.getvalue(), first + CSV_ROWS if len(rows) == CSV_ROWS else None


def _gains(found: Evaluation) -> list[float]:
    """What each player gains by a best response."""
    return [max(best - value, 0.0) for best, value in zip(found.best_response_values, found.values, strict=True)]


def _cells(about: dict[str, Any], row: Row, k: int) -> list[str]:
    """Probability, value, regret, reach as text that reads back to the same numbers."""
    chance = None if row.chances is None else row.chances[k]
    found = [chance, *(about[what][k] if what in about else None for what in ("ev", "regret")), about["reach"]]
    return ["" if value is None or isnan(value) else repr(float(value)) for value in found]


def _check_limits(wish: Wish) -> None:
    if wish.iterations is not None and not 1 <= wish.iterations <= MAX_ITERATIONS:
        raise ParameterError(f"iterations={wish.iterations}; allowed: 1 to {MAX_ITERATIONS:,}")
    if wish.seconds is not None and not 0 < wish.seconds <= MAX_SECONDS:
        raise ParameterError(f"seconds={wish.seconds:g}; allowed: more than 0 to {MAX_SECONDS:g}")
    if "python:" in wish.method:
        raise ParameterError("method: only shipped methods are run for the page")


def _kept(source: Source | None, player: str, what: Any) -> Any:
    """What a player keeps to, as ``solve`` takes it."""
    if what == "uniform":
        return "random"
    if what == "source":
        if source is None:
            raise ParameterError(f"lock: there is no strategy yet that {shorten(player)} could keep to")
        return source.policy
    if isinstance(what, str):
        raise ParameterError(f"lock: {shorten(what)!r} is neither chances, uniform nor source")
    return what
