"""Networks as policies: functions of encoded information states, from memory or from files of PyTorch and ONNX.

No file runs code: TorchScript and exported programs may only use operators of tensors, and weights are read without
pickled objects.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from infoset.arguments import checks_arguments
from infoset.base import Action, BoolArray, Encoding, FloatArray, InformationState
from infoset.compiled import AnyGame, Compiled
from infoset.errors import (
    BudgetError,
    InfosetError,
    MissingExtraError,
    ParameterError,
    PolicyError,
    UnsupportedGameError,
    shorten,
)
from infoset.files import no_such_path
from infoset.interruption import running_foreign_code
from infoset.jit import borrowing, kernel
from infoset.names import check_choice
from infoset.policies.asking import ask_one
from infoset.policies.encodings import ENCODINGS, HISTORY, encoding_of

LOGITS, PROBABILITIES, VALUES = OUTPUTS = ("logits", "probabilities", "values")
SINGLE, DOUBLE = PRECISIONS = ("single", "double")
CHUNK = 1024  # inputs evaluated by one thread: what a few hundred units compute stays in the cache
MOST_BYTES = 2 << 30  # of a network's file
TRIED = (1, 2, 3)  # numbers of inputs that a network is given first: it may be exported for one number alone

Forward: TypeAlias = "Callable[[npt.NDArray[np.float32]], Any]"
"""A network: from inputs ``(K, *shape)`` to one number for each action (K, A)."""


class NetworkPolicy:
    """A policy by a network: a function from an encoding's inputs ``(K, *shape)`` to (K, A), a number for each action.

    ``output`` says what the numbers are: ``logits``, of which the softmax over the legal actions is taken,
    ``probabilities``, which are scaled over the legal actions, or ``values``, of which the best legal one is played.
    ``encoding`` is an object, or a name as ``encoding_of`` takes it.

    Raises what ``encoding_of`` raises.

    >>> policy = infoset.NetworkPolicy("kuhn_poker", lambda inputs: 0 * inputs[:, :2], "information-state")
    >>> round(infoset.evaluate("kuhn_poker", policy).exploitability, 6)        # uniform play
    0.458333
    """

    @checks_arguments
    def __init__(
        self, game: AnyGame, forward: Callable[..., Any], encoding: str | Encoding = HISTORY, output: str = LOGITS
    ) -> None:  # fmt: skip
        check_choice("output", output, OUTPUTS)
        self.encoding = encoding_of(Compiled.of(game), encoding) if isinstance(encoding, str) else encoding
        self.forward, self.output = forward, output

    def batch_probabilities(self, player: int, inputs: npt.NDArray[np.float32], legal: BoolArray) -> FloatArray:
        """Return the probabilities (K, A) of the actions, of which those ``legal`` (K, A) are allowed.

        Raises ``ParameterError`` where the network fails or returns another shape.
        """
        with running_foreign_code(_network_fails):
            found = np.asarray(self.forward(inputs))
        if found.shape != legal.shape:
            raise ParameterError(
                f"the network returns an array of shape {found.shape}; allowed: {legal.shape}, one number for each of "
                f"the {legal.shape[1]} actions"
            )
        rows = np.array(found, dtype=np.float64)
        _normalise(rows, legal, OUTPUTS.index(self.output))
        return rows

    def action_probabilities(
        self, player: int, infostate: InformationState, legal_actions: tuple[Action, ...]
    ) -> Sequence[float]:
        """Return the probabilities of the actions at one information state."""
        return ask_one(self, player, infostate, legal_actions)


def _network_fails(error: BaseException, why: str) -> BaseException:
    return error if isinstance(error, InfosetError) else ParameterError(f"the network fails: {why}")


@kernel
@borrowing
def _normalise(rows: FloatArray, legal: BoolArray, output: int) -> None:
    """Turn the outputs of a network into probabilities of the legal actions; NaN stays NaN."""
    for k in range(len(rows)):
        best, total = -np.inf, 0.0
        for a in range(rows.shape[1]):
            if legal[k, a] and not rows[k, a] <= best:  # also true of NaN
                best = rows[k, a]
        for a in range(rows.shape[1]):
            if not legal[k, a]:
                rows[k, a] = 0.0
            elif output == 0:
                rows[k, a] = np.exp(rows[k, a] - best)
            elif output == 2:
                rows[k, a] = 1.0 if rows[k, a] == best else 0.0
            total += rows[k, a]
        for a in range(rows.shape[1]):
            rows[k, a] /= total


@dataclass(frozen=True)
class NetworkFile:
    """A network in a file, as a policy of any game whose encoding it reads."""

    path: str
    encoding: str = ""
    output: str = LOGITS
    precision: str = SINGLE

    def __post_init__(self) -> None:
        check_choice("output", self.output, OUTPUTS)
        check_choice("precision", self.precision, PRECISIONS)

    @property
    def game(self) -> str:
        """The name of its game, which it does not say."""
        return ""

    @property
    def made_by(self) -> dict[str, Any]:
        """Where it comes from."""
        return {"network": self.path}

    def on(self, compiled: Compiled) -> NetworkPolicy:
        """Return its policy on a game, by the one encoding that fits its inputs and outputs unless one is named.

        ``history``, which needs every position of the game, is tried where no tensor fits.

        Raises ``PolicyError`` for a file that cannot be read, a network whose inputs or outputs do not fit, or one that
        fits two tensors of the same shape.
        """
        forward, tried, fitting = self.forward(), list[str](), list[NetworkPolicy]()
        for name in [self.encoding] if self.encoding else ENCODINGS:
            if fitting and name == HISTORY:
                break
            try:
                encoding = encoding_of(compiled, name)
            except (UnsupportedGameError, BudgetError):
                if self.encoding:
                    raise
                continue
            for shape in dict.fromkeys((encoding.shape, (int(np.prod(encoding.shape)),))):
                fits = _reshaped(forward, shape)
                returned = _outputs(fits, encoding)
                taken = [rows for rows, found in returned.items() if found == (rows, len(encoding.actions))]
                if len(taken) == len(TRIED):
                    fitting.append(NetworkPolicy(compiled.game, fits, encoding, self.output))
                    break
                why = f", for which it returns {returned[2]}" if returned[2] is not None else ""
                if taken:
                    why = f", of which it takes {taken[0]} at once; allowed: any number, by a dynamic first dimension"
                tried.append(f"{name} {shape} with {len(encoding.actions)} actions{why}")
        if len(fitting) > 1:
            names = [f"encoding={policy.encoding.name}" for policy in fitting]
            raise PolicyError(
                f"{self.path}: the network fits {len(names)} encodings of {shorten(compiled.name)}, all of the "
                f"same shape {fitting[0].encoding.shape}; say which one it reads: {' or '.join(names)}"
            )
        if fitting:
            return fitting[0]
        raise PolicyError(
            f"{self.path}: the network does not fit {shorten(compiled.name)}; tried the inputs {'; '.join(tried)}"
        )

    def forward(self) -> Forward:
        """Load the network.  Raises ``PolicyError`` and ``MissingExtraError``."""
        raise NotImplementedError

    def save(self, path: str | Path) -> Path:
        """Copy the file."""
        return Path(shutil.copyfile(self.path, path))


def _reshaped(forward: Forward, shape: tuple[int, ...]) -> Forward:
    return lambda inputs: forward(inputs.reshape(len(inputs), *shape))


def _outputs(forward: Forward, encoding: Encoding) -> dict[int, tuple[int, ...] | None]:
    """Return the shape of a network's outputs for each of ``TRIED`` inputs of zeros; ``None`` where it takes none."""

    def of(rows: int) -> tuple[int, ...] | None:
        try:
            return tuple(np.asarray(forward(np.zeros((rows, *encoding.shape), dtype=np.float32))).shape)
        except Exception:
            return None

    return {rows: of(rows) for rows in TRIED}


