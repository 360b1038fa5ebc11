"""Convert games of Pommerman's reference environment, ``game_state.json``, to the replay format and back.

Such a file holds every position of one game, in any order, each with the joint action that led to it.  Reading plays
the actions by this library's rules and compares every position.  The logs of the competitions of 2018 are such files
with additional fields.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from infoset.base import Action, Game, State
from infoset.catalog import load as load_game
from infoset.errors import (
    FormatError,
    IllegalActionError,
    ParameterError,
    UnknownNameError,
    UnsupportedGameError,
    shorten,
)  # fmt: skip
from infoset.files import MAX_TEXT_BYTES, read_text, replace_file
from infoset.match.replay import Match, MatchStep, replay_states
from infoset.names import Name, build, parse_name
from infoset.pommerman import state as st
from infoset.pommerman.config import PARAMETERS, PREFIX
from infoset.pommerman.game import MOVES, Pommerman, PommermanState
from infoset.pommerman.state_json import (
    SavedState,
    parse_object,
    read_saved,
    state_body,
    state_text,
    typed,
    write_state,
)  # fmt: skip
from infoset.pommerman.variants import VARIANTS

RESULTS = {st.WIN: (0, "Win"), st.TIE: (2, "Tie")}  # the reference's numbers and names


class RecordWarning(UserWarning):
    """A warning about parts of a recording that are not read."""


class _Result(msgspec.Struct, forbid_unknown_fields=True):
    id: int
    name: str
    winners: list[int] | None = None  # in logs of 2018


class _Record(msgspec.Struct, forbid_unknown_fields=True):
    agents: list[str]
    config: str
    state: list[dict[str, Any]]
    result: _Result | None = None
    winners: list[int] | None = None
    scores: list[float] | None = None  # in logs of 2018: payoffs, possibly repeated, 0 where nobody won
    finished_at: str = ""
    finished_unix: float = 0
    board_seed: int | None = None  # added by this library: the chance outcome, where it is not a position


def read_game(path: str | Path, game: Pommerman | None = None) -> Match:
    """Read the match that a ``game_state.json`` records; the chance outcome of its first step is the first position.

    The file's ``config`` names the variant, unless ``game`` is given, whose board chance must deal.  The logs of 2018
    may be wrapped (``{"blob": …}``) and may have one step more than the variant allows: such a game is read with one
    more in ``max_steps`` (801).  Unknown keys in a position are ignored with a ``RecordWarning``.

    Raises ``FormatError`` for files of more than ``infoset.files.MAX_TEXT_BYTES`` bytes, missing or repeated steps,
    unfinished games, and any difference from the rules; the error names the step and the first field that differs.

    >>> from tempfile import TemporaryDirectory
    >>> from infoset.match.playground_json import read_game, write_game
    >>> match = infoset.play_match("pommerman:OneVsOne-v0", ["random", "random"], seed=3)
    >>> with TemporaryDirectory() as folder:
    ...     read_game(write_game(match, f"{folder}/game_state.json")).returns == match.returns
    True
    """
    file = str(path)
    try:
        body = parse_object(read_text(Path(path)), MAX_TEXT_BYTES)
        record = typed(body["blob"] if body.keys() == {"blob"} else body, _Record)
    except json.JSONDecodeError as error:
        raise FormatError(f"not JSON: {error.msg}", file, error.lineno, error.colno) from None
    except FormatError:
        raise
    except (ValueError, RecursionError) as error:
        raise FormatError(shorten(str(error), 300), file) from None
    return _Replayed(record, game or _game(record, file), file).match()


def _game(record: _Record, file: str) -> Pommerman:
    """Return the variant that a record names, with one more step allowed where the record needs it."""
    try:
        name = parse_name(record.config)
        game = build("Pommerman variant", name, VARIANTS)
        if len(record.state) == game.config.max_steps + 2:  # in 2018 the end was checked before counting
            longer = {**dict(name.parameters), "max_steps": game.config.max_steps + 1}
            game = build("Pommerman variant", Name(name.word, tuple(longer.items())), VARIANTS)
        return game
    except (UnknownNameError, ParameterError, FormatError) as error:
        raise FormatError(f"config = {shorten(repr(record.config))}: {error}", file) from None


class _Replayed:
    """A record that is being replayed by the rules."""

    def __init__(self, record: _Record, game: Pommerman, file: str) -> None:
        self.record, self.game, self.file = record, game, file
        self.nobody = (None,) * len(game.players)
        self.steps: list[MatchStep] = []

    def match(self) -> Match:
        players = self.game.players
        if len(self.record.agents) != len(players):
            raise self.refuse(f"{len(self.record.agents)} agents; allowed: {len(players)}")
        first, *rest = self.saved()
        seed = self.record.board_seed
        answer = state_text(first.row, self.game.config) if seed is None else seed
        state = self.play(first, self.game.start().state, self.nobody, answer)
        for saved in rest:
            state = self.follow(state, saved)
        self.check_end(state)
        return Match(
            game=self.game.name, players=players, agents=tuple(self.record.agents), seed=0, seconds_per_move=None,
            returns=state.returns(), steps=tuple(self.steps),
        )  # fmt: skip

    def refuse(self, what: str) -> FormatError:
        return FormatError(shorten(what, 300), self.file)

    def saved(self) -> list[SavedState]:
        """Return the positions in the order of their steps.  Raises ``FormatError`` for a gap."""
        config, bodies = self.game.config, self.record.state
        if not 1 <= len(bodies) <= config.max_steps + 1:
            raise self.refuse(f"{len(bodies)} positions in state; allowed: 1 to {config.max_steps + 1}")
        extra: set[str] = set()
        found = [read_saved(body, config, self.file, f"state[{k}].", extra) for k, body in enumerate(bodies)]
        if extra:
            what = shorten(", ".join(sorted(extra)), 200)
            warnings.warn(f"{self.file}: ignored keys that positions do not have: {what}", RecordWarning, stacklevel=2)
        found.sort(key=lambda saved: int(saved.row[st.STEP]))
        for step, after in pairwise(int(saved.row[st.STEP]) for saved in found):
            if after != step + 1:
                raise self.refuse(f"the step after {step} is {after}; allowed: {step + 1}")
        return found

    def follow(self, state: PommermanState, saved: SavedState) -> PommermanState:
        """Play one step by the recorded actions."""
        step = saved.row[st.STEP]
        if state.terminal:
            raise self.refuse(f"step {step}: the game is over after step {step - 1}")
        actions = saved.intended_actions
        if not actions:
            raise self.refuse(f"step {step}: no intended_actions, without which no game can be played again")
        if len(actions) != len(self.game.players):
            raise self.refuse(f"step {step}: {len(actions)} intended_actions; allowed: {len(self.game.players)}")
        moves = [self.move(action) if state.legal_actions(k) else None for k, action in enumerate(actions)]
        return self.play(saved, state, moves, None)

    def move(self, action: int | list[int]) -> Action:
        """Convert a recorded action to a move; in radio a bare action sends no words, surplus words are dropped."""
        if isinstance(action, list):
            return tuple(action[: 1 + st.WORDS])
        return action if self.game.moves is MOVES else (action, *(0,) * st.WORDS)

    def play(
        self, saved: SavedState, state: State, moves: Sequence[Action | None], answer: Action | None
    ) -> PommermanState:
        """Play the step to a saved position.  Raises ``FormatError`` where the rules lead to another one."""
        try:
            after = state.play(moves, answer).state
        except IllegalActionError as error:
            raise self.refuse(f"step {saved.row[st.STEP]}: {error}") from None
        assert isinstance(after, PommermanState)
        found, expected = (state_body(row, self.game.config) for row in (saved.row, after.walled()))
        if found != expected:
            raise self.refuse(f"step {saved.row[st.STEP]}: {_difference(found, expected)}")
        self.steps.append(MatchStep(tuple(moves), answer, self.nobody))
        return after

    def check_end(self, state: PommermanState) -> None:
        if not state.terminal:
            raise self.refuse(f"the game is not over after step {state.row[st.STEP]}; allowed: complete games")
        for name, found, expected in self.claims(state):
            if found != expected:
                raise self.refuse(_difference(found, expected, name))

    def claims(self, state: PommermanState) -> Iterator[tuple[str, Any, Any]]:
        """Yield the record's statements about the result: field, value, and the value by the rules."""
        record, outcome = self.record, _outcome(state)
        winners = outcome.get("winners", [])
        if record.result is None and record.scores is None:
            raise self.refuse("missing required field `result`")
        if record.result is not None:
            yield "result", {"id": record.result.id, "name": record.result.name}, outcome["result"]
        inner = None if record.result is None else record.result.winners
        if inner is not None:
            yield "result.winners", inner, winners
        if record.winners is not None or (record.result is not None and inner is None):
            yield "winners", record.winners or [], winners
        if record.scores is not None:
            times, rest = divmod(len(record.scores), len(record.agents))
            one = list(state.returns()) if winners or any(record.scores) else [0.0] * len(record.agents)
            yield "scores", record.scores, one * (times + (rest > 0))


