"""Sweeps back from the folders that they were run into."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import CellrateError
from ..folders.replaceable import CAMPAIGN, RESULTS, of_a_run
from ..results import Result
from ..results.reading import read_run, runs_in, summary_in
from ..sweeps.settings import FOLDER
from .manifest import Manifest
from .sweep import Runs, Sweep


def load_sweep(folder: str | Path) -> Sweep:
    """Read the results of a sweep, or those of repeated live runs, in the order in which they were run.

    Each is read when it is asked for. Of a sweep that still runs, or was interrupted, there are the points that are
    done.

    Parameters
    ----------
    folder
        Where `cellrate run --out` put them; of a single run it gives that one.

    Raises
    ------
    CellrateError
        If there are none; where one of them is not whole, when it is read, said with the file.
    """
    place = Path(folder)
    if (place / CAMPAIGN).is_file():
        return Sweep.of_campaign(place)
    summary = summary_in(place)
    if of_a_run(summary):
        return Sweep(place, [{}], lambda _: read_run(place, summary, {}))
    points = runs_in(place, summary)

    def read(number: int) -> Result:
        point, settings, said = points[number]
        found = summary_in(point)
        if found != said:
            raise CellrateError(f"{point / RESULTS} is not what {place / RESULTS} says of it; one of them was changed")
        return read_run(point, found, settings)

    return Sweep(place, [settings for _, settings, _ in points], read)


def load_together(folders: Sequence[Path]) -> Runs | Sweep:
    """Read the results in one folder, or in several: each then has the key "result" with the name of its folder.

    Raises
    ------
    CellrateError
        As `load_sweep`; if a folder is given twice.
    """
    if len(folders) == 1:
        return load_sweep(folders[0])
    places = [folder.resolve() for folder in folders]
    if len(set(places)) < len(places):
        twice = next(folder for folder, place in zip(folders, places, strict=True) if places.count(place) > 1)
        raise CellrateError(f"{twice} is given twice; give each folder of results once")
    short = [place.name for place in places]
    together = Runs()
    for folder, name in zip(folders, short, strict=True):
        sweep = load_sweep(folder)
        together.missing = [*together.missing, *sweep.missing]
        named = name if short.count(name) == 1 else str(folder)
        for result in sweep:
            result.settings = {FOLDER: named, **result.settings}
            together.append(result)
    return together


def folders_of(folder: Path) -> list[Path]:
    """Give the folder of each run whose results are in `folder`: itself, or those of points of a sweep or of live runs.

    Raises
    ------
    CellrateError
        If no results are there.
    """
    if (folder / CAMPAIGN).is_file():
        return [folder / entry.folder for entry in Manifest.read(folder).points if (folder / entry.folder).is_dir()]
    summary = summary_in(folder)
    return [folder] if of_a_run(summary) else [place for place, _, _ in runs_in(folder, summary)]
