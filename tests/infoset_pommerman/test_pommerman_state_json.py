"""State files and whole recorded games of the reference, to positions and replays and back; and what is refused."""

from __future__ import annotations

import copy
import json
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from command_line import run_infoset as run
from infoset import Match, load, play_match, replay_states, testing
from infoset.cli import run_command
from infoset.errors import FormatError, GameRuleError, IllegalActionError, ParameterError, UnsupportedGameError
from infoset_pommerman import state as st
from infoset_pommerman.config import CONFIGS, PREFIX, Config
from infoset_pommerman.game import Pommerman, PommermanState
from infoset_pommerman.observation import observations
from infoset_pommerman.playground_json import read_game, write_game, write_states
from infoset_pommerman.state_json import MAX_TEXT, read_state, state_body, state_text, write_state
from pommerman_golden import KINDS, config_of, games, to_row

FFA, DUEL, RADIO, WALLS = "PommeFFACompetition-v0", "OneVsOne-v0", "PommeRadio-v2", "PommeFFA-v1"
NOBODY = (None,) * 4
SHORT = 40  # steps of the recorded games that are read in every run


@cache
def recorded(shared: Path, kind: str) -> list[dict[str, Any]]:
    """The recorded games without what agents saw."""
    found = list(games(shared, kind))
    for game in found:
        game.pop("obs0", None)
        for step in game["steps"]:
            step.pop("obs", None)
    return found


def name_of(game: dict[str, Any]) -> Pommerman:
    """The game that a recording was played by."""
    return Pommerman(PREFIX + game["env"], config_of(game))


@cache
def middle(variant: str = FFA) -> str:
    """A position in the middle of a game: bombs at rest and rolling, flames, items hidden and seen, a dead agent."""
    board = [[0] * 11 for _ in range(11)]
    board[0][0:4] = [1, 2, 2, 6]
    board[4][4:7] = [4, 4, 4]
    board[7][2], board[8][2], board[9][9], board[2][9], board[1][1] = 3, 3, 10, 11, 12
    agents = [[9, 9, True], [2, 9, True], [1, 1, True], [5, 5, False]]
    body = {
        "board_size": 11, "step_count": 77, "board": board,
        "agents": [
            {"agent_id": k, "is_alive": alive, "position": [r, c], "ammo": k, "blast_strength": 2 + k, "can_kick": k == 1}
            for k, (r, c, alive) in enumerate(agents)
        ],
        "bombs": [
            {"position": [7, 2], "bomber_id": 0, "life": 4, "blast_strength": 3, "moving_direction": None},
            {"position": [8, 2], "bomber_id": 3, "life": 1, "blast_strength": 2, "moving_direction": 4},
            {"position": [9, 9], "bomber_id": 0, "life": 9, "blast_strength": 2, "moving_direction": None},
        ],
        "flames": [{"position": [4, c], "life": life} for c, life in ((4, 0), (5, 2), (6, 1), (5, 1))],
        "items": [[[0, 1], 7], [[4, 4], 8]],
    }  # fmt: skip
    if variant == RADIO:
        words = {f"Agent{k}": [k, 7 - k] for k in range(4)}
        body |= {"radio_vocab_size": 8, "radio_num_words": 2, "radio_from_agent": words}
    return json.dumps(body)


def body_of(variant: str = FFA) -> dict[str, Any]:
    """``middle`` as a dictionary to spoil."""
    return json.loads(middle(variant))


# ------------------------------------------------------------------------------------------------------ states


