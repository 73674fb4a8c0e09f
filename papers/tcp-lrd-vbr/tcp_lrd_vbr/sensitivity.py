"""Effect of a choice: row 1 of tables 1 and 5 with one setting another way, beside the same seeds as run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from cellrate.papers.experiment import Drawing, Experiment, Finding, Point, Results
from cellrate.results import Result

from .common import BOTTLENECK, FINE, LINE_MBPS, ROW_SEEDS, Sample, metrics

_SWITCH = "defaults.switch.algorithm."
_ABR = "defaults.abr."
_APART = "[" + ", ".join(f'"{50 * number} ms"' for number in range(15)) + "]"
"""When each connection begins: 50 ms after the one before it."""
_STARTED_S = 2.0
"""From then on every source always has data."""
_TCP = "vc.tcp{i}.traffic."
_EXACT = '{ type = "video", programs = 9, mean = "5 Mbps", deviation = "5 Mbps", hurst = 0.8, method = "davies-harte" }'
_SWAPPED: Mapping[str, object] = {f"{_SWITCH}a": 1.05, f"{_SWITCH}b": 1.15}
_NO_AVERAGES: Mapping[str, object] = {f"{_SWITCH}alpha": 1, f"{_SWITCH}activity_decay": 0}


@dataclass(frozen=True)
class Choice:
    """One setting made another way."""

    set: Mapping[str, object]
    why: str
    """Why it matters, or does not."""


OPEN: Mapping[str, Choice] = {
    "icr-pcr": Choice({f"{_ABR}icr": "149.76 Mbps"}, "TCP starts with a segment a connection, whatever ICR is."),
    "icr-1-mbps": Choice({f"{_ABR}icr": "1 Mbps"}, "The first feedback comes after 10 ms of 10 s."),
    "rif-1-16": Choice({f"{_ABR}rif": "1/16"}, "ACR rises by no more than PCR / 16 a BRM."),
    "rif-1-64": Choice({f"{_ABR}rif": "1/64"}, "ACR rises by no more than PCR / 64 a BRM."),
    "alpha-0.1": Choice({f"{_SWITCH}alpha": 0.1}, "Half of a change is known after 7 intervals, not after 3."),
    "alpha-0.5": Choice({f"{_SWITCH}alpha": 0.5}, "Half of a change is known after an interval."),
    "no-averages": Choice(
        _NO_AVERAGES, "The newest interval alone, and a source that was silent in it counts nothing."
    ),
    "averages-of-rates": Choice(
        {f"{_SWITCH}load_averaging": "rates"},
        "Intervals that 500 cells end are short in overload, and count as much as long ones: the load seems higher.",
    ),
    "ratio": Choice({f"{_SWITCH}load_averaging": "ratio"}, "The load factor of each interval counts the same."),
    "drained-by-line": Choice(
        {f"{_SWITCH}drained_by": "line"}, "f is less steep by what VBR takes: gain times delay is 1.6, not 2.6."
    ),
    "slopes-swapped": Choice(
        _SWAPPED, "Above T0 the slope is 95 per second, not 261: gain times delay is 0.95, below pi / 2."
    ),
    "measured-ccr": Choice(
        {f"{_SWITCH}measured_ccr": True}, "VCShare then follows what a source sends, not what it may send."
    ),
    "bidirectional-counting": Choice(
        {f"{_SWITCH}bidirectional_counting": True},
        "500 cells of an interval are 33 of each source: all are seen anyway.",
    ),
    "delta-0": Choice({f"{_SWITCH}delta": 0}, "Shares above FairShare are kept for less of the time."),
    "rm-before-data": Choice({"defaults.switch.rm_cells": "before-data"}, "FRMs do not wait in the ABR queue."),
    "tcp-timer": Choice(
        {f"{_TCP}timer_granularity": "500 ms", f"{_TCP}minimum_rto": "1 s"}, "Nothing is lost: no timer ever expires."
    ),
    "delayed-acks": Choice(
        {f"{_TCP}delayed_ack.heartbeat": "200 ms"},
        "In slow start a window grows by half in a round trip, not by itself.",
    ),
    "starts-apart": Choice({f"{_TCP}start": _APART}, "Slow starts that are not in step, the longest queue among them."),
    "noise": Choice({"vc.vbr.traffic": _EXACT}, "Other numbers of the same noise."),
    "sequence": Choice({"vc.vbr.traffic.sequence": "10 s"}, "The mean of such a sequence hardly wanders."),
}
"""Questions that the paper leaves open."""

STATED: Mapping[str, Choice] = {
    "40-s": Choice({"duration": "40 s"}, "Slow start weighs a quarter; the sequence of noise is another."),
    "t0-100-us": Choice(
        {f"{_SWITCH}t0": "100 us"},
        "The value for LANs (S. Kalyanaraman's thesis, 6.22.1): a queue of 22 cells is aimed at, not of 112, and gain "
        "times delay is five times as large.",
    ),
    "t0-1-ms": Choice({f"{_SWITCH}t0": "1 ms"}, "A queue of 224 cells is aimed at, not of 112."),
    "t0-1.5-ms": Choice({f"{_SWITCH}t0": "1.5 ms"}, "A queue of 335 cells is aimed at, not of 112."),
    "qdlf-0.8": Choice(
        {f"{_SWITCH}qdlf": 0.8}, "A queue is drained by a fifth of the capacity at most, not by half of it."
    ),
    "interval-1-ms": Choice(
        {f"{_SWITCH}interval": "1 ms", f"{_SWITCH}interval_cells": 100}, "Intervals of about 0.5 ms, not 2.2 ms."
    ),
    "interval-5-ms": Choice({f"{_SWITCH}interval_cells": 1_000_000}, "Intervals of 5 ms, not of about 2.2 ms."),
    "constant-vbr": Choice(
        {"vc.vbr.traffic": '{ type = "constant", rate = "55.3 Mbps" }'},
        "The largest queue is that of slow start, and ERICA+ does not settle under constant VBR either: with T0 500 us "
        "and feedback after 10 ms its rates go up and down.",
    ),
}
"""Settings that the paper states, at another value: how much depends on each. The tables are run as stated."""

CHOICES = {**OPEN, **STATED}

OVER_THE_SATELLITE: Mapping[str, Choice] = {
    "icr-pcr": Choice({f"{_ABR}icr": "149.76 Mbps"}, "The first feedback comes after 550 ms."),
    "icr-1-mbps": Choice({f"{_ABR}icr": "1 Mbps"}, "The first feedback comes after 550 ms."),
    "rif-1-16": Choice({f"{_ABR}rif": "1/16"}, "ACR rises by no more than PCR / 16 a BRM, a round trip late."),
    "rif-1-64": Choice({f"{_ABR}rif": "1/64"}, "ACR rises by no more than PCR / 64 a BRM, a round trip late."),
    "alpha-0.5": Choice({f"{_SWITCH}alpha": 0.5}, "A capacity that is there for an interval is given to all at once."),
    "no-averages": Choice(_NO_AVERAGES, "So it is, wholly."),
    "averages-of-rates": Choice(
        {f"{_SWITCH}load_averaging": "rates"}, "Short intervals, those of overload, count as much as long ones."
    ),
    "drained-by-line": Choice({f"{_SWITCH}drained_by": "line"}, "f is less steep by what VBR takes."),
    "slopes-swapped": Choice(_SWAPPED, "A queue is drained more slowly."),
    "measured-ccr": Choice({f"{_SWITCH}measured_ccr": True}, "What is measured is what was allowed 550 ms ago."),
    "qdlf-0.8": Choice(
        {f"{_SWITCH}qdlf": 0.8}, "Stated as 0.5: a queue is drained by a fifth of the capacity at most."
    ),
}
"""Settings at another value where feedback takes 550 ms, and the largest queue is that of a rate right a round trip
before."""


@dataclass(frozen=True)
class Row:
    """A row of a table, and the choices that are tried on it."""

    scenario: str
    prefix: str
    """Prefix of its claims."""
    set: Mapping[str, object]
    choices: Mapping[str, Choice]


GROUND = Row("terrestrial", "open", {}, CHOICES)
"""Row 1 of table 1."""
SATELLITE = Row("long-feedback", "open-long", {"duration": "30 s"}, OVER_THE_SATELLITE)
"""Row 1 of table 5, of which 30 s: most of the largest queues are there by then."""


def idle_share(result: Result) -> float:
    """Share of what VBR leaves of the line in which nothing is sent [%]."""
    left = LINE_MBPS - metrics(result, 512).vbr
    idle = 1 - float(result.port(BOTTLENECK)["utilization"])
    return 100 * LINE_MBPS * idle / left


def changes(results: Results, choice: str, metric: str) -> Sample:
    """Give by how much each seed's metric changes."""

    def value(run: str, seed: int) -> float:
        return float(getattr(metrics(results[f"{run}, seed {seed}"], 512), metric))

    return Sample([value(choice, seed) - value("as run", seed) for seed in ROW_SEEDS])


