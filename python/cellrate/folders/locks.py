"""Locks of files, which end with the process that holds them, however that ends.

POSIX has them in the kernel (flock, and Linux for octets of a file); on Windows portalocker takes those of Win32
(LockFileEx). What differs beyond that is said once, by `STAYS_WHILE_OPEN`.
"""

from __future__ import annotations

import contextlib
import os
import struct
import sys
import time
from pathlib import Path

if sys.platform == "win32":
    import portalocker

    # Shared and exclusive locks by the same call, where portalocker's default takes the C library's for the latter.
    from portalocker.portalocker import Win32Locker
else:
    import fcntl

STAYS_WHILE_OPEN = sys.platform == "win32"
"""Whether a file that is open can neither be removed nor given another name, nor a folder that holds it.

That is so on Windows; no folder can be opened, and so locked, there either.
"""

AGAIN_S = 0.02
"""After how long a lock that is waited for is tried again, where the system cannot wait and be interrupted [s]."""

_OPEN = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
"""How lock files are opened: a link that has the name of one would make a file wherever it leads."""

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
            if STAYS_WHILE_OPEN:
                # There a lock that is held stands in its own holder's way.
                self._close()
            if self._descriptor is None:
                self._descriptor = os.open(self.file, _OPEN | os.O_CREAT, 0o666)
            try:
                if not lock(self._descriptor, shared=shared, wait=wait):
                    self._close()
                    return False
            except BaseException:
                self._close()
                raise
            if is_at(self._descriptor, self.file):
                return True
            # Whoever held it has removed the file: another one counts now.
            self._close()

    def give_back(self, *, keep: bool = False) -> None:
        """Give it up; the file goes unless others share it, or it is kept for whoever is last to go."""
        if self._descriptor is None:
            return
        if STAYS_WHILE_OPEN:
            self._close()
            if not keep:
                with contextlib.suppress(OSError):
                    # It fails as long as anybody has it open.
                    self.file.unlink()
            return
        if not keep:
            with contextlib.suppress(OSError):
                if lock(self._descriptor) and is_at(self._descriptor, self.file):
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
        """Take a lock; False if another process has it.

        Raises
        ------
        FileNotFoundError
            If there is no folder for it.
        """
        while True:
            if self._descriptor is None:
                self._descriptor = os.open(self._file, _OPEN | os.O_CREAT, 0o666)
            if not self._set(number, 1):
                return False
            if is_at(self._descriptor, self._file):
                return True
            # Whoever held them all has removed the file: another one counts now.
            self.close()

    def give_back(self, number: int) -> None:
        """Give up a lock."""
        if self._descriptor is not None:
            self._set(number, 1, free=True)

    def remove(self) -> bool:
        """Give up all locks, remove the file unless a process holds one of it, and say whether the file is gone."""
        try:
            if self._descriptor is None:
                self._descriptor = os.open(self._file, _OPEN)
            # From the first octet to any last one.
            if not self._set(0, 0):
                return False
            if is_at(self._descriptor, self._file):
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

    def _set(self, first: int, length: int, *, free: bool = False) -> bool:
        assert self._descriptor is not None
        if sys.platform == "linux":
            kind = fcntl.F_UNLCK if free else fcntl.F_WRLCK
            asked = struct.pack(_FLOCK, kind, os.SEEK_SET, first, length, 0)
            try:
                fcntl.fcntl(self._descriptor, fcntl.F_OFD_SETLK, asked)
            except (BlockingIOError, PermissionError):
                return False
            return True
        raise AssertionError("`points_in` gives LockFiles where a file has no locks of its octets")


class LockFiles:
    """Locks by number as `Locks` has them, where a file has no locks of its octets: a file for each."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._held: dict[int, Lock] = {}

    def take(self, number: int) -> bool:
        """Take a lock; False if another process has it.

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
        """Give up all locks, remove the files that no other process holds, and say whether all are gone."""
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


def lock(descriptor: int, *, shared: bool = False, wait: bool = False) -> bool:
    """Lock an open file alone, or together with others; False if another process has it and it is not waited for.

    Raises
    ------
    OSError
        If the file system has no locks.
    """
    if sys.platform == "win32":
        kind = portalocker.LockFlags.SHARED if shared else portalocker.LockFlags.EXCLUSIVE
        while True:
            try:
                Win32Locker().lock(descriptor, kind | portalocker.LockFlags.NON_BLOCKING)
            except portalocker.AlreadyLocked:
                if not wait:
                    return False
                time.sleep(AGAIN_S)
            except portalocker.LockException as error:
                raise OSError(str(error)) from error
            else:
                return True
    else:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True


def is_at(descriptor: int, place: Path) -> bool:
    """Whether an open file is still the one that has the name."""
    if STAYS_WHILE_OPEN:
        return True
    try:
        found, held = place.stat(follow_symlinks=False), os.fstat(descriptor)
    except FileNotFoundError:
        return False
    return (found.st_dev, found.st_ino) == (held.st_dev, held.st_ino)


def points_in(area: Path) -> Locks | LockFiles:
    """Give the locks of a campaign's points, by their numbers; `area` is where those who work on it have theirs."""
    kind = Locks if sys.platform == "linux" else LockFiles
    return kind(area / f"{POINTS}{LOCK}")


POINTS = "points"
"""Beginning of the names of files with locks of points."""
