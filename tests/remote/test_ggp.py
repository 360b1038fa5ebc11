"""The GGP protocol: messages as documented, players and a manager over loopback, and whatever goes wrong."""

import json
import re
import socket
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from random import Random
from typing import ClassVar

import numpy as np
import pytest
from typer.testing import CliRunner

from gdl_interpreter import Interpreter
from infoset import Match, load, play_series, replay_states
from infoset.cli.app import app
from infoset.errors import FormatError, InfosetError, ParameterError, RemoteError, UnsupportedGameError
from infoset.gdl.checks import repair
from infoset.gdl.library import description, library
from infoset.gdl.syntax import KEYWORDS, Description, Kif, Term, parse_gdl, read_gdl
from infoset.match.agents import AGENTS
from infoset.remote import ggp_agent, ggp_player, ggp_server, serving, tracking
from infoset.remote.ggp_agent import GgpAgent, ggp
from infoset.remote.ggp_player import GgpSession, margin
from infoset.remote.ggp_server import server
from infoset.remote.kif import (
    MAX_CLOCK,
    Abort,
    Info,
    Joint,
    Play,
    Preview,
    Seen,
    Start,
    Stop,
    parse_action,
    read_message,
    written,
)
from infoset.remote.scrambling import Scrambling
from infoset.remote.serving import listening
from infoset.remote.tracking import ObservedStep, Tracking
from infoset.remote.wire import Wire

CLOCKS = {"start_clock": 20.0, "play_clock": 10.0}  # what a busy machine needs; nothing lasts so long
GAMES = ["gdl:blind_tic_tac_toe", "gdl:meier", "gdl:monty_hall"]
FINE = {"illegal": 0, "late": 0, "error": 0}


@contextmanager
def player(agent: str = "random", **settings) -> Iterator[tuple[str, GgpSession]]:
    """Our player over loopback: its address, and the desk behind it."""
    desk = GgpSession(agent, **settings)
    with listening("127.0.0.1", 0) as where:
        running = server(desk)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [where]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{where.getsockname()[1]}", desk
        finally:
            running.should_exit = True
            thread.join()
            desk.close()


@pytest.fixture(scope="module")
def players() -> Iterator[list[str]]:
    """The addresses of two players that play at random."""
    with player() as (one, _), player(seed=1) as (other, _):
        yield [one, other]


def seated(urls: list[str], game: str, **settings) -> list[GgpAgent]:
    return [GgpAgent(url, **{**CLOCKS, **settings}) for url in urls[: len(load(game).players)]]


def series(urls: list[str], game: str, games: int, keep=None, **settings):
    agents = seated(urls, game, **settings)
    try:
        return play_series(
            game, agents, games=games, seed=1, keep=keep,
            seconds_to_begin=agents[0].start_clock, seconds_per_move=agents[0].play_clock,
        )  # fmt: skip
    finally:
        for agent in agents:
            agent.close()


# ---------------------------------------------------------------------------------------------------------------------
# Messages
# ---------------------------------------------------------------------------------------------------------------------

RULES = parse_gdl("(role x) (<= (legal x (mark 1 2)) (not (true done)))")

MESSAGES = [
    ("(INFO)", Info()),
    ("(PREVIEW ((role x) (<= (legal x (mark 1 2)) (not (true done)))) 10)", Preview(RULES, 10)),
    ("(START m1 x ((role x) (<= (legal x (mark 1 2)) (not (true done)))) 10 5)", Start("m1", "x", RULES, 10, 5)),
    ("(PLAY m1 NIL)", Play("m1", Joint())),
    ("(PLAY m1 ((mark 1 2) noop))", Play("m1", Joint((("mark", 1, 2), "noop")))),
    ("(STOP m1 ((mark 1 2) noop))", Stop("m1", Joint((("mark", 1, 2), "noop")))),
    ("(PLAY m1 0 NIL NIL)", Play("m1", Seen())),
    ("(PLAY m1 3 (mark 1 2) (ok))", Play("m1", Seen(3, ("mark", 1, 2), ("ok",)))),
    ("(PLAY m1 3 noop ())", Play("m1", Seen(3, "noop"))),
    ("(STOP m1 4 noop ((opened 3) ok))", Stop("m1", Seen(4, "noop", (("opened", 3), "ok")))),
    ("(ABORT m1)", Abort("m1")),
]


@pytest.mark.parametrize(("text", "message"), MESSAGES, ids=lambda value: value if isinstance(value, str) else "")
def test_messages_are_the_documented_ones(text: str, message) -> None:
    assert read_message(text) == message
    assert str(message) == text
    assert read_message(f"  {text.upper().replace(' ', chr(10) + chr(9))} ; a comment\n") == message


def test_what_is_written_otherwise_is_read_too() -> None:
    assert read_message("(PLAY M 3 (MARK 1 2) (OK ))") == Play("m", Seen(3, ("mark", 1, 2), ("ok",)))
    assert read_message("(play m ((noop) (noop)))") == Play("m", Joint(("noop", "noop")))
    assert read_message("(PLAY m 1 (noop) NIL)") == Play("m", Seen(1, "noop"))
    assert read_message("(PLAY m ())") == Play("m", Joint())
    assert read_message(f"(START m x ({RULES}) 1e9 inf)") == Start("m", "x", RULES, MAX_CLOCK, MAX_CLOCK)
    assert parse_action(" ( MARK 01 2 )\r\n") == ("mark", "01", 2)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", r"message:1:1: found the end of the text, expected '\('"),
        ("hello", r"found 'hello', expected '\('"),
        ("(HELLO)", "found 'hello', expected INFO, PREVIEW, START, PLAY, STOP, ABORT"),
        ("(INFO", r"expected '\)'"),
        ("(INFO) (INFO)", "expected the end of the text"),
        ("(PLAY)", "expected the name of a match"),
        ("(PLAY m)", "expected NIL, the moves"),
        ("(PLAY m -1 NIL NIL)", "found '-1', expected NIL, the moves"),
        ("(PLAY m 1 noop", r"expected '\('"),
        ("(PLAY m ((mark ?x)))", "expected a term without variables"),
        ("(PLAY m 1 noop (ok)) )", "expected the end"),
        ("(PLAY m " + "(" * 300, "expected a name"),
        ("(PLAY m (" + "(f " * 300, "at most 200 levels"),
        ("(START m x ((role x)) ten 5)", "found 'ten', expected a clock"),
        ("(START m x ((role x)) 0 5)", "found '0', expected a clock"),
        ("(START m x ((role x)) nan 5)", "found 'nan', expected a clock"),
        ("(START m x ((role x) 10 5)", "expected"),
        ("(START m (x) ((role x)) 10 5)", "expected a role"),
    ],
)
def test_broken_messages_are_one_line(text: str, says: str) -> None:
    with pytest.raises(FormatError, match=says) as caught:
        read_message(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "(", "(mark 1", "mark 1 2", "?x", "(?x)", "(mark ?x)", "()", ")"])
