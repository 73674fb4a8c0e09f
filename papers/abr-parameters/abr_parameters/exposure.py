"""Figures 11 and 12: TBE does not bound the queue once a connection runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from cellrate.papers.experiment import Drawing, Experiment, Finding, Point, Results, Tried
from cellrate.plotting.published import Published
from cellrate.results import Result

from .common import BOTTLENECK, furthest, listed

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
}
"""Averaging intervals that are tried too, with CCR from RM cells where it is not said; the runs of the figures have 1
ms or 100
cells, and CCR measured by the switch."""
UNDECIDED: Mapping[str, Mapping[str, object]] = {
    "interval-20-ms": {f"{_AT}interval": "20 ms", **_NO_COUNT},
    "interval-30-ms": {f"{_AT}interval": "30 ms", **_NO_COUNT},
}
"""Settings without a count of cells and with CCR of RM cells, by the ids of their rows: the second is the round trip.
The paper states neither these nor what is run."""
BURSTS = {"128": (128, None), "512": (512, None), "1024": (1024, None), "1024, burst 300": (1024, 300)}
"""TBE, and what each source has to send at the start [cells]; None: without end."""
PUBLISHED_QUEUES = {
    128: (Published(2500, "largest, published: of the order of 2500"),),
    512: (Published(2500, "largest, published: 2500 to 3000", high=3000),),
}
"""Largest queues of figures 11 and 12 [cells]."""
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


@dataclass(frozen=True)
class Seen:
    """The six runs of figures 11 and 12, with one choice of the switch's interval and of its CCR."""

    queue: Mapping[str, Mapping[int, int]]
    """Largest queue, without and with rule 6, by TBE [cells]."""
    early: Mapping[int, int]
    """How often rule 6 acted before `STARTED_S`, by TBE."""
    late: Mapping[int, int]
    """And how often later."""

    def of_512(self) -> list[int]:
        """Give the queues of figure 12, without and with rule 6."""
        return [self.queue[rule][512] for rule in CDFS]

    def more_with_512(self) -> bool:
        """Whether the queue with TBE 512 is larger than with TBE 128, without and with rule 6."""
        return all(queue[512] > queue[128] for queue in self.queue.values())

    def changes(self) -> list[float]:
        """Give by what part rule 6 changes the queue, by TBE."""
        return [self.queue["with"][tbe] / self.queue["without"][tbe] - 1 for tbe in TBES]

    def start_up_only(self) -> bool:
        """Whether rule 6 acts while connections start, with each TBE, and never later."""
        return all(self.early.values()) and not any(self.late.values())

    def text(self) -> str:
        """Write queues and how often rule 6 acted."""
        pairs = ", ".join(f"{self.queue['without'][tbe]:,} and {self.queue['with'][tbe]:,} ({tbe})" for tbe in TBES)
        return f"{pairs} cells without and with rule 6; {self.acted()}"

    def acted(self) -> str:
        """Write how often rule 6 acted."""
        counts = (
            f"{self.early[tbe]} times before {STARTED_S * 1e3:.0f} ms, {self.late[tbe]} after ({tbe})" for tbe in TBES
        )
        return ", ".join(counts)


def see(results: Results, prefix: str = "") -> Seen:
    """Read the six runs whose names begin with `prefix`."""
    acted = {tbe: cutoffs(results[f"{prefix}{tbe} with"]) for tbe in TBES}
    late = {tbe: sum(t >= STARTED_S for t in times) for tbe, times in acted.items()}
    return Seen(
        queue={
            rule: {tbe: int(results[f"{prefix}{tbe} {rule}"].port(BOTTLENECK)["max_queue"]) for tbe in TBES}
            for rule in CDFS
        },
        early={tbe: len(times) - late[tbe] for tbe, times in acted.items()},
        late=late,
    )


