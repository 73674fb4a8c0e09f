"""Points run side by side: scenarios, each with the settings that say which point of a sweep it is."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from .. import _native
from ..errors import CellrateError, at_point, with_own_lines
from ..plugins.by_value import ByValue
from ..plugins.collection import NOTHING, Plugins
from ..results import Result
from ..scenario import Scenario
from ..wireshark.capture import Capture
from .processes import Outcome, end_if_stopped, number_of_workers, side_by_side

Progress = Callable[[float], object]
Point = tuple[Scenario, Mapping[str, str]]
"""Scenario to run, and the settings that say which point of a sweep it is."""


def run_many(
    points: Iterable[Point],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    threads: int = 1,
    plugins: Plugins = NOTHING,
) -> list[Result]:
    """Run scenarios side by side, each on so many threads.

    The results come in the order of `points`, each with its settings.
    """
    return run_each(points, _whole, workers=workers, progress=progress, threads=threads, plugins=plugins)


def run_each(
    points: Iterable[Point],
    finish: Callable[[int, Result], Outcome],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    threads: int = 1,
    plugins: Plugins = NOTHING,
) -> list[Outcome]:
    """Run scenarios side by side, and give what `finish` makes of each result, in the order of `points`.

    `finish` gets the place of the point, counted from 0, and its result, in the process that ran it: only what it gives
    back crosses over. The rest is as for `run_many`.

    Raises
    ------
    RunError
        If one of the processes was killed; otherwise what a run or `finish` raised.
    """
    check_threads(threads)
    todo = list(points)
    plugins.check([scenario for scenario, _ in todo])
    how = How(threads, plugins)
    if number_of_workers(workers, len(todo)) <= 1:
        return [
            _run_and_finish(finish, place, point, how, _part(progress, place, len(todo)))
            for place, point in enumerate(todo)
        ]
    # The longest first, as far as network time tells: the last to end should not have been the last to begin.
    order = sorted(range(len(todo)), key=lambda place: -todo[place][0].duration_s)
    sent: Any = ByValue(how, plugins) if plugins.all() else how
    calls = [partial(_run_and_finish, finish, place, todo[place], sent, end_if_stopped) for place in order]
    outcomes = dict(zip(order, side_by_side(calls, workers=workers, progress=progress), strict=True))
    return [outcomes[place] for place in range(len(todo))]


def check_threads(threads: int) -> None:
    """Refuse a number of threads that is none."""
    if threads < 1:
        raise CellrateError(f"threads is {threads}; it must be at least 1")


@dataclass(frozen=True)
class How:
    """Options of a run beside its scenario."""

    threads: int = 1
    plugins: Plugins = NOTHING


def run_point(
    scenario: Scenario,
    settings: Mapping[str, str],
    how: How,
    progress: Progress | None = None,
    capture: Capture | None = None,
) -> Result:
    """Run a scenario that is not a sweep."""
    begun, process = time.perf_counter(), os.getpid()
    try:
        with with_own_lines():
            native = _native.run(
                scenario._native,
                progress,
                how.threads,
                None if capture is None else capture._native(),
                how.plugins.makers(),
            )
    finally:
        if os.getpid() != process:
            # A plugin has forked, and this is the copy: the results are for the process that was asked for them.
            os._exit(0)
    wall_s = time.perf_counter() - begun
    return Result._from_native(native, scenario, dict(settings), wall_s, how.plugins)


def _run_and_finish(
    finish: Callable[[int, Result], Outcome],
    place: int,
    point: Point,
    how: How,
    progress: Progress | None = None,
) -> Outcome:
    scenario, settings = point
    with at_point(place, settings):
        result = run_point(scenario, settings, how, progress)
    return finish(place, result)


def _whole(_place: int, result: Result) -> Result:
    return result


def _part(progress: Progress | None, done: int, total: int) -> Progress | None:
    if progress is None:
        return None
    return lambda fraction: progress((done + fraction) / total)
