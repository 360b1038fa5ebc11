"""Recordings of every game as data, as text, and the page that is made of them; the browser's part is tested apart."""

from __future__ import annotations

import doctest
import io
import json
import re
from contextlib import redirect_stdout
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
from rich.console import Console

import infoset
from infoset.base import Game, InformationState, own_record
from infoset.errors import FormatError, ParameterError
from infoset.match.replay import Fault, Match, replay_steps
from infoset.view import bundle as bundles
from infoset.view import recording as recordings
from infoset.view import recording_text
from infoset.view import watch_page as watching
from infoset.view.bundle import bundle, scoped, source
from infoset.view.recording import recording
from infoset.view.recording_text import show_text
from infoset.view.watch_page import watch_page
from infoset_pommerman import state as st
from infoset_pommerman.game import Pommerman, PommermanState
from infoset_pommerman.view import recording as broadcasts
from infoset_pommerman.view import seen as eyes
from infoset_pommerman.view.frames import film
from infoset_pommerman.view.recording import Broadcast, opening, position
from infoset_pommerman.view.seen import UNSEEN, picture

EFG = str(Path(__file__).parents[2] / "examples" / "half_street_poker.efg")
HOSTILE = "</script><script>alert(1)</script>\u202e\x1b[31m"
RADIO = "pommerman:PommeRadio-v2(seed=3)"


def played(game: str, seed: int = 1) -> Match:
    return infoset.play_match(game, ["random"] * len(infoset.load(game).players), seed=seed)


# Recordings


@pytest.mark.parametrize("name", ["kuhn_poker", "goofspiel(num_cards=4)", "gdl:monty_hall", EFG, "trade_comm"])
def test_what_a_recording_holds(name: str) -> None:
    match = played(name)
    shown = json.loads(json.dumps(recording(match), allow_nan=False))
    assert shown["kind"] == "pictures"
    assert shown["returns"] == list(match.returns)
    assert [frame["seconds"] for frame in shown["frames"][1:]] == [list(step.seconds) for step in match.steps]
    for frame in shown["frames"]:
        assert len(frame["seen"]) == len(frame["moves"]) == len(frame["descriptions"]) == len(match.players)
        assert all("kind" in one for one in (frame["whole"], *frame["seen"]))


def test_eyes_hide_what_a_player_does_not_know() -> None:
    """P1's part of two games is the same byte for byte as long as it cannot tell them apart."""
    games = [played("kuhn_poker", seed) for seed in range(12)]
    parts: dict[tuple[Any, ...], set[bytes]] = {}
    for match in games:
        known: InformationState = ()
        actions = [None, *(step.actions[0] for step in match.steps)]
        steps = replay_steps(match)
        for frame, step, action in zip(recording(match)["frames"], steps, actions, strict=True):
            record = own_record(action, step.observation(0))
            known = known if record is None else (*known, record)
            parts.setdefault(known, set()).add(msgspec.json.encode([frame["seen"][0], frame["descriptions"][0]]))
    fewer = {known: texts for known, texts in parts.items() if len(known) > 1}
    assert len(fewer) > 4
    assert all(len(texts) == 1 for texts in fewer.values())


def test_faults_names_and_games_that_were_left() -> None:
    match = played("kuhn_poker")
    fault = Fault(3, 0, "late", f"took 2 s {HOSTILE}")
    left = msgspec.structs.replace(
        match, steps=match.steps[:-1], over=False, returns=(0.0, 0.0), faults=(fault,), agents=(HOSTILE * 9, "b")
    )
    shown = recording(left)
    assert (shown["over"], shown["outcome"], shown["winners"]) == (False, "Left before its end", [])
    assert [frame["faults"] for frame in shown["frames"][:3]] == [[], [], []]
    assert shown["frames"][3]["faults"][0][:2] == [0, "late"]
    assert all(text.isprintable() for text in (shown["agents"][0], shown["frames"][3]["faults"][0][2]))
    assert len(shown["agents"][0]) <= 60
    with pytest.raises(FormatError, match="over"):
        recording(msgspec.structs.replace(left, over=True))


