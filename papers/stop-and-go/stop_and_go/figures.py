"""Figures 2 to 5: goodput, efficiency and link waste of Stop & Go over the background load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np

from cellrate.papers.experiment import Drawing, Experiment, Finding, Point, Results, Tried
from cellrate.papers.statistics import Estimate, estimate, jain
from cellrate.results import Result

from .curves import REPLICATIONS, WIDE_LOADS, Curve, figure
from .measures import Sample, fair_share, measure

PCRS = (25, 50, 75, 100)
"""PCRs of figures 2 and 3 [Mbps]."""
WIDE_PCRS = (*PCRS, 125)
"""PCRs of figure 5 [Mbps]. The paper states none, but that ten of them are more than 8 times the link in its last
plot: more than 120 Mbps each."""
UNEQUAL = '["1 km", "5 km", "10 km"]'
"""From each source to the first switch, and from the second switch to each sink."""
LENGTHS = {"link.s{i}-sw1.length": UNEQUAL, "link.sw2-d{i}.length": UNEQUAL}
SOURCES_ONLY = {"link.s{i}-sw1.length": UNEQUAL}
"""Figure 3 if its L1 to L3 are the sources' distances alone."""
TIMEOUT_RUN = "time-outs"
QUIET: Mapping[str, object] = {"duration": "1 s", "vc.vbr.traffic": '{ type = "none" }'}
"""While VBR is off for long."""

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
    replace(
        curve,
        name=f"{curve.name}, windows of 65,535 octets",
        settings={**curve.settings, "vc.vc{i}.traffic.window": "65535 octets"},
    )
    for curve in UNEQUAL_RATES
]
"""Figure 4 with larger windows, the most that TCP has without scaling."""
LOSING = (100,)
"""The load at which cells are lost."""


def with_minimum_rto(curves: Sequence[Curve]) -> list[Curve]:
    """Give the curves with a smallest time-out of 10 ms, at the loads where cells are lost."""
    return [
        replace(
            curve,
            name=f"{curve.name}, RTO 10 ms",
            settings={**curve.settings, "vc.vc{i}.traffic.minimum_rto": "10 ms"},
            loads=LOSING,
        )
        for curve in curves
    ]


THREE = Curve("three connections, PCR 100 Mbps", "bottleneck", pcr(100))
"""A curve of figure 2 for figure 5 to be compared with."""
WIDE = [Curve(f"PCR {rate} Mbps", "wide", pcr(rate), WIDE_LOADS, 10) for rate in WIDE_PCRS]
ALL_ON = {"vc.vbr{i}.traffic.start": "0 ms"}
"""All ten VBR sources begin on."""
MINUTE: Mapping[str, object] = {"vc.vc{i}.traffic": '{ type = "none" }', "duration": "60 s"}
WIDE_VBR = Curve("VBR alone, 60 s", "wide", MINUTE, WIDE_LOADS, 10)
"""VBR has priority and a buffer of its own: what it loses does not depend on the others, and it runs fast alone."""
WIDE_ALL_ON = Curve("all ten VBR sources begin on, PCR 25 Mbps", "wide", {**pcr(25), **ALL_ON}, (50, 60, 70), 10)
NEAR_SOURCES = [
    Curve(f"sources only, PCR {rate} Mbps", "bottleneck", {**pcr(rate), **SOURCES_ONLY}, (10, 55, 100))
    for rate in (50, 100)
]


def all_points(curves: Sequence[Curve]) -> dict[str, Point]:
    """Give the runs of several curves."""
    return {key: point for curve in curves for key, point in curve.points().items()}


def extra_points(curves: Sequence[Curve]) -> dict[str, Point]:
    """Give the runs of several curves, none of them in a quick run."""
    return {key: point for curve in curves for key, point in curve.points(quick=0).items()}


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
    "oldest segment again at every time-out, the first after less than 1 ms. On periods are exponential: one of five "
    "lasts 90 ms "
    "and more and fills 1000 cells. The smallest time-out is not stated."
)


