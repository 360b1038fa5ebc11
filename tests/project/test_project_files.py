"""The files around the code say what the code says; ``make check`` holds each against its schema."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import infoset

ROOT = Path(__file__).resolve().parents[2]
PAPERS = sorted(page.stem for page in (ROOT / "docs" / "papers").glob("*.md"))


def read(name: str) -> Any:
    text = (ROOT / name).read_text(encoding="utf-8")
    return tomllib.loads(text) if name.endswith(".toml") else yaml.safe_load(text)


PROJECT = read("pyproject.toml")["project"]
GROUPS = read("pyproject.toml")["dependency-groups"]


def minor_versions() -> list[str]:
    found = [re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", text) for text in PROJECT["classifiers"]]
    return [match[1] for match in found if match]


def test_the_versions_of_python_are_those_of_the_workflow() -> None:
    matrix = read(".github/workflows/test.yml")["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == minor_versions()
    assert PROJECT["requires-python"] == f">={matrix['python'][0]}"
    assert {name.split("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}


def test_the_workflow_does_what_a_developer_does() -> None:
    steps = read(".github/workflows/test.yml")["jobs"]["test"]["steps"]
    assert steps[-1]["run"].startswith("make test")


def test_on_windows_programs_are_in_another_folder() -> None:
    """``python -m venv`` makes ``Scripts`` there."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(
        r"ifeq \(\$\(OS\),Windows_NT\)\n[^e]*BIN = \$\(VENV\)/Scripts\nelse\n[^e]*BIN = \$\(VENV\)/bin", makefile
    )


def test_read_the_docs_installs_what_exists() -> None:
    body = read(".readthedocs.yaml")
    commands = " ".join(body["build"]["jobs"]["install"])
    extras = re.search(r"\.\[([\w,]+)\]", commands)
    assert extras is not None
    assert set(extras[1].split(",")) <= set(PROJECT["optional-dependencies"])
    assert set(re.findall(r"--group (\w+)", commands)) <= set(GROUPS)
    assert (ROOT / body["sphinx"]["configuration"]).is_file()
    assert body["build"]["tools"]["python"] in minor_versions()


def test_the_hooks_use_the_tools_of_the_group() -> None:
    hooks = [hook for repository in read(".pre-commit-config.yaml")["repos"] for hook in repository["hooks"]]
    wanted = {requirement for hook in hooks for requirement in hook["additional_dependencies"]}
    assert wanted <= set(GROUPS["check"])


def test_the_citation() -> None:
    body = read("CITATION.cff")
    assert body["version"] == PROJECT["version"] == infoset.__version__
    assert (body["title"], body["license"], body["abstract"]) == (
        PROJECT["name"],
        PROJECT["license"],
        PROJECT["description"],
    )
    assert body["keywords"] == PROJECT["keywords"]


@pytest.mark.parametrize("name", PAPERS)
def test_every_paper_with_a_page_is_cited(name: str) -> None:
    text = (ROOT / "docs" / "papers" / f"{name}.md").read_text(encoding="utf-8")
    references = read("CITATION.cff")["references"]
    assert len(references) == 6  # two have a page for a competition as well
    first = [reference for reference in references
             if all(author["family-names"] in text for author in reference["authors"]) and str(reference["year"]) in text]  # fmt: skip
    assert first, name


def test_no_link_of_the_documentation_is_without_words() -> None:
    """``[](page.md)`` is filled in by Sphinx alone; in plain Markdown it vanishes."""
    pages = [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "papers").glob("*.py"),
    ]
    assert len(pages) > 50
    empty = [f"{page.name}: {line}" for page in pages for line in page.read_text(encoding="utf-8").splitlines()
             if re.search(r"(?<!!)\[\s*\]\(", line)]  # fmt: skip
    assert not empty
