"""Positions as JSON: the reference's state files, whose values are JSON texts themselves, and a compact text.

All input is validated.  The lists and the drawn board must agree: every living agent, flame and bomb is drawn, an agent
over flames over a bomb, and nothing else of these kinds is.  The reference writes no other states.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

import msgspec

from infoset.errors import FormatError, shorten
from infoset.jit import kernel
from infoset_pommerman import state as st
from infoset_pommerman.config import LAST_STEP, MAX_BOMBS, Config, GameType
from infoset_pommerman.outcome import judge

SCHEMA = 1
MAX_TEXT = 1 << 20  # characters of one state; a burning board of 32 by 32 cells takes an eighth of this
MAX_COUNT = 100  # ammunition and blast strength, far beyond what can be picked up
MAX_LIFE = 1000  # of a bomb; one at or below zero keeps counting down until fire reaches it
DEFAULT_BLAST = 2  # the reference turns a loaded strength of 0 into this
STILL = (st.PASSAGE, st.RIGID, st.WOOD, st.EXTRA_BOMB, st.INCR_RANGE, st.KICK)  # values that no list repeats

Position: TypeAlias = tuple[int, int]
Drawn: TypeAlias = dict[int, tuple[int, str]]  # cell: the value required there, and the place that requires it
T = TypeVar("T")


class _Agent(msgspec.Struct, forbid_unknown_fields=True):
    agent_id: int
    is_alive: bool
    position: Position
    ammo: int
    blast_strength: int
    can_kick: bool


class _Bomb(msgspec.Struct, forbid_unknown_fields=True):
    position: Position
    bomber_id: int
    life: int
    blast_strength: int
    moving_direction: int | None


class _Flame(msgspec.Struct, forbid_unknown_fields=True):
    position: Position
    life: int


PARTS: dict[str, type[msgspec.Struct]] = {"agents": _Agent, "bombs": _Bomb, "flames": _Flame}


class _State(msgspec.Struct):
    board_size: int
    step_count: int
    board: list[list[int]]
    agents: list[_Agent]
    bombs: list[_Bomb]
    flames: list[_Flame]
    items: list[tuple[Position, int]]
    intended_actions: list[int | list[int]] = []
    collapses: list[int] | None = None
    radio_vocab_size: int | None = None
    radio_num_words: int | None = None
    radio_from_agent: dict[str, list[int]] | None = None
    schema: int = SCHEMA


class SavedState(NamedTuple):
    """The contents of a state file: a position, and the joint action that led to it (empty at the start)."""

    row: st.Row
    intended_actions: list[int | list[int]]


def read_state(source: str | Mapping[str, Any], config: Config, file: str = "") -> st.Row:
    """Read a position from a state's JSON text or its dictionary, whose values may be JSON texts themselves.

    The result and the rewards are judged from the position as it stands.

    Raises a ``FormatError`` that names ``file``, the place, the value and what is allowed for: texts of more than
    ``MAX_TEXT`` characters, another board size than the configuration's, anything off the board or out of range, lists
    that disagree with the drawn board, and positions from which more bombs or flames could arise than there is room
    for.  Allowed are: ammunition and strengths of 0 to ``MAX_COUNT`` (an agent's strength of 0 becomes 2, as in the
    reference), bombs without life (only fire sets them off), and dead agents anywhere on the board.

    >>> from infoset_pommerman.config import config
    >>> from infoset_pommerman.state_json import read_state, write_state
    >>> rules = config("OneVsOne-v0")
    >>> row = infoset.load("pommerman:OneVsOne-v0(seed=1)").start().state.row
    >>> bool((read_state(write_state(row, rules), rules) == row).all())
    True
    """
    return read_saved(source, config, file).row


def read_saved(
    source: str | Mapping[str, Any], config: Config, file: str = "", place: str = "", extra: set[str] | None = None
) -> SavedState:
    """Read a position as ``read_state`` does, together with the recorded actions.

    ``place`` is a prefix for the places named in messages, such as ``state[3].``.  Unknown keys are rejected unless
    ``extra`` is given, in which case they are added to it.
    """
    try:
        state = _decode(parse_object(source) if isinstance(source, str) else source, extra)
        return SavedState(_position(state, config), state.intended_actions)
    except json.JSONDecodeError as error:
        raise FormatError(f"{place}not JSON: {error.msg}", file, error.lineno, error.colno) from None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{place}{shorten(str(error), 300)}", file) from None


def write_state(row: st.Row, config: Config, intended_actions: Sequence[Any] = ()) -> dict[str, str]:
    """Return the reference's dictionary of a position, in which every value is a JSON text.

    ``intended_actions`` is the joint action that led to the position.

    >>> from infoset_pommerman.config import config
    >>> from infoset_pommerman.state_json import write_state
    >>> row = infoset.load("pommerman:OneVsOne-v0(seed=1)").start().state.row
    >>> write_state(row, config("OneVsOne-v0"))["board_size"]
    '8'
    """
    body = state_body(row, config)
    extra = {key: body.pop(key) for key in list(body) if key == "collapses" or key.startswith("radio_")}
    body |= {"intended_actions": list(intended_actions), **extra}
    return {key: json.dumps(value) for key, value in body.items()}


def state_text(row: st.Row, config: Config) -> str:
    """Return a position as one line of JSON that ``read_state`` reads back; equal positions give equal texts."""
    return json.dumps({"schema": SCHEMA, **state_body(row, config)}, separators=(",", ":"))


def state_body(row: st.Row, config: Config) -> dict[str, Any]:
    """Return a position as plain lists and numbers under the reference's keys; hidden items are listed row by row."""
    size, count = config.size, config.num_agents
    cells = config.size * config.size
    agents = row[st.AGENTS :][: count * st.AGENT_FIELDS].reshape(count, -1).tolist()
    bombs = row[st.BOMBS :][: row[st.NUM_BOMBS] * st.BOMB_FIELDS].reshape(-1, st.BOMB_FIELDS).tolist()
    flames = row[st.flames_at(size) :][: row[st.NUM_FLAMES] * st.FLAME_FIELDS].reshape(-1, st.FLAME_FIELDS).tolist()
    hidden = row[st.BOARD + cells : st.flames_at(size)].tolist()
    body: dict[str, Any] = {
        "board_size": size,
        "step_count": int(row[st.STEP]),
        "board": row[st.BOARD : st.BOARD + cells].reshape(size, size).tolist(),
        "agents": [
            {
                "agent_id": k, "is_alive": bool(alive), "position": [*divmod(cell, size)], "ammo": ammo,
                "blast_strength": blast, "can_kick": bool(kick),
            }
            for k, (alive, cell, ammo, blast, kick) in enumerate(agents)
        ],
        "bombs": [
            {
                "position": [*divmod(cell, size)], "bomber_id": owner, "life": life, "blast_strength": strength,
                "moving_direction": None if direction == st.STOP else direction,
            }
            for cell, owner, life, strength, direction in bombs
        ],
        "flames": [{"position": [*divmod(cell, size)], "life": life} for cell, life in flames],
        "items": [[[*divmod(cell, size)], item] for cell, item in enumerate(hidden) if item],
    }  # fmt: skip
    if config.collapses:
        body["collapses"] = list(config.collapses)
    if config.game_type == GameType.TEAM_RADIO:
        said = row[st.MESSAGES :][: count * st.WORDS].reshape(count, st.WORDS).tolist()
        body |= {
            "radio_vocab_size": config.vocabulary,
            "radio_num_words": st.WORDS,
            "radio_from_agent": {f"Agent{k}": words for k, words in enumerate(said)},
        }
    return body


