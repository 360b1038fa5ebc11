"""Locks in the user's notation: a player fixed to a policy, information sets or hands of a node to probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import numpy as np

from infoset import sizes
from infoset.base import CardGame, ObservationRecord
from infoset.compiled import Compiled
from infoset.errors import BudgetError, FormatError, ParameterError, UnknownNameError, one_line, shorten
from infoset.evaluation import policy_of, tabulated
from infoset.files import DamageError, decode_json, read_text
from infoset.games.betting import ACT, CARD, Betting
from infoset.games.poker_hands import DECK, card_name, cards_of, hand_name
from infoset.hand_filters import select_hands
from infoset.hand_table import HandTable
from infoset.names import NOTHING_YET, information_key
from infoset.policies.vector_policy import rows_of
from infoset.solvers.config import AnyLock, HandLock, Lock

Where: TypeAlias = "str | int | tuple[str | int, str]"
"""A player, by name or number; an information set, by its key, with its player in front where several have that key."""


ANY_CARD = "*"


def read_lock(compiled: Compiled, lock: AnyLock) -> Lock:
    """Return a lock by player and information set, with all probabilities.

    A sequence holds several locks, each a mapping by player and information set, or the fields of a ``HandLock``.
    Raises ``UnknownNameError``, ``ParameterError``, and for a policy what ``evaluate`` raises.

    >>> from infoset.compiled import Compiled
    >>> from infoset.node_locking import read_lock
    >>> read_lock(Compiled.of("kuhn_poker"), {("P1", "J"): {"bet": 1.0}})
    {'P1': {'J': {'bet': 1.0}}}
    """
    parts = [lock] if isinstance(lock, Mapping) else lock
    if not isinstance(parts, Sequence) or not all(isinstance(part, Mapping) for part in parts):
        raise ParameterError(
            f"lock: {shorten(repr(lock))} is not a mapping; allowed: {{player or information set: strategy}}"
        )
    found: dict[str, dict[str, Any]] = {}
    whole: dict[str, dict[str, Any]] = {}
    for where, what in [item for part in parts for item in _items(compiled, part)]:
        player, key = _place(compiled, where)
        if key is None and not isinstance(what, Mapping):
            if player in whole:
                raise ParameterError(f"lock: {shorten(player)} is given twice")
            whole[player] = _whole_strategy(compiled, compiled.players.index(player), what)
            continue
        own = found.setdefault(player, {})
        for name, row in what.items() if key is None else [(key, what)]:
            _add(own, name, row)
    return {player: whole.get(player, {}) | found.get(player, {}) for player in (*found, *whole)}


def _items(compiled: Compiled, lock: Mapping[Any, Any]) -> Iterable[tuple[Any, Any]]:
    """Return the places of a lock with what is locked there; for hands of a node their information sets."""
    if not {"player", "actions"} <= lock.keys():
        return lock.items()
    try:
        hands = msgspec.convert(lock, HandLock)
    except msgspec.ValidationError as error:
        raise ParameterError(f"lock: {one_line(str(error))}; needed: {FIELDS}") from None
    return [(hands.player, _rows_of_hands(compiled, hands))]


FIELDS = '{"player": …, "after": "check, bet 75", "hands": "AA, KQs | flush draw", "actions": {"call": 1.0}}'


def _whole_strategy(compiled: Compiled, player: int, what: Any) -> dict[str, Any]:
    """Return all of a player's strategy by information set; on the vector form for isomorphic cards once.

    Raises ``BudgetError`` where it is too large to be listed.
    """
    if not compiled.better_in_vector_form:
        return {name: dict(row) for name, row in tabulated(compiled, what).tables[player].items()}
    if compiled.vector.num_infosets > sizes.INFOSETS_LOCKED:
        raise BudgetError(
            f"lock: {compiled.name} has {compiled.vector.num_infosets:,} information sets; a player as a whole is "
            f"locked in at most {sizes.INFOSETS_LOCKED:,}; lock hands of a node: {FIELDS}"
        )
    form, rows = rows_of(policy_of(what, compiled), compiled)
    probabilities = form.normalised(np.array(rows))
    found = {}
    for owner, infostate, actions, place in form.infostates():
        if owner == player:
            row = probabilities[place.row : place.row + place.num_actions * place.step : place.step].astype(float)
            found[information_key(infostate)] = dict(zip(actions, (row / row.sum()).tolist(), strict=True))
    return found


def _rows_of_hands(compiled: Compiled, lock: HandLock) -> dict[str, dict[str, float]]:
    """Return the probabilities by information set of the hands of a node.

    Raises ``ParameterError`` and ``UnknownNameError``, ``UnsupportedGameError`` for other games than hold'em.
    """
    if compiled.only_form or not isinstance(compiled.game, CardGame):
        raise ParameterError(f"lock: {compiled.name} has no hands; such a lock is for hold'em alone")
    player, found = compiled.players.index(_player(compiled, lock.player)), {}
    for table, actions, records in _nodes(compiled.game, player, lock.after):
        if odd := [action for action in lock.actions if action not in actions]:
            raise UnknownNameError(f"action after {lock.after}:", odd[0], actions)
        for place in np.flatnonzero(select_hands(table, lock.hands)).tolist():
            key = information_key(((None, table.hands[place]), *records))
            found[key] = {action: lock.actions.get(action, 0.0) for action in actions}
    if not found:
        raise ParameterError(f"lock: {shorten(lock.hands)!r}: no hand of {lock.player} meets this after {lock.after}")
    return found


def _nodes(
    game: CardGame, player: int, after: str
) -> Iterator[tuple[HandTable, tuple[str, ...], tuple[ObservationRecord, ...]]]:  # fmt: skip
    """Yield for each node that ``after`` names a player's hands, its actions, and what it knows besides its hand."""
    words = [" ".join(word.split()) for word in after.split(",")]
    rules, spot = game.spot.betting, game.spot

    def go(
        betting: Betting, cards: tuple[int, ...], left: list[str], records: tuple[ObservationRecord, ...], said: str
    ) -> Iterator[tuple[Betting, tuple[int, ...], tuple[ObservationRecord, ...]]]:  # fmt: skip
        if not left:
            if betting.mover != player:
                raise ParameterError(f"lock: {game.players[player]} does not act after {said or 'the start'}")
            yield betting, cards, records
            return
        word, *rest = left
        where = f"{said}, {word}".removeprefix(", ")
        if betting.status == CARD:
            possible = [card_name(card) for card in range(DECK) if card not in cards]
            if word != ANY_CARD and word not in possible:
                raise UnknownNameError(f"card after {said}:", word, possible)
            for card in possible if word == ANY_CARD else [word]:
                opened = (*cards, *cards_of(card, "card"))
                yield from go(rules.deal(betting), opened, rest, (*records, (None, card)), where)
            return
        if betting.status != ACT or word not in rules.actions(betting):
            raise UnknownNameError(f"action after {said or 'the start'}:", word, rules.actions(betting))
        own = (word, ()) if betting.mover == player else (None, word)
        yield from go(rules.after(betting, word), cards, rest, (*records, own), where)

    start = rules.start(len(spot.board) - 3)
    for betting, cards, records in go(start, tuple(spot.board), [] if words == [NOTHING_YET] else words, (), ""):
        hands = [k for k, hand in enumerate(spot.hands[player]) if not {*hand} & {*cards}]
        unknown = np.full(len(hands), np.nan)
        names = tuple(hand_name(spot.hands[player][k]) for k in hands)
        board = tuple(map(card_name, cards))
        none = np.zeros((len(hands), 0))
        weights = np.asarray(spot.weights[player])[hands]
        pot = float(rules.pot + sum(betting.stakes))
        table = HandTable(player, names, weights, (), none, unknown, none, unknown, board, pot)
        yield table, rules.actions(betting), records


