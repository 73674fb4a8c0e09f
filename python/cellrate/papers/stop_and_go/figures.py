"""Figures 2 to 5: goodput, efficiency and link waste of Stop & Go over the background load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from ...results import Result
from ..experiment import Drawing, Experiment, Finding, Point, Results
from .curves import QUICK_REPLICATIONS, WIDE_LOADS, Curve, figure
from .measures import Sample, fair_share, jain, measure

PCRS = (25, 50, 75, 100)
"""Of figures 2, 3 and 5 [Mbps]."""
UNEQUAL = '["1 km", "5 km", "10 km"]'
"""From each source to the first switch, and from the second switch to each sink."""
LENGTHS = {"link.s{i}-sw1.length": UNEQUAL, "link.sw2-d{i}.length": UNEQUAL}
TIMEOUT_RUN = "time-outs"

Samples = Mapping[str, Mapping[int, Sample]]


def pcr(mbps: int) -> dict[str, object]:
    """Give every connection this PCR."""
    return {"defaults.abr.pcr": f"{mbps} Mbps"}


def pcrs(*mbps: int) -> dict[str, object]:
    """Give each connection a PCR of its own."""
    return {"vc.vc{i}.abr.pcr": "[" + ", ".join(f'"{rate} Mbps"' for rate in mbps) + "]"}


EQUAL = [Curve(f"PCR {rate} Mbps", "bottleneck", pcr(rate)) for rate in PCRS]
UNEQUAL_LENGTHS = [
    Curve(f"PCR {rate} Mbps", "bottleneck", {**pcr(rate), **LENGTHS}, labels=("1 km", "5 km", "10 km")) for rate in PCRS
]
RATES = {"PCR 25, 50, 75 Mbps": (25, 50, 75), "PCR 100, 50, 25 Mbps": (100, 50, 25)}
UNEQUAL_RATES = [
    Curve(
        f"{name}, {title}",
        "bottleneck",
        {**pcrs(*rates), **lengths},
        labels=("connection 1", "connection 2", "connection 3"),
    )
    for title, lengths in (("all 10 km", {}), ("1, 5, 10 km", LENGTHS))
    for name, rates in RATES.items()
]
WINDOWS = [
    Curve(
        f"window {octets} octets",
        "bottleneck",
        {**pcrs(100, 50, 25), "vc.vc{i}.traffic.window": f"{octets} octets"},
        loads=(55,),
    )
    for octets in (16384, 65535)
]
"""Larger windows where PCR 100 Mbps is limited by the window."""
THREE = Curve("three connections, PCR 100 Mbps", "bottleneck", pcr(100))
"""A curve of figure 2 for figure 5 to be compared with."""
WIDE = [Curve(f"PCR {rate} Mbps", "wide", pcr(rate), WIDE_LOADS, 10) for rate in PCRS]


def all_points(curves: Sequence[Curve]) -> dict[str, Point]:
    """Give the runs of several curves."""
    return {key: point for curve in curves for key, point in curve.points().items()}


def take(curves: Sequence[Curve], results: Results) -> Samples:
    """Measure several curves: by name and load."""
    return {curve.name: curve.samples(results) for curve in curves}


def losses(samples: Samples) -> dict[str, int]:
    """Cells of TCP connections lost, by point; points without any are left out."""
    lost = {
        f"{name} at {load}": sample.count(lambda run: run.lost)
        for name, by_load in samples.items()
        for load, sample in by_load.items()
    }
    return {point: cells for point, cells in lost.items() if cells}


_WHY_LOST = (
    "At a load of 100 Mbps VBR takes all of the link while it is on. RM cells then do not come through either: rule 6 "
    "stops a source after TBE cells, and from then on three of them send at MCR, 7 cells per ms, as TCP sends its "
    "oldest segment again at every time-out. On periods are exponential: one of five lasts 90 ms and more and fills "
    "1000 cells. With MCR 10 kbps and TBE 100, or without time-outs in an on period, nothing is lost (rows under open)."
)


def no_loss(id: str, samples: Samples, why: str) -> Finding:
    """Judge that no ABR cell is lost."""
    lost = losses(samples)
    runs = sum(len(sample.runs) for by_load in samples.values() for sample in by_load.values())
    if not lost:
        return Finding(id, f"0 cells in {runs} runs", True)
    where = ", ".join(f"{cells:,} ({point} Mbps)" for point, cells in lost.items())
    return Finding(id, f"{where}; none at the other {sum(map(len, samples.values())) - len(lost)} points", False, why)


def fairness(id: str, samples: Samples) -> Finding:
    """Judge that Jain's index is above 0.95 everywhere."""
    least = {name: min((s.fairness, load) for load, s in by_load.items()) for name, by_load in samples.items()}
    text = ", ".join(f"{index:.4f} ({name}, at {load})" for name, (index, load) in least.items())
    holds = all(index > 0.95 for index, _ in least.values())
    return Finding(id, f"least: {text}", holds, "" if holds else "See the figure.")


