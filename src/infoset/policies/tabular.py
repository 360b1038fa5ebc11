"""Tabular policies: a distribution at every information set, with readable keys, saved and loaded.

A file is a NumPy archive (``.npz``): the probabilities as one array and a JSON header with a schema version.
Small policies can also be saved as ``.json``, to be read and edited by hand.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from infoset import displays, sizes
from infoset.arguments import checks_arguments
from infoset.base import Action, FloatArray, InformationState
from infoset.compiled import Compiled
from infoset.errors import BudgetError, InfosetError, ParameterError, PolicyError, one_line, shorten
from infoset.files import (
    BROKEN_ARCHIVE,
    MAX_BYTES,
    archive_names,
    check_archive,
    check_rows,
    check_schema,
    decode_json,
    describe_damage,
    find_twice,
    no_such_path,
    policy_path,
    replace_file,
)
from infoset.names import action_names, is_number, policy_key
from infoset.policies.archive import SCHEMA, Header, read_archive, write_archive
from infoset.tree.game_tree import GameTree
from infoset.tree.plans import behaviour, realisation
from infoset.tree.sequence_form import SequenceForm

SUM_TOLERANCE = 1e-6
OTHER_BYTES = 1 << 20  # of a file for all but the table: players, ``made_by``
MARKS = 64  # bytes of quotes, brackets, indentation around one name
ENTRY_BYTES = 32  # for one probability, also in JSON

ARRAYS = {"header", "probabilities"}  # in a table's file

Tables = tuple[Mapping[str, Mapping[str, float]], ...]


class PolicyRow(NamedTuple):
    """The probabilities that a policy has at one information set."""

    player: int
    key: str
    actions: tuple[str, ...]
    probabilities: list[float]


@dataclass(frozen=True)
class TabularPolicy:
    """A policy as a table: ``tables[player][key][action]`` is a probability.

    ``game`` is the name it was made for; it fits every game with the same information sets and moves, such as
    the same rules with other payoffs.  ``map_name`` is the information map of its keys ("" for the players'
    own information states); ``made_by`` records how it was found.

    Raises ``PolicyError`` for rows that are no distributions: entries from 0 to 1 that sum to 1 within 1e-6.

    >>> policy = infoset.solve(infoset.load("kuhn_poker"), "lp").policy
    >>> policy.probabilities(1, "K bet")
    {'pass': 0.0, 'bet': 1.0}
    """

    game: str
    players: tuple[str, ...]
    tables: Tables = field(repr=False)
    map_name: str = ""
    made_by: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_tables(self)
        for player, table in zip(self.players, self.tables, strict=True):
            for key, row in table.items():
                _check_row(player, key, row)

    @checks_arguments
    def probabilities(self, player: int | str, key: str) -> Mapping[str, float]:
        """Return the distribution at one information set of ``player``, a seat counted from 0, or a name.

        Raises ``PolicyError`` for a key that is not there, ``ParameterError`` for no such player.
        """
        seat = self.seat(player)
        try:
            return self.tables[seat][key]
        except KeyError:
            close = get_close_matches(key, self.tables[seat], n=1, cutoff=0.5)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise PolicyError(f"no information set {shorten(key)!r} for {self.players[seat]}{hint}") from None

    def seat(self, player: int | str) -> int:
        """Return a player's number, from 0, given that or the name.  Raises ``ParameterError`` for no such player."""
        if isinstance(player, str) and player in self.players:
            return self.players.index(player)
        if isinstance(player, str) or not 0 <= player < len(self.players):
            allowed = f"0 to {len(self.players) - 1}, or {', '.join(self.players[:8])}"
            raise ParameterError(f"player={shorten(repr(player))} is not a player of this policy; allowed: {allowed}")
        return int(player)

    def action_probabilities(
        self, player: int, infostate: InformationState, legal_actions: tuple[Action, ...]
    ) -> list[float] | None:
        """Return the probabilities at the player's information set; ``None`` where the table has no such set or moves.

        The keys of a policy for an information map (``.efg`` files, OpenSpiel) are the labels that players observe.
        """
        row, words = self.tables[player].get(self.key(infostate), {}), action_names(legal_actions)
        return [row.get(word, 0.0) for word in words] if row and row.keys() <= set(words) else None

    def key(self, infostate: InformationState) -> str:
        """Return the key of the information set in which a player with this information state moves."""
        return policy_key(infostate, self.map_name)

    def on(self, compiled: Compiled) -> TabularPolicy:
        """Return the policy itself.

        Raises ``PolicyError`` for a game with other information sets, as far as that can be checked quickly.
        """
        n, mine = len(compiled.players), compiled.map_name
        if n != len(self.players):
            raise PolicyError(f"the policy is for {len(self.players)} players, {compiled.name} has {n}")
        if mine != self.map_name:
            try:
                self._check_other(compiled)
            except PolicyError as error:
                raise PolicyError(
                    f"the policy has the information sets of {self.map_name or 'information states'}, {compiled.name} "
                    f"has those of {compiled.map_name or 'information states'}: {error}"
                ) from None
            return replace(self, map_name=compiled.map_name)
        if self.game not in ("", compiled.name) and not compiled.only_form:  # forms are checked anyway
            self._check_other(compiled)
        return self

    def _check_other(self, compiled: Compiled) -> None:
        """Raise ``PolicyError`` unless all information sets exist in a game of another name.

        Such a game may have the same rules with other payoffs.
        """
        try:
            most = min(compiled.limit, sizes.FITTING_CHECKED)
            tree = compiled.tree if compiled.made_whole else Compiled(compiled.game, most).tree
        except BudgetError:
            raise PolicyError(f"the policy was made for {self.game}, this is {compiled.name}") from None
        known_keys = [set[str]() for _ in tree.players]
        for infoset, owner in enumerate(tree.infoset_player.tolist()):
            known_keys[owner].add(tree.key(infoset))
        for name, table, keys in zip(self.players, self.tables, known_keys, strict=True):
            for key in table.keys() - keys:
                raise PolicyError(
                    f"the policy was made for {self.game}, this is {compiled.name}: "
                    f"{name} has no information set {shorten(key)!r} with a choice"
                )

    @cached_property
    def num_infosets(self) -> int:
        """The number of information sets in the table, of all players together."""
        return sum(map(len, self.tables))

    @classmethod
    @checks_arguments
    def from_behaviour(
        cls, form: SequenceForm, strategy: FloatArray, made_by: Mapping[str, Any] | None = None
    ) -> TabularPolicy:
        """Create a policy from behaviour (S,) on a sequence form.

        Raises ``PolicyError`` for rows that are no distributions.
        """
        tables: tuple[dict[str, dict[str, float]], ...] = tuple({} for _ in form.players)
        first, rows = form.arrays.first.tolist(), strategy.tolist()
        owners = form.infoset_player.tolist()
        for key, actions, begin, owner in zip(form.keys, form.actions, first, owners, strict=True):
            tables[owner][key] = dict(zip(actions, rows[begin : begin + len(actions)], strict=True))
        return cls(form.name, form.players, tables, form.map_name, made_by or {})

    @classmethod
    @checks_arguments
    def from_plan(cls, form: SequenceForm, plan: FloatArray, made_by: Mapping[str, Any] | None = None) -> TabularPolicy:
        """Create a policy from realisation weights (S,); uniform at information sets that are never reached."""
        return cls.from_behaviour(form, behaviour(form, plan), made_by)

    @classmethod
    @checks_arguments
    def from_function(
        cls, form: SequenceForm, choose: Callable[[str, tuple[str, ...]], Mapping[str, float]]
    ) -> TabularPolicy:
        """Create a policy from a function of an information set's key and moves that returns probabilities of moves.

        Moves that it leaves out have probability 0.  Raises ``PolicyError`` where the probabilities do not sum to 1.
        """
        strategy = np.ones(form.num_sequences)
        for key, actions, begin in zip(form.keys, form.actions, form.arrays.first.tolist(), strict=True):
            row = answer_of(choose, key, actions)
            strategy[begin : begin + len(actions)] = [row.get(action, 0.0) for action in actions]
        return cls.from_behaviour(form, strategy, {"method": getattr(choose, "__name__", "function")})

    @classmethod
    @checks_arguments
    def uniform(cls, form: SequenceForm) -> TabularPolicy:
        """Create the uniform policy: every move of an information set is equally likely."""

        def uniform(_: str, actions: tuple[str, ...]) -> Mapping[str, float]:
            return dict.fromkeys(actions, 1 / len(actions))

        return cls.from_function(form, uniform)

    @checks_arguments
    def behaviour(self, form: SequenceForm) -> FloatArray:
        """Return behaviour (S,) on a game's sequence form; 1 at the empty sequences.

        Raises ``PolicyError`` where the policy was made for another game.
        """
        strategy = np.ones(form.num_sequences)
        for begin, row in zip(form.arrays.first.tolist(), self.rows_on(form), strict=True):
            values = np.array(row.probabilities)
            strategy[begin : begin + len(values)] = values / values.sum()
        return strategy

    def rows_on(self, game: SequenceForm | GameTree) -> list[PolicyRow]:
        """Return the probabilities at each information set with a choice, by player.

        Given a tree, also where a player has imperfect recall.  Raises ``PolicyError`` where the policy was made for
        another game.
        """
        sets = _sets_of(game)
        self._check_game(game, sets)
        found = []
        for owner, key, actions in sets:
            row = self.tables[owner].get(key)
            if row is None:
                raise self._other_game(game, f"it lacks {game.players[owner]}'s set {shorten(key)!r}")
            if not row.keys() <= set(actions):
                odd = sorted(row.keys() - set(actions))
                raise self._other_game(
                    game,
                    f"at {shorten(key)!r} it plays {shorten(str(odd))}, the game offers {shorten(str(list(actions)))}",
                )
            found.append(PolicyRow(owner, key, actions, [row.get(action, 0.0) for action in actions]))
        return found

    @checks_arguments
    def plan(self, form: SequenceForm) -> FloatArray:
        """Return realisation weights (S,) on a game's sequence form.  Raises ``PolicyError`` as ``behaviour`` does."""
        return realisation(form, self.behaviour(form))

    def _check_game(self, game: SequenceForm | GameTree, sets: list[tuple[int, str, tuple[str, ...]]]) -> None:
        if len(self.tables) != len(game.players):
            raise self._other_game(game, f"it has {len(self.tables)} players, the game {len(game.players)}")
        known_keys = [set() for _ in game.players]  # type: list[set[str]]
        for owner, key, _ in sets:
            known_keys[owner].add(key)
        for name, table, keys in zip(game.players, self.tables, known_keys, strict=True):
            for key in table.keys() - keys:
                raise self._other_game(game, f"{name} has no information set {shorten(key)!r} with a choice")

    def _other_game(self, game: SequenceForm | GameTree, why: str) -> PolicyError:
        if self.game in ("", game.name):
            return PolicyError(f"the policy does not fit {game.name}: {why}")
        return PolicyError(f"the policy was made for {self.game}, this is {game.name}: {why}")

    def plot(self, player: int | str = 0, axes: Any = None) -> Any:
        """Plot one player's strategy as bars, one per information set, on axes of matplotlib (extra ``plot``).

        ``player`` is a seat, counted from 0, or a name.  Raises ``ParameterError`` for another, ``MissingExtraError``.
        """
        return displays.draw("policy_plot", self, player, axes)

    def _repr_html_(self) -> str:
        return displays.render("policy", self)

    @checks_arguments
    def save(self, path: str | Path) -> Path:
        """Write ``.npz`` or ``.json``, by the suffix; return the path.  The file is written in full or not at all.

        Raises ``PolicyError`` for another suffix, ``OSError`` where it cannot be written.
        """
        path = Path(path)
        if path.suffix == ".json":
            body = {"schema": SCHEMA, "game": self.game, "players": self.players, "map": self.map_name}
            rows = {"made_by": dict(self.made_by), "tables": [dict(t) for t in self.tables]}
            return replace_file(path, lambda file: file.write(json.dumps({**body, **rows}, indent=1).encode()))
        if path.suffix == ".npz":
            header = _Header(
                schema=SCHEMA,
                game=self.game,
                players=list(self.players),
                map=self.map_name,
                made_by=dict(self.made_by),
                keys=[list(table) for table in self.tables],
                actions=[[list(row) for row in table.values()] for table in self.tables],
            )
            flat = [p for table in self.tables for row in table.values() for p in row.values()]
            return write_archive(path, header, {"probabilities": np.array(flat, dtype=np.float64)})
        raise PolicyError(f"cannot save a policy as {path.name!r}; allowed: .npz, .json")

    @classmethod
    @checks_arguments
    def load(cls, path: str | Path, form: SequenceForm | None = None) -> TabularPolicy:
        """Read a saved policy, or that of a run's folder; no code in the file is run.

        Raises ``PolicyError`` for a broken one, and for one that is not a table (``Solution.load`` reads those, too).
        ``form``: the sequence form of its game; a file that unpacks to more than a policy for it needs is then
        rejected.
        """
        path = policy_path(path)
        with _readable(path):
            most = None if form is None else largest_policy(form)
            return _from_json(path, most) if path.suffix == ".json" else _from_npz(path, most)

    @staticmethod
    def check_file(path: str | Path) -> None:
        """Raise ``PolicyError`` for a file that can quickly be seen to be no policy, before long work begins."""
        path = Path(path)
        with _readable(path):
            if path.suffix != ".json":
                check_archive(path)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Convert whatever reading a policy's file raises to a ``PolicyError`` that names the file."""
    try:
        if not path.is_file():
            raise PolicyError(f"{path}: {no_such_path(path)}")
        yield
    except (*BROKEN_ARCHIVE, msgspec.MsgspecError) as error:
        if isinstance(error, PolicyError):
            raise
        raise PolicyError(f"{path}: not a policy file: {describe_damage(error)}") from None


