"""Work of a worker: the points of a batch, one after the other, each written whole by who ran it.

A batch crosses over as bytes: in front what both sides run with, which is compared before anything else is read.
"""

from __future__ import annotations

import json
import os
import pickle
import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CellrateError, Interrupted, RunError, at_point
from ..folders.inventory import Inventory
from ..folders.owned import area_of, remove_area_if_left
from ..folders.within import within
from ..plugins.by_value import pickled
from ..results import Result
from ..running.points import How, run_point
from ..scenario import Scenario
from .builds import check_alike, facts
from .manifest import Entry
from .store import Claims, is_whole, naming, put

if TYPE_CHECKING:
    from ..results.writing import Undrawn

TIMES = ("set_up_s", "wall_s", "cell_hops_per_s")
"""Keys of "run" that two runs of one scenario do not have in common."""

DONE, BUSY, BACK = "done", "busy", "back"
"""Outcomes of a point: it is in the folder, another process runs it just now, its result is sent back."""


@dataclass(frozen=True)
class Target:
    """Where results go, and what is to be there of each."""

    folder: Path
    token: str
    """The name of a file beside the folder: who does not see it does not share the folder."""
    csv: bool = False
    plots: bool = False

    def is_seen(self) -> bool:
        """Whether this process has the same folder, and may write there."""
        return os.access(area_of(self.folder) / self.token, os.F_OK) and os.access(self.folder, os.W_OK)


@dataclass(frozen=True)
class Item:
    """A point to run."""

    place: int
    entry: Entry
    toml: str
    """Text of the scenario, which many points have in common whose seeds alone differ."""
    file: str
    seed: int | None
    """The seed that it is given, unless it is in the text."""


@dataclass(frozen=True)
class Batch:
    """Points that a worker runs without asking in between."""

    target: Target
    how: How
    items: Sequence[Item]


@dataclass(frozen=True)
class Done:
    """Outcome of a point."""

    place: int
    what: str
    undrawn: tuple[Undrawn, ...] = ()
    result: Result | None = None


def sent(batch: Batch, *, afar: bool) -> bytes:
    """Give a batch as bytes for a worker, which may be on another machine."""
    return _headed(pickled(batch, batch.how.plugins, afar=afar))


def sent_call(target: Target, call: Callable[[Any], Any], thing: Any) -> bytes:
    """Give a call of a module's function as bytes for `call_if_seen`."""
    return _headed(pickle.dumps((target, call, thing)))


def _headed(pickle_of_it: bytes) -> bytes:
    """Put in front of a pickle what a worker has to be like to read it."""
    head = json.dumps(facts()).encode()
    return len(head).to_bytes(4, "big") + head + pickle_of_it


def _checked(given: bytes) -> bytes:
    """Give the pickle behind the head that `_headed` wrote in the client, if this process is what that asks for."""
    end = 4 + int.from_bytes(given[:4], "big")
    check_alike(json.loads(given[4:end]), facts(), f"{socket.gethostname()}, process {os.getpid()}")
    return given[end:]


def run_batch(given: bytes) -> tuple[list[Done], float]:
    """Run a batch that `sent` has made; give what became of its points, and how long it took [s].

    Raises
    ------
    CellrateError
        If this process would not give the same results; otherwise what a run raises.
    """
    begun = time.perf_counter()
    batch: Batch = pickle.loads(_checked(given))
    claims = Claims(batch.target.folder) if batch.target.is_seen() else None
    end_if_cancelled = _look_for_cancelling()
    done = []
    try:
        for item in batch.items:
            end_if_cancelled(0.0)
            with at_point(item.place, item.entry.set):
                done.append(_run_or_store(item, batch, claims, end_if_cancelled))
    except Interrupted:
        # Whoever asked for it may have gone: then no other process removes what is left beside the folder.
        if claims is not None:
            remove_area_if_left(batch.target.folder)
        # A keyboard interrupt in a task would end the worker that runs it.
        raise RunError("the batch was cancelled") from None
    finally:
        if claims is not None:
            claims.close()
    return done, time.perf_counter() - begun


