"""Targets in per cent of the pot: what they mean, where they are refused, and what a run keeps of them."""

import json
import re
from pathlib import Path

import pytest

import infoset
from command_line import run_infoset
from infoset.errors import CheckpointError, ParameterError
from infoset.solvers.config import SolveConfig, read_target

SPOT = "holdem(board=Td9d6hQc2s,pot=40,stack=40,bets='100%',raises=none,range1='AA KQs',range2='QQ 87s')"


def test_a_share_of_the_pot_is_a_number_of_chips() -> None:
    assert SolveConfig(target="0.5%").limits(pot=40).target == 0.2
    assert SolveConfig(target="1e-3").target == 1e-3
    assert SolveConfig(target=0.25).limits(pot=None).target == 0.25
    assert read_target(" 0.5 % ") == "0.5%" and read_target(None) is None


def test_solving_stops_at_the_share_and_the_run_keeps_it_as_given(tmp_path: Path) -> None:
    solution = infoset.solve(SPOT, "dcfr", form="vector", target="5%", out=tmp_path / "run")
    assert solution.stopped == "target" and solution.exploitability <= 2.0 < solution.curve[-2].exploitability
    assert json.loads((tmp_path / "run" / "config.json").read_text())["target"] == "5%"
    more = infoset.solve(out=tmp_path / "run", resume=True, target="1%")
    assert more.stopped == "target" and more.exploitability <= 0.4
    assert json.loads((tmp_path / "run" / "config.json").read_text())["target"] == "5%"
    with pytest.raises(CheckpointError, match="precision"):
        infoset.solve(out=tmp_path / "run", resume=True, target="1%", precision="double")


@pytest.mark.parametrize("game", ["kuhn_poker", infoset.GameTree.of(infoset.load("kuhn_poker"))])
def test_a_game_without_a_pot_is_refused_before_a_folder_is_made(game: object, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=re.escape("target=0.5%: this game has no pot; allowed: a number")):
        infoset.solve(game, "cfr", target="0.5%", out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("target", ["half", "-1%", "nan%", "inf", "%", "0.5%%", "1" * 400 + "%"])
def test_texts_that_are_no_targets_are_refused(target: str) -> None:
    with pytest.raises(ParameterError, match="target="):
        SolveConfig(target=target)


def test_the_command_line_takes_both_units(tmp_path: Path) -> None:
    found = run_infoset("solve", SPOT, "--method", "dcfr", "--form", "vector", "--target", "5%", "--json", cwd=tmp_path)
    assert json.loads(found.stdout)["stopped"] == "target"
    found = run_infoset("solve", "kuhn_poker", "--method", "cfr", "--target", "0.01", "--json", cwd=tmp_path)
    assert json.loads(found.stdout)["exploitability"] <= 0.01
    refused = run_infoset("solve", "kuhn_poker", "--target", "1%", cwd=tmp_path)
    assert refused.returncode == 1 and refused.stderr.strip().endswith(
        "this game has no pot; allowed: a number, in units of payoffs"
    )
