"""Gambit's extensive-form files (``.efg``), read and written completely.

The format: a header ``EFG 2 R "title" { "player" … } "comment"``, then the nodes in prefix order::

    c "name" infoset "label" { "move" 1/2 … } outcome "name" { 1, 2 }     chance
    p "name" player infoset "label" { "move" … } outcome …                decision
    t "name" outcome "name" { 1, 2 }                                     end

An information set's label and moves, and an outcome's name and payoffs, stand where they first occur and may
be omitted afterwards; outcome 0 is none.  Payoffs of the outcomes along a path add up.  Numbers are kept as
fractions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from infoset import displays
from infoset.base import Action, Game, JointAction, Observed
from infoset.errors import FormatError, UnsupportedGameError
from infoset.files import read_text
from infoset.formats.gambit_text import Labels, Reader, distinct, plain, quote
from infoset.games.rules import NativeState, NotebookGame
from infoset.names import action_names
from infoset.tree.exact_numbers import exact_chance_probabilities, exact_probabilities, simplest
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import CHANCE, TERMINAL

PROBABILITY_TOLERANCE = Fraction(1, 10**9)
CHANCE_PLAYER = -1
NO_INFOSET = -1
NO_OUTCOME = 0


class Outcome(NamedTuple):
    """A named payoff vector; ``number`` is the one in the file."""

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
    """A node in prefix order; a terminal node has no information set; ``Efg.children`` finds the children."""

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
        """Return the children of every node, as indices."""
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


class _Reader(Reader):
    def __init__(self, text: str, file: str, problems: list[FormatError] | None = None) -> None:
        super().__init__(text, file, problems)
        self.infosets: dict[tuple[int, int], int] = {}
        self.outcomes: dict[int, int] = {}
        self.infoset_list: list[Infoset] = []
        self.outcome_list: list[Outcome] = []

    def game(self) -> Efg:
        title, players = self.title("EFG", "2"), self.names()
        self.players = len(players)
        comment = self.take().value if self.token.kind == "text" else ""
        nodes = self.nodes()
        return Efg(title, players, comment, tuple(self.infoset_list), tuple(self.outcome_list), tuple(nodes))

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
        given = self.actions(player, number, name, at)
        if known is None:
            known = self.infosets[player, number] = len(self.infoset_list)
            self.infoset_list.append(given)
        elif (given.actions, given.probabilities) != self.infoset_list[known][3:]:
            self.complain("the same moves as where it stood first", f"other moves of information set {number}", at)
            if len(given.actions) != len(self.infoset_list[known].actions):  # the nodes below are those of these moves
                known = len(self.infoset_list)
                self.infoset_list.append(given)
        return known

    def actions(self, player: int, number: int, name: str, at: int) -> Infoset:
        actions: list[str] = []
        probabilities: list[Fraction] = []
        while not self.accept("}"):
            actions.append(self.string("a move's name"))
            if player == CHANCE_PLAYER:
                probabilities.append(self.number("a probability"))
        if not actions:
            self.complain("at least one move", f"none at information set {number}", at)
        elif player == CHANCE_PLAYER and (
            min(probabilities) < 0 or abs(sum(probabilities, Fraction(-1))) > PROBABILITY_TOLERANCE
        ):
            self.complain(
                "probabilities from 0 up that sum to 1", f"probabilities that sum to {float(sum(probabilities)):g}", at
            )
        return Infoset(player, number, name, tuple(actions), tuple(probabilities))

    def outcome(self) -> int:
        at = self.token.offset
        number = self.integer("an outcome's number", 0, 10**9)
        name = self.take().value if self.token.kind == "text" else ""
        if not self.accept("{"):
            if number != NO_OUTCOME and number not in self.outcomes:
                self.complain("payoffs in braces, for this outcome has none yet", f"outcome {number}", at)
            return self.outcomes.get(number, NO_OUTCOME)
        if number == NO_OUTCOME:
            self.complain("a number from 1 up for an outcome with payoffs", "outcome 0", at)
        payoffs: list[Fraction] = []
        while not self.accept("}"):
            payoffs.append(self.number("a payoff"))
            self.accept(",")
        if len(payoffs) != self.players:
            self.complain(f"{self.players}, one a player", f"{len(payoffs)} payoffs", at)
        given = Outcome(number, name, tuple(payoffs))
        if number not in self.outcomes:
            self.outcome_list.append(given)
            self.outcomes[number] = len(self.outcome_list)
        elif self.outcome_list[self.outcomes[number] - 1].payoffs != given.payoffs:
            self.complain("the same payoffs as where it stood first", f"other payoffs of outcome {number}", at)
        return self.outcomes[number]


def parse_efg(text: str, file: str = "", problems: list[FormatError] | None = None) -> Efg:
    """Parse the text of an ``.efg`` file.  Raises ``FormatError`` with line and column.

    With a list ``problems``, errors that leave the structure intact are added to it instead.
    """
    return _Reader(text, file, problems).game()


def read_efg(path: str | Path) -> EfgGame:
    """Read an ``.efg`` file of at most ``files.MAX_TEXT_BYTES`` bytes as a game.  Raises ``FormatError``."""
    return EfgGame(parse_efg(read_text(Path(path)), str(path)), Path(path).stem, str(Path(path).resolve()))


def write_efg(efg: Efg) -> str:
    """Return the text of an ``.efg`` file; reading it gives the same ``Efg`` again."""
    lines = [f"EFG 2 R {quote(efg.title)} {{ {' '.join(map(quote, efg.players))} }}", quote(efg.comment), ""]
    for node in efg.nodes:
        if node.outcome == NO_OUTCOME:
            outcome = "0"
        else:
            o = efg.outcomes[node.outcome - 1]
            outcome = f"{o.number} {quote(o.name)} {{ {', '.join(map(str, o.payoffs))} }}"
        if node.infoset == NO_INFOSET:
            lines.append(f"t {quote(node.name)} {outcome}")
            continue
        s = efg.infosets[node.infoset]
        if s.player == CHANCE_PLAYER:
            pairs = zip(map(quote, s.actions), map(str, s.probabilities), strict=True)
            kind, actions = "c", " ".join(f"{a} {p}" for a, p in pairs)
        else:
            kind, actions = "p", " ".join(map(quote, s.actions))
        seat = "" if kind == "c" else f"{s.player + 1} "
        lines.append(f"{kind} {quote(node.name)} {seat}{s.number} {quote(s.name)} {{ {actions} }} {outcome}")
    return "\n".join(lines) + "\n"


class _Fields(NamedTuple):
    game: EfgGame
    node: int


class EfgState(NativeState, _Fields):
    """A node of an ``.efg`` game; a player observes the label of its information set before it moves, nothing else."""

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

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        infoset = self.infoset
        return self.game.actions[self.node] if infoset is not None and infoset.player == player else ()

    def chance_outcomes(self, actions: JointAction) -> tuple[tuple[Action, float], ...]:
        infoset = self.infoset
        if infoset is None or infoset.player != CHANCE_PLAYER:
            return ()
        return tuple(zip(self.game.actions[self.node], map(float, infoset.probabilities), strict=True))

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        infoset = self.infoset
        assert infoset is not None  # guaranteed by play
        action = chance_outcome if infoset.player == CHANCE_PLAYER else actions[infoset.player]
        place = self.game.places[self.game.efg.nodes[self.node].infoset][action]
        return self.game.step(self.game.children[self.node][place])

    def returns(self) -> tuple[float, ...]:
        return tuple(map(float, self.game.paid[self.node]))


class EfgGame(NotebookGame):
    """An ``.efg`` file as a game; also the information map of the file's own information sets."""

    def __init__(self, efg: Efg, name: str, file: str = "") -> None:
        """Take a file's content; ``file`` is the path by which another process finds it."""
        self.efg, self.name, self.players, self.file = efg, name, efg.players, file
        self.children = efg.children()
        self.paid = _paid(efg, self.children)
        action_sets = [distinct(s.actions) for s in efg.infosets]
        self.places: list[dict[Action | None, int]] = [
            {m: k for k, m in enumerate(action_set)} for action_set in action_sets
        ]
        action_sets.append(())  # the action set of terminal nodes, whose information set is number -1
        self.actions: list[tuple[Action, ...]] = [action_sets[node.infoset] for node in efg.nodes]
        self.labels = _labels(efg)
        self.information_map = self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EfgGame) and (self.name, self.efg) == (other.name, other.efg)

    def __hash__(self) -> int:
        return hash(self.name)

    def sizes(self) -> dict[str, str]:
        return {"histories": f"{len(self.efg.nodes):,}", "information sets": f"{len(self.efg.infosets):,}"}

    def _repr_html_(self) -> str:
        return displays.render("efg", self)

    def start(self) -> Observed:
        return self.step(0)

    def step(self, node: int) -> Observed:
        """Return the step that arrives at ``node``."""
        infoset = self.efg.nodes[node].infoset
        mover = CHANCE_PLAYER if infoset == NO_INFOSET else self.efg.infosets[infoset].player
        label = self.labels[infoset] if mover != CHANCE_PLAYER else None
        return Observed(EfgState(self, node), tuple(label if p == mover else None for p in range(len(self.players))))

    def key(self, state: object, player: int) -> Hashable:
        """Return the file's information set in which ``player`` moves."""
        assert isinstance(state, EfgState)
        return self.labels[self.efg.nodes[state.node].infoset]


