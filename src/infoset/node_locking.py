"""Locks in the user's notation: a player fixed to a policy, an information set fixed to given probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from infoset.compiled import Compiled
from infoset.errors import FormatError, ParameterError, UnknownNameError, shorten
from infoset.evaluation import tabulated
from infoset.files import DamageError, decode_json, read_text
from infoset.solvers.method import Lock

Where: TypeAlias = "str | int | tuple[str | int, str]"
"""A player, by name or number; an information set, by its key, with its player in front where several have that key."""

AnyLock: TypeAlias = Mapping[Any, Any]  # of Where; the types of keys are invariant
"""The locked strategy at each ``Where``: probabilities of moves; for a player anything that plays, or its sets."""


def read_lock(compiled: Compiled, lock: AnyLock) -> Lock:
    """Return a lock by player and information set, with all probabilities.

    Raises ``UnknownNameError``, ``ParameterError``, and for a policy what ``evaluate`` raises.

    >>> from infoset.compiled import Compiled
    >>> from infoset.node_locking import read_lock
    >>> read_lock(Compiled.of("kuhn_poker"), {("P1", "J"): {"bet": 1.0}})
    {'P1': {'J': {'bet': 1.0}}}
    """
    if not isinstance(lock, Mapping):
        raise ParameterError(
            f"lock: {shorten(repr(lock))} is not a mapping; allowed: {{player or information set: strategy}}"
        )
    found: dict[str, dict[str, Any]] = {}
    whole: dict[str, dict[str, Any]] = {}
    for where, what in lock.items():
        player, key = _place(compiled, where)
        if key is None and not isinstance(what, Mapping):
            if player in whole:
                raise ParameterError(f"lock: {shorten(player)} is given twice")
            table = tabulated(compiled, what).tables[compiled.players.index(player)]
            whole[player] = {name: dict(row) for name, row in table.items()}
            continue
        own = found.setdefault(player, {})
        for name, row in what.items() if key is None else [(key, what)]:
            _add(own, name, row)
    return {player: whole.get(player, {}) | found.get(player, {}) for player in (*found, *whole)}


def _add(found: dict[str, Any], name: str, what: Any) -> None:
    """Add an entry.  Raises ``ParameterError`` for one that is given twice."""
    if name in found:
        raise ParameterError(f"lock: {shorten(str(name))} is given twice")
    found[name] = what


def _place(compiled: Compiled, where: Where) -> tuple[str, str | None]:
    """Return a player, and an information set where one is named."""
    if not isinstance(where, (str, int)):
        if not isinstance(where, tuple) or len(where) != 2 or not isinstance(where[0], (str, int)):
            raise ParameterError(f"lock: {where!r} is no place; allowed: a player, a key, (player, key)")
        return _player(compiled, where[0]), str(where[1])
    if isinstance(where, int) or where in compiled.players:
        return _player(compiled, where), None
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


def read_locks(texts: Iterable[str]) -> dict[str, Any]:
    """Parse the locks of the command line: ``PLAYER=WHATEVER PLAYS``, or a ``.json`` file that holds a ``Lock``.

    Raises ``FormatError`` for such a file that is broken, ``ParameterError`` for other texts.

    >>> from infoset.node_locking import read_locks
    >>> read_locks(["P1=random"])
    {'P1': 'random'}
    """
    found: dict[str, Any] = {}
    for text in texts:
        player, equals, what = text.partition("=")
        if text.endswith(".json") and not equals:
            try:
                for player, table in decode_json(read_text(Path(text)), dict[str, dict[str, dict[str, float]]]).items():
                    _add(found, player, table)
            except DamageError as error:
                needed = "{player: {information set: {move: chance}}}"
                raise FormatError(f"no lock: {error}; needed: {needed}", text) from None
        elif equals and what:
            _add(found, player, what)
        else:
            raise ParameterError(f"lock {shorten(text)!r} is neither PLAYER=WHAT nor a .json file")
    return found