def parse_object(text: str, limit: int = MAX_TEXT) -> dict[str, Any]:
    """Parse a JSON object of at most ``limit`` characters without duplicate keys.

    Raises ``ValueError`` (including ``json.JSONDecodeError``) or ``RecursionError``.
    """
    if len(text) > limit:
        raise ValueError(f"{len(text):,} characters; at most {limit:,} are read")
    found = _parse(text)
    if not isinstance(found, dict):
        raise ValueError(f"{shorten(repr(found))} is no JSON object")
    return found


def _parse(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_without_twins, parse_constant=_no_number)


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {shorten(key)!r} occurs twice")
        found[key] = value
    return found


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is not a JSON number")


def typed(body: object, kind: type[T]) -> T:
    """Convert ``body`` to a struct; raise ``ValueError`` with the place and the value that does not fit."""
    try:
        return msgspec.convert(body, kind)
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at ")
        path = path.strip("`$").partition("[...]")[0]  # the path does not name the key of a dictionary
        place, value = path.removeprefix("."), body
        for name, index in re.findall(r"\.(\w+)|\[(\d+)\]", path):
            value = value[name or int(index)]  # type: ignore[index]
        where = f"{place} = {shorten(repr(value))}: " if place else ""
        raise ValueError(where + what[0].lower() + what[1:]) from None


