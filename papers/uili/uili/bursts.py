"""Section 7.2: bursts of a server beside an infinite source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cellrate.papers import mark
from cellrate.papers.experiment import Drawing, Experiment, Finding, Point, Results, Tried
from cellrate.plotting.published import PUBLISHED, Published
from cellrate.results import Result

from .common import AUGUST, MILD_AUGUST, POLICIES, TO_MBPS, judged, listed, settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

PAPER = Path(__file__).parents[1]
SIZES = {"small": 16, "medium": 256, "large": 8192}
"""Responses [cells]."""
ICR_MBPS = 10.0
RULE_6_CDFS = ("0", "1/16", "1/2")
"""Without rule 6, as in section 7.2, and with it."""
TRIED: Mapping[str, Mapping[str, object]] = {
    "medium-time-rif-1-16": {"defaults.abr.rif": "1/16"},
    "medium-time-measured-ccr": {"defaults.switch.algorithm.measured_ccr": True},
    "medium-time-delta-0": {"defaults.switch.algorithm.delta": 0},
}
"""Medium bursts under the time based policy with another choice, by the ids of their rows."""
BUCKET = "small, count-based, bucket"
"""Small bursts with a leaky bucket before the source, which the paper names and does not run."""
BUCKET_CELLS = 18
"""Its room: the 16 cells of a burst, an FRM and a BRM."""
LINK_MBPS = 155.52
"""Rate of all links."""
SETTLED_S = 0.5
"""Bursts that begin before are left out: the first round trips of everything."""
SERVER = "web (back)"
BOTTLENECK = "sw2->sw1"


def _point(policy: str, size: int, cycle_gap: str = "1 ms", cdf: str | None = None) -> Point:
    burst = {"vc.web.traffic.response": f"{size} cells", "vc.web.traffic.cycle_gap": cycle_gap}
    rule = {} if cdf is None else {"defaults.abr.cdf": cdf}
    return Point("client-server", {**settings(policy, "10 Mbps"), **burst, **rule}, extra=cdf is not None)


def responses(result: Result) -> list[dict[str, Any]]:
    """Give the responses that began when everything had settled."""
    return [
        burst for burst in result.summary["burst_list"] if burst["role"] == "response" and burst["start_s"] >= SETTLED_S
    ]


def throughput(result: Result) -> NDArray[np.float64]:
    """Effective throughput of each response [Mbps]."""
    return np.array([burst["throughput_bps"] for burst in responses(result)]) / 1e6


def fast_share(result: Result) -> float:
    """Share of the responses that are sent at more than twice ICR [0 to 1]."""
    rates = throughput(result)
    return float((rates > 2 * ICR_MBPS).mean()) if len(rates) else 0.0


def triggers(result: Result, size: int) -> float:
    """Decreases of ACR by the server's policy per response of `size` cells sent."""
    row = result.vc(SERVER)
    return float(row["uili_decreases"] / (row["data_sent"] / size))


def peak_queue(result: Result) -> float:
    """Largest queue at the bottleneck when everything has settled [cells]."""
    queue = result.series("abr_queue", port=BOTTLENECK)
    return queue.between(SETTLED_S, float("inf")).max()


def _findings(results: Results) -> Sequence[Finding]:
    return [*_small(results), *_medium(results), *_large(results)]


def _small(results: Results) -> list[Finding]:
    shares = {policy: fast_share(results[f"small, {policy}"]) for policy in ("time-based", "count-based")}
    rate = float(np.median(throughput(results["small, count-based"])))
    return [
        judged(
            "bursts.small-time",
            f"{100 * shares['time-based']:.1f} % of the bursts at more than twice ICR",
            values=[100 * shares["time-based"]],
        ),
        judged(
            "bursts.small-count",
            f"{100 * shares['count-based']:.1f} % of the bursts at more than twice ICR, the median at {rate:.1f} Mbps",
            shares["count-based"] < 0.02,
        ),
        *_small_bucket(results),
    ]


def _small_bucket(results: Results) -> list[Finding]:
    """Hold small bursts behind a bucket for one of them, and its FRM, against the line's rate."""
    if BUCKET not in results:
        return []
    rates = throughput(results[BUCKET])
    text = f"{rates.min():.1f} to {rates.max():.1f} Mbps, the median at {np.median(rates):.1f}"
    return [judged("bursts.small-bucket", text, bool(rates.min() > 0.9 * LINK_MBPS))]


