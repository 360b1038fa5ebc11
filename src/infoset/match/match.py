"""The referee, which plays one game between agents.

It asks the agents for moves, keeps the clocks, executes the moves and passes each agent its own observations.  An
error of an agent is recorded as a fault with a stated consequence and never ends the game.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np

from infoset.arguments import checks_arguments
from infoset.base import Accountable, Action, Agent, Game, Passing, Prompted, State, Step
from infoset.catalog import load as load_game
from infoset.catalog import name_of
from infoset.errors import GameRuleError, ParameterError, RemoteError, UnsupportedGameError, one_line, shorten
from infoset.interruption import is_users, listening
from infoset.match.agent_proxy import AgentProxy, ThreadChannel
from infoset.match.agents import agent_name, check_reached, exchanges_of, load_agents
from infoset.match.replay import Exchange, Fault, Match, MatchStep
from infoset.names import MAX_COUNT, check_range
from infoset.processes import end_copy

MAX_STEPS = 10_000
MAX_SEED = 2**63 - 1
DETAIL, ACCOUNT = 200, 500  # most characters kept of an agent's text
OURS = Path(__file__).parents[1]
FAULTS = (Exception, SystemExit, KeyboardInterrupt)  # the last one unless it is the user's Ctrl-C
CHANCE_OUTCOME, REFEREE, FIRST_AGENT = 0, 1, 2  # the numbers of one game's random streams

Kind = Literal["illegal", "late", "error"]
Waiting: TypeAlias = "tuple[float, Callable[[], tuple[Action, float]]]"
"""The time at which an agent elsewhere was asked, and a function that waits for its move and the time of arrival."""


@checks_arguments
def play_match(
    game: Game | str,
    agents: Sequence[Agent | str],
    *,
    seed: int = 0,
    seconds_per_move: float | None = None,
    seconds_to_begin: float | None = None,
    max_steps: int = MAX_STEPS,
) -> Match:
    """Play one game, ``agents[p]`` in the seat of player ``p``; names are looked up by ``load`` and ``load_agent``.

    Chance, the referee and every agent draw from separate random streams, all derived from ``seed``: the same seed
    gives the same game, and the stream of chance does not depend on the agents.  Players who move simultaneously are
    asked one after the other, each with its own ``seconds_per_move``; agents that think elsewhere (``Prompted``) are
    asked at the same time.

    A move that is illegal, comes after its deadline or fails with an exception is a fault.  The game's
    ``pass_move`` is executed instead, or where it has none a legal move drawn uniformly from the referee's stream;
    the agent learns of it by ``observe``.  An exception in another call is a fault too, including a
    ``KeyboardInterrupt`` that is not the user's Ctrl-C.  With a clock every agent is called in its own thread and cut
    off at the deadline: a late answer is dropped.  Without a clock an agent that never returns holds up the game.  An
    agent from a user's file that is not constructed within ``seconds_to_begin`` fails at every move.

    Raises ``RemoteError`` where no server answers at an agent's address before the first game; passes on an
    ``UnsupportedGameError`` or ``ParameterError`` of ``begin``; raises ``ParameterError`` where the agents do not
    match the players and ``GameRuleError`` where the game is not over after ``max_steps`` steps.

    Times are in seconds, ``None`` for no limit; ``seconds_to_begin`` is the time for agents to begin a game.

    >>> match = infoset.play_match("kuhn_poker", ["random", "random"], seed=1)
    >>> sum(match.returns)
    0.0
    >>> match.returns == infoset.play_match("kuhn_poker", ["random", "random"], seed=1).returns
    True
    """
    check_range("seed", seed, 0, MAX_SEED)
    return Table.of(game, agents, seconds_per_move, seconds_to_begin, max_steps).play(seed)


def check_clocks(seconds_per_move: float | None, seconds_to_begin: float | None = None) -> None:
    """Raise ``ParameterError`` unless both limits are ``None`` or positive and finite."""
    for name, value in (("seconds_per_move", seconds_per_move), ("seconds_to_begin", seconds_to_begin)):
        if value is not None and not 0 < value < inf:
            raise ParameterError(f"{name}={value} is out of range; allowed: more than 0, or None")


def check_seats(name: str, game: Game, agents: int) -> None:
    """Raise ``ParameterError`` unless there is an agent for each player."""
    players = game.players
    if agents != len(players):
        raise ParameterError(
            f"{name} has {len(players)} players ({', '.join(players)}), not {agents}: name one agent for each"
        )


@dataclass(frozen=True)
class Table:
    """The setting of a game: its rules, the agents in their seats, and the clocks."""

    game: Game
    name: str
    agents: tuple[Agent, ...]
    labels: tuple[str, ...]
    """The agents' names, read only once: an agent's ``name`` may run its own code."""
    seconds_per_move: float | None
    seconds_to_begin: float | None
    max_steps: int

    def __post_init__(self) -> None:
        check_seats(self.name, self.game, len(self.agents))
        check_clocks(self.seconds_per_move, self.seconds_to_begin)
        check_range("max_steps", self.max_steps, 1, MAX_COUNT)
        for agent in self.agents:
            if isinstance(agent, type) or not isinstance(agent, Agent):
                raise ParameterError(f"{shorten(repr(agent))} is not an agent; it needs begin, observe, act and end")
        if len(set(map(id, self.agents))) < len(self.agents):
            raise ParameterError("one agent object is in two seats; create one for each seat")

    @classmethod
    def of(
        cls,
        game: Game | str,
        agents: Sequence[Agent | str],
        seconds_per_move: float | None,
        seconds_to_begin: float | None,
        max_steps: int,
    ) -> Table:
        """Build a table, looking up names; a game given by name keeps that name, so that its replays can load it.

        A game of a user's own class gets the name by which its file and class are found.
        """
        check_clocks(seconds_per_move, seconds_to_begin)
        rules = load_game(game) if isinstance(game, str) else game
        name = name_of(game)
        check_seats(name, rules, len(agents))
        with listening():
            seated = load_agents(agents, seconds_to_begin)
        check_reached(seated)
        labels = tuple(map(agent_name, seated))
        return cls(rules, name, seated, labels, seconds_per_move, seconds_to_begin, max_steps)

    @cached_property
    def seated(self) -> tuple[Agent, ...]:
        """The agents as the referee calls them: each in its own thread where a clock runs."""
        if self.seconds_per_move is None and self.seconds_to_begin is None:
            return self.agents
        return tuple(
            [
                agent if isinstance(agent, AgentProxy) else AgentProxy(ThreadChannel(agent), agent_name(agent))
                for agent in self.agents
            ]
        )

    @cached_property
    def remote(self) -> frozenset[int]:
        """The numbers of the agents that can think while others do."""
        # not isinstance, which takes 40 µs for an object that does not implement the protocol
        return frozenset(number for number, agent in enumerate(self.seated) if hasattr(agent, Prompted.prompt.__name__))

    def play(self, seed: int, shift: int = 0) -> Match:
        """Play one game; agent ``i`` sits in seat ``i + shift`` modulo the number of agents."""
        n = len(self.agents)
        with listening():
            return Round(self, [(seat - shift) % n for seat in range(n)], seed).run()

    def open(self, seed: int) -> Round:
        """Return a game to be played step by step, agent ``i`` in seat ``i``."""
        return Round(self, range(len(self.agents)), seed)


class Round:
    """A game in progress; ``order[p]`` is the number of the agent in the seat of player ``p``.

    Call ``begin`` or ``resume``, then ``step`` until the state is terminal, then ``end``; ``run`` does all of it.
    """

    def __init__(self, table: Table, order: Sequence[int], seed: int) -> None:
        self.table, self.seed, self.process = table, seed, os.getpid()
        self.order = tuple(order)
        self.agents = [table.seated[number] for number in order]
        self.labels = tuple([table.labels[number] for number in order])
        self.remote = [player for player, number in enumerate(order) if number in table.remote]
        self.chance_outcome = self._stream(CHANCE_OUTCOME)
        self.referee: np.random.Generator | None = None
        self.steps: list[MatchStep] = []
        self.faults: list[Fault] = []

    def _stream(self, number: int) -> np.random.Generator:
        """Return the stream that ``SeedSequence(seed).spawn`` gives for ``number``, without creating the others."""
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=(number,))))

    def run(self) -> Match:
        """Play the game to its end."""
        state = self.begin()
        while not state.terminal:
            state = self.step(state)
        return self.end(state)

    def begin(self) -> State:
        """Begin the game for all agents, pass them their first observations and return the first state."""
        step = self.table.game.start()
        for player in range(len(self.agents)):
            limit, start = self.table.seconds_to_begin, monotonic()
            deadline = None if limit is None else start + limit
            try:
                self.agents[player].begin(self.table.game, player, self._stream(FIRST_AGENT + player), deadline)
            except (UnsupportedGameError, ParameterError):
                raise
            except FAULTS as error:
                _check_not_users(error)
                if not _is_over(deadline):
                    self._note(0, player, "error", f"begin: {error_text(error)}")
            finally:
                end_copy(self.process)
            if limit is not None and _is_over(deadline):
                self._note(0, player, "late", f"begin: {_late_text(monotonic() - start, limit)}")
        self._tell((None,) * len(self.agents), step)
        return step.state

    def resume(self, steps: Sequence[MatchStep]) -> State:
        """Begin, replay recorded steps of this game without asking the agents, and return the state reached.

        The stream of chance continues as in the original game.  Raises ``IllegalActionError`` for steps that are not
        of this game.
        """
        state = self.begin()
        for played in steps:
            state.draw(played.actions, self.chance_outcome)
            step = state.play(played.actions, played.chance_outcome)
            self.steps.append(played)
            self._tell(played.actions, step)
            state = step.state
        return state

    def end(self, state: State) -> Match:
        """Pass the payoffs to the agents and return the record of the game that ended, or was left, in ``state``."""
        returns = tuple(map(float, state.returns()))
        for player in range(len(self.agents)):
            self._call(player, "end", returns)
        return self.record(state)

    def record(self, state: State) -> Match:
        """Return the record of the game up to ``state`` without calling the agents."""
        return Match(
            game=self.table.name,
            players=self.table.game.players,
            agents=self.labels,
            seed=self.seed,
            seconds_per_move=self.table.seconds_per_move,
            returns=tuple(map(float, state.returns())),
            steps=tuple(self.steps),
            faults=tuple(self.faults),
            exchanges=tuple(sorted(self._exchanges(), key=lambda asked: asked.step)),
            over=state.terminal,
        )

    def _exchanges(self) -> Iterator[Exchange]:
        """Yield what the agents asked language models in this game."""
        for player, number in enumerate(self.order):
            asked = [step for step, played in enumerate(self.steps, 1) if played.seconds[player] is not None]
            asked.append(len(self.steps) + 1)  # in a game that is left while an agent thinks
            for exchange in exchanges_of(self.table.agents[number]):
                yield msgspec.structs.replace(exchange, player=player, step=asked[exchange.step - 1])

    def step(self, state: State) -> State:
        """Ask all players to move, draw the chance outcome, execute the step and pass on the observations."""
        if len(self.steps) == self.table.max_steps:
            raise GameRuleError(f"{self.table.name} is not over after {self.table.max_steps:,} steps (max_steps)")
        actions, seconds = self._ask(state)
        chance_outcome, step = execute(self.table.name, state, actions, self.chance_outcome)
        self.steps.append(MatchStep(actions, chance_outcome, seconds))
        self._tell(actions, step)
        return step.state

    def _ask(self, state: State) -> tuple[tuple[Action | None, ...], tuple[float | None, ...]]:
        """Return the joint move to execute and the time that each player took."""
        action_sets = [state.legal_actions(player) for player in range(len(self.agents))]
        waiting = {player: self._prompt(player, action_sets[player]) for player in self.remote if action_sets[player]}
        actions: list[Action | None] = []
        seconds: list[float | None] = []
        for player, legal_actions in enumerate(action_sets):
            action, spent = self._ask_one(player, legal_actions, waiting.get(player)) if legal_actions else (None, None)
            actions.append(action)
            seconds.append(spent)
        return tuple(actions), tuple(seconds)

    def _prompt(self, player: int, legal_actions: tuple[Action, ...]) -> Waiting:
        """Ask an agent that can think while others do, without waiting for its answer."""
        limit, start = self.table.seconds_per_move, monotonic()
        return start, self.agents[player].prompt(legal_actions, None if limit is None else start + limit)  # type: ignore[attr-defined]

    def _ask_one(self, player: int, legal_actions: tuple[Action, ...], waiting: Waiting | None) -> tuple[Action, float]:
        """Return the move to execute, the agent's own or its replacement, and the time that the agent took."""
        limit = self.table.seconds_per_move
        start = waiting[0] if waiting else monotonic()
        answer, failure = None, ""
        try:
            if waiting:
                answer, came = waiting[1]()
            else:
                answer = self.agents[player].act(legal_actions, None if limit is None else start + limit)
                came = monotonic()
        except FAULTS as error:
            _check_not_users(error)
            failure, came = f"act: {error_text(error)}", monotonic()
        finally:
            end_copy(self.process)
        spent = came - start
        place = _place(answer, legal_actions)
        if limit is not None and spent >= limit:
            self._note_move(player, "late", _late_text(spent, limit))
        elif failure:
            self._note_move(player, "error", failure)
        elif place is None:
            self._note_move(player, "illegal", f"{_safe_text(repr, answer)}; legal: {_safe_text(repr, legal_actions)}")
        else:
            return legal_actions[place], round(spent, 6)
        return self._replacement(legal_actions), round(spent, 6)

    def _replacement(self, legal_actions: tuple[Action, ...]) -> Action:
        game = self.table.game
        if isinstance(game, Passing) and game.pass_move in legal_actions:
            return game.pass_move
        if self.referee is None:  # created on demand: most games need no replacement
            self.referee = self._stream(REFEREE)
        return legal_actions[int(self.referee.integers(len(legal_actions)))]

    def _tell(self, actions: tuple[Action | None, ...], step: Step) -> None:
        """Pass each player its own move and observation; skip players with neither, for whom no time has passed."""
        for player, action in enumerate(actions):
            observation = step.observation(player)
            if action is not None or observation is not None:
                self._call(player, "observe", action, observation)

    def _call(self, player: int, what: str, *arguments: object) -> None:
        try:
            getattr(self.agents[player], what)(*arguments)
        except FAULTS as error:
            _check_not_users(error)
            self._note(len(self.steps), player, "error", f"{what}: {error_text(error)}")
        finally:
            end_copy(self.process)

    def _note_move(self, player: int, kind: Kind, detail: str) -> None:
        self._note(len(self.steps) + 1, player, kind, detail)

    def _note(self, step: int, player: int, kind: Kind, detail: str) -> None:
        self.faults.append(Fault(step, player, kind, one_line(detail, DETAIL)))


