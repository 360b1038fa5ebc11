"""A class at the page: scripted visitors play and explore Kuhn and Leduc poker on one ``infoset serve``, over loopback.

    python benchmarks/classroom.py                             # thirty visitors for ten minutes
    python benchmarks/classroom.py --visitors 8 --seconds 20

They speak as the page does: a table against the equilibrium through a web socket, move by move; a game solved on the
spot, looked through node by node, a row locked, and solved around.  Reported: how many requests there were, how many
were refused without a place in the queue (none should be), how long answers took, and the largest memory of the server
with its processes (PSS: what processes share is counted once).
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlencode

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

GAMES = ("kuhn_poker", "leduc_poker")
VISITORS, MINUTES = 30, 10.0
THINK = (0.3, 2.0)  # seconds from what is seen to what is done
PATIENCE = 120.0  # seconds after which an answer counts as refused
LOCKED = (0.1, 0.3, 0.5, 0.7, 0.9)  # probabilities of a move that somebody is locked to
MAX_SECONDS, MAX_VISITORS = 3600.0, 100


class Refused(Exception):
    """Something was refused, and not by a place in the queue."""


@dataclass
class Figures:
    """What came of it; times in seconds."""

    requests: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    answers: list[float] = field(default_factory=list)
    """Of every question and every move."""
    solved: list[float] = field(default_factory=list)
    """From asking for a solution to its being there, the time in the queue included."""
    farthest: int = 0
    """The last place in the queue that anybody was told."""
    games: int = 0
    memory: int = 0
    """Bytes, at most."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __str__(self) -> str:
        return "\n".join([
            f"requests                         {self.requests:,} ({self.games:,} games played to the end)",
            f"refused without a place          {sum(self.refused.values()):,} {dict(self.refused) or ''}",
            f"answers                          {quantiles(self.answers)}",
            f"solutions, with time in queue    {len(self.solved):,}, {quantiles(self.solved)}; last place {self.farthest}",
            f"memory of server and processes   {self.memory / 2**20:,.0f} MiB at most",
        ])  # fmt: skip


def quantiles(seconds: list[float]) -> str:
    if not seconds:
        return "none"
    ordered = sorted(seconds)
    return f"median {median(ordered):.3f} s, 95 % within {ordered[int(0.95 * (len(ordered) - 1))]:.3f} s"


