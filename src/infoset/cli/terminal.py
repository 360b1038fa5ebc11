"""The terminal as a person's hand: it shows a player's knowledge as text and reads moves as words or numbers.

Untrusted text (names, moves, observations) is sanitised before it is printed.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from math import ceil
from time import monotonic
from typing import Protocol, TextIO

from infoset.base import Action, Agent, Game
from infoset.cli.waiting import PATIENCE, input_waits
from infoset.errors import UnsupportedSystemError, one_line, printable
from infoset.match.person import Hand, LeaveGame, Person, View
from infoset.names import action_names
from infoset.view.pictures import action_words, picture_text, record_words, seen, view_hook

MAX_TYPED = 4096
FEW = 12  # the most moves that are listed one per line
LONGEST = 200
DIM, BOLD, PLAIN = "\x1b[2m", "\x1b[1m", "\x1b[0m"
HELP = (
    "Type a move's number, the move itself, or enough of its beginning to identify it.\n"
    "?  this help, and the moves again\n"
    "Ctrl-D or Ctrl-C leaves the game."
)


def human() -> Agent:
    """A person at this terminal; 'infoset play' is made for one."""
    return Person(AtTerminal(check_terminal()))


def check_terminal() -> TextIO:
    """Return the terminal's output stream.  Raises ``UnsupportedSystemError`` where there is no terminal."""
    out = next((stream for stream in (sys.stdout, sys.stderr) if _is_terminal(stream)), None)
    if out is None or not _is_terminal(sys.stdin):
        which = "standard output" if out is None else "standard input"
        raise UnsupportedSystemError(f"human plays at a terminal, and {which} is not one")
    return out


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()


class OwnHand(Hand, Protocol):
    """A hand that the view of a game makes for the terminal, such as one for the keyboard and the full screen."""

    def check(self) -> None:
        """Raise ``UnsupportedSystemError`` where the terminal does not suffice."""
        ...

    def close(self) -> None:
        """Restore the terminal."""
        ...


class AtTerminal:
    """The hand that suits the game: lines of text, or what the view of the game makes."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.hand: Terminal | OwnHand = Terminal(out)

    def tell(self, view: View) -> None:
        if not view.infostate and view.returns is None:
            self.hand = hand_for(view.game, self.out)
        self.hand.tell(view)

    def ask(self, view: View) -> Action:
        return self.hand.ask(view)

    def close(self) -> None:
        """Restore the terminal after the last game."""
        if not isinstance(self.hand, Terminal):
            self.hand.close()


def give_back(agents: Sequence[Agent]) -> None:
    """Restore the terminal for those agents that are persons."""
    for agent in agents:
        if isinstance(agent, Person) and isinstance(agent.hand, AtTerminal):
            agent.hand.close()


def hand_for(game: Game, out: TextIO) -> Terminal | OwnHand:
    """Return a new hand for the game."""
    make: Callable[[TextIO], Terminal | OwnHand] = view_hook(game, "hand") or Terminal
    return make(out)


Command = Callable[[View], None]


class Terminal:
    """The hand that plays by lines of text.

    ``commands`` are further words that a player may type, each with its function and a line of help.
    """

    def __init__(self, out: TextIO, commands: Mapping[str, tuple[Command, str]] | None = None) -> None:
        self.out, self.commands = out, commands or {}
        self.num_shown = 0
        self.left = False
        """Whether the game is left, so that no more moves are asked for."""

    # output

    def say(self, text: str = "", style: str = "") -> None:
        """Print a text, with control codes made harmless."""
        styled = style and "NO_COLOR" not in os.environ
        for line in text.split("\n"):
            shown = printable(line)
            self._write(f"{style}{shown}{PLAIN}\n" if styled and shown else f"{shown}\n")

    def _write(self, text: str) -> None:
        with suppress(OSError):  # the terminal was closed, so the output does not matter
            self.out.write(text)
            self.out.flush()

    def tell(self, view: View) -> None:
        """Print new events, one line for each."""
        if not view.infostate:
            self.num_shown = 0
        for number in range(self.num_shown, len(view.infostate)):
            words = record_words(view.game, view.player, view.infostate[number], view.infostate[:number])
            self.say(f"· {words}", DIM)
        self.num_shown = len(view.infostate)
        if view.returns is not None and not self.left:
            self.say(f"\nThe game is over.  {payoffs_text(view.game.players, view.returns)}", BOLD)

    def ask(self, view: View) -> Action:
        """Show the player's knowledge and legal moves, and ask until there is a move."""
        self._show(view)
        words = action_set_words(view.legal_actions)
        while True:
            try:
                typed = self._read(view.deadline)
                if typed == "?":
                    self.say(HELP)
                    for word, (_, about) in self.commands.items():
                        self.say(f"{word}  {about}")
                    self._action_set(words)
                elif typed in self.commands and typed not in words:
                    self.commands[typed][0](view)
                else:
                    found = find_move(typed, words)
                    if isinstance(found, int):
                        return view.legal_actions[found]
                    self.say(found)
            except TimeoutError:
                self.say("\nToo late.")
                raise
            except KeyboardInterrupt:
                self.left = True
                raise

    def _show(self, view: View) -> None:
        self.say(f"\n{view.game.players[view.player]}, it is your move.", BOLD)
        self.say(picture_text(seen(view.game, view.player, view.infostate, view.legal_actions)).strip("\n"))
        self._action_set(action_set_words(view.legal_actions))

    def _action_set(self, words: Sequence[str]) -> None:
        for line in option_lines(words, shutil.get_terminal_size().columns):
            self.say(line)

    # input

    def _read(self, deadline: float | None) -> str:
        """Read a line and normalise its spaces.

        Raises ``LeaveGame`` at the end of input, ``TimeoutError`` at the deadline.
        """
        self._write("> ")
        file = sys.stdin.fileno()
        while deadline is not None and not input_waits(file, min(PATIENCE, deadline - monotonic())):
            if self.left:
                raise LeaveGame
            if monotonic() >= deadline:
                raise TimeoutError("no move in time")
        try:
            typed = os.read(file, MAX_TYPED)
        except OSError:  # the terminal was closed
            raise LeaveGame from None
        if not typed:
            self.say()
            raise LeaveGame
        return " ".join(typed.decode(errors="replace").split())


