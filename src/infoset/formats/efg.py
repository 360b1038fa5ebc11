"""Gambit's extensive-form files (``.efg``), read and written whole.

The format: a header ``EFG 2 R "title" { "player" … } "comment"``, then the nodes in prefix order::

    c "name" infoset "label" { "move" 1/2 … } outcome "name" { 1, 2 }     chance
    p "name" player infoset "label" { "move" … } outcome …                decision
    t "name" outcome "name" { 1, 2 }                                     end

An information set's label and moves, and an outcome's name and payoffs, stand where they first occur and may
be left out afterwards; outcome 0 is none.  Payoffs of the outcomes along a path add up.  Numbers are kept as
fractions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from infoset.base import Action, Game, JointMove, Observed
from infoset.errors import FormatError, shorten
from infoset.files import read_text
from infoset.games.rules import NativeState, NotebookGame
from infoset.names import move_words
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import CHANCE, LARGEST_PAYOFF, TERMINAL

MAX_PLAYERS = 100
MAX_DIGITS = 700
MAX_EXPONENT = 300
LARGEST = Fraction(LARGEST_PAYOFF)
PROBABILITY_TOLERANCE = Fraction(1, 10**9)
CHANCE_PLAYER = -1
NO_INFOSET = -1
NO_OUTCOME = 0

_TOKEN = re.compile(r'\s*(?:"([^"\\]*(?:\\.[^"\\]*)*)"|([{},])|([^\s"{},]+)|("))', re.DOTALL)
_KINDS = ("", "text", "mark", "word")
TEXT, STRAY_QUOTE = 1, 4
_INTEGER = re.compile(r"[+-]?\d{1,12}")
_NUMBER = re.compile(r"([+-]?\d+)/(\d+)|[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class Outcome(NamedTuple):
    """A named payoff vector; ``number`` is the file's own."""

    number: int
    name: str
    payoffs: tuple[Fraction, ...]


class Infoset(NamedTuple):
    """An information set (``player`` from 0, or ``CHANCE_PLAYER``); chance has ``probabilities``."""

    player: int
    number: int
    name: str
    actions: tuple[str, ...]
    probabilities: tuple[Fraction, ...] = ()


class Node(NamedTuple):
    """A node in prefix order; an end has no information set; children are found by ``Efg.children``."""

    name: str
    infoset: int
    outcome: int


@dataclass(frozen=True, eq=True)
class Efg:
    """The content of an ``.efg`` file."""

    title: str
    players: tuple[str, ...]
    comment: str
    infosets: tuple[Infoset, ...]
    outcomes: tuple[Outcome, ...]
    nodes: tuple[Node, ...] = field(repr=False)

    def children(self) -> list[tuple[int, ...]]:
        """The children of every node, as indices."""
        below: list[list[int]] = [[] for _ in self.nodes]
        open_nodes: list[int] = []
        for index, node in enumerate(self.nodes):
            while open_nodes and len(below[open_nodes[-1]]) == len(self._actions(open_nodes[-1])):
                open_nodes.pop()
            if open_nodes:
                below[open_nodes[-1]].append(index)
            if node.infoset != NO_INFOSET:
                open_nodes.append(index)
        return [tuple(c) for c in below]

    def _actions(self, node: int) -> tuple[str, ...]:
        return self.infosets[self.nodes[node].infoset].actions


class _Token(NamedTuple):
    kind: str  # "text", "mark", "word" or "end"
    value: str
    offset: int