def test_broken_answers(text: str) -> None:
    with pytest.raises(FormatError):
        parse_action(text)


@pytest.mark.parametrize("name", library())
def test_rules_survive_the_way(name: str) -> None:
    rules = description(name)
    read = read_message(str(Start("m", "x", rules, 1.5, 1)))
    assert isinstance(read, Start)
    assert read.rules == rules
    assert read.start_clock == 1.5


def test_scrambling() -> None:
    rules = description("meier")
    scrambling = Scrambling(rules, np.random.default_rng(0))
    words = set(re.findall(r"[^\s()]+", str(scrambling.description)))
    known = set(re.findall(r"[^\s()]+", str(rules)))
    assert {w for w in words & known if not w.startswith("?")} <= KEYWORDS | {"<="} | {w for w in known if w.isdigit()}
    assert Scrambling(rules, np.random.default_rng(0)).description == scrambling.description
    move = ("claim", 6, 1)
    assert scrambling.out(move) != move
    assert scrambling.back(scrambling.out(move)) == move
    assert scrambling.back("unheard") == "unheard"


# ---------------------------------------------------------------------------------------------------------------------
# Matches over loopback
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", [*GAMES, "gdl:tic_tac_toe"])
def test_two_players_play(game: str, players: list[str]) -> None:
    played: list[Match] = []
    found = series(players, game, 2, played.append)
    assert found.games == 2
    assert [dict(score.faults) for score in found.agents] == [FINE] * len(found.agents)
    for match in played:
        assert replay_states(match)[-1].returns() == match.returns


@pytest.mark.parametrize("game", ["gdl:blind_tic_tac_toe", "gdl:tic_tac_toe"])
def test_two_players_play_by_words_without_meaning(game: str, players: list[str]) -> None:
    found = series(players, game, 1, scramble=True)
    assert [dict(score.faults) for score in found.agents] == [FINE] * len(found.agents)


@pytest.mark.slow
@pytest.mark.parametrize("scramble", [False, True], ids=["plain", "scrambled"])
@pytest.mark.parametrize("game", GAMES)
def test_a_hundred_games(game: str, scramble: bool, players: list[str]) -> None:
    found = series(players, game, 100, scramble=scramble)
    assert found.games == 100
    assert [dict(score.faults) for score in found.agents] == [FINE] * len(found.agents)


@pytest.mark.slow
@pytest.mark.parametrize("name", library())
def test_every_game_that_comes_along(name: str, players: list[str]) -> None:
    found = series(players, f"gdl:{name}", 2)
    assert [dict(score.faults) for score in found.agents] == [FINE] * len(found.agents)


@pytest.mark.slow
def test_the_search_that_plays_by_default() -> None:
    with player("search") as (url, _):
        found = series([url], "gdl:monty_hall", 60, start_clock=3.0)
    assert dict(found.agents[0].faults) == FINE
    assert found.agents[0].mean > 50  # it switches


# Perfect information: games that are so, and those with hidden information once nothing is hidden any more.

OPEN = ["8puzzle", "CabbageGoatWolf", "buttons", "hanoi", "rockpaperscissors", "roshambo2", "tictactoe",
        "gdl:tic_tac_toe", "gdl:connect_four", "gdl:breakthrough", "gdl:hex"]  # fmt: skip
OPENED = ["BlindBreakthrough", "KriegTictactoe", "MontyHall-20door", "kriegTTT_5x5", "latenttictactoe", "mastermind448",
          "meier", "minesweeper", "montyhall", "pennies", "stratego", "vis_pacman3p",
          *(f"gdl:{name}" for name in library() if f"gdl:{name}" not in OPEN)]  # fmt: skip
"""Two files are no games, three of the folder take seconds a step."""
QUICK = {"CabbageGoatWolf", "rockpaperscissors", "tictactoe", "montyhall", "gdl:kuhn_poker"}


def opened(rules: Description) -> str:
    """Nobody sees percepts, so that everybody sees the moves; chance is a player like others."""
    kept = Description(tuple(rule for rule in rules.rules if rule.head.functor != "sees"))
    return re.sub(r"(?<![\w?])random(?!\w)", "chance_outcome", str(kept))


@contextmanager
def overheard(count: int) -> Iterator[tuple[list[str], list[list[tuple[str, str]]]]]:
    """Players, and what each was told and answered."""
    with ExitStack() as stack:
        found = [stack.enter_context(player(seed=seed)) for seed in range(count)]
        heard: list[list[tuple[str, str]]] = [[] for _ in found]
        for (_, one), pairs in zip(found, heard, strict=True):
            one.answer = lambda text, arrived, answer=one.answer, pairs=pairs: (
                pairs.append((text, answer(text, arrived))) or pairs[-1][1]
            )
        yield [url for url, _ in found], heard


@pytest.mark.filterwarnings("ignore::infoset.gdl.rules.GdlWarning")
@pytest.mark.parametrize("scramble", [False, True], ids=["plain", "scrambled"])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in [*OPEN, *OPENED]]
)
def test_games_of_perfect_information(name: str, scramble: bool, tmp_path: Path, request) -> None:
    """Played to their end without a fault; every message and every answer is as documented."""
    if not name.startswith("gdl:"):
        name = str(request.getfixturevalue("shared") / "games" / "gdl" / f"{name}.gdl")
    if Path(name).stem not in OPEN and name not in OPEN:
        rules = description(name.removeprefix("gdl:")) if name.startswith("gdl:") else repair(read_gdl(name))
        name = str(tmp_path / "opened.gdl")
        Path(name).write_text(opened(rules))
    played: list[Match] = []
    with overheard(len(load(name).players)) as (urls, heard):
        found = series(urls, name, 1, played.append, scramble=scramble)
    assert [dict(score.faults) for score in found.agents] == [FINE] * len(urls)
    (match,) = played
    for pairs in heard:
        messages = [read_message(text) for text, _ in pairs]
        assert [str(message) for message in messages] == [text for text, _ in pairs]
        assert [type(message) for message in messages] == [Start, *[Play] * len(match.steps), Stop]
        observed = [message.observed for message in messages[1:]]
        assert observed[0] == Joint()
        assert all(len(joint.moves) == len(urls) for joint in observed[1:])
        if not scramble:
            assert [joint.moves for joint in observed[1:]] == [step.actions for step in match.steps]
        answers = [answer for _, answer in pairs]
        assert (answers[0], answers[-1]) == ("READY", "DONE")
        assert [written(parse_action(answer)) for answer in answers[1:-1]] == answers[1:-1]