def largest_policy(form: SequenceForm) -> int:
    """Return the maximal unpacked size of a policy file for a game, in bytes; JSON may take six for one character."""
    names = sum(map(len, form.keys)) + sum(len(action) for action_set in form.actions for action in action_set)
    return OTHER_BYTES + 6 * names + MARKS * form.num_infosets + (MARKS + ENTRY_BYTES) * form.num_sequences


class _Header(Header):
    players: list[str]
    map: str
    made_by: dict[str, Any]
    keys: list[list[str]]
    actions: list[list[list[str]]]


class _Json(msgspec.Struct):
    schema: int
    game: str
    players: list[str]
    tables: list[dict[str, dict[str, float]]]
    map: str = ""
    made_by: dict[str, Any] = {}


def _from_json(path: Path, most: int | None) -> TabularPolicy:
    if path.stat().st_size > (limit := MAX_BYTES if most is None else most):
        raise PolicyError(f"{path}: {path.stat().st_size:,} bytes; at most {limit:,} are read")
    body = decode_json(path.read_bytes(), _Json)
    check_schema("policy", body.schema, SCHEMA)
    if len(body.tables) != len(body.players):
        raise PolicyError(f"{path}: {len(body.tables)} tables for {len(body.players)} players")
    return TabularPolicy(body.game, tuple(body.players), tuple(body.tables), body.map, body.made_by)


