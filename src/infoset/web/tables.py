"""The service of games that are played or watched live, in a process of its own.

A table is a game, its agents, and who sits where.  Its game runs in a thread; after each move the steps are written
with everything needed to resume, so a process that is killed loses no game.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec

from infoset.base import Agent, Game, State
from infoset.errors import InfosetError, ParameterError, one_line
from infoset.files import replace_file
from infoset.match.agent_proxy import AsyncAgentProxy, ThreadChannel
from infoset.match.agents import agent_name
from infoset.match.match import MAX_SEED, MAX_STEPS, Round
from infoset.match.match import Table as Board
from infoset.match.person import HUMAN, LeaveGame, Person
from infoset.match.replay import Match, MatchStep, replay_steps
from infoset.practice import EQUILIBRIUM
from infoset.remote.serving import Refusal
from infoset.view.guide import title_of
from infoset.view.pictures import view_hook, whole
from infoset.web.artifacts import items
from infoset.web.live import Live, ViewerMessage
from infoset.web.seat import Broken, End, Hand, KeyHand, Public, Suspended, turn_of
from infoset.web.seats import Agents, Wait, find_game, fitting, is_paced, listed, replay_name, unfitting
from infoset.web.workers import News

MAX_TABLES = 300  # whose games are running
MAX_ENDED = 100  # whose games are over, besides those that somebody watches
UNSEEN = 60.0  # seconds after which a table that nobody looks at is kept only as a file
SWEEP = 5.0
PACE = 5.0
WRITE = 1.0  # seconds between two writes of a game in real time
ID = re.compile(r"[0-9a-f]{16}")


class TableSettings(msgspec.Struct, forbid_unknown_fields=True):
    """The settings with which a table is opened."""

    game: str
    agents: tuple[str, ...]
    """(n,) ``human``, ``equilibrium``, an agent's name, or the name of an item in the served folders."""
    seed: int | None = None
    practice: bool = False
    pace: float | None = None
    """Steps per second: of games in real time, and of games between agents alone."""


class TableState(msgspec.Struct):
    """The state from which a table can be resumed: it lies beside the replay."""

    id: str
    plan: TableSettings
    keys: list[str | None]
    """(n,) for each chair, the hash of the key of the person who took it."""
    seed: int
    shift: int = 0
    """The number of seats by which everybody has moved on: chair ``i`` is in seat ``i + shift``."""
    number: int = 1
    undone: int = 0
    visitor: str = ""
    """The visitor who opened the table, for fair turns in the queue."""
    score: list[float] = []
    """(n,) each chair's total payoff over the games that were played to their ends; empty before the first."""
    played: int = 0


class Undo(LeaveGame):
    """Raised to take the last move back."""


