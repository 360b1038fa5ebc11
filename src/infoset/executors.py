"""Where work goes that can be shared out: processes of this machine, or a cluster that Ray runs (extra ``cluster``).

Both are executors of ``concurrent.futures``, and any other one will do as well.  What is submitted is a function of a
module, with arguments that are data, and gives the same wherever and however often it runs: so a lost process costs
time and nothing else.  What a task has to build first it keeps for the next one.
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
"""How often Ray begins a task again whose process was lost."""
Where: TypeAlias = str | Executor
"""``local``, ``ray``, ``ray:ADDRESS``, or an executor."""


def check_executor(where: Where) -> None:
    """Raises ``UnknownNameError``, ``ParameterError``, and ``MissingExtraError`` where Ray is not installed."""
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
    """Open for so many tasks at once, by default as many as there are cores; one that was given stays open.

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
    """How many tasks it does at once, as far as it says."""
    return int(getattr(opened, "_max_workers", 0)) or usable_cores()


def local(workers: int) -> ProcessPoolExecutor:
    """Processes that end with this one, however that ends, and that Ctrl-C does not reach."""
    from concurrent.futures import ProcessPoolExecutor  # slow to import, and not for every verb
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
    """Tasks of one core each on a cluster; Ray places them, brings what they need, and begins lost ones again."""

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
        asked = self.task.remote(pickle.dumps((call, args, kwargs)), *[a.value for a in args if isinstance(a, Sent)])
        asked.future().add_done_callback(partial(_settle, found))
        return found

    def send(self, value: Any) -> Sent:
        """What stands for something large that many tasks are given: it goes to each machine once."""
        return Sent(self.ray.put(pickle.dumps(value)))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """A cluster that was joined is left, one that was started ends."""
        del wait, cancel_futures
        if self.own:
            self.ray.shutdown()


class Sent:
    """In the place of an argument; the value itself travels beside what is pickled."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __reduce__(self) -> tuple[type[Sent], tuple[None]]:
        return Sent, (None,)


def _call(body: bytes, *sent: bytes) -> bytes:
    """In a process of the cluster.  Arrays come as copies: Ray's own are read-only, for which no kernel is compiled."""
    call, args, kwargs = pickle.loads(body)
    rest = iter(sent)
    given = [pickle.loads(next(rest)) if isinstance(value, Sent) else value for value in args]
    return pickle.dumps(call(*given, **kwargs))


def _settle(found: Future[Any], answer: Future[bytes]) -> None:
    try:
        found.set_result(pickle.loads(answer.result()))
    except BaseException as error:  # is raised where it is waited for
        found.set_exception(error)


def send(opened: Executor, value: R) -> R:
    """What stands for a large argument of several tasks of this executor."""
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
    with suppress(AttributeError):  # it tells of lost processes on standard output, where our results are
        ray._private.worker.print_to_stdstream = lambda *_, **__: None