class _Reader:
    """A recursive-descent reader of a flat grammar; nesting lives in a counter, not on the stack."""

    def __init__(self, text: str, file: str) -> None:
        self.text, self.file = text, file
        self.tokens = self._scan()
        self.token = next(self.tokens)
        self.infosets: dict[tuple[int, int], int] = {}
        self.outcomes: dict[int, int] = {}
        self.infoset_list: list[Infoset] = []
        self.outcome_list: list[Outcome] = []

    def _scan(self) -> Iterator[_Token]:
        for match in _TOKEN.finditer(self.text):
            kind = match.lastindex or 0
            if kind == STRAY_QUOTE:
                raise self.fail("a closing quote", "an unclosed text", match.start(kind))
            value = match[kind]
            if kind == TEXT and "\\" in value:
                value = re.sub(r'\\(["\\])', r"\1", value)
            yield _Token(_KINDS[kind], value, match.start(kind))
        while True:
            yield _Token("end", "the end of the file", len(self.text))

    def fail(self, expected: str, found: str | None = None, at: int | None = None) -> FormatError:
        offset = self.token.offset if at is None else at
        line = self.text.count("\n", 0, offset) + 1
        column = offset - self.text.rfind("\n", 0, offset)
        found = found or shorten(repr(self.token.value))
        return FormatError(f"found {found}, expected {expected}", self.file, line, column)

    def take(self) -> _Token:
        token = self.token
        self.token = next(self.tokens)
        return token

    def accept(self, mark: str) -> bool:
        if self.token.kind == "mark" and self.token.value == mark:
            self.take()
            return True
        return False

    def expect(self, mark: str) -> None:
        if not self.accept(mark):
            raise self.fail(f"{mark!r}")

    def string(self, what: str) -> str:
        if self.token.kind != "text":
            raise self.fail(f"{what} in quotes")
        return self.take().value

    def integer(self, what: str, low: int, high: int) -> int:
        if self.token.kind != "word" or not _INTEGER.fullmatch(self.token.value):
            raise self.fail(f"{what}, an integer")
        value = int(self.token.value)
        if not low <= value <= high:
            raise self.fail(f"{what} from {low} to {high}")
        self.take()
        return value

    def number(self, what: str) -> Fraction:
        if self.token.kind == "word" and _INTEGER.fullmatch(self.token.value):
            return Fraction(int(self.take().value))
        match = _NUMBER.fullmatch(self.token.value) if self.token.kind == "word" else None
        if not match:
            raise self.fail(f"{what}, a finite number")
        exponent = match.group(4)
        if len(self.token.value) > MAX_DIGITS or (exponent and abs(int(exponent[1:])) > MAX_EXPONENT):
            raise self.fail(f"{what} of at most {MAX_DIGITS} digits and an exponent of at most {MAX_EXPONENT}")
        if match.group(2) and not int(match.group(2)):
            raise self.fail(f"{what} with a denominator that is not zero")
        value = Fraction(self.token.value)
        if abs(value) > LARGEST:
            raise self.fail(f"{what} of at most {LARGEST_PAYOFF:g} in size")
        self.take()
        return value

    def game(self) -> Efg:
        self.word("EFG", "the header 'EFG 2 R'")
        self.word("2", "format version 2")
        if self.token.value not in ("R", "D"):
            raise self.fail("R or D")
        self.take()
        title = self.string("a title")
        self.expect("{")
        players: list[str] = []
        while not self.accept("}"):
            if len(players) == MAX_PLAYERS:
                raise self.fail(f"at most {MAX_PLAYERS} players")
            players.append(self.string("a player's name"))
        if not players:
            raise self.fail("at least one player")
        self.players = len(players)
        comment = self.take().value if self.token.kind == "text" else ""
        nodes = self.nodes()
        return Efg(title, tuple(players), comment, tuple(self.infoset_list), tuple(self.outcome_list), tuple(nodes))

    def word(self, value: str, what: str) -> None:
        if self.token.kind != "word" or self.token.value != value:
            raise self.fail(what)
        self.take()

    def nodes(self) -> list[Node]:
        nodes: list[Node] = []
        missing = 1
        while missing:
            kind = self.token.value if self.token.kind == "word" else ""
            if kind not in ("c", "p", "t"):
                raise self.fail(f"a node (c, p or t); {missing} still missing")
            self.take()
            name = self.string("a node's name")
            infoset = NO_INFOSET if kind == "t" else self.infoset(kind)
            if infoset != NO_INFOSET:
                missing += len(self.infoset_list[infoset].actions)
            nodes.append(Node(name, infoset, self.outcome()))
            missing -= 1
        if self.token.kind != "end":
            raise self.fail("nothing after the last node")
        return nodes

    def infoset(self, kind: str) -> int:
        player = CHANCE_PLAYER if kind == "c" else self.integer("a player", 1, self.players) - 1
        at = self.token.offset
        number = self.integer("an information set's number", -(10**9), 10**9)
        known = self.infosets.get((player, number))
        name = self.take().value if self.token.kind == "text" else ""
        if not self.accept("{"):
            if known is None:
                raise self.fail("moves in braces, for this information set has none yet")
            return known
        given = self.moves(player, number, name, at)
        if known is None:
            known = self.infosets[player, number] = len(self.infoset_list)
            self.infoset_list.append(given)
        elif (given.actions, given.probabilities) != self.infoset_list[known][3:]:
            raise self.fail("the same moves as where it stood first", f"other moves of information set {number}", at)
        return known

    def moves(self, player: int, number: int, name: str, at: int) -> Infoset:
        actions: list[str] = []
        probabilities: list[Fraction] = []
        while not self.accept("}"):
            actions.append(self.string("a move's name"))
            if player == CHANCE_PLAYER:
                probabilities.append(self.number("a probability"))
        if not actions:
            raise self.fail("at least one move", f"none at information set {number}", at)
        if player == CHANCE_PLAYER and (
            min(probabilities) < 0 or abs(sum(probabilities, Fraction(-1))) > PROBABILITY_TOLERANCE
        ):
            raise self.fail(
                "probabilities from 0 up that sum to 1", f"probabilities that sum to {float(sum(probabilities)):g}", at
            )
        return Infoset(player, number, name, tuple(actions), tuple(probabilities))

    def outcome(self) -> int:
        at = self.token.offset
        number = self.integer("an outcome's number", 0, 10**9)
        name = self.take().value if self.token.kind == "text" else ""
        if not self.accept("{"):
            if number != NO_OUTCOME and number not in self.outcomes:
                raise self.fail("payoffs in braces, for this outcome has none yet")
            return self.outcomes.get(number, NO_OUTCOME)
        if number == NO_OUTCOME:
            raise self.fail("a number from 1 up for an outcome with payoffs", "outcome 0", at)
        payoffs: list[Fraction] = []
        while not self.accept("}"):
            payoffs.append(self.number("a payoff"))
            self.accept(",")
        if len(payoffs) != self.players:
            raise self.fail(f"{self.players}, one a player", f"{len(payoffs)} payoffs", at)
        given = Outcome(number, name, tuple(payoffs))
        if number not in self.outcomes:
            self.outcome_list.append(given)
            self.outcomes[number] = len(self.outcome_list)
        elif self.outcome_list[self.outcomes[number] - 1].payoffs != given.payoffs:
            raise self.fail("the same payoffs as where it stood first", f"other payoffs of outcome {number}", at)
        return self.outcomes[number]


