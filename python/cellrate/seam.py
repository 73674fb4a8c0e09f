"""Types of what crosses between Python and the compiled module."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Recent: TypeAlias = "Sequence[tuple[int, NDArray[np.uint64], NDArray[np.float64]]]"
"""Series that have new values: place, instants [ps] and values."""


class CaptureSettings(NamedTuple):
    """Settings of capture files: which cells of a run are written."""

    folder: Path
    ports: list[str] | None
    """By name; all that carry cells if None."""
    begin_s: float
    """From when on [s]."""
    end_s: float | None
    """Until when [s]; to the end if None."""
    cells: bool
    """Whether cells are written."""
    pdus: bool
    """Whether PDUs of AAL5 are written."""
    file_octets: int | None
    """The most octets of a file."""
