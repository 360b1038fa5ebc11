"""What a notebook shows of our objects: all of it, escaped, cut where it is long, and never slow."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from msgspec.structs import replace

import infoset
from conftest import KUHN, form_of
from infoset.arena.ratings import Rating
from infoset.arena.standings import Encounter, Standings
from infoset.match.replay import Match
from infoset.view.markup import palette
from infoset.view.watch_page import watch_page

HOSTILE = '</script></style><img src=x onerror="harm()">\x00\x1b[31m\u202e' + "x" * 5000
VOID = {"img", "br", "line", "rect", "circle", "path", "use", "polyline", "polygon", "ellipse", "meta"}


class Reader(HTMLParser):
    """The elements, the texts, and whether every element that is opened is closed again."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.handlers: list[str] = []
        self.texts: list[str] = []
        self.frames: list[dict[str, str]] = []
        self.feed(text)
        self.close()
        assert self.open == [], text

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        if tag == "iframe":
            self.frames.append({name: value for name, value in attrs if name in ("sandbox", "srcdoc", "src")})
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.texts.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.texts).split())


def read(shown: Any) -> Reader:
    return Reader(shown._repr_html_())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("kuhn_poker(players=3)", "players P1, P2, P3"),
        ("gdl:monty_hall", "propositions"),
        ("pommerman:PommeTeamCompetition-v0", "agents see 4 cells each way"),
        ("examples/half_street_poker.efg", "histories 31 information sets 7"),
    ],
)
def test_a_game_says_who_plays_and_what_is_known_of_its_size(name: str, expected: str) -> None:
    game = infoset.load(name)
    page = read(game)
    assert expected in page.words
    assert game.name in page.words
    assert ("svg" in page.tags) == name.endswith(".efg")  # small enough for its tree
    assert repr(game) == f"{type(game).__name__}({game.name!r}, players={game.players!r})"


def test_a_large_game_is_not_enumerated_to_be_shown() -> None:
    game = infoset.load("goofspiel(num_cards=13)")
    game._repr_html_()  # it has more positions than could be listed in days


def test_a_state_says_who_may_do_what() -> None:
    start = infoset.load("kuhn_poker").start().state
    assert "Chance moves: J 0.333, Q 0.333, K 0.333." in read(start).words
    dealt = start.play((None, None), "K").state.play((None, None), "J").state
    assert "P1 pass, bet P2 waits" in read(dealt).words
    ended = dealt.play(("bet", None)).state.play((None, "pass")).state
    assert "The game is over. player payoff P1 +1 P2 -1" in read(ended).words
    huge = infoset.load("pommerman:OneVsOne-v0").start().state
    assert not hasattr(huge, "_repr_html_")  # nothing is there before the board is drawn


def test_a_board_is_drawn() -> None:
    page = read(infoset.load("pommerman:OneVsOne-v0(seed=3)").start().state)
    assert "svg" in page.tags
    assert "Agent0 0, 1, 2, 3, 4, 5" in page.words


def test_a_policy_has_a_row_for_an_information_set_and_a_column_for_a_move() -> None:
    policy = infoset.solve(KUHN, "lp").policy
    page = read(policy)
    assert "P2 pass bet" in page.words
    assert "K bet 0 1" in page.words  # with a king a bet is always called
    assert page.words.count("0.333") == 2 * sum(abs(p - 1 / 3) < 1e-9 for t in policy.tables for r in t.values() for p in r.values()) / 2  # fmt: skip
    widths = re.findall(r"width:([\d.e+-]+)%", policy._repr_html_())
    assert widths
    assert all(0 < float(width) <= 100 for width in widths)


def test_a_large_policy_is_shown_by_its_beginning() -> None:
    policy = infoset.TabularPolicy.uniform(form_of("leduc_poker"))
    page = read(policy)
    assert "… 453 more information sets of P1" in page.words
    assert len(policy._repr_html_()) < 30_000


