"""Figure 6: five sources that may not use what they are given, for 200 ms."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from cellrate.papers.experiment import Drawing, Experiment, Finding, Point, Results
from cellrate.results import Result

from .common import MILD_AUGUST, POLICIES, TO_MBPS, judged, listed, settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ICRS = {"1": "1 Mbps", "155.52": "155.52 Mbps"}
LIMIT_MBPS = 10.0
"""Rate of the application of each source [Mbps of data cells]."""
HEADROOM_MBPS = 1.0
RELEASE_S = 0.2
"""From then on the sources send as fast as they may."""
FEEDBACK_MBPS = 0.9 * 155.52 / 5
"""An equal share of the target utilization: what ERICA gives to each of five."""
SETTLED_S = 0.06
"""Two round trips: the rates of the start are gone."""
EARLY_S = 0.05
"""The release in the runs that ask what would have been."""
BOTTLENECK = "sw1->sw2"
FEEDBACK_S = 0.01
"""From the bottleneck to the sources and back."""
SOURCES = 5


def _point(policy: str, icr: str, extra: bool = False) -> Point:
    return Point("bottleneck", {**settings(policy, "1 Mbps", tc="60 ms"), "defaults.abr.icr": icr}, extra)


def source_rate(result: Result) -> float:
    """Mean rate of all cells of source 1, half way to the release and on [Mbps]."""
    return result.series("source_rate", vc="vc1").mean(RELEASE_S / 2, RELEASE_S) * TO_MBPS


def queues(result: Result, release_s: float = RELEASE_S) -> tuple[float, float]:
    """Largest queue at the bottleneck before and after the release [cells]."""
    queue = result.series("abr_queue", port=BOTTLENECK)
    return queue.between(0.0, release_s).max(), queue.between(release_s, 2 * release_s).max()


def bound(result: Result) -> float:
    """(ACR - source rate) x feedback delay x number of sources, with ACR at the release [cells]."""
    acr = result.series("acr", vc="vc1").at(RELEASE_S) * TO_MBPS
    return (acr - source_rate(result)) / TO_MBPS * FEEDBACK_S * SOURCES


def risen(result: Result) -> float:
    """When the first feedback has taken ACR above twice the goal [s]."""
    acr = result.series("acr", vc="vc1")
    at = acr.first(0.0, at_least=2 * (LIMIT_MBPS + HEADROOM_MBPS) / TO_MBPS)
    return RELEASE_S if at is None else at


def goal_reached(result: Result) -> float | None:
    """When ACR is first at the goal, the source's rate and the headroom, within 2 %, after the first feedback [s]."""
    acr = result.series("acr", vc="vc1").between(risen(result), RELEASE_S)
    at_goal = acr.values * TO_MBPS <= 1.02 * (source_rate(result) + HEADROOM_MBPS)
    return float(acr.times_s[at_goal.argmax()]) if at_goal.any() else None


def swing(result: Result, after_s: float) -> tuple[float, float]:
    """Least and largest ACR of source 1 from `after_s` to the release [Mbps]."""
    acr = result.series("acr", vc="vc1").between(after_s, RELEASE_S - 1e-9)
    return acr.min() * TO_MBPS, acr.max() * TO_MBPS


def _findings(results: Results) -> Sequence[Finding]:
    runs = {policy: results[f"{policy}, 1"] for policy in POLICIES}
    found = [*_no_policy(runs["none"]), *_august(results), *_convergence(runs)]
    after = {policy: queues(run)[1] for policy, run in runs.items()}
    bounded = all(queue < 0.1 * after["none"] for policy, queue in after.items() if policy != "none")
    found.append(judged("bottleneck.queue", listed(after.items(), "cells", 0), bounded))
    bounds = {policy: bound(runs[policy]) for policy in ("none", "count-based")}
    found.append(
        judged(
            "bottleneck.bound",
            ", ".join(f"{after[policy]:,.0f} of {most:,.0f} cells ({policy})" for policy, most in bounds.items()),
            all(after[policy] <= most for policy, most in bounds.items()),
        )
    )
    pcr = {policy: queues(results[f"{policy}, 155.52"])[1] for policy in POLICIES}
    found.append(
        judged(
            "bottleneck.icr-pcr",
            listed(pcr.items(), "cells", 0),
            None,
            "Where ICR is the floor, or part of it, a policy leaves everything above ICR alone; only a headroom of its "
            "own and the switch based policy act with ICR = PCR.",
        )
    )
    found.append(_early(results))
    return found


_WHY_EARLY = (
    "It never was above an equal share of the target, 28 Mbps: ERICA raises a source that is below its share to that "
    "share and no further, and five shares fit the line. Without a policy ACR climbs to the whole target in the next "
    "two round trips; that climb the policy does prevent."
)
_WHY_MILD = (
    "A trigger takes 16 % of ACR at 10 Mbps, and triggers end where ACR is TOF = 2 times the rate of the source: the "
    "floor is never met."
)


def _early(results: Results) -> Finding:
    runs = {policy: results[f"{policy}, early"] for policy in ("count-based", "time-based")}
    queue = {policy: queues(run, EARLY_S)[1] for policy, run in runs.items()}
    acr = runs["time-based"].series("acr", vc="vc1").at(EARLY_S) * TO_MBPS
    overload = queue["time-based"] > 10 * max(queue["count-based"], 10)
    why = f"At the release ACR is {acr:.1f} Mbps under the time based policy. {_WHY_EARLY}" if not overload else ""
    return judged("bottleneck.early", listed(queue.items(), "cells", 0), overload, why)


