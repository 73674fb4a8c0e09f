"""Questions that the paper leaves open, one by one: figure 2 with PCR 100 Mbps, once overloaded by VBR and once not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from cellrate.papers.experiment import Experiment, Finding, Point, Results, Tried

from .curves import Curve
from .measures import Sample, measure

LOADS = (70, 100)
"""At 70 Mbps VBR leaves 45 Mbps while it is on, at 100 Mbps nothing."""
REPLICATIONS = 4
UNFAIR = 0.95
"""A Jain's index below this is no fair share."""
_TCP = "vc.vc{i}.traffic."


def _timer(granularity: str, minimum: str) -> dict[str, object]:
    return {f"{_TCP}timer_granularity": granularity, f"{_TCP}minimum_rto": minimum}


def _thresholds(lower: str) -> dict[str, object]:
    """Give relative-rate marking with a second threshold, and sources that know two rates."""
    marking = f'{{ type = "relative-rate", threshold = "250 cells", {lower} = "125 cells" }}'
    return {"defaults.switch.algorithm": marking, **dict.fromkeys(_TWO_RATES, "1")}


_TWO_RATES = ("defaults.abr.rif", "defaults.abr.rdf", "defaults.abr.cdf")
CHOICES: Mapping[str, Mapping[str, object]] = {
    "as-run": {},
    "adapter-unbounded": {f"{_TCP}adapter_queue": '"infinite"'},
    "adapter-1-cell": {f"{_TCP}adapter_queue": '{ high_water = "1 cells" }'},
    "window-4096": {f"{_TCP}window": "4096 octets"},
    "window-16384": {f"{_TCP}window": "16384 octets"},
    "window-65535": {f"{_TCP}window": "65535 octets"},
    "ack-every-segment": {f"{_TCP}delayed_ack": "every-segment"},
    "minimum-rto-1-ms": {f"{_TCP}minimum_rto": "1 ms"},
    "minimum-rto-10-ms": {f"{_TCP}minimum_rto": "10 ms"},
    "minimum-rto-1-s": {f"{_TCP}minimum_rto": "1 s"},
    "timer-100-us": _timer("100 us", "200 us"),
    "timer-500-us": _timer("500 us", "1 ms"),
    "timer-50-ms": _timer("50 ms", "100 ms"),
    "timer-100-ms": _timer("100 ms", "200 ms"),
    "window-65535-timer-50-ms": {f"{_TCP}window": "65535 octets", **_timer("50 ms", "100 ms")},
    "window-65535-timer-100-ms": {f"{_TCP}window": "65535 octets", **_timer("100 ms", "200 ms")},
    "rm-before-data": {"defaults.switch.rm_cells": "before-data"},
    "rm-first": {"defaults.switch.rm_cells": "first"},
    "hysteresis": _thresholds("off_threshold"),
    "ni-zone": _thresholds("ni_threshold"),
    "icr-mcr": {"defaults.abr.icr": "1 Mbps"},
    "rm-first-mcr-10-mbps": {"defaults.switch.rm_cells": "first", "defaults.abr.mcr": "10 Mbps"},
    "mcr-10-kbps": {"defaults.abr.mcr": "10 kbps"},
    "mcr-10-kbps-tbe-100": {"defaults.abr.mcr": "10 kbps", "defaults.abr.tbe": "100 cells"},
}
"""Settings by what they change; the last three depart from the paper to find causes."""

CURVES = {
    name: Curve(name, "bottleneck", {"defaults.abr.pcr": "100 Mbps", **settings}, LOADS)
    for name, settings in CHOICES.items()
}

CONSTANT_LOADS = (40, 50, 60, 70)
"""Loads of VBR at a constant rate [Mbps]: nothing ever stops or starts all sources at once then."""
CONSTANT = {
    f"ni-zone, constant {load} Mbps": Point(
        "bottleneck",
        {
            "defaults.abr.pcr": "100 Mbps",
            **CHOICES["ni-zone"],
            "vc.vbr.traffic": f'{{ type = "constant", rate = "{load} Mbps" }}',
        },
    )
    for load in CONSTANT_LOADS
}
"""Two thresholds beside it. Nothing is drawn, so that one run of each says all."""

