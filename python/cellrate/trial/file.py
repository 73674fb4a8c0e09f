"""The scenario that a set is tried in, as a file."""

from __future__ import annotations

from pathlib import Path

from ..advice.advised import AdvisedSet
from ..errors import CellrateError
from ..folders.owned import write_file_whole
from .scenario import HEAD, scenario_text


def check_writable(file: Path) -> Path:
    """Give the file that `file` is, links followed, which a set may be written into.

    Raises
    ------
    CellrateError
        If it is there and holds something else, or cannot be looked at.
    """
    try:
        found = file.resolve()
        if found.exists() and not found.is_file():
            raise CellrateError(f"--write {file} is not a plain file; give another name")
        if found.exists():
            with found.open("rb") as opened:
                if opened.read(len(HEAD)) != HEAD.encode():
                    raise CellrateError(
                        f"--write {file} is there already, and was not written by cellrate advise; give another name"
                    )
    except (OSError, RuntimeError) as error:
        # Until Python 3.13 a loop of links is a RuntimeError.
        raise _unwritable(file, error) from None
    return found


def write_scenario(advised: AdvisedSet, file: Path) -> None:
    """Write the scenario that the set is tried in into a file, which appears whole; an earlier set there is replaced.

    Raises
    ------
    CellrateError
        If the file holds something else, or cannot be written.
    """
    found = check_writable(file)
    try:
        write_file_whole(found, scenario_text(advised, name=file.stem).encode())
    except OSError as error:
        raise _unwritable(file, error) from None


def _unwritable(file: Path, error: Exception) -> CellrateError:
    said = error.strerror if isinstance(error, OSError) else error
    return CellrateError(f"--write {file} cannot be written: {said}")