def first_timeouts(result: Result) -> list[float]:
    """Instants at which a congestion window fell to one segment [s]: the first time-out of a row."""
    found: list[float] = []
    for vc in ("vc1", "vc2", "vc3"):
        cwnd = result.series("cwnd", vc=vc)
        fell = np.flatnonzero((cwnd.values[1:] <= 1460) & (cwnd.values[:-1] > 1460)) + 1
        found += cwnd.times_s[fell].tolist()
    return found


def during_background(result: Result, instants: Sequence[float]) -> int:
    """Count the instants at which VBR was on within the millisecond before or the one after."""
    rate = result.series("source_rate", vc="vbr")
    ends = np.searchsorted(rate.times_s, instants, side="left")
    return sum(bool(rate.values[max(0, end - 1) : end + 1].max(initial=0.0) > 0) for end in ends)


def _equal_findings(results: Results) -> Sequence[Finding]:
    samples = take(EQUAL, results)
    run = results[TIMEOUT_RUN]
    fell, seen = first_timeouts(run), measure(run)
    during = during_background(run, fell)
    holds = seen.lost == 0 and seen.timeouts > 0 and during >= 0.9 * len(fell)
    waste = {rate: {load: s.waste.mean for load, s in samples[f"PCR {rate} Mbps"].items()} for rate in PCRS}
    total = {rate: {load: s.total.mean for load, s in samples[f"PCR {rate} Mbps"].items()} for rate in PCRS}
    return [
        no_loss("equal.no-loss", samples, _WHY_LOST),
        fairness("equal.fair", samples),
        Finding(
            "equal.retransmissions",
            f"{seen.retransmitted} segments again, {seen.timeouts} time-outs, {seen.lost} cells lost; {during} of "
            f"{len(fell)} first time-outs while VBR was on",
            holds,
            "" if holds else "See the figure.",
        ),
        best_of_50(samples, total),
        limited_by_25(total[25]),
        exploited(waste),
    ]


def best_of_50(samples: Samples, total: Mapping[int, Mapping[int, float]]) -> Finding:
    """Judge that PCR 50 is best: the largest goodput and efficiency, both summed over the loads."""
    goodput = {rate: float(np.mean(list(by_load.values()))) for rate, by_load in total.items()}
    efficiency = {
        rate: float(np.mean([s.efficiency.mean for s in samples[f"PCR {rate} Mbps"].values()])) for rate in PCRS
    }
    useful = {rate: goodput[rate] * efficiency[rate] for rate in PCRS}
    best = max(useful, key=lambda rate: useful[rate])
    text = ", ".join(f"{goodput[rate]:.1f} Mbps with efficiency {efficiency[rate]:.4f} ({rate})" for rate in PCRS)
    little = (
        "By little: with larger PCRs the queue at the threshold keeps the link as full; only retransmissions differ."
    )
    why = (
        "Above the sum of the link the queue at the threshold keeps the link as full as PCR 50 does, and TCP hides the "
        "rest; PCR 50 costs the fewest retransmissions of those that can fill the link."
    )
    return Finding("equal.best-50", text, best == 50, little if best == 50 else why)


def limited_by_25(total: Mapping[int, float]) -> Finding:
    """Judge that PCR 25 stays below the fair share at loads of 75 Mbps and more, where its sum would do."""
    shares = {load: (goodput / 3, fair_share(load, 3)) for load, goodput in total.items() if load >= 70}
    text = ", ".join(f"{own:.1f} of {share:.1f} Mbps ({load})" for load, (own, share) in shares.items())
    holds = all(own < 0.95 * share for own, share in shares.values())
    return Finding("equal.limited-25", text, holds, "" if holds else "The spare capacity is used after all.")


def exploited(waste: Mapping[int, Mapping[int, float]]) -> Finding:
    """Judge that the PCRs that can fill the link leave at most a tenth of it unused, on the mean over the loads."""
    mean = {rate: float(np.mean(list(by_load.values()))) for rate, by_load in waste.items()}
    text = ", ".join(f"{share:.3f} ({rate})" for rate, share in mean.items())
    holds = all(mean[rate] <= 0.1 for rate in (50, 75, 100))
    return Finding("equal.exploits", text, holds, "" if holds else "See the figure.")


def _lengths_findings(results: Results) -> Sequence[Finding]:
    samples = take(UNEQUAL_LENGTHS, results)
    return [no_loss("lengths.no-loss", samples, _WHY_LOST), fairness("lengths.fair", samples)]


def proportion(sample: Sample, rates: Sequence[int]) -> float:
    """Give Jain's index of goodput over PCR: 1 when goodput is in proportion to PCR."""
    return jain(sample.goodput(number).mean / rate for number, rate in enumerate(rates))


