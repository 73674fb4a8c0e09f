"""Helpers that the experiments share: the metrics of section 6 of the paper, seeds, means with their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cellrate.results import Result

BOTTLENECK = "sw1->sw2"
LINE_MBPS = 149.76
"""Every link [Mbps]."""
FEEDBACK_CELLS = 3670
"""The paper's measure of 10 ms of feedback delay [cells]."""
LONG_FEEDBACK_CELLS = 201_850
"""The paper's measure of 550 ms of feedback delay [cells]."""
SEEDS = range(1, 11)
"""Seeds of the runs of a row; a quick run has the first alone."""
ROW_SEEDS = range(1, 6)
"""Seeds of the rows that make a choice another way: differences of the same seeds need fewer."""
SETTINGS = {1: ("5 Mbps", "5 Mbps"), 2: ("7.5 Mbps", "7 Mbps"), 3: ("10 Mbps", "5 Mbps")}
"""Mean and standard deviation of a program's rate, by row."""
PROGRAMS, PROGRAM_MBPS = 9, 15.0
"""Video programs on the VBR connection, and the largest rate of one [Mbps]."""
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


_T_95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)
"""Student's t, two-sided 95 %, by degrees of freedom from 1 on."""


@dataclass(frozen=True)
class Sample:
    """Values of independent seeds."""

    values: Sequence[float]

    @property
    def mean(self) -> float:
        """Their mean."""
        return sum(self.values) / len(self.values)

    @property
    def deviation(self) -> float:
        """Their standard deviation; 0 of one value."""
        if len(self.values) < 2:
            return 0.0
        return math.sqrt(sum((value - self.mean) ** 2 for value in self.values) / (len(self.values) - 1))

    @property
    def _t(self) -> float:
        return _T_95[min(len(self.values) - 1, len(_T_95)) - 1]

    def interval(self) -> float:
        """Half of the 95 % confidence interval of the mean; infinite of one value."""
        return self._t * self.deviation / math.sqrt(len(self.values)) if len(self.values) > 1 else math.inf

    def expects(self, value: float) -> bool:
        """Whether one more run would be expected to give `value`: the 95 % prediction interval holds it."""
        n = len(self.values)
        return abs(value - self.mean) <= self._t * self.deviation * math.sqrt(1 + 1 / n)

    def text(self, digits: int) -> str:
        """Write the mean and its interval: "6,100 +- 400"."""
        mean = f"{self.mean:,.{digits}f}"
        return mean if len(self.values) < 2 else f"{mean} ± {self.interval():,.{digits}f}"