@pytest.mark.parametrize(
    ("returns", "outcome"),
    [((1.0, -1.0), "P1 wins"), ((0.0, 0.0), "Everyone gets nothing"), ((2.0, 2.0), "Everyone gets +2")],
)
def test_how_it_came_out(returns: tuple[float, float], outcome: str) -> None:
    assert recordings.outcome(msgspec.structs.replace(played("kuhn_poker"), returns=returns)) == outcome


def test_long_games_are_cut_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    match = played("gdl:connect_four")
    assert recording(match)["note"] == ""
    monkeypatch.setattr(recordings, "MAX_BYTES", 9_000)
    shown = recording(match)
    assert 1 < len(shown["frames"]) < len(match.steps)
    assert len(json.dumps(shown, separators=(",", ":"))) < 10_000
    assert f"the first of {len(match.steps)}" in shown["note"]


def test_as_text() -> None:
    match = played("kuhn_poker")
    file = io.StringIO()
    show_text(match, Console(file=file, width=60))
    text = file.getvalue()
    assert [text.count(f"step {k} of {len(match.steps)}") for k in range(len(match.steps) + 1)] == [1] * 5
    assert "P1: pass" in text
    assert "[K]" in text
    with pytest.raises(ParameterError, match="step=9 is out of range; allowed: 0 to 4"):
        show_text(match, Console(file=file), 9)


# The page


def test_the_page_of_any_game_stands_alone() -> None:
    page = watch_page(msgspec.structs.replace(played("kuhn_poker"), agents=(HOSTILE, "b")))
    assert "default-src 'none'" in page
    assert not re.search(r"<(link|script|img)[^>]+(src|href)=\"(?!data:)", page)
    assert page.count("</script>") == 2
    assert not re.search(r"^(import|export) ", page, re.MULTILINE)
    assert len(page) < 200_000


def test_modules_keep_their_scopes() -> None:
    script = bundle("player.js", "player")
    order = re.findall(r'^modules\["([^"]+)"\] = ', script, re.MULTILINE)
    assert order[-1] == "player.js"
    assert len(order) == len(set(order)) > 8
    for path in order:  # whatever a module imports stands before it
        needs = re.findall(r'from "\./([\w/]+\.js)"', source(path)) if "/" not in path else []
        assert all(order.index(need) < order.index(path) for need in needs)


def test_ways_to_export() -> None:
    text = (
        'import { a, b as c } from "../dom.js";\nexport function f() {}\nexport class G {}\n'
        "export const x = 1, y = { z: [2], w: (q = 3) };\nexport async function h() {}\n"
    )
    made = scoped("player/any.js", text)
    assert 'const { a, b: c } = modules["dom.js"];' in made
    names = re.search(r"return \{ (.*?) \};", made)
    assert names
    assert set(names[1].split(", ")) == {"f", "G", "x", "y", "h"}
    assert "export" not in made


@pytest.mark.parametrize(
    "line", ["export default 3;", "export { a };", 'import * as d from "./dom.js";', 'import "x";']
)
def test_other_ways_are_refused(line: str) -> None:
    with pytest.raises(ValueError, match="not understood"):
        scoped("any.js", f"{line}\n")


MODULES = (bundles, recordings, recording_text, watching, broadcasts, eyes)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_examples_run(module: ModuleType) -> None:
    said = io.StringIO()
    with redirect_stdout(said):
        found = doctest.testmod(module, extraglobs={"infoset": infoset})
    assert found.attempted
    assert not found.failed, said.getvalue()


# Pommerman, frame by frame


def unpacked(raw: dict[str, Any], before: list[int]) -> list[int]:
    """The ground as ``Film`` in film.js finds it."""
    ground = [0] * len(before) if "key" in raw else list(before)
    for cell, value in zip(raw.get("g", [])[::2], raw.get("g", [])[1::2], strict=True):
        ground[cell] = value
    return ground


