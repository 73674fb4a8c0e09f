"""Runs whose results go into a folder, which appears whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..extensions.custom import NOTHING, Custom
from ..results import Result
from .points import Point, Progress, run_each

if TYPE_CHECKING:
    from ..results.writing import Undrawn


def run_into(
    folder: Path | None,
    run: Callable[[], Result],
    *,
    csv: bool = False,
    plots: bool = False,
    complain: Callable[[str], object] | None = None,
) -> Result:
    """Do a run whose result goes into a folder, which appears whole or not at all. Without a folder nothing is written.

    A plot that cannot be drawn is left out: `complain` is told, or a warning is given.

    Raises
    ------
    CellrateError
        If the folder holds something else, or cannot be made; said before anything runs.
    RunError
        If it has changed meanwhile; the result is then beside it.
    """
    if folder is None:
        return run()
    from ..results.whole import write_whole
    from ..results.writing import fill_result, told, warn

    results: list[Result] = []
    undrawn: list[Undrawn] = []

    def fill(into: Path) -> None:
        results.append(run())
        undrawn.extend(fill_result(results[0], into, csv=csv, plots=plots))

    write_whole(folder, fill)
    for text in told(undrawn):
        (complain or warn)(text)
    return results[0]


def sweep_into(
    folder: Path | None,
    points: Iterable[Point],
    *,
    csv: bool = False,
    plots: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    threads: int = 1,
    custom: Custom = NOTHING,
    complain: Callable[[str], object] | None = None,
) -> list[Result]:
    """Run the points of a sweep into a folder, which appears whole or not at all: summary.json, and a folder per point.

    With `csv` the rows of all points are there as tables, with `plots` over what was varied as a picture.

    A point is written by the process that ran it: of two processes neither waits while the other's results are written,
    and series stay where they are. The results given back are without them. Without a folder nothing is written.
    Pictures that cannot be drawn are left out: `complain` is told, or a warning is given.

    Raises
    ------
    CellrateError, RunError
        As `run_into`.
    """
    if folder is None:
        return run_each(points, _without_series, workers=workers, progress=progress, threads=threads, custom=custom)
    from ..results.whole import write_whole
    from ..results.writing import fill_summary, told, warn

    results: list[Result] = []
    undrawn: list[Undrawn] = []

    def fill(into: Path) -> None:
        write = partial(_write_point, into, csv=csv, plots=plots)
        for result, not_drawn in run_each(
            points, write, workers=workers, progress=progress, threads=threads, custom=custom
        ):
            results.append(result)
            undrawn.extend(not_drawn)
        undrawn.extend(fill_summary(results, into, csv=csv, plots=plots))

    write_whole(folder, fill)
    for text in told(undrawn):
        (complain or warn)(text)
    return results


def _without_series(_place: int, result: Result) -> Result:
    return Result(result.summary, result.set, result.toml, result.purpose, {}, result.captured)


def _write_point(folder: Path, place: int, result: Result, *, csv: bool, plots: bool) -> tuple[Result, list[Undrawn]]:
    from ..results.writing import fill_point

    undrawn = fill_point(folder, place, result, csv=csv, plots=plots)
    return _without_series(place, result), undrawn
