"""A capture as arrivals, with what can be counted of them, and as traffic that a connection replays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from ..errors import CellrateError
from .contents import CELL, Content, content
from .records import LeftOut, records

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RM_PTI = 6
"""Payload type of RM cells."""


@dataclass(frozen=True, eq=False)
class Arrivals:
    """Arrivals in the order of time, the first at 0. All arrays are equally long."""

    times_ns: NDArray[np.int64]
    """Since the first [ns]."""
    cells: NDArray[np.int64]
    """Cells of each: 1 of a cell, those that AAL5 makes of a PDU or a packet."""
    octets: NDArray[np.int64]
    """Octets that AAL5 carries of a PDU or packet, LLC/SNAP included; of a cell 48."""
    kinds: tuple[str, ...]
    """Kind of each: "cell", "pdu" or "packet"."""
    connections: tuple[str, ...]
    """Connection of each: "interface vpi/vci", or the interface alone where the capture knows no connection."""
    rm: NDArray[np.bool_]
    """Whether each is an RM cell."""
    clp: NDArray[np.bool_]
    """Whether each has CLP = 1."""
    management: tuple[str, ...]
    """Flow and function of each OAM cell, such as "F5 end to end loopback request", "RM" of an RM cell, else nothing.
    An OAM cell whose CRC-10 is wrong has its flow only."""
    damaged: NDArray[np.bool_]
    """Whether each is an OAM or RM cell whose CRC-10 is wrong."""
    first_ns: int
    """When the first came, as the file counts [ns since 1970]."""
    left_out: int
    """Records and blocks that were passed over; the end of a file that is cut is not among them."""
    omitted: tuple[str, ...] = ()
    """Parts that were passed over and why, a phrase each, such as "3 records neither of cells nor of packets of IP"."""

    def __len__(self) -> int:
        """Count what came."""
        return len(self.times_ns)

    def of(self, connection: str) -> Arrivals:
        """Give those of one connection, or of all at one interface; times stay what they are.

        Raises
        ------
        CellrateError
            If there are none; it says which there are.
        """
        import numpy as np

        chosen = np.array([connection in (one, one.rpartition(" ")[0]) for one in self.connections], dtype=bool)
        if not chosen.any():
            names = sorted(set(self.connections))
            known = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
            raise CellrateError(f'the capture has nothing of "{connection}"; it has {known or "nothing at all"}')
        return self._at(np.flatnonzero(chosen))

    def by_name(self) -> dict[str, Arrivals]:
        """Give the arrivals of each connection, in the order in which connections appear first."""
        return {name: self._at(places) for name, places in _places(self.connections).items()}

    def data(self) -> Arrivals:
        """Give those that are not RM or OAM cells: what an application has sent."""
        import numpy as np

        return self._at(np.flatnonzero(np.array([kind != "other" for kind in self.kinds], dtype=bool) & ~self.rm))

    def _at(self, places: Sequence[int] | NDArray[np.intp]) -> Arrivals:
        def picked(values: Sequence[str]) -> tuple[str, ...]:
            return tuple(values[place] for place in places)

        return Arrivals(
            self.times_ns[places],
            self.cells[places],
            self.octets[places],
            picked(self.kinds),
            picked(self.connections),
            self.rm[places],
            self.clp[places],
            picked(self.management),
            self.damaged[places],
            self.first_ns,
            self.left_out,
            self.omitted,
        )

    def counts(self, every_s: float) -> NDArray[np.int64]:
        """Count cells in intervals of so many seconds, from the first arrival to the last, as `cellrate hurst` reads.

        Raises
        ------
        CellrateError
            If there are none, or too many intervals.
        """
        import numpy as np

        every_ns = round(every_s * 1e9)
        if every_ns < 1:
            raise CellrateError(f"an interval of {every_s} s is too short; a capture counts in nanoseconds")
        if not len(self):
            raise CellrateError("the capture has nothing to count")
        intervals = int(self.times_ns[-1] - self.times_ns[0]) // every_ns + 1
        if intervals > 100_000_000:
            raise CellrateError(f"{intervals:,} intervals of {every_s} s are too many; 100,000,000 is the most")
        places = (self.times_ns - self.times_ns[0]) // every_ns
        return np.bincount(places, weights=self.cells, minlength=intervals).astype(np.int64)

    def timed(self) -> list[tuple[int, int]]:
        """Give instants [ns], each once, and how many cells come then: what traffic of type "timed" sends."""
        merged: list[tuple[int, int]] = []
        for time, cells in zip(self.times_ns.tolist(), self.cells.tolist(), strict=True):
            if merged and merged[-1][0] == time:
                merged[-1] = (time, merged[-1][1] + cells)
            else:
                merged.append((time, cells))
        return merged


def read_capture(file: str | Path) -> Arrivals:
    """Read a capture as arrivals.

    Parameters
    ----------
    file
        pcap, pcapng or ERF. Cells (ERF types 3 and 7) stay cells; AAL5 PDUs (ERF types 4 and 9, SunATM, RFC 1483) and
        packets of IP (raw, Ethernet with or without VLAN, Linux cooked) have the cells that AAL5 makes of them.

    Returns
    -------
    Arrivals
        In the order of time. Records of another kind, those that claim more octets than AAL5 carries, and the end of a
        file that is cut within a record are passed over: `left_out` counts them, `omitted` says which.

    Raises
    ------
    CaptureError
        If the file has no known format, no readable record, or damage; the error says at which octet.
    """
    import numpy as np

    path = Path(file)
    times: list[int] = []
    found: list[Content] = []
    names: list[str] = []
    passed_over: Counter[LeftOut] = Counter()
    known: dict[tuple[str, int | None, int | None], str] = {}
    for record in records(path):
        if isinstance(record, LeftOut):
            passed_over[record] += 1
            continue
        what = content(record)
        if isinstance(what, LeftOut):
            passed_over[what] += 1
            continue
        key = (record.interface, what.vpi, what.vci)
        if key not in known:
            known[key] = record.interface if what.vci is None else f"{record.interface} {what.vpi}/{what.vci}"
        times.append(record.time_ns)
        found.append(what)
        names.append(known[key])
    omitted = tuple(_phrase(one, number) for one, number in passed_over.items())
    if not found and omitted:
        raise CellrateError(f"{path} has nothing that can be read: {'; '.join(omitted)}")
    order = sorted(range(len(times)), key=times.__getitem__)
    first = times[order[0]] if order else 0
    if order and times[order[-1]] - first >= 1 << 63:
        raise CellrateError(f"{path}: its stamps lie more than 292 years apart")
    contents = [found[place] for place in order]
    return Arrivals(
        np.array([times[place] - first for place in order], dtype=np.int64),
        np.array([one.cells for one in contents], dtype=np.int64),
        np.array([48 if one.kind == CELL else one.sdu_octets for one in contents], dtype=np.int64),
        tuple(_kind(one) for one in contents),
        tuple(names[place] for place in order),
        np.array([one.kind == CELL and one.pti == RM_PTI for one in contents], dtype=bool),
        np.array([one.clp == 1 for one in contents], dtype=bool),
        tuple(one.management for one in contents),
        np.array([one.is_damaged for one in contents], dtype=bool),
        first,
        sum(number for one, number in passed_over.items() if one.noun),
        omitted,
    )


def _phrase(one: LeftOut, number: int) -> str:
    if not one.noun:
        return one.reason
    return f"{number:,} {one.noun}{'' if number == 1 else 's'} {one.reason}"


def _kind(one: Content) -> str:
    return "other" if one.management not in ("", "RM") else one.kind


def _places(names: Sequence[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(name, []).append(place)
    return places


class Row(TypedDict):
    """Counts of one connection of a capture."""

    records: int
    cells: int
    rm_cells: int
    rm_damaged: int
    """RM cells whose CRC-10 is wrong."""
    oam_cells: int
    oam: dict[str, int]
    """OAM cells by flow and function; where the CRC-10 is wrong, by flow and "with a wrong CRC-10"."""
    clp_1: int
    octets: int
    span_s: float
    cells_per_s: float


def by_connection(arrivals: Arrivals) -> Iterator[tuple[str, Row]]:
    """Give for each connection its cells, RM cells, OAM cells, cells with CLP = 1, records, span [s] and [cells/s]."""
    for name, chosen in _places(arrivals.connections).items():
        cells = arrivals.cells[chosen]
        span = float(arrivals.times_ns[chosen[-1]] - arrivals.times_ns[chosen[0]]) / 1e9
        total = int(cells.sum())
        managed = [place for place in chosen if arrivals.management[place]]
        oam: Counter[str] = Counter()
        for place in managed:
            if arrivals.management[place] != "RM":
                wrong = " with a wrong CRC-10" if arrivals.damaged[place] else ""
                oam[f"{arrivals.management[place]}{wrong}"] += 1
        yield (
            name,
            {
                "records": len(chosen),
                "cells": total,
                "rm_cells": int(arrivals.rm[chosen].sum()),
                "rm_damaged": sum(bool(arrivals.rm[place] & arrivals.damaged[place]) for place in managed),
                "oam_cells": oam.total(),
                "oam": dict(oam),
                "clp_1": int(cells[arrivals.clp[chosen]].sum()),
                "octets": int(arrivals.octets[chosen].sum()),
                "span_s": span,
                # From the first to the last there is one arrival less than there are.
                "cells_per_s": (total - int(cells[-1])) / span if span > 0 else 0.0,
            },
        )