def _labels(efg: Efg) -> list[str]:
    """Return a name for each information set: its own where that is unique for the player, else its number."""
    named = Counter((s.player, s.name) for s in efg.infosets)
    own = [bool(s.name) and s.name[0] != "#" and named[s.player, s.name] == 1 for s in efg.infosets]
    return [s.name if unique else f"#{s.number}" for s, unique in zip(efg.infosets, own, strict=True)]


def _paid(efg: Efg, children: list[tuple[int, ...]]) -> list[tuple[Fraction, ...]]:
    """Return each player's accumulated payoffs at every node, including the node's own outcome."""
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
    """Convert any game to ``.efg``: its tree, information sets and payoffs; an ``.efg`` game as it was read."""
    if isinstance(game, EfgGame):
        return game.efg
    return _from_tree(GameTree.of(game, max_histories))


def _from_tree(tree: GameTree) -> Efg:
    graph = tree.graph
    probability = exact_probabilities(graph)
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
            action_set = action_names(graph.action_sets[graph.content[position]])
            edges = range(int(graph.first_edge[position]), int(graph.first_edge[position + 1]))
            probabilities = tuple(probability[edge] for edge in edges) if player == CHANCE else ()
            name = "" if player == CHANCE else tree.key(key[1])
            infosets.append(Infoset(player, counts[player], name, action_set, probabilities))
        nodes.append(Node("", numbers[key], NO_OUTCOME))
        todo.extend(range(int(tree.first_child[node + 1]) - 1, int(tree.first_child[node]) - 1, -1))
    outcomes = tuple(Outcome(k, "", tuple(map(simplest, graph.payoffs[row].tolist()))) for row, k in ends.items())
    return Efg(tree.name, tree.players, "", tuple(infosets), outcomes, tuple(nodes))