# A player of its own, written from section 5 of the specification: it knows nothing of infoset.


class OtherPlayer(BaseHTTPRequestHandler):
    """Plays Monty Hall: chooses door 2, waits, switches.  Trusts turn numbers, and says so in capitals."""

    seen: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        assert self.headers["Content-Type"] == "text/acl"
        text = self.rfile.read(int(self.headers["Content-Length"])).decode().lower()
        self.seen.append(text)
        word = re.findall(r"[^\s()]+", text)[0]
        if word == "start":
            assert " candidate (" in text
            assert "(role candidate)" in text
            reply = "READY"
        elif word == "play":
            turn = int(text.split()[2])
            legal_actions = {0: "( CHOOSE 2 )", 1: "NOOP", 2: "switch"}
            reply = legal_actions[turn]
        else:
            reply = {"info": "((name other)(status available))", "stop": "DONE", "abort": "ABORTED"}[word]
        self.send_response(200)
        self.send_header("Content-type", "text/acl")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply.encode())

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def handler(kind: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), kind) as found:
        thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{found.server_port}"
        finally:
            found.shutdown()
            thread.join()


def test_an_independent_player_plays() -> None:
    OtherPlayer.seen = []
    with handler(OtherPlayer) as url:
        found = series([url], "gdl:monty_hall", 1)
    assert dict(found.agents[0].faults) == FINE
    asked = [re.sub(r"infoset\.\w+", "id", text) for text in OtherPlayer.seen]
    assert asked[0].startswith("(start id candidate ((")
    assert asked[0].endswith(") 20 10)")
    assert asked[1] == "(play id 0 nil nil)"
    assert asked[2] == "(play id 1 (choose 2) ())"
    assert re.fullmatch(r"\(play id 2 noop \(\(opened [13]\)\)\)", asked[3])
    assert re.fullmatch(r"\(stop id 3 switch \(.*\)\)", asked[4])


def test_a_player_whose_answers_end_with_the_connection() -> None:
    """As HTTP/1.0 allows, without a length."""

    class Old(OtherPlayer):
        protocol_version = "HTTP/1.0"

        def send_header(self, keyword: str, value: str) -> None:
            if keyword.lower() != "content-length":
                super().send_header(keyword, value)

    with handler(Old) as url:
        found = series([url], "gdl:monty_hall", 1)
    assert dict(found.agents[0].faults) == FINE


# ---------------------------------------------------------------------------------------------------------------------
# Players that go wrong, and our manager
# ---------------------------------------------------------------------------------------------------------------------


def answering(play: str | None, start: str = "READY", wait: float = 0.0) -> type[BaseHTTPRequestHandler]:
    """A player that answers PLAY so, late if need be; ``None``: it hangs up."""

    class Wrong(OtherPlayer):
        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"])).decode()
            reply = start if text.startswith("(START") else play
            if text.startswith("(PLAY"):
                time.sleep(wait)
            if reply is None:
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply.encode())

    return Wrong


@pytest.mark.parametrize(
    ("kind", "kinds"),
    [
        (answering("(choose 17)"), {"illegal"}),
        (answering("((((("), {"error"}),
        (answering("<html>no</html> at all"), {"error"}),
        (answering(None), {"error"}),
        (answering("noop", start="BUSY"), {"error"}),
        (answering("noop", wait=0.3), {"late", "error"}),
    ],
    ids=["illegal", "broken", "html", "hangs up", "busy", "late"],
)
def test_faults_of_a_player(kind: type[BaseHTTPRequestHandler], kinds: set[str]) -> None:
    played: list[Match] = []
    with handler(kind) as url:
        series([url], "gdl:monty_hall", 1, played.append, play_clock=0.1 if "late" in kinds else 60.0)
    (match,) = played
    assert len(match.steps) == 3
    assert {fault.kind for fault in match.faults} <= kinds
    replaced = {fault.step for fault in match.faults if not fault.detail.startswith(("begin", "end"))}
    assert replaced == {1, 2, 3}
    assert replay_states(match)[-1].returns() == match.returns


def test_nobody_listens(players: list[str]) -> None:
    """It is said before the first game, by the address."""
    with listening("127.0.0.1", 0) as where:
        dead = f"http://127.0.0.1:{where.getsockname()[1]}"
    with pytest.raises(RemoteError, match=f"^{re.escape(dead)}: nobody listens there$"):
        series([players[0], dead], "gdl:kuhn_poker", 2)


