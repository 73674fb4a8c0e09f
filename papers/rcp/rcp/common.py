"""Closed forms of the report, and completion times of a run beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cellrate.results import Result

LINE = 288_461.0
"""Cells that the line takes [1/s]: a tenth of the source's packets, of ten cells each."""
PACKET_CELLS = 10
ROUND_TRIP_S = 0.1
LINE_PORT = "sw1->sw2"
SIZES = (10, 100, 1000)
"""Packets of the flows that have one size."""
ALGORITHM = "defaults.switch.algorithm"
GAP = "flows.pareto.arrivals.gap"
NRM = "defaults.abr.nrm"
IN_BAND: Mapping[str, object] = {"defaults.abr.rm": "in-band", NRM: 1}
"""Every data cell carries the rate, as every packet of the source does, and none is spent on it."""
GAINS: Mapping[str, object] = {f"{ALGORITHM}.alpha": 0.1, f"{ALGORITHM}.beta": 1}
"""Gains of figure 12's runs."""
ALGORITHMS: Mapping[str, Mapping[str, object]] = {
    "RCP": {},
    "RCP, beta 0": {f"{ALGORITHM}.beta": 0},
    "RCP, alpha 0.1, beta 1": {**GAINS, f"{ALGORITHM}.first": 0.1},
    "ERICA": {ALGORITHM: '{ type = "erica", target_utilization = "95 %", interval = "5 ms" }'},
    "ERICA+": {ALGORITHM: '{ type = "erica+", interval = "5 ms" }'},
}
"""Settings of flows.toml and of round-trips.toml."""
QUICK: Mapping[str, object] = {"duration": "12 s", "warm_up": "5 s"}
SHORT: Mapping[str, object] = {"duration": "26 s", "warm_up": "8 s"}


def sharing(packets: float, line: float, load: float, round_trip_s: float = ROUND_TRIP_S) -> float:
    """Give the report's closed form for processor sharing [s]: 1.5 RTT + L / (C (1 - load)); `line` in packets/s."""
    return 1.5 * round_trip_s + packets / (line * (1 - load))


def slow_start(packets: float, line: float, round_trip_s: float = ROUND_TRIP_S) -> float:
    """Give the report's closed form for slow start [s]: (log2(L + 1) + 1/2) RTT + L / C; `line` in packets/s."""
    return (math.log2(packets + 1) + 0.5) * round_trip_s + packets / line


def gap(load: float, *, tcp: bool = False, in_band: bool = False) -> str:
    """Set the mean gap of Pareto flows, so that these and the flows of one size, 6 % of the line, come to `load`."""
    cells = 258 if tcp else 260 if in_band else 269
    return f"{1e6 * cells / (LINE * (load - 0.06)):.1f} us"


@dataclass(frozen=True)
class Class:
    """Flows of one entry, all sizes or a class of them."""

    count: int
    packets: float
    """In the mean."""
    time_s: float
    """In the mean."""

    @classmethod
    def of(cls, row: Mapping[str, Any], octets: float) -> Class:
        """Read a row of `completions` whose packets have so many octets."""
        if not row["count"]:
            return cls(0, math.nan, math.nan)
        return cls(row["count"], row["mean_octets"] / octets, row["mean_time_s"])


@dataclass(frozen=True)
class Seen:
    """Completion times of a run beside those of processor sharing at the load that was measured."""

    load: float
    queue: float
    """In the mean [cells]."""
    line: float
    """[cells/s]."""
    rows: tuple[Mapping[str, Any], ...]
    octets: float
    """Payload of a packet or segment."""
    cells: float
    """Cells of a packet, RM cells included."""

    @classmethod
    def of(cls, result: Result, line: float = LINE) -> Seen:
        """Read a run of flows.toml, tcp.toml, sharing.toml or of the two with unequal round trips.

        An RM cell in Nrm counts as part of packets. Where data cells carry the rate, those that leave in each Trm for
        the cells that are turned around, one in thousands, do not.
        """
        port = result.port(LINE_PORT)
        tcp = bool(result.summary["tcp"])
        there = [row for row in result.summary["vcs"] if row["data_sent"]]
        rm = 100 * sum(row["forward_rm_sent"] for row in there) > sum(row["data_sent"] for row in there)
        nrm = int(result.settings.get(NRM, 32))
        return cls(
            load=port["utilization"],
            queue=port["mean_queue"],
            line=line,
            rows=tuple(result.summary["completions"]),
            octets=432 if tcp else 472,
            cells=PACKET_CELLS * (nrm / (nrm - 1) if rm else 1),
        )

    def flows(self, name: str, from_octets: int = 0, below_octets: int | None = None) -> Class:
        """Give the flows of an entry, all of them or those of a class of sizes."""
        for row in self.rows:
            if (row["flows"], row["from_octets"], row["below_octets"]) == (name, from_octets, below_octets):
                return Class.of(row, self.octets)
        return Class(0, math.nan, math.nan)

    def sharing(self, packets: float, round_trip_s: float = ROUND_TRIP_S) -> float:
        """Give processor sharing's time at the measured load [s]; NaN where the line was full."""
        if self.load >= 0.999:
            return math.nan
        return sharing(packets, self.line / self.cells, self.load, round_trip_s)

    def ratio(self, flows: Class, round_trip_s: float = ROUND_TRIP_S) -> float:
        """Give the mean time over processor sharing's."""
        return flows.time_s / self.sharing(flows.packets, round_trip_s)

    def all(self) -> float:
        """Give the ratio of all Pareto flows."""
        return self.ratio(self.flows("pareto"))

    def by_size(self) -> dict[int, float]:
        """Give the ratios of the flows of one size, by packets."""
        return {size: self.ratio(self.flows(f"{size}-packets")) for size in SIZES}

    def said(self) -> str:
        """Write the ratios, the load and the queue."""
        sizes = ", ".join(
            f"{self.ratio(one):.2f} ({size:,} packets, {one.count:,} flows)" for size, one in self._sizes()
        )
        return f"{self.all():.2f} (all), {sizes}; load {self.load:.2f}, mean queue {self.queue:,.0f} cells"

    def _sizes(self) -> list[tuple[int, Class]]:
        return [(size, self.flows(f"{size}-packets")) for size in SIZES]
