"""Where the capture of a live run is written until it is whole: in a folder of its own in the one that was asked for.

A live run cannot be had again, so no capture is to cost one its figures: whether files can be written is seen before it
begins, and they get no more room than there is.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import RunError
from ..folders.owned import temporary
from ..results.writing import Complain
from ..wireshark.capture import Capture, CapturedFile

ROOM = 0.9
"""Share of the free room that the files of a capture may have, all together."""

LEAST_OCTETS = 1_000_000
"""Free space below which there is no capture."""


class Stage:
    """A capture, and the folder in which its files are made."""

    def __init__(self, capture: Capture, place: Path) -> None:
        self._asked = capture
        self._place = place

    def capture(self) -> Capture:
        """Give the capture of an attempt that begins now; files of an attempt before give way.

        Raises
        ------
        RunError
            If there is no room for it.
        """
        for file in self._place.iterdir():
            file.unlink()
        free = shutil.disk_usage(self._place).free
        if free < LEAST_OCTETS:
            raise RunError(
                f"cannot write the capture {self._asked.folder}: {free / 1e6:.1f} MB are free there; "
                f"{LEAST_OCTETS / 1e6:.0f} MB are the least"
            )
        room = int(ROOM * free) // (self._asked.cells + self._asked.pdus)
        asked = self._asked.limit_octets
        return replace(self._asked, folder=self._place, limit_octets=room if asked is None else min(asked, room))

    def hand_over(
        self, made: Capture, captured: Sequence[CapturedFile], complain: Complain
    ) -> tuple[CapturedFile, ...]:
        """Move the files of the capture `made` to where they were asked for; `complain` is told what is not there."""
        folder = self._asked.folder
        moved: list[CapturedFile] = []
        for file in captured:
            try:
                moved.append(replace(file, path=file.path.replace(folder / file.path.name)))
            except OSError as error:
                complain(
                    f"cannot write the capture {folder / file.path.name}: {error.strerror}; all but that is written"
                )
                continue
            if file.left_out and made.limit_octets != self._asked.limit_octets:
                complain(
                    f"the capture {moved[-1].path} is cut off, {file.left_out:,} more did not fit: "
                    f"{made.limit_octets / 1e6 if made.limit_octets else 0:.1f} MB were free for it"
                )
        return tuple(moved)


@contextlib.contextmanager
def staged(capture: Capture | None) -> Iterator[Stage | None]:
    """Have a stage for a capture as long as this is entered.

    Raises
    ------
    RunError
        If nothing can be written where the capture is to go.
    """
    if capture is None:
        yield None
        return
    folder = Path(capture.folder)
    was_there = folder.exists()
    stack = contextlib.ExitStack()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        place = stack.enter_context(temporary(".cellrate-", parent=folder))
    except OSError as error:
        raise RunError(f"cannot write the capture {folder}: {error.strerror}") from None
    try:
        with stack:
            yield Stage(replace(capture, folder=folder), place)
    finally:
        if not was_there:
            # Unless there is a capture in it.
            with contextlib.suppress(OSError):
                folder.rmdir()