def payoffs_text(players: Sequence[str], returns: Sequence[float]) -> str:
    """Return the payoffs as text: ``P1 +1, P2 -1``."""
    return ", ".join(f"{one_line(name)} {value:+.6g}" for name, value in zip(players, returns, strict=True))


def action_set_words(legal_actions: Sequence[Action]) -> tuple[str, ...]:
    """Return the moves as distinct texts for people to read and type."""
    words = tuple(map(action_words, legal_actions))
    return words if len({_plain(word) for word in words}) == len(words) else action_names(tuple(legal_actions))


def numbered(words: Sequence[str]) -> bool:
    """Return whether moves can be chosen by their list numbers, too: not where moves are numbers themselves."""
    return not any(_plain(word).lstrip("-").isdigit() for word in words)


def option_lines(words: Sequence[str], width: int) -> list[str]:
    """Return the lines of the list of moves with their numbers, in columns where there are many."""
    lead = len(str(len(words)))
    cells = [f"{k:>{lead}}  {one_line(word, LONGEST)}" for k, word in enumerate(words, start=1)]
    if not numbered(words):
        cells = [one_line(word, LONGEST) for word in words]
    if len(words) <= FEW and numbered(words):
        return [f"  {cell}" for cell in cells]
    room = max(map(len, cells)) + 3
    columns = max((width - 2) // room, 1)
    rows = ceil(len(cells) / columns)
    return ["  " + "".join(cell.ljust(room) for cell in cells[row::rows]).rstrip() for row in range(rows)]


def find_move(typed: str, words: Sequence[str]) -> int | str:
    """Return the index of the move that was meant, or a line that says why there is none."""
    if not typed:
        return f"Your move?  ({_some(words)}; ? for help)"
    if numbered(words) and typed.isdecimal() and 1 <= int(typed[:9]) <= len(words):
        return int(typed[:9]) - 1
    plain, meant = [_plain(word) for word in words], _plain(typed)
    for fits in (str.__eq__, str.startswith, _ends):
        found = [k for k, word in enumerate(plain) if fits(word, meant)] if meant else []
        if len(found) == 1:
            return found[0]
        if found:
            return f"{one_line(typed)!r} can be {_some([words[k] for k in found])}; type more of it."
    close = get_close_matches(meant, plain, n=1, cutoff=0.5)
    hint = f"did you mean {one_line(words[plain.index(close[0])])!r}?" if close else f"allowed: {_some(words)}"
    return f"{one_line(typed)!r} is not a move here; {hint}"


def _ends(word: str, typed: str) -> bool:
    return word.endswith(f" {typed}")


def _plain(word: str) -> str:
    """Return a word in lower case without punctuation: ``(mark,1,3)`` becomes ``mark 1 3``."""
    bare = "".join(" " if sign in "()," else sign for sign in word.casefold())
    return " ".join(bare.split()) or word


def _some(words: Sequence[str], most: int = 6) -> str:
    return ", ".join(one_line(word, 40) for word in words[:most]) + (", …" if len(words) > most else "")
