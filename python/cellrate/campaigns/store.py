"""The folder of a campaign: which points are there, who runs which, and what is kept of earlier questions.

    out/campaign.json                what was asked for
    out/point-001/ ...               a point each, as a run has it; moved here when it is whole
    out/earlier/KEY/                 points that were asked for earlier and are not now
    out/vcs.parquet ..., summary.json   the rows of all points, once all are there

    .out.points.partial/             beside it, as long as somebody works on it
        campaign.lock                held by every process at work, alone by one that changes what is asked for
        points.lock                  an octet of it for each point, held by who runs that
        point-004/                   a point that somebody runs

Nothing in `out` is ever half of something: files and folders are written beside it and moved in. Locks end with who
holds them, so a process may be killed at any time: what it was at is removed, and run, by whoever comes next.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import CellrateError, shown
from ..folders.atomic_folder import prepare_place
from ..folders.locks import LOCK, Lock, points_in
from ..folders.owned import area_of, clean, remove_area_if_left
from ..folders.replaceable import CAMPAIGN, RESULTS, check_replaceable
from .manifest import Entry, Manifest

EARLIER = "earlier"
BEFORE = "before"
"""In `earlier`: results that were in the folder before the campaign."""

TABLES = r"[a-z_]+\.(parquet|csv)|summary\.json|sweep\.(png|svg)"
"""Files made of all points, and made anew when other points are asked for."""

POINT = r"point-\d{3,}"

Complain = Callable[[str], object]


class Store:
    """The folder of a campaign, as a process sees it that works on it."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.area = area_of(folder)
        self.manifest = manifest

    def has(self, entry: Entry) -> bool:
        """Whether a point is there and whole."""
        return is_whole(self.folder / entry.folder, entry.hash)

    def missing(self) -> list[int]:
        """Give the places of points that are not there."""
        # A look at the folder first: most points are not there when a campaign begins.
        there = {found.name for found in self.folder.iterdir()}
        return [
            place
            for place, entry in enumerate(self.manifest.points)
            if entry.folder not in there or not self.has(entry)
        ]


def is_whole(point: Path, hash: str) -> bool:
    """Whether a folder has the whole result of a scenario, as far as a glance at each file can tell."""
    try:
        if not os.path.lexists(point):
            return False
        summary = json.loads((point / RESULTS).read_bytes())
        if summary["run"]["hash"] != hash or not (point / "scenario.toml").stat().st_size:
            return False
        series = point / "series"
        return not series.exists() or all(map(_has_end, series.glob("*.parquet")))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _has_end(table: Path) -> bool:
    with table.open("rb") as file:
        return file.seek(0, os.SEEK_END) >= 8 and file.seek(-4, os.SEEK_END) >= 0 and file.read(4) == b"PAR1"


