"""A player of the GGP protocol without its network: a ``GgpSession`` answers each message before its deadline.

Its ``GgpPlayer`` reads the rules, keeps track of the match and asks an agent.  The player and the agent each work in a
thread of their own, so that neither rules that take long nor an agent that hangs delay an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from time import monotonic
from typing import Any
from zlib import crc32

import numpy as np

from infoset.base import Action, Observation
from infoset.errors import GameRuleError, InfosetError, ParameterError, RemoteError, shorten
from infoset.gdl.game import GdlGame
from infoset.gdl.grounding import DEFAULT_BUDGET, Budget
from infoset.gdl.lazy import LazyEvaluator
from infoset.gdl.rules import RANDOM, Evaluator, GdlRules, rules_of
from infoset.gdl.scalar import ScalarEvaluator
from infoset.gdl.syntax import Description, Spelling
from infoset.match.agent_proxy import ThreadChannel
from infoset.match.agents import load_agent
from infoset.match.match import FAULTS
from infoset.remote import kif
from infoset.remote.kif import Abort, Info, Joint, Play, Preview, Seen, Start, Stop, read_message
from infoset.remote.tracking import HistoryStep, ObservedStep, Tracking

MARGIN, LEAST_MARGIN, MOST_MARGIN = 0.05, 0.1, 0.5  # share of a clock, seconds, seconds: for the network's delay
GROUNDING, TRACKING = 0.3, 0.3  # shares of the start clock and of the play clock
LEAST_GROUNDING = 1.0  # seconds, even if the clock is shorter
MEMORY, RULES = 1 << 30, 300_000  # limits in bytes and rules for grounding a manager's game
SECONDS_TO_END = 1.0
GRACE = 10.0  # seconds
MAX_MISSED = 100  # turns
DOES_NAMES = ("did", "does")  # percepts (did ROLE MOVE): the moves of GDL-I in the form of GDL-II

Say = Callable[[str], object]


def margin(clock: float) -> float:
    """Return the seconds before the end of a clock at which an answer is sent."""
    return min(max(MARGIN * clock, LEAST_MARGIN), MOST_MARGIN, clock / 4)


def own_evaluator(rules: GdlRules) -> Evaluator:
    """Return an evaluator that no agent uses: evaluators are not thread-safe."""
    return LazyEvaluator(rules.description) if rules.propnet is None else ScalarEvaluator(rules.propnet)


@dataclass
class _Seat:
    """One match: the rules as the agent has them, and what is known of the state."""

    rules: GdlRules
    player: int
    tracking: Tracking
    rng: np.random.Generator
    refused: bool = False
    """Whether the agent cannot play the match: it is not asked then."""
    observed: int = 0
    """Steps that were passed on to the agent."""
    answered: tuple[int, Action] | None = None
    """The number of steps before the last answer, and its move."""


class GgpPlayer:
    """Plays one match after another with the agent of that name; ``say`` receives messages on errors."""

    def __init__(self, agent: str, seed: int, say: Say) -> None:
        self.agent, self.seed, self.say = agent, seed, say
        self.channel = ThreadChannel(load_agent(agent))
        self.folder = TemporaryDirectory(prefix="infoset-", ignore_cleanup_errors=True)
        self.rules: tuple[Description, Budget] | None = None
        self.seat: _Seat | None = None
        self.fallback: Action | None = None
        """A legal move of the present turn, or of an earlier one."""
        self.refusal = ""
        """Why there is no seat."""
        self.matches = 0

    def close(self) -> None:
        """Delete the files of the rules."""
        self.folder.cleanup()

    def begin(self, start: Start, deadline: float) -> None:
        """Read the rules, and let the agent prepare.

        Raises ``FormatError`` for invalid rules, ``ParameterError`` for a role that is not a player's.
        """
        self.seat = self.fallback = None
        self.refusal = "the match did not begin"
        self.matches += 1
        try:
            self._begin(start, deadline)
        except Exception as error:
            self.refusal = str(error)
            raise

    def _begin(self, start: Start, deadline: float) -> None:
        game = self._game(start)
        if start.role not in game.players:
            roles = ", ".join(map(start.rules.spelling.write, game.players))
            what = "is played by the manager" if start.role == RANDOM else f"is not a role; allowed: {roles}"
            raise ParameterError(f"{shorten(start.rules.spelling.write(start.role))!r} {what}")
        rules, player = game.rules, game.players.index(start.role)
        mine, yours = np.random.default_rng([self.seed, self.matches]).spawn(2)
        tracking = Tracking(own_evaluator(rules), rules.seats[player], mine)
        self.seat = seat = _Seat(rules, player, tracking, mine)
        posted = self.channel.post("begin", game, player, yours, deadline)
        try:
            self.channel.wait(posted, deadline)
        except TimeoutError:
            self._note("begin", "no answer in time")
        except FAULTS as error:
            self._note("begin", f"{type(error).__name__}: {error}")
            seat.refused = True

    def _game(self, start: Start) -> GdlGame:
        """Return the game; its rules are in a file, by whose name agents in other processes find them.

        A new agent is made where the rules change or the old agent still hangs, so that its data on a game is freed.
        """
        seconds = min(DEFAULT_BUDGET.seconds, max(GROUNDING * start.start_clock, LEAST_GROUNDING))
        wanted = start.rules, Budget(seconds, MEMORY, RULES)
        others = self.rules not in (None, wanted)
        if others:
            rules_of.cache_clear()
        if others or self.channel.busy:
            self.channel = ThreadChannel(load_agent(self.agent))
        text = str(start.rules)
        file = Path(self.folder.name) / f"{crc32(text.encode(errors='replace')):08x}.gdl"
        game = GdlGame(start.rules, str(file), wanted[1])
        file.write_text(text, encoding="utf-8", errors="replace")
        self.rules = wanted
        return game

    def play(self, observed: kif.ObservedStep, arrived: float, deadline: float) -> Action:
        """Return the agent's move, or a random legal one where there is no legal answer by ``deadline``.

        Raises ``ParameterError`` for an inconsistent turn, ``GameRuleError`` for one after the end.
        """
        if self.seat is None:
            raise GameRuleError(self.refusal)
        seat = self.seat
        if seat.answered and _asked_again(seat, seat.answered[0], observed):
            return seat.answered[1]
        self._learn(seat, observed, False, arrived + TRACKING * (deadline - arrived))
        legal_actions = seat.tracking.legal_actions()
        if not legal_actions:
            raise GameRuleError("the game is over by the rules, or there is no legal move")
        self.fallback = legal_actions[int(seat.rng.integers(len(legal_actions)))]
        move = self.fallback if seat.refused else self._ask(legal_actions, deadline)
        seat.answered = len(seat.tracking.observed), move
        return move

    def _ask(self, legal_actions: tuple[Action, ...], deadline: float) -> Action:
        """Return the agent's move, or the fallback."""
        try:
            move = self.channel.wait(self.channel.post("act", legal_actions, deadline), deadline)[0]
            if move in legal_actions:
                return legal_actions[legal_actions.index(move)]
            self._note("act", f"{move!r} is not legal")
        except TimeoutError:
            self._note("act", "no answer in time")
        except FAULTS as error:
            self._note("act", f"{type(error).__name__}: {error}")
        assert self.fallback is not None
        return self.fallback

    def end(self, observed: kif.ObservedStep | None) -> None:
        """End the match; ``observed`` is ``None`` where it was aborted."""
        seat, self.seat = self.seat, None
        if seat is None:
            return
        until = monotonic() + SECONDS_TO_END / 2
        if observed is not None:
            with suppress(InfosetError):
                self._learn(seat, observed, True, until)
        goals = seat.tracking.goals()
        returns = tuple([goals[role] for role in seat.rules.seats])
        with suppress(*FAULTS):
            self.channel.wait(self.channel.post("end", returns), until)

    def _learn(self, seat: _Seat, observed: kif.ObservedStep, ended: bool, until: float) -> None:
        """Take in the steps of a message, and pass them on to the agent."""
        sure = seat.tracking.sure
        for step in _steps(seat, observed, ended):
            seat.tracking.advance(step, until)
        if sure and not seat.tracking.sure:
            self.say(f"no play was found that is consistent with the messages up to step {len(seat.tracking.observed)}")
        history = seat.tracking.history()
        for passed, known in zip(history[seat.observed :], seat.tracking.observed[seat.observed :], strict=True):
            own = known.moves[seat.tracking.role]
            move = passed.moves[seat.tracking.role] if own is None else own
            self.channel.post("observe", move, _observation(seat, passed, known))
        seat.observed = len(seat.tracking.observed)

    def _note(self, what: str, went_wrong: str) -> None:
        self.say(f"{self.agent}: {what}: {shorten(' '.join(went_wrong.split()), 200)}")