def efg_for_gambit(efg: Efg, name: str, normalise: bool = False, stacklevel: int = 1) -> Efg:
    """Return ``efg`` so that Gambit 16.7 and 17 read it, with a ``GambitWarning`` where labels had to be changed.

    With ``normalise``, probabilities that sum to one only approximately become the fractions that were meant.  Without
    it they raise ``UnsupportedGameError``.
    """
    labels = Labels()
    players = labels.group(efg.players)
    infosets = list(efg.infosets)
    for player in range(CHANCE_PLAYER, len(players)):
        own = [k for k, infoset in enumerate(infosets) if infoset.player == player]
        names = labels.group([infosets[k].name for k in own], [infosets[k].number for k in own])
        for k, label in zip(own, names, strict=True):
            infosets[k] = infosets[k]._replace(name=label, actions=labels.group(infosets[k].actions))
    for k, infoset in enumerate(infosets):
        if infoset.player == CHANCE_PLAYER and (total := sum(infoset.probabilities, Fraction(0))) != 1:
            if not normalise:
                raise UnsupportedGameError(
                    f"{name}: the probabilities of chance's information set {infoset.number} sum to {float(total)!r}, "
                    "not exactly to 1, which Gambit refuses; --normalise writes fractions that do"
                )
            infosets[k] = infoset._replace(probabilities=exact_chance_probabilities(infoset.probabilities))
    outcomes = tuple(outcome._replace(name=labels.one(outcome.name)) for outcome in efg.outcomes)
    names = labels.group([node.name for node in efg.nodes])
    nodes = tuple(node._replace(name=name) for node, name in zip(efg.nodes, names, strict=True))
    title, comment = (labels.one(text, plain(text)) for text in (efg.title, efg.comment))
    labels.warn(name, stacklevel + 1)
    return Efg(title, players, comment, tuple(infosets), outcomes, nodes)