def no_loss(id: str, samples: Samples, why: str, row: Mapping[str, Samples] | None = None) -> Finding:
    """Judge that no ABR cell is lost; and in the samples of a row, by its id."""
    lost = losses(samples)
    runs = sum(len(sample.runs) for by_load in samples.values() for sample in by_load.values())
    if not lost:
        return Finding(id, f"0 cells in {runs} runs", True)
    where = ", ".join(f"{cells:,} ({point} Mbps)" for point, cells in lost.items())
    seeds = {len(sample.runs) for by_load in samples.values() for sample in by_load.values()}
    rows = {
        name: Tried(holds=not losses(tried), seeds=len(next(iter(next(iter(tried.values())).values())).runs))
        for name, tried in (row or {}).items()
    }
    text = f"{where}; none at the other {sum(map(len, samples.values())) - len(lost)} points"
    return Finding(id, text, False, why, rows=rows, seeds=min(seeds))


def _tried(results: Results, row: str, curves: Sequence[Curve]) -> dict[str, Samples]:
    """Give the samples of a row where it was run."""
    others = with_minimum_rto(curves)
    return {row: take(others, results)} if others[0].key(LOSING[0], 1) in results else {}


def _row_findings(tried: Mapping[str, Samples]) -> list[Finding]:
    """Say what a row with another smallest time-out loses."""
    found = []
    for row, samples in tried.items():
        lost = losses(samples)
        text = ", ".join(f"{cells:,} ({point} Mbps)" for point, cells in lost.items()) or "0 cells"
        found.append(Finding(row, text, None, "The claims of no loss above are held against it."))
    return found


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
    tried = _tried(results, "equal.minimum-rto-10-ms", EQUAL)
    fell, seen = first_timeouts(run), measure(run)
    during = during_background(run, fell)
    holds = seen.lost == 0 and seen.timeouts > 0 and during >= 0.9 * len(fell)
    waste = {rate: {load: s.waste.mean for load, s in samples[f"PCR {rate} Mbps"].items()} for rate in PCRS}
    total = {load: s.total.mean for load, s in samples["PCR 25 Mbps"].items()}
    return [
        no_loss("equal.no-loss", samples, _WHY_LOST, tried),
        *_row_findings(tried),
        fairness("equal.fair", samples),
        Finding(
            "equal.retransmissions",
            f"{seen.retransmitted} segments again, {seen.timeouts} time-outs, {seen.lost} cells lost; {during} of "
            f"{len(fell)} first time-outs while VBR was on",
            holds,
            "" if holds else "See the figure.",
        ),
        round_trips(results),
        best_of_50(samples),
        limited_by_25(total),
        exploited(waste),
        efficient("equal.efficient", samples),
    ]


_WHY_ROUND_TRIP = (
    "Propagation is 0.30 ms, and a segment takes 32 cells, 0.54 ms at 25 Mbps and 0.27 ms at 50 Mbps. With 75 and 100 "
    "Mbps "
    "the queue stands at the paper's own threshold: 250 cells of 2.83 us are 0.71 ms more. The estimates are these "
    "sums."
)


def round_trips(results: Results) -> Finding:
    """Judge that without background the estimate of the round trip is the propagation, and a time-out below 1 ms."""
    found = {
        rate: max(1e3 * row["smoothed_rtt_s"] for row in results[f"quiet, PCR {rate}"].summary["tcp"]) for rate in PCRS
    }
    holds = all(0.1 <= estimate <= 0.375 for estimate in found.values())
    text = ", ".join(f"{estimate:.2f} ms ({rate})" for rate, estimate in found.items())
    return Finding("equal.round-trip", text, holds, "" if holds else _WHY_ROUND_TRIP)


def useful(by_load: Mapping[int, Sample]) -> Estimate:
    """Estimate goodput times efficiency, the mean over the loads, from the runs of each seed [Mbps]."""
    seeds = zip(*(sample.runs for sample in by_load.values()), strict=True)
    return estimate(
        [float(np.mean([sum(run.goodput) * float(np.mean(run.efficiency)) for run in runs])) for runs in seeds]
    )