def _difference(found: Any, expected: Any, place: str = "") -> str:
    """Describe the first difference between two unequal values and its place."""
    if isinstance(found, list) and len(found) != len(expected):
        return f"{place} has {len(found)} entries, by the rules {len(expected)}"
    if isinstance(found, dict):
        key = next(key for key in expected if found[key] != expected[key])
        return _difference(found[key], expected[key], f"{place}.{key}" if place else key)
    if isinstance(found, list):
        k = next(k for k, (one, other) in enumerate(zip(found, expected, strict=True)) if one != other)
        return _difference(found[k], expected[k], f"{place}[{k}]")
    return f"{place} = {found}, by the rules {expected}"


def _outcome(state: PommermanState) -> dict[str, Any]:
    """Return the result as the reference has it, with the winners if there are any."""
    number, name = RESULTS[int(state.row[st.RESULT])]
    winners = [k for k, reward in enumerate(state.returns()) if reward == 1]
    return {"result": {"id": number, "name": name}} | ({"winners": winners} if winners else {})


def write_game(match: Match, path: str | Path, agents: Sequence[str] | None = None, game: Game | None = None) -> Path:
    """Write the reference's ``game_state.json`` of a match, after replaying and checking it.

    ``agents`` are the names to write instead of the match's; ``game`` is loaded by the match's name unless it is
    given.  Raises ``UnsupportedGameError`` for a game other than Pommerman and ``FormatError`` for a broken match.

    >>> from tempfile import TemporaryDirectory
    >>> from infoset.match.playground_json import write_game
    >>> match = infoset.play_match("pommerman:OneVsOne-v0", ["stop", "random"], seed=3)
    >>> with TemporaryDirectory() as folder:
    ...     write_game(match, f"{folder}/game_state.json").name
    'game_state.json'
    """
    game = _pommerman(match, game)
    positions = _positions(match, game)
    answer = match.steps[0].chance_outcome if match.steps else None
    body = {
        "agents": list(match.agents if agents is None else agents),
        "config": _rules_name(game),
        "finished_at": "",
        "state": [write_state(state.walled(), game.config, actions) for state, actions in positions],
        **({"board_seed": answer} if isinstance(answer, int) else {}),
        **_outcome(positions[-1][0]),
    }
    return _write(Path(path), body)