@contextlib.contextmanager
def opened(folder: Path, manifest: Manifest, *, fresh: bool = False, complain: Complain) -> Iterator[Store]:
    """Work on a campaign: begin one in `folder`, go on with the one that is there, or join others that are at it.

    Points of the campaign that is there stay, under other numbers perhaps. Those that the manifest does not ask for are
    moved to `earlier`, and `complain` is told why they no longer fit; with `fresh` they are removed. Whatever other
    results are in the folder are removed when the work is done.

    Raises
    ------
    CellrateError
        If the folder holds something that cellrate has not written, or others are at work on it with other points.
    """
    target = check_replaceable(folder)
    made = prepare_place(folder, target)
    area = area_of(target)
    lock = Lock(area / f"campaign{LOCK}")
    try:
        with _joined(target, area, lock, manifest, fresh=fresh, complain=complain):
            yield Store(target, manifest)
            before = target / EARLIER / BEFORE
            if before.exists():
                shutil.rmtree(before)
                _remove_if_empty(before.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            if lock.take() and [entry.name for entry in target.iterdir()] == [CAMPAIGN]:
                # Nothing was done.
                shutil.rmtree(target)
        raise
    finally:
        lock.give_back()
        remove_area_if_left(target)
        for above in made:
            _remove_if_empty(above)


@contextlib.contextmanager
def _joined(
    target: Path, area: Path, lock: Lock, manifest: Manifest, *, fresh: bool, complain: Complain
) -> Iterator[None]:
    for _ in range(100):
        with contextlib.suppress(FileNotFoundError):
            area.mkdir(exist_ok=True)
            if lock.take():
                clean(area)
                _ask_for(target, area, manifest, fresh=fresh, complain=complain)
            lock.take(shared=True, wait=True)
            # Between the two another process may have asked for something else.
            with contextlib.suppress(FileNotFoundError):
                there = Manifest.read(target)
                if (there.build, there.points) == (manifest.build, manifest.points):
                    yield
                    return
            lock.give_back()
            if lock.take():
                lock.give_back()
                continue
            raise CellrateError(
                f"another cellrate is at work on {target}, with other points; wait until it has ended, or give another "
                "folder"
            )
    raise CellrateError(f"{target} is being changed by others again and again; give another folder")


def _ask_for(target: Path, area: Path, manifest: Manifest, *, fresh: bool, complain: Complain) -> None:
    """Make the folder one of these points, whatever it was before."""
    try:
        old: Manifest | None = Manifest.read(target)
    except FileNotFoundError:
        old = None
    if old is None:
        _begin(target, area, manifest)
    _move_away(target, old or manifest)
    if old is not None and fresh:
        _empty(target)
    if old is not None and (old.build, old.points) != (manifest.build, manifest.points):
        _change(target, area, old, manifest)
    # What an earlier command moved away and this one asks for, or a killed one had no time to put back.
    kept = target / EARLIER
    if kept.is_dir():
        for entry in manifest.points:
            if (kept / entry.key).is_dir() and not (target / entry.folder).exists():
                (kept / entry.key).rename(target / entry.folder)
        there = [folder for folder in sorted(kept.iterdir()) if folder.name != BEFORE]
        if there:
            complain(_told(target, there, manifest))
        _remove_if_empty(kept)


def _begin(target: Path, area: Path, manifest: Manifest) -> None:
    """Have a folder with a manifest, from nothing or beside results that are there."""
    if target.exists():
        manifest.moving = [entry.name for entry in sorted(target.iterdir())]
        write_manifest(target, area, manifest)
        return
    new = area / "new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    write_manifest(new, area, manifest)
    new.rename(target)


def _empty(target: Path) -> None:
    """Remove all points."""
    for found in sorted(target.iterdir()):
        if re.fullmatch(POINT, found.name) or found.name == EARLIER:
            shutil.rmtree(found)
        elif re.fullmatch(TABLES, found.name):
            found.unlink()


def _move_away(target: Path, manifest: Manifest) -> None:
    """Move other results out of sight, as far as they are not yet."""
    away = target / EARLIER / BEFORE
    for name in manifest.moving:
        if (target / name).exists() and not (away / name).exists():
            away.mkdir(parents=True, exist_ok=True)
            (target / name).rename(away / name)


def _change(target: Path, area: Path, old: Manifest, manifest: Manifest) -> None:
    """Keep points whose number changes out of the way, and those that are not asked for any more."""
    names = {entry.key: entry.folder for entry in manifest.points}
    kept = target / EARLIER
    for entry in old.points:
        if names.get(entry.key) != entry.folder and is_whole(target / entry.folder, entry.hash):
            kept.mkdir(exist_ok=True)
            shutil.rmtree(kept / entry.key, ignore_errors=True)
            (target / entry.folder).rename(kept / entry.key)
    for found in sorted(target.iterdir()):
        # Of points nothing is left but what is not whole, or stays.
        if re.fullmatch(POINT, found.name) and found.name not in names.values():
            shutil.rmtree(found)
        elif re.fullmatch(TABLES, found.name):
            found.unlink()
    about = {"version": old.version, "build": old.build}
    manifest.earlier = {**old.earlier, **{entry.key: about for entry in old.points if entry.key not in names}}
    manifest.moving = []
    write_manifest(target, area, manifest)


def write_manifest(folder: Path, area: Path, manifest: Manifest) -> None:
    """Put the manifest into a folder, in one step."""
    partial = area / CAMPAIGN
    with partial.open("w", encoding="utf-8", newline="\n") as file:
        file.write(manifest.text())
        file.flush()
        os.fsync(file.fileno())
    partial.replace(folder / CAMPAIGN)


def _told(target: Path, there: list[Path], manifest: Manifest) -> str:
    """Say what is kept that does not fit, and why."""
    reasons: dict[str, int] = {}
    now = tomllib.loads(manifest.toml)
    varied = {path for entry in manifest.points[:1] for path in entry.set} | {"seed"}
    for folder in there:
        reason = _why(folder, now, varied, manifest)
        reasons[reason] = reasons.get(reason, 0) + 1
    said = "; ".join(f"{count} {reason}" for reason, count in reasons.items())
    return f"{target} keeps {len(there)} points that are not asked for now ({said}); they are in {target / EARLIER}"


def _why(folder: Path, now: Mapping[str, Any], varied: set[str], manifest: Manifest) -> str:
    about = manifest.earlier.get(folder.name, {})
    if about and about["build"] != manifest.build:
        return f"by another build of cellrate, {about['version']}, {about['build']}; this is {manifest.build}"
    try:
        document = tomllib.loads((folder / "scenario.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return "damaged"
    here, there = _flat(now), _flat(document)
    paths = [
        path
        for path in {**here, **there}
        if here.get(path) != there.get(path) and not any(path == one or path.startswith(f"{one}.") for one in varied)
    ]
    if not paths:
        return "with other values of what is varied"
    said = [f"{path} is {_value(there, path)} there, {_value(here, path)} now" for path in paths[:3]]
    return "of another scenario: " + ", ".join(said) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")


def _flat(value: object, before: str = "") -> dict[str, object]:
    """Give the values of a document by path; entries by their names, or their number."""
    if isinstance(value, Mapping):
        pairs = [(str(key), item) for key, item in value.items()]
    elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        pairs = [
            (str(item.get("name", place)) if isinstance(item, Mapping) else str(place), item)
            for place, item in enumerate(value, 1)
        ]
    else:
        return {before.removesuffix("."): value}
    flat: dict[str, object] = {}
    for key, item in pairs:
        flat |= _flat(item, f"{before}{key}.")
    return flat


def _value(flat: Mapping[str, object], path: str) -> str:
    return shown(flat[path]) if path in flat else "not set"


def _remove_if_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


class Claims:
    """Points that somebody is at: the lock of each, and an empty folder to run it in."""

    def __init__(self, folder: Path) -> None:
        self._area = area_of(folder)
        self._locks = points_in(self._area)

    @contextlib.contextmanager
    def claimed(self, entry: Entry) -> Iterator[Path | None]:
        """Have an empty folder for a point, or None if somebody else is at it just now."""
        while True:
            try:
                if not self._locks.take(entry.number):
                    yield None
                    return
                break
            except FileNotFoundError:
                # Whoever was last to end has removed it.
                self._area.mkdir(exist_ok=True)
        place = self._area / entry.folder
        try:
            _remove(place)
            place.mkdir()
            yield place
        finally:
            _remove(place)
            self._locks.give_back(entry.number)

    def close(self) -> None:
        """Give up all."""
        self._locks.close()


def _remove(place: Path) -> None:
    """Remove what may be there, and mostly is not: asking first takes a fifth of the time of failing."""
    if os.path.lexists(place):
        shutil.rmtree(place, ignore_errors=True)


@contextlib.contextmanager
def naming(place: Path) -> Iterator[None]:
    """Have an error of the system say where it was, if it does not: Arrow's names no file."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(place)) from None


def put(place: Path, folder: Path, entry: Entry) -> None:
    """Move a point that is whole to where it belongs; what is damaged there gives way."""
    target = folder / entry.folder
    try:
        place.rename(target)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise
        shutil.rmtree(target)
        place.rename(target)