def _decode(source: Mapping[str, Any], extra: set[str] | None) -> _State:
    """Return the typed state; values that are texts are parsed as JSON first.

    Unknown keys are added to ``extra``; without it they raise ``ValueError``.
    """
    known = _State.__struct_fields__
    for key in source:
        if key not in known and extra is None:
            raise ValueError(f"the key {shorten(repr(key))} is unknown; known: {', '.join(known)}")
    body = {key: _inner(key, value) if isinstance(value, str) else value for key, value in source.items()}
    if extra is not None:
        body = _without(body, known, extra, "")
        for key, kind in PARTS.items():
            if isinstance(body.get(key), list):
                body[key] = [_without(part, kind.__struct_fields__, extra, f"{key}.") for part in body[key]]
    schema = body.get("schema", SCHEMA)
    if schema != SCHEMA:
        raise ValueError(f"schema = {shorten(repr(schema))}; this version reads {SCHEMA}, a newer infoset may read it")
    return typed(body, _State)


def _without(body: Any, known: Sequence[str], extra: set[str], place: str) -> Any:
    """Return an object with the known keys only and add the others to ``extra``."""
    if not isinstance(body, dict):
        return body
    extra.update(place + str(key) for key in body if key not in known)
    return {key: value for key, value in body.items() if key in known}


