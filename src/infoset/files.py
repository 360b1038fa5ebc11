"""Files that are written in full or not at all, and safe reading of archives of arrays."""

from __future__ import annotations

import errno
import json
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any, TypeVar

import msgspec

from infoset.errors import FormatError, InfosetError, ParameterError, shorten

T = TypeVar("T")

POLICY = "policy.npz"
"""The name of the policy's file in a run's folder."""
SUFFIXES = (".npz", ".json")
"""The suffixes of policy files."""
PARTIAL = re.compile(r"\..+\.\d+\.partial")
"""Names of files that are being written; a process that is killed may leave one."""
MAX_BYTES = 2 << 30
MAX_TEXT_BYTES = 16 << 20
MAX_RATIO = 100  # policies are compressed to a twentieth
FREE_BYTES = 16 << 20
WINDOWS = os.name == "nt"
NO_LINKS = {errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK}
"""The errors that making a hard link fails with where the file system, such as FAT, has none."""

BROKEN_ARCHIVE = (
    OSError, EOFError, KeyError, TypeError, ValueError, MemoryError, NotImplementedError, RecursionError,
    zipfile.BadZipFile, zlib.error, OverflowError,
)  # fmt: skip
"""The exceptions that reading a damaged archive may raise."""
PLAIN_KINDS = "?bBiufUS"
"""The kinds of arrays that are read: numbers and texts, no objects and no complex numbers."""


class DamageError(ValueError):
    """An error that describes what is wrong with the content of a file, in words for users."""


def describe_damage(error: BaseException) -> str:
    """Describe what is wrong with a file, given the exception that reading it raised.

    The messages of libraries speak of their own internals and are replaced.
    """
    for kind, text in _DAMAGE.items():
        if isinstance(error, kind):
            return text.format(shorten(str(error), 200))
    return "its numbers, shapes or types do not fit together"


def check_schema(kind: str, found: int, known: int) -> None:
    """Raise ``DamageError`` unless the schema that was found in a file is ``known``, the one that is read."""
    if found != known:
        how = "A newer infoset may read it" if found > known else f"Make the {kind} again with this version"
        raise DamageError(f"{kind} schema {shorten(str(found))}; this version reads {known}. {how}")


_DAMAGE: dict[type[BaseException], str] = {
    InfosetError: "{}",
    DamageError: "{}",
    msgspec.MsgspecError: "{}",
    UnicodeDecodeError: "its text is not UTF-8",
    KeyError: "it lacks {}",
    MemoryError: "it needs more memory than there is",
    RecursionError: "it is nested too deeply",
    zipfile.BadZipFile: "the archive is damaged",
    zlib.error: "the archive is damaged",
    NotImplementedError: "the archive is packed in a way that is not read; allowed: stored and deflated",
    EOFError: "the file is cut off",
    OverflowError: "a number in it is too large",
    OSError: "the file cannot be read to its end",
}


def create_file(path: Path, body: bytes) -> None:
    """Write a file that must not exist yet, in full or not at all.

    On a file system without hard links a process that is killed in between may leave it empty.  Raises
    ``FileExistsError`` where it exists, and ``OSError`` that names ``path``, a full disk included.
    """
    _write_then(path, lambda file: file.write(body), _claim)


def _claim(partial: Path, path: Path) -> None:
    """Give a complete file its name, unless another file has it."""
    try:
        os.link(partial, path)  # unlike renaming, linking replaces nothing
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        with open(path, "xb"):
            pass
        try:
            os.replace(partial, path)
        except OSError:
            path.unlink()
            raise