def best_of_50(samples: Samples) -> Finding:
    """Judge that PCR 50 is so much better: its goodput times efficiency is above others' by more than the intervals."""
    found = {rate: useful(samples[f"PCR {rate} Mbps"]) for rate in PCRS}
    other = max((rate for rate in PCRS if rate != 50), key=lambda rate: found[rate].mean)
    holds = found[50].mean - found[50].half_width > found[other].mean + found[other].half_width
    text = ", ".join(f"{value.mean:.1f} ± {value.half_width:.1f} Mbps ({rate})" for rate, value in found.items())
    by = found[50].mean / found[other].mean - 1
    why = (
        f"It differs from PCR {other} Mbps by {100 * by:+.1f} %. Above the sum of the link the queue at the threshold "
        "keeps the link as full as PCR 50 does; only retransmissions differ. The paper calls the case unrealistic "
        "itself."
    )
    return Finding("equal.best-50", text, holds, "" if holds else why)


def limited_by_25(total: Mapping[int, float]) -> Finding:
    """Judge that PCR 25 stays below the fair share at loads of 75 Mbps and more, where its sum would do."""
    shares = {load: (goodput / 3, fair_share(load, 3)) for load, goodput in total.items() if load >= 75}
    text = ", ".join(f"{own:.1f} of {share:.1f} Mbps ({load})" for load, (own, share) in shares.items())
    holds = all(own < 0.95 * share for own, share in shares.values())
    return Finding("equal.limited-25", text, holds, "" if holds else "The spare capacity is used after all.")


def exploited(waste: Mapping[int, Mapping[int, float]]) -> Finding:
    """Judge that the PCRs that can fill the link leave at most a tenth of it unused, on the mean over the loads."""
    mean = {rate: float(np.mean(list(by_load.values()))) for rate, by_load in waste.items()}
    text = ", ".join(f"{share:.3f} ({rate})" for rate, share in mean.items())
    holds = all(mean[rate] <= 0.1 for rate in (50, 75, 100))
    return Finding("equal.exploits", text, holds, "" if holds else "See the figure.")


def efficient(id: str, samples: Samples) -> Finding:
    """Judge that the efficiency is 0.9 and more, on the mean over the loads."""
    mean = {name: float(np.mean([s.efficiency.mean for s in by_load.values()])) for name, by_load in samples.items()}
    least = {name: min(s.efficiency.mean for s in by_load.values()) for name, by_load in samples.items()}
    text = ", ".join(f"{share:.3f}, at least {least[name]:.3f} ({name})" for name, share in mean.items())
    holds = all(share >= 0.9 for share in mean.values())
    return Finding(id, text, holds, "" if holds else "Time-outs while VBR is on send again what is only late.")


def _lengths_findings(results: Results) -> Sequence[Finding]:
    samples = take(UNEQUAL_LENGTHS, results)
    tried = _tried(results, "lengths.minimum-rto-10-ms", UNEQUAL_LENGTHS)
    found = [no_loss("lengths.no-loss", samples, _WHY_LOST, tried), fairness("lengths.fair", samples)]
    found += _row_findings(tried)
    if NEAR_SOURCES[0].key(10, 1) in results:
        found.append(fairness("lengths.sources-only", take(NEAR_SOURCES, results)))
    return found


def proportion(sample: Sample, rates: Sequence[int]) -> float:
    """Give Jain's index of goodput over PCR: 1 when goodput is in proportion to PCR."""
    return jain(sample.goodput(number).mean / rate for number, rate in enumerate(rates))


