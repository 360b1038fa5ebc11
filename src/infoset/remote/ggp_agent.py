"""An agent at an address: any player of the GGP protocol, for GDL or GDL-II."""

from __future__ import annotations

from contextlib import suppress
from math import inf
from time import monotonic
from typing import Protocol, cast

import numpy as np

from infoset.base import Action, Game, Observation
from infoset.errors import ParameterError, RemoteError, UnsupportedGameError, shorten
from infoset.gdl.game import GdlGame
from infoset.gdl.syntax import Description, renamed_action
from infoset.match.agent_proxy import AsyncAgentProxy, ThreadChannel
from infoset.names import full_name
from infoset.remote.kif import (
    CONTENT_TYPE,
    MAX_CLOCK,
    READY,
    Abort,
    Joint,
    Message,
    ObservedStep,
    Play,
    Seen,
    Start,
    Stop,
    parse_action,
)
from infoset.remote.scrambling import Scrambling
from infoset.remote.wire import Wire

SECONDS_TO_REACH = 10.0
SECONDS_TO_END = 2.0  # for an answer to STOP or ABORT, on which nothing depends


class _MessageFormat(Protocol):
    """The vocabulary in which a player receives the rules, moves and percepts."""

    description: Description

    def out(self, action: Action) -> Action: ...
    def back(self, action: Action) -> Action: ...


class _Plain:
    """The vocabulary of the game itself."""

    def __init__(self, description: Description) -> None:
        self.description = description

    def out(self, action: Action) -> Action:
        return action

    def back(self, action: Action) -> Action:
        return action


def ggp(url: str = "", start_clock: float = 10.0, play_clock: float = 5.0, scramble: bool = False) -> AsyncAgentProxy:
    """Games in GDL: a player of the GGP protocol at an address (http://HOST:PORT); clocks in seconds."""
    name = full_name("ggp", ggp, url=url, start_clock=start_clock, play_clock=play_clock, scramble=scramble)
    return AsyncAgentProxy(ThreadChannel(GgpAgent(url, start_clock, play_clock, scramble)), name)


def _in_another_case(action: Action, legal_actions: tuple[Action, ...]) -> Action:
    """Return the only legal move that equals the player's up to case.

    The player's move is returned where there is none, or several.
    """
    folded = renamed_action(action, str.lower)
    found = [other for other in legal_actions if renamed_action(other, str.lower) == folded]
    return found[0] if len(found) == 1 else action


def give_up(agent: AsyncAgentProxy) -> None:
    """Tell a player that an unfinished match will not be continued."""
    with suppress(TimeoutError):
        agent.channel.wait(agent.channel.post("close"), monotonic() + SECONDS_TO_END)


class GgpAgent:
    """A client of a player of the GGP protocol.

    ``start_clock`` and ``play_clock`` are sent to the player, and limit the waiting time; an earlier deadline of the
    referee holds as well.  ``scramble`` replaces all words of the rules, anew for every match.

    ``begin`` and ``act`` raise ``TimeoutError`` where no answer comes in time, ``RemoteError`` where there is none, and
    ``FormatError`` where it is not a move.
    """

    def __init__(self, url: str = "", start_clock: float = 10.0, play_clock: float = 5.0, scramble: bool = False):
        """Check the parameters.  Raises ``ParameterError`` for an invalid address or clock."""
        if not url:
            raise ParameterError("ggp: url is missing; name the player: ggp(url=http://127.0.0.1:9147)")
        for name, value in ("start_clock", start_clock), ("play_clock", play_clock):
            if not 0 < value <= MAX_CLOCK:
                raise ParameterError(f"ggp: {name}={value}; allowed: more than 0, up to {MAX_CLOCK:,.0f} seconds")
        self.wire = Wire(url)
        self.start_clock, self.play_clock, self.scramble = start_clock, play_clock, scramble
        self.match = ""
        self.reached = False

    def reach(self) -> None:
        """Raise ``RemoteError`` unless the address accepts connections.

        No message is sent, since a player might not know it.
        """
        if not self.reached:
            self.wire.open(monotonic() + SECONDS_TO_REACH)
            self.reached = True

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        """Send the rules.  Raises ``UnsupportedGameError`` for a game that is not described in GDL."""
        if not isinstance(game, GdlGame):
            raise UnsupportedGameError(f"{game.name} is not described in GDL, but players need the rules in GDL")
        self.close()
        rules = game.rules
        self.open, self.offered = rules.open, rules.offers[player]
        self.turn, self.refusal = 0, ""
        self.last: tuple[Action | None, Observation] = None, None
        self.match = f"infoset.{int(rng.integers(1 << 48)):012x}"
        self.message_format: _MessageFormat = (
            Scrambling(rules.description, rng) if self.scramble else _Plain(rules.description)
        )
        role = str(self.message_format.out(game.players[player]))
        start = Start(self.match, role, self.message_format.description, self.start_clock, self.play_clock)
        try:
            answer = self._ask(start, self.start_clock, deadline)
        except RemoteError as error:
            self.refusal = str(error)
            raise
        if answer.strip().lower() != READY:
            self.refusal = f"{self.wire.url} did not begin; it answered {shorten(answer)!r}"
            raise RemoteError(self.refusal)

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        """Keep the step for the next message; every role moves in every step, so each step has one message."""
        if own_action is not None:
            self.turn, self.last = self.turn + 1, (own_action, observation)

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        """Return the player's move.  A player that did not accept the match is not asked."""
        if self.refusal:
            raise RemoteError(self.refusal)
        answer = self._ask(Play(self.match, self._observed(self.offered)), self.play_clock, deadline)
        action = self.message_format.back(parse_action(answer, self.message_format.description.spelling))
        return action if action in legal_actions else _in_another_case(action, legal_actions)

    def end(self, returns: tuple[float, ...]) -> None:
        """Send the last step."""
        match, self.match = self.match, ""
        if not self.refusal:
            self._ask(Stop(match, self._observed(False)), SECONDS_TO_END, None)

    def close(self) -> None:
        """Abort an unfinished match, and close the connection."""
        match, self.match = self.match, ""
        if match and not self.refusal:
            with suppress(OSError):
                self._ask(Abort(match), SECONDS_TO_END, None)
        self.wire.close()

    def _observed(self, offered: bool) -> ObservedStep:
        """Return the last step as a message.

        ``offered``: whether the game adds the legal moves to the percepts, which players do not receive.
        """
        action, observation = self.last
        seen = cast("tuple[Action, ...]", observation or ())
        if self.open:
            return Joint(tuple(map(self.message_format.out, seen)))
        percepts = seen[:-1] if offered else seen
        own = None if action is None else self.message_format.out(action)
        return Seen(self.turn, own, tuple(map(self.message_format.out, percepts)))

    def _ask(self, message: Message, seconds: float, deadline: float | None) -> str:
        until = min(monotonic() + seconds, inf if deadline is None else deadline)
        return self.wire.post("/", str(message).encode(), until, CONTENT_TYPE).decode(errors="replace")
