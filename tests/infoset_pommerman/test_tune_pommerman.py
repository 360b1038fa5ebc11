"""The example that tunes: ranges around the defaults, paired games, a study that goes on, and a verdict."""

import importlib.util
import os
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

from infoset.errors import CheckpointError, ParameterError, UnknownNameError
from infoset.match.agents import load_agent
from infoset_pommerman.config import config

TUNE = Path(__file__).resolve().parents[2] / "examples" / "tune_pommerman.py"

needs_optuna = pytest.mark.skipif(not find_spec("optuna"), reason="optuna is not installed (extra 'tune')")


@cache
def tune() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tune_pommerman", TUNE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["tune_pommerman"] = module  # where its dataclass looks for it
    spec.loader.exec_module(module)
    return module


def test_a_missing_extra_is_one_sentence(tmp_path) -> None:
    (tmp_path / "optuna.py").write_text("raise ImportError")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, TUNE], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1
    assert done.stderr == "examples/tune_pommerman.py needs the extra 'tune': pip install 'infoset[tune]'\n"


@needs_optuna
def test_ranges_hold_the_defaults_and_make_agents() -> None:
    for agent, space in tune().SPACES.items():
        defaults = tune().defaults(agent)
        assert all(low <= defaults[name] <= high for name, (low, high) in space.items())
        rules = config("PommeTeamCompetition-v0")
        made, plain = (load_agent(name).parameters.for_game(rules) for name in (tune().named(agent, defaults), agent))
        assert made == plain
        for end in (0, 1):
            point = {name: type(defaults[name])(ends[end]) for name, ends in space.items()}
            load_agent(tune().named(agent, point))


@needs_optuna
def test_both_seatings_of_a_board_are_played(tmp_path) -> None:
    """So an agent has half of the points against itself, however lucky a seat is; and the same again."""
    args = tune().Args(pool="simple", out=tmp_path)
    assert list(tune().scores("simple", args, range(3))) == [0.5] * 3
    args = tune().Args(pool="stop", variant="OneVsOne-v0", out=tmp_path)
    once = list(tune().scores("simple", args, range(4)))
    assert once == list(tune().scores("simple", args, range(4)))
    assert set(once) <= {0.0, 0.25, 0.5, 0.75, 1.0}


@needs_optuna
def test_a_study_goes_on_where_it_was(tmp_path, capsys) -> None:
    """The first trial has the defaults; a trial after the break is none of those before."""
    args = tune().Args(pool="stop", boards=1, variant="OneVsOne-v0", out=tmp_path)
    tune().open_study(args).optimize(tune().objective(args), n_trials=2)
    study = tune().open_study(args)
    study.optimize(tune().objective(args), n_trials=1)
    assert [trial.number for trial in study.trials] == [0, 1, 2]
    assert study.trials[0].params == tune().defaults("dypm")
    assert len({str(trial.params) for trial in study.trials}) == 3
    assert capsys.readouterr().out.count("trial ") == 3
    with pytest.raises(CheckpointError, match="boards=1, not 2; choose another --out"):
        tune().open_study(tune().Args(pool="stop", boards=2, variant="OneVsOne-v0", out=tmp_path))
    if find_spec("matplotlib"):
        tune().picture(study, tmp_path / "curve.png")
        assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


@needs_optuna
def test_a_file_that_is_no_study(tmp_path) -> None:
    (tmp_path / "study.db").write_text("no database")
    with pytest.raises(CheckpointError, match=r"study\.db is no study"):
        tune().open_study(tune().Args(out=tmp_path))


@needs_optuna
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"agent": "simple"}, ParameterError, "agent=simple is not one of dypm, champion"),
        ({"pool": "dypm simpel"}, UnknownNameError, "did you mean 'simple'"),
        ({"pool": ""}, ParameterError, "pool is empty"),
        ({"boards": 0}, ParameterError, "boards=0 is out of range"),
        ({"variant": "PommeFFACompetition-v0"}, ParameterError, "has no two sides"),
    ],
)
def test_arguments_that_do_not_fit(arguments: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tune().Args(**arguments)


@needs_optuna
def test_it_says_what_it_found(tmp_path, capsys, monkeypatch) -> None:
    options = "--pool stop --boards 1 --confirm 2 --minutes 0.0001 --variant OneVsOne-v0 --out"
    monkeypatch.setattr(sys, "argv", ["tune_pommerman.py", *options.split(), str(tmp_path)])
    tune().main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("trial 0: ")
    assert lines[-3].startswith("best of 1 trials, number 0: ")
    assert lines[-1] == "gain over the defaults 0 ± 0: not supported by the fresh boards"
