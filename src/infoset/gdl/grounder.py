"""The grounder's process: ``python -m infoset.gdl.grounder MEMORY RULES SECONDS`` grounds the program on its input.

It writes a line with the number of integers that follow, these as 32-bit words (for every rule its head, the length of
its body and the body), then a line for each atom: its number (0 for a fact) and its text.  An atom may turn out to be a
fact after rules were written that refer to its number; then its name may have the number 0, and a rule without a body
says that the number always holds.
"""

from __future__ import annotations

import os
import sys
import time
from array import array
from collections.abc import Iterator, Sequence
from threading import Thread

import clingo

from infoset.gdl.grounding import TOO_LONG, TOO_MANY
from infoset.processes import limit_memory

LEAST_SLEEP = 0.01  # seconds
MAX_CHARACTERS = 1 << 28  # of all atoms together: terms with shared parts can be astronomically long


class _Writer(clingo.Observer):
    """An observer that keeps ground rules and atoms as they come, and gives up beyond ``limit`` of either."""

    def __init__(self, limit: int) -> None:
        self.words = array("i")
        self.facts = array("i")
        self.atoms: list[str] = []
        self.limit = self.left = limit
        self.characters = MAX_CHARACTERS

    def rule(self, choice: bool, head: Sequence[int], body: Sequence[int]) -> None:
        if choice or not head:
            return
        if not body:
            self.facts.append(head[0])
            return
        self.words.extend((head[0], len(body), *body))
        self.left -= 1
        if self.left < 0:
            os._exit(TOO_MANY)

    def add_late_facts(self) -> None:
        """Add a rule without a body for every fact whose number may occur in some rule; most occur in none."""
        written = set(self.words)  # including lengths of bodies: a superfluous rule does no harm
        for number in self.facts:
            if number in written or -number in written:
                self.words.extend((number, 0))

    def output_atom(self, symbol: clingo.Symbol, atom: int) -> None:
        text = f"{atom} {symbol}"
        self.atoms.append(text)
        self.characters -= len(text)
        if len(self.atoms) > self.limit or self.characters < 0:
            os._exit(TOO_MANY)


def main(memory: int, limit: int, seconds: float) -> None:
    """Ground standard input within ``memory`` bytes, ``limit`` rules and ``seconds`` of this process's CPU time."""
    Thread(target=_end_after, args=(seconds,), daemon=True).start()
    limit_memory(memory)  # where unsupported, the limits of rules and characters and the caller's clock still hold
    for part in ground_text(sys.stdin.read(), limit):
        sys.stdout.buffer.write(part)


def ground_text(program: str, limit: int) -> Iterator[bytes | memoryview]:
    """Ground a program in this process and yield the parts of the answer; ends the process beyond ``limit``."""
    control, writer = clingo.Control(["--warn=none"], logger=lambda code, text: None), _Writer(limit)
    control.register_observer(writer)
    control.add("base", [], program)
    control.ground([("base", [])])
    writer.add_late_facts()
    yield f"{len(writer.words)}\n".encode()
    yield memoryview(writer.words)
    yield "\n".join(writer.atoms).encode()


def _end_after(seconds: float) -> None:
    """End this process after ``seconds`` of CPU time; the interpreter's own start does not count."""
    end = time.process_time() + seconds
    while (left := end - time.process_time()) > 0:
        time.sleep(max(left, LEAST_SLEEP))
    os._exit(TOO_LONG)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
