"""The folder of a campaign: which points are there, who runs which, and what is kept of earlier questions.

    out/campaign.json                what was asked for
    out/point-001/ ...               a point each, as a run has it; moved here when it is whole
    out/point-001/files.json         its key, and what files it has, with sizes and digests
    out/earlier/KEY/                 points that were asked for earlier and are not now
    out/vcs.parquet ..., summary.json   the rows of all points, once all are there
    out/files.json                   which of these there are, with sizes and digests

    .out.points.partial/             beside it, as long as a process works on it
        campaign.lock                held by every process at work, alone by one that changes what is asked for
        points.lock                  an octet of it for each point, held by who runs that
        point-004/                   a point that a process runs

Nothing in `out` is ever half of something: files and folders are written beside it and moved in. A lock is released
when its process ends. A killed process leaves a partial point; the next process removes it and runs the point again.

The folder may come from a stranger, and may have been damaged. No text that is stored there leads out of it: names are
checked where they are read, and again where something is removed or renamed (`within`). A point is whole if all that
its inventory lists is there with the same octets; else it is run again. A manifest that is damaged or lost is written
anew, since each point says which one it is.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import CellrateError, shown
from ..folders.atomic_folder import prepare_place
from ..folders.inventory import INVENTORY, Inventory
from ..folders.locks import LOCK, Lock, points_in
from ..folders.owned import area_of, clean, made_area, remove_area_if_left
from ..folders.replaceable import CAMPAIGN, RESULTS, check_replaceable, is_campaign
from ..folders.stored_json import stored_json
from ..folders.within import remove, within
from ..plain_files import plain_octets
from .manifest import Entry, Manifest, NotAManifestError

EARLIER = "earlier"
BEFORE = "before"
"""In `earlier`: results that were in the folder before the campaign."""

TABLES = r"[a-z0-9_]+\.(parquet|csv)|summary\.json|files\.json|sweep\.(png|svg)"
"""Files made of all points, and made anew when other points are asked for."""

POINT = r"point-[0-9]{3,9}"

Complain = Callable[[str], object]


class Store:
    """The folder of a campaign, as a process sees it that works on it."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.area = area_of(folder)
        self.manifest = manifest
        self.damaged: dict[str, str] = {}
        """By folder: why a point that is there is run again."""
        self._whole: set[str] = set()

    def has(self, entry: Entry) -> bool:
        """Whether a point is there and whole, as far as it was when this process looked at it."""
        if entry.folder in self._whole:
            return True
        said = damage_of(self.folder / entry.folder, entry.key)
        if said is None:
            self._whole.add(entry.folder)
            self.damaged.pop(entry.folder, None)
        elif said:
            self.damaged[entry.folder] = said
        return said is None

    def missing(self) -> list[int]:
        """Give the places of points that are not there, or not whole."""
        # A look at the folder first: most points are not there when a campaign begins.
        there = {found.name for found in self.folder.iterdir()}
        return [
            place
            for place, entry in enumerate(self.manifest.points)
            if entry.folder not in there or not self.has(entry)
        ]


def is_whole(point: Path, key: str) -> bool:
    """Whether a folder has the whole result of the point with this key."""
    return damage_of(point, key) is None


def damage_of(point: Path, key: str) -> str | None:
    """Say why a folder does not have the whole result of the point with this key: "" if it is not there at all.

    Every file is read and held against its digest.
    """
    if not os.path.lexists(point):
        return ""
    inventory = Inventory.read(point)
    if inventory is None:
        there_is = "damaged" if os.path.lexists(point / INVENTORY) else "missing, as in points of earlier versions"
        return f"{INVENTORY} is {there_is}"
    if inventory.of != key:
        return "it is another point"
    return inventory.damage(point)


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
            if (target / EARLIER / BEFORE).exists():
                remove(target, EARLIER, BEFORE)
                _remove_if_empty(target / EARLIER)
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
            made_area(target)
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
    old = _found(target, fresh=fresh, complain=complain)
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
            if (kept / entry.key).is_dir() and not os.path.lexists(target / entry.folder):
                within(target, EARLIER, entry.key).rename(within(target, entry.folder))
        there = [folder for folder in sorted(kept.iterdir()) if folder.name != BEFORE]
        if there:
            complain(_told(target, there, manifest))
        _remove_if_empty(kept)


def _found(target: Path, *, fresh: bool, complain: Complain) -> Manifest | None:
    """Give the manifest that is there, one without points where it is damaged or lost, None where no campaign is.

    Raises
    ------
    CellrateError
        If it is of another format, or has texts that lead elsewhere, unless all is to be run anew.
    """
    unknown = Manifest("", "", "", "", [])
    try:
        return Manifest.read(target)
    except FileNotFoundError:
        if not is_campaign(target):
            return None
        complain(f"{target / CAMPAIGN} is missing: it is written anew, and points that are asked for are found again")
    except NotAManifestError as error:
        complain(f"{error}; it is written anew, and points that are asked for are found again")
    except CellrateError as error:
        if not fresh:
            raise CellrateError(f"{error}; with --fresh (fresh=True) all points are run anew") from None
    return unknown


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
        if found.name == EARLIER or re.fullmatch(f"{POINT}|{TABLES}", found.name):
            remove(target, found.name)