def execute(
    name: str, state: State, actions: tuple[Action | None, ...], rng: np.random.Generator
) -> tuple[Action | None, Step]:
    """Draw the chance outcome of a legal joint move and return it with the step.

    Raises ``GameRuleError`` where no player moves and there is no chance outcome.
    """
    chance_outcome = state.draw(actions, rng)
    if chance_outcome is None and all(action is None for action in actions):
        raise GameRuleError(f"{name}: a state that is not terminal has neither legal actions nor chance outcomes")
    step: Step = getattr(state, "play_unchecked", state.play)(actions, chance_outcome)
    return chance_outcome, step


def _place(answer: Action | None, legal_actions: tuple[Action, ...]) -> int | None:
    """Return the index of ``answer`` among the legal moves, ``None`` if illegal; comparing it may run foreign code."""
    try:
        return legal_actions.index(answer)
    except FAULTS as error:
        _check_not_users(error)
        return None


def _check_not_users(error: BaseException) -> None:
    """Raise ``error`` again if it is the user's Ctrl-C, which is not an agent's fault."""
    if is_users(error):
        raise error


def _is_over(deadline: float | None) -> bool:
    return deadline is not None and monotonic() >= deadline


def _late_text(spent: float, limit: float) -> str:
    return f"took {spent:.3g} s; allowed: {limit:g} s"


