"""A person plays hold'em against a solution at the terminal, and every decision is graded."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import infoset
from at_terminal import terminal
from infoset.cli.play_options import PlayOptions
from infoset.cli.sitting import play
from infoset.compiled import Compiled
from infoset.match.match import play_match
from infoset.match.replay import Match, replay_steps
from infoset.practice import grade_action, grades, spot_values, try_to_solve
from infoset.spots import SpotTree

pytest.importorskip("pty")
TURN = "holdem(board=QsJh8h5d,bets='75%',raises='100%',cap=2,range1='AA KQs JTs:0.5 76s',range2='QJs AQs 99')"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spot") / "turn.npz"
    return infoset.solve(TURN, "dcfr", form="vector", iterations=100).policy.save(path)


def test_decisions_against_a_solution_are_graded(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with terminal([("> ", b"bet 75\n")], monkeypatch) as typist:
        play(PlayOptions(TURN, [str(file)], seed=4))
    text = typist.text()
    match = Match.load(next(tmp_path.glob("runs/play/*/match-*.json")))
    found = list(grades(SpotTree.of(TURN, str(file)), match, replay_steps(match), 0))
    assert f"Your decisions, graded by {file}" in text
    assert [one.grade.action for one in found] == [a for step in match.steps if (a := step.actions[0]) is not None]
    lost = sum(one.grade.lost for one in found)
    assert f"in all {lost:.2f} chips lost in {len(found)} decision" in text
    assert len(re.findall(r"loses [\d.]+ chips, [\d.]+% of the pot, played [\d.]+%", text)) == len(found)


def test_hints_have_values_from_the_second_seat(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    keys = [("> ", b"h\n"), ("value", b"1\n")] + [("> ", b"1\n")] * 1
    with terminal(keys, monkeypatch) as typist:
        play(PlayOptions(TURN, ["random"], seat="P2", seed=3, practice=True, hints=str(file)))
    assert re.search(r"check +[\d.]+% +value [+-]\d|fold +[\d.]+% +value -", typist.text())


def test_grades_are_those_of_the_node(file: Path) -> None:
    tree = SpotTree.of(TURN, str(file))
    for seed in range(6):
        match = play_match(TURN, ["random", "random"], seed=seed)
        for seat in (0, 1):
            for _, infostate, grade in grades(tree, match, replay_steps(match), seat):
                hand, *path = [str(seen if action is None else action) for action, seen in infostate]
                table = tree.node(path).tables[seat]
                assert grade == grade_action(table, hand, grade.action)
                values = {one.action: one.value for one in spot_values(tree, seat, infostate)}
                if grade.lost is not None:
                    assert max(values.values()) - values[grade.action] == pytest.approx(grade.lost)


def test_hands_are_dealt_by_their_weights() -> None:
    """JTs has half of the weight of other hands."""
    first = [str(play_match(TURN, ["random", "random"], seed=seed).steps[0].chance_outcome) for seed in range(300)]
    names = [name for name in first if {name[0], name[2]} == {"J", "T"}]
    table = SpotTree.of(TURN, "random").node().tables[0]
    expected = sum(
        share for hand, share in zip(table.hands, table.shares, strict=True) if {hand[0], hand[2]} == {"J", "T"}
    )
    assert abs(len(names) / 300 - expected) < 0.06


def test_a_spot_is_solved_at_once_in_vector_form() -> None:
    compiled = Compiled.of(TURN)
    found = try_to_solve(compiled)
    assert "graph" not in compiled.__dict__, "histories are not enumerated"
    assert found is not None and found.notes["form"] == "vector" and found.exploitability < 1


def test_the_page_grades_by_the_served_solution_of_an_opponent(file: Path) -> None:
    pytest.importorskip("starlette", reason="the extra 'web' is not installed")
    from infoset.web.seats import Agents

    agents, game = Agents((file.parent,)), infoset.load(TURN)
    match = play_match(TURN, ["random", "random"], seed=1)
    found = agents.costs(game, match, 0, ("human", "0/turn.npz"))
    expected = list(grades(SpotTree.of(TURN, str(file)), match, replay_steps(match), 0))
    assert [(one["move"], one["verdict"]) for one in found] == [
        (one.grade.action, one.grade.verdict) for one in expected
    ]
    assert found[0]["share"] == pytest.approx(expected[0].grade.lost_share)
    assert agents.tree(game, ("human", "random")) is None and agents.is_solvable(game)