def test_who_joins_late_sees_the_same() -> None:
    """Key frame and changes lead to one position, whenever a viewer came."""
    match = infoset.play_match("pommerman:PommeFFACompetition-v0(seed=4)", ["simple"] * 4, seed=2)
    shown = film(match)
    states = [step.state for step in replay_steps(match)]
    assert isinstance(states[0], PommermanState)
    live = Broadcast(states[0])
    early, told = unpacked(live.latest(), [0] * 121), []
    for number, (state, step) in enumerate(zip(states[1:60], match.steps, strict=False), start=1):
        assert isinstance(state, PommermanState)
        raw, happened = live.add(state, step.actions)
        early = unpacked(raw, early)
        assert early == unpacked(live.latest(), [0] * 121) == list(shown.frames[number].ground)
        assert live.latest() == opening(shown.frames[number])
        told += [(kind, who) for _, kind, who, *_ in happened]
    assert told == [(event.kind, event.agent) for frame in shown.frames[1:60] for event in frame.events]
    assert told
    assert len(json.dumps(raw)) < 2000


def test_an_agents_picture_is_its_observation() -> None:
    """Nothing is in it but what is in the observation: the other parts of the position can be anything."""
    match = infoset.play_match(RADIO, ["simple"] * 4, seed=5)
    game = infoset.load(RADIO)
    assert isinstance(game, Pommerman)
    steps = replay_steps(match, game)
    fogged = 0
    for (before, step), made in zip(pairwise(steps), match.steps, strict=True):
        whole = json.loads(json.dumps(position(step.state)))  # type: ignore[arg-type]
        for k in range(4):
            known: InformationState = ((None, before.observation(k)), (made.actions[k], step.observation(k)))
            shown = json.loads(json.dumps(picture(game.config, k, known)))
            fog, everything = set(shown["fog"]), unpacked(whole, [0] * 121)
            fogged += len(fog)
            ground = unpacked(shown, [0] * 121)
            assert all(ground[cell] == (0 if cell in fog else everything[cell]) for cell in range(121))
            own, seen = whole["a"][k], [agent[1] for agent in shown["a"]]
            assert shown["a"][k][:5] == own[:5]
            assert all(agent[2:5] == [None] * 3 for other, agent in enumerate(shown["a"]) if other != k)
            assert all(cell is None or cell == whole["a"][other][1] for other, cell in enumerate(seen))
            bombs = [[cell, life, strength] for _, cell, _, life, strength in shown.get("b", [])]
            near = [[cell, life, strength] for _, cell, _, life, strength in whole.get("b", []) if cell not in fog]
            assert sorted(bombs) == sorted(near)
            assert all(bomb[2] is None for bomb in shown.get("b", []))
            flames = {cell: life for cell, life, _ in whole.get("f", []) if cell not in fog}  # the last in a cell
            assert {cell: life for cell, life, _ in shown.get("f", [])} == flames
            assert shown["w"][(k + 2) % 4] == whole["w"][(k + 2) % 4]
            assert shown["w"][(k + 1) % 4] == [0, 0]
    assert fogged


def test_before_the_board_is_dealt() -> None:
    game: Game = infoset.load("pommerman:OneVsOne-v0")
    assert isinstance(game, Pommerman)
    assert picture(game.config, 0, ()) == UNSEEN


def test_a_picture_knows_the_way_an_agent_looks() -> None:
    game = infoset.load("pommerman:OneVsOne-v0(seed=1)")
    assert isinstance(game, Pommerman)
    start = game.start()
    known: InformationState = ((None, start.observation(0)),)
    after = start.state.play((st.LEFT, st.STOP))
    shown = picture(game.config, 0, (*known, (st.LEFT, after.observation(0))))
    assert shown["a"][0][5] == st.LEFT
    assert shown["m"] == [st.LEFT, None]
