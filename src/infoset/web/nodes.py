"""The view of a strategy at one place, as plain data: the path to it, and rows of information sets by legal moves.

There are two kinds of paths.  A *public* path consists of what all players know happened: it shows all information
sets of the players who move there.  A player's *own* path is the beginning of its actions and observations, as its
keys are written: it shows all information sets of that player whose keys begin with it.  Own paths need only the file.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from http import HTTPStatus
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from infoset.errors import PolicyError, shorten
from infoset.hand_table import HandTable
from infoset.names import information_key
from infoset.remote.serving import Refusal
from infoset.tree.public_walk import SEVERAL, InfosetHere, PublicNode
from infoset.tree.vector_walk import END_NODE
from infoset.web.sources import Probabilities, Source

MAX_BRANCHES = 400  # sent for one step
MAX_ROWS = 300  # sent at once
MAX_DEPTH = 400
LAST = "\U0010ffff"
_BRANCHES = re.compile(r"([0-9]{1,9}(\.[0-9]{1,9})*)?")
_WORD = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[^\s"])+')


class Row(NamedTuple):
    """An information set as it is shown."""

    player: int
    key: str
    actions: tuple[str, ...]
    probabilities: Probabilities
    reach: float | None
    figures: dict[str, Any] | None = None
    """Further figures that are known at once."""


class Group(NamedTuple):
    """Information sets of one player with the same moves; ``key(k)`` and ``row(k)`` give number ``k`` of ``total``."""

    player: int
    actions: tuple[str, ...]
    total: int
    key: Callable[[int], str]
    row: Callable[[int], Row]
    table: HandTable | None = None
    """The hands of a node of a hold'em solution, one a row."""


class DisplayedNode(NamedTuple):
    """A place in a strategy: the steps of the path to it with their alternatives, and the rows."""

    at: str
    steps: list[dict[str, Any]]
    groups: list[Group]
    reach: float | None
    ends: bool


def words_of(key: str) -> list[str]:
    """Return the tokens of a key."""
    return _WORD.findall(key)


def public_place(source: Source, at: str) -> DisplayedNode:
    """Return the place after the branches ``at``, such as ``0.2.1``.

    Raises ``Refusal`` for a path that does not exist, and what walks raise.
    """
    if not _BRANCHES.fullmatch(at):
        raise Refusal(HTTPStatus.NOT_FOUND, f"there is no path {shorten(at)} in this game")
    wanted = [int(part) for part in at.split(".") if part]
    with source.working:
        node, taken, steps, ends = source.walk.start, list[int](), list[dict[str, Any]](), False
        while not ends:
            if len(taken) < len(wanted):
                number = wanted[len(taken)]
            elif not node.infosets and len(node.branches) == 1 and not node.branches[0].ends:
                number = 0  # nothing to show here
            else:
                break
            if number >= len(node.branches):
                raise Refusal(HTTPStatus.NOT_FOUND, f"there is no path {shorten(at)} in this game")
            steps.append(_step(node, number))
            taken.append(number)
            ends = node.branches[number].ends
            reach = node.branches[number].reach
            if not ends:
                node = node.successor(number)
        if not ends:
            steps.append(_step(node, None))
            reach = node.reach
        groups = [] if ends else _public_groups(node)
    return DisplayedNode(".".join(map(str, taken)), steps, groups, reach, ends)


def spot_place(source: Source, at: str) -> DisplayedNode:
    """Return the node of a hold'em solution after the branches ``at``, such as ``0.2.31``, with both players' hands.

    Raises ``Refusal`` for a path that does not exist.
    """
    path, steps = spot_path(source, at), []
    for depth in range(len(path) + 1):
        node = source.spot_node(path[:depth])
        chosen = node.following.index(path[depth]) if depth < len(path) else None
        if node.following:
            by = node.mover
            branches = [
                {"at": k, "label": word, "by": by, "reach": reach, "ends": source.spot_ends((*path[:depth], word))}
                for k, (word, reach) in enumerate(zip(node.following, node.reaches.tolist(), strict=True))
            ]
            reach = node.tables[0].probability
            steps.append({"by": by, "chosen": chosen, "reach": reach, "more": 0, "branches": branches})
    node = source.spot_node(path, equity=True)
    order = sorted(node.tables, key=lambda table: table.player != node.mover)
    groups = [_hand_group(source, table, path) for table in order]
    return DisplayedNode(at, steps, groups, node.tables[0].probability, node.mover == END_NODE)


def spot_path(source: Source, at: str) -> tuple[str, ...]:
    """Return the actions and cards of the branches ``at``.  Raises ``Refusal`` for a path that does not exist."""
    if not _BRANCHES.fullmatch(at):
        raise Refusal(HTTPStatus.NOT_FOUND, f"there is no path {shorten(at)} in this game")
    path: tuple[str, ...] = ()
    for number in (int(part) for part in at.split(".") if part):
        following = source.spot_node(path).following
        if number >= len(following):
            raise Refusal(HTTPStatus.NOT_FOUND, f"there is no path {shorten(at)} in this game")
        path = (*path, following[number])
    return path


