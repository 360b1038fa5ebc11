"""Games of a person at the terminal: hints, moves taken back, replays, and the review after the game."""

from __future__ import annotations

import io
import re
import signal
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from functools import cached_property
from itertools import count
from pathlib import Path
from secrets import randbits
from typing import TYPE_CHECKING, TextIO

from infoset.base import Agent, CardGame, Game, InformationState, RealTime, State, Step
from infoset.catalog import load, load_named
from infoset.cli.play_options import PlayOptions
from infoset.cli.terminal import (
    BOLD,
    DIM,
    OwnHand,
    Terminal,
    action_set_words,
    check_terminal,
    hand_for,
    payoffs_text,
)
from infoset.compiled import Compiled
from infoset.errors import BudgetError, ImperfectRecallError, ParameterError, UnknownNameError, one_line
from infoset.files import check_folder, make_folder
from infoset.match.agents import IN_THREAD, RUNS_FILES, PolicyAgent, agent_name, check_made_for, is_marked, load_agents
from infoset.match.match import MAX_STEPS, Round, Table, check_clocks, check_seats
from infoset.match.person import HUMAN, LeaveGame, Person, View
from infoset.match.replay import Match, MatchStep, replay_steps
from infoset.match.series import MAX_GAMES, SEED_BITS, game_seed
from infoset.names import action_names, check_range
from infoset.policies.loading import load_policy, policy_file
from infoset.policies.tabular import TabularPolicy
from infoset.practice import BEST, CORRECT, CUSTOMARY, EQUILIBRIUM, costs, customary, grades, spot_values, try_to_solve
from infoset.solvers.study import ActionValue, Study
from infoset.spots import SpotTree
from infoset.view.pictures import action_words, picture_text, whole

if TYPE_CHECKING:
    from infoset.base import Policy
    from infoset.solving import Solution

MOST_LINES = 60
SHOWN = 4  # decimal places of the values of moves
MOST_PRINTED = 1 << 12  # most characters kept of what agents print in a game


def play(asked: PlayOptions) -> None:
    """Play games in the terminal, save and review them.

    Raises ``KeyboardInterrupt`` where Ctrl-C ended a game, after saving it; Ctrl-D ends it without an error.  Raises
    ``UnsupportedSystemError`` without a terminal, ``ParameterError`` and what ``load`` and ``load_agent`` raise.
    """
    check_range("games", asked.games, 1, MAX_GAMES)
    check_clocks(asked.seconds_per_move)
    out = check_terminal()
    left = None if asked.resume is None else _left(asked.resume)
    if left is not None:
        asked = _as_left(asked, left)
    if asked.game is not None:
        name, game = asked.game, load(asked.game)
    elif left is not None:
        name, game = left.game, load_named(left.game, str(asked.resume))
    else:
        raise ParameterError("name a GAME, or a game to continue by --resume")
    if left is not None:
        replay_steps(left, game)  # raises where the replay is not of this game
    Sitting(asked, name, game, out, () if left is None else left.steps).play()


def _left(file: Path) -> Match:
    match = Match.load(file)
    if match.over:
        raise ParameterError(f"{file}: this game is over; 'infoset watch' shows it")
    return match


def _as_left(asked: PlayOptions, left: Match) -> PlayOptions:
    """Take over the agents, the seat, the seed and the clock of the game to resume.  Raises ``ParameterError``."""
    for name, given in (("--games", asked.games != 1), ("--seed", asked.seed is not None), ("--seat", asked.seat)):
        if given:
            raise ParameterError(f"{name} would not be used: --resume continues a game as it was left")
    if HUMAN not in left.agents:
        names = ", ".join(map(one_line, left.agents))
        raise ParameterError(f"{asked.resume}: no person played this game; its agents are {names}")
    seat = left.agents.index(HUMAN)
    others = [name for player, name in enumerate(left.agents) if player != seat]
    clock = left.seconds_per_move if asked.seconds_per_move is None else asked.seconds_per_move
    if not asked.agents:
        for name in others:
            _check_harmless(name, asked.resume)
    return replace(asked, agents=asked.agents or others, seat=str(seat + 1), seed=left.seed, seconds_per_move=clock)


