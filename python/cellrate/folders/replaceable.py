"""Folders for results: which one is taken when none is given, and which may be replaced.

A folder is replaced only if cellrate wrote everything in it, and as long as no other process changes it.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CellrateError, ScenarioError
from ..plain_files import plain_octets
from .inventory import INVENTORY, Inventory
from .stored_json import stored_json

if TYPE_CHECKING:
    from ..scenario import Scenario

RESULTS = "summary.json"
"""The file that tells a folder of results from any other."""

DELAYS = "delays.parquet"
"""The file with the distributions of delays of a run."""

COMPLETION_TIMES = "completion_times.parquet"
"""The file with the distributions of completion times of a run's flows of a size."""

PICTURES = {name + end for name in ("plot", "delays", "completion_times") for end in (".png", ".svg")}
"""Files of pictures of a run."""

CAMPAIGN = "campaign.json"
"""The file that tells the folder of a campaign from any other."""

ARENA = ("arena.json", "report.html")
"""The cards of an arena and its report, in the folder of its campaign."""

REPORT = "report.json"
"""The file that tells a folder with the report on a paper from any other."""

TOOK = "took.json"
"""The file beside a report that says how many runs it has and what they took: apart, because the report does not
depend on it."""

State = Mapping[str, tuple[int, ...]]
"""Contents of a folder, by path below it, as far as it shows that something became another, or has been written to."""

Strangers = Iterator[Path]
"""Files that cellrate does not write."""


def plain_name(scenario: Scenario) -> str:
    """Give the name of a scenario, which is to name a file or a folder.

    Raises
    ------
    ScenarioError
        If it would lead elsewhere, or could not be seen.
    """
    name = scenario.name
    if not name or name.startswith(".") or "/" in name or not name.isprintable():
        raise ScenarioError(
            f"{scenario.file}: name = {json.dumps(name)} cannot name a folder or a file, as it does without --out; "
            "give --out, or a name that is not empty, begins with no dot, and has no / and no control characters",
            file=scenario.file,
            key="name",
        )
    return name


def check_apart(out: Path | None, capture: Path | None) -> None:
    """Refuse a capture in the folder of results, which is replaced when the run has ended.

    Raises
    ------
    CellrateError
        If it is there.
    """
    if out is not None and capture is not None and capture.resolve().is_relative_to(out.resolve()):
        raise CellrateError(
            f"--capture {capture} is in --out {out}, which is replaced by the results; give a folder outside of it"
        )


def replaceable(folder: Path, mark: str = RESULTS) -> tuple[Path, State | None]:
    """Give the folder that `folder` is, links followed, and its state, None if it is not there.

    Raises
    ------
    CellrateError
        As `check_replaceable`.
    """
    found = check_replaceable(folder, mark)
    try:
        return found, state(found) if found.exists() else None
    except OSError as error:
        raise CellrateError(f"no folder can be made at {folder}: {error.strerror}") from None


def check_replaceable(folder: Path, mark: str = RESULTS) -> Path:
    """Give the folder that `folder` is, links followed.

    Raises
    ------
    CellrateError
        If it is a file, or holds anything but results (or a report, with that as `mark`); if it cannot be looked at.
    """
    try:
        found = folder.resolve()
        if not found.exists():
            return found
        if not found.is_dir():
            raise CellrateError(f"{folder} is a file; results need a folder")
        first = next(found.iterdir(), None)
        marked = (found / mark).is_file() or (mark == RESULTS and is_campaign(found))
        if first is not None and not marked:
            raise CellrateError(
                f"{folder} is not empty and holds no results ({mark}), but {min(found.iterdir()).name}; "
                "give another folder"
            )
        stranger = None if first is None else next(_strangers(found, mark), None)
        if stranger is not None:
            raise CellrateError(
                f"{folder} holds {stranger.relative_to(found)}, which is nothing that cellrate has written there; "
                "give another folder, or move that elsewhere: earlier results are replaced with all that is beside them"
            )
        return found
    except (OSError, RuntimeError) as error:
        # Until Python 3.13 a loop of links is a RuntimeError.
        said = error.strerror if isinstance(error, OSError) else error
        raise CellrateError(f"no folder can be made at {folder}: {said}") from None


