"""Functions called side by side, in processes that are forked for them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import CellrateError, Interrupted, RunError

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event

    from .crossing import Packed

Outcome = TypeVar("Outcome")

_PR_SET_PDEATHSIG = 1
"""Of linux/prctl.h."""


def number_of_workers(workers: int | None, calls: int) -> int:
    """Give how many processes so many calls need: as many as are asked for, or as there are processors.

    Raises
    ------
    CellrateError
        If `workers` is below 1.
    """
    if workers is not None and workers < 1:
        raise CellrateError(f"workers is {workers}; it must be at least 1")
    return min(workers if workers is not None else os.cpu_count() or 1, calls)


def side_by_side(
    calls: Sequence[Callable[[], Outcome]],
    *,
    workers: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> list[Outcome]:
    """Call functions in processes, and give what they return, in their order; they begin in that order too.

    Processes end with the one that called this, however that ends.

    The functions may be of any kind: processes are forked, which also keeps scripts without an
    `if __name__ == "__main__"` working. Only what a function returns or raises crosses over, so that must be picklable.

    Parameters
    ----------
    calls
        What to call.
    workers
        Number of processes; the number of processors by default. With one, functions are called in this process.
    progress
        Called with the share of calls done [0 to 1].

    Raises
    ------
    RunError
        If one of the processes was killed.
    BaseException
        What a call raised first, once all processes have ended: no other call begins after that, and those that call
        `end_if_stopped` meanwhile end.
    """
    workers = number_of_workers(workers, len(calls))
    if workers <= 1:
        outcomes = []
        for call in calls:
            outcomes.append(call())
            if progress is not None:
                progress(len(outcomes) / len(calls))
        return outcomes
    import multiprocessing
    from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool

    from .crossing import crossing, unpack

    context = multiprocessing.get_context("fork")
    stopped = context.Event()
    inherited = (calls, stopped, os.getpid())
    executor: Executor = ProcessPoolExecutor(workers, context, initializer=_inherit, initargs=inherited)
    with crossing() as folder, executor:
        futures = {executor.submit(_called, place, folder): place for place in range(len(calls))}
        returned: dict[int, Outcome] = {}
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                returned[futures[future]] = unpack(future.result())
                if progress is not None:
                    progress(done / len(futures))
        except BaseException as error:
            stopped.set()
            # And waited for: whoever is told of the error may remove what calls work on.
            executor.shutdown(cancel_futures=True)
            if isinstance(error, BrokenProcessPool):
                raise RunError(
                    "a process of several that worked side by side was killed; if memory was short, give fewer workers"
                ) from None
            raise
    return [returned[place] for place in range(len(calls))]


_calls: Sequence[Callable[[], Any]] = ()
"""In a forked process: what there is to call."""
_stopped: Event | None = None
"""In a forked process: whether all is over. Calls that are handed out already can no longer be cancelled."""


def _inherit(calls: Sequence[Callable[[], Any]], stopped: Event, parent: int) -> None:
    global _calls, _stopped
    _calls, _stopped = calls, stopped
    # So the executor ends what is left of a broken pool; a handler of the parent's is for the parent.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # A terminal that is closed tells all that it had; what ends the parent ends this too.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    _end_with(parent)


def _end_with(parent: int) -> None:
    """Have the kernel kill this process as soon as its parent has ended, however that ended.

    What is called may take hours, and a process that waits for the next call would wait for ever.
    """
    import ctypes

    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl(PR_SET_PDEATHSIG): {os.strerror(number)}")
    if os.getppid() != parent:
        # It has ended before the kernel knew.
        os.kill(os.getpid(), signal.SIGKILL)


def end_if_stopped(_fraction: float = 0.0) -> None:
    """Raise `Interrupted` in a call that nobody waits for any more; for what takes long to call, as progress."""
    if _stopped is not None and _stopped.is_set():
        raise Interrupted("another call ended all")


def _called(place: int, folder: Path) -> Packed:
    from .crossing import pack

    end_if_stopped()
    return pack(_calls[place](), folder)