def _asked_again(seat: _Seat, turn: int, observed: kif.ObservedStep) -> bool:
    """Return whether this is the request that was answered in that turn.

    One without a turn number is, if it repeats the last step with moves that cannot be played once more.
    """
    known, evaluator = seat.tracking.observed, seat.tracking.evaluator
    if turn != len(known):
        return False
    if isinstance(observed, Seen):
        return observed.turn == turn
    if not known:
        return not observed.moves
    state = seat.tracking.found[0].state
    again = observed.moves == known[-1].moves
    return again and any(move not in evaluator.legal_actions(state, role) for role, move in enumerate(observed.moves))


def _steps(seat: _Seat, observed: kif.ObservedStep, ended: bool) -> list[ObservedStep]:
    """Return the steps that a message adds.  Raises ``ParameterError`` where it is inconsistent."""
    roles, played = seat.tracking.evaluator.roles, len(seat.tracking.observed)
    if isinstance(observed, Joint):
        if not observed.moves:
            if played and not ended:
                raise ParameterError(f"NIL in place of the last moves, but {played} steps were played")
            return []
        if len(observed.moves) != len(roles):
            raise ParameterError(f"{len(observed.moves)} moves; the roles are {len(roles)}: {', '.join(roles)}")
        return [ObservedStep(observed.moves, None, ended)]
    missed = observed.turn - played - 1
    if missed < 0 and not (observed.turn == played and (played == 0 or ended)):
        raise ParameterError(f"turn {observed.turn} was played; now it is {played + 1}")
    if missed > MAX_MISSED:
        raise ParameterError(f"turn {observed.turn}; now it is {played + 1}")
    if missed < 0:
        return []
    nothing = ObservedStep((None,) * len(roles))
    return [nothing] * missed + [_seen(seat, observed, ended)]