def is_campaign(folder: Path) -> bool:
    """Whether this is the folder of a campaign: it has the manifest, or points whose inventories say so without it."""
    return (folder / CAMPAIGN).is_file() or _has_points(folder)


def _has_points(folder: Path) -> bool:
    return any(Inventory.read(point) is not None for point in folder.glob("point-*"))


def state(folder: Path) -> State | None:
    """Give the state of a folder, None if there is nothing."""
    try:
        found = {"": _identity(folder)}
    except FileNotFoundError:
        return None
    for below, folders, files in os.walk(folder):
        for name in folders + files:
            entry = Path(below) / name
            found[str(entry.relative_to(folder))] = _identity(entry)
    return found


def changed(before: State | None, now: State | None) -> str | None:
    """Say what is not as it was; None if nothing is."""
    if before == now:
        return None
    before, now = before or {}, now or {}
    paths = sorted(path for path in {*before, *now} if before.get(path) != now.get(path))
    return next(filter(None, paths), "the folder itself")


def _identity(entry: Path) -> tuple[int, ...]:
    found = entry.lstat()
    if stat.S_ISDIR(found.st_mode):
        return found.st_dev, found.st_ino
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _strangers(folder: Path, mark: str) -> Strangers:
    return _of_report(folder) if mark == REPORT else _of_results(folder)


def _of_report(folder: Path) -> Strangers:
    if {"paper", "claims"} <= set(_content(folder / REPORT)):
        yield from _others(folder, {REPORT, TOOK, "report.html"}, {"figures": _of_figures})
    else:
        yield folder / REPORT


def _of_figures(folder: Path) -> Strangers:
    """Every figure is there as PNG and as SVG."""
    names = [{entry.stem for entry in folder.glob(f"*{end}")} for end in (".png", ".svg")]
    yield from _others(folder, {name + end for name in names[0] & names[1] for end in (".png", ".svg")}, {})


def _of_results(folder: Path) -> Strangers:
    """Look at a run, a campaign, the points of a sweep of earlier versions, or repeated live runs."""
    if is_campaign(folder):
        yield from _of_campaign(folder)
        return
    content = _content(folder / RESULTS)
    if of_a_run(content):
        files = {"scenario.toml", *PICTURES, *_tables(content)}
        if (folder / DELAYS).is_file() and _says(folder / DELAYS, "delays", content["run"]["hash"]):
            files |= {DELAYS, "delays.csv"}
        times = folder / COMPLETION_TIMES
        if times.is_file() and _says(times, "completion_times", content["run"]["hash"]):
            files |= {COMPLETION_TIMES, "completion_times.csv"}
        yield from _others(
            folder,
            {RESULTS, INVENTORY, *files} if Inventory.read(folder) else {RESULTS, *files},
            {
                "series": lambda series: _of_series(series, content["run"]["hash"]),
                r"attempt-\d+": _of_attempt,
            },
        )
    elif of_runs(content.get("points")):
        tables = _tables(content["points"][0])
        yield from _others(folder, {RESULTS, "sweep.png", "sweep.svg", *tables}, {r"point-\d{3,}": _of_results})
    elif of_runs(content.get("runs")):
        yield from _others(folder, {RESULTS}, {r"run-\d{3,}": _of_results})
    else:
        yield folder / RESULTS


def _of_campaign(folder: Path) -> Strangers:
    manifest = folder / CAMPAIGN
    # A manifest that is damaged is written anew, where points say that it is a campaign, or there is nothing to lose.
    is_empty = manifest.is_file() and not manifest.stat().st_size
    if "campaign" in _content(manifest) or is_empty or _has_points(folder):
        tables = _tables_of_campaign(folder)
        files = {CAMPAIGN, RESULTS, INVENTORY, "sweep.png", "sweep.svg", *ARENA}
        files |= {name + end for name in tables for end in (".parquet", ".csv")}
        kept = {r"[0-9a-f]{24}": _of_point, "before": lambda _: iter(())}
        yield from _others(
            folder,
            files,
            {r"point-\d{3,}": _of_point, "earlier": lambda earlier: _others(earlier, set(), kept)},
        )
    else:
        yield folder / CAMPAIGN


