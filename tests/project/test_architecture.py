"""Imports go one way: no circle of files, counting imports inside functions and those for type checking alone."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
from scipy.sparse.csgraph import connected_components

import infoset

SOURCES = Path(infoset.__file__).parents[1]
PACKAGES = ("infoset", "infoset_pommerman")


def modules() -> dict[str, Path]:
    """Return the files of the packages by the names of their modules."""
    found = {}
    for file in (file for package in PACKAGES for file in (SOURCES / package).rglob("*.py")):
        parts = file.relative_to(SOURCES).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imports(file: Path) -> set[str]:
    """Return the names of everything that a file imports anywhere: modules, and attributes of them."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.update(f"{node.module}.{name.name}" for name in node.names)
    return found


def test_no_files_import_each_other() -> None:
    files = modules()
    place = {name: number for number, name in enumerate(files)}
    graph = np.zeros((len(place), len(place)), dtype=bool)
    for name, file in files.items():
        for imported in imports(file):
            module = imported if imported in place else imported.rpartition(".")[0]
            if module in place and module != name:
                graph[place[name], place[module]] = True
    _, circle = connected_components(graph, connection="strong")
    circles = [
        sorted(name for name in place if circle[place[name]] == k) for k in np.flatnonzero(np.bincount(circle) > 1)
    ]
    assert not circles


def test_infoset_knows_pommerman_as_a_plug_in_alone() -> None:
    """Nothing but what the entry points of its package name reaches Pommerman."""
    for name, file in modules().items():
        if name.partition(".")[0] == "infoset":
            assert "infoset_pommerman" not in file.read_text(encoding="utf-8"), name
