"""Folders that are on the disk, and change places in one step."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def synchronise(folder: Path) -> None:
    """Have the disk hold all files of a folder, and the folder with its own."""
    for top, _, names in os.walk(folder):
        for name in names:
            synchronise_file(Path(top) / name)
        if sys.platform != "win32":
            # There no folder can be opened; its names are in the file system's own journal.
            synchronise_file(Path(top))


def synchronise_file(path: Path) -> None:
    """Have the disk hold a file."""
    # Windows lets only those write out a file who may write to it.
    descriptor = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def exchange(one: Path, other: Path) -> bool:
    """Have two folders of one file system change places in one step (Linux, renameat2); whether that can be done here.

    Raises
    ------
    OSError
        If the kernel knows how, and it fails.
    """
    if sys.platform != "linux":
        return False
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL):
        # An old kernel, or a file system that does not.
        return False
    raise OSError(number, os.strerror(number), str(other))


def with_file(error: OSError, within: Path, target: Path) -> OSError:
    """Give an error of a full disk the file that was being written, if it names none: that written last in `within`.

    The file is named as it would be in `target`.
    """
    if error.errno not in (errno.ENOSPC, errno.EDQUOT) or error.filename is not None:
        return error
    files = [path for path in within.rglob("*") if path.is_file()]
    last = max(files, key=lambda path: path.stat().st_mtime_ns, default=within)
    return OSError(error.errno, os.strerror(error.errno), str(target / last.relative_to(within)))