def _from_npz(path: Path, most: int | None) -> TabularPolicy:
    if others := archive_names(path) - ARRAYS:
        array_names = shorten(", ".join(sorted(others)))
        raise PolicyError(
            f"{path}: contains a policy of another kind, not a table (arrays: {array_names}); "
            "infoset.Solution.load(FOLDER) and infoset.policies.loading.load_policy read any kind"
        )
    header, arrays = read_archive(path, _Header, most)
    flat = arrays["probabilities"].astype(np.float64).ravel().tolist()
    sizes = sum(len(row) for rows in header.actions for row in rows)
    if sizes != len(flat) or len(header.keys) != len(header.players) or len(header.actions) != len(header.players):
        raise PolicyError(f"{path}: header and probabilities do not fit together")
    for keys, rows in zip(header.keys, header.actions, strict=True):
        check_rows(keys, rows)
    supply = iter(flat)
    tables = tuple(
        {key: {action: next(supply) for action in row} for key, row in zip(keys, rows, strict=True)}
        for keys, rows in zip(header.keys, header.actions, strict=True)
    )
    return TabularPolicy(header.game, tuple(header.players), tables, header.map, header.made_by)


def _sets_of(game: SequenceForm | GameTree) -> list[tuple[int, str, tuple[str, ...]]]:
    """Return player, key and moves of each information set with a choice, in order of the players."""
    if isinstance(game, SequenceForm):
        return list(zip(game.infoset_player.tolist(), game.keys, game.actions, strict=True))
    action_sets = [(k, action_names(game.action_set(k))) for k in range(len(game.infoset_player))]
    sets = [
        (int(game.infoset_player[k]), game.key(k), action_set) for k, action_set in action_sets if len(action_set) > 1
    ]
    return sorted(sets, key=lambda row: row[0])


