"""Systems that are not Linux, played by taking away what they have not."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from infoset import load, processes
from infoset.arena.tournament import tournament
from infoset.errors import BudgetError, UnsupportedSystemError
from infoset.gdl.game import GdlGame
from infoset.gdl.grounding import Budget, ground
from infoset.gdl.library import description
from infoset.gdl.rules import EvaluatorWarning
from infoset.gdl.syntax import parse_gdl
from infoset.processes import Limits, end_group, limit_memory, own_group, usable_cores

MAC = "def refuse(*_): raise ValueError('current limit exceeds maximum limit')\nimport resource\nresource.setrlimit = refuse\n"
WINDOWS = "import sys\nsys.modules['resource'] = None\n"


@pytest.fixture
def child(tmp_path, monkeypatch):
    """Lets Python processes that are started from here begin with some code."""

    def begin_with(code: str) -> None:
        (tmp_path / "sitecustomize.py").write_text(code)
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *filter(None, sys.path)]))

    return begin_with


@pytest.mark.parametrize("system", [MAC, WINDOWS])
def test_games_ground_where_memory_cannot_be_limited(system: str, child) -> None:
    child(system)
    text = description("kuhn_poker")
    assert ground(text).rules == ground(text, Budget(seconds=9.0)).rules
    game = GdlGame(text, budget=Budget(seconds=30.0, rules=999_999))  # a budget of its own, so that it grounds anew
    assert game.rules.propnet is not None
    assert game.not_ground == ""


def test_a_limit_that_cannot_be_says_why(monkeypatch) -> None:
    resource = pytest.importorskip("resource")

    def refuse(*_) -> None:
        raise ValueError("current limit exceeds maximum limit")

    monkeypatch.setattr(resource, "setrlimit", refuse)
    assert limit_memory(1 << 30) == "this system does not limit memory: current limit exceeds maximum limit"
    monkeypatch.setitem(sys.modules, "resource", None)
    assert limit_memory(1 << 30) == "this system cannot limit memory"
    monkeypatch.setattr(processes, "PROCESSES", Path("/nowhere"))
    assert processes.limit(Limits(processes=9)) == "this system cannot limit processes"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os; os._exit(9)", "the grounder ended with status 9"),
        ("print('no clingo', file=sys.stderr, flush=True); import os; os._exit(1)", "no clingo"),
    ],
)
def test_a_grounder_that_dies_changes_nothing_in_silence(code: str, reason: str, child) -> None:
    child(f"import sys\nif 'infoset.gdl.grounder' in sys.orig_argv:\n    {code}\n")
    with pytest.warns(EvaluatorWarning, match=rf"monty_hall.*{reason}.*evaluated state by state"):
        game = GdlGame(description("monty_hall"), budget=Budget(rules=999_000 + len(code)))
    assert reason in game.not_ground


def test_the_clock_that_ended_grounding_is_named() -> None:
    terms = "".join(f"(init (q {k}))" for k in range(100))
    many = "(<= (next (p ?a ?b ?c ?d)) (true (q ?a)) (true (q ?b)) (true (q ?c)) (true (q ?d)))"
    text = parse_gdl(f"(role x) (legal x go) (goal x 0) terminal {many} {terms}")
    with pytest.raises(BudgetError, match=r"0.3 s of computing were not enough; a faster machine may come further"):
        ground(text, Budget(seconds=0.3, rules=10**9))


def test_a_busy_machine_grounds_no_less(child) -> None:
    """The budget is of computing: a process that waits for its turn loses nothing of it."""
    text = description("monty_hall")
    child("import sys, time\nif 'infoset.gdl.grounder' in sys.orig_argv: time.sleep(1.5)\n")
    assert ground(text, Budget(seconds=1.0)).rules == ground(text).rules


def test_too_many_rules_are_named() -> None:
    with pytest.warns(EvaluatorWarning, match=r"1 rules \(too many rules\)"):
        game = GdlGame(description("monty_hall"), budget=Budget(rules=1))
    assert load("gdl:monty_hall").not_ground == ""
    with pytest.warns(EvaluatorWarning):  # each time, though the rules are kept
        assert GdlGame(description("monty_hall"), budget=Budget(rules=1)).rules is game.rules


def test_the_command_line_says_it(tmp_path, child) -> None:
    child("import sys, os\nif 'infoset.gdl.grounder' in sys.orig_argv: os._exit(9)\n")
    command = [sys.executable, "-m", "infoset", "show", "gdl:monty_hall"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert "candidate at" in done.stdout
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("infoset: ")
    assert "the grounder ended with status 9" in done.stderr and "state by state" in done.stderr


SLEEPS = textwrap.dedent("""
    import subprocess, sys, time
    print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid, flush=True)
    time.sleep(600)
""")


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="this system has no process groups")
def test_a_group_ends_as_a_whole() -> None:
    with subprocess.Popen([sys.executable, "-c", SLEEPS], stdout=subprocess.PIPE, **own_group()) as process:
        grandchild = int(process.stdout.readline())
        assert os.getpgid(grandchild) == process.pid
        assert end_group(process) == -signal.SIGKILL
        assert process.stdout.read() == b""  # nobody holds it any more


def test_windows_has_no_groups(monkeypatch) -> None:
    monkeypatch.delattr(os, "killpg", raising=False)
    monkeypatch.delattr(signal, "SIGKILL", raising=False)
    monkeypatch.delattr(os, "fork", raising=False)
    monkeypatch.setattr(subprocess.Popen, "kill", subprocess.Popen.terminate)  # as it is there
    assert own_group() == {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], **own_group()) as process:
        assert end_group(process) != 0
        assert end_group(process) != 0  # also where it is gone


def test_cores_without_affinity(monkeypatch) -> None:
    assert usable_cores() == len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert usable_cores() == os.cpu_count()
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cores() == 1


def test_tournaments_say_that_windows_cannot(monkeypatch) -> None:
    monkeypatch.setattr("infoset.processes.SYSTEM", "nt")
    with pytest.raises(UnsupportedSystemError, match=r"^a tournament needs processes that share open files"):
        tournament("kuhn_poker", ["random", "random"])
