"""The scenario that a set is tried in, as a file."""

from __future__ import annotations

from pathlib import Path

from ..advice.advised import AdvisedSet
from ..errors import CellrateError
from ..folders.owned import write_file_whole
from .network import network_text
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
    """Write a set as a scenario into a file, which appears whole; an earlier set there is replaced.

    Of two sources without video it is the scenario that the set is tried in, otherwise the network of all of them.

    Raises
    ------
    CellrateError
        If the file holds something else, or cannot be written.
    """
    found = check_writable(file)
    try:
        of = advised.situation
        text = scenario_text if of.sources == 2 and not of.video_bps else network_text
        write_file_whole(found, text(advised, name=file.stem).encode())
    except OSError as error:
        raise _unwritable(file, error) from None


def _unwritable(file: Path, error: Exception) -> CellrateError:
    said = error.strerror if isinstance(error, OSError) else error
    return CellrateError(f"--write {file} cannot be written: {said}")
