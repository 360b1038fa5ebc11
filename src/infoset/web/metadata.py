"""Summaries of the items in the served folders, from the first bytes of files, so that long lists stay fast."""

from __future__ import annotations

import json
import re
import sqlite3
import zipfile
import zlib
from collections import OrderedDict
from threading import Lock
from typing import Any, NamedTuple

import msgspec

from infoset.arena.reading import asked, reading
from infoset.catalog import RECORDINGS, SPOT
from infoset.errors import FormatError, InfosetError, one_line
from infoset.files import DamageError, describe_damage
from infoset.gdl.library import gdl_title
from infoset.web.artifacts import CONFIG, Artifact, open_plain

HEAD = 16 << 10  # bytes of a file that are read
MAX_CONFIG = 1 << 20
MAX_CACHED = 30_000  # heads
TEXT = 200  # letters of a name that are sent
KEY = re.compile(r'\s*"((?:[^"\\]|\\.)*)"\s*:\s*')
AFTER = re.compile(r"\s*([,}])")


class Metadata(NamedTuple):
    """A summary of an item.

    ``kind`` is the item's kind, or ``""`` for a file that turns out to be none; ``problem`` is why it cannot be shown.
    """

    kind: str
    game: str = ""
    about: dict[str, Any] = {}  # noqa: RUF012  # never changed
    """A run's ``method``, ``learns``; a policy's ``method``; a replay's ``agents``, ``players``, ``returns``, ``over``;
    a tournament's ``teams``, ``format``; the ``title`` that a game's file gives it, or "".  A game's name is its
    item's name."""
    problem: str = ""


class MetadataCache:
    """The heads that were read, cached by path, time and size."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, float, int], Metadata] = OrderedDict()
        self._lock = Lock()

    def of(self, item: Artifact) -> Metadata:
        """Return the head of an item; a broken item has a ``problem`` and raises no error."""
        key = str(item.path), item.changed, item.size
        with self._lock:
            if (head := self._known.get(key)) is not None:
                self._known.move_to_end(key)
                return head
        head = read_metadata(item)
        with self._lock:
            self._known[key] = head
            if len(self._known) > MAX_CACHED:
                self._known.popitem(last=False)
        return head


def kind_of(item: Artifact) -> str:
    """Return the kind of an item, by its contents where its name is ambiguous.

    A ``.json`` file may be a policy or a replay.
    """
    return read_metadata(item).kind if item.path.suffix.lower() == ".json" else item.kind


def read_metadata(item: Artifact) -> Metadata:
    """Read the head of an item, without the cache."""
    try:
        read = {"run": _run, "policy": _policy, "replay": _json, "tournament": _tournament, "game": _game}[item.kind]
        return read(item)
    except FileNotFoundError:
        return Metadata(item.kind, problem="it was deleted")
    except sqlite3.Error as error:  # whose messages are written for users
        return Metadata(item.kind, problem=one_line(f"broken: {error}", TEXT))
    except BROKEN as error:
        return Metadata(item.kind, problem=one_line(f"broken: {describe_damage(error)}", TEXT))


BROKEN = (
    OSError, ValueError, LookupError, TypeError, MemoryError, RecursionError, NotImplementedError, InfosetError,
    msgspec.MsgspecError, zipfile.BadZipFile, zlib.error, EOFError,
)  # fmt: skip
"""What reading a damaged or malicious file may raise."""


def _run(item: Artifact) -> Metadata:
    with open_plain(item.path / CONFIG) as file:
        config = msgspec.json.decode(file.read(MAX_CONFIG), type=dict[str, Any])
    about = {"method": _text(config["method"]), "learns": "training" in config}
    goal = {name: config[name] for name in ("iterations", "target", "seconds") if _is_number(config.get(name))}
    return Metadata("run", _text(config["game"]), {**about, **goal})


def _policy(item: Artifact) -> Metadata:
    """Read the head of a saved policy: an archive with a ``header``, a NumPy array of JSON's bytes."""
    with open_plain(item.path) as file, zipfile.ZipFile(file) as archive, archive.open("header.npy") as packed:
        head = packed.read(HEAD)
    if head[:6] != b"\x93NUMPY":
        raise DamageError("no policy")
    known, _ = fields_at_start(head[head.index(b"\n") + 1 :].decode(errors="replace"))
    return _policy_head(known)


def _policy_head(known: dict[str, Any]) -> Metadata:
    made = known.get("made_by")
    return Metadata(
        "policy", _text(known["game"]), {"method": _text(made.get("method", "")) if type(made) is dict else ""}
    )


