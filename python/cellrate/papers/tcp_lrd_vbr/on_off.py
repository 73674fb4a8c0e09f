"""On/off VBR beside long-range dependent VBR (section "Comparison with ON-OFF VBR Results")."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ..experiment import Drawing, Experiment, Finding, Point, Results
from .common import BOTTLENECK, FEEDBACK_CELLS, Sample, metrics
from .tables import of_row, points

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TIMES = ("1 ms", "10 ms", "100 ms")
"""On and off, with a duty cycle of 0.5."""


def _findings(results: Results) -> Sequence[Finding]:
    queue = metrics(results["duty 0.7"], 512).queue
    long_range = max(Sample([metrics(result, 512).queue for result in of_row(results, row)]).mean for row in (1, 2, 3))
    near = 0.5 <= queue / 5637 <= 2
    holds = long_range <= queue + 3 * FEEDBACK_CELLS
    found = [
        Finding(
            "on-off.queue", f"{queue:,.0f}", near, "" if near else "More than a factor of two from the published one."
        ),
        Finding(
            "on-off.lrd",
            f"{long_range:,.0f} against {queue:,.0f} cells",
            holds,
            "" if holds else "More than a round trip's cells above it.",
        ),
    ]
    if f"duty 0.5, {TIMES[0]}" in results:
        queues = ", ".join(f"{metrics(results[f'duty 0.5, {time}'], 512).queue:,.0f} ({time})" for time in TIMES)
        found.append(Finding("on-off.periods", queues, None, "Nothing is published for this switch."))
    return found


def _figure(results: Results) -> Figure:
    from ...plots import Line, Panel, figure

    result = results["duty 0.7"]
    panels = [
        Panel("ABR queue\n[cells]", [Line(result.series("abr_queue", port=BOTTLENECK), BOTTLENECK)]),
        Panel("ACR\n[Mbps]", [Line(series, series.entity) for series in result.all_series("acr")[:3]], 424e-6),
    ]
    return figure(panels, "On/off VBR, 14 ms on and 6 ms off", result.stamp)


def _drawings(results: Results) -> Sequence[Drawing]:
    caption = (
        "On/off VBR of 124.41 Mbps, duty cycle 0.7, period 20 ms: queue of the bottleneck and ACR of three sources"
    )
    return [Drawing("on-off", caption, partial(_figure, results))]


EXPERIMENT = Experiment(
    name="on-off",
    title="On/off VBR",
    points={
        "duty 0.7": Point("on-off"),
        **{
            f"duty 0.5, {time}": Point("on-off", {"vc.vbr.traffic.on": time, "vc.vbr.traffic.off": time}, extra=True)
            for time in TIMES
        },
        **dict(points(1)),
    },
    findings=_findings,
    drawings=_drawings,
)
"""With the runs of table 1 beside it."""
