"""The README's example runs as it stands and is short."""

import doctest
import re
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_library_example(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    block = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    lines = block.group(1).splitlines()
    assert len(lines) <= 12
    test = doctest.DocTestParser().get_doctest(block.group(1), {}, "README", str(README), 0)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0
    assert (tmp_path / "kuhn.npz").exists()


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / target).exists(), target
