"""A run whose result goes into a folder, which appears whole or not at all, and runs without one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..plugins.collection import NOTHING, Plugins
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
    from ..folders.atomic_folder import write_whole
    from ..results.writing import describe_undrawn, fill_result, warn

    results: list[Result] = []
    undrawn: list[Undrawn] = []

    def fill(into: Path) -> None:
        results.append(run())
        undrawn.extend(fill_result(results[0], into, csv=csv, plots=plots))

    write_whole(folder, fill)
    for text in describe_undrawn(undrawn):
        (complain or warn)(text)
    return results[0]


def run_without_folder(
    points: Sequence[Point],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    threads: int = 1,
    plugins: Plugins = NOTHING,
) -> list[Result]:
    """Run the points of a sweep whose results go nowhere but to the caller, without their series."""
    return run_each(points, _without_series, workers=workers, progress=progress, threads=threads, plugins=plugins)


def _without_series(_place: int, result: Result) -> Result:
    return Result(result.summary, result.settings, result.toml, result.purpose, {}, result.captured)
