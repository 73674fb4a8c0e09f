"""Temporary folders and files that belong to a process: they are locked while it lives, and removed once it is gone.

A lock (flock) ends with the process that holds it, however that ends. What nobody holds any more was left by a process
that was killed, and whoever comes next removes it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import stat
import struct
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

LOCK = ".lock"
"""The end of the name of a lock file."""


class Lock:
    """A file that one process at a time holds, or several that share it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._descriptor: int | None = None

    def take(self, *, shared: bool = False, wait: bool = False) -> bool:
        """Take the lock, and say whether it is held now; what is held already may be taken in the other way.

        Raises
        ------
        FileNotFoundError
            If there is no folder for it.
        """
        while True:
            if self._descriptor is None:
                self._descriptor = os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            operation = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB)
            try:
                fcntl.flock(self._descriptor, operation)
            except BlockingIOError:
                self._close()
                return False
            except BaseException:
                self._close()
                raise
            if _is_at(self._descriptor, self.file):
                return True
            # Whoever held it has removed the file: another one counts now.
            self._close()

    def give_back(self, *, keep: bool = False) -> None:
        """Give it up; the file goes unless others share it, or it is kept for whoever is last to go."""
        if self._descriptor is None:
            return
        if not keep:
            with contextlib.suppress(OSError):
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_at(self._descriptor, self.file):
                    self.file.unlink()
        self._close()

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


class Locks:
    """Locks by number, which are octets of one file: one open file holds each at a time, and they end with it.

    They are locks of the open file (F_OFD_SETLK of Linux), not of the process, so that threads keep each other out too.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._descriptor: int | None = None

    def take(self, number: int) -> bool:
        """Take a lock; False if somebody else has it.

        Raises
        ------
        FileNotFoundError
            If there is no folder for it.
        """
        while True:
            if self._descriptor is None:
                self._descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            if not self._set(fcntl.F_WRLCK, number, 1):
                return False
            if _is_at(self._descriptor, self._file):
                return True
            # Whoever held them all has removed the file: another one counts now.
            self.close()

    def give_back(self, number: int) -> None:
        """Give up a lock."""
        if self._descriptor is not None:
            self._set(fcntl.F_UNLCK, number, 1)

    def remove(self) -> bool:
        """Give up all, and remove the file unless somebody holds a lock of it; whether there is none any more."""
        try:
            if self._descriptor is None:
                self._descriptor = os.open(self._file, os.O_RDWR | os.O_CLOEXEC)
            # From the first octet to any last one.
            if not self._set(fcntl.F_WRLCK, 0, 0):
                return False
            if _is_at(self._descriptor, self._file):
                self._file.unlink()
        except FileNotFoundError:
            pass
        finally:
            self.close()
        return True

    def close(self) -> None:
        """Give up all."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _set(self, kind: int, first: int, length: int) -> bool:
        assert self._descriptor is not None
        asked = struct.pack(_FLOCK, kind, os.SEEK_SET, first, length, 0)
        try:
            fcntl.fcntl(self._descriptor, fcntl.F_OFD_SETLK, asked)
        except (BlockingIOError, PermissionError):
            return False
        return True


class LockFiles:
    """Locks by number as `Locks` has them, where a file has no locks of its octets: a file for each."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._held: dict[int, Lock] = {}

    def take(self, number: int) -> bool:
        """Take a lock; False if somebody else has it.

        Raises
        ------
        FileNotFoundError
            If there is no folder for it.
        """
        lock = self._held.get(number) or Lock(self._file.with_name(f"{self._file.stem}-{number}{self._file.suffix}"))
        if not lock.take():
            return False
        self._held[number] = lock
        return True

    def give_back(self, number: int) -> None:
        """Give up a lock."""
        if number in self._held:
            self._held.pop(number).give_back()

    def remove(self) -> bool:
        """Give up all, and remove the files that nobody else holds; whether there is none any more."""
        self.close()
        free = True
        for file in list(self._file.parent.glob(f"{self._file.stem}-*{self._file.suffix}")):
            lock = Lock(file)
            if lock.take():
                lock.give_back()
            else:
                free = False
        return free

    def close(self) -> None:
        """Give up all."""
        for number in list(self._held):
            self.give_back(number)


_FLOCK = "hhqqi4x"
"""Format of Linux's struct flock: kind, from where, first octet, number of octets (0: all), process (0: none)."""

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
        with os.fdopen(handle, "wb") as opened:
            with contextlib.suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            opened.writelines([content] if isinstance(content, bytes) else (part.encode() for part in content))
            opened.flush()
            as_usual(partial)
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
        status = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in status if line.startswith("Umask:")).split()[1], 8)
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