def _rules_name(game: Pommerman) -> str:
    """Return the variant's name with its rule parameters only; the start of play is given by the positions."""
    name = parse_name(game.name.removeprefix(PREFIX))
    return str(name._replace(parameters=tuple(pair for pair in name.parameters if pair[0] in PARAMETERS)))


def write_states(match: Match, folder: str | Path, game: Game | None = None) -> list[Path]:
    """Write every position of a match to its own file (``000.json``, ``001.json``, …), as the reference records it.

    Raises what ``write_game`` raises.
    """
    game = _pommerman(match, game)
    return [
        _write(Path(folder) / f"{state.row[st.STEP]:03d}.json", write_state(state.walled(), game.config, actions))
        for state, actions in _positions(match, game)
    ]


def _pommerman(match: Match, game: Game | None) -> Pommerman:
    game = load_game(match.game) if game is None else game
    if not isinstance(game, Pommerman):
        raise UnsupportedGameError(f"{shorten(match.game)} is not Pommerman; the reference's files hold no other game")
    return game


def _positions(match: Match, game: Pommerman) -> list[tuple[PommermanState, list[Any]]]:
    """Return every position with the joint action that led to it, none for the first; dead players play Stop."""
    actions: list[list[Any]] = [
        [],
        *([st.STOP if move is None else move for move in step.moves] for step in match.steps),
    ]
    states = zip(replay_states(match, game), actions, strict=True)
    found = [(state, moves) for state, moves in states if isinstance(state, PommermanState)]
    return [(found[0][0], []), *found[1:]]


def _write(path: Path, body: Any) -> Path:
    text = json.dumps(body, sort_keys=True, indent=4)
    return replace_file(path, lambda file: file.write(text.encode()))
