"""Mechanisms that the paper names or cites and does not run, in its own network: VS/VD, and renegotiated video.

The paper puts the bottleneck before and behind a satellite, and cites designs of VS/VD, which end the loop there. It
names renegotiation as what may change video's traffic: M. Grossglauser, S. Keshav and D. Tse, "RCBR: a simple and
efficient service for multiple time-scale traffic", SIGCOMM '95, has a source ask for a new constant rate now and then.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from cellrate.papers.experiment import Drawing, Experiment, Finding, Point, Results
from cellrate.results import Result

from .arithmetic import bounded_mean
from .common import PROGRAM_MBPS, ROW_SEEDS, SETTINGS, Sample, metrics

HURST = 0.8
REFERENCES_S = 0.06
"""Mean of a span between clock references, 20 to 100 ms."""
RENEGOTIATED_S = 1.0
"""Time between two renegotiations: RCBR's own are seconds apart."""
ROWS: Mapping[int, tuple[str, Mapping[str, object]]] = {
    1: ("terrestrial", {}),
    3: ("short-feedback", {"duration": "30 s"}),
    5: ("long-feedback", {"duration": "30 s"}),
}
"""Scenario of row 1 of a table, and what is set: 30 s of the satellite's 170, as in open-long.*."""
SEGMENTED: Mapping[str, object] = {"switch.sw1.vs_vd": "{}"}
"""The switch before the bottleneck ends the loop."""


def bounded_deviation(mean: float, deviation: float, most: float = PROGRAM_MBPS) -> float:
    """Give the standard deviation of normal values of which those outside 0 and `most` are ignored."""
    low, high = -mean / deviation, (most - mean) / deviation

    def density(x: float) -> float:
        return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)

    within = (math.erf(high / math.sqrt(2)) - math.erf(low / math.sqrt(2))) / 2
    shift = (density(low) - density(high)) / within
    return deviation * math.sqrt(1 + (low * density(low) - high * density(high)) / within - shift * shift)


def renegotiated(mean: float, deviation: float) -> tuple[float, float]:
    """Give mean and deviation of a program's rate where it is the mean of what comes until the next renegotiation.

    Of m values of noise with Hurst parameter H the mean deviates by m^(H - 1) times as much, and is such noise itself.
    The source has to hold back, or to know, what comes in that time.

    Parameters
    ----------
    mean, deviation
        Of the rates between clock references, before any is ignored [Mbps].
    """
    values = RENEGOTIATED_S / REFERENCES_S
    return bounded_mean(mean, deviation), bounded_deviation(mean, deviation) * values ** (HURST - 1)


def _video(row: int) -> dict[str, object]:
    mean, deviation = renegotiated(*(float(text.removesuffix(" Mbps")) for text in SETTINGS[row]))
    video = "vc.vbr.traffic."
    return {
        f"{video}mean": f"{mean:.4f} Mbps",
        f"{video}deviation": f"{deviation:.4f} Mbps",
        f"{video}reference_interval": [f"{RENEGOTIATED_S:g} s", f"{RENEGOTIATED_S:g} s"],
    }


WAYS: Mapping[str, Mapping[str, object]] = {"as run": {}, "vs-vd": SEGMENTED, "renegotiated": _video(1)}


def _sample(results: Results, name: str, metric: str) -> Sample:
    return Sample([float(getattr(metrics(results[f"{name}, seed {seed}"], 512), metric)) for seed in ROW_SEEDS])


def _before_and_after(results: Results, table: int, way: str) -> str:
    texts = []
    for metric, unit, digits in (("queue", "cells before the line", 0), ("efficiency", "% efficient", 1)):
        before, after = (_sample(results, f"{table}, {name}", metric) for name in ("as run", way))
        texts.append(f"{after.text(digits)} {unit} ({before.text(digits)} as run)")
    return ", ".join(texts)


def waiting(result: Result) -> tuple[float, float]:
    """Give the most cells that waited for one virtual source, and the sum of each one's most [cells]."""
    queues = [float(row["max_queue"]) for row in result.summary["virtual_sources"]]
    return max(queues), sum(queues)


def _findings(results: Results) -> Sequence[Finding]:
    found = []
    for table in ROWS:
        if f"{table}, vs-vd, seed {ROW_SEEDS[0]}" not in results:
            continue
        own = [waiting(results[f"{table}, vs-vd, seed {seed}"]) for seed in ROW_SEEDS]
        one, all_of_them = (Sample([pair[part] for pair in own]) for part in (0, 1))
        text = (
            f"{_before_and_after(results, table, 'vs-vd')}; {one.text(0)} cells of a connection before its virtual "
            f"source, {all_of_them.text(0)} in all at most"
        )
        found.append(Finding(f"beyond.vs-vd-{table}", text, None, _SEGMENTED[table]))
        text = _before_and_after(results, table, "renegotiated")
        found.append(Finding(f"beyond.renegotiated-{table}", text, None, _RENEGOTIATED[table]))
    return found


_SEGMENTED = {
    1: "The line's loop is of 10 ms as before; TCP's slow start waits at the virtual sources.",
    3: "The loop before the switch is 10 ms long as before; TCP's round trip is what it was.",
    5: "What half a second lets through waits where the long loop ends, each connection's for itself. The loop of the "
    "line behind is of 10 us.",
}
_RENEGOTIATED = {
    1: "The variance is a third of what it was, and what is left of it lasts: capacity changes in steps of a second, a "
    "hundred times the feedback delay.",
    3: "As in table 1.",
    5: "A guess: steps of a second are as long as the loop, so that sources fill a capacity that is gone when their "
    "cells come; changes within 60 ms are averaged out by then.",
}


def _drawings(results: Results) -> Sequence[Drawing]:
    del results
    return []


EXPERIMENT = Experiment(
    name="beyond",
    title="VS/VD and renegotiated video in the paper's network",
    points={
        f"{table}, {way}, seed {seed}": Point(scenario, {**own, **settings, "seed": seed}, extra=True)
        for table, (scenario, own) in ROWS.items()
        for way, settings in WAYS.items()
        for seed in ROW_SEEDS
    },
    findings=_findings,
    drawings=_drawings,
)
"""Row 1 of tables 1, 3 and 5; not in a quick run."""
