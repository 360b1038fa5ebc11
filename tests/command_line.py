"""The command line run inside the test process, whose imports and compiled kernels are there already."""

from __future__ import annotations

import io
import subprocess
import sys
import warnings
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NoReturn, TextIO
from unittest.mock import patch

from infoset import status
from infoset.cli import main

INFOSET = [sys.executable, "-m", "infoset"]
"""The command line as a process of its own, for tests of signals, exit statuses and file descriptors."""


def run_infoset(
    *arguments: str, cwd: Path | None = None, stdout: TextIO | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``infoset`` with these arguments and return its exit status and what it printed.

    It prints to ``stdout`` where one is given; then that part of the answer is empty.

    What the command changes in its process (streams, warnings, listeners, the import path) is put back.
    """
    out, error = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    status: int | str | None = 0
    with (
        chdir(cwd or Path.cwd()),
        redirect_stdout(stdout or out),
        redirect_stderr(error),
        warnings.catch_warnings(),
        patch.object(sys, "argv", ["infoset", *arguments]),
        patch.object(sys, "path", [*sys.path]),
        patch.object(status, "listeners", [*status.listeners]),
        patch("infoset.processes.leave", _leave),
    ):
        warnings.simplefilter("default")
        try:
            main()
        except SystemExit as ending:
            status = ending.code
    printed, complained = (stream.buffer.getvalue().decode() for stream in (out, error))
    return subprocess.CompletedProcess(arguments, int(status or 0), printed, complained)


def _leave(status: int) -> NoReturn:
    """End only the command: a thread that another test left in compiled code must not end the test process."""
    raise SystemExit(status)
