"""Language models as agents: questions, strict reading of answers, budgets, and endpoints that do what they should not.

The protocol is that of OpenAI's API reference, "Create chat completion".
"""

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

import infoset
from chat_server import Script, Served, send_json, serving
from infoset import load_agent, play_match, play_series
from infoset.arena.tournament import tournament
from infoset.errors import ParameterError, RemoteError
from infoset.match.match import Table
from infoset.match.replay import Match, replay_states
from infoset.remote.chat import read_choice

KUHN = "kuhn_poker"
SECRET = "sk-very-secret-0123456789"


def betting(handler: BaseHTTPRequestHandler, messages: list[dict[str, str]]) -> str:
    """Bet or call with a king, else pass; the last line of an answer names the action."""
    return f"I think about it.\n**Action: {2 if 'a K' in messages[1]['content'] else 1}**"


def prose(handler: BaseHTTPRequestHandler, messages: list[dict[str, str]]) -> str:
    return "I would rather talk about the weather."


@contextmanager
def agent_of(script: Script, settings: str = "") -> Iterator[tuple[str, Served]]:
    with serving(script) as served:
        yield (f"chat(url={served.url},{settings})" if settings else f"chat:{served.url}"), served


def one_fault(script: Script, settings: str = "timeout=0.4,retries=0") -> str:
    """Play one game and return what its only fault says; the game ends by the rules nevertheless."""
    with agent_of(script, settings) as (name, _):
        match = play_match(KUHN, [name, "random"], seed=1)
    assert match.over and len({fault.step for fault in match.faults}) == len(match.faults) >= 1
    assert "\n" not in match.faults[0].detail
    return match.faults[0].detail


class TestQuestions:
    def test_an_answer_is_read_from_its_last_line_alone(self) -> None:
        assert read_choice("Action: 1\nNo, better:\n\naction: 2\n\n", 2) == (2, "")
        assert read_choice("`Action: #1`", 2) == (1, "")
        for text in ("", "2", "Action: 2, or 1", "Action: 0", "Action: 3", "Action: two", "Action: 2\nThat is all."):
            number, problem = read_choice(text, 2)
            assert number == 0 and problem, text

    def test_the_model_is_given_the_rules_its_view_and_the_legal_actions(self) -> None:
        with agent_of(betting) as (name, served):
            play_match(KUHN, ["random", name], seed=3)
        system, user = (message["content"] for message in served.bodies[0]["messages"])
        assert "You are P2 (player 2 of 2)" in system and "Each player antes one" in system
        assert re.fullmatch(
            r"So far:\n- you get a [JQK]\n- P1 (passes|bets)\n\nYour legal actions:\n1: pass\n2: bet", user
        )
        assert served.bodies[0]["model"] == "scripted" and "temperature" not in served.bodies[0]

    def test_a_game_in_normal_form_shows_its_table_without_its_solution(self) -> None:
        with agent_of(lambda *_: "Action: 3", "temperature=0,max_tokens=50") as (name, served):
            match = play_match("rock_paper_scissors", [name, "random"])
        user = served.bodies[0]["messages"][1]["content"]
        assert "−1, 1" in user and "*" not in user and match.steps[0].actions[0] == "Scissors"
        assert (served.bodies[0]["temperature"], served.bodies[0]["max_tokens"]) == (0, 50)

    def test_unusable_answers_are_asked_for_again_with_the_reason(self) -> None:
        answers = iter(["I bet!", "Action: 7", "Action: 2"])
        with agent_of(lambda *_: next(answers)) as (name, served):
            match = play_match(KUHN, [name, "scripted(actions=[pass,pass])"], seed=1)
        assert match.steps[2].actions[0] == "bet" and not match.faults
        assert [m["role"] for m in served.bodies[2]["messages"]] == ["system", *["user", "assistant"] * 2, "user"]
        assert "'I bet!', not of the form" in served.bodies[1]["messages"][-1]["content"]
        assert "numbered from 1 to 2" in served.bodies[2]["messages"][-1]["content"]

    def test_a_move_without_a_choice_is_not_asked_for(self) -> None:
        with agent_of(betting) as (name, served):
            play_match("gdl:tic_tac_toe", [name, "random"], seed=1)
        assert all("noop" not in body["messages"][1]["content"] for body in served.bodies)


