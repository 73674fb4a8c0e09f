"""Two kinds of flows on one line, 20 and 180 ms there and back: what a short round trip gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cellrate.papers.experiment import Drawing, Experiment, Finding, Point, Results

from .common import ALGORITHMS, LINE, QUICK, SHORT, Seen

ROUND_TRIPS_S = {"near": 0.02, "far": 0.18}
LOADS = (0.7, 0.9)
FLOW_CELLS = 269
"""Cells of a flow in the mean, RM cells included; over TCP 258, of its segments."""
CLASSES: Mapping[str, tuple[int, int]] = {
    "below 10 kB": (0, 10_000),
    "10 to 100 kB": (10_000, 100_000),
    "100 kB to 1 MB": (100_000, 1_000_000),
}
IDS: Mapping[str, str] = {
    "RCP": "rcp",
    "RCP, beta 0": "beta-0",
    "ERICA": "erica",
    "ERICA+": "erica-plus",
    "TCP Reno": "tcp",
}


def _key(name: str, load: float) -> str:
    return f"{name}, load {load:g}"


def _point(name: str, load: float) -> Point:
    tcp = name == "TCP Reno"
    gap = f"{2e6 * (258 if tcp else FLOW_CELLS) / (LINE * load):.1f} us"
    settings = {**SHORT, "flows.near.arrivals.gap": gap, "flows.far.arrivals.gap": gap}
    more = {} if tcp else ALGORITHMS[name]
    return Point("round-trips-tcp" if tcp else "round-trips", {**settings, **more}, quick=QUICK)


def _said(run: Seen) -> str:
    """Write the ratios to processor sharing of both kinds, by class of sizes."""
    parts = []
    for kind, round_trip_s in ROUND_TRIPS_S.items():
        rows = {label: run.flows(kind, *limits) for label, limits in CLASSES.items()}
        ratios = (f"{run.ratio(row, round_trip_s):.2f} ({label})" for label, row in rows.items() if row.count >= 10)
        parts.append(f"{kind}: " + ", ".join(ratios))
    return f"load {run.load:.2f}: " + "; ".join(parts)


def _findings(results: Results) -> Sequence[Finding]:
    return [
        Finding(
            f"round-trips.{ident}-{100 * load:.0f}",
            _said(Seen.of(results[_key(name, load)])),
            None,
            "Mean times over processor sharing's with the flow's own round trip; computed.",
        )
        for name, ident in IDS.items()
        for load in LOADS
    ]


def _drawings(_: Results) -> Sequence[Drawing]:
    return []


EXPERIMENT = Experiment(
    name="round-trips",
    title="Unequal round trips",
    points={_key(name, load): _point(name, load) for name in IDS for load in LOADS},
    findings=_findings,
    drawings=_drawings,
)
"""RCP, ERICA, ERICA+ and TCP at two loads."""