def _seen(seat: _Seat, observed: Seen, ended: bool) -> ObservedStep:
    """Return one step from the form of GDL-II; in GDL-I its percepts, if any, are the moves of all roles."""
    roles, own = seat.tracking.evaluator.roles, seat.tracking.role
    if not seat.rules.open:
        moves = tuple([observed.move if role == own else None for role in range(len(roles))])
        return ObservedStep(moves, frozenset(observed.percepts), ended)
    did = {p[1]: p[2] for p in observed.percepts if isinstance(p, tuple) and len(p) == 3 and p[0] in DOES_NAMES}
    return ObservedStep(
        tuple([observed.move if role == own else did.get(name) for role, name in enumerate(roles)]), None, ended
    )


def _observation(seat: _Seat, passed: HistoryStep, known: ObservedStep) -> Observation:
    """Return the agent's observation of a step, in the form of ``GdlGame``."""
    if seat.rules.open:
        return passed.moves
    seen = passed.percepts
    if known.percepts is not None and known.percepts != frozenset(seen):
        seen = tuple(sorted(known.percepts, key=kif.written))
    offered = seat.tracking.legal_actions() if seat.rules.offers[seat.player] else ()
    return (*seen, ("offered", *offered)) if offered else seen


@dataclass
class _Match:
    """The match in progress."""

    name: str
    spelling: Spelling
    """Spelling of its rules."""
    play_clock: float
    due: float
    """When it counts as abandoned, if no more messages come."""
    started: Any
    """The posted call of its beginning."""