def _inner(key: str, text: str) -> Any:
    if len(text) > MAX_TEXT:
        raise ValueError(f"{key} has {len(text):,} characters; at most {MAX_TEXT:,} are read")
    try:
        return _parse(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{key} = {shorten(repr(text), 40)}: not JSON: {error}") from None


def _position(state: _State, config: Config) -> st.Row:
    """Check a state and return its row; raise ``ValueError`` if it is invalid."""
    size = config.size
    _check("board_size", state.board_size, size, size)
    _check("step_count", state.step_count, 0, LAST_STEP)
    _check_variant(state, config)
    row: st.Row = st.empty_rows(1, config)[0]
    row[st.STEP] = state.step_count
    _fill_agents(row, state.agents, config)
    _fill_bombs(row, state.bombs, config)
    _fill_flames(row, state.flames, config)
    _fill_board(row, state, config)
    _fill_items(row, state.items, size)
    for k, words in enumerate(_messages(state, config)):
        row[st.MESSAGES + k * st.WORDS :][: st.WORDS] = words
    judge_position(row, config)
    return row


def judge_position(row: st.Row, config: Config) -> None:
    """Write the result and the rewards of a position into its row, judged as it stands."""
    _judge(row, int(config.game_type), config.num_agents, config.max_steps)


@kernel
def _judge(row, game_type, num_agents, max_steps):
    judge(row, game_type, num_agents, max_steps)


def _check(place: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        allowed = f"{low} to {high}" if low < high else low
        raise ValueError(f"{place} = {shorten(str(value))}; allowed: {allowed}")


def _check_variant(state: _State, config: Config) -> None:
    """Raise ``ValueError`` where a file changes collapsing walls or radio, which it may only repeat."""
    radio = config.game_type == GameType.TEAM_RADIO
    for name, value, own in (
        ("collapses", state.collapses, list(config.collapses)),
        ("radio_vocab_size", state.radio_vocab_size, config.vocabulary if radio else None),
        ("radio_num_words", state.radio_num_words, st.WORDS if radio else None),
    ):
        if value is not None and value != own:
            raise ValueError(f"{name} = {shorten(repr(value))}; allowed in this variant: {own or 'nothing'}")


def _cell(place: str, position: Position, size: int) -> int:
    for k, value in enumerate(position):
        _check(f"{place}[{k}]", value, 0, size - 1)
    return position[0] * size + position[1]


def _fill_agents(row: st.Row, agents: list[_Agent], config: Config) -> None:
    ids = [agent.agent_id for agent in agents]
    if sorted(ids) != list(range(config.num_agents)):
        raise ValueError(f"agents have the ids {shorten(str(ids))}; allowed: 0 to {config.num_agents - 1}, each once")
    for k, agent in enumerate(agents):
        cell = _cell(f"agents[{k}].position", agent.position, config.size)
        _check(f"agents[{k}].ammo", agent.ammo, 0, MAX_COUNT)
        _check(f"agents[{k}].blast_strength", agent.blast_strength, 0, MAX_COUNT)
        strength = agent.blast_strength or DEFAULT_BLAST
        row[st.AGENTS + agent.agent_id * st.AGENT_FIELDS :][:st.AGENT_FIELDS] = (
            agent.is_alive, cell, agent.ammo, strength, agent.can_kick,
        )  # fmt: skip


def _fill_bombs(row: st.Row, bombs: list[_Bomb], config: Config) -> None:
    _check("number of bombs", len(bombs), 0, MAX_BOMBS)
    for k, bomb in enumerate(bombs):
        place = f"bombs[{k}]"
        cell = _cell(f"{place}.position", bomb.position, config.size)
        _check(f"{place}.bomber_id", bomb.bomber_id, 0, config.num_agents - 1)
        _check(f"{place}.life", bomb.life, -MAX_LIFE - int(row[st.STEP]), MAX_LIFE)
        _check(f"{place}.blast_strength", bomb.blast_strength, 0, MAX_COUNT)
        if bomb.moving_direction is not None:
            _check(f"{place}.moving_direction", bomb.moving_direction, st.UP, st.RIGHT)
        row[st.BOMBS + k * st.BOMB_FIELDS :][:st.BOMB_FIELDS] = (
            cell, bomb.bomber_id, bomb.life, bomb.blast_strength, bomb.moving_direction or st.STOP,
        )  # fmt: skip
    row[st.NUM_BOMBS] = len(bombs)
    stay = [bomb.life if bomb.life > 0 else LAST_STEP for bomb in bombs]
    _check_room("bombs", stay, config.num_agents, config.fuse, MAX_BOMBS)


def _fill_flames(row: st.Row, flames: list[_Flame], config: Config) -> None:
    start, room = int(st.flames_at(config.size)), (config.flame_life + 1) * config.size**2
    _check("number of flames", len(flames), 0, room)
    for k, flame in enumerate(flames):
        cell = _cell(f"flames[{k}].position", flame.position, config.size)
        _check(f"flames[{k}].life", flame.life, 0, config.flame_life)
        row[start + k * st.FLAME_FIELDS :][: st.FLAME_FIELDS] = cell, flame.life
    row[st.NUM_FLAMES] = len(flames)
    stay = [flame.life + 1 for flame in flames]
    _check_room("flames", stay, config.size * config.size, config.flame_life + 1, room)


def _check_room(what: str, stay: list[int], rate: int, span: int, room: int) -> None:
    """Check that there is always room for ``stay``, the remaining steps of the listed things, and new ones.

    ``rate`` new things appear in every step and stay for ``span`` steps.  Whatever can be reached from a new game
    passes.
    """
    most = max(sum(steps > t for steps in stay) + rate * min(t, span) for t in range(span + 1))
    if most > max(room, rate * span):
        raise ValueError(f"{len(stay)} {what} of that duration could become {most} with new ones; allowed: {room}")


def _fill_board(row: st.Row, state: _State, config: Config) -> None:
    """Fill in the drawn board, which must show what is listed and nothing else of these kinds."""
    size = config.size
    _check("number of rows of board", len(state.board), size, size)
    drawn = _drawn(state, size)
    for r, line in enumerate(state.board):
        _check(f"number of columns of board[{r}]", len(line), size, size)
        for c, value in enumerate(line):
            expected, place = drawn.get(r * size + c, (None, ""))
            if value not in (STILL if expected is None else (expected,)):
                why = f"{expected}, as {place} is there" if place else f"{STILL}, but none is listed there"
                raise ValueError(f"board[{r}][{c}] = {shorten(str(value))}; allowed: {why}")
            row[st.BOARD + r * size + c] = value


def _drawn(state: _State, size: int) -> Drawn:
    """Return the value that the board must show in each cell with a listed thing, and the place that requires it."""
    bombs: Drawn = {}
    for k, bomb in enumerate(state.bombs):
        _put(bombs, bomb.position, size, st.BOMB, f"bombs[{k}]")
    flames = {f.position[0] * size + f.position[1]: (st.FLAMES, f"flames[{k}]") for k, f in enumerate(state.flames)}
    agents: Drawn = {}
    for k, agent in enumerate(state.agents):
        if agent.is_alive:
            _put(agents, agent.position, size, st.AGENT + agent.agent_id, f"agents[{k}]")
    return bombs | flames | agents


def _put(drawn: Drawn, position: Position, size: int, value: int, place: str) -> None:
    cell = position[0] * size + position[1]
    if cell in drawn:
        raise ValueError(f"{place}.position = {[*position]}; allowed: one cell each, {drawn[cell][1]} is there")
    drawn[cell] = value, place


def _fill_items(row: st.Row, items: list[tuple[Position, int]], size: int) -> None:
    """Fill in hidden items, each alone under wood or under flames that burnt it."""
    hidden = st.BOARD + size * size
    for k, (position, item) in enumerate(items):
        cell = _cell(f"items[{k}][0]", position, size)
        _check(f"items[{k}][1]", item, st.EXTRA_BOMB, st.KICK)
        if row[hidden + cell]:
            raise ValueError(f"items[{k}][0] = {[*position]}; allowed: one item a cell, another is there")
        if row[st.BOARD + cell] not in (st.WOOD, st.FLAMES):
            raise ValueError(
                f"items[{k}][0] = {[*position]}; allowed: under wood ({st.WOOD}) or flames ({st.FLAMES}), "
                f"the board shows {row[st.BOARD + cell]}"
            )
        row[hidden + cell] = item


def _messages(state: _State, config: Config) -> list[list[int]]:
    """Return each agent's last words; an empty list where the file has none."""
    said = state.radio_from_agent
    if said is None:
        return []
    names = [f"Agent{k}" for k in range(config.num_agents)] if config.game_type == GameType.TEAM_RADIO else []
    if sorted(said) != names:
        raise ValueError(f"radio_from_agent has {shorten(str(sorted(said)))}; allowed in this variant: {names}")
    for name in names:
        _check(f"number of words of radio_from_agent.{name}", len(said[name]), st.WORDS, st.WORDS)
        for k, word in enumerate(said[name]):
            _check(f"radio_from_agent.{name}[{k}]", word, 0, config.vocabulary)
    return [said[name] for name in names]
