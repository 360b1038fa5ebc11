"""Run folders: the files of a run, which can be inspected, loaded again and resumed.

``config.json`` (the request), ``metrics.jsonl`` (the curve, a line per point), ``checkpoint.npz`` (the
work's arrays); of a solver ``policy.npz`` (the average profile), ``solution.json`` (its figures, once it is over) and
``convergence.png``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import KW_ONLY, asdict, dataclass
from itertools import count
from math import inf
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from infoset import displays
from infoset.errors import CheckpointError
from infoset.files import (
    BROKEN_ARCHIVE,
    POLICY,
    DamageError,
    check_folder,
    check_schema,
    clear_partials,
    create_file,
    decode_json,
    describe_damage,
    lock_file,
    naming,
    read_arrays,
    replace_file,
)
from infoset.names import MAX_COUNT
from infoset.policies.loading import SavedPolicy
from infoset.solvers.config import Lock, SolveConfig
from infoset.solvers.job import Job, Point

SCHEMA = 2
CHECKSUM, CONFIG = "checksum", "config"
"""Names of arrays in a checkpoint: a digest of the others, and one of the ``config.json`` that it belongs to."""
FRESH = "*"
CHECKPOINT_SECONDS = 5.0
EVALUATION_SECONDS = 60.0
SAVING_SHARE = 20.0  # the least interval between two checkpoints, as a multiple of the time that saving takes


@dataclass(frozen=True)
class RunConfig(SolveConfig):
    """The configuration of a run as ``config.json`` keeps it: by the names of the game and the method."""

    game: str
    method: str
    _: KW_ONLY
    lock: Lock | None = None
    reason: str = ""
    """Why ``auto`` chose the method."""
    schema: int = SCHEMA


NO_FIGURES = ("config", "schema")


class RunResult(msgspec.Struct, frozen=True):
    """The result of a run: the figures of its ``Solution``, at ``iterations``."""

    game: str
    iterations: int
    seconds: float
    stopped: str
    players: list[str]
    nash_conv: float | None = None
    exploitability: float | None = None
    epsilon: float | None = None
    values: list[float] | None = None
    bound: float | None = None
    proof: str = ""
    runs: list[float] = []
    why_not: str = ""
    notes: dict[str, Any] = {}
    payoff_range: float | None = None
    building_seconds: float = 0.0
    evaluating_seconds: float = 0.0
    config: str = ""  # a digest of the request in ``config.json``
    schema: int = SCHEMA

    def figures(self) -> dict[str, Any]:
        """Return the fields that are also fields of ``Solution``."""
        return {name: value for name, value in msgspec.structs.asdict(self).items() if name not in NO_FIGURES}


C = TypeVar("C", bound=Any)
P = TypeVar("P", bound=Any)
W = TypeVar("W", bound=Any)


class Saving(Protocol):
    """Work that can be interrupted: its arrays by name; in a checkpoint with ``iteration`` among them."""

    def save(self) -> dict[str, Any]: ...

    def restore(self, saved: dict[str, Any]) -> None: ...


class UnsavedWarning(UserWarning):
    """Warning that a run could not be saved on the way, as on a full disk, and continues nevertheless."""


class Folder(Generic[C, P, W]):
    """One run's folder: its configuration, a struct with ``game``, ``method`` and ``schema``, and its points."""

    config_type: type[C]
    point_type: type[P]
    may_change: frozenset[str] = frozenset()
    """Fields of ``config.json`` that may be edited between two parts of a run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._last_checkpoint, self._pause = -inf, CHECKPOINT_SECONDS
        self._last_iteration = -1
        self._lock_descriptor: int | None = None
        self._unsaved = b""
        self.failed: OSError | None = None
        """The first error of writing something, see ``attempt``."""

    @classmethod
    def create(cls, path: str | Path | None, config: C) -> Self:
        """Create a run at ``path``, or at a fresh name in ``runs/``; ``DIR/*`` is a fresh name in ``DIR``.

        Raises ``CheckpointError`` where a run exists already: nothing computed is overwritten.
        """
        try:
            folder = cls(_claim_fresh(config, path) if _is_fresh(path) else Path(str(path)))
            try:
                create_file(folder.path / "config.json", msgspec.json.format(msgspec.json.encode(config)))
            except BaseException:
                with suppress(OSError):  # the folder is not empty
                    folder.path.rmdir()
                raise
        except FileExistsError:
            raise _locked_error(path) from None
        except OSError as error:
            raise CheckpointError(f"{path or 'runs'}: cannot be written: {error.strerror}") from None
        folder._lock()
        return folder

    @classmethod
    def check_free(cls, path: Path | None) -> None:
        """Raise ``CheckpointError`` or ``ParameterError`` where ``create`` could not make a run, before long work."""
        if path is not None and (path / "config.json").exists():
            raise _locked_error(path)
        check_folder(_above(path) if _is_fresh(path) else Path(str(path)))

    @classmethod
    def open(cls, path: str | Path) -> tuple[Self, C, dict[str, Any] | None]:
        """Open a run to continue it; return its folder, its configuration, and its checkpoint if there is one."""
        folder, config = cls(Path(path)), cls.read_config(path)
        folder._lock()
        clear_partials(folder.path)
        try:
            return folder, config, folder._load_checkpoint()
        except BaseException:
            folder.close()
            raise

    @classmethod
    def type_of(cls, config: bytes) -> Any:
        """Return the type as which the bytes of ``config.json`` are read."""
        return cls.config_type

    @classmethod
    def read_config(cls, path: str | Path) -> C:
        """Read the configuration of a run."""
        file = Path(path) / "config.json"
        try:
            written = file.read_bytes()
            config: C = decode_json(written, cls.type_of(written))
            check_schema("run", config.schema, SCHEMA)
        except FileNotFoundError:
            raise CheckpointError(f"{path} contains no run: config.json is missing") from None
        except (OSError, DamageError) as error:
            raise CheckpointError(f"{file}: {describe_damage(error)}") from None
        return config

    def go_on(self, saved: dict[str, Any] | None) -> None:
        """Drop the points noted after the checkpoint ``saved``; call it when the run is really continued."""
        # a killed run may also leave a line that it did not finish
        iteration = -1 if saved is None else int(saved["iteration"])
        points = [point for point in self.points() if point.iteration <= iteration]
        lines = "".join(json.dumps(asdict(point)) + "\n" for point in points)
        self._write("metrics.jsonl", lines.encode())
        self._last_iteration = max((point.iteration for point in points), default=-1)

    @contextmanager
    def attempt(self, on_the_way: bool = False) -> Iterator[None]:
        """Continue where something cannot be written, as on a full disk: ``failed`` keeps the first reason.

        With ``on_the_way`` the write is tried again later, and the first failure gives an ``UnsavedWarning``.
        """
        try:
            yield
        except OSError as error:
            if on_the_way and self.failed is None:
                what = f"{error.filename or self.path}: {error.strerror or error}"
                warnings.warn(f"{what}; the run continues and will try again", UnsavedWarning, stacklevel=3)
            self.failed = self.failed or error

    def add_point(self, point: P) -> None:
        """Append a point of the curve; a resumed run does not repeat one.

        A point that cannot be written is written with the next one, or with the checkpoint.
        """
        if point.iteration > self._last_iteration:
            self._last_iteration = point.iteration
            self._unsaved += json.dumps(asdict(point)).encode() + b"\n"
            self._write_points()

    def _write_points(self) -> None:
        """Append all points that are not in the file yet, or none."""
        metrics = self.path / "metrics.jsonl"
        if self._unsaved:
            with naming(metrics), open(metrics, "ab", buffering=0) as file:
                whole, left = file.tell(), memoryview(self._unsaved)
                try:
                    while left:
                        left = left[file.write(left) :]
                except OSError:
                    with suppress(OSError):
                        os.truncate(metrics, whole)
                    raise
            self._unsaved = b""

    def points(self) -> list[P]:
        """Return the whole curve, including the part before a resumption.

        The last line may be one that a killed run did not finish.  Raises ``CheckpointError`` for another invalid line.
        """
        metrics = self.path / "metrics.jsonl"
        try:
            body = metrics.read_bytes()
        except FileNotFoundError:
            body = b""
        except OSError as error:
            raise CheckpointError(f"{metrics}: {describe_damage(error)}") from None
        points = []
        for number, line in enumerate((body + self._unsaved).splitlines(keepends=True), start=1):
            try:
                point = decode_json(line, self.point_type)
                if not (0 <= point.iteration <= MAX_COUNT and 0 <= point.seconds < inf):
                    raise DamageError("its iteration or its seconds cannot be")
            except DamageError as error:
                if not line.endswith(b"\n"):
                    break
                raise CheckpointError(f"{metrics}:{number}: no point of a curve: {describe_damage(error)}") from None
            points.append(point)
        return points

    def checkpoint(self, job: W, seconds: float) -> None:
        """Save the work if the last checkpoint is a few seconds old; work that is slow to save is saved less often."""
        if time.monotonic() - self._last_checkpoint >= self._pause:
            self.save_checkpoint(job, seconds)

    def save_checkpoint(self, job: W, seconds: float) -> None:
        """Save the work's arrays and its playable result; each file is replaced in full."""
        began = time.monotonic()
        try:
            self.save_state(job, seconds)
            self.save_playable(job)
        finally:
            self._last_checkpoint = time.monotonic()
            self._pause = max(CHECKPOINT_SECONDS, SAVING_SHARE * (self._last_checkpoint - began))

    def save_state(self, job: W, seconds: float) -> None:
        """Save the work's arrays alone, and the points before them that could not be written."""
        self._write_points()
        config = np.array(self._config_digest())
        self._save_arrays("checkpoint.npz", {**job.save(), "seconds": np.array(seconds), CONFIG: config})

    def _config_digest(self) -> str:
        """Return a digest of the configuration in ``config.json``, without the fields that may be changed."""
        file = self.path / "config.json"
        try:
            body = decode_json(file.read_bytes(), dict[str, Any])
        except DamageError as error:  # in a field that the configuration itself passes over
            raise CheckpointError(f"{file}: no run's configuration: {describe_damage(error)}") from None
        points = {name: value for name, value in body.items() if name not in self.may_change}
        return hashlib.blake2b(msgspec.json.encode(points, order="sorted"), digest_size=16).hexdigest()

    def _edited(self, beside: str) -> CheckpointError:
        return CheckpointError(
            f"{self.path / 'config.json'} is not that of the {beside} beside it: restore what was changed in it since "
            "the run began, or begin a new run in another --out"
        )

    def save_playable(self, job: W) -> None:
        """Save the present result of the work as something that plays."""

    def _save_arrays(self, name: str, arrays: dict[str, Any]) -> None:
        arrays = {label: np.asarray(array) for label, array in arrays.items()}
        arrays[CHECKSUM] = _checksum(arrays)
        replace_file(self.path / name, lambda file: np.savez(file, **arrays))

    def _load_arrays(self, name: str) -> dict[str, Any]:
        """Read the arrays that ``_save_arrays`` wrote; kernels traverse these arrays without bounds checks.

        Raises ``FileNotFoundError`` or one of ``BROKEN_ARCHIVE``, also for arrays that were changed since.
        """
        path = self.path / name
        arrays = read_arrays(path, path.stat().st_size)  # the arrays are not compressed, so this bounds their size
        if CHECKSUM not in arrays:
            raise DamageError("it has no checksum: an older version wrote it, or it was changed since")
        if not np.array_equal(arrays.pop(CHECKSUM), _checksum(arrays)):
            raise DamageError("its arrays are not those that were written: their checksum is another one")
        return arrays

    def _lock(self) -> None:
        """Lock the run against other processes until ``close`` or the end of this process."""
        self._lock_descriptor = os.open(self.path / "config.json", os.O_RDONLY)
        if not lock_file(self._lock_descriptor):
            self.close()
            raise CheckpointError(f"{self.path}: another process is using this run")

    def close(self) -> None:
        """Release the lock on the run; the end of this process does so too."""
        if self._lock_descriptor is not None:
            os.close(self._lock_descriptor)
            self._lock_descriptor = None

    def _write(self, name: str, body: bytes) -> None:
        replace_file(self.path / name, lambda file: file.write(body))

    def _load_checkpoint(self) -> dict[str, Any] | None:
        path = self.path / "checkpoint.npz"
        try:
            saved = self._load_arrays(path.name)
            seconds, iteration = float(saved["seconds"]), int(saved["iteration"])
            asked = saved.pop(CONFIG, None)  # checkpoints of older versions lack it
            if asked is not None and str(asked) != self._config_digest():
                raise self._edited("checkpoint")
        except FileNotFoundError:
            return None
        except CheckpointError:
            raise
        except BROKEN_ARCHIVE as error:
            raise CheckpointError(f"{path}: not a checkpoint: {describe_damage(error)}") from None
        if not 0 <= seconds < inf or iteration < 0:
            raise CheckpointError(f"{path}: {iteration} iterations in {seconds} seconds cannot be")
        return {**saved, "seconds": seconds}


class RunFolder(Folder[RunConfig, Point, Job]):
    """The folder of a solver's run, by any method."""

    config_type, point_type = RunConfig, Point
    may_change = frozenset({"iterations", "target", "seconds", "reason"})

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._evaluating: Saving | None = None
        self._noted = -inf

    def save_playable(self, job: Job) -> None:
        """Save the current policy."""
        policy = job.policy()
        if policy is not None:
            self.save_policy(policy)

    def save_policy(self, policy: SavedPolicy) -> None:
        """Save a policy where it is found by the folder's name."""
        policy.save(self.path / POLICY)

    def finish(self, title: str) -> None:
        """Draw the curve, where matplotlib is installed."""
        displays.draw("convergence_picture", self.points(), title, self.path / "convergence.png")

    def go_on(self, saved: dict[str, Any] | None) -> None:
        super().go_on(saved)
        self._result.unlink(missing_ok=True)  # the result of the earlier part no longer holds

    def save_result(self, result: RunResult) -> None:
        """Save the result of the run, so that it can be inspected without computing anything again."""
        points = msgspec.structs.replace(result, config=self._config_digest())
        self._write(self._result.name, msgspec.json.format(msgspec.json.encode(points)))

    def result(self) -> RunResult | None:
        """Read the result of the run; ``None`` where it was interrupted.  Raises ``CheckpointError``."""
        try:
            found = decode_json(self._result.read_bytes(), RunResult)
            check_schema("result", found.schema, SCHEMA)
        except FileNotFoundError:
            return None
        except (OSError, DamageError) as error:
            raise CheckpointError(f"{self._result}: {describe_damage(error)}") from None
        if found.config and found.config != self._config_digest():
            raise self._edited("result")
        return found

    @property
    def _result(self) -> Path:
        return self.path / "solution.json"

    def keep_evaluation(self, evaluation: Saving, now: bool = False) -> None:
        """Save an evaluation's progress now and then; a new one resumes from the progress saved for the same policy."""
        if self._evaluating is not evaluation:
            self._evaluating, self._noted = evaluation, time.monotonic()
            with suppress(*BROKEN_ARCHIVE, CheckpointError):
                evaluation.restore(self._load_arrays(self._evaluation.name))
        if now or time.monotonic() - self._noted > EVALUATION_SECONDS:
            self._save_arrays(self._evaluation.name, evaluation.save())
            self._noted = time.monotonic()

    def forget_evaluation(self) -> None:
        """Remove the saved progress of an evaluation that is over."""
        self._evaluation.unlink(missing_ok=True)

    @property
    def _evaluation(self) -> Path:
        return self.path / "evaluation.npz"


def _checksum(arrays: dict[str, Any]) -> npt.NDArray[np.uint8]:
    """Return a digest of arrays with their names, types and shapes."""
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(array.data if array.size else b"")
    return np.frombuffer(digest.digest(), np.uint8)


def _locked_error(path: str | Path | None) -> CheckpointError:
    return CheckpointError(f"{path} already contains a run; continue it with --resume or choose another --out")


def _is_fresh(path: str | Path | None) -> bool:
    return path is None or Path(path).name == FRESH


def _above(path: str | Path | None) -> Path:
    return Path("runs") if path is None else Path(path).parent


def _claim_fresh(config: Any, path: str | Path | None) -> Path:
    """Make a new folder ``GAME-METHOD``, numbered where that exists."""
    return claim_folder(_above(path), f"{Path(config.game).name}-{config.method}")


def claim_folder(above: Path, name: str) -> Path:
    """Make a new folder of a name, numbered where that exists; two processes never get the same."""
    stem = re.sub(r"[^\w.+=]+", "-", name).strip("-")[:100]
    for number in count(1):
        fresh = above / (stem if number == 1 else f"{stem}-{number}")
        try:
            fresh.mkdir(parents=True)
        except FileExistsError:
            continue
        return fresh
    raise AssertionError("unreachable")