def _medium(results: Results) -> list[Finding]:
    mean = {policy: float(throughput(results[f"medium, {policy}"]).mean()) for policy in POLICIES}
    once = {policy: triggers(results[f"medium, {policy}"], 256) for policy in ("count-based", "time-based")}
    idle = float(throughput(results["medium, time-based, idle"]).mean())
    share = mean["count-based"] / mean["none"]
    return [
        judged("bursts.medium-order", listed(mean.items(), "Mbps"), mean["count-based"] > mean["time-based"]),
        judged("bursts.medium-count", f"{mean['count-based']:.1f} Mbps", values=[mean["count-based"]]),
        *_medium_time(mean["time-based"], results),
        judged("bursts.medium-acr", f"{100 * share:.1f} % of the throughput without a policy", values=[100 * share]),
        judged(
            "bursts.medium-once",
            listed(once.items(), "decreases per burst", 2),
            all(0.9 < value < 1.1 for value in once.values()),
        ),
        judged("bursts.medium-idle", f"{idle:.1f} Mbps with ICR {ICR_MBPS:.0f} Mbps", idle < 1.2 * ICR_MBPS),
    ]


def _medium_time(measured: float, results: Results) -> list[Finding]:
    """Hold 68 Mbps against what is run, and against each of `TRIED`."""
    rates = {f"bursts.{row}": float(throughput(results[row]).mean()) for row in TRIED if row in results}
    tried = {row: Tried(values=[rate]) for row, rate in rates.items()}
    return [
        judged("bursts.medium-time", f"{measured:.1f} Mbps", why="Not explained.", values=[measured], rows=tried),
        *(Finding(row, f"{rate:.1f} Mbps", None, "See the row bursts.medium-time.") for row, rate in rates.items()),
    ]


def _tried(settings: Mapping[str, object]) -> Point:
    point = _point("time-based", SIZES["medium"])
    return replace(point, set={**point.set, **settings}, extra=True)


_WHY_LOW = (
    "With ICR 1 Mbps the first increase within a burst is large, and the FRM after it triggers; once ACR is used "
    "nothing more happens."
)


def _large(results: Results) -> list[Finding]:
    low = {
        policy: triggers(results[f"large, {policy}, ICR 1"], 8192)
        for policy in ("august-1995", "count-based", "time-based")
    }
    stated = {policy: triggers(results[f"large, {policy}"], 8192) for policy in ("count-based", "time-based")}
    rate = {
        policy: results[f"large, {policy}, ICR 1"].vc(SERVER)["throughput_bps"] / 1e6
        for policy in ("august-1995", "count-based", "time-based")
    }
    found = [
        judged("bursts.large-august", listed(low.items(), "decreases per burst"), low["august-1995"] > 10),
        judged(
            "bursts.large-slow",
            listed(rate.items(), "Mbps of responses"),
            rate["august-1995"] < 0.5 * rate["time-based"],
        ),
        judged(
            "bursts.large-once",
            listed(stated.items(), "decreases per burst", 2),
            all(0.5 < value < 1.5 for value in stated.values()),
            "Now and then an FRM straddles the moment at which feedback raises ACR, and triggers once more.",
        ),
    ]
    if "large, mild august, ICR 1" in results:
        mild = triggers(results["large, mild august, ICR 1"], 8192)
        many = mild > 10
        why = "" if many else "It triggers more than once, but 128 per second does not bring ACR down to ICR each time."
        found.append(judged("bursts.large-mild", f"{mild:.2f} decreases per burst", many, why))
        others = {policy: low[policy] for policy in ("count-based", "time-based")}
        once = all(0.5 < value < 1.5 for value in others.values())
        why = "" if once else _WHY_LOW
        found.append(judged("bursts.large-low-icr", listed(others.items(), "decreases per burst", 2), once, why))
    if all(_rule_6(cdf) in results for cdf in RULE_6_CDFS):
        found.append(_protection(results))
    return found


def _protection(results: Results) -> Finding:
    """Say what rule 6 does about large bursts after long idle times: the count based policy leaves ACR high."""
    runs = {cdf: results[_rule_6(cdf)] for cdf in RULE_6_CDFS}
    queues = {f"CDF {cdf}": peak_queue(run) for cdf, run in runs.items()}
    off, *on = queues.values()
    rates = {f"CDF {cdf}": float(throughput(run).mean()) for cdf, run in runs.items()}
    text = f"{listed(queues.items(), 'cells')}; {listed(rates.items(), 'Mbps')} of effective throughput"
    return judged("bursts.large-rule-6", text, max(on) < 0.5 * off)


def _rule_6(cdf: str) -> str:
    return f"large, count-based, idle, CDF {cdf}"


