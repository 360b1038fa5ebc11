"""Records of matches and the replay format, which is the same for every game.

A ``Match`` is the record of one game from start to end and is saved as JSON.  Tuples become arrays when written and
tuples again when read.  Everything that is read is checked: the types here, the moves by ``replay_steps``, which plays
them again.
"""

from __future__ import annotations

from math import isclose
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from infoset import displays
from infoset.arguments import checks_arguments
from infoset.base import Action, Game, State, Step
from infoset.catalog import load_named
from infoset.errors import FormatError, GameRuleError, shorten
from infoset.files import check_schema, decode_json, read_text, replace_file

SCHEMA = 3
TOLERANCE = 1e-9

if TYPE_CHECKING:
    Move: TypeAlias = Action | None
else:
    Move = Any  # msgspec does not support recursive types; ``checked`` checks the moves


class Fault(msgspec.Struct, frozen=True):
    """A violation of the match rules by an agent.

    Its kind is ``illegal``, ``late`` (after its deadline) or ``error`` (an exception).  Where a move was due, the
    game's ``pass_move`` or a random legal move was played instead.
    """

    step: int
    """The step of the fault, counted from 1; 0 before the first one."""
    player: int
    kind: Literal["illegal", "late", "error"]
    detail: str


class MatchStep(msgspec.Struct, frozen=True):
    """One joint move as executed, the chance outcome ``chance_outcome``, and the thinking time of each player."""

    actions: tuple[Move, ...]
    """(n,) the players' moves, ``None`` for those who do not move."""
    chance_outcome: Move
    seconds: tuple[float | None, ...]
    """(n,) the thinking times in seconds, ``None`` for those who were not asked."""


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """A question that an agent asked a language model, and the answer."""

    step: int
    """The step whose move was asked for, counted from 1."""
    player: int
    messages: tuple[tuple[str, str], ...]
    """(role, text) of each message that was sent."""
    answer: str
    problem: str
    """Why the answer is no legal action, or why none came; "" for an answer that was used."""
    requests: int
    """The number of requests that were sent for it."""
    prompt_tokens: int | None
    completion_tokens: int | None
    """``None`` where the endpoint does not count them."""
    seconds: float


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """The record of one game: the result of ``play_match``, and the content of a replay file.

    ``play_match`` with the same game, agents and ``seed`` gives the same match, provided that the agents depend on
    nothing but their random streams.

    ``returns`` (n,) are final payoffs, ``seed`` is that of ``play_match``.

    >>> match = infoset.play_match("kuhn_poker", ["random", "random"], seed=1)
    >>> match.steps[0].chance_outcome is not None, len(match.returns)      # chance_outcome deals
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
    exchanges: tuple[Exchange, ...] = ()
    """What agents asked language models, and the answers."""
    over: bool = True
    """False for a game that was left before its end; ``returns`` are then the payoffs so far."""

    def _repr_html_(self) -> str:
        return displays.render("match", self)

    @checks_arguments
    def save(self, path: str | Path) -> Path:
        """Write the replay as JSON atomically."""
        return replace_file(Path(path), lambda file: file.write(msgspec.json.encode(self) + b"\n"))

    @classmethod
    @checks_arguments
    def load(cls, path: str | Path) -> Match:
        """Read a replay.  Raises ``FormatError`` for a file of another kind, a broken one or one of a newer version."""
        text = read_text(Path(path))
        try:
            check_schema("replay", decode_json(text, _Schema).schema, SCHEMA)
            return checked(msgspec.json.decode(text, type=cls))
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise FormatError(f"not a replay: {shorten(str(error), 200)}", str(path)) from None


class _Schema(msgspec.Struct):
    schema: int


def checked(match: Match) -> Match:
    """Return ``match`` with moves made of tuples.  Raises ``ValueError`` where its parts are inconsistent."""
    n = len(match.players)
    if not n or len(match.agents) != n or len(match.returns) != n:
        raise ValueError(f"{n} players, {len(match.agents)} agents and {len(match.returns)} returns")
    for number, step in enumerate(match.steps, start=1):
        if len(step.actions) != n or len(step.seconds) != n:
            raise ValueError(f"step {number} has {len(step.actions)} moves and {len(step.seconds)} times, not {n}")
    steps = [MatchStep(tuple(map(_action, s.actions)), _action(s.chance_outcome), s.seconds) for s in match.steps]
    for fault in match.faults:
        if not (0 <= fault.player < n and 0 <= fault.step <= len(match.steps)):
            raise ValueError(f"a fault of player {fault.player} in step {fault.step}")
    for asked in match.exchanges:
        if not (0 <= asked.player < n and 1 <= asked.step <= len(match.steps) + 1):
            raise ValueError(f"an exchange of player {asked.player} in step {asked.step}")
    return msgspec.structs.replace(match, steps=tuple(steps))


def _action(value: object) -> Move:
    return None if value is None else read_action(value)


def read_action(value: object) -> Action:
    """Convert a move from decoded JSON, lists to tuples.  Raises ``ValueError`` for a value that is not a move."""
    if isinstance(value, list):
        return tuple(map(read_action, value))
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise ValueError(f"{shorten(repr(value))} is not a move; allowed: integers, texts and lists of them")


def replay_steps(match: Match, game: Game | None = None) -> list[Step]:
    """Play ``match`` again, checking every move, the chance outcomes and the final returns.

    ``game`` is loaded by the name in the match unless it is given.  The list holds the start and then one step for
    each of the match, with every player's observation.  Raises ``FormatError`` with the step at which the match
    deviates from the rules of the game.
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
            steps.append(state.play(played.actions, played.chance_outcome))
        except GameRuleError as error:
            raise _differs(match, f"step {number}: {error}") from None
    _check_end(match, steps[-1].state)
    return steps


@checks_arguments
def replay_states(match: Match, game: Game | None = None) -> list[State]:
    """Return the states of ``match``, including the first and the last, checked as by ``replay_steps``.

    Raises ``FormatError`` where the match is not a play of the game.

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
    least = TOLERANCE * max(map(abs, returns))  # rounding errors scale with the largest payoff
    if not all(isclose(a, b, rel_tol=TOLERANCE, abs_tol=least) for a, b in zip(returns, match.returns, strict=True)):
        raise _differs(match, f"step {len(match.steps)}: the game ends with {returns!r}, not with {match.returns!r}")


def _differs(match: Match, what: str) -> FormatError:
    return FormatError(shorten(what, 400), f"replay of {shorten(match.game)}")
