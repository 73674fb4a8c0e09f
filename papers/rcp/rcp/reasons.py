"""Why RCP takes longer than processor sharing at a load of 0.9: one thing changed at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cellrate.papers.experiment import Drawing, Experiment, Finding, Point, Results

from .common import (
    ALGORITHM,
    GAINS,
    GAP,
    IN_BAND,
    LINE,
    NRM,
    PACKET_CELLS,
    QUICK,
    ROUND_TRIP_S,
    SHORT,
    Seen,
    gap,
    sharing,
)

LINES = {3: ("12 s", "5 s"), 10: ("7 s", "4 s")}
"""Lines as many times as fast, 10 times being the source's own; how long each is run, and what is left out."""
LONG = ("as-is", "gains-of-figure-12")
"""Run for the 60 s of the scenario, since R takes long to rest."""
PREDICTED = 0.2
"""By what part a closed form and a run may differ."""


def _faster(times: int) -> dict[str, object]:
    """Take a line so many times as fast, with as many times as many flows of the same sizes."""
    duration, warm_up = LINES[times]
    return {
        "duration": duration,
        "warm_up": warm_up,
        "link.sw1-sw2.rate": f"{times * LINE:.0f} cells/s",
        "defaults.link.rate": f"{4 * times * LINE:.0f} cells/s",
        GAP: f"{1110 / times:g} us",
        "flows.10-packets.arrivals.gap": f"{36000 / times:g} us",
        "flows.100-packets.arrivals.gap": f"{180_000 / times:g} us",
        "flows.1000-packets.arrivals.gap": f"{1_200_000 / times:g} us",
        "flows.pareto.slots": 300 * times,
    }


CHANGED: Mapping[str, Mapping[str, object]] = {
    "as-is": {},
    "interval-2500-us": {f"{ALGORITHM}.interval": "2500 us"},
    "interval-40-ms": {f"{ALGORITHM}.interval": "40 ms"},
    "nrm-8": {NRM: 8, GAP: "1255 us"},
    "in-band": {**IN_BAND, GAP: gap(0.9, in_band=True)},
    "beta-0": {f"{ALGORITHM}.beta": 0},
    "gains-of-figure-12": {**GAINS, f"{ALGORITHM}.first": 0.1},
    "target-95": {f"{ALGORITHM}.target_utilization": 0.95},
}
"""By the ends of the ids of their rows."""


def _findings(results: Results) -> Sequence[Finding]:
    seen = {name: Seen.of(results[name]) for name in CHANGED if name in results}
    for times in LINES:
        if (key := f"line-{times}") in results:
            seen[key] = Seen.of(results[key], times * LINE)
    found = [Finding(f"reasons.{name}", run.said(), None, _WHY[name]) for name, run in seen.items()]
    base = seen["as-is"]
    found.append(_sharing(Seen.of(results["sharing"], LINE * 260 / 269)))
    found.append(_waits(base))
    found.append(_queue({name: seen[name] for name in ("as-is", "gains-of-figure-12") if name in seen}))
    return found


def _sharing(run: Seen) -> Finding:
    """Hold the closed form to a queue for each connection, served in turn, where flows begin without being told."""
    flows = run.flows("pareto")
    formula = sharing(flows.packets, run.line / PACKET_CELLS, run.load) - ROUND_TRIP_S
    return Finding(
        "reasons.sharing",
        f"{flows.time_s * 1e3:.1f} ms, by the closed form less the round trip of asking {formula * 1e3:.1f} ms",
        abs(flows.time_s / formula - 1) <= 0.05,
        "Held to 5 %.",
    )


def _waits(run: Seen) -> Finding:
    """Predict the times from the queue: a flow waits in it twice, with its first RM cell and with its data."""
    wait_s = 2 * run.queue / run.line
    short = run.flows("10-packets")
    due = run.sharing(short.packets) + wait_s
    return Finding(
        "reasons.two-waits",
        f"{short.time_s * 1e3:.1f} ms for 10 packets; {run.sharing(short.packets) * 1e3:.1f} ms by processor sharing, "
        f"and twice the mean queue are {wait_s * 1e3:.1f} ms more",
        abs(short.time_s / due - 1) <= 0.03,
        "Held to 3 %.",
    )


def _queue(runs: Mapping[str, Seen]) -> Finding:
    """Hold the mean queue to the one at which R rests: alpha (C - y) = beta q / d."""
    gains = {"as-is": 1.0, "gains-of-figure-12": 0.1}
    due = {name: gains[name] * (1 - run.load) * run.line * ROUND_TRIP_S for name, run in runs.items()}
    return Finding(
        "reasons.resting-queue",
        "; ".join(f"{run.queue:,.0f} of {due[name]:,.0f} cells ({name})" for name, run in runs.items()),
        all(abs(run.queue / due[name] - 1) <= PREDICTED for name, run in runs.items()),
        f"Held to {PREDICTED:.0%}.",
    )


_WHY = {
    "as-is": "alpha and beta 0.4, an interval of 10 ms, an RM cell in 32; the rows below change one thing each.",
    "interval-2500-us": "The control interval is not the reason.",
    "interval-40-ms": "The control interval is not the reason.",
    "nrm-8": "How often a flow hears of its rate is not the reason: four times as many RM cells, the same load.",
    "in-band": "The rate in every data cell, as in RCP's packets, and no RM cells: the same but for what those take.",
    "beta-0": "Without the queue's term R rises to the line's rate: the queue is longer, and short flows wait more.",
    "gains-of-figure-12": "A tenth of the queue; R is below C (1 - load) in the mean, and long flows wait for it.",
    "target-95": "Half of what the line has left is not handed out: the queue is shorter, and long flows wait.",
    "line-3": "Three times the packets a second: the same queue's worth of time is shorter beside a round trip.",
    "line-10": "As many packets a second as the source has.",
}


def _drawings(_: Results) -> Sequence[Drawing]:
    return []


EXPERIMENT = Experiment(
    name="reasons",
    title="Why it is not processor sharing at 0.9",
    points={
        **{
            name: Point("flows", more if name in LONG else {**SHORT, **more}, quick=QUICK)
            for name, more in CHANGED.items()
        },
        "sharing": Point("sharing", SHORT, quick=QUICK),
        **{f"line-{times}": Point("flows", _faster(times), extra=True) for times in LINES},
    },
    findings=_findings,
    drawings=_drawings,
)
"""One change each, at a tenth of the source's line."""