def parse_efg(text: str, file: str = "") -> Efg:
    """Read the text of an ``.efg`` file.  Raises ``FormatError`` with line and column."""
    return _Reader(text, file).game()


def read_efg(path: str | Path) -> EfgGame:
    """Read an ``.efg`` file of at most ``files.MAX_TEXT_BYTES`` bytes as a game.  Raises ``FormatError``."""
    return EfgGame(parse_efg(read_text(Path(path)), str(path)), Path(path).stem)


def write_efg(efg: Efg) -> str:
    """The text of an ``.efg`` file; reading it gives the same ``Efg`` again."""
    lines = [f"EFG 2 R {_quote(efg.title)} {{ {' '.join(map(_quote, efg.players))} }}", _quote(efg.comment), ""]
    for node in efg.nodes:
        if node.outcome == NO_OUTCOME:
            outcome = "0"
        else:
            o = efg.outcomes[node.outcome - 1]
            outcome = f"{o.number} {_quote(o.name)} {{ {', '.join(map(str, o.payoffs))} }}"
        if node.infoset == NO_INFOSET:
            lines.append(f"t {_quote(node.name)} {outcome}")
            continue
        s = efg.infosets[node.infoset]
        if s.player == CHANCE_PLAYER:
            pairs = zip(map(_quote, s.actions), map(str, s.probabilities), strict=True)
            kind, moves = "c", " ".join(f"{a} {p}" for a, p in pairs)
        else:
            kind, moves = "p", " ".join(map(_quote, s.actions))
        seat = "" if kind == "c" else f"{s.player + 1} "
        lines.append(f"{kind} {_quote(node.name)} {seat}{s.number} {_quote(s.name)} {{ {moves} }} {outcome}")
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class _Fields(NamedTuple):
    game: EfgGame
    node: int


