"""The reference: every public name is in it, with an example that runs by itself and the shapes of its arrays."""

from __future__ import annotations

import doctest
import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import infoset

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "reference").glob("*.md"))
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
IMPORT = re.compile(r"^(?:>>> |\.\.\. )?\s*from (infoset[\w.]*) import ([\w, ]+)", re.MULTILINE)
EXTRAS = {"envs": "pettingzoo", "openspiel": "pyspiel", "learn": "torch", "widget": "anywidget"}


def find(name: str) -> Any:
    """The object of a dotted name: of the package, or of the module that it is in."""
    module, _, last = name.rpartition(".")
    return getattr(import_module(module), last)


def documented(kind: str) -> list[str]:
    return [
        n
        for page in PAGES
        for n in re.findall(rf"\.\. (?:auto|py:)(?:{kind}):: (\S+)", page.read_text(encoding="utf-8"))
    ]


NAMED = documented("class|function")


def asked_for() -> set[str]:
    """What the package promises, and what the guides import."""
    names = {f"infoset.{name}" for name in infoset.__all__ if not inspect.ismodule(getattr(infoset, name))}
    for guide in GUIDES:
        for module, listed in IMPORT.findall(guide.read_text(encoding="utf-8")):
            names |= {f"{module}.{name.strip()}" for name in listed.split(",")}
    return names


def home(name: str) -> str:
    """Where the reference has a name: at the package where that is the same thing."""
    last = name.rpartition(".")[2]
    return f"infoset.{last}" if last in infoset.__all__ and getattr(infoset, last) is find(name) else name


def test_everything_public_and_everything_in_the_guides_is_there() -> None:
    there = set(documented("class|function|data|module|type"))
    assert {home(name) for name in asked_for()} - there == set()
    assert sorted(there) == sorted(documented("class|function|data|module|type"))  # each once


@pytest.mark.parametrize("name", NAMED)
def test_it_says_what_it_is_with_an_example_that_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part, library in EXTRAS.items():
        if part in f"{name}.{find(name).__module__}".split("."):
            pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    text = inspect.getdoc(find(name))
    assert text
    test = doctest.DocTestParser().get_doctest(text, {"infoset": infoset}, name, None, 0)
    said: list[str] = []
    doctest.DocTestRunner().run(test, out=said.append)
    assert said == []
    promised = name in {home(wanted) for wanted in asked_for()}
    assert test.examples or not promised, f"{name} has no example"


@pytest.mark.parametrize("name", documented("function"))
def test_arrays_have_shapes(name: str) -> None:
    function = find(name)
    arrays = [str(a) for a in inspect.get_annotations(function).values() if "Array" in str(a)]
    if arrays:
        assert re.search(r"\((?:[A-Z]|n|moves)[\w ,+−]*\)", inspect.getdoc(function) or ""), (name, arrays)