def answer_of(
    choose: Callable[[str, tuple[str, ...]], Mapping[str, float]], key: str, actions: tuple[str, ...]
) -> Mapping[str, float]:
    """Call a user's function for the probabilities at an information set.

    Raises ``PolicyError`` where the function fails or returns no probabilities.
    """
    name = getattr(choose, "__name__", "the function")
    try:
        found = choose(key, actions)
    except InfosetError:
        raise
    except Exception as error:
        why = ": ".join(filter(None, (type(error).__name__, one_line(str(error), 200))))
        raise PolicyError(f"{name} fails at {shorten(repr(key))}: {why}") from error
    if not isinstance(found, Mapping) or not all(map(is_number, found.values())):
        raise PolicyError(
            f"{name} answers {one_line(repr(found))} at {shorten(repr(key))}; allowed: probabilities by moves, of "
            f"{one_line(', '.join(actions))}"
        )
    return found


def _check_tables(policy: TabularPolicy) -> None:
    """Raise ``PolicyError`` unless the policy has a name, names of players, and a table for each of them."""
    players, tables = policy.players, policy.tables
    if not isinstance(policy.game, str) or not isinstance(policy.map_name, str):
        raise PolicyError("game and map_name of a policy are texts")
    if not isinstance(players, (tuple, list)) or not all(isinstance(name, str) for name in players):
        raise PolicyError("players of a policy are a tuple of names")
    if (name := find_twice(players)) is not None:
        raise PolicyError(f"two players of a policy are called {shorten(name)!r}")
    if not isinstance(tables, (tuple, list)) or len(tables) != len(players):
        raise PolicyError(f"tables of a policy are a tuple with one for each of its {len(players)} players")
    if not all(isinstance(table, Mapping) for table in tables):
        raise PolicyError("a player's table maps information sets to the probabilities of moves")


