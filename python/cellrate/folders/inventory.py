"""Inventories: files of a folder with their sizes and digests, by which a later command knows if all is whole.

An inventory is the file `files.json` in the folder, written after everything that it lists. A point of a campaign has
one, and the campaign has one of its tables.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..plain_files import plain_octets
from .stored_json import stored_json

INVENTORY = "files.json"

_NAME = re.compile(r"(?:series/)?[a-z0-9_]+\.(?:json|toml|parquet|csv|png|svg)")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_KEY = re.compile(r"[0-9a-f]{24}")


@dataclass(frozen=True)
class Inventory:
    """Files that a folder has, and what they are of."""

    of: str
    """Key of the point, or digest of the campaign: 24 hexadecimal digits."""
    files: Mapping[str, tuple[int, str]]
    """By path in the folder: size [octets] and SHA-256."""

    @classmethod
    def taken(cls, folder: Path, of: str) -> Inventory:
        """Take the inventory of all files in a folder and in its `series`."""
        found: dict[str, tuple[int, str]] = {}
        for below in ("", "series"):
            place = folder / below
            if below and not place.is_dir():
                continue
            with os.scandir(place) as entries:
                for entry in entries:
                    if entry.is_file(follow_symlinks=False) and entry.name != INVENTORY:
                        name = f"{below}/{entry.name}" if below else entry.name
                        found[name] = (entry.stat().st_size, _digest(Path(entry.path)))
        return cls(of, dict(sorted(found.items())))

    @classmethod
    def of_files(cls, folder: Path, names: list[str], of: str) -> Inventory:
        """Take the inventory of some files of a folder."""
        return cls(of, {name: ((folder / name).stat().st_size, _digest(folder / name)) for name in sorted(names)})

    @classmethod
    def read(cls, folder: Path) -> Inventory | None:
        """Read the inventory in a folder; None where there is none that can be relied on."""
        try:
            content = stored_json(plain_octets(folder / INVENTORY))
            of, files = content["of"], content["files"]
            sound = isinstance(of, str) and _KEY.fullmatch(of) and isinstance(files, dict)
            if not sound or not all(_NAME.fullmatch(name) and _is_entry(entry) for name, entry in files.items()):
                return None
            return cls(of, {name: (entry[0], entry[1]) for name, entry in files.items()})
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, folder: Path, place: Path | None = None) -> None:
        """Write the inventory into a folder in one step, by way of `place`, a folder of the same file system."""
        partial = (place or folder) / INVENTORY
        partial.write_text(json.dumps({"of": self.of, "files": self.files}) + "\n", encoding="utf-8", newline="\n")
        if place is not None:
            partial.replace(folder / INVENTORY)

    def damage(self, folder: Path, *, sizes_only: bool = False) -> str | None:
        """Say which of the files is not what the inventory says, and how; None if all are whole.

        With `sizes_only` no file is read.
        """
        if folder.is_symlink() or (folder / "series").is_symlink():
            return f"{folder if folder.is_symlink() else folder / 'series'} is a link"
        for name in self.files:
            said = self.damage_of(folder, name, sizes_only=sizes_only)
            if said is not None:
                return said
        return None

    def damage_of(self, folder: Path, name: str, *, sizes_only: bool = False) -> str | None:
        """Say how a file is not what the inventory says; None if it is whole, or not of the inventory."""
        if name not in self.files:
            return None
        size, digest = self.files[name]
        try:
            found = (folder / name).lstat()
            if not stat.S_ISREG(found.st_mode):
                return f"{name} is not a file"
            if found.st_size != size:
                return f"{name} has {found.st_size:,} octets, and had {size:,}"
            return None if sizes_only or _digest(folder / name) == digest else f"{name} has other octets than it had"
        except OSError as error:
            return f"{name}: {error.strerror}"


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, list) or len(entry) != 2:
        return False
    size, digest = entry
    is_size = isinstance(size, int) and not isinstance(size, bool) and size >= 0
    return is_size and isinstance(digest, str) and bool(_DIGEST.fullmatch(digest))


def _digest(file: Path) -> str:
    with file.open("rb", buffering=0) as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
