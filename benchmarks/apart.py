"""Work in a process of its own, which is ended where it takes too long."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
START = 3.0
"""Seconds that a process takes to begin."""


def _answer(work: Callable[..., Any], asked: tuple[Any, ...], out: Any) -> None:
    try:
        out.put(work(*asked))
    except Exception as error:  # whatever a library of others raises is said in the table
        out.put(str(error).splitlines()[0][:40] if str(error) else type(error).__name__)


def apart(work: Callable[..., T], *asked: Any, patience: float) -> T | str:
    """What ``job`` returns, or why it does not: what it raises, that it died, or was not done in time (seconds)."""
    context = multiprocessing.get_context("spawn")
    out = context.Queue()
    process = context.Process(target=_answer, args=(work, asked, out))
    process.start()
    try:
        return out.get(timeout=patience + START)  # type: ignore[no-any-return]
    except Exception:
        return f"> {patience:g} s" if process.is_alive() else "died"
    finally:
        process.kill()
        process.join()