def _add(found: dict[str, Any], name: str, what: Any) -> None:
    """Add an entry.  Raises ``ParameterError`` for one that is given twice."""
    if name in found:
        raise ParameterError(f"lock: {shorten(str(name))} is given twice")
    found[name] = what


def _place(compiled: Compiled, where: Where) -> tuple[str, str | None]:
    """Return a player, and an information set where one is named."""
    if not isinstance(where, (str, int)):
        if not isinstance(where, tuple) or len(where) != 2 or not isinstance(where[0], (str, int)):
            raise ParameterError(f"lock: {where!r} is not a place; allowed: a player, a key, (player, key)")
        return _player(compiled, where[0]), str(where[1])
    if isinstance(where, int) or where in compiled.players:
        return _player(compiled, where), None
    if compiled.better_in_vector_form:
        raise ParameterError(f"lock: {shorten(where)!r}: name the player as well: {{player: {{information set: …}}}}")
    form = compiled.form
    owners = {form.players[owner] for key, owner in zip(form.keys, form.infoset_player, strict=True) if key == where}
    if len(owners) == 1:
        return owners.pop(), where
    if owners:
        all_of_them = ", ".join(sorted(owners))
        raise ParameterError(f"lock: {all_of_them} all have the set {shorten(where)!r}; name (player, key)")
    raise UnknownNameError("player or information set", where, (*form.players, *form.keys))


def _player(compiled: Compiled, player: str | int) -> str:
    if isinstance(player, str):
        if player not in compiled.players:
            raise UnknownNameError("player", player, compiled.players)
        return player
    if not 0 <= player < len(compiled.players):
        raise ParameterError(f"lock: no player {player}; allowed: 0 to {len(compiled.players) - 1}")
    return compiled.players[player]


LOCK_FILE: Any = dict[str, dict[str, dict[str, float]]] | list[HandLock]


def read_locks(texts: Iterable[str]) -> list[dict[str, Any]]:
    """Parse the locks of the command line: ``PLAYER=WHATEVER PLAYS``, or a ``.json`` file.

    Such a file holds a ``Lock``, or a list of ``HandLock``.  Raises ``FormatError`` for one that is broken,
    ``ParameterError`` for other texts.

    >>> from infoset.node_locking import read_locks
    >>> read_locks(["P1=random"])
    [{'P1': 'random'}]
    """
    found: dict[str, Any] = {}
    of_hands: list[dict[str, Any]] = []
    for text in texts:
        player, equals, what = text.partition("=")
        if text.endswith(".json") and not equals:
            try:
                read = decode_json(read_text(Path(text)), LOCK_FILE)
            except DamageError as error:
                needed = f"{{player: {{information set: {{move: chance}}}}}}, or [{FIELDS}]"
                raise FormatError(f"no lock: {error}; needed: {needed}", text) from None
            if isinstance(read, list):
                of_hands += [msgspec.to_builtins(one) for one in read]
            else:
                for player, table in read.items():
                    _add(found, player, table)
        elif equals and what:
            _add(found, player, what)
        else:
            raise ParameterError(f"lock {shorten(text)!r} is neither PLAYER=WHAT nor a .json file")
    return [*([found] if found else []), *of_hands]