def _check_row(player: str, key: str, row: Mapping[str, float]) -> None:
    if not isinstance(key, str) or not isinstance(row, Mapping) or not all(map(is_number, row.values())):
        raise PolicyError(f"{player} at {shorten(str(key))!r}: {shorten(repr(row))} does not map moves to numbers")
    if not all(isinstance(action, str) for action in row):
        raise PolicyError(f"{player} at {shorten(key)!r}: {shorten(repr(row))} has a move that is no text")
    values = list(row.values())
    if not values or not all(0 <= v <= 1 + SUM_TOLERANCE for v in values):
        raise PolicyError(f"{player} at {shorten(key)!r}: {dict(row)} has an entry that is not a probability")
    if abs(sum(values) - 1) > SUM_TOLERANCE:
        raise PolicyError(f"{player} at {shorten(key)!r}: probabilities {dict(row)} sum to {sum(values):g}, not to 1")


@dataclass(frozen=True)
class Comparison:
    """The difference between two policies: total variation, half the sum of absolute differences, per information set.

    ``largest`` and ``mean`` are between 0 and 1.

    >>> from infoset.policies.tabular import Comparison
    >>> Comparison(largest=0.5, mean=0.25, player="P1", key="J").key
    'J'
    """

    largest: float
    mean: float
    player: str
    key: str
    """The information set with the largest difference."""


@checks_arguments
def compare(one: TabularPolicy, other: TabularPolicy) -> Comparison:
    """Compare two policies on the same information sets.  Raises ``PolicyError`` where the sets differ.

    >>> form = infoset.SequenceForm.of(infoset.load("kuhn_poker"))
    >>> uniform = infoset.TabularPolicy.uniform(form)
    >>> infoset.compare(uniform, infoset.solve(form, "lp").policy).largest
    0.5
    """
    distances: list[tuple[float, str, str]] = []
    for name, table, second in zip(one.players, one.tables, other.tables, strict=True):
        if table.keys() != second.keys():
            raise PolicyError(f"the policies of {name} are for different games: their information sets differ")
        for key, row in table.items():
            actions = row.keys() | second[key].keys()
            gap = sum(abs(row.get(m, 0.0) - second[key].get(m, 0.0)) for m in actions) / 2
            distances.append((gap, name, key))
    largest, player, key = max(distances, default=(0.0, "", ""))
    return Comparison(largest, sum(d[0] for d in distances) / max(len(distances), 1), player, key)