class TestReplays:
    def test_everything_that_was_asked_is_in_the_replay(self, tmp_path: Path) -> None:
        answers = iter(["No.", "Action: 1"])
        with agent_of(lambda *_: next(answers)) as (name, _):
            match = play_match(KUHN, ["scripted(actions=[pass])", name], seed=1)
        found = Match.load(match.save(tmp_path / "match.json"))
        assert found == match and replay_states(found)
        first, second = found.exchanges
        assert (first.step, first.player, second.step) == (4, 1, 4)  # two cards are dealt, P1 moves, P2 is asked
        assert first.answer == "No." and "not of the form" in first.problem and not second.problem
        assert (second.prompt_tokens, second.completion_tokens, second.requests) == (100, 5, 1)
        assert len(second.messages) == 4 and second.seconds > 0

    def test_the_key_is_sent_and_written_nowhere(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setenv("INFOSET_CHAT_KEY", SECRET)
        caplog.set_level("DEBUG")

        def tells(handler: BaseHTTPRequestHandler, messages: list[dict[str, str]]) -> str | None:
            if len(served.bodies) % 2:
                return f"Your key is {SECRET}.\nAction: 1"
            return send_json(handler, {"error": {"message": f"Incorrect API key provided: {SECRET}"}}, 401)

        with agent_of(tells) as (name, served):
            series = play_series(KUHN, [name, "random"], games=4, keep=lambda m: m.save(tmp_path / f"{m.seed}.json"))
        assert all(headers["Authorization"] == f"Bearer {SECRET}" for headers in served.headers)
        written = "".join(path.read_text() for path in tmp_path.iterdir())
        assert "Your key is [key]." in written and "Incorrect API key provided: [key]" in written
        assert SECRET not in written + repr(series) + caplog.text

    def test_the_default_needs_no_key_and_a_named_one_must_exist(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("INFOSET_CHAT_KEY", raising=False)
        with agent_of(betting) as (name, served):
            play_match(KUHN, [name, "random"])
        assert "Authorization" not in served.headers[0]
        with pytest.raises(ParameterError, match="MY_KEY, which should contain the key, is not set"):
            load_agent("chat(url=http://localhost:1/v1,key=MY_KEY)")
        with pytest.raises(ParameterError) as refused:  # somebody gives the key itself
            load_agent(f"chat(url=http://localhost:1/v1,key={SECRET})")
        assert SECRET not in str(refused.value)
        monkeypatch.setenv("INFOSET_CHAT_KEY", "two\nlines")
        with pytest.raises(ParameterError, match="other than visible ASCII"):
            play_match(KUHN, ["chat:http://localhost:1/v1", "random"])


class TestBudgets:
    def test_calls_are_limited_in_each_game(self) -> None:
        with agent_of(prose, "calls=2") as (name, served):
            series = play_series(KUHN, [name, "random"], games=3, seed=1)
        assert len(served.bodies) == 2 * 3
        score = series.agents[0]
        assert score.faults["error"] >= 3
        assert "the budget of 2 calls a game is spent" in score.examples["error"]
        assert "budget spent in 3 games" in score.account

    @pytest.mark.parametrize("counted", [True, False])
    def test_tokens_are_limited_whether_the_endpoint_counts_them_or_not(self, counted: bool) -> None:
        with serving(prose, usage=counted) as served:
            agents = [f"chat(url={served.url},tokens=105)", "random"]
            match = play_match(KUHN, agents, seed=1)
        assert len(served.bodies) == 1 and match.exchanges[0].prompt_tokens == (100 if counted else None)
        assert "105 tokens a game is spent" in match.faults[0].detail

    def test_seconds_are_limited(self) -> None:
        def slow(handler: BaseHTTPRequestHandler, messages: list[dict[str, str]]) -> None:
            time.sleep(0.6)

        assert "no complete answer within" in one_fault(slow, "seconds=0.2,retries=0")

    def test_a_model_that_never_answers_legally_is_counted_in_matches_and_tournaments(self, tmp_path: Path) -> None:
        with agent_of(prose, "retries=1") as (name, _):
            series = play_series(KUHN, [name, "random"], games=10, seed=2)
            standings = tournament(KUHN, [name, "random"], games=2, db=tmp_path / "games.db", workers=1)
        score = series.agents[0]
        assert score.faults["illegal"] >= 10
        assert f"{score.faults['illegal']} moves left to the referee" in score.account
        assert any(fault.kind == "illegal" for fault in standings.faults)


def answering(status: int, body: bytes, **headers: str) -> Callable[..., None]:
    """Return a script that answers with these bytes, whatever they mean."""

    def script(handler: BaseHTTPRequestHandler, messages: list[dict[str, str]]) -> None:
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(body)), "Connection": "close", **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)
        handler.close_connection = True

    return script


