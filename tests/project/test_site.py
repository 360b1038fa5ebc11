"""The pages as a site: nothing of the sources is lost on the way, every link leads somewhere, names are in the index."""

from __future__ import annotations

import re
import subprocess
import sys
import zlib
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("sphinx", reason="Sphinx is not installed (group 'docs')")
from bs4 import BeautifulSoup
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin

from test_docstrings import asked_for, home

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    page.relative_to(DOCS).with_suffix("").as_posix() for page in DOCS.rglob("*.md") if "_build" not in page.parts
)
SPHINX_OWN = {"search", "genindex", "py-modindex"}
SHOWN = re.compile(r"|console|python|\{doctest\}|\{code-block\} \w+")
MADE_BY_SPHINX = re.compile(r"\$|\]\(\)|\[\]\(|\{\w+\}`")  # formulas, titles of other pages, roles


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages as ``make docs`` builds them, warnings and names that lead nowhere included."""
    out = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-b",
        "html",
        DOCS,
        out / "html",
        "-d",
        out / "trees",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out / "html"


@cache
def page(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def words(text: str) -> str:
    """Letters and digits alone: quotes and dashes are set anew on the way."""
    return " " + " ".join(re.findall(r"\w+", text)) + " "


def said(token: Token) -> str:
    """What a paragraph, a heading or a cell shows of itself."""
    shown = {"text", "code_inline", "softbreak", "hardbreak"}
    return "".join(part.content or " " for part in token.children or () if part.type in shown)


def passages(source: Path) -> list[str]:
    """The texts of a source that appear as they are: paragraphs, headings, cells, code."""
    tokens = MarkdownIt("commonmark").enable("table").use(deflist_plugin).parse(source.read_text(encoding="utf-8"))
    code = [t.content for t in tokens if t.type == "fence" and SHOWN.fullmatch(t.info.strip())]
    prose = [t for t in tokens if t.type == "inline" and not MADE_BY_SPHINX.search(t.content)]
    return [re.sub(r"# doctest:.*", "", text) for text in [*code, *map(said, prose)] if words(text).strip()]


def test_no_page_has_a_name_that_sphinx_writes_itself() -> None:
    assert SPHINX_OWN.isdisjoint(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_all_that_its_source_says(site: Path, name: str) -> None:
    body = page(site / f"{name}.html").find("article")
    assert body is not None
    for term in body.find_all("dt"):
        term.append(" ")  # its definition follows without one
    shown, texts = words(body.get_text()), passages(DOCS / f"{name}.md")
    assert texts
    assert [text for text in texts if words(text) not in shown] == []


def test_every_link_leads_somewhere(site: Path) -> None:
    dead = []
    for path in sorted(site.rglob("*.html")):
        for element in page(path).find_all(["a", "img", "link", "script"]):
            link = element.get("href") or element.get("src") or ""
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or not link:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists() or (parts.fragment and not has_anchor(target, unquote(parts.fragment))):
                dead.append((path.relative_to(site).as_posix(), link))
    assert dead == []


def has_anchor(path: Path, anchor: str) -> bool:
    return path.suffix != ".html" or anchor in anchors(path)


@cache
def anchors(path: Path) -> set[str]:
    return {element["id"] for element in page(path).find_all(id=True)}


def test_the_sidebar_lists_each_page_once(site: Path) -> None:
    links = page(site / "index.html").select(".sidebar-tree a.reference")
    pages = [urlsplit(link["href"]).path.removesuffix(".html") for link in links if not link["href"].startswith("#")]
    assert sorted(pages) == sorted(set(PAGES) - {"index"})
    assert [link["href"] for link in links if "#" in link["href"]] == []


def test_every_picture_is_shown_and_described(site: Path) -> None:
    shown = set()
    for name in PAGES:
        for picture in page(site / f"{name}.html").select("article img"):
            assert len(picture.get("alt", "")) > 5, (name, picture["src"])
            assert not picture["alt"].endswith((".png", ".svg", ".gif")), (name, picture["src"])
            shown.add(Path(picture["src"]).name)
    readme = set(
        re.findall(r"docs/[\w/.-]+/([\w-]+\.(?:png|svg|gif))", (ROOT / "README.md").read_text(encoding="utf-8"))
    )
    there = {p.name for p in DOCS.rglob("*") if p.suffix in {".png", ".svg", ".gif"} and "_build" not in p.parts}
    assert there - shown - readme == set()


def test_the_index_has_every_public_name(site: Path) -> None:
    """``objects.inv``: what other projects' pages, and the search, find."""
    body = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
    names = {line.split(" ")[0] for line in zlib.decompress(body).decode().splitlines() if " py:" in line}
    assert {home(name) for name in asked_for()} - names == set()


def test_every_link_has_words_of_its_own() -> None:
    """Plain Markdown shows nothing for a link whose title only Sphinx fills in."""
    for path in [DOCS.parent / "README.md", *DOCS.rglob("*.md")]:
        if "_build" not in path.parts:
            assert "[](" not in path.read_text(encoding="utf-8"), path
