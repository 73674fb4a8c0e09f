"""Temporary folders and files that belong to a process: they are locked while it lives, and removed once it is gone.

A lock ends with the process that holds it, however that ends. What is not held any more was left by a process that was
killed, and whoever comes next removes it. POSIX locks the folder or file itself; on Windows, where no folder can be
locked and nothing that is open moved, a file beside it with `LOCK` at the end of its name is locked instead.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..errors import CellrateError
from .locks import LOCK, STAYS_WHILE_OPEN, Lock, is_at, lock, points_in

RANDOM = "[a-z0-9_]{8}"
"""Expression for the letters that `tempfile` puts between the prefix and the suffix of a name."""


@contextlib.contextmanager
def temporary(prefix: str, suffix: str = "", *, parent: Path | None = None) -> Iterator[Path]:
    """Have a temporary folder that is removed in the end, after those of killed processes with such a name.

    Parameters
    ----------
    prefix, suffix
        Beginning and end of its name.
    parent
        Where it is; by default where the system has temporary files.

    Raises
    ------
    OSError
        If none can be made.
    """
    parent = Path(tempfile.gettempdir()) if parent is None else parent
    remove_left_behind(parent, re.escape(prefix) + RANDOM + re.escape(suffix))
    while True:
        # It may hold what its user cannot remove in the usual way, such as a folder without permission to write.
        place = tempfile.TemporaryDirectory(prefix=prefix, suffix=suffix, dir=parent, ignore_cleanup_errors=True)
        with place as name, owning(Path(name)) as held:
            if held:
                yield Path(name)
                return


@contextlib.contextmanager
def own_folder(parent: Path, prefix: str, suffix: str) -> Iterator[Path]:
    """Make a folder that is this process's own while this is entered; it is not removed.

    Raises
    ------
    OSError
        If none can be made.
    """
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, suffix=suffix, dir=parent))
        with owning(folder) as held:
            if held:
                yield folder
                return


def write_file_whole(file: Path, content: bytes | Iterable[str]) -> None:
    """Write a file that appears whole, with the permissions of any other; one that is there is replaced.

    Raises
    ------
    OSError
        If it cannot be written; nothing half written stays.
    """
    prefix, suffix = f".{file.name}.", ".partial"
    remove_left_behind(file.parent, re.escape(prefix) + RANDOM + re.escape(suffix))
    handle, name = tempfile.mkstemp(prefix=prefix, suffix=suffix, dir=file.parent)
    partial = Path(name)
    try:
        with contextlib.ExitStack() as held:
            opened = held.enter_context(os.fdopen(handle, "wb"))
            if STAYS_WHILE_OPEN:
                held.enter_context(_lock_beside(partial))
            else:
                with contextlib.suppress(OSError):
                    lock(handle)
            opened.writelines([content] if isinstance(content, bytes) else (part.encode() for part in content))
            opened.flush()
            as_usual(partial)
            if STAYS_WHILE_OPEN:
                opened.close()
            partial.replace(file)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def as_usual(path: Path) -> None:
    """Give a file or folder that was made for its owner alone the permissions that any other gets (umask)."""
    path.chmod((0o777 if path.is_dir() else 0o666) & ~umask())


def umask() -> int:
    """Give the permissions that new files of this process lack."""
    with contextlib.suppress(OSError, ValueError, StopIteration):
        # Linux says it; elsewhere it has to be set to be known, and for that moment other threads have another.
        status = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return int(next(line for line in status if line.startswith("Umask:")).split()[1], 8)
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


@contextlib.contextmanager
def owning(folder: Path) -> Iterator[bool]:
    """Hold a folder that was just made; whether no process took it for one left behind before that."""
    if sys.platform == "win32":
        with _lock_beside(folder) as held:
            yield held and folder.exists()
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        yield False
        return
    try:
        try:
            held = lock(descriptor)
        except OSError:
            # Some file systems of networks lock no folders; nothing on them is taken for left behind then.
            held = True
        yield held and is_at(descriptor, folder)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _lock_beside(place: Path) -> Iterator[bool]:
    """Hold the lock file beside a folder or file; whether no other process does."""
    beside = Lock(place.with_name(place.name + LOCK))
    try:
        yield beside.take()
    finally:
        beside.give_back()


def remove_left_behind(parent: Path, name: str) -> None:
    """Remove what is in `parent`, has a name that matches an expression, is this user's, and has no owner any more."""
    with contextlib.suppress(OSError):
        for entry in list(parent.iterdir()):
            if re.fullmatch(name, entry.name.removesuffix(LOCK) if STAYS_WHILE_OPEN else entry.name):
                with contextlib.suppress(OSError):
                    _remove_if_left(entry)


