"""Names, moves and errors of others: nothing in them commands a terminal, hides or reorders what is shown."""

from __future__ import annotations

import ast
import io
from contextlib import redirect_stderr
from pathlib import Path

import pytest

import infoset
from command_line import run_infoset
from infoset.errors import FormatError, RemoteError, UnknownNameError, one_line, printable

HOSTILE = "\x1b[2Ja\x07b\x9b31mc\u202ed\u2066e\u200bf\x7fg\x85h\ud800"
FORBIDDEN = set("\x1b\x07\x9b\u202e\u2066\u200b\x7f\x85\ud800")
COMMANDS = Path(infoset.__file__).parent / "cli"

GAME = f"""EFG 2 R "{HOSTILE[:-1]}" {{ "A\x1b[31m" "B\u202e" }}
p "" 1 1 "" {{ "heads\x9b2J" "tails" }} 0
t "" 1 "" {{ 1 -1 }}
t "" 2 "" {{ -1 1 }}
"""

AGENT = f"""
from infoset.match.agents import RandomAgent

class Screams(RandomAgent):
    def act(self, legal_actions, deadline):
        raise ValueError({HOSTILE!r} + "\\n second line")
"""


def harmless(text: str) -> bool:
    return not FORBIDDEN & set(text)


def test_what_is_printable() -> None:
    assert printable(HOSTILE) == "?[2Ja?b?31mc?d?e?f?g?h?"
    text = "Ünïcödé, 漢字, العربية, עברית, 🂡 and\ttabs\nin lines"
    assert printable(text) == text
    assert one_line("one\r\n two\u2028three \x1b[1m") == "one two three ?[1m"


def test_errors_are_one_harmless_line() -> None:
    for error in (
        FormatError(HOSTILE, HOSTILE),
        RemoteError(f"{HOSTILE}\r\nmore\n"),
        UnknownNameError("game", HOSTILE, ["a"]),
    ):
        assert harmless(str(error)) and len(str(error).splitlines()) == 1, repr(str(error))


def test_an_agents_exception_is_a_harmless_fault(tmp_path: Path) -> None:
    path = tmp_path / "screams.py"
    path.write_text(AGENT)
    match = infoset.play_match("kuhn_poker", [f"python:{path}:Screams", "random"], seed=1)
    assert match.faults and all(harmless(fault.detail) and "\n" not in fault.detail for fault in match.faults)
    assert "second line" in match.faults[0].detail


def test_progress_and_lines_of_servers_are_harmless() -> None:
    from infoset.cli.progress import Bar
    from infoset.cli.status_line import say
    from infoset.remote.serving import Complaints

    out = io.StringIO()
    with redirect_stderr(out):
        say(HOSTILE, 1.0)
        Complaints().say(HOSTILE)
        with Bar("games", "playing", 1) as bar:
            bar.began -= 1000
            bar.show(quality=HOSTILE)
    assert out.getvalue().count("a?b") == 3
    assert harmless(out.getvalue())


def test_the_command_line_prints_nothing_but_through_one_place() -> None:
    """``print`` is called for JSON, which is plain ASCII, and for one constant alone."""
    found = [
        (path.name, ast.unparse(node))
        for path in sorted(COMMANDS.glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert [name for name, _ in found] == ["__init__.py", "output.py", "output.py", "output.py"], found
    assert "json.dumps" in found[3][1] and all("printable" in call for _, call in found[1:3])


@pytest.mark.parametrize(
    "arguments", [["match", "GAME", "AGENT", "random"], ["show", "GAME"], ["solve", "GAME\x1b[31m"]]
)
def test_commands_print_nothing_that_commands_a_terminal(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "game.efg").write_text(GAME)
    (tmp_path / "screams.py").write_text(AGENT)
    names = {"GAME": "game.efg", "AGENT": "python:screams.py:Screams"}
    done = run_infoset(*(names.get(word, word) for word in arguments), cwd=tmp_path)
    text = done.stdout + done.stderr
    assert text and harmless(text), text


def test_pages_and_pictures_are_harmless(tmp_path: Path) -> None:
    from infoset.view.markup import tag
    from infoset.view.watch_page import watch_page

    assert str(tag("b", HOSTILE, title=HOSTILE)).count("a?b?31mc?d?e?f?g?h?") == 2
    (tmp_path / "game.efg").write_text(GAME)

    match = infoset.play_match(str(tmp_path / "game.efg"), ["random"] * 2, seed=1)
    assert harmless(watch_page(match))
