"""Play Pommerman by keyboard: full-screen, key by key, in real time where a clock runs."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any, TextIO

from rich.console import Console

from infoset.base import Action
from infoset.cli.waiting import PATIENCE, input_waits
from infoset.errors import UnsupportedGameError, UnsupportedSystemError
from infoset.match.person import LeaveGame, View
from infoset.pommerman import state as st
from infoset.pommerman.game import Pommerman
from infoset.pommerman.observation import Seen

SECONDS_PER_MOVE = 0.3
"""A speed that people can play at."""
MARGIN = 0.05  # seconds before the deadline at which no key means Stop
LEAST = 0.03  # least seconds for keys, however long the others thought
WATCHING = 0.1  # seconds between two steps that a dead player watches
AHEAD = 2  # the most keys that are buffered
KEYS = {
    b"\x1b[A": st.UP, b"\x1bOA": st.UP, b"w": st.UP, b"W": st.UP, b"\x1b[B": st.DOWN, b"\x1bOB": st.DOWN, b"s": st.DOWN,
    b"S": st.DOWN, b"\x1b[D": st.LEFT, b"\x1bOD": st.LEFT, b"a": st.LEFT, b"A": st.LEFT, b"\x1b[C": st.RIGHT,
    b"\x1bOC": st.RIGHT, b"d": st.RIGHT, b"D": st.RIGHT, b" ": st.LAY, b".": st.STOP,
}  # fmt: skip
LEAVING = {b"q", b"Q", b"\x04", b""}
KEY = re.compile(rb"\x1b[\[O][0-9;]*[A-Za-z~]|.", re.DOTALL)
HELP = "arrows or wasd walk, space lays a bomb, . stops, q leaves"
ENTER, LEAVE = "\x1b[?1049h\x1b[?25l\x1b[2J", "\x1b[?25h\x1b[?1049l"
HOME, END_OF_LINE, END_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"


def check_keys() -> None:
    """Raise ``UnsupportedSystemError`` where a terminal cannot be read key by key."""
    try:
        import termios
    except ImportError:
        raise UnsupportedSystemError(
            "Pommerman by keyboard needs a terminal that is read key by key, as on Linux and macOS, not Windows"
        ) from None
    assert termios


class Screen:
    """The terminal in full-screen mode, with unbuffered keys and no echo; closing restores its previous state."""

    def __init__(self, out: TextIO) -> None:
        self.out, self.file = out, sys.stdin.fileno()
        self.before: list[Any] | None = None

    @property
    def is_open(self) -> bool:
        return self.before is not None

    def open(self) -> None:
        import termios

        self.before = termios.tcgetattr(self.file)
        atexit.register(self.close)
        changed = termios.tcgetattr(self.file)
        changed[3] &= ~(termios.ECHO | termios.ICANON)  # Ctrl-C still interrupts
        changed[6][termios.VSUSP] = b"\0"  # suspending a full screen would leave the terminal unusable
        changed[6][termios.VMIN], changed[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self.file, termios.TCSADRAIN, changed)
        self._write(ENTER)

    def close(self) -> None:
        import termios

        if self.before is None:
            return
        atexit.unregister(self.close)
        before, self.before = self.before, None
        try:
            self._write(LEAVE)
        finally:
            with suppress(termios.error):
                termios.tcsetattr(self.file, termios.TCSAFLUSH, before)  # pending keys must not reach the shell

    def show(self, text: str) -> None:
        """Show these lines from the top, as many as fit."""
        if self.is_open:
            lines = text.split("\n")[: max(shutil.get_terminal_size().lines - 1, 1)]
            self._write(HOME + "".join(f"{line}{END_OF_LINE}\r\n" for line in lines) + END_OF_SCREEN)

    def keys(self, seconds: float) -> list[bytes]:
        """Return the keys typed within ``seconds``, as soon as there are any."""
        if not input_waits(self.file, seconds):
            return []
        try:
            return KEY.findall(os.read(self.file, 256)) or [b""]
        except OSError:  # the terminal was closed
            return [b""]

    def _write(self, text: str) -> None:
        with suppress(OSError):
            self.out.write(text)
            self.out.flush()


class Arcade:
    """The hand for Pommerman: with a clock no key means Stop; without one it waits for a key."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.screen: Screen | None = None
        self.console = Console(file=out, force_terminal=True, highlight=False, markup=False)
        self.pressed: deque[int] = deque(maxlen=AHEAD)
        self.due = 0.0

    def tell(self, view: View) -> None:
        """Draw the observation.  Raises ``UnsupportedGameError``, and ``LeaveGame`` where a dead player leaves."""
        if not isinstance(view.game, Pommerman):
            raise UnsupportedGameError(f"this hand plays pommerman:NAME, not {view.game.name}")
        if view.returns is not None:
            self.close()
            return
        with self._closing():
            if self.screen is None:
                self._open()
            seen = seen_of(view)
            if seen is not None:
                self._draw(view, seen)
                if st.AGENT + view.player not in seen.alive:
                    # wait between steps for a player who is dead
                    until = monotonic() + WATCHING
                    while monotonic() < until:
                        self._read(until - monotonic())
                    self.pressed.clear()

    def ask(self, view: View) -> Action:
        with self._closing():
            now = monotonic()
            due = None
            if view.deadline is not None:
                latest = view.deadline - MARGIN
                due = self.due = min(max(self.due + view.deadline - now, now + LEAST), latest)
            action = self._pressed(due)
        return next(
            legal_actions
            for legal_actions in view.legal_actions
            if action == (legal_actions[0] if isinstance(legal_actions, tuple) else legal_actions)
        )

    def close(self) -> None:
        """Restore the terminal."""
        if self.screen is not None:
            self.screen.close()

    @contextmanager
    def _closing(self) -> Iterator[None]:
        """Restore the terminal before any exception passes on."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        try:
            check_keys()
        except UnsupportedSystemError as error:
            raise UnsupportedGameError(str(error)) from None
        self.screen = Screen(self.out)
        self.screen.open()
        self.pressed.clear()

    def _pressed(self, due: float | None) -> int:
        """Return the move for the first unused key, once the step is due."""
        while (due is None and not self.pressed) or (due is not None and monotonic() < due):
            self._read(PATIENCE if due is None else min(PATIENCE, due - monotonic()))
        if not self.pressed:
            self._read(0.0)
        return self.pressed.popleft() if self.pressed else st.STOP

    def _read(self, seconds: float) -> None:
        """Read keys for at most ``seconds``.  Raises ``LeaveGame`` where the player leaves."""
        assert self.screen is not None
        if not self.screen.is_open:  # the game was left while this waited
            raise LeaveGame
        for key in self.screen.keys(seconds):
            if key in LEAVING:
                raise LeaveGame
            action = KEYS.get(key)
            if action is not None and (not self.pressed or self.pressed[-1] != action):  # a key held down counts once
                self.pressed.append(action)

    def _draw(self, view: View, seen: Seen) -> None:
        from infoset.view.pommerman.text import seen_text

        assert self.screen is not None and isinstance(view.game, Pommerman)
        with self.console.capture() as drawn:
            self.console.print(seen_text(seen, view.game.config, view.player), HELP, sep="\n", soft_wrap=True, end="")
        self.screen.show(drawn.get())


def seen_of(view: View) -> Seen | None:
    """Return the last observation; ``None`` before there is a board."""
    last = view.infostate[-1][1] if view.infostate else None
    return Seen(*last) if isinstance(last, tuple) else None  # type: ignore[arg-type]  # the game's observation, possibly as a plain tuple