def _check_harmless(agent: str, file: Path | None) -> None:
    """Raise ``ParameterError`` for an agent named by a file that would run or call foreign programs."""
    words = re.findall(r"[\w-]+", agent)
    if any(word in agent for word in ("python:", *RUNS_FILES, *IN_THREAD)) or any(
        is_marked(word, "runs_code") for word in words
    ):
        raise ParameterError(
            f"{file} names {one_line(agent)}, which is not begun because a file says so; name the AGENTs"
        )


def seat_number(game: Game, seat: str | None) -> int:
    """Return the player of a seat, given its name or its number from 1.  Raises ``ParameterError``.

    >>> from infoset.cli.sitting import seat_number
    >>> seat_number(infoset.load("kuhn_poker"), "P2"), seat_number(infoset.load("kuhn_poker"), "1")
    (1, 0)
    """
    players = game.players
    if seat is None:
        return 0
    if seat in players:
        return players.index(seat)
    alike = [number for number, name in enumerate(players) if name.casefold() == seat.casefold()]
    if len(alike) == 1:
        return alike[0]
    if seat.isdecimal() and 1 <= int(seat[:9]) <= len(players):
        return int(seat[:9]) - 1
    names = ", ".join(map(one_line, players))
    raise ParameterError(
        f"--seat {one_line(seat)} is not a player of {one_line(game.name)}; allowed: 1 to {len(players)}, or {names}"
    )


def _folder(replay: Path | None, game: str) -> Path:
    """Create and return the folder for replays, by default below ``runs/play``."""
    if replay is None:
        stem = re.sub(r"[^\w.+=]+", "-", Path(game).name).strip("-")[:80]
        replay = Path("runs") / "play" / stem
    check_folder(replay)
    make_folder(replay)
    return replay


class Tutor:
    """A source of hints for a game: a named policy, or a solution found here where that takes seconds."""

    def __init__(self, game: Game, hints: str | None) -> None:
        self.game, self.hints = game, hints
        self.compiled: Compiled = Compiled(game)
        if hints is not None:
            assert self.policy

    @cached_property
    def solution(self) -> Solution | None:
        """The solution found here; ``None`` where the game is too large for that."""
        if isinstance(self.game, RealTime) or self.game.name in CUSTOMARY:
            return None
        return try_to_solve(self.compiled)

    @cached_property
    def policy(self) -> Policy | None:
        """The policy on which hints are based."""
        if self.hints is None:
            return None if self.solution is None else self.solution.policy.on(self.compiled)
        return load_policy(self.hints).on(self.compiled)

    @property
    def source(self) -> str:
        """The source of the policy, in words."""
        return self.hints if self.hints is not None else f"the {EQUILIBRIUM}"

    @cached_property
    def study(self) -> Study | None:
        """The values of moves, where the policy is a table of the whole game."""
        if not isinstance(self.policy, TabularPolicy):
            return None
        try:
            return Study.of(self.compiled, self.policy)
        except (BudgetError, ImperfectRecallError):
            return None

    @cached_property
    def tree(self) -> SpotTree | None:
        """The nodes of the policy, in hold'em."""
        if not isinstance(self.game, CardGame) or self.policy is None:
            return None
        return SpotTree.of(self.compiled, self.policy)

    def actions(self, player: int, infostate: InformationState) -> list[ActionValue]:
        """Return the moves of an information set with their probabilities and values; empty where it is unknown."""
        if self.tree is not None:
            return spot_values(self.tree, player, infostate)
        if self.study is None or not isinstance(self.policy, TabularPolicy):
            return []
        try:
            return self.study.actions(player, self.policy.key(infostate))
        except UnknownNameError:
            return []

    def hint(self, view: View) -> list[str]:
        """Describe the policy at this information set, one line for each move."""
        row = (
            None
            if self.policy is None
            else self.policy.action_probabilities(view.player, view.infostate, view.legal_actions)
        )
        if row is None:
            return [
                "The policy does not contain this information set."
                if self.policy
                else f"{self.game.name} is not solved; name a policy with --hints."
            ]
        width = max(map(len, action_set_words(view.legal_actions)))
        value_of = {action.action: action.value for action in self.actions(view.player, view.infostate)}
        shown = [
            f"  {word.ljust(width)}  {chance:6.1%}{_value_text(value_of.get(action))}"
            for word, action, chance in zip(
                action_set_words(view.legal_actions), action_names(view.legal_actions), row, strict=True
            )
        ]
        return [f"By {self.source}:", *shown]


