"""The paper's figures held against each other: calculation alone, no runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cellrate.papers.experiment import Drawing, Experiment, Finding, Results

from .common import LARGEST_SHARE, LINE_MBPS, PROGRAM_MBPS, PROGRAMS, efficiency
from .tables import IMPOSSIBLE, PUBLISHED, PUBLISHED_VBR, mss_of


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


LIKELY_VBR = 67.85
"""VBR as it may have been in row 2 of tables 3 and 4 before a digit was misread: 57.85 [Mbps]."""


def _row_2() -> list[Finding]:
    """Hold row 2 of tables 3 and 4 against the VBR of its mean and deviation."""
    vbr = PROGRAMS * bounded_mean(7.5, 7)
    implied = [implied_vbr(PUBLISHED[table][2][1], PUBLISHED[table][2][2], mss_of(table)) for table in (3, 4, 5, 6)]
    likely = [efficiency(PUBLISHED[table][2][1], LIKELY_VBR, mss_of(table)) for table in (3, 4)]
    return [
        Finding(
            "arithmetic.row-2",
            f"{likely[0]:.1f} %, {likely[1]:.1f} %",
            False,
            f"VBR has priority and depends neither on the path nor on the segment: {vbr:.1f} Mbps in closed form. Both "
            f"efficiencies were taken with {implied[0]:.2f} and {implied[1]:.2f} Mbps, one figure that is ten too low; "
            "tables 5 "
            f"and 6 with {implied[2]:.2f} and {implied[3]:.2f}.",
        )
    ]


def slack(throughput: float, percent: float, mss: int) -> float:
    """By how much VBR's throughput could be another for the same printed digits [Mbps]: half of the last of each."""
    half = 0.005 if round(percent, 1) != percent else 0.05
    return (LINE_MBPS - implied_vbr(throughput, percent, mss)) * (half / percent + 0.005 / throughput)


def _rows() -> Finding:
    """Hold each row's tables against each other, and tables 1 and 2 against the VBR printed beside them."""
    texts, holds = [], True
    for row in (1, 2, 3):
        for tables in ((1, 2), (3, 4), (5, 6)):
            rows = {table: PUBLISHED[table][row] for table in tables if (table, row, "throughput") not in IMPOSSIBLE}
            vbr = [implied_vbr(octets, share, mss_of(table)) for table, (_, octets, share) in rows.items()]
            room = sum(slack(octets, share, mss_of(table)) for table, (_, octets, share) in rows.items())
            printed = [PUBLISHED_VBR[row]] if 1 in tables else []
            holds = holds and max(vbr + printed) - min(vbr + printed) <= room
            texts.append(" and ".join(f"{value:.2f}" for value in (*vbr, *printed)))
    text = "; ".join(texts) + " Mbps (tables 1 and 2 and as printed, 3 and 4, 5 and 6, by row)"
    return Finding("arithmetic.rows", text, holds, "" if holds else "They do not agree.")


def _cost() -> Finding:
    """Hold what a long feedback delay is said to cost against tables 1 and 2, 5 and 6."""
    rows = [(PUBLISHED[near][row], PUBLISHED[near + 4][row], near, row) for near in (1, 2) for row in (1, 2, 3)]
    octets = [
        100 * (1 - far[1] / near[1]) for near, far, table, row in rows if (table, row, "throughput") not in IMPOSSIBLE
    ]
    points = [near[2] - far[2] for near, far, _, _ in rows]
    return Finding(
        "arithmetic.long-cost",
        f"throughput lower by {', '.join(f'{value:.1f}' for value in octets)} %, efficiency by "
        f"{', '.join(f'{value:.1f}' for value in points)} points",
        False,
        "Three of five throughputs and four of six efficiencies are lower by more than 13.",
    )


def _drawings(results: Results) -> Sequence[Drawing]:
    del results
    return []


EXPERIMENT = Experiment(
    name="arithmetic", title="The paper's arithmetic", points={}, findings=_findings, drawings=_drawings
)
"""No runs."""