def _no_policy(run: Result) -> list[Finding]:
    least, largest = swing(run, SETTLED_S)
    rate = source_rate(run)
    before, after = queues(run)
    return [
        judged(
            "bottleneck.none",
            f"ACR {least:.1f} to {largest:.1f}, source rate {rate:.1f} Mbps",
            least > 5 * rate,
        ),
        judged("bottleneck.jump", f"{before:.0f} before, {after:,.0f} cells after", after > 100 * max(before, 10)),
    ]


def _august(results: Results) -> list[Finding]:
    run = results["august-1995, 1"]
    least, largest = swing(run, SETTLED_S)
    rate = source_rate(run)
    found = [
        judged("bottleneck.august-swings", f"{least:.1f} to {largest:.1f} Mbps", largest > 2 * least),
        judged(
            "bottleneck.august-below",
            f"ACR down to {least:.1f} Mbps, mean source rate {rate:.1f} Mbps of {LIMIT_MBPS:.0f}",
            least < LIMIT_MBPS and rate < 0.9 * LIMIT_MBPS,
        ),
    ]
    if "mild august" in results:
        mild = results["mild august"]
        least, largest = swing(mild, SETTLED_S)
        below = least < LIMIT_MBPS
        why = "" if below else _WHY_MILD
        measured = f"ACR {least:.1f} to {largest:.1f} Mbps, mean source rate {source_rate(mild):.1f} Mbps"
        found.append(judged("bottleneck.august-mild", measured, below, why))
    return found


def _convergence(runs: dict[str, Result]) -> list[Finding]:
    took: dict[str, float] = {}
    for policy in ("baseline", "count-based", "time-based", "joint"):
        at = goal_reached(runs[policy])
        took[policy] = float("inf") if at is None else (at - risen(runs[policy])) * 1e3
    swings = {
        policy: swing(runs[policy], risen(runs[policy]) + time / 1e3) if time < float("inf") else (0.0, 0.0)
        for policy, time in took.items()
    }
    low, high = swings["baseline"]
    count_low, count_high = swings["count-based"]
    joint_low, joint_high = swings["joint"]
    return [
        judged("bottleneck.baseline-goal", f"{took['baseline']:.2f} ms", took["baseline"] < 100),
        judged("bottleneck.baseline-swings", f"{low:.1f} to {high:.1f} Mbps", high > 0.95 * FEEDBACK_MBPS and low < 12),
        judged("bottleneck.count-fast", listed(took.items(), "ms"), took["count-based"] <= min(took.values())),
        judged(
            "bottleneck.count-stays",
            f"{count_low:.2f} to {count_high:.2f} Mbps",
            count_high - count_low < 0.05 * count_low,
        ),
        judged(
            "bottleneck.time-slow",
            f"{took['time-based']:.1f} ms against {took['count-based']:.1f} ms; then ACR "
            f"{swings['time-based'][0]:.1f} to {swings['time-based'][1]:.1f} Mbps",
            took["time-based"] > 3 * took["count-based"],
        ),
        judged("bottleneck.joint-leaves", f"{joint_low:.1f} to {joint_high:.1f} Mbps", joint_high > 1.5 * joint_low),
    ]


def _rates(results: Results, icr: str) -> Figure:
    from cellrate.plotting.runs import Line, Panel, figure

    panels = []
    for policy in POLICIES:
        run = results[f"{policy}, {icr}"]
        lines = [Line(run.series("acr", vc="vc1"), "ACR"), Line(run.series("source_rate", vc="vc1"), "source rate")]
        panels.append(Panel(f"{policy}\n[Mbps]", lines, TO_MBPS))
    stamp = results[f"none, {icr}"].stamp + " and its neighbours"
    return figure(panels, f"ACR and rate of source 1 of 5, ICR {ICRS[icr]}", stamp, panel_height=1.15)


def _queues(results: Results, icr: str) -> Figure:
    from cellrate.plotting.runs import Line, Panel, figure

    panels = []
    for policy in POLICIES:
        series = results[f"{policy}, {icr}"].series("abr_queue", port=BOTTLENECK)
        panels.append(Panel(f"{policy}\n[cells]", [Line(series, "queue")]))
    stamp = results[f"none, {icr}"].stamp + " and its neighbours"
    return figure(panels, f"Queue at the bottleneck, ICR {ICRS[icr]}", stamp, panel_height=1.15)


def _drawings(results: Results) -> Sequence[Drawing]:
    drawn = []
    for icr in ICRS:
        name = icr.replace(".", "-")
        drawn += [
            Drawing(
                f"figure-6-icr-{name}",
                f"Figure 6 (a) to (e), then joint and switch based: ACR and source rate, ICR {ICRS[icr]}",
                partial(_rates, results, icr),
            ),
            Drawing(
                f"figure-6-queue-icr-{name}",
                f"The queue of the same runs, ICR {ICRS[icr]}",
                partial(_queues, results, icr),
            ),
        ]
    return drawn


_EARLY = {
    "vc.vc{i}.traffic": '{ type = "limited", steps = [["0 ms", "10 Mbps"], ["50 ms", "unlimited"]] }',
}

EXPERIMENT = Experiment(
    name="bottleneck",
    title="Source bottleneck: figure 6",
    points={
        **{f"{policy}, {icr}": _point(policy, ICRS[icr]) for icr in ICRS for policy in POLICIES},
        **{
            f"{policy}, early": Point("bottleneck", {**_point(policy, "1 Mbps").set, **_EARLY})
            for policy in ("count-based", "time-based")
        },
        "mild august": Point(
            "bottleneck", {"defaults.abr.uili": MILD_AUGUST, "defaults.abr.icr": "1 Mbps"}, extra=True
        ),
    },
    findings=_findings,
    drawings=_drawings,
)
"""Each policy with ICR 1 and 155.52 Mbps."""