class GgpSession:
    """Answers the messages of managers, one match at a time; thread-safe."""

    def __init__(self, agent: str, seed: int = 0, say: Say = lambda _: None, grace: float = GRACE) -> None:
        """Make the agent.

        ``grace``: the seconds, plus twice its clock, for which a match may be silent before another one may
        begin.  Raises the errors of ``load_agent``.
        """
        self.grace, self.say = grace, say
        self.lock = Lock()
        self.match: _Match | None = None
        self.ended = ""
        """The match that was stopped or aborted last."""
        called: Any = GgpPlayer(agent, seed, say)  # a line is typed for agents, but carries any calls
        self.mind, self.channel = called, ThreadChannel(called)

    def close(self) -> None:
        """Free the resources; no more messages are answered."""
        self.mind.close()

    @property
    def busy(self) -> bool:
        """Whether a match is being played, or the rules of an aborted one are still being read."""
        return self.channel.busy or (self.match is not None and monotonic() < self.match.due)

    def answer(self, text: str, arrived: float | None = None) -> str:
        """Return the answer to a message that ``arrived`` at a time of ``time.monotonic``, within its clock.

        Raises ``FormatError`` for an invalid message, ``ParameterError``, ``GameRuleError`` or ``RemoteError`` for one
        that cannot be followed.
        """
        arrived = monotonic() if arrived is None else arrived
        now = self.match
        match read_message(text, now.spelling if now else kif.FOLDED):
            case Info():
                return f"((name infoset)(status {kif.BUSY if self.busy else 'available'}))"
            case Preview():
                return kif.READY.upper()
            case Start() as start:
                return self._start(start, arrived)
            case Play(name, observed):
                return self._play(self._of(name), observed, arrived)
            case Stop(name, observed):
                self._end(name, observed)
                return kif.DONE.upper()
            case Abort(name):
                self._end(name, None)
                return kif.ABORTED.upper()

    def _of(self, name: str) -> _Match:
        """Return the match of that name.  Raises ``ParameterError`` where another one is played, or none."""
        match = self.match
        if match is None or match.name != name:
            here = "none" if match is None else repr(shorten(match.name))
            raise ParameterError(f"no match {shorten(name)!r} is played here; now: {here}")
        return match

    def _start(self, start: Start, arrived: float) -> str:
        deadline = arrived + start.start_clock - margin(start.start_clock)
        with self.lock:
            match = self.match
            if match is None or match.name != start.match or match.started.done():  # else it is a repetition
                match = self._seat(start, arrived, deadline)
            if match is None:
                return kif.BUSY
        try:
            self.channel.wait(match.started, deadline)
        except TimeoutError:
            self.say(f"match {start.match}: not ready when the start clock ended")
        except BaseException:
            with self.lock:
                if self.match is match:
                    self.match = None
            raise
        return kif.READY.upper()

    def _seat(self, start: Start, arrived: float, deadline: float) -> _Match | None:
        """Start the match and return it; ``None`` while another one is played."""
        previous = self.match
        if previous is not None and (previous.name == start.match or monotonic() >= previous.due):
            self._leave(None)
        if self.busy:
            return None
        due = arrived + 2 * start.start_clock + self.grace
        self.match = _Match(
            start.match, start.rules.spelling, start.play_clock, due, self.channel.post("begin", start, deadline)
        )
        return self.match

    def _play(self, match: _Match, observed: kif.ObservedStep, arrived: float) -> str:
        deadline = arrived + match.play_clock - margin(match.play_clock)
        match.due = arrived + 2 * match.play_clock + self.grace
        mind = self.mind
        try:
            move = self.channel.wait(self.channel.post("play", observed, arrived, deadline), deadline)[0]
        except TimeoutError:
            move = mind.fallback
        if move is None:
            raise RemoteError("no legal move is known yet: the rules are still being read")
        return kif.written(move, match.spelling)

    def _end(self, name: str, observed: kif.ObservedStep | None) -> None:
        with self.lock:
            if name == self.ended and (self.match is None or self.match.name != name):
                return  # a repetition
            self._of(name)
            self._leave(observed)
            self.ended = name

    def _leave(self, observed: kif.ObservedStep | None) -> None:
        """End the match; the agent is informed, with a time limit."""
        self.match = None
        with suppress(Exception):
            self.channel.wait(self.channel.post("end", observed), monotonic() + SECONDS_TO_END)