def _write_then(path: Path, write: Callable[[Any], object], name: Callable[[Path, Path], object]) -> None:
    """Write a temporary file beside ``path`` in full and then give it that name; remove it whatever happens."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    with naming(path):
        make_folder(path.parent)
        where = path.parent.absolute()
        if where not in _cleared:
            _cleared.add(where)
            clear_partials(where)
        try:
            with _create_locked(partial) as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
                if WINDOWS:  # there an open file can be neither renamed nor removed by others
                    file.close()
                name(partial, path)
        finally:
            partial.unlink(missing_ok=True)


def _create_locked(partial: Path) -> Any:
    """Open a file for writing that ``clear_partials`` of other processes does not remove."""
    while True:
        file = open(partial, "wb")  # noqa: SIM115
        with suppress(OSError):  # the file system may have no locks
            lock_file(file.fileno())
        try:
            if partial.stat().st_ino == os.fstat(file.fileno()).st_ino:
                return file
        except FileNotFoundError:  # another process cleared it before it was locked
            pass
        file.close()


_cleared: set[Path] = set()
"""Folders that this process has cleared of unfinished files."""


def clear_partials(folder: Path) -> None:
    """Remove the unfinished files of killed processes from a folder; those that are being written stay."""
    with suppress(OSError), os.scandir(folder) as entries:
        for partial in [Path(entry.path) for entry in entries if PARTIAL.fullmatch(entry.name)]:
            with suppress(OSError):
                if WINDOWS:
                    partial.unlink()
                    continue
                with open(partial, "rb") as file:
                    if lock_file(file.fileno()):
                        partial.unlink()


def check_path(name: str, path: object) -> Path:
    """Return ``path`` as a ``Path``.  Raises ``ParameterError`` unless it is a text or a path."""
    if not isinstance(path, (str, os.PathLike)):
        raise ParameterError(f"{name}={shorten(repr(path))} is no path; allowed: a text or a Path")
    return Path(path)


def policy_path(path: str | Path) -> Path:
    """Return the file of a policy: ``path`` itself, or the one in a run's folder."""
    path = Path(path)
    return path / POLICY if path.is_dir() else path


def replace_file(path: Path, write: Callable[[Any], object]) -> Path:
    """Write to a temporary file and rename it: readers of ``path`` see a complete file, even after a crash.

    Raises ``OSError`` that names ``path``, a full disk included.
    """
    _write_then(path, write, os.replace)
    return path


def check_folder(path: Path) -> None:
    """Raise ``ParameterError`` where files could not be made in a folder, which need not exist yet.

    It allows an early error before long work; nothing is left behind.
    """
    _check_above(path, (path, *path.parents))


def check_file(path: Path) -> None:
    """Raise ``ParameterError`` where a file could not be written; one that exists is to be replaced."""
    if path.is_dir():
        raise ParameterError(f"{path}: cannot be written: it is a folder")
    _check_above(path, path.parents)


def _check_above(path: Path, folders: Sequence[Path]) -> None:
    there = next(folder for folder in folders if folder.exists())
    if not there.is_dir():
        raise ParameterError(f"{path}: cannot be written: {there} is a file, not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise ParameterError(f"{path}: cannot be written: no permission to write to {there}")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Make any ``OSError`` in this context name ``path``, instead of a temporary file or no file at all."""
    try:
        yield
    except NotADirectoryError:  # its error names the path in the way already
        raise
    except OSError as error:
        raise OSError(error.errno or errno.EIO, error.strerror or str(error), str(path)) from None


def make_folder(path: Path) -> None:
    """Make a folder and its parents where they do not exist.

    Raises ``NotADirectoryError`` that names the file in the way.
    """
    for folder in (path, *path.parents):
        if folder.is_dir():
            break
        if folder.exists():
            raise NotADirectoryError(errno.ENOTDIR, "there is a file where a folder is needed", str(folder))
    path.mkdir(parents=True, exist_ok=True)


def lock_file(file: int) -> bool:
    """Lock a file against other processes until the descriptor is closed; return whether it was free.

    The end of this process releases the lock, too.  Where the system has no such locks it is always free.
    """
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


ENDINGS = {
    *SUFFIXES, ".csv", ".db", ".efg", ".gbt", ".gdl", ".ipynb", ".kif", ".nfg", ".npy", ".pkl", ".py", ".pt",
    ".safetensors", ".toml", ".txt", ".zip",
}  # fmt: skip
"""The suffixes by which a word is recognised as the name of a file."""
MOST_NAMES = 10_000  # the most names of a folder that are compared


def looks_like_path(word: str) -> bool:
    """Return whether a word that somebody typed was meant as a file or a folder."""
    return "/" in word or os.sep in word or word.startswith(("~", ".")) or Path(word).suffix.lower() in ENDINGS


def no_such_path(path: str | Path, what: str = "file") -> str:
    """Return ``no such file``, with the most similar path: ``no such file; did you mean 'runs/leduc'?``."""
    near = nearest_path(path)
    return f"no such {what}; did you mean {shorten(near, 200)!r}?" if near else f"no such {what}"


def nearest_path(path: str | Path) -> str:
    """Return an existing file or folder whose name is similar to or begins like ``path``; empty where there is none."""
    path = Path(path)
    found = Path(path.anchor)
    try:
        for part in path.parts[1 if path.anchor else 0 :]:
            if not (found / part).exists():
                with os.scandir(found) as entries:
                    names = [entry.name for entry in islice(entries, MOST_NAMES) if not entry.name.startswith(".")]
                close = get_close_matches(part, names, n=1, cutoff=0.6)
                close = close or sorted(name for name in names if name.lower().startswith(part.lower()))
                if not close:
                    return ""
                found /= close[0]
            else:
                found /= part
    except (OSError, ValueError):
        return ""
    return "" if found == path else str(found)


def read_text(path: Path) -> str:
    """Read a game's file of at most ``MAX_TEXT_BYTES`` bytes as text.  Raises ``FormatError``."""
    if "\0" in str(path):
        raise FormatError("no file can have this name", shorten(repr(str(path))))
    try:
        about = path.stat()
        if not (S_ISREG(about.st_mode) or S_ISDIR(about.st_mode)):  # reading a pipe may block, and a device never ends
            raise FormatError("cannot be read: it is a device, a pipe or a socket; allowed: a file", str(path))
        if about.st_size > MAX_TEXT_BYTES:
            raise FormatError(f"{about.st_size:,} bytes; at most {MAX_TEXT_BYTES:,} are read", str(path))
        with open(path, "rb") as file:
            found = file.read(MAX_TEXT_BYTES + 1)
        if len(found) > MAX_TEXT_BYTES:  # it grew, or reports size 0, as files of /proc do
            raise FormatError(f"more than {MAX_TEXT_BYTES:,} bytes; no more are read", str(path))
        text = found.decode("utf-8", errors="replace").removeprefix("\ufeff")
        return text.replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        raise FormatError(f"cannot be read: {no_such_path(path)}", str(path)) from None
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", str(path)) from None


def decode_json(body: bytes | str, kind: type[T]) -> T:
    """Decode a JSON text as a ``kind`` of ``msgspec``; no object may have a key twice.  Raises ``DamageError``."""
    try:
        found = msgspec.json.decode(body, type=kind)
        # ``len`` in place of numbers, which are not needed here and may have too many digits
        json.loads(body, object_pairs_hook=_check_keys, parse_int=len, parse_float=len)
    except (msgspec.MsgspecError, UnicodeError, RecursionError, ValueError) as error:
        raise DamageError(describe_damage(error)) from None
    return found


def _check_keys(pairs: list[tuple[str, Any]]) -> None:
    if twice := find_twice([key for key, _ in pairs]):
        raise DamageError(f"the key {shorten(twice)!r} occurs twice in one object")


def find_twice(names: Sequence[T]) -> T | None:
    """Return the first name that occurs twice in a list; ``None`` where none does."""
    if len(set(names)) == len(names):
        return None
    seen: set[T] = set()
    return next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]