@contextlib.contextmanager
def owning(folder: Path) -> Iterator[bool]:
    """Hold a folder that was just made; whether nobody has taken it for one that was left behind before that."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield False
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        except OSError:
            # Some file systems of networks lock no folders; nothing on them is taken for left behind then.
            pass
        yield _is_at(descriptor, folder)
    finally:
        os.close(descriptor)


def remove_left_behind(parent: Path, name: str) -> None:
    """Remove what is in `parent`, has a name that matches an expression, is this user's, and has no owner any more."""
    with contextlib.suppress(OSError):
        for entry in list(parent.iterdir()):
            if re.fullmatch(name, entry.name):
                with contextlib.suppress(OSError):
                    _remove_if_left(entry)


def area_of(folder: Path) -> Path:
    """Give where those who work on a campaign have their locks, and what is not whole yet."""
    return folder.parent / f".{folder.name}.points.partial"


def points_in(area: Path) -> Locks | LockFiles:
    """Give the locks of a campaign's points, by their numbers; `area` is where those who work on it have theirs."""
    kind = Locks if sys.platform == "linux" else LockFiles
    return kind(area / f"{_POINTS}{LOCK}")


_POINTS = "points"


def clean(area: Path) -> None:
    """Remove what killed processes have left; for who holds the campaign alone."""
    points = points_in(area)
    for entry in list(area.iterdir()):
        name = entry.name.removesuffix(LOCK)
        number = name.removeprefix("point-")
        # A worker may outlive the process that it works for by a point.
        if name in ("campaign", _POINTS) or (number.isdecimal() and not points.take(int(number))):
            continue
        lock = Lock(area / (name + LOCK))
        if lock.take():
            shutil.rmtree(area / name, ignore_errors=True)
            (area / name).unlink(missing_ok=True)
            lock.give_back()
    points.remove()


def remove_area_if_left(folder: Path) -> None:
    """Remove what killed processes have left beside a campaign, unless somebody is at work on it."""
    area = area_of(folder)
    with contextlib.suppress(OSError):
        if area.stat(follow_symlinks=False).st_uid == os.geteuid():
            lock = Lock(area / f"campaign{LOCK}")
            if lock.take():
                try:
                    clean(area)
                finally:
                    lock.give_back()
            area.rmdir()


def _remove_if_left(place: Path) -> None:
    # A pipe or a device of that name is nobody's temporary file, and to open it may wait or do something.
    if stat.S_IFMT(place.lstat().st_mode) not in (stat.S_IFDIR, stat.S_IFREG):
        return
    descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if found.st_uid != os.geteuid():
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _is_at(descriptor, place):
            return
        if stat.S_ISDIR(found.st_mode):
            _make_writable(place)
            shutil.rmtree(place)
        else:
            place.unlink()
    finally:
        os.close(descriptor)


def _make_writable(folder: Path) -> None:
    """Let the owner of all folders in a folder remove what they hold; links are not followed."""
    for top, folders, _ in os.walk(folder):
        for name in folders:
            with contextlib.suppress(OSError):
                descriptor = os.open(Path(top) / name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    os.fchmod(descriptor, 0o700)
                finally:
                    os.close(descriptor)


def _is_at(descriptor: int, place: Path) -> bool:
    """Whether an open file is still the one that has the name."""
    try:
        found, held = place.stat(follow_symlinks=False), os.fstat(descriptor)
    except FileNotFoundError:
        return False
    return (found.st_dev, found.st_ino) == (held.st_dev, held.st_ino)
