"""How much of a line is left for the data of TCP over ABR."""

from __future__ import annotations

import math
from dataclasses import dataclass

CELL_BITS = 424
CELL_PAYLOAD_OCTETS = 48
TRAILER_OCTETS = 8
LLC_SNAP_OCTETS = 8
IP_OCTETS = 20
TCP_OCTETS = 20
TIMESTAMP_OCTETS = 12


@dataclass(frozen=True)
class Goodput:
    """The most that TCP can carry, factor by factor."""

    line_bps: float
    """Rate of the narrowest line, cells and all [bit/s]."""
    target: float
    """Share of it that the switch gives to ABR."""
    data_cells: float
    """Share of cells that are data: (Nrm - 1) / Nrm, one in Nrm is an RM cell."""
    payload: float
    """Share of the bits of those cells that are TCP's payload."""

    @property
    def bps(self) -> float:
        """Payload of TCP [bit/s]."""
        return self.line_bps * self.target * self.data_cells * self.payload


def goodput(
    line_bps: float, *, mtu_octets: int, target: float = 1.0, nrm: int | None = 32, timestamps: bool = True
) -> Goodput:
    """Give the most that one way of TCP can carry over AAL5 with LLC/SNAP, in full segments without loss.

    Parameters
    ----------
    line_bps
        Rate of the narrowest line [bit/s].
    mtu_octets
        Largest IP packet.
    target
        Target utilization of its switch [above 0 to 1].
    nrm
        In-rate cells per forward RM cell; None for UBR, which has no RM cells.
    timestamps
        Whether segments have the 12 octets of RFC 7323.

    Notes
    -----
    Backward RM cells of the ACKs' direction, about one in a thousand cells, are not counted.

    Examples
    --------
    9180 octets of IP are 192 cells with LLC/SNAP and trailer, and 9128 octets of them are payload:

    >>> round(goodput(10e6, mtu_octets=9180).bps / 1e6, 3)
    8.69
    """
    cells = math.ceil((mtu_octets + LLC_SNAP_OCTETS + TRAILER_OCTETS) / CELL_PAYLOAD_OCTETS)
    headers = IP_OCTETS + TCP_OCTETS + (TIMESTAMP_OCTETS if timestamps else 0)
    share = (mtu_octets - headers) * 8 / (cells * CELL_BITS)
    return Goodput(line_bps, target, 1.0 if nrm is None else (nrm - 1) / nrm, share)
