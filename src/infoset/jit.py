"""Compilation of kernels with Numba: each kernel separately, with calls to other kernels by address.

This depends on internals of Numba; the tested versions are listed in ``pyproject.toml``.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType
from typing import Any, TypeVar

import llvmlite.binding
import numba
from llvmlite import ir
from numba.core import config, event
from numba.core.compiler import Compiler, CompileResult, Flags
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.untyped_passes import FixupArgs
from numba.extending import intrinsic

from infoset import status
from infoset.kernel_cache import KernelCache

F = TypeVar("F", bound=Callable[..., Any])


@register_pass(mutates_CFG=False, analysis_only=True)
class _StableSymbol(AnalysisPass):  # type: ignore[misc]
    """A pass that drops the running number from a kernel's symbol, so that other processes' code links to it."""

    _name = "stable_symbol"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        if _is_ours(state.func_id.func):
            state.func_ir.func_id.unique_id = 0
        return False


class _Flags(Flags):  # type: ignore[misc]
    """Numba's compilation flags with a fast comparison: every typed call looks up a key that holds them."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, _Flags) and self._values == other._values) or super().__eq__(other)

    def __hash__(self) -> int:
        return _HASH_OF_FLAGS


_HASH_OF_FLAGS = hash(Flags())  # of the flags' names, so that all instances have this one hash


class _Pipeline(Compiler):  # type: ignore[misc]
    """Numba's pipeline with stable symbols."""

    def define_pipelines(self) -> list[Any]:
        pipelines: list[Any] = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.add_pass_after(_StableSymbol, FixupArgs)
            pipeline.finalize()
        return pipelines


def find_kernel(module: str, name: str) -> Any:
    """Return the kernel of that name, or for ``maker module:piece …`` the one that ``maker`` makes of pieces."""
    name, *pieces = name.split(" ")
    found = getattr(importlib.import_module(module), name)
    return found(*[find_kernel(*piece.split(":")) for piece in pieces]) if pieces else found


def _is_ours(function: Callable[..., Any]) -> bool:
    return function.__module__.startswith("infoset.")


@dataclass(frozen=True)
class Callee:
    """A kernel that another one calls by its address, so that it has to be loaded before the caller."""

    module: str
    name: str
    types: tuple[Any, ...]
    symbol: str
    returns: Any

    def __call__(self) -> None:
        """Load the kernel, from the cache if possible.  Raises ``StaleKernelError`` where it has changed."""
        found = find_kernel(self.module, self.name)
        found.compile(self.types)
        compiled = found.overloads[self.types]
        if (compiled.fndesc.mangled_name, compiled.signature.return_type) != (self.symbol, self.returns):
            raise StaleKernelError(f"{self.module}.{self.name} is not what a caller of it was compiled for")


class StaleKernelError(Exception):
    """An error for cached code that calls a kernel that has changed: the caller must be compiled again."""


class _ByAddress:
    """The library that a caller links in place of a kernel's code: empty, with the kernel to load first."""

    def __init__(self, kernel: Kernel, compiled: Any) -> None:
        function, signature = kernel.py_func, compiled.signature
        self._library = compiled.library
        self._reload_init = {
            Callee(
                function.__module__,
                function.__name__,
                tuple(signature.args),
                compiled.fndesc.mangled_name,
                signature.return_type,
            )
        }

    def _ensure_finalized(self) -> None:
        self._library._ensure_finalized()

    def _get_module_for_linking(self) -> Any:
        return llvmlite.binding.parse_assembly("")


def _rebuild(result: type[CompileResult], *parts: Any) -> CompileResult:
    """Rebuild a result as Numba does, and also keep the code to load first, which callers that link it need."""
    compiled = _numbas_rebuild(result, *parts)
    compiled.library._reload_init.update(compiled.reload_init or ())
    return compiled


_numbas_rebuild = CompileResult._rebuild.__func__
CompileResult._rebuild = classmethod(_rebuild)


class _CompileListener(event.Listener):  # type: ignore[misc]
    """A listener that reports what is being compiled; callees compiled on the way are not reported separately."""

    def __init__(self) -> None:
        self.contexts: list[AbstractContextManager[None]] = []

    def on_start(self, event: Any) -> None:
        kernel = event.data["dispatcher"]
        often = "once on this machine: " if isinstance(kernel, Kernel) else ""
        contexts = nullcontext() if self.contexts else status.during(f"compiling, {often}{kernel.py_func.__name__}")
        contexts.__enter__()
        self.contexts.append(contexts)

    def on_end(self, event: Any) -> None:
        if self.contexts:
            self.contexts.pop().__exit__(None, None, None)


event.register("numba:compile", _CompileListener())


