"""Beyond the paper: what Stop & Go costs and saves beside UBR, EFCI ABR, ERICA+ ABR, and its explicit-rate form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from cellrate.papers.experiment import Drawing, Experiment, Finding, Results

from .curves import Curve, totals
from .measures import Sample

LOADS = (25, 55, 85, 100)
"""Background loads [Mbps]."""
REPLICATIONS = 4
ERICA = '{ type = "erica+", interval = "1 ms" }'
WINDOW = "vc.vc{i}.traffic.window"
ALGORITHMS: Mapping[str, Mapping[str, object]] = {
    "Stop & Go": {},
    "explicit rate": {"defaults.switch.algorithm.form": "explicit-rate"},
    "UBR": {"vc.vc{i}.category": "ubr"},
    "EFCI": {"defaults.switch.algorithm": '{ type = "none" }', "defaults.switch.efci": '{ high = "250 cells" }'},
    "ERICA+": {"defaults.switch.algorithm": ERICA, "defaults.abr.rif": "1"},
    "Stop & Go 64 kB": {WINDOW: "65535 octets"},
    "UBR 64 kB": {"vc.vc{i}.category": "ubr", WINDOW: "65535 octets"},
}
"""Each with the buffers, the TCP and the background of figure 2; the last two with larger windows."""
PCRS = (50, 100)


def _settings(name: str, pcr: int) -> dict[str, object]:
    peak = {"vc.vc{i}.pcr": f"{pcr} Mbps"} if name.startswith("UBR") else {"defaults.abr.pcr": f"{pcr} Mbps"}
    return {**ALGORITHMS[name], **peak}


CURVES = {
    pcr: {name: Curve(f"{name}, PCR {pcr} Mbps", "bottleneck", _settings(name, pcr), LOADS) for name in ALGORITHMS}
    for pcr in PCRS
}


_WHY = {
    "UBR": "Three windows of 8192 octets are 480 cells of 1000: nothing is lost without any ABR while VBR leaves some "
    "of the link, and no RM cells take a part of it.",
    "UBR 64 kB": "Three windows are 4224 cells: what ABR leaves at the sources comes to the buffer and is lost.",
}


def _said(sample: Sample) -> str:
    return (
        f"{sample.total.mean:.1f} Mbps, efficiency {sample.efficiency.mean:.3f}, waste {sample.waste.mean:.3f}, "
        f"{sample.count(lambda run: run.lost):,} cells lost, fairness {sample.fairness:.3f}"
    )


def _findings(results: Results) -> Sequence[Finding]:
    if CURVES[50]["UBR"].key(LOADS[0], 1) not in results:
        return []
    found = []
    samples = {pcr: {name: curve.samples(results) for name, curve in curves.items()} for pcr, curves in CURVES.items()}
    for pcr in PCRS:
        for name in ALGORITHMS:
            by_load = samples[pcr][name]
            ident = name.lower().replace(" & ", "-and-").replace(" ", "-").replace("+", "-plus")
            text = "; ".join(f"at {load}: {_said(by_load[load])}" for load in (55, 100))
            why = _WHY.get(name, "Nothing is published; see the figure.")
            found.append(Finding(f"beyond.{ident}-{pcr}", text, None, why))
    worst = max(
        abs(a.total.mean - b.total.mean) / a.total.mean
        for pcr in PCRS
        for a, b in zip(samples[pcr]["Stop & Go"].values(), samples[pcr]["explicit rate"].values(), strict=True)
    )
    why = "Only ER's code, a rounding of PCR downwards, tells them apart."
    found.append(Finding("beyond.forms", f"largest difference {worst:.2%}", worst <= 0.01, why))
    return found


def _drawings(results: Results) -> Sequence[Drawing]:
    if CURVES[50]["UBR"].key(LOADS[0], 1) not in results:
        return []
    plots = (
        ("goodput of all [Mbps]", lambda sample: sample.total, 130.0),
        ("efficiency", lambda sample: sample.efficiency, 1.05),
        ("link waste", lambda sample: sample.waste, 0.6),
    )
    return [
        Drawing(
            f"algorithms-{pcr}",
            title := f"Stop & Go beside others, figure 2 with PCR {pcr} Mbps",
            partial(totals, CURVES[pcr], results, title, plots),
        )
        for pcr in PCRS
    ]


EXPERIMENT = Experiment(
    name="beyond",
    title="Beyond the paper: other algorithms",
    points={
        key: point
        for curves in CURVES.values()
        for curve in curves.values()
        for key, point in curve.points(REPLICATIONS, quick=0).items()
    },
    findings=_findings,
    drawings=_drawings,
)
"""Five algorithms, PCR 50 and 100 Mbps."""