def test_of_many_moves_the_likeliest_are_listed() -> None:
    row = {f"move{k}": (0.5 if k == 17 else 0.5 / 19) for k in range(20)}
    words = read(infoset.TabularPolicy("big", ("P1",), ({"here": row},))).words
    assert "likeliest moves here move17 0.500, move0 0.026" in words
    assert "… 16 more" in words


def test_a_solution_has_figures_a_curve_and_the_policy() -> None:
    solution = infoset.solve(KUHN, "cfr+", iterations=200)
    page = read(solution)
    assert f"exploitability {solution.exploitability:.4g}" in page.words
    assert "stopped: iterations, after 200 iterations" in page.words
    assert {"polyline", "table"} <= page.tags
    assert "polyline" not in read(infoset.solve(KUHN, "lp")).tags  # one point is not a curve
    assert "chosen because: two players" in read(infoset.solve(KUHN)).words


def test_figures_of_an_evaluation() -> None:
    words = read(infoset.evaluate(KUHN, "random")).words
    assert "exploitability 0.4583" in words
    assert "P2 -0.125 +0.416667 0.5417" in words


def test_a_match_and_a_series() -> None:
    match = infoset.play_match("leduc_poker", ["random", "random"], seed=2)
    page = read(match)
    assert "steps 7 seed 2 player agent payoff" in page.words
    assert page.frames == [{"sandbox": "allow-scripts", "srcdoc": watch_page(match)}]  # kept from the notebook's own
    series = infoset.play_series("leduc_poker", ["random", "random"], games=20, seed=2)
    assert "P1 random 20" in read(series).words


def test_a_match_of_a_game_without_a_name_says_how_to_watch_it() -> None:
    match = replace(infoset.play_match("kuhn_poker", ["random", "random"], seed=1), game="mine")
    page = read(match)
    assert page.frames == []
    assert "To watch it, give the game to infoset.watch: unknown game 'mine'" in page.words


def standings(teams: int, name: str = "team") -> Standings:
    names = tuple(f"{name}{k}" for k in range(teams))
    table = tuple(Encounter(a, b, 3, 1, 0) for k, a in enumerate(names) for b in names[k + 1 :])
    return Standings("kuhn_poker", names, 0, 8, 8, 8, 1.0, table, (), "games")


def test_standings_are_a_picture_or_a_table() -> None:
    assert "svg" in read(standings(3)).tags
    page = read(standings(41))
    assert "svg" not in page.tags
    assert "1 team0" in page.words
    assert isinstance(standings(3).ratings[0], Rating)


def test_hostile_names_are_texts() -> None:
    policy = infoset.TabularPolicy(HOSTILE, (HOSTILE,), ({HOSTILE: {HOSTILE: 1.0}},), made_by={"method": HOSTILE})
    match = Match(game=HOSTILE, players=(HOSTILE,), agents=(HOSTILE,), seed=1, seconds_per_move=None, returns=(0.0,), steps=())  # fmt: skip
    for shown in (policy, match, standings(2, HOSTILE), standings(41, HOSTILE)):
        page = read(shown)
        assert not page.tags & {"img", "script"}
        assert page.handlers == []
        assert "\x00" not in shown._repr_html_()
        assert "\x1b" not in shown._repr_html_()
    assert len(policy._repr_html_()) < 10_000


def test_a_tree_is_a_picture_or_a_line() -> None:
    small, large = (infoset.GameTree.of(infoset.load(name)) for name in (KUHN, "leduc_poker"))
    assert "<svg" in small._repr_svg_()
    assert large._repr_svg_() is None
    assert repr(large) == ("GameTree of leduc_poker: 9,457 histories (5,520 ends, depth 11), 936 information sets")


def test_colours_are_those_of_the_pages() -> None:
    assert {f"hue{k}" for k in range(8)} <= palette().keys()
    html = infoset.load(KUHN)._repr_html_()
    assert "light-dark(" in html
    assert ".vscode-dark .infoset" in html