def area_of(folder: Path) -> Path:
    """Give where those who work on a campaign have their locks, and what is not whole yet."""
    return folder.parent / f".{folder.name}.points.partial"


_IN_AREA = re.compile(r"point-[0-9]{3,9}|points-[0-9]+|tables\.[0-9]+|token\.[0-9a-f]+|drawing\w+|new|[a-z]+\.json")
"""Names of unfinished files and folders, without the end of locks."""


def made_area(folder: Path) -> Path:
    """Give the area of a campaign, which is made if it is not there.

    Raises
    ------
    CellrateError
        If a link or a file has its name: what is in there is removed in the end, and would be another's.
    """
    area = area_of(folder)
    area.mkdir(exist_ok=True)
    if not stat.S_ISDIR(area.lstat().st_mode):
        raise CellrateError(f"{area}, where locks of {folder} are kept, is a link; remove it, or give another folder")
    return area


def clean(area: Path) -> None:
    """Remove what killed processes have left; for who holds the campaign alone. Whatever has another name stays."""
    points = points_in(area)
    for entry in list(area.iterdir()):
        name = entry.name.removesuffix(LOCK)
        number = name.removeprefix("point-")
        # A worker may outlive the process that it works for by a point.
        if not _IN_AREA.fullmatch(name) or (number.isdecimal() and not points.take(int(number))):
            continue
        lock = Lock(area / (name + LOCK))
        if lock.take():
            shutil.rmtree(area / name, ignore_errors=True)
            (area / name).unlink(missing_ok=True)
            lock.give_back()
    points.remove()


def remove_area_if_left(folder: Path) -> None:
    """Remove what killed processes have left beside a campaign, unless a process is at work on it."""
    area = area_of(folder)
    with contextlib.suppress(OSError):
        found = area.lstat()
        if stat.S_ISDIR(found.st_mode) and _is_own(found):
            lock = Lock(area / f"campaign{LOCK}")
            if lock.take():
                try:
                    clean(area)
                finally:
                    lock.give_back()
            area.rmdir()


def _remove_if_left(place: Path) -> None:
    # A pipe or a device of that name is not a temporary file, and to open it may wait or do something.
    if stat.S_IFMT(place.lstat().st_mode) not in (stat.S_IFDIR, stat.S_IFREG):
        return
    if sys.platform == "win32":
        of = place.with_name(place.name.removesuffix(LOCK))
        with _lock_beside(of) as held:
            if held and of.is_dir():
                shutil.rmtree(of)
            elif held:
                of.unlink(missing_ok=True)
        return
    descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        found = os.fstat(descriptor)
        if not _is_own(found) or not lock(descriptor) or not is_at(descriptor, place):
            return
        if stat.S_ISDIR(found.st_mode):
            _make_writable(place)
            shutil.rmtree(place)
        else:
            place.unlink()
    finally:
        os.close(descriptor)


def _is_own(found: os.stat_result) -> bool:
    """Whether something is this user's; on Windows, where users have folders of their own, all is taken to be."""
    return sys.platform == "win32" or found.st_uid == os.geteuid()


def _make_writable(folder: Path) -> None:
    """Let the owner of all folders in a folder remove what they hold; links are not followed."""
    if sys.platform == "win32":
        return
    for top, folders, _ in os.walk(folder):
        for name in folders:
            with contextlib.suppress(OSError):
                descriptor = os.open(Path(top) / name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
                try:
                    os.fchmod(descriptor, 0o700)
                finally:
                    os.close(descriptor)