def _rates_findings(results: Results) -> Sequence[Finding]:
    samples = take(UNEQUAL_RATES, results)
    lost = _tried(results, "rates.minimum-rto-10-ms", UNEQUAL_RATES)
    least, ordered = _least_proportion(samples), True
    larger = _least_proportion(take(WINDOWS, results)) if WINDOWS[0].key(55, 1) in results else {}
    rows = {"rates.windows": Tried(holds=_is_proportional(larger), seeds=REPLICATIONS)} if larger else {}
    for number, by_load in enumerate(samples.values()):
        rates = list(RATES.values())[number % 2]
        for sample in by_load.values():
            by_rate = [sample.goodput(i).mean for i in sorted(range(3), key=lambda i: rates[i])]
            ordered = ordered and by_rate[0] < by_rate[1] < by_rate[2]
    holds = _is_proportional(least)
    why = (
        "In proportion throughout but for PCR 100 Mbps: while VBR is on, a cell waits 2 ms at the threshold, and a "
        "window of 8192 octets per round trip is less than PCR. The row rates.windows has larger ones."
    )
    return [
        no_loss("rates.no-loss", samples, _WHY_LOST, lost),
        *_row_findings(lost),
        Finding(
            "rates.proportional", _proportions(least), holds, "" if holds else why, rows=rows, seeds=_seeds(samples)
        ),
        Finding(
            "rates.ordered",
            "the larger PCR has the larger goodput at every load" if ordered else "not at every load",
            ordered,
            "" if ordered else why,
        ),
        *(
            Finding(
                row, _proportions(larger), tried.holds, "" if tried.holds else "The window is not all that limits them."
            )
            for row, tried in rows.items()
        ),
    ]


def _least_proportion(samples: Samples) -> dict[str, tuple[float, int]]:
    """Give the least index of goodput over PCR, and the load that has it, by curve of figure 4."""
    return {
        name: min((proportion(sample, list(RATES.values())[number % 2]), load) for load, sample in by_load.items())
        for number, (name, by_load) in enumerate(samples.items())
    }


def _is_proportional(least: Mapping[str, tuple[float, int]]) -> bool:
    return all(index > 0.95 for index, _ in least.values())


def _proportions(least: Mapping[str, tuple[float, int]]) -> str:
    return "least: " + ", ".join(f"{index:.3f} ({name}, at {load})" for name, (index, load) in least.items())


def _seeds(samples: Samples) -> int:
    """Count the runs of each point."""
    return min(len(sample.runs) for by_load in samples.values() for sample in by_load.values())


def _wide_findings(results: Results) -> Sequence[Finding]:
    samples = take(WIDE, results)
    ten, three = samples["PCR 100 Mbps"], THREE.samples(results)
    smooth, steep = largest_fall(ten), largest_fall(three)
    return [
        no_loss(
            "wide.no-loss",
            samples,
            "The overload of an on period is longer than what the buffer above the threshold takes.",
        ),
        fairness("wide.fair", samples),
        efficient("wide.efficient", samples),
        *background_lost(next(iter(samples.values())), WIDE_VBR.samples(results)),
        Finding(
            "wide.smoother",
            f"largest fall of efficiency per 15 Mbps: {smooth:.3f}; with three connections, one VBR source {steep:.3f}",
            why="Neither curve has a cliff: a window of 8192 octets is five segments, and a time-out resends no more.",
            values=smoother(ten, three),
        ),
        *_all_on(results),
    ]


def smoother(ten: Mapping[int, Sample], three: Mapping[int, Sample]) -> list[float]:
    """Give by how much the steepest fall of efficiency of one VBR source is above that of ten, by seed."""
    falls = [
        [largest_fall({load: Sample((sample.runs[seed],)) for load, sample in by_load.items()}) for seed in range(n)]
        for by_load in (three, ten)
        for n in [min(len(sample.runs) for sample in (*ten.values(), *three.values()))]
    ]
    return [steep - smooth for steep, smooth in zip(*falls, strict=True)]


def background_lost(six_seconds: Mapping[int, Sample], minute: Mapping[int, Sample]) -> list[Finding]:
    """Judge that VBR loses cells above 60 Mbps: in most of the runs above, and not in most of those up to there.

    VBR has priority: its cells are lost alike whatever the PCR beside it.
    """
    lost, longer = _losses(six_seconds), _losses(minute)
    row = {"wide.minute": Tried(holds=_above_60(longer), seeds=len(next(iter(longer.values()))))}
    holds = _above_60(lost)
    why = (
        "Three or four of ten sources have to be on for far longer than their mean of 8.5 ms to fill 10,000 cells: the "
        "shorter a run, the higher the load at which losses begin."
    )
    seeds = len(next(iter(lost.values())))
    return [
        Finding("wide.background-lost", _by_load(lost), holds, "" if holds else why, rows=row, seeds=seeds),
        Finding("wide.minute", _by_load(longer), _above_60(longer), "How long the paper's runs are it does not say."),
    ]


