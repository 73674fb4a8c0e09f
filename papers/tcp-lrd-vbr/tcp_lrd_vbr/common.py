"""Helpers that the experiments share: the metrics of section 6 of the paper, seeds, means with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cellrate.papers.statistics import estimate
from cellrate.results import Result

BOTTLENECK = "sw1->sw2"
LINE_MBPS = 149.76
"""Every link [Mbps]."""
FEEDBACK_CELLS = 3670
"""The paper's measure of 10 ms of feedback delay [cells]."""
LONG_FEEDBACK_CELLS = 201_850
"""The paper's measure of 550 ms of feedback delay [cells]."""
SEEDS = range(1, 11)
"""Seeds of the runs of a row on the ground; a quick run has the first alone."""
SHORT_FEEDBACK_SEEDS, LONG_FEEDBACK_SEEDS = range(1, 6), range(1, 6)
"""Seeds of a row over the satellite, of which a run takes 170 s."""
ROW_SEEDS = range(1, 6)
"""Seeds of the rows that make a choice another way: differences of the same seeds need fewer."""
SETTINGS = {1: ("5 Mbps", "5 Mbps"), 2: ("7.5 Mbps", "7 Mbps"), 3: ("10 Mbps", "5 Mbps")}
"""Mean and standard deviation of a program's rate, by row."""
PROGRAMS, PROGRAM_MBPS = 9, 15.0
"""Video programs on the VBR connection, and the largest rate of one [Mbps]."""
FINE: Mapping[str, object] = {"probe.2.every": "1 ms"}
"""The queue every millisecond: the largest one, which a table prints, is in the picture."""
LARGEST_SHARE = {512: 0.78, 9140: 0.87}
"""Largest TCP throughput as a part of ABR capacity, by MSS [octets] (section 6)."""


@dataclass(frozen=True)
class Metrics:
    """The figures of one run, as section 6 of the paper defines them."""

    queue: float
    """Largest ABR queue of the bottleneck [cells]."""
    throughput: float
    """TCP payload delivered in order over the whole run, all connections [Mbps]."""
    vbr: float
    """VBR cells delivered, 53 octets each [Mbps]."""
    efficiency: float
    """Throughput against 0.78 or 0.87 of what VBR leaves of the line [%]."""
    retransmitted: int
    """Segments sent again."""
    dropped: int
    """Cells lost anywhere."""


def metrics(result: Result, mss: int) -> Metrics:
    """Measure a run."""
    duration = result.summary["run"]["duration_s"]
    transfers = result.summary["tcp"]
    throughput = sum(row["delivered_octets"] for row in transfers) * 8e-6 / duration
    vbr = result.vc("vbr")["throughput_bps"] * 1e-6
    return Metrics(
        queue=float(result.port(BOTTLENECK)["max_abr_queue"]),
        throughput=throughput,
        vbr=vbr,
        efficiency=efficiency(throughput, vbr, mss),
        retransmitted=sum(row["retransmitted"] for row in transfers),
        dropped=sum(row["dropped"] for row in result.summary["vcs"]),
    )


def efficiency(throughput: float, vbr: float, mss: int) -> float:
    """Throughput [Mbps] against the largest possible one beside `vbr` [Mbps], in percent."""
    return 100.0 * throughput / (LARGEST_SHARE[mss] * (LINE_MBPS - vbr))


@dataclass(frozen=True)
class Sample:
    """Values of independent seeds."""

    values: Sequence[float]

    @property
    def mean(self) -> float:
        """Their mean."""
        return sum(self.values) / len(self.values)

    def interval(self) -> float:
        """Half of the 95 % confidence interval of the mean; nan of one value."""
        return estimate(self.values).half_width

    def text(self, digits: int) -> str:
        """Write the mean and its interval: "6,100 +- 400"."""
        mean = f"{self.mean:,.{digits}f}"
        return mean if len(self.values) < 2 else f"{mean} ± {self.interval():,.{digits}f}"
