"""Measurements on a run, and on several runs: means, intervals, fairness."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from cellrate.papers.statistics import Estimate, estimate, jain
from cellrate.results import Result

LINK_MBPS = 150.0
"""Every link of the paper [Mbps]."""
BOTTLENECK = "sw1->sw2"
GOODPUT_SHARE = 1460 * 8 / (32 * 424) * 31 / 32
"""Octets of the user in a saturated link: 1460 in 32 cells, of which one in 32 more is an RM cell; 0.8339."""


@dataclass(frozen=True)
class Measured:
    """One run."""

    goodput: tuple[float, ...]
    """Goodput of each TCP connection [Mbps]."""
    efficiency: tuple[float, ...]
    """Octets acknowledged over octets offered, of each [0 to 1]."""
    waste: float
    """Share of the bottleneck that stays unused [0 to 1]."""
    lost: int
    """Cells of the TCP connections lost, ACKs and RM cells included."""
    background_lost: int
    """Cells of VBR lost."""
    retransmitted: int
    """Segments sent again."""
    timeouts: int
    fast_retransmits: int
    background: float
    """VBR that its sources sent [Mbps]."""


def measure(result: Result) -> Measured:
    """Read the figures of a run."""
    tcp, flows = result.summary["tcp"], result.summary["vcs"]
    vbr = [row for row in flows if row["category"] == "vbr"]
    return Measured(
        goodput=tuple(row["goodput_bps"] / 1e6 for row in tcp),
        # A connection that never had an ACK has offered for nothing.
        efficiency=tuple(row["efficiency"] or 0.0 for row in tcp),
        waste=1.0 - result.port(BOTTLENECK)["utilization"],
        lost=sum(row["dropped"] for row in flows if row["category"] != "vbr"),
        background_lost=sum(row["dropped"] for row in vbr),
        retransmitted=sum(row["retransmitted"] for row in tcp),
        timeouts=sum(row["timeouts"] for row in tcp),
        fast_retransmits=sum(row["fast_retransmits"] for row in tcp),
        background=sum(row["sent"] for row in vbr) * 424 / 1e6 / result.summary["run"]["duration_s"],
    )


@dataclass(frozen=True)
class Sample:
    """Replications of one point of a curve."""

    runs: tuple[Measured, ...]

    def of(self, figure: Callable[[Measured], float]) -> Estimate:
        """Estimate a figure."""
        return estimate([figure(run) for run in self.runs])

    def goodput(self, connection: int) -> Estimate:
        """Give the goodput of a connection [Mbps]."""
        return self.of(lambda run: run.goodput[connection])

    @property
    def total(self) -> Estimate:
        """Goodput of all connections [Mbps]."""
        return self.of(lambda run: math.fsum(run.goodput))

    @property
    def efficiency(self) -> Estimate:
        """Mean over the connections [0 to 1]."""
        return self.of(lambda run: math.fsum(run.efficiency) / len(run.efficiency))

    @property
    def waste(self) -> Estimate:
        """Link waste [0 to 1]."""
        return self.of(lambda run: run.waste)

    @property
    def fairness(self) -> float:
        """Jain's index of the mean goodputs."""
        return jain(self.goodput(connection).mean for connection in range(len(self.runs[0].goodput)))

    def count(self, figure: Callable[[Measured], int]) -> int:
        """Add up a count over the replications."""
        return sum(figure(run) for run in self.runs)


def fair_share(load: float, connections: int) -> float:
    """Give the goodput that each connection would have if the link's rest were shared and full [Mbps].

    Parameters
    ----------
    load
        Mean background [Mbps].
    connections
        How many share the rest.
    """
    return (LINK_MBPS - load) * GOODPUT_SHARE / connections
