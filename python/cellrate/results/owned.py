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
from collections.abc import Iterator
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

    def give_back(self) -> None:
        """Give it up; the file goes unless others share it."""
        if self._descriptor is None:
            return
        with contextlib.suppress(OSError):
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(self._descriptor, self.file):
                self.file.unlink()
        self._close()

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


@contextlib.contextmanager
def owning(folder: Path) -> Iterator[None]:
    """Hold a temporary folder, so that nobody takes it for one that was left behind."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):
            # Some file systems of networks lock no folders; nothing on them is taken for left behind then.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def remove_left_behind(parent: Path, name: str) -> None:
    """Remove folders in `parent` whose names match an expression, which are this user's, and whose owner is gone."""
    with contextlib.suppress(OSError):
        for entry in list(parent.iterdir()):
            if re.fullmatch(name, entry.name):
                with contextlib.suppress(OSError):
                    _remove_if_left(entry)


def area_of(folder: Path) -> Path:
    """Give where those who work on a campaign have their locks, and what is not whole yet."""
    return folder.parent / f".{folder.name}.points.partial"


def clean(area: Path) -> None:
    """Remove what killed processes have left; for who holds the campaign alone."""
    for entry in list(area.iterdir()):
        name = entry.name.removesuffix(LOCK)
        lock = Lock(area / (name + LOCK))
        # A worker may outlive the process that it works for by a point.
        if name != "campaign" and lock.take():
            shutil.rmtree(area / name, ignore_errors=True)
            (area / name).unlink(missing_ok=True)
            lock.give_back()


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


def _remove_if_left(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_at(descriptor, folder):
            shutil.rmtree(folder)
    finally:
        os.close(descriptor)


def _is_at(descriptor: int, place: Path) -> bool:
    """Whether an open file is still the one that has the name."""
    try:
        found, held = place.stat(follow_symlinks=False), os.fstat(descriptor)
    except FileNotFoundError:
        return False
    return (found.st_dev, found.st_ino) == (held.st_dev, held.st_ino)