def _value_text(value: float | None) -> str:
    return "" if value is None else f"   value {round(value, SHOWN) + 0.0:+g}"


class Undo(BaseException):
    """Raised when the person takes back its last move; not a fault."""


class Sitting:
    """A session of one person's games."""

    def __init__(self, asked: PlayOptions, name: str, game: Game, out: TextIO, started: tuple[MatchStep, ...]) -> None:
        """Prepare the games; ``started`` holds the steps of a game to resume."""
        self.asked, self.name, self.game, self.started = asked, name, game, started
        self.seat = seat_number(game, asked.seat)
        self.hand = self._hand(out)
        self.lines = self.hand if isinstance(self.hand, Terminal) else Terminal(out)
        """The terminal for everything but the game itself."""
        self.tutor = Tutor(game, asked.hints or self._opponents_solution())
        self.folder = _folder(asked.replay, name)
        self.table = self._table()
        self.seed = randbits(SEED_BITS) if asked.seed is None else asked.seed

    def _hand(self, out: TextIO) -> Terminal | OwnHand:
        hand = hand_for(self.game, out)
        if not isinstance(hand, Terminal):
            hand.check()
            if self.asked.practice:
                game = one_line(self.game.name)
                raise ParameterError(f"--practice would not be used: {game} is played in real time")
        elif self.asked.practice:
            commands = {"u": (self._undo, "take back your last move"), "h": (self._hint, "how good your moves are")}
            return Terminal(out, commands)
        return hand

    # agents

    def _opponents_solution(self) -> str | None:
        """Return the file or run of the opponent's strategy in hold'em, by which decisions are then graded."""
        named = self.asked.agents or []
        return named[0] if isinstance(self.game, CardGame) and named and policy_file(named[0]) else None

    def _table(self) -> Table:
        others, why = self._others()
        check_made_for(self.game, others)
        agents = list(load_agents(others))
        agents.insert(self.seat, Person(self.hand))
        labels = tuple(map(agent_name, agents))
        clock = self.asked.seconds_per_move
        if clock is None and isinstance(self.game, RealTime):
            clock = self.game.seconds_per_move
        self._greet(labels, why)
        return Table(self.game, self.name, tuple(agents), labels, clock, None, MAX_STEPS)

    def _others(self) -> tuple[list[Agent | str], str]:
        """Return the agents of the other seats, and the reason for the choice where none were named."""
        named, seats = self.asked.agents or [], len(self.game.players) - 1
        if named or not seats:
            check_seats(self.name, self.game, len(named) + 1)
            return [self._equilibrium() if name == EQUILIBRIUM else name for name in named], ""
        if found := self.tutor.solution:
            gain = "" if found.exploitability is None else f", exploitability {found.exploitability:.2g}"
            return [self._equilibrium() for _ in range(seats)], f"solved here by {found.method}{gain}"
        other = customary(self.game)
        return [other] * seats, f"{other} plays, since no agent is named and the game is not solved within seconds"

    def _equilibrium(self) -> Agent:
        found = self.tutor.solution
        if found is None:
            raise ParameterError(f"{EQUILIBRIUM}: {one_line(self.game.name)} is not solved at once; name other agents")
        return PolicyAgent(found.policy, EQUILIBRIUM)

    def _greet(self, labels: Sequence[str], why: str) -> None:
        players = self.game.players
        seats = [
            f"{one_line(player)} {'is you' if number == self.seat else one_line(label)}"
            for number, (player, label) in enumerate(zip(players, labels, strict=True))
        ]
        self.lines.say(f"{one_line(self.game.name)}: {', '.join(seats)}", BOLD)
        if why:
            self.lines.say(f"({why})", DIM)
        if self.hand is self.lines:
            self.lines.say("? shows help; Ctrl-D leaves and saves the game", DIM)

    # commands

    def _undo(self, view: View) -> None:
        if not any(action is not None for action, _ in view.infostate):
            self.lines.say("There is no move of yours to take back.")
            return
        self.lines.say("Taken back.")
        raise Undo

    def _hint(self, view: View) -> None:
        self.lines.say("\n".join(self.tutor.hint(view)))

    # the games

    def play(self) -> None:
        """Play all games.  Raises ``KeyboardInterrupt`` where Ctrl-C ended them."""
        paid: list[float] = []
        for number in range(self.asked.games):
            if self.asked.games > 1:
                self.lines.say(f"\nGame {number + 1} of {self.asked.games}", BOLD)
            match = self._game(self.seed if self.asked.resume else game_seed(self.seed, number))
            if match is None:
                break
            paid.append(match.returns[self.seat])
        if len(paid) > 1:
            self.lines.say(f"\n{len(paid)} games: {sum(paid):+.6g} in all, {sum(paid) / len(paid):+.4g} a game", BOLD)

    def _game(self, seed: int) -> Match | None:
        """Play and save one game; ``None`` where it was left by Ctrl-D."""
        printed = _Printed()
        with _ended_gently(), self._redirected(printed):
            match, ending = self._round(seed)
        path = next(free for k in count(1) if not (free := self.folder / f"match-{k:05d}.json").exists())
        failed: OSError | None = None
        try:
            match.save(path)
        except OSError as error:  # a full disk: the game is reviewed nevertheless
            failed = error
        self._tell_faults(match, printed)
        try:
            if ending is None:
                self._review(match)
        finally:
            if failed is None:
                self.lines.say(f"\nThe replay: {path}")
        if failed is not None:
            raise failed
        if not match.over:
            self.lines.say(f"To continue it: infoset play --resume {path}")
        if ending is not None and not isinstance(ending, LeaveGame):
            raise ending
        return match if ending is None else None

    def _round(self, seed: int) -> tuple[Match, KeyboardInterrupt | None]:
        """Play one game; return it with the exception that ended it early, if any."""
        playing, steps = self.table.open(seed), self.started
        ending: KeyboardInterrupt | None = None
        try:
            state = playing.resume(steps)
            while not state.terminal:
                try:
                    state = playing.step(state)
                except Undo:
                    last = max(k for k, step in enumerate(playing.steps) if step.actions[self.seat] is not None)
                    steps = tuple(playing.steps[:last])
                    playing = self.table.open(seed)
                    state = playing.resume(steps)
        except KeyboardInterrupt as error:
            ending = error
            self.lines.left = True
            state = self._state(playing)  # the interrupt may have come within a step
        finally:
            if not isinstance(self.hand, Terminal):
                self.hand.close()
        return playing.end(state), ending

    def _state(self, playing: Round) -> State:
        """Return the state that the steps of a game lead to."""
        state = self.game.start().state
        for step in playing.steps:
            state = state.play(step.actions, step.chance_outcome).state
        return state

    @contextmanager
    def _redirected(self, printed: _Printed) -> Iterator[None]:
        """Keep agents' output from the screen."""
        with ExitStack() as redirected:
            redirected.enter_context(redirect_stdout(printed))
            if self.hand is not self.lines:
                redirected.enter_context(redirect_stderr(printed))
            yield

    # afterwards

    def _tell_faults(self, match: Match, printed: _Printed) -> None:
        for fault in match.faults[:MOST_LINES]:
            who = f"{match.players[fault.player]} ({match.agents[fault.player]})"
            self.lines.say(
                f"Fault of {one_line(who)} in step {fault.step}: {fault.kind}: {one_line(fault.detail, 200)}", DIM
            )
        for line in printed.getvalue().splitlines()[:MOST_LINES]:
            self.lines.say(f"An agent printed: {one_line(line, 200)}", DIM)

    def _review(self, match: Match) -> None:
        """Show what the person could not see, and the cost of its moves."""
        if self.hand is not self.lines:
            self.lines.say(f"The game is over.  {payoffs_text(match.players, match.returns)}", BOLD)
            return
        steps = replay_steps(match, self.game)
        self.lines.say("\nThe complete game", BOLD)
        picture = whole(self.game, steps, match.steps)
        if picture["kind"] != "path":  # a path is listed step by step below
            self.lines.say(f"{picture_text(picture)}\n")
        lines = list(walk_lines(match, steps, self.seat))
        self.lines.say("\n".join(lines[:MOST_LINES]))
        if len(lines) > MOST_LINES:
            self.lines.say(f"… and {len(lines) - MOST_LINES:,} more; the replay has them")
        if self.tutor.tree is not None:
            self.lines.say(f"\nYour decisions, graded by {self.tutor.source}", BOLD)
            self.lines.say("\n".join(grade_lines(self.tutor.tree, match, steps, self.seat)))
            return
        lines = list(cost_lines(match, steps, self.seat, self.tutor))
        if lines:
            self.lines.say(f"\nCost of your moves, if all players continue with {self.tutor.source}", BOLD)
            self.lines.say("\n".join(lines[:MOST_LINES]))