class Kernel(CPUDispatcher):  # type: ignore[misc]
    """A compiled function.  Other kernels call it by its address, or link its code in and optimise it once more.

    Linking is Numba's default: a chain of kernels is then optimised again at every level, which accounted for three
    quarters of the compile time.
    """

    def __init__(self, function: Callable[..., Any], from_python: bool, linked: bool) -> None:
        options = {"nopython": True, "nogil": True, "error_model": "numpy", "boundscheck": None}
        bare = {"no_cfunc_wrapper": True, "no_cpython_wrapper": not from_python}
        counting = {} if function not in _BORROWING else {"_nrt": False}
        super().__init__(function, targetoptions=options | bare | counting, pipeline_class=_Pipeline)
        self.from_python = from_python
        self.linked = linked
        self._compiler._customize_flags = _Flags
        self._cache = KernelCache(function)

    def is_cached(self, types: tuple[Any, ...]) -> bool:
        """Return whether the code for these argument types is on disk."""
        return self._cache.file(types, self.targetctx.codegen()).exists()

    def __reduce__(self) -> Any:
        function = self.py_func
        if self._is_found:
            return find_kernel, (function.__module__, function.__name__)
        return Kernel, (function, self.from_python, self.linked)

    @property
    def _is_found(self) -> bool:
        """Whether a module of infoset holds this kernel under its name, where any process finds it."""
        function = self.py_func
        return _is_ours(function) and getattr(sys.modules.get(function.__module__), function.__name__, None) is self

    def get_call_template(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        """Resolve a call from another kernel, with one kernel for all signed integers, constants included."""
        return super().get_call_template(tuple(map(_plain, args)), {name: _plain(kws[name]) for name in kws})

    def add_overload(self, compiled: Any) -> None:
        if self.from_python:
            super().add_overload(compiled)
        else:
            self.overloads[tuple(compiled.signature.args)] = compiled
        if not self.linked and self._is_found:
            self.targetctx.remove_user_function(compiled.entry_point)
            self.targetctx.insert_user_function(compiled.entry_point, compiled.fndesc, [_ByAddress(self, compiled)])

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        if self.from_python:
            return super()._compile_for_args(*args, **kws)
        return self._entry._compile_for_args(*args, **kws)

    @cached_property
    def _entry(self) -> Kernel:
        """The same kernel with an entry point from Python, which only tests need."""
        return Kernel(_renamed(self.py_func, f"{self.py_func.__name__}_entry"), from_python=True, linked=True)


def _plain(kind: Any) -> Any:
    """Return a kernel's type for such an argument: constants and signed integers of other widths become int64."""
    types: Any = numba.types
    kind = types.unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer) and kind.signed else kind


def _made(function: F, from_python: bool, linked: bool) -> F:
    return function if config.DISABLE_JIT else Kernel(function, from_python, linked)


def kernel(function: F) -> F:
    """Compile a function of arrays and scalars that Python calls: no Python objects, no interpreter lock, cached."""
    return _made(function, from_python=True, linked=False)


def inner_kernel(function: F) -> F:
    """Compile a kernel that only kernels call, without an entry point from Python: one may cost as much as the body."""
    return _made(function, from_python=False, linked=False)


def linked_kernel(function: F) -> F:
    """Compile an inner kernel so short that a call costs more than its body: its code is linked into every caller."""
    return _made(function, from_python=False, linked=True)


def short_kernel(function: F) -> F:
    """Compile a linked kernel that Python calls as well."""
    return _made(function, from_python=True, linked=True)


_BORROWING: set[Callable[..., Any]] = set()


def borrowing(function: F) -> F:
    """Mark a function, before it becomes a kernel, that neither makes nor returns arrays: no references are counted.

    Numba counts those to every array of a tuple whenever that is passed on, in memory that all threads share.  That can
    cost several times as much as a short kernel.
    """
    _BORROWING.add(function)
    return function


def checked_kernel(function: F) -> F:
    """Compile a kernel around a user's code, once per process, with bounds checks.

    An index out of bounds is an ``IndexError`` there instead of memory overwritten.
    """
    checked: F = numba.njit(nogil=True, error_model="numpy", boundscheck=True)(function)
    return checked


def inline_kernel(function: F) -> F:
    """Compile a piece of a kernel that is inlined into every kernel that calls it."""
    piece: F = numba.njit(inline="always", error_model="numpy")(function)
    return piece


@intrinsic  # type: ignore[untyped-decorator]
def lowest_one(typing: Any, word: Any) -> Any:
    """Return the index of the lowest bit that is set in a word that is not 0."""
    del typing

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return word(word), generate


@intrinsic  # type: ignore[untyped-decorator]
def count_ones(typing: Any, word: Any) -> Any:
    """Return the number of bits of a word that are set."""
    del typing

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        return builder.ctpop(arguments[0])

    return word(word), generate


def with_piece(function: F, piece: str, replacement: Callable[..., Any]) -> F:
    """Return ``function`` with the global name ``piece`` meaning ``replacement``: one kernel per variant, one source.

    The copy has a name of its own, so that the variants do not share an entry of the cache.
    """
    names = dict(function.__globals__, **{piece: replacement})
    return _renamed(function, f"{function.__name__}_{replacement.__name__}", names)


def _renamed(function: F, name: str, names: dict[str, Any] | None = None) -> F:
    """Copy a function under another name, and with other global names if they are given."""
    copy = FunctionType(function.__code__, function.__globals__ if names is None else names, name)
    copy.__qualname__ = name
    copy.__module__ = function.__module__
    return copy  # type: ignore[return-value]