def test_one_that_takes_no_connection() -> None:
    """It listens and never answers: the clocks end it."""
    game = load("gdl:kuhn_poker")
    with listening("127.0.0.1", 0) as where:
        agent = GgpAgent(f"http://127.0.0.1:{where.getsockname()[1]}", 0.2, 0.2)
        with pytest.raises(TimeoutError):
            agent.begin(game, 0, np.random.default_rng(0), None)
        with pytest.raises(TimeoutError):
            agent.act(("noop",), time.monotonic() + 0.1)
        agent.match = ""
        agent.close()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "url is missing"),
        ({"url": "ftp://x"}, "not an address"),
        ({"url": "http://x", "play_clock": 0.0}, "play_clock=0.0; allowed"),
        ({"url": "http://x", "start_clock": float("nan")}, "start_clock=nan; allowed"),
    ],
)
def test_an_agent_that_cannot_be(arguments: dict, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        ggp(**arguments)


def test_a_game_that_is_no_description() -> None:
    agent = GgpAgent("http://127.0.0.1:1")
    with pytest.raises(UnsupportedGameError, match="kuhn_poker is not described in GDL"):
        agent.begin(load("kuhn_poker"), 0, np.random.default_rng(0), None)


def test_a_match_that_is_given_up_is_aborted() -> None:
    OtherPlayer.seen = []
    with handler(OtherPlayer) as url:
        agent = GgpAgent(url, **CLOCKS)
        agent.begin(load("gdl:monty_hall"), 0, np.random.default_rng(0), None)
        agent.close()
        agent.close()
    assert [text.split()[0] for text in OtherPlayer.seen] == ["(start", "(abort"]


# ---------------------------------------------------------------------------------------------------------------------
# Bad messages and bad agents, and our player
# ---------------------------------------------------------------------------------------------------------------------

MONTY = str(description("monty_hall"))


def start(match: str = "m", role: str = "candidate", rules: str = MONTY, clocks: str = "20 10") -> str:
    return f"(START {match} {role} ({rules}) {clocks})"


@contextmanager
def desk(agent: str = "random", **settings) -> Iterator[GgpSession]:
    found = GgpSession(agent, **settings)
    try:
        yield found
    finally:
        found.close()


def test_a_desk_plays_a_match() -> None:
    with desk() as one:
        assert one.answer("(INFO)") == "((name infoset)(status available))"
        assert one.answer(f"(PREVIEW ({MONTY}) 5)") == "READY"
        assert one.answer(start()) == "READY"
        assert one.answer("(INFO)") == "((name infoset)(status busy))"
        assert one.answer(start("other")) == "busy"
        assert one.answer("(PLAY m 0 NIL NIL)") in {f"(choose {k})" for k in (1, 2, 3)}
        assert one.answer("(PLAY M 1 (CHOOSE 3) ())") == "noop"  # whatever it chose itself
        assert one.answer("(PLAY m 2 noop ((opened 1)))") in {"noop", "switch"}
        assert one.answer("(STOP m 3 switch ((car 2)))") == "DONE"
        assert one.answer("(INFO)") == "((name infoset)(status available))"


def test_the_last_move_is_trusted() -> None:
    """Blind Tic-Tac-Toe offers what was not tried; what was tried is what the manager says."""
    with desk() as one:
        one.answer(start(role="x", rules=str(description("blind_tic_tac_toe"))))
        one.answer("(PLAY m 0 NIL NIL)")
        one.answer("(PLAY m 1 (mark 2 2) (ok))")
        tracking = one.mind.seat.tracking
        assert len(tracking.legal_actions()) == 8
        assert ("mark", 2, 2) not in tracking.legal_actions()
        assert tracking.sure


TWO_PERCEPTS = """
(role a) (role random) (init (left 2)) (legal a go) (legal random heads) (legal random tails)
(<= (next (left 1)) (true (left 2))) (<= (next (left 0)) (true (left 1))) (<= terminal (true (left 0))) (goal a 50)
(<= (sees a (coin ?c)) (does random ?c)) (<= (sees a bell) (does a go))
"""


@pytest.mark.parametrize("percepts", ["((coin heads) bell)", "(bell (coin heads))", "(BELL (COIN HEADS) bell)"])
def test_percepts_have_no_order(percepts: str, monkeypatch) -> None:
    monkeypatch.setitem(AGENTS.homes, "listening", f"{__name__}:Listening")
    with desk("listening") as one:
        one.answer(start(role="a", rules=TWO_PERCEPTS))
        one.answer("(PLAY m 0 NIL NIL)")
        one.answer(f"(PLAY m 1 go {percepts})")
        one.answer(f"(STOP m 2 go {percepts})")
        assert one.mind.channel.agent.heard == [("go", (("coin", "heads"), "bell"))] * 2 + [(50.0,)]


def test_a_question_that_comes_twice_has_one_answer() -> None:
    with desk() as one:
        one.answer(start(role="x", rules=str(description("blind_tic_tac_toe"))))
        first = one.answer("(PLAY m 0 NIL NIL)")
        assert [one.answer("(PLAY m 0 NIL NIL)") for _ in range(5)] == [first] * 5


def test_a_question_without_a_number_that_comes_twice() -> None:
    """The moves of the last step once more, which cannot be played again."""
    with desk() as one:
        one.answer(start(role="o", rules=str(description("tic_tac_toe"))))
        assert [one.answer("(PLAY m NIL)") for _ in range(2)] == ["noop"] * 2
        first = one.answer("(PLAY m ((mark 1 1) noop))")
        assert [one.answer("(PLAY m ((mark 1 1) noop))") for _ in range(5)] == [first] * 5
        assert len(one.mind.seat.tracking.observed) == 1
        assert one.answer(f"(PLAY m (noop {first}))") == "noop"


@pytest.mark.parametrize("text", ["(STOP m 0 NIL NIL)", "(ABORT m)"])
def test_an_end_that_comes_twice(text: str) -> None:
    with desk() as one:
        one.answer(start())
        assert one.answer(text) == one.answer(text)
        one.answer(start("other"))
        assert one.answer("(ABORT m)") == "ABORTED"
        assert one.busy
        with pytest.raises(ParameterError, match="no match 'n' is played here; now: 'other'"):
            one.answer("(ABORT n)")


def test_a_start_that_comes_twice(monkeypatch) -> None:
    """While the rules are being read it is the same start; later it is a new one."""
    read, wait, answers = ggp_player.GdlGame, threading.Event(), []
    monkeypatch.setattr(ggp_player, "GdlGame", lambda *given: wait.wait(10) and read(*given))
    with desk() as one:
        asking = [threading.Thread(target=lambda: answers.append(one.answer(start()))) for _ in range(3)]
        for thread in asking:
            thread.start()
        while not one.busy:
            time.sleep(0.01)
        assert one.answer(start("other")) == "busy"
        wait.set()
        for thread in asking:
            thread.join()
        assert answers == ["READY"] * 3
        assert one.mind.matches == 1
        one.answer("(PLAY m 0 NIL NIL)")
        one.answer("(PLAY m 1 (choose 3) ())")
        assert one.answer(start()) == "READY"
        assert one.answer("(PLAY m 0 NIL NIL)").startswith("(choose")


@pytest.mark.parametrize("name", ["m.1-x_/:%$&", "ünï", "?x", "nil", "7", "x" * 5000])
def test_matches_of_any_name(name: str) -> None:
    with desk() as one:
        assert one.answer(start(name)) == "READY"
        assert one.answer(f"(play\n{name.upper()};PLAY\n NIL)").startswith("(choose")
        assert one.answer(f"(STOP\t{name} ((choose 1)(hide_car 2)))") == "DONE"


def test_turns_that_were_missed() -> None:
    with desk() as one:
        one.answer(start(role="x", rules=str(description("blind_tic_tac_toe"))))
        one.answer("(PLAY m 0 NIL NIL)")
        move = parse_action(one.answer("(PLAY m 3 (mark 1 1) ())"))
        assert move[0] == "mark"
        assert len(one.mind.seat.tracking.observed) == 3
        with pytest.raises(ParameterError, match="turn 2 was played; now it is 4"):
            one.answer("(PLAY m 2 (mark 1 1) ())")
        with pytest.raises(ParameterError, match="turn 1000; now it is 4"):
            one.answer("(PLAY m 1000 (mark 1 1) ())")


def test_messages_that_contradict_the_rules_do_not_stop_a_player() -> None:
    said: list[str] = []
    with desk(say=said.append) as one:
        one.answer(start())
        one.answer("(PLAY m 0 NIL NIL)")
        assert one.answer("(PLAY m 1 (choose 3) ((opened 3)))") == "noop"
        assert "no play was found" in said[-1]
        assert one.answer("(PLAY m 2 (fly away) (nonsense))") in {"noop", "switch"}
        with pytest.raises(InfosetError, match="the game is over"):
            one.answer("(PLAY m 3 noop ())")
        assert one.answer("(STOP m 3 noop ())") == "DONE"


def test_the_moves_of_all_in_a_game_with_hidden_information() -> None:
    """The form of GDL-I tells everything, the moves of random included."""
    with desk() as one:
        one.answer(start())
        one.answer("(PLAY m NIL)")
        one.answer("(PLAY m ((choose 1) (hide_car 2)))")
        tracking = one.mind.seat.tracking
        assert tracking.observed[0] == ObservedStep((("choose", 1), ("hide_car", 2)))
        with pytest.raises(ParameterError, match="1 moves; the roles are 2: candidate, random"):
            one.answer("(PLAY m (noop))")
        with pytest.raises(ParameterError, match="NIL in place of the last moves, but 1 steps"):
            one.answer("(PLAY m NIL)")


def test_a_game_without_hidden_information_in_the_form_of_gdl_ii() -> None:
    """Some managers tell the joint move in percepts, some nothing at all."""
    with desk() as one:
        one.answer(start(role="x", rules=str(description("tic_tac_toe"))))
        first = one.answer("(PLAY m 0 NIL NIL)")
        assert one.answer(f"(PLAY m 1 {first} ((does o noop) (does x {first})))") == "noop"
        assert one.mind.seat.tracking.observed[0].moves == (parse_action(first), "noop")
        assert parse_action(one.answer("(PLAY m 2 noop ())"))[0] == "mark"
        assert one.mind.seat.tracking.sure


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("(PLAY m 0 NIL NIL)", "no match 'm' is played here; now: none"),
        ("(STOP m NIL)", "no match 'm'"),
        ("(ABORT m)", "no match 'm'"),
        (start(role="host"), "'host' is not a role; allowed: candidate"),
        (start(role="random"), "'random' is played by the manager"),
        (start(rules="(role candidate)"), "no rule for"),
        (start(rules=MONTY + "(<= (legal candidate ?x) (not (true ?x)))"), r"unsafe|\?x"),
        (start(rules=""), "no rule for"),
    ],
)
def test_messages_that_cannot_be_followed(text: str, says: str) -> None:
    with desk() as one:
        with pytest.raises(InfosetError, match=says) as caught:
            one.answer(text)
        assert "\n" not in str(caught.value)
        assert not one.busy
        assert one.answer(start("next")) == "READY"


