"""Situations: a connection and its path, as far as they are known."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import get_args

from ..choices import Application, Switches
from ..errors import CellrateError
from ..quantities import CELL_BITS

MAX_24_BITS = 16_777_215
"""The largest rate [cells/s], TBE [cells] and FRTT [us] that signalling carries."""
SATELLITE_ONE_WAY_S = 0.275
"""Propagation delay of one satellite hop [s] (section 6.2.1)."""
SECONDS_PER_KM = 5e-6
"""Propagation delay of light in fibre [s/km]."""


@dataclass(frozen=True, kw_only=True)
class Situation:
    """A connection and its path, as far as they are known.

    Raises
    ------
    CellrateError
        If a value is out of range; the text says which, and what is allowed.
    """

    link_bps: float
    """Rate of the slowest link [bit/s], headers and all; at least 424 (a cell a second)."""
    round_trip_s: float
    """Round-trip time without queues and without satellite hops [s]; 0 or more."""
    satellite_hops: int = 0
    """Geostationary hops, 275 ms each way."""
    buffer_cells: int = 4096
    """Room for ABR cells in each switch, the one in transmission included [cells]; 1 or more."""
    switches: Switches = "erica"
    """How they give feedback."""
    number_of_switches: int = 2
    """Switches on the path."""
    application: Application = "bulk"
    """Kind of application on the connection."""
    rate_bps: float | None = None
    """Rate that the application must have [bit/s]; by application when None."""
    sources: int = 2
    """Connections that share the slowest link, this one included."""
    video_bps: float = 0
    """Mean rate of video beside these connections on the slowest link, as VBR, which goes first [bit/s]."""
    charging: int | None = None
    """k, where the price limits PCR to k x MCR (section 3.2) [2 to 10]; None where it does not."""

    def __post_init__(self) -> None:
        """Hold every value to its range."""
        _within("link rate [bit/s]", self.link_bps, CELL_BITS, MAX_24_BITS * CELL_BITS)
        _within("round trip [s]", self.round_trip_s, 0, 16)
        _within("number of satellite hops", self.satellite_hops, 0, 29)
        _within("buffer [cells]", self.buffer_cells, 1, 1e9)
        _within("number of switches", self.number_of_switches, 1, 100)
        _within("number of sources", self.sources, 1, 10_000)
        _one_of("application", self.application, get_args(Application))
        _one_of("switches", self.switches, get_args(Switches))
        if self.frtt_s * 1e6 > MAX_24_BITS:
            raise CellrateError(f"the round trip is {self.frtt_s:g} s; signalling carries at most 16.777215 s")
        if self.rate_bps is not None:
            _within("rate of the application [bit/s]", self.rate_bps, 0, self.link_bps)
        if not 0 <= self.video_bps < self.link_bps:
            raise CellrateError(f"video takes {self.video_bps:g} bit/s; the slowest link has {self.link_bps:g}")
        if self.charging is not None:
            _within("charging factor k", self.charging, 2, 10)
            if self.rate_bps == 0:
                raise CellrateError("rate of the application [bit/s] is 0; with a charging factor it must be above 0")

    @property
    def frtt_s(self) -> float:
        """Round-trip time without queues [s]."""
        return self.round_trip_s + self.satellite_hops * 2 * SATELLITE_ONE_WAY_S

    @property
    def line(self) -> float:
        """The slowest link [cells/s]."""
        return self.link_bps / CELL_BITS

    @property
    def left(self) -> float:
        """The part of the slowest link that video leaves in the mean [cells/s]."""
        return self.line - self.video_bps / CELL_BITS

    @property
    def explicit(self) -> bool:
        """Whether switches compute explicit rates."""
        return self.switches in ("erica", "eprca")

    @property
    def real_time(self) -> bool:
        """Whether the application needs a steady rate more than a high one."""
        return self.application in ("video", "voice")


def _within(what: str, value: float, low: float, high: float) -> None:
    if not (isfinite(value) and low <= value <= high):
        raise CellrateError(f"{what} is {value:g}; it must be from {low:g} to {high:g}")


def _one_of(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise CellrateError(f"{what} is {value!r}; it must be one of {', '.join(known)}")
