"""What the page tells of strategies, as its worker tells it and as a browser shows it."""

from __future__ import annotations

import csv
import io
import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import infoset
from infoset.errors import FormatError, InfosetError, ParameterError, PolicyError
from infoset.policies.table_file import TableFile
from infoset.policies.tabular import TabularPolicy
from infoset.solvers.study import Study
from infoset.tree import public_walk
from infoset.tree.public_walk import PublicNode, PublicWalk
from infoset.web.explore_routes import EXPLORE
from infoset.web.exploring import Exploring
from infoset.web.nodes import short_labels
from infoset.web.schemas import (
    PlaceRequest,
    RowsRequest,
    SolveRequest,
    StrategyRequest,
    TablePieceRequest,
    TaskRequest,
    wanted,
)
from infoset.web.sources import find_game

pytest.importorskip("starlette", reason="the extra 'web' is not installed")

from infoset.remote.serving import Refusal

EFG = Path(__file__).parents[2] / "examples" / "half_street_poker.efg"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, two policies of one game, one that was sampled, a game file, and what is not a policy."""
    path = tmp_path_factory.mktemp("shelf")
    infoset.solve("leduc_poker", "dcfr", iterations=30, out=path / "leduc")
    infoset.solve("kuhn_poker", "lp").policy.save(path / "kuhn.npz")
    infoset.solve("kuhn_poker", "cfr", iterations=5).policy.save(path / "rough.npz")
    infoset.solve("kuhn_poker", "mccfr", iterations=500).policy.save(path / "sampled.npz")
    infoset.solve(str(EFG), "lp").policy.save(path / "half.npz")
    shutil.copy(EFG, path)
    (path / "broken.npz").write_bytes(b"PK\x03\x04 no archive")
    return path


@pytest.fixture
def room(folder: Path) -> Exploring:
    return Exploring((folder,))


def finish(room: Exploring, wish: SolveRequest) -> dict[str, Any]:
    """What solving came to."""
    number = room.solve(wish)["task"]
    assert room.queue.find(number).job.over.wait(60)
    return room.task(TaskRequest(number))


def valued(room: Exploring, source: str) -> dict[str, Any]:
    """The exact figures, waited for."""
    for _ in range(600):
        told = room.values(StrategyRequest(source))
        assert not told["failed"], told
        if told["evaluation"]:
            found: dict[str, Any] = told["evaluation"]
            return found
        time.sleep(0.02)
    raise AssertionError("no values")


def node(room: Exploring, source: str, **more: Any) -> dict[str, Any]:
    """What stands at a place, waited for."""
    while "waits" in (found := room.node(RowsRequest(source, **more))):
        time.sleep(0.02)
    return found


# -- public positions


def walk_of(name: str) -> PublicWalk:
    return PublicWalk(infoset.load(name), lambda player, known, key, actions: None)


def everywhere(node: PublicNode) -> list[PublicNode]:
    found = [node]
    for k, branch in enumerate(node.branches):
        if not branch.ends:
            found += everywhere(node.successor(k))
    return found


@pytest.mark.parametrize(
    "name", ["kuhn_poker", "kuhn_poker(players=3)", "leduc_poker", "tiny_hanabi", "goofspiel(num_cards=3)", str(EFG)]
)
def test_the_public_positions_hold_every_information_set_once_and_as_likely_as_the_tree_says(name: str) -> None:
    form = infoset.SequenceForm.of(infoset.load(name))
    nodes = everywhere(walk_of(name).start)
    found = {(here.player, here.key): here for node in nodes for here in node.infosets.values()}
    assert sum(len(node.infosets) for node in nodes) == len(found) == form.num_infosets
    study = Study.of(name, TabularPolicy.uniform(form))
    for k, key in enumerate(form.keys):
        here = found[int(form.infoset_player[k]), key]
        assert here.actions == form.actions[k]
        assert here.reach == pytest.approx(study.reach[k], abs=1e-12)


def test_a_public_position_shows_what_is_hidden_there_in_the_decks_order() -> None:
    start = walk_of("kuhn_poker").start
    assert [here.key for here in start.successor(0).rows()] == ["J pass", "Q pass", "K pass"]
    assert [(b.label, b.by, b.ends) for b in start.successor(1).branches] == [("pass", 1, True), ("bet", 1, True)]


def test_who_does_not_notice_a_move_stays_where_it_was() -> None:
    """P2 never sees what P1 did, so nothing is public: both decide at one place."""

    game = infoset.ProductForm(
        "blind",
        ("P1", "P2"),
        (infoset.Stage("one", "P1", ("a", "b")), infoset.Stage("two", "P2", ("a", "b"))),
        lambda past: float(past["one"] == past["two"]),
    )
    start = PublicWalk(game, lambda player, known, key, actions: None).start
    assert {player for player, _ in start.infosets} <= {0, 1}
    assert sum(len(n.infosets) for n in everywhere(start)) == 2


def test_too_much_that_is_hidden_is_a_line_and_keys_can_still_be_read(
    room: Exploring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(public_walk, "MAX_WORLDS", 3)
    with pytest.raises(InfosetError, match="too many histories"):
        room.node(RowsRequest("item:0/leduc"))
    assert node(room, "item:0/leduc", way="0", at="Kh")["groups"][0]["rows"][0]["key"] == "Kh"


# -- the file


def test_a_table_file_reads_what_was_saved(tmp_path: Path) -> None:
    odd = {"a],[b": 0.25, 'c"': 0.5, "[[": 0.25}
    policy = TabularPolicy("g", ("P1", "P2"), ({"x": odd, "y": {"go": 1.0}}, {"start": {"a": 0.5, "b": 0.5}}))
    table = TableFile.read(policy.save(tmp_path / "p.npz"))
    assert table.policy().tables == policy.tables
    assert TableFile.of(policy).policy().tables == policy.tables
    assert table.probabilities_of(0, "x", ("[[", "a],[b", 'c"', "d")) == [0.25, 0.25, 0.5, 0.0]
    assert table.probabilities_of(0, "x", ("[[",)) is None
    assert table.find(1, "nowhere") is None
    assert table.index(0) == {"x": 0, "y": 1}
    assert table.find(0, "y") == 1


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"probabilities": np.array([0.5, 0.6])}, "no distributions"),
        ({"probabilities": np.array([float("nan"), 0.6])}, "no distributions"),
        ({"probabilities": np.array([1.0])}, "do not fit"),
        ({"actions": [[["a"], ["b"]]]}, "do not fit"),
        ({"actions": [[["a", "a"]]]}, "occurs twice"),
        ({"schema": 99}, "schema 99"),
        ({"keys": 5}, "not a policy file"),
        ({"actions": [[[1, 2]]]}, "not a policy file"),
    ],
)
def test_a_broken_table_is_one_line(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    header = {
        "schema": 3, "game": "g", "players": ["P1"], "map": "", "made_by": {}, "keys": [["x"]], "actions": [[["a", "b"]]],
    } | {k: v for k, v in change.items() if k != "probabilities"}  # fmt: skip
    probabilities = change.get("probabilities", np.array([0.5, 0.5]))
    path = tmp_path / "p.npz"
    np.savez(path, header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), probabilities=probabilities)
    with pytest.raises(PolicyError, match=why) as error:
        TableFile.read(path)
    assert "\n" not in str(error.value)


# -- what is told


def test_rows_are_the_policys_with_the_librarys_values(room: Exploring, folder: Path) -> None:
    source = "item:0/leduc"
    found = valued(room, source)
    policy = TabularPolicy.load(folder / "leduc" / "policy.npz")
    study = Study.of("leduc_poker", policy)
    told = node(room, source, at="0.1")
    (group,) = told["groups"]
    assert [row["label"] for row in group["rows"]] == ["Jh", "Js", "Qh", "Qs", "Kh", "Ks"]
    for row in group["rows"]:
        number = study.number(0, row["key"])
        first = int(study.form.arrays.first[number])
        assert row["p"] == list(policy.probabilities(0, row["key"]).values())
        assert row["ev"] == study.values[first : first + 3].tolist()
        assert row["regret"] == study.regret[first : first + 3].tolist()
        assert row["reach"] == study.reach[number]
    assert [step["by"] for step in told["steps"]] == [0, 1, 0]
    assert found["exploitability"] == infoset.evaluate("leduc_poker", policy).exploitability


def test_own_keys_are_followed_word_by_word(room: Exploring) -> None:
    told = node(room, "item:0/leduc", way="0", at="Kh [call]", rows=3)
    first, second, third = told["steps"]
    assert {branch["label"] for branch in first["branches"]} == {"Jh", "Js", "Qh", "Qs", "Kh", "Ks"}
    assert (first["chosen"], second["chosen"], third["chosen"]) == ("Kh", "[call]", None)
    assert {branch["label"]: branch["rows"] for branch in second["branches"]} == {"[call]": 46, "[raise]": 31}
    assert sum(group["total"] for group in told["groups"]) == 46
    assert all(row["key"].startswith("Kh [call]") for group in told["groups"] for row in group["rows"])


def test_keys_are_found_and_pages_of_rows_told(room: Exploring) -> None:
    told = node(room, "item:0/leduc", way="0", find="KH [RAISE]", group=0, first=1, rows=2)
    (group,) = told["groups"]
    assert group["first"] == 1 and len(group["rows"]) == 2
    assert all("Kh [raise]" in row["key"] for row in group["rows"])


def test_labels_leave_out_what_all_have_in_common() -> None:
    assert short_labels(["K bet call", "Q bet call"]) == ["K", "Q"]
    assert short_labels(['"a b" x', '"a c" x']) == ['"a b"', '"a c"']
    assert short_labels(["K"]) == ["K"]


@pytest.mark.parametrize("source", ["item:0/sampled.npz", "item:0/half.npz"])
def test_what_was_sampled_and_game_files_are_shown_too(room: Exploring, source: str) -> None:
    valued(room, source)
    (group,) = node(room, source)["groups"]
    assert [row["label"] for row in group["rows"]] == ["J", "Q", "K"]
    assert all(sum(row["p"]) == pytest.approx(1) and len(row["ev"]) == 2 for row in group["rows"])


def test_a_file_of_all_rows_reads_back(room: Exploring, folder: Path) -> None:
    valued(room, "item:0/kuhn.npz")
    text, after = room.csv(TablePieceRequest("item:0/kuhn.npz"))
    rows = list(csv.DictReader(io.StringIO(text)))
    policy = TabularPolicy.load(folder / "kuhn.npz")
    assert after is None and len(rows) == 24
    for row in rows:
        player = policy.players.index(row["player"])
        assert float(row["probability"]) == policy.tables[player][row["key"]][row["move"]]
        assert row["reach"] and row["value"] != "nan"


def test_two_strategies_are_compared_where_it_matters(room: Exploring) -> None:
    view = PlaceRequest("item:0/kuhn.npz", "item:0/rough.npz")
    assert not room.differences(view)["weighed"]
    valued(room, view.source)
    told = room.differences(view)
    weights = [row["apart"] * row["reach"] for row in told["rows"]]
    assert told["weighed"] and told["total"] == 12 and weights == sorted(weights, reverse=True)
    assert told["largest"] == max(row["apart"] for row in told["rows"]) > 0
    same = room.differences(PlaceRequest(view.source, view.source))
    assert same["largest"] == 0
    assert room.differences(PlaceRequest(view.source, "item:0/leduc"))["missing"] == 12


# -- solving


def test_what_is_locked_is_solved_as_the_library_does(room: Exploring) -> None:
    lock = {"P1": {"J": {"pass": 0.4, "bet": 0.6}}}
    done = finish(room, SolveRequest(source="item:0/kuhn.npz", method="pcfr+", iterations=100, lock=lock))
    expected = infoset.solve("kuhn_poker", "pcfr+", iterations=100, lock=lock)
    answer = room.sources[done["source"]]
    assert answer.policy.tables == expected.policy.tables
    found = valued(room, done["source"])
    assert found["exploitability"] == expected.exploitability
    assert found["free_gains"][0] > found["gains"][0]  # a bluff too often is a mistake
    rows = node(room, done["source"])["groups"][0]["rows"]
    assert [row.get("locked", False) for row in rows] == [True, False, False]


def test_a_whole_player_is_locked(room: Exploring) -> None:
    done = finish(room, SolveRequest(source="item:0/kuhn.npz", method="cfr+", iterations=200, lock={"P2": "uniform"}))
    expected = infoset.solve("kuhn_poker", "cfr+", iterations=200, lock={"P2": "random"})
    assert room.sources[done["source"]].policy.tables == expected.policy.tables
    done = finish(room, SolveRequest(source="item:0/kuhn.npz", method="cfr+", iterations=20, lock={"P2": "source"}))
    mine = room.source("item:0/kuhn.npz").policy.tables[1]
    assert room.sources[done["source"]].policy.tables[1] == mine


def test_a_game_is_solved_on_the_spot_and_given_up(room: Exploring) -> None:
    assert not room.open(StrategyRequest("game:kuhn_poker"))["solved"]
    assert finish(room, SolveRequest(source="game:kuhn_poker"))["source"] == "game:kuhn_poker"
    assert room.open(StrategyRequest("game:kuhn_poker"))["solved"] and room.busy()
    number = room.solve(SolveRequest(source="game:leduc_poker", method="cfr", iterations=10_000_000))["task"]
    request = room.queue.find(number)
    while not request.job.points:
        time.sleep(0.02)
    told = room.cancel(TaskRequest(number))
    assert told["over"] and told["failed"] == "cancelled"
    assert request.job.over.wait(20)
    assert room.task(TaskRequest(number)) == told
    assert not any("leduc" in source.game_name for source in room.sources.values())


def test_a_game_is_solved_as_the_command_line_does(room: Exploring, tmp_path: Path) -> None:
    """Exactly where an exact method suits it, and no longer than that takes."""
    (tmp_path / "dilemma.nfg").write_text('NFG 1 R "" { "A" "B" } { 2 2 }\n\n3 3 0 5 5 0 1 1\n')
    room = Exploring((tmp_path,))
    for name in ("kuhn_poker", "leduc_poker", "dilemma.nfg", "tiny_hanabi", "kuhn_poker(players=3)"):
        done = finish(room, SolveRequest(source=f"game:{name}"))
        found = room.sources[done["source"]].solution
        expected = infoset.solve(str(tmp_path / name) if name.endswith(".nfg") else name)
        assert found is not None and (found.method, found.reason) == (expected.method, expected.reason)
        assert found.exploitability < 1e-5 and found.stopped in ("exact", "target", "end of the path")
    again = finish(room, SolveRequest(source="game:kuhn_poker", target=1e-4, seconds=30.0))
    assert again["source"].startswith("solved:") and room.sources[again["source"]].solution.method == "lp"


def test_equal_wishes_have_one_answer_and_others_change_nobodys_view(room: Exploring) -> None:
    first = finish(room, SolveRequest(source="game:kuhn_poker", visitor="a"))
    sequence_at = room.sources["game:kuhn_poker"]
    assert (
        finish(room, SolveRequest(source="game:kuhn_poker", visitor="b"))["source"]
        == first["source"]
        == "game:kuhn_poker"
    )
    assert room.sources["game:kuhn_poker"] is sequence_at  # it was not solved again
    rough = finish(room, SolveRequest(source="game:kuhn_poker", method="cfr", iterations=3, visitor="b"))
    assert rough["source"] != first["source"] and room.sources["game:kuhn_poker"] is sequence_at
    assert room.sources[rough["source"]].compiled is sequence_at.compiled
    locks = [{"P1": {"J": {"bet": 0.6, "pass": 0.4}}}, {"P1": {"J": {"pass": 0.4, "bet": 0.6}}}]
    answers = {
        finish(room, SolveRequest(source="game:kuhn_poker", method="pcfr+", iterations=9, lock=lock))["source"]
        for lock in locks
    }
    assert len(answers) == 1 and answers.pop().startswith("lock:")


def test_a_game_whose_file_changed_is_solved_anew(tmp_path: Path) -> None:
    room, head = Exploring((tmp_path,)), 'NFG 1 R "" { "A" "B" } { 2 2 }\n\n'
    (tmp_path / "game.nfg").write_text(head + "3 3 0 5 5 0 1 1\n")
    finish(room, SolveRequest(source="game:game.nfg"))
    assert room.open(StrategyRequest("game:game.nfg"))["solved"]
    (tmp_path / "game.nfg").write_text(head + "13 13 0 5 5 0 1 1\n")
    assert not room.open(StrategyRequest("game:game.nfg"))["solved"]
    finish(room, SolveRequest(source="game:game.nfg"))
    policy = room.sources["game:game.nfg"].policy
    assert policy.tables != infoset.solve(infoset.table_game([[3, 0], [5, 1]], [[3, 5], [0, 1]])).policy.tables
    assert room.open(StrategyRequest("game:game.nfg"))["solved"]


def test_what_is_held_is_bounded(room: Exploring, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infoset.web.exploring.MAX_SOURCES", 3)
    names = [
        finish(room, SolveRequest(source="game:kuhn_poker", method="cfr", iterations=k))["source"] for k in range(1, 6)
    ]
    assert list(room.sources) == names[2:]
    monkeypatch.setattr("infoset.web.exploring.MAX_SOURCES", 100)
    kuhn = room.sources[names[-1]]
    monkeypatch.setattr("infoset.web.exploring.MIN_SOURCES", 1)
    monkeypatch.setattr("infoset.web.exploring.MAX_BYTES", kuhn.compiled.bytes + 2 * kuhn.bytes)
    names.append(finish(room, SolveRequest(source="game:kuhn_poker", method="cfr", iterations=6))["source"])
    assert list(room.sources) == names[-2:]
    monkeypatch.setattr("infoset.web.exploring.MAX_BYTES", 0)
    monkeypatch.setattr("infoset.web.exploring.MIN_SOURCES", 3)  # some are held in any case
    names += [
        finish(room, SolveRequest(source="game:kuhn_poker", method="cfr", iterations=k))["source"] for k in range(7, 12)
    ]
    assert list(room.sources) == names[-3:]


# -- bad input


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("python:evil.py:Game", "unknown game"),
        ("pommerman:PommeFFACompetition-v0", "unknown game"),
        ("/etc/passwd", "unknown game"),
        ("../../x.efg", "does not lie in the served folders"),
        ("x\0.efg", "does not lie"),
        ("", "does not say"),
        ("kuhn_poker(players=99)", "players=99"),
        ("kuhn_poke", "did you mean 'kuhn_poker'"),
    ],
)
def test_only_shipped_games_and_files_of_the_folders_are_loaded(folder: Path, name: str, why: str) -> None:
    with pytest.raises(InfosetError, match=why):
        find_game(name, (folder,))


def test_a_link_does_not_lead_out_of_the_folders(tmp_path: Path) -> None:
    inside = tmp_path / "served"
    inside.mkdir()
    (inside / "half.efg").symlink_to(EFG)
    with pytest.raises(InfosetError, match="does not lie"):
        find_game("half.efg", (inside,))


@pytest.mark.parametrize(
    ("ask", "why"),
    [
        (lambda room: room.open(StrategyRequest("item:0/broken.npz")), "not a policy file"),
        (lambda room: room.open(StrategyRequest("item:../../../etc/passwd")), "no thing"),
        (lambda room: room.open(StrategyRequest("lock:7")), "solve it again"),
        (lambda room: room.node(RowsRequest("item:0/kuhn.npz", at="7.1")), "there is no path"),
        (lambda room: room.node(RowsRequest("item:0/kuhn.npz", at="abc")), "there is no path"),
        (lambda room: room.node(RowsRequest("item:0/kuhn.npz", at="-1")), "there is no path"),
        (lambda room: room.node(RowsRequest("item:0/kuhn.npz", way="5")), "no player 5"),
        (lambda room: room.node(RowsRequest("item:0/kuhn.npz", way="0", at="A B")), "begins with"),
        (lambda room: room.node(RowsRequest("item:0/sampled.npz", way="0")), "no table of keys"),
        (lambda room: room.task(TaskRequest("99")), "nothing is being solved"),
        (lambda room: room.solve(SolveRequest(source="game:kuhn_poker", iterations=0)), "iterations=0"),
        (lambda room: room.solve(SolveRequest(source="game:kuhn_poker", seconds=1e9)), "seconds"),
        (
            lambda room: room.solve(SolveRequest(source="game:kuhn_poker", method="python:x.py:f")),
            "only shipped methods",
        ),
    ],
)
def test_bad_questions_are_one_line(room: Exploring, ask: Callable[[Exploring], Any], why: str) -> None:
    with pytest.raises((InfosetError, Refusal)) as error:
        ask(room)
        while True:  # a sampled policy waits
            time.sleep(0.05)
            ask(room)
    text = error.value.why if isinstance(error.value, Refusal) else str(error.value)
    assert why in text and "\n" not in text


@pytest.mark.parametrize(
    "asked",
    [
        {"source": "x" * 5000},
        {"source": "x", "way": "p"},
        {"source": "x", "first": "-1"},
        {"source": "x", "rows": "1e9"},
        {"source": "x", "rows": "100000"},
        {"source": "x", "group": "abc"},
        {"way": "public"},
    ],
)
def test_wild_parameters_are_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(Refusal):
        wanted(RowsRequest, asked)


def test_what_solves_needs_the_token() -> None:
    assert {question.path.rsplit("/", 1)[1] for question in EXPLORE if question.writes} == {"solve", "cancel"}


def test_a_file_that_changes_is_read_anew_and_one_that_is_gone_is_told(tmp_path: Path) -> None:
    room, path = Exploring((tmp_path,)), tmp_path / "p.npz"
    infoset.solve("kuhn_poker", "cfr", iterations=1).policy.save(path)
    before = node(room, "item:0/p.npz")
    infoset.solve("kuhn_poker", "lp").policy.save(path)
    after = node(room, "item:0/p.npz")
    assert before["stamp"] != after["stamp"] and before["groups"][0]["rows"] != after["groups"][0]["rows"]
    path.unlink()
    with pytest.raises(Refusal) as error:
        room.node(RowsRequest("item:0/p.npz"))
    assert "was deleted" in error.value.why


def test_a_policy_of_another_game_is_told(tmp_path: Path) -> None:
    table = TabularPolicy("kuhn_poker", ("P1", "P2"), ({"nowhere": {"a": 1.0}}, {}))
    table.save(tmp_path / "p.npz")
    room = Exploring((tmp_path,))
    assert node(room, "item:0/p.npz")["groups"][0]["rows"][0]["p"] is None
    assert node(room, "item:0/p.npz", way="0")["groups"][0]["rows"][0]["p"] == [1.0]
    while not (failed := room.values(StrategyRequest("item:0/p.npz"))["failed"]):
        time.sleep(0.02)
    assert "no information set 'nowhere'" in failed


def test_policies_saved_as_json_are_explored_and_played_against(tmp_path: Path) -> None:
    from infoset.match.agents import PolicyAgent
    from infoset.web.seats import Agents
    from infoset.web.watching import Watching

    policy = infoset.solve("kuhn_poker", "lp").policy
    for name in ("kuhn.npz", "kuhn.json"):
        policy.save(tmp_path / name)
    infoset.play_match("kuhn_poker", ["random"] * 2, seed=1).save(tmp_path / "replay.json")
    (tmp_path / "other.json").write_text('{"a": 1}')
    room, agents, game = Exploring((tmp_path,)), Agents((tmp_path,)), infoset.load("kuhn_poker")
    npz, saved = (node(room, f"item:0/{name}", way="0", at="") for name in ("kuhn.npz", "kuhn.json"))
    assert saved["groups"] == npz["groups"]
    assert valued(room, "item:0/kuhn.json") == valued(room, "item:0/kuhn.npz")
    assert sorted(agents.list_policies(game)[0]) == ["0/kuhn.json", "0/kuhn.npz"]
    for name in agents.list_policies(game)[0]:
        agents.check(name, game)
        agent = agents.make(name, game)
        assert isinstance(agent, PolicyAgent) and agent.policy_for(game) is not None
    known, legal_actions = ((None, "J"),), ("pass", "bet")
    assert agents.hint("0/kuhn.json", game, 0, known, legal_actions) == agents.hint(
        "0/kuhn.npz", game, 0, known, legal_actions
    )
    for name, what in ("replay.json", "a replay"), ("other.json", "unknown here"):
        with pytest.raises(Refusal, match=f"is {what}, not a strategy"):
            node(room, f"item:0/{name}", way="0", at="")
        with pytest.raises(ParameterError, match=f"is {what}; a policy"):
            agents.check(f"0/{name}", game)
    assert Watching((tmp_path,)).match("0/replay.json", 0).seed == 1
    with pytest.raises(FormatError, match="no replay"):
        Watching((tmp_path,)).match("0/kuhn.json", 0)