def _hand_group(source: Source, table: HandTable, path: tuple[str, ...]) -> Group:
    """Return the hands of one player at a node, with their figures."""
    movers = [source.spot_node(path[:depth]).mover for depth in range(len(path))]
    known = [(word, ()) if mover == table.player else (None, word) for word, mover in zip(path, movers, strict=True)]
    source.learn(table.actions)
    best = np.max(table.ev_actions, axis=1, initial=-np.inf)
    shares, realised = table.shares, table.realised

    def key(k: int) -> str:
        return information_key(((None, table.hands[k]), *known))

    def row(k: int) -> Row:
        figures: dict[str, Any] = {
            "label": table.hands[k], "value": finite(table.ev[k]), "equity": finite(table.equity[k]),
            "realised": finite(realised[k]), "weight": float(table.weights[k]), "share": float(shares[k]),
        }  # fmt: skip
        if np.isfinite(table.ev_actions[k]).all() and table.actions:
            figures |= {"ev": table.ev_actions[k].tolist(), "regret": (table.ev_actions[k] - table.ev[k]).tolist()}
            figures["best"] = float(best[k])
        probabilities = table.probabilities
        reach = None if probabilities is None else float(probabilities[k])
        return Row(table.player, key(k), table.actions, table.strategy[k].tolist(), reach, figures)

    return Group(table.player, table.actions, len(table.hands), key, row, table)


def finite(value: float) -> float | None:
    """Return a figure, or ``None`` where it is unknown."""
    return float(value) if np.isfinite(value) else None


def _step(node: PublicNode, chosen: int | None) -> dict[str, Any]:
    by = {branch.by for branch in node.branches}
    shown = list(enumerate(node.branches))[:MAX_BRANCHES]
    if chosen is not None and chosen >= MAX_BRANCHES:
        shown.append((chosen, node.branches[chosen]))
    return {
        "by": by.pop() if len(by) == 1 else SEVERAL,
        "chosen": chosen,
        "reach": node.reach,
        "more": len(node.branches) - len(shown),
        "branches": [{"at": k, "label": b.label, "by": b.by, "reach": b.reach, "ends": b.ends} for k, b in shown],
    }


def _public_groups(node: PublicNode) -> list[Group]:
    by_action_set: dict[tuple[int, tuple[str, ...]], list[InfosetHere]] = {}
    for here in node.rows():
        by_action_set.setdefault((here.player, here.actions), []).append(here)

    def group(player: int, actions: tuple[str, ...], rows: list[InfosetHere]) -> Group:
        def row(k: int) -> Row:
            return Row(player, rows[k].key, actions, rows[k].probabilities, rows[k].reach)

        return Group(player, actions, len(rows), lambda k: rows[k].key, row)

    return [group(player, actions, rows) for (player, actions), rows in by_action_set.items()]


def own_place(source: Source, player: int, at: str) -> DisplayedNode:
    """Return the place with those keys of a player that begin with ``at``.

    Raises ``PolicyError`` for a policy without keys.
    """
    table = source.table
    if table is None:
        raise PolicyError("this policy has no table of keys; browse it along public states")
    if not 0 <= player < len(table.keys):
        raise Refusal(HTTPStatus.NOT_FOUND, f"there is no player {player}")
    words = words_of(at)[:MAX_DEPTH]
    steps = []
    for depth in range(len(words) + 1):
        chosen = words[depth] if depth < len(words) else None
        steps.append(_own_step(source, player, words[:depth], chosen))
        if chosen is not None and chosen not in {branch["at"] for branch in steps[-1]["branches"]}:
            raise Refusal(HTTPStatus.NOT_FOUND, f"no key of {table.players[player]} begins with {shorten(at)!r}")
    begin, end = _range(source, player, words)
    return DisplayedNode(" ".join(words), steps, _own_groups(source, player, begin, end), None, False)


def _range(source: Source, player: int, words: Sequence[str]) -> tuple[int, int]:
    """Return the first and the end of the sorted rows whose keys begin with ``words``."""
    assert source.table is not None
    order, table = source.table.sorted_rows[player], source.table
    keys, first = table.keys[player], table.begin[player]
    if not words:
        return 0, len(order)
    text = " ".join(words)

    def key(row: int) -> str:
        return keys[row - first]

    begin = bisect_left(order, text, key=key)
    inside = bisect_left(order, f"{text} ", lo=begin, key=key)
    end = bisect_left(order, f"{text} {LAST}", lo=inside, key=key)
    exact = begin < len(order) and key(order[begin]) == text
    return (begin if exact and begin + 1 >= inside else inside), end