def _in_threads(forward: Forward, begin: Callable[[], object]) -> Forward:
    """Return a network that is evaluated ``CHUNK`` inputs at a time, in threads that each begin by ``begin``.

    A library's own threads wait for each other actively, which takes many times as long where cores are shared.  The
    division does not depend on the number of cores, so neither do the results.
    """
    threads = ThreadPoolExecutor(os.cpu_count() or 1, initializer=begin)

    def divided(inputs: npt.NDArray[np.float32]) -> Any:
        parts = [inputs[first : first + CHUNK] for first in range(0, max(len(inputs), 1), CHUNK)]
        return np.concatenate(list(threads.map(forward, parts)))

    return divided


@dataclass(frozen=True)
class TorchFile(NetworkFile):
    """A network of PyTorch: TorchScript (``torch.jit.save``) or an exported program (``torch.export.save``)."""

    def forward(self) -> Forward:
        """Load the network."""
        torch, module = import_torch(), self.module()
        if self.precision == DOUBLE:
            module = module.double()
        kind = torch.float64 if self.precision == DOUBLE else torch.float32

        def forward(inputs: npt.NDArray[np.float32]) -> Any:
            with torch.inference_mode():
                found = module(torch.from_numpy(np.ascontiguousarray(inputs)).to(kind))
            return (found if isinstance(found, torch.Tensor) else found[0]).numpy()

        return _in_threads(forward, lambda: torch.set_num_threads(1))

    def module(self) -> Any:
        """Return the network as a module of PyTorch.  Raises ``PolicyError``."""
        return _load_torch(Path(self.path))


