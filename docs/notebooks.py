"""Run the notebooks of ``docs/notebooks/`` again and keep what they show, and a picture of each.

    python docs/notebooks.py                        # what `make notebooks` runs
    python docs/notebooks.py train-an-agent         # this one alone

Each runs in a folder of its own with the examples where it looks for them, in a kernel of this Python.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient

DOCS = Path(__file__).resolve().parent
NOTEBOOKS = DOCS / "notebooks"
SECONDS = 240  # for one cell, where kernels have to be compiled


class OwnKernel(AsyncKernelManager):
    """A kernel of this Python, whatever others are installed."""

    def _kernel_spec_manager_default(self) -> KernelSpecManager:
        return KernelSpecManager(kernel_dirs=[])


def execute(path: Path, folder: Path) -> Any:
    """The notebook as it comes out of a run in ``folder``.  Raises ``CellExecutionError``."""
    home = folder / "docs" / "notebooks"
    home.mkdir(parents=True)
    shutil.copytree(DOCS.parent / "examples", folder / "examples")
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(home)}}
    client = NotebookClient(
        notebook, kernel_name="python3", kernel_manager_class=OwnKernel, timeout=SECONDS, resources=resources,
        record_timing=False,
    )  # fmt: skip
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(client.async_execute(env=_environment(folder), stderr=subprocess.DEVNULL))  # its log
    finally:
        loop.close()
    return notebook


def _environment(folder: Path) -> dict[str, str]:
    """Nothing of the user's own settings, and no picture on a screen."""
    kept = {key: value for key, value in os.environ.items() if key != "MPLBACKEND"}
    own = {"IPYTHONDIR": str(folder / "ipython"), "MPLCONFIGDIR": str(folder / "matplotlib"), "PYTHONHASHSEED": "0"}
    return kept | own


def write(notebook: Any, path: Path) -> None:
    """Without what differs from one machine to the next."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(notebook.cells):
        cell.id, cell.metadata = f"cell-{number}", {}
    nbformat.validate(notebook)
    nbformat.write(notebook, path)
    drawn = sorted(_pictures(notebook), key=lambda picture: len(picture[1]))  # the largest that matplotlib drew
    kind, body = next((picture for picture in reversed(drawn) if picture[0] == ".png"), drawn[-1])
    path.with_suffix(kind).write_bytes(body)


def _pictures(notebook: Any) -> Iterator[tuple[str, bytes]]:
    """What the page that lists the notebooks may show of one: kinds of files, and what is in them."""
    for shown in [out.data for cell in notebook.cells for out in cell.get("outputs", ()) if "data" in out]:
        if "image/png" in shown:
            yield ".png", base64.b64decode(shown["image/png"])
        elif "image/svg+xml" in shown:
            yield ".svg", shown["image/svg+xml"].encode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
    parser.add_argument("names", nargs="*", help=f"of {', '.join(known)}; all by default")
    for name in parser.parse_args().names or known:
        with TemporaryDirectory() as folder:
            path = NOTEBOOKS / f"{name}.ipynb"
            write(execute(path, Path(folder)), path)
        sys.stdout.write(f"{name}: {path.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
