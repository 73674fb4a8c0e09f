"""Shared memory between processes: large arrays cross in files that both map, not copied through a pipe.

A file lies in memory (/dev/shm) where there is room, and is gone as soon as it is mapped: its octets then belong to the
arrays alone.
"""

from __future__ import annotations

import mmap
import os
import pickle
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..folders.locks import STAYS_WHILE_OPEN
from ..folders.owned import RANDOM, remove_left_behind, temporary

IN_MEMORY = Path("/dev/shm")
"""Where Linux has files in memory."""

PREFIX = "cellrate-arrays-"
"""How the names of folders begin."""

LARGE = 1 << 20
"""From so many octets on arrays are worth a file."""

APART = 64
"""Arrays begin at multiples of so many octets, as processors like them."""


@dataclass(frozen=True)
class Packed:
    """Something on its way."""

    head: bytes
    """Pickled, without the arrays that are in the file."""
    file: Path | None = None
    spans: tuple[tuple[int, int], ...] = ()
    """Where in the file each array begins and ends [octets]."""


@contextmanager
def shared_folder() -> Iterator[Path]:
    """Have a folder for files as long as this is entered."""
    inside = IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else Path(tempfile.gettempdir())
    # What a killed process has left would fill the memory, and that may have been elsewhere than now.
    for place in {inside, IN_MEMORY, Path(tempfile.gettempdir())}:
        remove_left_behind(place, PREFIX + RANDOM)
    with temporary(PREFIX, parent=inside) as folder:
        yield folder


def pack(thing: object, folder: Path) -> Packed:
    """Give something up to another process, by way of `folder` if it has large arrays and there is room for them."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(thing, protocol=5, buffer_callback=buffers.append)
    arrays = [buffer.raw() for buffer in buffers]
    needed = sum(array.nbytes + APART for array in arrays)
    if needed >= LARGE and shutil.disk_usage(folder).free >= 2 * needed:
        try:
            return Packed(head, *_written(arrays, folder))
        except OSError:
            # Others may have taken the room meanwhile.
            pass
    return Packed(pickle.dumps(thing) if buffers else head)


def _written(arrays: Sequence[memoryview], folder: Path) -> tuple[Path, tuple[tuple[int, int], ...]]:
    """Write arrays into a file, which is whole or not there."""
    spans = []
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        try:
            for array in arrays:
                begin = file.seek(-file.tell() % APART, os.SEEK_CUR)
                file.write(array)
                spans.append((begin, begin + array.nbytes))
            file.flush()
        except OSError:
            Path(file.name).unlink()
            raise
    return Path(file.name), tuple(spans)


def unpack(packed: Packed) -> Any:
    """Take what another process gave. Arrays are this process's own, and may be changed."""
    if packed.file is None:
        return pickle.loads(packed.head)
    with packed.file.open("rb") as file:
        if STAYS_WHILE_OPEN:
            # A file that is mapped could not be removed.
            mapped = memoryview(bytearray(file.read()))
        else:
            mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    packed.file.unlink()
    return pickle.loads(packed.head, buffers=[mapped[begin:end] for begin, end in packed.spans])
