"""Agents without probabilities are evaluated by their answers: what is asked, what is known already, what is faulty."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import time
from concurrent.futures import Executor
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Lock

import numpy as np
import pytest

import infoset
from chat_server import send_json, serving
from command_line import INFOSET, run_infoset
from infoset import evaluate, load, load_agent
from infoset.compiled import Compiled
from infoset.errors import FormatError, ParameterError, RemoteError
from infoset.search.asked_agent import ReportedRows, in_depth_order

KUHN = "kuhn_poker"
CHANCES = {"J": 0.3, "Q": 0.2, "K": 0.8}


class Mixing:
    """An agent that bets or calls by its card alone, and does not say how often."""

    name = "mixing"

    def __init__(self) -> None:
        self.asked = 0

    def begin(self, game, player, rng, deadline):
        self.rng, self.card = rng, None

    def observe(self, own_action, observation):
        self.card = observation if self.card is None else self.card

    def act(self, legal_actions, deadline):
        self.asked += 1
        return legal_actions[int(self.rng.random() < CHANCES[self.card])]

    def end(self, returns): ...


class Failing(Mixing):
    """The same agent, but with a queen it breaks, and with a jack it cheats."""

    def act(self, legal_actions, deadline):
        if self.card == "Q":
            raise ZeroDivisionError("no\nplan")
        return "cheat" if self.card == "J" else super().act(legal_actions, deadline)


def exactly(chances: dict[str, float] = CHANCES) -> infoset.Evaluation:
    return evaluate(KUHN, lambda key, actions: {"pass": 1 - chances[key[0]], "bet": chances[key[0]]})


class TestAsking:
    def test_every_set_is_asked_and_the_interval_covers_the_exact_figure(self) -> None:
        agent = Mixing()
        found = evaluate(KUHN, agent, samples=40, seed=1)
        assert agent.asked == 12 * 40
        low, high = found.intervals.nash_conv
        assert low <= exactly().nash_conv <= high < 1.6 and not found.exact
        assert found.reason == "estimated from 480 answers: 12 of 12 information sets were asked 40 times"
        assert found.values == evaluate(KUHN, Mixing(), samples=40, seed=1).values  # the seed decides

    def test_a_budget_asks_the_first_sets_and_says_so(self) -> None:
        agent = Mixing()
        found = evaluate(KUHN, agent, samples=40, calls=100)
        assert agent.asked == 100
        assert (
            "2 of 12 information sets were asked 40 times; 1 less often; 9 not at all, where anything" in found.reason
        )
        low, high = found.intervals.nash_conv
        assert low <= exactly().nash_conv <= high

    def test_faulty_answers_count_as_what_the_referee_plays_and_are_reported(self) -> None:
        found = evaluate(KUHN, Failing(), samples=30)
        assert "240 faulty answers replaced by what the referee plays then" in found.reason
        low, high = found.intervals.nash_conv
        assert low <= exactly({"J": 0.5, "Q": 0.5, "K": 0.8}).nash_conv <= high

    def test_games_with_one_set_and_many_actions(self) -> None:
        found = evaluate("rock_paper_scissors", Rock(), samples=100)
        assert found.nash_conv == 2 and found.intervals.nash_conv[0] > 1.8

    def test_what_reports_its_probabilities_is_not_asked(self) -> None:
        for what in ("random", lambda key, actions: {actions[0]: 1.0}, np.ones(26)):
            with pytest.raises(ParameterError, match="the probabilities are known and the figures exact"):
                evaluate(KUHN, what, samples=5)
        with pytest.raises(ParameterError, match="belongs to samples"):
            evaluate(KUHN, Mixing(), calls=5)
        with pytest.raises(ParameterError, match="belongs to samples"):
            evaluate(KUHN, Mixing(), answers="a.jsonl")
        with pytest.raises(ParameterError, match="would not be used with samples"):
            evaluate(KUHN, Mixing(), samples=5, respond=True)


class Rock(Mixing):
    name = "rock"

    def act(self, legal_actions, deadline):
        return "Rock"


class TestFile:
    def test_a_later_run_asks_only_what_is_missing(self, tmp_path: Path) -> None:
        file, agent = tmp_path / "answers.jsonl", Mixing()
        evaluate(KUHN, agent, samples=20, calls=70, answers=file)
        assert agent.asked == 70 and len(file.read_bytes().splitlines()) == 70
        found = evaluate(KUHN, agent, samples=20, answers=file)
        assert agent.asked == 240
        assert found == evaluate(KUHN, agent, samples=20, answers=file) == evaluate(KUHN, Mixing(), samples=20)
        assert agent.asked == 240
        evaluate(KUHN, agent, samples=25, answers=file)  # more samples: the rest alone
        assert agent.asked == 300

    def test_an_unfinished_line_of_a_killed_process_is_dropped(self, tmp_path: Path) -> None:
        file, agent = tmp_path / "answers.jsonl", Mixing()
        evaluate(KUHN, agent, samples=2, answers=file)
        file.write_bytes(file.read_bytes()[:-9])
        evaluate(KUHN, agent, samples=2, answers=file)
        assert agent.asked == 25 and len(file.read_bytes().splitlines()) == 24

    @pytest.mark.parametrize("line", ["hello", "{}", '{"key": "a"}', '{"key": "a", "action": "b"}', "[" * 5000])
    def test_another_file_is_refused_and_left_alone(self, line: str, tmp_path: Path) -> None:
        file = tmp_path / "notes.txt"
        file.write_text(f"{line}\n")
        with pytest.raises(FormatError, match=r"notes.txt:1: not an answer of an agent"):
            evaluate(KUHN, Mixing(), samples=2, answers=file)
        assert file.read_text() == f"{line}\n"

    def test_an_action_that_does_not_exist(self, tmp_path: Path) -> None:
        file = tmp_path / "answers.jsonl"
        evaluate(KUHN, Mixing(), samples=1, answers=file)
        file.write_text(file.read_text().replace('"action":1', '"action":7').replace('"action":0', '"action":7'))
        with pytest.raises(FormatError, match="an action of a set with 2 that does not exist"):
            evaluate(KUHN, Mixing(), samples=1, answers=file)


def mixing(handler: BaseHTTPRequestHandler, messages: list[dict[str, str]]) -> str:
    """Answer as ``Mixing`` plays."""
    card = messages[1]["content"].partition("you get a ")[2][0]
    with DICE:
        return f"Action: {1 + (RANDOM.random() < CHANCES[card])}"


DICE, RANDOM = Lock(), random.Random(5)


class TestModels:
    def test_a_stochastic_policy_behind_an_endpoint(self, tmp_path: Path) -> None:
        file = tmp_path / "answers.jsonl"
        with serving(mixing) as served:
            agent = f"chat:{served.url}"
            found = evaluate(KUHN, agent, samples=30, answers=file)
            asked = len(served.bodies)
            again = evaluate(KUHN, agent, samples=30, answers=file)
            assert len(served.bodies) == asked == 12 * 30
            evaluate(KUHN, f"chat(url={served.url},temperature=0)", samples=1, answers=file)
            assert len(served.bodies) == asked + 12  # other settings, other answers
        assert again == found
        low, high = found.intervals.nash_conv
        assert low <= exactly().nash_conv <= high
        first = json.loads(file.read_bytes().splitlines()[0])
        assert first["exchanges"][0]["prompt_tokens"] == 100 and first["exchanges"][0]["answer"].startswith("Action: ")

    def test_the_number_of_samples_is_asked_for(self) -> None:
        with serving(mixing) as served, pytest.raises(ParameterError, match="--samples 100"):
            evaluate(KUHN, f"chat:{served.url}")

    def test_unusable_answers_are_asked_again_and_then_replaced(self) -> None:
        with serving(lambda *_: "Well.") as served:
            found = evaluate(KUHN, f"chat(url={served.url},retries=1)", samples=8)
            assert len(served.bodies) == 2 * 12 * 8
        assert "96 faulty answers" in found.reason and "not of the form Action: NUMBER" in found.reason
        low, high = found.intervals.nash_conv
        assert low <= evaluate(KUHN, "random").nash_conv <= high

    def test_a_moment_without_an_answer_is_passed_over_and_a_lasting_one_ends_the_run(self, tmp_path: Path) -> None:
        file, asked = tmp_path / "answers.jsonl", []

        def stumbling(handler: BaseHTTPRequestHandler, messages: list[dict[str, str]]) -> str | None:
            asked.append(1)
            if len(asked) == 7 or len(asked) > 30:
                return send_json(handler, {"error": "broken"}, 400)
            return mixing(handler, messages)

        with serving(stumbling) as served, pytest.raises(RemoteError, match="answered 400 Bad Request: broken"):
            evaluate(KUHN, f"chat:{served.url}", samples=10, answers=file)
        assert 15 < len(file.read_bytes().splitlines()) < 30


AGENT = '''
import time

class Slow:
    """Thinks for a while."""

    def begin(self, game, player, rng, deadline): ...
    def observe(self, own_action, observation): ...
    def end(self, returns): ...
    def act(self, legal_actions, deadline):
        time.sleep(0.05)
        return legal_actions[0]
'''


class TestCommand:
    def test_ctrl_c_ends_the_asking_and_nothing_is_lost(self, tmp_path: Path) -> None:
        (tmp_path / "slow.py").write_text(AGENT)
        file = tmp_path / "answers.jsonl"
        command = ["evaluate", KUHN, "python:slow.py:Slow", "--samples", "20", "--answers", str(file)]
        process = subprocess.Popen(
            [*INFOSET, *command], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        while not file.exists() or file.read_bytes().count(b"\n") < 5:
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        assert "; interrupted" in out and "not at all" in out and "95 % interval" in out
        saved = file.read_bytes().count(b"\n")
        assert 5 <= saved < 240
        rest = run_infoset(*command, "--calls", "1", "--json", cwd=tmp_path)
        assert f"estimated from {saved + 1} answers" in json.loads(rest.stdout)["reason"]


DYING = """
import os

