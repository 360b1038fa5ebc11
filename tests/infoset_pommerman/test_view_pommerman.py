"""Films of Pommerman: positions, who died of what; and the page, the pictures and the text made of them."""

from __future__ import annotations

import io
import json
import re
import sys
from itertools import islice, pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import numpy as np
import pytest
from rich.console import Console

import infoset
from extent import mark_slow
from infoset.errors import FormatError, MissingExtraError, ParameterError, UnsupportedGameError
from infoset.match.replay import Fault, Match
from infoset.view.watch_page import watch_page
from infoset_pommerman import state as st
from infoset_pommerman.config import Config, GameType
from infoset_pommerman.game import Pommerman, PommermanState
from infoset_pommerman.view import art
from infoset_pommerman.view.film import Blast, Bomb, Event, Film, Flame, Frame
from infoset_pommerman.view.frames import film, frames
from infoset_pommerman.view.gif import Moment, save_gif, schedule
from infoset_pommerman.view.palette import DAY, NIGHT
from infoset_pommerman.view.scene import REMAINS, RISE, scene
from infoset_pommerman.view.svg import still_svg
from infoset_pommerman.view.text import position_text, show_text
from pommerman_golden import KINDS, config_of, games, to_row

TEAM = "pommerman:PommeTeamCompetition-v0(seed=5)"
HOSTILE = "</script><script>alert(1)</script>\u2028\u202e\x1b[31m&'\""
SMALL = Config(GameType.FFA, size=6, rigid=0, wood=0, items=0)
SHORT_KINDS = ("rare", "stress")
CORNERS = [[0, 1, 0, 0, 1, 2, 0], [1, 1, 5, 0, 1, 2, 0], [2, 1, 5, 5, 1, 2, 0], [3, 1, 0, 5, 1, 2, 0]]


@pytest.fixture(scope="module")
def match() -> Match:
    return infoset.play_match(TEAM, ["simple", "random", "simple", "random"], seed=2)


@pytest.fixture(scope="module")
def radio() -> Match:
    return infoset.play_match("pommerman:PommeRadio-v2(seed=3)", ["random"] * 4, seed=4)


# Positions


@pytest.mark.parametrize("kind", mark_slow(KINDS, {"ffa"}))
def test_frames_of_recorded_games(kind: str, shared: Path) -> None:
    for game in islice(games(shared, kind), 300 if kind in SHORT_KINDS else 12):
        recorded = [game["s0"], *(step["s"] for step in game["steps"])]
        size = int(game["board_size"])
        for frame, position in zip(replayed(game), recorded, strict=True):
            if frame.step in config_of(game).collapses:  # recorded with the walls that close in before the next step
                continue
            assert [[*divmod(bomb.cell, size), bomb.owner, *bomb[3:]] for bomb in frame.bombs] == position["o"]
            assert [[*divmod(flame.cell, size), flame.life] for flame in frame.flames] == position["f"]
            assert [[*divmod(c, size), v] for c, v in enumerate(frame.hidden) if v] == position["i"]
            assert [[k, *agent_fields(agent, size)] for k, agent in enumerate(frame.agents)] == position["a"]
            assert {c: v for c, v in enumerate(frame.ground) if v} == standing(position["b"])
            assert [list(words) for words in frame.words] == position.get("m", [])


def replayed(game: dict[str, Any]) -> list[Frame]:
    config = config_of(game)
    rules, radio = Pommerman("recorded", config), config.game_type == GameType.TEAM_RADIO
    states = [PommermanState(rules, to_row(game["s0"], config))]
    actions = [tuple(joint(act, radio) for act in step["act"]) for step in game["steps"]]
    for action in actions:
        states.append(states[-1].play_unchecked(action).state)
    return frames(states, actions)


def joint(act: Any, radio: bool) -> Any:
    """A recorded act as a move."""
    return tuple(act) if isinstance(act, list) else (act, 0, 0) if radio else act


def agent_fields(agent: Any, size: int) -> list[int]:
    return [int(agent.alive), *divmod(agent.cell, size), agent.ammo, agent.blast, int(agent.kick)]