def _tables_of_campaign(folder: Path) -> set[str]:
    """Give the names of tables of a campaign, without their endings: known by what they say, else by their points."""
    files = [entry for entry in folder.glob("*.parquet") if entry.is_file()]
    tables = {entry.stem for entry in files if _says(entry, "cellrate", "campaign")}
    names = {entry.stem for entry in folder.iterdir() if entry.suffix in (".parquet", ".csv")}
    if not names <= tables:
        # Those that are damaged no longer say it, or are gone beside their CSV.
        inventory = Inventory.read(folder)
        tables |= {name.partition(".")[0] for name in (inventory.files if inventory is not None else ())}
        for point in folder.glob("point-*"):
            summary = _content(point / RESULTS)
            if of_a_run(summary):
                tables |= {kind for kind, rows in summary.items() if kind == "run" or isinstance(rows, list)}
                break
    return tables


def _of_point(folder: Path) -> Strangers:
    """Look at names only, since a point that is damaged is run again."""
    content = _content(folder / RESULTS)
    tables = _tables(content) if of_a_run(content) else {entry.name for entry in folder.glob("*.csv")}
    distributions = {DELAYS, "delays.csv", COMPLETION_TIMES, "completion_times.csv"}
    files = {RESULTS, INVENTORY, "scenario.toml", *distributions, *PICTURES, *tables}
    yield from _others(folder, files, {"series": _named_as_series})


def _named_as_series(series: Path) -> Strangers:
    return (
        entry
        for entry in series.iterdir()
        if entry.suffix not in (".parquet", ".csv") or not entry.is_file() or entry.is_symlink()
    )


def _of_attempt(folder: Path) -> Strangers:
    """Give the files that programs of a live run leave: they may have any name."""
    if of_a_run(_content(folder / RESULTS)):
        yield from _others(folder, {RESULTS}, {"applications|nodes": lambda _: iter(())})
    else:
        yield folder


def _of_series(folder: Path, hash: str) -> Strangers:
    """A table says which probe and which scenario it is of; beside it, it may stand as CSV too."""
    own = {entry.stem for entry in folder.glob("*.parquet") if _says(entry, entry.stem, hash)}
    yield from _others(folder, {name + end for name in own for end in (".parquet", ".csv")}, {})


def _says(table: Path, *texts: str) -> bool:
    """Whether the metadata of a Parquet file have texts in them: they are at its end, before their length and a word.

    Arrow, which can read them, takes longer to import than a short run.
    """
    with table.open("rb") as file:
        if file.seek(0, os.SEEK_END) < 8:
            return False
        file.seek(-8, os.SEEK_END)
        length, word = int.from_bytes(file.read(4), "little"), file.read(4)
        if word != b"PAR1" or length + 8 > file.tell():
            return False
        file.seek(-8 - length, os.SEEK_END)
        metadata = file.read(length)
    return all(text.encode() in metadata for text in texts)


def _others(folder: Path, files: set[str], folders: Mapping[str, Callable[[Path], Strangers]]) -> Strangers:
    """Give what is none of these files, and in none of these folders, whose names are expressions; links never are."""
    for entry in sorted(folder.iterdir()):
        look = next((look for name, look in folders.items() if re.fullmatch(name, entry.name)), None)
        if look is not None and entry.is_dir() and not entry.is_symlink():
            yield from look(entry)
        elif entry.name not in files or entry.is_symlink() or not entry.is_file():
            yield entry


def _content(file: Path) -> dict[str, Any]:
    """Give what a JSON file holds; nothing if it is none, or not there."""
    try:
        content = stored_json(plain_octets(file))
    except (FileNotFoundError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def of_a_run(content: object) -> bool:
    """Whether this is the summary of a run."""
    run = content.get("run") if isinstance(content, dict) else None
    return isinstance(run, dict) and all(isinstance(run.get(key), str) for key in ("scenario", "hash", "version"))


def of_a_live_run(summary: Mapping[str, Any]) -> bool:
    """Whether the run was a live one, which has a verdict on its timing."""
    return "timing" in summary


def of_runs(content: object) -> bool:
    """Whether these are summaries of runs."""
    return isinstance(content, list) and bool(content) and all(map(of_a_run, content))


def _tables(summary: dict[str, Any]) -> set[str]:
    return {f"{kind}.csv" for kind, rows in summary.items() if isinstance(rows, list)}
