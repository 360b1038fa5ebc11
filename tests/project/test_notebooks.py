"""The notebooks run as they are, and come to the figures that they speak of."""

from __future__ import annotations

import importlib.util
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nbclient", reason="nbclient is not installed (group 'test')")
pytest.importorskip("ipykernel", reason="ipykernel is not installed (group 'test')")
pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra 'plot')")

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "notebooks.md").read_text(encoding="utf-8")
LONG = {"a-game-of-your-own", "run-a-competition", "solve-a-gambit-file", "train-an-agent"}
NAMES = sorted(path.stem for path in (DOCS / "notebooks").glob("*.ipynb"))
ADDRESS = re.compile(r" at 0x[0-9a-f]+")

CLAIMS = {
    "solve-a-gambit-file": [
        ("0.0556", "value +0.0556"),
        ("0.0000", "P1 is left 0.0000"),
        ("one jack in three", "bluffs 0.333"),
        ("one queen in three", "calls 0.333"),
    ],
    "a-game-of-your-own": [("0.5455", "value 0.5455"), ("1.0000", "from 0.5455 to 1.0000")],
    "a-game-in-gdl": [("66.67", "value 66.67"), ("one game of three", "stay 33.33 switch 33.33")],
    "train-an-agent": [("0.16", "against random")],
    "run-a-competition": [("1,000 iterations", "1,000 iterations: exploitability 0.0002")],
}
"""What the text says, and what the cells print."""


def tool() -> Any:
    spec = importlib.util.spec_from_file_location("notebooks", DOCS / "notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["notebooks"] = module
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of Jupyter's own packages
        spec.loader.exec_module(module)
    return module


def words(text: str) -> str:
    return " ".join(text.replace("**", "").split())


def printed(notebook: Any) -> str:
    return words("".join(out.text for cell in notebook.cells for out in cell.get("outputs", ()) if out.output_type == "stream"))  # fmt: skip


def read(name: str) -> Any:
    import nbformat

    return nbformat.read(DOCS / "notebooks" / f"{name}.ipynb", as_version=4)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Jupyter's own packages
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in LONG)) for n in NAMES])
def test_it_runs_and_its_figures_hold(name: str, tmp_path: Path) -> None:
    if name == "train-an-agent":
        pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")
    kept, done = read(name), tool().execute(DOCS / "notebooks" / f"{name}.ipynb", tmp_path)
    streams = [out for cell in done.cells for out in cell.get("outputs", ()) if out.output_type == "stream"]
    assert [out.text for out in streams if out.name == "stderr"] == []  # no warning
    text, found = words("\n".join(cell.source for cell in done.cells if cell.cell_type == "markdown")), printed(done)
    for said, shown in CLAIMS[name]:
        assert said in text
        assert shown in found
    if name == "train-an-agent":  # whose arithmetic differs from processor to processor
        won, lost = (float(value) for value in re.findall(r"([+-]\d\.\d+) ±", found))
        assert 0.05 < won < 0.35
        assert -0.12 < lost < 0.12
    else:
        assert found == printed(kept)  # `make notebooks` when it fails: what is kept is old
    plain = [out.data["text/plain"] for cell in done.cells for out in cell.get("outputs", ()) if "data" in out]
    assert plain
    kinds = [set(out.data) for cell in done.cells for out in cell.get("outputs", ()) if "data" in out]
    assert all(kind & {"text/html", "image/svg+xml", "image/png"} for kind in kinds)  # nothing is shown as an object


@pytest.mark.parametrize("name", NAMES)
def test_what_is_kept_is_whole_small_and_listed(name: str) -> None:
    path, notebook = DOCS / "notebooks" / f"{name}.ipynb", read(name)
    assert path.stat().st_size < 300_000
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert all(out.output_type != "error" for cell in cells for out in cell.outputs)
    assert str(Path.home()) not in path.read_text(encoding="utf-8")
    title = notebook.cells[0].source.splitlines()[0].removeprefix("# ")
    assert f"[{title}](https://github.com/" in PAGE or f"[{title}](notebooks/{name}.ipynb)" in PAGE


def test_there_is_a_claim_for_each() -> None:
    assert sorted(CLAIMS) == NAMES