class Dying:
    name = "dying"

    def begin(self, game, player, rng, deadline):
        self.seen = 0

    def observe(self, own_action, observation):
        self.seen += 1

    def report_probabilities(self, legal_actions):
        if self.seen > 5:
            os._exit(1)
        return [1 / len(legal_actions)] * len(legal_actions)

    def act(self, legal_actions, deadline):
        return legal_actions[0]

    def end(self, returns): ...
"""


class Reporting(Mixing):
    """The same agent, which says how often it bets; it may be interrupted at a question."""

    name = "reporting"

    def __init__(self, stop_at: int = 0) -> None:
        super().__init__()
        self.stop_at = stop_at

    def report_probabilities(self, legal_actions):
        self.asked += 1
        if self.asked == self.stop_at:
            raise KeyboardInterrupt
        return [1 - CHANCES[self.card], CHANCES[self.card]]


class TestReported:
    def test_an_interrupted_evaluation_goes_on_from_its_file(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.jsonl"
        with pytest.raises(KeyboardInterrupt):
            evaluate(KUHN, Reporting(stop_at=8), answers=path)
        assert len(path.read_text().splitlines()) == 7
        path.write_text(path.read_text() + '{"key": "cut of')
        agent = Reporting()
        found = evaluate(KUHN, agent, answers=path)
        assert (agent.asked, found.exact) == (5, True)
        assert found.nash_conv == exactly().nash_conv
        again = Reporting()
        assert evaluate(KUHN, again, answers=path).nash_conv == found.nash_conv and not again.asked

    def test_another_kind_of_file_and_rows_of_another_size_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.jsonl"
        evaluate(KUHN, Mixing(), samples=1, answers=path)
        with pytest.raises(FormatError, match="not probabilities of an agent"):
            evaluate(KUHN, Reporting(), answers=path)
        path.unlink()
        evaluate(KUHN, Reporting(), answers=path)
        path.write_text(path.read_text().replace("[", "[0.0,"))
        with pytest.raises(FormatError, match="3 probabilities at a set with 2 actions"):
            evaluate(KUHN, Reporting(), answers=path)
        path.write_text(path.read_text().replace("[0.0,", "[").replace("[0.", "[5."))
        with pytest.raises(ParameterError, match="no probabilities of the moves"):
            evaluate(KUHN, Reporting(), answers=path)

    def test_questions_are_asked_in_the_order_of_play(self) -> None:
        tree = Compiled.of("leduc_poker").tree
        questions = [
            (int(tree.infoset_player[k]), tree.states.state(int(tree.infoset_state[k])), tree.action_set(k))
            for k in range(len(tree.infoset_player))
        ]
        order = in_depth_order(questions)
        assert sorted(map(str, order)) == sorted(map(str, questions))
        open_ = [order[0][1]]
        for _, infostate, _ in order[1:]:  # a set that was left is not met again
            while open_ and infostate[: len(open_[-1])] != open_[-1]:
                open_.pop()
            assert not any(later[: len(infostate)] == infostate for later in open_)
            open_.append(infostate)

    def test_processes_report_what_one_does(self) -> None:
        """Rows of a search by a number of leaves do not depend on what else its process was asked."""
        game, name = load("leduc_poker"), "kluss(nodes=30)"
        policies = [ReportedRows(game, load_agent(name), name, workers) for workers in (1, 2)]
        one, two = [evaluate(game, policy) for policy in policies]
        assert policies[0].rows == {key: list(row) for key, row in policies[1].rows.items()}
        assert len(policies[0].rows) == 936 and one.nash_conv == two.nash_conv

    def test_a_process_that_ends_costs_a_line_and_no_answer(self, tmp_path: Path) -> None:
        file, answers = tmp_path / "dying.py", tmp_path / "rows.jsonl"
        file.write_text(DYING)
        agent = f"python:{file}:Dying"
        with pytest.raises(RemoteError, match=r"a process that asked .* ended; try fewer workers"):
            evaluate("leduc_poker", agent, answers=answers, workers=2)
        before = len(answers.read_text().splitlines())
        file.write_text(DYING.replace("os._exit(1)", "pass"))
        assert evaluate("leduc_poker", agent, answers=answers, workers=2).exact
        assert len(answers.read_text().splitlines()) == 936 > before

    def test_what_cannot_be_made_elsewhere_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ParameterError, match="give the game and the agent by name"):
            evaluate(KUHN, Reporting(), workers=2)
        for what in (Mixing(), "random", np.ones(26)):
            with pytest.raises(ParameterError, match="answers and workers would not be used"):
                evaluate(KUHN, what, answers=tmp_path / "rows.jsonl")
        with pytest.raises(ParameterError, match="executor would not be used with answers"):
            evaluate(KUHN, Reporting(), answers=tmp_path / "rows.jsonl", executor=Executor())