def import_torch() -> Any:
    """Return PyTorch.  Raises ``MissingExtraError`` without it."""
    try:
        import torch
    except ImportError:
        raise MissingExtraError("a network of PyTorch", "learn") from None
    return torch


ALLOWED = re.compile(r"torch\.ops\.(aten|prims)\.\w+\.\w+|_operator\.\w+")
FILES = re.compile(r"\b(from_file|save|load)\b")
EXPRESSION = re.compile(
    r"(Symbol|Integer|Add|Mul)\(|'[su]\d+'|\b(positive|integer|nonnegative)=True\b|\b[su]?\d+\b|[-+*(), ]+"
)
CODE = re.compile(r"\bops\.(?!aten\b|prims\b|prim\b)\w+")


def _load_torch(path: Path) -> Any:
    """Return a module of TorchScript or of an exported program.

    Raises ``PolicyError`` for a file that cannot be read, holds pickled objects, or calls anything but operators.
    """
    import torch

    if not path.is_file():
        raise PolicyError(f"{path}: {no_such_path(path)}")
    if path.stat().st_size > MOST_BYTES:
        raise PolicyError(f"{path}: {path.stat().st_size:,} bytes; allowed: {MOST_BYTES:,}")
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name.partition("/")[2] for name in archive.namelist()]
            exported, scripted = "archive_format" in names, "constants.pkl" in names
            if exported or scripted:
                _check_code(path, archive, exported)
    except PolicyError:
        raise
    except (zipfile.BadZipFile, OSError, ValueError, RecursionError) as error:
        raise PolicyError(f"{path}: no network of PyTorch: {shorten(str(error))}") from None
    if not exported and not scripted:
        raise PolicyError(
            f"{path}: neither TorchScript nor an exported program; save it by torch.jit.trace(…).save(FILE.pt) or "
            "torch.export.save(torch.export.export(…), FILE.pt2)"
        )
    scripts: Any = torch.jit
    try:
        with warnings.catch_warnings(), _weights_only(), open(path, "rb") as file:
            warnings.simplefilter("ignore")  # TorchScript is deprecated, but what people have
            return torch.export.load(file).module() if exported else scripts.load(file, map_location="cpu").eval()
    except Exception as error:
        raise PolicyError(f"{path}: no network of PyTorch: {shorten(' '.join(str(error).split()), 200)}") from None


def _check_code(path: Path, archive: zipfile.ZipFile, exported: bool) -> None:
    """Raise ``PolicyError`` where a program calls anything but operators of tensors."""
    if sum(info.file_size for info in archive.infolist()) > MOST_BYTES:
        raise PolicyError(f"{path}: more than {MOST_BYTES:,} bytes once unpacked")
    for name in archive.namelist():
        if exported and name.endswith(".json"):
            for key, value in _texts(json.loads(archive.read(name)), ""):
                if (key == "target" and not (ALLOWED.fullmatch(value) and not FILES.search(value))) or (
                    key == "expr_str" and EXPRESSION.sub("", value)
                ):
                    raise PolicyError(f"{path}: it contains {shorten(value)}; allowed: operators of torch.ops.aten")
        elif not exported and name.endswith(".py"):
            text = archive.read(name).decode()
            if found := CODE.search(text) or FILES.search(text):
                raise PolicyError(f"{path}: it calls {found[0]}; allowed: operators of tensors")


def _texts(value: Any, key: str) -> Iterator[tuple[str, str]]:
    """Yield all texts in decoded JSON with their keys."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, key)


@contextmanager
def _weights_only() -> Iterator[None]:
    """Make PyTorch refuse pickled objects: loading an exported program would otherwise accept some."""
    name, before = "TORCH_FORCE_WEIGHTS_ONLY_LOAD", os.environ.get("TORCH_FORCE_WEIGHTS_ONLY_LOAD")
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@dataclass(frozen=True)
class OnnxFile(NetworkFile):
    """A network in the format ONNX (extra ``onnx``)."""

    def forward(self) -> Forward:
        """Load the network."""
        try:
            import onnxruntime
        except ImportError:
            raise MissingExtraError("a network in the format ONNX", "onnx") from None
        if not Path(self.path).is_file():
            raise PolicyError(f"{self.path}: {no_such_path(self.path)}")
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # what it logs is raised, too
        options.use_deterministic_compute, options.intra_op_num_threads = True, 1
        try:
            session = onnxruntime.InferenceSession(self.path, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise PolicyError(f"{self.path}: no network in the format ONNX: {shorten(str(error), 200)}") from None
        if len(session.get_inputs()) != 1:
            raise PolicyError(f"{self.path}: the network has {len(session.get_inputs())} inputs; allowed: 1")
        name, first = session.get_inputs()[0].name, session.get_outputs()[0].name
        return _in_threads(lambda inputs: session.run([first], {name: np.ascontiguousarray(inputs)})[0], lambda: None)