class Tables:
    """The tables of this server."""

    def __init__(self, news: News, folders: tuple[Path, ...]) -> None:
        self.news, self.folders = news, folders
        self.agents = Agents(folders)
        self.heads = self.agents.heads
        self.tables: dict[str, Table] = {}
        self.lock = threading.RLock()
        self.closed = threading.Event()
        threading.Thread(target=self._sweep, daemon=True).start()

    @property
    def folder(self) -> Path:
        """The folder of played games; unfinished ones are hidden inside it, since a replay shows everything."""
        return self.folders[0] / "played"

    @property
    def unfinished(self) -> Path:
        return self.folder / ".tables"

    def busy(self) -> bool:
        with self.lock:
            return self.agents.queue.busy or any(table.busy for table in self.tables.values())

    def close(self) -> None:
        self.closed.set()
        self.agents.queue.close()

    # --- playable games

    def games(self) -> list[dict[str, str]]:
        """Return every shipped game, with a line about it, and the files of games in the folders."""
        return [*listed(), *self._files()]

    def _files(self) -> list[dict[str, str]]:
        """Return the files of games by their names in the served folders, with their titles."""
        found = [(item, self.heads.of(item)) for item in items(self.folders) if item.kind == "game"]
        return [
            {"name": item.name, "family": "file", "about": item.title, "title": head.about["title"]}
            for item, head in found
            if head.kind and not head.problem
        ]

    def game(self, name: str) -> dict[str, Any]:
        """Return the facts about one game that the start page needs."""
        game = find_game(self.folders, name)
        saved, others = self.agents.list_policies(game)
        return {
            "name": name,
            "title": title_of(game),
            "players": game.players,
            "paced": is_paced(game),
            "agents": fitting(game),
            "kept": saved,
            "unfit": [{"why": why, "names": names} for why, names in {**unfitting(game), **others}.items()],
            "solvable": not is_paced(game) and self.agents.is_solvable(game),
        }

    # --- tables

    def open(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Open a new table, with a seat at it for the visitor."""
        visitor = str(asked.get("visitor", ""))
        try:
            plan = msgspec.convert({key: value for key, value in asked.items() if key != "visitor"}, TableSettings)
        except msgspec.ValidationError as error:
            raise Refusal(HTTPStatus.BAD_REQUEST, one_line(str(error), 200)) from None
        if plan.seed is not None and not 0 <= plan.seed <= MAX_SEED:
            raise ParameterError(f"seed={plan.seed} is out of range; allowed: 0 to {MAX_SEED}")
        if plan.pace is not None and not 0.2 <= plan.pace <= 60:
            raise ParameterError(f"pace={plan.pace:g} is out of range; allowed: 0.2 to 60 steps a second")
        game = find_game(self.folders, plan.game)
        if len(plan.agents) != len(game.players):
            raise ParameterError(f"{len(plan.agents)} agents for {len(game.players)} players")
        for name in plan.agents:
            self.agents.check(name, game)
        if plan.practice and plan.agents.count(HUMAN) != 1:
            raise ParameterError("practice is for one person alone")
        if plan.seed is not None and plan.agents.count(HUMAN) > 1:
            raise ParameterError("seed is for one person at most: with it, one could look up the others' hands")
        seed = secrets.randbelow(2**53) if plan.seed is None else plan.seed
        saved = TableState(secrets.token_hex(8), plan, [None] * len(plan.agents), seed, visitor=visitor)
        table = Table(self, saved, game)
        key = table.take(None) if HUMAN in plan.agents else {}
        self._add(table)
        return {"table": saved.id, **key}

    def _add(self, table: Table) -> None:
        with self.lock:
            if sum(not other.over for other in self.tables.values()) >= MAX_TABLES:
                raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, f"{MAX_TABLES} tables are already in use")
            self._drop_ended()
            table.keep()
            self.tables[table.saved.id] = table
        table.start()

    def _drop_ended(self) -> None:
        """Drop the tables that are over and that nobody watches, except the few that were left last."""
        ended = [table for table in self.tables.values() if table.over and not table.busy]
        for table in sorted(ended, key=lambda table: -table.left)[MAX_ENDED:]:
            del self.tables[table.saved.id]

    def list(self) -> list[dict[str, Any]]:
        """Return the tables that are running or can be resumed, with public information only."""
        with self.lock:
            mine = dict(self.tables)
        found = [table.about() for table in mine.values() if table.end is None and not table.failed]
        with suppress(OSError):
            for file in sorted(self.unfinished.glob("*.table"), key=lambda path: -path.stat().st_mtime)[:MAX_TABLES]:
                saved = _read(file)
                if saved is not None and saved.id not in mine:
                    found.append(_about(saved))
        return found

    def find(self, name: str) -> Table:
        """Return a table, resumed from its file where necessary."""
        with self.lock:
            if name in self.tables:
                return self.tables[name]
            saved = _read(self.unfinished / f"{name}.table") if ID.fullmatch(name) else None
            if saved is None:
                raise Refusal(HTTPStatus.NOT_FOUND, "there is no such table, or its game was over long ago")
            table = Table(self, saved, find_game(self.folders, saved.plan.game))
            self._add(table)
            return table

    def about(self, name: str) -> dict[str, Any]:
        """Return the entry of one table in ``list``."""
        return self.find(name).about()

    def take(self, name: str, chair: int | None) -> dict[str, Any]:
        """Take a free seat at a table, and return its key."""
        table = self.find(name)
        found = table.take(chair)
        table.keep()
        return found

    def sit(self, name: str, key: str) -> int:
        """Return the chair to which a key belongs."""
        return self.find(name).chair_of(key)

    def join(self, name: str, chair: int) -> None:
        """Note that a browser follows a chair's hand, and send the hand."""
        table = self.find(name)
        table.looking(chair, 1)
        table.show(chair)

    def leave(self, name: str, chair: int) -> None:
        """Note that a browser no longer follows a chair's hand."""
        with suppress(Refusal, InfosetError):
            self.find(name).looking(chair, -1)

    def board(self, name: str) -> dict[str, Any]:
        """Return the data with which a game's own painter draws it, which stay the same throughout the game."""
        table = self.find(name)
        if (camera := view_hook(table.game, "camera")) is None:
            raise ParameterError(f"{one_line(table.game.name)} has no painter of its own")
        return dict(camera(table.game, table.saved.plan.game, table.public().agents).head)

    def say(self, name: str, chair: int, message: dict[str, Any]) -> dict[str, Any]:
        """Take a message from a browser in a chair; return the answer for that browser alone."""
        return self.find(name).heard(chair, message)

    def jump(self, name: str) -> ViewerMessage:
        """Return the present state of a game that may be watched, for a spectator who missed a frame."""
        return self._watched(name).live.jump()

    def watch(self, name: str) -> ViewerMessage:
        """Return the whole game so far for a new spectator, with the number of its last frame."""
        table = self._watched(name)
        if table.failed:
            raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, table.failed)
        return table.live.watch(1)

    def unwatch(self, name: str) -> None:
        with suppress(Refusal, InfosetError):
            self._watched(name).live.watch(-1)

    def _watched(self, name: str) -> Table:
        table = self.find(name)
        if table.people:
            raise Refusal(HTTPStatus.FORBIDDEN, "people play there; it can be watched when it is over")
        return table

    def _sweep(self) -> None:
        while not self.closed.wait(SWEEP):
            with self.lock:
                alone = [table for table in self.tables.values() if table.forgotten]
                for table in alone:
                    table.suspend()
                    del self.tables[table.saved.id]


