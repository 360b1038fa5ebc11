"""From the template to a competition: what its containers run, as processes with the same commands and environment."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
import yaml

from infoset import evaluate, play_match
from infoset.errors import ParameterError
from infoset.remote.submission import new_agent

ROOT = Path(__file__).resolve().parents[2]


def command_of(dockerfile: Path) -> list[str]:
    return json.loads(re.findall(r"^CMD (\[.*\])$", dockerfile.read_text(), re.MULTILINE)[-1])


def test_nothing_is_written_over(tmp_path: Path) -> None:
    files = new_agent(tmp_path / "mine")
    assert sorted(path.name for path in files) == ["Dockerfile", "README.md", "agent.py", "compose.yaml"]
    before = {path: path.read_bytes() for path in files}
    with pytest.raises(ParameterError, match="is there already"):
        new_agent(tmp_path / "mine")
    assert before == {path: path.read_bytes() for path in files}


def test_the_template_plays_as_it_is(tmp_path: Path) -> None:
    new_agent(tmp_path)
    name = f"python:{tmp_path / 'agent.py'}:MyAgent"
    assert not play_match("leduc_poker", [name, "random"], seed=1, seconds_per_move=5.0).faults
    assert not evaluate("kuhn_poker", name, seconds=0.5).exact  # it does not report its action probabilities


def test_the_competition_of_the_template(tmp_path: Path) -> None:
    """Two agents and the referee as the recipes start them; only hosts, ports and the number of games differ."""
    pytest.importorskip("starlette")
    new_agent(tmp_path)
    services = yaml.safe_load((tmp_path / "compose.yaml").read_text())["services"]
    commands = {"mine": command_of(tmp_path / "Dockerfile"), "other": services["other"]["command"]}
    environment = {k: v for k, v in os.environ.items() if k in {"PATH", "HOME", "LANG", "PYTHONPATH"}}
    running, addresses = [], {}
    try:
        for name, command in commands.items():
            assert command[0] == "infoset"
            log = (tmp_path / f"{name}.log").open("w")
            there = [sys.executable, "-m", *command[:-1], "0"]
            running.append(subprocess.Popen(there, cwd=tmp_path, env=environment, stderr=log))
            log.close()
            until = time.monotonic() + 60
            while not (port := re.search(r":(\d+);", (tmp_path / f"{name}.log").read_text())):
                assert time.monotonic() < until
                time.sleep(0.05)
            addresses[f"http://{name}:10080"] = f"http://127.0.0.1:{port[1]}"
            with urllib.request.urlopen(
                f"{addresses[f'http://{name}:10080']}/ping", timeout=30
            ) as answer:  # its health
                assert json.load(answer)["protocol"] == 1
        (tmp_path / "results").mkdir()
        referee = [addresses.get(word, word) for word in services["referee"]["command"]]
        referee[referee.index("--games") + 1] = "4"
        done = subprocess.run(
            [sys.executable, "-m", *referee, "--json"], cwd=tmp_path, env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
    finally:
        for process in running:
            process.terminate()
            process.wait()
    assert done.returncode == 0, done.stderr
    body = json.loads(done.stdout)
    assert (body["games"], body["faults"]) == (4, [])


def test_the_base_image_has_what_the_recipes_need() -> None:
    text = (ROOT / "docker" / "Dockerfile").read_text()
    version = re.search(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version is not None
    template = ROOT / "src" / "infoset" / "remote" / "template"
    assert f"FROM infoset:{version[1]}\n" in (template / "Dockerfile").read_text()
    assert f"image: infoset:{version[1]}\n" in (template / "compose.yaml").read_text()
    for needed in ("infoset warm-up", "EXPOSE 10080", "/ping", "USER 1000"):
        assert needed in text