def walk_lines(match: Match, steps: Sequence[Step], seat: int) -> Iterator[str]:
    """Yield a line for each step: the moves, and the observations of others that ``seat`` did not see."""
    lead = len(str(len(match.steps)))
    for number, step in enumerate(steps):
        played = match.steps[number - 1] if number else None
        actions = played.actions if played else (None,) * len(match.players)
        done = [
            f"{one_line(match.players[p])} {action_words(action)}"
            for p, action in enumerate(actions)
            if action is not None
        ]
        if played and played.chance_outcome is not None:
            done.insert(0, f"chance {action_words(played.chance_outcome)}")
        observed = step.observation(seat)
        hidden = [
            f"{one_line(match.players[p])} sees {action_words(seen)}"
            for p in range(len(match.players))
            if p != seat and (seen := step.observation(p)) not in (None, (), observed, *actions)
        ]
        if done or hidden:
            aside = f"   [{', '.join(hidden)}]" if hidden else ""
            yield f"{number:>{lead}}  {', '.join(done) or 'the start'}{aside}"


def cost_lines(match: Match, steps: Sequence[Step], seat: int, tutor: Tutor) -> Iterator[str]:
    """Yield a line for each choice of ``seat`` with its cost."""
    lead = len(str(len(match.steps)))
    for found in costs(tutor.actions, match, steps, seat) if tutor.study is not None else ():
        start = f"{found.step:>{lead}}  {one_line(found.action)}"
        if found.lost is None:
            yield f"{start}  not reached against players who play this policy"
        else:
            lost = round(found.lost, SHOWN)
            better = f"; {one_line(found.best)}{_value_text(found.best_value)}" if lost > 0 else ""
            yield f"{start}  cost {lost:g}  ({_value_text(found.value).strip()}{better})"


