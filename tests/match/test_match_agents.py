"""Agents without a mind of their own: scripts, and one that stands still."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from infoset import load_agent, play_match
from infoset.cli.app import app
from infoset.errors import FormatError, ParameterError, UnsupportedGameError
from infoset.match.agents import AGENTS, ScriptedAgent, agent_name

POMMERMAN = "pommerman:OneVsOne-v0(seed=1)"


def moves_of(match, player: int) -> list:
    return [step.actions[player] for step in match.steps if step.actions[player] is not None]


def test_a_script_is_played(tmp_path: Path) -> None:
    path = tmp_path / "moves.json"
    path.write_text('["bet"]')
    name = f"scripted(path='{path}')"
    for seed in range(10):
        match = play_match("kuhn_poker", [name, "scripted(actions=[pass])"], seed=seed)
        assert (moves_of(match, 0), moves_of(match, 1)) == (["bet"], ["pass"])
        assert match.returns == (1.0, -1.0)
        assert match.faults == ()
    assert match.agents == (f"scripted(path={path})", "scripted(actions=[pass])")
    assert agent_name(load_agent(match.agents[0])) == match.agents[0]


def test_one_object_plays_game_after_game() -> None:
    script = ScriptedAgent([2, 1])
    for _ in range(2):
        assert moves_of(play_match("goofspiel(num_cards=3)", [script, "random"]), 0) == [2, 1]


def test_what_a_script_cannot_play_is_a_fault() -> None:
    match = play_match("goofspiel(num_cards=4)", ["scripted(actions=[4,4])", "random"], seed=1)
    assert [(fault.step, fault.kind) for fault in match.faults] == [(3, "illegal"), (4, "error")]
    assert match.faults[1].detail == "act: GameRuleError: the script has 2 moves, and one more is asked for"


def test_a_script_stands_still_after_its_end_in_pommerman() -> None:
    match = play_match(POMMERMAN, ["scripted(actions=[5])", "stop"], seed=1)
    assert moves_of(match, 0) == [5] + [0] * 9
    assert set(moves_of(match, 1)) == {0}
    assert match.returns == (-1.0, 1.0)
    assert match.faults == ()
    talk = play_match(
        "pommerman:PommeRadio-v2", ["scripted(actions=[[5,1,2]])", "stop", "stop", "stop"], seed=1, max_steps=900
    )
    assert moves_of(talk, 0)[:2] == [(5, 1, 2), (0, 0, 0)]
    assert set(moves_of(talk, 2)) == {(0, 0, 0)}
    assert talk.faults == ()


def test_stop_is_made_for_pommerman() -> None:
    with pytest.raises(UnsupportedGameError, match="agent stop is made for pommerman:NAME, not for kuhn_poker"):
        play_match("kuhn_poker", ["stop", "random"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"moves": []}', "is not a list of moves"),
        ("[1, 2", r"moves\.json:1:6: not JSON"),
        ("[1.5]", "1.5 is not a move; allowed: integers, texts and lists of them"),
        ("[true]", "True is not a move"),
        ("[" * 50_000, "nested too deeply"),
    ],
)
def test_scripts_that_cannot_be_read(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "moves.json"
    path.write_text(text)
    with pytest.raises(FormatError, match=words):
        load_agent(f"scripted(path='{path}')")


def test_scripts_that_are_not_there() -> None:
    with pytest.raises(FormatError, match=r"none\.json: cannot be read"):
        load_agent("scripted(path=none.json)")
    for name in ("scripted", "scripted(path=a,actions=[1])"):
        with pytest.raises(ParameterError, match="give a file or moves"):
            load_agent(name)
    with pytest.raises(FormatError, match=r"1\.5 is not a move"):
        load_agent("scripted(actions=[1,1.5])")
    with pytest.raises(FormatError, match=r"Name\(.* is not a move"):
        load_agent("scripted(actions=[a(b=1)])")


def test_the_command_line_names_every_agent() -> None:
    listed = CliRunner().invoke(app, ["agents"]).output
    assert [line.partition("(")[0] for line in listed.splitlines() if line[:1].isalpha()][:-1] == sorted(AGENTS)
    result = CliRunner().invoke(app, ["match", POMMERMAN, "scripted(actions=[5])", "stop", "--games", "2"])
    assert result.exit_code == 0
    assert "scripted(actions=[5])" in result.output