def _own_step(source: Source, player: int, words: list[str], chosen: str | None) -> dict[str, Any]:
    """Return the words that may come next in the keys, found by jumping from each such word to the next."""
    assert source.table is not None
    table = source.table
    order, keys, first = table.sorted_rows[player], table.keys[player], table.begin[player]
    at, end = _range(source, player, words)
    found: list[dict[str, Any]] = []
    while at < end and len(found) < MAX_BRANCHES:
        parts = words_of(keys[order[at] - first])
        if len(parts) <= len(words):
            at += 1
            continue
        word = parts[len(words)]
        _, after = _range(source, player, [*words, word])
        after = max(after, at + 1)
        found.append({"at": word, "label": word, "by": player, "reach": None, "ends": False, "rows": after - at})
        at = after
    if chosen is not None and chosen not in {branch["at"] for branch in found}:
        begin, after = _range(source, player, [*words, chosen])
        if after > begin:
            branch = {"at": chosen, "label": chosen, "by": player, "reach": None, "ends": False, "rows": after - begin}
            found.append(branch)
    return {"by": player, "chosen": chosen, "reach": None, "more": 0, "branches": found}


def _own_groups(source: Source, player: int, begin: int, end: int) -> list[Group]:
    assert source.table is not None
    table = source.table
    rows = table.sorted_rows[player][begin:end]
    action_sets, counts = np.unique(table.action_set[rows], return_counts=True)

    def group(action_set: int, total: int) -> Group:
        mine = rows if total == len(rows) else rows[table.action_set[rows] == action_set]

        def row(k: int) -> Row:
            entry = table.at(player, int(mine[k]))
            return Row(player, entry.key, entry.actions, entry.probabilities, None)

        keys, first = table.keys[player], table.begin[player]
        return Group(player, table.action_sets[action_set], total, lambda k: keys[mine[k] - first], row)

    return [group(int(action_set), int(total)) for action_set, total in zip(action_sets, counts, strict=True)]


def shown(source: Source, other: Source | None, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return rows with all their figures; the words that all keys have in common are left out of the labels."""
    labels = short_labels([row.key for row in rows])
    return [{"label": label, **_figures(source, other, row)} for row, label in zip(rows, labels, strict=True)]


def _figures(source: Source, other: Source | None, row: Row) -> dict[str, Any]:
    found: dict[str, Any] = {"key": row.key, "reach": row.reach, "p": row.probabilities, **(row.figures or {})}
    if row.key in source.lock.get(source.players[row.player], ()):
        found["locked"] = True
    if other is not None:
        found["q"] = probabilities_in(other, row)
    study = source.study
    if study is not None:
        k = source.values().number.get((row.player, row.key))
        if k is not None and study.form.actions[k] == row.actions:
            first = int(study.form.arrays.first[k])
            part = slice(first, first + len(row.actions))
            found |= {
                "ev": study.values[part].tolist(), "best": study.best_values[part].tolist(),
                "regret": study.regret[part].tolist(), "value": float(study.infoset_values[k]),
                "reach": float(study.reach[k]),
            }  # fmt: skip
    return found


def probabilities_in(other: Source, row: Row) -> Probabilities:
    """Return the probabilities with which another strategy plays the moves of a row; ``None`` where it has none."""
    if other.table is not None:
        if row.player >= len(other.table.keys):
            return None
        return other.table.probabilities_of(row.player, row.key, row.actions)
    if other.spot is not None:
        return other.spot.probabilities(row.player, row.key, row.actions)
    study = other.study
    k = None if study is None else other.values().number.get((row.player, row.key))
    if study is None or k is None:
        return None
    first = int(study.form.arrays.first[k])
    found: list[float] = study.behaviour[first : first + len(row.actions)].tolist()
    return found


def short_labels(keys: Sequence[str]) -> list[str]:
    """Return for each key the words in which they differ, or the whole key where none are left."""
    split = [words_of(key) for key in keys]
    longest = max(map(len, split), default=0)
    same = {k for k in range(longest) if len({words[k] if k < len(words) else None for words in split}) == 1}
    if len(keys) < 2:
        return list(keys)
    pairs = zip(keys, split, strict=True)
    return [" ".join(word for k, word in enumerate(words) if k not in same) or key for key, words in pairs]


def matching(group: Group, text: str) -> Group:
    """Return only the rows whose key contains ``text``, ignoring case."""
    if not text:
        return group
    needle = text.casefold()
    return take(group, [k for k in range(group.total) if needle in group.key(k).casefold()])


def take(group: Group, places: Sequence[int]) -> Group:
    """Return only the rows at these places."""
    return Group(
        group.player, group.actions, len(places), lambda k: group.key(places[k]), lambda k: group.row(places[k]),
        None if group.table is None else group.table.take(places),
    )  # fmt: skip


def all_rows(source: Source, first: int = 0, end: int | None = None) -> Iterator[Row]:
    """Yield every information set with a choice, in the order of the file or the game, from ``first`` up to ``end``."""
    table = source.table
    if table is None:
        yield from islice(_asked_rows(source), first, end)
        return
    for row in range(first, table.num_infosets if end is None else min(end, table.num_infosets)):
        player = bisect_right(table.begin, row) - 1
        entry = table.at(player, row)
        yield Row(player, entry.key, entry.actions, entry.probabilities, None)


def _asked_rows(source: Source) -> Iterator[Row]:
    for player, table in enumerate(source.policy.tables):
        for key, row in table.items():
            yield Row(player, key, tuple(row), list(row.values()), None)