def check_rows(keys: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Raise ``DamageError`` where a player's table has an information set twice, or an information set a move twice."""
    if (key := find_twice(keys)) is not None:
        raise DamageError(f"the information set {shorten(key)!r} occurs twice in it")
    for key, row in zip(keys, rows, strict=True):
        if (action := find_twice(row)) is not None:
            raise DamageError(f"the move {shorten(action)!r} occurs twice at {shorten(key)!r}")


def read_arrays(path: Path, most: int | None = None) -> dict[str, Any]:
    """Read the arrays of an ``.npz`` file; no code is run, and no more is unpacked than ``check_archive`` allows.

    Raises ``FileNotFoundError`` or one of ``BROKEN_ARCHIVE``.
    """
    import numpy as np

    check_archive(path, most)
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray) or array.dtype.kind not in PLAIN_KINDS:
            raise DamageError(f"{shorten(name)!r} in it is no array of numbers or texts")
    return arrays


def check_archive(path: Path, most: int | None = None) -> None:
    """Check by its directory, without unpacking anything, that an archive unpacks to at most ``most`` bytes.

    By default the limit is ``MAX_BYTES``, and ``MAX_RATIO`` times the archive's own size unless it unpacks to little: a
    file made to fill the memory is mostly zeros.  Raises ``FileNotFoundError`` or one of ``BROKEN_ARCHIVE``.
    """
    with zipfile.ZipFile(path) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
        names = [name.removesuffix(".npy") for name in archive.namelist()]
    if twice := find_twice(names):
        raise DamageError(f"{shorten(twice)!r} occurs twice in it")
    limit = min(MAX_BYTES, max(FREE_BYTES, MAX_RATIO * path.stat().st_size)) if most is None else most
    if size > limit:
        raise DamageError(f"it unpacks to {size:,} bytes; at most {limit:,} are read")


def archive_names(path: Path) -> set[str]:
    """Return the names of the arrays in an ``.npz`` file.

    Raises ``FileNotFoundError`` or one of ``BROKEN_ARCHIVE``.
    """
    with zipfile.ZipFile(path) as archive:
        return {name.removesuffix(".npy") for name in archive.namelist()}
