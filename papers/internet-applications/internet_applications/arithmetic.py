"""The paper's figures held against each other and against its own network: calculation alone, no runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

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
"""Clock of Solaris 2.x."""
THRESHOLD, BUFFER = 127, 4096
"""Cells in the switch's queue from which EFCI is set, and those that it can hold (section 3.1)."""
TABLE_2_S = (3.22, 3.55)
"""Image over UBR, alone and beside FTP."""
AGAIN, TIME_OUT_S = 0.04, 0.2
"""Segments of pages that are sent again over UBR (section 4.1); the least time that a time-out takes in Solaris."""
NO_LOSS = (
    (4.1, 2.66, 0.08),
    (4.7, 2.68, 0.10),
    (4.4, 2.67, 0.08),
    (4.2, 2.65, 0.07),
    (4.2, 2.64, 0.08),
    (4.1, 2.63, 0.06),
    (4.2, 2.67, 0.09),
    (4.2, 2.66, 0.06),
)
"""Table 3 but for the setting that loses cells: html [ms], image [s] and its spread [s]."""
VOICE_CELLS = 6
"""Cells of a packet of voice, as in voice.toml."""
TIMERS: Mapping[str, Callable[[float], float]] = {
    "50 ms after it came": lambda least_s: least_s + DELAYED_ACK_S,
    "the first tick after that": lambda least_s: _ticks(least_s + DELAYED_ACK_S),
    "the fifth tick": lambda least_s: _ticks(least_s + DELAYED_ACK_S - TICK_S),
}
"""Time of a segment from ACK to ACK, of its cells and the round trip [s], by when its ACK leaves."""
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
    acknowledges a single segment, which ends at a tick of its clock.
    """
    n = segments(octets)
    last = _cells(octets - (n - 1) * SEGMENT) * CELL_TIME_S
    return (n - 1) * _ticks(_cells(SEGMENT) * CELL_TIME_S + ROUND_TRIP_S + DELAYED_ACK_S) + last


def image_sum(html_ms: float, timer: Callable[[float], float], queue: int = 0) -> float:
    """Give what an image takes by the ACR that its html tells of, with so many cells before each segment [s]."""
    cell = (1e-3 * html_ms - SERVER_S) / HTML_CELLS
    n, wait = segments(GIF), queue * CELL_TIME_S
    each = timer(_cells(SEGMENT) * cell + ROUND_TRIP_S + wait)
    return SERVER_S + (n - 1) * each + _cells(GIF - (n - 1) * SEGMENT) * cell + wait


def _ticks(time_s: float) -> float:
    """Round up to whole ticks: ACKs leave at ticks, so that a segment takes whole ones."""
    return math.ceil(time_s / TICK_S - 1e-9) * TICK_S


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
    fps = LINE_MBPS * 31 / 32 / 3 / 8.5 * 24
    overflow = 1 - 8.5 / (LINE_MBPS * 31 / 32)
    return [
        Finding(
            "arithmetic.image",
            f"{1e3 * near:.1f} ms a segment at {acr:.2f} Mbps, {1e3 * far:.1f} with a round trip of 20 ms, "
            f"{1e3 * far - 10:.1f} with that and an ACK after 40 ms",
            None,
            "The paper has 80.0. A round trip of 20 ms with an ACK after 40 ms takes as long as one of 10 ms with "
            "50 ms: the "
            "sum decides neither. Both have no queue and no tick, which the runs have (rows www.ack-40-ms, "
            "www.delay-10-ms).",
        ),
        _queue(),
        _timer(),
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
            why='1 - R / PCR, with what RM cells leave of PCR; the paper says "about".',
            values=[100 * overflow],
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


def _queue() -> Finding:
    """Hold the time that is left for a queue against what one queue for all connections has."""
    alone, beside = TABLE_2_S
    n = segments(GIF)
    again = AGAIN * n * TIME_OUT_S
    left = (beside - alone - again) / n
    half = BUFFER / 2 * CELL_TIME_S
    images = [image for _, image, _ in NO_LOSS]
    range_s = (max(images) - min(images)) / n
    at_threshold = THRESHOLD * CELL_TIME_S
    return Finding(
        "arithmetic.queue",
        f"UBR: {beside - alone:.2f} s more beside FTP, of which time-outs are {again:.2f}, so that {1e3 * left:.1f} ms "
        f"a segment are left, {left / CELL_TIME_S:.0f} cells, where half of the buffer would be {1e3 * half:.0f} ms, "
        f"{n * half:.1f} s an image; ABR: {1e3 * range_s:.1f} ms a segment, {range_s / CELL_TIME_S:.0f} cells, between "
        f"eight settings, where the threshold alone is {1e3 * at_threshold:.1f} ms",
        None,
        "FTP that loses cells fills the buffer again and again, with windows of 2.7 times its room, and pages wait "
        "behind it in one queue. So these figures speak for a queue for each connection (row www.per-vc-queues). "
        f"Against it: a packet of voice, {VOICE_CELLS} cells, waits there for a cell of each transfer for each of its "
        f"own, {1e3 * VOICE_CELLS * 2 * CELL_TIME_S:.2f} ms at most, where section 4.3 has intervals that differ by "
        "milliseconds (row voice.row-abr-per-vc-queues) and asks for short queues; and UBR would be fair, which "
        "section 4.1 denies. Not decided.",
    )


def _within(sums: Sequence[float]) -> int:
    """Count the images of `NO_LOSS` that are within their spread of these."""
    return sum(abs(ours - image) <= spread + 0.005 for ours, (_, image, spread) in zip(sums, NO_LOSS, strict=True))


def _timer() -> Finding:
    """Hold the images of table 3 against each timer, with the ACR that the html of each setting tells of."""
    parts = []
    for name, timer in TIMERS.items():
        sums = [image_sum(html, timer) for html, _, _ in NO_LOSS]
        close = _within(sums)
        off = math.fsum(abs(ours - image) for ours, (_, image, _) in zip(sums, NO_LOSS, strict=True)) / len(sums)
        parts.append(f"{name}: {min(sums):.2f} to {max(sums):.2f} s, {close} of 8, {off:.2f} s off in the mean")
    least = _cells(SEGMENT) * CELL_TIME_S + ROUND_TRIP_S
    others = [f"{image_sum(4.6, timer):.2f} and {(segments(GIF) - 1) * timer(least):.2f}" for timer in TIMERS.values()]
    queued = [_within([image_sum(html, timer, THRESHOLD) for html, _, _ in NO_LOSS]) for timer in TIMERS.values()]
    return Finding(
        "arithmetic.timer",
        "; ".join(parts),
        None,
        "With ticks settings fall on one side of a tick or the other, 0.32 s of image apart, where the paper has 0.05. "
        f"By the same sum the three have {', '.join(others)} s with PCR/3 and alone, where the paper has 3.21 and "
        "3.22: none does. With a queue of 127 cells before each segment, as one queue for all would have it, "
        f"{', '.join(map(str, queued))} of 8 are within the spread: without the queue the timer is not decided.",
    )


def _drawings(results: Results) -> Sequence[Drawing]:
    del results
    return []


EXPERIMENT = Experiment(
    name="arithmetic", title="The paper's figures against each other", points={}, findings=_findings, drawings=_drawings
)
"""No runs."""