COARSE, MIDDLING = ("timer-50-ms", "timer-100-ms"), ("timer-100-us", "timer-500-us")
"""Granularities that section 3.2 speaks of, beside the 50 us of all runs."""
WIDE = "window-65535"
"""Windows of three connections that are four times the buffer; 8192 octets fit it twice."""
JUDGED = ("as-run", "ni-zone", *COARSE, *MIDDLING, WIDE, *(f"{WIDE}-{name}" for name in COARSE))
"""Cases of which a claim of the paper speaks."""

_WHY = {
    **dict.fromkeys((*COARSE, *MIDDLING), "Judged in the rows open.granularity-*."),
    **dict.fromkeys((f"{WIDE}-{name}" for name in COARSE), "Judged in the row open.granularity-unable."),
    "adapter-unbounded": "The whole window waits at the source, and so do segments that a time-out sends again.",
    "window-4096": "Two segments a window: one that goes alone waits for its ACK until a time-out or the heartbeat.",
    "window-16384": "Three windows and what is sent again at time-outs are more than the buffer holds.",
    "window-65535": "The windows wait at the sources, round trips are long and the timer with them: fewer time-outs, "
    "but a window does not fit the buffer, and what is lost costs a slow start.",
    "minimum-rto-1-s": "No time-outs within an on period: nothing is sent again, and nothing is lost.",
    "rm-before-data": "RM cells that wait among data come out as the queue falls, and say go. Those that overtake "
    "all say stop, and at MCR the next comes 13.6 ms later: the link runs dry meanwhile.",
    "rm-first": "As with RM cells before data; they come through even while VBR has the link.",
    "hysteresis": "Stop at 250 cells, and go below 125: the queue swings further, and nobody is left behind.",
    "ni-zone": "Between 125 and 250 cells sources keep the rate that they have, PCR or MCR, as the paper says of it: "
    "beside VBR of a constant rate one of three stays at MCR.",
    "rm-first-mcr-10-mbps": "At 10 Mbps a stopped source hears of go within 1.4 ms: the link does not run dry.",
    "mcr-10-kbps": "Stopped sources send next to nothing: MCR is what fills the buffer.",
    "mcr-10-kbps-tbe-100": "Sources stop sooner, too.",
}


def _said(load: int, sample: Sample) -> str:
    total = sample.total
    return (
        f"at {load}: {total.mean:.1f} +- {total.half_width:.1f} Mbps, efficiency {sample.efficiency.mean:.3f}, "
        f"waste {sample.waste.mean:.3f}, {sample.count(lambda run: run.timeouts)} time-outs, "
        f"{sample.count(lambda run: run.lost):,} cells lost, Jain's index {sample.fairness:.3f}"
    )


def _findings(results: Results) -> Sequence[Finding]:
    samples = {name: curve.samples(results) for name, curve in CURVES.items() if curve.key(LOADS[0], 1) in results}
    constant = {load: Sample((measure(results[key]),)) for load, key in zip(CONSTANT_LOADS, CONSTANT, strict=True)}
    found = [
        Finding(
            f"open.{name}",
            "; ".join(_said(load, sample) for load, sample in by_load.items())
            + (_beside_constant(constant) if name == "ni-zone" else ""),
            None,
            _WHY.get(name, "Nothing is published to compare with."),
        )
        for name, by_load in samples.items()
    ]
    return [*found, *_granularity(samples), unfair(samples["ni-zone"], constant)]


