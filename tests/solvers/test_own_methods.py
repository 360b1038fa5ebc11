"""Methods of a user's own: named on the command line, resumed, and wrong in every way that a user's code can be."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from conftest import KUHN, form_of
from infoset import Method, solve
from infoset.cli.app import app
from infoset.errors import CheckpointError, InfosetError, ParameterError, UnknownNameError

SOURCE = """
import infoset

def squared(root, parent, first, last, worth, values, strategy, memory, parameters):
    total = 0.0
    for q in range(first, last):
        memory[0, q] = max(memory[0, q] + values[q] - worth, 0.0)
        strategy[q] = memory[0, q] ** 2
        total += strategy[q]
    for q in range(first, last):
        strategy[q] = strategy[q] / total if total > 1e-15 else 1.0 / (last - first)

ready = infoset.Method("squared", squared, lambda t: ((t - 1) / t)[:, None])

def make(rows=1):
    return infoset.Method(f"squared-{rows}", squared, lambda t: ((t - 1) / t)[:, None], memory=rows)

class Own:
    name, takes, default = "own", ready.takes, ready.default
    def check(self, options):
        ready.check(options)
    def job(self, compiled, options):
        return ready.job(compiled, options)

nothing = 5
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"own_{tmp_path.name}.py").write_text(SOURCE)
    return f"python:own_{tmp_path.name}.py"


@pytest.mark.parametrize(
    ("name", "called"), [("ready", "squared"), ("make", "squared-1"), ("make(rows=3)", "squared-3"), ("Own", "own")]
)
def test_a_file_names_a_method_or_what_makes_one(file: str, name: str, called: str) -> None:
    solution = solve(KUHN, f"{file}:{name}", iterations=400)
    assert solution.method == called
    assert solution.exploitability < 1e-2


def test_a_run_of_an_own_method_goes_on_where_it_is_named_again(file: str, capsys) -> None:
    app(["solve", KUHN, "--method", f"{file}:ready", "--iterations", "20", "--out", "cut"], standalone_mode=False)
    app(["solve", "--resume", "--out", "cut", "--method", f"{file}:ready", "--iterations", "50"], standalone_mode=False)
    whole = solve(KUHN, f"{file}:ready", iterations=50)
    assert solve(out="cut", resume=True, method=f"{file}:ready", iterations=50).policy.tables == whole.policy.tables
    with pytest.raises(UnknownNameError, match="unknown method 'squared'"):
        solve(out="cut", resume=True, iterations=60)
    with pytest.raises(CheckpointError, match="method squared, not squared-1"):
        solve(out="cut", resume=True, method=f"{file}:make", iterations=60)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nothing", "is 5, no method; it has to have name, takes, default, check and work"),
        ("squared", "the function squared is a local update, no method; a method is made of it by infoset.Method("),
        ("ready(rows=1)", "is an object, not a class or function, so that it takes no parameters"),
        ("absent", "unknown class, function or object"),
        ("absent", "known: Own, make, ready, squared"),
        ("redy", "did you mean 'ready'?"),
        ("infoset", "no method"),
    ],
)
def test_what_is_no_method_is_one_line(file: str, name: str, words: str) -> None:
    with pytest.raises(InfosetError) as raised:
        solve(KUHN, f"{file}:{name}", iterations=1)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_an_update_in_place_of_a_method_is_refused_in_python_too() -> None:
    with pytest.raises(ParameterError, match="the function beyond_the_rows is a local update, no method"):
        solve(KUHN, beyond_the_rows, iterations=1)


def beyond_the_moves(root, parent, first, last, worth, values, strategy, memory, parameters):
    for q in range(first, last):
        strategy[q] = 1.0 / (last - first)
    memory[0, last + 10_000_000] = 1.0


def beyond_the_rows(root, parent, first, last, worth, values, strategy, memory, parameters):
    for q in range(first, last):
        strategy[q] = 1.0 / (last - first)
        memory[7, q] = 1.0


