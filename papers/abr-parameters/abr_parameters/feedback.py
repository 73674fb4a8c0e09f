"""Figure 13: source rule 6 beside feedback that comes more rarely than forward RM cells leave."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from cellrate.papers.experiment import Drawing, Experiment, Finding, Point, Results
from cellrate.results import Result

from .common import LINK_MBPS, NRM, PCR, listed, near

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CRM = 8
SLOWER = (2, 4, 7, 9, 16)
"""Rates of the source over those of the line behind it: R over r."""
BOTTLENECK = "sw1->destination"
STEADY_S = 0.05
"""When backward RM cells have come at the slower line's rate for long."""


def cuts(result: Result) -> int:
    """Count the falls of ACR at instants at which no backward RM cell came, once feedback is steady."""
    acr = result.series("acr", vc="vc1").between(STEADY_S, float("inf"))
    came = result.series("backward_rm", vc="vc1").times_s
    falls = acr.times_s[1:][np.diff(acr.values) < 0]
    return int((~np.isin(falls, came)).sum())


def growth(result: Result) -> float:
    """By how many cells a second the queue grows once feedback is steady."""
    queue = result.series("queue", port=BOTTLENECK)
    end_s = float(queue.times_s[-1])
    return float((queue.at(end_s) - queue.at(STEADY_S)) / (end_s - STEADY_S))


def _findings(results: Results) -> Sequence[Finding]:
    runs = {slower: results[f"R = {slower} r"] for slower in SLOWER}
    acted = {slower: cuts(run) for slower, run in runs.items()}
    holds = all((count > 0) == (slower >= CRM) for slower, count in acted.items())
    growths = {slower: growth(run) for slower, run in runs.items() if slower < CRM}
    due = {slower: PCR * (1 - 1 / slower) for slower in growths}
    return [
        Finding(
            "feedback.condition",
            listed(((f"R = {slower} r", count) for slower, count in acted.items()), "cuts", 0),
            holds,
            "" if holds else "Not where R / r is CRM and more, and only there.",
        ),
        Finding(
            "feedback.accumulates",
            ", ".join(f"{value:,.0f} of {due[slower]:,.0f} (R = {slower} r)" for slower, value in growths.items())
            + f" cells/s; (R - r) RM cells/s are so many times {NRM}",
            all(near(value, due[slower], 0.02) for slower, value in growths.items()),
        ),
    ]


def _figure(results: Results) -> Figure:
    from cellrate.plotting.runs import Line, Panel, figure

    queues = [Line(results[f"R = {n} r"].series("queue", port=BOTTLENECK), f"R = {n} r") for n in SLOWER]
    stamp = results[f"R = {SLOWER[0]} r"].stamp + " and its neighbours"
    return figure([Panel("queue [cells]", queues)], f"Figure 13: rule 6 with CRM = {CRM}", stamp, panel_height=2.6)


def _drawings(results: Results) -> Sequence[Drawing]:
    caption = f"Figure 13: queue of a line that is R / r times slower than the source, CRM = {CRM}"
    return [Drawing("figure-13", caption, partial(_figure, results))]


EXPERIMENT = Experiment(
    name="feedback",
    title="Rule 6 beside rare feedback: figure 13",
    points={
        f"R = {n} r": Point("feedback", {"link.sw1-destination.rate": f"{LINK_MBPS / n:.6f} Mbps"}) for n in SLOWER
    },
    findings=_findings,
    drawings=_drawings,
)
"""Five ratios of the rates at which RM cells leave and come back."""