def _granularity(samples: Mapping[str, Mapping[int, Sample]]) -> list[Finding]:
    """Judge what section 3.2 says of a coarser timer."""
    low, high = LOADS

    def timeouts(name: str, load: int) -> int:
        return samples[name][load].count(lambda run: run.timeouts)

    def listed(names: Sequence[str], text: Callable[[Sample], str]) -> str:
        return "; ".join(
            f"at {load}: " + ", ".join(f"{text(samples[name][load])} ({name})" for name in ("as-run", *names))
            for load in LOADS
        )

    lacking = {name: 1 - samples[name][low].efficiency.mean for name in ("as-run", *MIDDLING)}
    lost = sum(samples[name][low].count(lambda run: run.lost) for name in MIDDLING)
    same = lost == 0 and all(0.5 <= lacking[name] / lacking["as-run"] <= 2 for name in MIDDLING)
    avoided = all(timeouts(name, low) == 0 and timeouts(name, high) < 0.1 * timeouts("as-run", high) for name in COARSE)
    coarse = {name: samples[f"{WIDE}-{name}"] for name in COARSE}
    larger = all(_is_worse(samples[f"{WIDE}-{name}"][load], samples[WIDE][load]) for name in COARSE for load in LOADS)
    unable = all(_is_worse(samples[name][load], samples["as-run"][load]) for name in COARSE for load in LOADS)
    return [
        Finding(
            "open.granularity-same",
            ", ".join(f"{value:.3f} ({name})" for name, value in lacking.items())
            + f" lacking to an efficiency of 1 at {low}, {lost} cells lost",
            same,
            "" if same else "More than a factor of two apart, or not without loss.",
        ),
        Finding(
            "open.granularity-avoids",
            listed(COARSE, lambda sample: str(sample.count(lambda run: run.timeouts))) + " time-outs",
            avoided,
            "" if avoided else "There are time-outs in on periods with a coarse timer, too.",
        ),
        Finding(
            "open.granularity-unable",
            "; ".join(
                f"at {load}: " + ", ".join(_goodput_and_loss(samples[name][load], name) for name in ("as-run", *COARSE))
                for load in LOADS
            ),
            unable,
            "" if unable else "Windows of 8192 octets fit the buffer: there is nothing to adapt to.",
            rows={"open.granularity-window-65535": Tried(holds=larger, seeds=len(samples[WIDE][low].runs))},
            seeds=len(samples["as-run"][low].runs),
        ),
        Finding(
            "open.granularity-window-65535",
            "; ".join(
                f"at {load}: "
                + ", ".join(
                    _goodput_and_loss(by_load[load], name)
                    for name, by_load in {"50 us": samples[WIDE], **coarse}.items()
                )
                for load in LOADS
            ),
            larger,
            "" if larger else "Not at both loads with both timers.",
        ),
    ]


def unfair(zone: Mapping[int, Sample], constant: Mapping[int, Sample]) -> Finding:
    """Judge that two thresholds leave some connections behind for good.

    Parameters
    ----------
    zone
        Runs of the papers' figures, by load: VBR comes and goes.
    constant
        Those with VBR of a constant rate.
    """
    index = {load: sample.fairness for load, sample in zone.items()}
    left_behind = min(index.values()) < UNFAIR
    why = (
        "Each on time of VBR stops all sources, and each pause starts all: what a source had before does not last. "
        "Which traffic it was found with the paper does not say."
    )
    text = ", ".join(f"{value:.4f} (at {load})" for load, value in index.items())
    other = Tried(holds=min(sample.fairness for sample in constant.values()) < UNFAIR)
    return Finding("open.ni-zone-unfair", text, left_behind, "" if left_behind else why, rows={"open.ni-zone": other})


def _beside_constant(constant: Mapping[int, Sample]) -> str:
    """Write what each connection has beside VBR of a constant rate."""

    def goodputs(sample: Sample) -> str:
        return ", ".join(f"{value:.2f}" for value in sample.runs[0].goodput)

    listed = "; ".join(f"{goodputs(sample)} (at {load})" for load, sample in constant.items())
    return f"; beside VBR of a constant rate each has {listed} Mbps"


def _is_worse(coarse: Sample, fine: Sample) -> bool:
    """Whether a coarse timer has less goodput and loses more cells than a fine one."""
    lost, before = (sample.count(lambda run: run.lost) for sample in (coarse, fine))
    return coarse.total.mean < fine.total.mean and lost > before


def _goodput_and_loss(sample: Sample, name: str) -> str:
    return f"{sample.total.mean:.1f} Mbps and {sample.count(lambda run: run.lost):,} cells lost ({name})"


EXPERIMENT = Experiment(
    name="open",
    title="What the paper leaves open",
    points=CONSTANT
    | {
        key: point
        for name, curve in CURVES.items()
        for key, point in curve.points(REPLICATIONS, quick=REPLICATIONS if name in JUDGED else 0).items()
    },
    findings=_findings,
    drawings=lambda results: [],
)
"""One choice changed at a time."""
