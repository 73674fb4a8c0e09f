"""Figure 6: unused capacity after VBR has gone, by Trm."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from cellrate.papers.experiment import Drawing, Experiment, Finding, Point, Results, Tried
from cellrate.results import Result

from .common import BOTTLENECK, listed, rising

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRMS = ("0.78125 ms", "12.5 ms", "100 ms")
"""In the order of the paper's 1, 10 and 100 ms; the nearest values that signalling can carry."""
WAY_S = 0.005
"""From the VBR source to the bottleneck."""
LONG: dict[str, object] = {"duration": "3 s"}
"""Settings of the rows with another choice: 65 pauses, where 1 s has 15."""
SHORT = {"defaults.link.length": "1 km", "defaults.switch.algorithm.interval": "1 ms"}
"""Links on which the round trip is far shorter than VBR's period."""


def pauses(result: Result, way_s: float) -> list[tuple[float, float]]:
    """Spans without VBR at the bottleneck [s], once the queue of the start is gone (0.4 s)."""
    on_s, period_s, first_s = 0.020, 0.040, 0.002
    end = result.summary["run"]["duration_s"]
    starts = [first_s + on_s + way_s + period_s * k for k in range(10, 100)]
    return [(start, start + period_s - on_s) for start in starts if start + period_s - on_s <= end]


def idle_ms(result: Result, way_s: float = WAY_S) -> float:
    """Line time unused in the 20 ms without VBR, mean over the pauses [ms]."""
    used = result.series("utilization", port=BOTTLENECK)
    return float(np.mean([(1.0 - used.mean(*pause)) * (pause[1] - pause[0]) for pause in pauses(result, way_s)])) * 1e3


_WHY = (
    "With 1000 km links a round trip (30 ms) is longer than VBR's 20 ms: the RM cells that pass the switch when VBR "
    "leaves were sent at the high rates of a round trip before, so that low rates do not hold feedback up, whatever "
    "Trm is; what stays unused is the climb in steps of RIF. And at the ACR of 1 Mbps that VBR leaves (0.9 x 155.52 "
    "- 138 Mbps for two sources), Nrm 32 alone makes an FRM every 14 ms: Trm 100 ms cannot show. A row below has "
    "links of 1 km."
)


_WHY_RIF = (
    "As above: low rates do not hold feedback up. Over the 15 pauses of the first second alone the figure grows "
    "(1.43, 1.50, 1.78 ms); over the 65 of three seconds it does not from the first to the second."
)
_WHY_SHORT = (
    "Here Trm counts: at 1 Mbps the time unused doubles from 0.78125 to 12.5 ms. Nrm 32 makes an FRM every 14 ms "
    "there, so that a larger Trm than that changes nothing."
)


def _findings(results: Results) -> Sequence[Finding]:
    idle = {trm: idle_ms(results[trm]) for trm in TRMS}
    found, rows = [], {}
    if "short, 100 ms" in results:
        jump = {trm: idle_ms(results[f"rif 1, {trm}"]) for trm in TRMS}
        short = {trm: idle_ms(results[f"short, {trm}"], 5e-6) for trm in TRMS}
        rows = {row: Tried(holds=grows(of), seeds=1) for row, of in (("trm.rif", jump), ("trm.short", short))}
        found = [
            Finding("trm.rif", listed(jump.items(), "ms of 20", 2), grows(jump), "" if grows(jump) else _WHY_RIF),
            Finding(
                "trm.short", listed(short.items(), "ms of 20", 2), grows(short), "" if grows(short) else _WHY_SHORT
            ),
        ]
    measured = listed(idle.items(), "ms of 20", 2)
    return [Finding("trm.idle", measured, grows(idle), "" if grows(idle) else _WHY, rows=rows, seeds=1), *found]


def grows(by_trm: dict[str, float]) -> bool:
    """Whether the figure grows with Trm, by a tenth at least from the first to the last."""
    values = list(by_trm.values())
    return rising(values) and values[-1] > 1.1 * values[0]


def _figure(results: Results, kind: str, title: str) -> Figure:
    from cellrate.plotting.runs import Line, Panel, figure

    panels = [
        Panel(
            f"Trm {trm}\nutilization [%]",
            [Line(results[kind + trm].series("utilization", port=BOTTLENECK), BOTTLENECK)],
            100,
            105,
        )
        for trm in TRMS
    ]
    stamp = results[f"{kind}{TRMS[-1]}"].stamp + " and its neighbours"
    return figure(panels, f"Two sources and VBR, {title}", stamp, panel_height=1.5, time=(0.6, 0.8))


def _drawings(results: Results) -> Sequence[Drawing]:
    caption = "Utilization of the bottleneck under VBR that is on for 20 ms and off for 20 ms, by Trm"
    drawn = [Drawing("figure-6", f"Figure 6: {caption}", partial(_figure, results, "", "1000 km links, interval 5 ms"))]
    if "short, 100 ms" in results:
        short = partial(_figure, results, "short, ", "1 km links, interval 1 ms")
        drawn.append(Drawing("trm-short-links", f"{caption}; short links", short))
    return drawn


EXPERIMENT = Experiment(
    name="trm",
    title="Trm: figure 6",
    points={
        **{trm: Point("background", {"defaults.abr.trm": trm}) for trm in TRMS},
        **{
            f"rif 1, {trm}": Point("background", {"defaults.abr.trm": trm, "defaults.abr.rif": 1, **LONG}, extra=True)
            for trm in TRMS
        },
        **{
            f"short, {trm}": Point("background", {"defaults.abr.trm": trm, **SHORT, **LONG}, extra=True) for trm in TRMS
        },
    },
    findings=_findings,
    drawings=_drawings,
)
"""Trm 1, 10, 100 ms."""