def call_if_seen(given: bytes) -> tuple[Any] | None:
    """Make the call of `sent_call`, and give what it returns, as one of a tuple; None without the folder.

    Raises
    ------
    CellrateError
        If this process would not give the same results; otherwise what the call raises.
    """
    target, call, thing = pickle.loads(_checked(given))
    return (call(thing),) if target.is_seen() else None


def work_here(item: Item, target: Target, how: How, claims: Claims, progress: Callable[[float], object] | None) -> Done:
    """Run a point in the process that asks for it."""
    with at_point(item.place, item.entry.set):
        return store(item, target, claims, lambda: _run(item, how, progress))


def _run_or_store(item: Item, batch: Batch, claims: Claims | None, progress: Callable[[float], object]) -> Done:
    """Run a point and put its result into the folder; without one that this process shares, give it back."""
    if claims is None:
        return Done(item.place, BACK, result=_run(item, batch.how, progress))
    return store(item, batch.target, claims, lambda: _run(item, batch.how, progress))


def _run(item: Item, how: How, progress: Callable[[float], object] | None) -> Result:
    scenario = _parsed(item.toml, item.file)
    if item.seed is not None:
        scenario = scenario.with_seed(item.seed)
    if scenario.hash != item.entry.hash:
        raise CellrateError(f"{item.file}: the scenario does not have its hash any more; please report this")
    return run_point(scenario, item.entry.set, how, progress)


@lru_cache(maxsize=1)
def _parsed(toml: str, file: str) -> Scenario:
    """Parse a scenario, which may be that of the point before."""
    return Scenario.parse(toml, file=file)


def store(item: Item, target: Target, claims: Claims, run: Callable[[], Result]) -> Done:
    """Have a point in the folder, unless it is there or another process is at it, and with it all that is asked for."""
    from ..results.reading import read_point
    from ..results.writing import fill_result, renamed

    there = target.folder / item.entry.folder
    with naming(there), claims.claimed(item.entry) as place:
        if place is None:
            return Done(item.place, BUSY)
        if not is_whole(there, item.entry.key):
            result = without_times(run())
            undrawn = fill_result(result, place, csv=target.csv, plots=target.plots, compact=True)
            Inventory.taken(place, item.entry.key).write(place)
            put(place, target.folder, item.entry)
        elif lacks(there, target):
            stored = read_point(there, item.entry.hash, item.entry.set)
            undrawn = fill_result(stored, place, csv=target.csv, plots=target.plots, compact=True)
            for file in [file for file in place.rglob("*") if file.is_file()]:
                more = within(there, *file.relative_to(place).parts)
                if not more.exists():
                    file.replace(more)
            Inventory.taken(there, item.entry.key).write(there, place)
        else:
            undrawn = []
        return Done(item.place, DONE, tuple(renamed(undrawn, item.entry.folder)))


def lacks(point: Path, target: Target) -> bool:
    """Whether a point that is there has no plots or tables, and should."""
    if not (target.csv or target.plots):
        return False
    # Files that came in and were not listed before a process was killed are made again.
    inventory = Inventory.read(point)
    there = inventory.files if inventory is not None else ()
    if target.csv and not any(name.endswith(".csv") for name in there):
        return True
    return target.plots and any(name.startswith("series/") for name in there) and "plot.png" not in there


def without_times(result: Result) -> Result:
    """Take from a result what differs each time: how long it took."""
    for key in TIMES:
        result.run.pop(key, None)
    return result


def _look_for_cancelling() -> Callable[[float], object]:
    """Give what raises `Interrupted` once this batch is not waited for any more."""
    from ..running.processes import end_if_stopped

    # Where a worker of Dask runs this, it has been imported, and takes long to import elsewhere.
    distributed = sys.modules.get("distributed")
    try:
        worker = distributed.get_worker() if distributed is not None else None
    except ValueError:
        worker = None
    if worker is None:
        return end_if_stopped
    key = worker.get_current_task()

    def end_if_cancelled(_fraction: float) -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled" or worker.status.name in ("closing", "closed", "failed"):
            raise Interrupted("cancelled")

    return end_if_cancelled