def test_a_match_without_an_end_is_forgotten() -> None:
    with desk(grace=0.0) as one:
        assert one.answer(start("old", clocks="0.2 0.1")) == "READY"
        assert one.answer(start("new")) == "busy"
        assert one.answer(start("old", clocks="0.2 0.1")) == "READY"  # the same again
        for _ in range(200):  # its clocks run out, on a busy machine a little later
            time.sleep(0.1)
            if one.answer("(INFO)") == "((name infoset)(status available))":
                break
        assert one.answer(start("new")) == "READY"
        with pytest.raises(ParameterError, match="no match 'old' is played here; now: 'new'"):
            one.answer("(PLAY old 0 NIL NIL)")
        assert one.answer("(ABORT new)") == "ABORTED"
        assert not one.busy


HANG = 600.0  # seconds, so that a test that waits for an answer does not end


class Slow:
    """Hangs where it is told to."""

    def __init__(self, where: str = "act") -> None:
        self.where = where

    def begin(self, game, player, rng, deadline):
        self._maybe("begin")

    def observe(self, own_action, observation):
        self._maybe("observe")

    def act(self, legal_actions, deadline):
        self._maybe("act")
        return legal_actions[0]

    def end(self, returns):
        self._maybe("end")

    def _maybe(self, where: str) -> None:
        if where == self.where:
            time.sleep(HANG)


class Listening(Slow):
    """Keeps what it is told."""

    def begin(self, game, player, rng, deadline):
        self.heard: list[object] = []

    def observe(self, own_action, observation):
        self.heard.append((own_action, observation))

    def act(self, legal_actions, deadline):
        return legal_actions[0]

    def end(self, returns):
        self.heard.append(returns)


class Failing(Slow):
    """Fails where it is told to."""

    def _maybe(self, where: str) -> None:
        if where == self.where:
            raise RuntimeError("broken\nin two lines")


class Leaving(Slow):
    """Ends the process where it is told to."""

    def _maybe(self, where: str) -> None:
        if where == self.where:
            raise SystemExit(3)


class Cheating(Slow):
    """Plays what is not legal."""

    def act(self, legal_actions, deadline):
        return "resign"


WRONG = [f"{kind}({place})" for kind in ("Slow", "Failing") for place in ("begin", "observe", "act", "end")]


@pytest.mark.parametrize("agent", [*WRONG, "Cheating(act)", "Leaving(begin)", "Leaving(act)"])
def test_whatever_an_agent_does_the_answer_is_legal_and_in_time(agent: str, monkeypatch) -> None:
    kind, _, place = agent.rstrip(")").partition("(")
    monkeypatch.setitem(AGENTS.homes, "wrong", f"{__name__}:{kind}")
    clocks = "0.3 0.3"
    with desk() as first:  # grounding takes longer than this start clock; a second reading of the rules does not
        first.answer(start(clocks=clocks))
        first.channel.wait(first.channel.post("end", None), None)
    with desk(f"wrong(where={place})") as one:
        for match in ("m1", "m2") if agent == "Slow(act)" else ("m1",):  # the next one has a new agent
            assert one.answer(start(match, clocks=clocks)) == "READY"
            assert one.answer(f"(PLAY {match} 0 NIL NIL)") in {f"(choose {k})" for k in (1, 2, 3)}
            assert one.answer(f"(PLAY {match} 1 (choose 3) ())") == "noop"
            assert one.answer(f"(PLAY {match} 2 noop ((opened 1)))") in {"noop", "switch"}
            assert one.answer(f"(STOP {match} 3 switch ((car 2)))") == "DONE"


