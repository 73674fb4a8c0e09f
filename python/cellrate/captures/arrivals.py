"""A capture as arrivals, with what can be counted of them, and as traffic that a connection replays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import CellrateError
from .contents import CELL, Content, content
from .records import records

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
    first_ns: int
    """When the first came, as the file counts [ns since 1970]."""
    left_out: int
    """Records that are neither cells nor packets of IP."""

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
        return self._where(chosen)

    def only(self, connection: str) -> Arrivals:
        """Give those whose connection has exactly this name, none if there are none."""
        import numpy as np

        return self._where(np.array([one == connection for one in self.connections], dtype=bool))

    def data(self) -> Arrivals:
        """Give those that are not RM or OAM cells: what an application has sent."""
        import numpy as np

        return self._where(np.array([kind != "other" for kind in self.kinds], dtype=bool) & ~self.rm)

    def _where(self, chosen: NDArray[np.bool_]) -> Arrivals:
        def picked(values: Sequence[str]) -> tuple[str, ...]:
            return tuple(value for value, wanted in zip(values, chosen, strict=True) if wanted)

        return Arrivals(
            self.times_ns[chosen],
            self.cells[chosen],
            self.octets[chosen],
            picked(self.kinds),
            picked(self.connections),
            self.rm[chosen],
            self.clp[chosen],
            self.first_ns,
            self.left_out,
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
        In the order of time; records that are neither are counted in `left_out`.

    Raises
    ------
    CaptureError
        If it is none of these, or damaged; it says at which octet.
    """
    import numpy as np

    path = Path(file)
    times: list[int] = []
    found: list[Content] = []
    names: list[str] = []
    left_out = 0
    known: dict[tuple[str, int | None, int | None], str] = {}
    for record in records(path):
        try:
            what = content(record)
        except ValueError as error:
            raise CellrateError(f"{path}: {error}") from None
        if what is None:
            left_out += 1
            continue
        key = (record.interface, what.vpi, what.vci)
        if key not in known:
            known[key] = record.interface if what.vci is None else f"{record.interface} {what.vpi}/{what.vci}"
        times.append(record.time_ns)
        found.append(what)
        names.append(known[key])
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
        first,
        left_out,
    )


def _kind(one: Content) -> str:
    # OAM cells, of segments and end to end, have payload types 4 and 5; of virtual paths VCI 3 and 4.
    oam = one.kind == CELL and (one.pti in (4, 5) or one.vci in (3, 4))
    return "other" if oam else one.kind


def by_connection(arrivals: Arrivals) -> Iterator[tuple[str, dict[str, float]]]:
    """Give for each connection its cells, RM cells, OAM cells, cells with CLP = 1, records, span [s] and [cells/s]."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(arrivals.connections):
        places.setdefault(name, []).append(place)
    for name, chosen in places.items():
        cells = arrivals.cells[chosen]
        span = float(arrivals.times_ns[chosen[-1]] - arrivals.times_ns[chosen[0]]) / 1e9
        total = int(cells.sum())
        yield (
            name,
            {
                "records": len(chosen),
                "cells": total,
                "rm_cells": int(arrivals.rm[chosen].sum()),
                "oam_cells": sum(arrivals.kinds[place] == "other" for place in chosen),
                "clp_1": int(cells[arrivals.clp[chosen]].sum()),
                "octets": int(arrivals.octets[chosen].sum()),
                "span_s": span,
                # From the first to the last there is one arrival less than there are.
                "cells_per_s": (total - int(cells[-1])) / span if span > 0 else 0.0,
            },
        )
