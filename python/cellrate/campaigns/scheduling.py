"""Points handed to workers in batches, few at a time: memory stays bounded, and workers end at about one time."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import RunError
from .batches import BUSY, Done, Target, call_if_seen, run_batch, sent_call
from .executors import Workers

if TYPE_CHECKING:
    from concurrent.futures import Future

BATCH_S = 0.5
"""How long a batch is to take: long beside what handing it over costs, short beside a run that is worth waiting for."""

MOST = 500
"""Points in a batch at most."""

AHEAD = 2
"""Batches per worker that are handed out: one that runs, and one so that the worker need not wait."""

AGAIN_S = 0.2
"""How often points that another process runs are looked at."""


def run_batches(
    workers: Workers,
    places: Sequence[int],
    sent: Callable[[Sequence[int]], bytes],
    take: Callable[[Done], bool],
    end_waiting: Callable[[int], bool],
) -> None:
    """Have workers run points, in about the order of `places`.

    Parameters
    ----------
    workers
        Who.
    places
        Of the points.
    sent
        Gives points, by their places, as bytes for a worker.
    take
        Told what became of a point; whether it is done.
    end_waiting
        Whether a point that another process had begun is done by now.

    Raises
    ------
    RunError
        If the workers are gone; otherwise what a run raised.
    """
    from concurrent.futures import FIRST_COMPLETED, CancelledError, wait

    todo = deque(places)
    busy: deque[int] = deque()
    size = 1
    under_way: set[Future[Any]] = set()
    last_look = time.monotonic()
    try:
        while todo or under_way or busy:
            slots = workers.slots()
            while todo and len(under_way) < AHEAD * slots:
                fair = -(-len(todo) // (AHEAD * slots))
                some = [todo.popleft() for _ in range(max(1, min(size, fair, len(todo))))]
                under_way.add(workers.submit(run_batch, sent(some)))
            if under_way:
                ended, under_way = wait(under_way, timeout=1.0, return_when=FIRST_COMPLETED)
                for future in ended:
                    done, took_s = _outcome(future, workers, CancelledError)
                    size = _next_size(size, len(done), took_s)
                    busy.extend(one.place for one in done if one.what == BUSY or not take(one))
            elif busy:
                time.sleep(AGAIN_S)
            if busy and time.monotonic() - last_look > AGAIN_S and not todo:
                # Done by whoever had begun them; or not, if that one was killed, and then they are free.
                todo.extend(place for place in busy if not end_waiting(place))
                busy.clear()
                last_look = time.monotonic()
    except BaseException:
        workers.stop()
        raise


def _outcome(future: Future[Any], workers: Workers, cancelled: type[BaseException]) -> Any:
    try:
        return future.result()
    except (Exception, cancelled) as error:
        said = workers.lost(error)
        if said is None:
            raise
        raise RunError(said) from None


def run_each(workers: Workers, target: Target, call: Callable[[Any], Any], things: Iterable[Any]) -> list[Any]:
    """Have workers call a function of a module for each of some things, and give what it returns in their order.

    What a worker was given that does not share the folder is done here, and so is one thing alone.

    Raises
    ------
    RunError
        If the workers are gone; otherwise what a call raised.
    """
    from concurrent.futures import CancelledError

    todo = list(things)
    if len(todo) < 2:
        return [call(thing) for thing in todo]
    under_way: deque[tuple[Any, Future[Any]]] = deque()
    found: list[Any] = []

    def take() -> None:
        thing, future = under_way.popleft()
        told = _outcome(future, workers, CancelledError)
        found.append(call(thing) if told is None else told[0])

    try:
        most = AHEAD * workers.slots()
        for thing in todo:
            under_way.append((thing, workers.submit(call_if_seen, sent_call(target, call, thing))))
            if len(under_way) > most:
                take()
        while under_way:
            take()
    except BaseException:
        workers.stop()
        raise
    return found


def _next_size(size: int, points: int, took_s: float) -> int:
    """Give how many points the next batch has: as many as take long enough, and not much more than the last one."""
    fit = int(BATCH_S * points / max(took_s, 1e-6))
    return max(1, min(fit, 4 * size, MOST))


def chunks(number: int, size: int) -> Iterator[range]:
    """Give ranges of at most `size` places, one after the other."""
    for begin in range(0, number, size):
        yield range(begin, min(begin + size, number))
