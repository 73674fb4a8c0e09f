"""Arrivals as text files: for traffic that a connection replays, and for `cellrate hurst`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import CellrateError
from ..folders.owned import write_file_whole

if TYPE_CHECKING:
    from .arrivals import Arrivals


def write_arrivals(arrivals: Arrivals, file: Path) -> None:
    """Write an instant [s] and the cells that come then in each line, each instant once.

    Raises
    ------
    CellrateError
        If nothing is left to be written, or the file cannot be written.
    """
    if not len(arrivals):
        raise CellrateError("the capture has no data cells")
    rows = (f"{time // 10**9}.{time % 10**9:09d} {cells}\n" for time, cells in arrivals.timed())
    _write(file, ["# instant [s], cells\n", *rows])


def write_counts(arrivals: Arrivals, every_s: float, file: Path) -> None:
    """Write the cells of each interval, a line each.

    Raises
    ------
    CellrateError
        If nothing is left to be written, or the file cannot be written.
    """
    counts = arrivals.counts(every_s)
    _write(file, [f"# cells in each {every_s:g} s\n", *(f"{count}\n" for count in counts)])


def _write(file: Path, rows: Iterable[str]) -> None:
    try:
        write_file_whole(file, rows)
    except OSError as error:
        raise CellrateError(f"{file} cannot be written: {error.strerror}") from None
