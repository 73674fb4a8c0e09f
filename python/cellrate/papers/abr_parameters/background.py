"""Figure 6: unused capacity after VBR has gone, by Trm."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...results import Result
from ..paper import Drawing, Experiment, Finding, Point, Results
from .common import BOTTLENECK, listed, rising

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRMS = ("0.78125 ms", "12.5 ms", "100 ms")
"""In the order of the paper's 1, 10 and 100 ms; the nearest values that signalling can carry."""
GONE_S, PERIOD_S, OFF_S = 0.027, 0.040, 0.020
"""When VBR is first gone at the bottleneck (on at 2 ms, 20 ms long, 5 ms on the way), and its period."""


def idle_ms(result: Result) -> float:
    """Line time unused in the first 20 ms after VBR has gone, mean over the cycles but the first [ms]."""
    used = result.series("utilization", port=BOTTLENECK)
    end = result.summary["run"]["duration_s"]
    starts = [GONE_S + PERIOD_S * k for k in range(1, 20) if GONE_S + PERIOD_S * k + OFF_S <= end]
    return float(np.mean([(1.0 - used.mean(start, start + OFF_S)) * OFF_S * 1e3 for start in starts]))


def response_ms(result: Result) -> float:
    """Time from VBR's leaving until the line is used to 80 % again, mean over the cycles but the first [ms].

    A cycle in which that never comes counts as its whole 20 ms.
    """
    used = result.series("utilization", port=BOTTLENECK)
    end = result.summary["run"]["duration_s"]
    waits = []
    for start in (GONE_S + PERIOD_S * k for k in range(1, 20)):
        if start + OFF_S > end:
            break
        # The millisecond in which VBR leaves is half its own.
        back = used.between(start + 1.5e-3, start + OFF_S).first(start, at_least=0.8)
        waits.append(OFF_S if back is None else back - start)
    return float(np.mean(waits)) * 1e3


def _findings(results: Results) -> Sequence[Finding]:
    idle = {trm: idle_ms(results[trm]) for trm in TRMS}
    wait = {trm: response_ms(results[trm]) for trm in TRMS}
    allowed = "Trm 1 and 10 ms are outside table 1; run with the nearest values inside, 0.78125 and 12.5 ms."
    found = [
        Finding("trm.idle", listed(idle.items(), "ms of 20", 2), rising(idle.values()), allowed),
        Finding("trm.response", listed(wait.items(), "ms"), rising(wait.values()), allowed),
    ]
    if "rif 1, 100 ms" in results:
        jump = {trm: idle_ms(results[f"rif 1, {trm}"]) for trm in TRMS}
        found.append(Finding("trm.rif", listed(jump.items(), "ms of 20", 2), rising(jump.values())))
    return found


def _figure(results: Results) -> Figure:
    from ...plots import Line, Panel, figure

    panels = [
        Panel(
            f"Trm {trm}\nutilization [%]",
            [Line(results[trm].series("utilization", port=BOTTLENECK), BOTTLENECK)],
            100,
            105,
        )
        for trm in TRMS
    ]
    return figure(panels, "Figure 6: two sources and VBR, by Trm", results[TRMS[-1]].stamp + " and its neighbours")


def _drawings(results: Results) -> Sequence[Drawing]:
    caption = "Figure 6: utilization of the bottleneck under VBR that is on for 20 ms and off for 20 ms"
    return [Drawing("figure-6", caption, partial(_figure, results))]


EXPERIMENT = Experiment(
    name="trm",
    title="Trm: figure 6",
    points={
        **{trm: Point("background", {"defaults.abr.trm": trm}) for trm in TRMS},
        **{
            f"rif 1, {trm}": Point("background", {"defaults.abr.trm": trm, "defaults.abr.rif": 1}, extra=True)
            for trm in TRMS
        },
    },
    findings=_findings,
    drawings=_drawings,
)
"""Trm 1, 10, 100 ms."""
