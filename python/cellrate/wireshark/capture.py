"""Captures of a run for Wireshark: which cells to write, and where to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import CellrateError
from ..seam import CaptureSettings

DEFAULT_LIMIT_OCTETS = 1_000_000_000
"""Most octets of a file of a capture unless said otherwise: some 10 million cells."""


@dataclass(frozen=True, kw_only=True)
class Capture:
    """Cells as they leave ports, and the AAL5 PDUs that they make up, as pcapng files in a folder.

    The files, cells.pcapng and pdus.pcapng, appear when they are whole; files of an earlier capture stay until then.

    Raises
    ------
    CellrateError
        If nothing would be captured.
    """

    folder: Path
    """Where the files go; it is made if it is not there."""
    ports: Sequence[str] | None = None
    """Ports by name, such as "sw1->sw2"; all that carry cells by default."""
    start_s: float = 0.0
    """Begin of the capture: cells that leave a port earlier are left out [s of network time]."""
    end_s: float | None = None
    """End of the capture: cells that leave at or after it are left out [s]; None for the end of the run."""
    cells: bool = True
    """Write cells.pcapng."""
    pdus: bool = True
    """Write pdus.pcapng: the PDUs of VCs with TCP."""
    limit_octets: int | None = DEFAULT_LIMIT_OCTETS
    """Most octets of a file; what does not fit is counted and left out. None for no limit."""

    def __post_init__(self) -> None:
        """Refuse what would capture nothing."""
        if not self.cells and not self.pdus:
            raise CellrateError("a capture needs cells, PDUs or both")
        if self.ports is not None and (isinstance(self.ports, str) or not self.ports):
            raise CellrateError('ports of a capture are a list of names, such as ["sw1->sw2"]')
        end_s = math.inf if self.end_s is None else self.end_s
        if not 0 <= self.start_s < end_s:
            raise CellrateError(
                f"a capture from {self.start_s} s to {end_s} s is empty; it begins at 0 or later and ends after that"
            )
        if self.limit_octets is not None and self.limit_octets < 0:
            raise CellrateError(f"the limit of a capture's files is {self.limit_octets} octets; it must be 0 or more")

    def check(self, duration_s: float) -> None:
        """Refuse to capture nothing of a run of this duration [s].

        Raises
        ------
        CellrateError
            If the capture begins when the run has ended.
        """
        if self.start_s >= duration_s:
            raise CellrateError(f"a capture from {self.start_s} s on has nothing of a run that ends at {duration_s} s")

    def _native(self) -> CaptureSettings:
        ports = None if self.ports is None else list(self.ports)
        return CaptureSettings(
            Path(self.folder), ports, self.start_s, self.end_s, self.cells, self.pdus, self.limit_octets
        )


@dataclass(frozen=True)
class CapturedFile:
    """A file of a capture."""

    path: Path
    """Where it is."""
    records: int
    """Cells or PDUs in it."""
    octets: int
    """Its length."""
    left_out: int
    """Cells or PDUs that did not fit into `Capture.limit_octets` any more."""

    def __str__(self) -> str:
        """Say it in a line."""
        what = "PDUs" if self.path.stem == "pdus" else "cells"
        missing = f"; {self.left_out:,} more did not fit" if self.left_out else ""
        return f"{self.path}: {self.records:,} {what}, {self.octets / 1e6:.1f} MB{missing}"
