"""Figures 11 and 12: TBE does not bound the queue once a connection runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from cellrate.papers.experiment import Drawing, Experiment, Finding, Point, Results
from cellrate.results import Result

from .common import BOTTLENECK, listed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TBES = (128, 512, 1024)
CDFS = {"without": "0", "with": "1/2"}
_AT = "defaults.switch.algorithm."
_NO_COUNT: Mapping[str, object] = {f"{_AT}interval_cells": 1_000_000, f"{_AT}measured_ccr": False}
INTERVALS: Mapping[str, Mapping[str, object]] = {
    "1 ms": {f"{_AT}interval": "1 ms", **_NO_COUNT},
    "1 ms or 100 cells": {f"{_AT}measured_ccr": False},
    "5 ms": {f"{_AT}interval": "5 ms", **_NO_COUNT},
    "5 ms, measured CCR": {f"{_AT}interval": "5 ms", **_NO_COUNT, f"{_AT}measured_ccr": True},
    "20 ms": {f"{_AT}interval": "20 ms", **_NO_COUNT},
}
"""Averaging intervals that are tried too, with CCR from RM cells where it is not said; the runs of the figures have 1
ms or 100
cells, and CCR measured by the switch."""
BURSTS = {"128": (128, None), "512": (512, None), "1024": (1024, None), "1024, burst 300": (1024, 300)}
"""TBE, and what each source has to send at the start [cells]; None: without end."""
SPREAD = 0.2
"""Spread within which the paper speaks of one length of queue, with and without rule 6: 2500 to 3000 cells."""
STARTED_S = 0.1
"""Three round trips of 30 ms: from here on the flow is set up."""


def cutoffs(result: Result) -> list[float]:
    """When rule 6 acted [s]: falls of ACR at instants at which no backward RM cell came."""
    instants: list[float] = []
    for vc in ("vc1", "vc2"):
        acr = result.series("acr", vc=vc)
        falls = acr.times_s[1:][np.diff(acr.values) < 0]
        came = result.series("backward_rm", vc=vc).times_s
        instants.extend(float(t) for t in falls[~np.isin(falls, came)])
    return sorted(instants)


def _findings(results: Results) -> Sequence[Finding]:
    queue = {key: result.port(BOTTLENECK)["max_queue"] for key, result in results.items()}
    without = {tbe: queue[f"{tbe} without"] for tbe in TBES}
    with_rule = {tbe: queue[f"{tbe} with"] for tbe in TBES}
    acted = {tbe: cutoffs(results[f"{tbe} with"]) for tbe in TBES}
    late = {tbe: sum(t >= STARTED_S for t in times) for tbe, times in acted.items()}
    early = {tbe: len(times) - late[tbe] for tbe, times in acted.items()}
    change = {tbe: with_rule[tbe] / without[tbe] - 1 for tbe in TBES}
    pair = f"{without[512]:,} without, {with_rule[512]:,} with rule 6"
    found = [
        _queue("tbe.queue-128", f"{without[128]:,} cells", [without[128]], 2500 * 0.8, 2500 * 1.2),
        _queue("tbe.queue-512", pair + " cells", [without[512], with_rule[512]], 2500 * 0.9, 3000 * 1.1),
        Finding(
            "tbe.512-above-128",
            f"{without[512]:,} and {without[128]:,} without, {with_rule[512]:,} and {with_rule[128]:,} with rule 6",
            without[512] > without[128] and with_rule[512] > with_rule[128],
            "" if without[512] > without[128] and with_rule[512] > with_rule[128] else _SAME_QUEUE,
        ),
        Finding(
            "tbe.rule-6-hardly-matters",
            listed(((tbe, 100 * value) for tbe, value in change.items()), "% more with rule 6"),
            all(abs(value) <= SPREAD for value in change.values()),
            "" if all(abs(value) <= SPREAD for value in change.values()) else "See the cells above.",
        ),
        Finding(
            "tbe.start-up-only",
            ", ".join(f"{early[tbe]} times before {STARTED_S * 1e3:.0f} ms, {late[tbe]} after ({tbe})" for tbe in TBES),
            all(early.values()) and not any(late.values()),
            "" if all(early.values()) and not any(late.values()) else _ACTS_LATER,
        ),
        Finding(
            "tbe.no-bound",
            listed(((tbe, with_rule[tbe] / (2 * tbe)) for tbe in TBES), "times the sum of both TBE"),
            with_rule[128] > 2 * 128 and with_rule[512] > 2 * 512,
        ),
        _start(queue),
    ]
    if "20 ms, 128" in results:
        other = {f"{interval}, TBE {tbe}": queue[f"{interval}, {tbe}"] for interval in INTERVALS for tbe in (128, 512)}
        holds = all(2000 <= value <= 3300 for value in other.values())
        found.append(Finding("tbe.interval", listed(other.items(), "cells", 0), holds, "" if holds else _BY_INTERVAL))
        pairs = [(queue[f"{interval}, 128"], queue[f"{interval}, 512"]) for interval in INTERVALS]
        more = sum(low < high for low, high in pairs)
        why = "" if more == len(pairs) else _SAME_QUEUE
        found.append(Finding("tbe.interval-order", f"in {more} of {len(pairs)}", more == len(pairs), why))
    return found


def _start(queue: Mapping[str, int]) -> Finding:
    """Compare the queue of the first round trip, of two sources, with min(TBE, burst)."""
    parts, holds = [], True
    for name, (tbe, burst) in BURSTS.items():
        most, limit = queue[f"start, {name}"], min(tbe, burst or tbe)
        parts.append(f"{most:,} ({name})")
        holds = holds and abs(most - limit) <= 0.05 * limit
    return Finding(
        "tbe.start-queue", ", ".join(parts) + " cells", holds, "" if holds else "It is off by more than 5 %."
    )


_SAME_QUEUE = (
    "The largest queue is built when VBR comes back while both sources have the whole line, which they have with "
    "any TBE; what TBE changes is only when in VBR's cycle that first happens."
)


def _queue(claim: str, measured: str, values: Sequence[float], low: float, high: float) -> Finding:
    holds = all(low <= value <= high for value in values)
    why = "" if holds else _TOO_MUCH
    return Finding(claim, measured, holds, why)


_TOO_MUCH = (
    "When VBR comes back, 0.9 + 0.8 of the line rate arrive, 257 cells per ms more than can leave. Feedback takes 10 "
    "ms to "
    "the sources and back to the switch, which makes 2570 cells; the averaging interval and cycles in which ERICA has "
    "let "
    "ACR rise above the fair share add the rest."
)
_BY_INTERVAL = (
    "The queue depends more on the averaging interval, and on where CCR comes from, than on TBE: 5 ms adds up to 1280 "
    "cells "
    "to the 2570 of the feedback delay, and with short intervals and CCR from RM cells ERICA overshoots, since many "
    "intervals pass within a round trip."
)
_ACTS_LATER = (
    "With TBE 128, CRM is 4. VBR leaves each source 7.8 Mbps and then 70 Mbps, so that for a while R is nine times "
    "r; by the paper's own condition, R >= CRM x r, rule 6 must act then. How its simulator got by without is not "
    "known."
)


def _figure(results: Results, tbe: int) -> Figure:
    from cellrate.plotting.runs import Line, Panel, figure
    from cellrate.quantities import CELL_BITS

    panels = []
    for rule in CDFS:
        result = results[f"{tbe} {rule}"]
        acrs = [Line(series, series.entity) for series in result.all_series("acr")]
        panels.append(Panel(f"{rule} rule 6\nACR [Mbps]", acrs, CELL_BITS / 1e6))
        panels.append(Panel(f"{rule} rule 6\nqueue [cells]", [Line(result.series("queue"), BOTTLENECK)]))
    stamp = results[f"{tbe} with"].stamp + " and its neighbour"
    return figure(panels, f"Two sources and VBR, TBE = {tbe} cells", stamp, panel_height=1.6)


def _drawings(results: Results) -> Sequence[Drawing]:
    captions = {
        128: "Figure 11: TBE = 128 cells",
        512: "Figure 12: TBE = 512 cells",
        1024: "TBE = 1024 cells",
    }
    names = {128: "figure-11", 512: "figure-12", 1024: "tbe-1024"}
    return [Drawing(names[tbe], captions[tbe], partial(_figure, results, tbe)) for tbe in TBES]


def _settings(tbe: int, cdf: str) -> dict[str, object]:
    return {"defaults.abr.tbe": f"{tbe} cells", "defaults.abr.cdf": cdf}


def _first(tbe: int, burst: int | None) -> dict[str, object]:
    """Begin at PCR, without VBR: FRTT is 0, so that TBE / FRTT does not limit ICR, and the run ends before feedback."""
    sent = "" if burst is None else f', cells = "{burst} cells"'
    return {
        **_settings(tbe, "1/2"),
        "defaults.abr.frtt": "0 ms",
        "duration": "29 ms",
        "vc.vc{i}.traffic": f'{{ type = "greedy"{sent} }}',
        "vc.vbr.traffic": '{ type = "none" }',
    }


EXPERIMENT = Experiment(
    name="tbe",
    title="TBE: figures 11 and 12",
    points={
        **{f"{tbe} {rule}": Point("exposure", _settings(tbe, cdf)) for tbe in TBES for rule, cdf in CDFS.items()},
        **{f"start, {name}": Point("exposure", _first(tbe, burst)) for name, (tbe, burst) in BURSTS.items()},
        **{
            f"{interval}, {tbe}": Point("exposure", {**_settings(tbe, "1/2"), **more}, extra=True)
            for interval, more in INTERVALS.items()
            for tbe in (128, 512)
        },
    },
    findings=_findings,
    drawings=_drawings,
)
"""TBE 128, 512, 1024, with and without rule 6."""