def _summary(results: Results, name: str) -> Figure:
    """Draw throughput, response time and queue of every policy for one size of response."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Drawn

    from cellrate.drawing.style import COLOURS, STYLE

    runs = [results[f"{name}, {policy}"] for policy in POLICIES]
    with mpl.rc_context(STYLE):
        drawn = Drawn(figsize=(7.2, 3.0))
        drawn.subplots_adjust(left=0.14, right=0.98, top=0.82, bottom=0.2, wspace=0.18)
        axes: Any = drawn.subplots(1, 3, sharey=True)
        places = np.arange(len(POLICIES))
        for place, run in zip(places, runs, strict=True):
            rates = throughput(run)
            times = np.array([burst["response_s"] for burst in responses(run)]) * 1e3
            for panel, values in ((axes[0], rates), (axes[1], times)):
                if len(values):
                    low, middle, high = np.quantile(values, [0.01, 0.5, 0.99])
                    panel.plot([low, high], [place, place], color=COLOURS[0], linewidth=2)
                    panel.plot([middle], [place], "|", color=COLOURS[0], markersize=9)
                    panel.plot([values.mean()], [place], "o", color=COLOURS[1], markersize=4)
            axes[2].plot([peak_queue(run)], [place], "s", color=COLOURS[2], markersize=5)
        for policy, one in _marks(name).items():
            at = POLICIES.index(policy)
            axes[0].plot(
                [one.value] * 2, [at - 0.38, at + 0.38], color=PUBLISHED, linestyle=(0, (3, 1.5)), linewidth=1.4
            )
            axes[0].text(one.value, at - 0.4, one.label, color=PUBLISHED, fontsize=6.5, ha="right", va="bottom")
        axes[0].set_yticks(places, POLICIES)
        axes[0].invert_yaxis()
        for panel, label in zip(
            axes, ("effective throughput [Mbps]", "response time [ms]", "peak queue [cells]"), strict=True
        ):
            panel.set_xlabel(label)
            panel.set_xlim(left=0)
        title = f"Responses of {SIZES[name]} cells: 1 to 99 %, median, mean (dot)"
        drawn.text(0.012, 0.97, title, fontsize=10, va="top")
        drawn.text(0.99, 0.02, runs[0].stamp + " and its neighbours", fontsize=6.5, color="#777777", ha="right")
    return drawn


def _marks(name: str) -> dict[str, Published]:
    """Give the rates that the paper prints of bursts of this size, by policy."""
    printed = {"count-based": "bursts.medium-count", "time-based": "bursts.medium-time"} if name == "medium" else {}
    return {policy: mark(PAPER, claim, "mean") for policy, claim in printed.items()}


def _course(results: Results, keys: Sequence[str], title: str, time: tuple[float, float]) -> Figure:
    from cellrate.plotting.runs import Line, Panel, figure

    panels = []
    for key in keys:
        run = results[key]
        lines = [Line(run.series("source_rate", vc=SERVER), "source rate"), Line(run.series("acr", vc=SERVER), "ACR")]
        size, policy, *_ = key.split(", ")
        published = tuple(one for of, one in _marks(size).items() if of == policy)
        panels.append(Panel(f"{policy}\n[Mbps]", lines, TO_MBPS, published=published))
    return figure(panels, title, results[keys[0]].stamp + " and its neighbours", panel_height=1.3, time=time)


def _drawings(results: Results) -> Sequence[Drawing]:
    courses = (
        ("figure-10", "Figure 10: small bursts", ("small, time-based", "small, count-based"), (1.0, 1.25)),
        ("figure-11", "Figure 11: medium bursts", ("medium, time-based", "medium, count-based"), (1.0, 1.1)),
        (
            "figure-12",
            "Figure 12: large bursts, ICR 1 Mbps",
            ("large, august-1995, ICR 1", "large, time-based, ICR 1", "large, count-based, ICR 1"),
            (1.0, 1.3),
        ),
    )
    drawn = [Drawing(name, text, partial(_course, results, keys, text, time)) for name, text, keys, time in courses]
    for name, size in SIZES.items():
        caption = f"Responses of {size} cells: effective throughput, response time and peak queue by policy"
        drawn.append(Drawing(f"bursts-{name}", caption, partial(_summary, results, name)))
    return drawn


_LOW: dict[str, object] = {"defaults.abr.icr": "1 Mbps", "vc.web.traffic.response": "8192 cells"}

EXPERIMENT = Experiment(
    name="bursts",
    title="Bursty sources: section 7.2",
    points={
        **{f"{name}, {policy}": _point(policy, size) for name, size in SIZES.items() for policy in POLICIES},
        "medium, time-based, idle": _point("time-based", 256, cycle_gap="50 ms"),
        "large, august-1995, ICR 1": Point("client-server", {"defaults.abr.uili": AUGUST, **_LOW}),
        **{
            f"large, {policy}, ICR 1": Point("client-server", {**settings(policy, "1 Mbps"), **_LOW})
            for policy in ("count-based", "time-based")
        },
        BUCKET: replace(
            small := _point("count-based", 16), set={**small.set, "defaults.abr.mbs": BUCKET_CELLS}, extra=True
        ),
        **{row: _tried(settings) for row, settings in TRIED.items()},
        **{_rule_6(cdf): _point("count-based", SIZES["large"], "50 ms", cdf) for cdf in RULE_6_CDFS},
        "large, mild august, ICR 1": Point("client-server", {"defaults.abr.uili": MILD_AUGUST, **_LOW}, extra=True),
    },
    findings=_findings,
    drawings=_drawings,
)
"""Responses of 16, 256 and 8192 cells under each policy."""
