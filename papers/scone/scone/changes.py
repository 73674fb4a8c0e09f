"""Four players beside load that comes and goes every 10 or 60 s on half of the line."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from cellrate.papers.experiment import Drawing, Experiment, Finding, Results

from .players import IDS, pairs
from .runs import ACR, DURATION_S, NONE, POLICY, SEEDS, play

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Curve = tuple[str, list[float], list[float]]
"""A name, instants [s] and qualities [Mb/s]."""


def _findings(_: Results) -> Sequence[Finding]:
    ten, sixty = pairs(period_s=10.0), pairs(period_s=60.0)
    policy = [play(POLICY, 4, 60.0, seed) for seed in SEEDS]
    found = [
        Finding(
            "changes.ten-quality",
            f"{ten[0][1].quality():.2f} without, {ten[0][0].quality():.2f} Mb/s with ACR's advice",
            values=[b.quality() - a.quality() for a, b in ten],
        ),
        Finding(
            "changes.ten-stalls",
            f"{ten[0][1].stalls()} without, {ten[0][0].stalls()} with ACR's advice",
            why="Not explained.",
            values=[float(b.stalls() - a.stalls()) for a, b in ten],
        ),
        Finding(
            "changes.sixty-quality",
            f"{sixty[0][0].quality():.2f} with ACR's advice, {sixty[0][1].quality():.2f} Mb/s without",
            why=_WHY_SIXTY,
            values=[a.quality() - b.quality() for a, b in sixty],
        ),
        Finding(
            "changes.sixty-stalls",
            f"{sixty[0][1].stalls()} without, {sixty[0][0].stalls()} with ACR's advice",
            why=_WHY_LATE,
            values=[float(b.stalls() - a.stalls()) for a, b in sixty],
        ),
        Finding(
            "changes.policy-stalls",
            f"{policy[0].stalls()} stalls by the tariff, {sixty[0][0].stalls()} by ACR",
            values=[float(p.stalls() - a.stalls()) for p, (a, _) in zip(policy, sixty, strict=True)],
        ),
    ]
    for way, ident in IDS.items():
        text = ". ".join(f"Every {period:g} s: {play(way, 4, period).said()}" for period in (10.0, 60.0))
        found.append(Finding(f"changes.{ident}", text, None, "For comparison."))
    return found


_WHY_SIXTY = (
    "Load that has gone leaves its advice for 67 s, which is longer than it stays away: once a low rate has been told, "
    "the player keeps the lower quality after the load."
)
_WHY_LATE = (
    "A rate that has fallen is told with the next SCONE packet, 20 to 30 s later, and 12 s of buffer are played "
    "before; a player that measures knows after a segment."
)


def _curves(period_s: float) -> list[Curve]:
    curves = []
    for way in (ACR, POLICY, NONE):
        segments = play(way, 4, period_s).players[0].segments
        curves.append((way.name, [one.at_s for one in segments], [one.quality_bps / 1e6 for one in segments]))
    return curves


def _figure(curves: Sequence[Curve], period_s: float, stamp: str) -> Figure:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from cellrate.drawing.style import COLOURS, STYLE

    with mpl.rc_context(STYLE):
        drawn = Figure(figsize=(8.4, 3.2))
        axes: Any = drawn.subplots()
        drawn.subplots_adjust(left=0.07, right=0.98, top=0.76, bottom=0.16)
        at = period_s
        while at < DURATION_S:
            axes.axvspan(at, min(at + period_s, DURATION_S), color="#EEEEEE", lw=0, zorder=0)
            at += 2 * period_s
        for number, (name, times, values) in enumerate(curves):
            style = ("-", "--", ":")[number]
            axes.step(times, values, where="post", color=COLOURS[number], ls=style, label=name)
        axes.set_ylim(0, 6.5)
        axes.set_xlim(0, DURATION_S)
        axes.set_xlabel("time [s]")
        axes.set_ylabel("quality [Mb/s]")
        drawn.legend(loc="upper right", ncols=3, bbox_to_anchor=(0.995, 0.9))
        title = f"Quality of player 1 of 4; grey: half of the line is taken, {period_s:g} s each time"
        drawn.text(0.012, 0.97, title, fontsize=10, va="top")
        drawn.text(0.99, 0.01, stamp, fontsize=6.5, color="#777777", ha="right")
    return drawn


def _drawings(_: Results) -> Sequence[Drawing]:
    return [
        Drawing(
            f"every-{period:g}-s",
            f"Load that comes and goes every {period:g} s: qualities with ACR's advice, a policy's, and none",
            partial(_figure, _curves(period), period, play(ACR, 4, period).stamp + " and its neighbours"),
        )
        for period in (10.0, 60.0)
    ]


EXPERIMENT = Experiment(
    name="changes", title="Load that changes within the period", points={}, findings=_findings, drawings=_drawings
)
"""Periods of 10 and of 60 s. Runs are made as claims are measured, in this process."""