def _json(item: Artifact) -> Metadata:
    """Read a ``.json`` file: a replay, a recording of the reference implementation, or a policy, by its first keys.

    The kind is "" for any other file.
    """
    with open_plain(item.path) as file:
        text = file.read(HEAD).decode(errors="replace")
        file.seek(max(0, item.size - 64))
        end = file.read(65).rstrip()
    whole = end.endswith(b"}")
    known, coming = fields_at_start(text)
    keys = {*known, coming}
    if "tables" in keys and "game" in known:
        return _policy_head(known) if whole else Metadata("policy", problem=HALF)
    for recording in [RECORDINGS[key] for key in keys if "game" not in keys and key in RECORDINGS]:
        if keys & recording.BESIDE:
            agents = known.get("agents")
            names = [_text(agent) for agent in agents] if type(agents) is list else []
            about = {"agents": names, "variant": _text(known.get("config", ""))}
            game = recording.GAMES.removesuffix(":")
            return Metadata("replay", game, about) if whole else Metadata("replay", problem=HALF)
    if not {"game", "agents"} <= keys:
        return Metadata("", problem="no replay and no policy")
    if not whole:
        return Metadata("replay", problem=HALF)
    head = _replay(known if "returns" in known else _read_around(item))
    return head._replace(about={**head.about, "over": not LEFT.search(end)})


LEFT = re.compile(rb'"over"\s*:\s*false')
HALF = "half written: it has no end"


def _read_around(item: Artifact) -> dict[str, Any]:
    """Read a replay whose steps come first, as other programs may write it."""
    if item.size > MAX_CONFIG:
        raise FormatError("the steps come before the header", item.title)
    with open_plain(item.path) as file:
        return {k: v for k, v in json.load(file).items() if k != "steps"}


def _replay(known: dict[str, Any]) -> Metadata:
    about: dict[str, Any] = {name: [_text(text) for text in known[name]] for name in ("players", "agents")}
    returns = [float(value) for value in known["returns"]]
    if not len(returns) == len(about["players"]) == len(about["agents"]):
        raise DamageError("its parts do not fit together")
    return Metadata("replay", _text(known["game"]), {**about, "returns": returns})


def _tournament(item: Artifact) -> Metadata:
    with reading(item.path, seconds=1.0) as connection:
        config = msgspec.json.decode(asked(connection), type=dict[str, Any])
    teams = [_text(team) for team in config["teams"]]
    return Metadata(
        "tournament", _text(config["game"]), {"teams": len(teams), "format": _text(config.get("format", ""))}
    )


def _game(item: Artifact) -> Metadata:
    """Read the title of a game's file; ``.csv`` and ``.toml`` files that hold no game are not listed."""
    suffix = item.path.suffix.lower()
    with open_plain(item.path) as file:
        text = file.read(8 * HEAD if suffix == SPOT else HEAD).decode(errors="replace")  # two lists of 1,326 weights
    if suffix in (".csv", SPOT):
        from infoset.formats.csv_table import parse_csv  # imported here: only games need them
        from infoset.formats.spot_file import parse_spot

        try:
            if item.size > len(text.encode()):
                raise FormatError("larger than games of this kind that are listed", item.title)
            (parse_spot if suffix == SPOT else parse_csv)(text, item.title)
        except FormatError as error:
            return Metadata("", problem=one_line(str(error), TEXT))
        return Metadata("game", item.name, {"title": _text(item.path.stem)})
    if suffix == ".gbt":
        from infoset.formats.gbt import GAME

        begin = GAME.search(text)
        if begin is None and item.size > HEAD:  # the settings of Gambit's window come first
            return Metadata("game", item.name, {"title": ""})
        text = "" if begin is None else text[begin.end() :]
    if suffix in (".efg", ".nfg", ".gbt"):
        found = TITLED.match(text)
        if found is None:
            why = f"it does not begin as an {suffix} file does" if suffix != ".gbt" else "it holds none"
            return Metadata("game", item.name, problem=f"no file of a game: {why}")
        return Metadata("game", item.name, {"title": _text(found[1].replace('\\"', '"'))})
    return Metadata("game", item.name, {"title": _text(gdl_title(text))})


TITLED = re.compile(r'\s*(?:EFG\s+2|NFG\s+1)\s+[RD]\s+"((?:[^"\\]|\\.)*)"')


def fields_at_start(text: str) -> tuple[dict[str, Any], str]:
    """Return the fields that are complete in the beginning of a JSON object's text, and the name of the next one.

    >>> fields_at_start('{"game": "kuhn_poker", "seed": 1, "steps": [{"mo')
    ({'game': 'kuhn_poker', 'seed': 1}, 'steps')
    """
    found: dict[str, Any] = {}
    read = json.JSONDecoder().raw_decode
    at = text.find("{") + 1
    while at and (key := KEY.match(text, at)):
        try:
            found[key[1]], at = read(text, key.end())
        except (ValueError, RecursionError):
            return found, key[1]
        after = AFTER.match(text, at)
        if after is None:  # cut off: a number may continue
            del found[key[1]]
            return found, key[1]
        at = after.end() if after[1] == "," else 0
    return found, ""


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise DamageError(f"a name that is no text: {one_line(repr(value))}")
    return one_line(value.encode(errors="replace").decode(), TEXT)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
