"""Where batches run: processes of this machine, a cluster of Dask, or any executor of `concurrent.futures`."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import CellrateError, RunError, shown
from .builds import check_alike, facts

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

ExecutorChoice: TypeAlias = "Executor | str | Path | object | None"
"""Executors that callers may give: nothing for this machine, an executor, a client of Dask, a scheduler's address."""

SLOTS_S = 1.0
"""How often a scheduler is asked for the number of its workers."""

CONNECT_S = 10
"""How long a scheduler is waited for, as Dask writes it; it may just be starting."""


@dataclass(frozen=True)
class Workers:
    """Workers that take batches."""

    submit: Callable[[Callable[[bytes], Any], bytes], Future[Any]]
    slots: Callable[[], int]
    """How many batches run at once; there may be more workers later."""
    stop: Callable[[], object]
    """Have what runs end: it is not waited for any more."""
    afar: bool
    """Whether workers may be on other machines."""
    lost: Callable[[BaseException], str | None]
    """Say what an error of a future means if the workers are gone, None if it is of the run."""


@contextlib.contextmanager
def workers_of(given: ExecutorChoice, workers: int, name: str = "executor") -> Iterator[Workers]:
    """Have workers for batches, as long as this is entered.

    Raises
    ------
    CellrateError
        If what is given is nothing that takes work, or no scheduler is there, or the workers are of another build.
    """
    if given is None:
        with _local(workers) as found:
            yield found
    elif isinstance(given, str | Path):
        with _connected(str(given), name) as client:
            yield _of_dask(client)
    elif type(given).__module__.partition(".")[0] == "distributed" and hasattr(given, "get_executor"):
        yield _of_dask(given)
    elif callable(getattr(given, "submit", None)):
        yield _of_futures(given)
    else:
        raise CellrateError(
            f"{name} is {shown(given)}; it is a client of Dask, an executor of concurrent.futures, or the address of a "
            "scheduler"
        )


@contextlib.contextmanager
def _local(count: int) -> Iterator[Workers]:
    from ..running.processes import processes

    with processes(count) as (executor, stop):
        yield Workers(executor.submit, lambda: count, stop, afar=False, lost=_killed)


def _killed(error: BaseException) -> str | None:
    from concurrent.futures.process import BrokenProcessPool

    from ..running.processes import why_broken

    return why_broken(error) if isinstance(error, BrokenProcessPool) else None


def _of_futures(executor: Any) -> Workers:
    count = getattr(executor, "_max_workers", None) or os.cpu_count() or 1
    return Workers(executor.submit, lambda: count, lambda: None, afar=True, lost=_killed)


@contextlib.contextmanager
def _connected(place: str, name: str) -> Iterator[Any]:
    """Have a client of the scheduler at an address, or of the one whose file this is."""
    try:
        from distributed import Client
    except ImportError:
        raise CellrateError(
            f"{name} {place} needs Dask, which is not installed; pip install 'cellrate[cluster]'"
        ) from None
    is_file = "://" not in place
    if is_file and not Path(place).is_file():
        raise CellrateError(
            f"{name} {place}: there is no such file; give the one that dask scheduler --scheduler-file writes, or an "
            "address such as tcp://host:8786"
        )
    try:
        with _quiet():
            given = {"scheduler_file": place} if is_file else {"address": place}
            client = Client(**given, timeout=CONNECT_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise CellrateError(f"{name} {place}: no scheduler answers there: {said}") from None
    try:
        yield client
    finally:
        with _quiet(), contextlib.suppress(Exception):
            client.close(timeout=2)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Have Dask not log of a connection that ends, of which our own errors speak."""
    import logging

    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client", "distributed.core")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _of_dask(client: Any) -> Workers:
    try:
        there = client.run(facts)
    except ModuleNotFoundError as error:
        raise CellrateError(
            f"a worker at {_address(client)} lacks {error.name}; install cellrate {facts()['cellrate']} on all machines"
        ) from None
    for worker, found in there.items():
        check_alike(facts(), found, worker)
    executor = client.get_executor(pure=False)

    def submit(call: Callable[[bytes], Any], given: bytes) -> Future[Any]:
        future: Future[Any] = executor.submit(call, given)
        return future

    def stop() -> None:
        with _quiet(), contextlib.suppress(Exception):
            executor.shutdown(wait=False)

    def lost(error: BaseException) -> str | None:
        if type(error).__name__ == "KilledWorker":
            return (
                "a batch was given up, since each worker that took it was killed; if memory was short, give workers "
                "more, or fewer threads"
            )
        if type(error).__name__ in ("CancelledError", "FutureCancelledError", "CommClosedError", "FuturesErred"):
            return f"the scheduler at {_address(client)} is gone"
        return None

    asked_at, threads = -math.inf, 1

    def slots() -> int:
        nonlocal asked_at, threads
        # A question to the scheduler after each batch would take longer than to hand out the next one.
        if time.monotonic() - asked_at > SLOTS_S:
            asked_at, threads = time.monotonic(), max(1, _threads(client))
        return threads

    return Workers(submit, slots, stop, afar=True, lost=lost)


def _address(client: Any) -> str:
    return str(getattr(client.scheduler, "address", "an address"))


def _threads(client: Any) -> int:
    try:
        return int(sum(client.nthreads().values()))
    except Exception as error:
        raise RunError(f"the scheduler at {_address(client)} is gone: {error}") from None