@pytest.mark.parametrize("kind", KINDS)
def test_recorded_states_load_and_are_written_as_they_were(kind: str, shared: Path) -> None:
    """Values, their order and their spelling; only hidden items, which a dictionary held, come in our order."""
    found = recorded(shared, kind)
    for game in found[:: 1 + len(found) // 100]:
        config, init = config_of(game), game["init"]
        row = read_state(init, config)
        assert (row[: st.STEP + 1] == game["s0"]["n"]).all()
        assert state_body(row, config) == state_body(to_row(game["s0"], config), config)
        assert list(write_state(row, config)) == list(init)
        by_cell = json.dumps(sorted(json.loads(init["items"])))
        assert write_state(row, config) == {**init, "items": by_cell}
        assert (read_state({key: json.loads(value) for key, value in init.items()}, config) == row).all()
        assert (read_state(json.dumps(init, indent=4), config) == row).all()
        assert (read_state(state_text(row, config), config) == row).all()


@pytest.mark.parametrize("kind", KINDS)
def test_positions_of_recorded_games_survive(kind: str, shared: Path) -> None:
    for game in recorded(shared, kind)[::11]:
        config = config_of(game)
        for played in game["steps"][::17]:
            row = to_row(played["s"], config)
            again = read_state(write_state(row, config, played["act"]), config)
            assert state_body(again, config) == state_body(row, config)


def test_words_are_kept() -> None:
    row = read_state(middle(RADIO), CONFIGS[RADIO])
    assert row[st.MESSAGES : st.BOMBS].tolist() == [0, 7, 1, 6, 2, 5, 3, 4]
    assert json.loads(write_state(row, CONFIGS[RADIO])["radio_from_agent"])["Agent3"] == [3, 4]


def test_a_loaded_strength_of_nothing_is_the_default() -> None:
    body = body_of()
    body["agents"][2]["blast_strength"] = 0
    row = read_state(body, CONFIGS[FFA])
    assert row[st.AGENTS + 2 * st.AGENT_FIELDS + st.BLAST] == 2


def test_agents_may_stand_in_any_order() -> None:
    body = body_of()
    body["agents"].reverse()
    assert (read_state(body, CONFIGS[FFA]) == read_state(middle(), CONFIGS[FFA])).all()


def test_bombs_without_life_go_off_by_fire_alone() -> None:
    body = body_of()
    body["bombs"][0]["life"] = 0
    body["bombs"][1] |= {"life": 30, "moving_direction": None}
    state = Pommerman("dud", CONFIGS[FFA], state=json.dumps(body)).start().state
    for lived in range(1, 30):
        state = state.play(tuple(0 if state.legal_actions(k) else None for k in range(4))).state
        seen = observations(state.row, state.game.config)[0]["bomb_life"]
        assert seen[7, 2] == -lived
    last = state.play(tuple(0 if state.legal_actions(k) else None for k in range(4))).state
    assert last.row[st.NUM_BOMBS] == 0  # the other one's blast


def test_a_state_that_is_over_is_judged() -> None:
    body = body_of()
    for k in (1, 2):
        body["agents"][k]["is_alive"] = False
    body["board"][2][9] = body["board"][1][1] = 0
    won = Pommerman("won", CONFIGS[FFA], state=json.dumps(body)).start().state
    assert won.terminal
    assert won.returns() == (1.0, -1.0, -1.0, -1.0)
    late = Pommerman("late", CONFIGS[FFA], state=json.dumps({**body_of(), "step_count": 800})).start().state
    assert late.terminal
    assert late.returns() == (-1.0,) * 4
    running = Pommerman("running", CONFIGS[FFA], state=middle()).start().state
    assert not running.terminal
    assert running.returns() == (0.0, 0.0, 0.0, -1.0)  # as in the reference, the dead of a free-for-all
    assert running.legal_actions(3) == ()


# ------------------------------------------------------------------------------------------------ hostile states

Spoil = Callable[[dict[str, Any]], object]


def bomb(**changes: Any) -> dict[str, Any]:
    return {"position": [7, 2], "bomber_id": 0, "life": 4, "blast_strength": 3, "moving_direction": None} | changes


def steps_of(path: str) -> list[Any]:
    return [int(key) if key.lstrip("-").isdecimal() else key for key in path.split(".")]


def put(path: str, value: object) -> Spoil:
    """Sets the value at a path like ``bombs.0.life``."""

    def spoil(body: dict[str, Any]) -> None:
        *way, last = steps_of(path)
        at: Any = body
        for key in way:
            at = at[key]
        at[last] = value

    return spoil


def drop(path: str) -> Spoil:
    def spoil(body: dict[str, Any]) -> None:
        *way, last = steps_of(path)
        at: Any = body
        for key in way:
            at = at[key]
        del at[last]

    return spoil


def add(path: str, *values: object) -> Spoil:
    return lambda body: body[path].extend(values)


HOSTILE: list[tuple[Spoil, str]] = [
    (put("board_size", 8), "board_size = 8; allowed: 11"),
    (put("board_size", "eleven"), "board_size = 'eleven': not JSON"),
    (put("board_size", "11, \"x\": 1"), "board_size = '11, \"x\": 1': not JSON"),
    (put("step_count", -1), "step_count = -1; allowed: 0 to 30000"),
    (put("step_count", 40_000), "step_count = 40000"),
    (put("step_count", 10**30), "step_count = 1000000"),
    (put("step_count", 7.0), "step_count = 7.0: expected `int`, got `float`"),
    (put("step_count", True), "step_count = True: expected `int`"),
    (put("step_count", "NaN"), "NaN is not a JSON number"),
    (put("step_count", None), "step_count = None"),
    (drop("board"), "missing required field `board`"),
    (drop("board.3"), "number of rows of board = 10; allowed: 11"),
    (drop("board.3.3"), r"columns of board\[3\] = 10; allowed: 11"),
    (put("board", [[0] * 1000] * 1000), "number of rows of board = 1000|board has 3,002,000 characters; at most 1,048,576 are read"),
    (put("board", []), "number of rows of board = 0"),
    (put("board.3.3", 5), r"board\[3\]\[3\] = 5; allowed: \(0, 1, 2, 6, 7, 8\)"),
    (put("board.3.3", 9), r"board\[3\]\[3\] = 9"),
    (put("board.3.3", 14), r"board\[3\]\[3\] = 14"),
    (put("board.3.3", -1), r"board\[3\]\[3\] = -1"),
    (put("board.3.3", 70_000), r"board\[3\]\[3\] = 70000"),
    (put("board.3.3", "0"), r"board\[3\]\[3\] = '0': expected `int`, got `str`"),
    (put("board.3.3", 3), r"board\[3\]\[3\] = 3; .* none is listed there"),
    (put("board.3.3", 4), r"board\[3\]\[3\] = 4; .* none is listed there"),
    (put("board.3.3", 13), r"board\[3\]\[3\] = 13; .* none is listed there"),
    (put("board.9.9", 1), r"board\[9\]\[9\] = 1; allowed: 10, as agents\[0\] is there"),
    (put("board.9.9", 11), r"board\[9\]\[9\] = 11; allowed: 10"),
    (put("board.9.9", 3), r"board\[9\]\[9\] = 3; allowed: 10"),
    (put("board.7.2", 1), r"board\[7\]\[2\] = 1; allowed: 3, as bombs\[0\] is there"),
    (put("board.7.2", 2), r"board\[7\]\[2\] = 2; allowed: 3"),
    (put("board.4.6", 0), r"board\[4\]\[6\] = 0; allowed: 4, as flames\[2\] is there"),
    (put("agents", {}), "agents = {}: expected `array`"),
    (put("agents", []), r"agents have the ids \[\]; allowed: 0 to 3, each once"),
    (drop("agents.1"), r"agents have the ids \[0, 2, 3\]"),
    (put("agents.1.agent_id", 0), r"agents have the ids \[0, 0, 2, 3\]"),
    (put("agents.1.agent_id", 4), r"agents have the ids \[0, 4, 2, 3\]"),
    (lambda b: b["agents"].append(dict(b["agents"][0], agent_id=4)), r"the ids \[0, 1, 2, 3, 4\]"),
    (put("agents.1.is_alive", 1), r"agents\[1\].is_alive = 1: expected `bool`"),
    (put("agents.1.position", [2, 11]), r"agents\[1\].position\[1\] = 11; allowed: 0 to 10"),
    (put("agents.1.position", [-1, 9]), r"agents\[1\].position\[0\] = -1"),
    (put("agents.1.position", [2]), r"agents\[1\].position = \[2\]: expected `array` of length 2"),
    (put("agents.1.position", [2, 9.0]), r"agents\[1\].position\[1\] = 9.0: expected `int`"),
    (put("agents.1.position", [9, 9]), r"agents\[1\].position = \[9, 9\]; .* agents\[0\] is there"),
    (put("agents.3.position", [99, 0]), r"agents\[3\].position\[0\] = 99"),
    (put("agents.0.position", [0, 0]), r"board\[0\]\[0\] = 1; allowed: 10, as agents\[0\] is there"),
    (put("agents.1.ammo", -1), r"agents\[1\].ammo = -1; allowed: 0 to 100"),
    (put("agents.1.ammo", 40_000), r"agents\[1\].ammo = 40000"),
    (put("agents.1.blast_strength", -2), r"agents\[1\].blast_strength = -2"),
    (put("agents.1.blast_strength", 101), r"agents\[1\].blast_strength = 101; allowed: 0 to 100"),
    (put("agents.1.can_kick", "true"), r"agents\[1\].can_kick = 'true': expected `bool`"),
    (drop("agents.1.can_kick"), r"agents\[1\] = .*missing required field `can_kick`"),
    (put("agents.1.hat", 1), r"agents\[1\] = .*unknown field `hat`"),
    (put("bombs", [bomb()] * 100_000), "number of bombs = 100000; allowed: 0 to 64|bombs has 9,600,000 characters"),
    (put("bombs", [None] * 100_000), r"bombs\[0\] = None"),
    (add("bombs", bomb()), r"bombs\[3\].position = \[7, 2\]; allowed: one cell each, bombs\[0\] is there"),
    (put("bombs.0.position", [7, 11]), r"bombs\[0\].position\[1\] = 11"),
    (put("bombs.0.position", [0, 0]), r"board\[0\]\[0\] = 1; allowed: 3, as bombs\[0\] is there"),
    (put("bombs.0.bomber_id", 4), r"bombs\[0\].bomber_id = 4; allowed: 0 to 3"),
    (put("bombs.0.life", 1001), r"bombs\[0\].life = 1001; allowed: -1077 to 1000"),
    (put("bombs.0.life", -40_000), r"bombs\[0\].life = -40000"),
    (put("bombs.0.life", 3.5), r"bombs\[0\].life = 3.5: expected `int`, got `float`"),
    (put("bombs.0.blast_strength", -1), r"bombs\[0\].blast_strength = -1"),
    (put("bombs.0.moving_direction", 0), r"bombs\[0\].moving_direction = 0; allowed: 1 to 4"),
    (put("bombs.0.moving_direction", 5), r"bombs\[0\].moving_direction = 5; allowed: 1 to 4"),
    (put("bombs.0.moving_direction", False), r"bombs\[0\].moving_direction = False"),
    (drop("bombs.0.life"), r"bombs\[0\] = .*missing required field `life`"),
    (put("flames", [{"position": [0, 0], "life": 1}] * 364), "number of flames = 364; allowed: 0 to 363"),
    (put("flames.0.position", [4, -1]), r"flames\[0\].position\[1\] = -1"),
    (put("flames.0.life", 3), r"flames\[0\].life = 3; allowed: 0 to 2"),
    (put("flames.0.life", -1), r"flames\[0\].life = -1"),
    (put("flames.0.life", "2"), r"flames\[0\].life = '2'"),
    (add("flames", {"position": [9, 0], "life": 1}), r"board\[9\]\[0\] = 0; allowed: 4, as flames\[4\] is there"),
    (add("flames", *[{"position": [4, 4], "life": 2}] * 200), "204 flames of that duration could become"),
    (add("items", [[0, 1], 6]), r"items\[2\]\[0\] = \[0, 1\]; allowed: one item a cell"),
    (add("items", [[0, 4], 6]), r"items\[2\]\[0\] = \[0, 4\]; allowed: under wood \(2\) or flames \(4\)"),
    (add("items", [[0, 0], 6]), r"items\[2\]\[0\] = \[0, 0\]; .* shows 1"),
    (add("items", [[0, 11], 6]), r"items\[2\]\[0\]\[1\] = 11"),
    (add("items", [[0, 2], 9]), r"items\[2\]\[1\] = 9; allowed: 6 to 8"),
    (add("items", [[0, 2]]), r"items\[2\] = \[\[0, 2\]\]: expected `array` of length 2"),
    (put("items", {"0": 1}), "items = {'0': 1}: expected `array`"),
    (put("intended_actions", [[[[]]]]), r"intended_actions\[0\]\[0\] = \[\[\]\]"),
    (put("intended_actions", "[" * 100_000), "intended_actions = '.*: not JSON"),
    (put("collapses", [500, 575, 650, 725]), r"collapses = \[500, 575, 650, 725\]; allowed in this variant: nothing"),
    (put("radio_vocab_size", 8), "radio_vocab_size = 8; allowed in this variant: nothing"),
    (put("radio_from_agent", {"Agent0": [0, 0]}), r"radio_from_agent has \['Agent0'\]; allowed in this variant: \[\]"),
    (put("schema", 2), "schema = 2; this version reads 1, a newer infoset may read it"),
    (put("schema", [1]), r"schema = \[1\]"),
    (put("version", 99), "the key 'version' is unknown; known: board_size"),
    (put("__class__", "x"), "the key '__class__' is unknown"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "words"), HOSTILE)
@pytest.mark.parametrize("double", [False, True], ids=["plain", "double"])
def test_hostile_states_are_refused_with_the_place(spoil: Spoil, words: str, double: bool) -> None:
    body = body_of()
    spoil(body)
    if double:
        body = {key: value if isinstance(value, str) else json.dumps(value) for key, value in body.items()}
    with pytest.raises(FormatError, match=words) as caught:
        read_state(body, CONFIGS[FFA], "007.json")
    message = str(caught.value)
    assert message.startswith("007.json: ")
    assert "\n" not in message
    assert len(message) < 400


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (put("radio_vocab_size", 9), "radio_vocab_size = 9; allowed in this variant: 8"),
        (put("radio_num_words", 1), "radio_num_words = 1"),
        (put("radio_from_agent", {}), r"radio_from_agent has \[\]; allowed in this variant: \['Agent0',"),
        (put("radio_from_agent.Agent4", [0, 0]), "radio_from_agent has"),
        (put("radio_from_agent.Agent1", [0]), "number of words of radio_from_agent.Agent1 = 1; allowed: 2"),
        (put("radio_from_agent.Agent1", [0, 9]), r"radio_from_agent.Agent1\[1\] = 9; allowed: 0 to 8"),
        (put("radio_from_agent.Agent1", [0, -1]), r"radio_from_agent.Agent1\[1\] = -1"),
        (put("radio_from_agent.Agent1", [0, 1.5]), "radio_from_agent"),
    ],
)
def test_hostile_radio_is_refused(spoil: Spoil, words: str) -> None:
    body = body_of(RADIO)
    spoil(body)
    with pytest.raises(FormatError, match=words):
        read_state(body, CONFIGS[RADIO])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("null", "None is no JSON object"),
        ("[]", r"\[\] is no JSON object"),
        ("{", "s.json:1:2: not JSON"),
        ("[" * MAX_TEXT, "recursion"),
        ('{"board":' * 100_000, "recursion"),
        (" " * (MAX_TEXT + 1), "1,048,577 characters; at most 1,048,576 are read"),
        ('{"step_count": 1, "step_count": 2}', "the key 'step_count' occurs twice"),
        ('{"agents": [{"ammo": 1, "ammo": 2}]}', "the key 'ammo' occurs twice"),
        ('{"step_count": NaN}', "NaN is not a JSON number"),
        ('{"step_count": -Infinity}', "-Infinity is not a JSON number"),
        ('{"step_count": 1e999}', "missing required|step_count = inf"),
        ('{"step_count": ' + "9" * 5000 + "}", "digits"),
        ('{"board_size": 11}\0', "not JSON"),
        (b"\xff\xfe".decode("latin-1"), "not JSON"),
    ],
)
def test_hostile_texts_are_refused(text: str, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        read_state(text, CONFIGS[FFA], "s.json")


def test_more_bombs_than_there_could_be_room_for_are_refused() -> None:
    """Sixty bombs with a step to live leave room for those that can be laid meanwhile; with more they do not."""

    def crowd(life: int) -> dict[str, Any]:
        body = body_of()
        cells = [(r, c) for r in range(11) for c in range(11) if body["board"][r][c] == 0][:57]
        body["bombs"] += [bomb(position=cell, life=life) for cell in cells]
        for r, c in cells:
            body["board"][r][c] = 3
        return body

    assert read_state(crowd(1), CONFIGS[FFA])[st.NUM_BOMBS] == 60
    with pytest.raises(FormatError, match="60 bombs of that duration could become 93 with new ones; allowed: 64"):
        read_state(crowd(0), CONFIGS[FFA])


CORPUS = [(FFA, middle(FFA)), (RADIO, middle(RADIO))]
NASTY = some.one_of(
    some.none(), some.booleans(), some.integers(-3, 14), some.sampled_from([2**15, -(2**15) - 1, 2**63, 10**40, 1e308]),
    some.floats(), some.text(max_size=3), some.lists(some.integers(-1, 11), max_size=3),
    some.dictionaries(some.sampled_from(["life", "position", "x"]), some.integers(-1, 11), max_size=2),
    some.sampled_from(["[" * 5000, "NaN", '"x"', "1e400", "[[1,2],3]"]),
)  # fmt: skip


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value inside."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in inside:
        yield (*way, key)
        yield from places(child, (*way, key))


@some.composite
def spoilt(draw: some.DrawFn) -> tuple[str, dict[str, Any]]:
    """A valid state with up to three values replaced, removed or doubled; sometimes encoded once more."""
    variant, text = draw(some.sampled_from(CORPUS))
    body = json.loads(text)
    for _ in range(draw(some.integers(1, 3))):
        key = draw(some.sampled_from(sorted(body)))
        ways = [(key,), *places(body[key], (key,))]
        way = draw(some.sampled_from(ways))
        at = body
        for step in way[:-1]:
            at = at[step]
        how = draw(some.sampled_from(["replace", "remove", "double"]))
        if how == "replace":
            at[way[-1]] = draw(NASTY)
        elif how == "remove":
            del at[way[-1]]
        elif isinstance(at, list):
            at.append(copy.deepcopy(at[way[-1]]))
    if draw(some.booleans()):
        body = {key: json.dumps(value) for key, value in body.items()}
    return variant, body


def survives(source: Any, variant: str) -> None:
    """Refused by a ``FormatError``, or a position that plays, is seen and is written again."""
    config = CONFIGS[variant]
    try:
        row = read_state(source, config)
    except FormatError:
        return
    assert (read_state(state_text(row, config), config) == row).all()
    state: Any = PommermanState(Pommerman("spoilt", config), row)
    rng = np.random.default_rng(0)
    for _ in range(12):
        if state.terminal:
            break
        action_sets = [state.legal_actions(k) for k in range(4)]
        moves = tuple(
            action_set[int(rng.integers(len(action_set)))] if action_set else None for action_set in action_sets
        )
        state = state.play(moves, state.draw(moves, rng)).state
        assert len(observations(state.row, config)) == 4
        assert state_body(read_state(state_text(state.row, config), config), config) == state_body(state.row, config)


def check_spoilt(case: tuple[str, dict[str, Any]]) -> None:
    variant, body = case
    survives(body, variant)
    survives(json.dumps(body), variant)


FUZZ = settings(derandomize=True, suppress_health_check=list(HealthCheck))


@settings(FUZZ, max_examples=100)
@given(spoilt())
def test_spoilt_states_are_refused_or_play(case: tuple[str, dict[str, Any]]) -> None:
    check_spoilt(case)


@pytest.mark.slow
@settings(FUZZ, max_examples=10_000)
@given(spoilt())
def test_many_spoilt_states_are_refused_or_play(case: tuple[str, dict[str, Any]]) -> None:
    check_spoilt(case)


@settings(FUZZ, max_examples=100)
@given(some.sampled_from(CORPUS), some.integers(0), some.integers(0, 30), some.text(max_size=8))
def test_damaged_texts_are_refused_or_play(case: tuple[str, str], at: int, cut: int, patch: str) -> None:
    variant, text = case
    at %= len(text)
    survives(text[:at] + patch + text[at + cut :], variant)


# --------------------------------------------------------------------------------- games that begin in a state


def test_nature_may_answer_with_a_position() -> None:
    start = load(PREFIX + FFA).start().state
    step = start.play(NOBODY, middle())
    assert step.state == Pommerman(PREFIX + FFA, CONFIGS[FFA], state=middle()).start().state
    assert step.observation(0) is not None
    again = state_text(step.state.row, CONFIGS[FFA])
    assert start.play(NOBODY, again).state == step.state
    assert isinstance(start.draw(NOBODY, np.random.default_rng(1)), int)
    crowd = middle().replace('"bombs": [', '"bombs": [' + (json.dumps(bomb()) + ",") * 1_000_000)
    for answer, words in (
        (crowd, "chance's answer: .* at most"),
        ("{}", "missing required"),
        (True, "a position as text"),
    ):
        with pytest.raises(IllegalActionError, match=words):
            start.play(NOBODY, answer)


@pytest.mark.parametrize("variant", [FFA, RADIO])
def test_a_game_from_a_state_file_conforms(variant: str, tmp_path: Path) -> None:
    file = tmp_path / "077.json"
    file.write_text(middle(variant))
    game = load(f"{PREFIX}{variant}(state={file})")
    testing.check_game(game, plays=3)
    same = load(f'{PREFIX}{variant}(state="{file}")')
    assert game == same
    assert hash(game) == hash(same)
    assert pickle.loads(pickle.dumps(game)) == game
    assert game != load(PREFIX + variant)
    assert load(game.name) == game
    match = play_match(game.name, ["random"] * 4, seed=1)
    assert replay_states(Match.load(match.save(tmp_path / "m.json")))[0] == game.start().state
    file.write_text(middle(variant).replace('"step_count": 77', '"step_count": 78'))
    assert load(game.name) != game


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ("state=missing.json", "missing.json: cannot be read"),
        ("state=FILE,seed=3", "both say where to begin; give one"),
        ("state=5", "5: cannot be read"),
    ],
)
def test_state_files_that_do_not_fit(parameters: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text(middle())
    with pytest.raises((FormatError, ParameterError), match=words):
        load(f"{PREFIX}{FFA}({parameters.replace('FILE', str(file))})")
    with pytest.raises(FormatError, match=r"s.json: board_size = 11; allowed: 8"):
        load(f"{PREFIX}{DUEL}(state={file})")


def test_a_huge_state_file_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "huge.json"
    with open(file, "wb") as out:
        out.truncate(1 << 34)
    with pytest.raises(FormatError, match="17,179,869,184 bytes; at most"):
        load(f"{PREFIX}{FFA}(state={file})")
    with pytest.raises(FormatError, match="17,179,869,184 bytes; at most"):
        read_game(file)


@pytest.mark.parametrize("seed", ["-1", "1.5", "true", "abc", str(2**53)])
def test_seeds_that_are_none(seed: str) -> None:
    with pytest.raises(ParameterError, match="seed="):
        load(f"{PREFIX}{FFA}(seed={seed})")


# ------------------------------------------------------------------------------------------------- whole games


def record(game: dict[str, Any]) -> dict[str, Any]:
    """A recording as the reference's ``game_state.json``, its positions out of order."""
    config = config_of(game)
    shots = [write_state(to_row(game["s0"], config), config)]
    shots += [write_state(to_row(step["s"], config), config, step["act"]) for step in game["steps"]]
    info = game["steps"][-1].get("info") or {"result": 3}
    name = {0: "Win", 2: "Tie", 3: "Incomplete"}[info["result"]]
    body = {
        "agents": [f"test::agents.SimpleAgent{k}" for k in range(config.num_agents)], "config": game["env"],
        "finished_at": "2026-01-31T12:00:00.000001", "result": {"id": info["result"], "name": name},
        "state": shots[1::2] + shots[::2],
    }  # fmt: skip
    return body | ({"winners": info["winners"]} if "winners" in info else {})


def save(body: dict[str, Any], path: Path) -> Path:
    path.write_text(json.dumps(body, sort_keys=True, indent=4))
    return path


def check_record(game: dict[str, Any], folder: Path) -> None:
    """Through a match and back, without a loss; unfinished games are refused."""
    rules, body = name_of(game), record(game)
    file = save(body, folder / "game_state.json")
    if not game["steps"][-1]["d"]:
        with pytest.raises(FormatError, match=r"the game is not over after step \d+; allowed: complete games"):
            read_game(file, rules)
        return
    if rules.config == CONFIGS[game["env"]]:
        assert read_game(file) == read_game(file, rules)
    match = read_game(file, rules)
    assert match.agents == tuple(body["agents"])
    states = replay_states(match, rules)[1:]
    assert len(states) == len(body["state"])
    assert Match.load(match.save(folder / "replay.json")) == match
    again = json.loads(write_game(match, folder / "again.json", game=rules).read_text())
    assert again == {**body, "finished_at": "", "state": sorted(body["state"], key=lambda s: int(s["step_count"]))}


@pytest.mark.parametrize("kind", KINDS)
def test_short_recorded_games_become_replays_and_back(kind: str, shared: Path, tmp_path: Path) -> None:
    chosen = [game for game in recorded(shared, kind) if len(game["steps"]) <= SHORT]
    chosen = chosen[:: 1 + len(chosen) // 25]
    assert len(chosen) >= 7
    for game in chosen:
        check_record(game, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_recorded_game_becomes_a_replay_and_back(kind: str, shared: Path, tmp_path: Path) -> None:
    for game in recorded(shared, kind):
        check_record(game, tmp_path)


@cache
def duel() -> str:
    """A short duel as the reference writes it."""
    match = play_match(PREFIX + DUEL, ["random", "random"], seed=3)
    with TemporaryDirectory() as folder:
        return write_game(match, Path(folder) / "game_state.json").read_text()


def test_a_match_of_ours_comes_back(tmp_path: Path) -> None:
    """The board's seed is kept, so moves, chance's answers and payoffs are those of the match."""
    match = play_match(PREFIX + DUEL, ["random", "random"], seed=3)
    file = write_game(match, tmp_path / "game_state.json", agents=["one", "other"])
    again = read_game(file)
    assert again.agents == ("one", "other")
    assert [(s.actions, s.chance_outcome) for s in again.steps] == [(s.actions, s.chance_outcome) for s in match.steps]
    assert again.returns == match.returns


def test_a_game_that_began_in_a_state_comes_back(tmp_path: Path) -> None:
    rules = Pommerman(PREFIX + FFA, CONFIGS[FFA], state=middle())
    match = play_match(rules, ["random"] * 4, seed=1)
    again = read_game(write_game(match, tmp_path / "game_state.json", game=rules))
    assert isinstance(again.steps[0].chance_outcome, str)
    assert [s.actions for s in again.steps[1:]] == [s.actions for s in match.steps]
    assert again.returns == match.returns
    assert replay_states(again)[1:] == replay_states(match, rules)


def test_walls_that_kill_everyone(tmp_path: Path) -> None:
    """The recording has positions with their walls; who was crushed learns of it a step later."""
    rules = Pommerman("short", Config(collapses=(1, 2), rigid=0, wood=12, items=0, max_steps=10), seed=1)
    match = play_match(rules, ["stop"] * 4, seed=1)
    assert (len(match.steps), match.returns) == (3, (-1.0,) * 4)
    file = write_game(match, tmp_path / "game_state.json", game=rules)
    ends = json.loads(json.loads(file.read_text())["state"][2]["agents"])
    assert not any(agent["is_alive"] for agent in ends)
    again = read_game(file, Pommerman("short", rules.config))
    assert [s.actions for s in again.steps[1:]] == [s.actions for s in match.steps]


def test_states_are_written_one_file_each(tmp_path: Path) -> None:
    match = play_match(PREFIX + RADIO, ["random"] * 4, seed=2)
    files = write_states(match, tmp_path / "states")
    assert [file.name for file in files[:2]] == ["000.json", "001.json"]
    assert len(files) == len(match.steps)
    middle_file = files[len(files) // 2]
    game = load(f"{PREFIX}{RADIO}(state={middle_file})")
    assert game.start().state.row[st.STEP] == len(files) // 2
    acted = json.loads(json.loads(middle_file.read_text())["intended_actions"])
    assert [tuple(a) if isinstance(a, list) else None for a in acted] == list(match.steps[len(files) // 2].actions)


def test_radio_actions_may_be_bare_or_long(tmp_path: Path) -> None:
    match = play_match(PREFIX + RADIO, ["random"] * 4, seed=2)
    body = json.loads(write_game(match, tmp_path / "game_state.json").read_text())
    for shot in body["state"][1:]:
        actions = json.loads(shot["intended_actions"])
        said = json.loads(shot["radio_from_agent"])
        actions = [a if said[f"Agent{k}"] != [0, 0] or a == 0 else a[0] for k, a in enumerate(actions)]
        shot["intended_actions"] = json.dumps([[*a, 9, 9] if isinstance(a, list) else a for a in actions])
    again = read_game(save(body, tmp_path / "game_state.json"))
    assert [s.actions for s in again.steps] == [s.actions for s in match.steps]


def shot(step: int, key: str, value: object) -> Spoil:
    """Changes one value of the position after a step; ``value`` may be a function of the old one."""

    def spoil(body: dict[str, Any]) -> None:
        at = next(s for s in body["state"] if int(s["step_count"]) == step)
        found = json.loads(at[key])
        at[key] = json.dumps(value(found) if callable(value) else value)

    return spoil


def edited(path: str, value: object) -> Callable[[Any], Any]:
    def edit(found: Any) -> Any:
        put(f"x.{path}", value)({"x": found})
        return found

    return edit


RECORDS: list[tuple[Spoil, str]] = [
    (put("config", "PommeFFA-v0"), "config = 'PommeFFA-v0': unknown .*; did you mean 'PommeFFA-v1'"),
    (put("config", "OneVsOne-v0(size=2)"), r"config = 'OneVsOne-v0\(size=2\)': size=2 is out of range; allowed: 6 to 32"),
    (put("scores", [1.0, -1.0]), r"scores\[0\] = 1.0, by the rules -1.0"),
    (put("scores", [0.0, 0.0]), r"scores\[0\] = 0.0, by the rules -1.0"),
    (put("scores", [-1.0, 1.0, -1.0]), "scores has 3 entries, by the rules 4"),
    (put("result.winners", [0]), r"result.winners\[0\] = 0, by the rules 1"),
    (put("config", "OneVsOne-v0(state=/etc/hostname)"), "config = 'OneVsOne"),
    (put("config", FFA), "2 agents; allowed: 4"),
    (put("state.0.board_size", "11"), r"state\[0\].board_size = 11; allowed: 8"),
    (put("agents", ["a"]), "1 agents; allowed: 2"),
    (put("agents", "a"), "agents = 'a': expected `array`"),
    (put("version", 3), "unknown field `version`"),
    (drop("result"), "missing required field `result`"),
    (put("result.id", 2), "result.id = 2, by the rules 0"),
    (put("result", {"id": 0, "name": "Loss"}), "result.name = Loss, by the rules Win"),
    (put("winners", [0, 1]), "winners has 2 entries, by the rules 1"),
    (put("state", []), "0 positions in state; allowed: 1 to 801"),
    (put("state", [{}] * 900), "900 positions in state"),
    (put("state", [[]]), r"state\[0\] = \[\]: expected `object`"),
    (put("state.3", {}), r"state\[3\].object missing"),
    (put("state.3.bombs", "[{}]"), r"state\[3\].bombs\[0\] = {}"),
    (drop("state.3"), "the step after 2 is 4; allowed: 3"),
    (lambda b: b["state"].append(b["state"][3]), "the step after 3 is 3; allowed: 4"),
    (drop("state.-1"), "the game is not over after step"),
    (drop("state.0"), "the game is not over|step 1"),
    (shot(3, "agents", edited("0.ammo", 7)), r"step 3: agents\[0\].ammo = 7, by the rules"),
    (shot(3, "agents", edited("1.can_kick", True)), r"step 3: agents\[1\].can_kick = True, by the rules False"),
    (shot(4, "items", lambda items: items[1:]), r"step 4: items has \d+ entries, by the rules"),
    (shot(2, "intended_actions", [6, 0]), "step 2: player 0 cannot play 6; legal"),
    (shot(2, "intended_actions", [[1, 2, 3], 0]), r"step 2: player 0 cannot play \(1, 2, 3\); legal"),
    (shot(2, "intended_actions", [0]), "step 2: 1 intended_actions; allowed: 2"),
    (shot(2, "intended_actions", []), "step 2: no intended_actions, without which no game can be played again"),
    (put("board_seed", 4), r"step 0: \w+.* by the rules"),
    (put("board_seed", -1), "step 0: chance cannot choose -1"),
    (put("board_seed", "x"), "board_seed = 'x'"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "words"), RECORDS)
def test_records_that_break_the_rules_are_refused(spoil: Spoil, words: str, tmp_path: Path) -> None:
    body = json.loads(duel())
    if "winners" in words:
        assert body["winners"] == [1]
    spoil(body)
    with pytest.raises(FormatError, match=words) as caught:
        read_game(save(body, tmp_path / "game_state.json"))
    assert "\n" not in str(caught.value)
    assert str(tmp_path / "game_state.json") in str(caught.value)


def test_only_pommerman_is_written(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedGameError, match="kuhn_poker is not Pommerman"):
        write_game(play_match("kuhn_poker", ["random", "random"]), tmp_path / "x.json")


# ----------------------------------------------------------------------------------------------- hostile replays


def walled() -> str:
    body = body_of()
    body["board"][9][9] = 1
    return json.dumps(body)


def crowded() -> str:
    return json.dumps({**body_of(), "bombs": [bomb()] * 15_000})


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (put("schema", 4), "replay schema 4; this version reads 3"),
        (put("steps.0.chance_outcome", walled()), r"step 1: chance's answer: board\[9\]\[9\] = 1"),
        (put("steps.0.chance_outcome", crowded()), "step 1: chance's answer: 1,[0-9,]+ characters; at most"),
        (put("steps.0.chance_outcome", "{}"), "step 1: chance's answer: .*missing"),
        (put("steps.0.chance_outcome", json.dumps({**json.loads(middle()), "schema": 2})), "step 1: .* schema = 2"),
        (put("steps.0.chance_outcome", -1), "step 1: chance cannot choose -1"),
        (put("steps.0.chance_outcome", 2**70), "step 1: chance cannot choose"),
        (put("steps.0.chance_outcome", None), "step 1: chance cannot choose None"),
        (put("steps.0.actions", [0, 0, 0, 0]), "step 1: player 0 cannot play 0"),
        (put("steps.1.actions", [6, 0, 0, 0]), "step 2: player 0 cannot play 6"),
        (put("steps.1.actions", [0, -1, 0, 0]), "step 2: player 1 cannot play -1"),
        (put("steps.1.actions", [0, [1, 2, 3], 0, 0]), r"step 2: player 1 cannot play \(1, 2, 3\)"),
        (put("steps.1.actions", [0, "up", 0, 0]), "step 2: player 1 cannot play 'up'"),
        (put("steps.1.actions", [0, None, 0, 0]), "step 2: player 1 cannot play None"),
        (put("steps.1.actions", [0, 0, 0]), "not a replay: step 2 has 3 moves"),
        (put("steps.1.actions", [0, 10**30, 0, 0]), "step 2: player 1 cannot play|not a replay"),
        (put("steps.1.chance_outcome", "tick"), "step 2: chance cannot choose 'tick'"),
        (lambda body: body["steps"].extend(body["steps"][1:2] * 100_000), "the game is over after step|cannot play"),
        (drop("steps.-1"), "the game is not over after its"),
    ],
)
def test_hostile_replays_are_refused(spoil: Spoil, words: str, tmp_path: Path) -> None:
    match = play_match(PREFIX + FFA, ["random"] * 4, seed=5)
    body = msgspec.to_builtins(match)
    body = json.loads(json.dumps(body))
    spoil(body)
    file = tmp_path / "match.json"
    file.write_text(json.dumps(body))
    with pytest.raises(FormatError, match=words) as caught:
        replay_states(Match.load(file))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("move", [6, -1, 1.5, "up", (1, 2, 3), [1], None, 2**40])
def test_illegal_actions_raise(move: object) -> None:
    state = load(f"{PREFIX}{FFA}(seed=1)").start().state
    with pytest.raises(IllegalActionError, match="player 2 cannot play"):
        state.play((0, 0, move, 0))


@pytest.mark.parametrize("move", [3, (3, 9, 0), (3, 0), (6, 0, 0), (3, 0, 0, 0), [3, 0, 0]])
def test_illegal_messages_raise(move: object) -> None:
    quiet = (0, 0, 0)
    state = load(f"{PREFIX}{RADIO}(seed=1)").start().state
    with pytest.raises(IllegalActionError, match="player 0 cannot play"):
        state.play((move, quiet, quiet, quiet))


def test_boards_that_cannot_be_generated_say_so_at_once() -> None:
    for broken in ({"items": 37}, {"rigid": 90}, {"wood": 8}, {"rigid": 35}):
        with pytest.raises(ParameterError, match="allowed"):
            Pommerman("broken", Config(**broken))  # type: ignore[arg-type]
    hopeless = Pommerman("hopeless", replace(Config(), size=32, rigid=600, wood=96, items=0), seed=1)
    with pytest.raises(GameRuleError, match="no board with 600 rigid walls leaves the way open"):
        hopeless.start()


# ---------------------------------------------------------------------------------------------- the command line


def test_convert_on_the_command_line(tmp_path: Path) -> None:
    """Replay, ``game_state.json``, replay: the moves and the board's seed are the same."""
    match = play_match(PREFIX + DUEL, ["random", "random"], seed=3)
    match.save(tmp_path / "replay.json")
    assert run("convert", "replay.json", "game_state.json", cwd=tmp_path).returncode == 0
    assert (tmp_path / "game_state.json").read_text() == duel()
    assert run("convert", "game_state.json", "again.json", cwd=tmp_path).returncode == 0
    again = Match.load(tmp_path / "again.json")
    assert [(s.actions, s.chance_outcome) for s in again.steps] == [(s.actions, s.chance_outcome) for s in match.steps]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["convert", "wrong.json", "x.json"], "wrong.json: step 3: agents[0].ammo = 7, by the rules"),
        (["convert", "wrong.json", "x.efg"], "infoset: wrong.json: cannot be converted to 'x.efg'"),
        (["convert", "half.json", "x.json"], "half.json: no JSON object"),
        (["match", f"{PREFIX}{FFA}(state=state.json)", *["random"] * 4], "state.json: board[9][9] = 1; allowed: 10"),
    ],
)
def test_errors_on_the_command_line_are_one_line(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    body = json.loads(duel())
    shot(3, "agents", edited("0.ammo", 7))(body)
    save(body, tmp_path / "wrong.json")
    (tmp_path / "half.json").write_text(duel()[:5000])
    (tmp_path / "state.json").write_text(walled())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["infoset", *arguments])
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # ``run_command`` replaces it
    assert run_command() == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    lines = [line for line in printed.err.splitlines() if "compiling kernels" not in line]
    assert len(lines) == 1
    assert lines[0].startswith("infoset: ")
    assert words in lines[0]
    assert not list(tmp_path.glob("x.*"))
