"""The table of docs/verbs.md: every command, and the line of Python beside it, run and leave what they say."""

import re
import shlex
from pathlib import Path

import pytest

import infoset
from infoset.cli.app import VERBS, app

PAGE = (Path(__file__).parents[2] / "docs" / "verbs.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `infoset (.*?)` \| `(.*?)` \|$", PAGE, re.MULTILINE)
NEEDS = {"train": "torch"}


def test_every_row_runs(tmp_path, monkeypatch, capsys) -> None:
    """In order, since later ones take what earlier ones made."""
    monkeypatch.chdir(tmp_path)
    cup = 'game = "rock_paper_scissors"\nteams = ["random", "random"]\nformat = "swiss(rounds=1,wins=1)"\n'
    (tmp_path / "cup.toml").write_text(cup)
    assert len(ROWS) > 15
    for command, line in ROWS:
        if (need := NEEDS.get(command.split()[0])) and not _has(need):
            continue
        app(shlex.split(command), standalone_mode=False)
        exec(line, {"infoset": infoset})
    made = {path.name for path in tmp_path.rglob("*")}
    for name in ("leduc", "leduc-too", "reply.npz", "reply-too.npz", "kuhn.efg", "kuhn-too.efg", "match.html", "t.db"):
        assert name in made, name
    assert (tmp_path / "reply.npz").read_bytes() == (tmp_path / "reply-too.npz").read_bytes()
    assert (tmp_path / "leduc.json").read_text() == (tmp_path / "leduc-too.json").read_text()


def _has(module: str) -> bool:
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def test_every_verb_is_in_the_table() -> None:
    verbs = set(VERBS)
    assert verbs - {"warm-up", "play", "ggp-player", "ggp-match", "serve-agent", "serve", "mcp"} <= {
        command.split()[0] for command, _ in ROWS
    }


@pytest.mark.parametrize("name", re.findall(r"python:(examples/\S+?\.py)", PAGE))
def test_the_examples_are_there(name: str) -> None:
    assert (Path(__file__).parents[2] / name).is_file()
