"""A series of numbers from a text file."""

from __future__ import annotations

import re
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import CellrateError, shown
from ..plain_files import plain_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_OCTETS = 1_000_000_000
"""The largest file that is read."""


def read_series(file: str | Path, *, column: int = 1) -> NDArray[np.float64]:
    """Read a column of numbers.

    Parameters
    ----------
    file
        A text file with a row for each value; columns are parted by blanks, tabs, semicolons, or commas with or without
        a blank. Empty rows and rows that begin with # are passed over, and so is a first row of names.
    column
        Which column, counted from 1.

    Raises
    ------
    CellrateError
        If the file cannot be read, or a row has no number there; it says which.
    """
    import numpy as np

    if column < 1:
        raise CellrateError(f"column is {column}; columns are counted from 1")
    path = Path(file)
    values: list[float] = []
    with plain_file(path, most_octets=MOST_OCTETS) as opened:
        named = False
        for number, line in enumerate(TextIOWrapper(opened, encoding="utf-8-sig", errors="replace"), 1):
            row = line.strip()
            if not row or row.startswith("#"):
                continue
            cells = re.split(r"\s*[,;]\s*|\s+", row)
            text = cells[column - 1] if column <= len(cells) else ""
            try:
                values.append(float(text))
            except ValueError:
                if not values and not named and column <= len(cells):
                    named = True
                    continue
                said = shown(text) if text else f"no column {column}"
                raise CellrateError(f"{path}, row {number}: {said}; a number is due there") from None
    return np.array(values)