def _rates_findings(results: Results) -> Sequence[Finding]:
    samples = take(UNEQUAL_RATES, results)
    least, ordered = {}, True
    for number, (name, by_load) in enumerate(samples.items()):
        rates = list(RATES.values())[number % 2]
        least[name] = min((proportion(sample, rates), load) for load, sample in by_load.items())
        for sample in by_load.values():
            by_rate = [sample.goodput(i).mean for i in sorted(range(3), key=lambda i: rates[i])]
            ordered = ordered and by_rate[0] < by_rate[1] < by_rate[2]
    text = ", ".join(f"{index:.3f} ({name}, at {load})" for name, (index, load) in least.items())
    holds = all(index > 0.95 for index, _ in least.values())
    why = (
        "Proportional throughout but for PCR 100 Mbps: while VBR is on, a cell waits 2 ms at the threshold, and a "
        "window of 8192 octets per round trip is less than PCR. With larger windows all is in proportion (row below)."
    )
    return [
        no_loss("rates.no-loss", samples, _WHY_LOST),
        Finding("rates.proportional", f"least: {text}", holds, "" if holds else why),
        Finding(
            "rates.ordered",
            "the larger PCR has the larger goodput at every load" if ordered else "not at every load",
            ordered,
            "" if ordered else why,
        ),
        *_windows_finding(results),
    ]


def _windows_finding(results: Results) -> Sequence[Finding]:
    if WINDOWS[0].key(55, 1) not in results:
        return []
    index = {curve.name: proportion(curve.samples(results)[55], (100, 50, 25)) for curve in WINDOWS}
    holds = all(value > 0.95 for value in index.values())
    text = ", ".join(f"{value:.3f} ({name})" for name, value in index.items())
    return [Finding("rates.windows", text, holds, "" if holds else "The window is not all that limits them.")]


def _wide_findings(results: Results) -> Sequence[Finding]:
    samples = take(WIDE, results)
    lost = {
        load: sum(samples[name][load].count(lambda run: run.background_lost) for name in samples) for load in WIDE_LOADS
    }
    holds = all((cells > 0) == (load > 60) for load, cells in lost.items())
    why = (
        "VBR has priority, so that its losses do not depend on ABR; up to 75 Mbps it takes three of its ten sources on "
        "at once, for far longer than their mean of 8.5 ms, to fill 10,000 cells. Rare coincidences decide: of eight "
        "runs of 6 s one loses cells at 60 Mbps (0.03 % of them), three do at 70 Mbps, none at 50 Mbps."
    )
    smooth, steep = (largest_fall(samples) for samples in (samples["PCR 100 Mbps"], THREE.samples(results)))
    return [
        no_loss(
            "wide.no-loss",
            samples,
            "The overload of an on period is longer than what the buffer above the threshold takes.",
        ),
        fairness("wide.fair", samples),
        Finding(
            "wide.background-lost",
            ", ".join(f"{cells:,} ({load})" for load, cells in lost.items()) + " cells",
            holds,
            "" if holds else why,
        ),
        Finding(
            "wide.smoother",
            f"largest fall of efficiency per 15 Mbps: {smooth:.3f}; with three connections, one VBR source {steep:.3f}",
            smooth < steep,
            ""
            if smooth < steep
            else "Neither curve has a cliff: a window of 8192 octets is five segments, and a time-out resends no more.",
        ),
    ]


def largest_fall(by_load: Mapping[int, Sample]) -> float:
    """Give the steepest fall of efficiency from a load to the next, per 15 Mbps."""
    points = [(load, sample.efficiency.mean) for load, sample in by_load.items()]
    return max((early - late) / (b - a) * 15 for (a, early), (b, late) in pairwise(points))


def _drawings(name: str, curves: Sequence[Curve], title: str, results: Results) -> Sequence[Drawing]:
    return [Drawing(name, title, partial(figure, curves, results, title))]


FINE = {"probe.1.every": "change", "probe.2.every": "1 ms"}

FIGURE_2 = Experiment(
    name="equal",
    title="Equal lengths and PCRs: figure 2",
    points={
        **all_points(EQUAL),
        TIMEOUT_RUN: Point("bottleneck", {**pcr(50), **EQUAL[0].background(85), **FINE}),
    },
    findings=_equal_findings,
    drawings=partial(_drawings, "figure-2", EQUAL, "Figure 2: three connections of equal length and PCR"),
)
"""PCR 25, 50, 75, 100 Mbps."""

FIGURE_3 = Experiment(
    name="lengths",
    title="Different lengths: figure 3",
    points=all_points(UNEQUAL_LENGTHS),
    findings=_lengths_findings,
    drawings=partial(_drawings, "figure-3", UNEQUAL_LENGTHS, "Figure 3: different lengths, equal PCRs"),
)
"""The same at 1, 5 and 10 km."""

FIGURE_4 = Experiment(
    name="rates",
    title="Different PCRs: figure 4",
    points={
        **all_points(UNEQUAL_RATES),
        **{key: point for curve in WINDOWS for key, point in curve.points(replications=4, quick=0).items()},
    },
    findings=_rates_findings,
    drawings=partial(_drawings, "figure-4", UNEQUAL_RATES, "Figure 4: different PCRs, equal and different lengths"),
)
"""PCRs that differ, at equal and different lengths."""

FIGURE_5 = Experiment(
    name="wide",
    title="Ten connections over 300 km: figure 5",
    points={**all_points(WIDE), **THREE.points(replications=QUICK_REPLICATIONS)},
    findings=_wide_findings,
    drawings=partial(_drawings, "figure-5", WIDE, "Figure 5: ten connections over 300 km, ten VBR sources"),
)
"""Ten connections, ten VBR sources."""