def standing(board: str) -> dict[int, int]:
    return {cell: int(value) for cell, value in enumerate(board) if value in "12678"}


@pytest.mark.parametrize("kind", ["kick", "ffa"])
def test_bombs_keep_their_numbers(kind: str, shared: Path) -> None:
    for game in islice(games(shared, kind), 10):
        for before, after in pairwise(replayed(game)):
            old = {bomb.number: bomb for bomb in before.bombs}
            gone = {blast.bomb.number for blast in after.blasts}
            kept = {bomb.number for bomb in after.bombs}
            assert not gone & kept
            assert old.keys() <= gone | kept
            for bomb in after.bombs:
                if bomb.number in old:
                    assert (bomb.owner, bomb.strength) == (old[bomb.number].owner, old[bomb.number].strength)
                    assert bomb.life == old[bomb.number].life - 1


# Who died of what


def small(actions: list[tuple[int, ...]], config: Config = SMALL, **parts: Any) -> list[Frame]:
    """Frames of a hand-made position on an empty board of size 6, as far as ``actions`` lead."""
    start = {"n": 0, "b": "0" * 36, "a": CORNERS, "o": [], "f": [], "i": []} | parts
    states = [PommermanState(Pommerman("small", config), to_row(start, config))]
    for k, *_, r, c in [(agent[0], *agent[2:4]) for agent in start["a"] if agent[1]]:
        states[0].row[st.BOARD + r * 6 + c] = st.AGENT + k
    for action in actions:
        states.append(states[-1].play_unchecked(action).state)
    return frames(states, actions)


def place(k: int, r: int, c: int) -> list[list[int]]:
    """Agents in their corners but for agent ``k``."""
    return [[k, 1, r, c, 1, 2, 1] if agent[0] == k else agent for agent in CORNERS]


STAY = (0, 0, 0, 0)
LIFE = 1  # goes off in the next step


def deaths(shots: list[Frame]) -> list[tuple[int, Event]]:
    return [(number, event) for number, shot in enumerate(shots) for event in shot.events if event.kind == "death"]


def test_own_bomb() -> None:
    shots = small([STAY], o=[[0, 1, 0, LIFE, 3, 0]])
    assert deaths(shots) == [(1, Event("death", 0, (0,), "fire"))]
    assert shots[1].blasts == (Blast(Bomb(0, 1, 0, 0, 3, 0), None),)


def test_a_chain_is_its_bombs_owners() -> None:
    """Agent 2's bomb lights agent 1's, which alone reaches agent 0."""
    shots = small([STAY], o=[[0, 2, 1, 7, 3, 0], [0, 4, 2, LIFE, 3, 0]])
    assert deaths(shots) == [(1, Event("death", 0, (1,), "fire")), (1, Event("death", 3, (2,), "fire"))]
    assert [(blast.bomb.owner, blast.lit_by) for blast in shots[1].blasts] == [(2, None), (1, (2,))]


def test_two_blasts_at_once() -> None:
    shots = small([STAY], o=[[0, 1, 1, LIFE, 2, 0], [1, 0, 2, LIFE, 2, 0]])
    assert deaths(shots) == [(1, Event("death", 0, (1, 2), "fire"))]


def test_walking_into_fire_that_burns_already() -> None:
    shots = small([STAY, (4, 0, 0, 0)], o=[[2, 1, 3, LIFE, 3, 0]])
    assert deaths(shots) == [(2, Event("death", 0, (3,), "fire"))]
    assert shots[2].flames[0] == Flame(1, 1, 1 << st.DOWN, (3,))


def test_fire_that_nobody_laid() -> None:
    shots = small([(4, 0, 0, 0)], f=[[0, 1, 2]])
    assert deaths(shots) == [(1, Event("death", 0, (), "fire"))]


