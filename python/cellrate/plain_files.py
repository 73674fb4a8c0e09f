"""Files that others may have put there, opened for reading: never a pipe that waits or a device without an end."""

from __future__ import annotations

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
        # Opening a pipe must not wait for a writer.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
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
