"""A scenario's text into a file that is not there yet."""

from __future__ import annotations

from pathlib import Path

from ..errors import CellrateError


def write_new(file: Path, text: str) -> None:
    """Write a file whole; one that is there already is left alone.

    Raises
    ------
    CellrateError
        If it is there, or cannot be written; nothing half written stays.
    """
    try:
        with file.open("x", encoding="utf-8") as opened:
            try:
                opened.write(text)
                opened.flush()
            except BaseException:
                file.unlink(missing_ok=True)
                raise
    except FileExistsError:
        raise CellrateError(f"{file} is there already; give another name, or remove it") from None
    except OSError as error:
        raise CellrateError(f"{file} cannot be written: {error.strerror}") from None