class EfgState(NativeState, _Fields):
    """A node of an ``.efg`` game; a player observes its information set's label when it is asked, nothing else."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"EfgState({self.game.name!r}, node={self.node})"

    @property
    def infoset(self) -> Infoset | None:
        number = self.game.efg.nodes[self.node].infoset
        return None if number == NO_INFOSET else self.game.efg.infosets[number]

    @property
    def terminal(self) -> bool:
        return self.infoset is None

    def legal(self, player: int) -> tuple[Action, ...]:
        infoset = self.infoset
        return self.game.moves[self.node] if infoset is not None and infoset.player == player else ()

    def chance(self, moves: JointMove) -> tuple[tuple[Action, float], ...]:
        infoset = self.infoset
        if infoset is None or infoset.player != CHANCE_PLAYER:
            return ()
        return tuple(zip(self.game.moves[self.node], map(float, infoset.probabilities), strict=True))

    def play_unchecked(self, moves: JointMove, nature: Action | None = None) -> Observed:
        infoset = self.infoset
        assert infoset is not None  # guaranteed by play
        move = nature if infoset.player == CHANCE_PLAYER else moves[infoset.player]
        place = self.game.places[self.game.efg.nodes[self.node].infoset][move]
        return self.game.step(self.game.children[self.node][place])

    def returns(self) -> tuple[float, ...]:
        return tuple(map(float, self.game.paid[self.node]))


class EfgGame(NotebookGame):
    """An ``.efg`` file as a game; also the information map of the file's own information sets."""

    def __init__(self, efg: Efg, name: str) -> None:
        self.efg, self.name, self.players = efg, name, efg.players
        self.children = efg.children()
        self.paid = _paid(efg, self.children)
        menus = [_distinct(s.actions) for s in efg.infosets]
        self.places: list[dict[Action | None, int]] = [{m: k for k, m in enumerate(menu)} for menu in menus]
        menus.append(())  # the menu of an end, whose information set is number -1
        self.moves: list[tuple[Action, ...]] = [menus[node.infoset] for node in efg.nodes]
        self.labels = _labels(efg)
        self.information_map = self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EfgGame) and (self.name, self.efg) == (other.name, other.efg)

    def __hash__(self) -> int:
        return hash(self.name)

    def sizes(self) -> dict[str, str]:
        return {"histories": f"{len(self.efg.nodes):,}", "information sets": f"{len(self.efg.infosets):,}"}

    def _repr_html_(self) -> str:
        from infoset.tree.game_tree import GameTree
        from infoset.view.html import game_html
        from infoset.view.text import MAX_TREE_NODES

        trees = [GameTree.of(self)] if len(self.efg.nodes) <= MAX_TREE_NODES else []
        return game_html(self, self.sizes(), *(svg for tree in trees if (svg := tree._repr_svg_())))

    def start(self) -> Observed:
        return self.step(0)

    def step(self, node: int) -> Observed:
        """The step that arrives at ``node``."""
        infoset = self.efg.nodes[node].infoset
        mover = CHANCE_PLAYER if infoset == NO_INFOSET else self.efg.infosets[infoset].player
        label = self.labels[infoset] if mover != CHANCE_PLAYER else None
        return Observed(EfgState(self, node), tuple(label if p == mover else None for p in range(len(self.players))))

    def key(self, state: object, player: int) -> Hashable:
        """The file's information set in which ``player`` moves."""
        assert isinstance(state, EfgState)
        return self.labels[self.efg.nodes[state.node].infoset]


