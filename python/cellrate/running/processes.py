"""Functions called side by side, in processes that are started for them."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import CellrateError, Interrupted, RunError

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future
    from multiprocessing.process import BaseProcess
    from multiprocessing.synchronize import Event

    from loky import ProcessPoolExecutor

    from .shared_memory import Packed

Outcome = TypeVar("Outcome")

_PR_SET_PDEATHSIG = 1
"""Constant of linux/prctl.h."""


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

    The functions may be of any kind that cloudpickle takes, as closures are; what they return or raise must be
    picklable.

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
        `end_if_stopped` meanwhile end. A call that has not ended within `END_S` is killed.
    """
    workers = number_of_workers(workers, len(calls))
    if workers <= 1:
        outcomes = []
        for call in calls:
            outcomes.append(call())
            if progress is not None:
                progress(len(outcomes) / len(calls))
        return outcomes
    from concurrent.futures import as_completed
    from concurrent.futures.process import BrokenProcessPool

    from .shared_memory import shared_folder, unpack

    with shared_folder() as folder, processes(workers) as (executor, stop):
        futures = {executor.submit(_called, call, folder): place for place, call in enumerate(calls)}
        returned: dict[int, Outcome] = {}
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                returned[futures[future]] = unpack(future.result())
                if progress is not None:
                    progress(done / len(futures))
        except BaseException as error:
            stop()
            # And waited for: whoever is told of the error may remove what calls work on.
            executor.shutdown()
            if isinstance(error, BrokenProcessPool):
                raise RunError(why_broken(error)) from None
            raise
    return [returned[place] for place in range(len(calls))]


@contextlib.contextmanager
def processes(workers: int) -> Iterator[tuple[Executor, Callable[[], None]]]:
    """Have processes for calls, which end with this one however that ends, and what has their calls end.

    They are started anew, not forked: a process with threads may not be. Scripts need no
    `if __name__ == "__main__"`, since what they define crosses over by value.
    """
    from concurrent.futures import Executor

    from loky import ProcessPoolExecutor
    from loky.backend import get_context

    _track_apart()
    context = get_context("loky")
    stopped = context.Event()
    executor = ProcessPoolExecutor(workers, context=context, initializer=_begin, initargs=(stopped, os.getpid()))
    futures: set[Future[Any]] = set()

    def stop() -> None:
        stopped.set()
        for future in list(futures):
            future.cancel()

    class Watched(Executor):
        """The executor, with the processes that it starts deaf to Ctrl-C, which is for the one that waits for them."""

        def submit(self, call: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
            with _deaf_to_interrupts():
                future: Future[Any] = executor.submit(call, *arguments, **named)
            futures.add(future)
            future.add_done_callback(futures.discard)
            return future

        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            _end(executor)

    try:
        yield Watched(), stop
    except BaseException:
        stop()
        raise
    finally:
        _end(executor)


def _end(executor: ProcessPoolExecutor) -> None:
    """End an executor with its processes; those that are still there after some time, or at an interrupt, are killed.

    Code of the user's own may never return, or leave a thread for which its process would wait.
    """
    # Loky forgets each of them as it begins to wait for it.
    started = list((executor._processes or {}).values())
    timer = threading.Timer(END_S, _kill, [started])
    timer.daemon = True
    timer.start()
    try:
        executor.shutdown(wait=True)
    except BaseException:
        _kill(started)
        raise
    finally:
        timer.cancel()


def _kill(started: Sequence[BaseProcess]) -> None:
    """Kill processes, with all that they have started."""
    from loky.backend.utils import kill_process_tree

    for process in started:
        with contextlib.suppress(OSError, ValueError):
            if process.is_alive():
                kill_process_tree(process)


END_S = 10.0
"""How long processes may take to end once nothing is waited for any more: a run ends within milliseconds [s]."""


def _track_apart() -> None:
    """Have loky's tracker of semaphores in a session of its own, and without a terminal, unless it is there already.

    It removes the names of semaphores once all processes that have them are gone. Whatever ends the group of this
    process at once must leave it alive for that, and what it says of those who were killed is not for people. Loky
    starts another one where it has been killed, in the process that notices, and that one knows no names.
    """
    if sys.platform == "win32":
        return
    from loky.backend import resource_tracker

    resource_tracker.spawnv_passfds = _spawned_apart
    resource_tracker.ensure_running()


def _spawned_apart(program: str, words: Sequence[str], descriptors: Sequence[int]) -> tuple[int, None]:
    """Start a process as loky does, with the last of some descriptors, which is the pipe that it reads."""
    # Where there is no such call nothing gets here; it is also said so that types of Windows can be checked.
    if sys.platform == "win32":
        raise OSError("there is no posix_spawn on Windows")
    pipe = descriptors[-1]
    nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0o666) for number in range(3) if number != pipe]
    os.set_inheritable(pipe, True)
    try:
        return os.posix_spawn(program, tuple(words), os.environ, file_actions=nowhere, setsid=True), None
    finally:
        os.set_inheritable(pipe, False)


@contextlib.contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Have processes that are started meanwhile deaf to Ctrl-C; Windows has none, and they are once they have begun."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_stopped: Event | None = None
"""In a process started for calls: whether all is over. Calls that are handed out already can no longer be cancelled."""


def _begin(stopped: Event, parent: int) -> None:
    global _stopped
    _stopped = stopped
    _track_apart()
    # The parent's stdout is for what it prints, JSON perhaps; what is called says its own on stderr.
    os.dup2(2, 1)
    # So the executor ends what is left of a broken pool; a handler of the parent's is for the parent.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A terminal that is closed tells all that it had; what ends the parent ends this too.
    if sys.platform == "win32":
        signal.signal(signal.SIGBREAK, signal.SIG_IGN)
    else:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    _end_with(parent)


def _end_with(parent: int) -> None:
    """Have this process killed as soon as its parent has ended, however that ended: by Linux, elsewhere by a thread.

    What is called may take hours, and a process that waits for the next call would wait for ever.
    """
    if sys.platform != "linux":
        threading.Thread(target=_watch, args=(parent,), name="end with parent", daemon=True).start()
        return
    import ctypes

    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl(PR_SET_PDEATHSIG): {os.strerror(number)}")
    if os.getppid() != parent:
        # It has ended before the kernel knew.
        os.kill(os.getpid(), signal.SIGKILL)


def _watch(parent: int) -> None:
    """Wait for the end of this process's parent, and end this process at once."""
    if sys.platform == "win32":
        import multiprocessing

        process = multiprocessing.parent_process()
        if process is None:
            return
        process.join()
    else:
        while os.getppid() == parent:
            time.sleep(LOOK_S)
    os._exit(1)


LOOK_S = 1.0
"""How often a process looks whether its parent is still there, where no system says so [s]."""


def why_broken(error: BaseException) -> str:
    """Say why processes are gone: one was killed, or could not read what it was given."""
    if "un-serialize" in str(error):
        lines = str(error.__cause__ or "").strip().strip("\"'").splitlines()
        return f"a process cannot read what it is to call: {lines[-1].strip() if lines else error}"
    return "a process of several that worked side by side was killed; if memory was short, give fewer workers"


def end_if_stopped(_fraction: float = 0.0) -> None:
    """Raise `Interrupted` in a call that is not waited for any more; for what takes long to call, as progress."""
    if _stopped is not None and _stopped.is_set():
        raise Interrupted("another call ended all")


def _called(call: Callable[[], Any], folder: Path) -> Packed:
    from .shared_memory import pack

    end_if_stopped()
    return pack(call(), folder)