def test_margins() -> None:
    assert margin(60) == 0.5
    assert margin(5) == 0.25
    assert margin(1) == 0.1
    assert margin(0.1) == 0.025


def test_rules_that_last_keep_no_answer_back(monkeypatch) -> None:
    read, wait = ggp_player.GdlGame, threading.Event()
    monkeypatch.setattr(ggp_player, "GdlGame", lambda *given: wait.wait(10) and read(*given))
    with desk() as one:
        assert one.answer(start(clocks="0.3 0.3")) == "READY"
        with pytest.raises(RemoteError, match="the rules are still being read"):
            one.answer("(PLAY m 0 NIL NIL)")
        assert one.answer("(ABORT m)") == "ABORTED"
        assert one.answer("(INFO)").endswith("busy))")
        assert one.answer(start("next")) == "busy"
        wait.set()
        while one.channel.busy:
            time.sleep(0.01)
        assert one.answer(start("next")) == "READY"


HOSTILE = " ".join(
    [
        "(role a) (legal a go) (legal a stay) (goal a 100) (<= terminal (true (c1 9)))",
        *(f"(succ {k} {k + 1})" for k in range(9)),
        *(f"(init (c{k} 0)) (<= (next (c{k} ?y)) (true (c{k} ?x)) (succ ?x ?y))" for k in range(12)),
        *(f"(<= (next (c{k} ?x)) (true (c{k} ?x)))" for k in range(12)),
        f"(<= (next (p {' '.join(f'?{k}' for k in range(12))})) {' '.join(f'(true (c{k} ?{k}))' for k in range(12))})",
    ]
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::infoset.gdl.rules.GdlWarning")
def test_rules_without_bounds() -> None:
    """Too large to ground, too large for a few steps; the player lives on."""
    with desk() as one:
        assert one.answer(start(role="a", rules=HOSTILE, clocks="1 1")) == "READY"
        with suppress(InfosetError):
            one.answer("(PLAY m NIL)")
        one.answer("(ABORT m)")
        while one.channel.busy:
            time.sleep(0.1)
        assert one.answer(start("next")) == "READY"


# ---------------------------------------------------------------------------------------------------------------------
# The server
# ---------------------------------------------------------------------------------------------------------------------


def raw(url: str, request: bytes) -> bytes:
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 5) as line:
        line.sendall(request)
        line.settimeout(5)
        found = b""
        while piece := line.recv(1 << 16):
            found += piece
        return found


def post(url: str, body: bytes) -> bytes:
    return raw(
        url, b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    )


def test_the_server_answers_as_documented(players: list[str]) -> None:
    found = post(players[0], b"(INFO)")
    assert found.startswith(b"HTTP/1.1 200")
    assert re.search(rb"content-type: text/acl", found, re.IGNORECASE)
    assert found.endswith(b"((name infoset)(status available))")
    wire = Wire(players[0])
    assert wire.post("/any/path", b"(info)", None) == b"((name infoset)(status available))"
    wire.close()