def _signed(sample: Sample, digits: int) -> str:
    return f"{sample.mean:+,.{digits}f} ± {sample.interval():,.{digits}f}"


def _idle(results: Results) -> Finding:
    as_run = [results[f"as run, seed {seed}"] for seed in ROW_SEEDS]
    idle = Sample([idle_share(result) for result in as_run])
    lacking = Sample([100 - metrics(result, 512).efficiency for result in as_run])
    why = (
        "After slow start every source has data. The rest are backward RM cells, which answer those of the ACKs, "
        "and what is on its way at the end."
    )
    return Finding("open.idle", f"{idle.text(1)} of {lacking.text(1)} points", None, why)


def _slow_start(results: Results) -> Finding:
    runs = [results[f"fine, seed {seed}"] for seed in ROW_SEEDS]
    queues = [result.series("abr_queue", port=BOTTLENECK) for result in runs]
    whole = Sample([metrics(result, 512).queue for result in runs])
    later = Sample([float(queue.values[queue.times_s >= _STARTED_S].max()) for queue in queues])
    instants = [float(queue.times_s[queue.values.argmax()]) for queue in queues]
    text = f"{whole.text(0)} cells, at {min(instants):.2f} to {max(instants):.2f} s; {later.text(0)} from 2 s on"
    why = "Fifteen windows double at once. Later, with all the variance of the video, it stays below half of that."
    return Finding("open.slow-start", text, None, why)