def _labels(efg: Efg) -> list[str]:
    """A name for each information set: its own where that is unique for the player, else its number."""
    named = Counter((s.player, s.name) for s in efg.infosets)
    own = [bool(s.name) and s.name[0] != "#" and named[s.player, s.name] == 1 for s in efg.infosets]
    return [s.name if unique else f"#{s.number}" for s, unique in zip(efg.infosets, own, strict=True)]


def _distinct(actions: tuple[str, ...]) -> tuple[str, ...]:
    """Moves with names of their own: unnamed ones get their number, repeated ones a suffix."""
    names: dict[str, None] = {}
    for number, action in enumerate(actions, start=1):
        name = action or str(number)
        while name in names:
            name += f"'{number}"
        names[name] = None
    return tuple(names)


def _paid(efg: Efg, children: list[tuple[int, ...]]) -> list[tuple[Fraction, ...]]:
    """What every player has been paid when a node is reached, the node's own outcome included."""
    zero = (Fraction(0),) * len(efg.players)
    paid = [zero] * len(efg.nodes)
    for node, below in enumerate(children):
        outcome = efg.nodes[node].outcome
        if outcome != NO_OUTCOME:
            gain = efg.outcomes[outcome - 1].payoffs
            before = paid[node]
            paid[node] = gain if before is zero else tuple(a + b for a, b in zip(before, gain, strict=True))
        for child in below:
            paid[child] = paid[node]
    return paid


def game_to_efg(game: Game, max_histories: int | None = None) -> Efg:
    """Any game as an ``.efg``: its tree, its information sets, its payoffs; an ``.efg`` game as it was read."""
    if isinstance(game, EfgGame):
        return game.efg
    return _from_tree(GameTree.of(game, max_histories))


def _from_tree(tree: GameTree) -> Efg:
    graph = tree.graph
    infosets: list[Infoset] = []
    numbers: dict[tuple[int, int], int] = {}
    ends: dict[int, int] = {}
    counts = [0] * (len(tree.players) + 1)
    nodes: list[Node] = []
    todo = [0]
    while todo:
        node = todo.pop()
        position, player = int(tree.position[node]), tree.player(node)
        if player == TERMINAL:
            nodes.append(Node("", NO_INFOSET, ends.setdefault(int(graph.content[position]), len(ends) + 1)))
            continue
        key = (CHANCE, position) if player == CHANCE else (player, int(tree.infoset[node]))
        if key not in numbers:
            numbers[key] = len(infosets)
            counts[player] += 1
            menu = move_words(graph.menus[graph.content[position]])
            edges = slice(int(graph.first_edge[position]), int(graph.first_edge[position + 1]))
            chances = _exact_sum(tuple(map(_fraction, graph.probability[edges].tolist())))
            name = "" if player == CHANCE else tree.key(key[1])
            infosets.append(Infoset(player, counts[player], name, menu, chances if player == CHANCE else ()))
        nodes.append(Node("", numbers[key], NO_OUTCOME))
        todo.extend(range(int(tree.first_child[node + 1]) - 1, int(tree.first_child[node]) - 1, -1))
    outcomes = tuple(Outcome(k, "", tuple(map(_fraction, graph.payoffs[row].tolist()))) for row, k in ends.items())
    return Efg(tree.name, tree.players, "", tuple(infosets), outcomes, tuple(nodes))


def _fraction(value: float) -> Fraction:
    """The simplest fraction that rounds to ``value``: 1/3 for 0.333…, not what the bits happen to be."""
    exact = Fraction(value)
    for digits in (3, 6, 9, 12, 15):
        simple = exact.limit_denominator(10**digits)
        if float(simple) == value:
            return simple
    return exact


def _exact_sum(probabilities: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """The same probabilities, the rounding of floats taken off the largest so that they sum to exactly one."""
    largest = probabilities.index(max(probabilities))
    rest = sum(probabilities, Fraction(0)) - probabilities[largest]
    return (*probabilities[:largest], 1 - rest, *probabilities[largest + 1 :])
