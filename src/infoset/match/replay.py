"""What a match leaves behind, and the one replay format of every game.

A ``Match`` is the record of one game from start to end and is saved as it stands, as JSON.  Tuples become
arrays on the way and tuples again when they are read.  Whatever is read is checked: its types here, its
moves by ``replay_steps``, which plays them again.
"""

from __future__ import annotations

from math import isclose
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from infoset.arguments import checks_arguments
from infoset.base import Action, Game, State, Step
from infoset.catalog import load_named
from infoset.errors import FormatError, GameRuleError, shorten
from infoset.files import decode_json, read_text, replace_file

SCHEMA = 1
TOLERANCE = 1e-9

if TYPE_CHECKING:
    Move: TypeAlias = Action | None
else:
    Move = Any  # msgspec knows no recursive types; ``checked`` looks at moves itself


class Fault(msgspec.Struct, frozen=True):
    """An agent that broke the rules of matches.

    ``illegal``, ``late`` (after its deadline) or ``error`` (it raised an exception).  Where a move was due, the
    game's ``pass_move`` or a random legal one was played instead.
    """

    step: int
    """The step it belongs to, counted from 1; 0 before the first one."""
    player: int
    kind: Literal["illegal", "late", "error"]
    detail: str


class MatchStep(msgspec.Struct, frozen=True):
    """One joint move as executed, nature's answer, and how long each player thought."""

    moves: tuple[Move, ...]
    """(n,) ``None`` for those who do not move."""
    nature: Move
    seconds: tuple[float | None, ...]
    """(n,) ``None`` for those who were not asked."""


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """One game as it was played: the result of ``play_match``, and the content of a replay file.

    ``play_match`` with the same game, agents and ``seed`` plays it again, as far as the agents themselves
    depend on nothing but their source of randomness.

    ``returns`` (n,) are final payoffs, ``seed`` is the one of ``play_match``.

    >>> match = infoset.play_match("kuhn_poker", ["random", "random"], seed=1)
    >>> match.steps[0].nature is not None, len(match.returns)      # nature deals
    (True, 2)
    """

    schema: int = SCHEMA
    game: str
    """A name that ``infoset.load`` understands."""
    players: tuple[str, ...]
    agents: tuple[str, ...]
    """(n,) the agent in each player's seat."""
    seed: int
    seconds_per_move: float | None
    returns: tuple[float, ...]
    """(n,) the final payoffs."""
    steps: tuple[MatchStep, ...]
    faults: tuple[Fault, ...] = ()
    over: bool = True
    """False for a game that was left before its end; ``returns`` are then what was paid so far."""

    def _repr_html_(self) -> str:
        from infoset.view.html import match_html  # a floor up, for notebooks alone

        return match_html(self)

    @checks_arguments
    def save(self, path: str | Path) -> Path:
        """Write the replay as JSON; the file appears whole or not at all."""
        return replace_file(Path(path), lambda file: file.write(msgspec.json.encode(self) + b"\n"))

    @classmethod
    @checks_arguments
    def load(cls, path: str | Path) -> Match:
        """Read a replay.  Raises ``FormatError`` for what is none, is broken or comes from a newer version."""
        text = read_text(Path(path))
        try:
            schema = decode_json(text, _Schema).schema
            if schema == SCHEMA:
                return checked(msgspec.json.decode(text, type=cls))
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise FormatError(f"not a replay: {shorten(str(error), 200)}", str(path)) from None
        raise FormatError(
            f"replay schema {shorten(str(schema))}; this version reads {SCHEMA}. A newer infoset may read it", str(path)
        )


class _Schema(msgspec.Struct):
    schema: int


def checked(match: Match) -> Match:
    """``match`` with moves made of tuples.  Raises ``ValueError`` where its parts do not fit together."""
    n = len(match.players)
    if not n or len(match.agents) != n or len(match.returns) != n:
        raise ValueError(f"{n} players, {len(match.agents)} agents and {len(match.returns)} returns")
    for number, step in enumerate(match.steps, start=1):
        if len(step.moves) != n or len(step.seconds) != n:
            raise ValueError(f"step {number} has {len(step.moves)} moves and {len(step.seconds)} times, not {n}")
    steps = [MatchStep(tuple(map(_move, s.moves)), _move(s.nature), s.seconds) for s in match.steps]
    for fault in match.faults:
        if not (0 <= fault.player < n and 0 <= fault.step <= len(match.steps)):
            raise ValueError(f"a fault of player {fault.player} in step {fault.step}")
    return msgspec.structs.replace(match, steps=tuple(steps))


def _move(value: object) -> Move:
    return None if value is None else read_action(value)


def read_action(value: object) -> Action:
    """A move as JSON has it, lists as tuples.  Raises ``ValueError`` for what is no move."""
    if isinstance(value, list):
        return tuple(map(read_action, value))
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise ValueError(f"{shorten(repr(value))} is no move; allowed: integers, texts and lists of them")


def replay_steps(match: Match, game: Game | None = None) -> list[Step]:
    """Play ``match`` again, checking every move, nature's answers and the final returns.

    ``game`` is loaded by the name in the match unless it is given.  The list holds the start and then one step
    for each of the match's, with what every player observed of it.  Raises ``FormatError`` with the step at
    which the match is not a play of the game.
    """
    game = load_named(match.game, "the replay") if game is None else game
    if game.players != match.players:
        raise _differs(match, f"the players are {match.players!r}, those of {game.name} {game.players!r}")
    steps = [game.start()]
    for number, played in enumerate(match.steps, start=1):
        state = steps[-1].state
        if state.terminal:
            raise _differs(match, f"step {number}: the game is over after step {number - 1}")
        try:
            steps.append(state.play(played.moves, played.nature))
        except GameRuleError as error:
            raise _differs(match, f"step {number}: {error}") from None
    _check_end(match, steps[-1].state)
    return steps


@checks_arguments
def replay_states(match: Match, game: Game | None = None) -> list[State]:
    """The states of ``match``, the first and the last included; checked as ``replay_steps`` does.

    Raises ``FormatError`` where the match is not one of the game.

    >>> match = infoset.play_match("kuhn_poker", ["random", "random"], seed=1)
    >>> infoset.replay_states(match)[-1].returns() == match.returns
    True
    """
    return [step.state for step in replay_steps(match, game)]


def _check_end(match: Match, state: State) -> None:
    if state.terminal != match.over:
        after = f"after its {len(match.steps)} steps"
        raise _differs(match, f"the game is {'not ' if match.over else ''}over {after}")
    returns = state.returns()
    least = TOLERANCE * max(map(abs, returns))  # the largest payoff says what the others' rounding is
    if not all(isclose(a, b, rel_tol=TOLERANCE, abs_tol=least) for a, b in zip(returns, match.returns, strict=True)):
        raise _differs(match, f"step {len(match.steps)}: the game ends with {returns!r}, not with {match.returns!r}")


def _differs(match: Match, what: str) -> FormatError:
    return FormatError(shorten(what, 400), f"replay of {shorten(match.game)}")
