"""The gallery: a command and a picture for each thing, and the pictures are those that the commands draw."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
SPEC = importlib.util.spec_from_file_location("gallery", DOCS / "gallery.py")
assert SPEC is not None
assert SPEC.loader is not None
gallery = importlib.util.module_from_spec(SPEC)
sys.modules["gallery"] = gallery
SPEC.loader.exec_module(gallery)
SECTIONS = {section.title: section for section in gallery.sections()}


def test_every_section_has_a_command_and_a_picture_or_a_table() -> None:
    parts = (DOCS / "gallery.md").read_text(encoding="utf-8").split("\n## ")[1:]
    for part in parts:
        assert "```console\n$ " in part or "```python\n" in part, part
        assert "](gallery/" in part or "](papers/" in part or "██" in part, part
    assert all(section.commands for section in SECTIONS.values())
    drawn = [picture for section in SECTIONS.values() for picture in section.pictures]
    assert sorted(drawn) == sorted(path.name for path in (DOCS / "gallery").iterdir())


@pytest.mark.parametrize("title", ["Look at a tree"])
def test_drawing_again_gives_the_pictures_that_are_kept(title: str, tmp_path: Path) -> None:
    """``make gallery`` when it fails: what is drawn has changed."""
    gallery.draw(SECTIONS[title], tmp_path)
    for picture in SECTIONS[title].pictures:
        assert (tmp_path / picture).read_bytes() == (DOCS / "gallery" / picture).read_bytes()


def test_pictures_are_small() -> None:
    assert sum(path.stat().st_size for path in (DOCS / "gallery").iterdir()) < 1_500_000
