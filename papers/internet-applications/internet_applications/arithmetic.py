"""The paper's figures held against each other and against its own network: calculation alone, no runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cellrate.papers.experiment import Drawing, Experiment, Finding, Results

from .common import FTP_GOODPUT_SHARE

LINE_MBPS = 10.0
"""Payload of cells: see `_line`."""
SEGMENT, GIF = 9140, 300_246
"""Payload of the largest segment of an MTU of 9180 octets, and the image with its header [octets]."""
CELL_TIME_S = 384 / 10e6
ROUND_TRIP_S = 0.010
DELAYED_ACK_S = 0.050
TICK_S = 0.010
SERVER_S, HTML_CELLS = 2.2e-3, 19
"""As in www.toml: the server's time, and the cells of an html with its header."""
HTML_S, IMAGE_S = 4.2e-3, 2.64
"""Table 3, RDF and RIF 1/64."""


def segments(octets: int) -> int:
    """Count the segments of an object; a window of 9148 octets holds one at a time."""
    return -(-octets // SEGMENT)


def image_time(octets: int = GIF) -> float:
    """Give the least time of an image [s], from its request at the server to its last cell there.

    One segment is on its way at a time: its cells at the rate of the line, a round trip, the receiver's wait before it
    acknowledges a single segment, which ends at a tick of its clock. ACKs leave at ticks, so that a segment takes
    whole ticks.
    """
    n = segments(octets)
    least = _cells(SEGMENT) * CELL_TIME_S + ROUND_TRIP_S + DELAYED_ACK_S
    last = _cells(octets - (n - 1) * SEGMENT) * CELL_TIME_S
    return (n - 1) * math.ceil(least / TICK_S) * TICK_S + last


def segment_at(acr_mbps: float, round_trip_s: float) -> float:
    """Give what a segment takes at an ACR, without any queue or tick [s]."""
    return _cells(SEGMENT) * 384e-6 / acr_mbps + round_trip_s + DELAYED_ACK_S


def _cells(payload: int) -> int:
    """Count the cells of a segment: 40 octets of header, LLC/SNAP, the trailer of AAL5."""
    return -(-(payload + 40 + 8 + 8) // 48)


def per_segment(image_s: float) -> float:
    """Give what a segment takes if an image takes so long [s]."""
    return image_s / segments(GIF)


def _findings(results: Results) -> Sequence[Finding]:
    del results
    most_ubr = LINE_MBPS * FTP_GOODPUT_SHARE
    acr = HTML_CELLS * 384e-6 / (HTML_S - SERVER_S)
    near, far = (segment_at(acr, trip) for trip in (ROUND_TRIP_S, 2 * ROUND_TRIP_S))
    said = IMAGE_S / segments(GIF)
    fps = LINE_MBPS * 31 / 32 / 3 / 8.5 * 24
    overflow = 1 - 8.5 / (LINE_MBPS * 31 / 32)
    return [
        Finding(
            "arithmetic.image",
            f"{1e3 * near:.1f} ms a segment at {acr:.2f} Mbps, {1e3 * far:.1f} with a round trip of 20 ms",
            abs(near / said - 1) <= 0.1,
            "A segment has no time to wait behind FTP then.",
        ),
        Finding(
            "arithmetic.faster",
            f"{1000 * per_segment(3.22):.0f} ms a segment alone, {1000 * per_segment(2.66):.0f} ms beside FTP",
            False,
            "The same round trips cannot take 17 ms less with more cells in the way.",
        ),
        _line(),
        Finding(
            "arithmetic.ftp-alone",
            "no FTP in that column",
            False,
            "The column is that of a network without background traffic, and FTP is the background: it must be a "
            f"run of FTP without WWW. {most_ubr:.2f} Mbps is the most that two transfers can have over UBR.",
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


def _line() -> Finding:
    """Hold the largest FTP throughput beside pages against 10 Mb/s of line and of payload."""
    page_s = IMAGE_S + 1.1
    pages = segments(GIF) * _cells(SEGMENT) * 384e-6 / page_s
    of_payload, of_line = ((LINE_MBPS * share * 31 / 32 - pages) * FTP_GOODPUT_SHARE for share in (1.0, 48 / 53))
    return Finding(
        "arithmetic.line",
        f"{of_payload:.2f} Mbps on 10 Mb/s of payload, {of_line:.2f} on 10 Mb/s of line",
        None,
        f"Pages take {pages:.2f} Mbps of payload, one cell in 32 is an RM cell, 9140 octets take 192 cells. Only "
        "payload carries what "
        "table 3 has.",
    )


def _drawings(results: Results) -> Sequence[Drawing]:
    del results
    return []


EXPERIMENT = Experiment(
    name="arithmetic", title="The paper's figures against each other", points={}, findings=_findings, drawings=_drawings
)
"""No runs."""
