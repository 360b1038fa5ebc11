"""Executors for work that can be distributed: processes of this machine, or a cluster run by Ray (extra ``cluster``).

Both are executors of ``concurrent.futures``, and any other one can be used as well.  A task is a function of a
module, with arguments that are data, and has the same result wherever and however often it runs: a lost process costs
time and nothing else.  Whatever a task has to build first is cached for the next one.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar, cast

from infoset.errors import MissingExtraError, ParameterError, UnknownNameError, UnsupportedSystemError, shorten
from infoset.processes import usable_cores

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

P = ParamSpec("P")
R = TypeVar("R")
LOCAL, RAY = "local", "ray"
MAX_WORKERS = 1000
LOST = 20
"""The number of times that Ray restarts a task whose process was lost."""
Where: TypeAlias = str | Executor
"""``local``, ``ray``, ``ray:ADDRESS``, or an executor."""


def check_executor(where: Where) -> None:
    """Raise ``UnknownNameError``, ``ParameterError``, or ``MissingExtraError`` where Ray is not installed."""
    if isinstance(where, Executor):
        return
    if not isinstance(where, str):
        raise ParameterError(f"executor={shorten(repr(where))}; allowed: local, ray, ray:HOST:PORT, or an executor")
    name, colon, address = where.partition(":")
    if name not in (LOCAL, RAY):
        raise UnknownNameError("executor", name, (LOCAL, RAY))
    if colon and (name == LOCAL or not address):
        raise ParameterError(f"executor={shorten(where)}; allowed: local, ray, ray:auto, ray:HOST:PORT")
    if name == RAY:
        _ray()


@contextmanager
def executor(where: Where, workers: int | None = None) -> Iterator[Executor]:
    """Open an executor for ``workers`` parallel tasks, by default one per core; a given one stays open afterwards.

    ``ray`` starts Ray on this machine, ``ray:ADDRESS`` joins a cluster.  Raises as ``check_executor``, and
    ``UnsupportedSystemError`` where there is no cluster.
    """
    check_executor(where)
    if isinstance(where, Executor):
        opened: Any = nullcontext(where)
    elif where == LOCAL:
        opened = local(usable_cores() if workers is None else workers)
    else:
        opened = RayExecutor(where.partition(":")[2], workers)
    with opened as found:
        yield found


def width(opened: Executor) -> int:
    """Return the number of tasks that an executor runs in parallel, or the number of cores where it is unknown."""
    return int(getattr(opened, "_max_workers", 0)) or usable_cores()


def local(workers: int) -> ProcessPoolExecutor:
    """Return a pool of processes that end with this one, however that ends, and that Ctrl-C does not reach."""
    from concurrent.futures import ProcessPoolExecutor  # slow to import, and not needed by every verb
    from multiprocessing import get_context

    return ProcessPoolExecutor(workers, get_context("spawn"), _begin)


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    from multiprocessing import parent_process

    parent = parent_process()
    assert parent
    parent.join()
    os._exit(1)


class RayExecutor(Executor):
    """An executor on a cluster, with one core per task; Ray places tasks, sends their data, and restarts lost ones."""

    def __init__(self, address: str = "", workers: int | None = None) -> None:
        ray = _ray()
        self.own = not ray.is_initialized()
        if self.own:
            _join(ray, address, workers)
        cores = int(ray.cluster_resources().get("CPU", 1))
        self._max_workers = cores if workers is None else min(workers, cores)
        self.ray, self.task = ray, ray.remote(num_cpus=1, max_retries=LOST)(_call)

    def submit(self, call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        found: Future[R] = Future()
        found.set_running_or_notify_cancel()
        asked = self.task.remote(
            pickle.dumps((call, args, kwargs)), *[a.value for a in args if isinstance(a, ArgumentPlaceholder)]
        )
        asked.future().add_done_callback(partial(_settle, found))
        return found

    def send(self, value: Any) -> ArgumentPlaceholder:
        """Return a reference to a large argument of several tasks: its data is sent to each machine once."""
        return ArgumentPlaceholder(self.ray.put(pickle.dumps(value)))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Shut the cluster down if it was started here; one that was joined is left running."""
        del wait, cancel_futures
        if self.own:
            self.ray.shutdown()


class ArgumentPlaceholder:
    """A placeholder for an argument; the value itself travels beside the pickled call."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __reduce__(self) -> tuple[type[ArgumentPlaceholder], tuple[None]]:
        return ArgumentPlaceholder, (None,)


def _call(body: bytes, *sent: bytes) -> bytes:
    """Execute a task in a process of the cluster.

    Arrays come as copies: Ray's own are read-only, for which no kernel is compiled.
    """
    call, args, kwargs = pickle.loads(body)
    rest = iter(sent)
    given = [pickle.loads(next(rest)) if isinstance(value, ArgumentPlaceholder) else value for value in args]
    return pickle.dumps(call(*given, **kwargs))


def _settle(found: Future[Any], answer: Future[bytes]) -> None:
    try:
        found.set_result(pickle.loads(answer.result()))
    except BaseException as error:  # raised again where the result is awaited
        found.set_exception(error)


def send(opened: Executor, value: R) -> R:
    """Return a reference to a large argument of several tasks of this executor."""
    return cast("R", opened.send(value)) if isinstance(opened, RayExecutor) else value


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError:
        raise MissingExtraError("the executor ray", "cluster") from None
    return ray


def _join(ray: Any, address: str, workers: int | None) -> None:
    quiet = {"include_dashboard": False} if not address else {}
    try:
        ray.init(
            address=address or "local", num_cpus=None if address else workers or usable_cores(), log_to_driver=False,
            logging_level="ERROR", configure_logging=True, **quiet,
        )  # fmt: skip
    except (ConnectionError, ValueError, RuntimeError, OSError, TimeoutError) as error:
        first = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise UnsupportedSystemError(f"executor=ray:{shorten(address)}: {shorten(first, 200)}") from None
    with suppress(AttributeError):  # it reports lost processes on standard output, which carries our results
        ray._private.worker.print_to_stdstream = lambda *_, **__: None
