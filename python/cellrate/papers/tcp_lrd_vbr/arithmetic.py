"""The paper's figures held against each other: calculation alone, no runs."""

from __future__ import annotations

from collections.abc import Sequence

from ..experiment import Drawing, Experiment, Finding, Results
from .common import LARGEST_SHARE, LINE_MBPS, efficiency
from .tables import IMPOSSIBLE, PUBLISHED, PUBLISHED_VBR


def implied_vbr(throughput: float, percent: float, mss: int = 512) -> float:
    """VBR throughput [Mbps] that makes a throughput [Mbps] this efficient."""
    return LINE_MBPS - throughput / (percent / 100 * LARGEST_SHARE[mss])


def payload_share(mss: int) -> float:
    """Largest TCP throughput as a part of ABR capacity: whole cells, and 31 of 32 cells."""
    cells = -(-(mss + 56) // 48)
    return mss / (cells * 53) * 31 / 32


def _findings(results: Results) -> Sequence[Finding]:
    del results
    possible = LARGEST_SHARE[512] * (LINE_MBPS - PUBLISHED_VBR[3])
    row_3 = PUBLISHED[1][3]
    vbr_5 = implied_vbr(PUBLISHED[5][2][1], PUBLISHED[5][2][2])
    shares = [100 * payload_share(mss) for mss in (512, 9140)]
    held = _consistent()
    return [
        Finding(
            "arithmetic.row-3",
            f"{possible * row_3[2] / 100:.2f} Mbps",
            False,
            f"0.78 x (149.76 - 82.28) = {possible:.2f} Mbps is the most; "
            f"82.88 is {efficiency(row_3[1], PUBLISHED_VBR[3], 512):.0f} % of that.",
        ),
        Finding(
            "arithmetic.table-3",
            f"{efficiency(PUBLISHED[3][2][1], vbr_5, 512):.1f} %",
            False,
            "VBR does not depend on the path; both are 170 s of the same mean and deviation.",
        ),
        Finding("arithmetic.rows", held[1], held[0], "" if held[0] else "They do not agree."),
        Finding("arithmetic.monotone", "7078 > 6775", False, "Row 2 has the lower ABR capacity and the longer queue."),
        Finding("arithmetic.ninety", "88.4 % < 90 %", False, "Text and table disagree."),
        Finding(
            "arithmetic.cells", f"{LINE_MBPS * 1e3 / 424:.1f} cells/ms", False, "155.52 Mbps / 424 = 366.8 cells/ms."
        ),
        Finding("arithmetic.amplitude", f"{0.8 * LINE_MBPS:.2f} Mbps", False, "0.8 x 149.76 Mbps."),
        Finding(
            "arithmetic.payload",
            f"{payload_share(512) * LINE_MBPS:.1f} Mbps",
            False,
            "121.3 Mbps is 81 % of the line: without RM cells it would be 120.6.",
        ),
        Finding(
            "arithmetic.mss", f"{shares[0]:.1f} %, {shares[1]:.1f} %", round(shares[0]) == 78 and round(shares[1]) == 87
        ),
    ]


def _consistent() -> tuple[bool, str]:
    """Whether all rows of a mean and deviation imply the same VBR throughput but for those known not to."""
    texts, agree = [], True
    for row in (1, 2, 3):
        implied = []
        for table, rows in PUBLISHED.items():
            if not any((table, row, metric) in IMPOSSIBLE for metric in ("throughput", "efficiency")):
                implied.append(implied_vbr(rows[row][1], rows[row][2]))
        texts.append(" and ".join(f"{value:.1f}" for value in implied))
        # Table 1 is of 10 s, tables 3 and 5 of 170 s: only the latter are the same stretch of video.
        satellite = implied[-2:] if row != 2 else implied[-1:]
        agree = agree and max(satellite) - min(satellite) < 1
    return agree, "; ".join(texts) + " Mbps"


def _drawings(results: Results) -> Sequence[Drawing]:
    del results
    return []


EXPERIMENT = Experiment(
    name="arithmetic", title="The paper's arithmetic", points={}, findings=_findings, drawings=_drawings
)
"""No runs."""
