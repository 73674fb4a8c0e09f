"""The paper's figures held against each other and against its own network: calculation alone, no runs."""

from __future__ import annotations

from collections.abc import Sequence

from cellrate.papers.experiment import Drawing, Experiment, Finding, Results

from .common import FTP_GOODPUT_SHARE

LINE_MBPS = 10.0
SEGMENT, GIF = 9140, 300_000
"""Payload of the largest segment of an MTU of 9180 octets, and the image [octets]."""
CELL_TIME_S = 424 / 10e6
ROUND_TRIP_S = 2 * 0.010
DELAYED_ACK_S = 0.050
IMAGES_S = (2.63, 2.68)
"""Shortest and longest image of table 3, without the one where cells are lost."""


def segments(octets: int) -> int:
    """Count the segments of an object; a window of 9148 octets holds one at a time."""
    return -(-octets // SEGMENT)


def image_time(octets: int = GIF, delayed_ack_s: float = DELAYED_ACK_S) -> float:
    """Give the least time of an image [s], from its request at the server to its last cell there.

    One segment is on its way at a time: its cells at the rate of the line, a round trip, the receiver's wait before it
    acknowledges a single segment. After the last there is no wait.
    """
    n = segments(octets)
    cells = (n - 1) * _cells(SEGMENT) + _cells(octets - (n - 1) * SEGMENT)
    ack_cells = 2
    return cells * CELL_TIME_S + (n - 1) * (ROUND_TRIP_S + ack_cells * CELL_TIME_S + delayed_ack_s)


def _cells(payload: int) -> int:
    """Count the cells of a segment: 40 octets of header, LLC/SNAP, the trailer of AAL5."""
    return -(-(payload + 40 + 8 + 8) // 48)


def per_segment(image_s: float) -> float:
    """Give what a segment takes if an image takes so long [s]."""
    return image_s / segments(GIF)


def _findings(results: Results) -> Sequence[Finding]:
    del results
    most_abr, most_ubr = (LINE_MBPS * share * FTP_GOODPUT_SHARE for share in (31 / 32, 1.0))
    least = image_time()
    fps = LINE_MBPS * 31 / 32 / 3 / 8.5 * 24
    overflow = 1 - 8.5 / (LINE_MBPS * 31 / 32)
    return [
        Finding(
            "arithmetic.image",
            f"{segments(GIF)} segments, {least:.2f} s at least",
            0.9 * IMAGES_S[1] <= least <= IMAGES_S[0],
            "",
        ),
        Finding(
            "arithmetic.faster",
            f"{1000 * per_segment(3.22):.0f} ms a segment alone, {1000 * per_segment(2.66):.0f} ms beside FTP",
            False,
            "The same round trips cannot take 17 ms less with more cells in the way. 81 ms are the sum of the "
            "cells, the round trip and the delayed ACK; 98 ms are not.",
        ),
        Finding(
            "arithmetic.ftp-alone",
            "no FTP in that column",
            False,
            "The column is that of a network without background traffic, and FTP is the background: it must be a "
            f"run of FTP without WWW. {most_ubr:.2f} Mbps is the most that two transfers can have over UBR.",
        ),
        Finding(
            "arithmetic.ftp-most",
            f"{most_abr:.2f} Mbps",
            False,
            "9140 octets in 192 cells, 31 of 32 cells data, on 10 Mb/s; and WWW has 0.9 of that. RM cells can't "
            "have come out of the 10 Mb/s there, or the lines were a little faster.",
        ),
        Finding(
            "arithmetic.cell-5.0",
            "5.0 < 7.7 Mbps",
            False,
            "With the parameters that lose cells, ABR's FTP has less than UBR's, though the image takes what it "
            "takes over UBR (3.59 and 3.55 s).",
        ),
        Finding("arithmetic.nine", f"{fps:.1f} fps", 9 <= fps < 10, ""),
        Finding(
            "arithmetic.formula",
            "Mbit / Mbps = s",
            False,
            "The left side is a time: how long the adapter takes to empty itself. What the receiver must hold by "
            "then is (R - rate) * T, whatever PCR is; the rows search.formula-time and search.formula-size show "
            "both on runs.",
        ),
        Finding(
            "arithmetic.overflow",
            f"{100 * overflow:.1f} %",
            0.05 <= overflow <= 0.15,
            "1 - R / PCR, with what RM cells leave of PCR.",
        ),
    ]


def _drawings(results: Results) -> Sequence[Drawing]:
    del results
    return []


EXPERIMENT = Experiment(
    name="arithmetic", title="The paper's figures against each other", points={}, findings=_findings, drawings=_drawings
)
"""No runs."""