def _above_60(lost: Mapping[int, Sequence[int]]) -> bool:
    return all((sum(cells > 0 for cells in runs) > len(runs) / 2) == (load > 60) for load, runs in lost.items())


def _losses(by_load: Mapping[int, Sample]) -> dict[int, list[int]]:
    """Cells of VBR lost in each run."""
    return {load: [run.background_lost for run in sample.runs] for load, sample in by_load.items()}


def _by_load(lost: Mapping[int, Sequence[int]]) -> str:
    text = ", ".join(f"{_in_runs(runs)} ({load})" for load, runs in lost.items() if load >= 50)
    return f"{text}, {'some' if any(sum(runs) for load, runs in lost.items() if load < 50) else 'none'} below"


def _in_runs(lost: Sequence[int]) -> str:
    """Write how many cells were lost in how many runs."""
    return f"{sum(lost):,} cells in {sum(cells > 0 for cells in lost)} of {len(lost)} runs"


def _all_on(results: Results) -> Sequence[Finding]:
    if WIDE_ALL_ON.key(50, 1) not in results:
        return []
    lost = {load: [run.background_lost for run in sample.runs] for load, sample in WIDE_ALL_ON.samples(results).items()}
    text = ", ".join(f"{_in_runs(runs)} ({load})" for load, runs in lost.items())
    why = "Ten sources that begin on send ten times the load at first, a state that they are in for 1e-10 of the time."
    return [Finding("wide.all-on", text, None, why)]


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
        **extra_points(with_minimum_rto(EQUAL)),
        **{f"quiet, PCR {rate}": Point("bottleneck", {**pcr(rate), **QUIET}) for rate in PCRS},
        TIMEOUT_RUN: Point("bottleneck", {**pcr(50), **EQUAL[0].background(85, 1), **FINE}),
    },
    findings=_equal_findings,
    drawings=partial(_drawings, "figure-2", EQUAL, "Figure 2: three connections of equal length and PCR"),
)
"""PCR 25, 50, 75, 100 Mbps."""

FIGURE_3 = Experiment(
    name="lengths",
    title="Different lengths: figure 3",
    points={
        **all_points(UNEQUAL_LENGTHS),
        **extra_points(with_minimum_rto(UNEQUAL_LENGTHS)),
        **{key: point for curve in NEAR_SOURCES for key, point in curve.points(replications=4, quick=0).items()},
    },
    findings=_lengths_findings,
    drawings=partial(_drawings, "figure-3", UNEQUAL_LENGTHS, "Figure 3: different lengths, equal PCRs"),
)
"""Figure 3: connections of 1, 5 and 10 km with equal PCRs."""

FIGURE_4 = Experiment(
    name="rates",
    title="Different PCRs: figure 4",
    points={
        **all_points(UNEQUAL_RATES),
        **extra_points(with_minimum_rto(UNEQUAL_RATES)),
        **extra_points(WINDOWS),
    },
    findings=_rates_findings,
    drawings=partial(_drawings, "figure-4", UNEQUAL_RATES, "Figure 4: different PCRs, equal and different lengths"),
)
"""PCRs that differ, at equal and different lengths."""

FIGURE_5 = Experiment(
    name="wide",
    title="Ten connections over 300 km: figure 5",
    points={
        **all_points(WIDE),
        **THREE.points(),
        **WIDE_VBR.points(),
        **WIDE_ALL_ON.points(quick=0),
    },
    findings=_wide_findings,
    drawings=partial(_drawings, "figure-5", WIDE, "Figure 5: ten connections over 300 km, ten VBR sources"),
)
"""Ten connections, ten VBR sources, PCR 25 to 125 Mbps."""