def grade_lines(tree: SpotTree, match: Match, steps: Sequence[Step], seat: int) -> Iterator[str]:
    """Yield a line for each choice of ``seat`` in hold'em with its grade, and what all of them cost."""
    found = list(grades(tree, match, steps, seat))
    lead = len(str(len(match.steps)))
    width = max((len(one.grade.action) for one in found), default=0)
    for step, _, grade in found:
        start = f"{step:>{lead}}  {grade.action:{width}}  {grade.verdict}"
        if grade.lost is None or grade.lost_share is None:
            yield f"{start}, played {grade.frequency:.1%}"
        else:
            better = f"; better: {grade.best}" if grade.verdict not in (BEST, CORRECT) else ""
            lost = f"loses {grade.lost:.2f} chips, {grade.lost_share:.1%} of the pot"
            yield f"{start}, {lost}, played {grade.frequency:.1%}{better}"
    total = sum(one.grade.lost or 0.0 for one in found)
    yield f"in all {total:.2f} chips lost in {len(found)} decision{'s' * (len(found) != 1)}"


class _Printed(io.StringIO):
    """A buffer for the output of agents, bounded in length."""

    def write(self, text: str) -> int:
        super().write(text[: max(MOST_PRINTED - self.tell(), 0)])
        return len(text)


@contextmanager
def _ended_gently() -> Iterator[None]:
    """Let a closed terminal (SIGHUP) or SIGTERM end the game as Ctrl-D does."""

    def leave(*_: object) -> None:
        raise LeaveGame

    signals = [found for name in ("SIGHUP", "SIGTERM") if (found := getattr(signal, name, None)) is not None]
    before = [signal.signal(number, leave) for number in signals]
    try:
        yield
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)
