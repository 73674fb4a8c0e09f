"""Places in a folder by names that were stored: only such that no name and no link leads out of the folder."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from ..errors import CellrateError, shown

_ELSEWHERE = re.compile(r"[\x00-\x1f\x7f/\\:\ud800-\udfff]")
"""Characters of paths and drives, and those that no name of ours has."""


def is_name(text: object) -> bool:
    """Whether a text is the name of an entry of a folder, by itself no way to anywhere else."""
    return isinstance(text, str) and text not in ("", ".", "..") and not _ELSEWHERE.search(text)


def within(folder: Path, *names: str) -> Path:
    """Give the place of an entry below `folder`, each folder on the way by its name.

    The entry itself may be a link, which can be removed or renamed without touching what it leads to.

    Raises
    ------
    CellrateError
        If a name is a path, or a folder on the way is a link.
    """
    place = folder
    for name in names:
        if not is_name(name):
            raise CellrateError(f"{shown(name)} is stored as a name in {folder}, and leads elsewhere")
        if place is not folder and place.is_symlink():
            raise CellrateError(f"{place} is a link; nothing behind it is changed")
        place = place / name
    return place


def remove(folder: Path, *names: str) -> None:
    """Remove an entry below `folder` if it is there: a folder with all it holds, a file, or a link itself.

    Raises
    ------
    CellrateError
        As `within`.
    OSError
        If it cannot be removed.
    """
    place = within(folder, *names)
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
