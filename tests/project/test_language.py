"""One name for one concept: the words of the design's left columns name nothing in the package."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "src"
WORDS = {
    "nature": "chance", "menu": "action set", "menus": "action sets", "worth": "value", "told": "description",
    "behind": "successor", "held": "reach", "kept": "cached", "theirs": "the opponent's", "begun": "started",
    "gone": "removed", "chances": "probabilities", "shelf": "artifacts", "wishes": "schemas", "halves": "parallel gradient",
    "add_in_parallel": "parallel gradient", "apart": "agent proxy", "elsewhere": "asynchronous proxy",
}  # fmt: skip
"""A word of the old vocabulary, and the term that replaced it (``docs/glossary.md``)."""
CLASSES = {
    "Below": "Subgame", "Draws": "BeliefSampler", "Ranges": "BeliefTracker", "GrowingGraph": "LazyGraph",
    "Walk": "QuotientGraph", "Walks": "Simulations", "Work": "Job", "Runs": "MultiStart",
    "RunsElsewhere": "DistributedRuns", "Halves": "ParallelGradient", "OneStep": "OneShotSolver",
    "OneProfile": "OneShotProfile", "Apart": "AgentProxy", "Elsewhere": "AsyncAgentProxy", "Mind": "GgpPlayer",
    "Desk": "GgpSession, Workspace", "Room": "Workspace, Service",
}  # fmt: skip


def names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield every name that a module defines, with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name, node.lineno
            case ast.arg():
                yield node.arg, node.lineno
            case ast.Name(ctx=ast.Store()):
                yield node.id, node.lineno
            case ast.Attribute(ctx=ast.Store()):
                yield node.attr, node.lineno


def old_words(name: str) -> list[str]:
    """Return the old words in a name, whichever way it is written."""
    if name in CLASSES:
        return [f"{name} (now {CLASSES[name]})"]
    parts = re.findall(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]*", name)
    return [f"{part} (now {WORDS[part.lower()]})" for part in parts if part.lower() in WORDS]


@pytest.mark.parametrize("package", ["infoset", "infoset_pommerman"])
def test_no_name_uses_the_old_vocabulary(package: str) -> None:
    found = [
        f"{file.relative_to(SOURCES)}:{line}: {name}: {', '.join(old)}"
        for file in sorted((SOURCES / package).rglob("*.py"))
        for name, line in names(ast.parse(file.read_text(encoding="utf-8")))
        if (old := old_words(name))
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("name", ["_told", "worth_text", "KEPT_OPEN", "Ranges", "behind"])
def test_old_words_are_recognised(name: str) -> None:
    assert old_words(name)


@pytest.mark.parametrize("name", ["value", "Ranged", "Chance", "keptic", "legal_actions"])
def test_other_words_are_not(name: str) -> None:
    assert not old_words(name)