def beyond_the_parameters(root, parent, first, last, worth, values, strategy, memory, parameters):
    for q in range(first, last):
        strategy[q] = 1.0 / (last - first) + 0.0 * parameters[500]


def even(root, parent, first, last, worth, values, strategy, memory, parameters):
    for q in range(first, last):
        strategy[q] = 1.0 / (last - first)


def raises(root, parent, first, last, worth, values, strategy, memory, parameters):
    if first >= 0:
        raise ValueError("so it is")


def takes_two(first, last):
    return 1.0


def uses_an_object(root, parent, first, last, worth, values, strategy, memory, parameters):
    strategy[first] = OBJECT.weight


OBJECT = object()


def ones(t):
    return np.ones((len(t), 1))


def weighs_beyond(first, last, worth, values, memory, parameters):
    return memory[0, last + 10_000_000] + 1.0


@pytest.mark.parametrize("update", [beyond_the_moves, beyond_the_rows, beyond_the_parameters])
def test_an_index_out_of_bounds_is_one_line_that_names_the_function(update) -> None:
    with pytest.raises(ParameterError, match=rf"^mine: {update.__name__}: the update fails: IndexError: ") as raised:
        solve(form_of(KUHN), Method("mine", update, ones), iterations=10)
    assert "\n" not in str(raised.value)


def test_a_weight_out_of_bounds_is_named() -> None:
    with pytest.raises(ParameterError, match=r"^mine: even or weighs_beyond: the update fails: IndexError"):
        solve(form_of(KUHN), Method("mine", even, ones, weigh=weighs_beyond), iterations=10)


@pytest.mark.slow
def test_an_index_out_of_bounds_does_not_end_python(tmp_path: Path) -> None:
    """In a process of its own: the command says it in one line and ends with status 1, not by a signal."""
    body = SOURCE.replace("memory[0, q] = max", "memory[0, q + 10**9] = max")
    (tmp_path / "bad.py").write_text(body)
    done = subprocess.run(
        [sys.executable, "-m", "infoset", "solve", KUHN, "--method", "python:bad.py:ready"],
        capture_output=True, text=True, cwd=tmp_path, check=False, timeout=300,
    )  # fmt: skip
    lines = [line for line in done.stderr.splitlines() if line.startswith("infoset:") and "(" not in line]
    assert (done.returncode, len(lines)) == (1, 1)
    assert lines[0].startswith("infoset: squared: squared: the update fails: IndexError")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Method("mine", 5, ones), "update=5 is no plain function"),
        (lambda: Method("mine", math.sqrt, ones), "is no plain function"),
        (lambda: Method("mine", takes_two, ones), "update takes 2 arguments; needed: 9, root, parent, first"),
        (lambda: Method("mine", even, 5), "schedule=5 is no plain function"),
        (lambda: Method(5, even, ones), "name=5 is not a name"),
        (lambda: Method("mine", even, ones, memory="two"), "memory=two is not an integer"),
        (lambda: Method("mine", even, ones, weigh=takes_two), "weigh takes 2 arguments; needed: 6"),
        (
            lambda: solve(KUHN, Method("mine", raises, ones), iterations=2),
            "raises: the update fails: ValueError: so it is",
        ),
        (lambda: solve(KUHN, Method("mine", uses_an_object, ones), iterations=2), "the update does not compile"),
        (lambda: solve(KUHN, Method("mine", even, lambda t: None), iterations=2), "the schedule"),
        (lambda: solve(KUHN, Method("mine", even, lambda t: t / "a"), iterations=2), "the schedule fails: "),
        (lambda: solve(KUHN, Method("mine", even, lambda t: ones(t)[:1]), iterations=200), "needed: ("),
    ],
)
def test_what_a_method_is_made_of_is_checked(make, words: str) -> None:
    with pytest.raises(ParameterError) as raised:
        make()
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)
