"""Live runs back from the folders that they were written into."""

from __future__ import annotations

from pathlib import Path

from ..errors import CellrateError
from ..folders.replaceable import of_a_live_run
from ..results import Result
from ..results.reading import load, summary_in
from .supervision import LiveRun


def load_live(folder: str | Path) -> LiveRun:
    """Read a live run back from its folder (`cellrate live run --out`, `live_run(folder=...)`).

    Of the last attempt it has all that there was; of earlier ones, which were out of time, the summary.

    Parameters
    ----------
    folder
        Where the run is.

    Raises
    ------
    CellrateError
        If there is none, or it is not whole; said with the file.
    """
    place = Path(folder)
    last = load(place)
    if not of_a_live_run(last.summary):
        raise CellrateError(f"{place} has the result of a simulation; cellrate.load gives it")
    number = sum(1 for entry in place.glob("attempt-*") if entry.is_dir())
    earlier = [
        Result(summary_in(place / f"attempt-{attempt}"), last.settings, last.toml, last.purpose, {})
        for attempt in range(1, number)
    ]
    return LiveRun([*earlier, last])