def error_text(error: BaseException) -> str:
    """Describe an agent's exception and its place: ``NameError: name 'lega' is not defined (agent.py:13)``."""
    text = _safe_text(str, error)
    return text if isinstance(error, RemoteError) else f"{type(error).__name__}: {text}{_place_of(error)}"


def _place_of(error: BaseException) -> str:
    """Return the innermost line of an agent's own file in the traceback."""
    trace, found = error.__traceback__, ""
    while trace is not None:
        file = Path(trace.tb_frame.f_code.co_filename)
        if OURS not in file.parents and "site-packages" not in file.parts:
            found = f" ({file.name}:{trace.tb_lineno})"
        trace = trace.tb_next
    return found


def account_of(agent: Agent) -> str:
    """Return an agent's own account of how it played; empty where it gives none."""
    return _safe_text(lambda one: str(one.account()), agent, ACCOUNT) if isinstance(agent, Accountable) else ""


def _safe_text(convert: Callable[[Any], str], value: object, most: int = DETAIL) -> str:
    """Return ``value`` as one line that any encoding can write; converting it may run foreign code."""
    try:
        text = shorten(convert(value), most)
    except FAULTS as error:
        _check_not_users(error)
        text = "(no text)"
    return " ".join(text.encode(errors="backslashreplace").decode().split())
