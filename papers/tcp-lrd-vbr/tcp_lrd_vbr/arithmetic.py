"""The paper's figures held against each other: calculation alone, no runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cellrate.papers.experiment import Drawing, Experiment, Finding, Results

from .common import LARGEST_SHARE, LINE_MBPS, PROGRAM_MBPS, PROGRAMS, efficiency
from .tables import IMPOSSIBLE, PUBLISHED, PUBLISHED_VBR


def implied_vbr(throughput: float, percent: float, mss: int = 512) -> float:
    """VBR throughput [Mbps] that makes a throughput [Mbps] this efficient."""
    return LINE_MBPS - throughput / (percent / 100 * LARGEST_SHARE[mss])


def payload_share(mss: int) -> float:
    """Largest TCP throughput as a part of ABR capacity: whole cells, and 31 of 32 cells."""
    cells = -(-(mss + 56) // 48)
    return mss / (cells * 53) * 31 / 32


def bounded_mean(mean: float, deviation: float, most: float = PROGRAM_MBPS) -> float:
    """Give the mean of normal values of which those outside 0 and `most` are ignored."""
    low, high = -mean / deviation, (most - mean) / deviation

    def density(x: float) -> float:
        return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)

    within = (math.erf(high / math.sqrt(2)) - math.erf(low / math.sqrt(2))) / 2
    return mean + deviation * (density(low) - density(high)) / within


def _findings(results: Results) -> Sequence[Finding]:
    del results
    possible = LARGEST_SHARE[512] * (LINE_MBPS - PUBLISHED_VBR[3])
    row_3 = PUBLISHED[1][3]
    most = PROGRAMS * PROGRAM_MBPS
    shares = [100 * payload_share(mss) for mss in (512, 9140)]
    return [
        Finding(
            "arithmetic.row-3",
            f"{possible * row_3[2] / 100:.2f} Mbps",
            False,
            f"0.78 x (149.76 - 82.28) = {possible:.2f} Mbps is the most; "
            f"82.88 is {efficiency(row_3[1], PUBLISHED_VBR[3], 512):.0f} % of that.",
        ),
        *_row_2(),
        _rows(),
        Finding("arithmetic.monotone", "7078 > 6775", False, "Row 2 has the lower ABR capacity and the longer queue."),
        Finding("arithmetic.ninety", "88.4 % < 90 %", False, "Text and table disagree."),
        _cost(),
        Finding(
            "arithmetic.sources",
            f"{100 * most / LINE_MBPS:.1f} %",
            False,
            f"{PROGRAMS} programs of at most {PROGRAM_MBPS:.0f} Mbps are {most:.0f} Mbps; eight would be "
            f"{100 * 8 * PROGRAM_MBPS / LINE_MBPS:.1f} %.",
        ),
        Finding(
            "arithmetic.cells", f"{LINE_MBPS * 1e3 / 424:.1f} cells/ms", False, "155.52 Mbps / 424 = 366.8 cells/ms."
        ),
        Finding("arithmetic.amplitude", f"{0.8 * LINE_MBPS:.2f} Mbps", False, "0.8 x 149.76 Mbps."),
        Finding(
            "arithmetic.payload",
            f"{payload_share(512) * LINE_MBPS:.1f} Mbps",
            False,
            f"121.3 Mbps is 0.78 x 155.52 = {0.78 * 155.52:.1f} Mbps: the line rate of arithmetic.cells and "
            "arithmetic.amplitude once more. 116.3 Mbps has one digit that is another.",
        ),
        Finding(
            "arithmetic.mss", f"{shares[0]:.1f} %, {shares[1]:.1f} %", round(shares[0]) == 78 and round(shares[1]) == 87
        ),
    ]


LIKELY_EFFICIENCY, LIKELY_THROUGHPUT = 92.5, 51.50
"""What row 2 of tables 3 and 5 may have been before a digit was misprinted: 82.5 % and 49.50 Mbps [%, Mbps]."""


def _row_2() -> list[Finding]:
    """Hold row 2 of tables 3 and 5 against the VBR of its mean and deviation."""
    vbr = PROGRAMS * bounded_mean(7.5, 7)
    (_, short, said_3), (_, said_5, long) = PUBLISHED[3][2], PUBLISHED[5][2]
    return [
        Finding(
            "arithmetic.table-3",
            f"{efficiency(short, vbr, 512):.1f} %",
            False,
            f"VBR has priority and does not depend on the path: {vbr:.1f} Mbps in closed form, 67.3 in ten runs of "
            f"170 s, with a standard deviation of 0.5. {said_3} % leave {implied_vbr(short, said_3):.1f} Mbps to it. "
            f"One digit would explain it: {LIKELY_EFFICIENCY} % leave {implied_vbr(short, LIKELY_EFFICIENCY):.1f}.",
        ),
        Finding(
            "arithmetic.table-5",
            f"{long / 100 * LARGEST_SHARE[512] * (LINE_MBPS - vbr):.2f} Mbps",
            False,
            f"{said_5:.2f} Mbps leave {implied_vbr(said_5, long):.1f} Mbps to VBR, as little possible as table 3's "
            f"{implied_vbr(short, said_3):.1f}. One digit less would explain it: {LIKELY_THROUGHPUT:.2f} Mbps leave "
            f"{implied_vbr(LIKELY_THROUGHPUT, long):.1f}, what table 3 has with {LIKELY_EFFICIENCY} %.",
        ),
    ]


def _rows() -> Finding:
    """Hold the other rows against each other: table 1 against the VBR printed beside it, table 3 against table 5."""
    texts, apart = [], []
    for row in (1, 2, 3):
        implied = {
            table: implied_vbr(rows[row][1], rows[row][2])
            for table, rows in PUBLISHED.items()
            if not any((table, row, metric) in IMPOSSIBLE for metric in ("throughput", "efficiency"))
        }
        if 1 in implied:
            texts.append(f"{implied[1]:.2f} beside {PUBLISHED_VBR[row]:.2f} (table 1, row {row})")
            apart.append(implied[1] - PUBLISHED_VBR[row])
        if 3 in implied and 5 in implied:
            texts.append(f"{implied[3]:.2f} and {implied[5]:.2f} (tables 3 and 5, row {row})")
            apart.append(implied[3] - implied[5])
    holds = max(map(abs, apart)) < 0.5
    return Finding("arithmetic.rows", ", ".join(texts) + " Mbps", holds, "" if holds else "They do not agree.")


def _cost() -> Finding:
    """Hold what a long feedback delay is said to cost against tables 1 and 5."""
    rows = [(PUBLISHED[1][row], PUBLISHED[5][row]) for row in (1, 2, 3)]
    octets = [100 * (1 - far[1] / near[1]) for near, far in rows[:2]]
    points = [near[2] - far[2] for near, far in rows]
    return Finding(
        "arithmetic.long-cost",
        f"throughput lower by {octets[0]:.1f} and {octets[1]:.1f} % (rows 1, 2), efficiency by "
        f"{', '.join(f'{value:.1f}' for value in points)} points",
        False,
        f"Only row 3 is within. With {LIKELY_THROUGHPUT:.2f} Mbps in row 2 of table 5 (arithmetic.table-5) that "
        f"throughput is lower by {100 * (1 - LIKELY_THROUGHPUT / rows[1][0][1]):.1f} %, and still not within. "
        "Table 6 against table 2 may be.",
    )


def _drawings(results: Results) -> Sequence[Drawing]:
    del results
    return []


EXPERIMENT = Experiment(
    name="arithmetic", title="The paper's arithmetic", points={}, findings=_findings, drawings=_drawings
)
"""No runs."""