def _move_away(target: Path, manifest: Manifest) -> None:
    """Move other results out of sight, as far as they are not yet."""
    away = target / EARLIER / BEFORE
    for name in manifest.moving:
        place = within(target, name)
        if os.path.lexists(place) and not os.path.lexists(away / name):
            away.mkdir(parents=True, exist_ok=True)
            place.rename(within(target, EARLIER, BEFORE, name))


def _change(target: Path, area: Path, old: Manifest, manifest: Manifest) -> None:
    """Keep points whose number changes out of the way, and those that are not asked for any more."""
    names = {entry.key: entry.folder for entry in manifest.points}
    listed = {entry.folder: entry for entry in old.points}
    for found in sorted(target.iterdir()):
        if re.fullmatch(TABLES, found.name):
            remove(target, found.name)
        elif re.fullmatch(POINT, found.name):
            key = _key_of(found, listed.get(found.name))
            if key is not None and names.get(key) == found.name:
                continue
            if key is None:
                remove(target, found.name)
            else:
                (target / EARLIER).mkdir(exist_ok=True)
                remove(target, EARLIER, key)
                found.rename(within(target, EARLIER, key))
    about = {"version": old.version, "build": old.build}
    manifest.earlier = {**old.earlier, **{entry.key: about for entry in old.points if entry.key not in names}}
    manifest.moving = []
    write_manifest(target, area, manifest)


def _key_of(point: Path, listed: Entry | None) -> str | None:
    """Give the key of a point that is there: its own word counts, then that of the manifest; None if it is damaged.

    Points of earlier versions have no word of their own, and are kept as far as they have a summary.
    """
    if point.is_symlink():
        return None
    inventory = Inventory.read(point)
    if inventory is not None:
        return None if inventory.damage(point) else inventory.of
    if listed is None or os.path.lexists(point / INVENTORY):
        return None
    try:
        summary = stored_json(plain_octets(point / RESULTS))
        return listed.key if summary["run"]["hash"] == listed.hash else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


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
    varied = {path for entry in manifest.points for path in entry.set} | {"seed"}
    now = [tomllib.loads(text) for text in manifest.scenarios.values() or [manifest.toml]]
    for folder in there:
        reason = _why(folder, now, varied, manifest)
        reasons[reason] = reasons.get(reason, 0) + 1
    said = "; ".join(f"{count} {reason}" for reason, count in reasons.items())
    return f"{target} keeps {len(there)} points that are not asked for now ({said}); they are in {target / EARLIER}"


def _why(folder: Path, now: Sequence[Mapping[str, Any]], varied: set[str], manifest: Manifest) -> str:
    about = manifest.earlier.get(folder.name, {})
    if about and about["build"] != manifest.build:
        return f"by another build of cellrate, {about['version']}, {about['build']}; this is {manifest.build}"
    try:
        document = tomllib.loads(plain_octets(folder / "scenario.toml").decode())
        run = stored_json(plain_octets(folder / RESULTS))["run"]
        hash, name = run["hash"], run["scenario"]
    except (OSError, ValueError, KeyError, TypeError):
        return "damaged"
    if any(entry.hash == hash for entry in manifest.points):
        return "with an algorithm, policy or traffic of one's own that was another one"
    # Of a study of several scenarios, the one that has its name.
    like = next((one for one in now if one.get("name") == name), None if len(now) > 1 else now[0])
    if like is None:
        return f"of the scenario {shown(name)}, which is not asked for now"
    here, there = _flat(like), _flat(document)
    paths = [
        path
        for path in {**here, **there}
        if here.get(path) != there.get(path) and not any(path == one or path.startswith(f"{one}.") for one in varied)
    ]
    if not paths:
        return "with other values of the varied keys"
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
    """Points that a process is at: the lock of each, and an empty folder to run it in."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._area = area_of(folder)
        self._locks = points_in(self._area)

    @contextlib.contextmanager
    def claimed(self, entry: Entry) -> Iterator[Path | None]:
        """Have an empty folder for a point, or None if another process is at it just now."""
        while True:
            try:
                if not self._locks.take(entry.number):
                    yield None
                    return
                break
            except FileNotFoundError:
                # Whoever was last to end has removed it.
                made_area(self._folder)
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
        with contextlib.suppress(OSError):
            remove(place.parent, place.name)


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
    target = within(folder, entry.folder)
    try:
        place.rename(target)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise
        remove(folder, entry.folder)
        place.rename(target)