class TestFaultyEndpoints:
    def test_a_late_answer(self) -> None:
        def late(handler: BaseHTTPRequestHandler, messages: list[dict[str, str]]) -> str:
            time.sleep(0.8)
            return "Action: 1"

        assert "no complete answer within 0.4" in one_fault(late)

    def test_an_answer_that_trickles(self) -> None:
        def trickling(handler: BaseHTTPRequestHandler, messages: list[dict[str, str]]) -> None:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
            for letter in b"X-Slow: " + b"a" * 40:  # each byte comes soon; the whole never does
                handler.wfile.write(bytes([letter]))
                time.sleep(0.04)
            handler.close_connection = True

        assert "no complete answer within 0.4" in one_fault(trickling)

    def test_a_flood(self) -> None:
        def flooding(handler: BaseHTTPRequestHandler, messages: list[dict[str, str]]) -> None:
            handler.close_connection = True
            try:
                handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
                for _ in range(4000):
                    handler.wfile.write(b" " * 65536)
            except OSError:
                pass

        assert "more than 1,048,576 bytes" in one_fault(flooding, "retries=0")

    def test_endless_headers(self) -> None:
        def flooding(handler: BaseHTTPRequestHandler, messages: list[dict[str, str]]) -> None:
            handler.close_connection = True
            with suppress(OSError):
                handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + b"X-Flood: yes\r\n" * 200_000)

        assert "the connection ended early" in one_fault(flooding, "timeout=5,retries=0,calls=1")

    @pytest.mark.parametrize(
        "body", [b"", b"hello", b"{}", b'{"choices": []}', b'{"choices": [{"message": {"content": 5}}]}', b"[" * 99999]
    )
    def test_an_answer_that_is_no_completion(self, body: bytes) -> None:
        assert "the answer is not a chat completion" in one_fault(answering(200, body))

    def test_an_answer_without_words(self) -> None:
        assert "the answer is empty" in one_fault(answering(200, b'{"choices": [{"message": {"content": null}}]}'))

    def test_a_connection_that_closes_in_the_middle(self) -> None:
        cut = answering(200, b'{"choices": [', Content_Length="500")
        assert "the connection ended early" in one_fault(cut, "timeout=0.4,retries=0,calls=1")

    def test_a_redirect_is_not_followed(self) -> None:
        asked = []

        def moved(handler: BaseHTTPRequestHandler, messages: list[dict[str, str]]) -> None:
            asked.append(handler.path)
            answering(307, b"", Location="/elsewhere")(handler, messages)

        assert "307 Temporary Redirect (redirects are not followed)" in one_fault(moved)
        assert set(asked) == {"/v1/chat/completions"}

    def test_a_refused_key_is_not_tried_again(self) -> None:
        asked = []

        def refusing(handler: BaseHTTPRequestHandler, messages: list[dict[str, str]]) -> None:
            asked.append(1)
            send_json(handler, {"error": {"message": "no\nentry"}}, 401)

        assert "needs a key in the environment variable INFOSET_CHAT_KEY): no entry" in one_fault(refusing, "retries=5")
        assert len(asked) <= 2  # once for each move of the game

    @pytest.mark.parametrize("status", [429, 500, 503])
    def test_a_busy_endpoint_is_asked_again_a_few_times(self, status: int) -> None:
        asked = []

        def busy(handler: BaseHTTPRequestHandler, messages: list[dict[str, str]]) -> str | None:
            asked.append(1)
            return "Action: 1" if len(asked) == 3 else send_json(handler, {"error": "busy"}, status, Retry_After="0")

        with agent_of(busy) as (name, _):
            match = play_match(KUHN, ["scripted(actions=[pass,pass])", name], seed=1)
        assert not match.faults and match.exchanges[0].requests == 3
        asked.clear()
        always = lambda handler, _: (asked.append(1), send_json(handler, {"error": "busy"}, status, Retry_After="0"))[1]  # noqa: E731
        assert f"answered {status}" in one_fault(always)
        assert len(asked) in (4, 8)  # four requests for each move

    def test_a_pause_longer_than_the_time_is_not_waited_for(self) -> None:
        limited = lambda handler, _: send_json(handler, {"error": "busy"}, 429, Retry_After="3600")  # noqa: E731
        assert "answered 429 Too Many Requests: busy" in one_fault(limited)

    def test_nobody_at_the_address_is_one_line_before_the_first_game(self) -> None:
        with serving(betting) as served:
            url = served.url
        with pytest.raises(RemoteError, match="cannot be reached"):
            play_match(KUHN, [f"chat:{url}", "random"])

    @pytest.mark.parametrize(
        "url", ["localhost:80", "ftp://a", "http://", "http://a:x", "http://me:word@host/v1", "http://a/v1?b=c"]
    )
    def test_addresses(self, url: str) -> None:
        with pytest.raises(ParameterError, match="address"):
            load_agent(f"chat(url='{url}')")
        with pytest.raises(ParameterError, match="address"):
            load_agent(f"chat:{url}")

    def test_an_address_may_be_short_or_long(self) -> None:
        urls = ["http://host:1", "http://host:1/v1/", "http://host:1/v1/chat/completions"]
        assert {load_agent(f"chat:{url}").name for url in urls} == {"chat(url=http://host:1/v1)"}

    def test_the_model_is_named_where_there_are_several(self) -> None:
        with serving(betting, models=("large", "small")) as served:
            with pytest.raises(ParameterError, match=r"name the model of .*; it has large, small"):
                play_match(KUHN, [f"chat:{served.url}", "random"])
            play_match(KUHN, [f"chat(url={served.url},model=small)", "random"])
        assert served.bodies[0]["model"] == "small"

    def test_a_clock_cuts_a_slow_model_off(self) -> None:
        def slow(handler: BaseHTTPRequestHandler, messages: list[dict[str, str]]) -> str:
            time.sleep(0.5)
            return "Action: 1"

        with agent_of(slow) as (name, _):
            match = play_match(KUHN, [name, "random"], seconds_per_move=0.2, seed=1)
        assert match.faults[0].kind == "late" and match.exchanges[0].problem

    def test_models_that_move_at_once_think_at_once(self) -> None:
        inside: list[int] = []

        def together(handler: BaseHTTPRequestHandler, messages: list[dict[str, str]]) -> str:
            inside.append(1)
            while len(inside) < 2:  # each waits until the other was asked, too
                time.sleep(0.005)
            return "Action: 1"

        with agent_of(together, "timeout=20,retries=0") as (name, _):
            match = play_match("rock_paper_scissors", [name, name])
        assert not match.faults

    def test_the_record_of_a_hidden_game_shows_each_model_its_own_view_only(self) -> None:
        with agent_of(betting) as (name, served):
            table = Table.of(KUHN, [name, name], None, None, 100)
            match = table.play(5)
        cards = [step.chance_outcome for step in match.steps[:2]]
        for body in served.bodies:
            player = int(re.match(r"You are P(\d)", body["messages"][0]["content"])[1]) - 1
            assert f"you get a {cards[player]}" in body["messages"][1]["content"]
            assert f"a {cards[1 - player]}" not in body["messages"][1]["content"]


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "httpx", None)
    with pytest.raises(infoset.errors.MissingExtraError, match=re.escape("pip install 'infoset[chat]'")):
        play_match(KUHN, ["chat:http://localhost:1/v1", "random"])


def test_replays_with_exchanges_elsewhere_are_refused(tmp_path: Path) -> None:
    with agent_of(betting) as (name, _):
        path = play_match(KUHN, [name, "random"], seed=1).save(tmp_path / "match.json")
    body = json.loads(path.read_text())
    body["exchanges"][0]["step"] = 99
    path.write_text(json.dumps(body))
    with pytest.raises(infoset.errors.FormatError, match="an exchange of player 0 in step 99"):
        Match.load(path)