def test_walls_that_close_in() -> None:
    from dataclasses import replace

    shots = small([STAY, STAY], replace(SMALL, collapses=(1,)), a=place(2, 3, 3), o=[[0, 3, 0, 5, 2, 0]])
    assert deaths(shots) == [(2, Event("death", k, (), "walls")) for k in (0, 1, 3)]  # they are seen a step later
    assert Event("walls") in shots[2].events
    assert (len(shots[1].bombs), shots[2].bombs, shots[2].blasts) == (1, (), ())
    assert [shots[k].ground.count(st.RIGID) for k in (1, 2)] == [0, 20]


def test_kicks_and_finds() -> None:
    board = "0" * 14 + "7" + "0" * 21
    kicks = small([(0, 0, 4, 0), (0, 0, 4, 0)], a=place(2, 2, 0), o=[[2, 1, 0, 9, 2, 0]])
    assert kicks[1].events == (Event("kick", 2),)
    assert [bomb.cell for bomb in kicks[1].bombs] == [14]
    assert kicks[2].events == ()  # it rolls on
    finds = small([(0, 0, 4, 0)], a=place(2, 2, 1), b=board)
    assert finds[1].events == (Event("item", 2, what=st.INCR_RANGE),)
    assert finds[1].agents[2].facing == st.RIGHT


def test_fire_under_a_bomb_does_not_light_it() -> None:
    """A start that no play leads to; a bomb that rolls into fire does go off."""
    under = small([STAY], o=[[2, 2, 0, 7, 2, 0]], f=[[2, 2, 2]])
    assert (len(under[1].bombs), under[1].blasts) == (1, ())
    rolling = small([STAY], o=[[2, 2, 0, 7, 2, st.RIGHT]], f=[[2, 3, 2]])
    assert [(blast.bomb.cell, blast.lit_by) for blast in rolling[1].blasts] == [(15, ())]


def test_fire_links_the_cells_it_burns() -> None:
    shots = small([STAY], o=[[2, 2, 0, LIFE, 2, 0]])
    links = {flame.cell: flame.links for flame in shots[1].flames}
    every = sum(1 << way for way in (st.UP, st.DOWN, st.LEFT, st.RIGHT))
    assert links == {14: every, 8: 1 << st.DOWN, 20: 1 << st.UP, 13: 1 << st.RIGHT, 15: 1 << st.LEFT}


def test_what_is_told() -> None:
    shown = Film("small", SMALL, ("Ann", "Bob", "Cid", "Dan"), ("a",) * 4, (), (-1.0, 1.0, -1.0, 1.0), True)
    told = {
        Event("death", 0, (0,), "fire"): "Ann dies of its own bomb",
        Event("death", 0, (1,), "fire"): "Ann dies of Bob's bomb",
        Event("death", 0, (0, 1, 2), "fire"): "Ann dies of its own, Bob's and Cid's bombs",
        Event("death", 1, (), "fire"): "Bob burns",
        Event("death", 1, (), "walls"): "Bob is crushed by the walls",
        Event("item", 2, what=st.KICK): "Cid finds a boot to kick with",
        Event("kick", 3): "Dan kicks a bomb",
        Event("walls"): "The walls close in",
        Event("fault", 3, what="late"): "Dan: a late move",
    }
    assert {event: shown.tell(event) for event in told} == told
    assert shown.outcome() == "Bob and Dan win"
    assert shown._replace(returns=(-1.0, 1.0, -1.0, -1.0)).outcome() == "Bob wins"
    assert shown._replace(won=False, returns=(-1.0,) * 4).outcome() == "A tie"


# Whole matches


def test_a_film_of_a_match(match: Match) -> None:
    shown = film(match)
    assert [frame.step for frame in shown.frames] == list(range(len(match.steps) + 1))
    assert [frame.moves for frame in shown.frames[1:]] == [step.actions for step in match.steps]
    assert shown.frames[0].moves == (None,) * 4
    assert shown.returns == match.returns
    dead = {event.agent for _, event in deaths(list(shown.frames))}
    assert dead == {k for k, agent in enumerate(shown.frames[-1].agents) if not agent.alive}


def test_nature_deals_before_the_first_frame() -> None:
    dealt = infoset.play_match("pommerman:OneVsOne-v0", ["random", "random"], seed=1)
    noted = Match(**{k: getattr(dealt, k) for k in dealt.__struct_fields__} | {"faults": (Fault(2, 1, "late", ""),)})
    shown = film(noted)
    assert len(shown.frames) == len(dealt.steps)
    assert Event("fault", 1, what="late") in shown.frames[1].events


