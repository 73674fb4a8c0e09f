"""Runs of a paper, kept until its report is written: live runs one by one, simulated ones as a campaign.

A kept live run is a folder of results, as `cellrate.load` reads it, and a file that says what it is of: the scenario by
its hash, the compiled module by the digest of its octets, and every file of the folder by its digest. It is data only.
Whatever is not exactly that, or could have been written by another user, is not read: the run is done again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import stat
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .. import _native
from ..errors import CellrateError, RunError
from ..folders.locks import LOCK
from ..folders.owned import RANDOM, own_folder, remove_left_behind
from ..folders.stored_json import stored_json
from ..plain_files import plain_octets
from ..results import Result
from ..results.reading import load
from ..results.writing import fill_result
from ..scenario import Scenario

MARK = "kept.json"
"""The file that says what a kept run is of."""

RUN = re.compile(r"live-[0-9a-f]{64}")
"""Name of the folder of a live run."""

CAMPAIGN = "campaign"
"""Name of the folder of simulated runs (`runs.campaign_for`)."""

PARTIAL = ".cellrate-"
"""Beginning of the name of a folder that is being written."""


@dataclass(frozen=True)
class KeptRuns:
    """The folder of what a paper has run, with its live runs, each known by the hash of its scenario."""

    folder: Path

    def open(self) -> bool:
        """Make the folder where it is missing, and say whether runs can be kept there.

        Runs are kept only where no other user may write; a warning says so where that is not the case.

        Raises
        ------
        RunError
            If the folder cannot be made.
        """
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            self.folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise RunError(
                f"{self.folder}, where runs are kept until the report is written: {error.strerror}"
            ) from None
        campaign = self.folder / CAMPAIGN
        if is_private(self.folder):
            remove_left_behind(self.folder, re.escape(PARTIAL) + RANDOM)
            with contextlib.suppress(FileExistsError):
                # Not by who runs the points, so that the group may not write to it whatever the umask.
                campaign.mkdir(mode=0o700)
            if is_private(campaign):
                return True
        place = campaign if is_private(self.folder) else self.folder
        warnings.warn(
            f"{place} is not a folder that only you can write to: runs in it are not used, and none are kept",
            RuntimeWarning,
            stacklevel=3,
        )
        return False

    def find(self, scenario: Scenario) -> Result | None:
        """Give the result of `scenario` that is kept, None where there is none that can be relied on."""
        result = self._verified(scenario)
        return result if isinstance(result, Result) else None

    def is_discounted(self, scenario: Scenario) -> bool:
        """Whether the run of `scenario` was done and does not count."""
        return self._verified(scenario) is False

    def put(self, scenario: Scenario, result: Result | None) -> None:
        """Keep the result of `scenario`, or None where the run was done and does not count.

        Raises
        ------
        RunError
            If it cannot be written.
        """
        place = self._place(scenario)
        try:
            # Only the owner may enter it.
            with own_folder(self.folder, PARTIAL, "") as partial:
                try:
                    self._fill_and_put(partial, place, scenario, result)
                finally:
                    shutil.rmtree(partial, ignore_errors=True)
        except OSError as error:
            if self._verified(scenario) is None:
                raise RunError(f"{place}, where a run is kept: {error.strerror}") from None

    def _fill_and_put(self, partial: Path, place: Path, scenario: Scenario, result: Result | None) -> None:
        if result is not None:
            fill_result(result, partial, csv=False, plots=False)
        digests = {str(file.relative_to(partial)): _digest(file) for file in _files(partial)}
        said = {"hash": scenario.hash, "module": module_digest(), "counts": result is not None, "files": digests}
        (partial / MARK).write_text(json.dumps(said), encoding="utf-8")
        if self._verified(scenario) is not None:
            # Another process has kept the same run meanwhile, and it may be being read.
            return
        if place.exists() or place.is_symlink():
            _remove(place)
        partial.rename(place)

    def discard(self) -> None:
        """Remove what is kept, simulated and live, and the folder if nothing else is in it.

        A folder that others may write to is left as it is.
        """
        if not is_private(self.folder):
            return
        for entry in list(self.folder.iterdir()):
            ours = RUN.fullmatch(entry.name) or entry.name == CAMPAIGN or entry.name.startswith(PARTIAL)
            if ours and is_private(entry):
                shutil.rmtree(entry, ignore_errors=True)
            elif entry.name.endswith(LOCK) and entry.is_file():
                entry.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.folder.rmdir()

    def _place(self, scenario: Scenario) -> Path:
        return self.folder / f"live-{scenario.hash}"

    def _verified(self, scenario: Scenario) -> Result | bool | None:
        """Give the result that is kept; False where it does not count; None where there is none to rely on."""
        place = self._place(scenario)
        if not (is_private(self.folder) and is_private(place)):
            return None
        try:
            said: Any = stored_json(plain_octets(place / MARK))
            expected = {"hash": scenario.hash, "module": module_digest()}
            if not isinstance(said, dict) or {key: said.get(key) for key in expected} != expected:
                return None
            digests = {str(file.relative_to(place)): _digest(file) for file in _files(place) if file.name != MARK}
            if digests != said.get("files"):
                return None
            if said.get("counts") is False:
                return False
            result = load(place)
        except (OSError, ValueError, CellrateError):
            return None
        return result if result.summary["run"]["hash"] == scenario.hash else None


def is_private(folder: Path) -> bool:
    """Whether this is a folder, no link to one, that belongs to the running user and that no other user may write to.

    Windows says by lists of access who may write, which are not read: a folder is there as private as that it is in.
    """
    try:
        found = folder.lstat()
    except OSError:
        return False
    if sys.platform == "win32":
        return stat.S_ISDIR(found.st_mode)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022


@cache
def module_digest() -> str:
    """Digest of the compiled module: one that was built anew may run the same scenario differently."""
    return _digest(Path(_native.__file__))


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink()


def _files(folder: Path) -> Iterator[Path]:
    """Give the regular files of a folder, in order.

    Raises
    ------
    ValueError
        If there is anything but folders and regular files.
    """
    for entry in sorted(folder.rglob("*")):
        mode = entry.lstat().st_mode
        if stat.S_ISREG(mode):
            yield entry
        elif not stat.S_ISDIR(mode):
            raise ValueError(f"{entry} is not a regular file")


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
