"""The page that plays a recorded game, in a browser: Debian's Chromium, without its window."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import infoset
from infoset.match.replay import Fault, Match, replay_states
from infoset.view.bundle import bundle, source
from infoset.view.recording import recording
from infoset.view.watch_page import embedded, watch_page
from infoset_pommerman.view.film import Frame
from infoset_pommerman.view.frames import film
from infoset_pommerman.view.palette import DAY
from infoset_pommerman.view.recording import Broadcast, setting
from infoset_pommerman.view.seen import picture

HOSTILE = '</script><img src=x onerror="window.harmed = 1"><b>bold</b>'
EFG = str(Path(__file__).parents[2] / "examples" / "half_street_poker.efg")
PATIENCE = 20  # seconds
VIEWPORT = {"width": 1100, "height": 820}


@pytest.fixture(scope="module")
def match() -> Match:
    agents = ["simple", "random", "simple", "simple"]  # so that somebody dies, and it takes a while
    return infoset.play_match("pommerman:PommeTeamCompetition-v0(seed=7)", agents, seed=1)


@pytest.fixture(scope="module")
def file(match: Match, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("watch") / "game.html"
    path.write_text(watch_page(match), encoding="utf-8")
    return path


class Visit:
    """A page with everything that went wrong in it."""

    def __init__(self, browser: Any, url: str, **options: Any) -> None:
        self.context = browser.new_context(**{"viewport": VIEWPORT, **options})
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.page.on("console", lambda message: self.wrong.append(message.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda request: self.wrong.append(request.url) if request.url != self.url else None)
        self.url = url.partition("#")[0]
        self.page.goto(url)

    def data(self) -> tuple[int, str, bool]:
        """The step, the view and whether it plays."""
        said = self.page.evaluate("({...document.querySelector('.player').dataset})")
        return int(said["step"]), said["view"], said["playing"] == "true"

    def wait_for(self, wanted: Callable[[int, str, bool], bool]) -> None:
        """Until the page stands as it should; its own security policy forbids it to wait for expressions."""
        deadline = time.monotonic() + PATIENCE
        while not wanted(*self.data()):
            assert time.monotonic() < deadline, self.data()
            self.page.wait_for_timeout(20)

    def settle(self) -> None:
        """Until what must be painted by now is painted."""
        self.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def painted(self) -> str:
        """The board, once it is painted as it must be by now."""
        self.settle()
        return str(self.page.evaluate("document.querySelector('.pommerman canvas').toDataURL()"))

    def color(self, cell: int, size: int = 11) -> list[int]:
        """The colour in the middle of a cell."""
        self.painted()
        return self.page.evaluate(
            """([cell, size]) => {
              const canvas = document.querySelector(".pommerman canvas"), unit = canvas.width / (size + 0.8);
              const at = (k) => Math.round((0.9 + k) * unit);
              const dot = new OffscreenCanvas(1, 1).getContext("2d");
              dot.drawImage(canvas, at(cell % size), at(Math.floor(cell / size)), 1, 1, 0, 0, 1, 1);
              return [...dot.getImageData(0, 0, 1, 1).data];
            }""",
            [cell, size],
        )


def near(color: list[int], other: str, most: int) -> bool:
    """Whether a painted colour is about a named one."""
    parts = [int(other[k : k + 2], 16) for k in (1, 3, 5)]
    return all(abs(a - b) <= most for a, b in zip(color, parts, strict=False))


@pytest.fixture
def visit(chromium: Any, file: Path) -> Iterator[Any]:
    visits: list[Visit] = []

    def go(link: str = "", path: Path = file, **options: Any) -> Visit:
        visits.append(Visit(chromium, path.as_uri() + link, **options))
        return visits[-1]

    yield go
    for opened in visits:
        assert opened.wrong == []  # no message, no error, nothing fetched
        opened.context.close()


def test_it_plays(visit: Any, match: Match) -> None:
    seen = visit()
    assert seen.data() == (0, "all", False)
    seen.page.select_option(".speed select", "40")
    seen.page.keyboard.press("Space")
    seen.wait_for(lambda step, view, playing: playing and step > 3)
    seen.page.click(".play")
    step, _, playing = seen.data()
    assert 3 < step < len(match.steps)
    assert not playing
    assert seen.page.get_attribute(".play", "aria-label") == "Play (space)"


def test_steps_and_scrubbing(visit: Any, match: Match) -> None:
    seen, last = visit(), len(match.steps)
    steps = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "PageDown", "End", "ArrowRight", "Home", "ArrowLeft"):
        seen.page.keyboard.press(key)
        steps.append(seen.data()[0])
    assert steps == [1, 2, 1, 11, last, last, 0, 0]
    box = seen.page.locator(".scrub").bounding_box()
    seen.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 30)
    assert abs(seen.data()[0] - last / 2) <= 2
    assert seen.page.input_value(".scrub") == str(seen.data()[0])


def test_the_end(visit: Any, match: Match) -> None:
    seen = visit(f"#step={len(match.steps) - 1}")
    assert seen.page.is_hidden(".banner")
    seen.page.keyboard.press("Space")
    seen.page.wait_for_selector(".banner")
    assert seen.page.inner_text(".outcome") == film(match).outcome()
    seen.page.keyboard.press("Escape")
    assert seen.page.is_hidden(".banner")
    seen.page.keyboard.press("Space")  # from the beginning
    seen.wait_for(lambda step, view, playing: playing and step < 50)


def test_the_dead_are_marked_where_they_died(visit: Any, match: Match) -> None:
    """Long after it faded, the ground where an agent died is not that of other open cells of the same shade."""
    shown = film(match)
    number, cell = next(
        (number, agent.cell)
        for number, frame in enumerate(shown.frames)
        for k, agent in enumerate(frame.agents)
        if not agent.alive and not shown.frames[max(number - 4, 0)].agents[k].alive and is_open(frame, agent.cell)
    )
    frame = shown.frames[number]
    bare = [
        other for other in range(121)
        if is_open(frame, other) and (other - cell) % 2 == 0 and other not in {agent.cell for agent in frame.agents}
    ]  # fmt: skip
    seen = visit(f"#step={number}")
    colors = {tuple(seen.color(other)) for other in bare}
    assert tuple(seen.color(cell)) not in colors


def is_open(frame: Frame, cell: int) -> bool:
    """Return whether nothing stands, lies or burns in a cell nor in the one below, which could reach over it."""
    return all(
        frame.ground[one] == 0 and one not in {thing.cell for thing in (*frame.bombs, *frame.flames)}
        and one not in {agent.cell for agent in frame.agents if agent.alive}
        for one in (cell, cell + 11) if one < 121
    )  # fmt: skip


def test_an_agents_view_is_fogged(visit: Any, match: Match) -> None:
    seen, start = visit("#step=0"), film(match).frames[0]
    far = [start.agents[k].cell for k in (1, 2, 3)]  # in the other corners, out of sight of agent 0
    whole = [seen.color(cell) for cell in far]
    own = seen.color(start.agents[0].cell)
    seen.page.keyboard.press("1")
    assert seen.data()[1] == "0"
    fogged = [seen.color(cell) for cell in far]
    assert all(before != after for before, after in zip(whole, fogged, strict=True))
    assert all(near(color, DAY["fog"], 30) for color in fogged)
    assert max(abs(a - b) for a, b in zip(own, seen.color(start.agents[0].cell), strict=True)) < 60  # it breathes
    assert seen.page.locator(".seat-card").nth(1).inner_text().count("?") == 2  # what agent 2 has is not known either
    seen.page.keyboard.press("0")
    assert seen.data()[1] == "all"
    seen.page.locator(".views button").nth(3).click()
    assert seen.data()[1] == "2"


def test_links(visit: Any) -> None:
    seen = visit("#step=12&view=2")
    assert seen.data() == (12, "2", False)
    seen.page.keyboard.press("ArrowRight")
    assert seen.page.evaluate("location.hash") == "#step=13&view=2"
    seen.page.evaluate("location.hash = '#step=5'")
    seen.wait_for(lambda step, view, playing: (step, view) == (5, "all"))
    seen.page.evaluate("location.hash = '#step=1e99&view=-7'")  # nonsense is ignored
    seen.wait_for(lambda step, view, playing: (step, view) == (5, "all"))
    seen.page.evaluate("location.hash = '#step=999999&view=9'")
    seen.wait_for(lambda step, view, playing: step > 5 and view == "all")


def test_the_log_leads_to_its_steps(visit: Any, match: Match) -> None:
    seen, shown = visit(), film(match)
    steps = [frame.step for frame in shown.frames for _ in frame.events]
    assert seen.page.locator(".log li").count() == len(steps) + 1  # and how it ended
    deaths = seen.page.locator(".log .death button")
    step = next(frame.step for frame in shown.frames for event in frame.events if event.kind == "death")
    deaths.first.click()
    assert seen.data()[0] == step
    assert re.search(r"dies|burns|crushed", deaths.first.inner_text())
    assert seen.page.locator(".seat-card.out").count() >= 1


def test_what_is_under_the_pointer(visit: Any, match: Match) -> None:
    seen, shown = visit(), film(match)
    number, bomb = next((k, frame.bombs[0]) for k, frame in enumerate(shown.frames) if frame.bombs)
    seen.page.evaluate(f"location.hash = '#step={number}'")
    seen.wait_for(lambda step, view, playing: step == number)
    box = seen.page.locator(".pommerman canvas").bounding_box()
    unit = box["width"] / 11.8
    seen.page.mouse.move(box["x"] + unit * (0.9 + bomb.cell % 11), box["y"] + unit * (0.9 + bomb.cell // 11))
    assert f"{shown.players[bomb.owner]}'s bomb: {bomb.life} steps left" in seen.page.inner_text(".tip")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone(visit: Any, scheme: str) -> None:
    seen = visit("#step=9", viewport={"width": 360, "height": 700}, device_scale_factor=3, color_scheme=scheme)
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360
    wide = seen.page.evaluate(
        "(({ width, clientWidth }) => [width, clientWidth])(document.querySelector('.pommerman canvas'))"
    )
    assert wide[0] == pytest.approx(3 * wide[1], abs=3)
    light = sum(
        int(part) for part in re.findall(r"\d+", seen.page.evaluate("getComputedStyle(document.body).backgroundColor"))
    )
    assert (light > 380) == (scheme == "light")


def test_names_are_text(visit: Any, match: Match, tmp_path: Path) -> None:
    fields = {name: getattr(match, name) for name in match.__struct_fields__}
    path = tmp_path / "hostile.html"
    path.write_text(watch_page(Match(**fields | {"agents": (HOSTILE,) * 4})), encoding="utf-8")
    seen = visit(path=path)
    assert seen.page.evaluate("window.harmed") is None
    assert seen.page.locator("b:text('bold'), img").count() == 0
    card = seen.page.locator(".seat-card").first
    assert '<img src=x onerror="window.harm' in card.inner_text()  # of paths the last parts are shown
    assert card.locator("[title]").first.get_attribute("title") is not None


def test_less_motion(visit: Any) -> None:
    seen = visit("#step=4", reduced_motion="reduce")
    first = seen.painted()
    seen.page.wait_for_timeout(120)
    assert seen.painted() == first
    moving = visit("#step=4")
    assert moving.painted() != moving.painted()  # agents breathe


# Other games


def watch_file(folder: Path, name: str, **changes: Any) -> Path:
    """The page of a game between agents that move at random, with some fields of its record changed."""
    match = infoset.play_match(name, ["random"] * len(infoset.load(name).players), seed=1)
    path = folder / "game.html"
    path.write_text(watch_page(msgspec.structs.replace(match, **changes)), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["kuhn_poker", "gdl:blind_tic_tac_toe", "goofspiel(num_cards=4)", EFG])
def test_every_game_is_shown(visit: Any, tmp_path: Path, name: str) -> None:
    seen = visit(path=watch_file(tmp_path, name))
    pictures = set()
    seen.page.keyboard.press("End")
    last = seen.data()[0]
    seen.page.keyboard.press("Escape")
    seen.page.keyboard.press("Home")
    for step in range(last + 1):
        assert seen.data() == (step, "all", False)
        for view in (1, 2, 0):
            seen.page.keyboard.press(str(view))
            seen.settle()
            pictures.add(seen.page.inner_html(".pictures"))
        seen.page.keyboard.press("ArrowRight")
    assert len(pictures) > last
    for width in (390, 1400):
        seen.page.set_viewport_size({"width": width, "height": 800})
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


def test_eyes_hide_the_others_card(visit: Any, tmp_path: Path) -> None:
    """P1 holds the king and P2 the jack; the log, too, tells each of its own alone."""
    seen = visit("#step=3", path=watch_file(tmp_path, "kuhn_poker"))
    seen.settle()
    assert seen.page.locator(".pictures .card:not(.back)").all_inner_texts() == ["K", "J"]
    for key, own, other in (("1", "K", "J"), ("2", "J", "K")):
        seen.page.keyboard.press(key)
        seen.settle()
        assert seen.page.locator(".pictures .card:not(.back)").all_inner_texts() == [own]
        assert seen.page.locator(".pictures .card.back").count() == 1
        told = " ".join(seen.page.locator(".log li:visible span").all_inner_texts())
        assert re.search(rf"\b{own}\b", told)
        assert not re.search(rf"\b{other}\b", told)
        assert not re.search(rf"\b{other}\b", seen.page.inner_text(".unseen[aria-live]"))


def test_it_plays_a_card_game_to_its_end(visit: Any, tmp_path: Path) -> None:
    seen = visit(path=watch_file(tmp_path, "kuhn_poker"))
    seen.page.select_option(".speed select", "10")
    seen.page.keyboard.press("Space")
    seen.page.wait_for_selector(".banner")
    assert seen.page.inner_text(".outcome") == "P1 wins"
    assert seen.page.inner_text(".pays") == "P1 +1 · P2 −1"


def test_a_fault_is_marked_and_hostile_names_do_nothing(visit: Any, tmp_path: Path) -> None:
    faults = (Fault(3, 0, "late", HOSTILE),)
    seen = visit("#step=3", path=watch_file(tmp_path, "kuhn_poker", agents=(HOSTILE, "b"), faults=faults))
    assert "a late move" in seen.page.inner_text(".log .fault")
    assert seen.page.locator(".marks .dot").count() == 1
    assert seen.page.evaluate("window.harmed") is None
    assert seen.page.locator("b:text('bold'), img").count() == 0


# The player as a part of other pages


def parts_file(folder: Path, script: str, **data: Any) -> Path:
    """A page that mounts players by itself."""
    path = folder / "parts.html"
    path.write_text(
        f'<!DOCTYPE html><link rel="icon" href="data:,"><style>{source("base.css")}{source("player.css")}</style>'
        f'<div id="one"></div><div id="two"></div><script type="application/json" id="data">{embedded(data)}</script>'
        f"<script>{bundle('player.js', 'player')}{bundle('pommerman/board.js', 'board')}"
        f'const data = JSON.parse(document.getElementById("data").textContent);'
        f"const [one, two] = document.querySelectorAll('div');{script}</script>",
        encoding="utf-8",
    )
    return path


def test_two_players_on_one_page(visit: Any, match: Match, tmp_path: Path) -> None:
    kuhn = infoset.play_match("kuhn_poker", ["random"] * 2, seed=1)
    script = "window.players = [player.mountPlayer(one, data.a, {start: 5}), player.mountPlayer(two, data.b)];"
    seen = visit(path=parts_file(tmp_path, script, a=recording(match), b=recording(kuhn)))
    steps = "[...document.querySelectorAll('.player')].map((player) => Number(player.dataset.step))"
    assert seen.page.evaluate(steps) == [5, 0]
    seen.page.locator(".player").nth(1).locator(".forth").click()
    seen.page.keyboard.press("ArrowRight")  # goes to the one that was clicked last
    assert seen.page.evaluate(steps) == [5, 2]
    seen.page.evaluate("players[0].seek(9)")
    assert seen.page.evaluate(steps) == [9, 2]
    assert seen.page.evaluate("document.querySelectorAll('.player [id]').length") == 0
    assert "#" not in seen.page.url
    seen.page.evaluate("players[0].destroy()")
    assert seen.page.evaluate(steps) == [2]


def test_a_game_is_watched_while_it_is_played(visit: Any, match: Match, tmp_path: Path) -> None:
    states = replay_states(match)[:40]
    live = Broadcast(states[0])  # type: ignore[arg-type]
    opened = live.latest()
    sent = [live.add(state, step.actions) for state, step in zip(states[1:], match.steps, strict=False)]  # type: ignore[arg-type]
    game = infoset.load(match.game)
    start = setting(game.config, match.game, match.players, match.agents) | {"frames": [opened], "events": []}  # type: ignore[attr-defined]
    script = "window.live = player.mountPlayer(one, data.start, {live: true});"
    seen = visit(path=parts_file(tmp_path, script, start=start, sent=sent))
    seen.page.evaluate("for (const [frame, events] of data.sent) live.push(frame, events);")
    assert seen.data() == (39, "all", False)
    seen.page.keyboard.press("Tab")
    seen.page.evaluate("live.seek(3)")
    seen.page.evaluate("live.push(data.sent.at(-1)[0])")  # who looks back is left there
    assert seen.data()[0] == 3
    same = "JSON.stringify([...live.stage.film.frames[39].ground])"
    assert seen.page.evaluate(same) == str(list(film(match).frames[39].ground)).replace(" ", "")
    assert seen.page.is_hidden(".banner")
    seen.page.evaluate("live.end({outcome: 'A tie', returns: [0, 0, 0, 0], winners: []}); live.seek(99);")
    assert seen.page.inner_text(".outcome") == "A tie"


def test_a_position_as_one_agent_sees_it(visit: Any, match: Match, tmp_path: Path) -> None:
    game, start = infoset.load(match.game), film(match).frames[0]
    config = game.config  # type: ignore[attr-defined]
    shown = picture(config, 0, ((None, game.start().observation(0)),))
    script = """
      const canvas = document.createElement("canvas");
      one.className = "pommerman";
      one.append(canvas);
      board.paintPosition(canvas, data.setting, data.picture, {width: 590});"""
    start_page = parts_file(tmp_path, script, setting=setting(config, "", match.players, match.agents), picture=shown)
    seen = visit(path=start_page)
    assert all(near(seen.color(start.agents[k].cell), DAY["fog"], 30) for k in (1, 2, 3))
    assert not near(seen.color(start.agents[0].cell), DAY["fog"], 30)