@contextmanager
def served(folder: Path) -> Iterator[tuple[int, str, int]]:
    """A server of the folder: its port, its token and its process."""
    command = [sys.executable, "-m", "infoset", "serve", str(folder), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if found := re.search(r"http://127\.0\.0\.1:(\d+)/#/\?token=(\S+)", line):
                    threading.Thread(target=process.stderr.read, daemon=True).start()
                    yield int(found[1]), found[2], process.pid
                    break
        finally:
            process.terminate()


class Visitor:
    """One browser."""

    def __init__(self, number: int, port: int, record: str, until: float, figures: Figures, think: tuple[float, float]):
        self.name, self.port, self.record, self.until = f"visitor {number}", port, record, until
        self.figures, self.think = figures, think
        self.random = random.Random(number)
        self.line = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)

    def run(self) -> None:
        """Play and explore by turns until the time is over."""
        todo: list[Callable[[str], None]] = [self.play, self.explore]
        while time.monotonic() < self.until:
            what, game = self.random.choice(todo), self.random.choice(GAMES)
            try:
                what(game)
            except Refused as error:
                with self.figures.lock:
                    self.figures.refused[str(error)[:120]] += 1
            except (OSError, http.client.HTTPException, ConnectionClosed) as error:
                self.line.close()
                with self.figures.lock:
                    self.figures.refused[f"{what.__name__}: {error}"[:120]] += 1
        self.line.close()

    def pause(self) -> None:
        time.sleep(self.random.uniform(*self.think))

    def answered(self, began: float) -> None:
        with self.figures.lock:
            self.figures.requests += 1
            self.figures.answers.append(time.monotonic() - began)

    def ask(self, path: str, body: dict[str, Any] | None = None, **asked: Any) -> Any:
        """An answer of the interface."""
        began = time.monotonic()
        headers = {"x-infoset-token": self.record, "x-infoset-visitor": self.name}
        place = f"/api/{path}?{urlencode(asked)}" if asked else f"/api/{path}"
        if body is None:
            self.line.request("GET", place)
        else:
            self.line.request("POST", place, json.dumps(body), headers)
        answer = self.line.getresponse()
        told = json.loads(answer.read())
        self.answered(began)
        if answer.status != 200:
            raise Refused(f"{path}: {answer.status} {told.get('error')}")
        return told

    # --- play

    def play(self, game: str) -> None:
        """A table, and a game or two at it."""
        self.ask("game", name=game)
        agents = ["human", "equilibrium"]
        self.random.shuffle(agents)
        opened = self.ask("tables", {"game": game, "agents": agents, "practice": True, "pace": None, "seed": None})
        address = f"ws://127.0.0.1:{self.port}/api/tables/{opened['table']}"
        with connect(address, max_size=None, open_timeout=PATIENCE) as line:
            began = time.monotonic()
            line.send(json.dumps({"token": self.record, "key": opened["key"]}))
            view = self.turn(line, began)
            for again in range(self.random.randint(1, 3)):
                if again:
                    began = time.monotonic()
                    line.send(json.dumps({"again": "swapped"}))
                    view = self.turn(line, began, view)
                view = self.play_on(line, view)
                with self.figures.lock:
                    self.figures.games += 1
                if time.monotonic() > self.until:
                    return
                self.pause()

    def play_on(self, line: Any, view: dict[str, Any]) -> dict[str, Any]:
        """Any moves until the end."""
        while not view["end"]:
            self.pause()
            if self.random.random() < 0.1:
                began = time.monotonic()
                line.send(json.dumps({"hint": "auto"}))
                self.hear(line, lambda told: told.get("kind") == "hint")
                self.answered(began)
            began = time.monotonic()
            line.send(json.dumps({"action": self.random.randrange(len(view["legal_actions"])), "turn": view["turn"]}))
            view = self.turn(line, began, view)
        return view

    def turn(self, line: Any, began: float, past: dict[str, Any] | None = None) -> dict[str, Any]:
        """What is seen when the next move is due, or the game is over."""

        def is_next(told: dict[str, Any]) -> bool:
            if told.get("end"):
                return past is None or not past["end"] or told["turn"] != past["turn"]
            return bool(told.get("legal_actions")) and (past is None or told["turn"] != past["turn"])

        found = self.hear(line, is_next)
        self.answered(began)
        return found

    def hear(self, line: Any, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        until = time.monotonic() + PATIENCE
        while True:
            told = json.loads(line.recv(timeout=max(0.01, until - time.monotonic())))
            if told.get("kind") in ("refused", "failed", "closed"):
                raise Refused(f"table: {told.get('why')}")
            if wanted(told):
                return dict(told)

    # --- explore

    def explore(self, game: str) -> None:
        """A game solved on the spot, some of its nodes, and an answer to a locked row."""
        source = f"game:{game}"
        if not self.ask("explore/open", source=source)["solved"]:
            self.solve({"source": source})
        node = self.look(source)
        lock = {}
        for _ in range(self.random.randint(1, 5)):
            self.pause()
            branches = [b for step in node["steps"] if step["chosen"] is None for b in step["branches"]]
            if not branches or node["ends"]:
                break
            at = ".".join([str(step["chosen"]) for step in node["steps"] if step["chosen"] is not None])
            step = str(self.random.choice(branches)["at"])
            node = self.ask("explore/node", source=source, way="public", at=f"{at}.{step}" if at else step, rows=100)
            for group in node["groups"]:
                if len(group["moves"]) > 1 and group["rows"]:
                    row, p = self.random.choice(group["rows"]), self.random.choice(LOCKED)
                    probabilities = dict.fromkeys(group["moves"], (1 - p) / (len(group["moves"]) - 1))
                    lock = {f"P{group['player'] + 1}": {row["key"]: probabilities | {group["moves"][-1]: p}}}
        if lock:
            self.pause()
            wish = {"source": source, "method": "auto", "target": 1e-4, "seconds": 30, "lock": lock}
            self.look(self.solve(wish))

    def solve(self, wish: dict[str, Any]) -> str:
        """Ask, and wait as the page does; the source that it became."""
        began, pause = time.monotonic(), 0.06
        task = self.ask("explore/solve", wish)
        while not task["over"]:
            with self.figures.lock:
                self.figures.farthest = max(self.figures.farthest, task["place"])
            time.sleep(pause)
            pause = min(1.5 * pause, 1.5)
            task = self.ask("explore/task", task=task["task"])
        if task["failed"]:
            raise Refused(f"solve: {task['failed']}")
        with self.figures.lock:
            self.figures.solved.append(time.monotonic() - began)
        return str(task["source"])

    def look(self, source: str) -> dict[str, Any]:
        """What it is, its first node and its exact figures."""
        self.ask("explore/open", source=source)
        node: dict[str, Any] = self.ask("explore/node", source=source, way="public", at="", rows=100)
        until = time.monotonic() + PATIENCE
        while not (found := self.ask("explore/values", source=source))["evaluation"]:
            if found["failed"] or time.monotonic() > until:
                raise Refused(f"values: {found['failed'] or found['line']}")
            time.sleep(0.25)
        return node


def memory(pid: int) -> int:
    """Bytes (PSS) of a process and all below it; 0 where Linux does not say so."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        children = [child for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]
    except OSError:
        return 0
    found = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
    return (1024 * int(found[1]) if found else 0) + sum(memory(int(child)) for child in children)


def hold_class(folder: Path, visitors: int, seconds: float, think: tuple[float, float] = THINK) -> Figures:
    """A class of so many visitors at a server of ``folder``, for so long."""
    figures = Figures()
    with served(folder) as (port, record, pid):
        until = time.monotonic() + seconds
        threads = [
            threading.Thread(target=Visitor(k, port, record, until, figures, think).run) for k in range(visitors)
        ]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            figures.memory = max(figures.memory, memory(pid))
            time.sleep(0.5)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=VISITORS)
    parser.add_argument("--seconds", type=float, default=60 * MINUTES)
    options = parser.parse_args()
    if not (0 < options.visitors <= MAX_VISITORS and 0 < options.seconds <= MAX_SECONDS):
        parser.error(f"at most {MAX_VISITORS} visitors and {MAX_SECONDS:g} seconds")
    with tempfile.TemporaryDirectory() as folder:
        print(f"{options.visitors} visitors for {options.seconds:g} s")
        print(hold_class(Path(folder), options.visitors, options.seconds))


if __name__ == "__main__":
    main()