def _findings(row: Row, results: Results) -> Sequence[Finding]:
    found = []
    if row is GROUND and f"as run, seed {ROW_SEEDS[-1]}" in results:
        found += [_idle(results), _slow_start(results)]
    for name, choice in row.choices.items():
        if f"{name}, seed {ROW_SEEDS[-1]}" not in results:
            continue
        efficiency, queue = (changes(results, name, metric) for metric in ("efficiency", "queue"))
        text = f"{_signed(efficiency, 2)} points, {_signed(queue, 0)} cells"
        found.append(Finding(f"{row.prefix}.{name}", text, None, choice.why))
    return found


def _drawings(results: Results) -> Sequence[Drawing]:
    del results
    return []


def _points(row: Row) -> dict[str, Point]:
    ways: dict[str, Mapping[str, object]] = {"as run": {}}
    ways.update({name: choice.set for name, choice in row.choices.items()})
    if row is GROUND:
        ways["fine"] = FINE
    return {
        f"{way}, seed {seed}": Point(row.scenario, {**row.set, **settings, "seed": seed}, extra=True)
        for way, settings in ways.items()
        for seed in ROW_SEEDS
    }


def _experiment(row: Row, name: str, title: str) -> Experiment:
    return Experiment(name=name, title=title, points=_points(row), findings=partial(_findings, row), drawings=_drawings)


EXPERIMENT = _experiment(GROUND, "open", "What the paper leaves open, and how much depends on what it states")
"""Row 1 of table 1; not in a quick run."""
LONG = _experiment(SATELLITE, "open-long", "The same where feedback takes 550 ms")
"""Row 1 of table 5; not in a quick run."""