def test_other_games_are_refused_in_one_line() -> None:
    kuhn = infoset.play_match("kuhn_poker", ["random", "random"], seed=1)
    with pytest.raises(UnsupportedGameError, match=r"^'kuhn_poker' is not Pommerman; allowed: .*pommerman:NAME$"):
        film(kuhn)


def test_a_replay_that_is_no_play_is_refused(match: Match) -> None:
    cut = Match(**{k: getattr(match, k) for k in match.__struct_fields__} | {"steps": match.steps[:-1]})
    with pytest.raises(FormatError, match="not over"):
        watch_page(cut)


# The page


def page_data(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="recording">(.*?)</script>', page, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])["recording"]
    return data


def test_it_begins_at_the_step_and_speed_asked_for(match: Match) -> None:
    found = re.search(r'"options":(\{.*?\})', watch_page(match, step=3, speed=7.5))
    assert found
    assert json.loads(found[1]) == {"start": 3, "speed": 7.5}


def renamed(match: Match, name: str) -> Match:
    return Match(**{k: getattr(match, k) for k in match.__struct_fields__} | {"agents": (name,) * len(match.players)})


def test_the_page_stands_alone(match: Match) -> None:
    page = watch_page(match)
    assert "{{" not in page
    assert set(re.findall(r"https?://[^\s\"']+", page)) == {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert not re.search(r"<(link|script|img)[^>]+(src|href)=\"(?!data:)", page)
    assert "default-src 'none'" in page
    assert len(page) < 130_000 + 400 * len(match.steps)


def test_names_cannot_leave_the_data(match: Match) -> None:
    page = watch_page(renamed(match, HOSTILE))
    assert page.count("</script>") == watch_page(match).count("</script>")
    assert "alert(1)</" not in page
    assert all(ord(sign) < 128 for sign in page[page.index('id="recording">') : page.rindex("</script>\n<script>")])
    names = page_data(page)["agents"]
    assert len(set(names)) == 1
    assert names[0].startswith("</script><script>alert(1)</script>")  # as text
    assert not {"\x1b", "\u2028", "\u202e"} & set(names[0])


def test_the_page_holds_every_frame(match: Match) -> None:
    """Unpacked as the page does it."""
    shown, data = film(match), page_data(watch_page(match))
    ground, hidden = [0] * 121, [0] * 121
    for frame, raw in zip(shown.frames, data["frames"], strict=True):
        for values, changes in ((ground, raw.get("g", [])), (hidden, raw.get("h", []))):
            for cell, value in zip(changes[::2], changes[1::2], strict=True):
                values[cell] = value
        assert (tuple(ground), tuple(hidden)) == (frame.ground, frame.hidden)
        assert raw["a"] == [list(map(int, agent)) for agent in frame.agents]
        assert raw.get("b", []) == [list(bomb[:5]) for bomb in frame.bombs]
    told = [[n, e.kind, e.agent, e.what, shown.tell(e)] for n, f in enumerate(shown.frames) for e in f.events]
    assert data["events"] == told


@pytest.mark.parametrize("size", [6, 32])
def test_boards_of_every_size(size: int, tmp_path: Path) -> None:
    rules = Pommerman("any", Config(GameType.ONE_VS_ONE, size=size, rigid=4, wood=4, items=2, max_steps=6))
    played = infoset.play_match(rules, ["random", "random"], seed=1)
    assert page_data(watch_page(played, game=rules))["size"] == size
    assert f"step {len(played.steps) - 1}" in still_svg(played, game=rules)
    assert save_gif(played, tmp_path / "any.gif", game=rules).stat().st_size > 0


def test_colours() -> None:
    assert DAY.keys() == NIGHT.keys()
    used = {shape.color for sprite in art.SPRITES.values() for shape in sprite}
    used |= {shape.color for shape in (*art.frame(11), *art.bomb(None, 3, 9), *art.bomb(1, 3, 9))}
    used |= {shape.color for layer in range(len(art.FLAME_WIDTHS)) for shape in art.flame(6, 1.0, layer)}
    assert used <= DAY.keys()
    assert all(re.fullmatch("#[0-9a-f]{6}", color) for color in (*DAY.values(), *NIGHT.values()))


# Stills, moving pictures, text


def test_a_still_is_sound_svg(match: Match) -> None:
    root = Xml.fromstring(still_svg(match, 4))
    space = "{http://www.w3.org/2000/svg}"
    drawn = {group.get("id") for group in root.iter(f"{space}g")}
    used = [use.get("href", "").removeprefix("#") for use in root.iter(f"{space}use")]
    assert drawn == set(used)
    frame = film(match).frames[4]
    agents = [art.figure(k, agent.facing) for k, agent in enumerate(frame.agents) if agent.alive]
    tiles = 121 // 2  # every other one is grass on the meadow
    assert len(used) >= tiles + np.count_nonzero(frame.ground) + len(frame.bombs) + len(agents)
    titles = [title.text for title in root.iter(f"{space}title")]
    assert titles == [f"{TEAM}, step 4"]


def test_the_dead_are_marked_where_they_died() -> None:
    """Whole in the step in which it dies, faint from then on, and gone once the walls close in over it."""
    shots = small([STAY] * 4, o=[[0, 1, 0, LIFE, 3, 0]])
    shown = Film("small", SMALL, ("Ann", "Bob", "Cid", "Dan"), ("a",) * 4, tuple(shots), (), False)
    remains = art.figure(0, shots[-1].agents[0].facing, alive=False)

    def marks(film: Film, number: int, phase: float = 0.0) -> list[tuple[float, float, float]]:
        return [(x, y, alpha) for sprite, x, y, alpha in scene(film, number, phase) if sprite == remains]

    assert marks(shown, 0) == []
    assert marks(shown, 1) == [(0, 0, 1.0)]
    assert marks(shown, 1, 0.5) == [(0, pytest.approx(-RISE * REMAINS / 2), pytest.approx(1 - REMAINS / 2))]
    assert marks(shown, 2) == marks(shown, 4) == [(0, pytest.approx(-RISE * REMAINS), pytest.approx(1 - REMAINS))]
    walled = shots[-1]._replace(ground=(st.RIGID, *shots[-1].ground[1:]))
    assert marks(shown._replace(frames=(*shots, walled)), 5) == []


def test_steps_that_are_not_there(match: Match) -> None:
    last = len(match.steps)
    with pytest.raises(ParameterError, match=rf"^step={last + 1} is out of range; allowed: 0 to {last}$"):
        still_svg(match, last + 1)
    with pytest.raises(ParameterError, match="step=-1"):
        watch_page(match, step=-1)


@pytest.mark.parametrize("speed", [0.0, -1.0, 1e9, float("nan")])
def test_speeds_that_are_none(match: Match, speed: float, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="speed"):
        watch_page(match, speed=speed)
    with pytest.raises(ParameterError, match="speed"):
        save_gif(match, tmp_path / "no.gif", speed=speed)
    with pytest.raises(ParameterError, match="speed"):
        show_text(match, Console(file=io.StringIO()), speed=speed)


def test_a_moving_picture(match: Match, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (extra 'plot')")
    path = save_gif(match, tmp_path / "game.gif", speed=8.0, cell=12)
    moments, times = schedule(film(match), 8.0, 12)
    with image.open(path) as picture:
        assert picture.size == (11 * 12 + 2 * 5,) * 2
        shown = 0
        for number in range(picture.n_frames):
            picture.seek(number)
            shown += picture.info["duration"]
        assert len(match.steps) < picture.n_frames <= len(moments)  # equal pictures become one
        assert shown == sum(times)
        assert picture.info["loop"] == 0
    assert abs(sum(times[:-1]) - 125 * len(match.steps)) <= 10


def test_long_games_skip_steps(match: Match) -> None:
    shown = film(match)
    long = shown._replace(frames=shown.frames[:1] * 2001)
    moments, times = schedule(long, 6.0, 28)
    assert len(moments) == len(times) <= 640
    assert moments[0] == Moment(0, 0.0)
    assert moments[-1] == Moment(2000, 0.0)


def test_without_pillow(match: Match, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtraError, match=r"^a GIF needs the extra 'plot': pip install 'infoset\[plot\]'$"):
        save_gif(match, tmp_path / "no.gif")


def test_a_position_as_text(match: Match) -> None:
    shown = film(match)
    lines = position_text(shown, 0).plain.splitlines()
    assert lines[0] == f"{TEAM}  step 0 of {len(match.steps)}"
    rows = [line[1:-1] for line in lines[2:13]]
    cells = [row[c : c + 2] for row in rows for c in range(0, 22, 2)]
    assert [cells.index(f"A{k}") for k in range(4)] == [agent.cell for agent in shown.frames[0].agents]
    assert [cell == "██" for cell in cells] == [value == st.RIGID for value in shown.frames[0].ground]
    assert [cell == "▒▒" for cell in cells] == [value == st.WOOD for value in shown.frames[0].ground]
    assert shown.outcome() in position_text(shown, len(match.steps)).plain


def test_text_shows_bombs_flames_and_items() -> None:
    shots = small([STAY], o=[[2, 2, 1, 4, 2, 0], [0, 1, 0, LIFE, 2, 0]], b="0" * 20 + "8" + "0" * 15)
    shown = Film("small", SMALL, ("Ann", "Bob", "Cid", "Dan"), ("a",) * 4, tuple(shots), (0.0,) * 4, False)
    text = position_text(shown, 1).plain
    assert "●3" in text
    assert "**" in text
    assert "+k" in text
    assert "Ann dies of its own bomb" in text


def test_text_off_a_terminal_is_the_whole_game_plain(radio: Match) -> None:
    file = io.StringIO()
    show_text(renamed(radio, HOSTILE), Console(file=file, highlight=False, width=60))
    text = file.getvalue()
    assert "\x1b" not in text
    assert [text.count(f"  step {k} of ") for k in range(len(radio.steps) + 1)] == [1] * (len(radio.steps) + 1)
    assert re.search(r"says [0-7] [0-7]", text)


def test_text_on_a_terminal_plays(radio: Match) -> None:
    file = io.StringIO()
    show_text(radio, Console(file=file, force_terminal=True, width=100, height=40), speed=100.0)
    assert "\x1b[" in file.getvalue()
    assert f"step {len(radio.steps)} of {len(radio.steps)}" in file.getvalue()


# The command line


def test_watch(match: Match, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replay = match.save(tmp_path / "game.json")
    assert command("watch", str(replay)) == 0
    assert capsys.readouterr().out.split() == [str(tmp_path / "game.html")]
    assert (tmp_path / "game.html").read_text().startswith("<!DOCTYPE html>")
    svg = tmp_path / "new" / "still.svg"
    assert command("watch", str(replay), "--text", "--step", "2", "--svg", str(svg)) == 0
    out = capsys.readouterr().out
    assert "step 2 of" in out
    assert out.splitlines()[-1] == str(svg)
    assert not (tmp_path / "new" / "still.html").exists()


def test_watch_refuses_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kuhn = infoset.play_match("kuhn_poker", ["random", "random"], seed=1).save(tmp_path / "kuhn.json")
    (tmp_path / "broken.json").write_text("[1, 2")
    for path, options, what in (
        (kuhn, ["--svg", str(tmp_path / "kuhn.svg")], "--svg would not be used: kuhn_poker is not drawn so"),
        (tmp_path / "broken.json", [], "no JSON object"),
        (tmp_path / "none", [], "read"),
    ):
        assert command("watch", str(path), *options) == 1
        error = capsys.readouterr().err
        assert what in error
        assert error.count("\n") == 1


def command(*arguments: str) -> int:
    """The exit status of the command line in this process."""
    from infoset.cli import run_command

    before, sys.argv = sys.argv, ["infoset", *arguments]
    try:
        return run_command()
    finally:
        sys.argv = before
