"""Files that others may have put there, opened for reading: never a pipe that waits or a device without an end."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from .errors import CellrateError


@contextmanager
def plain_file(
    path: Path, *, most_octets: int | None = None, error: type[CellrateError] = CellrateError
) -> Iterator[BufferedReader]:
    """Open a file for reading, as octets.

    Parameters
    ----------
    path
        The file, which a link may lead to.
    most_octets
        The largest file that is taken [octets]; any when None.
    error
        What is raised.

    Raises
    ------
    CellrateError
        If it cannot be opened or read, is a folder, a pipe or a device, or is too large; `error`, that is.
    """
    try:
        handle = _opened(path)
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise error(f"{path} is not a plain file")
            if most_octets is not None and found.st_size > most_octets:
                raise error(f"{path} has {found.st_size:,} octets; {most_octets:,} is the most that is read")
            with open(handle, "rb", closefd=False) as opened:
                yield opened
        finally:
            os.close(handle)
    except OSError as failed:
        raise error(f"{path}: {failed.strerror}") from None


def plain_octets(path: Path) -> bytes:
    """Read a whole file, which a link may lead to.

    Raises
    ------
    OSError
        If it cannot be opened or read, or is a folder, a pipe or a device.
    """
    handle = _opened(path)
    try:
        check_plain(os.fstat(handle), path)
        with os.fdopen(handle, "rb", closefd=False) as opened:
            return opened.read()
    finally:
        os.close(handle)


def check_plain(found: os.stat_result, path: Path) -> None:
    """Refuse what is a folder, a pipe or a device.

    Raises
    ------
    OSError
        If it is one.
    """
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "not a plain file", str(path))


def _opened(path: Path) -> int:
    try:
        # Opening a pipe must not wait for a writer.
        return os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except ValueError as error:
        # No name of a file has a NUL in it, or half of a surrogate pair.
        raise OSError(errno.EINVAL, str(error), str(path)) from None