def test_bad_requests(players: list[str], monkeypatch) -> None:
    monkeypatch.setattr(ggp_server, "MAX_BODY", 1000)
    url = players[0]
    assert post(url, b"").startswith(b"HTTP/1.1 400")
    assert post(url, b"\xff\x00(((").startswith(b"HTTP/1.1 400")
    assert post(url, b"(PLAY nothing 0 NIL NIL)").endswith(b"no match 'nothing' is played here; now: none")
    assert b"a body of more than 1,000 bytes" in post(url, b"(" * 1001)
    assert raw(url, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").startswith(b"HTTP/1.1 405")
    assert b"400" in raw(url, b"nonsense\r\n\r\n").splitlines()[0]
    assert post(url, b"(INFO)").endswith(b"available))")


def test_a_body_that_never_comes(players: list[str], monkeypatch) -> None:
    monkeypatch.setattr(serving, "SECONDS_FOR_BODY", 0.1)
    found = raw(players[0], b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n(INF")
    assert found.startswith(b"HTTP/1.1 408")


def test_info_is_answered_while_an_agent_thinks(monkeypatch) -> None:
    monkeypatch.setitem(AGENTS.homes, "wrong", f"{__name__}:Slow")
    with player("wrong") as (url, _):
        assert post(url, start(clocks="3 1").encode()).endswith(b"READY")
        asking = threading.Thread(target=post, args=(url, b"(PLAY m 0 NIL NIL)"))
        asking.start()
        time.sleep(0.1)
        assert post(url, b"(INFO)").endswith(b"busy))")
        assert post(url, b"(ABORT m)").endswith(b"ABORTED")
        asking.join()


# ---------------------------------------------------------------------------------------------------------------------
# Tracking
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["krieg_tic_tac_toe", "phantom_connect", "small_battleships", "meier"])
def test_tracking_finds_a_history_that_agrees(name: str) -> None:
    """What is told of random plays is explained, and the moves are those of the real state."""
    rules, rng = load(f"gdl:{name}").rules, np.random.default_rng(0)
    evaluator = rules.evaluator
    for role in rules.seats:
        tracking, state = Tracking(evaluator, role, rng), evaluator.start()
        while not evaluator.terminal(state):
            assert tracking.legal_actions() == evaluator.legal_actions(state, role)
            action_sets = [evaluator.legal_actions(state, other) for other in range(len(evaluator.roles))]
            moves = [action_set[int(rng.integers(len(action_set)))] for action_set in action_sets]
            state, percepts = evaluator.step(state, moves)
            own = tuple(move if other == role else None for other, move in enumerate(moves))
            tracking.advance(
                ObservedStep(own, frozenset(percepts[role]), evaluator.terminal(state)), time.monotonic() + 5
            )
            assert tracking.sure
        assert evaluator.terminal(tracking.found[0].state)
        assert len(tracking.history()) == len(tracking.observed)


@pytest.mark.parametrize("name", ["krieg_tic_tac_toe", "phantom_connect"])
def test_a_history_that_was_lost_is_found_again(name: str, monkeypatch) -> None:
    """Without time to search it goes on with what is closest, and with time it finds what agrees with all steps."""
    monkeypatch.setattr(tracking, "WIDTH", 2)
    monkeypatch.setattr(tracking, "BEAM", 2)
    evaluator, rng = load(f"gdl:{name}").rules.evaluator, np.random.default_rng(1)
    lost, state, observed = Tracking(evaluator, 0, rng), evaluator.start(), []
    while not evaluator.terminal(state):
        moves = [
            action_set[int(rng.integers(len(action_set)))]
            for action_set in (evaluator.legal_actions(state, role) for role in (0, 1))
        ]
        state, percepts = evaluator.step(state, moves)
        observed.append(ObservedStep((moves[0], None), frozenset(percepts[0]), evaluator.terminal(state)))
        lost.advance(observed[-1], time.monotonic() + (5 if observed[-1].ended else 0))
        assert lost.sure == observed[-1].ended
    state = evaluator.start()
    for step, known in zip(lost.history(), observed, strict=True):
        state, percepts = evaluator.step(state, step.moves)
        assert (step.moves[0], frozenset(percepts[0]), evaluator.terminal(state)) == (
            known.moves[0], known.percepts, known.ended
        )  # fmt: skip


def test_a_long_search_has_bounds(monkeypatch) -> None:
    """Percepts that cannot be: nothing is found, and memory ends before the time does."""
    monkeypatch.setattr(tracking, "MAX_CACHED_STATES", 1000)
    evaluator = load("gdl:phantom_connect").rules.evaluator
    searching = Tracking(evaluator, 0, np.random.default_rng(0))
    for _ in range(6):
        searching.advance(ObservedStep((None, None)), time.monotonic() + 0.2)
        assert searching.sure
    for _ in range(3):
        searching.advance(ObservedStep((None, None), frozenset({"nonsense"})), time.monotonic() + 0.2)
        assert not searching.sure
        assert searching.legal_actions()
        assert sum(len(layer.seen) for layer in searching.layers) < 1000 + 10 * tracking.WIDTH


# ---------------------------------------------------------------------------------------------------------------------
# The command line
# ---------------------------------------------------------------------------------------------------------------------


def test_the_manager_on_the_command_line(players: list[str], tmp_path: Path) -> None:
    games = tmp_path / "games"
    command = ["ggp-match", "gdl:kuhn_poker", *players, "--games", "2", "--seed", "4", "--start-clock", "20",
               "--play-clock", "10", "--scramble", "--replay", str(games), "--json"]  # fmt: skip
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    body = json.loads(done.stdout)
    assert (body["games"], body["seed"], body["stopped"]) == (2, 4, "games")
    assert [agent["faults"] for agent in body["agents"]] == [FINE, FINE]
    files = sorted(games.iterdir())
    assert len(files) == 2
    for file in files:
        match = Match.load(file)
        assert match.game == "gdl:kuhn_poker"
        assert replay_states(match)[-1].returns() == match.returns


def test_a_fault_begins_with_the_number_of_its_game(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of players that take calls and never answer."""
    monkeypatch.setattr(ggp_agent, "SECONDS_TO_END", 0.1)
    clocks = ["--start-clock", "0.1", "--play-clock", "0.1"]
    with listening("127.0.0.1", 0) as where:
        url = f"http://127.0.0.1:{where.getsockname()[1]}"
        done = CliRunner().invoke(app, ["ggp-match", "gdl:kuhn_poker", url, url, "--games", "2", *clocks])
    lines = [line for line in done.stderr.splitlines() if "begin" in line]
    assert [line[: len("infoset: game 1, step 0")] for line in lines[::2]] == [
        "infoset: game 1, step 0", "infoset: game 2, step 0",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "kind", "says"),
    [
        (["kuhn_poker", "http://x", "http://y"], UnsupportedGameError, "kuhn_poker is not described in GDL"),
        (["gdl:kuhn_poker", "http://x"], ParameterError, "has 2 players"),
        (["gdl:monty_hall", "x"], ParameterError, "not an address"),
        (["gdl:monty_hall", "http://x", "--play-clock", "0"], ParameterError, "play_clock=0.0; allowed"),
    ],
)
def test_a_manager_that_cannot_be(arguments: list[str], kind: type[Exception], says: str) -> None:
    done = CliRunner().invoke(app, ["ggp-match", *arguments])
    assert isinstance(done.exception, kind)
    assert re.search(says, str(done.exception))


def test_a_port_that_is_taken() -> None:
    with listening("127.0.0.1", 0) as where:
        port = str(where.getsockname()[1])
        done = CliRunner().invoke(app, ["ggp-player", "--port", port, "--agent", "random"])
    assert isinstance(done.exception, ParameterError)
    assert f"cannot listen on 127.0.0.1:{port}" in str(done.exception)


# ---------------------------------------------------------------------------------------------------------------------
# Upper and lower case
# ---------------------------------------------------------------------------------------------------------------------

NIM = """
; A heap of stones; who takes the last one wins.  GDL-I.
(role Alice) (role Bob)
(init (heapSize Five)) (init (control Alice)) (follows Five Four) (follows Four Three) (follows Three Two)
(follows Two One) (follows One Zero) (other Alice Bob) (other Bob Alice)
(<= (twoLess ?Big ?Small) (follows ?Big ?between) (follows ?between ?Small))
(<= (legal ?p (takeStone One)) (true (control ?p)) (not (true (heapSize Zero))))
(<= (legal ?p (takeStone Two)) (true (control ?p)) (true (heapSize ?n)) (twoLess ?n ?any))
(<= (legal ?p noOp) (role ?p) (not (true (control ?p))))
(<= (next (heapSize ?m)) (true (heapSize ?n)) (does ?p (takeStone One)) (follows ?n ?m))
(<= (next (heapSize ?m)) (true (heapSize ?n)) (does ?p (takeStone Two)) (twoLess ?n ?m))
(<= (next (control ?q)) (true (control ?p)) (other ?p ?q))
(<= terminal (true (heapSize Zero)))
(<= (goal ?p 0) (true (control ?p))) (<= (goal ?p 100) (role ?p) (not (true (control ?p))))
"""
COINS = """
; Three tosses to be guessed; the player sees each of them afterwards.  GDL-II.
(role Robot) (role random) (side headsUp) (side tailsUp) (init (tossNumber 1)) (succ 1 2) (succ 2 3) (succ 3 4)
(<= (legal Robot (guess ?s)) (side ?s)) (<= (legal random (toss ?s)) (side ?s))
(<= (next (tossNumber ?m)) (true (tossNumber ?n)) (succ ?n ?m)) (<= (next (Right ?n)) (does Robot (guess ?s)) (does random (toss ?s)) (true (tossNumber ?n)))
(<= (next (Right ?n)) (true (Right ?n))) (<= (sees Robot (coinShows ?s)) (does random (toss ?s)))
(<= terminal (true (tossNumber 4))) (<= (goal Robot 100) (true (Right 1))) (<= (goal Robot 0) (not (true (Right 1))))
"""
LETTERS = """
; Two letters that differ only in case are two moves, and so are two relations.  GDL-II.
(role Writer) (role random) (letter a) (letter A) (init (step 1)) (succ 1 2) (succ 2 3) (succ 3 4) (small a) (Small A)
(<= (legal Writer (write ?l)) (letter ?l) (true (step 1))) (<= (legal Writer (write ?l)) (true (wrote ?l)))
(<= (legal random (Swap ?l)) (letter ?l))
(<= (next (wrote ?l)) (does Writer (write ?k)) (does random (Swap ?j)) (letter ?l) (distinct ?l ?k))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m)) (<= (sees Writer (Swap ?l)) (does random (Swap ?l)))
(<= terminal (true (step 4))) (<= (goal Writer 100) (true (wrote ?l)) (small ?l)) (<= (goal Writer 0) (true (wrote ?l)) (Small ?l))
"""
MIXED = {"nim": NIM, "coins": COINS, "letters": LETTERS}


def judged(text: str, urls: list[str], seed: int) -> dict[str, int]:
    """A whole match by a manager to which words that differ in case differ: it takes no move but literally one of the
    legal ones, as the file spells them.  Returns the players' goals.
    """
    rules = Description(tuple(Kif(text, "").rules()))
    game, rng, hidden = Interpreter(rules), Random(seed), "(sees " in text
    players = dict(zip([str(role) for role in game.roles if str(role) != "random"], urls, strict=True))
    listed = " ".join(re.sub(r";[^\n]*", "", text).split())
    for role, url in players.items():
        assert said(url, f"(START Match.{seed} {role} ({listed}) 20 10)") == "READY"
    state, turn, last = game.start(), 0, {}
    seen: dict[Term, frozenset[Term]] = {}

    def observed(role: str) -> str:
        if not turn:
            return "0 NIL NIL" if hidden else "NIL"
        if not hidden:
            return f"({' '.join(str(last[role]) for role in game.roles)})"
        return f"{turn} {last[Term(role)]} ({' '.join(map(str, seen[Term(role)]))})"

    while not game.terminal(state):
        legal_actions, moves = game.legal_actions(state), {}
        for role, action_set in legal_actions.items():
            texts = {str(move): move for move in action_set}
            answer = (
                said(players[str(role)], f"(PLAY Match.{seed} {observed(str(role))})")
                if str(role) in players
                else rng.choice(list(texts))
            )
            assert answer in texts, f"{role}: {answer} is none of {', '.join(texts)}"
            moves[role] = texts[answer]
        state, seen = game.step(state, moves)
        turn, last = turn + 1, moves
    for role, url in players.items():
        assert said(url, f"(STOP Match.{seed} {observed(role)})") == "DONE"
    return {str(role): values[0] for role, values in game.goals(state).items() if values}


def said(url: str, text: str) -> str:
    request = urllib.request.Request(url, text.encode(), {"Content-type": "text/acl"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read().decode()


@pytest.mark.parametrize("name", MIXED)
@pytest.mark.filterwarnings("ignore:.*differ only in case and are two words")
def test_a_manager_that_is_case_sensitive(name: str) -> None:
    """Every answer of a match is spelled as the rules are; where it matters, case tells words apart."""
    with player("random") as (one, first), player("random", seed=1) as (other, second):
        notes: list[str] = []
        first.mind.say = second.mind.say = notes.append
        goals = [judged(MIXED[name], [one, other][: 2 if name == "nim" else 1], seed) for seed in range(4)]
    assert notes == []  # what was told was always possible by the rules
    if name == "nim":
        assert all(sorted(each.values()) == [0, 100] for each in goals)


@pytest.mark.parametrize("name", MIXED)
@pytest.mark.filterwarnings("ignore:.*differ only in case and are two words")
def test_such_a_manager_takes_no_answer_in_lower_case(name: str) -> None:
    with player("random") as (one, first), player("random") as (other, second):
        for one_desk in (first, second):
            one_desk._play = lambda *observed, play=one_desk._play: play(*observed).lower()
        with pytest.raises(AssertionError, match="is none of"):
            for seed in range(4):
                judged(MIXED[name], [one, other][: 2 if name == "nim" else 1], seed)


@pytest.mark.parametrize(
    ("name", "how"), [("nim", str.upper), ("nim", str.swapcase), ("coins", str.upper), ("letters", str)]
)
@pytest.mark.filterwarnings("ignore:.*differ only in case and are two words")
def test_our_manager_takes_moves_in_another_case(name: str, how, tmp_path: Path) -> None:
    """A player that answers in capitals plays on; one that has to tell words apart by case can."""
    file = tmp_path / "mixed.gdl"
    file.write_text(MIXED[name])
    with ExitStack() as stack:
        found = [stack.enter_context(player(seed=seed)) for seed in range(2)]
        for _, desk in found:
            desk.answer = lambda text, arrived, answer=desk.answer: how(answer(text, arrived))
        score = series([url for url, _ in found], str(file), 2)
    assert [dict(each.faults) for each in score.agents] == [FINE] * len(score.agents)


def test_an_answer_is_spelled_as_the_rules_of_its_match() -> None:
    """Also old files in capitals, and words that are keywords elsewhere; other matches do not matter."""
    rules = "(ROLE X) (LEGAL X (MARK Base Next)) (INIT A) (<= TERMINAL (TRUE B)) (GOAL X 0)"
    with desk() as one:
        for match, text, move in ("m1", rules, "(MARK Base Next)"), ("m2", rules.lower(), "(mark base next)"):
            assert one.answer(f"(START {match} x ({text}) 20 10)") == "READY"
            assert one.answer(f"(PLAY {match} NIL)") == move
            assert one.answer(f"(ABORT {match})") == "ABORTED"
        with pytest.raises(ParameterError, match="'bob' is not a role; allowed: X"):
            one.answer(f"(START m3 bob ({rules}) 20 10)")
