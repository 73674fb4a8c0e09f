"""Figure 14: source rule 6 alone, no feedback at all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from cellrate.papers.experiment import Drawing, Experiment, Finding, Point, Results
from cellrate.results import Result

from .common import CELL_BITS, TARGET_MBPS, listed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CRM = 32
CDFS = {"1/64": 1 / 64, "1/16": 1 / 16, "1/2": 1 / 2}
ICR = TARGET_MBPS * 1e6 / CELL_BITS
"""0.9 x PCR [cells/s]."""


def deviation(result: Result, cdf: float) -> tuple[int, float]:
    """How many cuts there were, and how far ACR was ever off ICR x (1 - CDF)^(k + 1) [fraction]; k as below."""
    acr = result.series("acr", vc="vc1")
    sent = result.series("forward_rm", vc="vc1")
    cuts, worst = 0, 0.0
    for t, value in zip(acr.times_s[1:], acr.values[1:], strict=True):
        # The cut comes with the FRM after CRM + k were sent; that FRM itself is counted at the same instant.
        k = int(sent.at(t)) - 1 - CRM
        worst = max(worst, abs(value / (ICR * (1 - cdf) ** (k + 1)) - 1))
        cuts += 1
    return cuts, worst


def tenth_ms(result: Result) -> float:
    """When ACR is below a tenth of ICR [ms]; infinite if it never is."""
    acr = result.series("acr", vc="vc1")
    below = np.flatnonzero(acr.values < ICR / 10)
    return float(acr.times_s[below[0]]) * 1e3 if len(below) else float("inf")


def _findings(results: Results) -> Sequence[Finding]:
    found = {name: deviation(results[name], cdf) for name, cdf in CDFS.items()}
    sixteenth = results["1/16"]
    first = float(sixteenth.series("acr", vc="vc1").times_s[1])
    sent = int(sixteenth.series("forward_rm", vc="vc1").at(first)) - 1
    fall = {name: tenth_ms(results[name]) for name in CDFS}
    return [
        Finding(
            "cutoff.geometric",
            ", ".join(f"{cuts} cuts, at most {worst:.1e} off ({name})" for name, (cuts, worst) in found.items()),
            all(cuts >= 5 and worst < 1e-9 for cuts, worst in found.values()),
        ),
        Finding("cutoff.first", f"{sent} FRMs, {first * ICR:,.0f} cells", sent == CRM),
        Finding(
            "cutoff.cdf-direction",
            "ACR below a tenth after " + listed(fall.items(), "ms", 2),
            False,
            "A larger CDF cuts more: the paper's own formula, ACR x (1 - CDF), says so, and so do the runs.",
        ),
    ]


def _figure(results: Results) -> Figure:
    from cellrate.plotting.runs import Line, Panel, figure

    lines = [Line(results[name].series("acr", vc="vc1"), f"CDF {name}") for name in CDFS]
    panel = Panel("ACR [Mbps]", lines, CELL_BITS / 1e6, second_axis="[1000 cells/s]")
    stamp = results["1/16"].stamp + " and its neighbours"
    return figure([panel], "Figure 14: rule 6 without feedback", stamp, panel_height=2.6, time=(0.0, 0.03))


def _drawings(results: Results) -> Sequence[Drawing]:
    caption = "Figure 14: ACR falls geometrically once CRM = 32 FRMs are unanswered"
    return [Drawing("figure-14", caption, partial(_figure, results))]


EXPERIMENT = Experiment(
    name="cutoff",
    title="Rule 6 alone: figure 14",
    points={name: Point("cutoff", {"defaults.abr.cdf": name}) for name in CDFS},
    findings=_findings,
    drawings=_drawings,
)
"""CDF 1/64, 1/16, 1/2."""
