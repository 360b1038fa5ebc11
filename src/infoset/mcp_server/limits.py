"""The limits that a client's questions are subject to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ServerLimits:
    """The limits of a server; each is an option of ``infoset mcp``."""

    seconds: float = 60.0
    """For one answer; the process that works on it is ended then."""
    histories: int = 1_000_000
    """Of a game's tree; where none is built, positions."""
    memory: int = 8192
    """MiB of addresses of a process that computes; 0: no limit."""
    tables: int = 100
    """That are open at once."""
    text: int = 200_000
    """Characters of a game's text, or of other data, in a question."""
    output: int = 50_000
    """Characters of text in an answer."""