def _read(file: Path) -> TableState | None:
    try:
        return msgspec.json.decode(file.read_bytes(), type=TableState)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, ValueError):
        return None


def _about(saved: TableState) -> dict[str, Any]:
    people = [chair for chair, name in enumerate(saved.plan.agents) if name == HUMAN]
    return {
        "table": saved.id,
        "game": saved.plan.game,
        "agents": saved.plan.agents,
        "free": [chair for chair in people if saved.keys[chair] is None],
        "people": len(people),
    }


class Table:
    """A table: a game, its agents, and the thread in which it is played."""

    def __init__(self, service: Tables, saved: TableState, game: Game) -> None:
        self.service, self.saved, self.game = service, saved, game
        self.people = [chair for chair, name in enumerate(saved.plan.agents) if name == HUMAN]
        self.paced = is_paced(game)
        self.pace = saved.plan.pace or (PACE if self.paced or not self.people else None)
        self.lookers = dict.fromkeys(self.people, 0)
        self.left = monotonic()  # the time at which the last browser left
        self.ready: set[int] = set()
        self.go = threading.Condition()
        self.lock = threading.RLock()
        self.stopped: type[LeaveGame] | None = None
        self.thread: threading.Thread | None = None
        self.end: End | None = None
        self.failed = ""
        """The reason why its game can never be resumed."""
        self.prepared = ""
        """The last message about how the agents are being prepared."""
        self.round: Round | None = None
        self.state: State | None = None
        self.written = 0.0
        self.live = Live(lambda message: service.news(("live", saved.id), message))
        self.labels = [name if name in (HUMAN, EQUILIBRIUM) else name.rpartition("/")[2] for name in saved.plan.agents]
        self.hands = {chair: self._hand(chair) for chair in self.people}

    def _hand(self, chair: int) -> Hand:
        kind = KeyHand if self.paced else Hand
        return kind(self.public(), lambda message: self.service.news(("seat", self.saved.id, chair), message))

    # --- seats and spectators

    def take(self, chair: int | None) -> dict[str, Any]:
        """Take a free chair, and return it with its key, which is sent only once."""
        with self.lock:
            free = [other for other in self.people if self.saved.keys[other] is None]
            if not free or (chair is not None and chair not in free):
                raise Refusal(HTTPStatus.CONFLICT, "no free seat: it is taken")
            taken = free[0] if chair is None else chair
            key = secrets.token_urlsafe(16)
            self.saved.keys[taken] = _hash(key)
            return {"chair": taken, "key": key}

    def chair_of(self, key: str) -> int:
        """Return the chair that a key opens.  Raises ``Refusal`` where there is none."""
        given = _hash(key)
        for chair in self.people:
            if hmac.compare_digest(given, self.saved.keys[chair] or ""):
                return chair
        raise Refusal(HTTPStatus.FORBIDDEN, "that is not a seat of yours")

    def looking(self, chair: int, more: int) -> None:
        with self.go:
            self.lookers[chair] += more
            self.left = monotonic()
            self.go.notify_all()

    @property
    def over(self) -> bool:
        """Whether the game is over, or can never be played."""
        return self.end is not None or bool(self.failed)

    @property
    def busy(self) -> bool:
        """Whether somebody watches, or agents alone still play."""
        alone = not self.people and not self.over
        return bool(sum(self.lookers.values()) or self.live.watchers or alone)

    @property
    def forgotten(self) -> bool:
        return not self.busy and monotonic() - self.left > UNSEEN

    def about(self) -> dict[str, Any]:
        return {**_about(self.saved), "over": self.end is not None}

    def public(self) -> Public:
        """Return the public information about the table."""
        saved = self.saved
        n = len(saved.plan.agents)
        seated = tuple([self.labels[(seat - saved.shift) % n] for seat in range(n)])
        pace = self.pace if self.paced else None
        score = tuple([saved.score[(seat - saved.shift) % n] for seat in range(n)]) if saved.score else ()
        return Public(
            saved.plan.game, self.game.players, seated, saved.number, saved.plan.practice, saved.undone, pace,
            title_of(self.game), score, saved.played,
        )  # fmt: skip

    # --- saved state

    def keep(self) -> None:
        """Write what is needed to resume the table."""
        with self.lock:
            folder = self.service.unfinished
            replace_file(folder / f"{self.saved.id}.table", lambda file: file.write(msgspec.json.encode(self.saved)))

    def _keep_game(self, always: bool = False) -> None:
        if not always and self.paced and monotonic() - self.written < WRITE:
            return
        assert self.round is not None and self.state is not None
        self.written = monotonic()
        self.round.record(self.state).save(self._replay)

    @property
    def _replay(self) -> Path:
        return self.service.unfinished / f"{self.saved.id}.json"

    # --- the game

    def start(self) -> None:
        """Start or resume the game in a thread."""
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def suspend(self) -> None:
        """Suspend the game in its present state."""
        self._stop(Suspended)

    def _stop(self, why: type[LeaveGame]) -> None:
        with self.go:
            self.stopped = why
            self.go.notify_all()
        for hand in self.hands.values():
            hand.stop(why)

    def _run(self) -> None:
        try:
            board = self._board()
            steps = Match.load(self._replay).steps if self._replay.is_file() else ()
            while self._play(board, steps):
                assert self.round is not None
                steps = tuple(self.round.steps[: self._last_choice()])
        except (Exception, Broken) as error:
            if self.round is not None or self.stopped is not Suspended:  # otherwise the next visitor sets it up again
                self._fail(error)

    def _board(self) -> Board:
        """Build the agents in their seats; this may take a while."""
        made: list[Agent] = []
        for chair, name in enumerate(self.saved.plan.agents):
            if name == HUMAN:
                made.append(AsyncAgentProxy(ThreadChannel(Person(self.hands[chair])), HUMAN))
                continue
            agent = self.service.agents.make(name, self.game, self._wait)
            self.labels[chair] = agent_name(agent)
            made.append(AsyncAgentProxy(ThreadChannel(agent), agent_name(agent)) if self.tick else agent)
        name = replay_name(self.service.folders, self.saved.plan.game)
        return Board(self.game, name, tuple(made), tuple(self.labels), self.tick, None, MAX_STEPS)

    @property
    def tick(self) -> float | None:
        """The time of one step in real time, in which all players are asked at once; ``None`` in other games."""
        return 1 / self.pace if self.paced and self.people and self.pace else None

    @property
    def _wait(self) -> Wait:
        """How to wait for a solution on this table's behalf: until everybody has left."""
        return Wait(self.saved.visitor or self.saved.id, self._prepare, lambda: self.stopped is not None)

    def _prepare(self, line: str) -> None:
        if line != self.prepared:
            self.prepared = line
            self._tell_all(self._preparation)

    def _fail(self, error: BaseException) -> None:
        expected = isinstance(error, (InfosetError, Refusal))
        why = str(error) if expected else f"internal error ({type(error).__name__})"
        for folder in self.service.folders:  # the path must not leave the server
            why = why.replace(f"{folder}{os.sep}", "")
        self.failed = one_line(why, 300)
        self._tell_all(self._failure)
        if not self._replay.is_file():  # it could not even begin, and never will
            (self.service.unfinished / f"{self.saved.id}.table").unlink(missing_ok=True)
        if not expected:
            sys.excepthook(type(error), error, error.__traceback__)

    @property
    def _preparation(self) -> dict[str, Any]:
        return {"kind": "preparing", "what": self.prepared, "game": self.saved.plan.game}

    @property
    def _failure(self) -> dict[str, Any]:
        return {"kind": "failed", "why": self.failed, "game": self.saved.plan.game}

    def show(self, chair: int) -> None:
        """Send the present state to a browser that has just come to a chair."""
        self.hands[chair].show()
        if self.failed or (self.prepared and self.round is None and self.end is None):
            message = self._failure if self.failed else self._preparation
            self.service.news(("seat", self.saved.id, chair), msgspec.json.encode(message))

    def _tell_all(self, what: dict[str, Any]) -> None:
        message = msgspec.json.encode(what)
        for chair in self.people:
            self.service.news(("seat", self.saved.id, chair), message)
        if not self.people:
            self.live.tell(what)

    def _play(self, board: Board, steps: Sequence[MatchStep]) -> bool:
        """Play until the game is over, or left; return whether a move is to be taken back before playing on."""
        n, saved = len(board.agents), self.saved
        self.end = None
        for hand in self.hands.values():
            hand.begin(self.public())
        self.round = Round(board, [(seat - saved.shift) % n for seat in range(n)], saved.seed)
        try:
            self.state = self.round.resume(steps)
            if not self.people:
                self.live.begin(self.game, self.round)
            while not self.state.terminal:
                self._step(self.round, self.state)
        except Broken:
            raise
        except Undo:
            self.stopped = None
            saved.undone += 1
            self.keep()
            return True
        except Suspended:
            self._keep_game(always=True)
            return False
        except LeaveGame:
            pass
        assert self.state is not None
        self._finish(self.round, self.state)
        return False

    def _step(self, round_: Round, state: State) -> None:
        with self.go:
            dealt = any(state.legal_actions(player) for player in range(len(self.labels)))
            self.go.wait_for(lambda: self.stopped or self._all_here() or not dealt)
            if self.stopped is not None:
                raise self.stopped
        started_at = monotonic()
        self.state = round_.step(state)
        self._keep_game()
        if not self.people:
            self.live.step(self.state, round_.steps[-1])
        if self.pace:
            with self.go:
                self.go.wait_for(lambda: self.stopped, max(0.0, started_at + 1 / self.pace - monotonic()))

    def _all_here(self) -> bool:
        """Return whether all are present and ready, as a game in real time requires once the board is dealt."""
        return not self.paced or all(self.lookers[chair] and chair in self.ready for chair in self.people)

    def _last_choice(self) -> int:
        """Return the number of steps played before the last choice of the only person."""
        assert self.round is not None
        seat = (self.people[0] + self.saved.shift) % len(self.labels)
        state, last = self.game.start().state, 0
        for number, played in enumerate(self.round.steps):
            if len(state.legal_actions(seat)) > 1:
                last = number
            state = state.play(played.actions, played.chance_outcome).state
        return last

    def _finish(self, round_: Round, state: State) -> None:
        match = round_.end(state)
        if match.over:
            self._count(match.returns)
        word = re.sub(r"[^a-z0-9]+", "-", self.saved.plan.game.lower())[:40].strip("-")
        # the id of the table and the number of the game make the name unique, however quickly games follow one another
        name = f"{word}-{time.strftime('%Y%m%d-%H%M%S')}-{self.saved.id}-{self.saved.number}.json"
        match.save(self.service.folder / name)
        for suffix in (".json", ".table"):
            (self.service.unfinished / f"{self.saved.id}{suffix}").unlink(missing_ok=True)
        shown = None if self.paced else whole(self.game, replay_steps(match, self.game), match.steps)
        self.round = None  # drops the agents and their threads
        self.end = End(match.returns, match.over, match.seed, f"0/{self.service.folder.name}/{name}", shown)
        self.left = monotonic()
        for hand in self.hands.values():
            hand.finish(self.end)
        if not self.people:
            self.live.finish(match, self.game, self.end.item)
        elif not self.paced:
            agents = self.service.agents
            if agents.tree(self.game, self.saved.plan.agents) or agents.at_hand(self.game, Wait(self._wait.visitor)):
                self._tell_costs(match, self.end)

    def _count(self, returns: Sequence[float]) -> None:
        """Add the payoffs of a game to the score of the sitting."""
        n = len(returns)
        before = self.saved.score or [0.0] * n
        self.saved.score = [before[chair] + returns[(chair + self.saved.shift) % n] for chair in range(n)]
        self.saved.played += 1
        for hand in self.hands.values():
            hand.public = self.public()

    def _tell_costs(self, match: Match, end: End) -> None:
        """Send the cost of each move as soon as it is known, where the game is solved."""
        for chair, hand in self.hands.items():
            seat = (chair + self.saved.shift) % len(self.labels)
            with suppress(InfosetError):
                costs = self.service.agents.costs(self.game, match, seat, self.saved.plan.agents)
                if self.end is end:  # and no other game has begun
                    hand.finish(msgspec.structs.replace(end, costs=tuple(costs)))

    # --- messages from browsers

    def heard(self, chair: int, message: dict[str, Any]) -> dict[str, Any]:
        """Take a message from a person; return the answer."""
        try:
            asked = msgspec.convert(message, BrowserMessage)
        except msgspec.ValidationError as error:
            return {"kind": "refused", "why": one_line(str(error), 200)}
        hand = self.hands[chair]
        if asked.action is not None:
            return _refused(hand.act(asked.action, asked.turn))
        if asked.hint:
            view = hand.view
            if view is None or not view.legal_actions or hand.end is not None:
                return {"kind": "refused", "why": "a hint is for your turn"}
            if not self.saved.plan.practice:
                return {"kind": "refused", "why": "hints are for practice"}
            visitor = self._wait.visitor
            probabilities = self.service.agents.hint(
                asked.hint, self.game, view.player, view.infostate, view.legal_actions, visitor
            )
            turn = turn_of(hand.public, view)
            return {"kind": "hint", "turn": turn, "probabilities": probabilities, "by": asked.hint}
        if isinstance(hand, KeyHand):
            hand.pressed(asked.press, asked.release)
        if asked.go is not None:
            with self.go:
                (self.ready.add if asked.go else self.ready.discard)(chair)
                self.go.notify_all()
        why = self._undo() if asked.undo else self._leave() if asked.leave else ""
        return _refused(self._again(asked.again == "swapped") if asked.again else why)

    def _undo(self) -> str:
        if not self.saved.plan.practice:
            return "moves are taken back in practice only"
        if self.end is not None or self.round is None or not self._last_choice_made():
            return "there is no move to take back"
        self._stop(Undo)
        return ""

    def _last_choice_made(self) -> bool:
        assert self.round is not None
        seat = (self.people[0] + self.saved.shift) % len(self.labels)
        return any(step.actions[seat] is not None for step in self.round.steps)

    def _leave(self) -> str:
        if self.end is not None:
            return "the game is over"
        self._stop(LeaveGame)
        return ""

    def _again(self, swapped: bool) -> str:
        with self.lock:
            if self.end is None:
                return "the game is not over"
            self.end, self.stopped, self.round = None, None, None
            self.saved.shift = (self.saved.shift + swapped) % len(self.labels)
            self.saved.number, self.saved.undone, self.saved.seed = self.saved.number + 1, 0, secrets.randbelow(2**53)
            self.keep()
            self.start()
            return ""


class BrowserMessage(msgspec.Struct, forbid_unknown_fields=True):
    """A message from a browser, which holds one of these."""

    action: int | None = None
    turn: str = ""
    press: int | None = None
    release: int | None = None
    go: bool | None = None
    hint: str = ""
    undo: bool = False
    leave: bool = False
    again: str = ""


def _refused(why: str) -> dict[str, Any]:
    return {"kind": "refused", "why": why} if why else {}


def _hash(key: str) -> str:
    return sha256(key.encode(errors="replace")).hexdigest()