def _findings(results: Results) -> Sequence[Finding]:
    queue = {key: result.port(BOTTLENECK)["max_queue"] for key, result in results.items()}
    here = see(results)
    others = {row: see(results, f"{row}, ") for row in UNDECIDED if f"{row}, 128 with" in results}
    without, with_rule = here.queue["without"], here.queue["with"]

    def tried(values: Callable[[Seen], Sequence[float]]) -> dict[str, Tried]:
        return {f"tbe.{row}": Tried(values=values(seen)) for row, seen in others.items()}

    def also(holds: Callable[[Seen], bool]) -> dict[str, Tried]:
        return {f"tbe.{row}": Tried(holds=holds(seen), seeds=1) for row, seen in others.items()}

    found = [
        Finding(
            "tbe.queue-128",
            f"{without[128]:,} cells",
            why=_TOO_MUCH,
            values=[without[128]],
            rows=tried(lambda seen: [seen.queue["without"][128]]),
        ),
        Finding(
            "tbe.queue-512",
            f"{without[512]:,} without, {with_rule[512]:,} with rule 6 cells",
            why=_TOO_MUCH,
            values=[furthest(here.of_512(), 2750)],
            rows=tried(lambda seen: [furthest(seen.of_512(), 2750)]),
        ),
        Finding(
            "tbe.512-above-128",
            f"{without[512]:,} and {without[128]:,} without, {with_rule[512]:,} and {with_rule[128]:,} with rule 6",
            here.more_with_512(),
            "" if here.more_with_512() else _SAME_QUEUE,
            rows=also(Seen.more_with_512),
            seeds=1,
        ),
        Finding(
            "tbe.rule-6-hardly-matters",
            listed(((tbe, 100 * value) for tbe, value in zip(TBES, here.changes(), strict=True)), "% more with rule 6"),
            why="A guess: its cuts come at other places of VBR's cycle.",
            values=here.changes(),
            rows=tried(Seen.changes),
        ),
        Finding(
            "tbe.start-up-only",
            here.acted(),
            here.start_up_only(),
            "" if here.start_up_only() else _ACTS_LATER,
            rows=also(Seen.start_up_only),
            seeds=1,
        ),
        Finding(
            "tbe.no-bound",
            listed(((tbe, with_rule[tbe] / (2 * tbe)) for tbe in TBES), "times the sum of both TBE"),
            with_rule[128] > 2 * 128 and with_rule[512] > 2 * 512,
        ),
        _start(queue),
        *(Finding(f"tbe.{row}", seen.text(), None, _UNDECIDED) for row, seen in others.items()),
    ]
    if "5 ms, 128" in results:
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
    "r; by the paper's own condition, R >= CRM x r, rule 6 must act then."
)
_UNDECIDED = (
    "With TBE 128 rule 6 acts only where an FRM leaves before the feedback of CRM before it: with an interval as "
    "long as "
    "VBR's 20 ms or the round trip, and CCR of RM cells, rates follow so slowly that it hardly does. The paper "
    "states an "
    "interval of 5 ms, for figures 3 to 5 only."
)


def _figure(results: Results, tbe: int) -> Figure:
    from cellrate.plotting.runs import Line, Panel, figure
    from cellrate.quantities import CELL_BITS

    panels = []
    for rule in CDFS:
        result = results[f"{tbe} {rule}"]
        acrs = [Line(series, series.entity) for series in result.all_series("acr")]
        panels.append(Panel(f"{rule} rule 6\nACR [Mbps]", acrs, CELL_BITS / 1e6))
        panels.append(
            Panel(
                f"{rule} rule 6\nqueue [cells]",
                [Line(result.series("queue"), BOTTLENECK)],
                published=PUBLISHED_QUEUES.get(tbe, ()),
            )
        )
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
        **{
            f"{row}, {tbe} {rule}": Point("exposure", {**_settings(tbe, cdf), **more}, extra=True)
            for row, more in UNDECIDED.items()
            for tbe in TBES
            for rule, cdf in CDFS.items()
        },
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
